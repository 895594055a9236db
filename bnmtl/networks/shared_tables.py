"""Probability tables of several tasks that borrow from each other, row by row."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaln

from bnmtl._kernels import scoring
from bnmtl._kernels import shared_tables as kernels
from bnmtl.scores import CONCENTRATIONS
from bnmtl.smoothing import posterior_mean

__all__ = ["PARTITIONS", "STRENGTHS", "SharedTables", "fit_tables", "share"]

# Concentrations of partitions: from tasks that all have one table to each with its own.
PARTITIONS = (0.02, 0.2, 1.0, 5.0, 50.0)
# How many rows the mean of the other tasks counts as, where a table is centered on it.
STRENGTHS = (0.5, 2.0, 8.0, 30.0, 120.0, 1000.0)
# Of a centered prior in every cell, so that what no other task has seen stays possible.
FLOOR = 1e-3
# Value of one nat in the kernels' integers.
_SCALE = 2.0**30


class Shared(NamedTuple):
    """What tasks have of one family.

    Attributes
    ----------
    tables : float array of shape (k, q, r)
        Sum to 1 along the last axis.
    borrowed : float array of shape (k, k)
        [s, u] is how many rows of task u count for the table of task s, as expected.
    in_common : float array of shape (k, k)
        [s, u] is the probability that the two have a row in common, times their counts in it,
        summed over the rows; symmetric.
    weights : float array of shape (k, k)
        Sums of these counts.
    """

    tables: np.ndarray
    borrowed: np.ndarray
    in_common: np.ndarray
    weights: np.ndarray


class Fitted(NamedTuple):
    """Tables of several networks.

    Attributes
    ----------
    tables : dict task -> dict variable -> float array
        As in `BayesNet`.
    borrowed : pandas.DataFrame
        Columns task, variable, source and rows: how many rows of another task count for the table
        of a variable, as expected. Families that only one task could have are not in it.
    in_common : pandas.DataFrame
        Tasks by tasks: how probably two tasks have a row in common, averaged over the families of
        their graphs and over rows by the tasks' counts; nan where there is none.
    """

    tables: dict
    borrowed: pd.DataFrame
    in_common: pd.DataFrame


def fit_tables(configuration, tasks):
    """Tables of given graphs, all tasks informing each other.

    Parameters
    ----------
    configuration : mapping task -> networkx.DiGraph
        DAGs over the variables of each task.
    tasks : Tasks

    Returns
    -------
    Fitted
    """
    names = list(configuration)
    tables = {name: {} for name in names}
    shared, borrowed, sums = SharedTables(tasks), [], np.zeros((2, len(tasks), len(tasks)))
    for family, owners in _families(configuration).items():
        members, found = shared.of(family)
        for at, name in enumerate(members):
            if name not in owners:
                continue
            tables[name][family[-1]] = shared.table(name, family)
            if found is None:
                continue
            rows = found.borrowed[at]
            borrowed += [
                (name, family[-1], other, rows[i]) for i, other in enumerate(members) if i != at
            ]
            own = np.ix_([tasks.names.index(name)], [tasks.names.index(one) for one in members])
            sums[0][own] += found.in_common[at]
            sums[1][own] += found.weights[at]
    columns = ["task", "variable", "source", "rows"]
    return Fitted(tables, pd.DataFrame(borrowed, columns=columns), _in_common(sums, tasks.names))


class SharedTables:
    """Tables of families of several tasks that borrow from each other, each estimated once.

    Parameters
    ----------
    tasks : Tasks
        The rows.
    """

    def __init__(self, tasks):
        self._tasks = tasks
        self._known = {}

    def of(self, family):
        """The tasks that have the variables of a family, the child last, and what they share.

        Returns
        -------
        list of str, Shared or None
            None where there is one such task.
        """
        if family not in self._known:
            names = [name for name, own in self._tasks.items() if set(family) <= {*own.variables}]
            counts = np.stack([family_counts(self._tasks[name], family) for name in names])
            counts = counts.reshape(len(names), -1, counts.shape[-1])
            self._known[family] = names, share(counts) if len(names) > 1 else None
        return self._known[family]

    def table(self, name, family):
        """The table of a task, one axis for each variable of a family."""
        members, found = self.of(family)
        own = self._tasks[name]
        if found is None:
            return posterior_mean(family_counts(own, family), "auto")
        shape = [len(own.states[own.variables.index(variable)]) for variable in family]
        return found.tables[members.index(name)].reshape(shape)


def _families(configuration):
    """Tasks by family, the parents in order and the child last."""
    found = {}
    for name, graph in configuration.items():
        for variable in sorted(graph):
            family = (*sorted(graph.predecessors(variable)), variable)
            found.setdefault(family, set()).add(name)
    return found


def family_counts(task, family):
    """Rows of each joint state of a family, the child's states along the last axis."""
    at = [task.variables.index(variable) for variable in family]
    shape = tuple(len(task.states[one]) for one in at)
    cells = np.ravel_multi_index([task.codes[one].astype(np.intp) for one in at], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def _in_common(sums, names):
    """Averages over the families of either task."""
    chances, weights = sums + np.swapaxes(sums, 1, 2)
    table = np.divide(chances, weights, out=np.full_like(chances, np.nan), where=weights > 0)
    np.fill_diagonal(table, 1.0)
    return pd.DataFrame(table, index=names, columns=names)


def share(counts):
    """Tables of tasks that borrow from each other as much as their counts ask for.

    Parameters
    ----------
    counts : int array of shape (k, q, r)
        By task, configuration of the parents and state of the child; k is 2 or more.

    Returns
    -------
    Shared
        Each component, a prior, counts by how probable it makes every task's counts given those of
        the others. Under the first kind tasks are in groups that have the row in common, see
        ``_kernels.groups``; under the second a task's row is centered on that of all others.

    Notes
    -----
    Averages over components and partitions, in closed form; of more than nine tasks with counts in
    a row the most probable partitions only.
    """
    counts = np.ascontiguousarray(np.swapaxes(counts, 0, 1), dtype=np.int64)
    q, k, r = counts.shape
    seen = np.flatnonzero(counts.any(axis=(1, 2)))
    rows = np.ascontiguousarray(counts[seen])
    groups = _Groups(rows)
    evidences = np.concatenate([groups.evidences, _centered_evidences(rows)])
    weights = np.exp(evidences - evidences.max())
    weights /= weights.sum()
    n_groups = len(groups.evidences)
    tables, borrowed, in_common = groups.tables(weights[:n_groups])
    others = rows.sum(axis=1, keepdims=True) - rows
    for weight, (strength, c) in zip(weights[n_groups:], _centered(), strict=True):
        posterior = rows + _center(others, strength, c)
        tables += weight * posterior / posterior.sum(axis=-1, keepdims=True)
    strength = float(weights[n_groups:] @ [strength for strength, _ in _centered()])
    borrowed += strength * _shares_of_others(rows)
    whole = np.full((q, k, r), 1 / r)
    whole[seen] = tables / tables.sum(axis=-1, keepdims=True)
    sizes = rows.sum(axis=-1)
    pairs = sizes.sum(axis=0)[:, None] + sizes.sum(axis=0)
    return Shared(np.swapaxes(whole, 0, 1), borrowed, in_common, pairs.astype(float))


class _Groups:
    """The components under which tasks are in groups; arrays are by component, (t c,)."""

    def __init__(self, rows):
        self._rows = rows
        _, k, r = rows.shape
        self._scratch = _scratch(k, r, int(rows.sum()))
        self._active = np.zeros(k, np.int64)
        values = np.zeros(len(PARTITIONS) * len(CONCENTRATIONS), np.int64)
        kernels.leave_one_out(*self._arguments(), values)
        self.evidences = values / _SCALE

    def tables(self, weights):
        """Posterior means (q, k, r), rows borrowed (k, k) and rows in common (k, k), a component
        counting by its weight."""
        q, k, r = self._rows.shape
        tables, together = np.zeros((q, k, r)), np.zeros((3, k, k))
        chances, roles = np.zeros_like(weights), np.zeros(k, np.int64)
        kernels.add_tables(*self._arguments(), weights, chances, roles, tables, *together)
        _, borrowed, in_common = together
        # Components without groups have a say in the tables only.
        return tables, borrowed, in_common / weights.sum()

    def _arguments(self):
        concentrations, partitions = np.array(CONCENTRATIONS), np.array(PARTITIONS)
        own = self._scratch
        memory = own.terms, own.owners, own.bases, own.table
        return (*memory, self._rows, self._active, concentrations, partitions, _SCALE)


def _scratch(k, r, n_cases):
    """Memory of the kernels; what differs from family to family is small."""
    return scoring.new_scratch(1, 1, n_cases, len(CONCENTRATIONS), (k, 1, r, len(PARTITIONS)))


@cache
def _centered():
    """Strength and concentration of the centered components."""
    return [(strength, c) for strength in STRENGTHS for c in CONCENTRATIONS]


def _center(others, strength, c):
    """Pseudo-counts of a row: the mean of all other tasks, of so many rows."""
    mean = others + c
    return strength * mean / mean.sum(axis=-1, keepdims=True) + FLOOR


def _centered_evidences(rows):
    """Log probability of every task's counts, given the others', under the centered components."""
    others = rows.sum(axis=1, keepdims=True) - rows
    sizes, found = rows.sum(axis=-1), []
    for strength, c in _centered():
        prior = _center(others, strength, c)
        total = prior.sum(axis=-1)
        value = (gammaln(total) - gammaln(total + sizes)).sum()
        found.append(value + (gammaln(prior + rows) - gammaln(prior)).sum())
    return np.array(found)


def _shares_of_others(rows):
    """[s, u]: sum over rows of the share that task u has in the counts of all but task s."""
    sizes = rows.sum(axis=-1).astype(float)
    others = sizes.sum(axis=1, keepdims=True) - sizes
    known = np.where(others > 0, others, 1.0)
    shares = (sizes[:, None, :] / known[:, :, None]).sum(axis=0)
    np.fill_diagonal(shares, 0.0)
    return shares
