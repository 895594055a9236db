"""What tasks gain by having probability tables in common: graphs and divergence on known networks.

Run `python -m benchmarks.sharing.sharing` (a day on two cores; `--trials 1` for a first look). Five
tasks of the five problems and of the control; 250, 1000 and 4000 rows a task. "tables" says how
alike the tables are: as the problem has them, or each row of a task's drawn from a Dirichlet around
the true one, of so many imaginary rows ("similar 50", "similar 10"), or, of the control, from any
("independent"). "tables alone" has the graphs that are learned together without sharing, "score
alone" the tables of each task by itself. Both are learned at a penalty of 0.99, in some trials at
others and at the one that its posterior chooses, too.
"""

import time

import numpy as np

from benchmarks import study
from benchmarks.related import CONTROL, FIVE, N_TASKS, Related, mean_arcs, networks_of
from benchmarks.sharing.sharing_tables import CHOSEN, SAME, draw, more_pictures, tables
from bnmtl import (
    BIC,
    BayesNet,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    PooledLearner,
    SingleTaskLearner,
)
from bnmtl.networks import fit_networks
from bnmtl.progress import Reporter
from bnmtl.scores import CONCENTRATIONS, PARTITIONS
from bnmtl.search.shared_multitask import search_over
from bnmtl.seeding import generator

NAME = "sharing"
SETTINGS = ("problem", "tables", "rows", "trial", "method")
__all__ = ["draw", "measure", "more_pictures", "plan", "tables"]
PENALTY = 0.99
FIXED = {
    "penalty": PENALTY,
    "concentrations": list(CONCENTRATIONS),
    "partitions": list(PARTITIONS),
    "tables_learn_from": "all families",
}
N_TRIALS = 20
ROWS = (1000, 250, 4000)
SIMILAR = {"similar 50": 50.0, "similar 10": 10.0}
# Tasks that share no arcs and whose tables have nothing in common, not even by chance.
INDEPENDENT = "independent"
# Problems whose tables are the same in all tasks.
ALIKE = ("ALARM", "INSURANCE", "ALARM-COMP")
APART = {
    "alone, BIC": lambda seed: SingleTaskLearner(score=BIC(), random_state=seed),
    "alone": lambda seed: SingleTaskLearner(random_state=seed),
    "pooled": lambda seed: PooledLearner(random_state=seed),
    "one structure": lambda seed: IdenticalLearner(table_sharing=None, random_state=seed),
    "together": lambda seed: MultitaskLearner(
        PairedPrior(PENALTY), table_sharing=None, random_state=seed
    ),
}


def _at(penalty):
    return lambda seed: MultitaskLearner(PairedPrior(penalty), random_state=seed)


SHARED = {
    "one structure, both": lambda seed: IdenticalLearner(random_state=seed),
    "both": _at(PENALTY),
}
# Both at other penalties and at one that is chosen, in the first trials of 1000 rows.
BY_PENALTY = {
    **{f"both, penalty {penalty:g}": _at(penalty) for penalty in (0, 0.5, 0.9, 0.9999)},
    CHOSEN: lambda seed: MultitaskLearnerCV(validation="posterior", random_state=seed),
}
N_BY_PENALTY = 5
# Graphs of one method with the other kind of tables.
OTHER_TABLES = {"tables alone": "together", "score alone": "both"}
METHODS = (*APART, *SHARED, *OTHER_TABLES)


def plan(quick, trials=None):
    """All cases; those of 1000 rows and the problems' own tables first."""
    if quick:
        case = {"problem": ["INSURANCE"], "tables": ["similar 50"], "rows": [100], "trial": [0]}
        return study.every(["alone", *SHARED, *OTHER_TABLES], **case)
    return [
        {
            **{"problem": problem, "tables": kind, "rows": n_rows, "trial": trial},
            "wanted": _wanted(kind, n_rows, trial),
        }
        for n_rows in ROWS
        for kind, problems in _kinds(n_rows).items()
        for trial in range(min(trials or N_TRIALS, N_TRIALS))
        for problem in problems
    ]


def _kinds(n_rows):
    """The problems of each kind of tables."""
    kinds = {SAME: (*FIVE, CONTROL), **dict.fromkeys(SIMILAR, ALIKE)}
    return kinds | ({INDEPENDENT: (CONTROL,)} if n_rows == ROWS[0] else {})


def _wanted(kind, n_rows, trial):
    is_first = kind == SAME and n_rows == ROWS[0] and trial < N_BY_PENALTY
    return [*METHODS, *(BY_PENALTY if is_first else ())]


def measure(problem, tables, rows, trial, wanted):
    """A line a method: means over the five tasks."""
    networks = networks_of(problem, trial)
    if tables != SAME:
        networks = scattered(networks, SIMILAR.get(tables), trial)
    related = Related(networks, rows, trial)
    fitted, found = {}, {}
    for method in wanted:
        source = OTHER_TABLES.get(method, method)
        began = time.perf_counter()
        if source not in fitted:
            fitted[source] = (APART | SHARED | BY_PENALTY)[source](trial).fit(related.tasks)
        learner = fitted[source]
        found[method] = line_of(related, learner, method)
        found[method]["chosen"] = getattr(learner, "penalty_", None)
        found[method]["seconds"] = round(time.perf_counter() - began, 2)
    if "both" in found:
        found["both"]["loss"] = loss(fitted["both"], related)
    return found


def scattered(networks, strength, trial):
    """The same networks with each row of a table drawn around the true one; None: from any."""
    found = {}
    for name, network in networks.items():
        rng, drawn = generator(trial, name, "scattered tables"), {}
        for variable in network.variables:
            table = network.table(variable)
            # A probability of 0 stays as good as 0.
            shape = np.ones_like(table) if strength is None else np.maximum(strength * table, 1e-6)
            gammas = rng.standard_gamma(shape)
            drawn[variable] = gammas / gammas.sum(axis=-1, keepdims=True)
        found[name] = BayesNet(network.graph, network.states, drawn)
    return found


def line_of(related, learner, method):
    """How near graphs and networks are to the truth."""
    graphs, networks = learner.configuration_, learner.networks_
    if method == "tables alone":
        networks = fit_networks(graphs, related.tasks)
    if method == "score alone":
        networks = fit_networks(graphs, related.tasks, sharing=None)
    return {**related.line(graphs, networks), "arcs": mean_arcs(graphs)}


def loss(learner, related):
    """What the search from the true graphs finds more, in nats a network; below 0 it finds less."""
    effort = learner.effort()
    search = search_over(learner.problems(related.tasks, effort), effort, Reporter(False))
    reached = search.follow(learner.prior, related.truth(), effort)
    return round((reached.score - learner.score_) / N_TASKS, 3)


if __name__ == "__main__":
    study.main(__spec__.name)
