"""The study of the chain: folds by task, rows to learn from, losses and differences."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.chain import chain
from benchmarks.chain.tables import TASK

pytestmark = pytest.mark.beside_kernels


@pytest.fixture(scope="module")
def rows():
    """Three tasks, one of which has three rows; a third of the rows of the others are positive."""
    tasks = np.repeat(["few", "one", "two"], [3, 60, 30])
    return pd.DataFrame({TASK: tasks, "y": np.where(np.arange(93) % 3 == 0, "yes", "no")})


def test_the_quick_case_is_not_a_case_of_the_study():
    (quick,) = chain.plan(True)
    cases = chain.plan(False)
    assert quick["rows"] not in {case["rows"] for case in cases}
    # The largest size of the first fold comes first.
    assert cases[0]["fold"] == 0 and cases[0]["rows"] == chain.ALL
    folds = {case["fold"] for case in cases if case["table"] == chain.FEEDERWATCH}
    assert folds == set(range(5))
    assert {case["fold"] for case in chain.plan(False, trials=2)} == {0, 1}


def test_folds_have_their_share_of_each_task_in_each_class(rows):
    folds = chain.folds_of(rows, "y", 10)
    counts = rows.assign(fold=folds).groupby([TASK, "fold"]).size().unstack(fill_value=0)
    assert (counts.loc["one"] == 6).all() and (counts.loc["two"] == 3).all()
    assert (np.sort(counts.loc["few"]) == [0] * 7 + [1] * 3).all()
    positive = rows[rows["y"] == "yes"].assign(fold=folds[rows["y"] == "yes"])
    assert (positive[positive[TASK] == "one"].groupby("fold").size() == 2).all()


def test_smaller_sizes_are_part_of_larger_ones_and_never_of_the_fold(rows):
    folds = chain.folds_of(rows, "y", 10)
    of_size = {n: chain.training_rows(rows, folds, 4, n) for n in (chain.ALL, 25, 10)}
    assert set(of_size[10]) < set(of_size[25]) < set(of_size[chain.ALL])
    assert (folds[of_size[chain.ALL]] != 4).all()
    assert len(of_size[chain.ALL]) == (folds != 4).sum()
    assert rows[TASK].iloc[of_size[10]].value_counts()["two"] == 10


def test_losses_are_those_of_scikit_learn():
    from sklearn.metrics import accuracy_score, log_loss

    rng = np.random.default_rng(0)
    classes, p = np.array(["a", "b", "c"]), rng.dirichlet(np.ones(3), 40)
    truth = rng.choice(classes, 40)
    found = chain.losses(classes, p, truth)
    assert found["log_loss"] == pytest.approx(log_loss(truth, p, labels=classes), abs=1e-5)
    assert found["accuracy"] == accuracy_score(truth, classes[p.argmax(axis=1)])
    squared = ((p - (classes == truth[:, None])) ** 2).sum(axis=1).mean()
    assert found["squared"] == pytest.approx(squared, abs=1e-5)
    counts, total, positive = np.sum(found["bins"], axis=0)
    assert (counts, positive) == (120, 40) and total == pytest.approx(40, abs=0.01)
    # A class that was not learned has the lowest probability.
    unknown = chain.losses(classes, p, np.full(40, "d"))
    assert unknown["log_loss"] == pytest.approx(-np.log(chain.LOWEST), abs=1e-5)


def test_ways_are_compared_on_the_same_folds():
    ours = pd.DataFrame({"table": "t", "column": "y", "fold": range(10), "log_loss": 1.0})
    ours = ours.assign(tested=10, learned=90)
    other = ours.assign(log_loss=1 + np.arange(10) / 10)[:8]
    assert len(chain.differences(ours, other)) == 8
    mean, error, p = chain.compared(ours, other)
    assert mean == pytest.approx(0.35)
    gains = np.arange(8) / 10
    assert error == pytest.approx(np.sqrt(gains.var(ddof=1) * (1 / 8 + 1 / 9)))
    assert 0 < p < 0.1
