"""The pool of sixteen ALARM-COMP tasks, groups of which are learned together (thesis, 2.4.3).

The principal task is ALARM itself; in each of the others another set of its four components has
changed.
"""

import itertools

import numpy as np
from sklearn.base import clone

from benchmarks.related import Related
from benchmarks.variants import LEARNERS, SAMPLE_SIZE, problems_of
from bnmtl import PairedPrior, problems
from bnmtl.graphs import from_adjacency
from bnmtl.learners.held_out import HeldOut
from bnmtl.learners.penalty import best_penalty, penalty_grid
from bnmtl.progress import Reporter
from bnmtl.search import Memory
from bnmtl.search.effort import Effort
from bnmtl.search.multitask import MultitaskSearch
from bnmtl.search.options import search_of
from bnmtl.search.path import greedy_path
from bnmtl.tasks import Tasks

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

    Equally near tasks are told apart by their names, so names must not tell how near they are: the
    others' are shuffled.
    """
    groups = problems.ALARM_COMPONENTS
    networks = problems.components("alarm", groups, CHANGED, random_state=trial)
    principal, *others = list(networks.items())[:n_tasks]
    names = np.random.default_rng(trial).permutation([name for name, _ in others]).tolist()
    shuffled = dict(zip(names, (network for _, network in others), strict=True))
    return Related(dict([principal, *sorted(shuffled.items())]), n_rows, trial)


class Learned:
    """A group of tasks learned together at every penalty of the grid.

    Attributes
    ----------
    penalties : list of float
        The largest first.
    graphs : list of dict task -> networkx.DiGraph
    """

    def __init__(self, penalties, graphs):
        self.penalties = penalties
        self.graphs = graphs

    def best(self, held_out):
        """Place of the penalty that predicts held-out rows best, by `HeldOut` of every task."""
        means = [
            np.mean([held_out[name].mean(graph) for name, graph in graphs.items()])
            for graphs in self.graphs
        ]
        return best_penalty(np.array(means))

    def chosen(self, held_out):
        """Graphs at the penalty that predicts held-out rows best."""
        return self.graphs[self.best(held_out)]


class Pool:
    """Groups of tasks on the same rows; none is learned twice.

    With T the greedy search starts from tasks learned apart at every penalty, with S it does so at
    the smallest and goes on from each penalty's end at the next one.

    Parameters
    ----------
    train : Tasks
    variant : {"T", "S"}
    trial : int
    prior : PairedPrior or EditPrior, default=PairedPrior()
        At each penalty in turn.
    """

    def __init__(self, train, variant, trial, prior=None):
        self._train = train
        self._variant = variant
        self._prior = PairedPrior() if prior is None else prior
        self._effort = Effort(trial, search_of(LEARNERS[variant]["search"]), memory=Memory())
        self._groups = {}

    def learned(self, names):
        """The group of these tasks, whatever their order."""
        wanted = set(names)
        names = tuple(name for name in self._train if name in wanted)
        if names not in self._groups:
            self._groups[names] = self._learn(Tasks(self._train[name] for name in names))
        return self._groups[names]

    def _learn(self, tasks):
        search = MultitaskSearch(problems_of(tasks), self._effort, Reporter(False))
        penalties = penalty_grid(None)
        prior = self._prior.among(tasks.variables, tasks.names)
        priors = [clone(prior).set_params(penalty=penalty) for penalty in penalties]
        starts = search.starts(priors, ["single-task"])
        if self._variant == "T":
            found = [search.solve(prior, starts) for prior in priors]
        else:
            found = greedy_path(search, priors, starts, self._effort)
        graphs = [
            {
                name: from_adjacency(matrix, tasks[name].variables)
                for name, matrix in zip(tasks, solution.matrices, strict=True)
            }
            for solution in found
        ]
        return Learned(penalties, graphs)


def held_out_of(train, test):
    """`HeldOut` of every task."""
    return {name: HeldOut(train[name], test[name], SAMPLE_SIZE) for name in train}
