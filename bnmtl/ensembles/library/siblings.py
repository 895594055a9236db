"""Training of one fit and its predictions: raw, calibrated, and by folds.

With folds, a model is a set of siblings, one for each fold, each trained on the other folds and
calibrated on its fold (embedded cross-validation).
"""

import contextlib
import os
import tempfile
import time
from dataclasses import dataclass
from functools import lru_cache

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone

from bnmtl.calibration.methods import calibrator_of
from bnmtl.ensembles.library.columns import Columns, preparation
from bnmtl.ensembles.pickled import pickled_bytes
from bnmtl.seeding import generator

_SEEDS = 2**31 - 1


@dataclass(frozen=True)
class Cases:
    """The rows that all fits of a library see, as matrices of `Columns`.

    Attributes
    ----------
    columns : Columns
    X, y : arrays of shape (n, n_columns) and (n,)
        Training rows and labels 0, 1, ...; with folds also those of hill climbing.
    hillclimb : (X, y) or None
        Without folds, the cases of hill climbing.
    folds : int array of shape (n,) or None
    test : array of shape (n_test, n_columns) or None
    groups : array of shape (n_cases,) or None
        Of the cases of hill climbing.
    calibration : str
        Method of calibration.
    """

    columns: Columns
    X: np.ndarray
    y: np.ndarray
    hillclimb: tuple | None
    folds: np.ndarray | None
    test: np.ndarray | None
    groups: np.ndarray | None = None
    calibration: str = "auto"

    @property
    def hillclimb_y(self):
        """Labels of the cases of hill climbing."""
        return self.y if self.hillclimb is None else self.hillclimb[1]

    @property
    def hillclimb_tasks(self):
        """Tasks of the cases of hill climbing; None without tasks."""
        return self.columns.tasks_in(self.X if self.hillclimb is None else self.hillclimb[0])

    @property
    def shape_of_case(self):
        """The axes of a prediction of one case: none for two classes, else that of the classes."""
        n_classes = int(self.y.max()) + 1
        return () if n_classes == 2 else (n_classes,)

    @property
    def has_missing(self):
        """Whether a cell of any row is missing."""
        held_out = None if self.hillclimb is None else self.hillclimb[0]
        parts = [one for one in (self.X, held_out, self.test) if one is not None]
        return any(bool(np.isnan(one).any()) for one in parts)

    def splits(self):
        """Training rows, training labels and positions of hill-climbing cases of each sibling."""
        if self.folds is None:
            yield self.X, self.y, np.arange(len(self.hillclimb_y))
            return
        for fold in range(self.folds.max() + 1):
            out = self.folds == fold
            yield self.X[~out], self.y[~out], np.flatnonzero(out)


@contextlib.contextmanager
def saved(cases):
    """Yield the path of a temporary file of cases, which other processes read."""
    with tempfile.TemporaryDirectory(prefix="bnmtl-", ignore_cleanup_errors=True) as place:
        path = os.path.join(place, "cases")
        joblib.dump(cases, path)
        yield path


@lru_cache(maxsize=1)
def read_cases(path):
    """Cases from a file, read once by a process; matrices are mapped into memory."""
    return joblib.load(path, mmap_mode="r")


@dataclass
class Sibling:
    """A trained fit with its preparation of columns and its calibrators.

    Attributes
    ----------
    prepared : transformer
    trained : model of `trained`
    limits : array of shape (n_models, 2) or (n_models, 2, n_classes), or None
        Scores that become 0 and 1, if scores are margins.
    calibrators : list of calibrators
    """

    prepared: object
    trained: object
    limits: np.ndarray | None = None
    calibrators: list | None = None

    def scores(self, X):
        """Scores of all models for a matrix of rows, as of `trained`."""
        return self.trained.scores(self.prepared.transform(X))

    def adjust(self, scores, y, bounded, method):
        """Find the scale and the calibrators from scores of cases that it was not trained on."""
        if not bounded:
            self.limits = np.stack([scores.min(axis=1), scores.max(axis=1)], axis=1)
        calibrator = calibrator_of(method, bounded)
        calibrator = calibrator if scores.ndim == 2 else AgainstTheRest(calibrator)
        self.calibrators = [clone(calibrator).fit(one, y) for one in self._calibrated(scores)]

    def _calibrated(self, scores):
        """The scores as calibrators take them: means of ones can exceed 1 by a rounding error."""
        return np.clip(scores, 0, 1) if self.limits is None else scores

    def probabilities(self, scores):
        """Raw and calibrated probabilities, shape (2, n_models, n_rows) or with a last axis."""
        raw = scores
        if self.limits is not None:
            low, high = self.limits[:, :1], self.limits[:, 1:]
            raw = np.clip((scores - low) / np.where(high > low, high - low, 1.0), 0, 1)
            raw = raw if raw.ndim == 2 else _summing_to_1(raw)
        pairs = zip(self.calibrators, self._calibrated(scores), strict=True)
        return np.stack([raw, np.stack([fitted.predict(one) for fitted, one in pairs])])

    def predict(self, X):
        """Raw and calibrated probabilities for a matrix of rows, as of `probabilities`."""
        return self.probabilities(self.scores(X))


