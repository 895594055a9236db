"""Quality of calibration: reliability tables, learning curves, the best of several methods."""

import contextlib
import math
import warnings
from itertools import product
from numbers import Real

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sklearn.base import clone

from bnmtl.calibration.calibrators import IsotonicCalibrator
from bnmtl.calibration.classifier import ENOUGH_FOR_ISOTONIC, is_calibrator
from bnmtl.calibration.platt import PlattCalibrator, checked_scores, classes_of
from bnmtl.errors import (
    MOST_REPEATS,
    MOST_RESAMPLES,
    InputError,
    InputTypeError,
    check_choice,
    check_whole,
    warn,
)
from bnmtl.metrics.cases import checked_cases, checked_classes
from bnmtl.metrics.folds import checked_groups
from bnmtl.metrics.prediction import bin_of_width, root_mean_squared_error, top_label
from bnmtl.metrics.scoring import metric_of
from bnmtl.seeding import check_seed
from bnmtl.wording import count

_SIZES = tuple(2**power for power in range(5, 14))
_UNCALIBRATED = "uncalibrated"
_TRIES = 1000  # to find an order of groups


def learning_curve(
    scores,
    y,
    test_scores,
    test_y,
    calibrators=None,
    sizes=None,
    n_draws=10,
    metric=None,
    random_state=None,
    groups=None,
):
    """Evaluate calibrators fitted to increasing numbers of cases on the same test set.

    A draw is a random order of the calibration cases; its first 32, 64 ... cases are used, so the
    larger sets of a draw contain the smaller ones. All calibrators get the same sets. An order is
    redrawn until its smallest set contains both classes, so an additional size does not affect the
    others unless it is smaller than all of them.

    Parameters
    ----------
    scores : array-like of numbers, shape (n,)
        Scores of the calibration cases by a classifier that was not fitted to them.
    y : array-like of 0 and 1, shape (n,)
    test_scores : array-like of numbers, shape (n_test,)
    test_y : array-like of 0 and 1, shape (n_test,)
    calibrators : mapping of str to calibrator, default=None
        None is {"Platt": `PlattCalibrator()`, "isotonic": `IsotonicCalibrator()`}.
    sizes : list of int, default=None
        Numbers of calibration cases, at least 2. None is 32, 64 ... 8192, up to the number of
        cases.
    n_draws : int, default=10
        Number of draws; earlier draws do not depend on it.
    metric : str or callable, default=None
        A metric of `bnmtl.metrics.prediction`; a scorer of scikit-learn or its name, or a function
        of `sklearn.metrics` that takes probabilities; or another function (y, p) that returns a
        number. None is `root_mean_squared_error`.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, the result depends only on the arguments, not on the order of cases,
        calibrators and sizes. A Generator is advanced by one draw.
    groups : array-like of names, shape (n,), default=None
        Group of each calibration case, such as the patient. A draw is then a random order of
        groups, whose cases follow each other, so that a set has few groups: its cases are as alike
        as those that a user would have. Test cases should be of other groups.

    Returns
    -------
    pandas.DataFrame
        Columns method, size, draw (from 0 on) and value. If all scores are from 0 to 1, the method
        "uncalibrated" evaluates the scores themselves, the same for all sizes and draws.

    Warns
    -----
    UserWarning
        Once, if `metric` warns, such as `cross_entropy` for probabilities of 0 or 1.

    Raises
    ------
    TypeError, ValueError
        For labels other than 0 and 1, scores that are not finite numbers, different lengths, only
        one class, sizes below 2 or above the number of cases, groups whose first cases have one
        class in every order, an invalid `random_state`,
        `calibrators` or `metric`, and a calibrator named "uncalibrated".

    References
    ----------
    Niculescu-Mizil (2008), section 3.5, where the test set shrinks as the calibration set grows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(3000)
    >>> y, scores = rng.random(3000) < p, 0.3 + 0.4 * p
    >>> table = learning_curve(
    ...     scores[:1000], y[:1000], scores[1000:], y[1000:], sizes=[50, 1000], random_state=0
    ... )
    >>> table.groupby(["method", "size"])["value"].mean().round(3)
    method        size
    Platt         50      0.416
                  1000    0.411
    isotonic      50      0.424
                  1000    0.411
    uncalibrated  50      0.444
                  1000    0.444
    Name: value, dtype: float64
    """
    scores, y, _ = checked_scores(scores, y)
    names = ("test_y", "test_scores", "")
    test_y, test_scores, _ = checked_cases(test_y, test_scores, None, False, names)
    classes_of(y, "must hold cases of both classes, 0 and 1")
    calibrators = _checked_calibrators(calibrators)
    sizes = _checked_sizes(sizes, len(y))
    check_whole("n_draws", n_draws, 1, MOST_RESAMPLES)
    metric = _checked_metric(metric)
    names = np.zeros(len(y), dtype=int)
    if groups is not None:
        _, names = np.unique(checked_groups(groups, len(y)), return_inverse=True)
    # The given order of cases must not matter.
    by_score = np.lexsort((names, y, scores))
    scores, y, names = scores[by_score], y[by_score], names[by_score]
    if groups is None:
        orders = _orders(y, sizes[0], n_draws, random_state)
    else:
        orders = _orders_of_groups(names, y, sizes[0], n_draws, random_state)
    rows, warned = [], []
    for draw, order in enumerate(orders):
        for (name, calibrator), size in product(calibrators.items(), sizes):
            used = order[:size]
            fitted = clone(calibrator, safe=False)
            fitted.fit(scores[used], y[used])
            p = fitted.predict(test_scores)
            with _warnings_to(warned):
                value = metric(test_y, p)
            rows.append((name, size, draw, value))
    if all(((values >= 0) & (values <= 1)).all() for values in (scores, test_scores)):
        with _warnings_to(warned):
            value = metric(test_y, test_scores)
        rows += [(_UNCALIBRATED, *point, value) for point in product(sizes, range(n_draws))]
    if warned:
        message = (
            f"warned {count(len(warned), 'time')}, first of all: {warned[0].removesuffix('.')}"
        )
        warn(message, argument="metric")
    table = pd.DataFrame(rows, columns=["method", "size", "draw", "value"])
    return table.sort_values(["method", "size", "draw"], ignore_index=True)


