"""Evidence of a family for every set of tasks that may share its table, used by ``takers``.

One recursion per row gives the sums over partitions of all sets of tasks, so computing all sets
costs little more than computing the largest one, see ``groups``. Factors of rows are multiplied;
logarithms are taken only before a product could overflow or underflow.

Data contract: as in ``sharing``; the table of `SETS` is memory of one search. A set is an int whose
bit i stands for the i-th member.
"""

import math

import numpy as np

from bnmtl._kernels._jit import call, floats, ints, kernel, layout
from bnmtl._kernels.cache import MISSING, keep, recall
from bnmtl._kernels.groups import LEAST_SUM, SEPARATE, SHIFTS, SUMS, size_of
from bnmtl._kernels.joint_rows import MEMBERS_OF, PLACES_OF, count_block
from bnmtl._kernels.partition import ARITIES
from bnmtl._kernels.scoring import (
    ASKED,
    CACHE,
    CALLS,
    CHILD_KEYS,
    COMPUTED,
    COUNTERS,
    METHOD,
    SCALE,
    TASK_KEYS,
    VARIABLE_KEYS,
)
from bnmtl._kernels.sharing import OF_A_SET, gather_once, separate_value, take_block
from bnmtl._kernels.terms import log_mean

# Bound in nats on products over rows; bound on the smallest factor of a row.
_MOST_NATS = 600.0
_LEAST_NATS = 40.0

SETS = layout(
    TOTALS_OF := ints("totals", 2),  # (sets, t c): log evidence of a family so far
    PRODUCTS := floats("products", 2),  # (sets, t c): factors not yet added to the totals
    TASK_EVIDENCE := ints("task_evidence", 2),  # (k, c): log evidence of each member alone
    NORMS := floats("norms", 2),  # (k + 1, t c): inverse normalizers of the sums, by size of set
    RANGE := floats("range"),  # (1,): bound in nats on the current products
)


def new_sets(k, n_sets, concentrations, partitions):
    """Memory for families of k tasks and the given number of sets of tasks, as a dict."""
    tc = len(concentrations) * len(partitions)
    norms = np.ones((k + 1, tc))
    for m in range(k):
        norms[m + 1] = norms[m] / np.repeat(np.array(partitions) + m, len(concentrations))
    return {
        "totals": np.zeros((n_sets, tc), np.int64),
        "products": np.ones((n_sets, tc)),
        "task_evidence": np.zeros((k, len(concentrations)), np.int64),
        "norms": norms,
        "range": np.zeros(1),
    }


@kernel
def value_sets(engine, scratch, memory, n_members, child, parents, n_parents, v, values):
    """Write the evidence of a family over every set of members, as integers, to ``values``.

    ``v`` is an additional parent or -1. The value of the empty set is 0.
    """
    members, cache = MEMBERS_OF(scratch), CACHE(engine)
    variable_keys, counters = VARIABLE_KEYS(engine), COUNTERS(scratch)
    rows_key = CHILD_KEYS(engine)[child]
    for at in range(n_parents):
        rows_key ^= variable_keys[parents[at]]
    key = rows_key if v < 0 else rows_key ^ variable_keys[v]
    values[0] = 0
    is_missing = False
    for group in range(1, np.int64(1) << n_members):
        rest = group & (group - 1)
        if rest == 0:
            s = members[size_of(group - 1)]
            values[group] = separate_value(engine, scratch, s, child, parents, n_parents, v)
            continue
        counters[ASKED] += 1
        values[group] = recall(cache, key ^ key_of(engine, scratch, n_members, group))
        is_missing = is_missing or values[group] == MISSING
    if not is_missing:
        return
    rows_key ^= key_of(engine, scratch, n_members, (np.int64(1) << n_members) - 1)
    n_blocks = gather_once(engine, scratch, rows_key, n_members, child, parents, n_parents)
    begin_sets(memory, n_members)
    arity = np.int64(1) if v < 0 else ARITIES(engine)[v]
    for block in range(n_blocks):
        count_block(engine, scratch, n_members, child, v, block)
        for state in range(arity):
            multiply_by_row(engine, scratch, memory, n_members, ARITIES(engine)[child], state)
    end_sets(engine, memory, n_members)
    totals, scale = TOTALS_OF(memory), METHOD(engine)[SCALE]
    for group in range(1, np.int64(1) << n_members):
        if values[group] == MISSING:
            counters[COMPUTED] += 1
            values[group] = log_mean(totals[group], scale)
            keep(cache, key ^ key_of(engine, scratch, n_members, group), values[group])


