"""The estimators people use: from data sets to one network per task."""

from bnmtl.learners.apart import IdenticalLearner, PooledLearner, SingleTaskLearner
from bnmtl.learners.multitask import MultitaskLearner
from bnmtl.learners.validated import MultitaskLearnerCV

__all__ = [
    "IdenticalLearner",
    "MultitaskLearner",
    "MultitaskLearnerCV",
    "PooledLearner",
    "SingleTaskLearner",
]
