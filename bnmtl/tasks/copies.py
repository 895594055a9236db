"""Detection of duplicated rows that chance does not explain."""

import math

import numpy as np

# Minimum number of distinct rows that are repeated, and minimum share of distinct rows among all
# rows, for equal rows to count as copies.
_FEWEST_COPIED = 5
_FEWEST_DIFFERENT = 1 / 3


def originals(codes, n_states):
    """Rows sorted by their codes, and the number of copies of each.

    If chance makes rows equal, it makes even more rows differ in exactly one variable. If more
    pairs are equal than differ in one variable, or every row occurs two, three or more times, rows
    were copied, for example from overlapping files or a file joined with itself. A few distinct
    rows that cover most possible ones may occur equally often by design.

    Parameters
    ----------
    codes : int array of shape (n_variables, n_rows)
    n_states : sequence of int
        Number of states of each variable.

    Returns
    -------
    order : int array of shape (n_rows,)
    sizes : int array
        The first original and its copies are the first ``sizes[0]`` of ``order``, and so on; all 1
        if rows are not copied.
    """
    order = np.lexsort(codes[::-1])
    ordered = codes[:, order]
    is_first = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))
    sizes = np.diff(np.append(np.flatnonzero(is_first), codes.shape[1]))
    if _are_copies(ordered, sizes, n_states):
        return order, sizes
    return order, np.ones(codes.shape[1], dtype=np.int64)


def _are_copies(codes, sizes, n_states):
    """Whether equal rows are copies."""
    if (sizes > 1).sum() < _FEWEST_COPIED or 2 * len(sizes) > math.prod(map(int, n_states)):
        return False
    if np.gcd.reduce(sizes) > 1:
        return True
    if len(sizes) < _FEWEST_DIFFERENT * codes.shape[1]:
        return False
    return _n_pairs(sizes) > n_differing_in_one(codes, _n_pairs(sizes))


def n_differing_in_one(codes, n_equal):
    """Number of pairs of rows that differ in exactly one variable."""
    rng = np.random.default_rng(0)
    # A sum of random numbers, one for each state of each variable, identifies rows.
    numbers = [rng.integers(-(2**62), 2**62, column.max() + 1)[column] for column in codes]
    whole = np.sum(numbers, axis=0)
    found = 0
    for column in numbers:
        _, sizes = np.unique(whole - column, return_counts=True)
        found += _n_pairs(sizes) - n_equal
    return found


def _n_pairs(sizes):
    """Number of pairs within groups of the given sizes."""
    return int((sizes * (sizes - 1) // 2).sum())
