"""Tables, claims and the picture of the study of birds.

Errors are over random splits of the same sites into training and test sites, so there are no
t-tests; instead, each mean is followed by the number of splits in which the difference is positive.
"""

import itertools

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import squareform

from benchmarks import drawing
from benchmarks.birds.bird_tasks import PROBLEMS
from benchmarks.claims import OURS, Claim, both_halves, claims_table, tally
from benchmarks.summary import markdown, mean_and_error, pairs, parts, present
from benchmarks.thesis.penalty_curves import EXPONENTS, at_exponent

LEARNED = ("single", "identical", "multitask", "multitask folds")
# Other baselines without sharing, beside learning alone by BDeu.
ALONE = ("empty", "single, BIC", "single, sparse")
# The default settings with their tables, and no arcs with such tables.
TOGETHER, EMPTY_SHARED = "together, tables shared", "empty, tables shared"
BY_DEFAULT = ("empty, defaults", "alone, defaults", EMPTY_SHARED, TOGETHER)
# No arcs are drawn only once, since their place is the same with all tables.
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
# Selection in the order of other measures of relatedness, for one number of rows.
OTHER_ORDERS = {"selection, indirect": "indirect", "selection, tables": "tables'"}
OTHER_ORDER_ROWS = 200
# Problems with only those regions of a larger problem that have many sites.
SAME_REGIONS = {"BIRD-SITES-4": "BIRD-SITES", "BIRD-SPECIES-3": "BIRD-SPECIES"}
# Share of splits in which a difference must have the same sign to count.
SURE = 0.9
LOST = 0.1  # share of a gain; a loss below does not count
AT_SIZES = "above at {above} of {n} sizes, below at {below}"
# Methods of grouping tasks, their baselines, and the published results.
COMPARED = (
    ("selection", "all tasks", "the same at small sizes, more at larger ones"),
    ("optimal number", "selection", "more"),
    ("clustering", "all tasks", "in the figure only"),
    ("selection", "clustering", "yes"),
    ("task penalties", "all tasks", OURS),
    ("task penalties", "selection", OURS),
)


def tables(lines):
    """Gains over single-task learning, and the published claims."""
    lines = with_same_regions(lines)
    return {"bird": markdown(_gained(lines)), "bird_claims": claims_table(claims(lines))}


def with_same_regions(lines):
    """The lines, with those for many sites repeated for the problems with only these regions."""
    found = [lines]
    for small, large in SAME_REGIONS.items():
        regions = set(PROBLEMS[small].regions)
        with_regions = lines[(lines["problem"] == large) & lines["regions"].notna()]
        same = with_regions["regions"].map(
            lambda by_region, regions=regions: set(by_region) == regions
        )
        found.append(with_regions[same.to_numpy(dtype=bool)].assign(problem=small))
    return pd.concat(found, ignore_index=True)


def gains(lines, problem, method, other="single"):
    """Gains of a method over another in nats: a series over trials for each number of rows."""
    of_problem, sizes = lines[lines["problem"] == problem], sorted(set(lines["rows"]))
    found = pairs(of_problem, "method", "nats", method, other, rows=sizes)
    return {rows: (ours - others).dropna() for rows, (ours, others) in found.items()}


def by_rows(lines, problem, method):
    """The lines of a method, by number of rows."""
    of_method = lines[(lines["problem"] == problem) & (lines["method"] == method)]
    return dict(list(of_method.groupby("rows")))


def curves(lines, problem, prior):
    """Gains of each penalty over single-task learning in nats: trials by penalties, by rows."""
    return {
        rows: pd.DataFrame([np.subtract(curve, curve[0]) for curve in here["curve"]], here["trial"])
        for rows, here in by_rows(lines, problem, prior).items()
    }


def numbers(lines, problem, method, column):
    """Gains from the nearest regions in nats: trials by their number, by rows; 0 is alone."""
    return {
        rows: pd.DataFrame(
            [
                np.mean([np.subtract(curve, curve[0]) for curve in by_region.values()], axis=0)
                for by_region in here[column]
            ],
            here["trial"],
        )
        for rows, here in by_rows(lines, problem, method).items()
    }


