"""How much the members of an ensemble disagree."""

import numpy as np

from bnmtl.errors import InputError, InputTypeError, check_choice
from bnmtl.metrics.cases import checked_weights
from bnmtl.metrics.classifiers import probabilities_of
from bnmtl.wording import type_of


def diversity(ensemble, X=None, weights=None, measure="ensemble"):
    """How much the members of an ensemble differ in what they predict.

    Parameters
    ----------
    ensemble : fitted ensemble, or array of shape (n_members, n_cases, n_classes)
        A classifier with ``member_probabilities(X)`` or ``estimators_``, or the probabilities of
        its members. The ensemble predicts the mean of its members.
    X : pandas.DataFrame or array-like, shape (n_cases, n_columns), default=None
        Cases, if ``ensemble`` is a classifier.
    weights : array-like of numbers, shape (n_cases,), default=None
    measure : {"ensemble", "pairwise", "Kohavi-Wolpert", "ambiguity"}, default="ensemble"
        "ensemble": the probability that a member predicts another class than the ensemble;
        "pairwise": that two different members predict different classes; "Kohavi-Wolpert": the
        variance of the predicted class over members, 1/2 (1 - sum of squared shares of votes);
        "ambiguity": the squared distance of the probabilities of a member from those of the
        ensemble, summed over classes.

    Returns
    -------
    float
        A mean over members and cases; 0 if all members predict the same classes, for "ambiguity"
        the same probabilities.

    Raises
    ------
    TypeError, ValueError
        If an array has other dimensions, members lack ``predict_proba``, `X` does not fit
        ``ensemble``, or `measure` is unknown.

    Notes
    -----
    The mean squared error of the members, summed over classes, is that of the ensemble plus the
    ambiguity: members that differ more are worse on average, or the ensemble is better.

    References
    ----------
    Melville (2005), equations 3.1 and 3.2; Kohavi & Wolpert (1996), "Bias plus variance
    decomposition for zero-one loss functions", ICML; Krogh & Vedelsby (1995), "Neural network
    ensembles, cross validation, and active learning", NIPS, for the ambiguity.

    Examples
    --------
    >>> members = [[[0.9, 0.1], [0.4, 0.6]], [[0.8, 0.2], [0.9, 0.1]]]
    >>> diversity(members), diversity(members, measure="pairwise")
    (0.25, 0.5)
    >>> y = [[1, 0], [0, 1]]
    >>> of_members = np.sum((np.array(members) - y) ** 2, axis=2).mean()
    >>> of_ensemble = np.sum((np.mean(members, axis=0) - y) ** 2, axis=1).mean()
    >>> (of_members - of_ensemble).round(4).item(), diversity(members, measure="ambiguity")
    (0.065, 0.065)
    """
    check_choice("measure", measure, tuple(_MEASURES))
    members, weights = _members(ensemble, X), _weights(weights, ensemble, X)
    return float(_MEASURES[measure](members) @ weights / weights.sum())


def _from_ensemble(members):
    """Share of the members with another class than their mean, for each case."""
    chosen = members.argmax(axis=2)
    return (chosen != members.mean(axis=0).argmax(axis=1)).mean(axis=0)


def _of_pairs(members):
    """Share of the pairs of members with different classes, for each case."""
    n, counts = len(members), _votes(members)
    return 1 - (counts * (counts - 1)).sum(axis=1) / max(n * (n - 1), 1) - (n == 1)


def _of_votes(members):
    """Variance of the class over members, for each case."""
    return (1 - ((_votes(members) / len(members)) ** 2).sum(axis=1)) / 2


def _ambiguity(members):
    """Mean squared distance of the members from their mean, for each case."""
    return ((members - members.mean(axis=0)) ** 2).sum(axis=2).mean(axis=0)


_MEASURES = {
    "ensemble": _from_ensemble,
    "pairwise": _of_pairs,
    "Kohavi-Wolpert": _of_votes,
    "ambiguity": _ambiguity,
}


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
