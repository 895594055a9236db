"""Which of several equally good graphs a search ends with: the seeded order of the ties chooses."""

import networkx as nx
import numpy as np

from bnmtl._kernels import climbing
from bnmtl._kernels.scoring import ASKED
from bnmtl.graphs import adjacency, from_adjacency, label_edges
from bnmtl.search.hill_climbing import hill_climb


def break_ties(state, budget):
    """Leave to the ties which graph of its class the end of a search is.

    That is the class's representative, so that tasks whose classes are the same get the same graph.
    Where demands do not allow it, or the score does not treat a class alike, single arcs that may
    be turned round without loss follow the coins instead.

    Parameters
    ----------
    state : GraphState
        Changed in place; ends in a local optimum that is at least as good.
    budget : Budget
    """
    tolerance = state.task.tolerance[0]
    with state.scores.scratch() as scratch:
        while not budget.spent(scratch.counters[ASKED]):
            before = state.score
            if not _take_representative(state):
                climbing.follow_coins(
                    state.scores.engine.table, scratch.table, state.task.table, state.dag.table
                )
            hill_climb(state, scratch, budget)
            if state.score <= before + tolerance:
                return


def _take_representative(state):
    """Whether the representative may be taken without loss; it is then."""
    before, found = state.score, state.adjacency.copy()
    # A variable's rank is the number of those that come before it.
    chosen = representative(found, state.task.coins.sum(axis=1))
    if (chosen == found).all():
        return True
    if not _is_allowed(state, chosen):
        return False
    state.reset(chosen)
    if state.score >= before - state.task.tolerance[0]:
        return True
    state.reset(found)
    return False


def _is_allowed(state, matrix):
    """Whether a graph meets the demands and has no family that is too large."""
    constraints, engine = state.constraints, state.scores.engine
    if (matrix & ~constraints.permitted & ~constraints.required).any():
        return False
    if (constraints.required & ~matrix).any() or matrix.sum(axis=0).max() > constraints.max_parents:
        return False
    for member, usable in zip(state.scores.members.tolist(), state.scores.usable, strict=True):
        held = matrix & usable
        cells = engine.arities * np.where(held, engine.arities[:, None], 1.0).prod(axis=0)
        if (cells[held.any(axis=0)] > engine.most_cells[member]).any():
            return False
    return True


def representative(matrix, ranks):
    """The graph of the same equivalence class whose reversible arcs follow a given order.

    Compelled arcs stay. What is left of the class is chordal, and each connected part of it is
    visited by maximum cardinality search (Tarjan & Yannakakis 1984): next comes the variable with
    the most visited neighbors, of several the one of lowest rank. Arcs point from what is visited
    earlier to what is visited later, which makes no new collider and no cycle.

    Parameters
    ----------
    matrix : bool array of shape (n, n)
        Adjacency of a DAG, [parent, child].
    ranks : array of shape (n,)
        All different.

    Returns
    -------
    bool array of shape (n, n)
        The same for every graph of the class.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.array([[False, True], [False, False]])
    >>> representative(matrix, [5, 3]).astype(int).tolist()
    [[0, 0], [1, 0]]
    """
    graph = from_adjacency(matrix, range(len(matrix)))
    compelled = label_edges(graph)
    free, chosen = nx.Graph(), nx.DiGraph()
    free.add_edges_from(arc for arc in graph.edges if arc not in compelled)
    chosen.add_edges_from(compelled)
    for part in nx.connected_components(free):
        waiting = dict.fromkeys(part, 0)
        while waiting:
            node = min(waiting, key=lambda v: (-waiting[v], ranks[v]))
            del waiting[node]
            for neighbor in free[node]:
                if neighbor in waiting:
                    chosen.add_edge(node, neighbor)
                    waiting[neighbor] += 1
    return adjacency(chosen, range(len(matrix)))
