"""Convert fitted calibrators to records of run.json and back."""

import numpy as np

from bnmtl.calibration import (
    BetaCalibrator,
    IsotonicCalibrator,
    MultitaskPlattCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)

KINDS = {
    "platt": PlattCalibrator,
    "beta": BetaCalibrator,
    "isotonic": IsotonicCalibrator,
    "temperature": TemperatureCalibrator,
    "platt_by_task": MultitaskPlattCalibrator,
}


def kind_of(calibrator):
    """The name of the kind of a calibrator, which is that of its method unless this is "auto"."""
    return next(name for name, kind in KINDS.items() if type(calibrator) is kind)


def as_record(fitted):
    """Describe each calibrator by numbers and lists; keys are methods."""
    return {
        method: {"calibrator": kind_of(one), **one.as_record()} for method, one in fitted.items()
    }


def from_record(found):
    """Return calibrators by method; the inverse of `as_record`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the records were not written by `as_record`.
    """
    if not found:
        raise ValueError
    return {method: KINDS[one["calibrator"]].from_record(one) for method, one in found.items()}


def calibrated(calibrator, scores, tasks):
    """Probabilities by a calibrator; unknown tasks are calibrated like all rows together.

    Parameters
    ----------
    calibrator : calibrator
    scores : float array of shape (n,)
    tasks : str array of shape (n,) or None
        Ignored by calibrators without tasks.

    Returns
    -------
    float array of shape (n,)
    """
    if not isinstance(calibrator, MultitaskPlattCalibrator):
        return calibrator.predict(scores)
    p = calibrator.pooled_.predict(scores)
    known = np.isin(tasks.astype(str), list(calibrator.a_.index))
    if known.any():
        p[known] = calibrator.predict(scores[known], tasks[known])
    return p
