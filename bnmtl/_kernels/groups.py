"""Evidence of one table row for several tasks that may share it.

Tasks in the same group have the same distribution, and their counts are added. Partitions of the
tasks into groups have a Chinese restaurant process prior with concentration t. The sum over all
partitions is a recursion over subsets for up to `MOST_EXACT` tasks with counts. More tasks are
placed in groups one at a time, in decreasing order of their counts; after each step, only the
`BEAM` most probable partitions are kept, and their weights are normalized to sum to 1, so each task
contributes a mean of probabilities of its counts.

Data contract: a thread's scratch begins with the fields of `GROUPS`. A set of tasks is an int whose
bit i stands for the i-th of the tasks that have counts in the row. Log evidences are integers, as
in ``terms``. Arrays over all pairs of a concentration t of partitions and a concentration c of
cells are flat, c varying fastest.
"""

import math

import numpy as np

from bnmtl._kernels._jit import flags, floats, ints, kernel, layout, popcount
from bnmtl._kernels.counting import PARTITION
from bnmtl._kernels.terms import log_rising, mixture_evidence

MOST_EXACT = 9
BEAM = 24
# Bound on the logarithms of weights, so that products of weights are finite.
LARGEST_WEIGHT = 100.0
# Lower bound on a sum over partitions. Smaller sums belong to concentrations that fit the counts so
# badly that their weight is negligible.
LEAST_SUM = 1e-300
# Rows of at most this many counts and states are weighted by products instead of logarithms.
FEW_COUNTS = 64
FEW_STATES = 16
# A group is omitted if its weight is at most this fraction of that of its tasks in groups of one.
NEGLIGIBLE = 1e-18

GROUPS = layout(
    *PARTITION,
    COUNTS := ints("counts", 2),  # (k, states): of the tasks that have counts in the row
    TOTALS := ints("totals"),  # (t c,): log evidence, summed over rows
    MERGED := ints("merged", 2),  # (sets, states): counts of a set of tasks
    SEPARATE := ints("separate", 2),  # (sets, c): log evidence of a set's tasks without sharing
    EVIDENCE := ints("evidence", 2),  # (sets, c): scratch, log evidence of merged counts
    WEIGHTS_OF := floats("weights", 2),  # (sets, t c): weight of a set as a group
    MATTERS := flags("matters"),  # (sets,): whether that weight is not negligible
    INVERSE_SEPARATE := floats("inverse_separate", 2),  # (sets, c): scratch of `gain_by_factors`
    CELL_FACTORS := floats("cell_factors", 2),  # (counts, c): factor of the count of a cell
    TOTAL_FACTORS := floats("total_factors", 2),  # (states x counts, c): factor of a row's total
    KNOWN_FACTORS := ints("known_factors"),  # (states,): 1 if computed; index 0 is for cells
    SUMS := floats("sums", 2),  # (sets, t c): sums over the partitions of a set
    RISING := floats("rising", 2),  # (t, tasks): logs of the normalizers of sums, initially nan
    NORMS := floats("norms", 2),  # (tasks, t c): inverse normalizers of sums
    SHIFTS := floats("shifts", 2),  # (sets, c): subtracted from log weights; a sum over the tasks
    RANKED_BY := ints("ranked"),  # (k,): tasks by decreasing number of counts
    BEAM_GROUPS := ints("beam_groups", 2),  # (2 `BEAM`, 1): number of groups of each partition
    BEAM_PLACES := ints("beam_places", 2),  # (2 `BEAM`, k): group of each task, in ranked order
    BEAM_SIZES := ints("beam_sizes", 2),  # (2 `BEAM`, k): number of tasks of each group
    BEAM_COUNTS := ints("beam_counts", 3),  # (2 `BEAM`, k, states)
    BEAM_EVIDENCE := ints("beam_evidence", 3),  # (2 `BEAM`, k, c): log evidence of each group
    BEAM_WEIGHTS := floats("beam_weights", 2),  # (`BEAM`, t c): they sum to 1
    NEXT_EVIDENCE := ints("next_evidence", 2),  # (`BEAM` k, c): of a group with one more task
    NEXT_WEIGHTS := floats("next_weights", 2),  # (`BEAM` k, t c)
    NEXT_WORTH := floats("next_worth"),  # (`BEAM` k,)
    SET_TOTALS := ints("set_totals", 2),  # (sets, t c): log evidence of a family so far
    SET_PRODUCTS := floats("set_products", 2),  # (sets, t c): factors not yet in the totals
    TASK_EVIDENCE := ints("task_evidence", 2),  # (k, c): log evidence of each task alone
    PRODUCT_RANGE := floats("product_range"),  # (1,): bound in nats on the current products
    SET_EVIDENCE := ints("set_evidence"),  # (sets,): log evidence of a family
    SET_GAINS := floats("set_gains"),  # (sets,): the same beyond that of the set's tasks alone
    PART_SUMS := floats("part_sums"),  # (sets,): logs of sums over the partitions into parts
    ACTIVE := ints("active"),  # (k,): tasks that have counts in the row
    ROLES := ints("roles"),  # (k,): of the tasks for a group, see ``shared_tables``
    CHANCES := floats("chances"),  # (t c,): probabilities of a group
    TOGETHER := floats("together", 2),  # (k, k): probability that two tasks are in the same group
)


