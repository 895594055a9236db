"""The graph of a search, the gain of each legal change of it, and the budget of the search."""

import time
from dataclasses import dataclass, field

import numpy as np

from bnmtl._kernels import climbing, dags
from bnmtl._kernels._jit import Arrays
from bnmtl._kernels.scoring import ASKED

NO_LIMIT = np.iinfo(np.int64).max
# Families after which a kernel returns to check the clock and interrupts: the first time, and the
# maximum later on, when the number that takes the seconds below is known. A family of tasks that
# are scored together takes a thousand times as long as a cached one.
FAMILIES_BEFORE_A_LOOK = 500
FAMILIES_BETWEEN_LOOKS = 50_000
_SECONDS_BETWEEN_LOOKS = 0.2


@dataclass
class Budget:
    """The limits of one search.

    Attributes
    ----------
    max_families : int or None
        Maximum number of requested local scores, including cached ones, so that it is reproducible.
    deadline : float or None
        `time.time` at which to stop.
    stopped : set of str
        Contains "max_families" or "time_limit" if that ended a search.
    """

    max_families: int | None = None
    deadline: float | None = None
    stopped: set = field(default_factory=set)
    _families: int = field(default=FAMILIES_BEFORE_A_LOOK, init=False, repr=False)
    _looked: tuple = field(default=(0, 0.0), init=False, repr=False)

    @property
    def limit(self):
        """Count of families at which a kernel must stop."""
        return NO_LIMIT if self.max_families is None else self.max_families

    def pause(self, scratch):
        """Count of families at which a kernel returns for a check; it does not affect results."""
        asked, now = int(scratch.counters[ASKED]), time.perf_counter()
        before, then = self._looked
        if then and before < asked:
            families = (asked - before) * _SECONDS_BETWEEN_LOOKS / max(now - then, 1e-9)
            self._families = max(1, min(int(families), 4 * self._families))
        self._looked = asked, now
        return min(self.limit, asked + min(self._families, FAMILIES_BETWEEN_LOOKS))

    def spent(self, asked):
        """Whether the search has to end after that many families."""
        if self.max_families is not None and asked >= self.max_families:
            self.stopped.add("max_families")
        elif self.deadline is not None and time.time() >= self.deadline:
            self.stopped.add("time_limit")
        else:
            return False
        return True


class GraphState:
    """The current graph of a search.

    Parameters
    ----------
    scores : BoundScore
    constraints : Constraints
    ties : Ties
    matrix : bool array of shape (n, n)
        Start adjacency; acyclic and within the constraints. It is copied.
    odds : float array of shape (n, n), default=None
        Structure prior: log prior of an arc minus log prior of its absence.
    dag : Arrays, default=None
        Memory for the graph, see `new_dags`.
    families : bool array of shape (m, n, n), default=None
        [graph, child, parent] of graphs whose whole families a search over orders tries.

    Attributes
    ----------
    dag : Arrays
        As in `dags.DAG`.
    task : Arrays
        As in `dags.TASK`.
    in_pairs : int array
        Variables that may have arcs.
    asked : int
        Number of local scores requested to set the graph and its pairs.
    """

    def __init__(self, scores, constraints, ties, matrix, odds=None, dag=None, families=None):
        n = scores.n_variables
        self.scores = scores
        self.constraints = constraints
        self.may_remove = constraints.may_remove
        arcs = constraints.permitted | matrix
        self.in_pairs = np.flatnonzero(arcs.any(axis=0) | arcs.any(axis=1))
        self.families = np.zeros((0, n, n), dtype=bool) if families is None else families
        self.asked = 0
        self.dag = new_dag(n) if dag is None else dag
        self.task = Arrays(
            dags.TASK,
            members=scores.members,
            usable=by_child(scores.usable),
            permitted=by_child(constraints.permitted),
            required=by_child(constraints.required),
            may_remove=self.may_remove,
            odds=np.zeros((n, n)) if odds is None else by_child(odds),
            most_parents=np.array([constraints.max_parents]),
            order_keys=ties.keys,
            coins=by_child(ties.coins),
            arc_keys=ties.arc_keys,
            tolerance=np.array([ties.tolerance]),
            last_stamp=np.zeros(1, np.int64),
        )
        self.reset(matrix)

    @property
    def adjacency(self):
        """[a, b] is true for an arc a -> b; a view."""
        return self.dag.held.T

    @property
    def toggles(self):
        """[a, b] is the gain of toggling the arc a -> b, nan if it is not permitted; a view."""
        return self.dag.gains.T

    @property
    def score(self):
        """Sum of the local scores and the prior odds of the arcs."""
        return float(dags.total_score(self.task.table, self.dag.table))

    def reset(self, matrix):
        """Set the graph to ``matrix``; families equal to the previous ones are kept."""
        budget = Budget()
        n = len(matrix)
        self.scores.bound.reserve(len(self.scores.members) * n * n)
        with self.scores.scratch() as scratch:
            climbing.start_at(self.dag.table, self.task.table, scratch.table, by_child(matrix))
            first = 0
            while first < n:
                first = climbing.refresh_from(
                    self.scores.engine.table,
                    scratch.table,
                    self.task.table,
                    self.dag.table,
                    first,
                    budget.pause(scratch),
                )
            self.asked += int(scratch.counters[ASKED])

    def set_pair(self, a, b, state):
        """Set the state of a pair: 1 is a -> b, -1 is b -> a, 0 removes the arc."""
        if state == -1:
            a, b = b, a
        if state == 0 and self.dag.held[a, b]:
            a, b = b, a
        kind = climbing.REMOVE if state == 0 else climbing.SET
        if self.dag.held[b, a] == (kind == climbing.SET):
            return
        with self.scores.scratch() as scratch:
            climbing.make(
                self.scores.engine.table, scratch.table, self.task.table, self.dag.table, a, b, kind
            )
            self.asked += int(scratch.counters[ASKED])

    def may_set(self, a, b):
        """Whether a -> b may be set now, by reversing b -> a if it exists."""
        return dags.may_set(self.dag.table, self.task.table, a, b)


def by_child(matrix):
    """Arrays of pairs [..., a, b] in the layout of the kernels, [..., b, a]."""
    return np.ascontiguousarray(np.swapaxes(matrix, -1, -2))


def new_dags(k, n):
    """Memory for k graphs of n variables: the arrays of `dags.DAG` with an additional axis."""
    return {
        "held": np.zeros((k, n, n), dtype=bool),
        "parents": np.zeros((k, n, n), np.int64),
        "n_parents": np.zeros((k, n), np.int64),
        "ancestors": np.zeros((k, n, -(-n // 64)), np.uint64),
        "gains": np.full((k, n, n), np.nan),
        "scores": np.zeros((k, n)),
        "bounds": np.full((k, n), np.inf),
        "mark": np.zeros((k, 1), np.int64),
        "stamps": np.zeros((k, n), np.int64),
    }


def one_of(many, s):
    """Graph s of `new_dags`."""
    return Arrays(dags.DAG, **{name: array[s] for name, array in many.items()})


def new_dag(n):
    """Memory for one graph of n variables."""
    return one_of(new_dags(1, n), 0)
