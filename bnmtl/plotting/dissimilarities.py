"""Checks and labels of the tables and linkages in plots of dissimilarities."""

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import is_valid_linkage

from bnmtl.errors import InputError, InputTypeError
from bnmtl.plotting.table import shorten
from bnmtl.relatedness.nearest import ROUNDING
from bnmtl.wording import Bare, type_of


def check_table(argument, table):
    """Return a table of dissimilarities as floats with columns in the order of its rows."""
    if not isinstance(table, pd.DataFrame):
        rule = "must be a pandas.DataFrame with the tasks as rows and columns"
        raise InputTypeError(argument, rule, type_of(table))
    rows, columns = table.shape
    if rows != columns:
        rule = "must be square, one row and one column per task"
        found = "it has {rows:row} and {columns:column}"
        raise InputError(argument, rule, found=found, rows=rows, columns=columns)
    table = table.set_axis(table.index.map(str)).set_axis(table.columns.map(str), axis="columns")
    for axis in (table.index, table.columns):
        check_tasks(argument, list(axis))
    differing = [one for one in table.index if one not in table.columns]
    if differing:
        rule = "must have the same tasks as rows and as columns"
        found = "no column is named {differing}"
        raise InputError(argument, rule, found=found, differing=differing)
    return _check_values(argument, table[list(table.index)])


def check_tasks(argument, tasks, remedies=()):
    """Raise unless it names at least two distinct tasks."""
    if len(tasks) < 2:
        raise InputError(argument, "must hold at least two tasks", len(tasks))
    repeated = [name for i, name in enumerate(tasks) if name in tasks[:i]]
    if repeated:
        rule, found = "must name each task once", "{repeated} is repeated"
        raise InputError(argument, rule, found=found, remedies=remedies, repeated=str(repeated[0]))


def _check_values(argument, table):
    for task, dtype in table.dtypes.items():
        if not pd.api.types.is_numeric_dtype(dtype):
            rule, remedy = "must hold numbers only", "convert numbers with `.astype(float)`"
            raise InputTypeError(argument, rule, Bare(dtype), remedies=remedy, column=task)
    values = table.to_numpy(dtype=float, na_value=np.nan)
    rule, remedy = "must hold finite numbers only", "leave out tasks that were not compared"
    broken = ~np.isfinite(values)
    if not broken.any():
        rule, remedy = "must be 0 on the diagonal", "turn similarities into dissimilarities first"
        broken = np.diag(np.abs(np.diag(values)) > ROUNDING)
    for row, column in np.argwhere(broken)[:1]:
        found = "row {row} is {value:g}"
        details = {"row": table.index[row], "value": values[row, column]}
        place = table.columns[column]
        raise InputError(argument, rule, found=found, remedies=remedy, column=place, **details)
    return pd.DataFrame(values, index=table.index, columns=table.columns)


def as_drawn(values):
    """Return the values to draw for a table or a column, and notes about changed values.

    Plots start at 0, but on held-out rows the structure of another task may predict better than a
    task's own, which gives negative values.

    Examples
    --------
    >>> drawn, notes = as_drawn(pd.Series([0.0, -0.2, 0.5]))
    >>> drawn.tolist(), notes
    ([0.0, 0.0, 0.5], ['Numbers below 0 are drawn as 0.'])
    """
    is_below = (values < -ROUNDING).to_numpy().any()
    drawn = values.clip(lower=0.0) + 0.0  # avoid negative zeros
    return drawn, ["Numbers below 0 are drawn as 0."] if is_below else []


def check_label(argument, label):
    """Raise unless it is a valid axis label."""
    if not isinstance(label, str):
        rule = "must be a text that describes the numbers, such as 'edits'"
        raise InputTypeError(argument, rule, type_of(label))


def check_labels(labels, linkage):
    """Return the task names of a linkage."""
    if labels is None:
        rule = "must be a pandas.DataFrame, or a linkage together with {labels}"
        raise InputTypeError("linkage_or_table", rule, type_of(linkage), remedies="give {labels}")
    if isinstance(labels, (str, set, frozenset)) or not np.iterable(labels):
        rule = "must list the names of the linkage's tasks in the order that it counts them"
        raise InputTypeError("labels", rule, type_of(labels))
    labels = list(labels)
    check_tasks("labels", labels, "of a series with the tasks' clusters, give the index")
    return labels


def check_linkage(argument, given, n_tasks):
    """Return a linkage as an array, or raise if it is not a linkage of that many tasks."""
    try:
        tree = np.array(given, dtype=float)
    except (TypeError, ValueError):
        tree = np.empty(0)
    if tree.shape != (n_tasks - 1, 4):
        rule = "must be a result of `scipy.cluster.hierarchy.linkage` for {n} tasks, an array of "
        shape = {"n": n_tasks, "shape": (n_tasks - 1, 4)}
        raise InputError(argument, rule + "shape {shape!s}", tree.shape, **shape)
    wrong = [height for height in tree[:, 2].tolist() if not 0 <= height < np.inf]
    if wrong:
        rule = "must have heights of at least 0 in its third column"
        raise InputError(argument, rule, wrong[0], remedies="merge dissimilarities of at least 0")
    if not is_valid_linkage(tree):
        rule = "must merge every task and group once, as `scipy.cluster.hierarchy.linkage` does"
        raise InputError(argument, rule, found="this one does not")
    return tree


def is_symmetric(values):
    """Whether both directions are equal up to rounding."""
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
