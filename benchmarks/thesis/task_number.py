"""How many related tasks help, in the order of three measures of relatedness (thesis, 2.10, 2.12).

Run `python -m benchmarks.thesis.task_number` (twenty minutes on two cores). The principal task is
ALARM; fifteen others have components changed. 1000 rows each, 50 of them held out to choose the
penalty; alone, the principal task has all rows. "optimal" is the penalty of the grid with the
smallest divergence, or the fewest edits, of the principal task in each trial: no method, but how
far a better choice of penalties could go.
"""

import itertools
from collections import Counter

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.summary import (
    both_halves,
    chosen_elsewhere,
    claims_table,
    difference_text,
    exploded,
    is_lower,
    markdown,
    mean_and_error,
    reduction_text,
    unless_few,
)
from benchmarks.thesis.groups import order_of
from benchmarks.thesis.pool import OTHERS, PRINCIPAL, Pool, held_out_of, related_of
from benchmarks.variants import LEARNERS, N_FOLDS, THESIS
from bnmtl import MultitaskLearner, SingleTaskLearner
from bnmtl.learners.held_out import held_out_rows, parted
from bnmtl.relatedness import indirect, true

NAME = "task_number"
SETTINGS = ("variant", "trial", "relatedness")
DPI = 100
N_ROWS = 1000
VALIDATION = 0.05
# Of the direct measure.
PENALTY = 0.9
FIXED = {"n_rows": N_ROWS, "validation": VALIDATION, "direct_penalty": PENALTY}
N_TRIALS = 20
MEASURES = ("direct", "indirect", "true")


def plan(quick, trials=None):
    """All cases; the quick one is a trial of the thesis's search with three other tasks."""
    if quick:
        return [{"variant": "T", "trial": 0, "n_tasks": 4, "wanted": list(MEASURES)}]
    return [
        {"variant": variant, "trial": trial, "wanted": list(MEASURES)}
        for trial in range(trials or N_TRIALS)
        for variant in "TS"
    ]


def measure(variant, trial, wanted, n_tasks=OTHERS + 1):
    """A line a measure of relatedness: the principal task by the number of others."""
    related = related_of(N_ROWS, trial, n_tasks)
    (rows,) = held_out_rows(related.tasks, VALIDATION, None, trial)
    train, test = parted(related.tasks, rows)
    held_out = held_out_of(train, test)
    pool = Pool(train, variant, trial)
    alone = _alone(related, variant, trial)
    lines = {}
    for name in wanted:
        table = _dissimilarity(name, related, train, pool, variant, trial)
        order = order_of(table, PRINCIPAL)
        line = {"order": order, "distances": table.loc[order, PRINCIPAL].round(4).tolist()}
        line["alone"] = alone
        for n_others in range(n_tasks):
            for key, value in _judged(pool, [PRINCIPAL, *order[:n_others]], held_out, related):
                line.setdefault(key, []).append(round(value, 6))
        lines[name] = line
    return lines


def _alone(related, variant, trial):
    """The principal task learned by itself from all rows."""
    learner = SingleTaskLearner(**THESIS, search=LEARNERS[variant]["search"], random_state=trial)
    learner.fit({PRINCIPAL: related.tasks[PRINCIPAL]})
    judged = related.judged({PRINCIPAL: learner.configuration_[PRINCIPAL]})
    return {name: round(float(values[0]), 6) for name, values in judged.items()}


def _dissimilarity(name, related, train, pool, variant, trial):
    """What `direct`, `indirect` or `true` give."""
    if name == "true":
        return true(related.networks)
    if name == "indirect":
        learner = MultitaskLearner(**LEARNERS[variant], random_state=trial)
        return indirect(train, learner, cv=N_FOLDS)
    learned = pool.learned(train.names)
    return true(learned.graphs[learned.penalties.index(PENALTY)])


def _judged(pool, names, held_out, related):
    """Edits and divergence of the principal task at the chosen and at the optimal penalty."""
    learned = pool.learned(names)
    chosen = learned.chosen({name: held_out[name] for name in names})
    judged = related.judged({PRINCIPAL: chosen[PRINCIPAL]})
    every = [related.judged({PRINCIPAL: graphs[PRINCIPAL]}) for graphs in learned.graphs]
    for measure_ in ("edits", "shd", "f1", "kl"):
        yield measure_, float(judged[measure_][0])
    for measure_ in ("edits", "kl"):
        yield f"{measure_}_optimal", float(min(own[measure_][0] for own in every))


COLUMNS = ("edits", "shd", "f1", "kl", "edits_optimal", "kl_optimal")


def tidy(lines):
    """A row per line and number of other tasks, 0 being single-task learning from all rows."""
    lines = lines.assign(others=[list(range(len(own))) for own in lines["kl"]])
    rows = exploded(lines, ["others", *COLUMNS])
    alone = pd.DataFrame(rows["alone"].tolist(), index=rows.index)
    for column in COLUMNS:
        own = alone[column.removesuffix("_optimal")]
        rows[column] = rows[column].where(rows["others"] > 0, own)
    return rows


def tables(lines):
    """The principal task by number of others, and the published claims."""
    rows = tidy(lines)
    shown = []
    for (variant, name), own in rows.groupby(["variant", "relatedness"]):
        for key in COLUMNS:
            means = own.groupby("others")[key].mean()
            row = {"search": variant, "relatedness": name, "measure": key.replace("_", ", ")}
            for n_others in (0, 1, 2, 3, 4, 6, 8, 11, OTHERS):
                values = own[own["others"] == n_others][key]
                if len(values):
                    digits = 1 if key.startswith(("edits", "shd")) else 3
                    row[f"{n_others}"] = mean_and_error(values, digits)
            row["best at"] = f"{(means.idxmax() if key == 'f1' else means.idxmin()):.0f}"
            shown.append(row)
    return {
        "task_number": markdown(pd.DataFrame(shown)),
        "task_number_claims": claims_table([*_claims(rows), *_gaps(lines)]),
    }


