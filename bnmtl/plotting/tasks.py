"""Plots of distances between tasks: heat map, dendrogram, distances to a principal task."""

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import leaves_list

from bnmtl.errors import InputError, check_whole
from bnmtl.plotting.dissimilarities import (
    as_drawn,
    check_label,
    check_labels,
    check_linkage,
    check_table,
    is_symmetric,
    task_names,
)
from bnmtl.plotting.drawing import COLORS, PAD, SAMPLE, draw_text, framed_axes
from bnmtl.plotting.fonts import warn_of_boxes
from bnmtl.plotting.heat_map import GAP, cell_side, draw_heat_map
from bnmtl.plotting.layout import text_width
from bnmtl.plotting.trees import Scale, average_linkage, cut_height, draw_cut, draw_tree, is_tied
from bnmtl.relatedness.nearest import ROUNDING, largest_gap, nearest_first, writer
from bnmtl.wording import count, type_of

_ROW = 14.0  # height of the row of a task
_AXIS = 30.0  # height of an axis with its ticks and its caption
_SIDE_TREE = 90.0  # width of the dendrogram beside a heat map
_TREE = 260.0  # and of a separate one
_BAR = (150.0, 9.0)  # width and height of the color bar
_LOLLIPOP = 260.0  # length of the longest
_QUIET = "#777777"
_COLOR_MAP = "Blues_r"
_BOTH_WAYS = "Merged by the mean of both directions."
_ALIKE = "All numbers are 0."


def relatedness(dissimilarity, linkage=None, label="dissimilarity"):
    """Plot the distances between all tasks: a heat map ordered by a dendrogram.

    Parameters
    ----------
    dissimilarity : pandas.DataFrame
        Square, with the same tasks as rows and columns, 0 on the diagonal; smaller is closer. It
        need not be symmetric: the row is the task of the structure, the column the task of the
        data. The dendrogram uses the mean of both directions. Numbers below 0 are drawn as 0, with
        a note.
    linkage : array_like of shape (n_tasks - 1, 4), optional
        A linkage as returned by `scipy.cluster.hierarchy.linkage`, over the tasks in the order of
        the rows; its order of leaves is kept. Default: average linkage, with leaves ordered so that
        neighbors are close, independent of the order of the rows.
    label : str, default="dissimilarity"
        Label of the color bar, such as "edits".

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell. For up to 20 tasks the cells contain their values.

    Raises
    ------
    TypeError, ValueError
        If the table is not as described or has fewer than two tasks, the linkage does not match, or
        the label is not a string.

    Examples
    --------
    >>> import pandas as pd
    >>> tasks = ["north", "south", "west"]
    >>> table = pd.DataFrame([[0, 5, 1], [5, 0, 4], [1, 4, 0]], index=tasks, columns=tasks)
    >>> [text.get_text() for text in relatedness(table).axes[0].texts[:3]]
    ['north', 'west', 'south']
    """
    table = check_table("dissimilarity", dissimilarity)
    check_label("label", label)
    notes = []
    if not is_symmetric(table.to_numpy()):
        notes.append("Row: where the structure comes from. Column: whose data.")
        notes += [] if linkage is not None else [_BOTH_WAYS]
    if np.abs(table.to_numpy()).max() <= ROUNDING:
        notes.append(_ALIKE)
    drawn, below = as_drawn(table)
    if linkage is None:
        drawn, tree = average_linkage(drawn)
    else:
        tree = check_linkage("linkage", linkage, len(drawn))
    warn_of_boxes([*map(str, drawn.index), label])
    leaves = leaves_list(tree)
    values = drawn.to_numpy()[np.ix_(leaves, leaves)]
    names = task_names(drawn.index[leaves])
    return _draw_heat_map(values, names, tree, label, notes + below)


