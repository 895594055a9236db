"""Input rows of classifiers: columns of any type as states, the target, names and encoding."""

import warnings
from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from bnmtl.errors import (
    InputError,
    InputTypeError,
    InputWarning,
    check_choice,
    check_whole,
    located,
    warn,
)
from bnmtl.learners.base import Learner
from bnmtl.networks.tables import code_frame, column_labels, named_column
from bnmtl.seeding import seed_of, with_seed
from bnmtl.tasks import Edges, discretize
from bnmtl.tasks.columns import MAX_STATES, numeric_values, read_column
from bnmtl.tasks.encoding import column_names, encode_frames
from bnmtl.tasks.labels import read_labels
from bnmtl.wording import count, listed, type_of

# Whole numbers with at most this many values are states.
_FEW = 10


def number_edges(frames, bins):
    """Cut points of the columns of many different numbers, shared by all tasks.

    Whole numbers of at most ``bins`` or 10 different values are states, and so is everything else.

    Parameters
    ----------
    frames : dict task -> DataFrame
    bins : int

    Returns
    -------
    Edges
    """
    found = {}
    for frame in frames.values():
        for at, name in enumerate(column_names(frame)):
            if (values := numeric_values(frame.iloc[:, at])) is not None:
                found.setdefault(name, []).append(values[~np.isnan(values)])
    cuts = {}
    for name, parts in found.items():
        values = np.concatenate(parts)
        is_whole = (values == np.floor(values)).all()
        if is_whole and len(np.unique(values)) <= max(bins, _FEW):
            continue
        with warnings.catch_warnings():
            # Coinciding cut points are not a mistake: cells are drawn within the bins there are.
            warnings.simplefilter("ignore", InputWarning)
            # Whole numbers would be states; halves are discretized at the same places.
            column = pd.DataFrame({name: values + 0.5 if is_whole else values})
            _, edges = discretize(column, bins, return_edges=True)
        if name in edges:
            shift = 0.5 if is_whole else 0.0
            cuts[name] = _without_empty_bins(edges[name] - shift, values)
    return Edges(cuts)


def _without_empty_bins(cuts, values):
    """Cut points without those that only separate a bin without cells."""
    counts = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1)
    # Each kept cut point has cells below it, and in the bin above it.
    return cuts[(counts[1:] > 0) & (np.cumsum(counts)[:-1] > 0)]


def checked_edges(edges):
    """Given cut points, or none; raise for other objects."""
    if edges is not None and not isinstance(edges, Edges):
        message = f"must be Edges, got {type_of(edges)}"
        raise InputTypeError(
            message, argument="edges", remedy="`bnmtl.tasks.discretize` returns them"
        )
    return Edges({}) if edges is None else edges


def cut_rows(frame, edges):
    """Rows of a prediction with bins as states.

    Parameters
    ----------
    frame : DataFrame
        With any of the columns.
    edges : Edges

    Returns
    -------
    DataFrame

    Raises
    ------
    TypeError, ValueError
        For a column that had numbers, and now has other values or infinite ones.
    """
    for at, name in enumerate(column_names(frame)):
        if name not in edges:
            continue
        column = frame.iloc[:, at]
        values = numeric_values(column)
        if values is None:
            given = next(one for one in column if not isinstance(one, Real))
            raise InputTypeError(
                f"must hold finite numbers, as in the fit, got {given!r}", column=name
            )
        if np.isinf(values).any():
            raise InputError(
                "must hold finite numbers, as in the fit; it has an infinite one", column=name
            )
    return edges.apply(frame)


class ColumnStates:
    """How columns become states from which cells are drawn again: only those that were observed.

    Parameters
    ----------
    frames : dict task -> DataFrame
    bins : int
        As in `number_edges`.

    Attributes
    ----------
    discrete : dict task -> DataFrame
        The frames with observed states only.
    """

    def __init__(self, frames, bins):
        self._edges = number_edges(frames, bins)
        self.discrete = self.of(frames)

    def of(self, frames):
        """Other frames with the same columns as states."""
        cut = {task: frame.copy() for task, frame in frames.items()}
        for frame in cut.values():
            for at in range(frame.shape[1]):
                column = frame.iloc[:, at]
                if isinstance(column.dtype, pd.CategoricalDtype):
                    frame.isetitem(at, column.cat.remove_unused_categories())
        return self._edges.apply(cut)

    def is_binned(self, name):
        """Whether a column of numbers has bins."""
        return name in self._edges


