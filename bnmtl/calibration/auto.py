"""The default calibration of probabilities: a sigmoid or beta calibration, as the cases suggest."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.arguments import checked_scores
from bnmtl.calibration.beta import BetaCalibrator
from bnmtl.calibration.platt import PlattCalibrator, smoothed

# Calibrators and their numbers of parameters.
_CANDIDATES = ((PlattCalibrator, 2), (BetaCalibrator, 3))
_TINY = np.finfo(float).tiny
_EPS = np.finfo(float).eps


class AutoCalibrator(BaseEstimator):
    """Calibrate probabilities by `PlattCalibrator` or `BetaCalibrator`, whichever fits better.

    Both are fitted to all cases; the one with the lower information criterion of Akaike is used,
    the loss plus the number of parameters. In a study (``benchmarks/predictions``) neither of them
    was best for all learners: the sigmoid suits votes of forests and nearest neighbors, beta
    calibration the extreme probabilities of naive Bayes. The choice needs no folds, and a weight
    counts as repetitions of the case.

    Attributes
    ----------
    chosen_ : PlattCalibrator or BetaCalibrator
        Fitted.

    Raises
    ------
    TypeError, ValueError
        In ``fit`` and ``predict``: for labels other than 0 and 1, only one class, and scores that
        are not probabilities.

    References
    ----------
    Akaike (1974), "A new look at the statistical model identification", IEEE Transactions on
    Automatic Control 19.

    Examples
    --------
    >>> p, y = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0, 0, 1, 0, 1, 1]
    >>> AutoCalibrator().fit(p, y).chosen_
    PlattCalibrator()
    """

    def fit(self, scores, y, sample_weight=None):
        """Fit both and choose one.

        Parameters
        ----------
        scores : array-like of probabilities, shape (n,)
        y : array-like of 0 and 1, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case.

        Returns
        -------
        AutoCalibrator
        """
        scores, y, weights = checked_scores(scores, y, sample_weight, is_probability=True)
        targets, lowest = smoothed(y, weights), np.inf
        for candidate, n_parameters in _CANDIDATES:
            fitted = candidate().fit(scores, y, weights)
            p = np.clip(fitted.predict(scores), _TINY, 1 - _EPS)
            loss = -weights @ (targets * np.log(p) + (1 - targets) * np.log1p(-p))
            if loss + n_parameters < lowest:
                lowest, self.chosen_ = loss + n_parameters, fitted
        return self

    def predict(self, scores):
        """Calibrated probabilities.

        Parameters
        ----------
        scores : array-like of probabilities, shape (n,)

        Returns
        -------
        numpy.ndarray of shape (n,)
            P(y = 1).
        """
        check_is_fitted(self)
        return self.chosen_.predict(scores)
