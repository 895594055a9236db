"""Which graph of a class a search ends with."""

import naive
import numpy as np
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import dags, problem_of, random_frame, state_of

from bnmtl import K2, ArcPrior
from bnmtl.graphs import cpdag, from_adjacency
from bnmtl.search.graph_state import Budget
from bnmtl.search.hill_climbing import search
from bnmtl.search.ties import break_ties, representative


def class_of(matrix):
    """The arcs of the CPDAG, which identify the class."""
    return frozenset(cpdag(from_adjacency(matrix, range(len(matrix)))).edges)


@pytest.mark.parametrize("seed", range(3))
def test_a_class_has_one_representative_which_is_in_it(seed):
    ranks = np.random.default_rng(seed).permutation(4)
    chosen = {}
    for matrix in naive.all_dags(4):
        found = representative(matrix, ranks)
        assert class_of(found) == class_of(matrix)
        assert (chosen.setdefault(class_of(matrix), found) == found).all()
    assert len(chosen) == 185


def test_a_tree_points_away_from_its_first_variable():
    chain = np.zeros((4, 4), dtype=bool)
    chain[[0, 1, 2], [1, 2, 3]] = True
    found = representative(chain, [2, 1, 0, 3])
    assert np.argwhere(found).tolist() == [[1, 0], [2, 1], [2, 3]]


@settings(max_examples=examples(60))
@given(dags(), st.integers(0, 10**6), st.sampled_from(["none", "arc", "limit", "prior", "K2"]))
def test_breaking_ties_loses_nothing_and_keeps_constraints(matrix, seed, constraint):
    n = len(matrix)
    frame = random_frame(seed, n)
    arcs = [(f"v{a}", f"v{b}") for a, b in np.argwhere(matrix)]
    limit = max(1, int(matrix.sum(axis=0).max()))
    problem = problem_of(
        frame,
        score=K2() if constraint == "K2" else None,
        structure_prior=ArcPrior(0.2) if constraint == "prior" else None,
        max_parents=limit if constraint == "limit" else None,
        required=arcs[:1] if constraint == "arc" else (),
    )
    state = state_of(problem, seed, matrix)
    before = state.score
    break_ties(state, Budget())
    assert state.score >= before - 1e-9
    change = problem.log_posterior(state.adjacency) - problem.log_posterior(matrix)
    assert state.score - before == pytest.approx(change, abs=1e-8)
    assert naive.is_dag(state.adjacency)
    assert not (problem.constraints.required & ~state.adjacency).any()
    assert state.adjacency.sum(axis=0).max() <= problem.constraints.max_parents


@settings(max_examples=examples(20))
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_the_end_is_the_same_for_all_graphs_of_a_class(seed, n):
    """From a local optimum, whichever graph of its class it is, if all graphs of it are."""
    problem = problem_of(random_frame(seed, n))
    state = state_of(problem, seed)
    search(state, np.random.default_rng(seed), Budget(), restarts=20)
    best, best_class = state.score, class_of(state.adjacency)
    ends = set()
    for matrix in naive.all_dags(n) if n < 5 else [state.adjacency.copy()]:
        if class_of(matrix) == best_class:
            state = state_of(problem, seed, matrix)
            break_ties(state, Budget())
            if state.score <= best + 1e-9:
                ends.add(state.adjacency.tobytes())
    assert len(ends) <= 1


def test_arcs_that_constraints_leave_free_follow_the_coins():
    """v0 -> v1 is required against the order; the other two arcs can still follow it."""
    frame = random_frame(0, 4, n_rows=500)
    for seed in range(8):
        state = state_of(problem_of(frame, required=[("v0", "v1")]), seed)
        coins = state.task.coins.T.copy()
        state.reset(state.constraints.required)
        search(state, np.random.default_rng(seed), Budget(), restarts=20)
        break_ties(state, Budget())
        gains = state.toggles
        for a, b in np.argwhere(state.adjacency & ~state.constraints.required):
            turned = gains[a, b] + gains[b, a]
            assert abs(turned) > 1e-9 or coins[a, b] or not state.may_set(b, a)
