"""The number of tasks or clusters: given, or chosen by held-out rows."""

import numpy as np
import pandas as pd

from bnmtl.errors import check_choice, check_whole
from bnmtl.learners.held_out import check_sample_size, default_folds, held_out_rows, held_out_split
from bnmtl.learners.penalty import EQUALLY_GOOD
from bnmtl.networks.several import networks_of
from bnmtl.networks.shared_tables import fit_tables
from bnmtl.relatedness.groups import Groups
from bnmtl.tasks import Tasks

# Share and minimum number of held-out rows with "validation".
SHARE, AT_LEAST = 0.05, 10


def check_size(argument, value, least, most):
    """Raise unless a size is "validation", "cv" or a whole number in a range."""
    if isinstance(value, str):
        check_choice(argument, value, ("validation", "cv"), remedies="or give a whole number")
    else:
        check_whole(argument, value, least, most, remedies="or give 'validation' or 'cv'")


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
        self._wanted = wanted
        self._sizes = sizes
        self._tasks = tasks
        self._learner = learner
        self._report = report
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
            tables = fit_tables(graphs, group).tables if learner.shares_tables(group) else None
            found |= networks_of(graphs, group, tables, size)
        return {name: found[name] for name in self._tasks if name in found}

    def _on(self, rows):
        return Groups(self._learner, rows, self._tasks, self._report)
