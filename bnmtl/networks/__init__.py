"""Bayesian networks: graphs with their conditional probability tables."""

from bnmtl.networks.bayesnet import BayesNet
from bnmtl.networks.several import fit_networks

__all__ = ["BayesNet", "fit_networks"]
