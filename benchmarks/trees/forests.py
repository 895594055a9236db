"""Forests by the source of their randomness.

Run `python -m benchmarks.trees.forests --data FOLDER` (an hour on two cores). Bagged trees consider
all columns, some of them (Forest-RI), combinations of columns (Forest-RC) or draw one of the twenty
best splits of a node; trees of random halves of the classes; and extremely random trees without
bagging. Ten folds. The data are not part of the project: see `benchmarks/predictions/uci.py`.
"""

import time

import numpy as np
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from benchmarks import study
from benchmarks.decorate import curve_values
from benchmarks.decorate.curves import QUICK, check_needs, read
from benchmarks.decorate.learners import Indicators
from benchmarks.summary import difference_text, markdown, parts
from benchmarks.trees.forest_kinds import ClassHalves, RandomBestTree, RandomCombinations
from bnmtl.validation import forest_bound

NAME = "forests"
# All splits of 3190 rows with 240 numbers take too long.
TABLES = tuple(table for table in curve_values.TABLES if table != "splice")
SETTINGS = ("table", "kind")
TAKES_DATA = True
N_TREES, N_FOLDS = 100, 10
FIXED = {"trees": N_TREES, "folds": N_FOLDS}
ONE, BAGGING, EXTRA, HALVES = "one tree", "bagging", "extra trees", "halves of the classes"
# Members of a bagged ensemble from the number of columns.
MEMBERS = {
    BAGGING: lambda width: DecisionTreeClassifier(),
    "Forest-RI": lambda width: DecisionTreeClassifier(max_features=_some(width)),
    "Forest-RC": lambda width: make_pipeline(
        RandomCombinations(), DecisionTreeClassifier(max_features=_some(width))
    ),
    "one of 20 best splits": lambda width: RandomBestTree(),
    HALVES: lambda width: ClassHalves(),
}
KINDS = (ONE, *MEMBERS, EXTRA)
__all__ = ["check_needs"]


def _some(width):
    """Columns that Forest-RI considers at a node: one more than log2 of their number."""
    return min(width, int(np.log2(width)) + 1)


def plan(quick):
    """One case per table."""
    if quick:
        return study.every(KINDS, table=[QUICK])
    return study.every(KINDS, table=TABLES)


def measure(table, wanted):
    """One line per kind: mean errors on held-out cases, and Breiman's bound."""
    X, y, data = read(table)
    rows = Indicators().transform(X)
    n_trees, n_folds = (10, 3) if table == QUICK else (N_TREES, N_FOLDS)
    # Classes with fewer cases than folds are in some folds only.
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    hot, lines = np.eye(y.max() + 1)[y], {}
    for kind in wanted:
        began, p, bounds = time.perf_counter(), np.zeros_like(hot), []
        for train, test in folds.split(rows, y):
            imputer = SimpleImputer(keep_empty_features=True).fit(rows[train])
            learned, new = imputer.transform(rows[train]), imputer.transform(rows[test])
            forest = _fitted(kind, learned, y[train], n_trees, seed=len(bounds))
            p[np.ix_(test, forest.classes_)] = forest.predict_proba(new)
            bounds.append(_bound(kind, forest, learned, y[train]))
        strength, correlation = np.mean(bounds, axis=0)
        lines[kind] = {
            "wrong": round(float((p.argmax(axis=1) != y).mean()), 6),
            "squared": round(float(((p - hot) ** 2).sum(axis=1).mean()), 6),
            "strength": None if np.isnan(strength) else round(float(strength), 4),
            "correlation": None if np.isnan(correlation) else round(float(correlation), 4),
            "n_classes": int(y.max()) + 1,
            "data": data,
            "seconds": round(time.perf_counter() - began, 2),
        }
    return lines


def _fitted(kind, X, y, n_trees, seed):
    if kind == EXTRA:
        return ExtraTreesClassifier(n_trees, random_state=seed).fit(X, y)
    if kind == ONE:
        return DecisionTreeClassifier(random_state=seed).fit(X, y)
    member = MEMBERS[kind](X.shape[1])
    return BaggingClassifier(member, n_trees, random_state=seed).fit(X, y)


def _bound(kind, forest, X, y):
    """Strength and correlation of bagged trees that vote for one class."""
    if kind in (ONE, EXTRA, HALVES):
        return np.nan, np.nan
    found = forest_bound(forest, X, y)
    return found.strength, found.correlation


def tables(lines):
    """Means over tables beside bagging, and errors by table."""
    return {"forests": markdown(_means(lines)), "forests_by_table": markdown(_by_table(lines))}


def _means(lines):
    of_bagging = lines[lines["kind"] == BAGGING].set_index("table")
    for case, group in parts(lines, kind=KINDS):
        both = group.set_index("table")
        rival = of_bagging.reindex(both.index)
        row = {"kind": case["kind"], "tables": len(both)}
        row["wrong"] = f"{100 * both['wrong'].mean():.1f} %"
        row["squared error"] = f"{both['squared'].mean():.3f}"
        for name in ("strength", "correlation"):
            known = both[name].dropna()
            row[name] = f"{known.mean():.2f}" if len(known) else ""
        row["wrong less bagging"] = row["squared error less bagging"] = ""
        if case["kind"] != BAGGING:
            row["wrong less bagging"] = difference_text(100 * both["wrong"], 100 * rival["wrong"])
            row["squared error less bagging"] = difference_text(
                both["squared"], rival["squared"], 3
            )
        yield row


def _by_table(lines):
    for case, group in parts(lines, table=(*TABLES, QUICK)):
        wrong = group.set_index("kind")["wrong"]
        yield {**case, **{kind: f"{100 * wrong[kind]:.1f}" for kind in KINDS if kind in wrong}}


if __name__ == "__main__":
    study.main(__spec__.name)
