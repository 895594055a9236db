"""Tables 5.2 - 5.10 of Melville's thesis from the lines of imperfect data, picture and claims."""

import numpy as np
import pandas as pd

from benchmarks.claims import Claim, claims_table
from benchmarks.decorate.curve_values import record
from benchmarks.decorate.learners import BASE, DECORATE
from benchmarks.summary import markdown
from bnmtl import plotting

ENSEMBLES = (DECORATE, "bagging", "AdaBoost")
LEVELS = tuple(str(level) for level in range(0, 45, 5))


def tables(lines):
    """Records and error ratios against the base by kind and level, and the claims."""
    if not len(lines):
        return {}
    rows = []
    for kind in lines["kind"].unique():
        part = lines[lines["kind"] == kind]
        for method in ENSEMBLES:
            cells = _cells(part, method, BASE)
            rows.append({"imperfection": kind, "against the base": method} | cells)
    rivals = [
        {"imperfection": kind, "DECORATE against": rival} | _cells(part, DECORATE, rival)
        for kind, part in lines.groupby("kind", sort=False)
        for rival in ENSEMBLES[1:]
    ]
    return {
        "decorate_imperfections_rivals": markdown(pd.DataFrame(rivals).fillna("")),
        "decorate_imperfections": markdown(pd.DataFrame(rows).fillna("")),
        "decorate_imperfections_claims": claims_table(claims(lines)),
    }


def _cells(part, method, rival):
    """Significant record and error ratio of two methods, by level."""
    found = {level: record(part, method, rival, level) for level in LEVELS}
    return {
        f"{level} %": f"{one.texts()[1]}, {one.ratio:.3f}" for level, one in found.items() if one.n
    }


def claims(lines):
    """The claims of chapter 5 that the lines can answer."""
    by = {kind: lines[lines["kind"] == kind] for kind in lines["kind"].unique()}
    if "missing features" in by:
        yield _best(by["missing features"], DECORATE, LEVELS[1:], "most robust to missing features")
    if "class noise" in by:
        part = by["class noise"]
        for method in (DECORATE, "bagging"):
            yield _below(part, method, LEVELS[2:], f"{method} robust to class noise", True)
        yield _best(part, "bagging", ("10", "15", "20", "25", "30", "35"), "bagging a little ahead")
        text = "AdaBoost worse than its base from 10 % class noise on"
        yield _below(part, "AdaBoost", LEVELS[2:], text, False)
    if "feature noise" in by:
        part = by["feature noise"]
        for method in ENSEMBLES:
            text = f"{method} better than its base with feature noise"
            yield _below(part, method, LEVELS[1:], text, True)
        yield _best(part, "bagging", LEVELS[1:], "bagging most robust to feature noise")


def _ratios(lines, method, levels):
    found = {level: record(lines, method, BASE, level) for level in levels}
    return {level: one.ratio for level, one in found.items() if one.n}


def _below(lines, method, levels, text, is_below):
    ratios = _ratios(lines, method, levels)
    holding = sum((ratio < 1) == is_below for ratio in ratios.values())
    shown = {f"{level} %": f"{ratio:.3f}" for level, ratio in ratios.items()}
    return Claim(text, "yes", shown, (holding, len(ratios)))


def _best(lines, method, levels, text):
    ratios = {one: _ratios(lines, one, levels) for one in ENSEMBLES}
    known = list(ratios[method])
    lowest = [min(ENSEMBLES, key=lambda one: ratios[one].get(level, np.inf)) for level in known]
    shown = {f"{level} %": best for level, best in zip(known, lowest, strict=True)}
    return Claim(text, method, shown, (lowest.count(method), len(lowest)))


def draw(lines):
    """Errors by level, mean over tables, one panel per imperfection."""
    rows = []
    for kind, method, repeat, errors in zip(
        lines["kind"], lines["method"], lines["repeat"], lines["error"], strict=True
    ):
        for level, folds in errors.items():
            rows += [
                (kind, method, 100 * repeat + fold, int(level), error)
                for fold, error in enumerate(folds)
            ]
    columns = ["data", "strategy", "trial", "n_labels", "error"]
    return plotting.strategy_curves(
        pd.DataFrame(rows, columns=columns), xlabel="percent of imperfect data"
    )
