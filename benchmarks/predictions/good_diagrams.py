"""Histograms and reliability diagrams of every learner (thesis, 3.2, 3.4, 3.5, 3.14 - 3.24).

They show the first trial of the study of good probabilities, and one model of each learner.
"""

import pandas as pd

from benchmarks.drawing import diagonal, panels

# With fewer test rows a share of positives is too uncertain, so its point is hollow.
MANY = 20
# What all panels have in common.
OPTIONS = {"sharex": True, "sharey": True, "supxlabel": "predicted probability"}
LEGEND = f"line: share of positives\n(hollow: fewer than {MANY} rows), bars: share of the test rows"
# Figure -> learner, rows of panels.
CALIBRATED = ("before", "Platt", "isotonic")
ALL_PROBLEMS = {
    "3.2": ("boosted trees", CALIBRATED),
    "3.14": ("boosted stumps", CALIBRATED),
    "3.15": ("boosted stumps", ("logistic correction", "log-loss")),
    "3.16": ("boosted trees", ("logistic correction", "log-loss")),
    "3.17": ("SVMs", CALIBRATED),
    "3.18": ("neural nets", CALIBRATED),
    "3.19": ("logistic regression", CALIBRATED),
    "3.20": ("decision trees", CALIBRATED),
    "3.21": ("bagged trees", CALIBRATED),
    "3.22": ("random forests", CALIBRATED),
    "3.23": ("nearest neighbors", CALIBRATED),
    "3.24": ("naive Bayes", CALIBRATED),
}
# Figure -> method; for boosted trees and stumps, on some problems.
CORRECTED = {"3.4": "logistic correction", "3.5": "log-loss"}
BOOSTED = ("boosted trees", "boosted stumps")
SOME_PROBLEMS = ("COVTYPE", "ADULT", "SPAMBASE")


def pictures(lines):
    """Figures by file name, except those for which nothing was measured."""
    lines = lines[lines["trial"] == 0]
    shown = {
        number: (method, SOME_PROBLEMS, [(learner, learner, method) for learner in BOOSTED])
        for number, method in CORRECTED.items()
    }
    for number, (learner, stages) in ALL_PROBLEMS.items():
        problems = sorted(set(lines[lines["learner"] == learner]["problem"]))
        shown[number] = learner, problems, [(stage, learner, stage) for stage in stages]
    found = {}
    for number, (title, problems, rows) in shown.items():
        known = _tables(lines, rows, problems)
        if known:
            found[_name(number)] = _drawn(known, rows, problems, title)
    return found


def _name(number):
    return f"good_probabilities-{number.replace('.', '-')}"


def _tables(lines, rows, problems):
    """The available reliability tables by row of panels and problem."""
    by_case = {(line.learner, line.problem): line.pictured for line in lines.itertuples()}
    return {
        (label, problem): pd.DataFrame(by_case[learner, problem][method]["reliability"])
        for label, learner, method in rows
        for problem in problems
        if method in by_case.get((learner, problem), {})
    }


def _drawn(known, rows, problems, title):
    def draw(axes, label, problem):
        if (label, problem) in known:
            draw_panel(axes, known[label, problem])

    labels = [label for label, *_ in rows]
    return panels(draw, (1.6, 1.7), problems, labels, **OPTIONS, suptitle=f"{title}; {LEGEND}")


def draw_panel(axes, table):
    """Draw shares of rows by prediction as bars, and shares of positives as a line."""
    diagonal(axes)
    shares = table["count"] / table["count"].sum()
    width = table["right"] - table["left"]
    axes.bar(table["left"], shares, width, align="edge", color="#cfd8dc", edgecolor="#90a4ae")
    places, heights = table["mean_prediction"], table["fraction_positive"]
    axes.plot(places, heights, "-", color="C0", linewidth=1)
    colors = ["C0" if many else "white" for many in table["count"] >= MANY]
    axes.scatter(places, heights, s=9, c=colors, edgecolors="C0", linewidths=0.8, zorder=3)
    ticks = {"ticks": [0, 0.5, 1], "labels": ["0", "0.5", "1"]}
    axes.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    axes.set_xticks(**ticks)
    axes.set_yticks(**ticks)
