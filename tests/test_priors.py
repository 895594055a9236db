"""Priors: their formulas, their ends at 0 and 1, and every generalisation."""

import itertools
import math

import naive_couplings
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from small import square

from bnmtl import ArcPrior, EditPrior, PairedPrior, ReferencePrior
from bnmtl.errors import InputError, InputTypeError
from bnmtl.priors.coupling import (
    CustomCoupling,
    EditCoupling,
    PairedCoupling,
    WeightedPairedCoupling,
)
from bnmtl.search.neighborhood import best_states

STATES = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=6)
PENALTIES = st.sampled_from([0.0, 0.2, 0.9, 1.0])
TASKS = ["a", "b", "c", "d", "e", "f"]


@given(STATES, PENALTIES, st.sampled_from([1, 2]))
def test_paired_equals_equation_2_8(states, penalty, reversal):
    found = PairedPrior(penalty, reversal).log_coupling(states)
    assert found == pytest.approx(
        naive_couplings.paired_log_coupling(states, reversal, lambda s, t: penalty)
    )


@given(STATES, PENALTIES, st.sampled_from([1, 2]))
def test_edit_equals_equation_2_7(states, penalty, reversal):
    found = EditPrior(penalty, reversal).log_coupling(states)
    assert found == pytest.approx(
        naive_couplings.edit_log_coupling(states, penalty, reverse=reversal)
    )


@given(STATES, PENALTIES, *[st.sampled_from([0.0, 0.5, 1.0, 3.0])] * 3)
def test_costs_of_edits(states, penalty, add, delete, reverse):
    prior = EditPrior(penalty, costs={"add": add, "delete": delete, "reverse": reverse})
    expected = naive_couplings.edit_log_coupling(states, penalty, add, delete, reverse)
    assert prior.log_coupling(states) == pytest.approx(expected)


def test_a_reversal_never_costs_more_than_deleting_and_adding():
    prior = EditPrior(0.9, costs={"add": 0, "delete": 1, "reverse": 3})
    assert prior.log_coupling([1, 1, -1]) == pytest.approx(math.log(0.1))


@settings(max_examples=examples(40))
@given(STATES, st.lists(PENALTIES, min_size=15, max_size=15), st.sampled_from([1, 2]))
def test_penalties_per_pair_of_tasks(states, penalties, reversal):
    pairs = [(TASKS[s], TASKS[t]) for t in range(6) for s in range(t)]
    listed = dict(zip(pairs, penalties, strict=True))
    prior = PairedPrior(0.5, reversal, task_penalty=listed)
    expected = naive_couplings.paired_log_coupling(
        states, reversal, lambda s, t: listed[TASKS[s], TASKS[t]]
    )
    found = prior.log_coupling(states, tasks=TASKS[: len(states)])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("prior", [PairedPrior(), EditPrior()])
def test_the_ends_are_exact(prior):
    """Penalty 0 is free, penalty 1 forbids disagreement, and agreement is never nan."""
    none, full = clone(prior).set_params(penalty=0.0), clone(prior).set_params(penalty=1.0)
    assert none.log_coupling([1, 0, -1]) == 0
    assert full.log_coupling([1, 1, 0]) == -math.inf
    for states in [[1, 1, 1], [0, 0], [-1], []]:
        assert full.log_coupling(states) == 0


@pytest.mark.parametrize("kind", [PairedPrior, EditPrior])
@pytest.mark.parametrize("as_frame", [False, True])
def test_penalties_per_pair_of_variables(kind, as_frame):
    listed = {("x", "y"): 0.0, ("z", "y"): 1.0}
    if as_frame:
        names = ["x", "y", "z"]
        table = pd.DataFrame(0.5, index=names, columns=names)
        for (a, b), penalty in listed.items():
            table.loc[a, b] = table.loc[b, a] = penalty
        listed = table
    prior = kind(penalty=0.5, variable_penalty=listed)
    assert prior.log_coupling([1, 0], pair=("y", "x")) == 0
    assert prior.log_coupling([1, 0], pair=("y", "z")) == -math.inf
    assert prior.log_coupling([1, 0], pair=("x", "z")) == pytest.approx(math.log(0.5))


