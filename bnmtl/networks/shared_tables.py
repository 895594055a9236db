"""Probability tables of several tasks that borrow from each other, row by row."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.networks.components import Components, learned_weights
from bnmtl.networks.smoothing import posterior_mean


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
    return SharedTables(tasks).fit(configuration)


class SharedTables:
    """Tables of graphs of several tasks that borrow from each other; families are counted once.

    Parameters
    ----------
    tasks : Tasks
        The rows.
    weigh : callable, default=learned_weights
        How much each component counts, from the evidences of all families, (families, components).
    """

    def __init__(self, tasks, weigh=learned_weights):
        self._tasks, self._weigh = tasks, weigh
        self._known = {}

    def fit(self, configuration):
        """The tables of given graphs, as `fit_tables`."""
        names, tasks = list(configuration), self._tasks
        tables = {name: {} for name in names}
        owners_of = _families(configuration)
        found = self._shared(owners_of)
        borrowed, sums = [], np.zeros((2, len(tasks), len(tasks)))
        for family, owners in owners_of.items():
            members, _ = self._of(family)
            for at, name in enumerate(members):
                if name not in owners:
                    continue
                tables[name][family[-1]] = self._table(name, family, found.get(family))
                if family not in found:
                    continue
                rows = found[family].borrowed[at]
                borrowed += [
                    (name, family[-1], other, rows[i]) for i, other in enumerate(members) if i != at
                ]
                own = np.ix_([tasks.names.index(name)], [tasks.names.index(one) for one in members])
                sums[0][own] += found[family].in_common[at]
                sums[1][own] += found[family].weights[at]
        columns = ["task", "variable", "source", "rows"]
        in_common = _in_common(sums, tasks.names)
        return Fitted(tables, pd.DataFrame(borrowed, columns=columns), in_common)

    def _shared(self, families):
        """What is shared of each family that several tasks could have, by what all of them tell of
        how much tasks share."""
        own = {family: self._of(family)[1] for family in families}
        own = {family: components for family, components in own.items() if components is not None}
        if not own:
            return {}
        # The order in which families come must not be seen in the last digits.
        weights = self._weigh(np.array([own[family].evidences for family in sorted(own)]))
        return {family: components.averaged(weights) for family, components in own.items()}

    def _of(self, family):
        """The tasks that have the variables of a family, the child last, and its components, None
        where there is one such task."""
        if family not in self._known:
            names = [name for name, own in self._tasks.items() if set(family) <= {*own.variables}]
            counts = np.stack([family_counts(self._tasks[name], family) for name in names])
            counts = counts.reshape(len(names), -1, counts.shape[-1])
            self._known[family] = names, Components(counts) if len(names) > 1 else None
        return self._known[family]

    def _table(self, name, family, shared):
        """The table of a task, one axis for each variable of a family."""
        own = self._tasks[name]
        if shared is None:
            return posterior_mean(family_counts(own, family), "auto")
        members, _ = self._of(family)
        shape = [len(own.states[own.variables.index(variable)]) for variable in family]
        return shared.tables[members.index(name)].reshape(shape)


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


def borrowed_record(borrowed):
    """How many rows are borrowed, by variable, task and source; None where tables are not shared.

    Parameters
    ----------
    borrowed : pandas.DataFrame
        As the ``borrowed`` of `SharedTables.fit`.
    """
    if borrowed.empty:
        return None
    record = {}
    for row in borrowed.itertuples(index=False):
        by_task = record.setdefault(row.variable, {})
        by_task.setdefault(row.task, {})[row.source] = round(float(row.rows), 1)
    return record
