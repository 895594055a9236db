"""Tables and pictures of bias, variance and noise of learned networks."""

import numpy as np
import pandas as pd

from benchmarks.summary import markdown
from bnmtl import plotting

PARTS = ("noise", "bias", "variance", "variance_of_biased")
LOSSES = ("zero_one", "kohavi_wolpert", "squared")
TOGETHER, ALONE = "together", "alone"
ARC_PROBABILITIES = {f"alone, arc probability {p:g}": p for p in (1e-6, 1e-4, 0.01, 0.1)}
_LOSS = "squared"
_SHOWN = ("no arcs", "alone", "alone, BIC", "together, separate tables", "together", "true graphs")
_PAIRS = (
    (TOGETHER, ALONE),
    (TOGETHER, "together, separate tables"),
    ("together, separate tables", ALONE),
    (TOGETHER, "true graphs"),
    ("true graphs, shared tables", TOGETHER),
    ("one network", TOGETHER),
    ("together, penalty 0.9", TOGETHER),
    ("together, penalty 0.9999", TOGETHER),
    ("together, Edit prior", TOGETHER),
    ("together, BDeu", "alone, BDeu"),
    ("together, BIC", "alone, BIC"),
    ("alone, BIC", ALONE),
    ("alone, BDeu", ALONE),
    ("alone, uniform prior", ALONE),
)
# Complexities in the order of the picture.
_BY_ARCS = {
    "0": "no arcs",
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
            for part in ("error", "noise", "bias", "variance"):
                row[part] = f"{np.mean(line[f'{_LOSS} {part}']):.4f}"
                if part != "noise":
                    error = _error_of(np.array(line[f"{_LOSS} {part} without"]))
                    row[part] += f" ± {error:.4f}"
            rows.append(row)
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
                row[title] = f"{100 * np.mean(line[name]):.2f} %"
            rows.append(row)
    return pd.DataFrame(rows)


def _differences(lines):
    """How much each part of the squared error of one learner is below that of another.

    Both have learned from the same training sets, so the standard errors are those of pairs.
    """
    rows = []
    for first, second in _PAIRS:
        for case in _cases(lines):
            ours, theirs = (_of(lines, case, one) for one in (first, second))
            if ours is None or theirs is None:
                continue
            row = {"first": first, "second": second, "problem": case[0], "rows": case[1]}
            for part in ("error", "bias", "variance"):
                name = f"{_LOSS} {part}"
                gains = np.subtract(theirs[name], ours[name])
                error = _error_of(np.subtract(theirs[f"{name} without"], ours[f"{name} without"]))
                better = f"({(gains > 0).sum()} of {len(gains)})"
                row[f"less {part}"] = f"{gains.mean():+.4f} ± {error:.4f} {better}"
            rows.append(row)
    return pd.DataFrame(rows)


def _stacked(lines, case, learners):
    """Rows for the picture of bias and variance: those of learners by complexity."""
    rows = []
    for complexity, learner in learners.items():
        line = _of(lines, case, learner)
        if line is not None:
            parts = {part: np.mean(line[f"{_LOSS} {part}"]) for part in (*PARTS, "error")}
            rows.append({"complexity": complexity} | parts)
    return pd.DataFrame(rows)


def _by_parents(kind):
    """Learners by the most parents of a variable."""
    limited = {"1": f"{kind}, at most 1 parent", "2": f"{kind}, at most 2 parents"}
    return {"0": "no arcs"} | limited | {"any": kind}


def draw(lines):
    """Bias and variance beyond the noise by the number of rows, a panel for each learner."""
    cases = [case for case in _cases(lines) if case[0] == "ALARM"]
    panels = {
        learner: [_stacked(lines, case, {case[1]: learner}) for case in cases]
        for learner in _SHOWN[1:]
    }
    table = pd.concat([one.assign(learner=name) for name, every in panels.items() for one in every])
    table = table.assign(error=table["error"] - table["noise"], noise=0.0)
    return plotting.bias_variance(
        table, by="learner", xlabel="rows of a task", ylabel="squared error beyond noise"
    )


def more_pictures(lines):
    """Bias and variance by the most parents, by the probability of an arc, and of real tables."""
    few, halves = ("ALARM", "250"), ("avimedi", "halves")
    short = {name.replace("together, separate tables", "arcs only"): name for name in _SHOWN}
    wanted = {
        "network_parts_parents": (
            "most parents of a variable",
            {
                f"{case[0]}, {kind}": (case, _by_parents(kind))
                for case in (few, halves)
                for kind in (ALONE, TOGETHER)
            },
        ),
        "network_parts_arcs": (
            "probability of an arc",
            {f"{case[0]}, {case[1]}": (case, _BY_ARCS) for case in (few, halves)},
        ),
        "network_parts_real": (
            "learner",
            {", ".join(case): (case, short) for case in _cases(lines) if case[0] != "ALARM"},
        ),
    }
    found = {}
    for name, (xlabel, panels) in wanted.items():
        made = {panel: _stacked(lines, *which) for panel, which in panels.items()}
        made = [one.assign(panel=panel) for panel, one in made.items() if len(one) > 1]
        if made:
            found[name] = plotting.bias_variance(
                pd.concat(made), by="panel", xlabel=xlabel, ylabel="squared error"
            )
    return found