def new_groups(n_tasks, n_states, n_concentrations, n_partitions):
    """Memory for rows of at most the given numbers of tasks and states, as a dict.

    ``n_partitions`` is the number of concentrations of partitions, 0 without sharing.
    """
    k = n_tasks if n_partitions else 0
    r, c, tc = n_states, n_concentrations, n_partitions * n_concentrations
    n_sets = 1 << min(k, MOST_EXACT)
    beam = BEAM if k > MOST_EXACT else 0
    sizes = {
        "counts": (k, r),
        "totals": (tc,),
        "merged": (n_sets, r),
        "separate": (n_sets, c),
        "evidence": (n_sets, c),
        "weights": (n_sets, tc),
        "matters": (n_sets,),
        "inverse_separate": (n_sets, c),
        "cell_factors": (FEW_COUNTS + 1, c),
        "total_factors": ((FEW_STATES + 1) * (FEW_COUNTS + 1), c),
        "known_factors": (FEW_STATES + 1,),
        "sums": (n_sets, tc),
        "rising": (n_partitions, min(k, MOST_EXACT) + 1),
        "shifts": (n_sets, c),
        "ranked": (k,),
        "beam_groups": (2 * beam, 1),
        "beam_places": (2 * beam, k),
        "beam_sizes": (2 * beam, k),
        "beam_counts": (2 * beam, k, r),
        "beam_evidence": (2 * beam, k, c),
        "beam_weights": (beam, tc),
        "next_evidence": (beam * k, c),
        "next_weights": (beam * k, tc),
        "next_worth": (beam * k,),
        "norms": (min(k, MOST_EXACT) + 1, tc),
        "set_totals": (n_sets, tc),
        "set_products": (n_sets, tc),
        "task_evidence": (min(k, MOST_EXACT), c),
        "product_range": (1,),
        "set_evidence": (n_sets,),
        "set_gains": (n_sets,),
        "part_sums": (n_sets,),
        "active": (k,),
        "roles": (k,),
        "chances": (tc,),
        "together": (k, k),
    }
    fields = [field for field in GROUPS if field.name in sizes]
    made = {field.name: np.zeros(sizes[field.name], field.dtype) for field in fields}
    made["rising"][:] = np.nan
    return made


@kernel
def size_of(group):
    """Number of tasks in a set."""
    return np.int64(popcount(np.uint64(group)))


@kernel
def know_rising(scratch, partitions):
    """Compute the log normalizers of m tasks, log of t (t + 1) ... (t + m - 1), at the first call.

    The weights of all partitions are divided by them.
    """
    rising, norms = RISING(scratch), NORMS(scratch)
    # Without tasks the log normalizer is 0, and nan before the first call.
    if rising[0, 0] == 0.0:
        return
    n_c = norms.shape[1] // partitions.size
    for t in range(partitions.size):
        rising[t, 0] = 0.0
        for m in range(rising.shape[1] - 1):
            rising[t, m + 1] = rising[t, m] + math.log(partitions[t] + m)
        for m in range(rising.shape[1]):
            for c in range(n_c):
                norms[m, t * n_c + c] = math.exp(-rising[t, m])


