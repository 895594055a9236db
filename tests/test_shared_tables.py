"""Tables that tasks borrow from each other: values, naive twin, laws, many tasks, networks."""

import itertools

import naive_tables
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import counted, counts_of

from bnmtl import BayesNet, structures
from bnmtl._kernels.groups import MOST_EXACT
from bnmtl.networks import fit_networks, shared_tables, tables
from bnmtl.networks.shared_tables import (
    PARTITIONS,
    STRENGTHS,
    Components,
    SharedTables,
    fit_tables,
    learned_weights,
)
from bnmtl.networks.tables import posterior_mean
from bnmtl.tasks import encode

CASES = [case for case in reference.sharing()["cases"] if len(case["counts"]) > 1]
SMALL = (0.05, 1.0)


@pytest.fixture
def concentrations(monkeypatch):
    """Fewer concentrations of cells than the default has."""

    def change(values):
        monkeypatch.setattr(shared_tables, "CONCENTRATIONS", values)
        monkeypatch.setattr(tables, "CONCENTRATIONS", values)

    return change


@pytest.mark.parametrize("case", CASES)
def test_values_of_plain_code(concentrations, case):
    concentrations((0.01, 0.05, 0.2, 0.5, 1.0))
    family = Components(np.array(case["counts"]))
    # The plain code has no component under which every task has a table of its own.
    weights = np.ones_like(family.evidences())
    weights[-1] = 0
    found = family.averaged(weights / weights.sum()).tables
    # The plain code leaves out partitions that hardly count.
    assert found == pytest.approx(np.array(case["tables"]["groups and centred"]), abs=5e-6)


def test_naive_twin(concentrations):
    concentrations(SMALL)

    @settings(max_examples=examples(25))
    @given(counted(most_tasks=4, most_rows=2, most_states=3), st.sets(st.integers(0, 3)))
    def check(counts, members):
        if len(counts) < 2:
            counts = np.concatenate([counts, counts])
        members = sorted(members & set(range(len(counts)))) or None
        found = Components(counts).averaged(members=members)
        tables, borrowed, in_common = naive_tables.shared_tables(
            counts.tolist(), SMALL, PARTITIONS, STRENGTHS, members
        )
        assert found.tables == pytest.approx(tables, abs=1e-8)
        assert found.borrowed == pytest.approx(borrowed, rel=1e-8, abs=1e-8)
        assert found.in_common == pytest.approx(in_common, rel=1e-8, abs=1e-8)

    check()


@settings(max_examples=examples(25))
@given(counted(), st.integers(0, 9))
def test_order_does_not_matter(counts, seed):
    counts = np.concatenate([counts, counts[:1]])
    found = Components(counts).averaged()
    rng = np.random.default_rng(seed)
    tasks, rows, states = (rng.permutation(n) for n in counts.shape)
    other = Components(counts[np.ix_(tasks, rows, states)]).averaged()
    assert other.tables == pytest.approx(found.tables[np.ix_(tasks, rows, states)], abs=1e-9)
    assert other.borrowed == pytest.approx(found.borrowed[np.ix_(tasks, tasks)], rel=1e-6)
    assert other.in_common == pytest.approx(found.in_common[np.ix_(tasks, tasks)], rel=1e-6)


@settings(max_examples=examples(25))
@given(counted())
def test_what_is_found_makes_sense(counts):
    counts = np.concatenate([counts, counts[:1]])
    found = Components(counts).averaged()
    assert found.tables.sum(axis=-1) == pytest.approx(1)
    assert (found.tables > 0).all()
    assert found.in_common == pytest.approx(found.in_common.T, rel=1e-6)
    assert (found.in_common <= found.weights * (1 + 1e-9)).all()
    assert (np.diagonal(found.borrowed) == 0).all() and (found.borrowed >= 0).all()
    # A row that no task has seen is even, and changes nothing else.
    more = Components(np.concatenate([counts, np.zeros_like(counts[:, :1])], axis=1)).averaged()
    assert more.tables[:, -1] == pytest.approx(1 / counts.shape[-1])
    assert (more.tables[:, :-1] == found.tables).all()


def test_alike_tasks_are_pooled_and_unlike_ones_are_not():
    rng = np.random.default_rng(0)
    one, other = rng.dirichlet(np.ones(3), size=(2, 8))
    alike = np.stack([[rng.multinomial(40, row) for row in one] for _ in range(4)])
    found = Components(alike).averaged()
    pooled = posterior_mean(alike.sum(axis=0), "auto")
    assert np.abs(found.tables - pooled).max() < 0.03
    off_diagonal = ~np.eye(4, dtype=bool)
    assert (found.in_common / found.weights)[off_diagonal].min() > 0.8
    unlike = np.stack([[rng.multinomial(400, row) for row in rows] for rows in (one, other)])
    found = Components(unlike).averaged()
    separate = np.stack([posterior_mean(counts, "auto") for counts in unlike])
    assert np.abs(found.tables - separate).max() < 0.02
    assert (found.in_common / found.weights)[0, 1] < 0.2


