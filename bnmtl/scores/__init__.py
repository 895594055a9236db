"""Decomposable network scores: public score objects, and scores bound to the rows of tasks."""

from bnmtl.scores.bound import BoundScore, BoundTasks
from bnmtl.scores.decomposable import AIC, BIC, K2, BDeu, BDs, LogLikelihood, Score

__all__ = [
    "AIC",
    "BIC",
    "K2",
    "BDeu",
    "BDs",
    "BoundScore",
    "BoundTasks",
    "LogLikelihood",
    "Score",
]
