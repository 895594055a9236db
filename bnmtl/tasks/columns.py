"""Columns of any dtype as state names and integer codes; states are shared by all tasks."""

import datetime
import itertools
import math
import numbers
import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.wording import count, listed

MISSING_STATE = "missing"
# Pairs of states with the low one first; the keys are sorted for lookup.
_PAIRS = {("absent", "present"), ("no", "yes"), ("false", "true"), ("0", "1")}
_INTEGER = re.compile(r"[+-]?[0-9]{1,1000}")


def shared_states(columns):
    """Return {variable: states} over all tasks; `columns` is {task: {variable: Column}}."""
    return {variable: _states(variable, by_task) for variable, by_task in _by_variable(columns)}


def ordered_variables(columns):
    """Return the variables whose states have an order in all tasks; `columns` as above.

    If some tasks declare their states, these decide, because the values of the others are among
    them.
    """
    found = set()
    for variable, by_task in _by_variable(columns):
        declared = [column for column in by_task.values() if column.declared]
        if all(column.ordered for column in declared or by_task.values()):
            found.add(variable)
    return found


def _by_variable(columns):
    """Pairs of a variable and its {task: Column}, sorted by variable."""
    found = {}
    for name, by_name in columns.items():
        for variable, column in by_name.items():
            found.setdefault(variable, {})[name] = column
    return sorted(found.items())


def state_ranks(states, is_ordered):
    """Return the rank of every state, -1 for missing values; None for states without an order.

    The states absent / present, no / yes, false / true and 0 / 1 always have an order, in any
    position and capitalization.
    """
    values = [state for state in states if state != MISSING_STATE]
    if len(values) == 2 and tuple(sorted(map(str.casefold, values))) in _PAIRS:
        values.sort(key=str.casefold)
    elif not is_ordered:
        return None
    rank = {state: at for at, state in enumerate(values)}
    return tuple(rank.get(state, -1) for state in states)


def _states(variable, columns):
    """Return the states of one variable; `columns` is {task: Column}."""
    declared = {name: tuple(column.labels) for name, column in columns.items() if column.declared}
    if declared:
        states = _merge_orders(variable, declared)
        for name, column in columns.items():
            unknown = sorted(set(column.labels) - set(states))
            if unknown:
                message = (
                    "must contain only states that other tasks declare "
                    f"({listed(sorted(states))}), got {listed(unknown)}"
                )
                remedy = "declare the same categories in all tasks"
                raise InputError(message, task=name, column=variable, remedy=remedy)
    else:
        states = sorted({label for column in columns.values() for label in column.labels})
        if all(_INTEGER.fullmatch(state) for state in states):
            states.sort(key=int)
    if any((column.codes < 0).any() for column in columns.values()):
        if MISSING_STATE in states:
            message = f"has missing values and also a state `{MISSING_STATE}`"
            remedy = "rename that state, or fill the missing values with it"
            raise InputError(message, column=variable, remedy=remedy)
        states = [*states, MISSING_STATE]
    if len(states) > MAX_STATES:
        raise InputError(
            f"must have at most {MAX_STATES} states over all tasks, got {len(states)!r}",
            column=variable,
            remedy="group its values, or leave the column out",
            cli_remedy="group its values, or leave the column out with `--ignore C`",
        )
    return tuple(states)


def _merge_orders(variable, declared):
    """Merge the declared states of the tasks into one list that keeps every task's order.

    The smallest possible state comes next (as a number if all are integers), so the result does not
    depend on the order of the tasks.
    """
    orders = set(declared.values())
    if len(orders) == 1:
        return list(orders.pop())
    # Only here, so that catalogues of data load fast.
    import networkx as nx

    follows = nx.DiGraph()
    for order in orders:
        nx.add_path(follows, order)
    all_integers = all(_INTEGER.fullmatch(state) for state in follows)
    key = {state: (int(state) if all_integers else 0, state) for state in follows}
    try:
        return list(nx.lexicographical_topological_sort(follows, key.get))
    except nx.NetworkXUnfeasible:
        # Two tasks that contradict each other, or all if only more than two do.
        contradicting = (
            (a, b)
            for a, b in itertools.combinations(declared, 2)
            if [state for state in declared[a] if state in declared[b]]
            != [state for state in declared[b] if state in declared[a]]
        )
        names = next(contradicting, list(declared)[:5])
        orders = ", ".join(f"`{name}`: {' < '.join(declared[name])}" for name in names)
        rule = "must have its states declared in one order; the tasks contradict each other"
        raise InputError(f"{rule} ({orders})", column=variable) from None


MAX_STATES = 256

_NUMPY_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "floating"}
# pandas' names for object arrays whose values are distinguished by equality; in any other mixture 1
# and True would be equal.
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
    """State names of a column, its codes (-1 = missing), and how the names were found.

    They may be declared, and ordered as an ordered categorical or as numbers.
    """

    labels: list
    codes: np.ndarray
    declared: bool
    ordered: bool = False


def read_column(series, limit=MAX_STATES):
    """Return the states and codes of a discrete column.

    Parameters
    ----------
    series : pandas.Series
        Categorical (its categories are the declared states), or strings, booleans, integers or
        whole-number floats in any dtype (the states are the observed values).
    limit : int or None, default=256
        Largest number of states; None = any.

    Returns
    -------
    Column

    Raises
    ------
    InputError
        For continuous columns, infinite values, too many states, and different values with the same
        string.
    InputTypeError
        For dates, lists and other values that are not states.
    """
    column = _read(series, limit)
    check_text(column.labels, "must hold text that is Unicode")
    return column


