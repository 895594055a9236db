"""Acquisitions of features: incomplete cases to complete, or cells to measure, of known labels."""

import inspect
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier

from bnmtl.active.query import pick_best, read_costs
from bnmtl.active.utilities import small_margin
from bnmtl.classification import NetworkImputer
from bnmtl.decorate.artificial import stacked, take
from bnmtl.decorate.committee import check_estimator
from bnmtl.decorate.inputs import TreeInputs, columns_of
from bnmtl.errors import MOST_MEMBERS, InputError, InputTypeError, check_whole
from bnmtl.metrics.cases import probabilities_of
from bnmtl.seeding import drawn_seed, generator, seed_of, with_seed
from bnmtl.tasks.labels import read_labels
from bnmtl.tasks.tables import plain_table, sorted_columns
from bnmtl.wording import type_of


class Incomplete(NamedTuple):
    """Checked arguments of an acquisition.

    Parameters
    ----------
    X : pandas.DataFrame or numpy.ndarray, shape (n_rows, n_columns)
    y : numpy.ndarray, shape (n_rows,)
    observed : numpy.ndarray of bool, shape (n_rows, n_columns)
    costs : numpy.ndarray of float, shape (n_columns,)
        1 where none are given.
    has_costs : bool
    """

    X: object
    y: np.ndarray
    observed: np.ndarray
    costs: np.ndarray
    has_costs: bool

    @property
    def complete(self):
        """Rows whose features are all observed."""
        return np.flatnonzero(self.observed.all(axis=1))

    @property
    def incomplete(self):
        """Rows that can be completed."""
        return np.flatnonzero(~self.observed.all(axis=1))

    def case_costs(self):
        """The cost of completing each incomplete row."""
        if not self.has_costs:
            return np.ones(len(self.incomplete))
        return (~self.observed)[self.incomplete] @ self.costs


def read_incomplete(X, y, observed, cost):
    """Check the arguments of an acquisition.

    Parameters
    ----------
    X, y, observed, cost
        As in `ErrorSampling.acquire`.

    Returns
    -------
    Incomplete
    """
    X = plain_table(X)
    y, observed = read_labels(y), np.asarray(observed)
    if X.ndim != 2 or not len(X):
        message = f"must be a table with a row for each case, got {type_of(X)}"
        raise InputError(message, argument="X")
    if y.shape != (len(X),):
        message = f"must be one label for each row, {len(X)}, got {type_of(y)}"
        raise InputError(message, argument="y")
    if (y == y[0]).all():
        raise InputError(f"must have at least two classes; all rows are `{y[0]}`", argument="y")
    if observed.shape != X.shape or observed.dtype != bool:
        found = observed.dtype.name if observed.shape == X.shape else observed.shape
        message = f"must be True or False for each cell of `X`, {X.shape}, got {found!r}"
        raise InputError(message, argument="observed", options=("X",))
    if observed.all():
        raise InputError("must mark cells that can be acquired; all are True", argument="observed")
    frame, costs = pd.DataFrame(X), np.ones(X.shape[1])
    if cost is not None:
        costs = _costs(cost, frame.columns)
    # What is known of cells that can still be acquired is hidden.
    if (frame.notna().to_numpy() & ~observed).any():
        frame = frame.mask(~observed)
        X = frame if isinstance(X, pd.DataFrame) else frame.to_numpy()
    return Incomplete(X, y, observed, costs, cost is not None)


def _costs(cost, columns):
    """The cost of each column."""
    if isinstance(cost, pd.Series):
        if not cost.index.is_unique:
            name = cost.index[cost.index.duplicated()][0]
            message = f"must have one value for each column; {name} has several"
            raise InputError(message, argument="cost")
        cost = cost.to_dict()
    costs = read_costs(cost, columns, "column")
    if costs.shape != (len(columns),):
        raise InputError(f"must be one number for each column, {len(columns)}", argument="cost")
    return costs


_WRONG = 2.0  # utility of a misclassified case, above all others


