"""Stacking: a second model learns how to combine the predictions of the others."""

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import nnls
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from bnmtl.ensembles.entries import checked_classes, checked_predictions, coded
from bnmtl.ensembles.folds import stratified_folds
from bnmtl.ensembles.means import predictions_of
from bnmtl.ensembles.selector import check_store
from bnmtl.ensembles.store import HILLCLIMB, PredictionStore
from bnmtl.errors import (
    InputError,
    InputTypeError,
    check_choice,
    check_jobs,
    check_number,
    check_whole,
)
from bnmtl.metrics.classifiers import probabilities_of
from bnmtl.seeding import seed_of

_N_FOLDS = 5
_INVERSE_RIDGES = np.logspace(-4, 4, 10)


class Stacking(ClassifierMixin, BaseEstimator):
    """Combine models by a model of their predictions.

    Parameters
    ----------
    estimators : sequence of classifier or of (str, classifier), default=None
        The models, if `fit` receives features; not used with a store.
    method : {"linear", "logistic"}, default="linear"
        "linear" is one non-negative least-squares regression per class on the probabilities of the
        models; its outputs are divided by their sum, and equal if all are 0. "logistic" is a
        logistic regression on their log odds, with a ridge penalty chosen by five folds.
    columns : {"own", "all"}, default="own"
        Whether the regression of a class uses the probabilities of that class or of all classes.
        Only with "linear".
    cv : int, default=5
        Number of folds in which the models predict cases that they were not fitted to; fewer if a
        class has fewer cases. Afterwards they are fitted to all cases. Not used with a store.
    holdout : float, default=None
        In place of folds, the share of the cases that is held out once; the models are not fitted
        again (blending).
    random_state : None, int or numpy.random.Generator, default=None
        For the folds.
    n_jobs : int, default=None
        Number of processes that fit models, as in joblib.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    coef_ : numpy.ndarray of shape (n_classes, n_models) or (n_classes, n_models, n_classes)
        With "linear": weights of the models for each class, by class with ``columns="all"``.
    estimators_ : list of classifier
        The fitted models; empty with a store.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for arguments out of range, fewer than two models, and labels with one class.

    References
    ----------
    Wolpert (1992), "Stacked generalization"; Ting & Witten (1999), "Issues in stacked
    generalization", JAIR 10.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = make_classification(300, random_state=0)
    >>> models = [GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)]
    >>> Stacking(models, random_state=0).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.8
    True
    """

    def __init__(
        self,
        estimators=None,
        method="linear",
        columns="own",
        cv=_N_FOLDS,
        holdout=None,
        random_state=None,
        n_jobs=None,
    ):
        self.estimators = estimators
        self.method = method
        self.columns = columns
        self.cv = cv
        self.holdout = holdout
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Fit the combination, and the models unless they are in a store.

        Parameters
        ----------
        X : PredictionStore, or array-like or DataFrame of n_cases rows
        y : array-like of shape (n_cases,), default=None
            Only with features.

        Returns
        -------
        Stacking
        """
        check_choice("method", self.method, ("linear", "logistic"))
        check_choice("columns", self.columns, ("own", "all"))
        check_jobs(self.n_jobs)
        if self.method == "logistic" and self.columns == "all":
            raise InputError("columns", "must be 'own' with {method=logistic}", self.columns)
        seed = seed_of(self.random_state)
        if isinstance(X, PredictionStore):
            self._fit_store(X, seed)
        else:
            self._fit_cases(X, y, seed)
        return self

    def _fit_store(self, store, seed):
        check_store(store)
        if self.estimators is not None:
            rule = "must be None with a store, which has the predictions of its models"
            raise InputError("estimators", rule)
        if self.holdout is not None:
            rule = "must be None with a store, whose models are already fitted to other cases"
            raise InputError("holdout", rule, self.holdout)
        cases = store.part(HILLCLIMB, labels=True)
        self.classes_, self.estimators_, self.store_ = store.classes, [], store
        self._combine(store.predictions(), cases.y, cases.weights, seed)

    def _fit_cases(self, X, y, seed):
        models = _models_of(self.estimators)
        self.classes_ = checked_classes(y)
        codes = coded("y", y, self.classes_)
        if len(codes) != len(X):
            raise InputError("y", "must be one value per row of {X}, {n}", len(codes), n=len(X))
        if self.holdout is None:
            check_whole("cv", self.cv, least=2)
            splits = stratified_folds("y", codes, self.cv, seed, "add cases")
        else:
            check_number("holdout", self.holdout, above=0, below=1)
            splits = [_held_out(codes, self.holdout, seed)]
        parallel = Parallel(self.n_jobs)
        calls = [(model, train, test) for train, test in splits for model in models]
        found = parallel(delayed(_predicted)(m, X, y, a, b, self.classes_) for m, a, b in calls)
        first_of_split = range(0, len(calls), len(models))
        rows = [np.stack([p for _, p in found[at : at + len(models)]]) for at in first_of_split]
        tests = np.concatenate([test for _, test in splits])
        entries = checked_predictions("X", np.concatenate(rows, axis=1), len(self.classes_), None)
        self.estimators_ = [model for model, _ in found]
        if self.holdout is None:
            self.estimators_ = parallel(delayed(_fitted)(model, X, y) for model in models)
        self._combine(entries, codes[tests], None, seed)

    def _combine(self, entries, y, weights, seed):
        """Fit the second model to predictions (models, cases[, classes])."""
        if self.method == "linear":
            self.coef_ = _linear(_by_class(entries), y, weights, self.columns)
            return
        remedies = ("add cases", 'take the {method} "linear"')
        folds = stratified_folds("y", y, _N_FOLDS, seed, remedies)
        model, grid = LogisticRegression(max_iter=1000), {"C": _INVERSE_RIDGES}
        search = GridSearchCV(model, grid, cv=folds, scoring="neg_log_loss")
        self._logistic = search.fit(_log_odds(entries), y, sample_weight=weights)

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : str, mapping, array-like or DataFrame
            A part of the store, or predictions by the name of the model, as in
            `EnsembleSelector.predict_proba`; or features, as in ``fit``.

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        check_is_fitted(self)
        if not self.estimators_:
            entries = predictions_of(self.store_, self.store_.names, X, argument="X")
        else:
            arrays = [probabilities_of(one, X, self.classes_) for one in self.estimators_]
            entries = checked_predictions("X", np.stack(arrays), len(self.classes_), None)
        if self.method == "logistic":
            return self._logistic.predict_proba(_log_odds(entries))
        return _shares(_by_class(entries), self.coef_)

    def predict(self, X):
        """The most probable class of each case; the first among ties."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def blending(estimators, X, y, method="linear", share=0.2, random_state=None, n_jobs=None):
    """Combine models by their predictions of one held-out share of the cases.

    Parameters
    ----------
    estimators : sequence of classifier or of (str, classifier)
    X : array-like or DataFrame of n_cases rows
    y : array-like of shape (n_cases,)
    method : {"linear", "logistic"}, default="linear"
        As in `Stacking`.
    share : float, default=0.2
        The share held out; the models are fitted to the others only.
    random_state : None, int or numpy.random.Generator, default=None
    n_jobs : int, default=None

    Returns
    -------
    Stacking
        Fitted.

    Raises
    ------
    TypeError, ValueError
        As in `Stacking`.
    """
    check_number("share", share, above=0, below=1)
    options = {"holdout": share, "random_state": random_state, "n_jobs": n_jobs}
    return Stacking(estimators, method, **options).fit(X, y)


