"""Labels and predictions: checks, classifiers that give them, groups of equal scores."""

import numpy as np

from bnmtl.errors import InputError, InputTypeError
from bnmtl.tasks.labels import yes_or_no
from bnmtl.wording import type_of

THRESHOLD = 0.5  # predictions at or above it are positive
# Probabilities of a softmax in float32, or with four decimals, sum to 1 this closely.
SUM_TOLERANCE = 1e-3
_ROUNDING = 1e-6  # a mean of probabilities of 1 may be larger than 1 by it
_AS_LABELS = "compare with the positive class, as in `y == 'yes'`"


def checked_cases(y, p, weights, is_probability=True, names=("y", "p", "weights")):
    """Labels, predictions and weights as float arrays of shape (n,), or an error.

    Labels are 0 and 1, or mean no and yes as `yes_or_no` reads them.
    ``names`` are the arguments' names for messages.
    """
    y = checked_numbers(names[0], yes_or_no(y), remedy=_AS_LABELS)
    p = checked_numbers(names[1], p, is_probability)
    if len(p) != len(y):
        message = f"must be one number per case, {len(y)} as in `{names[0]}`, got {len(p)!r}"
        raise InputError(message, argument=names[1])
    wrong = y[(y != 0) & (y != 1)]
    if len(wrong):
        message = f"must be 0 or 1 for every case, got {_short(wrong)}"
        raise InputError(message, argument=names[0], remedy=_AS_LABELS)
    return y, p, checked_weights(weights, len(y), name=names[2])


def checked_classes(y, p, weights):
    """Positions of the true classes, probabilities (n, n_classes) and weights, or an error."""
    p = checked_table("p", p, ("cases", "classes"))
    y = checked_numbers("y", yes_or_no(y), remedy="use positions in the sorted classes")
    if len(y) != len(p):
        message = f"must be one row per case, {len(y)} as in `y`, got {len(p)!r}"
        raise InputError(message, argument="p", options=("y",))
    wrong = y[(y != np.floor(y)) | (y < 0) | (y >= p.shape[1])]
    if len(wrong):
        message = (
            f"must be the position of a class, from 0 to {p.shape[1] - 1}, got {_short(wrong)!r}"
        )
        raise InputError(message, argument="y")
    check_distributions("p", p)
    return y.astype(np.intp), p, checked_weights(weights, len(y))


def check_distributions(name, p):
    """Raise unless numbers are probabilities of all classes, whose axis is the last.

    Parameters
    ----------
    name : str
        The argument.
    p : numpy.ndarray of float, shape (..., n_classes)
    """
    _check_range(name, p, True, _ROUNDING)
    sums = p.sum(axis=-1)
    wrong = sums[abs(sums - 1) > SUM_TOLERANCE]
    if len(wrong):
        message = f"must be probabilities that sum to 1 over the classes, got {_short(wrong)}"
        raise InputError(message, argument=name, remedy="divide each row by its sum")


def predicted_classes(p):
    """The class that probabilities say.

    Of two classes the second from a probability of 0.5 on, as for probabilities of class 1; of more
    the first of the most probable ones, as ``predict`` of classifiers has it.

    Parameters
    ----------
    p : numpy.ndarray of float, shape (..., n_classes)

    Returns
    -------
    numpy.ndarray of int, shape (...)
    """
    if p.shape[-1] == 2:
        return (p[..., 1] >= THRESHOLD).astype(np.intp)
    return p.argmax(axis=-1)


def checked_weights(weights, n, of="case", name="weights"):
    """Weights as a float array; None counts everything once."""
    if weights is None:
        return np.ones(n)
    weights = checked_numbers(name, weights)
    if len(weights) != n:
        raise InputError(f"must be one number per {of}, {n}, got {len(weights)!r}", argument=name)
    if (weights < 0).any() or not weights.any():
        message = "must be 0 or more and not all zero"
        raise InputError(message, argument=name, remedy="remove entries that never count")
    return weights


