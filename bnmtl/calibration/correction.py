"""Logistic correction: probabilities of a boosted model from the loss it minimizes."""

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.boosting import AdaBoostM1
from bnmtl.errors import InputError, InputTypeError
from bnmtl.tasks.labels import read_labels
from bnmtl.wording import type_of

_REMEDY = "calibrate it by PlattCalibrator"


class LogisticCorrection(BaseEstimator):
    """Turn the decision function F of a boosted classifier of two classes into probabilities.

    The expected exponential loss is minimal if F is half of the log odds, so P(y = 1) is 1 / (1 +
    exp(-2 F)); the logistic loss is minimal if F is the log odds, so P(y = 1) is 1 / (1 + exp(-F)).
    It needs no calibration rows, but members must be too simple to separate the training set, such
    as stumps. Otherwise all probabilities are 0 or 1, or two values of a single member if
    scikit-learn stops at the first one without mistakes. Restarts of `AdaBoostM1` have the same
    effect; ``resample=False`` avoids most of them, and with ``restart=False`` there are none.

    Attributes
    ----------
    model_ : AdaBoostM1 or sklearn.ensemble.AdaBoostClassifier
        Fitted.
    classes_ : numpy.ndarray of shape (2,)

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for other models, unfitted models without `X` and `y`, learning rates other than
        1 and more than two classes.

    References
    ----------
    Friedman, Hastie & Tibshirani (2000), "Additive logistic regression", Annals of Statistics 28;
    Niculescu-Mizil (2008), section 3.3.1, "Logistic Correction".

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 1, 1]
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> model = AdaBoostM1(stump, n_estimators=1, resample=False)
    >>> LogisticCorrection().fit(model, X, y).predict_proba([[0], [1]]).round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """

    def fit(self, model, X=None, y=None):
        """Use a fitted model, or fit one.

        Parameters
        ----------
        model : AdaBoostM1 or sklearn.ensemble.AdaBoostClassifier
            A fitted model is used unchanged; otherwise a copy is fitted.
        X : array-like of numbers, shape (n, n_features), default=None
        y : array-like of labels, shape (n,), default=None
            Rows to fit the model to; not needed if it is fitted.

        Returns
        -------
        LogisticCorrection
        """
        if not isinstance(model, AdaBoostM1 | AdaBoostClassifier):
            rule = "must be an AdaBoostM1 or scikit-learn's AdaBoostClassifier"
            raise InputTypeError("model", rule, type_of(model), remedies=_REMEDY)
        if getattr(model, "learning_rate", 1) != 1:
            rule = "must have a `learning_rate` of 1, since its votes are not log odds for others"
            raise InputError("model", rule, model.learning_rate, remedies=_REMEDY)
        fitted = _fitted(model, X, y)
        if len(fitted.classes_) != 2:
            rule, remedy = "must distinguish two classes", "use scikit-learn's OneVsRestClassifier"
            raise InputError("model", rule, len(fitted.classes_), remedies=remedy)
        self.model_, self.classes_ = fitted, fitted.classes_
        return self

    def predict_proba(self, X):
        """Probabilities of both classes.

        Parameters
        ----------
        X : array-like of numbers, shape (n, n_features)

        Returns
        -------
        numpy.ndarray of float, shape (n, 2)
        """
        check_is_fitted(self)
        log_odds = _scale(self.model_) * self.model_.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])


def _fitted(model, X, y):
    try:
        check_is_fitted(model)
    except NotFittedError:
        if X is None or y is None:
            rule = "must be fitted where {X} and {y} are not given"
            raise InputError("model", rule, remedies=("give them", "fit it first")) from None
        return clone(model).fit(X, read_labels(y))
    return model


def _scale(model):
    """Log odds per unit of the decision function."""
    if isinstance(model, AdaBoostM1):
        return 2 if model.loss == "exponential" else 1
    # scikit-learn's decision function is 4 F divided by the sum of its votes, which are twice ours.
    return 0.5 * model.estimator_weights_.sum()
