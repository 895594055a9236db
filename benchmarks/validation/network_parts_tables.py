"""Tables and pictures of bias, variance and noise of learned networks."""

import numpy as np
import pandas as pd

from benchmarks.summary import markdown
from bnmtl import plotting

PARTS = ("noise", "bias", "variance", "variance_of_biased")
LOSSES = ("zero_one", "kohavi_wolpert", "squared")
TOGETHER, ALONE, SEPARATE = "together", "alone", "together, separate tables"
TRUE, TRUE_SHARED, NO_ARCS = "true graphs", "true graphs, shared tables", "no arcs"
ARC_PROBABILITIES = {f"alone, arc probability {p:g}": p for p in (1e-6, 1e-4, 0.01, 0.1)}
_LOSS = "squared"
_SHOWN = (NO_ARCS, ALONE, "alone, BIC", SEPARATE, TOGETHER, TRUE)
_PAIRS = (
    (TOGETHER, ALONE),
    (TOGETHER, SEPARATE),
    (SEPARATE, ALONE),
    (TOGETHER, TRUE),
    (ALONE, TRUE),
    (TRUE_SHARED, TOGETHER),
    ("one network", TOGETHER),
    ("together, penalty 0.9", TOGETHER),
    ("together, penalty 0.9999", TOGETHER),
    ("together, Edit prior", TOGETHER),
    ("together, BDeu", "alone, BDeu"),
    ("together, BIC", "alone, BIC"),
    ("alone, BIC", ALONE),
    ("alone, BDeu", ALONE),
    ("alone, uniform prior", ALONE),
    ("alone, at most 1 parent", ALONE),
    ("together, at most 1 parent", TOGETHER),
)
# Complexities in the order of the picture.
_BY_ARCS = {
    **{f"{p:g}": name for name, p in ARC_PROBABILITIES.items() if p < 1e-3},
    "default": ALONE,
    **{f"{p:g}": name for name, p in ARC_PROBABILITIES.items() if p > 1e-3},
    "0.5": "alone, uniform prior",
}


def tables(lines):
    """Means over targets, and differences between learners by part."""
    if not len(lines):
        return {}
    return {
        "network_parts_in_short": markdown(_in_short(lines)),
        "network_parts": markdown(_means(lines)),
        "network_parts_errors": markdown(_errors(lines)),
        "network_parts_differences": markdown(_differences(lines)),
    }


def _cases(lines):
    """Problems and rows, in the order of the lines."""
    return list(dict.fromkeys(zip(lines["problem"], lines["rows"].astype(str), strict=True)))


def _of(lines, case, learner):
    """The line of a learner, or None."""
    problem, rows = case
    wanted = (lines["problem"] == problem) & (lines["rows"].astype(str) == rows)
    found = lines[wanted & (lines["learner"] == learner)]
    return None if found.empty else found.iloc[0]


def _error_of(without):
    """The jackknife's standard error of a value, from those without each group of sets."""
    n = len(without)
    return float(np.sqrt((n - 1) / n * np.sum((without - np.mean(without)) ** 2)))


def _thousandths(value, case, sign="", error=None):
    """A loss in thousandths, more exactly where noise is known, with its standard error."""
    decimals = 2 if case[0] == "ALARM" else 1
    found = f"{1000 * value:{sign}.{decimals}f}"
    return found if error is None else f"{found} ± {1000 * error:.{decimals}f}"


def _noise(line, case):
    """The noise where it is known; elsewhere it counts as bias."""
    noise = np.mean(line[f"{_LOSS} noise"])
    return _thousandths(noise, case) if noise > 0 else "-"


def _gain(first, second, part, loss=_LOSS):
    """How much a part of the first line is below that of the second: of each target, and error.

    Both have learned from the same training sets, so the standard error is that of pairs.
    """
    name = f"{loss} {part}"
    without = np.subtract(second[f"{name} without"], first[f"{name} without"])
    return np.subtract(second[name], first[name]), _error_of(without)


def _in_short(lines):
    """What learning together gains in squared error: by arcs and tables, in bias and variance."""
    rows = []
    for case in _cases(lines):
        names = (NO_ARCS, ALONE, SEPARATE, TOGETHER)
        none, alone, separate, together = (_of(lines, case, name) for name in names)
        if any(line is None for line in (none, alone, separate, together)):
            continue
        row = {"problem": case[0], "rows": case[1]}
        for name, line in ((NO_ARCS, none), (ALONE, alone), (TOGETHER, together)):
            row[name] = _thousandths(np.mean(line[f"{_LOSS} error"]), case)
        row["noise"] = _noise(alone, case)
        for title, first, second, part in (
            ("gain", together, alone, "error"),
            ("gain: shared arcs", separate, alone, "error"),
            ("gain: shared tables", together, separate, "error"),
            ("gain: less bias", together, alone, "bias"),
            ("gain: less variance", together, alone, "variance"),
        ):
            gains, error = _gain(first, second, part)
            row[title] = _thousandths(gains.mean(), case, "+", error)
        gains, error = _gain(together, alone, "error", "zero_one")
        row["fewer wrong predictions"] = f"{100 * gains.mean():+.2f} ± {100 * error:.2f} %"
        rows.append(row)
    return pd.DataFrame(rows)


