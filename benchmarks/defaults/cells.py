"""The largest family: cells per row of a task, or per row of all tasks that share tables.

Run `python -m benchmarks.defaults.cells --data FOLDER` (an hour on two cores). Learns five related
tasks of networks with large tables, alone and together with shared tables, with limits on the
number of cells of a family: ten per row of the task, and 5 to 40 per row of all tasks. The default
is ten per row of all tasks. Columns without arcs are in `permuted` and `no_structure`.
"""

import time

import numpy as np

from benchmarks import study
from benchmarks.data_folder import data_folder
from benchmarks.related import Related, networks_of
from benchmarks.summary import by_trial, markdown, mean_and_error, parts
from bnmtl import BayesNet, MultitaskLearner, SingleTaskLearner, problems
from bnmtl.metrics import edit_distance
from bnmtl.scores import CONCENTRATIONS
from bnmtl.search import Limits

NAME = "cells"
SETTINGS = ("problem", "rows", "trial", "variant")
FIXED = {"concentrations": list(CONCENTRATIONS)}
TAKES_DATA = True
JOBS = 1
N_TASKS, N_TRIALS = 5, 3
MILDEW = "networks/mildew.bif.gz"
PROBLEMS = (("MILDEW", 500), ("HAILFINDER", 250))
# Cells per row of all tasks; None is per row of one task.
VARIANTS = {
    "alone": None,
    "10 per row of the task": 10 / N_TASKS,
    **{f"{cells} per row of all": cells for cells in (5, 10, 20, 40)},
}


def check_needs(cases, lines):
    """Raise ValueError if the data are missing."""
    if any(case["problem"] == "MILDEW" for case in cases):
        _folder()


def _folder():
    return data_folder("networks of the literature", [MILDEW])


def plan(quick, trials=None):
    """All cases, trial by trial."""
    if quick:
        return study.every(["10 per row of all"], problem=["ASIA"], rows=[20], trial=[0])
    found = []
    for problem, rows in PROBLEMS:
        trial = range(trials or N_TRIALS)
        found += study.every(VARIANTS, problem=[problem], rows=[rows], trial=trial)
    return sorted(found, key=lambda case: case["trial"])


def measure(problem, rows, trial, wanted):
    """One line per variant: mean edits and divergence of the five tasks, and processor time."""
    if problem == "MILDEW":
        network = BayesNet.from_bif(_folder() / MILDEW)
        networks = problems.deletion(network, N_TASKS, random_state=trial)
    else:
        networks = networks_of(problem, trial)
    related = Related(networks, rows, trial)
    found = {}
    for variant in wanted:
        cells = VARIANTS[variant]
        limits = None if cells is None else Limits(max_cells=int(cells * N_TASKS * rows))
        how = {"limits": limits, "random_state": trial}
        learner = SingleTaskLearner(**how)
        if variant != "alone":
            learner = MultitaskLearner(task_groups=None, **how)
        began = time.process_time()
        fitted = learner.fit(related.tasks)
        seconds = time.process_time() - began
        graphs = fitted.configuration_.items()
        edits = [edit_distance(networks[name].graph, graph) for name, graph in graphs]
        found[variant] = {
            "edits": round(float(np.mean(edits)), 6),
            "kl": round(float(np.mean(related.divergences(fitted.networks_))), 6),
            "seconds": round(seconds, 3),
        }
    return found


def tables(lines):
    """Edits, divergence and time by limit."""
    return {"cells": markdown(_compared(lines))}


def _compared(lines):
    for case, group in parts(lines, problem=dict(PROBLEMS), rows=sorted(set(lines["rows"]))):
        values = {key: by_trial(group, "variant", key) for key in ("edits", "kl", "seconds")}
        default = values["seconds"].get("10 per row of the task")
        for variant in VARIANTS:
            if variant not in values["edits"]:
                continue
            row = {
                **case,
                "largest family": variant,
                "trials": int(values["edits"][variant].count()),
            }
            row |= {key: mean_and_error(values[key][variant]) for key in ("edits", "kl")}
            if default is not None:
                ratio = (values["seconds"][variant] / default).median()
                row["time, median ratio"] = f"{ratio:.2f}"
            yield row


if __name__ == "__main__":
    study.main(__spec__.name)
