"""A decision tree that smooths the class frequencies of its leaves."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from bnmtl.errors import InputError, check_number
from bnmtl.metrics.cases import checked_weights
from bnmtl.tasks.labels import LabelScore, read_labels
from bnmtl.tasks.tables import as_fitted, sorted_columns, table_of_numbers
from bnmtl.threads import fitted_alone


def check_smoothing(smoothing):
    """Raise unless a value is None, "laplace" or a number above 0."""
    if isinstance(smoothing, str) and smoothing != "laplace":
        raise InputError(
            f'must be None, "laplace" or a number above 0, got {smoothing!r}', argument="smoothing"
        )
    if not isinstance(smoothing, str) and smoothing is not None:
        check_number("smoothing", smoothing, above=0, remedy="None does not smooth")


def in_given_order(tree, order):
    """Let a grown tree ask for the columns of a table as it was given.

    Trees depend on the order of columns, because equally good splits are drawn by position. So they
    grow on sorted columns, and importances and pictures are of the columns as the user knows them.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        It is changed.
    order : numpy.ndarray of int or None
        Positions of the columns on which it was grown in the given table; None changes nothing.
    """
    if order is not None:
        asks = tree.feature >= 0
        tree.feature[asks] = order[tree.feature[asks]]


def smoothed(counts, smoothing, prior):
    """Probabilities from class counts.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (..., n_classes)
    smoothing : None, "laplace" or float
        As in `ProbabilityTree`.
    prior : numpy.ndarray of float, shape (n_classes,)

    Returns
    -------
    numpy.ndarray of float, of the shape of ``counts``
        NaN where nothing is counted and nothing smoothed.
    """
    if smoothing is None:
        m = 0.0
    elif smoothing == "laplace":
        m, prior = counts.shape[-1], 1 / counts.shape[-1]
    else:
        m = smoothing
    total = counts.sum(axis=-1, keepdims=True) + m
    return np.divide(counts + m * prior, total, out=np.full(counts.shape, np.nan), where=total > 0)


def leaf_counts(leaves, codes, weights, n_nodes, n_classes):
    """Weighted class counts of each node of a tree in which cases end.

    Parameters
    ----------
    leaves, codes : numpy.ndarray of int, shape (n_cases,)
        Leaf and class of each case.
    weights : numpy.ndarray of float, shape (n_cases,)
    n_nodes, n_classes : int

    Returns
    -------
    numpy.ndarray of float, shape (n_nodes, n_classes)
    """
    places = leaves * n_classes + codes
    return np.bincount(places, weights, n_nodes * n_classes).reshape(n_nodes, n_classes)


def without_case(counts, codes, weights):
    """Counts without what the case itself adds.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (n_cases, n_classes)
    codes : numpy.ndarray of int, shape (n_cases,)
    weights : numpy.ndarray of float, shape (n_cases,)
        How much each case counts in the class it belongs to.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases, n_classes)
    """
    found = counts.copy()
    at = np.arange(len(codes)), codes
    rest = found[at] - weights
    # Differences of sums, where nothing is left, are not exactly 0.
    found[at] = np.where(rest > 1e-9 * found[at], rest, 0.0)
    return found


def majority_votes(votes, n_classes):
    """The class with most votes for each case, the first of several.

    Parameters
    ----------
    votes : numpy.ndarray of int, shape (n_trees, n_cases)
        Classes; -1 where a tree does not vote.
    n_classes : int

    Returns
    -------
    numpy.ndarray of int, shape (n_cases,)
        -1 where nobody votes.
    """
    counts = np.stack([(votes == k).sum(axis=0) for k in range(n_classes)])
    return np.where(counts.any(axis=0), counts.argmax(axis=0), -1)


class ProbabilityTree(LabelScore, DecisionTreeClassifier):
    """A decision tree for class probabilities.

    It is grown until leaves are pure, because pruning loses differences between probabilities.
    Frequencies in small leaves are close to 0 and 1; ``smoothing`` draws them towards the middle.

    Parameters
    ----------
    criterion : {"entropy", "gini", "log_loss"}, default="entropy"
    smoothing : None, "laplace" or float, default=None
        Probabilities of a leaf with n cases, n_k of class k.

        - None: n_k / n.
        - "laplace": (n_k + 1) / (n + K), with K classes in the training set.
        - a number m above 0: (n_k + m P_k) / (n + m), with the share P_k of class k in the
          training set.
    max_depth : int, default=None
    min_samples_split : int or float, default=2
    min_samples_leaf : int or float, default=1
    max_features : int, float or {"sqrt", "log2"}, default=None
    max_leaf_nodes : int, default=None
    ccp_alpha : float, default=0.0
        As in `sklearn.tree.DecisionTreeClassifier`.
    random_state : None, int or numpy.random.RandomState, default=None

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    tree_ : sklearn.tree._tree.Tree
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if `X` has column names.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for an unknown ``smoothing``, and as in scikit-learn.

    Notes
    -----
    Missing numbers are left to the tree; nominal columns must be encoded as numbers before.

    References
    ----------
    Provost & Domingos (2003), "Tree induction for probability-based ranking", Machine Learning 52.

    Examples
    --------
    >>> X, y = [[0], [1], [2], [3]], ["no", "no", "no", "yes"]
    >>> ProbabilityTree(smoothing="laplace").fit(X, y).predict_proba([[0], [3]]).round(3)
    array([[0.8  , 0.2  ],
           [0.333, 0.667]])
    """

    def __init__(
        self,
        *,
        criterion="entropy",
        smoothing=None,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        max_features=None,
        max_leaf_nodes=None,
        ccp_alpha=0.0,
        random_state=None,
    ):
        super().__init__(
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            ccp_alpha=ccp_alpha,
            random_state=random_state,
        )
        self.smoothing = smoothing

    @fitted_alone
    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)
        y : array-like of labels, shape (n_cases,)
        sample_weight : array-like of numbers, shape (n_cases,), default=None
            Number of times each case counts.
        check_input : bool, default=True
            As in `sklearn.tree.DecisionTreeClassifier`.

        Returns
        -------
        ProbabilityTree
        """
        check_smoothing(self.smoothing)
        X, y = table_of_numbers(X), read_labels(y)
        if len(y) != (n := _num_samples(X)):
            raise InputError(f"must be one label for each row, {n}, got {len(y)!r}", argument="y")
        if sample_weight is not None:
            sample_weight = checked_weights(sample_weight, n, "row", "sample_weight")
        order = sorted_columns(X)
        columns = X if order is None else X.iloc[:, order]
        super().fit(columns, y, sample_weight=sample_weight, check_input=check_input)
        in_given_order(self.tree_, order)
        if order is not None and hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.array(X.columns, dtype=object)
        return self

    def apply(self, X, check_input=True):
        """The leaf of each case.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)
            Columns of a frame are found by name.
        check_input : bool, default=True
            As in `sklearn.tree.DecisionTreeClassifier`.

        Returns
        -------
        numpy.ndarray of int, shape (n_cases,)
        """
        check_is_fitted(self)
        return super().apply(as_fitted(self, table_of_numbers(X)), check_input=check_input)

    def decision_path(self, X, check_input=True):
        """The nodes of the tree through which each case goes.

        Parameters
        ----------
        X, check_input
            As in `apply`.

        Returns
        -------
        scipy.sparse.csr_matrix, shape (n_cases, n_nodes)
        """
        check_is_fitted(self)
        return super().decision_path(as_fitted(self, table_of_numbers(X)), check_input=check_input)

    def predict_proba(self, X, check_input=True):
        """Smoothed class frequencies of the leaf of each case.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)
        check_input : bool, default=True
            As in `sklearn.tree.DecisionTreeClassifier`.

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        check_is_fitted(self)
        leaves = self.apply(X, check_input=check_input)
        shares = self.tree_.value[leaves, 0]
        if self.smoothing is None:
            return shares
        n = self.tree_.weighted_n_node_samples[leaves, None]
        return smoothed(n * shares, self.smoothing, self.tree_.value[0, 0])

    def predict(self, X, check_input=True):
        """The first of the most probable classes of each case.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)
        check_input : bool, default=True
            As in `sklearn.tree.DecisionTreeClassifier`.

        Returns
        -------
        numpy.ndarray of shape (n_cases,)
        """
        p = self.predict_proba(X, check_input=check_input)
        return self.classes_[np.argmax(p, axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags
