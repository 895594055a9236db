"""Plots of tasks by tasks: heat maps of distances and gains, dendrograms.

Linkages are as in `scipy.cluster.hierarchy`: merge i of n tasks joins the two nodes in the first
two columns into node n + i, at the height in the third.
"""

from collections.abc import Hashable
from functools import partial

import numpy as np
import pandas as pd
from scipy.cluster import hierarchy
from scipy.cluster.hierarchy import leaves_list
from scipy.spatial.distance import squareform

from bnmtl.errors import InputError, InputTypeError, check_whole
from bnmtl.plotting.drawing import (
    COLORS,
    PAD,
    SAMPLE,
    check_label,
    draw_text,
    framed_axes,
    ink_on,
    shorten,
)
from bnmtl.plotting.layout import in_groups, text_width, warn_of_missing_glyphs
from bnmtl.relatedness.measures import ROUNDING, largest_gap, nearest_first, writer
from bnmtl.wording import count, listed, type_of


def _checked_table(argument, table):
    """Return a table of dissimilarities as floats with columns in the order of its rows."""
    if not isinstance(table, pd.DataFrame):
        message = (
            f"must be a pandas.DataFrame with the tasks as rows and columns, got {type_of(table)}"
        )
        raise InputTypeError(message, argument=argument)
    rows, columns = table.shape
    if rows != columns:
        message = (
            f"must be square, one row and one column per task; it has {count(rows, 'row')} and "
            f"{count(columns, 'column')}"
        )
        raise InputError(message, argument=argument)
    table = table.set_axis(table.index.map(str)).set_axis(table.columns.map(str), axis="columns")
    for axis in (table.index, table.columns):
        check_tasks(argument, list(axis))
    differing = [task for task in table.index if task not in table.columns]
    if differing:
        message = (
            "must have the same tasks as rows and as columns; no column is named "
            f"{listed(differing)}"
        )
        raise InputError(message, argument=argument)
    return _finite_values(argument, table[list(table.index)])


def check_tasks(argument, tasks, remedy=None):
    """Raise unless it names at least two distinct tasks."""
    if len(tasks) < 2:
        raise InputError(f"must hold at least two tasks, got {len(tasks)!r}", argument=argument)
    repeated = [name for i, name in enumerate(tasks) if name in tasks[:i]]
    if repeated:
        message = f"must name each task once; `{repeated[0]}` is repeated"
        raise InputError(message, argument=argument, remedy=remedy)


def _finite_values(argument, table):
    """Return the numbers of a table of dissimilarities as floats."""
    for task, dtype in table.dtypes.items():
        if not pd.api.types.is_numeric_dtype(dtype):
            message = f"must hold numbers only, got {dtype}"
            raise InputTypeError(
                message,
                argument=argument,
                column=task,
                remedy="convert numbers with `.astype(float)`",
            )
    values = table.to_numpy(dtype=float, na_value=np.nan)
    rule, remedy = "must hold finite numbers only", "leave out tasks that were not compared"
    broken = ~np.isfinite(values)
    if not broken.any():
        rule, remedy = "must be 0 on the diagonal", "turn similarities into dissimilarities first"
        broken = np.diag(np.abs(np.diag(values)) > ROUNDING)
    for row, column in np.argwhere(broken)[:1]:
        message = f"{rule}; row `{table.index[row]}` is {values[row, column]:g}"
        raise InputError(message, argument=argument, column=table.columns[column], remedy=remedy)
    return pd.DataFrame(values, index=table.index, columns=table.columns)


def _as_drawn(values):
    """Return the values to draw for a table or a column, and notes about changed values.

    Plots start at 0, but on held-out rows the structure of another task may predict better than a
    task's own, which gives negative values.

    Examples
    --------
    >>> drawn, notes = _as_drawn(pd.Series([0.0, -0.2, 0.5]))
    >>> drawn.tolist(), notes
    ([0.0, 0.0, 0.5], ['Numbers below 0 are drawn as 0.'])
    """
    is_below = (values < -ROUNDING).to_numpy().any()
    drawn = values.clip(lower=0.0) + 0.0  # avoid negative zeros
    return drawn, ["Numbers below 0 are drawn as 0."] if is_below else []


