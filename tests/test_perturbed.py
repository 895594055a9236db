"""Laws of the random edits of `perturb` and of the permuted names of `unrelated`."""

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from enumerated import brute_conditional, placements, small_network
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl import structures
from bnmtl.metrics import edit_distance
from bnmtl.networks import BayesNet
from bnmtl.problems import deletion, perturb, sample, unrelated

pytestmark = pytest.mark.beside_kernels

SEEDS = st.integers(0, 2**32 - 1)


def room(network):
    """As many edits as there always are."""
    n = len(network.variables)
    return max(network.graph.number_of_edges(), sum(min(position, 4) for position in range(n)))


def edits(network, task):
    """{pair: (arc before, arc after)} of the pairs that differ, None for no arc."""
    before, after = ({frozenset(arc): arc for arc in net.graph.edges} for net in (network, task))
    pairs = map(frozenset, itertools.combinations(network.variables, 2))
    return {p: (before.get(p), after.get(p)) for p in pairs if before.get(p) != after.get(p)}


def reordered(network):
    """The same network, with its nodes and arcs put in another order."""
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(network.graph, reverse=True))
    graph.add_edges_from(sorted(network.graph.edges, reverse=True))
    return BayesNet(graph, network.states, network.tables)


def uniform_network(arcs, n_states):
    """A network of given arcs with equal probabilities everywhere."""
    graph = nx.DiGraph()
    graph.add_nodes_from(n_states)
    graph.add_edges_from(arcs)
    tables = {}
    for v in graph:
        shape = [n_states[member] for member in (*sorted(graph.predecessors(v)), v)]
        tables[v] = np.full(shape, 1 / n_states[v])
    return BayesNet(graph, {v: tuple(map(str, range(r))) for v, r in n_states.items()}, tables)


@settings(max_examples=40)
@given(SEEDS, st.booleans(), SEEDS, st.data())
def test_perturbed_graphs_are_so_many_edits_away(network_seed, with_zeros, seed, data):
    network = small_network(network_seed, with_zeros)
    n_edits = data.draw(st.integers(0, room(network)))
    for task in perturb(network, 2, n_edits, seed).values():
        assert nx.is_directed_acyclic_graph(task.graph)
        assert task.states == network.states
        assert edit_distance(network, task) == len(edits(network, task)) == n_edits
        for v in network.variables:
            assert len(task.parents(v)) <= max(4, len(network.parents(v)))


@settings(max_examples=40)
@given(SEEDS, st.booleans(), SEEDS, st.integers(1, 8))
def test_perturbed_tables_follow_the_edits(network_seed, with_zeros, seed, n_edits):
    network = small_network(network_seed, with_zeros)
    for task in perturb(network, 2, n_edits, seed).values():
        random, shrunk = set(), set()
        for before, after in edits(network, task).values():
            if after is None:
                shrunk.add(before[1])
            else:
                random |= {after[1]} if before is None else {*after}
        for v in network.variables:
            if v in random:
                assert not set(task.table(v).flat) & set(network.table(v).flat)
                assert task.table(v).min() > 0
            elif v in shrunk:
                expected = brute_conditional(network, v, task.parents(v))
                assert task.table(v) == pytest.approx(expected, abs=1e-12)
            else:
                assert np.array_equal(task.table(v), network.table(v))


@pytest.mark.parametrize(
    "arcs, shares",
    [
        # One of three kinds, then one arc of the kind: only additions have a choice here.
        (
            ["ab"],
            {"": 1 / 3, "ba": 1 / 3} | dict.fromkeys(["abac", "abbc", "abca", "abcb"], 1 / 12),
        ),
        # c -> a would close a cycle.
        (
            ["ab", "bc"],
            {"abacbc": 1 / 3, "ab": 1 / 6, "bc": 1 / 6, "abcb": 1 / 6, "babc": 1 / 6},
        ),
        # Nothing can be added, and a -> c cannot be reversed.
        (
            ["ab", "bc", "ac"],
            {"abac": 1 / 6, "abbc": 1 / 6, "acbc": 1 / 6, "acbabc": 1 / 4, "abaccb": 1 / 4},
        ),
    ],
)
def test_an_edit_is_drawn_uniformly_from_the_possible_ones_of_a_kind(arcs, shares):
    network = uniform_network(map(tuple, arcs), dict.fromkeys("abc", 2))
    problem = perturb(network, 1200, 1, random_state=0)
    seen = Counter("".join(sorted(map("".join, task.graph.edges))) for task in problem.values())
    assert seen.keys() == shares.keys()
    for graph, share in shares.items():
        deviation = (1200 * share * (1 - share)) ** 0.5
        assert abs(seen[graph] - 1200 * share) < 4 * deviation


