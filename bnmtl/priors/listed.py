"""Penalties and distances that are listed by pair of names, read and checked once."""

import itertools
import numbers
from collections.abc import Mapping

import numpy as np
import pandas as pd

__all__ = ["check_penalty", "read_closeness", "read_distances", "read_penalties"]


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
        if isinstance(pair, str) or len(set(map(str, pair))) != 2 or len(pair) != 2:
            raise ValueError(f"`{name}` must have pairs of two different names, got {pair!r}.")
        key = frozenset(map(str, pair))
        check_penalty(penalty, f"`{name}` of {pair!r}")
        if penalties.setdefault(key, penalty) != penalty:
            raise ValueError(
                f"`{name}` must give every pair one value, got {penalties[key]} and {penalty} for "
                f"{pair!r}."
            )
    return penalties


class _Closeness(dict):
    """Median distance over distance by unordered pair of tasks, read and checked."""


def read_closeness(table):
    """What closer tasks share more, by unordered pair, from a table of dissimilarities."""
    if isinstance(table, _Closeness):
        return table
    if table is None:
        return _Closeness()
    table = read_distances(table, "task_distance")
    labels, values = list(table.index), table.to_numpy()
    pairs = list(itertools.combinations(range(len(labels)), 2))
    distances = np.array([(values[i, j] + values[j, i]) / 2 for i, j in pairs])
    median = float(np.median(distances)) if pairs else 0.0
    # Tasks that look alike by chance must not be forced to agree.
    closeness = median / np.maximum(distances, median / 10) if median > 0 else [1.0] * len(pairs)
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
    try:
        values = table.to_numpy(dtype=float)
    except (TypeError, ValueError):
        values = np.full(table.shape, np.nan)
    if not np.isfinite(values).all():
        raise ValueError(f"`{name}` must hold finite numbers; fill what is missing.")
    return pd.DataFrame(values, index=rows, columns=columns)[rows]


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
