"""States and tables of a network: checks, estimates and their smoothing, and encoding of data."""

import math
import numbers
from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pandas as pd
from scipy.special import softmax

from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.graphs import check_dag
from bnmtl.scores import CONCENTRATIONS
from bnmtl.scores.decomposable import log_rising
from bnmtl.tasks import Edges, Task
from bnmtl.tasks.columns import MISSING_STATE, Column, read_column, shared_states
from bnmtl.tasks.encoding import column_names
from bnmtl.wording import count, listed, type_of

_BLOCK = 2**16  # rows of a table that are smoothed at a time


def check_size(name, size):
    """Raise unless a sample size is "auto" or a number of 0 or more."""
    if isinstance(size, str) and size == "auto":
        return
    is_number = isinstance(size, numbers.Real) and not isinstance(size, bool)
    if not is_number or not 0 <= size < np.inf:
        message = f'must be "auto" or a number of 0 or more, got {size!r}'
        error = InputError if is_number else InputTypeError
        raise error(message, argument=name, remedy='"auto" learns the smoothing')


def posterior_mean(counts, size):
    """The posterior mean of a probability table given counts.

    Parameters
    ----------
    counts : int array of shape (..., r)
        Rows of each configuration of the parents and state of the child.
    size : float or "auto"
        A number alpha is spread evenly: (n + alpha / (q r)) / (N + alpha / q). "auto" averages
        (n + c) / (N + r c) over the concentrations c of `MixedDirichlet`, each weighted by the
        evidence of the whole table.

    Returns
    -------
    float array of the same shape
        Sums to 1 along the last axis; equal probabilities for rows without counts or prior.
    """
    n_states = counts.shape[-1]
    if size == "auto":
        table = np.empty(counts.shape)
        weights = softmax(log_evidences(counts))
        # By blocks, because tables may be large.
        rows, all_counts = table.reshape(-1, n_states), counts.reshape(-1, n_states)
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            rows[block] = _averaged(all_counts[block], weights)
        return table
    totals = counts.sum(axis=-1, keepdims=True)
    a_j = size * n_states / counts.size
    if a_j > 0:
        return (counts + a_j / n_states) / (totals + a_j)
    uniform = np.full(counts.shape, 1 / n_states)
    return np.divide(counts, totals, out=uniform, where=totals > 0)


def _averaged(counts, weights):
    """Posterior means of some rows, averaged over the concentrations."""
    n_states, totals = counts.shape[-1], counts.sum(axis=-1, keepdims=True)
    rows = np.zeros(counts.shape)
    for weight, c in zip(weights, CONCENTRATIONS, strict=True):
        part = counts + c
        part /= totals + n_states * c
        part *= weight
        rows += part
    return rows / rows.sum(axis=-1, keepdims=True)


def log_evidences(counts):
    """Log evidence of the counts of a whole table under each concentration."""
    n_states, totals = counts.shape[-1], counts.sum(axis=-1)
    cells, rows = counts[counts > 0], totals[totals > 0]
    c = np.array(CONCENTRATIONS)[:, None]
    return log_rising(c, cells).sum(axis=1) - log_rising(n_states * c, rows).sum(axis=1)


# Tolerance for the sum of a row of probabilities; values are not rescaled.
SUM_TOLERANCE = 1e-6
# Cells of a table: 512 MiB of numbers; a larger table indicates a mistake in the graph.
LARGEST_TABLE = 2**26
# Variables of a table: arrays have at most 64 axes, one of them for rows, and 63 index arrays.
MOST_AXES = 63


def n_cells(n_states):
    """Return the number of cells of a table with these numbers of states."""
    return math.prod(map(int, n_states))


def fits(n_states, most=LARGEST_TABLE):
    """Whether a table may be allocated; asked before every allocation of its size.

    Parameters
    ----------
    n_states : sequence of int
        Number of states of each variable of the table.
    most : int, default=2**26
        The largest number of cells.
    """
    return n_cells(n_states) <= most and len(n_states) <= MOST_AXES


def shown_cells(n_states):
    """Return the number of cells as it can be formatted: very large ones are no floats."""
    cells = n_cells(n_states)
    return cells if cells < 10**300 else Decimal(cells)


