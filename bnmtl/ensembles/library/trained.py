"""Trained models of a library: fits that several share, calibrated siblings, and predictions.

Each has ``fit(X, y)`` for labels 0, 1, ... and ``scores(X)``, an array of shape (n_models, n_rows)
about class 1 of two classes, or (n_models, n_rows, n_classes) if there are more.

With folds, a model is a set of siblings, one for each fold, each trained on the other folds and
calibrated on its fold (embedded cross-validation).
"""

import time
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import mutual_info_score
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeClassifier

from bnmtl.calibration.classifier import calibrator_of
from bnmtl.ensembles.entries import pickled_bytes, summing_to_1
from bnmtl.ensembles.library.columns import preparation
from bnmtl.seeding import generator

_CHUNK = 2**22  # distances that are kept in memory at a time


class LaplaceTree(DecisionTreeClassifier):
    """A tree with Laplace smoothing: one additional case of each class in every leaf."""

    def predict_proba(self, X):
        """(n1 + 1) / (n + 2) in each leaf for two classes; with k classes + k."""
        leaves = self.apply(X)
        n_cases = self.tree_.weighted_n_node_samples[leaves]
        counts = self.tree_.value[leaves, 0] * n_cases[:, None]
        return (counts + 1) / (n_cases + len(self.classes_))[:, None]


def of_classes(p):
    """The second column of the probabilities of two classes; all columns of more."""
    return p[..., 1] if p.shape[-1] == 2 else p