def checked_numbers(name, values, is_probability=False, remedy="convert them"):
    """Finite numbers as a float array of shape (n,), or an error."""
    try:
        array = _as_floats(values)
    except (TypeError, ValueError):
        raise InputTypeError(
            f"must be numbers, got {_other(values)}", argument=name, remedy=remedy
        ) from None
    if array.ndim != 1 or not array.size:
        raise InputError(
            f"must be a list of numbers, at least one; its shape is {array.shape}", argument=name
        )
    _check_range(name, array, is_probability)
    return array


def _as_floats(values):
    """Numbers as a float array; what is masked is NaN, and complex numbers are a TypeError."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(float), np.nan)
    array = np.asarray(values)
    if array.dtype.kind in "cMm":
        raise TypeError
    return np.asarray(values, dtype=float)


def _check_range(name, array, is_probability, tolerance=0.0):
    """Raise unless numbers are finite and, if required, from 0 to 1."""
    infinite = array[~np.isfinite(array)]
    if len(infinite):
        raise InputError(f"must be finite numbers, got {_short(infinite)}", argument=name)
    wrong = array[(array < 0) | (array > 1 + tolerance)]
    if is_probability and len(wrong):
        message = f"must be probabilities from 0 to 1, got {_short(wrong)}"
        raise InputError(message, argument=name, remedy="calibrate scores first")


def _short(numbers):
    """The first of several numbers as text."""
    return f"{numbers[0]:g}"


def _other(values):
    """Describe the first value that is not a number, or the given object if it has no values."""
    if isinstance(values, str) or not np.iterable(values):
        return type_of(values)
    for value in values:
        if isinstance(value, complex | np.complexfloating):
            return repr(value)
        try:
            float(value)
        except (TypeError, ValueError):
            return repr(value)
    return type_of(values)


def checked_table(name, values, axes, is_probability=False):
    """Finite numbers as a float array with the named axes, or an error."""
    shape = ", ".join(axes)
    try:
        array = _as_floats(values)
    except (TypeError, ValueError):
        raise InputTypeError(
            f"must be numbers of the shape ({shape}), got {type_of(values)}", argument=name
        ) from None
    if array.ndim != len(axes) or not array.size:
        raise InputError(
            f"must be numbers of the shape ({shape}), got {array.shape!r}", argument=name
        )
    _check_range(name, array, is_probability)
    return array


class Ranking:
    """Cases in groups of equal scores, in decreasing order.

    Parameters
    ----------
    y, p, weights : float array of shape (n,)

    Attributes
    ----------
    mass, positives : float array of shape (n_groups,)
        Weight of the cases of each group, and of its positive cases.
    above, positives_above : float array of shape (n_groups,)
        The same for all groups before.
    total, n_positives : float
    """

    def __init__(self, y, p, weights):
        counts = weights > 0
        y, p, weights = y[counts], p[counts], weights[counts]
        _, group = np.unique(-p, return_inverse=True)
        self.mass = np.bincount(group, weights=weights)
        self.positives = np.bincount(group, weights=weights * y)
        self.above = np.concatenate([[0.0], np.cumsum(self.mass)[:-1]])
        self.positives_above = np.concatenate([[0.0], np.cumsum(self.positives)[:-1]])
        self.total, self.n_positives = float(self.mass.sum()), float(self.positives.sum())

    def captured(self, mass):
        """Weight of the positive cases among the top ``mass``; a tied group counts in part."""
        ends = np.append(self.above, self.total)
        return np.interp(mass, ends, np.append(self.positives_above, self.n_positives))


def probabilities_of(model, rows, classes, **options):
    """Probabilities of all classes by a classifier that may not know some of them.

    Parameters
    ----------
    model : fitted classifier
    rows : array-like of shape (n_cases, n_columns)
    classes : array of shape (n_classes,)
        Sorted.
    **options : dict
        Of its ``predict_proba``.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases, n_classes)
    """
    p = np.asarray(model.predict_proba(rows, **options), dtype=float)
    if p.shape[1] == len(classes):
        return p
    found = np.zeros((len(p), len(classes)))
    found[:, np.searchsorted(classes, model.classes_)] = p
    return found
