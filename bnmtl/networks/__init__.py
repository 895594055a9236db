"""Bayesian networks: graphs with their conditional probability tables."""

from bnmtl.networks.bayesnet import BayesNet
from bnmtl.networks.shared_tables import fit_networks

__all__ = ["BayesNet", "fit_networks"]
