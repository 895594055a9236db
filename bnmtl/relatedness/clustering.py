"""Clusters of tasks, each learned together."""

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator

from bnmtl.errors import check_choice
from bnmtl.graphs import Configuration
from bnmtl.learners.adapted import at_penalty, changed
from bnmtl.progress import Reporter
from bnmtl.relatedness.measures import DISTANCES, distances_of
from bnmtl.relatedness.selection import SizeChoice, check_wanted_size
from bnmtl.seeding import seed_of
from bnmtl.tasks import encode
from bnmtl.threads import fitted_alone


class TaskClusterer(BaseEstimator):
    """Cluster the tasks by average linkage and learn each cluster together.

    Parameters
    ----------
    learner : MultitaskLearner or MultitaskLearnerCV
        Learns each cluster, and the structures for the distances; it is not fitted itself. A single
        task is learned by the same single-task search. A ``time_limit`` applies to each fit.
    n_clusters : "validation", "cv" or int, default="validation"
        "validation" holds out 5 % of the rows of each task, at least 10, not used to choose a
        penalty, and chooses the number of clusters that predicts them best; structures are learned
        from the remaining rows, probability tables from all. "cv" uses ten folds, or as many as
        there are rows, and learns again from all rows; the clusters are those of all rows.
    relatedness : {"direct", "shared", "evidence"}, default="direct"
        The distances: see `direct` and `evidence`, or 1 minus the probability of `shared`.

    Attributes
    ----------
    labels_ : pandas.Series by task
        Cluster of each task, numbered from 0 in the order of their first tasks.
    relatedness_ : pandas.DataFrame
        The distances.
    linkage_ : array of shape (n_tasks - 1, 4)
        As returned by `scipy.cluster.hierarchy.linkage`, over the tasks in canonical order.
    n_clusters_ : int
        The number of clusters; the smallest among ties.
    scores_ : pandas.Series by number of clusters
        Mean over tasks of the mean log-likelihood of their held-out rows, in nats; empty if the
        number was given.
    configuration_ : mapping task -> networkx.DiGraph
    networks_ : dict task -> BayesNet
    learners_ : list
        The learner fitted to each cluster.

    Raises
    ------
    InputTypeError, InputError
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

    def __init__(self, learner, n_clusters="validation", relatedness="direct"):
        self.learner = learner
        self.n_clusters = n_clusters
        self.relatedness = relatedness

    @fitted_alone
    def fit(self, tasks):
        """Measure distances, choose the number of clusters, and learn.

        Parameters
        ----------
        tasks : mapping name -> DataFrame, list of DataFrame or Tasks

        Returns
        -------
        self
        """
        # Raises for a learner without a penalty.
        at_penalty(self.learner, 0.9)
        self.learner._check_parameters()
        check_choice("relatedness", self.relatedness, DISTANCES)
        tasks = encode(tasks, missing=self.learner.missing)
        self.learner._check_for(tasks)
        check_wanted_size("n_clusters", self.n_clusters, 1, len(tasks))
        learner = changed(self.learner, random_state=seed_of(self.learner.random_state))
        sizes = pd.RangeIndex(1, len(tasks) + 1, name="n_clusters")
        with Reporter(self.learner.progress) as report:
            choice = SizeChoice(self.n_clusters, sizes, tasks, list(tasks), learner, report)
            self._link(choice.groups)
            self.n_clusters_, self.scores_ = choice.best(self._score)
            self.labels_ = self._labels(self.n_clusters_)
            self.learners_ = list(map(choice.groups.fitted, self._clusters(self.n_clusters_)))
        found = {}
        for fitted in self.learners_:
            found.update(fitted.configuration_)
        self.configuration_ = Configuration((name, found[name]) for name in tasks)
        self.networks_ = choice.networks(self.learners_)
        return self

    def _link(self, groups):
        """Set the distances and the hierarchy of clusters."""
        names = list(groups.tasks)
        if len(names) == 1:
            self.relatedness_ = pd.DataFrame(0.0, index=names, columns=names)
            self.linkage_ = np.zeros((0, 4))
            return
        self.relatedness_ = distances_of(groups, self.relatedness)
        self.linkage_ = linkage(squareform(self.relatedness_.to_numpy()), "average")

    def _labels(self, n_clusters):
        """Cluster of each task, numbered in the order of their first tasks."""
        names = self.relatedness_.index
        cut = cut_tree(self.linkage_, n_clusters).ravel() if len(names) > 1 else np.ones(1)
        codes, _ = pd.factorize(cut)
        return pd.Series(codes, index=pd.Index(names, name="task"), name="cluster")

    def _clusters(self, n_clusters):
        labels = self._labels(n_clusters)
        return [list(cluster.index) for _, cluster in labels.groupby(labels)]

    def _score(self, groups, test, n_clusters):
        """Mean over tasks of the score of their held-out rows."""
        scores = [
            groups.held_out_score(names, name, test[name])
            for names in self._clusters(n_clusters)
            for name in names
        ]
        return float(np.mean(scores))
