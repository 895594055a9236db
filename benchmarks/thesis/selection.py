"""Selecting tasks, clustering them, or sharing by distance, against the number of rows (2.11).

Run `python -m benchmarks.thesis.selection` (a quarter of an hour on two cores). The principal task
is ALARM; fifteen others have components changed. Strong single-task searches, then the greedy
search along the penalties (S). "optimal number" and "optimal clusters" are the numbers with the
fewest edits in each trial, the penalty being chosen as for the others.
"""

import itertools

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.summary import (
    MEASURES,
    by_trial,
    claims_table,
    difference_text,
    is_significant,
    markdown,
    mean_and_error,
    reached,
    shrinks,
)
from benchmarks.thesis.groups import AT_LEAST, PENALTY, SHARE, Groupings, best_of
from benchmarks.thesis.pool import OTHERS, PRINCIPAL, related_of
from benchmarks.variants import THESIS
from bnmtl import SingleTaskLearner

NAME = "selection"
SETTINGS = ("rows", "trial", "method")
DPI = 100
FIXED = {"share": SHARE, "at_least": AT_LEAST, "direct_penalty": PENALTY}
SIZES = (250, 500, 1000, 2000, 4000)
N_TRIALS = 10
# Selection and clustering by how probably tables differ.
TABLES, CLUSTERS_OF_TABLES = "selection, tables", "clustering, tables"
METHODS = (
    "single",
    "all tasks",
    "selection",
    TABLES,
    "two tasks",
    "optimal number",
    "clustering",
    CLUSTERS_OF_TABLES,
    "optimal clusters",
    "task penalties",
)

# The numbers with the fewest edits.
OPTIMAL = {"selection": "optimal number", "clustering": "optimal clusters"}


def plan(quick, trials=None):
    """All cases, few rows first; the quick one has three other tasks."""
    if quick:
        return [{"rows": 250, "trial": 0, "n_tasks": 4, "wanted": list(METHODS)}]
    return [
        {"rows": rows, "trial": trial, "wanted": list(METHODS)}
        for trial in range(trials or N_TRIALS)
        for rows in SIZES
    ]


def measure(rows, trial, wanted, n_tasks=OTHERS + 1):
    """A line a method: the principal task."""
    related = related_of(rows, trial, n_tasks)
    graphs = {}
    if "single" in wanted:
        alone = SingleTaskLearner(**THESIS, random_state=trial)
        alone.fit({PRINCIPAL: related.tasks[PRINCIPAL]})
        graphs["single"] = (alone.configuration_[PRINCIPAL], 0)
    if set(wanted) - {"single"}:
        graphs.update(_grouped(related, trial))
    lines = {}
    for method in wanted:
        graph, number = graphs[method]
        judged = related.judged({PRINCIPAL: graph})
        line = {name: round(float(values[0]), 6) for name, values in judged.items()}
        lines[method] = {**line, "number": number}
    return lines


def _grouped(related, trial):
    """The principal task's graph and the number of other tasks or of clusters, by method."""

    def edits(graph):
        return related.judged({PRINCIPAL: graph})["edits"][0]

    groupings = Groupings(related.tasks, "S", trial)
    found = {"two tasks": (groupings.nearest(PRINCIPAL, 2), 2)}
    for table, selection, clustering in (
        (groupings.distances, "selection", "clustering"),
        (groupings.differing, TABLES, CLUSTERS_OF_TABLES),
    ):
        numbers = [own[:2] for own in groupings.by_number(PRINCIPAL, table)]
        clusters = [(graphs[PRINCIPAL], score) for graphs, score in groupings.by_clusters(table)]
        for method, options, first in ((selection, numbers, 0), (clustering, clusters, 1)):
            best = best_of([score for _, score in options])
            found[method] = (options[best][0], best + first)
            if method in OPTIMAL:
                fewest = int(np.argmin([edits(graph) for graph, _ in options]))
                found[OPTIMAL[method]] = (options[fewest][0], fewest + first)
    found["all tasks"] = (groupings.all_tasks()[PRINCIPAL], len(related.tasks) - 1)
    found["task penalties"] = (groupings.by_distance()[PRINCIPAL], len(related.tasks) - 1)
    return found


def tables(lines):
    """What each method reaches by number of rows, and the published claims."""
    rows = []
    for size, own in lines.groupby("rows"):
        for method in METHODS:
            here = own[own["method"] == method]
            if not len(here):
                continue
            row = {"rows": f"{size:,}", "method": method, "trials": len(here)}
            row |= reached(here)
            row["others or clusters"] = f"{here['number'].mean():.1f}"
            rows.append(row)
    return {
        "selection": markdown(pd.DataFrame(rows)),
        "selection_claims": claims_table(_claims(lines)),
    }


