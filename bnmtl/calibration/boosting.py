"""AdaBoost.M1, and logistic correction of boosted probabilities."""

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from bnmtl.calibration.platt import classes_of
from bnmtl.errors import (
    MOST_MEMBERS,
    InputError,
    InputTypeError,
    check_choice,
    check_flag,
    check_whole,
)
from bnmtl.metrics.cases import checked_weights
from bnmtl.seeding import check_seed, with_seed
from bnmtl.tasks.labels import LabelScore, read_labels
from bnmtl.tasks.tables import as_fitted, asked, sorted_columns, table_of_numbers
from bnmtl.threads import fitted_alone
from bnmtl.wording import type_of

_SMALLEST_ERROR = 1e-10
_SEEDS = 2**31 - 1


class AdaBoostM1(LabelScore, ClassifierMixin, BaseEstimator):
    """Boost a classifier with exponential or logistic loss.

    With labels s of -1 and 1, a member h with weighted error e has the vote 1/2 log((1 - e) / e),
    and the decision function F is the sum of vote times h. Smaller errors are replaced by 1e-10, so
    that boosting continues if members make no mistake. A member with an error of 1/2 or more has
    vote 0, and weights restart from the initial ones, or boosting ends. With more than two classes,
    each has the sum of the votes of the members that predict it, and s h is 1 where a member is
    right, else -1.

    Parameters
    ----------
    estimator : classifier, default=None
        None is a full `DecisionTreeClassifier()`. All of its ``random_state`` parameters are set.
    n_estimators : int, default=50
        Number of rounds, with one member each. Earlier rounds do not depend on this number.
    resample : bool, default=True
        Whether to fit each member to n rows drawn by weight with replacement; False passes the
        weights as ``sample_weight``.
    loss : {"exponential", "logistic"}, default="exponential"
        Weights are proportional to exp(-s F) or 1 / (1 + exp(s F)), times the initial ones; the
        logistic loss is for two classes.
    random_state : None, int, numpy.random.RandomState or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    restart : bool, default=True
        Whether weights restart after a member with an error of 1/2 or more. False ends boosting
        there and leaves the member out; the first one stays, with vote 0.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
        Of two classes, the second is predicted if F is above 0.
    estimators_ : list of classifiers, one per round
        A `DummyClassifier` if the drawn rows have only one class. Fewer than ``n_estimators`` if
        boosting has ended.
    estimator_weights_ : numpy.ndarray of float, shape (n_rounds,)
        Votes, 0 or more.
    estimator_errors_ : numpy.ndarray of float, shape (n_rounds,)
        Weighted error of each member on the training rows, with the weights of its round.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if `X` has column names.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for an `estimator` that is not a classifier, an unknown `loss`, an invalid
        number of rounds, weights for an `estimator` that does not accept them, an invalid
        `random_state`, one class, and more than two for the logistic loss; as in scikit-learn for
        invalid `X` and `y`.

    Notes
    -----
    Each round lowers the loss of the votes since the last restart, the sum over rows of exp(-s F)
    or log(1 + exp(-s F)). The expected exponential loss is minimal if F is half of the log odds,
    the logistic loss if F is the log odds. After restarts, where ``estimator_weights_`` is 0, F is
    a sum of ensembles that each approximate this, for both losses: good enough to predict and to
    rank, but `LogisticCorrection` turns it into probabilities far too close to 0 and 1. Boosted
    stumps fitted to drawn rows soon restart; with ``resample=False`` there are hardly any restarts,
    but each is followed by the same members. With ``restart=False`` F is one such ensemble, a short
    one if it ends early.

    References
    ----------
    Freund & Schapire (1996), "Experiments with a new boosting algorithm", ICML, and Melville
    (2005), section 2.3, algorithm 1, where boosting ends at errors above 1/2; Bauer & Kohavi
    (1999), "An empirical comparison of voting classification algorithms", Machine Learning 36, for
    restarts; Collins, Schapire & Singer (2002), "Logistic regression, AdaBoost and Bregman
    distances", Machine Learning 48, sequential updates, for the logistic loss.

    Examples
    --------
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6]], ["no"] * 2 + ["yes"] * 4 + ["no"]
    >>> boosted = AdaBoostM1(stump, n_estimators=3, resample=False).fit(X, y)
    >>> boosted.decision_function(X).round(2)
    array([-0.78, -0.78,  1.01,  1.01,  1.01,  1.01, -0.6 ])
    >>> boosted.predict([[0.4], [2.1], [7]]).tolist()
    ['no', 'yes', 'no']
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=50,
        resample=True,
        loss="exponential",
        random_state=None,
        restart=True,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.resample = resample
        self.loss = loss
        self.random_state = random_state
        self.restart = restart

    @fitted_alone
    def fit(self, X, y, sample_weight=None):
        """Fit the members one after another.

        Parameters
        ----------
        X : array-like of numbers, shape (n, n_features)
        y : array-like of labels, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Initial weights; rows with weight 0 are ignored.

        Returns
        -------
        AdaBoostM1
        """
        self._check_parameters()
        X, y, initial = self._checked_rows(X, y, sample_weight)
        if isinstance(self.random_state, np.random.Generator):
            draw = self.random_state.integers
        else:
            draw = check_random_state(self.random_state).randint
        # Of each member and of its drawn rows; earlier ones do not depend on their number.
        seeds = draw(_SEEDS, size=(self.n_estimators, 2))
        template, initial = self._template(), np.log(initial)
        self.estimators_, votes, errors = [], [], []
        margins = np.zeros(len(y))
        for seed, stream in seeds:
            weights = row_weights(initial, margins, self.loss)
            member = self._fitted(with_seed(template, int(seed)), X, y, weights, stream)
            right = np.where(member.predict(X) == y, 1.0, -1.0)
            error = weights[right < 0].sum()
            least = max(error, _SMALLEST_ERROR)
            vote = 0.5 * np.log((1 - least) / least) if error < 0.5 else 0.0
            ends = not (vote or self.restart)
            if ends and votes:
                break
            self.estimators_.append(member)
            votes.append(vote)
            errors.append(error)
            if ends:
                break
            margins = margins + vote * right if vote else np.zeros(len(y))
        self.estimator_weights_, self.estimator_errors_ = np.array(votes), np.array(errors)
        return self

    def decision_function(self, X):
        """Votes for the second class minus those for the first, or votes for each of more classes.

        Parameters
        ----------
        X : array-like of numbers, shape (n, n_features)

        Returns
        -------
        numpy.ndarray of float, shape (n,) or (n, n_classes)
        """
        *_, scores = self._running_scores(X)
        return scores

    def staged_decision_function(self, X):
        """Decision function after each round.

        Parameters
        ----------
        X : array-like of numbers, shape (n, n_features)

        Yields
        ------
        numpy.ndarray of float, shape (n,) or (n, n_classes)
        """
        for scores in self._running_scores(X):
            yield scores.copy()

    def predict(self, X):
        """Class of each row.

        Parameters
        ----------
        X : array-like of numbers, shape (n, n_features)

        Returns
        -------
        numpy.ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X):
        """Share of the votes for each class, not calibrated; equal if all votes are 0.

        Parameters
        ----------
        X : array-like of numbers, shape (n, n_features)

        Returns
        -------
        numpy.ndarray of float, shape (n, n_classes)
            Of two classes, (1 + F / sum of the votes) / 2 for the second one.
        """
        scores, total = self.decision_function(X), self.estimator_weights_.sum()
        if scores.ndim == 2:
            return scores / total if total else np.full(scores.shape, 1 / scores.shape[1])
        share = scores / (total or 1.0)
        positive = np.clip((1 + share) / 2, 0, 1)
        return np.column_stack([1 - positive, positive])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss != "logistic"
        tags.input_tags.allow_nan = get_tags(self._template()).input_tags.allow_nan
        return tags

    def _template(self):
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _check_parameters(self):
        check_whole("n_estimators", self.n_estimators, 1, MOST_MEMBERS)
        template = self._template()
        is_estimator = hasattr(template, "__sklearn_tags__") and not isinstance(template, type)
        if not is_estimator or not is_classifier(template):
            message = (
                "must be a scikit-learn classifier, such as DecisionTreeClassifier(), or None, got "
                f"{self.estimator!r}"
            )
            raise InputTypeError(message, argument="estimator")
        for name in ("resample", "restart"):
            check_flag(name, getattr(self, name))
        check_choice("loss", self.loss, ("exponential", "logistic"))
        if not self.resample and not has_fit_parameter(template, "sample_weight"):
            message = f"must take `sample_weight` in its `fit`, got {type_of(template)}"
            raise InputError(
                message, argument="estimator", options=("resample",), remedy="set `resample=True`"
            )
        check_seed(self.random_state, most=2**32 - 1, takes_legacy=True)

    def _checked_rows(self, X, y, sample_weight):
        """Features, labels and weights of the rows with a weight above 0."""
        X = table_of_numbers(X)
        self._column_order = sorted_columns(X)
        X, y = validate_data(self, X, read_labels(y), **self._array_options())
        X = self._sorted(X)
        check_classification_targets(y)
        weights = checked_weights(sample_weight, len(y), of="row", name="sample_weight")
        counts = weights > 0
        if not counts.all():
            X, y, weights = X[counts], y[counts], weights[counts]
        self.classes_ = classes_of(y, "must hold rows of two classes with weight")
        if len(self.classes_) > 2 and self.loss == "logistic":
            message = (
                f"must hold two classes for `loss='logistic'`, got {len(self.classes_)!r}; Only "
                "binary classification is supported by it"
            )
            raise InputError(
                message, argument="y", options=("loss",), remedy="set `loss='exponential'`"
            )
        return X, y, weights

    def _array_options(self):
        """Options to convert `X` to an array once, so that members need not convert it again."""
        is_tree = isinstance(self._template(), BaseDecisionTree)
        return {
            "dtype": np.float32 if is_tree else "numeric",
            "order": "C",
            "ensure_all_finite": "allow-nan" if get_tags(self).input_tags.allow_nan else True,
        }

    def _sorted(self, X):
        """Columns as the members receive them: those of a frame by name."""
        return X if self._column_order is None else np.ascontiguousarray(X[:, self._column_order])

    def _running_scores(self, X):
        """Decision function after each round, in the same array."""
        check_is_fitted(self)
        X = as_fitted(self, table_of_numbers(X))
        X = self._sorted(validate_data(self, X, reset=False, **self._array_options()))
        n_classes = len(self.classes_)
        scores = np.zeros(len(X) if n_classes == 2 else (len(X), n_classes))
        for member, vote in zip(self.estimators_, self.estimator_weights_, strict=True):
            if vote:
                predicted = member.predict(X)
                if n_classes == 2:
                    scores += vote * np.where(predicted == self.classes_[1], 1.0, -1.0)
                else:
                    scores += vote * (predicted[:, None] == self.classes_)
            yield scores

    def _fitted(self, member, X, y, weights, stream):
        with asked(member):
            return self._fitted_to(member, X, y, weights, stream)

    def _fitted_to(self, member, X, y, weights, stream):
        if not self.resample:
            return member.fit(X, y, sample_weight=weights)
        rows = np.random.default_rng(stream).choice(len(y), size=len(y), p=weights)
        drawn = y[rows]
        if (drawn == drawn[0]).all():
            member = DummyClassifier(strategy="most_frequent")
        return member.fit(X[rows], drawn)


