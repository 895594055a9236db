"""How close searches come to the best known score, for one task and for several.

Run `python -m benchmarks.search.search` in an environment with `pip install -e ".[bench]"` (about
an hour on two cores). One JSON line per case is appended to benchmarks/results/search.jsonl and
benchmarks/results/joint.jsonl; a second run goes on where the first stopped.
`python -m benchmarks.tables` makes the README's tables of them.

Twenty seeds are five samples by four: columns are shuffled and the search is seeded anew for each.
The best known score of a sample is the best of everything that was tried on it, climbing from the
true graph and a search from 30 starts included.
"""

import argparse
import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from rich.progress import Progress

from benchmarks import tables
from benchmarks.record import Results, exit_if_changed
from benchmarks.search import joint
from benchmarks.speed.peers import Pgmpy, PyAgrum
from benchmarks.variants import THESIS
from bnmtl import BIC, BDeu, SingleTaskLearner, structures
from bnmtl.metrics import edit_distance, shd

SEEDS = range(20)
CLIMB = {"search": "hill-climbing"}
SEARCHES = {
    "hill climbing": {**CLIMB, "restarts": 0, "tabu": 0},
    "100 restarts, tabu": CLIMB,
    "orders": {},
    "exact": {"search": "exact"},
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
ONCE = dict(
    zip(
        tables.ONCE,
        ({**CLIMB, "restarts": 0}, {"n_starts": 30, "iterations": 50}),
        strict=True,
    )
)


def variants(name, n_rows):
    """What is run on a case for every seed."""
    for variant in SEARCHES:
        if variant != "exact" or name in EXACT:
            yield variant
    yield from WITH_PEERS
    if (name, n_rows) in WITH_OTHERS:
        yield from tables.OTHERWISE
    if (name, n_rows) in PGMPY:
        yield Pgmpy.name


def rows_of(name, n_rows, seed):
    """The rows of a seed's sample, the columns in the seed's order."""
    frame = structures.load(name).sample(n_rows, random_state=seed // tables.SEEDS_PER_SAMPLE)
    return frame[list(np.random.default_rng(seed).permutation(frame.columns))]


def legal(graph, frame):
    """The graph without arcs of columns that are constant in these rows."""
    constant = {column for column in frame if frame[column].nunique() == 1}
    cut = graph.copy()
    cut.remove_edges_from([arc for arc in graph.edges if constant & set(arc)])
    return cut


def measure(network, rows, seed, variant):
    """One line: what one search finds on one sample."""
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
    line = {
        "score": round(BDeu(1.0).score(graph, frame), 6),
        "bic": round(BIC().score(graph, frame), 6),
        "edits": edit_distance(truth, graph),
        "shd": shd(truth, graph),
        "seconds": round(seconds, 4),
        "threads": 1,
    }
    return [line]


def plan_single():
    """All settings of the study of one task."""
    for name, n_rows in tables.CASES:
        for seed in SEEDS:
            for variant in variants(name, n_rows):
                yield {"network": name, "rows": n_rows, "seed": seed, "variant": variant}
            if seed % tables.SEEDS_PER_SAMPLE == 0:
                for variant in ONCE:
                    yield {"network": name, "rows": n_rows, "seed": seed, "variant": variant}


def run(results, plan, function, n_jobs):
    """Measure what is missing, several cases at a time; ``function`` gives the lines of a case."""
    missing = [settings for settings in plan if not results.has(**settings)]

    def quietly(settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return settings, function(**settings)

    with Progress() as progress:
        bar = progress.add_task("cases", total=len(missing))
        done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(quietly)(settings) for settings in missing
        )
        for settings, lines in done:
            for line in lines:
                results.add(**settings, **line)
            progress.advance(bar)


def main():
    """Run what is missing of both studies."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=("single", "joint"), help="one of the two studies")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--network", help="only this network or problem")
    arguments = parser.parse_args()
    exit_if_changed()
    single = Results("search", ("network", "rows", "seed", "variant"))
    jointly = Results("joint", ("problem", "trial"))
    wanted = arguments.network
    if arguments.only != "joint":
        plan = [one for one in plan_single() if wanted in (None, one["network"])]
        run(single, plan, measure, arguments.jobs)
    if arguments.only != "single":
        plan = [one for one in joint.plan() if wanted in (None, one["problem"])]
        run(jointly, plan, joint.measure, arguments.jobs)


if __name__ == "__main__":
    main()
