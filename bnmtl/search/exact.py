"""Exact search: the graph with the highest score, by dynamic programming over sets."""

from itertools import chain

import numpy as np

from bnmtl._kernels import sharing
from bnmtl._kernels import subsets as kernels
from bnmtl._kernels.scoring import ASKED, KIND, by_set
from bnmtl.errors import InputError

MOST_VARIABLES = 20
# Rows after which a walk over sets returns to check the clock and interrupts.
ROWS_BETWEEN_PAUSES = 20_000_000


def search(state, budget, report=None):
    """Find a graph with the maximum score plus prior under the constraints.

    Among parent sets with exactly the same score the smallest is chosen, then the first in order.
    Memory and time double with every variable.

    Parameters
    ----------
    state : GraphState
        Changed in place to the best graph, or unchanged if the budget ends the search.
    budget : Budget
    report : callable (done, total, score), default=None
        Called after every part of the work, with the score of the current graph.

    Returns
    -------
    float
        The score of the resulting graph.

    Raises
    ------
    InputError
        If more than `MOST_VARIABLES` variables may have arcs.

    References
    ----------
    Silander & Myllymaki (2006), "A simple approach for finding the globally optimal Bayesian
    network structure".
    """
    arcs = state.constraints.permitted | state.constraints.required
    variables = np.flatnonzero(arcs.any(axis=0) | arcs.any(axis=1))
    if len(variables) > MOST_VARIABLES:
        n = len(variables)
        message = f"'exact' takes up to {MOST_VARIABLES} variables that vary, got {n!r}"
        raise InputError(message, argument="search", remedy="use `search='orders'`")
    if len(variables) == 0:
        return state.score
    work = Work(state, variables)
    with state.scores.scratch() as scratch:
        for done in chain(work.score_families(scratch, budget), work.take_best()):
            if budget.spent(scratch.counters[ASKED]):
                return state.score
            if report is not None:
                report(done, work.total, state.score)
    state.reset(work.best_graph())
    if report is not None:
        report(work.total, work.total, state.score)
    return state.score