@kernel
def key_of(engine, scratch, n_members, group):
    """Like `sharing.set_key`, for a set of the members."""
    key = OF_A_SET
    for i in range(n_members):
        if (group >> i) & 1:
            key ^= TASK_KEYS(engine)[MEMBERS_OF(scratch)[i]]
    return key


@kernel
def begin_sets(memory, n_members):
    """Reset the memory for a new family."""
    totals, products = TOTALS_OF(memory), PRODUCTS(memory)
    task_evidence = TASK_EVIDENCE(memory)
    for group in range(np.int64(1) << n_members):
        for at in range(totals.shape[1]):
            totals[group, at] = 0
            products[group, at] = 1.0
    for i in range(n_members):
        for c in range(task_evidence.shape[1]):
            task_evidence[i, c] = 0
    RANGE(memory)[0] = 0.0


@kernel
def multiply_by_row(engine, scratch, memory, n_members, r, state):
    """Multiply all sets by the row of BLOCK for one state of the last parent."""
    m = take_block(scratch, n_members, r, state)
    if m == 0:
        return
    call(CALLS(engine)[2], engine, scratch, m, r, np.int64(1))
    places, scale = PLACES_OF(scratch), METHOD(engine)[SCALE]
    separate, task_evidence = SEPARATE(scratch), TASK_EVIDENCE(memory)
    for i in range(m):
        for c in range(task_evidence.shape[1]):
            task_evidence[places[i], c] += separate[np.int64(1) << i, c]
    # Merging the counts of a set gains at most minus the log evidence of its separate rows.
    full, most, has_shift = (np.int64(1) << m) - 1, 0.0, False
    for c in range(task_evidence.shape[1]):
        most = max(most, -separate[full, c] / scale)
        has_shift = has_shift or SHIFTS(scratch)[full, c] != 0.0
    nats = RANGE(memory)
    if has_shift or nats[0] + most + _LEAST_NATS > _MOST_NATS:
        take_logs(memory, n_members, scale)
    nats[0] += most + _LEAST_NATS
    multiply(scratch, memory, n_members, m)
    if has_shift:
        add_shifts(scratch, memory, n_members, m, scale)
    if has_shift or nats[0] > _MOST_NATS:
        take_logs(memory, n_members, scale)


@kernel
def multiply(scratch, memory, n_members, m):
    """Multiply the product of each set by the sum over partitions of its tasks that have counts.

    m tasks have counts.
    """
    sums, places = SUMS(scratch), PLACES_OF(scratch)
    products, norms = PRODUCTS(memory), NORMS(memory)
    for members in range(1, np.int64(1) << n_members):
        group = with_counts(members, places, m)
        if group & (group - 1) == 0:
            continue
        product, factor, norm = products[members], sums[group], norms[size_of(group)]
        for at in range(product.size):
            product[at] *= factor[at] * norm[at]


@kernel
def add_shifts(scratch, memory, n_members, m, scale):
    """Add the shifts subtracted from the log weights of the row's groups to the totals."""
    shifts, places = SHIFTS(scratch), PLACES_OF(scratch)
    totals, n_c = TOTALS_OF(memory), shifts.shape[1]
    for members in range(1, np.int64(1) << n_members):
        group = with_counts(members, places, m)
        if group & (group - 1) == 0:
            continue
        for at in range(totals.shape[1]):
            totals[members, at] += np.int64(np.rint(shifts[group, at % n_c] * scale))


@kernel
def with_counts(members, places, m):
    """The intersection of a set of members and the m tasks with counts, as a set of the latter."""
    group = np.int64(0)
    for i in range(m):
        group |= ((members >> places[i]) & 1) << i
    return group


@kernel
def take_logs(memory, n_members, scale):
    """Move the logarithms of the products to the totals."""
    products, totals = PRODUCTS(memory), TOTALS_OF(memory)
    for members in range(1, np.int64(1) << n_members):
        if members & (members - 1) == 0:
            continue
        for at in range(products.shape[1]):
            # A product that underflows has a concentration with negligible weight.
            product = max(products[members, at], LEAST_SUM)
            totals[members, at] += np.int64(np.rint(math.log(product) * scale))
            products[members, at] = 1.0
    RANGE(memory)[0] = 0.0


@kernel
def end_sets(engine, memory, n_members):
    """Finish a family: add the log evidence of its tasks' separate counts."""
    take_logs(memory, n_members, METHOD(engine)[SCALE])
    totals, task_evidence = TOTALS_OF(memory), TASK_EVIDENCE(memory)
    n_c = task_evidence.shape[1]
    for members in range(1, np.int64(1) << n_members):
        for i in range(n_members):
            if (members >> i) & 1:
                for at in range(totals.shape[1]):
                    totals[members, at] += task_evidence[i, at % n_c]