def test_a_listed_pair_of_variables_overrides_task_penalties():
    prior = PairedPrior(0.9, variable_penalty={("x", "y"): 0.5}, task_penalty={("a", "b"): 0.99})
    at = {"tasks": ["b", "a"]}
    assert prior.log_coupling([1, 0], pair=("x", "y"), **at) == pytest.approx(math.log(0.5))
    assert prior.log_coupling([1, 0], pair=("x", "z"), **at) == pytest.approx(math.log(0.01))


@st.composite
def distance_tables(draw):
    """Dissimilarities of six tasks, not symmetric, many of them equal or nearly 0."""
    values = st.one_of(st.sampled_from([0.0, 0.01, 1.0, 3.0]), st.floats(0.0, 10.0))
    rows = draw(st.lists(st.lists(values, min_size=6, max_size=6), min_size=6, max_size=6))
    return pd.DataFrame(np.array(rows) * (1 - np.eye(6)), index=TASKS, columns=TASKS)


@settings(max_examples=examples(40))
@given(STATES, PENALTIES, st.sampled_from([1, 2]), distance_tables())
def test_distances_of_tasks(states, penalty, reversal, table):
    """1 - delta = (1 - penalty)^(median / distance) for every pair of tasks."""
    close = naive_couplings.closeness(table)
    assert max(close.values()) <= 10
    prior = PairedPrior(penalty, reversal, task_distance=table)
    expected = naive_couplings.paired_log_coupling(
        states,
        reversal,
        lambda s, t: naive_couplings.shared_penalty(penalty, close[TASKS[s], TASKS[t]]),
    )
    found = prior.log_coupling(states, tasks=TASKS[: len(states)])
    assert found == pytest.approx(expected)
    # Any order of the tasks, and the table the other way round, are the same.
    turned = PairedPrior(penalty, reversal, task_distance=table.T.iloc[::-1, ::-1])
    tasks = TASKS[: len(states)][::-1]
    assert turned.log_coupling(states[::-1], tasks=tasks) == pytest.approx(expected)


@settings(max_examples=examples(30))
@given(distance_tables(), st.sampled_from([0.3, 0.9, 1.0]), st.sampled_from([1, 2]), st.data())
def test_all_solvers_agree_on_distances_of_tasks(table, penalty, reversal, data):
    k = data.draw(st.integers(1, 4))
    gains = np.random.default_rng(data.draw(st.integers(0, 999))).normal(0, 3, (k, 3)).round(1)
    prior = PairedPrior(penalty, reversal, task_distance=table)
    tasks, close = TASKS[:k], naive_couplings.closeness(table)

    def log_coupling(states):
        return naive_couplings.paired_log_coupling(
            states,
            reversal,
            lambda s, t: naive_couplings.shared_penalty(penalty, close[TASKS[s], TASKS[t]]),
        )

    expected = naive_couplings.best_value(gains, log_coupling)
    for method in ["auto", "branch-and-bound", "enumerate", *["min-cut"] * (reversal == 2)]:
        states, value = best_states(gains, prior, method, tasks=tasks)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
        total_gain = sum(gains[s, x + 1] for s, x in enumerate(states))
        assert total_gain + log_coupling(states) == pytest.approx(value)


@pytest.mark.parametrize(
    ("table", "median"),
    [
        # Two of three pairs are alike, so that the median of all distances would be 0.
        ([[0, 0, 0], [0, 0, 4], [0, 4, 0]], 4),
        # What is below 0 counts as 0, in either direction by itself.
        ([[0, -8, -1], [-1, 0, 5], [-3, 3, 0]], 4),
        ([[0, -1, 8], [0, 0, 8], [-2, -9, 0]], 4),
    ],
)
def test_the_median_is_that_of_the_positive_distances(table, median):
    table = square("abc", table)
    prior = PairedPrior(0.9, task_distance=table)
    for s, t in itertools.combinations("abc", 2):
        distance = (max(table.loc[s, t], 0) + max(table.loc[t, s], 0)) / 2
        close = median / max(distance, median / 10)
        found = prior.log_coupling([1, 0], tasks=[s, t])
        assert found == pytest.approx(close * math.log(0.1))
    assert prior.log_coupling([1, 0], tasks=["a", "b"]) == pytest.approx(10 * math.log(0.1))