def test_both_tables_of_a_reversed_arc_are_uniform_over_all_distributions():
    network = uniform_network(["ab"], dict.fromkeys("ab", 3))
    problem = perturb(network, 1000, 1, random_state=0).values()
    turned = [task for task in problem if task.graph.edges == {("b", "a")}]
    assert 400 < len(turned) < 600
    for v in "ab":
        rows = np.concatenate([task.table(v).reshape(-1, 3) for task in turned])
        # Var p_k = m (1 - m) / (3 + 1) with m = 1 / 3
        assert rows.mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.04)
        assert rows.var(axis=0) == pytest.approx([1 / 18] * 3, rel=0.2)


def test_many_parents_may_be_replaced_but_not_outnumbered():
    """The limit of a variable with more than four parents is their number."""
    arcs = [(f"p{i}", "c") for i in range(6)]
    network = uniform_network(arcs, dict.fromkeys([*"cq", *(f"p{i}" for i in range(6))], 2))
    families = [task.parents("c") for task in perturb(network, 400, 3, 0).values()]
    assert max(len(family) for family in families) == 6
    assert any("q" in family and len(family) > 4 for family in families)


@pytest.mark.parametrize("n_variables", [1, 2, 5, 6, 14])
@pytest.mark.parametrize("full", [False, True])
def test_there_is_always_room_for_the_most_edits(n_variables, full):
    names = [f"v{i:02d}" for i in range(n_variables)]
    arcs = itertools.combinations(names[:7], 2) if full else []
    network = uniform_network(arcs, dict.fromkeys(names, 2))
    most = room(network)
    for task in perturb(network, 30, most, 0).values():
        assert edit_distance(network, task) == most
    with pytest.raises(ValueError, match=f"`n_edits` must be at most {most}, .* got {most + 1}"):
        perturb(network, 1, most + 1, 0)


@settings(max_examples=40)
@given(SEEDS, SEEDS)
def test_fewer_edits_are_the_beginning_of_more(network_seed, seed):
    network = small_network(network_seed)
    few, more, most = (perturb(network, 1, n, seed)["task1"] for n in (2, 5, 9))
    assert edits(network, few).items() < edits(network, more).items()
    assert edits(network, more).items() < edits(network, most).items()


def test_no_edits_are_the_network():
    network = small_network(1, with_zeros=True)
    assert all(task == network for task in perturb(network, 3, 0, random_state=0).values())
    alarm = structures.load("alarm")
    problem = perturb("alarm", random_state=0)
    assert [edit_distance(alarm, task) for task in problem.values()] == [5] * 5


def test_random_tables_differ_from_those_of_other_generators():
    """The network's own tables were drawn with the same seed and number."""
    network = deletion("insurance", 1, 0.0, "independent", random_state=3)["task1"]
    task = perturb(network, 1, 15, random_state=3)["task1"]
    changed = [v for v in network.variables if task.parents(v) != network.parents(v)]
    gained = [v for v in changed if set(task.parents(v)) - set(network.parents(v))]
    assert len(gained) > 5
    for v in gained:
        assert not set(task.table(v).flat) & set(network.table(v).flat)


@pytest.mark.parametrize("make", [perturb, unrelated])
def test_a_task_depends_on_its_seed_and_number_only(make):
    network = small_network(2)
    few, many = make(network, 3, random_state=7), make(network, n_tasks=12, random_state=7)
    assert list(few) == ["task1", "task2", "task3"]
    assert list(many) == sorted(many) == [f"task{i:02d}" for i in range(1, 13)]
    for number in "123":
        assert few[f"task{number}"] == many[f"task0{number}"]
    assert len({frozenset(task.graph.edges) for task in many.values()}) > 6
    assert few == make(reordered(network), 3, random_state=7)
    assert few != make(network, 3, random_state=8)
    assert make(network, 3) != make(network, 3)
    rng = np.random.default_rng(0)
    assert make(network, 3, random_state=rng) != make(network, 3, random_state=rng)


@settings(max_examples=30)
@given(SEEDS, SEEDS)
def test_unrelated_tasks_are_the_network_under_other_names(network_seed, seed):
    network = small_network(network_seed)
    for task in unrelated(network, 2, seed).values():
        assert task.states == network.states
        (names,) = placements(network, task)
        assert {(names[tail], names[head]) for tail, head in network.graph.edges} == set(
            task.graph.edges
        )
        for v in network.variables:
            assert len(network.states[v]) == len(network.states[names[v]])
            assert sorted(network.table(v).flat) == sorted(task.table(names[v]).flat)


