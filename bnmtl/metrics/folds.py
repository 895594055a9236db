"""Folds of cases by a number, a splitter of scikit-learn or a list, and groups of cases."""

import warnings
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.model_selection import PredefinedSplit, StratifiedGroupKFold, StratifiedKFold

from bnmtl.errors import InputError, InputTypeError, check_whole, warn
from bnmtl.wording import type_of

N_FOLDS = 5  # of scikit-learn if `cv` is None


def checked_groups(groups, n_cases):
    """Groups as an array with one name per case, or an error.

    Parameters
    ----------
    groups : array-like of shape (n_cases,) or (n_cases, 1)
    n_cases : int

    Returns
    -------
    numpy.ndarray of shape (n_cases,)
        Names of several types become text.
    """
    groups = np.asarray(groups)
    if groups.ndim == 2 and groups.shape[1] == 1:
        groups = groups[:, 0]
    if groups.shape != (n_cases,):
        given = len(groups) if groups.ndim == 1 else groups.shape
        raise InputError(f"must be one name per case, {n_cases}, got {given!r}", argument="groups")
    if pd.isna(groups).any():
        row = int(pd.isna(groups).argmax())
        message = f"must name the group of every case; that of row {row} is missing"
        raise InputError(message, argument="groups", remedy="fill it")
    # Splitters sort names.
    has_types = groups.dtype == object and len(set(map(type, groups.tolist()))) > 1
    return groups.astype(str) if has_types else groups


def splits_by(cv, X, y, groups=None, task=None):
    """Training and test rows of each fold; mistakes in `cv` are named in one sentence.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) or None
        A number means stratified folds, with groups those of `StratifiedGroupKFold`; None is 5. An
        iterable yields row numbers or masks.
    X : table of n_cases rows
    y : numpy.ndarray of shape (n_cases,)
        Labels.
    groups : numpy.ndarray of shape (n_cases,), default=None
        As `checked_groups` returns it.
    task : numpy.ndarray of shape (n_cases,), default=None
        The task of each case: each of a number of folds gets its share of every task.

    Returns
    -------
    list of (numpy.ndarray of int, numpy.ndarray of int)

    Raises
    ------
    InputTypeError, InputError
    """
    if cv is None or isinstance(cv, Real):
        return _stratified(N_FOLDS if cv is None else cv, y, groups, task)
    if isinstance(cv, type | str) or not (hasattr(cv, "split") or np.iterable(cv)):
        given = repr(cv) if isinstance(cv, str) else type_of(cv)
        message = (
            f"must be a number of folds, a splitter or an iterable of (train, test), got {given}"
        )
        raise InputTypeError(
            message,
            argument="cv",
            remedy=(
                f"write {cv.__name__}()" if hasattr(cv, "split") and isinstance(cv, type) else ""
            ),
        )
    if hasattr(cv, "split"):
        return splits_of_splitter("cv", cv, X, y, groups)
    if groups is not None:
        message = "must be left out if `cv` lists the folds"
        raise InputError(
            message, argument="groups", options=("cv",), remedy="use a splitter such as GroupKFold"
        )
    return listed_folds(cv, len(y))


def _stratified(n_folds, y, groups, task):
    """Stratified folds without shuffling.

    Tables of several tasks often have the rows of a task next to each other: folds by class alone
    would hold out whole tasks.
    """
    check_whole("cv", n_folds, least=2, remedy="5 is usual")
    most, of = int(np.unique(y, return_counts=True)[1].max()), "cases of the largest class"
    if groups is not None and (n_groups := len(np.unique(groups))) <= most:
        most, of = n_groups, "groups"
    if n_folds > most:
        message = f"must be at most {most}, the number of {of}, got {n_folds!r}"
        raise InputError(
            message,
            argument="cv",
            remedy=f"take fewer folds, or add {'groups' if of == 'groups' else 'cases'}",
        )
    strata = y
    if task is not None:
        codes = np.unique(task, return_inverse=True)[1]
        if groups is None:
            folds = np.empty(len(y), dtype=int)
            folds[by_class_and_task(y, codes)] = np.arange(len(y)) % n_folds
            return list(PredefinedSplit(folds).split())
        of_both = np.unique(y, return_inverse=True)[1] * (codes.max() + 1) + codes
        strata = of_both if np.bincount(of_both).max() >= n_folds else y
    with warnings.catch_warnings():
        # Rare classes are in as many folds as they have cases.
        warnings.simplefilter("ignore", UserWarning)
        if groups is None:
            return list(StratifiedKFold(n_folds).split(y, y))
        return list(StratifiedGroupKFold(n_folds).split(y, strata, groups))


