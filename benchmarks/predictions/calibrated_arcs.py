"""How often is an arc there to which the bootstrap gives a confidence of 0.8?

Run `python -m benchmarks.predictions.calibrated_arcs` (two hours on two cores). Five tasks of 1000
rows each; 100 replicates are learned by hill climbing with ten restarts, every task by itself or
all together at the penalty that cross-validation chooses on the rows as they are, both by BDeu; or
together with tables shared and the other defaults. A line keeps how many pairs of variables have
each confidence and how many of them are in the true networks: arcs as ordered pairs, edges as
pairs. Calibrators are fitted to the first half of the trials and tested on the others.
"""

import numpy as np

from benchmarks import study
from benchmarks.predictions.arcs_tables import draw, tables
from benchmarks.related import Related, networks_of
from benchmarks.variants import N_FOLDS, THESIS
from bnmtl import HillClimbing, MultitaskLearner, MultitaskLearnerCV, PairedPrior, SingleTaskLearner
from bnmtl.confidence import arc_confidence

NAME = "calibrated_arcs"
SETTINGS = ("problem", "trial", "method")
__all__ = ["draw", "measure", "plan", "tables"]
PROBLEMS = ("ALARM", "ALARM-IND", "INSURANCE", "INSURANCE-IND")
METHODS = ("single", "together", "shared")
N_ROWS = 1000
N_TRIALS = 10
N_BOOTSTRAP = 100
RESTARTS = 10
SEARCH = {"search": HillClimbing(restarts=RESTARTS)}
SETTLED = {**THESIS, **SEARCH}
FIXED = {
    "n_rows": N_ROWS,
    "n_bootstrap": N_BOOTSTRAP,
    "search": "hill-climbing",
    "restarts": RESTARTS,
}


def plan(quick, trials=None):
    """A case a method; the quick one learns tasks apart."""
    if quick:
        return study.every(["single"], problem=["ALARM"], trial=[0])
    return [
        {"problem": problem, "trial": trial, "wanted": [method]}
        for trial in range(trials or N_TRIALS)
        for problem in PROBLEMS
        for method in METHODS
    ]


def measure(problem, trial, wanted):
    """A line a method: by confidence, the pairs that have it and those of them that are true."""
    related = Related(networks_of(problem, trial), N_ROWS, trial)
    lines = {}
    for method in wanted:
        learner, penalty = SingleTaskLearner(**SETTLED), None
        if method == "together":
            parameters = {**SETTLED, "table_sharing": None, "start": "single-task"}
            chosen = MultitaskLearnerCV(**parameters, cv=N_FOLDS, random_state=trial)
            penalty = chosen.fit(related.tasks).penalty_
            learner = MultitaskLearner(PairedPrior(penalty), **parameters)
        elif method == "shared":
            learner = MultitaskLearner(**SEARCH, random_state=trial)
            penalty = learner.used_prior().penalty
        table = arc_confidence(related.tasks, learner, N_BOOTSTRAP, trial, subsample=None)
        lines[method] = {"penalty": penalty, **counted(table, related)}
    return lines


def counted(table, related, n_replicates=N_BOOTSTRAP):
    """Numbers of pairs and of true ones by confidence, from 0 to the number of replicates."""
    truth = set()
    for (name, task), matrix in zip(related.tasks.items(), related.truth(), strict=True):
        arcs = np.argwhere(matrix)
        truth |= {(name, task.variables[tail], task.variables[head]) for tail, head in arcs}
    names = [table[name].astype(str) for name in ("task", "parent", "child")]
    keys = list(zip(*names, strict=True))
    is_arc = np.array([key in truth for key in keys])
    is_edge = is_arc | np.array([(task, child, parent) in truth for task, parent, child in keys])
    first = np.array([parent < child for _, parent, child in keys])
    found = {}
    for kind, is_true, kept in (("arc", is_arc, first | True), ("edge", is_edge, first)):
        steps = (table[kind].to_numpy()[kept] * n_replicates).round().astype(int)
        found[kind] = {
            "pairs": np.bincount(steps, minlength=n_replicates + 1).tolist(),
            "true": np.bincount(steps[is_true[kept]], minlength=n_replicates + 1).tolist(),
        }
    return found


if __name__ == "__main__":
    study.main(__spec__.name)
