"""Speed of single-task searches beside pyAgrum and pgmpy, on the same files in the same run.

Run `python -m benchmarks.speed.speed` in an environment with `pip install -e ".[bench]"` (about
fifteen minutes on two cores; `--only climb` for one part). Columns are shuffled in every replicate.
Each time is the best of several warm calls, all with one thread. The peers' local scores are
compared with ours before anything is timed.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.defaults.grouped import sampled
from benchmarks.related import Related, networks_of
from benchmarks.speed import families
from benchmarks.speed.peers import Pgmpy, PyAgrum, PyAgrumClassifier, check_score
from benchmarks.speed.speed_tables import tables
from benchmarks.timing import fastest, median, medians, rounded, timed
from benchmarks.variants import LEARNERS, problems_of
from bnmtl import (
    BDeu,
    HillClimbing,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
    data,
    structures,
)
from bnmtl.classification import BayesNetClassifier
from bnmtl.search import hill_climbing, orders
from bnmtl.search.graph_state import Budget
from bnmtl.search.ties import Ties, tolerance
from bnmtl.tasks import discretize, encode

__all__ = ["tables"]
NAME = "speed"
SETTINGS = ("study", "network", "rows")
# One case at a time, because seconds are measured.
JOBS = 1
CLIMBS = [
    ("alarm", 1000),
    ("alarm", 10000),
    ("insurance", 1000),
    ("insurance", 10000),
    ("andes", 1000),
    ("pigs", 1000),
]
FITS = [("alarm", 1000), ("win95pts", 1000), ("andes", 1000)]
REPLICATES = {"pigs": 5}
# Variables to classify; their Markov blankets have 3 to 8 variables.
TARGETS = ("HYPOVOLEMIA", "LVFAILURE", "CATECHOL", "VENTLUNG", "HR")


def shuffled(name, n_rows, replicate):
    """A sample for each replicate, with shuffled columns."""
    frame = structures.load(name).sample(n_rows, random_state=replicate)
    columns = np.random.default_rng(replicate).permutation(frame.columns)
    return frame[list(columns)]


class Encoded:
    """One encoded data set, searched with an empty cache each time."""

    def __init__(self, frame):
        self.tasks = encode({"rows": frame})

    def problem(self):
        """A fresh problem with an empty cache."""
        return problems_of(self.tasks)[0]

    def seconds(self, search, seed, best_of=5):
        """The shortest time of a search, its score, and the number of families it counted."""
        least = np.inf
        for _ in range(best_of):
            problem = self.problem()
            score, seconds = timed(self._search, problem, search, seed)
            least = min(least, seconds)
        return least, score, problem.scores.bound.computed

    def _search(self, problem, search, seed):
        empty = np.zeros((len(problem.variables),) * 2, dtype=bool)
        ties = Ties(problem.variables, seed, tolerance(problem.scores.score(empty)))
        return search(problem.state(empty, ties), np.random.default_rng(seed))


def climb(state, rng):
    """Hill climbing without restarts."""
    return hill_climbing.search(state, rng, Budget(), restarts=0, tabu=0)


def climb_often(state, rng):
    """Hill climbing with 100 restarts and a tabu list."""
    return hill_climbing.search(state, rng, Budget(), restarts=100, tabu=10)


def by_orders(state, rng):
    """The default search of the learners."""
    return orders.search(state, rng, Budget())


def histogram_floor(n_rows):
    """Microseconds of one pass that adds codes to a histogram, compiled by numba."""
    import numba

    @numba.njit
    def count(base, codes, counts, times):
        for _ in range(times):
            for row in range(base.size):
                counts[base[row] + 4 * codes[row]] += 1

    rng = np.random.default_rng(0)
    base, codes = rng.integers(0, 4, (2, n_rows)).astype(np.uint8)
    counts = np.zeros(64, np.int32)
    count(base, codes, counts, 1)
    return fastest(5, count, base, codes, counts, 200) / 200 * 1e6


def means(scores):
    """The means of all columns of scores, by name."""
    return scores.mean().round(3).to_dict()


def measure_climb(name, n_rows):
    """Hill climbing without restarts and that of pyAgrum, over replicates."""
    times, scores = [], []
    for replicate in range(REPLICATES.get(name, 10)):
        frame = shuffled(name, n_rows, replicate)
        peer = PyAgrum(frame)
        check_score(peer, BDeu(), frame, np.random.default_rng(replicate))
        ours, score, counted = Encoded(frame).seconds(climb, replicate)
        graphs, theirs = zip(
            *(peer.climb() for _ in range(2 if name == "pigs" else 3)), strict=True
        )
        times.append((ours, min(theirs), ours / counted * 1e6))
        scores.append((score, BDeu().score(graphs[-1], frame)))
    times = pd.DataFrame(times, columns=["ours", "pyAgrum", "microseconds_per_family"])
    scores = pd.DataFrame(scores, columns=["score", "pyAgrum_score"])
    gains = scores["score"] - scores["pyAgrum_score"]
    return {
        **medians(times, ratio=("pyAgrum", "ours")),
        **means(scores),
        "score_gain": round(float(gains.mean()), 3),
        "score_gain_error": round(float(gains.sem()), 3),
        "microseconds_per_histogram": round(histogram_floor(n_rows), 3),
    }


def measure_restarts(name, n_rows):
    """100 restarts with a tabu list, and the search over orders, beside one climb of pyAgrum."""
    times, scores = [], []
    for replicate in range(10):
        frame = shuffled(name, n_rows, replicate)
        encoded, peer = Encoded(frame), PyAgrum(frame)
        often, often_score, _ = encoded.seconds(climb_often, replicate, 3)
        ordered, ordered_score, _ = encoded.seconds(by_orders, replicate, 3)
        climbs = [(peer.climb(), peer.climb(tabu=True)) for _ in range(3)]
        theirs = np.min([[seconds for _, seconds in pair] for pair in climbs], axis=0)
        times.append((often, ordered, *theirs))
        scores.append((often_score, ordered_score, BDeu().score(climbs[-1][1][0], frame)))
    times = pd.DataFrame(times, columns=["restarts", "orders", "pyAgrum", "pyAgrum_tabu"])
    ratios = {f"{one}_to_pyAgrum": (one, "pyAgrum") for one in ("restarts", "orders")}
    scores = pd.DataFrame(scores, columns=["restarts_score", "orders_score", "pyAgrum_tabu_score"])
    return {**medians(times, **ratios), **means(scores)}


# The previous defaults; they do the same work as pyAgrum.
BY_BDEU = {"score": BDeu(), "structure_prior": None, "parameter_sample_size": 1}


def networks(learner, frames):
    """Learned networks with their tables, which are computed on access."""
    return learner.fit(frames).networks_


def measure_fit(name, n_rows):
    """From a DataFrame to a network with parameters, with pyAgrum's settings and the defaults."""
    lines = []
    for replicate in range(5):
        frame = shuffled(name, n_rows, replicate)
        plain = {"search": HillClimbing(restarts=0, tabu=0), "random_state": replicate}
        learners = (
            SingleTaskLearner(**plain, **BY_BDEU),
            SingleTaskLearner(**plain),
            SingleTaskLearner(random_state=replicate),
        )
        # In turns, so that a temporary slowdown of the machine affects all of them.
        times = [
            [*(timed(networks, learner, frame)[1] for learner in learners), PyAgrum(frame).fit()]
            for _ in range(5)
        ]
        lines.append(np.min(times, axis=0))
    columns = ["climb", "default_score_climb", "orders", "pyAgrum"]
    ratios = {
        "ratio": ("pyAgrum", "climb"),
        "default_score_ratio": ("pyAgrum", "default_score_climb"),
        "orders_ratio": ("pyAgrum", "orders"),
    }
    return medians(pd.DataFrame(lines, columns=columns), **ratios)


