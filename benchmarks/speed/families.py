"""Cost of families whose tables tasks may share, beside their scores in each task alone."""

import numpy as np
import pandas as pd

from benchmarks.related import Related, networks_of
from benchmarks.timing import medians, rounded, timed
from bnmtl import MixedDirichlet
from bnmtl.scores.bound import PARTITIONS
from bnmtl.tasks import encode

CASES = [(name, n_rows) for name in ("ALARM", "INSURANCE") for n_rows in (250, 1000, 4000)]
N_REPLICATES, BEST_OF = 5, 5


def measure(name, n_rows):
    """Gains of all arcs into every variable, given its true parents in the first of five tasks.

    Each call starts with an empty cache. Neighboring families share counts in both cases, and with
    shared tables also the sums over groups of tasks.
    """
    times, computed = [], []
    for replicate in range(N_REPLICATES):
        networks = networks_of(name, replicate)
        tasks = encode(Related(networks, n_rows, replicate).tasks)
        families = _true_families(next(iter(networks.values())).graph)
        times.append([_seconds(tasks, families, sets) for sets in (PARTITIONS, ())])
        computed.append(len(families) * len(tasks.variables))
    times = pd.DataFrame(times, columns=["together", "separate"])
    return {
        **medians(times, ratio=("together", "separate")),
        "largest_ratio": rounded((times["together"] / times["separate"]).max()),
        "families": int(np.median(computed)),
    }


def _true_families(graph):
    """Index of each variable and of its parents, among the sorted variables."""
    index = {variable: at for at, variable in enumerate(sorted(graph))}
    return [
        (at, sorted(index[parent] for parent in graph.predecessors(child)))
        for child, at in index.items()
    ]


def _seconds(tasks, families, partitions):
    """The shortest time of several calls with an empty cache."""
    n, k = len(tasks.variables), len(tasks)
    usable = np.ones((k, n, n), dtype=bool)
    found = []
    for _ in range(BEST_OF):
        bound = MixedDirichlet().bind_all(list(tasks.values()), partitions=partitions)
        scores = bound.of_all(list(range(k)), usable)
        found.append(timed(_all_gains, scores, families)[1])
    return min(found)


def _all_gains(scores, families):
    return [scores.gains(child, parents) for child, parents in families]
