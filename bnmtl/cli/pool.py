"""The rows of `bnmtl query`: features, labels, tasks, costs, and which may be asked for."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype

from bnmtl.cli.columns import (
    check_column,
    check_new_columns,
    complete_names,
    read_table,
    without_points,
)
from bnmtl.errors import InputError, located, warn
from bnmtl.wording import Bare

NEW_COLUMNS = ("rank", "utility", "predicted", "probability", "reason")
_FEWEST = 5
_LEAST_IDENTIFIED = 10  # rows among which names of rows are noticed
_UNKNOWN = "?"


@dataclass(frozen=True)
class Pool:
    """Rows with and without a label.

    Attributes
    ----------
    rows : pandas.DataFrame
        As they were read.
    X : pandas.DataFrame
        Features.
    y : pandas.Series
        Labels; missing where there is none.
    task : numpy.ndarray of object or None
    cost : numpy.ndarray of float or None
        1 for rows that may not be asked for, which need none.
    candidates : numpy.ndarray of int
        Rows that may be asked for.
    n_excluded : int
    """

    rows: pd.DataFrame
    X: pd.DataFrame
    y: pd.Series
    task: np.ndarray | None
    cost: np.ndarray | None
    candidates: np.ndarray
    n_excluded: int

    @property
    def labeled(self):
        """Positions of the rows with a label."""
        return np.flatnonzero(self.y.notna())


def read_pool(options, strategy):
    """Read the table and check all columns that options name.

    Parameters
    ----------
    options : QueryOptions
    strategy : str

    Returns
    -------
    Pool
    """
    rows = read_table(options.table, options)
    named = {"label": options.label, "task_column": options.task_column, "cost": options.cost}
    for option, name in named.items():
        if name is not None:
            check_column(rows, name, option, "table")
    for name in options.ignore:
        check_column(rows, name, "ignore", "table")
    check_new_columns(rows, NEW_COLUMNS, "table")
    y = _labels(rows[options.label], options.label)
    task = None
    if options.task_column is not None:
        task = complete_names(rows[options.task_column], "task_column")
    left_out = {options.label, options.cost, *options.ignore}
    if strategy == "multitask":
        left_out.add(options.task_column)
    X = rows.drop(columns=[name for name in rows if name in left_out])
    if task is not None and options.task_column in X:
        X = X.assign(**{options.task_column: task})
    if not X.shape[1]:
        raise InputError("table", "must have a column that is a feature", Bare(options.table))
    _warn_of_identifiers(X)
    candidates, n_excluded = _candidates(rows, y, options)
    costs = _costs(rows, options.cost, candidates)
    return Pool(rows, X, y, task, costs, candidates, n_excluded)


def _warn_of_identifiers(X):
    """Warn about features that seem to be names or numbers of the rows."""
    if len(X) < _LEAST_IDENTIFIED:
        return
    for name, column in X.items():
        is_number = is_numeric_dtype(column.dtype)
        numbers = np.sort(column.to_numpy(float, na_value=np.nan)) if is_number else np.zeros(0)
        if column.is_unique and (not is_number or (np.diff(numbers) == 1).all()):
            rule = "has the column {name}, in which each row has its own value"
            remedies = "leave it out with `--ignore {name!s}` if it only names the rows"
            warn("table", rule, remedies=remedies, name=name)


def _read_like(rows, path, options):
    """Another table, with text in the columns that hold text in the first."""
    as_text = [name for name in rows if not is_numeric_dtype(rows[name])]
    return read_table(path, options, as_text)


def _labels(column, name):
    """The labels, as names; raise unless there are two classes, and rows without a label."""
    kept = without_points(column.to_frame())[name]
    if is_float_dtype(kept) and not is_bool_dtype(kept):
        rule, found = "must hold classes", "it holds numbers such as {value}"
        value = float(column.dropna().iloc[0]) if column.notna().any() else "none"
        if column.notna().any():
            raise InputError("label", rule, found=found, column=name, value=value)
    labels = kept.astype("string")
    n_labels, classes = int(labels.notna().sum()), labels.dropna().unique()
    if n_labels == len(labels):
        rule, remedies = "must be empty in the rows to ask for", ["empty it there"]
        if _UNKNOWN in classes:
            remedies.append('give `--na "?"` if this means that there is none')
        raise InputError(
            "label", rule, found="each row has a label", remedies=remedies, column=name
        )
    if n_labels < _FEWEST or len(classes) < 2:
        rule = f"must have {_FEWEST} labels or more, of two classes"
        found, remedies = "it has {n:label} of {k}", "label some random rows first"
        k = "one class" if len(classes) == 1 else f"{len(classes)} classes"
        details = {"column": name, "n": n_labels, "k": Bare(k)}
        raise InputError("label", rule, found=found, remedies=remedies, **details)
    if _UNKNOWN in classes:
        rule, remedies = "has a class `?`", 'give `--na "?"` if this means that there is no label'
        warn("label", rule, remedies=remedies, column=name)
    return labels.astype(object).where(labels.notna(), None)


def _costs(rows, name, candidates):
    """The cost of each row; of rows that may not be asked for it is not read."""
    if name is None:
        return None
    column = rows[name]
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        raise InputError("cost", "must be numbers above 0", column=name)
    numbers = np.ones(len(rows))
    numbers[candidates] = column.to_numpy(dtype=float, na_value=np.nan)[candidates]
    wrong = ~(np.isfinite(numbers) & (numbers > 0))
    if wrong.any():
        at = int(wrong.argmax())
        rule, found = "must be above 0 in the rows to ask for", "it is {value} in row {row}"
        value = Bare("empty") if np.isnan(numbers[at]) else numbers[at]
        raise InputError("cost", rule, found=found, column=name, value=value, row=at + 1)
    return numbers


def _candidates(rows, y, options):
    """Rows that may be asked for, and the number of excluded ones."""
    missing = y.isna().to_numpy()
    if options.exclude is None:
        return np.flatnonzero(missing), 0
    others = _read_like(rows, options.exclude, options)
    shared = [name for name in others if name in rows and name != options.label]
    if not shared:
        with located(file=options.exclude):
            rule = "must have a column of TABLE"
            raise InputError("exclude", rule, Bare(f"columns {', '.join(map(str, others))}"))
    # Numbers are written alike only in one table.
    both = pd.concat([rows[shared], others[shared]], ignore_index=True)
    texts = list(
        without_points(both).astype("string").fillna("").itertuples(index=False, name=None)
    )
    known = set(texts[len(rows) :])
    is_known = np.array([row in known for row in texts[: len(rows)]])
    candidates = np.flatnonzero(missing & ~is_known)
    if not len(candidates):
        found = "each row without a label is in {path}"
        raise InputError("exclude", "must leave rows to ask for", found=found, path=options.exclude)
    return candidates, int((missing & is_known).sum())
