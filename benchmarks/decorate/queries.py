"""Active learning for classification and for probabilities (Melville, chapters 6 and 7).

Run `python -m benchmarks.decorate.queries --data FOLDER` (hours on two cores). Each fold of a
cross-validation is a pool without labels at first; strategies ask for batches of labels. A line has
the curves of one strategy on a table: errors, squared errors and lift chart areas by number of
labels and fold. The data are not part of the project: see `benchmarks/predictions/uci.py`.
"""

import numpy as np
from sklearn.pipeline import make_pipeline

from benchmarks import study
from benchmarks.decorate.curves import QUICK, read
from benchmarks.decorate.curves import check_needs as check_tables
from benchmarks.decorate.learners import Indicators, decorate, tree
from benchmarks.decorate.query_tables import (
    ASKS_FOR,
    RANDOM,
    SQUARED,
    draw,
    more_pictures,
    tables,
)
from bnmtl.active import (
    ActiveDecorate,
    ActiveDecorateJS,
    BootstrapJS,
    BootstrapLV,
    BootstrapLVExt,
    QueryByBagging,
    QueryByBoosting,
    RandomQuery,
    run_experiment,
)
from bnmtl.active.committees import TreeCommittee
from bnmtl.seeding import generator
from bnmtl.trees import ProbabilityTree

NAME = "decorate_queries"
SETTINGS = ("part", "table", "repeat", "strategy")
TAKES_DATA = True
FIXED = {"size": 15, "folds": 10, "first": 5}
LABELS, PROBABILITIES, EARLY = "classification", "probabilities", "early"
FOR_LABELS = (
    *("soybean", "vowel", "heart-statlog", "hepatitis", "primary-tumor", "heart-c", "sonar"),
    *("heart-h", "glass", "diabetes", "lymph", "labor", "iris", "credit-g", "breast-w"),
)
TWO_CLASSES = (
    *("breast-w", "colic", "credit-a", "credit-g", "diabetes", "heart-c", "hepatitis"),
    *("ionosphere", "kr-vs-kp", "sick", "sonar", "vote"),
)
MORE_CLASSES = (
    *("anneal", "autos", "balance-scale", "car", "glass", "hypothyroid", "iris", "nursery"),
    *("optdigits", "segment", "soybean", "wine"),
)
# Rows of the tables of probabilities, drawn at random; the first three are those of the thesis.
MOST_ROWS = {
    "kr-vs-kp": 1000,
    "sick": 1000,
    "optdigits": 1000,
    "hypothyroid": 2500,
    "nursery": 2500,
}
N_STEPS = {PROBABILITIES: 33, EARLY: 15}
N_REPEATS = {LABELS: 2, PROBABILITIES: 1, EARLY: 1}
# Labels per step, for classification; one otherwise. Beyond FINE labels, batches grow; the last
# ones, which define the target, are small again.
BATCHES = {"primary-tumor": 2} | dict.fromkeys(
    ("breast-w", "soybean", "diabetes", "vowel", "credit-g"), 3
)
FINE, GROWTH, LAST, LAST_BATCH = 60, 1.08, 50, 10
# Selecting by one committee for another (table 6.4): tables and labels at the end.
MIXED = {"soybean": 300, "glass": 100, "primary-tumor": 200, "heart-statlog": 100}
LIMITED = (
    *("bagging asks for DECORATE", "boosting asks for DECORATE"),
    *ASKS_FOR,
    *ASKS_FOR.values(),
)
__all__ = ["draw", "more_pictures", "tables"]


def strategies(part):
    """Pairs of a strategy and its predictor, by name; seeds are set by the experiment.

    The base of classification is a pruned tree. That of probabilities is, for all strategies, a
    full tree with Laplace's correction (section 7.3.1).
    """
    base = tree() if part == LABELS else ProbabilityTree(smoothing="laplace")
    ensemble, bagged = decorate(None, base), TreeCommittee()
    asked_for = {
        "bagging": QueryByBagging(base).committee(),
        "boosting": QueryByBoosting(base).committee(),
        "tree": make_pipeline(Indicators(), base),
    }
    return {
        **{f"random, {name}": (RandomQuery(), one) for name, one in asked_for.items()},
        **{
            f"DECORATE asks for {name}": (ActiveDecorate(base), one)
            for name, one in asked_for.items()
        },
        RANDOM: (RandomQuery(), ensemble),
        SQUARED: (RandomQuery(), decorate(None, base, reject="squared")),
        "ActiveDecorate": ActiveDecorate(base),
        "ActiveDecorate by divergence": ActiveDecorate(base, utility="jensen_shannon"),
        "query by bagging": QueryByBagging(base),
        "query by boosting": QueryByBoosting(base),
        "bagging asks for DECORATE": (QueryByBagging(base), ensemble),
        "boosting asks for DECORATE": (QueryByBoosting(base), ensemble),
        "ActiveDecorateJS": ActiveDecorateJS(base),
        "random, bagged trees": (RandomQuery(), bagged),
        "BootstrapLV": BootstrapLV(),
        "BootstrapLVExt": BootstrapLVExt(),
        "BootstrapJS": BootstrapJS(),
    }


