"""A classifier made of members: what DECORATE and other committees have in common."""

import contextlib

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from bnmtl.decorate.inputs import TreeInputs, columns_of, read_rows
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.classifiers import probabilities_of
from bnmtl.seeding import generator, with_seed
from bnmtl.tasks.labels import LabelScore, read_labels
from bnmtl.wording import type_of

_SEEDS = 2**31 - 1


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
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]

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
        return np.stack([self._probabilities_by(one, inputs) for one in self.estimators_])

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
        self._encode = TreeInputs(columns) if self._encodes() else None
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
        return with_seed(template, int(generator(seed, "member", number).integers(_SEEDS)))

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
            raise InputError("y", "must be one label for each row, {n}", len(y), n=len(X))
        check_classification_targets(y)
        return X, y


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
        # The last remedy, because the rows that the user gave need no correction.
        mistake.argument, mistake.remedies = None, mistake.remedies[-1:]
        raise InputError("estimator", rule, found="{mistake}", mistake=mistake) from None


def check_estimator(template):
    """Raise unless a value is None or a classifier with probabilities."""
    if template is None:
        return
    is_estimator = hasattr(template, "__sklearn_tags__") and not isinstance(template, type)
    if not is_estimator or not is_classifier(template):
        rule = "must be a scikit-learn classifier or None"
        raise InputTypeError("estimator", rule, type_of(template))
    if not hasattr(template, "predict_proba"):
        rule, remedies = "must have `predict_proba`", "calibrate it"
        raise InputTypeError("estimator", rule, type_of(template), remedies=remedies)
