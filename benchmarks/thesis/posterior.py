"""What could mend the posterior's choice of the penalty, with the score left as it is.

Run `python -m benchmarks.thesis.posterior` (a quarter of an hour on two cores). Five problems of
five tasks, 1000 rows each, tasks learned apart by the strong search, then the greedy search along
the penalties (S). A remedy searches more configurations, or gives the posterior of the same ones
more freedom; of all that it has, the configuration with the largest posterior is taken:

- finer grid: four penalties to a power of ten in place of one;
- directions apart: the Edit prior, a reversal counting 0.1, 0.3, 1 or 2 times as much as an added
  or deleted arc;
- arc probability: graphs searched under arc probabilities, one for all tasks in the posterior;
- arc probability per task: the same graphs, each task with a probability of its own.
"""

import itertools
import math

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import logsumexp

from benchmarks import study
from benchmarks.related import FIVE, Related, networks_of
from benchmarks.summary import (
    claims_table,
    differences,
    markdown,
    reached,
)
from benchmarks.thesis import methods
from benchmarks.thesis.alone import PROBABILITIES
from benchmarks.variants import Searches
from bnmtl import ArcPrior, EditPrior, PairedPrior
from bnmtl.graphs import from_adjacency
from bnmtl.learners.penalty import best_penalty, penalty_grid
from bnmtl.search.couplings import Couplings
from bnmtl.search.effort import Effort
from bnmtl.search.path import greedy_path
from bnmtl.search.posterior import log_posterior

NAME = "posterior"
SETTINGS = ("problem", "trial", "choice")
DPI = 100
N_TRIALS = 10
FINE = tuple(1 - 10 ** (-at / 4) for at in range(49))
REVERSALS = (0.1, 0.3, 1.0, 2.0)
FIXED = {
    "n_rows": methods.N_ROWS,
    "reversals": list(REVERSALS),
    "probabilities": list(PROBABILITIES),
}
REMEDIES = (
    "finer grid",
    "Edit",
    "directions apart",
    "arc probability",
    "arc probability per task",
)
CHOICES = ("posterior", *REMEDIES, "optimal")
COMPARED = [(choice, "posterior", "our own") for choice in CHOICES[1:]]
# Bounds of log(rho / (1 - 2 rho)), as the posterior has them.
_LOG_ODDS = (-14.0, 7.0)


def plan(quick, trials=None):
    """All cases; the quick one is a trial of the plain posterior."""
    if quick:
        return [{"problem": "ALARM", "trial": 0, "wanted": ["posterior"]}]
    return [
        {"problem": problem, "trial": trial, "wanted": list(CHOICES)}
        for trial in range(trials or N_TRIALS)
        for problem in FIVE
    ]


def measure(problem, trial, wanted):
    """A line a choice: means over the five tasks."""
    related = Related(networks_of(problem, trial), methods.N_ROWS, trial)
    paths = Paths(related.tasks, trial)
    lines = {}
    for choice in wanted:
        candidates = list(_candidates(paths, choice))
        if choice == "optimal":
            judged = [related.judged(one.graphs) for one in candidates]
            best = int(np.argmin([np.mean(own["edits"]) for own in judged]))
        else:
            best = best_penalty(np.array([one.log_posterior for one in candidates]))
        chosen = candidates[best]
        line = methods.means(related.judged(chosen.graphs))
        lines[choice] = {**line, "penalty": chosen.penalty, "with": chosen.extra}
    return lines


class Candidate:
    """A configuration, its penalty, its log posterior and what else it was found with."""

    def __init__(self, search, prior, solution, extra=None, by_task=False):
        self.penalty = prior.penalty
        self.extra = extra
        pairs = list(zip(search.problems, solution.matrices, strict=True))
        self.graphs = {own.name: from_adjacency(matrix, own.variables) for own, matrix in pairs}
        # Arc probabilities that graphs were searched with are the posterior's own to choose.
        data = sum(own.scores.score(matrix) for own, matrix in pairs)
        couplings = Couplings(prior, search.joint)
        posterior = log_posterior_by_task if by_task else log_posterior
        self.log_posterior = posterior(couplings, search.joint.spread(solution.matrices), data)


class Paths:
    """Solutions along penalties; what is searched under one probability of arcs is shared."""

    def __init__(self, tasks, trial):
        self._tasks = tasks
        self._trial = trial
        self._searches = {}
        self._known = {}

    def of(self, probability, priors):
        """The search under a probability of arcs and its solution under each prior."""
        key = probability, *map(repr, priors)
        if key not in self._known:
            search = self._search(probability)
            starts = search.starts(priors, ["single-task"])
            self._known[key] = greedy_path(search, priors, starts, Effort(self._trial))
        return self._search(probability), self._known[key]

    def _search(self, probability):
        if probability not in self._searches:
            searches = Searches(self._tasks, self._trial, ArcPrior(probability))
            self._searches[probability] = searches.search("S")
        return self._searches[probability]


