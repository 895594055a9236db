"""Queries of active learning: pools of cases, costs, and picks by utility, drawn or largest."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from bnmtl.decorate.artificial import take
from bnmtl.decorate.committee import check_estimator
from bnmtl.errors import MOST_MEMBERS, InputError, InputTypeError, check_whole
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks.labels import read_labels
from bnmtl.tasks.tables import plain_table
from bnmtl.wording import count, shown, type_of


def pick_best(utilities, batch_size, rng):
    """Positions of the largest utilities; ties are drawn.

    Parameters
    ----------
    utilities : numpy.ndarray of float, shape (n_candidates,)
    batch_size : int
        At most ``n_candidates``.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of int, shape (batch_size,)
    """
    order = rng.permutation(len(utilities))
    return order[np.argsort(-utilities[order], kind="stable")[:batch_size]]


def draw_in_proportion(utilities, batch_size, rng):
    """Positions drawn one after another without replacement, in proportion to the utilities.

    Parameters
    ----------
    utilities : numpy.ndarray of float, shape (n_candidates,)
        0 or more; where only zeros are left, each is equally likely.
    batch_size : int
        At most ``n_candidates``.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of int, shape (batch_size,)
    """
    left, picked = utilities.astype(float), []
    is_left = np.ones(len(left), dtype=bool)
    for _ in range(batch_size):
        shares = left if left.any() else is_left.astype(float)
        picked.append(int(rng.choice(len(left), p=shares / shares.sum())))
        left[picked[-1]], is_left[picked[-1]] = 0.0, False
    return np.array(picked, dtype=int)


def pick(utilities, batch_size, rng, draws):
    """Positions drawn in proportion to the utilities, or those of the largest.

    Parameters
    ----------
    utilities, batch_size, rng
        As in `draw_in_proportion` and `pick_best`.
    draws : bool

    Returns
    -------
    numpy.ndarray of int, shape (batch_size,)
    """
    choose = draw_in_proportion if draws else pick_best
    return choose(utilities, batch_size, rng)


def by_pick(utilities, candidates, picked, n_rows):
    """Utilities before each pick, as scikit-activeml returns them.

    Parameters
    ----------
    utilities : numpy.ndarray of float, shape (n_candidates,)
    candidates : numpy.ndarray of int, shape (n_candidates,)
        Rows of the candidates.
    picked : numpy.ndarray of int, shape (batch_size,)
        Positions in ``candidates``.
    n_rows : int

    Returns
    -------
    numpy.ndarray of float, shape (batch_size, n_rows)
        NaN for rows that are not candidates, and for rows picked before.
    """
    found = np.full((len(picked), n_rows), np.nan)
    found[:, candidates] = utilities
    for step, position in enumerate(picked[:-1], 1):
        found[step:, candidates[position]] = np.nan
    return found


class Pool(NamedTuple):
    """Cases with and without a label.

    Parameters
    ----------
    X : pandas.DataFrame or numpy.ndarray, shape (n_rows, n_columns)
    y : numpy.ndarray, shape (n_labeled,)
        Labels of the rows that have one.
    labeled, candidates : numpy.ndarray of int
        Rows with a label, and rows that may be picked.
    """

    X: object
    y: np.ndarray
    labeled: np.ndarray
    candidates: np.ndarray

    @property
    def labeled_cases(self):
        """Rows that have a label."""
        return take(self.X, self.labeled)

    @property
    def candidate_cases(self):
        """Rows that may be picked."""
        return take(self.X, self.candidates)


def is_missing(y, missing_label):
    """Whether each label is missing.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    missing_label : object
        NaN and None both stand for every missing value; those are missing in any case.

    Returns
    -------
    numpy.ndarray of bool, shape (n_rows,)

    Raises
    ------
    InputTypeError
        If ``missing_label`` is not one value.
    """
    if not pd.api.types.is_scalar(missing_label):
        message = f"must be one value that marks rows without a label, got {shown(missing_label)}"
        raise InputTypeError(message, argument="missing_label", remedy="None is such a value")
    labels = pd.Series(y).to_numpy(dtype=object)
    missing = np.asarray(pd.isna(labels), dtype=bool)
    if pd.isna(missing_label):
        return missing
    missing[~missing] = [_is_equal(label, missing_label) for label in labels[~missing]]
    return missing


def _is_equal(label, missing_label):
    """Whether a label is the one for missing ones; nested values are not."""
    return bool(pd.api.types.is_scalar(label) and label == missing_label)


def known_classes(classes):
    """The labels that may occur.

    Parameters
    ----------
    classes : array-like of labels

    Returns
    -------
    numpy.ndarray of shape (n_classes,)
    """
    if isinstance(classes, str | Mapping) or not np.iterable(classes):
        message = f"must be a list of all labels that may occur or None, got {shown(classes)}"
        raise InputTypeError(message, argument="classes", remedy="for example ['no', 'yes']")
    return read_labels(list(classes), "classes")


def read_pool(X, y, candidates, batch_size, missing_label, classes):
    """Check the arguments of a query.

    Parameters
    ----------
    X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    candidates : None or array-like of int
    batch_size : int
    missing_label : object
    classes : None or array-like

    Returns
    -------
    Pool
    """
    X = plain_table(X)
    if X.ndim != 2 or not len(X):
        message = f"must be a table with a row for each case, got {type_of(X)}"
        raise InputError(message, argument="X")
    if not np.iterable(y) or isinstance(y, str | Mapping) or _as_objects(y).ndim != 1:
        message = f"must be one label for each row, got {type_of(y)}"
        remedy = "select one column, or `MultitaskQuery` takes several"
        raise InputTypeError(message, argument="y", remedy=remedy)
    missing = is_missing(y, missing_label)
    if missing.shape != (len(X),):
        rule = f"must be one label for each row, {len(X)}, some of them missing"
        raise InputError(f"{rule}, got {len(missing)!r}", argument="y")
    labeled = np.flatnonzero(~missing)
    labels = read_labels(_as_objects(y)[labeled])
    if classes is not None:
        unknown = sorted(set(labels.tolist()) - set(known_classes(classes).tolist()), key=str)
        if unknown:
            message = f"must hold labels of `classes` only, got {unknown[0]!r}"
            remedy = "add it to `classes`"
            raise InputError(message, argument="y", options=("classes",), remedy=remedy)
    rows = rows_to_pick(candidates, missing)
    check_batch_size(batch_size, len(rows))
    return Pool(X, labels, labeled, rows)


def _as_objects(y):
    """Labels as an array of objects; those that have no shape together have two dimensions."""
    try:
        return np.asarray(y if hasattr(y, "__len__") else list(y), dtype=object)
    except ValueError:
        return np.empty((len(y), 0), dtype=object)


def check_batch_size(batch_size, n_candidates):
    """Raise unless so many candidates can be picked."""
    check_whole("batch_size", batch_size, least=1)
    if batch_size > n_candidates:
        message = (
            f"must not exceed the number of rows without a label, got {batch_size!r}; "
            f"{count(n_candidates, 'row')} can be picked"
        )
        raise InputError(message, argument="batch_size")


def rows_to_pick(candidates, missing):
    """Rows that may be picked, sorted.

    Parameters
    ----------
    candidates : None or array-like of int
        None is all without a label.
    missing : numpy.ndarray of bool, shape (n_rows,)
        Whether rows lack a label.

    Returns
    -------
    numpy.ndarray of int
    """
    if not missing.any():
        raise InputError("must lack some labels; each row has one", argument="y")
    if candidates is None:
        return np.flatnonzero(missing)
    rows = np.asarray(candidates)
    if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
        message = f"must be positions of rows of `X` or None, got {type_of(candidates)}"
        raise InputTypeError(message, argument="candidates", remedy="`np.flatnonzero` of a mask")
    if rows.min() < 0 or rows.max() >= len(missing):
        wrong = int(rows.max() if rows.max() >= len(missing) else rows[rows < 0][0])
        message = f"must be positions of rows of `X`, which has {len(missing)}, got {wrong!r}"
        raise InputError(message, argument="candidates")
    if not missing[rows].all():
        message = f"must be rows without a label, got {int(rows[~missing[rows]][0])!r}"
        raise InputError(message, argument="candidates")
    return np.unique(rows)


def read_costs(cost, names, noun):
    """The cost of each column or row, above 0; the caller checks how many there are.

    Parameters
    ----------
    cost : mapping name -> number, or array-like
    names : sequence
        Of the columns, or the task of each row.
    noun : str
        What the names are of.

    Returns
    -------
    numpy.ndarray of float
    """
    if isinstance(cost, Mapping):
        lacking = sorted(set(names) - set(cost), key=str)
        if lacking:
            message = f"must have a value for each {noun}; {lacking[0]} has none"
            raise InputError(message, argument="cost")
        cost = [cost[name] for name in names]
    try:
        costs = np.asarray(cost, dtype=float)
    except (TypeError, ValueError):
        raise InputTypeError(f"must be numbers, got {type_of(cost)}", argument="cost") from None
    wrong = ~(np.isfinite(costs) & (costs > 0))
    if wrong.any():
        raise InputError(f"must be above 0, got {float(costs[wrong][0])!r}", argument="cost")
    return costs


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
        utilities = np.zeros(len(pool.candidates))
        if len(pool.y):
            utilities = self._utilities(pool, committee)
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
            raise InputTypeError(f"{rule}, got {type_of(committee)}", argument="committee")
        return self._asked(X, y, candidates, batch_size, return_utilities, committee)

    def _check(self, pool):
        check_estimator(self.estimator)
        check_whole("n_estimators", self.n_estimators, least=1, most=MOST_MEMBERS)

    def _utilities(self, pool, committee):
        if committee is None:
            committee = self.committee().fit(pool.labeled_cases, pool.y)
        members = committee.member_probabilities(pool.candidate_cases)
        return self._utility(members, committee, pool)

    def _utility(self, members, committee, pool):
        """The utility of each candidate."""
        raise NotImplementedError
