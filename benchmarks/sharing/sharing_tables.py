"""Tables and pictures of the study of tables in common."""

import numpy as np

from benchmarks.drawing import axis_of_sizes, curves, panels
from benchmarks.related import CONTROL, FIVE
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
from benchmarks.thesis.methods_tables import IN_WORDS

SAME = "as in the problem"
KINDS = (SAME, "similar 50", "similar 10", "independent")
SHOWN = (
    "alone, BIC",
    "alone",
    "pooled",
    "one structure",
    "together",
    "tables alone",
    "score alone",
    "one structure, both",
    "both",
)
CHOSEN = "both, posterior"
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
