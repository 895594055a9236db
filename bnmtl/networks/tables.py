"""States and tables of a network: checks, estimates and their smoothing, and encoding of data."""

import math
import numbers
from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pandas as pd
from scipy.special import softmax

from bnmtl.errors import Action, InputError, InputTypeError, located
from bnmtl.graphs import check_dag
from bnmtl.scores import CONCENTRATIONS
from bnmtl.scores.decomposable import log_rising
from bnmtl.tasks import Edges, Task
from bnmtl.tasks.columns import MISSING_STATE, Column, read_column, shared_states
from bnmtl.wording import Bare, listed, type_of

_BLOCK = 2**16  # rows of a table that are smoothed at a time


def check_size(name, size):
    """Raise unless a sample size is "auto" or a number of 0 or more."""
    if isinstance(size, str) and size == "auto":
        return
    is_number = isinstance(size, numbers.Real) and not isinstance(size, bool)
    if not is_number or not 0 <= size < np.inf:
        rule = 'must be "auto" or a number of 0 or more'
        remedies = '"auto" learns the smoothing'
        raise (InputError if is_number else InputTypeError)(name, rule, size, remedies=remedies)


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


def check_table(n_states, argument, rule, found, remedies, most=LARGEST_TABLE, **details):
    """Raise unless a table may be allocated; called before every allocation of its size.

    Parameters
    ----------
    n_states : sequence of int
        Number of states of each variable of the table.
    argument, rule, found, remedies
        As in `InputError`. The templates may have {cells} and {axes} of the table, and their
        limits {most} and {most_axes}.
    most : int, default=2**26
        The largest number of cells.
    **details
        More values in the templates, and the place: file, line, task.

    Returns
    -------
    int
        The number of cells.
    """
    cells = math.prod(map(int, n_states))
    if cells <= most and len(n_states) <= MOST_AXES:
        return cells
    # Larger numbers cannot be shown as floats.
    details["cells"] = cells if cells < 10**300 else Decimal(cells)
    details |= {"axes": len(n_states), "most": most, "most_axes": MOST_AXES}
    raise InputError(argument, rule, found=found, remedies=remedies, **details)


def check_family(n_states, argument, name, most=LARGEST_TABLE, **details):
    """Raise unless the table of a variable may be allocated: `check_table` for a graph."""
    rule = "must have tables of at most {most:,} cells over {most_axes} variables"
    found = "that of {name} with its {n:parent} would have {cells:.3g} over {axes}"
    remedies, details = "remove some of its parents", {"n": len(n_states) - 1, **details}
    return check_table(n_states, argument, rule, found, remedies, most, name=name, **details)


def check_graph(graph, argument="graph"):
    """Raise unless a graph is a DAG with at least one node and only strings as nodes."""
    check_dag(graph, argument)
    if not graph:
        raise InputError(argument, "must have at least one node", found="it is empty")
    for node in graph:
        if not isinstance(node, str):
            rule = "must have strings as nodes"
            raise InputTypeError(argument, rule, node, remedies="rename it")


def checked_states(states, graph):
    """Return {variable: tuple of its states}, or raise."""
    _check_keys("states", states, graph)
    return {variable: _state_names(variable, states[variable]) for variable in graph}