def by_class_and_task(y, task, seed=None):
    """All rows, sorted by class and within it by task, otherwise as they are or in random order.

    Whoever takes every so many of them has the shares of all classes, and of all tasks in each
    class, as far as whole rows can have them, however few rows a task has.

    Parameters
    ----------
    y, task : numpy.ndarray of shape (n_cases,)
    seed : int, default=None
        None keeps the order of rows of a class and task.

    Returns
    -------
    numpy.ndarray of shape (n_cases,)
    """
    last = np.arange(len(y)) if seed is None else np.random.default_rng(seed).random(len(y))
    return np.lexsort((last, task, y))


def splits_of_splitter(argument, splitter, X, y, groups=None, table=None):
    """Training and test rows by a splitter; its complaints become one sentence.

    Parameters
    ----------
    argument : str
        The splitter's.
    splitter : object with split
    X : table of n_cases rows
    y : numpy.ndarray of shape (n_cases,)
    groups : numpy.ndarray of shape (n_cases,), default=None
    table : str, default=None
        What is divided, if there are several tables.

    Returns
    -------
    list of (numpy.ndarray of int, numpy.ndarray of int)

    Warns
    -----
    UserWarning
        If the splitter ignores groups.

    Raises
    ------
    InputError
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            splits = list(splitter.split(X, y, groups))
        except (ValueError, TypeError) as error:
            reason = " ".join(str(error).split()).rstrip(".")
            if groups is None and "groups" in reason:
                message = (
                    f"must be given for {type_of(splitter)}, which keeps groups together, got None"
                )
                raise InputError(message, argument="groups") from None
            what = "the cases" if table is None else f"`{table}`"
            message = f"must divide {what} into folds; {type_of(splitter)} says `{reason}`"
            raise InputError(message, argument=argument, remedy="take another splitter") from None
    for text, warning in {str(warning.message): warning for warning in caught}.items():
        if "groups parameter is ignored" in text:
            warn(
                f"is ignored by {type_of(splitter)}, so cases of a group are in several folds",
                argument="groups",
                options=(argument,),
                remedy=f"set `{argument}` to a splitter such as GroupKFold, or leave `groups` out",
            )
        else:
            place = warning.filename, warning.lineno
            warnings.warn_explicit(warning.message, warning.category, *place)
    return splits


def listed_folds(cv, n_cases):
    """Training and test rows of an iterable of pairs of row numbers or masks."""
    rows, folds = np.arange(n_cases), []
    for split in cv:
        try:
            train, test = (rows[_selected(part)] for part in split)
        except (TypeError, ValueError):
            message = f"must yield pairs (train, test) of row numbers or masks, got {split!r}"
            raise InputTypeError(message, argument="cv") from None
        except IndexError as error:
            reason = str(error)
            message = (
                f"must yield row numbers below {n_cases}, the number of cases, or masks of as "
                f"many; numpy says `{reason}`"
            )
            raise InputError(message, argument="cv") from None
        folds.append((train, test))
    return folds


def _selected(part):
    """Row numbers or a mask as an array; an empty list has no type of its own."""
    part = np.asarray(part)
    if part.size and part.dtype.kind not in "biu":
        raise TypeError
    return part if part.size else part.astype(int)
