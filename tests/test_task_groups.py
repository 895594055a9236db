"""Groups of tasks that learn from each other: the value of a group, and the search for them."""

import itertools
import math

import naive_tables
import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import encode_quietly
from shared import counts_of, tasks_of

from bnmtl import BDeu, MixedDirichlet
from bnmtl.scores import CONCENTRATIONS, PART_CONCENTRATION, PARTITIONS
from bnmtl.search.problem import Constraints, NoCommonGraph, TaskProblem, constraints_by_task
from bnmtl.search.task_groups import (
    GroupSearch,
    GroupValue,
    OneGraphValue,
    acyclic,
    log_partition_prior,
)


def value_of(tasks, score=None, required=(), forbidden=(), is_shared=True, kind=GroupValue):
    """The value of groups of these tasks."""
    constraints = constraints_by_task(tasks, required, forbidden, None, None)
    sharing = {"partitions": PARTITIONS} if is_shared else {}
    problems = TaskProblem.of_all(tasks, score or MixedDirichlet(), constraints, **sharing)
    return kind(problems)


def pair_of_variables(k, n_rows=6):
    """Tasks of two variables that vary."""
    rows = {"a": ["x", "y"] * (n_rows // 2), "b": ["x"] * (n_rows - 1) + ["y"]}
    return encode_quietly({f"t{s}": pd.DataFrame(rows) for s in range(k)})


GRAPHS = [
    np.array(graph, bool).reshape(2, 2) for graph in ([0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0])
]


def chance(value, members, graphs):
    return math.exp(value.log_coupling(members, graphs))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_coupling_of_a_pair_sums_to_1_and_leaving_a_task_out_is_exact(k):
    value, members = value_of(pair_of_variables(k)), list(range(k))
    states = list(itertools.product(GRAPHS, repeat=k))
    assert sum(chance(value, members, graphs) for graphs in states) == pytest.approx(1)
    for first in itertools.product(GRAPHS, repeat=k - 1):
        without = chance(value, members[1:], first) if k > 1 else 1.0
        summed = sum(chance(value, members, [graph, *first]) for graph in GRAPHS)
        assert summed == pytest.approx(without)


@pytest.mark.parametrize(
    "constraints",
    [
        {"forbidden": {"t0": [("a", "b")]}},
        {"forbidden": {"t0": [("a", "b")], "t1": [("b", "a")]}},
        {"required": {"t0": [("a", "b")]}, "forbidden": {"t2": [("b", "a")]}},
        {"forbidden": {"t1": [("a", "b"), ("b", "a")]}},
    ],
)
def test_the_coupling_sums_to_1_over_the_states_that_constraints_allow(constraints):
    value, members = value_of(pair_of_variables(3), **constraints), [0, 1, 2]
    total = 0.0
    for graphs in itertools.product(GRAPHS, repeat=3):
        required = {at for at in members if f"t{at}" in constraints.get("required", {})}
        is_allowed = all(
            not any(
                graph[ord(a) - 97, ord(b) - 97]
                for a, b in constraints["forbidden"].get(f"t{s}", ())
            )
            for s, graph in enumerate(graphs)
        ) and all(graphs[s][0, 1] for s in required)
        total += chance(value, members, graphs) if is_allowed else 0.0
    assert total == pytest.approx(1)


@pytest.mark.parametrize(
    ("constraints", "n_states"),
    [
        ({}, 3),
        ({"forbidden": {"t0": [("a", "b")]}}, 2),
        ({"forbidden": {"t0": [("a", "b")], "t1": [("b", "a")]}}, 1),
        ({"required": {"t0": [("a", "b")]}}, 1),
    ],
)
def test_the_state_of_one_graph_counts_once(constraints, n_states):
    value, members = value_of(pair_of_variables(3), **constraints, kind=OneGraphValue), [0, 1, 2]
    free = value_of(pair_of_variables(1))
    allowed = [
        graph
        for graph in GRAPHS
        if not any(graph[ord(a) - 97, ord(b) - 97] for (a, b) in forbidden_of(constraints))
        and all(
            graph[ord(a) - 97, ord(b) - 97]
            for (a, b) in constraints.get("required", {}).get("t0", ())
        )
    ]
    assert len(allowed) == n_states
    chances = [chance(value, members, [graph] * 3) for graph in allowed]
    one = np.array([chance(free, [0], [graph]) for graph in allowed])
    assert np.allclose(chances, one / one.sum())


def forbidden_of(constraints):
    """Forbidden arcs of all tasks."""
    return [arc for arcs in constraints.get("forbidden", {}).values() for arc in arcs]


@settings(max_examples=examples(12))
@given(tasks_of(), st.data(), st.booleans())
def test_a_task_alone_has_the_same_value_with_a_graph_of_its_own_and_with_one_graph(
    tasks, data, is_shared
):
    several, one = (
        value_of(tasks, is_shared=is_shared, kind=kind) for kind in (GroupValue, OneGraphValue)
    )
    for s, graph in enumerate(data.draw(graphs_of(several))):
        assert one.of([s], [graph]) == pytest.approx(several.of([s], [graph]), abs=1e-8)
        assert one.best([s], [[graph]], {s: [graph]})[0] == pytest.approx(
            several.of([s], [graph]), abs=1e-8
        )


def test_the_best_of_one_graph_is_the_best_graph_of_a_task_that_all_can_have():
    """t1 may not have a -> b, so that t0 gives its graph only without this arc."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 60)
    rows = pd.DataFrame({"a": a, "b": np.where(rng.random(60) < 0.9, a, 1 - a)})
    tasks = encode_quietly({"t0": rows, "t1": rows})
    none, forward, backward = GRAPHS
    value = value_of(tasks, forbidden={"t1": [("a", "b")]}, kind=OneGraphValue)
    seen = {0: [none, forward], 1: [none]}
    assert value.best([0, 1], [[forward, none]], seen)[0] == 0
    seen[1].append(backward)
    found, graphs = value.best([0, 1], [[forward, none]], seen)
    assert found == value.of([0, 1], [backward, backward]) > 20
    assert all(np.array_equal(graph, backward) for graph in graphs)


def test_worth_of_an_arc_that_all_tasks_have():
    """Nats at 37 variables, for two, five and twenty tasks, and with one task that lacks it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (8, 37)), columns=[f"v{at:02d}" for at in range(37)])
    frame.iloc[:2] = [[0] * 37, [1] * 37]
    value = value_of(encode_quietly({f"t{s:02d}": frame for s in range(20)}))
    none, arc = np.zeros((2, 37, 37), bool)
    arc[3, 8] = True
    for k, together, lacking in ((2, 5.9, 3.5), (5, 23.5, 4.9), (20, 112, 6.5)):
        alone = value.log_coupling([0], [arc]) - value.log_coupling([0], [none])
        empty = value.log_coupling(range(k), [none] * k)
        all_have = value.log_coupling(range(k), [arc] * k) - empty
        assert all_have - k * alone == pytest.approx(together, abs=0.06 * k)
        one_lacks = value.log_coupling(range(k), [arc] * (k - 1) + [none]) - empty
        of_rest = value.log_coupling(range(k - 1), [arc] * (k - 1)) - value.log_coupling(
            range(k - 1), [none] * (k - 1)
        )
        assert of_rest - one_lacks == pytest.approx(lacking, abs=0.06)


