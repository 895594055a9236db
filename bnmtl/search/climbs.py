"""Climbs over graphs of one task between the improvements of its order, used by ``orders``.

Where a graph gains in one part and loses in another, the better parts are kept.
"""

import numpy as np

from bnmtl._kernels import changes, climbing, dags, merging, orders
from bnmtl._kernels.scoring import ASKED
from bnmtl.search.graph_state import new_dag

# Climbs from random changes after an iteration that found nothing better: of the whole graph, and
# among some variables that are close in it.
RESTARTS = 2
RESTARTS_NEAR = 4
N_NEAR = 8
# Beyond so many variables half as many climbs do, since what each gains in any part of the graph is
# kept; climbs from changes of variables that are close look at arcs among that many around them,
# and none walks on.
LARGE = 64
# Changes of the whole graph: one for every so many variables, but no more than so many, since every
# one of them asks for a new score with every other variable.
VARIABLES_PER_CHANGE = 8
MOST_CHANGES = 32


class Climbs:
    """The climbs over graphs of one search over orders, and their memory.

    Attributes
    ----------
    dag : Arrays
        The graph that the latest climb has ended in, as in `dags.DAG`.
    own : Arrays
        The best graph of the present start.
    """

    def __init__(self, state, walk, perturb, tabu, budget):
        n = state.scores.n_variables
        self.dag, self.own, self._first, self._spare = (new_dag(n) for _ in range(4))
        # What climbs from changes look at, and their memory.
        self._narrow = state.task.replaced(permitted=state.task.permitted.copy())
        self._changed = new_dag(n)
        self._near = np.zeros(max(N_NEAR, LARGE), np.int64)
        self._merge, self._merged = merging.new_merge(n), np.zeros((n, n), dtype=bool)
        self._state, self._walk, self._budget = state, walk, budget
        self._perturb, self._marks = perturb, np.zeros(tabu, np.int64)
        dags.copy_dag(state.dag.table, self._first.table)

    def begin(self, scratch, n_changes):
        """Start from the graph that the state was in, changed at random and climbed from."""
        dags.copy_dag(self._first.table, self.dag.table)
        if n_changes:
            climbing.climb_changed(
                self._walk.engine,
                scratch.table,
                self._state.task.table,
                self.dag.table,
                self._state.in_pairs,
                self._walk.random,
                n_changes,
                self._budget.limit,
            )
            self._state.scores.keep_up(scratch)
        dags.copy_dag(self.dag.table, self.own.table)

    def from_order(self, scratch):
        """Climb from the graph that the walk's order stands for; its score."""
        return self._climb_from(scratch, self._walk.adjacency[0])

    def _climb_from(self, scratch, adjacency):
        return orders.climb_from(
            self._walk.engine,
            scratch.table,
            self._state.task.table,
            self.dag.table,
            self._spare.table,
            adjacency,
            self._marks,
            self._budget.limit,
        )

    def from_parts(self, scratch, reached):
        """Climb from the best graph with what is no worse in the latest one; the score.

        That is ``reached``, of the latest one, if nothing there is.
        """
        if self._merge_with(self.dag, -self._state.task.tolerance[0]):
            return self._climb_from(scratch, self._merged)
        return reached

    def from_own(self, scratch):
        """Climb from random changes of the best graph, some times; whether that made it better."""
        better = False
        shared = 2 if self._state.scores.n_variables > LARGE else 1
        whole, near = RESTARTS // shared, RESTARTS_NEAR // shared
        for turn in range(whole + near):
            if self._budget.spent(scratch.counters[ASKED]):
                break
            better |= self._restart(scratch, turn >= whole)
            self._state.scores.keep_up(scratch)
        return better

    def _restart(self, scratch, is_near):
        """Climb from random changes; the best graph gets what is better then, in whole or part."""
        state, random = self._state, self._walk.random
        variables, task, marks = state.in_pairs, state.task, self._marks
        n_changes = min(MOST_CHANGES, len(variables) // VARIABLES_PER_CHANGE)
        n_changes = max(self._perturb, n_changes)
        if is_near:
            n_near = changes.draw_near(self.own.table, variables, random, self._near)
            variables, near = self._near[: min(N_NEAR, n_near)], self._near[:n_near]
            task, n_changes = self._among(near), self._perturb
        elif state.scores.n_variables > LARGE:
            task = self._among(self._near[:0])
        if state.scores.n_variables > LARGE:
            marks = marks[:0]
        if climbing.restart(
            self._walk.engine,
            scratch.table,
            state.task.table,
            task.table,
            self._changed.table,
            self.own.table,
            self._spare.table,
            variables,
            random,
            n_changes,
            marks,
            self._budget.limit,
        ):
            return True
        if not self._merge_with(self._changed, state.task.tolerance[0]):
            return False
        before = dags.total_score(state.task.table, self.own.table)
        if self._climb_from(scratch, self._merged) <= before + state.task.tolerance[0]:
            return False
        dags.copy_dag(self.dag.table, self.own.table)
        return True

    def _among(self, near):
        """The task with the arcs among some variables, and those elsewhere that are known to gain.

        In a large graph climbs from changes look at no others.
        """
        state = self._state
        if len(near) == len(state.in_pairs):
            return state.task
        looked_at = self._walk.matters | self.own.held
        looked_at[np.ix_(near, near)] = True
        np.logical_and(state.task.permitted, looked_at, out=self._narrow.permitted)
        return self._narrow

    def _merge_with(self, dag, least):
        """Whether parts of another graph gain so much; the best graph with these is noted."""
        return merging.merge(
            self._merge.table,
            self._state.task.table,
            self.own.table,
            dag.table,
            least,
            self._merged,
        )
