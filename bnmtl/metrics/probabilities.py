"""Errors of predicted probabilities, and disagreement between the probabilities of models.

Labels are 0 or 1 and predictions probabilities of 1, or labels are classes 0, 1, ... and
predictions have a column for each. A weight is the number of times a case counts.
"""

import numpy as np
from scipy.special import entr

from bnmtl.errors import InputError, check_choice, check_number, check_whole, warn
from bnmtl.metrics.cases import (
    check_distributions,
    checked_cases,
    checked_classes,
    checked_table,
    checked_weights,
)
from bnmtl.wording import Bare

_EPS = float(np.finfo(float).eps)
_MOST_CASES = 1e8  # windows need one number for each


def brier_score(y, p, weights=None):
    """Mean squared difference between labels and probabilities.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        0 and 1, or classes 0, 1, ...
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        For probabilities of class 1 the squared difference of that class; for those of every class
        the sum over classes, as in Melville (2005), which is twice as large for two classes.

    Raises
    ------
    TypeError, ValueError
        For labels that are not classes, probabilities out of range or of every class that do not
        sum to 1 (up to 0.001), and different lengths.

    Examples
    --------
    >>> round(brier_score([1, 0], [0.8, 0.4]), 4)
    0.1
    >>> round(brier_score([1, 0], [[0.2, 0.8], [0.6, 0.4]]), 4)
    0.2
    """
    if np.ndim(p) == 2:
        y, p, weights = checked_classes(y, p, weights)
        squares = ((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1)
        return float(np.average(squares, weights=weights))
    y, p, weights = checked_cases(y, p, weights)
    return float(np.average((y - p) ** 2, weights=weights))


def squared_error(y, p, weights=None):
    """Squared error of the probabilities of all classes, summed over classes, mean over cases.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        0 and 1, or classes 0, 1, ...
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        From 0 to 2. `brier_score` is half of it for probabilities of class 1.

    Raises
    ------
    TypeError, ValueError
        As `brier_score`.

    References
    ----------
    Melville (2005), section 7.3.1.

    Examples
    --------
    >>> round(squared_error([1, 0], [0.8, 0.4]), 4)
    0.2
    """
    of_all = brier_score(y, p, weights)
    return of_all if np.ndim(p) == 2 else 2 * of_all


def root_mean_squared_error(y, p, weights=None):
    """Square root of the `brier_score`.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        0 and 1, or classes 0, 1, ...
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        As `brier_score`.

    References
    ----------
    Niculescu-Mizil (2008), appendix 4.C.

    Examples
    --------
    >>> round(root_mean_squared_error([1, 0], [0.8, 0.4]), 4)
    0.3162
    """
    return float(np.sqrt(brier_score(y, p, weights)))


def cross_entropy(y, p, eps=_EPS, weights=None):
    """Mean negative log probability of the true class, in nats.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        0 and 1, or classes 0, 1, ...
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class.
    eps : float, default=2.2e-16, the machine epsilon
        Probabilities are clipped to [eps, 1 - eps], because a single wrong 0 would make the mean
        infinite; above 0, below 0.5.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        Divide by log(2) for bits.

    Raises
    ------
    TypeError, ValueError
        As `brier_score`, and for an `eps` out of range.

    Warns
    -----
    UserWarning
        With the number of clipped probabilities; each of them costs up to -log(eps) if it is wrong.

    References
    ----------
    Niculescu-Mizil (2008), equation 4.2; its table 4.10 is in bits.

    Examples
    --------
    >>> round(cross_entropy([1, 0], [0.8, 0.4]), 4)
    0.367
    """
    check_number("eps", eps, above=0, below=0.5)
    if np.ndim(p) == 2:
        y, p, weights = checked_classes(y, p, weights)
        p = p[np.arange(len(y)), y]
        _warn_of_clipped(p < eps, eps)
        return float(np.average(-np.log(np.clip(p, eps, 1 - eps)), weights=weights))
    y, p, weights = checked_cases(y, p, weights)
    _warn_of_clipped((p < eps) | (1 - p < eps), eps)
    # 1 - p is exact above 1/2, and log1p computes its logarithm below.
    happened = np.clip(np.where(y == 1, p, 1 - p), eps, 1 - eps)
    small = np.clip(p, eps, 0.5)
    losses = np.where((y == 1) | (p > 0.5), -np.log(happened), -np.log1p(-small))
    return float(np.average(losses, weights=weights))


def _warn_of_clipped(clipped, eps):
    if clipped.any():
        rule = "{clipped} of {n} probabilities are closer to 0 or 1 than {near:.2g} and count as "
        warn(rule=rule + "that near", clipped=int(clipped.sum()), n=len(clipped), near=eps)


def calibration_error(y, p, method="windows", window=100, bins=15, weights=None):
    """Distance between predicted probabilities and observed frequencies of the positive class.

    Tied cases count with their share of positives, independent of their order. For several classes,
    the probability is that of the most probable class (of the last of two equally probable ones,
    otherwise of the first), and a case is positive if that class is its own.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        0 and 1, or classes 0, 1, ...
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class.
    method : {"windows", "debiased", "uniform", "quantile"}, default="windows"
        "windows": mean absolute difference between the mean probability and the share of positives,
        over all windows of `window` consecutive cases sorted by probability. "debiased": root mean
        squared difference over `bins` with about equal numbers of cases, minus the value expected
        by chance; at least 0. "uniform" and "quantile": the expected calibration error, the mean
        absolute difference over `bins` of equal width (closed on the right, as in
        `bnmtl.calibration.reliability`) or with about equal numbers of cases. By chance alone it is
        above 0, and grows with the number of bins.
    window : int, default=100
        Number of cases in a window; fewer cases form one window.
    bins : int, default=15
        Number of bins; tied cases are in one bin.
    weights : array-like of numbers, shape (n,), default=None
        Number of repetitions of each case.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        As `brier_score`, and for an unknown method or numbers below 1.

    References
    ----------
    Caruana & Niculescu-Mizil (2004), "Data mining in metric space", KDD; Kumar, Liang & Ma (2019),
    "Verified uncertainty calibration", NeurIPS; Naeini, Cooper & Hauskrecht (2015), "Obtaining well
    calibrated probabilities using Bayesian binning", AAAI; Guo, Pleiss, Sun & Weinberger (2017),
    "On calibration of modern neural networks", ICML, equation 3.

    Examples
    --------
    >>> round(calibration_error([1, 1, 0, 0], [0.75, 0.75, 0.25, 0.25], window=2), 4)
    0.1667
    >>> round(calibration_error([1, 1, 0, 0], [0.9, 0.7, 0.2, 0.0], "uniform", bins=2), 4)
    0.15
    """
    methods = {
        "windows": (_of_windows, "window", window),
        "debiased": (_debiased, "bins", bins),
        "uniform": (_expected_uniform, "bins", bins),
        "quantile": (_expected_quantile, "bins", bins),
    }
    check_choice("method", method, methods)
    measure, name, number = methods[method]
    check_whole(name, number, least=1)
    if np.ndim(p) == 2:
        y, p, weights = checked_classes(y, p, weights)
        y, p = top_label(y, p)
    else:
        y, p, weights = checked_cases(y, p, weights)
    values, group = np.unique(p[weights > 0], return_inverse=True)
    mass = np.bincount(group, weights=weights[weights > 0])
    positives = np.bincount(group, weights=(weights * y)[weights > 0])
    return float(measure(values, mass, positives, int(number)))


def _of_windows(values, mass, positives, window):
    """Tied cases form an interval of constant density, so a window may begin and end inside it."""
    ends = np.append(0.0, np.cumsum(mass))
    if ends[-1] > _MOST_CASES:
        rule = "must sum to {most:.0e} or less with {method=windows}"
        remedies = ("divide them", "use {method=debiased}")
        given = Bare(f"{ends[-1]:.3g}")
        raise InputError("weights", rule, given, remedies=remedies, most=_MOST_CASES)
    excess = np.append(0.0, np.cumsum(values * mass - positives))
    width = min(float(window), ends[-1])
    begins = np.arange(np.floor(ends[-1] - width + 1e-9) + 1)
    over = np.interp(begins + width, ends, excess) - np.interp(begins, ends, excess)
    return np.abs(over / width).mean()


def _binned(bin_of, values, mass, positives):
    """Mass, mean probability and share of positives of the bins that have cases."""
    n = np.bincount(bin_of, weights=mass)
    kept = n > 0
    n = n[kept]
    mean = np.bincount(bin_of, weights=values * mass)[kept] / n
    return n, mean, np.bincount(bin_of, weights=positives)[kept] / n


def _by_mass(mass, bins):
    """The bin of each value, if bins have about equal mass."""
    middle = np.cumsum(mass) - mass / 2
    return np.minimum((middle / mass.sum() * bins).astype(int), bins - 1)


def _debiased(values, mass, positives, bins):
    n, mean, share = _binned(_by_mass(mass, bins), values, mass, positives)
    by_chance = np.divide(share * (1 - share), n - 1, out=np.zeros_like(n), where=n > 1)
    return np.sqrt(max(0.0, np.average((mean - share) ** 2 - by_chance, weights=n)))


def _expected_uniform(values, mass, positives, bins):
    n, mean, share = _binned(bin_of_width(values, bins), values, mass, positives)
    return np.average(np.abs(mean - share), weights=n)


def _expected_quantile(values, mass, positives, bins):
    n, mean, share = _binned(_by_mass(mass, bins), values, mass, positives)
    return np.average(np.abs(mean - share), weights=n)


def bin_of_width(p, bins):
    """The bin of each probability; bins have equal width and are closed on the right."""
    return np.maximum(np.searchsorted(np.arange(bins + 1) / bins, p) - 1, 0)


def top_label(y, p):
    """Whether the most probable class is the true one, 0 or 1, and its probability.

    Of two classes that are equally probable, the last one counts as predicted, as in `accuracy`; of
    several, the first one.
    """
    top = (p[:, 1] >= p[:, 0]).astype(int) if p.shape[1] == 2 else p.argmax(axis=1)
    return (top == y).astype(float), p[np.arange(len(p)), top]


def jensen_shannon(probabilities, weights=None):
    """Disagreement of the members of an ensemble on each row, in nats.

    The entropy of the mean distribution minus the mean entropy of the members.

    Parameters
    ----------
    probabilities : array-like, shape (n_members, n_rows, n_classes)
        Distributions over the classes.
    weights : array-like of numbers, shape (n_members,), default=None
        Weights of the members; None is equal weights.

    Returns
    -------
    numpy.ndarray of shape (n_rows,)
        From 0, if all agree, to the logarithm of the number of members.

    Raises
    ------
    TypeError, ValueError
        For other shapes, rows that are not distributions, and invalid weights.

    References
    ----------
    Melville (2005), section 6.4.1.

    Examples
    --------
    >>> jensen_shannon([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]).round(4)
    array([0.6931, 0.    ])
    """
    axes = ("members", "rows", "classes")
    probabilities = checked_table("probabilities", probabilities, axes)
    check_distributions("probabilities", probabilities)
    weights = checked_weights(weights, len(probabilities), "member")
    mean = np.average(probabilities, axis=0, weights=weights)
    entropies = np.average(entr(probabilities).sum(axis=2), axis=0, weights=weights)
    return np.maximum(entr(mean).sum(axis=1) - entropies, 0.0)