def unlike(k):
    """Tasks of two variables; the last one has other chances of b, so that parts of them differ."""
    frames = {}
    for s in range(k):
        of_b = ["x"] * 3 + ["y"] * 3 if s < k - 1 else ["x"] * 5 + ["y"]
        frames[f"t{s}"] = pd.DataFrame({"a": ["x", "y"] * 3, "b": of_b})
    return encode_quietly(frames)


@pytest.mark.parametrize("k", [2, 4])
def test_evidence_has_concentrations_of_its_own_for_parts_of_the_tasks(k):
    tasks = unlike(k)
    families = ([], "a"), (["a"], "b")
    expected = sum(
        naive_tables.shared_evidence(
            counts_of(tasks.values(), *family), CONCENTRATIONS, PARTITIONS, PART_CONCENTRATION
        )
        for family in families
    )
    found = value_of(tasks).evidence(range(k), [GRAPHS[1]] * k)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("k", [9, 10])
def test_groups_of_many_tasks_are_compared_by_one_score(k):
    """Of more than nine tasks, a group of two has no concentrations of its own, either."""
    value = value_of(unlike(k))
    bound = value.joint.tasks[0].scores.bound
    without = bound.among(range(k), None)
    for members in (range(k), [0, k - 1]):
        found = value.evidence(members, [GRAPHS[0]] * len(members))
        by_way = [
            sum(way.evidence(child, np.array([], int), list(members)) for child in (0, 1))
            / way.scale
            for way in (bound, without)
        ]
        assert found == pytest.approx(by_way[k > 9])
        assert abs(by_way[0] - by_way[1]) > 0.01 or len(members) > 9


