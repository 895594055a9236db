"""Beta calibration: a sigmoid with separate slopes for the logarithms of p and 1 - p."""

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.arguments import checked_scores
from bnmtl.calibration.platt import checked_lowest, clipped_at, loss, newton, smoothed
from bnmtl.errors import InputError
from bnmtl.metrics.cases import checked_numbers

# Slopes as linear functions of those that are fitted: both, or one of them while the other is 0.
_BOTH, _FIRST, _SECOND = np.eye(2), np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]])
_EQUAL, _NEITHER = np.ones((2, 1)), np.zeros((2, 0))
# Logarithms with a squared correlation above 1 minus this are counted as collinear.
_COLLINEAR = 1e-10


class BetaCalibrator(BaseEstimator):
    """Calibrate probabilities by P(y = 1) = 1 / (1 + exp(-a log p + b log(1 - p) - c)), a, b >= 0.

    This is the ratio of two beta densities. It includes the identity (a = b = 1, c = 0), which the
    sigmoid of the probabilities themselves does not, the sigmoid of their log odds (a = b), and
    curves that bend differently near 0 and near 1. It never falls as p rises.

    Of n cases (the sum of the weights), probabilities are clipped to [1 / (n + 2), (n + 1) / (n +
    2)] in ``fit`` and ``predict``, and targets are those of `PlattCalibrator`, so the fit is finite
    even for probabilities of 0 and 1 that separate the classes.

    Attributes
    ----------
    a_, b_, c_ : float
        `a_` and `b_` are equal if the probabilities are too alike to tell them apart.
    lowest_ : float
        Where the probabilities are clipped.

    Raises
    ------
    TypeError, ValueError
        In ``fit`` and ``predict``: for labels other than 0 and 1, only one class, and scores that
        are not probabilities.

    References
    ----------
    Kull, Silva Filho & Flach (2017), "Beyond sigmoids: How to obtain well-calibrated probabilities
    from binary classifiers with beta calibration", Electronic Journal of Statistics 11, theorem 1
    and section 4; the targets are Platt's.

    Examples
    --------
    >>> p, y = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0, 0, 1, 0, 1, 1]
    >>> BetaCalibrator().fit(p, y).predict([0.0, 0.5, 1.0]).round(3)
    array([0.216, 0.5  , 0.784])
    """

    def fit(self, scores, y, sample_weight=None):
        """Fit the function by maximum likelihood.

        Parameters
        ----------
        scores : array-like of probabilities, shape (n,)
        y : array-like of 0 and 1, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case.

        Returns
        -------
        BetaCalibrator
        """
        scores, y, weights = checked_scores(scores, y, sample_weight, is_probability=True)
        targets = smoothed(y, weights)
        self.lowest_ = clipped_at(weights)
        logs = _logs(scores, self.lowest_)
        found = []
        for shape in _shapes(logs, weights):
            slopes, offset, value = _fitted(logs @ shape, targets, weights)
            pair = shape @ slopes
            if (pair >= 0).all():
                found.append((value, *pair, -offset))
            if shape is _BOTH and found:
                break  # The loss is convex, so no boundary is better.
        _, self.a_, self.b_, self.c_ = map(float, min(found))
        return self

    def predict(self, scores):
        """Calibrated probabilities.

        Parameters
        ----------
        scores : array-like of probabilities, shape (n,)

        Returns
        -------
        numpy.ndarray of shape (n,)
            P(y = 1).
        """
        check_is_fitted(self)
        logs = _logs(checked_numbers("scores", scores, True), self.lowest_)
        return expit(self.c_ - logs @ [self.a_, self.b_])

    def as_record(self):
        """Return a record of numbers from which `from_record` restores the calibrator."""
        return {"a": self.a_, "b": self.b_, "c": self.c_, "lowest": self.lowest_}

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
        calibrator = cls()
        calibrator.a_, calibrator.b_, calibrator.c_ = (float(record[key]) for key in "abc")
        for name in "ab":
            if not record[name] >= 0:
                raise InputError(name, "must be 0 or more", record[name])
        calibrator.lowest_ = checked_lowest(record["lowest"])
        return calibrator


def _logs(p, lowest):
    """Minus the logarithm of p, and that of 1 - p, shape (n, 2); both fall as p rises."""
    p = np.clip(p, lowest, 1 - lowest)
    return np.column_stack([-np.log(p), np.log1p(-p)])


def _shapes(logs, weights):
    """Which slopes may be fitted; without a difference between probabilities, none."""
    moved = logs - np.average(logs, axis=0, weights=weights)
    (first, both), (_, second) = moved.T @ (weights[:, None] * moved)
    if np.ptp(logs[:, 0]) == 0:
        return (_NEITHER,)
    if both**2 >= (1 - _COLLINEAR) * first * second:
        return _EQUAL, _NEITHER
    return _BOTH, _FIRST, _SECOND, _NEITHER


def _fitted(columns, targets, weights):
    """Slopes, offset and loss of the best sigmoid; columns are standardized for Newton's method."""
    center = np.average(columns, axis=0, weights=weights)
    spread = np.sqrt(np.average((columns - center) ** 2, axis=0, weights=weights))
    units = (columns - center) / spread
    *slopes, offset = point = newton(units, targets, weights)
    slopes = slopes / spread
    value = loss(np.column_stack([units, np.ones(len(units))]), point, targets, weights)
    return slopes, offset - slopes @ center, value
