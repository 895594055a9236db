"""Evidence of a family over any set of tasks that may share its table.

Tasks may share a row of a table, so the evidence is a sum over all ways to group them, row by row.
The common evidence E of a family over a set S of tasks has concentrations that all tasks share,

    E(S) = log mean over c, t of exp( sum over rows j of log sum over partitions B of S of
                                      w_t(B) prod over groups b of B of exp D(b's counts in j; c) ),

where c is the concentration of cells, t that of partitions, w_t(B) the prior of a partition and D
the evidence of the counts of a row, see ``groups``. The evidence is a mixture of it and of a sum
over partitions A of the tasks into parts with concentrations of their own, with prior w_u,

    log( 1/2 exp E(S) + 1/2 sum over A of w_u(A) prod over parts a of A of exp E(a) ).

For one task, both equal the local score of the mixture. For more than `MOST_EXACT` tasks with rows,
and where the engine's PARTS is empty, the evidence is E.

One recursion per row gives the sums over partitions of all sets of tasks, so computing all sets
costs little more than computing the largest one, see ``groups``. Factors of rows are multiplied;
logarithms are taken only before a product could overflow or underflow.

Data contract: as in ``scoring``; the tasks of a set are in MEMBERS_OF, in ascending order. All of
them have the child and the parents. A set is an int whose bit i stands for the i-th member.
SET_EVIDENCE contains the common evidence of all sets of members. Parts have a Chinese restaurant
process prior with a ``concentration``; ``scale`` is the number of integer units per nat.
"""

import math

import numpy as np

from bnmtl._kernels._jit import Callback, Ints, Table, call, kernel, table_at
from bnmtl._kernels.counting import ARITIES, N_ROWS
from bnmtl._kernels.groups import (
    COUNTS,
    LEAST_SUM,
    MOST_EXACT,
    NORMS,
    PART_SUMS,
    PRODUCT_RANGE,
    SEPARATE,
    SET_EVIDENCE,
    SET_GAINS,
    SET_PRODUCTS,
    SET_TOTALS,
    SHIFTS,
    SUMS,
    TASK_EVIDENCE,
    TOTALS,
    add_logs,
    add_probable_partitions,
    size_of,
    sum_sets,
)
from bnmtl._kernels.joint_rows import (
    BLOCK,
    GATHERED,
    MEMBERS_OF,
    PLACES_OF,
    count_block,
    gather,
)
from bnmtl._kernels.scoring import (
    ASKED,
    CACHE,
    CALLS,
    CHILD_KEYS,
    COMPUTED,
    CONCENTRATIONS,
    COUNTERS,
    CUT,
    METHOD,
    PARTITIONS,
    PARTS,
    SCALE,
    TASK_KEYS,
    VARIABLE_KEYS,
    family_value,
)
from bnmtl._kernels.terms import MISSING, keep, log_mean, mixture_evidence, recall


@kernel
def mix_sets(scratch, n_members, concentration, scale, step):
    """Sum over partitions of sets into parts with concentrations of their own, in PART_SUMS.

    ``step`` is 1 for all sets, or 2 for those that the sum over all members needs. Logs are
    relative to the evidence of the tasks alone, and not normalized.
    """
    evidence, gains, sums = SET_EVIDENCE(scratch), SET_GAINS(scratch), PART_SUMS(scratch)
    full, log_weight = (np.int64(1) << n_members) - 1, math.log(concentration)
    for group in range(1, full + 1):
        alone = np.int64(0)
        for i in range(n_members):
            if (group >> i) & 1:
                alone += evidence[np.int64(1) << i]
        gains[group] = (evidence[group] - alone) / scale
    sums[0] = 0.0
    for group in range(step, full, step):
        sums[group] = sum_of_parts(gains, sums, np.int64(group), log_weight)
    sums[full] = sum_of_parts(gains, sums, full, log_weight)


@kernel
def sum_of_parts(gains, sums, members, log_weight):
    """Log sum over the partitions of a set by recursion on the part of its first task."""
    low = members & -members
    rest, most, total = members ^ low, -np.inf, 0.0
    others = rest
    while True:
        part = others | low
        value = log_weight + math.lgamma(float(size_of(part))) + gains[part] + sums[rest ^ others]
        if value > most:
            total = total * math.exp(most - value) + 1.0
            most = value
        else:
            total += math.exp(value - most)
        if others == 0:
            return most + math.log(total)
        others = (others - 1) & rest


