import hashlib
import itertools

import networkx as nx
import numpy as np
import pytest
from enumerated import brute_conditional, family_joint, small_network

from bnmtl import structures
from bnmtl.networks import BayesNet
from bnmtl.problems import (
    ALARM_COMPONENTS,
    components,
    deletion,
    perturb,
    random_network,
    related,
    sample,
    unrelated,
)

pytestmark = pytest.mark.beside_kernels

ALARM_COMP = [(), (0,), (1,), (2,), (0, 2)]


def assert_integrated_out(original, task):
    """Each table is the original conditional of the child given what parents are left."""
    assert set(task.graph.edges) <= set(original.graph.edges)
    assert task.states == original.states
    for v in task.variables:
        if task.parents(v) == original.parents(v):
            assert np.array_equal(task.table(v), original.table(v))
        else:
            expected = brute_conditional(original, v, task.parents(v))
            assert task.table(v) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_deletion_integrates_lost_parents_out_of_the_original(seed, with_zeros):
    network = small_network(seed, with_zeros)
    problem = deletion(network, 3, p_delete=0.5, random_state=seed)
    assert list(problem) == ["task1", "task2", "task3"]
    assert len({frozenset(task.graph.edges) for task in problem.values()}) > 1
    for task in problem.values():
        assert_integrated_out(network, task)


def test_two_lost_parents_are_lost_in_one_step():
    """Parents that depend on each other: their product of marginals would be wrong."""
    graph = nx.DiGraph([("a", "b"), ("a", "c"), ("b", "c")])
    tables = {
        "a": [0.5, 0.5],
        "b": [[0.9, 0.1], [0.1, 0.9]],
        "c": [[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]],
    }
    network = BayesNet(graph, dict.fromkeys("abc", ("0", "1")), tables)
    seed = next(
        s
        for s in range(99)
        if set(deletion(network, 1, 0.7, random_state=s)["task1"].graph.edges) == {("a", "b")}
    )
    # P(c = 0) = 0.45 * 1 + 0.05 * 0.5 + 0.05 * 0.5 + 0
    table = deletion(network, 1, 0.7, random_state=seed)["task1"].table("c")
    assert table.tolist() == pytest.approx([0.5, 0.5])
    biased = BayesNet(graph, network.states, tables | {"a": [0.9, 0.1]})
    # 0.81 * 1 + 0.09 * 0.5 + 0.01 * 0.5 + 0
    table = deletion(biased, 1, 0.7, random_state=seed)["task1"].table("c")
    assert table.tolist() == pytest.approx([0.86, 0.14])


def test_impossible_configurations_become_uniform():
    graph = nx.DiGraph([("a", "c"), ("b", "c")])
    rows = [0.2, 0.3, 0.5], [0.6, 0.4, 0.0]
    network = BayesNet(
        graph,
        {"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1", "2")},
        {"a": [1.0, 0.0], "b": [0.25, 0.75], "c": [rows, rows]},
    )
    problem = deletion(network, 30, 0.5, random_state=0)
    tables = [task.table("c") for task in problem.values() if task.parents("c") == ("a",)]
    assert tables
    for table in tables:
        assert table[0].tolist() == pytest.approx([0.5, 0.375, 0.125])
        assert table[1].tolist() == [1 / 3] * 3
    kept = [task.table("c") for task in problem.values() if len(task.parents("c")) == 2]
    assert kept
    assert all(np.array_equal(table, network.table("c")) for table in kept)


def test_nothing_deleted_is_the_network_and_all_deleted_are_the_marginals():
    network = small_network(1)
    assert all(task == network for task in deletion(network, 3, 0, random_state=0).values())
    for task in deletion(network, 2, 1, random_state=0).values():
        assert not task.graph.edges
        assert list(task.graph) == list(network.graph)
        for v in network.variables:
            assert task.table(v) == pytest.approx(family_joint(network, [v]), abs=1e-12)


def test_marginals_of_alarm_are_those_of_its_rows():
    alarm = structures.load("alarm")
    rows = alarm.sample(50_000, random_state=0)
    marginals = deletion("alarm", 1, 1.0, random_state=0)["task1"]
    for v in alarm.variables:
        counts = rows[v].value_counts(normalize=True, sort=False)
        assert counts.to_numpy() == pytest.approx(marginals.table(v), abs=0.012)


