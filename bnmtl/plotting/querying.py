"""Plots of active learning and diversity: curves of strategies, maps of utilities, two methods."""

from collections import Counter

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import stats

from bnmtl.errors import InputError, InputTypeError, check_choice, check_number
from bnmtl.plotting.charts import line_sample, panels_above_legend, styles_of
from bnmtl.plotting.drawing import (
    ABSENT,
    COLORS,
    INK,
    as_it_is,
    chart_axes,
    check_has,
    check_label,
    label_chart,
    shorten,
)
from bnmtl.plotting.layout import warn_of_missing_glyphs
from bnmtl.wording import listed, type_of

_SINGLE, _ONE_OF_MANY = (310.0, 220.0), (200.0, 160.0)  # sizes of panels, in points
_MAP = (330.0, 270.0)
_SQUARE = 250.0
_MANY = 500  # points
_CAPTIONS = {
    "error": "share of errors",
    "squared_error": "squared error",
    "lift_chart_area": "lift chart area",
    "log_loss": "log-loss",
}
_LONGEST = 60  # characters of a strategy in the legend
_LINES = ("-", "-.", ":")  # of strategies with the same color
_POSITIONS = ("data", "strategy", "trial", "step", "n_labels")


def strategy_curves(curves, measure="error", confidence=0.95, xlabel="labels", ylabel=None):
    """Plot learning curves of strategies: a measure by the number of labels, means over trials.

    Bands are intervals of the mean by Student's t. There is one panel per data set.

    Parameters
    ----------
    curves : pandas.DataFrame
        As from `bnmtl.active.run_experiment`.
    measure : str, default="error"
        The column to plot: "error", "squared_error", "lift_chart_area", or any other with numbers.
    confidence : float, default=0.95
        Of the intervals.
    xlabel : str, default="labels"
        Label of ``n_labels``, if curves count something else.
    ylabel : str, default=None
        Label of the measure; None is its name in words.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, missing columns, and without a measure.

    References
    ----------
    Melville (2005), figures 6.1 to 6.4.

    Examples
    --------
    >>> curves = pd.DataFrame({"data": "birds", "strategy": "random", "n_labels": [5, 6]})
    >>> (axes, legend) = strategy_curves(curves.assign(trial=0, error=[0.3, 0.2])).axes
    >>> axes.get_title()
    'birds'
    """
    check_number("confidence", confidence, above=0, below=1)
    check_label("xlabel", xlabel)
    if not isinstance(curves, pd.DataFrame) or curves.empty:
        raise InputTypeError(
            f"must be a DataFrame of `run_experiment`, got {type_of(curves)}", argument="curves"
        )
    check_has("curves", curves, ["data", "strategy", "n_labels"], "that of `run_experiment`")
    numbers = [name for name in curves if is_numeric_dtype(curves[name])]
    measures = tuple(name for name in numbers if name not in _POSITIONS)
    if not measures:
        message = (
            f"must have a measure, such as a column `error` with numbers; it has {listed(curves)}"
        )
        raise InputError(message, argument="curves")
    check_choice("measure", measure, measures)
    ylabel = _CAPTIONS.get(measure, measure) if ylabel is None else ylabel
    check_label("ylabel", ylabel)
    styles = _without_markers(styles_of(curves["strategy"], "random"))
    panels = dict(list(curves.groupby("data", sort=False)))
    warn_of_missing_glyphs([*map(str, [*styles, *panels])])
    panel = _SINGLE if len(panels) == 1 else _ONE_OF_MANY
    entries = [(line_sample(style), shorten(name, _LONGEST)) for name, style in styles.items()]
    every = panels_above_legend(panels, "strategies:", panel, entries, (xlabel, ylabel))
    for axes, rows in zip(every, panels.values(), strict=True):
        for strategy, style in styles.items():
            _draw_curve(axes, rows[rows["strategy"] == strategy], measure, style, confidence)
    return every[0].figure


