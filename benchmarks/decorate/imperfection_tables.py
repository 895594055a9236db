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
# Geometric mean error ratios by level (tables 5.2 - 5.10).
PUBLISHED = {
    ("missing features", DECORATE, BASE): (
        *(0.8286, 0.7882, 0.7877, 0.7815, 0.7921, 0.8039, 0.8004, 0.8095, 0.8047),
    ),
    ("missing features", DECORATE, "bagging"): (
        *(0.952, 0.9298, 0.9201, 0.9177, 0.9041, 0.9083, 0.9085, 0.915, 0.8882),
    ),
    ("missing features", DECORATE, "AdaBoost"): (
        *(0.9534, 0.9382, 0.9197, 0.9024, 0.9109, 0.8982, 0.8827, 0.8968, 0.8876),
    ),
    ("class noise", DECORATE, BASE): (
        *(0.8286, 0.8398, 0.8633, 0.8734, 0.8809, 0.896, 0.9121, 0.9229, 0.8995),
    ),
    ("class noise", "bagging", BASE): (
        *(0.8704, 0.8687, 0.8526, 0.8508, 0.8443, 0.8719, 0.8867, 0.8972, 0.8995),
    ),
    ("class noise", "AdaBoost", BASE): (
        *(0.8691, 0.993, 1.0984, 1.1604, 1.2322, 1.2242, 1.2431, 1.212, 1.1989),
    ),
    ("feature noise", DECORATE, BASE): (
        *(0.8286, 0.8335, 0.8434, 0.8329, 0.8593, 0.8554, 0.8690, 0.8723, 0.8782),
    ),
    ("feature noise", "bagging", BASE): (
        *(0.8704, 0.8586, 0.8450, 0.8496, 0.8473, 0.8627, 0.8634, 0.8614, 0.8661),
    ),
    ("feature noise", "AdaBoost", BASE): (
        *(0.8691, 0.8449, 0.8575, 0.8455, 0.8463, 0.8564, 0.8830, 0.8900, 0.8750),
    ),
}
# Accuracies by level, means over the tables; the base is J48 (from tables 5.2 - 5.10).
PUBLISHED_MEANS = {
    ("missing features", BASE): (81.7, 80.4, 79.8, 78.5, 77.9, 76.5, 75.8, 74.5, 73.4),
    ("missing features", "bagging"): (84.2, 83.1, 82.4, 81.3, 80.5, 78.8, 78.5, 77.1, 75.6),
    ("missing features", "AdaBoost"): (84.3, 83.4, 82.4, 81.3, 80.7, 78.9, 77.9, 76.7, 75.4),
    ("missing features", DECORATE): (84.6, 84.0, 83.5, 82.5, 81.9, 80.4, 80.3, 79.0, 78.2),
    ("class noise", BASE): (81.7, 81.1, 80.1, 79.3, 77.9, 76.8, 75.4, 73.6, 72.1),
    ("class noise", "bagging"): (84.2, 83.6, 83.1, 82.4, 81.5, 80.2, 78.8, 76.8, 75.4),
    ("class noise", "AdaBoost"): (84.3, 82.1, 79.5, 77.2, 74.5, 73.1, 71.2, 69.4, 67.9),
    ("class noise", DECORATE): (84.6, 84.0, 83.0, 81.9, 80.9, 79.5, 77.8, 76.0, 75.1),
    ("feature noise", BASE): (81.7, 79.9, 77.5, 75.4, 73.3, 71.9, 71.4, 68.4, 67.8),
    ("feature noise", "bagging"): (84.2, 82.5, 80.8, 79.0, 77.3, 75.6, 74.9, 72.7, 72.0),
    ("feature noise", "AdaBoost"): (84.3, 82.9, 80.5, 78.9, 77.3, 75.6, 74.3, 71.4, 71.4),
    ("feature noise", DECORATE): (84.6, 82.8, 80.6, 78.9, 76.8, 75.4, 74.6, 71.7, 70.8),
}


def tables(lines):
    """Records and error ratios against the base by kind and level, and the claims."""
    if not len(lines):
        return {}
    against_base = [(method, BASE, method) for method in ENSEMBLES]
    against_rivals = [(DECORATE, rival, rival) for rival in ENSEMBLES[1:]]
    return {
        "decorate_imperfections_accuracy": markdown(_accuracies(lines)),
        "decorate_imperfections_rivals": markdown(
            _records(lines, "DECORATE against", against_rivals)
        ),
        "decorate_imperfections": markdown(_records(lines, "against the base", against_base)),
        "decorate_imperfections_means": markdown(_means(lines)),
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


def _means(lines):
    """Mean accuracies over tables and, in brackets, those of the thesis, by imperfection."""
    rows = []
    for (kind, method), part in lines.groupby(["kind", "method"], sort=False):
        published = dict(zip(LEVELS, PUBLISHED_MEANS[kind, method], strict=True))
        row = {"imperfection": kind, "method": method}
        for level in LEVELS:
            if all(level in one for one in part["error"]):
                mean = 100 - 100 * np.mean([np.mean(one[level]) for one in part["error"]])
                row[f"{level} %"] = f"{mean:.1f} ({published[level]:.1f})"
        rows.append(row)
    return pd.DataFrame(rows)


def _records(lines, title, pairs):
    """Significant records and error ratios of pairs of methods, by imperfection and level."""
    rows = []
    for kind, part in lines.groupby("kind", sort=False):
        for method, rival, name in pairs:
            found = {level: record(part, method, rival, level) for level in LEVELS}
            found = {level: one for level, one in found.items() if one.n}
            cells = {
                f"{level} %": f"{one.texts()[1]}, {one.ratio:.3f}" for level, one in found.items()
            }
            rows.append({"imperfection": kind, title: name} | cells)
            if (kind, method, rival) in PUBLISHED:
                published = dict(zip(LEVELS, PUBLISHED[kind, method, rival], strict=True))
                cells = {f"{level} %": f"{published[level]:.3f}" for level in found}
                rows.append({"imperfection": kind, title: f"{name}, published"} | cells)
    return pd.DataFrame(rows).fillna("")


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
            most = max(ahead.values())
            shown[f"{level} %"] = " = ".join(name for name in ENSEMBLES if ahead[name] == most)
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