@pytest.mark.slow_without_jit
def test_many_tasks():
    rng = np.random.default_rng(1)
    for k, part in ((MOST_EXACT, 0.9), (MOST_EXACT + 1, 0.9), (20, 0.6)):
        halves = rng.dirichlet(np.ones(3), size=(2, 4))
        counts = np.stack([[rng.multinomial(60, row) for row in halves[s % 2]] for s in range(k)])
        # A task that has seen less than the others.
        counts[0, 1:] = 0
        found = Components(counts).averaged()
        assert found.tables.sum(axis=-1) == pytest.approx(1)
        truth = halves[np.arange(k) % 2]
        separate = np.stack([posterior_mean(one, "auto") for one in counts])
        assert np.abs(found.tables - truth)[1:].mean() < part * np.abs(separate - truth)[1:].mean()
        in_common = found.in_common / found.weights
        assert in_common[1, 3] > 0.5 > in_common[1, 2]


def frames(n_rows=60, k=3):
    asia = structures.load("asia")
    return {
        f"clinic{s}": asia.sample(n_rows, random_state=s)[["smoke", "bronc", "dysp"]]
        for s in range(k)
    }


GRAPH = nx.DiGraph([("smoke", "bronc"), ("bronc", "dysp")])


def of_family(tasks, family):
    """Components of a family over the tasks that have it; its states are those of asia."""
    frames = [frame for frame in tasks.values() if set(family) <= set(frame)]
    states = [structures.load("asia").states[variable] for variable in family]
    cells = pd.MultiIndex.from_product(states)
    counts = [
        frame[list(family)].astype(str).value_counts().reindex(cells, fill_value=0)
        for frame in frames
    ]
    return Components(np.stack(counts).reshape(len(frames), -1, len(states[-1])))


@settings(max_examples=examples(40))
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5))
def test_learned_weights_are_the_most_probable_ones(seed, n_families, n_components):
    rng = np.random.default_rng(seed)
    evidences = rng.normal(0, rng.choice([0.1, 3, 30]), (n_families, n_components))
    weights = learned_weights(evidences)

    def log_posterior(weights):
        prior = np.log(weights).sum() / n_components
        return np.log(np.exp(evidences) @ weights).sum() + prior

    assert weights.sum() == pytest.approx(1)
    best = log_posterior(weights)
    for other in rng.dirichlet(np.ones(n_components), 20):
        for step in (1e-3, 0.1, 1):
            assert log_posterior((1 - step) * weights + step * other) <= best + 1e-6
    # All families are the same to it.
    assert learned_weights(evidences[::-1]) == pytest.approx(weights, abs=1e-7)


def test_how_much_tasks_share_is_learned_from_all_families():
    """Three rows per task are not enough evidence; thirty families are."""
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.full(3, 0.5), size=30)
    alike = [np.stack([rng.multinomial(3, row) for _ in range(3)])[:, None] for row in rows]
    unlike = [
        np.stack([rng.multinomial(3, rng.dirichlet(np.full(3, 0.5))) for _ in range(3)])[:, None]
        for _ in rows
    ]

    alike, unlike = ([Components(counts) for counts in families] for families in (alike, unlike))
    weights = [
        learned_weights(np.array([one.evidences() for one in group])) for group in (alike, unlike)
    ]
    borrowed = [
        sum(one.averaged(weighting).borrowed.sum() for one in unlike)
        for weighting in (*weights, None)
    ]
    assert borrowed[1] < 0.7 * borrowed[2] < 0.7 * borrowed[0]


def test_networks_without_sharing_are_those_of_each_task():
    tasks = frames()
    graphs = dict.fromkeys(tasks, GRAPH)
    separate = {name: BayesNet.fit(GRAPH, frame) for name, frame in tasks.items()}
    assert fit_networks(graphs, tasks, sharing=None) == separate
    # A single task has nobody to borrow from.
    assert fit_networks({"clinic0": GRAPH}, {"clinic0": tasks["clinic0"]}) == {
        "clinic0": separate["clinic0"]
    }


