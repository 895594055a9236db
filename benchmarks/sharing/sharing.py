"""Gains from shared probability tables on known networks: graphs and divergence.

Run `python -m benchmarks.sharing.sharing` (a day on two cores; `--trials 1` for a first look). Five
tasks of the five problems and of the control, with 250, 1000 and 4000 rows per task. "tables" is
the similarity of the tables: those of the problem, or each row of a table drawn from a Dirichlet
distribution centered on the true row with the weight of 50 or 10 imaginary rows ("similar 50",
"similar 10"), or, for the control, drawn uniformly ("independent"). "tables alone" shares
tables on graphs learned together without sharing them; "score alone" learns graphs with sharing but
gives them separate tables. "both" uses a penalty of 0.99 and, in some trials, other penalties and
the one chosen by its posterior.
"""

import time

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.by_default import LEARNERS, UP_TO_100
from benchmarks.drawing import axis_of_sizes, bars, mean_curves, panels
from benchmarks.related import CONTROL, FIVE, N_TASKS, Related, mean_arcs, networks_of
from benchmarks.summary import (
    DIGITS,
    by_trial,
    difference_text,
    has,
    markdown,
    mean_and_error,
    means_of,
    parts,
    present,
)
from benchmarks.thesis.methods import IN_WORDS
from benchmarks.variants import shared_search
from bnmtl import (
    BIC,
    BayesNet,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.networks import fit_networks
from bnmtl.scores import CONCENTRATIONS, PARTITIONS
from bnmtl.seeding import generator

NAME = "sharing"
SETTINGS = ("problem", "tables", "rows", "trial", "method")
PENALTY = 0.99
FIXED = {
    "penalty": PENALTY,
    "concentrations": list(CONCENTRATIONS),
    "partitions": list(PARTITIONS),
    "tables_learn_from": "all families",
}
EARLIER = {"concentrations": list(UP_TO_100)}
N_TRIALS = 20
ROWS = (1000, 250, 4000)
SAME = "as in the problem"
SIMILAR = {"similar 50": 50.0, "similar 10": 10.0}
# Tasks without common arcs, whose tables have nothing in common, not even by chance.
INDEPENDENT = "independent"
# Problems for each kind of tables; some have the same tables in all tasks.
PROBLEMS = {
    SAME: (*FIVE, CONTROL),
    **dict.fromkeys(SIMILAR, ("ALARM", "INSURANCE", "ALARM-COMP")),
    INDEPENDENT: (CONTROL,),
}
UNSHARED = {
    "alone, BIC": lambda seed: SingleTaskLearner(score=BIC(), random_state=seed),
    "alone": LEARNERS["alone, defaults"],
    "pooled": LEARNERS["pooled, defaults"],
    "one structure": LEARNERS["one structure, defaults"],
    "together": lambda seed: MultitaskLearner(
        PairedPrior(PENALTY), table_sharing=None, task_groups=None, random_state=seed
    ),
}


def _at(penalty):
    return lambda seed: MultitaskLearner(PairedPrior(penalty), task_groups=None, random_state=seed)


# The default learner, which shares both within groups of tasks that it finds.
GROUPS = "groups found"
SHARED = {
    "one structure, both": LEARNERS["one structure, tables shared"],
    "both": _at(PENALTY),
    GROUPS: LEARNERS["groups found, tables shared"],
}
ROWS_IN_GROUPS = (250, 1000)
# "both" at other penalties and at a chosen one, in the first trials with 1000 rows.
CHOSEN = "both, posterior"
BY_PENALTY = {
    **{f"both, penalty {penalty:g}": _at(penalty) for penalty in (0, 0.5, 0.9, 0.9999)},
    CHOSEN: lambda seed: MultitaskLearnerCV(
        task_groups=None, validation="posterior", random_state=seed
    ),
}
N_BY_PENALTY = 5
# Methods that take the graphs of another method and use the other kind of tables.
OTHER_TABLES = {"tables alone": "together", "score alone": "both"}
METHODS = (*UNSHARED, *SHARED, *OTHER_TABLES)


def plan(quick, trials=None):
    """All cases, those with 1000 rows and the tables of the problem first."""
    if quick:
        case = {"problem": ["INSURANCE"], "tables": ["similar 50"], "rows": [30], "trial": [0]}
        return study.every(["alone", "both", *OTHER_TABLES], **case)
    trial = range(min(trials or N_TRIALS, N_TRIALS))
    return study.every(_wanted, rows=ROWS, tables=PROBLEMS, trial=trial, problem=PROBLEMS[SAME])


def _wanted(rows, tables, trial, problem):
    is_first = tables == SAME and rows == ROWS[0] and trial < N_BY_PENALTY
    if problem not in PROBLEMS[tables] or (tables == INDEPENDENT and rows != ROWS[0]):
        return []
    has_groups = tables == SAME and rows in ROWS_IN_GROUPS
    methods = [name for name in METHODS if has_groups or name != GROUPS]
    return [*methods, *(BY_PENALTY if is_first else ())]


def measure(problem, tables, rows, trial, wanted):
    """One line per method: means over the five tasks."""
    related = related_of(problem, tables, rows, trial)
    fitted, found = {}, {}
    for method in wanted:
        source = OTHER_TABLES.get(method, method)
        began = time.perf_counter()
        if source not in fitted:
            fitted[source] = (UNSHARED | SHARED | BY_PENALTY)[source](trial).fit(related.tasks)
        learner = fitted[source]
        found[method] = line_of(related, learner, method)
        found[method]["chosen"] = getattr(learner, "penalty_", None)
        found[method]["seconds"] = round(time.perf_counter() - began, 2)
    if "both" in found:
        found["both"]["loss"] = loss(fitted["both"], related)
    return found


def related_of(problem, tables, rows, trial):
    """Networks and rows of a problem with some kind of tables."""
    networks = networks_of(problem, trial)
    if tables != SAME:
        networks = scattered(networks, SIMILAR.get(tables), trial)
    return Related(networks, rows, trial)


def scattered(networks, strength, trial):
    """Networks with each row of a table drawn around the true row; None: uniformly."""
    found = {}
    for name, network in networks.items():
        rng, drawn = generator(trial, name, "scattered tables"), {}
        for variable in network.variables:
            table = network.table(variable)
            # A Dirichlet parameter must be positive; a probability of 0 stays almost 0.
            shape = np.ones_like(table) if strength is None else np.maximum(strength * table, 1e-6)
            gammas = rng.standard_gamma(shape)
            drawn[variable] = gammas / gammas.sum(axis=-1, keepdims=True)
        found[name] = BayesNet(network.graph, network.states, drawn)
    return found


def line_of(related, learner, method):
    """Distances of graphs and networks to the truth."""
    graphs, networks = learner.configuration_, learner.networks_
    if method == "tables alone":
        networks = fit_networks(graphs, related.tasks)
    if method == "score alone":
        networks = fit_networks(graphs, related.tasks, sharing=None)
    return {**related.line(graphs, networks), "arcs": mean_arcs(graphs)}


def loss(learner, related):
    """Score of the search from the true graphs minus that of the learner, in nats per network."""
    effort, search = shared_search(learner, related.tasks)
    reached = search.follow(learner.prior, related.truth(), effort)
    return round((reached.score - learner.score_) / N_TASKS, 3)


KINDS = tuple(PROBLEMS)
SHOWN = (*UNSHARED, *OTHER_TABLES, *SHARED)
# Kinds of tables by decreasing similarity; last, the problem's twin with independent tables.
SIMILARITY = {"ALARM": (*KINDS[:-1], "ALARM-IND"), "INSURANCE": (*KINDS[:-1], "INSURANCE-IND")}
LINES = ("alone", "together", "tables alone", "both")
TITLES = {"edits": "edits", "kl": "divergence (nats)"}
# Methods of the short table.
IN_SHORT = {
    "alone, BIC": "alone, BIC",
    "alone": "alone",
    "together": "together, own tables",
    "both": "one group",
    GROUPS: "together",
}


def tables(lines):
    """Edits, SHD and divergence by method, paired gains from sharing, and losses of the search."""
    made = {
        "sharing_in_short": markdown(_filled(_in_short(lines))),
        "sharing_edits": markdown(_filled(_by_problem(lines, "edits"))),
        "sharing_shd": markdown(_filled(_by_problem(lines, "shd"))),
        "sharing_kl": markdown(_filled(_by_problem(lines, "kl"))),
        "sharing_paired": markdown(_paired(lines)),
        "sharing_search": markdown(_search(lines)),
        "sharing_time": markdown(_time(lines)),
    }
    by_penalty = list(_by_penalty(lines))
    return made | ({"sharing_penalties": markdown(by_penalty)} if by_penalty else {})


def _cases(lines):
    """The lines for each problem, kind of tables and number of rows, in order."""
    sizes = sorted(lines["rows"].unique())
    for case, group in parts(lines, rows=sizes, tables=KINDS, problem=(*FIVE, CONTROL)):
        yield {name: case[name] for name in ("problem", "tables", "rows")}, group


def _filled(rows):
    """Rows as a frame, with empty cells for methods that were not measured everywhere."""
    return pd.DataFrame(list(rows)).fillna("")


def _by_problem(lines, measure):
    for case, group in _cases(lines):
        n_trials = group["trial"].nunique()
        yield {**case, "trials": n_trials, **means_of(group, "method", measure, SHOWN)}


def _in_short(lines):
    """Edits and divergence with the tables of the problems."""
    for case, group in _cases(lines[lines["tables"] == SAME]):
        if case["problem"] in IN_WORDS:
            row = {"five tasks on": IN_WORDS[case["problem"]], "rows": case["rows"]}
            row["trials"] = group["trial"].nunique()
            for measure, title in (("edits", "edits"), ("kl", "divergence")):
                titles = {method: f"{title}, {name}" for method, name in IN_SHORT.items()}
                row |= means_of(group, "method", measure, titles)
            yield row


def _paired(lines):
    """Paired differences between both kinds of sharing and each baseline."""
    for case, group in _cases(lines):
        for measure, title in {"edits": "edits", "shd": "SHD", "kl": TITLES["kl"]}.items():
            wide = by_trial(group, "method", measure)
            for baseline in ("together", "alone"):
                if has(wide, "both", baseline):
                    text = difference_text(wide["both"], wide[baseline])
                    case[f"{title}, both less {baseline}"] = text
        yield case


def _by_penalty(lines):
    """Edits and divergence of "both" by penalty, over trials with all penalties."""
    for case, group in _cases(lines):
        group = group[group["method"].str.startswith("both")]
        for measure in TITLES:
            wide = by_trial(group, "method", measure)
            if CHOSEN not in wide:
                continue
            wide = wide.dropna().rename(columns={"both": "both, penalty 0.99"})
            names = sorted(wide.columns.drop(CHOSEN), key=lambda name: float(name.split()[-1]))
            row = {"problem": case["problem"], "of": TITLES[measure], "trials": len(wide)}
            for name in (*names, CHOSEN):
                row[name.removeprefix("both, ")] = mean_and_error(wide[name], DIGITS[measure])
            yield row


def _search(lines):
    """How much higher a search from the truth ends, and the time of searches."""
    for case, group in _cases(lines):
        losses = group[group["method"] == "both"]["loss"].to_numpy(dtype=float)
        if len(losses):
            yield {
                **case,
                "from the truth, nats per network higher (median)": f"{np.median(losses):.1f}",
                "in the worst trial": f"{losses.max():.1f}",
                "time, both / together": _ratio(group, "both", "together"),
                "groups found / both": _ratio(group, "groups found", "both"),
            }


def _beside(group, method):
    """The lines of cases in which a method was measured, too: times of others say nothing."""
    keys = ["trial", "seconds_of_case"]
    return group.merge(group.loc[group["method"] == method, keys], on=keys)


def _ratio(group, method, other):
    """Median over trials of the time of a method, relative to another one of the same case."""
    seconds = by_trial(_beside(group, other), "method", "seconds")
    if not has(seconds, method, other):
        return ""
    return f"{(seconds[method] / seconds[other]).median():.2g}"


def _time(lines):
    """Time of each method relative to sharing arcs only."""
    for case, group in _cases(lines[lines["tables"] == SAME]):
        seconds = by_trial(_beside(group, "together"), "method", "seconds")
        if "together" in seconds:
            ratios = seconds.div(seconds["together"], axis=0).median()
            yield {
                **case,
                **{name: f"{ratios[name]:.2g}" if name in ratios else "" for name in SHOWN},
            }


def draw(lines):
    """Edits and divergence by method for 1000 rows, with one panel per problem."""
    lines = lines[(lines["tables"] == SAME) & (lines["rows"] == 1000)]

    def draw_problem(axes, measure, problem):
        group = lines[lines["problem"] == problem]
        means = group.groupby("method")[measure].mean().reindex(present(lines, "method", SHOWN))
        colors = [
            "#0072B2" if name in ("both", "groups found") else "#9DB8CC" for name in means.index
        ]
        bars(axes, means.to_frame(), styles={measure: {"color": colors}}, horizontal=True)
        # Pooling different tasks is far worse and would hide the differences of the others.
        others = means.drop("pooled", errors="ignore")
        axes.set_xlim(0, 1.15 * others.max() if others.any() else 1.0)
        axes.set_xlabel(TITLES[measure])

    rows = dict.fromkeys(TITLES, "")
    return panels(draw_problem, (2.3, 3.25), (*FIVE, CONTROL), rows, sharey=True)


def more_pictures(lines):
    """Edits and divergence by similarity of tables, and by number of rows."""

    def draw_case(axes, measure, case):
        problem, x = case
        if x == "place":
            kinds = SIMILARITY[problem]
            group = _by_similarity(lines, problem, kinds)
            axes.set_xticks(
                range(len(kinds)), ["same", "similar\n50", "similar\n10", "independent"]
            )
        else:
            group = lines[(lines["problem"] == problem) & (lines["tables"] == SAME)]
            axis_of_sizes(axes, sorted(group["rows"].unique()), "rows a task")
        mean_curves(axes, group, x, "method", measure, LINES, errors=False)
        axes.set_ylim(0, None)

    kinds = {"place": "1000 rows", "rows": "same tables"}
    columns = {(name, x): f"{name}, {text}" for name in SIMILARITY for x, text in kinds.items()}
    return {"sharing_alikeness": panels(draw_case, (3.5, 3.25), columns, TITLES, legend="first")}


def _by_similarity(lines, problem, kinds):
    """Lines with 1000 rows and the place of their kind of tables, most similar first."""
    # The twin problem supplies the independent tables.
    group = lines[lines["problem"].isin([problem, kinds[-1]]) & lines["rows"].eq(1000)]
    group = group.assign(kind=group["tables"].mask(group["problem"].eq(kinds[-1]), kinds[-1]))
    group = group[group["kind"].isin(kinds)]
    return group.assign(place=group["kind"].map(kinds.index))


if __name__ == "__main__":
    study.main(__spec__.name)
