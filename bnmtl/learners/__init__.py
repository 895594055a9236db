"""Learners of one or several tasks, and the gain from learning together on held-out rows."""

from bnmtl.learners.base import Learner
from bnmtl.learners.baselines import IdenticalLearner, PooledLearner, SingleTaskLearner
from bnmtl.learners.comparison import compare, gain
from bnmtl.learners.multitask import MultitaskLearner
from bnmtl.learners.validated import MultitaskLearnerCV

__all__ = [
    "IdenticalLearner",
    "Learner",
    "MultitaskLearner",
    "MultitaskLearnerCV",
    "PooledLearner",
    "SingleTaskLearner",
    "compare",
    "gain",
]
