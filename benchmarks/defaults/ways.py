"""Methods for choosing the penalty, from one path of solutions and one set of folds."""

import time

import numpy as np

from bnmtl import ArcPrior, MultitaskLearnerCV
from bnmtl.learners.held_out import default_folds, penalty_scores, score_folds
from bnmtl.learners.validated import best_penalty, chosen_penalty, paired_errors
from bnmtl.progress import Reporter
from bnmtl.search.grouped import solve_path
from bnmtl.search.multitask import MultitaskSearch

CHOSEN = ("posterior", "cv", "one-standard-error", "posterior within one error")
FIXED_PENALTIES = (0.9, 0.99, 0.999, 0.9999, 1.0)
WAYS = (*CHOSEN, *(f"penalty {penalty:g}" for penalty in FIXED_PENALTIES))


def expecting(tasks, n_parents):
    """The structure prior with an expected number of parents for each task; None: uniform.

    Parameters
    ----------
    tasks : Tasks
    n_parents : float or None
    """
    if n_parents is None:
        return None
    priors = {}
    for name, task in tasks.items():
        n_others = max(len(task.variables) - len(task.constant) - 1, 1)
        priors[name] = ArcPrior(probability=min(n_parents / n_others, 0.5))
    return priors


def choices(penalties, log_posterior, scores):
    """Positions of the penalties that the methods choose.

    Parameters
    ----------
    penalties : sequence of float
        In descending order.
    log_posterior : float array of shape (p,)
    scores : float array of shape (p, n_folds)
        Scores of the folds that may be used.

    Returns
    -------
    dict way -> int
    """
    best = chosen_penalty(scores)
    means = scores.mean(axis=1)
    is_near = means >= means[best] - paired_errors(scores, best)
    found = {
        "posterior": best_penalty(log_posterior),
        "cv": best,
        "one-standard-error": chosen_penalty(scores, "one-standard-error"),
        "posterior within one error": best_penalty(np.where(is_near, log_posterior, -np.inf)),
    }
    for penalty in FIXED_PENALTIES:
        nearest = int(np.argmin(np.abs(np.subtract(penalties, penalty))))
        found[f"penalty {penalty:g}"] = nearest
    return found


class Path:
    """The solutions of a `MultitaskLearnerCV` at all penalties of its grid, and the choices.

    Parameters
    ----------
    learner : MultitaskLearnerCV
        Not yet fitted.
    tasks : Tasks

    Attributes
    ----------
    penalties : list of float
        In descending order.
    solutions : list of Solution
    chosen : dict way -> int
    seconds : (float, float)
        Time for the path and for the folds.
    """

    def __init__(self, learner, tasks):
        began = time.perf_counter()
        effort, silent = learner._effort(), Reporter(False)
        problems = learner._problems(tasks, effort)
        search = MultitaskSearch(problems, effort, silent)
        priors = learner._possible_priors(problems)
        values = list(priors.values())
        self.penalties = list(priors)
        self.solutions = solve_path(search, values, search.starts(values), effort)
        pairs = zip(values, self.solutions, strict=True)
        log_posterior = np.array([learner._posterior(search, *one) for one in pairs])
        between = time.perf_counter()
        folds = folds_of(learner, tasks, values)
        self.seconds = round(between - began, 2), round(time.perf_counter() - between, 2)
        self.chosen = choices(self.penalties, log_posterior, penalty_scores(folds))


def folds_of(learner, tasks, priors):
    """The folds of a `MultitaskLearnerCV`, each with the posteriors of the penalties."""
    if not isinstance(learner, MultitaskLearnerCV):
        raise TypeError(f"A learner that chooses penalties is needed, got {learner!r}.")
    n_folds, effort = default_folds(tasks, leave_one_out=True), learner._effort()
    return score_folds(
        learner, tasks, n_folds, priors, effort, lambda done: None, posterior=learner._posterior
    )
