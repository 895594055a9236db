"""How long a call takes."""

import time


def timed(call, *arguments, **options):
    """What a call returns, and its seconds."""
    began = time.perf_counter()
    found = call(*arguments, **options)
    return found, time.perf_counter() - began


def fastest(n_times, call, *arguments):
    """The fewest seconds of several calls."""
    return min(timed(call, *arguments)[1] for _ in range(n_times))
