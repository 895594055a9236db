"""Columns of any type as states to learn from, and the cells that a state stands for."""

import warnings
from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, InputWarning
from bnmtl.tasks import Edges, discretize
from bnmtl.tasks.columns import numeric_values
from bnmtl.tasks.encoding import column_names
from bnmtl.wording import type_of

# Whole numbers with at most this many values are states.
_FEW = 10


def number_edges(frames, bins):
    """Cut points of the columns of many different numbers, shared by all tasks.

    Whole numbers of at most ``bins`` or 10 different values are states, and so is everything else.

    Parameters
    ----------
    frames : dict task -> DataFrame
    bins : int

    Returns
    -------
    Edges
    """
    found = {}
    for frame in frames.values():
        for at, name in enumerate(column_names(frame)):
            if (values := numeric_values(frame.iloc[:, at])) is not None:
                found.setdefault(name, []).append(values[~np.isnan(values)])
    cuts = {}
    for name, parts in found.items():
        values = np.concatenate(parts)
        is_whole = (values == np.floor(values)).all()
        if is_whole and len(np.unique(values)) <= max(bins, _FEW):
            continue
        with warnings.catch_warnings():
            # Coinciding cut points are not a mistake: cells are drawn within the bins there are.
            warnings.simplefilter("ignore", InputWarning)
            # Whole numbers would be states; halves are discretized at the same places.
            column = pd.DataFrame({name: values + 0.5 if is_whole else values})
            _, edges = discretize(column, bins, return_edges=True)
        if name in edges:
            shift = 0.5 if is_whole else 0.0
            cuts[name] = _without_empty_bins(edges[name] - shift, values)
    return Edges(cuts)


def _without_empty_bins(cuts, values):
    """Cut points without those that only separate a bin without cells."""
    counts = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1)
    # Each kept cut point has cells below it, and in the bin above it.
    return cuts[(counts[1:] > 0) & (np.cumsum(counts)[:-1] > 0)]


def checked_edges(edges):
    """Given cut points, or none; raise for other objects."""
    if edges is not None and not isinstance(edges, Edges):
        rule, remedies = "must be Edges", "`bnmtl.tasks.discretize` returns them"
        raise InputTypeError("edges", rule, type_of(edges), remedies=remedies)
    return Edges({}) if edges is None else edges


def cut_rows(frame, edges):
    """Rows of a prediction with bins as states.

    Parameters
    ----------
    frame : DataFrame
        With any of the columns.
    edges : Edges

    Returns
    -------
    DataFrame

    Raises
    ------
    TypeError, ValueError
        For a column that had numbers, and now has other values or infinite ones.
    """
    for at, name in enumerate(column_names(frame)):
        if name not in edges:
            continue
        column, rule = frame.iloc[:, at], "must hold finite numbers, as in the fit"
        values = numeric_values(column)
        if values is None:
            given = next(one for one in column if not isinstance(one, Real))
            raise InputTypeError(None, rule, given, column=name)
        if np.isinf(values).any():
            raise InputError(None, rule, found="it has an infinite one", column=name)
    return edges.apply(frame)


class ColumnStates:
    """How columns become states from which cells are drawn again: only those that were observed.

    Parameters
    ----------
    frames : dict task -> DataFrame
    bins : int
        As in `number_edges`.

    Attributes
    ----------
    discrete : dict task -> DataFrame
        The frames with observed states only.
    """

    def __init__(self, frames, bins):
        self._edges = number_edges(frames, bins)
        self.discrete = self.of(frames)

    def of(self, frames):
        """Other frames with the same columns as states."""
        cut = {task: frame.copy() for task, frame in frames.items()}
        for frame in cut.values():
            for at in range(frame.shape[1]):
                column = frame.iloc[:, at]
                if isinstance(column.dtype, pd.CategoricalDtype):
                    frame.isetitem(at, column.cat.remove_unused_categories())
        return self._edges.apply(cut)

    def is_binned(self, name):
        """Whether a column of numbers has bins."""
        return name in self._edges


class CellPool(NamedTuple):
    """The observed cells of a column, and where each task draws those of a state.

    Parameters
    ----------
    cells : pandas.Series
        Of all tasks.
    rows : dict task -> dict state -> numpy.ndarray of int
        Positions in ``cells``: of the task or, if it has none, of the other tasks.
    """

    cells: pd.Series
    rows: dict

    @classmethod
    def of(cls, name, frames, encoded):
        """The cells of one column, from frames by task and the same rows as codes."""
        tasks = [task for task in frames if name in encoded[task].index]
        cells = [frames[task].iloc[:, column_names(frames[task]).index(name)] for task in tasks]
        codes = [encoded[task].codes[encoded[task].index[name]] for task in tasks]
        task_of = np.repeat(np.arange(len(tasks)), [len(part) for part in codes])
        together, rows = np.concatenate(codes), {}
        for number, task in enumerate(tasks):
            rows[task] = {}
            for code, state in enumerate(encoded.states[name]):
                has_state = together == code
                in_task = has_state & (task_of == number)
                rows[task][state] = np.flatnonzero(in_task if in_task.any() else has_state)
        return cls(_together(cells), rows)

    def drawn(self, task, states, uniform):
        """A cell for each drawn state, chosen by a number from 0 to 1."""
        places = np.empty(len(states), dtype=int)
        for code, state in enumerate(states.categories):
            chosen = states.codes == code
            rows = self.rows[task].get(state, ())
            if chosen.any():
                places[chosen] = rows[(uniform[chosen] * len(rows)).astype(int)]
        return self.cells.iloc[places].reset_index(drop=True)


def _together(columns):
    """The cells of several columns; categorical ones have the categories of all."""
    if all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        categories = dict.fromkeys(value for one in columns for value in one.cat.categories)
        if any(len(one.cat.categories) < len(categories) for one in columns):
            dtype = pd.CategoricalDtype(list(categories))
            columns = [column.astype(dtype) for column in columns]
    return pd.concat(columns)
