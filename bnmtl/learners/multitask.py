"""`MultitaskLearner`: one network per task, learned together."""

import math
from collections.abc import Mapping
from dataclasses import replace

import networkx as nx

from bnmtl.errors import InputError, InputTypeError
from bnmtl.learners.base import Learner, start_matrices
from bnmtl.learners.task_groups import (
    AUTO,
    CoupledFits,
    by_label,
    check_task_groups,
    given_groups,
    groups_for,
)
from bnmtl.priors import PairedPrior
from bnmtl.priors.coupling import CouplingPrior, check_prior
from bnmtl.search import HillClimbing
from bnmtl.search.effort import Memory, in_parallel
from bnmtl.search.grouped import joined
from bnmtl.search.multitask import STARTS, search_over
from bnmtl.search.problem import check_names, is_by_task
from bnmtl.wording import one_of, shown

# Penalty of the default prior.
PENALTY = 0.99


class MultitaskLearner(Learner):
    """Learn one network per task; a prior lets the tasks learn from each other.

    Greedy search over configurations: each step gives one pair of variables the best legal states
    in all tasks at once. ``search`` sets the searches for the start graphs. Unless it is
    "hill-climbing", it also continues from the result of the greedy search: searches over the whole
    graph of one task, given the other tasks, alternate with the greedy search.

    Parameters
    ----------
    prior : PairedPrior, EditPrior or a custom coupling, default=None
        None is ``PairedPrior(penalty=0.99)``; `MultitaskLearnerCV` chooses a penalty. With penalty
        0 and ``table_sharing=None`` the result is the single-task result. A custom coupling has a
        method ``log_coupling(states, pair=None, tasks=None)`` with values of at most 0, and
        optionally ``structure_weights(pair, tasks)``.
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
        learns how much.
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
    configuration_ : mapping task -> networkx.DiGraph
        With ``to_frame()``, the arc-by-task table.
    networks_ : dict task -> BayesNet
    score_ : float
        Log posterior of the configuration without its constant, in nats. Scores at different
        penalties are not comparable.
    task_scores_ : pandas.Series by task
        Log evidence of each task with separate tables, plus its log structure prior; ``score_`` is
        their sum plus the log coupling, unless tasks are scored together.
    arcs_ : pandas.DataFrame
        One row per arc and task: strength, whether it is compelled, number of tasks with it.
    start_ : str, or dict label -> str
        The start of the best solution; "own tables" is the solution without shared tables. By group
        if there are several.
    borrowed_ : pandas.DataFrame
        How many rows of other tasks count for each table: task, variable, source and rows; empty if
        tables are not shared.
    start_scores_ : dict str -> float, or dict label -> dict
    task_groups_ : pandas.Series by task
        The label of each task's group. Groups that are found are numbered from 1.
    group_gains_ : pandas.DataFrame
        With ``task_groups="auto"``: for each pair of tasks, how many nats their arcs are worth more
        together than alone; nan where it was not tried.
    group_margins_ : pandas.Series by task
        With "auto": nats that speak against another group for this task, by quick fits.
    alternatives_ : pandas.DataFrame
        With "auto": the best partitions that were tried, a row each, and their values; tasks with
        too few rows to tell are in no group there.
    arc_probability_ : pandas.Series by task
        Probability of an arc in one direction under the structure prior; 1/2 if the prior is
        uniform, nan if it differs between arcs.
    tasks_ : Tasks
        The encoded data.
    families_ : dict
        Numbers of local scores: "asked" for, "hits" in the cache, and "counted" from the rows.
    ended_by_ : tuple of str
        Which of ``max_families`` and ``time_limit`` ended a search early, if any.

    References
    ----------
    Niculescu-Mizil (2008), chapter 2; Niculescu-Mizil & Caruana (2007), Inductive transfer for
    Bayesian network structure learning.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, PairedPrior, structures
    >>> asia = structures.load("asia")
    >>> seeds = {"east": 0, "west": 1}
    >>> rows = {name: asia.sample(300, random_state=seed) for name, seed in seeds.items()}
    >>> learner = MultitaskLearner(PairedPrior(penalty=0.99), random_state=0).fit(rows)
    >>> sorted(learner.configuration_)
    ['east', 'west']
    """

    def __init__(
        self,
        prior=None,
        score=None,
        *,
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
        check_task_groups(self.task_groups)
        check_prior(self._used_prior())
        for prior in self._priors().values():
            if isinstance(prior, CouplingPrior):
                prior.resolved()
        self._start_names()

    def _kernels_called(self, tasks, effort):
        return super()._kernels_called(tasks, effort, self._used_prior())

    def _fit(self, tasks, whole, effort, report):
        check_prior_names(self._used_prior(), tasks)
        problems = self._problems(tasks, effort, whole)
        given = self._given_starts(whole, problems)
        if self.task_groups == AUTO and effort.memory is None:
            # Groups of one task have the graphs of tasks alone.
            effort = replace(effort, memory=Memory())
        groups = groups_for(self, tasks, whole, problems, effort, report)
        names = self._start_names()
        known = groups.solutions if self.start is None else {}

        def solve(members, effort):
            if tuple(members) in known:
                return known[tuple(members)]
            of_group = self._group_problems(problems, whole, members, effort)
            prior, search = self._used_prior(), search_over(of_group, effort, report)
            if given:
                starts = {name: [graphs[s] for s in members] for name, graphs in given.items()}
            else:
                if names == ("orders",):
                    search.check_orders(prior)
                starts = search.starts([prior], names)
            return search.solve(prior, starts, report)

        solutions = list(in_parallel(solve, [(group,) for group in groups.members], effort))
        self._publish(tasks, whole, groups, solutions)

    def _group_fits(self):
        """The fits of groups in the search for groups."""
        return CoupledFits(self._used_prior())

    def _publish(self, tasks, whole, groups, solutions):
        """Set the learned attributes from the solution of each group."""
        found = joined(groups.members, solutions)
        if found.score == -float("inf"):
            message = (
                "of 1 requires that tasks agree, but no such configuration was found; the "
                "constraints of the tasks may contradict each other"
            )
            remedy = (
                "make them agree, or use `start='identical'`, which reports where they do, or "
                "lower the penalty"
            )
            raise InputError(message, argument="penalty", options=("start",), remedy=remedy)
        learned = found.matrices, found.score, found.task_scores
        self._set_fitted(tasks, whole, *learned, groups=groups.names)
        groups.set_fitted(self, tasks, whole)
        self.start_, self.start_scores_ = found.start, found.start_scores
        if len(groups.names) > 1:
            starts = [solution.start for solution in solutions]
            scores = [solution.start_scores for solution in solutions]
            self.start_ = by_label(self, groups.names, starts)
            self.start_scores_ = by_label(self, groups.names, scores)

    def _used_prior(self):
        """The prior, or the default one if none is given."""
        return PairedPrior(penalty=PENALTY) if self.prior is None else self.prior

    def _check_for(self, tasks):
        """Raise the errors of `fit` for parameters that do not suit these tasks; no search."""
        check_prior_names(self._used_prior(), tasks)
        self._structure_priors(tasks)
        if is_by_task(self.task_groups):
            given_groups(self.task_groups, tasks.names)
        constraints = self._constraints(tasks)
        if self._is_given():
            start_matrices(tasks, constraints, self.start)

    def _is_given(self):
        """Whether `start` contains graphs; raises if it is neither graphs nor a name."""
        if self.start is None or isinstance(self.start, str):
            return False
        if not isinstance(self.start, (Mapping, nx.DiGraph)):
            message = f"must be a string, a networkx.DiGraph or a mapping, got {self.start!r}"
            raise InputTypeError(message, argument="start")
        return True

    def _start_names(self):
        """Names of the requested starts; None if graphs are given or the learner chooses."""
        if self.start is None or self._is_given():
            return None
        if not isinstance(self.start, str) or self.start not in STARTS:
            message = (
                f"must be {one_of(STARTS)}, a graph, a mapping task -> graph or "
                f"None, got {shown(self.start)}"
            )
            raise InputError(message, argument="start")
        return (self.start,)

    def _priors(self):
        """The prior by its penalty; nan for a custom coupling without one."""
        prior = self._used_prior()
        return {getattr(prior, "penalty", math.nan): prior}

    def _possible_priors(self, problems):
        """The priors that the constraints of the tasks allow."""
        return self._priors()

    def _given_starts(self, whole, problems):
        """Matrices of given start graphs, by name; None if none are given."""
        if not self._is_given():
            return None
        return {"given": self._start_matrices(whole, problems)}


def check_prior_names(prior, tasks):
    """Raise InputError for penalties of variables or tasks that are not there."""
    if not isinstance(prior, CouplingPrior):
        return
    listed = prior.resolved()
    for argument, known, kind in [
        ("variable_penalty", tasks.variables, "variable"),
        ("task_penalty", tasks.names, "task"),
    ]:
        penalties = getattr(listed, argument, None) or {}
        check_names(argument, set().union(*penalties), known, kind)
    distances = getattr(listed, "task_distance", None)
    lacking = set(tasks.names) - set().union(*(distances or {}))
    if distances is not None and len(tasks) > 1 and lacking:
        message = f"must contain all tasks; `{min(lacking)}` is missing"
        raise InputError(message, argument="task_distance", remedy="compute it for these tasks")


def quick_learner(missing="error"):
    """A learner for many bootstraps, whose search climbs once from each start.

    The mean of the networks of bootstraps predicts as well with it as with a thorough search, which
    takes three times as long (`python -m benchmarks.decorate.visits`).

    Parameters
    ----------
    missing : {"error", "state"}, default="error"
        As for the learner.

    Returns
    -------
    MultitaskLearner
    """
    return MultitaskLearner(search=HillClimbing(restarts=0), missing=missing)
