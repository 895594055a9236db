"""Networks of several tasks in everything that takes a classifier: a column names the task."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.tree import DecisionTreeClassifier

from bnmtl import HillClimbing, MultitaskLearner, structures
from bnmtl.active import ActiveDecorateJS, BaggingCommittee, BootstrapJS
from bnmtl.calibration import CalibratedClassifier
from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.decorate import DecorateClassifier
from bnmtl.ensembles import Mimic, Stacking
from bnmtl.metrics.folds import splits_by
from bnmtl.validation import predict_rounds

pytestmark = pytest.mark.beside_kernels

ROWS = structures.load("asia").sample(300, random_state=0).assign(clinic=["a", "b", "c"] * 100)
X, Y = ROWS[["smoke", "either", "dysp", "xray", "clinic"]], ROWS["bronc"]
TOGETHER = MultitaskBayesNetClassifier(
    task_column="clinic",
    learner=MultitaskLearner(search=HillClimbing(restarts=0), task_groups=None),
    unseen="ignore",
    random_state=0,
)
DECORATE = DecorateClassifier(TOGETHER, n_estimators=2, max_iterations=3, random_state=0)
OTHER = clone(TOGETHER).set_params(max_parents=1)
USES = {
    "itself": TOGETHER,
    "itself with task groups": clone(TOGETHER).set_params(learner__task_groups="auto"),
    "scikit-learn's calibration": CalibratedClassifierCV(TOGETHER, cv=2),
    "CalibratedClassifier": CalibratedClassifier(TOGETHER, cv=2),
    "calibrated by task": CalibratedClassifier(TOGETHER, cv=2, task_column="clinic"),
    "scikit-learn's stacking": StackingClassifier([("all", TOGETHER), ("one", OTHER)], cv=2),
    "voting": VotingClassifier([("all", TOGETHER), ("one", OTHER)], voting="soft"),
    "Stacking": Stacking([("all", TOGETHER), ("one", OTHER)], cv=2),
    "DecorateClassifier": DECORATE,
    "DECORATE by task": clone(DECORATE).set_params(task_column="clinic", generator="network"),
    "BaggingCommittee": BaggingCommittee(TOGETHER, n_estimators=2, random_state=0),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", USES)
def test_networks_learned_together_are_a_classifier_like_others(name):
    model = clone(USES[name]).fit(X[:200], Y[:200])
    p = model.predict_proba(X[200:])
    assert p.shape == (100, 2) and np.allclose(p.sum(axis=1), 1)
    assert (model.classes_[p.argmax(axis=1)] == Y[200:]).mean() > 0.7
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X[200:]), p)
    # Each row has the prediction of its task.
    moved = model.predict_proba(X[200:].assign(clinic="a"))
    same = (X["clinic"][200:] == "a").to_numpy()
    assert np.allclose(moved[same], p[same])
    assert not np.allclose(moved[~same], p[~same])


@pytest.mark.filterwarnings("ignore")
def test_a_small_model_mimics_networks_learned_together():
    teacher = clone(TOGETHER).fit(X[:200], Y[:200])
    student = DecisionTreeClassifier(min_samples_leaf=5)
    mimic = Mimic(teacher, student, sizes=(400,), task_column="clinic", random_state=0)
    mimic.fit(X[:200], Y[:200])
    assert (mimic.predict(X[200:]) == teacher.predict(X[200:])).mean() > 0.8


@pytest.mark.filterwarnings("ignore")
def test_rounds_are_those_of_a_classifier():
    rounds = predict_rounds(TOGETHER, X, Y, "kfold", 1, folds=2, task=X["clinic"], random_state=0)
    assert rounds.is_predicted.sum() == 300
    assert np.mean(rounds.score("accuracy")) > 0.7


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "strategy",
    [
        ActiveDecorateJS(TOGETHER, n_estimators=2, task_column="clinic"),
        BootstrapJS(TOGETHER, n_estimators=2),
    ],
    ids=lambda one: type(one).__name__,
)
def test_committees_of_them_ask_for_labels(strategy, monkeypatch):
    for name in ("_MAX_ITERATIONS", "_MORE_ITERATIONS"):
        monkeypatch.setattr(f"bnmtl.active.strategies.{name}", 3)
    y = Y[:120].astype(object).where(np.arange(120) < 90)
    (row,) = strategy.query(X[:120], y)
    assert row >= 90


@pytest.mark.filterwarnings("ignore")
def test_rows_may_come_task_by_task_in_calibration():
    """Three folds by class alone would hold out a task each, which is then unknown."""
    order = np.argsort(X["clinic"].to_numpy(), kind="stable")
    model = CalibratedClassifier(TOGETHER, cv=3, task_column="clinic")
    assert model.fit(X.iloc[order], Y.iloc[order]).score(X, Y) > 0.7


@settings(max_examples=50)
@given(
    cases=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=6),
    n_folds=st.integers(2, 5),
)
def test_folds_have_their_share_of_every_task(cases, n_folds):
    y, task = np.array(cases).T
    assume(np.unique(y, return_counts=True)[1].max() >= n_folds)
    folds = [test for _, test in splits_by(n_folds, y, y, None, task)]
    assert sorted(np.concatenate(folds)) == list(range(len(y)))
    for chosen in (*itertools.product("ab", "xyz"), *(("ab", one) for one in "xyz")):
        at = np.isin(y, list(chosen[0])) & (task == chosen[1])
        counts = [at[test].sum() for test in folds]
        # A task has two classes.
        assert max(counts) - min(counts) <= len(chosen[0])


def test_groups_of_every_task_are_in_every_fold():
    task = np.repeat(["a", "b", "c"], 40)
    groups = np.repeat(np.arange(12), 10)
    y = np.random.default_rng(0).permutation(120) % 2
    for _, test in splits_by(4, y, y, groups, task):
        assert sorted(task[test]) == ["a"] * 10 + ["b"] * 10 + ["c"] * 10
        assert len(set(groups[test])) == 3
