"""Scores of penalties for `MultitaskLearnerCV`: by folds, held-out rows, or the posterior."""

import numpy as np

from bnmtl.graphs import graphs_by_task
from bnmtl.learners.fold_scores import penalty_scores, score_folds
from bnmtl.learners.held_out import by_learner, default_folds, held_out_rows, held_out_split
from bnmtl.search.shared_multitask import search_over


def judge_of(learner, *parts):
    """The judge for the parameters of a learner; ``parts`` as in `_Judge`."""
    kind = {"posterior": _Posterior, "held-out rows": _HeldOutRows}
    return kind.get(learner.way_of_choosing(), _Folds)(learner, *parts)


class _Judge:
    """Scores penalties by their solutions.

    Parameters
    ----------
    learner : MultitaskLearnerCV
    tasks, whole : Tasks
        The training rows, and the same tasks with all rows.
    search : MultitaskSearch
        On the training rows.
    given : dict name -> list of bool array, or None
        Start graphs given by the user.
    effort : Effort
    report : Reporter

    Attributes
    ----------
    search : MultitaskSearch
        Finds the solutions to be scored.
    folds : list of Fold or None
        The scored folds, if folds choose the penalty.
    """

    folds = None

    def __init__(self, learner, tasks, whole, search, given, effort, report):
        self.search = search
        self._learner, self._tasks, self._given = learner, tasks, given
        self._effort, self._report = effort, report

    def on_all_rows(self, prior, solution):
        """A solution with its scores on all training rows."""
        return solution


class _Folds(_Judge):
    """Each row is held out once; the solutions use all rows."""

    def scores(self, priors, solutions):
        """The contribution of each fold to the score of each penalty, shape (p, n_folds)."""
        n_folds = self._learner.cv or default_folds(self._tasks, leave_one_out=True)
        done = self._report.of_part("folds", 0, n_folds)
        effort = self._effort.share(0.7)
        self.folds = score_folds(
            self._learner, self._tasks, n_folds, priors, effort, done, self._given
        )
        return penalty_scores(self.folds)


class _HeldOutRows(_Judge):
    """Some rows are held out once; the solutions use the others."""

    def __init__(self, learner, tasks, whole, search, given, effort, report):
        super().__init__(learner, tasks, whole, search, given, effort, report)
        (rows,) = held_out_rows(tasks, learner.validation, None, effort.seed)
        self._train, self._test = held_out_split(tasks, rows)
        constraints = {problem.name: problem.constraints for problem in search.problems}
        problems = learner.problems(self._train, effort, whole, constraints)
        self._on_all, self.search = search, search_over(problems, effort.share(0.6), report)

    def scores(self, priors, solutions):
        """Mean over tasks of the mean log-likelihood of a held-out row, shape (p, 1)."""
        held_out = by_learner(self._learner, self._train, self._test)
        return np.array([self._mean(held_out, solution) for solution in solutions])[:, None]

    def _mean(self, held_out, solution):
        if solution.score == -np.inf:
            return -np.inf
        means = held_out.means(graphs_by_task(self._train, solution.matrices))
        return float(np.mean(list(means.values())))

    def on_all_rows(self, prior, solution):
        return self._on_all.scored(prior, solution, self.search.problems)


class _Posterior(_Judge):
    """The posterior of each penalty; no rows are held out."""

    def scores(self, priors, solutions):
        """Log posterior of each penalty up to a constant, shape (p, 1)."""
        pairs = zip(priors, solutions, strict=True)
        return np.array([self._learner.posterior(self.search, *one) for one in pairs])[:, None]
