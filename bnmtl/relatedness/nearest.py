"""Tasks nearest to a principal one: order, ties, the largest gap, and how distances are written."""

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


def writer(values):
    """Choose the number format of dissimilarities in plots, tables and pages.

    The number of decimals gives the largest value three digits; small values that would change by
    more than a twentieth get two significant digits.

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
