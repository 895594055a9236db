"""Evidence of families whose tables tasks may share: values, naive twin, laws, many tasks."""

import ctypes
import math

import naive_tables
import numpy as np
import pytest
import reference
from budget import NO_JIT, examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.special import beta
from shared import counted

from bnmtl._kernels import all_sets, groups, scoring, task_sets, terms
from bnmtl._kernels._jit import Arrays
from bnmtl._kernels.all_sets import EXACT_ROW, PROBABLE_ROW
from bnmtl.scores.bound import BoundTasks
from bnmtl.tasks import Task

CONCENTRATIONS = (0.01, 0.05, 0.2, 0.5, 1.0)
GRIDS = (CONCENTRATIONS, (20.0,), (1e3, 1e5))
TS = (0.1, 0.5, 2.0, 10.0)
PARTS = 0.5


def task_of(name, counts, order=None):
    """A task with a parent "p" and a child "y" that has these counts, by row and state."""
    counts = np.asarray(counts)
    rows = [(j, k) for (j, k), n in np.ndenumerate(counts) for _ in range(n)]
    codes = np.array(rows, np.uint8).reshape(-1, 2).T
    if order is not None:
        codes = codes[:, np.random.default_rng(order).permutation(codes.shape[1])]
    states = tuple(tuple(map(str, range(n))) for n in counts.shape)
    return Task(name, ("p", "y"), states, np.ascontiguousarray(codes))


def bound_of(counts, concentrations=CONCENTRATIONS, ts=TS, order=None, parts=PARTS):
    """The tasks that have rows, bound to the score."""
    tasks = [task_of(f"t{s}", table, order) for s, table in enumerate(counts) if np.sum(table)]
    grids = {"concentrations": concentrations, "partitions": ts, "part_concentration": parts}
    return BoundTasks(tasks, terms.MIXTURE, 1.0, **grids)


def evidence(counts, concentrations=CONCENTRATIONS, ts=TS, order=None, parts=PARTS):
    """Evidence of the family over all tasks that have rows."""
    bound = bound_of(counts, concentrations, ts, order, parts)
    return bound.evidence(1, [0], range(len(bound.positions))) / bound.scale


@pytest.mark.parametrize("case", reference.sharing()["cases"])
def test_values_of_plain_code(case):
    assert evidence(case["counts"], parts=None) == pytest.approx(case["evidence"], abs=2e-8)
    bound = bound_of(case["counts"])
    with_rows = [s for s, table in enumerate(case["counts"]) if np.sum(table)]
    for at, s in enumerate(with_rows):
        alone = case["evidence_of_each_task_alone"][s]
        assert bound.evidence(1, [0], [at]) / bound.scale == pytest.approx(alone, abs=2e-8)


@settings(max_examples=examples(60))
@given(
    counted(),
    st.sampled_from([TS, (0.02, 5.0)]),
    st.sampled_from(GRIDS),
    st.sampled_from([None, PARTS, 3.0]),
)
def test_naive_twin(counts, ts, concentrations, parts):
    expected = naive_tables.shared_evidence(counts.tolist(), concentrations, ts, parts)
    found = evidence(counts, concentrations, ts, parts=parts)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-9)


# Flat in some tasks and steep in others; few counts, three states.
FLAT_AND_STEEP = [
    [[30, 25], [20, 30]],
    [[100, 0], [5, 95]],
    [[25, 25], [30, 25]],
    [[90, 5], [0, 85]],
]
FEW = [
    [[3, 0, 1], [0, 0, 2]],
    [[1, 1, 0], [4, 0, 0]],
    [[0, 0, 0], [2, 2, 1]],
    [[9, 0, 0], [0, 7, 0]],
]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (FLAT_AND_STEEP, (-76.28303083, -102.49031862, -178.65116389, -204.34806292)),
        (FEW, (-6.15243774, -11.8075288, -19.20258832, -24.39707878)),
    ],
)
def test_values_of_part_concentrations(counts, expected):
    """Values of one to four tasks, by enumeration of labelings in plain code with scipy."""
    found = [evidence(counts[:n]) for n in range(1, 5)]
    assert found == pytest.approx(expected, abs=2e-8)


@settings(max_examples=examples(30))
@given(counted())
def test_part_concentrations_cost_at_most_log_2(counts):
    common = evidence(counts, parts=None)
    assert evidence(counts) >= common - math.log(2) - 1e-9
    # A single value of both concentrations is every part's own.
    common, mixed = (evidence(counts, (0.5,), (1e-30,), parts=one) for one in (None, 1e-30))
    assert mixed == pytest.approx(common, abs=1e-6)


