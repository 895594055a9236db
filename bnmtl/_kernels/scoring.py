"""Local scores of families from integer codes, used by ``bnmtl.scores``.

Data contract: ``codes`` is uint8 of shape (n_variables, n_rows), one contiguous row per variable;
``arities`` is int64, the number of declared states of each variable; ``parents`` is int64, sorted
and without ``child``; ``weights`` is float64, one value a row. Nothing is checked and nothing is
changed but ``out``.

A family has q parent configurations and r states of the child. Its table is always summed in the
same order (parents sorted, the last one fastest, then the child), however it was counted, so that a
local score is the same to the last bit by whatever way it was reached.
"""

import math

import numpy as np

from bnmtl._kernels._jit import kernel

BDEU, BDS, K2, BIC, AIC, LOG_LIKELIHOOD = range(6)

# Larger tables are counted by sorting: their memory then follows the rows, not q * r.
DENSE_CELLS = 1 << 15
DENSE_CELLS_PER_ROW = 8
# Row codes stay below 2**62 when the parents' part is compressed to ranks beyond this size.
COMPRESS_ABOVE = 2.0**53


@kernel
def cell_prior(kind, sample_size, q, r):
    """Dirichlet parameter a_jk of one cell, for q parent configurations and r child states."""
    if kind == K2:
        return 1.0
    return sample_size / (q * r)


@kernel
def configuration_term(counts, start, r, kind, a_jk):
    """Contribution of one parent configuration, whose r counts begin at ``counts[start]``."""
    n_j = 0.0
    for k in range(start, start + r):
        n_j += counts[k]
    if n_j == 0.0:
        return 0.0
    total = 0.0
    if kind <= K2:
        # lgamma(a_j) - lgamma(a_j + N_j) + sum_k lgamma(a_jk + N_jk) - lgamma(a_jk)
        a_j = a_jk * r
        total = math.lgamma(a_j) - math.lgamma(a_j + n_j)
        base = math.lgamma(a_jk)
        for k in range(start, start + r):
            if counts[k] > 0:
                total += math.lgamma(a_jk + counts[k]) - base
    else:
        # sum_k N_jk log(N_jk / N_j)
        for k in range(start, start + r):
            if counts[k] > 0:
                total += counts[k] * math.log(counts[k] / n_j)
    return total


@kernel
def complexity(kind, q, r, n_rows):
    """What BIC and AIC take off for the q (r - 1) free parameters of a family."""
    if kind == BIC:
        return 0.5 * math.log(n_rows) * q * (r - 1)
    if kind == AIC:
        return q * (r - 1)
    return 0.0


@kernel
def occurring_configurations(counts, q, r):
    """Number of parent configurations with at least one row."""
    occurring = 0
    for j in range(q):
        for k in range(j * r, (j + 1) * r):
            if counts[k] > 0:
                occurring += 1
                break
    return occurring


@kernel
def table_score(counts, high, middle, low, r, kind, sample_size, n_rows):
    """Score of a table counted as [middle, high, low, child], summed as [high, middle, low]."""
    q = high * middle * low
    q_prior = occurring_configurations(counts, q, r) if kind == BDS else q
    a_jk = cell_prior(kind, sample_size, float(q_prior), r)
    total = 0.0
    for h in range(high):
        for m in range(middle):
            for v in range(low):
                start = ((m * high + h) * low + v) * r
                total += configuration_term(counts, start, r, kind, a_jk)
    return total - complexity(kind, float(q), r, n_rows)


@kernel
def parent_codes(codes, arities, parents):
    """Parent configuration of every row; order-preserving ranks where codes would overflow."""
    keys = np.zeros(codes.shape[1], np.int64)
    size = 1.0
    for p in parents:
        if size * arities[p] > COMPRESS_ABOVE:
            distinct = np.unique(keys)
            keys = np.searchsorted(distinct, keys).astype(np.int64)
            size = float(distinct.size)
        size *= arities[p]
        for i in range(keys.size):
            keys[i] = keys[i] * arities[p] + codes[p, i]
    return keys


