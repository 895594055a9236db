"""Iterated search over orders of the variables, each improved by moving one variable at a time."""

import numpy as np

from bnmtl._kernels import climbing, dags, orders, trees
from bnmtl._kernels.scoring import ASKED
from bnmtl.search.graph_state import new_dag

# Nodes of the trees for every variable, and at most.
NODES_PER_VARIABLE = 512
MOST_NODES = 1 << 19
# A kick displaces up to this many variables.
MOST_MOVES = 3


def search(state, rng, budget, n_starts=1, iterations=20, report=None):
    """Search from random orders, each followed by iterations from the best graph it has led to.

    Parameters
    ----------
    state : GraphState
        Changed in place; ends in the best graph found.
    rng : numpy.random.Generator
    budget : Budget
    n_starts : int
        The first start is an order of the state's own graph, the others are random.
    iterations : int
        Iterations without a better score that end a start.
    report : callable (done, total, score), default=None
        Called after every start.

    Returns
    -------
    float
        The score of the best graph.
    """
    walk = _Walk(state, rng)
    with state.scores.scratch() as scratch:
        for start in range(n_starts):
            if budget.spent(scratch.counters[ASKED]):
                break
            walk.run(scratch, budget, iterations, is_random=start > 0)
            if report is not None:
                report(start + 1, n_starts, walk.score)
        dags.copy_dag(walk.best.table, state.dag.table)
    return state.score


class _Walk:
    """The memory of one search, and the best graph of all its starts."""

    def __init__(self, state, rng):
        n = state.scores.n_variables
        self.state = state
        self.best = new_dag(n)
        self.random = np.array([rng.integers(1, 2**63)], np.uint64)
        self._own, self._dag = new_dag(n), new_dag(n)
        self._tree = trees.new_tree(n, min(NODES_PER_VARIABLE * n, MOST_NODES))
        self._order, self._position, self._turns = np.zeros((3, n), np.int64)
        self._scores = np.zeros(n)
        self._adjacency = np.zeros((n, n), dtype=bool)
        dags.copy_dag(state.dag.table, self.best.table)

    @property
    def score(self):
        """Of the best graph."""
        return float(dags.total_score(self.state.task.table, self.best.table))

    def run(self, scratch, budget, iterations, is_random):
        """One start: from the state's own graph or from the graph of the required arcs."""
        task, own = self.state.task, self._own
        dags.copy_dag(self.state.dag.table, own.table)
        if is_random:
            climbing.start_at(own.table, task.table, scratch.table, task.required)
        orders.draw_extension(own.table, scratch.table, self._order, self.random)
        orders.search_from(*self._arguments(scratch), own.table, self.random, budget.limit)
        waited = 0
        while waited < iterations and not budget.spent(scratch.counters[ASKED]):
            gain = orders.iterate(
                *self._arguments(scratch),
                self._dag.table,
                own.table,
                self.random,
                MOST_MOVES,
                budget.limit,
            )
            waited = 0 if gain > task.tolerance[0] else waited + 1
            self.state.scores.keep_up(scratch)
        if dags.total_score(task.table, own.table) > self.score + task.tolerance[0]:
            dags.copy_dag(own.table, self.best.table)

    def _arguments(self, scratch):
        return (
            self.state.scores.engine.table,
            scratch.table,
            self.state.task.table,
            self._tree.table,
            self._order,
            self._position,
            self._scores,
            self._turns,
            self._adjacency,
        )
