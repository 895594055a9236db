"""Stacking and blending: a model of the predictions of others, which are its parameters."""

from numbers import Real

import numpy as np
from joblib import delayed
from scipy.optimize import nnls
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from bnmtl.calibration.classifier import checked_folds, checked_labels
from bnmtl.calibration.platt import classes_of
from bnmtl.ensembles.entries import (
    checked_column,
    checked_predictions,
    predictions_of,
    summing_to_1,
)
from bnmtl.ensembles.judges import stratified_folds
from bnmtl.ensembles.selection import check_store
from bnmtl.ensembles.store import HILLCLIMB, PredictionStore
from bnmtl.errors import (
    InputError,
    InputTypeError,
    check_choice,
    check_jobs,
    check_number,
    check_whole,
)
from bnmtl.metrics.cases import checked_weights, probabilities_of
from bnmtl.metrics.folds import listed_folds
from bnmtl.processes import in_processes
from bnmtl.seeding import generator, seed_of, seeded
from bnmtl.tasks.labels import LabelScore
from bnmtl.tasks.tables import any_rows, as_fitted, asked
from bnmtl.threads import fitted_alone
from bnmtl.wording import count, type_of

_N_FOLDS = 5
_INVERSE_RIDGES = np.logspace(-4, 4, 10)
_TRIES = 100  # to hold out groups with cases of every class


