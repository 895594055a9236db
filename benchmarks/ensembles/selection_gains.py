"""Gains of the study of ensembles in percent: of what is left to perfection, and by cause."""

import pandas as pd

from benchmarks.ensembles.analyses import LOSSES, METRICS
from benchmarks.ensembles.selection_values import MEAN, means


def perfect(metric, base_rate):
    """The value of perfect predictions."""
    if metric in LOSSES:
        return 0.0
    return min(4.0, 1 / base_rate) if metric == "lift" else 1.0


def loss_reduction(table, rates, ours, other):
    """By how many percent a method is nearer to perfect predictions than another (table 4.3).

    Parameters
    ----------
    table : DataFrame
        From `selection_values.long`.
    rates : Series by problem
        Base rates.
    ours, other : str
        Methods, from libraries of raw and calibrated models.

    Returns
    -------
    DataFrame
        Problems by metrics, and the mean of the metrics. It is nan where the other method is
        perfect.
    """
    values, others = (means(table, method, of="value") for method in (ours, other))
    best = pd.DataFrame(
        {
            metric: {problem: perfect(metric, rate) for problem, rate in rates.items()}
            for metric in METRICS
        }
    ).reindex(others.index)
    room = (best - others[list(METRICS)]).replace(0.0, float("nan"))
    found = 100 * (values[list(METRICS)] - others[list(METRICS)]) / room
    return found.assign(**{MEAN: found.mean(axis=1)})


def causes(table):
    """Percent of the gain by embedded cross-validation that either cause gives alone (table 4.4).

    Returns
    -------
    DataFrame
        More cases of hill climbing, averaged siblings and the sum of both, by metric: ratios of
        mean scores over problems. It is nan where cross-validation gains nothing.
    """
    plain = means(table, "selected")
    gain = (means(table, "cv selected") - plain).mean()
    gain = gain.where(gain > 0)
    found = {
        name: 100 * (means(table, method) - plain).mean() / gain
        for name, method in (("more cases", "cv more cases"), ("siblings", "cv siblings"))
    }
    return pd.DataFrame(found | {"sum": sum(found.values())}).T
