"""Rows as classifiers are given them: the target told apart, features named and coded."""

import numbers

import numpy as np
import pandas as pd
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d, validate_data

from bnmtl.learners.base import Learner
from bnmtl.networks.tables import code_frame, column_labels
from bnmtl.tasks.columns import read_column
from bnmtl.tasks.encoding import encode_frames
from bnmtl.wording import count, listed, type_of, warn

DEFAULT_TARGET = "target"


def check_parameters(unseen, learner):
    """Raise for parameters of a classifier that are out of range."""
    if unseen not in ("error", "ignore"):
        raise ValueError(f'`unseen` must be "error" or "ignore", got {unseen!r}.')
    if learner is not None and not isinstance(learner, Learner):
        raise TypeError(
            f"`learner` must be one of the learners of bnmtl.learners or None, got {learner!r}; "
            "for example SingleTaskLearner()."
        )


def labelled(classifier, X, y):
    """Return the features of a fit as a frame, the name of the target and its values.

    Sets ``n_features_in_`` and, for frames with names, ``feature_names_in_`` of the classifier.
    """
    target = classifier.target
    if y is None:
        features, values = target_column(X, target, "`X`")
    else:
        features, values = as_frame(X), _labels(y)
        if target is None:
            name = getattr(y, "name", None)
            target = DEFAULT_TARGET if name is None else name
        target = str(target)
        if target in column_labels(features, "`X`"):
            raise ValueError(
                f"`X` must not hold the target, got a column `{target}` and `y` besides; drop the "
                "column or name another `target`."
            )
        if len(values) != len(features):
            raise ValueError(
                f"`y` must be one value a row, {len(features)} as in `X`; got {len(values)}."
            )
    check_features(features, classifier.learner)
    classifier._has_names = isinstance(X, pd.DataFrame)
    rows = features if classifier._has_names else X
    validate_data(classifier, rows, reset=True, skip_check_array=True)
    return features, str(target), values


def _labels(y):
    """A target given by itself: what is missing in a list must not become a text."""
    if isinstance(y, list | tuple):
        check_complete(pd.Series(y, dtype=object), "`y`")
    return y if isinstance(y, pd.Series) else column_or_1d(y, warn=True)


def target_column(frame, target, where):
    """Return a frame without the column of the target, and the column's values."""
    if target is None:
        raise ValueError(
            "This classifier requires y to be passed, but the target y is None; or name the column "
            "of the frame that is predicted: `target`='...'."
        )
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"{where} must be a pandas DataFrame with the column `{target}` where no y is given, "
            f"got {type_of(frame)}."
        )
    labels = column_labels(frame, where)
    if str(target) not in labels:
        raise ValueError(
            f"`target` must be a column of {where}, got {target!r}; the columns are "
            f"{listed(labels)}."
        )
    return frame.drop(columns=labels[str(target)]), frame[labels[str(target)]]


def check_features(features, learner):
    """Raise unless there is something to learn from."""
    if len(features) < 2:
        raise ValueError(f"`X` must have at least 2 rows, got n_samples = {len(features)}.")
    check_gaps(features, learner, "`X`")
    if not features.shape[1]:
        raise ValueError(
            f"0 feature(s) (shape={features.shape}) while a minimum of 1 is required; give at "
            "least one column besides the target."
        )
    for label in features:
        read_column(features[label], f"`X`: column `{label}`")


def check_gaps(features, learner, where):
    """Raise where values are missing and the learner does not say what becomes of them."""
    missing = features.isna().to_numpy().sum(axis=0)
    if missing.any() and (learner is None or learner.missing == "error"):
        at = int(missing.argmax())
        raise ValueError(
            f"{where} contains NaN or another missing value, for example {missing[at]} in column "
            f"`{features.columns[at]}`; drop those rows, or give a `learner` with missing='state'."
        )


