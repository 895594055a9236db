"""What tasks gain by having probability tables in common: graphs and divergence on known networks.

Run `python -m benchmarks.sharing.sharing` (a day on two cores; `--trials 1` for a first look). Five
tasks of the five problems and of the control; 250, 1000 and 4000 rows a task. "tables" says how
alike the tables are: as the problem has them, or each row of a task's drawn from a Dirichlet around
the true one, of so many imaginary rows ("similar 50", "similar 10"), or, of the control, from any
("independent"). "tables alone" has the graphs that are learned together without sharing, "score
alone" the tables of each task by itself. Both are learned at a penalty of 0.99, in some trials at
others and at the one that its posterior chooses, too.
"""

import time

import numpy as np

from benchmarks import study
from benchmarks.drawing import axis_of_sizes, curves, panels
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
)
from benchmarks.thesis.methods import IN_WORDS
from bnmtl import (
    BIC,
    BayesNet,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    PooledLearner,
    SingleTaskLearner,
)
from bnmtl.networks import fit_networks
from bnmtl.progress import Reporter
from bnmtl.scores import CONCENTRATIONS, PARTITIONS
from bnmtl.search.shared_multitask import search_over
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
N_TRIALS = 20
ROWS = (1000, 250, 4000)
SAME = "as in the problem"
SIMILAR = {"similar 50": 50.0, "similar 10": 10.0}
# Tasks that share no arcs and whose tables have nothing in common, not even by chance.
INDEPENDENT = "independent"
# Problems whose tables are the same in all tasks.
ALIKE = ("ALARM", "INSURANCE", "ALARM-COMP")
APART = {
    "alone, BIC": lambda seed: SingleTaskLearner(score=BIC(), random_state=seed),
    "alone": lambda seed: SingleTaskLearner(random_state=seed),
    "pooled": lambda seed: PooledLearner(random_state=seed),
    "one structure": lambda seed: IdenticalLearner(table_sharing=None, random_state=seed),
    "together": lambda seed: MultitaskLearner(
        PairedPrior(PENALTY), table_sharing=None, random_state=seed
    ),
}


def _at(penalty):
    return lambda seed: MultitaskLearner(PairedPrior(penalty), random_state=seed)


SHARED = {
    "one structure, both": lambda seed: IdenticalLearner(random_state=seed),
    "both": _at(PENALTY),
}
# Both at other penalties and at one that is chosen, in the first trials of 1000 rows.
CHOSEN = "both, posterior"
BY_PENALTY = {
    **{f"both, penalty {penalty:g}": _at(penalty) for penalty in (0, 0.5, 0.9, 0.9999)},
    CHOSEN: lambda seed: MultitaskLearnerCV(validation="posterior", random_state=seed),
}
N_BY_PENALTY = 5
# Graphs of one method with the other kind of tables.
OTHER_TABLES = {"tables alone": "together", "score alone": "both"}
METHODS = (*APART, *SHARED, *OTHER_TABLES)


def plan(quick, trials=None):
    """All cases; those of 1000 rows and the problems' own tables first."""
    if quick:
        case = {"problem": ["INSURANCE"], "tables": ["similar 50"], "rows": [100], "trial": [0]}
        return study.every(["alone", *SHARED, *OTHER_TABLES], **case)
    return [
        {
            **{"problem": problem, "tables": kind, "rows": n_rows, "trial": trial},
            "wanted": _wanted(kind, n_rows, trial),
        }
        for n_rows in ROWS
        for kind, problems in _kinds(n_rows).items()
        for trial in range(min(trials or N_TRIALS, N_TRIALS))
        for problem in problems
    ]


def _kinds(n_rows):
    """The problems of each kind of tables."""
    kinds = {SAME: (*FIVE, CONTROL), **dict.fromkeys(SIMILAR, ALIKE)}
    return kinds | ({INDEPENDENT: (CONTROL,)} if n_rows == ROWS[0] else {})


def _wanted(kind, n_rows, trial):
    is_first = kind == SAME and n_rows == ROWS[0] and trial < N_BY_PENALTY
    return [*METHODS, *(BY_PENALTY if is_first else ())]


