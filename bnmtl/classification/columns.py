"""Columns of rows as numbers or nominal codes, and back to the kind of the input."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_object_dtype, is_string_dtype

from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.tasks.encoding import columns_by_name
from bnmtl.tasks.tables import plain_table
from bnmtl.wording import count, type_of

_MISSING = -1


class ColumnCells(NamedTuple):
    """The cells of one column.

    Parameters
    ----------
    name : str
    is_numeric : bool
    cells : numpy.ndarray of shape (n_rows,)
        Numbers, nan = missing, or codes of nominal values, -1 = missing.
    dtype : numpy dtype or pandas dtype
        That of the input.
    values : array-like or None
        The nominal values by code; None for numbers and categories.
    """

    name: str
    is_numeric: bool
    cells: np.ndarray
    dtype: object
    values: object = None

    @classmethod
    def of(cls, name, series):
        """Read one column of a frame."""
        dtype = series.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return cls(name, False, series.array.codes.astype(np.int64), dtype)
        if is_number(dtype) and np.dtype(getattr(dtype, "numpy_dtype", dtype)).kind in "iuf":
            numbers = series.to_numpy(dtype=float, na_value=np.nan)
            if np.isinf(numbers).any():
                message = "must hold finite numbers; it has an infinite one"
                raise InputError(message, column=name, remedy="replace it")
            return cls(name, True, numbers, dtype)
        is_text = is_string_dtype(dtype) and dtype.kind != "S"
        if not (is_bool_dtype(dtype) or is_object_dtype(dtype) or is_text):
            message = f"must hold numbers, text, booleans or categories, got {str(dtype)!r}"
            raise InputTypeError(message, column=name, remedy="convert it")
        try:
            codes, values = pd.factorize(series.array)
        except TypeError:
            message = "must hold values that can be compared; some cannot be hashed"
            raise InputTypeError(message, column=name, remedy="drop it") from None
        return cls(name, False, codes, dtype, pd.Series(values, dtype=dtype).array)

    def restored(self, cells):
        """A series of the original type with these cells."""
        if self.is_numeric:
            return pd.Series(cells).astype(self.dtype)
        if self.values is None:
            return pd.Series(pd.Categorical.from_codes(cells, dtype=self.dtype))
        has_gaps = bool((cells == _MISSING).any())
        return pd.Series(self.values.take(cells, allow_fill=has_gaps), dtype=self.dtype)


def read_columns(X, least=2):
    """Columns of a frame or of a numeric array, in their order.

    Parameters
    ----------
    X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
        Columns of an array are named "0", "1", ...
    least : int, default=2
        Number of rows that are needed.

    Returns
    -------
    list of ColumnCells

    Raises
    ------
    TypeError, ValueError
        For other types, fewer rows, no columns, two columns with the same name, and
        infinite numbers.
    """
    frame = plain_table(X) if isinstance(X, pd.DataFrame) else X
    if not isinstance(X, pd.DataFrame):
        array = plain_table(X) if isinstance(X, list | tuple | np.ndarray) else None
        if array is None or array.ndim != 2 or array.dtype.kind not in "buif":
            given = type_of(X) if array is None or array.ndim == 2 else array.shape
            rule = "must be a DataFrame, or an array of numbers with two dimensions"
            raise InputTypeError(f"{rule}, got {given}", argument="X")
        frame = pd.DataFrame(array)
    if len(frame) < least or not frame.shape[1]:
        message = (
            f"must have {count(least, 'row')} or more, and one column or more; its shape is "
            f"{frame.shape}"
        )
        raise InputError(message, argument="X")
    with located(argument="X"):
        return [ColumnCells.of(name, series) for name, series in columns_by_name(frame).items()]


def rows_like(X, columns):
    """Rows of the kind of X, from a series per column, in the order of the columns.

    Parameters
    ----------
    X : pandas.DataFrame or array-like
        Only its labels and types are used.
    columns : list of pandas.Series

    Returns
    -------
    pandas.DataFrame or numpy.ndarray
    """
    if not isinstance(X, pd.DataFrame):
        return np.stack([column.to_numpy() for column in columns], axis=1)
    frame = pd.DataFrame(dict(enumerate(columns)))
    return frame.set_axis(X.columns, axis=1)


def is_number(dtype):
    """Whether a column of a type is numeric, not boolean."""
    return is_numeric_dtype(dtype) and not is_bool_dtype(dtype)


def plain(frame):
    """Numbers as floats, nominal values as text, without the missing values of extensions.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
        Columns are 0, 1, ...; nominal cells are "missing", or "value " and the value.
    """
    cells = [
        column.to_numpy(dtype=float, na_value=np.nan)
        if is_number(column.dtype)
        else np.where(column.isna(), "missing", "value " + column.astype(str)).astype(object)
        for _, column in frame.items()
    ]
    return pd.DataFrame(dict(enumerate(cells)))
