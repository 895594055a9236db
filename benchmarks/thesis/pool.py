"""The pool of sixteen ALARM-COMP tasks, groups of which are learned together (thesis, 2.4.3).

The principal task is ALARM itself; each of the other tasks has a different set of its four
components changed. `Groups` of `bnmtl.relatedness` fits a learner to a group, but no learner keeps
the graphs of all penalties, searched as in `Searches.along`.
"""

import itertools
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from benchmarks.related import Related
from benchmarks.variants import SAMPLE_SIZE, Searches
from bnmtl import PairedPrior, problems
from bnmtl.learners.held_out import HeldOut, held_out_rows, held_out_split
from bnmtl.learners.validated import best_penalty, penalty_grid
from bnmtl.relatedness import true
from bnmtl.search import Memory
from bnmtl.tasks import Tasks

# Penalty of the direct measure of relatedness.
PENALTY = 0.9
N_COMPONENTS = len(problems.ALARM_COMPONENTS)
CHANGED = tuple(
    itertools.chain.from_iterable(
        itertools.combinations(range(N_COMPONENTS), size) for size in range(N_COMPONENTS + 1)
    )
)
PRINCIPAL = "task01"
OTHERS = len(CHANGED) - 1


def related_of(n_rows, trial, n_tasks=OTHERS + 1):
    """Networks and rows of the pool, or of its first tasks.

    Equally near tasks are ordered by name, so names must not depend on the distance: those of the
    other tasks are shuffled.
    """
    groups = problems.ALARM_COMPONENTS
    networks = problems.components("alarm", groups, CHANGED, random_state=trial)
    principal, *others = list(networks.items())[:n_tasks]
    names = np.random.default_rng(trial).permutation([name for name, _ in others]).tolist()
    shuffled = dict(zip(names, (network for _, network in others), strict=True))
    return Related(dict([principal, *sorted(shuffled.items())]), n_rows, trial)


class Learned(NamedTuple):
    """A group of tasks learned together at every penalty of the grid, largest first."""

    penalties: list
    graphs: list

    def best(self, held_out):
        """Index of the penalty that predicts held-out rows best, by `HeldOut` of every task."""
        return best_penalty([mean_held_out(held_out, graphs) for graphs in self.graphs])

    def chosen(self, held_out):
        """Graphs at the penalty that predicts held-out rows best."""
        return self.graphs[self.best(held_out)]


class Pool:
    """Groups of tasks on the same rows; results are cached.

    Parameters
    ----------
    train : Tasks
    variant : {"T", "S"}
        Search along the penalties, see `Searches.along`.
    trial : int
    prior : PairedPrior or EditPrior, default=PairedPrior()
        Used with each penalty of the grid.
    """

    def __init__(self, train, variant, trial, prior=None):
        self._train, self._variant, self._trial = train, variant, trial
        self._prior = PairedPrior() if prior is None else prior
        self._memory, self._groups = Memory(), {}

    def learned(self, names):
        """The group of these tasks, in any order."""
        wanted = set(names)
        names = tuple(name for name in self._train if name in wanted)
        if names not in self._groups:
            self._groups[names] = self._learn(Tasks(self._train[name] for name in names))
        return self._groups[names]

    def distances(self):
        """The direct measure of relatedness of all tasks on the training rows."""
        learned = self.learned(self._train.names)
        return true(learned.graphs[learned.penalties.index(PENALTY)])

    def _learn(self, tasks):
        penalties = penalty_grid(None)
        prior = self._prior.among(tasks.variables, tasks.names)
        priors = [clone(prior).set_params(penalty=penalty) for penalty in penalties]
        searches = Searches(tasks, self._trial, memory=self._memory)
        found = searches.along(self._variant, priors)
        return Learned(penalties, [searches.graphs(solution) for solution in found])


def train_and_held_out(tasks, share, trial):
    """The rows of all tasks except a held-out share, and `HeldOut` of every task."""
    (rows,) = held_out_rows(tasks, share, None, trial)
    train, test = held_out_split(tasks, rows)
    return train, held_out_of(train, test)


def mean_held_out(held_out, graphs):
    """The mean over tasks of the mean log-likelihood of their held-out rows."""
    return float(np.mean([held_out[name].mean(graph) for name, graph in graphs.items()]))


def held_out_of(train, test, sample_size=SAMPLE_SIZE):
    """`HeldOut` of every task."""
    return {name: HeldOut(train[name], test[name], sample_size) for name in train}