def _means(lines):
    """Squared error and its parts, means over the targets, with standard errors."""
    rows = []
    for case in _cases(lines):
        for learner in dict.fromkeys(lines["learner"]):
            line = _of(lines, case, learner)
            if line is None:
                continue
            row = {"problem": case[0], "rows": case[1], "learner": learner}
            row["arcs"] = f"{line['arcs']:.1f}"
            for part in ("error", "bias", "variance"):
                error = _error_of(np.array(line[f"{_LOSS} {part} without"]))
                row[part] = _thousandths(np.mean(line[f"{_LOSS} {part}"]), case, error=error)
            rows.append(row | {"noise": _noise(line, case)})
    return pd.DataFrame(rows)


def _errors(lines):
    """Share of wrong predictions and its parts in two ways, means over the targets."""
    columns = {
        "errors": "zero_one error",
        "noise": "zero_one noise",
        "bias": "zero_one bias",
        "variance": "zero_one variance",
        "variance that corrects": "zero_one variance_of_biased",
        "noise (K & W)": "kohavi_wolpert noise",
        "bias (K & W)": "kohavi_wolpert bias",
        "variance (K & W)": "kohavi_wolpert variance",
    }
    rows = []
    for case in _cases(lines):
        for learner in _SHOWN:
            line = _of(lines, case, learner)
            if line is None:
                continue
            row = {"problem": case[0], "rows": case[1], "learner": learner}
            for title, name in columns.items():
                row[title] = f"{100 * np.mean(line[name]):.2f}"
                if title == "errors":
                    row[title] += f" ± {100 * _error_of(line[f'{name} without']):.2f}"
                row[title] += " %"
            rows.append(row)
    return pd.DataFrame(rows)


def _differences(lines):
    """How much each part of the squared error of one learner is below that of another."""
    rows = []
    for first, second in _PAIRS:
        for case in _cases(lines):
            ours, theirs = (_of(lines, case, one) for one in (first, second))
            if ours is None or theirs is None:
                continue
            row = {"first": first, "second": second, "problem": case[0], "rows": case[1]}
            for part in ("error", "bias", "variance"):
                gains, error = _gain(ours, theirs, part)
                found = _thousandths(gains.mean(), case, "+", error)
                row[f"less {part}"] = f"{found} ({(gains > 0).sum()} of {len(gains)})"
            rows.append(row)
    return pd.DataFrame(rows)


def _stacked(lines, bars):
    """Rows for a picture of bias and variance beyond noise, from cases and learners by label."""
    rows = []
    for label, (case, learner) in bars.items():
        line = _of(lines, case, learner)
        if line is not None:
            parts = {part: np.mean(line[f"{_LOSS} {part}"]) for part in (*PARTS, "error")}
            parts |= {"error": parts["error"] - parts["noise"], "noise": 0.0}
            rows.append({"complexity": label} | parts)
    return pd.DataFrame(rows)


def _by_parents(kind):
    """Learners by the most parents of a variable."""
    limited = {"1": f"{kind}, at most 1 parent", "2": f"{kind}, at most 2 parents"}
    return limited | {"any": kind}


def _pictures(lines):
    """By name of a picture: its labels, and by panel the case and learner of each bar.

    Those by complexity leave out "no arcs", beside which other differences are small. On real
    tables noise is part of the bias.
    """
    error = {"ALARM": "squared error beyond noise", "avimedi": "squared error"}
    of_alarm = [case for case in _cases(lines) if case[0] == "ALARM"]
    panels = {name: {case[1]: (case, name) for case in of_alarm} for name in _SHOWN[1:]}
    pictures = {"network_parts": ("rows of a task", error["ALARM"], panels)}
    for case in (("ALARM", "250"), ("avimedi", "halves")):
        problem, title = case[0], ", ".join(case)
        panels = {
            f"{title}, {kind}": {label: (case, name) for label, name in _by_parents(kind).items()}
            for kind in (ALONE, TOGETHER)
        }
        labels = "most parents of a variable", error[problem]
        pictures[f"network_parts_parents-{problem}"] = (*labels, panels)
        panels = {title: {label: (case, name) for label, name in _BY_ARCS.items()}}
        labels = "probability of an arc", error[problem]
        pictures[f"network_parts_arcs-{problem}"] = (*labels, panels)
    panels = {
        ", ".join(case): {name.replace(SEPARATE, "arcs only"): (case, name) for name in _SHOWN}
        for case in _cases(lines)
        if case[0] != "ALARM"
    }
    return pictures | {"network_parts_real": ("learner", error["avimedi"], panels)}


def more_pictures(lines):
    """Pictures of bias and variance by rows, most parents, probability of an arc, and learner."""
    found = {}
    for name, (xlabel, ylabel, panels) in _pictures(lines).items():
        made = {panel: _stacked(lines, bars) for panel, bars in panels.items()}
        made = [one.assign(panel=panel) for panel, one in made.items() if len(one)]
        if made:
            found[name] = plotting.bias_variance(pd.concat(made), "panel", xlabel, ylabel)
    return found
