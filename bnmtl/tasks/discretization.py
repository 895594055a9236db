"""Discretization of continuous columns into ordered bins, with cut points shared by all tasks."""

import itertools
import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd

from bnmtl.errors import (
    InputError,
    InputTypeError,
    check_choice,
    check_flag,
    check_whole,
    located,
    warn,
)
from bnmtl.tasks.columns import MAX_STATES, numeric_values
from bnmtl.tasks.encoding import column_names, columns_by_name, named_frames
from bnmtl.tasks.task import Tasks
from bnmtl.wording import count, listed, type_of


class Edges(Mapping):
    """Cut points by column, as returned by `discretize`; they can be applied to new data.

    A mapping of column name to the increasing cut points between its bins. A value equal to a cut
    point belongs to the bin above it; the lowest and the highest bin are open to infinity.

    Parameters
    ----------
    cut_points : mapping of str to sequence of float
        For example, read from JSON that was written from `edges.to_dict()`.

    Raises
    ------
    InputTypeError
        If `cut_points` is not a mapping.
    InputError
        If cut points are not increasing finite numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl.tasks import Edges
    >>> edges = Edges({"altitude": [300.5, 1200]})
    >>> edges["altitude"]
    array([ 300.5, 1200. ])
    >>> edges.apply(pd.DataFrame({"altitude": [12.5, 1200.0]}))["altitude"].tolist()
    ['below_300', 'from_1200']
    """

    def __init__(self, cut_points):
        if not isinstance(cut_points, Mapping):
            message = (
                f"must be a mapping of column names to lists of numbers, got {type_of(cut_points)}"
            )
            raise InputTypeError(
                message, argument="cut_points", remedy="for example {'altitude': [300, 1200]}"
            )
        self._cuts = {str(column): _increasing(column, cuts) for column, cuts in cut_points.items()}

    def __getitem__(self, column):
        try:
            return self._cuts[column]
        except (KeyError, TypeError):
            raise KeyError(
                f"`column` must be one of {listed(self) or 'no columns'}, got {column!r}."
            ) from None

    def __iter__(self):
        return iter(self._cuts)

    def __len__(self):
        return len(self._cuts)

    def __repr__(self):
        return f"Edges({self.to_dict()})"

    def to_dict(self):
        """Return the cut points as lists of floats, ready for JSON.

        Returns
        -------
        dict of str to list of float

        Examples
        --------
        >>> from bnmtl.tasks import Edges
        >>> Edges({"altitude": [300.5, 1200]}).to_dict()
        {'altitude': [300.5, 1200.0]}
        """
        return {column: cuts.tolist() for column, cuts in self.items()}

    def names(self, column):
        """Return the state names of the bins of a column, from the lowest to the highest.

        Parameters
        ----------
        column : str
            One of the columns.

        Returns
        -------
        tuple of str
            Such as `below_1.2`, `1.2_to_3.4`, `from_3.4`; `any` if there is only one bin.

        Raises
        ------
        KeyError
            If the column has no cut points.

        Examples
        --------
        >>> from bnmtl.tasks import Edges
        >>> Edges({"altitude": [300.5, 1200]}).names("altitude")
        ('below_300', '300_to_1200', 'from_1200')
        """
        labels = _written(self[column])
        if not labels:
            return ("any",)
        inner = [f"{a}_to_{b}" for a, b in itertools.pairwise(labels)]
        return (f"below_{labels[0]}", *inner, f"from_{labels[-1]}")

    @staticmethod
    def are_names(states):
        """Return whether states have the names of bins.

        Parameters
        ----------
        states : sequence of str

        Returns
        -------
        bool

        Examples
        --------
        >>> from bnmtl.tasks import Edges
        >>> Edges.are_names(("below_300", "from_300"))
        True
        """
        return len(states) > 1 and states[0].startswith("below_")

    def apply(self, tasks):
        """Discretize columns of new data at these cut points.

        Parameters
        ----------
        tasks : mapping of name to DataFrame, list of DataFrame, or DataFrame
            Data with any number of rows, not modified. Columns without cut points are returned
            unchanged, and a task may lack columns.

        Returns
        -------
        dict of DataFrame, list of DataFrame, or DataFrame
            The same type as `tasks`; the discretized columns are ordered categoricals with all
            states declared, and missing values are kept.

        Raises
        ------
        InputTypeError
            If `tasks` has a different type.
        InputError
            If a column with cut points is not numeric.

        Examples
        --------
        >>> import pandas as pd
        >>> from bnmtl.tasks import Edges
        >>> new = {"Pr": pd.DataFrame({"altitude": [150.0, 1800.0], "wren": [1, 0]})}
        >>> Edges({"altitude": [300.5, 1200]}).apply(new)["Pr"]
            altitude  wren
        0  below_300     1
        1  from_1200     0
        """
        cut = {name: self._cut(name, frame) for name, frame in named_frames(tasks).items()}
        if isinstance(tasks, pd.DataFrame):
            return cut["task1"]
        if isinstance(tasks, Mapping):
            return {name: cut[str(name)] for name in tasks}
        return list(cut.values())

    def _cut(self, name, frame):
        cut = frame.copy()
        with located(task=name):
            for at, column in enumerate(column_names(frame)):
                if column not in self:
                    continue
                values = numeric_values(frame.iloc[:, at])
                if values is None:
                    message = "must be numeric to be discretized, as in other tasks or earlier data"
                    raise InputError(message, column=column, remedy="give it one type in all tasks")
                codes = np.searchsorted(self[column], values, side="right")
                codes[np.isnan(values)] = -1
                names = self.names(column)
                cut.isetitem(at, pd.Categorical.from_codes(codes, categories=names, ordered=True))
        return cut