def check_family(n_states, argument, name, most=LARGEST_TABLE):
    """Raise unless the table of a variable may be allocated."""
    if not fits(n_states, most):
        message = (
            f"must have tables of at most {most:,} cells over {MOST_AXES} variables; that of "
            f"`{name}` with its {count(len(n_states) - 1, 'parent')} would have "
            f"{shown_cells(n_states):.3g} over {len(n_states)}"
        )
        raise InputError(message, argument=argument, remedy="remove some of its parents")


def check_graph(graph, argument="graph"):
    """Raise unless a graph is a DAG with at least one node and only strings as nodes."""
    check_dag(graph, argument)
    if not graph:
        raise InputError("must have at least one node; it is empty", argument=argument)
    for node in graph:
        if not isinstance(node, str):
            message = f"must have strings as nodes, got {node!r}"
            raise InputTypeError(message, argument=argument, remedy="rename it")


def checked_states(states, graph):
    """Return {variable: tuple of its states}, or raise."""
    _check_keys("states", states, graph)
    checked = {}
    for variable in graph:
        names = states[variable]
        if isinstance(names, str | set | frozenset) or not np.iterable(names):
            message = f"of `{variable}` must be a list of strings, got {names!r}"
            raise InputTypeError(message, argument="states", remedy="for example ['no', 'yes']")
        checked[variable] = names = tuple(names)
        for state in names:
            if not isinstance(state, str):
                message = f"of `{variable}` must be strings, got {state!r}"
                raise InputTypeError(message, argument="states", remedy="write it as text")
        if not names or len(set(names)) < len(names):
            message = f"of `{variable}` must be one or more different strings, got {names!r}"
            raise InputError(message, argument="states")
    return checked


def checked_tables(tables, parents, states):
    """Return {variable: read-only copy of its table}, or raise; `parents` and `states` by name."""
    _check_keys("tables", tables, states)
    return {
        variable: _checked_table((*parents[variable], variable), tables[variable], states)
        for variable in states
    }


def _checked_table(family, table, states):
    variable, shape = family[-1], tuple(len(states[member]) for member in family)
    check_family(shape, "graph", variable)
    try:
        table = np.array(table, dtype=float)
    except (TypeError, ValueError):
        message = f"must hold for `{variable}` an array of numbers, got {table!r}"
        remedy = "nest lists of equal length, for example [[0.9, 0.1], [0.2, 0.8]]"
        raise InputTypeError(message, argument="tables", remedy=remedy) from None
    if table.shape != shape:
        message = (
            f"must hold for `{variable}` a table of the shape {shape}, one axis for each of "
            f"{listed(family)}, got {table.shape!r}"
        )
        raise InputError(message, argument="tables")
    off = np.abs(table.sum(axis=-1) - 1)
    if not (np.all(table >= 0) and np.all(off <= SUM_TOLERANCE)):
        bad = ~(off <= SUM_TOLERANCE) | ~(table >= 0).all(axis=-1)
        at = tuple(np.argwhere(bad)[0])
        given = ", ".join(f"{p} = {states[p][i]}" for p, i in zip(family, at, strict=False))
        message = (
            f"must hold for `{variable}` probabilities that are 0 or more and sum to 1, got "
            f"{table[at]}{' given ' + given if given else ''}"
        )
        raise InputError(message, argument="tables")
    table.setflags(write=False)
    return table


def _check_keys(name, mapping, nodes):
    if not isinstance(mapping, Mapping):
        given = type_of(mapping)
        message = f"must be a mapping with one entry for each node of the graph, got {given}"
        raise InputTypeError(message, argument=name, remedy="give a dict")
    missing = [node for node in nodes if node not in mapping]
    extra = [key for key in mapping if key not in nodes]
    if missing or extra:
        found = f"{missing[0]!r} is missing" if missing else f"{extra[0]!r} is not a node"
        message = f"must have one entry for each node of the graph; {found}"
        raise InputError(message, argument=name)


