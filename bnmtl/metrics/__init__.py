"""How good a result is; the arguments are always (true, learned)."""

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
    "shd",
    "skeleton_scores",
]
