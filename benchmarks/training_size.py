"""Single-task and multitask learning against the number of rows on ALARM-COMP (thesis, 2.7).

Run `python -m benchmarks.training_size` (an hour on two cores). Multitask learning holds out 5 % of
the rows to choose the penalty, as in the thesis. Joint orders are left out above 4000 rows.
"""

import numpy as np
import pandas as pd

from benchmarks import methods, study
from benchmarks.related import Related, networks_of
from benchmarks.summary import (
    DIGITS,
    MEASURES,
    by_trial,
    claims_table,
    markdown,
    mean_and_error,
    reduction,
    reduction_text,
)

NAME = "training_size"
SETTINGS = ("rows", "trial", "method")
DPI = 100
FIXED = {"validation": methods.VALIDATION}
SIZES = (250, 500, 1000, 2000, 4000, 8000, 16000)
TRIALS = range(10)
# Method, number of trials, largest number of rows.
METHODS = {
    **dict.fromkeys(("single T", "multitask T", "single S", "multitask S"), (10, 16000)),
    "multitask J": (5, 4000),
}
SINGLE = {"multitask T": "single T", "multitask S": "single S", "multitask J": "single S"}


def plan(quick):
    """All cases, few rows first; the quick ones are two small samples."""
    for trial in range(1) if quick else TRIALS:
        for rows in SIZES[:2] if quick else SIZES:
            wanted = [
                method
                for method, (n_trials, most) in METHODS.items()
                if trial < n_trials and rows <= most and (not quick or method.endswith("T"))
            ]
            yield {"rows": rows, "trial": trial, "wanted": wanted}


def measure(rows, trial, wanted):
    """A line a method: means over the five tasks."""
    related = Related(networks_of("ALARM-COMP", trial), rows, trial)
    known = {}
    return {method: methods.line_of(related, method, trial, known) for method in wanted}


def tables(lines):
    """What is reached by number of rows, and the published claims."""
    rows = []
    for size, own in lines.groupby("rows"):
        for measure, title in MEASURES.items():
            wide = by_trial(own, "method", measure)
            row = {"rows": f"{size:,}", "measure": title}
            for method in METHODS:
                values = own[own["method"] == method][measure]
                row[method] = mean_and_error(values, DIGITS[measure]) if len(values) else ""
            for method, single in SINGLE.items():
                both = method in wide and single in wide and measure in ("edits", "kl")
                row[f"{method[-1]} below single"] = (
                    reduction_text(wide[method], wide[single]) if both else ""
                )
            rows.append(row)
    return {
        "training_size": markdown(pd.DataFrame(rows)),
        "training_size_claims": claims_table(_claims(lines)),
    }


def _claims(lines):
    for method, single in SINGLE.items():
        trials = set(lines[lines["method"] == method]["trial"])
        own = lines[lines["trial"].isin(trials)]
        means = own.groupby(["method", "rows"])[["edits", "kl"]].mean()
        if method not in means.index or single not in means.index:
            continue
        for measure in ("edits", "kl"):
            ours, other = means.loc[method][measure], means.loc[single][measure]
            sizes = [size for size in ours.index if size in other.index]
            gains = [float(other[size] - ours[size]) for size in sizes]
            texts = ", ".join(
                f"{size}: {gain:.3g}" for size, gain in zip(sizes, gains, strict=True)
            )
            yield (
                f"{method}: gain over {single} shrinks with the rows, {MEASURES[measure]}",
                "yes",
                texts,
                bool(np.polyfit(np.log(sizes), gains, 1)[0] < 0) if len(sizes) > 1 else False,
            )
        ours, other = means.loc[method]["edits"], means.loc[single]["edits"]
        small = [n for n in (250, 500, 1000) if n in ours.index and 2 * n in other.index]
        yield (
            f"{method}: as few edits as {single} with twice the rows, up to 1000",
            "half as much data needed",
            ", ".join(f"{n}: {ours[n]:.1f} against {other[2 * n]:.1f}" for n in small),
            bool(small) and all(ours[n] <= other[2 * n] for n in small),
        )
        largest = max(set(ours.index) & set(other.index))
        percent = reduction([ours[largest]], [other[largest]])
        yield (
            f"{method}: edits at {largest} rows",
            "nearly those of single-task",
            f"{percent:.0f} % below",
            percent > 0,
        )


def draw(lines):
    """Edit distance and divergence against the number of rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    styles = {"single": "--", "multitask": "-"}
    colors = {"T": "#e6550d", "S": "#3182bd", "J": "#31a354"}
    for axes, measure in zip(figure.subplots(1, 2), ("edits", "kl"), strict=True):
        for method in METHODS:
            own = lines[lines["method"] == method].groupby("rows")[measure]
            kind, variant = method.split()
            axes.errorbar(
                own.mean().index,
                own.mean(),
                yerr=own.sem(),
                linestyle=styles[kind],
                color=colors[variant],
                marker="o",
                markersize=3,
                label=method,
            )
        axes.set_xscale("log", base=2)
        axes.set_xticks(SIZES, [str(size) for size in SIZES])
        axes.set_xlabel("rows of each task")
        axes.set_ylabel({"edits": "edit distance", "kl": "KL divergence (nats)"}[measure])
    axes.set_yscale("log")
    figure.axes[0].legend(fontsize=8)
    return figure


if __name__ == "__main__":
    study.main("training_size")
