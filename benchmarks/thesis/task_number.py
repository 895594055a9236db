"""Effect of the number of related tasks, ordered by four measures (thesis, 2.10, 2.12).

Run `python -m benchmarks.thesis.task_number` (three quarters of an hour on two cores). The
principal task is ALARM; fifteen others have components changed. Each task has 1000 rows, 50 of
which are held out to choose the penalty; alone, the principal task uses all rows. "optimal" is the
penalty of the grid with the smallest divergence, or the fewest edits, of the principal task in each
trial. This is not a method but a bound on the gain from a better choice of the penalty.
"""

import itertools
from collections import Counter

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.claims import OURS, Claim, alike, both_halves, claims_table
from benchmarks.drawing import curves, mean_curves, panels
from benchmarks.summary import (
    by_trial,
    chosen_elsewhere,
    difference_text,
    exploded,
    is_lower,
    markdown,
    mean_and_error,
    paired,
    parts,
    reduction_text,
)
from benchmarks.thesis.pool import OTHERS, PENALTY, PRINCIPAL, Pool, related_of, train_and_held_out
from benchmarks.variants import LEARNERS, N_FOLDS, VALIDATION, learner_of
from bnmtl import MultitaskLearner
from bnmtl.relatedness import indirect, shared, true
from bnmtl.relatedness.measures import as_distances, nearest_first

NAME = "task_number"
SETTINGS = ("variant", "trial", "relatedness")
N_ROWS = 1000
FIXED = {"n_rows": N_ROWS, "validation": VALIDATION, "direct_penalty": PENALTY}
N_TRIALS = 20
# Share of a gain; a loss below does not count.
LOST = 0.1
# The thesis does not have the measure by shared tables.
SHARED = "shared"
MEASURES = ("direct", "indirect", SHARED, "true")


def plan(quick, trials=None):
    """All cases; the quick one is one trial of the search of the thesis with two other tasks."""
    if quick:
        return study.every(MEASURES, variant=["T"], trial=[0], n_tasks=[3])
    return study.every(MEASURES, trial=range(trials or N_TRIALS), variant="TS")


def measure(variant, trial, wanted, n_tasks=OTHERS + 1):
    """One line per measure of relatedness: the principal task by number of other tasks."""
    related = related_of(N_ROWS, trial, n_tasks)
    train, held_out = train_and_held_out(related.tasks, VALIDATION, trial)
    pool = Pool(train, variant, trial)
    alone = learner_of(f"single {variant}", trial).fit({PRINCIPAL: related.tasks[PRINCIPAL]})
    learner = MultitaskLearner(**LEARNERS[variant], random_state=trial)
    tables = {
        "direct": pool.distances,
        "indirect": lambda: indirect(train, learner, cv=N_FOLDS),
        SHARED: lambda: as_distances(shared(train, learner)),
        "true": lambda: true(related.networks),
    }
    lines = {}
    for name in wanted:
        table = tables[name]()
        order = list(nearest_first(table, PRINCIPAL).index)
        line = {"order": order, "distances": table.loc[order, PRINCIPAL].round(4).tolist()}
        line["alone"] = related.line(alone.configuration_)
        groups = [[PRINCIPAL, *order[:n_others]] for n_others in range(n_tasks)]
        found = pd.DataFrame([_judged(pool, group, held_out, related) for group in groups])
        lines[name] = line | found.to_dict("list")
    return lines


def _judged(pool, names, held_out, related):
    """Edits and divergence of the principal task at the chosen and the optimal penalty."""
    learned = pool.learned(names)
    best = learned.best(held_out)
    every = [related.line({PRINCIPAL: graphs[PRINCIPAL]}) for graphs in learned.graphs]
    optimal = {
        f"{key}_optimal": min(measures[key] for measures in every) for key in ("edits", "kl")
    }
    return every[best] | optimal


COLUMNS = ("edits", "shd", "f1", "kl", "edits_optimal", "kl_optimal")


def tidy(lines):
    """One row per line and number of other tasks; 0 means single-task learning from all rows."""
    lines = lines.assign(others=[list(range(len(values))) for values in lines["kl"]])
    rows = exploded(lines, ["others", *COLUMNS])
    alone = pd.DataFrame(rows["alone"].tolist(), index=rows.index)
    for column in COLUMNS:
        single = alone[column.removesuffix("_optimal")]
        rows[column] = rows[column].where(rows["others"] > 0, single)
    return rows


def tables(lines):
    """The principal task by number of others, and the published claims."""
    rows = tidy(lines)
    return {
        "task_number": markdown(_reached(rows)),
        "task_number_claims": claims_table(claims(lines)),
    }


def _reached(rows):
    for (variant, name), group in rows.groupby(["variant", "relatedness"]):
        for key in COLUMNS:
            digits = 1 if key.startswith(("edits", "shd")) else 3
            row = {"search": variant, "relatedness": name, "measure": key.replace("_", ", ")}
            for case, here in parts(group, others=(0, 1, 2, 3, 4, 6, 8, 11, OTHERS)):
                row[f"{case['others']}"] = mean_and_error(here[key], digits)
            means = group.groupby("others")[key].mean()
            best = means.idxmax() if key == "f1" else means.idxmin()
            yield {**row, "best at": f"{best:.0f}"}


