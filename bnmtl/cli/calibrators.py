"""Fitted calibrators as run.json keeps them, and back."""

import numpy as np
import pandas as pd

from bnmtl.calibration import IsotonicCalibrator, MultitaskPlattCalibrator, PlattCalibrator
from bnmtl.calibration.platt import takes_probabilities

__all__ = ["as_record", "calibrated", "from_record"]


def as_record(fitted):
    """Say what each calibrator is, by method, in numbers and lists."""
    platt, isotonic = fitted["platt"], fitted["isotonic"]
    found = {
        "platt": {"scale": platt.scale, "a": platt.a_, "b": platt.b_},
        "isotonic": {"scores": isotonic.scores_.tolist(), "values": isotonic.values_.tolist()},
    }
    own = fitted.get("platt_by_group")
    if own is not None:
        found["platt_by_group"] = {
            "scale": own.scale,
            "a": own.a_.to_dict(),
            "b": own.b_.to_dict(),
            "variance": own.variance_,
            "pooled": {"a": own.pooled_.a_, "b": own.pooled_.b_},
        }
    return found


def from_record(found):
    """Return calibrators by method; the inverse of `as_record`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If they are not what `as_record` writes.
    """
    fitted = {
        "platt": _platt(found["platt"]["scale"], found["platt"]),
        "isotonic": _isotonic(found["isotonic"]),
    }
    own = found.get("platt_by_group")
    if own is not None:
        several = MultitaskPlattCalibrator(scale=own["scale"])
        several.pooled_ = _platt(own["scale"], own["pooled"])
        several.a_ = pd.Series(own["a"], dtype=float)
        several.b_ = pd.Series(own["b"], dtype=float).loc[several.a_.index]
        several.variance_ = own["variance"]
        fitted["platt_by_group"] = several
    return fitted


def calibrated(calibrator, scores, groups):
    """Probabilities by a calibrator; groups that it does not know follow that of all.

    Parameters
    ----------
    calibrator : calibrator
    scores : float array of shape (n,)
    groups : str array of shape (n,) or None
        Not looked at by calibrators of one group.

    Returns
    -------
    float array of shape (n,)
    """
    if not isinstance(calibrator, MultitaskPlattCalibrator):
        return calibrator.predict(scores)
    p = calibrator.pooled_.predict(scores)
    known = np.isin(groups.astype(str), list(calibrator.a_.index))
    if known.any():
        p[known] = calibrator.predict(scores[known], groups[known])
    return p


def _platt(scale, found):
    takes_probabilities(scale)  # or raises
    calibrator = PlattCalibrator(scale=scale)
    calibrator.a_, calibrator.b_ = float(found["a"]), float(found["b"])
    return calibrator


def _isotonic(found):
    calibrator = IsotonicCalibrator()
    calibrator.scores_ = np.array(found["scores"], dtype=float)
    calibrator.values_ = np.array(found["values"], dtype=float)
    if calibrator.scores_.ndim != 1 or not 0 < len(calibrator.scores_) == len(calibrator.values_):
        raise ValueError("scores and values must be as many")
    return calibrator
