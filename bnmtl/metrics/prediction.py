"""Metrics of predictions of a binary class: thresholds, rankings, probabilities.

The arguments are always (y, p): labels 0 or 1, then predictions. Metrics of rankings and
probabilities are defined in their own modules and exported here.
"""

from numbers import Real

import numpy as np

from bnmtl.errors import InputError, InputTypeError, check_choice, check_number
from bnmtl.metrics.cases import THRESHOLD, checked_cases, checked_classes, predicted_classes
from bnmtl.metrics.probabilities import (
    brier_score,
    calibration_error,
    cross_entropy,
    jensen_shannon,
    root_mean_squared_error,
    squared_error,
)
from bnmtl.metrics.ranking import (
    average_precision,
    break_even_point,
    eleven_point_average_precision,
    lift,
    lift_chart_area,
    roc_area,
)

__all__ = [
    "accuracy",
    "average_precision",
    "baseline",
    "break_even_point",
    "brier_score",
    "calibration_error",
    "cross_entropy",
    "eleven_point_average_precision",
    "f_score",
    "jensen_shannon",
    "lift",
    "lift_chart_area",
    "normalized_score",
    "roc_area",
    "root_mean_squared_error",
    "squared_error",
]


def accuracy(y, p, weights=None):
    """Share of correct predictions; of two classes, the second from a probability of 0.5 on.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        0 and 1, or classes 0, 1, ...
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class. Of three classes or more, the first of the most probable ones
        is predicted.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        For labels that are not classes, probabilities out of range or of every class that do not
        sum to 1 (up to 0.001), and different lengths.

    Examples
    --------
    >>> accuracy([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    0.75
    >>> accuracy([2, 0], [[0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])
    0.5
    >>> accuracy([1], [0.5]), accuracy([1], [[0.5, 0.5]])
    (1.0, 1.0)
    """
    if np.ndim(p) == 2:
        y, p, weights = checked_classes(y, p, weights)
        return float(np.average(predicted_classes(p) == y, weights=weights))
    y, p, weights = checked_cases(y, p, weights)
    return float(np.average((p >= THRESHOLD) == y, weights=weights))


def f_score(y, p, weights=None):
    """Harmonic mean of precision and recall; positive from a probability of 0.5 on.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of probabilities, shape (n,)
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        1 if no case is positive and none is predicted positive.

    Raises
    ------
    TypeError, ValueError
        As `accuracy`.

    Examples
    --------
    >>> f_score([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    0.8
    """
    y, p, weights = checked_cases(y, p, weights)
    called = p >= THRESHOLD
    right, either = weights @ (called * y), weights @ (called + y)
    return float(2 * right / either) if either else 1.0


# The values when the share r of positives is predicted for every case.
_BASELINES = {
    "accuracy": lambda r: max(r, 1 - r),
    "f_score": lambda r: 2 * r / (1 + r),
    "lift": lambda r: 1.0,
    "roc_area": lambda r: 0.5,
    "average_precision": lambda r: r,
    "eleven_point_average_precision": lambda r: r,
    "break_even_point": lambda r: r,
    "root_mean_squared_error": lambda r: np.sqrt(r * (1 - r)),
    "cross_entropy": lambda r: -r * np.log(r) - (1 - r) * np.log1p(-r),
}


def baseline(metric, base_rate):
    """Value of a metric when the share of positives is predicted for every case.

    Parameters
    ----------
    metric : str
        As in `normalized_score`.
    base_rate : float
        Share of positives, above 0 and below 1. For the f_score, all cases are predicted positive.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For an unknown metric and a base rate out of range.

    Examples
    --------
    >>> baseline("accuracy", 0.25)
    0.75
    """
    check_choice("metric", metric, _BASELINES)
    check_number("base_rate", base_rate, above=0, below=1)
    return float(_BASELINES[metric](base_rate))


def normalized_score(metric, value, base_rate, best):
    """Rescale a metric to 0 for a baseline and 1 for the best known value.

    Parameters
    ----------
    metric : str
        accuracy, f_score, lift, roc_area, average_precision, eleven_point_average_precision,
        break_even_point, root_mean_squared_error or cross_entropy.
    value : float
        The value to rescale.
    base_rate : float
        Share of positives, above 0 and below 1, which the baseline predicts for every case (for
        the f_score, that all are positive).
    best : float
        The value mapped to 1; below the baseline for the last two metrics, above it for the others.

    Returns
    -------
    float
        Below 0 if worse than the baseline, above 1 if better than the best.

    Raises
    ------
    ValueError
        For an unknown metric, a base rate out of range, and a best value that does not exceed the
        baseline.

    References
    ----------
    Niculescu-Mizil (2008), section 4.3.1 and appendix 4.D.

    Examples
    --------
    >>> round(normalized_score("accuracy", 0.85, base_rate=0.3, best=0.9), 3)
    0.75
    """
    base = baseline(metric, base_rate)
    for name, number in (("value", value), ("best", best)):  # a value may be nan
        if isinstance(number, bool) or not isinstance(number, Real):
            raise InputTypeError(name, "must be a number", number)
    sign = -1 if metric in ("root_mean_squared_error", "cross_entropy") else 1
    if not sign * best > sign * base:
        rule = "must be better than the baseline of {name!s}, {baseline:.4g} at this base rate"
        raise InputError("best", rule, best, name=metric, baseline=base)
    return float((value - base) / (best - base))
