"""Every p value of the package where there is nothing to find: how often it is below 0.05.

Run `python -m benchmarks.validation.null_p_values` (a quarter of an hour on one core). In each
simulation two learners or strategies, or a network and its data, are the same by construction, so
a p value should be below 0.05 in at most 5 % of them.
"""

import time
import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from benchmarks import study
from benchmarks.summary import LEVEL, markdown
from bnmtl import BayesNet, structures
from bnmtl.active import RandomQuery, improvement, run_experiment
from bnmtl.confidence import predictive_check
from bnmtl.validation import Rounds, compare, predict_rounds

NAME = "null_p_values"
SETTINGS = ("null", "learner", "batch")
SIZE = 50  # simulations of a batch
FIXED = {"size": SIZE}
TREES, BAYES = "trees", "naive Bayes"
LEARNERS = {TREES: DecisionTreeClassifier(random_state=0), BAYES: GaussianNB()}
SCHEMES = {
    "10 folds": {"scheme": "kfold", "rounds": 1, "folds": 10},
    "3 times 10 folds": {"scheme": "kfold", "rounds": 3, "folds": 10},
    "15 hold-outs of 10 %": {"scheme": "holdout", "rounds": 15, "test_size": 0.1},
    "15 bootstraps": {"scheme": "bootstrap", "rounds": 15},
}
FITTED, GROUPED = "predictions exchanged by case", "predictions exchanged by group of cases"
CURVES, EXPERIMENTS = "drawn learning curves", "random queries, 10 folds"
CHECKED = "rows of the network"
TOPS = (1.0, 0.2)
N_BATCHES = {CURVES: 20, FITTED: 12, GROUPED: 12, **dict.fromkeys(SCHEMES, 4)}
N_BATCHES |= {"15 hold-outs of 10 %": 12, CHECKED: 4, EXPERIMENTS: 4}
N_QUICK = 4  # simulations
QUICK = {CURVES: "-", FITTED: "-", GROUPED: "-", "10 folds": BAYES}  # null -> learner


def plan(quick):
    """One case per null hypothesis and learner, with its batches."""
    if quick:
        few = {"n_simulations": N_QUICK, "wanted": [0]}
        return [{"null": null, "learner": one, **few} for null, one in QUICK.items()]
    found = []
    for null, n in N_BATCHES.items():
        learners = LEARNERS if null in SCHEMES else ["-"]
        found += study.every(range(n), null=[null], learner=learners)
    return found


def measure(null, learner, wanted, n_simulations=SIZE):
    """One line per batch: how many p values were below 0.05 and, of curves, the mean gains."""
    lines = {}
    for batch in wanted:
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seeds = range(batch * n_simulations, (batch + 1) * n_simulations)
            found = pd.DataFrame([_SIMULATIONS[null](null, learner, seed) for seed in seeds])
        gains = [name for name in found if name.startswith("gain")]
        of_p = found.drop(columns=gains)
        lines[batch] = {
            "n": n_simulations,
            "n_below": (of_p < LEVEL).sum().to_dict(),
            "sums": {name: round(float(found[name].sum()), 4) for name in gains},
            "squares": {name: round(float((found[name] ** 2).sum()), 4) for name in gains},
            "seconds": round(time.perf_counter() - began, 1),
        }
    return lines


class OfColumns(ClassifierMixin, BaseEstimator):
    """A classifier that sees some of the columns."""

    def __init__(self, model=None, columns=()):
        self.model, self.columns = model, columns

    def fit(self, X, y):
        """Fit to the columns."""
        self._fitted = clone(self.model).fit(X[:, list(self.columns)], y)
        self.classes_ = self._fitted.classes_
        return self

    def predict_proba(self, X):
        """Probabilities of all classes."""
        return self._fitted.predict_proba(X[:, list(self.columns)])


