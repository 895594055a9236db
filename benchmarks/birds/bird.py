"""Birds at feeders, regions as tasks: penalty, size, selection, clusters (2.8, 2.9, 2.13 - 2.16).

Run `python -m benchmarks.birds.bird --data FOLDER` (two hours on two cores). The data are not part
of the project: see `benchmarks/birds/bird_tasks.py`. Networks are learned from some sites of every
region and evaluated by the mean log-likelihood of all its other sites. The search is S: strong
single-task searches, then the greedy search along the penalties. Every region is the principal task
in turn. "optimal number" and "optimal clusters" use the numbers that predict the test sites best.
"""

import os

import numpy as np
from sklearn.base import clone

from benchmarks import by_default, study
from benchmarks.birds.bird_tables import (
    BY_DEFAULT,
    EMPTY_SHARED,
    GROUPED,
    OTHER_ORDER_ROWS,
    OTHER_ORDERS,
    SAME_REGIONS,
    claims,
    draw,
    tables,
)
from benchmarks.birds.bird_tasks import PROBLEMS, bird_tasks, data_file, fingerprint, train_and_test
from benchmarks.thesis import alone
from benchmarks.thesis.groups import AT_LEAST, SHARE, Groupings
from benchmarks.thesis.penalty_curves import EXPONENTS
from benchmarks.thesis.pool import PENALTY, held_out_of
from benchmarks.variants import VALIDATION, Searches, learner_of
from bnmtl import EditPrior, PairedPrior
from bnmtl.learners.held_out import by_learner
from bnmtl.learners.validated import best_penalty
from bnmtl.search import Memory
from bnmtl.tasks import encode

NAME = "bird"
SETTINGS = ("problem", "rows", "trial", "method")
__all__ = ["claims", "draw", "measure", "plan", "tables"]
TAKES_DATA = True
N_TRIALS = 10
# Methods of the thesis, by their names there.
LEARNED = {
    "single": "single S",
    "identical": "identical S",
    "multitask": "multitask S",
    "multitask folds": "multitask folds",
}
# Methods without sharing; each returns graphs and further entries of the line.
ALONE = {
    "empty": lambda tasks, seed: (alone.empty(tasks), {}),
    "single, BIC": lambda tasks, seed: (alone.by_bic(tasks, seed), {}),
    "single, sparse": lambda tasks, seed: _sparse(tasks, seed),
}
# No arcs, with the tables of the given learner.
EMPTY = {"empty, defaults": "alone, defaults", EMPTY_SHARED: "together, tables shared"}
CURVES = {
    "Paired/Double": PairedPrior(),
    "Paired/Single": PairedPrior(reversal=1),
    "Edit": EditPrior(),
}
# Largest numbers of rows for the penalty curves and for groups of tasks.
MOST_ROWS = {"BIRD-SITES": 400, "BIRD-SPECIES": 200}
FIXED = {
    "validation": VALIDATION,
    "exponents": [str(exponent) for exponent in EXPONENTS],
    "share": SHARE,
    "at_least": AT_LEAST,
    "direct_penalty": PENALTY,
}


def _sparse(tasks, seed):
    graphs, probability = alone.sparse(tasks, seed, VALIDATION)
    return graphs, {"probability": probability}


def _by_default(method, tasks, seed):
    """Graphs with the default settings, and the learner of their tables."""
    if method in EMPTY:
        return alone.empty(tasks), by_default.LEARNERS[EMPTY[method]](seed)
    learner = by_default.LEARNERS[method](seed).fit(tasks)
    return learner.configuration_, learner


def plan(quick, trials=None):
    """All cases, few rows first; the quick one learns each region alone from 100 sites."""
    if quick:
        return study.every(["single"], problem=["BIRD-SITES"], rows=[100], trial=[0])
    sizes = sorted({n for problem in PROBLEMS.values() for n in problem.sizes})
    return study.every(_wanted, trial=range(trials or N_TRIALS), problem=PROBLEMS, rows=sizes)


def _wanted(trial, problem, rows):
    if rows not in PROBLEMS[problem].sizes:
        return []
    wanted = [*LEARNED, *ALONE, *BY_DEFAULT]
    if problem in SAME_REGIONS:
        return wanted
    wanted += [*CURVES, *GROUPED] if rows <= MOST_ROWS[problem] else []
    return [*wanted, *OTHER_ORDERS] if rows == OTHER_ORDER_ROWS else wanted


def check_needs(cases, lines):
    """Raise ValueError if needed or named data are missing, or differ from those of the lines."""
    if not cases and not os.environ.get("BNMTL_DATA"):
        return
    others = {line.get("data") for line in lines} - {fingerprint()}
    if cases and others:
        raise ValueError(
            f"The lines that there are were measured on other data than `{data_file()}`; name the "
            "same data, or start again elsewhere with `--out`."
        )


