"""How well scores rank positive cases before negative ones; tied cases count as if in any order.

Labels are 0 or 1, scores any finite numbers. A weight is how often a case counts.
"""

import numpy as np
from scipy.special import digamma, polygamma

from bnmtl.errors import InputError, check_number
from bnmtl.metrics.cases import Ranking, checked_cases, checked_table, checked_weights

_STEPS = 20  # of the lift chart, 5 % each


def _ranking(y, p, weights):
    return Ranking(*checked_cases(y, p, weights, is_probability=False))


def lift(y, p, fraction=0.25, weights=None):
    """Share of positives among the cases ranked highest, over their share among all.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of numbers, shape (n,)
    fraction : float, default=0.25
        Of the cases, above 0 and at most 1; cases tied at the cut count in part.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        1 is random.

    Raises
    ------
    TypeError, ValueError
        For labels other than 0 and 1, no positive case, lengths that differ, and a fraction out of
        its range.

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
    """Area under the ROC curve: how often a positive case is ranked before a negative one.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
        Both must occur.
    p : array-like of numbers, shape (n,)
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        The Mann-Whitney statistic, ties counting one half; 0.5 is random.

    Raises
    ------
    TypeError, ValueError
        As `lift`, and where there is no negative case.

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
    """Mean, over the positive cases, of the precision down to each of them.

    Of tied cases, the mean over all orders: permuting them changes nothing, and neither does
    breaking ties at random on average. Without ties it is what scikit-learn gives.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of numbers, shape (n,)
    weights : array-like of numbers, shape (n,), default=None
        How often each case is repeated; a case with weight 2 is two tied ones. Between whole
        numbers the sum of the definition goes on as its functions do.

    Returns
    -------
    float
        About the share of positives where the ranking is random.

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
    # The sum over j of 1 / (a + j); between whole numbers it is that of the digamma function.
    harmonic = digamma(a + n + 1) - digamma(a + 1)
    # Of the j-th of n tied cases, given that it is positive, b + 1 + (j - 1) (m - 1) / (n - 1) are
    # positive so far.
    gained = m / n * ((b + 1) * harmonic + (m - 1) * _spread(n, a, harmonic))
    return float(gained.sum() / ranking.n_positives)


def _spread(n, a, harmonic):
    """The sum over j = 1 .. n of (j - 1) / (a + j), over n - 1."""
    near = np.abs(n - 1) < 1e-5
    above = np.divide(n - (a + 1) * harmonic, n - 1, out=np.zeros_like(n), where=~near)
    # There the difference is lost in rounding: the first two terms of its series.
    series = 1 - (a + 1) * (polygamma(1, a + 2) + (n - 1) / 2 * polygamma(2, a + 2))
    return np.where(near, series, above)


def eleven_point_average_precision(y, p, weights=None):
    """Mean over recalls of 0, 0.1, ... 1 of the best precision at that recall or a higher one.

    Precision and recall are those of thresholds, so tied cases are called positive together.

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
    # A recall of 3 / 10 is a little less than 0.3, and sums of weights may end below 1.
    first = np.searchsorted(recall, np.linspace(0, 1, 11) - 1e-12)
    return float(best_from[np.minimum(first, len(recall) - 1)].mean())


def break_even_point(y, p, weights=None):
    """Recall, and precision, where as many cases are called positive as there are positive ones.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of numbers, shape (n,)
        Cases tied at the cut count in part.
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


def lift_chart_area(y, p, class_prior=None, weights=None):
    """Area under the lift charts of all classes, weighted by how frequent the classes are.

    The chart of a class has the lift of the top 5, 10, ... 100 % by its probability; at its left
    end stands that of the cases with the very highest one. Areas are by the trapezium rule.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        Classes, 0, 1, ...
    p : array-like of numbers, shape (n, n_classes)
    class_prior : array-like of numbers, shape (n_classes,), default=None
        Weights of the classes, as in the training set; None takes their shares in `y`. Classes
        that `y` has no case of are left out.
    weights : array-like of numbers, shape (n,), default=None

    Returns
    -------
    float
        1 is random.

    Raises
    ------
    TypeError, ValueError
        For other shapes, classes without a column, and weights that are none.

    References
    ----------
    Melville (2005), section 7.3.1.

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]
    >>> round(lift_chart_area([0, 0, 1, 1], p), 4)
    1.6938
    """
    p = checked_table("p", p, ("cases", "classes"))
    y = np.asarray(y)
    if y.shape != p.shape[:1] or not np.isin(y, np.arange(p.shape[1])).all():
        rule = "must be one class for each row of {p}, {n:number} from 0 to {last}"
        raise InputError("y", rule, n=len(p), last=p.shape[1] - 1)
    weights = checked_weights(weights, len(y))
    shares = np.bincount(y.astype(int), weights=weights, minlength=p.shape[1])
    prior = shares
    if class_prior is not None:
        prior = checked_weights(class_prior, p.shape[1], "class", "class_prior")
    present = [k for k in range(p.shape[1]) if shares[k] > 0]
    own = checked_weights(prior[present], len(present), "class", "class_prior")
    areas = [_chart_area(Ranking((y == k).astype(float), p[:, k], weights)) for k in present]
    return float(np.average(areas, weights=own))


def _chart_area(ranking):
    alphas = np.arange(1, _STEPS + 1) / _STEPS
    lifts = ranking.captured(alphas * ranking.total) / (alphas * ranking.n_positives)
    highest = ranking.positives[0] / ranking.mass[0] * ranking.total / ranking.n_positives
    return np.trapezoid([highest, *lifts], dx=1 / _STEPS)
