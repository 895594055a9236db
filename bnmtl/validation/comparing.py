"""Two classifiers compared on the same rounds, and the jackknife."""

import statistics
from typing import NamedTuple

import numpy as np
from scipy import stats

from bnmtl.errors import MOST_RESAMPLES, InputError, InputTypeError, check_number, check_whole
from bnmtl.metrics import prediction
from bnmtl.metrics.cases import predicted_classes
from bnmtl.metrics.resampled import interval_width, resampled_p
from bnmtl.seeding import generator, seed_of
from bnmtl.validation.rounds import NOT_SMOOTH, Rounds, check_rounds, round_metric_of
from bnmtl.wording import type_of


class Comparison(NamedTuple):
    """How two classifiers differ.

    Parameters
    ----------
    first, second : float
        Means over rounds of the metric; over all predictions if it is a mean over cases.
    difference : float
        First minus second.
    low, high : float
        Interval of the difference, corrected for training sets that overlap.
    p_corrected : float
        Of the t-test over rounds with the same correction; like the interval it is NaN if all
        rounds differ by the same amount. The correction is an approximation: of equally good
        learners it is below 0.05 for 0.5 to 5.5 % with folds and bootstraps. With 15 hold-outs of
        10 % it is slightly liberal, 6.3 and 6.8 % (``benchmarks/validation``).
    p_mcnemar : float
        Of McNemar's exact test: whether both are wrong on as many cases that the other has right.
        Each case counts once, by the first round that predicts it. NaN with groups, whose cases
        depend on each other. It is about the models that were fitted to these training cases: other
        models of learners that are equally good on average may differ.
    p_randomization : float
        Of the difference on the same predictions, if they were exchanged between the two at random,
        those of a group together; about the fitted models, too.
    is_smaller_better : bool
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p_corrected: float
    p_mcnemar: float
    p_randomization: float
    is_smaller_better: bool


def compare(
    first,
    second,
    metric="accuracy",
    confidence=0.95,
    n_resamples=999,
    random_state=None,
    greater_is_better=None,
):
    """Compare two classifiers that were fitted to the same training cases.

    Parameters
    ----------
    first, second : Rounds
        By `predict_rounds` with the same cases, scheme and ``random_state``.
    metric : str or callable, default="accuracy"
        A metric of `bnmtl.metrics.prediction`; the name of a scorer of scikit-learn (of names in
        both, that of this package), a scorer, or a function of `sklearn.metrics` that takes
        probabilities; or another function (y, p) of positions of classes and probabilities of all
        classes, together with `greater_is_better`.
    confidence : float, default=0.95
    n_resamples : int, default=999
        Number of random exchanges.
    random_state : None, int or numpy.random.Generator, default=None
        Of the exchanges. With an int, results depend only on data and parameters.
    greater_is_better : bool, default=None
        Whether larger values of a function of yours are better; None for all other metrics.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        For rounds with other cases, another metric, fewer than two rounds on which it is defined (a
        round of the jackknife predicts one case only, which ranks nothing), and rounds of other
        test cases, whose number says nothing about the overlap of the training sets.

    References
    ----------
    Nadeau & Bengio (2003), "Inference for the generalization error", Machine Learning 52, for the
    correction: the variance is multiplied by 1 / rounds + test cases / different training cases.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from bnmtl.validation import predict_rounds
    >>> X, y = load_iris(return_X_y=True)
    >>> options = {"scheme": "holdout", "rounds": 10, "random_state": 0}
    >>> bayes = predict_rounds(GaussianNB(), X, y, **options)
    >>> shares = predict_rounds(DummyClassifier(), X, y, **options)
    >>> found = compare(bayes, shares, random_state=0)
    >>> bool(found.low > 0.5), bool(found.p_corrected < 0.001), found.p_randomization
    (True, True, 0.002)
    """
    _check(first, second)
    check_number("confidence", confidence, above=0, below=1)
    check_whole("n_resamples", n_resamples, least=1, most=MOST_RESAMPLES)
    metric = round_metric_of(metric, first.classes, greater_is_better, needs_direction=True)
    values = np.array([rounds.score(metric) for rounds in (first, second)])
    is_defined = ~np.isnan(values).any(axis=0)
    values = values[:, is_defined]
    if values.shape[1] < 2:
        message = f"must have two rounds or more on which `{metric.name}` is defined"
        raise InputError(message, argument="first", remedy="another scheme")
    # A mean over cases is that of all predictions, however the rounds divide them.
    weights = first.n_predicted[is_defined] if metric.of_cases else None
    means = np.average(values, axis=1, weights=weights)
    differences, ratio = values[0] - values[1], first.test_ratio()
    mean, p = float(means[0] - means[1]), resampled_p(differences, ratio, weights)
    width = interval_width(differences, ratio, confidence, weights)
    if np.isnan(p):
        width = np.nan
    rng = generator(seed_of(random_state), "exchanges")
    return Comparison(
        first=float(means[0]),
        second=float(means[1]),
        difference=mean,
        low=mean - width,
        high=mean + width,
        p_corrected=p,
        p_mcnemar=_mcnemar(first, second),
        p_randomization=_exchanged(first, second, metric, n_resamples, rng),
        is_smaller_better=metric.is_smaller_better,
    )


def _check(first, second):
    """Raise unless both have predicted the same cases by the same training cases."""
    check_rounds("first", first)
    check_rounds("second", second)
    names = ("y", "classes", "in_bag", "n_train", "is_predicted")
    if not all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names):
        message = "must have the rounds of `first`"
        raise InputError(
            message,
            argument="second",
            options=("first",),
            remedy="the same `random_state` for both",
        )
    if not first.in_bag.any():
        message = "must predict cases of the sample that it learns from"
        raise InputError(
            message,
            argument="first",
            options=("X_test",),
            remedy="`predict_rounds` without `X_test`",
        )


def _predictions(rounds):
    """Labels, groups and first predictions of the cases that were predicted.

    Labels are positions of classes; without groups each case is one.
    """
    first = rounds.is_predicted.argmax(axis=0)
    cases = np.flatnonzero(rounds.is_predicted.any(axis=0))
    group = cases if rounds.group is None else rounds.group[cases]
    numbers = np.unique(group, return_inverse=True)[1]
    return rounds.codes[cases], numbers, rounds.predictions[first[cases], cases]


def _mcnemar(first, second):
    """P value of McNemar's exact test on one prediction of each case."""
    if first.group is not None:
        return np.nan
    (codes, _, ours), (_, _, theirs) = map(_predictions, (first, second))
    ours, theirs = (predicted_classes(p) == codes for p in (ours, theirs))
    n_first, n_differing = int((ours & ~theirs).sum()), int((ours != theirs).sum())
    return float(stats.binomtest(n_first, n_differing).pvalue) if n_differing else 1.0