def _candidates(paths, choice):
    """What a choice is made from."""
    grid = penalty_grid((*FINE, 1.0) if choice == "finer grid" else None)
    paired = [PairedPrior(penalty) for penalty in grid]
    if choice in ("Edit", "directions apart"):
        for reversal in REVERSALS if choice == "directions apart" else (1.0,):
            costs = {"add": 1.0, "delete": 1.0, "reverse": reversal}
            priors = [EditPrior(penalty, costs=costs) for penalty in grid]
            search, path = paths.of(0.5, priors)
            for prior, solution in zip(priors, path, strict=True):
                yield Candidate(search, prior, solution, reversal)
    elif choice.startswith("arc probability"):
        for probability in PROBABILITIES:
            search, path = paths.of(probability, paired)
            for prior, solution in zip(paired, path, strict=True):
                yield Candidate(search, prior, solution, probability, choice.endswith("task"))
    else:
        search, path = paths.of(0.5, paired)
        for prior, solution in zip(paired, path, strict=True):
            yield Candidate(search, prior, solution)


def log_posterior_by_task(couplings, matrices, log_likelihood):
    """`bnmtl.search.posterior.log_posterior` with a probability of arcs for each task."""
    groups, value = {}, 0.0
    for i, j in np.argwhere(couplings.pairs).tolist():
        members, coupling = couplings.of(i, j)
        states = matrices[members, i, j].astype(np.int8) - matrices[members, j, i]
        value += coupling.log_coupling(states)
        key = id(coupling), *np.atleast_1d(np.arange(len(matrices))[members]).tolist()
        groups.setdefault(key, [coupling, 0])[1] += 1
    if value == -math.inf:
        return -math.inf
    n_arcs = matrices.sum(axis=(1, 2))
    tables = [
        (n_pairs, list(members), *_states(coupling, len(members)))
        for (_, *members), (coupling, n_pairs) in groups.items()
    ]

    def negative(log_odds):
        normalizers = sum(
            n_pairs * logsumexp(arcs @ log_odds[members] + logs)
            for n_pairs, members, arcs, logs in tables
        )
        return normalizers - n_arcs @ log_odds

    start = np.full(len(matrices), -3.0)
    found = minimize(negative, start, method="L-BFGS-B", bounds=[_LOG_ODDS] * len(start))
    return log_likelihood + value - float(found.fun)


def _states(coupling, k):
    """All states of k tasks that the coupling allows: which have an arc, and log C."""
    arcs, logs = [], []
    for states in itertools.product((-1, 0, 1), repeat=k):
        states = np.array(states, np.int8)
        value = coupling.log_coupling(states)
        if value > -math.inf:
            arcs.append(np.abs(states))
            logs.append(value)
    return np.array(arcs, dtype=float), np.array(logs)


def tables(lines):
    """What each remedy reaches, and whether it mends anything."""
    rows = []
    for problem in FIVE:
        for choice in CHOICES:
            own = lines[(lines["problem"] == problem) & (lines["choice"] == choice)]
            if len(own):
                row = {"problem": problem, "choice": choice, "trials": len(own)} | reached(own)
                rest = sorted(1 - own["penalty"])
                row["median 1 - penalty"] = f"{rest[(len(rest) - 1) // 2]:.0e}"
                row["median of the rest"] = f"{own['with'].median():g}"
                rows.append(row)
    table = pd.DataFrame(rows).replace("nan", "")
    return {
        "posterior": markdown(table),
        "posterior_claims": claims_table(differences(lines, FIVE, COMPARED)),
    }


def draw(lines):
    """Edits by choice, a panel a problem."""
    from matplotlib.figure import Figure

    present = [problem for problem in FIVE if problem in set(lines["problem"])]
    figure = Figure(figsize=(3 * len(present), 3), layout="constrained")
    panels = figure.subplots(1, len(present), sharey=True, squeeze=False)[0]
    for axes, problem in zip(panels, present, strict=True):
        own = lines[lines["problem"] == problem].groupby("choice")["edits"]
        means, errors = own.mean().reindex(CHOICES), own.sem().reindex(CHOICES)
        axes.barh(range(len(CHOICES)), means, xerr=errors.fillna(0.0), color="#4292c6")
        axes.set_title(problem, fontsize=9)
        axes.set_xlabel("edit distance", fontsize=8)
    panels[0].set_yticks(range(len(CHOICES)), CHOICES, fontsize=8)
    panels[0].invert_yaxis()
    return figure


if __name__ == "__main__":
    study.main(__spec__.name)
