"""How often is an arc there to which `bnmtl learn` gives a confidence of 0.8?

Run `python -m benchmarks.defaults.sure_arcs` (two hours on two cores). Five tasks of 1000 and of
250 rows, learned alone, together with tables of each task's own, or with all defaults of
`bnmtl learn`, which shares tables; each with the 30 replicates of half of the rows that it makes.
`calibrated_arcs` asks the same of 100 bootstrap replicates by BDeu.
"""

import numpy as np

from benchmarks import study
from benchmarks.drawing import panels
from benchmarks.predictions.calibrated_arcs import METHODS, PROBLEMS, cases, counted, shares
from benchmarks.related import Related, networks_of
from benchmarks.summary import markdown, parts
from bnmtl import MultitaskLearner, MultitaskLearnerCV, SingleTaskLearner
from bnmtl.confidence import arc_confidence
from bnmtl.learners.adapted import as_chosen
from bnmtl.scores import CONCENTRATIONS

NAME = "sure_arcs"
SETTINGS = ("problem", "rows", "trial", "method")
__all__ = ["draw", "measure", "plan", "tables"]
ROWS = (1000, 250)
N_TRIALS = 5
N_REPLICATES = 30
FIXED = {"replicates": N_REPLICATES, "concentrations": list(CONCENTRATIONS)}


def plan(quick, trials=None):
    """A case a problem and number of rows; the quick one learns tasks apart."""
    if quick:
        return study.every(["single"], problem=["INSURANCE"], rows=[250], trial=[0])
    return study.every(METHODS, rows=ROWS, trial=range(trials or N_TRIALS), problem=PROBLEMS)


def measure(problem, rows, trial, wanted):
    """A line a method: by confidence, the pairs that have it and those of them that are true."""
    related = Related(networks_of(problem, trial), rows, trial)
    lines = {}
    for method in wanted:
        learner, penalty = SingleTaskLearner(random_state=trial), None
        if method == "together":
            learner = as_chosen(
                MultitaskLearnerCV(table_sharing=None, random_state=trial).fit(related.tasks)
            )
            penalty = learner.prior.penalty
        elif method == "shared":
            learner = MultitaskLearner(random_state=trial)
        table = arc_confidence(related.tasks, learner, N_REPLICATES, light=True)
        lines[method] = {"penalty": penalty, **counted(table, related, N_REPLICATES)}
    return lines


def tables(lines):
    """How often pairs of a confidence are true."""
    every = parts(lines, rows=ROWS)
    return {f"sure_arcs_{case['rows']}": markdown(shares(own)) for case, own in every}


_LINES = {"single": ":", "together": "--", "shared": "-"}


def draw(lines):
    """Share of edges that are true by confidence, in sixths, a panel a number of rows."""
    figure, grid = panels(1, len(ROWS), (11, 4))
    handles = {}
    for axes, n_rows in zip(grid[0], ROWS, strict=True):
        for case, own in parts(lines, rows=[n_rows], problem=PROBLEMS, method=_LINES):
            label = f"{case['problem']}, {METHODS[case['method']]}"
            style = {"color": f"C{PROBLEMS.index(case['problem'])}", "marker": "o", "markersize": 3}
            (handles[label],) = axes.plot(*_curve(own), _LINES[case["method"]], **style)
        axes.plot([0, 1], [0, 1], color="gray", linewidth=1)
        axes.set(title=f"{n_rows} rows", xlabel="confidence of an edge")
    grid[0, 0].set_ylabel("share that is there")
    figure.legend(handles.values(), handles, loc="outside center right", fontsize=8)
    return figure


def _curve(lines):
    confidence, y, weights = cases(lines, "edge")
    bins = np.minimum((confidence * 6 + 1e-9).astype(int), 5)
    found = [bins == one for one in range(6) if (bins == one).any()]
    places = [np.average(confidence[own], weights=weights[own]) for own in found]
    return places, [np.average(y[own], weights=weights[own]) for own in found]


if __name__ == "__main__":
    study.main(__spec__.name)
