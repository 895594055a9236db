"""Tables 4.2 - 4.16 of Melville's thesis from the lines of the learning curves."""

import numpy as np
import pandas as pd

from benchmarks.decorate.curve_values import (
    MORE_TABLES,
    N_FOLDS,
    PUBLISHED_AT_FULL_SIZE,
    paired,
    record,
    values_of,
)
from benchmarks.decorate.learners import BASE, DECORATE
from benchmarks.summary import LEVEL, markdown
from bnmtl.metrics.resampled import resampled_p

RIVALS = (BASE, "bagging", "forest", "AdaBoost")
PERCENTS = tuple(f"{one}%" for one in (1, 2, 5, 10, 20, 30, 40, 50, 75, 100))
SHOWN = ("1%", "5%", "20%", "100%")
FEW = tuple(f"{one} cases" for one in (10, 15, 20, 25, 30))
# Published geometric mean error ratios of DECORATE by percent (tables 4.2 - 4.5).
PUBLISHED = {
    BASE: (0.8627, 0.8661, 0.8099, 0.8104, 0.8172, 0.8056, 0.8081, 0.8251, 0.8173, 0.8303),
    "bagging": (0.8727, 0.8785, 0.8552, 0.8655, 0.8995, 0.9036, 0.8979, 0.9214, 0.9312, 0.9570),
    "forest": (0.8603, 0.8495, 0.7814, 0.7433, 0.7486, 0.7763, 0.7915, 0.8203, 0.8171, 0.8364),
    "AdaBoost": (0.8812, 0.8937, 0.8829, 0.9104, 0.9407, 0.9598, 0.9908, 0.9957, 1.0377, 1.0964),
}
# Other artificial cases, no rejection and another base: against what (tables 4.8 - 4.16).
VARIANTS = {
    "unlabeled": (BASE, "pool", DECORATE),
    "pool": (BASE, DECORATE),
    "uniform": (BASE, DECORATE),
    "no rejection": (DECORATE, BASE, "bagging", "AdaBoost"),
    "network": (BASE, DECORATE),
    "of full trees": ("full tree", DECORATE),
}
# Published ratios of the variants, by percent.
_PERCENTS_15 = ("5%", "10%", "15%", "20%", "30%", "40%", "50%")
PUBLISHED_VARIANTS = {
    ("unlabeled", BASE): (_PERCENTS_15, (0.9337, 0.9726, 0.9675, 0.9664, 0.9426, 0.9187, 0.9234)),
    ("unlabeled", "pool"): (_PERCENTS_15, (1.151, 1.1733, 1.2003, 1.1857, 1.170, 1.1357, 1.1095)),
    # As printed, near 1 beside records such as 0/0/15: they fit "pool" against DECORATE.
    ("unlabeled", DECORATE): (
        _PERCENTS_15,
        (1.0066, 1.024, 1.0054, 1.0061, 0.9997, 1.0215, 1.0167),
    ),
    ("uniform", BASE): (
        PERCENTS,
        (0.868, 0.8623, 0.8373, 0.8423, 0.8447, 0.8583, 0.845, 0.8781, 0.857, 0.8889),
    ),
    ("uniform", DECORATE): (
        PERCENTS,
        (1.0131, 1.0222, 1.039, 1.0405, 1.0427, 1.065, 1.067, 1.0727, 1.0377, 1.0975),
    ),
    ("no rejection", DECORATE): (
        PERCENTS,
        (1.0005, 1.0014, 1.0151, 1.0278, 1.0251, 1.0263, 1.0224, 1.0182, 1.0189, 1.014),
    ),
    ("no rejection", BASE): (
        PERCENTS,
        (0.9036, 0.8801, 0.9284, 0.9679, 0.9751, 0.9806, 0.9788, 0.9818, 0.9869, 0.9825),
    ),
    ("no rejection", "bagging"): (
        PERCENTS,
        (0.8834, 0.8841, 0.9462, 0.9929, 1.005, 1.0093, 1.0061, 1.0075, 1.0095, 1.0062),
    ),
    ("no rejection", "AdaBoost"): (
        PERCENTS,
        (0.9194, 0.8949, 0.9576, 0.9967, 1.009, 1.0148, 1.0166, 1.015, 1.0212, 1.0153),
    ),
}
_WITH_15 = ("1%", "2%", "5%", "10%", "15%", "20%", "30%", "40%", "50%", "75%", "100%")


def tables(lines):
    """All tables as Markdown, by name; those without lines are left out."""
    found = {}
    if not len(lines):
        return found
    curves = lines[~lines["table"].isin(MORE_TABLES)]
    if len(curves):
        found["decorate_curves"] = markdown(_records(curves))
        found["decorate_curves_accuracy"] = markdown(_accuracies(curves))
        variants = [one for one in VARIANTS if (curves["method"] == one).any()]
        if variants:
            found["decorate_curves_variants"] = markdown(_variants(curves, variants))
        if "network" in variants:
            found["decorate_curves_network"] = markdown(_of_network(curves))
        sizes = _artificial_sizes(curves)
        if len(sizes):
            found["decorate_curves_artificial"] = markdown(sizes)
        found["decorate_curves_diversity"] = markdown(_diversity(curves))
    found["decorate_curves_full_size"] = markdown(_full_size(lines))
    return found


