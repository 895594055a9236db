"""DECORATE and its base beside Weka's Decorate and J48, on the same folds of fifteen tables.

Run `python -m benchmarks.decorate.weka_peer --data FOLDER --jar FILE` (an hour on two cores);
Debian's package `weka` has the file weka.jar; without it, only our classifiers run. Weka runs as a
process of its own for each fold, which reads files in its own format. Bases differ, so the gains of
DECORATE over its own base are compared; the table also says by how much the bases differ, and at
which pruning least.
"""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.pipeline import make_pipeline

from benchmarks import study
from benchmarks.decorate.curve_values import N_FOLDS, TABLES
from benchmarks.decorate.curves import QUICK, folds_of, read
from benchmarks.decorate.curves import check_needs as check_tables
from benchmarks.decorate.learners import MAX_ITERATIONS, SIZE, Indicators, decorate, tree
from benchmarks.summary import markdown
from bnmtl.metrics.resampled import resampled_p

NAME = "weka_peer"
SETTINGS = ("table", "method")
TAKES_DATA = True
FILES = {"jar": ("WEKA_JAR", "the file weka.jar of Weka 3.6")}
ALPHAS = (0.0, 0.001, 0.002, 0.003, 0.005, 0.01)
FIXED = {"size": SIZE, "iterations": MAX_ITERATIONS}
OURS, OUR_BASE, THEIRS, THEIR_BASE = "DECORATE", "tree", "Decorate of Weka", "J48"
# Weka 3.6 documents 50 iterations as the default, but takes 10 unless they are given.
ENSEMBLE = ("-E", str(SIZE), "-I", str(MAX_ITERATIONS))
WEKA = {
    THEIR_BASE: ("weka.classifiers.trees.J48",),
    THEIRS: ("weka.classifiers.meta.Decorate", *ENSEMBLE),
}
# Accuracy that Weka is known to have on labor, with ten folds that it draws with seed 1.
LABOR, KNOWN_OF_WEKA = "labor", {THEIR_BASE: 73.7, THEIRS: 91.2}
FOLDS_OF_WEKA = {f"{method}, folds of Weka": method for method in WEKA}
PRUNINGS = tuple(f"tree {alpha:g}" for alpha in ALPHAS)


def jar():
    """The file of Weka; None if there is none."""
    path = os.environ.get("WEKA_JAR", "")
    return path if Path(path).is_file() else None


def plan(quick):
    """One case per table; Weka is left out where it is missing."""
    has_weka = jar() is not None
    methods = [OUR_BASE, OURS, *(WEKA if has_weka else [])]
    if quick:
        return study.every(methods, table=[QUICK])
    return study.every(
        lambda table: [
            *(*PRUNINGS, *methods),
            *(FOLDS_OF_WEKA if has_weka and table == LABOR else []),
        ],
        table=TABLES,
    )


def check_needs(cases, lines):
    """Raise ValueError unless the tables are there, and Weka if it is named."""
    path = os.environ.get("WEKA_JAR")
    if path and jar() is None:
        raise ValueError(
            f"`--jar` or the variable WEKA_JAR must name the file weka.jar, got {path!r}"
        )
    if not path:
        print("Weka is skipped: `--jar` can name the file weka.jar of Weka 3.6.")
    check_tables(cases, lines)


def measure(table, wanted):
    """One line per method: the error in each fold, and seconds in all."""
    X, y, data = read(table)
    folds = folds_of(table, y)
    lines = {}
    for method in wanted:
        began = time.perf_counter()
        if method in FOLDS_OF_WEKA:
            errors = [_by_weka_folds(FOLDS_OF_WEKA[method], X, y)]
        else:
            run = _by_weka if method in WEKA else _by_ours
            errors = [run(method, X, y, rows, fold) for fold, rows in enumerate(folds)]
        seconds = round(time.perf_counter() - began, 2)
        lines[method] = {"data": data, "error": np.round(errors, 5).tolist(), "seconds": seconds}
    return lines


def _by_ours(method, X, y, rows, fold):
    """The error of our tree or our DECORATE in a fold."""
    train, test = rows
    if method == OURS:
        model = decorate(fold)
    else:
        alpha = {} if method == OUR_BASE else {"alpha": float(method.split()[1])}
        model = make_pipeline(Indicators(), tree(**alpha, seed=fold))
    model.fit(X.iloc[train], y[train])
    return float(np.mean(model.predict(X.iloc[test]) != y[test]))


