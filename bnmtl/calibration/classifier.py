"""A scikit-learn classifier that wraps and calibrates any other classifier."""

import warnings

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.svm import LinearSVC
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from bnmtl.calibration.calibrators import (
    AutoCalibrator,
    BetaCalibrator,
    IsotonicCalibrator,
    TemperatureCalibrator,
)
from bnmtl.calibration.platt import MultitaskPlattCalibrator, PlattCalibrator, classes_of
from bnmtl.errors import InputError, InputTypeError, check_jobs, warn
from bnmtl.metrics.cases import checked_weights
from bnmtl.metrics.folds import checked_groups, splits_by
from bnmtl.processes import in_processes
from bnmtl.tasks.encoding import tasks_of
from bnmtl.tasks.labels import LabelScore, read_labels
from bnmtl.tasks.tables import any_rows, asked
from bnmtl.threads import fitted_alone
from bnmtl.wording import count, listed, type_of

# (of decision values, of probabilities)
_CALIBRATORS = {
    "auto": (PlattCalibrator(), AutoCalibrator()),
    "platt": (PlattCalibrator(), PlattCalibrator()),
    "beta": (PlattCalibrator(), BetaCalibrator()),
    "isotonic": (IsotonicCalibrator(), IsotonicCalibrator()),
    "temperature": (TemperatureCalibrator(), TemperatureCalibrator(scale="logit")),
}
METHODS = tuple(_CALIBRATORS)


def calibrator_of(method, is_probability):
    """The unfitted calibrator of a method, by name; other calibrators are returned as they are.

    "auto" is `AutoCalibrator` for probabilities and Platt's sigmoid for other scores. Beta
    calibration needs probabilities, so it is Platt's sigmoid for other scores, too.
    """
    return _CALIBRATORS[method][is_probability] if isinstance(method, str) else method


def calibrator_by_task(is_probability):
    """The unfitted calibrator with one sigmoid per task, for "auto" and "platt".

    Of probabilities it takes the log odds, so that it leaves calibrated ones as they are.
    """
    return MultitaskPlattCalibrator("logit" if is_probability else "raw")


def _check_method(method, by_task):
    """Raise unless it is a calibrator or the name of one; one by task has a sigmoid."""
    if by_task and (not isinstance(method, str) or method not in ("auto", "platt")):
        message = (
            "must be 'auto' or 'platt' with `task_column`, which has a sigmoid for each task, got "
            f"{method!r}"
        )
        raise InputError(message, argument="method", options=("task_column",))
    is_name = isinstance(method, str) and method in METHODS
    if not is_name and not is_calibrator(method):
        names = ", ".join(map(repr, METHODS))
        message = f"must be one of {names} or a calibrator with fit and predict, got {method!r}"
        raise InputError(message, argument="method")


def is_calibrator(value):
    """Whether it is an object with fit and predict."""
    return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "predict")


ENOUGH_FOR_ISOTONIC = 1000