def _without_markers(styles):
    """The same with other dashes, instead of markers, where colors repeat."""
    found, n_alike = {}, Counter()
    for name, style in styles.items():
        line = style.line if style.line != "-" else _LINES[n_alike[style.color] % len(_LINES)]
        found[name] = style._replace(line=line, marker="")
        n_alike[style.color] += 1
    return found


def _draw_curve(axes, rows, measure, style, confidence):
    """One line and its band; without a second trial there is no band."""
    by = rows.groupby("n_labels")[measure].agg(["mean", "sem", "count"])
    if by.empty:
        return
    dot = {"marker": "o", "markersize": 3} if len(by) == 1 else {}
    axes.plot(by.index, by["mean"], style.line, color=style.color, linewidth=1.2, **dot)
    half = by["sem"].fillna(0) * stats.t.ppf((1 + confidence) / 2, np.maximum(by["count"] - 1, 1))
    band = {"color": style.color, "alpha": 0.15, "linewidth": 0}
    # No measure is below 0.
    axes.fill_between(by.index, np.maximum(by["mean"] - half, 0), by["mean"] + half, **band)


def utility_map(table, x, y, utility="utility", rank=None, is_labeled=None, label="utility"):
    """Plot the utility of cases over two columns, such as coordinates.

    Cases that are asked for are circled and numbered; cases that have a label are gray.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per case.
    x, y : str
        Columns with numbers; rows without them are left out.
    utility : str, default="utility"
        A column with the utilities, missing for cases with a label.
    rank : str, default=None
        A column with 1, 2, ... for cases that are asked for, missing for others.
    is_labeled : array-like of bool, shape (n_rows,), default=None
        Which cases have a label. None is those without a utility.
    label : str, default="utility"
        Label of the colors.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, columns that are missing or not numbers, and ``is_labeled`` that is not
        True or False for each row.

    Examples
    --------
    >>> sites = {"east": [1.0, 2.0, 3.0], "north": [4.0, 5.0, 4.5], "utility": [0.1, 0.3, None]}
    >>> figure = utility_map(pd.DataFrame(sites), "east", "north")
    >>> figure.axes[0].get_xlabel()
    'east'
    """
    _check_table(table, [x, y, utility, *([] if rank is None else [rank])])
    check_label("label", label)
    known = table[utility].isna().to_numpy()
    if is_labeled is not None:
        known = np.asarray(is_labeled)
        if known.shape != (len(table),) or known.dtype != bool:
            message = (
                f"must be True or False for each row, {len(table)}, or None, got "
                f"{type_of(is_labeled)}"
            )
            raise InputError(message, argument="is_labeled")
    warn_of_missing_glyphs([str(x), str(y), label])
    axes = chart_axes(*_MAP, "utilities")
    label_chart(axes, "", str(x), str(y))
    axes.plot(table.loc[known, x], table.loc[known, y], ".", color=ABSENT, markersize=4, zorder=1)
    asked = table[~known & table[utility].notna()].sort_values(utility, kind="stable")
    style = {"cmap": "viridis", "s": 22, "zorder": 2, "linewidths": 0}
    points = axes.scatter(asked[x], asked[y], c=asked[utility], **style)
    if len(asked):
        bar = axes.figure.colorbar(points, ax=axes, shrink=0.85)
        bar.set_label(label, fontsize=8, color=INK, **as_it_is(label))
        bar.ax.tick_params(labelsize=7)
        bar.outline.set_visible(False)
    if rank is not None:
        rows, color = table[table[rank].notna()], COLORS["one"]
        style = {"s": 60, "facecolors": "none", "edgecolors": color, "linewidths": 1.2}
        axes.scatter(rows[x], rows[y], zorder=3, **style)
        text = {"xytext": (5, 4), "textcoords": "offset points", "fontsize": 7, "zorder": 4}
        for east, north, number in zip(rows[x], rows[y], rows[rank], strict=True):
            axes.annotate(f"{int(number)}", (east, north), color=color, **text)
    return axes.figure


