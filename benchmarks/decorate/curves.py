"""Learning curves of DECORATE and its rivals on fifteen tables (Melville, chapter 4).

Run `python -m benchmarks.decorate.curves --data FOLDER` (hours on two cores). Ten folds; at each
point the same random part of the training cases for all methods. A line has the errors of one
method on a table in one repetition of the cross-validation, by point and fold. Eighteen more tables
have the point of all training cases only. The data are not part of the project: see
`benchmarks/predictions/uci.py`.
"""

import time

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

from benchmarks import study
from benchmarks.claims import claims_table
from benchmarks.decorate import curve_tables
from benchmarks.decorate.curve_claims import claims
from benchmarks.decorate.curve_pictures import draw, more_pictures
from benchmarks.decorate.curve_values import MORE_TABLES, N_FOLDS, TABLES
from benchmarks.decorate.learners import BASE, DECORATE, METHODS, fitted
from benchmarks.predictions import uci
from bnmtl.metrics.cases import probabilities_of
from bnmtl.seeding import generator

NAME = "decorate_curves"
SETTINGS = ("table", "repeat", "method")
TAKES_DATA = True
N_REPEATS = 3
PERCENTS = (1, 2, 5, 10, 20, 30, 40, 50, 75, 100)
WITH_15 = (1, 2, 5, 10, 15, 20, 30, 40, 50, 75, 100)  # in the tables of unlabeled cases
FEW_CASES = (10, 15, 20, 25, 30)  # for diversity (table 4.7)
MAIN = (BASE, "bagging", "forest", "AdaBoost", DECORATE)
WITH_MEMBERS = ("bagging", "AdaBoost", DECORATE)
SIZES = tuple(name for name in METHODS if name.startswith("size "))
FIXED = {"size": 15, "alpha": 0.003}
QUICK = "iris of scikit-learn"
__all__ = ["draw", "more_pictures"]


def tables(lines):
    """All tables as Markdown, by name, and the claims."""
    found = curve_tables.tables(lines)
    return found | ({"decorate_curves_claims": claims_table(claims(lines))} if found else {})


def plan(quick, trials=None):
    """One case per table and repetition; methods other than the main ones in the first only."""
    if quick:
        return study.every([*MAIN, "unlabeled", "size 0.5"], table=[QUICK], repeat=[0])
    cases = study.every(
        lambda table, repeat: MAIN if repeat else METHODS,
        repeat=range(trials or N_REPEATS),
        table=TABLES,
    )
    return cases + study.every([BASE, "AdaBoost", DECORATE], repeat=[0], table=MORE_TABLES)


def check_needs(cases, lines):
    """Raise ValueError unless the tables are there, as they were for the lines."""
    names = {case["table"] for case in cases} - {QUICK}
    uci.check_same({name: name for name in names}, lines, "table")


def read(name):
    """Features, codes of the classes, and a fingerprint."""
    if name == QUICK:
        X, y = load_iris(return_X_y=True, as_frame=True)
        return X, y.to_numpy(), ""
    table = uci.read(name)
    return table.features, np.unique(table.classes, return_inverse=True)[1], uci.fingerprint(name)


def folds_of(table, y, repeat=0):
    """Rows of the training and the test part of each fold, the same for all studies."""
    state = int(generator(0, "folds", table, repeat).integers(2**32 - 1))
    n_folds = 3 if table == QUICK else N_FOLDS
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=state).split(y, y))


def points_of(method, table):
    """Percents of the training cases, and numbers of cases."""
    if table == QUICK:
        return ((20,) if method == "unlabeled" else (20, 100)), (10,)
    if table in MORE_TABLES:
        return (100,), ()
    if method in SIZES:
        return (20, 100), ()
    if method == "unlabeled":
        return tuple(one for one in WITH_15 if 5 <= one <= 50), ()
    percents = WITH_15 if method in (BASE, DECORATE, "pool") else PERCENTS
    return percents, FEW_CASES if method in WITH_MEMBERS else ()


def measure(table, repeat, wanted):
    """One line per method."""
    X, y, data = read(table)
    folds = folds_of(table, y, repeat)
    lines = {}
    for method in wanted:
        began = time.perf_counter()
        found = [
            _fold(method, X, y, rows, (table, repeat, fold)) for fold, rows in enumerate(folds)
        ]
        points = list(found[0])
        lines[method] = {
            "data": data,
            "n_train": len(folds[0][0]),
            "most_frequent": round(float(np.bincount(y).max() / len(y)), 5),
            **{
                value: {point: [one[point][value] for one in found] for point in points}
                for value in found[0][points[0]]
            },
            "seconds": round(time.perf_counter() - began, 2),
        }
    return lines


def _fold(method, X, y, rows, names):
    """Errors, diversity, members and their mean error on the test part, by point."""
    pool, test = rows
    order = generator(0, "order", *names).permutation(pool)
    percents, numbers = points_of(method, names[0])
    sizes = {f"{one}%": max(1, round(one * len(pool) / 100)) for one in percents}
    sizes |= {f"{one} cases": one for one in numbers if one <= len(pool)}
    seed = int(generator(0, "method", *names).integers(2**31 - 1))
    found = {}
    for point, size in sizes.items():
        unlabeled = X.iloc[order[size:]] if method == "unlabeled" else None
        model = fitted(method, X.iloc[order[:size]], y[order[:size]], seed, unlabeled)
        found[point] = _measured(model, X.iloc[test], y[test], int(y.max()) + 1)
    return found


def _measured(model, X, y, n_classes):
    """The values of one fold at one point."""
    classes = np.arange(n_classes)
    p = probabilities_of(model, X, classes)
    found = {"error": round(float(np.mean(p.argmax(axis=1) != y)), 5)}
    members = members_of(model, X, classes)
    if members is None:
        # One model alone, or an ensemble of a single class.
        return found | {"diversity": 0.0, "member_error": found["error"], "n_members": 1}
    errors = (members.argmax(axis=2) != y).mean(axis=1)
    # The ensemble predicts by weighted votes in AdaBoost, and otherwise the mean of its members.
    differs = members.argmax(axis=2) != p.argmax(axis=1)
    return found | {
        "diversity": round(float(differs.mean()), 5),
        "member_error": round(float(errors.mean()), 5),
        "n_members": len(members),
    }


def members_of(model, X, classes):
    """Probabilities of the members that have a vote; None for other models than ensembles."""
    if hasattr(model, "member_probabilities"):
        p = model.member_probabilities(X)
        found = np.zeros((*p.shape[:2], len(classes)))
        found[:, :, model.classes_] = p
        return found
    if not hasattr(model, "steps"):
        return None
    inner, rows = model[-1], model[:-1].transform(X)
    if not hasattr(inner, "estimators_"):
        return None
    votes = getattr(inner, "estimator_weights_", None)
    chosen = [one for at, one in enumerate(inner.estimators_) if votes is None or votes[at] > 0]
    # Trees of a forest know classes by their position.
    is_coded = votes is None
    known = inner.classes_
    return np.stack([_of_member(one, rows, known, classes, is_coded) for one in chosen])


def _of_member(member, rows, known, classes, is_coded):
    """Probabilities of all classes by one member."""
    p = member.predict_proba(rows)
    labels = known[member.classes_.astype(int)] if is_coded else member.classes_
    found = np.zeros((len(rows), len(classes)))
    found[:, labels] = p
    return found


if __name__ == "__main__":
    study.main(__spec__.name)
