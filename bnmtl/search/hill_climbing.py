"""Hill climbing over the graphs of one task, with a tabu list of graphs and restarts."""

from collections import deque

import numpy as np

from bnmtl._kernels import moves
from bnmtl.search.graph_state import random_changes


def hill_climb(state, ties):
    """Change one arc at a time, the best change first, until none improves the score.

    Parameters
    ----------
    state : GraphState
        Changed in place.
    ties : Ties
    """
    while True:
        a, b, kind, gain = moves.best_change(
            state.toggles,
            state.adjacency,
            state.may_add(),
            state.may_remove,
            ties.keys,
            ties.coins,
            ties.tolerance,
        )
        if kind < 0 or gain <= ties.tolerance:
            return
        state.set_pair(a, b, kind)


def tabu_search(state, ties, length):
    """Walk on from a local optimum without returning to the last graphs, then climb from the best.

    The best change is made even if it loses, unless it leads to one of the last ``length`` graphs
    visited; after ``length`` changes without a new best score the walk ends.

    Parameters
    ----------
    state : GraphState
        Changed in place; ends in a local optimum that is at least as good.
    ties : Ties
    length : int
        0 does nothing.
    """
    best, best_matrix = state.score, state.adjacency.copy()
    visited = deque([best_matrix], maxlen=length)
    waited = 0
    while waited < length:
        may_add, may_remove = _without_visited(state, visited)
        a, b, kind, _ = moves.best_change(
            state.toggles,
            state.adjacency,
            may_add,
            may_remove,
            ties.keys,
            ties.coins,
            ties.tolerance,
        )
        if kind < 0:
            break
        state.set_pair(a, b, kind)
        visited.append(state.adjacency.copy())
        waited += 1
        if state.score > best + ties.tolerance:
            best, best_matrix, waited = state.score, visited[-1], 0
    if not np.array_equal(state.adjacency, best_matrix):
        state.reset(best_matrix)
    hill_climb(state, ties)


def _without_visited(state, visited):
    """What may be set and removed now, less the changes that lead back to a visited graph."""
    may_add, may_remove = state.may_add(), state.may_remove.copy()
    for matrix in visited:
        apart = np.argwhere(matrix != state.adjacency)
        pairs = {(min(a, b), max(a, b)) for a, b in apart.tolist()}
        if len(pairs) != 1:
            continue
        a, b = pairs.pop()
        if matrix[a, b]:
            may_add[a, b] = False
        elif matrix[b, a]:
            may_add[b, a] = False
        else:
            may_remove[a, b] = may_remove[b, a] = False
    return may_add, may_remove


def search(state, ties, rng, restarts=100, perturb=10, tabu=10, report=None):
    """Hill climbing with a tabu walk, then restarts from the best graph with random changes.

    Parameters
    ----------
    state : GraphState
        Changed in place; ends in the best graph found.
    ties : Ties
    rng : numpy.random.Generator
    restarts : int
        How often the best graph so far is changed at random and climbed from again.
    perturb : int
        Random legal changes of one arc each, per restart.
    tabu : int
        Length of the tabu list, and changes without improvement that end a tabu walk.
    report : callable (done, total, score), default=None
        Called after every climb.

    Returns
    -------
    float
        The score of the best graph.
    """
    hill_climb(state, ties)
    tabu_search(state, ties, tabu)
    best, best_matrix = state.score, state.adjacency.copy()
    for done in range(1, restarts + 1):
        if report is not None:
            report(done, restarts + 1, best)
        state.reset(random_changes(best_matrix, state.constraints, rng, perturb))
        hill_climb(state, ties)
        tabu_search(state, ties, tabu)
        if state.score > best + ties.tolerance:
            best, best_matrix = state.score, state.adjacency.copy()
    state.reset(best_matrix)
    if report is not None:
        report(restarts + 1, restarts + 1, best)
    return best
