"""A lock-free cache of integers with 64-bit keys, shared by threads, used by ``scoring``.

Data contract: ``cache`` is int64, flat, with 2**k slots of two numbers each; empty slots are zero.
A slot contains the key XOR the value, then the value, so a slot that another thread is writing
matches no key. Keys are random and never 0.
"""

import numpy as np

from bnmtl._kernels._jit import kernel

MISSING = np.iinfo(np.int64).min
# Number of slots in which a key may be stored.
BUCKET = 4


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
def keep(cache, key, value):
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
def move(cache, larger):
    """Copy all cached values into a larger cache."""
    for at in range(0, cache.size, 2):
        if cache[at] != 0 or cache[at + 1] != 0:
            keep(larger, cache[at] ^ cache[at + 1], cache[at + 1])
