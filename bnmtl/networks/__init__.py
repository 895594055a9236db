"""Bayesian networks: graphs with their conditional probability tables."""

from bnmtl.networks.bayesnet import SUM_TOLERANCE, BayesNet
from bnmtl.networks.several import fit_networks

__all__ = ["SUM_TOLERANCE", "BayesNet", "fit_networks"]
