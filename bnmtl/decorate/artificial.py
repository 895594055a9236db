"""Artificial cases: drawn column by column, from other cases, from a network, or by the user."""

from inspect import signature

import numpy as np
import pandas as pd
from sklearn.base import clone

from bnmtl.classification import NetworkSampler
from bnmtl.classification.columns import rows_like
from bnmtl.decorate.inputs import check_numbers
from bnmtl.errors import InputError, InputTypeError, check_choice
from bnmtl.seeding import generator, with_seed
from bnmtl.tasks.tables import matched_rows, names_of
from bnmtl.wording import type_of

GENERATORS = ("marginals", "uniform", "pool", "unlabeled", "network")
_POOL = 10  # times the number of cases


class Artificial:
    """Base of generators."""

    def inputs(self, n, seed, encode):
        """Draw ``n`` cases as members receive them: encoded, or as they are if encode is None."""
        rows = self.draw(n, seed)
        return rows if encode is None else encode(rows)


class _ByColumn(Artificial):
    """Base of generators with independent columns.

    Parameters
    ----------
    X : pandas.DataFrame or numpy.ndarray, shape (n_cases, n_columns)
        Only its labels and types are used.
    columns : list of ColumnCells
    weights : numpy.ndarray of float, shape (n_cases,)
    """

    def __init__(self, X, columns, weights):
        self._like, self._columns = X[:0], columns
        self._statistics = [self._statistics_of(column, weights) for column in columns]

    def draw(self, n, seed):
        """Draw ``n`` cases of the kind of X."""
        cells = zip(self._columns, self._cells(n, seed), strict=True)
        return rows_like(self._like, [column.restored(drawn) for column, drawn in cells])

    def inputs(self, n, seed, encode):
        """Draw ``n`` cases as members receive them, without a frame in between."""
        if encode is None:
            return self.draw(n, seed)
        return encode.of_cells(self._cells(n, seed))

    def _cells(self, n, seed):
        """Numbers, or codes of nominal values, of each column."""
        drawn = []
        for column, statistics in zip(self._columns, self._statistics, strict=True):
            rng = generator(seed, "column", column.name)
            if column.is_numeric:
                drawn.append(_typed(column, self._numbers(statistics, n, rng)))
            else:
                drawn.append(_codes(statistics, n, rng))
        return drawn


class Marginals(_ByColumn):
    """Normal numbers; nominal values by their frequencies plus 1, over the declared categories.

    The variance of numbers is their weighted sum of squares divided by the total weight less one
    case, as with n - 1. This case has the weighted mean of the weights, but at most 1: so whole
    weights are repetitions, and the scale of weights below 1 does not matter. The standard
    deviation is at most the range divided by the square root of 2.
    """

    def _statistics_of(self, column, weights):
        if not column.is_numeric:
            return _cumulative(_counts(column, weights) + 1)
        known = ~np.isnan(column.cells) & (weights > 0)
        numbers, weights = column.cells[known], weights[known]
        if not len(numbers):
            return np.nan, 0.0
        total = weights.sum()
        mean = weights @ numbers / total
        squares = weights @ (numbers - mean) ** 2
        rest = total - min(1.0, weights @ weights / total)
        # Of little weight beside one case, only rounding errors may be left.
        most = np.ptp(numbers) ** 2 / 2
        return mean, np.sqrt(min(squares / rest, most) if rest > 0 else most)

    def _numbers(self, statistics, n, rng):
        mean, deviation = statistics
        return mean + deviation * rng.standard_normal(n)


class Uniform(_ByColumn):
    """Numbers between the smallest and the largest; any nominal value that occurs."""

    def _statistics_of(self, column, weights):
        if not column.is_numeric:
            return _cumulative(_counts(column, weights) > 0)
        known = column.cells[~np.isnan(column.cells) & (weights > 0)]
        return (known.min(), known.max()) if len(known) else (np.nan, np.nan)

    def _numbers(self, statistics, n, rng):
        low, high = statistics
        return low + (high - low) * rng.random(n)


