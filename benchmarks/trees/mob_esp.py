"""MOB-ESP and enhanced bagged trees beside their rivals on 45 tables (Nielsen 2012).

Run `python -m benchmarks.trees.mob_esp --data FOLDER` (hours on two cores). A tenth of the cases is
held out at random, again and again; methods that differ only in what they count in leaves share the
trees. A line has the measures of one method on a table, one value per share held out. The data are
not part of the project: see `benchmarks/predictions/uci.py`.
"""

import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline

from benchmarks import study
from benchmarks.claims import claims_table
from benchmarks.decorate.bases import BASES
from benchmarks.decorate.curves import QUICK, read
from benchmarks.decorate.curves import check_needs as check_tables
from benchmarks.decorate.learners import Indicators
from benchmarks.trees import mob_esp_tables
from benchmarks.trees.mob_esp_claims import claims
from benchmarks.trees.mob_esp_tables import (
    B_PETS,
    CALIBRATED,
    EB_PETS,
    FOREST,
    MOB_ESP,
    NETWORK,
    NOTHING,
    draw,
)
from bnmtl.calibration import PlattCalibrator
from bnmtl.metrics.cases import probabilities_of
from bnmtl.metrics.prediction import lift_chart_area
from bnmtl.seeding import generator, with_seed
from bnmtl.trees import MOBESP, BaggedPETs, EnhancedBaggedPETs
from bnmtl.trees.bagged import TreeEnsemble, on_trees_of

NAME = "mob_esp"
SETTINGS = ("table", "method")
TAKES_DATA = True
N_TREES = 100
FIXED = {"trees": N_TREES, "held_out": 0.1}
TABLES = (
    *("anneal", "anneal-orig", "audiology", "autos", "balance-scale", "breast-cancer", "breast-w"),
    *("car", "cmc", "colic", "credit-a", "credit-g", "diabetes", "ecoli", "glass", "haberman"),
    *("heart-c", "heart-h", "heart-statlog", "hepatitis", "hypothyroid", "ionosphere", "iris"),
    *("kr-vs-kp", "labor", "lymph", "mushroom", "nursery", "optdigits", "page-blocks"),
    *("pendigits", "primary-tumor", "segment", "sick", "sonar", "soybean", "spambase", "splice"),
    *("tic-tac-toe", "vehicle", "vote", "vowel", "waveform-5000", "wine", "zoo"),
)
# Number of shares held out by the number of cases.
N_HOLDOUTS = {1000: 100, 4000: 30, 10**9: 10}
_LEAST = 2  # cases in a leaf
__all__ = ["draw"]


class CalibratedForest(ClassifierMixin, BaseEstimator):
    """A forest whose out-of-bag probabilities of each class calibrate those of new cases.

    Parameters
    ----------
    random_state : int, default=None
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Grow the forest and fit a sigmoid per class."""
        forest = RandomForestClassifier(N_TREES, oob_score=True, random_state=self.random_state)
        self._forest = forest.fit(X, y)
        self.classes_ = self._forest.classes_
        p = self._forest.oob_decision_function_
        known = ~np.isnan(p).any(axis=1) & (p.sum(axis=1) > 0)
        self._sigmoids = [
            PlattCalibrator().fit(p[known, k], np.asarray(y)[known] == one)
            if 0 < np.sum(np.asarray(y)[known] == one) < known.sum()
            else None
            for k, one in enumerate(self.classes_)
        ]
        return self

    def predict_proba(self, X):
        """Calibrated probabilities, scaled to a sum of 1."""
        p = self._forest.predict_proba(X)
        columns = [
            p[:, k] if one is None else one.predict(p[:, k]) for k, one in enumerate(self._sigmoids)
        ]
        found = np.stack(columns, axis=1)
        return found / found.sum(axis=1, keepdims=True)


def _on_numbers(make):
    """A function (seed) that makes a classifier of frames from one that makes one of numbers."""
    return lambda seed: make_pipeline(Indicators(), make(seed))


def _bagged(**options):
    return _on_numbers(
        lambda seed: EnhancedBaggedPETs(
            N_TREES, **options, min_samples_leaf=_LEAST, random_state=seed
        )
    )


def _mob_esp(weight):
    return _on_numbers(
        lambda seed: MOBESP(N_TREES, weight, min_samples_leaf=_LEAST, random_state=seed)
    )