@st.composite
def graphs_of(draw, value):
    """A DAG for every task, within its constraints."""
    part, found = value.joint.takes_part, []
    n = part.shape[1]
    for s in range(len(part)):
        order = draw(st.permutations(range(n)))
        graph = np.zeros((n, n), bool)
        for first, second in itertools.combinations(order, 2):
            graph[first, second] = draw(st.booleans())
        found.append(graph & part[s])
    return found


@settings(max_examples=examples(40))
@given(tasks_of(), st.data(), st.booleans())
def test_value_without_arcs_is_0_and_does_not_depend_on_the_order_of_tasks(tasks, data, is_shared):
    value = value_of(tasks, is_shared=is_shared)
    k, n = len(tasks), len(value.joint.variables)
    assert value.of(range(k), np.zeros((k, n, n), bool)) == 0
    graphs = data.draw(graphs_of(value))
    order = data.draw(st.permutations(range(k)))
    names = list(tasks)
    turned = encode_quietly({names[s]: tasks[names[s]].frame() for s in order})
    expected = value.of(range(k), graphs)
    other = value_of(turned, is_shared=is_shared)
    found = other.of(range(k), [graphs[names.index(name)] for name in turned])
    assert found == pytest.approx(expected, abs=1e-8)


@settings(max_examples=examples(30))
@given(tasks_of(), st.data())
def test_a_task_without_variation_changes_no_value(tasks, data):
    value = value_of(tasks)
    graphs = data.draw(graphs_of(value))
    frames = {name: task.frame() for name, task in tasks.items()}
    first = next(iter(frames.values()))
    constant = first.iloc[[0, 0, 0]].reset_index(drop=True)
    more = value_of(encode_quietly({**frames, "zz": constant}))
    expected = value.of(range(len(tasks)), graphs)
    found = more.of(range(len(tasks) + 1), [*graphs, np.zeros_like(graphs[0])])
    assert found == pytest.approx(expected, abs=1e-8)


class PairValues:
    """A value that is a sum over pairs of tasks, for the search without any fit."""

    def __init__(self, gains):
        self.gains = np.asarray(gains, float)
        self.joint = type("Joint", (), {"tasks": range(len(self.gains))})

    def of(self, members, graphs):
        return sum(self.gains[pair] for pair in itertools.combinations(members, 2))

    def best(self, members, starts, seen):
        return self.of(members, starts[0]), starts[0]

    def given_to_all(self, members, graph):
        return self.of(members, [graph] * len(members))


def search_of(gains, fit=None, **options):
    """A search for groups whose values are known without any fit."""
    search = GroupSearch(
        PairValues(gains),
        fit or (lambda members, graphs: [[np.eye(1)] * len(members)]),
        **options,
    )
    for s in range(len(gains)):
        search.add_graphs([s], [np.eye(1)])
    return search


def found_groups(gains):
    return search_of(gains).search()


def partitions_of(k):
    """All partitions of k tasks, in canonical form."""
    for labels in itertools.product(range(k), repeat=k):
        if all(label <= max(labels[:at], default=-1) + 1 for at, label in enumerate(labels)):
            groups = {}
            for s, label in enumerate(labels):
                groups.setdefault(label, []).append(s)
            yield tuple(map(tuple, groups.values()))


@settings(max_examples=examples(40))
@given(st.data())
def test_search_finds_groups_that_clearly_differ(data):
    k = data.draw(st.integers(2, 5))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=k, max_size=k))
    noise = data.draw(st.lists(st.integers(-9, 9), min_size=k * k, max_size=k * k))
    noise = np.array(noise).reshape(k, k)
    gains = (
        np.where(np.equal.outer(labels, labels), 40, -40) + np.triu(noise, 1) + np.triu(noise, 1).T
    )
    found = found_groups(gains)
    value = PairValues(gains)

    def total(groups):
        return sum(value.of(group, None) for group in groups) + log_partition_prior(groups)

    best = max(partitions_of(k), key=total)
    assert tuple(found.groups) == best
    assert found.margins.min() > 5
    expected = gains.astype(float)
    np.fill_diagonal(expected, np.nan)
    assert np.allclose(found.gains, expected, equal_nan=True)


def test_of_many_tasks_groups_without_any_nearest_pair_are_merged():
    """The five nearest of each task are in its third, and the first two thirds belong together."""
    gains = np.kron([[40, 5, -40], [5, 40, -40], [-40, -40, 40]], np.ones((7, 7)))
    found = found_groups(gains)
    assert found.groups == [tuple(range(14)), tuple(range(14, 21))]
    assert np.isnan(found.gains[:7, 7:]).all()