def _increasing(column, cuts):
    """Return the cut points of a column as a read-only array, or raise."""
    try:
        points = np.array(cuts, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.array(np.nan)
    if points.ndim != 1 or not np.isfinite(points).all() or not (np.diff(points) > 0).all():
        message = f"must have increasing finite numbers, got {cuts!r}"
        raise InputError(
            message,
            argument="cut_points",
            column=column,
            remedy="give a sorted list such as [0.5, 2]",
        )
    points.flags.writeable = False
    return points


def discretize(tasks, bins=3, method="quantile", return_edges=False):
    """Discretize continuous columns at cut points shared by all tasks.

    It discretizes columns with a fractional number in some task, and whole-number columns with more
    than 256 distinct values over the tasks (the maximum number of states). All other columns are
    returned unchanged. scikit-learn's `KBinsDiscretizer` finds the cut points of a column from the
    values of all tasks together; bins are [a, b), and their names show the cut points with as many
    digits as needed to distinguish them.

    Parameters
    ----------
    tasks : mapping of name to DataFrame, list of DataFrame, DataFrame or Tasks
        The data, not modified. `Tasks` are already discrete and returned unchanged.
    bins : int, default=3
        Number of bins per column, 2 to 256.
    method : {"quantile", "uniform", "kmeans"}, default="quantile"
        Bins of equal frequency, of equal width, or around the centers of a one-dimensional k-means.
    return_edges : bool, default=False
        Whether to return the cut points as well.

    Returns
    -------
    dict of DataFrame, list of DataFrame, DataFrame or Tasks
        The same type as `tasks`. The discretized columns are ordered categoricals with all states
        declared, such as `below_1.2`, `1.2_to_3.4`, `from_3.4`; missing values stay missing.
    edges : Edges
        Cut points by column; only with `return_edges=True`.

    Raises
    ------
    InputTypeError
        If `tasks` or `bins` has a wrong type.
    InputError
        If `bins` or `method` is out of range, or a column to discretize has infinite values or is
        not numeric in some task.

    Warns
    -----
    InputWarning
        If cut points of a column coincide (many equal values), which leaves fewer bins. At least
        two bins are kept: if no cut point is left, the one that splits the rows most evenly is
        used.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl.tasks import discretize
    >>> corsica = pd.DataFrame({"altitude": [10.5, 340.0, 720.0], "wren": [0, 1, 1]})
    >>> provence = pd.DataFrame({"altitude": [150.0, 900.0, 1210.0], "wren": [1, 1, 0]})
    >>> cut, edges = discretize({"Co": corsica, "Pr": provence}, bins=2, return_edges=True)
    >>> cut["Co"]["altitude"].tolist()
    ['below_530', 'below_530', 'from_530']
    >>> edges.to_dict()
    {'altitude': [530.0]}
    """
    check_whole("bins", bins, 2, MAX_STATES)
    check_choice("method", method, ("quantile", "uniform", "kmeans"))
    check_flag("return_edges", return_edges)
    if isinstance(tasks, Tasks):
        return (tasks, Edges({})) if return_edges else tasks
    cuts = {}
    for column, values in sorted(numbers_by_column(named_frames(tasks)).items()):
        fractional = (values != np.floor(values)).any() or np.isinf(values).any()
        if not fractional and len(np.unique(values)) <= MAX_STATES:
            continue
        cuts[column] = cut_points(column, values, int(bins), method)
        n_bins = len(cuts[column]) + 1
        if n_bins < bins:
            message = (
                "has many equal values, which make cut points coincide; it gets "
                f"{count(n_bins, 'bin')} instead of {bins}"
            )
            warn(message, column=column)
    edges = Edges(cuts)
    cut = edges.apply(tasks)
    return (cut, edges) if return_edges else cut


def numbers_by_column(frames):
    """Return {column: its numbers over all tasks, sorted} of the columns that are numeric in some.

    Missing values are left out.
    """
    found = {}
    for name, frame in frames.items():
        with located(task=name):
            for column, series in columns_by_name(frame).items():
                values = numeric_values(series)
                if values is not None:
                    found.setdefault(column, []).append(values[~np.isnan(values)])
    return {column: np.sort(np.concatenate(parts)) for column, parts in found.items()}


def cut_points(column, values, bins, method="quantile"):
    """Return at most `bins - 1` increasing cut points of the sorted numbers of a column."""
    from sklearn.preprocessing import KBinsDiscretizer

    if np.isinf(values).any():
        raise InputError(
            "must have finite values to be discretized; it holds infinite ones",
            column=column,
            remedy="replace them, or leave the column out",
            cli_remedy="replace them, or leave the column out with `--ignore C`",
        )
    distinct, first = np.unique(values, return_index=True)
    smallest, largest = distinct[0], distinct[-1]
    if smallest == largest:
        return []
    if method == "kmeans":
        bins = min(bins, len(distinct))
    # KBinsDiscretizer merges bins narrower than 1e-8; scaling by a power of two loses no digits and
    # makes the range about 1.
    shift = -int(np.frexp(largest / 2 - smallest / 2)[1]) - 1
    options = {"strategy": method, "encode": "ordinal", "subsample": None}
    discretizer = KBinsDiscretizer(bins, quantile_method="averaged_inverted_cdf", **options)
    with warnings.catch_warnings():
        # The caller reports coinciding cut points with the name of the column.
        warnings.simplefilter("ignore")
        edges = discretizer.fit(np.ldexp(values, shift)[:, None]).bin_edges_[0]
    cuts = np.ldexp(edges[1:-1], -shift)
    cuts = np.unique(cuts[(cuts > smallest) & (cuts <= largest)])
    if len(cuts):
        return cuts.tolist()
    return [float(distinct[1:][np.argmin(np.abs(2 * first[1:] - len(values)))])]


def _written(cuts):
    """Format cut points with three significant digits, or as many as distinguish them."""
    for digits in range(3, 18):
        labels = [_number(cut, digits) for cut in cuts.tolist()]
        if len(set(labels)) == len(labels):
            return labels
    return [repr(cut) for cut in cuts.tolist()]


def _number(value, digits):
    """Format a number with that many significant digits and the whole integer part."""
    if value and not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    integer_digits = len(str(int(abs(value))))
    precision = max(digits, integer_digits)
    return np.format_float_positional(value, precision, fractional=False, trim="-")
