"""Naive twins of tables that tasks may share: every partition of the tasks, written out.

`row_evidence` is the twin of the kernels in ``groups``, `shared_evidence` of ``all_sets``, and
`shared_tables` of ``shared_tables`` and of ``networks.components``.
"""

import itertools
import math
from functools import cache
from typing import NamedTuple

import numpy as np
from naive import log_rising


def partitions(items):
    """All partitions of a list into groups, each a list of lists."""
    if not items:
        yield []
        return
    first, *rest = items
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [item for item in rest if item not in others]
            for groups in partitions(left):
                yield [[first, *others], *groups]


def log_sum(values):
    """Log of the sum of exponentials."""
    most = max(values)
    return most + math.log(sum(math.exp(value - most) for value in values))


def dirichlet_evidence(counts, c):
    """Log evidence of counts under Dirichlet(c, ..., c)."""
    return sum(log_rising(c, n) for n in counts) - log_rising(len(counts) * c, sum(counts))


def row_evidence(counts, c, t):
    """Log evidence of one row over tasks in groups; counts by task and state."""
    counts = [of_task for of_task in counts if sum(of_task)]
    found = []
    for groups in partitions(list(range(len(counts)))):
        value = math.lgamma(t) - math.lgamma(t + len(counts))
        for group in groups:
            merged = [sum(ns) for ns in zip(*(counts[s] for s in group), strict=True)]
            value += math.log(t) + math.lgamma(len(group)) + dirichlet_evidence(merged, c)
        found.append(value)
    return log_sum(found)


def shared_evidence(counts, concentrations, ts, parts=None):
    """Log evidence of a family over tasks that may share its table; counts[task][row][state].

    With ``parts``, half of it is a sum over partitions of the tasks into parts whose concentrations
    are their own, weighted as by a Chinese restaurant process with that concentration.
    """
    if parts is None:
        return common_evidence(counts, concentrations, ts)

    @cache
    def common(tasks):
        return common_evidence([counts[s] for s in tasks], concentrations, ts)

    found = []
    for groups in partitions(list(range(len(counts)))):
        value = math.lgamma(parts) - math.lgamma(parts + len(counts))
        for part in groups:
            value += math.log(parts) + math.lgamma(len(part)) + common(tuple(part))
        found.append(value)
    return log_sum([common(tuple(range(len(counts)))), log_sum(found)]) - math.log(2)


def common_evidence(counts, concentrations, ts):
    """`shared_evidence` if all tasks have the same concentrations."""
    by_row = list(zip(*counts, strict=True))
    values = [
        sum(row_evidence(row, c, t) for row in by_row if any(map(sum, row)))
        for c in concentrations
        for t in ts
    ]
    return log_sum(values) - math.log(len(values))


class Component(NamedTuple):
    """What one prior over tables makes of counts[s][j][k].

    Attributes
    ----------
    value : float
        Log evidence.
    tables : nested list
        [s][j][k].
    borrowed : float array of shape (k, k)
        Rows of each task that count for the table of another.
    together : float array of shape (k, k), or None
        Probability that two tasks are in one group, times their counts, over rows; None if the
        prior has no groups.
    """

    value: float
    tables: list
    borrowed: np.ndarray
    together: np.ndarray | None