@kernel
def sorted_score(codes, weights, arities, child, parents, kind, sample_size, n_rows):
    """Score of a family whose table is too large to lay out: rows are sorted by configuration."""
    r = arities[child]
    q = 1.0
    for p in parents:
        q *= arities[p]
    keys = parent_codes(codes, arities, parents)
    order = np.argsort(keys, kind="mergesort")
    q_prior = float(np.unique(keys[weights > 0]).size) if kind == BDS else q
    a_jk = cell_prior(kind, sample_size, q_prior, r)
    counts = np.zeros(r, np.float64)
    total = 0.0
    for position in range(order.size):
        row = order[position]
        counts[codes[child, row]] += weights[row]
        if position + 1 == order.size or keys[order[position + 1]] != keys[row]:
            total += configuration_term(counts, 0, r, kind, a_jk)
            counts[:] = 0.0
    return total - complexity(kind, q, r, n_rows)


@kernel
def dense_limit(n_rows):
    """Largest number of cells that is laid out as a table."""
    return max(DENSE_CELLS, DENSE_CELLS_PER_ROW * n_rows)


@kernel
def family_score(codes, weights, arities, child, parents, kind, sample_size, n_rows):
    """Local score of ``child`` given ``parents``; ``n_rows`` is the sum of the weights."""
    r = arities[child]
    cells = float(r)
    for p in parents:
        cells *= arities[p]
    if cells > dense_limit(codes.shape[1]):
        return sorted_score(codes, weights, arities, child, parents, kind, sample_size, n_rows)
    keys = parent_codes(codes, arities, parents)
    counts = np.zeros(int(cells), np.float64)
    for i in range(keys.size):
        counts[keys[i] * r + codes[child, i]] += weights[i]
    return table_score(counts, 1, 1, int(cells) // r, r, kind, sample_size, n_rows)


@kernel
def without(parents, parent):
    """The sorted parents less one of them."""
    kept = np.empty(parents.size - 1, np.int64)
    at = 0
    for p in parents:
        if p != parent:
            kept[at] = p
            at += 1
    return kept


@kernel
def with_one_more(parents, parent):
    """The sorted parents and one more, sorted."""
    grown = np.empty(parents.size + 1, np.int64)
    at = 0
    while at < parents.size and parents[at] < parent:
        grown[at] = parents[at]
        at += 1
    grown[at] = parent
    grown[at + 1 :] = parents[at:]
    return grown


@kernel
def toggle_scores(codes, weights, arities, child, parents, wanted, kind, sample_size, out):
    """Score the family of ``child`` with every wanted variable taken in or, if a parent, left out.

    ``out[v]`` is the local score with v toggled, nan where v is not wanted; ``out[child]`` is the
    score of the family as it is. Rows count once each here: ``weights`` holds ones.
    """
    n_variables, n_rows = codes.shape
    r = arities[child]
    is_parent = np.zeros(n_variables, np.bool_)
    is_parent[parents] = True
    cells = float(r)
    for p in parents:
        cells *= arities[p]
    limit = dense_limit(n_rows)
    largest = 0
    for v in range(n_variables):
        if wanted[v] and not is_parent[v] and v != child and cells * arities[v] <= limit:
            largest = max(largest, int(cells) * arities[v])
    counts = np.empty(largest, np.int32)
    base = np.empty(0, np.int32)
    if largest > 0:
        base = (parent_codes(codes, arities, parents) * r + codes[child]).astype(np.int32)

    for v in range(n_variables):
        out[v] = np.nan
        if v == child or not wanted[v]:
            continue
        if is_parent[v]:
            rest = without(parents, v)
            out[v] = family_score(codes, weights, arities, child, rest, kind, sample_size, n_rows)
        elif cells * arities[v] > limit:
            more = with_one_more(parents, v)
            out[v] = sorted_score(codes, weights, arities, child, more, kind, sample_size, n_rows)
        else:
            size = int(cells)
            counts[: size * arities[v]] = 0
            column = codes[v]
            for i in range(n_rows):
                # int: in plain Python a byte times a large size would overflow.
                counts[base[i] + size * int(column[i])] += 1
            high, low = 1, 1
            for p in parents:
                if p < v:
                    high *= arities[p]
                else:
                    low *= arities[p]
            out[v] = table_score(counts, high, arities[v], low, r, kind, sample_size, n_rows)
    out[child] = family_score(codes, weights, arities, child, parents, kind, sample_size, n_rows)
