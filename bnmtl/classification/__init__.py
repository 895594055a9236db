"""Learned networks as scikit-learn classifiers: the one door to the rooms that take predictions."""

from bnmtl.classification.by_class import MultiNetClassifier
from bnmtl.classification.by_task import MultitaskBayesNetClassifier
from bnmtl.classification.network import BayesNetClassifier

__all__ = ["BayesNetClassifier", "MultiNetClassifier", "MultitaskBayesNetClassifier"]
