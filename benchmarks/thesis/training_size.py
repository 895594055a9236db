"""Single-task and multitask learning by number of rows on ALARM-COMP (thesis, 2.7).

Run `python -m benchmarks.thesis.training_size` (a quarter of an hour on two cores). Multitask
learning holds out 5 % of the rows to choose the penalty, as in the thesis. Joint orders are
omitted above 4000 rows.
"""

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.claims import Claim, claims_table
from benchmarks.drawing import LABELS, axis_of_sizes, mean_curves, panels
from benchmarks.related import Related, networks_of
from benchmarks.summary import (
    MEASURES,
    difference_text,
    markdown,
    means_of,
    pairs,
    reduction_text,
    shrinks,
)
from benchmarks.thesis import methods
from benchmarks.variants import VALIDATION
from bnmtl.search import Memory

NAME = "training_size"
SETTINGS = ("rows", "trial", "method")
FIXED = {"validation": VALIDATION}
SIZES = (250, 500, 1000, 2000, 4000, 8000, 16000)
# Method, number of trials, largest number of rows.
METHODS = {
    **dict.fromkeys(("single T", "multitask T", "single S", "multitask S"), (10, 16000)),
    "multitask J": (5, 4000),
}
SINGLE = {"multitask T": "single T", "multitask S": "single S", "multitask J": "single S"}


def plan(quick, trials=None):
    """All cases by increasing number of rows; the quick ones are two small samples."""
    if quick:
        return study.every(["single T", "multitask T"], trial=[0], rows=SIZES[:2])

    def wanted(trial, rows):
        known = METHODS.items()
        return [one for one, (n, most) in known if trial < (trials or n) and rows <= most]

    return study.every(wanted, trial=range(trials or max(METHODS.values())[0]), rows=SIZES)


def measure(rows, trial, wanted):
    """One line per method: means over the five tasks."""
    related = Related(networks_of("ALARM-COMP", trial), rows, trial)
    memory = Memory()
    return {method: methods.line_of(related, method, trial, memory) for method in wanted}


def tables(lines):
    """The results by number of rows, and the published claims."""
    return {
        "training_size": markdown(_reached(lines)),
        "training_size_claims": claims_table(claims(lines)),
    }


def _reached(lines):
    for size, group in lines.groupby("rows"):
        for measure, title in MEASURES.items():
            row = {"rows": f"{size:,}", "measure": title, **dict.fromkeys(METHODS, "")}
            row |= means_of(group, "method", measure, list(METHODS))
            for method, single in SINGLE.items():
                found = pairs(group, "method", measure, method, single, rows=[size])
                is_shown = found and measure in ("edits", "kl")
                row[f"{method[-1]} below single"] = reduction_text(*found[size]) if is_shown else ""
            yield row


def claims(lines):
    """The published shapes of the curves, for each search."""
    for method, single in SINGLE.items():
        trials = set(lines[lines["method"] == method]["trial"])
        same_trials = lines[lines["trial"].isin(trials)]
        if not {method, single} <= set(same_trials["method"]):
            continue
        savings = {}
        for measure in ("edits", "kl"):
            found = pairs(same_trials, "method", measure, method, single, rows=SIZES)
            gains = pd.DataFrame({n: other - ours for n, (ours, other) in found.items()})
            yield Claim(
                f"{method}: gain over {single} shrinks with the rows, {MEASURES[measure]}",
                "yes",
                {n: difference_text(other, ours, 3) for n, (ours, other) in found.items()},
                shrinks(gains),
                f"gain, {measure} {method[-1]}",
            )
            savings[measure] = rows_saved(found)
        less = all(savings["kl"][n][0] < savings["edits"][n][0] for n in savings["edits"])
        for measure, published, holds in (
            ("edits", "about half as many (2 times)", about_double(savings["edits"])),
            ("kl", "saves less than in edits", less),
        ):
            if savings[measure]:
                yield Claim(
                    f"{method}: rows that {single} needs for the same mean, {MEASURES[measure]}",
                    published,
                    {n: f"{text} times" for n, (_, text) in savings[measure].items()},
                    holds,
                    f"rows, {measure} {method[-1]}",
                )


def about_double(savings):
    """Whether the savings are about 2, or more."""
    ratios = [ratio for ratio, _ in savings.values()]
    if not ratios or min(ratios) < 1.5:
        return "no"
    return "yes" if max(ratios) <= 2.5 else "yes, and more"


def rows_saved(found):
    """Factor by which single-task learning needs more rows for the same mean, up to 1000 rows.

    Its means are interpolated linearly in the logarithm of the rows. If none of them is low enough,
    the factor is a lower bound.

    Returns
    -------
    dict rows -> (number, text)
    """
    sizes = sorted(found)
    ours = {n: found[n][0].mean() for n in sizes if n <= 1000}
    means = np.minimum.accumulate([found[n][1].mean() for n in sizes])
    savings = {}
    for n, mean in ours.items():
        if means[-1] <= mean:
            ratio = float(np.exp(np.interp(-mean, -means, np.log(sizes))) / n)
            savings[n] = ratio, f"{ratio:.1f}"
        elif sizes[-1] > n:
            savings[n] = sizes[-1] / n, f"more than {sizes[-1] / n:.0f}"
    return savings


_LINES = {"single": "--", "multitask": "-"}
_COLORS = {"T": "#e6550d", "S": "#3182bd", "J": "#31a354"}


def draw(lines):
    """Edit distance and divergence against the number of rows."""
    kinds = {method: method.split() for method in METHODS}
    styles = {
        method: {"linestyle": _LINES[kind], "color": _COLORS[variant]}
        for method, (kind, variant) in kinds.items()
    }

    def draw_measure(axes, _, measure):
        mean_curves(axes, lines, "rows", "method", measure, styles)
        axis_of_sizes(axes, SIZES, "rows of each task", base=2)
        axes.set_yscale("log" if measure == "kl" else "linear")

    return panels(draw_measure, (5.5, 4.5), LABELS, legend="first")


if __name__ == "__main__":
    study.main(__spec__.name)
