"""Temperature scaling: all scores times one number, which does not change their order."""

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.arguments import checked_scores
from bnmtl.calibration.platt import (
    checked_lowest,
    clipped_at,
    in_range,
    scaled,
    takes_probabilities,
)
from bnmtl.errors import InputError, check_number, warn
from bnmtl.metrics.cases import (
    SUM_TOLERANCE,
    checked_numbers,
    checked_table,
    checked_weights,
)
from bnmtl.wording import Bare

# Scores at which the result of scikit-learn shows its temperature, from 1 to 1 / 65536.
_PROBES = 2.0 ** -np.arange(17)
# The larger one of two probabilities that tell the temperature without loss of digits.
_SURE = 0.999


class TemperatureCalibrator(BaseEstimator):
    """Calibrate scores by P = 1 / (1 + exp(-f / t)), or the softmax of f / t for several classes.

    The temperature t is found by scikit-learn. It is one for all classes, so the class with the
    highest score remains the same; a score of 0 remains a probability of 1/2.

    If the true class has the highest score in every case, the likelihood has no maximum. Then a
    case counts for all K classes: with n cases of its class (the sum of their weights), for the
    true one (n + 1) / (n + K), and 1 / (n + K) for each other one, the targets of
    `PlattCalibrator` for two classes.

    Parameters
    ----------
    scale : {"raw", "logit"}, default="raw"
        "raw" uses the scores directly, such as margins. "logit" uses the log odds of probabilities,
        clipped as by `PlattCalibrator`; for several classes the logarithms.

    Attributes
    ----------
    temperature_ : float
        Above 1 if scores are too sure.
    lowest_ : float or None
        Where probabilities are clipped; None for "raw".

    Raises
    ------
    TypeError, ValueError
        In ``fit`` and ``predict``: for an unknown `scale`, labels that are not those of classes 0,
        1, ..., a class without a case, and scores that are not finite numbers or, for "logit", not
        probabilities.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger (2017), "On calibration of modern neural networks", ICML, section
    4.2; Platt (1999), "Probabilistic outputs for support vector machines", for the targets.

    Examples
    --------
    >>> calibrator = TemperatureCalibrator().fit([-4.0, -2.0, 2.0, 2.0, 4.0], [0, 0, 1, 0, 1])
    >>> calibrator.predict([-2.0, 0.0, 2.0]).round(2)
    array([0.23, 0.5 , 0.77])
    """

    def __init__(self, scale="raw"):
        self.scale = scale

    def fit(self, scores, y, sample_weight=None):
        """Find the temperature.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,) or (n, n_classes)
            Of class 1, or of every class.
        y : array-like of int, shape (n,)
            0 and 1, or classes 0, 1, ...
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case.

        Returns
        -------
        TemperatureCalibrator

        Warns
        -----
        UserWarning
            If `scale` is "raw" and the scores look like probabilities: all are from 0 to 1 and, for
            several classes, sum to 1.
        """
        is_probability = takes_probabilities(self.scale)
        if np.ndim(scores) == 2:
            scores, y, weights = _checked_table(scores, y, sample_weight, is_probability)
        else:
            scores, y, weights = checked_scores(scores, y, sample_weight, is_probability)
        columns = scores[:, None] if scores.ndim == 1 else scores
        y, n_classes = y.astype(int), max(2, columns.shape[1])
        _check_every_class(y, n_classes)
        if not is_probability and _are_probabilities(columns):
            rule = "are from 0 to 1 like probabilities, but {scale=raw} takes them as log odds"
            warn("scores", rule, remedies="set {scale=logit} if they are probabilities")
        self.lowest_ = clipped_at(weights) if is_probability else None
        columns, exponent = in_range(self._scaled(columns))
        if n_classes == columns.shape[1]:
            # The same softmax, which scikit-learn does not mistake for probabilities.
            columns = columns - columns.max(axis=1, keepdims=True)
        if _are_separable(columns, y):
            columns, y, weights = _smoothed_cases(columns, y, weights, n_classes)
        rows = np.arange(len(y))
        # A single fold, whose training and test cases are all.
        model = CalibratedClassifierCV(_AsGiven(), method="temperature", cv=[(rows, rows)])
        model.fit(columns, y, weights)
        # Scores of class 1, all others 0.
        probes = np.zeros((len(_PROBES), columns.shape[1]))
        probes[:, -1] = _PROBES
        p = model.predict_proba(probes)
        at = np.flatnonzero(p[:, -1] < _SURE)[0]
        factor = np.log(p[at, -1] / p[at, 0]) / _PROBES[at]
        self.temperature_ = float(np.ldexp(1 / factor, exponent))
        return self

    def predict(self, scores):
        """Calibrated probabilities.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,) or (n, n_classes)

        Returns
        -------
        numpy.ndarray of shape (n,) or (n, n_classes)
            P(y = 1), or the probability of every class.
        """
        check_is_fitted(self)
        is_probability = takes_probabilities(self.scale)
        if np.ndim(scores) == 2:
            scores = checked_table("scores", scores, ("cases", "classes"), is_probability)
            return softmax(self._scaled(scores) / self.temperature_, axis=1)
        scores = checked_numbers("scores", scores, is_probability)
        return expit(self._scaled(scores) / self.temperature_)

    def as_record(self):
        """Return a record of numbers and text from which `from_record` restores the calibrator."""
        record = {"scale": self.scale, "temperature": self.temperature_}
        return record if self.lowest_ is None else {**record, "lowest": self.lowest_}

    @classmethod
    def from_record(cls, record):
        """Restore a fitted calibrator; the inverse of `as_record`.

        Parameters
        ----------
        record : dict

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is not a valid record.
        """
        is_probability = takes_probabilities(record["scale"])
        calibrator = cls(scale=record["scale"])
        check_number("temperature", record["temperature"], above=0)
        calibrator.temperature_ = float(record["temperature"])
        calibrator.lowest_ = checked_lowest(record["lowest"]) if is_probability else None
        return calibrator

    def _scaled(self, scores):
        """Scores, log odds of the probabilities of class 1, or logarithms of those of all."""
        if np.ndim(scores) == 1 or scores.shape[1] == 1 or self.lowest_ is None:
            return scaled(scores, self.lowest_)
        return np.log(np.clip(scores, self.lowest_, 1 - self.lowest_))


