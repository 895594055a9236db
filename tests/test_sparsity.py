"""How sparse graphs are expected to be: the default of learners, and what users may ask for."""

import numpy as np
import pandas as pd
import pytest
from small import arcs, related

from bnmtl import (
    AIC,
    BIC,
    K2,
    ArcPrior,
    BDeu,
    BDs,
    HillClimbing,
    IdenticalLearner,
    LogLikelihood,
    MixedDirichlet,
    MultitaskLearner,
    MultitaskLearnerCV,
    PooledLearner,
    ReferencePrior,
    SingleTaskLearner,
)

pytestmark = pytest.mark.beside_kernels

CLIMB = {"search": HillClimbing(restarts=0, tabu=0), "random_state": 0}


@pytest.mark.parametrize(
    "score, chance",
    [
        (None, 0.02),
        (MixedDirichlet(), 0.02),
        (BDeu(), 0.2),
        (BDs(), 0.2),
        (K2(), 0.2),
        (BIC(), 0.5),
        (AIC(), 0.5),
        (LogLikelihood(), 0.5),
    ],
)
def test_a_tenth_of_a_parent_is_expected_or_one_by_the_score(score, chance):
    learner = SingleTaskLearner(score=score, max_parents=2, **CLIMB).fit(related())
    assert learner.arc_probability_.to_dict() == pytest.approx(dict.fromkeys(related(), chance))
    prior = None if chance == 0.5 else ArcPrior(probability=chance)
    given = SingleTaskLearner(score=score, structure_prior=prior, max_parents=2, **CLIMB)
    assert arcs(learner.configuration_) == arcs(given.fit(related()).configuration_)
    assert learner.score_ == given.score_


def test_variables_that_do_not_vary_do_not_count():
    tasks = related()
    tasks["task1"] = tasks["task1"].assign(x1=tasks["task1"]["x1"].iloc[0], more="same")
    with pytest.warns(UserWarning, match="only one state"):
        learner = SingleTaskLearner(**CLIMB).fit(tasks)
    assert learner.arc_probability_.to_dict() == pytest.approx(
        {"task1": 0.1 / 4, "task2": 0.1 / 5, "task3": 0.1 / 5, "task4": 0.1 / 5}
    )


@pytest.mark.parametrize("columns, chance", [("ab", 0.1), ("abc", 0.05)])
def test_few_variables(columns, chance):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (20, len(columns))), columns=list(columns))
    learner = SingleTaskLearner(**CLIMB).fit({"one": frame})
    assert learner.arc_probability_.to_dict() == pytest.approx({"one": chance})
    learner = SingleTaskLearner(score=BDeu(), **CLIMB).fit({"one": frame})
    assert learner.arc_probability_.to_dict() == {"one": 0.5}


@pytest.mark.parametrize("kind", [IdenticalLearner, PooledLearner])
def test_one_structure_counts_the_variables_of_all_tasks_and_the_tasks(kind):
    tasks = related()
    tasks["task1"] = tasks["task1"].assign(x7=tasks["task1"]["x1"][::-1].to_numpy())
    if kind is PooledLearner:
        tasks = {name: frame.drop(columns="x7", errors="ignore") for name, frame in tasks.items()}
    learner = kind(**CLIMB).fit(tasks)
    # One graph for four tasks expects its arcs of all of them together, and one data set of itself.
    chance = 0.1 / 5 if kind is PooledLearner else 0.1 / 6 / 4
    assert learner.arc_probability_.to_dict() == pytest.approx(dict.fromkeys(tasks, chance))


@pytest.mark.parametrize("kind", [SingleTaskLearner, MultitaskLearner, MultitaskLearnerCV])
@pytest.mark.parametrize("more", [{}, {"score": BDeu()}, {"table_sharing": None}])
def test_a_prior_for_each_task(kind, more):
    """Where tables are shared in the score, arcs are expected of all four tasks together."""
    if kind is SingleTaskLearner and "table_sharing" in more:
        more = {}
    if kind is not SingleTaskLearner:
        more = {**more, "task_groups": None}
    if kind is MultitaskLearnerCV:
        more = {**more, "penalties": [0.9], "cv": 2}
    prior = {"task1": "auto", "task2": ArcPrior(probability=0.3)}
    learner = kind(structure_prior=prior, **CLIMB, **more).fit(related())
    chance = (1 if "score" in more else 0.1) / 5
    if kind is not SingleTaskLearner and more.keys().isdisjoint(("score", "table_sharing")):
        chance /= 4
    assert learner.arc_probability_.to_dict() == pytest.approx(
        {"task1": chance, "task2": 0.3, "task3": 0.5, "task4": 0.5}
    )


def test_a_prior_of_pairs_has_no_single_probability():
    reference = next(iter(SingleTaskLearner(**CLIMB).fit(related()).configuration_.values()))
    learner = SingleTaskLearner(structure_prior=ReferencePrior(reference, factor=0.9), **CLIMB)
    assert np.isnan(learner.fit(related()).arc_probability_).all()


def test_expected_arcs_are_spread_over_all_pairs():
    learner = SingleTaskLearner(structure_prior=ArcPrior(expected_arcs=6), **CLIMB).fit(related())
    assert learner.arc_probability_.to_dict() == pytest.approx(dict.fromkeys(related(), 6 / 30))


def test_another_word_is_refused_with_the_ones_that_are_known():
    for prior in ("sparse", {"task1": "sparse"}):
        with pytest.raises((TypeError, ValueError), match=r"structure_prior.*'sparse'"):
            SingleTaskLearner(structure_prior=prior, **CLIMB).fit(related())


def test_fewer_arcs_are_found_where_fewer_are_expected():
    rng = np.random.default_rng(1)
    noise = pd.DataFrame(rng.integers(0, 3, (60, 15))).add_prefix("x")
    found = [
        SingleTaskLearner(structure_prior=prior, **CLIMB).fit({"one": noise}).configuration_["one"]
        for prior in (None, "auto")
    ]
    assert found[0].number_of_edges() > 10
    assert found[1].number_of_edges() == 0
