"""Columns of any type as states to learn from, and the cells that a state stands for."""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.errors import InputWarning
from bnmtl.tasks import Edges, discretize
from bnmtl.tasks.columns import numeric_values
from bnmtl.tasks.encoding import column_names

# Whole numbers with at most this many values are states.
_FEW = 10


class ColumnStates:
    """How columns become states: columns of many different numbers have bins.

    Parameters
    ----------
    frames : dict task -> DataFrame
    bins : int

    Attributes
    ----------
    discrete : dict task -> DataFrame
        The frames with observed states only.
    """

    def __init__(self, frames, bins):
        numbers = {}
        for frame in frames.values():
            for at, name in enumerate(column_names(frame)):
                if (values := numeric_values(frame.iloc[:, at])) is not None:
                    numbers.setdefault(name, []).append(values)
        # Whether the numbers of a column that is discretized are whole.
        self._is_whole = {}
        for name, parts in numbers.items():
            together = np.concatenate(parts)
            is_whole = (np.isnan(together) | (together == np.floor(together))).all()
            n_values = len(np.unique(together[~np.isnan(together)]))
            if not is_whole or n_values > max(bins, _FEW):
                self._is_whole[name] = bool(is_whole)
        with warnings.catch_warnings():
            # Coinciding cut points are not a mistake: cells are drawn within the bins there are.
            warnings.simplefilter("ignore", InputWarning)
            prepared = self._prepared(frames)
            _, edges = discretize(prepared, bins, return_edges=True)
        self._edges = _without_empty_bins(edges, prepared)
        self.discrete = self._edges.apply(prepared)

    def of(self, frames):
        """Other frames with the same columns as states."""
        return self._edges.apply(self._prepared(frames))

    def is_binned(self, name):
        """Whether a column of numbers has bins."""
        return name in self._edges

    def _prepared(self, frames):
        prepared = {task: frame.copy() for task, frame in frames.items()}
        for frame in prepared.values():
            for at, name in enumerate(column_names(frame)):
                column = frame.iloc[:, at]
                if isinstance(column.dtype, pd.CategoricalDtype):
                    frame.isetitem(at, column.cat.remove_unused_categories())
                elif (values := numeric_values(column)) is not None and name in self._is_whole:
                    # Whole numbers would be states; halves are discretized at the same places.
                    frame.isetitem(at, values + 0.5 if self._is_whole[name] else values)
        return prepared


def _without_empty_bins(edges, frames):
    """Cut points without those that only separate a bin without cells."""
    kept = {}
    for name, cuts in edges.items():
        numbers = np.concatenate(
            [
                numeric_values(frame.iloc[:, column_names(frame).index(name)])
                for frame in frames.values()
                if name in column_names(frame)
            ]
        )
        numbers = numbers[~np.isnan(numbers)]
        counts = np.bincount(np.searchsorted(cuts, numbers, side="right"), minlength=len(cuts) + 1)
        # Each kept cut point has cells below it, and in the bin above it.
        is_kept = (counts[1:] > 0) & (np.cumsum(counts)[:-1] > 0)
        kept[name] = cuts[is_kept]
    return Edges(kept)


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
