"""Platt's method for several tasks: one sigmoid per task, shrunk towards a common one."""

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.arguments import checked_scores
from bnmtl.calibration.platt import (
    PlattCalibrator,
    curvature,
    in_range,
    location,
    loss,
    newton,
    scaled,
    sigmoid,
    smoothed,
    takes_probabilities,
)
from bnmtl.errors import InputError
from bnmtl.metrics.cases import checked_numbers, checked_weights

# Bounds of the logarithm of the variance, between sharing everything and nothing.
_LOG_VARIANCES = (-12.0, 6.0)


class MultitaskPlattCalibrator(BaseEstimator):
    """Calibrate the scores of several tasks by one sigmoid per task, shrunk towards a common one.

    The pair (a, b) of each task has a Gaussian prior around the pair fitted to all rows. Its
    variance maximizes the marginal likelihood (by Laplace's method): if tasks are similar it is
    small and tasks with few rows follow the others; if they differ it is large and each task
    follows its own rows.

    Parameters
    ----------
    scale : {"raw", "logit"}, default="raw"
        As in `PlattCalibrator`: the scores themselves, or the log odds of probabilities, clipped
        by the number of cases of all tasks.

    Attributes
    ----------
    a_, b_ : pandas.Series by task
        P(y = 1) = 1 / (1 + exp(a f + b)).
    pooled_ : PlattCalibrator
        The sigmoid of all rows, for new tasks.
    variance_ : float
        Prior variance of slope and offset, for scores standardized over all rows.

    Raises
    ------
    TypeError, ValueError
        In ``fit`` and ``predict``: for labels other than 0 and 1, only one class over all tasks,
        scores that are not finite numbers, different lengths, rows without a task and, in
        ``predict``, new tasks.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores, task = rng.normal(size=600), np.repeat(["north", "south"], 300)
    >>> y = rng.random(600) < 1 / (1 + np.exp(-scores - 2 * (task == "south")))
    >>> calibrator = MultitaskPlattCalibrator().fit(scores, y, task)
    >>> calibrator.predict([0.0, 0.0], ["north", "south"]).round(1)
    array([0.5, 0.9])
    """

    def __init__(self, scale="raw"):
        self.scale = scale

    def fit(self, scores, y, task, sample_weight=None):
        """Fit the sigmoids.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,)
        y : array-like of 0 and 1, shape (n,)
        task : array-like of names, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case; a case with the weight 2 counts as two cases.

        Returns
        -------
        MultitaskPlattCalibrator
        """
        is_probability = takes_probabilities(self.scale)
        names = _names(task, len(np.asarray(scores)))
        if sample_weight is not None:
            names = names[checked_weights(sample_weight, len(names), name="sample_weight") > 0]
        scores, y, weights = checked_scores(scores, y, sample_weight, is_probability)
        self.pooled_ = PlattCalibrator(self.scale).fit(scores, y, weights)
        # The same for all tasks, whose sigmoids are to be alike.
        f, exponent = in_range(scaled(scores, self.pooled_.lowest_))
        targets, (center, spread) = smoothed(y, weights), location(f, weights)
        units, slope = (f - center) / (spread or 1.0), np.ldexp(self.pooled_.a_, exponent)
        pooled = np.array([slope * spread, self.pooled_.b_ + slope * center])
        rows_of = {name: names == name for name in sorted(set(names))}
        parts = {name: (units[at], targets[at], weights[at]) for name, at in rows_of.items()}

        def negative(log_variance):
            return -sum(
                log_marginal(*part, pooled, np.exp(log_variance)) for part in parts.values()
            )

        found = minimize_scalar(negative, bounds=_LOG_VARIANCES, method="bounded")
        self.variance_ = float(np.exp(found.x))
        pairs = {name: newton(*part, pooled, 1 / self.variance_) for name, part in parts.items()}
        slopes = {name: slope / (spread or 1.0) for name, (slope, _) in pairs.items()}
        self.a_ = np.ldexp(pd.Series(slopes, name="a"), -exponent)
        self.b_ = pd.Series(
            {name: offset - slopes[name] * center for name, (_, offset) in pairs.items()}, name="b"
        )
        return self

    def predict(self, scores, task):
        """Calibrated probabilities.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,)
        task : array-like of names, shape (n,), or str
            A single name applies to all scores.

        Returns
        -------
        numpy.ndarray of shape (n,)
            P(y = 1).
        """
        check_is_fitted(self)
        scores = checked_numbers("scores", scores, takes_probabilities(self.scale))
        names = _names([task] * len(scores) if isinstance(task, str) else task, len(scores))
        unknown = sorted(set(names) - set(self.a_.index))
        if unknown:
            rule, remedy = "must name tasks of the fit, {known}", "calibrate new tasks by `pooled_`"
            raise InputError("task", rule, unknown[0], remedies=remedy, known=list(self.a_.index))
        a, b = (by_task.loc[names].to_numpy() for by_task in (self.a_, self.b_))
        return sigmoid(scores, a, b, self.pooled_.lowest_)

    def as_record(self):
        """Return a record of numbers and text from which `from_record` restores the calibrator."""
        return {
            "scale": self.scale,
            "a": self.a_.to_dict(),
            "b": self.b_.to_dict(),
            "variance": self.variance_,
            "pooled": {key: one for key, one in self.pooled_.as_record().items() if key != "scale"},
        }

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
        calibrator = cls(scale=record["scale"])
        calibrator.pooled_ = PlattCalibrator.from_record(
            {"scale": record["scale"], **record["pooled"]}
        )
        calibrator.a_ = pd.Series(record["a"], dtype=float, name="a")
        calibrator.b_ = pd.Series(record["b"], dtype=float, name="b").loc[calibrator.a_.index]
        calibrator.variance_ = float(record["variance"])
        return calibrator


def _names(task, n):
    names = pd.Series(task, dtype=object)
    if len(names) != n:
        raise InputError("task", "must be one name per score, {n}", len(names), n=n)
    if names.isna().any():
        rule, found = "must name the task of every score", "that of row {row} is missing"
        row = int(names.isna().to_numpy().argmax())
        remedies = ("fill it", "leave the row out")
        raise InputError("task", rule, found=found, remedies=remedies, row=row)
    return names.astype(str).to_numpy(dtype=object)


def log_marginal(f, targets, weights, prior, variance):
    """Laplace's approximation of the log marginal likelihood of a task, over its pair (a, b)."""
    point = newton(f, targets, weights, prior, 1 / variance)
    design = np.column_stack([f, np.ones_like(f)])
    bend = curvature(design, point, weights) + np.eye(2) / variance
    distance = ((point - prior) ** 2).sum() / (2 * variance)
    likelihood = -loss(design, point, targets, weights)
    return likelihood - distance - np.log(variance) - np.linalg.slogdet(bend)[1] / 2
