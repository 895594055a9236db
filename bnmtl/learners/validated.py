"""`MultitaskLearnerCV`: the penalties it tries, their scores, and the choice of one."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.base import clone

from bnmtl.errors import InputError, InputTypeError, check_choice, check_number, check_whole
from bnmtl.graphs import graphs_by_task
from bnmtl.learners.held_out import (
    by_learner,
    check_sample_size,
    default_folds,
    held_out_rows,
    held_out_split,
    penalty_scores,
    score_folds,
)
from bnmtl.learners.multitask import PENALTY, MultitaskLearner, check_prior_names
from bnmtl.learners.task_groups import AUTO, CoupledFits, given_groups, groups_for, search_in_groups
from bnmtl.priors.coupling import CouplingPrior, read_penalties
from bnmtl.search.grouped import joined
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.penalty_posterior import log_posterior
from bnmtl.search.problem import JointProblem, NoCommonGraph, is_by_task

RULES = ("best", "one-standard-error")

# 1 - delta = 1, 0.5, 1e-1 ... 1e-12, 0
DEFAULT_PENALTIES = (0.0, 0.5, *(1 - 10.0**-e for e in range(1, 13)), 1.0)
# Nats per row: rounding may cause this difference between penalties with the same networks.
EQUALLY_GOOD = 1e-9


def penalty_grid(penalties):
    """The penalties to try, the largest first.

    Parameters
    ----------
    penalties : sequence of float or None
        None is 1 - penalty = 1, 0.5, 1e-1, ... 1e-12, 0.

    Returns
    -------
    list of float

    Raises
    ------
    InputTypeError, InputError
        If it is not a sequence of numbers from 0 to 1, or empty.

    Examples
    --------
    >>> from bnmtl.learners.validated import penalty_grid
    >>> penalty_grid([0, 0.9, 0.5])
    [0.9, 0.5, 0.0]
    """
    grid = DEFAULT_PENALTIES if penalties is None else penalties
    try:
        values = None if isinstance(grid, str | Iterator) else list(map(float, grid))
    except (TypeError, ValueError):
        values = None
    if values is None:
        message = f"must be a sequence of numbers from 0 to 1 or None, got {penalties!r}"
        raise InputTypeError(message, argument="penalties")
    wrong = [penalty for penalty in values if not 0 <= penalty <= 1]
    if wrong:
        message = f"must be a sequence of numbers from 0 to 1 or None, got {wrong[0]!r}"
        raise InputError(message, argument="penalties", remedy="0 shares nothing, 1 everything")
    if not values:
        raise InputError(f"must hold at least one penalty, got {penalties!r}", argument="penalties")
    return sorted(set(values), reverse=True)


def best_penalty(scores):
    """Index of the best score; ties go to the first, which has the largest penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from bnmtl.learners.validated import best_penalty
    >>> best_penalty(np.array([-2.0, -1.0, -1.0 + 1e-12]))
    1
    """
    return int(np.argmax(scores >= np.max(scores) - EQUALLY_GOOD))


def chosen_penalty(scores, rule="best"):
    """Index of the chosen penalty.

    Parameters
    ----------
    scores : float array of shape (p, n_folds)
        Larger is better; the largest penalty is first.
    rule : {"best", "one-standard-error"}, default="best"
        "best" chooses the largest mean, and the largest penalty among ties; "one-standard-error"
        chooses the largest penalty that is at most one standard error worse, using the differences
        between folds.

    Returns
    -------
    int

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), Classification and regression trees, section 3.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from bnmtl.learners.validated import chosen_penalty
    >>> scores = np.array([[-2.0, -2.0], [-1.1, -0.9], [-0.8, -1.0]])
    >>> chosen_penalty(scores), chosen_penalty(scores, "one-standard-error")
    (2, 1)
    """
    means = scores.mean(axis=1)
    best = best_penalty(means)
    if rule == "best":
        return best
    return int(np.argmax(means >= means[best] - paired_errors(scores, best)))


def paired_errors(scores, best):
    """Standard errors over folds of the differences from one penalty; nan with one fold.

    Parameters
    ----------
    scores : float array of shape (p, n_folds)
    best : int

    Returns
    -------
    float array of shape (p,)
        Infinite differences have an error of 0.
    """
    n_folds = scores.shape[1]
    if n_folds == 1:
        return np.full(len(scores), np.nan)
    with np.errstate(invalid="ignore"):
        differences = scores - scores[best]
    finite = np.where(np.isfinite(differences), differences, 0.0)
    return finite.std(axis=1, ddof=1) / np.sqrt(n_folds)


def penalty_name(penalty):
    """A penalty as text; one just below 1 as 1 minus a power of ten.

    Examples
    --------
    >>> [penalty_name(penalty) for penalty in (0.0, 0.5, 0.9999, 1 - 1e-12, 1.0)]
    ['0', '0.5', '0.9999', '1 - 1e-12', '1']
    """
    rest = 1 - penalty
    if 0 < rest < 5e-5:
        return f"1 - {rest:.0e}"
    return f"{penalty:.6g}"


# Parameters that affect only the time and the progress reports of a fit.
_WITHOUT_EFFECT = {"limits", "limits__time_limit", "n_jobs", "progress"}


class MultitaskLearnerCV(MultitaskLearner):
    """Learn the tasks together at a penalty chosen from the data.

    The searches for the penalties of a grid start from each other's solutions and share one cache
    of local scores.

    Parameters
    ----------
    prior : PairedPrior or EditPrior, default=None
        Its ``penalty`` is replaced by each of ``penalties`` in turn; None is `PairedPrior()`.
    penalties : sequence of float, default=None
        None is 1 - penalty = 1, 0.5, 1e-1, ... 1e-12, 0.
    validation : float or "posterior", default=None
        "posterior" holds out no rows and chooses the penalty with the largest posterior, including
        the constant of the coupling; it needs the same penalty for all tasks. Graphs are searched
        under the structure prior; if none is given, the posterior uses a separate arc probability
        instead, which is learned with the penalty. It relies on the score: if the score favors
        fewer arcs than the truth has, the chosen penalty is too small. A number is the share of
        each task's rows to hold out, at least one row, as in the thesis: the structures learned
        from the other rows are kept, and the probability tables are estimated again from all rows.
        None uses ``cv``.
    cv : int, default=None
        Number of folds. Every row is held out once; tasks with fewer rows hold out one row at a
        time. The structures of a fold are searched with less effort, along the penalties. None is
        10, or the rows of the largest task if they are fewer.
    rule : {"best", "one-standard-error"}, default="best"
        How folds choose: the penalty that predicts held-out rows best, or the largest one within
        one standard error of it (of the differences between folds).
    table_sharing : "auto" or None, default="auto"
        Whether tasks share probability tables, row by row, as far as their counts support it. With
        `MixedDirichlet` tasks are then scored together, and with any score the tables of
        `networks_` borrow from other tasks unless ``parameter_sample_size`` is a number. The score
        is exact for up to nine tasks with counts in a row of a table; for more, it sums over the
        most probable partitions of the tasks into groups. None gives every task separate tables.
        With one task it has no effect.
    task_groups : "auto", None or mapping task -> label, default="auto"
        Which tasks learn from each other: "auto" finds the groups from the data, None is one group
        of all, and a mapping names the group of each task. Tables borrow from all tasks; each group
        learns how much. Groups are
        found at a penalty of 0.99; then one penalty is chosen for all groups.
    score : Score, default=None
        None is `MixedDirichlet()`.
    structure_prior : "auto", ArcPrior, ReferencePrior, mapping by task or None, default="auto"
        Prior over the graph of each task. "auto" expects few arcs, so that independent columns get
        none: 0.1 parents for each variable that is not constant with `MixedDirichlet`, one with
        `BDeu`, `BDs` and `K2`; with `BIC`, `AIC` and `LogLikelihood` it is uniform, like None. If
        tasks share a graph or their tables, chance evidence adds up over tasks, so this expected
        number applies to all tasks together. Tasks missing from a mapping get None.
    required, forbidden : collection of (parent, child), or mapping by task, default=()
        Required and forbidden arcs. One collection for all tasks applies to each task in which both
        variables exist and vary.
    tiers : list of lists of str, or mapping by task, default=None
        No arc leads from a later tier to an earlier one; variables in no tier are free.
    search : {"orders", "hill-climbing", "exact"}, Orders, HillClimbing or Exact, default="orders"
        The search for the graph of one task, or for one graph of all tasks: over orders of the
        variables, by changing one arc at a time, or over all graphs of up to 20 variables. A string
        uses the defaults; to set options, use the classes of `bnmtl.search`, as in
        ``Orders(starts=10)``.
    max_parents : int, default=None
        Largest number of parents of a variable; None sets no limit.
    limits : bnmtl.search.Limits, default=None
        Limits on time, families, cells of a table and memory; None is `Limits()`, which does not
        limit the first two.
    start : default=None
        "single-task", "identical", "empty", "orders", a graph for all tasks or a mapping
        task -> graph; None tries the first four and keeps the best score; if tasks are scored
        together, it starts from the results of these with separate tables and, unless the search is
        hill climbing without restarts, from the identical start. "orders" is a search over orders
        shared by the tasks; it is tried if ``search`` is "orders". It and the identical start are
        omitted if the constraints of the tasks contradict one another.
    missing : {"error", "drop", "state"}, default="error"
        How missing values are handled: see `bnmtl.tasks.encode`.
    parameter_sample_size : float or "auto", default="auto"
        Smoothing of the probability tables, for any score: "auto" learns it from each table; a
        number is an equivalent sample size and gives each task separate tables, see
        `bnmtl.BayesNet.fit`.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    n_jobs : int, default=None
        Number of threads, as in joblib; None is 1. Without a time limit it does not affect the
        result.
    progress : bool or callable, default=False
        True shows a progress bar; a callable receives a named tuple (stage, task, done, total or
        None, score).

    Attributes
    ----------
    penalty_ : float
        The chosen penalty; the largest among ties.
    chosen_by_ : {"posterior", "cv", "one-standard-error", "held-out rows"}
        How the penalty was chosen.
    validation_scores_ : pandas.Series by penalty
        Mean over tasks of the mean log-likelihood of a held-out row, in nats; if the posterior
        chooses, the log posterior up to a constant.
    validation_grid_ : pandas.DataFrame by penalty
        The same scores as ``score``, and in ``standard_error`` the standard error over folds of the
        difference from the score of the chosen penalty; nan without folds.
    task_groups_, group_gains_, group_margins_, alternatives_
        As in `MultitaskLearner`. Folds keep the groups.
    configuration_, networks_, score_, task_scores_, arcs_, tasks_, families_, arc_probability_
        As in `MultitaskLearner`, at the chosen penalty and for all rows.
    start_, start_scores_
        The best start and the scores of all, on the rows used to learn the structures: if
        ``validation`` is a number, the training rows. "path" is the solution of a neighboring
        penalty.

    Raises
    ------
    InputError
        In ``fit``, if every pair of tasks or of variables has its own penalty, so that there is
        none to choose; for a ``parameter_sample_size`` of 0, unless the posterior chooses; if a
        penalty of ``penalties`` contradicts required arcs (such penalties are omitted from the
        default grid); and as in `MultitaskLearner`.

    References
    ----------
    Niculescu-Mizil (2008), section 2.3.4.

    Examples
    --------
    >>> from bnmtl import MultitaskLearnerCV, structures
    >>> asia = structures.load("asia")
    >>> rows = [asia.sample(100, random_state=seed) for seed in range(3)]
    >>> learner = MultitaskLearnerCV(penalties=[0, 0.9, 1], cv=5, random_state=0).fit(rows)
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
        task_groups="auto",
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
        self.prior = prior
        self.score = score
        self.penalties = penalties
        self.validation = validation
        self.cv = cv
        self.rule = rule
        self.structure_prior = structure_prior
        self.table_sharing = table_sharing
        self.task_groups = task_groups
        self.required = required
        self.forbidden = forbidden
        self.tiers = tiers
        self.search = search
        self.max_parents = max_parents
        self.limits = limits
        self.start = start
        self.missing = missing
        self.parameter_sample_size = parameter_sample_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _check_parameters(self):
        super()._check_parameters()
        if self.validation is not None and self.cv is not None:
            given = f"{self.validation!r} and {self.cv!r}"
            message = f"and `cv` must not both be given; they are {given}"
            raise InputError(
                message, argument="validation", options=("cv",), remedy="leave one out"
            )
        share = self.validation
        if not isinstance(share, str) or share != "posterior":
            remedy = "`validation='posterior'` holds out no rows"
            check_number(
                "validation",
                share,
                above=0,
                below=1,
                optional=True,
                options=("validation",),
                remedy=remedy,
            )
        check_whole("cv", self.cv, least=2, optional=True)
        check_choice("rule", self.rule, RULES)
        if self.rule != "best" and share is not None:
            message = (
                f"must be 'best' with `validation` {share!r}, which has no folds to compare, got "
                f"{self.rule!r}"
            )
            remedy = "leave `validation` out, or give `cv` instead"
            raise InputError(message, argument="rule", options=("validation", "cv"), remedy=remedy)
        if share != "posterior":
            check_sample_size(self.parameter_sample_size)

    def _priors(self):
        """The prior at each penalty of the grid, the largest penalty first."""
        prior = self._used_prior()
        if not hasattr(prior, "set_params") or "penalty" not in prior.get_params():
            message = f"must have a `penalty` to choose, got {prior!r}"
            remedy = "use MultitaskLearner for a custom coupling"
            raise InputTypeError(message, argument="prior", remedy=remedy)
        grid = penalty_grid(self.penalties)
        return {penalty: clone(prior).set_params(penalty=penalty) for penalty in grid}

    def _fit(self, tasks, whole, effort, report):
        priors = self._priors()
        self._folds, self._parameters_of_folds = None, self.get_params()
        self.chosen_by_ = self._way_of_choosing()
        check_prior_names(next(iter(priors.values())), tasks)
        self._check_choice(tasks)
        problems = self._problems(tasks, effort, whole)
        groups = groups_for(self, tasks, whole, problems, effort, report)
        priors = self._possible_priors(problems, groups.names)
        search = search_in_groups(self, groups.members, whole, problems, effort.share(0.6), report)
        given = self._given_starts(whole, problems)
        names = self._start_names()
        if names == ("orders",):
            search.check_orders(next(iter(priors.values())))
        on_all, train, test = search, tasks, None
        if self.chosen_by_ == "held-out rows":
            (rows,) = held_out_rows(tasks, self.validation, None, effort.seed)
            train, test = held_out_split(tasks, rows)
            constraints = {problem.name: problem.constraints for problem in problems}
            search = search_in_groups(
                self,
                groups.members,
                whole,
                self._problems(train, effort, whole, constraints),
                effort.share(0.6),
                report,
            )
        values = list(priors.values())
        starts = search.within(given) if given else search.starts(values, names)
        done = report.of_part("penalties", 0, len(priors) * len(groups.members))
        path = search.solve_path(values, starts, effort.share(0.6), done)
        if self.chosen_by_ == "posterior":
            pairs = zip(values, path, strict=True)
            scores = [[search.posterior(self._posterior, *pair)] for pair in pairs]
        elif test is not None:
            held_out = by_learner(self, train, test)
            scores = [[_mean_score(held_out, train, groups, parts)] for parts in path]
        else:
            n_folds = self.cv or default_folds(tasks, leave_one_out=True)
            done = report.of_part("folds", 0, n_folds)
            self._folds = score_folds(
                self, tasks, n_folds, values, effort.share(0.7), done, given, groups
            )
            scores = penalty_scores(self._folds)
        self._choose(list(priors), np.asarray(scores))
        prior, found = priors[self.penalty_], path[list(priors).index(self.penalty_)]
        solutions = search.complete(prior, found, starts, report, effort)
        if test is not None:
            solutions = on_all.scored(prior, solutions, search.problems)
        self._publish(tasks, whole, groups, solutions)

    def _group_fits(self):
        """The fits of groups in the search for groups, at the default penalty."""
        return CoupledFits(clone(self._used_prior()).set_params(penalty=PENALTY))

    def _known_folds(self, tasks, n_folds):
        """The scored folds of the last fit; None unless they match this learner and these tasks.

        They are returned with their penalties, the largest first. Folds that a time limit cut short
        match no learner, nor do folds of groups that were found from all rows.
        """
        folds = getattr(self, "_folds", None)
        if self.task_groups == AUTO and len(tasks) > 1:
            return None
        if folds is None or len(folds) != n_folds or self.tasks_ is not tasks:
            return None
        if any("time_limit" in fold.ended_by for fold in folds):
            return None
        before, now = self._parameters_of_folds, self.get_params()
        if now.keys() != before.keys():
            return None
        changed = {name for name, value in now.items() if value is not before[name]}
        penalties = list(self.validation_scores_.index[::-1])
        return (folds, penalties) if changed <= _WITHOUT_EFFECT else None

    def _choose(self, penalties, scores):
        """Choose one of the penalties, the largest first, by scores of shape (p, n_folds)."""
        best = chosen_penalty(scores, self.rule)
        index = pd.Index(penalties[::-1], name="penalty")
        kind = "nats" if self.chosen_by_ == "posterior" else "nats per row"
        self.penalty_ = penalties[best]
        self.validation_scores_ = pd.Series(scores.mean(axis=1)[::-1], index=index, name=kind)
        errors = paired_errors(scores, best)
        self.validation_grid_ = pd.DataFrame(
            {"score": self.validation_scores_, "standard_error": errors[::-1]}, index=index
        )

    def _way_of_choosing(self):
        """How the penalty is chosen; by folds by default."""
        if self.validation == "posterior":
            return "posterior"
        if self.validation is not None:
            return "held-out rows"
        return "cv" if self.rule == "best" else self.rule

    def _posterior(self, search, prior, solution):
        """Log posterior of a penalty at its solution.

        It includes the sparsity of graphs: the probability of an arc is learned with the penalty
        and replaces the automatic or the uniform structure prior. Given priors are kept.
        """
        data = search.evidence(solution.matrices)
        couplings = Couplings(prior, search.joint)
        matrices = search.joint.spread(solution.matrices)
        terms = None if self._learns_sparsity() else search.joint.arc_terms
        return log_posterior(couplings, matrices, data, terms)

    def _learns_sparsity(self):
        """Whether sparsity is learned with the penalty because no structure prior is given."""
        priors = self.structure_prior
        priors = list(priors.values()) if is_by_task(priors) else [priors]
        return all(prior is None or isinstance(prior, str) for prior in priors)

    def _check_choice(self, tasks):
        """Raise InputError if the penalty to choose has no effect."""
        fixed = self._without_choice(tasks)
        if fixed is not None:
            message = "gives every pair its own penalty, so there is none to choose"
            raise InputError(message, argument=fixed, remedy="use MultitaskLearner")
        prior = self._used_prior()
        # A posterior depends only on the number of tasks with an arc, not on which.
        has_posterior = isinstance(prior, CouplingPrior) and not prior.by_task()
        if self.validation == "posterior" and not has_posterior:
            message = "'posterior' needs a PairedPrior or EditPrior with one penalty for all tasks"
            remedy = "leave it out to choose by held-out rows"
            raise InputError(message, argument="validation", remedy=remedy)

    def _without_choice(self, tasks):
        """The parameter of the prior with a penalty for every pair; None if there is none."""
        for name, known in (("task_penalty", tasks.names), ("variable_penalty", tasks.variables)):
            listed = read_penalties(getattr(self.prior, name, None), name)
            pairs = [pair for pair in listed if pair <= set(known)]
            if pairs and len(pairs) == math.comb(len(known), 2):
                return name
        return None

    def _check_for(self, tasks):
        """Raise the errors of `fit` for parameters that do not suit these tasks; no search."""
        super()._check_for(tasks)
        self._check_choice(tasks)

    def _possible_priors(self, problems, groups=None):
        """The prior at each penalty allowed by the constraints, the largest penalty first.

        Tasks learn from each other in groups of names; None is those that are given, and one group
        where they have to be found.
        """
        names = [problem.name for problem in problems]
        if groups is None:
            groups = given_groups(self.task_groups if is_by_task(self.task_groups) else None, names)
        joints = [JointProblem([problems[names.index(name)] for name in group]) for group in groups]
        possible = {}
        for penalty, prior in self._priors().items():
            try:
                for joint in joints:
                    Couplings(prior, joint).check_agreement()
            except NoCommonGraph:
                # A penalty of the default grid is left out.
                if self.penalties is not None:
                    raise
            else:
                possible[penalty] = prior
        return possible


def _mean_score(held_out, train, groups, solutions):
    """Mean over tasks of the mean log-likelihood of a held-out row; -inf without a solution."""
    found = joined(groups.members, solutions)
    if found.score == -np.inf:
        return -np.inf
    means = held_out.means(graphs_by_task(train, found.matrices), groups.names)
    return float(np.mean(list(means.values())))