def table_components(counts, concentrations, ts, strengths, members=None, floor=1e-3):
    """The `Component` of every prior over tables that tasks may share; counts[s][j][k].

    Evidence is that of the counts of the members, all tasks by default.
    """
    k = len(counts)
    members = range(k) if members is None else members
    by_row = [list(row) for row in zip(*counts, strict=True)]
    others_of = {s: [u for u in range(k) if u != s] for s in range(k)}
    for c in concentrations:
        for t in ts:
            value, borrowed, together = 0.0, np.zeros((k, k)), np.zeros((k, k))
            for row in by_row:
                for s in range(k):
                    if s in members:
                        value += _row_or_0(row, c, t) - _row_or_0(row[:s] + row[s + 1 :], c, t)
                    for u in others_of[s]:
                        chance = _in_one_group(row, s, u, c, t)
                        borrowed[s, u] += chance * sum(row[u])
                        together[s, u] += chance * (sum(row[s]) + sum(row[u]))
            means = [[_group_mean(row, s, c, t) for row in by_row] for s in range(k)]
            yield Component(value, means, borrowed, together)
    for c in concentrations:
        for strength in strengths:
            value, tables, borrowed = 0.0, [], np.zeros((k, k))
            for s in range(k):
                tables.append([])
                for row in by_row:
                    others = [sum(ns) + c for ns in zip(*(row[:s] + row[s + 1 :]), strict=True)]
                    prior = [strength * one / sum(others) + floor for one in others]
                    pairs = list(zip(row[s], prior, strict=True))
                    if s in members:
                        value += math.lgamma(sum(prior)) - math.lgamma(sum(prior) + sum(row[s]))
                        value += sum(math.lgamma(a + n) - math.lgamma(a) for n, a in pairs)
                    total = sum(row[s]) + sum(prior)
                    tables[s].append([(n + a) / total for n, a in pairs])
                    n_others = sum(sum(row[u]) for u in others_of[s])
                    for u in others_of[s]:
                        borrowed[s, u] += strength * sum(row[u]) / n_others if n_others else 0.0
            yield Component(value, tables, borrowed, None)
    tasks = [_separate_components(rows, concentrations) for rows in counts]
    value = sum(log_sum(tasks[s][0]) - math.log(len(tasks[s][0])) for s in members)
    none = np.zeros((k, k))
    yield Component(value, [weighted_mean(*components) for components in tasks], none, none)


def averaged_table(rows, concentrations):
    """The table of one task's counts, averaged over concentrations by their evidence."""
    return weighted_mean(*_separate_components(rows, concentrations))


def _separate_components(rows, concentrations):
    """Log evidence of one task's counts, and its table, under each concentration."""
    values = [sum(dirichlet_evidence(row, c) for row in rows) for c in concentrations]
    means = [
        [[(n + c) / (sum(row) + len(row) * c) for n in row] for row in rows] for c in concentrations
    ]
    return values, means


def _row_or_0(row, c, t):
    return row_evidence(row, c, t) if any(map(sum, row)) else 0.0


def _group_mean(row, s, c, t):
    """Posterior mean of a row for task s, over the groups that it may be in."""
    values, groups = _groups_of(row, s, c, t)
    merged = [
        [sum(ns) for ns in zip(*(row[one] for one in group), strict=True)] for group in groups
    ]
    return weighted_mean(values, [[(n + c) / (sum(ns) + len(ns) * c) for n in ns] for ns in merged])


def _in_one_group(row, s, u, c, t):
    """Probability that tasks s and u are in one group."""
    values, groups = _groups_of(row, s, c, t)
    return float(weighted_mean(values, [float(u in group) for group in groups]))


def _groups_of(row, s, c, t):
    """Log weight of every partition of the tasks, and the group of task s in it."""
    values, found = [], []
    for groups in partitions(list(range(len(row)))):
        value = 0.0
        for group in groups:
            merged = [sum(ns) for ns in zip(*(row[one] for one in group), strict=True)]
            value += math.log(t) + math.lgamma(len(group)) + dirichlet_evidence(merged, c)
        values.append(value)
        found += [group for group in groups if s in group]
    return values, found


def weighted_mean(values, means):
    """Mean of nested lists, each weighted by the exponential of its value."""
    weights = np.exp(np.array(values) - max(values))
    return np.tensordot(weights / weights.sum(), np.array(means), axes=1)


def shared_tables(counts, concentrations, ts, strengths, members=None):
    """What tasks borrow from each other, averaged over the priors; counts[s][j][k].

    The priors are weighted by the counts of the members, all tasks by default.

    Returns
    -------
    tables : float array [s, j, k]
    borrowed : float array of shape (k, k)
        Rows of each task that count for the table of another.
    in_common : float array of shape (k, k)
        Probability that two tasks are in one group, times their counts, over rows; averaged over
        the priors with groups.
    """
    found = list(table_components(counts, concentrations, ts, strengths, members))
    values = [one.value for one in found]
    grouped = [one for one in found if one.together is not None]
    return (
        weighted_mean(values, [one.tables for one in found]),
        weighted_mean(values, [one.borrowed for one in found]),
        weighted_mean([one.value for one in grouped], [one.together for one in grouped]),
    )
