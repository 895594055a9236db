"""Measure the duration of calls."""

import time

import numpy as np


def timed(call, *arguments, **options):
    """The result of a call and its duration in seconds."""
    began = time.perf_counter()
    found = call(*arguments, **options)
    return found, time.perf_counter() - began


def fastest(n_times, call, *arguments):
    """The shortest duration of several calls in seconds."""
    return min(timed(call, *arguments)[1] for _ in range(n_times))


def rounded(value, digits=6):
    """A float with that many significant digits."""
    return float(f"{value:.{digits}g}")


def median(values):
    """The median as a float with six significant digits."""
    return rounded(np.median(values))


def medians(found, **ratios):
    """The medians of all columns and of ratios of two columns, by name."""
    medians = {name: median(values) for name, values in found.items()}
    ratios = {name: median(found[over] / found[under]) for name, (over, under) in ratios.items()}
    return {**medians, **ratios, "replicates": len(found)}
