"""Probability tables of several tasks that may share rows, used by `networks.shared_tables`.

A component is a pair of a concentration of partitions and a concentration of cells. For every
component, `leave_one_out` computes the probability of each task's counts given those of the other
tasks, and `add_tables` adds the posterior mean of every row, weighted by component.

Data contract: as in ``groups``; ``counts`` is int64 (q, k, r), the counts of all tasks by row.
"""

import numpy as np

from bnmtl._kernels._jit import Floats, Floats2, Floats3, Ints2, Ints3, Table, kernel
from bnmtl._kernels.groups import (
    ACTIVE,
    BEAM_COUNTS,
    BEAM_GROUPS,
    BEAM_PLACES,
    BEAM_SIZES,
    BEAM_WEIGHTS,
    CHANCES,
    COUNTS,
    MERGED,
    MOST_EXACT,
    RANKED_BY,
    ROLES,
    SUMS,
    TOGETHER,
    TOTALS,
    WEIGHTS_OF,
    add_probable_partitions,
    log_sum,
    sum_sets,
)


@kernel
def take_active(scratch, counts, left_out):
    """Take the counts of all tasks with counts except ``left_out``; return their number."""
    active, active_counts, m = ACTIVE(scratch), COUNTS(scratch), np.int64(0)
    for s in range(counts.shape[0]):
        total = np.int64(0)
        for state in range(counts.shape[1]):
            active_counts[m, state] = counts[s, state]
            total += counts[s, state]
        if total > 0 and s != left_out:
            active[m] = s
            m += 1
    return m


@kernel
def leave_one_out(
    scratch: Table,
    counts: Ints3,
    concentrations: Floats,
    partitions: Floats,
    scale: float,
    values: Ints2,
):
    """Add the log leave-one-task-out probability of the counts of each task to its ``values``.

    For each component this is the sum over rows of the log of the probability of the task's counts
    given those of the other tasks.
    """
    for j in range(counts.shape[0]):
        m = take_active(scratch, counts[j], np.int64(-1))
        if m <= MOST_EXACT:
            r = counts.shape[2]
            leave_out_exactly(scratch, m, r, concentrations, partitions, scale, values)
        else:
            leave_out_probably(scratch, counts[j], m, concentrations, partitions, scale, values)


@kernel
def leave_out_exactly(scratch, m, r, concentrations, partitions, scale, values):
    """`leave_one_out` for one row, summing over all partitions."""
    active, n_c = ACTIVE(scratch), concentrations.size
    sum_sets(scratch, m, r, concentrations, partitions, scale, np.int64(1))
    full = (np.int64(1) << m) - 1
    for t in range(partitions.size):
        for c in range(n_c):
            whole = log_sum(scratch, full, m, t, c, n_c, scale)
            for i in range(m):
                rest = full ^ (np.int64(1) << i)
                out = log_sum(scratch, rest, m - 1, t, c, n_c, scale)
                values[active[i], t * n_c + c] += whole - out


@kernel
def leave_out_probably(scratch, counts, m, concentrations, partitions, scale, values):
    """`leave_one_out` for one row, summing over the most probable partitions."""
    active, found, r = ACTIVE(scratch), TOTALS(scratch), counts.shape[1]
    for left_out in range(-1, counts.shape[0]):
        n_left = take_active(scratch, counts, np.int64(left_out))
        if left_out >= 0 and n_left == m:
            continue
        for at in range(found.size):
            found[at] = 0
        add_probable_partitions(scratch, n_left, r, concentrations, partitions, scale)
        if left_out >= 0:
            for at in range(found.size):
                values[left_out, at] -= found[at]
            continue
        for i in range(m):
            for at in range(found.size):
                values[active[i], at] += found[at]


@kernel
def add_tables(
    scratch: Table,
    counts: Ints3,
    concentrations: Floats,
    partitions: Floats,
    scale: float,
    of_components: Floats,
    tables: Floats3,
    borrowed: Floats2,
    shared: Floats2,
):
    """Add the posterior means of all rows and statistics of sharing between tasks.

    Parameters
    ----------
    of_components : float array of shape (t c,)
        Weight of each component.
    tables : float array of shape (q, k, r)
    borrowed : float array of shape (k, k)
        The expected counts of the other tasks in a task's group are added to it.
    shared : float array of shape (k, k)
        The probability of being in the same group, times the two tasks' counts, is added to it.
    """
    active, roles, together = ACTIVE(scratch), ROLES(scratch), TOGETHER(scratch)
    k, r = counts.shape[1:]
    for j in range(counts.shape[0]):
        m = take_active(scratch, counts[j], np.int64(-1))
        for s in range(k):
            roles[s] = EMPTY
            for u in range(k):
                together[s, u] = 0.0
        for i in range(m):
            roles[active[i]] = OTHER
        add_new_groups(roles, m, of_components, concentrations, partitions, tables[j])
        if m <= MOST_EXACT:
            sum_sets(scratch, m, r, concentrations, partitions, scale, np.int64(1))
            add_sets(scratch, m, concentrations, partitions, of_components, tables[j])
        else:
            begin, n_kept = add_probable_partitions(
                scratch, m, r, concentrations, partitions, scale
            )
            add_beam(
                scratch, m, begin, n_kept, concentrations, partitions, of_components, tables[j]
            )
        weigh_by_counts(counts[j], together, borrowed, shared)


