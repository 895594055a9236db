"""Bagged probability trees, plain and enhanced, that know which cases each tree has seen."""

import math

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bnmtl.errors import (
    MOST_MEMBERS,
    InputError,
    check_choice,
    check_jobs,
    check_number,
    check_whole,
)
from bnmtl.metrics.cases import checked_weights
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks.labels import LabelScore, read_labels
from bnmtl.tasks.tables import as_fitted, sorted_columns, table_of_numbers
from bnmtl.threads import fitted_alone
from bnmtl.trees.probability import (
    check_smoothing,
    in_given_order,
    leaf_counts,
    smoothed,
    without_case,
)

_SEEDS = 2**31 - 1


class TreeEnsemble(LabelScore, ClassifierMixin, BaseEstimator):
    """Base of ensembles whose trees are grown on bags with the class proportions of the cases.

    Subclasses have ``random_features``, whether each split chooses from a few features drawn at
    random, and define `_learn`, `_probabilities` and `_check_parameters`.
    """

    def __init__(self, n_estimators, criterion, max_depth, min_samples_leaf, random_state, n_jobs):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fitted_alone
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
        X, codes, weights = self._read(X, y, sample_weight)
        seed = seed_of(self.random_state)
        grown = Parallel(self.n_jobs, prefer="threads")(
            delayed(self._grown)(X, codes, weights, seed, number)
            for number in range(self.n_estimators)
        )
        trees, bags = zip(*grown, strict=True)
        return self._completed(list(trees), np.stack(bags), X, codes, weights)

    def _read(self, X, y, sample_weight):
        """Checked numbers, positions of the classes, and weights, of the cases that have one."""
        check_whole("n_estimators", self.n_estimators, least=1, most=MOST_MEMBERS)
        check_choice("criterion", self.criterion, ("gini", "entropy", "log_loss"))
        check_whole("max_depth", self.max_depth, least=1, optional=True)
        if isinstance(self.min_samples_leaf, float):
            check_number("min_samples_leaf", self.min_samples_leaf, above=0, below=1)
        else:
            check_whole("min_samples_leaf", self.min_samples_leaf, least=1)
        check_jobs(self.n_jobs)
        self._check_parameters()
        X, y = table_of_numbers(X), read_labels(y)
        self._column_order = sorted_columns(X)
        X, y = validate_data(self, X, y, dtype=np.float32, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        weights = checked_weights(sample_weight, len(y), of="row", name="sample_weight")
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, codes = np.unique(y, return_inverse=True)
        return X, codes, weights

    def _completed(self, trees, bags, X, codes, weights):
        """The ensemble with its trees and what it learns from their leaves."""
        self.estimators_, self.bags_ = trees, bags
        totals = np.bincount(codes, weights)
        self.class_prior_ = totals / totals.sum()
        self._learn(self._leaves(X).T, codes, weights)
        return self

    def _leaves(self, X):
        """The leaf of each case in each tree, of checked numbers."""
        return np.stack([tree.apply(X, check_input=False) for tree in self.estimators_], axis=1)

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
        X = as_fitted(self, table_of_numbers(X))
        return self._leaves(validate_data(self, X, **options))

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

    @property
    def oob_decision_function_(self):
        """The same as ``oob_proba_``, by the name that forests of scikit-learn have for it."""
        return self.oob_proba_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _grown(self, X, codes, weights, seed, number):
        """A tree, and how often its bag holds each case."""
        bag = class_bag(codes, generator(seed, "bag", number))
        rows = np.repeat(np.arange(len(codes)), bag)
        n_features = X.shape[1]
        few_features = min(n_features, int(math.log2(n_features)) + 1)
        tree = DecisionTreeClassifier(
            criterion=self.criterion,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_features=few_features if self.random_features else None,
            random_state=int(generator(seed, "tree", number).integers(_SEEDS)),
        )
        # Repeated rows, because `min_samples_leaf` counts rows and not weights. On few rows, the
        # check takes as long as the growth; without it, trees do not look for missing cells.
        inputs, has_gaps, order = X[rows], bool(np.isnan(X).any()), self._column_order
        inputs = inputs if order is None else np.ascontiguousarray(inputs[:, order])
        tree.fit(inputs, codes[rows], sample_weight=weights[rows], check_input=has_gaps)
        in_given_order(tree.tree_, order)
        return tree, bag


def on_trees_of(ensemble, other, X, y):
    """Fit an ensemble to the trees that another one has grown on the same cases.

    Parameters
    ----------
    ensemble : TreeEnsemble
        It would grow the same trees: it has the same ``n_estimators``, ``criterion``,
        ``max_depth``, ``min_samples_leaf`` and int ``random_state``, and draws features or does
        not.
    other : TreeEnsemble
        Fitted without weights.
    X, y
        The cases of its fit.

    Returns
    -------
    TreeEnsemble
        The ensemble, as its ``fit`` would make it.
    """
    names = ("n_estimators", "criterion", "max_depth", "min_samples_leaf", "random_state")
    names = (*names, "random_features")
    if any(getattr(ensemble, name) != getattr(other, name) for name in names):
        raise InputError("must have grown the trees that the ensemble would grow", argument="other")
    return ensemble._completed(other.estimators_, other.bags_, *ensemble._read(X, y, None))


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


class _Bagged(TreeEnsemble):
    """Base of ensembles that predict the mean of the probabilities in the leaves."""

    def _learn(self, leaves, codes, weights):
        n_classes = len(self.classes_)
        sums, n_trees = np.zeros((len(codes), n_classes)), np.zeros(len(codes), dtype=int)
        self._leaf_probabilities = []
        for tree, bag, places in zip(self.estimators_, self.bags_, leaves, strict=True):
            unseen_weights = np.where(bag == 0, float(self.out_of_bag), 0.0) * weights
            counts = leaf_counts(
                places, codes, bag * weights + unseen_weights, tree.tree_.node_count, n_classes
            )
            self._leaf_probabilities.append(self._smoothed(counts))
            unseen = np.flatnonzero(bag == 0)
            others = without_case(counts[places[unseen]], codes[unseen], unseen_weights[unseen])
            sums[unseen] += self._smoothed(others)
            n_trees[unseen] += 1
        self.oob_mask_ = n_trees > 0
        self.oob_proba_ = np.full(sums.shape, np.nan)
        known = self.oob_mask_
        self.oob_proba_[known] = sums[known] / n_trees[known, None]

    def _smoothed(self, counts):
        return smoothed(counts, self.smoothing, self.class_prior_)

    def _probabilities(self, leaves):
        tables = zip(self._leaf_probabilities, leaves, strict=True)
        return sum(table[places] for table, places in tables) / len(leaves)

    def _check_parameters(self):
        check_smoothing(self.smoothing)


class BaggedPETs(_Bagged):
    """Bagged probability estimation trees (B-PETs): means of the smoothed leaves of full trees.

    Each tree is grown on a bootstrap in which each class is drawn from its cases, as often as it
    occurs.

    Parameters
    ----------
    n_estimators : int, default=100
    smoothing : None, "laplace" or float, default="laplace"
        As in `ProbabilityTree`.
    criterion : {"entropy", "gini", "log_loss"}, default="entropy"
    max_depth : int, default=None
    min_samples_leaf : int or float, default=1
        As in `sklearn.tree.DecisionTreeClassifier`; a case counts as often as the bag holds it.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    n_jobs : int, default=None
        Number of threads, as in joblib; None is 1. It does not affect the result.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    class_prior_ : numpy.ndarray of float, shape (n_classes,)
        Shares of the classes in the training set.
    estimators_ : list of sklearn.tree.DecisionTreeClassifier
        Of the positions of the classes.
    bags_ : numpy.ndarray of int, shape (n_estimators, n_cases)
        How often each tree has seen each case of a weight above 0.
    oob_proba_ : numpy.ndarray of float, shape (n_cases, n_classes)
        Probabilities of the training cases of a weight above 0 by the trees that have not seen
        them; NaN if all have. They do not depend on the label of the case.
    oob_mask_ : numpy.ndarray of bool, shape (n_cases,)
        Whether a tree has not seen the case.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if `X` has column names, all of them text.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for parameters out of range, and as in scikit-learn for invalid `X` and `y`.

    References
    ----------
    Provost & Domingos (2003), "Tree induction for probability-based ranking", Machine Learning 52.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggedPETs(random_state=0).fit(X, y)
    >>> model.oob_mask_.all(), bool((model.oob_proba_.argmax(axis=1) == y).mean() > 0.9)
    (np.True_, True)
    """

    out_of_bag = random_features = False

    def __init__(
        self,
        n_estimators=100,
        *,
        smoothing="laplace",
        criterion="entropy",
        max_depth=None,
        min_samples_leaf=1,
        random_state=None,
        n_jobs=None,
    ):
        self.smoothing = smoothing
        super().__init__(n_estimators, criterion, max_depth, min_samples_leaf, random_state, n_jobs)


class EnhancedBaggedPETs(_Bagged):
    """Enhanced bagged probability estimation trees (EB-PETs).

    As `BaggedPETs`, but leaves also count the cases that the tree has not seen, are not smoothed,
    and each split chooses from a few features.

    Parameters
    ----------
    n_estimators : int, default=100
    out_of_bag : bool, default=True
        Whether leaves count, once each, the cases outside the bag of their tree.
    smoothing : None, "laplace" or float, default=None
        As in `ProbabilityTree`.
    random_features : bool, default=True
        Whether each split chooses from int(log2(n_features)) + 1 features drawn at random.
    criterion, max_depth, min_samples_leaf, random_state, n_jobs
        As in `BaggedPETs`.

    Attributes
    ----------
    classes_, class_prior_, estimators_, bags_, oob_proba_, oob_mask_, n_features_in_
        As in `BaggedPETs`. For ``oob_proba_`` each case is taken out of the leaves that count it.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for parameters out of range, and as in scikit-learn for invalid `X` and `y`.

    References
    ----------
    Nielsen (2012), "MOB-ESP and other improvements in probability estimation".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> EnhancedBaggedPETs(random_state=0).fit(X, y).predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

    def __init__(
        self,
        n_estimators=100,
        *,
        out_of_bag=True,
        smoothing=None,
        random_features=True,
        criterion="entropy",
        max_depth=None,
        min_samples_leaf=1,
        random_state=None,
        n_jobs=None,
    ):
        self.out_of_bag = out_of_bag
        self.smoothing = smoothing
        self.random_features = random_features
        super().__init__(n_estimators, criterion, max_depth, min_samples_leaf, random_state, n_jobs)

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("out_of_bag", self.out_of_bag, (True, False))
        check_choice("random_features", self.random_features, (True, False))
