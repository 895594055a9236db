"""Edit distance and divergence against the penalty (thesis, figures 2.2 and 2.3).

Run `python -m benchmarks.thesis.penalty_curves` (an hour and a quarter on two cores). Five tasks
made by deleting arcs with several probabilities, 1000 rows each; all rows are learned from, at
every penalty.
"""

import itertools

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.related import Related, networks_of
from benchmarks.summary import (
    DIGITS,
    MEASURES,
    chosen_elsewhere,
    claims_table,
    exploded,
    is_lower,
    is_significant,
    markdown,
    mean_and_error,
    reduction_text,
)
from benchmarks.variants import Searches
from bnmtl import PairedPrior

NAME = "penalty_curves"
SETTINGS = ("problem", "p_delete", "trial", "variant")
DPI = 100
PROBLEMS = ("ALARM", "ALARM-IND", "INSURANCE", "INSURANCE-IND")
P_DELETE = (0.0, 0.05, 0.1, 0.2)
N_ROWS = 1000
FIXED = {"n_rows": N_ROWS}
# Exponents of 1 - penalty = 10 ** -e; 0 is no sharing and inf one structure for all.
EXPONENTS = (0.0, 0.3, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, float("inf"))
FEW = (0.0, 1.0, 2.0, 4.0, 8.0, float("inf"))
TRIALS = {"T": 20, "S": 20, "J": 10}


def plan(quick, trials=None):
    """All cases; the quick ones are one trial of one problem."""
    if quick:
        yield {"problem": "ALARM", "p_delete": 0.05, "trial": 0, "wanted": ["T", "S"]}
        return
    for trial in range(trials or max(TRIALS.values())):
        for problem in PROBLEMS:
            for p_delete in P_DELETE:
                wanted = [variant for variant, n in TRIALS.items() if trial < (trials or n)]
                yield {
                    "problem": problem,
                    "p_delete": p_delete,
                    "trial": trial,
                    "wanted": wanted,
                }


def measure(problem, p_delete, trial, wanted):
    """A line a variant: means over tasks at every penalty, the largest penalty last."""
    related = Related(networks_of(problem, trial, p_delete), N_ROWS, trial)
    searches = Searches(related.tasks, trial)
    lines = {}
    for variant in wanted:
        exponents = FEW if variant == "J" else EXPONENTS
        line = {"exponents": [e if e < float("inf") else "inf" for e in exponents], "score": []}
        for exponent in exponents:
            solution = searches.solve(variant, PairedPrior(1 - 10.0**-exponent))
            judged = related.judged(related.graphs(solution.matrices))
            for measure_, values in judged.items():
                line.setdefault(measure_, []).append(round(sum(values) / len(values), 6))
            line["score"].append(round(solution.score, 4))
        lines[variant] = line
    return lines


def tidy(lines):
    """A row per line and exponent, "inf" being `END` so that it can stand on an axis."""
    lines = lines.assign(
        exponents=[[END if e == "inf" else e for e in own] for own in lines["exponents"]]
    )
    return exploded(lines, ["exponents", "score", "edits", "shd", "f1", "kl"])


# Where one structure for all stands on the axis.
END = 14.0


def reductions(rows, measure):
    """Percent reduction of a measure against single-task learning, by the exponent."""
    means = rows.groupby("exponents")[measure].mean()
    return 100 * (1 - means / means[0.0])


def best(rows, measure):
    """The exponent with the lowest mean, and that reduction."""
    curve = reductions(rows, measure)
    return float(curve.idxmax()), float(curve.max())


def at_exponent(exponent):
    """The value of 1 - penalty, as text."""
    return "0" if exponent == END else f"{10**-exponent:.0g}"


def tables(lines):
    """What is reached at the best penalty, and the published claims."""
    rows = tidy(lines)
    found = []
    for (problem, p_delete, variant), own in rows.groupby(["problem", "p_delete", "variant"]):
        exponent, _ = best(own, "edits")
        row = {"problem": problem, "p_del": p_delete, "search": variant}
        row["trials"] = own["trial"].nunique()
        row["1 - penalty"] = at_exponent(exponent)
        for measure, name in MEASURES.items():
            wide = own.pivot_table(index="trial", columns="exponents", values=measure)
            digits = 1 if measure in ("edits", "shd") else DIGITS[measure]
            ends = (mean_and_error(wide[at], digits) for at in (0.0, exponent))
            text = " → ".join(ends)
            if measure != "f1":
                text += f", {reduction_text(wide[exponent], wide[0.0])}"
            elif not is_significant(wide[exponent], wide[0.0]):
                text += " (n.s.)"
            row[name] = text
        # The last measure is the divergence.
        at, _ = best(own, "kl")
        row["KL at its best"] = f"{reduction_text(wide[at], wide[0.0])} at {at_exponent(at)}"
        found.append(row)
    table = pd.DataFrame(found).sort_values(["problem", "search", "p_del"], key=_place)
    return {
        "penalty_curves": markdown(table),
        "penalty_curves_claims": claims_table(claims(rows)),
    }


def _place(column):
    """The order of the searches, and of anything else itself."""
    return column.map(list(TRIALS).index) if column.name == "search" else column


