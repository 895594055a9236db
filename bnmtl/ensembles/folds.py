"""Folds of cases in which every class occurs."""

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from bnmtl.errors import InputError


def stratified_folds(argument, y, n_folds, seed, remedies, classes=None, groups=None):
    """Positions of the other cases and of the cases of each fold.

    Parameters
    ----------
    argument : str
        What holds the cases, for the error.
    y : int array of shape (n_cases,)
        The class of each case.
    n_folds : int
        Fewer if a class has fewer cases or groups.
    seed : int
    remedies : str or sequence of str
        What to do without folds, for the error.
    classes : array of shape (n_classes,), default=None
        Their labels, for the error.
    groups : array of shape (n_cases,), default=None
        Cases of a group are in the same fold.

    Returns
    -------
    list of (int array, int array)

    Raises
    ------
    ValueError
        If a class has only one case, or there are no two folds with all classes and whole groups.
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
    options = {"shuffle": True, "random_state": seed % 2**32}
    if groups is None:
        return list(StratifiedKFold(min(n_folds, smallest), **options).split(y, y))
    for number in range(min(n_folds, smallest, len(np.unique(groups))), 1, -1):
        folds = list(StratifiedGroupKFold(number, **options).split(y, y, groups))
        if all(len(np.unique(y[fold])) == len(codes) for _, fold in folds):
            return folds
    rule, found = "must have cases of each class in two groups or more for folds", "there is none"
    raise InputError(argument, rule, found=found, remedies=remedies)
