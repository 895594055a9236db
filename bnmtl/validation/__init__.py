"""Tools that judge classifiers by predictions over rounds of fits."""

from bnmtl.validation.decomposition import bias_variance
from bnmtl.validation.predicting import predict_rounds
from bnmtl.validation.rounds import Rounds

__all__ = ["Rounds", "bias_variance", "predict_rounds"]
