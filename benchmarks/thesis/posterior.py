"""Remedies for the posterior's choice of the penalty, with the same score.

Run `python -m benchmarks.thesis.posterior` (a quarter of an hour on two cores). Five problems of
five tasks, 1000 rows each; each task is learned alone by the strong search, then the greedy search
runs along the penalties (S). A remedy searches more configurations or uses a more flexible
posterior. It chooses the configuration with the largest posterior:

- finer grid: four penalties per power of ten instead of one;
- directions apart: the Edit prior with a reversal cost of 0.1, 0.3, 1 or 2 times that of an added
  or deleted arc;
- arc probability: graphs searched under several arc probabilities, one for all tasks in the
  posterior;
- arc probability per task: the same graphs, with one probability per task in the posterior.
"""

import itertools
import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from benchmarks import study
from benchmarks.claims import OURS, claims_table, differences
from benchmarks.drawing import LABELS, bars, panels
from benchmarks.related import FIVE, Related, networks_of
from benchmarks.summary import markdown, parts, present, reached
from benchmarks.thesis import methods
from benchmarks.thesis.alone import PROBABILITIES
from benchmarks.thesis.penalty_choice import median_rest
from benchmarks.variants import Searches
from bnmtl import ArcPrior, EditPrior, PairedPrior
from bnmtl.learners.validated import best_penalty, penalty_grid
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.penalty_posterior import log_posterior

NAME = "posterior"
SETTINGS = ("problem", "trial", "choice")
N_TRIALS = 10
FINE = tuple(1 - 10 ** (-at / 4) for at in range(49))
REVERSALS = (0.1, 0.3, 1.0, 2.0)
FIXED = {
    "n_rows": methods.N_ROWS,
    "reversals": list(REVERSALS),
    "probabilities": list(PROBABILITIES),
}
REMEDIES = ("finer grid", "Edit", "directions apart", "arc probability", "arc probability per task")
CHOICES = ("posterior", *REMEDIES, "optimal")
COMPARED = [(choice, "posterior", OURS) for choice in CHOICES[1:]]
# Bounds of log(rho / (1 - 2 rho)), as in the posterior.
_LOG_ODDS = (-14.0, 7.0)


def plan(quick, trials=None):
    """All cases; the quick one is one trial of the plain posterior."""
    if quick:
        return study.every(["posterior"], problem=["ALARM"], trial=[0])
    return study.every(CHOICES, trial=range(trials or N_TRIALS), problem=FIVE)


def measure(problem, trial, wanted):
    """One line per choice: means over the five tasks."""
    related = Related(networks_of(problem, trial), methods.N_ROWS, trial)
    paths = Paths(related.tasks, trial)
    lines = {}
    for choice in wanted:
        options = list(candidates(paths, choice))
        if choice == "optimal":
            edits = [np.mean(related.judged(one.graphs)["edits"]) for one in options]
            best = int(np.argmin(edits))
        else:
            best = best_penalty([one.log_posterior for one in options])
        chosen = options[best]
        line = related.line(chosen.graphs)
        lines[choice] = {**line, "penalty": chosen.penalty, "with": chosen.extra}
    return lines


class Candidate:
    """A configuration, its penalty, its log posterior and another parameter of its search."""

    def __init__(self, searches, prior, solution, extra=None, by_task=False):
        search = searches.search("S")
        self.penalty = prior.penalty
        self.extra = extra
        self.graphs = searches.graphs(solution)
        # Scores without the arc probability of the search, because the posterior has its own.
        pairs = zip(search.problems, solution.matrices, strict=True)
        data = sum(problem.scores.score(matrix) for problem, matrix in pairs)
        couplings = Couplings(prior, search.joint)
        posterior = log_posterior_by_task if by_task else log_posterior
        self.log_posterior = posterior(couplings, search.joint.spread(solution.matrices), data)


class Paths:
    """Solutions along penalties; searches under the same arc probability are shared."""

    def __init__(self, tasks, trial):
        self._tasks, self._trial = tasks, trial
        self._searches, self._known = {}, {}

    def candidates(self, probability, priors, extra=None, by_task=False):
        """The solution under each prior, searched under the given arc probability."""
        if probability not in self._searches:
            searches = Searches(self._tasks, self._trial, ArcPrior(probability))
            self._searches[probability] = searches
        searches = self._searches[probability]
        key = probability, *map(repr, priors)
        if key not in self._known:
            self._known[key] = searches.along("S", priors)
        for prior, solution in zip(priors, self._known[key], strict=True):
            yield Candidate(searches, prior, solution, extra, by_task)


def candidates(paths, choice):
    """The candidates of a choice."""
    grid = penalty_grid((*FINE, 1.0) if choice == "finer grid" else None)
    paired = [PairedPrior(penalty) for penalty in grid]
    if choice in ("Edit", "directions apart"):
        for reversal in REVERSALS if choice == "directions apart" else (1.0,):
            costs = {"add": 1.0, "delete": 1.0, "reverse": reversal}
            priors = [EditPrior(penalty, costs=costs) for penalty in grid]
            yield from paths.candidates(0.5, priors, reversal)
    elif choice.startswith("arc probability"):
        for probability in PROBABILITIES:
            yield from paths.candidates(
                probability, paired, probability, by_task=choice.endswith("task")
            )
    else:
        yield from paths.candidates(0.5, paired)


def log_posterior_by_task(couplings, matrices, log_likelihood):
    """`bnmtl.search.penalty_posterior.log_posterior` with one arc probability per task."""
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
    """All states of k tasks that the coupling allows: marks of tasks with an arc, and log C."""
    arcs, logs = [], []
    for states in itertools.product((-1, 0, 1), repeat=k):
        states = np.array(states, np.int8)
        value = coupling.log_coupling(states)
        if value > -math.inf:
            arcs.append(np.abs(states))
            logs.append(value)
    return np.array(arcs, dtype=float), np.array(logs)


def tables(lines):
    """The results of each remedy, and whether it is an improvement."""
    return {
        "posterior": markdown(_reached(lines)),
        "posterior_claims": claims_table(differences(lines, FIVE, COMPARED)),
    }


def _reached(lines):
    for case, group in parts(lines, problem=FIVE, choice=CHOICES):
        row = {**case, "trials": len(group), **reached(group)}
        row["median 1 - penalty"] = median_rest(group["penalty"])
        extra = group["with"].median()
        yield {**row, "median of the rest": "" if np.isnan(extra) else f"{extra:g}"}


def draw(lines):
    """Edits by choice, one panel per problem."""

    def draw_problem(axes, _, problem):
        edits = lines[lines["problem"] == problem].groupby("choice")["edits"]
        means, errors = (
            series.reindex(CHOICES).to_frame() for series in (edits.mean(), edits.sem())
        )
        bars(axes, means, errors, horizontal=True)

    options = {"sharey": True, "supxlabel": LABELS["edits"]}
    return panels(draw_problem, (3, 3), present(lines, "problem", FIVE), **options)


if __name__ == "__main__":
    study.main(__spec__.name)
