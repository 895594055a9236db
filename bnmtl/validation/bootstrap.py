"""Errors by the bootstrap: .632, .632+, and intervals."""

import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import stats

from bnmtl.errors import MOST_RESAMPLES, InputError, check_choice, check_number, check_whole
from bnmtl.seeding import generator, seed_of
from bnmtl.validation.rounds import OF_CASES, Rounds, check_rounds, value_per_row

_LEFT_OUT = 0.632  # the share of different cases in a bootstrap
_LOSSES = {
    "zero_one": lambda codes, p: 1 - OF_CASES["accuracy"](codes, p),
    "squared": OF_CASES["squared_error"],
}


class BootstrapError(NamedTuple):
    """Errors of a classifier.

    Parameters
    ----------
    training : float
        On its training cases.
    out_of_bag : float
        Of each case by the rounds that have not learned from it; the mean over cases.
    no_information : float
        If labels did not depend on the features.
    overfitting : float
        From 0 to 1: the way of the out-of-bag error from the training error to no information.
    error_632, error_632_plus : float
        Mixtures of training and out-of-bag error; the second trusts the first the less the more
        the classifier overfits.
    percentile, bca : tuple of float
        Intervals of the out-of-bag error, over cases.
    """

    training: float
    out_of_bag: float
    no_information: float
    overfitting: float
    error_632: float
    error_632_plus: float
    percentile: tuple
    bca: tuple


class ErrorDifference(NamedTuple):
    """The out-of-bag error of one classifier minus that of another one on the same cases.

    Parameters
    ----------
    difference : float
    percentile, bca : tuple of float
        Intervals of the difference, from cases drawn for both.
    """

    difference: float
    percentile: tuple
    bca: tuple


def bootstrap_error(
    rounds,
    other=None,
    loss="zero_one",
    confidence=0.95,
    groups=None,
    n_resamples=2000,
    random_state=None,
):
    """Estimate the error of a classifier from bootstrap rounds.

    Parameters
    ----------
    rounds : Rounds
        By ``predict_rounds(scheme="bootstrap")``.
    other : Rounds, default=None
        Of another classifier on the same cases, for the difference of both.
    loss : {"zero_one", "squared"} or callable, default="zero_one"
        Errors; squared error of the probabilities, summed over classes; or a function (codes, p) of
        positions of classes and probabilities of all classes that gives the loss of each case.
    confidence : float, default=0.95
    groups : array-like of shape (n_cases,), default=None
        Cases of the same group are drawn together for the intervals. None is those of the rounds.
    n_resamples : int, default=2000
    random_state : None, int or numpy.random.Generator, default=None
        Of the intervals. With an int, results depend only on data and parameters.

    Returns
    -------
    BootstrapError, or ErrorDifference if there is an ``other``

    Raises
    ------
    TypeError, ValueError
        For rounds without predictions by the fit to all cases, cases that differ, and parameters
        out of range.

    References
    ----------
    Efron & Tibshirani (1997), "Improvements on cross-validation: the .632+ bootstrap method",
    Journal of the American Statistical Association 92.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bnmtl.validation import predict_rounds
    >>> X, y = load_iris(return_X_y=True)
    >>> rounds = predict_rounds(DecisionTreeClassifier(), X, y, rounds=20, random_state=0)
    >>> found = bootstrap_error(rounds, random_state=0)
    >>> found.training, bool(0.02 < found.error_632_plus < found.out_of_bag < 0.08)
    (0.0, True)
    """
    if not callable(loss):
        check_choice("loss", loss, _LOSSES)
    loss = _checked(loss) if callable(loss) else _LOSSES[loss]
    check_number("confidence", confidence, above=0, below=1)
    check_whole("n_resamples", n_resamples, least=10, most=MOST_RESAMPLES)
    options = {"confidence_level": confidence, "n_resamples": n_resamples}
    interval = partial(_intervals, seed=seed_of(random_state), **options)
    cases, losses = _out_of_bag(rounds, loss, "rounds")
    if other is not None:
        if not isinstance(other, Rounds) or not np.array_equal(other.y, rounds.y):
            raise InputError("must be rounds of the same cases", argument="other")
        both, others = _out_of_bag(other, loss, "other")
        shared, first, second = np.intersect1d(cases, both, return_indices=True)
        differences = losses[first] - others[second]
        of_groups = _groups_of(groups, rounds, shared)
        return ErrorDifference(float(differences.mean()), *interval(differences, of_groups))
    if rounds.full is None:
        message = "must have predictions by the fit to all cases"
        raise InputError(message, argument="rounds", remedy="use `predict_rounds`")
    training = float(loss(rounds.codes, rounds.full).mean())
    error = float(losses.mean())
    least = _no_information(rounds, loss)
    capped = min(error, least)
    room = least - training
    # Without room, for constant predictions say, the ratio would be one of rounding errors.
    overfitting = float(np.clip((capped - training) / room, 0, 1)) if room > 1e-9 else 0.0
    weight = _LEFT_OUT / (1 - (1 - _LEFT_OUT) * overfitting)
    of_groups = _groups_of(groups, rounds, cases)
    return BootstrapError(
        training=training,
        out_of_bag=error,
        no_information=least,
        overfitting=overfitting,
        error_632=(1 - _LEFT_OUT) * training + _LEFT_OUT * error,
        error_632_plus=(1 - weight) * training + weight * capped,
        **dict(zip(("percentile", "bca"), interval(losses, of_groups), strict=True)),
    )


