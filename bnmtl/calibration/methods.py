"""The calibrators by the names of their methods."""

from bnmtl.calibration.auto import AutoCalibrator
from bnmtl.calibration.beta import BetaCalibrator
from bnmtl.calibration.isotonic import IsotonicCalibrator
from bnmtl.calibration.platt import PlattCalibrator
from bnmtl.calibration.temperature import TemperatureCalibrator
from bnmtl.errors import InputError

# (of decision values, of probabilities)
_CALIBRATORS = {
    "auto": (PlattCalibrator(), AutoCalibrator()),
    "platt": (PlattCalibrator(), PlattCalibrator()),
    "beta": (PlattCalibrator(), BetaCalibrator()),
    "isotonic": (IsotonicCalibrator(), IsotonicCalibrator()),
    "temperature": (TemperatureCalibrator(), TemperatureCalibrator(scale="logit")),
}
METHODS = tuple(_CALIBRATORS)


def calibrator_of(method, is_probability):
    """The unfitted calibrator of a method, by name; other calibrators are returned as they are.

    "auto" is `AutoCalibrator` for probabilities and Platt's sigmoid for other scores. Beta
    calibration needs probabilities, so it is Platt's sigmoid for other scores, too.
    """
    return _CALIBRATORS[method][is_probability] if isinstance(method, str) else method


def check_method(method):
    """Raise unless it is a calibrator or the name of one."""
    is_name = isinstance(method, str) and method in METHODS
    if not is_name and not is_calibrator(method):
        names = ", ".join(map(repr, METHODS))
        rule = "must be one of {names!s} or a calibrator with fit and predict"
        raise InputError("method", rule, method, names=names)


def is_calibrator(value):
    """Whether it is an object with fit and predict."""
    return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "predict")
