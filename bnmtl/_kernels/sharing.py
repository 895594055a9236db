"""Scores of families that several tasks have, whose tables the tasks may have in common.

The evidence of a family f over a set S of tasks is

    log mean over c, t of exp( sum over rows j of log sum over partitions B of S of
                               w_t(B) prod over groups b of B of exp D(counts of b in j; c) ),

see ``groups``. For one task it is the local score of the mixture, from which it differs nowhere.
Data contract: as in ``scoring``; the tasks of a set are in MEMBERS_OF, in ascending order. All of
them have the child and the parents.
"""

import numpy as np

from bnmtl._kernels._jit import codes_of, floats, ints, ints2, kernel, rows_of
from bnmtl._kernels.cache import MISSING, keep, recall
from bnmtl._kernels.groups import COUNTS, TOTALS, add_row
from bnmtl._kernels.joint_rows import (
    BLOCK,
    BLOCK_AT,
    MEMBERS_OF,
    ROW_MEMBER,
    ROW_NUMBER,
    ROW_ORDER,
    gather,
)
from bnmtl._kernels.partition import ARITIES, CODE_AT, CODES, WEIGHT_AT, WEIGHTS
from bnmtl._kernels.scoring import (
    ASKED,
    BASES,
    CACHE,
    CHILD_KEYS,
    COMPUTED,
    CONCENTRATIONS,
    COUNTERS,
    METHOD,
    OWNERS,
    PARTITIONS,
    SCALE,
    TASK_KEYS,
    TERMS,
    VARIABLE_KEYS,
    family_value,
)
from bnmtl._kernels.terms import log_mean

# Tells a set of tasks from a task whose key happens to be the same.
OF_A_SET = np.int64(0x5DEECE66D1234567)


@kernel
def set_key(engine, scratch, n_members):
    """Key of the members, whatever their order."""
    key = OF_A_SET
    for i in range(n_members):
        key ^= ints(engine, TASK_KEYS)[ints(scratch, MEMBERS_OF)[i]]
    return key


@kernel
def shared_value(engine, scratch, n_members, child, parents, n_parents):
    """Evidence of a family over the members, as an integer."""
    members = ints(scratch, MEMBERS_OF)
    if n_members == 1:
        return family_value(engine, scratch, members[0], child, parents, n_parents)
    counters, cache = ints(scratch, COUNTERS), ints(engine, CACHE)
    key = set_key(engine, scratch, n_members) ^ ints(engine, CHILD_KEYS)[child]
    for at in range(n_parents):
        key ^= ints(engine, VARIABLE_KEYS)[parents[at]]
    counters[ASKED] += 1
    value = recall(cache, key)
    if value != MISSING:
        return value
    counters[COMPUTED] += 1
    n_blocks = gather(engine, scratch, n_members, parents, n_parents)
    clear_totals(scratch)
    for block in range(n_blocks):
        count_block(engine, scratch, n_members, child, np.int64(-1), block)
        add_block(engine, scratch, n_members, ints(engine, ARITIES)[child], np.int64(0))
    value = log_mean(ints(scratch, TOTALS), floats(engine, METHOD)[SCALE])
    keep(cache, key, value)
    return value


@kernel
def clear_totals(scratch):
    """Begin a family."""
    totals = ints(scratch, TOTALS)
    for at in range(totals.size):
        totals[at] = 0


@kernel
def count_block(engine, scratch, n_members, child, v, block):
    """Count the rows of a block by the state of one more parent, task and state of the child.

    ``v`` is the parent, -1 if there is none. What is in BLOCK afterwards is laid out as
    [state of v, member, state of the child].
    """
    codes, code_at = codes_of(engine, CODES), ints2(engine, CODE_AT)
    weights, weight_at = ints(engine, WEIGHTS), ints(engine, WEIGHT_AT)
    members, counts = ints(scratch, MEMBERS_OF), ints(scratch, BLOCK)
    row_member, row_number = ints(scratch, ROW_MEMBER), ints(scratch, ROW_NUMBER)
    order, block_at = rows_of(scratch, ROW_ORDER), ints(scratch, BLOCK_AT)
    r = ints(engine, ARITIES)[child]
    for at in range(block_at[block], block_at[block + 1]):
        i, row = row_member[order[at]], row_number[order[at]]
        s = members[i]
        slot = i * r + codes[code_at[s, child] + row]
        if v >= 0:
            slot += codes[code_at[s, v] + row] * n_members * r
        counts[slot] += 1 if weight_at[s] < 0 else weights[weight_at[s] + row]


@kernel
def add_block(engine, scratch, n_members, r, state):
    """Add the log evidence of the rows that BLOCK has for a state of the last parent, and clear
    it."""
    method = floats(engine, METHOD)
    counts, rows = ints2(scratch, COUNTS), ints(scratch, BLOCK)
    begin = state * n_members * r
    m = np.int64(0)
    for i in range(n_members):
        total = np.int64(0)
        for k in range(r):
            counts[m, k] = rows[begin + i * r + k]
            rows[begin + i * r + k] = 0
            total += counts[m, k]
        if total > 0:
            m += 1
    if m == 0:
        return
    # fmt: off
    add_row(
        ints2(scratch, TERMS), ints(scratch, OWNERS), floats(scratch, BASES), scratch, m, r,
        method[CONCENTRATIONS:], floats(engine, PARTITIONS), method[SCALE],
    )
    # fmt: on
