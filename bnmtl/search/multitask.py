"""The search for the best configuration: searches for the starts, then from each start."""

import contextlib
import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bnmtl.errors import InputError
from bnmtl.priors import PairedPrior
from bnmtl.priors.coupling import CouplingPrior
from bnmtl.search import configurations, orders
from bnmtl.search.configurations import ConfigurationSearch, SharedConfigurationSearch
from bnmtl.search.effort import in_parallel
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.one_graph import search_common, search_graph, search_tasks
from bnmtl.search.options import Orders
from bnmtl.search.orders import iterations_of
from bnmtl.search.problem import JointProblem, NoCommonGraph
from bnmtl.search.ties import Ties, tolerance
from bnmtl.seeding import generator

STARTS = ("single-task", "identical", "empty", "orders")
# The start of a solution that was found from the solution of another penalty.
FROM_NEIGHBOR = "path"
# The start with the solution for separate tables.
SEPARATE_TABLES = "own tables"
# With shared tables, the search for the common start graph uses one in this number of iterations,
# because it begins with the best graph for separate tables. Nearly all fits have the same result as
# with all iterations, in two thirds of the time (benchmarks/search/first_graph.py).
ITERATIONS_FOR_ONE = 8


@dataclass(frozen=True)
class Solution:
    """A configuration and its scores.

    Attributes
    ----------
    matrices : list of bool array
        Adjacency over the variables of each task.
    score : float
        Log posterior without its constant; -inf if a penalty of 1 is still violated.
    task_scores : list of float
    start : str
        The start of the best solution.
    start_scores : dict str -> float
    """

    matrices: list
    score: float
    task_scores: list
    start: str
    start_scores: dict