def _state_names(variable, states):
    if isinstance(states, str | set | frozenset) or not np.iterable(states):
        rule, remedies = "of {name} must be a list of strings", "for example ['no', 'yes']"
        raise InputTypeError("states", rule, states, remedies=remedies, name=variable)
    states = tuple(states)
    for state in states:
        if not isinstance(state, str):
            rule, remedies = "of {name} must be strings", "write it as text"
            raise InputTypeError("states", rule, state, remedies=remedies, name=variable)
    if not states or len(set(states)) < len(states):
        rule = "of {name} must be one or more different strings"
        raise InputError("states", rule, states, name=variable)
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
    check_family([len(states[member]) for member in family], "graph", variable)
    try:
        table = np.array(table, dtype=float)
    except (TypeError, ValueError):
        rule = "must hold for {name} an array of numbers"
        remedies = "nest lists of equal length, for example [[0.9, 0.1], [0.2, 0.8]]"
        raise InputTypeError("tables", rule, table, remedies=remedies, name=variable) from None
    shape = tuple(len(states[member]) for member in family)
    if table.shape != shape:
        rule = "must hold for {name} a table of the shape {shape!s}, one axis for each of {axes}"
        details = {"name": variable, "shape": shape, "axes": family}
        raise InputError("tables", rule, table.shape, **details)
    off = np.abs(table.sum(axis=-1) - 1)
    if not (np.all(table >= 0) and np.all(off <= SUM_TOLERANCE)):
        bad = ~(off <= SUM_TOLERANCE) | ~(table >= 0).all(axis=-1)
        at = tuple(np.argwhere(bad)[0])
        given = ", ".join(f"{p} = {states[p][i]}" for p, i in zip(family, at, strict=False))
        rule = "must hold for {name} probabilities that are 0 or more and sum to 1"
        shown = Bare(f"{table[at]}{' given ' + given if given else ''}")
        raise InputError("tables", rule, shown, name=variable)
    table.setflags(write=False)
    return table


def _check_keys(name, mapping, nodes):
    if not isinstance(mapping, Mapping):
        rule = "must be a mapping with one entry for each node of the graph"
        raise InputTypeError(name, rule, type_of(mapping), remedies="give a dict")
    missing = [node for node in nodes if node not in mapping]
    extra = [key for key in mapping if key not in nodes]
    if missing or extra:
        found = "{key!r} is missing" if missing else "{key!r} is not a node"
        rule, key = "must have one entry for each node of the graph", (missing or extra)[0]
        raise InputError(name, rule, found=found, key=key)


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
            rule = "must have rows, or categories that declare its states"
            raise InputError("frame", rule, found="it has neither", column=variable)
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
    size = check_family(shape, "graph", variable)
    cells = np.ravel_multi_index([column.astype(np.intp) for column in codes], shape)
    counts = np.bincount(cells, minlength=size).reshape(shape)
    return posterior_mean(counts, equivalent_sample_size)


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
        rule = "must be a pandas DataFrame"
        raise InputTypeError(None, rule, type_of(frame), remedies="convert it")
    labels = {}
    for label in frame.columns:
        if str(label) in labels:
            rule, found = "must have different column names", "{name} occurs twice"
            raise InputError(None, rule, found=found, remedies="rename one", name=str(label))
        labels[str(label)] = label
    return labels


def _columns(frame, variables):
    """Return {variable: Column} of the wanted variables."""
    is_task = isinstance(frame, Task)
    labels = {v: i for i, v in enumerate(frame.variables)} if is_task else column_labels(frame)
    for variable in variables:
        if variable not in labels:
            rule = "must have a column for each variable of the network"
            raise InputError(None, rule, found="{name} is missing", name=variable)
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
            rule, found = "must be complete", "{n} of its values are missing"
            details = {"remedies": ("drop those rows", "fill them"), "n": n_missing}
            raise InputError(None, rule, found=found, column=variable, **details)


def _recoded(column, states, variable, unseen=None):
    """Return a column encoded with other states; `unseen` sets the handling of unknown ones."""
    position = {state: i for i, state in enumerate(states)}
    missing = position.get(MISSING_STATE, -1)
    unknown = missing if unseen == "ignore" else -2
    lookup = np.array(
        [*(position.get(label, unknown) for label in column.labels), missing], dtype=np.intp
    )
    codes = lookup[column.codes]
    if (codes == -2).any():
        unknown = [column.labels[i] for i in np.unique(column.codes[codes == -2])]
        rule, remedies = "must hold states that the network knows ({known})", ["correct them"]
        if Edges.are_names(states) and pd.notna(pd.to_numeric(unknown, errors="coerce")).all():
            remedies = [Action("discretize as learned")]
        elif unseen is not None:
            remedies.append("treat them as missing with {unseen=ignore}")
        details = {"column": variable, "known": list(states), "unknown": unknown}
        raise InputError(None, rule, listed(unknown), remedies=remedies, **details)
    return Column(list(states), codes, True)
