"""Probability tables of several tasks that borrow from each other, row by row.

A shared table is averaged over three kinds of priors. Under the first, tasks form groups that share
a row of the table, see ``_kernels.groups``; under the second, the row of a task is centered on the
mean of all others; under the last, every task has a separate table. The weight of each depends on
the probability of every task's counts given those of the others, and on its weight in the other
families of the graphs.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaln, logsumexp, softmax

from bnmtl._kernels import scoring
from bnmtl._kernels import shared_tables as kernels
from bnmtl.errors import InputError, InputTypeError, check_choice, located
from bnmtl.networks.bayesnet import BayesNet
from bnmtl.networks.tables import (
    LARGEST_TABLE,
    check_family,
    check_graph,
    joint_counts,
    log_evidences,
    posterior_mean,
)
from bnmtl.scores import CONCENTRATIONS
from bnmtl.tasks import encode
from bnmtl.wording import listed, type_of

# Concentrations of partitions: from one table for all tasks to one for each task.
PARTITIONS = (0.02, 0.2, 1.0, 5.0, 50.0)
# Numbers of rows that the mean of the other tasks counts as in a centered prior.
STRENGTHS = (0.5, 2.0, 8.0, 30.0, 120.0, 1000.0)
# Pseudo-count of a centered prior in every cell, so that unseen states stay possible.
FLOOR = 1e-3
# One nat in the integer units of the kernels.
_SCALE = 2.0**30
# Prior weight of all components together, in families.
_PRIOR_FAMILIES = 1.0
_MOST_ROUNDS = 1000
_LEAST_CHANGE = 1e-9
# Components with less weight are omitted from an average.
_LEAST_WEIGHT = 1e-12


class Shared(NamedTuple):
    """The tables of one family and how much tasks share.

    Attributes
    ----------
    tables : float array of shape (k, q, r)
        Sum to 1 along the last axis.
    borrowed : float array of shape (k, k)
        [s, u] is the expected number of rows of task u that count for the table of task s.
    in_common : float array of shape (k, k)
        [s, u] is the probability that the two share a row, times their counts in it, summed over
        the rows; symmetric.
    weights : float array of shape (k, k)
        Sums of these counts.
    """

    tables: np.ndarray
    borrowed: np.ndarray
    in_common: np.ndarray
    weights: np.ndarray


class Components:
    """The posteriors of one family under every component.

    Averages over partitions have a closed form; for more than nine tasks with counts in a row they
    use only the most probable partitions.

    Parameters
    ----------
    counts : int array of shape (k, q, r)
        Axes: task, configuration of the parents, state of the child; k is 2 or more.
    """

    def __init__(self, counts):
        self._counts = counts
        rows = np.swapaxes(counts, 0, 1)
        self._seen = np.flatnonzero(rows.any(axis=(1, 2)))
        self._rows = np.ascontiguousarray(rows[self._seen], dtype=np.int64)
        self._groups = _Groups(self._rows)
        self._evidences = {}

    def evidences(self, members=None):
        """Log probability of the counts of some tasks, each given those of all others.

        Parameters
        ----------
        members : sequence of int, default=None
            Tasks; all by default.

        Returns
        -------
        float array of shape (components,)
        """
        members = tuple(range(len(self._counts)) if members is None else members)
        if members not in self._evidences:
            separate = sum(logsumexp(log_evidences(self._counts[s])) for s in members)
            separate -= len(members) * np.log(len(CONCENTRATIONS))
            grouped = self._groups.evidences(members)
            centered = _centered_evidences(self._rows, members)
            self._evidences[members] = np.concatenate([grouped, centered, [separate]])
        return self._evidences[members]

    def averaged(self, weights=None, members=None):
        """The average over components, given the evidences of some tasks.

        Parameters
        ----------
        weights : float array of shape (components,), default=None
            Prior weight of each component; uniform by default.
        members : sequence of int, default=None
            As in `evidences`.

        Returns
        -------
        Shared
        """
        n_groups, (_, k, r) = len(PARTITIONS) * len(CONCENTRATIONS), self._rows.shape
        known = self.evidences(members)
        if weights is not None:
            with np.errstate(divide="ignore"):
                known = known + np.log(weights)
        posterior = softmax(known)
        of_groups = posterior[:n_groups].sum()
        grouped, borrowed, in_common = self._groups.tables(softmax(known[:n_groups]))
        tables = of_groups * grouped
        borrowed = of_groups * borrowed
        others = self._rows.sum(axis=1, keepdims=True) - self._rows
        of_centered = posterior[n_groups:-1]
        for weight, (strength, c) in zip(of_centered, _centered(), strict=True):
            if weight > _LEAST_WEIGHT:
                centered = self._rows + _center(others, strength, c)
                tables += weight * centered / centered.sum(axis=-1, keepdims=True)
        strength = float(of_centered @ [strength for strength, _ in _centered()])
        borrowed += strength * _shares_of_others(self._rows)
        separate = np.stack(
            [posterior_mean(task, "auto")[self._seen] for task in self._counts], axis=1
        )
        tables += posterior[-1] * separate
        # Centered components do not affect the groups.
        in_common *= softmax([logsumexp(known[:n_groups]), known[-1]])[0]
        whole = np.full((len(self._counts[0]), k, r), 1 / r)
        whole[self._seen] = tables / tables.sum(axis=-1, keepdims=True)
        sizes = self._rows.sum(axis=(0, 2)).astype(float)
        return Shared(np.swapaxes(whole, 0, 1), borrowed, in_common, sizes[:, None] + sizes)


def learned_weights(evidences):
    """The weights of the components, learned from the evidences of families.

    The most probable weights under a uniform prior with the total weight of one family; empirical
    Bayes, by expectation maximization.

    Parameters
    ----------
    evidences : float array of shape (families, components)

    Returns
    -------
    float array of shape (components,)
        Sums to 1.
    """
    n_families, n_components = evidences.shape
    weights = even = np.full(n_components, 1 / n_components)
    for _ in range(_MOST_ROUNDS):
        logits = evidences + np.log(weights)
        # `scipy.special.softmax` takes most of its time to find out what kind of array this is.
        responsible = np.exp(logits - logits.max(axis=1, keepdims=True))
        responsible = (responsible / responsible.sum(axis=1, keepdims=True)).sum(axis=0)
        found = (responsible + _PRIOR_FAMILIES * even) / (n_families + _PRIOR_FAMILIES)
        change = np.abs(found - weights).max()
        weights = found
        if change < _LEAST_CHANGE:
            break
    return weights


class _Groups:
    """The components with groups of tasks; arrays are by component, shape (t c,)."""

    def __init__(self, rows):
        self._rows = rows
        self._values = np.zeros((rows.shape[1], len(PARTITIONS) * len(CONCENTRATIONS)), np.int64)
        self._call(kernels.leave_one_out, PARTITIONS, CONCENTRATIONS, self._values)

    def evidences(self, members):
        """As in `Components.evidences`."""
        return self._values[np.array(members)].sum(axis=0) / _SCALE

    def tables(self, weights):
        """Weighted averages: posterior means (q, k, r), borrowed and shared rows (k, k)."""
        q, k, r = self._rows.shape
        tables, (borrowed, in_common) = np.zeros((q, k, r)), np.zeros((2, k, k))
        weights = weights.reshape(len(PARTITIONS), len(CONCENTRATIONS))
        # Most weights are zero; skip those components.
        ts, cs = ((weights > _LEAST_WEIGHT).any(axis=axis) for axis in (1, 0))
        weights = weights[np.ix_(ts, cs)].ravel()
        partitions, concentrations = np.array(PARTITIONS)[ts], np.array(CONCENTRATIONS)[cs]
        outputs = weights, tables, borrowed, in_common
        self._call(kernels.add_tables, partitions, concentrations, *outputs)
        return tables, borrowed, in_common

    def _call(self, kernel, partitions, concentrations, *outputs):
        """Call a kernel with the rows and separate memory."""
        _, k, r = self._rows.shape
        shared = [0] * k, r, len(partitions)
        scratch = scoring.new_scratch(1, 1, int(self._rows.sum()), len(concentrations), shared)
        priors = np.array(concentrations), np.array(partitions)
        kernel(scratch.table, self._rows, *priors, _SCALE, *outputs)


def _centered():
    """Strength and concentration of the centered components."""
    return [(strength, c) for strength in STRENGTHS for c in CONCENTRATIONS]


def _center(others, strength, c):
    """Pseudo-counts of a row: the mean of all other tasks, scaled to the strength in rows."""
    mean = others + c
    return strength * mean / mean.sum(axis=-1, keepdims=True) + FLOOR


def _centered_evidences(rows, members):
    """As in `Components.evidences`, under the centered components."""
    others = rows.sum(axis=1, keepdims=True) - rows
    if len(members) < rows.shape[1]:
        others, rows = others[:, members], rows[:, members]
    sizes, found = rows.sum(axis=-1), []
    for strength, c in _centered():
        prior = _center(others, strength, c)
        total = prior.sum(axis=-1)
        value = (gammaln(total) - gammaln(total + sizes)).sum()
        found.append(value + (gammaln(prior + rows) - gammaln(prior)).sum())
    return np.array(found)


def _shares_of_others(rows):
    """[s, u]: sum over rows of the share of task u in the counts of all tasks except s."""
    sizes = rows.sum(axis=-1).astype(float)
    others = sizes.sum(axis=1, keepdims=True) - sizes
    known = np.where(others > 0, others, 1.0)
    shares = (sizes[:, None, :] / known[:, :, None]).sum(axis=0)
    np.fill_diagonal(shares, 0.0)
    return shares


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
                for other, rows in zip(members, shared.borrowed[at], strict=True):
                    if other != name:
                        borrowed.append((name, family[-1], other, rows))
                others = [tasks.names.index(member) for member in members]
                sums[:, tasks.names.index(name), others] += shared.in_common[at], shared.weights[at]
        # Averages over the families of either task.
        chances, weights = sums + np.swapaxes(sums, 1, 2)
        unknown = np.full_like(chances, np.nan)
        in_common = np.divide(chances, weights, out=unknown, where=weights > 0)
        np.fill_diagonal(in_common, 1.0)
        return Fitted(
            tables,
            pd.DataFrame(borrowed, columns=["task", "variable", "source", "rows"]),
            pd.DataFrame(in_common, index=tasks.names, columns=tasks.names),
        )

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
        evidences = [known[family].evidences(members) for family, members in inside.items()]
        weights, found = self._weigh(np.array(evidences)), {}
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
            counts = np.stack([_counts(self._tasks[name], family) for name in names])
            counts = counts.reshape(len(names), -1, counts.shape[-1])
            self._known[family] = names, Components(counts) if len(names) > 1 else None
        return self._known[family]

    def _table(self, name, family, shared):
        """The table of a task, with one axis for each variable of a family."""
        task = self._tasks[name]
        if shared is None:
            return posterior_mean(_counts(task, family), "auto")
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


def _counts(task, family):
    """Number of rows of each joint state of a family; the last axis is the child."""
    codes = task.codes[[task.index[variable] for variable in family]]
    return joint_counts(codes, _shape(task, family))


def _shape(task, family):
    return tuple(len(task.states[task.index[variable]]) for variable in family)


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


def fit_networks(configuration, tasks, sharing="auto", missing="error"):
    """Estimate the tables of the graphs of several tasks that share rows of their tables.

    For each row of a table, tasks form groups with the same probabilities, or the probabilities of
    a task vary around the mean of the others, or a task has separate probabilities. The mixture is
    learned from the counts, by how well the counts of every task are predicted from those of the
    others, in each family and in all families of the graphs. So similar tasks are almost pooled,
    and unrelated tasks keep separate tables. Every task with the variables of a family contributes,
    whatever its graph.

    Parameters
    ----------
    configuration : mapping of str to networkx.DiGraph
        The graph of each task, over variables of the task.
    tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
        As for the learners; it contains every task of the configuration.
    sharing : {"auto", None}, default="auto"
        None estimates each task's tables from its own rows, as `BayesNet.fit` does.
    missing : {"error", "drop", "state"}, default="error"
        How missing values are handled, as in `bnmtl.tasks.encode`.

    Returns
    -------
    dict of str to BayesNet
        By task, in the order of the configuration.

    Raises
    ------
    TypeError
        If the configuration is not a mapping of graphs.
    ValueError
        If a task or a variable of a graph is missing, a graph has a cycle, ``sharing`` is neither
        "auto" nor None, the data cannot be encoded, or the tables of a variable would have more
        than 2**26 cells in all tasks.

    Notes
    -----
    The result is an average over three kinds of priors. Their weights depend on the probability of
    every task's counts given those of the other tasks, and on their weights in the other families
    (empirical Bayes). Under the first, a Chinese restaurant process partitions the tasks into
    groups, with a sum over all partitions (over the most probable ones for more than nine tasks
    with rows). Under the second, the prior mean of a row is the mean of the other tasks. Under the
    third, each task has a separate table, as estimated by `BayesNet.fit`.

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import structures
    >>> from bnmtl.networks import fit_networks
    >>> asia, graph = structures.load("asia"), nx.DiGraph([("smoke", "bronc")])
    >>> tasks = [asia.sample(100, random_state=seed)[list(graph)] for seed in range(3)]
    >>> graphs = {f"task{s}": graph for s in (1, 2, 3)}
    >>> separate = fit_networks(graphs, tasks, sharing=None)
    >>> [network.table("bronc")[1, 1].round(2).item() for network in separate.values()]
    [0.58, 0.6, 0.78]
    >>> shared = fit_networks(graphs, tasks)
    >>> [network.table("bronc")[1, 1].round(2).item() for network in shared.values()]
    [0.69, 0.69, 0.7]
    """
    check_choice("sharing", sharing, ("auto", None))
    if not isinstance(configuration, Mapping):
        message = f"must be a mapping from task names to graphs, got {type_of(configuration)}"
        remedy = "for example {'task1': graph}"
        raise InputTypeError(message, argument="configuration", remedy=remedy)
    configuration = {str(name): graph for name, graph in configuration.items()}
    encoded = encode(tasks, missing)
    for name, graph in configuration.items():
        with located(task=name):
            check_graph(graph, "configuration")
        if name not in encoded:
            message = f"must have graphs of {listed(encoded.names, 'task')}, got {name!r}"
            raise InputError(message, argument="configuration")
        lacking = sorted(set(graph) - set(encoded[name].variables))
        if lacking:
            rule = "must have a column for every variable of its graph"
            raise InputError(f"{rule}; `{lacking[0]}` is missing", task=name)
    tables = None if sharing is None else fit_tables(configuration, encoded).tables
    return networks_of(configuration, encoded, tables)


def networks_of(configuration, tasks, tables, sample_size="auto"):
    """Networks from given graphs and tables.

    Parameters
    ----------
    configuration : mapping task -> networkx.DiGraph
    tasks : Tasks, or mapping task -> Task if there are no tables
    tables : mapping task -> dict variable -> float array, or None
        None estimates the tables of each task from its own rows.
    sample_size : float or "auto", default="auto"
        As in `BayesNet.fit`, for these estimates.

    Returns
    -------
    dict task -> BayesNet
    """
    if tables is None:
        graphs = configuration.items()
        return {name: BayesNet.fit(graph, tasks[name], sample_size) for name, graph in graphs}
    return {
        name: BayesNet._estimated(
            graph, {variable: tasks.states[variable] for variable in graph}, tables[name]
        )
        for name, graph in configuration.items()
    }