def _checked_labels(labels, linkage):
    """Return the task names of a linkage."""
    if labels is None:
        message = (
            "must be a pandas.DataFrame, or a linkage together with `labels`, got "
            f"{type_of(linkage)}"
        )
        raise InputTypeError(
            message, argument="linkage_or_table", options=("labels",), remedy="give `labels`"
        )
    if isinstance(labels, (str, set, frozenset)) or not np.iterable(labels):
        message = (
            "must list the names of the linkage's tasks in the order that it counts them, got "
            f"{type_of(labels)}"
        )
        raise InputTypeError(message, argument="labels")
    labels = list(labels)
    check_tasks("labels", labels, "of a series with the tasks' clusters, give the index")
    return labels


def _checked_linkage(argument, given, n_tasks):
    """Return a linkage as an array, or raise if it is not a linkage of that many tasks."""
    try:
        tree = np.array(given, dtype=float)
    except (TypeError, ValueError):
        tree = np.empty(0)
    if tree.shape != (n_tasks - 1, 4):
        message = (
            f"must be a result of `scipy.cluster.hierarchy.linkage` for {n_tasks} tasks, an array "
            f"of shape {(n_tasks - 1, 4)}, got {tree.shape!r}"
        )
        raise InputError(message, argument=argument)
    wrong = [height for height in tree[:, 2].tolist() if not 0 <= height < np.inf]
    if wrong:
        message = f"must have heights of at least 0 in its third column, got {wrong[0]!r}"
        raise InputError(message, argument=argument, remedy="merge dissimilarities of at least 0")
    if not hierarchy.is_valid_linkage(tree):
        message = (
            "must merge every task and group once, as `scipy.cluster.hierarchy.linkage` does; this "
            "one does not"
        )
        raise InputError(message, argument=argument)
    return tree


def _is_symmetric(table):
    """Whether both directions are equal up to rounding."""
    values = table.to_numpy()
    return bool(np.abs(values - values.T).max() <= ROUNDING * np.abs(values).max())


def task_names(tasks):
    """Shorten long names but keep them distinct."""
    names = []
    for task in tasks:
        short = shorten(task) or "(blank)"
        number, name = 1, short
        while name in names:
            number += 1
            name = f"{short} ({number})"
        names.append(name)
    return names


_GAP = 6.0  # between a mark and its text, in points
_EDGES = {"edgecolor": "white", "linewidth": 0.8}
_MOST_WRITTEN = 20  # most tasks for which the cells contain their values
_BARE_CELL = 12.0  # side of a cell without its value


def _cell_side(values, write):
    """The side of a cell in points; large enough for the values if they are written."""
    if len(values) > _MOST_WRITTEN:
        return _BARE_CELL
    return max(18.0, *(text_width(write(value), 7) + 5 for value in values.flat))


def _draw_cells(axes, corner, values, names, write, colors, limits):
    """Draw the cells, the names of the rows to the right, and those of the columns above.

    The corner is the upper left one; limits are the values of the first and the last color. No cell
    is drawn where a value is nan.
    """
    side, (left, top), (low, high) = _cell_side(values, write), corner, limits
    edges = np.arange(len(names) + 1) * side
    x, y = left + edges[:-1] + side / 2, top + edges[:-1] + side / 2
    for name, at in zip(names, y, strict=True):
        draw_text(axes, left + edges[-1] + _GAP, at, name)
    for name, at in zip(names, x, strict=True):
        draw_text(axes, at, top - _GAP, name, rotation=90)
    axes.pcolormesh(left + edges, top + edges, values, cmap=colors, vmin=low, vmax=high, **_EDGES)
    if len(values) > _MOST_WRITTEN:
        return
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            style = {"ha": "center", "fontsize": 7}
            style["color"] = ink_on(colors((value - low) / (high - low)))
            draw_text(axes, x[column], y[row], write(value), **style)


