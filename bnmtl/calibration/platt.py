"""Platt's method: sigmoids of scores, one for all cases or one for each task."""

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.errors import InputError, check_choice, check_number
from bnmtl.metrics.cases import checked_cases, checked_numbers, checked_weights
from bnmtl.threads import fitted_alone
from bnmtl.wording import listed


def checked_scores(scores, y, weights=None, is_probability=False):
    """Scores, labels 0 and 1 and weights of the cases that count, or an error."""
    names = ("y", "scores", "sample_weight")
    y, scores, weights = checked_cases(y, scores, weights, is_probability, names)
    counts = weights > 0
    return scores[counts], y[counts], weights[counts]


def classes_of(y, rule="must hold cases of two classes or more"):
    """The classes of labels, sorted; fewer than two are an error."""
    classes = np.unique(y)
    if len(classes) < 2:
        found = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "no case"
        raise InputError(f"{rule}, got {found}", argument="y")
    return classes


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

    @fitted_alone
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
    classes_of(y, "must hold cases of both classes, 0 and 1")
    n_positive, n_negative = weights @ y, weights @ (1 - y)
    return np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def in_range(scores):
    """Scores divided by a power of two so that the largest is between 1/2 and 1, and its exponent.

    So squares do not overflow for scores of any size, and no bits are lost.
    """
    exponent = int(np.frexp(np.abs(scores).max())[1])
    return np.ldexp(scores, -exponent), exponent


def location(scores, weights):
    """Mean and standard deviation of scores, or of each column, to standardize them."""
    center = np.average(scores, axis=0, weights=weights)
    return center, np.sqrt(np.average((scores - center) ** 2, axis=0, weights=weights))


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

    @fitted_alone
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
            message = f"must name tasks of the fit, {listed(self.a_.index)}, got {unknown[0]!r}"
            raise InputError(message, argument="task", remedy="calibrate new tasks by `pooled_`")
        a, b = (by_task.loc[names].to_numpy() for by_task in (self.a_, self.b_))
        return sigmoid(scores, a, b, self.pooled_.lowest_)

    def as_record(self):
        """Return a record of numbers and text from which `from_record` restores the calibrator."""
        return {
            "scale": self.scale,
            "a": self.a_.to_dict(),
            "b": self.b_.to_dict(),
            "variance": self.variance_,
            "pooled": {k: v for k, v in self.pooled_.as_record().items() if k != "scale"},
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
        raise InputError(f"must be one name per score, {n}, got {len(names)!r}", argument="task")
    if names.isna().any():
        row = int(names.isna().to_numpy().argmax())
        message = f"must name the task of every score; that of row {row} is missing"
        raise InputError(message, argument="task", remedy="fill it, or leave the row out")
    return names.astype(str).to_numpy(dtype=object)


def log_marginal(f, targets, weights, prior, variance):
    """Laplace's approximation of the log marginal likelihood of a task, over its pair (a, b)."""
    point = newton(f, targets, weights, prior, 1 / variance)
    design = np.column_stack([f, np.ones_like(f)])
    bend = curvature(design, point, weights) + np.eye(2) / variance
    distance = ((point - prior) ** 2).sum() / (2 * variance)
    likelihood = -loss(design, point, targets, weights)
    return likelihood - distance - np.log(variance) - np.linalg.slogdet(bend)[1] / 2
