"""Measure the duration of calls."""

import time


def timed(call, *arguments, **options):
    """The result of a call and its duration in seconds."""
    began = time.perf_counter()
    found = call(*arguments, **options)
    return found, time.perf_counter() - began


def fastest(n_times, call, *arguments):
    """The shortest duration of several calls in seconds."""
    return min(timed(call, *arguments)[1] for _ in range(n_times))