@kernel
def sum_sets(scratch, m, r, concentrations, partitions, scale, step):
    """Sums over the partitions of sets of the m tasks.

    ``step`` is 1 for all sets, or 2 for every second set and the full set.
    """
    weigh_groups(scratch, m, r, concentrations, partitions, scale)
    weights, sums = WEIGHTS_OF(scratch), SUMS(scratch)
    matters, full = MATTERS(scratch), (np.int64(1) << m) - 1
    for members in range(step, full, step):
        add_partitions(weights, matters, sums, members, sums.shape[1])
    add_partitions(weights, matters, sums, full, sums.shape[1])


@kernel
def add_logs(scratch, m, n_c, n_t, scale):
    """Add the log evidence of all m tasks to TOTALS, given the sums over partitions."""
    totals, full = TOTALS(scratch), (np.int64(1) << m) - 1
    for t in range(n_t):
        for c in range(n_c):
            totals[t * n_c + c] += log_sum(scratch, full, m, t, c, n_c, scale)


@kernel
def log_sum(scratch, members, size, t, c, n_c, scale):
    """Log evidence of a set of ``size`` tasks, given its sum over partitions."""
    value = math.log(SUMS(scratch)[members, t * n_c + c])
    value += SHIFTS(scratch)[members, c] - RISING(scratch)[t, size]
    return SEPARATE(scratch)[members, c] + np.int64(np.rint(value * scale))


@kernel
def weigh_groups(scratch, m, r, concentrations, partitions, scale):
    """Compute merged counts and weights of all sets of tasks as groups; initialize the sums.

    The weight of a group is t (size - 1)! times the factor gained by merging its tasks' counts. A
    group does not matter if, for all t and c, its weight is negligible compared with that of the
    same tasks in groups of one.
    """
    weights, sums, shifts = WEIGHTS_OF(scratch), SUMS(scratch), SHIFTS(scratch)
    n_c, full = concentrations.size, (np.int64(1) << m) - 1
    know_rising(scratch, partitions)
    for at in range(sums.shape[1]):
        sums[0, at] = 1.0
    n = merge_counts(scratch, full, r)
    is_few = n <= FEW_COUNTS and r <= FEW_STATES
    counts, n_rows = MERGED(scratch), full + 1
    if is_few:
        counts, n_rows = COUNTS(scratch), m
    evidence = EVIDENCE(scratch)
    mixture_evidence(scratch, counts, n_rows, r, concentrations, scale, evidence)
    add_separate(scratch, full, n_c, is_few)
    if is_few:
        gain_by_factors(scratch, full, r, concentrations)
    else:
        gain_by_logs(scratch, full, n_c, scale)
    matters, least_t = MATTERS(scratch), 1.0
    for t in range(partitions.size):
        least_t = min(least_t, partitions[t])
    for group in range(1, full + 1):
        orders, least = 1.0, NEGLIGIBLE
        for before in range(1, size_of(group)):
            orders *= before
            least *= least_t
        group_weights, has_weight = weights[group], False
        for c in range(n_c):
            group_weights[c] *= orders
            has_weight |= group_weights[c] > least or shifts[full, c] > 0.0
        matters[group] = has_weight
        for t in range(partitions.size - 1, -1, -1):
            for c in range(n_c):
                group_weights[t * n_c + c] = partitions[t] * group_weights[c]


@kernel
def merge_counts(scratch, full, r):
    """Merge the counts of all sets of tasks; return the number of all counts."""
    merged, counts, n = MERGED(scratch), COUNTS(scratch), np.int64(0)
    for state in range(r):
        merged[0, state] = 0
    for group in range(1, full + 1):
        rest = group & (group - 1)
        i = size_of((group ^ rest) - 1)
        for state in range(r):
            merged[group, state] = merged[rest, state] + counts[i, state]
    for state in range(r):
        n += merged[full, state]
    return n


