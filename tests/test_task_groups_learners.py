"""Groups of tasks in learners that choose a penalty or learn one graph, and what is special."""

import itertools
import time

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from searches import encode_quietly

from bnmtl import (
    BDeu,
    HillClimbing,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.errors import InputWarning
from bnmtl.learners import compare
from bnmtl.learners.adapted import as_chosen, at_penalty, for_tasks, with_graphs
from bnmtl.learners.held_out import score_folds
from bnmtl.learners.task_groups import GroupsByData, group_sentence
from bnmtl.search import Limits

pytestmark = pytest.mark.beside_kernels

QUICK = {"search": HillClimbing(restarts=0), "random_state": 0}
GRID = {"penalties": [0, 0.9]}
WAYS = [{"validation": "posterior"}, {"validation": 0.3}, {"cv": 2}]
LEARNERS = [
    MultitaskLearner(**QUICK),
    MultitaskLearnerCV(**GRID, validation="posterior", **QUICK),
    IdenticalLearner(**QUICK),
]


def chain(order, n_rows, seed, flip=0.1):
    """Rows of binary variables, each a noisy copy of the one before it in some order."""
    rng = np.random.default_rng(seed)
    rows = {order[0]: rng.integers(0, 2, n_rows)}
    for before, after in itertools.pairwise(order):
        rows[after] = np.where(rng.random(n_rows) < flip, 1 - rows[before], rows[before])
    return pd.DataFrame(rows)[sorted(order)]


@pytest.fixture(scope="module")
def rows():
    """Two families of two tasks."""
    return {
        "a1": chain("abcd", 120, 1),
        "a2": chain("abcd", 120, 2),
        "b1": chain("bdac", 120, 3),
        "b2": chain("bdac", 120, 4),
    }


GIVEN = {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}
FOUND = {"a1": 1, "a2": 1, "b1": 2, "b2": 2}


def arcs_of(learner):
    return {name: set(graph.edges) for name, graph in learner.configuration_.items()}


def with_groups(learner, value, **parameters):
    """The same learner with groups."""
    settings = {**learner.get_params(deep=False), "task_groups": value, **parameters}
    return type(learner)(**settings)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_families_are_found_and_found_groups_are_those_given(rows, learner):
    found = with_groups(learner, "auto").fit(rows)
    assert found.task_groups_.to_dict() == FOUND
    by_group = found.graph_ if isinstance(learner, IdenticalLearner) else found.start_
    assert [(label, type(label)) for label in by_group] == [(1, int), (2, int)]
    assert (found.group_margins_ > 5).all()
    assert found.group_gains_.loc["a1", "a2"] > 5 > found.group_gains_.loc["a1", "b1"]
    assert found.alternatives_[list(rows)].iloc[0].to_dict() == FOUND
    given = with_groups(learner, GIVEN).fit(rows)
    assert arcs_of(given) == arcs_of(found)
    assert given.score_ == pytest.approx(found.score_, abs=1e-9)
    assert not hasattr(given, "group_gains_")
    again = with_groups(learner, "auto").fit(dict(reversed(rows.items())))
    assert again.task_groups_.to_dict() == FOUND
    assert arcs_of(again) == arcs_of(found)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize(
    ("way", "score"),
    [*((way, None) for way in WAYS), (WAYS[0], BDeu()), (WAYS[1], BDeu())],
    ids=str,
)
def test_one_group_chooses_as_without_groups(rows, way, score):
    rows = {name: rows[name] for name in ("a1", "a2", "b1")}
    learner = MultitaskLearnerCV(score=score, **GRID, **way, **QUICK)
    one, without = (
        with_groups(learner, groups).fit(rows) for groups in (dict.fromkeys(rows, 1), None)
    )
    assert one.validation_grid_.equals(without.validation_grid_)
    assert one.penalty_ == without.penalty_
    assert one.score_ == without.score_
    assert arcs_of(one) == arcs_of(without)
    assert one.start_ == without.start_


def test_posteriors_of_groups_add_up(rows):
    learner = MultitaskLearnerCV(**GRID, validation="posterior", table_sharing=None, **QUICK)
    both = with_groups(learner, GIVEN).fit(rows)
    parts = [
        learner.fit({name: rows[name] for name in names}).validation_scores_
        for names in (("a1", "a2"), ("b1", "b2"))
    ]
    assert np.allclose(both.validation_scores_, parts[0] + parts[1])
    best = (parts[0] + parts[1]).idxmax()
    assert both.penalty_ == best
    assert both.start_.keys() == {"A", "B"}


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_group_has_the_chosen_penalty(rows, way):
    both = MultitaskLearnerCV(**GRID, **way, task_groups=GIVEN, **QUICK).fit(rows)
    chosen = as_chosen(both)
    assert chosen.prior.penalty == both.penalty_
    assert chosen.task_groups == GIVEN
    again = with_graphs(both, both.configuration_)
    assert again.score_ == pytest.approx(both.score_, abs=1e-9)
    assert again.task_groups_.to_dict() == GIVEN
    empty = {
        name: nx.empty_graph(graph.nodes, nx.DiGraph) for name, graph in both.configuration_.items()
    }
    assert with_graphs(both, empty).score_ < both.score_


@pytest.mark.slow_without_jit
def test_folds_hold_rows_out_under_the_groups(rows):
    """With groups of one, learning together is learning alone, with tables of all."""
    each = {name: name for name in rows}
    scored = compare(
        MultitaskLearner(task_groups=each, parameter_sample_size=1.0, **QUICK), rows, cv=3
    )
    assert np.allclose(scored["together"], scored["alone"])
    one = MultitaskLearner(task_groups=None, parameter_sample_size=1.0, **QUICK)
    one = compare(one, rows, cv=3)
    assert not np.allclose(one["together"], one["alone"])
    assert np.array_equal(one["alone"], scored["alone"])


@pytest.mark.slow_without_jit
def test_folds_of_a_choice_keep_the_groups_and_comparisons_find_them_again(rows, monkeypatch):
    settings = {"table_sharing": None, **QUICK}
    learner = MultitaskLearnerCV(**GRID, cv=2, task_groups="auto", **settings).fit(rows)
    given = MultitaskLearnerCV(**GRID, cv=2, task_groups=GIVEN, **settings).fit(rows)
    assert learner.task_groups_.to_dict() == FOUND
    assert learner.validation_grid_.equals(given.validation_grid_)
    tasks = learner.tasks_
    assert learner._known_folds(tasks, 2) is None
    assert given._known_folds(given.tasks_, 2) is not None
    searched = []
    fits = MultitaskLearner._group_fits
    monkeypatch.setattr(
        MultitaskLearner, "_group_fits", lambda self: searched.append(self) or fits(self)
    )
    found = MultitaskLearner(task_groups="auto", **settings)
    folds = score_folds(found, tasks, 2, [PairedPrior(0.99)], found._effort(), lambda done: None)
    assert len(searched) == len(folds) == 2


def test_penalties_of_0_for_all_pairs_of_tasks_need_no_search_for_groups(rows, monkeypatch):
    def search(*_):
        raise AssertionError("The search for groups is needless.")

    monkeypatch.setattr(GroupsByData, "_search", search)
    nothing = PairedPrior(0.9, task_penalty=dict.fromkeys(itertools.combinations(rows, 2), 0.0))
    settings = {"table_sharing": None, **QUICK}
    learner = MultitaskLearner(nothing, **settings).fit(rows)
    assert learner.task_groups_.to_list() == [1, 2, 3, 4]
    assert arcs_of(learner) == arcs_of(SingleTaskLearner(**QUICK).fit(rows))
    together = MultitaskLearner(nothing, task_groups=None, **settings).fit(rows)
    assert arcs_of(together) == arcs_of(learner)


def test_groups_are_found_at_the_default_penalty(rows):
    settings = {"table_sharing": None, "task_groups": "auto", **QUICK}
    chosen = MultitaskLearnerCV(PairedPrior(0), **GRID, validation="posterior", **settings)
    chosen.fit(rows)
    expected = MultitaskLearner(**settings).fit(rows)
    assert chosen.task_groups_.equals(expected.task_groups_)
    assert np.allclose(chosen.group_gains_, expected.group_gains_, equal_nan=True)
    assert chosen.group_margins_.notna().all()


def test_adapted_learners_keep_groups(rows):
    settings = {"table_sharing": None, **QUICK}
    found = MultitaskLearnerCV(**GRID, validation="posterior", task_groups="auto", **settings)
    assert at_penalty(found, 0.5).task_groups == "auto"
    found.fit(rows)
    assert as_chosen(found).task_groups == FOUND
    some = encode_quietly({name: rows[name] for name in ("a1", "b1", "b2")})
    learner = IdenticalLearner(task_groups=GIVEN, **QUICK)
    assert for_tasks(learner, some).task_groups == {"a1": "A", "b1": "B", "b2": "B"}
    chosen = for_tasks(as_chosen(found), some)
    assert chosen.task_groups == {"a1": 1, "b1": 2, "b2": 2}
    assert as_chosen(IdenticalLearner(task_groups="auto", **QUICK).fit(rows)).task_groups == FOUND


def test_one_graph_for_each_group(rows):
    both = IdenticalLearner(task_groups=GIVEN, **QUICK).fit(rows)
    score = 0.0
    for label, names in (("A", ("a1", "a2")), ("B", ("b1", "b2"))):
        part = IdenticalLearner(**QUICK).fit({name: rows[name] for name in names})
        score += part.score_
        assert set(both.graph_[label].edges) == set(part.graph_.edges)
        for name in names:
            assert set(both.configuration_[name].edges) == set(part.graph_.edges)
    assert both.score_ == pytest.approx(score, abs=1e-6)
    again = with_graphs(both, both.configuration_)
    assert again.score_ == both.score_
    assert again.graph_.keys() == {"A", "B"}
    mixed = {**both.configuration_, "a1": both.configuration_["b1"]}
    assert with_graphs(both, mixed).score_ == -np.inf
    one = IdenticalLearner(task_groups=dict.fromkeys(rows, 1), **QUICK).fit(rows)
    without = IdenticalLearner(**QUICK).fit(rows)
    assert one.score_ == without.score_
    assert set(one.graph_.edges) == set(without.graph_.edges)


def test_groups_of_one_graph_of_tasks_with_other_variables():
    """The prior counts variables of the group only, as a separate fit does."""
    rows = {"a": chain("abc", 80, 0), "z": chain("wxyz", 80, 1)}
    both = IdenticalLearner(task_groups={"a": 1, "z": 2}, **QUICK).fit(rows)
    parts = [IdenticalLearner(**QUICK).fit({name: rows[name]}).score_ for name in rows]
    assert both.score_ == pytest.approx(sum(parts), abs=1e-6)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_one_task_has_no_gains(rows, learner):
    found = with_groups(learner, "auto").fit({"a1": rows["a1"]})
    assert found.task_groups_.to_dict() == {"a1": 1}
    assert found.group_gains_.shape == (1, 1) and found.group_gains_.isna().all(axis=None)
    assert found.group_margins_.isna().all()
    assert list(found.alternatives_.columns) == ["a1", "value"] and not len(found.alternatives_)


def test_penalty_0_with_own_tables_needs_no_search_for_groups(rows):
    settings = {"table_sharing": None, **QUICK}
    events = []
    learner = MultitaskLearner(
        PairedPrior(0), task_groups="auto", progress=events.append, **settings
    ).fit(rows)
    assert learner.task_groups_.tolist() == [1, 2, 3, 4]
    assert learner.group_gains_.isna().all(axis=None) and learner.group_margins_.isna().all()
    assert not any("gains" in event.stage or "groups" in event.stage for event in events)
    alone = SingleTaskLearner(**QUICK).fit(rows)
    assert arcs_of(learner) == arcs_of(alone)
    assert learner.score_ == pytest.approx(alone.score_, abs=1e-9)


def test_tasks_that_cannot_agree_never_share_a_group():
    arc = ("a", "b")
    rows = {name: chain("abcd", 80, seed) for seed, name in enumerate("xyz")}
    constraints = {"required": {"x": [arc]}, "forbidden": {"y": [arc, arc[::-1]]}}
    separate = MultitaskLearner(PairedPrior(1), task_groups="auto", **constraints, **QUICK).fit(
        rows
    )
    assert separate.task_groups_["x"] != separate.task_groups_["y"]
    for groups in (None, {"x": 1, "y": 1, "z": 2}):
        learner = MultitaskLearner(PairedPrior(1), task_groups=groups, **constraints, **QUICK)
        with pytest.raises(ValueError, match="give tasks different arcs between a and b"):
            learner.fit(rows)
    one = IdenticalLearner(task_groups="auto", **constraints, **QUICK).fit(rows)
    assert one.task_groups_["x"] != one.task_groups_["y"]
    assert np.isnan(one.group_gains_.loc["x", "y"])
    with pytest.raises(ValueError, match="must allow a single graph for all tasks"):
        IdenticalLearner(task_groups={"x": 1, "y": 1, "z": 2}, **constraints, **QUICK).fit(rows)
    grid = {"penalties": None, "validation": "posterior"}
    chosen = MultitaskLearnerCV(**grid, task_groups="auto", **constraints, **QUICK).fit(rows)
    may_be_1 = chosen.task_groups_["x"] != chosen.task_groups_["y"]
    assert (1.0 in chosen.validation_scores_.index) == may_be_1


def test_required_arcs_that_close_a_cycle_only_together():
    """Any two of the tasks may have one graph, but not all three."""
    rows = {name: chain("abc", 60, 0) for name in "xyz"}
    required = {"x": [("a", "b")], "y": [("b", "c")], "z": [("c", "a")]}
    learner = IdenticalLearner(task_groups="auto", required=required, **QUICK).fit(rows)
    assert learner.task_groups_.nunique() == 2
    assert np.isfinite(learner.score_)
    # A move that is impossible says nothing against joining.
    learner = MultitaskLearner(PairedPrior(1), required=required, **QUICK).fit(rows)
    assert learner.task_groups_.nunique() == 2
    assert not np.isinf(learner.group_margins_).any()
    assert "inf" not in group_sentence(learner)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_a_merge_needs_a_pair_of_variables_that_varies_on_both_sides(rows, learner):
    other = rows["a1"].rename(columns={"b": "x", "c": "y", "d": "z"})
    found = with_groups(learner, "auto").fit({"a1": rows["a1"], "a2": rows["a2"], "z": other})
    assert found.task_groups_.to_dict() == {"a1": 1, "a2": 1, "z": 2}
    assert found.group_gains_["z"].isna().all()


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_a_task_of_nine_rows_joins_after_the_others(rows, learner):
    small = {**rows, "b0": chain("bdac", 9, 6, 0.0)}
    message = "finds no group for tasks with fewer than 10 rows, `b0`.*, or name their groups.$"
    with pytest.warns(InputWarning, match=message):
        found = with_groups(learner, "auto").fit(small)
    labels = found.task_groups_.to_dict()
    assert {name: labels[name] == labels["a1"] for name in rows} == {
        "a1": True,
        "a2": True,
        "b1": False,
        "b2": False,
    }
    assert list(labels.values()).count(labels["b0"]) == 3
    assert np.isnan(found.group_margins_["b0"])
    assert found.group_margins_.drop("b0").notna().all()


def test_without_arcs_a_small_task_joins_the_largest_group():
    same = pd.DataFrame({"a": [0, 1, 0], "b": [0, 0, 1]})
    rows = {
        "a": chain("ab", 90, 0, 0.02),
        "b": chain("ab", 90, 1, 0.02),
        "c": chain("xy", 90, 2),
        "d": same,
        "e": chain("xy", 90, 3),
        "f": chain("xy", 90, 4),
    }
    wide = {name: frame for name, frame in rows.items() if name != "d"}
    rows["d"] = same.assign(x=[0, 1, 1], y=[1, 0, 1])
    with pytest.warns(InputWarning, match="`d`"):
        found = MultitaskLearner(task_groups="auto", **QUICK).fit(rows)
    labels = found.task_groups_
    assert labels["d"] == labels["c"] == labels["e"] != labels["a"]
    assert MultitaskLearner(task_groups="auto", **QUICK).fit(wide).task_groups_.nunique() == 2


@pytest.mark.slow_without_jit
def test_limits_on_families_leave_one_group(rows):
    limits = Limits(max_families=50)
    learner = MultitaskLearner(task_groups="auto", limits=limits, **QUICK)
    with pytest.warns(InputWarning, match="max_families"):
        learner.fit(rows)
    assert set(learner.task_groups_) == {1}
    assert learner.ended_by_ == ("max_families",)
    enough = MultitaskLearner(
        task_groups="auto", limits=Limits(max_families=10_000_000), **QUICK
    ).fit(rows)
    assert enough.task_groups_.to_dict() == FOUND and enough.ended_by_ == ()


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_no_time_leaves_one_group(rows, learner):
    limited = with_groups(learner, "auto", limits=Limits(time_limit=0))
    with pytest.warns(InputWarning, match="time_limit"):
        limited.fit(rows)
    assert set(limited.task_groups_) == {1}
    assert "time_limit" in limited.ended_by_
    assert group_sentence(limited).endswith("; the search for groups ended early.")


@pytest.mark.slow_without_jit
def test_the_search_for_groups_has_a_third_of_the_time(rows, monkeypatch):
    """The deadlines of the fits of groups."""
    ended = []
    fits = MultitaskLearner._group_fits

    class Recorded:
        def __init__(self, kept):
            self._kept, self.value, self.check = kept, kept.value, kept.check
            self.is_separate = kept.is_separate

        def quick(self, problems, graphs, effort):
            ended.append(effort.deadline)
            return self._kept.quick(problems, graphs, effort)

        def full(self, problems, effort, report):
            return self._kept.full(problems, effort, report)

    monkeypatch.setattr(MultitaskLearner, "_group_fits", lambda self: Recorded(fits(self)))
    began = time.time()
    MultitaskLearner(task_groups="auto", limits=Limits(time_limit=600), **QUICK).fit(rows)
    assert ended and all(150 < deadline - began < 250 for deadline in ended)


@pytest.mark.slow_without_jit
def test_progress_counts_the_pairs_of_tasks(rows):
    events = []
    MultitaskLearner(task_groups="auto", progress=events.append, **QUICK).fit(rows)
    gains = [(event.done, event.total) for event in events if event.stage == "gains of pairs"]
    assert gains == [(done, 6) for done in range(1, 7)]
    stages = [event for event in events if event.stage == "groups of tasks"]
    assert stages and all(event.total is None and event.done > 0 for event in stages)
    events.clear()
    chosen = MultitaskLearnerCV(
        **GRID, validation="posterior", task_groups=GIVEN, progress=events.append, **QUICK
    ).fit(rows)
    done = [(event.done, event.total) for event in events if event.stage == "penalties"]
    assert done == [(at, 4) for at in range(1, 5)] and chosen.penalty_ in GRID["penalties"]


@pytest.mark.slow_without_jit
def test_of_many_tasks_the_nearest_are_tried():
    """Eighteen tasks of two pairs of variables, which differ between three families."""
    pairs = ("ab", "cd"), ("ac", "bd"), ("ad", "bc")
    rows = {
        f"t{at:02d}": pd.concat(
            [chain(pair, 40, 9 * at + ord(pair[0])) for pair in pairs[at % 3]], axis=1
        )
        for at in range(18)
    }
    found = MultitaskLearner(table_sharing=None, task_groups="auto", **QUICK).fit(rows)
    labels = {name: 1 + at % 3 for at, name in enumerate(rows)}
    assert found.task_groups_.to_dict() == labels
    tried = found.group_gains_.notna().sum()
    assert (tried >= 5).all() and tried.sum() < 18 * 12
    gains = found.group_gains_.to_numpy()
    assert np.allclose(gains, gains.T, equal_nan=True)
