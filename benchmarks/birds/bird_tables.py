"""Tables, claims and the picture of the study of birds.

Errors are over random splits of the same sites into those learned from and the others, which is why
no t-tests are made: beside each mean stands the number of splits where the difference is positive.
"""

import itertools

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from benchmarks.birds.bird_tasks import PROBLEMS
from benchmarks.summary import both_halves, by_trial, claims_table, markdown, mean_and_error
from benchmarks.thesis.penalty_curves import EXPONENTS

LEARNED = ("single", "identical", "multitask", "multitask folds")
# What shares nothing either, and is told beside learning alone by BDeu.
ALONE = ("empty", "single, BIC", "single, sparse")
# What users get who choose nothing, with the tables that they get, and no arcs with such tables.
TOGETHER, EMPTY_SHARED = "together, tables shared", "empty, tables shared"
BY_DEFAULT = ("empty, defaults", "alone, defaults", EMPTY_SHARED, TOGETHER)
# No arcs are drawn once; whatever their tables, they are in the same place.
DRAWN = (*ALONE, *LEARNED[1:], "alone, defaults", TOGETHER)
CURVES = ("Paired/Double", "Paired/Single", "Edit")
GROUPED = (
    "all tasks",
    "selection",
    "optimal number",
    "clustering",
    "optimal clusters",
    "task penalties",
)
# Selection in the order of other measures of relatedness, at one number of rows.
OTHER_ORDERS = {"selection, indirect": "indirect", "selection, tables": "tables'"}
OTHER_ORDER_ROWS = 200
# Problems of the regions that another problem is left with where sites are many.
SAME_REGIONS = {"BIRD-SITES-4": "BIRD-SITES", "BIRD-SPECIES-3": "BIRD-SPECIES"}
# Share of the splits in which a difference must have the same sign to count.
SURE = 0.9


def tables(lines):
    """Gains over single-task learning, and the published claims."""
    lines = with_same_regions(lines)
    return {"bird": markdown(_gained(lines)), "bird_claims": claims_table(_claims(lines))}


def with_same_regions(lines):
    """The lines, and those with many sites for the problems of the regions that have as many."""
    found = [lines]
    for small, large in SAME_REGIONS.items():
        regions = set(PROBLEMS[small].regions)
        own = lines[(lines["problem"] == large) & lines["regions"].notna()]
        same = own["regions"].map(lambda by_region, regions=regions: set(by_region) == regions)
        found.append(own[same.to_numpy(dtype=bool)].assign(problem=small))
    return pd.concat(found, ignore_index=True)


def gains(lines, problem, method, other="single"):
    """Nats that a method gains over another, by trial, by number of rows."""
    found = {}
    for rows, own in lines[lines["problem"] == problem].groupby("rows"):
        wide = by_trial(own, "method", "nats")
        if {method, other} <= set(wide):
            found[rows] = (wide[method] - wide[other]).dropna()
    return found


def curves(lines, problem, prior):
    """Nats that each penalty gains over single-task learning, trials by penalties, by rows."""
    own = lines[(lines["problem"] == problem) & (lines["method"] == prior)]
    return {
        rows: pd.DataFrame(here["curve"].tolist(), index=here["trial"]).sub(
            here["curve"].str[0].to_numpy(), axis=0
        )
        for rows, here in own.groupby("rows")
    }


def numbers(lines, problem, method, column):
    """Nats gained with the nearest regions, trials by their number, by rows; 0 is the lone task."""
    own = lines[(lines["problem"] == problem) & (lines["method"] == method)]
    return {
        rows: pd.DataFrame(
            [
                np.mean([np.subtract(curve, curve[0]) for curve in by_region.values()], axis=0)
                for by_region in here[column]
            ],
            index=here["trial"],
        )
        for rows, here in own.groupby("rows")
    }


def gain_text(gain):
    """Mean and standard error of a gain, and in how many of the splits it is positive."""
    return f"{mean_and_error(gain)} ({int((gain > 0).sum())}/{len(gain)})"


