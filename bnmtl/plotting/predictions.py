"""Whether predicted probabilities mean what they say, as pictures."""

import numpy as np

from bnmtl.calibration import reliability as reliability_table
from bnmtl.plotting.drawing import ABSENT, COLORS, INK, new_figure

__all__ = ["reliability"]

_SIZE = (290.0, 350.0)


def reliability(y, p, bins=10, calibrator=None):
    """Draw how often the positive class occurs at each predicted probability.

    Where probabilities mean what they say, points lie on the diagonal: above it they are too low,
    below it too high. Bars are 95 % intervals of the share of positives; the histogram below shows
    how many cases each point stands for.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of probabilities, shape (n,)
    bins : int, default=10
        Of equal width from 0 to 1, closed on the right; a bin without cases has no point.
    calibrator : fitted calibrator, optional
        Of `bnmtl.calibration`, or another with ``predict``: what it makes of each probability is
        drawn as a curve.

    Returns
    -------
    matplotlib.figure.Figure
        Not known to pyplot: save it with `savefig`, or show it as a notebook cell's last value.

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
    if calibrator is not None and not hasattr(calibrator, "predict"):
        raise TypeError(
            "`calibrator` must have a method predict, as those of bnmtl.calibration; got "
            f"{type(calibrator).__name__}."
        )
    table = reliability_table(y, p, bins)
    figure = new_figure(*_SIZE)
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(4, 1))
    axes = figure.add_subplot(grid[0], label="reliability")
    _draw_points(axes, table)
    if calibrator is not None:
        # As many points as a step function needs to look like one.
        at = np.linspace(0, 1, 1001)
        style = {"color": COLORS["one"], "linewidth": 1.2, "label": "calibrated to"}
        axes.plot(at, calibrator.predict(at), **style)
    axes.legend(fontsize=7, frameon=False, loc="upper left")
    axes.set_ylabel("share of positives", fontsize=8, color=INK)
    axes.set_ylim(-0.02, 1.02)
    below = figure.add_subplot(grid[1], label="cases", sharex=axes)
    width = (table["right"] - table["left"]).to_numpy()
    style = {"align": "edge", "color": COLORS["all"], "edgecolor": "white", "linewidth": 0.6}
    below.bar(table["left"], table["count"], width, **style)
    below.set_ylabel("cases", fontsize=8, color=INK)
    below.set_xlabel("predicted probability", fontsize=8, color=INK)
    below.set_xlim(-0.02, 1.02)
    axes.tick_params(labelbottom=False)
    for own in (axes, below):
        own.tick_params(labelsize=8)
        own.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_points(axes, table):
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
        label="observed, with 95 % interval",
    )
