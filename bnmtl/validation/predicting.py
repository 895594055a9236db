"""A classifier fitted to many sets of training cases, and its predictions."""

import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target

from bnmtl.errors import (
    InputError,
    InputTypeError,
    check_choice,
    check_jobs,
    check_number,
    check_whole,
    warn,
)
from bnmtl.metrics.classifiers import probabilities_of
from bnmtl.progress import Reporter
from bnmtl.seeding import generator, seed_of, with_seed
from bnmtl.validation.rounds import Rounds, labels_per_row, value_per_row
from bnmtl.validation.splits import SCHEMES, splits_of, strata_of
from bnmtl.wording import type_of

_SEEDS = 2**31 - 1


def predict_rounds(
    estimator,
    X,
    y,
    scheme="bootstrap",
    rounds=50,
    folds=10,
    test_size=0.1,
    X_test=None,
    y_test=None,
    task=None,
    task_test=None,
    groups=None,
    stratify=True,
    random_state=None,
    n_jobs=None,
    progress=False,
):
    """Fit a classifier to many sets of training cases and predict the others.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``. All of its ``random_state`` parameters are set, differently for each
        fit. `bnmtl.classification.MultitaskBayesNetClassifier` finds the tasks in a column of `X`.
    X : pandas.DataFrame or array-like, shape (n_cases, n_columns)
    y : array-like of labels, shape (n_cases,)
    scheme : {"bootstrap", "kfold", "holdout", "jackknife"} or splitter, default="bootstrap"
        The sets of training cases.

        - "bootstrap": as many cases as there are, drawn with repetition; the others are predicted.
          Repeated cases make dependencies look stronger than they are, so that learned networks
          are worse than from as many different ones.
        - "kfold": cross-validations, ``rounds`` of them; each fold is a round.
        - "holdout": a random share of ``test_size`` is predicted.
        - "jackknife": each case (or group) is predicted by a fit to all others.
        - a splitter of scikit-learn: each of its splits is a round, by its own ``random_state``.
    rounds : int, default=50
        Number of bootstraps, of cross-validations or of shares held out.
    folds : int, default=10
    test_size : float or int, default=0.1
        Share or number of cases held out.
    X_test : like `X`, default=None
        Other cases, which are predicted by each round instead.
    y_test : array-like of labels, default=None
        Labels of ``X_test``, which needs them.
    task : array-like of shape (n_cases,), default=None
        The task of each case, for stratified sets and for results by task. Classifiers that use
        tasks find them in a column of `X`.
    task_test : array-like, default=None
        The tasks of ``X_test``.
    groups : array-like of shape (n_cases,), default=None
        Cases of the same group stay together, in training or test.
    stratify : bool, default=True
        Whether sets keep the proportions of the classes, or of the classes within each task.
        Bootstraps and shares of groups ignore it.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    n_jobs : int, default=None
        Number of processes, as in joblib; None is 1. It does not affect the result.
    progress : False, True or callable, default=False
        True shows a bar; a callable receives each `bnmtl.progress.ProgressEvent`.

    Returns
    -------
    Rounds

    Warns
    -----
    UserWarning
        If training sets lack a class, and what the estimator warns of when it is fitted to all
        cases.

    Raises
    ------
    TypeError, ValueError
        For other lengths and parameters out of range; as the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> rounds = predict_rounds(DecisionTreeClassifier(), X, y, rounds=5, random_state=0)
    >>> rounds.predictions.shape, bool(0.3 < rounds.is_predicted.mean() < 0.45)
    ((5, 150, 3), True)
    """
    data = _Data.read(X, y, task, groups)
    if X_test is None:
        for name, given in (("y_test", y_test), ("task_test", task_test)):
            if given is not None:
                raise InputError(name, "must come with {X_test}", remedies="give both")
    test = data if X_test is None else _test_data(data, X_test, y_test, task_test, scheme)
    _check(estimator, data, scheme, rounds, folds, test_size, stratify, n_jobs)
    strata = data.strata() if stratify else None
    options = {"rounds": rounds, "folds": folds, "test_size": test_size}
    seed = seed_of(random_state)
    codes = np.searchsorted(data.classes, data.y)
    splits = splits_of(scheme, data.X, codes, strata, data.groups, options, seed)
    n_lacking = sum(len(np.unique(codes[train])) < len(data.classes) for train, _ in splits)
    warn_of_lacking_classes(n_lacking, len(splits))
    rows = np.arange(len(data.y))
    calls = [(rows, np.arange(len(test.y)))]
    calls += [(train, held if test is data else calls[0][1]) for train, held in splits]
    jobs = (
        delayed(_predicted)(estimator, data, test, train, predicted, seed, number)
        for number, (train, predicted) in enumerate(calls)
    )
    shape = len(splits), len(test.y)
    predictions = np.full((*shape, len(data.classes)), np.nan)
    in_bag, n_train = np.zeros(shape, dtype=np.int32), np.zeros(len(splits), dtype=int)
    with Reporter(progress) as report:
        report("rounds", done=0, total=len(calls))
        made = Parallel(n_jobs, return_as="generator")(jobs)
        for number, (p, messages) in enumerate(made):
            train, predicted = calls[number]
            if number == 0:
                full = p
                for message in messages:
                    warnings.warn(message, stacklevel=2)
            else:
                predictions[number - 1, predicted] = p
                n_train[number - 1] = len(np.unique(train))
                if test is data:
                    in_bag[number - 1] = np.bincount(train, minlength=len(data.y))
            report("rounds", done=number + 1, total=len(calls))
    group = test.groups if test is data else None
    return Rounds(predictions, test.y, data.classes, in_bag, full, test.task, n_train, group)