def test_networks_have_the_tables_of_their_families():
    tasks = frames()
    reverse = nx.DiGraph([("bronc", "smoke"), ("bronc", "dysp")])
    graphs = {"clinic0": GRAPH, "clinic1": reverse, "clinic2": GRAPH}
    networks = fit_networks(graphs, tasks)
    assert list(networks) == list(graphs)
    encoded = encode(tasks)
    # All tasks inform a family, those whose graph lacks it, too.
    of_graphs = [("bronc",), ("smoke",), ("smoke", "bronc"), ("bronc", "smoke"), ("bronc", "dysp")]
    by_family = {family: of_family(tasks, family) for family in of_graphs}
    # How much tasks share is learned from all families of the graphs, each counted once.
    weights = learned_weights(np.array([one.evidences() for one in by_family.values()]))
    expected = by_family["smoke", "bronc"].averaged(weights).tables
    assert networks["clinic0"].table("bronc") == pytest.approx(expected[0])
    assert networks["clinic2"].table("bronc") == pytest.approx(expected[2])
    expected = by_family["bronc", "smoke"].averaged(weights).tables
    assert networks["clinic1"].table("smoke") == pytest.approx(expected[1])
    found = fit_tables(graphs, encoded)
    assert set(found.borrowed["task"]) == set(tasks)
    one = found.borrowed.query("task == 'clinic1' and variable == 'smoke'")
    assert one["source"].tolist() == ["clinic0", "clinic2"]
    assert found.in_common.index.tolist() == list(tasks)
    assert np.diagonal(found.in_common).tolist() == [1, 1, 1]


def test_whole_graphs_borrow_and_have_in_common_what_the_naive_twin_says(concentrations):
    concentrations(SMALL)
    tasks = frames(n_rows=30)
    tasks["clinic0"] = tasks["clinic0"].drop(columns="dysp")
    reverse = nx.DiGraph([("bronc", "smoke"), ("bronc", "dysp")])
    graphs = {"clinic0": nx.DiGraph([("smoke", "bronc")]), "clinic1": GRAPH, "clinic2": reverse}
    tasks = encode(tasks)
    found = SharedTables(tasks, weigh=even).fit(graphs)
    borrowed, n = {}, len(tasks)
    in_common, weights = np.zeros((n, n)), np.zeros((n, n))
    for (s, name), child in itertools.product(enumerate(tasks), sorted(GRAPH)):
        if child not in graphs[name]:
            continue
        parents = list(graphs[name].predecessors(child))
        members = [u for u, task in enumerate(tasks.values()) if child in task.variables]
        counts = counts_of([tasks[tasks.names[u]] for u in members], parents, child)
        rows, chances = naive_tables.shared_tables(counts, SMALL, PARTITIONS, STRENGTHS)[1:]
        at = members.index(s)
        for i, u in enumerate(members):
            if u != s:
                borrowed[name, child, tasks.names[u]] = rows[at, i]
                in_common[s, u] += chances[at, i]
                weights[s, u] += np.sum(counts[at]) + np.sum(counts[i])
    assert found.borrowed.set_index(["task", "variable", "source"])["rows"].to_dict() == (
        pytest.approx(borrowed, rel=1e-7)
    )
    # The families of both graphs count.
    expected = (in_common + in_common.T) / (weights + weights.T + np.eye(n))
    assert found.in_common.to_numpy() - np.eye(n) == pytest.approx(expected, abs=1e-8)


def even(evidences):
    """The same weight for every component."""
    return np.full(evidences.shape[1], 1 / evidences.shape[1])


def test_each_group_learns_how_much_its_tables_borrow():
    tasks = encode(frames())
    graphs = dict.fromkeys(tasks, GRAPH)
    graphs["clinic1"] = nx.DiGraph([("bronc", "smoke"), ("bronc", "dysp")])
    groups = [["clinic0", "clinic2"], ["clinic1"]]
    found = fit_tables(graphs, tasks, groups)
    for names, members in zip(groups, ((0, 2), (1,)), strict=True):
        families = {
            (*sorted(graphs[name].predecessors(child)), child) for name in names for child in GRAPH
        }
        parts = {family: of_family(frames(), family) for family in sorted(families)}
        weights = learned_weights(np.array([one.evidences(members) for one in parts.values()]))
        for name, at in zip(names, members, strict=True):
            for child in GRAPH:
                family = (*sorted(graphs[name].predecessors(child)), child)
                expected = parts[family].averaged(weights, members).tables[at]
                assert found.tables[name][child].ravel() == pytest.approx(expected.ravel())
    one, without = (fit_tables(graphs, tasks, given) for given in ([sorted(tasks)[::-1]], None))
    for name, own in without.tables.items():
        assert all(np.array_equal(table, one.tables[name][v]) for v, table in own.items())
    assert one.borrowed.equals(without.borrowed)