@kernel
def mixed_evidence(scratch, n_members, concentration, scale, group):
    """Evidence of a set of members, as an integer, after `mix_sets`."""
    evidence = SET_EVIDENCE(scratch)
    alone, n, log_rising = np.int64(0), np.int64(0), 0.0
    for i in range(n_members):
        if (group >> i) & 1:
            alone += evidence[np.int64(1) << i]
            log_rising += math.log(concentration + n)
            n += 1
    common, separate = SET_GAINS(scratch)[group], PART_SUMS(scratch)[group] - log_rising
    most = max(common, separate)
    mean = 0.5 * (math.exp(common - most) + math.exp(separate - most))
    return alone + np.int64(np.rint((most + math.log(mean)) * scale))


# Distinguish the key of a set of tasks from the key of a single task, and the two evidences.
OF_A_SET, OF_A_MIXTURE = np.int64(0x5DEECE66D1234567), np.int64(0x2545F4914F6CDD1D)
# Bound in nats on products over rows; bound on the smallest factor of a row.
_MOST_NATS = 600.0
_LEAST_NATS = 40.0
# Steps of `row_exactly`: all sets of tasks, or those that the sum over all tasks needs.
_ALL, _FULL = np.int64(1), np.int64(2)


@kernel
def set_key(engine, scratch, n_members, group):
    """Key of the members in a set; does not depend on their order."""
    key = OF_A_SET if PARTS(engine).size == 0 else OF_A_MIXTURE
    for i in range(n_members):
        if (group >> i) & 1:
            key ^= TASK_KEYS(engine)[MEMBERS_OF(scratch)[i]]
    return key


@kernel
def shared_value(
    engine: Table, scratch: Table, n_members: int, child: int, parents: Ints, n_parents: int, v: int
):
    """Evidence of a family over the members, as an integer.

    ``v`` is an additional parent or -1. Families that differ only in v are counted from the same
    blocks of rows.
    """
    if n_members > MOST_EXACT:
        n_members = leave_out_empty(engine, scratch, n_members)
    if n_members == 1:
        s = MEMBERS_OF(scratch)[0]
        return separate_value(engine, scratch, s, child, parents, n_parents, v)
    counters, cache = COUNTERS(scratch), CACHE(engine)
    full = (np.int64(1) << n_members) - 1
    rows_key = set_key(engine, scratch, n_members, full)
    rows_key ^= parents_key(engine, child, parents, n_parents)
    key = rows_key if v < 0 else rows_key ^ VARIABLE_KEYS(engine)[v]
    counters[ASKED] += 1
    value = recall(cache, key)
    if value != MISSING:
        return value
    counters[COMPUTED] += 1
    n_blocks = gather_once(engine, scratch, rows_key, n_members, child, parents, n_parents)
    scale = METHOD(engine)[SCALE]
    if PARTS(engine).size > 0 and n_members <= MOST_EXACT:
        sum_all_sets(engine, scratch, n_members, child, v, n_blocks)
        mix_sets(scratch, n_members, PARTS(engine)[0], scale, _FULL)
        value = mixed_evidence(scratch, n_members, PARTS(engine)[0], scale, full)
    else:
        clear_totals(scratch)
        arity = np.int64(1) if v < 0 else ARITIES(engine)[v]
        for block in range(n_blocks):
            count_block(engine, scratch, n_members, child, v, block)
            for state in range(arity):
                add_block(engine, scratch, n_members, ARITIES(engine)[child], state)
        value = log_mean(TOTALS(scratch), scale)
    keep(cache, key, value)
    return value