def _exchanged(first, second, metric, n_resamples, rng):
    """P value of the difference, by exchanging the predictions of cases or of groups."""
    (codes, group, ours), (_, _, theirs) = map(_predictions, (first, second))
    options = {"n_resamples": n_resamples, "random_state": rng, "permutation_type": "samples"}
    n = int(group.max()) + 1
    if n == 1:
        # Exchanged or not, the difference has the same size.
        return 1.0
    if metric.of_cases:
        # A mean over cases: an exchange changes the sign of a sum of differences.
        differences = metric.of_cases(codes, ours) - metric.of_cases(codes, theirs)
        sums, batch = np.bincount(group, differences), max(1, 10**7 // n)
        found = stats.permutation_test((sums,), np.sum, vectorized=True, batch=batch, **options)
        return float(found.pvalue)
    # Positions in both tables, because scipy exchanges numbers and not rows.
    both, cases = np.stack([ours, theirs]), np.arange(len(codes))

    def difference(first_of, second_of):
        ours, theirs = (both[of.astype(int)[group] // n, cases] for of in (first_of, second_of))
        return metric(codes, ours) - metric(codes, theirs)

    numbers = np.arange(n), np.arange(n, 2 * n)
    found = stats.permutation_test(numbers, difference, vectorized=False, **options)
    return float(found.pvalue)


class Jackknife(NamedTuple):
    """What the jackknife says of a statistic.

    Parameters
    ----------
    value : float
        Of all cases.
    bias : float
        (n - d) / d times the difference of the mean without cases and the value.
    corrected : float
        The value without its bias.
    standard_error : float
    """

    value: float
    bias: float
    corrected: float
    standard_error: float


def jackknife(data, statistic="accuracy", d=1, n_samples=1000, random_state=None):
    """Bias and standard error of a statistic, from leaving out each case or many sets of cases.

    Parameters
    ----------
    data : Rounds, array-like, or tuple of array-likes of the same length
        Of rounds, labels and the mean predictions of each case count, and cases of the same group
        are left out together.
    statistic : str or callable, default="accuracy"
        Of rounds a metric as in `compare`, of which no direction is needed. Otherwise a function of
        the arrays.
    d : int, default=1
        Number of cases, or groups, left out at a time. Statistics that jump if one case changes
        need more, about the square root of their number.
    n_samples : int, default=1000
        Number of sets that are left out, drawn at random, if ``d`` is above 1.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    Returns
    -------
    Jackknife

    Raises
    ------
    TypeError, ValueError
        For another ``statistic``, ``d`` out of range, arrays of different lengths; and for a lift,
        a break-even point, an eleven-point precision, a calibration error or a median with ``d`` 1,
        for which the jackknife is wrong.

    References
    ----------
    Efron & Tibshirani (1993), "An introduction to the bootstrap", chapter 11; Shao & Wu (1989), "A
    general theory for jackknife variance estimation", Annals of Statistics 17, for sets of cases.

    Examples
    --------
    >>> import numpy as np
    >>> jackknife([1, 2, 3, 4, 5], np.var).corrected
    2.5
    """
    arrays, function, name, units = _read(data, statistic)
    n = len(units)
    check_whole("d", d, least=1, most=n - 1)
    check_whole("n_samples", n_samples, least=2, most=MOST_RESAMPLES)
    if d == 1 and name in NOT_SMOOTH:
        message = f"must be above 1 for `{name}`, which jumps where one case changes, got {d!r}"
        raise InputError(message, argument="d", remedy=f"about {max(2, round(np.sqrt(n)))}")
    value = _number(function, arrays)
    if d == 1:
        left_out = units
    else:
        rng = generator(seed_of(random_state), "jackknife")
        drawn = (rng.permutation(n)[:d] for _ in range(n_samples))
        left_out = [np.concatenate([units[unit] for unit in some]) for some in drawn]
    without = [
        _number(function, [np.delete(array, rows, axis=0) for array in arrays]) for rows in left_out
    ]
    bias = (n - d) / d * (np.mean(without) - value)
    error = np.sqrt((n - d) / d * np.var(without))
    return Jackknife(value, float(bias), float(value - bias), float(error))


def _read(data, statistic):
    """Arrays, the function of them and its name, and positions that are left out together."""
    if isinstance(data, Rounds):
        metric = round_metric_of(statistic, data.classes)
        p = data.mean_predictions()
        known = ~np.isnan(p[:, 0])
        cases = np.arange(known.sum())
        group = cases if data.group is None else data.group[known]
        units = [cases[group == name] for name in np.unique(group)]
        return (data.codes[known], p[known]), metric, metric.name, units
    if not callable(statistic):
        message = f"must be a function of the arrays, got {type_of(statistic)}"
        raise InputTypeError(
            message, argument="statistic", options=("data",), remedy="or give `data` rounds"
        )
    arrays = tuple(map(np.asarray, data if isinstance(data, tuple) else (data,)))
    if any(array.ndim == 0 for array in arrays) or len(set(map(len, arrays))) != 1:
        raise InputError("must be arrays of the same length", argument="data")
    if len(arrays[0]) < 2:
        raise InputError(f"must hold two cases or more, got {len(arrays[0])!r}", argument="data")
    return arrays, statistic, _name_of(statistic), list(np.arange(len(arrays[0]))[:, None])


def _number(function, arrays):
    """The value of a statistic."""
    found = np.asarray(function(*arrays))
    if found.ndim or found.dtype.kind not in "bif":
        given = type_of(found) if found.ndim else repr(found)
        raise InputError(f"must give a number, got {given}", argument="statistic")
    return float(found)


def _name_of(function):
    """The name of a function that is known not to be smooth, or any other."""
    if function in (np.median, np.nanmedian, statistics.median):
        return "median"
    known = [name for name in NOT_SMOOTH if getattr(prediction, name, None) is function]
    return known[0] if known else getattr(function, "__name__", "statistic")
