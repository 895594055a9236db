"""Folds of cases in which every class occurs."""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from bnmtl.errors import InputError


def stratified_folds(argument, y, n_folds, seed, remedies):
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

    Returns
    -------
    list of (int array, int array)

    Raises
    ------
    ValueError
        If a class has only one case.
    """
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        rule, found = "must have two cases of each class or more for folds", "a class has one"
        raise InputError(argument, rule, found=found, remedies=remedies)
    folds = StratifiedKFold(min(n_folds, smallest), shuffle=True, random_state=seed % 2**32)
    return list(folds.split(y, y))
