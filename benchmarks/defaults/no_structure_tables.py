"""Tables and picture of the study of columns without structure."""

import pandas as pd

from benchmarks.drawing import axis_of_sizes, mean_curves, panels
from benchmarks.summary import markdown, mean_and_error, parts

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
COMMANDS = {
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
# Numbers of equally likely states, and numbers of rows with which only they are tried.
FLAT = {"two equal": 2, "four equal": 4, "eight equal": 8, "twenty equal": 20}
MANY_ROWS = (2000, 20_000)
FLAT_LEARNERS = {
    "concentrations up to 100: alone": "one task, up to 100",
    "alone": "one task",
    "concentrations up to 100, shared: five together": "five tasks, up to 100",
    "shared: five together": "five tasks",
}


def tables(lines):
    """False arcs per network by kind, rows and learner; the worst cases; and reported findings."""
    has_many = lines["rows"].isin(MANY_ROWS)
    many, lines = lines[has_many], lines[~has_many]
    flat = {"no_structure_flat": markdown(_flat(many))} if len(many) else {}
    return flat | {
        "no_structure": markdown(_false_arcs(lines)),
        "no_structure_claims": markdown(_worst(lines)),
        "no_structure_in_short": markdown(_in_short(lines)),
        "no_structure_told": markdown(_reported(lines)),
    }


def _reported(lines):
    """In how many cases a command reports that something was found, by number of rows."""

    def written(group, _):
        reported = group["told"].dropna() if "told" in group else group.iloc[:0]
        return f"{reported.sum():.0f} of {len(reported)}" if len(reported) else ""

    found = [_by_rows(lines, COMMANDS, written, n).assign(columns=n) for n in (30, 100)]
    table = pd.concat(found, ignore_index=True)
    return table[["columns", "rows", *COMMANDS.values()]]


def _in_short(lines):
    """False arcs by number of rows and learner, over all kinds of independent columns."""

    def written(group, n_samples):
        if not len(group):
            return ""
        fewer = f" ({len(group)})" if len(group) < n_samples else ""
        return mean_and_error(group["false_arcs"]) + fewer

    return _by_rows(lines, IN_SHORT, written)


def _by_rows(lines, titles, written, n_columns=30):
    """One row per number of rows and one column per learner, for independent columns."""
    independent = _independent(lines)
    independent = independent[independent["columns"] == n_columns]
    rows = []
    for n_rows, found in independent.groupby("rows"):
        by_title = {title: found[found["learner"] == name] for name, title in titles.items()}
        n_samples = found.groupby(["kind", "trial"]).ngroups
        row = {"rows": n_rows, "samples": n_samples}
        rows.append({**row, **{title: written(of, n_samples) for title, of in by_title.items()}})
    return pd.DataFrame(rows, columns=["rows", "samples", *titles.values()])


def _false_arcs(lines):
    cases = {name: sorted(set(lines[name])) for name in ("kind", "columns", "rows")}
    for case, group in parts(lines, **cases):
        columns = "37 + 40" if case["kind"] == BESIDE_ALARM else case["columns"]
        row = {"columns": columns, "kind": case["kind"], "rows": case["rows"]}
        row["trials"] = group["trial"].nunique()
        for learner in (*DEFAULTS, *OTHERS):
            found = group[group["learner"] == learner]["false_arcs"]
            fewer = f" ({len(found)} of them)" if 0 < len(found) < row["trials"] else ""
            row[learner] = mean_and_error(found) + fewer
        yield row


def _flat(lines):
    """False arcs with many rows of equally likely states, with two sets of concentrations."""
    for case, group in parts(lines, rows=MANY_ROWS, kind=FLAT):
        row = {"rows": case["rows"], "states": FLAT[case["kind"]]}
        for learner, title in FLAT_LEARNERS.items():
            found = group[group["learner"] == learner]["false_arcs"]
            row[title] = f"{mean_and_error(found)} ({len(found)})" if len(found) else ""
        yield row


def _independent(lines):
    """Lines of independent rows and columns."""
    return lines[~lines["kind"].isin(HARDER)]


def _worst(lines):
    """Means over kinds and rows: false arcs, those in all tasks, and the compelled ones."""
    harder = {kind: group for kind, group in lines.groupby("kind") if kind in HARDER}
    for of, group in {"independent columns": _independent(lines), **harder}.items():
        for name in DEFAULTS if of in HARDER else (*DEFAULTS, *OTHERS):
            of_learner = group[group["learner"] == name]
            if len(of_learner):
                yield _worst_of(of, name, of_learner)


def _worst_of(of, learner, lines):
    """The row of one learner."""
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
    """False arcs by rows, with one panel per kind and one curve per learner."""
    lines = lines[~lines["rows"].isin(MANY_ROWS)]
    kinds = list(dict.fromkeys(lines["kind"]))
    lines = lines[lines["columns"] == lines["columns"].min()]
    # A logarithmic axis cannot show 0.
    lines = lines.assign(shown=lines["false_arcs"] + 0.05)
    styles = {learner: {"label": title} for learner, title in IN_SHORT.items()}

    def draw_kind(axes, _, kind):
        group = lines[lines["kind"] == kind]
        mean_curves(axes, group, "rows", "learner", "shown", styles, errors=False)
        axis_of_sizes(axes, sorted(group["rows"].unique()), "rows")
        axes.set_yscale("log")

    rows = {"": "false arcs a network + 0.05"}
    return panels(draw_kind, (2.6, 3.4), kinds, rows, legend="below")


def more_pictures(lines):
    """False arcs with many rows by number of equally likely states, one panel per rows."""
    lines = lines[lines["rows"].isin(MANY_ROWS)]
    if not len(lines):
        return {}
    lines = lines.assign(states=lines["kind"].map(FLAT))
    styles = {learner: {"label": title} for learner, title in FLAT_LEARNERS.items()}

    def draw_rows(axes, _, rows):
        group = lines[lines["rows"] == rows]
        mean_curves(axes, group, "states", "learner", "false_arcs", styles, errors=False)
        axis_of_sizes(axes, list(FLAT.values()), "equally likely states")

    columns = {rows: f"{rows:,} rows" for rows in sorted(set(lines["rows"]))}
    rows = {"": "false arcs a network"}
    return {"no_structure_flat": panels(draw_rows, (3.6, 3.2), columns, rows, legend="below")}
