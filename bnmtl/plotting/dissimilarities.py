"""What pictures of dissimilarities are made from: tables and linkages, checked and put in words."""

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import is_valid_linkage

from bnmtl.plotting.table import shorten
from bnmtl.wording import listed, type_of

__all__ = [
    "ROUNDING",
    "as_drawn",
    "check_label",
    "check_labels",
    "check_linkage",
    "check_n_clusters",
    "check_table",
    "is_symmetric",
    "largest_gap",
    "n_nearest",
    "nearest_first",
    "task_names",
    "writer",
]

ROUNDING = 1e-9  # differences by less are not real


def check_table(name, table):
    """Return a table of dissimilarities as floats, its columns in the order of its rows."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"`{name}` must be a pandas.DataFrame with the tasks as rows and columns; "
            f"{type_of(table)} was given."
        )
    n_rows, n_columns = table.shape
    if n_rows != n_columns:
        raise ValueError(
            f"`{name}` must be square, one row and one column per task; it has {n_rows} rows and "
            f"{n_columns} columns."
        )
    table = table.set_axis(table.index.map(str)).set_axis(table.columns.map(str), axis="columns")
    for axis in (table.index, table.columns):
        if not axis.is_unique:
            repeated = axis[axis.duplicated()][0]
            raise ValueError(f"`{name}` must hold each task once; `{repeated}` is repeated.")
    differing = [one for one in table.index if one not in table.columns]
    if differing:
        raise ValueError(
            f"`{name}` must have the same tasks as rows and as columns; no column is named "
            f"{listed(differing)}."
        )
    if n_rows < 2:
        raise ValueError(f"`{name}` must hold at least two tasks; it holds {n_rows}.")
    return _check_values(name, table[list(table.index)])


def _check_values(name, table):
    for task, dtype in table.dtypes.items():
        if not pd.api.types.is_numeric_dtype(dtype):
            raise TypeError(
                f"`{name}` must hold numbers only; column `{task}` is of the type {dtype}: "
                "`.astype(float)` makes numbers of what can be."
            )
    values = table.to_numpy(dtype=float, na_value=np.nan)
    diagonal = np.eye(len(values), dtype=bool)
    rules = (
        (~np.isfinite(values), "finite numbers only", "leave out tasks that were not compared"),
        (
            diagonal & (np.abs(values) > ROUNDING),
            "0 on the diagonal",
            "turn similarities into dissimilarities first",
        ),
    )
    for broken, rule, remedy in rules:
        if broken.any():
            row, column = np.argwhere(broken)[0]
            raise ValueError(
                f"`{name}` must hold {rule}; row `{table.index[row]}`, column "
                f"`{table.columns[column]}` is {values[row, column]:g}: {remedy}."
            )
    return pd.DataFrame(values, index=table.index, columns=table.columns)


def as_drawn(values):
    """Return what is drawn of a table or a column, and the notes that say where it differs.

    Pictures start at 0, and on held-out rows another task's structure may do better than a task's
    own.

    Examples
    --------
    >>> drawn, notes = as_drawn(pd.Series([0.0, -0.2, 0.5]))
    >>> drawn.tolist(), notes
    ([0.0, 0.0, 0.5], ['Numbers below 0 are drawn as 0.'])
    """
    is_below = (values < -ROUNDING).to_numpy().any()
    drawn = values.clip(lower=0.0) + 0.0  # a negative 0 becomes a plain one
    return drawn, ["Numbers below 0 are drawn as 0."] if is_below else []


def check_label(label):
    """Raise unless an axis can be labeled with it."""
    if not isinstance(label, str):
        raise TypeError(
            "`label` must be text that says what the numbers are, such as 'edits'; "
            f"{type_of(label)} was given."
        )


def check_labels(labels, linkage):
    """Return the names of a linkage's tasks."""
    if labels is None:
        raise TypeError(
            "`linkage_or_table` must be a pandas.DataFrame, or a linkage together with `labels`; "
            f"{type_of(linkage)} without `labels` was given."
        )
    if isinstance(labels, (str, set, frozenset)) or not np.iterable(labels):
        raise TypeError(
            "`labels` must list the names of the linkage's tasks in the order that it counts "
            f"them; {type_of(labels)} was given."
        )
    labels = list(labels)
    repeated = [name for i, name in enumerate(labels) if name in labels[:i]]
    if repeated:
        raise ValueError(
            f"`labels` must name each task once; `{repeated[0]}` is repeated: of a series with the "
            "tasks' clusters, give the index."
        )
    if len(labels) < 2:
        raise ValueError(f"`labels` must name at least two tasks; it names {len(labels)}.")
    return labels