# Role of a task for a group: it has no counts in the row, is in another group, or is a member.
EMPTY, OTHER, MEMBER = range(3)


@kernel
def add_new_groups(roles, m, of_components, concentrations, partitions, table):
    """Add the tables of tasks without counts in a new group, where the states are equiprobable."""
    r = table.shape[1]
    for t in range(partitions.size):
        for c in range(concentrations.size):
            chance = partitions[t] / (partitions[t] + m)
            chance *= of_components[t * concentrations.size + c]
            for s in range(roles.size):
                for state in range(r):
                    if roles[s] == EMPTY:
                        table[s, state] += chance / r


@kernel
def add_sets(scratch, m, concentrations, partitions, of_components, table):
    """`add_tables` for one row, summing over all sets of tasks as groups."""
    weights, sums, merged = WEIGHTS_OF(scratch), SUMS(scratch), MERGED(scratch)
    active, roles, chances = ACTIVE(scratch), ROLES(scratch), CHANCES(scratch)
    full = (np.int64(1) << m) - 1
    for group in range(1, full + 1):
        size = np.int64(0)
        for i in range(m):
            is_in = (group >> i) & 1
            roles[active[i]] = MEMBER if is_in else OTHER
            size += is_in
        for at in range(of_components.size):
            chance = weights[group, at] * sums[full ^ group, at] / sums[full, at]
            chances[at] = of_components[at] * chance
        add_group(scratch, merged[group], size, m, concentrations, partitions, table)


@kernel
def add_beam(scratch, m, begin, n_kept, concentrations, partitions, of_components, table):
    """`add_tables` for one row, summing over the groups of the most probable partitions."""
    ranked, places = RANKED_BY(scratch), BEAM_PLACES(scratch)
    sizes, weights = BEAM_SIZES(scratch), BEAM_WEIGHTS(scratch)
    active, roles, chances = ACTIVE(scratch), ROLES(scratch), CHANCES(scratch)
    for p in range(begin, begin + n_kept):
        for at in range(of_components.size):
            chances[at] = of_components[at] * weights[p - begin, at]
        for g in range(BEAM_GROUPS(scratch)[p, 0]):
            for i in range(m):
                roles[active[ranked[i]]] = MEMBER if places[p, i] == g else OTHER
            merged = BEAM_COUNTS(scratch)[p, g]
            add_group(scratch, merged, sizes[p, g], m, concentrations, partitions, table)


@kernel
def add_group(scratch, merged, size, m, concentrations, partitions, table):
    """Add the tables of the members of a group and of tasks without counts that may join it."""
    roles, chances, together = ROLES(scratch), CHANCES(scratch), TOGETHER(scratch)
    r, n_c = table.shape[1], concentrations.size
    n = np.int64(0)
    for state in range(r):
        n += merged[state]
    all_members, all_joining = 0.0, 0.0
    for c in range(n_c):
        of_members, joining = 0.0, 0.0
        for t in range(partitions.size):
            chance = chances[t * n_c + c]
            of_members += chance
            joining += chance * size / (partitions[t] + m)
        all_members += of_members
        all_joining += joining
        total = n + r * concentrations[c]
        for s in range(roles.size):
            if roles[s] == OTHER:
                continue
            chance = of_members if roles[s] == MEMBER else joining
            for state in range(r):
                table[s, state] += chance * (merged[state] + concentrations[c]) / total
    for s in range(roles.size):
        if roles[s] == OTHER:
            continue
        for u in range(roles.size):
            if roles[u] == MEMBER and u != s:
                together[s, u] += all_members if roles[s] == MEMBER else all_joining


@kernel
def weigh_by_counts(counts, together, borrowed, shared):
    """Add a row's probabilities of being in the same group to the sums over rows."""
    k, r = counts.shape
    for s in range(k):
        for u in range(k):
            if s == u:
                continue
            total_s, total_u = np.int64(0), np.int64(0)
            for state in range(r):
                total_s += counts[s, state]
                total_u += counts[u, state]
            borrowed[s, u] += together[s, u] * total_u
            # Only entries whose second task has counts are computed; the others are symmetric.
            chance = together[u, s] if total_u == 0 else together[s, u]
            shared[s, u] += chance * (total_s + total_u)