class AgainstTheRest(BaseEstimator):
    """Calibration of more than two classes: each against the others, then divided by the sum."""

    def __init__(self, calibrator):
        self.calibrator = calibrator

    def fit(self, scores, y):
        """Fit a calibrator for each column of scores; labels are 0, 1, ..."""
        columns = enumerate(scores.T)
        self.calibrators_ = [
            clone(self.calibrator).fit(one, (y == code).astype(int)) for code, one in columns
        ]
        return self

    def predict(self, scores):
        """Probabilities of the classes."""
        pairs = zip(self.calibrators_, scores.T, strict=True)
        return _summing_to_1(np.column_stack([one.predict(column) for one, column in pairs]))


def _summing_to_1(p):
    """Probabilities divided by their sum over the last axis; equal where all are 0."""
    sums = p.sum(axis=-1, keepdims=True)
    equal = np.full_like(p, 1 / p.shape[-1])
    return np.divide(p, sums, out=equal, where=sums > 0)


@dataclass
class Predicted:
    """Predictions of a fit.

    Attributes
    ----------
    hillclimb : array of shape (2, n_models, n_cases) or (2, n_models, n_cases, n_classes)
        Raw and calibrated.
    test : array of shape (n_siblings, 2, n_models, n_test), or with a last axis, or None
    seconds : float
        Processor time of training.
    bytes : int or None
        Size of the trained siblings; None if they cannot be pickled.
    imputed : bool
        Whether missing cells were replaced.
    siblings : list of Sibling
    """

    hillclimb: np.ndarray
    test: np.ndarray | None
    seconds: float
    bytes: int
    imputed: bool
    siblings: list


def seed_for(seed, fit, fold):
    """The seed of a sibling, which depends on nothing but the fit."""
    return int(generator(seed, fit.key, fold).integers(_SEEDS))


def train(fit, seed, cases):
    """Train a fit and predict the cases of hill climbing and the test cases.

    Parameters
    ----------
    fit : Fit
    seed : int
        Seed of the library.
    cases : Cases

    Returns
    -------
    Predicted
    """
    maker = fit.maker
    hillclimb = np.empty((2, len(fit.names), len(cases.hillclimb_y), *cases.shape_of_case))
    siblings, test, seconds = [], [], 0.0
    for fold, (X, y, at) in enumerate(cases.splits()):
        began = time.process_time()
        prepared = preparation(fit.form, cases.columns, maker.takes_missing).fit(X)
        trained = fit.untrained(seed_for(seed, fit, fold)).fit(prepared.transform(X), y)
        sibling = Sibling(prepared, trained)
        seconds += time.process_time() - began
        held_out = cases.X[at] if cases.hillclimb is None else cases.hillclimb[0]
        scores = sibling.scores(held_out)
        sibling.adjust(scores, cases.hillclimb_y[at], maker.bounded, cases.calibration)
        hillclimb[:, :, at] = sibling.probabilities(scores)
        if cases.test is not None:
            test.append(sibling.predict(cases.test))
        siblings.append(sibling)
    imputed = cases.has_missing and not maker.takes_missing
    found = np.stack(test) if test else None
    return Predicted(hillclimb, found, seconds, pickled_bytes(siblings), imputed, siblings)
