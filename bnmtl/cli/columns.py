"""How commands read and write columns: missing cells, integers without points, names as strings."""

import contextlib
from collections.abc import Iterable

import pandas as pd
from pandas.api.types import is_float_dtype

from bnmtl.cli.messages import renamed
from bnmtl.cli.options import contradiction
from bnmtl.errors import InputError
from bnmtl.tasks.files import NA_VALUES, is_parquet, na_values_of, read_rows
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


def as_written(rows, na_values):
    """Return rows `without_points`, with missing cells as they are read again.

    Parameters
    ----------
    rows : pandas.DataFrame
    na_values : sequence of str
        What means missing in the table that they are from.

    Returns
    -------
    pandas.DataFrame
    """
    rows = without_points(rows)
    if "" in na_values:
        return rows
    return rows.astype(object).where(rows.notna(), na_values[0])


def na_values(options, known=NA_VALUES):
    """Return what means missing in the tables of a command.

    Parameters
    ----------
    options : dataclass
        With `na` and `only_na`.
    known : sequence of str, default=("", "NA", "NaN")
        What did in an earlier run.

    Returns
    -------
    tuple of str
    """
    if options.na and options.only_na:
        rule, found = "must not go with {only_na}", "that replaces all texts that mean missing"
        given = Bare(" and ".join(map(repr, options.na)))
        raise contradiction("na", rule, found, given)
    return na_values_of(options.na, options.only_na or known)


@contextlib.contextmanager
def na_option(options):
    """Name the option of the texts that mean missing in mistakes raised in the block."""
    with renamed("na_values", "only_na" if options.only_na else "na"):
        yield


def read_table(path, options, as_text=(), known=NA_VALUES):
    """Read the rows of a table of a command.

    Parameters
    ----------
    path : path
    options, known
        As for `na_values`.
    as_text : list of str
        As for `bnmtl.tasks.files.read_rows`.

    Returns
    -------
    pandas.DataFrame
    """
    texts = na_values(options, known)
    if not (options.na or options.only_na) and is_parquet(path):
        texts = NA_VALUES
    with na_option(options):
        return read_rows(path, as_text, texts)


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


def names_of_rows(rows, column, option, label, argument):
    """The groups or tasks of the rows of an argument as a Series of strings."""
    check_column(rows, column, option, argument)
    if column == label:
        raise InputError(option, "must be another column than the labels", column)
    return pd.Series(complete_names(rows[column], option), rows.index, name=column)


def check_complete(column, option, is_missing, rule="must be complete"):
    """Raise if a row of a column lacks a value; the error names the first such row."""
    if is_missing.any():
        details = {"row": is_missing.argmax() + 1, "remedies": "fill it or remove the row"}
        raise InputError(
            option, rule, found="it is not in row {row}", column=column.name, **details
        )
