"""On data without structure nothing is found."""

import numpy as np
import pandas as pd
import pytest
from small import ONE_GROUP, related

from bnmtl import (
    BDeu,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.learners import compare
from bnmtl.learners.comparison import held_out_record, of_arcs
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels

STATES = {
    "two": [1 / 2] * 2,
    "three": [1 / 3] * 3,
    "twenty": [1 / 20] * 20,
    "skewed": [0.7, 0.2, 0.07, 0.03],
    "ordered": [0.4, 0.3, 0.15, 0.1, 0.05],
}
# It expects more arcs than the default, and treats all tables alike.
WITHOUT_DEFAULTS = {"score": BDeu(), "structure_prior": None}


def independent(kind, n_rows, n_tasks, n_columns=10):
    """Tasks of independent columns; the second state of rare ones has 2 to 30 percent."""
    rng = np.random.default_rng(0)

    def column():
        rare = rng.uniform(0.02, 0.3)
        shares = [1 - rare, rare] if kind == "rare" else STATES[kind]
        codes = rng.choice(len(shares), n_rows, p=shares)
        names = [str(state) for state in range(len(shares))]
        return pd.Categorical.from_codes(codes, names, ordered=kind == "ordered")

    return {
        f"task{task}": pd.DataFrame({f"x{at}": column() for at in range(n_columns)})
        for task in range(n_tasks)
    }


def n_arcs(learner):
    return sum(graph.number_of_edges() for graph in learner.configuration_.values())


@pytest.mark.filterwarnings("ignore:.*only one state:UserWarning")
@pytest.mark.parametrize(
    ("kind", "n_rows", "n_columns", "n_tasks", "learner"),
    [
        ("skewed", 10, 30, 1, SingleTaskLearner()),
        ("three", 20, 30, 1, SingleTaskLearner()),
        ("twenty", 2000, 10, 1, SingleTaskLearner()),
        ("two", 60, 10, 2, MultitaskLearnerCV(cv=3, **ONE_GROUP)),
        ("ordered", 10, 15, 5, IdenticalLearner(table_sharing=None)),
        ("rare", 20, 15, 5, IdenticalLearner()),
        ("skewed", 60, 10, 3, MultitaskLearner()),
        ("two", 300, 10, 2, MultitaskLearner()),
    ],
    ids=lambda value: value if isinstance(value, str | int) else type(value).__name__,
)
def test_next_to_nothing_is_found_in_noise(kind, n_rows, n_columns, n_tasks, learner):
    learner.set_params(random_state=0).fit(independent(kind, n_rows, n_tasks, n_columns))
    assert n_arcs(learner) <= 1


def test_arcs_found_without_the_defaults_do_not_predict_held_out_rows():
    tasks = encode(independent("three", 60, 1))
    learner = SingleTaskLearner(**WITHOUT_DEFAULTS, random_state=0).fit(tasks)
    assert n_arcs(learner) > 10
    assert not of_arcs(held_out_record(compare(learner, tasks, 4)))[0]


def test_folds_choose_no_arcs_for_noise_and_some_for_a_structure():
    """Among no arcs, a tenth of a parent expected as by default, and a uniform prior."""
    columns = ["x1", "x2", "x3", "x4"]
    structure = {name: frame[columns] for name, frame in list(related().items())[:2]}
    sparsities = {"default": "auto", "uniform": None}
    chosen = {}
    for name, frames in (("noise", independent("rare", 60, 2, 4)), ("structure", structure)):
        means = {}
        for sparsity, prior in sparsities.items():
            learner = MultitaskLearner(
                PairedPrior(0.99), structure_prior=prior, **ONE_GROUP, random_state=0
            )
            scored = compare(learner, encode(frames), 4)
            means["no arcs"] = scored[["empty"] * 2].mean().to_numpy()
            means[sparsity] = scored[["alone", "together"]].mean().to_numpy()
        # Of equally good ones the sparsest.
        chosen[name] = pd.DataFrame(means).round(9).idxmax(axis=1).tolist()
    assert chosen["noise"] == ["no arcs", "no arcs"]
    assert "no arcs" not in chosen["structure"]


@pytest.mark.parametrize(
    "learner",
    [SingleTaskLearner(), MultitaskLearner(**ONE_GROUP)],
    ids=lambda learner: type(learner).__name__,
)
def test_what_is_found_in_a_structure_predicts_held_out_rows(learner):
    tasks = encode(dict(list(related().items())[:2]))
    learner.set_params(random_state=0).fit(tasks)
    assert n_arcs(learner) > 0
    assert of_arcs(held_out_record(compare(learner, tasks, 4)))[0]