@pytest.mark.parametrize("table", [np.zeros((3, 3)), -0.5 * (1 - np.eye(3))], ids=["0", "below"])
def test_without_a_positive_distance_all_pairs_count_alike(table):
    prior = PairedPrior(0.9, task_distance=square("abc", table))
    for pair in ("ab", "ac", "bc"):
        assert prior.log_coupling([1, 0], tasks=list(pair)) == pytest.approx(math.log(0.1))


# d(a, b) = 1, d(a, c) = 2, d(b, c) = 3 after both directions are averaged.
DISTANCE = pd.DataFrame(
    [[0, 0.5, 2], [1.5, 0, 3], [2, 3, 0]], index=list("abc"), columns=list("abc")
)


def test_listed_pairs_override_distances():
    prior = PairedPrior(
        0.9,
        variable_penalty={("x", "y"): 0.5},
        task_penalty={("a", "c"): 0.99},
        task_distance=DISTANCE,
    )

    def log_coupling(pair, tasks):
        return prior.log_coupling([1, 0], pair=pair, tasks=tasks)

    assert log_coupling(("x", "y"), ["a", "b"]) == pytest.approx(math.log(0.5))
    assert log_coupling(("x", "z"), ["c", "a"]) == pytest.approx(math.log(0.01))
    assert log_coupling(("x", "z"), ["b", "a"]) == pytest.approx(2 * math.log(0.1))
    assert log_coupling(("x", "z"), ["b", "c"]) == pytest.approx(2 / 3 * math.log(0.1))
    weights = prior.structure_weights(("x", "z"), ["a", "b", "c"])
    shares = {"ab": 1 - 0.1**2, "ac": 0.99, "bc": 1 - 0.1 ** (2 / 3)}
    for at, task in enumerate("abc"):
        total = sum(share for pair, share in shares.items() if task in pair)
        assert weights[at] == pytest.approx(1 / (1 + total))


def test_fewer_tasks_keep_their_penalties():
    """What is cut off for tasks that are not there changes nothing between those that are."""
    prior = PairedPrior(
        0.9,
        variable_penalty={("x", "y"): 0.5, ("y", "z"): 0.0},
        task_penalty={("a", "c"): 0.99},
        task_distance=DISTANCE,
    )
    cut = prior.among(["x", "y"], ["a", "b"])
    assert cut.variable_penalty == {("x", "y"): 0.5}
    assert cut.task_penalty == {}
    for pair in (("x", "y"), ("w", "x")):
        where = {"pair": pair, "tasks": ["a", "b"]}
        assert cut.log_coupling([1, 0], **where) == prior.log_coupling([1, 0], **where)
    assert len(prior.variable_penalty) == 2
    edits = EditPrior(0.9, variable_penalty={("x", "y"): 0.5, ("y", "z"): 0.0})
    assert edits.among(["z", "y"], ["a"]).variable_penalty == {("y", "z"): 0.0}


