"""The priors over which a shared table is averaged, and their weights.

Under the first kind, tasks form groups that share a row of the table, see ``_kernels.groups``;
under the second, the row of a task is centered on the mean of all others; under the last, every
task has a separate table. The weight of each depends on the probability of every task's counts
given those of the others, and on its weight in the other families of the graphs.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, softmax

from bnmtl._kernels import scoring
from bnmtl._kernels import shared_tables as kernels
from bnmtl.networks.smoothing import log_evidences, posterior_mean
from bnmtl.scores import CONCENTRATIONS

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
    even = np.full(n_components, 1 / n_components)
    weights = even
    for _ in range(_MOST_ROUNDS):
        responsible = softmax(evidences + np.log(weights), axis=1).sum(axis=0)
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
        tables, together = np.zeros((q, k, r)), np.zeros((3, k, k))
        weights = weights.reshape(len(PARTITIONS), len(CONCENTRATIONS))
        # Most weights are zero; skip those components.
        ts, cs = ((weights > _LEAST_WEIGHT).any(axis=axis) for axis in (1, 0))
        weights = weights[np.ix_(ts, cs)].ravel()
        chances, roles = np.zeros_like(weights), np.zeros(k, np.int64)
        partitions, concentrations = np.array(PARTITIONS)[ts], np.array(CONCENTRATIONS)[cs]
        outputs = weights, chances, roles, tables, *together
        self._call(kernels.add_tables, partitions, concentrations, *outputs)
        _, borrowed, in_common = together
        return tables, borrowed, in_common

    def _call(self, kernel, partitions, concentrations, *outputs):
        """Call a kernel with the rows and separate memory."""
        _, k, r = self._rows.shape
        shared = [0] * k, r, len(partitions)
        scratch = scoring.new_scratch(1, 1, int(self._rows.sum()), len(concentrations), shared)
        memory = scratch.terms, scratch.owners, scratch.bases, scratch.table
        kernel(
            *memory,
            self._rows,
            np.zeros(k, np.int64),
            np.array(concentrations),
            np.array(partitions),
            _SCALE,
            *outputs,
        )


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
