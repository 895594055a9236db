"""Searches over configurations of five related tasks, compared at the same penalties.

Run `python -m benchmarks.search.joint` (about half an hour on two cores). Results that do not
depend on the penalty (each task learned alone, the identical graph) are computed once per problem,
trial and kind of search, and are timed separately.
"""

import functools

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.related import Related, networks_of
from benchmarks.summary import markdown
from benchmarks.timing import timed
from benchmarks.variants import Searches
from bnmtl import PairedPrior
from bnmtl.search.configurations import ConfigurationSearch
from bnmtl.search.multitask import Solution
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.ties import Ties

NAME = "joint"
SETTINGS = ("problem", "trial", "penalty", "variant")
PROBLEMS = ("ALARM", "INSURANCE", "ALARM-COMP")
TRIALS = range(20)
N_ROWS = 1000
PENALTIES = (0.5, 0.9, 0.99, 0.999, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9)
# The greedy search over configurations, not followed by searches over one task at a time.
GREEDY = "greedy"
# The search that finds the starts, and the start of the search over configurations.
VARIANTS = {
    "thesis": ("hill-climbing", "single-task"),
    "tasks by orders, greedy alone": ("orders", GREEDY),
    "from tasks by orders": ("orders", "single-task"),
    "from identical": ("orders", "identical"),
    "from shared orders": ("orders", "orders"),
    "from the truth": ("orders", None),
}
OURS = ("from tasks by orders", "from identical", "from shared orders")
# Each task alone, without a penalty.
ALONE = {"apart, 100 restarts": "hill-climbing", "apart, orders": "orders"}


def plan(quick):
    """Cases: each task alone, then every penalty."""
    some = slice(1 if quick else None)
    return study.every(
        lambda penalty, **_: VARIANTS if penalty else ALONE,
        trial=TRIALS[some],
        problem=PROBLEMS[some],
        penalty=(0.0, *PENALTIES[some]),
    )


@functools.lru_cache(maxsize=1)
def started(problem, trial):
    """The tasks, their searches, the solutions learned alone, and the seconds of all starts."""
    related = Related(networks_of(problem, trial), N_ROWS, trial)
    searches, alone, seconds = Searches(related.tasks, trial), {}, {}
    for kind in ALONE.values():
        alone[kind], seconds[kind, "single-task"] = timed(searches.by(kind).uncoupled, None)
    _, spent = timed(lambda: searches.by("orders").common)
    seconds["orders", "identical"] = seconds["orders", "orders"] = spent
    return related, searches, alone, seconds


def measure(wanted, problem, trial, penalty):
    """The lines of all searches at one penalty."""
    related, searches, alone, seconds = started(problem, trial)
    if not penalty:
        return {
            variant: line_of(alone[kind], related, seconds[kind, "single-task"], start=0.0)
            for variant, kind in ALONE.items()
            if variant in wanted
        }
    prior, lines = PairedPrior(penalty), {}
    for variant in wanted:
        kind, start = VARIANTS[variant]
        search = searches.by(kind)
        if start == GREEDY:
            solution, spent = timed(greedy_alone, search, prior)
        else:
            starts = search.starts([prior], [start]) if start else {"truth": related.truth()}
            solution, spent = timed(search.solve, prior, starts)
        learned = seconds.get((kind, "single-task" if start == GREEDY else start), 0.0)
        lines[variant] = line_of(solution, related, spent, start=learned)
    return lines


def greedy_alone(search, prior):
    """The solution of the greedy search from the graphs learned alone."""
    problem = search.joint
    ties, starts = Ties(problem.variables, 0, 1e-6), problem.spread(search.single())
    greedy = ConfigurationSearch(problem, Couplings(prior, problem), ties, starts)
    greedy.run()
    matrices = problem.cut(greedy.adjacency)
    return Solution(matrices, greedy.score[1], greedy.task_scores().tolist(), GREEDY, {})


def line_of(solution, related, seconds, start):
    """One line; ``start`` are the seconds spent on the start of the search."""
    judged = related.judged(related.graphs(solution.matrices))
    return {
        "score": round(solution.score, 6),
        "edits": float(np.mean(judged["edits"])),
        "shd": float(np.mean(judged["shd"])),
        "seconds": round(seconds, 4),
        "seconds_of_start": round(start, 4),
        "threads": 1,
    }


def tables(lines):
    """Mean edits per task at the best penalty of each search, and gaps to the best score."""
    keys = ["problem", "trial", "penalty"]
    ours = lines[lines["variant"].isin(OURS)]
    chosen = ours.loc[ours.groupby(keys)["score"].idxmax()]
    spent = ["seconds", "seconds_of_start"]
    totals = ours.groupby(keys)[spent].sum().reset_index()
    chosen = chosen.drop(columns=spent).merge(totals, on=keys)
    lines = pd.concat([lines, chosen.assign(variant="the best of these three by score")])
    best = lines.groupby(keys)["score"].transform("max")
    lines = lines.assign(
        gap=best - lines["score"], seconds=lines["seconds"] + lines["seconds_of_start"]
    )
    table = pd.DataFrame(_reached(lines)).sort_values("problem", kind="stable")
    return {NAME: markdown(table)}


def _reached(lines):
    for (name, variant), group in lines.groupby(["problem", "variant"], sort=False):
        by_penalty = group.groupby("penalty")["edits"].mean()
        at_best = group[group["penalty"] == by_penalty.idxmin()]
        yield {
            "problem": name,
            "search": variant,
            "trials": at_best["trial"].nunique(),
            "best 1 - penalty": f"{1 - by_penalty.idxmin():.0e}",
            "edits": f"{at_best['edits'].mean():.2f} ± {at_best['edits'].sem():.2f}",
            "SHD": f"{at_best['shd'].mean():.2f}",
            "best score in": f"{(group['gap'] < 1).mean():.0%}",
            "mean gap": f"{group['gap'].mean():.1f}",
            "seconds": f"{group['seconds'].median():.2f}",
        }


if __name__ == "__main__":
    study.main(__spec__.name)
