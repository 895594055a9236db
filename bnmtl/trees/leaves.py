"""Class counts of leaves: smoothed, and without the case that asks."""

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, check_number


def check_smoothing(smoothing):
    """Raise unless a value is None, "laplace" or a number above 0."""
    if isinstance(smoothing, str) and smoothing != "laplace":
        raise InputError("smoothing", 'must be None, "laplace" or a number above 0', smoothing)
    if not isinstance(smoothing, str) and smoothing is not None:
        check_number("smoothing", smoothing, above=0, remedies="None does not smooth")


def check_numbers(X):
    """Raise if a column of a frame holds something else than numbers."""
    for name, column in X.items() if isinstance(X, pd.DataFrame) else ():
        numbers = pd.to_numeric(column, errors="coerce")
        others = column[numbers.isna() & column.notna()]
        if len(others):
            rule, remedies = "must hold numbers", "encode its values, by `OneHotEncoder` say"
            raise InputError("X", rule, others.iloc[0], remedies=remedies, column=str(name))


def smoothed(counts, smoothing, prior):
    """Probabilities from class counts.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (..., n_classes)
    smoothing : None, "laplace" or float
        As in `ProbabilityTree`.
    prior : numpy.ndarray of float, shape (n_classes,)

    Returns
    -------
    numpy.ndarray of float, of the shape of ``counts``
        NaN where nothing is counted and nothing smoothed.
    """
    if smoothing is None:
        m = 0.0
    elif smoothing == "laplace":
        m, prior = counts.shape[-1], 1 / counts.shape[-1]
    else:
        m = smoothing
    total = counts.sum(axis=-1, keepdims=True) + m
    return np.divide(counts + m * prior, total, out=np.full(counts.shape, np.nan), where=total > 0)


def leaf_counts(leaves, codes, weights, n_nodes, n_classes):
    """Weighted class counts of each node of a tree in which cases end.

    Parameters
    ----------
    leaves, codes : numpy.ndarray of int, shape (n_cases,)
        Leaf and class of each case.
    weights : numpy.ndarray of float, shape (n_cases,)
    n_nodes, n_classes : int

    Returns
    -------
    numpy.ndarray of float, shape (n_nodes, n_classes)
    """
    places = leaves * n_classes + codes
    return np.bincount(places, weights, n_nodes * n_classes).reshape(n_nodes, n_classes)


def without_case(counts, codes, weights):
    """Counts without what the case itself adds.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (n_cases, n_classes)
    codes : numpy.ndarray of int, shape (n_cases,)
    weights : numpy.ndarray of float, shape (n_cases,)
        How much each case counts in the class it belongs to.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases, n_classes)
    """
    found = counts.copy()
    at = np.arange(len(codes)), codes
    rest = found[at] - weights
    # Differences of sums, where nothing is left, are not exactly 0.
    found[at] = np.where(rest > 1e-9 * found[at], rest, 0.0)
    return found


def majority_votes(votes, n_classes):
    """The class with most votes for each case, the first of several.

    Parameters
    ----------
    votes : numpy.ndarray of int, shape (n_trees, n_cases)
        Classes; -1 where a tree does not vote.
    n_classes : int

    Returns
    -------
    numpy.ndarray of int, shape (n_cases,)
        -1 where nobody votes.
    """
    counts = np.stack([(votes == k).sum(axis=0) for k in range(n_classes)])
    return np.where(counts.any(axis=0), counts.argmax(axis=0), -1)
