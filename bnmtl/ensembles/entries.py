"""Entries of a store: checks of predictions, labels and names; weighted means of predictions."""

import pickle

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.cases import checked_weights
from bnmtl.tasks.labels import read_labels
from bnmtl.tasks.tables import as_one_sentence
from bnmtl.wording import listed, shown, type_of
from bnmtl.writing import file_names

# Probabilities are multiples of 1 / SCALE: float32 holds them exactly, and sums of members are
# exact integers, so that memory, disk and any order of summation agree to the last bit.
SCALE = 2**24
FILL = "fill the gap, or leave the case or the model out"  # what to do without a prediction
TOLERANCE = 1e-4  # of the sum of the probabilities of all classes


def rounded(probabilities):
    """The nearest multiples of 2**-24 from 2**-24 to 1 - 2**-24, as float32."""
    return (np.clip(np.rint(probabilities * SCALE), 1, SCALE - 1) / SCALE).astype(np.float32)


def whole_numbers(entries):
    """Rounded probabilities as multiples of 2**-24, int32."""
    return (entries * np.float32(SCALE)).astype(np.int32)


def summing_to_1(p):
    """Numbers divided by their sum over the last axis; equal where all are 0."""
    sums = p.sum(axis=-1, keepdims=True)
    equal = np.full_like(p, 1 / p.shape[-1])
    return np.divide(p, sums, out=equal, where=sums > 0)


def by_part(argument, values, default):
    """A mapping part -> values; values that are not a mapping are those of the default part."""
    if values is None:
        return {}
    parts = dict(values) if isinstance(values, dict) else {default: values}
    for part in parts:
        if not (isinstance(part, str) and part.isidentifier()):
            message = f"must have parts named by letters, digits and underscores, got {part!r}"
            raise InputError(message, argument=argument)
    # Parts are folders of a store that is saved.
    for part, folder in file_names(parts, "").items():
        if folder != part:
            message = (
                "must have parts with names of folders on every system, such as "
                f"`{folder}`, got {part!r}"
            )
            raise InputError(message, argument=argument)
    return parts


def checked_predictions(part, values, n_classes, n_cases):
    """Rounded predictions (models, cases) of the second of two classes, or with an axis of classes.

    ``n_cases`` None is any number.
    """
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputTypeError(
            f"of part `{part}` must be numbers, got {type_of(values)}", argument="predictions"
        ) from None
    if array.ndim == 3 and array.shape[2] == n_classes:
        _check_range(part, array)
        sums = array.sum(axis=2)
        wrong = np.argwhere(np.abs(sums - 1) > TOLERANCE)
        if len(wrong):
            model, case = wrong[0]
            message = (
                f"of part `{part}` must sum to 1 over the classes; model {model} of the array, "
                f"counted from 0, has the sum {sums[model, case]:g} for case {case}"
            )
            raise InputError(message, argument="predictions")
        array = array[:, :, 1] if n_classes == 2 else array
    elif array.ndim != 2 or n_classes != 2:
        shape = "(models, cases)" if n_classes == 2 else f"(models, cases, {n_classes} classes)"
        message = f"of part `{part}` must have the shape {shape}, got {array.shape!r}"
        raise InputError(message, argument="predictions")
    if n_cases not in (None, array.shape[1]):
        message = (
            f"of part `{part}` must have one column per label, {n_cases}, got {array.shape[1]!r}"
        )
        raise InputError(message, argument="predictions")
    _check_range(part, array)
    return rounded(array)


def entered(argument, predictions, names, n_classes, n_cases=None):
    """Rounded predictions of some models from a mapping of names to arrays."""
    missing = [name for name in names if name not in predictions]
    if missing:
        message = f"must have all models of positive weight; `{missing[0]}` is missing"
        raise InputError(message, argument=argument)
    arrays = [np.asarray(predictions[name]) for name in names]
    return checked_predictions("new", arrays, n_classes, n_cases)


def _check_range(part, array):
    wrong = first_outside(array)
    if wrong is not None:
        (model, case, *_), value, remedy = wrong
        message = (
            f"of part `{part}` must be probabilities from 0 to 1; model {model} of the array, "
            f"counted from 0, has {value} for case {case}"
        )
        raise InputError(message, argument="predictions", remedy=remedy)


def first_outside(numbers):
    """Place, text and remedy of the first number that is not from 0 to 1; None if all are."""
    is_wrong = ~((numbers >= 0) & (numbers <= 1))
    if not is_wrong.any():
        return None
    place = np.argwhere(is_wrong)[0]
    number = numbers[tuple(place)]
    if np.isnan(number):
        return place, "no value", FILL
    return place, f"{number:g}", "calibrate scores"


def checked_classes(y):
    """The sorted classes of labels; at least two."""
    classes = sorted(set(read_labels(_complete("y", y)).tolist()))
    if len(classes) < 2:
        raise InputError(f"must have two classes or more; all are {classes[0]!r}", argument="y")
    return np.array(classes)


def coded(part, y, classes):
    """Labels as positions in the classes."""
    labels = read_labels(_complete("y", y))
    known = {label: code for code, label in enumerate(classes.tolist())}
    other = [label for label in labels.tolist() if label not in known]
    if other:
        message = f"of part `{part}` must have only the classes {listed(known)}, got {other[0]!r}"
        raise InputError(message, argument="y")
    return np.array([known[label] for label in labels.tolist()], dtype=np.int64)


