"""Metrics of predictions: of rankings and of probabilities.

The arguments are always (y, p): labels, then predictions. Labels are 0 or 1 and predictions
probabilities of 1 or, for rankings, finite numbers; or labels are classes 0, 1, ... and predictions
have a column for each. A weight is the number of times a case counts.
"""

from numbers import Real

import numpy as np
from scipy.special import digamma, entr, polygamma

from bnmtl.errors import (
    MOST_REPEATS,
    InputError,
    InputTypeError,
    check_choice,
    check_number,
    check_whole,
    warn,
)
from bnmtl.metrics.cases import (
    THRESHOLD,
    Ranking,
    check_distributions,
    checked_cases,
    checked_classes,
    checked_table,
    checked_weights,
    predicted_classes,
)


def _ranking(y, p, weights, needs_negatives=False):
    """The ranking of checked cases, some of them positive and, if required, some negative."""
    ranking = Ranking(*checked_cases(y, p, weights, is_probability=False))
    if ranking.n_positives == 0:
        raise InputError("must hold positive cases (1); it has none", argument="y")
    if needs_negatives and ranking.n_positives == ranking.total:
        raise InputError("must hold negative cases (0), too; it has none", argument="y")
    return ranking


def _table(y, p, weights):
    """Positions of classes, probabilities of all classes and weights of checked cases."""
    if np.ndim(p) == 2:
        return checked_classes(y, p, weights)
    y, p, weights = checked_cases(y, p, weights)
    return y.astype(np.intp), np.column_stack([1 - p, p]), weights


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
    ranking = _ranking(y, p, weights)
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
    ranking = _ranking(y, p, weights, needs_negatives=True)
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
    ranking = _ranking(y, p, weights)
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
    ranking = _ranking(y, p, weights)
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
    ranking = _ranking(y, p, weights)
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
    check_number("step", step, above=0, most=1, optional=True)
    if step is not None and abs(round(1 / step) * step - 1) > 1e-9:
        raise InputError(
            f"must be a whole part of 1, for example 0.05 or 0.1, got {step!r}", argument="step"
        )
    y, p, weights = _table(y, p, weights)
    shares = np.bincount(y, weights=weights, minlength=p.shape[1])
    prior = shares
    if class_prior is not None:
        prior = checked_weights(class_prior, p.shape[1], "class", "class_prior")
    present = [k for k in range(p.shape[1]) if shares[k] > 0]
    class_weights = checked_weights(prior[present], len(present), "class", "class_prior")
    rankings = [Ranking((y == k).astype(float), p[:, k], weights) for k in present]
    areas = [_chart_area(ranking, step) for ranking in rankings]
    return float(np.average(areas, weights=class_weights))


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
        message = (
            f"{int(clipped.sum())} of {len(clipped)} probabilities are closer to 0 or 1 than "
            f"{eps:.2g} and count as that near"
        )
        warn(message)


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
    check_choice("method", method, ("windows", "debiased", "uniform", "quantile"))
    check_whole("window", window, least=1)
    check_whole("bins", bins, least=1, most=MOST_REPEATS)
    window, bins = int(window), int(bins)
    if np.ndim(p) == 2:
        y, p, weights = checked_classes(y, p, weights)
        y, p = top_label(y, p)
    else:
        y, p, weights = checked_cases(y, p, weights)
    values, group = np.unique(p[weights > 0], return_inverse=True)
    mass = np.bincount(group, weights=weights[weights > 0])
    positives = np.bincount(group, weights=(weights * y)[weights > 0])
    if method == "windows":
        return float(_of_windows(values, mass, positives, window))
    if method == "uniform":
        bin_of = bin_of_width(values, bins)
    else:  # about equal mass
        middle = np.cumsum(mass) - mass / 2
        bin_of = np.minimum((middle / mass.sum() * bins).astype(int), bins - 1)
    n, total, positives = (
        np.bincount(bin_of, weights=sums) for sums in (mass, values * mass, positives)
    )
    n, mean, share = n[n > 0], total[n > 0] / n[n > 0], positives[n > 0] / n[n > 0]
    if method != "debiased":
        return float(np.average(np.abs(mean - share), weights=n))
    by_chance = np.divide(share * (1 - share), n - 1, out=np.zeros_like(n), where=n > 1)
    return float(np.sqrt(max(0.0, np.average((mean - share) ** 2 - by_chance, weights=n))))


def _of_windows(values, mass, positives, window):
    """Tied cases form an interval of constant density, so a window may begin and end inside it."""
    ends = np.append(0.0, np.cumsum(mass))
    if ends[-1] > _MOST_CASES:
        message = (
            f"must sum to {_MOST_CASES:.0e} or less with `method='windows'`, got {ends[-1]:.3g}"
        )
        raise InputError(
            message,
            argument="weights",
            options=("method",),
            remedy="divide them, or use `method='debiased'`",
        )
    excess = np.append(0.0, np.cumsum(values * mass - positives))
    width = min(float(window), ends[-1])
    begins = np.arange(np.floor(ends[-1] - width + 1e-9) + 1)
    over = np.interp(begins + width, ends, excess) - np.interp(begins, ends, excess)
    return np.abs(over / width).mean()


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
    y, p, weights = _table(y, p, weights)
    return float(np.average(predicted_classes(p) == y, weights=weights))


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
            raise InputTypeError(f"must be a number, got {number!r}", argument=name)
    sign = -1 if metric in ("root_mean_squared_error", "cross_entropy") else 1
    if not sign * best > sign * base:
        message = (
            f"must be better than the baseline of {metric}, {base:.4g} at this "
            f"base rate, got {best!r}"
        )
        raise InputError(message, argument="best")
    return float((value - base) / (best - base))
