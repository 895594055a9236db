"""From task problems to the best configuration: searches for the starts, then from each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from joblib import Parallel, delayed

from bnmtl.priors import CouplingPrior
from bnmtl.search import hill_climbing
from bnmtl.search.configurations import ConfigurationSearch
from bnmtl.search.graph_state import GraphState
from bnmtl.search.problem import Couplings, JointProblem
from bnmtl.search.ties import Ties, tolerance
from bnmtl.seeding import generator

STARTS = ("single-task", "identical", "empty")


@dataclass(frozen=True)
class Effort:
    """How hard the searches over graphs try.

    Attributes
    ----------
    seed : int
    restarts, perturb, tabu : int
        As in `hill_climbing.search`.
    n_jobs : int or None
        As in joblib.
    """

    seed: int
    restarts: int
    perturb: int
    tabu: int
    n_jobs: int | None


@dataclass(frozen=True)
class Solution:
    """A configuration and what it is worth.

    Attributes
    ----------
    matrices : list of bool array
        Adjacency over each task's own variables.
    score : float
        Log posterior without its constant; -inf where a penalty of 1 stays violated.
    task_scores : list of float
    start : str or None
        Which start won.
    start_scores : dict str -> float
    """

    matrices: list
    score: float
    task_scores: list
    start: str | None = None
    start_scores: dict | None = None


def search_task(problem, matrix, effort, report):
    """The best graph of one task by itself.

    Parameters
    ----------
    problem : TaskProblem
    matrix : bool array of shape (n, n)
        Graph to start from.
    effort : Effort
    report : Reporter

    Returns
    -------
    bool array of shape (n, n)
    """
    empty = np.zeros_like(matrix)
    ties = Ties(problem.variables, effort.seed, tolerance(problem.log_posterior(empty)))
    return _search(
        problem.state(matrix), ties, effort, problem.name, report.of("single-task", problem.name)
    )


def search_tasks(problems, matrices, effort, report):
    """`search_task` for every task, in parallel."""
    for problem in problems:
        report("single-task", problem.name, 0, effort.restarts + 1)
    return Parallel(n_jobs=effort.n_jobs, prefer="threads")(
        delayed(search_task)(problem, matrix, effort, report)
        for problem, matrix in zip(problems, matrices, strict=True)
    )


def search_identical(joint, matrix, effort, report):
    """The best single graph for all tasks, over the union of their variables.

    Parameters
    ----------
    joint : JointProblem
    matrix : bool array of shape (n, n) or None
        Graph to start from; None is the graph of the required arcs.
    effort : Effort
    report : Reporter

    Returns
    -------
    matrix : bool array of shape (n, n)
    score : float
        Log posterior without its constant.
    """
    scores, constraints, (present, absent) = joint.identical()
    if matrix is None:
        matrix = constraints.required
    state = GraphState(scores, constraints, np.zeros_like(matrix), present - absent)
    ties = Ties(joint.variables, effort.seed, tolerance(state.score))
    state.reset(matrix)
    best = _search(state, ties, effort, "identical", report.of("identical structure"))
    return best, state.score + float(absent.sum())


def _search(state, ties, effort, name, report):
    hill_climbing.search(
        state,
        ties,
        generator(effort.seed, name),
        effort.restarts,
        effort.perturb,
        effort.tabu,
        report,
    )
    return state.adjacency.copy()


class MultitaskSearch:
    """Configurations of one set of tasks under any prior; what does not depend on it is kept.

    Parameters
    ----------
    problems : list of TaskProblem
    effort : Effort
    report : Reporter
    """

    def __init__(self, problems, effort, report):
        self.problems = problems
        self.joint = JointProblem(problems)
        self._effort = effort
        self._report = report
        empty = sum(p.log_posterior(np.zeros_like(p.constraints.required)) for p in problems)
        self._ties = Ties(self.joint.variables, effort.seed, tolerance(empty))

    @cached_property
    def single(self):
        """Adjacency matrices of the tasks learned apart."""
        required = [problem.constraints.required for problem in self.problems]
        return search_tasks(self.problems, required, self._effort, self._report)

    @cached_property
    def identical(self):
        """The best single graph, cut to each task's pairs."""
        matrix, _ = search_identical(self.joint, None, self._effort, self._report)
        return [self.joint.restrict(s, matrix) for s in range(len(self.problems))]

    @property
    def empty(self):
        """The graphs of the required arcs."""
        return [problem.constraints.required for problem in self.problems]

    def prepare(self, starts=STARTS):
        """Run the searches that the starts need, before they are asked for in parallel."""
        for start in starts:
            self.start(start)

    def start(self, name):
        """Adjacency matrices of the named start."""
        return getattr(self, name.split("-")[0])

    def apart(self):
        """The single-task solution, which is the answer where nothing couples the tasks."""
        scores = [
            problem.log_posterior(matrix)
            for problem, matrix in zip(self.problems, self.single, strict=True)
        ]
        total = float(sum(scores))
        return Solution(self.single, total, scores, "single-task", {"single-task": total})

    def solve(self, prior, starts=STARTS):
        """The best configuration over some starts.

        Parameters
        ----------
        prior : PairedPrior, EditPrior or a user's own
        starts : sequence of str, or dict name -> list of bool array

        Returns
        -------
        Solution
        """
        if self._is_apart(prior):
            return self.apart()
        couplings = Couplings(prior, self.joint)
        couplings.check_agreement()
        given = starts if isinstance(starts, dict) else {name: self.start(name) for name in starts}
        ended = {name: self._climb(couplings, name, matrices) for name, matrices in given.items()}
        ranks = {name: (-search.score[0], search.score[1]) for name, search in ended.items()}
        best = max(ranks, key=ranks.get)
        return self._solution(ended[best], best, ranks)

    def value(self, prior, matrices):
        """Score and task scores of a configuration under a prior, without any search."""
        if self._is_apart(prior):
            pairs = zip(self.problems, matrices, strict=True)
            scores = [problem.log_posterior(matrix) for problem, matrix in pairs]
            return float(sum(scores)), scores
        search = self._at(Couplings(prior, self.joint), matrices)
        violated, score = search.score
        return -np.inf if violated else score, search.task_scores().tolist()

    def _is_apart(self, prior):
        """Whether nothing couples the tasks; a user's own prior always may."""
        if len(self.problems) == 1:
            return True
        return isinstance(prior, CouplingPrior) and prior.is_independent()

    def _climb(self, couplings, name, matrices):
        search = self._at(couplings, matrices)
        search.run(self._report.of(f"multitask from {name}"))
        return search

    def _at(self, couplings, matrices):
        return ConfigurationSearch(self.joint, couplings, self._ties, self.joint.spread(matrices))

    def _solution(self, search, start, ranks):
        positions = self.joint.positions
        violated, score = search.score
        return Solution(
            [search.adjacency[s][np.ix_(at, at)] for s, at in enumerate(positions)],
            -np.inf if violated else score,
            search.task_scores().tolist(),
            start,
            {name: -np.inf if -rank[0] else rank[1] for name, rank in ranks.items()},
        )
