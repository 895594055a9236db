"""Selection and clustering of tasks and sharing by distance, by number of rows (2.11).

Run `python -m benchmarks.thesis.selection` (a quarter of an hour on two cores). The principal task
is ALARM; fifteen others have components changed. Strong single-task searches, then the greedy
search along the penalties (S). "optimal number" and "optimal clusters" are the numbers with the
fewest edits in each trial; the penalty is chosen as for the other methods. "default" is
`MultitaskLearner()` of all tasks, "default, groups" the same with the groups of tasks found from
the data; both share tables. "selector" is `TaskSelector` with a penalty of 0.9, whose number of
tasks is given, or chosen by 5 % of the rows or by ten folds; folds take 160 fits, so only at 250
rows.
"""

import itertools

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.claims import OURS, Claim, claims_table, tally
from benchmarks.drawing import axis_of_sizes, mean_curves, panels
from benchmarks.summary import (
    MEASURES,
    difference_text,
    markdown,
    mean_and_error,
    of_baseline,
    pairs,
    parts,
    reached,
    shrinks,
    sign,
)
from benchmarks.thesis.divided import BY_DEFAULT, default_fit
from benchmarks.thesis.groups import AT_LEAST, SHARE, Groupings
from benchmarks.thesis.pool import OTHERS, PENALTY, PRINCIPAL, related_of
from benchmarks.variants import LEARNERS, learner_of
from bnmtl import MultitaskLearner, PairedPrior
from bnmtl.learners.validated import best_penalty
from bnmtl.relatedness import TaskSelector

NAME = "selection"
SETTINGS = ("rows", "trial", "method")
FIXED = {"share": SHARE, "at_least": AT_LEAST, "direct_penalty": PENALTY}
SIZES = (250, 500, 1000, 2000, 4000)
N_TRIALS = 10
# Selection and clustering by the probability that tables differ.
TABLES, CLUSTERS_OF_TABLES = "selection, tables", "clustering, tables"
# `TaskSelector` by its number of tasks.
SELECTORS = {
    "selector, all tasks": OTHERS,
    "selector, held-out rows": "validation",
    "selector, folds": "cv",
}
FEWEST_ROWS = 250
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
    *BY_DEFAULT,
    *SELECTORS,
)

# The numbers with the fewest edits.
OPTIMAL = {"selection": "optimal number", "clustering": "optimal clusters"}


def plan(quick, trials=None):
    """All cases by increasing number of rows; the quick one has two other tasks.

    Of the learners with default scores it has the one that finds groups.
    """
    if quick:
        wanted = [method for method in METHODS if method not in ("default", *SELECTORS)]
        return study.every(wanted, rows=[50], trial=[0], n_tasks=[3])

    def wanted(rows, trial):
        return [one for one in METHODS if one not in SELECTORS or rows == FEWEST_ROWS]

    return study.every(wanted, trial=range(trials or N_TRIALS), rows=SIZES)


def measure(rows, trial, wanted, n_tasks=OTHERS + 1):
    """One line per method: the principal task."""
    related = related_of(rows, trial, n_tasks)
    graphs = {}
    if "single" in wanted:
        alone = learner_of("single S", trial).fit({PRINCIPAL: related.tasks[PRINCIPAL]})
        graphs["single"] = (alone.configuration_[PRINCIPAL], 0)
    for method in BY_DEFAULT.keys() & set(wanted):
        learner = default_fit(method, related.tasks, trial)
        groups = learner.task_groups_
        number = int((groups == groups[PRINCIPAL]).sum()) - 1
        graphs[method] = (learner.configuration_[PRINCIPAL], number)
    for method in SELECTORS.keys() & set(wanted):
        learner = MultitaskLearner(PairedPrior(PENALTY), **LEARNERS["S"], random_state=trial)
        selector = TaskSelector(learner, PRINCIPAL, SELECTORS[method]).fit(related.tasks)
        graphs[method] = (selector.configuration_[PRINCIPAL], selector.n_tasks_)
    if set(wanted) - {"single", *BY_DEFAULT, *SELECTORS}:
        graphs.update(_grouped(related, trial))
    lines = {}
    for method in wanted:
        graph, number = graphs[method]
        lines[method] = {**related.line({PRINCIPAL: graph}), "number": number}
    return lines


def _grouped(related, trial):
    """The principal task's graph and the number of other tasks or clusters, by method."""

    def edits(graph):
        return related.judged({PRINCIPAL: graph})["edits"][0]

    groupings = Groupings(related.tasks, "S", trial)
    found = {"two tasks": (groupings.nearest(PRINCIPAL, 2), 2)}
    for table, selection, clustering in (
        (groupings.distances, "selection", "clustering"),
        (groupings.differing, TABLES, CLUSTERS_OF_TABLES),
    ):
        numbers = [option[:2] for option in groupings.by_number(PRINCIPAL, table)]
        clusters = [(graphs[PRINCIPAL], score) for graphs, score in groupings.by_clusters(table)]
        for method, options, first in ((selection, numbers, 0), (clustering, clusters, 1)):
            best = best_penalty([score for _, score in options])
            found[method] = (options[best][0], best + first)
            if method in OPTIMAL:
                fewest = int(np.argmin([edits(graph) for graph, _ in options]))
                found[OPTIMAL[method]] = (options[fewest][0], fewest + first)
    found["all tasks"] = (groupings.all_tasks()[PRINCIPAL], len(related.tasks) - 1)
    found["task penalties"] = (groupings.by_distance()[PRINCIPAL], len(related.tasks) - 1)
    return found