def _records(lines):
    """Win/draw/loss records and error ratios of DECORATE by percent of the training cases."""
    rows = []
    for rival in RIVALS:
        made = [record(lines, DECORATE, rival, percent).texts() for percent in PERCENTS]
        names = ("wins/draws/losses", "significant", "significant, corrected", "error ratio")
        for at, name in enumerate(names):
            cells = dict(zip(PERCENTS, (one[at] for one in made), strict=True))
            rows.append({"DECORATE against": rival, "": name} | cells)
        ratios = (f"{one:.3f}" for one in PUBLISHED[rival])
        cells = dict(zip(PERCENTS, ratios, strict=True))
        rows.append({"DECORATE against": rival, "": "published ratio"} | cells)
    return pd.DataFrame(rows)


def _accuracies(lines):
    """Mean accuracies by table, at some points, and what the most frequent class has."""
    rows = []
    for table, part in lines.groupby("table", sort=False):
        row = {"table": table, "most frequent class": f"{100 * part['most_frequent'].iloc[0]:.1f}"}
        for percent in SHOWN:
            cells = []
            for method in (DECORATE, *RIVALS):
                found = values_of(part, method, percent).get(table)
                mean = np.mean([one.mean() for one in found.values()]) if found else np.nan
                cells.append("" if np.isnan(mean) else f"{100 * (1 - mean):.1f}")
            row[f"{percent}: DECORATE, {', '.join(RIVALS)}"] = " / ".join(cells)
        rows.append(row)
    return pd.DataFrame(rows)


def _variants(lines, variants):
    """Significant records and error ratios of the variants of DECORATE against their rivals."""
    rows = []
    for variant in variants:
        for rival in VARIANTS[variant]:
            row = {"method": variant, "against": rival}
            for percent in _WITH_15:
                found = record(lines, variant, rival, percent)
                _, plain, _, ratio = found.texts()
                row[percent] = f"{plain}, {ratio}" if found.n else ""
            rows.append(row)
            if (variant, rival) in PUBLISHED_VARIANTS:
                percents, ratios = PUBLISHED_VARIANTS[variant, rival]
                shown = dict(zip(percents, (f"{one:.3f}" for one in ratios), strict=True))
                rows.append({"method": variant, "against": "published ratio"} | shown)
    return pd.DataFrame(rows).fillna("")


def _of_network(lines):
    """Error of cases from learned networks relative to that of the marginals, by table."""
    rows = {}
    for percent in PERCENTS:
        for table, (ours, other) in paired(lines, "network", DECORATE, percent).items():
            star = "*" if resampled_p(ours - other, 1 / (N_FOLDS - 1)) < LEVEL else ""
            ratio = f"{ours.mean() / other.mean():.2f}{star}" if other.any() else ""
            rows.setdefault(table, {"network against marginals": table})[percent] = ratio
    return pd.DataFrame(list(rows.values())).fillna("")


def size_ratios(lines, point):
    """Error relative to DECORATE's with as many artificial cases as cases, by their share."""
    names = [one for one in lines["method"].unique() if one.startswith("size ")]
    found = {float(name.split()[1]): record(lines, name, DECORATE, point) for name in names}
    return {share: one.ratio for share, one in sorted(found.items()) if one.n}


def _artificial_sizes(lines):
    """Error relative to DECORATE's by the number of artificial cases per case."""
    rows = []
    for point in ("20%", "100%"):
        ratios = size_ratios(lines, point)
        if ratios:
            cells = {f"{share:g}": f"{ratio:.3f}" for share, ratio in ratios.items()}
            rows.append({"artificial cases per case": point} | cells | {"1": "1"})
    return pd.DataFrame(rows)


def _diversity(lines):
    """Significant records of diversity with few cases (table 4.7)."""
    rows = []
    for rival in ("bagging", "AdaBoost"):
        row = {"more diverse than": rival}
        for point in FEW:
            found = record(lines, DECORATE, rival, point, "diversity", sign=-1)
            row[point] = found.texts()[1]
        rows.append(row)
    return pd.DataFrame(rows)


def at_full_size(lines):
    """Errors with all cases of DECORATE ("ours") and AdaBoost ("other") by table, and p values."""
    return {
        table: {
            "ours": ours,
            "other": other,
            "plain": resampled_p(other - ours, 0.0),
            "corrected": resampled_p(other - ours, 1 / (N_FOLDS - 1)),
        }
        for table, (ours, other) in paired(lines, DECORATE, "AdaBoost", "100%").items()
    }


def _full_size(lines):
    """Accuracies with all training cases (table 4.6)."""
    trees = values_of(lines, BASE, "100%")
    most_frequent = lines.groupby("table")["most_frequent"].first()
    rows = []
    for table, found in at_full_size(lines).items():
        base = np.mean([one.mean() for one in trees[table].values()]) if table in trees else np.nan
        published = PUBLISHED_AT_FULL_SIZE.get(table, ("", ""))
        rows.append(
            {
                "table": table,
                "most frequent class": f"{100 * most_frequent[table]:.1f}",
                BASE: f"{100 * (1 - base):.1f}",
                "AdaBoost": f"{100 * (1 - found['other'].mean()):.1f}",
                DECORATE: f"{100 * (1 - found['ours'].mean()):.1f}",
                "p": f"{found['plain']:.3f}",
                "p, corrected": f"{found['corrected']:.3f}",
                "published AdaBoost": published[0],
                f"published {DECORATE}": published[1],
            }
        )
    return pd.DataFrame(rows)
