"""Probability tables of several tasks that may share rows, used by `networks.shared_tables`.

A component is a pair of a concentration of partitions and a concentration of cells. For every
component, `leave_one_out` computes the probability of each task's counts given those of the other
tasks, and `add_tables` adds the posterior mean of every row, weighted by component.

Data contract: as in ``groups``; ``counts`` is int64 (q, k, r), the counts of all tasks by row.
"""

import numpy as np

from bnmtl._kernels._jit import Floats, Floats2, Floats3, Ints, Ints2, Ints3, Table, kernel
from bnmtl._kernels.groups import (
    BEAM_COUNTS,
    BEAM_GROUPS,
    BEAM_PLACES,
    BEAM_SIZES,
    BEAM_WEIGHTS,
    COUNTS,
    MERGED,
    MOST_EXACT,
    RANKED_BY,
    SUMS,
    TOTALS,
    WEIGHTS_OF,
    add_probable_partitions,
    log_sum,
    sum_sets,
)


@kernel
def take_active(scratch, counts, active, left_out):
    """Take the counts of all tasks with counts except ``left_out``; return their number."""
    active_counts, m = COUNTS(scratch), np.int64(0)
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
    terms: Ints2,
    owners: Ints,
    bases: Floats,
    scratch: Table,
    counts: Ints3,
    active: Ints,
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
        m = take_active(scratch, counts[j], active, np.int64(-1))
        # fmt: off
        if m <= MOST_EXACT:
            leave_out_exactly(
                terms, owners, bases, scratch, active, m, counts.shape[2], concentrations,
                partitions, scale, values,
            )
        else:
            leave_out_probably(
                terms, owners, bases, scratch, counts[j], active, m, concentrations, partitions,
                scale, values,
            )
        # fmt: on


@kernel
def leave_out_exactly(
    terms, owners, bases, scratch, active, m, r, concentrations, partitions, scale, values
):
    """`leave_one_out` for one row, summing over all partitions."""
    n_c = concentrations.size
    sum_sets(terms, owners, bases, scratch, m, r, concentrations, partitions, scale, np.int64(1))
    full = (np.int64(1) << m) - 1
    for t in range(partitions.size):
        for c in range(n_c):
            whole = log_sum(scratch, full, m, t, c, n_c, scale)
            for i in range(m):
                rest = full ^ (np.int64(1) << i)
                out = log_sum(scratch, rest, m - 1, t, c, n_c, scale)
                values[active[i], t * n_c + c] += whole - out


@kernel
def leave_out_probably(
    terms, owners, bases, scratch, counts, active, m, concentrations, partitions, scale, values
):
    """`leave_one_out` for one row, summing over the most probable partitions."""
    found, r = TOTALS(scratch), counts.shape[1]
    for left_out in range(-1, counts.shape[0]):
        n_left = take_active(scratch, counts, active, np.int64(left_out))
        if left_out >= 0 and n_left == m:
            continue
        for at in range(found.size):
            found[at] = 0
        # fmt: off
        add_probable_partitions(
            terms, owners, bases, scratch, n_left, r, concentrations, partitions, scale
        )
        # fmt: on
        if left_out >= 0:
            for at in range(found.size):
                values[left_out, at] -= found[at]
            continue
        for i in range(m):
            for at in range(found.size):
                values[active[i], at] += found[at]


@kernel
def add_tables(
    terms: Ints2,
    owners: Ints,
    bases: Floats,
    scratch: Table,
    counts: Ints3,
    active: Ints,
    concentrations: Floats,
    partitions: Floats,
    scale: float,
    of_components: Floats,
    chances: Floats,
    roles: Ints,
    tables: Floats3,
    together: Floats2,
    borrowed: Floats2,
    shared: Floats2,
):
    """Add the posterior means of all rows and statistics of sharing between tasks.

    Parameters
    ----------
    of_components : float array of shape (t c,)
        Weight of each component.
    active, roles : int array of shape (k,)
        Scratch.
    chances : float array of shape (t c,)
        Scratch.
    together : float array of shape (k, k)
        Scratch: probability that two tasks are in the same group.
    tables : float array of shape (q, k, r)
    borrowed : float array of shape (k, k)
        The expected counts of the other tasks in a task's group are added to it.
    shared : float array of shape (k, k)
        The probability of being in the same group, times the two tasks' counts, is added to it.
    """
    k, r = counts.shape[1:]
    for j in range(counts.shape[0]):
        m = take_active(scratch, counts[j], active, np.int64(-1))
        for s in range(k):
            roles[s] = EMPTY
            for u in range(k):
                together[s, u] = 0.0
        for i in range(m):
            roles[active[i]] = OTHER
        add_new_groups(roles, m, of_components, concentrations, partitions, tables[j])
        # fmt: off
        if m <= MOST_EXACT:
            sum_sets(
                terms, owners, bases, scratch, m, r, concentrations, partitions, scale, np.int64(1)
            )
            add_sets(
                scratch, active, m, concentrations, partitions, of_components, chances, roles,
                tables[j], together,
            )
        else:
            begin, n_kept = add_probable_partitions(
                terms, owners, bases, scratch, m, r, concentrations, partitions, scale
            )
            add_beam(
                scratch, active, m, begin, n_kept, concentrations, partitions, of_components,
                chances, roles, tables[j], together,
            )
        # fmt: on
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
def add_sets(
    scratch, active, m, concentrations, partitions, of_components, chances, roles, table, together
):
    """`add_tables` for one row, summing over all sets of tasks as groups."""
    weights, sums, merged = WEIGHTS_OF(scratch), SUMS(scratch), MERGED(scratch)
    full = (np.int64(1) << m) - 1
    for group in range(1, full + 1):
        size = np.int64(0)
        for i in range(m):
            is_in = (group >> i) & 1
            roles[active[i]] = MEMBER if is_in else OTHER
            size += is_in
        for at in range(chances.size):
            chance = weights[group, at] * sums[full ^ group, at] / sums[full, at]
            chances[at] = of_components[at] * chance
        add_group(
            merged[group], size, m, concentrations, partitions, chances, roles, table, together
        )


@kernel
def add_beam(
    scratch,
    active,
    m,
    begin,
    n_kept,
    concentrations,
    partitions,
    of_components,
    chances,
    roles,
    table,
    together,
):
    """`add_tables` for one row, summing over the groups of the most probable partitions."""
    ranked, places = RANKED_BY(scratch), BEAM_PLACES(scratch)
    sizes, weights = BEAM_SIZES(scratch), BEAM_WEIGHTS(scratch)
    for p in range(begin, begin + n_kept):
        for at in range(chances.size):
            chances[at] = of_components[at] * weights[p - begin, at]
        for g in range(BEAM_GROUPS(scratch)[p, 0]):
            for i in range(m):
                roles[active[ranked[i]]] = MEMBER if places[p, i] == g else OTHER
            merged = BEAM_COUNTS(scratch)[p, g]
            # fmt: off
            add_group(
                merged, sizes[p, g], m, concentrations, partitions, chances, roles, table, together
            )
            # fmt: on


@kernel
def add_group(merged, size, m, concentrations, partitions, chances, roles, table, together):
    """Add the tables of the members of a group and of tasks without counts that may join it."""
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