class MultitaskSearch:
    """Searches for configurations of tasks under any prior; results without the prior are kept.

    If tasks share tables, it starts from the solution with separate tables and, unless the search
    is hill climbing without restarts, from one graph for all tasks.

    Parameters
    ----------
    problems : list of TaskProblem
    effort : Effort
        Each search for a start gets half of the remaining time.
    report : Reporter
    separate : MultitaskSearch, default=None
        The search with separate tables for the same tasks; None if they share no tables.
    """

    def __init__(self, problems, effort, report, separate=None):
        self.problems = problems
        self.separate = separate
        self.joint = JointProblem(problems) if separate is None else separate.joint
        self._effort = effort
        self._report = report
        self._single = None
        empty = sum(p.log_posterior(np.zeros_like(p.constraints.required)) for p in problems)
        self._ties = Ties(self.joint.variables, effort.seed, tolerance(empty))

    def single(self, effort=None):
        """Adjacency matrices of the tasks learned alone, with the effort of the first call."""
        if self.separate is not None:
            return self.separate.single(effort)
        if self._single is None:
            required = [problem.constraints.required for problem in self.problems]
            effort = effort or self._effort
            self._single = search_tasks(self.problems, required, effort, self._report)
        return self._single

    def alone(self, effort):
        """Adjacency matrices of each task without the others, under the prior of a task alone."""
        if self.separate is None:
            return self.single(effort)
        alone = [problem.by_itself() for problem in self.problems]
        if all(task is problem for task, problem in zip(alone, self.problems, strict=True)):
            return self.single(effort)
        required = [problem.constraints.required for problem in alone]
        return search_tasks(alone, required, effort, self._report)

    @cached_property
    def common(self):
        """The best single graph, indexed by the union of the variables."""
        effort = self._effort.share(0.5)
        if self.separate is None:
            return search_common(self.joint, None, effort, self._report, False)
        iterations = iterations_of(len(self.joint.variables), effort.orders.iterations)
        iterations = max(min(1, iterations), iterations // ITERATIONS_FOR_ONE)
        effort = effort.with_orders(iterations=iterations)
        return search_common(self.joint, self.separate.common, effort, self._report, True)

    @property
    def identical(self):
        """The best single graph, restricted to the pairs of each task."""
        return [self.joint.restrict(s, self.common) for s in range(len(self.problems))]

    def starts(self, priors, names=None):
        """Start adjacency matrices, by name.

        Parameters
        ----------
        priors : iterable of priors
            The priors to solve; if none of them couples the tasks, `solve` needs no start and none
            is searched.
        names : sequence of str, default=None
            Names in `STARTS`. None is all of them, without the identical start and orders if the
            constraints of the tasks contradict each other, and without orders if no orders are
            searched; for shared tables, those of the class description.

        Returns
        -------
        dict name -> list of bool array
            For orders, which depend on the prior, only their start graph; for separate tables,
            the starts of that search.
        """
        if all(self.is_uncoupled(prior) for prior in priors):
            return {}
        if names is not None:
            return {name: self.start(name) for name in names}
        if self.separate is None:
            made, wanted = {}, STARTS if isinstance(self._effort.search, Orders) else STARTS[:-1]
        else:
            made = {SEPARATE_TABLES: self.separate.starts(priors)}
            wanted = () if self._effort.is_light else ("identical",)
        for name in wanted:
            with contextlib.suppress(NoCommonGraph):
                made[name] = self.start(name)
        return made

    def start(self, name):
        """Adjacency matrices of one of `STARTS`."""
        if name == "single-task":
            return self.single(self._effort.share(0.5))
        if name == "empty":
            return [problem.constraints.required for problem in self.problems]
        return self.identical if name == "identical" else self.common

    def check_orders(self, prior):
        """Raise InputError if a search over shared orders cannot use a coupling."""
        if not self.is_uncoupled(prior) and Couplings(prior, self.joint).shared(0.0) is None:
            message = (
                "'orders' needs a PairedPrior or EditPrior with the same penalty for all tasks"
            )
            raise InputError(message, argument="start", remedy="use another start or None")

    def _by_orders(self, couplings, graph, report, effort):
        """Adjacency matrices found by a search over shared orders; None if it is impossible.

        It needs a coupling that depends only on the number of tasks with an arc, and required arcs
        with a common order. It also returns None if the budget is spent.
        """
        if self.separate is not None:
            return self.separate._by_orders(couplings, graph, report, effort)
        shared = couplings.shared(self._ties.tolerance)
        if shared is None:
            return None
        required = self.joint.spread([problem.constraints.required for problem in self.problems])
        search = self._at(couplings, required)

        def polish(matrices):
            search.reset(matrices)
            search.run(effort.budget())
            violated, score = search.score
            return (-np.inf if violated else score), search.adjacency.copy()

        matrices = orders.search_jointly(
            search.states,
            shared,
            graph,
            polish,
            generator(effort.seed, "orders"),
            effort.budget(),
            effort.orders.starts,
            effort.orders.iterations,
            None if report is None else report.of("shared orders"),
        )
        return None if matrices is None else self.joint.cut(matrices)

    def _one_by_one(self, couplings, start, matrices, report, effort):
        """The result of searches over the graph of one task at a time after the greedy search."""
        effort = effort.with_orders(starts=1)
        search = self._at(couplings, self.joint.spread(matrices))
        searched = itertools.count(1)

        def find(s, state):
            search_graph(state, effort, f"{start}, {self.joint.names[s]}", None)
            if report is not None:
                report(f"multitask from {start}", self.joint.names[s], next(searched))

        return self._end(
            configurations.improve(
                search, find, lambda matrices: self._at(couplings, matrices), effort.budget()
            )
        )

    def uncoupled(self, effort):
        """The single-task solution, which is the result if nothing couples the tasks."""
        matrices = self.single(effort)
        scores = [
            problem.log_posterior(matrix)
            for problem, matrix in zip(self.problems, matrices, strict=True)
        ]
        total = float(sum(scores))
        return Solution(matrices, total, scores, "single-task", {"single-task": total})

    def solve(self, prior, starts, report=None, effort=None):
        """The best configuration over the given starts.

        Parameters
        ----------
        prior : PairedPrior, EditPrior or a custom coupling
        starts : dict name -> list of bool array
        report : Reporter, default=None
        effort : Effort, default=None
            None is the effort given to the constructor.

        Returns
        -------
        Solution

        Raises
        ------
        NoCommonGraph
            If the constraints of the tasks contradict a penalty of 1.
        """
        effort = effort or self._effort
        if self.is_uncoupled(prior):
            return self.uncoupled(effort)
        couplings = Couplings(prior, self.joint)
        couplings.check_agreement()
        goes_on = not effort.climbs
        calls = (
            (couplings, name, matrices, len(starts) == 1, report)
            for name, matrices in starts.items()
        )
        ends = in_parallel(self._from_start, calls, effort.share(0.5) if goes_on else effort)
        ends = {name: end for name, end in zip(starts, ends, strict=True) if end is not None}
        if goes_on:
            # With many variables a search over the graph of one task takes long.
            names = self._by_score(ends)[: orders.starts_of(len(self.joint.variables))]
            calls = [(couplings, name, ends[name][2], report) for name in names]
            better = in_parallel(self._one_by_one, calls, effort)
            ends.update(zip(names, better, strict=True))
        best = self._by_score(ends)[0]
        scores = {name: score for name, (score, _, _) in ends.items()}
        score, task_scores, matrices = ends[best]
        return Solution(matrices, score, task_scores, best, scores)

    def _by_score(self, ends):
        """Names of the starts, sorted by the scores of their results."""
        names = list(ends)
        return [names[at] for at in self._ties.ranked([score for score, _, _ in ends.values()])]

    def follow(self, prior, matrices, effort):
        """The result of the greedy search from a configuration, such as that of another prior."""
        search = self._at(Couplings(prior, self.joint), self.joint.spread(matrices))
        search.run(effort.budget())
        score, task_scores, matrices = self._end(search)
        return Solution(matrices, score, task_scores, FROM_NEIGHBOR, {FROM_NEIGHBOR: score})

    @property
    def tolerance(self):
        """The tolerance for ties of scores, in nats."""
        return self._ties.tolerance

    def _from_start(self, couplings, name, matrices, is_only, report, effort):
        """The result of the greedy search from one start: score, task scores and matrices.

        None if it is impossible and not the only one.
        """
        if name == SEPARATE_TABLES:
            share = effort.share(0.5)
            matrices = self.separate.solve(couplings.prior, matrices, report, share).matrices
        if name == "orders":
            matrices = self._by_orders(couplings, matrices, report, effort.share(0.5))
            if matrices is None and not is_only:
                return None
            if matrices is None:
                matrices = [problem.constraints.required for problem in self.problems]
        search = self._at(couplings, self.joint.spread(matrices))
        step_report = None if report is None else report.of(f"multitask from {name}")
        search.run(effort.budget(), step_report)
        return self._end(search)

    def evidence(self, matrices):
        """Log evidence of the rows of all tasks, given their graphs."""
        if self.separate is None:
            pairs = zip(self.problems, matrices, strict=True)
            return sum(problem.scores.score(matrix) for problem, matrix in pairs)
        couplings = Couplings(PairedPrior(penalty=0), self.joint)
        return self._at(couplings, self.joint.spread(matrices)).evidence()

    def _end(self, search):
        """Score, task scores and matrices of a configuration search."""
        violated, score = search.score
        matrices = [matrix.copy() for matrix in self.joint.cut(search.adjacency)]
        return -np.inf if violated else score, search.task_scores().tolist(), matrices

    def check(self, prior):
        """Raise NoCommonGraph if the constraints of the tasks contradict a penalty of 1."""
        if not self.is_uncoupled(prior):
            Couplings(prior, self.joint).check_agreement()

    def within(self, starts):
        """Given starts, restricted to the arcs permitted here plus the required ones."""
        return {
            name: [
                problem.constraints.allowed_of(matrix)
                for matrix, problem in zip(matrices, self.problems, strict=True)
            ]
            for name, matrices in starts.items()
        }

    def scored(self, prior, solution, learned):
        """A solution found on other rows, scored on these.

        Parameters
        ----------
        prior : PairedPrior, EditPrior or a custom coupling
        solution : Solution
        learned : list of TaskProblem
            The problems it was found for: variables that are constant there are ignored here, too.

        Returns
        -------
        Solution
        """
        pairs = zip(self.problems, learned, strict=True)
        problems = [replace(here, active=there.active) for here, there in pairs]
        if self.is_uncoupled(prior):
            pairs = zip(problems, solution.matrices, strict=True)
            scores = [problem.log_posterior(matrix) for problem, matrix in pairs]
            return replace(solution, score=float(sum(scores)), task_scores=scores)
        joint = JointProblem(problems)
        search = self._at(Couplings(prior, joint), joint.spread(solution.matrices), joint)
        score, task_scores, _ = self._end(search)
        return replace(solution, score=score, task_scores=task_scores)

    def is_uncoupled(self, prior):
        """Whether nothing couples the tasks; shared tables do, custom couplings are assumed to."""
        if self.separate is not None:
            return False
        if len(self.problems) == 1:
            return True
        return isinstance(prior, CouplingPrior) and prior.is_independent(self.joint.names)

    def _at(self, couplings, matrices, joint=None):
        """The search over configurations from matrices, of other problems if they are given."""
        kind = ConfigurationSearch if self.separate is None else SharedConfigurationSearch
        return kind(joint or self.joint, couplings, self._ties, matrices)


def search_over(problems, effort, report):
    """The search over configurations of some tasks.

    Parameters
    ----------
    problems : list of TaskProblem
    effort : Effort
    report : Reporter

    Returns
    -------
    MultitaskSearch
    """
    separate = MultitaskSearch(problems, effort, report)
    if not separate.joint.shares_tables:
        return separate
    return MultitaskSearch(problems, effort, report, separate)