class Birds:
    """Training and test sites of every region, with scores of graphs on the test sites."""

    def __init__(self, problem, rows, trial):
        train, test = train_and_test(bird_tasks(problem), rows, trial)
        self.train, self._test = encode(train), encode(test)
        self._held_out = held_out_of(self.train, self._test)

    def judged(self, graphs, learner=None):
        """Mean log-likelihood of a test site in nats, one value per region.

        Tables are those of the thesis, or those of a learner.
        """
        if learner is not None:
            return by_learner(learner, self.train, self._test).means(graphs)
        return {name: self._held_out[name].mean(graph) for name, graph in graphs.items()}


def measure(problem, rows, trial, wanted):
    """One line per method: the mean over regions, and the value of each region."""
    birds = Birds(problem, rows, trial)
    lines, memory = {}, Memory()
    for method in wanted:
        if method in LEARNED:
            learner = learner_of(LEARNED[method], trial).fit(birds.train, memory=memory)
            lines[method] = _line(birds.judged(learner.configuration_))
            lines[method]["penalty"] = getattr(learner, "penalty_", None)
        elif method in ALONE:
            graphs, details = ALONE[method](birds.train, trial)
            lines[method] = {**_line(birds.judged(graphs)), **details}
        elif method in BY_DEFAULT:
            graphs, learner = _by_default(method, birds.train, trial)
            lines[method] = _line(birds.judged(graphs, learner))
        elif method in CURVES:
            lines[method] = _curve(birds, CURVES[method], trial)
    if set(wanted) & {*GROUPED, *OTHER_ORDERS}:
        groupings = Groupings(birds.train, "S", trial)
        if set(wanted) & set(GROUPED):
            found = _grouped(birds, groupings)
            lines.update({method: found[method] for method in wanted if method in GROUPED})
        for method in filter(OTHER_ORDERS.__contains__, wanted):
            is_indirect = OTHER_ORDERS[method] == "indirect"
            table = groupings.losses if is_indirect else groupings.differing
            lines[method], _ = _selected(birds, groupings, table)
    return {method: {**lines[method], "data": fingerprint()} for method in wanted}


def _line(by_region):
    means = {name: round(value, 6) for name, value in by_region.items()}
    return {"nats": round(float(np.mean(list(means.values()))), 6), "regions": means}


def _curve(birds, prior, trial):
    """The mean over regions for each penalty."""
    searches = Searches(birds.train, trial)
    penalties = [1 - 10.0**-exponent for exponent in reversed(EXPONENTS)]
    priors = [clone(prior).set_params(penalty=penalty) for penalty in penalties]
    judged = [birds.judged(searches.graphs(solution)) for solution in searches.along("S", priors)]
    return {
        "curve": [
            round(float(np.mean(list(by_region.values()))), 6) for by_region in reversed(judged)
        ]
    }


def _selected(birds, groupings, table):
    """Lines for the number of nearest regions that held-out sites choose, and for the optimal one.

    The optimal number is the best one on the test sites.
    """
    chosen, optimal, numbers, curves, optimal_curves = {}, {}, [], {}, {}
    for region in birds.train:

        def judged(graph, region=region):
            return round(birds.judged({region: graph})[region], 6)

        options = groupings.by_number(region, table)
        curves[region] = [judged(option.graph) for option in options]
        optimal_curves[region] = [max(map(judged, option.every)) for option in options]
        best = best_penalty([option.score for option in options])
        chosen[region], optimal[region] = curves[region][best], max(curves[region])
        numbers.append(best)
    line = {**_line(chosen), "number": float(np.mean(numbers))}
    return {**line, "curves": curves, "optimal_curves": optimal_curves}, _line(optimal)


def _grouped(birds, groupings):
    """One line per method of grouping the tasks."""
    found = {}
    found["selection"], found["optimal number"] = _selected(birds, groupings, groupings.distances)
    clusters = groupings.by_clusters(groupings.distances)
    judged = [birds.judged(graphs) for graphs, _ in clusters]
    best = best_penalty([score for _, score in clusters])
    found["clustering"] = {**_line(judged[best]), "number": best + 1}
    means = [np.mean(list(by_region.values())) for by_region in judged]
    optimal = int(np.argmax(means))
    found["optimal clusters"] = {**_line(judged[optimal]), "number": optimal + 1}
    table = groupings.distances
    found["all tasks"] = {
        **_line(birds.judged(groupings.all_tasks())),
        "names": list(table.index),
        "distances": table.round(6).to_numpy().tolist(),
    }
    found["task penalties"] = _line(birds.judged(groupings.by_distance()))
    return found


if __name__ == "__main__":
    study.main(__spec__.name)
