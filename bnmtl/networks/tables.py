"""States and tables of a network: checked, estimated from data, and data coded by them."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from bnmtl.networks.smoothing import check_size, posterior_mean
from bnmtl.tasks import Task
from bnmtl.tasks.columns import Column, read_column
from bnmtl.tasks.states import MISSING_STATE, shared_states
from bnmtl.wording import listed, type_of

# How far from 1 the sum of a row of probabilities may be; values are kept as they are given.
SUM_TOLERANCE = 1e-6
# 80 MB of numbers; a larger table is a mistake in the graph, not a wish.
LARGEST_TABLE = 10_000_000


def check_nodes(graph):
    """Raise unless a graph has nodes, all of them strings."""
    if not graph:
        raise ValueError("`graph` must have at least one node; it is empty.")
    for node in graph:
        if not isinstance(node, str):
            raise TypeError(f"`graph` must have strings for nodes, got {node!r}; rename it.")


def checked_states(states, graph):
    """Return {variable: tuple of its states}, or raise."""
    _check_keys("states", states, graph)
    return {variable: _state_names(variable, states[variable]) for variable in graph}


def _state_names(variable, states):
    if isinstance(states, str | set | frozenset) or not np.iterable(states):
        raise TypeError(
            f"`states` of `{variable}` must be a list of strings, got {states!r}; for example "
            "['no', 'yes']."
        )
    states = tuple(states)
    for state in states:
        if not isinstance(state, str):
            raise TypeError(
                f"`states` of `{variable}` must be strings, got {state!r}; write it as text."
            )
    if not states or len(set(states)) < len(states):
        raise ValueError(
            f"`states` of `{variable}` must be one or more different strings, got {states}."
        )
    return states


def checked_tables(tables, parents, states):
    """Return {variable: read-only copy of its table}, or raise; `parents` and `states` by name."""
    _check_keys("tables", tables, states)
    return {
        variable: _checked_table((*parents[variable], variable), tables[variable], states)
        for variable in states
    }


def _checked_table(family, table, states):
    variable = family[-1]
    try:
        table = np.array(table, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(
            f"`tables`: the table of `{variable}` must be an array of numbers, got {table!r}; "
            "nest lists of equal length, for example [[0.9, 0.1], [0.2, 0.8]]."
        ) from None
    shape = tuple(len(states[member]) for member in family)
    if table.shape != shape:
        raise ValueError(
            f"`tables`: the table of `{variable}` must have the shape {shape}, one axis for each "
            f"of {', '.join(family)}, got {table.shape}."
        )
    off = np.abs(table.sum(axis=-1) - 1)
    if not (np.all(table >= 0) and np.all(off <= SUM_TOLERANCE)):
        bad = ~(off <= SUM_TOLERANCE) | ~(table >= 0).all(axis=-1)
        at = tuple(np.argwhere(bad)[0])
        given = [f"{p} = {states[p][i]}" for p, i in zip(family, at, strict=False)]
        raise ValueError(
            f"`tables`: the probabilities of `{variable}` must be 0 or more and sum to 1, got "
            f"{table[at]}{' given ' + ', '.join(given) if given else ''}."
        )
    table.setflags(write=False)
    return table


def _check_keys(name, mapping, nodes):
    if not isinstance(mapping, Mapping):
        raise TypeError(
            f"`{name}` must be a mapping with one entry for each node of the graph, got "
            f"{type_of(mapping)}; give a dict."
        )
    missing = [node for node in nodes if node not in mapping]
    extra = [key for key in mapping if key not in nodes]
    if missing or extra:
        problem = f"{missing[0]!r} is missing" if missing else f"{extra[0]!r} is no node"
        raise ValueError(f"`{name}` must have one entry for each node of the graph; {problem}.")


def estimate(graph, frame, equivalent_sample_size):
    """Return the states and the tables of a DAG's variables, see `BayesNet.fit`."""
    check_size("equivalent_sample_size", equivalent_sample_size)
    columns = _columns(frame, graph)
    _check_complete(columns)
    if not isinstance(frame, Task):
        declared = shared_states({"frame": columns})
        columns = {v: _recoded(column, declared[v], v) for v, column in columns.items()}
    states = {variable: tuple(column.labels) for variable, column in columns.items()}
    for variable, own in states.items():
        if not own:
            raise ValueError(
                f"`frame` must have rows, or categories that declare the states; column "
                f"`{variable}` has neither."
            )
    tables = {}
    for variable in graph:
        family = (*sorted(graph.predecessors(variable)), variable)
        shape = tuple(len(states[member]) for member in family)
        codes = [columns[member].codes for member in family]
        tables[variable] = family_table(variable, codes, shape, equivalent_sample_size)
        tables[variable].setflags(write=False)
    return states, tables


