"""Metrics of rankings of positive before negative cases; tied cases count as in random order.

Labels are 0 or 1, scores are finite numbers. A weight is the number of times a case counts.
"""

import numpy as np
from scipy.special import digamma, polygamma

from bnmtl.errors import InputError, check_number
from bnmtl.metrics.cases import Ranking, checked_cases, checked_classes, checked_weights


def _ranking(y, p, weights):
    return Ranking(*checked_cases(y, p, weights, is_probability=False))


def lift(y, p, fraction=0.25, weights=None):
    """Share of positives among the highest-ranked cases, divided by their share among all.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of numbers, shape (n,)
    fraction : float, default=0.25
        Share of the cases, above 0 and at most 1; cases tied at the cutoff count in part.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        1 is random.

    Raises
    ------
    TypeError, ValueError
        For labels other than 0 and 1, no positive case, different lengths, and a fraction out of
        range.

    References
    ----------
    Niculescu-Mizil (2008), appendix 4.C.

    Examples
    --------
    >>> lift([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], fraction=0.5)
    1.0
    """
    check_number("fraction", fraction, above=0, most=1)
    ranking = _ranking(y, p, weights).check_both()
    return float(ranking.captured(fraction * ranking.total) / (fraction * ranking.n_positives))


def roc_area(y, p, weights=None):
    """Area under the ROC curve: the probability that a positive case ranks before a negative one.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
        Both must occur.
    p : array-like of numbers, shape (n,)
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        The Mann-Whitney statistic with ties counted as one half; 0.5 is random.

    Raises
    ------
    TypeError, ValueError
        As `lift`, and if there is no negative case.

    Examples
    --------
    >>> roc_area([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    ranking = _ranking(y, p, weights).check_both(negatives=True)
    negatives = ranking.mass - ranking.positives
    before = ranking.positives_above + ranking.positives / 2
    return float(negatives @ before / (negatives.sum() * ranking.n_positives))


def average_precision(y, p, weights=None):
    """Mean, over the positive cases, of the precision at the rank of each.

    For tied cases, the mean over all orders, which equals the expected value with randomly broken
    ties. Without ties it equals scikit-learn's value.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of numbers, shape (n,)
    weights : array-like of numbers, shape (n,), default=None
        Number of repetitions of each case; a case with weight 2 equals two tied ones. Fractional
        weights interpolate the sums of the definition by their analytic continuation.

    Returns
    -------
    float
        About the share of positives for a random ranking.

    Raises
    ------
    TypeError, ValueError
        As `lift`.

    Examples
    --------
    >>> round(average_precision([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), 4)
    0.8333
    """
    ranking = _ranking(y, p, weights).check_both()
    n, m, a, b = ranking.mass, ranking.positives, ranking.above, ranking.positives_above
    # The sum over j of 1 / (a + j), continued by the digamma function.
    harmonic = digamma(a + n + 1) - digamma(a + 1)
    # At the j-th of n tied cases, given that it is positive, the expected number of positives is b
    # + 1 + (j - 1) (m - 1) / (n - 1).
    gained = m / n * ((b + 1) * harmonic + (m - 1) * _spread(n, m, a, harmonic))
    return float(gained.sum() / ranking.n_positives)


def _spread(n, m, a, harmonic):
    """The sum over j = 1 .. n of (j - 1) / (a + j), divided by n - 1."""
    near = np.abs(n - 1) < 1e-5
    found = np.divide(n - (a + 1) * harmonic, n - 1, out=np.zeros_like(n), where=~near)
    # If the difference is lost to rounding, use the first two terms of its series. For single cases
    # the sum does not count, so it may be 0.
    near &= (m > 0) & ((m != 1) | (n != 1))
    if near.any():
        n, a = n[near], a[near]
        found[near] = 1 - (a + 1) * (polygamma(1, a + 2) + (n - 1) / 2 * polygamma(2, a + 2))
    return found


def eleven_point_average_precision(y, p, weights=None):
    """Mean over recalls of 0, 0.1, ... 1 of the best precision at that recall or a higher one.

    Precision and recall are computed at thresholds, so tied cases are predicted positive together.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of numbers, shape (n,)
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        As `lift`.

    References
    ----------
    Niculescu-Mizil (2008), appendix 4.C.

    Examples
    --------
    >>> round(eleven_point_average_precision([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), 4)
    0.8485
    """
    ranking = _ranking(y, p, weights).check_both()
    called = ranking.above + ranking.mass
    right = ranking.positives_above + ranking.positives
    best_from = np.maximum.accumulate((right / called)[::-1])[::-1]
    recall = right / ranking.n_positives
    # A recall of 3 / 10 is slightly less than 0.3, and sums of weights may end below 1.
    first = np.searchsorted(recall, np.linspace(0, 1, 11) - 1e-12)
    return float(best_from[np.minimum(first, len(recall) - 1)].mean())


def break_even_point(y, p, weights=None):
    """Precision and recall when as many cases are predicted positive as there are positives.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of numbers, shape (n,)
        Cases tied at the cutoff count in part.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        As `lift`.

    References
    ----------
    Niculescu-Mizil (2008), appendix 4.C.

    Examples
    --------
    >>> break_even_point([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    0.5
    """
    ranking = _ranking(y, p, weights).check_both()
    return float(ranking.captured(ranking.n_positives) / ranking.n_positives)


def lift_chart_area(y, p, class_prior=None, weights=None, step=0.05):
    """Area under the lift charts of all classes, weighted by class frequency.

    The chart of a class shows the lift of the top 5, 10, ... 100 % by its probability, or of all
    shares that end with a different probability; its left end is the lift of the cases with the
    highest probability. Areas use the trapezoidal rule.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        0 and 1, or classes 0, 1, ...
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class.
    class_prior : array-like of numbers, shape (n_classes,), default=None
        Weights of the classes, as in the training set; None uses their shares in `y`. Classes
        without a case in `y` are omitted.
    weights : array-like of numbers, shape (n,), default=None
    step : float, default=0.05
        Distance between shares, a whole part of 1. None has a point at each different probability.

    Returns
    -------
    float
        1 is random.

    Raises
    ------
    TypeError, ValueError
        For other shapes, classes without a column, probabilities out of range or of every class
        that do not sum to 1 (up to 0.001), invalid weights, and another ``step``.

    References
    ----------
    Melville (2005), section 7.3.1; Nielsen (2012), "MOB-ESP and other improvements in probability
    estimation", for a point at each probability.

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]
    >>> round(lift_chart_area([0, 0, 1, 1], p), 4)
    1.6938
    """
    _check_step(step)
    if np.ndim(p) == 2:
        y, p, weights = checked_classes(y, p, weights)
    else:
        y, p, weights = checked_cases(y, p, weights)
        p = np.column_stack([1 - p, p])
    shares = np.bincount(y.astype(int), weights=weights, minlength=p.shape[1])
    prior = shares
    if class_prior is not None:
        prior = checked_weights(class_prior, p.shape[1], "class", "class_prior")
    present = [k for k in range(p.shape[1]) if shares[k] > 0]
    class_weights = checked_weights(prior[present], len(present), "class", "class_prior")
    rankings = [Ranking((y == k).astype(float), p[:, k], weights) for k in present]
    areas = [_chart_area(ranking, step) for ranking in rankings]
    return float(np.average(areas, weights=class_weights))


def _check_step(step):
    """Raise unless a value is None or a whole part of 1."""
    if step is None:
        return
    check_number("step", step, above=0, most=1)
    if abs(round(1 / step) * step - 1) > 1e-9:
        raise InputError("step", "must be a whole part of 1, for example 0.05 or 0.1", step)


def _chart_area(ranking, step):
    if step is None:
        shares = np.cumsum(ranking.mass) / ranking.total
        captured = np.cumsum(ranking.positives)
    else:
        n_steps = round(1 / step)
        shares = np.arange(1, n_steps + 1) / n_steps
        captured = ranking.captured(shares * ranking.total)
    lifts = captured / (shares * ranking.n_positives)
    highest = ranking.positives[0] / ranking.mass[0] * ranking.total / ranking.n_positives
    return np.trapezoid([highest, *lifts], [0.0, *shares])
