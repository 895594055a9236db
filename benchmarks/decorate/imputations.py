"""Missing cells filled by learned networks, by means and modes, or not at all.

Run `python -m benchmarks.decorate.imputations --data FOLDER` (ten minutes on two cores). In the
tables of chapter 8 of Melville's thesis a share of the training cases keeps all its features and
the others keep the same 30 %; a tree learns from them after each kind of imputation. Gaps that a
table itself has stay, as they do in test cases. With soft counts, each case is five draws that
count a fifth each. Of sites in several regions some cells, birds and attributes, are hidden;
networks learned together or for each region alone give their probabilities. A line has the results
of one method at one share or number of complete rows. The data are not part of the project: see
`benchmarks/predictions/uci.py` and `benchmarks/birds/bird_tasks.py`; avimedi is.
"""

import time

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.pipeline import make_pipeline

from benchmarks import study
from benchmarks.birds.bird_tasks import bird_tasks
from benchmarks.decorate.acquisitions import KNOWN, TABLES
from benchmarks.decorate.curve_values import N_FOLDS
from benchmarks.decorate.curves import QUICK, folds_of, read
from benchmarks.decorate.curves import check_needs as check_tables
from benchmarks.decorate.imputation_tables import (
    ALONE,
    BIRDS,
    CLASSIFIED,
    COMPLETE,
    DRAWS,
    MEANS,
    NETWORK,
    NOTHING,
    SHARES,
    SOFT,
    TOGETHER,
    draw,
    tables,
)
from benchmarks.decorate.learners import Indicators, tree
from benchmarks.decorate.visits import AVIMEDI, FEEDERWATCH, sites_of
from bnmtl.classification import NetworkImputer
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.metrics.cases import probabilities_of
from bnmtl.seeding import generator

NAME = "decorate_imputations"
SETTINGS = ("part", "table", "complete", "method")
TAKES_DATA = True
N_DRAWS = 5
PERCENTS = (10, 25, 50)  # of the training cases are complete
SITES = (10, 20, 40)  # complete sites per region
N_TRIALS = 5
HIDDEN = 0.3  # of the cells of each further site
LEAST = 1e-6
FIXED = {"folds": N_FOLDS, "draws": N_DRAWS, "known": KNOWN, "hidden": HIDDEN, "own_gaps": "stay"}
METHODS = {
    CLASSIFIED: (COMPLETE, NOTHING, MEANS, NETWORK, DRAWS, SOFT),
    BIRDS: (SHARES, ALONE, TOGETHER),
}
__all__ = ["draw", "tables"]


def plan(quick):
    """One case per table and share, or number, of complete rows."""
    if quick:
        return study.every(METHODS[CLASSIFIED], part=[CLASSIFIED], table=[QUICK], complete=[50])
    cases = study.every(METHODS[CLASSIFIED], part=[CLASSIFIED], table=TABLES, complete=PERCENTS)
    birds = [AVIMEDI, FEEDERWATCH]
    return cases + study.every(METHODS[BIRDS], part=[BIRDS], table=birds, complete=SITES)


def check_needs(cases, lines):
    """Raise ValueError unless the tables are there, as they were for the lines."""
    check_tables([case for case in cases if case["part"] == CLASSIFIED], lines)
    if any(case["table"] == FEEDERWATCH for case in cases):
        bird_tasks("BIRD-SPECIES")


def measure(part, table, complete, wanted):
    """One line per method."""
    if part == BIRDS:
        return _of_birds(table, complete, wanted)
    X, y, data = read(table)
    X = X.dropna(axis=1, how="all")
    lines = {}
    for name in wanted:
        began = time.perf_counter()
        found = [
            _of_fold(X, y, rows, complete, name, (table, fold))
            for fold, rows in enumerate(folds_of(table, y))
        ]
        values = {value: [one[value] for one in found] for value in found[0]}
        lines[name] = {"data": data, **values, "seconds": round(time.perf_counter() - began, 1)}
    return lines


def _of_fold(X, y, rows, percent, method, names):
    """Error of a tree of filled cases, and of the filled cells, in one fold."""
    pool, test = rows
    train, labels = X.iloc[pool].reset_index(drop=True), y[pool]
    rng = generator(0, "known", *names)
    known = rng.permutation(X.shape[1])[: max(1, round(KNOWN * X.shape[1]))]
    n_complete = max(2, round(percent * len(pool) / 100))
    is_hidden = np.ones(train.shape, dtype=bool)
    is_hidden[:, known] = False
    is_hidden[rng.permutation(len(pool))[:n_complete]] = False
    seed = int(generator(0, "model", *names).integers(2**31 - 1))
    filled = fillings(method, train, is_hidden, labels, seed)
    kept = ~is_hidden.any(axis=1) if method == COMPLETE else slice(None)
    learned = [(cases[kept], labels[kept]) for cases in filled]
    if method == SOFT:
        learned = [(pd.concat(filled, ignore_index=True), np.tile(labels, len(filled)))]
    n_each = len(filled) if method == SOFT else 1
    classes = np.arange(int(y.max()) + 1)
    p = np.stack(
        [
            probabilities_of(_tree(n_each, seed).fit(*cases), X.iloc[test], classes)
            for cases in learned
        ]
    )
    error = {
        "error": round(float(np.mean(p.mean(axis=0).argmax(axis=1) != y[test])), 5),
        "error_of_one": round(float(np.mean(p.argmax(axis=2) != y[test])), 5),
    }
    if method in (COMPLETE, NOTHING):
        return error | {"wrong_cells": None, "squared_cells": None}
    return error | cell_errors(train, filled, is_hidden)


