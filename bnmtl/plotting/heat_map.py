"""Heat maps of tasks by tasks: cells with their values, and names on two sides."""

import numpy as np

from bnmtl.plotting.drawing import draw_text, ink_on
from bnmtl.plotting.layout import text_width

GAP = 6.0  # between a mark and its text, in points
EDGES = {"edgecolor": "white", "linewidth": 0.8}
_MOST_WRITTEN = 20  # most tasks for which the cells contain their values
_BARE_CELL = 12.0  # side of a cell without its value


def cell_side(values, write):
    """The side of a cell in points; large enough for the values if they are written.

    Parameters
    ----------
    values : float array of shape (k, k)
    write : callable (value) -> str
    """
    if len(values) > _MOST_WRITTEN:
        return _BARE_CELL
    return max(18.0, *(text_width(write(value), 7) + 5 for value in values.flat))


def draw_heat_map(axes, corner, values, names, write, colors, limits):
    """Draw the cells, the names of the rows to the right, and those of the columns above.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    corner : (float, float)
        Left and top of the cells, in points.
    values : float array of shape (k, k)
        No cell is drawn where it is nan.
    names : list of str
    write : callable (value) -> str
    colors : matplotlib.colors.Colormap
    limits : (float, float)
        Values of the first and the last color.
    """
    side, (left, top), (low, high) = cell_side(values, write), corner, limits
    edges = np.arange(len(names) + 1) * side
    x, y = left + edges[:-1] + side / 2, top + edges[:-1] + side / 2
    for name, at in zip(names, y, strict=True):
        draw_text(axes, left + edges[-1] + GAP, at, name)
    for name, at in zip(names, x, strict=True):
        draw_text(axes, at, top - GAP, name, rotation=90)
    axes.pcolormesh(left + edges, top + edges, values, cmap=colors, vmin=low, vmax=high, **EDGES)
    if len(values) > _MOST_WRITTEN:
        return
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            style = {"ha": "center", "fontsize": 7}
            style["color"] = ink_on(colors((value - low) / (high - low)))
            draw_text(axes, x[column], y[row], write(value), **style)
