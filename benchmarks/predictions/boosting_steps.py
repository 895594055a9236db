"""How boosting changes predicted probabilities, step by step (thesis, figure 3.1).

Run `python -m benchmarks.predictions.boosting_steps --data FOLDER` (two minutes). Full trees are
boosted on the 4000 training rows of COVTYPE; a line contains the histogram and the reliability of
predictions for the test rows after some number of steps. The data are not part of the project: see
`benchmarks/predictions/uci.py`.
"""

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from benchmarks import study
from benchmarks.drawing import panels
from benchmarks.predictions import good_probabilities
from benchmarks.predictions.good_diagrams import LEGEND, OPTIONS, draw_panel
from benchmarks.summary import markdown
from bnmtl.calibration import AdaBoostM1, reliability
from bnmtl.ensembles.library.trained import Stages
from bnmtl.metrics.prediction import root_mean_squared_error

NAME = "boosting_steps"
SETTINGS = ("problem", "trial", "steps")
TAKES_DATA = True
STEPS = (1, 4, 8, 32, 128, 1024)
N_TRIALS = 5
PROBLEM = "COVTYPE"
QUICK = good_probabilities.QUICK
FIXED = {"train": 4000, "criterion": "gini"}
# Predictions closer than this to 0 or 1 are counted.
NEAR = 0.1


def plan(quick, trials=None):
    """One case per trial; the quick one uses a table of scikit-learn."""
    if quick:
        return study.every([1, 4], problem=[QUICK], trial=[0])
    return study.every(STEPS, problem=[PROBLEM], trial=range(trials or N_TRIALS))


check_needs = good_probabilities.check_needs


def measure(problem, trial, wanted):
    """One line per number of steps: predictions for the test rows, and their errors."""
    views, y, (train, _, test), data = good_probabilities.views_of(problem, trial)
    tree = DecisionTreeClassifier(criterion=FIXED["criterion"])
    model = Stages(AdaBoostM1(tree, random_state=trial), list(wanted))
    model.fit(views.numbers[train], y[train])
    lines = {}
    for steps, p in zip(wanted, model.scores(views.numbers[test]), strict=True):
        lines[steps] = {
            "data": data,
            "rmse": round(float(root_mean_squared_error(y[test], p)), 6),
            "slope": round(good_probabilities.slope_of(p, y[test]), 4),
            "near": round(float(np.mean(np.minimum(p, 1 - p) < NEAR)), 6),
            "reliability": reliability(y[test], p).round(5).to_dict("list"),
        }
    return lines


def tables(lines):
    """Share of predictions near 0 or 1, distortion, and errors."""
    rows = [
        {
            "steps of boosting": steps,
            "trials": len(group),
            "within 0.1 of 0 or 1": f"{group['near'].mean():.0%}",
            "slope of the log odds": f"{group['slope'].mean():.2f}",
            "root mean squared error": f"{group['rmse'].mean():.4f}",
        }
        for steps, group in lines.groupby("steps")
    ]
    return {"boosting_steps": markdown(rows)}


def draw(lines):
    """Histogram and reliability of the first trial, with one panel per number of steps."""
    first = lines[lines["trial"] == lines["trial"].min()].sort_values("steps").set_index("steps")

    def draw_steps(axes, _, steps):
        draw_panel(axes, pd.DataFrame(first.loc[steps, "reliability"]))

    titles = {steps: f"{steps} step" + ("s" if steps > 1 else "") for steps in first.index}
    title = f"boosted trees on {first['problem'].iloc[0]}; {LEGEND}"
    return panels(draw_steps, (2, 2.6), titles, **OPTIONS, suptitle=title)


if __name__ == "__main__":
    study.main(__spec__.name)
