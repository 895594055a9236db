"""Margins of the classifier that predicts, beside committees that ask, on tables of packages.

Run `python -m benchmarks.decorate.margins` (half an hour on one core; it needs `pip install -e
".[bench]"`). Pools without labels; strategies ask for ten labels at a time until they have 100. A
line has the errors of one strategy on a table, by number of labels and trial.
"""

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.decorate.few_labels import QUICK, TABLES, check_needs, fingerprint, read
from benchmarks.summary import markdown
from bnmtl.active import (
    ActiveDecorate,
    ActiveDecorateJS,
    BootstrapJS,
    MarginSampling,
    QueryByBagging,
    QueryByBoosting,
    RandomQuery,
    SingleClassifier,
    run_experiment,
)
from bnmtl.decorate import DecorateClassifier

NAME = "decorate_margins"
SETTINGS = ("table", "strategy")
N_TRIALS, MOST_ROWS = 5, 1000
FIXED = {"folds": N_TRIALS, "rows": MOST_ROWS, "first": 10, "batch": 10, "labels": 100}
RANDOM, MARGIN, OF_DECORATE = "random, forest", "margin, forest", "ActiveDecorate"
FOREST = SingleClassifier()
STRATEGIES = {
    RANDOM: (RandomQuery(), FOREST),
    MARGIN: MarginSampling(),
    "random, DECORATE": (RandomQuery(), DecorateClassifier()),
    OF_DECORATE: ActiveDecorate(),
    "ActiveDecorate asks, forest predicts": (ActiveDecorate(), FOREST),
    "ActiveDecorateJS asks, forest predicts": (ActiveDecorateJS(), FOREST),
    "bagging asks, forest predicts": (QueryByBagging(), FOREST),
    "boosting asks, forest predicts": (QueryByBoosting(), FOREST),
    "BootstrapJS asks, forest predicts": (BootstrapJS(), FOREST),
}
__all__ = ["check_needs"]


def plan(quick):
    """One case per table."""
    if quick:
        return study.every([RANDOM, MARGIN], table=[QUICK])
    return study.every(STRATEGIES, table=TABLES)


def measure(table, wanted):
    """One line per strategy."""
    X, classes = read(table)
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])
    data = {table: (X.iloc[rows].reset_index(drop=True), classes[rows].astype(str))}
    lines = {}
    for name in wanted:
        curves = run_experiment(
            {name: STRATEGIES[name]},
            data,
            first=FIXED["first"],
            batch_size=FIXED["batch"],
            n_labels=2 * FIXED["first"] if table == QUICK else FIXED["labels"],
            cv=2 if table == QUICK else N_TRIALS,
            random_state=0,
        )
        wide = curves.pivot_table(index="trial", columns="n_labels", values="error")
        lines[name] = {
            "data": fingerprint(table),
            "n_labels": wide.columns.tolist(),
            "error": wide.round(4).to_numpy().tolist(),
        }
    return lines


def mean_errors(lines):
    """Mean over trials and the labels after the first: one row per table, one column each."""
    values = [np.array(one)[:, 1:].mean() for one in lines["error"]]
    return lines.assign(value=values).pivot_table(index="table", columns="strategy", values="value")


def tables(lines):
    """Mean errors, and differences from random cases and from margins, as Markdown by name."""
    if not len(lines):
        return {}
    errors, rows = mean_errors(lines), []
    for name in [one for one in STRATEGIES if one in errors]:
        row = {"asks and predicts": name, "mean error": f"{errors[name].mean():.3f}"}
        for other in (RANDOM, MARGIN):
            gap = (errors[name] - errors[other]).dropna()
            error = gap.std(ddof=1) / len(gap) ** 0.5 if len(gap) > 1 else float("nan")
            wins = f"{(gap < 0).sum()} of {len(gap)}"
            row[f"minus {other}"] = "" if name == other else f"{gap.mean():+.3f} ± {error:.3f}"
            row[f"smaller than {other}"] = "" if name == other else wins
        rows.append(row)
    return {"decorate_margins": markdown(pd.DataFrame(rows))}


if __name__ == "__main__":
    study.main(__spec__.name)
