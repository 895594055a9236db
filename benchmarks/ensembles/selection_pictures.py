"""Pictures of the study of ensembles: figures 4.1 - 4.5 of the thesis."""

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.ensembles.analyses import SHARES
from benchmarks.ensembles.problem_rows import LARGE
from benchmarks.ensembles.selection_values import MEAN, SHORT, having, largest, long, means
from bnmtl import plotting

_COLORS = {"bags": "#0072B2", "no bags": "#E69F00", "single": "#444444"}
_LABELS = {
    "bags": "selection, bags",
    "no bags": "selection, no bags",
    "single": "best single model",
}
_RMSE = "root_mean_squared_error"
_COLUMNS = 3


def draw(lines):
    """Steps with and without replacement, sizes of the hill-climbing set, and pruning."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    axes = figure.subplots(1, 3)
    _draw_steps(axes[0], lines)
    if len(lines) and (lines["analysis"] == "methods").any():
        table = long(lines)
        parts = ("size: bags", _draw_sizes), ("share: bags", _draw_shares)
        for one, (method, draw_one) in zip(axes[1:], parts, strict=True):
            if (table["method"] == method).any():
                draw_one(one, table)
                one.legend(frameon=False)
                one.set_ylabel("mean normalized score")
    return figure


def more_pictures(lines):
    """Sizes, pruning and the metric of selection by metric; pruning by problem."""
    if not len(lines) or not (lines["analysis"] == "methods").any():
        return {}
    table, found = long(lines), {}
    has = set(table["method"])
    if "size: bags" in has:
        found["ensemble_selection_sizes"] = plotting.hillclimb_sizes(
            _by_size(table), by="metric", ylabel="normalized score"
        )
    if "share: bags" in has:
        panels = {SHORT[one]: (_draw_shares, table, one) for one in SHORT}
        found["ensemble_selection_shares"] = _grid(panels)
        chosen = table[table["method"] == "share: bags"]
        panels = {
            f"{problem}, {SHORT[_RMSE]}": (_draw_shares, table[table["problem"] == problem], _RMSE)
            for problem in sorted(set(chosen["problem"]))
        }
        found["ensemble_selection_pruning"] = _grid(panels)
    panels = {SHORT[one]: (_draw_targets, table, one) for one in SHORT if one != _RMSE}
    found["ensemble_selection_targets"] = _grid(panels)
    return found


def _grid(panels):
    """A figure with one panel per title: a function of axes and the rest of its arguments."""
    n_rows = -(-len(panels) // _COLUMNS)
    figure = Figure(figsize=(3.6 * _COLUMNS, 2.7 * n_rows), layout="constrained")
    grid = figure.subplots(n_rows, _COLUMNS, squeeze=False).ravel()
    for axes, (title, (draw_one, *arguments)) in zip(grid, panels.items(), strict=False):
        draw_one(axes, *arguments)
        axes.set_title(title, fontsize=9)
        if not axes.get_ylabel():
            axes.set_ylabel("normalized score", fontsize=8)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _draw_steps(axes, lines):
    """Test error by number of steps, mean over trials relative to the first step."""
    chosen = lines[lines["analysis"] == "methods"] if len(lines) else lines
    for name, color in (("with replacement", "#0072B2"), ("without replacement", "#D55E00")):
        curves = [
            pd.Series(steps[name]["test"], steps[name]["steps"]) / steps[name]["test"][0]
            for steps in (chosen["trajectories"] if len(chosen) else ())
        ]
        if curves:
            # Beyond the smallest library there are no more steps without replacement.
            pd.concat(curves, axis=1).dropna().mean(axis=1).plot(
                ax=axes, marker=".", color=color, label=name, logx=True
            )
    axes.set_xlabel("steps")
    axes.set_ylabel("test RMSE, first step = 1")
    axes.legend(frameon=False)


def _by_size(table):
    """Scores by number of cases, of the problems that have cases for the largest number.

    Of small libraries, if there are any.
    """
    small = having(table[~table["trial"].isin(LARGE)], "size: bags")
    table = small if len(small) else table
    sizes, rows = sorted(set(table.loc[table["method"] == "size: bags", "at"])), []
    for method, label in _LABELS.items():
        of_size = {n: means(table, f"size: {method}", n) for n in sizes}
        for metric, name in {MEAN: "mean", **SHORT}.items():
            found = pd.DataFrame({n: one[metric] for n, one in of_size.items()})
            found = found[found[sizes[-1]].notna()] if sizes else found
            rows += [
                {"metric": name, "method": label, "size": n, "value": value}
                for n, values in found.items()
                for value in values.dropna()
            ]
    return pd.DataFrame(rows, columns=["metric", "method", "size", "value"])


def _draw_sizes(axes, table):
    """Mean scores by number of cases, over problems."""
    found = _by_size(table)
    found = found[found["metric"] == "mean"]
    for method, color in _COLORS.items():
        levels = found[found["method"] == _LABELS[method]].groupby("size")["value"].mean()
        axes.plot(levels.index, levels, marker=".", color=color, label=_LABELS[method])
    n_problems = found.groupby(["method", "size"]).size().max()
    axes.set_xlabel(f"cases of hill climbing ({n_problems} problems)")
    axes.set_xscale("log")


def _draw_shares(axes, table, metric=MEAN):
    """Scores by share of the library kept, beside those of the best single model.

    Of large libraries, if there are any.
    """
    table = largest(table, "share: bags")
    for method in ("bags", "no bags"):
        found = [means(table, f"share: {method}", share)[metric].mean() for share in SHARES]
        axes.plot(SHARES, found, marker=".", color=_COLORS[method], label=_LABELS[method])
    # Draws differ, so only those count that have shares.
    level = means(having(table, "share: bags"), "single")[metric].mean()
    axes.axhline(level, color=_COLORS["single"], linestyle="--", label=_LABELS["single"])
    axes.set_xscale("log")
    axes.set_xlabel("share of the library kept")


def _draw_targets(axes, table, metric):
    """Scores of ensembles selected for squared error and for the metric itself, by problem."""
    for method, marker, label in (
        ("selected", "o", "problem"),
        ("cv selected", "x", "problem, cross-validated"),
    ):
        if (table["method"] == method).any():
            points = means(table, f"{method} for {_RMSE}")[metric], means(table, method)[metric]
            axes.plot(*points, marker, color="#0072B2", label=label, fillstyle="none")
    low = min(axes.get_xlim()[0], axes.get_ylim()[0])
    axes.plot([low, 1], [low, 1], color="#BBBBBB", linewidth=1, zorder=0)
    axes.set_xlabel("selected for RMSE")
    axes.set_ylabel("for the metric itself")