def row_weights(initial, margins, loss):
    """Weights with sum 1, from log initial weights and margins s F of up to tens of thousands."""
    log_weights = initial - (margins if loss == "exponential" else np.logaddexp(0, margins))
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()


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

    @fitted_alone
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
            message = (
                f"must be an AdaBoostM1 or scikit-learn's AdaBoostClassifier, got {type_of(model)}"
            )
            raise InputTypeError(message, argument="model", remedy=_REMEDY)
        if getattr(model, "learning_rate", 1) != 1:
            message = (
                "must have a `learning_rate` of 1, since its votes are not log odds for others, "
                f"got {model.learning_rate!r}"
            )
            raise InputError(message, argument="model", remedy=_REMEDY)
        try:
            check_is_fitted(model)
        except NotFittedError:
            if X is None or y is None:
                parts = {"argument": "model", "options": ("X", "y")}
                message = "must be fitted where `X` and `y` are not given"
                raise InputError(message, remedy="give them, or fit it first", **parts) from None
            model = clone(model).fit(X, read_labels(y))
        if len(model.classes_) != 2:
            message = f"must distinguish two classes, got {len(model.classes_)!r}"
            raise InputError(
                message, argument="model", remedy="use scikit-learn's OneVsRestClassifier"
            )
        self.model_, self.classes_ = model, model.classes_
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


def _scale(model):
    """Log odds per unit of the decision function."""
    if isinstance(model, AdaBoostM1):
        return 2 if model.loss == "exponential" else 1
    # scikit-learn's decision function is 4 F divided by the sum of its votes, which are twice ours.
    return 0.5 * model.estimator_weights_.sum()
