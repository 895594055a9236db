"""Scores: their laws over the one list of all scores, naive twins, and R bnlearn's values."""

import warnings

import naive
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl import AIC, BIC, K2, BDeu, BDs, LogLikelihood
from bnmtl._kernels import scoring
from bnmtl.tasks import encode

SCORES = [BDeu(), BDeu(10.0), BDs(), BDs(3.5), K2(), BIC(), AIC(), LogLikelihood()]
EQUIVALENT = [score for score in SCORES if not isinstance(score, (K2, BDs))]
by_name = pytest.mark.parametrize("score", SCORES, ids=repr)


@st.composite
def tables(draw, most_variables=4, most_rows=30):
    """A frame of categorical columns, some declared states never occurring."""
    n = draw(st.integers(1, most_variables))
    n_rows = draw(st.integers(2, most_rows))
    columns = {}
    for v in range(n):
        arity = draw(st.integers(2, 4))
        codes = draw(st.lists(st.integers(0, arity - 1), min_size=n_rows, max_size=n_rows))
        states = [f"s{x}" for x in range(arity)]
        columns[f"v{v}"] = pd.Categorical.from_codes(codes, states)
    return pd.DataFrame(columns)


def encode_quietly(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return encode({"t": frame})["t"]


def states_of(frame):
    return {column: list(frame[column].cat.categories) for column in frame}


@settings(max_examples=examples(150))
@given(tables(), st.sampled_from(SCORES), st.data())
def test_local_score_equals_the_formula(frame, score, data):
    child, *others = data.draw(st.permutations(list(frame)))
    parents = others[: data.draw(st.integers(0, len(others)))]
    rows = frame.astype(str).to_dict("records")
    expected = naive.local_score(score, child, parents, rows, states_of(frame))
    assert score.local_score(child, parents, frame) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@settings(max_examples=examples(100))
@given(tables(), st.sampled_from(SCORES), st.data())
def test_weights_are_repetitions(frame, score, data):
    counts = data.draw(
        st.lists(st.integers(0, 3), min_size=len(frame), max_size=len(frame)).filter(
            lambda counts: sum(counts) >= 2
        )
    )
    child, *parents = frame
    repeated = frame.loc[np.repeat(frame.index, counts)]
    assert score.local_score(child, parents, frame, weights=counts) == pytest.approx(
        score.local_score(child, parents, repeated), rel=1e-12, abs=1e-12
    )


@settings(max_examples=examples(100))
@given(tables(), st.sampled_from(SCORES), st.randoms(use_true_random=False))
def test_row_and_parent_order_do_not_matter_to_the_last_bit(frame, score, random):
    child, *parents = frame
    order = list(range(len(frame)))
    random.shuffle(order)
    shuffled = list(parents)
    random.shuffle(shuffled)
    assert score.local_score(child, parents, frame) == score.local_score(
        child, shuffled, frame.iloc[order]
    )


@settings(max_examples=examples(100))
@given(tables(), st.sampled_from(SCORES), st.data())
def test_toggles_equal_local_scores_to_the_last_bit(frame, score, data):
    """However a family is reached, by adding, by removing or directly, its score is the same."""
    task = encode_quietly(frame)
    bound = score.bind(task)
    n = task.n_variables
    child = data.draw(st.integers(0, n - 1))
    parents = tuple(sorted(data.draw(st.sets(st.integers(0, n - 1))) - {child}))
    toggled = bound.toggles(child, parents)
    assert toggled[child] == bound.local_score(child, parents)
    for v in set(range(n)) - {child}:
        assert toggled[v] == bound.local_score(child, set(parents) ^ {v})


@by_name
def test_toggles_of_real_rows_equal_local_scores_to_the_last_bit(score):
    """Long sums, in which any other order of the configurations would show."""
    task = encode_quietly(reference.frame("insurance"))
    bound = score.bind(task)
    for child, parents in [(3, (5, 9)), (20, (1, 12, 25)), (11, (0,))]:
        toggled = bound.toggles(child, parents)
        for v in set(range(task.n_variables)) - {child}:
            assert toggled[v] == bound.local_score(child, set(parents) ^ {v})


@settings(max_examples=examples(100))
@given(tables(), st.sampled_from(SCORES))
def test_counting_by_sorting_equals_counting_into_a_table_to_the_last_bit(frame, score):
    task = encode_quietly(frame)
    n = task.n_variables
    weights = np.arange(task.n_rows) % 3 * 0.5
    arguments = (
        task.codes,
        weights,
        task.arities,
        0,
        np.arange(1, n),
        score._kind,
        float(score._sample_size),
        weights.sum(),
    )
    assert scoring.sorted_score(*arguments) == scoring.family_score(*arguments)


@by_name
def test_families_of_many_states_are_scored_without_laying_out_their_table(score):
    """Twelve parents of 200 states have 200^12 configurations; the rows are only 50."""
    rng = np.random.default_rng(1)
    names = [f"v{v:02}" for v in range(13)]
    frame = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(
                rng.integers(0, 2, 50) * 199, [str(x) for x in range(200)]
            )
            for name in names
        }
    )
    rows = frame.astype(str).to_dict("records")
    expected = naive.local_score(score, names[6], names[:6] + names[7:], rows, states_of(frame))
    found = score.local_score(names[6], names[:6] + names[7:], frame)
    assert found == pytest.approx(expected, rel=1e-9)
    bound = score.bind(encode_quietly(frame))
    assert bound.toggles(6, (0, 1, 2))[4] == bound.local_score(6, (0, 1, 2, 4))