def test_what_the_data_do_not_separate_stays_together():
    """Below 5 nats tasks are one group, ties included."""
    for gain in (0, -2):
        assert found_groups([[0, gain], [gain, 0]]).groups == [(0, 1)]
    assert found_groups([[0, -9], [-9, 0]]).groups == [(0,), (1,)]


@pytest.mark.parametrize(
    ("n_full", "expected"),
    [(0, [(0, 1, 2, 3)]), (1, [(0, 1, 2, 3)]), (2, [(0, 1), (2, 3)]), (9, [(0, 1), (2, 3)])],
)
def test_where_the_search_must_end_what_is_confirmed_holds(n_full, expected):
    """The search ends during the full fit after this number of them; 9 are enough for all."""
    gains = np.full((4, 4), -20.0)
    gains[0, 1] = gains[1, 0] = gains[2, 3] = gains[3, 2] = 20.0
    full = []

    def fit(members, graphs):
        full.extend([members] if graphs is None else [])
        return [[np.eye(1)] * len(members)]

    search = search_of(gains, fit, is_over=lambda: n_full < 9 and len(full) > n_full)
    assert search.search().groups == expected
    assert all(len(members) > 1 for members in full)


@pytest.mark.parametrize(("loss", "expected"), [(-60.0, {(0, 1)}), (-10.0, {(0, 1), (0, 1, 2)})])
def test_one_group_that_is_far_behind_is_not_confirmed(loss, expected):
    full = set()

    def fit(members, graphs):
        full.update([tuple(members)] if graphs is None else [])
        return [[np.eye(1)] * len(members)]

    found = search_of([[0, 20, loss], [20, 0, loss], [loss, loss, 0]], fit).search()
    assert found.groups == [(0, 1), (2,)]
    assert full == expected


def test_where_the_search_must_end_at_once_there_is_one_group_if_it_is_possible():
    gains = np.full((3, 3), -20.0)
    over = {"is_over": lambda: True}
    found = search_of(gains, **over).search()
    assert found.groups == [(0, 1, 2)]
    assert np.isnan(found.margins).all() and np.isnan(found.gains).all()
    may_join = ~np.eye(3, dtype=bool)
    may_join[0, 1] = may_join[1, 0] = False
    assert search_of(gains, may_join=may_join, **over).search().groups == [(0,), (1,), (2,)]


def test_a_partition_that_was_not_confirmed_in_time_does_not_hold():
    """The search ends after the six gains and the first merge, whose value is far the best."""
    gains = np.full((4, 4), -20.0)
    gains[0, 1] = gains[1, 0] = 40.0
    gains[2, 3] = gains[3, 2] = 20.0
    asked = itertools.count()
    assert search_of(gains, is_over=lambda: next(asked) >= 7).search().groups == [(0, 1, 2, 3)]


def test_groups_that_no_fit_allows_are_not_made():
    """Any two tasks can be one group here, but not all three."""

    def fit(members, graphs):
        if len(members) == 3:
            raise NoCommonGraph("must allow a single graph for all tasks", argument="required")
        return [[np.eye(1)] * len(members)]

    found = search_of([[0, 9, 8], [9, 0, 7], [8, 7, 0]], fit).search()
    assert found.groups == [(0, 1), (2,)]
    assert all(np.isfinite(value) for _, value in found.alternatives)


def test_where_all_pairs_gain_but_only_pairs_are_possible_there_are_pairs():
    def fit(members, graphs):
        if len(members) > 2:
            raise NoCommonGraph("must allow a single graph for all tasks", argument="required")
        return [[np.eye(1)] * len(members)]

    gains = np.full((4, 4), 1.0)
    gains[0, 1] = gains[1, 0] = gains[2, 3] = gains[3, 2] = 20.0
    assert search_of(gains, fit).search().groups == [(0, 1), (2, 3)]


def test_where_all_pairs_gain_one_group_is_tried_without_merging():
    fitted = []

    def fit(members, graphs):
        fitted.append(tuple(members))
        return [[np.eye(1)] * len(members)]

    found = search_of(np.full((6, 6), 9.0), fit).search(with_margins=False)
    assert found.groups == [tuple(range(6))]
    assert np.isnan(found.margins).all()
    # Apart from moves of single tasks.
    assert {len(members) for members in fitted} == {2, 5, 6}
    margins = search_of(np.full((6, 6), 9.0)).search().margins
    assert (margins > 40).all()


