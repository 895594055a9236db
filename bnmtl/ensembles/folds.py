"""Folds of cases in which every class occurs."""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from bnmtl.errors import InputError


def stratified_folds(argument, y, n_folds, seed, remedies, classes=None):
    """Positions of the other cases and of the cases of each fold.

    Parameters
    ----------
    argument : str
        What holds the cases, for the error.
    y : int array of shape (n_cases,)
        The class of each case.
    n_folds : int
        Fewer if a class has fewer cases.
    seed : int
    remedies : str or sequence of str
        What to do without folds, for the error.
    classes : array of shape (n_classes,), default=None
        Their labels, for the error.

    Returns
    -------
    list of (int array, int array)

    Raises
    ------
    ValueError
        If a class has only one case.
    """
    codes, counts = np.unique(y, return_counts=True)
    smallest = int(counts.min())
    if smallest < 2:
        rule, found = "must have two cases of each class or more for folds", "a class has one"
        details = {"remedies": remedies}
        if classes is not None:
            found = "{label!r} has one"
            details["label"] = classes.tolist()[codes[counts.argmin()]]
        raise InputError(argument, rule, found=found, **details)
    folds = StratifiedKFold(min(n_folds, smallest), shuffle=True, random_state=seed % 2**32)
    return list(folds.split(y, y))
