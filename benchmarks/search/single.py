"""How close searches for one network come to the best known score.

Run `python -m benchmarks.search.single` in an environment with `pip install -e ".[bench]"` (about
half an hour on two cores).

Twenty seeds are five samples by four: columns are shuffled and each has a search seed of its own.
The best known score of a sample is the best of everything that was tried on it, climbing from the
true graph and a search from 30 starts included.
"""

import time

import numpy as np

from benchmarks import study
from benchmarks.search.single_tables import CASES, OTHERWISE, SEEDS_PER_SAMPLE, tables
from benchmarks.speed.peers import Pgmpy, PyAgrum
from benchmarks.variants import THESIS
from bnmtl import BIC, BDeu, Exact, HillClimbing, Orders, SingleTaskLearner, structures
from bnmtl.metrics import edit_distance, shd

__all__ = ["tables"]
NAME = "search"
SETTINGS = ("network", "rows", "seed", "variant")
SEEDS = range(20)
SEARCHES = {
    "hill climbing": {"search": HillClimbing(restarts=0, tabu=0)},
    "100 restarts, tabu": {"search": HillClimbing(restarts=100)},
    "orders": {},
    "exact": {"search": Exact()},
}
WITH_PEERS = {"pyAgrum": False, "pyAgrum tabu": True}
# Where graphs are learned by other means than BDeu, too, to hold them against the true one.
WITH_OTHERS = [
    *((name, n_rows) for name in ("alarm", "insurance") for n_rows in (1000, 10000)),
    ("andes", 1000),
]
PGMPY = [("asia", 1000), ("sachs", 1000), ("child", 1000)]
EXACT = ("asia", "sachs", "child")
# Tried once a sample, for the best known score only.
ONCE = {
    "from the truth": {"search": HillClimbing(restarts=0)},
    "30 orders": {"search": Orders(starts=30, iterations=50)},
}


def variants(name, n_rows, seed):
    """What is run on a case for a seed."""
    for variant in SEARCHES:
        if variant != "exact" or name in EXACT:
            yield variant
    yield from WITH_PEERS
    if (name, n_rows) in WITH_OTHERS:
        yield from OTHERWISE
    if (name, n_rows) in PGMPY:
        yield Pgmpy.name
    if seed % SEEDS_PER_SAMPLE == 0:
        yield from ONCE


def rows_of(name, n_rows, seed):
    """The rows of a seed's sample, the columns in the seed's order."""
    frame = structures.load(name).sample(n_rows, random_state=seed // SEEDS_PER_SAMPLE)
    return frame[list(np.random.default_rng(seed).permutation(frame.columns))]


def legal(graph, frame):
    """The graph without arcs of columns that are constant in these rows."""
    constant = {column for column in frame if frame[column].nunique() == 1}
    cut = graph.copy()
    cut.remove_edges_from([arc for arc in graph.edges if constant & set(arc)])
    return cut


def measure(wanted, network, rows, seed):
    """What searches find on one sample."""
    return {variant: line_of(network, rows, seed, variant) for variant in wanted}


def line_of(network, rows, seed, variant):
    """What one search finds on one sample."""
    truth, frame = structures.load(network).graph, rows_of(network, rows, seed)
    began = time.perf_counter()
    if variant in WITH_PEERS:
        graph, seconds = PyAgrum(frame).climb(tabu=WITH_PEERS[variant])
    elif variant == "pyAgrum MIIC":
        graph, seconds = PyAgrum(frame).by_information()
    elif variant.startswith("pyAgrum"):
        graph, seconds = PyAgrum(frame, variant.removeprefix("pyAgrum ")).climb(tabu=True)
    elif variant == Pgmpy.name:
        graph, seconds = Pgmpy(frame).climb()
    else:
        own = {"score": BIC()} if variant == "orders, BIC" else {**SEARCHES, **ONCE}[variant]
        start = legal(truth, frame) if variant == "from the truth" else None
        parameters = {**THESIS, "start": start, **own}
        learner = SingleTaskLearner(**parameters, random_state=seed).fit(frame)
        seconds = time.perf_counter() - began
        (graph,) = learner.configuration_.values()
    return {
        "score": round(BDeu(1.0).score(graph, frame), 6),
        "bic": round(BIC().score(graph, frame), 6),
        "edits": edit_distance(truth, graph),
        "shd": shd(truth, graph),
        "seconds": round(seconds, 4),
        "threads": 1,
    }


def plan(quick):
    """Cases: every seed of every network and size."""
    return [
        {
            **{"network": name, "rows": n_rows, "seed": seed},
            "wanted": [*SEARCHES][:3] if quick else list(variants(name, n_rows, seed)),
        }
        for name, n_rows in ([("asia", 1000)] if quick else CASES)
        for seed in (range(1) if quick else SEEDS)
    ]


if __name__ == "__main__":
    study.main(__spec__.name)