def gain_text(gain):
    """Mean and standard error of a gain, and the number of splits in which it is positive."""
    return f"{mean_and_error(gain)} ({int((gain > 0).sum())}/{len(gain)})"


def is_sure(gain):
    """Whether a gain is positive in nearly all splits."""
    return len(gain) > 1 and (gain > 0).mean() >= SURE


def sure_sign(gain):
    """1 if a gain is positive in nearly all splits, -1 if it is negative in them, else 0."""
    return int(is_sure(gain)) - int(is_sure(-gain))


def _is_no_worse(gain, margin):
    """The verdict on a loss below a margin in nearly all splits."""
    return "yes" if is_sure(gain + margin) else "no" if is_sure(-gain - margin) else "not decided"


def _gained(lines):
    found = []
    for case, group in parts(lines, problem=PROBLEMS):
        alone = group[group["method"] == "single"].groupby("rows")["nats"]
        texts = {"single, nats a site": {n: mean_and_error(values) for n, values in alone}}
        for method in (*ALONE, *LEARNED[1:], *BY_DEFAULT, *GROUPED):
            gained = gains(lines, case["problem"], method)
            texts[method] = {n: gain_text(gain) for n, gain in gained.items()}
        for prior in CURVES:
            texts[f"{prior}, 1 - penalty that is best on the test sites"] = {
                n: f"{curve.mean().max():+.2f} at {at_exponent(EXPONENTS[curve.mean().idxmax()])}"
                for n, curve in curves(lines, case["problem"], prior).items()
            }
        found += [{**case, "method": name, **cells} for name, cells in texts.items() if cells]
    sizes = sorted({key for row in found for key in row if not isinstance(key, str)})
    table = pd.DataFrame(found, columns=["problem", "method", *sizes]).fillna("")
    return table.rename(columns={n: f"{n} sites" for n in sizes})


def claims(lines):
    """The published claims about birds, and our comparisons with further baselines."""
    for problem in SAME_REGIONS:
        yield from _more_sites(lines, problem)
    pairs = [*itertools.product(("multitask", "multitask folds"), ALONE)]
    pairs += [(TOGETHER, other) for other in (*BY_DEFAULT[:-1], "single, sparse")]
    for problem in PROBLEMS:
        yield from _above(lines, problem, [(*pair, OURS) for pair in pairs])
    for problem in SAME_REGIONS.values():
        yield from _penalties(lines, problem)
        yield from _numbers(lines, problem)
        yield from _above(lines, problem, COMPARED)
        yield from _hierarchy(lines, problem)


def _more_sites(lines, problem):
    """Claims that learning together gains less with more sites, and finally loses."""
    by_size = dict(sorted(gains(lines, problem, "multitask").items()))
    if not by_size:
        return
    texts = {n: gain_text(gain) for n, gain in by_size.items()}
    first, *_, last = by_size
    falls = all(a.mean() > b.mean() for a, b in itertools.pairwise(by_size.values()))
    yield Claim(
        f"{problem}: multitask above single, less with more sites",
        "yes",
        texts,
        falls and is_sure(by_size[first]),
        f"{problem}: more sites S",
    )
    yield Claim(
        f"{problem}: with many sites single-task learning is better",
        "yes",
        {last: texts[last]},
        is_sure(-by_size[last]),
        f"{problem}: many sites S",
    )


def _above(lines, problem, compared):
    """Claims with the numbers of sizes at which a method is above another one, and below."""
    for method, other, published in compared:
        by_size = gains(lines, problem, method, other)
        if by_size:
            yield Claim(
                f"{problem}: {method} above {other}",
                published,
                {n: gain_text(gain) for n, gain in by_size.items()},
                tally(map(sure_sign, by_size.values()), AT_SIZES),
                f"{problem}: {method}, {other} S",
            )