def test_arcs_are_deleted_at_the_given_rate():
    lost = [46 - n.graph.number_of_edges() for n in deletion("alarm", 50, random_state=0).values()]
    # 2300 arcs at 0.05: 115 +- 10.5
    assert 75 <= sum(lost) <= 155
    assert min(lost) < max(lost)


def test_a_task_depends_on_neither_the_number_of_tasks_nor_on_other_tasks():
    network = small_network(2)
    for parameters in ("shared", "independent"):
        few = deletion(network, 3, 0.4, parameters, random_state=7)
        many = deletion(network, 12, 0.4, parameters, random_state=7)
        assert list(few) == ["task1", "task2", "task3"]
        assert list(many) == sorted(many)
        assert list(many)[:3] + list(many)[-3:] == [
            *("task01", "task02", "task03", "task10", "task11", "task12"),
        ]
        for number in "123":
            assert few[f"task{number}"] == many[f"task0{number}"]
        assert many["task01"] != many["task02"]


def test_deletions_are_nested_and_the_same_for_other_tables():
    network = small_network(3)
    arcs = [
        [set(task.graph.edges) for task in deletion(network, 4, p, random_state=1).values()]
        for p in (0.2, 0.5, 0.8)
    ]
    for low, middle, high in zip(*arcs, strict=True):
        assert high <= middle <= low
    independent = deletion(network, 4, 0.5, "independent", random_state=1)
    assert [set(task.graph.edges) for task in independent.values()] == arcs[1]


def test_independent_parameters_are_drawn_for_each_task_before_arcs_are_deleted():
    network = small_network(4)
    before = deletion(network, 3, 0, "independent", random_state=5)
    after = deletion(network, 3, 0.5, "independent", random_state=5)
    for v in network.variables:
        drawn = [network.table(v), *(task.table(v) for task in before.values())]
        assert len({table.tobytes() for table in drawn}) == 4
    for task in before:
        assert before[task].graph.edges == network.graph.edges
        assert before[task].states == network.states
        assert_integrated_out(before[task], after[task])


def test_concentration_is_that_of_a_dirichlet_distribution():
    names = [f"v{i}" for i in range(40)]
    graph = nx.empty_graph(names, nx.DiGraph)
    states = dict.fromkeys(names, ("0", "1", "2"))
    network = BayesNet(graph, states, dict.fromkeys(names, (1, 0, 0)))
    for concentration in (0.5, 1, 4):
        problem = deletion(network, 50, 0, "independent", concentration, random_state=0)
        drawn = np.array([task.table(v) for task in problem.values() for v in names])
        # Var p_k = m (1 - m) / (3 c + 1) with m = 1 / 3
        assert drawn.mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.03)
        assert drawn.var(axis=0) == pytest.approx([2 / 9 / (3 * concentration + 1)] * 3, rel=0.1)


def test_deletion_ignores_the_order_of_nodes_and_arcs():
    network = small_network(5)
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(network.graph, reverse=True))
    graph.add_edges_from(sorted(network.graph.edges, reverse=True))
    reordered = BayesNet(graph, network.states, network.tables)
    for parameters in ("shared", "independent"):
        assert deletion(network, 2, 0.4, parameters, random_state=0) == deletion(
            reordered, 2, 0.4, parameters, random_state=0
        )


def test_alarm_components_are_those_of_the_thesis():
    text = structures.path("alarm").read_text()
    order = [line.split()[1] for line in text.splitlines() if line.startswith("variable ")]
    assert [len(group) for group in ALARM_COMPONENTS] == [7, 8, 8, 14]
    numbers = [
        [*range(1, 8)],
        [*range(9, 15), 21, 34],
        [8, *range(27, 32), 36, 37],
        [*range(15, 21), *range(22, 27), 32, 33, 35],
    ]
    assert sorted(itertools.chain(*numbers)) == list(range(1, 38))
    assert [list(group) for group in ALARM_COMPONENTS] == [
        [order[i - 1] for i in group] for group in numbers
    ]