def dendrogram(linkage_or_table, labels=None, n_clusters=None):
    """Plot a dendrogram of tasks.

    Parameters
    ----------
    linkage_or_table : pandas.DataFrame or array_like of shape (n_tasks - 1, 4)
        A table of dissimilarities as for `relatedness`, drawn with average linkage and numbers
        below 0 replaced by 0, or a linkage as returned by `scipy.cluster.hierarchy.linkage`, whose
        order of leaves is kept.
    labels : sequence of str, optional
        With a linkage, the names of its tasks in the order of their indices.
    n_clusters : int, optional
        Number of clusters to color, with a line at the cut: the last `n_clusters` - 1 merges are
        undone. Default: no clusters.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot; save it with `savefig`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or there are fewer than two tasks.

    Examples
    --------
    >>> import pandas as pd
    >>> tasks = ["north", "south", "west"]
    >>> table = pd.DataFrame([[0, 5, 1], [5, 0, 4], [1, 4, 0]], index=tasks, columns=tasks)
    >>> [text.get_text() for text in dendrogram(table, n_clusters=2).axes[0].texts[:3]]
    ['north', 'west', 'south']
    >>> from scipy.cluster.hierarchy import linkage
    >>> figure = dendrogram(linkage([[0], [3], [4]]), labels=tasks)
    """
    if isinstance(linkage_or_table, pd.DataFrame):
        if labels is not None:
            rule = "must be left out with a table, which names its tasks itself"
            raise InputError("labels", rule, type_of(labels))
        table = check_table("linkage_or_table", linkage_or_table)
        drawn, below = as_drawn(table)
        drawn, tree = average_linkage(drawn)
        labels = list(drawn.index)
        notes = ([] if is_symmetric(table.to_numpy()) else [_BOTH_WAYS]) + below
    else:
        labels = check_labels(labels, linkage_or_table)
        tree = check_linkage("linkage_or_table", linkage_or_table, len(labels))
        notes = []
    check_whole("n_clusters", n_clusters, 1, len(labels), optional=True)
    warn_of_boxes(map(str, labels))
    names = task_names([labels[leaf] for leaf in leaves_list(tree)])
    return _draw_dendrogram(tree, names, n_clusters, notes)


def distances(dissimilarity, principal, label="dissimilarity"):
    """Plot the distances of the other tasks to the principal one, the closest first.

    The largest gap between one task and the next is marked: the tasks before it are natural
    candidates to learn together with the principal one.

    Parameters
    ----------
    dissimilarity : pandas.DataFrame
        As for `relatedness`. Numbers below 0 are drawn as 0, with a note, but keep their order.
    principal : str
        One of its tasks. The others are ordered by the column of this task, and ties by name.
    label : str, default="dissimilarity"
        Label of the axis, such as "edits".

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot; save it with `savefig`.

    Raises
    ------
    TypeError, ValueError
        If the table is not as described, has fewer than two tasks or not the principal one, or the
        label is not a string.

    References
    ----------
    A. Niculescu-Mizil (2008), "Getting the most out of your data: multitask Bayesian network
    structure learning, predicting good probabilities and ensemble selection", PhD thesis, Cornell
    University, section 2.4.3, figure 2.12.

    Examples
    --------
    >>> import pandas as pd
    >>> tasks = ["east", "north", "south", "west"]
    >>> rows = [[0, 4, 4, 4], [5, 0, 3, 1], [2, 3, 0, 2], [1, 1, 2, 0]]
    >>> figure = distances(pd.DataFrame(rows, index=tasks, columns=tasks), "east")
    >>> [text.get_text() for text in figure.axes[0].texts][-1]
    'largest gap: 3, after 2 tasks'
    """
    table = check_table("dissimilarity", dissimilarity)
    if principal not in list(table.index):
        rule = "must be one of the tasks in {dissimilarity}, {tasks}"
        raise InputError("principal", rule, principal, tasks=list(table.index))
    check_label("label", label)
    warn_of_boxes([*map(str, table.index), label])
    column, below = as_drawn(nearest_first(table, principal))
    n_before = largest_gap(column.to_numpy())
    notes = []
    if n_before is None and len(column) > 1:
        notes.append("All are equally far: there is no gap.")
    if not is_symmetric(table.to_numpy()):
        notes.append("The others' structures on this task's data.")
    principal_name, *names = task_names([principal, *column.index])
    caption = f"{label}, from the others to {principal_name}"
    return _draw_lollipops(column.to_numpy(), names, n_before, caption, notes + below)


def _draw_heat_map(values, names, tree, label, notes):
    from matplotlib import colormaps

    caption, write = f"{label} (smaller: closer)", writer(values)
    side = cell_side(values, write)
    label_width = max(text_width(name, 8) for name in names)
    left, top = _SIDE_TREE, label_width + GAP
    right, bottom = left + len(names) * side, top + len(names) * side
    bar_width = max(_BAR[0] + GAP, text_width(caption, 8))
    width = max(right + GAP + label_width, left + bar_width)
    height = bottom + GAP + _BAR[1] + _AXIS
    axes = framed_axes(width, height, "relatedness", [(None, note) for note in notes])
    limits = (0.0, values.max() or 1.0)
    draw_heat_map(axes, (left, top), values, names, write, colormaps[_COLOR_MAP], limits)
    highest = tree[:, 2].max() or 1.0
    scale = Scale(left - GAP, -(_SIDE_TREE - GAP) / highest)
    draw_tree(axes, tree, scale, top, side)
    _draw_axis(axes, scale, highest, bottom + 4, "merged at")
    _draw_color_bar(axes, values.max(), left, bottom + GAP, caption)
    return axes.figure


