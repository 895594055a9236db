"""What searches remember: found again where nothing differs, searched again where anything does."""

import gc
import warnings

import numpy as np
import pandas as pd
import pytest
from small import related

from bnmtl import (
    BIC,
    ArcPrior,
    BDeu,
    Exact,
    HillClimbing,
    MultitaskLearner,
    Orders,
    SingleTaskLearner,
    structures,
)
from bnmtl.learners import compare
from bnmtl.search import Limits, Memory

pytestmark = pytest.mark.beside_kernels

QUICK = {"search": Orders(starts=1, iterations=3), "random_state": 0}
ONE = {"one": related()["task1"]}


def learned(memory=None, tasks=ONE, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SingleTaskLearner(**{**QUICK, **parameters}).fit(tasks, memory=memory)


@pytest.mark.parametrize(
    "changed",
    [
        {"score": BIC()},
        {"score": BDeu(2.0)},
        {"structure_prior": ArcPrior(probability=0.3)},
        {"required": [("x1", "x2")]},
        {"forbidden": [("x1", "x2")]},
        {"tiers": [["x1"], ["x2"]]},
        {"max_parents": 1},
        {"limits": Limits(max_cells=5)},
        {"limits": Limits(max_families=10**6)},
        {"search": Exact()},
        {"search": Orders(starts=1, iterations=4)},
        {"search": HillClimbing(restarts=1)},
        {"random_state": 1},
        {"tasks": {"other": ONE["one"]}},
        {"tasks": {"one": ONE["one"][:-1]}},
        {"tasks": {"one": ONE["one"].rename(columns={"x1": "x9"})}},
    ],
    ids=str,
)
def test_whatever_a_graph_depends_on_is_part_of_its_key(changed):
    memory = Memory()
    learned(memory)
    assert len(memory) == 1
    found = learned(memory, **changed)
    assert len(memory) == 2
    fresh = learned(**changed)
    assert found.score_ == fresh.score_
    assert found.configuration_.to_frame().equals(fresh.configuration_.to_frame())


def test_a_start_is_part_of_the_key():
    memory = Memory()
    graph = learned(memory).configuration_["one"]
    learned(memory, start=graph)
    assert len(memory) == 2


@pytest.mark.parametrize(
    "changed", [{"n_jobs": 2}, {"missing": "drop"}, {"limits": Limits(time_limit=600)}], ids=str
)
def test_what_changes_no_result_is_not(changed):
    memory = Memory()
    first = learned(memory)
    again = learned(memory, **changed)
    assert len(memory) == 1
    assert again.families_["asked"] < first.families_["asked"]
    assert again.score_ == first.score_


def test_a_learner_takes_what_another_one_has_found():
    tasks, memory = dict(list(related().items())[:3]), Memory()
    learned(memory, tasks)
    assert len(memory) == 3
    parameters = {**QUICK, "table_sharing": None}
    fresh = MultitaskLearner(**parameters).fit(tasks)
    found = MultitaskLearner(**parameters).fit(tasks, memory=memory)
    assert len(memory) == 3
    assert found.families_["asked"] < fresh.families_["asked"]
    assert (found.score_, found.start_scores_) == (fresh.score_, fresh.start_scores_)


def test_the_order_of_tasks_does_not_matter():
    tasks, memory = related(), Memory()
    learned(memory, tasks)
    learned(memory, dict(reversed(tasks.items())))
    assert len(memory) == 4


def test_what_time_has_cut_short_is_not_kept():
    memory = Memory()
    rows = {"alarm": structures.load("alarm").sample(500, random_state=0)}
    cut = learned(memory, rows, limits=Limits(time_limit=0))
    assert cut.ended_by_ == ("time_limit",) and len(memory) == 0
    ended = learned(memory, rows, limits=Limits(max_families=30))
    assert ended.ended_by_ == ("max_families",) and len(memory) == 1


def test_inputs_and_what_is_kept_stay_separate():
    memory = Memory()
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (50, 3)), columns=list("abc"))
    first = learned(memory, {"t": frame}).configuration_["t"]
    first.add_edge("a", "b")
    assert learned(memory, {"t": frame}).configuration_["t"].number_of_edges() == 0


@pytest.mark.parametrize("groups", ["auto", None])
def test_tables_of_a_fit_are_freed_when_it_ends(groups):
    """In a reference cycle they would stay until garbage is collected, fold after fold."""
    asia, names = structures.load("asia"), ["bronc", "dysp", "lung", "smoke"]
    rows = [asia.sample(60, random_state=seed)[names] for seed in range(3)]
    learner = MultitaskLearner(task_groups=groups, **QUICK)
    learner.fit(rows)
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        compare(learner.fit(rows), rows, cv=2)
        gc.collect()
        left = {
            type(one).__name__ for one in gc.garbage if type(one).__module__.startswith("bnmtl")
        }
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not left
