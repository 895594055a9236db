"""Chooses how much the tasks share: the penalty of a prior, by held-out rows."""

import math
import numbers
from dataclasses import replace

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

from bnmtl.graphs import from_adjacency
from bnmtl.learners.base import COMMON_PARAMETERS
from bnmtl.learners.multitask import MultitaskLearner
from bnmtl.networks import BayesNet
from bnmtl.priors import PairedPrior
from bnmtl.search.multitask import MultitaskSearch
from bnmtl.seeding import generator

# Nats per row: what rounding may leave between two penalties that lead to the same networks.
EQUALLY_GOOD = 1e-9
# 1 - delta = 1, 0.5, 1e-1 ... 1e-12, 0
DEFAULT_PENALTIES = (0.0, 0.5, *(1 - 10.0**-e for e in range(1, 13)), 1.0)


class MultitaskLearnerCV(MultitaskLearner):
    __doc__ = f"""Learn the tasks together at the penalty that predicts held-out rows best.

    Parameters
    ----------
    prior : PairedPrior or EditPrior, default=None
        Its ``penalty`` is replaced by each of ``penalties`` in turn; None is `PairedPrior()`.
    penalties : sequence of float, default=None
        None is 1 - penalty = 1, 0.5, 1e-1, ... 1e-12, 0.
    validation : float, default=0.05
        Share of each task's rows that is held out, at least one row. The structures learned from
        the other rows are kept; the probability tables are estimated again from all rows.
    cv : int, default=None
        Number of folds; then every row is held out once, and the chosen penalty is used to learn
        from all rows. Give ``validation=None`` with it.
    {COMMON_PARAMETERS}
        "single-task", "identical", "empty", a graph for all tasks or a mapping task -> graph; None
        tries the first three and keeps the best score.

    Attributes
    ----------
    penalty_ : float
        The chosen penalty; of equally good ones the largest.
    validation_scores_ : pandas.Series by penalty
        Mean over tasks of the mean log-likelihood of a held-out row, in nats.
    configuration_, networks_, score_, task_scores_, arcs_, start_, start_scores_, tasks_
        As in `MultitaskLearner`, at the chosen penalty and for all rows.

    References
    ----------
    Niculescu-Mizil (2008), section 2.3.4.

    Examples
    --------
    >>> from bnmtl import MultitaskLearnerCV, structures
    >>> asia = structures.load("asia")
    >>> rows = [asia.sample(300, random_state=seed) for seed in range(3)]
    >>> learner = MultitaskLearnerCV(penalties=[0, 0.9, 1], restarts=5, random_state=0).fit(rows)
    >>> learner.penalty_
    1.0
    """

    def __init__(
        self,
        prior=None,
        penalties=None,
        validation=0.05,
        cv=None,
        score=None,
        structure_prior=None,
        required=(),
        forbidden=(),
        tiers=None,
        search="hill-climbing",
        restarts=100,
        perturb=10,
        tabu=10,
        max_parents=None,
        start=None,
        missing="error",
        parameter_sample_size=1.0,
        random_state=None,
        n_jobs=None,
        progress=False,
    ):
        super().__init__(
            prior=prior,
            score=score,
            structure_prior=structure_prior,
            required=required,
            forbidden=forbidden,
            tiers=tiers,
            search=search,
            restarts=restarts,
            perturb=perturb,
            tabu=tabu,
            max_parents=max_parents,
            start=start,
            missing=missing,
            parameter_sample_size=parameter_sample_size,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
        self.penalties = penalties
        self.validation = validation
        self.cv = cv

    def _check_parameters(self):
        super()._check_parameters()
        if (self.validation is None) == (self.cv is None):
            raise ValueError(
                "Give one of `validation` and `cv` and leave the other None, got "
                f"validation={self.validation!r} and cv={self.cv!r}."
            )
        share = self.validation
        if share is not None and not (isinstance(share, numbers.Real) and 0 < share < 1):
            raise ValueError(f"`validation` must be above 0 and below 1, got {share!r}.")
        folds = self.cv
        if folds is not None and not (isinstance(folds, numbers.Integral) and folds >= 2):
            raise ValueError(f"`cv` must be a whole number of at least 2, got {folds!r}.")
        for prior in self._priors().values():
            prior.check()

    def _priors(self):
        """The prior at each penalty of the grid, the largest penalty first."""
        prior = PairedPrior() if self.prior is None else self.prior
        if not hasattr(prior, "set_params") or "penalty" not in prior.get_params():
            raise TypeError(
                f"`prior` must have a `penalty` to choose, got {prior!r}; learn with a coupling of "
                "your own through MultitaskLearner."
            )
        grid = DEFAULT_PENALTIES if self.penalties is None else self.penalties
        if not len(grid):
            raise ValueError("`penalties` must hold at least one penalty, got an empty grid.")
        ordered = sorted({float(penalty) for penalty in grid}, reverse=True)
        return {penalty: clone(prior).set_params(penalty=penalty) for penalty in ordered}

    def _fit(self, tasks, effort, report):
        priors = self._priors()
        problems = self._problems(tasks)
        starts = self._starts(tasks, problems)
        held_out = self._held_out(tasks, effort.seed)
        scores = np.zeros(len(priors))
        for fold in range(len(next(iter(held_out.values())))):
            train, test = _parted(tasks, {name: folds[fold] for name, folds in held_out.items()})
            search = MultitaskSearch(self._problems(train), effort, report)
            solutions = self._grid(search, priors, starts, effort, report, fold)
            scores += [self._held_out_score(train, test, one.matrices) for one in solutions]
        scores /= len(next(iter(held_out.values())))
        # The grid falls, so the first of equally good penalties is the largest.
        best = int(np.argmax(scores >= scores.max() - EQUALLY_GOOD))
        self.penalty_ = list(priors)[best]
        self.validation_scores_ = pd.Series(
            scores[::-1], index=pd.Index(list(priors)[::-1], name="penalty"), name="nats per row"
        )
        prior = priors[self.penalty_]
        if self.cv is None:
            # A variable that was constant in the training rows took no part, whatever the others
            # say.
            pairs = zip(problems, search.problems, strict=True)
            scored = [replace(whole, active=trained.active) for whole, trained in pairs]
            score, task_scores = MultitaskSearch(scored, effort, report).value(
                prior, solutions[best].matrices
            )
            solution = replace(solutions[best], score=score, task_scores=task_scores)
        else:
            solution = MultitaskSearch(problems, effort, report).solve(prior, starts)
        self._publish_solution(tasks, problems, solution)

    def _grid(self, search, priors, starts, effort, report, fold):
        """A solution for every penalty, on the training rows of one fold."""
        search.prepare([name for name in starts if name != "given"])
        total = len(priors) * (self.cv or 1)
        done = fold * len(priors)
        solutions = []
        for solution in Parallel(n_jobs=effort.n_jobs, prefer="threads", return_as="generator")(
            delayed(search.solve)(prior, starts) for prior in priors.values()
        ):
            solutions.append(solution)
            report("penalties", None, done + len(solutions), total)
        return solutions

    def _held_out_score(self, train, test, matrices):
        """Mean over tasks of the mean log-likelihood of their held-out rows, in nats."""
        means = []
        for (name, task), matrix in zip(train.items(), matrices, strict=True):
            graph = from_adjacency(matrix, task.variables)
            network = BayesNet.fit(graph, task, self.parameter_sample_size)
            means.append(float(np.mean(network.log_likelihood(test[name]))))
        return float(np.mean(means))

    def _held_out(self, tasks, seed):
        """For every task, the rows that are held out in each fold."""
        folds = {}
        for name, task in tasks.items():
            order = generator(seed, name, "held out").permutation(task.n_rows)
            rows = np.lexsort(task.codes[::-1])[order]
            if self.cv is None:
                n_held_out = max(1, math.ceil(self.validation * task.n_rows))
                folds[name] = [rows[:n_held_out]]
            else:
                if task.n_rows < self.cv:
                    raise ValueError(
                        f"Task `{name}`: {task.n_rows} rows cannot be parted into `cv`={self.cv} "
                        "folds; ask for fewer."
                    )
                folds[name] = np.array_split(rows, self.cv)
        return folds


def _parted(tasks, held_out):
    """The training and the held-out rows of every task."""
    kept = {
        name: np.setdiff1d(np.arange(task.n_rows), held_out[name]) for name, task in tasks.items()
    }
    return tasks.take(kept), tasks.take(held_out)
