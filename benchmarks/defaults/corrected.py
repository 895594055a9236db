"""Prototype of a structure prior that corrects for the number of parent sets.

All numbers of parents are equally likely, and so are all parent sets of the same size: the prior
subtracts the log of the number of such sets from the score of a family.
"""

from math import lgamma

import numpy as np

from benchmarks.defaults.ways import expecting
from bnmtl import BIC, SingleTaskLearner
from bnmtl.graphs import adjacency, from_adjacency


def climbed_graphs(tasks, score, random_state):
    """The best graph of each task, by hill climbing from the solutions of BIC, f = 1 and f = 0.1.

    Parameters
    ----------
    tasks : Tasks
    score : Score
    random_state : int

    Returns
    -------
    dict task -> networkx.DiGraph
    """
    starts = [SingleTaskLearner(score=BIC(), random_state=random_state).fit(tasks).configuration_]
    for n_parents in (1.0, 0.1):
        prior = expecting(tasks, n_parents)
        learner = SingleTaskLearner(score=score, structure_prior=prior, random_state=random_state)
        starts.append(learner.fit(tasks).configuration_)
    found = {}
    for name, task in tasks.items():
        climber = _Climber(task, score)
        best = max(
            (climber.climbed(adjacency(start[name], task.variables)) for start in starts),
            key=climber.total,
        )
        found[name] = from_adjacency(best, task.variables)
    return found


class _Climber:
    """Steepest ascent over single arcs, with a cache of family scores."""

    def __init__(self, task, score):
        self._bound = score.bind(task)
        self._known = {}
        self._varies = np.array([variable not in task.constant for variable in task.variables])
        n_others = int(self._varies.sum()) - 1
        self._log_sets = [
            lgamma(n_others + 1) - lgamma(k + 1) - lgamma(n_others - k + 1)
            for k in range(n_others + 1)
        ]

    def total(self, matrix):
        return sum(
            self._family(child, tuple(np.flatnonzero(matrix[:, child])))
            for child in range(len(matrix))
        )

    def climbed(self, matrix):
        """The local maximum reached from a graph."""
        matrix = matrix.astype(bool)
        while True:
            gain, change = max(self._changes(matrix), default=(0.0, None))
            if change is None or gain <= 1e-9:
                return matrix
            parent, child, kind = change
            matrix[parent, child] = kind == "add"
            if kind == "reverse":
                matrix[child, parent] = True

    def _changes(self, matrix):
        """Gain, arc and kind of each legal change."""
        n = len(matrix)
        ancestors = _ancestors(matrix)
        scores = [self._family(v, tuple(np.flatnonzero(matrix[:, v]))) for v in range(n)]
        for parent in np.flatnonzero(self._varies):
            for child in np.flatnonzero(self._varies):
                if parent == child:
                    continue
                parents = matrix[:, child].copy()
                parents[parent] ^= True
                gain = self._family(child, tuple(np.flatnonzero(parents))) - scores[child]
                if not matrix[parent, child]:
                    if not ancestors[child, parent]:
                        yield gain, (int(parent), int(child), "add")
                    continue
                yield gain, (int(parent), int(child), "delete")
                others = np.flatnonzero(matrix[:, child] & (np.arange(n) != parent))
                if not ancestors[parent, others].any():
                    turned = matrix[:, parent].copy()
                    turned[child] = True
                    family = self._family(parent, tuple(np.flatnonzero(turned)))
                    yield gain + family - scores[parent], (int(parent), int(child), "reverse")

    def _family(self, child, parents):
        if (child, parents) not in self._known:
            score = self._bound.local_score(int(child), [int(parent) for parent in parents])
            self._known[child, parents] = score - self._log_sets[len(parents)]
        return self._known[child, parents]


def _ancestors(matrix):
    """Whether the first variable is an ancestor of the second."""
    reach = matrix.copy()
    for via in range(len(matrix)):
        reach |= np.outer(reach[:, via], reach[via])
    return reach
