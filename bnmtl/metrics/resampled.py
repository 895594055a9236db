"""Standard errors and tests over rounds whose training sets overlap."""

import numpy as np
from scipy import special, stats


def resampled_error(values, ratio, weights=None):
    """Standard error of a mean over rounds on parts of the same rows.

    The variance of the mean is (1 / J + n2 / n1) times that of the J values; it would be 1 / J
    times if they were independent.

    Parameters
    ----------
    values : array-like
        One per round.
    ratio : float
        Number of test rows per training row, n2 / n1.
    weights : array-like, default=None
        Of the rounds in the mean, such as their numbers of test rows.

    Returns
    -------
    float

    References
    ----------
    Nadeau & Bengio (2003), "Inference for the generalization error", Machine Learning 52, the
    corrected resampled t-test.

    Examples
    --------
    >>> resampled_error([0.0, 1.0], ratio=0.5)
    0.7071067811865476
    """
    values = np.asarray(values, dtype=float)
    if not vary(values):
        return 0.0
    squares = (values - np.average(values, weights=weights)) ** 2
    variance = np.average(squares, weights=weights) * len(values) / (len(values) - 1)
    return float(np.sqrt((1 / len(values) + ratio) * variance))


def vary(values):
    """Whether numbers differ by more than rounding.

    Parameters
    ----------
    values : numpy.ndarray of float

    Returns
    -------
    bool
    """
    return bool(np.ptp(values) > max(1e-12, 1e-9 * np.abs(values).max()))


def resampled_p(differences, ratio, weights=None):
    """Two-sided p value of the t-test with `resampled_error`.

    Parameters
    ----------
    differences : array-like
        One per round.
    ratio : float
    weights : array-like, default=None

    Returns
    -------
    float
        1 for one round or without differences, NaN if all are the same other number, whose variance
        cannot be estimated.
    """
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2 or not differences.any():
        return 1.0
    error = resampled_error(differences, ratio, weights)
    if error == 0:
        return np.nan
    mean = abs(np.average(differences, weights=weights))
    # scipy.stats checks its arguments for much longer.
    return float(2 * special.stdtr(len(differences) - 1, -mean / error))


def interval_width(values, ratio, confidence, weights=None):
    """Half the width of the interval of a mean, by `resampled_error`.

    Parameters
    ----------
    values : array-like
        One per round, two or more.
    ratio : float
    confidence : float
    weights : array-like, default=None

    Returns
    -------
    float
    """
    quantile = stats.t.ppf((1 + confidence) / 2, len(values) - 1)
    return float(quantile * resampled_error(values, ratio, weights))