def _checked(loss):
    """A user's function that raises unless it gives a number for each case."""

    def checked(codes, p):
        found = np.asarray(loss(codes, p))
        if found.shape != codes.shape or found.dtype.kind not in "bif":
            message = (
                f"must give one number for each case, the shape {codes.shape}, got {found.shape!r}"
            )
            raise InputError(message, argument="loss")
        return found.astype(float)

    return checked


def _out_of_bag(rounds, loss, name):
    """Cases that a round has predicted, and their mean losses."""
    check_rounds(name, rounds)
    is_bootstrap = rounds.in_bag.max() > 1 and not rounds.in_bag[rounds.is_predicted].any()
    if not is_bootstrap:
        message = "must be bootstraps that predict the cases they have not learned from"
        raise InputError(
            message,
            argument=name,
            options=("scheme",),
            remedy="`predict_rounds` with `scheme='bootstrap'`",
        )
    sums, n = np.zeros(len(rounds.y)), rounds.is_predicted.sum(axis=0)
    for p, known in zip(rounds.predictions, rounds.is_predicted, strict=True):
        if known.any():
            sums[known] += loss(rounds.codes[known], p[known])
    cases = np.flatnonzero(n)
    return cases, sums[cases] / n[cases]


def _no_information(rounds, loss):
    """Mean loss over all pairs of a label and a prediction by the fit to all cases."""
    shares = np.bincount(rounds.codes, minlength=len(rounds.classes)) / len(rounds.y)
    return float(
        sum(
            share * loss(np.full(len(rounds.y), code), rounds.full).mean()
            for code, share in enumerate(shares)
            if share
        )
    )


def _groups_of(groups, rounds, cases):
    """Positions of the groups of some cases."""
    groups = rounds.group if groups is None else groups
    if groups is None:
        return None
    groups = value_per_row("groups", groups, len(rounds.y), "rounds")
    return np.unique(groups[cases], return_inverse=True)[1]


def _intervals(values, groups, seed, **options):
    """The percentile and the BCa interval of a mean over cases, or groups of these, as pairs."""
    data, statistic = (values,), np.mean
    if groups is not None:
        data, statistic = (np.bincount(groups, values), np.bincount(groups)), _ratio
    center = float(statistic(*data, axis=-1))
    if len(data[0]) < 2 or np.ptp(data[0] / (1 if groups is None else data[1])) == 0:
        return (center, center), (center, center)
    options |= {"paired": True, "vectorized": True, "batch": max(1, 10**7 // len(data[0]))}
    pairs = []
    for method in ("percentile", "BCa"):
        rng = generator(seed, "intervals")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = stats.bootstrap(data, statistic, method=method, random_state=rng, **options)
        pairs.append(tuple(map(float, found.confidence_interval)))
    return tuple(pairs)


def _ratio(sums, counts, axis):
    return np.sum(sums, axis=axis) / np.sum(counts, axis=axis)