def claims(lines):
    """Which tasks help, whether the measures find them, and the gain from optimal penalties."""
    rows = tidy(lines)
    for variant, key in itertools.product("TS", ("kl", "kl_optimal", "edits")):
        of_variant = rows[rows["variant"] == variant]
        by_measure = {
            name: by_trial(group, "others", key)
            for name, group in of_variant.groupby("relatedness")
        }
        published = "yes" if key.startswith("kl") else "not shown"
        for name, wide in by_measure.items():
            at = f"{key.replace('_', ', ')}, {name}"
            yield _near_and_far(variant, at, OURS if name == SHARED else published, wide)
        if "true" in by_measure:
            yield from _orders(variant, key.replace("_", ", "), published, by_measure)
    for variant in "TS":
        of_thesis = rows[(rows["variant"] == variant) & (rows["relatedness"] != SHARED)]
        yield from _room(of_thesis, variant)
    yield from _gaps(lines)


def _near_and_far(variant, at, published, wide):
    """Whether the nearest tasks help, and all tasks help less."""
    chosen, alone, every = chosen_elsewhere(wide), wide.iloc[:, 0], wide.iloc[:, -1]
    helps, harms = (is_lower(chosen, other) for other in (alone, every))
    return Claim(
        f"{variant}, {at}: near tasks help, far ones harm",
        published,
        f"lowest mean at {wide.mean().idxmin():.0f} others; with the best number of the other "
        f"trials {reduction_text(chosen, alone)} below alone, "
        f"{reduction_text(chosen, every)} below all",
        both_halves(helps, harms, "only the first"),
        f"{at}: near {variant}",
    )


def _orders(variant, at, published, by_measure):
    """Whether the learned measures order the tasks as well as the true one."""
    between = [n for n in by_measure["true"].columns if 0 < n < OTHERS]
    for name in ("direct", "indirect", SHARED):
        if name not in by_measure:
            continue
        both = pd.concat({key: by_measure[key] for key in (name, "true")}, axis=1, join="inner")
        if both.empty:
            continue
        by_true = both["true"]
        learned, true = both[name][between].mean(axis=1), by_true[between].mean(axis=1)
        gain = (by_true.iloc[:, 0] - true).mean()
        as_published = "very similar" if published == "yes" else published
        yield Claim(
            f"{variant}, {at}: {name} orders as well as true (gain at most {100 * LOST:.0f} % "
            f"less), mean over 1 to {OTHERS - 1} others",
            OURS if name == SHARED else as_published,
            f"{difference_text(learned, true, 4)}, where the true order gains {gain:.4f}",
            alike(np.subtract(*paired(learned, true)), LOST * gain, is_harm=True),
            f"{at}, {name}: order {variant}",
        )


def _room(rows, variant):
    """Reduction of the divergence, and of its variance, by optimal penalties.

    The best of many is better and varies less even if penalties differ only by chance; these
    claims show by how much.
    """
    if not len(rows):
        return
    some = rows[rows["others"] > 0]
    chosen, optimal = (some.groupby("trial")[key].mean() for key in ("kl", "kl_optimal"))
    spread = [
        some.groupby(["relatedness", "others"])[key].std().mean() for key in ("kl", "kl_optimal")
    ]
    yield Claim(
        f"{variant}, kl: a better choice of the penalty would gain more, mean over 1 to {OTHERS} "
        "others",
        "yes",
        f"{difference_text(chosen, optimal, 4)} more divergence than at the optimal penalty",
        "by construction",
        f"room {variant}",
    )
    yield Claim(
        f"{variant}, kl: less variance at the optimal penalty",
        "yes",
        f"standard deviation over trials {spread[0]:.4f}, at the optimal penalty {spread[1]:.4f}",
        "by construction",
    )


def _gaps(lines):
    """How often the largest gap in the distances is after the second task (figure 2.12)."""
    for variant in "TS":
        of_variant = lines[(lines["variant"] == variant) & (lines["relatedness"] == "direct")]
        after = [int(np.argmax(np.diff(distances))) + 1 for distances in of_variant["distances"]]
        if after:
            most, n_most = Counter(after).most_common(1)[0]
            yield Claim(
                f"{variant}: the largest gap in the direct distances is after the second task",
                "in the trial shown",
                f"in {after.count(2)} of {len(after)} trials; most often after task {most} "
                f"({n_most})",
                (after.count(2), len(after)),
                f"gap {variant}",
            )


_COLORS = dict(zip(MEASURES, ("#e6550d", "#3182bd", "#756bb1", "#31a354"), strict=True))


def draw(lines):
    """Divergence against the number of others, and the distances of one trial."""
    rows = tidy(lines)

    def draw_panel(axes, _, search):
        if search in "TS":
            _draw_divergence(axes, rows[rows["variant"] == search])
        else:
            _draw_distances(axes, lines)

    titles = {"T": "search T", "S": "search S", "distances": "direct distances of one trial"}
    return panels(draw_panel, (4.7, 4.5), titles, legend="each")


def _draw_divergence(axes, rows):
    for key, line, added in (("kl", "-", ""), ("kl_optimal", "--", ", optimal penalty")):
        style = {"linestyle": line, "marker": "", "elinewidth": 0.6}
        styles = {
            name: {**style, "color": color, "label": f"{name}{added}"}
            for name, color in _COLORS.items()
        }
        mean_curves(axes, rows, "others", "relatedness", key, styles)
    axes.set(xlabel="other tasks", ylabel="KL divergence of the principal task (nats)")


def _draw_distances(axes, lines):
    shown = lines[(lines["relatedness"] == "direct") & (lines["trial"] == lines["trial"].min())]
    distances = pd.DataFrame({f"search {one.variant}": one.distances for one in shown.itertuples()})
    curves(axes, distances.set_index(distances.index + 1))
    axes.set(xlabel="rank of the other task", ylabel="edits to the principal task")


if __name__ == "__main__":
    study.main(__spec__.name)
