"""Edit distance and divergence against the penalty (thesis, figures 2.2 and 2.3).

Run `python -m benchmarks.penalty_curves` (about an hour on two cores). Five tasks made by deleting
arcs with several probabilities, 1000 rows each; all rows are learned from, at every penalty.
"""

import pandas as pd

from benchmarks import study
from benchmarks.related import Related, networks_of
from benchmarks.summary import claims_table, exploded, is_significant, markdown, reduction
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


def plan(quick):
    """All cases; the quick ones are one trial of one problem."""
    if quick:
        yield {"problem": "ALARM", "p_delete": 0.05, "trial": 0, "wanted": ["T", "S"]}
        return
    for trial in range(max(TRIALS.values())):
        for problem in PROBLEMS:
            for p_delete in P_DELETE:
                wanted = [variant for variant, n in TRIALS.items() if trial < n]
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
    """A row per line and exponent, "inf" being 13 so that it can stand on an axis."""
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


def tables(lines):
    """The largest reductions, and the published claims."""
    rows = tidy(lines)
    found = []
    for (problem, p_delete), own in rows.groupby(["problem", "p_delete"]):
        row = {"problem": problem, "p_del": p_delete}
        for variant in TRIALS:
            here = own[own["variant"] == variant]
            for measure, name in (("edits", "edits"), ("kl", "KL")):
                if not len(here):
                    row[f"{name}, {variant}"] = ""
                    continue
                exponent, percent = best(here, measure)
                means = here.groupby("exponents")[measure].mean()
                at = "0" if exponent == END else f"{10**-exponent:.0g}"
                digits = 1 if measure == "edits" else 3
                row[f"{name}, {variant}"] = (
                    f"{means[0.0]:.{digits}f} → {means[exponent]:.{digits}f}, "
                    f"{percent:.0f} % at {at}"
                )
        found.append(row)
    return {
        "penalty_curves": markdown(pd.DataFrame(found)),
        "penalty_curves_claims": claims_table(claims(rows)),
    }


def claims(rows):
    """The published shapes, for each search."""
    for variant in TRIALS:
        own = rows[rows["variant"] == variant]
        cases = {key: case for key, case in own.groupby(["problem", "p_delete"])}
        peaks = {key: best(case, "edits") for key, case in cases.items()}
        some = {key: case for key, case in cases.items() if key[1] > 0}
        n_inside = sum(0 < peaks[key][0] < END for key in some)
        yield (
            f"{variant}: sharing helps, too much of it less (edits, p_del above 0)",
            "rise to a peak, then a fall",
            f"peak inside the range in {n_inside} of {len(some)}",
            n_inside == len(some),
        )
        problems = sorted({problem for problem, _ in cases})
        ends = [(peaks[p, 0.0][0], peaks[p, 0.2][0]) for p in problems if (p, 0.2) in peaks]
        n_higher = sum(close >= far for close, far in ends)
        yield (
            f"{variant}: best penalty higher for more similar tasks",
            "yes",
            f"p_del 0 at or above p_del 0.2 in {n_higher} of {len(ends)} problems",
            n_higher == len(ends),
        )
        gains = [(peaks[p, 0.0][1], peaks[p, 0.2][1]) for p in problems if (p, 0.2) in peaks]
        n_more = sum(close > far for close, far in gains)
        yield (
            f"{variant}: more gained from more similar tasks",
            "usually",
            f"largest reduction of edits at p_del 0 above p_del 0.2 in {n_more} of {len(gains)}",
            2 * n_more > len(gains),
        )
        n_edits = sum(peaks[key][1] > best(case, "kl")[1] for key, case in cases.items())
        yield (
            f"{variant}: larger gain in edits than in KL",
            "yes",
            f"{n_edits} of {len(cases)}",
            n_edits == len(cases),
        )
        sure = [_is_sure(case) for case in cases.values()]
        yield (
            f"{variant}: sharing helps at the best penalty",
            "yes",
            f"edits significantly fewer in {sum(sure)} of {len(sure)}",
            all(sure),
        )


def _is_sure(case):
    """Whether edits at the best penalty are significantly fewer than single-task ones."""
    exponent, _ = best(case, "edits")
    wide = case.pivot_table(index="trial", columns="exponents", values="edits")
    return is_significant(wide[exponent], wide[0.0]) and reduction(wide[exponent], wide[0.0]) > 0


def draw(lines):
    """Percent reduction against the penalty, a row a problem."""
    from matplotlib.figure import Figure

    rows = tidy(lines)
    present = [problem for problem in PROBLEMS if problem in set(rows["problem"])]
    columns = [(measure, variant) for measure in ("edits", "kl") for variant in TRIALS]
    figure = Figure(figsize=(15, 2.4 * len(present) + 0.6), layout="constrained")
    grid = figure.subplots(len(present), len(columns), squeeze=False, sharex=True, sharey="row")
    for axes_of_row, problem in zip(grid, present, strict=True):
        for axes, (measure, variant) in zip(axes_of_row, columns, strict=True):
            own = rows[(rows["problem"] == problem) & (rows["variant"] == variant)]
            for p_delete, case in own.groupby("p_delete"):
                curve = reductions(case, measure)
                axes.plot(curve.index, curve, "-o", markersize=2.5, label=f"p_del {p_delete:g}")
            axes.axhline(0, color="gray", linewidth=0.6)
            name = {"edits": "edit distance", "kl": "KL divergence"}[measure]
            if problem == present[0]:
                axes.set_title(f"{name}, {variant}", fontsize=9)
            axes.set_xticks([0, 4, 8, 12, END], ["1", "1e-4", "1e-8", "1e-12", "0"], fontsize=7)
            axes.tick_params(labelsize=7)
        axes_of_row[0].set_ylabel(f"{problem}\nreduction (%)", fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel("1 - penalty", fontsize=8)
    grid[0][0].legend(fontsize=7)
    return figure


if __name__ == "__main__":
    study.main("penalty_curves")