def used_rows(features, codes, labels, learner, smallest):
    """Say which rows a fit uses: all, or those without gaps where the learner drops the others.

    Parameters
    ----------
    features : DataFrame, shape (n_rows, n_features)
    codes : array of int, shape (n_rows,)
        The class of each row.
    labels : list of str
        Of the classes.
    learner : Learner
    smallest : int
        How many rows of each class must be left.

    Returns
    -------
    numpy.ndarray of bool, shape (n_rows,)
    """
    used = np.ones(len(features), dtype=bool)
    if learner.missing == "drop":
        used = features.notna().to_numpy().all(axis=1)
        left = np.bincount(codes[used], minlength=len(labels))
        if left.min() < smallest:
            raise ValueError(
                f"`X` must have {count(smallest, 'complete row')} or more of each class; it has "
                f"{left.min()} of class `{labels[left.argmin()]}`: leave out columns that are "
                "seldom known, or give a `learner` with missing='state'."
            )
    if not used.all():
        warn(f"`X`: {(~used).sum()} of {count(len(used), 'row')} have gaps and are dropped.")
    constant = [label for label in features if features.loc[used, label].nunique(dropna=False) < 2]
    if constant:
        warn(
            f"`X`: only one state is observed in {listed(constant, 'column', limit=None)}; nothing "
            "can be learned from that."
        )
    return used


def encoded(frames, learner):
    """Encode rows of the same columns by name, without what tasks would be warned of.

    A feature that is constant in one class, or has other states there, is no mistake of names.
    """
    return encode_frames(frames, "state" if learner.missing == "state" else "error")


def as_frame(X):
    """Return a frame as it is, and an array as one whose columns are named x0, x1, ..."""
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, list | tuple):
        # Else numbers beside texts, and what is missing, would become texts.
        X = np.array(X, dtype=object)
    array = check_array(X, dtype=None, ensure_all_finite=False)
    return pd.DataFrame(array, columns=[f"x{at}" for at in range(array.shape[1])])


def check_complete(values, where):
    """Raise where a value of the target is missing."""
    n_missing = int(pd.isna(values).sum())
    if n_missing:
        raise ValueError(
            f"{where} contains NaN or another missing value in {count(n_missing, 'row')}; drop "
            "those rows."
        )


def target_classes(values, where):
    """Return the sorted classes of a target, their names as states, and the code of every row.

    Parameters
    ----------
    values : Series or array, shape (n_rows,)
    where : str
        Beginning of error messages, such as "`y`".
    """
    check_complete(values, where)
    if hasattr(getattr(values, "dtype", None), "numpy_dtype"):
        values = values.to_numpy(dtype=values.dtype.numpy_dtype)  # pandas' own numbers and booleans
    is_categorical = isinstance(getattr(values, "dtype", None), pd.CategoricalDtype)
    values = np.asarray(values)
    if values.dtype == object and len(set(map(_family, set(map(type, values.tolist()))))) > 1:
        raise TypeError(f"{where} must hold values of one type, got several; write all as text.")
    classes, codes = np.unique(values, return_inverse=True)
    # Categories, such as intervals, may be what no other column holds.
    column = pd.Series(pd.Categorical(classes, classes) if is_categorical else classes)
    return classes, read_column(column, where).labels, codes


def _family(kind):
    """The type itself, but that all numbers are one, and booleans none of them."""
    is_number = issubclass(kind, numbers.Real) and not issubclass(kind, bool)
    return numbers.Real if is_number else kind


def features_of(classifier, X, needed, where="`X`"):
    """Return the rows of a prediction as a frame whose columns are the fitted names.

    Arrays go by position. Columns of a frame are found by name wherever they stand; where some that
    are needed are not there, a warning says so.
    """
    names = classifier.feature_names_
    if not (isinstance(X, pd.DataFrame) and classifier._has_names):
        frame = as_frame(X)
        validate_data(classifier, X, reset=False, skip_check_array=True)
        return frame.set_axis(names, axis=1)
    labels = column_labels(X, where)
    if not any(name in labels for name in names):
        raise ValueError(
            f"{where} must have columns among the features of the fit, {listed(names)}; it has "
            "none of them."
        )
    lacking = [name for name in needed if name not in labels]
    if lacking:
        warn(
            f"{where} has no {listed(lacking, 'column')}; in all rows "
            f"{'they are' if lacking[1:] else 'it is'} taken as missing."
        )
    return X


def coded(frame, states, unseen, rows=None, where="`X`"):
    """Return {variable: codes} of some of the rows, -1 = missing, as are columns that lack."""
    labels = column_labels(frame, where)
    frame = frame if rows is None else frame.iloc[rows]
    # Labels of rows may occur several times, as in bootstraps: they go by position.
    lacking = pd.Series(None, index=range(len(frame)), dtype=object)
    columns = {v: frame[labels[v]].array if v in labels else lacking.array for v in states}
    found = pd.DataFrame(columns, index=lacking.index)
    return code_frame(found, states, complete=False, unseen=unseen, where=where)
