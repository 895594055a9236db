"""How much a search may still do: a number of families, a moment to stop, or neither."""

import time
from dataclasses import dataclass, field

import numpy as np

from bnmtl._kernels.scoring import ASKED

NO_LIMIT = np.iinfo(np.int64).max
# Families after which a kernel returns, so that clocks are read and interrupts heard: the first
# time, and at most later on, when it is known how many take as many seconds as below. A family of
# tasks that are scored together takes a thousand times as long as one that is in the cache.
FAMILIES_BEFORE_A_LOOK = 500
FAMILIES_BETWEEN_LOOKS = 50_000
_SECONDS_BETWEEN_LOOKS = 0.2


@dataclass
class Budget:
    """What one search may spend.

    Attributes
    ----------
    max_families : int or None
        Local scores that may be asked for, cached ones included, so that it is reproducible.
    deadline : float or None
        `time.time` at which to stop.
    stopped : set of str
        "max_families" and "time_limit", where that ended a search.
    """

    max_families: int | None = None
    deadline: float | None = None
    stopped: set = field(default_factory=set)
    _families: int = field(default=FAMILIES_BEFORE_A_LOOK, init=False, repr=False)
    _looked: tuple = field(default=(0, 0.0), init=False, repr=False)

    @property
    def limit(self):
        """Count of families at which a kernel must stop."""
        return NO_LIMIT if self.max_families is None else self.max_families

    def pause(self, scratch):
        """Count of families at which a kernel comes back to ask; no result depends on it."""
        asked, now = int(scratch.counters[ASKED]), time.perf_counter()
        before, then = self._looked
        if then and before < asked:
            families = (asked - before) * _SECONDS_BETWEEN_LOOKS / max(now - then, 1e-9)
            self._families = max(1, min(int(families), 4 * self._families))
        self._looked = asked, now
        return min(self.limit, asked + min(self._families, FAMILIES_BETWEEN_LOOKS))

    def spent(self, asked):
        """Whether the search has to end now, after that many families."""
        if self.max_families is not None and asked >= self.max_families:
            self.stopped.add("max_families")
        elif self.deadline is not None and time.time() >= self.deadline:
            self.stopped.add("time_limit")
        else:
            return False
        return True
