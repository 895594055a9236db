"""Confidence of arcs: what replicates draw, how arcs are counted, and what they agree on."""

import itertools
import json
import warnings
from typing import ClassVar

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import examples
from hash_seeds import with_another_seed
from hypothesis import given, settings
from hypothesis import strategies as st
from small import CLIMB, ONE_GROUP, arcs, partial, rarely_varying, related, variants

from bnmtl import (
    HillClimbing,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    PooledLearner,
    SingleTaskLearner,
)
from bnmtl.confidence import arc_confidence, arc_stability, consensus
from bnmtl.graphs import Configuration
from bnmtl.learners.base import Learner
from bnmtl.search import Limits

pytestmark = pytest.mark.beside_kernels

SINGLE = SingleTaskLearner(**CLIMB)
LEARNERS = [SINGLE, MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **CLIMB)]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)


class Scripted(Learner):
    """Answers replicate i with graph i of its list, and keeps the rows and the seed it got."""

    graphs, drawn, seeds = (), None, None

    def _fit(self, tasks, whole, effort, report):
        scripted_arcs = self.graphs[len(self.drawn) % len(self.graphs)]
        self.configuration_ = Configuration()
        for name, task in tasks.items():
            graph = nx.DiGraph()
            graph.add_nodes_from(task.variables)
            graph.add_edges_from(arc for arc in scripted_arcs if set(arc) <= set(task.variables))
            self.configuration_[name] = graph
        self.drawn.append(tasks)
        self.seeds.append(effort.seed)


def scripted(*graphs, **parameters):
    """A scripted learner of a class of its own."""
    script = {"graphs": graphs, "drawn": [], "seeds": []}
    return type("OfOneTest", (Scripted,), script)(**parameters)


def share(table, task, parent, child, column="arc"):
    """One cell."""
    cell = table[(table["task"] == task) & (table["parent"] == parent) & (table["child"] == child)]
    (value,) = cell[column]
    return value


def test_arcs_are_counted_over_replicates():
    tasks = {"b": pd.DataFrame({"x": [0, 1, 1], "y": [0, 1, 0], "z": [1, 0, 0]})}
    tasks["a"] = tasks["b"][["y", "z"]]
    graphs = [("x", "y"), ("y", "z")], [("x", "z"), ("y", "z")], [("x", "y")], [("y", "x")]
    table = arc_confidence(tasks, scripted(*graphs), n_bootstrap=4)
    expected = {("x", "y"): 0.5, ("y", "x"): 0.25, ("y", "z"): 0.5, ("x", "z"): 0.25}
    for parent, child in itertools.permutations("xyz", 2):
        arc = expected.get((parent, child), 0)
        assert share(table, "b", parent, child) == arc
        either = arc + expected.get((child, parent), 0)
        assert share(table, "b", parent, child, "edge") == either
    assert share(table, "a", "y", "z") == 0.5
    assert list(table.columns) == ["task", "parent", "child", "arc", "edge"]
    names = list(zip(table["task"], table["parent"], table["child"], strict=True))
    assert names == sorted(names)
    assert len(names) == 6 + 2
    assert table["task"].cat.categories.tolist() == ["a", "b"]
    assert table["child"].cat.categories.tolist() == ["x", "y", "z"]


def test_shares_of_an_edge_are_counts_not_sums_of_rounded_shares():
    """0.7 + 0.1 is less than 0.8."""
    frame = pd.DataFrame({"x": [0, 1], "y": [0, 1]})
    graphs = [[("x", "y")]] * 7 + [[("y", "x")]] + [[]] * 2
    table = arc_confidence(frame, scripted(*graphs), n_bootstrap=10)
    assert share(table, "task1", "x", "y", "edge") == 0.8
    assert consensus(table, threshold=0.8, by="edge")["task1"].has_edge("x", "y")


def cases(task):
    """How often each row was drawn; the rows differ from each other."""
    return np.unique(task.codes, axis=1, return_counts=True)[1]


def different_rows():
    """Two tasks of eight rows that all differ."""
    rows = np.array(list(itertools.product([0, 1], repeat=3)))
    return {name: pd.DataFrame(rows, columns=list("xyz")) for name in ("north", "south")}


