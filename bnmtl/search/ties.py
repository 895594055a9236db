"""Definition of ties between scores, and of their winners."""

import numpy as np

from bnmtl.seeding import name_hash


def tolerance(empty_score):
    """Smallest difference of scores that counts; rounding grows with the score of the empty graph.

    Parameters
    ----------
    empty_score : float
        Score of the configuration without arcs, in nats.
    """
    return max(1e-9, 1e-12 * abs(empty_score))


class Ties:
    """Seeded order of pairs of variables, and of the variables for the direction within each.

    Both depend only on the seed and the two names, not on the order of columns or other variables.

    Parameters
    ----------
    variables : sequence of str
    seed : int
    tolerance : float
        Scores that differ by at most this value tie.

    Attributes
    ----------
    keys : int64 array of shape (n, n)
        Symmetric; among tied pairs the smallest key wins.
    coins : bool array of shape (n, n)
        [a, b] is true if a -> b wins against b -> a, that is, if a comes first in a random order.
        Such coins close no cycle, so several can be followed at once.
    arc_keys : int64 array of shape (n, n)
        A random number for each arc; their exclusive or identifies a graph.
    """

    def __init__(self, variables, seed, tolerance):
        self.tolerance = tolerance
        hashes = np.array([name_hash(seed, variable) for variable in variables], np.uint64)
        low = np.minimum.outer(hashes, hashes)
        high = np.maximum.outer(hashes, hashes)
        self.keys = _mixed(low ^ _mixed(high)).view(np.int64)
        self.coins = np.less.outer(hashes, hashes)
        self.arc_keys = _mixed(_mixed(hashes)[:, None] ^ hashes).view(np.int64)

    def best(self, values):
        """Indices of the values that tie with the largest."""
        values = np.asarray(values)
        return np.flatnonzero(values >= values.max() - self.tolerance).tolist()

    def ranked(self, values):
        """Indices of all values in decreasing order; ties keep their order."""
        left, ranks = list(range(len(values))), []
        while left:
            ranks.append(left.pop(self.best([values[at] for at in left])[0]))
        return ranks

    def oriented(self, gains, i, j):
        """Gains of the states of a pair, with tied directions resolved by its coin.

        Parameters
        ----------
        gains : float array of shape (k, 3)
            Columns -1 (j -> i), 0, +1 (i -> j).
        i, j : int

        Returns
        -------
        float array of shape (k, 3)
            If the two directions of a task tie, the favored one keeps the value and the other gets
            it minus the tolerance, so that rounding does not orient an arc.
        """
        favored, other = (2, 0) if self.coins[i, j] else (0, 2)
        # Two illegal directions differ by nan, which is not a tie.
        with np.errstate(invalid="ignore"):
            tied = np.abs(gains[:, 0] - gains[:, 2]) <= self.tolerance
        oriented = gains.copy()
        oriented[tied, other] = oriented[tied, favored] - self.tolerance
        return oriented


def _mixed(values):
    """Scramble 64-bit integers (the finalizer of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