def test_part_concentrations_gain_where_tables_are_flat_in_some_tasks_and_steep_in_others():
    gain = evidence(FLAT_AND_STEEP) - evidence(FLAT_AND_STEEP, parts=None)
    assert gain > 1
    alike = [FLAT_AND_STEEP[1]] * 4
    assert -math.log(2) <= evidence(alike) - evidence(alike, parts=None) < 0


def test_tasks_without_rows_change_nothing():
    """Nor do they count towards the largest number of tasks with concentrations of their own."""
    tasks = [task_of(f"t{s}", table) for s, table in enumerate(FLAT_AND_STEEP)]
    empty = [task_of(f"e{s}", [[0, 0], [0, 0]]) for s in range(groups.MOST_EXACT)]
    few, many = (
        BoundTasks(rows, terms.MIXTURE, 1.0, concentrations=CONCENTRATIONS, partitions=TS)
        for rows in (tasks, [*empty[:4], *tasks, *empty[4:]])
    )
    expected = few.evidence(1, [0], range(4)) / few.scale
    found = many.evidence(1, [0], range(4 + groups.MOST_EXACT)) / many.scale
    assert found == pytest.approx(expected, abs=1e-9)
    found = many.evidence(1, [0], [0, 4, 5, 6, 7]) / many.scale
    assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=examples(30))
@given(counted(), st.data())
def test_one_task_is_the_score_without_sharing(counts, data):
    bound = bound_of(counts)
    s = data.draw(st.integers(0, len(counts) - 1))
    assert bound.evidence(1, [0], [s]) / bound.scale == bound.of(s).local_score(1, [0])
    # Without any family the child's own rows are shared.
    assert bound.evidence(1, [], [s]) / bound.scale == bound.of(s).local_score(1, [])


@settings(max_examples=examples(30))
@given(counted(), st.integers(0, 9))
def test_order_of_tasks_and_rows_does_not_matter(counts, seed):
    order = np.random.default_rng(seed).permutation(len(counts))
    assert evidence(counts[order]) == pytest.approx(evidence(counts), abs=1e-9)
    assert evidence(counts, order=seed) == evidence(counts)


@settings(max_examples=examples(30))
@given(counted(most_tasks=4, most_rows=3))
def test_where_a_task_has_no_rows_it_is_not_there(counts):
    counts = np.concatenate([counts, np.ones_like(counts[:, :1])], axis=1)
    counts[-1, 0] = 0
    parts = [counts[: len(counts) - 1, :1], counts[:, 1:]]
    # At one pair of concentrations rows of the table are independent of each other.
    one = {"concentrations": (0.5,), "ts": (2.0,), "parts": None}
    by_parts = sum(evidence(part, **one) for part in parts if part.sum())
    assert evidence(counts, **one) == pytest.approx(by_parts, abs=1e-9)


@settings(max_examples=examples(30))
@given(counted())
def test_a_row_that_no_task_has_seen_contributes_nothing(counts):
    more = np.concatenate([counts, np.zeros_like(counts[:, :1])], axis=1)
    assert evidence(more) == evidence(counts)


@settings(max_examples=examples(30))
@given(counted(), st.sampled_from(CONCENTRATIONS))
def test_limits_of_the_concentration_of_partitions(counts, c):
    separate = sum(
        naive_tables.dirichlet_evidence(row, c)
        for table in counts.tolist()
        for row in table
        if sum(row)
    )
    assert evidence(counts, (c,), (1e30,)) == pytest.approx(separate, abs=1e-6)
    merged = sum(naive_tables.dirichlet_evidence(row, c) for row in counts.sum(axis=0).tolist())
    assert evidence(counts, (c,), (1e-30,), parts=None) == pytest.approx(merged, abs=1e-6)


@pytest.mark.parametrize("counts", [((3, 1), (2, 2)), ((0, 5), (4, 1)), ((1, 0), (0, 1))])
def test_two_tasks_are_the_integral_over_their_probabilities(counts):
    (a, b), (d, e) = counts
    c, t = 0.7, 1.5

    def prior(p):
        return (p * (1 - p)) ** (c - 1) / beta(c, c)

    same = quad(lambda p: p ** (a + d) * (1 - p) ** (b + e) * prior(p), 0, 1)[0]
    different = dblquad(
        lambda p, o: p**a * (1 - p) ** b * o**d * (1 - o) ** e * prior(p) * prior(o), 0, 1, 0, 1
    )[0]
    expected = math.log(same / (1 + t) + different * t / (1 + t))
    found = evidence(np.array(counts)[:, None], (c,), (t,), parts=None)
    assert found == pytest.approx(expected, abs=1e-6)