def inside(graph, group):
    return set(graph.subgraph(group).edges)


@pytest.mark.parametrize("seed", range(5))
def test_components_change_what_is_inside_and_nothing_else(seed):
    alarm = structures.load("alarm")
    changed = [*ALARM_COMP, (0, 1, 2, 3)]
    problem = components("alarm", ALARM_COMPONENTS, changed, random_state=seed)
    assert list(problem) == [f"task{i}" for i in range(1, 7)]
    assert problem["task1"] == alarm
    between = set(alarm.graph.edges).difference(*(inside(alarm.graph, g) for g in ALARM_COMPONENTS))
    assert len(between) == 46 - 7 - 4 - 5 - 11
    for network, indices in zip(problem.values(), changed, strict=True):
        assert nx.is_directed_acyclic_graph(network.graph)
        assert network.states == alarm.states
        arcs_inside = [inside(network.graph, group) for group in ALARM_COMPONENTS]
        assert set(network.graph.edges).difference(*arcs_inside) == between
        for i, group in enumerate(ALARM_COMPONENTS):
            if i in indices:
                assert len(arcs_inside[i]) == len(inside(alarm.graph, group))
                assert arcs_inside[i] != inside(alarm.graph, group)
                assert not any(np.array_equal(network.table(v), alarm.table(v)) for v in group)
            else:
                assert arcs_inside[i] == inside(alarm.graph, group)
                assert all(np.array_equal(network.table(v), alarm.table(v)) for v in group)


def test_components_are_independent_of_the_other_tasks_and_of_how_groups_are_written():
    problem = components("alarm", ALARM_COMPONENTS, [(0, 2), (0, 2), (1,)], random_state=3)
    assert problem["task1"].graph.edges != problem["task2"].graph.edges
    other = components("alarm", ALARM_COMPONENTS, [(), [2, 0], *[()] * 8], random_state=3)
    assert next(iter(other)) == "task01"
    assert other["task02"] == problem["task2"]
    backwards = [group[::-1] for group in ALARM_COMPONENTS[::-1]]
    assert problem == components("alarm", backwards, [(3, 1), (1, 3), (2,)], random_state=3)
    assert problem != components("alarm", ALARM_COMPONENTS, [(0, 2), (0, 2), (1,)], random_state=4)


def test_random_arcs_of_a_component_are_equally_likely():
    states = dict.fromkeys("abcd", ("0", "1"))
    tables = {"a": [0.5, 0.5], "b": [[0.5, 0.5]] * 2, "c": [[0.5, 0.5]] * 2, "d": [0.5, 0.5]}
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    graph.add_node("d")
    network = BayesNet(graph, states, tables)
    problem = components(network, [tuple("abcd")], [(0,)] * 1200, 0)
    arcs = [arc for task in problem.values() for arc in task.graph.edges]
    assert len(arcs) == 2400
    for arc in itertools.permutations("abcd", 2):
        # 1200 trials at 1 / 6: 200 +- 13
        assert 140 <= arcs.count(arc) <= 260
    # 3 of the 15 sets of two pairs share no variable: 240 +- 14
    disjoint = [
        task for task in problem.values() if max(degree for _, degree in task.graph.degree) == 1
    ]
    assert 180 <= len(disjoint) <= 300


def chain_of_two_groups(n):
    """a0 -> b0 -> a1 -> b1 ..., where each a is a parent of all later ones."""
    names = [f"{letter}{i}" for i in range(n) for letter in "ab"]
    graph = nx.DiGraph(itertools.pairwise(names))
    graph.add_edges_from(itertools.combinations(names[::2], 2))
    states = dict.fromkeys(names, ("0", "1"))
    tables = {v: np.full([2] * (graph.in_degree(v) + 1), 0.5) for v in names}
    return BayesNet(graph, states, tables), names[::2]


def test_components_are_redrawn_until_the_whole_graph_is_acyclic(monkeypatch):
    network, group = chain_of_two_groups(4)
    # Only the given order of the group, one of 24, is possible.
    for task in components(network, [group], [(0,)] * 3, random_state=0).values():
        assert task.graph.edges == network.graph.edges
        assert task != network
    network, group = chain_of_two_groups(10)
    monkeypatch.setattr(related, "_MAX_DRAWS", 500)
    message = "`groups` must leave room .* 500 draws .* of `a0` closed"
    with pytest.raises(ValueError, match=message):
        components(network, [group], [(0,)], random_state=0)


