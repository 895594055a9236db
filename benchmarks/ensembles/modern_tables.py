"""Tables and claims of the study of the profile "modern"."""

import pandas as pd

from benchmarks.claims import OURS, Claim, claims_table, gain_claim
from benchmarks.summary import markdown, mean_and_error

MODERN, SHARE = "modern, 5 folds", "modern, a fifth"
SMALL_FOLDS, SMALL, RIVALS = "small, 5 folds", "small, a fifth", "rivals"
SELECTION, MEAN = "selection", "mean of the five"
LOGISTIC, BOOSTING = "logistic regression", "gradient boosting"
# (Library, method) -> title.
METHODS = {
    (MODERN, SELECTION): "modern, 5 folds",
    (MODERN, "best single model"): "its best single model",
    (MODERN, "mean of all models"): "its mean of all models",
    (SHARE, SELECTION): "modern, a fifth",
    (SMALL_FOLDS, SELECTION): "small, 5 folds",
    (SMALL, SELECTION): "small, a fifth",
    (RIVALS, BOOSTING): "gradient boosting",
    (RIVALS, "extra trees"): "extra trees",
    (RIVALS, "random forest"): "random forest",
    (RIVALS, LOGISTIC): "logistic regression",
    (RIVALS, "support vectors"): "support vectors",
    (RIVALS, MEAN): "mean of the five",
}
_SHOWN = (MODERN, SHARE, SMALL_FOLDS, SMALL, MEAN)
FEW = 1000  # rows of a small table


def complete(lines):
    """The lines of those splits of a table that all libraries have."""
    known = lines.groupby(["table", "split"])["library"].transform("nunique")
    return lines[known == lines["library"].nunique()]


def by_table(lines, measure):
    """Means over splits: a row per table, by its number of rows, and a column per method."""
    found = {
        title: lines[lines["library"] == library]
        .assign(value=lambda part, method=method: [one[method] for one in part[measure]])
        .groupby("table", sort=False)["value"]
        .mean()
        for (library, method), title in METHODS.items()
        if (lines["library"] == library).any()
    }
    rows = lines.groupby("table")["rows"].first().sort_values(kind="stable")
    return pd.DataFrame(found).reindex(rows.index)


def seconds_by_table(lines):
    """Mean seconds over splits: a row per table and a column per library."""
    return lines.pivot_table(index="table", columns="library", values="seconds", sort=False)


def tables(lines):
    """Losses by table, means by method, weights of families, and the claims."""
    if not len(lines):
        return {}
    lines = complete(lines)
    losses, shares = by_table(lines, "cross_entropy"), by_table(lines, "accuracy")
    found = {
        "modern_library": markdown(_by_table(lines, losses)),
        "modern_library_means": markdown(_means(losses, shares)),
        "modern_library_families": markdown(_families(lines)),
    }
    if len(losses) > 1:
        found["modern_library_claims"] = claims_table(claims(lines))
    return found


def _by_table(lines, losses):
    """Log losses of the main methods, the best one in bold, and the ratio of times."""
    shapes = lines.groupby("table", sort=False)[["rows", "classes"]].first()
    splits, seconds = lines.groupby("table")["split"].nunique(), seconds_by_table(lines)
    simple = [title for (library, _), title in METHODS.items() if library == RIVALS]
    shown = losses.reindex(columns=[*_SHOWN])
    shown["best of the five"] = losses.reindex(columns=simple[:-1]).min(axis=1)
    rows = []
    for table, values in shown.iterrows():
        row = {"table": table, **shapes.loc[table], "splits": splits[table]}
        for title, value in values.items():
            text = "" if pd.isna(value) else f"{value:.3f}"
            row[title] = f"**{text}**" if value == values.drop("best of the five").min() else text
        if {MODERN, SMALL} <= set(seconds):
            row["times as long as small, a fifth"] = (
                f"{seconds.loc[table, MODERN] / seconds.loc[table, SMALL]:.1f}"
            )
        rows.append(row)
    return pd.DataFrame(rows)


def _means(losses, shares):
    """Means over tables, and the number of tables on which the modern library is better."""
    modern = losses.get(METHODS[MODERN, SELECTION])
    rows = []
    for title, values in losses.items():
        row = {"method": title, "tables": values.notna().sum(), "log loss": f"{values.mean():.3f}"}
        row["accuracy"] = f"{100 * shares[title].mean():.1f} %"
        if modern is not None:
            gains = (values - modern).dropna()
            is_same = title == METHODS[MODERN, SELECTION]
            row["modern, 5 folds, is better by"] = "" if is_same else mean_and_error(gains, 3)
            wins = f"{(gains > 0).sum()} of {len(gains)}"
            row["on"] = "" if is_same else wins
        rows.append(row)
    return pd.DataFrame(rows)


def _families(lines):
    """Mean weights and seconds of the families in the modern library with folds."""
    part = lines[lines["library"] == MODERN]
    weights = pd.DataFrame(list(part["weights"])).fillna(0.0)
    seconds = pd.DataFrame(list(part["seconds_by_family"])).fillna(0.0)
    times = seconds.div(seconds.sum(axis=1), axis=0)
    is_in = (weights > 0.05).sum()
    return pd.DataFrame(
        {
            "family": name,
            "weight": f"{100 * weights[name].mean():.0f} %",
            "weight above 5 %": f"{is_in[name]} of {len(weights)}",
            "share of the time": f"{100 * times[name].mean():.0f} %",
        }
        for name in weights.mean().sort_values(ascending=False).index
    )


# Two methods, and the claim that the first has the smaller log loss.
_COMPARED = (
    (MODERN, SMALL_FOLDS, "with 5 folds modern beats small"),
    (SHARE, SMALL, "with a fifth held out modern beats small"),
    (MODERN, SHARE, "5 folds beat a fifth held out, of modern"),
    (SMALL_FOLDS, SMALL, "5 folds beat a fifth held out, of small"),
    (MODERN, SMALL, "modern with 5 folds beats small with a fifth held out"),
    (MODERN, MEAN, "modern with 5 folds beats the mean of five default classifiers"),
    (MODERN, LOGISTIC, "and logistic regression"),
    (MODERN, BOOSTING, "and gradient boosting"),
    (MODERN, "its best single model", "and the best single model of the library"),
    (MODERN, "its mean of all models", "and the mean of its models"),
)


def claims(lines):
    """What folds and modern profiles gain in log loss over tables, and what they take."""
    lines = complete(lines)
    losses, rows = by_table(lines, "cross_entropy"), lines.groupby("table")["rows"].first()
    few = rows.index[rows < FEW]
    for one, other, text in _COMPARED:
        if one not in losses or other not in losses:
            continue
        gains = (losses[other] - losses[one]).dropna()
        if len(gains) > 1:
            yield gain_claim(text, OURS, gains, 3, "")
        part = gains[gains.index.isin(few)]
        if (one, other) == (MODERN, SMALL) and 1 < len(part) < len(gains):
            yield gain_claim(f"the same on tables of fewer than {FEW} rows", OURS, part, 3, "")
    seconds = seconds_by_table(lines)
    for other, text, most in (
        (
            SMALL,
            "modern with 5 folds takes a third of the time of small with a fifth held out",
            0.4,
        ),
        (SMALL_FOLDS, "modern takes less time than small, both with 5 folds", 1.0),
    ):
        if {MODERN, other} <= set(seconds):
            ratios = (seconds[MODERN] / seconds[other]).dropna()
            shown = f"{ratios.mean():.1f} times, {ratios.min():.1f} to {ratios.max():.1f}"
            yield Claim(text, OURS, shown, (int((ratios < most).sum()), len(ratios)))
