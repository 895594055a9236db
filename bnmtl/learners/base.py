"""What all learners share: how they are fitted, and the attributes that a fit leaves."""

import numbers
import time
from functools import cached_property

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from bnmtl._kernels._jit import is_first_run
from bnmtl.errors import warn
from bnmtl.graphs import Configuration, from_adjacency
from bnmtl.learners.arcs import arc_table
from bnmtl.learners.demands import start_matrices, structure_priors
from bnmtl.learners.parameters import check_common
from bnmtl.learners.sparsity import arc_probabilities, auto_prior
from bnmtl.networks import BayesNet
from bnmtl.networks.several import networks_of
from bnmtl.networks.shared_tables import fit_tables
from bnmtl.progress import Reporter
from bnmtl.scores import PARTITIONS, MixedDirichlet
from bnmtl.search.constraints import constraints_by_task
from bnmtl.search.effort import Effort
from bnmtl.search.problem import TaskProblem
from bnmtl.seeding import seed_of
from bnmtl.tasks import encode


class Learner(BaseEstimator):
    """Base of all learners; subclasses find the graphs."""

    # Of learners that have no such parameter.
    table_sharing = None

    # Single-task graphs by their rows, set where learners with the same parameters share them.
    _known = None
    # The tasks with all their rows, while a learner is fitted to some of them.
    _whole = None

    def __init__(
        self,
        score=None,
        structure_prior="auto",
        required=(),
        forbidden=(),
        tiers=None,
        search="orders",
        n_starts=None,
        iterations=None,
        restarts=100,
        perturb=10,
        tabu=10,
        max_parents=None,
        max_cells=None,
        max_families=None,
        time_limit=None,
        cache_size=200,
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
        self.n_starts = n_starts
        self.iterations = iterations
        self.restarts = restarts
        self.perturb = perturb
        self.tabu = tabu
        self.max_parents = max_parents
        self.max_cells = max_cells
        self.max_families = max_families
        self.time_limit = time_limit
        self.cache_size = cache_size
        self.start = start
        self.missing = missing
        self.parameter_sample_size = parameter_sample_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, tasks):
        """Learn one network per task.

        Parameters
        ----------
        tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
            A list is named task1, task2, ...; one bare DataFrame is one task.

        Returns
        -------
        self

        Raises
        ------
        InputTypeError, InputError
            For parameters out of range and data that cannot be learned from: one sentence each.
        """
        self.check_parameters()
        encoded = encode(tasks, missing=self.missing)
        with Reporter(self.progress) as report:
            return self.fit_rows(encoded, encoded, report)

    def fit_rows(self, tasks, whole, report, stopped=None):
        """Learn from some rows of tasks under the demands that all of their rows allow.

        Where the rows left do not vary, a required arc stays and a given start loses its arcs.

        Parameters
        ----------
        tasks, whole : Tasks
            The rows to learn from, and the same tasks with all rows.
        report : Reporter
            In place of the learner's own ``progress``.
        stopped : set of str, default=None
            Gets the names of the limits that ended a search; a warning tells of them without it.

        Returns
        -------
        self
        """
        effort = self._effort()
        if is_first_run():
            report("compiling, on the first run only")
        self._whole = whole
        try:
            self._fit(tasks, effort, report)
        finally:
            del self._whole
        self.tasks_ = tasks
        self.families_ = effort.families()
        self.ended_by_ = tuple(sorted(effort.stopped))
        self.left_out_ = self._kept_out(effort)
        if stopped is None:
            self._warn_of_limits(effort)
        else:
            stopped.update(effort.stopped)
        return self

    def _effort(self):
        limit = self.time_limit
        return Effort(
            seed=seed_of(self.random_state),
            search=self.search,
            n_starts=self.n_starts,
            iterations=self.iterations,
            restarts=self.restarts,
            perturb=self.perturb,
            tabu=self.tabu,
            n_jobs=self.n_jobs,
            max_families=self.max_families,
            deadline=None if limit is None else time.time() + limit,
            known=self._known,
        )

    def _kept_out(self, effort):
        """Child and parents of a family that was too large; empty if none was.

        What the rule of so many cells a row keeps out could not be learned from these rows.
        """
        if self.max_cells is None:
            return []
        return next((bound.left_out for bound in effort.bounds if bound.left_out), [])

    def _warn_of_limits(self, effort):
        """Say what kept the searches from what they would have done."""
        for name in sorted(effort.stopped):
            rule, found = "ended a search with the best that it had found", "it was {value}"
            remedies = "raise it", "leave it None for a full search"
            warn(name, rule, found=found, remedies=remedies, value=getattr(self, name))
        left_out = self._kept_out(effort)
        if left_out:
            child, *parents = left_out
            warn(
                "max_cells",
                "left out families of more than {most} cells",
                found="for example {child} given {parents}",
                remedies=("raise it", "set {max_parents}", "merge rare states"),
                most=self.max_cells,
                child=child,
                parents=parents,
            )

    def check_parameters(self):
        """Raise InputTypeError or InputError for parameters out of range, whatever the data."""
        check_common(self)

    def _all_rows(self, tasks):
        """The tasks on whose rows demands are checked."""
        return tasks if self._whole is None else self._whole

    def used_score(self):
        """The score that `fit` takes."""
        return MixedDirichlet() if self.score is None else self.score

    def shares_tables(self, tasks):
        """Whether the tables of these tasks' networks borrow from each other."""
        own_size = isinstance(self.parameter_sample_size, numbers.Real)
        return self.table_sharing is not None and not own_size and len(tasks) > 1

    def scores_together(self, tasks):
        """Whether the score is that of all these tasks together, no sum over them."""
        is_shared = self.table_sharing is not None and len(tasks) > 1
        return is_shared and isinstance(self.used_score(), MixedDirichlet)

    def _partitions(self, tasks):
        """Concentrations of partitions that the score is to take, none for tables of their own."""
        return PARTITIONS if self.scores_together(tasks) else ()

    def _structure_priors(self, tasks, alone=False):
        """The structure prior of every task, by name; sparsity is judged by all of its rows.

        With ``alone`` it is the one that a task has when it is learned by itself.
        """
        score, whole = self.used_score(), self._all_rows(tasks)
        n_tasks = len(whole) if self._adds_up(whole) and not alone else 1
        sizes = self._n_varying(whole)
        automatic = {name: auto_prior(score, n, n_tasks) for name, n in sizes.items()}
        return structure_priors(tasks, self.structure_prior, automatic)

    def _n_varying(self, tasks):
        """Number of variables that may have arcs, for each task."""
        return {name: len(task.variables) - len(task.constant) for name, task in tasks.items()}

    def _adds_up(self, tasks):
        """Whether what speaks for an arc by chance adds up over the tasks."""
        return self.scores_together(tasks)

    def _constraints(self, tasks):
        """Constraints of every task, by name."""
        return constraints_by_task(
            tasks, self.required, self.forbidden, self.tiers, self.max_parents
        )

    def required_graphs(self, tasks):
        """The arcs that every task has to have, as graphs by name."""
        return {
            name: from_adjacency(own.required, tasks[name].variables)
            for name, own in self._constraints(tasks).items()
        }

    def _problems(self, tasks, effort, constraints=None):
        """One `TaskProblem` a task, under given constraints or those of these rows."""
        if constraints is None:
            constraints = self._constraints(self._all_rows(tasks))
        own_priors = self._structure_priors(tasks, alone=True) if self._adds_up(tasks) else None
        problems = TaskProblem.of_all(
            tasks,
            self.used_score(),
            constraints,
            self._structure_priors(tasks),
            own_priors,
            cache_size=self.cache_size,
            max_cells=self.max_cells,
            partitions=self._partitions(tasks),
        )
        effort.bounds.append(problems[0].scores.bound)
        return problems

    def _start_matrices(self, tasks, problems, start):
        """Adjacency matrices of given start graphs, or of the required arcs where none is given."""
        if start is None:
            return [problem.constraints.required for problem in problems]
        whole = self._all_rows(tasks)
        given = start_matrices(whole, self._constraints(whole), start)
        pairs = zip(problems, given, strict=True)
        return [problem.constraints.allowed_of(matrix) for problem, matrix in pairs]

    @cached_property
    def arcs_(self):
        """One row per arc and task, made when it is asked for first; see `arc_table`."""
        self._check_fitted("arcs_")
        score, limits = self._scored_by
        bound = score.bind_all(list(self.tasks_.values()), **limits)
        return arc_table(self.configuration_, self.tasks_, bound)

    @cached_property
    def networks_(self):
        """The learned graphs with probability tables, made when they are asked for first."""
        self._check_fitted("networks_")
        sources, size, is_shared = self._tables_of
        if is_shared:
            return networks_of(self.configuration_, sources, self._fitted_tables.tables)
        return {
            name: BayesNet.fit(graph, sources[name], size)
            for name, graph in self.configuration_.items()
        }

    @cached_property
    def borrowed_(self):
        """How many rows of other tasks count for each table, made when asked for first.

        A data frame with columns task, variable, source and rows; empty where tables are the tasks'
        own. Rows may be more than the source has: where the tasks' tables scatter closely about
        each other, what the others have on average counts as up to 1000 rows, for each joint state
        of the parents.
        """
        self._check_fitted("borrowed_")
        return self._fitted_tables.borrowed

    @cached_property
    def _fitted_tables(self):
        """Tables that borrow from each other; of tasks with tables of their own none do."""
        sources, _, is_shared = self._tables_of
        return fit_tables(self.configuration_ if is_shared else {}, sources)

    def _check_fitted(self, name):
        if not hasattr(self, "tasks_"):
            raise AttributeError(f"`{name}` is there after `fit` of the {type(self).__name__}.")

    def _publish(self, tasks, problems, matrices, score, task_scores, parameters_from=None):
        """Set the learned attributes from the adjacency matrices."""
        self.score_ = float(score)
        index = pd.Index(tasks.names, name="task")
        self.task_scores_ = pd.Series(np.array(task_scores, dtype=float), index=index)
        self.configuration_ = Configuration(
            (problem.name, _learned_graph(tasks[problem.name], matrix))
            for problem, matrix in zip(problems, matrices, strict=True)
        )
        sources = tasks if parameters_from is None else parameters_from
        self._tables_of = sources, self.parameter_sample_size, self.shares_tables(tasks)
        limits = {"max_cells": self.max_cells, "partitions": self._partitions(tasks)}
        self._scored_by = self.used_score(), limits
        # Of an earlier fit.
        for name in ("arcs_", "networks_", "borrowed_", "_fitted_tables"):
            self.__dict__.pop(name, None)
        chances = arc_probabilities(self._structure_priors(tasks), tasks)
        chances = np.array([chances[name] for name in tasks.names])
        self.arc_probability_ = pd.Series(chances, index=index)


def _learned_graph(task, matrix):
    """The graph of a task, its constant variables marked."""
    graph = from_adjacency(matrix, task.variables)
    for variable in task.constant:
        graph.nodes[variable]["constant"] = True
    return graph
