"""Reading of CSV or Parquet files into one DataFrame per task."""

import csv
import io
import os
import re
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from bnmtl.errors import InputError, InputTypeError, located, warn
from bnmtl.reading import Cells, content_of
from bnmtl.tasks.encoding import column_names, split
from bnmtl.tasks.parquet import read_parquet
from bnmtl.wording import count, listed, type_of

_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_PARQUET = (".parquet", ".pq")
# Numbers as written by programs. Leading zeros and plus signs indicate codes such as 007, so such
# columns stay text.
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
NA_VALUES = ("", "NA", "NaN")  # what means missing in every table that the package reads
_LONGEST_INTEGER = 18  # digits; two longer integers may become the same float
_FLOAT = re.compile(
    r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-?(?i:inf|infinity)"
)


def read(paths, task_column=None, na_values=NA_VALUES):
    """Read tasks from files, one task per file or one per value of a column.

    CSV files (`.csv`, or `.tsv` with tabs; both also with `.gz`) are UTF-8 text with one header
    line. Types are inferred over all files together: a column is integer if all its values are,
    otherwise float if all are numbers, otherwise text. True and False stay text, and so do columns
    with a number that has a leading zero or plus sign, such as 007, or a whole number with more
    than 18 digits. Blanks around names and values are removed. Parquet files (`.parquet`, `.pq`)
    keep their types and need pyarrow (`pip install "bnmtl[parquet]"`); a named index is read as
    columns. A call reads files of one format only.

    Parameters
    ----------
    paths : path or list of paths
        Files to read.
    task_column : str, optional
        Column with the task of every row, in every file. Several files are then parts of one table:
        rows of the same task are joined in the order of the files, and must have the same columns.
        Without it every file is one task, named after the file without its extension.
    na_values : list of str, default=("", "NA", "NaN")
        The strings that denote a missing value in CSV files; others, such as None and null, are
        values. Parquet files mark missing values themselves, so they take the default only.

    Returns
    -------
    dict of str to pandas.DataFrame
        Sorted by task name.

    Raises
    ------
    InputTypeError
        If `paths` or `na_values` has a wrong type.
    InputError
        If a file does not exist, is a directory, has an unknown extension, is empty or not
        readable, has lines with different numbers of fields, or columns without names or with
        duplicate names; if all tables together have more than 2**28 cells, or a file holds more
        than 1 GiB of text once unpacked, unless the environment variable `BNMTL_MAX_TEXT_GIB` is
        larger; if two files have the same task name; if the task column is missing; or if
        `na_values` are given for Parquet files.
    MissingExtra
        If pyarrow is needed but not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bnmtl.tasks import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "birds.csv")
    ...     _ = path.write_text("region,wren,layer\\nPr,1,low\\nCo,0,NA\\nPr,0,high\\n")
    ...     tasks = read(path, task_column="region")
    >>> list(tasks), tasks["Pr"]["wren"].tolist()
    (['Co', 'Pr'], [1, 0])
    """
    paths = _checked_paths(paths)
    na_values = _checked_na_values(na_values)
    parquet = _one_format(paths)
    cells = Cells()
    tables = {path: _read_table(path, na_values, cells) for path in paths}
    parts = _one_task_each(tables) if task_column is None else _join(tables, task_column)
    return parts if parquet else _infer_types(parts)


def read_rows(path, as_text=(), na_values=NA_VALUES):
    """Read one file like `read`, but keep some columns of a CSV file as text.

    Parameters
    ----------
    path : path
    as_text : list of str
        Names of columns to keep as text; names that are not in the file are ignored.
    na_values : list of str, default=("", "NA", "NaN")

    Returns
    -------
    pandas.DataFrame
    """
    return read_parts({"rows": path}, as_text, na_values)["rows"]


def read_parts(paths, as_text=(), na_values=NA_VALUES):
    """Read one table per part, with types that are inferred over all CSV files together.

    Parameters
    ----------
    paths : dict of str to path
    as_text, na_values
        As for `read_rows`.

    Returns
    -------
    dict of str to pandas.DataFrame
    """
    na_values = _checked_na_values(na_values)
    paths = {part: path for part, given in paths.items() for path in _checked_paths(given)}
    cells = Cells()
    tables = {part: _read_table(path, na_values, cells) for part, path in paths.items()}
    texts = {part: table for part, table in tables.items() if not is_parquet(paths[part])}
    return tables | _infer_types(texts, as_text)


def na_values_of(added=(), only=()):
    """Return the strings that mean missing: the default and those added, or others instead.

    Parameters
    ----------
    added, only : sequence of str

    Returns
    -------
    tuple of str
    """
    return (*(only or NA_VALUES), *added)


def csv_text(table, index=False):
    """Return a table as CSV, which `read` reads back.

    Parameters
    ----------
    table : pandas.DataFrame
    index : bool, default=False
        Whether the row labels are the first column.

    Returns
    -------
    str
    """
    options = {"index": index, "lineterminator": "\n"}
    text = table.to_csv(**options)
    # Before Python 3.13, carriage returns in cells are not quoted by default.
    return table.to_csv(**options, quoting=csv.QUOTE_NONNUMERIC) if "\r" in text else text


