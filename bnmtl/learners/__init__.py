"""The estimators people use: from data sets to one network per task."""

from bnmtl.learners.apart import IdenticalLearner, PooledLearner, SingleTaskLearner
from bnmtl.learners.multitask import MultitaskLearner

__all__ = ["IdenticalLearner", "MultitaskLearner", "PooledLearner", "SingleTaskLearner"]