def cases(seed, n=100):
    """Cases of two classes, with two pairs of columns that say equally much of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 4)) + 0.6 * y[:, None], y


def _learners(null, learner, seed):
    """One learner on two of the columns, and the same on the other two."""
    X, y = cases(seed)
    first, second = (
        predict_rounds(
            OfColumns(LEARNERS[learner], columns), X, y, random_state=seed, **SCHEMES[null]
        )
        for columns in ((0, 1), (2, 3))
    )
    found = compare(first, second, n_resamples=199, random_state=seed)
    return {name: getattr(found, name) for name in ("p_corrected", "p_mcnemar", "p_randomization")}


def fitted_models(seed, n=80, n_groups=None):
    """Rounds of two models whose predictions for a case, or a group of cases, are exchangeable."""
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], n // 2)
    group = np.arange(n) if n_groups is None else np.arange(n) % n_groups
    easy = rng.normal(size=group.max() + 1)
    # In a group a model errs in the same direction, independent of the other model.
    of_models = rng.normal(size=(2, group.max() + 1))
    scores = (2 * y - 1) * 0.7 + easy[group] + of_models[:, group]
    p = 1 / (1 + np.exp(-scores))
    test = np.arange(n) % 5
    in_bag = (test != np.arange(5)[:, None]).astype(int)
    groups = None if n_groups is None else group
    return [
        Rounds(
            np.where(in_bag[:, :, None], np.nan, np.stack([1 - one, one], axis=1)),
            y,
            [0, 1],
            in_bag,
            group=groups,
        )
        for one in p
    ]


def _fitted(null, learner, seed):
    first, second = fitted_models(seed, n_groups=None if null == FITTED else 20)
    options = {"n_resamples": 199, "random_state": seed}
    found = {
        f"p_randomization, {metric}": compare(first, second, metric, **options).p_randomization
        for metric in ("accuracy", "squared_error", "roc_area")
    }
    if null == FITTED:
        found["p_mcnemar"] = compare(first, second, **options).p_mcnemar
    return found


def drawn_curves(seed, n_trials=10, n_points=15):
    """Two learning curves with the same mean and noise that stays for some points."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(2, n_trials, n_points))
    for at in range(1, n_points):
        noise[:, :, at] = 0.6 * noise[:, :, at - 1] + 0.8 * noise[:, :, at]
    errors = np.linspace(0.4, 0.15, n_points) + 0.05 * noise
    names = ["strategy", "trial", "n_labels"]
    at = pd.MultiIndex.from_product(
        [["ours", "random"], range(n_trials), 5 + 5 * np.arange(n_points)], names=names
    )
    frame = pd.DataFrame({"error": np.maximum(errors, 0).ravel()}, at).reset_index()
    return frame.assign(data="d", n_pool=90, n_test=10)


def _improvements(curves):
    found = {}
    for top in TOPS:
        line = improvement(curves, "random", top=top).iloc[0]
        found |= {f"{name}, top {top:g}": line[name] for name in ("p", "p_corrected")}
        found[f"gain, top {top:g}"] = line["percent"]
    return found


def _curves(null, learner, seed):
    return _improvements(drawn_curves(seed))


def _experiments(null, learner, seed):
    """Two strategies that ask for random cases, whose models see different columns."""
    strategies = {
        "ours": (RandomQuery(), OfColumns(GaussianNB(), (0, 1))),
        "random": (RandomQuery(), OfColumns(GaussianNB(), (2, 3))),
    }
    options = {"first": "classes", "batch_size": 6, "n_labels": 50, "cv": 10}
    curves = run_experiment(strategies, cases(seed), random_state=seed, **options)
    return _improvements(curves)


NETWORK = structures.load("asia")


def _checked(null, learner, seed):
    """Rows of a network, and a network of the same graph that is fitted to them."""
    rows = NETWORK.sample(200, random_state=seed)
    fitted = BayesNet.fit(NETWORK.graph, rows, equivalent_sample_size=1)
    found = predictive_check(fitted, rows, n=100, random_state=seed)
    rng = np.random.default_rng(seed)
    return {
        "p, one pair": found["p"].iloc[rng.integers(len(found))],
        "p_corrected, smallest of all pairs": found["p_corrected"].min(),
    }


_SIMULATIONS = {
    **dict.fromkeys(SCHEMES, _learners),
    FITTED: _fitted,
    GROUPED: _fitted,
    CURVES: _curves,
    EXPERIMENTS: _experiments,
    CHECKED: _checked,
}


def rates(lines):
    """Number of simulations and share below 0.05 of each p value.

    Returns
    -------
    pandas.DataFrame
        Columns null, learner, p value, simulations, share, and the most that 5 % and two standard
        errors allow.
    """
    rows = []
    for (null, learner), part in lines.groupby(["null", "learner"], sort=False):
        n = int(part["n"].sum())
        for name in part["n_below"].iloc[0]:
            share = sum(one[name] for one in part["n_below"]) / n
            most = LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / n)
            rows.append((null, learner, name, n, share, most))
    return pd.DataFrame(rows, columns=["null", "learner", "p value", "n", "share", "most"])


def tables(lines):
    """Shares of p values below 0.05, and mean gains between equal curves."""
    if not len(lines):
        return {}
    found = rates(lines)
    shown = pd.DataFrame(
        {
            "nothing differs between": found["null"],
            "learner": found["learner"],
            "p value": found["p value"],
            "simulations": found["n"],
            "below 0.05": [f"{100 * one:.1f} %" for one in found["share"]],
            "at most": [f"{100 * one:.1f} %" for one in found["most"]],
        }
    )
    return {"null_p_values": markdown(shown), "null_gains": markdown(_gains(lines))}


def _gains(lines):
    rows = []
    for null in (CURVES, EXPERIMENTS):
        part = lines[lines["null"] == null]
        for top in TOPS if len(part) else ():
            name, n = f"gain, top {top:g}", part["n"].sum()
            mean = sum(one[name] for one in part["sums"]) / n
            square = sum(one[name] for one in part["squares"]) / n
            error = np.sqrt((square - mean**2) / n)
            rows.append({"curves": null, "top": top, "mean gain (%)": f"{mean:.2f} ± {error:.2f}"})
    return pd.DataFrame(rows)


if __name__ == "__main__":
    study.main(__spec__.name)