def test_as_many_rows_are_drawn_with_replacement():
    learner = scripted([])
    arc_confidence(different_rows(), learner, n_bootstrap=30, random_state=0, subsample=None)
    drawn = learner.drawn
    assert len(drawn) == 30
    assert {task.n_rows for tasks in drawn for task in tasks.values()} == {8}
    counts = [cases(task) for tasks in drawn for task in tasks.values()]
    # Of eight rows 8 (1 - 1/8)^8 = 2.75 are missing on average.
    assert np.mean([8 - len(drawn_cases) for drawn_cases in counts]) == pytest.approx(2.75, abs=0.5)
    different = {tuple(sorted(map(tuple, tasks["north"].codes.T.tolist()))) for tasks in drawn}
    assert len(different) > 25
    assert any(
        not np.array_equal(np.sort(tasks["north"].codes), np.sort(tasks["south"].codes))
        for tasks in drawn
    )
    assert len(set(learner.seeds)) == 30


@pytest.mark.parametrize(("subsample", "n_rows"), [(0.5, 4), (0.9, 7), (0.01, 2)])
def test_a_share_of_the_rows_is_drawn_without_replacement(subsample, n_rows):
    learner = scripted([])
    arc_confidence(different_rows(), learner, 20, random_state=0, subsample=subsample)
    for tasks in learner.drawn:
        for task in tasks.values():
            assert task.n_rows == n_rows
            assert (cases(task) == 1).all()
    assert len({tasks["north"].codes.tobytes() for tasks in learner.drawn}) > 10


def test_reversible_arcs_point_either_way():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 80)
    frame = pd.DataFrame({"a": a, "b": np.where(rng.random(80) < 0.9, a, 1 - a)})
    table = arc_confidence(frame, SINGLE, n_bootstrap=60, random_state=0)
    assert share(table, "task1", "a", "b", "edge") == 1
    assert 0.3 < share(table, "task1", "a", "b") < 0.7


@pytest.mark.parametrize("make", [related, partial], ids=["equal", "partial"])
@every_learner
def test_every_pair_of_variables_has_a_row(learner, make):
    tasks = make()
    table = arc_confidence(tasks, learner, n_bootstrap=2)
    for name, frame in tasks.items():
        rows = table[table["task"] == name]
        pairs = set(zip(rows["parent"], rows["child"], strict=True))
        assert len(rows) == len(pairs)
        assert pairs == set(itertools.permutations(frame.columns, 2))
        back = rows.set_index(["child", "parent"])["arc"].rename_axis(["parent", "child"])
        forth = rows.set_index(["parent", "child"])
        assert np.allclose(forth["edge"], forth["arc"] + back.reindex(forth.index))
    assert table[["arc", "edge"]].isin([0, 0.5, 1]).all(axis=None)


def test_a_multitask_learner_makes_tasks_agree():
    spread = {}
    for penalty in (0, 1):
        learner = MultitaskLearner(PairedPrior(penalty), **ONE_GROUP, **CLIMB)
        table = arc_confidence(related(), learner, n_bootstrap=4, random_state=0)
        by_task = table.pivot(index=["parent", "child"], columns="task", values="arc")
        spread[penalty] = by_task.std(axis=1).sum()
    assert spread[1] == 0 < spread[0]


class Recorded(MultitaskLearnerCV):
    """Keeps the rows of each fit, and how its penalty was chosen."""

    rows: ClassVar = []
    choices: ClassVar = []

    def _fit_rows(self, tasks, *arguments, **named):
        fitted = super()._fit_rows(tasks, *arguments, **named)
        self.rows.append(tasks["task1"].codes.tobytes())
        self.choices.append((fitted.chosen_by_, *fitted.validation_scores_))
        return fitted


