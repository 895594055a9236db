"""The cases of a pool: which have a label, and which may be asked for."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.decorate.artificial import take
from bnmtl.errors import InputError, InputTypeError, check_whole
from bnmtl.tasks.labels import read_labels
from bnmtl.wording import type_of


class Pool(NamedTuple):
    """Cases with and without a label.

    Parameters
    ----------
    X : pandas.DataFrame or numpy.ndarray, shape (n_rows, n_columns)
    y : numpy.ndarray, shape (n_labeled,)
        Labels of the rows that have one.
    labeled, candidates : numpy.ndarray of int
        Rows with a label, and rows that may be picked.
    """

    X: object
    y: np.ndarray
    labeled: np.ndarray
    candidates: np.ndarray

    @property
    def labeled_cases(self):
        """Rows that have a label."""
        return take(self.X, self.labeled)

    @property
    def candidate_cases(self):
        """Rows that may be picked."""
        return take(self.X, self.candidates)


def is_missing(y, missing_label):
    """Whether each label is missing.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    missing_label : object
        NaN and None both stand for every missing value; those are missing in any case.

    Returns
    -------
    numpy.ndarray of bool, shape (n_rows,)
    """
    labels = pd.Series(y).to_numpy(dtype=object)
    missing = np.asarray(pd.isna(labels), dtype=bool)
    if missing_label is None or missing_label is pd.NA or missing_label != missing_label:
        return missing
    missing[~missing] = np.array([one == missing_label for one in labels[~missing]], dtype=bool)
    return missing


def read_pool(X, y, candidates, batch_size, missing_label, classes):
    """Check the arguments of a query.

    Parameters
    ----------
    X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    candidates : None or array-like of int
    batch_size : int
    missing_label : object
    classes : None or array-like

    Returns
    -------
    Pool
    """
    X = X if isinstance(X, pd.DataFrame) else np.asarray(X)
    if X.ndim != 2 or not len(X):
        raise InputError("X", "must be a table with a row for each case", type_of(X))
    if np.asarray(y, dtype=object).ndim != 1:
        rule = "must be one label for each row"
        remedies = "select one column", "`MultitaskQuery` takes several"
        raise InputTypeError("y", rule, type_of(y), remedies=remedies)
    missing = is_missing(y, missing_label)
    if missing.shape != (len(X),):
        rule = "must be one label for each row, {n}, some of them missing"
        raise InputError("y", rule, len(missing), n=len(X))
    labeled = np.flatnonzero(~missing)
    labels = read_labels(np.asarray(y, dtype=object)[labeled])
    if classes is not None:
        unknown = sorted(set(labels.tolist()) - set(np.asarray(classes).tolist()), key=str)
        if unknown:
            rule = "must hold labels of {classes} only"
            raise InputError("y", rule, unknown[0], remedies="add it to {classes!s}")
    rows = rows_to_pick(candidates, missing)
    check_batch_size(batch_size, len(rows))
    return Pool(X, labels, labeled, rows)


def check_batch_size(batch_size, n_candidates):
    """Raise unless so many candidates can be picked."""
    check_whole("batch_size", batch_size, least=1)
    if batch_size > n_candidates:
        rule, found = "must not exceed the number of rows without a label", "{n:row} can be picked"
        raise InputError("batch_size", rule, batch_size, found, n=n_candidates)


def rows_to_pick(candidates, missing):
    """Rows that may be picked, sorted.

    Parameters
    ----------
    candidates : None or array-like of int
        None is all without a label.
    missing : numpy.ndarray of bool, shape (n_rows,)
        Whether rows lack a label.

    Returns
    -------
    numpy.ndarray of int
    """
    if not missing.any():
        raise InputError("y", "must lack some labels", found="each row has one")
    if candidates is None:
        return np.flatnonzero(missing)
    rows = np.asarray(candidates)
    if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
        rule, remedies = "must be positions of rows of `X` or None", "`np.flatnonzero` of a mask"
        raise InputTypeError("candidates", rule, type_of(candidates), remedies=remedies)
    if rows.min() < 0 or rows.max() >= len(missing):
        rule, wrong = "must be positions of rows of `X`, which has {n}", rows[(rows < 0).argmax()]
        wrong = rows.max() if rows.max() >= len(missing) else wrong
        raise InputError("candidates", rule, int(wrong), n=len(missing))
    if not missing[rows].all():
        rule = "must be rows without a label"
        raise InputError("candidates", rule, int(rows[~missing[rows]][0]))
    return np.unique(rows)
