"""Isotonic, beta and temperature calibration, and the default choice of a method."""

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.platt import (
    PlattCalibrator,
    checked_lowest,
    checked_scores,
    clipped_at,
    in_range,
    location,
    loss,
    newton,
    scaled,
    smoothed,
    takes_probabilities,
)
from bnmtl.errors import InputError, check_choice, check_number, warn
from bnmtl.metrics.cases import SUM_TOLERANCE, checked_numbers, checked_table, checked_weights
from bnmtl.threads import fitted_alone


class IsotonicCalibrator(BaseEstimator):
    """Calibrate scores by isotonic regression; equal scores are pooled first.

    Parameters
    ----------
    kind : {"step", "linear"}, default="step"
        Values between training scores: "step" uses the value of the next higher score, as in the
        paper; "linear" interpolates, as in scikit-learn. Outside, both are constant.

    Attributes
    ----------
    scores_, values_ : numpy.ndarray of float
        Begin and end of each block of equal values, and its value.

    Raises
    ------
    TypeError, ValueError
        In ``fit`` and ``predict``: for an unknown `kind`, labels other than 0 and 1, and scores
        that are not finite numbers.

    References
    ----------
    Zadrozny & Elkan (2002), "Transforming classifier scores into accurate multiclass probability
    estimates", KDD; Niculescu-Mizil & Caruana (2005), "Predicting good probabilities with
    supervised learning", ICML, section 2.2 and table 1.

    Examples
    --------
    >>> calibrator = IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> calibrator.predict([0.0, 0.15, 0.3, 0.35, 0.9])
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    def __init__(self, kind="step"):
        self.kind = kind

    @fitted_alone
    def fit(self, scores, y, sample_weight=None):
        """Fit the function.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,)
        y : array-like of 0 and 1, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case.

        Returns
        -------
        IsotonicCalibrator
        """
        check_choice("kind", self.kind, ("step", "linear"))
        scores, y, weights = checked_scores(scores, y, sample_weight)
        # Use ranks, because scikit-learn treats scores less than 1e-15 apart as tied, and
        # classifiers return many scores that small.
        known, ranks = np.unique(scores, return_inverse=True)
        regression = IsotonicRegression().fit(ranks, y, weights)
        self.scores_ = known[regression.X_thresholds_.astype(int)]
        self.values_ = regression.y_thresholds_
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
        scores = checked_numbers("scores", scores)
        if self.kind == "linear":
            return np.interp(scores, self.scores_, self.values_)
        place = np.searchsorted(self.scores_, scores)
        return self.values_[np.minimum(place, len(self.values_) - 1)]

    def as_record(self):
        """Return a record of lists and text from which `from_record` restores the calibrator."""
        record = {"scores": self.scores_.tolist(), "values": self.values_.tolist()}
        return record if self.kind == "step" else {"kind": self.kind, **record}

    @classmethod
    def from_record(cls, record):
        """Restore a fitted calibrator; the inverse of `as_record`.

        Parameters
        ----------
        record : dict
            A missing "kind" means "step".

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is not a valid record.
        """
        calibrator = cls(record.get("kind", "step"))
        check_choice("kind", calibrator.kind, ("step", "linear"))
        calibrator.scores_ = checked_numbers("scores", record["scores"])
        calibrator.values_ = checked_numbers("values", record["values"])
        if len(calibrator.scores_) != len(calibrator.values_):
            message = f"must be as many as `scores`, got {len(calibrator.values_)!r}"
            raise InputError(message, argument="values", options=("scores",))
        return calibrator


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

    @fitted_alone
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
                raise InputError(f"must be 0 or more, got {record[name]!r}", argument=name)
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
    center, spread = location(columns, weights)
    units = (columns - center) / spread
    *slopes, offset = point = newton(units, targets, weights)
    slopes = slopes / spread
    value = loss(np.column_stack([units, np.ones(len(units))]), point, targets, weights)
    return slopes, offset - slopes @ center, value


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

    @fitted_alone
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
        if set(y.tolist()) != set(range(n_classes)):
            found = ", ".join(map(str, np.unique(y)))
            message = f"must hold cases of every class, 0 to {n_classes - 1}, got {found}"
            raise InputError(message, argument="y")
        if not is_probability and _are_probabilities(columns):
            message = "are from 0 to 1 like probabilities, but `scale='raw'` takes them as log odds"
            warn(
                message,
                argument="scores",
                options=("scale",),
                remedy="set `scale='logit'` if they are probabilities",
            )
        self.lowest_ = clipped_at(weights) if is_probability else None
        columns, exponent = in_range(self._scaled(columns))
        if n_classes == columns.shape[1]:
            # The same softmax, which scikit-learn does not mistake for probabilities.
            columns = columns - columns.max(axis=1, keepdims=True)
        table = columns if columns.shape[1] > 1 else np.column_stack([0 * columns, columns])
        # Where the true class has the highest score in every case, the likelihood has no maximum.
        if (table[np.arange(len(y)), y] == table.max(axis=1)).all():
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

    @fitted_alone
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
        message = f"must be one row per case, {len(y)} as in `y`, got {len(scores)!r}"
        raise InputError(message, argument="scores", options=("y",))
    weights = checked_weights(weights, len(y), name="sample_weight")
    counts = weights > 0
    return scores[counts], y[counts], weights[counts]


def _are_probabilities(columns):
    """Whether scores look like those of one class, or of all, which sum to 1."""
    is_in_range = ((columns >= 0) & (columns <= 1)).all()
    sums = columns.sum(axis=1)
    return bool(is_in_range and (columns.shape[1] == 1 or (abs(sums - 1) < SUM_TOLERANCE).all()))


def _smoothed_cases(columns, y, weights, n_classes):
    """Every case once for each class, weighted by the smoothed target of the class."""
    sizes = np.bincount(y, weights, n_classes)[y]
    targets = np.full((len(y), n_classes), 1 / (sizes + n_classes)[:, None])
    targets[np.arange(len(y)), y] *= sizes + 1
    classes = np.tile(np.arange(n_classes), len(y))
    return np.repeat(columns, n_classes, axis=0), classes, (weights[:, None] * targets).ravel()


# Calibrators and their numbers of parameters.
_CANDIDATES = ((PlattCalibrator, 2), (BetaCalibrator, 3))
_TINY = np.finfo(float).tiny
_EPS = np.finfo(float).eps


class AutoCalibrator(BaseEstimator):
    """Calibrate probabilities by `PlattCalibrator` or `BetaCalibrator`, whichever fits better.

    Both are fitted to all cases; the one with the lower information criterion of Akaike is used,
    the loss plus the number of parameters. In a study (``benchmarks/predictions``) neither of them
    was best for all learners: the sigmoid suits votes of forests and nearest neighbors, beta
    calibration the extreme probabilities of naive Bayes. The choice needs no folds, and a weight
    counts as repetitions of the case.

    Attributes
    ----------
    chosen_ : PlattCalibrator or BetaCalibrator
        Fitted.

    Raises
    ------
    TypeError, ValueError
        In ``fit`` and ``predict``: for labels other than 0 and 1, only one class, and scores that
        are not probabilities.

    References
    ----------
    Akaike (1974), "A new look at the statistical model identification", IEEE Transactions on
    Automatic Control 19.

    Examples
    --------
    >>> p, y = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0, 0, 1, 0, 1, 1]
    >>> AutoCalibrator().fit(p, y).chosen_
    PlattCalibrator()
    """

    @fitted_alone
    def fit(self, scores, y, sample_weight=None):
        """Fit both and choose one.

        Parameters
        ----------
        scores : array-like of probabilities, shape (n,)
        y : array-like of 0 and 1, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case.

        Returns
        -------
        AutoCalibrator
        """
        scores, y, weights = checked_scores(scores, y, sample_weight, is_probability=True)
        targets, lowest = smoothed(y, weights), np.inf
        for candidate, n_parameters in _CANDIDATES:
            fitted = candidate().fit(scores, y, weights)
            p = np.clip(fitted.predict(scores), _TINY, 1 - _EPS)
            loss = -weights @ (targets * np.log(p) + (1 - targets) * np.log1p(-p))
            if loss + n_parameters < lowest:
                lowest, self.chosen_ = loss + n_parameters, fitted
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
        return self.chosen_.predict(scores)
