"""Ways of choosing the penalty with the default score and sparsity: posterior, folds, none.

Run `python -m benchmarks.defaults.choice` (several hours on two cores; `--trials 1` for a first
look). Five tasks of the five problems and of the control, ALARM-COMP and INSURANCE from 250 to
16000 rows. Every way chooses among the same solutions. "alone" is each task by itself, with the
same score and sparsity, and "BIC alone" with BIC; "one structure" is the same graph for all tasks;
"penalty 0.99" and the like choose nothing.
"""

import numpy as np

from benchmarks import study
from benchmarks.defaults.choice_tables import BEFORE, draw, tables
from benchmarks.defaults.ways import WAYS, Path
from benchmarks.related import CONTROL, FIVE, Related, networks_of
from benchmarks.thesis import methods
from benchmarks.thesis.methods import means
from bnmtl import (
    BIC,
    BayesNet,
    IdenticalLearner,
    MixedDirichlet,
    MultitaskLearnerCV,
    SingleTaskLearner,
)
from bnmtl.scores import CONCENTRATIONS

NAME = "choice"
SETTINGS = ("problem", "rows", "trial", "way")
DPI = 100
__all__ = ["draw", "measure", "plan", "tables"]
N_TRIALS = 5
ROWS = {problem: (250, 1000) for problem in (*FIVE, CONTROL)}
ROWS["ALARM-COMP"] = ROWS["INSURANCE"] = (250, 500, 1000, 2000, 4000, 8000, 16000)
RIVALS = ("BIC alone", "alone", "one structure")
FIXED = {
    "score": "MixedDirichlet",
    "expected_parents": 0.1,
    "concentrations": list(CONCENTRATIONS),
}


def of_before(lines):
    """The defaults of earlier versions, from the lines of `methods`: BDeu, uniform prior, folds."""
    own = lines[lines["method"].eq("multitask folds") & lines["trial"].lt(N_TRIALS)]
    own = own[own["problem"].isin(ROWS)]
    return own.assign(way=BEFORE, rows=methods.N_ROWS)[[*SETTINGS, "edits", "kl"]]


BESIDE = (methods, of_before)


def plan(quick, trials=None):
    """All cases, the smaller ones first."""
    if quick:
        wanted = ["alone", "posterior", "cv"]
        return [{"problem": "INSURANCE", "rows": 250, "trial": 0, "wanted": wanted}]
    sizes = sorted({n for own in ROWS.values() for n in own})
    return [
        {"problem": problem, "rows": n_rows, "trial": trial, "wanted": [*WAYS, *RIVALS]}
        for n_rows in sizes
        for trial in range(trials or N_TRIALS)
        for problem, own in ROWS.items()
        if n_rows in own
    ]


def measure(problem, rows, trial, wanted):
    """A line a way: means over the five tasks."""
    related = Related(networks_of(problem, trial), rows, trial)
    found = {}
    for way in set(wanted) & set(RIVALS):
        found[way] = line_of(related, _rival(way, trial).fit(related.tasks).configuration_)
    if set(wanted) - set(RIVALS):
        learner = MultitaskLearnerCV(score=MixedDirichlet(), table_sharing=None, random_state=trial)
        path = Path(learner, related.tasks)
        chosen = {way: path.chosen[way] for way in set(wanted) - set(RIVALS)}
        reached = {}
        for at in set(chosen.values()):
            line = line_of(related, related.graphs(path.solutions[at].matrices))
            reached[at] = {**line, "penalty": path.penalties[at]}
        seconds = {"seconds_of_path": path.seconds[0], "seconds_of_folds": path.seconds[1]}
        found.update({way: {**reached[at], **seconds} for way, at in chosen.items()})
    return {way: found[way] for way in wanted}


def _rival(way, trial):
    if way == "one structure":
        return IdenticalLearner(score=MixedDirichlet(), table_sharing=None, random_state=trial)
    score = BIC() if way == "BIC alone" else MixedDirichlet()
    return SingleTaskLearner(score=score, random_state=trial)


def line_of(related, graphs):
    """How near graphs are to the truth, with the divergence of networks with default tables."""
    judged = related.judged(graphs)
    networks = {name: BayesNet.fit(graph, related.tasks[name]) for name, graph in graphs.items()}
    judged["kl"] = related.divergences(networks)
    line = means(judged)
    line["arcs"] = round(float(np.mean([graph.number_of_edges() for graph in graphs.values()])), 3)
    return line


if __name__ == "__main__":
    study.main(__spec__.name)
