"""Bias and variance of trees by their number of leaves, with and without smoothed leaves.

Run `python -m benchmarks.validation.tree_parts --data FOLDER` (minutes on two cores). Halves of the
cases are drawn again and again, and the others predicted. Trees grow best first up to a number of
leaves, or until all leaves are pure; one leaf has the class shares. The data are not part of the
project: see `benchmarks/predictions/uci.py`.
"""

import time

import pandas as pd

from benchmarks import study
from benchmarks.decorate.curve_values import TABLES
from benchmarks.decorate.curves import QUICK, check_needs, read
from benchmarks.decorate.learners import Indicators
from benchmarks.summary import markdown
from bnmtl import plotting
from bnmtl.trees import ProbabilityTree
from bnmtl.validation import bias_variance, predict_rounds

NAME = "tree_parts"
SETTINGS = ("table", "leaves", "smoothing")
TAKES_DATA = True
ROUNDS = 50
FIXED = {"rounds": ROUNDS, "held_out": 0.5}
PURE = "pure"
LEAVES = (1, 2, 4, 8, 16, 32, 64, PURE)
PLAIN, LAPLACE = "frequencies", "Laplace"
SMOOTHINGS = {PLAIN: None, LAPLACE: "laplace"}
PARTS = ("bias", "variance", "variance_of_biased", "noise", "error")
_SHOWN = ("breast-w", "credit-a", "heart-c", "hepatitis", "glass", "segment")
__all__ = ["check_needs"]


def plan(quick):
    """One case per table and number of leaves."""
    if quick:
        return study.every(SMOOTHINGS, table=[QUICK], leaves=[1, 2, PURE])
    return study.every(SMOOTHINGS, table=TABLES, leaves=LEAVES)


def measure(table, leaves, wanted):
    """One line per smoothing: by loss the parts of the error, means over cases."""
    X, y, data = read(table)
    rows, lines = Indicators().transform(X), {}
    for name in wanted:
        began = time.perf_counter()
        size = {1: {"min_samples_leaf": 0.6}, PURE: {}}.get(leaves, {"max_leaf_nodes": leaves})
        tree = ProbabilityTree(smoothing=SMOOTHINGS[name], **size)
        n_rounds = 5 if table == QUICK else ROUNDS
        lines[name] = {
            **parts_of(tree, rows, y, n_rounds, FIXED["held_out"], PARTS),
            "data": data,
            "seconds": round(time.perf_counter() - began, 2),
        }
    return lines


def parts_of(model, X, y, n_rounds, held_out, parts):
    """Parts of the errors of models of random cases, by loss, means over the other cases."""
    # Some classes have a single case.
    options = {"test_size": held_out, "stratify": False, "random_state": 0}
    found = bias_variance(predict_rounds(model, X, y, "holdout", n_rounds, **options))
    return {
        f"{loss} {part}": round(float(found.loc[loss, part]), 6)
        for loss in ("zero_one", "squared")
        for part in parts
    }


def tables(lines):
    """Squared error and its parts: class shares, the best number of leaves, and pure leaves."""
    if not len(lines):
        return {}
    rows = []
    for table, part in lines.groupby("table", sort=False):
        wide = part.set_index(["smoothing", "leaves"]).rename(index=str)
        row = {"table": table, "class shares": f"{wide.loc[(PLAIN, '1'), 'squared error']:.3f}"}
        for smoothing in SMOOTHINGS:
            of_size = wide.loc[smoothing]
            best = of_size["squared error"].idxmin()
            leaves = f"{best} leaves" if best != PURE else PURE
            row[f"best size, {smoothing}"] = f"{_text(of_size.loc[best])} ({leaves})"
            row[f"pure, {smoothing}"] = _text(of_size.loc[PURE])
        rows.append(row)
    return {"tree_parts": markdown(pd.DataFrame(rows)), "tree_parts_mean": _of_mean(lines)}


def _text(line):
    """Error, and the bias and variance of which it consists."""
    bias, variance = line["squared bias"], line["squared variance"]
    return f"{line['squared error']:.3f} = {bias:.3f} + {variance:.3f}"


def _of_mean(lines):
    """Means over tables by number of leaves."""
    measures = {
        "squared error": "squared error",
        "bias": "squared bias",
        "variance": "squared variance",
        "wrong": "zero_one error",
    }
    rows = []
    for leaves in dict.fromkeys(lines["leaves"].astype(str)):
        row = {"leaves": leaves}
        for smoothing in SMOOTHINGS:
            is_wanted = (lines["leaves"].astype(str) == leaves) & (lines["smoothing"] == smoothing)
            means = lines[is_wanted][list(measures.values())].mean()
            for name, measure in measures.items():
                row[f"{name}, {smoothing}"] = (
                    f"{100 * means[measure]:.1f} %" if name == "wrong" else f"{means[measure]:.3f}"
                )
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def draw(lines):
    """Bias and variance of the squared error by the number of leaves, a panel for each table."""
    shown = lines[(lines["smoothing"] == PLAIN) & lines["table"].isin([*_SHOWN, QUICK])]
    parts = shown[[f"squared {part}" for part in PARTS]].set_axis(PARTS, axis=1)
    parts = parts.assign(complexity=shown["leaves"].astype(str), table=shown["table"])
    return plotting.bias_variance(parts, by="table", xlabel="leaves", ylabel="squared error")


if __name__ == "__main__":
    study.main(__spec__.name)
