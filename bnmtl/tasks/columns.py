"""One column of a table, whatever its dtype, to state names and integer codes."""

import datetime
import math
import numbers
from typing import NamedTuple

import numpy as np
import pandas as pd

MAX_STATES = 256

_NUMPY_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "floating"}
# What pandas calls object arrays whose values can be told apart by equality alone; in any other
# mixture 1 and True would be one value.
_EQUALITY_KINDS = {"string", "boolean", "integer", "floating", "mixed-integer-float"}
_CATEGORY_TYPES = (
    str,
    bool,
    np.bool_,
    numbers.Real,
    pd.Interval,
    pd.Period,
    datetime.date,
    datetime.timedelta,
)


class Column(NamedTuple):
    """State names of a column, its codes into them (-1 = missing), who chose the names, and whether
    they have an order: that in which an ordered categorical declares them, or that of numbers."""

    labels: list
    codes: np.ndarray
    declared: bool
    ordered: bool = False


def read_column(series, where, limit=MAX_STATES):
    """Tell the states and codes of a discrete column.

    Parameters
    ----------
    series : pandas.Series
        Categorical (its categories are the declared states), or strings, booleans, integers or
        whole-number floats in any dtype (the states are the values that occur).
    where : str
        Beginning of error messages, such as "Task `corsica`: column `altitude`".
    limit : int or None, default=256
        Largest number of states; None = any.

    Returns
    -------
    Column

    Raises
    ------
    ValueError
        For continuous columns, infinite values, too many states, and different values that are
        written the same.
    TypeError
        For dates, lists and whatever else is no state.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        _check_number(len(dtype.categories), dtype.categories, where, limit)
        labels = _category_labels(dtype.categories.to_numpy(object), where)
        return Column(labels, series.array.codes, True, bool(dtype.ordered))
    kind, values = _kind(series)
    if kind in ("floating", "mixed-integer-float"):
        return _read_floats(as_floats(values), where, limit)
    if kind in _EQUALITY_KINDS:
        codes, uniques = pd.factorize(values)
        uniques = uniques.tolist()
        _check_number(len(uniques), uniques, where, limit)
        return Column([str(value) for value in uniques], codes, False, kind == "integer")
    if kind in ("mixed", "mixed-integer", "empty"):
        return _read_mixed(values, where, limit)
    raise TypeError(_not_discrete(where, kind))


def as_floats(values):
    """Return numbers as a float64 array with nan for missing ones."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return values.astype(np.float64)
    return pd.Series(values).to_numpy(dtype=np.float64, na_value=np.nan)


def numeric_values(series):
    """Return a numeric column (no booleans) as float64, nan = missing; None if it is none."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return None
    kind, values = _kind(series)
    if kind not in ("integer", "floating", "mixed-integer-float", "empty"):
        return None
    return as_floats(values)


def _kind(series):
    """Return what kind of values the column holds, in pandas' words, and its values."""
    dtype = series.dtype
    kind = _NUMPY_KINDS.get(getattr(dtype, "kind", None))
    if kind is not None:
        return kind, series.array if pd.api.types.is_extension_array_dtype(dtype) else series.values
    if isinstance(dtype, pd.StringDtype):
        return "string", series.array
    is_object = isinstance(dtype, np.dtype) and dtype.kind == "O"
    values = series.values if is_object else series.to_numpy(dtype=object, na_value=None)
    return pd.api.types.infer_dtype(values, skipna=True), values


def _read_floats(values, where, limit):
    codes, uniques = pd.factorize(values)
    if np.isinf(uniques).any():
        raise ValueError(f"{where} holds infinite values; replace them or leave the column out.")
    if (uniques != np.floor(uniques)).any():
        raise ValueError(_continuous(where, len(uniques)))
    _check_number(len(uniques), uniques, where, limit)
    return Column([str(int(value)) for value in uniques], codes, False, True)


def _read_mixed(values, where, limit):
    """Read objects of several types one by one."""
    labels, codes, families = {}, np.full(len(values), -1, dtype=np.int64), {}
    for row, (value, missing) in enumerate(zip(values, pd.isna(values), strict=True)):
        if missing:
            continue
        label, family = _label(value, values, where)
        if families.setdefault(label, family) != family:
            raise ValueError(_same_string(where, label))
        codes[row] = labels.setdefault(label, len(labels))
    _check_number(len(labels), labels, where, limit)
    return Column(list(labels), codes, False, set(families.values()) <= {"number"})


def _label(value, values, where):
    """Return the state name of one object and the family of types it belongs to."""
    if isinstance(value, str):
        return str(value), "string"
    if isinstance(value, bool | np.bool_):
        return str(value), "boolean"
    if isinstance(value, numbers.Integral):
        return str(int(value)), "number"
    if isinstance(value, float | np.floating):
        if not float(value).is_integer():
            raise ValueError(_continuous(where, len({repr(v) for v in values if not _isna(v)})))
        return str(int(value)), "number"
    raise TypeError(_not_discrete(where, type(value).__name__))


def _isna(value):
    """Say whether one object, lists and arrays included, stands for a missing value."""
    missing = pd.isna(value)
    return isinstance(missing, bool) and missing


def _category_labels(categories, where):
    labels = []
    for category in categories:
        if not isinstance(category, _CATEGORY_TYPES):
            raise TypeError(_not_discrete(where, type(category).__name__))
        if isinstance(category, float | np.floating) and float(category).is_integer():
            # Integers with a gap are floats to pandas, also as categories.
            category = int(category)
        elif isinstance(category, float | np.floating) and math.isinf(category):
            raise ValueError(f"{where} declares an infinite category; rename it.")
        labels.append(str(category))
    if len(set(labels)) < len(labels):
        twice = min(label for label in labels if labels.count(label) > 1)
        raise ValueError(_same_string(where, twice))
    return labels


def _check_number(n_states, values, where, limit):
    if limit is not None and n_states > limit:
        examples = ", ".join(f"`{value}`" for value in sorted(map(str, values))[:3])
        raise ValueError(
            f"{where} has {n_states} states ({examples} ...), and at most {limit} are "
            "possible; group its values (`bnmtl.tasks.discretize` does for numbers) or leave "
            "the column out."
        )


def _continuous(where, n_distinct):
    values = "value" if n_distinct == 1 else "values"
    return (
        f"{where} is continuous ({n_distinct} distinct {values}); discretize it first, "
        "for example with `bnmtl.tasks.discretize`."
    )


def _same_string(where, label):
    return (
        f"{where} has two different values that are both written `{label}` (such as the number 1 "
        "and the text '1'); give the column one type."
    )


def _not_discrete(where, kind):
    return (
        f"{where} holds values of type {kind}; only strings, booleans, integers and categories "
        "can be states, so convert it or leave it out."
    )
