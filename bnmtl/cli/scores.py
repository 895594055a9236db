"""The rows that `bnmtl calibrate` reads, checked: scores, labels and tasks."""

from numbers import Number

import numpy as np
import pandas as pd

from bnmtl.cli.columns import check_column, check_complete, complete_names, names_in
from bnmtl.errors import InputError
from bnmtl.tasks.labels import positive_label
from bnmtl.wording import Bare

ALL = "all rows"


def check_columns(rows, named):
    """Raise unless the options (name -> column or None) name different columns."""
    named = {option: column for option, column in named.items() if column is not None}
    for option, column in named.items():
        check_column(rows, column, option, "scores")
    for column in named.values():
        same = [option for option, other in named.items() if other == column]
        if len(same) > 1:
            rule = f"must be another column than {' and '.join(f'{{{one}}}' for one in same[1:])}"
            raise InputError(same[0], rule, Bare(column))


def checked_scores(column):
    """Return scores as floats; raise if any is missing."""
    values = column.dropna()
    if values.dtype == object and all(isinstance(one, Number) for one in values):
        # Decimals, and integers beyond 64 bits. In Python, bool is a Number.
        column = column if any(isinstance(one, bool) for one in values) else column.astype(float)
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        bad = values[pd.to_numeric(values.astype(str), errors="coerce").isna()]
        # Numbers written like codes, such as 007, are read as text.
        found = "it holds {value} as a text" if bad.empty else "it holds {value}"
        details = {"value": str((values if bad.empty else bad).iloc[0])}
        details["remedies"] = "choose another one or correct it"
        raise InputError("score", "must hold numbers", found=found, column=column.name, **details)
    scores = column.to_numpy(dtype=float)
    check_complete(column, "score", ~np.isfinite(scores), "must be complete and finite")
    return scores


def checked_labels(column, positive):
    """Return 1 for the positive label, 0 for other labels and nan for missing ones."""
    texts = names_in(column, "label").dropna()
    found = sorted(set(texts))
    if not found:
        raise _bad_labels(column, "must hold labels", "it is empty", "choose another one")
    y = (texts == _positive(column, positive, found)).astype(float)
    if y.nunique() < 2:
        rule, what = "must hold positive and negative cases", "it holds {labels} alone"
        raise _bad_labels(column, rule, what, ("choose another one", "add cases"), labels=found)
    counts = y.value_counts()
    if counts.min() < 2:
        rule = "must hold two cases of each class or more"
        what = f"one is {'positive' if counts.idxmin() else 'negative'}"
        raise _bad_labels(column, rule, what, "add cases")
    return y.reindex(column.index).to_numpy(dtype=float)


def _bad_labels(column, rule, found, remedies, **details):
    details["remedies"] = remedies
    return InputError("label", rule, found=found, column=column.name, **details)


def _positive(column, positive, found):
    """The positive label, which must be known and, if it was given, among the labels found."""
    if positive is not None and positive not in found:
        rule = "must be one of the labels, {labels}"
        raise InputError("positive", rule, Bare(positive), labels=found)
    known = positive_label(set(found)) if positive is None else positive
    if known is None:
        rule = (
            "must say which label is predicted, unless labels are 0 and 1, False and True, false "
            "and true, or FALSE and TRUE"
        )
        what = "{name} holds {labels}"
        raise InputError("positive", rule, found=what, name=column.name, labels=found)
    return known


def checked_tasks(column):
    """Return the name of each row's task."""
    names = complete_names(column, "task_column")
    if ALL in names:
        rule = "must not hold {name}, which is what all tasks together are called"
        details = {"remedies": "rename that task", "name": ALL}
        raise InputError("task_column", rule, column=column.name, **details)
    return names


def hashes(rows):
    """One hash per row, independent of the order of rows and columns."""
    columns = {name: rows[name] for name in sorted(rows.columns, key=str)}
    # Objects such as lists are not hashable, but have a repr.
    texts = {name: col.map(repr) if col.dtype == object else col for name, col in columns.items()}
    return pd.util.hash_pandas_object(pd.DataFrame(texts), index=False).to_numpy()
