"""The base class of all learners: parameters, structure priors, `fit`, learned attributes."""

import numbers
import time
from functools import cached_property

import networkx as nx
import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.base import BaseEstimator

from bnmtl.errors import InputError, InputTypeError, check_choice, check_jobs, warn
from bnmtl.graphs import Configuration, adjacency, check_dag, graphs_by_task, learned_graph
from bnmtl.learners.arcs import arc_table
from bnmtl.learners.task_groups import AUTO, given_groups
from bnmtl.networks.shared_tables import fit_tables, networks_of
from bnmtl.networks.tables import check_size
from bnmtl.priors import ArcPrior
from bnmtl.progress import Reporter
from bnmtl.scores import (
    K2,
    PART_CONCENTRATION,
    PARTITIONS,
    BDeu,
    BDs,
    LogLikelihood,
    MixedDirichlet,
    Score,
)
from bnmtl.search.compilation import compilation_reported, search_kernels
from bnmtl.search.effort import Effort
from bnmtl.search.options import Limits, search_of
from bnmtl.search.problem import TaskProblem, by_task, check_names, constraints_by_task
from bnmtl.seeding import seed_of
from bnmtl.tasks import encode
from bnmtl.threads import fitted_alone
from bnmtl.wording import listed

# Smaller differences of log odds are rounding errors.
_ALIKE = 1e-9
# Expected number of parents of a variable, by score. With the uniform prior these scores find arcs
# between independent columns; a smaller number gives fewer. BIC and AIC penalize parameters and
# need no prior.
EXPECTED_PARENTS = ((MixedDirichlet, 0.1), ((BDeu, BDs, K2), 1.0))


def auto_prior(score, n_variables, n_tasks=1):
    """The structure prior of a graph over variables that vary; None if it is uniform.

    Parameters
    ----------
    score : Score
    n_variables : int
    n_tasks : int, default=1
        Number of tasks that share a graph or tables. Chance evidence for an arc adds up over them,
        so the expected number of arcs is divided by it.

    Returns
    -------
    ArcPrior or None
        Every arc has the probability f / (n - 1) / n_tasks, at most 1/2, where f is the expected
        number of parents of a variable.
    """
    for kinds, expected in EXPECTED_PARENTS:
        if isinstance(score, kinds):
            chance = expected / n_tasks / max(n_variables - 1, 1)
            return ArcPrior(probability=min(chance, 0.5))
    return None


def _arc_probability(prior, variables):
    """Probability of an arc in one direction; 1/2 if uniform, nan if it differs between arcs."""
    if prior is None or len(variables) < 2:
        return 0.5
    present, absent = prior.arc_terms(variables)
    odds = (present - absent)[~np.eye(len(variables), dtype=bool)]
    return float(expit(odds[0])) if np.ptp(odds) < _ALIKE else np.nan


def start_matrices(tasks, constraints, start):
    """Adjacency matrices of start graphs over the variables of each task.

    Parameters
    ----------
    tasks : Tasks
    constraints : mapping name -> Constraints
    start : networkx.DiGraph or mapping task -> networkx.DiGraph

    Returns
    -------
    list of bool array

    Raises
    ------
    InputTypeError, InputError
        For graphs that are not DAGs, violate the constraints or have unknown variables.
    """
    graphs, is_by_task = by_task(tasks, start, "start")
    for graph in graphs.values():
        if graph is not None:
            check_dag(graph, "start")
            check_names("start", map(str, graph), tasks.variables, "variable")
    if is_by_task and None in graphs.values():
        lacking = next(task for task, graph in graphs.items() if graph is None)
        raise InputError("gives no graph", argument="start", task=lacking, remedy="add one")
    return [
        _start_matrix(task, constraints[name], graphs[name], is_by_task)
        for name, task in tasks.items()
    ]


def _start_matrix(task, limits, graph, is_by_task):
    """A start graph as a matrix over the variables of a task, checked against its constraints."""
    graph = nx.relabel_nodes(graph, str)
    active = set(task.variables) - set(task.constant)
    if is_by_task:
        unknown = sorted({v for arc in graph.edges for v in arc} - active)
        if unknown:
            message = (
                f"has arcs of `{unknown[0]}`, which is not a variable with more "
                "than one state there"
            )
            raise InputError(message, argument="start", task=task.name, remedy="remove them")
    matrix = adjacency(graph.subgraph(active), task.variables)
    wrong = np.argwhere((matrix & ~limits.permitted) | (limits.required & ~matrix))
    if len(wrong):
        parent, child = (task.variables[at] for at in wrong[0])
        message = (
            f"must hold the required arcs and no forbidden one; it does not for {parent} -> {child}"
        )
        raise InputError(
            message, argument="start", task=task.name, remedy="correct the start graph"
        )
    too_many = np.flatnonzero(matrix.sum(axis=0) > limits.max_parents)
    if len(too_many):
        message = (
            f"gives `{task.variables[too_many[0]]}` more parents than `max_parents` allows, "
            f"{limits.max_parents}"
        )
        raise InputError(
            message,
            argument="start",
            task=task.name,
            options=("max_parents",),
            remedy="remove some",
        )
    return matrix