def is_sure(gain):
    """Whether a gain is positive in nearly all splits."""
    return len(gain) > 1 and (gain > 0).mean() >= SURE


def _gained(lines):
    found = []
    for problem in PROBLEMS:
        own = lines[lines["problem"] == problem]
        if not len(own):
            continue
        alone = own[own["method"] == "single"].groupby("rows")["nats"]
        row = {"problem": problem, "method": "single, nats a site"}
        found.append(row | {n: mean_and_error(values) for n, values in alone})
        for method in (*ALONE, *LEARNED[1:], *BY_DEFAULT, *GROUPED):
            texts = {n: gain_text(gain) for n, gain in gains(lines, problem, method).items()}
            if texts:
                found.append({"problem": problem, "method": method} | texts)
        for prior in CURVES:
            texts = {
                n: f"{curve.mean().max():+.2f} at {at_exponent(curve.mean().idxmax())}"
                for n, curve in curves(lines, problem, prior).items()
            }
            if texts:
                name = f"{prior}, 1 - penalty that is best on the test sites"
                found.append({"problem": problem, "method": name} | texts)
    sizes = sorted({key for row in found for key in row if not isinstance(key, str)})
    table = pd.DataFrame(found, columns=["problem", "method", *sizes]).fillna("")
    return table.rename(columns={n: f"{n} sites" for n in sizes})


def at_exponent(place):
    """The value of 1 - penalty at a place of the grid, as text."""
    return f"{10 ** -EXPONENTS[place]:.0g}"


def _claims(lines):
    for problem in SAME_REGIONS:
        own = gains(lines, problem, "multitask")
        if own:
            means = [own[n].mean() for n in sorted(own)]
            falls = all(a > b for a, b in itertools.pairwise(means))
            yield (
                f"{problem}: multitask above single, less with more sites",
                "yes",
                {n: gain_text(own[n]) for n in sorted(own)},
                falls and is_sure(own[min(own)]),
            )
            yield (
                f"{problem}: with many sites single-task learning is better",
                "yes",
                f"{max(own)}: {gain_text(own[max(own)])}",
                is_sure(-own[max(own)]),
            )
    for problem in PROBLEMS:
        yield from _beside_alone(lines, problem)
    for problem in SAME_REGIONS.values():
        yield from _penalties(lines, problem)
        yield from _numbers(lines, problem)
        yield from _groups(lines, problem)
        yield from _hierarchy(lines, problem)


def _beside_alone(lines, problem):
    """Whether learning together is better than what shares nothing and has fewer arcs."""
    pairs = [*itertools.product(("multitask", "multitask folds"), ALONE)]
    pairs += [(TOGETHER, other) for other in (*BY_DEFAULT[:-1], "single, sparse")]
    for method, other in pairs:
        own = gains(lines, problem, method, other)
        if own:
            yield (
                f"{problem}: {method} above {other}",
                "our own",
                {n: gain_text(gain) for n, gain in own.items()},
                _at_sizes(own),
            )


def _at_sizes(own):
    """At how many sizes gains are above and below 0."""
    below = sum(is_sure(-gain) for gain in own.values())
    return f"above at {sum(map(is_sure, own.values()))} of {len(own)} sizes, below at {below}"


def _penalties(lines, problem):
    by_prior = {prior: curves(lines, problem, prior) for prior in CURVES}
    for prior, own in by_prior.items():
        for rows, curve in own.items():
            mean = curve.mean()
            best, last = int(mean.idxmax()), len(mean) - 1
            rise, fall = curve[best], curve[best] - curve[last]
            yield (
                f"{problem}, {rows} sites, {prior}: a quick rise, then a slow fall",
                "yes",
                f"best at 1 - penalty = {at_exponent(best)}, {mean[best]:+.2f} above apart; one "
                f"structure for all {gain_text(-fall)} from there",
                both_halves(
                    is_sure(rise), is_sure(fall) and fall.mean() < rise.mean(), "only the rise"
                ),
            )
    sizes = set.intersection(*(set(own) for own in by_prior.values()))
    for rows in sorted(sizes):
        means = {prior: own[rows].mean().max() for prior, own in by_prior.items()}
        apart = max(means.values()) - min(means.values())
        yield (
            f"{problem}, {rows} sites: the kind of prior makes no difference (10 %)",
            "yes",
            {prior: f"{mean:+.2f}" for prior, mean in means.items()},
            bool(apart < 0.1 * max(means.values())),
        )


