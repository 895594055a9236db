"""Clusters of tasks, each learned together."""

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, clone

from bnmtl.graphs import Configuration
from bnmtl.held_out import parted
from bnmtl.learners.derived import at_penalty
from bnmtl.networks import BayesNet
from bnmtl.progress import Reporter
from bnmtl.relatedness.groups import Groups
from bnmtl.relatedness.measures import direct
from bnmtl.relatedness.selection import check_size, first_of_the_best, held_out
from bnmtl.seeding import seed_of
from bnmtl.tasks import encode

__all__ = ["TaskClusterer"]


class TaskClusterer(BaseEstimator):
    """Part the tasks into clusters by average linkage and learn each cluster together.

    Parameters
    ----------
    learner : MultitaskLearner or MultitaskLearnerCV
        Learns each cluster, and the structures that distances are measured between (see `direct`);
        it is not fitted itself. A task alone is learned by the same single-task search.
    n_clusters : "validation", "cv" or int, default="validation"
        "validation" holds out 5 % of each task's rows, at least 10, others than those that choose
        a penalty, and takes the number of clusters that predicts them best; structures are learned
        from the rows that are left, probability tables from all. "cv" does so with ten folds and
        learns again from all rows; the clusters are those of all rows.

    Attributes
    ----------
    labels_ : pandas.Series by task
        Number of the task's cluster, from 0, in the order of the first task of each.
    relatedness_ : pandas.DataFrame
        The distances.
    linkage_ : array of shape (n_tasks - 1, 4)
        As `scipy.cluster.hierarchy.linkage` gives it, over the tasks in their canonical order.
    n_clusters_ : int
        Of equally good numbers the smallest.
    scores_ : pandas.Series by number of clusters
        Mean over tasks of the mean log-likelihood of their held-out rows, in nats; empty where the
        number was given.
    configuration_ : mapping task -> networkx.DiGraph
    networks_ : dict task -> BayesNet
    learners_ : list
        The learner that was fitted to each cluster.

    Raises
    ------
    TypeError, ValueError
        In ``fit``, for a number of clusters out of range and as in the learner's ``fit``.

    References
    ----------
    Niculescu-Mizil (2008), section 2.4.3.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, problems
    >>> from bnmtl.relatedness import TaskClusterer
    >>> problem = problems.components("asia", [("tub", "asia", "either")], [(), (), (0,)],
    ...                               random_state=0)
    >>> rows = problems.sample(problem, 500, random_state=0)
    >>> clusterer = TaskClusterer(MultitaskLearner(random_state=0), n_clusters=2).fit(rows)
    >>> clusterer.labels_.to_dict()
    {'task1': 0, 'task2': 0, 'task3': 1}
    """

    def __init__(self, learner, n_clusters="validation"):
        self.learner = learner
        self.n_clusters = n_clusters

    def fit(self, tasks):
        """Measure distances, choose how many clusters, and learn.

        Parameters
        ----------
        tasks : mapping name -> DataFrame, list of DataFrame or Tasks

        Returns
        -------
        self
        """
        at_penalty(self.learner, 0.9)
        tasks = encode(tasks, missing=self.learner.missing)
        check_size("n_clusters", self.n_clusters, 1, len(tasks))
        seed = seed_of(self.learner.random_state)
        learner = clone(self.learner).set_params(random_state=seed)
        with Reporter(self.learner.progress) as report:
            self._fit(tasks, learner, seed, report)
        return self

    def _fit(self, tasks, learner, seed, report):
        folds = held_out(self.n_clusters, tasks, seed) if isinstance(self.n_clusters, str) else []
        known = parted(tasks, folds[0])[0] if self.n_clusters == "validation" else tasks
        self._link(known, learner)
        groups = Groups(learner, known)
        sizes = range(1, len(tasks) + 1)
        self.scores_ = pd.Series(dtype=float, index=pd.Index([], name="n_clusters"))
        self.n_clusters_ = self.n_clusters
        if folds:
            totals = np.zeros(len(sizes))
            for at, fold in enumerate(folds):
                train, test = parted(tasks, fold)
                own = groups if self.n_clusters == "validation" else Groups(learner, train)
                for i, size in enumerate(sizes):
                    totals[i] += self._score(own, test, size) / len(folds)
                    done = at * len(sizes) + i + 1
                    report("numbers of clusters", None, done, len(folds) * len(sizes))
            self.scores_ = pd.Series(totals, index=pd.Index(sizes, name="n_clusters"))
            self.n_clusters_ = sizes[first_of_the_best(totals)]
        self.labels_ = self._labels(self.n_clusters_)
        self.learners_ = [groups.fitted(names) for names in self._clusters(self.n_clusters_)]
        found = {}
        for one in self.learners_:
            found.update(one.configuration_)
        self.configuration_ = Configuration((name, found[name]) for name in tasks)
        size = learner.parameter_sample_size
        self.networks_ = {
            name: BayesNet.fit(graph, tasks[name], size)
            for name, graph in self.configuration_.items()
        }

    def _link(self, tasks, learner):
        """Set the distances and the hierarchy of clusters."""
        if len(tasks) == 1:
            self.relatedness_ = pd.DataFrame(0.0, index=list(tasks), columns=list(tasks))
            self.linkage_ = np.zeros((0, 4))
            return
        self.relatedness_ = direct(tasks, learner)
        self.linkage_ = linkage(squareform(self.relatedness_.to_numpy()), "average")

    def _labels(self, n_clusters):
        """Number of each task's cluster, in the order of the first task of each."""
        names = self.relatedness_.index
        cut = np.ones(1)
        if len(names) > 1:
            cut = cut_tree(self.linkage_, n_clusters).ravel()
        codes, _ = pd.factorize(cut)
        return pd.Series(codes, index=pd.Index(names, name="task"), name="cluster")

    def _clusters(self, n_clusters):
        labels = self._labels(n_clusters)
        return [list(own.index) for _, own in labels.groupby(labels)]

    def _score(self, groups, test, n_clusters):
        """Mean over tasks of what their held-out rows score."""
        scores = [
            groups.held_out_score(names, name, test[name])
            for names in self._clusters(n_clusters)
            for name in names
        ]
        return float(np.mean(scores))
