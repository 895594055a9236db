"""Birds at feeders, regions as tasks: penalty, size, selection, clusters (2.8, 2.9, 2.13 - 2.16).

Run `python -m benchmarks.bird --data FOLDER` (two hours on two cores). The data are no part of the
project: see `benchmarks/bird_tasks.py`. Networks are learned from some sites of every region and
judged by the mean log-likelihood of all its other sites. Strong single-task searches,
configurations from there (S). Every region is the principal task in turn. "optimal number" and
"optimal clusters" are the numbers that predict the test sites best.
"""

import itertools

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone

from benchmarks import study
from benchmarks.bird_tasks import PROBLEMS, bird_tasks, train_and_test
from benchmarks.groups import AT_LEAST, PENALTY, SHARE, Groupings, best_of
from benchmarks.penalty_curves import EXPONENTS
from benchmarks.summary import by_trial, claims_table, is_significant, markdown, mean_and_error
from benchmarks.variants import LEARNERS, Searches
from bnmtl import (
    EditPrior,
    IdenticalLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.held_out import HeldOut
from bnmtl.tasks import encode

NAME = "bird"
SETTINGS = ("problem", "rows", "trial", "method")
DPI = 100
NEEDS_DATA = True
TRIALS = range(10)
VALIDATION = 0.05
LEARNED = {
    "single": lambda seed: SingleTaskLearner(random_state=seed),
    "identical": lambda seed: IdenticalLearner(random_state=seed),
    "multitask": lambda seed: MultitaskLearnerCV(
        **LEARNERS["S"], validation=VALIDATION, random_state=seed
    ),
    "multitask default": lambda seed: MultitaskLearnerCV(random_state=seed),
}
CURVES = {
    "Paired/Double": PairedPrior(),
    "Paired/Single": PairedPrior(reversal=1),
    "Edit": EditPrior(),
}
GROUPED = (
    "all tasks",
    "selection",
    "optimal number",
    "clustering",
    "optimal clusters",
    "task penalties",
)
# Selection in the order of the indirect measure, at one number of rows.
INDIRECT, INDIRECT_ROWS = "selection, indirect", 200
# Largest numbers of rows for the penalty curves and for groups of tasks.
MOST_ROWS = {"BIRD-SITES": 400, "BIRD-SPECIES": 200}
FIXED = {
    "validation": VALIDATION,
    "exponents": [str(exponent) for exponent in EXPONENTS],
    "share": SHARE,
    "at_least": AT_LEAST,
    "direct_penalty": PENALTY,
}


def plan(quick):
    """All cases, few rows first; the quick one learns 100 sites of every region alone."""
    if quick:
        return [{"problem": "BIRD-SITES", "rows": 100, "trial": 0, "wanted": ["single"]}]
    return [
        {"problem": name, "rows": rows, "trial": trial, "wanted": _wanted(name, rows)}
        for trial in TRIALS
        for name, problem in PROBLEMS.items()
        for rows in problem.sizes
    ]


def _wanted(name, rows):
    wanted = [*LEARNED, *(itertools.chain(CURVES, GROUPED) if rows <= MOST_ROWS[name] else ())]
    return [*wanted, INDIRECT] if rows == INDIRECT_ROWS else wanted


class Birds:
    """Training and test sites of every region, and how well graphs predict the latter."""

    def __init__(self, problem, rows, trial):
        train, test = train_and_test(bird_tasks(problem), rows, trial)
        self.train, test = encode(train), encode(test)
        self._held_out = {name: HeldOut(self.train[name], test[name]) for name in self.train}

    def judged(self, graphs):
        """Mean log-likelihood of a test site, one value a region, in nats."""
        return {name: self._held_out[name].mean(graph) for name, graph in graphs.items()}


def measure(problem, rows, trial, wanted):
    """A line a method: the mean over regions, and each region's value."""
    birds = Birds(problem, rows, trial)
    lines, known = {}, {}
    for method in wanted:
        if method in LEARNED:
            learner = LEARNED[method](trial)
            learner._known = known
            learner.fit(birds.train)
            lines[method] = _line(birds.judged(learner.configuration_))
            lines[method]["penalty"] = getattr(learner, "penalty_", None)
        elif method in CURVES:
            lines[method] = _curve(birds, CURVES[method], trial)
    if set(wanted) & {*GROUPED, INDIRECT}:
        groupings = Groupings(birds.train, "S", trial)
        if set(wanted) & set(GROUPED):
            found = _grouped(birds, groupings)
            lines.update({method: found[method] for method in wanted if method in GROUPED})
        if INDIRECT in wanted:
            lines[INDIRECT], _ = _selected(birds, groupings, groupings.losses)
    return lines


def _line(by_region):
    means = {name: round(value, 6) for name, value in by_region.items()}
    return {"nats": round(float(np.mean(list(means.values()))), 6), "regions": means}


def _curve(birds, prior, trial):
    """The mean over regions at every penalty."""
    searches = Searches(birds.train, trial)
    names = list(birds.train)
    values = []
    for exponent in EXPONENTS:
        solution = searches.solve("S", clone(prior).set_params(penalty=1 - 10.0**-exponent))
        graphs = dict(zip(names, searches.graphs(solution), strict=True))
        values.append(round(float(np.mean(list(birds.judged(graphs).values()))), 6))
    return {"curve": values}


def _selected(birds, groupings, table):
    """A line for the numbers of nearest regions that held-out sites choose, and one for those that
    are best on the test sites."""
    chosen, optimal, numbers, curves, optimal_curves = {}, {}, [], {}, {}
    for region in birds.train:

        def judged(graph, region=region):
            return round(birds.judged({region: graph})[region], 6)

        options = groupings.by_number(region, table)
        curves[region] = [judged(own.graph) for own in options]
        optimal_curves[region] = [max(map(judged, own.every)) for own in options]
        best = best_of([own.score for own in options])
        chosen[region], optimal[region] = curves[region][best], max(curves[region])
        numbers.append(best)
    line = {**_line(chosen), "number": float(np.mean(numbers))}
    return {**line, "curves": curves, "optimal_curves": optimal_curves}, _line(optimal)


def _grouped(birds, groupings):
    """A line for each way to group the tasks."""
    found = {}
    found["selection"], found["optimal number"] = _selected(birds, groupings, groupings.distances)
    clusters = groupings.by_clusters()
    judged = [birds.judged(graphs) for graphs, _ in clusters]
    best = best_of([score for _, score in clusters])
    found["clustering"] = {**_line(judged[best]), "number": best + 1}
    means = [np.mean(list(own.values())) for own in judged]
    fewest = int(np.argmax(means))
    found["optimal clusters"] = {**_line(judged[fewest]), "number": fewest + 1}
    table = groupings.distances
    found["all tasks"] = {
        **_line(birds.judged(groupings.all_tasks())),
        "names": list(table.index),
        "distances": table.round(6).to_numpy().tolist(),
    }
    found["task penalties"] = _line(birds.judged(groupings.by_distance()))
    return found


def _gains(lines):
    """(problem, rows, method, gains over single-task learning by trial)."""
    for (problem, rows), own in lines.groupby(["problem", "rows"]):
        wide = by_trial(own, "method", "nats")
        for method in wide:
            if method != "single" and "single" in wide:
                yield problem, rows, method, wide[method] - wide["single"]


def tables(lines):
    """Gains over single-task learning, and the published claims."""
    cells = {}
    for problem, rows, method, gain in _gains(lines):
        sure = is_significant(gain, np.zeros(len(gain)))
        text = mean_and_error(gain) + ("" if sure else " (n.s.)")
        cells.setdefault((problem, method), {})[f"{rows} rows"] = text
    rows = [
        {"problem": problem, "method": f"{method}, best penalty" if method in CURVES else method}
        | own
        for (problem, method), own in cells.items()
    ]
    return {
        "bird": markdown(pd.DataFrame(rows).fillna("")),
        "bird_claims": claims_table(_claims(lines)),
    }


def _claims(lines):
    gains = {(p, n, m): gain for p, n, m, gain in _gains(lines)}
    for problem in PROBLEMS:
        own = {n: g for (p, n, m), g in gains.items() if (p, m) == (problem, "multitask")}
        if own:
            texts = ", ".join(f"{n}: {gain.mean():+.2f}" for n, gain in own.items())
            yield (
                f"{problem}: multitask gains, less with more rows",
                "yes",
                texts,
                all(g.mean() > 0 for g in own.values()) and _falls(own),
            )
            yield (
                f"{problem}: single-task overtakes multitask with many rows",
                "yes",
                f"{max(own)} rows: {own[max(own)].mean():+.3f}",
                own[max(own)].mean() < 0,
            )
        yield from _peaks(lines[lines["problem"] == problem], problem)
        for one, other, text, published in (
            ("selection", "all tasks", "selection adds to all tasks", "at larger sizes"),
            ("clustering", "all tasks", "clustering adds to all tasks", "little or nothing"),
            ("selection", "clustering", "selection beats clustering", "yes"),
            ("task penalties", "all tasks", "penalties by distance add to all tasks", "our own"),
            ("task penalties", "selection", "penalties by distance beat selection", "our own"),
        ):
            texts, holds = [], []
            for (p, n, m), gain in gains.items():
                if (p, m) == (problem, one) and (p, n, other) in gains:
                    more = gain - gains[p, n, other]
                    sure = is_significant(gain, gains[p, n, other])
                    texts.append(f"{n}: {more.mean():+.3f}{'' if sure else ' (n.s.)'}")
                    holds.append(more.mean() > 0)
            if texts:
                yield f"{problem}: {text}", published, ", ".join(texts), all(holds)


def _falls(gains):
    ordered = [gains[n].mean() for n in sorted(gains)]
    return all(a > b for a, b in itertools.pairwise(ordered))


def _peaks(lines, problem):
    """Whether the penalty curves rise to a peak and then fall."""
    for prior in CURVES:
        own = lines[lines["method"] == prior]
        texts, holds = [], []
        for rows, here in own.groupby("rows"):
            mean = np.mean(here["curve"].tolist(), axis=0)
            best = int(np.argmax(mean))
            texts.append(
                f"{rows}: peak at 1 - penalty = {10 ** -EXPONENTS[best]:.0g}, "
                f"one structure {mean[-1] - mean[best]:+.2f} from there"
            )
            holds.append(0 < best < len(mean) - 1)
        if texts:
            yield (
                f"{problem}, {prior}: rise to a peak, slow fall",
                "yes",
                "; ".join(texts),
                all(holds),
            )


def draw(lines):
    """Penalty, size, number of tasks, groups, and the hierarchy of regions."""
    from matplotlib.figure import Figure

    present = [problem for problem in PROBLEMS if problem in set(lines["problem"])]
    figure = Figure(figsize=(20, 4.2 * len(present)), layout="constrained")
    grid = figure.subplots(len(present), 5, squeeze=False)
    for row, problem in zip(grid, present, strict=True):
        own = lines[lines["problem"] == problem]
        _draw_curves(row[0], own, problem)
        _draw_gains(row[1], own, LEARNED, "learners")
        _draw_numbers(row[2], own)
        _draw_gains(row[3], own, GROUPED, "groups of tasks")
        _draw_dendrogram(row[4], own)
    return figure


def _draw_curves(axes, lines, problem):
    places = np.arange(len(EXPONENTS))
    names = ["0" if e == float("inf") else f"{10**-e:.0g}" for e in EXPONENTS]
    for prior in CURVES:
        for rows, own in lines[lines["method"] == prior].groupby("rows"):
            curve = np.mean(own["curve"].tolist(), axis=0)
            axes.plot(places, curve - curve[0], "-o", markersize=2, label=f"{prior}, {rows}")
    axes.set_xticks(places, names, fontsize=6, rotation=60)
    axes.set_xlabel("1 - penalty")
    axes.set_ylabel(f"{problem}\nnats a site above single-task")
    axes.legend(fontsize=5)


def _draw_gains(axes, lines, methods, title):
    for method in methods:
        found = [(n, gain) for _, n, m, gain in _gains(lines) if m == method]
        if found:
            sizes, gains = zip(*sorted(found, key=lambda one: one[0]), strict=True)
            means, errors = [g.mean() for g in gains], [g.sem() for g in gains]
            axes.errorbar(sizes, means, yerr=errors, fmt="-o", markersize=3, label=method)
    axes.axhline(0, color="gray", linewidth=0.6)
    axes.set_title(title, fontsize=9)
    axes.set_xlabel("sites of each region")
    axes.legend(fontsize=6)


def _draw_numbers(axes, lines):
    for rows, own in lines[lines["method"] == "selection"].groupby("rows"):
        means = [np.mean(list(curves.values()), axis=0) for curves in own["curves"]]
        mean = np.mean(means, axis=0)
        axes.plot(np.arange(len(mean)), mean - mean[0], "-o", markersize=3, label=f"{rows} sites")
    axes.set_title("the nearest regions, mean over principal ones", fontsize=9)
    axes.set_xlabel("other regions")
    axes.legend(fontsize=6)


def _draw_dendrogram(axes, lines):
    from scipy.cluster.hierarchy import dendrogram

    own = lines[lines["method"] == "all tasks"].sort_values(["rows", "trial"])
    if not len(own):
        axes.set_axis_off()
        return
    line = own[own["trial"] == own["trial"].min()].iloc[-1]
    joined = linkage(squareform(np.array(line["distances"])), "average")
    dendrogram(joined, labels=line["names"], ax=axes, orientation="left", leaf_font_size=7)
    axes.set_title(f"direct distances, {line['rows']} sites, one trial", fontsize=9)


if __name__ == "__main__":
    study.main("bird")
