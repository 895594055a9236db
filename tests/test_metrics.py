import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from bnmtl import graphs, metrics, structures
from bnmtl.networks import BayesNet

pytestmark = pytest.mark.beside_kernels

NAMES = "abcd"


@st.composite
def dags(draw):
    """DAGs over the same four variables."""
    order = draw(st.permutations(NAMES))
    graph = nx.DiGraph()
    graph.add_nodes_from(NAMES)
    graph.add_edges_from(arc for arc in itertools.combinations(order, 2) if draw(st.booleans()))
    return graph


def mark(graph, a, b):
    return graph.has_edge(a, b), graph.has_edge(b, a)


def count_by_pairs(true, learned, cost):
    """The definition: a sum over the pairs of variables."""
    return sum(cost(mark(true, *p), mark(learned, *p)) for p in itertools.combinations(NAMES, 2))


@given(dags(), dags())
def test_edit_distance_and_shd_are_sums_over_pairs(true, learned):
    single = count_by_pairs(true, learned, lambda a, b: int(a != b))
    double = count_by_pairs(true, learned, lambda a, b: (a != b) + (a != b and any(a) and any(b)))
    assert metrics.edit_distance(true, learned) == single
    assert metrics.edit_distance(true, learned, reversal=2) == double
    of_classes = graphs.cpdag(true), graphs.cpdag(learned)
    assert metrics.shd(true, learned) == count_by_pairs(*of_classes, lambda a, b: int(a != b))


@given(dags(), dags(), dags())
def test_distances_are_metrics(a, b, c):
    for distance in (metrics.edit_distance, metrics.shd):
        assert distance(a, a) == 0
        assert distance(a, b) == distance(b, a)
        assert distance(a, c) <= distance(a, b) + distance(b, c)


@given(dags(), dags())
def test_skeleton_scores_are_bounded_and_swap(true, learned):
    scores = metrics.skeleton_scores(true, learned)
    swapped = metrics.skeleton_scores(learned, true)
    assert (scores.precision, scores.recall) == (swapped.recall, swapped.precision)
    assert 0 <= min(scores) <= max(scores) <= 1
    if scores.precision + scores.recall > 0:
        harmonic = 2 * scores.precision * scores.recall / (scores.precision + scores.recall)
        assert scores.f1 == pytest.approx(harmonic)


@pytest.mark.parametrize(
    "case", reference.bnlearn_results(), ids=lambda case: f"{case['network']}-{case['graph']}"
)
def test_distances_of_bnlearn(case):
    true = reference.graph(case["network"], "true")
    learned = reference.graph(case["network"], case["graph"])
    assert metrics.shd(true, learned) == case["shd_to_true"]
    skeletons = [{frozenset(arc) for arc in graph.edges} for graph in (true, learned)]
    assert len(skeletons[0] ^ skeletons[1]) == case["hamming_to_true"]
    scores = metrics.skeleton_scores(true, learned)
    n_both = len(skeletons[0] & skeletons[1])
    assert scores.recall == n_both / len(skeletons[0])


@pytest.mark.parametrize("name", ["asia_500", "sachs_800", "alarm_1000", "insurance_1000"])
def test_edits_of_the_best_known_graphs(name):
    best = reference.read_json("best_known.json")[name]
    true = reference.graph(name.split("_")[0], "true")
    learned = nx.DiGraph()
    learned.add_nodes_from(true)
    learned.add_edges_from(map(tuple, best["best_graph"]))
    assert metrics.edit_distance(true, learned) == best["edits_of_best_to_truth"]


def test_empty_graphs():
    empty, full = nx.DiGraph(), nx.DiGraph([("a", "b")])
    empty.add_nodes_from("ab")
    assert metrics.skeleton_scores(empty, empty) == (1, 1, 1)
    assert metrics.skeleton_scores(full, empty) == (1, 0, 0)
    assert metrics.skeleton_scores(empty, full) == (0, 1, 0)


def test_networks_stand_for_their_graphs():
    asia = structures.load("asia")
    assert metrics.shd(asia, asia.graph) == metrics.edit_distance(asia.graph, asia) == 0


