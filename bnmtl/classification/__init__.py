"""Learned networks as scikit-learn classifiers, the interface to all uses of predictions."""

from bnmtl.classification.by_class import MultiNetClassifier
from bnmtl.classification.by_task import MultitaskBayesNetClassifier
from bnmtl.classification.imputer import NetworkImputer
from bnmtl.classification.network import BayesNetClassifier
from bnmtl.classification.samplers import NetworkSampler

__all__ = [
    "BayesNetClassifier",
    "MultiNetClassifier",
    "MultitaskBayesNetClassifier",
    "NetworkImputer",
    "NetworkSampler",
]
