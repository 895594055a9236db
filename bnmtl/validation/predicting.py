"""Fits of a classifier to many sets of training cases, and their predictions."""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.base import is_classifier
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target

from bnmtl.errors import (
    MOST_MEMBERS,
    InputError,
    InputTypeError,
    check_choice,
    check_flag,
    check_jobs,
    check_number,
    check_whole,
    warn,
)
from bnmtl.metrics.cases import probabilities_of
from bnmtl.metrics.folds import splits_of_splitter
from bnmtl.processes import in_processes
from bnmtl.progress import Reporter
from bnmtl.seeding import generator, seed_of, with_seed
from bnmtl.tasks.tables import any_rows, asked, plain_table
from bnmtl.validation.rounds import Rounds, labels_per_row, value_per_row
from bnmtl.wording import type_of

SCHEMES = ("bootstrap", "kfold", "holdout", "jackknife")
_DIFFERENT = 0.3  # share of the rows that a training set lacks


def _splits(scheme, X, codes, strata, groups, options, seed):
    """Training rows, with repetitions, and test rows of each round."""
    n = len(X)
    if not isinstance(scheme, str):
        if isinstance(scheme, type) or not hasattr(scheme, "split"):
            message = (
                f"must be one of {', '.join(SCHEMES)} or a splitter of "
                f"scikit-learn, got {type_of(scheme)}"
            )
            raise InputTypeError(message, argument="scheme")
        return splits_of_splitter("scheme", scheme, X, codes, groups)
    if scheme == "bootstrap":
        return [
            _bootstrap(n, strata, groups, generator(seed, "bootstrap", number))
            for number in range(options["rounds"])
        ]
    if scheme == "jackknife":
        if groups is not None and groups.max() == 0:
            raise InputError(
                "must hold two groups or more to leave one out, got 1", argument="groups"
            )
        splitter = LeaveOneOut() if groups is None else LeaveOneGroupOut()
        return list(splitter.split(np.zeros(n), groups=groups))
    if scheme == "holdout":
        return _holdouts(n, strata, groups, options, seed)
    return [
        split
        for number in range(options["rounds"])
        for split in _folds(n, strata, groups, options["folds"], seed, number)
    ]


def _bootstrap(n, strata, groups, rng):
    """Rows of a bootstrap, and the rows it lacks; groups are drawn whole."""
    if groups is None:
        strata = np.zeros(n, dtype=int) if strata is None else strata
        parts = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
        train = np.concatenate([rows[rng.integers(len(rows), size=len(rows))] for rows in parts])
    else:
        n_groups = groups.max() + 1
        drawn = rng.integers(n_groups, size=n_groups)
        train = np.concatenate([np.flatnonzero(groups == group) for group in drawn])
    return np.sort(train), np.setdiff1d(np.arange(n), train)


def _holdouts(n, strata, groups, options, seed):
    """Rows to learn from and rows held out."""
    size, kind = options["test_size"], ShuffleSplit
    if groups is not None:
        kind, strata = GroupShuffleSplit, None
    elif strata is not None:
        kind = StratifiedShuffleSplit
    state = int(generator(seed, "holdout").integers(2**32 - 1))
    splitter = kind(options["rounds"], test_size=size, random_state=state)
    try:
        return list(splitter.split(np.zeros(n), strata, groups))
    except ValueError:
        found, remedy = "one side would have fewer", "another share"
        # Tasks may lack a class, whose number nothing has.
        if strata is not None and (np.bincount(strata) == 1).any():
            found, remedy = "one class has a single case", "leave rare classes out"
        message = f"must leave cases of each class on both sides, got {size!r}; {found}"
        raise InputError(message, argument="test_size", remedy=remedy) from None


def _folds(n, strata, groups, folds, seed, number):
    """Rows of the folds of one cross-validation."""
    if groups is None:
        kind = KFold if strata is None else StratifiedKFold
    else:
        kind = GroupKFold if strata is None else StratifiedGroupKFold
    state = int(generator(seed, "folds", number).integers(2**32 - 1))
    splitter = kind(folds, shuffle=True, random_state=state)
    try:
        with warnings.catch_warnings():
            # Rare classes are in as many folds as they have cases.
            warnings.simplefilter("ignore", UserWarning)
            return list(splitter.split(np.zeros(n), strata, groups))
    except ValueError:
        most, of = _most(n, strata, groups)
        raise InputError(
            f"must be at most {most}, the number of {of}, got {folds!r}", argument="folds"
        ) from None


def _most(n, strata, groups):
    """Most folds that there can be, and of what there are so many."""
    most, of = n, "cases"
    if groups is not None:
        most, of = int(groups.max()) + 1, "groups"
    if strata is not None and (largest := int(np.bincount(strata).max())) < most:
        most, of = largest, "cases of the largest class"
    return most, of


def strata_of(y, task=None):
    """Numbers of the classes, within each task.

    Parameters
    ----------
    y : numpy.ndarray of shape (n_cases,)
    task : numpy.ndarray of shape (n_cases,), default=None

    Returns
    -------
    numpy.ndarray of int
    """
    classes, codes = np.unique(y, return_inverse=True)
    if task is None:
        return codes
    return np.unique(task, return_inverse=True)[1] * len(classes) + codes


def most_stratified_folds(y, task=None, groups=None):
    """The most folds with the proportions of the classes within each task.

    Parameters
    ----------
    y, task, groups : numpy.ndarray of shape (n_cases,), default=None
        As in `predict_rounds`.

    Returns
    -------
    int
    """
    numbers = None if groups is None else np.unique(groups, return_inverse=True)[1]
    return _most(len(y), strata_of(y, task), numbers)[0]


