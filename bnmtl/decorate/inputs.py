"""Rows of DECORATE: which columns are nominal, and numbers for decision trees."""

import numpy as np
import pandas as pd
from sklearn.utils.validation import validate_data

from bnmtl.classification.columns import ColumnCells, is_number, read_columns
from bnmtl.errors import InputError, InputTypeError
from bnmtl.tasks.encoding import column_of
from bnmtl.tasks.tables import as_fitted, plain_table, table_of_numbers
from bnmtl.wording import listed


def read_rows(classifier, X, allow_nan, reset):
    """Rows of a fit or a prediction, as a frame or as an array of numbers.

    Sets or checks ``n_features_in_`` and ``feature_names_in_``, as scikit-learn does; the columns
    of a frame are found by name.

    Parameters
    ----------
    classifier : estimator
    X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
    allow_nan : bool
        Whether cells of an array may be missing.
    reset : bool
        Whether these are the rows of a fit.

    Returns
    -------
    pandas.DataFrame or numpy.ndarray
    """
    X = plain_table(X)
    if not isinstance(X, pd.DataFrame):
        finite = "allow-nan" if allow_nan else True
        X = table_of_numbers(X)
        return validate_data(classifier, X, reset=reset, ensure_all_finite=finite)
    if not reset:
        X = as_fitted(classifier, X)
    validate_data(classifier, X, reset=reset, skip_check_array=True)
    return X


def columns_of(X, categorical_features, task_column=None):
    """Columns of rows, numeric or nominal.

    Parameters
    ----------
    X : pandas.DataFrame or numpy.ndarray, shape (n_rows, n_columns)
    categorical_features : "from_dtype", None, mask, positions or names
        As in `DecorateClassifier`.
    task_column : str or int, default=None
        A column that is nominal in any case.

    Returns
    -------
    list of ColumnCells
    """
    columns, frame = read_columns(X, least=1), pd.DataFrame(X)
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        is_nominal = [not column.is_numeric for column in columns]
    else:
        is_nominal = _mask(categorical_features, [column.name for column in columns])
    if task_column is not None:
        is_nominal[column_of(X, task_column)] = True
    found = []
    for at, (column, nominal) in enumerate(zip(columns, is_nominal, strict=True)):
        if not nominal and not column.is_numeric:
            message = f"must name all columns that are not numeric; `{column.name}` is missing"
            remedy = "add it, or set `categorical_features='from_dtype'`"
            raise InputError(message, argument="categorical_features", remedy=remedy)
        if nominal and column.is_numeric:
            series = frame.iloc[:, at]
            codes, values = pd.factorize(series, sort=True)
            values = values.astype(series.dtype).array
            column = ColumnCells(column.name, False, codes, series.dtype, values)
        found.append(column)
    return found


def _mask(given, names):
    """Whether each column is nominal."""
    given, argument = [] if given is None else given, "categorical_features"
    if isinstance(given, str) or not np.iterable(given):
        rule = 'must be "from_dtype", None, a mask, positions or names of columns'
        raise InputTypeError(f"{rule}, got {given!r}", argument=argument)
    chosen = list(given)
    if chosen and all(isinstance(mark, bool | np.bool_) for mark in chosen):
        if len(chosen) != len(names):
            message = f"must be one mark for each column, {len(names)}, got {len(chosen)!r}"
            raise InputError(message, argument=argument)
        return chosen
    positions = {name: at for at, name in enumerate(names)} | {at: at for at in range(len(names))}
    for column in chosen:
        if not isinstance(column, str | int | np.integer) or column not in positions:
            message = f"must be columns, {listed(names)}, or their positions, got {column!r}"
            raise InputError(message, argument=argument)
    found = {positions[column] for column in chosen}
    return [at in found for at in range(len(names))]