@contextlib.contextmanager
def _warnings_to(texts):
    """Append the text of every user warning to a list instead of showing it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            texts.append(str(warning.message))
        else:
            place = warning.filename, warning.lineno
            warnings.warn_explicit(warning.message, warning.category, *place)


def _orders(y, smallest, n_draws, random_state):
    """Random orders of the cases with both classes among the first ones of each."""
    for rng in _generators(n_draws, random_state):
        order = rng.permutation(len(y))
        first = order[:smallest]
        if np.ptp(y[first]):
            yield order
            continue
        # Only the first ones are redrawn, which is fast if a class is rare.
        while not np.ptp(y[first]):
            first = rng.choice(len(y), smallest, replace=False)
        others = np.setdiff1d(order, first, assume_unique=True)
        yield np.concatenate([first, rng.permutation(others)])


def _orders_of_groups(groups, y, smallest, n_draws, random_state):
    """Random orders of whole groups with both classes among the first cases of each."""
    members = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    for rng in _generators(n_draws, random_state):
        for _ in range(_TRIES):
            parts = [rng.permutation(members[group]) for group in rng.permutation(len(members))]
            order = np.concatenate(parts)
            if np.ptp(y[order[:smallest]]):
                break
        else:
            message = (
                f"must leave cases of both classes among the first {smallest} of whole groups; in "
                f"{_TRIES} orders of them it did not"
            )
            raise InputError(
                message, argument="groups", options=("sizes",), remedy="name larger `sizes`"
            )
        yield order


def _generators(n_draws, random_state):
    """A generator of random numbers for each draw."""
    check_seed(random_state, takes_legacy=True)
    seed = np.random.default_rng(random_state).integers(2**63)
    for draw in range(n_draws):
        yield np.random.default_rng([seed, draw])


def _checked_calibrators(calibrators):
    if calibrators is None:
        calibrators = {"Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
    if not hasattr(calibrators, "items") or not len(calibrators):
        message = (
            "must map names to calibrators, at least one, as in {'Platt': PlattCalibrator()}, got "
            f"{calibrators!r}"
        )
        raise InputTypeError(message, argument="calibrators")
    for name, calibrator in calibrators.items():
        if not isinstance(name, str):
            raise InputTypeError(
                f"must have strings as names, got {name!r}", argument="calibrators"
            )
        if name == _UNCALIBRATED:
            message = f"must not have the name of the scores themselves, got {name!r}"
            raise InputError(message, argument="calibrators", remedy="choose another one")
        if not is_calibrator(calibrator):
            message = f"must be objects with fit and predict; {name!r} is {calibrator!r}"
            raise InputTypeError(message, argument="calibrators")
    return calibrators


def _checked_sizes(sizes, n):
    """The distinct sizes in increasing order."""
    if sizes is None:
        sizes = [size for size in _SIZES if size <= n]
        if not sizes:
            message = f"must be of {_SIZES[0]} calibration cases or more, got {n!r}"
            raise InputError(
                message, argument="scores", options=("sizes",), remedy="name smaller `sizes`"
            )
    sizes = list(np.atleast_1d(np.asarray(sizes, dtype=object)))
    if not sizes:
        raise InputError(f"must hold at least one number, got {sizes!r}", argument="sizes")
    for size in sizes:
        check_whole("sizes", size, 2, n, remedy="use no more than there are calibration cases")
    return sorted({int(size) for size in sizes})


def _checked_metric(metric):
    """Return a function of labels and probabilities that returns floats."""
    if metric is None:
        return root_mean_squared_error
    function = metric_of(metric, np.arange(2), needs_direction=False).function

    def measured(y, p):
        value = function(y, p)
        if not isinstance(value, Real):
            raise InputTypeError(f"must return one number, got {value!r}", argument="metric")
        return float(value)

    return measured


def reliability(y, p, bins=10, classes=None, by="class"):
    """Compare predicted probabilities with observed frequencies of the positive class by bin.

    Parameters
    ----------
    y : array-like of labels, shape (n,)
        0 and 1, or classes 0, 1, ..., or with `classes` some of these.
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class, as from ``predict_proba``.
    bins : int, default=10
        Number of bins of equal width from 0 to 1, closed on the right; 0 is in the first bin.
    classes : sequence of labels, default=None
        The labels of the columns of `p`, such as ``classes_`` of a classifier; None is 0, 1, ....
    by : {"class", "confidence"}, default="class"
        For several classes: "class" compares each class with the rest, "confidence" the probability
        of the most probable class (of the last of two equally probable ones, otherwise of the
        first) with how often it is the true one.

    Returns
    -------
    pandas.DataFrame
        One row per non-empty bin: left and right (its edges), mean_prediction,
        fraction_positive, count, low and high (95 % Wilson interval of the fraction). For several
        classes by class the first column is class.

    Raises
    ------
    TypeError, ValueError
        For labels other than 0 and 1 or `classes`, probabilities out of range, different lengths, a
        number of bins below 1, an unknown `by`, and `classes` or "confidence" for probabilities of
        one class.

    References
    ----------
    DeGroot & Fienberg (1983), "The comparison and evaluation of forecasters"; Niculescu-Mizil
    (2008), section 3.3; for the confidence Guo, Pleiss, Sun & Weinberger (2017), "On calibration of
    modern neural networks", ICML.

    Examples
    --------
    >>> table = reliability([0, 1, 1, 1], [0.1, 0.15, 0.9, 1.0])
    >>> table[["left", "right", "fraction_positive", "count"]]
       left  right  fraction_positive  count
    0   0.0    0.1                0.0      1
    1   0.1    0.2                1.0      1
    2   0.8    0.9                1.0      1
    3   0.9    1.0                1.0      1
    >>> p = [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]]
    >>> table = reliability(["a", "c"], p, classes=["a", "b", "c"], by="confidence")
    >>> table[["mean_prediction", "fraction_positive"]]
       mean_prediction  fraction_positive
    0              0.7                0.0
    1              0.9                1.0
    """
    check_whole("bins", bins, 1, MOST_REPEATS)
    check_choice("by", by, ("class", "confidence"))
    if np.ndim(p) != 2:
        for name, given in (("classes", classes), ("by", None if by == "class" else by)):
            if given is not None:
                message = f"must be left out for probabilities of one class, got {given!r}"
                raise InputError(
                    message, argument=name, options=("p",), remedy="give `p` a column per class"
                )
        y, p, _ = checked_cases(y, p, None)
        return _table(y, p, bins)
    names = np.arange(np.shape(p)[1]) if classes is None else _checked_names(classes, p)
    if classes is not None:
        y = _positions(y, names)
    y, p, _ = checked_classes(y, p, None)
    if by == "confidence":
        return _table(*top_label(y, p), bins)
    tables = [
        _table(y == k, p[:, k], bins).assign(**{"class": name}) for k, name in enumerate(names)
    ]
    table = pd.concat(tables, ignore_index=True)
    return table[["class", *table.columns.drop("class")]]


def _table(y, p, bins):
    """One row per non-empty bin."""
    edges = np.arange(bins + 1) / bins
    place = bin_of_width(p, bins)
    rows = []
    for at in np.unique(place):
        is_inside = place == at
        n_positive, count = int(y[is_inside].sum()), int(is_inside.sum())
        interval = binomtest(n_positive, count).proportion_ci(method="wilson")
        rows.append(
            {
                "left": edges[at],
                "right": edges[at + 1],
                "mean_prediction": p[is_inside].mean(),
                "fraction_positive": n_positive / count,
                "count": count,
                "low": interval.low,
                "high": interval.high,
            }
        )
    return pd.DataFrame(rows)


def _checked_names(classes, p):
    """The labels of the columns, one each, or an error."""
    names = classes.tolist() if isinstance(classes, np.ndarray | pd.Index) else list(classes)
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    if len(names) != np.shape(p)[1] or len(set(names)) < len(names):
        message = f"must be one label per column of `p`, {np.shape(p)[1]} in all, got {names}"
        raise InputError(message, argument="classes", options=("p",))
    return names


def _positions(y, names):
    """The position of each label among the classes, or an error."""
    place = pd.Index(names, dtype=object).get_indexer(pd.Index(np.ravel(y), dtype=object))
    if (place < 0).any():
        given = np.ravel(y)[place < 0].tolist()[0]
        message = f"must hold labels of `classes`, got {given!r}"
        raise InputError(
            message, argument="y", options=("classes",), remedy="give `classes_` of the classifier"
        )
    return place


DIGITS = 4


def window_of(n_cases):
    """Number of cases in a window of the calibration error: 100, or a fifth of few cases."""
    return min(100, -(-n_cases // 5))


def gain(y, stages, lowest):
    """Difference in cross-entropy between the uncalibrated scores and the best method.

    If the scores are not probabilities, it is the difference from the next best method.

    Parameters
    ----------
    y : array of 0 and 1, shape (n,)
    stages : mapping of str to float array of shape (n,)
        Probabilities by method, those before calibration under "before".
    lowest : float
        Where probabilities are clipped.

    Returns
    -------
    dict
        "of" and "than", the two methods; "nats" and "standard_error" of the mean over cases.
    """
    losses = {
        method: -np.log(np.clip(np.where(y == 1, p, 1 - p), lowest, 1 - lowest))
        for method, p in stages.items()
    }
    methods = sorted(losses, key=lambda method: losses[method].mean())
    than = "before" if "before" in losses else methods[1]
    first = next(method for method in methods if method != than)
    gains = losses[than] - losses[first]
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return {"of": first, "than": than, "nats": float(gains.mean()), "standard_error": float(error)}


def best(values):
    """Names of the lowest values, after rounding to the digits shown."""
    rounded = values.round(DIGITS)
    return list(rounded.index[rounded == rounded.min()])


def verdict(record):
    """Say in one sentence which methods have the lowest cross-entropy, and by how much."""
    names, found = record["best"], record["gain"]
    if names == ["before"]:
        return (
            "No method of calibration has a lower cross-entropy than the scores as they are; that "
            f"of {found['of']} is {_difference(found)}above it{_chance(found)}."
        )
    has = "has" if len(names) == 1 else "have"
    shown = {"before": "the scores as they are"}
    known = " and ".join(shown.get(name, name) for name in names)
    said = f"By cross-validation, {known} {has} the lowest cross-entropy"
    if found["than"] not in names:
        than = shown.get(found["than"], found["than"])
        said += f", {_difference(found)}below that of {than}{_chance(found)}"
    if names == ["isotonic"] and record["labelled"] < ENOUGH_FOR_ISOTONIC:
        said += "; of so few rows it follows chance, so below about "
        said += f"{ENOUGH_FOR_ISOTONIC} prefer other methods"
    return f"{said}."


def _difference(found):
    """A difference and its standard error, which is shown with at least two digits."""
    value, error = abs(found["nats"]), found["standard_error"]
    digits = DIGITS if error == 0 else max(DIGITS, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f} (standard error) "


def _chance(found):
    return ", which may be chance" if abs(found["nats"]) < 2 * found["standard_error"] else ""
