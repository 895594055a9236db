"""Exact search: the graph of the highest score, by dynamic programming over sets of variables."""

import numpy as np

from bnmtl._kernels import subsets as kernels
from bnmtl._kernels.scoring import ASKED, KIND, by_set

MOST_VARIABLES = 20
# Rows looked at by a walk after which it returns, so that clocks are read and interrupts heard.
ROWS_BETWEEN_LOOKS = 20_000_000


def search(state, budget, report=None):
    """Find a graph that no other exceeds under the score and the constraints.

    Parameters
    ----------
    state : GraphState
        Changed in place; ends in the best graph, or stays as it is if the budget ends the search.
    budget : Budget
    report : callable (done, total, score), default=None
        Called after every part of the work, with the score of the state's own graph until the end.

    Returns
    -------
    float
        The score of the graph that the state ends in.

    Raises
    ------
    ValueError
        If more than `MOST_VARIABLES` variables may have arcs: memory and time double with each.

    References
    ----------
    Silander & Myllymaki (2006), "A simple approach for finding the globally optimal Bayesian
    network structure".
    """
    arcs = state.constraints.permitted | state.constraints.required
    variables = np.flatnonzero(arcs.any(axis=0) | arcs.any(axis=1))
    if len(variables) > MOST_VARIABLES:
        raise ValueError(
            f"`search='exact'` takes up to {MOST_VARIABLES} variables that vary, got "
            f"{len(variables)}; use search='orders'."
        )
    if not len(variables):
        return state.score
    work = _Work(state, variables)
    with state.scores.scratch() as scratch:
        for done in work.steps(scratch, budget):
            if budget.spent(scratch.counters[ASKED]):
                return state.score
            if report is not None:
                report(done, work.total, state.score)
    state.reset(work.best_graph())
    if report is not None:
        report(work.total, work.total, state.score)
    return state.score


class _Work:
    """What is to be done for the best graph, in parts.

    Attributes
    ----------
    total : int
        Sets of variables, those of one task after those of the other.
    """

    def __init__(self, state, variables):
        engine = state.scores.engine
        self._state = state
        self._by_set = by_set(int(engine.method[KIND]))
        self._subsets = kernels.new_subsets(variables, engine.arities[variables], engine.method)
        self._n_sets = len(self._subsets.cells)
        self.total = len(state.task.members) * self._n_sets

    def steps(self, scratch, budget):
        """Do the work, and yield how much is done after each part of it."""
        task, subsets = self._state.task, self._subsets
        for i in range(len(subsets.variables)):
            kernels.start_scores(task.table, subsets.table, i)
            yield 0
        for member in range(len(task.members)):
            before = member * self._n_sets
            if self._by_set:
                for done in self._walk(scratch, member):
                    yield before + done
            for done in self._add_scores(scratch, budget, member):
                yield before + (self._n_sets if self._by_set else done)
        for own in subsets.scores:
            kernels.take_best(own)
            yield self.total

    def best_graph(self):
        """Adjacency of the best graph over all variables, once the work is done."""
        best = self._subsets.scores
        totals, sinks = np.empty(self._n_sets), np.zeros(self._n_sets, np.uint8)
        kernels.find_sinks(best, totals, sinks)
        matrix = np.zeros(self._state.adjacency.shape, dtype=bool)
        kernels.read_graph(best, sinks, self._subsets.variables, matrix)
        return matrix

    def _walk(self, scratch, member):
        """Fill the tables of one task; yields the number of sets that are done with."""
        task, subsets, scores = self._state.task, self._subsets, self._state.scores
        s = task.members[member]
        walk = kernels.new_walk(subsets, scores.engine, s)
        kernels.choose_tables(scores.engine.table, task.table, subsets.table, member)
        arguments = (scores.engine.table, scratch.table, subsets.table, walk.table, s)
        kernels.start_walk(*arguments)
        is_over = False
        while not is_over:
            yield int(walk.at[kernels.DONE])
            is_over = kernels.walk_on(*arguments, ROWS_BETWEEN_LOOKS)

    def _add_scores(self, scratch, budget, member):
        """Add one task's local scores; yields the share of sets that this comes to."""
        task, subsets, scores = self._state.task, self._subsets, self._state.scores
        m, n_families = subsets.scores.shape
        for i, child in enumerate(subsets.variables.tolist()):
            if scores.engine.code_at[task.members[member], child] < 0:
                continue
            first = 0
            while first < n_families:
                first = kernels.add_scores(
                    scores.engine.table,
                    scratch.table,
                    task.table,
                    subsets.table,
                    member,
                    i,
                    first,
                    budget.pause(scratch),
                )
                yield self._n_sets * (i * n_families + first) // (m * n_families)
