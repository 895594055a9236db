"""How many related tasks help, in the order of three measures of relatedness (thesis, 2.10, 2.12).

Run `python -m benchmarks.task_number` (an hour on two cores). The principal task is ALARM; fifteen
others have components changed. 1000 rows each, 50 of them held out to choose the penalty; alone,
the principal task has all rows. "optimal" is the penalty of the grid with the smallest divergence,
or the fewest edits, of the principal task in each trial: no method, but how far a better choice of
penalties could go.
"""

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.groups import order_of
from benchmarks.pool import OTHERS, PRINCIPAL, Pool, held_out_of, related_of
from benchmarks.summary import (
    claims_table,
    exploded,
    is_significant,
    markdown,
    mean_and_error,
    reduction,
)
from benchmarks.variants import LEARNERS
from bnmtl import MultitaskLearner, SingleTaskLearner
from bnmtl.held_out import held_out_rows, parted
from bnmtl.relatedness import indirect, true

NAME = "task_number"
SETTINGS = ("variant", "trial", "relatedness")
DPI = 100
N_ROWS = 1000
VALIDATION = 0.05
# Of the direct measure.
PENALTY = 0.9
FIXED = {"n_rows": N_ROWS, "validation": VALIDATION, "direct_penalty": PENALTY}
TRIALS = range(20)
MEASURES = ("direct", "indirect", "true")


def plan(quick):
    """All cases; the quick one is a trial of the thesis's search with three other tasks."""
    if quick:
        return [{"variant": "T", "trial": 0, "n_tasks": 4, "wanted": list(MEASURES)}]
    return [
        {"variant": variant, "trial": trial, "wanted": list(MEASURES)}
        for trial in TRIALS
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
    learner = SingleTaskLearner(search=LEARNERS[variant]["search"], random_state=trial)
    learner.fit({PRINCIPAL: related.tasks[PRINCIPAL]})
    judged = related.judged({PRINCIPAL: learner.configuration_[PRINCIPAL]})
    return {name: round(float(values[0]), 6) for name, values in judged.items()}


def _dissimilarity(name, related, train, pool, variant, trial):
    """What `direct`, `indirect` or `true` give."""
    if name == "true":
        return true(related.networks)
    if name == "indirect":
        return indirect(train, MultitaskLearner(**LEARNERS[variant], random_state=trial))
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


def tidy(lines):
    """A row per line and number of other tasks."""
    lines = lines.assign(others=[list(range(len(own))) for own in lines["kl"]])
    return exploded(lines, ["others", "edits", "shd", "f1", "kl", "edits_optimal", "kl_optimal"])


def tables(lines):
    """The principal task by number of others, and the published claims."""
    rows = tidy(lines)
    shown = []
    for (variant, name), own in rows.groupby(["variant", "relatedness"]):
        for key in ("kl", "kl_optimal", "edits", "edits_optimal"):
            means = own.groupby("others")[key].mean()
            row = {"search": variant, "relatedness": name, "measure": key.replace("_", ", ")}
            for n_others in (0, 1, 2, 3, 4, 6, 8, 11, OTHERS):
                values = own[own["others"] == n_others][key]
                if len(values):
                    row[f"{n_others}"] = mean_and_error(values, 3 if key.startswith("kl") else 1)
            row["best at"] = f"{means.idxmin():.0f}"
            shown.append(row)
    return {
        "task_number": markdown(pd.DataFrame(shown)),
        "task_number_claims": claims_table(_claims(rows)),
    }


def _claims(rows):
    for variant in "TS":
        of_variant = rows[rows["variant"] == variant]
        for key in ("kl", "kl_optimal"):
            at = f"{variant}, {key.replace('_', ', ')}"
            curves = {
                name: own.pivot_table(index="trial", columns="others", values=key)
                for name, own in of_variant.groupby("relatedness")
            }
            for name, wide in curves.items():
                best = wide.mean().idxmin()
                most = wide.columns.max()
                gained, lost = reduction(wide[best], wide[0.0]), reduction(wide[best], wide[most])
                yield (
                    f"{at}, {name}: near tasks help, far ones harm",
                    "falls, then rises",
                    f"lowest at {best:.0f} others, {gained:.0f} % below none and "
                    f"{lost:.0f} % below all",
                    0 < best < most
                    and is_significant(wide[best], wide[0.0])
                    and is_significant(wide[best], wide[most]),
                )
            if set(curves) == set(MEASURES):
                best = {name: wide.mean().min() for name, wide in curves.items()}
                worst = max(best["direct"], best["indirect"]) / best["true"] - 1
                yield (
                    f"{at}: learned measures order as well as true",
                    "very similar",
                    f"their lowest means at most {100 * worst:.1f} % above that of the true order",
                    worst < 0.05,
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
                curve = own.groupby("others")[key].mean()
                label = name if key == "kl" else f"{name}, optimal penalty"
                axes.plot(curve.index, curve, style, color=colors[name], label=label)
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
    study.main("task_number")
