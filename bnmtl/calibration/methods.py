"""The calibrators by the names of their methods."""

from bnmtl.calibration.auto import AutoCalibrator
from bnmtl.calibration.beta import BetaCalibrator
from bnmtl.calibration.isotonic import IsotonicCalibrator
from bnmtl.calibration.platt import PlattCalibrator
from bnmtl.calibration.platt_by_task import MultitaskPlattCalibrator
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


def calibrator_by_task(is_probability):
    """The unfitted calibrator with one sigmoid per task, for "auto" and "platt".

    Of probabilities it takes the log odds, so that it leaves calibrated ones as they are.
    """
    return MultitaskPlattCalibrator("logit" if is_probability else "raw")


def check_method(method, by_task=False):
    """Raise unless it is a calibrator or the name of one; one by task has a sigmoid."""
    if by_task and (not isinstance(method, str) or method not in ("auto", "platt")):
        rule = "must be 'auto' or 'platt' with {task_column}, which has a sigmoid for each task"
        raise InputError("method", rule, method)
    is_name = isinstance(method, str) and method in METHODS
    if not is_name and not is_calibrator(method):
        names = ", ".join(map(repr, METHODS))
        rule = "must be one of {names!s} or a calibrator with fit and predict"
        raise InputError("method", rule, method, names=names)


def is_calibrator(value):
    """Whether it is an object with fit and predict."""
    return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "predict")
