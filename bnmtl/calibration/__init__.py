"""Calibration of the scores of any classifier to probabilities."""

from bnmtl.calibration.boosting import AdaBoostM1, LogisticCorrection
from bnmtl.calibration.calibrators import (
    AutoCalibrator,
    BetaCalibrator,
    IsotonicCalibrator,
    TemperatureCalibrator,
)
from bnmtl.calibration.classifier import CalibratedClassifier
from bnmtl.calibration.platt import MultitaskPlattCalibrator, PlattCalibrator
from bnmtl.calibration.quality import learning_curve, reliability

__all__ = [
    "AdaBoostM1",
    "AutoCalibrator",
    "BetaCalibrator",
    "CalibratedClassifier",
    "IsotonicCalibrator",
    "LogisticCorrection",
    "MultitaskPlattCalibrator",
    "PlattCalibrator",
    "TemperatureCalibrator",
    "learning_curve",
    "reliability",
]
