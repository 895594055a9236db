"""Which cases each round learns from and which it predicts."""

import warnings

import numpy as np
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

from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.folds import splits_of_splitter
from bnmtl.seeding import generator
from bnmtl.wording import type_of

SCHEMES = ("bootstrap", "kfold", "holdout", "jackknife")
_DIFFERENT = 0.3  # share of the rows that a training set lacks


def splits_of(scheme, X, codes, strata, groups, options, seed):
    """Training rows, with repetitions, and test rows of each round.

    Parameters
    ----------
    scheme : str or scikit-learn splitter
    X : table of cases
    codes : numpy.ndarray of int, shape (n_cases,)
        Positions of the classes, for a splitter.
    strata : numpy.ndarray of int, shape (n_cases,), or None
        What is drawn in the same proportions.
    groups : numpy.ndarray of int, shape (n_cases,), or None
        Cases that stay together.
    options : mapping
        "rounds", "folds" and "test_size".
    seed : int

    Returns
    -------
    list of (numpy.ndarray of int, numpy.ndarray of int)
    """
    n = len(X)
    if not isinstance(scheme, str):
        if isinstance(scheme, type) or not hasattr(scheme, "split"):
            rule = f"must be one of {', '.join(SCHEMES)} or a splitter of scikit-learn"
            raise InputTypeError("scheme", rule, type_of(scheme))
        return splits_of_splitter("scheme", scheme, X, codes, groups)
    if scheme == "bootstrap":
        return [
            _bootstrap(n, strata, groups, generator(seed, "bootstrap", number))
            for number in range(options["rounds"])
        ]
    if scheme == "jackknife":
        if groups is not None and groups.max() == 0:
            raise InputError("groups", "must hold two groups or more to leave one out", 1)
        splitter = LeaveOneOut() if groups is None else LeaveOneGroupOut()
        return list(splitter.split(np.zeros(n), groups=groups))
    if scheme == "holdout":
        return _holdouts(n, strata, groups, options, _state(seed, "holdout"))
    return [
        split
        for number in range(options["rounds"])
        for split in _folds(n, strata, groups, options["folds"], _state(seed, "folds", number))
    ]


def _state(seed, *names):
    return int(generator(seed, *names).integers(2**32 - 1))


def _bootstrap(n, strata, groups, rng):
    """Rows of a bootstrap, and the rows it lacks; groups are drawn whole."""
    if groups is None:
        strata = np.zeros(n, dtype=int) if strata is None else strata
        parts = [np.flatnonzero(strata == one) for one in np.unique(strata)]
        train = np.concatenate([rows[rng.integers(len(rows), size=len(rows))] for rows in parts])
    else:
        n_groups = groups.max() + 1
        drawn = rng.integers(n_groups, size=n_groups)
        train = np.concatenate([np.flatnonzero(groups == one) for one in drawn])
    return np.sort(train), np.setdiff1d(np.arange(n), train)


def _holdouts(n, strata, groups, options, state):
    """Rows to learn from and rows held out."""
    rounds, size = options["rounds"], options["test_size"]
    if groups is not None:
        splitter, strata = GroupShuffleSplit(rounds, test_size=size, random_state=state), None
    elif strata is not None:
        splitter = StratifiedShuffleSplit(rounds, test_size=size, random_state=state)
    else:
        splitter = ShuffleSplit(rounds, test_size=size, random_state=state)
    try:
        return list(splitter.split(np.zeros(n), strata, groups))
    except ValueError:
        rule, found = "must leave cases of each class on both sides", "one side would have fewer"
        remedies = "another share"
        # Tasks may lack a class, whose number nothing has.
        if strata is not None and (np.bincount(strata) == 1).any():
            found, remedies = "one class has a single case", "leave rare classes out"
        raise InputError("test_size", rule, size, found, remedies=remedies) from None


def _folds(n, strata, groups, folds, state):
    """Rows of the folds of one cross-validation."""
    options = {"n_splits": folds, "shuffle": True, "random_state": state}
    if groups is not None:
        splitter = GroupKFold(**options) if strata is None else StratifiedGroupKFold(**options)
    else:
        splitter = KFold(**options) if strata is None else StratifiedKFold(**options)
    try:
        with warnings.catch_warnings():
            # Rare classes are in as many folds as they have cases.
            warnings.simplefilter("ignore", UserWarning)
            return list(splitter.split(np.zeros(n), strata, groups))
    except ValueError:
        most, of = _most(n, strata, groups)
        rule = f"must be at most {{most}}, the number of {of}"
        raise InputError("folds", rule, folds, most=most) from None


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
