"""How commands read and write columns: integers without decimal points, names as strings."""

from collections.abc import Iterable

from pandas.api.types import is_float_dtype

from bnmtl.errors import InputError
from bnmtl.wording import Bare, type_of

_LARGEST_WHOLE = 2.0**53  # above it, not all integers are floats


def without_points(rows):
    """Return rows in which float columns of integers and missing values have an integer dtype.

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
    """Raise unless the rows of an argument have the column named by an option."""
    if name not in rows.columns:
        rule = f"must be a column of {{{argument}}}, {{names}}"
        raise InputError(option, rule, Bare(name), names=list(rows.columns))


def check_new_columns(rows, names, argument):
    """Raise if the rows of an argument already have one of the columns to be written."""
    there = [name for name in names if name in rows.columns]
    if there:
        rule, found = "must not have columns that will be written", "it has {names}"
        raise InputError(argument, rule, found=found, remedies="rename or remove them", names=there)


def names_in(column, option):
    """Return a column as strings, keeping missing values; reject columns of measurements.

    Parameters
    ----------
    column : pandas.Series
    option : str
        The option that names the column.

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
    """Return a column as strings; raise if any value is missing.

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
    """Raise if a row of a column lacks a value; the error names the first such row."""
    if is_missing.any():
        details = {"row": is_missing.argmax() + 1, "remedies": "fill it or remove the row"}
        raise InputError(
            option, rule, found="it is not in row {row}", column=column.name, **details
        )
