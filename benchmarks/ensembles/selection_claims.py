"""The claims of chapter 4 of the thesis, each tested over problems.

Trials of a problem share rows, so a problem counts once, with the mean over its trials; p values
are corrected for the number of claims by Holm's method.
"""

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.claims import Claim
from benchmarks.ensembles.selection_values import MEAN, means
from benchmarks.summary import holm

LEVEL = 0.05
RMSE, CROSS_ENTROPY = "root_mean_squared_error", "cross_entropy"
_FEWEST = 3  # problems for a test


class Difference:
    """Mean difference of two methods over problems.

    Parameters
    ----------
    ours, other : pandas.Series by problem
    """

    def __init__(self, ours, other):
        values = (ours - other).dropna()
        self.n, self.mean = len(values), values.mean()
        self.p = 1.0
        if self.n >= _FEWEST and np.ptp(values) > 0:
            self.p = float(stats.ttest_1samp(values, 0.0).pvalue)
        self.error = values.std(ddof=1) / np.sqrt(self.n) if self.n > 1 else np.nan

    def __str__(self):
        if not self.n:
            return ""
        error = "" if np.isnan(self.error) else f" ± {self.error:.3f}"
        return f"{self.mean:+.3f}{error}"


def claims(lines, table):
    """All claims that the lines can answer."""
    wanted = list(_comparisons(table)) + list(_of_mimics(lines))
    corrected = holm([difference.p for *_, difference in wanted])
    return [
        Claim(text, published, str(difference), _verdict(direction, difference, p))
        for (text, published, direction, difference), p in zip(wanted, corrected, strict=True)
    ]


def _verdict(direction, difference, p):
    """In words: whether a difference has the direction of the claim, beyond chance."""
    if difference.n < _FEWEST:
        return "not measured"
    if direction == 0:
        return "yes" if p >= LEVEL or difference.mean > 0 else "no"
    if np.sign(difference.mean) != direction:
        return "no" if p < LEVEL else "not significant, other direction"
    return "yes" if p < LEVEL else "not significant"


def _comparisons(table):
    """Text, published value, direction (0: not worse) and difference of each claim."""

    def compare(ours, other, at="both", other_at="both", metric=MEAN):
        return Difference(means(table, ours, at)[metric], means(table, other, other_at)[metric])

    yield "selection beats the best single model", "yes", 1, compare("selected", "single")
    yield "selection beats model averaging", "yes", 1, compare("selected", "averaged")
    text = "a library of raw and calibrated models is better than of raw ones"
    yield text, "yes", 1, compare("selected", "selected", "both", "raw")
    text = "and than of calibrated ones"
    yield text, "yes", 1, compare("selected", "selected", "both", "calibrated")
    for method, name in (("selected", "selection"), ("single", "the best single model")):
        for metric, text in ((RMSE, "squared error"), (CROSS_ENTROPY, "cross-entropy")):
            found = compare(method, method, "calibrated", "raw", metric)
            yield f"calibration improves {text} of {name}", "yes", 1, found
        found = compare(method, method, "calibrated", "raw", "f_score")
        yield f"calibration lowers the F-score of {name}", "yes", -1, found
    text = "calibration helps model averaging"
    yield text, "on every metric", 1, compare("averaged", "averaged", "calibrated", "raw")
    text = "uncalibrated averaging is below the best single model"
    yield text, "yes", -1, compare("averaged", "single", "raw", "raw")
    yield from _of_sizes(table)
    yield from _of_folds(table, compare)
    for metric, text in ((RMSE, "squared error"), (CROSS_ENTROPY, "cross-entropy")):
        found = compare(f"selected for {metric}", "selected")
        yield f"selecting for {text} is nearly as good as for the target", "nearly", 0, found
    yield from _of_shares(table)


def _of_sizes(table):
    """Claims about the number of cases of hill climbing."""

    def at(method, size):
        return means(table, f"size: {method}", size)[MEAN]

    if not (table["method"] == "size: bags").any():
        return
    found = Difference(at("bags", 100), at("single", 100))
    yield "with 100 cases selection is better than the best single model", "yes", 1, found
    yield (
        "bags help with 100 cases",
        ".817 -> .888",
        1,
        Difference(at("bags", 100), at("no bags", 100)),
    )
    found = Difference(at("bags", 5000), at("no bags", 5000))
    yield "bags do not hurt with 5000 cases", "no difference", 0, found


def _of_folds(table, compare):
    """Claims about embedded cross-validation."""
    if not (table["method"] == "cv selected").any():
        return
    text = "embedded cross-validation improves selection"
    yield text, "about doubles the gain", 1, compare("cv selected", "selected")
    text = "the best cross-validated single model beats plain selection"
    yield text, ".953, .946", 1, compare("cv single", "selected")
    text = "more cases of hill climbing alone improve selection"
    yield text, "half of the gain", 1, compare("cv more cases", "selected")
    text = "averaging siblings alone improves selection"
    yield text, "half of the gain", 1, compare("cv siblings", "selected")


def _of_shares(table):
    """Claims about pruning."""
    if not (table["method"] == "share: bags").any():
        return
    for share in (0.1, 0.2):
        for method in ("bags", "no bags"):
            ours = means(table, f"share: {method}", share)[MEAN]
            other = means(table, f"share: {method}", 1.0)[MEAN]
            text = f"pruning to {share:.0%} does not hurt, {method}"
            yield text, "no loss, or a gain", 0, Difference(ours, other)


def _of_mimics(lines):
    """Claims about compression, in root mean squared error, lower is better."""
    chosen = lines[lines["analysis"] == "mimic"]
    if not len(chosen):
        return
    mimic = chosen["mimic"].map(lambda one: list(one["errors"].values())[-1])
    frame = pd.DataFrame({"problem": chosen["problem"], "net": chosen["net"], "mimic": mimic})
    by_problem = frame.groupby("problem").mean(numeric_only=True)
    found = Difference(by_problem["net"], by_problem["mimic"])
    yield "the mimic has a lower error than the best single net", "97 % of the gain", 1, found