def wanted_of(part, table):
    """The strategies of a table."""
    if part == LABELS:
        names = [RANDOM, "ActiveDecorate", "ActiveDecorate by divergence"]
        names += ["query by bagging", "query by boosting"]
        return names + (list(LIMITED) if table in MIXED else [])
    both = [RANDOM, SQUARED, "random, bagged trees", "BootstrapJS", "ActiveDecorateJS"]
    if part == EARLY:
        return both
    rest = "BootstrapLV" if table in TWO_CLASSES else "BootstrapLVExt"
    return [*both, "ActiveDecorate", rest]


def plan(quick, trials=None):
    """One case per part, table and repetition of the cross-validation."""
    if quick:
        return study.every([RANDOM, "ActiveDecorate"], part=[LABELS], table=[QUICK], repeat=[0])
    cases = []
    for part, n in N_REPEATS.items():
        names = FOR_LABELS if part == LABELS else TWO_CLASSES + MORE_CLASSES
        repeats = range(trials or n)
        cases += study.every(_wanted, part=[part], repeat=repeats, table=names)
    return cases


def _wanted(part, table, repeat):
    return wanted_of(part, table)


def check_needs(cases, lines):
    """Raise ValueError unless the tables are there, as they were for the lines."""
    check_tables(cases, lines)


def rows_of(table, part):
    """Features and labels; large tables of probabilities have fewer rows, drawn at random."""
    X, y, data = read(table)
    most = MOST_ROWS.get(table, len(X))
    if part != LABELS and len(X) > most:
        rows = np.sort(generator(0, "rows", table).permutation(len(X))[:most])
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return X, y, data


def batches(part, n_pool, table):
    """Numbers of labels per step: one in the early stage, growing, or fine at both ends."""
    if part == EARLY:
        return [1] * N_STEPS[EARLY]
    first = FIXED["first"]
    if part == PROBABILITIES:
        ends = np.unique(np.geomspace(first, n_pool, N_STEPS[part] + 1).round().astype(int))
        return np.diff(ends).tolist()
    batch, at, sizes = BATCHES.get(table, 1), first, []
    while at < n_pool:
        grown = batch if at < FINE else max(batch, round(at * (GROWTH - 1)))
        most = LAST_BATCH if at >= n_pool - LAST else max(batch, n_pool - LAST - at)
        sizes.append(min(grown, most, n_pool - at))
        at += sizes[-1]
    return sizes


def measure(part, table, repeat, wanted):
    """One line per strategy."""
    X, y, data = rows_of(table, part)
    folds = 3 if table == QUICK else FIXED["folds"]
    n_pool = len(y) - -(-len(y) // folds)
    sizes = [5] * 4 if table == QUICK else batches(part, n_pool, table)
    known, lines = strategies(part), {}
    for name in wanted:
        curves = run_experiment(
            {name: known[name]},
            {table: (X, y)},
            batch_size=sizes,
            first=FIXED["first"],
            n_labels=MIXED.get(table) if name in LIMITED else None,
            cv=folds,
            random_state=repeat,
        )
        lines[name] = {"data": data, "n_pool": n_pool, "seconds": round(curves["seconds"].sum(), 1)}
        lines[name] |= _compact(curves, part)
    return lines


def _compact(curves, part):
    """Curves as lists: numbers of labels, and values by fold."""
    measures = ["error"] if part == LABELS else ["error", "squared_error", "lift_chart_area"]
    sizes = sorted(set.intersection(*(set(one["n_labels"]) for _, one in curves.groupby("trial"))))
    found = {"n_labels": [int(one) for one in sizes]}
    for name in measures:
        wide = curves.pivot_table(index="trial", columns="n_labels", values=name)[sizes]
        found[name] = wide.round(4).to_numpy().tolist()
    return found


if __name__ == "__main__":
    study.main(__spec__.name)
