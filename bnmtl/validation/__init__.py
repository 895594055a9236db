"""Tools that judge classifiers by predictions over rounds of fits."""

from bnmtl.validation.bootstrap import BootstrapError, ErrorDifference, bootstrap_error
from bnmtl.validation.comparing import Comparison, Jackknife, compare, jackknife
from bnmtl.validation.decomposition import bias_variance
from bnmtl.validation.forests import ForestBound, forest_bound, voters_error
from bnmtl.validation.predicting import predict_rounds
from bnmtl.validation.rounds import Rounds

__all__ = [
    "BootstrapError",
    "Comparison",
    "ErrorDifference",
    "ForestBound",
    "Jackknife",
    "Rounds",
    "bias_variance",
    "bootstrap_error",
    "compare",
    "forest_bound",
    "jackknife",
    "predict_rounds",
    "voters_error",
]