def test_larger_groups_are_searched_near_the_graphs_of_the_groups_at_hand():
    """Graphs tell from where they come; wider groups go before those within."""
    given = []

    def fit(members, graphs):
        given.append((tuple(members), [int(graph.max()) for graph in graphs]))
        mark = int("".join(str(s + 1) for s in members))
        return [[np.full((1, 1), mark)] * len(members)]

    search = search_of(np.full((4, 4), 1.0), fit)
    search.value.best = lambda members, starts, seen: (0.0, starts[-1])
    for s in range(4):
        search._seen[s] = [np.full((1, 1), s + 1)]
    for members in [(0,), (1,), (2,), (3,), (0, 1), (2, 3), (0, 1, 2), (0, 1, 2, 3), (1, 2, 3)]:
        search.of(members)
    assert given == [
        ((0, 1), [1, 2]),
        ((2, 3), [3, 4]),
        ((0, 1, 2), [12, 12, 3]),
        ((0, 1, 2, 3), [123, 123, 123, 4]),
        ((1, 2, 3), [1234, 1234, 1234]),
    ]


def test_tasks_that_cannot_tell_join_the_group_of_their_largest_gain():
    gains = np.array(
        [[0, 9, -40, -3, 0], [9, 0, -40, -3, 0], [-40, -40, 0, -1, 0], [-3, -3, -1, 0, 0], [0] * 5]
    )
    found = search_of(gains, too_few={3, 4}).search()
    assert found.groups == [(0, 1, 4), (2, 3)]
    assert np.isnan(found.margins).tolist() == [False, False, False, True, True]
    assert found.gains[3, 2] == -1
    everyone = search_of(gains, too_few=range(5)).search()
    assert everyone.groups == [(0, 1, 2, 3, 4)]
    equal = np.array([[0, -40, -40, 0], [-40, 0, 9, 0], [-40, 9, 0, 0], [0] * 4])
    assert search_of(equal, too_few={3}).search().groups == [(0,), (1, 2, 3)]


@pytest.mark.parametrize("k", [12, 14])
def test_of_many_tasks_only_the_nearest_pairs_are_tried(k):
    labels = np.arange(k) % 2
    gains = np.where(np.equal.outer(labels, labels), 30.0, -30.0) + np.arange(k)
    gains = (gains + gains.T) / 2
    fitted = []

    def fit(members, graphs):
        fitted.append(tuple(members))
        return [[np.eye(1)] * len(members)]

    found = search_of(gains, fit).search()
    assert found.groups == [tuple(range(0, k, 2)), tuple(range(1, k, 2))]
    known = ~np.isnan(found.gains)
    assert np.array_equal(known, known.T)
    if k == 12:
        assert known.sum() == k * (k - 1)
    else:
        for s in range(k):
            others = [u for u in np.argsort(-gains[s], kind="stable") if u != s]
            assert known[s, others[:5]].all()
        assert known.sum() < k * (k - 1)
    assert np.array_equal(found.gains[known], gains[known])
    assert (found.margins > 5).all()


def test_prior_of_partitions_sums_to_1():
    for k in (1, 3, 5):
        total = sum(math.exp(log_partition_prior(groups)) for groups in partitions_of(k))
        assert total == pytest.approx(1)


def test_acyclic_part_of_a_graph_within_constraints():
    cyclic = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 0]], bool)
    anything, nothing = ~np.eye(3, dtype=bool), np.zeros((3, 3), bool)
    free = Constraints(anything, nothing, 3)
    assert acyclic(cyclic, free).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    last = nothing.copy()
    last[2, 0] = True
    required = Constraints(anything & ~last.T, last, 3)
    assert acyclic(cyclic, required).tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 0]]
    assert acyclic(anything, Constraints(anything & ~last, nothing, 1)).tolist() == [
        [0, 1, 1],
        [0, 0, 0],
        [0, 0, 0],
    ]


@pytest.mark.parametrize("score", [MixedDirichlet(), BDeu()])
def test_two_copies_of_a_task_gain_by_their_arcs(score):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 60)
    rows = pd.DataFrame({"a": a, "b": np.where(rng.random(60) < 0.9, a, 1 - a)})
    value = value_of(
        encode_quietly({"t0": rows, "t1": rows}), score, is_shared=isinstance(score, MixedDirichlet)
    )
    arc = np.array([[0, 1], [0, 0]], bool)
    gain = value.of([0, 1], [arc, arc]) - 2 * value.of([0], [arc])
    assert gain > 0
