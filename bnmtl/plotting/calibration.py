"""Plots of calibration: reliability diagrams, its effect on models, and learning curves."""

import textwrap
from collections.abc import Mapping
from itertools import cycle

import numpy as np

from bnmtl.calibration import reliability as reliability_table
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.cases import checked_cases
from bnmtl.plotting.charts import (
    METHOD_COLORS,
    Style,
    check_lines,
    check_range,
    draw_lines,
    line_sample,
    styles_of,
)
from bnmtl.plotting.drawing import (
    ABSENT,
    COLORS,
    INK,
    PAD,
    SAMPLE,
    axes_at,
    check_label,
    draw_text,
    framed_axes,
    new_figure,
    shorten,
)
from bnmtl.plotting.layout import text_width, warn_of_missing_glyphs
from bnmtl.wording import type_of

_SIZE = (290.0, 350.0)
_RANGE = (-0.02, 1.02)
_MOST_ACROSS = 4
# Labels of the axes, of a class and of the most probable class.
_CAPTIONS = (
    ("share of positives", "predicted probability"),
    ("share that is right", "probability of the most probable class"),
)


def reliability(y, p, bins=10, calibrator=None, classes=None, by="class"):
    """Plot the observed frequency of the positive class by predicted probability.

    Points of calibrated probabilities lie on the diagonal; above it probabilities are too low,
    below it too high. Bars are 95 % intervals of the share of positives; the histogram below shows
    the number of cases of each point.

    Parameters
    ----------
    y : array-like of labels, shape (n,)
        0 and 1, or classes 0, 1, ..., or with `classes` some of these.
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class, as from ``predict_proba``.
    bins : int, default=10
        Number of bins of equal width from 0 to 1, closed on the right; empty bins have no point.
    calibrator : fitted calibrator, optional
        From `bnmtl.calibration`, or another object with ``predict``: its calibrated probabilities
        are drawn as a curve; for probabilities of class 1 only.
    classes : sequence of labels, default=None
        The labels of the columns of `p`; None is 0, 1, ....
    by : {"class", "confidence"}, default="class"
        For several classes: a diagram for each class, or one for the most probable class of each
        case, which is right or not.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        As `bnmtl.calibration.reliability`, and for a calibrator without ``predict``, or with
        probabilities of several classes.

    Examples
    --------
    >>> figure = reliability([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], bins=5)
    >>> [axes.get_label() for axes in figure.axes]
    ['reliability', 'cases']
    >>> p = [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.4, 0.6]]
    >>> figure = reliability(["a", "b", "c"], p, classes=["a", "b", "c"])
    >>> [axes.get_label() for axes in figure.axes][:2]
    ['reliability: a', 'cases: a']
    """
    if calibrator is not None:
        _check_calibrator("calibrator", calibrator)
        if np.ndim(p) == 2:
            raise InputError(
                "must be left out for probabilities of several classes", argument="calibrator"
            )
    table = reliability_table(y, p, bins, classes, by)
    if "class" not in table:
        tables = {"": table}
    else:
        tables = {f": {name}": part for name, part in table.groupby("class", sort=False)}
    across = min(len(tables), _MOST_ACROSS)
    down = -(-len(tables) // across)
    figure = new_figure(across * _SIZE[0], down * _SIZE[1])
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(2 * down, across, height_ratios=(4, 1) * down)
    style = {"fontsize": 8, "color": INK}
    ylabel, xlabel = _CAPTIONS[np.ndim(p) == 2 and by == "confidence"]
    for at, (name, part) in enumerate(tables.items()):
        row, column = divmod(at, across)
        axes = figure.add_subplot(grid[2 * row, column], label=f"reliability{name}")
        _draw_points(axes, part)
        axes.set_ylabel(ylabel, **style)
        axes.set_title(shorten(name.removeprefix(": ")), fontsize=9, color=INK)
        below = figure.add_subplot(grid[2 * row + 1, column], label=f"cases{name}", sharex=axes)
        _draw_histogram(below, part, part["count"])
        below.set_ylabel("cases", **style)
        below.set_xlabel(xlabel, **style)
        if calibrator is not None:
            _draw_curve(axes, calibrator, COLORS["one"], "calibrated to")
        if at == 0:
            axes.legend(fontsize=7, frameon=False, loc="upper left")
    return figure


def _check_calibrator(argument, calibrator):
    """Raise unless it can predict."""
    if not hasattr(calibrator, "predict"):
        message = (
            "must have a method predict, as those of `bnmtl.calibration`, got "
            f"{type_of(calibrator)}"
        )
        raise InputTypeError(message, argument=argument)


def _draw_points(axes, table):
    """Draw the diagonal and the share of positives of each bin with its interval."""
    axes.plot([0, 1], [0, 1], "--", color=ABSENT, linewidth=0.8, label="as predicted")
    share = table["fraction_positive"]
    axes.errorbar(
        table["mean_prediction"],
        share,
        yerr=[(share - table["low"]).clip(lower=0), (table["high"] - share).clip(lower=0)],
        fmt="o",
        color=COLORS["all"],
        markersize=4,
        linewidth=1,
        zorder=3,
        label="observed, with 95 % interval",
    )
    axes.set_ylim(*_RANGE)
    axes.tick_params(labelbottom=False)
    _set_scale(axes)


def _draw_curve(axes, calibrator, color, label):
    """Draw the calibrated value of each probability."""
    # Enough points to show a step function.
    at = np.linspace(0, 1, 1001)
    axes.plot(at, calibrator.predict(at), color=color, linewidth=1.2, label=label)


def _draw_histogram(axes, table, heights):
    """Draw a bar for each bin."""
    width = (table["right"] - table["left"]).to_numpy()
    style = {"align": "edge", "color": COLORS["all"], "edgecolor": "white", "linewidth": 0.6}
    axes.bar(table["left"], heights, width, **style)
    _set_scale(axes)


def _set_scale(axes):
    axes.set_xlim(*_RANGE)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


_UNCALIBRATED = "uncalibrated"

_HEADING = 9  # size of letters
_HEADING_WRAP, _HEADING_LINE = 19, 11.0  # characters in a line, height of a line
# Sizes of the panel, in points.
_SIDE = 112.0  # of a diagram
_HISTOGRAM = 30.0  # height
_WITHIN, _BETWEEN = 6.0, 16.0  # inside a cell and from one to the next
_CELL = _SIDE + _WITHIN + _HISTOGRAM  # height
_LEFT, _FOOT = 62.0, 36.0  # for headings, captions and numbers
_CAPTION = 32.0  # from a cell to the label of its vertical axis
_HEAD = 18.0


def calibration_panel(y, predictions, bins=10, calibrators=None):
    """Plot reliability diagrams of several models before and after calibration.

    One column per model, one row per stage. Each cell is as in `reliability`, with a histogram of
    shares of the cases. All cells have the same axes.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,), or mapping of str to such
        Labels of the test cases; a mapping by model if models have different test cases.
    predictions : mapping of str to mapping of str to array-like of probabilities, shape (n,)
        Model -> stage -> probabilities, such as {"boosted trees": {"before": p, "Platt": q}}. A
        stage missing from a model is drawn as a dash.
    bins : int, default=10
        Number of bins of equal width from 0 to 1, closed on the right; empty bins have no point.
    calibrators : mapping of str to mapping of str to fitted calibrator, optional
        Model -> name -> calibrator with ``predict``, fitted to predictions of the first stage,
        drawn as a curve in the first row.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell. It grows with the number of models and stages.

    Raises
    ------
    TypeError, ValueError
        As `bnmtl.calibration.reliability`; for other mappings, models without labels, and
        calibrators without ``predict`` or for models without predictions.

    References
    ----------
    Niculescu-Mizil (2008), figures 3.2 and 3.3.

    Examples
    --------
    >>> before, after = [0.4, 0.4, 0.6, 0.6], [0.1, 0.1, 0.9, 0.9]
    >>> predictions = {"stumps": {"before": before, "Platt": after}, "trees": {"before": before}}
    >>> figure = calibration_panel([0, 0, 1, 1], predictions)
    >>> [axes.get_label() for axes in figure.axes if axes.get_label().startswith("reliability")]
    ['reliability: stumps, before', 'reliability: stumps, Platt', 'reliability: trees, before']
    """
    _check_nested("predictions", predictions)
    if not any(len(stages) for stages in predictions.values()):
        raise InputError("must hold a model with a stage; there is none", argument="predictions")
    models, stages = list(predictions), _inner_names(predictions)
    curves = {} if calibrators is None else calibrators
    _check_curves(curves, predictions, stages[0])
    fits = _inner_names(curves)
    tables = _tables(y, predictions, bins)
    # The first color is for the points.
    colors = dict(zip(fits, cycle(METHOD_COLORS[1:6]), strict=False))
    warn_of_missing_glyphs(map(str, [*models, *stages, *fits]))
    figure, corners = _headed_figure(models, stages, set(tables), colors)
    shares = {cell: table["count"] / table["count"].sum() for cell, table in tables.items()}
    highest = max(heights.max() for heights in shares.values())
    for (model, stage), table in tables.items():
        axes, below = _cell_axes(figure, corners[model, stage], f"{model}, {stage}", highest)
        _draw_points(axes, table)
        _draw_histogram(below, table, shares[model, stage])
        for name, calibrator in curves.get(model, {}).items() if stage == stages[0] else ():
            _draw_curve(axes, calibrator, colors[name], name)
        is_leftmost = model == next(other for other in models if (other, stage) in tables)
        is_lowest = stage == [other for other in stages if (model, other) in tables][-1]
        _caption(axes, below, is_leftmost, is_lowest)
    return figure


def _check_nested(argument, given):
    if not isinstance(given, Mapping):
        example = "{'trees': {'Platt': ...}}"
        message = f"must map models to mappings, as in {example}, got {type_of(given)}"
        raise InputTypeError(message, argument=argument)
    for model, inner in given.items():
        if not isinstance(inner, Mapping):
            message = f"must be a mapping, as in {{'Platt': ...}}, got {type_of(inner)}"
            raise InputTypeError(message, argument=f"{argument}[{model!r}]")


def _check_curves(calibrators, predictions, first):
    _check_nested("calibrators", calibrators)
    for model, by_name in calibrators.items():
        if first not in predictions.get(model, {}):
            message = (
                f"must be of models that have predictions of the first stage, {first!r}; "
                f"{model!r} has none"
            )
            raise InputError(message, argument="calibrators", remedy="leave its calibrators out")
        for name, calibrator in by_name.items():
            _check_calibrator(f"calibrators[{model!r}][{name!r}]", calibrator)


def _inner_names(nested):
    """The keys of all inner mappings, in the order of the longest, then of appearance."""
    by_length = sorted(nested.values(), key=len, reverse=True)
    return list(dict.fromkeys(name for names in by_length for name in names))


def _tables(y, predictions, bins):
    """Tables of reliability by (model, stage)."""
    is_by_model = isinstance(y, Mapping)
    lacking = [model for model in predictions if is_by_model and model not in y]
    if lacking:
        raise InputError(
            f"must hold labels for every model; there are none of {lacking[0]!r}", argument="y"
        )
    tables = {}
    for model, stages in predictions.items():
        truth, name = (y[model], f"y[{model!r}]") if is_by_model else (y, "y")
        for stage, p in stages.items():
            names = (name, f"predictions[{model!r}][{stage!r}]", "")
            labels, p, _ = checked_cases(truth, p, None, names=names)
            tables[model, stage] = reliability_table(labels, p, bins)
    return tables


def _headed_figure(models, stages, present, colors):
    """A figure with headings and legend, and the corners of its cells."""
    columns = [textwrap.wrap(shorten(model, 48), _HEADING_WRAP) or [""] for model in models]
    rows = list(map(shorten, stages))
    across = max(_SIDE, *(text_width(line, _HEADING) for lines in columns for line in lines))
    down = max(_CELL, *(text_width(heading, _HEADING) for heading in rows))
    across, down = across + _BETWEEN, down + _BETWEEN
    head = _HEAD + (max(map(len, columns)) - 1) * _HEADING_LINE
    body = (_LEFT + len(columns) * across - _BETWEEN, head + len(rows) * down - _BETWEEN + _FOOT)
    diagonal = line_sample(Style(ABSENT, "--", width=0.8))
    entries = [(diagonal, "as predicted"), (_draw_observed, "observed, with 95 % interval")]
    for name, color in colors.items():
        entries.append((line_sample(Style(color)), f"fitted: {shorten(name)}"))
    axes = framed_axes(*body, "headings", entries)
    style = {"fontsize": _HEADING, "fontweight": "bold", "ha": "center"}
    corners = {}
    for i, (model, heading) in enumerate(zip(models, columns, strict=True)):
        x = _LEFT + i * across
        for above, line in enumerate(reversed(heading)):
            top = head - _HEAD + _HEADING / 2 - above * _HEADING_LINE
            draw_text(axes, x + _SIDE / 2, top, line, **style)
        for j, stage in enumerate(stages):
            y = head + j * down
            corners[model, stage] = (PAD + x, PAD + y)
            if (model, stage) not in present:
                draw_text(axes, x + _SIDE / 2, y + _SIDE / 2, "\u2013", color=ABSENT, **style)
    for j, heading in enumerate(rows):
        draw_text(axes, _HEADING / 2, head + j * down + _CELL / 2, heading, rotation=90, **style)
    return axes.figure, corners


def _cell_axes(figure, corner, label, highest):
    """Axes of a diagram and of its histogram, from the upper left corner."""
    axes = axes_at(figure, corner, (_SIDE, _SIDE), f"reliability: {label}")
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    left, top = corner[0], corner[1] + _SIDE + _WITHIN
    below = axes_at(figure, (left, top), (_SIDE, _HISTOGRAM), f"cases: {label}")
    top = np.ceil(round(10 * highest, 6)) / 10
    below.set_ylim(0, top)
    below.set_yticks([0, top], ["0", f"{100 * top:.0f} %"])
    for part in (axes, below):
        part.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    return axes, below


def _caption(axes, below, is_leftmost, is_lowest):
    """Label the axes of the cells at the left and lower edge."""
    style = {"fontsize": 8, "color": INK}
    for part, text in ((axes, "share of positives"), (below, "cases")):
        part.tick_params(labelleft=is_leftmost)
        if is_leftmost:
            part.set_ylabel(text, **style)
            part.yaxis.set_label_coords(-_CAPTION / _SIDE, 0.5)
    below.tick_params(labelbottom=is_lowest)
    if is_lowest:
        below.set_xlabel("predicted probability", **style)


def _draw_observed(axes, x, y):
    middle = x + SAMPLE / 2
    axes.errorbar(middle, y, yerr=6, fmt="o", color=COLORS["all"], markersize=4, linewidth=1)


def learning_curves(table, by=None, ylabel="root mean squared error"):
    """Plot the error of calibrated probabilities by the number of calibration cases.

    Each point is the mean of all rows of its method and size, such as draws; bars are one standard
    error of the mean. Uncalibrated scores are a dashed line without bars.

    Parameters
    ----------
    table : pandas.DataFrame
        The result of `bnmtl.calibration.learning_curve`, or several of them with a column that
        distinguishes them. Columns: method, size, value.
    by : str, optional
        A column such as "problem" or "model" with one panel for each of its values. The panels have
        different vertical axes.
    ylabel : str, default="root mean squared error"
        Label of the values.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell. It grows with the number of panels, at most three in a row.

    Raises
    ------
    TypeError, ValueError
        For other objects, and missing columns.

    References
    ----------
    Niculescu-Mizil (2008), figure 3.13.

    Examples
    --------
    >>> import pandas as pd
    >>> sizes, values = [32, 32, 64, 64] * 2, [0.5, 0.4, 0.4, 0.3, 0.6, 0.5, 0.4, 0.3]
    >>> methods = ["Platt"] * 4 + ["isotonic"] * 4
    >>> table = pd.DataFrame({"method": methods, "size": sizes, "value": values})
    >>> (axes, legend) = learning_curves(table).axes
    >>> [line.get_label() for line in axes.lines]
    ['Platt', 'isotonic']
    """
    check_lines(table, "size", by, "of `bnmtl.calibration.learning_curve`")
    check_label("ylabel", ylabel)
    check_range("table", table["size"], table["size"] >= 1, "1 or more")
    styles = styles_of(table["method"], _UNCALIBRATED, has_bars=False)
    captions = "calibration cases", ylabel
    return draw_lines(table, "size", by, styles, "learning curves", captions)