_GAIN_COLORS = "RdBu"
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
        message = (
            f"must be a pandas.DataFrame such as `group_gains_` of a learner, got {type_of(gains)}"
        )
        raise InputTypeError(message, argument="gains")
    tasks = list(gains.index)
    if tasks != list(gains.columns):
        raise InputError("must have the same tasks as rows and as columns", argument="gains")
    names = list(map(str, tasks))
    check_tasks("gains", names)
    values = _gains_of(gains)
    order, groups = in_groups(dict.fromkeys(names), task_groups)
    warn_of_missing_glyphs(order)
    at = [names.index(name) for name in order]
    drawn = values[np.ix_(at, at)]
    return _draw_gains(drawn, task_names(order), groups if task_groups is not None else [])


def _gains_of(gains):
    """The gains as an array, nan where there is none."""
    values = np.empty(gains.shape)
    for at, task in enumerate(gains.columns):
        try:
            values[:, at] = gains.iloc[:, at].to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):
            raise InputTypeError(
                "must hold numbers only", argument="gains", column=str(task)
            ) from None
    if np.isinf(values).any():
        message = f"must hold finite numbers or nan, got {values[np.isinf(values)][0]!r}"
        raise InputError(message, argument="gains")
    return values


def _draw_gains(values, names, groups):
    import matplotlib

    side = _cell_side(values, _written)
    top = max(text_width(name, 8) for name in names) + _GAP
    extent = len(names) * side
    axes = framed_axes(extent + top, extent + top + _GAP, "gains", _gains_legend(values, groups))
    largest = np.nanmax(np.abs(values), initial=0.0) or 1.0
    untried = np.where(np.isnan(values) & ~np.eye(len(names), dtype=bool), 0.0, np.nan)
    edges = np.arange(len(names) + 1) * side
    gray = matplotlib.colors.ListedColormap([_NOT_TRIED])
    axes.pcolormesh(edges, top + edges, untried, cmap=gray, **_EDGES)
    colors, limits = matplotlib.colormaps[_GAIN_COLORS], (-largest, largest)
    _draw_cells(axes, (0.0, top), values, names, _written, colors, limits)
    start = 0
    for group in groups:
        size = len(group) * side
        if len(group) > 1:
            corner = (start, top + start)
            axes.add_patch(matplotlib.patches.Rectangle(corner, size, size, **_FRAME))
        start += size
    return axes.figure


def _gains_legend(values, groups):
    from matplotlib import colormaps

    colors = colormaps[_GAIN_COLORS]
    found = [
        ({"facecolor": colors(0.85)}, "nats gained by learning together"),
        ({"facecolor": colors(0.15)}, "nats lost"),
    ]
    if any(len(group) > 1 for group in groups):
        found.append((_FRAME, "a group that learns together"))
    if np.isnan(values[~np.eye(len(values), dtype=bool)]).any():
        found.append(({"facecolor": _NOT_TRIED}, "not tried"))
    return [(partial(_draw_patch, style=style), text) for style, text in found]


def _draw_patch(axes, x, y, style):
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x + SAMPLE - 12, y - 5), 12, 10, **style))


def _written(value):
    """A gain as text: whole nats, one decimal near 0."""
    if np.isnan(value):
        return ""
    return f"{value:z.1f}" if abs(value) < 9.95 else f"{value:.0f}"


_TRUNK = "#777777"
# Okabe and Ito's colors except yellow and black; neighboring clusters always differ.
_CLUSTERS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
# Added per position between two names, in units of the largest dissimilarity, so that ties are
# ordered by name; scipy compares in single precision.
_BY_NAME = 1e-6


def _scale(zero, per_unit):
    """A function from a value to its position on the x-axis, in points."""
    return lambda value: zero + per_unit * value


