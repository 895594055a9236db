"""Tables and picture of ensembles of probability trees."""

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.summary import LEVEL, markdown
from bnmtl import plotting
from bnmtl.metrics.resampled import resampled_p

B_PETS, EB_PETS, MOB_ESP = "B-PETs", "EB-PETs", "MOB-ESP"
FOREST, CALIBRATED, NETWORK = "forest", "forest, calibrated", "network"
NOTHING = "class shares"
# Measures, and 1 if larger values are better.
MEASURES = {"mse": -1, "log_loss": -1, "log_loss_eps": -1, "lift_area": 1, "accuracy": 1}
TITLES = {
    "mse": "squared error",
    "log_loss": "log-loss",
    "log_loss_eps": "log-loss (epsilon)",
    "lift_area": "lift area",
    "accuracy": "accuracy",
}
RATIO = 1 / 9  # test cases per training case
# Comparisons of the paper, and ours.
PAIRS = (
    (EB_PETS, B_PETS),
    (MOB_ESP, B_PETS),
    (MOB_ESP, EB_PETS),
    (f"{B_PETS}, out-of-bag cases", B_PETS),
    (f"{B_PETS}, no smoothing", B_PETS),
    (f"{B_PETS}, random features", B_PETS),
    (EB_PETS, f"{EB_PETS}, no out-of-bag cases"),
    (EB_PETS, f"{EB_PETS}, smoothing"),
    (EB_PETS, f"{EB_PETS}, all features"),
    (f"{MOB_ESP}, weight 2", MOB_ESP),
    (f"{MOB_ESP}, weight 4", MOB_ESP),
    (MOB_ESP, FOREST),
    (MOB_ESP, CALIBRATED),
    (MOB_ESP, NETWORK),
    (MOB_ESP, NOTHING),
    (NETWORK, NOTHING),
)


def values_of(lines, method, measure):
    """By table, the values of a method over the shares held out."""
    chosen = lines[lines["method"] == method]
    return {
        table: np.array(values, dtype=float)
        for table, values in zip(chosen["table"], chosen[measure], strict=True)
    }


def gains(lines, first, second, measure):
    """By table, how much better the first method is on each share that both have."""
    ours, other = (values_of(lines, one, measure) for one in (first, second))
    found = {}
    for table in ours:
        if table in other:
            n = min(len(ours[table]), len(other[table]))
            found[table] = MEASURES[measure] * (ours[table][:n] - other[table][:n])
    return found


def record(lines, first, second, measure):
    """Tables on which the first is better, equal, worse; the same beyond chance; and corrected."""
    counts = []
    by_table = gains(lines, first, second, measure)
    for ratio in (None, 0.0, RATIO):
        signs = [
            int(np.sign(round(one.mean(), 9))) * (ratio is None or resampled_p(one, ratio) < LEVEL)
            for one in by_table.values()
        ]
        counts.append((signs.count(1), signs.count(0), signs.count(-1)))
    return counts


def tables(lines):
    """Means and ranks of the methods, records of pairs, and shares of clipped cases."""
    if not len(lines):
        return {}
    found = {
        "mob_esp": markdown(_means(lines)),
        "mob_esp_records": markdown(_records(lines)),
        "mob_esp_clipped": markdown(_clipped(lines)),
    }
    return found


def complete(lines):
    """Methods and tables of which all pairs were measured: means of each, by measure."""
    found = {}
    for measure in MEASURES:
        wide = pd.DataFrame(
            {
                method: {
                    table: one.mean() for table, one in values_of(lines, method, measure).items()
                }
                for method in lines["method"].unique()
            }
        )
        found[measure] = wide.dropna()
    return found


def _means(lines):
    """Means over tables and mean ranks by each measure, with Friedman's test.

    What knowing nothing gives has no rank.
    """
    means = complete(lines)
    rivals = {
        measure: wide.drop(columns=NOTHING, errors="ignore") for measure, wide in means.items()
    }
    ranks = {
        measure: (-MEASURES[measure] * wide).rank(axis=1).mean() for measure, wide in rivals.items()
    }
    rows = []
    for method in lines["method"].unique():
        row = {"method": method}
        for measure, wide in means.items():
            row[TITLES[measure]] = f"{wide[method].mean():.4f}" if len(wide) else ""
            rank = ranks[measure].get(method) if len(wide) else None
            row[f"rank by {TITLES[measure]}"] = "" if rank is None else f"{rank:.1f}"
        rows.append(row)
    last = {"method": "p of Friedman's test"}
    for measure, wide in rivals.items():
        last |= {TITLES[measure]: "", f"rank by {TITLES[measure]}": _friedman(wide)}
    return pd.DataFrame([*rows, last])


def _friedman(wide):
    """The p value that all methods are alike, as text."""
    if len(wide) < 3 or wide.shape[1] < 3:
        return ""
    return f"{stats.friedmanchisquare(*(wide[one] for one in wide)).pvalue:.1g}"


def _records(lines):
    """Wins, draws and losses of pairs of methods, by measure; those beyond chance in brackets."""
    rows = []
    for first, second in PAIRS:
        row = {"first": first, "second": second}
        for measure, title in TITLES.items():
            every, plain, corrected = record(lines, first, second, measure)
            if sum(every):
                pairs = (f"{one[0]}:{one[2]}" for one in (plain, corrected))
                row[title] = f"{_text(every)} ({', '.join(pairs)})"
        if len(row) > 2:
            rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _clipped(lines):
    """Share of the cases whose class has a probability below 1 / (2 n)."""
    rows = [
        {"method": method, "clipped (%)": f"{100 * np.mean(list(map(np.mean, values))):.2f}"}
        for method in lines["method"].unique()
        if (values := list(values_of(lines, method, "clipped").values()))
    ]
    return pd.DataFrame(rows)


def _text(counts):
    return "/".join(map(str, counts))


def draw(lines):
    """Squared errors of MOB-ESP and of B-PETs, a dot per table."""
    means = complete(lines[lines["method"].isin([MOB_ESP, B_PETS])])["mse"]
    table = means.rename_axis("data").reset_index()
    return plotting.method_scatter(table, B_PETS, MOB_ESP)
