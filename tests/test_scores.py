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

from bnmtl import AIC, BIC, K2, BDeu, BDs, LogLikelihood, MixedDirichlet, SingleTaskLearner
from bnmtl._kernels import counting, terms
from bnmtl.scores import CONCENTRATIONS, decomposable
from bnmtl.tasks import encode

SCORES = [BDeu(), BDeu(10.0), BDs(), BDs(3.5), K2(), BIC(), AIC(), LogLikelihood()]
SCORES += [MixedDirichlet(), MixedDirichlet((0.3, 2.0))]
EQUIVALENT = [score for score in SCORES if score.is_score_equivalent]
by_name = pytest.mark.parametrize("score", SCORES, ids=repr)


@st.composite
def tables(draw, most_variables=4, most_rows=30):
    """A frame of categorical columns, some declared states never occurring."""
    n = draw(st.integers(1, most_variables))
    n_rows = draw(st.integers(2, most_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = {}
    for v in range(n):
        arity = draw(st.integers(2, 4))
        codes = rng.integers(0, draw(st.integers(1, arity)), n_rows)
        states = [f"s{x}" for x in range(arity)]
        columns[f"v{v}"] = pd.Categorical.from_codes(codes, states)
    return pd.DataFrame(columns)


def encode_quietly(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return encode({"t": frame})["t"]


def states_of(frame):
    return {column: list(frame[column].cat.categories) for column in frame}


@settings(max_examples=examples(30))
@given(tables(), st.sampled_from(SCORES), st.data())
def test_local_score_equals_the_formula(frame, score, data):
    child, *others = data.draw(st.permutations(list(frame)))
    parents = others[: data.draw(st.integers(0, len(others)))]
    rows = frame.astype(str).to_dict("records")
    expected = naive.local_score(score, child, parents, rows, states_of(frame))
    assert score.local_score(child, parents, frame) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def pairs_of_columns(n):
    """Twelve rows of n + 1 columns with two states."""
    codes = np.random.default_rng(0).integers(0, 2, (4, n + 1))[
        [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    ]
    codes[:, -1] = [0, 1, 1] * 4
    return pd.DataFrame(
        {f"v{at}": pd.Categorical.from_codes(codes[:, at], ["no", "yes"]) for at in range(n + 1)}
    )


@by_name
@pytest.mark.parametrize("n_parents", [40, 64, 130])
def test_families_of_more_cells_than_integers_have_their_scores(score, n_parents):
    """Cells are counted as rows have them: no code of a row and no array has their number."""
    frame = pairs_of_columns(n_parents)
    *parents, child = frame
    expected = naive.local_score(
        score, child, parents, frame.astype(str).to_dict("records"), states_of(frame)
    )
    found = score.local_score(child, parents, frame)
    weighted = score.local_score(child, parents, frame, weights=np.ones(len(frame)))
    assert [found, weighted] == pytest.approx([expected] * 2, rel=1e-9, abs=1e-9)


def test_families_of_more_cells_than_floats_are_refused():
    states = [f"s{at:02d}" for at in range(100)]
    frame = pairs_of_columns(150).apply(lambda column: pd.Categorical(["s01"] * 12, states))
    *parents, child = frame
    with pytest.raises(ValueError) as caught:
        BDeu().local_score(child, parents, frame)
    assert str(caught.value) == (
        "`parents` must have at most 1e+300 joint states with `v150`; there are 150 parents: "
        "name fewer."
    )


@pytest.mark.parametrize("c", [0.01, 1.0, 100.0, 999.0, 1e3, 1e5])
def test_differences_of_log_gammas_are_sums_of_logarithms(c):
    """Also for large pseudo-counts, where subtracting two log gammas loses up to nine digits."""
    for a in (c, 2 * c, 20 * c, 256 * c):
        for n in (0, 1, 2, 7, 100, 3000):
            expected = naive.log_rising(a, n)
            for log_rising in (terms.log_rising, decomposable.log_rising):
                found = log_rising(a, n)
                assert found == pytest.approx(expected, rel=1e-13, abs=1e-10 if a < 1000 else 1e-11)


@pytest.mark.parametrize("score", [MixedDirichlet(), MixedDirichlet((1e5,))], ids=repr)
def test_rows_that_are_alone_are_equally_likely_states(score):
    """The evidence of one row is 1 / r under every concentration, and errors would add up."""
    n, r = 10_000, 250
    pairs = {"a": np.arange(n) // 200, "b": np.arange(n) % 200, "child": np.arange(n) % r}
    states = [str(code) for code in range(r)]
    frame = pd.DataFrame({v: pd.Categorical.from_codes(x, states) for v, x in pairs.items()})
    for weights in (None, np.ones(n)):
        found = score.local_score("child", ["a", "b"], frame, weights)
        assert found == pytest.approx(-n * np.log(r), rel=1e-12)


@pytest.mark.slow_without_jit
def test_many_rows_of_equally_likely_states_have_no_arcs():
    """The largest concentration, once 100, decides: six columns had three to five false arcs."""
    rng = np.random.default_rng([0, 0])
    states = [f"s{x}" for x in range(8)]
    codes = rng.integers(0, 8, (6, 20_000))
    frame = pd.DataFrame({f"x{v}": pd.Categorical.from_codes(codes[v], states) for v in range(6)})
    found = [
        SingleTaskLearner(score=score, random_state=0).fit({"t": frame}).configuration_["t"]
        for score in (MixedDirichlet(), MixedDirichlet(CONCENTRATIONS[:9]))
    ]
    assert CONCENTRATIONS[8] == 100
    assert not found[0].edges and found[1].edges


@settings(max_examples=examples(40))
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


@settings(max_examples=examples(40))
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


@settings(max_examples=examples(40))
@given(tables(), st.sampled_from(SCORES), st.data())
def test_gains_are_differences_of_local_scores(frame, score, data):
    task = encode_quietly(frame)
    bound = score.bind(task)
    n = task.n_variables
    child = data.draw(st.integers(0, n - 1))
    parents = sorted(data.draw(st.sets(st.integers(0, n - 1))) - {child})
    gains = bound.gains(child, parents)
    current = bound.local_score(child, parents)
    assert gains[child] == current
    for v in set(range(n)) - {child}:
        toggled = bound.local_score(child, set(parents) ^ {v})
        assert gains[v] == pytest.approx(toggled - current, rel=1e-9, abs=1e-9)


def routes(score, task, child, parents):
    """A local score counted at once, as one more parent of a smaller family, and from the cache."""
    yield score.bind(task).local_score(child, parents)
    for last in parents:
        bound = score.bind(task)
        bound.gains(child, sorted(set(parents) - {last}))
        yield bound.local_score(child, parents)
        assert bound.bound.asked > bound.bound.computed


@settings(max_examples=examples(40))
@given(tables(), st.sampled_from(SCORES))
def test_a_local_score_is_the_same_to_the_last_bit_by_whatever_route(frame, score):
    task = encode_quietly(frame)
    assert len(set(routes(score, task, 0, list(range(1, task.n_variables))))) == 1


@by_name
def test_long_sums_are_the_same_to_the_last_bit_by_whatever_route(score):
    task = encode_quietly(reference.frame("insurance"))
    for child, parents in [(3, [5, 9]), (20, [1, 12, 25]), (11, [0]), (4, [1, 2, 3, 6, 17])]:
        assert len(set(routes(score, task, child, parents))) == 1


@settings(max_examples=examples(30))
@given(tables(), st.sampled_from([BDeu(), BDeu(10.0), LogLikelihood()]))
def test_graphs_of_one_class_tie_exactly(frame, score):
    """Not only within rounding: a complete graph has the same score whatever its order."""
    task = encode_quietly(frame)
    bound = score.bind(task)
    n = task.n_variables
    forward = np.triu(np.ones((n, n), dtype=bool), 1)
    assert bound.score(forward) == pytest.approx(bound.score(forward.T), rel=1e-14, abs=1e-12)
    for child in range(n):
        for parent in set(range(n)) - {child}:
            assert bound.gains(child, [])[parent] == bound.gains(parent, [])[child]


@settings(max_examples=examples(30))
@given(tables(most_rows=80), st.integers(1, 4), st.data())
def test_partitions_hold_the_rows_of_every_cell(frame, times, data):
    """By intersecting bit sets and by sorting: the same cells, each with its rows."""
    repeated = frame.loc[np.repeat(frame.index, times)]
    task = encode_quietly(with_numbers(repeated))
    child, *parents = data.draw(st.permutations(range(frame.shape[1])))
    parents = np.array(sorted(parents), np.int64)
    expected = naive.cells(task.codes, child, parents)
    bound = BDeu().bind(task)
    engine = bound.engine
    assert engine.weight_at[0] == -1
    with bound.scratch() as scratch:
        for way in (counting.part, counting.part_by_sorting):
            n_cells = way(engine.table, 0, child, parents, len(parents), scratch.table)
            found = [rows_of_cell(scratch, cell) for cell in range(n_cells)]
            assert found == list(expected.values())
            firsts = [key[0] for key in expected]
            opens = [at == 0 or firsts[at] != firsts[at - 1] for at in range(n_cells)]
            assert scratch.opens[: n_cells + 1].tolist() == [*opens, True]


def with_numbers(frame):
    """A last column in which rows differ so much that equal ones are not merged."""
    number = np.arange(len(frame)) % 200
    return frame.reset_index(drop=True).assign(zz=pd.Categorical(number))


def rows_of_cell(scratch, cell):
    """Row numbers of one cell, from its bit set or its list."""
    size, begin = scratch.sizes[cell], scratch.bits_at[cell]
    if begin < 0:
        rows = scratch.order[scratch.rows_at[cell] : scratch.rows_at[cell] + size].tolist()
    else:
        bits = np.unpackbits(scratch.bits[begin:].view(np.uint8), bitorder="little")
        rows = np.flatnonzero(bits).tolist()[:size]
    return sorted(rows)


@pytest.mark.parametrize("n_rows", [448, 449, 704, 720, 768, 1000])
def test_memory_for_the_largest_task_holds_the_partitions_of_smaller_ones(n_rows):
    """Cells of a smaller task may have bit sets from fewer rows on; one row a cell needs most."""
    room = counting.new_partition(n_rows)["bits"].size
    for n_smaller in range(1, n_rows + 1):
        n_words = -(-n_smaller // 64)
        fewest = max(n_words // counting.WORDS_PER_ROW, 1)
        assert (n_smaller // fewest + 1) * n_words <= room, n_smaller


@by_name
def test_merged_rows_score_as_the_rows_themselves(score):
    """To the last bit: rows that repeat often are stored once, with a weight."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (400, 4)).astype(str), columns=list("abcd"))
    task = encode_quietly(frame)
    merged = score.bind(task)
    assert merged.engine.weight_at[0] == 0
    assert merged.engine.n_rows[0] == 16
    plain = score.bind(encode_quietly(with_numbers(frame)))
    assert plain.engine.weight_at[0] == -1
    for child, parents in [(0, []), (1, [0]), (2, [0, 1, 3])]:
        assert merged.local_score(child, parents) == plain.local_score(child, parents)
        assert np.array_equal(merged.gains(child, parents), plain.gains(child, parents)[:-1])


@pytest.mark.slow_without_jit
def test_a_full_cache_forgets_but_never_errs():
    """With room for few tables the scores stay what they are, and are counted more often."""
    task = encode_quietly(reference.frame("insurance"))
    small, large = (BDeu().bind_all([task], cache_size=size).of(0) for size in (0.0, 200.0))
    for _ in range(2):
        for child in range(task.n_variables):
            for parent in range(task.n_variables - 1):
                parents = [parent] if parent < child else [parent + 1]
                assert np.array_equal(small.gains(child, parents), large.gains(child, parents))
    assert small.bound.asked == large.bound.asked
    assert small.bound.computed > 1.5 * large.bound.computed


def test_the_cache_grows_with_what_is_asked():
    task = encode_quietly(reference.frame("insurance"))
    bound = BDeu().bind(task)
    before = bound.engine.cache.size
    for child in range(task.n_variables):
        for parent in set(range(task.n_variables)) - {child}:
            bound.gains(child, [parent])
    computed = bound.bound.computed
    assert bound.engine.cache.size > before
    bound.gains(5, [3])
    assert bound.bound.computed == computed


def test_families_beyond_the_largest_table_are_left_out_and_named():
    task = encode_quietly(reference.frame("insurance"))
    bound = BDeu().bind_all([task], max_cells=30).of(0)
    gains = bound.gains(0, [1])
    sizes = task.arities[0] * task.arities[1] * task.arities
    assert (np.isnan(gains[2:]) == (sizes[2:] > 30)).all()
    first = 2 + int(np.flatnonzero(sizes[2:] > 30)[0])
    assert bound.bound.left_out == [task.variables[v] for v in (0, first, 1)]


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
    bound = score.bind_all([encode_quietly(frame)], max_cells=np.inf).of(0)
    gain = bound.local_score(6, [0, 1, 2, 4]) - bound.local_score(6, [0, 1, 2])
    assert bound.gains(6, [0, 1, 2])[4] == pytest.approx(gain, rel=1e-9)


@settings(max_examples=examples(30))
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


@pytest.mark.parametrize("size", [0, -1, float("nan"), float("inf"), 1e10, "1", None])
def test_an_equivalent_sample_size_out_of_range_is_refused(size):
    frame = pd.DataFrame({"a": list("xxy")})
    for score in [BDeu(size), BDs(size)]:
        error = TypeError if size in ("1", None) else ValueError
        with pytest.raises(error, match="`equivalent_sample_size` must be a number above 0 and at"):
            score.local_score("a", [], frame)


def test_only_the_columns_of_the_family_count():
    frame = pd.DataFrame({0: list("xxyy"), 1: list("uvvv"), "x": np.arange(4) / 3, "gap": None})
    named = frame[[0, 1]].set_axis(["0", "1"], axis="columns")
    for score in (BDeu(), K2(), BIC()):
        alone, together = (score.local_score("0", parents, named) for parents in ([], ["1"]))
        assert score.local_score(0, [], frame) == alone
        assert score.local_score(0, [1], frame) == together
        graph = nx.DiGraph([(1, 0)])
        assert score.score(graph, frame) == score.local_score(1, [], named) + together
        assert score.score(nx.DiGraph(), frame) == 0


def test_the_largest_sample_size_is_scored_right():
    """Then every cell is as probable as any other, whatever the data."""
    frame = pd.DataFrame({"a": list("xy") * 30})
    assert BDeu(1e9).local_score("a", [], frame) == pytest.approx(60 * np.log(1 / 2), abs=1e-4)


def test_families_that_do_not_fit_the_frame_are_refused():
    frame = pd.DataFrame({"a": list("xxy"), "b": list("uvv")})
    with pytest.raises(ValueError, match="`c` is missing"):
        BDeu().local_score("a", ["c"], frame)
    with pytest.raises(ValueError, match="`c` is missing"):
        BDeu().score(nx.DiGraph([("a", "c")]), frame)
    with pytest.raises(ValueError, match="`frame`: column `b` must have no missing values; fill"):
        BDeu().local_score("a", ["b"], frame.replace("u", None))
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
        with pytest.raises(ValueError, match=r"finite and at least 0; row 2 has (-1.0|nan)"):
            BDeu().local_score("a", [], frame, weights=weights)
    with pytest.raises(ValueError, match="must not all be 0"):
        BDeu().local_score("a", [], frame, weights=[0, 0, 0])


def test_the_frame_is_left_as_it_was():
    frame = pd.DataFrame({"a": list("xxy"), "b": [1, 2, 1]})
    before = frame.copy(deep=True)
    BDeu().score(nx.DiGraph([("a", "b")]), frame)
    pd.testing.assert_frame_equal(frame, before)
