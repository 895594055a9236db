"""Which calibration has the lowest cross-entropy, by how much, and whether it could be chance."""

import math

import numpy as np

from bnmtl.calibration.classifier import ENOUGH_FOR_ISOTONIC

DIGITS = 4


def window_of(n_cases):
    """Number of cases in a window of the calibration error: 100, or a fifth of few cases."""
    return min(100, -(-n_cases // 5))


def gain(y, stages, lowest):
    """Difference in cross-entropy between the uncalibrated scores and the best method.

    If the scores are not probabilities, it is the difference from the next best method.

    Parameters
    ----------
    y : array of 0 and 1, shape (n,)
    stages : mapping of str to float array of shape (n,)
        Probabilities by method, those before calibration under "before".
    lowest : float
        Where probabilities are clipped.

    Returns
    -------
    dict
        "of" and "than", the two methods; "nats" and "standard_error" of the mean over cases.
    """
    losses = {
        method: -np.log(np.clip(np.where(y == 1, p, 1 - p), lowest, 1 - lowest))
        for method, p in stages.items()
    }
    methods = sorted(losses, key=lambda one: losses[one].mean())
    than = "before" if "before" in losses else methods[1]
    first = next(one for one in methods if one != than)
    gains = losses[than] - losses[first]
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return {"of": first, "than": than, "nats": float(gains.mean()), "standard_error": float(error)}


def best(values):
    """Names of the lowest values, after rounding to the digits shown."""
    rounded = values.round(DIGITS)
    return list(rounded.index[rounded == rounded.min()])


def verdict(record):
    """Say in one sentence which methods have the lowest cross-entropy, and by how much."""
    names, found = record["best"], record["gain"]
    if names == ["before"]:
        return (
            "No method of calibration has a lower cross-entropy than the scores as they are; that "
            f"of {found['of']} is {_difference(found)}above it{_chance(found)}."
        )
    has = "has" if len(names) == 1 else "have"
    known = " and ".join("the scores as they are" if one == "before" else one for one in names)
    said = f"By cross-validation, {known} {has} the lowest cross-entropy"
    if found["than"] not in names:
        than = "the scores as they are" if found["than"] == "before" else found["than"]
        said += f", {_difference(found)}below that of {than}{_chance(found)}"
    if names == ["isotonic"] and record["labelled"] < ENOUGH_FOR_ISOTONIC:
        said += "; of so few rows it follows chance, so below about "
        said += f"{ENOUGH_FOR_ISOTONIC} prefer other methods"
    return f"{said}."


def _difference(found):
    """A difference and its standard error, which is shown with at least two digits."""
    value, error = abs(found["nats"]), found["standard_error"]
    digits = DIGITS if error == 0 else max(DIGITS, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f} (standard error) "


def _chance(found):
    return ", which may be chance" if abs(found["nats"]) < 2 * found["standard_error"] else ""
