"""Scores of families of several tasks that may share tables, used by `scores.bound`.

The evidence of a family f over a set S of tasks is

    log mean over c, t of exp( sum over rows j of log sum over partitions B of S of
                               w_t(B) prod over groups b of B of exp D(counts of b in j; c) ),

see ``groups``. For one task, it equals the local score of the mixture.
Data contract: as in ``scoring``; the tasks of a set are in MEMBERS_OF, in ascending order. All of
them have the child and the parents.
"""

import numpy as np

from bnmtl._kernels._jit import Callback, call, kernel, table_at
from bnmtl._kernels.cache import MISSING, keep, recall
from bnmtl._kernels.groups import COUNTS, MOST_EXACT, TOTALS, add_logs, sum_sets
from bnmtl._kernels.joint_rows import (
    BLOCK,
    FEWER_PARENTS,
    GATHERED,
    GROUP_KEYS,
    GROUP_PARENTS,
    MEMBERS_OF,
    PLACES_OF,
    SEARCHED,
    USABLE_OF,
    count_block,
    gather,
)
from bnmtl._kernels.partition import ARITIES, CODE_AT
from bnmtl._kernels.probable_groups import add_probable_partitions
from bnmtl._kernels.scoring import (
    ASKED,
    BASES,
    CACHE,
    CALLS,
    CHILD_KEYS,
    COLUMN,
    COMPUTED,
    CONCENTRATIONS,
    COUNTERS,
    CUT,
    FAMILY,
    METHOD,
    MOST_CELLS,
    OWNERS,
    PARTITIONS,
    SCALE,
    TASK_KEYS,
    TERMS,
    VARIABLE_KEYS,
    WANTED,
    exclude,
    family_value,
    without,
)
from bnmtl._kernels.terms import log_mean

# Distinguishes the key of a set of tasks from the key of a single task.
OF_A_SET = np.int64(0x5DEECE66D1234567)


@kernel
def set_key(engine, scratch, n_members):
    """Key of the members; does not depend on their order."""
    key = OF_A_SET
    for i in range(n_members):
        key ^= TASK_KEYS(engine)[MEMBERS_OF(scratch)[i]]
    return key


@kernel
def shared_value(engine, scratch, n_members, child, parents, n_parents, v):
    """Evidence of a family over the members, as an integer.

    ``v`` is an additional parent or -1. Families that differ only in v are counted from the same
    blocks of rows.
    """
    if n_members == 1:
        s = MEMBERS_OF(scratch)[0]
        return separate_value(engine, scratch, s, child, parents, n_parents, v)
    variable_keys = VARIABLE_KEYS(engine)
    counters, cache = COUNTERS(scratch), CACHE(engine)
    rows_key = set_key(engine, scratch, n_members) ^ CHILD_KEYS(engine)[child]
    for at in range(n_parents):
        rows_key ^= variable_keys[parents[at]]
    key = rows_key
    arity = np.int64(1)
    if v >= 0:
        key ^= variable_keys[v]
        arity = ARITIES(engine)[v]
    counters[ASKED] += 1
    value = recall(cache, key)
    if value != MISSING:
        return value
    counters[COMPUTED] += 1
    n_blocks = gather_once(engine, scratch, rows_key, n_members, child, parents, n_parents)
    clear_totals(scratch)
    for block in range(n_blocks):
        count_block(engine, scratch, n_members, child, v, block)
        for state in range(arity):
            add_block(engine, scratch, n_members, ARITIES(engine)[child], state)
    value = log_mean(TOTALS(scratch), METHOD(engine)[SCALE])
    keep(cache, key, value)
    return value


@kernel
def separate_value(engine, scratch, s, child, parents, n_parents, v):
    """Local score of a family of one task, as an integer; ``v`` as in `shared_value`."""
    if v < 0:
        return family_value(engine, scratch, s, child, parents, n_parents)
    family, end = CUT(scratch), np.int64(0)
    for at in range(n_parents):
        if end == at and parents[at] > v:
            family[end] = v
            end += 1
        family[end] = parents[at]
        end += 1
    if end == n_parents:
        family[end] = v
    return family_value(engine, scratch, s, child, family, n_parents + 1)


