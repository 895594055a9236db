"""A plot of the validation scores of penalties."""

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.learners.penalty import penalty_name
from bnmtl.plotting.drawing import COLORS, INK, new_figure
from bnmtl.wording import type_of

_HELD_OUT = "held-out log-likelihood\n(nats per row)"
_SCORES = {"nats": "log posterior\n(nats, up to a constant)"}


def penalties(validation_scores, penalty=None, errors=None):
    """Plot the validation scores by penalty.

    Parameters
    ----------
    validation_scores : pandas.Series
        The `validation_scores_` of a learner, indexed by penalty: nats per held-out row or, in a
        series named "nats", log posteriors. Penalties are equally spaced, because those of a grid
        are crowded just below 1.
    penalty : float, optional
        The chosen penalty, which is marked.
    errors : pandas.Series, optional
        Standard error of each score, indexed by penalty; drawn as a band of plus or minus one
        error.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If `penalty` is not one of the scored penalties, or `errors` lacks one of them or has
        negative values.

    Examples
    --------
    >>> import pandas as pd
    >>> figure = penalties(pd.Series([-3.2, -3.0, -3.1], index=[0.0, 0.9, 1.0]), penalty=0.9)
    """
    scores = validation_scores.sort_index()
    if penalty is not None and penalty not in scores.index:
        known = [penalty_name(one) for one in scores.index]
        rule = "must be one of the scored penalties, {known}"
        raise InputError("penalty", rule, penalty, known=known)
    band = None if errors is None else _checked_errors(errors, scores.index)
    x = np.arange(len(scores))
    y = scores.to_numpy(dtype=float)
    y = np.where(np.isfinite(y), y, np.nan)
    figure = new_figure(max(250.0, 70 + 26.0 * len(scores)), 190.0)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot(label="penalties")
    note = {"textcoords": "offset points", "fontsize": 8}
    if band is not None:
        axes.fill_between(x, y - band, y + band, color=COLORS["all"], alpha=0.2, linewidth=0)
        style = {"xycoords": "axes fraction", "ha": "right", "color": "#555555", **note}
        axes.annotate("band: one standard error", (1, 0), xytext=(-2, 3), **style)
    axes.plot(x, y, "-o", color=COLORS["all"], linewidth=1.2, markersize=3.5)
    if penalty is not None:
        at, color = scores.index.get_loc(penalty), COLORS["one"]
        style = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": color}
        axes.plot(x[at], y[at], "o", **style)
        style = {"ha": "center", "color": color, **note}
        axes.annotate("chosen", (x[at], y[at]), xytext=(0, 8), **style)
    axes.set_xticks(x, [penalty_name(one) for one in scores.index], rotation=90, fontsize=8)
    axes.tick_params(axis="y", labelsize=8)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.margins(x=0.04, y=0.18)
    axes.set_xlabel("penalty (0: arcs are not shared, 1: one graph for all)", fontsize=8, color=INK)
    axes.set_ylabel(_SCORES.get(scores.name, _HELD_OUT), fontsize=8, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _checked_errors(errors, scored):
    """Return the errors in the order of the scored penalties; nan draws no band."""
    if not isinstance(errors, pd.Series):
        raise InputTypeError("errors", "must be a pandas.Series by penalty", type_of(errors))
    lacking = [one for one in scored if one not in errors.index]
    if lacking:
        rule, found = "must have one for every scored penalty", "{penalty!s} has none"
        raise InputError("errors", rule, found=found, penalty=penalty_name(lacking[0]))
    band = errors.loc[scored].to_numpy(dtype=float)
    if (band < 0).any():
        raise InputError("errors", "must be 0 or more", float(band[band < 0][0]))
    return band
