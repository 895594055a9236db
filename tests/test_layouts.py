"""The study of layouts: crossings of drawn lines beside a count by exact arithmetic."""

import importlib.util

import naive
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.speed import layouts
from bnmtl import plotting, structures
from bnmtl.plotting.graphs import points_along

pytestmark = pytest.mark.beside_kernels

needs_igraph = pytest.mark.skipif(
    importlib.util.find_spec("igraph") is None, reason="igraph is not installed"
)


@given(st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_crossings_are_those_of_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    # On so fine a grid that no point lies on another line.
    lines = [rng.integers(0, 10**6, (rng.integers(2, 5), 2)) for _ in range(6)]
    for i in range(1, 6):  # some begin where another one begins or ends
        if rng.random() < 0.5:
            lines[i][0] = lines[i - 1][rng.choice([0, -1])]
    assert layouts.crossings([line.astype(float) for line in lines]) == naive.crossings(lines)


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ([[(0, 0), (2, 2)], [(0, 2), (2, 0)]], 1),
        ([[(0, 0), (2, 2)], [(2, 2), (4, 0)]], 0),  # the end of one is the start of the other
        ([[(0, 0), (2, 2)], [(0, 0), (2, 0)]], 0),
        ([[(0, 0), (4, 0)], [(1, 2), (2, 0), (3, 2)]], 0),  # touches from above
        ([[(0, 0), (4, 0)], [(1, 2), (2, 0), (3, -2)]], 1),  # passes through at a bend
        ([[(0, 0), (1, 1), (2, 2)], [(0, 2), (1, 1), (2, 0)]], 1),  # at bends of both
        ([[(0, 0), (4, 0)], [(1, 1), (2, -1), (3, 1)]], 2),
        ([[(0, 0), (1, 1), (0, 1), (1, 0)], [(5, 5), (6, 6)]], 0),  # a line crosses no other
    ],
)
def test_touching_is_not_crossing(lines, number):
    lines = [np.array(line, dtype=float) for line in lines]
    assert layouts.crossings(lines) == number
    assert layouts.crossings(lines[::-1]) == number


def test_points_follow_the_curve_from_end_to_end():
    route = np.array([[0, 0], [0, 1], [1, 1], [1, 0], [1, -1], [3, -1], [3, 0]], dtype=float)
    points = points_along(route, layouts.CHORDS)
    assert points[0].tolist() == [0, 0] and points[-1].tolist() == [3, 0]
    # Halfway of the first curve, by its formula.
    assert [0.5, 0.75] in points.tolist()


@pytest.mark.parametrize("name", ["asia", "insurance", "win95pts"])
def test_what_the_layered_layout_counts_is_what_is_drawn(name):
    graph = structures.load(name).graph
    drawn = layouts.ENGINES["layered"]({name: graph})
    assert drawn == plotting.arrange(graph, "layered").crossings


@needs_igraph
def test_igraph_draws_every_arc_from_box_to_box():
    arcs = sorted(structures.load("asia").graph.edges)
    for layers in (None, layouts.layers_of(arcs)):
        lines = layouts.igraph_lines(arcs, layers, seed=0)
        places = {}
        for (a, b), line in zip(arcs, lines, strict=True):
            assert places.setdefault(a, tuple(line[0])) == tuple(line[0])
            assert places.setdefault(b, tuple(line[-1])) == tuple(line[-1])
            assert (np.diff(line[:, 1]) > 0).all()
        assert len(set(places.values())) == 8
        if layers is not None:
            assert {v: y for v, (_, y) in places.items()} == layers


@needs_igraph
def test_complete_bipartite_graphs_have_one_crossing_for_all():
    square = nx.DiGraph([("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")])
    for engine in ("layered", "igraph", "igraph, 10 orders", "igraph, 10 orders, our layers"):
        assert layouts.ENGINES[engine]({"": square}) == 1


@needs_igraph
def test_the_table_has_a_row_for_each_network():
    lines = []
    for case in layouts.plan(True):
        network, wanted = case["network"], case["wanted"]
        for engine, line in layouts.measure(**case).items():
            lines.append({"network": network, "engine": engine, **line})
        assert set(wanted) == {line["engine"] for line in lines if line["network"] == network}
    text = layouts.tables(pd.DataFrame(lines[::-1]))["layouts"].splitlines()
    assert text[2].startswith("| asia | 8 | 8 | 0 | ")
    assert text[3].startswith("| asia, 5 tasks | 8 | ")
    assert "nan" not in "".join(text)