def test_ends_of_the_penalty_stay_ends_at_any_distance():
    tasks = ["a", "b", "c"]
    for table in (DISTANCE, DISTANCE * 0, -DISTANCE):
        none, full = (PairedPrior(p, task_distance=table) for p in (0, 1))
        assert none.log_coupling([1, 0, -1], tasks=tasks) == 0
        assert full.log_coupling([1, 1, 0], tasks=tasks) == -math.inf
        assert full.log_coupling([1, 1, 1], tasks=tasks) == 0
        assert none.is_independent(tasks)
    some = PairedPrior(0, task_penalty={("a", "b"): 0.1})
    assert not some.is_independent(tasks) and some.is_independent(["a", "c"])
    all_listed = dict.fromkeys([("a", "b"), ("a", "c"), ("b", "c")], 0.0)
    assert PairedPrior(0.9, task_penalty=all_listed).is_independent(tasks)
    assert not PairedPrior(0.9, task_penalty=all_listed).is_independent([*tasks, "d"])


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        ({("a", "b"): 1}, TypeError, "`task_distance` must be a square DataFrame .* got dict"),
        (DISTANCE.drop(index="a"), ValueError, "one row and one column for each task; the rows"),
        (
            DISTANCE.rename(index={"a": "d"}),
            ValueError,
            "`task_distance` must have one row an",
        ),
        (pd.DataFrame(1.0, index=["a", "a"], columns=["a", "a"]), ValueError, "one row and one"),
        (
            DISTANCE.replace(3, np.nan),
            ValueError,
            "`task_distance` must hold finite numbers; row `b`, column `c` is nan: fill it, or le",
        ),
        (
            DISTANCE.replace(2, np.inf),
            ValueError,
            "`task_distance` must hold finite numbers; row `a`, column `c` is inf",
        ),
        (
            DISTANCE.astype(object).replace(1.5, "far"),
            ValueError,
            "must hold finite numbers; row `b`, column `a` is 'far'",
        ),
        (DISTANCE.astype(str), ValueError, "row `a`, column `a` is '0.0'"),
        (DISTANCE.astype(object).replace(3, pd.NA), ValueError, "row `b`, column `c` is <NA>"),
        (
            DISTANCE.iloc[:, ::-1] + np.diag([0, 1, 0])[:, ::-1],
            ValueError,
            "`task_distance` must be 0 on the diagonal; it is 1 for task `b`: turn similarities",
        ),
        (DISTANCE, ValueError, "`task_distance` must contain all tasks; it lacks `a` or `d`: com"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_distances_that_are_none_are_refused(table, error, words):
    with pytest.raises(error, match=words):
        PairedPrior(task_distance=table).log_coupling([0, 1], tasks=["a", "d"])


def test_leaving_out_the_tasks_is_an_error_where_their_distances_count():
    with pytest.raises(ValueError, match="`tasks` must be given where the penalty depends on the"):
        PairedPrior(task_distance=DISTANCE).log_coupling([1, 0])


def test_leaving_out_what_the_penalty_depends_on_is_an_error():
    by_variable = PairedPrior(variable_penalty={("x", "y"): 0.5})
    with pytest.raises(ValueError, match="`pair` must be given"):
        by_variable.log_coupling([1, 0])
    by_task = PairedPrior(task_penalty={("a", "b"): 0.5})
    with pytest.raises(ValueError, match="`tasks` must be given"):
        by_task.log_coupling([1, 0])
    with pytest.raises(ValueError, match="2 distinct names"):
        by_task.log_coupling([1, 0], tasks=["a"])
    assert PairedPrior().log_coupling([1, 1], pair=("x", "y"), tasks=["a", "b"]) == 0


@given(st.lists(PENALTIES, min_size=6, max_size=6), st.integers(1, 4))
def test_exponents_of_structure_priors(penalties, k):
    """w_s = 1 / (1 + sum of the penalties to the other tasks), equations 2.6 - 2.8."""
    pairs = [(TASKS[s], TASKS[t]) for t in range(4) for s in range(t)]
    listed = dict(zip(pairs, penalties, strict=True))
    weights = PairedPrior(task_penalty=listed).structure_weights(("x", "y"), TASKS[:k])
    for s in range(k):
        others = sum(
            p for pair, p in listed.items() if TASKS[s] in pair and set(pair) <= set(TASKS[:k])
        )
        assert weights[s] == pytest.approx(1 / (1 + others))
    assert EditPrior(0.5).structure_weights(("x", "y"), TASKS[:k]).tolist() == pytest.approx(
        [1 / (1 + (k - 1) * 0.5)] * k
    )


@pytest.mark.parametrize("prior", [PairedPrior(0.9), PairedPrior(0.9, 1), EditPrior(0.7)])
def test_log_prior_is_the_sum_over_pairs_that_tasks_share(prior):
    first = nx.DiGraph([("x", "y"), ("y", "z")])
    second = nx.DiGraph([("y", "x")])
    third = nx.DiGraph([("x", "y")])
    third.add_node("z")
    found = prior.log_prior({"1": first, "2": second, "3": third})
    assert found == pytest.approx(prior.log_coupling([1, -1, 1]) + prior.log_coupling([1, 0]))


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (PairedPrior(1.5), "`penalty` must be a number from 0 to 1, got 1.5"),
        (PairedPrior("0.5"), "`penalty` must be a number from 0 to 1, got '0.5'"),
        (PairedPrior(0.5, reversal=3), "`reversal` must be 1 or 2"),
        (
            PairedPrior(variable_penalty={("x", "y"): -1}),
            r"`variable_penalty\[\('x', 'y'\)\]` must be",
        ),
        (PairedPrior(variable_penalty={("x", "x"): 0.5}), "two different names"),
        (PairedPrior(variable_penalty={("x", "y"): 0.5, ("y", "x"): 0.6}), "one value"),
        (
            PairedPrior(task_penalty=pd.DataFrame([[0, 1], [0, 0]])),
            "`task_penalty` must be a symmetric table",
        ),
        (PairedPrior(task_penalty={"ab": 0.5}), "pairs of two different names, got 'ab'"),
        (PairedPrior(variable_penalty={5: 0.5}), "pairs of two different names, got 5"),
        (EditPrior(costs={"add": 1}), "exactly the keys"),
        (EditPrior(costs={"add": -1, "delete": 1, "reverse": 1}), "at least 0"),
        (
            EditPrior(costs={"add": 1, "delete": 1, "reverse": 1}, reversal=2),
            "must not both be given",
        ),
    ],
)
def test_parameters_out_of_range_are_refused(prior, words):
    error = InputTypeError if prior.penalty == "0.5" else InputError
    with pytest.raises(error, match=words):
        prior.log_coupling([0, 1], pair=("x", "y"), tasks=["a", "b"])


