"""Tables and picture of the study of columns without structure."""

import pandas as pd

from benchmarks.drawing import axis_of_sizes, curves, panels
from benchmarks.summary import markdown, mean_and_error

DEFAULTS = (
    "alone",
    "shared: two together",
    "shared: five together",
    "shared: one structure, five",
    "two together",
    "five together",
    "one structure, five",
    "consensus",
)
OTHERS = (
    "classifier",
    "consensus, two together",
    "one structure, a tenth for each of five",
    "BDeu, uniform: alone",
    "BDeu, uniform: two together",
    "BIC: alone",
    "concentrations up to 1: alone",
    "concentrations up to 1: one structure, five",
)
IN_SHORT = {
    "alone": "alone",
    "shared: two together": "two tasks together",
    "shared: five together": "five tasks together",
    "shared: one structure, five": "one structure for five",
    "BIC: alone": "alone, BIC",
    "BDeu, uniform: alone": "alone, BDeu and uniform prior",
}
TOLD = {
    "alone": "learn, one task",
    "shared: two together": "learn, two",
    "shared: five together": "learn, five",
    "two together": "learn, two, own tables",
    "five together": "learn, five, own tables",
    "relate, direct": "relate, five, direct",
    "relate, indirect": "relate, five, indirect",
}
TWICE = "three equal, every row twice"
BESIDE_ALARM = "noise beside ALARM"
HARDER = (BESIDE_ALARM, TWICE)


def tables(lines):
    """False arcs a network by kind, rows and learner; the worst cases; what is claimed of them."""
    return {
        "no_structure": markdown(_false_arcs(lines)),
        "no_structure_claims": markdown(_claims(lines)),
        "no_structure_in_short": markdown(_in_short(lines)),
        "no_structure_told": markdown(_told(lines)),
    }


def _told(lines):
    """By rows, of how many cases a command says that something was found."""

    def written(own, _):
        told = own["told"].dropna() if "told" in own else own.iloc[:0]
        return f"{told.sum():.0f} of {len(told)}" if len(told) else ""

    parts = [_by_rows(lines, TOLD, written, n).assign(columns=n) for n in (30, 100)]
    table = pd.concat(parts, ignore_index=True)
    return table[["columns", "rows", *TOLD.values()]]


def _in_short(lines):
    """False arcs by rows and learner, over the kinds of independent columns."""

    def written(own, n_samples):
        if not len(own):
            return ""
        fewer = f" ({len(own)})" if len(own) < n_samples else ""
        return mean_and_error(own["false_arcs"]) + fewer

    return _by_rows(lines, IN_SHORT, written)


def _by_rows(lines, titles, written, n_columns=30):
    """A row for each number of rows and a column for each learner, of independent columns."""
    own = _independent(lines)
    own = own[own["columns"] == n_columns]
    rows = []
    for n_rows, found in own.groupby("rows"):
        by_title = {title: found[found["learner"] == name] for name, title in titles.items()}
        n_samples = found.groupby(["kind", "trial"]).ngroups
        row = {"rows": n_rows, "samples": n_samples}
        rows.append({**row, **{title: written(of, n_samples) for title, of in by_title.items()}})
    return pd.DataFrame(rows, columns=["rows", "samples", *titles.values()])


def _false_arcs(lines):
    rows = []
    for (columns, kind, n_rows), own in lines.groupby(["columns", "kind", "rows"], sort=False):
        row = {"columns": "37 + 40" if kind == BESIDE_ALARM else columns, "kind": kind}
        row |= {"rows": n_rows, "trials": own["trial"].nunique()}
        for learner in (*DEFAULTS, *OTHERS):
            found = own[own["learner"] == learner]["false_arcs"]
            fewer = f" ({len(found)} of them)" if 0 < len(found) < row["trials"] else ""
            row[learner] = mean_and_error(found) + fewer
        rows.append(row)
    return pd.DataFrame(rows).sort_values(["kind", "columns", "rows"], kind="stable")


def _independent(lines):
    """Lines of independent rows and columns."""
    return lines[~lines["kind"].isin(HARDER)]


def _claims(lines):
    """Means over kinds and rows: false arcs, those in all tasks, those called compelled."""
    harder = {kind: own for kind, own in lines.groupby("kind") if kind in HARDER}
    for of, own in {"independent columns": _independent(lines), **harder}.items():
        for name in DEFAULTS if of in HARDER else (*DEFAULTS, *OTHERS):
            here = own[own["learner"] == name]
            if len(here):
                yield _claim(of, name, here)


def _claim(of, learner, lines):
    """A row for one learner."""
    means = lines.groupby(["columns", "kind", "rows"])["false_arcs"].mean()
    few = means[means.index.get_level_values("rows") == 10]
    many = means[means.index.get_level_values("rows") >= 20]
    shared = lines["in_all_tasks"].dropna()
    return {
        "of": of,
        "learner": learner,
        "false arcs": mean_and_error(lines["false_arcs"]),
        "worst mean, 10 rows": f"{few.max():.2f}",
        "worst mean, 20 rows and more": f"{many.max():.2f}",
        "in all tasks": f"{shared.mean():.2f}" if len(shared) else "",
        "compelled": f"{lines['compelled'].mean():.2f}",
    }


def draw(lines):
    """False arcs by rows, a panel a kind, a line a learner."""
    kinds = list(dict.fromkeys(lines["kind"]))
    lines = lines[lines["columns"] == lines["columns"].min()]
    # No arcs have a place on a logarithmic axis, too.
    lines = lines.assign(shown=lines["false_arcs"] + 0.05)
    styles = {learner: {"label": title} for learner, title in IN_SHORT.items()}
    figure, grid = panels(1, len(kinds), (2.6 * len(kinds), 3.4))
    for axes, kind in zip(grid[0], kinds, strict=True):
        own = lines[lines["kind"] == kind]
        curves(axes, own, "rows", "shown", "learner", styles, errors=False)
        axis_of_sizes(axes, sorted(own["rows"].unique()), "rows")
        axes.set_yscale("log")
        axes.set_title(kind, fontsize=9)
    grid[0, 0].set_ylabel("false arcs a network + 0.05")
    handles = grid[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=6, fontsize=8)
    return figure
