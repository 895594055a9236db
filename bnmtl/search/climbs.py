"""Climbs over graphs of one task between improvements of its order, used by ``orders``.

If a graph gains in one part and loses in another, the better parts are kept.
"""

import numpy as np

from bnmtl._kernels import changes, climbing, dags, merging, orders
from bnmtl._kernels.scoring import ASKED
from bnmtl.search.graph_state import new_dag

# Number of climbs from random changes after an iteration without improvement: changes of the whole
# graph, and changes among variables that are close in it.
RESTARTS = 2
RESTARTS_NEAR = 4
N_NEAR = 8
# Beyond this number of variables half as many climbs suffice, because gains in any part of the
# graph are kept; climbs from changes of close variables consider only arcs among that many
# variables around them, without a tabu walk.
LARGE = 64
# Changes of the whole graph: one per this number of variables, up to a maximum, because each needs
# new scores with every other variable.
VARIABLES_PER_CHANGE = 8
MOST_CHANGES = 32


class Climbs:
    """The climbs over graphs of one search over orders, and their memory.

    Attributes
    ----------
    dag : Arrays
        The result of the latest climb, as in `dags.DAG`.
    current : Arrays
        The best graph of the current start.
    """

    def __init__(self, state, walk, perturb, tabu, budget):
        n = state.scores.n_variables
        self.dag, self.current, self._first, self._spare = (new_dag(n) for _ in range(4))
        # The arcs considered by climbs from changes, and their memory.
        self._narrow = state.task.replaced(permitted=state.task.permitted.copy())
        self._changed = new_dag(n)
        self._near = np.zeros(max(N_NEAR, LARGE), np.int64)
        self._merge, self._merged = merging.new_merge(n), np.zeros((n, n), dtype=bool)
        self._state, self._walk, self._budget = state, walk, budget
        self._perturb, self._marks = perturb, np.zeros(tabu, np.int64)
        dags.copy_dag(state.dag.table, self._first.table)

    def begin(self, scratch, n_changes):
        """Start from the graph of the state, after random changes and a climb."""
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
        dags.copy_dag(self.dag.table, self.current.table)

    def from_order(self, scratch):
        """Climb from the graph of the walk's order; return its score."""
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
        """Climb from the best graph with the parts of the latest one that are no worse.

        Return the score; ``reached``, that of the latest graph, if there is no such part.
        """
        if self._merge_with(self.dag, -self._state.task.tolerance[0]):
            return self._climb_from(scratch, self._merged)
        return reached

    def from_current(self, scratch):
        """Climb several times from random changes of the best graph; whether it improved."""
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
        """Climb from random changes; the best graph gets improvements of the whole or a part."""
        state, random = self._state, self._walk.random
        variables, task, marks = state.in_pairs, state.task, self._marks
        n_changes = min(MOST_CHANGES, len(variables) // VARIABLES_PER_CHANGE)
        n_changes = max(self._perturb, n_changes)
        if is_near:
            n_near = changes.draw_near(self.current.table, variables, random, self._near)
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
            self.current.table,
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
        before = dags.total_score(state.task.table, self.current.table)
        if self._climb_from(scratch, self._merged) <= before + state.task.tolerance[0]:
            return False
        dags.copy_dag(self.dag.table, self.current.table)
        return True

    def _among(self, near):
        """The task restricted to arcs among some variables and other arcs known to gain.

        In a large graph climbs from changes consider only these.
        """
        state = self._state
        if len(near) == len(state.in_pairs):
            return state.task
        looked_at = self._walk.matters | self.current.held
        looked_at[np.ix_(near, near)] = True
        np.logical_and(state.task.permitted, looked_at, out=self._narrow.permitted)
        return self._narrow

    def _merge_with(self, dag, least):
        """Whether parts of another graph gain at least ``least``; the merged graph is stored."""
        return merging.merge(
            self._merge.table,
            self._state.task.table,
            self.current.table,
            dag.table,
            least,
            self._merged,
        )
