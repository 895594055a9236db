"""Choice of the default score and sparsity on known networks and on noise.

Run `python -m benchmarks.defaults.defaults` (two hours on two cores; `--trials 1` for a first
look). Learns five related tasks of the five problems and of the control, each alone and all
together at a fixed penalty; single networks of the benchmark collection; and thirty independent
columns. The best settings are used in `choice`, which compares methods for choosing the penalty, in
`real_tables` and in `no_structure`.
"""

import itertools

import pandas as pd

from benchmarks import study
from benchmarks.by_default import UP_TO_100
from benchmarks.defaults.choice import line_of
from benchmarks.defaults.chosen_sparsity import chosen_parents
from benchmarks.defaults.corrected import climbed_graphs
from benchmarks.defaults.no_structure import counted, frames_of
from benchmarks.defaults.ways import expecting
from benchmarks.drawing import curves, panels
from benchmarks.related import CONTROL, FIVE, Related, networks_of
from benchmarks.summary import markdown, mean_and_error, means_of
from benchmarks.thesis import alone
from bnmtl import (
    BIC,
    BDeu,
    MixedDirichlet,
    MultitaskLearner,
    PairedPrior,
    SingleTaskLearner,
    structures,
)
from bnmtl.scores import CONCENTRATIONS
from bnmtl.tasks import encode

NAME = "defaults"
SETTINGS = ("problem", "rows", "trial", "variant")
PENALTY = 0.99
FIXED = {"penalty": PENALTY, "concentrations": list(CONCENTRATIONS)}
EARLIER = {"concentrations": list(UP_TO_100)}
N_TRIALS = 5
RELATED = (*FIVE, CONTROL)
SINGLE = ("WIN95PTS", "HAILFINDER", "HEPAR2", "CHILD", "SACHS")
NOISE = ("noise: three equal", "noise: rare")
ROWS = {**dict.fromkeys(RELATED, (250, 1000)), **dict.fromkeys(SINGLE, (1000,))}
ROWS |= dict.fromkeys(NOISE, (20, 60))
# An earlier variant, without large concentrations.
SMALLER = "concentrations up to 1"
SCORES = {
    "MixedDirichlet": MixedDirichlet(),
    SMALLER: MixedDirichlet((0.01, 0.05, 0.2, 0.5, 1.0)),
    "BDeu": BDeu(),
    "BIC": BIC(),
}
# Expected parents of a variable, by the name of the sparsity.
SPARSITIES = {"uniform": None, "f = 1": 1.0, "f = 0.3": 0.3, "f = 0.1": 0.1, "f = 0.03": 0.03}
CORRECTED = "corrected"
# f chosen by ten folds of the same rows, in the first trial only because it takes seven times as
# long.
CHOSEN = ("MixedDirichlet, chosen: alone", "MixedDirichlet, chosen: together")
ALONE = (
    "BIC, uniform: alone",
    *(
        f"{score}, {sparsity}: alone"
        for score in ("MixedDirichlet", "BDeu")
        for sparsity in (*SPARSITIES, CORRECTED)
    ),
    f"{SMALLER}, f = 0.1: alone",
)
JOINT = (
    *(
        f"{score}, {sparsity}: together"
        for score in ("MixedDirichlet", "BDeu")
        for sparsity in ("uniform", "f = 1", "f = 0.1")
    ),
    f"{SMALLER}, f = 0.1: together",
    # The default of the learners.
    "MixedDirichlet, f = 0.1, tables shared: together",
)


def plan(quick, trials=None):
    """All cases, trial by trial, small ones first."""
    if quick:
        wanted = ["BIC, uniform: alone", "MixedDirichlet, f = 0.1: together", "BDeu, f = 1: alone"]
        return study.every(wanted, problem=NOISE[1:], rows=[20], trial=[0])
    problems, sizes = (
        (*NOISE, *SINGLE, *RELATED),
        sorted({n for counts in ROWS.values() for n in counts}),
    )
    return study.every(_wanted, trial=range(trials or N_TRIALS), problem=problems, rows=sizes)


def _wanted(trial, problem, rows):
    if rows not in ROWS[problem]:
        return []
    if problem in SINGLE:
        return ALONE
    return [*ALONE, *JOINT, *(CHOSEN if trial == 0 else ())]


def measure(problem, rows, trial, wanted):
    """One line per variant: means over the tasks."""
    if problem in NOISE:
        tasks = encode(frames_of(problem.removeprefix("noise: "), 30, rows, trial))
        learned = _learned(wanted, tasks, trial)
        return {variant: counted(graphs) for variant, graphs in learned.items()}
    if problem in SINGLE:
        networks = {"task": structures.load(problem.lower())}
    else:
        networks = networks_of(problem, trial)
    related = Related(networks, rows, trial)
    learned = _learned(wanted, related.tasks, trial)
    return {variant: line_of(related, graphs) for variant, graphs in learned.items()}


def _learned(wanted, tasks, trial):
    """The graphs of all tasks by variant."""
    chosen, found = {}, {}
    if set(wanted) & set(CHOSEN):
        chosen = chosen_parents(tasks, SCORES["MixedDirichlet"], PairedPrior(PENALTY), trial)
    for variant in wanted:
        head, _, how = variant.partition(": ")
        score, sparsity, *sharing = head.split(", ")
        if sparsity == CORRECTED:
            found[variant] = climbed_graphs(tasks, SCORES[score], trial)
            continue
        n_parents = chosen[how] if variant in CHOSEN else SPARSITIES[sparsity]
        found[variant] = _graphs(how, SCORES[score], n_parents, tasks, trial, bool(sharing))
    return found


