"""Pseudo-cases: Munge, and controls with independent columns, in all cases or within classes."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.columns import read_columns, rows_like
from bnmtl.errors import (
    MOST_REPEATS,
    MOST_ROWS,
    InputError,
    check_choice,
    check_number,
    check_whole,
    warn,
)
from bnmtl.progress import Reporter
from bnmtl.seeding import check_seed, generator, seed_of
from bnmtl.tasks.labels import read_labels
from bnmtl.threads import fitted_alone
from bnmtl.wording import count

# Distances by matrix products are off by less, so cases this close are compared exactly.
_ROUNDING = 1e-9
# Sums of squares in another order differ by less, relative to the sum.
_SAME = 1e-12


class NearestCases:
    """Finds the nearest other case of a case.

    The squared distance is the sum of squared differences of numbers, divided by the squared range
    of their column, plus 1 for each nominal column with different values. A missing cell is at
    distance 1 from every value and at distance 0 from another missing cell.

    Parameters
    ----------
    numbers : numpy.ndarray of float, shape (n_rows, n_numeric)
        nan = missing. The caller changes rows in place and calls `update` with their position.
    codes : numpy.ndarray of int, shape (n_rows, n_nominal)
        As `numbers`.
    low, high : numpy.ndarray of float, shape (n_numeric,)
        Observed range of each numeric column.
    """

    def __init__(self, numbers, codes, low, high):
        self._numbers, self._codes, self._low = numbers, codes, low
        width = high - low
        self._scale = np.divide(1, width, out=np.zeros_like(width), where=width > 0)
        self._gaps = np.isnan(numbers).any(axis=0)
        self._has_gaps = bool(self._gaps.any())
        self._factors = self._squares_and_products(numbers)
        compared = self._compared(numbers, codes)
        limits = compared.min(initial=0), compared.max(initial=0)
        code_type = np.result_type(*map(np.min_scalar_type, limits))
        self._nominal = np.ascontiguousarray(compared.T, dtype=code_type)
        self._differs = np.empty(self._nominal.shape, dtype=bool)
        self._count_type = np.min_scalar_type(max(1, len(self._nominal)))

    def _compared(self, numbers, codes):
        """Columns compared for equality: nominal ones, and whether a number is missing."""
        if not self._has_gaps:
            return codes
        return np.concatenate([codes, np.isnan(numbers[:, self._gaps])], axis=1)

    # For columns without gaps, (a - b)^2 = a^2 - 2ab + b^2; for the others the squares count only
    # where both are there. So all distances are one product of a matrix and a vector.
    def _squares_and_products(self, numbers):
        scaled = (numbers - self._low) * self._scale
        if not self._has_gaps:
            squares = np.einsum("ij,ij->i", scaled, scaled)
            return np.concatenate([squares[:, None], scaled], axis=1)
        gaps, present = self._gaps, ~np.isnan(numbers)
        scaled = np.where(present, scaled, 0)
        squares = (scaled[:, ~gaps] ** 2).sum(axis=1, keepdims=True)
        return np.concatenate([squares, scaled, scaled[:, gaps] ** 2, present[:, gaps]], axis=1)

    def update(self, rows):
        """Note that rows of the table have changed."""
        numbers = self._numbers[rows]
        if numbers.shape[1]:
            self._factors[rows] = self._squares_and_products(numbers)
        if len(self._nominal):
            self._nominal[:, rows] = self._compared(numbers, self._codes[rows]).T

    def nearest(self, case, skip_identical):
        """Positions of the nearest other cases, all that are tied; empty if there are none.

        Parameters
        ----------
        case : int
        skip_identical : bool
            Whether cases at distance 0 are left out.

        Returns
        -------
        numpy.ndarray of int
        """
        distances = self._distances(case)
        distances[case] = np.inf
        if skip_identical:
            close = (distances <= _ROUNDING).nonzero()[0]
            if len(close):
                exact = self._exact(case, close)
                distances[close] = np.where(exact == 0, np.inf, exact)
        smallest = distances.min()
        if np.isinf(smallest):
            return np.empty(0, dtype=np.intp)
        near = (distances <= smallest + _ROUNDING).nonzero()[0]
        if len(near) > 1 and self._numbers.shape[1]:
            exact = self._exact(case, near)
            near = near[exact <= exact.min() * (1 + _SAME)]
        return near

    def _distances(self, case):
        distances, n_numeric = np.zeros(len(self._numbers)), self._numbers.shape[1]
        if n_numeric:
            factors = self._factors[case]
            vector = -2 * factors  # by which those of all cases are multiplied
            vector[0] = 1
            if self._has_gaps:
                squares, present = np.split(factors[n_numeric + 1 :], 2)
                vector[n_numeric + 1 :] = np.concatenate([present, squares])
            distances = self._factors @ vector
            distances += factors[0]
        if len(self._nominal):
            np.not_equal(self._nominal, self._nominal[:, case, None], out=self._differs)
            differs = self._differs.view(np.uint8)
            distances += np.add.reduce(differs, axis=0, dtype=self._count_type)
        return distances

    def _exact(self, case, rows):
        """Distances from differences of the numbers as they are, so that ties are ties."""
        differences = (self._numbers[rows] - self._numbers[case]) * self._scale
        squares = np.where(np.isnan(differences), 0, differences) ** 2
        mismatches = self._nominal[:, rows] != self._nominal[:, case, None]
        return squares.sum(axis=1) + mismatches.sum(axis=0)


_FEW_NEW = 0.1  # of the pseudo-cases


class Munge(BaseEstimator):
    """Draw pseudo-cases that resemble given cases.

    A pass starts from a copy of the cases. Each case in turn is paired with its nearest other
    case, and each attribute of the pair is exchanged with some probability: nominal values are
    swapped; numbers are drawn from normal distributions around the other's number, with the
    difference of the numbers divided by `local_variance` as standard deviation. Drawn numbers are
    clipped to the observed range, and rounded in columns of whole numbers.

    The squared distance of two cases is the sum of squared differences of numeric columns, scaled
    to a range of 1, and of the number of different nominal values. Ties are drawn.

    A missing cell is treated as a nominal value: it is at distance 1 from every value, and swapped
    as it is.

    If all columns are nominal and neighbors differ in one of them only, as where most combinations
    of values occur, a swap makes no new case. A warning says so; ``neighbors="original"`` then
    helps, and so does a `NetworkSampler`.

    Parameters
    ----------
    size : int, default=5
        Number of passes if `sample` is not given a number of rows.
    probability : float, default=0.5
        Probability from 0 to 1 that an attribute of a pair is exchanged.
    local_variance : float, default=5.0
        Above 0; larger values keep numbers closer to those of the cases.
    neighbors : {"current", "original"}, default="current"
        "current" finds the neighbor among the cases of the pass as they are at that moment;
        "original" among the given cases, which is several times faster.
    identical : {"skip", "keep"}, default="skip"
        "skip" pairs a case with the nearest case that differs from it, because an exchange of
        identical cases changes nothing; "keep" takes the nearest case.
    random_state : None, int or numpy.random.Generator, default=None
        Used if `sample` is not given one.
    progress : bool or callable, default=False
        True shows a progress bar of passes; a callable receives a named tuple (stage, task, done,
        total, score).

    Attributes
    ----------
    n_rows_ : int
        Number of rows of a pass.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for parameters out of range, other data than a frame or a numeric array, fewer
        than two rows, and infinite numbers.

    Notes
    -----
    Each column has a separate random stream, found by its name, so the order of the columns does
    not matter.

    References
    ----------
    Bucila, Caruana & Niculescu-Mizil (2006), "Model compression", KDD. Known here from a
    description, so results may differ from those of the authors' program.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 30, 50, 60], "job": ["none", "cook", "cook", "nurse"]})
    >>> pseudo = Munge(random_state=0).fit(frame).sample(1000)
    >>> pseudo.shape, bool(pseudo["age"].between(20, 60).all()), sorted(set(pseudo["job"]))
    ((1000, 2), True, ['cook', 'none', 'nurse'])
    """

    def __init__(
        self,
        size=5,
        probability=0.5,
        local_variance=5.0,
        neighbors="current",
        identical="skip",
        random_state=None,
        progress=False,
    ):
        self.size = size
        self.probability = probability
        self.local_variance = local_variance
        self.neighbors = neighbors
        self.identical = identical
        self.random_state = random_state
        self.progress = progress

    @fitted_alone
    def fit(self, X, y=None):
        """Keep the cases.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
            Numbers, and in frames also text, booleans and categories.
        y : object, default=None
            Not used, because the class is not an attribute; all samplers take it.

        Returns
        -------
        Munge
        """
        check_whole("size", self.size, least=1, most=MOST_REPEATS)
        check_number("probability", self.probability, least=0, most=1)
        check_number("local_variance", self.local_variance, above=0)
        check_choice("neighbors", self.neighbors, ("current", "original"))
        check_choice("identical", self.identical, ("skip", "keep"))
        check_seed(self.random_state)
        self._columns = read_columns(X)
        self._cases = CodedCases.of(self._columns)
        self._like = X[:0]
        self.n_rows_ = len(self._cases.numbers)
        return self

    def sample(self, n=None, random_state=None):
        """Draw pseudo-cases.

        Parameters
        ----------
        n : int, default=None
            Number of rows; None is `size` passes. If it is not a multiple of the number of cases,
            the last pass contributes a random choice of its rows.
        random_state : None, int or numpy.random.Generator, default=None
            None uses that of the sampler.

        Returns
        -------
        pandas.DataFrame or numpy.ndarray, shape (n, n_columns)
            Of the same kind as the cases, with the same types of columns; whole passes have the
            cases in their order.
        """
        check_is_fitted(self)
        check_whole("n", n, least=1, most=MOST_ROWS, optional=True)
        seed = seed_of(self.random_state if random_state is None else random_state)
        n = self.size * self.n_rows_ if n is None else n
        n_passes, skip = -(-n // self.n_rows_), self.identical == "skip"
        partners = [None] * n_passes
        if self.neighbors == "original":
            ties = [tie_draws(seed, number, self.n_rows_) for number in range(n_passes)]
            partners = original_partners(self._cases, np.stack(ties), skip)
        numbers, codes = [], []
        with Reporter(self.progress) as report:
            for number in range(n_passes):
                report("pseudo-cases", None, number * self.n_rows_, n_passes * self.n_rows_)
                draws = draw(seed, number, self._cases, self.probability)
                after = exchanged(self._cases, draws, self.local_variance, skip, partners[number])
                numbers.append(after.numbers)
                codes.append(after.codes)
            report("pseudo-cases", None, n_passes * self.n_rows_, n_passes * self.n_rows_)
        n_last = n - (n_passes - 1) * self.n_rows_
        rows = generator(seed, "rows").choice(self.n_rows_, n_last, replace=False)
        numbers[-1], codes[-1] = numbers[-1][np.sort(rows)], codes[-1][np.sort(rows)]
        numbers, codes = np.concatenate(numbers), np.concatenate(codes)
        if not numbers.shape[1] and self.probability > 0:
            _check_new(codes, self._cases.codes)
        numeric, nominal = self._cases.names
        cells = dict(zip([*numeric, *nominal], [*numbers.T, *codes.T], strict=True))
        restored = [column.restored(cells[column.name]) for column in self._columns]
        return rows_like(self._like, restored)


def _check_new(drawn, cases):
    """Warn if hardly any nominal pseudo-case differs from all cases."""
    known, rows = (pd.MultiIndex.from_arrays(codes.T) for codes in (cases, drawn))
    n_new = int((~rows.isin(known)).sum())
    if n_new < _FEW_NEW * len(drawn):
        message = (
            f"has nominal columns only, and swaps made hardly any new case; {n_new} of "
            f"{count(len(drawn), 'row')} differ from all cases"
        )
        warn(
            message,
            argument="X",
            remedy='set `neighbors="original"`, or draw with NetworkSampler()',
        )


class CodedCases(NamedTuple):
    """Cases with numeric and nominal columns, each sorted by name.

    Parameters
    ----------
    numbers : numpy.ndarray of float, shape (n_rows, n_numeric)
    codes : numpy.ndarray of int, shape (n_rows, n_nominal)
    names : tuple of two lists of str
        Names of the numeric and of the nominal columns.
    whole : numpy.ndarray of bool, shape (n_numeric,)
        Whether all numbers of a column are whole.
    low, high : numpy.ndarray of float, shape (n_numeric,)
    """

    numbers: np.ndarray
    codes: np.ndarray
    names: tuple
    whole: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, columns):
        """The cases of some columns."""
        columns = sorted(columns, key=lambda column: column.name)
        numeric = [column for column in columns if column.is_numeric]
        nominal = [column for column in columns if not column.is_numeric]
        n_rows = len(columns[0].cells)
        numbers = np.array([column.cells for column in numeric]).reshape(-1, n_rows).T.copy()
        codes = np.array([column.cells for column in nominal], int).reshape(-1, n_rows).T.copy()
        # Columns without any number are at 0.
        filled = np.where(np.isnan(numbers).all(axis=0), 0, numbers)
        names = [column.name for column in numeric], [column.name for column in nominal]
        low, high = np.nanmin(filled, axis=0), np.nanmax(filled, axis=0)
        whole = (np.isnan(numbers) | (numbers == np.floor(numbers))).all(axis=0)
        return cls(numbers, codes, names, whole, low, high)


class Draws(NamedTuple):
    """All random numbers of a pass.

    Parameters
    ----------
    ties : numpy.ndarray of float in [0, 1), shape (n_rows,)
        Which of the nearest cases is the partner.
    numeric, nominal : numpy.ndarray of bool, shape (n_rows, n_numeric or n_nominal)
        Whether the attribute is exchanged.
    normals : numpy.ndarray of float, shape (n_rows, 2, n_numeric)
        For the case and for its partner.
    """

    ties: np.ndarray
    numeric: np.ndarray
    nominal: np.ndarray
    normals: np.ndarray


def tie_draws(seed, number, n_rows):
    """Draws between 0 and 1 that choose among ties, by case."""
    return generator(seed, "ties", number).random(n_rows)


def draw(seed, number, cases, probability):
    """The random numbers of one pass, with a stream per column."""
    n_rows = len(cases.numbers)
    numeric, nominal = (np.empty((n_rows, len(names)), dtype=bool) for names in cases.names)
    normals = np.empty((n_rows, 2, numeric.shape[1]))
    for at, name in enumerate(cases.names[0]):
        rng = generator(seed, "pass", number, name)
        numeric[:, at] = rng.random(n_rows) < probability
        normals[:, :, at] = rng.standard_normal((n_rows, 2))
    for at, name in enumerate(cases.names[1]):
        nominal[:, at] = generator(seed, "pass", number, name).random(n_rows) < probability
    return Draws(tie_draws(seed, number, n_rows), numeric, nominal, normals)


def original_partners(cases, ties, skip):
    """The partner of each case in each pass among the original cases; -1 if there is none."""
    neighbors = NearestCases(cases.numbers, cases.codes, cases.low, cases.high)
    partners = np.full(ties.shape, -1)
    for case in range(ties.shape[1]):
        near = neighbors.nearest(case, skip)
        if len(near):
            partners[:, case] = near[(ties[:, case] * len(near)).astype(int)]
    return partners


def exchanged(cases, draws, local_variance, skip, partners=None):
    """The cases after one pass; partners are found among the current cases if they are None."""
    after = cases._replace(numbers=cases.numbers.copy(), codes=cases.codes.copy())
    neighbors = None
    if partners is None:
        neighbors = NearestCases(after.numbers, after.codes, cases.low, cases.high)
    normals = draws.normals / local_variance
    for case in range(len(after.numbers)):
        if neighbors is None:
            partner = partners[case]
        else:
            near = neighbors.nearest(case, skip)
            partner = near[int(draws.ties[case] * len(near))] if len(near) else -1
        if partner < 0:
            continue
        pair = [case, partner]
        if after.numbers.shape[1]:
            # Each number is drawn around that of the other case.
            old = after.numbers[pair]
            new = old[::-1] + np.abs(old[0] - old[1]) * normals[case]
            np.rint(new, out=new, where=cases.whole)
            new = np.minimum(np.maximum(new, cases.low), cases.high)
            new = np.where(np.isnan(new), old[::-1], new)
            after.numbers[pair] = np.where(draws.numeric[case], new, old)
        if after.codes.shape[1]:
            codes = after.codes[pair]
            after.codes[pair] = np.where(draws.nominal[case], codes[::-1], codes)
        if neighbors is not None:
            neighbors.update(pair)
    return after


class NaiveBayesSampler(BaseEstimator):
    """Draw pseudo-cases whose columns are independent within each class.

    The class of a pseudo-case is drawn by its share of the cases; each cell is the cell of a random
    case of that class. Missing cells are drawn like others. Types of columns are kept.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    shares_ : numpy.ndarray of float, shape (n_classes,)

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for other data than a frame or a numeric array, fewer than two rows, infinite
        numbers, and classes that are missing or not one for each row.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": ["x", "x", "y", "y"]})
    >>> pseudo = NaiveBayesSampler().fit(frame, [0, 0, 1, 1]).sample(100, random_state=0)
    >>> pseudo.drop_duplicates().sort_values("a").to_numpy().tolist()
    [[0, 'x'], [1, 'y']]
    """

    @fitted_alone
    def fit(self, X, y):
        """Keep the cases and their classes.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            The class of each case.

        Returns
        -------
        NaiveBayesSampler
        """
        columns = read_columns(X)
        y, n_rows = read_labels(y), len(columns[0].cells)
        if y.shape != (n_rows,):
            message = f"must be one class for each row, {n_rows}; its shape is {y.shape}"
            raise InputError(message, argument="y")
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.shares_ = np.bincount(codes) / n_rows
        self._rows = [np.flatnonzero(codes == code) for code in range(len(self.classes_))]
        self._columns, self._like = columns, X[:0]
        return self

    def sample(self, n, random_state=None):
        """Draw pseudo-cases.

        Parameters
        ----------
        n : int
        random_state : None, int or numpy.random.Generator, default=None

        Returns
        -------
        pandas.DataFrame or numpy.ndarray, shape (n, n_columns)
            Of the same kind as the cases. A shorter sample is the beginning of a longer one.
        """
        check_is_fitted(self)
        check_whole("n", n, least=1, most=MOST_ROWS)
        seed = seed_of(random_state)
        uniform = generator(seed, "classes").random(n)
        # Rounding may leave the sum of shares just below 1.
        classes = np.minimum(
            np.searchsorted(self.shares_.cumsum(), uniform, side="right"), len(self.shares_) - 1
        )
        sizes = np.array([len(rows) for rows in self._rows])[classes]
        drawn = []
        for column in self._columns:
            places = (generator(seed, "cells", column.name).random(n) * sizes).astype(int)
            rows = np.empty(n, dtype=int)
            for code, of_class in enumerate(self._rows):
                rows[classes == code] = of_class[places[classes == code]]
            drawn.append(column.restored(column.cells[rows]))
        return rows_like(self._like, drawn)


class MarginalSampler(BaseEstimator):
    """Draw pseudo-cases whose columns are independent.

    Each cell is the cell of a random case. Missing cells are drawn like others. Types of columns
    are kept.

    Attributes
    ----------
    n_rows_ : int
        Number of cases.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for other data than a frame or a numeric array, fewer than two rows, and
        infinite numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [0, 1], "b": ["x", "y"]})
    >>> pseudo = MarginalSampler().fit(frame).sample(100, random_state=0)
    >>> len(pseudo.drop_duplicates())
    4
    """

    @fitted_alone
    def fit(self, X, y=None):
        """Keep the cases.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
        y : object, default=None
            Not used, because all classes have the same distribution; all samplers take it.

        Returns
        -------
        MarginalSampler
        """
        self.n_rows_ = len(read_columns(X)[0].cells)
        # One class of all cases.
        self._sampler = NaiveBayesSampler().fit(X, np.zeros(self.n_rows_))
        return self

    def sample(self, n, random_state=None):
        """Draw pseudo-cases.

        Parameters
        ----------
        n : int
        random_state : None, int or numpy.random.Generator, default=None

        Returns
        -------
        pandas.DataFrame or numpy.ndarray, shape (n, n_columns)
            Of the same kind as the cases. A shorter sample is the beginning of a longer one.
        """
        check_is_fitted(self)
        return self._sampler.sample(n, random_state)
