"""Tables 5.2 - 5.10 of Melville's thesis from the lines of imperfect data, picture and claims."""

import numpy as np
import pandas as pd

from benchmarks.claims import Claim, claims_table
from benchmarks.decorate.curve_values import record
from benchmarks.decorate.learners import BASE, DECORATE
from benchmarks.summary import markdown
from bnmtl import plotting

ENSEMBLES = (DECORATE, "bagging", "AdaBoost")
FIGURES = {
    "missing features": ("iris", "autos"),
    "class noise": ("labor", "breast-w"),
    "feature noise": ("glass", "iris"),
}
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
        "decorate_imperfections_accuracy": markdown(_accuracies(lines)),
        "decorate_imperfections_rivals": markdown(pd.DataFrame(rivals).fillna("")),
        "decorate_imperfections": markdown(pd.DataFrame(rows).fillna("")),
        "decorate_imperfections_claims": claims_table(claims(lines)),
    }


def _accuracies(lines):
    """Accuracies at three levels by imperfection and table."""
    rows = []
    for (kind, table), part in lines.groupby(["kind", "table"], sort=False):
        by = {
            method: {
                level: np.mean([np.mean(one[level]) for one in some["error"] if level in one])
                for level in ("0", "20", "40")
                if any(level in one for one in some["error"])
            }
            for method, some in part.groupby("method", sort=False)
        }
        row = {"imperfection": kind, "table": table}
        for level in ("0", "20", "40"):
            cells = [f"{100 * (1 - by[one][level]):.1f}" for one in by if level in by[one]]
            row[f"{level} %: {', '.join(by)}"] = " / ".join(cells)
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


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
        text = "bagging significantly better than the base most often, feature noise"
        yield _most_wins(part, "bagging", LEVELS[1:], text)


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


def _most_wins(lines, method, levels, text):
    """That a method has the most significant wins minus losses against the base, by level."""
    shown, holding = {}, 0
    for level in levels:
        found = {one: record(lines, one, BASE, level) for one in ENSEMBLES}
        if found[method].n:
            ahead = {name: one.significant[0] - one.significant[1] for name, one in found.items()}
            others = [value for name, value in ahead.items() if name != method]
            shown[f"{level} %"] = ", ".join(f"{name} {ahead[name]:+d}" for name in ENSEMBLES)
            holding += ahead[method] > max(others)
    return Claim(text, method, shown, (holding, len(shown)))


def draw(lines):
    """Errors by level on the tables of figures 5.1 - 5.3, or on all that there are."""
    shown = [FIGURES.get(one) for one in lines["kind"]] if len(lines) else []
    is_shown = [tables and one in tables for tables, one in zip(shown, lines["table"], strict=True)]
    chosen = lines[is_shown] if any(is_shown) else lines
    return _curves(chosen, chosen["kind"] + ", " + chosen["table"] if len(chosen) else [])


def more_pictures(lines):
    """Errors by level, one panel per imperfection, of the means over all tables by fold."""
    if not len(lines):
        return {}
    return {"decorate_imperfections-mean": _curves(lines, lines["kind"])}


def _curves(lines, panels):
    """Errors by level in panels; folds of the same number on several tables are averaged."""
    rows = []
    for panel, method, repeat, errors in zip(
        panels, lines["method"], lines["repeat"], lines["error"], strict=True
    ):
        for level, folds in errors.items():
            rows += [
                (panel, method, 100 * repeat + fold, int(level), error)
                for fold, error in enumerate(folds)
            ]
    keys = ["data", "strategy", "trial", "n_labels"]
    frame = pd.DataFrame(rows, columns=[*keys, "error"])
    frame = frame.groupby(keys, sort=False)["error"].mean().reset_index()
    return plotting.strategy_curves(frame, xlabel="percent of imperfect data")
