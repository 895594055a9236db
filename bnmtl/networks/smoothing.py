"""Probability tables from counts: posterior means under a Dirichlet prior or a mixture."""

import numbers

import numpy as np
from scipy.special import softmax

from bnmtl.errors import InputError, InputTypeError
from bnmtl.scores import CONCENTRATIONS
from bnmtl.scores.decomposable import log_rising

_BLOCK = 2**16  # rows of a table that are smoothed at a time


def check_size(name, size):
    """Raise unless a sample size is "auto" or a number of 0 or more."""
    if isinstance(size, str) and size == "auto":
        return
    is_number = isinstance(size, numbers.Real) and not isinstance(size, bool)
    if not is_number or not 0 <= size < np.inf:
        rule = 'must be "auto" or a number of 0 or more'
        remedies = '"auto" learns the smoothing'
        raise (InputError if is_number else InputTypeError)(name, rule, size, remedies=remedies)


def posterior_mean(counts, size):
    """The posterior mean of a probability table given counts.

    Parameters
    ----------
    counts : int array of shape (..., r)
        Rows of each configuration of the parents and state of the child.
    size : float or "auto"
        A number alpha is spread evenly: (n + alpha / (q r)) / (N + alpha / q). "auto" averages
        (n + c) / (N + r c) over the concentrations c of `MixedDirichlet`, each weighted by the
        evidence of the whole table.

    Returns
    -------
    float array of the same shape
        Sums to 1 along the last axis; equal probabilities for rows without counts or prior.
    """
    n_states = counts.shape[-1]
    if size == "auto":
        table = np.empty(counts.shape)
        weights = softmax(log_evidences(counts))
        # By blocks, because tables may be large.
        rows, all_counts = table.reshape(-1, n_states), counts.reshape(-1, n_states)
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            rows[block] = _averaged(all_counts[block], weights)
        return table
    totals = counts.sum(axis=-1, keepdims=True)
    a_j = size * n_states / counts.size
    if a_j > 0:
        return (counts + a_j / n_states) / (totals + a_j)
    uniform = np.full(counts.shape, 1 / n_states)
    return np.divide(counts, totals, out=uniform, where=totals > 0)


def _averaged(counts, weights):
    """Posterior means of some rows, averaged over the concentrations."""
    n_states, totals = counts.shape[-1], counts.sum(axis=-1, keepdims=True)
    rows = np.zeros(counts.shape)
    for weight, c in zip(weights, CONCENTRATIONS, strict=True):
        part = counts + c
        part /= totals + n_states * c
        part *= weight
        rows += part
    return rows / rows.sum(axis=-1, keepdims=True)


def log_evidences(counts):
    """Log evidence of the counts of a whole table under each concentration."""
    n_states, totals = counts.shape[-1], counts.sum(axis=-1)
    cells, rows = counts[counts > 0], totals[totals > 0]
    c = np.array(CONCENTRATIONS)[:, None]
    return log_rising(c, cells).sum(axis=1) - log_rising(n_states * c, rows).sum(axis=1)
