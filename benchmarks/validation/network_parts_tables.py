"""Tables and pictures of bias, variance and noise of learned networks."""

import numpy as np
import pandas as pd

from benchmarks.summary import markdown
from bnmtl import plotting

PARTS = ("noise", "bias", "variance", "variance_of_biased")
TOGETHER, ALONE = "together", "alone"
_LOSS = "squared"
_SHOWN = ("no arcs", "alone", "alone, BIC", "together, separate tables", "together", "true graphs")
_PAIRS = (
    (TOGETHER, ALONE),
    (TOGETHER, "together, separate tables"),
    ("together, separate tables", ALONE),
    ("one network", TOGETHER),
    ("together, penalty 0.9", TOGETHER),
    ("together, penalty 0.9999", TOGETHER),
    ("together, Edit prior", TOGETHER),
    ("alone, BIC", ALONE),
    ("alone, BDeu", ALONE),
    ("alone, uniform prior", ALONE),
)


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


def _means(lines):
    """Squared error and its parts, means over the targets."""
    rows = []
    for case in _cases(lines):
        for learner in dict.fromkeys(lines["learner"]):
            line = _of(lines, case, learner)
            if line is None:
                continue
            row = {"problem": case[0], "rows": case[1], "learner": learner}
            row |= {"arcs": f"{line['arcs']:.1f}", "training sets": line["sets"]}
            for part in ("error", "noise", "bias", "variance"):
                row[part] = f"{np.mean(line[f'{_LOSS} {part}']):.4f}"
            rows.append(row)
    return pd.DataFrame(rows)


def _errors(lines):
    """Share of wrong predictions and its parts, means over the targets."""
    rows = []
    for case in _cases(lines):
        for learner in _SHOWN:
            line = _of(lines, case, learner)
            if line is None:
                continue
            row = {"problem": case[0], "rows": case[1], "learner": learner}
            for part, title in (
                ("error", "errors"),
                ("noise", "noise"),
                ("bias", "bias"),
                ("variance", "variance"),
                ("variance_of_biased", "variance that corrects"),
            ):
                row[title] = f"{100 * np.mean(line[f'zero_one {part}']):.2f} %"
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
                gains = np.subtract(theirs[f"{_LOSS} {part}"], ours[f"{_LOSS} {part}"])
                row[f"less {part}"] = f"{gains.mean():+.4f} ({(gains > 0).sum()} of {len(gains)})"
            rows.append(row)
    return pd.DataFrame(rows)


def _stacked(lines, learners, complexity):
    """A table for the picture of bias and variance."""
    rows = []
    for learner in learners:
        for case in _cases(lines):
            line = _of(lines, case, learner)
            if line is not None:
                parts = {part: np.mean(line[f"{_LOSS} {part}"]) for part in (*PARTS, "error")}
                rows.append({"complexity": complexity(case, learner), "learner": learner} | parts)
    return pd.DataFrame(rows)


def draw(lines):
    """Bias and variance beyond the noise by the number of rows, a panel for each learner."""
    known = lines[lines["problem"] == "ALARM"]
    table = _stacked(known, _SHOWN[1:], lambda case, learner: case[1])
    table = table.assign(error=table["error"] - table["noise"], noise=0.0)
    return plotting.bias_variance(
        table, by="learner", xlabel="rows of a task", ylabel="squared error beyond noise"
    )


def more_pictures(lines):
    """Bias and variance by the largest number of parents, and of real tables."""
    found = {}
    limits = {
        "no arcs": "0",
        "alone, at most 1 parent": "1",
        "alone, at most 2 parents": "2",
        "alone": "any",
    }
    known = lines[(lines["problem"] == "ALARM") & (lines["rows"].astype(str) == "250")]
    table = _stacked(known, limits, lambda case, learner: limits[learner])
    if len(table) == len(limits):
        found["network_parts_parents"] = plotting.bias_variance(
            table, xlabel="most parents of a variable", ylabel="squared error"
        )
    real = lines[lines["problem"] != "ALARM"]
    table = _stacked(real, _SHOWN, lambda case, learner: f"{case[0]}, {case[1]}")
    if len(table):
        names = {"complexity": "panel", "learner": "complexity"}
        table = table.rename(columns=names).replace("together, separate tables", "arcs only")
        found["network_parts_real"] = plotting.bias_variance(
            table, by="panel", xlabel="learner", ylabel="squared error"
        )
    return found
