"""Edit distance and divergence against the penalty (thesis, figures 2.2 and 2.3).

Run `python -m benchmarks.thesis.penalty_curves` (75 minutes on two cores). Five tasks of 1000 rows
each, made by deleting arcs with several probabilities. Graphs are learned from all rows at every
penalty.
"""

import itertools

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.claims import OURS, Claim, claims_table
from benchmarks.drawing import curves, panels
from benchmarks.related import Related, networks_of
from benchmarks.summary import (
    DIGITS,
    MEASURES,
    by_trial,
    chosen_elsewhere,
    exploded,
    is_lower,
    is_significant,
    markdown,
    mean_and_error,
    parts,
    present,
    reduction_text,
)
from benchmarks.variants import Searches
from bnmtl import PairedPrior

NAME = "penalty_curves"
SETTINGS = ("problem", "p_delete", "trial", "variant")
PROBLEMS = ("ALARM", "ALARM-IND", "INSURANCE", "INSURANCE-IND")
P_DELETE = (0.0, 0.05, 0.1, 0.2)
N_ROWS = 1000
FIXED = {"n_rows": N_ROWS}
# Exponents e of 1 - penalty = 10 ** -e; 0 means no sharing, inf means one structure for all tasks.
EXPONENTS = (0.0, 0.3, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, float("inf"))
FEW = (0.0, 1.0, 2.0, 4.0, 8.0, float("inf"))
TRIALS = {"T": 20, "S": 20, "J": 10}


def plan(quick, trials=None):
    """All cases; the quick ones are one trial of one problem."""
    if quick:
        return study.every("S", trial=[0], problem=["ALARM"], p_delete=[0.05])

    def wanted(trial, **_):
        return [variant for variant, n in TRIALS.items() if trial < (trials or n)]

    n_trials = trials or max(TRIALS.values())
    return study.every(wanted, trial=range(n_trials), problem=PROBLEMS, p_delete=P_DELETE)


def measure(problem, p_delete, trial, wanted):
    """One line per variant: means over tasks at every penalty, largest penalty last."""
    related = Related(networks_of(problem, trial, p_delete), N_ROWS, trial)
    searches = Searches(related.tasks, trial)
    lines = {}
    for variant in wanted:
        exponents = FEW if variant == "J" else EXPONENTS
        found = []
        for exponent in exponents:
            solution = searches.solve(variant, PairedPrior(1 - 10.0**-exponent))
            line = related.line(related.graphs(solution.matrices))
            found.append({**line, "score": round(solution.score, 4)})
        lines[variant] = pd.DataFrame(found).to_dict("list")
        lines[variant]["exponents"] = [e if e < float("inf") else "inf" for e in exponents]
    return lines


def tidy(lines):
    """One row per line and exponent, with "inf" replaced by `END`."""
    lines = lines.assign(exponents=on_axis(lines))
    return exploded(lines, ["exponents", "score", "edits", "shd", "f1", "kl"])


def on_axis(lines):
    """The exponents of each line, with infinity replaced by a number."""
    return [[END if e == "inf" else e for e in exponents] for exponents in lines["exponents"]]


# Position on the axis of one structure for all tasks.
END = 14.0


def reductions(rows, measure):
    """Percent reduction of a measure compared with single-task learning, by exponent."""
    means = rows.groupby("exponents")[measure].mean()
    return 100 * (1 - means / means[0.0])


def best(rows, measure):
    """The exponent with the lowest mean, and its reduction."""
    curve = reductions(rows, measure)
    return float(curve.idxmax()), float(curve.max())


def at_exponent(exponent):
    """The value of 1 - penalty, as text."""
    return "0" if exponent >= END else f"{10**-exponent:.0g}"


def tables(lines):
    """The results at the best penalty, and the published claims."""
    rows = tidy(lines)
    return {
        "penalty_curves": markdown(_reached(rows)),
        "penalty_curves_claims": claims_table(claims(lines)),
    }


def _reached(rows):
    problems = sorted(set(rows["problem"]))
    for case, group in parts(rows, problem=problems, variant=TRIALS, p_delete=P_DELETE):
        exponent, _ = best(group, "edits")
        row = {"problem": case["problem"], "p_del": case["p_delete"], "search": case["variant"]}
        row["trials"] = group["trial"].nunique()
        row["1 - penalty"] = at_exponent(exponent)
        for measure, name in MEASURES.items():
            wide = by_exponent(group, measure)
            digits = 1 if measure in ("edits", "shd") else DIGITS[measure]
            text = " → ".join(mean_and_error(wide[at], digits) for at in (0.0, exponent))
            if measure != "f1":
                text += f", {reduction_text(wide[exponent], wide[0.0])}"
            elif not is_significant(wide[exponent], wide[0.0]):
                text += " (n.s.)"
            row[name] = text
        # The last measure is the divergence.
        at, _ = best(group, "kl")
        row["KL at its best"] = f"{reduction_text(wide[at], wide[0.0])} at {at_exponent(at)}"
        yield row


def by_exponent(rows, measure):
    """A measure, trials by exponents."""
    return by_trial(rows, "exponents", measure)


