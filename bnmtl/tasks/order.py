"""Order of rows: whether neighboring rows of tasks are more alike than by chance."""

import numpy as np

# Standard deviations above the mean of a random order; fewer than 1 % of shuffled tables are above.
THRESHOLD = 3.5
# Columns are compared with each other, so tables with more states use some of the columns.
_MOST_STATES = 2000


def order_score(tasks):
    """Alikeness of neighboring rows over all tasks, in standard deviations of a random order.

    The statistic is the number of columns with equal states in a row and the next one, summed over
    rows and tasks. Its mean and variance over all orders of the rows of each task are exact; rows
    of different tasks are independent.

    Parameters
    ----------
    tasks : iterable of bnmtl.tasks.Task

    Returns
    -------
    float
        About 0 in a random order, large for series and sorted rows; 0 if all orders are the same.
    """
    excess, variance = 0.0, 0.0
    for task in tasks:
        if task.n_rows < 4:
            continue
        codes, arities = _used(task)
        if not len(codes):
            continue
        mean, of_task = _moments(codes, arities)
        matches = np.count_nonzero(codes[:, 1:] == codes[:, :-1])
        excess += matches - mean
        variance += of_task
    return excess / np.sqrt(variance) if variance > 1e-9 else 0.0


def _used(task):
    """Codes and numbers of states of the columns that vary, at most `_MOST_STATES` in all."""
    varies = [at for at, name in enumerate(task.variables) if name not in task.constant]
    arities = task.arities[varies]
    kept = np.cumsum(arities) <= max(_MOST_STATES, int(arities[:1].sum()))
    return task.codes[varies][kept], arities[kept]


def _moments(codes, arities):
    """Mean and variance of the number of matches of neighbors over all orders of the rows.

    The number of columns in which two rows agree is a symmetric matrix A with a diagonal of 0; the
    statistic is its sum along a path through all rows.
    """
    n_columns, n = codes.shape
    begins = np.concatenate([[0], np.cumsum(arities)[:-1]])
    indicators = np.zeros((n, int(arities.sum())), np.float32)
    indicators[np.arange(n)[:, None], codes.T + begins] = 1.0
    counts = indicators.sum(axis=0, dtype=float)
    rows = (indicators @ counts) - n_columns
    total, squares = float(rows.sum()), float((rows**2).sum())
    together = (indicators.T @ indicators).astype(float)
    same = float((together**2).sum()) - n * n_columns**2
    pairs = n * (n - 1)
    mean = (n - 1) * total / pairs
    of_pair = same / pairs
    of_neighbors = (squares - same) / (pairs * (n - 2))
    of_others = (total**2 - 4 * squares + 2 * same) / (pairs * (n - 2) * (n - 3))
    second = (n - 1) * of_pair + 2 * (n - 2) * of_neighbors + (n - 2) * (n - 3) * of_others
    return mean, max(second - mean**2, 0.0)
