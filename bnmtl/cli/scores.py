"""Rows of scores as `bnmtl calibrate` is given them, checked: scores, labels and groups."""

from numbers import Number

import numpy as np
import pandas as pd

from bnmtl.cli.columns import complete_names, names_in
from bnmtl.errors import InputError
from bnmtl.wording import Bare

__all__ = [
    "ALL",
    "check_columns",
    "checked_groups",
    "checked_labels",
    "checked_scores",
    "hashes",
]

ALL = "all rows"


def check_columns(rows, named):
    """Raise unless each option (name -> column, or None) names a column of its own."""
    named = {option: column for option, column in named.items() if column is not None}
    for option, column in named.items():
        if column not in rows.columns:
            raise InputError(
                option,
                "must be a column of SCORES, {names}",
                Bare(column),
                names=list(rows.columns),
            )
    for column in named.values():
        same = [option for option, other in named.items() if other == column]
        if len(same) > 1:
            rule = f"must be another column than {' and '.join(f'{{{one}}}' for one in same[1:])}"
            raise InputError(same[0], rule, Bare(column))


def checked_scores(column):
    """Return scores as floats, none of them missing."""
    values = column.dropna()
    if values.dtype == object and all(isinstance(one, Number) for one in values):
        # Decimals, and whole numbers beyond 64 bits; True and False are numbers to Python.
        column = column if any(isinstance(one, bool) for one in values) else column.astype(float)
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        bad = values[pd.to_numeric(values.astype(str), errors="coerce").isna()]
        # Numbers that are written as codes are, such as 007, are texts as well.
        raise InputError(
            "score",
            "must hold numbers",
            found="it holds {value} as a text" if bad.empty else "it holds {value}",
            remedies="choose another one or correct it",
            column=column.name,
            value=str((values if bad.empty else bad).iloc[0]),
        )
    scores = column.to_numpy(dtype=float)
    if not np.isfinite(scores).all():
        raise InputError(
            "score",
            "must be complete and finite",
            found="it is not in row {row}",
            remedies="fill it or remove the row",
            column=column.name,
            row=np.flatnonzero(~np.isfinite(scores))[0] + 1,
        )
    return scores


def checked_labels(column, positive):
    """Return 1 for the positive label, 0 for others and nan where there is none."""
    texts = names_in(column, "label").dropna()
    found = sorted(set(texts))
    if not found:
        raise InputError(
            "label",
            "must hold labels",
            found="it is empty",
            remedies="choose another one",
            column=column.name,
        )
    if positive is None:
        ours = {"0": 0.0, "1": 1.0, "False": 0.0, "True": 1.0}
        if not set(found) <= {"0", "1"} and not set(found) <= {"False", "True"}:
            raise InputError(
                "positive",
                "must say which label is predicted, unless labels are 0 and 1 or False and True",
                found="{name} holds {labels}",
                name=column.name,
                labels=found,
            )
        y = texts.map(ours)
    else:
        if positive not in found:
            raise InputError(
                "positive", "must be one of the labels, {labels}", Bare(positive), labels=found
            )
        y = (texts == positive).astype(float)
    if y.nunique() < 2:
        raise InputError(
            "label",
            "must hold positive and negative cases",
            found="it holds {labels} alone",
            remedies=("choose another one", "add cases"),
            column=column.name,
            labels=found,
        )
    counts = y.value_counts()
    if counts.min() < 2:
        raise InputError(
            "label",
            "must hold two cases of each class or more",
            found=f"one is {'positive' if counts.idxmin() else 'negative'}",
            remedies="add cases",
            column=column.name,
        )
    return y.reindex(column.index).to_numpy(dtype=float)


def checked_groups(column):
    """Return the name of the group of every row."""
    names = complete_names(column, "group")
    if ALL in names:
        raise InputError(
            "group",
            "must not hold {name}, which is what all groups together are called",
            remedies="rename that group",
            column=column.name,
            name=ALL,
        )
    return names


def hashes(rows):
    """A number a row, the same for the same row in any order of rows and columns."""
    columns = {name: rows[name] for name in sorted(rows.columns, key=str)}
    # Objects such as lists have no hash, but a text.
    texts = {name: own.map(repr) if own.dtype == object else own for name, own in columns.items()}
    return pd.util.hash_pandas_object(pd.DataFrame(texts), index=False).to_numpy()