@kernel
def value_sets(engine, scratch, n_members, child, parents, n_parents, v, values):
    """Write the evidence of a family over every set of members, as integers, to ``values``.

    ``v`` is an additional parent or -1. The value of the empty set is 0. There are at most
    `MOST_EXACT` members.
    """
    members, cache = MEMBERS_OF(scratch), CACHE(engine)
    counters = COUNTERS(scratch)
    rows_key = parents_key(engine, child, parents, n_parents)
    key = rows_key if v < 0 else rows_key ^ VARIABLE_KEYS(engine)[v]
    values[0] = 0
    is_missing = False
    for group in range(1, np.int64(1) << n_members):
        rest = group & (group - 1)
        if rest == 0:
            s = members[size_of(group - 1)]
            values[group] = separate_value(engine, scratch, s, child, parents, n_parents, v)
            continue
        counters[ASKED] += 1
        values[group] = recall(cache, key ^ set_key(engine, scratch, n_members, group))
        is_missing = is_missing or values[group] == MISSING
    if not is_missing:
        return
    rows_key ^= set_key(engine, scratch, n_members, (np.int64(1) << n_members) - 1)
    n_blocks = gather_once(engine, scratch, rows_key, n_members, child, parents, n_parents)
    sum_all_sets(engine, scratch, n_members, child, v, n_blocks)
    is_mixed, scale = PARTS(engine).size > 0, METHOD(engine)[SCALE]
    concentration = PARTS(engine)[0] if is_mixed else 0.0
    if is_mixed:
        mix_sets(scratch, n_members, concentration, scale, _ALL)
    for group in range(1, np.int64(1) << n_members):
        if values[group] == MISSING:
            counters[COMPUTED] += 1
            if is_mixed:
                values[group] = mixed_evidence(
                    scratch, n_members, concentration, scale, np.int64(group)
                )
            else:
                values[group] = SET_EVIDENCE(scratch)[group]
            keep(cache, key ^ set_key(engine, scratch, n_members, group), values[group])


@kernel
def leave_out_empty(engine, scratch, n_members):
    """Leave out members without rows, which change no evidence; keep at least one."""
    members, end = MEMBERS_OF(scratch), np.int64(0)
    for i in range(n_members):
        if N_ROWS(engine)[members[i]] > 0:
            members[end] = members[i]
            end += 1
    return max(end, np.int64(1))


@kernel
def parents_key(engine, child, parents, n_parents):
    """Key of a child and its parents."""
    key = CHILD_KEYS(engine)[child]
    for at in range(n_parents):
        key ^= VARIABLE_KEYS(engine)[parents[at]]
    return key


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
def sum_all_sets(engine, scratch, n_members, child, v, n_blocks):
    """Compute the common evidence of every set of members, in SET_EVIDENCE, from blocks of rows."""
    totals, products = SET_TOTALS(scratch), SET_PRODUCTS(scratch)
    task_evidence, scale = TASK_EVIDENCE(scratch), METHOD(engine)[SCALE]
    for group in range(np.int64(1) << n_members):
        for at in range(totals.shape[1]):
            totals[group, at] = 0
            products[group, at] = 1.0
    for i in range(n_members):
        for c in range(task_evidence.shape[1]):
            task_evidence[i, c] = 0
    PRODUCT_RANGE(scratch)[0] = 0.0
    arity = np.int64(1) if v < 0 else ARITIES(engine)[v]
    for block in range(n_blocks):
        count_block(engine, scratch, n_members, child, v, block)
        for state in range(arity):
            multiply_by_row(engine, scratch, n_members, ARITIES(engine)[child], state)
    take_logs(scratch, n_members, scale)
    evidence, n_c = SET_EVIDENCE(scratch), task_evidence.shape[1]
    for group in range(1, np.int64(1) << n_members):
        if group & (group - 1) == 0:
            evidence[group] = log_mean(task_evidence[size_of(group - 1)], scale)
            continue
        for i in range(n_members):
            if (group >> i) & 1:
                for at in range(totals.shape[1]):
                    totals[group, at] += task_evidence[i, at % n_c]
        evidence[group] = log_mean(totals[group], scale)


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
def multiply_by_row(engine, scratch, n_members, r, state):
    """Multiply all sets by the row of BLOCK for one state of the last parent."""
    m = take_block(scratch, n_members, r, state)
    if m == 0:
        return
    call(CALLS(engine)[2], engine, scratch, m, r, _ALL)
    places, scale = PLACES_OF(scratch), METHOD(engine)[SCALE]
    separate, task_evidence = SEPARATE(scratch), TASK_EVIDENCE(scratch)
    n_c = task_evidence.shape[1]
    for i in range(m):
        for c in range(n_c):
            task_evidence[places[i], c] += separate[np.int64(1) << i, c]
    if m == 1:
        return
    # Merging the counts of a set gains at most minus the log evidence of its separate rows.
    full, most, has_shift = (np.int64(1) << m) - 1, 0.0, False
    for c in range(n_c):
        most = max(most, -separate[full, c] / scale)
        has_shift = has_shift or SHIFTS(scratch)[full, c] != 0.0
    nats = PRODUCT_RANGE(scratch)
    if has_shift or nats[0] + most + _LEAST_NATS > _MOST_NATS:
        take_logs(scratch, n_members, scale)
    nats[0] += most + _LEAST_NATS
    multiply(scratch, n_members, m)
    if has_shift:
        add_shifts(scratch, n_members, m, scale)
    if has_shift or nats[0] > _MOST_NATS:
        take_logs(scratch, n_members, scale)


