"""MOB-ESP: class frequencies by out-of-bag vote in the leaves of each tree."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bnmtl.errors import check_choice, check_number
from bnmtl.trees.bagged import TreeEnsemble
from bnmtl.trees.probability import leaf_counts, majority_votes, smoothed


class MOBESP(TreeEnsemble):
    """Mean out-of-bag example-specific probabilities.

    Each training case is classified by the vote of the trees that have not seen it. In each leaf of
    each tree it is counted how often cases with such a vote are of each class: seen cases as often
    as the bag holds them, the others once. A new case gets the mean over trees of these
    frequencies, in its leaves and for the vote of all trees on it.

    Parameters
    ----------
    n_estimators : int, default=100
    oob_weight : float, default=1.0
        How much a case counts in the leaves of trees that have not seen it, 0 or more.
    empty : {"leaf", "skip"}, default="leaf"
        What a tree says if no case of the leaf had the vote: "leaf": the frequencies of all cases
        of the leaf, "skip": nothing. If no tree says anything, the prior of the classes.
    criterion : {"entropy", "gini", "log_loss"}, default="entropy"
    max_depth : int, default=None
    min_samples_leaf : int or float, default=1
        As in `sklearn.tree.DecisionTreeClassifier`; a case counts as often as the bag holds it.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    n_jobs : int, default=None
        Number of threads, as in joblib; None is 1. It does not affect the result.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    class_prior_ : numpy.ndarray of float, shape (n_classes,)
        Shares of the classes in the training set.
    estimators_ : list of sklearn.tree.DecisionTreeClassifier
        Of the positions of the classes; each split chooses from int(log2(n_features)) + 1 features.
    bags_ : numpy.ndarray of int, shape (n_estimators, n_cases)
        How often each tree has seen each case of a weight above 0.
    n_without_vote_ : int
        Number of training cases that all trees have seen; they count in no vote.
    oob_proba_ : numpy.ndarray of float, shape (n_cases, n_classes)
        Probabilities of the training cases of a weight above 0 by the trees that have not seen
        them; NaN if all trees have seen the case. Computed when first asked for.
    oob_mask_ : numpy.ndarray of bool, shape (n_cases,)
        Whether a tree has not seen the case.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if `X` has column names, all of them text.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for parameters out of range, and as in scikit-learn for invalid `X` and `y`.

    Notes
    -----
    Nothing that ``oob_proba_`` counts knows the label of the case: its own count is taken out, and
    votes on the other cases of its leaves come from trees that have not seen it either.

    References
    ----------
    Nielsen (2012), "MOB-ESP and other improvements in probability estimation". The paper has two
    classes and says nothing of leaves without the vote; the rest is ours.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MOBESP(random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(1), model.n_without_vote_
    (array([[1., 0., 0.]]), 0)
    """

    random_features = True

    def __init__(
        self,
        n_estimators=100,
        oob_weight=1.0,
        empty="leaf",
        *,
        criterion="entropy",
        max_depth=None,
        min_samples_leaf=1,
        random_state=None,
        n_jobs=None,
    ):
        self.oob_weight = oob_weight
        self.empty = empty
        super().__init__(n_estimators, criterion, max_depth, min_samples_leaf, random_state, n_jobs)

    def count_empty(self, X):
        """Number of trees that have seen no case with the vote in the leaf of each case.

        Parameters
        ----------
        X : array-like of numbers, shape (n_cases, n_features)

        Returns
        -------
        numpy.ndarray of int, shape (n_cases,)
        """
        leaves = self.apply(X).T
        votes = self._votes_of(leaves)
        known = [rows.of(places, votes)[1] for rows, places in zip(self._rows, leaves, strict=True)]
        return (~np.stack(known)).sum(axis=0)

    def _learn(self, leaves, codes, weights):
        n_classes = len(self.classes_)
        self._leaf_votes, self._leaf_counts, self._rows = [], [], []
        shares = []
        for tree, bag, places in zip(self.estimators_, self.bags_, leaves, strict=True):
            seen = leaf_counts(places, codes, bag * weights, tree.tree_.node_count, n_classes)
            self._leaf_votes.append(seen.argmax(axis=1))
            shares.append(np.where(bag > 0, bag, float(self.oob_weight)) * weights)
            self._leaf_counts.append(
                leaf_counts(places, codes, shares[-1], tree.tree_.node_count, n_classes)
            )
        votes = np.stack([vote[at] for vote, at in zip(self._leaf_votes, leaves, strict=True)])
        out_of_bag = majority_votes(np.where(self.bags_ == 0, votes, -1), n_classes)
        self._oob_votes, self.oob_mask_ = out_of_bag, out_of_bag >= 0
        self.n_without_vote_ = int((~self.oob_mask_).sum())
        has_vote = np.flatnonzero(self.oob_mask_)
        for places, share in zip(leaves, shares, strict=True):
            at = places[has_vote], out_of_bag[has_vote], codes[has_vote]
            self._rows.append(_VoteRows.counted(*at, share[has_vote], n_classes))
        self._unseen = leaves, votes, codes, np.stack(shares)
        self.__dict__.pop("oob_proba_", None)

    def _probabilities(self, leaves):
        votes, n_cases = self._votes_of(leaves), leaves.shape[1]
        sums, n_trees = np.zeros((n_cases, len(self.classes_))), np.zeros((n_cases, 1), dtype=int)
        for rows, counts, places in zip(self._rows, self._leaf_counts, leaves, strict=True):
            p, is_said = self._said(rows.of(places, votes)[0], counts[places])
            sums += np.where(is_said[:, None], p, 0.0)
            n_trees += is_said[:, None]
        prior = np.tile(self.class_prior_, (n_cases, 1))
        return np.divide(sums, n_trees, out=prior, where=n_trees > 0)

    @cached_property
    def oob_proba_(self):
        """Probabilities of the training cases by the trees that have not seen them."""
        check_is_fitted(self, "estimators_")
        leaves, votes, codes, shares = self._unseen
        n_classes, is_free = len(self.classes_), self.bags_ == 0
        votes = np.where(is_free, votes, -1)
        # The cases of a leaf stand together.
        order = np.argsort(leaves, axis=1, kind="stable")
        ordered = np.take_along_axis(leaves, order, axis=1)
        start, end = (
            np.stack([np.searchsorted(*pair, side) for pair in zip(ordered, leaves, strict=True)])
            for side in ("left", "right")
        )
        size = end - start
        found = np.full((len(codes), n_classes), np.nan)
        for case in np.flatnonzero(self.oob_mask_):
            trees = np.flatnonzero(is_free[:, case])
            # The other cases in its leaves, and the number of the tree among these.
            starts, sizes = start[trees, case], size[trees, case]
            at = np.repeat(np.arange(len(trees)), sizes)
            within = np.arange(len(at)) - np.repeat(sizes.cumsum() - sizes, sizes)
            others = order[trees[at], starts[at] + within]
            at, others = at[others != case], others[others != case]
            # Votes on them are those of trees that have seen neither.
            known, place = np.unique(others, return_inverse=True)
            voted = majority_votes(votes[np.ix_(trees, known)], n_classes)[place]
            cells, n_cells = at * n_classes + codes[others], len(trees) * n_classes
            weights = shares[trees[at], others]
            of_vote, of_leaf = (
                np.bincount(cells, counted, n_cells).reshape(-1, n_classes)
                for counted in (weights * (voted == self._oob_votes[case]), weights)
            )
            p, is_said = self._said(of_vote, of_leaf)
            found[case] = p[is_said].mean(axis=0) if is_said.any() else self.class_prior_
        return found

    def _votes_of(self, leaves):
        """The vote of all trees on each case."""
        votes = [vote[at] for vote, at in zip(self._leaf_votes, leaves, strict=True)]
        return majority_votes(np.stack(votes), len(self.classes_))

    def _said(self, of_vote, of_leaf):
        """What a tree says of cases, and of which it says something."""
        p = smoothed(of_vote, None, self.class_prior_)
        if self.empty == "leaf":
            p = np.where(np.isnan(p), smoothed(of_leaf, None, self.class_prior_), p)
        return p, ~np.isnan(p[:, 0])

    def _check_parameters(self):
        check_number("oob_weight", self.oob_weight, least=0)
        check_choice("empty", self.empty, ("leaf", "skip"))


class _VoteRows(NamedTuple):
    """Class counts of the cases of a leaf that had a vote, for the pairs that occur.

    Parameters
    ----------
    keys : numpy.ndarray of int, shape (n_pairs,)
        Leaf and vote as one number, sorted.
    counts : numpy.ndarray of float, shape (n_pairs, n_classes)
    """

    keys: np.ndarray
    counts: np.ndarray

    @classmethod
    def counted(cls, leaves, votes, codes, weights, n_classes):
        """From the leaf, the vote, the class and the weight of each case."""
        keys, at = np.unique(leaves * n_classes + votes, return_inverse=True)
        counts = leaf_counts(at, codes, weights, len(keys), n_classes)
        is_known = counts.any(axis=1)
        return cls(keys[is_known], counts[is_known])

    def of(self, leaves, votes):
        """Counts of some leaves and votes, 0 where there are none, and whether there are some."""
        n_classes = self.counts.shape[1]
        found = np.zeros((len(leaves), n_classes))
        if not len(self.keys):
            return found, np.zeros(len(leaves), dtype=bool)
        wanted = leaves * n_classes + votes
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        is_known = self.keys[at] == wanted
        found[is_known] = self.counts[at[is_known]]
        return found, is_known
