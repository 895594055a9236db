"""Tables, picture and claims of ensembles of probability trees."""

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.claims import Claim, claims_table
from benchmarks.summary import LEVEL, markdown
from bnmtl import plotting
from bnmtl.metrics.resampled import resampled_p

B_PETS, EB_PETS, MOB_ESP = "B-PETs", "EB-PETs", "MOB-ESP"
FOREST, CALIBRATED, NETWORK = "forest", "forest, calibrated", "network"
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
_FEWEST = 6  # tables for an answer to a claim
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
    """Means and ranks of the methods, records of pairs, and the claims."""
    if not len(lines):
        return {}
    found = {
        "mob_esp": markdown(_means(lines)),
        "mob_esp_records": markdown(_records(lines)),
        "mob_esp_clipped": markdown(_clipped(lines)),
    }
    answered = list(claims(lines))
    return found | ({"mob_esp_claims": claims_table(answered)} if answered else {})


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
    """Means over tables and mean ranks by each measure, with Friedman's test."""
    means = complete(lines)
    ranks = {
        measure: (-MEASURES[measure] * wide).rank(axis=1).mean() for measure, wide in means.items()
    }
    rows = []
    for method in lines["method"].unique():
        row = {"method": method}
        for measure, wide in means.items():
            row[TITLES[measure]] = f"{wide[method].mean():.4f}" if len(wide) else ""
            row[f"rank by {TITLES[measure]}"] = f"{ranks[measure][method]:.1f}" if len(wide) else ""
        rows.append(row)
    last = {"method": "p of Friedman's test"}
    for measure, wide in means.items():
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


def claims(lines):
    """The claims of the paper that the lines can answer."""
    average, all_of_them = ("mse", "log_loss"), ("mse", "log_loss", "lift_area", "accuracy")
    yield from _better(lines, "EB-PETs better than B-PETs", EB_PETS, B_PETS, all_of_them)
    yield from _better(lines, "MOB-ESP better than EB-PETs", MOB_ESP, EB_PETS, average)
    yield from _better(
        lines, "MOB-ESP better than B-PETs", MOB_ESP, B_PETS, (*average, "lift_area")
    )
    yield from _better(lines, "EB-PETs better than MOB-ESP", EB_PETS, MOB_ESP, ("lift_area",))
    yield from _best_enhancement(lines)
    without = f"{B_PETS}, no smoothing"
    every = (*average, "log_loss_eps")
    yield from _better(lines, "no smoothing helps B-PETs", without, B_PETS, every)
    yield from _worse(lines, "and not otherwise", without, B_PETS, ("lift_area", "accuracy"))
    random = f"{B_PETS}, random features"
    yield from _better(
        lines, "random features help B-PETs", random, B_PETS, ("lift_area", "accuracy")
    )
    yield from _worse(lines, "and not otherwise", random, B_PETS, average)
    for without in ("smoothing", "all features"):
        name = f"{EB_PETS}, {without}"
        measures = (*all_of_them, "log_loss_eps") if without == "smoothing" else all_of_them
        yield from _better(lines, f"EB-PETs better than with {without}", EB_PETS, name, measures)
    name = f"{EB_PETS}, no out-of-bag cases"
    text = "EB-PETs better than without out-of-bag cases"
    yield from _better(lines, text, EB_PETS, name, ("mse", "log_loss", "accuracy"))
    yield from _worse(lines, "and not otherwise", EB_PETS, name, ("lift_area",))
    yield from _better(lines, "ours: MOB-ESP better than a forest", MOB_ESP, FOREST, all_of_them)
    text = "ours: MOB-ESP better than a calibrated forest"
    yield from _better(lines, text, MOB_ESP, CALIBRATED, all_of_them)


def _tests(lines, first, second, measures):
    """Of each measure the record, and the p value of Wilcoxon's test over tables."""
    for measure in measures:
        means = np.array([one.mean() for one in gains(lines, first, second, measure).values()])
        if len(means) >= _FEWEST and means.any():
            every = record(lines, first, second, measure)[0]
            yield (
                TITLES[measure],
                every,
                float(stats.wilcoxon(means).pvalue),
                float(np.median(means)),
            )


def _better(lines, text, first, second, measures):
    """That the first is better by each of some measures, beyond chance over tables."""
    found = list(_tests(lines, first, second, measures))
    if found:
        shown = {title: f"{_text(every)} (p {p:.3f})" for title, every, p, _ in found}
        holding = sum(p < LEVEL and every[0] > every[2] for _, every, p, _ in found)
        yield Claim(text, "yes", shown, (holding, len(found)))


def _worse(lines, text, first, second, measures):
    """That the first is not better by some measures, beyond chance over tables."""
    found = list(_tests(lines, first, second, measures))
    if found:
        shown = {title: f"{_text(every)} (p {p:.3f})" for title, every, p, _ in found}
        holding = sum(not (p < LEVEL and every[0] > every[2]) for _, every, p, _ in found)
        yield Claim(text, "yes", shown, (holding, len(found)))


def _best_enhancement(lines):
    """Which enhancement lowers the squared error of B-PETs most."""
    names = ("out-of-bag cases", "no smoothing", "random features")
    medians = {
        name: np.mean([one.mean() for one in found.values()])
        for name in names
        if len(found := gains(lines, f"{B_PETS}, {name}", B_PETS, "mse")) >= _FEWEST
    }
    if len(medians) == len(names):
        shown = {f"{name}:": f"{value:+.4f}" for name, value in medians.items()}
        best = max(medians, key=medians.get) == "out-of-bag cases"
        yield Claim("out-of-bag cases help B-PETs most, squared error", "yes", shown, best)


def draw(lines):
    """Squared errors of MOB-ESP and of B-PETs, a dot per table."""
    means = complete(lines[lines["method"].isin([MOB_ESP, B_PETS])])["mse"]
    table = means.rename_axis("data").reset_index()
    return plotting.method_scatter(table, B_PETS, MOB_ESP)
