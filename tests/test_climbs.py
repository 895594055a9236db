"""Climbs between improvements of orders: parts merged, rows copied, some arcs looked at."""

import naive
import numpy as np
import pandas as pd
import pytest
from budget import NO_JIT, examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from searches import agrees_with_its_arcs, may_set, problem_of, random_frame, state_of

from bnmtl import ArcPrior
from bnmtl._kernels import climbing
from bnmtl._kernels import dags as kernels
from bnmtl.search import orders
from bnmtl.search.graph_state import NO_LIMIT, Budget, by_child, new_dag


def random_graph(rng, n, density=0.3):
    """A DAG of a random order."""
    place = rng.permutation(n)
    return (rng.random((n, n)) < density) & (place[:, None] < place)


def dag_reset_to(state, matrix):
    """The graph of a state set to a matrix, with its gains, in memory of its own."""
    state.reset(matrix)
    dag = new_dag(len(matrix))
    kernels.copy_dag(state.dag.table, dag.table)
    return dag


@settings(max_examples=examples(80))
@given(st.integers(0, 10**6), st.integers(1, 9), st.sampled_from([-1e-9, 1e-9, 2.0]))
def test_the_better_parts_of_two_graphs_are_merged(seed, n, least):
    rng = np.random.default_rng(seed)
    problem = problem_of(random_frame(seed, n), structure_prior=ArcPrior(0.2))
    state = state_of(problem, seed)
    first, second = random_graph(rng, n), random_graph(rng, n)
    # Parts that are not changed lie between parts that are.
    second = np.where(rng.random(n) < 0.6, second, first)
    assume(naive.is_dag(second))
    local_scores = [
        [
            state.scores.local_score(v, np.flatnonzero(matrix[:, v]))
            + state.task.odds[v][matrix[:, v]].sum()
            for v in range(n)
        ]
        for matrix in (first, second)
    ]
    expected = naive.merged(first, second, np.subtract(local_scores[1], local_scores[0]), least)
    memory, merged = climbing.new_merge(n), np.zeros((n, n), dtype=bool)
    dags = dag_reset_to(state, first), dag_reset_to(state, second)
    found = climbing.merge(
        memory.table, state.task.table, dags[0].table, dags[1].table, least, merged
    )
    assert found == (expected != first).any()
    if found:
        assert (expected == merged.T).all()


def test_a_part_that_closes_a_cycle_is_left_as_it_is():
    """In either graph all gain, but an arc of one would close a cycle with the others' arcs."""
    columns = random_frame(0, 1, 200)["v0"]
    state = state_of(problem_of(pd.DataFrame({f"v{v}": columns for v in range(4)})))
    first, second = (np.zeros((4, 4), dtype=bool) for _ in range(2))
    first[[0, 2, 3], [1, 3, 0]] = True
    second[[0, 1, 2], [1, 2, 3]] = True
    memory, merged = climbing.new_merge(4), np.zeros((4, 4), dtype=bool)
    dags = dag_reset_to(state, first), dag_reset_to(state, second)
    assert not climbing.merge(
        memory.table, state.task.table, dags[0].table, dags[1].table, 1e-9, merged
    )


@settings(max_examples=examples(40))
@given(st.integers(0, 10**6), st.integers(2, 7), st.floats(0, 1))
def test_restarts_that_look_at_part_of_the_arcs_leave_a_whole_graph(seed, n, looked_at):
    """Rows that are copied or skipped are those that scoring again gives; scores never fall."""
    rng = np.random.default_rng(seed)
    problem = problem_of(random_frame(seed, n, 40), max_parents=3)
    start = random_graph(rng, n)
    state = state_of(problem, seed, start & (np.cumsum(start, axis=0) <= 3))
    best, dag, spare = (new_dag(n) for _ in range(3))
    kernels.copy_dag(state.dag.table, best.table)
    assert kernels.total_score(state.task.table, best.table) == state.score
    random, marks = np.array([seed + 1], np.uint64), np.zeros(3, np.int64)
    with state.scores.scratch() as scratch:
        for _ in range(5):
            before = kernels.total_score(state.task.table, best.table)
            permitted = state.task.permitted & (rng.random((n, n)) < looked_at)
            better = climbing.restart(
                *(state.scores.engine.table, scratch.table, state.task.table),
                *(state.task.replaced(permitted=permitted).table, dag.table, best.table),
                *(spare.table, state.in_pairs, random, 3, marks, NO_LIMIT),
            )
            kernels.copy_dag(best.table, state.dag.table)
            assert (state.score > before + 1e-9) == better
            agrees_with_its_arcs(state)
            fresh = state_of(problem, seed, state.adjacency.copy())
            assert np.array_equal(state.dag.gains, fresh.dag.gains, equal_nan=True)
            assert state.dag.scores.tolist() == fresh.dag.scores.tolist()
            is_open = may_set(state).T & ~state.dag.held & ~state.dag.held.T
            open_gains = np.where(is_open, state.dag.gains, -np.inf)
            assert (open_gains.max(axis=1) <= state.dag.bounds).all()


def test_arcs_into_changed_children_are_all_looked_at():
    state = state_of(problem_of(random_frame(0, 4), forbidden=[("v1", "v2")]))
    narrow = state.task.replaced(permitted=np.zeros((4, 4), dtype=bool))
    with state.scores.scratch() as scratch:
        scratch.touched[:4] = [False, False, True, False]
        climbing.look_at_touched(scratch.table, state.task.table, narrow.table)
    assert by_child(narrow.permitted).nonzero()[1].tolist() == [2, 2]
    assert by_child(narrow.permitted).nonzero()[0].tolist() == [0, 3]


CONSTRAINTS = [
    {},
    {"required": [("v0", "v1"), ("v1", "v3")]},
    {"forbidden": [("v0", "v1"), ("v1", "v0")], "max_parents": 2},
    {"tiers": [["v2"], ["v0", "v1"]]},
]


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("seed", range(1 if NO_JIT else 3))
def test_large_graphs_are_searched_as_small_ones_are(constraints, seed, monkeypatch):
    """Less is looked at, and what is found is legal, scored right and as good."""
    problem = problem_of(random_frame(seed, 6, 80), **constraints)
    found = []
    for large in (64, 2):
        monkeypatch.setattr(orders, "LARGE", large)
        state = state_of(problem, seed)
        orders.search(state, np.random.default_rng(seed), Budget(), n_starts=3, iterations=10)
        found.append(state.score)
        limits = problem.constraints
        assert naive.is_dag(state.adjacency)
        assert not (state.adjacency & ~limits.permitted & ~limits.required).any()
        assert not (limits.required & ~state.adjacency).any()
        assert state.score == pytest.approx(problem.log_posterior(state.adjacency), rel=1e-12)
    assert found[1] == pytest.approx(found[0], abs=1e-6)


@pytest.mark.parametrize(
    ("n", "starts", "iterations"),
    [(0, 5, 40), (37, 5, 40), (100, 5, 40), (101, 4, 40), (223, 2, 35), (251, 1, 31), (9000, 1, 1)],
)
def test_effort_by_variables(n, starts, iterations):
    assert (orders.starts_of(n), orders.iterations_of(n)) == (starts, iterations)
    assert (orders.starts_of(n, 7), orders.iterations_of(n, 0)) == (7, 0)
