"""Rows of scores as `bnmtl calibrate` is given them, checked: scores, labels and groups."""

from numbers import Number

import numpy as np
import pandas as pd

from bnmtl.cli.columns import complete_names, names_in
from bnmtl.wording import listed

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
            raise ValueError(
                f"`{option}` must be a column of SCORES, {listed(rows.columns)}; {column} was "
                "given."
            )
    for column in named.values():
        same = [f"`{option}`" for option, other in named.items() if other == column]
        if len(same) > 1:
            raise ValueError(
                f"{' and '.join(same)} must be different columns; {column} was given for both."
            )


def checked_scores(column):
    """Return scores as floats, none of them missing."""
    values = column.dropna()
    if values.dtype == object and all(isinstance(one, Number) for one in values):
        # Decimals, and whole numbers beyond 64 bits; True and False are numbers to Python.
        column = column if any(isinstance(one, bool) for one in values) else column.astype(float)
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        bad = values[pd.to_numeric(values.astype(str), errors="coerce").isna()]
        # Numbers that are written as codes are, such as 007, are texts as well.
        found = f"`{values.iloc[0]}` as a text" if bad.empty else f"`{bad.iloc[0]}`"
        raise ValueError(
            f"`--score` must be a column of numbers; `{column.name}` holds {found}: choose another "
            "one or correct it."
        )
    scores = column.to_numpy(dtype=float)
    if not np.isfinite(scores).all():
        at = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(
            f"`--score`: column `{column.name}` must be complete and finite; it is not in row "
            f"{at + 1}: fill it or remove the row."
        )
    return scores


def checked_labels(column, positive):
    """Return 1 for the positive label, 0 for others and nan where there is none."""
    texts = names_in(column, "--label").dropna()
    found = sorted(set(texts))
    if not found:
        raise ValueError(
            f"`--label`: column `{column.name}` must hold labels; it is empty: choose another one."
        )
    if positive is None:
        ours = {"0": 0.0, "1": 1.0, "False": 0.0, "True": 1.0}
        if not set(found) <= {"0", "1"} and not set(found) <= {"False", "True"}:
            raise ValueError(
                "`--positive` must say which label is predicted, unless labels are 0 and 1 or "
                f"False and True; `{column.name}` holds {listed(found)}."
            )
        y = texts.map(ours)
    else:
        if positive not in found:
            raise ValueError(
                f"`--positive` must be one of the labels, {listed(found)}; {positive} was given."
            )
        y = (texts == positive).astype(float)
    if y.nunique() < 2:
        raise ValueError(
            f"`--label`: column `{column.name}` must hold positive and negative cases; it holds "
            f"{listed(found)} alone: choose another one, or add cases."
        )
    counts = y.value_counts()
    if counts.min() < 2:
        raise ValueError(
            f"`--label`: column `{column.name}` must hold two cases of each class or more; one is "
            f"{'positive' if counts.idxmin() else 'negative'}: add cases."
        )
    return y.reindex(column.index).to_numpy(dtype=float)


def checked_groups(column):
    """Return the name of the group of every row."""
    names = complete_names(column, "--group")
    if ALL in names:
        raise ValueError(
            f"`--group`: column `{column.name}` must not hold `{ALL}`, as all groups together are "
            "called; rename that group."
        )
    return names


def hashes(rows):
    """A number a row, the same for the same row in any order of rows and columns."""
    columns = {name: rows[name] for name in sorted(rows.columns, key=str)}
    # Objects such as lists have no hash, but a text.
    texts = {name: own.map(repr) if own.dtype == object else own for name, own in columns.items()}
    return pd.util.hash_pandas_object(pd.DataFrame(texts), index=False).to_numpy()
