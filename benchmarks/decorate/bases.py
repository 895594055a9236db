"""Bases of ensembles other than trees, for tables with nominal, numeric and missing cells."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from benchmarks.decorate.learners import Boosting, Indicators
from bnmtl.classification import BayesNetClassifier
from bnmtl.learners import SingleTaskLearner

N_BINS = 5
EPOCHS = 80


class States(TransformerMixin, BaseEstimator):
    """Each column as codes of states: quantile bins of numbers, declared categories, and missing.

    Parameters
    ----------
    n_bins : int, default=5
    as_codes : bool, default=False
        Whether to return an array of codes instead of a frame of categories.
    """

    def __init__(self, n_bins=N_BINS, as_codes=False):
        self.n_bins = n_bins
        self.as_codes = as_codes

    def fit(self, X, y=None):
        """Find the cut points of the numeric columns."""
        shares = np.arange(1, self.n_bins) / self.n_bins
        self.cuts_ = {
            name: np.unique(np.nanquantile(X[name].astype(float), shares))
            for name in X
            if not isinstance(X[name].dtype, pd.CategoricalDtype) and X[name].notna().any()
        }
        return self

    def transform(self, X):
        """The states; the last one of a column is a missing cell."""
        frame = pd.DataFrame({name: self._states(name, X[name]) for name in X}, index=X.index)
        return _codes(frame) if self.as_codes else frame

    def _states(self, name, column):
        if isinstance(column.dtype, pd.CategoricalDtype):
            n, codes = len(column.cat.categories), column.cat.codes.to_numpy()
        else:
            cuts = self.cuts_.get(name, np.zeros(0))
            n = len(cuts) + 1
            codes = np.where(column.isna(), -1, np.searchsorted(cuts, column, side="right"))
        return pd.Categorical.from_codes(
            np.where(codes < 0, n, codes), [f"s{code}" for code in range(n + 1)]
        )


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes with add-one estimates on codes of states.

    Parameters
    ----------
    n_states : list of int, default=None
        Per column; None takes them from the categories of a frame.
    """

    def __init__(self, n_states=None):
        self.n_states = n_states

    def fit(self, X, y):
        """Count."""
        n_states = self.n_states or [len(X[name].cat.categories) for name in X]
        self._counts = CategoricalNB(min_categories=n_states).fit(_codes(X), y)
        self.classes_ = self._counts.classes_
        return self

    def predict_proba(self, X):
        """Probabilities of the classes."""
        return self._counts.predict_proba(_codes(X))

    def predict(self, X):
        """The most probable classes."""
        return self._counts.predict(_codes(X))


def _codes(rows):
    if isinstance(rows, pd.DataFrame):
        return np.column_stack([rows[name].cat.codes for name in rows])
    return rows.astype(int)


class NeuralNet(ClassifierMixin, BaseEstimator):
    """A net with half as many hidden units as there are attributes and classes.

    Rates and epochs are those of section 4.8 of the thesis: backpropagation with rate 0.15,
    momentum 0.9 and 80 epochs. Weka updates the weights after each case; here a batch has 10.

    Parameters
    ----------
    random_state : int, default=None
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Fit the net to numbers."""
        self.classes_ = np.unique(y)
        n_hidden = max(1, (X.shape[1] + len(self.classes_)) // 2)
        self._net = make_pipeline(
            SimpleImputer(keep_empty_features=True),
            MinMaxScaler((-1, 1)),
            MLPClassifier(
                n_hidden,
                activation="logistic",
                solver="sgd",
                alpha=0.0,
                batch_size=min(10, len(X)),
                learning_rate_init=0.15,
                momentum=0.9,
                nesterovs_momentum=False,
                max_iter=EPOCHS,
                n_iter_no_change=EPOCHS,
                random_state=self.random_state,
            ),
        ).fit(X, y)
        return self

    def predict_proba(self, X):
        """Probabilities of the classes."""
        return self._net.predict_proba(X)

    def predict(self, X):
        """The most probable classes."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _network():
    """A learned network, with at most two parents per column."""
    return BayesNetClassifier(learner=SingleTaskLearner(max_parents=2), unseen="ignore")


def boosted(base, X, size, seed):
    """AdaBoost of a base on resampled numbers.

    Parameters
    ----------
    base : {"neural net", "naive Bayes"}
    X : pandas.DataFrame
        The training cases.
    size : int
        Number of rounds.
    seed : int
    """
    if base == "neural net":
        return make_pipeline(Indicators(), Boosting(NeuralNet(), size, random_state=seed))
    states = States().fit_transform(X)
    member = NaiveBayes([len(states[name].cat.categories) for name in states])
    return make_pipeline(States(as_codes=True), Boosting(member, size, random_state=seed))


BASES = {
    "neural net": lambda: make_pipeline(Indicators(), NeuralNet()),
    "naive Bayes": lambda: make_pipeline(States(), NaiveBayes()),
    "network": lambda: make_pipeline(States(), _network()),
}
