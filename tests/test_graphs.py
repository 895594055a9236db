import pickle

import naive
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from bnmtl import graphs, structures
from bnmtl.wording import type_of

pytestmark = pytest.mark.beside_kernels


@pytest.mark.parametrize("n, n_dags, n_classes", [(1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185)])
def test_cpdag_is_the_union_of_its_class(n, n_dags, n_classes):
    classes = {}
    for matrix in naive.all_dags(n):
        graph = graphs.from_adjacency(matrix, range(n))
        classes.setdefault(naive.skeleton_and_v_structures(graph), []).append(graph)
    assert sum(map(len, classes.values())) == n_dags
    assert len(classes) == n_classes
    for members in classes.values():
        union = set().union(*(member.edges for member in members))
        common = set.intersection(*(set(member.edges) for member in members))
        for member in members:
            assert set(graphs.cpdag(member).edges) == union
            assert graphs.compelled_arcs(member) == common


@pytest.mark.parametrize(
    "case", reference.bnlearn_results(), ids=lambda r: r["network"] + r["graph"]
)
def test_cpdag_counts_of_bnlearn(case):
    graph = reference.graph(case["network"], case["graph"])
    n_compelled = len(graphs.compelled_arcs(graph))
    assert n_compelled == case["cpdag_directed"]
    assert graph.number_of_edges() - n_compelled == case["cpdag_undirected"]


def test_cpdag_keeps_nodes_in_order_and_the_graph_as_it_was():
    graph = nx.DiGraph()
    graph.add_nodes_from("cab")
    graph.add_edge("a", "b")
    pattern = graphs.cpdag(graph)
    assert list(pattern) == ["c", "a", "b"]
    assert set(pattern.edges) == {("a", "b"), ("b", "a")}
    assert list(graph.edges) == [("a", "b")]


def test_cpdag_of_the_largest_structure():
    link = structures.load("link").graph
    pattern = graphs.cpdag(link)
    assert graphs.skeleton(pattern).edges == graphs.skeleton(link).edges
    assert graphs.compelled_arcs(link) <= set(link.edges)


@given(
    st.integers(0, 6).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_adjacency_inverts_from_adjacency(rows):
    matrix = np.array(rows, dtype=bool).reshape(len(rows), len(rows))
    names = [f"v{i}" for i in range(len(rows))]
    graph = graphs.from_adjacency(matrix, names)
    assert list(graph) == names
    assert np.array_equal(graphs.adjacency(graph, names), matrix)


def test_adjacency_takes_the_given_order():
    graph = nx.DiGraph([("a", "b")])
    expected = np.zeros((3, 3), dtype=bool)
    expected[2, 0] = True
    assert np.array_equal(graphs.adjacency(graph, ["b", "c", "a"]), expected)


def test_adjacency_refuses_what_does_not_fit():
    graph = nx.DiGraph([("a", "b")])
    with pytest.raises(ValueError, match="`b` is not listed"):
        graphs.adjacency(graph, ["a", "c"])
    with pytest.raises(ValueError, match="'a' is repeated"):
        graphs.adjacency(graph, ["a", "b", "a"])
    with pytest.raises(ValueError, match=r"2 x 2; its shape is \(3, 3\)"):
        graphs.from_adjacency(np.zeros((3, 3)), ["a", "b"])


def test_check_dag_names_a_cycle():
    graph = nx.DiGraph([("z", "a"), ("a", "b"), ("b", "c"), ("c", "a")])
    with pytest.raises(ValueError, match=r"^`start` must .* the cycle a -> b -> c -> a\.$"):
        graphs.check_dag(graph, "start")
    with pytest.raises(ValueError, match="a -> a"):
        graphs.check_dag(nx.DiGraph([("a", "a")]), "start")
    graphs.check_dag(nx.DiGraph([("a", "b")]), "start")


@pytest.mark.parametrize("given", [nx.Graph(), nx.MultiDiGraph(), {"a": ["b"]}, None])
def test_check_dag_names_the_type(given):
    with pytest.raises(TypeError, match=f"DiGraph, got {type_of(given)}"):
        graphs.check_dag(given, "graph")
    with pytest.raises(TypeError):
        graphs.cpdag(given)


def test_skeleton_joins_pairs_once():
    joined = graphs.skeleton(nx.DiGraph([("a", "b"), ("b", "a"), ("c", "b")]))
    assert not joined.is_directed()
    assert {frozenset(edge) for edge in joined.edges} == {frozenset("ab"), frozenset("bc")}


def test_configuration_distinguishes_absent_arcs_from_absent_variables():
    north = nx.DiGraph([("b", "c"), ("a", "b")])
    south = nx.DiGraph([("b", "a")])
    configuration = graphs.Configuration(south=south, north=north)
    table = configuration.to_frame()
    assert list(table.columns) == ["south", "north"]
    assert list(table.index) == [("a", "b"), ("b", "a"), ("b", "c")]
    assert table.index.names == ["from", "to"]
    assert all(dtype == "boolean" for dtype in table.dtypes)
    assert table["north"].tolist() == [True, False, True]
    assert table["south"].tolist() == [False, True, pd.NA]
    assert repr(configuration) == "Configuration(south: 1 arc, north: 2 arcs)"


def test_configuration_without_arcs_and_pickled():
    graph = nx.DiGraph()
    graph.add_node("a")
    configuration = graphs.Configuration(only=graph)
    assert configuration.to_frame().shape == (0, 1)
    copy = pickle.loads(pickle.dumps(configuration))
    assert isinstance(copy, graphs.Configuration)
    assert list(copy["only"]) == ["a"]
