"""Metrics by name, for the labels and probabilities of rounds."""

from typing import NamedTuple

import numpy as np

from bnmtl.errors import InputTypeError
from bnmtl.metrics import scoring
from bnmtl.metrics.cases import predicted_classes
from bnmtl.metrics.scoring import OF_TWO
from bnmtl.wording import type_of

# One case more or less can make them jump.
NOT_SMOOTH = {
    *("lift", "eleven_point_average_precision", "break_even_point", "calibration_error"),
    "median",
}


def _accuracies(codes, p):
    return (predicted_classes(p) == codes).astype(float)


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


def metric_of(metric, classes, greater_is_better=None, needs_direction=False):
    """The `Metric` that a name, a function or a scorer stands for.

    Parameters
    ----------
    metric : str or callable
        As in `bnmtl.metrics.scoring.metric_of`.
    classes : array of shape (n_classes,)
        Labels.
    greater_is_better : bool, default=None
    needs_direction : bool, default=False
        Whether the direction of a function must be known; else, larger is better.

    Returns
    -------
    Metric
    """
    found = scoring.metric_of(metric, classes, greater_is_better, needs_direction)
    function, of_cases = found.function, OF_CASES.get(found.known)
    if found.known in OF_TWO and len(classes) == 2:
        function = _of_second_class(function)
    if of_cases is not None and found.sign < 0:
        of_cases = _negative(of_cases)
    return Metric(found.name, function, bool(found.is_smaller_better), of_cases)


def _negative(of_cases):
    return lambda codes, p: -of_cases(codes, p)


def _of_second_class(function):
    return lambda y, p: function(y, p[:, 1])
