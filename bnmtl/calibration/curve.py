"""Learning curves of calibrators: errors by the number of calibration cases."""

import contextlib
import warnings
from itertools import product
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.base import clone

from bnmtl.calibration.arguments import checked_classes, checked_scores
from bnmtl.calibration.isotonic import IsotonicCalibrator
from bnmtl.calibration.methods import is_calibrator
from bnmtl.calibration.platt import PlattCalibrator
from bnmtl.errors import InputError, InputTypeError, check_whole, warn
from bnmtl.metrics.cases import checked_cases
from bnmtl.metrics.folds import checked_groups
from bnmtl.metrics.prediction import root_mean_squared_error
from bnmtl.metrics.scoring import metric_of
from bnmtl.seeding import check_seed

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
    checked_classes(y, "must hold cases of both classes, 0 and 1")
    calibrators = _checked_calibrators(calibrators)
    sizes = _checked_sizes(sizes, len(y))
    check_whole("n_draws", n_draws, 1)
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
        rule = "warned {n:time}, first of all: {text!s}"
        warn("metric", rule, n=len(warned), text=warned[0].removesuffix("."))
    table = pd.DataFrame(rows, columns=["method", "size", "draw", "value"])
    return table.sort_values(["method", "size", "draw"], ignore_index=True)


@contextlib.contextmanager
def _warnings_to(texts):
    """Append the text of every user warning to a list instead of showing it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for one in caught:
        if issubclass(one.category, UserWarning):
            texts.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


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
    members = [np.flatnonzero(groups == one) for one in range(groups.max() + 1)]
    for rng in _generators(n_draws, random_state):
        for _ in range(_TRIES):
            parts = [rng.permutation(members[one]) for one in rng.permutation(len(members))]
            order = np.concatenate(parts)
            if np.ptp(y[order[:smallest]]):
                break
        else:
            rule = "must leave cases of both classes among the first {least} of whole groups"
            found, remedies = "in {tries} orders of them it did not", "name larger {sizes}"
            details = {"least": smallest, "tries": _TRIES, "remedies": remedies}
            raise InputError("groups", rule, found=found, **details)
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
        rule = "must map names to calibrators, at least one, as in {{'Platt': PlattCalibrator()}}"
        raise InputTypeError("calibrators", rule, calibrators)
    for name, calibrator in calibrators.items():
        if not isinstance(name, str):
            raise InputTypeError("calibrators", "must have strings as names", name)
        if name == _UNCALIBRATED:
            rule = "must not have the name of the scores themselves"
            raise InputError("calibrators", rule, name, remedies="choose another one")
        if not is_calibrator(calibrator):
            rule, found = "must be objects with fit and predict", "{name!r} is {value!r}"
            raise InputTypeError("calibrators", rule, found=found, name=name, value=calibrator)
    return calibrators


def _checked_sizes(sizes, n):
    """The distinct sizes in increasing order."""
    if sizes is None:
        sizes = [size for size in _SIZES if size <= n]
        if not sizes:
            rule, remedy = "must be of {least} calibration cases or more", "name smaller {sizes}"
            raise InputError("scores", rule, n, remedies=remedy, least=_SIZES[0])
    sizes = list(np.atleast_1d(np.asarray(sizes, dtype=object)))
    if not sizes:
        raise InputError("sizes", "must hold at least one number", sizes)
    for size in sizes:
        check_whole("sizes", size, 2, n, remedies="use no more than there are calibration cases")
    return sorted({int(size) for size in sizes})


def _checked_metric(metric):
    """Return a function of labels and probabilities that returns floats."""
    if metric is None:
        return root_mean_squared_error
    function = metric_of(metric, np.arange(2), needs_direction=False).function

    def measured(y, p):
        value = function(y, p)
        if not isinstance(value, Real):
            raise InputTypeError("metric", "must return one number", value)
        return float(value)

    return measured
