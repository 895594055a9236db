"""Selection of the tasks that help one principal task, and how many of them."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from bnmtl.errors import InputError, check_choice, check_whole
from bnmtl.learners.adapted import at_penalty, changed
from bnmtl.learners.held_out import check_sample_size, default_folds, held_out_rows, held_out_split
from bnmtl.learners.validated import EQUALLY_GOOD
from bnmtl.networks.shared_tables import fit_tables, networks_of
from bnmtl.priors.coupling import read_distances
from bnmtl.progress import Reporter
from bnmtl.relatedness.measures import MEASURES, Groups, distances_of, indirect_of, nearest_first
from bnmtl.seeding import seed_of
from bnmtl.tasks import Tasks, encode
from bnmtl.threads import fitted_alone
from bnmtl.wording import listed

# Share and minimum number of held-out rows with "validation".
SHARE, AT_LEAST = 0.05, 10


def check_wanted_size(argument, value, least, most):
    """Raise unless a size is "validation", "cv" or a whole number in a range."""
    if isinstance(value, str):
        check_choice(argument, value, ("validation", "cv"), remedy="or give a whole number")
    else:
        check_whole(argument, value, least, most, remedy="or give 'validation' or 'cv'")


class SizeChoice:
    """The held-out rows that choose a size, and groups of tasks on the others.

    Parameters
    ----------
    wanted : "validation", "cv" or int
    sizes : pandas.Index
        The possible sizes.
    tasks : Tasks
    judged : iterable of str
        The tasks with held-out rows, separate from those that choose a penalty.
    learner : MultitaskLearner or MultitaskLearnerCV
        Its ``random_state`` is an int.
    report : Reporter

    Attributes
    ----------
    groups : Groups
        On the training rows of structures: all except those of a validation set.
    """

    def __init__(self, wanted, sizes, tasks, judged, learner, report):
        self._wanted, self._sizes, self._tasks = wanted, sizes, tasks
        self._learner, self._report = learner, report
        judged_tasks = Tasks(tasks[name] for name in judged)
        share = SHARE if wanted == "validation" else None
        n_folds = default_folds(judged_tasks) if wanted == "cv" else None
        self._folds = []
        if isinstance(wanted, str):
            check_sample_size(learner.parameter_sample_size)
            self._folds = held_out_rows(
                *(judged_tasks, share, n_folds, learner.random_state),
                purpose="size",
                at_least=AT_LEAST,
                remedy=f'use `{sizes.name}="cv"` or a number',
            )
        holds_out = wanted == "validation"
        self.groups = self._on(held_out_split(tasks, self._folds[0])[0] if holds_out else tasks)

    def best(self, score):
        """The given size, or the size with the best score; ties go to the first.

        Parameters
        ----------
        score : callable (groups, held-out rows as Tasks, size) -> float

        Returns
        -------
        size : int
        scores : pandas.Series by size
            Empty if the size was given.
        """
        if not self._folds:
            return int(self._wanted), pd.Series(dtype=float, index=self._sizes[:0])
        totals, total = np.zeros(len(self._sizes)), len(self._folds) * len(self._sizes)
        for at, fold in enumerate(self._folds):
            train, test = held_out_split(self._tasks, fold)
            groups = self.groups if self._wanted == "validation" else self._on(train)
            for i, size in enumerate(self._sizes.tolist()):
                totals[i] += score(groups, test, size) / len(self._folds)
                done = at * len(self._sizes) + i + 1
                self._report(f"choice of {self._sizes.name}", None, done, total)
        best = int(np.argmax(totals >= totals.max() - EQUALLY_GOOD))
        return int(self._sizes[best]), pd.Series(totals, index=self._sizes)

    def networks(self, learners):
        """Networks with the graphs of fitted learners and probabilities from all rows."""
        size, found = self._learner.parameter_sample_size, {}
        for learner in learners:
            graphs = learner.configuration_
            group = Tasks(self._tasks[name] for name in graphs)
            tables = fit_tables(graphs, group).tables if learner._shares_tables(group) else None
            found |= networks_of(graphs, group, tables, size)
        return {name: found[name] for name in self._tasks if name in found}

    def _on(self, rows):
        return Groups(self._learner, rows, self._tasks, self._report)


class TaskSelector(BaseEstimator):
    """Learn one task together with the other tasks that help it most.

    The other tasks are ordered by their distance to the principal one, and the nearest are learned
    together with it.

    Parameters
    ----------
    learner : MultitaskLearner or MultitaskLearnerCV
        Learns the principal task with the selected ones; it is not fitted itself. A ``time_limit``
        applies to each fit.
    principal : str
        Name of the principal task.
    n_tasks : "cv", "validation" or int, default="cv"
        Number of other tasks; 0 learns the principal task alone. "cv" takes the number that
        predicts the rows of the principal task best in ten folds, or as many as there are rows, and
        learns again from all rows; the order of the tasks is that of all rows. "validation" takes a
        tenth of the time: it holds out 5 % of the rows of the principal task, at least 10, not used
        to choose a penalty; structures are learned from the remaining rows, probability tables from
        all. So few rows often select too few tasks. In the project's benchmark (two trials of 250
        rows) it has more edits than "cv", and "cv" more than all tasks; `MultitaskLearner` finds
        groups of tasks without such a choice.
    relatedness : "direct", "indirect", "shared", "evidence" or DataFrame, default="direct"
        The measure of distance: see `direct`, `indirect` and `shared`; or a table of
        dissimilarities, of which only the column of the principal task is used.

    Attributes
    ----------
    order_ : list of str
        The other tasks, the nearest first and ties by name.
    relatedness_ : pandas.DataFrame
        The dissimilarities; for "shared", 1 minus the probability.
    n_tasks_ : int
        Number of selected tasks; the smallest among ties.
    scores_ : pandas.Series by number of other tasks
        Mean log-likelihood of the held-out rows of the principal task, in nats; empty if the number
        was given.
    networks_ : dict task -> BayesNet
        Networks of the principal and the selected tasks.
    configuration_ : mapping task -> networkx.DiGraph
    learner_ : the learner fitted to them, a `SingleTaskLearner` if none was selected

    Raises
    ------
    InputTypeError, InputError
        In ``fit``, for an unknown principal task, a number of tasks out of range, a table that
        lacks a task, and as in the learner's ``fit``.

    References
    ----------
    Niculescu-Mizil (2008), section 2.4.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, problems
    >>> from bnmtl.relatedness import TaskSelector
    >>> problem = problems.components("asia", [("tub", "asia", "either")], [(), (), (0,)],
    ...                               random_state=0)
    >>> rows = problems.sample(problem, 300, random_state=0)
    >>> selector = TaskSelector(MultitaskLearner(random_state=0), "task1", n_tasks=1).fit(rows)
    >>> sorted(selector.networks_)
    ['task1', 'task2']
    """

    def __init__(self, learner, principal, n_tasks="cv", relatedness="direct"):
        self.learner = learner
        self.principal = principal
        self.n_tasks = n_tasks
        self.relatedness = relatedness

    @fitted_alone
    def fit(self, tasks):
        """Order the other tasks, choose their number, and learn.

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
        if isinstance(self.relatedness, str) and self.relatedness == "indirect":
            check_sample_size(self.learner.parameter_sample_size)
        tasks = encode(tasks, missing=self.learner.missing)
        self.learner._check_for(tasks)
        principal = str(self.principal)
        if principal not in tasks.names:
            message = f"must be one of the tasks {listed(tasks.names)}, got {self.principal!r}"
            raise InputError(message, argument="principal")
        check_wanted_size("n_tasks", self.n_tasks, 0, len(tasks) - 1)
        given = self._given_table(tasks)
        learner = changed(self.learner, random_state=seed_of(self.learner.random_state))
        sizes = pd.RangeIndex(len(tasks), name="n_tasks")

        def score(groups, test, size):
            names = [principal, *self.order_[:size]]
            return groups.held_out_score(names, principal, test[principal])

        with Reporter(self.learner.progress) as report:
            choice = SizeChoice(self.n_tasks, sizes, tasks, [principal], learner, report)
            self.relatedness_ = self._measured(choice.groups) if given is None else given
            self.order_ = list(nearest_first(self.relatedness_, principal).index)
            self.n_tasks_, self.scores_ = choice.best(score)
            self.learner_ = choice.groups.fitted([principal, *self.order_[: self.n_tasks_]])
        self.configuration_ = self.learner_.configuration_
        self.networks_ = choice.networks([self.learner_])
        return self

    def _given_table(self, tasks):
        """The given dissimilarities, checked; None if they have to be measured."""
        if not isinstance(self.relatedness, pd.DataFrame):
            check_choice("relatedness", self.relatedness, MEASURES, remedy="or give a DataFrame")
            return None
        table = read_distances(self.relatedness, "relatedness")
        lacking = sorted(set(tasks.names) - set(table.index))
        if lacking:
            message = f"must have a row and a column for every task; `{lacking[0]}` is missing"
            raise InputError(message, argument="relatedness")
        return table.loc[list(tasks), list(tasks)]

    def _measured(self, groups):
        if self.relatedness == "indirect":
            return indirect_of(groups, default_folds(groups.tasks))
        return distances_of(groups, self.relatedness)
