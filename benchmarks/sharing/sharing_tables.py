"""Tables and pictures of the study of tables in common."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from benchmarks.related import CONTROL, FIVE
from benchmarks.summary import DIGITS, by_trial, difference_text, markdown, mean_and_error
from benchmarks.thesis.methods_tables import IN_WORDS

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
    "ALARM": ("as in the problem", "similar 50", "similar 10", "ALARM-IND"),
    "INSURANCE": ("as in the problem", "similar 50", "similar 10", "INSURANCE-IND"),
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
    by_penalty = _by_penalty(lines)
    return made | ({"sharing_penalties": markdown(by_penalty)} if len(by_penalty) else {})


def _cases(lines):
    """Lines of every problem, kind of tables and number of rows, in order."""
    for n_rows in sorted(lines["rows"].unique()):
        for kind in ("as in the problem", "similar 50", "similar 10", "independent"):
            for problem in (*FIVE, CONTROL):
                own = lines[
                    lines["problem"].eq(problem)
                    & lines["tables"].eq(kind)
                    & lines["rows"].eq(n_rows)
                ]
                if len(own):
                    yield {"problem": problem, "tables": kind, "rows": n_rows}, own


def _by_problem(lines, measure):
    rows = []
    for case, own in _cases(lines):
        wide = by_trial(own, "method", measure)
        means = {
            name: mean_and_error(wide[name], DIGITS[measure]) for name in SHOWN if name in wide
        }
        rows.append({**case, "trials": len(wide), **means})
    return pd.DataFrame(rows)


def _in_short(lines):
    """Edits and divergence where tables are as in the problems."""
    rows = []
    for case, own in _cases(lines):
        if case["tables"] != "as in the problem" or case["problem"] not in IN_WORDS:
            continue
        row = {"five tasks on": IN_WORDS[case["problem"]], "rows": case["rows"]}
        row["trials"] = own["trial"].nunique()
        for measure, title in (("edits", "edits"), ("kl", "divergence")):
            wide = by_trial(own, "method", measure)
            if set(IN_SHORT) <= set(wide):
                row |= {
                    f"{title}, {name}": mean_and_error(wide[method], DIGITS[measure])
                    for method, name in IN_SHORT.items()
                }
        rows.append(row)
    return pd.DataFrame(rows)


def _paired(lines):
    """What both kinds of sharing take off those of a rival, trial by trial."""
    rows = []
    for case, own in _cases(lines):
        row = dict(case)
        for measure, title in {"edits": "edits", "shd": "SHD", "kl": TITLES["kl"]}.items():
            wide = by_trial(own, "method", measure)
            for rival in ("together", "alone"):
                if {"both", rival} <= set(wide):
                    text = difference_text(wide["both"], wide[rival])
                    row[f"{title}, both less {rival}"] = text
        rows.append(row)
    return pd.DataFrame(rows)


def _by_penalty(lines):
    """Edits and divergence of both by the penalty, over the trials that have all of them."""
    rows = []
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
                title = name.removeprefix("both, ")
                row[title] = mean_and_error(wide[name], DIGITS[measure])
            rows.append(row)
    return pd.DataFrame(rows)


def _search(lines):
    """What a search from the truth finds more, and how long searches take."""
    rows = []
    for case, own in _cases(lines):
        both = own[own["method"].eq("both")]
        took = by_trial(own, "method", "seconds")
        if not len(both) or "together" not in took:
            continue
        losses = both["loss"].to_numpy(dtype=float)
        rows.append(
            {
                **case,
                "from the truth, nats a network more (median)": f"{np.median(losses):.1f}",
                "in the worst trial": f"{losses.max():.1f}",
                "time, both / together": f"{(took['both'] / took['together']).median():.1f}",
            }
        )
    return pd.DataFrame(rows)


def draw(lines):
    """Edits and divergence by method, a panel a problem, 1000 rows."""
    problems = [*FIVE, CONTROL]
    figure, axes = plt.subplots(2, len(problems), figsize=(14, 6.5), squeeze=False)
    for row, measure in zip(axes, TITLES, strict=True):
        for axis, problem in zip(row, problems, strict=True):
            own = lines[
                lines["problem"].eq(problem)
                & lines["tables"].eq("as in the problem")
                & lines["rows"].eq(1000)
            ]
            wide = by_trial(own, "method", measure)
            names = [name for name in SHOWN if name in wide]
            means = [wide[name].mean() for name in names]
            colors = ["#0072B2" if name == "both" else "#9DB8CC" for name in names]
            axis.barh(names[::-1], means[::-1], color=colors[::-1])
            axis.set(title=problem if measure == "edits" else "", xlabel=TITLES[measure])
            # Pooling what is not alike is far off; the others would not be told apart.
            others = [mean for name, mean in zip(names, means, strict=True) if name != "pooled"]
            axis.set_xlim(0, 1.15 * max(others, default=1.0) or 1.0)
            if axis is not row[0]:
                axis.set_yticklabels([])
    figure.tight_layout()
    return figure


def more_pictures(lines):
    """Edits and divergence by how alike the tables are, and by the number of rows."""
    figure, axes = plt.subplots(2, 2 * len(ALIKENESS), figsize=(14, 6.5), squeeze=False)
    for row, measure in zip(axes, TITLES, strict=True):
        for at, problem in enumerate(ALIKENESS):
            _draw_by_alikeness(row[2 * at], lines, problem, measure)
            _draw_by_rows(row[2 * at + 1], lines, problem, measure)
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    return {"sharing_alikeness": figure}


def _draw_by_alikeness(axis, lines, problem, measure):
    """A line a method over kinds of tables, the most alike first."""
    kinds = ALIKENESS[problem]
    at_1000 = lines[lines["rows"].eq(1000)]
    for method in LINES:
        means = []
        for kind in kinds:
            own = at_1000[at_1000["method"].eq(method)]
            if kind.endswith("-IND"):
                own = own[own["problem"].eq(kind)]
            else:
                own = own[own["problem"].eq(problem) & own["tables"].eq(kind)]
            means.append(own[measure].mean() if len(own) else np.nan)
        axis.plot(range(len(kinds)), means, marker="o", markersize=3, label=method)
    axis.set_xticks(range(len(kinds)), ["same", "similar\n50", "similar\n10", "independent"])
    axis.set(title=f"{problem}, 1000 rows", ylabel=TITLES[measure], ylim=(0, None))


def _draw_by_rows(axis, lines, problem, measure):
    """A line a method over the number of rows."""
    own = lines[lines["problem"].eq(problem) & lines["tables"].eq("as in the problem")]
    for method in LINES:
        mean = own[own["method"].eq(method)].groupby("rows")[measure].mean()
        if len(mean):
            axis.plot(mean.index, mean, marker="o", markersize=3, label=method)
    sizes = sorted(own["rows"].unique())
    axis.set(title=f"{problem}, same tables", xlabel="rows a task", xscale="log", ylim=(0, None))
    axis.minorticks_off()
    axis.set_xticks(sizes, [str(size) for size in sizes])