@pytest.mark.parametrize("seed", range(3))
def test_tables_of_the_same_seed_are_not_drawn_again(seed):
    """A change leaves no table as it was, whatever drew that with the same seed."""
    group = ("tub", "either", "lung", "xray")
    for draw in (
        lambda network: deletion(network, 1, 0.0, "independent", random_state=seed)["task1"],
        lambda network: components(network, [group], [(0,)], random_state=seed)["task1"],
    ):
        drawn = draw("asia")
        for again in (
            deletion(drawn, 1, 0.0, "independent", random_state=seed)["task1"],
            components(drawn, [group], [(0,)], random_state=seed)["task1"],
        ):
            assert all(drawn.tables[v].flat[0] != again.tables[v].flat[0] for v in group)


def test_components_refuse_tables_beyond_memory():
    """Each table of this network is small, those of other arcs among its variables are not."""
    graph = nx.DiGraph(["ad", "bd", "ac", "cd", "de", "ce"])
    states = {v: tuple(map(str, range(2 if v == "d" else 100))) for v in graph}
    counts = {v: [100 if p != "d" else 2 for p in sorted(graph.predecessors(v))] for v in graph}
    tables = {v: np.full((*counts[v], len(states[v])), 1 / len(states[v])) for v in graph}
    network = BayesNet(graph, states, tables)
    with pytest.raises(ValueError, match=r"`groups` .* with \d parents? the table of `\w+`"):
        components(network, [list("abcde")], [(0,)], random_state=0)


@pytest.mark.parametrize(
    "n_variables, mean_degree, states", [(1, 0, 2), (2, 1, 3), (12, 3, (2, 4)), (120, 6.5, 2)]
)
def test_random_network_respects_its_limits(n_variables, mean_degree, states):
    network = random_network(n_variables, mean_degree, states, random_state=0)
    low, high = (states, states) if isinstance(states, int) else states
    width = len(str(n_variables))
    names = [f"x{str(i).zfill(width)}" for i in range(1, n_variables + 1)]
    assert list(network.graph) == list(network.variables) == names
    assert network.graph.number_of_edges() == round(n_variables * mean_degree / 2)
    assert max(degree for _, degree in network.graph.in_degree) <= 4
    n_states = {len(labels) for labels in network.states.values()}
    assert {low, high} <= n_states <= set(range(low, high + 1))
    assert network.states[names[0]][:2] == ("0", "1")
    rows = np.concatenate(
        [table.reshape(-1, table.shape[-1])[:, 0] for table in network.tables.values()]
    )
    assert len(set(rows)) == len(rows)


def test_random_network_can_be_full():
    network = random_network(6, 28 / 6, 2, random_state=0)
    # 0 + 1 + 2 + 3 + 4 + 4
    assert sorted(degree for _, degree in network.graph.in_degree) == [0, 1, 2, 3, 4, 4]


def test_random_network_is_repeatable():
    network = random_network(30, random_state=1)
    assert network == random_network(30, 3, 3, random_state=1)
    assert network != random_network(30, random_state=2)
    assert random_network(30) != random_network(30)
    rng = np.random.default_rng(0)
    assert random_network(9, random_state=rng) != random_network(9, random_state=rng)


def test_arcs_of_random_networks_are_equally_likely():
    arcs = [
        arc
        for seed in range(600)
        for arc in random_network(3, 2 / 3, 2, random_state=seed).graph.edges
    ]
    assert len(arcs) == 600
    for arc in itertools.permutations(["x1", "x2", "x3"], 2):
        assert 60 <= arcs.count(arc) <= 140
    two = [random_network(3, 4 / 3, 2, random_state=seed).graph for seed in range(600)]
    # Of a chain, a fork and a collider each is as likely: 200 +- 12
    colliders = [graph for graph in two if max(degree for _, degree in graph.in_degree) == 2]
    assert 160 <= len(colliders) <= 240