def test_mappings_give_one_value_per_task():
    chain, fork = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a"), ("b", "c")])
    true = {"south": chain, "north": fork}
    learned = {"north": fork, "south": fork}
    edits = metrics.edit_distance(true, learned)
    assert isinstance(edits, pd.Series)
    assert edits.to_dict() == {"south": 1, "north": 0}
    assert metrics.shd(true, learned).tolist() == [0, 0]
    scores = metrics.skeleton_scores(true, learned)
    assert list(scores.columns) == ["precision", "recall", "f1"]
    assert list(scores.index) == ["south", "north"]


def test_mistakes_are_named():
    ab, ac = nx.DiGraph([("a", "b")]), nx.DiGraph([("a", "c")])
    with pytest.raises(ValueError, match="only `true` has `b` and only `learned` has `c`"):
        metrics.shd(ab, ac)
    with pytest.raises(ValueError, match=r"^Task `x`: `true` must have .* variables as `learned`"):
        metrics.edit_distance({"x": ab}, {"x": ac})
    with pytest.raises(ValueError, match="same tasks as `learned`; only one of them has `y`"):
        metrics.shd({"x": ab, "y": ab}, {"x": ab})
    with pytest.raises(TypeError, match="`learned` must be a mapping"):
        metrics.shd({"x": ab}, ab)
    with pytest.raises(TypeError, match=r"`learned` must be a networkx.DiGraph"):
        metrics.skeleton_scores(ab, [("a", "b")])
    with pytest.raises(ValueError, match="`reversal` must be 1 or 2, got 3"):
        metrics.edit_distance(ab, ab, reversal=3)


def test_kl_divergence_approaches_the_exact_value():
    graph = nx.DiGraph([("a", "b")])
    states = {"a": ("0", "1"), "b": ("0", "1")}
    true = BayesNet(graph, states, {"a": [0.3, 0.7], "b": [[0.9, 0.1], [0.2, 0.8]]})
    learned = BayesNet(graph, states, {"a": [0.5, 0.5], "b": [[0.6, 0.4], [0.5, 0.5]]})
    joint, other = (n.table("a")[:, None] * n.table("b") for n in (true, learned))
    exact = np.sum(joint * np.log(joint / other))
    estimate = metrics.kl_divergence(true, learned, true.sample(200_000, random_state=1))
    assert estimate == pytest.approx(exact, abs=0.005)
    entropy = -np.sum(joint * np.log(joint))
    mean = metrics.mean_log_likelihood(true, true.sample(200_000, random_state=2))
    assert mean == pytest.approx(-entropy, abs=0.005)


def test_kl_divergence_of_the_impossible():
    single = nx.DiGraph()
    single.add_node("a")
    sure = BayesNet(single, {"a": ("0", "1")}, {"a": [1, 0]})
    open_ = BayesNet(single, {"a": ("0", "1")}, {"a": [0.5, 0.5]})
    frame = pd.DataFrame({"a": [0, 1]})
    assert metrics.kl_divergence(open_, sure, frame) == np.inf
    with pytest.raises(ValueError, match="under which 1 of its rows are impossible"):
        metrics.kl_divergence(sure, open_, frame)
    with pytest.raises(ValueError, match="`frame` must have rows"):
        metrics.mean_log_likelihood(sure, frame.iloc[:0])
    with pytest.raises(TypeError, match="`network` must be a BayesNet, got DiGraph"):
        metrics.mean_log_likelihood(single, frame)


def test_likelihoods_of_mappings():
    asia = structures.load("asia")
    frame = asia.sample(50, random_state=0)
    single = metrics.mean_log_likelihood(asia, frame)
    networks, frames = {"x": asia, "y": asia}, {"x": frame, "y": frame}
    assert metrics.mean_log_likelihood(networks, frames).to_dict() == {"x": single, "y": single}
    assert metrics.kl_divergence(networks, networks, frames).to_dict() == {"x": 0, "y": 0}
