"""Cross-fitted calibration of scores by several methods."""

import numpy as np
from sklearn.base import clone

from bnmtl.calibration import IsotonicCalibrator, MultitaskPlattCalibrator, PlattCalibrator
from bnmtl.cli.calibrators import calibrated

METHODS = {"platt": "Platt", "isotonic": "isotonic", "platt_by_group": "Platt by group"}
_FOLDS = 10


class Calibrated:
    """Scores calibrated by all methods; for labelled cases, fitted to the other folds.

    Cases without a label are calibrated by all labelled cases. Cases are sorted by label, group and
    score before they are divided into folds, so folds do not depend on the order of the rows.

    Parameters
    ----------
    scores : float array of shape (n,)
    y : float array of shape (n,)
        1, 0, or nan for missing labels; at least two cases per class.
    groups : str array of shape (n,) or None
    ties : array of shape (n,)
        Sort key for cases that are equal in all of these.

    Attributes
    ----------
    cases : int array of shape (n_labelled,)
        The labelled cases, sorted as for the folds.
    are_probabilities : bool
        Whether all scores are from 0 to 1; Platt's method then uses their log odds.
    stages : dict of str to float array of shape (n,)
        Probabilities by title of the method; the first is "before" if scores are probabilities.
    columns : dict of str to float array of shape (n,)
        The same without "before", by name of the column to be written.
    fitted : dict
        Calibrators fitted to all labelled cases, by method.
    n_folds : int
    lowest : float
        Probabilities are clipped to [lowest, 1 - lowest]: the labelled cases are too few to
        distinguish more extreme ones from 0 or 1.
    """

    def __init__(self, scores, y, groups, ties):
        self.scores, self.y, self.groups = scores, y, groups
        self.are_probabilities = bool(((scores >= 0) & (scores <= 1)).all())
        scale = "logit" if self.are_probabilities else "raw"
        calibrators = {"platt": PlattCalibrator(scale=scale), "isotonic": IsotonicCalibrator()}
        if groups is not None:
            calibrators["platt_by_group"] = MultitaskPlattCalibrator(scale=scale)
        self.cases = rows = self._ordered(ties)
        self.lowest = 1 / (len(rows) + 2)
        folds = self._folds()
        self.n_folds = int(folds.max()) + 1
        self.fitted = {name: self._fit(clone(model), rows) for name, model in calibrators.items()}
        self.stages = {"before": scores} if self.are_probabilities else {}
        self.columns = {}
        for method, calibrator in calibrators.items():
            p = self._predict(self.fitted[method], np.arange(len(scores)))
            for fold in range(self.n_folds):
                self._fit(calibrator, rows[folds != fold])
                p[rows[folds == fold]] = self._predict(calibrator, rows[folds == fold])
            p = np.clip(p, self.lowest, 1 - self.lowest)
            self.stages[METHODS[method]] = self.columns[f"calibrated_{method}"] = p

    def labelled(self):
        """Return the labels of `cases`, and their probabilities by title of the method."""
        return self.y[self.cases], {name: p[self.cases] for name, p in self.stages.items()}

    def _ordered(self, ties):
        """Return the labelled cases, negative ones first."""
        rows = np.flatnonzero(~np.isnan(self.y))
        groups = np.zeros(len(rows)) if self.groups is None else self.groups[rows].astype(str)
        return rows[np.lexsort([ties[rows], self.scores[rows], groups, self.y[rows]])]

    def _folds(self):
        """Return the fold number of each of `cases`; folds are stratified by class."""
        n_positive = int(self.y[self.cases].sum())
        sizes = (len(self.cases) - n_positive, n_positive)
        # Numbering restarts with each class, so every fold has almost equal shares of each class.
        return np.concatenate([np.arange(size) % min(_FOLDS, *sizes) for size in sizes])

    def _fit(self, calibrator, rows):
        if isinstance(calibrator, MultitaskPlattCalibrator):
            return calibrator.fit(self.scores[rows], self.y[rows], self.groups[rows])
        return calibrator.fit(self.scores[rows], self.y[rows])

    def _predict(self, calibrator, rows):
        groups = None if self.groups is None else self.groups[rows]
        return calibrated(calibrator, self.scores[rows], groups)
