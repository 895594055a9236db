"""The claims of Nielsen (2012) on ensembles of probability trees, from the lines of the study.

Each claim is a one-sided test of Wilcoxon over tables for each measure it names; p values are
corrected by Holm's method for all tests of all claims. Beside them stands on how many tables the
first method is better and worse, and on how many beyond chance by a t-test corrected for training
sets that overlap.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from benchmarks.claims import OURS, Claim
from benchmarks.summary import LEVEL, holm
from benchmarks.trees.mob_esp_tables import (
    B_PETS,
    CALIBRATED,
    EB_PETS,
    FOREST,
    MOB_ESP,
    NETWORK,
    TITLES,
    gains,
    record,
)

FEWEST = 6  # tables for an answer
AVERAGE, ALL = ("mse", "log_loss"), ("mse", "log_loss", "lift_area", "accuracy")
_OUT_OF_BAG, _NO_SMOOTHING, _RANDOM = (
    f"{B_PETS}, {one}" for one in ("out-of-bag cases", "no smoothing", "random features")
)


class Expected(NamedTuple):
    """What a claim expects.

    Parameters
    ----------
    text : str
    first, second : str
        Methods.
    measures : tuple of str
    is_better : bool, default=True
        Whether the first is better by each measure; otherwise the claim is that it is not, and
        what contradicts it is a measure by which it is.
    published : str, default="yes"
    """

    text: str
    first: str
    second: str
    measures: tuple
    is_better: bool = True
    published: str = "yes"


CLAIMS = (
    Expected("EB-PETs better than B-PETs", EB_PETS, B_PETS, ALL),
    Expected("MOB-ESP better than EB-PETs on average", MOB_ESP, EB_PETS, AVERAGE),
    Expected("MOB-ESP better than B-PETs", MOB_ESP, B_PETS, (*AVERAGE, "lift_area")),
    Expected("EB-PETs better than MOB-ESP", EB_PETS, MOB_ESP, ("lift_area",)),
    Expected("out-of-bag cases help B-PETs on average", _OUT_OF_BAG, B_PETS, AVERAGE),
    Expected("also by the other measures", _OUT_OF_BAG, B_PETS, ("lift_area", "accuracy")),
    Expected("more than dropping the smoothing on average", _OUT_OF_BAG, _NO_SMOOTHING, AVERAGE),
    Expected("and more than random features on average", _OUT_OF_BAG, _RANDOM, AVERAGE),
    Expected("dropping the smoothing helps B-PETs on average", _NO_SMOOTHING, B_PETS, AVERAGE),
    Expected(
        "also with probabilities of 0",
        *(_NO_SMOOTHING, B_PETS, ("log_loss_eps",)),
        published=OURS,
    ),
    Expected(
        "it does not help by the other measures",
        *(_NO_SMOOTHING, B_PETS, ("lift_area", "accuracy"), False),
    ),
    Expected("random features help B-PETs", _RANDOM, B_PETS, ("lift_area", "accuracy")),
    Expected("they do not help on average", _RANDOM, B_PETS, AVERAGE, False),
    Expected("EB-PETs better than with smoothing", EB_PETS, f"{EB_PETS}, smoothing", ALL),
    Expected(
        "also with probabilities of 0 against smoothing",
        *(EB_PETS, f"{EB_PETS}, smoothing", ("log_loss_eps",)),
        published=OURS,
    ),
    Expected("EB-PETs better than with all features", EB_PETS, f"{EB_PETS}, all features", ALL),
    Expected(
        "EB-PETs better than without out-of-bag cases",
        *(EB_PETS, f"{EB_PETS}, no out-of-bag cases", ("mse", "log_loss", "accuracy")),
    ),
    Expected(
        "but not by the lift area",
        *(EB_PETS, f"{EB_PETS}, no out-of-bag cases", ("lift_area",), False),
    ),
    Expected("MOB-ESP better than a forest", MOB_ESP, FOREST, ALL, published=OURS),
    Expected("MOB-ESP better than a calibrated forest", MOB_ESP, CALIBRATED, ALL, published=OURS),
    Expected("MOB-ESP better than a network", MOB_ESP, NETWORK, ALL, published=OURS),
)


def claims(lines):
    """The claims that the lines can answer."""
    asked = [
        (expected, measure, means)
        for expected in CLAIMS
        for measure in expected.measures
        if len(means := _means(lines, expected, measure)) >= FEWEST
    ]
    if not asked:
        return []
    p_values = holm([_p(means) for _, _, means in asked])
    found = {}
    for (expected, measure, _), p in zip(asked, p_values, strict=True):
        found.setdefault(expected, []).append((measure, p))
    return [_claim(lines, expected, tests) for expected, tests in found.items()]


def _means(lines, expected, measure):
    """Mean gain of the first method on each table."""
    by_table = gains(lines, expected.first, expected.second, measure)
    return np.array([one.mean() for one in by_table.values()])


def _p(means):
    """P value that the first method is better over tables, by Wilcoxon's signed ranks."""
    return float(stats.wilcoxon(means, alternative="greater").pvalue) if means.any() else 1.0


def _claim(lines, expected, tests):
    """A claim with its records, p values and verdict."""
    shown, n_better = {}, 0
    for measure, p in tests:
        every, _, corrected = record(lines, expected.first, expected.second, measure)
        counts = "/".join(map(str, every))
        text = "p < 0.001" if p < 0.001 else f"p {p:.3f}"
        shown[TITLES[measure]] = f"{counts} ({corrected[0]}:{corrected[2]}, {text})"
        n_better += bool(p < LEVEL)
    refuted = "no" if n_better else "not refuted"
    verdict = (n_better, len(tests)) if expected.is_better else refuted
    return Claim(expected.text, expected.published, shown, verdict)