class Stacking(LabelScore, ClassifierMixin, BaseEstimator):
    """Combine models by a model of their predictions.

    Parameters
    ----------
    estimators : list of (str, classifier) or of classifier, default=None
        The models, if `fit` receives features; not used with a store. Their parameters are
        parameters of the ensemble, with the name before: ``set_params(tree__max_depth=3)``. A model
        without a name gets that of its class in small letters, and a number if there are more. As
        in scikit-learn, ``set_params(tree="drop")`` leaves a model out.
    method : {"linear", "logistic"}, default="linear"
        "linear" is one non-negative least-squares regression per class on the probabilities of the
        models; its outputs are divided by their sum, and equal if all are 0. "logistic" is a
        logistic regression on their log odds, with a ridge penalty chosen by the same folds, or
        five folds of the cases that are held out or in the store.
    columns : {"own", "all"}, default="own"
        Whether the regression of a class uses the probabilities of that class or of all classes.
        Only with "linear".
    cv : int, splitter, iterable of (train, test) or None, default=5
        Folds in which the models predict cases that they were not fitted to, each case once.
        Afterwards they are fitted to all cases. A number means stratified folds, fewer if a class
        has fewer cases or groups; None is 5. Not used with a store.
    holdout : float, default=None
        In place of folds, the share of the cases that is held out once; the models are not fitted
        again (blending).
    random_state : None, int or numpy.random.Generator, default=None
        For the folds, and for models whose own ``random_state`` is None.
    n_jobs : int, default=None
        Number of processes that fit models, as in joblib.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    coef_ : numpy.ndarray of shape (n_classes, n_models) or (n_classes, n_models, n_classes)
        With "linear": weights of the models for each class, by class with ``columns="all"``.
    estimators_ : list of classifier
        The fitted models; empty with a store.
    n_features_in_, feature_names_in_
        The number of columns and, of a frame, their names; not with a store.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for arguments out of range, fewer than two models, labels with one class, and
        weights that a model does not take.
    NotFittedError
        In predictions before ``fit``.

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

    def get_params(self, deep=True):
        """Parameters, with ``deep`` also the models by name and their parameters."""
        found = super().get_params(deep=False)
        for name, model in _named(self.estimators) if deep else ():
            inner = model.get_params() if hasattr(model, "get_params") else {}
            found |= {name: model} | {f"{name}__{key}": value for key, value in inner.items()}
        return found

    def set_params(self, **params):
        """Set parameters, models by name, and parameters of models."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        models = list(_named(self.estimators))
        if any(name in params for name, _ in models):
            new = [(name, params.pop(name, model)) for name, model in models]
            pairs = zip(self.estimators, new, strict=True)
            self.estimators = [pair if isinstance(old, tuple) else pair[1] for old, pair in pairs]
        return super().set_params(**params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        models = [model for _, model in _named(self.estimators) if not _is_left_out(model)]
        inner = [get_tags(model).input_tags for model in models]
        tags.input_tags.sparse = all(of_model.sparse for of_model in inner)
        tags.input_tags.allow_nan = all(of_model.allow_nan for of_model in inner)
        return tags

    @fitted_alone
    def fit(self, X, y=None, sample_weight=None, *, groups=None):
        """Fit the combination, and the models unless they are in a store.

        Parameters
        ----------
        X : PredictionStore, or array-like, sparse matrix or DataFrame of n_cases rows
        y : array-like of shape (n_cases,), default=None
            Only with features.
        sample_weight : array-like of numbers, shape (n_cases,), default=None
            How often each case counts, for the models and the combination; only with features.
            Cases with weight 0 are left out.
        groups : array-like of shape (n_cases,), default=None
            The group of each case, such as a patient, which folds do not divide; only with
            features. Splitters such as `GroupKFold` need it.

        Returns
        -------
        Stacking
        """
        check_choice("method", self.method, ("linear", "logistic"))
        check_choice("columns", self.columns, ("own", "all"))
        check_jobs(self.n_jobs)
        if self.method == "logistic" and self.columns == "all":
            message = f"must be 'own' with `method='logistic'`, got {self.columns!r}"
            raise InputError(message, argument="columns", options=("method",))
        seed = seed_of(self.random_state)
        if isinstance(X, PredictionStore):
            given = {"y": y, "sample_weight": sample_weight, "groups": groups}
            for name, value in given.items():
                if value is not None:
                    message = "must be None with a store, which has its own cases"
                    raise InputError(message, argument=name)
            self._fit_store(X, seed)
        else:
            self._fit_cases(X, y, sample_weight, groups, seed)
        return self

    def _fit_store(self, store, seed):
        check_store(store)
        if self.estimators is not None:
            message = "must be None with a store, which has the predictions of its models"
            raise InputError(message, argument="estimators")
        if self.holdout is not None:
            message = (
                "must be None with a store, whose models are already fitted to other cases, got "
                f"{self.holdout!r}"
            )
            raise InputError(message, argument="holdout")
        cases = store.part(HILLCLIMB, labels=True)
        self.classes_, self.estimators_, self.store_ = store.classes, [], store
        self._combine(store.predictions(), cases.y, cases.weights, cases.groups, None, seed)

    def _fit_cases(self, X, y, weights, groups, seed):
        models, cv = _models_of(self), self.cv
        X = self._rows(X, reset=True)
        y = checked_labels(X, y)
        if groups is not None:
            groups = checked_column("groups", "X", groups, len(y))
        if weights is not None:
            for name, model in models:
                if not has_fit_parameter(model, "sample_weight"):
                    message = f"must be None, because the fit of model `{name}` does not take it"
                    remedy = "leave the model out"
                    raise InputError(message, argument="sample_weight", remedy=remedy)
            weights = checked_weights(weights, len(y), name="sample_weight")
            kept = weights > 0
            if not kept.all():
                X, y, cv = _safe_indexing(X, np.flatnonzero(kept)), y[kept], _among(cv, kept)
                weights, groups = weights[kept], None if groups is None else groups[kept]
        self.classes_ = classes_of(y)
        codes = np.searchsorted(self.classes_, y)
        if self.holdout is None:
            splits = _folds(cv, X, y, codes, groups, seed)
        else:
            check_number("holdout", self.holdout, above=0, below=1)
            splits = [_held_out(codes, self.holdout, groups, seed)]
        models = [
            seeded(model, int(generator(seed, "model", name).integers(2**63)))
            for name, model in models
        ]
        calls = [(model, train, test) for train, test in splits for model in models]
        parallel = in_processes(self.n_jobs, len(calls))
        found = parallel(
            delayed(_predicted)(model, X, y, weights, train, test, self.classes_)
            for model, train, test in calls
        )
        first_of_split = range(0, len(calls), len(models))
        rows = [np.stack([p for _, p in found[at : at + len(models)]]) for at in first_of_split]
        tests = np.concatenate([test for _, test in splits])
        # Sorted, so that positions in the folds are those of the cases.
        entries = np.concatenate(rows, axis=1)[:, np.argsort(tests)]
        entries, tests = checked_predictions("X", entries, len(self.classes_), None), np.sort(tests)
        self.estimators_ = [model for model, _ in found]
        if self.holdout is None:
            self.estimators_ = parallel(delayed(_fitted)(model, X, y, weights) for model in models)
        weights = None if weights is None else weights[tests]
        groups = None if groups is None else groups[tests]
        folds = splits if self.holdout is None else None
        self._combine(entries, codes[tests], weights, groups, folds, seed)

    def _rows(self, X, reset):
        """Rows that can be indexed, with the columns of the fit."""
        (X,) = indexable(any_rows(X))
        X = as_fitted(self, X) if not reset else X
        if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "biuf":
            message = f"must have two dimensions, got {np.shape(X)!r}"
            raise InputError(message, argument="X", remedy="Reshape your data: `X.reshape(1, -1)`")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _combine(self, entries, y, weights, groups, folds, seed):
        """Fit the second model to predictions (models, cases[, classes])."""
        if self.method == "linear":
            self.coef_ = _linear(_by_class(entries), y, weights, self.columns)
            return
        if folds is None:
            remedy = 'add cases, or take the `method` "linear"'
            folds = stratified_folds("y", y, _N_FOLDS, seed, remedy, groups=groups)
        weights = np.ones(len(y)) if weights is None else weights
        self._logistic = _logistic(_log_odds(entries), y, weights, folds)

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : str, mapping, array-like, sparse matrix or DataFrame
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
            X = self._rows(X, reset=False)
            arrays = [_probabilities(model, X, self.classes_) for model in self.estimators_]
            entries = checked_predictions("X", np.stack(arrays), len(self.classes_), None)
        if self.method == "logistic":
            return self._logistic.predict_proba(_log_odds(entries))
        return _shares(_by_class(entries), self.coef_)

    def predict(self, X):
        """The most probable class of each case; the first among ties."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def blending(
    estimators,
    X,
    y,
    method="linear",
    share=0.2,
    random_state=None,
    n_jobs=None,
    sample_weight=None,
    groups=None,
):
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
    sample_weight : array-like of numbers, shape (n_cases,), default=None
        As in `Stacking.fit`.
    groups : array-like of shape (n_cases,), default=None
        The group of each case: the share is one of groups, which are held out as a whole.

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
    return Stacking(estimators, method, **options).fit(X, y, sample_weight, groups=groups)


def _named(estimators):
    """Pairs of names and models, from a list of them or of models alone."""
    models = estimators if isinstance(estimators, list | tuple) else ()
    kinds = [
        None if isinstance(model, tuple) and len(model) == 2 else type(model).__name__.lower()
        for model in models
    ]
    for at, (kind, model) in enumerate(zip(kinds, models, strict=True)):
        if kind is None:
            yield model
        else:
            number = f"-{kinds[:at].count(kind) + 1}" if kinds.count(kind) > 1 else ""
            yield kind + number, model


def _is_left_out(model):
    return isinstance(model, str) and model == "drop"


def _models_of(ensemble):
    """The checked pairs of names and classifiers, without those that are "drop"."""
    given = ensemble.estimators
    if not isinstance(given, list | tuple | None):
        remedy = "give `list(estimators.items())`" if isinstance(given, dict) else ""
        message = (
            f"must be a list of classifiers or of pairs (name, classifier), got {type_of(given)}"
        )
        raise InputTypeError(message, argument="estimators", remedy=remedy)
    models = [(name, model) for name, model in _named(given) if not _is_left_out(model)]
    if len(models) < 2:
        message = f"must be two classifiers or more, got {len(models)!r}"
        raise InputError(message, argument="estimators", remedy="or fit to a PredictionStore")
    names = [name for name, _ in models]
    for name, model in models:
        has_both = hasattr(model, "fit") and hasattr(model, "predict_proba")
        if isinstance(model, type) or not has_both:
            is_word = isinstance(model, str | None)
            remedy = 'set a model to "drop" to leave it out' if is_word else ""
            message = f"must have `fit` and `predict_proba`, got {model!r}"
            raise InputTypeError(message, argument="estimators", remedy=remedy)
        if not isinstance(name, str) or not name or "__" in name:
            message = f"must have names that are text without `__`, got {name!r}"
            raise InputError(message, argument="estimators")
        if name in ensemble.get_params(deep=False):
            message = f"must have other names than parameters, got {name!r}"
            raise InputError(message, argument="estimators", remedy="rename the model")
        if names.count(name) > 1:
            raise InputError(f"must have different names, got {name!r}", argument="estimators")
    return models


def _fitted(model, X, y, weights):
    with asked(model):
        return clone(model).fit(X, y, **({} if weights is None else {"sample_weight": weights}))


def _predicted(model, X, y, weights, train, test, classes):
    """The model fitted to some cases, and its predictions of others."""
    weights = None if weights is None else weights[train]
    model = _fitted(model, _safe_indexing(X, train), y[train], weights)
    return model, _probabilities(model, _safe_indexing(X, test), classes)


def _probabilities(model, X, classes):
    with asked(model, "predict"):
        return probabilities_of(model, X, classes)


def _folds(cv, X, y, codes, groups, seed):
    """Positions of the cases that models are fitted to, and of those that they predict."""
    cv = _N_FOLDS if cv is None else cv
    if isinstance(cv, Real):
        check_whole("cv", cv, least=2, remedy="5 is usual")
        return stratified_folds("y", codes, cv, seed, "add cases", groups=groups)
    splits = checked_folds(cv, X, y, groups)
    if any(len(np.unique(codes[train])) < 2 for train, _ in splits):
        message = "must train with two classes or more in every fold"
        raise InputError(message, argument="cv", remedy="use other folds")
    return splits


def _among(cv, kept):
    """Given folds as positions among the cases that are kept; numbers and splitters as they are."""
    if isinstance(cv, str) or hasattr(cv, "split") or not np.iterable(cv):
        return cv
    place = np.cumsum(kept) - 1
    pairs = listed_folds(cv, len(kept))
    return [(place[train[kept[train]]], place[test[kept[test]]]) for train, test in pairs]


def _held_out(codes, share, groups, seed):
    """Positions of the cases that models are fitted to, and of those held out."""
    options = {"test_size": share, "random_state": seed % 2**32}
    try:
        if groups is None:
            return train_test_split(np.arange(len(codes)), stratify=codes, **options)
        for sides in GroupShuffleSplit(_TRIES, **options).split(codes, codes, groups):
            if all(len(np.unique(codes[side])) == codes.max() + 1 for side in sides):
                return sides
    except ValueError:
        pass
    counts = np.bincount(codes)
    message = (
        f"must leave cases of each class on both sides, got {share!r}; of {len(codes)} cases the "
        f"rarest class has {counts.min()}"
    )
    if groups is not None:
        message += f", in {count(len(np.unique(groups)), 'group')} in all"
    raise InputError(message, argument="holdout", remedy="add cases")


def _logistic(features, y, weights, folds):
    """Logistic regression with the ridge penalty that has the smallest log loss on folds."""
    losses, classes = np.zeros(len(_INVERSE_RIDGES)), np.unique(y)
    for train, test in folds:
        model = LogisticRegression(max_iter=1000, warm_start=True)
        for at, inverse in enumerate(_INVERSE_RIDGES):
            model.set_params(C=inverse)
            model.fit(features[train], y[train], sample_weight=weights[train])
            p = probabilities_of(model, features[test], classes)
            happened = p[np.arange(len(test)), np.searchsorted(classes, y[test])]
            losses[at] -= weights[test] @ np.log(np.maximum(happened, np.finfo(float).eps))
    model = LogisticRegression(C=_INVERSE_RIDGES[losses.argmin()], max_iter=1000)
    return model.fit(features, y, sample_weight=weights)


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
    subscripts = "mnk,km->nk" if coefficients.ndim == 2 else "mnj,kmj->nk"
    return summing_to_1(np.einsum(subscripts, entries, coefficients))