def test_arguments_of_a_wrong_type_are_refused():
    with pytest.raises(TypeError, match="`variable_penalty` must be a mapping"):
        PairedPrior(variable_penalty=[1]).log_coupling([0, 1], pair=("x", "y"))
    with pytest.raises(TypeError, match="`configuration` must be a mapping"):
        PairedPrior().log_prior(None)
    for wrong in (None, nx.Graph([("x", "y")])):
        with pytest.raises(TypeError, match="`configuration.'north'.` must be a networkx.DiGraph"):
            PairedPrior().log_prior({"north": wrong})


@pytest.mark.parametrize("states", [[2], [[0, 1]], ["x"]])
def test_states_that_are_none_are_refused(states):
    with pytest.raises(ValueError, match="`states` must be a list"):
        PairedPrior().log_coupling(states)


def log_prior_of(prior, graph, variables):
    present, absent = prior.arc_terms(variables)
    matrix = nx.to_numpy_array(graph, nodelist=variables).astype(bool)
    return np.where(matrix, present, absent).sum()


def test_arc_prior_is_a_product_over_ordered_pairs():
    graph = nx.DiGraph([("x", "y")])
    graph.add_node("z")
    names = ["x", "y", "z"]
    expected = math.log(0.2) + 5 * math.log(0.8)
    assert log_prior_of(ArcPrior(probability=0.2), graph, names) == pytest.approx(expected)
    assert log_prior_of(ArcPrior(expected_arcs=1.2), graph, names) == pytest.approx(expected)
    listed = ArcPrior(probability={("x", "y"): 0.9, ("y", "x"): 0.1})
    expected = math.log(0.9) + math.log(0.9) + 4 * math.log(0.5)
    assert log_prior_of(listed, graph, names) == pytest.approx(expected)


def test_reference_prior_counts_the_symmetric_difference():
    names = ["x", "y", "z"]
    prior = ReferencePrior(nx.DiGraph([("x", "y"), ("y", "z"), ("far", "x")]), factor=0.1)
    for arcs, differences in [
        ([("x", "y"), ("y", "z")], 0),
        ([("x", "y")], 1),
        ([("y", "x"), ("y", "z")], 2),
        ([("x", "y"), ("y", "z"), ("x", "z")], 1),
    ]:
        graph = nx.DiGraph(arcs)
        graph.add_nodes_from(names)
        found = log_prior_of(prior, graph, names)
        assert found == pytest.approx(differences * math.log(0.1)), arcs