def _numbers(lines, problem):
    direct = numbers(lines, problem, "selection", "curves")
    optimal = numbers(lines, problem, "selection", "optimal_curves")
    for rows, curve in direct.items():
        mean = curve.mean()
        best, last = int(mean.idxmax()), len(mean) - 1
        yield (
            f"{problem}, {rows} sites: near regions help, far ones harm",
            "yes, shown for one region",
            f"best with {best} of {last} others, {gain_text(curve[best])} above none, "
            f"{gain_text(curve[best] - curve[last])} above all",
            both_halves(is_sure(curve[best]), is_sure(curve[best] - curve[last]), "only the first"),
        )
        better = optimal[rows].mean(axis=1) - curve.mean(axis=1)
        yield (
            f"{problem}, {rows} sites: better penalties would gain more, mean over numbers",
            "yes",
            gain_text(better),
            "by construction",
        )
    for method, name in OTHER_ORDERS.items():
        for rows, curve in numbers(lines, problem, method, "curves").items():
            between = list(range(1, curve.shape[1] - 1))
            apart = (curve[between].mean(axis=1) - direct[rows][between].mean(axis=1)).dropna()
            yield (
                f"{problem}, {rows} sites: the {name} order is as good as the direct one",
                "similar" if name == "indirect" else "our own",
                f"{gain_text(apart)}, where the direct order gains "
                f"{direct[rows][between].to_numpy().mean():.2f}",
                not is_sure(apart) and not is_sure(-apart),
            )


def _groups(lines, problem):
    for method, other, published in (
        ("selection", "all tasks", "the same at small sizes, more at larger ones"),
        ("optimal number", "selection", "more"),
        ("clustering", "all tasks", "in the figure only"),
        ("selection", "clustering", "yes"),
        ("task penalties", "all tasks", "our own"),
        ("task penalties", "selection", "our own"),
    ):
        own = gains(lines, problem, method, other)
        if own:
            yield (
                f"{problem}: {method} above {other}",
                published,
                {n: gain_text(gain) for n, gain in own.items()},
                _at_sizes(own),
            )


def _hierarchy(lines, problem):
    own = lines[(lines["problem"] == problem) & (lines["method"] == "all tasks")]
    for rows, here in own.groupby("rows"):
        pairs = [squareform(np.array(distances)) for distances in here["distances"]]
        linear = [_is_linear(distances) for distances in pairs]
        alike = [np.corrcoef(a, b)[0, 1] for a, b in itertools.combinations(pairs, 2)]
        text = f"in {sum(linear)} of {len(linear)} splits"
        if alike:
            text += f"; the distances of two splits correlate by {np.mean(alike):.2f}"
        yield (
            f"{problem}, {rows} sites: a linear hierarchy, regions join one growing cluster",
            "yes",
            text,
            sum(linear) > len(linear) / 2,
        )


def _is_linear(distances):
    """Whether no two clusters of several tasks are ever joined, by the distances of all pairs."""
    joined = linkage(distances, "average")
    return all(min(a, b) <= len(joined) for a, b, *_ in joined)


