"""Rows of a library: one matrix of numbers, labels, splits, and the forms that families need."""

import contextlib
import hashlib
import numbers
import os
from dataclasses import dataclass
from functools import lru_cache

import joblib
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import (
    GroupShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bnmtl.classification.columns import is_number
from bnmtl.classification.rows import as_frame, task_label
from bnmtl.ensembles.entries import checked_classes, checked_column, coded
from bnmtl.errors import InputError, InputTypeError, check_number, check_whole, located
from bnmtl.metrics.folds import by_class_and_task
from bnmtl.processes import temporary_folder
from bnmtl.tasks import discretize
from bnmtl.tasks.encoding import columns_by_name, tasks_of
from bnmtl.wording import count, listed, type_of

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
        for name in self.categories:
            if labels.count(name) > 1:
                message = f"must have different columns; `{name}` occurs twice"
                raise InputError(message, argument=argument)
            if name not in labels:
                message = f"must have all columns of the training rows; `{name}` is missing"
                raise InputError(message, argument=argument)
        columns = []
        for name, known in self.categories.items():
            place = labels.index(name)
            if name == self.task:
                tasks = frame.iloc[:, [place]].set_axis([name], axis=1)
                columns.append(self._numbers_of_tasks(tasks, argument))
            else:
                columns.append(_numbers(name, frame.iloc[:, place], known, argument))
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
        return np.array([len(labels or ()) for labels in self.categories.values()])

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


class Rows:
    """Checked rows of a library.

    Attributes
    ----------
    columns : Columns
        With the column that names the task of each row, if there is one.
    classes : numpy.ndarray of shape (n_classes,)
    label : str
        Name of the labels.
    X, y : arrays
        Training rows as a matrix of the columns, and labels 0, 1, ...
    hillclimb : (X, y), float, int or None
        Cases of hill climbing, or the share or number of training rows that are used for it.
    test : (X, y or None) or None
    tasks, groups : str array of shape (n_rows,) or None
    group : str or None
        Name of the groups.
    """

    def __init__(
        self, X, y, hillclimb, test, columns=None, classes=None, groups=None, task_column=None
    ):
        frame = as_frame(X)
        if not len(frame.columns):
            raise InputError("must have one column or more besides the labels", argument="X")
        self.columns = Columns.of(X, task_column) if columns is None else columns
        self.classes = checked_classes(y) if classes is None else classes
        taken = set(self.columns.categories)
        self.label = _free_name(y, "y", taken)
        self.group = None if groups is None else _free_name(groups, "group", {*taken, self.label})
        self.X, self.y = self._pair("X", frame, "y", y)
        self.tasks = self.columns.tasks_in(self.X)
        self.groups = groups
        if groups is not None:
            if _is_pair("hillclimb", hillclimb):
                message = (
                    "must be None if the rows of hill climbing are given, since nothing is divided "
                    "then"
                )
                raise InputError(message, argument="groups")
            self.groups = checked_column("groups", "hillclimb", groups, len(self.X))
        self.hillclimb = hillclimb.item() if isinstance(hillclimb, np.generic) else hillclimb
        if _is_pair("hillclimb", hillclimb):
            if hillclimb[1] is None:
                raise InputError("must have labels", argument="hillclimb")
            self.hillclimb = self._pair("hillclimb", hillclimb[0], "hillclimb", hillclimb[1])
            self._check_counts("hillclimb", 1, self.hillclimb[1])
        self.test = None
        if test is not None:
            if not _is_pair("test", test):
                message = (
                    "must be a pair of features and labels; labels may be None, "
                    f"got {type_of(test)}"
                )
                raise InputTypeError(message, argument="test")
            self.test = self._pair("test", test[0], "test", test[1])

    def _pair(self, argument, X, y_argument, y):
        """A matrix of rows and labels as 0, 1, ..., or None."""
        matrix = self.columns.matrix(X, argument)
        if y is None:
            return matrix, None
        codes = coded(y_argument, y, self.classes)
        if len(codes) != len(matrix):
            message = f"must be one label per row, {len(matrix)}, got {len(codes)!r}"
            raise InputError(message, argument=y_argument)
        return matrix, codes

    def cases(self, cv, seed):
        """The `Cases` of the fits.

        Parameters
        ----------
        cv : int or None
            Number of folds of embedded cross-validation.
        seed : int
        """
        test = None if self.test is None else self.test[0]
        state = seed % 2**32
        if cv is not None:
            folds = self._folds(cv, state)
            return Cases(self.columns, self.X, self.y, None, folds, test, self.groups)
        if isinstance(self.hillclimb, tuple):
            return Cases(self.columns, self.X, self.y, self.hillclimb, None, test)
        train, held_out = self._split(state)
        pair = self.X[held_out], self.y[held_out]
        groups = None if self.groups is None else self.groups[held_out]
        return Cases(self.columns, self.X[train], self.y[train], pair, None, test, groups)

    def most_folds(self, number):
        """A number of folds of embedded cross-validation; fewer if a class or groups are few."""
        counts = [*np.bincount(self.y)]
        counts += [] if self.groups is None else [len(np.unique(self.groups))]
        return int(np.clip(min(counts), 2, number))

    def _folds(self, cv, state):
        """The fold of each row; all classes are in each fold, and groups are whole."""
        self._check_counts("cv", 2)
        counts = np.bincount(self.y, minlength=len(self.classes))
        if counts.min() < cv:
            message = (
                f"must be at most {int(counts.min())}, the number of cases of class "
                f"{self.classes[counts.argmin()].item()!r}, got {cv!r}"
            )
            raise InputError(message, argument="cv", remedy="take fewer folds, or add cases")
        folds, options = np.empty(len(self.y), dtype=int), {"shuffle": True, "random_state": state}
        if self.groups is None and self.tasks is not None:
            folds[by_class_and_task(self.y, self.tasks, state)] = np.arange(len(folds)) % cv
            return folds
        splitter = StratifiedKFold(cv, **options)
        if self.groups is not None:
            n_groups = len(np.unique(self.groups))
            if n_groups < cv:
                message = f"must be at most the number of groups, {n_groups}, got {cv!r}"
                raise InputError(message, argument="cv")
            splitter = StratifiedGroupKFold(cv, **options)
        for fold, (_, at) in enumerate(splitter.split(self.X, self.y, self.groups)):
            folds[at] = fold
            self._check_counts("cv", 1, self.y[at])
        return folds

    def _split(self, state):
        """Training rows, and those held out for hill climbing."""
        self._check_counts("hillclimb", 2)
        n_rows, held_out = len(self.y), self.hillclimb
        if isinstance(held_out, float):
            held_out = int(np.ceil(held_out * n_rows))
        least = len(self.classes)
        if not least <= held_out <= n_rows - least:
            message = (
                f"must leave {least} rows for hill climbing, and {least} for training, got "
                f"{self.hillclimb!r}; there are {count(n_rows, 'row')}"
            )
            raise InputError(message, argument="hillclimb")
        if self.groups is None and self.tasks is not None:
            # Every so many rows, beginning in the middle of the first interval.
            places = ((np.arange(held_out) + 0.5) * n_rows / held_out).astype(int)
            held_out = by_class_and_task(self.y, self.tasks, state)[places]
            parts = np.setdiff1d(np.arange(n_rows), held_out), held_out
        elif self.groups is None:
            options = {"stratify": self.y, "random_state": state}
            parts = train_test_split(np.arange(n_rows), test_size=held_out, **options)
        else:
            if len(np.unique(self.groups)) < 2:
                raise InputError("must hold two groups or more, got 1", argument="groups")
            splitter = GroupShuffleSplit(1, test_size=held_out / n_rows, random_state=state)
            (parts,) = splitter.split(self.X, self.y, self.groups)
        for part in parts:
            self._check_counts("hillclimb", 1, self.y[part])
        return map(np.sort, parts)

    def _check_counts(self, argument, least, y=None):
        counts = np.bincount(self.y if y is None else y, minlength=len(self.classes))
        if counts.min() < least:
            each = "both classes" if len(counts) == 2 else "every class"
            message = (
                f"must leave cases of {each} in every part; class "
                f"{self.classes[counts.argmin()].item()!r} has {count(int(counts.min()), 'row')}"
            )
            raise InputError(message, argument=argument)

    def digest(self):
        """A hash of all rows and how they are read."""
        found = hashlib.blake2b(digest_size=16)
        found.update(repr((self.columns, self.classes.tolist())).encode())
        parts = [(self.X, self.y), self.test]
        parts += [self.hillclimb] if isinstance(self.hillclimb, tuple) else []
        parts += [] if self.groups is None else [(np.unique(self.groups, return_inverse=True)[1],)]
        for part in parts:
            for array in part or ():
                found.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


def _free_name(values, default, taken):
    """The name of values, or a default, with underscores while it is taken."""
    name = str(getattr(values, "name", None) or default)
    while name in taken:
        name += "_"
    return name


def _is_pair(argument, value):
    """Whether a value is a pair of features and labels."""
    if isinstance(value, tuple | list) and len(value) != 2:
        message = f"must be a pair of features and labels, got {len(value)!r}"
        raise InputTypeError(message, argument=argument)
    return isinstance(value, tuple | list)


def check_hillclimb(value, cv):
    """Raise unless a value says which cases are used for hill climbing."""
    if cv is not None:
        check_whole("cv", cv, least=2)
    if value is None:
        return
    is_rows = _is_pair("hillclimb", value)
    if cv is not None:
        given, remedy = f", got {value!r}", None
        if is_rows:
            given, remedy = "", "join the rows to the others"
        message = f"must be None with `cv`, where every row is used for hill climbing{given}"
        raise InputError(message, argument="hillclimb", options=("cv",), remedy=remedy)
    if is_rows:
        return
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        check_whole("hillclimb", value, least=2)
    else:
        check_number("hillclimb", value, above=0, below=1, remedy="or a pair of features, labels")


@dataclass(frozen=True)
class Cases:
    """The rows that all fits of a library see, as matrices of `Columns`.

    Attributes
    ----------
    columns : Columns
    X, y : arrays of shape (n, n_columns) and (n,)
        Training rows and labels 0, 1, ...; with folds also those of hill climbing.
    hillclimb : (X, y) or None
        Without folds, the cases of hill climbing.
    folds : int array of shape (n,) or None
    test : array of shape (n_test, n_columns) or None
    groups : array of shape (n_cases,) or None
        Of the cases of hill climbing.
    calibration : str
        Method of calibration.
    """

    columns: Columns
    X: np.ndarray
    y: np.ndarray
    hillclimb: tuple | None
    folds: np.ndarray | None
    test: np.ndarray | None
    groups: np.ndarray | None = None
    calibration: str = "auto"

    @property
    def hillclimb_y(self):
        """Labels of the cases of hill climbing."""
        return self.y if self.hillclimb is None else self.hillclimb[1]

    @property
    def hillclimb_tasks(self):
        """Tasks of the cases of hill climbing; None without tasks."""
        return self.columns.tasks_in(self.X if self.hillclimb is None else self.hillclimb[0])

    @property
    def shape_of_case(self):
        """The axes of a prediction of one case: none for two classes, else that of the classes."""
        n_classes = int(self.y.max()) + 1
        return () if n_classes == 2 else (n_classes,)

    @property
    def has_missing(self):
        """Whether a cell of any row is missing."""
        held_out = None if self.hillclimb is None else self.hillclimb[0]
        parts = [X for X in (self.X, held_out, self.test) if X is not None]
        return any(bool(np.isnan(X).any()) for X in parts)

    def splits(self):
        """Training rows, training labels and positions of hill-climbing cases of each sibling."""
        if self.folds is None:
            yield self.X, self.y, np.arange(len(self.hillclimb_y))
            return
        for fold in range(self.folds.max() + 1):
            out = self.folds == fold
            yield self.X[~out], self.y[~out], np.flatnonzero(out)


@contextlib.contextmanager
def saved(cases):
    """Yield the path of a temporary file of cases, which other processes read."""
    with temporary_folder() as place:
        path = os.path.join(place, "cases")
        joblib.dump(cases, path)
        yield path


@lru_cache(maxsize=1)
def read_cases(path):
    """Cases from a file, read once by a process; matrices are mapped into memory."""
    return joblib.load(path, mmap_mode="r")


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
                found[name] = pd.Series(_categorical(X[:, at], known))
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
        columns = zip(self.columns.categories.items(), X.T, strict=True)
        return pd.DataFrame(
            {name: x if known is None else _categorical(x, known) for (name, known), x in columns}
        )


def _categorical(codes, categories):
    """A column of a matrix as categories; missing cells remain missing."""
    return pd.Categorical.from_codes(
        np.where(np.isnan(codes), -1, codes).astype(int), list(categories)
    )