def measure(problem, tables, rows, trial, wanted):
    """A line a method: means over the five tasks."""
    networks = networks_of(problem, trial)
    if tables != SAME:
        networks = scattered(networks, SIMILAR.get(tables), trial)
    related = Related(networks, rows, trial)
    fitted, found = {}, {}
    for method in wanted:
        source = OTHER_TABLES.get(method, method)
        began = time.perf_counter()
        if source not in fitted:
            fitted[source] = (APART | SHARED | BY_PENALTY)[source](trial).fit(related.tasks)
        learner = fitted[source]
        found[method] = line_of(related, learner, method)
        found[method]["chosen"] = getattr(learner, "penalty_", None)
        found[method]["seconds"] = round(time.perf_counter() - began, 2)
    if "both" in found:
        found["both"]["loss"] = loss(fitted["both"], related)
    return found


def scattered(networks, strength, trial):
    """The same networks with each row of a table drawn around the true one; None: from any."""
    found = {}
    for name, network in networks.items():
        rng, drawn = generator(trial, name, "scattered tables"), {}
        for variable in network.variables:
            table = network.table(variable)
            # A probability of 0 stays as good as 0.
            shape = np.ones_like(table) if strength is None else np.maximum(strength * table, 1e-6)
            gammas = rng.standard_gamma(shape)
            drawn[variable] = gammas / gammas.sum(axis=-1, keepdims=True)
        found[name] = BayesNet(network.graph, network.states, drawn)
    return found


def line_of(related, learner, method):
    """How near graphs and networks are to the truth."""
    graphs, networks = learner.configuration_, learner.networks_
    if method == "tables alone":
        networks = fit_networks(graphs, related.tasks)
    if method == "score alone":
        networks = fit_networks(graphs, related.tasks, sharing=None)
    return {**related.line(graphs, networks), "arcs": mean_arcs(graphs)}


def loss(learner, related):
    """What the search from the true graphs finds more, in nats a network; below 0 it finds less."""
    effort = learner.effort()
    search = search_over(learner.problems(related.tasks, effort), effort, Reporter(False))
    reached = search.follow(learner.prior, related.truth(), effort)
    return round((reached.score - learner.score_) / N_TASKS, 3)


KINDS = (SAME, *SIMILAR, INDEPENDENT)
SHOWN = (*APART, *OTHER_TABLES, *SHARED)
# How alike the tables are, of a problem whose tables are the same and of its twin.
ALIKENESS = {
    "ALARM": (*KINDS[:-1], "ALARM-IND"),
    "INSURANCE": (*KINDS[:-1], "INSURANCE-IND"),
}
LINES = ("alone", "together", "tables alone", "both")
TITLES = {"edits": "edits", "kl": "divergence (nats)"}
# For newcomers.
IN_SHORT = {
    "alone, BIC": "alone, BIC",
    "alone": "alone",
    "together": "together, own tables",
    "both": "together",
}


def tables(lines):
    """Edits, SHD and divergence by method; what sharing gains trial by trial; what search loses."""
    made = {
        "sharing_in_short": markdown(_in_short(lines)),
        "sharing_edits": markdown(_by_problem(lines, "edits")),
        "sharing_shd": markdown(_by_problem(lines, "shd")),
        "sharing_kl": markdown(_by_problem(lines, "kl")),
        "sharing_paired": markdown(_paired(lines)),
        "sharing_search": markdown(_search(lines)),
    }
    by_penalty = list(_by_penalty(lines))
    return made | ({"sharing_penalties": markdown(by_penalty)} if by_penalty else {})


def _cases(lines):
    """Lines of every problem, kind of tables and number of rows, in order."""
    sizes = sorted(lines["rows"].unique())
    for case, own in parts(lines, rows=sizes, tables=KINDS, problem=(*FIVE, CONTROL)):
        yield {name: case[name] for name in ("problem", "tables", "rows")}, own


def _by_problem(lines, measure):
    for case, own in _cases(lines):
        n_trials = own["trial"].nunique()
        yield {**case, "trials": n_trials, **means_of(own, "method", measure, SHOWN)}


def _in_short(lines):
    """Edits and divergence where tables are as in the problems."""
    for case, own in _cases(lines[lines["tables"] == SAME]):
        if case["problem"] in IN_WORDS:
            row = {"five tasks on": IN_WORDS[case["problem"]], "rows": case["rows"]}
            row["trials"] = own["trial"].nunique()
            for measure, title in (("edits", "edits"), ("kl", "divergence")):
                if set(IN_SHORT) <= set(own["method"]):
                    titles = {method: f"{title}, {name}" for method, name in IN_SHORT.items()}
                    row |= means_of(own, "method", measure, titles)
            yield row