def check_text(texts, rule):
    """Raise InputError for text that no file can hold, such as half of a pair of surrogates.

    Parameters
    ----------
    texts : iterable of str
    rule : str
        What holds for the others.
    """
    for text in texts:
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise InputError(f"{rule}, got {text!r}", remedy="correct it") from None


def _read(series, limit):
    """`read_column` without the check of its text."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        _check_n_states(dtype.categories, limit)
        labels = _category_labels(dtype.categories.to_numpy(object))
        return Column(labels, series.array.codes, True, bool(dtype.ordered))
    kind, values = _kind(series)
    if kind in ("floating", "mixed-integer-float"):
        return _read_floats(as_floats(values), limit)
    if kind in _EQUALITY_KINDS:
        codes, uniques = pd.factorize(values)
        uniques = uniques.tolist()
        _check_n_states(uniques, limit)
        return Column([str(value) for value in uniques], codes, False, kind == "integer")
    if kind in ("mixed", "mixed-integer", "empty"):
        return _read_mixed(values, limit)
    raise _not_discrete(kind)


def as_floats(values):
    """Return numbers as a float64 array with nan for missing ones."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return values.astype(np.float64)
    return pd.Series(values).to_numpy(dtype=np.float64, na_value=np.nan)


def numeric_values(series):
    """Return a numeric column (not boolean) as float64, nan = missing; None if not numeric."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return None
    kind, values = _kind(series)
    if kind not in ("integer", "floating", "mixed-integer-float", "empty"):
        return None
    return as_floats(values)


def _kind(series):
    """Return pandas' name for the type of the values, and the values."""
    dtype = series.dtype
    kind = _NUMPY_KINDS.get(getattr(dtype, "kind", None))
    if kind is not None:
        return kind, series.array if pd.api.types.is_extension_array_dtype(dtype) else series.values
    if isinstance(dtype, pd.StringDtype):
        return "string", series.array
    is_object = isinstance(dtype, np.dtype) and dtype.kind == "O"
    values = series.values if is_object else series.to_numpy(dtype=object, na_value=None)
    return pd.api.types.infer_dtype(values, skipna=True), values


def _read_floats(values, limit):
    codes, uniques = pd.factorize(values)
    if np.isinf(uniques).any():
        raise InputError(
            "holds infinite values",
            options=("ignore",),
            remedy="replace them, or leave the column out",
            cli_remedy="replace them, or leave the column out with `--ignore C`",
        )
    if (uniques != np.floor(uniques)).any():
        raise _continuous(len(uniques))
    _check_n_states(uniques, limit)
    return Column([str(int(value)) for value in uniques], codes, False, True)


def _read_mixed(values, limit):
    """Read objects of several types one by one."""
    labels, codes, families = {}, np.full(len(values), -1, dtype=np.int64), {}
    for row, (value, missing) in enumerate(zip(values, pd.isna(values), strict=True)):
        if missing:
            continue
        label, family = _label(value, values)
        if families.setdefault(label, family) != family:
            raise _same_string(label)
        codes[row] = labels.setdefault(label, len(labels))
    _check_n_states(labels, limit)
    return Column(list(labels), codes, False, set(families.values()) <= {"number"})


def _label(value, values):
    """Return the state name of one object and the family of types it belongs to."""
    if isinstance(value, str):
        return str(value), "string"
    if isinstance(value, bool | np.bool_):
        return str(value), "boolean"
    if isinstance(value, numbers.Integral):
        return str(int(value)), "number"
    if isinstance(value, float | np.floating):
        if not float(value).is_integer():
            raise _continuous(len({repr(other) for other in values[~pd.isna(values)]}))
        return str(int(value)), "number"
    raise _not_discrete(type(value).__name__)


def _category_labels(categories):
    labels = []
    for category in categories:
        if not isinstance(category, _CATEGORY_TYPES):
            raise _not_discrete(type(category).__name__)
        if isinstance(category, float | np.floating) and float(category).is_integer():
            # pandas reads integers with missing values as floats, also as categories.
            category = int(category)
        elif isinstance(category, float | np.floating) and math.isinf(category):
            raise InputError("declares an infinite category", remedy="rename it")
        labels.append(str(category))
    if len(set(labels)) < len(labels):
        raise _same_string(min(label for label in labels if labels.count(label) > 1))
    return labels


def _check_n_states(values, limit):
    if limit is not None and len(values) > limit:
        first = listed(sorted(map(str, values))[:3])
        leave = "or leave the column out"
        raise InputError(
            f"must have at most {limit} states, got {len(values)} ({first} ...)",
            remedy=f"group its values (`bnmtl.tasks.discretize` does for numbers), {leave}",
            cli_remedy=(
                f"group its values (`--discretize N` does for numbers), {leave} with `--ignore C`"
            ),
        )


def _continuous(n_distinct):
    return InputError(
        f"is continuous ({count(n_distinct, 'distinct value')})",
        options=("discretize",),
        remedy="discretize it first, for example with `bnmtl.tasks.discretize`",
        cli_remedy="discretize it first with `--discretize N`",
    )


def _same_string(label):
    message = (
        f"has two different values that are both written `{label}` (such as the number 1 and the "
        "text '1')"
    )
    return InputError(message, remedy="give the column one type")


def _not_discrete(kind):
    return InputTypeError(
        f"must hold strings, booleans, integers or categories; it holds values of type {kind}",
        options=("ignore",),
        remedy="convert it, or leave the column out",
        cli_remedy="convert it, or leave the column out with `--ignore C`",
    )
