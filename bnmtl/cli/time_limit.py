"""Distribute the time limit of a command over its stages."""

import time


class TimeLimit:
    """A time limit for all stages together; unused time is left to later stages.

    Parameters
    ----------
    seconds : float or None
        From now on; None means no limit.
    parts : mapping stage -> float
        Relative shares of the stages; the attribute `parts` keeps those of stages that have not
        begun.

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
        """Seconds for a stage that begins now, or None without a limit; call once per stage."""
        all_parts = sum(self.parts.values())
        part = self.parts.pop(stage)
        if self._deadline is None:
            return None
        return max(0.0, self._deadline - time.monotonic()) * part / all_parts