def sets_differ(scheme, test_size=None, folds=None):
    """Whether training sets of different rounds have few rows in common.

    Then the variance over rounds is about that of independent training sets.

    Parameters
    ----------
    scheme : str
    test_size : float, default=None
    folds : int, default=None

    Returns
    -------
    bool
    """
    held_out = 1 / folds if folds else test_size or 0
    return scheme == "bootstrap" or held_out >= _DIFFERENT


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
    data = test = _checked_cases(X, y, task, groups)
    for name, given in (("y_test", y_test), ("task_test", task_test)):
        if X_test is None and given is not None:
            parts = {"argument": name, "options": ("X_test",), "remedy": "give both"}
            raise InputError("must come with `X_test`", **parts)
    if X_test is not None:
        test = _checked_test_cases(data, X_test, y_test, task_test, scheme)
    _check(estimator, scheme, rounds, folds, test_size, stratify, n_jobs)
    strata = strata_of(data.y, data.task) if stratify else None
    options = {"rounds": rounds, "folds": folds, "test_size": test_size}
    seed = seed_of(random_state)
    codes = np.searchsorted(data.classes, data.y)
    splits = _splits(scheme, data.X, codes, strata, data.groups, options, seed)
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
        made = in_processes(n_jobs, len(calls), report, return_as="generator")(jobs)
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
        message = (
            f"must leave cases of each class to learn from; {n} of {n_sets} training sets lack a "
            "class, which they predict with probability 0"
        )
        warn(message, argument="y", remedy="more cases of each class")


class _Cases(NamedTuple):
    """Checked cases: features, labels, their classes, tasks and numbers of groups."""

    X: object
    y: np.ndarray
    classes: np.ndarray
    task: np.ndarray | None
    groups: np.ndarray | None = None


def _checked_cases(X, y, task, groups):
    X = _table("X", X)
    y = labels_per_row("y", y, len(X))
    if type_of_target(y).startswith("continuous"):
        message = f"must hold labels of classes, got {float(y[y != np.rint(y)][0])!r}"
        raise InputError(message, argument="y", remedy="divide the numbers into classes")
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(f"must hold two classes or more, got {len(classes)!r}", argument="y")
    task = None if task is None else value_per_row("task", task, len(X)).astype(str)
    if groups is not None:
        groups = np.unique(value_per_row("groups", groups, len(X)), return_inverse=True)[1]
    return _Cases(X, y, classes, task, groups)


def _table(argument, given):
    """A table of cases as a frame or an array, or an error."""
    X = any_rows(given, argument)
    X = X if isinstance(X, pd.DataFrame) else plain_table(X, argument)
    if not isinstance(X, pd.DataFrame | np.ndarray) or X.ndim != 2 or not len(X):
        message = f"must be a table with a row for each case, got {type_of(given)}"
        raise InputError(f"{message} of the shape {X.shape}", argument=argument)
    return X


def _checked_test_cases(data, X_test, y_test, task_test, scheme):
    if scheme == "kfold":
        message = f"must be another one to predict `X_test` in each round, got {scheme!r}"
        raise InputError(message, argument="scheme", options=("X_test",), remedy="bootstrap")
    if y_test is None:
        raise InputError(
            "must be the labels of `X_test`, got None", argument="y_test", options=("X_test",)
        )
    if (task_test is None) != (data.task is None):
        message = f"must be given if and only if `task` is, got {task_test!r}"
        raise InputError(message, argument="task_test", options=("task",))
    X = _table("X_test", X_test)
    y = labels_per_row("y_test", y_test, len(X), "X_test")
    unknown = ~np.isin(y, data.classes)
    if unknown.any():
        message = f"must hold labels of `y` only, got {y[unknown][0]!r}"
        raise InputError(message, argument="y_test", options=("y",))
    if task_test is not None:
        task_test = value_per_row("task_test", task_test, len(X), "X_test").astype(str)
    return _Cases(X, y, data.classes, task_test)


def _check(estimator, scheme, rounds, folds, test_size, stratify, n_jobs):
    """Raise unless the estimator predicts probabilities and the numbers are in range."""
    check_flag("stratify", stratify)
    has_tags = hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)
    if not (has_tags and is_classifier(estimator) and hasattr(estimator, "predict_proba")):
        message = f"must be a classifier with `predict_proba`, got {type_of(estimator)}"
        raise InputTypeError(message, argument="estimator")
    if isinstance(scheme, str):
        check_choice("scheme", scheme, SCHEMES)
    check_whole("rounds", rounds, least=1, most=MOST_MEMBERS)
    check_whole("folds", folds, least=2)
    if isinstance(test_size, float):
        check_number("test_size", test_size, above=0, below=1)
    else:
        check_whole("test_size", test_size, least=1)
    check_jobs(n_jobs)


def _predicted(estimator, data, test, train, predicted, seed, number):
    """Probabilities of some cases by the classifier fitted to others, and its distinct warnings."""
    if not len(predicted):  # a bootstrap that has drawn every group
        return np.zeros((0, len(data.classes))), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = with_seed(estimator, int(generator(seed, "model", number).integers(_SEEDS)))
        X, rows = _safe_indexing(data.X, train), _safe_indexing(test.X, predicted)
        with asked(model):
            p = probabilities_of(model.fit(X, data.y[train]), rows, data.classes)
    return p, list({str(warning.message): warning.message for warning in caught}.values())