def test_names_of_a_random_network_say_nothing_about_directions():
    arcs = [arc for s in range(20) for arc in random_network(50, random_state=s).graph.edges]
    assert len(arcs) == 1500
    assert 0.44 < np.mean([tail < head for tail, head in arcs]) < 0.56


def test_sample_declares_all_states():
    problem = deletion("insurance", 2, random_state=0)
    rows = sample(problem, 3, random_state=0)
    assert list(rows) == ["task1", "task2"]
    for task, frame in rows.items():
        assert frame.shape == (3, 27)
        for v in problem[task].variables:
            assert tuple(frame[v].cat.categories) == problem[task].states[v]
    assert sample(problem, 0)["task1"].shape == (0, 27)


def test_sample_is_repeatable_and_a_task_does_not_depend_on_the_others():
    network = structures.load("asia")
    problem = {"north": network, "south": network, "west": network}
    rows = sample(problem, 50, random_state=3)
    assert not rows["north"].equals(rows["south"])
    assert not rows["north"].equals(sample(problem, 50, random_state=4)["north"])
    other = sample({"west": network, "north": network}, 80, random_state=3)
    for task in other:
        assert other[task].head(50).equals(rows[task])
    rng = np.random.default_rng(0)
    assert not sample(problem, 50, rng)["west"].equals(sample(problem, 50, rng)["west"])


def test_rows_follow_the_network():
    network = small_network(6)
    frame = sample({"task1": network}, 50_000, random_state=0)["task1"]
    child = max(network.variables, key=lambda v: len(network.parents(v)))
    frequencies = (
        frame.groupby([*network.parents(child)[:1], child], observed=False).size() / 50_000
    )
    expected = family_joint(network, [network.parents(child)[0], child])
    assert frequencies.to_numpy() == pytest.approx(expected.ravel(), abs=0.012)


def fingerprint():
    """A digest of problems of all kinds, which must be the same with another hash seed.

    It is compared in `test_reproducible.py`.
    """
    problem = deletion("insurance", p_delete=0.3, parameters="independent", random_state=0)
    networks = [
        *problem.values(),
        *deletion("alarm", p_delete=0.3, random_state=0).values(),
        *components("alarm", ALARM_COMPONENTS, [(0, 1), (3,)], 0).values(),
        *perturb("alarm", n_edits=20, random_state=0).values(),
        *unrelated("alarm", random_state=0).values(),
        random_network(20, random_state=0),
    ]
    digest = hashlib.sha256()
    for network in networks:
        digest.update(repr(sorted(network.graph.edges)).encode())
        digest.update(b"".join(network.tables[v].tobytes() for v in network.variables))
    digest.update(sample(problem, 20, 0)["task3"].to_csv().encode())
    return digest.hexdigest()


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (
            {"network": "alram"},
            ValueError,
            "`network` must be a BayesNet or one of `alarm`, .* got",
        ),
        ({"network": nx.DiGraph()}, TypeError, "`network` must be a BayesNet or a name, got DiG"),
        ({"n_tasks": 0}, ValueError, "`n_tasks` must be .* at least 1, got 0; for example 5"),
        ({"n_tasks": 2.0}, ValueError, r"`n_tasks` must be a whole number.* got 2\.0"),
        ({"p_delete": 1.5}, ValueError, r"`p_delete` must be .* from 0 to 1, got 1\.5"),
        ({"p_delete": float("nan")}, ValueError, "`p_delete` must be .* from 0 to 1, got nan"),
        ({"p_delete": "0.1"}, TypeError, "`p_delete` must be a number.* got '0.1'; for example"),
        ({"parameters": "own"}, ValueError, "`parameters` must be 'shared' or 'independent', got"),
        ({"parameters": None}, ValueError, "`parameters` must be 'shared' or 'independent', got"),
        ({"concentration": 2}, ValueError, "`concentration` must be 1 .* got 2; leave it out"),
        (
            {"parameters": "independent", "concentration": 0},
            ValueError,
            r"`concentration` must be a number above 0 and at most 1e\+100, got 0",
        ),
        (
            {"parameters": "independent", "concentration": 1e300},
            ValueError,
            r"at most 1e\+100, got 1e\+300",
        ),
        ({"concentration": None}, TypeError, "`concentration` must be a number.* got None"),
        (
            {"random_state": -1},
            ValueError,
            "`random_state` must be a whole number of at least 0, got -1",
        ),
    ],
)
def test_mistakes_in_deletion_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        deletion(**{"network": "asia", "random_state": 0} | arguments)


