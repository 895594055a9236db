"""Metrics by name, for the labels and probabilities of rounds."""

from typing import NamedTuple

import numpy as np

from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics import prediction
from bnmtl.wording import type_of

# Of all classes, or of the second of two.
_OF_TABLES = ("accuracy", "squared_error", "cross_entropy", "lift_chart_area")
_OF_TWO = (
    *("f_score", "lift", "roc_area", "average_precision", "eleven_point_average_precision"),
    *("break_even_point", "root_mean_squared_error", "brier_score", "calibration_error"),
)
SMALLER_IS_BETTER = {
    *("squared_error", "cross_entropy", "root_mean_squared_error", "brier_score"),
    "calibration_error",
}
# One case more or less can make them jump.
NOT_SMOOTH = {
    *("lift", "eleven_point_average_precision", "break_even_point", "calibration_error"),
    "median",
}


def _accuracies(codes, p):
    return (p.argmax(axis=1) == codes).astype(float)


def _squared_errors(codes, p):
    return ((p - np.eye(p.shape[1])[codes]) ** 2).sum(axis=1)


def _cross_entropies(codes, p):
    eps = np.finfo(float).eps
    return -np.log(np.clip(p[np.arange(len(p)), codes], eps, 1 - eps))


# What metrics that are means over cases give for each case.
OF_CASES = {
    "accuracy": _accuracies,
    "squared_error": _squared_errors,
    "cross_entropy": _cross_entropies,
}


def number_of(value):
    """What a metric has returned, as a float; raises InputTypeError for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputTypeError("metric", "must return a number", type_of(value)) from None


class Metric(NamedTuple):
    """A function of labels, as positions of classes, and probabilities (n_cases, n_classes).

    Parameters
    ----------
    name : str
    function : callable
    is_smaller_better : bool
    of_cases : callable, default=None
        Of a mean over cases: the function of their values.
    """

    name: str
    function: object
    is_smaller_better: bool
    of_cases: object = None

    def __call__(self, codes, p):
        return number_of(self.function(codes, p))


def metric_of(metric, n_classes):
    """The `Metric` that a name, a function of `bnmtl.metrics.prediction` or another one stands for.

    Parameters
    ----------
    metric : str or callable (y, p)
        Of another function larger values are better.
    n_classes : int

    Returns
    -------
    Metric
    """
    functions = {name: getattr(prediction, name) for name in (*_OF_TABLES, *_OF_TWO)}
    if callable(metric):
        known = [name for name, one in functions.items() if one is metric]
        if not known:
            return Metric(getattr(metric, "__name__", "metric"), metric, False)
        (metric,) = known
    if not isinstance(metric, str):
        rule = "must be the name of a metric or a function (y, p)"
        raise InputTypeError("metric", rule, type_of(metric))
    name = metric.replace("-", "_")
    if name not in functions:
        choices = list(functions)
        raise InputError(
            "metric", "must be one of {choices} or a function", metric, choices=choices
        )
    function = functions[name]
    if name in _OF_TWO:
        if n_classes != 2:
            rule, choices = "must be one of {choices} for {n:class}", list(_OF_TABLES)
            raise InputError("metric", rule, name, choices=choices, n=n_classes)
        return Metric(name, lambda y, p: function(y, p[:, 1]), name in SMALLER_IS_BETTER)
    return Metric(name, function, name in SMALLER_IS_BETTER, OF_CASES.get(name))
