"""Classifiers that get into trouble, and a build that is killed, for the tests of libraries.

Workers import this module, so it has no tests.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from bnmtl.ensembles.library import workers

GATE = "LIBRARY_GATE"  # while this file exists, `Waits` does


def numeric_frame(n_rows=90, seed=1):
    """Rows with numbers, and labels of two classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["b", "a", "c"])
    score = X["a"] + X["b"] ** 2 + rng.logistic(size=n_rows)
    return X, pd.Series(np.where(score > 1, "yes", "no"), name="sold")


class Waits(ClassifierMixin, BaseEstimator):
    """Naive Bayes that waits while there is a gate, and writes the number of its process there."""

    def fit(self, X, y):
        gate = Path(os.environ.get(GATE, "no such file"))
        if gate.exists():
            gate.write_text(str(os.getpid()))
        while gate.exists():
            time.sleep(0.02)
        self.model = GaussianNB().fit(X, y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)


class Troubled(ClassifierMixin, BaseEstimator):
    """Fails in one of several ways, unless `place` has a file "calm".

    Leaves a file with the trouble and the number of its process.
    """

    def __init__(self, trouble, place):
        self.trouble = trouble
        self.place = place

    def fit(self, X, y):
        place = Path(self.place)
        with (place / self.trouble).open("a") as file:
            file.write(f"{os.getpid()}\n")
        self.model = GaussianNB().fit(X, y)
        self.classes_ = self.model.classes_
        self.is_calm = (place / "calm").exists()
        if not self.is_calm and self.trouble != "improbable":
            getattr(self, self.trouble)()
        return self

    def predict_proba(self, X):
        p = self.model.predict_proba(X)
        return p if self.is_calm or self.trouble != "improbable" else 2 * p

    def fails(self):
        raise ValueError("there is no\nway")

    def exits(self):
        os._exit(3)

    def hangs(self):
        time.sleep(600)

    def greedy(self):
        self.rows = np.ones(2**31)


SETTINGS = [
    {"family": "boosted stumps", "steps": 5},
    {"family": "decision trees", "alpha": 0.01},
    {"family": "boosted stumps", "steps": 2},
    {"family": "logistic regression", "ridge": 2.0},
    ("waits", Waits()),
]
OPTIONS = {"cv": 3, "each_sibling": True, "keep_models": True, "random_state": 4}


def build(folder, **options):
    """The library of the tests with embedded cross-validation."""
    from bnmtl.ensembles import build_library

    X, y = numeric_frame()
    test = numeric_frame(20, seed=2)
    return build_library(X, y, SETTINGS, test=test, out=folder, **{**OPTIONS, **options})


if __name__ == "__main__":
    build(sys.argv[1])


def nap():
    """Take longer than the limit of a test."""
    time.sleep(1.5)


def run_here(function, tasks, arguments_of, n_workers, *_):
    """In place of `workers.run`: run fits in this process."""
    for task in tasks:
        try:
            yield workers.Done(task, function(*arguments_of(task)), None, 0.0)
        except Exception as error:
            yield workers.Done(task, None, f"{type(error).__name__}: {error}", 0.0)