def _counts(column, weights):
    """Weight of each nominal value."""
    values = column.dtype.categories if column.values is None else column.values
    known = column.cells >= 0
    return np.bincount(column.cells[known], weights[known], minlength=len(values))


def _cumulative(counts):
    """Cumulative shares of the values; nothing if no value is known."""
    if not counts.any():
        return np.empty(0)
    shares = (counts / counts.sum()).cumsum()
    return shares / shares[-1]


def _codes(cumulative, n, rng):
    """Codes by their cumulative shares; -1 if no value is known."""
    if not len(cumulative):
        return np.full(n, -1)
    return cumulative.searchsorted(rng.random(n), side="right")


def _typed(column, numbers):
    """Numbers that the type of the column can hold; whole ones if all of the column are whole."""
    kind = np.dtype(getattr(column.dtype, "numpy_dtype", column.dtype))
    known = column.cells[~np.isnan(column.cells)]
    is_whole = len(known) and (known == np.rint(known)).all()
    numbers = np.rint(numbers) if is_whole else numbers
    if kind.kind == "f":
        return numbers.astype(kind)
    if not is_whole:
        return numbers
    # Floats hold no larger whole numbers exactly.
    limits = np.iinfo(kind)
    return np.clip(numbers, max(limits.min, -(2**53)), min(limits.max, 2**53))


class Repeated(Artificial):
    """Rows of a table, drawn with repetition.

    Parameters
    ----------
    rows : pandas.DataFrame or numpy.ndarray, shape (n_rows, n_columns)
    """

    def __init__(self, rows):
        self._rows, self._encoded = rows, None

    def draw(self, n, seed):
        """Draw ``n`` cases."""
        return take(self._rows, self._drawn(n, seed))

    def inputs(self, n, seed, encode):
        """Draw ``n`` cases as members receive them; all rows are encoded once."""
        if encode is None:
            return self.draw(n, seed)
        if self._encoded is None:
            self._encoded = encode(self._rows)
        return self._encoded[self._drawn(n, seed)]

    def _drawn(self, n, seed):
        return generator(seed, "rows").integers(len(self._rows), size=n)


class Called(Artificial):
    """Cases from a function of the user (frame, n, rng)."""

    def __init__(self, function, X, columns):
        self._function, self._X, self._columns = function, X, columns

    def draw(self, n, seed):
        """Draw ``n`` cases."""
        found = self._function(self._X, n, generator(seed, "function"))
        return _checked(found, self._X, self._columns, n)


class Sampled(Artificial):
    """Cases from an object with ``fit(frame)`` and ``sample(n, random_state)``, such as a network.

    Parameters
    ----------
    sampler : NetworkSampler or other object
        It learns from ``X``.
    X : pandas.DataFrame or numpy.ndarray, shape (n_cases, n_columns)
    columns : list of ColumnCells
    """

    def __init__(self, sampler, X, columns):
        self._stream = "network" if isinstance(sampler, NetworkSampler) else "sampler"
        self._sampler, self._X, self._columns = sampler, X, columns
        self._sampler.fit(X)

    def draw(self, n, seed):
        """Draw ``n`` cases."""
        found = self._sampler.sample(n, random_state=generator(seed, self._stream))
        return _checked(found, self._X, self._columns, n)


def in_proportion(X, weights, seed):
    """As many cases, each about as often as its weight says; the given ones if all are equal."""
    if (weights == weights[0]).all():
        return X
    n = len(weights)
    # One draw from each n-th of the cumulative weights varies less than n draws from all.
    steps = (np.arange(n) + generator(seed, "weights").random(n)) / n
    at = _cumulative(weights)[:-1].searchsorted(steps, side="right")
    return take(X, at)


