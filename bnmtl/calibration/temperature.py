"""Temperature scaling: all scores times one number, which does not change their order."""

import numpy as np
from scipy.special import expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.calibration.arguments import checked_classes
from bnmtl.calibration.platt import checked_lowest, clipped_at, scaled, takes_probabilities
from bnmtl.errors import check_number
from bnmtl.metrics.cases import checked_cases, checked_numbers

