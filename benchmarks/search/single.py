"""How close searches for one network come to the best known score.

Run `python -m benchmarks.search.single` in an environment with `pip install -e ".[bench]"` (about
half an hour on two cores).

The twenty seeds are five samples by four; each shuffles the columns and seeds the search. The best
known score of a sample is the best of all runs on it, including a climb from the true graph and a
search from 30 starts.
"""

import time

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.related import without_constant
from benchmarks.speed.peers import Pgmpy, by_pyagrum
from benchmarks.summary import markdown
from benchmarks.variants import THESIS
from bnmtl import BIC, BDeu, Exact, HillClimbing, Orders, SingleTaskLearner, structures
from bnmtl.metrics import edit_distance, shd

NAME = "search"
SETTINGS = ("network", "rows", "seed", "variant")
SEEDS = range(20)
SEEDS_PER_SAMPLE = 4
CASES = [
    *((name, n_rows) for name in ("alarm", "insurance") for n_rows in (250, 1000, 5000, 10000)),
    *((name, 1000) for name in ("asia", "sachs")),
    *(
        (name, n_rows)
        for name in ("child", "hailfinder", "hepar2", "win95pts", "andes")
        for n_rows in (1000, 5000)
    ),
]
SEARCHES = {
    "hill climbing": {"search": HillClimbing(restarts=0, tabu=0)},
    "100 restarts, tabu": {"search": HillClimbing(restarts=100)},
    "orders": {},
    "exact": {"search": Exact()},
}
# Variant -> score, and whether with a tabu list.
WITH_PEERS = {"pyAgrum": ("BDeu", False), "pyAgrum tabu": ("BDeu", True)}
# Cases in which graphs are also learned with other scores, to compare distances to the truth.
WITH_OTHERS = [
    *((name, n_rows) for name in ("alarm", "insurance") for n_rows in (1000, 10000)),
    ("andes", 1000),
]
PEERS_OTHERWISE = {f"pyAgrum {score}": (score, True) for score in ("BIC", "K2", "MIIC")}
OTHERWISE = ("orders, BIC", *PEERS_OTHERWISE)
PGMPY = [("asia", 1000), ("sachs", 1000), ("child", 1000)]
EXACT = ("asia", "sachs", "child")
# Run once per sample, only for the best known score.
ONCE = {
    "from the truth": {"search": HillClimbing(restarts=0)},
    "30 orders": {"search": Orders(starts=30, iterations=50)},
}


def variants(name, n_rows, seed):
    """The variants of a case for a seed."""
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
    """The sample of a seed, with columns in the order of the seed."""
    frame = structures.load(name).sample(n_rows, random_state=seed // SEEDS_PER_SAMPLE)
    return frame[list(np.random.default_rng(seed).permutation(frame.columns))]


def measure(wanted, network, rows, seed):
    """One line per search on a sample."""
    return {variant: line_of(network, rows, seed, variant) for variant in wanted}


def line_of(network, rows, seed, variant):
    """The line of one search on a sample."""
    truth, frame = structures.load(network).graph, rows_of(network, rows, seed)
    began = time.perf_counter()
    if variant.startswith("pyAgrum"):
        graph, seconds = by_pyagrum(frame, *(WITH_PEERS | PEERS_OTHERWISE)[variant])
    elif variant == Pgmpy.name:
        graph, seconds = Pgmpy(frame).climb()
    else:
        settings = {"score": BIC()} if variant == "orders, BIC" else {**SEARCHES, **ONCE}[variant]
        constant = frame.columns[frame.nunique() == 1]
        start = without_constant(truth, constant) if variant == "from the truth" else None
        parameters = {**THESIS, "start": start, **settings}
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
    """Cases: every seed for every network and number of rows."""
    return [
        {
            **{"network": name, "rows": n_rows, "seed": seed},
            "wanted": [*SEARCHES][:3] if quick else list(variants(name, n_rows, seed)),
        }
        for name, n_rows in ([("asia", 1000)] if quick else CASES)
        for seed in (range(1) if quick else SEEDS)
    ]


# Searches that maximize BDeu.
SHOWN = (*SEARCHES, *WITH_PEERS, Pgmpy.name)
# Titles of the top README -> variants.
COMPARED = {
    "bnmtl BDeu": "orders",
    "bnmtl BIC": "orders, BIC",
    **{name: name for name in PEERS_OTHERWISE},
    "pyAgrum BDeu": "pyAgrum tabu",
}


def tables(lines):
    """All tables, with one row per network and size and one column per search."""
    lines = gaps(lines)
    made = {
        "found": by_search(lines, _found),
        "distances": by_search(lines, _distance),
        "otherwise": otherwise(lines),
        "seconds": by_search(lines, lambda group: f"{group['seconds'].median():.3g}"),
    }
    return {name: markdown(table) for name, table in made.items()}


def gaps(lines):
    """The lines with their distance to the best known score of the sample."""
    lines = lines.assign(sample=lines["seed"] // SEEDS_PER_SAMPLE)
    best = lines.groupby(["network", "rows", "sample"])["score"].transform("max")
    lines = lines.assign(gap=best - lines["score"])
    return lines[~lines["variant"].isin(list(ONCE))]


def by_search(lines, cell, variants=SHOWN):
    """A table with one row per network and size and one column per search."""
    lines = lines[lines["variant"].isin(variants)]
    rows = []
    groups = {case: group for case, group in lines.groupby(["network", "rows"])}
    for name, n_rows in filter(groups.__contains__, CASES):
        group = groups[name, n_rows]
        row = {"network": name, "rows": f"{n_rows:,}"}
        for variant in variants:
            runs = group[group["variant"] == variant]
            row[variant] = cell(runs) if len(runs) else ""
        rows.append(row)
    return pd.DataFrame(rows)


def _found(runs):
    """Number of runs within 1 nat of the best known score, and the median distance below it."""
    return f"{(runs['gap'] < 1).sum()}/{len(runs)}, {runs['gap'].median():.1f}"


def otherwise(lines):
    """Mean distances to the true graph with other scores, beside those with BDeu."""
    keys = [lines["network"], lines["rows"]]
    known = lines["variant"].isin(OTHERWISE).groupby(keys).transform("any")
    table = by_search(lines[known], _distance, ("orders", "pyAgrum tabu", *OTHERWISE))
    return table.rename(columns={"orders": "orders, BDeu", "pyAgrum tabu": "pyAgrum BDeu"})


def _distance(runs):
    """Mean edit distance and SHD to the true graph."""
    return f"{runs['edits'].mean():.1f}, {runs['shd'].mean():.1f}"


def beside_pyagrum(lines, speed):
    """Speed of a climb, best scores found and distance to the truth, in short."""
    searches, rows = gaps(lines), []
    for line in speed[speed["study"] == "climb"].itertuples():
        here = searches.query("network == @line.network and rows == @line.rows")
        if not len(here):
            continue
        runs = {name: group for name, group in here.groupby("variant")}
        found = [runs[one]["gap"] for one in ("orders", "pyAgrum tabu")]
        row = {
            "network": line.network,
            "rows": f"{line.rows:,}",
            "a climb, times faster": f"{line.ratio:.0f}",
        }
        for name, gap in zip(("bnmtl", "pyAgrum"), found, strict=True):
            row[f"best known score, {name}"] = f"{(gap < 1).sum()} / {len(gap)}"
        for title, variant in COMPARED.items():
            if variant in runs:
                row[f"SHD, {title}"] = f"{runs[variant]['shd'].mean():.1f}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


if __name__ == "__main__":
    study.main(__spec__.name)
