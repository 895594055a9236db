"""Columns as the commands write and read them: whole numbers without points, names as texts."""

from collections.abc import Iterable

from pandas.api.types import is_float_dtype

from bnmtl.wording import listed, type_of

__all__ = ["check_new_columns", "complete_names", "names_in", "without_points"]

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


def check_new_columns(rows, names, where):
    """Raise where columns that will be written are there already; the message names `where`."""
    there = [name for name in names if name in rows.columns]
    if there:
        raise ValueError(
            f"{where} must not hold columns that are written, and has {listed(there)}; rename or "
            "remove them."
        )


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
        raise ValueError(
            f"`{option}` must be a column of names or whole numbers; `{column.name}` holds "
            f"{odd:g}: choose another one."
        )
    if column.dtype == object:
        other = next(
            (one for one in column if isinstance(one, Iterable) and type(one) is not str), None
        )
        if other is not None:
            raise ValueError(
                f"`{option}` must be a column of names or whole numbers; `{column.name}` holds "
                f"{type_of(other)}s such as {other!r:.40}: choose another one."
            )
    return column.astype("string")


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
    if column.isna().any():
        at = int(column.isna().to_numpy().argmax())
        raise ValueError(
            f"`{option}`: column `{column.name}` must be complete; it is not in row {at + 1}: fill "
            "it or remove the row."
        )
    return names_in(column, option).to_numpy(dtype=object)