@kernel
def add_separate(scratch, full, n_c, is_by_task):
    """Sum the log evidence of the tasks of each set, given that of each task; reset the shifts.

    EVIDENCE is indexed by task or else by set.
    """
    separate, evidence, shifts = SEPARATE(scratch), EVIDENCE(scratch), SHIFTS(scratch)
    for c in range(n_c):
        separate[0, c] = 0
        shifts[0, c] = 0.0
    for group in range(1, full + 1):
        rest = group & (group - 1)
        first = group ^ rest
        task_evidence = evidence[size_of(first - 1) if is_by_task else first]
        for c in range(n_c):
            separate[group, c] = separate[rest, c] + task_evidence[c]
            shifts[group, c] = 0.0


@kernel
def gain_by_logs(scratch, full, n_c, scale):
    """Write the factor gained by merging the tasks of each set to the weights."""
    separate, evidence = SEPARATE(scratch), EVIDENCE(scratch)
    weights, shifts = WEIGHTS_OF(scratch), SHIFTS(scratch)
    # The scale is a power of two, so multiplying by its inverse is exact, and faster.
    unit, is_large = 1.0 / scale, False
    for group in range(1, full + 1):
        for c in range(n_c):
            weights[group, c] = (evidence[group, c] - separate[group, c]) * unit
            is_large |= weights[group, c] > LARGEST_WEIGHT
    if is_large:
        for c in range(n_c):
            share_gains(weights, shifts, full, c)
    for group in range(1, full + 1):
        for c in range(n_c):
            weights[group, c] = math.exp(weights[group, c] - shifts[group, c])


@kernel
def share_gains(gains, shifts, full, c):
    """Distribute gains over the tasks until no set gains much more than the shares of its tasks.

    The set with the largest gain per task comes first, then repeatedly the set with the largest
    gain beyond the current shares per task without a share. Tasks that belong to no such set get no
    share. Thus the sums over partitions of all sets stay close to their largest terms.
    """
    without = full
    while without:
        best, share = np.int64(0), 0.0
        for group in range(1, full + 1):
            more = gains[group, c] - shifts[group, c]
            n = size_of(group & without)
            if more > LARGEST_WEIGHT and n > 0 and more > share * n:
                best, share = np.int64(group), more / n
        if best == 0:
            return
        for group in range(1, full + 1):
            shifts[group, c] += share * size_of(group & best & without)
        without &= ~best


@kernel
def gain_by_factors(scratch, full, r, concentrations):
    """Like `gain_by_logs`, for few counts: products of factors per count, without exponentials.

    Each factor is scaled by an exponential of the count; these scales cancel.
    """
    know_factors(scratch, r, concentrations)
    merged, weights = MERGED(scratch), WEIGHTS_OF(scratch)
    of_cells, of_totals = CELL_FACTORS(scratch), TOTAL_FACTORS(scratch)
    inverse, n_c = INVERSE_SEPARATE(scratch), concentrations.size
    for c in range(n_c):
        inverse[0, c] = 1.0
    for group in range(1, full + 1):
        product = weights[group]
        n = np.int64(0)
        for c in range(n_c):
            product[c] = 1.0
        for state in range(r):
            count = merged[group, state]
            if count > 0:
                n += count
                factors = of_cells[count]
                for c in range(n_c):
                    product[c] *= factors[c]
        factors = of_totals[r * (FEW_COUNTS + 1) + n]
        for c in range(n_c):
            product[c] *= factors[c]
        rest = group & (group - 1)
        if rest == 0:
            for c in range(n_c):
                inverse[group, c] = 1.0 / product[c]
                product[c] = 1.0
        else:
            first = group ^ rest
            for c in range(n_c):
                inverse[group, c] = inverse[rest, c] * inverse[first, c]
                product[c] *= inverse[group, c]


