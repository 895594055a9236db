"""Pseudo-cases with independent columns, in all cases or within each class: controls for Munge."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.columns import read_columns, rows_like
from bnmtl.errors import InputError, check_whole
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks.labels import read_labels


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
            raise InputError(
                f"must be one class for each row, {n_rows}; its shape is {y.shape}", argument="y"
            )
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
        check_whole("n", n, least=1)
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