def test_rows_that_are_merged_count_as_often_as_they_are_there():
    counts = np.array([[[90, 10], [5, 200]], [[1, 2], [3, 1]]])
    bound = bound_of(counts)
    assert bound.engine([0, 1], np.arange(2)).weight_at.tolist() == [0, -1]
    expected = naive_tables.shared_evidence(counts.tolist(), CONCENTRATIONS, TS, PARTS)
    assert bound.evidence(1, [0], [0, 1]) / bound.scale == pytest.approx(expected, rel=1e-12)


def test_families_of_many_configurations_are_numbered_by_rank():
    rng = np.random.default_rng(0)
    k, n_rows, n = 3, 40, 12
    states = tuple(tuple(map(str, range(4))) for _ in range(n))
    names = tuple(f"v{at:02d}" for at in range(n))
    codes = [rng.integers(0, 4, (n, n_rows)).astype(np.uint8) for _ in range(k)]
    # Some rows are the same in two tasks, or there would be nothing to share.
    codes[1][:, :20] = codes[0][:, :20]
    tasks = [Task(f"t{s}", names, states, task_codes) for s, task_codes in enumerate(codes)]
    bound = BoundTasks(
        tasks, terms.MIXTURE, 1.0, concentrations=CONCENTRATIONS, partitions=TS, max_cells=10**9
    )
    parents = list(range(1, n))
    rows = sorted({tuple(row) for task_codes in codes for row in task_codes[1:].T.tolist()})
    counts = np.zeros((k, len(rows), 4), int)
    for s, task_codes in enumerate(codes):
        for child, *row in task_codes.T.tolist():
            counts[s, rows.index(tuple(row)), child] += 1
    expected = naive_tables.shared_evidence(counts.tolist(), CONCENTRATIONS, TS, PARTS)
    assert bound.evidence(0, parents, range(k)) / bound.scale == pytest.approx(expected, rel=1e-10)


def log_evidence(callback, rows, concentrations, ts):
    """Evidence of rows by one of the callbacks, each row an array of counts by task and state."""
    k, r = len(rows[0]), len(rows[0][0])
    bound, scale = bound_of([[[1, 0]]], concentrations, ts), 2.0**30
    engine = bound.up_to_date(bound.whole)
    method = engine.method.copy()
    method[scoring.SCALE] = scale
    engine = engine.replaced(method=method)
    shared = [0] * k, r, len(ts)
    scratch = scoring.new_scratch(2, 1, int(np.sum(rows)), len(concentrations), shared)
    for row in rows:
        row = row[row.sum(axis=1) > 0]
        scratch.counts[: len(row)] = row
        call(callback, engine.table, scratch.table, len(row), r, all_sets._FULL)
    return np.logaddexp.reduce(scratch.totals / scale) - math.log(len(scratch.totals))


def call(callback, engine, scratch, *numbers):
    """Call what kernels call by its address."""
    if NO_JIT:
        callback._function(engine, scratch, *numbers)
        return
    word, table = ctypes.c_int64, ctypes.c_void_p
    function = ctypes.CFUNCTYPE(None, table, table, word, word, word)(callback.address)
    function(engine.ctypes.data, scratch.ctypes.data, *numbers)


