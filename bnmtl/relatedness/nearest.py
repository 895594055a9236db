"""Tasks nearest to a principal one: their order, ties, and the largest gap."""

import numpy as np

ROUNDING = 1e-9  # smaller differences are rounding errors


def nearest_first(table, principal):
    """Return the distances to a task, without itself, the nearest first and ties by name.

    Parameters
    ----------
    table : pandas.DataFrame
        Distances, tasks by tasks.
    principal : str

    Returns
    -------
    pandas.Series

    Examples
    --------
    >>> import pandas as pd
    >>> tasks = ["east", "north", "west"]
    >>> table = pd.DataFrame([[0, 2, 3], [1, 0, 3], [1, 2, 0]], index=tasks, columns=tasks)
    >>> nearest_first(table, "west").to_dict()
    {'east': 3, 'north': 3}
    """
    column = table[principal].drop(principal)
    order = sorted(range(len(column)), key=lambda i: (column.iloc[i], str(column.index[i])))
    return column.iloc[order]


def n_nearest(values):
    """Count the sorted values equal to the first one."""
    return int(np.sum(values - values[0] <= ROUNDING * np.abs(values).max()))


def largest_gap(values):
    """Count the sorted values before the largest increase, the first among ties; None if flat.

    Examples
    --------
    >>> largest_gap(np.array([1.0, 2.0, 5.0, 8.0])), largest_gap(np.array([2.0, 2.0]))
    (2, None)
    """
    steps = np.diff(values)
    if not len(steps) or steps.max() <= ROUNDING * values[-1]:
        return None
    return int(np.argmax(steps >= steps.max() - ROUNDING * values[-1])) + 1
