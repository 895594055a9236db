"""Reliability tables: predicted probabilities and observed frequencies by bin."""

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from bnmtl.errors import InputError, check_choice, check_whole
from bnmtl.metrics.cases import checked_cases, checked_classes
from bnmtl.metrics.probabilities import bin_of_width, top_label
from bnmtl.wording import Bare


def reliability(y, p, bins=10, classes=None, by="class"):
    """Compare predicted probabilities with observed frequencies of the positive class by bin.

    Parameters
    ----------
    y : array-like of labels, shape (n,)
        0 and 1, or classes 0, 1, ..., or with `classes` some of these.
    p : array-like of probabilities, shape (n,) or (n, n_classes)
        Of class 1, or of every class, as from ``predict_proba``.
    bins : int, default=10
        Number of bins of equal width from 0 to 1, closed on the right; 0 is in the first bin.
    classes : sequence of labels, default=None
        The labels of the columns of `p`, such as ``classes_`` of a classifier; None is 0, 1, ....
    by : {"class", "confidence"}, default="class"
        For several classes: "class" compares each class with the rest, "confidence" the probability
        of the most probable class (of the last of two equally probable ones, otherwise of the
        first) with how often it is the true one.

    Returns
    -------
    pandas.DataFrame
        One row per non-empty bin: left and right (its edges), mean_prediction,
        fraction_positive, count, low and high (95 % Wilson interval of the fraction). For several
        classes by class the first column is class.

    Raises
    ------
    TypeError, ValueError
        For labels other than 0 and 1 or `classes`, probabilities out of range, different lengths, a
        number of bins below 1, an unknown `by`, and `classes` or "confidence" for probabilities of
        one class.

    References
    ----------
    DeGroot & Fienberg (1983), "The comparison and evaluation of forecasters"; Niculescu-Mizil
    (2008), section 3.3; for the confidence Guo, Pleiss, Sun & Weinberger (2017), "On calibration of
    modern neural networks", ICML.

    Examples
    --------
    >>> table = reliability([0, 1, 1, 1], [0.1, 0.15, 0.9, 1.0])
    >>> table[["left", "right", "fraction_positive", "count"]]
       left  right  fraction_positive  count
    0   0.0    0.1                0.0      1
    1   0.1    0.2                1.0      1
    2   0.8    0.9                1.0      1
    3   0.9    1.0                1.0      1
    >>> p = [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]]
    >>> table = reliability(["a", "c"], p, classes=["a", "b", "c"], by="confidence")
    >>> table[["mean_prediction", "fraction_positive"]]
       mean_prediction  fraction_positive
    0              0.7                0.0
    1              0.9                1.0
    """
    check_whole("bins", bins, 1)
    check_choice("by", by, ("class", "confidence"))
    if np.ndim(p) != 2:
        for name, given in (("classes", classes), ("by", None if by == "class" else by)):
            if given is not None:
                rule = "must be left out for probabilities of one class"
                raise InputError(name, rule, given, remedies="give {p} a column per class")
        y, p, _ = checked_cases(y, p, None)
        return _table(y, p, bins)
    names = np.arange(np.shape(p)[1]) if classes is None else _checked_names(classes, p)
    if classes is not None:
        y = _positions(y, names)
    y, p, _ = checked_classes(y, p, None)
    if by == "confidence":
        return _table(*top_label(y, p), bins)
    tables = [
        _table(y == k, p[:, k], bins).assign(**{"class": name}) for k, name in enumerate(names)
    ]
    table = pd.concat(tables, ignore_index=True)
    return table[["class", *table.columns.drop("class")]]


def _table(y, p, bins):
    """One row per non-empty bin."""
    edges = np.arange(bins + 1) / bins
    place = bin_of_width(p, bins)
    rows = []
    for at in np.unique(place):
        is_inside = place == at
        n_positive, count = int(y[is_inside].sum()), int(is_inside.sum())
        interval = binomtest(n_positive, count).proportion_ci(method="wilson")
        rows.append(
            {
                "left": edges[at],
                "right": edges[at + 1],
                "mean_prediction": p[is_inside].mean(),
                "fraction_positive": n_positive / count,
                "count": count,
                "low": interval.low,
                "high": interval.high,
            }
        )
    return pd.DataFrame(rows)


def _checked_names(classes, p):
    """The labels of the columns, one each, or an error."""
    names = classes.tolist() if isinstance(classes, np.ndarray | pd.Index) else list(classes)
    names = [one.item() if isinstance(one, np.generic) else one for one in names]
    if len(names) != np.shape(p)[1] or len(set(names)) < len(names):
        rule = "must be one label per column of {p}, {n} in all"
        raise InputError("classes", rule, Bare(str(names)), n=np.shape(p)[1])
    return names


def _positions(y, names):
    """The position of each label among the classes, or an error."""
    place = pd.Index(names, dtype=object).get_indexer(pd.Index(np.ravel(y), dtype=object))
    if (place < 0).any():
        rule, given = "must hold labels of {classes}", np.ravel(y)[place < 0].tolist()[0]
        raise InputError("y", rule, given, remedies="give `classes_` of the classifier")
    return place