def test_a_table_keeps_its_parents_when_their_names_change_places():
    graph = nx.DiGraph([("a", "c"), ("b", "c")])
    tables = {"a": [0.9, 0.1], "b": [0.6, 0.4], "c": [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1]] * 2]}
    network = BayesNet(graph, {"a": [*"ny"], "b": [*"lh"], "c": [*"012"]}, tables)
    (swapped, *_) = (task for task in unrelated(network, 9, 0).values() if task != network)
    assert swapped.table("a").tolist() == [0.6, 0.4]
    assert swapped.table("b").tolist() == [0.9, 0.1]
    assert swapped.table("c").tolist() == np.swapaxes(tables["c"], 0, 1).tolist()
    assert swapped.states == network.states


def test_names_are_permuted_uniformly_among_equally_many_states():
    n_states = {"a": 2, "b": 2, "c": 2, "d": 3}
    network = uniform_network([("a", "b"), ("b", "c"), ("c", "d")], n_states)
    problem = unrelated(network, 1200, random_state=0)
    seen = Counter("".join(nx.topological_sort(task.graph)) for task in problem.values())
    assert seen.keys() == {"".join(order) + "d" for order in itertools.permutations("abc")}
    # 1200 trials at 1 / 6: 200 +- 13
    assert all(150 <= n <= 250 for n in seen.values())


def test_unrelated_tasks_share_few_arcs():
    graphs = [task.graph for task in unrelated("alarm", 30, random_state=0).values()]
    graphs.append(structures.load("alarm").graph)
    assert {graph.number_of_edges() for graph in graphs} == {46}
    shared = [len(one.edges & other.edges) for one, other in itertools.combinations(graphs, 2)]
    # n_ab ** 2 / (n_a n_b) summed over the numbers of states a -> b: 2.44 of the 46 arcs
    assert 2.2 < np.mean(shared) < 2.7
    assert max(shared) < 15


def test_rows_of_unrelated_tasks_declare_the_same_states():
    rows = sample(unrelated("insurance", 2, random_state=0), 5, random_state=0)
    states = structures.load("insurance").states
    for frame in rows.values():
        assert {v: tuple(frame[v].cat.categories) for v in frame} == states


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (
            {"network": "alram"},
            ValueError,
            "`network` must be a BayesNet or one of `alarm`, .* got",
        ),
        ({"n_tasks": 0}, ValueError, "`n_tasks` must be .* at least 1, got 0; for example 5"),
        ({"n_edits": -1}, ValueError, "`n_edits` must be .* at least 0, got -1; for example 5"),
        (
            {"n_edits": 2.0},
            ValueError,
            r"`n_edits` must be a whole number.* got 2\.0; for example 5",
        ),
        ({"n_edits": None}, TypeError, "`n_edits` must be a whole number.* got None"),
        (
            {"n_edits": 23},
            ValueError,
            "`n_edits` must be at most 22, for which 8 variables with 8 arcs always have room, got "
            "23; give fewer.",
        ),
        (
            {"random_state": -1},
            ValueError,
            "`random_state` must be a whole number of at least 0, got -1",
        ),
    ],
)
def test_mistakes_in_perturb_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        perturb(**{"network": "asia", "random_state": 0} | arguments)


def test_perturb_refuses_tables_beyond_memory():
    network = uniform_network(["ab", "bc", "cd", "de"], dict.fromkeys("abcdefghi", 100))
    message = (
        r"`n_edits` .* 67,108,864 cells over 63 variables; with [34] parents the table of `\w+` "
        "would have .*: give fewer"
    )
    with pytest.raises(ValueError, match=message):
        perturb(network, n_edits=9, random_state=0)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"network": nx.DiGraph()}, TypeError, "`network` must be a BayesNet or a name, got DiG"),
        (
            {"network": uniform_network(["ab"], {"a": 2, "b": 3})},
            ValueError,
            "`network` must have variables with equally many states, .* give another one",
        ),
        ({"n_tasks": "5"}, TypeError, "`n_tasks` must be a whole number.* got '5'; for example 5"),
        ({"random_state": 0.5}, TypeError, "`random_state` must be None, an int or a numpy"),
    ],
)
def test_mistakes_in_unrelated_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        unrelated(**{"network": "asia", "random_state": 0} | arguments)
