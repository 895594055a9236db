"""The classifiers of chapter 4 of Melville's thesis, for tables with nominal and numeric columns.

The base is a tree with entropy, at least two cases in each leaf and cost-complexity pruning, which
comes near to Weka's J48 (`python -m benchmarks.decorate.weka_peer` measures how near).
"""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from bnmtl.active.committees import BaggingCommittee
from bnmtl.calibration import AdaBoostM1
from bnmtl.decorate import DecorateClassifier
from bnmtl.seeding import generator

SIZE = 15
MAX_ITERATIONS = 50
ALPHA = 0.003  # of the pruning
DECORATE = "DECORATE"
BASE = "tree"


class Indicators(TransformerMixin, BaseEstimator):
    """Numbers as they are, and one indicator per declared category and for missing ones."""

    def fit(self, X, y=None):
        """Nothing is learned."""
        return self

    def transform(self, X):
        """Rows as float32; missing numbers stay missing."""
        return np.concatenate([_block(column) for _, column in X.items()], axis=1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        return tags


def _block(column):
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column.to_numpy(dtype=np.float32)[:, None]
    block = np.zeros((len(column), len(column.array.categories) + 1), dtype=np.float32)
    block[np.arange(len(column)), column.array.codes] = 1  # a missing one is the last
    return block


def tree(alpha=ALPHA, seed=None):
    """The base of all ensembles, on numbers."""
    return DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, ccp_alpha=alpha, random_state=seed
    )


class DrawnGaps(ClassifierMixin, BaseEstimator):
    """A tree that cannot see which cells are missing.

    It learns from copies of the cases in which each missing cell has the value of a random case,
    about what C4.5 does when it sends a case down all branches. Predictions are means over copies.

    Parameters
    ----------
    n_copies : int, default=3
    random_state : int, default=None
    """

    def __init__(self, n_copies=3, random_state=None):
        self.n_copies = n_copies
        self.random_state = random_state

    def fit(self, X, y):
        """Keep the observed values of each column and grow the tree."""
        self._observed = {name: column.dropna() for name, column in X.items()}
        model = tree(seed=self.random_state).set_params(min_samples_leaf=2 * self.n_copies)
        copies = pd.concat(self._copies(X, "fit"), ignore_index=True)
        self._model = make_pipeline(Indicators(), model).fit(copies, np.tile(y, self.n_copies))
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X):
        """Mean probabilities over copies of the cases."""
        return np.mean([self._model.predict_proba(one) for one in self._copies(X, "new")], axis=0)

    def predict(self, X):
        """The most probable class of each case."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _copies(self, X, purpose):
        return [
            self._drawn(X, generator(self.random_state, purpose, number))
            for number in range(self.n_copies)
        ]

    def _drawn(self, X, rng):
        filled = {}
        for name, column in X.items():
            known, gaps = self._observed[name], np.flatnonzero(column.isna())
            values = column.array.copy()
            if len(gaps) and len(known):
                values[gaps] = known.array[rng.integers(len(known), size=len(gaps))]
            filled[name] = values
        return pd.DataFrame(filled, index=X.index)


def decorate(seed, base=None, **options):
    """DECORATE of trees."""
    base = tree() if base is None else base
    options = {"n_estimators": SIZE, "max_iterations": MAX_ITERATIONS} | options
    return DecorateClassifier(base, **options, random_state=seed)


def forest(seed, X):
    """A random forest with as many features per split as in the thesis.

    A nominal feature is several numbers; a split considers so many of these that the share is that
    of the features.
    """
    share = int(np.log2(X.shape[1] + 1)) / X.shape[1]
    n_numbers = Indicators().transform(X[:1]).shape[1]
    n_considered = max(1, round(share * n_numbers))
    return RandomForestClassifier(SIZE, max_features=n_considered, random_state=seed)


def bagging(seed, size=SIZE):
    """Bagged trees.

    A case that is drawn twice counts as two in a leaf. In scikit-learn's `BaggingClassifier` it is
    one case with the weight 2, so leaves of two cases are larger.
    """
    return BaggingCommittee(tree(), size, random_state=seed)


class Boosting(AdaBoostM1):
    """AdaBoost.M1, which goes on where no training case is wrong.

    If no member is better than chance, as with a few cases of many classes, the first one predicts
    alone; `AdaBoostM1` itself gives all classes the same probability then.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit the members."""
        super().fit(X, y, sample_weight)
        if not self.estimator_weights_.any():
            self.estimator_weights_[0] = 1.0
        return self


def boosting(seed, size=SIZE):
    """Boosted trees."""
    return Boosting(tree(), size, random_state=seed)


def fitted(method, X, y, seed, unlabeled=None):
    """A method fitted to cases.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    X : pandas.DataFrame
    y : numpy.ndarray of int
    seed : int
    unlabeled : pandas.DataFrame, default=None
        Cases for "unlabeled".

    Returns
    -------
    classifier with ``predict_proba`` of frames
    """
    if len(np.unique(y)) == 1:
        return DummyClassifier().fit(X, y)
    options = {"unlabeled": unlabeled} if method == "unlabeled" else {}
    return METHODS[method](X, seed).fit(X, y, **options)


def _on_numbers(make):
    """A classifier of frames from a function (seed) that makes one of numbers."""
    return lambda X, seed: make_pipeline(Indicators(), make(seed))


def _with(**options):
    return lambda X, seed: decorate(seed, **options)


METHODS = {
    BASE: _on_numbers(lambda seed: tree(seed=seed)),
    "full tree": _on_numbers(lambda seed: DecisionTreeClassifier(random_state=seed)),
    "bagging": lambda X, seed: bagging(seed),
    "forest": lambda X, seed: make_pipeline(Indicators(), forest(seed, X)),
    "AdaBoost": _on_numbers(boosting),
    DECORATE: _with(),
    "uniform": _with(generator="uniform"),
    "pool": _with(generator="pool"),
    "unlabeled": _with(generator="unlabeled"),
    "network": _with(generator="network"),
    "no rejection": _with(reject=None),
    "of full trees": lambda X, seed: decorate(seed, DecisionTreeClassifier()),
    **{f"size {share / 10:g}": _with(artificial_size=share / 10) for share in range(1, 10)},
}
