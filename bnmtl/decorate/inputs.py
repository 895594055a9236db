"""Rows of DECORATE: which columns are nominal, and numbers for decision trees."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import validate_data

from bnmtl.classification.columns import Column, matched_rows, plain, read_columns
from bnmtl.errors import InputError, InputTypeError
from bnmtl.wording import type_of


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
    if not isinstance(X, pd.DataFrame):
        finite = "allow-nan" if allow_nan else True
        return validate_data(classifier, X, reset=reset, ensure_all_finite=finite)
    if not reset and hasattr(classifier, "feature_names_in_"):
        X = matched_rows("X", X, [str(name) for name in classifier.feature_names_in_])
    validate_data(classifier, X, reset=reset, skip_check_array=True)
    return X


def columns_of(X, categorical_features):
    """Columns of rows, numeric or nominal.

    Parameters
    ----------
    X : pandas.DataFrame or numpy.ndarray, shape (n_rows, n_columns)
    categorical_features : "from_dtype", None, mask, positions or names
        As in `DecorateClassifier`.

    Returns
    -------
    list of Column
    """
    columns, frame = read_columns(X, least=1), pd.DataFrame(X)
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return columns
    is_nominal = _mask(categorical_features, [column.name for column in columns])
    found = []
    for at, (column, nominal) in enumerate(zip(columns, is_nominal, strict=True)):
        if not nominal and not column.is_numeric:
            rule = "must name all columns that are not numeric"
            remedies = "add it", 'set {categorical_features="from_dtype"}'
            raise InputError(
                "categorical_features",
                rule,
                found="{name} is missing",
                remedies=remedies,
                name=column.name,
            )
        found.append(_nominal(column, frame.iloc[:, at]) if nominal else column)
    return found


def _mask(given, names):
    """Whether each column is nominal."""
    given = [] if given is None else given
    if isinstance(given, str) or not np.iterable(given):
        rule = 'must be "from_dtype", None, a mask, positions or names of columns'
        raise InputTypeError("categorical_features", rule, given)
    values = list(given)
    if values and all(isinstance(one, bool | np.bool_) for one in values):
        if len(values) != len(names):
            rule = "must be one mark for each column, {n}"
            raise InputError("categorical_features", rule, len(values), n=len(names))
        return values
    found = [_position(one, names) for one in values]
    return [at in found for at in range(len(names))]


def _position(one, names):
    if isinstance(one, str) and one in names:
        return names.index(one)
    if isinstance(one, int | np.integer) and 0 <= one < len(names):
        return int(one)
    rule = "must be columns, {names}, or their positions"
    raise InputError("categorical_features", rule, one, names=names)


def _nominal(column, series):
    """A column with its values as nominal ones."""
    if not column.is_numeric:
        return column
    codes, values = pd.factorize(series, sort=True)
    return Column(column.name, False, codes, series.dtype, values.astype(series.dtype).array)


class TreeInputs:
    """Rows as numbers for decision trees: one indicator per nominal value, missing ones included.

    Missing numbers stay nan; a nominal value that is not known has no indicator.

    Parameters
    ----------
    columns : list of Column
        Those of the fit.
    """

    def __init__(self, columns):
        self._is_numeric = [column.is_numeric for column in columns]
        nominal = [at for at, is_numeric in enumerate(self._is_numeric) if not is_numeric]
        encoder = OneHotEncoder(
            categories=[_values(columns[at]) for at in nominal],
            handle_unknown="ignore",
            sparse_output=False,
        )
        self._encode = make_column_transformer((encoder, nominal), remainder="passthrough")
        like = {
            at: np.zeros(1) if column.is_numeric else np.array(["missing"], dtype=object)
            for at, column in enumerate(columns)
        }
        self._encode.fit(pd.DataFrame(like))

    def __call__(self, X):
        """Encoded rows, float32, shape (n_rows, n_inputs)."""
        if all(self._is_numeric) and not isinstance(X, pd.DataFrame):
            return np.asarray(X, dtype=np.float32)
        return self._encode.transform(plain(pd.DataFrame(X), self._is_numeric)).astype(np.float32)


def _values(column):
    """The nominal values as `plain` writes them, and the missing one."""
    values = column.dtype.categories if column.values is None else column.values
    return np.array(["missing", *("value " + pd.Series(values).astype(str))], dtype=object)


def check_tasks(tasks, n_rows):
    """The task of each row, as text; None if none are given."""
    if tasks is None:
        return None
    found = np.asarray(tasks)
    if found.shape != (n_rows,):
        rule = "must be one task for each row, {n}"
        raise InputError("tasks", rule, type_of(tasks), n=n_rows)
    return found.astype(str)
