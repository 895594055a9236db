"""Calibration of the scores of any classifier to probabilities."""

from bnmtl.calibration.auto import AutoCalibrator
from bnmtl.calibration.beta import BetaCalibrator
from bnmtl.calibration.boosting import AdaBoostM1
from bnmtl.calibration.classifier import CalibratedClassifier
from bnmtl.calibration.correction import LogisticCorrection
from bnmtl.calibration.curve import learning_curve
from bnmtl.calibration.isotonic import IsotonicCalibrator
from bnmtl.calibration.platt import PlattCalibrator
from bnmtl.calibration.platt_by_task import MultitaskPlattCalibrator
from bnmtl.calibration.reliable import reliability
from bnmtl.calibration.temperature import TemperatureCalibrator

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
