"""Reliability diagrams of predicted probabilities."""

import numpy as np

from bnmtl.calibration import reliability as reliability_table
from bnmtl.errors import InputTypeError
from bnmtl.plotting.drawing import ABSENT, COLORS, INK, new_figure
from bnmtl.wording import type_of

_SIZE = (290.0, 350.0)
_RANGE = (-0.02, 1.02)


def reliability(y, p, bins=10, calibrator=None):
    """Plot the observed frequency of the positive class by predicted probability.

    Points of calibrated probabilities lie on the diagonal; above it probabilities are too low,
    below it too high. Bars are 95 % intervals of the share of positives; the histogram below shows
    the number of cases of each point.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of probabilities, shape (n,)
    bins : int, default=10
        Number of bins of equal width from 0 to 1, closed on the right; empty bins have no point.
    calibrator : fitted calibrator, optional
        From `bnmtl.calibration`, or another object with ``predict``: its calibrated probabilities
        are drawn as a curve.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        As `bnmtl.calibration.reliability`, and for a calibrator without ``predict``.

    Examples
    --------
    >>> figure = reliability([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], bins=5)
    >>> [axes.get_label() for axes in figure.axes]
    ['reliability', 'cases']
    """
    if calibrator is not None:
        check_calibrator("calibrator", calibrator)
    table = reliability_table(y, p, bins)
    figure = new_figure(*_SIZE)
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(4, 1))
    axes = figure.add_subplot(grid[0], label="reliability")
    draw_points(axes, table)
    if calibrator is not None:
        draw_curve(axes, calibrator, COLORS["one"], "calibrated to")
    axes.legend(fontsize=7, frameon=False, loc="upper left")
    axes.set_ylabel("share of positives", fontsize=8, color=INK)
    below = figure.add_subplot(grid[1], label="cases", sharex=axes)
    draw_histogram(below, table, table["count"])
    below.set_ylabel("cases", fontsize=8, color=INK)
    below.set_xlabel("predicted probability", fontsize=8, color=INK)
    return figure


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