def measure_default(name, n_rows):
    """Learning together from data frames: defaults, separate tables and previous defaults."""
    separate = {"table_sharing": None}
    learners = {
        "default": lambda seed: MultitaskLearner(random_state=seed),
        "own": lambda seed: MultitaskLearner(**separate, random_state=seed),
        "folds": lambda seed: MultitaskLearnerCV(**separate, random_state=seed),
        "bdeu": lambda seed: MultitaskLearnerCV(**separate, **BY_BDEU, random_state=seed),
    }
    times = []
    for replicate in range(3):
        frames = related_frames(name, n_rows, replicate)
        times.append([timed(networks, made(replicate), frames)[1] for made in learners.values()])
    ratios = {f"{learner}_ratio": ("default", learner) for learner in ("own", "folds", "bdeu")}
    return medians(pd.DataFrame(times, columns=list(learners)), **ratios)


def related_frames(name, n_rows, replicate):
    """Rows of five related tasks, or cells of the nine conditions of Sachs."""
    if name == "Sachs":
        return sampled(discretize(data.load("sachs"), bins=3), n_rows, replicate)
    return Related(networks_of(name, replicate), n_rows, replicate).tasks


def measure_pgmpy(name, n_rows):
    """Hill climbing by pgmpy, run once."""
    frame = shuffled(name, n_rows, 0)
    peer = Pgmpy(frame)
    check_score(peer, BDeu(), frame, np.random.default_rng(0))
    ours, score, _ = Encoded(frame).seconds(climb, 0)
    graph, seconds = peer.climb()
    return {
        "ours": median(ours),
        "pgmpy": median(seconds),
        "ratio": median(seconds / ours),
        "score": round(score, 3),
        "pgmpy_score": round(BDeu().score(graph, frame), 3),
    }


