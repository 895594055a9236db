"""Learners without a coupling: each task alone, one graph for all, one network for all rows."""

import numpy as np

from bnmtl.errors import InputError, InputTypeError
from bnmtl.graphs import from_adjacency
from bnmtl.learners.base import Learner
from bnmtl.learners.task_groups import OneGraphFits, by_label, check_task_groups, groups_for
from bnmtl.search.effort import in_parallel
from bnmtl.search.grouped import joined
from bnmtl.search.multitask import Solution
from bnmtl.search.one_graph import search_identical, search_task, search_tasks
from bnmtl.search.options import Exact, search_of
from bnmtl.search.problem import JointProblem, is_by_task
from bnmtl.tasks import Task, Tasks


class _FromGraph(Learner):
    """Base of learners without a coupling, where ``start`` is the start of a search for a graph."""

    # Parameters that are given once for all tasks.
    _common = ()

    def _check_parameters(self):
        super()._check_parameters()
        for name in self._common:
            if is_by_task(getattr(self, name)):
                kind = type(self).__name__
                message = f"of {kind} must be one value for all tasks, got a mapping by task"
                raise InputTypeError(message, argument=name)
        limits = self._used_limits()
        # A search that a limit may end early can return its start.
        is_limited = limits.time_limit is not None or limits.max_families is not None
        if self.start is not None and not is_limited and isinstance(search_of(self.search), Exact):
            message = "has no effect with `search='exact'`, which finds the best of all graphs"
            remedy = "leave it out, or take another `search`"
            raise InputError(message, argument="start", options=("search",), remedy=remedy)


class SingleTaskLearner(_FromGraph):
    """Learn each task alone.

    Parameters
    ----------
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
        A graph to start from, one for all tasks or a mapping by task. None is the graph
        of the required arcs. Exact search refuses a start unless a limit may end it early.
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
        Sum over tasks of log P(data | graph) + log P(graph), in nats.
    task_scores_ : pandas.Series by task
    arc_probability_ : pandas.Series by task
        Probability of an arc in one direction under the structure prior; 1/2 if the prior is
        uniform, nan if it differs between arcs.
    arcs_ : pandas.DataFrame
        One row per arc and task: strength, whether it is compelled, number of tasks with it.
    tasks_ : Tasks
        The encoded data.
    families_ : dict
        Numbers of local scores: "asked" for, "hits" in the cache, and "counted" from the rows.
    ended_by_ : tuple of str
        Which of ``max_families`` and ``time_limit`` ended a search early, if any.
    left_out_ : list of str
        Child and parents of a family excluded by ``max_cells``; empty if there was none.

    Examples
    --------
    >>> from bnmtl import SingleTaskLearner, structures
    >>> rows = structures.load("asia").sample(2000, random_state=0)
    >>> learner = SingleTaskLearner(random_state=0).fit({"clinic": rows})
    >>> learner.configuration_["clinic"].number_of_edges()
    7
    """

    def _fit(self, tasks, whole, effort, report):
        problems = self._problems(tasks, effort, whole)
        starts = self._start_matrices(whole, problems)
        matrices = search_tasks(problems, starts, effort, report)
        pairs = zip(problems, matrices, strict=True)
        scores = [problem.log_posterior(matrix) for problem, matrix in pairs]
        self._set_fitted(tasks, whole, matrices, sum(scores), scores)