@kernel
def gather_once(engine, scratch, key, n_members, child, parents, n_parents):
    """`gather`, unless the rows are already sorted as needed; return the number of blocks."""
    gathered = GATHERED(scratch)
    if gathered[0] != key:
        gathered[1] = gather(engine, scratch, n_members, child, parents, n_parents)
        gathered[0] = key
    return gathered[1]


@kernel
def clear_totals(scratch):
    """Reset the totals for a new family."""
    totals = TOTALS(scratch)
    for at in range(totals.size):
        totals[at] = 0


@kernel
def take_block(scratch, n_members, r, state):
    """Move the rows of BLOCK for one state of the last parent to COUNTS, for tasks with counts.

    Returns the number of tasks with counts; their indices are written to PLACES_OF.
    """
    counts, rows, places = COUNTS(scratch), BLOCK(scratch), PLACES_OF(scratch)
    begin, m = state * n_members * r, np.int64(0)
    for i in range(n_members):
        total = np.int64(0)
        for k in range(r):
            counts[m, k] = rows[begin + i * r + k]
            rows[begin + i * r + k] = 0
            total += counts[m, k]
        if total > 0:
            places[m] = i
            m += 1
    return m


@kernel
def add_block(engine, scratch, n_members, r, state):
    """Add the log evidence of the rows of BLOCK for one state of the last parent."""
    m = take_block(scratch, n_members, r, state)
    if m > MOST_EXACT:
        call(CALLS(engine)[3], engine, scratch, m, r, np.int64(0))
    elif m > 0:
        call(CALLS(engine)[2], engine, scratch, m, r, np.int64(2))


@kernel
def sum_of_groups(engine, scratch, n_searched, child, parents, n_parents, v):
    """Evidence of a child in one graph of the searched tasks, as an integer.

    Each task has the parents that it may use; tasks with the same parents share the family.
    """
    usable, keys = USABLE_OF(scratch), GROUP_KEYS(scratch)
    searched, members = SEARCHED(scratch), MEMBERS_OF(scratch)
    group_parents, variable_keys = GROUP_PARENTS(scratch), VARIABLE_KEYS(engine)
    for i in range(n_searched):
        keys[i] = 0
        for at in range(n_parents):
            if usable[i, parents[at]]:
                keys[i] ^= variable_keys[parents[at]]
        if v >= 0 and usable[i, v]:
            keys[i] ^= variable_keys[v]
    total = np.int64(0)
    for first in range(n_searched):
        n_members, is_new = np.int64(0), True
        for i in range(n_searched):
            if keys[i] != keys[first]:
                continue
            if i < first:
                is_new = False
                break
            members[n_members] = searched[i]
            n_members += 1
        if not is_new:
            continue
        end = np.int64(0)
        for at in range(n_parents):
            if usable[first, parents[at]]:
                group_parents[end] = parents[at]
                end += 1
        more = v if v >= 0 and usable[first, v] else np.int64(-1)
        total += shared_value(engine, scratch, n_members, child, group_parents, end, more)
    return total


@kernel
def gains_together(engine, scratch, n_searched, child, n_parents):
    """Like `scoring.gains`, for one graph of the searched tasks, which have the child.

    The parents are in FAMILY, the wanted variables in WANTED, and those that each task may use in
    USABLE_OF. A variable that no task may use has gain 0.
    """
    parents, wanted, out = FAMILY(scratch), WANTED(scratch), COLUMN(scratch)
    scale = METHOD(engine)[SCALE]
    nothing = np.int64(-1)
    now = sum_of_groups(engine, scratch, n_searched, child, parents, n_parents, nothing)
    for v in range(wanted.size):
        out[v] = np.nan
    out[child] = now / scale
    for at in range(n_parents):
        rest = FEWER_PARENTS(scratch)
        end = without(parents, n_parents, parents[at], rest)
        value = sum_of_groups(engine, scratch, n_searched, child, rest, end, nothing)
        out[parents[at]] = (value - now) / scale
    for v in range(ARITIES(engine).size):
        # Entries that are not nan are the child and the parents.
        if not wanted[v] or not np.isnan(out[v]):
            continue
        if is_too_large(engine, scratch, n_searched, child, n_parents, v):
            continue
        value = sum_of_groups(engine, scratch, n_searched, child, parents, n_parents, v)
        out[v] = (value - now) / scale