def _complete(argument, values):
    """Values of cases as an array without missing ones."""
    if isinstance(values, pd.DataFrame) and values.shape[1] == 1:
        values = values.iloc[:, 0]
    with as_one_sentence("must be one value per case", argument, "pandas"):
        array = np.array(values) if isinstance(values, np.ndarray) else pd.Series(values).to_numpy()
    array = array.astype(object) if array.dtype.kind == "T" else array
    if array.ndim != 1 or not array.size:
        message = f"must be one value per case, at least one; its shape is {array.shape}"
        raise InputError(message, argument=argument)
    missing = np.flatnonzero(pd.isna(array))
    if missing.size:
        message = f"must not be missing; case {int(missing[0])}, counted from 0, has none"
        raise InputError(message, argument=argument, remedy="leave such cases out")
    return array


def checked_column(argument, part, values, n_cases):
    """Weights, folds, tasks or groups of the cases of a part as an array."""
    if argument == "weights":
        return checked_weights(values, n_cases)
    array = _complete(argument, values)
    if len(array) != n_cases:
        message = f"of part `{part}` must be one value per case, {n_cases}, got {len(array)!r}"
        raise InputError(message, argument=argument)
    return array.astype(str) if argument in ("task", "groups") else array


def checked_names(names, n_models, taken=()):
    """Names of models as a tuple of distinct strings; None numbers them."""
    if names is None:
        return tuple(f"model{number}" for number in range(1, n_models + 1))
    if isinstance(names, str) or not np.iterable(names):
        message = f"must be a list of one name per model, got {shown(names)}"
        raise InputTypeError(message, argument="names")
    names = tuple(names)
    wrong = [name for name in names if not isinstance(name, str) or not name]
    if wrong:
        message = f"must be strings that are not empty, got {wrong[0]!r}"
        raise InputTypeError(message, argument="names")
    if len(names) != n_models:
        message = f"must be one name per model, {n_models}, got {len(names)!r}"
        raise InputError(message, argument="names")
    seen = set(taken)
    for name in names:
        if name in seen:
            raise InputError(f"must be different; `{name}` occurs twice", argument="names")
        seen.add(name)
    return names


def checked_settings(settings, names):
    """Records of models as a data frame with one row per model."""
    if settings is None:
        settings = [{}] * len(names)
    if not isinstance(settings, pd.DataFrame):
        settings = list(settings) if np.iterable(settings) else [settings]
        wrong = [record for record in settings if not isinstance(record, dict)]
        if wrong:
            message = f"must be one dictionary per model, got {type_of(wrong[0])}"
            raise InputTypeError(message, argument="settings")
    if len(settings) != len(names):
        message = f"must be one record per model, {len(names)}, got {len(settings)!r}"
        raise InputError(message, argument="settings")
    frame = pd.DataFrame(settings).set_axis(pd.Index(names, name="model", dtype=str), axis=0)
    return frame.set_axis(frame.columns.astype(str), axis=1)


_MOST_MEMBERS = 1000
_GRID = 2**16  # steps of a rounded mean for each step of 1 / SCALE


def mean_prediction(models, weights):
    """Weighted mean of predictions.

    Metrics compare predictions with 0.5 and with each other, so a mean that is exactly 0.5 must not
    become 0.4999... If the weights are shares of an ensemble of at most 1000 members, the sum of
    its members is an exact integer; otherwise the mean is rounded to multiples of 2**-40.

    Parameters
    ----------
    models : int32 array of shape (n_models, n_cases) or (n_models, n_cases, n_classes)
        Predictions times SCALE.
    weights : array-like of float, shape (n_models,)

    Returns
    -------
    numpy.ndarray of float, shape (n_cases,) or (n_cases, n_classes)
        From 0 to 1.
    """
    weights = np.asarray(weights)
    places = np.flatnonzero(weights)
    counts, n_members = _counts(weights[places])
    mean = np.zeros(models.shape[1:], np.int64 if n_members else float)
    for at, count in zip(places, counts, strict=True):
        mean += count * models[at].astype(mean.dtype)
    if n_members:
        return np.clip(mean / (SCALE * n_members), 0, 1)
    return np.clip(np.rint(mean * _GRID) / (_GRID * SCALE), 0, 1)


def weighted_probabilities(store, weights, part):
    """Probabilities of the classes by an ensemble.

    Parameters
    ----------
    store : PredictionStore
    weights : pandas.Series by model
    part : str, or mapping of str to array-like
        A part of the store, or predictions by the name of the model.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases, n_classes)
    """
    weights = weights[weights > 0].sort_index()
    mean = mean_prediction(whole_numbers(predictions_of(store, weights.index, part)), weights)
    return np.stack([1 - mean, mean], axis=1) if mean.ndim == 1 else mean


def predictions_of(store, names, part, argument="part"):
    """Rounded predictions of some models, of a part or from a mapping of names to arrays."""
    if isinstance(part, str):
        return store.subset(names).predictions(part)
    if isinstance(part, dict | pd.DataFrame):
        return entered(argument, part, names, len(store.classes))
    message = (
        f"must be a part of the store or a mapping of models to predictions, got {type_of(part)}"
    )
    raise InputTypeError(message, argument=argument)


def _counts(weights):
    """Whole numbers of members in the proportions of the weights, and the number of which 1 is.

    If there are none, the weights themselves and 0.
    """
    for n_members in range(1, _MOST_MEMBERS + 1):
        counts = np.rint(weights * n_members)
        if counts.all() and np.abs(weights * n_members - counts).max(initial=0) < 1e-12:
            return counts.astype(np.int64), n_members
    return weights, 0


class _Counter:
    """A file that only counts bytes."""

    n_bytes = 0

    def write(self, part):
        """Count the bytes of a part."""
        self.n_bytes += memoryview(part).nbytes


def pickled_bytes(model):
    """Bytes of a pickled model, without making a copy; None if it cannot be pickled."""
    counter = _Counter()
    try:
        pickle.dump(model, counter, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return counter.n_bytes