class CellPool(NamedTuple):
    """The observed cells of a column, and where each task draws those of a state.

    Parameters
    ----------
    cells : pandas.Series
        Of all tasks.
    rows : dict task -> dict state -> numpy.ndarray of int
        Positions in ``cells``: of the task or, if it has none, of the other tasks.
    """

    cells: pd.Series
    rows: dict

    @classmethod
    def of(cls, name, frames, encoded):
        """The cells of one column, from frames by task and the same rows as codes."""
        tasks = [task for task in frames if name in encoded[task].index]
        cells = [frames[task].iloc[:, column_names(frames[task]).index(name)] for task in tasks]
        codes = [encoded[task].codes[encoded[task].index[name]] for task in tasks]
        task_of = np.repeat(np.arange(len(tasks)), [len(part) for part in codes])
        together, rows = np.concatenate(codes), {}
        for number, task in enumerate(tasks):
            rows[task] = {}
            for code, state in enumerate(encoded.states[name]):
                has_state = together == code
                in_task = has_state & (task_of == number)
                rows[task][state] = np.flatnonzero(in_task if in_task.any() else has_state)
        return cls(_together(cells), rows)

    def drawn(self, task, states, uniform):
        """A cell for each drawn state, chosen by a number from 0 to 1."""
        places = np.empty(len(states), dtype=int)
        for code, state in enumerate(states.categories):
            chosen = states.codes == code
            rows = self.rows[task].get(state, ())
            if chosen.any():
                places[chosen] = rows[(uniform[chosen] * len(rows)).astype(int)]
        return self.cells.iloc[places].reset_index(drop=True)


def _together(columns):
    """The cells of several columns; categorical ones have the categories of all."""
    if all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        categories = dict.fromkeys(value for one in columns for value in one.cat.categories)
        if any(len(one.cat.categories) < len(categories) for one in columns):
            dtype = pd.CategoricalDtype(list(categories))
            columns = [column.astype(dtype) for column in columns]
    return pd.concat(columns)


DEFAULT_TARGET = "target"
# Rows in memory that weights can stand for.
_MOST_ROWS = 10_000_000
_AS_STATE = "give a `learner` with `missing='state'`"
_MISSING_OPTION = ("learner", "missing")


def check_parameters(unseen, learner, bins=2):
    """Raise for parameters of a classifier that are out of range."""
    check_choice("unseen", unseen, ("error", "ignore"))
    check_whole("bins", bins, 2, MAX_STATES)
    if learner is not None and not isinstance(learner, Learner):
        message = f"must be one of the learners of bnmtl.learners or None, got {learner!r}"
        raise InputTypeError(message, argument="learner", remedy="for example SingleTaskLearner()")


def new_learner(given, default, random_state):
    """A learner to be fitted: a given one or the default, with a seed if there is one."""
    template = default if given is None else given
    return clone(template) if random_state is None else with_seed(template, seed_of(random_state))


def labelled(classifier, X, y, sample_weight):
    """Return the features of a fit as a frame of states, the name of the target and its values.

    A row with the weight 2 occurs twice. Sets ``edges_``, ``n_features_in_`` and, for frames with
    names, ``feature_names_in_``, as scikit-learn does.

    Returns
    -------
    (DataFrame, str, array-like)
    """
    target = classifier.target
    with located(argument="X"):
        if y is None:
            features, values = target_column(X, target)
        else:
            features, values = as_frame(X), labels_of(y)
            target = target_name(target, y, features)
            if len(values) != len(features):
                message = (
                    f"must be one value for each row, {len(features)} as in `X`, "
                    f"got {len(values)!r}"
                )
                raise InputError(message, argument="y", options=("X",))
    rows = features if isinstance(X, pd.DataFrame) else X
    validate_data(classifier, rows, reset=True, skip_check_array=True)
    if sample_weight is not None:
        repeated = repeated_rows(sample_weight, len(features))
        features = features.iloc[repeated]
        values = values.iloc[repeated] if isinstance(values, pd.Series) else values[repeated]
    with located(argument="X"):
        classifier.edges_ = number_edges({"task1": features}, int(classifier.bins))
        features = classifier.edges_.apply(features)
        check_features(features, classifier.learner)
    return features, str(target), values


