"""Columns as the commands write and read them: whole numbers without points, names as texts."""

from collections.abc import Iterable

from pandas.api.types import is_float_dtype

from bnmtl.errors import InputError
from bnmtl.wording import Bare, type_of

_LARGEST_WHOLE = 2.0**53  # above it, floats are not all whole numbers


def without_points(rows):
    """Return rows whose whole numbers with gaps, which may be floats, are written without points.

    Parameters
    ----------
    rows : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
    """
    rows = rows.copy()
    for column in rows.columns[[is_float_dtype(kind) for kind in rows.dtypes]]:
        values = rows[column].dropna()
        if (values.abs() <= _LARGEST_WHOLE).all() and (values == values.round()).all():
            rows[column] = rows[column].astype("Int64")
    return rows


def check_column(rows, name, option, argument):
    """Raise unless the rows of an argument have the column that an option names."""
    if name not in rows.columns:
        rule = f"must be a column of {{{argument}}}, {{names}}"
        raise InputError(option, rule, Bare(name), names=list(rows.columns))


def check_new_columns(rows, names, argument):
    """Raise where the rows of an argument have columns that will be written."""
    there = [name for name in names if name in rows.columns]
    if there:
        rule, found = "must not have columns that will be written", "it has {names}"
        raise InputError(argument, rule, found=found, remedies="rename or remove them", names=there)


def names_in(column, option):
    """Return a column as texts, missing ones kept; what looks like measurements is refused.

    Parameters
    ----------
    column : pandas.Series
    option : str
        That names the column.

    Returns
    -------
    pandas.Series of string
    """
    column = without_points(column.to_frame())[column.name]
    if is_float_dtype(column):
        odd = next(iter(column[column != column.round()].dropna()), column.abs().max())
        raise _no_names(column, option, f"{odd:g}")
    if column.dtype == object:
        other = next(
            (one for one in column if isinstance(one, Iterable) and type(one) is not str), None
        )
        if other is not None:
            raise _no_names(column, option, f"{type_of(other)}s such as {other!r:.40}")
    return column.astype("string")


def _no_names(column, option, values):
    rule, found = "must hold names or whole numbers", "it holds {values!s}"
    details = {"remedies": "choose another one", "values": values}
    return InputError(option, rule, found=found, column=column.name, **details)


def complete_names(column, option):
    """Return the text of every row of a column, none of which may be missing.

    Parameters
    ----------
    column : pandas.Series
    option : str

    Returns
    -------
    numpy.ndarray of object
    """
    check_complete(column, option, column.isna().to_numpy())
    return names_in(column, option).to_numpy(dtype=object)


def check_complete(column, option, is_missing, rule="must be complete"):
    """Raise where a row of a column lacks a value, and name the first one."""
    if is_missing.any():
        details = {"row": is_missing.argmax() + 1, "remedies": "fill it or remove the row"}
        raise InputError(
            option, rule, found="it is not in row {row}", column=column.name, **details
        )
