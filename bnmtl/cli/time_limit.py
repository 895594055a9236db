"""How the stages of a command share the time that a user gives it."""

import time


class TimeLimit:
    """Seconds for all stages together, from now on; what a stage leaves goes to the later ones.

    Parameters
    ----------
    seconds : float or None
        None sets no limit.
    parts : mapping stage -> float
        How much of the time each stage gets, compared with the others; `parts` keeps those of
        stages that have not begun.

    Examples
    --------
    >>> limit = TimeLimit(60, {"learning": 2, "drawing": 1})
    >>> 39 < limit.of("learning") <= 40
    True
    """

    def __init__(self, seconds, parts):
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self.parts = dict(parts)

    def of(self, stage):
        """Seconds for a stage that begins now, None without a limit; a stage is asked for once."""
        all_parts = sum(self.parts.values())
        part = self.parts.pop(stage)
        if self._deadline is None:
            return None
        return max(0.0, self._deadline - time.monotonic()) * part / all_parts
