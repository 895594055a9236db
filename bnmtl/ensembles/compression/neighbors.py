"""Nearest cases of mixed columns, in a table whose rows may change one by one."""

import numpy as np

# Distances by matrix products are off by less, so cases this close are compared exactly.
_ROUNDING = 1e-9
# Sums of squares in another order differ by less, relative to the sum.
_SAME = 1e-12


class Neighbors:
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

    def _vector(self, case):
        """The factors by which those of all cases are multiplied."""
        factors, n_numeric = self._factors[case], self._numbers.shape[1]
        vector = -2 * factors
        vector[0] = 1
        if self._has_gaps:
            squares, present = np.split(factors[n_numeric + 1 :], 2)
            vector[n_numeric + 1 :] = np.concatenate([present, squares])
        return vector

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
        if self._numbers.shape[1]:
            distances = self._factors @ self._vector(case)
            distances += self._factors[case, 0]
        else:
            distances = np.zeros(len(self._numbers))
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