def _paired(lines):
    """What both kinds of sharing take off those of a rival, trial by trial."""
    for case, own in _cases(lines):
        for measure, title in {"edits": "edits", "shd": "SHD", "kl": TITLES["kl"]}.items():
            wide = by_trial(own, "method", measure)
            for rival in ("together", "alone"):
                if has(wide, "both", rival):
                    text = difference_text(wide["both"], wide[rival])
                    case[f"{title}, both less {rival}"] = text
        yield case


def _by_penalty(lines):
    """Edits and divergence of both by the penalty, over the trials that have all of them."""
    for case, own in _cases(lines):
        own = own[own["method"].str.startswith("both")]
        for measure in TITLES:
            wide = by_trial(own, "method", measure)
            if CHOSEN not in wide:
                continue
            wide = wide.dropna().rename(columns={"both": "both, penalty 0.99"})
            names = sorted(wide.columns.drop(CHOSEN), key=lambda name: float(name.split()[-1]))
            row = {"problem": case["problem"], "of": TITLES[measure], "trials": len(wide)}
            for name in (*names, CHOSEN):
                row[name.removeprefix("both, ")] = mean_and_error(wide[name], DIGITS[measure])
            yield row


def _search(lines):
    """What a search from the truth finds more, and how long searches take."""
    for case, own in _cases(lines):
        took = by_trial(own, "method", "seconds")
        if has(took, "both", "together"):
            losses = own[own["method"] == "both"]["loss"].to_numpy(dtype=float)
            yield {
                **case,
                "from the truth, nats a network more (median)": f"{np.median(losses):.1f}",
                "in the worst trial": f"{losses.max():.1f}",
                "time, both / together": f"{(took['both'] / took['together']).median():.1f}",
            }


def draw(lines):
    """Edits and divergence by method, a panel a problem, 1000 rows."""
    problems = [*FIVE, CONTROL]
    lines = lines[(lines["tables"] == SAME) & (lines["rows"] == 1000)]
    figure, grid = panels(2, len(problems), (14, 6.5))
    for row, measure in zip(grid, TITLES, strict=True):
        for axes, problem in zip(row, problems, strict=True):
            own = lines[lines["problem"] == problem]
            means = own.groupby("method")[measure].mean()
            means = means[[name for name in reversed(SHOWN) if name in means]]
            colors = ["#0072B2" if name == "both" else "#9DB8CC" for name in means.index]
            axes.barh(means.index, means, color=colors)
            axes.set(title=problem if measure == "edits" else "", xlabel=TITLES[measure])
            # Pooling what is not alike is far off; the others would not be told apart.
            others = means.drop("pooled", errors="ignore")
            axes.set_xlim(0, 1.15 * others.max() if others.any() else 1.0)
            if axes is not row[0]:
                axes.set_yticklabels([])
    return figure


def more_pictures(lines):
    """Edits and divergence by how alike the tables are, and by the number of rows."""
    figure, grid = panels(2, 2 * len(ALIKENESS), (14, 6.5))
    for row, measure in zip(grid, TITLES, strict=True):
        for (by_kind, by_rows), problem in zip(row.reshape(-1, 2), ALIKENESS, strict=True):
            _draw_by_alikeness(by_kind, lines, problem, measure)
            own = lines[(lines["problem"] == problem) & (lines["tables"] == SAME)]
            curves(by_rows, own, "rows", measure, "method", LINES, errors=False)
            axis_of_sizes(by_rows, sorted(own["rows"].unique()), "rows a task")
            by_rows.set(title=f"{problem}, same tables", ylim=(0, None))
    grid[0, 0].legend(fontsize=8)
    return {"sharing_alikeness": figure}


def _draw_by_alikeness(axes, lines, problem, measure):
    """A line a method over kinds of tables, the most alike first."""
    kinds = ALIKENESS[problem]
    # Tables of the twin have nothing in common.
    own = lines[lines["problem"].isin([problem, kinds[-1]]) & lines["rows"].eq(1000)]
    own = own.assign(kind=own["tables"].mask(own["problem"].eq(kinds[-1]), kinds[-1]))
    own = own[own["kind"].isin(kinds)]
    own = own.assign(place=own["kind"].map(kinds.index))
    curves(axes, own, "place", measure, "method", LINES, errors=False)
    axes.set_xticks(range(len(kinds)), ["same", "similar\n50", "similar\n10", "independent"])
    axes.set(title=f"{problem}, 1000 rows", ylabel=TITLES[measure], ylim=(0, None))


if __name__ == "__main__":
    study.main(__spec__.name)
