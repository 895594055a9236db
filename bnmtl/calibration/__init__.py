"""From scores to probabilities that mean what they say, on arrays of any classifier's scores."""

from bnmtl.calibration.isotonic import IsotonicCalibrator
from bnmtl.calibration.platt import PlattCalibrator
from bnmtl.calibration.platt_by_task import MultitaskPlattCalibrator
from bnmtl.calibration.reliable import reliability

__all__ = ["IsotonicCalibrator", "MultitaskPlattCalibrator", "PlattCalibrator", "reliability"]
