"""Data for given graphs: columns coded by states, and tables estimated from their counts."""

import numbers

import numpy as np
import pandas as pd

from bnmtl.tasks import Task
from bnmtl.tasks.columns import Column, read_column
from bnmtl.tasks.states import MISSING_STATE, shared_states

# 1 GiB of 8-byte numbers; a larger table is a mistake in the graph, not a wish.
LARGEST_TABLE = 2**27


def estimate(graph, frame, equivalent_sample_size):
    """Return the states and the tables of a DAG's variables, see `BayesNet.fit`."""
    size = equivalent_sample_size
    if not isinstance(size, numbers.Real) or not 0 <= size < np.inf:
        raise ValueError(
            f"`equivalent_sample_size` must be a number of 0 or more; {size!r} was given."
        )
    columns = _columns(frame, graph)
    _check_complete(columns)
    if not isinstance(frame, Task):
        declared = shared_states({"frame": columns})
        columns = {v: _recoded(column, declared[v], v) for v, column in columns.items()}
    states = {variable: tuple(column.labels) for variable, column in columns.items()}
    tables = {}
    for variable in graph:
        family = (*sorted(graph.predecessors(variable)), variable)
        shape = tuple(len(states[member]) for member in family)
        counts = _counts(variable, [columns[member].codes for member in family], shape)
        tables[variable] = _posterior_mean(counts, size)
    return states, tables


def code_frame(frame, states, complete):
    """Return {variable: codes} of the variables in `states`, by the names `bnmtl.tasks` gives.

    A missing cell is -1, or an error where the columns must be complete; where a variable has the
    state "missing", as after `encode(..., missing="state")`, it is that state.
    """
    columns = _columns(frame, states)
    coded = {v: _recoded(column, states[v], v) for v, column in columns.items()}
    if complete:
        _check_complete(coded)
    return {variable: column.codes for variable, column in coded.items()}


def column_labels(frame):
    """Return {name: label} of the columns; names are strings and must differ."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"`frame` must be a pandas.DataFrame; a {type(frame).__name__} was given.")
    labels = {}
    for label in frame.columns:
        if str(label) in labels:
            raise ValueError(
                f"`frame` must have different column names; `{label}` occurs twice, so rename one."
            )
        labels[str(label)] = label
    return labels


def _columns(frame, variables):
    """Return {variable: Column} of the wanted variables."""
    is_task = isinstance(frame, Task)
    labels = {v: i for i, v in enumerate(frame.variables)} if is_task else column_labels(frame)
    for variable in variables:
        if variable not in labels:
            raise ValueError(
                f"`frame` must have a column for each variable of the network; `{variable}` is "
                "missing."
            )
    if is_task:
        return {v: Column(frame.states[labels[v]], frame.codes[labels[v]], True) for v in variables}
    return {v: read_column(frame[labels[v]], f"`frame`: column `{v}`", None) for v in variables}


def _check_complete(columns):
    for variable, column in columns.items():
        n_missing = np.count_nonzero(column.codes < 0)
        if n_missing:
            raise ValueError(
                f"`frame`: column `{variable}` must be complete; {n_missing} of its values are "
                "missing, so drop those rows or fill them."
            )


def _recoded(column, states, variable):
    """Return a column with its codes pointing into other states, or raise for unknown ones."""
    position = {state: i for i, state in enumerate(states)}
    lookup = np.array(
        [*(position.get(label, -2) for label in column.labels), position.get(MISSING_STATE, -1)],
        dtype=np.intp,
    )
    codes = lookup[column.codes]
    if (codes == -2).any():
        unknown = [column.labels[i] for i in np.unique(column.codes[codes == -2])]
        raise ValueError(
            f"`frame`: column `{variable}` holds {', '.join(map(repr, unknown))}, which the "
            f"network does not know; its states are {', '.join(map(repr, states))}."
        )
    return Column(list(states), codes, True)


def _counts(variable, codes, shape):
    """Count the rows of each joint state of a family."""
    size = np.prod(shape, dtype=float)
    if size > LARGEST_TABLE:
        raise ValueError(
            f"`graph`: the table of `{variable}` with its {len(shape) - 1} parents would have "
            f"{size:.3g} entries, more than {LARGEST_TABLE}; remove some of its parents."
        )
    cells = np.ravel_multi_index([column.astype(np.intp) for column in codes], shape)
    return np.bincount(cells, minlength=int(size)).reshape(shape)


def _posterior_mean(counts, equivalent_sample_size):
    """(N_jk + a_jk) / (N_j + a_j); equal probabilities where that is 0 / 0."""
    n_states = counts.shape[-1]
    a_j = equivalent_sample_size * n_states / counts.size
    n_j = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1 / n_states)
    return np.divide(counts + a_j / n_states, n_j + a_j, out=uniform, where=n_j + a_j > 0)
