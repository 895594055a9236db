"""Learned networks as scikit-learn classifiers, the interface to all uses of predictions."""

from bnmtl.classification.by_class import MultiNetClassifier
from bnmtl.classification.by_task import MultitaskBayesNetClassifier
from bnmtl.classification.cells import NetworkImputer, NetworkSampler
from bnmtl.classification.network import BayesNetClassifier

__all__ = [
    "BayesNetClassifier",
    "MultiNetClassifier",
    "MultitaskBayesNetClassifier",
    "NetworkImputer",
    "NetworkSampler",
]
