"""The base class of classifiers that use learned networks."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from bnmtl.tasks.labels import LabelScore


class NetworkClassifier(LabelScore, ClassifierMixin, BaseEstimator):
    """Base of classifiers; subclasses fit networks and predict probabilities."""

    def __init__(self, target=None, learner=None, unseen="error", bins=5, random_state=None):
        self.target = target
        self.learner = learner
        self.unseen = unseen
        self.bins = bins
        self.random_state = random_state

    def predict(self, X):
        """The most probable class of each row; the first among ties.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_features)

        Returns
        -------
        numpy.ndarray, shape (n_rows,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X):
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_features)

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = getattr(self, "target", None) is None
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        # In predictions gaps are always allowed.
        tags.input_tags.allow_nan = getattr(self.learner, "missing", "error") != "error"
        return tags
