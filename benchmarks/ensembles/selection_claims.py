"""The claims of chapter 4 of the thesis, each tested over problems.

Trials of a problem share rows, so a problem counts once, with the mean over its trials. "Corrected"
is for the number of claims, by Holm's method, which is strict for tests over eight problems.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.claims import OURS, Claim, alike
from benchmarks.ensembles.analyses import METRICS, SHARES
from benchmarks.ensembles.problem_rows import LARGE
from benchmarks.ensembles.selection_values import MEAN, first_mimics, having, largest, means
from benchmarks.summary import LEVEL, holm

RMSE, CROSS_ENTROPY = "root_mean_squared_error", "cross_entropy"
_FEWEST = 3  # problems for a test
ALIKE = 0.01  # normalized scores; smaller differences do not count


class Difference:
    """Mean difference of two methods over problems.

    Parameters
    ----------
    ours, other : pandas.Series by problem
    """

    def __init__(self, ours, other):
        self.values = values = (ours - other).dropna()
        self.n, self.mean = len(values), values.mean()
        self.p = 1.0
        if self.n >= _FEWEST and np.ptp(values) > 0:
            self.p = float(stats.ttest_1samp(values, 0.0).pvalue)
        self.error = values.std(ddof=1) / np.sqrt(self.n) if self.n > 1 else np.nan

    def __str__(self):
        if not self.n:
            return ""
        if np.isnan(self.error):
            return f"{self.mean:+.3f}"
        p = f", p = {self.p:.3f}" if self.n >= _FEWEST else ""
        return f"{self.mean:+.3f} ± {self.error:.3f}{p}"


class Wanted(NamedTuple):
    """A claim to be tested.

    Parameters
    ----------
    text, published : str
    direction : int or None
        Of the difference: 1, -1, 0 for "not worse" and None for "the same", both by a margin.
    difference : Difference
    more : str, default=""
        What else was measured.
    """

    text: str
    published: str
    direction: int | None
    difference: Difference
    more: str = ""


def claims(lines, table):
    """All claims that the lines can answer."""
    wanted = [Wanted(*one) for one in (*_comparisons(table), *_of_steps(lines), *_of_mimics(lines))]
    corrected = holm([one.difference.p for one in wanted])
    margins = {None: f" (within {ALIKE})", 0: f" (at most {ALIKE} less)"}
    return [
        Claim(
            one.text + margins.get(one.direction, ""),
            one.published,
            f"{one.difference}{one.more}",
            _verdict(one.direction, one.difference, p),
        )
        for one, p in zip(wanted, corrected, strict=True)
    ]


def _verdict(direction, difference, corrected):
    """In words: whether a difference has the direction of the claim, beyond chance."""
    if difference.n < _FEWEST:
        return "not measured"
    is_significant = difference.p < LEVEL
    if direction is None:
        return alike(difference.values, ALIKE, fewest=_FEWEST)
    if direction == 0:
        return alike(-difference.values, ALIKE, is_harm=True, fewest=_FEWEST)
    if np.sign(difference.mean) != direction:
        return "no" if is_significant else "not significant, other direction"
    if not is_significant:
        return "not significant"
    return "yes, also corrected" if corrected < LEVEL else "yes"


def _compared(table, ours, other, at="both", other_at="both", metric=MEAN):
    """The difference of two methods in the scores by one metric, or in the mean of all."""
    return Difference(means(table, ours, at)[metric], means(table, other, other_at)[metric])


def _comparisons(table):
    """Text, published value, direction (0: not worse) and difference of each claim."""
    compare = partial(_compared, table)
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
    for metric, text in ((RMSE, "squared error"), (CROSS_ENTROPY, "cross-entropy")):
        gain, of_single = (
            (means(table, method, "calibrated") - means(table, method, "raw"))[metric]
            for method in ("selected", "single")
        )
        text = f"calibration improves {text} of both alike (single model minus selection)"
        yield text, "yes", None, Difference(of_single, gain)
    text = "calibration helps model averaging"
    gains = means(table, "averaged", "calibrated") - means(table, "averaged", "raw")
    n_better = int((gains[list(METRICS)].mean() > 0).sum())
    found = compare("averaged", "averaged", "calibrated", "raw")
    yield text, "on every metric", 1, found, f"; on {n_better} of {len(METRICS)} metrics"
    text = "uncalibrated averaging is below the best single model"
    yield text, "yes", -1, compare("averaged", "single", "raw", "raw")
    large = table["trial"].isin(LARGE)
    for part, words in ((~large, ""), (large, ", large libraries")):
        for text, *claim in _of_sizes(table[part]):
            yield text + words, *claim
    yield from _of_folds(having(table, "cv selected"))
    for metric, text in ((RMSE, "squared error"), (CROSS_ENTROPY, "cross-entropy")):
        found = compare(f"selected for {metric}", "selected")
        text = f"selecting for {text} is nearly as good as for the target"
        yield text, ".935, .936 of .946", 0, found
    yield from _of_shares(table)
    yield from _of_large_libraries(having(table, "small: selected"))


def _of_sizes(table):
    """Claims about the number of cases of hill climbing."""
    if not (table["method"] == "size: bags").any():
        return

    def at(method, size):
        return means(table, f"size: {method}", size)[MEAN]

    text = "with 100 cases selection is better than the best single model"
    yield text, "yes", 1, Difference(at("bags", 100), at("single", 100))
    lost, lost_single = (at(method, 1000) - at(method, 100) for method in ("bags", "single"))
    text = "with 100 cases instead of 1000 the best single model loses more than selection"
    yield text, "yes", 1, Difference(lost_single, lost)
    found = Difference(at("bags", 100), at("no bags", 100))
    yield "bags help with 100 cases", ".817 -> .888", 1, found
    gain, of_more = (at("bags", size) - at("no bags", size) for size in (100, 1000))
    yield "and help more than with 1000 cases", "yes", 1, Difference(gain, of_more)
    found = Difference(at("bags", 5000), at("no bags", 5000))
    yield "bags do not hurt with 5000 cases", "no difference", 0, found


def _of_folds(table):
    """Claims about embedded cross-validation, on problems that have it."""
    if not len(table):
        return
    compare = partial(_compared, table)
    text = "embedded cross-validation improves selection"
    plain, crossed = compare("selected", "single"), compare("cv selected", "single")
    times = (
        f"; the gain over the best single model is {crossed.mean / plain.mean:.1f} times as large"
    )
    yield text, "doubles the gain", 1, compare("cv selected", "selected"), times
    text = "the best cross-validated single model beats plain selection"
    yield text, ".953, .946", 1, compare("cv single", "selected")
    text = "more cases of hill climbing alone improve selection"
    yield text, "41 % of the gain", 1, compare("cv more cases", "selected")
    text = "averaging siblings alone improves selection"
    yield text, "55 % of the gain", 1, compare("cv siblings", "selected")


def _of_shares(table):
    """Claims about pruning, of large libraries if there are any."""
    if not (table["method"] == "share: bags").any():
        return
    table = largest(table, "share: bags")
    by_share = {
        method: pd.DataFrame({s: means(table, f"share: {method}", s)[MEAN] for s in SHARES})
        for method in ("bags", "no bags")
    }
    for share in (0.1, 0.2):
        for method, scores in by_share.items():
            text = f"pruning to {share:.0%} does not hurt, {method}"
            yield text, "no loss, or a gain", 0, Difference(scores[share], scores[1.0])
    needs = by_share["bags"] - by_share["no bags"]
    text = "with 10% of the library bags help less than with all of it"
    yield text, "yes", 1, Difference(needs[1.0], needs[0.1])
    scores = by_share["bags"]
    n_best = int((scores.idxmax(axis=1) == 1.0).sum())
    rest = scores.drop(columns=1.0).mean(axis=1)
    more = f"; the whole library is the best share on {n_best} of {len(scores)} problems"
    text = "pruned libraries are better than the whole one, mean of all shares"
    yield text, "the whole one is never worthwhile", 1, Difference(rest, scores[1.0]), more


def _of_large_libraries(table):
    """Claims of ours about the profile "thesis", on the rows on which both were built."""
    if not len(table):
        return
    for method, name in (("selected", "selection"), ("single", "the best single model")):
        gains = (means(table, method) - means(table, f"small: {method}"))[MEAN]
        found = _compared(table, method, f"small: {method}")
        more = f"; better on {(gains > 0).sum()} of {len(gains)} problems"
        yield f"the larger library improves {name}", OURS, 1, found, more


def _of_steps(lines):
    """Claims about replacement, in percent of the error."""
    chosen = lines[lines["analysis"] == "methods"]
    rises = {
        name: chosen["trajectories"]
        .map(lambda one, name=name: _rise(one[name]["test"]))
        .groupby(chosen["problem"])
        .mean()
        for name in ("with replacement", "without replacement")
    }
    text = "replacement prevents that the error grows after its best step (percent)"
    found = Difference(rises["without replacement"], rises["with replacement"])
    yield (
        text,
        "yes",
        1,
        found,
        "; {:.1f} without, {:.1f} with".format(
            *(rises[name].mean() for name in ("without replacement", "with replacement"))
        ),
    )


def _rise(errors):
    """Percent by which the last error is above the smallest one."""
    return 100 * (errors[-1] / min(errors) - 1)


def _of_mimics(lines):
    """Claims about compression by the mimics of the most pseudo-cases: error, memory and time."""
    chosen = first_mimics(lines).set_index("problem")
    if not len(chosen):
        return
    error = chosen["mimic"].map(lambda one: list(one["errors"].values())[-1])
    found = Difference(chosen["net"], error)
    yield "the mimic has a lower error than the best single net", "97 % of the gain", 1, found
    for cost, text in (("bytes", "memory"), ("seconds", "time")):
        ratios = chosen["mimic"].map(
            lambda one, cost=cost: one[cost]["teacher"] / one[cost]["student"]
        )
        text = f"the mimic needs less than a thousandth of the {text} (powers of ten below it)"
        more = f"; {ratios.min():.0f} to {ratios.max():.0f} times less"
        yield text, "about a thousandth", 1, Difference(np.log10(ratios), 3.0), more
