"""Ways of choosing the penalty with the default score and sparsity: posterior, folds, none.

Run `python -m benchmarks.defaults.choice` (several hours on two cores; `--trials 1` for a first
look). Five tasks of the five problems and of the control, ALARM-COMP and INSURANCE from 250 to
16000 rows. Every way chooses among the same solutions. "alone" is each task by itself, with the
same score and sparsity, and "BIC alone" with BIC; "one structure" is the same graph for all tasks;
"penalty 0.99" and the like choose nothing.
"""

from benchmarks import study
from benchmarks.defaults.choice_tables import BEFORE, draw, tables
from benchmarks.defaults.ways import WAYS, Path
from benchmarks.related import CONTROL, FIVE, Related, mean_arcs, networks_of
from benchmarks.thesis import methods
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
        return study.every(wanted, problem=["INSURANCE"], rows=[250], trial=[0])
    every = study.every(
        [*WAYS, *RIVALS],
        rows=sorted({n for own in ROWS.values() for n in own}),
        trial=range(trials or N_TRIALS),
        problem=ROWS,
    )
    return [case for case in every if case["rows"] in ROWS[case["problem"]]]


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
    networks = {name: BayesNet.fit(graph, related.tasks[name]) for name, graph in graphs.items()}
    return {**related.line(graphs, networks), "arcs": mean_arcs(graphs)}


if __name__ == "__main__":
    study.main(__spec__.name)