class CalibratedClassifier(LabelScore, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Calibrate the probabilities of a classifier.

    The scores of a case are the decision values of the classifier or, if it has none, its predicted
    probabilities. More than two classes are calibrated one against the rest, and the results are
    divided by their sum; if all of them are 0, the classes get equal probabilities. Temperature
    scaling has one number for all classes.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``decision_function`` or ``predict_proba``. None is a linear support vector machine.
    method : {"auto", "platt", "beta", "isotonic", "temperature"} or calibrator, default="auto"
        "auto" is "platt" for decision values, and for probabilities `AutoCalibrator`: "platt" or
        "beta", whichever fits the calibration cases better. "platt" fits a sigmoid to the scores as
        they are, as scikit-learn's "sigmoid"; "beta" is `BetaCalibrator`, for decision values the
        sigmoid; "isotonic" is `IsotonicCalibrator`; "temperature" is `TemperatureCalibrator`, of
        the log odds of probabilities. A calibrator has ``fit(scores, y, sample_weight=None)`` and
        ``predict(scores)``; it is copied.
    cv : int, splitter, iterable of (train, test), "prefit" or "oob", default=5
        Cross-validation that scores each case by a classifier not fitted to it: the scores of all
        test folds go to one calibrator, then the classifier is fitted to all cases. A number means
        stratified folds without shuffling, with groups those of `StratifiedGroupKFold`; with
        `task_column`, each has its share of every task, however the rows are sorted. "prefit"
        means that the classifier is already fitted; it is used unchanged, and ``fit`` receives the
        calibration cases. The same holds for a FrozenEstimator. "oob" fits the classifier once,
        with ``oob_score=True``, and scores each case by the members that were not fitted to it: for
        forests, extra trees with ``bootstrap=True``, bagging, and the ensembles of `bnmtl.trees`.
    n_jobs : int, default=None
        Number of folds fitted at a time, as in joblib; the result does not depend on it.
    task_column : str or int, default=None
        The column of `X` that names the task of each row: its name in a frame, or its position in
        an array. There is then one sigmoid per task, shrunk towards a common one
        (`MultitaskPlattCalibrator`; of probabilities, a sigmoid of their log odds), and `method`
        must be "auto" or "platt". Rows of new tasks get the common one. The classifier gets the
        column, too.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    estimator_ : classifier
        Fitted to all cases.
    calibrators_ : list
        One for each class; with two classes only one, for the second.
    n_features_in_, feature_names_in_
        Those of the classifier, if it has them.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for a classifier without scores, an invalid `method`, `cv` or `n_jobs`, folds
        that do not test every case once, "oob" for a classifier without out-of-bag votes, different
        lengths, weights that the classifier does not accept, groups without folds, only one class,
        and classes without a calibration case.
    NotFittedError
        In ``predict`` and ``predict_proba`` before ``fit``, and in ``fit`` with "prefit" if the
        classifier is not fitted.

    References
    ----------
    Platt (1999), "Probabilistic outputs for support vector machines"; Zadrozny & Elkan (2002),
    "Transforming classifier scores into accurate multiclass probability estimates", KDD;
    Niculescu-Mizil (2008), section 3.2; Kull, Silva Filho & Flach (2017), "Beyond sigmoids",
    Electronic Journal of Statistics 11; Breiman (1996), "Out-of-bag estimation".

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(400, n_redundant=10, random_state=0)
    >>> model = CalibratedClassifier(GaussianNB()).fit(X[:300], y[:300])
    >>> model.predict_proba(X[300:]).shape
    (100, 2)
    """

    def __init__(self, estimator=None, method="auto", cv=5, n_jobs=None, task_column=None):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.task_column = task_column

    @fitted_alone
    def fit(self, X, y, sample_weight=None, *, calibration=None, groups=None):
        """Fit the classifier and its calibrators.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of n rows
            As accepted by the classifier.
        y : array-like of labels, shape (n,)
        sample_weight : array-like of numbers, shape (n,), default=None
            Weight of each case, for classifier and calibrators.
        calibration : (X, y), default=None
            Cases used for calibration instead of cross-validation, each with weight 1.
        groups : array-like of names, shape (n,), default=None
            Group of each case, such as the patient, for the folds: a group is in one of them.

        Returns
        -------
        CalibratedClassifier

        Warns
        -----
        UserWarning
            If cases are used both for training and for calibration (the same object or memory, or
            equal row labels other than 0 .. n - 1), if a class is missing from a training fold
            (cases of its test fold get the lowest score of all for it), if out-of-bag votes are
            missing, and for isotonic calibration with fewer than 1000 cases.
        """
        base = self._base()
        if isinstance(base, type) or not hasattr(base, "fit"):
            message = (
                f"must be a classifier, for example LogisticRegression(), or None, got {base!r}"
            )
            raise InputTypeError(message, argument="estimator")
        _check_method(self.method, self.task_column is not None)
        check_jobs(self.n_jobs)
        (X,) = indexable(any_rows(X))
        y = checked_labels(X, y)
        task = self._tasks(X)
        if sample_weight is not None:
            sample_weight = checked_weights(sample_weight, len(y), name="sample_weight")
        kind = self._kind(base, calibration, groups)
        # Out-of-bag votes are probabilities, even of members with decision values.
        self._has_votes = kind == "oob"
        if kind == "prefit":
            check_is_fitted(base)
            self.estimator_, self.classes_ = base, np.asarray(base.classes_)
            self._fit_calibrators(self._scores(base, X), y, sample_weight, task)
            return self
        self.classes_ = classes_of(y)
        _check_takes_weights(base, sample_weight)
        if kind == "oob":
            self._fit_out_of_bag(X, y, sample_weight, task)
        elif kind == "calibration":
            self._fit_with_others(X, y, sample_weight, *_checked_calibration(calibration))
        else:
            self._fit_out_of_fold(X, y, sample_weight, groups, task)
        return self

    def predict_proba(self, X):
        """Calibrated probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of n rows

        Returns
        -------
        numpy.ndarray of shape (n, n_classes)
            In the order of `classes_`; each row sums to 1.
        """
        check_is_fitted(self)
        X = any_rows(X)
        scores = self._scores(self.estimator_, X)
        if len(self.calibrators_) < scores.shape[1]:
            return self.calibrators_[0].predict(scores)
        pairs, task = zip(self.calibrators_, scores.T, strict=True), self._tasks(X)
        p = np.column_stack([_calibrated(calibrator, column, task) for calibrator, column in pairs])
        if p.shape[1] == 1:
            return np.hstack([1 - p, p])
        total = p.sum(axis=1, keepdims=True)
        uniform = np.full_like(p, 1 / p.shape[1])
        return np.divide(p, total, out=uniform, where=total > 0)

    def predict(self, X):
        """Classes with the highest calibrated probability.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of n rows

        Returns
        -------
        numpy.ndarray of shape (n,)
        """
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]

    @property
    def n_features_in_(self):
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self):
        return self.estimator_.feature_names_in_

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self._base())
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
        return tags

    def _tasks(self, X):
        """The task of each row; None without a column that names it."""
        return None if self.task_column is None else tasks_of(X, self.task_column)

    def _base(self):
        return LinearSVC(random_state=0) if self.estimator is None else self.estimator

    def _kind(self, base, calibration, groups):
        """Where calibration scores come from: "prefit", "oob", "calibration" or "folds"."""
        if isinstance(self.cv, str) and self.cv not in ("prefit", "oob"):
            message = (
                "must be a number of folds, a splitter, an iterable of (train, test), 'prefit' or "
                f"'oob', got {self.cv!r}"
            )
            raise InputError(message, argument="cv")
        kind = self.cv if isinstance(self.cv, str) else "folds"
        if kind == "oob":
            _check_takes_out_of_bag(base)
        if isinstance(base, FrozenEstimator):
            kind = "prefit"
        if calibration is not None:
            if kind == "prefit":
                message = "must be omitted if the estimator is already fitted"
                raise InputError(
                    message,
                    argument="calibration",
                    options=("X", "y"),
                    remedy="give its cases as `X` and `y`",
                )
            if kind == "oob":
                message = "must be omitted with `cv='oob'`"
                raise InputError(
                    message,
                    argument="calibration",
                    options=("cv",),
                    remedy="leave one of the two out",
                )
            kind = "calibration"
        if groups is not None and kind != "folds":
            raise InputError("must be left out, because there are no folds", argument="groups")
        return kind

    def _fit_with_others(self, X, y, weights, calibration_X, calibration_y):
        """Fit the classifier to some cases and the calibrators to others."""
        if _share_cases(X, calibration_X):
            message = "shares cases with `X`, so the calibrated probabilities are overconfident"
            warn(
                message,
                argument="calibration",
                options=("X",),
                remedy="use other cases, or other row labels if these are others",
            )
        self.estimator_ = _fitted(self._base(), X, y, weights)
        scores, task = self._scores(self.estimator_, calibration_X), self._tasks(calibration_X)
        self._fit_calibrators(scores, calibration_y, None, task)

    def _fit_out_of_fold(self, X, y, weights, groups, task):
        """Score each case by a classifier fitted to the other folds, then fit one to all."""
        folds = checked_folds(self.cv, X, y, groups, task)
        missing = {name for train, _ in folds for name in np.setdiff1d(self.classes_, y[train])}
        if missing:
            message = (
                f"gives a training fold without a case of {listed(sorted(map(str, missing)))}; "
                "cases of its test fold get the lowest score for it"
            )
            warn(message, argument="cv", remedy="take stratified folds, or fewer")
        every = delayed(_fitted)(self._base(), X, y, weights)
        fits = [*(delayed(self._scores_of_fold)(X, y, weights, *fold) for fold in folds), every]
        *found, self.estimator_ = in_processes(self.n_jobs, len(fits), kind=Parallel)(fits)
        scores = np.empty((len(y), found[0].shape[1]))
        for (_, test), values in zip(folds, found, strict=True):
            scores[test] = values
        # fmin ignores NaN.
        scores = np.where(np.isnan(scores), np.fmin.reduce(scores), scores)
        self._fit_calibrators(scores, y, weights, task)

    def _scores_of_fold(self, X, y, weights, train, test):
        """Scores of test rows by a classifier fitted to training rows."""
        fold_weights = None if weights is None else weights[train]
        model = _fitted(self._base(), _safe_indexing(X, train), y[train], fold_weights)
        return self._scores(model, _safe_indexing(X, test))

    def _fit_out_of_bag(self, X, y, weights, task):
        """Fit the classifier and score each case by the members that were not fitted to it."""
        base = self._base()
        with warnings.catch_warnings():
            # Cases without a vote are counted below.
            warnings.filterwarnings("ignore", "Some inputs do not have OOB scores", UserWarning)
            warnings.filterwarnings("ignore", "invalid value encountered", RuntimeWarning)
            if "oob_score" in base.get_params(deep=False):
                base = clone(base).set_params(oob_score=True)
            self.estimator_ = _fitted(base, X, y, weights)
        votes = np.asarray(self.estimator_.oob_decision_function_, dtype=float)
        at = np.arange(len(y))
        if len(votes) < len(y):  # trees of this package leave cases of weight 0 out
            at = np.flatnonzero(weights > 0)
        has_votes = np.isfinite(votes).all(axis=1) & (votes.sum(axis=1) > 0)
        if not has_votes.all():
            message = (
                f"leaves {count(int((~has_votes).sum()), 'case')} of {len(at)} without an "
                "out-of-bag vote, and they are omitted"
            )
            warn(message, argument="cv", remedy="train more members")
        scores = np.clip(votes[has_votes], 0, 1)[:, -1 if len(self.classes_) == 2 else 0 :]
        at = at[has_votes]
        weights, task = (None if given is None else given[at] for given in (weights, task))
        self._fit_calibrators(scores, y[at], weights, task)

    def _decides(self, model):
        """Whether scores are decision values rather than probabilities."""
        return hasattr(model, "decision_function") and not self._has_votes

    def _scores(self, model, X):
        """A column of scores for each calibrator; NaN for a class unknown to the model."""
        with asked(model, "predict"):
            raw = _raw_scores(model, X, self._decides(model))
        if raw.shape[1] != len(model.classes_):
            n = len(model.classes_)
            message = f"must give one score for each of its {n} classes, got {raw.shape[1]!r}"
            raise InputError(
                message,
                argument="estimator",
                remedy="set `decision_function_shape='ovr'` of an SVC",
            )
        scores = np.full((len(raw), len(self.classes_)), np.nan)
        known = self.classes_.tolist()
        scores[:, [known.index(name) for name in model.classes_]] = raw
        return scores[:, 1:] if len(known) == 2 else scores

    def _fit_calibrators(self, scores, y, weights, task):
        is_probability = not self._decides(self.estimator_)
        calibrator = calibrator_of(self.method, is_probability)
        if task is not None:
            calibrator = calibrator_by_task(is_probability)
        if isinstance(calibrator, IsotonicCalibrator) and len(y) < ENOUGH_FOR_ISOTONIC:
            message = f"is isotonic calibration, which overfits {count(len(y), 'case')}"
            warn(
                message,
                argument="method",
                remedy=f"with fewer than about {ENOUGH_FOR_ISOTONIC} use `method='auto'`",
            )
        _check_every_class(y if weights is None else y[weights > 0], self.classes_)
        if isinstance(calibrator, TemperatureCalibrator) and scores.shape[1] > 1:
            at = np.searchsorted(self.classes_, y)
            self.calibrators_ = [clone(calibrator).fit(scores, at, weights)]
            return
        self.calibrators_ = []
        for column, positive in zip(scores.T, self.classes_[-scores.shape[1] :], strict=True):
            fitted = clone(calibrator, safe=False)
            given = () if task is None else (task,)
            fitted.fit(column, (y == positive).astype(int), *given, weights)
            self.calibrators_.append(fitted)


def _calibrated(calibrator, scores, task):
    """Calibrated scores; of a new task by the sigmoid of all rows."""
    if task is None:
        return calibrator.predict(scores)
    p, known = np.empty(len(scores)), np.isin(task, calibrator.a_.index)
    if known.any():
        p[known] = calibrator.predict(scores[known], task[known])
    if not known.all():
        p[~known] = calibrator.pooled_.predict(scores[~known])
    return p


def _fitted(estimator, X, y, weights):
    model = clone(estimator)
    with asked(model):
        model.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
    return model


def _raw_scores(model, X, decides):
    """A column of decision values or probabilities for each class of the model."""
    if decides:
        raw = np.asarray(model.decision_function(X), dtype=float)
        raw = np.column_stack([-raw, raw]) if raw.ndim == 1 else raw
    elif hasattr(model, "predict_proba"):
        # Means of ones can exceed 1 by a rounding error.
        raw = np.clip(np.asarray(model.predict_proba(X), dtype=float), 0, 1)
    else:
        message = f"must have a method decision_function or predict_proba, got {type_of(model)}"
        raise InputTypeError(message, argument="estimator")
    if not np.isfinite(raw).all():
        message = f"must give finite scores; {type_of(model)} gives {raw[~np.isfinite(raw)][0]}"
        raise InputError(
            message, argument="estimator", remedy="scale the features, or regularize it more"
        )
    return raw


def checked_labels(X, y):
    """Labels as an array with one label per case, or an error."""
    y, n = read_labels(y), _num_samples(X)
    if len(y) != n:
        message = f"must be one label per case, {n} as in `X`, got {len(y)!r}"
        raise InputError(message, argument="y", options=("X",))
    check_classification_targets(y)
    return y


def _checked_calibration(calibration):
    """Calibration cases and their labels, or an error."""
    if not isinstance(calibration, tuple | list) or len(calibration) != 2:
        message = (
            "must be a pair (X, y) of calibration cases and their labels, got "
            f"{type_of(calibration)}"
        )
        raise InputTypeError(message, argument="calibration")
    (X,) = indexable(calibration[0])
    return X, checked_labels(X, calibration[1])


def checked_folds(cv, X, y, groups=None, task=None):
    """Pairs of training and test rows; each row is tested once, rows of a group together."""
    groups = None if groups is None else checked_groups(groups, len(y))
    folds = splits_by(cv, X, y, groups, task)
    tested = np.concatenate([np.arange(0), *(test for _, test in folds)])
    times = np.bincount(tested, minlength=len(y))
    if (times != 1).any():
        row = int((times != 1).argmax())
        message = f"must put every case into one test fold; row {row} is in {times[row]}"
        raise InputError(message, argument="cv", remedy="use disjoint folds that cover all cases")
    never = np.setdiff1d(y, np.concatenate([y[train] for train, _ in folds])).tolist()
    if never:
        message = f"must train with every class; {never[0]!r} is in no training fold"
        raise InputError(message, argument="cv", remedy="use other folds")
    return folds


def _check_takes_weights(estimator, weights):
    """Raise if weights are given but the classifier does not accept them."""
    if weights is not None and not has_fit_parameter(estimator, "sample_weight"):
        message = f"must be left out for {type_of(estimator)}, whose fit does not take it"
        raise InputError(
            message,
            argument="sample_weight",
            options=("cv",),
            remedy="to weight calibration cases only, fit it first and use `cv='prefit'`",
        )


def _check_takes_out_of_bag(estimator):
    """Raise unless members of the classifier leave cases out, which they can predict."""
    parameters = estimator.get_params(deep=False)
    # Those of scikit-learn have votes if they are asked for, those of `bnmtl.trees` always.
    has_votes = "oob_score" in parameters or hasattr(type(estimator), "oob_decision_function_")
    if not has_votes or not is_classifier(estimator):
        message = (
            "must be a forest or bagging if `cv='oob'`, because others have no out-of-bag votes, "
            f"got {type_of(estimator)}"
        )
        raise InputTypeError(message, argument="estimator", options=("cv",), remedy="use folds")
    for name, needed in (("bootstrap", True), ("warm_start", False)):
        if parameters.get(name, needed) != needed:
            message = (
                f"must have {name}={needed} if `cv='oob'`, or there are no out-of-bag votes, got "
                f"{parameters[name]!r}"
            )
            raise InputError(
                message,
                argument="estimator",
                options=("cv",),
                remedy=f"set {name}={needed}, or use folds",
            )


def _check_every_class(y, classes):
    """Raise unless calibration cases have exactly the classes of the estimator."""
    found = set(y.tolist())
    unknown = sorted(found.difference(classes.tolist()), key=str)
    if unknown:
        message = f"of the calibration cases must hold classes of the estimator, got {unknown[0]!r}"
        raise InputError(message, argument="y", remedy="leave such cases out")
    absent = [name for name in classes.tolist() if name not in found]
    if absent:
        message = f"of the calibration cases must hold every class; it lacks {absent[0]!r}"
        raise InputError(message, argument="y", remedy="add such cases, or train without the class")


def _share_cases(X, other):
    """Whether two tables are the same object, share memory, or have equal row labels.

    Row labels 0 .. n - 1 are those of any table and say nothing if both tables have them. If one
    has them, the rows of equal labels must be equal, too.
    """
    tables = pd.DataFrame | pd.Series
    if isinstance(X, tables) and isinstance(other, tables):
        n_counted = _is_counted(X.index) + _is_counted(other.index)
        labels = set(X.index).intersection(other.index) if n_counted < 2 else ()
        if labels and (n_counted == 0 or _are_equal(X, other, labels)):
            return True
    pairs = zip(_columns(X), _columns(other), strict=False)
    return X is other or any(np.shares_memory(column, its) for column, its in pairs)


def _are_equal(X, other, labels):
    """Whether the first rows of some labels are equal in two tables."""
    first, second = (table[table.index.isin(labels)] for table in (X, other))
    first = first[~first.index.duplicated()]
    return first.equals(second[~second.index.duplicated()].loc[first.index])


def _is_counted(index):
    """Whether the labels are 0 .. n - 1 in any order."""
    return set(index) == set(range(len(index)))


def _columns(X):
    """The columns of tables and arrays as arrays, copied if they are not numpy arrays."""
    if isinstance(X, pd.DataFrame):
        return [X.iloc[:, at].to_numpy() for at in range(X.shape[1])]
    if isinstance(X, pd.Series):
        return [X.to_numpy()]
    if issparse(X):
        return [X.data]
    return list(X.T) if isinstance(X, np.ndarray) else []