@kernel
def know_factors(scratch, r, concentrations):
    """Compute the factors of cells and of the totals of rows with r states at the first call."""
    known = KNOWN_FACTORS(scratch)
    of_cells, of_totals = CELL_FACTORS(scratch), TOTAL_FACTORS(scratch)
    for kind in (0, r):
        if known[kind] == 1:
            continue
        known[kind] = 1
        for c in range(concentrations.size):
            a = concentrations[c] * max(kind, 1)
            slope = log_rising(a, FEW_COUNTS) / FEW_COUNTS
            for count in range(FEW_COUNTS + 1):
                value = log_rising(a, count) - count * slope
                if kind == 0:
                    of_cells[count, c] = math.exp(value)
                else:
                    of_totals[r * (FEW_COUNTS + 1) + count, c] = math.exp(-value)


@kernel
def add_partitions(weights, matters, sums, members, n_tc):
    """Sum over the partitions of a set by recursion on the group of its first task."""
    total = sums[members]
    for at in range(n_tc):
        total[at] = 0.0
    low = members & -members
    rest = members ^ low
    others = rest
    while True:
        if matters[others | low]:
            of_group, of_rest = weights[others | low], sums[rest ^ others]
            for at in range(n_tc):
                total[at] += of_group[at] * of_rest[at]
        if others == 0:
            break
        others = (others - 1) & rest
    for at in range(n_tc):
        total[at] = max(total[at], LEAST_SUM)


@kernel
def has_more(counts, a, b, r):
    """Whether task a precedes task b: more counts, ties broken by counts of the first states."""
    difference = np.int64(0)
    for state in range(r):
        difference += counts[a, state] - counts[b, state]
    for state in range(r):
        if difference != 0:
            break
        difference = counts[a, state] - counts[b, state]
    return difference > 0


@kernel
def rank_by_counts(counts, ranked, m, r):
    """Sort the tasks (insertion sort)."""
    for i in range(m):
        at = i
        while at > 0 and has_more(counts, i, ranked[at - 1], r):
            ranked[at] = ranked[at - 1]
            at -= 1
        ranked[at] = i


@kernel
def add_probable_partitions(scratch, m, r, concentrations, partitions, scale):
    """Add the log evidence of a row to TOTALS, using the most probable partitions of its m tasks.

    Returns
    -------
    begin, n_kept : int
        Index of the first partition in the beam and number of partitions.
    """
    counts, ranked, totals = COUNTS(scratch), RANKED_BY(scratch), TOTALS(scratch)
    rank_by_counts(counts, ranked, m, r)
    n_groups, weights = BEAM_GROUPS(scratch), BEAM_WEIGHTS(scratch)
    n_tc = totals.size
    # The two halves of the beam alternate.
    begin, n_kept = np.int64(0), np.int64(1)
    n_groups[begin, 0] = 0
    for at in range(n_tc):
        weights[0, at] = 1.0
    for placed in range(m):
        task_counts = counts[ranked[placed]]
        n_next = place(scratch, task_counts, begin, n_kept, r, concentrations, scale)
        weigh_next(scratch, begin, n_kept, placed, concentrations.size, partitions, scale)
        n_kept = keep_probable(scratch, task_counts, begin, n_next, placed, r)
        begin = BEAM - begin
    return begin, n_kept


@kernel
def place(scratch, task_counts, begin, n_kept, r, concentrations, scale):
    """Compute the log evidence of every group of every partition after adding one more task.

    The last group of a partition is a new one. Returns the number of groups.
    """
    n_groups, beam = BEAM_GROUPS(scratch), BEAM_COUNTS(scratch)
    merged, evidence = MERGED(scratch)[:1], NEXT_EVIDENCE(scratch)
    n_next = np.int64(0)
    for p in range(begin, begin + n_kept):
        for g in range(n_groups[p, 0] + 1):
            for state in range(r):
                merged[0, state] = task_counts[state]
                if g < n_groups[p, 0]:
                    merged[0, state] += beam[p, g, state]
            found = evidence[n_next : n_next + 1]
            mixture_evidence(scratch, merged, np.int64(1), r, concentrations, scale, found)
            n_next += 1
    return n_next


