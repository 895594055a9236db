"""Isotonic calibration: the best-fitting non-decreasing function of the scores."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.arguments import checked_scores
from bnmtl.errors import InputError, check_choice
from bnmtl.metrics.cases import checked_numbers


class IsotonicCalibrator(BaseEstimator):
    """Calibrate scores by isotonic regression; equal scores are pooled first.

    Parameters
    ----------
    kind : {"step", "linear"}, default="step"
        Values between training scores: "step" uses the value of the next higher score, as in the
        paper; "linear" interpolates, as in scikit-learn. Outside, both are constant.

    Attributes
    ----------
    scores_, values_ : numpy.ndarray of float
        Begin and end of each block of equal values, and its value.

    Raises
    ------
    TypeError, ValueError
        In ``fit`` and ``predict``: for an unknown `kind`, labels other than 0 and 1, and scores
        that are not finite numbers.

    References
    ----------
    Zadrozny & Elkan (2002), "Transforming classifier scores into accurate multiclass probability
    estimates", KDD; Niculescu-Mizil & Caruana (2005), "Predicting good probabilities with
    supervised learning", ICML, section 2.2 and table 1.

    Examples
    --------
    >>> calibrator = IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> calibrator.predict([0.0, 0.15, 0.3, 0.35, 0.9])
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    def __init__(self, kind="step"):
        self.kind = kind

    def fit(self, scores, y, sample_weight=None):
        """Fit the function.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,)
        y : array-like of 0 and 1, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case.

        Returns
        -------
        IsotonicCalibrator
        """
        check_choice("kind", self.kind, ("step", "linear"))
        scores, y, weights = checked_scores(scores, y, sample_weight)
        # Use ranks, because scikit-learn treats scores less than 1e-15 apart as tied, and
        # classifiers return many scores that small.
        known, ranks = np.unique(scores, return_inverse=True)
        regression = IsotonicRegression().fit(ranks, y, weights)
        self.scores_ = known[regression.X_thresholds_.astype(int)]
        self.values_ = regression.y_thresholds_
        return self

    def predict(self, scores):
        """Calibrated probabilities.

        Parameters
        ----------
        scores : array-like of numbers, shape (n,)

        Returns
        -------
        numpy.ndarray of shape (n,)
            P(y = 1).
        """
        check_is_fitted(self)
        scores = checked_numbers("scores", scores)
        if self.kind == "linear":
            return np.interp(scores, self.scores_, self.values_)
        place = np.searchsorted(self.scores_, scores)
        return self.values_[np.minimum(place, len(self.values_) - 1)]

    def as_record(self):
        """Return a record of lists and text from which `from_record` restores the calibrator."""
        record = {"scores": self.scores_.tolist(), "values": self.values_.tolist()}
        return record if self.kind == "step" else {"kind": self.kind, **record}

    @classmethod
    def from_record(cls, record):
        """Restore a fitted calibrator; the inverse of `as_record`.

        Parameters
        ----------
        record : dict
            A missing "kind" means "step".

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is not a valid record.
        """
        calibrator = cls(record.get("kind", "step"))
        check_choice("kind", calibrator.kind, ("step", "linear"))
        calibrator.scores_ = checked_numbers("scores", record["scores"])
        calibrator.values_ = checked_numbers("values", record["values"])
        if len(calibrator.scores_) != len(calibrator.values_):
            raise InputError("values", "must be as many as {scores}", len(calibrator.values_))
        return calibrator