def _graphs(how, score, n_parents, tasks, trial, shares_tables):
    """Graphs by task with a given expected number of parents; 0 is the graph without arcs.

    If tasks share tables, the number applies to all tasks together, as by default.
    """
    if n_parents == 0:
        return alone.empty(tasks)
    settings = {
        "score": score,
        "structure_prior": expecting(tasks, n_parents),
        "random_state": trial,
    }
    if how == "alone":
        return SingleTaskLearner(**settings).fit(tasks).configuration_
    if shares_tables:
        settings["structure_prior"] = expecting(tasks, n_parents / len(tasks))
    settings["table_sharing"] = "auto" if shares_tables else None
    settings["task_groups"] = None
    return MultitaskLearner(PairedPrior(PENALTY), **settings).fit(tasks).configuration_


SHOWN = ("uniform", CORRECTED, *list(SPARSITIES)[1:], "f = 0.1, tables shared")
COLORS = {"MixedDirichlet": "tab:blue", SMALLER: "tab:green", "BDeu": "tab:orange"}
DEFAULT = "MixedDirichlet"
BIC_ALONE = "BIC, uniform: alone"


def tables(lines):
    """Edits alone and together, and false arcs in noise, by score and sparsity."""
    lines = _with_values(lines)
    known = lines["edits"].notna()
    networks, noise = lines[known], lines[~known]
    shown = {
        "alone": (networks, "edits", "alone"),
        "together": (networks, "edits", "together"),
        "kl": (networks, "kl", "together"),
        "shd": (networks[networks["problem"].isin(SINGLE)], "shd", "alone"),
        "noise_alone": (noise, "false_arcs", "alone"),
        "noise_together": (noise, "false_arcs", "together"),
    }
    made = {f"defaults_{name}": markdown(_by_problem(*how)) for name, how in shown.items()}
    return made | {"defaults_chosen": markdown(_chosen(lines))}


def _with_values(lines):
    """Add missing measures and a `value`: edits for networks, false arcs for noise."""
    measures = [m for m in ("edits", "shd", "kl", "false_arcs") if m not in lines]
    lines = lines.assign(**dict.fromkeys(measures, float("nan")))
    return lines.assign(value=lines["edits"].fillna(lines["false_arcs"]))


def _by_problem(lines, measure, how):
    """One row per problem and number of rows, one column per variant.

    Titles of columns with fewer trials state their number.
    """
    rows, titles_of_fewer = [], {}
    names = map(", ".join, itertools.product(COLORS, SHOWN))
    titles = {BIC_ALONE: "BIC alone", **{f"{name}: {how}": name for name in names}}
    lines = lines[lines["variant"].isin(list(titles))]
    if how == "together":
        lines = lines[~lines["problem"].isin(SINGLE)]
    for (problem, n_rows), group in lines.groupby(["problem", "rows"], sort=False):
        row = {"problem": problem, "rows": n_rows, "trials": group["trial"].nunique()}
        rows.append(row | means_of(group, "variant", measure, titles, 2))
        for name, n_trials in group.groupby("variant")["trial"].nunique().items():
            if n_trials < row["trials"]:
                titles_of_fewer.setdefault(titles[name], n_trials)
    found = set().union(*rows)
    columns = ["problem", "rows", "trials", *(one for one in titles.values() if one in found)]
    table = pd.DataFrame(rows, columns=columns).fillna("")
    return table.rename(columns={t: f"{t} ({n} trials)" for t, n in titles_of_fewer.items()})


def _chosen(lines):
    """f chosen by folds and the default f on the same rows: edits, or false arcs in noise."""
    values = lines.pivot_table("value", ["problem", "rows", "trial"], "variant")
    names = {
        f"{how}, {sparsity}": f"{DEFAULT}, {sparsity}: {how}"
        for how in ("alone", "together")
        for sparsity in ("f = 0.1", "chosen")
    }
    if set(names.values()) <= set(values):
        values = values.dropna(subset=list(names.values()))
        for (problem, n_rows), group in values.groupby(["problem", "rows"], sort=False):
            row = {"problem": problem, "rows": n_rows, "trials": len(group)}
            yield row | {title: mean_and_error(group[name]) for title, name in names.items()}


def draw(lines):
    """Edits, or false arcs in noise, by sparsity, with one panel per problem."""
    lines = _with_values(lines)
    styles = {
        (score, how): {"color": color, "linestyle": line, "label": f"{score}, {how}"}
        for score, color in COLORS.items()
        for how, line in (("alone", ":"), ("together", "-"))
    }

    def draw_case(axes, _, case):
        group = lines[(lines["problem"] == case[0]) & (lines["rows"] == case[1])]
        means = group.groupby("variant")["value"].mean()
        names = {(s, how): [f"{s}, {sparsity}: {how}" for sparsity in SHOWN] for s, how in styles}
        shown = pd.DataFrame({one: means.reindex(names[one]).to_numpy() for one in names})
        curves(axes, shown, styles=styles)
        axes.axhline(means.get(BIC_ALONE, float("nan")), color="gray", linewidth=1)
        axes.set_xticks(range(len(SHOWN)), SHOWN, rotation=60, fontsize=6)

    cases = lines[["problem", "rows"]].drop_duplicates().itertuples(index=False, name=None)
    columns = {case: "{}, {} rows".format(*case) for case in cases}
    texts = {"suptitle": "gray: each task alone by BIC", "supylabel": "edits or false arcs"}
    return panels(draw_case, (2.5, 2.3), columns, legend="below", wrap=6, **texts)


if __name__ == "__main__":
    study.main(__spec__.name)
