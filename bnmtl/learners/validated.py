"""The learner that also chooses how alike the tasks' arcs are to be."""

import math

import pandas as pd
from sklearn.base import clone

from bnmtl.errors import InputError, InputTypeError, check_choice, check_number, check_whole
from bnmtl.learners.held_out import check_sample_size
from bnmtl.learners.judges import judge_of
from bnmtl.learners.multitask import START, MultitaskLearner, check_prior_names
from bnmtl.learners.parameters import TABLE_SHARING, common_parameters
from bnmtl.learners.penalty import RULES, chosen_penalty, paired_errors, penalty_grid
from bnmtl.priors.coupling import CouplingPrior, check_prior
from bnmtl.priors.listed import read_penalties
from bnmtl.progress import Reporter
from bnmtl.search.constraints import is_by_task
from bnmtl.search.couplings import Couplings
from bnmtl.search.path import complete, solve_path
from bnmtl.search.posterior import log_posterior
from bnmtl.search.problem import NoCommonGraph
from bnmtl.search.shared_multitask import search_over

# Parameters that change how long a fit takes and what is seen of it.
_WITHOUT_EFFECT = {"limits", "limits__time_limit", "n_jobs", "progress"}


class MultitaskLearnerCV(MultitaskLearner):
    __doc__ = f"""Learn the tasks together at the penalty that the data choose.

    Penalties of a grid start from each other's solutions, and one cache of local scores serves all.

    Parameters
    ----------
    prior : PairedPrior or EditPrior, default=None
        Its ``penalty`` is replaced by each of ``penalties`` in turn; None is `PairedPrior()`.
    penalties : sequence of float, default=None
        None is 1 - penalty = 1, 0.5, 1e-1, ... 1e-12, 0.
    validation : float or "posterior", default=None
        "posterior": no rows are held out, the penalty with the largest posterior is taken, the
        constant of the coupling included; needs the same penalty for all tasks. Graphs are searched
        under the structure prior; unless one is given, the posterior has an arc probability of its
        own in its place, which is learned with the penalty. It takes the score at its word, so
        where the score asks for fewer arcs than there are it chooses too small a penalty. A number
        is the share of each task's rows that is held out, at least one row, as in the thesis: the
        structures learned from the other rows are kept; the probability tables are estimated again
        from all rows. None: by ``cv``.
    cv : int, default=None
        Number of folds. Every row is held out once; tasks of fewer rows are left one row out at a
        time. A fold's structures are searched with less effort, along the penalties. None is 10,
        or the most rows of a task if they are less.
    rule : {{"best", "one-standard-error"}}, default="best"
        What folds choose: the penalty that predicts held-out rows best, or the largest one within
        one standard error of it (of the differences between folds).
    {TABLE_SHARING}
    {common_parameters(START)}

    Attributes
    ----------
    penalty_ : float
        The chosen penalty; of equally good ones the largest.
    chosen_by_ : {{"posterior", "cv", "one-standard-error", "held-out rows"}}
        How the penalty was chosen.
    validation_scores_ : pandas.Series by penalty
        Mean over tasks of the mean log-likelihood of a held-out row, in nats; where the posterior
        chooses, the log posterior up to a constant.
    validation_grid_ : pandas.DataFrame by penalty
        The same as ``score``, and in ``standard_error`` that of its difference to the score of the
        chosen penalty, over folds; nan where there are none.
    configuration_, networks_, score_, task_scores_, arcs_, tasks_, families_, arc_probability_
        As in `MultitaskLearner`, at the chosen penalty and for all rows.
    start_, start_scores_
        The start that won and the scores of all, on the rows the structures were learned from: with
        a share as ``validation`` the training rows. "path" is the solution of a neighboring
        penalty.

    Raises
    ------
    InputError
        In ``fit``, where every pair of tasks or of variables has a penalty of its own, so that
        there is none to choose; for a ``parameter_sample_size`` of 0, unless the posterior chooses;
        where a penalty of ``penalties`` contradicts required arcs (of the default grid such a
        penalty is left out); and as in `MultitaskLearner`.

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
        score=None,
        *,
        penalties=None,
        validation=None,
        cv=None,
        rule="best",
        structure_prior="auto",
        table_sharing="auto",
        required=(),
        forbidden=(),
        tiers=None,
        search="orders",
        max_parents=None,
        limits=None,
        start=None,
        missing="error",
        parameter_sample_size="auto",
        random_state=None,
        n_jobs=None,
        progress=False,
    ):
        self._store(locals())

    def check_parameters(self):
        super().check_parameters()
        if self.validation is not None and self.cv is not None:
            rule, found = "and {cv} must not both be given", "they are {share!r} and {folds!r}"
            parts = {"share": self.validation, "folds": self.cv}
            raise InputError("validation", rule, found=found, remedies="leave one out", **parts)
        share = self.validation
        if not isinstance(share, str) or share != "posterior":
            remedy = "{validation=posterior} holds out no rows"
            check_number("validation", share, above=0, below=1, optional=True, remedies=remedy)
        check_whole("cv", self.cv, least=2, optional=True)
        check_choice("rule", self.rule, RULES)
        if self.rule != "best" and share is not None:
            rule = "must be 'best' with {validation} {share!r}, which has no folds to compare"
            remedies = "leave {validation} out", "give {cv} instead"
            raise InputError("rule", rule, self.rule, remedies=remedies, share=share)
        if share != "posterior":
            check_sample_size(self.parameter_sample_size)
        for prior in self._priors().values():
            check_prior(prior)
            if isinstance(prior, CouplingPrior):
                prior.resolved()

    def _priors(self):
        """The prior at each penalty of the grid, the largest penalty first."""
        prior = self.used_prior()
        if not hasattr(prior, "set_params") or "penalty" not in prior.get_params():
            remedy = "learn with a coupling of your own through MultitaskLearner"
            raise InputTypeError("prior", "must have a `penalty` to choose", prior, remedies=remedy)
        grid = penalty_grid(self.penalties)
        return {penalty: clone(prior).set_params(penalty=penalty) for penalty in grid}

    def _fit(self, tasks, whole, effort, report):
        priors = self._priors()
        self._folds, self._parameters_of_folds = None, self.get_params()
        self.chosen_by_ = self.way_of_choosing()
        for prior in priors.values():
            check_prior_names(prior, tasks)
        self._check_choice(tasks)
        problems = self.problems(tasks, effort, whole)
        on_all = search_over(problems, effort.share(0.6), report)
        priors = self._possible(on_all, priors)
        given = self.given_starts(whole, problems)
        names = None if given else self.start_names()
        if names == ("orders",):
            on_all.check_orders(next(iter(priors.values())))
        judge = judge_of(self, tasks, whole, on_all, given, effort, report)
        search, values = judge.search, list(priors.values())
        starts = search.within(given) if given else search.starts(values, names)
        done = report.of_part("penalties", 0, len(priors))
        path = solve_path(search, values, starts, effort.share(0.6), done)
        self._choose(list(priors), judge.scores(values, path))
        self._folds = judge.folds
        prior, found = priors[self.penalty_], path[list(priors).index(self.penalty_)]
        solution = complete(search, prior, found, starts, report, effort)
        self._publish_solution(tasks, whole, problems, judge.on_all_rows(prior, solution))

    def known_folds(self, tasks, n_folds):
        """The scored folds of the last fit, None unless they are those of this learner and tasks.

        Parameters
        ----------
        tasks : Tasks
        n_folds : int
        """
        folds = getattr(self, "_folds", None)
        if folds is None or len(folds) != n_folds or self.tasks_ is not tasks:
            return None
        before, now = self._parameters_of_folds, self.get_params()
        if now.keys() != before.keys():
            return None
        changed = {name for name, value in now.items() if value is not before[name]}
        return folds if changed <= _WITHOUT_EFFECT else None

    def _choose(self, penalties, scores):
        """Set what is chosen and why.

        Parameters
        ----------
        penalties : list of float
            The largest first.
        scores : float array of shape (p, n_folds)
        """
        best = chosen_penalty(scores, self.rule)
        index = pd.Index(penalties[::-1], name="penalty")
        kind = "nats" if self.chosen_by_ == "posterior" else "nats per row"
        self.penalty_ = penalties[best]
        self.validation_scores_ = pd.Series(scores.mean(axis=1)[::-1], index=index, name=kind)
        errors = paired_errors(scores, best)
        self.validation_grid_ = pd.DataFrame(
            {"score": self.validation_scores_, "standard_error": errors[::-1]}, index=index
        )

    def way_of_choosing(self):
        """How the penalty is chosen: by folds where nothing else is asked for."""
        if self.validation == "posterior":
            return "posterior"
        if self.validation is not None:
            return "held-out rows"
        return "cv" if self.rule == "best" else self.rule

    def posterior(self, search, prior, solution):
        """Log posterior of a penalty at its solution.

        How sparse graphs are is part of it: the probability of an arc is learned with the penalty,
        in the place of the automatic or the uniform structure prior. Priors that are given stay.
        """
        data = search.evidence(solution.matrices)
        couplings = Couplings(prior, search.joint)
        matrices = search.joint.spread(solution.matrices)
        terms = None if self.learns_sparsity() else search.joint.arc_terms
        return log_posterior(couplings, matrices, data, terms)

    def learns_sparsity(self):
        """Whether no structure prior is given, so that sparsity is learned with the penalty."""
        own = self.structure_prior
        own = list(own.values()) if is_by_task(own) else [own]
        return all(one is None or isinstance(one, str) for one in own)

    def _has_posterior(self):
        """Whether the coupling depends on how many tasks have an arc, and not on which."""
        if self.prior is None:
            return True
        return isinstance(self.prior, CouplingPrior) and not self.prior.by_task()

    def _check_choice(self, tasks):
        """Raise InputError where the penalty that is to be chosen has no effect."""
        fixed = self._without_choice(tasks)
        if fixed is not None:
            rule = "gives every pair a penalty of its own, so there is none to choose"
            raise InputError(fixed, rule, remedies="use MultitaskLearner")
        if self.validation == "posterior" and not self._has_posterior():
            rule = "'posterior' needs a PairedPrior or EditPrior with one penalty for all tasks"
            remedy = "leave it out to choose by held-out rows"
            raise InputError("validation", rule, remedies=remedy)

    def has_choice(self, tasks):
        """Whether some pair of these tasks or of their variables has no penalty of its own."""
        return self._without_choice(tasks) is None

    def _without_choice(self, tasks):
        """The parameter of the prior that lists a penalty for every pair, None if none does."""
        for name, known in (("task_penalty", tasks.names), ("variable_penalty", tasks.variables)):
            listed = read_penalties(getattr(self.prior, name, None), name)
            own = [pair for pair in listed if pair <= set(known)]
            if own and len(own) == math.comb(len(known), 2):
                return name
        return None

    def check_for(self, tasks):
        """Raise as `fit` would for parameters that do not suit these tasks; nothing is searched."""
        super().check_for(tasks)
        self._check_choice(tasks)

    def possible_priors(self, problems, effort):
        """The prior at each penalty that the tasks' demands allow, the largest penalty first."""
        return self._possible(search_over(problems, effort, Reporter(False)), self._priors())

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
