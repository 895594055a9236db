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
# Accuracies of J48, means over the tables (from tables 5.2, 5.5 and 5.8).
J48 = {
    "missing features": (81.73, 80.36, 79.77, 78.46, 77.88, 76.55, 75.84, 74.51, 73.37),
    "class noise": (81.73, 81.14, 80.11, 79.27, 77.95, 76.76, 75.41, 73.63, 72.10),
    "feature noise": (81.73, 79.85, 77.48, 75.44, 73.30, 71.93, 71.37, 68.44, 67.83),
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
        "decorate_imperfections_base": markdown(_bases(lines)),
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


def _bases(lines):
    """Mean accuracies of the base over tables, and of J48 in the thesis, by imperfection."""
    rows = []
    for kind, part in lines[lines["method"] == BASE].groupby("kind", sort=False):
        levels = [level for level in LEVELS if all(level in one for one in part["error"])]
        means = [100 - 100 * np.mean([np.mean(one[at]) for one in part["error"]]) for at in levels]
        published = dict(zip(LEVELS, J48[kind], strict=True))
        for name, values in ((BASE, means), ("J48, published", [published[at] for at in levels])):
            cells = {f"{at} %": f"{one:.1f}" for at, one in zip(levels, values, strict=True)}
            rows.append({"imperfection": kind, "base": name} | cells)
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
                rows.append({"imperfection": kind, title: "published ratio"} | cells)
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