class Work:
    """The work for the best graph, in parts.

    Sets of variables are integers in which bit i denotes ``variables[i]``.

    Parameters
    ----------
    state : GraphState
    variables : int array of shape (m,)
        The variables that may have arcs.
    rows_between_pauses : int, default=`ROWS_BETWEEN_PAUSES`

    Attributes
    ----------
    total : int
        Number of sets of variables over all tasks.
    scores : float array of shape (m, 2**(m - 1))
        [child, parent set without the child's bit]: local scores plus log prior odds; after
        `take_best` the best score among the subsets of the parent set.
    """

    def __init__(self, state, variables, rows_between_pauses=ROWS_BETWEEN_PAUSES):
        engine, m = state.scores.engine, len(variables)
        self._scores, self._task = state.scores, state.task
        self._by_set = by_set(int(engine.method[KIND]))
        self._rows_between_pauses = rows_between_pauses
        self._subsets = kernels.new_subsets(variables, engine)
        self.scores = self._subsets.scores
        self._sets = np.arange(1 << m)
        self._sizes = np.bitwise_count(self._sets)
        self._required = self._parents_marked(state.task.required)
        self._allowed = self._parents_marked(state.task.permitted) | self._required
        n_walks = 1 if state.scores.is_shared else len(state.task.members)
        self.total = n_walks * len(self._sets)

    def score_families(self, scratch, budget):
        """Fill in the scores, and yield the number of finished sets after each part."""
        for i in range(len(self.scores)):
            self.scores[i] = self._starting_scores(i)
            yield 0
        if self._scores.is_shared:
            yield from self._add_scores_together(scratch, budget)
        for member in range(0 if self._scores.is_shared else len(self._task.members)):
            before = member * len(self._sets)
            if self._by_set:
                for done in self._walk(scratch, member):
                    yield before + done
            for done in self._add_scores(scratch, budget, member):
                yield before + (len(self._sets) if self._by_set else done)

    def take_best(self):
        """Replace the score of each parent set by the best among its subsets, child by child."""
        for scores in self.scores:
            step = 1
            while step < len(scores):
                without, with_it = np.moveaxis(scores.reshape(-1, 2, step), 1, 0)
                np.maximum(without, with_it, out=with_it)
                step *= 2
            yield self.total

    def best_graph(self):
        """Adjacency of the best graph over all variables, after the work is done."""
        n, variables = self._scores.n_variables, self._subsets.variables
        totals, sinks = np.empty(len(self._sets)), np.empty(len(self._sets), np.uint8)
        kernels.find_sinks(self.scores, totals, sinks)
        matrix = np.zeros((n, n), dtype=bool)
        left = len(self._sets) - 1
        for _ in variables:
            i = int(sinks[left])
            left ^= 1 << i
            parents = self._best_parents(i, left)
            matrix[variables, variables[i]] = (parents >> np.arange(len(variables))) & 1
        return matrix

    def _parents_marked(self, marks):
        """For each child the set of variables marked in ``marks``, [child, parent]."""
        variables = self._subsets.variables
        return marks[np.ix_(variables, variables)] @ (1 << np.arange(len(variables)))

    def _without(self, i):
        """All sets without bit i, in order: the parent sets of variable i."""
        return self._sets.reshape(-1, 2, 1 << i)[:, 0].ravel()

    def _starting_scores(self, i):
        """Log prior odds of every parent set of variable i, -inf if it is not allowed."""
        variables, task = self._subsets.variables, self._task
        parents, odds = self._without(i), np.zeros(1)
        for parent in np.delete(variables, i):
            odds = np.concatenate([odds, odds + task.odds[variables[i], parent]])
        wrong = (parents & ~self._allowed[i]) | (self._required[i] & ~parents)
        odds[(wrong != 0) | (self._sizes[parents] > task.most_parents[0])] = -np.inf
        return odds

    def needed(self, member):
        """Marks the sets that consist of a child and allowed parents in a task, or subsets."""
        subsets, task, engine = self._subsets, self._task, self._scores.engine
        reach = self._allowed & self._parents_marked(task.usable[member])
        is_there = engine.code_at[task.members[member], subsets.variables] >= 0
        needed = np.zeros(len(self._sets), dtype=bool)
        for i in np.flatnonzero(is_there).tolist():
            needed |= self._sets & ~(reach[i] | 1 << i) == 0
        needed &= self._sizes <= task.most_parents[0] + 1
        return needed & (subsets.cells <= engine.most_cells[task.members[member]])

    def _walk(self, scratch, member):
        """Fill the tables of one task; yields the number of finished sets."""
        subsets, s = self._subsets, self._task.members[member]
        subsets.needed[:] = self.needed(member)
        walk = kernels.new_walk(subsets, self._scores.engine, s)
        is_over = False
        while not is_over:
            is_over = kernels.walk_on(
                self._scores.engine.table,
                scratch.table,
                subsets.table,
                walk.table,
                s,
                self._rows_between_pauses,
            )
            yield int(walk.at[kernels.DONE])

    def _add_scores(self, scratch, budget, member):
        """Add the local scores of one task; yields the finished share of its sets."""
        subsets, s = self._subsets, self._task.members[member]
        m, n_families = self.scores.shape
        usable = self._parents_marked(self._task.usable[member])
        for i, child in enumerate(subsets.variables):
            if self._scores.engine.code_at[s, child] < 0:
                continue
            first = 0
            while first < n_families:
                first = kernels.add_scores(
                    self._scores.engine.table,
                    scratch.table,
                    subsets.table,
                    s,
                    i,
                    usable[i],
                    self._required[i],
                    first,
                    budget.pause(scratch),
                )
                yield len(self._sets) * (i * n_families + first) // (m * n_families)

    def _add_scores_together(self, scratch, budget):
        """Add the joint scores of all tasks; yields the finished share of the sets."""
        subsets, scores = self._subsets, self._scores
        m, n_families = self.scores.shape
        for i in range(m):
            first = 0
            while first < n_families:
                first = sharing.add_scores_together(
                    scores.engine.table,
                    scratch.table,
                    subsets.table,
                    scores.members,
                    scores.usable,
                    i,
                    self._required[i],
                    first,
                    budget.pause(scratch),
                )
                scores.keep_up(scratch)
                yield self.total * (i * n_families + first) // (m * n_families)

    def _best_parents(self, i, candidates):
        """The smallest of the best parent sets within some candidates."""
        parents, best = self._without(i), self.scores[i]
        inside = parents & ~candidates == 0
        # A set whose own score is the best, with no smaller such set, is the best parent set.
        as_good = parents[inside & (best == best[inside][-1])]
        return as_good[np.argmin(self._sizes[as_good])]
