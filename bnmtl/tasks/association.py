"""The sign of the association of two ordered variables: Kendall's tau-b."""

import math

import numpy as np


def tau_b(counts):
    """Kendall's tau-b of two ordered variables, and its standard error if they are independent.

    For C concordant and D discordant pairs of rows, and T_x and T_y pairs tied in x and in y, of N
    = n (n - 1) / 2 pairs,

        tau_b = (C - D) / sqrt((N - T_x) (N - T_y)).

    Given the frequency of each state, the denominator is fixed, and the variance of C - D over all
    permutations of one variable is v / 18 + a b / (2 n (n - 1)) + c d / (9 n (n - 1) (n - 2)) where
    v = n (n - 1) (2 n + 5) less the same sum over the counts of x and of y, a and b are the sums of
    t (t - 1) over the counts t of x and of y, c and d those of t (t - 1) (t - 2).

    Parameters
    ----------
    counts : int array of shape (n_states_x, n_states_y)
        Number of rows of each pair of states, both from low to high.

    Returns
    -------
    tau, error : float
        Both are nan if a variable is constant.

    References
    ----------
    M. G. Kendall (1970), "Rank correlation methods", 4th edition, chapters 3 to 5.

    Examples
    --------
    >>> tau, error = tau_b(np.array([[4, 1], [1, 4]]))
    >>> round(tau, 3), round(error, 3)
    (0.6, 0.333)
    """
    # Python integers do not overflow at fourth powers of the number of rows.
    table = [[int(count) for count in row] for row in np.asarray(counts)]
    of_x, of_y = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    n = sum(of_x)
    untied_x, untied_y = (
        n * (n - 1) - sum(t * (t - 1) for t in counts_of) for counts_of in (of_x, of_y)
    )
    if not untied_x or not untied_y:
        return math.nan, math.nan
    denominator = math.sqrt(untied_x * untied_y) / 2
    return _excess(table) / denominator, math.sqrt(_variance(n, of_x, of_y)) / denominator


def _excess(table):
    """Concordant minus discordant pairs of rows."""
    total = 0
    # For every cell, the rows above and to the left minus those above and to the right.
    above = [0] * len(table[0])
    for row in table:
        left, right = 0, sum(above)
        for count, higher in zip(row, above, strict=True):
            right -= higher
            total += count * (left - right)
            left += higher
        above = [higher + count for higher, count in zip(above, row, strict=True)]
    return total


def _variance(n, of_x, of_y):
    """Variance of `_excess` over permutations."""

    def without_ties(t):
        return t * (t - 1) * (2 * t + 5)

    first = without_ties(n) - sum(map(without_ties, of_x)) - sum(map(without_ties, of_y))
    pairs = math.prod(sum(t * (t - 1) for t in side) for side in (of_x, of_y))
    triples = math.prod(sum(t * (t - 1) * (t - 2) for t in side) for side in (of_x, of_y))
    variance = first / 18 + pairs / (2 * n * (n - 1))
    return variance + (triples / (9 * n * (n - 1) * (n - 2)) if n > 2 else 0.0)


def signed_association(task, first, second):
    """Tau-b of two variables of a task; nan if its sign is not reliable.

    Rows with a missing value in one of the two are ignored.

    Parameters
    ----------
    task : Task
    first, second : str

    Returns
    -------
    float
        Nan if the states of a variable have no order (`Task.ranks`), a variable is constant, or
        tau-b is within one standard error of 0.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl.tasks import encode
    >>> rows = pd.DataFrame({"altitude": [1, 2, 3, 4] * 5, "wren": ["yes", "yes", "no", "no"] * 5})
    >>> round(signed_association(encode(rows)["task1"], "altitude", "wren"), 3)
    -0.816
    """
    ranks = [task.ranks.get(variable) for variable in (first, second)]
    if None in ranks:
        return math.nan
    at = [task.index[variable] for variable in (first, second)]
    x, y = (np.array(rank)[task.codes[i]] for rank, i in zip(ranks, at, strict=True))
    known = (x >= 0) & (y >= 0)
    n_x, n_y = (max(rank) + 1 for rank in ranks)
    if not known.any() or not n_x or not n_y:
        return math.nan
    cells = np.bincount(x[known] * n_y + y[known], minlength=n_x * n_y)
    tau, error = tau_b(cells.reshape(n_x, n_y))
    return tau if abs(tau) > error else math.nan
