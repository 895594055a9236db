"""Platt's method: a sigmoid of the scores, fitted by regularized maximum likelihood."""

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.arguments import checked_classes, checked_scores
from bnmtl.errors import check_choice, check_number
from bnmtl.metrics.cases import checked_numbers

_MOST_STEPS = 100
_SMALLEST_STEP = 1e-10
_GRADIENT = 1e-10  # gradient per unit of weight at which the fit ends


class PlattCalibrator(BaseEstimator):
    """Calibrate scores by a sigmoid, P(y = 1) = 1 / (1 + exp(a f + b)).

    Targets are (N+ + 1) / (N+ + 2) for positive cases and 1 / (N- + 2) for negative ones, so that
    the fit is finite even if scores separate the classes.

    Parameters
    ----------
    scale : {"raw", "logit"}, default="raw"
        "raw" uses the scores directly, such as margins. "logit" uses the log odds of probabilities,
        so that a = -1, b = 0 is the identity. Of n cases (the sum of the weights), probabilities
        are clipped to [1 / (n + 2), (n + 1) / (n + 2)] in ``fit`` and ``predict``: the 0 and 1 of
        forests and nearest neighbors would otherwise decide the fit.

    Attributes
    ----------
    a_, b_ : float
        `a_` is below 0 if higher scores mean more positive cases, and 0 if all scores are equal.
    lowest_ : float or None
        Where the probabilities are clipped; None for "raw".

    Raises
    ------
    TypeError, ValueError
        In ``fit`` and ``predict``: for an unknown `scale`, labels other than 0 and 1, only one
        class, and scores that are not finite numbers or, for "logit", not probabilities.

    References
    ----------
    Platt (1999), "Probabilistic outputs for support vector machines"; Lin, Lin & Weng (2007), "A
    note on Platt's probabilistic outputs for support vector machines"; Niculescu-Mizil (2008),
    section 3.2.1.

    Examples
    --------
    >>> calibrator = PlattCalibrator().fit([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    >>> calibrator.predict([-2.0, 0.0, 2.0]).round(3)
    array([0.206, 0.5  , 0.794])
    """

    def __init__(self, scale="raw"):
        self.scale = scale

    def fit(self, scores, y, sample_weight=None):
        """Fit the sigmoid.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,)
        y : array-like of 0 and 1, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case.

        Returns
        -------
        PlattCalibrator
        """
        is_probability = takes_probabilities(self.scale)
        scores, y, weights = checked_scores(scores, y, sample_weight, is_probability)
        targets = smoothed(y, weights)
        self.lowest_ = clipped_at(weights) if is_probability else None
        scores = scaled(scores, self.lowest_)
        f, exponent = in_range(scores)
        center, spread = location(f, weights)
        if spread == 0:
            self.a_, self.b_ = 0.0, -float(logit(np.average(targets, weights=weights)))
            return self
        slope, offset = newton((f - center) / spread, targets, weights)
        self.a_ = float(np.ldexp(slope / spread, -exponent))
        self.b_ = float(offset - slope * center / spread)
        return self

    def predict(self, scores):
        """Calibrated probabilities.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,)

        Returns
        -------
        numpy.ndarray of shape (n,)
            P(y = 1).
        """
        check_is_fitted(self)
        scores = checked_numbers("scores", scores, takes_probabilities(self.scale))
        return sigmoid(scores, self.a_, self.b_, self.lowest_)

    def as_record(self):
        """Return a record of numbers and text from which `from_record` restores the calibrator."""
        record = {"scale": self.scale, "a": self.a_, "b": self.b_}
        return record if self.lowest_ is None else {**record, "lowest": self.lowest_}

    @classmethod
    def from_record(cls, record):
        """Restore a fitted calibrator; the inverse of `as_record`.

        Parameters
        ----------
        record : dict
            Log odds without "lowest" were clipped at the machine epsilon.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is not a valid record.
        """
        calibrator = cls(scale=record["scale"])
        calibrator.a_, calibrator.b_ = float(record["a"]), float(record["b"])
        calibrator.lowest_ = None
        if takes_probabilities(record["scale"]):
            calibrator.lowest_ = checked_lowest(record["lowest"])
        return calibrator


def takes_probabilities(scale):
    """Whether a scale is for probabilities only; raise for an unknown scale."""
    check_choice("scale", scale, ("raw", "logit"))
    return scale == "logit"


def clipped_at(weights):
    """The lowest probability that cases with these weights distinguish from 0."""
    return float(1 / (weights.sum() + 2))


def checked_lowest(value):
    """The lowest probability of a record as a float, or an error."""
    check_number("lowest", value, above=0, below=0.5)
    return float(value)


def scaled(scores, lowest):
    """The scores, or the log odds of probabilities clipped at the lowest one, if there is one."""
    return scores if lowest is None else logit(np.clip(scores, lowest, 1 - lowest))


def sigmoid(scores, a, b, lowest):
    """Probabilities at scores; they saturate far beyond the scores of the fit."""
    with np.errstate(over="ignore"):
        return expit(-(a * scaled(scores, lowest) + b))


def smoothed(y, weights):
    """Targets between 0 and 1, so that the fit is finite even if scores separate the classes."""
    checked_classes(y, "must hold cases of both classes, 0 and 1")
    n_positive, n_negative = weights @ y, weights @ (1 - y)
    return np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def in_range(scores):
    """Scores divided by a power of two so that the largest is between 1/2 and 1, and its exponent.

    So squares do not overflow for scores of any size, and no bits are lost.
    """
    exponent = int(np.frexp(np.abs(scores).max())[1])
    return np.ldexp(scores, -exponent), exponent


def location(scores, weights):
    """Mean and standard deviation, used to standardize scores."""
    center = np.average(scores, weights=weights)
    return center, np.sqrt(np.average((scores - center) ** 2, weights=weights))


def loss(design, point, targets, weights):
    """Cross-entropy of targets at 1 / (1 + exp(slope f + offset)), stable for any size of f."""
    z = design @ point
    return weights @ (np.logaddexp(0, z) - (1 - targets) * z)


def curvature(design, point, weights):
    """Second derivatives of the loss."""
    p = expit(-(design @ point))
    return (design * (weights * p * (1 - p))[:, None]).T @ design


def newton(f, targets, weights, prior=None, precision=0.0):
    """Slopes and offset with minimal loss, by Newton's method with step halving.

    ``f`` holds a score per case, or a column per slope. With a precision, half of it times the
    squared distance to the prior slopes and offset is added to the loss.
    """
    design = np.column_stack([f, np.ones(len(f))])
    prior = np.zeros(design.shape[1]) if prior is None else np.asarray(prior)

    def penalized(point):
        return loss(design, point, targets, weights) + precision / 2 * ((point - prior) ** 2).sum()

    point = prior
    if not precision:
        point = np.append(np.zeros(len(prior) - 1), -logit(np.average(targets, weights=weights)))
    reached = penalized(point)
    for _ in range(_MOST_STEPS):
        gradient = design.T @ (weights * (targets - expit(-(design @ point))))
        gradient = gradient + precision * (point - prior)
        if np.abs(gradient).max() < _GRADIENT * weights.sum():
            break
        bend = curvature(design, point, weights) + (precision + 1e-12) * np.eye(len(point))
        direction = -np.linalg.solve(bend, gradient)
        step = 1.0
        while step >= _SMALLEST_STEP:
            there = point + step * direction
            value = penalized(there)
            if value < reached + 1e-4 * step * (gradient @ direction):
                break
            step /= 2
        else:
            break
        point, reached = there, value
    return point
