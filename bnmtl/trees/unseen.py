"""Out-of-bag probabilities of MOB-ESP: only trees that have not seen a case speak of it."""

import numpy as np

from bnmtl.trees.leaves import majority_votes


class Unseen:
    """What trees that have not seen a case know of it and of the cases in its leaves.

    Parameters
    ----------
    leaves : numpy.ndarray of int, shape (n_trees, n_cases)
    votes : numpy.ndarray of int, shape (n_trees, n_cases)
        The class that each tree votes for.
    bags : numpy.ndarray of int, shape (n_trees, n_cases)
        How often each tree has seen each case.
    codes : numpy.ndarray of int, shape (n_cases,)
    shares : numpy.ndarray of float, shape (n_trees, n_cases)
        How much each case counts in its leaf of each tree.
    n_classes : int
    """

    def __init__(self, leaves, votes, bags, codes, shares, n_classes):
        self._votes = np.where(bags == 0, votes, -1)
        self._is_free, self._codes, self._shares = bags == 0, codes, shares
        self._n_classes = n_classes
        self._order = np.argsort(leaves, axis=1, kind="stable")
        ordered = np.take_along_axis(leaves, self._order, axis=1)
        self._start, end = (
            np.stack([np.searchsorted(*pair, side) for pair in zip(ordered, leaves, strict=True)])
            for side in ("left", "right")
        )
        self._size = end - self._start

    def counts(self, case, vote):
        """Class counts of the leaves of a case, in each tree that has not seen it, without it.

        The votes on the other cases are those of trees that have seen neither.

        Parameters
        ----------
        case, vote : int
            The vote on the case of the trees that have not seen it.

        Returns
        -------
        (numpy.ndarray of float, numpy.ndarray of float), each of shape (n_free_trees, n_classes)
            Of the cases with the vote, and of all cases.
        """
        trees = np.flatnonzero(self._is_free[:, case])
        at, others = self._neighbors(trees, case)
        known, place = np.unique(others, return_inverse=True)
        voted = majority_votes(self._votes[np.ix_(trees, known)], self._n_classes)[place]
        where, n = at * self._n_classes + self._codes[others], len(trees) * self._n_classes
        weights = self._shares[trees[at], others]
        return tuple(
            np.bincount(where, some, n).reshape(len(trees), -1)
            for some in (weights * (voted == vote), weights)
        )

    def _neighbors(self, trees, case):
        """The other cases in the leaves of a case: number of the tree among some, and case."""
        sizes, starts = self._size[trees, case], self._start[trees, case]
        at = np.repeat(np.arange(len(trees)), sizes)
        within = np.arange(len(at)) - np.repeat(sizes.cumsum() - sizes, sizes)
        others = self._order[trees[at], starts[at] + within]
        is_other = others != case
        return at[is_other], others[is_other]