def _tree(n_each, seed):
    """A tree with two cases or more in each leaf, of which each is some rows."""
    model = tree(seed=seed)
    return make_pipeline(Indicators(), model.set_params(min_samples_leaf=2 * n_each))


def fillings(method, X, is_hidden, y, seed):
    """Tables whose hidden cells are filled, one or several; of two methods the table with gaps.

    Parameters
    ----------
    method : str
    X : pandas.DataFrame
        All cells, of which hidden ones are not used. Other cells that are missing stay so: test
        cases have such gaps, too.
    is_hidden : numpy.ndarray of bool, shape of X
    y : numpy.ndarray of int
    seed : int
    """
    shown = X.mask(is_hidden)
    if method in (COMPLETE, NOTHING):
        return [shown]
    table_gaps = X.isna() & ~is_hidden
    if method == MEANS:
        return [shown.fillna({name: _center(shown[name]) for name in shown}).mask(table_gaps)]
    fill = "draw" if method in (DRAWS, SOFT) else "expected"
    learner = SingleTaskLearner(missing="drop", random_state=seed)
    imputer = NetworkImputer(learner, fill=fill, random_state=seed).fit(shown, y)
    n = N_DRAWS if fill == "draw" else 1
    drawn = [imputer.set_params(random_state=seed + at).transform(shown, y) for at in range(n)]
    return [one.mask(table_gaps) for one in drawn]


def _center(column):
    """Mean of numbers, else the most frequent category."""
    if is_numeric_dtype(column.dtype):
        return column.mean()
    return column.mode().iloc[0]


def cell_errors(X, filled, is_hidden):
    """Share of wrong nominal cells, and squared error of numbers in variances; means of columns.

    Cells that are missing in `X` do not count; of several tables the mean.
    """
    wrong, squared = [], []
    for at, name in enumerate(X):
        rows = is_hidden[:, at] & X[name].notna().to_numpy()
        if not rows.any():
            continue
        if is_numeric_dtype(X[name].dtype):
            spread = X[name].var()
            if spread > 0:
                errors = [((one[name] - X[name])[rows] ** 2).mean() / spread for one in filled]
                squared.append(np.mean(errors))
        else:
            true = X[name].astype(str)[rows]
            wrong.append(np.mean([(one[name].astype(str)[rows] != true).mean() for one in filled]))
    return {
        "wrong_cells": round(float(np.mean(wrong)), 5) if wrong else None,
        "squared_cells": round(float(np.mean(squared)), 5) if squared else None,
    }


def _of_birds(table, n_complete, wanted):
    """Log-loss and errors of hidden cells of birds and attributes, by trial."""
    X, species, region, data = sites_of(table)
    sites = pd.concat([X.astype(str), species.astype(str)], axis=1)
    # Share of the complete sites that two trials have in common.
    sizes = pd.Series(region).value_counts()
    shared = round(float((n_complete / sizes).clip(upper=1).mean()), 5)
    start = {"data": data, "shared": shared}
    lines = {name: start | {"log_loss": [], "wrong_cells": []} for name in wanted}
    for trial in range(N_TRIALS):
        known, hidden = {}, {}
        for name in np.unique(region):
            rng = generator(0, "sites", table, n_complete, trial, name)
            rows = rng.permutation(np.flatnonzero(region == name))
            known[name] = sites.iloc[rows[:n_complete]].reset_index(drop=True)
            rest = sites.iloc[rows[n_complete:]].reset_index(drop=True)
            hidden[name] = rest, rng.random(rest.shape) < HIDDEN
        for name in wanted:
            loss, wrong = _bird_cells(name, known, hidden, trial)
            lines[name]["log_loss"].append(round(loss, 5))
            lines[name]["wrong_cells"].append(round(wrong, 5))
    return lines


def _bird_cells(method, known, hidden, seed):
    """Mean log-loss and share of errors over hidden cells; mean over regions."""
    imputer = None
    if method != SHARES:
        learner = SingleTaskLearner(missing="drop", random_state=seed)
        if method == TOGETHER:
            learner = MultitaskLearner(task_groups=None, missing="drop", random_state=seed)
        imputer = NetworkImputer(learner).fit(known)
    losses, errors = [], []
    for region, (sites, is_hidden) in hidden.items():
        shown = sites.mask(is_hidden)
        of_region = []
        for at, column in enumerate(sites):
            rows = is_hidden[:, at]
            if not rows.any():
                continue
            if imputer is None:
                p = shares_of(known, region, column, int(rows.sum()))
            else:
                p = imputer.cell_probabilities({region: shown[rows]}, column)
            of_region.append(_scored(p, sites.loc[rows, column]))
        cells = np.concatenate(of_region)
        losses.append(cells[:, 0].mean())
        errors.append(cells[:, 1].mean())
    return float(np.mean(losses)), float(np.mean(errors))


def shares_of(known, region, column, n_rows):
    """Shares of the states in the complete sites of a region, plus one each, for some rows."""
    states = sorted({state for frame in known.values() for state in frame[column]})
    counts = known[region][column].value_counts().reindex(states, fill_value=0) + 1
    return pd.DataFrame(np.tile(counts / counts.sum(), (n_rows, 1)), columns=states)


def _scored(p, true):
    """Log-loss and error of each cell; states that nobody has seen are left out."""
    known = true.isin(p.columns).to_numpy()
    at = p.columns.get_indexer(true[known])
    p = p.to_numpy()[known]
    chosen = p[np.arange(len(p)), at]
    return np.column_stack([-np.log(np.maximum(chosen, LEAST)), p.argmax(axis=1) != at])


if __name__ == "__main__":
    study.main(__spec__.name)
