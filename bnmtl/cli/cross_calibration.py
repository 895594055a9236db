"""Cross-fitted calibration of scores by several methods."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold

from bnmtl.calibration import AutoCalibrator, MultitaskPlattCalibrator
from bnmtl.calibration.methods import METHODS, calibrator_of
from bnmtl.cli.calibrators import calibrated, kind_of
from bnmtl.errors import InputError
from bnmtl.wording import Bare

_TITLES = {"platt": "Platt", "platt_by_task": "Platt by task"}
DEFAULT = ("auto", "isotonic")
_FOLDS = 10


class Calibrated:
    """Scores calibrated by all methods; for labelled cases, fitted to the other folds.

    Cases without a label are calibrated by all labelled cases. Cases are sorted by label, task and
    score before they are divided into folds, so folds do not depend on the order of the rows.

    Parameters
    ----------
    scores : float array of shape (n,)
    y : float array of shape (n,)
        1, 0, or nan for missing labels; at least two cases per class.
    tasks : str array of shape (n,) or None
    ties : array of shape (n,)
        Sort key for cases that are equal in all of these.
    methods : sequence of str, default=DEFAULT
    groups : array of shape (n,) or None
        Cases of a group are in one fold.

    Attributes
    ----------
    cases : int array of shape (n_labelled,)
        The labelled cases, sorted as for the folds.
    are_probabilities : bool
        Whether all scores are from 0 to 1; "auto" is then one of two methods, and sigmoids by task
        use log odds.
    titles : dict of str to str
        Titles of the methods.
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

    def __init__(self, scores, y, tasks, ties, methods=DEFAULT, groups=None):
        self.scores, self.y, self.tasks = scores, y, tasks
        self.are_probabilities = bool(((scores >= 0) & (scores <= 1)).all())
        _check_methods(methods, self.are_probabilities)
        calibrators = {name: calibrator_of(name, self.are_probabilities) for name in methods}
        if tasks is not None:
            scale = "logit" if self.are_probabilities else "raw"
            calibrators["platt_by_task"] = MultitaskPlattCalibrator(scale=scale)
        self.cases = rows = self._ordered(ties)
        self.lowest = 1 / (len(rows) + 2)
        folds = self._folds() if groups is None else self._folds_of(groups[rows])
        self.n_folds = int(folds.max()) + 1
        self.fitted = {name: self._fit(clone(model), rows) for name, model in calibrators.items()}
        self.titles = {name: _title(name, fitted) for name, fitted in self.fitted.items()}
        self.stages = {"before": scores} if self.are_probabilities else {}
        self.columns = {}
        for method, calibrator in calibrators.items():
            p = self._predict(self.fitted[method], np.arange(len(scores)))
            for fold in range(self.n_folds):
                model = self._fit(clone(calibrator), rows[folds != fold])
                p[rows[folds == fold]] = self._predict(model, rows[folds == fold])
            p = self.clipped(p)
            self.stages[self.titles[method]] = self.columns[f"calibrated_{method}"] = p

    def labelled(self):
        """Return the labels of `cases`, and their probabilities by title of the method."""
        return self.y[self.cases], {name: p[self.cases] for name, p in self.stages.items()}

    def clipped(self, p):
        """Return probabilities that are as far from 0 and 1 as labelled cases can distinguish."""
        return np.clip(p, self.lowest, 1 - self.lowest)

    def _ordered(self, ties):
        """Return the labelled cases, negative ones first."""
        rows = np.flatnonzero(~np.isnan(self.y))
        tasks = np.zeros(len(rows)) if self.tasks is None else self.tasks[rows].astype(str)
        return rows[np.lexsort([ties[rows], self.scores[rows], tasks, self.y[rows]])]

    def _folds(self):
        """Return the fold number of each of `cases`; folds are stratified by class."""
        n_positive = int(self.y[self.cases].sum())
        sizes = (len(self.cases) - n_positive, n_positive)
        # Numbering restarts with each class, so every fold has almost equal shares of each class.
        return np.concatenate([np.arange(size) % min(_FOLDS, *sizes) for size in sizes])

    def _folds_of(self, groups):
        """Return the fold number of each of `cases` if those of a group stay together."""
        y = self.y[self.cases].astype(int)
        n_groups = [len(np.unique(groups[y == one])) for one in (0, 1)]
        n_folds = min(_FOLDS, *n_groups)
        if n_folds < 2:
            rule = "must hold two groups or more with a positive case, and with a negative one"
            raise InputError("group", rule, n_groups[int(n_groups[1] < 2)])
        folds = np.empty(len(y), dtype=int)
        splits = StratifiedGroupKFold(n_folds).split(groups, y, groups)
        for fold, (train, test) in enumerate(splits):
            if not 0 < y[train].sum() < len(train):
                rule, found = "must leave cases of both classes outside each fold", "one has all"
                raise InputError("group", rule, found=found, remedies="use smaller groups")
            folds[test] = fold
        return np.unique(folds, return_inverse=True)[1]

    def _fit(self, calibrator, rows):
        if isinstance(calibrator, MultitaskPlattCalibrator):
            return calibrator.fit(self.scores[rows], self.y[rows], self.tasks[rows])
        fitted = calibrator.fit(self.scores[rows], self.y[rows])
        return fitted.chosen_ if isinstance(fitted, AutoCalibrator) else fitted

    def _predict(self, calibrator, rows):
        tasks = None if self.tasks is None else self.tasks[rows]
        return calibrated(calibrator, self.scores[rows], tasks)


def _title(method, fitted):
    """The title of a method; that of "auto" names what was chosen for all cases."""
    if method != "auto":
        return _TITLES.get(method, method)
    kind = kind_of(fitted)
    return f"auto ({_TITLES.get(kind, kind)})"


def _check_methods(methods, are_probabilities):
    """Raise for an unknown method, and for beta if scores are not probabilities."""
    for name in methods:
        if name not in METHODS:
            raise InputError("method", "must be one of {known}", Bare(name), known=list(METHODS))
    if "beta" in methods and not are_probabilities:
        rule, remedy = "must not be beta for scores that are not from 0 to 1", "take auto or platt"
        raise InputError("method", rule, remedies=remedy)
