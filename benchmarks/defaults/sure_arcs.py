"""How often is an arc true if `bnmtl learn` gives it a confidence of 0.8?

Run `python -m benchmarks.defaults.sure_arcs` (two hours on two cores). Five tasks of 1000 and of
250 rows are learned alone, together with separate tables, or with all defaults of `bnmtl learn`,
which shares tables. As in that command, there are 30 replicates of half of the rows.
`calibrated_arcs` answers the same question for 100 bootstrap replicates and BDeu.
"""

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.by_default import UP_TO_100
from benchmarks.drawing import curves, diagonal, panels
from benchmarks.predictions import calibrated_arcs
from benchmarks.predictions.calibrated_arcs import METHODS, cases, counted, shares
from benchmarks.related import Related, networks_of
from benchmarks.summary import markdown, parts
from bnmtl import MultitaskLearner, MultitaskLearnerCV, SingleTaskLearner
from bnmtl.confidence import arc_confidence
from bnmtl.learners.adapted import as_chosen
from bnmtl.scores import CONCENTRATIONS

NAME = "sure_arcs"
SETTINGS = ("problem", "rows", "trial", "method")
__all__ = ["draw", "measure", "plan", "tables"]
PROBLEMS = (*calibrated_arcs.PROBLEMS, "CHILD", "HEPAR2")
ROWS = (1000, 250)
N_TRIALS = 5
N_REPLICATES = 30
FIXED = {"replicates": N_REPLICATES, "concentrations": list(CONCENTRATIONS)}
EARLIER = {"concentrations": list(UP_TO_100)}


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
                MultitaskLearnerCV(table_sharing=None, task_groups=None, random_state=trial).fit(
                    related.tasks
                )
            )
            penalty = learner.prior.penalty
        elif method == "shared":
            learner = MultitaskLearner(task_groups=None, random_state=trial)
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

    def draw_rows(axes, _, n_rows):
        for case, group in parts(lines, rows=[n_rows], problem=PROBLEMS, method=_LINES):
            label = f"{case['problem']}, {METHODS[case['method']]}"
            color, line = f"C{PROBLEMS.index(case['problem'])}", _LINES[case["method"]]
            style = {"color": color, "linestyle": line}
            curves(axes, _curve(group).to_frame(label), styles={label: style})
        diagonal(axes, "-", linewidth=1)

    columns = {n_rows: f"{n_rows} rows" for n_rows in ROWS}
    labels = {"supxlabel": "confidence of an edge", "supylabel": "share that is there"}
    return panels(draw_rows, (5.5, 4), columns, legend="right", **labels)


def _curve(lines):
    confidence, y, weights = cases(lines, "edge")
    bins = np.minimum((confidence * 6 + 1e-9).astype(int), 5)
    sums = pd.DataFrame({"at": confidence * weights, "true": y * weights, "n": weights})
    sums = sums.groupby(bins).sum()
    return (sums["true"] / sums["n"]).set_axis(sums["at"] / sums["n"])


if __name__ == "__main__":
    study.main(__spec__.name)
