"""Scores of penalties for `MultitaskLearnerCV`: by folds, held-out rows, or the posterior."""

import numpy as np

from bnmtl.graphs import graphs_by_task
from bnmtl.learners.fold_scores import penalty_scores, score_folds
from bnmtl.learners.held_out import by_learner, default_folds, held_out_rows, held_out_split
from bnmtl.learners.task_groups import search_in_groups
from bnmtl.search.grouped import joined


def judge_of(learner, *parts):
    """The judge for the parameters of a learner; ``parts`` as in `_Judge`."""
    kind = {"posterior": _Posterior, "held-out rows": _HeldOutRows}
    return kind.get(learner.way_of_choosing(), _Folds)(learner, *parts)


class _Judge:
    """Scores penalties by the solutions of all groups of tasks.

    Parameters
    ----------
    learner : MultitaskLearnerCV
    tasks, whole : Tasks
        The training rows, and the same tasks with all rows.
    groups : TaskGroups
    search : GroupedSearch
        On the training rows.
    given : dict name -> list of bool array, or None
        Start graphs given by the user.
    effort : Effort
    report : Reporter

    Attributes
    ----------
    search : GroupedSearch
        Finds the solutions to be scored.
    folds : list of Fold or None
        The scored folds, if folds choose the penalty.
    """

    folds = None

    def __init__(self, learner, tasks, whole, groups, search, given, effort, report):
        self.search = search
        self._learner, self._tasks, self._groups, self._given = learner, tasks, groups, given
        self._effort, self._report = effort, report

    def on_all_rows(self, prior, solutions):
        """The solutions of the groups with their scores on all training rows."""
        return solutions


class _Folds(_Judge):
    """Each row is held out once; the solutions use all rows."""

    def scores(self, priors, solutions):
        """The contribution of each fold to the score of each penalty, shape (p, n_folds)."""
        n_folds = self._learner.cv or default_folds(self._tasks, leave_one_out=True)
        done = self._report.of_part("folds", 0, n_folds)
        effort = self._effort.share(0.7)
        self.folds = score_folds(
            self._learner, self._tasks, n_folds, priors, effort, done, self._given, self._groups
        )
        return penalty_scores(self.folds)


class _HeldOutRows(_Judge):
    """Some rows are held out once; the solutions use the others."""

    def __init__(self, learner, tasks, whole, groups, search, given, effort, report):
        super().__init__(learner, tasks, whole, groups, search, given, effort, report)
        (rows,) = held_out_rows(tasks, learner.validation, None, effort.seed)
        self._train, self._test = held_out_split(tasks, rows)
        constraints = {one.name: one.constraints for part in search.problems for one in part}
        problems = learner.problems(self._train, effort, whole, constraints)
        self._on_all = search
        self.search = search_in_groups(
            learner, groups.members, whole, problems, effort.share(0.6), report
        )

    def scores(self, priors, solutions):
        """Mean over tasks of the mean log-likelihood of a held-out row, shape (p, 1)."""
        held_out = by_learner(self._learner, self._train, self._test)
        of_all = [joined(self._groups.members, parts) for parts in solutions]
        return np.array([self._mean(held_out, solution) for solution in of_all])[:, None]

    def _mean(self, held_out, solution):
        if solution.score == -np.inf:
            return -np.inf
        graphs = graphs_by_task(self._train, solution.matrices)
        means = held_out.means(graphs, self._groups.names)
        return float(np.mean(list(means.values())))

    def on_all_rows(self, prior, solutions):
        return self._on_all.scored(prior, solutions, self.search.problems)


class _Posterior(_Judge):
    """The posterior of each penalty; no rows are held out."""

    def scores(self, priors, solutions):
        """Log posterior of each penalty up to a constant, shape (p, 1); the sum over groups."""
        pairs = zip(priors, solutions, strict=True)
        return np.array([self.search.posterior(self._learner.posterior, *one) for one in pairs])[
            :, None
        ]
