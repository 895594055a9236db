"""The picture of the study of good probabilities: bars, reliability diagrams, learning curves."""

import pandas as pd
from matplotlib.figure import Figure

from benchmarks import drawing
from benchmarks.predictions.good_diagrams import MANY, draw_panel
from benchmarks.predictions.good_learners import LEARNERS
from benchmarks.predictions.good_tables import (
    CROSS_ENTROPY,
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
    for axes, name in zip(figure.subplots(2, 1, sharex=True), HIGHEST, strict=True):
        # Standard errors over trials, of the means over problems.
        keys = ["learner", "method", "trial"]
        means = values(lines, name).groupby(keys)["value"].mean().rename(name).reset_index()
        drawing.mean_bars(axes, means, *keys[:2], name, names, METHODS, styles, 6 / 7)
        axes.set_ylim(0, HIGHEST[name])
        axes.yaxis.label.set_size(8)
        axes.tick_params(labelsize=8)
    axes.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names])
    figure.axes[0].legend(fontsize=7, ncols=6, loc="upper left")


def _draw_reliability(figure, lines, names):
    first = lines[lines["trial"] == 0]
    problem = "COVTYPE" if "COVTYPE" in set(first["problem"]) else lines["problem"].iloc[0]
    first = first[first["problem"] == problem].set_index("learner")
    panels = figure.subplots(len(STAGES), len(names), sharex=True, sharey=True, squeeze=False)
    for row, stage in zip(panels, STAGES, strict=True):
        for axes, name in zip(row, names, strict=True):
            axes.tick_params(labelsize=7)
            if name in first.index:
                draw_panel(axes, pd.DataFrame(first.loc[name, "pictured"][stage]["reliability"]))
        row[0].set_ylabel(stage, fontsize=8)
    for axes, name in zip(panels[0], names, strict=True):
        axes.set_title(name.replace(" ", "\n", 1), fontsize=8)
    figure.suptitle(
        f"{problem}: share of positives by predicted probability (hollow: fewer than {MANY} rows); "
        "bars: shares of the test rows",
        fontsize=9,
    )


def _draw_curves(figure, lines, names):
    table = curves(lines)
    styles = {"before": {"linestyle": "--", "marker": "", "color": "gray"}}
    styles |= {"Platt": {"color": COLORS[1]}, "isotonic": {"color": COLORS[2]}}
    styles = {name: {"linewidth": 1, **style} for name, style in styles.items()}
    n_across = (len(LEARNERS) + 1) // 2
    panels = figure.subplots(2, n_across, sharex=True, squeeze=False).ravel()
    for axes, name in zip(panels, names, strict=False):
        group = table[table["learner"] == name]
        drawing.curves(axes, group, "size", "value", "method", styles, errors=False)
        axes.set_xscale("log", base=2)
        axes.set_title(name, fontsize=8)
        axes.tick_params(labelsize=7)
    panels[0].legend(fontsize=7, frameon=False)
    figure.suptitle("root mean squared error by number of calibration cases", fontsize=9)
