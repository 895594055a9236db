"""Which incomplete cases to complete (Melville, chapter 8).

Run `python -m benchmarks.decorate.acquisitions --data FOLDER` (two hours on two cores). Every
training case starts with the same 30 % of its features; in each round a strategy completes a batch
of cases, and a model of all cases, complete or not, is judged on complete test cases. Trees learn
that a cell is missing, unless they draw gaps. GODA's model learns from complete cases only; that of
all cases stands beside it. Single cells are ours: in each round as many as one case lacks. A line
has the curve of one strategy on a table: errors by number of completed cases, or of cells, and
fold. The data are not part of the project: see `benchmarks/predictions/uci.py`.
"""

import time

import numpy as np
from sklearn.pipeline import make_pipeline

from benchmarks import study
from benchmarks.decorate.acquisition_tables import (
    CELLS,
    DECORATE,
    DRAWN,
    ERRORS,
    EXPECTED,
    GODA_NAME,
    RANDOM,
    RANDOM_CELLS,
    SMALL,
    TREES,
    draw,
    more_pictures,
    tables,
)
from benchmarks.decorate.curve_values import N_FOLDS
from benchmarks.decorate.curves import QUICK, check_needs, folds_of, read
from benchmarks.decorate.learners import DrawnGaps, Indicators, decorate, tree
from bnmtl.active import GODA, ErrorSampling, ExpectedUtility, RandomAcquisition
from bnmtl.metrics.cases import probabilities_of
from bnmtl.seeding import generator

NAME = "decorate_acquisitions"
SETTINGS = ("part", "table", "strategy")
TAKES_DATA = True
TABLES = ("anneal", "soybean", "kr-vs-kp", "hypothyroid", "autos")
BATCH = {TREES: 10, DRAWN: 10, DECORATE: 20, SMALL: 10, CELLS: 10}
# Else, batches are larger.
MOST_ROUNDS = {TREES: 100, DRAWN: 40, DECORATE: 40, SMALL: 100, CELLS: 100}
CELL_ROUNDS = 25  # of as many cells as a case lacks
TRIED = 2  # candidates per cell to be measured
SMALL_ROWS = 200
KNOWN = 0.3  # share of the features
FIXED = {"folds": N_FOLDS, "alpha": 0.003}
__all__ = ["check_needs", "draw", "more_pictures", "tables"]


def plan(quick):
    """One case per part and table."""
    if quick:
        return study.every([RANDOM, ERRORS, GODA_NAME], part=[SMALL], table=[QUICK])
    cases = study.every([RANDOM, ERRORS], part=[TREES, DRAWN, DECORATE], table=TABLES)
    cases += study.every([RANDOM, ERRORS, GODA_NAME], part=[SMALL], table=TABLES)
    return cases + study.every([RANDOM_CELLS, ERRORS, EXPECTED], part=[CELLS], table=TABLES)


def measure(part, table, wanted):
    """One line per strategy."""
    X, y, data = read(table)
    X = X.dropna(axis=1, how="all")
    is_quick = table == QUICK
    most = 60 if is_quick else SMALL_ROWS
    if part in (SMALL, CELLS) and len(X) > most:
        rows = np.sort(generator(0, "rows", table).permutation(len(X))[:most])
        X, y = X.iloc[rows].reset_index(drop=True), np.unique(y[rows], return_inverse=True)[1]
    folds, kind = folds_of(table, y), CellCurve if part == CELLS else Curve
    lines = {}
    for name in wanted:
        began = time.perf_counter()
        curves = [kind(X, y, rows, part, (table, at)).run(name) for at, rows in enumerate(folds)]
        n_points = min(len(curve) for curve in curves)
        sizes = [point[0] for point in curves[0][:n_points]]
        lines[name] = {
            "data": data,
            "n_labels": sizes,
            "error": [[point[1] for point in curve[:n_points]] for curve in curves],
            "seconds": round(time.perf_counter() - began, 2),
        }
        if name == GODA_NAME:
            lines[name]["error_of_all"] = [
                [point[2] for point in curve[:n_points]] for curve in curves
            ]
    return lines