def family_table(variable, codes, shape, equivalent_sample_size):
    """Estimate P(variable | parents) from codes, those of the parents first; shape by states."""
    return posterior_mean(_counts(variable, codes, shape), equivalent_sample_size)


def code_frame(frame, states, complete, unseen=None, where="`frame`"):
    """Return {variable: codes} of the variables in `states`, by the names `bnmtl.tasks` gives.

    A missing cell is -1, or an error where the columns must be complete; where a variable has the
    state "missing", as after `encode(..., missing="state")`, it is that state. A state that is not
    known is an error, or with `unseen="ignore"` as good as missing; "error" says that users have
    the choice. Messages begin with `where`.
    """
    columns = _columns(frame, states, where)
    coded = {v: _recoded(column, states[v], v, unseen, where) for v, column in columns.items()}
    if complete:
        _check_complete(coded)
    return {variable: column.codes for variable, column in coded.items()}


def column_labels(frame, where="`frame`"):
    """Return {name: label} of the columns; names are strings and must differ."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{where} must be a pandas DataFrame, got {type_of(frame)}; convert it.")
    labels = {}
    for label in frame.columns:
        if str(label) in labels:
            raise ValueError(
                f"{where} must have different column names; `{label}` occurs twice, so rename one."
            )
        labels[str(label)] = label
    return labels


def _columns(frame, variables, where="`frame`"):
    """Return {variable: Column} of the wanted variables."""
    is_task = isinstance(frame, Task)
    labels = (
        {v: i for i, v in enumerate(frame.variables)} if is_task else column_labels(frame, where)
    )
    for variable in variables:
        if variable not in labels:
            raise ValueError(
                f"{where} must have a column for each variable of the network; `{variable}` is "
                "missing."
            )
    if is_task:
        return {v: Column(frame.states[labels[v]], frame.codes[labels[v]], True) for v in variables}
    return {v: read_column(frame[labels[v]], f"{where}: column `{v}`", None) for v in variables}


def _check_complete(columns):
    for variable, column in columns.items():
        n_missing = np.count_nonzero(column.codes < 0)
        if n_missing:
            raise ValueError(
                f"`frame`: column `{variable}` must be complete; {n_missing} of its values are "
                "missing, so drop those rows or fill them."
            )


def _recoded(column, states, variable, unseen=None, where="`frame`"):
    """Return a column with its codes pointing into other states; unknown ones as `unseen` says."""
    position = {state: i for i, state in enumerate(states)}
    missing = position.get(MISSING_STATE, -1)
    unknown = missing if unseen == "ignore" else -2
    lookup = np.array(
        [*(position.get(label, unknown) for label in column.labels), missing], dtype=np.intp
    )
    codes = lookup[column.codes]
    if (codes == -2).any():
        unknown = [column.labels[i] for i in np.unique(column.codes[codes == -2])]
        remedy = "" if unseen is None else ", or take them as missing with `unseen='ignore'`"
        raise ValueError(
            f"{where}: column `{variable}` must hold states that the network knows "
            f"({listed(states)}), got {listed(unknown)}; correct them{remedy}."
        )
    return Column(list(states), codes, True)


def _counts(variable, codes, shape):
    """Count the rows of each joint state of a family."""
    size = math.prod(shape)
    if size > LARGEST_TABLE:
        raise ValueError(
            f"`graph`: the table of `{variable}` with its {len(shape) - 1} parents would have "
            f"{size:.3g} entries, more than {LARGEST_TABLE}; remove some of its parents."
        )
    cells = np.ravel_multi_index([column.astype(np.intp) for column in codes], shape)
    return np.bincount(cells, minlength=size).reshape(shape)