def repeated_rows(sample_weight, n_rows, **place):
    """Positions of rows, each as often as its weight says.

    Parameters
    ----------
    sample_weight : array-like of whole numbers, shape (n_rows,)
    n_rows : int
    **place : dict
        Of the error, such as a task.

    Returns
    -------
    numpy.ndarray of int
    """
    with located(**place):
        try:
            weights = np.asarray(sample_weight, dtype=float)
        except (TypeError, ValueError):
            raise InputTypeError(
                f"must be whole numbers, got {type_of(sample_weight)}", argument="sample_weight"
            ) from None
        if weights.shape != (n_rows,):
            message = (
                f"must be one whole number for each row, {n_rows}; its shape is {weights.shape}"
            )
            raise InputError(message, argument="sample_weight")
        wrong = weights[~((weights >= 0) & (weights == np.floor(weights)) & np.isfinite(weights))]
        if len(wrong):
            message = (
                "must be whole numbers from 0 on, because a row with the weight 2 is two rows, got "
                f"{wrong[0]:g}"
            )
            raise InputError(
                message, argument="sample_weight", remedy="leave it out to count each row once"
            )
        if not weights.any():
            raise InputError(
                "must not all be zero, because such rows are left out", argument="sample_weight"
            )
        if weights.sum() > _MOST_ROWS:
            message = f"must sum to at most {_MOST_ROWS:,}, got {weights.sum():.3g}"
            raise InputError(
                message, argument="sample_weight", remedy="divide all by a common factor"
            )
    return np.repeat(np.arange(n_rows), weights.astype(np.intp))


def target_name(given, y, features):
    """The name of a separate target: the given one, that of `y`, or a default.

    Parameters
    ----------
    given : str or None
    y : array-like
    features : DataFrame
        They must not have it.
    """
    name = getattr(y, "name", None) if given is None else given
    target = DEFAULT_TARGET if name is None else str(name)
    if target in column_labels(features):
        message = f"must not hold the target; it has a column `{target}` beside `y`"
        raise InputError(
            message,
            argument="X",
            options=("y", "target"),
            remedy="drop the column, or name another `target`",
        )
    return target


def labels_of(y):
    """The values of a separate target."""
    return y if isinstance(y, pd.Series) else read_labels(y, takes_intervals=True)


def target_column(frame, target):
    """Return a frame without the column of the target, and the column's values."""
    if target is None:
        message = (
            "must name a column where `y` is not given; this classifier requires y to be passed, "
            "but the target y is None"
        )
        raise InputError(message, argument="target", options=("y",))
    if not isinstance(frame, pd.DataFrame):
        message = (
            f"must be a pandas DataFrame with the column `{target}` where `y` is not given, got "
            f"{type_of(frame)}"
        )
        raise InputTypeError(message, options=("y",))
    labels = column_labels(frame)
    if str(target) not in labels:
        raise InputError(
            f"must be a column, one of {listed(labels)}, got {target!r}", argument="target"
        )
    return frame.drop(columns=labels[str(target)]), frame[labels[str(target)]]


def check_features(features, learner):
    """Raise unless there are rows and features to learn from."""
    if len(features) < 2:
        raise InputError(f"must have at least 2 rows, got n_samples = {len(features)}")
    check_gaps(features, learner)
    if not features.shape[1]:
        message = (
            f"must have columns besides the target; it has 0 feature(s) (shape={features.shape}) "
            "while a minimum of 1 is required"
        )
        raise InputError(message)
    for label in features:
        named_column(features[label], label)


def _missing(n_rows):
    # scikit-learn requires the first two words.
    return f"contains NaN or another missing value in {count(n_rows, 'row')}"


def check_gaps(features, learner):
    """Raise if values are missing and the learner does not handle them."""
    missing = features.isna().to_numpy().sum(axis=0)
    if missing.any() and (learner is None or learner.missing == "error"):
        at = int(missing.argmax())
        raise InputError(
            _missing(missing[at]),
            column=features.columns[at],
            options=_MISSING_OPTION,
            remedy=f"drop those rows, or {_AS_STATE}",
        )


