"""The learner that also chooses how much the tasks share."""

import numbers

import numpy as np
import pandas as pd
from sklearn.base import clone

from bnmtl.graphs import from_adjacency
from bnmtl.learners.base import common_parameters
from bnmtl.learners.multitask import START, MultitaskLearner, check_prior_names
from bnmtl.networks import BayesNet
from bnmtl.penalty import best_penalty, held_out_rows, parted, penalty_grid
from bnmtl.priors import PairedPrior
from bnmtl.priors.coupling import check_prior
from bnmtl.search.effort import in_parallel
from bnmtl.search.multitask import MultitaskSearch
from bnmtl.search.problem import NoCommonGraph


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
    {common_parameters(START)}

    Attributes
    ----------
    penalty_ : float
        The chosen penalty; of equally good ones the largest.
    validation_scores_ : pandas.Series by penalty
        Mean over tasks of the mean log-likelihood of a held-out row, in nats.
    configuration_, networks_, score_, task_scores_, arcs_, tasks_, families_
        As in `MultitaskLearner`, at the chosen penalty and for all rows.
    start_, start_scores_
        The start that won and the scores of all, on the rows the structures were learned from: with
        ``validation`` the training rows.

    Raises
    ------
    ValueError
        In ``fit``, where every pair of tasks has a penalty of its own, so that there is none to
        choose; where a penalty of ``penalties`` contradicts required arcs (of the default grid such
        a penalty is left out); and as in `MultitaskLearner`.

    References
    ----------
    Niculescu-Mizil (2008), section 2.3.4.

    Examples
    --------
    >>> from bnmtl import MultitaskLearnerCV, structures
    >>> asia = structures.load("asia")
    >>> rows = [asia.sample(100, random_state=seed) for seed in range(5)]
    >>> learner = MultitaskLearnerCV(penalties=[0, 0.9, 1], random_state=0).fit(rows)
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
        search="orders",
        n_starts=5,
        iterations=40,
        restarts=100,
        perturb=10,
        tabu=10,
        max_parents=None,
        max_cells=10_000_000,
        max_families=None,
        time_limit=None,
        cache_size=200,
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
            n_starts=n_starts,
            iterations=iterations,
            restarts=restarts,
            perturb=perturb,
            tabu=tabu,
            max_parents=max_parents,
            max_cells=max_cells,
            max_families=max_families,
            time_limit=time_limit,
            cache_size=cache_size,
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
            check_prior(prior)
            prior.resolved()

    def _priors(self):
        """The prior at each penalty of the grid, the largest penalty first."""
        prior = PairedPrior() if self.prior is None else self.prior
        if not hasattr(prior, "set_params") or "penalty" not in prior.get_params():
            raise TypeError(
                f"`prior` must have a `penalty` to choose, got {prior!r}; learn with a coupling of "
                "your own through MultitaskLearner."
            )
        grid = penalty_grid(self.penalties)
        return {penalty: clone(prior).set_params(penalty=penalty) for penalty in grid}

    def _fit(self, tasks, effort, report):
        priors = self._priors()
        for prior in priors.values():
            check_prior_names(prior, tasks)
        self._check_choice(tasks)
        problems = self._problems(tasks, effort)
        whole = MultitaskSearch(problems, effort, report)
        priors = self._possible(whole, priors)
        given = self._given_starts(tasks, problems)
        names = None if given else self._start_names()
        if names == ("orders",):
            whole.check_orders(next(iter(priors.values())))

        folds = held_out_rows(tasks, self.validation, self.cv, effort.seed)
        scores = np.zeros(len(priors))
        for at, held_out in enumerate(folds):
            train, test = parted(tasks, held_out)
            constraints = {problem.name: problem.constraints for problem in problems}
            # With cross-validation the last share is for all rows.
            share = effort.share(1 / (len(folds) - at + (self.cv is not None)))
            search = MultitaskSearch(self._problems(train, effort, constraints), share, report)
            starts = search.within(given) if given else search.starts(priors.values(), names)
            done = report.of_part("penalties", at * len(priors), len(folds) * len(priors))
            solutions = self._grid(search, priors, starts, share, done)
            scores += [self._held_out_score(train, test, one) for one in solutions]
        scores /= len(folds)

        best = best_penalty(scores)
        self.penalty_ = list(priors)[best]
        self.validation_scores_ = pd.Series(
            scores[::-1], index=pd.Index(list(priors)[::-1], name="penalty"), name="nats per row"
        )
        prior = priors[self.penalty_]
        if self.cv is None:
            solution = whole.scored(prior, solutions[best], search.problems)
        else:
            solution = whole.solve(prior, given or whole.starts([prior], names), report)
        self._publish_solution(tasks, problems, solution)

    def _check_choice(self, tasks):
        """Raise ValueError where the penalty that is to be chosen has no effect."""
        listed = getattr(self.prior, "task_penalty", None)
        n_pairs = len(tasks) * (len(tasks) - 1) // 2
        if listed is not None and len(self.prior.resolved().task_penalty) == n_pairs:
            raise ValueError(
                "`task_penalty` gives every pair of tasks a penalty of its own, so there is none "
                "to choose; use MultitaskLearner."
            )

    def _possible(self, search, priors):
        """The priors without those of the default grid that contradict required arcs."""
        possible = {}
        for penalty, prior in priors.items():
            try:
                search.check(prior)
            except NoCommonGraph:
                if self.penalties is not None:
                    raise
            else:
                possible[penalty] = prior
        return possible

    def _grid(self, search, priors, starts, effort, done):
        """A solution for every penalty, on the training rows of one fold."""
        solutions = []
        calls = ((prior, starts, None) for prior in priors.values())
        for solution in in_parallel(search.solve, calls, effort):
            solutions.append(solution)
            done(len(solutions))
        return solutions

    def _held_out_score(self, train, test, solution):
        """Mean over tasks of the mean log-likelihood of their held-out rows, in nats."""
        if solution.score == -np.inf:
            return -np.inf
        means = []
        for (name, task), matrix in zip(train.items(), solution.matrices, strict=True):
            graph = from_adjacency(matrix, task.variables)
            network = BayesNet.fit(graph, task, self.parameter_sample_size)
            means.append(float(np.mean(network.log_likelihood(test[name]))))
        return float(np.mean(means))
