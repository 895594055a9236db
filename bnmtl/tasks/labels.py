"""Labels of cases: arrays of numbers, booleans or text, whatever container they come in."""

import numbers

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.wording import all_of

# No and yes as Python, R, SAS and SQL write them.
_NO_AND_YES = (("0", "1"), ("False", "True"), ("false", "true"), ("FALSE", "TRUE"))
_NUMBERS, _BOOLEANS, _TEXT = "numbers", "booleans", "text"


def read_labels(y, argument="y"):
    """Return labels as an array of integers, floats, booleans or text.

    Arrays of Python objects, numpy's text of variable width, categories and nullable columns of
    pandas become what they hold, so that equal labels give equal classes from any container.

    Parameters
    ----------
    y : array-like of shape (n_cases,) or (n_cases, 1)
    argument : str or None, default="y"
        The argument's name for messages.

    Returns
    -------
    numpy.ndarray of shape (n_cases,)
        Text in arrays of objects stays there, and so do objects that are none of these, such as
        dates and intervals.

    Raises
    ------
    InputError
        If a label is missing, or there are none.
    InputTypeError
        For labels of several types, such as text and numbers.
    ValueError
        As scikit-learn, for other shapes.

    Examples
    --------
    >>> import pandas as pd
    >>> read_labels(pd.Series([1, None, 0], dtype=object).dropna())
    array([1, 0])
    >>> read_labels(pd.Series([True, False], dtype="boolean"))
    array([ True, False])
    """
    # Only here, so that catalogues of data load fast.
    from sklearn.utils.validation import column_or_1d

    if y is None:
        found = "a classifier requires y to be passed, but the target y is None"
        raise InputError(argument, "must be one label per case", found=found)
    values = column_or_1d(_as_array(y), warn=True)
    if values.dtype.kind in "OfcmM":
        missing = np.flatnonzero(pd.isna(values))
        if len(missing):
            rule = "contains NaN or another missing value in {n:row}"
            found = "the first is row {row}, counted from 0"
            details = {"remedies": "drop such rows", "n": len(missing), "row": int(missing[0])}
            raise InputError(argument, rule, found=found, **details)
    return _of_one_type(values, argument) if values.dtype == object else values


def _as_array(y):
    """Labels as an array, of objects unless they are numbers, booleans or text in one of numpy."""
    if isinstance(y, list | tuple):
        # In any other array, numbers and gaps beside text would become text.
        return np.array(y, dtype=object)
    if isinstance(y, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(y), None, np.ma.getdata(y).astype(object))
    if isinstance(y, pd.Series | pd.Index | pd.DataFrame | pd.api.extensions.ExtensionArray):
        is_plain = isinstance(getattr(y, "dtype", None), np.dtype)
        return np.asarray(y) if is_plain else np.asarray(y, dtype=object)
    if not isinstance(y, np.ndarray):
        return _as_array(np.asarray(y)) if hasattr(y, "__array__") else y
    return y.astype(object) if y.dtype.kind == "T" else y


def _of_one_type(values, argument):
    """Objects as numbers or booleans if they are."""
    types = set(map(type, values.ravel().tolist()))
    kinds = {_kind(one) for one in types}
    if len(kinds) > 1:
        rule, remedies = "must hold labels of one type", "write all as text"
        details = {"remedies": remedies, "kinds": all_of(sorted(kinds))}
        raise InputTypeError(argument, rule, found="there are {kinds!s}", **details)
    if kinds == {_BOOLEANS}:
        return values.astype(bool)
    if kinds == {_NUMBERS}:
        is_whole = all(issubclass(one, numbers.Integral) for one in types)
        return np.array(values.tolist()) if is_whole else values.astype(float)
    return values


def _kind(one):
    """What values of a type are, in words."""
    if issubclass(one, bool | np.bool_):
        return _BOOLEANS
    if issubclass(one, int | float | np.integer | np.floating):
        return _NUMBERS
    return _TEXT if issubclass(one, str) else one.__name__


class LabelScore:
    """Mixin of classifiers that are judged by labels in any container, as `read_labels` reads."""

    def score(self, X, y, sample_weight=None):
        """Share of correct predictions.

        Parameters
        ----------
        X : array-like or DataFrame of n_cases rows
        y : array-like of labels, shape (n_cases,)
        sample_weight : array-like of numbers, shape (n_cases,), default=None

        Returns
        -------
        float
        """
        return super().score(X, read_labels(y), sample_weight)


def positive_label(found):
    """Return the label that means yes, or None if the labels do not say so.

    Parameters
    ----------
    found : set of str
        Labels: of 0 and 1, False and True, false and true, or FALSE and TRUE.

    Returns
    -------
    str or None

    Examples
    --------
    >>> positive_label({"FALSE", "TRUE"}), positive_label({"no", "yes"})
    ('TRUE', None)
    """
    return next((yes for no, yes in _NO_AND_YES if found <= {no, yes}), None)


def yes_or_no(y):
    """Return whether each label means yes; labels that do not say so as they are.

    Parameters
    ----------
    y : array-like of shape (n_cases,)

    Returns
    -------
    numpy.ndarray of bool, or `y`

    Examples
    --------
    >>> yes_or_no(["true", "false"])
    array([ True, False])
    >>> yes_or_no(["yes", "no"])
    ['yes', 'no']
    """
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return y
    labels = np.asarray(y, dtype=object)
    if labels.ndim != 1 or not all(isinstance(one, str) for one in labels):
        return y
    positive = positive_label(set(labels))
    return y if positive is None or not len(labels) else labels == positive