@kernel
def multiply(scratch, n_members, m):
    """Multiply the product of each set by the sum over partitions of its tasks that have counts.

    m tasks have counts.
    """
    sums, places = SUMS(scratch), PLACES_OF(scratch)
    products, norms = SET_PRODUCTS(scratch), NORMS(scratch)
    for members in range(1, np.int64(1) << n_members):
        group = with_counts(members, places, m)
        if group & (group - 1) == 0:
            continue
        product, factor, norm = products[members], sums[group], norms[size_of(group)]
        for at in range(product.size):
            product[at] *= factor[at] * norm[at]


@kernel
def add_shifts(scratch, n_members, m, scale):
    """Add the shifts subtracted from the log weights of the row's groups to the totals."""
    shifts, places = SHIFTS(scratch), PLACES_OF(scratch)
    totals, n_c = SET_TOTALS(scratch), shifts.shape[1]
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
def take_logs(scratch, n_members, scale):
    """Move the logarithms of the products to the totals."""
    products, totals = SET_PRODUCTS(scratch), SET_TOTALS(scratch)
    for members in range(1, np.int64(1) << n_members):
        if members & (members - 1) == 0:
            continue
        for at in range(products.shape[1]):
            # A product that underflows has a concentration with negligible weight.
            product = max(products[members, at], LEAST_SUM)
            totals[members, at] += np.int64(np.rint(math.log(product) * scale))
            products[members, at] = 1.0
    PRODUCT_RANGE(scratch)[0] = 0.0


@kernel
def clear_totals(scratch):
    """Reset the totals for a new family."""
    totals = TOTALS(scratch)
    for at in range(totals.size):
        totals[at] = 0


@kernel
def add_block(engine, scratch, n_members, r, state):
    """Add the log evidence of the rows of BLOCK for one state of the last parent."""
    m = take_block(scratch, n_members, r, state)
    if m > MOST_EXACT:
        call(CALLS(engine)[3], engine, scratch, m, r, np.int64(0))
    elif m > 0:
        call(CALLS(engine)[2], engine, scratch, m, r, _FULL)


def _exact_row(engine, scratch, m, r, step):
    row_exactly(table_at(engine), table_at(scratch), m, r, step)


def _probable_row(engine, scratch, m, r, _):
    row_probably(table_at(engine), table_at(scratch), m, r)


# Evidence of a row: large functions with many callers.
EXACT_ROW, PROBABLE_ROW = Callback(_exact_row), Callback(_probable_row)


@kernel
def row_exactly(engine, scratch, m, r, step):
    """Sum over the partitions of the m tasks whose counts are in COUNTS.

    With the step `_ALL`, only compute the sums of all sets of the tasks; that of a single task is
    then only its evidence in SEPARATE. With `_FULL`, add the log evidence of all tasks to TOTALS.
    """
    method, partitions = METHOD(engine), PARTITIONS(engine)
    concentrations, scale = method[CONCENTRATIONS:], method[SCALE]
    if m == 1 and step == _ALL:
        alone = SEPARATE(scratch)[1:2]
        counts, one = COUNTS(scratch), np.int64(1)
        mixture_evidence(scratch, counts, one, r, concentrations, scale, alone)
        return
    sum_sets(scratch, m, r, concentrations, partitions, scale, step)
    if step == _FULL:
        add_logs(scratch, m, concentrations.size, partitions.size, scale)


@kernel
def row_probably(engine, scratch, m, r):
    """Add the evidence of a row to TOTALS, using the most probable partitions."""
    method, partitions = METHOD(engine), PARTITIONS(engine)
    concentrations, scale = method[CONCENTRATIONS:], method[SCALE]
    add_probable_partitions(scratch, m, r, concentrations, partitions, scale)