def draw(lines):
    """Penalty, size, number of tasks, groups, and the hierarchy of regions."""
    from matplotlib.figure import Figure

    lines = with_same_regions(lines)
    present = {
        large: small for small, large in SAME_REGIONS.items() if large in set(lines["problem"])
    }
    figure = Figure(figsize=(20, 4.4 * len(present)), layout="constrained")
    grid = figure.subplots(len(present), 5, squeeze=False)
    for row, problem in zip(grid, present, strict=True):
        _draw_curves(row[0], lines, problem)
        _draw_gains(row[1], lines, present[problem], DRAWN, "single")
        row[1].set_yscale("symlog", linthresh=0.1)
        n_regions = len(PROBLEMS[present[problem]].regions)
        row[1].set_title(f"learners, the same {n_regions} regions", fontsize=9)
        _draw_numbers(row[2], lines, problem)
        _draw_gains(row[3], lines, problem, GROUPED[1:], "all tasks")
        row[3].set_title("groups of tasks", fontsize=9)
        _draw_dendrogram(row[4], lines[lines["problem"] == problem])
        for axes in row[:4]:
            axes.axhline(0, color="gray", linewidth=0.6)
            if not axes.get_ylabel():
                axes.set_ylabel("nats a site above single", fontsize=8)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(fontsize=7, loc="lower right" if axes is row[3] else "best")
        row[0].set_ylabel(f"{problem}\n{row[0].get_ylabel()}", fontsize=8)
    return figure


def _draw_curves(axes, lines, problem):
    names = ["0" if e == float("inf") else f"{10**-e:.0g}" for e in EXPONENTS]
    styles = dict(zip(CURVES, ("-", "--", ":"), strict=True))
    for prior in CURVES:
        for at, (rows, curve) in enumerate(curves(lines, problem, prior).items()):
            mean = curve.mean()
            axes.plot(mean.index, mean, styles[prior], color=f"C{at}", label=f"{prior}, {rows}")
    axes.set_xticks(range(len(EXPONENTS)), names, fontsize=6, rotation=60)
    axes.set_xlabel("1 - penalty")
    axes.set_title("penalty", fontsize=9)


def _draw_gains(axes, lines, problem, methods, other):
    """Gains of methods over another one by number of sites, side by side where they would hide
    one another."""
    sizes = set()
    for at, method in enumerate(methods):
        own = gains(lines, problem, method, other)
        if own:
            sizes.update(own)
            places = [rows * 1.03 ** (at - (len(methods) - 1) / 2) for rows in own]
            means, errors = ([getattr(g, name)() for g in own.values()] for name in ("mean", "sem"))
            axes.errorbar(places, means, yerr=errors, fmt="-o", markersize=3, label=method)
    axes.set_xscale("log")
    axes.set_xticks(sorted(sizes), map(str, sorted(sizes)))
    axes.minorticks_off()
    axes.set_ylabel(f"nats a site above {other}", fontsize=8)
    axes.set_xlabel("sites of each region")


def _draw_numbers(axes, lines, problem):
    orders = {"selection": "direct", **OTHER_ORDERS}
    for (method, which), style in zip(orders.items(), ("-", "--", ":"), strict=True):
        for column, marker in (("curves", "o"), ("optimal_curves", "^")):
            found = numbers(lines, problem, method, column)
            if OTHER_ORDER_ROWS in found:
                curve = found[OTHER_ORDER_ROWS]
                penalty = ", optimal penalty" if column == "optimal_curves" else ""
                axes.errorbar(
                    curve.columns,
                    curve.mean(),
                    yerr=curve.sem(),
                    fmt=f"{marker}{style}",
                    markersize=3,
                    elinewidth=0.6,
                    label=f"{which}{penalty}",
                )
    axes.set_title(f"the nearest regions, {OTHER_ORDER_ROWS} sites each", fontsize=9)
    axes.set_xlabel("other regions, the nearest first")


def _draw_dendrogram(axes, lines):
    from scipy.cluster.hierarchy import dendrogram

    own = lines[lines["method"] == "all tasks"].sort_values(["rows", "trial"])
    if not len(own):
        axes.set_axis_off()
        return
    line = own[own["trial"] == own["trial"].min()].iloc[-1]
    joined = linkage(squareform(np.array(line["distances"])), "average")
    dendrogram(joined, labels=line["names"], ax=axes, orientation="left", leaf_font_size=7)
    axes.set_title(f"one split, {line['rows']} sites", fontsize=9)
    axes.set_xlabel("share of pairs that differ (direct)", fontsize=8)
