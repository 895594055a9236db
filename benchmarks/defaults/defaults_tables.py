"""Tables and picture of the study of default scores and sparsities."""

import itertools

import pandas as pd

from benchmarks.drawing import panels
from benchmarks.summary import markdown, mean_and_error

SPARSITIES = (
    "uniform",
    "corrected",
    "f = 1",
    "f = 0.3",
    "f = 0.1",
    "f = 0.03",
    "f = 0.1, tables shared",
)
SCORES = {
    "MixedDirichlet": "tab:blue",
    "concentrations up to 1": "tab:green",
    "BDeu": "tab:orange",
}
DEFAULT = "MixedDirichlet"
BIC_ALONE = "BIC, uniform: alone"


def tables(lines):
    """Edits alone and together, and what is found in noise, by score and sparsity."""
    lines = _with_values(lines)
    known = lines["edits"].notna()
    networks, noise = lines[known], lines[~known]
    shown = {
        "alone": (networks, "edits", "alone"),
        "together": (networks, "edits", "together"),
        "kl": (networks, "kl", "together"),
        "shd": (_single(networks), "shd", "alone"),
        "noise_alone": (noise, "false_arcs", "alone"),
        "noise_together": (noise, "false_arcs", "together"),
    }
    made = {f"defaults_{name}": markdown(_by_problem(*how)) for name, how in shown.items()}
    return made | {"defaults_chosen": markdown(_chosen(lines))}


def _with_values(lines):
    """Lines of networks have edits, those of noise false arcs; either may not be there yet."""
    measures = [m for m in ("edits", "shd", "kl", "false_arcs") if m not in lines]
    lines = lines.assign(**dict.fromkeys(measures, float("nan")))
    return lines.assign(value=lines["edits"].fillna(lines["false_arcs"]))


def _single(lines):
    """Lines of problems that are one network."""
    joint = lines[lines["variant"].str.endswith("together")]["problem"].unique()
    return lines[~lines["problem"].isin(joint)]


def _by_problem(lines, measure, how):
    """A row a problem and number of rows, a column a variant, with its trials if they are fewer."""
    rows, titles_of_fewer = [], {}
    lines = lines[lines["variant"].str.endswith(how) | (lines["variant"] == BIC_ALONE)]
    if how == "together":
        lines = lines[~lines["problem"].isin(_single(lines)["problem"])]
    for (problem, n_rows), own in lines.groupby(["problem", "rows"], sort=False):
        row = {"problem": problem, "rows": n_rows, "trials": own["trial"].nunique()}
        row["BIC alone"] = _mean(own, BIC_ALONE, measure)
        for title in map(", ".join, itertools.product(SCORES, SPARSITIES)):
            row[title] = _mean(own, f"{title}: {how}", measure)
            fewer = own[own["variant"] == f"{title}: {how}"]["trial"].nunique()
            if 0 < fewer < row["trials"]:
                titles_of_fewer.setdefault(title, fewer)
        rows.append(row)
    table = pd.DataFrame(rows)
    table = table.loc[:, (table != "").any()]
    return table.rename(columns={t: f"{t} ({n} trials)" for t, n in titles_of_fewer.items()})


def _chosen(lines):
    """What folds choose beside the default, on the same rows: edits, or false arcs of noise."""
    values = lines.pivot_table("value", ["problem", "rows", "trial"], "variant")
    names = {
        f"{how}, {sparsity}": f"{DEFAULT}, {sparsity}: {how}"
        for how in ("alone", "together")
        for sparsity in ("f = 0.1", "chosen")
    }
    if set(names.values()) <= set(values):
        values = values.dropna(subset=list(names.values()))
        for (problem, n_rows), own in values.groupby(["problem", "rows"], sort=False):
            row = {"problem": problem, "rows": n_rows, "trials": len(own)}
            yield row | {title: mean_and_error(own[name]) for title, name in names.items()}


def _mean(lines, variant, measure):
    found = lines[lines["variant"] == variant][measure]
    return mean_and_error(found) if len(found) else ""


def draw(lines):
    """Edits, and false arcs of noise, by sparsity, a panel a problem."""
    cases = list(_with_values(lines).groupby(["problem", "rows"], sort=False))
    n_columns = min(6, len(cases))
    n_rows = -(-len(cases) // n_columns)
    figure, grid = panels(n_rows, n_columns, (2.5 * n_columns, 2.3 * n_rows))
    kinds = list(itertools.product(SCORES.items(), (("alone", ":"), ("together", "-"))))
    for axes, ((problem, rows), own) in zip(grid.flat, cases, strict=False):
        means = own.groupby("variant")["value"].mean()
        for (score, color), (how, line) in kinds:
            curve = means.reindex([f"{score}, {sparsity}: {how}" for sparsity in SPARSITIES])
            curve = curve.reset_index(drop=True).dropna()
            style = {"marker": "o", "markersize": 3, "color": color, "label": f"{score}, {how}"}
            axes.plot(curve.index, curve, line, **style)
        axes.axhline(means.get(BIC_ALONE, float("nan")), color="gray", linewidth=1)
        axes.set_xticks(range(len(SPARSITIES)), SPARSITIES, rotation=60, fontsize=6)
        axes.set_title(f"{problem}, {rows} rows", fontsize=8)
    for axes in grid.flat[len(cases) :]:
        axes.set_visible(False)
    handles = grid[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="lower right", ncols=2, title="gray: each task alone by BIC")
    figure.supylabel("edits or false arcs")
    return figure
