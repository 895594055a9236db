"""Some columns of a large CSV file, read without the others."""

import os
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.wording import listed, type_of

_BLANK = ("", "NA", "NaN")


def read_columns(path, columns, optional=(), argument="path", meaning="a CSV file"):
    """Return some columns of a CSV file as categories of text, by their names in lower case."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"`{argument}` must be the path of {meaning}, got {type_of(path)}.")
    positions = {}
    for at, name in enumerate(header(path)):
        if name in columns or name in optional:
            if name in positions:
                raise ValueError(f"File `{path}` must have different columns, got `{name}` twice.")
            positions[name] = at
    lacking = [name for name in columns if name not in positions]
    if lacking:
        raise ValueError(
            f"`{argument}` must be {meaning}; file `{path}` has no {listed(lacking, 'column')}, so "
            "check which file it is."
        )
    table = _parsed(
        path, skiprows=1, usecols=sorted(positions.values()), dtype="category", na_values=_BLANK
    )
    table.columns = sorted(positions, key=positions.get)
    return table


def header(path):
    """Return the names of the columns of a CSV file, in lower case."""
    return [str(name).strip().lower() for name in _parsed(path, nrows=1, dtype=str).iloc[0]]


def _parsed(path, **options):
    if not Path(path).is_file():
        raise ValueError(f"There is no file `{path}`; correct the path.")
    try:
        return pd.read_csv(
            path, header=None, keep_default_na=False, encoding="utf-8-sig", **options
        )
    except (ValueError, OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(
            f"File `{path}` cannot be read as CSV with a header line and rows ({reason})."
        ) from None


def numbers_in(texts, where):
    """Return a column of `read_columns` as floats, nan where it is blank."""
    # Of rows that were left out before, nothing is asked.
    texts = texts.cat.remove_unused_categories()
    categories = texts.cat.categories
    values = pd.to_numeric(categories, errors="coerce").to_numpy(dtype=float)
    wrong = sorted(categories[~np.isfinite(values)])
    if wrong:
        raise ValueError(f"{where} must hold numbers, got {listed(wrong, limit=3)}; correct it.")
    return np.append(values, np.nan)[texts.cat.codes]
