"""Pictures of the study of ensembles: figures 4.1 - 4.5 of the thesis."""

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.ensembles.analyses import SHARES
from benchmarks.ensembles.selection_values import MEAN, long, means

_COLORS = {"bags": "#0072B2", "no bags": "#E69F00", "single": "#444444"}
_LABELS = {"bags": "selection, bags", "no bags": "selection, no bags", "single": "best single"}


def draw(lines):
    """Steps with and without replacement, sizes of the hill-climbing set, and pruning."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    axes = figure.subplots(1, 3)
    _draw_steps(axes[0], lines)
    if len(lines) and (lines["analysis"] == "methods").any():
        table = long(lines)
        _draw_sizes(axes[1], table)
        _draw_shares(axes[2], table)
    return figure


def more_pictures(lines):
    """Pruning by problem."""
    if not len(lines) or not {"pruning", "methods"} <= set(lines["analysis"]):
        return {}
    table = long(lines)
    problems = sorted(set(table.loc[table["method"] == "share: bags", "problem"]))
    columns = min(4, len(problems))
    rows = -(-len(problems) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.6 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    for axes, problem in zip(grid, problems, strict=False):
        _draw_shares(axes, table[table["problem"] == problem], title=problem)
    for axes in grid[len(problems) :]:
        axes.set_axis_off()
    return {"ensemble_selection_pruning": figure}


def _draw_steps(axes, lines):
    """Test error by number of steps, mean over trials relative to the first step."""
    chosen = lines[lines["analysis"] == "methods"] if len(lines) else lines
    for name, color in (("with replacement", "#0072B2"), ("without replacement", "#D55E00")):
        curves = [
            pd.Series(steps[name]["test"], steps[name]["steps"]) / steps[name]["test"][0]
            for steps in (chosen["trajectories"] if len(chosen) else ())
        ]
        if curves:
            pd.concat(curves, axis=1).mean(axis=1).plot(
                ax=axes, marker=".", color=color, label=name, logx=True
            )
    axes.set_xlabel("steps")
    axes.set_ylabel("test RMSE, first step = 1")
    axes.legend(frameon=False)


def _draw_sizes(axes, table):
    sizes = sorted(set(table.loc[table["method"] == "size: bags", "at"]))
    for method, color in _COLORS.items():
        found = [means(table, f"size: {method}", size)[MEAN].mean() for size in sizes]
        if sizes:
            axes.plot(sizes, found, marker=".", color=color, label=_LABELS[method])
    axes.set_xscale("log")
    axes.set_xlabel("cases of hill climbing")
    axes.set_ylabel("mean normalized score")
    axes.legend(frameon=False)


def _draw_shares(axes, table, title="all problems"):
    for method in ("bags", "no bags"):
        found = [means(table, f"share: {method}", share)[MEAN].mean() for share in SHARES]
        axes.plot(SHARES, found, marker=".", color=_COLORS[method], label=_LABELS[method])
    axes.set_xscale("log")
    axes.set_xlabel("share of the library kept")
    axes.set_title(title, fontsize=9)
    axes.legend(frameon=False, fontsize=8)