def claims(rows):
    """The published shapes, for each search."""
    for variant in TRIALS:
        own = rows[rows["variant"] == variant]
        cases = {key: case for key, case in own.groupby(["problem", "p_delete"])}
        if cases:
            yield from _claims_of(variant, cases)


def _claims_of(variant, cases):
    peaks = {key: best(case, "edits") for key, case in cases.items()}
    wide = {
        key: case.pivot_table(index="trial", columns="exponents", values="edits")
        for key, case in cases.items()
    }
    chosen = {key: chosen_elsewhere(own) for key, own in wide.items()}
    inside = [key for key in cases if 0 < peaks[key][0] < END]
    rises = [key for key in inside if is_lower(chosen[key], wide[key][END])]
    for text, published, some in (
        ("where tasks differ (p_del > 0)", "yes", [key for key in cases if key[1] > 0]),
        ("where they do not (p_del 0)", "yes", [key for key in cases if key[1] == 0]),
    ):
        if some:
            n_inside, n_rises = (sum(key in own for key in some) for own in (inside, rises))
            yield (
                f"{variant}: edits fall with the penalty, and rise again at too high a one, {text}",
                published,
                f"fewest between the ends in {n_inside} of {len(some)}; significantly fewer than "
                f"with one structure for all in {n_rises}",
                (n_rises, len(some)),
            )
    sure = [key for key in cases if is_lower(chosen[key], wide[key][0.0])]
    yield (
        f"{variant}: fewer edits than alone at the penalty that is best in the other trials",
        "our own",
        f"significantly fewer in {len(sure)} of {len(cases)}",
        (len(sure), len(cases)),
    )
    problems = sorted({problem for problem, _ in cases})
    pairs = [
        ((problem, near), (problem, far))
        for problem in problems
        for near, far in itertools.combinations(P_DELETE, 2)
        if {(problem, near), (problem, far)} <= set(cases)
    ]
    for text, published, which in (
        ("the best penalty is higher for more similar tasks", "yes", 0),
        ("more is gained from more similar tasks", "usually", 1),
    ):
        more, fewer = (
            [
                (near, far)
                for near, far in pairs
                if sign * (peaks[near][which] - peaks[far][which]) > 0
            ]
            for sign in (1, -1)
        )
        yield (
            f"{variant}: {text}",
            published,
            f"of {len(pairs)} pairs of p_del {len(more)} so, {len(fewer)} the other way round",
            (len(more), len(more) + len(fewer)),
        )
    n_edits = sum(peaks[key][1] > best(case, "kl")[1] for key, case in cases.items())
    yield (
        f"{variant}: larger percent reduction of edits than of KL",
        "yes",
        f"{n_edits} of {len(cases)}",
        (n_edits, len(cases)),
    )
    gains = {
        problem: np.mean([peaks[key][1] for key in cases if key[0] == problem])
        for problem in problems
    }
    yield (
        f"{variant}: as much gained, two thirds at least, where the tasks' tables have nothing in "
        "common (-IND)",
        "similar",
        "mean reduction of edits: " + ", ".join(f"{p} {own:.0f} %" for p, own in gains.items()),
        _similar(gains),
    )


def _similar(gains):
    """In how many problems -IND gains at least two thirds of what the other does, and all."""
    pairs = [(gains[p], gains[f"{p}-IND"]) for p in gains if f"{p}-IND" in gains]
    return sum(3 * own >= 2 * shared for shared, own in pairs), len(pairs)


# Of the picture, percent; what too high a penalty loses goes on below.
_LIMITS = {"edits": (-30, 72), "kl": (-12, 26)}


def draw(lines):
    """Percent reduction against the penalty, a row a problem."""
    from matplotlib.figure import Figure

    rows = tidy(lines)
    present = [problem for problem in PROBLEMS if problem in set(rows["problem"])]
    columns = [(measure, variant) for measure in ("edits", "kl") for variant in TRIALS]
    figure = Figure(figsize=(15, 2.4 * len(present) + 0.6), layout="constrained")
    grid = figure.subplots(len(present), len(columns), squeeze=False, sharex=True)
    for axes_of_row, problem in zip(grid, present, strict=True):
        for axes, (measure, variant) in zip(axes_of_row, columns, strict=True):
            own = rows[(rows["problem"] == problem) & (rows["variant"] == variant)]
            for p_delete, case in own.groupby("p_delete"):
                curve = reductions(case, measure)
                axes.plot(curve.index, curve, "-o", markersize=2.5, label=f"p_del {p_delete:g}")
            axes.axhline(0, color="gray", linewidth=0.6)
            axes.set_ylim(*_LIMITS[measure])
            name = {"edits": "edit distance", "kl": "KL divergence"}[measure]
            if problem == present[0]:
                axes.set_title(f"{name}, {variant}", fontsize=9)
            axes.set_xticks([0, 4, 8, 12, END], ["1", "1e-4", "1e-8", "1e-12", "0"], fontsize=7)
            axes.tick_params(labelsize=7)
        axes_of_row[0].set_ylabel(f"{problem}\nreduction (%)", fontsize=8)
    figure.supxlabel("1 - penalty (left end: learned apart, right end: one structure)", fontsize=8)
    grid[0][0].legend(fontsize=7)
    return figure


if __name__ == "__main__":
    study.main(__spec__.name)
