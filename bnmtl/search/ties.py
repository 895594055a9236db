"""Ties between scores: definition, winners, and the choice among equally good graphs."""

import networkx as nx
import numpy as np

from bnmtl._kernels import climbing
from bnmtl._kernels.scoring import ASKED
from bnmtl.graphs import adjacency, from_adjacency, label_edges
from bnmtl.search.hill_climbing import hill_climb
from bnmtl.seeding import name_hash


def tolerance(empty_score):
    """Smallest difference of scores that counts; rounding grows with the score of the empty graph.

    Parameters
    ----------
    empty_score : float
        Score of the configuration without arcs, in nats.
    """
    return max(1e-9, 1e-12 * abs(empty_score))


class Ties:
    """Seeded order of pairs of variables, and of the variables for the direction within each.

    Both depend only on the seed and the two names, not on the order of columns or other variables.

    Parameters
    ----------
    variables : sequence of str
    seed : int
    tolerance : float
        Scores that differ by at most this value tie.

    Attributes
    ----------
    keys : int64 array of shape (n, n)
        Symmetric; among tied pairs the smallest key wins.
    coins : bool array of shape (n, n)
        [a, b] is true if a -> b wins against b -> a, that is, if a comes first in a random order.
        Such coins close no cycle, so several can be followed at once.
    arc_keys : int64 array of shape (n, n)
        A random number for each arc; their exclusive or identifies a graph.
    """

    def __init__(self, variables, seed, tolerance):
        self.tolerance = tolerance
        hashes = np.array([name_hash(seed, variable) for variable in variables], np.uint64)
        low = np.minimum.outer(hashes, hashes)
        high = np.maximum.outer(hashes, hashes)
        self.keys = _mixed(low ^ _mixed(high)).view(np.int64)
        self.coins = np.less.outer(hashes, hashes)
        self.arc_keys = _mixed(_mixed(hashes)[:, None] ^ hashes).view(np.int64)

    def best(self, values):
        """Indices of the values that tie with the largest."""
        values = np.asarray(values)
        return np.flatnonzero(values >= values.max() - self.tolerance).tolist()

    def ranked(self, values):
        """Indices of all values in decreasing order; ties keep their order."""
        left, ranks = list(range(len(values))), []
        while left:
            ranks.append(left.pop(self.best([values[at] for at in left])[0]))
        return ranks

    def oriented(self, gains, i, j):
        """Gains of the states of a pair, with tied directions resolved by its coin.

        Parameters
        ----------
        gains : float array of shape (k, 3)
            Columns -1 (j -> i), 0, +1 (i -> j).
        i, j : int

        Returns
        -------
        float array of shape (k, 3)
            If the two directions of a task tie, the favored one keeps the value and the other gets
            it minus the tolerance, so that rounding does not orient an arc.
        """
        favored, other = (2, 0) if self.coins[i, j] else (0, 2)
        # Two illegal directions differ by nan, which is not a tie.
        with np.errstate(invalid="ignore"):
            tied = np.abs(gains[:, 0] - gains[:, 2]) <= self.tolerance
        oriented = gains.copy()
        oriented[tied, other] = oriented[tied, favored] - self.tolerance
        return oriented


def _mixed(values):
    """Scramble 64-bit integers (the finalizer of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def break_ties(state, budget):
    """Let the ties choose the final graph of a search within its equivalence class.

    This is the representative of the class, so that tasks with the same class get the same graph.
    If constraints forbid it, or the score is not the same within a class, single arcs that can be
    reversed without loss follow the coins instead.

    Parameters
    ----------
    state : GraphState
        Changed in place to a local optimum that is at least as good.
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
    """Use the representative if that is possible without loss; whether it was."""
    before, found = state.score, state.adjacency.copy()
    # The rank of a variable is the number of variables before it.
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
    """Whether a graph meets the constraints and has no family that is too large."""
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

    Compelled arcs are kept. The remaining graph is chordal, and maximum cardinality search visits
    each of its connected components (Tarjan & Yannakakis 1984): next comes the variable with the
    most visited neighbors, and among ties the one with the lowest rank. Arcs point from earlier to
    later visits, which creates no new collider and no cycle.

    Parameters
    ----------
    matrix : bool array of shape (n, n)
        Adjacency of a DAG, [parent, child].
    ranks : array of shape (n,)
        Distinct.

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