def _penalties(lines, problem):
    by_prior = {prior: curves(lines, problem, prior) for prior in CURVES}
    for prior, by_size in by_prior.items():
        for rows, curve in by_size.items():
            mean = curve.mean()
            best, last = int(mean.idxmax()), len(mean) - 1
            rise, fall = curve[best], curve[best] - curve[last]
            falls = is_sure(fall) and fall.mean() < rise.mean()
            yield Claim(
                f"{problem}, {rows} sites, {prior}: a quick rise, then a slow fall",
                "yes",
                f"best at 1 - penalty = {at_exponent(EXPONENTS[best])}, {mean[best]:+.2f} above "
                f"learning alone; one structure for all {gain_text(-fall)} from there",
                both_halves(is_sure(rise), falls, "only the rise"),
                f"{problem}, {rows}, {prior}: rise S",
            )
    for rows in sorted(set.intersection(*(set(by_size) for by_size in by_prior.values()))):
        curve_of = {prior: by_size[rows] for prior, by_size in by_prior.items()}
        best = pd.DataFrame({prior: one[one.mean().idxmax()] for prior, one in curve_of.items()})
        means = best.mean()
        yield Claim(
            f"{problem}, {rows} sites: the kind of prior makes no difference ({100 * LOST:.0f} %)",
            "yes",
            {prior: f"{mean:+.2f}" for prior, mean in means.items()},
            _is_no_worse(best[means.idxmin()] - best[means.idxmax()], LOST * means.max()),
        )


def _numbers(lines, problem):
    direct = numbers(lines, problem, "selection", "curves")
    optimal = numbers(lines, problem, "selection", "optimal_curves")
    for rows, curve in direct.items():
        best, last = int(curve.mean().idxmax()), curve.shape[1] - 1
        gain, harm = curve[best], curve[best] - curve[last]
        yield Claim(
            f"{problem}, {rows} sites: near regions help, far ones harm",
            "yes, shown for one region",
            f"best with {best} of {last} others, {gain_text(gain)} above none, "
            f"{gain_text(harm)} above all",
            both_halves(is_sure(gain), is_sure(harm), "only the first"),
            f"{problem}, {rows}: near S",
        )
        yield Claim(
            f"{problem}, {rows} sites: better penalties would gain more, mean over numbers",
            "yes",
            gain_text(optimal[rows].mean(axis=1) - curve.mean(axis=1)),
            "by construction",
        )
    for method, name in OTHER_ORDERS.items():
        for rows, curve in numbers(lines, problem, method, "curves").items():
            other, plain = (one.iloc[:, 1:-1] for one in (curve, direct[rows]))
            difference = (other.mean(axis=1) - plain.mean(axis=1)).dropna()
            yield Claim(
                f"{problem}, {rows} sites: the {name} order is as good as the direct one "
                f"(gain at most {100 * LOST:.0f} % less)",
                "similar" if name == "indirect" else OURS,
                f"{gain_text(difference)}, where the direct order gains "
                f"{plain.to_numpy().mean():.2f}",
                _is_no_worse(difference, LOST * plain.to_numpy().mean()),
            )


def _hierarchy(lines, problem):
    for rows, here in by_rows(lines, problem, "all tasks").items():
        pairs = [squareform(np.array(distances)) for distances in here["distances"]]
        linear = [_is_linear(distances) for distances in pairs]
        correlations = [np.corrcoef(a, b)[0, 1] for a, b in itertools.combinations(pairs, 2)]
        text = f"in {sum(linear)} of {len(linear)} splits"
        if correlations:
            text += f"; the distances of two splits correlate by {np.mean(correlations):.2f}"
        yield Claim(
            f"{problem}, {rows} sites: a linear hierarchy, regions join one growing cluster",
            "yes",
            text,
            sum(linear) > len(linear) / 2,
            f"{problem}, {rows}: linear S",
        )


def _is_linear(distances):
    """Whether no step joins two clusters of several tasks, given the distances of all pairs."""
    joined = linkage(distances, "average")
    return all(min(a, b) <= len(joined) for a, b, *_ in joined)


