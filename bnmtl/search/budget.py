"""How much a search may still do: a number of families, a moment to stop, or neither."""

import time
from dataclasses import dataclass, field

import numpy as np

from bnmtl._kernels.scoring import ASKED

NO_LIMIT = np.iinfo(np.int64).max
# Families after which a kernel returns, so that clocks are read and interrupts heard.
FAMILIES_BETWEEN_LOOKS = 50_000


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

    @property
    def limit(self):
        """Count of families at which a kernel must stop."""
        return NO_LIMIT if self.max_families is None else self.max_families

    def pause(self, scratch):
        """Count of families at which a kernel comes back to ask."""
        return min(self.limit, int(scratch.counters[ASKED]) + FAMILIES_BETWEEN_LOOKS)

    def spent(self, asked):
        """Whether the search has to end now, after that many families."""
        if self.max_families is not None and asked >= self.max_families:
            self.stopped.add("max_families")
        elif self.deadline is not None and time.time() >= self.deadline:
            self.stopped.add("time_limit")
        else:
            return False
        return True
