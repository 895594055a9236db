"""Tables that users hand in: their containers, the names of their columns, and their numbers."""

import contextlib
import decimal
import numbers
from collections.abc import Sequence

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, Mistake, located
from bnmtl.tasks.encoding import column_names
from bnmtl.wording import count, shown, type_of

_NUMBERS = (numbers.Real, np.bool_, decimal.Decimal, str)
_RULE = "must be a DataFrame or an array with a row for each case"


def plain_table(X, argument="X"):
    """A table that each room can read: a frame with different names, or what is not a frame.

    Sparse columns of a frame become dense.

    Parameters
    ----------
    X : pandas.DataFrame, array-like or sparse matrix
    argument : str, default="X"
        The argument's name for messages.

    Returns
    -------
    pandas.DataFrame, numpy.ndarray or sparse matrix
        Lists are arrays.

    Raises
    ------
    InputTypeError
        For text, mappings, generators, classes and other things that are not tables.
    InputError
        For columns with the same name, and rows of several lengths.

    Examples
    --------
    >>> plain_table(pd.DataFrame({"a": pd.arrays.SparseArray([0, 1])})).dtypes["a"]
    dtype('int64')
    """
    X = any_rows(X, argument)
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, Sequence):
        with as_one_sentence(f"{_RULE}, each of the same length", argument, "numpy"):
            X = np.array(X)
    if isinstance(X, np.matrix) or (isinstance(X, np.ndarray) and X.dtype.kind in "VMmT"):
        kind = "matrix" if isinstance(X, np.matrix) else f"array of {X.dtype}"
        raise InputTypeError(f"{_RULE}, got {_article(kind)}", argument=argument)
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        # scikit-learn's estimator checks expect these words, and a ValueError.
        raise InputError("must hold real numbers (Complex data not supported)", argument=argument)
    return X


def any_rows(X, argument="X"):
    """Rows of any kind that a classifier of the user may take, such as texts.

    Parameters
    ----------
    X : pandas.DataFrame, array-like or sparse matrix
    argument : str, default="X"
        The argument's name for messages.

    Returns
    -------
    object
        A frame has different names, and no sparse columns; anything else is as it is.

    Raises
    ------
    InputTypeError
        For text, mappings, generators, classes and other things without rows.
    InputError
        For columns with the same name.
    """
    if isinstance(X, pd.DataFrame):
        with located(argument=argument):
            column_names(X)
        return _dense(X)
    is_sequence = isinstance(X, Sequence) and not isinstance(X, str | bytes)
    if not isinstance(X, type) and (is_sequence or hasattr(X, "shape") or hasattr(X, "__array__")):
        rows = X if is_sequence or hasattr(X, "shape") else np.asarray(X)
        if is_sequence or len(rows.shape):
            return rows
    raise InputTypeError(f"{_RULE}, got {shown(X)}", argument=argument)


def _article(noun):
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _dense(frame):
    """A frame without sparse columns."""
    sparse = [at for at, dtype in enumerate(frame.dtypes) if isinstance(dtype, pd.SparseDtype)]
    if not sparse:
        return frame
    found = frame.copy()
    for at in sparse:
        found.isetitem(at, frame.iloc[:, at].sparse.to_dense())
    return found


def table_of_numbers(X, argument="X"):
    """A table of which each column holds numbers, or text that is one; missing ones are NaN.

    Parameters
    ----------
    X : pandas.DataFrame, array-like or sparse matrix
    argument : str, default="X"
        The argument's name for messages.

    Returns
    -------
    pandas.DataFrame, numpy.ndarray or sparse matrix

    Raises
    ------
    InputTypeError, InputError
        As `plain_table`, for cells that are not numbers, and frames without a column.

    Examples
    --------
    >>> table_of_numbers(pd.DataFrame({"a": ["1", None], "b": [1, 2]}))
         a  b
    0  1.0  1
    1  NaN  2
    """
    X = plain_table(X, argument)
    if isinstance(X, pd.DataFrame):
        return _frame_of_numbers(X, argument)
    if isinstance(X, np.ndarray) and X.dtype.kind in "OUS":
        with as_one_sentence("must hold numbers", argument, "numpy"):
            return X.astype(float)
    return X


