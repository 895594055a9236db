"""Bagged probability trees, plain and enhanced."""

import numpy as np

from bnmtl.errors import check_choice
from bnmtl.trees.ensemble import TreeEnsemble
from bnmtl.trees.leaves import check_smoothing, leaf_counts, smoothed, without_case


class _Bagged(TreeEnsemble):
    """Base of ensembles that predict the mean of the probabilities in the leaves."""

    def _learn(self, leaves, codes, weights):
        n_classes = len(self.classes_)
        sums, n_trees = np.zeros((len(codes), n_classes)), np.zeros(len(codes), dtype=int)
        self._leaf_probabilities = []
        for tree, bag, places in zip(self.estimators_, self.bags_, leaves, strict=True):
            unseen_weights = np.where(bag == 0, float(self._counts_out_of_bag()), 0.0) * weights
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
        self.n_estimators = n_estimators
        self.smoothing = smoothing
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _counts_out_of_bag(self):
        return False

    def _draws_features(self):
        return False


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
        self.n_estimators = n_estimators
        self.out_of_bag = out_of_bag
        self.smoothing = smoothing
        self.random_features = random_features
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _counts_out_of_bag(self):
        return self.out_of_bag

    def _draws_features(self):
        return self.random_features

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("out_of_bag", self.out_of_bag, (True, False))
        check_choice("random_features", self.random_features, (True, False))
