"""Reliability diagrams of predicted probabilities."""

import numpy as np

from bnmtl.calibration import reliability as reliability_table
from bnmtl.errors import InputError, InputTypeError
from bnmtl.plotting.drawing import ABSENT, COLORS, INK, new_figure
from bnmtl.plotting.table import shorten
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
        check_calibrator("calibrator", calibrator)
        if np.ndim(p) == 2:
            raise InputError("calibrator", "must be left out for probabilities of several classes")
    table = reliability_table(y, p, bins, classes, by)
    if "class" not in table:
        tables = {"": table}
    else:
        tables = {f": {name}": one for name, one in table.groupby("class", sort=False)}
    across = min(len(tables), _MOST_ACROSS)
    down = -(-len(tables) // across)
    figure = new_figure(across * _SIZE[0], down * _SIZE[1])
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(2 * down, across, height_ratios=(4, 1) * down)
    is_confidence = np.ndim(p) == 2 and by == "confidence"
    captions = _CAPTIONS[is_confidence]
    for at, (name, one) in enumerate(tables.items()):
        row, column = divmod(at, across)
        places = grid[2 * row, column], grid[2 * row + 1, column]
        axes = _draw_diagram(figure, places, name, one, captions)
        if calibrator is not None:
            draw_curve(axes, calibrator, COLORS["one"], "calibrated to")
        if at == 0:
            axes.legend(fontsize=7, frameon=False, loc="upper left")
    return figure


def _draw_diagram(figure, places, name, table, captions):
    """Draw the points of a table and the histogram below; returns the axes of the points."""
    axes = figure.add_subplot(places[0], label=f"reliability{name}")
    draw_points(axes, table)
    axes.set_ylabel(captions[0], fontsize=8, color=INK)
    if name:
        axes.set_title(shorten(name.removeprefix(": ")), fontsize=9, color=INK)
    below = figure.add_subplot(places[1], label=f"cases{name}", sharex=axes)
    draw_histogram(below, table, table["count"])
    below.set_ylabel("cases", fontsize=8, color=INK)
    below.set_xlabel(captions[1], fontsize=8, color=INK)
    return axes


def check_calibrator(argument, calibrator):
    """Raise unless it can predict."""
    if not hasattr(calibrator, "predict"):
        rule = "must have a method predict, as those of `bnmtl.calibration`"
        raise InputTypeError(argument, rule, type_of(calibrator))


def draw_points(axes, table):
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


def draw_curve(axes, calibrator, color, label):
    """Draw the calibrated value of each probability."""
    # Enough points to show a step function.
    at = np.linspace(0, 1, 1001)
    axes.plot(at, calibrator.predict(at), color=color, linewidth=1.2, label=label)


def draw_histogram(axes, table, heights):
    """Draw a bar for each bin."""
    width = (table["right"] - table["left"]).to_numpy()
    style = {"align": "edge", "color": COLORS["all"], "edgecolor": "white", "linewidth": 0.6}
    axes.bar(table["left"], heights, width, **style)
    _set_scale(axes)


def _set_scale(axes):
    axes.set_xlim(*_RANGE)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
