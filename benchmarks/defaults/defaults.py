"""Which score and which sparsity should be the defaults: networks that are known, and noise.

Run `python -m benchmarks.defaults.defaults` (two hours on two cores; `--trials 1` for a first
look). Five related tasks of the five problems and of the control, each task alone and all together
at one fixed penalty; single networks of the benchmark collection; thirty independent columns. What
wins here is taken to `choice`, which compares ways of choosing the penalty, to `real_tables` and to
`no_structure`.
"""

import warnings

from benchmarks import study
from benchmarks.defaults.choice import line_of
from benchmarks.defaults.chosen_sparsity import chosen_parents
from benchmarks.defaults.corrected import climbed_graphs
from benchmarks.defaults.defaults_tables import draw, tables
from benchmarks.defaults.no_structure import counted, independent_columns
from benchmarks.defaults.ways import expecting
from benchmarks.related import CONTROL, FIVE, Related, networks_of
from benchmarks.thesis import alone
from bnmtl import (
    BIC,
    BDeu,
    MixedDirichlet,
    MultitaskLearner,
    PairedPrior,
    SingleTaskLearner,
    structures,
)
from bnmtl.scores import CONCENTRATIONS
from bnmtl.tasks import encode

NAME = "defaults"
SETTINGS = ("problem", "rows", "trial", "variant")
PENALTY = 0.99
FIXED = {"penalty": PENALTY, "concentrations": list(CONCENTRATIONS)}
N_TRIALS = 5
RELATED = (*FIVE, CONTROL)
SINGLE = ("WIN95PTS", "HAILFINDER", "HEPAR2", "CHILD", "SACHS")
NOISE = ("noise: three equal", "noise: rare")
ROWS = {**dict.fromkeys(RELATED, (250, 1000)), **dict.fromkeys(SINGLE, (1000,))}
ROWS |= dict.fromkeys(NOISE, (20, 60))
# What was tried before larger concentrations were added.
SMALLER = "concentrations up to 1"
SCORES = {
    "MixedDirichlet": MixedDirichlet(),
    SMALLER: MixedDirichlet((0.01, 0.05, 0.2, 0.5, 1.0)),
    "BDeu": BDeu(),
    "BIC": BIC(),
}
# Expected parents of a variable, by the name of the sparsity.
SPARSITIES = {"uniform": None, "f = 1": 1.0, "f = 0.3": 0.3, "f = 0.1": 0.1, "f = 0.03": 0.03}
CORRECTED = "corrected"
# f is chosen by ten folds of the same rows; for the first trial only, it takes seven times as long.
CHOSEN = ("MixedDirichlet, chosen: alone", "MixedDirichlet, chosen: together")
APART = (
    "BIC, uniform: alone",
    *(
        f"{score}, {sparsity}: alone"
        for score in ("MixedDirichlet", "BDeu")
        for sparsity in (*SPARSITIES, CORRECTED)
    ),
    f"{SMALLER}, f = 0.1: alone",
)
JOINT = (
    *(
        f"{score}, {sparsity}: together"
        for score in ("MixedDirichlet", "BDeu")
        for sparsity in ("uniform", "f = 1", "f = 0.1")
    ),
    f"{SMALLER}, f = 0.1: together",
    # What learners do by default.
    "MixedDirichlet, f = 0.1, tables shared: together",
)
__all__ = ["draw", "measure", "plan", "tables"]


def plan(quick, trials=None):
    """All cases; trial by trial, the smaller ones first."""
    if quick:
        wanted = ["BIC, uniform: alone", "MixedDirichlet, f = 0.1: together", "BDeu, f = 1: alone"]
        return study.every(wanted, problem=NOISE[1:], rows=[20], trial=[0])
    return [
        {"problem": problem, "rows": n_rows, "trial": trial, "wanted": _wanted(problem, trial)}
        for trial in range(trials or N_TRIALS)
        for problem in (*NOISE, *SINGLE, *RELATED)
        for n_rows in ROWS[problem]
    ]


def _wanted(problem, trial):
    if problem in SINGLE:
        return list(APART)
    return [*APART, *JOINT, *(CHOSEN if trial == 0 else ())]


def measure(problem, rows, trial, wanted):
    """A line a variant: means over the tasks."""
    if problem in NOISE:
        kind, frames = problem.partition(": ")[2], {}
        for task in range(5):
            frames[f"task{task + 1}"] = independent_columns(kind, 30, rows, [trial, task, 30, rows])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            tasks = encode(frames)
        learned = _learned(wanted, tasks, trial)
        return {variant: counted(graphs) for variant, graphs in learned.items()}
    if problem in SINGLE:
        networks = {"task": structures.load(problem.lower())}
    else:
        networks = networks_of(problem, trial)
    related = Related(networks, rows, trial)
    learned = _learned(wanted, related.tasks, trial)
    return {variant: line_of(related, graphs) for variant, graphs in learned.items()}


def _learned(wanted, tasks, trial):
    """Graphs by task, for each variant."""
    chosen, found = {}, {}
    if set(wanted) & set(CHOSEN):
        chosen = chosen_parents(tasks, SCORES["MixedDirichlet"], PairedPrior(PENALTY), trial)
    for variant in wanted:
        head, _, how = variant.partition(": ")
        score, sparsity, *sharing = head.split(", ")
        if sparsity == CORRECTED:
            found[variant] = climbed_graphs(tasks, SCORES[score], trial)
            continue
        n_parents = chosen[how] if variant in CHOSEN else SPARSITIES[sparsity]
        found[variant] = _graphs(how, SCORES[score], n_parents, tasks, trial, bool(sharing))
    return found


def _graphs(how, score, n_parents, tasks, trial, shares_tables):
    """Graphs by task, of a variable expecting some parents; 0 is the graph without arcs.

    Tasks that share tables expect these parents of all of them together, as by default.
    """
    if n_parents == 0:
        return alone.empty(tasks)
    settings = {
        "score": score,
        "structure_prior": expecting(tasks, n_parents),
        "random_state": trial,
    }
    if how == "alone":
        return SingleTaskLearner(**settings).fit(tasks).configuration_
    if shares_tables:
        settings["structure_prior"] = expecting(tasks, n_parents / len(tasks))
    settings["table_sharing"] = "auto" if shares_tables else None
    return MultitaskLearner(PairedPrior(PENALTY), **settings).fit(tasks).configuration_


if __name__ == "__main__":
    study.main(__spec__.name)
