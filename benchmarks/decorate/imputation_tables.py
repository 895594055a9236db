"""Tables, picture and claims of filled cells."""

import numpy as np
import pandas as pd

from benchmarks.claims import Claim, claims_table, gain_claim
from benchmarks.summary import LEVEL, markdown, means_table
from bnmtl import plotting
from bnmtl.metrics.resampled import resampled_p

CLASSIFIED, BIRDS = "classification", "birds"
COMPLETE, NOTHING, MEANS = "complete cases only", "gaps as they are", "means and modes"
NETWORK, DRAWS, SOFT = "network", "network, five draws", "network, soft counts of draws"
ONE_DRAW = "network, one draw"
SHARES, ALONE, TOGETHER = "shares of the region", "networks alone", "networks together"
COLUMNS = (COMPLETE, NOTHING, MEANS, NETWORK, ONE_DRAW, DRAWS, SOFT, SHARES, ALONE, TOGETHER)


def long(lines, part, *measures):
    """One row per table, number of complete rows, method and fold or trial."""
    rows = [
        (line["table"], line["complete"], line["method"], trial, *values)
        for line in lines[lines["part"] == part].to_dict("records")
        for trial, values in enumerate(zip(*(line[name] for name in measures), strict=True))
    ]
    columns = ["table", "complete", "method", "trial", *measures]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(measures, float))


def tables(lines):
    """Errors of trees and of cells, log-loss of bird cells, and claims."""
    found, present = {}, set(lines["part"]) if len(lines) else set()
    if CLASSIFIED in present:
        cells = _with_one_draw(
            long(lines, CLASSIFIED, "error", "error_of_one", "wrong_cells", "squared_cells")
        )
        for measure, title in (
            ("error", "decorate_imputations"),
            ("wrong_cells", "decorate_imputations_nominal"),
            ("squared_cells", "decorate_imputations_numbers"),
        ):
            table = _by_method(cells.dropna(subset=[measure]), measure)
            if len(table):
                found[title] = markdown(table)
    if BIRDS in present:
        cells = long(lines, BIRDS, "log_loss", "wrong_cells")
        found["decorate_imputations_birds"] = markdown(_by_method(cells, "log_loss"))
    if found:
        found["decorate_imputations_claims"] = claims_table(claims(lines))
    return found


def _with_one_draw(cells):
    """Trees of one draw, and errors of cells for one draw only: others have the same draws."""
    draws = cells[cells["method"] == DRAWS]
    one = draws.assign(method=ONE_DRAW, error=draws["error_of_one"])
    several = cells.copy()
    several.loc[cells["method"].isin([DRAWS, SOFT]), ["wrong_cells", "squared_cells"]] = np.nan
    return pd.concat([several, one], ignore_index=True)


def _by_method(cells, measure):
    """Means by table and number of complete rows, one column per method."""
    rows = []
    for (table, complete), part in cells.groupby(["table", "complete"], sort=False):
        means = part.groupby("method")[measure].mean()
        cells_of_row = {name: f"{means[name]:.4f}" for name in COLUMNS if name in means}
        rows.append({"table": table, "complete": complete} | cells_of_row)
    return pd.DataFrame(rows).fillna("")


def gains(cells, measure, ours, other):
    """Percent by which a measure is smaller than that of another method, by table.

    The mean over numbers of complete rows, whose folds and hidden cells are the same.
    """
    at = cells["table"].astype(str) + "\x1f" + cells["complete"].astype(str)
    wide = means_table(cells.assign(at=at), "at", "method", measure)
    if not {ours, other} <= set(wide):
        return pd.Series(dtype=float)
    found = (100 * (1 - wide[ours] / wide[other])).replace([np.inf, -np.inf], np.nan).dropna()
    return found.groupby(found.index.str.partition("\x1f").get_level_values(0)).mean()


def claims(lines):
    """What filling by networks is worth."""
    measures = "error", "error_of_one", "wrong_cells", "squared_cells"
    trees = long(lines, CLASSIFIED, *measures)
    for cells, measure, ours, other, text in (
        (trees, "wrong_cells", NETWORK, MEANS, "fewer wrong nominal cells than modes"),
        (trees, "squared_cells", NETWORK, MEANS, "smaller squared error of numbers than means"),
        (trees, "error", NETWORK, MEANS, "trees of filled cases err less than with means"),
        (trees, "error", NETWORK, NOTHING, "and than with gaps"),
        (trees, "error", NETWORK, COMPLETE, "and than without the other cases"),
        (
            trees,
            "error_of_one",
            DRAWS,
            NETWORK,
            "one tree of draws better than of expected values",
        ),
        (trees, "error", DRAWS, NETWORK, "and the mean of five trees of draws"),
        (trees, "error", SOFT, NETWORK, "and one tree of soft counts"),
    ):
        found = gains(cells, measure, ours, other)
        if len(found) > 1:
            yield gain_claim(text, "ours", found)
    birds = long(lines, BIRDS, "log_loss")
    if len(birds):
        by = lines[lines["part"] == BIRDS].groupby("table")["shared"].mean()
        birds = birds.assign(shared=birds["table"].map(by))
    for other, text in (
        (SHARES, "networks together better than shares of the region, birds (gain in log-loss)"),
        (ALONE, "and than networks alone"),
    ):
        yield from _of_birds(birds, other, text)


def _of_birds(birds, other, text):
    """A claim about birds, tested over trials, whose complete sites overlap."""
    shown, holding = {}, 0
    for problem, part in birds.groupby("table", sort=False):
        by_trial = part.pivot_table(index="trial", columns="method", values="log_loss")
        if {TOGETHER, other} <= set(by_trial) and len(by_trial) > 1:
            found = (by_trial[other] - by_trial[TOGETHER]).dropna().to_numpy()
            shared = part["shared"].mean()
            p = resampled_p(found, shared / (1 - shared))
            shown[problem] = f"{found.mean():+.4f} (p {p:.3f})"
            holding += bool(found.mean() > 0 and p < LEVEL)
    if shown:
        yield Claim(text, "ours", shown, (holding, len(shown)))


def draw(lines):
    """Errors of trees by percent of complete cases, and log-loss of bird cells by sites."""
    parts = []
    for part, measure in ((CLASSIFIED, "error"), (BIRDS, "log_loss")):
        cells = long(lines, part, measure)
        parts.append(cells.rename(columns={measure: "error"}))
    curves = pd.concat(parts, ignore_index=True)
    curves = curves.rename(columns={"table": "data", "method": "strategy", "complete": "n_labels"})
    xlabel = "complete cases (percent, or sites)"
    return plotting.strategy_curves(curves, xlabel=xlabel, ylabel="error, or log-loss")