# A sign before a number, or before an interval of discretized numbers, begins none.
_FORMULA = re.compile(r"[=@]|[+-](?!(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:_to_.*)?$)(?!inf$)[^\s]")


def warn_of_formulas(tables):
    """Warn once if a text in CSV files may be taken for a formula by a spreadsheet.

    Parameters
    ----------
    tables : iterable of pandas.DataFrame
    """
    for table in tables:
        for column in table.columns:
            values = [column]
            if not pd.api.types.is_numeric_dtype(table[column].dtype):
                values += [value for value in table[column] if isinstance(value, str)]
            for value in dict.fromkeys(values):
                if isinstance(value, str) and _FORMULA.match(value):
                    message = (
                        "CSV files have cells that begin as formulas, which are kept as they are; "
                        f"`{value}` is one"
                    )
                    warn(message, remedy="let a spreadsheet read their columns as text")
                    return


def is_parquet(path):
    """Whether a file is Parquet, by its extension."""
    return _extension(Path(path)) in _PARQUET


def _checked_paths(paths):
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    if not isinstance(paths, list | tuple):
        message = f"must be a path or a list of paths, got {type_of(paths)}"
        remedy = "for example ['north.csv', 'south.csv']"
        raise InputTypeError(message, argument="paths", remedy=remedy)
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            message = f"must be a path or a list of paths, got a list with {path!r}"
            raise InputTypeError(message, argument="paths")
    if not paths:
        raise InputError("must name at least one file; it is empty", argument="paths")
    paths = [Path(path) for path in paths]
    places = [path.resolve() for path in paths]
    for i, path in enumerate(paths):
        if places[i] in places[:i]:
            raise InputError(f"must name every file once, got `{path}` twice", argument="paths")
    return paths


def _checked_na_values(na_values):
    if not isinstance(na_values, list | tuple | set | frozenset) or not all(
        isinstance(value, str) for value in na_values
    ):
        raise InputTypeError(
            f"must be a list of texts, such as ['', 'NA'], got {na_values!r}", argument="na_values"
        )
    return {value.strip() for value in na_values}


def _extension(path):
    """Return the extension of a file in lower case, such as .csv or .csv.gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def _one_format(paths):
    """Whether the files are Parquet; raise for unknown formats."""
    for path in paths:
        if path.is_dir():
            raise InputError("is a directory", file=path, remedy="name the files in it")
        if not path.exists():
            raise InputError("does not exist", file=path, remedy="check the path")
        if _extension(path) not in (known := (*_SEPARATORS, *_PARQUET)):
            message = f"must have one of the extensions {', '.join(known)}"
            raise InputError(message, file=path, remedy="convert or rename it")
    parquet = [is_parquet(path) for path in paths]
    if any(parquet) and not all(parquet):
        given = listed([paths[parquet.index(True)], paths[parquet.index(False)]])
        raise InputError(f"must be all CSV or all Parquet, got {given}", argument="paths")
    return parquet[0]


def _read_table(path, na_values, cells):
    """Return a Parquet file, or a CSV file as categorical columns of text; counts its cells."""
    if not _one_format([path]):
        return _read_text(path, na_values, cells)
    if na_values != set(NA_VALUES):
        message = "must be left out for Parquet files, which mark missing values themselves"
        remedy = "replace such values in the file"
        raise InputError(message, argument="na_values", file=path, remedy=remedy)
    with located(file=path):
        table = read_parquet(path, cells)
        named_levels = [name for name in table.index.names if name is not None]
        if named_levels:
            table = table.reset_index(level=named_levels)
        column_names(table)
    return table


def _read_text(path, na_values, cells):
    """Return a CSV file as categorical columns of text with missing values marked."""
    separator = _SEPARATORS[_extension(path)]
    text = decoded(path)
    with located(file=path):
        cells.add(text.count(separator) + text.count("\n"))
        header, n_rows = _scan(text, separator)
    try:
        table = pd.read_csv(
            io.StringIO(text, newline=""),
            sep=separator,
            header=0,
            names=header,
            dtype=str,
            na_filter=False,
            index_col=False,
            skip_blank_lines=len(header) > 1,
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise _unreadable(error, "CSV", file=path) from None
    if len(table) != n_rows:
        message = (
            f"cannot be read as CSV ({count(n_rows, 'row')} by one count, {len(table)} by another)"
        )
        raise InputError(message, file=path, remedy="check its quotation marks")
    return pd.DataFrame({column: _categories(table[column], na_values) for column in header})


def _categories(texts, na_values):
    """Return texts as categories, stripped of blanks and without missing values."""
    codes, written = texts.factorize()
    position, categories = pd.factorize(np.array([text.strip() for text in written], object))
    values = pd.Categorical.from_codes(position[codes], categories=categories)
    return values.remove_categories([text for text in categories if text in na_values])


def decoded(path):
    """Return the text of a file without blank lines at its end."""
    try:
        with located(file=path):
            content = content_of(path)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(error, path.suffix, file=path) from None
    if b"\0" in content:
        raise InputError("must be UTF-8 text; it is binary, or text in UTF-16", file=path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"must be UTF-8 text, got the byte 0x{content[error.start]:02x}"
        raise InputError(message, file=path, line=line, remedy="save the file as UTF-8") from None
    if not text.strip():
        raise InputError("must have a header line and rows; it is empty", file=path)
    return text.rstrip("\r\n") + "\n"


def _scan(text, separator):
    """Return the header and the number of rows; raise for errors that a parser would ignore."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(lines)]
        _check_header(header, separator)
        n_rows = 0
        for fields in lines:
            n_rows += 1
            if len(fields) != len(header) and (fields or len(header) > 1):
                message = (
                    f"must have as many fields as the header ({len(header)}), got {len(fields)!r}"
                )
                raise InputError(message, line=lines.line_num)
    except csv.Error as error:
        raise _unreadable(error, "CSV", line=lines.line_num) from None
    if not n_rows:
        raise InputError("must have rows below its header; it has none")
    return header, n_rows


