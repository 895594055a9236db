"""The picture of the study of good probabilities: bars, reliability diagrams, learning curves."""

import pandas as pd
from matplotlib.figure import Figure

from benchmarks import drawing
from benchmarks.predictions.good_diagrams import LEGEND, OPTIONS, draw_panel
from benchmarks.predictions.good_learners import LEARNERS
from benchmarks.predictions.good_tables import (
    CROSS_ENTROPY,
    MEASURES,
    METHODS,
    RMSE,
    complete,
    curves,
    known,
    values,
)

COLORS = ("#999999", "#0072B2", "#E69F00", "#56B4E9", "#882255", "#44AA99")
HIGHEST = {RMSE: 0.45, CROSS_ENTROPY: 0.7}  # as in the thesis, bars are truncated
STAGES = ("before", "Platt", "isotonic")


def draw(lines):
    """Means over problems, reliability diagrams of one problem, and learning curves."""
    names = known(lines)
    figure = Figure(figsize=(1.15 * len(names) + 1, 13), layout="constrained")
    above, middle, below = figure.subfigures(3, 1, height_ratios=(4, 4.6, 4.4))
    _draw_bars(above, complete(lines), names)
    _draw_reliability(middle, lines, names)
    _draw_curves(below, lines, names)
    return figure


def _draw_bars(figure, lines, names):
    styles = {method: {"color": color} for method, color in zip(METHODS, COLORS, strict=True)}

    def draw_measure(axes, name, _):
        # Standard errors over trials, of the means over problems.
        keys = ["learner", "method", "trial"]
        means = values(lines, name).groupby(keys)["value"].mean().reset_index()
        drawing.mean_bars(axes, means, *keys[:2], "value", names, styles, width=6 / 7)
        axes.set_ylim(0, HIGHEST[name])
        axes.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names])

    drawing.panels(draw_measure, None, rows=MEASURES, figure=figure, legend="above", sharex=True)


def _draw_reliability(figure, lines, names):
    first = lines[lines["trial"] == 0]
    problem = "COVTYPE" if "COVTYPE" in set(first["problem"]) else lines["problem"].iloc[0]
    first = first[first["problem"] == problem].set_index("learner")

    def draw_learner(axes, stage, name):
        if name in first.index:
            draw_panel(axes, pd.DataFrame(first.loc[name, "pictured"][stage]["reliability"]))

    columns = {name: name.replace(" ", "\n", 1) for name in names}
    options = {**OPTIONS, "figure": figure, "suptitle": f"{problem}; {LEGEND}"}
    drawing.panels(draw_learner, None, columns, STAGES, **options)


def _draw_curves(figure, lines, names):
    table = curves(lines)
    styles = {"before": {"linestyle": "--", "marker": "", "color": "gray"}}
    styles |= {"Platt": {"color": COLORS[1]}, "isotonic": {"color": COLORS[2]}}
    styles = {name: {"linewidth": 1, **style} for name, style in styles.items()}

    def draw_learner(axes, _, name):
        group = table[table["learner"] == name]
        drawing.mean_curves(axes, group, "size", "method", "value", styles, errors=False)
        axes.set_xscale("log", base=2)

    title = "root mean squared error by number of calibration cases"
    options = {"wrap": (len(LEARNERS) + 1) // 2, "legend": "first", "suptitle": title}
    drawing.panels(draw_learner, None, names, figure=figure, sharex=True, **options)
