"""Calibration of the scores of any classifier to probabilities."""

from bnmtl.calibration.boosting import AdaBoostM1
from bnmtl.calibration.classifier import CalibratedClassifier
from bnmtl.calibration.correction import LogisticCorrection
from bnmtl.calibration.curve import learning_curve
from bnmtl.calibration.isotonic import IsotonicCalibrator
from bnmtl.calibration.platt import PlattCalibrator
from bnmtl.calibration.platt_by_task import MultitaskPlattCalibrator
from bnmtl.calibration.reliable import reliability

__all__ = [
    "AdaBoostM1",
    "CalibratedClassifier",
    "IsotonicCalibrator",
    "LogisticCorrection",
    "MultitaskPlattCalibrator",
    "PlattCalibrator",
    "learning_curve",
    "reliability",
]
