"""Ensembles of trees on bootstraps that know which cases each tree has seen."""

import math

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bnmtl.errors import check_whole
from bnmtl.metrics.cases import checked_weights
from bnmtl.seeding import generator, seed_of

_SEEDS = 2**31 - 1


class TreeEnsemble(ClassifierMixin, BaseEstimator):
    """Base of ensembles whose trees are grown on bags with the class proportions of the cases.

    Subclasses have the parameters ``n_estimators``, ``criterion``, ``max_depth``,
    ``min_samples_leaf``, ``random_state`` and ``n_jobs``, and define `_learn` and
    `_probabilities`.
    """

    def fit(self, X, y, sample_weight=None):
        """Grow the trees.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)
            Cells may be missing (NaN); nominal columns must be encoded as numbers before.
        y : array-like of labels, shape (n_cases,)
        sample_weight : array-like of numbers, shape (n_cases,), default=None
            How much each case counts in splits and leaves; bags are drawn without weights.

        Returns
        -------
        self
        """
        check_whole("n_estimators", self.n_estimators, least=1)
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float32, ensure_all_finite="allow-nan")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        weights = checked_weights(sample_weight, len(y), of="row", name="sample_weight")
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, codes = np.unique(y, return_inverse=True)
        seed = seed_of(self.random_state)
        grown = Parallel(self.n_jobs, prefer="threads")(
            delayed(self._grown)(X, codes, weights, seed, number)
            for number in range(self.n_estimators)
        )
        self.estimators_ = [tree for tree, _ in grown]
        self.bags_ = np.stack([bag for _, bag in grown])
        totals = np.bincount(codes, weights)
        self.class_prior_ = totals / totals.sum()
        self._learn(np.stack([one.apply(X) for one in self.estimators_]), codes, weights)
        return self

    def apply(self, X):
        """The leaf of each case in each tree.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)

        Returns
        -------
        numpy.ndarray of int, shape (n_cases, n_estimators)
        """
        check_is_fitted(self, "estimators_")
        options = {"dtype": np.float32, "ensure_all_finite": "allow-nan", "reset": False}
        X = validate_data(self, X, **options)
        return np.stack([one.apply(X) for one in self.estimators_], axis=1)

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        return self._probabilities(self.apply(X).T)

    def predict(self, X):
        """The first of the most probable classes of each case.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)

        Returns
        -------
        numpy.ndarray of shape (n_cases,)
        """
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _grown(self, X, codes, weights, seed, number):
        """A tree, and how often its bag holds each case."""
        bag = class_bag(codes, generator(seed, "bag", number))
        rows = np.repeat(np.arange(len(codes)), bag)
        tree = DecisionTreeClassifier(
            criterion=self.criterion,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self._features_per_split(X.shape[1]),
            random_state=int(generator(seed, "tree", number).integers(_SEEDS)),
        )
        # Repeated rows, because `min_samples_leaf` counts rows and not weights.
        return tree.fit(X[rows], codes[rows], sample_weight=weights[rows]), bag

    def _features_per_split(self, n_features):
        """Number of features that each split chooses from."""
        return min(n_features, int(math.log2(n_features)) + 1) if self._draws_features() else None


def class_bag(codes, rng):
    """How often a bootstrap holds each case, if each class is drawn from its cases.

    Parameters
    ----------
    codes : numpy.ndarray of int, shape (n_cases,)
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of int, shape (n_cases,)
    """
    bag = np.zeros(len(codes), dtype=np.int32)
    for k in range(codes.max() + 1):
        rows = np.flatnonzero(codes == k)
        drawn = rng.integers(len(rows), size=len(rows))
        bag[rows] = np.bincount(drawn, minlength=len(rows))
    return bag
