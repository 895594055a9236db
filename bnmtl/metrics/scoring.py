"""Metrics by name, function or scorer, each with its direction."""

import contextlib
import functools
import inspect
from typing import NamedTuple

import numpy as np
import sklearn.metrics
from sklearn.base import BaseEstimator, ClassifierMixin

from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics import prediction
from bnmtl.wording import one_of, type_of

# Of all classes, or of the second of two.
OF_TABLES = ("accuracy", "squared_error", "cross_entropy", "lift_chart_area")
OF_TWO = (
    *("f_score", "lift", "roc_area", "average_precision", "eleven_point_average_precision"),
    *("break_even_point", "root_mean_squared_error", "brier_score", "calibration_error"),
)
_ALSO_OF_TABLES = ("root_mean_squared_error", "brier_score", "calibration_error")
SMALLER_IS_BETTER = {
    *("squared_error", "cross_entropy", "root_mean_squared_error", "brier_score"),
    "calibration_error",
}
# Functions of scikit-learn that take probabilities; losses are named so.
_OF_PROBABILITIES = (
    *("log_loss", "brier_score_loss", "roc_auc_score", "average_precision_score"),
    *("d2_log_loss_score", "d2_brier_score", "top_k_accuracy_score"),
    *("mean_squared_error", "root_mean_squared_error", "mean_absolute_error"),
)
# Metrics of this package that are the same as functions and scorers of scikit-learn, only faster.
_SAME = {
    **dict.fromkeys(("log_loss", "neg_log_loss"), "cross_entropy"),
    **dict.fromkeys(("brier_score_loss", "neg_brier_score"), "brier_score"),
}
_SAME_OF_TWO = {"roc_auc_score": "roc_area", "roc_auc": "roc_area"}
_ROUNDED = 1e-4  # of the sum of the probabilities of all classes
_NAMES = 'for example "cross_entropy", "roc_area" or "neg_brier_score"'


class Metric(NamedTuple):
    """A function of labels, as positions of classes, and probabilities.

    Parameters
    ----------
    name : str
    function : callable (y, p)
        Of the probabilities of the second of two classes, shape (n_cases,), or of all classes,
        shape (n_cases, n_classes). Functions that are not of this module get what they are given.
    is_smaller_better : bool or None
        None if it is not known.
    known : str, default=None
        The metric of `bnmtl.metrics.prediction` with the same values, up to their sign.
    weights : str, default=None
        The argument that takes weights of cases.
    sign : int, default=1
        -1 if values are those of the known metric with the other sign.
    """

    name: str
    function: object
    is_smaller_better: bool | None
    known: str | None = None
    weights: str | None = None
    sign: int = 1


def is_of_sklearn(name):
    """Whether a name is that of a scorer or of a function of probabilities of scikit-learn."""
    return name in (*_OF_PROBABILITIES, *sklearn.metrics.get_scorer_names())


def names_for(n_classes):
    """The names of the metrics of this package for a number of classes."""
    return (*OF_TABLES, *(OF_TWO if n_classes == 2 else _ALSO_OF_TABLES))


def metric_of(metric, classes, greater_is_better=None, needs_direction=True):
    """The metric that a name, a function or a scorer stands for.

    Parameters
    ----------
    metric : str or callable
        A name of this package, or of a scorer or a function of probabilities of scikit-learn,
        hyphens allowed; of names in both, that of this package. A function (y, p) of this package,
        of scikit-learn or another one; or a scorer (estimator, X, y), which may ask for
        probabilities only.
    classes : array of shape (n_classes,)
        Labels, for scorers.
    greater_is_better : bool, default=None
        The direction of another function.
    needs_direction : bool, default=True
        Whether it must be known.

    Returns
    -------
    Metric

    Raises
    ------
    TypeError, ValueError
        For other objects and names, functions of scikit-learn that take labels, functions of other
        arguments, a function of unknown direction, and a direction of one that is known.
    """
    if greater_is_better is not None and not isinstance(greater_is_better, bool | np.bool_):
        raise InputTypeError(
            f"must be True, False or None, got {greater_is_better!r}", argument="greater_is_better"
        )
    if isinstance(metric, str):
        found = _named(metric.replace("-", "_"), metric, classes)
    elif callable(metric) and not isinstance(metric, type):
        found = _function(metric, classes)
    else:
        message = (
            f"must be the name of a metric, a function (y, p) or a scorer, got {type_of(metric)}"
        )
        raise InputTypeError(message, argument="metric")
    if found.is_smaller_better is None:
        if greater_is_better is not None:
            return found._replace(is_smaller_better=not greater_is_better)
        if needs_direction:
            message = (
                f"must be True or False for the function `{found.name}`, which may be a score or a "
                f"loss, got None"
            )
            raise InputError(message, argument="greater_is_better")
    elif greater_is_better is not None:
        message = (
            f"must be None for `{found.name}`, whose direction is known, got {greater_is_better!r}"
        )
        raise InputError(message, argument="greater_is_better")
    return found


def _named(name, given, classes):
    """The metric of a name."""
    names = names_for(len(classes))
    if name in names:
        is_smaller_better = name in SMALLER_IS_BETTER
        return Metric(name, getattr(prediction, name), is_smaller_better, name, "weights")
    # Others of this package are of two classes only.
    if name not in OF_TWO and is_of_sklearn(name):
        if name in _OF_PROBABILITIES:
            return _of_sklearn(getattr(sklearn.metrics, name), name, classes)
        known = _same(name, classes)
        if known is None:
            return _scored(sklearn.metrics.get_scorer(name), name, classes)
        function = getattr(prediction, known)
        if not name.startswith("neg_"):
            return Metric(name, function, False, known, "weights")
        return Metric(name, lambda y, p, **w: -function(y, p, **w), False, known, "weights", -1)
    remedy = "name a scorer of scikit-learn, or give a function"
    if len(classes) > 2:
        remedy = f"these are the metrics of more than two classes, or {remedy}"
    message = f"must be {one_of(names)}, got {given!r}"
    raise InputError(message, argument="metric", remedy=remedy)