def _draw_color_bar(axes, largest, left, top, caption):
    width, height = _BAR
    largest = largest or 1.0
    steps = np.linspace(0, largest, 101)
    scale = Scale(left, width / largest)
    middles = (steps[:-1] + steps[1:]) / 2
    style = {"cmap": _COLOR_MAP, "vmin": 0, "vmax": largest, "edgecolor": "face", "linewidth": 0.2}
    axes.pcolormesh(scale.at(steps), [top, top + height], middles[None, :], **style)
    _draw_axis(axes, scale, largest, top + height + 1, caption)


def _draw_axis(axes, scale, extent, y, caption):
    """Draw an axis from 0 to `extent` with ticks and, at its left end, a caption."""
    from matplotlib.ticker import MaxNLocator

    ends = sorted([scale.at(0), scale.at(extent)])
    axes.plot(ends, [y, y], color=_QUIET, linewidth=0.8)
    n_steps = max(2, int((ends[1] - ends[0]) // 40))
    for tick in MaxNLocator(n_steps, steps=[1, 2, 2.5, 5, 10]).tick_values(0, extent):
        if tick <= extent * (1 + ROUNDING):
            x = scale.at(tick)
            axes.plot([x, x], [y, y + 3], color=_QUIET, linewidth=0.8)
            draw_text(axes, x, y + 9, f"{tick:g}", color=_QUIET, fontsize=7, ha="center")
    draw_text(axes, ends[0], y + 20, caption)


def _draw_dendrogram(tree, names, n_clusters, notes):
    cut = None if n_clusters is None else cut_height(tree, n_clusters)
    extent = max(tree[:, 2].max(), cut or 0.0) or 1.0
    bottom = _ROW * len(names)
    entries = [(None, note) for note in notes]
    if n_clusters is not None:
        text = f"cut into {count(n_clusters, 'cluster')}"
        if is_tied(tree, n_clusters):
            text += ", in one of several equally good ways"
        entries.append((lambda axes, x, y: draw_cut(axes, (x, y), (x + SAMPLE, y)), text))
    width = _TREE + GAP + max(text_width(name, 8) for name in names)
    axes = framed_axes(width, bottom + 4 + _AXIS, "dendrogram", entries)
    for i, name in enumerate(names):
        draw_text(axes, _TREE + GAP, (i + 0.5) * _ROW, name)
    scale = Scale(_TREE, -_TREE / extent)
    draw_tree(axes, tree, scale, 0.0, _ROW, n_clusters)
    _draw_axis(axes, scale, extent, bottom + 4, "dissimilarity at which they are merged")
    if cut is not None:
        draw_cut(axes, (scale.at(cut), -4), (scale.at(cut), bottom + 4))
    return axes.figure


def _draw_lollipops(values, names, n_before, caption, notes):
    """Draw sorted distances, with a row for the gap after the first `n_before`."""
    write = writer(values)
    extent = values[-1] or 1.0
    rank_width = text_width(f"{len(names)}.", 8)
    left = rank_width + max(text_width(name, 8) for name in names) + 2 * GAP
    scale = Scale(left, _LOLLIPOP / extent)
    texts = [(scale.at(value) + GAP, write(value)) for value in values]
    rows = np.arange(len(values), dtype=float)
    if n_before is not None:
        rows[n_before:] += 1
        gap = values[n_before] - values[n_before - 1]
        text = f"largest gap: {write(gap)}, after {count(n_before, 'task')}"
        texts.append((scale.at(values[n_before]) + GAP, text))
    width = max(x + text_width(text, 8) for x, text in [*texts, (left, caption)])
    width = max(width, scale.at(extent) + PAD)
    bottom = _ROW * (rows[-1] + 1)
    axes = framed_axes(width, bottom + 4 + _AXIS, "distances", [(None, note) for note in notes])
    heights = (rows + 0.5) * _ROW
    for i, (value, y, (x, text)) in enumerate(zip(values, heights, texts, strict=False)):
        color = COLORS["all"] if n_before is None or i < n_before else _QUIET
        axes.plot([left, scale.at(value)], [y, y], color=color, linewidth=1.6)
        axes.plot([scale.at(value)], [y], "o", color=color, markersize=5)
        draw_text(axes, rank_width, y, f"{i + 1}.", color=_QUIET, ha="right")
        draw_text(axes, left - GAP, y, names[i], ha="right")
        draw_text(axes, x, y, text)
    _draw_axis(axes, scale, extent, bottom + 4, caption)
    if n_before is not None:
        _draw_gap(axes, scale.at(values[n_before - 1]), heights[n_before] - _ROW, *texts[-1])
    return axes.figure


def _draw_gap(axes, start, y, x, text):
    """Draw a bar with ends from `start` to just before the text at `x`."""
    axes.plot([start, x - GAP], [y, y], "|-", color=COLORS["one"], linewidth=1.2, markersize=7)
    draw_text(axes, x, y, text, color=COLORS["one"])
