"""How well networks learned from few cells per condition predict other cells (Sachs).

Run `python -m benchmarks.defaults.sachs` (about ten minutes on two cores).
"""

import functools
import time

import numpy as np

from benchmarks import by_default, study
from benchmarks.related import mean_arcs
from benchmarks.summary import has, markdown
from benchmarks.thesis import alone
from benchmarks.thesis.pool import held_out_of
from benchmarks.variants import SAMPLE_SIZE, learner_of
from bnmtl import data
from bnmtl.networks import fit_networks
from bnmtl.tasks import discretize, encode

NAME = "sachs"
SETTINGS = ("rows", "trial", "learner")
# One case at a time, because seconds are measured.
JOBS = 1
SIZES = (25, 50, 100, 200)
LEARNERS = {
    "each condition alone": "single S",
    "all rows pooled": "pooled S",
    "one structure for all": "identical S",
    "together (multitask)": "multitask folds",
}
# Share of rows held out to choose the arc probability, for example five of 25.
SHARE = 0.2
# Graphs that share nothing.
ALONE = {
    "no arcs at all": lambda tasks, seed: alone.empty(tasks),
    "alone, BIC": alone.by_bic,
    "alone, sparse": lambda tasks, seed: alone.sparse(tasks, seed, SHARE)[0],
}
# These graphs with default tables, separate or shared.
SHARED_TABLES = "no arcs, tables shared"
SMOOTHED = {
    "no arcs, default tables": "no arcs at all",
    "alone, BIC, default tables": "alone, BIC",
    SHARED_TABLES: "no arcs at all",
}
# Columns of the tables; all but the first show differences from the first.
THESIS_COLUMNS = {
    "no arcs at all": "no arcs at all",
    "each condition alone": "alone, BDeu",
    **{name: name for name in ("alone, BIC", "alone, sparse")},
    **{name: name for name in LEARNERS if name != "each condition alone"},
}
DEFAULT_COLUMNS = {
    "no arcs, default tables": "no arcs at all",
    SHARED_TABLES: SHARED_TABLES,
    "alone, BIC, default tables": "alone, BIC",
    "alone, defaults": "alone",
    "pooled, defaults": "all rows pooled",
    "one structure, defaults": "one structure, own tables",
    "together, defaults": "together, own tables",
    "one structure, tables shared": "one structure, tables shared",
    "together, tables shared": "one group, tables shared",
    "groups found, tables shared": "together, tables shared",
}
KINDS = (*THESIS_COLUMNS, *DEFAULT_COLUMNS)


def split(tasks, n_rows, trial):
    """The same number of training rows for every condition, and all other rows."""
    train, test = {}, {}
    for at, (name, task) in enumerate(tasks.items()):
        order = np.random.default_rng([trial, n_rows, at]).permutation(task.n_rows)
        train[name], test[name] = order[:n_rows], order[n_rows:]
    return tasks.take(train), tasks.take(test)


def plan(quick, trials=10):
    """Cases: every number of rows in every trial."""
    wanted, n_trials, sizes = (ALONE, 1, SIZES[:1]) if quick else (KINDS, trials, SIZES)
    return study.every(wanted, trial=range(n_trials), rows=sizes)


@functools.cache
def cells():
    """All conditions, with three states per protein."""
    return encode(discretize(data.load("sachs"), bins=3))


def measure(wanted, rows, trial):
    """One line per learner."""
    return {kind: line_of(cells(), rows, trial, kind) for kind in wanted}


def line_of(tasks, n_rows, trial, kind):
    """Mean held-out nats per row over conditions, and properties of the graphs."""
    train, test = split(tasks, n_rows, trial)
    began = time.perf_counter()
    if kind in ALONE or kind in SMOOTHED:
        learner, graphs = None, ALONE[SMOOTHED.get(kind, kind)](train, trial)
        seconds = time.perf_counter() - began
        scorers = held_out_of(train, test, "auto" if kind in SMOOTHED else SAMPLE_SIZE)
        held_out = [scorers[name].mean(graph) for name, graph in graphs.items()]
        if kind == SHARED_TABLES:
            networks = fit_networks(graphs, train)
            held_out = [networks[t].log_likelihood(task).mean() for t, task in test.items()]
    else:
        if kind in LEARNERS:
            learner = learner_of(LEARNERS[kind], trial)
        else:
            learner = by_default.LEARNERS[kind](trial)
        learner.fit(train)
        seconds = time.perf_counter() - began
        graphs = learner.configuration_
        held_out = [learner.networks_[t].log_likelihood(task).mean() for t, task in test.items()]
    return {
        "held_out": round(float(np.mean(held_out)), 6),
        "arcs": mean_arcs(graphs),
        "penalty": getattr(learner, "penalty_", None),
        "seconds": round(seconds, 3),
    }


def tables(lines):
    """The defaults, and BDeu with a uniform prior over graphs."""
    return {
        "sachs": _table(
            lines, DEFAULT_COLUMNS, "groups found, tables shared", "alone, BIC, default tables"
        ),
        "sachs_thesis": _table(lines, THESIS_COLUMNS, "together (multitask)", "alone, BIC"),
    }


def _table(lines, columns, together, baseline):
    """Held-out nats per row without arcs; mean and standard error of the gains of the others."""
    wide = lines.pivot(index=["rows", "trial"], columns="learner", values="held_out")
    wide = wide[[name for name in columns if name in wide]]
    if not len(wide.columns):
        return "Not measured yet."
    base, *others = wide
    gains = wide[others].sub(wide[base], axis=0).rename(columns=columns)
    if has(wide, together, baseline):
        gains[f"together less {columns[baseline]}"] = wide[together] - wide[baseline]
    groups = gains.groupby("rows")
    texts = groups.mean().map("{:+.2f} ± ".format) + groups.sem().map("{:.2f}".format)
    means = wide[base].groupby("rows").mean().map("{:.2f}".format)
    texts.insert(0, columns[base], means)
    return markdown(texts.rename_axis("rows per condition").reset_index())


if __name__ == "__main__":
    study.main(__spec__.name)
