"""Errors of ensembles by the number of their members (Melville, section 4.5).

Run `python -m benchmarks.decorate.ensemble_sizes --data FOLDER` (an hour on two cores). Ensembles
have up to 100 members, of which the first few also predict by themselves; all tables are measured
with 20 % of their training cases, four of them at all points of the learning curve. A line has the
errors of one method on a table, by point, number of members and fold. The data are not part of the
project: see `benchmarks/predictions/uci.py`.
"""

import time

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from benchmarks import study
from benchmarks.claims import Claim, claims_table
from benchmarks.decorate.curve_values import TABLES
from benchmarks.decorate.curves import PERCENTS, QUICK, check_needs, folds_of, members_of, read
from benchmarks.decorate.learners import DECORATE, Indicators, bagging, boosting, decorate, forest
from benchmarks.summary import markdown
from bnmtl import plotting
from bnmtl.seeding import generator
from bnmtl.wording import count

NAME = "decorate_sizes"
SETTINGS = ("table", "method")
TAKES_DATA = True
MOST = 100
MAX_ITERATIONS = 300
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 25, 35, 50, 75, 100)
METHODS = (DECORATE, "bagging", "forest", "AdaBoost")
POINT = 20
AT_ALL_POINTS = ("autos", "breast-w", "labor", "soybean")
FIXED = {"most": MOST, "max_iterations": MAX_ITERATIONS, "alpha": 0.003}
__all__ = ["check_needs"]


def plan(quick):
    """One case per table."""
    return study.every(METHODS, table=[QUICK] if quick else TABLES)


def measure(table, wanted):
    """One line per method."""
    X, y, data = read(table)
    parts = folds_of(table, y)
    points = PERCENTS if table in AT_ALL_POINTS else (POINT,)
    lines = {}
    for method in wanted:
        began = time.perf_counter()
        errors = {
            f"{point}%": np.transpose(
                [_fold(method, X, y, rows, (table, 0, at), point) for at, rows in enumerate(parts)]
            )
            for point in points
        }
        lines[method] = {
            "data": data,
            "n_train": len(parts[0][0]),
            "most_frequent": round(float(np.bincount(y).max() / len(y)), 5),
            "error": {
                point: dict(zip(map(str, SIZES), found.tolist(), strict=True))
                for point, found in errors.items()
            },
            "seconds": round(time.perf_counter() - began, 2),
        }
    return lines


def _fold(method, X, y, rows, names, percent):
    """Errors on the test part of a fold, by number of members."""
    pool, test = rows
    order = generator(0, "order", *names).permutation(pool)
    some = order[: max(1, round(percent * len(pool) / 100))]
    seed = int(generator(0, "method", *names).integers(2**31 - 1))
    if len(np.unique(y[some])) == 1:
        return [round(float(np.mean(y[test] != y[some[0]])), 5)] * len(SIZES)
    model = _ensemble(method, X, seed).fit(X.iloc[some], y[some])
    staged = _staged_codes(model, X.iloc[test], int(y.max()) + 1)
    errors = [float(np.mean(codes != y[test])) for codes in staged]
    # Where an ensemble has fewer members, all of them predict.
    return [round(errors[min(size, len(errors)) - 1], 5) for size in SIZES]


def _ensemble(method, X, seed):
    """An ensemble of up to `MOST` members."""
    if method == DECORATE:
        return decorate(seed, n_estimators=MOST, max_iterations=MAX_ITERATIONS)
    if method == "bagging":
        return bagging(seed, MOST)
    if method == "AdaBoost":
        return make_pipeline(Indicators(), boosting(seed, MOST))
    return make_pipeline(Indicators(), forest(seed, X).set_params(n_estimators=MOST))


def _staged_codes(model, X, n_classes):
    """Codes of the predicted classes by the first member, the first two, ..."""
    if hasattr(model, "steps") and hasattr(model[-1], "staged_decision_function"):
        boosted = model[-1]
        for scores in boosted.staged_decision_function(model[:-1].transform(X)):
            is_binary = scores.ndim == 1
            yield boosted.classes_[(scores > 0).astype(int) if is_binary else scores.argmax(axis=1)]
        return
    members = members_of(model, X, np.arange(n_classes))
    yield from members.cumsum(axis=0).argmax(axis=2)


def tables(lines):
    """Mean errors by number of members, and the claims."""
    if not len(lines):
        return {}
    rows = []
    for method, part in lines.groupby("method", sort=False):
        ratios = _ratios(part)
        cells = {count(size, "member"): f"{ratios[size]:.3f}" for size in SIZES}
        rows.append({"error relative to 15 members": method} | cells)
    return {
        "decorate_sizes": markdown(pd.DataFrame(rows)),
        "decorate_sizes_claims": claims_table(claims(lines)),
    }


def _ratios(part):
    """Geometric mean over tables of the error relative to that of 15 members, by size."""
    errors = pd.DataFrame(
        [{size: np.mean(by[f"{POINT}%"][str(size)]) for size in SIZES} for by in part["error"]]
    )
    return np.exp(
        np.log(errors.clip(lower=1e-4)).sub(np.log(errors[15].clip(lower=1e-4)), axis=0).mean()
    )


def claims(lines):
    """The claims of section 4.5 that the lines can answer."""
    ours = lines[lines["method"] == DECORATE]
    if len(ours):
        ratios = _ratios(ours)
        shown = {f"{size} members": f"{ratios[size]:.3f}" for size in (3, 5, 10, 25, 100)}
        text = "the error levels out at 10 to 25 members (of 25 within 3 % of 100, of 3 not)"
        levels = ratios[25] < 1.03 * ratios[100] and ratios[3] > 1.03 * ratios[100]
        yield Claim(text, "yes", shown, bool(levels))
    rows = []
    for table, part in lines[lines["table"].isin(AT_ALL_POINTS)].groupby("table"):
        by = part.set_index("method")["error"]
        if set(METHODS) <= set(by.index):
            few = [point for point in by[DECORATE] if float(point[:-1]) <= POINT]
            means = {
                name: np.mean([by[name][point][str(MOST)] for point in few]) for name in METHODS
            }
            rows.append((table, min(means, key=means.get)))
    if rows:
        best = sum(name == DECORATE for _, name in rows)
        text = f"with {MOST} members, DECORATE is best with few cases"
        yield Claim(text, "4 of 4", dict(rows), (best, len(rows)))


def draw(lines):
    """Errors by number of members, one panel per table."""
    rows = []
    for table, method, errors in zip(lines["table"], lines["method"], lines["error"], strict=True):
        for size, folds in errors[f"{POINT}%"].items():
            rows += [(table, method, at, int(size), one) for at, one in enumerate(folds)]
    columns = ["data", "strategy", "trial", "n_labels", "error"]
    return plotting.strategy_curves(pd.DataFrame(rows, columns=columns), xlabel="members")


def more_pictures(lines):
    """Learning curves with the largest ensembles, one panel per table that has them."""
    rows = []
    chosen = lines[lines["table"].isin(AT_ALL_POINTS)]
    for line in chosen.to_dict("records"):
        for point, by in line["error"].items():
            n = max(1, round(float(point[:-1]) * line["n_train"] / 100))
            rows += [
                (line["table"], line["method"], at, n, one) for at, one in enumerate(by[str(MOST)])
            ]
    if not rows:
        return {}
    columns = ["data", "strategy", "trial", "n_labels", "error"]
    frame = pd.DataFrame(rows, columns=columns)
    return {f"{NAME}-{MOST}": plotting.strategy_curves(frame, xlabel="training cases")}


if __name__ == "__main__":
    study.main(__spec__.name)