class Single:
    """One classifier; its scores are probabilities."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        """Fit the classifier."""
        self.estimator.fit(X, y)
        return self

    def scores(self, X):
        """Probabilities of the classes."""
        return of_classes(self.estimator.predict_proba(X))[None]


class Margins(Single):
    """One classifier; its scores are distances from the boundary, of any size."""

    def scores(self, X):
        """Values of the decision function."""
        return self.estimator.decision_function(X)[None, :]


class Stages(Single):
    """A boosted classifier after some numbers of steps; scores are shares of votes.

    Attributes
    ----------
    totals : numpy.ndarray of shape (n_steps,)
        Sums of the votes after those steps.
    """

    def __init__(self, estimator, steps):
        super().__init__(estimator.set_params(n_estimators=max(steps)))
        self.steps = steps

    def fit(self, X, y):
        """Fit all steps."""
        super().fit(X, y)
        totals = np.cumsum(self.estimator.estimator_weights_)
        self.totals = np.maximum(totals[np.array(self.steps) - 1], 1e-10)
        return self

    def scores(self, X):
        """(1 + F / total) / 2 after each number of steps; shares of votes of more classes."""
        votes = _at_steps(self.estimator.staged_decision_function(X), self.steps)
        if votes.ndim == 2:
            return np.clip((1 + votes / self.totals[:, None]) / 2, 0, 1)
        return summing_to_1(votes)


def _at_steps(stages, steps):
    """What a generator of stages gives after some numbers of steps, as one array."""
    found = {step: scores for step, scores in enumerate(stages, 1) if step in steps}
    return np.stack([found[step] for step in steps])


class Boosted(Single):
    """Histogram gradient boosting after some numbers of steps, of a frame of floats and categories.

    Hill climbing chooses the number of steps, so that no rows are held out to stop early. A column
    with more categories than there are bins is treated as numbers, their positions.
    """

    def __init__(self, estimator, steps):
        super().__init__(estimator.set_params(max_iter=max(steps)))
        self.steps = steps

    def fit(self, X, y):
        """Fit all steps."""
        self.kept = [name for name in X if X[name].notna().any()]  # others have no bins
        self.coded = [
            name
            for name in X[self.kept].select_dtypes("category")
            if len(X[name].cat.categories) > self.estimator.max_bins
        ]
        return super().fit(self._columns(X), y)

    def scores(self, X):
        """Probabilities of the classes after each number of steps."""
        stages = self.estimator.staged_predict_proba(self._columns(X))
        return of_classes(_at_steps(stages, self.steps))

    def _columns(self, X):
        codes = {name: X[name].cat.codes.where(X[name].notna(), np.nan) for name in self.coded}
        return X[self.kept].assign(**codes)


class Snapshots(Single):
    """A neural net after some numbers of epochs."""

    def __init__(self, estimator, epochs):
        super().__init__(estimator)
        self.epochs = epochs

    def fit(self, X, y):
        """Train as many epochs as are needed."""
        found = {}
        for epoch in range(1, max(self.epochs) + 1):
            self.estimator.partial_fit(X, y, classes=np.unique(y))
            if epoch in self.epochs:
                found[epoch] = deepcopy(self.estimator)
        self.nets = [found[epoch] for epoch in self.epochs]
        return self

    def scores(self, X):
        """Probabilities of the classes after each number of epochs."""
        return of_classes(np.stack([net.predict_proba(X) for net in self.nets]))


class Neighbors:
    """Votes of the nearest training rows, for many numbers of neighbors and weights.

    Parameters
    ----------
    votes : list of (str, float)
        ("uniform", k), ("distance", k), or ("kernel", width): all rows with weights that decay
        exponentially with the distance, relative to the width times the smallest distance above 0
        from a training row to another.
    gain_ratio : bool
        Whether distances are weighted by the gain ratios of the columns.
    """

    def __init__(self, votes, gain_ratio):
        self.votes, self.gain_ratio = votes, gain_ratio

    def fit(self, X, y):
        """Keep the rows."""
        ratios = gain_ratios(X, y) if self.gain_ratio else np.ones(X.shape[1])
        self.factors, self.y = np.sqrt(ratios), y
        X = X * self.factors
        self.index = NearestNeighbors(algorithm="brute").fit(X)
        self.unit = _smallest_distance(X)
        return self

    def scores(self, X):
        """Shares of the classes among the votes."""
        n_rows = max(1, _CHUNK // len(self.y))
        chunks = [X[at : at + n_rows] for at in range(0, len(X), n_rows)]
        return np.concatenate([self._chunk(chunk * self.factors) for chunk in chunks], axis=1)

    def _chunk(self, X):
        # Always all rows, so that rows at equal distances rank alike whatever the votes.
        distances, rows = self.index.kneighbors(X, len(self.y))
        # These are not exact: of the same row they are 1e-8 or so.
        distances[distances < 1e-6 * self.unit] = 0
        y, n_classes = self.y[rows], int(self.y.max()) + 1
        codes = range(n_classes) if n_classes > 2 else (1,)
        found = [self._shares((y == code).astype(float), distances) for code in codes]
        return np.stack(found, axis=-1) if n_classes > 2 else found[0]

    def _shares(self, labels, distances):
        """Shares of the votes for one class, from labels and distances by rank."""
        uniform = np.cumsum(labels, axis=1)
        # Weights are 1 / distance; where some distance is 0, only those rows count.
        is_same = distances == 0
        with np.errstate(divide="ignore"):
            weights = np.where(is_same, 0, 1 / distances)
        same = is_same.any(axis=1)
        weights[same] = is_same[same]
        by_distance = np.cumsum(weights * labels, axis=1) / np.cumsum(weights, axis=1)
        found = []
        for kind, number in self.votes:
            last = min(int(number), len(self.y)) - 1
            if kind == "uniform":
                found.append(uniform[:, last] / (last + 1))
            elif kind == "distance":
                found.append(by_distance[:, last])
            else:
                decay = (distances - distances[:, :1]) / (number * self.unit)
                weights = np.exp(-decay)  # 1 at the nearest row, so that not all are 0
                found.append((weights * labels).sum(axis=1) / weights.sum(axis=1))
        return np.clip(np.stack(found), 0, 1)


def _smallest_distance(X):
    """The smallest distance above 0 between two rows; 1 if there are no different rows."""
    X = np.unique(X, axis=0)
    if len(X) < 2:
        return 1.0
    nearest = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(return_distance=False)[:, 0]
    return np.sqrt(((X - X[nearest]) ** 2).sum(axis=1)).min()


class Counts(Single):
    """A classifier of categories by their positions, such as naive Bayes with tables."""

    def fit(self, X, y):
        """Fit; a category that is missing becomes the most frequent one."""
        self.modes = {name: X[name].cat.codes.mode()[0] for name in X}
        sizes = [max(1, len(X[name].cat.categories)) for name in X]
        self.estimator.set_params(min_categories=sizes)
        return super().fit(self._codes(X), y)

    def scores(self, X):
        """Probabilities of the classes."""
        return super().scores(self._codes(X))

    def _codes(self, X):
        columns = [X[name].cat.codes.replace(-1, max(self.modes[name], 0)) for name in X]
        return np.column_stack(columns)


def gain_ratios(X, y):
    """Mutual information of each column and the class, divided by the entropy of the column."""
    ratios = []
    for column in X.T:
        cuts = np.unique(np.quantile(column, np.arange(1, 5) / 5))
        codes = np.searchsorted(cuts, column, side="left")
        entropy = mutual_info_score(codes, codes)
        ratios.append(mutual_info_score(codes, y) / entropy if entropy > 0 else 0.0)
    return np.array(ratios)


_SEEDS = 2**31 - 1


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
        self.calibrators = [clone(calibrator).fit(given, y) for given in self._calibrated(scores)]

    def _calibrated(self, scores):
        """The scores as calibrators take them: means of ones can exceed 1 by a rounding error."""
        return np.clip(scores, 0, 1) if self.limits is None else scores

    def probabilities(self, scores):
        """Raw and calibrated probabilities, shape (2, n_models, n_rows) or with a last axis."""
        raw = scores
        if self.limits is not None:
            low, high = self.limits[:, :1], self.limits[:, 1:]
            raw = np.clip((scores - low) / np.where(high > low, high - low, 1.0), 0, 1)
            raw = raw if raw.ndim == 2 else summing_to_1(raw)
        pairs = zip(self.calibrators, self._calibrated(scores), strict=True)
        return np.stack([raw, np.stack([fitted.predict(given) for fitted, given in pairs])])

    def predict(self, X):
        """Raw and calibrated probabilities for a matrix of rows, as of `probabilities`."""
        return self.probabilities(self.scores(X))


class AgainstTheRest(BaseEstimator):
    """Calibration of more than two classes: each against the others, then divided by the sum."""

    def __init__(self, calibrator):
        self.calibrator = calibrator

    def fit(self, scores, y):
        """Fit a calibrator for each column of scores; labels are 0, 1, ..."""
        self.calibrators_ = [
            clone(self.calibrator).fit(column, (y == code).astype(int))
            for code, column in enumerate(scores.T)
        ]
        return self

    def predict(self, scores):
        """Probabilities of the classes."""
        pairs = zip(self.calibrators_, scores.T, strict=True)
        return summing_to_1(np.column_stack([fitted.predict(column) for fitted, column in pairs]))


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