@kernel
def weigh_next(scratch, begin, n_kept, placed, n_c, partitions, scale):
    """Weights of all partitions with one more task; add the logs of their sums to TOTALS."""
    n_groups, sizes = BEAM_GROUPS(scratch), BEAM_SIZES(scratch)
    before, evidence = BEAM_EVIDENCE(scratch), NEXT_EVIDENCE(scratch)
    weights, following = BEAM_WEIGHTS(scratch), NEXT_WEIGHTS(scratch)
    worth, totals = NEXT_WORTH(scratch), TOTALS(scratch)
    n_next = np.int64(0)
    for p in range(begin, begin + n_kept):
        n_next += n_groups[p, 0] + 1
    for at in range(n_next):
        worth[at] = 0.0
    for t in range(partitions.size):
        for c in range(n_c):
            column = t * n_c + c
            # Gains are relative to the largest one, to avoid overflow.
            at, most, is_first = np.int64(0), np.int64(0), True
            for p in range(begin, begin + n_kept):
                for g in range(n_groups[p, 0] + 1):
                    gain = evidence[at, c]
                    if g < n_groups[p, 0]:
                        gain -= before[p, g, c]
                    if weights[p - begin, column] > 0.0 and (is_first or gain > most):
                        most, is_first = gain, False
                    at += 1
            at, total = np.int64(0), 0.0
            for p in range(begin, begin + n_kept):
                for g in range(n_groups[p, 0] + 1):
                    gain, prior = evidence[at, c], partitions[t]
                    if g < n_groups[p, 0]:
                        gain -= before[p, g, c]
                        prior = float(sizes[p, g])
                    prior /= partitions[t] + placed
                    value = weights[p - begin, column] * prior * math.exp((gain - most) / scale)
                    following[at, column] = value
                    total += value
                    at += 1
            totals[column] += most + np.int64(np.rint(math.log(total) * scale))
            for at in range(n_next):
                following[at, column] /= total
                worth[at] += following[at, column]


@kernel
def keep_probable(scratch, task_counts, begin, n_next, placed, r):
    """Keep the partitions with the largest total weight over concentrations; return the number."""
    n_groups, worth = BEAM_GROUPS(scratch), NEXT_WORTH(scratch)
    weights, following = BEAM_WEIGHTS(scratch), NEXT_WEIGHTS(scratch)
    chosen_at = BEAM - begin
    n_chosen = min(n_next, BEAM)
    for chosen in range(n_chosen):
        best = np.int64(0)
        for at in range(1, n_next):
            if worth[at] > worth[best]:
                best = at
        worth[best] = -1.0
        p, g = begin, best
        while g > n_groups[p, 0]:
            g -= n_groups[p, 0] + 1
            p += 1
        copy_with_one_more(scratch, task_counts, p, g, best, chosen_at + chosen, placed, r)
        for at in range(weights.shape[1]):
            weights[chosen, at] = following[best, at]
    for at in range(weights.shape[1]):
        kept = 0.0
        for chosen in range(n_chosen):
            kept += weights[chosen, at]
        for chosen in range(n_chosen):
            if kept > 0.0:
                weights[chosen, at] /= kept
            else:
                weights[chosen, at] = 1.0 / n_chosen
    return n_chosen


@kernel
def copy_with_one_more(scratch, task_counts, p, g, at, target, placed, r):
    """Write partition p, with one more task in its group g, to another place."""
    n_groups, sizes = BEAM_GROUPS(scratch), BEAM_SIZES(scratch)
    beam, evidence = BEAM_COUNTS(scratch), BEAM_EVIDENCE(scratch)
    following, places = NEXT_EVIDENCE(scratch), BEAM_PLACES(scratch)
    for i in range(placed):
        places[target, i] = places[p, i]
    places[target, placed] = g
    n_groups[target, 0] = max(n_groups[p, 0], g + 1)
    for group in range(n_groups[target, 0]):
        is_new, is_joined = group == n_groups[p, 0], group == g
        sizes[target, group] = (0 if is_new else sizes[p, group]) + is_joined
        for state in range(r):
            beam[target, group, state] = 0 if is_new else beam[p, group, state]
            if is_joined:
                beam[target, group, state] += task_counts[state]
        for c in range(evidence.shape[2]):
            evidence[target, group, c] = following[at, c] if is_joined else evidence[p, group, c]