def tables(lines):
    """The results of each method by number of rows, and the published claims."""
    return {"selection": markdown(_reached(lines)), "selection_claims": claims_table(claims(lines))}


def _reached(lines):
    for case, group in parts(lines, rows=sorted(set(lines["rows"])), method=METHODS):
        row = {**case, "rows": f"{case['rows']:,}", "trials": len(group), **reached(group)}
        yield {**row, "others or clusters": f"{group['number'].mean():.1f}"}


NOT_TRIED = "not tried on this problem"
AT_SIZES = "better at {above} of {n} sizes, worse at {below}"
# Method, baseline and published result, in edits.
COMPARED = (
    ("selection", "all tasks", "always, except at 2000 rows, where it is similar"),
    (TABLES, "selection", OURS),
    ("two tasks", "all tasks", "in the figure only"),
    ("clustering", "all tasks", NOT_TRIED),
    (CLUSTERS_OF_TABLES, "clustering", OURS),
    ("task penalties", "all tasks", OURS),
    ("task penalties", "selection", OURS),
    ("task penalties", "clustering", OURS),
    *((method, other, OURS) for method in BY_DEFAULT for other in ("all tasks", "selection")),
    *(("selector, folds", other, OURS) for other in SELECTORS if other != "selector, folds"),
)


# Published results for methods that are not in figure 2.11.
SHRINKING = {
    **dict.fromkeys(("clustering", "optimal clusters"), NOT_TRIED),
    **dict.fromkeys(("task penalties", TABLES, CLUSTERS_OF_TABLES, *BY_DEFAULT), OURS),
}


def claims(lines):
    """Gains of ways of grouping tasks over each other, and their change with the rows."""
    measures = ("edits", "kl")
    for measure, (method, other, published) in itertools.product(measures, COMPARED):
        found = _pairs(lines, measure, method, other)
        if found:
            mean = _gains(found).mean(axis=1)
            texts = [f"{n}: {difference_text(*pair[::-1], 3)}" for n, pair in found.items()]
            yield Claim(
                f"{method} below {other}, {MEASURES[measure]}",
                published if measure == "edits" or published == OURS else "not shown",
                ", ".join(texts) + f"; mean over sizes {difference_text(mean, 0 * mean, 3)}",
                tally((sign(*pair) for pair in found.values()), AT_SIZES),
                f"{method}, {other}, {measure} S",
            )
    for measure, method in itertools.product(measures, METHODS[1:]):
        yield from _shrinking(_gains(_pairs(lines, measure, method, "single")), method, measure)
    yield from _doubled(lines)


def _pairs(lines, measure, ours, other):
    """A measure of two methods by trial, for each number of rows."""
    return pairs(lines, "method", measure, ours, other, rows=SIZES)


def _gains(found):
    """Differences by which one method is below the other, trials by numbers of rows."""
    return pd.DataFrame({n: other - ours for n, (ours, other) in found.items()})


def _shrinking(gains, method, measure):
    """Whether the gain over single-task learning decreases as the rows are doubled."""
    gains = gains.dropna()
    if gains.shape[1] >= 2 and len(gains) >= 2:
        yield Claim(
            f"gain of {method} over single-task learning shrinks with the rows, "
            f"{MEASURES[measure]}",
            "not shown" if measure != "edits" else SHRINKING.get(method, "yes"),
            {n: mean_and_error(column, 3) for n, column in gains.items()},
            shrinks(gains),
            f"{method} shrinks, {measure} S",
        )


def _doubled(lines):
    """Gains of selection and of the optimal number over all tasks, over all sizes."""
    # Means over sizes, because the tasks of a trial are the same at all sizes.
    added = {
        method: _gains(_pairs(lines, "edits", method, "all tasks")).mean(axis=1)
        for method in ("selection", "optimal number")
    }
    if all(map(len, added.values())):
        ours, best = (values.mean() for values in added.values())
        yield Claim(
            "an optimal number more than doubles the gain of selection over all tasks, all sizes",
            "yes",
            ", ".join(f"{name} {mean_and_error(values)}" for name, values in added.items())
            + " edits",
            "selection adds nothing" if ours <= 0 else bool(best > 2 * ours),
            "doubled S",
        )


def draw(lines):
    """Edits below single-task learning against the number of rows."""
    lines = lines[~lines["method"].isin(SELECTORS)]
    styles = {
        method: {"linestyle": "--" if method.startswith("optimal") else "-"}
        for method in METHODS[1:]
        if method not in SELECTORS
    }

    def draw_measure(axes, _, measure):
        alone = of_baseline(lines, "method", "single", measure, ["rows", "trial"])
        gains = lines.assign(gain=alone - lines[measure])
        mean_curves(axes, gains.dropna(subset="gain"), "rows", "method", "gain", styles)
        axes.axhline(0, color="gray", linewidth=0.6)
        axis_of_sizes(axes, SIZES, "rows of each task", base=2)

    titles = {
        measure: f"{MEASURES[measure]} below single-task learning" for measure in ("edits", "kl")
    }
    return panels(draw_measure, (5.5, 4.5), titles, legend="first")


if __name__ == "__main__":
    study.main(__spec__.name)
