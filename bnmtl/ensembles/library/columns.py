"""Feature columns of a library: rows as one matrix of numbers, and the forms that families need."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bnmtl.classification.columns import is_number
from bnmtl.classification.rows import as_frame, task_label
from bnmtl.errors import InputError, located
from bnmtl.tasks import discretize
from bnmtl.tasks.encoding import columns_by_name, tasks_of
from bnmtl.wording import listed

NUMBERS, CODES, SCALED, BINS, FRAME = "numbers", "codes", "scaled", "bins", "frame"


@dataclass(frozen=True)
class Columns:
    """Names of the columns, sorted, and the categories of nominal ones (None: numeric).

    A matrix of rows has one column of floats each: numbers, or positions in the categories. Missing
    cells are NaN, and so are categories that were not known; but each row has a known task.

    Attributes
    ----------
    categories : dict of str to tuple of str or None
    task : str or None
        The column that names the task of each row; its categories are the tasks.
    """

    categories: dict
    task: str | None = None

    @classmethod
    def of(cls, X, task_column=None):
        """The columns of features: those of numbers are numeric, all others nominal."""
        frame = as_frame(X)
        with located(argument="X"):
            columns = columns_by_name(frame)
        found = {name: _categories(series) for name, series in sorted(columns.items())}
        if task_column is None:
            return cls(found)
        task = str(task_label(X, frame, task_column))
        tasks = tuple(sorted(set(tasks_of(frame, task))))
        return cls({**found, task: tasks}, task)

    def matrix(self, X, argument="X"):
        """Rows of these columns, found by name in a frame, as floats.

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, n_columns)
        """
        frame = as_frame(X)
        labels = [str(label) for label in frame]
        places = {label: at for at, label in enumerate(labels)}
        for name in self.categories:
            if labels.count(name) > 1:
                raise InputError(
                    f"must have different columns; `{name}` occurs twice", argument=argument
                )
            if name not in places:
                message = f"must have all columns of the training rows; `{name}` is missing"
                raise InputError(message, argument=argument)
        columns = [
            _numbers(name, frame.iloc[:, places[name]], known, argument)
            if name != self.task
            else self._numbers_of_tasks(
                frame.iloc[:, [places[name]]].set_axis([name], axis=1), argument
            )
            for name, known in self.categories.items()
        ]
        return np.column_stack(columns)

    def _numbers_of_tasks(self, frame, argument):
        """Positions of the tasks of rows, each of which must be known."""
        known = {name: float(at) for at, name in enumerate(self.categories[self.task])}
        with located(argument=argument):
            tasks = tasks_of(frame, self.task)
        unknown = sorted(set(tasks) - set(known))
        if unknown:
            message = (
                "must be one of the tasks of the training rows, "
                f"{listed(known)}, got {unknown[0]!r}"
            )
            raise InputError(message, argument=argument, column=self.task)
        return np.array([known[name] for name in tasks])

    def tasks_in(self, matrix):
        """The task of each row of a matrix, as an array of text; None without tasks."""
        if self.task is None:
            return None
        codes = matrix[:, list(self.categories).index(self.task)].astype(int)
        return np.array(self.categories[self.task])[codes]

    @property
    def sizes(self):
        """Number of categories of each column; 0 if it is numeric."""
        known = self.categories.values()
        return np.array([0 if one is None else len(one) for one in known])

    @property
    def n_numbers(self):
        """Number of columns with one for each category of the nominal ones."""
        return int(np.where(self.sizes > 0, self.sizes, 1).sum())


def _categories(column):
    """Categories of a nominal column as text, in their order or sorted; None for numbers."""
    if is_number(column.dtype):
        return None
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = tuple(dict.fromkeys(map(str, column.cat.categories)))
        return labels if column.cat.ordered else tuple(sorted(labels))
    present = column.dropna()
    kinds = set(map(type, present))
    are_numbers = all(issubclass(kind, int | float | np.number) for kind in kinds)
    if kinds and are_numbers and bool not in kinds:
        return None
    return tuple(sorted(set(map(str, present.unique()))))


def _numbers(name, column, known, argument):
    """A column as floats, with NaN for missing cells and unknown categories."""
    if known is not None:
        places = {label: float(at) for at, label in enumerate(known)}
        # As objects, because dates in an array, and whole numbers beside gaps, have other texts.
        numbers = [places.get(_text(value, places), np.nan) for value in column.astype(object)]
        return np.where(column.isna(), np.nan, np.array(numbers, float))  # "None" may be a category
    try:
        numbers = pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(
            "must be numbers, as in the training rows", argument=argument, column=name
        ) from None
    if np.isinf(numbers).any():
        raise InputError("must be finite", argument=argument, column=name)
    return numbers


def _text(value, known):
    """A cell as one of the known texts, if it can be."""
    if isinstance(value, float) and value.is_integer() and str(value) not in known:
        return str(int(value))
    return str(value)


def preparation(form, columns, takes_missing=False):
    """A transformer from matrices of rows to what a family needs.

    Parameters
    ----------
    form : str
        "numbers": a column of 0 and 1 for each category. "codes": the matrix itself. "scaled":
        numbers with mean 0 and standard deviation 1. "bins K": a frame of categories, with K bins
        for each numeric column. "frame": a frame of floats and categories with missing cells.
    columns : Columns
    takes_missing : bool, default=False
        Whether missing cells remain; otherwise they become the median or the most frequent category
        of the training rows.
    """
    if form == FRAME:
        return AsFrame(columns)
    if form.startswith(BINS):
        return Bins(tuple(columns.categories.items()), int(form.removeprefix(BINS)))
    sizes, numeric, codes = columns.sizes, "passthrough", "passthrough"
    if not takes_missing:
        numeric = SimpleImputer(strategy="median", keep_empty_features=True)
        codes = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    nominal = np.flatnonzero(sizes)
    if form != CODES:
        every = [np.arange(size, dtype=float) for size in sizes[nominal]]
        hot = OneHotEncoder(categories=every, handle_unknown="ignore", sparse_output=False)
        codes = hot if takes_missing else make_pipeline(codes, hot)
    parts = [("numeric", numeric, np.flatnonzero(sizes == 0)), ("nominal", codes, nominal)]
    transformer = ColumnTransformer([part for part in parts if len(part[2])])
    return make_pipeline(transformer, StandardScaler()) if form == SCALED else transformer


class Bins(TransformerMixin, BaseEstimator):
    """Rows as categories; bins of numbers have about equally many training rows."""

    def __init__(self, categories, bins):
        self.categories = categories
        self.bins = bins

    def fit(self, X, y=None):
        """Find the limits of the bins."""
        self.edges_ = None
        # `discretize` does not bin whole numbers, so one half is added unless they become whole.
        shifted = X + 0.5
        is_whole = np.isnan(X) | (shifted == np.rint(shifted))
        self.shifts_ = np.where(is_whole.all(axis=0), 0.0, 0.5)
        frame = self._numeric(X)
        # A column that is always missing has no limits.
        self.kept_ = [name for name in frame if frame[name].notna().any()]
        if self.kept_:
            filled = frame[self.kept_].fillna(frame[self.kept_].median())
            _, self.edges_ = discretize(filled, bins=self.bins, return_edges=True)
        return self

    def transform(self, X):
        """A frame of categories; missing cells remain missing."""
        found = {}
        if self.kept_:
            numeric = self._numeric(X)[self.kept_]
            binned = self.edges_.apply(numeric.fillna(numeric.median().fillna(0.0)))
            found = {name: binned[name].where(numeric[name].notna()) for name in self.kept_}
        for at, (name, known) in enumerate(self.categories):
            if known is not None:
                codes = np.where(np.isnan(X[:, at]), -1, X[:, at]).astype(int)
                found[name] = pd.Series(pd.Categorical.from_codes(codes, list(known)))
        return pd.DataFrame(found)

    def _numeric(self, X):
        """The numeric columns, shifted."""
        places = [at for at, (_, known) in enumerate(self.categories) if known is None]
        names = [self.categories[at][0] for at in places]
        return pd.DataFrame((X + self.shifts_)[:, places], columns=names)


class AsFrame:
    """Rows as a frame of floats and categories, for classifiers of users."""

    def __init__(self, columns):
        self.columns = columns

    def fit(self, X):
        """Nothing to learn."""
        return self

    def transform(self, X):
        """A frame with missing cells."""
        found = {}
        for at, (name, known) in enumerate(self.columns.categories.items()):
            found[name] = X[:, at]
            if known is not None:
                codes = np.where(np.isnan(X[:, at]), -1, X[:, at]).astype(int)
                found[name] = pd.Categorical.from_codes(codes, list(known))
        return pd.DataFrame(found)