def average_linkage(table):
    """Average linkage of tasks, independent of the order of the rows.

    Parameters
    ----------
    table : pandas.DataFrame
        Dissimilarities; the mean of both directions is used.

    Returns
    -------
    table : pandas.DataFrame
        The table with the tasks sorted by name.
    linkage : numpy.ndarray
        Linkage of these, with leaves ordered so that neighbors are close.

    Examples
    --------
    >>> import pandas as pd
    >>> tasks = ["west", "south", "north"]
    >>> table = pd.DataFrame([[0, 4, 2], [4, 0, 5], [0, 5, 0]], index=tasks, columns=tasks)
    >>> table, linkage = average_linkage(table)
    >>> list(table)
    ['north', 'south', 'west']
    >>> linkage.round(6).tolist()
    [[0.0, 2.0, 1.0, 2.0], [3.0, 1.0, 4.5, 3.0]]
    """
    tasks = sorted(table.index, key=str)
    table = table.loc[tasks, tasks]
    values = table.to_numpy()
    pairs = squareform((values + values.T) / 2, checks=False)
    tree = hierarchy.linkage(pairs, "average")
    places = np.arange(len(tasks), dtype=float)
    offsets = squareform(np.abs(places[:, None] - places))
    tree = hierarchy.optimal_leaf_ordering(tree, pairs + _BY_NAME * (pairs.max() or 1.0) * offsets)
    leaves = leaves_list(tree)
    if leaves[0] > leaves[-1]:  # both orders are equally good
        tree[:, :2] = tree[:, 1::-1]
    return table, tree


def cut_height(tree, n_clusters):
    """Return a height between the last kept and the first undone merge.

    Examples
    --------
    >>> tree = np.array([[0, 1, 2, 2], [2, 3, 8, 3]])
    >>> [cut_height(tree, n_clusters) for n_clusters in (1, 2, 3)]
    [8.4, 5.0, 1.0]
    """
    heights = [0.0, *tree[:, 2].tolist()]
    n_kept = len(tree) + 1 - n_clusters
    if n_clusters == 1:
        return max(heights) * 1.05
    return (heights[n_kept] + heights[n_kept + 1]) / 2


def is_tied(tree, n_clusters):
    """Whether the last kept and the first undone merge have the same height."""
    heights = tree[:, 2]
    n_kept = len(tree) + 1 - n_clusters
    if not 0 < n_kept < len(tree):
        return False
    return bool(heights[n_kept] - heights[n_kept - 1] <= ROUNDING * heights[-1])


def node_clusters(tree, n_clusters):
    """Return the cluster of each node, numbered along the leaves, or None above the cut.

    Examples
    --------
    >>> tree = np.array([[1, 2, 2.0, 2], [3, 0, 6.0, 3]])
    >>> node_clusters(tree, 2)
    [1, 0, 0, 0, None]
    """
    n_tasks = len(tree) + 1
    root_of = list(range(2 * n_tasks - 1))
    for i in reversed(range(n_tasks - n_clusters)):
        for child in tree[i, :2].astype(int):
            root_of[child] = root_of[n_tasks + i]
    numbers = {}
    for leaf in leaves_list(tree):
        numbers.setdefault(root_of[leaf], len(numbers))
    return [numbers.get(root_of[node]) for node in range(2 * n_tasks - 1)]


def _draw_tree(axes, tree, scale, top, pitch, n_clusters=None):
    """Draw a dendrogram with a leaf every `pitch` points from `top`, and colored clusters."""
    n_tasks = len(tree) + 1
    clusters = node_clusters(tree, n_clusters) if n_clusters else [None] * (2 * n_tasks - 1)
    colors = [_TRUNK if k is None else _CLUSTERS[k % len(_CLUSTERS)] for k in clusters]
    y = np.empty(2 * n_tasks - 1)
    y[leaves_list(tree)] = top + (np.arange(n_tasks) + 0.5) * pitch
    x = np.full(2 * n_tasks - 1, scale(0))
    style = {"linewidth": 1.2, "solid_capstyle": "projecting"}
    for node, (left, right, height, _) in enumerate(tree, start=n_tasks):
        left, right = int(left), int(right)
        y[node], x[node] = (y[left] + y[right]) / 2, scale(height)
        for child in (left, right):
            axes.plot([x[child], x[node]], [y[child]] * 2, color=colors[child], **style)
        axes.plot([x[node]] * 2, [y[left], y[right]], color=colors[node], **style)


