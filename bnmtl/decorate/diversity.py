"""How much the members of an ensemble disagree."""

import numpy as np

from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.cases import checked_weights
from bnmtl.metrics.classifiers import probabilities_of
from bnmtl.wording import type_of


def diversity(ensemble, X=None, weights=None):
    """Probability that a member predicts another class than the ensemble.

    Parameters
    ----------
    ensemble : fitted ensemble, or array of shape (n_members, n_cases, n_classes)
        A classifier with ``member_probabilities(X)`` or ``estimators_``, or the probabilities of
        its members. The ensemble predicts the mean of its members.
    X : pandas.DataFrame or array-like, shape (n_cases, n_columns), default=None
        Cases, if ``ensemble`` is a classifier.
    weights : array-like of numbers, shape (n_cases,), default=None

    Returns
    -------
    float
        0 if all members agree on all cases.

    Raises
    ------
    TypeError, ValueError
        If an array has other dimensions, members lack ``predict_proba``, or `X` does not fit
        ``ensemble``.

    References
    ----------
    Melville (2005), equations 3.1 and 3.2.

    Examples
    --------
    >>> members = [[[0.9, 0.1], [0.4, 0.6]], [[0.8, 0.2], [0.9, 0.1]]]
    >>> diversity(members)
    0.25
    """
    members, weights = _members(ensemble, X), _weights(weights, ensemble, X)
    return _disagreement(members, weights)


def pairwise_diversity(ensemble, X=None, weights=None):
    """Probability that two different members predict different classes.

    Parameters
    ----------
    ensemble, X, weights
        As in `diversity`.

    Returns
    -------
    float
        0 for one member.

    Examples
    --------
    >>> members = [[[0.9, 0.1], [0.4, 0.6]], [[0.8, 0.2], [0.9, 0.1]]]
    >>> pairwise_diversity(members)
    0.5
    """
    members, weights = _members(ensemble, X), _weights(weights, ensemble, X)
    n = len(members)
    if n == 1:
        return 0.0
    counts = _votes(members)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (n * (n - 1))
    return float(weights @ (1 - agreeing) / weights.sum())


def kohavi_wolpert_variance(ensemble, X=None, weights=None):
    """Variance of the predicted class over members, 1/2 (1 - sum of squared shares of votes).

    Parameters
    ----------
    ensemble, X, weights
        As in `diversity`.

    Returns
    -------
    float

    References
    ----------
    Kohavi & Wolpert (1996), "Bias plus variance decomposition for zero-one loss functions", ICML.

    Examples
    --------
    >>> members = [[[0.9, 0.1], [0.4, 0.6]], [[0.8, 0.2], [0.9, 0.1]]]
    >>> kohavi_wolpert_variance(members)
    0.125
    """
    members, weights = _members(ensemble, X), _weights(weights, ensemble, X)
    shares = _votes(members) / len(members)
    return float(weights @ (1 - (shares**2).sum(axis=1)) / 2 / weights.sum())


def _disagreement(members, weights):
    """`diversity` of checked arrays."""
    chosen = members.argmax(axis=2)
    differs = chosen != members.mean(axis=0).argmax(axis=1)
    return float((differs.mean(axis=0) @ weights) / weights.sum())


def _votes(members):
    """Number of members that predict each class: shape (n_cases, n_classes)."""
    return (members.argmax(axis=2)[..., None] == np.arange(members.shape[2])).sum(axis=0)


def _members(ensemble, X):
    """Probabilities of the members, shape (n_members, n_cases, n_classes)."""
    if hasattr(ensemble, "predict_proba"):
        if X is None:
            raise InputError("X", "must be given with a classifier")
        return _of_classifier(ensemble, X)
    if X is not None:
        raise InputError("X", "must be None with an array of probabilities", type_of(X))
    rule = "must be a fitted classifier or an array of members x cases x classes"
    try:
        members = np.asarray(ensemble, dtype=float)
    except (TypeError, ValueError):
        raise InputTypeError("ensemble", rule, type_of(ensemble)) from None
    if members.ndim != 3 or not members.size:
        raise InputTypeError("ensemble", rule, members.shape)
    return members


def _of_classifier(ensemble, X):
    if hasattr(ensemble, "member_probabilities"):
        return ensemble.member_probabilities(X)
    if not hasattr(ensemble, "estimators_"):
        rule = "must have `estimators_`, as scikit-learn's ensembles after their `fit`"
        raise InputTypeError("ensemble", rule, type_of(ensemble))
    if not all(hasattr(member, "predict_proba") for member in ensemble.estimators_):
        rule = "must have members with `predict_proba`"
        raise InputTypeError("ensemble", rule, type_of(ensemble))
    # Bagged members know some columns, and classes by their position.
    columns = getattr(ensemble, "estimators_features_", None)
    if columns is None:
        every = ((member, X, ensemble.classes_) for member in ensemble.estimators_)
    else:
        array, positions = np.asarray(X), np.arange(len(ensemble.classes_))
        pairs = zip(ensemble.estimators_, columns, strict=True)
        every = ((member, array[:, some], positions) for member, some in pairs)
    return np.stack([probabilities_of(member, rows, classes) for member, rows, classes in every])


def _weights(weights, ensemble, X):
    n_cases = np.shape(ensemble)[1] if X is None else len(X)
    return checked_weights(weights, n_cases)