def test_structure_priors_of_fewer_variables_say_the_same_of_them():
    graph = nx.DiGraph([("x", "y"), ("y", "z")])
    listed = {("x", "y"): 0.9, ("z", "y"): 0.2}
    for prior in (ArcPrior(0.2), ArcPrior(listed), ReferencePrior(graph, 0.1), ArcPrior(None, 1)):
        cut = prior.among(["x", "y"])
        for found, same in zip(cut.arc_terms(["x", "y"]), prior.arc_terms(["x", "y"]), strict=True):
            assert np.array_equal(found, same)
        assert cut.names() <= {"x", "y"}
    assert set(graph) == {"x", "y", "z"}
    assert len(listed) == 2


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (ArcPrior(), "exactly one"),
        (ArcPrior(0.5, 3), "exactly one"),
        (ArcPrior(probability=0), "above 0 and below 1"),
        (ArcPrior(probability=1.0), "above 0 and below 1"),
        (ArcPrior(probability={("x", "y"): 1}), r"\('x', 'y'\)\]` must be a number above 0"),
        (ArcPrior(expected_arcs=0), "`expected_arcs` must be a number above 0 and below 6"),
        (ArcPrior(expected_arcs=6), "`expected_arcs` must be a number above 0 and below 6"),
        (ReferencePrior(nx.DiGraph(), factor=0), "`factor` must be a number above 0"),
        (ReferencePrior(nx.DiGraph([("x", "y"), ("y", "x")])), "acyclic"),
    ],
)
def test_structure_priors_out_of_range_are_refused(prior, words):
    with pytest.raises(ValueError, match=words):
        prior.arc_terms(["x", "y", "z"])


@pytest.mark.parametrize("arc", ["ab", ("a", "a"), ("a", "b", "c"), 5])
def test_arcs_that_are_none_are_refused(arc):
    with pytest.raises(ValueError, match="`probability` must have pairs of two different names"):
        ArcPrior({arc: 0.9}).names()


def test_names_of_tasks_may_be_numbers():
    listed = {("1", "2"): 0.99}
    by_name = PairedPrior(0.5, task_penalty=listed)
    assert by_name.log_coupling([1, 0], tasks=[1, 2]) == by_name.log_coupling([1, 0], tasks="12")
    first, second = nx.DiGraph([("x", "y")]), nx.DiGraph()
    second.add_nodes_from("xy")
    expected = by_name.log_prior({"1": first, "2": second})
    assert by_name.log_prior({1: first, 2: second}) == expected == pytest.approx(np.log(0.01))


def test_parameters_can_be_read_and_set():
    prior = PairedPrior(penalty=0.5)
    assert prior.get_params() == {
        "penalty": 0.5,
        "reversal": 2,
        "task_distance": None,
        "task_penalty": None,
        "variable_penalty": None,
    }
    assert prior.set_params(penalty=0.7).penalty == 0.7
    assert EditPrior().get_params()["reversal"] == 1


@pytest.mark.parametrize("log_penalty", [-2.5, 0.0, -math.inf])
def test_couplings_of_all_joint_states_are_those_of_each(log_penalty):
    log_penalties = np.full((4, 4), log_penalty)
    log_penalties[0, 1:] = log_penalties[1:, 0] = -1.0
    costs = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])

    class Custom(PairedPrior):
        def log_coupling(self, states, pair, tasks):
            return -float(np.count_nonzero(np.diff(states)))

    joint_states = np.array(list(itertools.product((-1, 0, 1), repeat=4)), np.int8)
    for coupling in (
        PairedCoupling(log_penalty, 1.0),
        EditCoupling(log_penalty, costs),
        WeightedPairedCoupling(log_penalties, 1.0),
        CustomCoupling(Custom(0.5), ("a", "b"), ("s", "t", "u", "v")),
    ):
        each = [coupling.log_coupling(row) for row in joint_states]
        assert np.array_equal(coupling.log_couplings(joint_states), each)
        assert each[40] == 0.0 and (min(each) < 0 or log_penalty == 0.0)
