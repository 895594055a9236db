"""Evidence of one table row for any number of tasks that may share it, used by ``sharing``.

More than `MOST_EXACT` tasks with counts are placed in groups one at a time, in decreasing order of
their counts. After each step, only the `BEAM` most probable partitions are kept. Their weights are
normalized to sum to 1, so each task contributes a mean of probabilities of its counts.
Data contract: as in ``groups``.
"""

import math

import numpy as np

from bnmtl._kernels._jit import kernel
from bnmtl._kernels.groups import (
    BEAM,
    BEAM_COUNTS,
    BEAM_EVIDENCE,
    BEAM_GROUPS,
    BEAM_PLACES,
    BEAM_SIZES,
    BEAM_WEIGHTS,
    COUNTS,
    MERGED,
    NEXT_EVIDENCE,
    NEXT_WEIGHTS,
    NEXT_WORTH,
    RANKED_BY,
    TOTALS,
)
from bnmtl._kernels.terms import mixture_evidence


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
def add_probable_partitions(terms, owners, bases, scratch, m, r, concentrations, partitions, scale):
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
        n_next = place(
            terms, owners, bases, scratch, task_counts, begin, n_kept, r, concentrations, scale
        )
        weigh_next(scratch, begin, n_kept, placed, concentrations.size, partitions, scale)
        n_kept = keep_probable(scratch, task_counts, begin, n_next, placed, r)
        begin = BEAM - begin
    return begin, n_kept


@kernel
def place(terms, owners, bases, scratch, task_counts, begin, n_kept, r, concentrations, scale):
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
            # fmt: off
            mixture_evidence(
                terms, owners, bases, merged, np.int64(1), r, concentrations, scale,
                evidence[n_next : n_next + 1],
            )
            # fmt: on
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
