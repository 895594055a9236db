"""The one place that says when two scores tie and who wins a tie."""

import numpy as np

from bnmtl.seeding import name_hash


def tolerance(empty_score):
    """Smallest difference of scores that counts: rounding grows with the score of the empty graph.

    Parameters
    ----------
    empty_score : float
        Score of the configuration without arcs, in nats.
    """
    return max(1e-9, 1e-12 * abs(empty_score))


class Ties:
    """Seeded order of pairs of variables, and a seeded coin for the direction within each.

    Both depend on the seed and the two names alone, so that neither the order of columns nor the
    variables around them matter.

    Parameters
    ----------
    variables : sequence of str
    seed : int
    tolerance : float
        Scores that differ by no more are ties.

    Attributes
    ----------
    keys : uint64 array of shape (n, n)
        Symmetric; among tied pairs the smallest key wins.
    coins : bool array of shape (n, n)
        [a, b] true where a -> b wins against b -> a.
    """

    def __init__(self, variables, seed, tolerance):
        self.tolerance = tolerance
        own = np.array([name_hash(seed, variable) for variable in variables], np.uint64)
        low = np.minimum.outer(own, own)
        high = np.maximum.outer(own, own)
        self.keys = _mixed(low ^ _mixed(high))
        heads = (self.keys >> np.uint64(63)).astype(bool)
        self.coins = heads == np.less.outer(own, own)
        np.fill_diagonal(self.coins, False)


def _mixed(values):
    """Scramble 64-bit integers (the finalizer of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
