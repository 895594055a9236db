"""Tables and picture of the study of default scores and sparsities."""

import matplotlib.pyplot as plt
import pandas as pd

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
    lines = _with_all_measures(lines)
    known = lines["edits"].notna()
    return {
        "defaults_alone": markdown(_by_problem(lines[known], "edits", "alone")),
        "defaults_together": markdown(_by_problem(lines[known], "edits", "together")),
        "defaults_kl": markdown(_by_problem(lines[known], "kl", "together")),
        "defaults_shd": markdown(_by_problem(_single(lines[known]), "shd", "alone")),
        "defaults_chosen": markdown(_chosen(lines)),
        "defaults_noise_alone": markdown(_by_problem(lines[~known], "false_arcs", "alone")),
        "defaults_noise_together": markdown(_by_problem(lines[~known], "false_arcs", "together")),
    }


def _with_all_measures(lines):
    """Lines of networks have edits, those of noise false arcs; either may not be there yet."""
    measures = [m for m in ("edits", "shd", "kl", "false_arcs") if m not in lines]
    return lines.assign(**dict.fromkeys(measures, float("nan")))


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
        for score in SCORES:
            for sparsity in SPARSITIES:
                variant = f"{score}, {sparsity}: {how}"
                title, of = f"{score}, {sparsity}", own[own["variant"] == variant]
                fewer = of["trial"].nunique()
                if 0 < fewer < row["trials"]:
                    titles_of_fewer.setdefault(title, fewer)
                row[title] = _mean(own, variant, measure)
        rows.append(row)
    table = pd.DataFrame(rows)
    table = table.loc[:, (table != "").any()]
    return table.rename(columns={t: f"{t} ({n} trials)" for t, n in titles_of_fewer.items()})


def _chosen(lines):
    """What folds choose beside the default, on the same rows: edits, or false arcs of noise."""
    measured = lines.assign(value=lines["edits"].fillna(lines["false_arcs"]))
    case = ["problem", "rows", "trial"]
    values = measured.pivot_table("value", case, "variant")
    names = {
        f"{how}, {sparsity}": f"{DEFAULT}, {sparsity}: {how}"
        for how in ("alone", "together")
        for sparsity in ("f = 0.1", "chosen")
    }
    if not set(names.values()) <= set(values):
        return pd.DataFrame()
    values = values.dropna(subset=list(names.values())).reset_index()
    rows = []
    for (problem, n_rows), own in values.groupby(["problem", "rows"], sort=False):
        row = {"problem": problem, "rows": n_rows, "trials": len(own)}
        rows.append({**row, **{title: mean_and_error(own[name]) for title, name in names.items()}})
    return pd.DataFrame(rows)


def _mean(lines, variant, measure):
    found = lines[lines["variant"] == variant][measure]
    return mean_and_error(found) if len(found) else ""


def draw(lines):
    """Edits, and false arcs of noise, by sparsity, a panel a problem."""
    lines = _with_all_measures(lines)
    measured = lines.assign(value=lines["edits"].fillna(lines["false_arcs"]))
    cases = list(measured.groupby(["problem", "rows"], sort=False))
    n_columns = min(6, len(cases))
    n_rows = -(-len(cases) // n_columns)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(2.5 * n_columns, 2.3 * n_rows), squeeze=False
    )
    for axis, ((problem, rows), own) in zip(axes.flat, cases, strict=False):
        for score, color in SCORES.items():
            for how, style in (("alone", ":"), ("together", "-")):
                means = [
                    own[own["variant"] == f"{score}, {sparsity}: {how}"]["value"].mean()
                    for sparsity in SPARSITIES
                ]
                places = [i for i, mean in enumerate(means) if mean == mean]
                axis.plot(
                    places,
                    [means[i] for i in places],
                    style,
                    marker="o",
                    markersize=3,
                    color=color,
                    label=f"{score}, {how}",
                )
        axis.axhline(own[own["variant"] == BIC_ALONE]["value"].mean(), color="gray", linewidth=1)
        axis.set_xticks(range(len(SPARSITIES)), SPARSITIES, rotation=60, fontsize=6)
        axis.set_title(f"{problem}, {rows} rows", fontsize=8)
    for axis in axes.flat[len(cases) :]:
        axis.set_visible(False)
    axes[0, 0].legend(fontsize=6)
    axes[0, 0].set_ylabel("edits or false arcs")
    figure.tight_layout()
    return figure