class _AsGiven(ClassifierMixin, BaseEstimator):
    """A classifier whose decision values are its features."""

    def fit(self, X, y, sample_weight=None):
        """Keep the classes."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        """Scores of class 1, or of every class."""
        return X[:, 0] if X.shape[1] == 1 else X


def _checked_table(scores, y, weights, is_probability):
    """Scores (n, n_classes), positions of the true classes and weights of cases that count."""
    scores = checked_table("scores", scores, ("cases", "classes"), is_probability)
    y = checked_numbers("y", y, remedy="use positions in the sorted classes")
    if len(y) != len(scores):
        raise InputError("scores", "must be one row per case, {n} as in {y}", len(scores), n=len(y))
    weights = checked_weights(weights, len(y), name="sample_weight")
    counts = weights > 0
    return scores[counts], y[counts], weights[counts]


def _are_probabilities(columns):
    """Whether scores look like those of one class, or of all, which sum to 1."""
    is_in_range = ((columns >= 0) & (columns <= 1)).all()
    sums = columns.sum(axis=1)
    return bool(is_in_range and (columns.shape[1] == 1 or (abs(sums - 1) < SUM_TOLERANCE).all()))


def _are_separable(columns, y):
    """Whether no other class has a higher score than the true one in any case."""
    table = np.column_stack([0 * columns, columns]) if columns.shape[1] == 1 else columns
    return bool((table[np.arange(len(y)), y] == table.max(axis=1)).all())


def _smoothed_cases(columns, y, weights, n_classes):
    """Every case once for each class, weighted by the smoothed target of the class."""
    sizes = np.bincount(y, weights, n_classes)[y]
    targets = np.full((len(y), n_classes), 1 / (sizes + n_classes)[:, None])
    targets[np.arange(len(y)), y] *= sizes + 1
    classes = np.tile(np.arange(n_classes), len(y))
    return np.repeat(columns, n_classes, axis=0), classes, (weights[:, None] * targets).ravel()


def _check_every_class(y, n_classes):
    """Raise unless the labels are those of all classes."""
    if set(y.tolist()) != set(range(n_classes)):
        rule = "must hold cases of every class, 0 to {most}"
        given = Bare(", ".join(map(str, np.unique(y))))
        raise InputError("y", rule, given, most=n_classes - 1)
