"""How often is an arc true if `bnmtl learn` gives it a confidence of 0.8?

Run `python -m benchmarks.defaults.sure_arcs` (two hours on two cores). Five tasks of 1000 and of
250 rows are learned alone, together with separate tables, or with all defaults of `bnmtl learn`,
which shares tables. As in that command, there are 30 replicates of half of the rows.
`calibrated_arcs` answers the same question for 100 bootstrap replicates and BDeu.
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
    """All cases; the quick one learns each task alone."""
    if quick:
        return study.every(["single"], problem=["INSURANCE"], rows=[250], trial=[0])
    return study.every(METHODS, rows=ROWS, trial=range(trials or N_TRIALS), problem=PROBLEMS)


def measure(problem, rows, trial, wanted):
    """One line per method: numbers of pairs and of true pairs by confidence."""
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
    """How often pairs with a given confidence are true."""
    every = parts(lines, rows=ROWS)
    return {f"sure_arcs_{case['rows']}": markdown(shares(group)) for case, group in every}


_LINES = {"single": ":", "together": "--", "shared": "-"}


def draw(lines):
    """Share of true edges by confidence, in sixths, with one panel per number of rows."""
    figure, grid = panels(1, len(ROWS), (11, 4))
    handles = {}
    for axes, n_rows in zip(grid[0], ROWS, strict=True):
        for case, group in parts(lines, rows=[n_rows], problem=PROBLEMS, method=_LINES):
            label = f"{case['problem']}, {METHODS[case['method']]}"
            style = {"color": f"C{PROBLEMS.index(case['problem'])}", "marker": "o", "markersize": 3}
            (handles[label],) = axes.plot(*_curve(group), _LINES[case["method"]], **style)
        axes.plot([0, 1], [0, 1], color="gray", linewidth=1)
        axes.set(title=f"{n_rows} rows", xlabel="confidence of an edge")
    grid[0, 0].set_ylabel("share that is there")
    figure.legend(handles.values(), handles, loc="outside center right", fontsize=8)
    return figure


def _curve(lines):
    confidence, y, weights = cases(lines, "edge")
    bins = np.minimum((confidence * 6 + 1e-9).astype(int), 5)
    found = [bins == one for one in range(6) if (bins == one).any()]
    places = [np.average(confidence[is_inside], weights=weights[is_inside]) for is_inside in found]
    return places, [np.average(y[is_inside], weights=weights[is_inside]) for is_inside in found]


if __name__ == "__main__":
    study.main(__spec__.name)
