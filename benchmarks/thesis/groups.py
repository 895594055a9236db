"""Which tasks to learn together: all, the nearest, clusters, or all with penalties by distance.

Held-out rows follow section 2.4.3 of the thesis: 5 % of the rows, at least 10, to choose a number
of tasks or of clusters, and another 5 % for the penalty; 10 % for the penalty if there is no number
to choose. The penalty of a group is chosen by the held-out rows of its tasks, the number of
clusters by those of all tasks. `TaskSelector` and `TaskClusterer` of the package choose a number in
the same way, but keep neither the graphs of the other numbers nor those of the other penalties.
"""

from functools import cached_property
from typing import NamedTuple

import networkx as nx
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform

from benchmarks.thesis.pool import Pool, held_out_of, mean_held_out, train_and_held_out
from benchmarks.variants import LEARNERS, N_FOLDS
from bnmtl import MultitaskLearner, PairedPrior
from bnmtl.learners.held_out import held_out_rows, held_out_split
from bnmtl.relatedness import indirect, shared
from bnmtl.relatedness.measures import as_distances, nearest_first

SHARE, AT_LEAST = 0.05, 10


class Option(NamedTuple):
    """The principal task's graph in a group, its held-out score and its graphs at all penalties."""

    graph: nx.DiGraph
    score: float
    every: list


class Groupings:
    """Graphs learned in groups of tasks, and scores of the groups on held-out rows.

    Parameters
    ----------
    tasks : Tasks
        All rows.
    variant : {"T", "S"}
    trial : int

    Attributes
    ----------
    train : Tasks
        The rows that are left to learn from.
    pool : Pool
        Groups learned from them.
    """

    def __init__(self, tasks, variant, trial):
        self._tasks, self._variant, self._trial = tasks, variant, trial
        (rows,) = held_out_rows(tasks, SHARE, None, trial, purpose="size", at_least=AT_LEAST)
        rest, for_size = held_out_split(tasks, rows)
        (rows,) = held_out_rows(rest, SHARE / (1 - SHARE), None, trial)
        self.train, for_penalty = held_out_split(rest, rows)
        self._for_size = held_out_of(self.train, for_size)
        self._for_penalty = held_out_of(self.train, for_penalty)
        self.pool = Pool(self.train, variant, trial)
        self._most, self._for_penalty_of_all = train_and_held_out(tasks, 2 * SHARE, trial)
        self._whole = Pool(self._most, variant, trial)

    @cached_property
    def distances(self):
        """The direct measure, on the training rows."""
        return self.pool.distances()

    @cached_property
    def losses(self):
        """The indirect measure, on the training rows."""
        return indirect(self.train, self._learner(), cv=N_FOLDS)

    @cached_property
    def differing(self):
        """The probability that tables differ, on the training rows."""
        return as_distances(shared(self.train, self._learner()))

    def _learner(self):
        return MultitaskLearner(**LEARNERS[self._variant], random_state=self._trial)

    def by_number(self, principal, table):
        """Groups of the principal task and its nearest tasks, by number of the latter.

        Returns
        -------
        list of Option
        """
        order, found = nearest_first(table, principal).index, []
        for n_others in range(len(self._tasks)):
            names = [principal, *order[:n_others]]
            graph = self._chosen(names)[principal]
            every = [graphs[principal] for graphs in self.pool.learned(names).graphs]
            found.append(Option(graph, self._for_size[principal].mean(graph), every))
        return found

    def nearest(self, principal, n_others):
        """The principal task's graph, learned with a fixed number of nearest tasks."""
        order = nearest_first(self._whole.distances(), principal).index
        learned = self._whole.learned([principal, *order[:n_others]])
        return learned.chosen(self._for_penalty_of_all)[principal]

    def by_clusters(self, table):
        """All tasks' graphs and their mean held-out score by number of clusters, from 1 on.

        Parameters
        ----------
        table : pandas.DataFrame
            Distances of the tasks.

        Returns
        -------
        list of (dict task -> networkx.DiGraph, float)
        """
        joined = linkage(squareform(table.to_numpy()), "average")
        found = []
        # The columns of the cut are the numbers of clusters, from as many as tasks down to 1.
        for labels in cut_tree(joined).T[::-1]:
            graphs = {}
            for members in table.index.groupby(labels).values():
                graphs.update(self._chosen(members))
            found.append((graphs, mean_held_out(self._for_size, graphs)))
        return found

    def all_tasks(self):
        """All tasks' graphs, learned together."""
        return self._whole.learned(self._tasks.names).chosen(self._for_penalty_of_all)

    def by_distance(self):
        """All tasks' graphs, learned together; close tasks share more than distant ones."""
        prior = PairedPrior(task_distance=self._whole.distances())
        pool = Pool(self._most, self._variant, self._trial, prior)
        return pool.learned(self._tasks.names).chosen(self._for_penalty_of_all)

    def _chosen(self, names):
        """Graphs of a group at the penalty chosen by its held-out rows."""
        return self.pool.learned(names).chosen(self._for_penalty)