def _held_out(codes, share, seed):
    """Positions of the cases that models are fitted to, and of those held out."""
    options = {"test_size": share, "random_state": seed % 2**32, "stratify": codes}
    try:
        return train_test_split(np.arange(len(codes)), **options)
    except ValueError:
        counts = np.bincount(codes)
        rule = "must leave cases of each class on both sides"
        found = "of {n} cases the rarest class has {least}"
        detail = {"found": found, "n": len(codes), "least": counts.min()}
        raise InputError("holdout", rule, share, remedies="add cases", **detail) from None


def _models_of(estimators):
    """Classifiers, from a list of them or of pairs with their names."""
    models = [one[1] if isinstance(one, tuple) else one for one in estimators or ()]
    if len(models) < 2:
        rule, remedies = "must be two classifiers or more", "or fit to a PredictionStore"
        raise InputError("estimators", rule, len(models), remedies=remedies)
    for model in models:
        if not hasattr(model, "fit") or not hasattr(model, "predict_proba"):
            rule = "must have `fit` and `predict_proba`"
            raise InputTypeError("estimators", rule, model)
    return models


def _fitted(model, X, y):
    return clone(model).fit(X, y)


def _predicted(model, X, y, train, test, classes):
    """The model fitted to some cases, and its predictions of others."""
    model = _fitted(model, _safe_indexing(X, train), _safe_indexing(y, train))
    return model, probabilities_of(model, _safe_indexing(X, test), classes)


def _by_class(entries):
    """Predictions (models, cases, classes)."""
    entries = entries.astype(float)
    return np.stack([1 - entries, entries], axis=2) if entries.ndim == 2 else entries


def _log_odds(entries):
    """Features (cases, models), or (cases, models x classes) for more than two classes."""
    return logit(np.moveaxis(entries.astype(float), 1, 0).reshape(entries.shape[1], -1))


def _linear(entries, y, weights, columns):
    """Non-negative coefficients by class."""
    n_models, n_cases, n_classes = entries.shape
    roots = np.ones(n_cases) if weights is None else np.sqrt(weights)
    everything = np.moveaxis(entries, 1, 0).reshape(n_cases, -1)
    found = []
    for k in range(n_classes):
        design = entries[:, :, k].T if columns == "own" else everything
        coefficients, _ = nnls(design * roots[:, None], (y == k) * roots)
        found.append(coefficients)
    shape = (n_classes, n_models) if columns == "own" else (n_classes, n_models, n_classes)
    return np.array(found).reshape(shape)


def _shares(entries, coefficients):
    """Outputs divided by their sum; equal where all are 0."""
    if coefficients.ndim == 2:
        outputs = np.einsum("mnk,km->nk", entries, coefficients)
    else:
        outputs = np.einsum("mnj,kmj->nk", entries, coefficients)
    sums = outputs.sum(axis=1, keepdims=True)
    equal = np.full_like(outputs, 1 / outputs.shape[1])
    return np.divide(outputs, sums, out=equal, where=sums > 0)