def generator_of(kind, X, columns, weights, seed, unlabeled=None):
    """The generator of artificial cases.

    Parameters
    ----------
    kind : str, callable or object
        As in `DecorateClassifier`.
    X : pandas.DataFrame or numpy.ndarray, shape (n_cases, n_columns)
    columns : list of ColumnCells
        Those of X.
    weights : numpy.ndarray of float, shape (n_cases,)
    seed : int
    unlabeled : pandas.DataFrame or numpy.ndarray, default=None

    Returns
    -------
    object with ``draw(n, seed)``

    Raises
    ------
    TypeError, ValueError
        For an unknown kind, and arguments that do not fit the kind.
    """
    check_generator(kind, unlabeled)
    if isinstance(kind, str) and kind == "network":
        kind = NetworkSampler()
    if learns(kind):
        is_network = isinstance(kind, NetworkSampler)
        sampler = with_seed(kind, seed) if is_network else clone(kind, safe=False)
        return Sampled(sampler, in_proportion(X, weights, seed), columns)
    if not isinstance(kind, str):
        return Called(kind, X, columns)
    if kind == "unlabeled":
        return Repeated(unlabeled_rows(unlabeled, X, columns))
    if kind == "uniform":
        return Uniform(X, columns, weights)
    marginals = Marginals(X, columns, weights)
    if kind == "marginals":
        return marginals
    return Repeated(marginals.draw(_POOL * len(X), generator(seed, "pool").integers(2**63)))


def check_generator(kind, unlabeled):
    """Raise unless a value is a kind of generator, with the unlabeled cases that it needs."""
    if (unlabeled is not None) != (isinstance(kind, str) and kind == "unlabeled"):
        given = type_of(unlabeled)
        message = f"must be given if `generator='unlabeled'`, and only then, got {given}"
        raise InputError(message, argument="unlabeled", options=("generator",))
    if isinstance(kind, str):
        check_choice("generator", kind, GENERATORS)
        return
    if isinstance(kind, type) or not (learns(kind) or callable(kind)):
        rule = "must be a name, a function (frame, n, rng), or an object with `fit` and `sample`"
        message, remedy = f"{rule}, got {type_of(kind)}", f"one of {list(GENERATORS)}"
        raise InputTypeError(message, argument="generator", remedy=remedy)
    labels = signature(kind.fit).parameters.get("y") if learns(kind) else None
    if labels is not None and labels.default is labels.empty:
        message = f"must have a `fit` without labels, got {type_of(kind)}"
        remedy = "for example `MarginalSampler()`"
        raise InputTypeError(message, argument="generator", remedy=remedy)


def learns(kind):
    """Whether a generator of the user is an object that learns from cases."""
    return hasattr(kind, "fit") and hasattr(kind, "sample")


def unlabeled_rows(unlabeled, X, columns):
    """The unlabeled cases, checked, with their columns in the order of X."""
    rows = matched_rows("unlabeled", unlabeled, names_of(X))
    if isinstance(X, pd.DataFrame) != isinstance(rows, pd.DataFrame):
        message = f"must be of the same kind as `X`, got {type_of(unlabeled)}"
        raise InputTypeError(message, argument="unlabeled", options=("X",))
    if not len(rows):
        raise InputError("must have rows; it has none", argument="unlabeled")
    check_numbers("unlabeled", rows, columns)
    return rows


def _checked(found, X, columns, n):
    """The rows of a user's generator with the columns of X."""
    rule, place = f"must return {n} rows with the columns of `X`", {"argument": "generator"}
    if isinstance(found, pd.DataFrame) != isinstance(X, pd.DataFrame):
        raise InputTypeError(f"{rule}, got {type_of(found)}", **place, options=("X",))
    rows = matched_rows("generator", found, names_of(X))
    if len(rows) != n:
        raise InputError(f"{rule}; it returned {len(rows)}", **place, options=("X",))
    check_numbers("generator", rows, columns)
    return rows


def take(rows, at):
    """Some rows by position, with new row labels."""
    return rows.iloc[at].reset_index(drop=True) if isinstance(rows, pd.DataFrame) else rows[at]


def stacked(first, second):
    """Rows of two tables of the same kind."""
    if isinstance(first, pd.DataFrame):
        return pd.concat([first, second], ignore_index=True)
    return np.concatenate([first, second])