def _frame_of_numbers(frame, argument):
    if not frame.shape[1]:
        # scikit-learn's estimator checks expect the words in the brackets.
        message = (
            f"must have a column or more; it has 0 feature(s) (shape={frame.shape}) while a "
            "minimum of 1 is required"
        )
        raise InputError(message, argument=argument)
    found = frame
    for at, dtype in enumerate(frame.dtypes):
        if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
            found = frame.copy() if found is frame else found
            found.isetitem(at, _floats(frame.columns[at], frame.iloc[:, at], argument))
    return found


def _floats(name, series, argument):
    """A column as floats."""
    cells, missing = series.to_numpy(dtype=object), series.isna().to_numpy()
    found = np.full(len(cells), np.nan)
    for at in np.flatnonzero(~missing):
        # Of other objects float() takes dates of numpy, and arrays of one cell.
        if isinstance(cells[at], _NUMBERS):
            with contextlib.suppress(ValueError, OverflowError):
                found[at] = float(cells[at])
                continue
        message = f"must hold numbers, got {shown(cells[at])}"
        remedy = "encode its values, by `OneHotEncoder` say"
        raise InputError(message, argument=argument, column=str(name), remedy=remedy)
    return found


@contextlib.contextmanager
def as_one_sentence(rule, argument, speaker, kinds=(TypeError, ValueError)):
    """Say of a mistake that another package finds in an argument which rule was not kept.

    The package's own words are quoted.

    Parameters
    ----------
    rule : str
        What the argument must be.
    argument : str
    speaker : str
        The name of the package or class.
    kinds : tuple of classes, default=(TypeError, ValueError)
        What it raises for mistakes in its input.
    """
    try:
        yield
    except kinds as error:
        # What is known not to be fitted is no mistake in an input.
        if isinstance(error, Mistake | AttributeError):
            raise
        kind = InputTypeError if isinstance(error, TypeError) else InputError
        reason = " ".join(str(error).split()).rstrip(".")
        raise kind(f"{rule}; {speaker} says `{reason}`", argument=argument) from error


def asked(model, verb="learn from"):
    """`as_one_sentence` for a classifier of the user, which is the argument ``estimator``.

    Parameters
    ----------
    model : classifier
    verb : str, default="learn from"
        What it does with the rows.
    """
    return as_one_sentence(f"must be able to {verb} `X`", "estimator", type_of(model))


def sorted_columns(X):
    """Positions of the columns by name: of a frame sorted as text, of an array as they are.

    Parameters
    ----------
    X : pandas.DataFrame or array-like, shape (n_rows, n_columns)

    Returns
    -------
    numpy.ndarray of int, or None
        None if the columns are in this order.

    Examples
    --------
    >>> sorted_columns(pd.DataFrame({"b": [1], "a": [2]})).tolist()
    [1, 0]
    """
    if not isinstance(X, pd.DataFrame):
        return None
    names = column_names(X)
    order = sorted(range(len(names)), key=names.__getitem__)
    return None if order == list(range(len(names))) else np.array(order)


def as_fitted(estimator, X, argument="X"):
    """A frame with its columns in the order of the fit, found by name; anything else as it is.

    Parameters
    ----------
    estimator : fitted estimator
        Its ``feature_names_in_`` has the names, if it was fitted to a frame that has text for them.
    X : pandas.DataFrame or array-like
    argument : str, default="X"
        The argument's name for messages.

    Returns
    -------
    pandas.DataFrame or array-like
    """
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or not isinstance(X, pd.DataFrame):
        return X
    return matched_rows(argument, X, [str(name) for name in names])


def names_of(X):
    """Names of the columns of a frame, or of an array: "0", "1", ..."""
    return [str(label) for label in (X if isinstance(X, pd.DataFrame) else range(np.shape(X)[1]))]


def matched_rows(argument, X, names):
    """Rows with their columns in a given order: of a frame by name, of an array by position.

    Parameters
    ----------
    argument : str
    X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
    names : list of str

    Returns
    -------
    pandas.DataFrame or numpy.ndarray

    Raises
    ------
    TypeError, ValueError
        For other dimensions, a frame without one of the columns, and an array with more or fewer.
    """
    if isinstance(X, pd.DataFrame):
        found = names_of(X)
        lacking = [name for name in names if name not in found]
        if lacking:
            message = f"must have the columns of the fit; `{lacking[0]}` is missing"
            raise InputError(message, argument=argument)
        return X if found == names else X.iloc[:, [found.index(name) for name in names]]
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] != len(names):
        wanted = count(len(names), "column")
        message = f"must have {wanted}, as in the fit; its shape is {array.shape}"
        raise InputError(message, argument=argument)
    return array
