"""Reading of some columns of a large CSV file."""

import os
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.reading import check_content
from bnmtl.tasks.files import NA_VALUES
from bnmtl.wording import listed, type_of


def read_columns(path, columns, optional=(), argument="path", meaning="a CSV file"):
    """Return some columns of a CSV file as categories of text, by lower-case names."""
    if not isinstance(path, str | os.PathLike):
        message = f"must be the path of {meaning}, got {type_of(path)}"
        raise InputTypeError(message, argument=argument)
    positions = {}
    for at, name in enumerate(header(path)):
        if name in columns or name in optional:
            if name in positions:
                raise InputError(f"must have different columns, got `{name}` twice", file=path)
            positions[name] = at
    lacking = [name for name in columns if name not in positions]
    if lacking:
        message = f"must be {meaning}; it has no {listed(lacking, 'column')}"
        raise InputError(message, argument=argument, file=path, remedy="check which file it is")
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
        raise InputError("does not exist", file=path, remedy="correct the path")
    try:
        with located(file=path):
            check_content(Path(path))
        options |= {"header": None, "keep_default_na": False, "encoding": "utf-8-sig"}
        packed = "gzip" if Path(path).suffix.lower() == ".gz" else None
        return pd.read_csv(path, compression=packed, **options)
    except InputError:
        raise
    except (ValueError, OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        message = f"cannot be read as CSV with a header line and rows ({reason})"
        raise InputError(message, file=path) from None


def numbers_in(texts):
    """Return a column of `read_columns` as floats; nan for blanks."""
    # Rows that were excluded before may contain anything.
    texts = texts.cat.remove_unused_categories()
    categories = texts.cat.categories
    values = pd.to_numeric(categories, errors="coerce").to_numpy(dtype=float)
    wrong = sorted(categories[~np.isfinite(values)])
    if wrong:
        given = listed(wrong, limit=3)
        raise InputError(f"must hold numbers, got {given}", remedy="correct it")
    return np.append(values, np.nan)[texts.cat.codes]