_PLAIN = {"out_of_bag": False, "smoothing": "laplace", "random_features": False}
METHODS = {
    B_PETS: _on_numbers(
        lambda seed: BaggedPETs(N_TREES, min_samples_leaf=_LEAST, random_state=seed)
    ),
    f"{B_PETS}, out-of-bag cases": _bagged(**(_PLAIN | {"out_of_bag": True})),
    f"{B_PETS}, no smoothing": _bagged(**(_PLAIN | {"smoothing": None})),
    f"{B_PETS}, random features": _bagged(**(_PLAIN | {"random_features": True})),
    EB_PETS: _bagged(),
    f"{EB_PETS}, no out-of-bag cases": _bagged(out_of_bag=False),
    f"{EB_PETS}, smoothing": _bagged(smoothing="laplace"),
    f"{EB_PETS}, all features": _bagged(random_features=False),
    MOB_ESP: _mob_esp(1.0),
    f"{MOB_ESP}, weight 2": _mob_esp(2.0),
    f"{MOB_ESP}, weight 4": _mob_esp(4.0),
    FOREST: _on_numbers(lambda seed: RandomForestClassifier(N_TREES, random_state=seed)),
    CALIBRATED: _on_numbers(lambda seed: CalibratedForest(seed)),
    NETWORK: lambda seed: with_seed(BASES["network"](), seed),
    NOTHING: lambda seed: DummyClassifier(),
}


def tables(lines):
    """All tables as Markdown, by name, and the claims if there are enough tables."""
    found, answered = mob_esp_tables.tables(lines), claims(lines) if len(lines) else []
    return found | ({"mob_esp_claims": claims_table(answered)} if answered else {})


def plan(quick):
    """One case per table: the methods share the trees that they have in common."""
    if quick:
        names = [B_PETS, EB_PETS, MOB_ESP, CALIBRATED]
        return study.every(names, table=[QUICK])
    return study.every(METHODS, table=TABLES)


def check_needs(cases, lines):
    """Raise ValueError unless the tables are there, as they were for the lines."""
    check_tables(cases, lines)


def holdouts_of(table, n_cases):
    """Training and test rows of each share held out."""
    state = int(generator(0, "holdouts", table).integers(2**32 - 1))
    n = next(n for most, n in N_HOLDOUTS.items() if n_cases <= most)
    n = 5 if table == QUICK else n
    splitter = ShuffleSplit(n, test_size=FIXED["held_out"], random_state=state)
    return list(splitter.split(np.zeros(n_cases)))


def measure(table, wanted):
    """One line per method."""
    X, y, data = read(table)
    found, seconds = {method: [] for method in wanted}, dict.fromkeys(wanted, 0.0)
    for number, (train, test) in enumerate(holdouts_of(table, len(y))):
        seed = int(generator(0, "method", table, number).integers(2**31 - 1))
        forests = {}
        for method in wanted:
            began = time.perf_counter()
            model = fitted(METHODS[method](seed), X.iloc[train], y[train], forests)
            p = probabilities_of(model, X.iloc[test], np.arange(y.max() + 1))
            found[method].append(measures(p, y[test], y[train]))
            seconds[method] += time.perf_counter() - began
    return {
        method: {
            "data": data,
            "n_train": len(train),
            **{name: [one[name] for one in every] for name in every[0]},
            "seconds": round(seconds[method], 2),
        }
        for method, every in found.items()
    }


def fitted(model, X, y, forests):
    """A model fitted to cases, if possible on trees that another one has grown on them.

    Parameters
    ----------
    model : classifier
    X : pandas.DataFrame
    y : numpy.ndarray of int
    forests : dict
        Ensembles of probability trees fitted to the cases, by what their trees depend on; new ones
        are added.

    Returns
    -------
    classifier
    """
    ensemble = model[-1] if isinstance(model, Pipeline) else None
    if not isinstance(ensemble, TreeEnsemble):
        return model.fit(X, y)
    key = ensemble.random_features
    if key not in forests:
        forests[key] = model.fit(X, y)[-1]
    else:
        on_trees_of(ensemble, forests[key], model[:-1].transform(X), y)
    return model


def measures(p, y, y_train):
    """The measures of one share held out.

    Returns
    -------
    dict
        "mse", the mean squared error of the probabilities over cases and classes; "log_loss" with
        probabilities of at least 1 / (2 n) for n training cases, "log_loss_eps" of at least the
        machine epsilon, and "clipped", the share of cases below the first; "lift_area" with a point
        at each probability and "accuracy".
    """
    n_classes = p.shape[1]
    true = p[np.arange(len(y)), y]
    least = 1 / (2 * len(y_train))
    prior = np.bincount(y_train, minlength=n_classes).astype(float)
    # Where no class of the test cases was learned there is no weight.
    prior = prior if prior[y].any() else None
    found = {
        "mse": np.mean((p - np.eye(n_classes)[y]) ** 2),
        "log_loss": -np.log(np.maximum(true, least)).mean(),
        "log_loss_eps": -np.log(np.maximum(true, np.finfo(float).eps)).mean(),
        "clipped": np.mean(true < least),
        "lift_area": lift_chart_area(y, p, class_prior=prior, step=None),
        "accuracy": np.mean(p.argmax(axis=1) == y),
    }
    return {name: round(float(value), 6) for name, value in found.items()}


if __name__ == "__main__":
    study.main(__spec__.name)
