"""Sums over partitions of tasks into parts with concentrations of their own, for ``all_sets``.

Parts have a Chinese restaurant process prior with a ``concentration``; ``scale`` is the number of
integer units per nat.

Data contract: as in ``groups``; SET_EVIDENCE contains the common evidence of all sets of members.
"""

import math

import numpy as np

from bnmtl._kernels._jit import kernel
from bnmtl._kernels.groups import PART_SUMS, SET_EVIDENCE, SET_GAINS, size_of


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