def warn_of_lacking_classes(n, n_sets):
    """Warn if some training sets lack a class.

    Parameters
    ----------
    n : int
        Number of them.
    n_sets : int
    """
    if n:
        rule = "must leave cases of each class to learn from"
        found = "{n} of {total} training sets lack a class, which they predict with probability 0"
        warn("y", rule, found=found, remedies="more cases of each class", n=n, total=n_sets)


class _Data:
    """Checked cases: features, labels, their classes, tasks and groups."""

    def __init__(self, X, y, classes, task=None, groups=None):
        self.X, self.y, self.classes, self.task, self.groups = X, y, classes, task, groups

    @classmethod
    def read(cls, X, y, task, groups):
        given, X = X, X if isinstance(X, pd.DataFrame) else np.asarray(X)
        if X.ndim != 2 or not len(X):
            raise InputError("X", "must be a table with a row for each case", type_of(given))
        y = labels_per_row("y", y, len(X))
        if type_of_target(y).startswith("continuous"):
            rule, remedies = "must hold labels of classes", "divide the numbers into classes"
            raise InputError("y", rule, float(y[y != np.rint(y)][0]), remedies=remedies)
        classes = np.unique(y)
        if len(classes) < 2:
            raise InputError("y", "must hold two classes or more", len(classes))
        task = None if task is None else value_per_row("task", task, len(X)).astype(str)
        if groups is not None:
            groups = np.unique(value_per_row("groups", groups, len(X)), return_inverse=True)[1]
        return cls(X, y, classes, task, groups)

    def strata(self):
        """Numbers of the classes, within each task."""
        return strata_of(self.y, self.task)


def _test_data(data, X_test, y_test, task_test, scheme):
    """Checked other cases."""
    if scheme == "kfold":
        rule = "must be another one to predict {X_test} in each round"
        raise InputError("scheme", rule, scheme, remedies="bootstrap")
    if y_test is None:
        raise InputError("y_test", "must be the labels of {X_test}", None)
    if (task_test is None) != (data.task is None):
        raise InputError("task_test", "must be given if and only if {task} is", task_test)
    X = X_test if isinstance(X_test, pd.DataFrame) else np.asarray(X_test)
    if X.ndim != 2 or not len(X):
        raise InputError("X_test", "must be a table with a row for each case", X.shape)
    y = labels_per_row("y_test", y_test, len(X), "X_test")
    unknown = ~np.isin(y, data.classes)
    if unknown.any():
        raise InputError("y_test", "must hold labels of {y} only", y[unknown][0])
    if task_test is not None:
        task_test = value_per_row("task_test", task_test, len(X), "X_test").astype(str)
    return _Data(X, y, data.classes, task_test)


def _check(estimator, data, scheme, rounds, folds, test_size, stratify, n_jobs):
    """Raise unless the estimator predicts probabilities and the numbers are in range."""
    if not isinstance(stratify, bool | np.bool_):
        raise InputTypeError("stratify", "must be True or False", type_of(stratify))
    has_tags = hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)
    if not (has_tags and is_classifier(estimator) and hasattr(estimator, "predict_proba")):
        rule = "must be a classifier with `predict_proba`"
        raise InputTypeError("estimator", rule, type_of(estimator))
    if isinstance(scheme, str):
        check_choice("scheme", scheme, SCHEMES)
    check_whole("rounds", rounds, least=1)
    check_whole("folds", folds, least=2)
    if isinstance(test_size, float):
        check_number("test_size", test_size, above=0, below=1)
    else:
        check_whole("test_size", test_size, least=1)
    check_jobs(n_jobs)


def _predicted(estimator, data, test, train, predicted, seed, number):
    """Probabilities of some cases by the classifier fitted to others, and its distinct warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        p = _probabilities(estimator, data, test, train, predicted, seed, number)
    return p, list({str(one.message): one.message for one in caught}.values())


def _probabilities(estimator, data, test, train, predicted, seed, number):
    """Probabilities of some cases by the classifier fitted to others."""
    model = with_seed(estimator, int(generator(seed, "model", number).integers(_SEEDS)))
    if not len(predicted):
        return np.zeros((0, len(data.classes)))  # a bootstrap that has drawn every group
    X, rows = _safe_indexing(data.X, train), _safe_indexing(test.X, predicted)
    return probabilities_of(model.fit(X, data.y[train]), rows, data.classes)