@settings(max_examples=examples(60))
@given(tables(most_variables=3), st.sampled_from(EQUIVALENT))
def test_equivalent_graphs_score_alike(frame, score):
    """Reversing a covered arc leaves a score-equivalent score as it is."""
    names = list(frame)
    if len(names) < 2:
        return
    forward = nx.DiGraph([(names[0], names[1])])
    backward = nx.DiGraph([(names[1], names[0])])
    for extra in names[2:]:
        forward.add_edges_from([(extra, names[0]), (extra, names[1])])
        backward.add_edges_from([(extra, names[0]), (extra, names[1])])
    assert score.score(forward, frame) == pytest.approx(score.score(backward, frame), rel=1e-10)


def test_k2_and_bds_are_not_equivalent():
    frame = pd.DataFrame({"a": list("xxxyyz"), "b": list("uuvuvv")})
    for score in [K2(), BDs()]:
        forward = score.score(nx.DiGraph([("a", "b")]), frame)
        backward = score.score(nx.DiGraph([("b", "a")]), frame)
        if isinstance(score, BDs):
            # All configurations occur here, where BDs is BDeu.
            assert forward == pytest.approx(backward)
            frame["b"] = pd.Categorical(frame["b"], ["u", "v", "w"])
            forward = score.score(nx.DiGraph([("a", "b")]), frame)
            backward = score.score(nx.DiGraph([("b", "a")]), frame)
        assert abs(forward - backward) > 1e-3


@by_name
def test_score_is_the_sum_of_its_families(score):
    frame = reference.frame("asia")
    for name in ("true", "random0", "empty"):
        graph = reference.graph("asia", name)
        families = (score.local_score(v, list(graph.predecessors(v)), frame) for v in graph)
        assert score.score(graph, frame) == pytest.approx(sum(families), rel=1e-12)


def test_declared_states_count_even_where_they_never_occur():
    frame = pd.DataFrame({"a": list("xxy"), "b": list("uvv")})
    wider = frame.assign(a=pd.Categorical(frame["a"], ["x", "y", "z"]))
    assert BIC().local_score("a", [], wider) < BIC().local_score("a", [], frame)
    assert BIC().local_score("b", ["a"], wider) < BIC().local_score("b", ["a"], frame)


BNLEARN = {
    "bde1": BDeu(),
    "bde10": BDeu(10.0),
    "bds1": BDs(),
    "k2": K2(),
    "bic": BIC(),
    "aic": AIC(),
    "loglik": LogLikelihood(),
}


@pytest.mark.parametrize("network", ["asia", "sachs", "alarm", "insurance"])
def test_scores_equal_those_of_bnlearn(network):
    """R bnlearn 5.2.1, `score(g, d, type = ...)`; see reference/README.md."""
    frame = reference.frame(network)
    entries = [entry for entry in reference.bnlearn_results() if entry["network"] == network]
    assert len(entries) == 5
    for entry in entries:
        for key, score in BNLEARN.items():
            found = score.score(reference.graph(network, entry["graph"]), frame)
            assert found == pytest.approx(entry["scores"][key], rel=1e-8), (entry["graph"], key)


@pytest.mark.parametrize("size", [0, -1, float("nan"), float("inf"), "1", None])
def test_an_equivalent_sample_size_out_of_range_is_refused(size):
    frame = pd.DataFrame({"a": list("xxy")})
    for score in [BDeu(size), BDs(size)]:
        with pytest.raises(ValueError, match="`equivalent_sample_size` must be a finite number"):
            score.local_score("a", [], frame)


def test_families_that_do_not_fit_the_frame_are_refused():
    frame = pd.DataFrame({"a": list("xxy"), "b": list("uvv")})
    with pytest.raises(ValueError, match="'c' is missing"):
        BDeu().local_score("a", ["c"], frame)
    with pytest.raises(ValueError, match="`parents` must be distinct"):
        BDeu().local_score("a", ["b", "b"], frame)
    with pytest.raises(ValueError, match="without the child"):
        BDeu().local_score("a", ["a"], frame)
    with pytest.raises(ValueError, match="acyclic"):
        BDeu().score(nx.DiGraph([("a", "b"), ("b", "a")]), frame)
    with pytest.raises(TypeError, match="`parents` must be an iterable of variables"):
        BDeu().local_score("a", "b", frame)
    with pytest.raises(TypeError, match="`weights` must be 3 numbers"):
        BDeu().local_score("a", [], frame, weights="x")
    with pytest.raises(ValueError, match="`weights` must be 3 numbers"):
        BDeu().local_score("a", [], frame, weights=[1, 1])
    for weights in [[1, 1, -1], [1, 1, np.nan]]:
        with pytest.raises(ValueError, match=r"finite and at least 0, got (-1.0|nan) for row 2"):
            BDeu().local_score("a", [], frame, weights=weights)
    with pytest.raises(ValueError, match="must not all be 0"):
        BDeu().local_score("a", [], frame, weights=[0, 0, 0])


def test_the_frame_is_left_as_it_was():
    frame = pd.DataFrame({"a": list("xxy"), "b": [1, 2, 1]})
    before = frame.copy(deep=True)
    BDeu().score(nx.DiGraph([("a", "b")]), frame)
    pd.testing.assert_frame_equal(frame, before)