def used_rows(features, codes, labels, learner, smallest):
    """Mark the rows used in a fit: all, or only complete ones if the learner drops the others.

    Parameters
    ----------
    features : DataFrame, shape (n_rows, n_features)
    codes : array of int, shape (n_rows,)
        The class of each row.
    labels : list of str
        Names of the classes.
    learner : Learner
    smallest : int
        Minimum number of remaining rows in each class.

    Returns
    -------
    numpy.ndarray of bool, shape (n_rows,)
    """
    used = np.ones(len(features), dtype=bool)
    if learner.missing == "drop":
        used = features.notna().to_numpy().all(axis=1)
        left = np.bincount(codes[used], minlength=len(labels))
        if left.min() < smallest:
            message = (
                f"must have {count(smallest, 'complete row')} or more of each class; it has "
                f"{left.min()} of class `{labels[left.argmin()]}`"
            )
            remedy = f"drop columns with many missing values, or {_AS_STATE}"
            raise InputError(message, argument="X", options=_MISSING_OPTION, remedy=remedy)
    if not used.all():
        message = (
            f"has missing values in {(~used).sum()} of {count(len(used), 'row')}; those are dropped"
        )
        warn(message, argument="X")
    constant = [label for label in features if features.loc[used, label].nunique(dropna=False) < 2]
    if constant:
        message = (
            f"has only one state in {listed(constant, 'column', limit=None)}; such columns are not "
            "informative"
        )
        warn(message, argument="X")
    return used


def encoded(frames, learner):
    """Encode rows with the same columns by name, without the warnings for tasks.

    A feature that is constant in one class, or has different states there, is not a mistake.
    """
    return encode_frames(frames, "state" if learner.missing == "state" else "error")


def as_frame(X):
    """Return a frame unchanged, and an array as a frame with columns x0, x1, ..."""
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, list | tuple):
        # Otherwise numbers next to texts, and missing values, would become texts.
        X = np.array(X, dtype=object)
    array = check_array(X, dtype=None, ensure_all_finite=False)
    return pd.DataFrame(array, columns=[f"x{at}" for at in range(array.shape[1])])


def check_complete(values):
    """Raise if a value of the target is missing."""
    n_missing = int(pd.isna(values).sum())
    if n_missing:
        raise InputError(_missing(n_missing), remedy="drop those rows")


def target_classes(values):
    """Return the sorted classes of a target, their names as states, and the code of every row.

    Parameters
    ----------
    values : Series or array, shape (n_rows,)
    """
    check_complete(values)
    is_categorical = isinstance(getattr(values, "dtype", None), pd.CategoricalDtype)
    labels = read_labels(values, argument=None, takes_intervals=True)
    classes, codes = np.unique(labels, return_inverse=True)
    # Categories, such as intervals, may have types that other columns cannot have.
    column = pd.Series(pd.Categorical(classes, classes) if is_categorical else classes)
    return classes, read_column(column).labels, codes


def features_of(classifier, X, needed, **place):
    """Return the rows of a prediction as a frame with the fitted column names.

    Arrays are read by position. Columns of a frame are found by name in any order; a warning names
    needed columns that are missing.
    """
    names = classifier.feature_names_
    if not (isinstance(X, pd.DataFrame) and classifier.by_name_):
        frame = as_frame(X)
        validate_data(classifier, X, reset=False, skip_check_array=True)
        return frame.set_axis(names, axis=1)
    labels = column_labels(X)
    if not any(name in labels for name in names):
        raise InputError(f"must have at least one of the columns {listed(names)}; it has none")
    lacking = [name for name in needed if name not in labels]
    if lacking:
        warn(f"has no {listed(lacking, 'column')}; treated as missing in all rows", **place)
    return X


def coded(frame, states, unseen, edges, rows=None):
    """Return {variable: codes} of some of the rows; -1 for missing values and columns.

    Parameters
    ----------
    frame : DataFrame
    states : dict variable -> sequence of str
    unseen : {"error", "ignore"}
    edges : Edges
        Of the columns of numbers.
    rows : array of bool, default=None
        None is all rows.
    """
    labels = column_labels(frame)
    frame = frame if rows is None else frame.iloc[rows]
    # Row labels may be repeated, as in bootstraps, so use positions.
    lacking = pd.Series(None, index=range(len(frame)), dtype=object)
    columns = {v: frame[labels[v]].array if v in labels else lacking.array for v in states}
    found = pd.DataFrame(columns, index=lacking.index)
    return code_frame(cut_rows(found, edges), states, complete=False, unseen=unseen)