class Curve:
    """The rounds of one strategy in one fold.

    Parameters
    ----------
    X : pandas.DataFrame
    y : numpy.ndarray of int
    rows : (numpy.ndarray, numpy.ndarray)
        Of the pool and of the test part.
    part : str
    names : (str, int)
        Table and fold.
    """

    def __init__(self, X, y, rows, part, names):
        pool, test = rows
        self._X, self._y = X.iloc[pool].reset_index(drop=True), y[pool]
        self._test, self._test_y = X.iloc[test], y[test]
        self._classes = np.arange(int(y.max()) + 1)
        self._part = part
        self._batch = max(BATCH[part], -(-len(pool) // MOST_ROUNDS[part]))
        self._seed = int(generator(0, "model", *names).integers(2**31 - 1))
        rng = generator(0, "known", *names)
        n_known = max(1, round(KNOWN * X.shape[1]))
        known = rng.permutation(X.shape[1])[:n_known]
        self._observed = np.zeros(self._X.shape, dtype=bool)
        self._observed[:, known] = True
        self._observed[rng.permutation(len(pool))[: self._batch]] = True

    def run(self, name):
        """Numbers of completed cases and errors, until all cases are complete.

        Returns
        -------
        list of (int, float, float)
            The errors of the strategy's model and of that of all cases.
        """
        strategy, is_goda = self._strategy(name), name == GODA_NAME
        points = []
        while True:
            shown = self._X.mask(~self._observed)
            complete = self._observed.all(axis=1)
            of_all = self._error(shown, self._y)
            error = self._error(shown[complete], self._y[complete]) if is_goda else of_all
            points.append((int(complete.sum()), error, of_all))
            left = int((~complete).sum())
            if not left:
                return points
            size = min(self._batch, left)
            chosen = strategy.acquire(shown, self._y, self._observed, size)
            self._observed[chosen] = True

    def _model(self):
        """A model of incomplete cases."""
        if self._part == DECORATE:
            return decorate(self._seed)
        if self._part == DRAWN:
            return DrawnGaps(random_state=self._seed)
        return make_pipeline(Indicators(), tree(seed=self._seed))

    def _strategy(self, name):
        if name == RANDOM:
            return RandomAcquisition(random_state=self._seed)
        # Strategies encode rows for trees themselves.
        base = self._model() if self._part in (DECORATE, DRAWN) else tree()
        kind = ErrorSampling if name == ERRORS else GODA
        return kind(base, random_state=self._seed)

    def _error(self, rows, y):
        model = self._model().fit(rows, y)
        p = probabilities_of(model, self._test, self._classes)
        return round(float(np.mean(p.argmax(axis=1) != self._test_y)), 5)


class CellCurve(Curve):
    """The rounds of one strategy that measures cells, or whole cases of as many cells."""

    def run(self, name):
        """Numbers of cells measured since the start, and errors (twice).

        Returns
        -------
        list of (int, float, float)
        """
        n_cells, points = int((~self._observed).sum(axis=1).max()), []
        for number in range(CELL_ROUNDS + 1):
            shown = self._X.mask(~self._observed)
            error = self._error(shown, self._y)
            points.append((number * n_cells, error, error))
            if number < CELL_ROUNDS:
                self._measure(name, shown, n_cells, number)
        return points

    def _measure(self, name, shown, n_cells, number):
        """Mark the cells of one round as observed."""
        if name == ERRORS:
            rows = self._strategy(ERRORS).acquire(shown, self._y, self._observed, 1)
            self._observed[rows] = True
            return
        if name == RANDOM_CELLS:
            hidden = np.argwhere(~self._observed)
            drawn = generator(self._seed, "cells", number).permutation(len(hidden))
            cells = hidden[drawn[:n_cells]]
        else:
            strategy = ExpectedUtility(
                tree(), n_candidates=TRIED * n_cells, random_state=self._seed
            )
            cells = strategy.acquire_cells(shown, self._y, self._observed, n_cells)
        self._observed[tuple(cells.T)] = True


if __name__ == "__main__":
    study.main(__spec__.name)