def _same(name, classes):
    """The metric of this package that is the same for this number of classes, or None."""
    return _SAME.get(name) or (_SAME_OF_TWO.get(name) if len(classes) == 2 else None)


def _function(metric, classes):
    """The metric of a function or scorer."""
    name = _name_of(metric)
    if getattr(prediction, name, None) is metric and name in (*OF_TABLES, *OF_TWO):
        return _named(name, name, classes)
    if getattr(sklearn.metrics, name, None) is metric:
        return _of_sklearn(metric, name, classes)
    inner = metric
    while isinstance(inner, functools.partial):
        inner = inner.func
    # Its direction may be another one, but labels are refused as those of the function.
    if inner is not metric and getattr(sklearn.metrics, _name_of(inner), None) is inner:
        _check_of_probabilities(_name_of(inner))
    if _is_scorer(metric):
        return _scored(metric, name, classes)
    return Metric(name, metric, None)


def _name_of(metric):
    """The name of a function, or what a scorer says of itself unless that is an address."""
    if hasattr(metric, "__name__"):
        return metric.__name__
    return type(metric).__name__ if " at 0x" in repr(metric) else repr(metric)


def _check_of_probabilities(name):
    """Raise if a function of scikit-learn takes labels."""
    if name not in _OF_PROBABILITIES:
        message = f"must be a function of probabilities, and `{name}` of scikit-learn is none"
        raise InputError(message, argument="metric", remedy=_NAMES)


def _of_sklearn(metric, name, classes):
    """The metric of a function of scikit-learn."""
    _check_of_probabilities(name)
    known, is_smaller = _same(name, classes), name.endswith(("_loss", "_error"))
    if known is not None:
        return Metric(name, getattr(prediction, known), is_smaller, known, "weights")

    def function(y, p, **weights):
        p = _distributions(p)
        with _reasons_of(name):
            return metric(y, p[:, 1] if len(classes) == 2 else p, **weights)

    return Metric(name, function, is_smaller, weights="sample_weight")


def _distributions(p):
    """Probabilities of all classes; of stored ones, which are rounded, the sum becomes 1."""
    if np.ndim(p) == 1:
        return np.column_stack([1 - p, p])
    sums = p.sum(axis=1, keepdims=True)
    return p / sums if (np.abs(sums - 1) < _ROUNDED).all() else p


def _is_scorer(metric):
    """Whether a callable takes (estimator, X, y); raises unless it does, or takes (y, p)."""
    try:
        signature = inspect.signature(metric)
    except (TypeError, ValueError):  # of a compiled function
        return False
    if _takes(signature, 2):
        return False
    first = next(iter(signature.parameters), "")
    if _takes(signature, 3) and not (first == "y" or first.startswith("y_")):
        return True
    message = (
        f"must be a function (y, p) or a scorer (estimator, X, y); `{_name_of(metric)}` takes "
        f"{', '.join(signature.parameters) or 'nothing'}"
    )
    raise InputTypeError(message, argument="metric")


def _takes(signature, n):
    """Whether a function can be called with n positional arguments."""
    try:
        signature.bind(*range(n))
    except TypeError:
        return False
    return True


@contextlib.contextmanager
def _reasons_of(name):
    """Raise what scikit-learn says against a metric as an error of the metric."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, TypeError, AttributeError) as error:
        if isinstance(error, AttributeError) and StoredProbabilities.__name__ in str(error):
            what = "decision values" if "decision_function" in str(error) else "something else"
            message = f"must be a scorer that asks for probabilities, and `{name}` asks for {what}"
            raise InputError(message, argument="metric", remedy=_NAMES) from error
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"must be defined for the cases and classes; `{name}` says: {reason}", argument="metric"
        ) from error


def _scored(scorer, name, classes):
    """The metric of a scorer, of which larger values are better."""
    positions, labels = np.arange(len(classes)), np.asarray(classes)

    def value_with(labels, y, p):
        rows, y = np.arange(len(y))[:, None], labels[np.asarray(y, dtype=np.intp)]
        return scorer(StoredProbabilities(p, labels, name), rows, y)

    def function(y, p):
        nonlocal labels
        p = _distributions(p)
        with _reasons_of(name):
            try:
                return value_with(labels, y, p)
            except InputError:
                raise
            except ValueError:
                # Many scorers want 0 and 1, or the positive class as an argument.
                value = value_with(positions, y, p)
                labels = positions
                return value

    return Metric(name, function, False)


class StoredProbabilities(ClassifierMixin, BaseEstimator):
    """A fitted classifier that has the probabilities of cases; it is given their positions.

    Scorers are called with it, by their public interface.
    """

    def __init__(self, p, classes, name):
        self.p, self.classes, self.name = p, classes, name

    @property
    def classes_(self):
        return self.classes

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        return self.p[np.asarray(X)[:, 0]]

    def predict(self, X):
        message = f"must be a scorer that asks for probabilities, and `{self.name}` asks for labels"
        raise InputError(message, argument="metric", remedy=_NAMES)
