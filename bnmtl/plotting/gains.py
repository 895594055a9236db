"""Plot of how much tasks gain by learning together: a heat map ordered by groups."""

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.plotting.dissimilarities import check_tasks, task_names
from bnmtl.plotting.drawing import SAMPLE, framed_axes
from bnmtl.plotting.fonts import warn_of_boxes
from bnmtl.plotting.heat_map import EDGES, GAP, cell_side, draw_heat_map
from bnmtl.plotting.layout import in_groups, text_width
from bnmtl.wording import type_of

_COLOR_MAP = "RdBu"
_FRAME = {"edgecolor": "#222222", "facecolor": "none", "linewidth": 1.4, "zorder": 3}
_NOT_TRIED = "#EDEDED"


def gains(gains, task_groups=None):
    """Plot how much each pair of tasks gains by learning together, in nats.

    Parameters
    ----------
    gains : pandas.DataFrame, tasks by tasks
        ``group_gains_`` of a learner: above 0, blue, where the arcs of two tasks are worth more
        together than alone; nan, gray, for pairs that were not tried.
    task_groups : mapping task -> label, optional
        ``task_groups_`` of the learner: tasks are ordered by their groups, and groups of several
        tasks are framed.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell. For up to 20 tasks the cells contain their values.

    Raises
    ------
    TypeError, ValueError
        If the rows and columns of the table are not the same tasks, there are fewer than two, a
        value is not a number, or a task has no group.

    Examples
    --------
    >>> import pandas as pd
    >>> tasks = ["north", "south", "west"]
    >>> table = pd.DataFrame(
    ...     [[None, -5, 31], [-5, None, -4], [31, -4, None]], index=tasks, columns=tasks
    ... )
    >>> figure = gains(table.astype(float), {"north": 1, "south": 2, "west": 1})
    >>> [text.get_text() for text in figure.axes[0].texts[:3]]
    ['north', 'west', 'south']
    """
    if not isinstance(gains, pd.DataFrame):
        rule = "must be a pandas.DataFrame such as `group_gains_` of a learner"
        raise InputTypeError("gains", rule, type_of(gains))
    tasks = list(gains.index)
    if tasks != list(gains.columns):
        raise InputError("gains", "must have the same tasks as rows and as columns")
    names = list(map(str, tasks))
    check_tasks("gains", names)
    values = _numbers(gains)
    order, groups = in_groups(dict.fromkeys(names), task_groups)
    order = list(order)
    at = [names.index(name) for name in order]
    warn_of_boxes(order)
    drawn = values[np.ix_(at, at)]
    return _draw(drawn, task_names(order), groups if task_groups is not None else [])


def _numbers(gains):
    """The gains as an array, nan where there is none."""
    values = np.empty(gains.shape)
    for at, task in enumerate(gains.columns):
        try:
            values[:, at] = gains.iloc[:, at].to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):
            rule = "must hold numbers only"
            raise InputTypeError("gains", rule, column=str(task)) from None
    if np.isinf(values).any():
        raise InputError("gains", "must hold finite numbers or nan", values[np.isinf(values)][0])
    return values


def _draw(values, names, groups):
    import matplotlib

    side = cell_side(values, _written)
    top = max(text_width(name, 8) for name in names) + GAP
    extent = len(names) * side
    axes = framed_axes(extent + top, extent + top + GAP, "gains", _entries(values, groups))
    largest = np.nanmax(np.abs(values), initial=0.0) or 1.0
    untried = np.where(np.isnan(values) & ~np.eye(len(names), dtype=bool), 0.0, np.nan)
    edges = np.arange(len(names) + 1) * side
    gray = matplotlib.colors.ListedColormap([_NOT_TRIED])
    axes.pcolormesh(edges, top + edges, untried, cmap=gray, **EDGES)
    colors, limits = matplotlib.colormaps[_COLOR_MAP], (-largest, largest)
    draw_heat_map(axes, (0.0, top), values, names, _written, colors, limits)
    start = 0
    for group in groups:
        size = len(group) * side
        if len(group) > 1:
            corner = (start, top + start)
            axes.add_patch(matplotlib.patches.Rectangle(corner, size, size, **_FRAME))
        start += size
    return axes.figure


def _entries(values, groups):
    """Entries of the legend."""

    def patch(color):
        def draw(axes, x, y):
            from matplotlib.patches import Rectangle

            frame = {"facecolor": color} if color else _FRAME
            axes.add_patch(Rectangle((x + SAMPLE - 12, y - 5), 12, 10, **frame))

        return draw

    from matplotlib import colormaps

    colors = colormaps[_COLOR_MAP]
    found = [
        (patch(colors(0.85)), "nats gained by learning together"),
        (patch(colors(0.15)), "nats lost"),
    ]
    if any(len(group) > 1 for group in groups):
        found.append((patch(None), "a group that learns together"))
    if np.isnan(values[~np.eye(len(values), dtype=bool)]).any():
        found.append((patch(_NOT_TRIED), "not tried"))
    return found


def _written(value):
    """A gain as text: whole nats, one decimal near 0."""
    if np.isnan(value):
        return ""
    return f"{value:z.1f}" if abs(value) < 9.95 else f"{value:.0f}"
