"""Which learners predict good probabilities, before and after calibration (thesis, chapter 3).

Run `python -m benchmarks.predictions.good_probabilities --data FOLDER` (hours on two cores). The
data are not part of the project: see `benchmarks/predictions/uci.py`. Models are trained on 4000
rows; 1000 others are used to calibrate them and to choose among them, by method and measure; all
remaining rows are test rows. See `benchmarks/predictions/good_learners.py` for the learners and the
differences from the thesis.
"""

import functools
import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.base import BaseEstimator, clone

from benchmarks import study
from benchmarks.predictions import uci
from benchmarks.predictions.good_diagrams import pictures as more_pictures
from benchmarks.predictions.good_learners import LEARNERS, TWO_LEVELS, Model, models_of
from benchmarks.predictions.good_pictures import draw
from benchmarks.predictions.good_tables import CROSS_ENTROPY, RMSE, tables
from bnmtl.calibration import IsotonicCalibrator, PlattCalibrator, learning_curve, reliability
from bnmtl.ensembles.library import families, settings
from bnmtl.metrics import prediction
from bnmtl.seeding import generator

NAME = "good_probabilities"
SETTINGS = ("problem", "trial", "learner")
TAKES_DATA = True
__all__ = ["draw", "measure", "more_pictures", "plan", "tables"]
N_TRIALS = 5
# Table, and which of its classes are positive.
PROBLEMS = {
    "ADULT": ("adult", lambda y: y == ">50K"),
    "COVTYPE": ("covtype30k", lambda y: y == "1"),
    "LETTER.p1": ("letter", lambda y: y == "O"),
    "LETTER.p2": ("letter", lambda y: np.isin(y, list("ABCDEFGHIJKLM"))),
    "CALHOUS": ("calhous", lambda y: y.astype(float) > 175_000),
    "PENDIGITS": ("pendigits", lambda y: np.isin(y, list("56789"))),
    "NURSERY": ("nursery", lambda y: y == "priority"),
    "SPAMBASE": ("spambase", lambda y: y == "1"),
}
QUICK = "BREAST"
N_TRAIN = {"SPAMBASE": 2000, QUICK: 200}
N_CALIBRATION = {QUICK: 100}
CURVES = ("ADULT", "COVTYPE", "LETTER.p1", "LETTER.p2", "CALHOUS")
CURVE_SIZES = tuple(2**k for k in range(5, 14))
N_DRAWS = 10
FIXED = {
    "train": 4000,
    "calibration": 1000,
    "draws": N_DRAWS,
    "svm_iterations": families.SVM_ITERATIONS,
    "learning_rate": families.LEARNING_RATE,
    "epochs": settings.EPOCHS,
    "bins": settings.N_BINS,
}


def plan(quick, trials=None):
    """One case per learner; the quick ones are fast learners on a table of scikit-learn.

    Trees of two levels have one trial unless more are asked for.
    """
    if quick:
        fast = ("logistic regression", "naive Bayes", "decision trees", "Bayesian network")
        return [{"problem": QUICK, "trial": 0, "wanted": [learner]} for learner in fast]
    return [
        {"problem": problem, "trial": trial, "wanted": [learner]}
        for trial in range(trials or N_TRIALS)
        for problem in PROBLEMS
        for learner in (*LEARNERS, *([TWO_LEVELS] if trials or not trial else []))
    ]


def check_needs(cases, lines):
    """Raise ValueError if needed data are missing, or differ from those of the lines."""
    if all(case["problem"] == QUICK for case in cases) and not os.environ.get("BNMTL_DATA"):
        return
    wanted = {case["problem"] for case in cases} & set(PROBLEMS)
    uci.check_same({problem: PROBLEMS[problem][0] for problem in wanted}, lines, "problem")


def rows_of(problem):
    """Complete rows of a problem, their labels, and a hash of the data."""
    if problem == QUICK:
        from sklearn.datasets import load_breast_cancer

        table = load_breast_cancer(as_frame=True)
        return table.data, table.target.to_numpy(), "scikit-learn"
    name, is_positive = PROBLEMS[problem]
    table = uci.read(name)
    complete = table.features.notna().all(axis=1).to_numpy()
    features = table.features[complete].reset_index(drop=True)
    return features, is_positive(table.classes[complete]).astype(int), uci.fingerprint(name)


def split(problem, n_rows, trial):
    """Training, calibration and test rows, drawn by problem and trial."""
    order = generator(trial, problem).permutation(n_rows)
    n_train = N_TRAIN.get(problem, FIXED["train"])
    ends = np.cumsum([n_train, N_CALIBRATION.get(problem, FIXED["calibration"])])
    return np.split(order, ends)


@functools.lru_cache(maxsize=1)
def views_of(problem, trial):
    """Views, labels, parts and a hash of the data, cached for consecutive cases of a problem."""
    features, y, data = rows_of(problem)
    parts = split(problem, len(y), trial)
    return uci.Views(features, parts[0]), y, parts, data


CHOSEN_BY = {RMSE: prediction.root_mean_squared_error, CROSS_ENTROPY: prediction.cross_entropy}