class TreeInputs:
    """Rows as numbers for decision trees: indicators of nominal values, the last of a missing one.

    Missing numbers stay nan; a nominal value that is not known has no indicator. The columns of a
    frame are sorted by name, because trees depend on their order.

    Parameters
    ----------
    columns : list of ColumnCells
        Those of the fit.
    order : numpy.ndarray of int, default=None
        Positions of the columns by name, as `sorted_columns` returns them.
    """

    def __init__(self, columns, order=None):
        self._known = [None if column.is_numeric else _Known(column) for column in columns]
        self._order = order

    def __call__(self, X):
        """Encoded rows, float32, shape (n_rows, n_inputs)."""
        if not isinstance(X, pd.DataFrame):
            if not any(self._known):
                numbers = np.asarray(X, dtype=np.float32)
                return numbers if self._order is None else numbers[:, self._order]
            X = pd.DataFrame(X)
        columns = zip(self._known, X.items(), strict=True)
        return self.of_cells(
            _numbers("X", name, cells) if known is None else known.codes(cells)
            for known, (name, cells) in columns
        )

    def of_cells(self, columns):
        """Encoded rows from the cells of each column.

        Parameters
        ----------
        columns : iterable of numpy.ndarray, each of shape (n_rows,)
            Numbers, or positions of nominal values: -1 for missing ones, -2 for unknown ones.

        Returns
        -------
        numpy.ndarray of float32, shape (n_rows, n_inputs)
        """
        blocks = []
        for known, cells in zip(self._known, columns, strict=True):
            if known is None:
                blocks.append(cells.astype(np.float32, copy=False)[:, None])
                continue
            block = np.zeros((len(cells), known.n_values + 1), dtype=np.float32)
            block[np.arange(len(cells)), np.maximum(cells, -1)] = cells >= -1
            blocks.append(block)
        if self._order is not None:
            blocks = [blocks[at] for at in self._order]
        return np.concatenate(blocks, axis=1)


class _Known:
    """The values of a nominal column at the fit.

    Parameters
    ----------
    column : ColumnCells
    """

    def __init__(self, column):
        self._name, self._dtype = column.name, column.dtype
        values = column.dtype.categories if column.values is None else column.values
        self._values, self.n_values = pd.Index(values), len(values)
        # Text that two values share stands for the first.
        self._by_text = {text: at for at, text in reversed([*enumerate(map(str, values))])}

    def codes(self, cells):
        """Of each cell among the values; -1 for missing ones, -2 for unknown ones."""
        if isinstance(self._dtype, pd.CategoricalDtype) and cells.dtype == self._dtype:
            return cells.array.codes
        missing = cells.isna().to_numpy()
        if cells.dtype == np.float16 or getattr(cells.dtype, "kind", None) == "S":
            cells = cells.astype(object)  # pandas has no index of such cells.
        try:
            found = np.where(missing, -1, self._values.get_indexer(cells))
        except TypeError:
            message = "must hold numbers, text, booleans or categories; some cells cannot be hashed"
            raise InputTypeError(message, argument="X", column=self._name) from None
        lacking = (found < 0) & ~missing
        if lacking.any():
            # The same values may be text in one table and numbers in another.
            texts = map(str, cells[lacking])
            found[lacking] = [self._by_text.get(text, -2) for text in texts]
        return found


def check_numbers(argument, rows, columns):
    """Raise unless rows have numbers, or text of numbers, in the numeric columns of a fit.

    Parameters
    ----------
    argument : str
    rows : pandas.DataFrame or numpy.ndarray, shape (n_rows, n_columns)
    columns : list of ColumnCells
        Those of the fit.
    """
    for column, (name, cells) in zip(columns, pd.DataFrame(rows).items(), strict=True):
        if column.is_numeric and not is_number(cells.dtype):
            _numbers(argument, name, cells)


def _numbers(argument, name, cells):
    """The cells of a numeric column, float32."""
    try:
        return cells.to_numpy(dtype=np.float32, na_value=np.nan)
    except (TypeError, ValueError):
        wrong = cells[cells.notna() & pd.to_numeric(cells, errors="coerce").isna()]
        given = wrong.iloc[0] if len(wrong) else cells.dtype
        message = f"must hold numbers as in the fit, got {given!r}"
        raise InputTypeError(message, argument=argument, column=str(name)) from None
