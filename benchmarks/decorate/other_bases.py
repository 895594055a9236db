"""DECORATE, bagging and AdaBoost with nets, naive Bayes and learned networks as the base.

Run `python -m benchmarks.decorate.other_bases --data FOLDER` (an hour on two cores): sections 4.8
and 4.9 of Melville's thesis, and network classifiers, which it does not have. A line has the errors
of one method on a table, by point of the learning curve and fold. The data are not part of the
project: see `benchmarks/predictions/uci.py`.
"""

import time

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier

from benchmarks import study
from benchmarks.claims import Claim, claims_table
from benchmarks.decorate.bases import BASES, boosted
from benchmarks.decorate.curve_values import TABLES, record
from benchmarks.decorate.curves import QUICK, check_needs, folds_of, read
from benchmarks.decorate.learners import MAX_ITERATIONS, SIZE
from benchmarks.summary import markdown
from bnmtl import plotting
from bnmtl.active import BaggingCommittee
from bnmtl.decorate import DecorateClassifier
from bnmtl.metrics.cases import probabilities_of
from bnmtl.seeding import generator

NAME = "decorate_bases"
SETTINGS = ("base", "table", "method")
TAKES_DATA = True
PERCENTS = (5, 10, 20, 50, 100)
POINTS = tuple(f"{one}%" for one in PERCENTS)
ALONE, DECORATE, BAGGING, BOOSTING = "the base", "DECORATE", "bagging", "AdaBoost"
METHODS = (ALONE, BAGGING, BOOSTING, DECORATE)
COMPARED = (
    *((one, ALONE) for one in (DECORATE, BAGGING, BOOSTING)),
    *((DECORATE, one) for one in (BAGGING, BOOSTING)),
)
# Base, method, rival, claim, what the thesis says of it.
CLAIMS = (
    ("neural net", DECORATE, ALONE, "DECORATE better than one net", "yes"),
    ("neural net", DECORATE, BAGGING, "DECORATE better than bagged nets", "yes"),
    ("neural net", DECORATE, BOOSTING, "DECORATE better than boosted nets", "yes"),
    ("neural net", BOOSTING, ALONE, "boosting helps nets", "no"),
    ("naive Bayes", DECORATE, ALONE, "DECORATE helps naive Bayes consistently", "no"),
    ("naive Bayes", BAGGING, ALONE, "bagging helps naive Bayes consistently", "no"),
    ("naive Bayes", BOOSTING, ALONE, "boosting helps naive Bayes consistently", "no"),
    ("network", DECORATE, ALONE, "DECORATE helps learned networks", "ours"),
    ("network", BAGGING, ALONE, "bagging helps learned networks", "ours"),
)
# Fits of nets and of networks take long, so they have few tables, and none with many rows.
CHOSEN = {
    "neural net": ("breast-w", "labor"),
    "naive Bayes": TABLES,
    "network": ("autos", "breast-w", "glass", "heart-c", "iris", "labor", "lymph"),
}
FIXED = {"size": SIZE, "bins": 5}
QUICK_PERCENTS = (20, 100)
__all__ = ["check_needs"]


def plan(quick):
    """One case per base and table."""
    if quick:
        return study.every([ALONE, DECORATE], base=["naive Bayes"], table=[QUICK])
    cases = []
    for base, names in CHOSEN.items():
        methods = [one for one in METHODS if base != "network" or one != BOOSTING]
        cases += study.every(methods, base=[base], table=names)
    return cases


def measure(base, table, wanted):
    """One line per method."""
    X, y, data = read(table)
    folds = folds_of(table, y)
    lines = {}
    for method in wanted:
        began = time.perf_counter()
        errors = {
            f"{percent}%": [
                _error(base, method, X, y, rows, (table, 0, at), percent)
                for at, rows in enumerate(folds)
            ]
            for percent in (QUICK_PERCENTS if table == QUICK else PERCENTS)
        }
        lines[method] = {
            "data": data,
            "repeat": 0,
            "n_train": len(folds[0][0]),
            "most_frequent": round(float(np.bincount(y).max() / len(y)), 5),
            "error": errors,
            "seconds": round(time.perf_counter() - began, 2),
        }
    return lines


def _error(base, method, X, y, rows, names, percent):
    """The error of a method in a fold, fitted to a part of its training cases."""
    pool, test = rows
    order = generator(0, "order", *names).permutation(pool)
    some = order[: max(1, round(percent * len(pool) / 100))]
    seed = int(generator(0, "method", *names).integers(2**31 - 1))
    model = _model(base, method, X.iloc[some], seed)
    if len(np.unique(y[some])) == 1:
        model = DummyClassifier()
    model.fit(X.iloc[some], y[some])
    p = probabilities_of(model, X.iloc[test], np.arange(int(y.max()) + 1))
    return round(float(np.mean(p.argmax(axis=1) != y[test])), 5)


def _model(base, method, X, seed):
    """The base alone, or an ensemble of it."""
    if method == BOOSTING:
        return boosted(base, X, SIZE, seed)
    member = BASES[base]()
    if method == DECORATE:
        options = {"n_estimators": SIZE, "max_iterations": MAX_ITERATIONS}
        return DecorateClassifier(member, **options, random_state=seed)
    if method == BAGGING:
        return BaggingCommittee(member, SIZE, random_state=seed)
    seeds = [name for name in member.get_params() if name.endswith("random_state")]
    return member.set_params(**dict.fromkeys(seeds, seed))


def tables(lines):
    """Significant records and error ratios against the base by base and point, and the claims."""
    if not len(lines):
        return {}
    rows = []
    for base, part in lines.groupby("base", sort=False):
        for method, rival in COMPARED:
            if not {method, rival} <= set(part["method"]):
                continue
            row = {"base": base, "method": method, "against": rival}
            for point in POINTS:
                found = record(part, method, rival, point)
                row[point] = f"{found.texts()[1]}, {found.ratio:.3f}" if found.n else ""
            rows.append(row)
    return {
        "decorate_bases": markdown(pd.DataFrame(rows)),
        "decorate_bases_claims": claims_table(claims(lines)),
    }


def claims(lines):
    """The claims of sections 4.8 and 4.9, and ours about networks."""
    by = {base: lines[lines["base"] == base] for base in lines["base"].unique()}
    for base, method, rival, text, published in CLAIMS:
        if base in by:
            found = {point: record(by[base], method, rival, point) for point in POINTS}
            found = {point: one for point, one in found.items() if one.n}
            shown = {point: f"{one.texts()[1]}, {one.ratio:.3f}" for point, one in found.items()}
            holding = sum(one.ratio < 1 for one in found.values())
            yield Claim(text, published, shown, (holding, len(found)))


def draw(lines):
    """Errors by number of training cases, one panel per base and table."""
    rows = []
    chosen = lines[lines["table"].isin([*CHOSEN["neural net"], QUICK])]
    for line in chosen.to_dict("records"):
        for point, folds in line["error"].items():
            n = max(1, round(float(point[:-1]) * line["n_train"] / 100))
            name = f"{line['base']}, {line['table']}"
            rows += [(name, line["method"], at, n, one) for at, one in enumerate(folds)]
    columns = ["data", "strategy", "trial", "n_labels", "error"]
    return plotting.strategy_curves(pd.DataFrame(rows, columns=columns), xlabel="training cases")


if __name__ == "__main__":
    study.main(__spec__.name)
