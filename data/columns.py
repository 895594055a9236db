"""Reading of some columns of a large CSV file."""

import os
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.tasks.files import NA_VALUES
from bnmtl.wording import Bare, listed, type_of


def read_columns(path, columns, optional=(), argument="path", meaning="a CSV file"):
    """Return some columns of a CSV file as categories of text, by lower-case names."""
    if not isinstance(path, str | os.PathLike):
        rule = "must be the path of {meaning!s}"
        raise InputTypeError(argument, rule, type_of(path), meaning=meaning)
    positions = {}
    for at, name in enumerate(header(path)):
        if name in columns or name in optional:
            if name in positions:
                given = Bare(f"`{name}` twice")
                raise InputError(rule="must have different columns", given=given, file=path)
            positions[name] = at
    lacking = [name for name in columns if name not in positions]
    if lacking:
        rule, found = "must be {meaning!s}", "it has no {lacking:column}"
        details = {"file": path, "meaning": meaning, "lacking": lacking}
        remedy = "check which file it is"
        raise InputError(argument, rule, found=found, remedies=remedy, **details)
    table = _parsed(
        path, skiprows=1, usecols=sorted(positions.values()), dtype="category", na_values=NA_VALUES
    )
    table.columns = sorted(positions, key=positions.get)
    return table


def header(path):
    """Return the names of the columns of a CSV file, in lower case."""
    return [str(name).strip().lower() for name in _parsed(path, nrows=1, dtype=str).iloc[0]]


def _parsed(path, **options):
    if not Path(path).is_file():
        raise InputError(rule="does not exist", remedies="correct the path", file=path)
    try:
        return pd.read_csv(
            path, header=None, keep_default_na=False, encoding="utf-8-sig", **options
        )
    except (ValueError, OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        rule = "cannot be read as CSV with a header line and rows ({reason!s})"
        raise InputError(rule=rule, file=path, reason=reason) from None


def numbers_in(texts):
    """Return a column of `read_columns` as floats; nan for blanks."""
    # Rows that were excluded before may contain anything.
    texts = texts.cat.remove_unused_categories()
    categories = texts.cat.categories
    values = pd.to_numeric(categories, errors="coerce").to_numpy(dtype=float)
    wrong = sorted(categories[~np.isfinite(values)])
    if wrong:
        given = listed(wrong, limit=3)
        raise InputError(rule="must hold numbers", given=given, remedies="correct it")
    return np.append(values, np.nan)[texts.cat.codes]
