"""Probability tables of several tasks that borrow from each other, row by row."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.networks.components import Components, learned_weights
from bnmtl.networks.smoothing import posterior_mean
from bnmtl.networks.tables import LARGEST_TABLE, check_family


class Fitted(NamedTuple):
    """Tables of several networks.

    Attributes
    ----------
    tables : dict task -> dict variable -> float array
        As in `BayesNet`.
    borrowed : pandas.DataFrame
        Columns task, variable, source and rows: the expected number of rows of another task that
        count for the table of a variable. Families possible in only one task are omitted.
    in_common : pandas.DataFrame
        Tasks by tasks: the probability that two tasks share a row, averaged over the families of
        their graphs and over rows with the counts as weights; nan if there is none.
    """

    tables: dict
    borrowed: pd.DataFrame
    in_common: pd.DataFrame


def fit_tables(configuration, tasks, groups=None):
    """Shared tables of given graphs.

    Parameters
    ----------
    configuration : mapping task -> networkx.DiGraph
        DAGs over the variables of each task.
    tasks : Tasks
    groups : list of lists of str, default=None
        Groups of tasks, each of which learns for itself how much its tables borrow from all other
        tasks; None is one group.

    Returns
    -------
    Fitted
    """
    return SharedTables(tasks).fit(configuration, groups)


class SharedTables:
    """Shared tables for graphs of several tasks; each family is counted once.

    Parameters
    ----------
    tasks : Tasks
        The rows.
    weigh : callable, default=learned_weights
        Returns the weights of the components, given the evidences of all families, shape (families,
        components).
    """

    def __init__(self, tasks, weigh=learned_weights):
        self._tasks, self._weigh = tasks, weigh
        self._known = {}

    def fit(self, configuration, groups=None):
        """The tables of given graphs; see `fit_tables`."""
        tasks, tables = self._tasks, {name: {} for name in configuration}
        owners_of = _families(configuration)
        found = {}
        for group in [tasks.names] if groups is None else groups:
            found |= self._shared(owners_of, group)
        borrowed, sums = [], np.zeros((2, len(tasks), len(tasks)))
        for family, owners in owners_of.items():
            members, _ = self._of(family)
            for at, name in enumerate(members):
                if name not in owners:
                    continue
                shared = found.get((family, name))
                tables[name][family[-1]] = self._table(name, family, shared)
                if shared is None:
                    continue
                rows = shared.borrowed[at]
                borrowed += [
                    (name, family[-1], other, rows[i]) for i, other in enumerate(members) if i != at
                ]
                block = np.ix_(
                    [tasks.names.index(name)], [tasks.names.index(one) for one in members]
                )
                sums[0][block] += shared.in_common[at]
                sums[1][block] += shared.weights[at]
        columns = ["task", "variable", "source", "rows"]
        in_common = _in_common(sums, tasks.names)
        return Fitted(tables, pd.DataFrame(borrowed, columns=columns), in_common)

    def _shared(self, owners_of, group):
        """`Shared` by family and owner in a group, for families possible in several tasks.

        All families of the group set its weights.
        """
        inside = {}
        # The order of families must not affect the last digits.
        for family in sorted(owners_of):
            members, components = self._of(family)
            if components is not None and not owners_of[family].isdisjoint(group):
                inside[family] = [at for at, name in enumerate(members) if name in group]
        if not inside:
            return {}
        known = {family: self._of(family)[1] for family in inside}
        weights = self._weigh(np.array([known[one].evidences(at) for one, at in inside.items()]))
        found = {}
        for family, members in inside.items():
            shared = known[family].averaged(weights, members)
            found |= {(family, name): shared for name in owners_of[family] if name in group}
        return found

    def _of(self, family):
        """The tasks with the variables of a family, and its components (None for one task)."""
        if family not in self._known:
            names = [name for name, task in self._tasks.items() if set(family) <= {*task.variables}]
            # Every task gets a table.
            most, shape = LARGEST_TABLE // len(names), _shape(self._tasks[names[0]], family)
            check_family(shape, "configuration", family[-1], most)
            counts = np.stack([family_counts(self._tasks[name], family) for name in names])
            counts = counts.reshape(len(names), -1, counts.shape[-1])
            self._known[family] = names, Components(counts) if len(names) > 1 else None
        return self._known[family]

    def _table(self, name, family, shared):
        """The table of a task, with one axis for each variable of a family."""
        task = self._tasks[name]
        if shared is None:
            return posterior_mean(family_counts(task, family), "auto")
        members, _ = self._of(family)
        return shared.tables[members.index(name)].reshape(_shape(task, family))


def _families(configuration):
    """Tasks by family; a family lists the sorted parents and then the child."""
    found = {}
    for name, graph in configuration.items():
        for variable in sorted(graph):
            family = (*sorted(graph.predecessors(variable)), variable)
            found.setdefault(family, set()).add(name)
    return found


def family_counts(task, family):
    """Number of rows of each joint state of a family; the last axis is the child."""
    shape = _shape(task, family)
    codes = [task.codes[task.index[variable]].astype(np.intp) for variable in family]
    cells = np.ravel_multi_index(codes, shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


def _shape(task, family):
    return tuple(len(task.states[task.index[variable]]) for variable in family)


def _in_common(sums, names):
    """Averages over the families of either task."""
    chances, weights = sums + np.swapaxes(sums, 1, 2)
    table = np.divide(chances, weights, out=np.full_like(chances, np.nan), where=weights > 0)
    np.fill_diagonal(table, 1.0)
    return pd.DataFrame(table, index=names, columns=names)


def borrowed_record(borrowed):
    """Borrowed rows by variable, task and source; None if tables are not shared.

    Parameters
    ----------
    borrowed : pandas.DataFrame
        ``borrowed`` as returned by `SharedTables.fit`.
    """
    if borrowed.empty:
        return None
    record = {}
    for row in borrowed.itertuples(index=False):
        by_task = record.setdefault(row.variable, {})
        by_task.setdefault(row.task, {})[row.source] = round(float(row.rows), 1)
    return record


def borrowed_shares(borrowed, tasks):
    """The share of the rows of other tasks that counts for each table.

    Parameters
    ----------
    borrowed : pandas.DataFrame
        ``borrowed`` as returned by `SharedTables.fit`.
    tasks : Tasks
        The rows.

    Returns
    -------
    pandas.DataFrame, variables by tasks
        From 0 to 1; nan if no other task has the variables of the family. Variables whose tables
        borrow most come first.
    """
    sizes = borrowed["source"].map({name: task.n_rows for name, task in tasks.items()})
    sums = borrowed.assign(there=sizes).groupby(["variable", "task"])[["rows", "there"]].sum()
    shares = (sums["rows"] / sums["there"]).clip(upper=1.0).unstack("task")
    shares = shares.reindex(index=tasks.variables, columns=tasks.names)
    order = np.lexsort([shares.index, -shares.mean(axis=1).fillna(-1.0)])
    return shares.iloc[order]
