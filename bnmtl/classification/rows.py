"""Rows of classifiers: numbers as bins, the target of a fit, names and codes in predictions."""

from numbers import Real

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from bnmtl.errors import InputError, InputTypeError, check_choice, check_whole, located, warn
from bnmtl.learners.base import Learner
from bnmtl.networks.tables import code_frame, column_labels, named_column
from bnmtl.seeding import seed_of, with_seed
from bnmtl.tasks import Edges
from bnmtl.tasks.columns import MAX_STATES, numeric_values, read_column
from bnmtl.tasks.discretization import cut_points, numbers_by_column
from bnmtl.tasks.encoding import column_of, encode_frames
from bnmtl.tasks.labels import read_labels
from bnmtl.tasks.tables import plain_table
from bnmtl.wording import count, listed, type_of

# Whole numbers with at most this many values are states.
_FEW = 10
DEFAULT_TARGET = "target"
# Rows in memory that weights can stand for.
_MOST_ROWS = 10_000_000
_AS_STATE = "give a `learner` with `missing='state'`"
_MISSING_OPTION = ("learner", "missing")


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
    cuts = {}
    for name, values in numbers_by_column(frames).items():
        is_whole = (values == np.floor(values)).all()
        if not is_whole or len(np.unique(values)) > max(bins, _FEW):
            # Coinciding cut points are not a mistake: cells are drawn within the bins there are.
            cuts[name] = _without_empty_bins(cut_points(name, values, bins), values)
    return Edges(cuts)


def _without_empty_bins(cuts, values):
    """Cut points without those that only separate a bin without cells."""
    counts = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1)
    # Each kept cut point has cells below it, and in the bin above it.
    return np.array(cuts)[(counts[1:] > 0) & (np.cumsum(counts)[:-1] > 0)]


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
    """The rows of a fit: features with their names as text, and the classes of the target.

    Sets ``edges_``, ``feature_names_`` and what `accepted` sets.

    Returns
    -------
    features : DataFrame
        Columns of many numbers have bins.
    target : str
    classes, labels, codes
        As from `target_classes`.
    """
    check_parameters(classifier.unseen, classifier.learner, classifier.bins)
    with located(argument="X"):
        if y is None:
            features, target, values = target_column(X, classifier.target)
        else:
            features, target, values = with_target(X, y, classifier.target)
    features, values = accepted(classifier, X, features, values, sample_weight)
    with located(argument="X"):
        classifier.edges_ = number_edges({"task1": features}, int(classifier.bins))
        features = classifier.edges_.apply(features)
        check_features(features, classifier.learner)
    classifier.feature_names_ = tuple(map(str, features))
    with located(**({"column": target} if y is None else {"argument": "y"})):
        classes = target_classes(values)
    return features.set_axis(classifier.feature_names_, axis=1), target, *classes


def accepted(classifier, X, features, values, sample_weight):
    """The rows of a fit, each as often as its weight says.

    Sets ``by_name_``, ``n_features_in_`` and, for frames with names, ``feature_names_in_``, as
    scikit-learn does.

    Parameters
    ----------
    classifier : estimator
    X : DataFrame or array-like
        As given.
    features : DataFrame
    values : Series or array
        Those of the target.
    sample_weight : array-like of whole numbers or None

    Returns
    -------
    (DataFrame, Series or array)
    """
    classifier.by_name_ = isinstance(X, pd.DataFrame)
    rows = features if classifier.by_name_ else X
    validate_data(classifier, rows, reset=True, skip_check_array=True)
    if sample_weight is None:
        return features, values
    repeated = repeated_rows(sample_weight, len(features))
    values = values.iloc[repeated] if isinstance(values, pd.Series) else values[repeated]
    return features.iloc[repeated], values


def repeated_rows(sample_weight, n_rows):
    """Positions of rows, each as often as its weight, a whole number, says."""
    place = {"argument": "sample_weight"}
    try:
        weights = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError):
        message = f"must be whole numbers, got {type_of(sample_weight)}"
        raise InputTypeError(message, **place) from None
    if weights.shape != (n_rows,):
        message = f"must be one whole number for each row, {n_rows}; its shape is {weights.shape}"
        raise InputError(message, **place)
    wrong = weights[~((weights >= 0) & (weights == np.floor(weights)) & np.isfinite(weights))]
    if len(wrong):
        message = (
            "must be whole numbers from 0 on, because a row with the weight 2 is two rows, got "
            f"{wrong[0]:g}"
        )
        raise InputError(message, **place, remedy="leave it out to count each row once")
    if not weights.any():
        raise InputError("must not all be zero, because such rows are left out", **place)
    if weights.sum() > _MOST_ROWS:
        message = f"must sum to at most {_MOST_ROWS:,}, got {weights.sum():.3g}"
        raise InputError(message, **place, remedy="divide all by a common factor")
    return np.repeat(np.arange(n_rows), weights.astype(np.intp))


