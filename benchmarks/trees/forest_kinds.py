"""Trees with different sources of randomness, for forests."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.tree import DecisionTreeClassifier


class RandomCombinations(TransformerMixin, BaseEstimator):
    """Sums of a few standardized columns with random signs and sizes (Breiman's Forest-RC).

    Parameters
    ----------
    n_combinations : int, default=200
        Combinations to draw, of which a tree may consider a few at each node.
    n_columns : int, default=3
        Columns of a combination.
    random_state : int, default=None
    """

    def __init__(self, n_combinations=200, n_columns=3, random_state=None):
        self.n_combinations = n_combinations
        self.n_columns = n_columns
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the combinations."""
        rng, width = np.random.default_rng(self.random_state), X.shape[1]
        self.scales_ = X.std(axis=0)
        self.scales_[self.scales_ == 0] = 1.0
        self.weights_ = np.zeros((width, self.n_combinations))
        for column in range(self.n_combinations):
            chosen = rng.choice(width, min(self.n_columns, width), replace=False)
            self.weights_[chosen, column] = rng.uniform(-1, 1, len(chosen))
        return self

    def transform(self, X):
        """The combinations of each row."""
        return X / self.scales_ @ self.weights_


class RandomBestTree(ClassifierMixin, BaseEstimator):
    """A full tree whose splits are drawn from the best ones of each node (Dietterich, 2000).

    Parameters
    ----------
    n_best : int, default=20
        Splits, by the decrease of the Gini impurity, of which each is drawn equally often.
    random_state : int, default=None

    References
    ----------
    Dietterich (2000), "An experimental comparison of three methods for constructing ensembles of
    decision trees", Machine Learning 40.
    """

    def __init__(self, n_best=20, random_state=None):
        self.n_best = n_best
        self.random_state = random_state

    def fit(self, X, y):
        """Grow the tree until leaves have one class or cannot be split."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        rng, X = np.random.default_rng(self.random_state), np.asarray(X, dtype=float)
        # A node is (column, limit, left, right); a leaf has the shares of the classes.
        self._nodes, waiting = [None], [(0, np.arange(len(X)))]
        hot = np.eye(len(self.classes_))[codes]
        while waiting:
            at, rows = waiting.pop()
            column, limit = self._split(X[rows], hot[rows], rng)
            if column is None:
                self._nodes[at] = hot[rows].mean(axis=0)
                continue
            left = len(self._nodes)
            self._nodes += [None, None]
            self._nodes[at] = column, limit, left, left + 1
            is_left = X[rows, column] <= limit
            waiting += [(left, rows[is_left]), (left + 1, rows[~is_left])]
        return self

    def _split(self, X, hot, rng):
        """A column and a limit drawn from the best splits of a node; None for a leaf."""
        n = len(X)
        if n < 2 or (hot.sum(axis=0) == n).any():
            return None, None
        order = np.argsort(X, axis=0, kind="stable")
        values = np.take_along_axis(X, order, axis=0)
        left = hot[order].cumsum(axis=0)[:-1]
        right = hot.sum(axis=0) - left
        n_left = np.arange(1, n)[:, None]
        # The larger, the purer: sums of squared counts by the number of cases.
        purity = (left**2).sum(axis=2) / n_left + (right**2).sum(axis=2) / (n - n_left)
        purity[values[:-1] == values[1:]] = -np.inf
        n_possible = int(np.isfinite(purity).sum())
        if not n_possible:
            return None, None
        best = np.argsort(-purity, axis=None, kind="stable")[: min(self.n_best, n_possible)]
        row, column = np.unravel_index(rng.choice(best), purity.shape)
        return column, (values[row, column] + values[row + 1, column]) / 2

    def predict_proba(self, X):
        """Shares of the classes in the leaf of each row."""
        X = np.asarray(X, dtype=float)
        found, waiting = np.empty((len(X), len(self.classes_))), [(0, np.arange(len(X)))]
        while waiting:
            at, rows = waiting.pop()
            node = self._nodes[at]
            if isinstance(node, np.ndarray):
                found[rows] = node
                continue
            column, limit, left, right = node
            is_left = X[rows, column] <= limit
            waiting += [(left, rows[is_left]), (right, rows[~is_left])]
        return found

    def predict(self, X):
        """The most frequent class in the leaf of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class ClassHalves(ClassifierMixin, BaseEstimator):
    """A tree that learns two random halves of the classes and votes for all classes of a half.

    Parameters
    ----------
    random_state : int, default=None
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Draw the halves and learn to distinguish them."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        rng, n = np.random.default_rng(self.random_state), len(self.classes_)
        first = rng.permutation(n) < n // 2
        # With an odd number of classes, either half is the larger one.
        self._first = first if rng.integers(2) else ~first
        tree = DecisionTreeClassifier(random_state=int(rng.integers(2**31)))
        self._model = tree.fit(X, self._first[codes])
        return self

    def predict_proba(self, X):
        """The probability of a half, divided equally among its classes."""
        p = self._model.predict_proba(X)
        is_first = (
            p[:, list(self._model.classes_).index(True)]
            if p.shape[1] == 2
            else np.full(len(X), float(self._model.classes_[0]))
        )
        n_first = self._first.sum()
        return np.where(
            self._first, is_first[:, None] / n_first, (1 - is_first[:, None]) / (~self._first).sum()
        )

    def predict(self, X):
        """A most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