def estimate(graph, frame, equivalent_sample_size):
    """Return the states and the tables of the variables of a DAG; see `BayesNet.fit`."""
    check_size("equivalent_sample_size", equivalent_sample_size)
    with located(argument="frame"):
        columns = _columns(frame, graph)
        _check_complete(columns)
        if not isinstance(frame, Task):
            declared = shared_states({"frame": columns})
            columns = {v: _recoded(column, declared[v], v) for v, column in columns.items()}
    states = {variable: tuple(column.labels) for variable, column in columns.items()}
    for variable, observed in states.items():
        if not observed:
            message = "must have rows, or categories that declare its states; it has neither"
            raise InputError(message, argument="frame", column=variable)
    tables = {}
    for variable in graph:
        family = (*sorted(graph.predecessors(variable)), variable)
        shape = tuple(len(states[member]) for member in family)
        codes = [columns[member].codes for member in family]
        tables[variable] = family_table(variable, codes, shape, equivalent_sample_size)
        tables[variable].setflags(write=False)
    return states, tables


def family_table(variable, codes, shape, equivalent_sample_size):
    """Estimate P(variable | parents) from codes (parents first), with one axis per variable."""
    check_family(shape, "graph", variable)
    return posterior_mean(joint_counts(codes, shape), equivalent_sample_size)


def joint_counts(codes, shape):
    """Number of rows of each joint state of some variables, from their codes."""
    cells = np.ravel_multi_index([column.astype(np.intp) for column in codes], shape)
    return np.bincount(cells, minlength=n_cells(shape)).reshape(shape)


def code_frame(frame, states, complete, unseen=None):
    """Return {variable: codes} of the variables in `states`, with state names as in `bnmtl.tasks`.

    A missing cell is -1, or an error if the columns must be complete; if a variable has the state
    "missing", as after `encode(..., missing="state")`, it is that state. An unknown state is an
    error, or treated as missing with `unseen="ignore"`; "error" also mentions this option.
    """
    columns = _columns(frame, states)
    coded = {v: _recoded(column, states[v], v, unseen) for v, column in columns.items()}
    if complete:
        _check_complete(coded)
    return {variable: column.codes for variable, column in coded.items()}


def column_labels(frame):
    """Return {name: label} of the columns; names are distinct strings."""
    if not isinstance(frame, pd.DataFrame):
        message = f"must be a pandas DataFrame, got {type_of(frame)}"
        raise InputTypeError(message, remedy="convert it")
    return dict(zip(column_names(frame), frame.columns, strict=True))


def _columns(frame, variables):
    """Return {variable: Column} of the wanted variables."""
    is_task = isinstance(frame, Task)
    labels = {v: i for i, v in enumerate(frame.variables)} if is_task else column_labels(frame)
    for variable in variables:
        if variable not in labels:
            rule = "must have a column for each variable of the network"
            raise InputError(f"{rule}; `{variable}` is missing")
    if is_task:
        return {v: Column(frame.states[labels[v]], frame.codes[labels[v]], True) for v in variables}
    return {v: named_column(frame[labels[v]], v, None) for v in variables}


def named_column(series, name, *limit):
    """Read a column of a frame."""
    with located(column=name):
        return read_column(series, *limit)


def _check_complete(columns):
    for variable, column in columns.items():
        n_missing = np.count_nonzero(column.codes < 0)
        if n_missing:
            message = f"must be complete; {n_missing} of its values are missing"
            raise InputError(message, column=variable, remedy="drop those rows, or fill them")


def _recoded(column, states, variable, unseen=None):
    """Return a column encoded with other states; `unseen` sets the handling of unknown ones."""
    position = {state: i for i, state in enumerate(states)}
    missing = position.get(MISSING_STATE, -1)
    unknown = missing if unseen == "ignore" else -2
    lookup = [*(position.get(label, unknown) for label in column.labels), missing]
    codes = np.array(lookup, dtype=np.intp)[column.codes]
    if (codes == -2).any():
        unknown = [column.labels[i] for i in np.unique(column.codes[codes == -2])]
        message = (
            f"must hold states that the network knows ({listed(states)}), got {listed(unknown)}"
        )
        remedy, cli_remedy = "correct them", None
        if Edges.are_names(states) and pd.notna(pd.to_numeric(unknown, errors="coerce")).all():
            remedy = "discretize it at the cut points used for learning, with `Edges.apply`"
            cli_remedy = (
                "discretize it as for learning, or give NETWORK in the folder of its run, whose "
                "run.json has the cut points"
            )
        elif unseen is not None:
            remedy += ", or treat them as missing with `unseen='ignore'`"
        raise InputError(
            message, column=variable, options=("unseen",), remedy=remedy, cli_remedy=cli_remedy
        )
    return Column(list(states), codes, True)
