"""Tables and picture of the study of ways to choose the penalty."""

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.defaults.ways import CHOSEN, WAYS
from benchmarks.related import CONTROL, FIVE
from benchmarks.summary import by_trial, difference_text, markdown, mean_and_error

SHOWN = ("BIC alone", "alone", "one structure", *WAYS)
BY_ROWS = ("ALARM-COMP", "INSURANCE")
# With what the default way of choosing is compared, trial by trial.
BEFORE = "defaults of before"
RIVALS = (BEFORE, "alone", "posterior", "one-standard-error", "penalty 0.9", "penalty 0.99")


def tables(lines):
    """Edits and divergence by way, with few and many rows, and what folds gain trial by trial."""
    return {
        "choice_edits": markdown(_by_problem(lines, "edits")),
        "choice_kl": markdown(_by_problem(lines, "kl")),
        "choice_rows": markdown(_by_rows(lines)),
        "choice_paired": markdown(_paired(lines)),
    }


def _by_problem(lines, measure):
    rows = []
    for n_rows in (250, 1000):
        for problem in (*FIVE, CONTROL):
            own = lines[(lines["problem"] == problem) & (lines["rows"] == n_rows)]
            if not len(own):
                continue
            wide = by_trial(own, "way", measure)
            means = {way: mean_and_error(wide[way]) for way in SHOWN if way in wide}
            rows.append({"problem": problem, "rows": n_rows, **means})
    return pd.DataFrame(rows)


def _by_rows(lines):
    rows = []
    for problem in BY_ROWS:
        for n_rows, own in lines[lines["problem"] == problem].groupby("rows"):
            wide = by_trial(own, "way", "edits")
            means = {way: mean_and_error(wide[way]) for way in SHOWN if way in wide}
            row = {"problem": problem, "rows": n_rows, "trials": len(wide), **means}
            took = own[own["way"].isin(CHOSEN)]
            if len(took):
                folds, path = took["seconds_of_folds"].mean(), took["seconds_of_path"].mean()
                row["folds / path, time"] = f"{folds / path:.1f}"
            rows.append(row)
    return pd.DataFrame(rows)


def _paired(lines):
    """Edits that folds leave less those of another way, for each problem and number of rows."""
    rows = []
    for problem in (*FIVE, CONTROL):
        for n_rows, own in lines[lines["problem"] == problem].groupby("rows"):
            wide = by_trial(own, "way", "edits")
            if "cv" in wide:
                less = {
                    way: difference_text(wide["cv"], wide[way]) if way in wide else ""
                    for way in RIVALS
                }
                rows.append({"problem": problem, "rows": n_rows, "trials": len(wide), **less})
    return pd.DataFrame(rows)


def draw(lines):
    """Edits by the number of rows, a panel a problem, a line a way."""
    figure, axes = plt.subplots(1, len(BY_ROWS), figsize=(10, 4), squeeze=False)
    for axis, problem in zip(axes[0], BY_ROWS, strict=True):
        own = lines[lines["problem"] == problem]
        for way in ("BIC alone", "alone", *CHOSEN, "penalty 0.99"):
            mean = own[own["way"] == way].groupby("rows")["edits"].mean()
            if len(mean):
                axis.plot(mean.index, mean, marker="o", markersize=3, label=way)
        axis.set(title=problem, xscale="log", xlabel="rows a task", ylabel="edits")
        axis.minorticks_off()
        sizes = sorted(own["rows"].unique())
        axis.set_xticks(sizes, [str(size) for size in sizes])
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    return figure
