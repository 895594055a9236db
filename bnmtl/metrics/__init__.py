"""Metrics of graphs and networks, and of predictions (`prediction`)."""

from bnmtl.metrics import prediction
from bnmtl.metrics.structure import (
    SkeletonScores,
    edit_distance,
    kl_divergence,
    mean_log_likelihood,
    shd,
    skeleton_scores,
)

__all__ = [
    "SkeletonScores",
    "edit_distance",
    "kl_divergence",
    "mean_log_likelihood",
    "prediction",
    "shd",
    "skeleton_scores",
]