def draw(lines):
    """Gains by penalty, size, number of tasks and groups, and the hierarchy of regions."""
    lines = with_same_regions(lines)
    kinds = {
        "penalty": _draw_curves,
        "learners, only regions with many sites": _draw_learners,
        f"the nearest regions, {OTHER_ORDER_ROWS} sites each": _draw_numbers,
        "groups of tasks, above all tasks": _draw_groups,
        "one split": _draw_dendrogram,
    }

    def draw_panel(axes, problem, kind):
        kinds[kind](axes, lines, problem)

    problems = present(lines, "problem", SAME_REGIONS.values())
    rows = {problem: f"{problem}\nnats a site above single" for problem in problems}
    return drawing.panels(draw_panel, (4, 4.4), list(kinds), rows, legend="each")


def _draw_curves(axes, lines, problem):
    for prior, style in zip(CURVES, ("-", "--", ":"), strict=True):
        for at, (rows, curve) in enumerate(curves(lines, problem, prior).items()):
            label = f"{prior}, {rows}"
            line = {"linestyle": style, "color": f"C{at}", "marker": ""}
            drawing.curves(axes, curve.mean().to_frame(label), styles={label: line})
    names = map(at_exponent, EXPONENTS)
    axes.set_xticks(range(len(EXPONENTS)), list(names), fontsize=6, rotation=60)
    axes.set_xlabel("1 - penalty")
    axes.axhline(0, color="gray", linewidth=0.6)


def _draw_learners(axes, lines, problem):
    (small,) = (small for small, large in SAME_REGIONS.items() if large == problem)
    _draw_gains(axes, lines, small, DRAWN, "single")
    axes.set_yscale("symlog", linthresh=0.1)


def _draw_groups(axes, lines, problem):
    _draw_gains(axes, lines, problem, GROUPED[1:], "all tasks")


def _draw_gains(axes, lines, problem, methods, other):
    """Gains of methods over another one by number of sites, shifted so that none hides another."""
    sizes = set()
    for at, method in enumerate(methods):
        by_size = gains(lines, problem, method, other)
        sizes.update(by_size)
        shift = 1.03 ** (at - (len(methods) - 1) / 2)
        _draw_errors(axes, {rows * shift: gain for rows, gain in by_size.items()}, method)
    drawing.axis_of_sizes(axes, sorted(sizes), "sites of each region")
    axes.axhline(0, color="gray", linewidth=0.6)


def _draw_errors(axes, values, label, **style):
    """A curve of means with standard errors over trials, by place."""
    values = pd.DataFrame(values)
    means, errors = (found.to_frame(label) for found in (values.mean(), values.sem()))
    drawing.curves(axes, means, errors, {label: style})


def _draw_numbers(axes, lines, problem):
    orders = {"selection": "direct", **OTHER_ORDERS}
    for (method, which), style in zip(orders.items(), ("-", "--", ":"), strict=True):
        for column, marker, penalty in (
            ("curves", "o", ""),
            ("optimal_curves", "^", ", optimal penalty"),
        ):
            curve = numbers(lines, problem, method, column).get(OTHER_ORDER_ROWS)
            if curve is not None:
                line = {"marker": marker, "linestyle": style, "elinewidth": 0.6}
                _draw_errors(axes, curve, f"{which}{penalty}", **line)
    axes.set_xlabel("other regions, the nearest first")
    axes.axhline(0, color="gray", linewidth=0.6)


def _draw_dendrogram(axes, lines, problem):
    found = lines[(lines["problem"] == problem) & (lines["method"] == "all tasks")]
    if not len(found):
        axes.set_axis_off()
        return
    line = found[found["trial"] == found["trial"].min()].sort_values("rows").iloc[-1]
    joined = linkage(squareform(np.array(line["distances"])), "average")
    dendrogram(joined, labels=line["names"], ax=axes, orientation="left", leaf_font_size=7)
    axes.set_xlabel(f"share of pairs that differ (direct), {line['rows']} sites")