class _Acquisition(BaseEstimator):
    """Base of strategies that complete cases: utilities per incomplete case, divided by cost."""

    def acquire(self, X, y, observed, batch_size=10, cost=None):
        """Choose cases whose missing features to acquire next.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
            NaN or another missing value where a feature is not known.
        y : array-like of labels, shape (n_rows,)
        observed : array-like of bool, shape (n_rows, n_columns)
            False for cells that can be acquired, whose values in `X`, if any, are not looked at. A
            missing cell that is marked stays missing (an imputer may fill it for a trial).
        batch_size : int, default=10
        cost : mapping or Series column -> number, or array-like of shape (n_columns,), default=None
            Cost of each feature, above 0; a case costs the sum over its missing features. None is
            the same for all cases.

        Returns
        -------
        numpy.ndarray of int, shape (batch_size,)
            Rows, the most useful first.

        Raises
        ------
        TypeError, ValueError
            If all cases are complete or of one class, for shapes that disagree, costs of 0 or less,
            a larger ``batch_size`` than there are incomplete cases or, with `GODA`, than
            ``n_candidates``; as the estimator.
        """
        table = read_incomplete(X, y, observed, cost)
        self._check_batch_size(batch_size, len(table.incomplete))
        seed = seed_of(self.random_state)
        utilities = self._per_cost(self._utilities(table, seed), table.case_costs())
        rng = generator(seed, "acquire", len(table.incomplete))
        return table.incomplete[pick_best(utilities, batch_size, rng)]

    def _check_batch_size(self, batch_size, n_incomplete):
        check_whole("batch_size", batch_size, least=1)
        if batch_size > n_incomplete:
            rule = f"must not exceed the number of incomplete cases, {n_incomplete}"
            raise InputError(f"{rule}, got {batch_size!r}", argument="batch_size")

    def _per_cost(self, utilities, costs):
        """Utilities by which cases are picked."""
        return utilities / costs


