"""Pictures of the learning curves of DECORATE and its rivals (Melville, figures 4.1 - 4.6)."""

import numpy as np
import pandas as pd

from benchmarks.decorate.curve_values import MORE_TABLES, TABLES, reductions, values_of
from benchmarks.decorate.learners import BASE, DECORATE
from bnmtl import plotting

METHODS = (DECORATE, BASE, "bagging", "forest", "AdaBoost")


def draw(lines):
    """Errors by number of training cases, one panel per table with a curve."""
    lines, rows = _with_curves(lines), []
    for method in METHODS:
        chosen = lines[lines["method"] == method]
        for table, repeat, n_train, points in zip(
            chosen["table"], chosen["repeat"], chosen["n_train"], chosen["error"], strict=True
        ):
            for point, folds in points.items():
                if point.endswith("%") and folds is not None:
                    n = max(1, round(float(point[:-1]) * n_train / 100))
                    rows += [
                        (table, method, 100 * repeat + fold, n, error)
                        for fold, error in enumerate(folds)
                    ]
    columns = ["data", "strategy", "trial", "n_labels", "error"]
    figure = plotting.strategy_curves(pd.DataFrame(rows, columns=columns), xlabel="training cases")
    *panels, _ = figure.axes
    for axes in panels:
        axes.set_xscale("log")
    return figure


def more_pictures(lines):
    """Errors of DECORATE and of bagging by table; error reduction against diversity."""
    lines = _with_curves(lines)
    found, ensembles = {}, reductions(lines) if len(lines) else pd.DataFrame()
    if len(ensembles) > 2:
        found["decorate_curves-diversity"] = plotting.error_by_diversity(
            ensembles, error="members", label="error below the mean of the members"
        )
    errors = {name: _means(lines, name, "1%") for name in ("bagging", DECORATE)}
    table = pd.DataFrame(errors).dropna()
    if len(table) > 1:
        label = "error of bagging with 1% of the cases"
        found["decorate_curves-bagging-1"] = plotting.method_scatter(
            table, "bagging", DECORATE, label
        )
    return found


def _with_curves(lines):
    """The lines of tables with curves, in the order of the tables."""
    if not len(lines):
        return lines
    rank = {name: at for at, name in enumerate(TABLES)}
    chosen = lines[~lines["table"].isin(MORE_TABLES)]
    return chosen.sort_values("table", key=lambda names: names.map(rank), kind="stable")


def _means(lines, method, point):
    """Mean error by table."""
    found = values_of(lines, method, point)
    return pd.Series({table: np.mean(list(by.values())) for table, by in found.items()})
