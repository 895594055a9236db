"""Tables, picture and claims of filled cells."""

import numpy as np
import pandas as pd

from benchmarks.claims import claims_table, gain_claim
from benchmarks.summary import markdown, means_table
from bnmtl import plotting

CLASSIFIED, BIRDS = "classification", "birds"
COMPLETE, NOTHING, MEANS = "complete cases only", "gaps as they are", "means and modes"
NETWORK, DRAWS = "network", "network, five draws"
SHARES, ALONE, TOGETHER = "shares of the region", "networks alone", "networks together"


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
        cells = long(lines, CLASSIFIED, "error", "wrong_cells", "squared_cells")
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


def _by_method(cells, measure):
    """Means by table and number of complete rows, one column per method."""
    rows = []
    for (table, complete), part in cells.groupby(["table", "complete"], sort=False):
        means = part.groupby("method", sort=False)[measure].mean()
        rows.append({"table": table, "complete": complete} | means.map("{:.4f}".format).to_dict())
    return pd.DataFrame(rows).fillna("")


def gains(cells, measure, ours, other):
    """Percent by which a measure is smaller than that of another method, by table and number."""
    at = cells["table"].astype(str) + ", " + cells["complete"].astype(str)
    wide = means_table(cells.assign(at=at), "at", "method", measure)
    if not {ours, other} <= set(wide):
        return pd.Series(dtype=float)
    return (100 * (1 - wide[ours] / wide[other])).replace([np.inf, -np.inf], np.nan).dropna()


def claims(lines):
    """What filling by networks is worth."""
    trees = long(lines, CLASSIFIED, "error", "wrong_cells", "squared_cells")
    birds = long(lines, BIRDS, "log_loss", "wrong_cells")
    for cells, measure, ours, other, text in (
        (trees, "wrong_cells", NETWORK, MEANS, "fewer wrong nominal cells than modes"),
        (trees, "squared_cells", NETWORK, MEANS, "smaller squared error of numbers than means"),
        (trees, "error", NETWORK, MEANS, "trees of filled cases err less than with means"),
        (trees, "error", NETWORK, NOTHING, "and than with gaps"),
        (trees, "error", DRAWS, NETWORK, "draws are better than expected values"),
        (birds, "log_loss", TOGETHER, SHARES, "networks together better than shares, birds"),
        (birds, "log_loss", TOGETHER, ALONE, "and than networks alone"),
    ):
        found = gains(cells, measure, ours, other)
        if len(found) > 1:
            yield gain_claim(text, "ours", found)


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
