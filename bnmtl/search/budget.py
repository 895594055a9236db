"""Budgets of searches: a number of families, a deadline, or neither."""

import time
from dataclasses import dataclass, field

import numpy as np

from bnmtl._kernels.scoring import ASKED

NO_LIMIT = np.iinfo(np.int64).max
# Families after which a kernel returns to check the clock and interrupts: the first time, and the
# maximum later on, when the number that takes the seconds below is known. A family of tasks that
# are scored together takes a thousand times as long as a cached one.
FAMILIES_BEFORE_A_LOOK = 500
FAMILIES_BETWEEN_LOOKS = 50_000
_SECONDS_BETWEEN_LOOKS = 0.2


@dataclass
class Budget:
    """The limits of one search.

    Attributes
    ----------
    max_families : int or None
        Maximum number of requested local scores, including cached ones, so that it is reproducible.
    deadline : float or None
        `time.time` at which to stop.
    stopped : set of str
        Contains "max_families" or "time_limit" if that ended a search.
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
        """Count of families at which a kernel returns for a check; it does not affect results."""
        asked, now = int(scratch.counters[ASKED]), time.perf_counter()
        before, then = self._looked
        if then and before < asked:
            families = (asked - before) * _SECONDS_BETWEEN_LOOKS / max(now - then, 1e-9)
            self._families = max(1, min(int(families), 4 * self._families))
        self._looked = asked, now
        return min(self.limit, asked + min(self._families, FAMILIES_BETWEEN_LOOKS))

    def spent(self, asked):
        """Whether the search has to end after that many families."""
        if self.max_families is not None and asked >= self.max_families:
            self.stopped.add("max_families")
        elif self.deadline is not None and time.time() >= self.deadline:
            self.stopped.add("time_limit")
        else:
            return False
        return True
