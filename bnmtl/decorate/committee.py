"""Committees: classifiers made of members, and how much these disagree."""

import contextlib

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from bnmtl.decorate.inputs import TreeInputs, columns_of, read_rows
from bnmtl.errors import InputError, InputTypeError, check_choice
from bnmtl.metrics.cases import checked_weights, probabilities_of
from bnmtl.seeding import drawn_seed, with_seed
from bnmtl.tasks.labels import LabelScore, read_labels
from bnmtl.tasks.tables import sorted_columns
from bnmtl.wording import type_of


class Committee(LabelScore, ClassifierMixin, BaseEstimator):
    """Base of classifiers that predict from the probabilities of their members.

    Subclasses have the parameters ``estimator`` (None and trees of scikit-learn receive encoded
    rows) and ``random_state``; their ``fit`` sets ``classes_`` and ``estimators_`` and calls
    `_encode_columns`.
    """

    def predict_proba(self, X):
        """Mean of the members' probabilities.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        return self.member_probabilities(X).mean(axis=0)

    def predict(self, X):
        """The first of the most probable classes of each case.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)

        Returns
        -------
        numpy.ndarray of shape (n_cases,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def member_probabilities(self, X):
        """Probabilities by each member.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)

        Returns
        -------
        numpy.ndarray of float, shape (n_members, n_cases, n_classes)
        """
        check_is_fitted(self, "estimators_")
        inputs = self._inputs_of(self._read_rows(X))
        return np.stack([self._probabilities_by(member, inputs) for member in self.estimators_])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        return tags

    def _default_estimator(self):
        """The member that ``estimator=None`` stands for."""
        return DecisionTreeClassifier()

    def _encodes(self):
        """Whether members receive numbers instead of the rows as they are."""
        return self.estimator is None or isinstance(self.estimator, BaseDecisionTree)

    def _read_rows(self, X):
        """Checked rows of a prediction."""
        return read_rows(self, X, self._allows_nan(), reset=False)

    def _encode_columns(self, X, categorical_features="from_dtype", task_column=None):
        """Prepare the encoding of rows and return their columns."""
        columns = columns_of(X, categorical_features, task_column)
        self._encode = TreeInputs(columns, sorted_columns(X)) if self._encodes() else None
        return columns

    def _inputs_of(self, rows):
        """Rows as the members receive them."""
        return rows if self._encode is None else self._encode(rows)

    def _probabilities_by(self, member, inputs):
        """Probabilities of all classes by a member, from rows as `_inputs_of` returns them."""
        is_checked = self._encode is not None and isinstance(member, DecisionTreeClassifier)
        # On few rows, the check of a tree takes longer than its prediction.
        options = {"check_input": False} if is_checked and self._allows_nan() else {}
        return probabilities_of(member, inputs, self.classes_, **options)

    def _new_member(self, seed, number):
        """A classifier to be fitted, the member with a number."""
        template = self._default_estimator() if self.estimator is None else self.estimator
        return with_seed(template, drawn_seed(seed, "member", number))

    def _member(self, seed, number, inputs, y, **weights):
        """The member with a number, fitted."""
        return fitted_or_constant(self._new_member(seed, number), inputs, y, **weights)

    def _allows_nan(self):
        template = self.estimator
        has_tags = hasattr(template, "__sklearn_tags__")
        return template is None or (has_tags and get_tags(template).input_tags.allow_nan)

    def _read_cases(self, X, y):
        """Checked rows and labels."""
        X = read_rows(self, X, self._allows_nan(), reset=True)
        y = read_labels(y)
        if len(y) != len(X):
            message = f"must be one label for each row, {len(X)}, got {len(y)!r}"
            raise InputError(message, argument="y")
        check_classification_targets(y)
        return X, y

    def _prepared(self, X, y):
        """Cases as the members receive them, and labels; also sets ``classes_``."""
        check_estimator(self.estimator)
        X, y = self._read_cases(X, y)
        self.classes_ = np.unique(y)
        self._encode_columns(X)
        return self._inputs_of(X), y


def fitted_or_constant(template, X, y, **weights):
    """A classifier fitted to cases, or a constant one if all have the same class.

    Many classifiers refuse a single class.

    Parameters
    ----------
    template : classifier, not fitted
    X : pandas.DataFrame or numpy.ndarray, shape (n_cases, n_columns)
    y : numpy.ndarray of shape (n_cases,)
    **weights
        ``sample_weight``, if there are weights.

    Returns
    -------
    classifier
        A `DummyClassifier` for one class.
    """
    return (DummyClassifier() if (y == y[0]).all() else template).fit(X, y, **weights)


@contextlib.contextmanager
def about_member(rule):
    """Say of a mistake in a member's prediction that its own cases are the cause.

    Parameters
    ----------
    rule : str
        What ``estimator`` must be able to predict.
    """
    try:
        yield
    except InputError as mistake:
        # The last of its remedies, because the rows that the user gave need no correction.
        place = "" if mistake.column is None else f"column `{mistake.column}` "
        message = f"{rule}; {place}{mistake.message}"
        parts = {"task": mistake.task, "options": mistake.options}
        parts["remedy"] = mistake.remedy and mistake.remedy.rpartition(", or ")[2]
        raise InputError(message, argument="estimator", **parts) from None


def check_estimator(template):
    """Raise unless a value is None or a classifier with probabilities."""
    if template is None:
        return
    is_estimator = hasattr(template, "__sklearn_tags__") and not isinstance(template, type)
    if not is_estimator or not is_classifier(template):
        message = f"must be a scikit-learn classifier or None, got {type_of(template)}"
        raise InputTypeError(message, argument="estimator")
    if not hasattr(template, "predict_proba"):
        message = f"must have `predict_proba`, got {type_of(template)}"
        raise InputTypeError(message, argument="estimator", remedy="calibrate it")


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
    members = _members(ensemble, X)
    weights = checked_weights(weights, members.shape[1])
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
            raise InputError("must be given with a classifier", argument="X")
        return _of_classifier(ensemble, X)
    if X is not None:
        message = f"must be None with an array of probabilities, got {type_of(X)}"
        raise InputError(message, argument="X")
    rule = "must be a fitted classifier or an array of members x cases x classes"
    try:
        members = np.asarray(ensemble, dtype=float)
    except (TypeError, ValueError):
        message = f"{rule}, got {type_of(ensemble)}"
        raise InputTypeError(message, argument="ensemble") from None
    if members.ndim != 3 or not members.size:
        raise InputTypeError(f"{rule}, got {members.shape!r}", argument="ensemble")
    return members


def _of_classifier(ensemble, X):
    if hasattr(ensemble, "member_probabilities"):
        return ensemble.member_probabilities(X)
    if not hasattr(ensemble, "estimators_"):
        rule = "must have `estimators_`, as scikit-learn's ensembles after their `fit`"
        raise InputTypeError(f"{rule}, got {type_of(ensemble)}", argument="ensemble")
    if not all(hasattr(member, "predict_proba") for member in ensemble.estimators_):
        message = f"must have members with `predict_proba`, got {type_of(ensemble)}"
        raise InputTypeError(message, argument="ensemble")
    # Bagged members know some columns, and classes by their position.
    columns = getattr(ensemble, "estimators_features_", None)
    if columns is None:
        every = ((member, X, ensemble.classes_) for member in ensemble.estimators_)
    else:
        array, positions = np.asarray(X), np.arange(len(ensemble.classes_))
        pairs = zip(ensemble.estimators_, columns, strict=True)
        every = ((member, array[:, some], positions) for member, some in pairs)
    return np.stack([probabilities_of(member, rows, classes) for member, rows, classes in every])