def _by_weka(method, X, y, rows, fold):
    """The error of a classifier of Weka in a fold."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{part}.arff" for part in ("train", "test")]
        for path, some in zip(files, rows, strict=True):
            path.write_text(as_arff(X, y, some))
        options = ["-t", files[0], "-T", files[1], "-v"]
        if method == THEIRS:
            options += ["-S", str(fold)]
        return _wrong(method, options)[-1] / len(rows[1])


def _by_weka_folds(method, X, y):
    """The error of a classifier of Weka in ten folds that Weka draws with seed 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.arff"
        path.write_text(as_arff(X, y, np.arange(len(y))))
        return _wrong(method, ["-t", path, "-x", 10, "-s", 1])[-1] / len(y)


def _wrong(method, options):
    """Numbers of wrong cases that Weka reports; the last one is of the test cases."""
    command = ["java", "-cp", jar(), *WEKA[method], "-o", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.findall(r"Incorrectly Classified Instances\s+(\d+)", done.stdout)
    return [int(one) for one in found]


def as_arff(X, y, rows):
    """Rows in the format of Weka; names and values are numbered."""
    lines = ["@relation table"]
    columns = []
    for at, name in enumerate(X):
        column = X[name].iloc[rows]
        if isinstance(column.dtype, pd.CategoricalDtype):
            values = [f"v{code}" for code in range(len(column.cat.categories))]
            lines.append(f"@attribute a{at} {{{','.join(values)}}}")
            columns.append(["?" if code < 0 else values[code] for code in column.cat.codes])
        else:
            lines.append(f"@attribute a{at} numeric")
            columns.append(["?" if np.isnan(cell) else repr(float(cell)) for cell in column])
    classes = [f"c{code}" for code in range(int(y.max()) + 1)]
    lines += [f"@attribute class {{{','.join(classes)}}}", "@data"]
    columns.append([classes[code] for code in y[rows]])
    lines += [",".join(row) for row in zip(*columns, strict=True)]
    return "\n".join(lines) + "\n"


def tables(lines):
    """Accuracies, gains and their difference by table; prunings beside J48."""
    if not len(lines):
        return {}
    errors = {
        (table, method): np.array(found)
        for table, method, found in zip(
            lines["table"], lines["method"], lines["error"], strict=True
        )
    }
    names = list(dict.fromkeys(lines["table"]))
    found = {"weka_peer": markdown(_gains(errors, names))}
    if any((name, THEIR_BASE) in errors for name in names):
        found["weka_peer_pruning"] = markdown(_prunings(errors, names))
    labor = [
        {"classifier": method, "known": known, "here": f"{100 * (1 - errors[key][0]):.1f}"}
        for method, known in KNOWN_OF_WEKA.items()
        if (key := (LABOR, f"{method}, folds of Weka")) in errors
    ]
    if labor:
        found["weka_peer_labor"] = markdown(pd.DataFrame(labor))
    return found


def _gains(errors, names):
    """The gain of DECORATE over its base, ours and that of Weka, paired over folds."""
    rows, differences = [], []
    for name in names:
        row = {"table": name}
        for method in (OUR_BASE, OURS, THEIR_BASE, THEIRS):
            found = errors.get((name, method))
            row[method] = "" if found is None else f"{100 * (1 - found.mean()):.1f}"
        kinds = ((OUR_BASE, OURS), (THEIR_BASE, THEIRS))
        if all((name, method) in errors for kind in kinds for method in kind):
            ours, theirs = (
                100 * (errors[name, base] - errors[name, ensemble]) for base, ensemble in kinds
            )
            row |= {"our gain": f"{ours.mean():+.1f}", "gain of Weka": f"{theirs.mean():+.1f}"}
            p = resampled_p(ours - theirs, 1 / (N_FOLDS - 1))
            row["p of the difference"] = f"{p:.2f}"
            differences.append((ours - theirs).mean())
        rows.append(row)
    if len(differences) > 2:
        p = stats.wilcoxon(differences).pvalue
        text = f"{np.mean(differences):+.2f} ± {stats.sem(differences):.2f}"
        rows.append(
            {"table": "mean difference", "our gain": text, "p of the difference": f"{p:.2f}"}
        )
    return pd.DataFrame(rows).fillna("")


def _prunings(errors, names):
    """Mean distance of our tree's accuracy from J48's, by pruning."""
    rows = []
    for method in PRUNINGS:
        gaps = [
            100 * (errors[name, THEIR_BASE].mean() - errors[name, method].mean())
            for name in names
            if (name, method) in errors and (name, THEIR_BASE) in errors
        ]
        if gaps:
            rows.append(
                {
                    "pruning": method.split()[1],
                    "accuracy minus that of J48": f"{np.mean(gaps):+.2f}",
                    "mean absolute difference": f"{np.mean(np.abs(gaps)):.2f}",
                    "tables": len(gaps),
                }
            )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    study.main(__spec__.name)
