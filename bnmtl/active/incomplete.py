"""Cases with labels of which some features can be acquired."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.tasks.labels import read_labels
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
    X = X if isinstance(X, pd.DataFrame) else np.asarray(X)
    y, observed = read_labels(y), np.asarray(observed)
    if X.ndim != 2 or not len(X):
        raise InputError("X", "must be a table with a row for each case", type_of(X))
    if y.shape != (len(X),):
        raise InputError("y", "must be one label for each row, {n}", type_of(y), n=len(X))
    if (y == y[0]).all():
        raise InputError(
            "y", "must have at least two classes", found="all rows are {label}", label=str(y[0])
        )
    if observed.shape != X.shape or observed.dtype != bool:
        rule = "must be True or False for each cell of {X}, {shape!s}"
        found = observed.dtype.name if observed.shape == X.shape else observed.shape
        raise InputError("observed", rule, found, shape=X.shape)
    if observed.all():
        raise InputError("observed", "must mark cells that can be acquired", found="all are True")
    X = _hidden(X, observed)
    costs = np.ones(X.shape[1]) if cost is None else _costs(cost, pd.DataFrame(X).columns)
    return Incomplete(X, y, observed, costs, cost is not None)


def _hidden(X, observed):
    """The table without what is known of cells that can still be acquired."""
    frame = pd.DataFrame(X)
    if not (frame.notna().to_numpy() & ~observed).any():
        return X
    frame = frame.mask(~observed)
    return frame if isinstance(X, pd.DataFrame) else frame.to_numpy()


def _costs(cost, columns):
    """The cost of each column."""
    if isinstance(cost, pd.Series):
        if not cost.index.is_unique:
            name = cost.index[cost.index.duplicated()][0]
            rule, found = "must have one value for each column", "{name!s} has several"
            raise InputError("cost", rule, found=found, name=name)
        cost = cost.to_dict()
    if isinstance(cost, Mapping):
        lacking = [one for one in columns if one not in cost]
        if lacking:
            rule, found = "must have a value for each column", "{name!s} has none"
            raise InputError("cost", rule, found=found, name=lacking[0])
        cost = [cost[one] for one in columns]
    try:
        costs = np.asarray(cost, dtype=float)
    except (TypeError, ValueError):
        raise InputTypeError("cost", "must be numbers", type_of(cost)) from None
    if costs.shape != (len(columns),):
        raise InputError("cost", "must be one number for each column, {n}", n=len(columns))
    wrong = ~(np.isfinite(costs) & (costs > 0))
    if wrong.any():
        raise InputError("cost", "must be above 0", float(costs[wrong][0]))
    return costs
