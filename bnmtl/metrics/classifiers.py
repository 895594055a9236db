"""What fitted classifiers say of all classes, also those that they have not seen."""

import numpy as np


def probabilities_of(model, rows, classes, **options):
    """Probabilities of all classes by a classifier that may not know some of them.

    Parameters
    ----------
    model : fitted classifier
    rows : array-like of shape (n_cases, n_columns)
    classes : array of shape (n_classes,)
        Sorted.
    **options : dict
        Of its ``predict_proba``.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases, n_classes)
    """
    p = np.asarray(model.predict_proba(rows, **options), dtype=float)
    if p.shape[1] == len(classes):
        return p
    found = np.zeros((len(p), len(classes)))
    found[:, np.searchsorted(classes, model.classes_)] = p
    return found