class RandomAcquisition(_Acquisition):
    """Each incomplete case is equally likely, or more likely the less it costs: the floor.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def _utilities(self, table, seed):
        return generator(seed, "random", len(table.incomplete)).random(len(table.incomplete))


class ErrorSampling(_Acquisition):
    """Complete the cases that the current model misclassifies, then those it is least sure of.

    The model learns from all cases, complete or not. Misclassified cases come first, the cheaper
    ones before the others; of the rest the utility is 1 minus the difference of the two largest
    probabilities, divided by cost. Ties are drawn.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``predict_proba``. Decision trees of scikit-learn receive numbers, which may be
        missing, one indicator per nominal value; others receive frames as they are, with their
        missing cells. None is a `DecisionTreeClassifier` with two cases or more in each leaf.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    Notes
    -----
    Which cases are complete depends on their labels, so a model that learns from gaps as such, as
    the default does, learns something that complete new cases do not have. With such trees error
    sampling was better than random cases on three of five tables, and with trees whose gaps are
    drawn on all five (`python -m benchmarks.decorate.acquisitions`).

    References
    ----------
    Melville (2005), section 8.1.2 and algorithm 7.

    Examples
    --------
    >>> X = [[0, 1], [1, np.nan], [2, np.nan], [3, 1], [4, np.nan], [5, np.nan]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> rows = ErrorSampling(random_state=0).acquire(X, y, ~np.isnan(X), batch_size=1)
    >>> rows.tolist()
    [2]
    """

    def __init__(self, estimator=None, random_state=None):
        self.estimator = estimator
        self.random_state = random_state

    def _utilities(self, table, seed):
        check_estimator(self.estimator)
        rows, y = take(table.X, table.incomplete), table.y[table.incomplete]
        encode, template = _learner(self.estimator, table.X)
        model = _model(template, seed).fit(encode(table.X), table.y)
        p = probabilities_of(model, encode(rows), model.classes_)
        is_wrong = model.classes_[p.argmax(axis=1)] != y
        return np.where(is_wrong, _WRONG, small_margin(p[None]))

    def _per_cost(self, utilities, costs):
        is_wrong = utilities == _WRONG
        found = np.where(is_wrong, 1.0, utilities) / costs
        return found + is_wrong * (found.max() + 1)


class GODA(_Acquisition):
    """Complete the case whose imputed completion gives the best model of the complete cases.

    The model learns from complete cases only. Each candidate is completed by an imputer, several
    times, and added; the utility is the mean accuracy of the new models on the cases they learned
    from. A model is fitted for each candidate and each imputation, so it is slow. In our study it
    was on none of five tables beyond chance better than random cases
    (`python -m benchmarks.decorate.acquisitions`).

    Parameters
    ----------
    estimator : classifier, default=None
        As in `ErrorSampling`.
    imputer : object with ``fit(X, y)`` and ``transform(X, y)``, default=None
        It draws. None is ``NetworkImputer(fill="draw")``; the original has multiple imputation by
        EM.
    n_imputations : int, default=5
    n_candidates : int, default=None
        Number of incomplete cases, drawn at random, that are tried, at least ``batch_size``. None
        is all.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    References
    ----------
    Zheng & Padmanabhan (2002), "On active learning for data acquisition", ICDM; Melville (2005),
    section 8.3.
    """

    def __init__(
        self, estimator=None, imputer=None, n_imputations=5, n_candidates=None, random_state=None
    ):
        self.estimator = estimator
        self.imputer = imputer
        self.n_imputations = n_imputations
        self.n_candidates = n_candidates
        self.random_state = random_state

    def _check_batch_size(self, batch_size, n_incomplete):
        check_whole("n_candidates", self.n_candidates, least=1, optional=True)
        most = n_incomplete if self.n_candidates is None else min(self.n_candidates, n_incomplete)
        check_whole("batch_size", batch_size, least=1, most=most)

    def _utilities(self, table, seed):
        check_estimator(self.estimator)
        check_whole("n_imputations", self.n_imputations, least=1, most=MOST_MEMBERS)
        known, labels = take(table.X, table.complete), table.y[table.complete]
        _check_complete(table)
        found = np.full(len(table.incomplete), -1.0)  # worse than any that is tried
        tried = generator(seed, "candidates", len(found)).permutation(len(found))
        tried = np.sort(tried[: self.n_candidates])
        rows = table.incomplete[tried]
        accuracies = np.zeros((self.n_imputations, len(tried)))
        imputers = _imputers(self.imputer, seed, self.n_imputations, known, labels)
        encode, template = _learner(self.estimator, table.X)
        inputs = encode(known)
        for number, imputer in enumerate(imputers):
            imputed = encode(imputer.transform(take(table.X, rows), table.y[rows]))
            for at, row in enumerate(rows):
                X = stacked(inputs, take(imputed, [at]))
                y = np.append(labels, table.y[row])
                model = _model(template, seed).fit(X, y)
                accuracies[number, at] = np.mean(model.predict(X) == y)
        found[tried] = accuracies.mean(axis=0)
        return found


class ExpectedUtility(BaseEstimator):
    """Measure the cells whose values are expected to improve the model most, per cost.

    For each candidate cell, a learned network gives the probability of each value given all that is
    known of the case, its label included. The utility is the expectation over values of the gain in
    the mean probability that a new model gives to the true labels of all cases, divided by the
    cost; a loss is multiplied by it. A model is fitted for each candidate and value, so it is slow.
    In our study its cells were no better than random ones
    (`python -m benchmarks.decorate.acquisitions`).

    Parameters
    ----------
    estimator : classifier, default=None
        As in `ErrorSampling`.
    imputer : NetworkImputer, default=None
        Learned from the complete cases; a column of numbers has its bins, each tried by one value.
    n_candidates : int, default=30
        Number of missing cells, drawn at random, that are tried.
    n_values : int, default=None
        Number of values tried for each cell, the most probable ones, whose probabilities are
        normalized. None is all.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    References
    ----------
    Ours; after Melville, Saar-Tsechansky, Provost & Mooney (2005), "An expected utility approach to
    active feature-value acquisition", ICDM.
    """

    def __init__(
        self, estimator=None, imputer=None, n_candidates=30, n_values=None, random_state=None
    ):
        self.estimator = estimator
        self.imputer = imputer
        self.n_candidates = n_candidates
        self.n_values = n_values
        self.random_state = random_state

    def acquire_cells(self, X, y, observed, batch_size=10, cost=None):
        """Choose cells to measure next.

        Parameters
        ----------
        X, y, observed, cost
            As in `ErrorSampling.acquire`; a cell costs what its feature costs.
        batch_size : int, default=10
            At most ``n_candidates``.

        Returns
        -------
        numpy.ndarray of int, shape (batch_size, 2)
            Rows and columns, the most useful cell first.

        Raises
        ------
        TypeError, ValueError
            As `ErrorSampling.acquire`, and without two complete cases.
        """
        check_estimator(self.estimator)
        check_whole("n_candidates", self.n_candidates, least=1)
        check_whole("n_values", self.n_values, least=1, optional=True)
        table = read_incomplete(X, y, observed, cost)
        cells = _cells_to_try(table)
        check_whole("batch_size", batch_size, least=1, most=min(self.n_candidates, len(cells)))
        _check_complete(table)
        seed = seed_of(self.random_state)
        rng = generator(seed, "cells", len(cells))
        cells = cells[np.sort(rng.permutation(len(cells))[: self.n_candidates])]
        gains, costs = self._utilities(table, cells, seed), table.costs[cells[:, 1]]
        # A loss is the worse the more it costs.
        utilities = np.where(gains > 0, gains / costs, gains * costs)
        return cells[pick_best(utilities, batch_size, rng)]

    def _utilities(self, table, cells, seed):
        """Expected gain of each cell over its values."""
        frame = pd.DataFrame(table.X)
        encode, template = _learner(self.estimator, table.X)
        before = _fit_of(_model(template, seed), encode(frame), table.y)
        known, labels = frame.iloc[table.complete], table.y[table.complete]
        imputer = _network_imputer(self.imputer, seed).fit(known, labels)
        gains = np.zeros(len(cells))
        for column in np.unique(cells[:, 1]):
            places = np.flatnonzero(cells[:, 1] == column)
            rows, name = cells[places, 0], frame.columns[column]
            values = imputer.state_values(name)
            p = imputer.cell_probabilities(frame.iloc[rows], name, table.y[rows])
            for at, row, shares in zip(places, rows, p.to_numpy(), strict=True):
                tried = np.argsort(-shares, kind="stable")[: self.n_values]
                shares = shares[tried] / shares[tried].sum()
                for state, share in zip(tried, shares, strict=True):
                    changed = frame.copy()
                    changed.iloc[row, column] = values.iloc[state]
                    after = _fit_of(_model(template, seed), encode(changed), table.y)
                    gains[at] += share * (after - before)
        return gains


def _cells_to_try(table):
    """Rows and columns of the cells that can be acquired, by row and name of the column."""
    order = sorted_columns(table.X)
    order = np.arange(table.observed.shape[1]) if order is None else order
    cells = np.argwhere(~table.observed[:, order])
    return np.column_stack([cells[:, 0], order[cells[:, 1]]])


def _check_complete(table):
    """Raise unless there are complete cases to learn an imputer from."""
    if len(table.complete) < 2:
        message = f"must hold two complete cases, got {len(table.complete)!r}"
        raise InputError(message, argument="observed", remedy="complete some random cases first")


def _fit_of(model, X, y):
    """Mean probability of the true labels by a model fitted to the same cases."""
    model = model.fit(X, y)
    p = probabilities_of(model, X, model.classes_)
    return float(p[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean())


def _learner(estimator, X):
    """How rows like X are encoded, and the classifier that learns from encoded rows."""
    if estimator is None:
        estimator = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)
    if isinstance(estimator, BaseDecisionTree):
        return TreeInputs(columns_of(X, "from_dtype"), sorted_columns(X)), estimator
    return (lambda rows: rows), estimator


def _model(template, seed):
    """The classifier to be fitted."""
    return with_seed(template, drawn_seed(seed, "model"))


def _imputers(template, seed, n, known, labels):
    """Fitted imputers, one per imputation; a network is learned once."""
    template = NetworkImputer(fill="draw") if template is None else template
    takes_labels = all(_takes_labels(template, name) for name in ("fit", "transform"))
    if isinstance(template, type) or not takes_labels:
        message = f"must have `fit(X, y)` and `transform(X, y)`, got {type_of(template)}"
        raise InputTypeError(message, argument="imputer")
    imputer = None
    for number in range(n):
        drawn = drawn_seed(seed, "imputation", number)
        if imputer is not None and isinstance(template, NetworkImputer):
            imputer.set_params(random_state=drawn)
        else:
            imputer = with_seed(template, drawn).fit(known, labels)
        yield imputer


def _takes_labels(imputer, name):
    """Whether an imputer has a method that takes features and labels."""
    method = getattr(imputer, name, None)
    if not callable(method):
        return False
    try:
        inspect.signature(method).bind("X", "y")
    except TypeError:
        return False
    return True


def _network_imputer(template, seed):
    """The imputer of probabilities, to be fitted."""
    template = NetworkImputer() if template is None else template
    if not hasattr(template, "cell_probabilities"):
        message = f"must be a NetworkImputer or None, got {type_of(template)}"
        raise InputTypeError(message, argument="imputer")
    return with_seed(template, drawn_seed(seed, "imputation", 0))