# Parameters whose options need an object, with an example.
_WITH_OPTIONS = {"search": "search=Orders(starts=5)", "limits": "limits=Limits(time_limit=60)"}


class Learner(BaseEstimator):
    """Base of all learners; subclasses find the graphs."""

    # For learners without this parameter.
    table_sharing = None
    task_groups = None
    _part_concentration = PART_CONCENTRATION

    def __init__(
        self,
        score=None,
        *,
        structure_prior="auto",
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

    def set_params(self, **parameters):
        """Set parameters, as in scikit-learn; those of ``search`` as ``search__starts``."""
        for name in parameters:
            owner, _, option = name.partition("__")
            value = parameters.get(owner, getattr(self, owner, None))
            if option and (value is None or isinstance(value, str)) and owner in _WITH_OPTIONS:
                message = f"sets an option of `{owner}`, which has none, got {value!r}"
                remedy = f"set the object that has it, such as `{_WITH_OPTIONS[owner]}`"
                raise InputTypeError(message, argument=name, remedy=remedy)
        return super().set_params(**parameters)

    @fitted_alone
    def fit(self, tasks, memory=None):
        """Learn one network per task.

        Parameters
        ----------
        tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
            The tasks of a list are named task1, task2, ...; a single DataFrame is one task.
        memory : bnmtl.search.Memory, default=None
            Search results of other fits. Graphs of single tasks are stored in it, and reused if
            everything they depend on is the same.

        Returns
        -------
        self

        Raises
        ------
        InputTypeError, InputError
            For parameters out of range and for unsuitable data.
        """
        self._check_parameters()
        encoded = encode(tasks, missing=self.missing)
        with Reporter(self.progress) as report:
            return self._fit_rows(encoded, encoded, report, memory=memory)

    def _fit_rows(self, tasks, whole, report, stopped=None, memory=None):
        """Learn from some rows of tasks, under constraints checked on all of their rows.

        If a variable is constant in the given rows, a required arc stays and a given start graph
        loses its arcs.

        Parameters
        ----------
        tasks, whole : Tasks
            The training rows, and the same tasks with all rows.
        report : Reporter
            Used instead of the learner's ``progress``.
        stopped : set of str, default=None
            Receives the names of the limits that ended a search; None warns of them instead.
        memory : Memory, default=None
            As in `fit`.

        Returns
        -------
        self
        """
        effort = self._effort(memory)
        with compilation_reported(report, self._kernels_called(tasks, effort)):
            self._fit(tasks, whole, effort, report)
        self.tasks_ = tasks
        self.families_ = effort.tally.families()
        self.ended_by_ = tuple(sorted(effort.tally.stopped))
        self.left_out_ = self._kept_out(effort)
        if stopped is None:
            self._warn_of_limits(effort)
        else:
            stopped.update(effort.tally.stopped)
        return self

    def _effort(self, memory=None):
        """The search effort of a fit that begins now."""
        limits = self._used_limits()
        seconds = limits.time_limit
        return Effort(
            seed=seed_of(self.random_state),
            search=search_of(self.search),
            n_jobs=self.n_jobs,
            max_families=limits.max_families,
            deadline=None if seconds is None else time.time() + seconds,
            memory=memory,
        )

    def _used_limits(self):
        """The limits; `Limits()` if none are given."""
        return Limits() if self.limits is None else self.limits

    def _kept_out(self, effort):
        """Child and parents of a family that was too large; empty if there was none.

        Families excluded by the limit on cells per row are not listed: these rows could not support
        them.
        """
        if self._used_limits().max_cells is None:
            return []
        return next((bound.left_out for bound in effort.tally.bounds if bound.left_out), [])

    def _warn_of_limits(self, effort):
        """Warn about the limits that affected the searches."""
        limits = self._used_limits()
        for name in sorted(effort.tally.stopped):
            value = getattr(limits, name)
            warn(
                "ended a search early with its best graph so far",
                argument=name,
                remedy=f"it was {value}: raise it, or leave it None for a full search",
                # The limit of a stage is only a part of the user's time limit.
                cli_remedy="raise it, or leave it out for a full search",
            )
        left_out = self._kept_out(effort)
        if left_out:
            child, *parents = left_out
            message = (
                f"excluded families of more than {limits.max_cells} cells; for example `{child}` "
                f"given {listed(parents)}"
            )
            remedy = "raise it, or set `max_parents`, or merge rare states"
            warn(message, argument="max_cells", options=("max_parents",), remedy=remedy)

    def _check_parameters(self):
        """Raise InputTypeError or InputError for parameters out of range for any data."""
        search_of(self.search)
        if self.limits is not None and not isinstance(self.limits, Limits):
            message = f"must be a `Limits` or None, got {self.limits!r}"
            remedy = "for example `Limits(time_limit=60)`"
            raise InputTypeError(message, argument="limits", remedy=remedy)
        self._used_limits().check()
        check_jobs(self.n_jobs)
        if self.score is not None and not isinstance(self.score, Score):
            message = f"must be one of the scores of `bnmtl.scores` or None, got {self.score!r}"
            raise InputTypeError(message, argument="score", remedy="for example MixedDirichlet()")
        if isinstance(self.score, LogLikelihood) and self.max_parents is None:
            message = "LogLikelihood() always prefers more arcs and needs `max_parents`"
            raise InputError(
                message,
                argument="score",
                options=("max_parents",),
                remedy="set it, or take BIC() or MixedDirichlet()",
            )
        self._used_score()._check()
        check_size("parameter_sample_size", self.parameter_sample_size)
        check_choice("table_sharing", self.table_sharing, ("auto", None))

    def _used_score(self):
        """The score used by `fit`."""
        return MixedDirichlet() if self.score is None else self.score

    def _shares_tables(self, tasks):
        """Whether the tables of these tasks' networks borrow from each other."""
        has_sample_size = isinstance(self.parameter_sample_size, numbers.Real)
        return self.table_sharing is not None and not has_sample_size and len(tasks) > 1

    def _scores_together(self, tasks):
        """Whether all tasks have one joint score instead of a sum over tasks."""
        is_shared = self.table_sharing is not None and len(tasks) > 1
        return is_shared and isinstance(self._used_score(), MixedDirichlet)

    def _kernels_called(self, tasks, effort, prior=None):
        """The kernels that Python calls in a search; None if they are not known."""
        n_sharing = len(tasks) * self._scores_together(tasks)
        finds_groups = prior is not None and self.task_groups == AUTO and len(tasks) > 1
        return search_kernels(effort.search, prior, n_sharing, finds_groups)

    def _sharing(self, tasks):
        """Concentrations of partitions for the score; none for separate tables."""
        if not self._scores_together(tasks):
            return {"partitions": ()}
        return {"partitions": PARTITIONS, "part_concentration": self._part_concentration}

    def _structure_priors(self, whole, groups=None):
        """The structure prior of every task, by name; its sparsity depends on all rows of the task.

        Tasks learn from each other in groups of names; None is one group.
        """
        score, adds_up = self._used_score(), self._adds_up(whole)
        groups = [whole.names] if groups is None else groups
        automatic = {}
        for group in groups:
            sizes, n_tasks = self._n_varying({name: whole[name] for name in group}), len(group)
            for name, n in sizes.items():
                automatic[name] = auto_prior(score, n, n_tasks if adds_up else 1)
        priors, _ = by_task(whole, self.structure_prior, "structure_prior")
        for name, prior in priors.items():
            if isinstance(prior, str) and prior == "auto":
                priors[name] = prior = automatic[name]
            if prior is None:
                continue
            if isinstance(prior, type) or not hasattr(prior, "arc_terms"):
                message = (
                    "must be 'auto', None, an ArcPrior, a ReferencePrior or a mapping by task, "
                    f"got {prior!r}"
                )
                raise InputTypeError(message, argument="structure_prior")
            check_names("structure_prior", prior.names(), whole.variables, "variable")
        return priors

    def _n_varying(self, tasks):
        """Number of variables that may have arcs, for each task."""
        return {name: len(task.variables) - len(task.constant) for name, task in tasks.items()}

    def _adds_up(self, tasks):
        """Whether chance evidence for an arc adds up over the tasks."""
        return self._scores_together(tasks)

    def _constraints(self, tasks):
        """Constraints of every task, by name."""
        return constraints_by_task(
            tasks, self.required, self.forbidden, self.tiers, self.max_parents
        )

    def _required_graphs(self, tasks):
        """The required arcs of every task, as graphs by name."""
        constraints = self._constraints(tasks)
        return graphs_by_task(tasks, [constraints[name].required for name in tasks])

    def _problems(self, tasks, effort, whole=None, constraints=None):
        """One `TaskProblem` per task.

        Parameters
        ----------
        tasks : Tasks
        effort : Effort
        whole : Tasks, default=None
            The same tasks with all rows; None if ``tasks`` contains all rows.
        constraints : dict task -> Constraints, default=None
            None reads them from the learner for ``whole``.

        Returns
        -------
        list of TaskProblem
        """
        whole = tasks if whole is None else whole
        constraints = self._constraints(whole) if constraints is None else constraints
        alone_priors = None
        if self._adds_up(tasks):
            alone_priors = self._structure_priors(whole, [[name] for name in whole])
        limits = self._used_limits()
        problems = TaskProblem.of_all(
            tasks,
            self._used_score(),
            constraints,
            self._structure_priors(whole),
            alone_priors,
            cache_size=limits.cache_size,
            max_cells=limits.max_cells,
            **self._sharing(tasks),
        )
        effort.tally.bounds.append(problems[0].scores.bound)
        return problems

    def _group_problems(self, problems, whole, members, effort=None):
        """The problems of some of the tasks, which learn from each other only.

        Parameters
        ----------
        problems : list of TaskProblem
            Of all tasks.
        whole : Tasks
            As in `_problems`.
        members : list of int
        effort : Effort, default=None
            Counts the local scores of the group.

        Returns
        -------
        list of TaskProblem
        """
        if len(members) == len(problems):
            return problems
        names = [problems[s].name for s in members]
        rest = [[name] for name in whole if name not in names]
        priors = self._structure_priors(whole, [names, *rest])
        bound = problems[0].scores.bound.among(members)
        if effort is not None:
            effort.tally.bounds.append(bound)
        return [
            problems[s].among(bound.of(at), priors[name], whole[name])
            for at, (s, name) in enumerate(zip(members, names, strict=True))
        ]

    def _groups_of_names(self):
        """The groups of tasks of a fitted learner, as lists of names; one group by default."""
        labels = getattr(self, "task_groups_", None)
        return given_groups(None if labels is None else labels.to_dict(), self.tasks_.names)

    def _start_matrices(self, whole, problems):
        """Adjacency matrices of given start graphs, or of the required arcs if none are given."""
        if self.start is None:
            return [problem.constraints.required for problem in problems]
        given = start_matrices(whole, self._constraints(whole), self.start)
        pairs = zip(problems, given, strict=True)
        return [problem.constraints.allowed_of(matrix) for problem, matrix in pairs]

    @cached_property
    def arcs_(self):
        """One row per arc and task, computed on first access; see `arc_table`."""
        self._check_fitted("arcs_")
        score, limits, groups = self._scored_by
        bound = score.bind_all(list(self.tasks_.values()), **limits)
        return arc_table(self.configuration_, self.tasks_, bound, groups)

    @cached_property
    def networks_(self):
        """The learned graphs with probability tables, computed on first access."""
        self._check_fitted("networks_")
        sources, size, is_shared, _ = self._tables_of
        tables = self._fitted_tables.tables if is_shared else None
        return networks_of(self.configuration_, sources, tables, size)

    @cached_property
    def borrowed_(self):
        """How many rows of other tasks count for each table, computed on first access.

        A data frame with columns task, variable, source and rows; empty if tables are not shared.
        The number may exceed the rows of the source: if the tables of the tasks are close to each
        other, the mean of the others counts as up to 1000 rows, for each joint state of the
        parents.
        """
        self._check_fitted("borrowed_")
        return self._fitted_tables.borrowed

    @cached_property
    def _fitted_tables(self):
        """Fitted shared tables; empty if tables are not shared."""
        _, _, is_shared, groups = self._tables_of
        return fit_tables(self.configuration_ if is_shared else {}, self.tasks_, groups)

    def _check_fitted(self, name):
        if not hasattr(self, "tasks_"):
            raise AttributeError(f"`{name}` is there after `fit` of the {type(self).__name__}.")

    def _set_fitted(self, tasks, whole, matrices, score, task_scores, *, rows=None, groups=None):
        """Set the learned attributes from the adjacency matrices.

        Tables come from other ``rows``, if any are given; tasks learn from each other in ``groups``
        of names, by default in one.
        """
        groups = None if groups is None or len(groups) == 1 else groups
        self.score_ = float(score)
        index = pd.Index(tasks.names, name="task")
        self.task_scores_ = pd.Series(np.array(task_scores, dtype=float), index=index)
        self.configuration_ = Configuration(
            (name, learned_graph(task, matrix))
            for (name, task), matrix in zip(tasks.items(), matrices, strict=True)
        )
        sources = tasks if rows is None else rows
        self._tables_of = sources, self.parameter_sample_size, self._shares_tables(tasks), groups
        limits = {"max_cells": self._used_limits().max_cells, **self._sharing(tasks)}
        self._scored_by = self._used_score(), limits, groups
        # From an earlier fit.
        for name in ("arcs_", "networks_", "borrowed_", "_fitted_tables"):
            self.__dict__.pop(name, None)
        priors = self._structure_priors(whole, groups)
        chances = [_arc_probability(priors[name], tasks[name].variables) for name in tasks.names]
        self.arc_probability_ = pd.Series(chances, index=index)