def _draw_cut(axes, start, end):
    """Draw the line at the cut of a dendrogram, or its sample in a legend."""
    axes.plot(*zip(start, end, strict=True), color=COLORS["one"], linewidth=1.0, dashes=(4, 2.5))


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
    table = _checked_table("dissimilarity", dissimilarity)
    check_label("label", label)
    notes = []
    if not _is_symmetric(table):
        notes.append("Row: where the structure comes from. Column: whose data.")
        notes += [] if linkage is not None else [_BOTH_WAYS]
    if np.abs(table.to_numpy()).max() <= ROUNDING:
        notes.append(_ALIKE)
    drawn, below = _as_drawn(table)
    if linkage is None:
        drawn, tree = average_linkage(drawn)
    else:
        tree = _checked_linkage("linkage", linkage, len(drawn))
    warn_of_missing_glyphs([*map(str, drawn.index), label])
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
            message = (
                "must be left out with a table, which names its tasks itself, got "
                f"{type_of(labels)}"
            )
            raise InputError(message, argument="labels")
        table = _checked_table("linkage_or_table", linkage_or_table)
        drawn, below = _as_drawn(table)
        drawn, tree = average_linkage(drawn)
        labels = list(drawn.index)
        notes = ([] if _is_symmetric(table) else [_BOTH_WAYS]) + below
    else:
        labels = _checked_labels(labels, linkage_or_table)
        tree = _checked_linkage("linkage_or_table", linkage_or_table, len(labels))
        notes = []
    check_whole("n_clusters", n_clusters, 1, len(labels), optional=True)
    warn_of_missing_glyphs(map(str, labels))
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
    table = _checked_table("dissimilarity", dissimilarity)
    if not isinstance(principal, Hashable) or principal not in table.index:
        message = (
            f"must be one of the tasks in `dissimilarity`, {listed(table.index)}, got {principal!r}"
        )
        raise InputError(message, argument="principal", options=("dissimilarity",))
    check_label("label", label)
    warn_of_missing_glyphs([*map(str, table.index), label])
    column, below = _as_drawn(nearest_first(table, principal))
    n_before = largest_gap(column.to_numpy())
    notes = []
    if n_before is None and len(column) > 1:
        notes.append("All are equally far: there is no gap.")
    if not _is_symmetric(table):
        notes.append("The others' structures on this task's data.")
    principal_name, *names = task_names([principal, *column.index])
    caption = f"{label}, from the others to {principal_name}"
    return _draw_lollipops(column.to_numpy(), names, n_before, caption, notes + below)


def _draw_heat_map(values, names, tree, label, notes):
    from matplotlib import colormaps

    caption, write = f"{label} (smaller: closer)", writer(values)
    side = _cell_side(values, write)
    label_width = max(text_width(name, 8) for name in names)
    left, top = _SIDE_TREE, label_width + _GAP
    right, bottom = left + len(names) * side, top + len(names) * side
    bar_width = max(_BAR[0] + _GAP, text_width(caption, 8))
    width = max(right + _GAP + label_width, left + bar_width)
    height = bottom + _GAP + _BAR[1] + _AXIS
    axes = framed_axes(width, height, "relatedness", [(None, note) for note in notes])
    limits = (0.0, values.max() or 1.0)
    _draw_cells(axes, (left, top), values, names, write, colormaps[_COLOR_MAP], limits)
    highest = tree[:, 2].max() or 1.0
    scale = _scale(left - _GAP, -(_SIDE_TREE - _GAP) / highest)
    _draw_tree(axes, tree, scale, top, side)
    _draw_axis(axes, scale, highest, bottom + 4, "merged at")
    _draw_color_bar(axes, values.max(), left, bottom + _GAP, caption)
    return axes.figure


