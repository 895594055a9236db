"""Configurations of five related tasks by several searches at the same penalties, for `search`.

What does not depend on the penalty (the tasks learned apart, the identical graph) is learned once
per problem, trial and kind of search, and timed by itself.
"""

import time

import numpy as np

from bnmtl import BDeu, PairedPrior, problems
from bnmtl.graphs import adjacency, from_adjacency
from bnmtl.metrics import edit_distance, shd
from bnmtl.progress import Reporter
from bnmtl.search.configurations import ConfigurationSearch
from bnmtl.search.constraints import constraints_by_task
from bnmtl.search.effort import Effort
from bnmtl.search.multitask import MultitaskSearch, Solution
from bnmtl.search.problem import Couplings, TaskProblem
from bnmtl.search.ties import Ties
from bnmtl.tasks import encode

PROBLEMS = ("ALARM", "INSURANCE", "ALARM-COMP")
TRIALS = range(20)
N_ROWS = 1000
PENALTIES = (0.5, 0.9, 0.99, 0.999, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9)
# The greedy search over configurations without searches over one task at a time after it.
GREEDY = "greedy"
# Which search finds the starts, and which of them the search over configurations begins with.
VARIANTS = {
    "thesis": ("hill-climbing", "single-task"),
    "tasks by orders, greedy alone": ("orders", GREEDY),
    "from tasks by orders": ("orders", "single-task"),
    "from identical": ("orders", "identical"),
    "from shared orders": ("orders", "orders"),
    "from the truth": ("orders", None),
}
OURS = ("from tasks by orders", "from identical", "from shared orders")
# Tasks by themselves, at no penalty.
APART = {"apart, 100 restarts": "hill-climbing", "apart, orders": "orders"}


def plan():
    """Settings of all problems, each measured by one call."""
    return [{"problem": name, "trial": trial} for trial in TRIALS for name in PROBLEMS]


def problem_of(name, trial):
    """The networks of five related tasks."""
    if name == "ALARM-COMP":
        changed = [(), (0,), (1,), (2,), (0, 2)]
        groups = problems.ALARM_COMPONENTS
        return problems.components("alarm", groups, changed, random_state=trial)
    return problems.deletion(name.lower(), random_state=trial)


class Measured:
    """One problem's rows under search, its true graphs beside."""

    def __init__(self, name, trial):
        self.networks = problem_of(name, trial)
        self.tasks = encode(problems.sample(self.networks, N_ROWS, random_state=trial))
        self._constraints = constraints_by_task(self.tasks, (), (), None, None)
        self._seed = trial

    def search(self, kind):
        """A fresh multitask search, nothing cached."""
        own = TaskProblem.of_all(self.tasks, BDeu(), self._constraints)
        effort = Effort(self._seed, search=kind)
        return MultitaskSearch(own, effort, Reporter(False))

    def truth(self):
        """True adjacency of every task, without arcs of constant variables."""
        matrices = []
        for name, task in self.tasks.items():
            graph = self.networks[name].graph.copy()
            graph.remove_edges_from([arc for arc in graph.edges if set(task.constant) & set(arc)])
            matrices.append(adjacency(graph, task.variables))
        return matrices

    def distances(self, matrices):
        """Mean edits and SHD to the truth per task, constant variables aside."""
        edits, hamming = [], []
        for (name, task), matrix in zip(self.tasks.items(), matrices, strict=True):
            graph = from_adjacency(matrix, task.variables)
            for variable in task.constant:
                graph.nodes[variable]["constant"] = True
            edits.append(edit_distance(self.networks[name].graph, graph))
            hamming.append(shd(self.networks[name].graph, graph))
        return {"edits": float(np.mean(edits)), "shd": float(np.mean(hamming))}


def measure(problem, trial):
    """All lines of one problem and trial."""
    measured = Measured(problem, trial)
    lines = []
    searches, seconds = {}, {}
    for variant, kind in APART.items():
        began = time.perf_counter()
        search = searches[kind] = measured.search(kind)
        solution = search.apart()
        seconds[kind, "single-task"] = time.perf_counter() - began
        lines.append(
            line_of(0.0, variant, solution, measured, seconds[kind, "single-task"], start=0.0)
        )
    began = time.perf_counter()
    common = searches["orders"].common
    seconds["orders", "identical"] = seconds["orders", "orders"] = time.perf_counter() - began
    for penalty in PENALTIES:
        prior = PairedPrior(penalty)
        for variant, (kind, start) in VARIANTS.items():
            search = searches[kind]
            if start is None:
                starts = {"truth": measured.truth()}
            elif start == "orders":
                starts = {"orders": common}
            elif start != GREEDY:
                starts = search.starts([prior], [start])
            began = time.perf_counter()
            if start == GREEDY:
                solution = greedy_alone(search, prior)
            else:
                solution = search.solve(prior, starts)
            took = time.perf_counter() - began
            learned = seconds.get((kind, "single-task" if start == GREEDY else start), 0.0)
            lines.append(line_of(penalty, variant, solution, measured, took, start=learned))
    return lines


def greedy_alone(search, prior):
    """The greedy search from the tasks learned apart, as a solution."""
    ties = Ties(search.joint.variables, 0, 1e-6)
    greedy = ConfigurationSearch(
        search.joint,
        Couplings(prior, search.joint),
        ties,
        search.joint.spread(search.single()),
    )
    greedy.run()
    matrices = search.joint.cut(greedy.adjacency)
    return Solution(matrices, greedy.score[1], greedy.task_scores().tolist(), GREEDY, {})


def line_of(penalty, variant, solution, measured, seconds, start):
    """One line; ``start`` are the seconds that went into what the search began with."""
    return {
        "penalty": penalty,
        "variant": variant,
        "score": round(solution.score, 6),
        **measured.distances(solution.matrices),
        "seconds": round(seconds, 4),
        "seconds_of_start": round(start, 4),
        "threads": 1,
    }
