"""What strategies of active learning have in common: utilities of a pool, and a pick."""

import numpy as np
from sklearn.base import BaseEstimator

from bnmtl.active.picking import by_pick, pick
from bnmtl.active.pool import read_pool
from bnmtl.decorate.committee import check_estimator
from bnmtl.errors import InputTypeError, check_whole
from bnmtl.seeding import generator, seed_of
from bnmtl.wording import type_of


class Query(BaseEstimator):
    """Base of strategies: utilities of the candidates, from which a batch is picked."""

    #: Whether batches are drawn in proportion to the utilities instead of picked by rank.
    draws = False

    def query(self, X, y, candidates=None, batch_size=1, return_utilities=False):
        """Choose rows to label next.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
            All cases, with and without a label.
        y : array-like of shape (n_rows,)
            Their labels; ``missing_label`` where there is none.
        candidates : array-like of int, default=None
            Rows that may be chosen. None is all without a label.
        batch_size : int, default=1
        return_utilities : bool, default=False

        Returns
        -------
        rows : numpy.ndarray of int, shape (batch_size,)
            In the order in which they were picked.
        utilities : numpy.ndarray of float, shape (batch_size, n_rows)
            Only if asked for. Larger is better; NaN for rows that could not be picked (any more).

        Raises
        ------
        TypeError, ValueError
            If no row lacks a label, for rows that cannot be chosen, a larger ``batch_size`` than
            there are candidates, labels that are not in ``classes`` or of several columns.
        """
        return self._asked(X, y, candidates, batch_size, return_utilities)

    def _asked(self, X, y, candidates, batch_size, return_utilities, committee=None):
        pool = read_pool(X, y, candidates, batch_size, self.missing_label, self.classes)
        self._check(pool)
        if len(pool.y):
            utilities = self._utilities(pool, committee)
        else:
            utilities = np.zeros(len(pool.candidates))
        rng = generator(seed_of(self.random_state), "pick", len(pool.y))
        picked = pick(utilities, batch_size, rng, self.draws)
        rows = pool.candidates[picked]
        if not return_utilities:
            return rows
        return rows, by_pick(utilities, pool.candidates, picked, len(pool.X))

    def _check(self, pool):
        """Check the parameters, also where there is no label."""


class CommitteeQuery(Query):
    """Base of strategies that fit a committee to the labeled cases.

    The parameters are those of `ActiveDecorate`.
    """

    # What is used of a committee.
    _used = ("member_probabilities",)

    def __init__(
        self,
        estimator=None,
        n_estimators=15,
        missing_label=np.nan,
        classes=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.missing_label = missing_label
        self.classes = classes
        self.random_state = random_state

    def committee(self):
        """The committee, not fitted: a scikit-learn classifier with ``member_probabilities``."""
        raise NotImplementedError

    def query(self, X, y, candidates=None, batch_size=1, return_utilities=False, committee=None):
        """Choose rows to label next.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
            All cases, with and without a label.
        y : array-like of shape (n_rows,)
            Their labels; ``missing_label`` where there is none.
        candidates : array-like of int, default=None
            Rows that may be chosen. None is all without a label.
        batch_size : int, default=1
        return_utilities : bool, default=False
        committee : fitted classifier, default=None
            What ``committee()`` returns, fitted to the labeled cases before; None fits it.

        Returns
        -------
        rows : numpy.ndarray of int, shape (batch_size,)
            In the order in which they were picked.
        utilities : numpy.ndarray of float, shape (batch_size, n_rows)
            Only if asked for. Larger is better; NaN for rows that could not be picked (any more).

        Raises
        ------
        TypeError, ValueError
            As `RandomQuery.query`, for parameters out of range and other committees, and in the
            fit of the committee.
        """
        if committee is not None and not all(hasattr(committee, name) for name in self._used):
            rule = "must be what `committee()` returns, fitted, or None"
            raise InputTypeError("committee", rule, type_of(committee))
        return self._asked(X, y, candidates, batch_size, return_utilities, committee)

    def _check(self, pool):
        check_estimator(self.estimator)
        check_whole("n_estimators", self.n_estimators, least=1)

    def _utilities(self, pool, committee):
        if committee is None:
            committee = self.committee().fit(pool.labeled_cases, pool.y)
        members = committee.member_probabilities(pool.candidate_cases)
        return self._utility(members, committee, pool)

    def _utility(self, members, committee, pool):
        """The utility of each candidate."""
        raise NotImplementedError
