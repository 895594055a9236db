"""The cache of scores of families, shared by all searches over the same rows."""

import threading

import numpy as np

from bnmtl._kernels import cache

MEGABYTE = 1 << 20
# Initial slots, a power of two.
FEWEST_SLOTS = 1 << 12


class FamilyCache:
    """Scores of families by key, in memory that grows as needed; a copy elsewhere is empty.

    Parameters
    ----------
    megabytes : float
        Its largest size.

    Attributes
    ----------
    slots : int64 array
        As in ``bnmtl._kernels.cache``.
    lock : threading.Lock
        Held while the cache grows.
    """

    def __init__(self, megabytes):
        most = max(int(megabytes * MEGABYTE) // 16, FEWEST_SLOTS)
        self._most_slots = 1 << (most.bit_length() - 1)
        self._prepare()

    def __getstate__(self):
        return {"_most_slots": self._most_slots}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._prepare()

    def _prepare(self):
        self.slots = np.zeros(2 * FEWEST_SLOTS, np.int64)
        self.lock = threading.Lock()
        self._n_tables = 0

    def add(self, n_tables):
        """Count further tables, and enlarge the cache if it is more than a quarter full."""
        self._n_tables += n_tables
        self._grow(self._n_tables)

    def reserve(self, n_tables):
        """Make the cache large enough for further tables, within the memory limit."""
        n_tables += self._n_tables
        if self.slots.size < 8 * n_tables and self.slots.size < 2 * self._most_slots:
            with self.lock:
                self._grow(n_tables)

    def _grow(self, n_tables):
        size = self.slots.size // 2
        wanted = size
        while wanted < self._most_slots and wanted < 4 * n_tables:
            wanted *= 2
        if wanted > size:
            larger = np.zeros(2 * wanted, np.int64)
            cache.move(self.slots, larger)
            self.slots = larger
