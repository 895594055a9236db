"""Probability estimation trees: decision trees whose leaves give class probabilities."""

from bnmtl.trees.bagged import BaggedPETs, EnhancedBaggedPETs
from bnmtl.trees.mob_esp import MOBESP
from bnmtl.trees.probability import ProbabilityTree

__all__ = ["MOBESP", "BaggedPETs", "EnhancedBaggedPETs", "ProbabilityTree"]