NOT_TRIED = "not tried on this problem"
# What adds to what, and what was published of it, in edits.
COMPARED = (
    ("selection", "all tasks", "always, but at 2000 rows, where it is similar"),
    (TABLES, "selection", "our own"),
    ("two tasks", "all tasks", "in the figure only"),
    ("clustering", "all tasks", NOT_TRIED),
    (CLUSTERS_OF_TABLES, "clustering", "our own"),
    ("task penalties", "all tasks", "our own"),
    ("task penalties", "selection", "our own"),
    ("task penalties", "clustering", "our own"),
)


# Of methods that figure 2.11 does not have.
SHRINKING = {
    **dict.fromkeys(("clustering", "optimal clusters"), NOT_TRIED),
    **dict.fromkeys(("task penalties", TABLES, CLUSTERS_OF_TABLES), "our own"),
}


def _claims(lines):
    wide = {
        measure: {size: by_trial(own, "method", measure) for size, own in lines.groupby("rows")}
        for measure in ("edits", "kl")
    }
    for measure, (method, other, published) in itertools.product(wide, COMPARED):
        texts, better, worse, gains = [], [], [], []
        for size, own in wide[measure].items():
            if {method, other} <= set(own):
                gain = own[other] - own[method]
                gains.append(gain)
                texts.append(f"{size}: {difference_text(own[other], own[method], 3)}")
                if is_significant(own[other], own[method]):
                    (better if gain.mean() > 0 else worse).append(size)
        if texts:
            mean = pd.concat(gains, axis=1).mean(axis=1)
            yield (
                f"{method} below {other}, {MEASURES[measure]}",
                published if measure == "edits" or published == "our own" else "not shown",
                ", ".join(texts) + f"; mean over sizes {difference_text(mean, 0 * mean, 3)}",
                f"better at {len(better)} of {len(texts)} sizes, worse at {len(worse)}",
            )
    for measure, method in itertools.product(wide, METHODS[1:]):
        yield from _shrinking(wide[measure], method, MEASURES[measure])
    yield from _doubled(wide["edits"])


def _shrinking(wide, method, name):
    """Whether the gain over single-task learning falls as the rows are doubled."""
    gains = pd.DataFrame(
        {
            n: own["single"] - own[method]
            for n, own in wide.items()
            if {"single", method} <= set(own)
        }
    ).dropna()
    if gains.shape[1] < 2 or len(gains) < 2:
        return
    yield (
        f"gain of {method} over single-task learning shrinks with the rows, {name}",
        "not shown" if name != "edits" else SHRINKING.get(method, "yes"),
        {n: mean_and_error(own, 3) for n, own in gains.items()},
        shrinks(gains),
    )


def _doubled(wide):
    """What selection adds to all tasks over all sizes, and what the optimal number would."""
    needed = {"all tasks", "selection", "optimal number"}
    own = [here[sorted(needed)] for here in wide.values() if needed <= set(here)]
    if not own:
        return
    # A trial's tasks are the same at all sizes.
    added = {
        method: pd.concat([here["all tasks"] - here[method] for here in own], axis=1).mean(axis=1)
        for method in ("selection", "optimal number")
    }
    ours, best = (added[method].mean() for method in ("selection", "optimal number"))
    yield (
        "an optimal number more than doubles what selection adds to all tasks, all sizes",
        "yes",
        f"selection {mean_and_error(added['selection'])}, "
        f"optimal number {mean_and_error(added['optimal number'])} edits",
        "selection adds nothing" if ours <= 0 else bool(best > 2 * ours),
    )


def draw(lines):
    """Edits below single-task learning against the number of rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    for axes, measure_ in zip(figure.subplots(1, 2), ("edits", "kl"), strict=True):
        for method in METHODS[1:]:
            means, errors, sizes = [], [], []
            for size, own in lines.groupby("rows"):
                wide = by_trial(own, "method", measure_)
                if {"single", method} <= set(wide):
                    gain = wide["single"] - wide[method]
                    sizes.append(size)
                    means.append(gain.mean())
                    errors.append(gain.sem())
            style = "--" if method.startswith("optimal") else "-"
            axes.errorbar(sizes, means, yerr=errors, fmt=f"o{style}", markersize=3, label=method)
        axes.axhline(0, color="gray", linewidth=0.6)
        axes.set_xscale("log", base=2)
        axes.set_xticks(SIZES, [str(size) for size in SIZES])
        axes.set_xlabel("rows of each task")
        name = {"edits": "edits", "kl": "KL (nats)"}[measure_]
        axes.set_ylabel(f"{name} below single-task learning")
    figure.axes[0].legend(fontsize=8)
    return figure


if __name__ == "__main__":
    study.main(__spec__.name)
