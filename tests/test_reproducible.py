"""Same input and seed, same result, whatever the order of columns, rows, tasks and threads."""

import json
from functools import cache

import numpy as np
import pytest
import test_problems
import test_relatedness
from budget import quick_search
from hash_seeds import process, with_another_seed
from small import ONE_GROUP, PLAIN

from bnmtl import (
    EditPrior,
    HillClimbing,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    PooledLearner,
    SingleTaskLearner,
    structures,
)

pytestmark = pytest.mark.beside_kernels

SETTINGS = {**quick_search(), "random_state": 7}
MAKERS = {
    "single": lambda **more: SingleTaskLearner(**SETTINGS, **more),
    "identical": lambda **more: IdenticalLearner(table_sharing=None, **SETTINGS, **more),
    "pooled": lambda **more: PooledLearner(**SETTINGS, **more),
    "paired": lambda **more: MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **SETTINGS, **more),
    "edit": lambda **more: MultitaskLearner(EditPrior(0.99), **ONE_GROUP, **SETTINGS, **more),
    "tables shared": lambda **more: MultitaskLearner(
        **{**SETTINGS, "score": None, "parameter_sample_size": "auto"}, **more
    ),
    "validated": lambda **more: MultitaskLearnerCV(
        penalties=[0, 0.9, 1], cv=2, table_sharing=None, **SETTINGS, **more
    ),
}
every_learner = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def sachs_tasks():
    """Small samples of some variables, so that there is much to disagree about."""
    network = structures.load("sachs")
    some = ["Akt", "Erk", "Jnk", "Mek", "P38", "PKA", "Raf"]
    return {f"t{seed}": network.sample(80, random_state=seed)[some] for seed in range(3)}


def result(learner):
    """Everything that was learned, as plain values."""
    validation = getattr(learner, "validation_scores_", None)
    return {
        "arcs": {t: sorted(g.edges) for t, g in learner.configuration_.items()},
        "score": learner.score_,
        "tables": {t: net.table("Akt").ravel().tolist() for t, net in learner.networks_.items()},
        "strength": learner.arcs_["strength"].tolist(),
        "validation": None if validation is None else validation.tolist(),
    }


@cache
def learned(name):
    return result(MAKERS[name]().fit(sachs_tasks()))


@pytest.fixture
def expected(request):
    return learned(request.node.callspec.id)


@every_learner
def test_order_of_tasks_rows_and_columns(make, expected):
    tasks = {
        name: frame.sample(frac=1, random_state=3)[frame.columns[::-1]]
        for name, frame in reversed(sachs_tasks().items())
    }
    assert result(make().fit(tasks)) == expected


@every_learner
def test_number_of_jobs(make, expected):
    assert result(make(n_jobs=3).fit(sachs_tasks())) == expected


@every_learner
def test_seeds_matter_and_generators_advance(make):
    tasks = sachs_tasks()
    generators = [np.random.default_rng(1) for _ in range(3)]
    once, again = (make().set_params(random_state=rng).fit(tasks) for rng in generators[:2])
    assert result(once) == result(again)
    used, _, fresh = (rng.integers(2**63) for rng in generators)
    assert used != fresh


def test_a_fresh_seed_is_drawn_without_one():
    tasks = sachs_tasks()
    # A climb that ties decide: no restarts, a score that treats classes alike, no sparse prior.
    parameters = {**PLAIN, "search": HillClimbing(restarts=0)}
    graphs = {
        json.dumps(result(SingleTaskLearner(**parameters).fit(tasks))["arcs"]) for _ in range(8)
    }
    assert len(graphs) > 1


def everything():
    """What a process learns, measures and draws, as plain values."""
    found = {name: learned(name) for name in MAKERS}
    found |= {module.__name__: module.fingerprint() for module in (test_problems, test_relatedness)}
    return json.loads(json.dumps(found))


def test_hash_seed():
    """An interpreter with another hash seed learns the same."""
    code = "import json, test_reproducible as t; print(json.dumps(t.everything()))"
    assert json.loads(with_another_seed(code)) == everything()


def test_a_program_that_ends_its_process_says_so_and_others_run(monkeypatch):
    monkeypatch.setattr("hash_seeds.process", cache(process.__wrapped__))
    with pytest.raises(AssertionError, match="SystemExit: 3"):
        with_another_seed("import sys; sys.exit(3)")
    with pytest.raises(AssertionError, match="ended its process with code 4:\nimport os; os._exit"):
        with_another_seed("import os; os._exit(4)")
    assert with_another_seed("print(1)") == "1\n"