def check_linkage(name, given, n_tasks):
    """Return a linkage as an array, or raise unless it is one over that many tasks."""
    try:
        tree = np.array(given, dtype=float)
    except (TypeError, ValueError):
        tree = np.empty(0)
    if tree.shape != (n_tasks - 1, 4):
        raise ValueError(
            f"`{name}` must be what `scipy.cluster.hierarchy.linkage` returns for {n_tasks} tasks, "
            f"an array of shape {(n_tasks - 1, 4)}; its shape is {np.shape(tree)}."
        )
    heights = tree[:, 2]
    if not (np.isfinite(heights).all() and (heights >= 0).all()):
        raise ValueError(
            f"`{name}` must have heights of at least 0 in its third column; "
            f"{next(h for h in heights if not (np.isfinite(h) and h >= 0)):g} was given: merge "
            "dissimilarities of at least 0."
        )
    children = tree[:, :2]
    once = np.array_equal(np.sort(children, axis=None), np.arange(2 * n_tasks - 2))
    made = np.arange(n_tasks, 2 * n_tasks - 1)[:, None]
    if not (once and (children < made).all() and is_valid_linkage(tree)):
        raise ValueError(
            f"`{name}` must merge every task and group once, as what "
            "`scipy.cluster.hierarchy.linkage` returns does; this one does not."
        )
    return tree


def check_n_clusters(n_clusters, n_tasks):
    """Raise unless that many tasks can be cut into that many clusters."""
    is_whole = isinstance(n_clusters, (int, np.integer)) and not isinstance(n_clusters, bool)
    if not is_whole or not 1 <= n_clusters <= n_tasks:
        raise ValueError(
            f"`n_clusters` must be None or a whole number from 1 to {n_tasks}, the number of "
            f"tasks; {n_clusters!r} was given."
        )


def is_symmetric(values):
    """Whether both directions are equal but for rounding."""
    return bool(np.abs(values - values.T).max() <= ROUNDING * np.abs(values).max())


def nearest_first(table, principal):
    """Return a task's column of a table without the task itself: the closest first, then by name.

    Examples
    --------
    >>> tasks = ["east", "north", "west"]
    >>> table = pd.DataFrame([[0, 2, 3], [1, 0, 3], [1, 2, 0]], index=tasks, columns=tasks)
    >>> nearest_first(table, "west").to_dict()
    {'east': 3, 'north': 3}
    """
    column = table[principal].drop(principal)
    order = sorted(range(len(column)), key=lambda i: (column.iloc[i], str(column.index[i])))
    return column.iloc[order]


def n_nearest(values):
    """Count the sorted values that are as small as the first one."""
    return int(np.sum(values - values[0] <= ROUNDING * np.abs(values).max()))


def largest_gap(values):
    """Count the sorted values before the largest step up, the first of equal ones; None if flat."""
    steps = np.diff(values)
    if not len(steps) or steps.max() <= ROUNDING * values[-1]:
        return None
    return int(np.argmax(steps >= steps.max() - ROUNDING * values[-1])) + 1


def task_names(tasks):
    """Cut long names short, but so that they still differ."""
    names = []
    for task in tasks:
        short = shorten(task) or "(blank)"
        number, name = 1, short
        while name in names:
            number += 1
            name = f"{short} ({number})"
        names.append(name)
    return names


def writer(values):
    """Choose how the values of a picture are written.

    With as many decimals as make three digits of the largest; small values, which that changes by
    more than a twentieth, with two digits of their own.

    Examples
    --------
    >>> values = [0.001, 0.0012, 0.5, 0.5001, 100]
    >>> [writer(values)(value) for value in values]
    ['0.001', '0.0012', '0.5', '0.5', '100']
    """
    largest = np.max(np.abs(values))
    if np.array_equal(values, np.round(values)) and largest < 1e6:
        return lambda value: f"{value:z.0f}"
    if not 1e-3 <= largest < 1e6:
        return lambda value: f"{value:z.2g}"
    decimals = max(0, 2 - int(np.floor(np.log10(largest))))

    def write(value):
        if abs(value) <= ROUNDING * largest:
            return "0"
        text = f"{value:.{decimals}f}"
        return text if abs(float(text) - value) <= abs(value) / 20 else f"{value:.2g}"

    return write
