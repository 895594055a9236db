"""Probability estimation trees: decision trees whose leaves give smoothed probabilities."""

from bnmtl.trees.probability import ProbabilityTree

__all__ = ["ProbabilityTree"]