def with_target(X, y, name):
    """Features as a frame, the name of a separate target and its values.

    Parameters
    ----------
    X : DataFrame or array-like
        It must not have the target.
    y : array-like
    name : str or None
        None is that of `y`, or a default.

    Returns
    -------
    (DataFrame, str, Series or array)
    """
    features = as_frame(X)
    values = y if isinstance(y, pd.Series) else read_labels(y, takes_intervals=True)
    name = getattr(y, "name", None) if name is None else name
    target = DEFAULT_TARGET if name is None else str(name)
    if target in column_labels(features):
        raise InputError(
            f"must not hold the target; it has a column `{target}` beside `y`",
            argument="X",
            options=("y", "target"),
            remedy="drop the column, or name another `target`",
        )
    if len(values) != len(features):
        message = f"must be one value for each row, {len(features)} as in `X`, got {len(values)!r}"
        raise InputError(message, argument="y", options=("X",))
    return features, target, values


def task_label(X, frame, task_column):
    """The label, in a frame of X, of the column that names the task of each row."""
    # An array has no names, so that only a position is right.
    rows = X if isinstance(X, pd.DataFrame) else frame.to_numpy()
    return frame.columns[column_of(rows, task_column)]


def target_column(frame, target):
    """Return a frame without the column of the target, its name, and the column's values."""
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
        message = f"must be a column, one of {listed(labels)}, got {target!r}"
        raise InputError(message, argument="target")
    label = labels[str(target)]
    return frame.drop(columns=label), str(target), frame[label]


def check_features(features, learner):
    """Raise unless there are rows and features to learn from."""
    if len(features) < 2:
        raise InputError(f"must have at least 2 rows, got n_samples = {len(features)}")
    missing = features.isna().to_numpy().sum(axis=0)
    if missing.any() and (learner is None or learner.missing == "error"):
        at = int(missing.argmax())
        raise InputError(
            _missing(missing[at]),
            column=features.columns[at],
            options=_MISSING_OPTION,
            remedy=f"drop those rows, or {_AS_STATE}",
        )
    if not features.shape[1]:
        raise InputError(
            f"must have columns besides the target; it has 0 feature(s) (shape={features.shape}) "
            "while a minimum of 1 is required"
        )
    for label in features:
        named_column(features[label], label)


def _missing(n_rows):
    # scikit-learn requires the first two words.
    return f"contains NaN or another missing value in {count(n_rows, 'row')}"


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
        n_dropped, of = (~used).sum(), count(len(used), "row")
        warn(f"has missing values in {n_dropped} of {of}; those are dropped", argument="X")
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
    if isinstance(X, np.ndarray):
        X = plain_table(X)
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


def named_rows(classifier, X):
    """The rows of a prediction as a frame; the columns of an array have the names of the fit."""
    if isinstance(X, pd.DataFrame) and classifier.by_name_:
        return X
    frame = as_frame(X)
    validate_data(classifier, X, reset=False, skip_check_array=True)
    return frame.set_axis(classifier.feature_names_, axis=1)


def features_of(classifier, X, needed, **place):
    """The rows of a prediction as a frame with some of the fitted columns, found by name.

    A warning names needed columns that are missing.
    """
    frame, names = named_rows(classifier, X), classifier.feature_names_
    labels = column_labels(frame)
    if not any(name in labels for name in names):
        raise InputError(f"must have at least one of the columns {listed(names)}; it has none")
    lacking = [name for name in needed if name not in labels]
    if lacking:
        warn(f"has no {listed(lacking, 'column')}; treated as missing in all rows", **place)
    return frame


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

    Raises
    ------
    TypeError, ValueError
        For a column that had numbers, and now has other values or infinite ones, and for unseen
        values if they are errors.
    """
    labels = column_labels(frame)
    frame = frame if rows is None else frame.iloc[rows]
    # Row labels may be repeated, as in bootstraps, so use positions.
    lacking = pd.Series(None, index=range(len(frame)), dtype=object)
    columns = {v: frame[labels[v]].array if v in labels else lacking.array for v in states}
    found = pd.DataFrame(columns, index=lacking.index)
    for name in states:
        if name not in edges:
            continue
        values = numeric_values(found[name])
        if values is None:
            given = next(cell for cell in found[name] if not isinstance(cell, Real))
            message = f"must hold finite numbers, as in the fit, got {given!r}"
            raise InputTypeError(message, column=name)
        if np.isinf(values).any():
            message = "must hold finite numbers, as in the fit; it has an infinite one"
            raise InputError(message, column=name)
    return code_frame(edges.apply(found), states, complete=False, unseen=unseen)
