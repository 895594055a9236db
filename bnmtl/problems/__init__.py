"""Generators of related tasks: true networks, and rows sampled from them."""

from bnmtl.problems.draws import random_network, sample
from bnmtl.problems.related import ALARM_COMPONENTS, components, deletion, perturb, unrelated

__all__ = [
    "ALARM_COMPONENTS",
    "components",
    "deletion",
    "perturb",
    "random_network",
    "sample",
    "unrelated",
]
