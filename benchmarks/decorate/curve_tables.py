"""Tables 4.2 - 4.16 of Melville's thesis from the lines of the learning curves, and the claims."""

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.claims import Claim, claims_table
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
VARIANTS = ("uniform", "pool", "unlabeled", "network", "no rejection", "of full trees")


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
        sizes = _artificial_sizes(curves)
        if len(sizes):
            found["decorate_curves_artificial"] = markdown(sizes)
        found["decorate_curves_diversity"] = markdown(_diversity(curves))
    found["decorate_curves_full_size"] = markdown(_full_size(lines))
    found["decorate_curves_claims"] = claims_table(claims(lines))
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
                found = values_of(lines, method, percent).get(table)
                mean = np.mean([one.mean() for one in found.values()]) if found else np.nan
                cells.append("" if np.isnan(mean) else f"{100 * (1 - mean):.1f}")
            row[f"{percent}: DECORATE, {', '.join(RIVALS)}"] = " / ".join(cells)
        rows.append(row)
    return pd.DataFrame(rows)


def _variants(lines, variants):
    """Other artificial cases, no rejection and other bases, against DECORATE and the tree."""
    rows = []
    for variant in variants:
        for rival in (DECORATE, BASE):
            row = {"method": variant, "against": rival}
            for percent in ("5%", "10%", "20%", "50%", "100%"):
                found = record(lines, variant, rival, percent)
                _, plain, _, ratio = found.texts()
                row[percent] = f"{plain}, {ratio}" if found.n else ""
            rows.append(row)
    return pd.DataFrame(rows)


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


def _at_full_size(lines):
    """By table, the errors of DECORATE and AdaBoost with all cases, and the p value between."""
    pairs = paired(lines, DECORATE, "AdaBoost", "100%")
    return {
        table: (ours, other, resampled_p(other - ours, 1 / (N_FOLDS - 1)))
        for table, (ours, other) in pairs.items()
    }


def _full_size(lines):
    """Accuracies with all training cases (table 4.6)."""
    trees = values_of(lines, BASE, "100%")
    most_frequent = lines.groupby("table")["most_frequent"].first()
    rows = []
    for table, (ours, other, p) in _at_full_size(lines).items():
        base = np.mean([one.mean() for one in trees[table].values()]) if table in trees else np.nan
        published = PUBLISHED_AT_FULL_SIZE.get(table, ("", ""))
        rows.append(
            {
                "table": table,
                "most frequent class": f"{100 * most_frequent[table]:.1f}",
                BASE: f"{100 * (1 - base):.1f}",
                "AdaBoost": f"{100 * (1 - other.mean()):.1f}",
                DECORATE: f"{100 * (1 - ours.mean()):.1f}",
                "p, corrected": f"{p:.3f}",
                "published AdaBoost": published[0],
                f"published {DECORATE}": published[1],
            }
        )
    return pd.DataFrame(rows)


def correlations(lines):
    """Rank correlations of diversity with the error reductions, over folds, tables and sizes.

    Returns
    -------
    dict of str to (float, int)
        Against the mean error of the members, and against the error of the base.
    """
    spread, over_members, over_base = [], [], []
    sizes = [one for one in lines["method"].unique() if one.startswith("size ")]
    for method in (*sizes, DECORATE):
        for percent in ("20%", "100%"):
            errors, base = (values_of(lines, one, percent) for one in (method, BASE))
            diverse, members = (
                values_of(lines, method, percent, value) for value in ("diversity", "member_error")
            )
            for table, repeats in errors.items():
                known = (set(one.get(table, {})) for one in (base, diverse, members))
                for repeat in set(repeats).intersection(*known):
                    ours = repeats[repeat]
                    spread += diverse[table][repeat].tolist()
                    over_members += (members[table][repeat] - ours).tolist()
                    over_base += (base[table][repeat] - ours).tolist()
    named = {"members": over_members, "base": over_base}
    return {
        name: (float(stats.spearmanr(spread, values).statistic), len(spread))
        for name, values in named.items()
        if len(spread) > 2
    }


def claims(lines):
    """The claims of chapter 4 that the lines can answer."""
    full, lines = _at_full_size(lines), lines[~lines["table"].isin(MORE_TABLES)]
    few, many = ("1%", "2%", "5%", "10%", "20%"), ("75%", "100%")
    for rival in RIVALS:
        yield _claim(lines, rival, few, f"better than {rival} with few cases", "yes")
    yield _claim(lines, BASE, PERCENTS, "better than its base at all sizes", "yes")
    found = [record(lines, DECORATE, "AdaBoost", percent) for percent in many]
    if any(one.n for one in found):
        ratios = {
            percent: f"{one.ratio:.3f}" for percent, one in zip(many, found, strict=True) if one.n
        }
        text = "AdaBoost ahead with all cases on average"
        yield Claim(text, "1.04, 1.10", ratios, all(one.ratio > 1 for one in found if one.n))
    if full:
        won, lost = (
            sum(
                p < LEVEL and sign * (other.mean() - ours.mean()) > 0
                for ours, other, p in full.values()
            )
            for sign in (1, -1)
        )
        text = "with all cases, level with AdaBoost on most tables"
        shown = f"{won}/{len(full) - won - lost}/{lost}"
        yield Claim(text, "4/25/4", shown, 2 * (won + lost) < len(full))
    yield from _of_variants(lines)
    ratios = size_ratios(lines, "20%")
    if ratios:
        many = [ratio for share, ratio in ratios.items() if share >= 0.5]
        few = min(ratios)
        shown = {f"{share:g}": f"{ratio:.3f}" for share, ratio in ratios.items()}
        holds = bool(max(abs(ratio - 1) for ratio in many) < 0.02 < ratios[few] - 1)
        yield Claim("half to one artificial case per case alike, less hurts", "yes", shown, holds)
    for name, (value, n) in correlations(lines).items():
        published = {"members": "0.66", "base": "0.16"}[name]
        text = f"diversity goes with error reduction, against the {name}'s error"
        yield Claim(text, published, f"{value:.2f} of {n}", value > 0)


def _claim(lines, rival, points, text, published):
    found = {point: record(lines, DECORATE, rival, point) for point in points}
    ratios = {point: f"{one.ratio:.3f}" for point, one in found.items() if one.n}
    better = sum(one.ratio < 1 for one in found.values() if one.n)
    return Claim(text, published, ratios, (better, len(ratios)))


def _of_variants(lines):
    words = {
        "unlabeled": ("unlabeled cases beat the base", BASE, True),
        "uniform": ("uniform worse than the marginals", DECORATE, False),
        "pool": ("a pool is as good as fresh cases", DECORATE, None),
        "no rejection": ("rejection harmless to drop on average", DECORATE, None),
        "network": ("cases from a learned network are better", DECORATE, True),
    }
    for variant, (text, rival, better) in words.items():
        points = ("5%", "10%", "20%", "50%", "100%")
        found = {point: record(lines, variant, rival, point) for point in points}
        ratios = {point: one.ratio for point, one in found.items() if one.n}
        if not ratios:
            continue
        mean = np.exp(np.mean(np.log(list(ratios.values()))))
        holds = abs(mean - 1) < 0.02 if better is None else (mean < 1) == better
        shown = {point: f"{one:.3f}" for point, one in ratios.items()}
        yield Claim(text, "yes" if variant != "network" else "ours", shown, bool(holds))