def test_an_outlier_borrows_less_than_those_that_are_alike():
    """Ten columns with other chances in the last task than in three that have them in common."""
    rng = np.random.default_rng(0)
    chances = dict.fromkeys("abc", rng.uniform(0.1, 0.9, 10)) | {"z": rng.uniform(0.1, 0.9, 10)}
    tasks = {name: (rng.random((60, 10)) < p).astype(str) for name, p in chances.items()}
    tasks = encode({name: pd.DataFrame(rows).add_prefix("x") for name, rows in tasks.items()})
    graph = nx.empty_graph(0, nx.DiGraph)
    graph.add_nodes_from(tasks.variables)
    rows = {}
    for groups in (None, [["a", "b", "c"], ["z"]]):
        found = fit_tables(dict.fromkeys(tasks, graph), tasks, groups).borrowed
        rows[groups is None] = found.groupby("task")["rows"].sum()
    assert rows[False]["z"] < 0.5 * rows[True]["z"]
    assert (rows[False][["a", "b", "c"]] > 0.9 * rows[True][["a", "b", "c"]]).all()


def test_variables_that_only_some_tasks_have():
    tasks = frames()
    tasks["clinic0"] = tasks["clinic0"].drop(columns="dysp")
    graphs = {
        "clinic0": nx.DiGraph([("smoke", "bronc")]),
        "clinic1": GRAPH,
        "clinic2": nx.DiGraph([("smoke", "bronc")]),
    }
    networks = fit_networks(graphs, tasks)
    families = [("smoke",), ("smoke", "bronc"), ("bronc", "dysp")]
    by_family = [of_family(tasks, family) for family in families]
    weights = learned_weights(np.array([one.evidences() for one in by_family]))
    expected = by_family[-1].averaged(weights).tables
    assert networks["clinic1"].table("dysp") == pytest.approx(expected[0])
    alone = {"clinic1": tasks["clinic1"], "clinic0": tasks["clinic0"]}
    networks = fit_networks({name: graphs[name] for name in alone}, alone)
    separate = BayesNet.fit(GRAPH, tasks["clinic1"]).table("dysp")
    assert networks["clinic1"].table("dysp") == pytest.approx(separate)


def test_mistakes():
    tasks = frames(k=2)
    with pytest.raises(ValueError, match="`sharing` must be 'auto' or None, got True"):
        fit_networks({"clinic0": GRAPH}, tasks, sharing=True)
    with pytest.raises(ValueError, match="graphs of tasks `clinic0`, `clinic1`, got 'clinic9'"):
        fit_networks({"clinic9": GRAPH}, tasks)
    graph = nx.DiGraph([("smoke", "fever")])
    with pytest.raises(ValueError, match="Task `clinic1` must have a column .* `fever` is missing"):
        fit_networks({"clinic1": graph}, tasks)
    circle = nx.DiGraph([("smoke", "bronc"), ("bronc", "smoke")])
    with pytest.raises(ValueError, match="configuration"):
        fit_networks({"clinic1": circle}, tasks)
    for mistaken, name in ((GRAPH, "DiGraph"), ([GRAPH], "list"), (None, "None")):
        with pytest.raises(TypeError, match=f"mapping from task names to graphs, got {name};"):
            fit_networks(mistaken, tasks)
    lacking = {name: frame.astype(object) for name, frame in tasks.items()}
    lacking["clinic1"].iloc[3, 0] = None
    with pytest.raises(ValueError, match="missing='drop'"):
        fit_networks({"clinic1": GRAPH}, lacking)


def test_tables_of_all_tasks_together_are_bounded(monkeypatch):
    configuration = {"clinic1": nx.DiGraph([("smoke", "dysp"), ("bronc", "dysp")])}
    monkeypatch.setattr(shared_tables, "LARGEST_TABLE", 24)
    assert fit_networks(configuration, frames())["clinic1"].table("dysp").size == 8
    monkeypatch.setattr(shared_tables, "LARGEST_TABLE", 23)
    message = "`configuration` must have tables of at most 7 cells .* of `dysp` with its 2 parents"
    with pytest.raises(ValueError, match=message):
        fit_networks(configuration, frames())


def test_missing_values_and_names_are_taken_as_learners_take_them():
    tasks = frames(k=2)
    graphs = {name: GRAPH for name in tasks}
    lacking = {name: frame.astype(object) for name, frame in tasks.items()}
    lacking["clinic1"].iloc[3, 0] = None
    with pytest.warns(UserWarning, match="1 of 60 in task `clinic1`"):
        dropped = fit_networks(graphs, lacking, missing="drop")
    rest = {name: frame.dropna() for name, frame in lacking.items()}
    assert len(rest["clinic1"]) == 59 and dropped == fit_networks(graphs, rest)
    numbered = fit_networks({0: GRAPH, 1: GRAPH}, dict(enumerate(tasks.values())))
    assert list(numbered) == ["0", "1"]
    assert numbered["1"] == fit_networks(graphs, tasks)["clinic1"]
