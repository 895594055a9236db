"""Checks of the arguments of calibrated classifiers."""

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, has_fit_parameter

from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.cases import checked_cases
from bnmtl.metrics.folds import checked_groups, splits_by
from bnmtl.tasks.labels import read_labels
from bnmtl.wording import Bare, type_of


def checked_labels(X, y):
    """Labels as an array with one label per case, or an error."""
    y, n = read_labels(y), _num_samples(X)
    if len(y) != n:
        raise InputError("y", "must be one label per case, {n} as in {X}", len(y), n=n)
    check_classification_targets(y)
    return y


def checked_scores(scores, y, weights=None, is_probability=False):
    """Scores, labels 0 and 1 and weights of the cases that count, or an error."""
    names = ("y", "scores", "sample_weight")
    y, scores, weights = checked_cases(y, scores, weights, is_probability, names)
    counts = weights > 0
    return scores[counts], y[counts], weights[counts]


def checked_classes(y, rule="must hold cases of two classes or more"):
    """The classes of labels, sorted; fewer than two are an error."""
    classes = np.unique(y)
    if len(classes) < 2:
        found = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "no case"
        raise InputError("y", rule, Bare(found))
    return classes


def checked_calibration(calibration):
    """Calibration cases and their labels, or an error."""
    if not isinstance(calibration, tuple | list) or len(calibration) != 2:
        rule = "must be a pair (X, y) of calibration cases and their labels"
        raise InputTypeError("calibration", rule, type_of(calibration))
    (X,) = indexable(calibration[0])
    return X, checked_labels(X, calibration[1])


def checked_folds(cv, X, y, groups=None, task=None):
    """Pairs of training and test rows; each row is tested once, rows of a group together."""
    groups = None if groups is None else checked_groups(groups, len(y))
    folds = splits_by(cv, X, y, groups, task)
    tested = np.concatenate([np.arange(0), *(test for _, test in folds)])
    times = np.bincount(tested, minlength=len(y))
    if (times != 1).any():
        row = int((times != 1).argmax())
        rule, found = "must put every case into one test fold", "row {row} is in {times}"
        remedy = "use disjoint folds that cover all cases"
        raise InputError("cv", rule, found=found, remedies=remedy, row=row, times=times[row])
    never = np.setdiff1d(y, np.concatenate([y[train] for train, _ in folds])).tolist()
    if never:
        rule, found = "must train with every class", "{never!r} is in no training fold"
        raise InputError("cv", rule, found=found, remedies="use other folds", never=never[0])
    return folds


def check_takes_weights(estimator, weights):
    """Raise if weights are given but the classifier does not accept them."""
    if weights is not None and not has_fit_parameter(estimator, "sample_weight"):
        rule = "must be left out for {estimator!s}, whose fit does not take it"
        remedy = "to weight calibration cases only, fit it first and use {cv=prefit}"
        raise InputError("sample_weight", rule, remedies=remedy, estimator=type_of(estimator))


def check_takes_out_of_bag(estimator):
    """Raise unless members of the classifier leave cases out, which they can predict."""
    parameters = estimator.get_params(deep=False)
    remedy = "use folds"
    # Those of scikit-learn have votes if they are asked for, those of `bnmtl.trees` always.
    has_votes = "oob_score" in parameters or hasattr(type(estimator), "oob_decision_function_")
    if not has_votes or not is_classifier(estimator):
        rule = "must be a forest or bagging if {cv=oob}, because others have no out-of-bag votes"
        raise InputTypeError("estimator", rule, type_of(estimator), remedies=remedy)
    for name, needed in (("bootstrap", True), ("warm_start", False)):
        if parameters.get(name, needed) != needed:
            rule = "must have {name!s}={needed!s} if {cv=oob}, or there are no out-of-bag votes"
            details = {"name": name, "needed": needed, "remedies": (f"set {name}={needed}", remedy)}
            raise InputError("estimator", rule, parameters[name], **details)


def check_every_class(y, classes):
    """Raise unless calibration cases have exactly the classes of the estimator."""
    found = set(y.tolist())
    unknown = sorted(found.difference(classes.tolist()), key=str)
    if unknown:
        rule = "of the calibration cases must hold classes of the estimator"
        raise InputError("y", rule, unknown[0], remedies="leave such cases out")
    absent = [one for one in classes.tolist() if one not in found]
    if absent:
        rule, found = "of the calibration cases must hold every class", "it lacks {absent!r}"
        remedies = ("add such cases", "train without the class")
        raise InputError("y", rule, found=found, remedies=remedies, absent=absent[0])


def share_cases(X, other):
    """Whether two tables are the same object, share memory, or have equal row labels.

    Row labels 0 .. n - 1 are those of any table and say nothing if both tables have them. If one
    has them, the rows of equal labels must be equal, too.
    """
    tables = pd.DataFrame | pd.Series
    if isinstance(X, tables) and isinstance(other, tables):
        n_counted = _is_counted(X.index) + _is_counted(other.index)
        labels = set(X.index).intersection(other.index) if n_counted < 2 else ()
        if labels and (n_counted == 0 or _are_equal(X, other, labels)):
            return True
    pairs = zip(_columns(X), _columns(other), strict=False)
    return X is other or any(np.shares_memory(column, its) for column, its in pairs)


def _are_equal(X, other, labels):
    """Whether the first rows of some labels are equal in two tables."""
    first, second = (one[one.index.isin(labels)] for one in (X, other))
    first = first[~first.index.duplicated()]
    return first.equals(second[~second.index.duplicated()].loc[first.index])


def _is_counted(index):
    """Whether the labels are 0 .. n - 1 in any order."""
    return set(index) == set(range(len(index)))


def _columns(X):
    """The columns of tables and arrays as arrays, copied if they are not numpy arrays."""
    if isinstance(X, pd.DataFrame):
        return [X.iloc[:, at].to_numpy() for at in range(X.shape[1])]
    if isinstance(X, pd.Series):
        return [X.to_numpy()]
    if issparse(X):
        return [X.data]
    return list(X.T) if isinstance(X, np.ndarray) else []


def check_estimator(estimator):
    """Raise unless it is an object with a fit."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        rule = "must be a classifier, for example LogisticRegression(), or None"
        raise InputTypeError("estimator", rule, estimator)
