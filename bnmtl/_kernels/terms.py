"""Sums over the cells of one table, from cached tables of lgamma by count, used by ``scoring``.

Data contract: ``memory`` is a table that begins with the fields of `TERM_TABLES`. Row i of TERMS
contains the terms of the pseudo-count numbered OWNERS[i] as integers, indexed by count; entries not
yet computed are MISSING. BASES contains the lgamma that is subtracted from each term. Under a
mixture, a row contains the terms of all concentrations, adjacent for each count.

Data contract: ``cache`` is int64, flat, with 2**k slots of two numbers each; empty slots are zero.
A slot contains the key XOR the value, then the value, so a slot that another thread is writing
matches no key. Keys are random and never 0.
"""

import math

import numpy as np

from bnmtl._kernels._jit import Ints, floats, ints, kernel, layout

MISSING = np.iinfo(np.int64).min
# Number of slots in which a key may be stored.
BUCKET = 4

TERM_TABLES = layout(
    TERMS := ints("terms", 2),  # (tables, length): computed on demand
    OWNERS := ints("owners"),  # (tables,): -1 for unused rows
    BASES := floats("bases"),  # (tables,)
)


@kernel
def recall(cache, key):
    """The cached value of a key, or MISSING."""
    begin = (key & (cache.size // (2 * BUCKET) - 1)) * 2 * BUCKET
    for at in range(begin, begin + 2 * BUCKET, 2):
        value = cache[at + 1]
        if cache[at] ^ value == key:
            return value
    return MISSING


@kernel
def keep(cache: Ints, key: int, value: int):
    """Cache a value; if the bucket is full, another value is overwritten."""
    begin = (key & (cache.size // (2 * BUCKET) - 1)) * 2 * BUCKET
    chosen = begin + ((key >> 60) & (BUCKET - 1)) * 2
    for at in range(begin, begin + 2 * BUCKET, 2):
        if cache[at] == 0 and cache[at + 1] == 0:
            chosen = at
            break
    cache[chosen + 1] = value
    cache[chosen] = key ^ value


@kernel
def move(cache: Ints, larger: Ints):
    """Copy all cached values into a larger cache."""
    for at in range(0, cache.size, 2):
        if cache[at] != 0 or cache[at + 1] != 0:
            keep(larger, cache[at] ^ cache[at + 1], cache[at + 1])


BDEU, BDS, K2, BIC, AIC, LOG_LIKELIHOOD, MIXTURE = range(7)

# From here on, differences of log gammas are computed directly. Below, they are accurate to 1e-11.
LARGE_PSEUDO_COUNT = 1000.0
# Terms are stored up to this count; larger counts are rare, and their terms are always recomputed.
LONGEST_TABLE = 2048
# A mixture needs few tables, but rows of several tasks may be merged.
LONGEST_MIXTURE = 16384
# Must be powers of two.
N_MIXTURE_TABLES = 32
N_TABLES = 256
PROBES = 8


@kernel
def log_gamma(x):
    """Log gamma; for large x by Stirling's series, which is accurate there and faster."""
    if x < 10.0:
        return math.lgamma(x)
    return (x - 0.5) * math.log(x) - x + 0.91893853320467274178 + stirling(x)


@kernel
def stirling(x):
    """Stirling's series: what its formula for log gamma leaves out."""
    z = 1.0 / (x * x)
    series = z * (1.0 / 1260.0 - z * (1.0 / 1680.0 - z / 1188.0))
    return (1.0 / 12.0 - z * (1.0 / 360.0 - series)) / x


@kernel
def log_rising(a, n):
    """lgamma(a + n) - lgamma(a); for large a not as a difference, which would lose digits."""
    if a < LARGE_PSEUDO_COUNT:
        return log_gamma(a + n) - log_gamma(a)
    x = a + n
    return n * (math.log(x) - 1.0) + (a - 0.5) * math.log1p(n / a) + stirling(x) - stirling(a)


@kernel
def term(kind, base, pseudo_count, count, scale):
    """lgamma(a + n) - lgamma(a), or n log n, as an integer."""
    if kind <= K2:
        return np.int64(np.rint((log_gamma(pseudo_count + count) - base) * scale))
    return np.int64(np.rint(count * math.log(float(count)) * scale))


@kernel
def pseudo_counts(kind, sample_size, q, r, n_configurations):
    """Owner of the terms and pseudo-count, of a cell and of a configuration."""
    if kind == K2:
        return 1, 1.0, np.int64(r), r
    if kind > K2:
        return 0, 0.0, 0, 0.0
    if kind == BDS:
        q = float(n_configurations)
    owner, whole = np.int64(-1), np.int64(-1)
    if q * r < 2.0**62:
        owner, whole = np.int64(q), np.int64(q * r)
    return whole, sample_size / (q * r), owner, sample_size / q


@kernel
def table_of(memory, owner, kind, pseudo_count):
    """Row of TERMS for a pseudo-count, or -1 if all rows it may use are taken."""
    if owner < 0:
        return -1
    terms, owners, bases = TERMS(memory), OWNERS(memory), BASES(memory)
    mask = owners.size - 1
    at = (owner ^ (owner >> 8) ^ (owner >> 16)) & mask
    for _ in range(PROBES):
        if owners[at] == owner:
            return at
        if owners[at] < 0:
            owners[at] = owner
            bases[at] = log_gamma(pseudo_count) if kind <= K2 else 0.0
            terms[at, :] = MISSING
            return at
        at = (at + 1) & mask
    return -1


@kernel
def table_sum(memory, counts, n_counts, kind, owner, pseudo_count, scale):
    """Sum of the terms of a table all of whose cells have the same pseudo-count."""
    at = table_of(memory, owner, kind, pseudo_count)
    total = 0
    if at < 0:
        base = log_gamma(pseudo_count)
        for i in range(n_counts):
            total += term(kind, base, pseudo_count, counts[i], scale)
        return total
    terms, base = TERMS(memory), BASES(memory)[at]
    length = terms.shape[1]
    for i in range(n_counts):
        count = counts[i]
        if count >= length:
            total += term(kind, base, pseudo_count, count, scale)
            continue
        value = terms[at, count]
        if value == MISSING:
            value = term(kind, base, pseudo_count, count, scale)
            terms[at, count] = value
        total += value
    return total


@kernel
def add_mixture_terms(memory, counts, n_counts, multiple, concentrations, scale, sign, totals):
    """Add ``sign`` times the sum of lgamma(a + n) - lgamma(a) over a table to ``totals``.

    ``totals`` has one sum per concentration c, with a = ``multiple`` c.
    """
    terms, at = TERMS(memory), table_of(memory, np.int64(multiple), np.int64(MIXTURE), 0.0)
    for i in range(n_counts):
        add_term(terms, at, counts[i], multiple, concentrations, scale, sign, totals)


@kernel
def mixture_evidence(memory, counts, n_rows, r, concentrations, scale, values):
    """Write the log evidence of each row of counts of r states under each concentration.

    ``counts`` is an int array of shape (rows, r), ``values`` of shape (rows, concentrations).
    """
    terms, n = TERMS(memory), concentrations.size
    of_cells = table_of(memory, np.int64(1), np.int64(MIXTURE), 0.0)
    of_totals = table_of(memory, np.int64(r), np.int64(MIXTURE), 0.0)
    for row in range(n_rows):
        evidence, total = values[row], np.int64(0)
        for c in range(n):
            evidence[c] = 0
        for state in range(r):
            count = counts[row, state]
            total += count
            if count > 0:
                add_term(terms, of_cells, count, 1.0, concentrations, scale, np.int64(1), evidence)
        add_term(terms, of_totals, total, float(r), concentrations, scale, np.int64(-1), evidence)


@kernel
def add_term(terms, at, count, multiple, concentrations, scale, sign, totals):
    """Add ``sign`` times lgamma(a + n) - lgamma(a) of one count, from row ``at`` of ``terms``."""
    n = concentrations.size
    begin = count * n
    if at < 0 or begin + n > terms.shape[1]:
        for c in range(n):
            totals[c] += sign * mixture_term(multiple * concentrations[c], count, scale)
        return
    if terms[at, begin] == MISSING:
        for c in range(n):
            terms[at, begin + c] = mixture_term(multiple * concentrations[c], count, scale)
    for c in range(n):
        totals[c] += sign * terms[at, begin + c]


@kernel
def mixture_term(pseudo_count, count, scale):
    """lgamma(a + n) - lgamma(a) as an integer."""
    return np.int64(np.rint(log_rising(pseudo_count, count) * scale))


@kernel
def log_mean(totals, scale):
    """Log of the mean of exp(total); totals and result are integers in units of 1 / scale nats."""
    most = totals[0]
    for c in range(1, totals.size):
        most = max(most, totals[c])
    mean = 0.0
    for c in range(totals.size):
        mean += math.exp((totals[c] - most) / scale)
    return most + np.int64(np.rint(math.log(mean / totals.size) * scale))
