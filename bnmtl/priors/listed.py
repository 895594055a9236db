"""Penalties and distances listed by pair of names, read and checked once."""

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, check_number
from bnmtl.wording import type_of

_ROUNDING = 1e-9  # numbers closer to 0 count as 0


class _Penalties(dict):
    """Penalties by unordered pair of names, read and checked."""


def read_penalties(listed, name):
    """Penalties by unordered pair, from a mapping {(a, b): p} or a symmetric DataFrame."""
    if isinstance(listed, _Penalties):
        return listed
    if listed is None:
        return _Penalties()
    if isinstance(listed, pd.DataFrame):
        cells = _cells(listed, name)
    elif isinstance(listed, Mapping):
        cells = listed.items()
    else:
        rule = "must be a mapping {{(a, b): penalty}} or a symmetric DataFrame"
        raise InputTypeError(name, rule, listed)
    penalties = _Penalties()
    for pair, penalty in cells:
        check_pair(name, pair)
        key = frozenset(map(str, pair))
        check_penalty(f"{name}[{pair!r}]", penalty)
        if penalties.setdefault(key, penalty) != penalty:
            rule, found = "must give every pair one value", "{pair!s} has {first} and {second}"
            parts = {"pair": pair, "first": penalties[key], "second": penalty}
            raise InputError(name, rule, found=found, **parts)
    return penalties


def check_pair(argument, pair):
    """Raise unless it is a pair of two different names."""
    is_pair = hasattr(pair, "__len__") and not isinstance(pair, str | bytes) and len(pair) == 2
    if not is_pair or len(set(map(str, pair))) != 2:
        raise InputError(argument, "must have pairs of two different names", pair)


class _Closeness(dict):
    """Median distance over distance by unordered pair of tasks, read and checked."""


def read_closeness(table):
    """Median over distance by unordered pair, from a table of dissimilarities."""
    if isinstance(table, _Closeness):
        return table
    if table is None:
        return _Closeness()
    table = read_distances(table, "task_distance")
    labels, values = list(table.index), np.maximum(table.to_numpy(), 0.0)
    pairs = list(itertools.combinations(range(len(labels)), 2))
    distances = np.array([(values[i, j] + values[j, i]) / 2 for i, j in pairs])
    closeness = np.ones(len(pairs))
    # If most tasks are alike, the median of all distances would be 0.
    if (distances > 0).any():
        median = float(np.median(distances[distances > 0]))
        # Tasks that look alike by chance must not be forced to agree completely.
        closeness = median / np.maximum(distances, median / 10)
    return _Closeness(
        (frozenset((labels[i], labels[j])), float(one))
        for (i, j), one in zip(pairs, closeness, strict=True)
    )


def read_distances(table, name):
    """A checked table of dissimilarities of tasks: strings as labels, rows ordered as columns."""
    if not isinstance(table, pd.DataFrame):
        rule = "must be a square DataFrame with a row and a column for each task"
        remedy = "`bnmtl.relatedness.direct` makes one"
        raise InputTypeError(name, rule, type_of(table), remedies=remedy)
    rows, columns = ([str(label) for label in labels] for labels in (table.index, table.columns))
    if len(set(rows)) < len(rows) or sorted(rows) != sorted(columns):
        rule = "must have one row and one column for each task"
        found = "the rows are {rows}, the columns {columns}"
        raise InputError(name, rule, found=found, rows=rows, columns=columns)
    cells = table.to_numpy(dtype=object)
    values = np.array([_number(cell) for cell in cells.flat], dtype=float).reshape(cells.shape)
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        rule, found = "must hold finite numbers", "row {row}, column {other} is {cell!r}"
        remedies = "fill it", "leave out tasks that were not compared"
        parts = {"row": rows[i], "other": columns[j], "cell": cells[i, j]}
        raise InputError(name, rule, found=found, remedies=remedies, **parts)
    table = pd.DataFrame(values, index=rows, columns=columns)[rows]
    for task, distance in zip(rows, np.diagonal(table), strict=True):
        if abs(distance) > _ROUNDING:
            rule, found = "must be 0 on the diagonal", "it is {distance:g} for task {label}"
            remedy = "turn similarities into dissimilarities first"
            raise InputError(
                name, rule, found=found, remedies=remedy, distance=distance, label=task
            )
    return table


def _number(cell):
    """A cell as a float; nan if it is not a number."""
    try:
        return math.nan if isinstance(cell, str | bytes) else float(cell)
    except (TypeError, ValueError):
        return math.nan


def _cells(table, name):
    """Pairs and penalties of the upper triangle of a symmetric DataFrame."""
    values = table.to_numpy()
    labels = [str(label) for label in table.index]
    if labels != [str(label) for label in table.columns] or not np.array_equal(values, values.T):
        rule = "must be a symmetric table with the same names as rows and columns"
        found, remedy = "its shape is {shape!s}", "a missing value is not symmetric either"
        raise InputError(name, rule, found=found, remedies=remedy, shape=table.shape)
    for i, j in itertools.combinations(range(len(labels)), 2):
        yield (labels[i], labels[j]), values[i, j].item()


def check_penalty(argument, penalty):
    """Raise InputError or InputTypeError unless it is a number from 0 to 1."""
    remedy = "0 learns each task alone, 1 forces identical structures"
    check_number(argument, penalty, least=0, most=1, remedies=remedy)
