"""DECORATE, bagging and AdaBoost on imperfect data (Melville, chapter 5).

Run `python -m benchmarks.decorate.imperfections --data FOLDER` (twenty minutes on two cores).
Missing features and feature noise are in the training and the test part, class noise in the
training part only. A line has the errors of one method on a table, by level and fold. The data are
not part of the project: see `benchmarks/predictions/uci.py`.
"""

import time

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.decorate.curves import QUICK, folds_of, read
from benchmarks.decorate.curves import check_needs as check_tables
from benchmarks.decorate.imperfection_tables import draw, more_pictures, tables
from benchmarks.decorate.learners import BASE, DECORATE, fitted
from bnmtl.metrics.cases import probabilities_of
from bnmtl.seeding import generator

NAME = "decorate_imperfections"
SETTINGS = ("kind", "table", "repeat", "method")
TAKES_DATA = True
KINDS = ("missing features", "class noise", "feature noise")
TABLES = (
    *("autos", "balance-scale", "breast-w", "colic", "credit-a", "glass", "heart-c", "hepatitis"),
    *("iris", "labor", "lymph"),
)
METHODS = (BASE, "bagging", "AdaBoost", DECORATE)
LEVELS = tuple(range(0, 45, 5))
N_REPEATS = 3
FIXED = {"size": 15, "alpha": 0.003}
__all__ = ["draw", "more_pictures", "tables"]


def plan(quick, trials=None):
    """One case per kind, table and repetition."""
    if quick:
        return study.every([BASE, DECORATE], kind=KINDS, table=[QUICK], repeat=[0])
    repeats = range(trials or N_REPEATS)
    return study.every(METHODS, repeat=repeats, kind=KINDS, table=TABLES)


def check_needs(cases, lines):
    """Raise ValueError unless the tables are there, as they were for the lines."""
    check_tables(cases, lines)


def measure(kind, table, repeat, wanted):
    """One line per method."""
    X, y, data = read(table)
    levels = (0, 20) if table == QUICK else LEVELS
    folds = folds_of(table, y, repeat)
    lines = {}
    for method in wanted:
        began = time.perf_counter()
        errors = {
            str(level): [
                _error(method, kind, level, (X, y), rows, (table, repeat, fold))
                for fold, rows in enumerate(folds)
            ]
            for level in levels
        }
        seconds = round(time.perf_counter() - began, 2)
        lines[method] = {"data": data, "error": errors, "seconds": seconds}
    return lines


def _error(method, kind, level, data, rows, names):
    """The error of a method in a fold of damaged data."""
    (X, y), (train, test) = data, rows
    damage = {"missing features": with_gaps, "feature noise": with_noise}.get(kind)
    parts = {}
    for part, some in (("train", train), ("test", test)):
        frame = X.iloc[some].reset_index(drop=True)
        if damage is not None:
            frame = damage(frame, level, X, generator(0, kind, level, part, *names))
        parts[part] = frame
    labels = y[train]
    if kind == "class noise":
        labels = with_other_classes(
            labels, level, int(y.max()) + 1, generator(0, kind, level, *names)
        )
    seed = int(generator(0, "method", *names).integers(2**31 - 1))
    model = fitted(method, parts["train"], labels, seed)
    p = probabilities_of(model, parts["test"], np.arange(int(y.max()) + 1))
    return round(float(np.mean(p.argmax(axis=1) != y[test])), 5)


def _draws(frame, level, rng):
    """Rows and columns of as many draws, with replacement, as section 5.1.1 says."""
    n_rows, n_columns = frame.shape
    n = round(n_rows * level * n_columns / 100)
    return rng.integers(n_rows, size=n), rng.integers(n_columns, size=n)


def with_gaps(frame, level, whole, rng):
    """Delete one random feature of each drawn case."""
    rows, columns = _draws(frame, level, rng)
    is_gap = np.zeros(frame.shape, dtype=bool)
    is_gap[rows, columns] = True
    return frame.mask(is_gap)


def with_noise(frame, level, whole, rng):
    """Draw one random feature of each drawn case again, whatever its value was."""
    rows, columns = _draws(frame, level, rng)
    noisy = frame.copy()
    for at, name in enumerate(frame):
        some = rows[columns == at]
        if not len(some):
            continue
        column = whole[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            values = np.asarray(column.cat.categories, dtype=object)
            drawn = values[rng.integers(len(values), size=len(some))]
        else:
            drawn = rng.normal(column.mean(), column.std(), size=len(some))
        noisy.iloc[some, at] = drawn
    return noisy


def with_other_classes(labels, level, n_classes, rng):
    """Give each drawn case one of the other classes, all alike."""
    changed = labels.copy()
    for row in rng.integers(len(labels), size=round(len(labels) * level / 100)):
        changed[row] = (changed[row] + rng.integers(1, n_classes)) % n_classes
    return changed


if __name__ == "__main__":
    study.main(__spec__.name)