def test_halves_with_too_few_rows_to_find_groups_cause_no_warning():
    tasks = {name: rows[:16] for name, rows in related().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arc_confidence(tasks, MultitaskLearner(**CLIMB), n_bootstrap=2, random_state=0)


def test_a_penalty_is_chosen_in_each_replicate():
    learner = Recorded(penalties=[0, 0.9], cv=2, **ONE_GROUP, **CLIMB)
    assert len(arc_confidence(related(), learner, n_bootstrap=3)) == 4 * 30
    assert len(set(Recorded.rows)) == len(set(Recorded.choices)) == 3
    assert {chosen_by for chosen_by, *_ in Recorded.choices} == {"cv"}


@pytest.mark.parametrize("order", ["columns", "rows", "tasks"])
@every_learner
def test_order_does_not_matter(learner, order):
    table = arc_confidence(partial(), learner, n_bootstrap=3, random_state=1)
    other = arc_confidence(variants(partial())[order], learner, n_bootstrap=3, random_state=1)
    pd.testing.assert_frame_equal(table, other)


def test_number_of_jobs_does_not_matter():
    table = arc_confidence(partial(), SINGLE, n_bootstrap=5)
    jobs = SingleTaskLearner(**{**CLIMB, "n_jobs": 3})
    pd.testing.assert_frame_equal(table, arc_confidence(partial(), jobs, n_bootstrap=5))


def test_seeds():
    """The learner's seed holds where none is given; ints repeat, generators advance once."""
    tasks = partial()
    table = arc_confidence(tasks, SINGLE, 3)
    pd.testing.assert_frame_equal(table, arc_confidence(tasks, SINGLE, 3, random_state=0))
    assert not table.equals(arc_confidence(tasks, SINGLE, 3, random_state=1))
    rng = np.random.default_rng(5)
    drawn = arc_confidence(tasks, SINGLE, 3, random_state=rng)
    again = np.random.default_rng(5)
    seed = int(again.integers(2**63))
    pd.testing.assert_frame_equal(drawn, arc_confidence(tasks, SINGLE, 3, random_state=seed))
    assert rng.integers(2**63) == again.integers(2**63)
    learner = SingleTaskLearner(**{**CLIMB, "random_state": np.random.default_rng(5)})
    pd.testing.assert_frame_equal(drawn, arc_confidence(tasks, learner, 3))


def plain():
    """Everything as plain values."""
    table = arc_confidence(partial(), LEARNERS[1], n_bootstrap=3, random_state=1)
    return [table.to_numpy().tolist(), arcs(consensus(table, 0.3))]


@pytest.mark.beside_kernels
def test_the_hash_seed_does_not_matter():
    code = "import json, test_confidence as t; print(json.dumps(t.plain()))"
    assert json.loads(with_another_seed(code)) == json.loads(json.dumps(plain()))


def test_inputs_stay_as_they_are():
    tasks, learner = related(), MultitaskLearner(PairedPrior(0.3), **ONE_GROUP, **CLIMB)
    before = learner.get_params()
    table = arc_confidence(tasks, learner, n_bootstrap=1)
    assert all(frame.equals(related()[name]) for name, frame in tasks.items())
    assert learner.get_params() == before
    assert not hasattr(learner, "configuration_")
    copy = table.copy()
    consensus(table)
    assert table.equals(copy)


def test_progress_counts_replicates_only():
    events = []
    arc_confidence(related(), SingleTaskLearner(**CLIMB, progress=events.append), n_bootstrap=3)
    assert [(event.stage, event.done, event.total) for event in events] == [
        ("bootstrap", 1, 3),
        ("bootstrap", 2, 3),
        ("bootstrap", 3, 3),
    ]


ARC = [("a", "b")]


@pytest.mark.parametrize("required", [ARC, {"north": ARC, "south": ARC}], ids=["all", "by_task"])
@pytest.mark.parametrize("kind", [SingleTaskLearner, MultitaskLearner])
def test_required_arcs_stay_where_a_replicate_does_not_vary(kind, required):
    """A third of the replicates draw the only row in which `b` differs not once."""
    graph = nx.DiGraph([("a", "b"), ("c", "a")])
    for start in (None, graph, {"north": graph, "south": graph}):
        learner = kind(required=required, start=start, **CLIMB)
        table = arc_confidence(rarely_varying(), learner, n_bootstrap=8)
        assert share(table, "north", "a", "b") == share(table, "south", "a", "b") == 1


def test_a_pooled_learner_counts_what_all_rows_say():
    learner = PooledLearner(required=[("a", "b")], **CLIMB)
    table = arc_confidence(rarely_varying(), learner, n_bootstrap=8)
    assert share(table, "south", "a", "b") == 1
    by_task = table.pivot(index=["parent", "child"], columns="task", values="arc")
    assert (by_task["north"] == by_task["south"]).all()


@st.composite
def tables(draw):
    """Shares of arcs between five variables in tenths, as replicates could give them."""
    rows = []
    for a, b in itertools.combinations("abcde", 2):
        forth = draw(st.integers(0, 10))
        back = draw(st.integers(0, 10 - forth))
        rows.append(("t", a, b, forth / 10, (forth + back) / 10))
        rows.append(("t", b, a, back / 10, (forth + back) / 10))
    return pd.DataFrame(rows, columns=["task", "parent", "child", "arc", "edge"])


@settings(max_examples=examples(60))
@given(tables(), st.sampled_from([0.1, 0.3, 0.5]), st.sampled_from(["arc", "edge"]), st.randoms())
def test_consensus_adds_arcs_by_falling_confidence(table, threshold, by, random):
    rows = [row for row in table.itertuples(index=False) if getattr(row, by) >= threshold]
    if by == "edge":
        sure = {(row.parent, row.child): row.arc for row in rows}
        rows = [row for row in rows if row.arc >= sure[row.child, row.parent]]
    rows.sort(key=lambda row: (row.parent, row.child))
    rows.sort(key=lambda row: (getattr(row, by), row.arc), reverse=True)
    expected = nx.DiGraph()
    expected.add_nodes_from("abcde")
    for row in rows:
        expected.add_edge(row.parent, row.child)
        if not nx.is_directed_acyclic_graph(expected):
            expected.remove_edge(row.parent, row.child)
    mixed = table.sample(frac=1, random_state=random.randint(0, 99))
    (graph,) = consensus(mixed, threshold, by).values()
    assert sorted(graph.edges) == sorted(expected.edges)
    assert list(graph) == list("abcde")


def test_consensus_of_tasks_with_other_variables_keeps_what_is_isolated():
    table = arc_confidence(partial(), SINGLE, n_bootstrap=2)
    graphs = consensus(table, threshold=1.0)
    assert isinstance(graphs, Configuration)
    assert {name: list(graph) for name, graph in graphs.items()} == {
        name: list(frame.columns) for name, frame in partial().items()
    }
    sure = table[table["arc"] == 1]
    assert sum(graph.number_of_edges() for graph in graphs.values()) == len(sure) > 0


def test_a_certain_edge_points_in_the_more_certain_direction():
    rows = [("t", "a", "b", 0.45, 0.9), ("t", "b", "a", 0.45, 0.9), ("t", "b", "c", 0.2, 0.6)]
    rows.append(("t", "c", "b", 0.4, 0.6))
    table = pd.DataFrame(rows, columns=["task", "parent", "child", "arc", "edge"])
    assert not consensus(table)["t"].edges
    assert sorted(consensus(table, by="edge")["t"].edges) == [("a", "b"), ("c", "b")]


def test_an_edge_is_not_turned_to_where_it_closes_no_cycle():
    arcs = {("a", "b"): 0.9, ("b", "c"): 0.9, ("c", "a"): 0.8}
    rows = [("t", *arc, share, share) for arc, share in arcs.items()]
    rows += [("t", *arc[::-1], 0.0, share) for arc, share in arcs.items()]
    table = pd.DataFrame(rows, columns=["task", "parent", "child", "arc", "edge"])
    assert sorted(consensus(table, by="edge")["t"].edges) == [("a", "b"), ("b", "c")]


TABLE = pd.DataFrame(
    [("t", "a", "b", 0.5, 0.5)], columns=["task", "parent", "child", "arc", "edge"]
)
FRAME = pd.DataFrame({"a": [0, 1, 0], "b": [1, 0, 1]})


def with_row(**changed):
    """`TABLE` with a second row, called bad, that differs from the first."""
    bad = TABLE.astype(object).assign(**{"child": "c", **changed}).set_axis(["bad"])
    return pd.concat([TABLE, bad]).astype({"arc": float, "edge": float})


def test_shares_that_differ_by_rounding_are_equal():
    assert consensus(with_row(edge=0.5 - 1e-12))["t"].has_edge("a", "c")


@pytest.mark.parametrize(
    ("use", "error", "words"),
    [
        (lambda: arc_confidence(FRAME, 3), TypeError, "`learner` must be a learner, got int"),
        (lambda: arc_confidence(FRAME, SINGLE, 1.5), ValueError, "`n_bootstrap` must be a whole"),
        (lambda: arc_confidence(FRAME, SINGLE, True), TypeError, "`n_bootstrap` must be a whole"),
        (
            lambda: arc_confidence(FRAME, SINGLE, 0),
            ValueError,
            "`n_bootstrap` must be .* at least 1",
        ),
        (
            lambda: arc_confidence(FRAME, SINGLE, subsample=1),
            ValueError,
            "`subsample` must be None or a number above 0 and below 1, got 1",
        ),
        (lambda: arc_confidence(FRAME, SINGLE, subsample="x"), TypeError, "`subsample` must be"),
        (
            lambda: arc_confidence(FRAME, SingleTaskLearner(limits=Limits(time_limit="x"))),
            TypeError,
            "`time_limit` must be None or a number",
        ),
        (lambda: arc_confidence(FRAME, SingleTaskLearner(n_jobs=0)), ValueError, "`n_jobs` must"),
        (lambda: arc_confidence(FRAME, SINGLE, random_state="x"), TypeError, "`random_state` must"),
        (
            lambda: consensus(TABLE, by="arcs"),
            ValueError,
            "`by` must be 'arc' or 'edge', got 'arcs'",
        ),
        (lambda: consensus(TABLE, "0.5"), TypeError, "`threshold` must be a number"),
        (lambda: consensus(TABLE, True), TypeError, "`threshold` must be a number"),
        (
            lambda: consensus(TABLE, 0),
            ValueError,
            "`threshold` must be a number above 0 and at most 1",
        ),
        (lambda: consensus([1]), TypeError, "`confidences` must be the DataFrame of `arc_conf"),
        (
            lambda: consensus(TABLE.drop(columns="edge")),
            ValueError,
            "`confidences` must have the columns `task`, `parent`, `child`, `arc`, `edge`; `edge`",
        ),
        (
            lambda: consensus(TABLE.assign(arc=1.5)),
            ValueError,
            "column `arc` must hold shares from 0 to 1",
        ),
        (
            lambda: consensus(TABLE.assign(arc=np.nan)),
            ValueError,
            "column `arc` must hold shares from 0 to 1",
        ),
        (lambda: consensus(TABLE.assign(edge="0.5")), ValueError, "column `edge` must hold shares"),
        *(
            (
                lambda column=column: consensus(with_row(**{column: None})),
                ValueError,
                f"column `{column}` must have a name in every row; row 'bad' has none: fill it, or",
            )
            for column in ("task", "parent", "child")
        ),
        (
            lambda: consensus(with_row(child="a")),
            ValueError,
            "must join different variables; row 'bad' has `a` as parent and as child: leave it",
        ),
        (
            lambda: consensus(with_row(parent="1", child=1)),
            ValueError,
            "must join different variables; row 'bad' has `1` as parent",
        ),
        (
            lambda: consensus(with_row(edge=0.25)),
            ValueError,
            "an edge at least as sure as its arc; row 'bad' has the arc 0.5 and the edge 0.25: an",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_sense_is_refused(use, error, words):
    with pytest.raises(error, match=words):
        use()


@pytest.mark.parametrize("kind", [MultitaskLearner, IdenticalLearner])
def test_replicates_keep_the_groups_found_in_all_rows(kind):
    class Recorded(kind):
        used: ClassVar = []

        def _fit(self, tasks, whole, effort, report):
            self.used.append(self.task_groups)
            super()._fit(tasks, whole, effort, report)

    tasks = {name: related()[name] for name in ("task1", "task2")}
    tasks["other"] = tasks["task1"].set_axis(list("abcdef"), axis="columns")
    learner = Recorded(task_groups="auto", **CLIMB)
    arc_confidence(tasks, learner, n_bootstrap=3, light=True)
    found = kind(task_groups="auto", **CLIMB).fit(tasks).task_groups_
    assert found.nunique() > 1
    assert Recorded.used == [found.to_dict()] * 3
    Recorded.used.clear()
    arc_stability(tasks, learner, n=2)
    assert Recorded.used == [found.to_dict()] * 2


def test_limits_hold_for_each_replicate():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner = SingleTaskLearner(search=HillClimbing(restarts=50), limits=Limits(max_families=5))
        arc_confidence(related(), learner, n_bootstrap=2)
    (ended,) = caught
    assert "Replicates were ended by `max_families` and may lack arcs" in str(ended.message)
