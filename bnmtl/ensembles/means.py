"""Weighted means of predictions, exact if the weights are shares of whole numbers of members."""

import numpy as np
import pandas as pd

from bnmtl.ensembles.entries import SCALE, entered, whole_numbers
from bnmtl.errors import InputTypeError
from bnmtl.wording import type_of

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
    rule = "must be a part of the store or a mapping of models to predictions"
    raise InputTypeError(argument, rule, type_of(part))


def _counts(weights):
    """Whole numbers of members in the proportions of the weights, and the number of which 1 is.

    If there are none, the weights themselves and 0.
    """
    for n_members in range(1, _MOST_MEMBERS + 1):
        counts = np.rint(weights * n_members)
        if counts.all() and np.abs(weights * n_members - counts).max(initial=0) < 1e-12:
            return counts.astype(np.int64), n_members
    return weights, 0
