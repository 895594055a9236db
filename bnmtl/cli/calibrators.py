"""Convert fitted calibrators to records of run.json and back."""

import numpy as np

from bnmtl.calibration import IsotonicCalibrator, MultitaskPlattCalibrator, PlattCalibrator

_KINDS = {
    "platt": PlattCalibrator,
    "isotonic": IsotonicCalibrator,
    "platt_by_group": MultitaskPlattCalibrator,
}


def as_record(fitted):
    """Describe each calibrator by numbers and lists; keys are methods."""
    return {method: fitted[method].as_record() for method in _KINDS if method in fitted}


def from_record(found):
    """Return calibrators by method; the inverse of `as_record`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the records were not written by `as_record`.
    """
    kinds = [method for method in _KINDS if method != "platt_by_group" or method in found]
    return {method: _KINDS[method].from_record(found[method]) for method in kinds}


def calibrated(calibrator, scores, groups):
    """Probabilities by a calibrator; unknown groups are calibrated like all rows together.

    Parameters
    ----------
    calibrator : calibrator
    scores : float array of shape (n,)
    groups : str array of shape (n,) or None
        Ignored by calibrators without groups.

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
