"""The claims of chapter 4 of Melville's thesis, from the lines of the learning curves."""

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.claims import OURS, Claim, alike, gain_claim
from benchmarks.decorate.curve_tables import PERCENTS, RIVALS, at_full_size
from benchmarks.decorate.curve_values import MORE_TABLES, N_FOLDS, paired, reductions
from benchmarks.decorate.learners import BASE, DECORATE
from benchmarks.summary import LEVEL, mean_and_error
from bnmtl.metrics.resampled import resampled_p

FEW, MANY = ("1%", "2%", "5%", "10%", "20%"), ("75%", "100%")
POINTS = ("5%", "10%", "20%", "50%", "100%")
SPECIAL = "splice"  # on which rejection matters
# Method, rival, points, claim, published. By the geometric mean over points, tested over tables.
BETTER = (
    *((DECORATE, one, FEW, f"better than {one} with few cases", "yes") for one in RIVALS),
    (DECORATE, BASE, PERCENTS, "better than its base at all sizes", "yes"),
    ("AdaBoost", DECORATE, MANY, "AdaBoost ahead with all cases on average", "1.04, 1.10"),
    ("unlabeled", BASE, POINTS, "unlabeled cases beat the base", "yes"),
    (DECORATE, "unlabeled", POINTS, "but not artificial cases, which are better", "yes"),
    (DECORATE, "uniform", POINTS, "the marginals are better than uniform cases", "yes"),
    ("network", DECORATE, POINTS, "cases from a learned network are better", OURS),
)
NEAR = 2  # percent of the error; smaller differences do not count
ALIKE = (
    ("size 0.5", ("20%", "100%"), "half an artificial case per case as good as one"),
    ("pool", POINTS, "a pool is as good as fresh cases"),
    ("no rejection", POINTS, "rejection harmless to drop on average"),
)


def gains(lines, method, rival, points):
    """Percent by which the error is below that of a rival, geometric mean over points, by table."""
    logs = {}
    for point in points:
        for table, (ours, other) in paired(lines, method, rival, point).items():
            # Half an error in all folds stands for none.
            least = 0.5 / (len(ours) * 10)
            ratio = max(ours.mean(), least) / max(other.mean(), least)
            logs.setdefault(table, []).append(np.log(ratio))
    return 100 * (1 - np.exp(pd.Series({table: np.mean(some) for table, some in logs.items()})))


def correlations(lines):
    """Rank correlations of diversity with the error reductions, over folds, tables and sizes.

    Returns
    -------
    dict of str to (float, int)
        Against the mean error of the members, and against the error of the base.
    """
    found = reductions(lines)
    if len(found) < 3:
        return {}
    return {
        name: (float(stats.spearmanr(found["diversity"], found[name]).statistic), len(found))
        for name in ("members", "base")
    }


def claims(lines):
    """The claims of chapter 4 that the lines can answer."""
    full, lines = at_full_size(lines), lines[~lines["table"].isin(MORE_TABLES)]
    for method, rival, points, text, published in BETTER:
        found = gains(lines, method, rival, points)
        if len(found) > 1:
            yield gain_claim(text, published, found)
    for method, points, text in ALIKE:
        found = gains(lines, method, DECORATE, points)
        if len(found) > 1:
            shown = f"{mean_and_error(found, 1)} %"
            verdict = alike(-found, NEAR, is_harm=True, fewest=2)
            yield Claim(f"{text} (at most {NEAR} % more errors)", "yes", shown, verdict)
    yield from _of_rejection(lines)
    if full:
        yield _at_full_size(full)
    found = gains(lines, "size 0.1", DECORATE, ("20%", "100%"))
    if len(found) > 1:
        text = "fewer artificial cases hurt (one per ten cases against one per case)"
        yield gain_claim(text, "yes", -found)
    yield from _of_diversity(lines)


def _of_rejection(lines):
    """That dropping the rejection of members hurts on splice."""
    shown, holding = {}, 0
    for point in POINTS:
        pair = paired(lines, "no rejection", DECORATE, point).get(SPECIAL)
        if pair is not None:
            ours, other = pair
            p = resampled_p(ours - other, 1 / (N_FOLDS - 1))
            shown[point] = f"{ours.mean() / other.mean():.3f} (p {p:.3f})"
            holding += bool(ours.mean() > other.mean() and p < LEVEL)
    if shown:
        yield Claim(f"but not on {SPECIAL} (error ratio)", "yes", shown, (holding, len(shown)))


def _at_full_size(full):
    """That DECORATE and AdaBoost differ on few tables, by the plain test as published."""
    records = []
    for test in ("plain", "corrected"):
        won, lost = (
            sum(
                one[test] < LEVEL and sign * (one["other"].mean() - one["ours"].mean()) > 0
                for one in full.values()
            )
            for sign in (1, -1)
        )
        records.append((won, len(full) - won - lost, lost))
    shown = {
        name: "/".join(map(str, one))
        for name, one in zip(("plain", "corrected"), records, strict=True)
    }
    text = "with all cases, level with AdaBoost on most tables"
    return Claim(text, "4/25/4", shown, 2 * records[0][1] > len(full))


def _of_diversity(lines):
    """Rank correlations, and that DECORATE is more diverse than its rivals with few cases."""
    for name, (value, n) in correlations(lines).items():
        published = {"members": "0.66", "base": "0.16"}[name]
        text = f"diversity goes with error reduction, against that of the {name}"
        yield Claim(text, published, f"{value:.2f} of {n}", value > 0)
    for rival in ("bagging", "AdaBoost"):
        differences = {}
        for point in ("10 cases", "20 cases", "30 cases"):
            pairs = paired(lines, DECORATE, rival, point, "diversity")
            for table, (ours, other) in pairs.items():
                differences.setdefault(table, []).append(100 * (ours - other).mean())
        found = pd.Series({table: np.mean(some) for table, some in differences.items()})
        if len(found) > 1:
            yield gain_claim(f"more diverse than {rival} with few cases", "yes", found)