class LogOddsAtEpsilon(BaseEstimator):
    """A sigmoid of log odds of probabilities, clipped at the machine epsilon.

    This was `PlattCalibrator(scale="logit")` when the studies were run, which now clips by the
    number of calibration cases.
    """

    def fit(self, scores, y, sample_weight=None):
        """Fit the sigmoid."""
        self.sigmoid_ = PlattCalibrator().fit(_log_odds(scores), y, sample_weight)
        return self

    def predict(self, scores):
        """Calibrated probabilities."""
        return self.sigmoid_.predict(_log_odds(scores))


def _log_odds(p):
    eps = np.finfo(float).eps
    return logit(np.clip(p, eps, 1 - eps))


def slope_of(p, y):
    """The slope of log odds: above 1 if p is too close to the middle, below if too far from it."""
    return -LogOddsAtEpsilon().fit(p, y).sigmoid_.a_


CALIBRATORS = {
    "Platt": PlattCalibrator(),
    "Platt on log odds": LogOddsAtEpsilon(),
    "isotonic": IsotonicCalibrator(),
}
NEAR = 0.01  # predictions closer than this to 0 or 1 are counted


class Candidate(NamedTuple):
    """A model with one method that turns its scores into probabilities."""

    model: Model
    probabilities: Callable


def candidates(model, y):
    """All candidates by method: without calibration, and calibrated on labels y."""
    found = {name: Candidate(model, function) for name, function in model.methods.items()}
    if not model.calibrated:
        return found
    # This many cases cannot distinguish probabilities beyond these limits from 0 or 1.
    low, high = 1 / (len(y) + 2), (len(y) + 1) / (len(y) + 2)
    for name, template in CALIBRATORS.items():
        if name != "Platt on log odds" or model.bounded:
            calibrator = clone(template).fit(model.scores, y)
            found[name] = Candidate(
                model, lambda scores, c=calibrator: np.clip(c.predict(scores), low, high)
            )
    return found


def measure(problem, trial, wanted):
    """One line per learner: test results of the models that are best on the calibration rows."""
    views, y, (train, calibration, test), data = views_of(problem, trial)
    lines = {}
    for learner in wanted:
        models = models_of(learner, views, y, train, calibration, trial)
        best, without = _best(models, y[calibration])
        scores = functools.cache(lambda score: score(test))
        line = {"data": data, "test": len(test), "methods": _tested(best, scores, y[test])}
        # One model for all pictures of a learner, as in the thesis.
        pictured = candidates(best["Platt", RMSE].model, y[calibration])
        pictured |= without.get(best["Platt", RMSE].model.parameters, {})
        line["pictured"] = _pictured(pictured, scores, y[test], trial)
        if problem in CURVES or problem == QUICK:
            line["curve"] = _curve(pictured["before"], scores, y[test], trial)
        lines[learner] = line
    return lines


def _best(models, y):
    """The best candidates by method and measure; by parameters, those without calibration."""
    best, values, without = {}, {}, {}
    for model in models:
        for method, candidate in candidates(model, y).items():
            if not model.calibrated:
                without.setdefault(model.parameters, {})[method] = candidate
            p = candidate.probabilities(model.scores)
            for name, function in CHOSEN_BY.items():
                value = function(y, p)
                if value < values.get((method, name), np.inf):
                    values[method, name], best[method, name] = value, candidate
    return best, without


def _tested(best, scores, y):
    """Measures on the test rows by method, each for the model chosen by it."""
    found = {}
    for (method, name), candidate in best.items():
        p = candidate.probabilities(scores(candidate.model.score))
        results = found.setdefault(method, {"parameters": {}})
        results["parameters"][name] = candidate.model.parameters
        results[name] = round(float(CHOSEN_BY[name](y, p)), 6)
        if name == RMSE:
            results["accuracy"] = round(float(prediction.accuracy(y, p)), 6)
            results["ROC area"] = round(float(prediction.roc_area(y, p)), 6)
            results["calibration error"] = round(float(prediction.calibration_error(y, p)), 6)
    return found


def _pictured(pictured, scores, y, trial):
    """Errors, extremeness and distortion of the predictions of one model, by method."""
    found = {}
    for method, candidate in pictured.items():
        p = candidate.probabilities(scores(candidate.model.score))
        found[method] = {
            "parameters": candidate.model.parameters,
            **{name: round(float(function(y, p)), 6) for name, function in CHOSEN_BY.items()},
            "near 0 or 1": round(float(np.mean(np.minimum(p, 1 - p) < NEAR)), 6),
            "slope": round(slope_of(p, y), 4),
        }
        if trial == 0:
            found[method]["reliability"] = reliability(y, p).round(5).to_dict("list")
    return found


def _curve(before, scores, y, trial):
    """Error by number of calibration cases, on test rows that are never used for calibration."""
    sizes = [size for size in CURVE_SIZES if size < 0.75 * len(y)]
    pool, raw = sizes[-1], scores(before.model.score)
    table = learning_curve(
        raw[:pool],
        y[:pool],
        raw[pool:],
        y[pool:],
        {name: CALIBRATORS[name] for name in ("Platt", "isotonic")},
        sizes=sizes,
        n_draws=N_DRAWS,
        random_state=trial,
    )
    means = table[table["method"] != "uncalibrated"].groupby(["method", "size"])["value"].mean()
    found = {name: group.round(6).tolist() for name, group in means.groupby("method")}
    p = before.probabilities(raw[pool:])
    found["before"] = round(float(prediction.root_mean_squared_error(y[pool:], p)), 6)
    return {"sizes": sizes, **found}


if __name__ == "__main__":
    study.main(__spec__.name)
