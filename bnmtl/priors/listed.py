"""Penalties and distances that are listed by pair of names, read and checked once."""

import itertools
import math
import numbers
from collections.abc import Mapping

import numpy as np
import pandas as pd

__all__ = ["check_pair", "check_penalty", "read_closeness", "read_distances", "read_penalties"]

_ROUNDING = 1e-9  # numbers nearer to 0 are taken for it


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
        raise TypeError(
            f"`{name}` must be a mapping {{(a, b): penalty}} or a symmetric DataFrame, got "
            f"{listed!r}."
        )
    penalties = _Penalties()
    for pair, penalty in cells:
        check_pair(pair, f"`{name}`")
        key = frozenset(map(str, pair))
        check_penalty(penalty, f"`{name}` of {pair!r}")
        if penalties.setdefault(key, penalty) != penalty:
            raise ValueError(
                f"`{name}` must give every pair one value, got {penalties[key]} and {penalty} for "
                f"{pair!r}."
            )
    return penalties


def check_pair(pair, what):
    """Raise unless it is a pair of two different names."""
    is_pair = hasattr(pair, "__len__") and not isinstance(pair, str | bytes) and len(pair) == 2
    if not is_pair or len(set(map(str, pair))) != 2:
        raise ValueError(f"{what} must have pairs of two different names, got {pair!r}.")


class _Closeness(dict):
    """Median distance over distance by unordered pair of tasks, read and checked."""


def read_closeness(table):
    """What closer tasks share more, by unordered pair, from a table of dissimilarities."""
    if isinstance(table, _Closeness):
        return table
    if table is None:
        return _Closeness()
    table = read_distances(table, "task_distance")
    labels, values = list(table.index), np.maximum(table.to_numpy(), 0.0)
    pairs = list(itertools.combinations(range(len(labels)), 2))
    distances = np.array([(values[i, j] + values[j, i]) / 2 for i, j in pairs])
    closeness = np.ones(len(pairs))
    # Where most tasks are alike, the median of all distances would be 0 and tell nothing apart.
    if (distances > 0).any():
        median = float(np.median(distances[distances > 0]))
        # Tasks that look alike by chance must not be forced to agree.
        closeness = median / np.maximum(distances, median / 10)
    return _Closeness(
        (frozenset((labels[i], labels[j])), float(one))
        for (i, j), one in zip(pairs, closeness, strict=True)
    )


def read_distances(table, name):
    """A table of dissimilarities of tasks, checked: strings as labels, rows ordered as columns."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"`{name}` must be a square DataFrame with a row and a column a task, got "
            f"{type(table).__name__}; `bnmtl.relatedness.direct` makes one."
        )
    rows, columns = ([str(label) for label in labels] for labels in (table.index, table.columns))
    if len(set(rows)) < len(rows) or sorted(rows) != sorted(columns):
        raise ValueError(
            f"`{name}` must have one row and one column a task, got the rows {', '.join(rows)} and "
            f"the columns {', '.join(columns)}."
        )
    cells = table.to_numpy(dtype=object)
    values = np.array([_number(cell) for cell in cells.flat], dtype=float).reshape(cells.shape)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"`{name}` must hold finite numbers; row `{rows[row]}`, column `{columns[column]}` is "
            f"{cells[row, column]!r}: fill it, or leave out tasks that were not compared."
        )
    table = pd.DataFrame(values, index=rows, columns=columns)[rows]
    for task, own in zip(rows, np.diagonal(table), strict=True):
        if abs(own) > _ROUNDING:
            raise ValueError(
                f"`{name}` must be 0 on the diagonal; it is {own:g} for task `{task}`: turn "
                "similarities into dissimilarities first."
            )
    return table


def _number(cell):
    """A cell as a float; nan for text and whatever else is no number."""
    try:
        return math.nan if isinstance(cell, str | bytes) else float(cell)
    except (TypeError, ValueError):
        return math.nan


def _cells(table, name):
    """Pairs and penalties of the upper triangle of a symmetric DataFrame."""
    values = table.to_numpy()
    labels = [str(label) for label in table.index]
    if labels != [str(label) for label in table.columns] or not np.array_equal(values, values.T):
        raise ValueError(
            f"`{name}` must be a symmetric table with the same names as rows and columns, got one "
            f"of shape {table.shape}; a missing value is not symmetric either."
        )
    for i, j in itertools.combinations(range(len(labels)), 2):
        yield (labels[i], labels[j]), values[i, j].item()


def check_penalty(penalty, name):
    if not isinstance(penalty, numbers.Real) or not 0 <= penalty <= 1:
        raise ValueError(
            f"{name} must be between 0 (independent) and 1 (identical structures), got {penalty!r}."
        )
