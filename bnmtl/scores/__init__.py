"""Decomposable network scores: public score objects, and scores bound to rows of tasks."""

from bnmtl.scores.bound import PART_CONCENTRATION, PARTITIONS, BoundScore
from bnmtl.scores.decomposable import (
    AIC,
    BIC,
    CONCENTRATIONS,
    K2,
    BDeu,
    BDs,
    LogLikelihood,
    MixedDirichlet,
    Score,
)

__all__ = [
    "AIC",
    "BIC",
    "CONCENTRATIONS",
    "K2",
    "PARTITIONS",
    "PART_CONCENTRATION",
    "BDeu",
    "BDs",
    "BoundScore",
    "LogLikelihood",
    "MixedDirichlet",
    "Score",
]
