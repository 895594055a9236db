"""Reading of Parquet files: what they would unpack to is counted before."""

from bnmtl.errors import InputError, MissingExtra
from bnmtl.reading import check_text

_TEXTS = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")


def read_parquet(path, cells):
    """Return the table of a Parquet file.

    Parameters
    ----------
    path : path
    cells : bnmtl.reading.Cells
        To which those of the table are added.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InputError
        If the file is not Parquet, is damaged or too large.
    MissingExtra
        If pyarrow is not installed.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra(
            "is Parquet, which needs pyarrow", remedy="`pip install 'bnmtl[parquet]'`"
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            _check_size(file, path, cells)
            return file.read().to_pandas()
    except InputError:
        raise
    # A damaged file may raise errors of pyarrow, pandas and of each library that they use.
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise InputError(f"cannot be read as Parquet ({reason})") from None


def _check_size(file, path, cells):
    """Raise if the table has too many cells or too much text."""
    about = file.metadata
    groups = [about.row_group(at) for at in range(about.num_row_groups)]
    columns = [about.schema.column(at) for at in range(about.num_columns)]
    n_values = [[group.column(at).num_values for at in range(len(columns))] for group in groups]
    cells.add(max(sum(map(sum, n_values)), about.num_rows * len(file.schema_arrow)))
    n_bytes, texts = 0, []
    for at, column in enumerate(columns):
        name = column.path.partition(".")[0]
        if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
            n_bytes += column.length * sum(values[at] for values in n_values)
        elif column.physical_type == "BYTE_ARRAY":
            check_text(sum(group.column(at).total_uncompressed_size for group in groups))
            if not _is_dictionary(file.schema_arrow.field(name).type):
                texts.append(column.path)
    check_text(n_bytes)
    # A file has a text once that may be in any number of rows, each of which is a copy in a table.
    with type(file)(path, read_dictionary=texts) as again:
        for at in range(len(groups) if texts else 0):
            for column in again.read_row_group(at, columns=texts).columns:
                for chunk in column.chunks:
                    n_bytes += _bytes_of(chunk)
                    check_text(n_bytes)


def _is_dictionary(kind):
    from pyarrow.types import is_dictionary

    return is_dictionary(kind)


def _bytes_of(array):
    """Bytes of the texts of an array once each is a copy."""
    from pyarrow import compute, types

    if types.is_dictionary(array.type):
        lengths = compute.binary_length(array.dictionary)
        return compute.sum(lengths.cast("int64").take(array.indices)).as_py() or 0
    if types.is_struct(array.type):
        return sum(map(_bytes_of, array.flatten()))
    return _bytes_of(array.flatten()) if types.is_nested(array.type) else array.nbytes