@st.composite
def many_counts(draw, most_tasks=6):
    """A row of counts up to 100,000 by task and state, most of them in one state."""
    k, r = draw(st.integers(2, most_tasks)), draw(st.integers(2, 4))
    number = st.one_of(st.integers(0, 3), st.integers(0, 17).map(lambda power: 3 * 2**power // 4))
    counts = np.array(draw(st.lists(number, min_size=k * r, max_size=k * r))).reshape(k, r)
    counts[:, 0] += counts.sum(axis=1) == 0
    return counts


# Under a large concentration tasks with nearly sure states gain thousands of nats in one group, and
# the others none.
SURE = [[4000, 0, 0], [4000, 0, 0], [0, 4000, 0], [1300, 1400, 1300], [9, 0, 4000], [0, 2, 5]]


@settings(max_examples=examples(60))
@given(many_counts(), st.sampled_from([(100.0,), (20.0,), (1.0, 1e5)]))
@example(np.array(SURE), (100.0,))
@example(20 * np.array(SURE), (1e5,))
def test_naive_twin_of_many_counts(row, concentrations):
    counts = row[:, None].tolist()
    expected = naive_tables.shared_evidence(counts, concentrations, TS)
    for callback in (EXACT_ROW, PROBABLE_ROW):
        if len(row) < 4 or callback is EXACT_ROW:
            found = log_evidence(callback, with_more_tasks([row]), concentrations, TS)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-6)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("n_cases", [100, 4000])
def test_sets_of_tasks_are_scored_as_each_by_itself(n_cases):
    counts = np.array([SURE, np.roll(SURE, 1, axis=0)]).transpose(1, 0, 2) * n_cases // 4000
    ts = (0.1, 2.0)
    for concentrations, parts in (((0.05, 1.0), None), ((0.05, 1.0), PARTS), ((100.0,), PARTS)):
        bound = bound_of(counts, concentrations, ts, parts=parts)
        k = len(bound.positions)
        engine, held = bound.up_to_date(bound.whole), np.zeros((k, 2, 2), dtype=bool)
        may = np.broadcast_to(~np.eye(2, dtype=bool), held.shape)
        memory = task_sets.new_task_sets(may, np.zeros(held.shape), 1 << k)
        memory = Arrays(task_sets.TASK_SETS, **memory)
        with bound.scratch(np.arange(2)) as scratch:
            task_sets.refresh_child(engine.table, scratch.table, memory.table, held, 1)
        values = memory.with_it
        for group in range(1, 1 << k):
            members = [s for s in range(k) if group >> s & 1]
            member_counts = counts[members].tolist()
            expected = naive_tables.shared_evidence(member_counts, concentrations, ts, parts)
            assert values[group] / bound.scale == pytest.approx(expected, rel=1e-9)


def rows_of(kind, n_rows, n_cases, k, seed):
    """Rows of tables that tasks have in common, share by halves or have for themselves."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_rows):
        tables = rng.dirichlet(np.ones(3), size=k)
        if kind != "own":
            tables = tables[[s % (1 if kind == "common" else 2) for s in range(k)]]
        sizes = rng.poisson(n_cases / n_rows, size=k)
        rows.append(np.array([rng.multinomial(n, p) for n, p in zip(sizes, tables, strict=True)]))
    return [row for row in rows if row.sum()]


def with_more_tasks(rows):
    """Tasks without counts beside the others, so that there is memory for both ways."""
    return [np.pad(row, ((0, groups.MOST_EXACT + 1 - len(row)), (0, 0))) for row in rows]


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("kind", ["common", "by halves", "own"])
@pytest.mark.parametrize(("n_rows", "n_cases"), [(8, 100), (40, 60), (4, 1000)])
def test_probable_partitions_are_near_to_all_of_them(kind, n_rows, n_cases):
    off = []
    for seed in range(9):
        rows = with_more_tasks(rows_of(kind, n_rows, n_cases, 6, seed))
        exact = log_evidence(EXACT_ROW, rows, CONCENTRATIONS, TS)
        near = log_evidence(PROBABLE_ROW, rows, CONCENTRATIONS, TS)
        off.append(abs(near - exact))
    assert np.median(off) < 0.1
    assert max(off) < 0.5


def test_few_partitions_are_all_of_them():
    """While no partition has to be left out the two ways are the same."""
    for k in (1, 2, 3):
        rows = with_more_tasks(rows_of("by halves", 4, 12, k, 0))
        exact = log_evidence(EXACT_ROW, rows, CONCENTRATIONS, TS)
        near = log_evidence(PROBABLE_ROW, rows, CONCENTRATIONS, TS)
        assert near == pytest.approx(exact, abs=1e-6)


@pytest.mark.slow_without_jit
def test_fifty_tasks():
    counts = np.stack([rows_of("common", 3, 30, 50, seed=3)[j] for j in range(3)], axis=1)
    value = evidence(counts)
    separate = sum(
        naive_tables.shared_evidence([one], CONCENTRATIONS, TS) for one in counts.tolist()
    )
    merged = naive_tables.shared_evidence([counts.sum(axis=0).tolist()], CONCENTRATIONS, TS)
    # Alike tables are worth more together, though not all that one table would be worth.
    assert separate < value < merged
    order = np.random.default_rng(0).permutation(50)
    assert evidence(counts[order]) == pytest.approx(value, abs=1e-9)
    # A task without counts in a row is not there in that row.
    counts[7, 0] = 0
    counts[7, 1, 0] += 1
    without = [np.delete(counts, 7, axis=0)[:, :1], counts[:, 1:]]
    by_parts = sum(evidence(part, (0.5,), (2.0,)) for part in without)
    assert evidence(counts, (0.5,), (2.0,)) == pytest.approx(by_parts, abs=1e-9)
