"""Configurations of five related tasks by several searches at the same penalties, for `search`.

What does not depend on the penalty (the tasks learned apart, the identical graph) is learned once
per problem, trial and kind of search, and timed by itself.
"""

import time

import numpy as np

from benchmarks.related import Related, networks_of
from benchmarks.variants import Searches
from bnmtl import PairedPrior
from bnmtl.search.configurations import ConfigurationSearch
from bnmtl.search.couplings import Couplings
from bnmtl.search.multitask import Solution
from bnmtl.search.ties import Ties

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


def measure(problem, trial):
    """All lines of one problem and trial."""
    related = Related(networks_of(problem, trial), N_ROWS, trial)
    searches = Searches(related.tasks, trial)
    lines, seconds = [], {}
    for variant, kind in APART.items():
        began = time.perf_counter()
        search = searches.by(kind)
        solution = search.apart(None)
        seconds[kind, "single-task"] = time.perf_counter() - began
        lines.append(
            line_of(0.0, variant, solution, related, seconds[kind, "single-task"], start=0.0)
        )
    began = time.perf_counter()
    common = searches.by("orders").common
    seconds["orders", "identical"] = seconds["orders", "orders"] = time.perf_counter() - began
    for penalty in PENALTIES:
        prior = PairedPrior(penalty)
        for variant, (kind, start) in VARIANTS.items():
            search = searches.by(kind)
            if start is None:
                starts = {"truth": related.truth()}
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
            lines.append(line_of(penalty, variant, solution, related, took, start=learned))
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


def line_of(penalty, variant, solution, related, seconds, start):
    """One line; ``start`` are the seconds that went into what the search began with."""
    judged = related.judged(related.graphs(solution.matrices))
    return {
        "penalty": penalty,
        "variant": variant,
        "score": round(solution.score, 6),
        "edits": float(np.mean(judged["edits"])),
        "shd": float(np.mean(judged["shd"])),
        "seconds": round(seconds, 4),
        "seconds_of_start": round(start, 4),
        "threads": 1,
    }