def _draw_color_bar(axes, largest, left, top, caption):
    width, height = _BAR
    largest = largest or 1.0
    steps = np.linspace(0, largest, 101)
    scale = _scale(left, width / largest)
    middles = (steps[:-1] + steps[1:]) / 2
    style = {"cmap": _COLOR_MAP, "vmin": 0, "vmax": largest, "edgecolor": "face", "linewidth": 0.2}
    axes.pcolormesh(scale(steps), [top, top + height], middles[None, :], **style)
    _draw_axis(axes, scale, largest, top + height + 1, caption)


def _draw_axis(axes, scale, extent, y, caption):
    """Draw an axis from 0 to `extent` with ticks and, at its left end, a caption."""
    from matplotlib.ticker import MaxNLocator

    ends = sorted([scale(0), scale(extent)])
    axes.plot(ends, [y, y], color=_QUIET, linewidth=0.8)
    n_steps = max(2, int((ends[1] - ends[0]) // 40))
    for tick in MaxNLocator(n_steps, steps=[1, 2, 2.5, 5, 10]).tick_values(0, extent):
        if tick <= extent * (1 + ROUNDING):
            x = scale(tick)
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
        entries.append((lambda axes, x, y: _draw_cut(axes, (x, y), (x + SAMPLE, y)), text))
    width = _TREE + _GAP + max(text_width(name, 8) for name in names)
    axes = framed_axes(width, bottom + 4 + _AXIS, "dendrogram", entries)
    for i, name in enumerate(names):
        draw_text(axes, _TREE + _GAP, (i + 0.5) * _ROW, name)
    scale = _scale(_TREE, -_TREE / extent)
    _draw_tree(axes, tree, scale, 0.0, _ROW, n_clusters)
    _draw_axis(axes, scale, extent, bottom + 4, "dissimilarity at which they are merged")
    if cut is not None:
        _draw_cut(axes, (scale(cut), -4), (scale(cut), bottom + 4))
    return axes.figure


def _draw_lollipops(values, names, n_before, caption, notes):
    """Draw sorted distances, with a row for the gap after the first `n_before`."""
    write = writer(values)
    extent = values[-1] or 1.0
    rank_width = text_width(f"{len(names)}.", 8)
    left = rank_width + max(text_width(name, 8) for name in names) + 2 * _GAP
    scale = _scale(left, _LOLLIPOP / extent)
    texts = [(scale(value) + _GAP, write(value)) for value in values]
    rows = np.arange(len(values), dtype=float)
    if n_before is not None:
        rows[n_before:] += 1
        gap = values[n_before] - values[n_before - 1]
        text = f"largest gap: {write(gap)}, after {count(n_before, 'task')}"
        texts.append((scale(values[n_before]) + _GAP, text))
    width = max(x + text_width(text, 8) for x, text in [*texts, (left, caption)])
    width = max(width, scale(extent) + PAD)
    bottom = _ROW * (rows[-1] + 1)
    axes = framed_axes(width, bottom + 4 + _AXIS, "distances", [(None, note) for note in notes])
    heights = (rows + 0.5) * _ROW
    for i, (value, y, (x, text)) in enumerate(zip(values, heights, texts, strict=False)):
        color = COLORS["all"] if n_before is None or i < n_before else _QUIET
        axes.plot([left, scale(value)], [y, y], color=color, linewidth=1.6)
        axes.plot([scale(value)], [y], "o", color=color, markersize=5)
        draw_text(axes, rank_width, y, f"{i + 1}.", color=_QUIET, ha="right")
        draw_text(axes, left - _GAP, y, names[i], ha="right")
        draw_text(axes, x, y, text)
    _draw_axis(axes, scale, extent, bottom + 4, caption)
    if n_before is not None:
        y, (x, text), color = heights[n_before] - _ROW, texts[-1], COLORS["one"]
        ends = [scale(values[n_before - 1]), x - _GAP]
        axes.plot(ends, [y, y], "|-", color=color, linewidth=1.2, markersize=7)
        draw_text(axes, x, y, text, color=color)
    return axes.figure
