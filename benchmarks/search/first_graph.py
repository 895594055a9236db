"""How long to search for the start graph of searches with shared tables.

Run `python -m benchmarks.search.first_graph` (half an hour on two cores). With shared tables, a
search over configurations starts from the solution for separate tables and from one graph for all
tasks. The search for this graph starts from the best one for separate tables. Here it makes all
iterations of a default search, a quarter of them, an eighth or none, and the rest of the fit
follows. With all iterations, it also starts from the graph of all rows pooled.
"""

import time

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.by_default import UP_TO_100
from benchmarks.defaults.grouped import SHIPPED, grouped_tasks
from benchmarks.drawing import bars, panels
from benchmarks.related import CONTROL, FIVE, Related, networks_of
from benchmarks.summary import markdown, of_baseline, parts
from benchmarks.timing import timed
from benchmarks.variants import shared_search
from bnmtl import MultitaskLearner, PooledLearner
from bnmtl.graphs import adjacency
from bnmtl.progress import Reporter
from bnmtl.scores import CONCENTRATIONS, PARTITIONS
from bnmtl.search.one_graph import score_identical, search_common
from bnmtl.search.orders import iterations_of

NAME = "first_graph"
SETTINGS = ("problem", "trial", "iterations")
FIXED = {"concentrations": list(CONCENTRATIONS), "partitions": list(PARTITIONS)}
EARLIER = {"concentrations": list(UP_TO_100)}
N_TRIALS = 3
N_ROWS = 1000
# Divisors of the number of iterations; without any, a single climb remains.
PARTS = {"all": 1, "a quarter": 4, "an eighth": 8, "none": np.inf}
POOLED = "from the pooled graph"
# Smaller differences between scores count as ties.
TOLERANCE = 0.01


def plan(quick, trials=None):
    """All cases; the quick one has few rows."""
    if quick:
        wanted = ["all", "an eighth", POOLED]
        return study.every(wanted, problem=["ASIA"], trial=[0], rows=[50])
    problems = (*FIVE, CONTROL, *SHIPPED)
    return study.every([*PARTS, POOLED], trial=range(trials or N_TRIALS), problem=problems)


def measure(problem, trial, wanted, rows=N_ROWS):
    """One line per number of iterations: final score, best start and seconds of a fit.

    The line of `POOLED` has the scores of one graph for all tasks, by start.
    """
    if problem in SHIPPED:
        tasks = grouped_tasks(problem)
    else:
        tasks = Related(networks_of(problem, trial), rows, trial).tasks
    return {
        part: _one_graph(tasks, trial) if part == POOLED else _fitted(tasks, PARTS[part], trial)
        for part in wanted
    }


def _one_graph(tasks, seed):
    """Scores of one graph for all tasks, from the start for separate tables and the pooled one."""
    effort, search = shared_search(MultitaskLearner(random_state=seed), tasks)
    pooled = next(iter(PooledLearner(random_state=seed).fit(tasks).configuration_.values()))
    starts = {
        "own": search.separate.common,
        "pooled": adjacency(pooled, search.joint.variables),
    }
    return {
        name: score_identical(
            search.joint, search_common(search.joint, start, effort, Reporter(False), True)
        )[0]
        for name, start in starts.items()
    }


def _fitted(tasks, part, seed):
    learner = MultitaskLearner(task_groups=None, random_state=seed)
    prior, began = learner._used_prior(), time.perf_counter()
    effort, search = shared_search(learner, tasks)
    start = search.separate.common
    iterations = int(iterations_of(len(search.joint.variables)) // part)
    fewer = effort.with_orders(iterations=iterations)
    search.common, searched = timed(
        search_common, search.joint, start, fewer, Reporter(False), True
    )
    solution = search.solve(prior, search.starts([prior]))
    return {
        "score": round(solution.score, 4),
        "start": solution.start,
        "seconds": round(time.perf_counter() - began, 2),
        "seconds_of_graph": round(searched, 2),
    }


def _compared(lines):
    """Add the score and times with all iterations to each line."""
    names, keys = ("score", "seconds", "seconds_of_graph"), ["problem", "trial"]
    whole = {f"{one}_of_all": of_baseline(lines, "iterations", "all", one, keys) for one in names}
    return lines.assign(**whole)


def tables(lines):
    """By iterations: how many fits have another score, by how much, and their time."""
    lines = _compared(lines)
    return {"first_graph": markdown(_fewer(lines)), "first_graph_pooled": _pooled(lines)}


def _fewer(lines):
    for case, group in parts(lines, iterations=PARTS):
        gains = group["score"] - group["score_of_all"]
        yield {
            **case,
            "fits": len(group),
            **_counted(gains),
            "worst, nats": f"{gains.min():.1f}",
            "time of this search / with all": _share(group, "seconds_of_graph"),
            "time of the fit / with all": _share(group, "seconds"),
        }


def _counted(gains):
    """Numbers of better and of worse scores."""
    return {"better": int((gains > TOLERANCE).sum()), "worse": int((gains < -TOLERANCE).sum())}


def _pooled(lines):
    """How often one graph is better, or worse, if its search starts from the pooled graph."""
    group = lines[lines["iterations"].eq(POOLED)]
    gains = group["pooled"] - group["own"] if len(group) else pd.Series(dtype=float)
    row = {"one graph": POOLED, "tried": len(gains), **_counted(gains)}
    row |= {"best, nats": f"{gains.max():.1f}", "worst, nats": f"{gains.min():.1f}"}
    return markdown([row])


def _share(lines, name):
    return f"{(lines[name] / lines[f'{name}_of_all']).median():.2f}"


def draw(lines):
    """Median time of fits by problem, with one bar per number of iterations."""
    seconds = lines.groupby(["problem", "iterations"])["seconds"].median().unstack("iterations")
    shown = seconds[[part for part in PARTS if part in seconds]]
    rows = {"": "seconds a fit"}
    return panels(lambda axes, *_: bars(axes, shown), (9, 3.5), rows=rows, legend="first")


if __name__ == "__main__":
    study.main(__spec__.name)