def measure_threads(name, n_rows):
    """Five tasks learned together with one thread and with two."""
    tasks = [structures.load(name).sample(n_rows, random_state=seed) for seed in range(5)]
    settings = {**LEARNERS["J"], "random_state": 0}
    learners = [MultitaskLearner(PairedPrior(0.9), **settings, n_jobs=n) for n in (1, 2)]
    times = [[timed(learner.fit, tasks)[1] for learner in learners] for _ in range(3)]
    one, two = np.min(times, axis=0)
    return {"threads": [1, 2], "one": median(one), "two": median(two)}


START = """
import time
began = time.perf_counter()
import numpy, pandas, networkx, numba
libraries = time.perf_counter() - began
import bnmtl
package = time.perf_counter() - began
bnmtl.MultitaskLearner
learners = time.perf_counter() - began
from numba.core import event
rows = [bnmtl.structures.load("asia").sample(200, random_state=seed) for seed in range(3)]
began = time.perf_counter()
with event.install_recorder("numba:compile") as made, event.install_recorder(
    "numba:llvm_lock"
) as translated:
    for search in (bnmtl.Orders(), bnmtl.HillClimbing(restarts=1), bnmtl.Exact()):
        for prior in (bnmtl.PairedPrior(0.9), bnmtl.EditPrior(0.9)):
            bnmtl.MultitaskLearner(
                prior,
                score=bnmtl.BDeu(1.0),
                structure_prior=None,
                parameter_sample_size=1.0,
                search=search,
                random_state=0,
            ).fit(rows)
calls = time.perf_counter() - began
compiled = sum(one.is_end for _, one in made.buffer)
depth = llvm = 0
for at, one in translated.buffer:
    depth += 1 if one.is_start else -1
    llvm += (at if one.is_end else -at) * (depth == one.is_start)
print(libraries, package, learners, calls, compiled, llvm)
"""


def measure_start(*_):
    """Time of the first call with an empty cache, of the second process, and of the import."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        runs = []
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", START],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            runs.append([float(one) for one in done.stdout.split()])
    columns = ["libraries", "package", "learners", "calls", "compiled", "llvm"]
    runs = pd.DataFrame(runs, columns=columns)
    first = runs.iloc[0]
    return {
        "first_call": median(first["calls"]),
        "compiled": int(first["compiled"]),
        "llvm_share": median(first["llvm"] / first["calls"]),
        "second_process": median(runs["calls"][1:]),
        "import_libraries": median(runs["libraries"]),
        "import_with_bnmtl": median(runs["package"]),
        "import_with_learners": median(runs["learners"]),
        "import_ratio": median(runs["package"] / runs["libraries"]),
        "learners_ratio": median(runs["learners"] / runs["libraries"]),
    }


def measure_predict(name, n_rows):
    """Time of class probabilities from text, after a check that both packages agree.

    The variables have Markov blankets of different sizes.
    """
    frame = structures.load(name).sample(n_rows, random_state=0)
    ours_seconds, peers_seconds, error = [], [], 0.0
    for target in TARGETS:
        rows = frame.drop(columns=target).astype(str).astype(object)
        ours = BayesNetClassifier.from_network(structures.load(name), target)
        peer = PyAgrumClassifier(structures.path(name), target)
        order = [peer.classes.index(state) for state in ours.classes_]
        first = ours.predict_proba(rows[:1000])
        error = max(error, np.abs(first - peer.predict_proba(rows[:1000])[:, order]).max())
        # pyAgrum reads the tables of a file in single precision.
        if error > 1e-7:
            raise AssertionError(f"{target}: probabilities differ from pyAgrum's by {error}.")
        ours_seconds.append(fastest(2, ours.predict_proba, rows))
        peers_seconds.append(fastest(2, peer.predict_proba, rows))
    ratios = np.divide(peers_seconds, ours_seconds)
    return {
        "targets": len(TARGETS),
        "off": rounded(error, 2),
        "ours": median(ours_seconds),
        "pyAgrum": median(peers_seconds),
        "ratio": median(ratios),
        "least_ratio": rounded(ratios.min()),
    }


STUDIES = {
    "start": (measure_start, [("asia", 200)]),
    "climb": (measure_climb, CLIMBS),
    "restarts": (measure_restarts, [("alarm", 1000), ("insurance", 1000)]),
    "fit": (measure_fit, FITS),
    "default": (measure_default, [("Sachs", 100), ("ALARM", 1000)]),
    "families": (families.measure, families.CASES),
    "pgmpy": (measure_pgmpy, [("alarm", 1000)]),
    "threads": (measure_threads, [("alarm", 1000)]),
    "predict": (measure_predict, [("alarm", 100_000)]),
}


def plan(quick):
    """Cases: every network for every study."""
    if quick:
        return study.every([200], study=["threads"], network=["asia"])
    return [
        {"study": name, "network": network, "wanted": [n_rows]}
        for name, (_, cases) in STUDIES.items()
        for network, n_rows in cases
    ]


def measure(wanted, study, network):
    """One line per number of rows, with one thread unless the line says otherwise."""
    return {n_rows: {"threads": 1, **STUDIES[study][0](network, n_rows)} for n_rows in wanted}


if __name__ == "__main__":
    study.main(__spec__.name)