def method_scatter(table, x, y, xlabel=None, ylabel=None):
    """Plot the errors of two methods against each other, one point per data set.

    Points below the diagonal are data sets on which the second method is better; the title counts
    them.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per data set.
    x, y : str
        Columns with the errors of the two methods.
    xlabel, ylabel : str, default=None
        Labels of the axes, and of the second method in the title; None is the columns.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, columns that are missing or not numbers, and the same column twice.

    References
    ----------
    Melville (2005), figures 4.1 to 4.4.

    Examples
    --------
    >>> errors = pd.DataFrame({"trees": [0.2, 0.3, 0.1], "DECORATE": [0.1, 0.2, 0.15]})
    >>> method_scatter(errors, "trees", "DECORATE").axes[0].get_title()
    'DECORATE is better on 2 of 3, worse on 1'
    """
    _check_table(table, [x, y])
    _check_differ("x", x, "y", y)
    captions = [str(x) if xlabel is None else xlabel, str(y) if ylabel is None else ylabel]
    for argument, caption in zip(("xlabel", "ylabel"), captions, strict=True):
        check_label(argument, caption)
    warn_of_missing_glyphs(captions)
    rows = table[[x, y]].dropna()
    axes = chart_axes(_SQUARE, _SQUARE, "methods")
    ends = _ends(rows.to_numpy())
    axes.plot(ends, ends, "--", color=ABSENT, linewidth=1, zorder=1)
    axes.plot(rows[x], rows[y], "o", color=COLORS["all"], markersize=4, alpha=0.8, clip_on=False)
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_aspect("equal")
    better, worse = int((rows[y] < rows[x]).sum()), int((rows[y] > rows[x]).sum())
    title = f"{captions[1]} is better on {better} of {len(rows)}, worse on {worse}"
    label_chart(axes, title, *captions)
    return axes.figure


def _ends(values):
    """The ends of axes that show 0 and all values."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    room = 0.05 * (high - low) or 1.0
    return [low - room if low < 0 else 0.0, high + room]


def error_by_diversity(table, diversity="diversity", error="error", label="error"):
    """Plot errors of ensembles against their diversity, with Spearman's rank correlation.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per ensemble.
    diversity, error : str
        Columns with numbers, such as `bnmtl.decorate.diversity` and the ratio of the errors of an
        ensemble and of its base.
    label : str, default="error"
        Label of the errors.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, columns that are missing or not numbers, and the same column twice.

    References
    ----------
    Melville (2005), section 4.4.

    Examples
    --------
    >>> ensembles = pd.DataFrame({"diversity": [0.1, 0.2, 0.3], "error": [0.3, 0.25, 0.2]})
    >>> error_by_diversity(ensembles).axes[0].get_title()
    'rank correlation -1.00 of 3 ensembles'
    """
    _check_table(table, [diversity, error])
    _check_differ("diversity", diversity, "error", error)
    check_label("label", label)
    warn_of_missing_glyphs([label])
    rows = table[[diversity, error]].dropna()
    axes = chart_axes(*_SINGLE, "diversity")
    # Of many points, the darkness shows how many there are.
    size, alpha = (4, 0.7) if len(rows) <= _MANY else (3, 0.15)
    style = {"color": COLORS["all"], "markersize": size, "alpha": alpha, "markeredgewidth": 0}
    axes.plot(rows[diversity], rows[error], "o", **style)
    title = f"{len(rows)} ensembles"
    if rows[diversity].nunique() > 1 and rows[error].nunique() > 1:
        title = f"rank correlation {stats.spearmanr(rows).statistic:.2f} of {title}"
    label_chart(axes, title, "diversity", label)
    return axes.figure


def _check_table(table, columns):
    """Raise unless a table has numbers in some columns."""
    if not isinstance(table, pd.DataFrame):
        raise InputTypeError(f"must be a DataFrame, got {type_of(table)}", argument="table")
    check_has("table", table, columns, "that of cases")
    for column in columns:
        if not is_numeric_dtype(table[column]):
            raise InputError("must hold numbers", argument="table", column=str(column))


def _check_differ(argument, column, other, given):
    """Raise unless two arguments name different columns."""
    if column == given:
        message = f"must be another column than `{argument}`, got {given!r}"
        raise InputError(message, argument=other, options=(argument,))
