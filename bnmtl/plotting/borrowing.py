"""A plot of how much each table borrows from other tasks."""

import numpy as np
import pandas as pd

from bnmtl.errors import InputError
from bnmtl.graphs import groups_by_label
from bnmtl.networks.shared_tables import borrowed_shares
from bnmtl.plotting.drawing import PAD, SAMPLE, draw_text, framed_axes, ink_on
from bnmtl.plotting.layout import text_width, warn_of_missing_glyphs
from bnmtl.plotting.table import shorten

_CELL, _BOX = (26.0, 13.0), (25.0, 12.0)  # width and height with and without gaps, in points
_COLOR_MAP = "Blues"
_QUIET = "#777777"
# Thresholds above which a table counts as borrowing, and as shared.
_PARTLY, _SHARED = 0.1, 0.9
_LEGEND = (
    (0.0, "alone: less than 10 % of the other tasks' rows count"),
    (0.5, "partly"),
    (1.0, "shared: 90 % or more count"),
)
_LACKING = "not there, or in this task only"


def borrowing(learner):
    """Plot how much each table borrows from other tasks, by variable and task.

    A cell shows the percentage of the rows of other tasks that counts for the table of this
    variable in this task: 0 for a separate table, 100 for a table shared by all tasks. Variables
    whose tables borrow most come first. Tasks are in the order of their groups.

    Parameters
    ----------
    learner : IdenticalLearner, MultitaskLearner or MultitaskLearnerCV
        Fitted to several tasks with ``table_sharing="auto"``.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot; save it with `savefig`.

    Raises
    ------
    ValueError
        If the learner is not fitted or its tasks share no tables.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, structures
    >>> asia = structures.load("asia")
    >>> rows = [asia.sample(100, random_state=seed) for seed in range(3)]
    >>> learner = MultitaskLearner(table_sharing="auto", random_state=0).fit(rows)
    >>> figure = borrowing(learner)
    >>> [text.get_text() for text in figure.axes[0].texts[:3]]
    ['task1', 'task2', 'task3']
    """
    if not hasattr(learner, "tasks_") or not hasattr(type(learner), "borrowed_"):
        message = (
            "must be a fitted IdenticalLearner, MultitaskLearner or MultitaskLearnerCV, got "
            f"{learner!r}"
        )
        raise InputError(message, argument="learner")
    if learner.borrowed_.empty:
        message = "must have tasks that share tables"
        raise InputError(
            message,
            argument="learner",
            options=("table_sharing", "parameter_sample_size"),
            remedy=(
                "fit it to several tasks, `table_sharing='auto'` and `parameter_sample_size='auto'`"
            ),
        )
    shares = borrowed_shares(learner.borrowed_, learner.tasks_)
    labels = getattr(learner, "task_groups_", None)
    if labels is not None:
        shares = shares[[task for group in groups_by_label(labels) for task in group]]
    names = [shorten(variable) for variable in shares.index]
    tasks = [shorten(task) for task in shares.columns]
    warn_of_missing_glyphs([*shares.index, *shares.columns])
    left = max(text_width(name, 8) for name in names) + 8
    head = max(text_width(task, 8) for task in tasks) + 10
    body = left + _CELL[0] * len(tasks), head + _CELL[1] * len(names) + PAD
    axes = framed_axes(*body, "borrowing", _entries(shares))
    for column, task in enumerate(tasks):
        draw_text(axes, left + (column + 0.5) * _CELL[0], head - 5, task, rotation=90)
    for row, name in enumerate(names):
        y = head + (row + 0.5) * _CELL[1]
        draw_text(axes, left - 6, y, name, ha="right")
        for column, share in enumerate(shares.iloc[row]):
            x = left + (column + 0.5) * _CELL[0]
            _draw_cell(axes, x, y, _BOX, share, f"{100 * share:.0f}")
    return axes.figure


def _entries(shares):
    """The legend entries for the kinds of cells in the plot."""
    values = shares.to_numpy()
    known = values[~np.isnan(values)]
    bands = set(np.digitize(known, (_PARTLY, _SHARED)))
    entries = [(_mark(at), text) for band, (at, text) in enumerate(_LEGEND) if band in bands]
    if len(known) < values.size:
        entries.append((_mark(np.nan), _LACKING))
    return entries


def _mark(share):
    return lambda axes, x, y: _draw_cell(axes, x + SAMPLE / 2, y, (SAMPLE, 9.0), share, "")


def _draw_cell(axes, x, y, size, share, text):
    """Draw a box in the color of a share with a text; a cross marks an unknown share."""
    import matplotlib
    from matplotlib.patches import Rectangle

    color, edge, ink = (1.0, 1.0, 1.0), "white", _QUIET
    if pd.isna(share):
        text = "\u00d7"
    else:  # the darkest blue would hide the text
        color, edge = matplotlib.colormaps[_COLOR_MAP](0.05 + 0.8 * share), "#C8D4E0"
        ink = ink_on(color)
    corner = (x - size[0] / 2, y - size[1] / 2)
    axes.add_patch(Rectangle(corner, *size, facecolor=color, edgecolor=edge, linewidth=0.5))
    if text:
        draw_text(axes, x, y, text, color=ink, ha="center", fontsize=7)