def _claims(rows):
    for variant, key in itertools.product("TS", ("kl", "kl_optimal", "edits")):
        of_variant = rows[rows["variant"] == variant]
        curves = {
            name: own.pivot_table(index="trial", columns="others", values=key)
            for name, own in of_variant.groupby("relatedness")
        }
        at = f"{variant}, {key.replace('_', ', ')}"
        published = "yes" if key.startswith("kl") else "not shown"
        for name, wide in curves.items():
            yield _near_and_far(f"{at}, {name}", published, wide)
        if set(curves) == set(MEASURES):
            yield from _orders(at, published, curves)
    for variant in "TS":
        yield from _room(rows[rows["variant"] == variant], variant)


def _near_and_far(at, published, wide):
    """Whether the nearest tasks help, and all of them less."""
    chosen, alone, every = chosen_elsewhere(wide), wide.iloc[:, 0], wide.iloc[:, -1]
    helps, harms = (is_lower(chosen, other) for other in (alone, every))
    return (
        f"{at}: near tasks help, far ones harm",
        published,
        f"lowest mean at {wide.mean().idxmin():.0f} others; with the number that is best in the "
        f"other trials {reduction_text(chosen, alone)} below alone, "
        f"{reduction_text(chosen, every)} below all",
        both_halves(helps, harms, "only the first"),
    )


def _orders(at, published, curves):
    """Whether the learned measures order the tasks as well as the true one."""
    between = [n for n in curves["true"].columns if 0 < n < OTHERS]
    true = curves["true"][between].mean(axis=1)
    gain = (curves["true"].iloc[:, 0] - true).mean()
    for name in ("direct", "indirect"):
        own = curves[name][between].mean(axis=1)
        yield (
            f"{at}: {name} orders as well as true, mean over 1 to {OTHERS - 1} others",
            "very similar" if published == "yes" else published,
            f"{difference_text(own, true, 4)}, where the true order gains {gain:.4f}",
            unless_few(not is_lower(true, own), own, true),
        )


def _room(rows, variant):
    """How much less divergence the best penalties would leave, and how much less it would vary.

    The best of many is better, and varies less, even where penalties differ by chance only; what
    these tell is how much.
    """
    if not len(rows):
        return
    some = rows[rows["others"] > 0]
    chosen, optimal = (some.groupby("trial")[key].mean() for key in ("kl", "kl_optimal"))
    spread = [
        some.groupby(["relatedness", "others"])[key].std().mean() for key in ("kl", "kl_optimal")
    ]
    yield (
        f"{variant}, kl: a better choice of the penalty would gain more, mean over 1 to {OTHERS} "
        "others",
        "yes",
        f"{difference_text(chosen, optimal, 4)} more divergence than at the optimal penalty",
        "by construction",
    )
    yield (
        f"{variant}, kl: less variance at the optimal penalty",
        "yes",
        f"standard deviation over trials {spread[0]:.4f}, at the optimal penalty {spread[1]:.4f}",
        "by construction",
    )


def _gaps(lines):
    """How often the largest gap in the distances is after the second task (figure 2.12)."""
    for variant in "TS":
        own = lines[(lines["variant"] == variant) & (lines["relatedness"] == "direct")]
        after = [int(np.argmax(np.diff(distances))) + 1 for distances in own["distances"]]
        if after:
            most, n_most = Counter(after).most_common(1)[0]
            yield (
                f"{variant}: the largest gap in the direct distances is after the second task",
                "in the trial shown",
                f"in {after.count(2)} of {len(after)} trials; most often after task {most} "
                f"({n_most})",
                (after.count(2), len(after)),
            )


def draw(lines):
    """Divergence against the number of others, and the distances of one trial."""
    from matplotlib.figure import Figure

    rows = tidy(lines)
    figure = Figure(figsize=(14, 4.5), layout="constrained")
    axes_of = figure.subplots(1, 3)
    colors = dict(zip(MEASURES, ("#e6550d", "#3182bd", "#31a354"), strict=True))
    for axes, variant in zip(axes_of, "TS", strict=False):
        for name, own in rows[rows["variant"] == variant].groupby("relatedness"):
            for key, style in (("kl", "-"), ("kl_optimal", "--")):
                curve = own.groupby("others")[key].agg(["mean", "sem"])
                label = name if key == "kl" else f"{name}, optimal penalty"
                axes.errorbar(
                    curve.index,
                    curve["mean"],
                    yerr=curve["sem"],
                    linestyle=style,
                    color=colors[name],
                    elinewidth=0.6,
                    label=label,
                )
        axes.set_title(f"search {variant}", fontsize=9)
        axes.set_xlabel("other tasks")
        axes.set_ylabel("KL divergence of the principal task (nats)")
        axes.legend(fontsize=7)
    shown = lines[(lines["relatedness"] == "direct") & (lines["trial"] == lines["trial"].min())]
    for _, line in shown.iterrows():
        label = f"search {line['variant']}"
        ranks = np.arange(1, len(line["distances"]) + 1)
        axes_of[2].plot(ranks, line["distances"], "o-", label=label)
    axes_of[2].set_title("direct distances of one trial", fontsize=9)
    axes_of[2].set_xlabel("rank of the other task")
    axes_of[2].set_ylabel("edits to the principal task")
    axes_of[2].legend(fontsize=7)
    return figure


if __name__ == "__main__":
    study.main(__spec__.name)