def claims(lines):
    """The published shapes, for each search."""
    rows = tidy(lines)
    for variant in TRIALS:
        of_variant = rows[rows["variant"] == variant]
        cases = {key: case for key, case in of_variant.groupby(["problem", "p_delete"])}
        if cases:
            peaks = {key: best(case, "edits") for key, case in cases.items()}
            yield from _shape(variant, cases, peaks)
            yield from _similarity(variant, peaks)
            yield from _gains(variant, cases, peaks)


def _shape(variant, cases, peaks):
    """Whether edits decrease with the penalty and increase again."""
    wide = {key: by_exponent(case, "edits") for key, case in cases.items()}
    chosen = {key: chosen_elsewhere(edits) for key, edits in wide.items()}
    inside = {key for key in cases if 0 < peaks[key][0] < END}
    rises = {key for key in inside if is_lower(chosen[key], wide[key][END])}
    differing = {key for key in cases if key[1] > 0}
    for text, some, name in (
        ("where tasks differ (p_del > 0)", differing, "differing"),
        ("where they do not (p_del 0)", set(cases) - differing, "alike"),
    ):
        if some:
            yield Claim(
                f"{variant}: edits fall with the penalty, and rise again at too high a one, {text}",
                "yes",
                f"fewest between the ends in {len(inside & some)} of {len(some)}; significantly "
                f"fewer than with one structure for all in {len(rises & some)}",
                (len(rises & some), len(some)),
                f"{name} {variant}",
            )
    n_sure = sum(is_lower(chosen[key], wide[key][0.0]) for key in cases)
    yield Claim(
        f"{variant}: fewer edits than alone at the penalty that is best in the other trials",
        OURS,
        f"significantly fewer in {n_sure} of {len(cases)}",
        (n_sure, len(cases)),
    )


def _similarity(variant, peaks):
    """Whether the best penalty and the gain increase with the similarity of tasks."""
    pairs = [
        (peaks[problem, near], peaks[problem, far])
        for problem in sorted({problem for problem, _ in peaks})
        for near, far in itertools.combinations(P_DELETE, 2)
        if {(problem, near), (problem, far)} <= set(peaks)
    ]
    for text, published, which, name in (
        ("the best penalty is higher for more similar tasks", "yes", 0, "best penalty"),
        ("the gain is larger for more similar tasks", "usually", 1, "gain"),
    ):
        n_more = sum(near[which] > far[which] for near, far in pairs)
        n_fewer = sum(near[which] < far[which] for near, far in pairs)
        yield Claim(
            f"{variant}: {text}",
            published,
            f"in {n_more} of {len(pairs)} pairs of p_del; the opposite in {n_fewer}",
            (n_more, n_more + n_fewer),
            f"{name} {variant}",
        )


def _gains(variant, cases, peaks):
    """Whether edits gain more than the divergence, and as much if only arcs can be shared."""
    n_edits = sum(peaks[key][1] > best(case, "kl")[1] for key, case in cases.items())
    yield Claim(
        f"{variant}: larger percent reduction of edits than of KL",
        "yes",
        f"{n_edits} of {len(cases)}",
        (n_edits, len(cases)),
        f"edits and kl {variant}",
    )
    gains = {
        problem: np.mean([peak for (name, _), (_, peak) in peaks.items() if name == problem])
        for problem in sorted({problem for problem, _ in cases})
    }
    pairs = [(gains[p], gains[f"{p}-IND"]) for p in gains if f"{p}-IND" in gains]
    yield Claim(
        f"{variant}: the gain is as large, at least two thirds, if tables are unrelated (-IND)",
        "similar",
        "mean reduction of edits: " + ", ".join(f"{p} {gain:.0f} %" for p, gain in gains.items()),
        (sum(3 * independent >= 2 * shared for shared, independent in pairs), len(pairs)),
        f"IND {variant}",
    )


# Limits of the picture in percent; losses at too high penalties are cut off.
_LIMITS = {"edits": (-30, 72), "kl": (-12, 26)}


def draw(lines):
    """Percent reduction against the penalty, one row per problem."""
    rows = tidy(lines)

    def draw_case(axes, problem, case):
        measure, variant = case
        group = rows[(rows["problem"] == problem) & (rows["variant"] == variant)]
        by_p_delete = {
            f"p_del {p:g}": reductions(case, measure) for p, case in group.groupby("p_delete")
        }
        curves(axes, pd.DataFrame(by_p_delete))
        axes.axhline(0, color="gray", linewidth=0.6)
        axes.set_ylim(*_LIMITS[measure])
        axes.set_xticks([0, 4, 8, 12, END], ["1", "1e-4", "1e-8", "1e-12", "0"])

    measures = {"edits": "edit distance", "kl": "KL divergence"}
    return panels(
        draw_case,
        (2.5, 2.4),
        {(key, search): f"{name}, {search}" for key, name in measures.items() for search in TRIALS},
        {name: f"{name}\nreduction (%)" for name in present(lines, "problem", PROBLEMS)},
        legend="first",
        sharex=True,
        supxlabel="1 - penalty (left end: learned apart, right end: one structure)",
    )


if __name__ == "__main__":
    study.main(__spec__.name)
