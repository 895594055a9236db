"""Curves of visits: log-loss by number of visits, visits needed, and claims."""

import numpy as np
import pandas as pd

from benchmarks.claims import Claim, claims_table
from benchmarks.summary import LEVEL, markdown
from bnmtl import plotting
from bnmtl.metrics.resampled import resampled_p

RANDOM_ALONE = "random sites, each region alone"
RANDOM_TOGETHER = "random sites, regions together"
ALONE_ALONE = "asked alone, predicted alone"
ALONE_TOGETHER = "asked alone, predicted together"
TOGETHER = "asked and predicted together"
LARGEST = "asked together for the largest utilities"
LONGER = "asked and predicted together, longer search"
SINGLE = (RANDOM_ALONE, ALONE_ALONE)
TEST_SHARE = 1 / 3


def long(lines):
    """One row per problem, strategy, trial and number of visits."""
    rows = [
        (line["problem"], line["strategy"], line["trial"], n, loss, shares)
        for line in lines.to_dict("records")
        for n, loss, shares in zip(
            line["n_labels"], line["log_loss"], line["log_loss_of_shares"], strict=True
        )
    ]
    columns = ["data", "strategy", "trial", "n_labels", "log_loss", "shares"]
    return pd.DataFrame(rows, columns=columns)


def tables(lines):
    """Log-loss by visits, visits needed, and the claims."""
    if not len(lines):
        return {}
    curves = long(lines)
    return {
        "decorate_visits": markdown(_losses(curves)),
        "decorate_visits_needed": markdown(_needed_table(curves)),
        "decorate_visits_claims": claims_table(claims(lines)),
    }


def _losses(curves):
    """Mean log-loss by number of visits."""
    rows = []
    for problem, part in curves.groupby("data", sort=False):
        wide = part.pivot_table(index="strategy", columns="n_labels", values="log_loss", sort=False)
        shown = wide.columns[:: max(1, (len(wide.columns) - 1) // 4)]
        shares = part.groupby("n_labels")["shares"].mean()
        base = {f"point {at}": f"{n}: {shares[n]:.3f}" for at, n in enumerate(shown)}
        rows.append({"sites": problem, "strategy": "shares of the visits"} | base)
        for name, losses in wide.iterrows():
            cells = {f"point {at}": f"{n}: {losses[n]:.3f}" for at, n in enumerate(shown)}
            rows.append({"sites": problem, "strategy": name} | cells)
    return pd.DataFrame(rows).fillna("")


def needed(curves):
    """Visits until a strategy's mean log-loss is that of the best single-task strategy at its end.

    Returns
    -------
    pandas.DataFrame
        Columns problem, strategy, target and visits (NaN if never).
    """
    rows = []
    for problem, part in curves.groupby("data", sort=False):
        means = part.groupby(["strategy", "n_labels"])["log_loss"].mean().unstack("strategy")
        single = [name for name in SINGLE if name in means]
        if not single:
            continue
        target = means[single].iloc[-1].min()
        for name in means:
            reached = means.index[means[name] <= target]
            rows.append((problem, name, target, float(reached[0]) if len(reached) else np.nan))
    return pd.DataFrame(rows, columns=["problem", "strategy", "target", "visits"])


def _needed_table(curves):
    rows = []
    for problem, part in needed(curves).groupby("problem", sort=False):
        row = {"sites": problem, "target log-loss": f"{part['target'].iloc[0]:.3f}"}
        for name, visits in zip(part["strategy"], part["visits"], strict=True):
            row[name] = "-" if np.isnan(visits) else f"{visits:.0f}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _gain(curves, problem, first, second):
    """Mean difference of log-loss along the curve by trial: positive if the first is better."""
    part = curves[curves["data"] == problem]
    means = part.groupby(["strategy", "trial"])["log_loss"].mean().unstack("strategy")
    if not {first, second} <= set(means):
        return np.zeros(0)
    return (means[second] - means[first]).dropna().to_numpy()


def claims(lines):
    """Ours: what learning together, and asking together, are worth."""
    curves = long(lines)
    for first, second, text in (
        (TOGETHER, ALONE_ALONE, "together throughout better than alone throughout"),
        (TOGETHER, RANDOM_TOGETHER, "asking together better than random sites"),
        (TOGETHER, ALONE_TOGETHER, "asking together better than asking alone"),
        (RANDOM_TOGETHER, RANDOM_ALONE, "predicting together better than alone, random sites"),
        (TOGETHER, LARGEST, "drawing sites better than taking those with the largest utilities"),
        (LONGER, TOGETHER, "a longer search for each member is better"),
    ):
        shown, holding, n = {}, 0, 0
        for problem in curves["data"].unique():
            found = _gain(curves, problem, first, second)
            if len(found) > 1:
                # Trials share sites.
                p = resampled_p(found, TEST_SHARE / (1 - TEST_SHARE))
                shown[problem] = f"{found.mean():+.4f} (p {p:.3f})"
                holding += bool(found.mean() > 0 and p < LEVEL)
                n += 1
        yield Claim(f"{text} (gain in log-loss)", "ours", shown, (holding, n))
    visits = needed(curves)
    wide = visits.pivot(index="problem", columns="strategy", values="visits").fillna(np.inf)
    if {TOGETHER, *SINGLE} <= set(wide):
        shown = {
            name: f"{row[TOGETHER]:.0f} of {row[list(SINGLE)].min():.0f}".replace("inf", "never")
            for name, row in wide.iterrows()
        }
        wins = int((wide[TOGETHER] < wide[list(SINGLE)].min(axis=1)).sum())
        text = "fewer visits than the best single-task strategy for its final log-loss"
        yield Claim(text, "ours", shown, (wins, len(wide)))


def draw(lines):
    """Log-loss by number of visits, one panel per problem."""
    return plotting.strategy_curves(long(lines), "log_loss", xlabel="visits")