def _check_header(header, separator):
    others = [mark for mark in (";", "\t", ",", "|") if mark != separator and mark in header[0]]
    if len(header) == 1 and others:
        message = (
            f"must be separated by {separator!r}, as its extension says; its header `{header[0]}` "
            f"looks separated by {others[0]!r}"
        )
        raise InputError(message)
    if "" in header:
        message = f"must name all its columns; column {header.index('') + 1} has no name"
        remedy = "row names are left out by `row.names = FALSE` in R and `index=False` in pandas"
        raise InputError(message, remedy=remedy)
    column_names(pd.DataFrame(columns=header))


def _unreadable(error, kind, **place):
    """Return the error for a file that a library cannot read, with its message."""
    reason = " ".join(str(error).split())
    return InputError(f"cannot be read as {kind} ({reason.rstrip('.')})", **place)


def _one_task_each(tables):
    parts, origin = {}, {}
    for path, table in tables.items():
        name = path.name[: len(path.name) - len(_extension(path))]
        if not name.isprintable():
            message = "names its task with characters that cannot be printed"
            raise InputError(message, file=ascii(str(path))[1:-1], remedy="rename the file")
        if name in parts:
            message = (
                f"must give different task names, got `{origin[name]}` and "
                f"`{path}`, both of task `{name}`"
            )
            raise InputError(message, argument="paths", remedy="rename one")
        parts[name], origin[name] = table, path
    return {name: parts[name] for name in sorted(parts)}


def _join(tables, column):
    """Split every file by the task column and join the rows of each task."""
    parts = {}
    for path, table in tables.items():
        if column not in list(table.columns):
            message = f"must be one of the columns {listed(table.columns)}, got {column!r}"
            raise InputError(message, argument="task_column", file=path)
        with located(file=path):
            tables = split(table, column)
        for name, part in tables.items():
            parts.setdefault(name, []).append((path, part))
    return {name: _stack(name, parts[name]) for name in sorted(parts)}


def _stack(name, pieces):
    """Join the rows of one task from (path, table) pairs."""
    (first_path, first), *others = pieces
    for path, table in others:
        differing = sorted(set(map(str, table.columns)) ^ set(map(str, first.columns)))
        if differing:
            message = (
                f"must have the same columns in all files; {listed(differing)} occurs in only one "
                f"of `{first_path}` and `{path}`"
            )
            raise InputError(message, task=name)
    if not others:
        return first.reset_index(drop=True)
    columns = {column: [table[column] for _, table in pieces] for column in first.columns}
    return pd.DataFrame(
        {
            column: union_categoricals(values)
            if all(isinstance(column.dtype, pd.CategoricalDtype) for column in values)
            else pd.concat(values, ignore_index=True)
            for column, values in columns.items()
        }
    )


def _infer_types(parts, as_text=()):
    """Convert the text columns of all tasks to integers, floats or strings, consistently."""
    texts = {}
    for table in parts.values():
        for column in table.columns:
            texts.setdefault(column, set()).update(table[column].array.categories)
    kinds = {c: "text" if c in as_text else _kind(parts) for c, parts in texts.items()}
    return {
        name: pd.DataFrame({c: _converted(table[c].array, kinds[c]) for c in table.columns})
        for name, table in parts.items()
    }


def _kind(texts):
    whole = [text for text in texts if _INTEGER.fullmatch(text)]
    if any(len(text.lstrip("-")) > _LONGEST_INTEGER for text in whole):
        return "text"
    if texts and len(whole) == len(texts):
        return "integer"
    return "float" if all(_FLOAT.fullmatch(text) for text in texts) else "text"


def _converted(values, kind):
    """Return categories of text as an array of the given kind, keeping missing values."""
    missing = values.codes < 0
    if kind == "text":
        texts = np.array([*values.categories, None], dtype=object)
        return pd.Series(texts[values.codes]).infer_objects()
    number = int if kind == "integer" else float
    numbers = np.array([*map(number, values.categories), 0], dtype=number)[values.codes]
    if kind == "integer":
        return pd.arrays.IntegerArray(numbers, missing) if missing.any() else numbers
    return np.where(missing, np.nan, numbers)