@kernel
def is_too_large(engine, scratch, n_searched, child, n_parents, v):
    """Whether the family of any task would have too many cells with one more parent."""
    parents, arities = FAMILY(scratch), ARITIES(engine)
    searched, usable = SEARCHED(scratch), USABLE_OF(scratch)
    for i in range(n_searched):
        if not usable[i, v]:
            continue
        cells = float(arities[child]) * arities[v]
        for at in range(n_parents):
            if usable[i, parents[at]]:
                cells *= arities[parents[at]]
        if cells > MOST_CELLS(engine)[searched[i]]:
            exclude(scratch, searched[i], child, parents, n_parents, v)
            return True
    return False


@kernel
def search_members(engine, scratch, members, usable, child):
    """Store the members that have the child and their usable parents; return their number."""
    searched, usable_of = SEARCHED(scratch), USABLE_OF(scratch)
    n_searched = np.int64(0)
    for at in range(members.size):
        if CODE_AT(engine)[members[at], child] < 0:
            continue
        searched[n_searched] = members[at]
        for a in range(usable.shape[1]):
            usable_of[n_searched, a] = usable[at, a, child]
        n_searched += 1
    return n_searched


@kernel
def local_score_together(engine, scratch, members, usable, child, parents, n_parents):
    """Like `scoring.local_score`, for one graph of members that may share tables.

    ``usable`` is bool (members, n, n) [member, parent, child].
    """
    n_searched = search_members(engine, scratch, members, usable, child)
    value = sum_of_groups(engine, scratch, n_searched, child, parents, n_parents, np.int64(-1))
    return value / METHOD(engine)[SCALE]


@kernel
def graph_score_together(engine, scratch, members, usable, adjacency):
    """Like `scoring.graph_score`, for one graph of members that may share tables."""
    parents, total = FAMILY(scratch), 0.0
    for child in range(adjacency.shape[0]):
        end = np.int64(0)
        for a in range(adjacency.shape[0]):
            if adjacency[a, child]:
                parents[end] = a
                end += 1
        total += local_score_together(engine, scratch, members, usable, child, parents, end)
    return total


def _gains_together(engine, scratch, n_searched, child, n_parents):
    gains_together(table_at(engine), table_at(scratch), n_searched, child, n_parents)


GAINS_TOGETHER = Callback(_gains_together)


def _exact_row(engine, scratch, m, r, step):
    row_exactly(table_at(engine), table_at(scratch), m, r, step)


def _probable_row(engine, scratch, m, r, _):
    row_probably(table_at(engine), table_at(scratch), m, r)


# Evidence of a row: large functions with many callers.
EXACT_ROW, PROBABLE_ROW = Callback(_exact_row), Callback(_probable_row)


@kernel
def row_exactly(engine, scratch, m, r, step):
    """Add the evidence of a row to TOTALS; the counts of its m tasks are in COUNTS.

    With a ``step`` of 1, only compute the sums over partitions of all sets of the tasks.
    """
    terms, owners, bases = TERMS(scratch), OWNERS(scratch), BASES(scratch)
    method, partitions = METHOD(engine), PARTITIONS(engine)
    concentrations, scale = method[CONCENTRATIONS:], method[SCALE]
    sum_sets(terms, owners, bases, scratch, m, r, concentrations, partitions, scale, step)
    if step > 1:
        add_logs(scratch, m, concentrations.size, partitions.size, scale)


@kernel
def row_probably(engine, scratch, m, r):
    """Add the evidence of a row to TOTALS, using the most probable partitions."""
    terms, owners, bases = TERMS(scratch), OWNERS(scratch), BASES(scratch)
    method, partitions = METHOD(engine), PARTITIONS(engine)
    concentrations, scale = method[CONCENTRATIONS:], method[SCALE]
    add_probable_partitions(terms, owners, bases, scratch, m, r, concentrations, partitions, scale)
