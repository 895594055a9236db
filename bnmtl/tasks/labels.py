"""Labels of cases: arrays of numbers, booleans or text, whatever container they come in."""

import numbers

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.tasks.columns import check_text
from bnmtl.wording import all_of, count, type_of

# No and yes as Python, R, SAS and SQL write them.
_NO_AND_YES = (("0", "1"), ("False", "True"), ("false", "true"), ("FALSE", "TRUE"))
_AS_TEXT = "turn labels into text, as with `astype(str)`"
_UNICODE = "must hold labels that are Unicode"
_NUMBERS, _BOOLEANS, _TEXT = "numbers", "booleans", "text"


def read_labels(y, argument="y", takes_intervals=False):
    """Return labels as an array of integers, floats, booleans or text.

    Arrays of Python objects, numpy's text of variable width, categories and nullable columns of
    pandas become what they hold, so that equal labels give equal classes from any container.

    Parameters
    ----------
    y : array-like of shape (n_cases,) or (n_cases, 1)
    argument : str or None, default="y"
        The argument's name for messages.
    takes_intervals : bool, default=False
        Whether labels may be intervals of pandas, such as those of `pandas.cut`. Networks take
        them; scikit-learn, and so the other classifiers, does not.

    Returns
    -------
    numpy.ndarray of shape (n_cases,)
        Text in arrays of objects stays there, and so do intervals.

    Raises
    ------
    InputError
        If a label is missing or infinite, a whole number has more than 64 bits, or there are none.
    InputTypeError
        For labels of several types, such as text and numbers, and of other types, such as dates,
        decimals and bytes.
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
        rule = "must be one label per case"
        found = "a classifier requires y to be passed, but the target y is None"
        raise InputError(f"{rule}; {found}", argument=argument)
    values = _as_array(y)
    if getattr(getattr(values, "dtype", None), "kind", "O") in "cmMSV" and values.size:
        _refuse_type(values.ravel()[0], argument)
    values = column_or_1d(values, warn=True)
    if values.dtype.kind in "Of":
        missing = np.flatnonzero(pd.isna(values))
        if len(missing):
            message = (
                f"contains NaN or another missing value in {count(len(missing), 'row')}; the first "
                f"is row {int(missing[0])}, counted from 0"
            )
            raise InputError(message, argument=argument, remedy="drop such rows")
    if values.dtype == object:
        values = _of_one_type(values, argument, takes_intervals)
    if values.dtype.kind in "OU":
        with located(argument=argument):
            check_text({label for label in values if isinstance(label, str)}, _UNICODE)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        given = values[~np.isfinite(values)][0].item()
        message = f"must hold finite numbers as labels, got {given!r}"
        raise InputError(message, argument=argument, remedy=_AS_TEXT)
    return values


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


def _of_one_type(values, argument, takes_intervals):
    """Objects as numbers or booleans if they are."""
    types = set(map(type, values.ravel().tolist()))
    kinds = {_kind(label_type) for label_type in types}
    if len(kinds) > 1:
        message = f"must hold labels of one type; there are {all_of(sorted(kinds))}"
        raise InputTypeError(message, argument=argument, remedy="write all as text")
    if kinds == {_BOOLEANS}:
        return values.astype(bool)
    if kinds == {_NUMBERS}:
        is_whole = all(issubclass(label_type, numbers.Integral) for label_type in types)
        return _whole(values, argument) if is_whole else values.astype(float)
    if kinds - {_TEXT} and not (takes_intervals and types <= {pd.Interval}):
        _refuse_type(values.ravel()[0], argument)
    return values


def _whole(values, argument):
    """Whole numbers as an array of integers."""
    least, most = min(values), max(values)
    signed, largest = np.iinfo(np.int64), np.iinfo(np.uint64 if least >= 0 else np.int64).max
    if least < signed.min or most > largest:
        given = int(most if most > largest else least)
        message = f"must hold whole numbers of at most 64 bits as labels, got {given!r}"
        raise InputError(message, argument=argument, remedy=_AS_TEXT)
    # By itself, numpy takes floats for labels on both sides of 2**63.
    return np.array(values.tolist(), dtype=np.int64 if most <= signed.max else np.uint64)


def _refuse_type(label, argument):
    """Raise an error that names a label and its type."""
    message = (
        f"must hold numbers, booleans or text as labels; {label!r} is of type {type_of(label)}"
    )
    if isinstance(label, complex):
        # scikit-learn's estimator checks expect these words, and a ValueError.
        message += " (Complex data not supported)"
        raise InputError(message, argument=argument, remedy=_AS_TEXT)
    raise InputTypeError(message, argument=argument, remedy=_AS_TEXT)


def _kind(label_type):
    """What labels of a type are, in words."""
    if issubclass(label_type, bool | np.bool_):
        return _BOOLEANS
    if issubclass(label_type, int | float | np.integer | np.floating):
        return _NUMBERS
    return _TEXT if issubclass(label_type, str) else label_type.__name__


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
        labels = read_labels(y)
        known = getattr(self, "classes_", None)
        if known is not None and len(labels) and _are_text(labels) != _are_text(known):
            type_of_fit = _TEXT if _are_text(known) else _NUMBERS
            message = f"must hold labels of the type of the fit, {type_of_fit}"
            raise InputTypeError(f"{message}, got {labels.tolist()[0]!r}", argument="y")
        return super().score(X, labels, sample_weight)


def _are_text(labels):
    """Whether labels are text, or objects in their place."""
    return labels.dtype.kind in "OUT"


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
    if labels.ndim != 1 or not all(isinstance(label, str) for label in labels):
        return y
    positive = positive_label(set(labels))
    return y if positive is None or not len(labels) else labels == positive