@pytest.mark.parametrize(
    "groups, changed, error, message",
    [
        (("lung", "tub"), [()], TypeError, "`groups` must be a list of groups of variables"),
        ({("lung",), ("tub",)}, [()], TypeError, "`groups` must be a list of groups"),
        (None, [()], TypeError, "`groups` must be a list of groups of variables"),
        ([("lung", "x")], [()], ValueError, "`groups` must hold variables .* got 'x'"),
        ([("lung", 1)], [()], ValueError, "`groups` must hold variables .* got 1"),
        ([("lung", "tub"), ("tub",)], [()], ValueError, "must not overlap; `tub` occurs twice"),
        ([("lung", "tub"), ()], [()], ValueError, "`groups` must hold .* number 1 is empty: leave"),
        ([("lung", "tub")], (0,), TypeError, "`changed` must be a list with one tuple of group"),
        ([("lung", "tub")], 0, TypeError, "`changed` must be a list with one tuple of group"),
        ([("lung", "tub")], [], ValueError, "`changed` must hold a tuple for at least one task"),
        ([("lung", "tub")], [(1,)], ValueError, "indices below 1, the number of groups, got 1"),
        ([("lung", "tub")], [(-1,)], ValueError, "`changed` must be .* at least 0, got -1"),
        ([("lung", "tub")], [("0",)], TypeError, "`changed` must be a whole number.* got '0'"),
        ([("lung", "tub")], [(0, 0)], ValueError, r"a group once for each task, got \(0, 0\)"),
    ],
)
def test_mistakes_in_components_are_named(groups, changed, error, message):
    with pytest.raises(error, match=message):
        components("asia", groups, changed, random_state=0)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"n_variables": 0}, ValueError, "`n_variables` must be .* at least 1, got 0"),
        ({"n_variables": "9"}, TypeError, "`n_variables` must be a whole number.* got '9'"),
        ({"mean_degree": -1}, ValueError, "`mean_degree` must be .* at least 0, got -1"),
        ({"mean_degree": float("inf")}, ValueError, "at least 0, got inf"),
        ({"mean_degree": None}, TypeError, "`mean_degree` must be a number.* got None"),
        ({"mean_degree": 7.5}, ValueError, r"at most 30 arcs, .* 10 variables .* got 7\.5; .* 38"),
        ({"states": 1}, ValueError, "`states` must be .* from 2 to 20, got 1"),
        ({"states": 21}, ValueError, "`states` must be .* from 2 to 20, got 21"),
        ({"states": (4, 2)}, ValueError, r"the smaller number first, got \(4, 2\)"),
        ({"states": (2, 3, 4)}, TypeError, r"`states` must be a whole number.* got \(2, 3, 4\)"),
        ({"states": 2.5}, ValueError, r"`states` must be a whole number.* got 2\.5"),
    ],
)
def test_mistakes_in_random_network_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        random_network(**{"n_variables": 10, "random_state": 0} | arguments)


def test_mistakes_in_sample_are_named():
    asia = structures.load("asia")
    with pytest.raises(TypeError, match="`problem` must be a mapping .* got BayesNet"):
        sample(asia, 10)
    with pytest.raises(ValueError, match="`problem` must have at least one task"):
        sample({}, 10)
    with pytest.raises(TypeError, match="strings for task names, got 1"):
        sample({1: asia}, 10)
    with pytest.raises(TypeError, match="^Task `north`: .* a BayesNet for each task, got DiGraph"):
        sample({"north": asia.graph}, 10)
    with pytest.raises(ValueError, match=r"`n_rows` must be a whole number.* got 1\.5"):
        sample({"north": asia}, 1.5)
    with pytest.raises(ValueError, match="`n_rows` must be .* at least 0, got -1"):
        sample({"north": asia}, -1)