class IdenticalLearner(_FromGraph):
    """Learn one graph for all tasks, with shared or separate probability tables.

    Maximizes log P(G) + log P(data of all tasks | G, restricted to each task's variables).

    Parameters
    ----------
    table_sharing : "auto" or None, default="auto"
        Whether tasks share probability tables, row by row, as far as their counts support it. With
        `MixedDirichlet` tasks are then scored together, and with any score the tables of
        `networks_` borrow from other tasks unless ``parameter_sample_size`` is a number. The score
        is exact for up to nine tasks with counts in a row of a table; for more, it sums over the
        most probable partitions of the tasks into groups. None gives every task separate tables.
        With one task it has no effect.
    task_groups : None, "auto" or mapping task -> label, default=None
        Which tasks have one graph: None is all of them, a mapping names the group of each task, and
        "auto" finds the groups from the data. Tables borrow from all tasks; each group learns how
        much.
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
        A graph to start from, over the variables of all tasks. None is the graph
        of the required arcs. Exact search refuses a start unless a limit may end it early.
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
    graph_ : networkx.DiGraph, or dict label -> networkx.DiGraph
        The common graph, over the union of the variables; by group if there are several.
    configuration_, networks_, arcs_, tasks_, families_, arc_probability_
        As in `SingleTaskLearner`; the graphs are ``graph_`` restricted to each task.
    score_, task_scores_, borrowed_, task_groups_, group_gains_, group_margins_, alternatives_
        As in `MultitaskLearner`.

    References
    ----------
    Niculescu-Mizil (2008), section 2.3.1.

    Examples
    --------
    >>> from bnmtl import IdenticalLearner, structures
    >>> asia = structures.load("asia")
    >>> rows = [asia.sample(500, random_state=seed) for seed in range(3)]
    >>> learner = IdenticalLearner(random_state=0).fit(rows)
    >>> learner.configuration_["task1"].edges == learner.configuration_["task3"].edges
    True
    """

    _common = ("start",)

    def __init__(
        self,
        score=None,
        *,
        structure_prior="auto",
        table_sharing="auto",
        task_groups=None,
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

    def _n_varying(self, tasks):
        varying = {v for task in tasks.values() for v in set(task.variables) - set(task.constant)}
        return dict.fromkeys(tasks, len(varying))

    def _adds_up(self, tasks):
        return True

    def _group_fits(self):
        """The fits of groups in the search for groups."""
        return OneGraphFits()

    def _fit(self, tasks, whole, effort, report):
        problems = self._problems(tasks, effort, whole)
        given = None if self.start is None else self._start_matrices(whole, problems)
        groups = groups_for(self, tasks, whole, problems, effort, report)
        joints = self._joint_problems(problems, whole, groups.members, effort)

        def solve(joint, members, effort):
            if given is None and tuple(members) in groups.solutions:
                return groups.solutions[tuple(members)]
            start = given and joint.spread([given[s] for s in members]).any(axis=0)
            return search_identical(joint, start, effort, report)

        calls = list(zip(joints, groups.members, strict=True))
        found = list(in_parallel(solve, calls, effort))
        solutions = []
        for (joint, members), (graph, *scores) in zip(calls, found, strict=True):
            cut = [joint.restrict(at, graph) for at in range(len(members))]
            solutions.append(Solution(cut, *scores, "identical", {}))
        solution = joined(groups.members, solutions)
        learned = solution.matrices, solution.score, solution.task_scores
        self._set_fitted(tasks, whole, *learned, groups=groups.names)
        groups.set_fitted(self, tasks, whole)
        self._set_common(groups.names, joints, [graph for graph, _, _ in found])

    def _joint_problems(self, problems, whole, members, effort=None):
        """The joint problem of each group of tasks; arguments as in `_group_problems`."""
        return [
            JointProblem(self._group_problems(problems, whole, group, effort)) for group in members
        ]

    def _set_common(self, names, joints, matrices):
        """Set the common graphs of groups of task names from their adjacency matrices."""
        pairs = zip(joints, matrices, strict=True)
        graphs = [from_adjacency(matrix, joint.variables) for joint, matrix in pairs]
        self.graph_ = graphs[0] if len(graphs) == 1 else by_label(self, names, graphs)


class PooledLearner(_FromGraph):
    """Learn one network from the rows of all tasks together.

    Parameters
    ----------
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
        A graph to start from. None is the graph
        of the required arcs. Exact search refuses a start unless a limit may end it early.
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
    configuration_, networks_, arcs_, tasks_, families_, arc_probability_
        As in `SingleTaskLearner`; every task has the same graph and the same network.
    score_ : float
        Log posterior of the graph given all rows as one data set.
    task_scores_ : pandas.Series by task
        The score of the graph on the rows of each task; these do not add up to ``score_``.

    Raises
    ------
    InputError
        In ``fit``, if the tasks have different variables.

    Examples
    --------
    >>> from bnmtl import PooledLearner, structures
    >>> asia = structures.load("asia")
    >>> rows = [asia.sample(500, random_state=seed) for seed in range(3)]
    >>> learner = PooledLearner(random_state=0).fit(rows)
    >>> learner.networks_["task1"] == learner.networks_["task3"]
    True
    """

    _common = ("required", "forbidden", "tiers", "structure_prior", "start")

    def _fit(self, tasks, whole, effort, report):
        rows, all_rows = _pooled(tasks), _pooled(whole)
        (pooled,) = self._problems(rows, effort, all_rows)
        (start,) = self._start_matrices(all_rows, [pooled])
        matrix = search_task(pooled, start, report, effort)
        constraints = dict.fromkeys(tasks, pooled.constraints)
        problems = self._problems(tasks, effort, whole, constraints)
        scores = [problem.log_posterior(matrix) for problem in problems]
        everywhere = dict.fromkeys(tasks, rows["pooled"])
        matrices, score = [matrix] * len(problems), pooled.log_posterior(matrix)
        self._set_fitted(tasks, whole, matrices, score, scores, rows=everywhere)

    def _n_varying(self, tasks):
        (n_varying,) = super()._n_varying(_pooled(tasks)).values()
        return dict.fromkeys(tasks, n_varying)


def _pooled(tasks):
    """All rows as one task; raises for tasks with different variables."""
    first = next(iter(tasks.values()))
    for task in tasks.values():
        differing = sorted(set(first.variables) ^ set(task.variables))
        if differing:
            owner = first if differing[0] in first.variables else task
            message = (
                f"must have the same variables as `{first.name}` to be pooled with it; "
                f"`{differing[0]}` is only in `{owner.name}`"
            )
            remedy = "drop it, or learn the tasks together with MultitaskLearner"
            raise InputError(message, task=task.name, remedy=remedy)
    codes = np.concatenate([task.codes for task in tasks.values()], axis=1)
    return Tasks([Task("pooled", first.variables, first.states, codes, first.ordered)])
