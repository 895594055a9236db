"""Shared tables with and without concentrations of their own for parts of the tasks.

Run `python -m benchmarks.defaults.part_concentrations` (an hour on two cores). Learns five related
tasks together: of three networks; of two networks whose tables are steep in some tasks and flat in
others; and of twelve independent columns of eight states, steep in some tasks and flat in others,
where every arc is false. Permuted columns of real tables are in `permuted`.
"""

import time
from functools import partial

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.by_default import CommonConcentrations
from benchmarks.related import Related, networks_of
from benchmarks.summary import by_trial, difference_text, markdown, mean_and_error, parts
from bnmtl import MultitaskLearner, problems
from bnmtl.metrics import edit_distance
from bnmtl.scores import CONCENTRATIONS, PART_CONCENTRATION
from bnmtl.tasks import encode

NAME = "part_concentrations"
SETTINGS = ("problem", "rows", "trial", "learner")
FIXED = {"concentrations": list(CONCENTRATIONS), "own": PART_CONCENTRATION}
N_TRIALS = 6
# Of the Dirichlet distribution that tables of a task are drawn from: nearly flat to steep.
STEEPNESS = (20.0, 3.0, 1.0, 0.3, 0.1)
COLUMNS = "independent columns"
N_COLUMNS, N_STATES = 12, 8
PROBLEMS = (
    "ALARM",
    "INSURANCE",
    "CHILD",
    "CHILD, steep or flat",
    "INSURANCE, steep or flat",
    COLUMNS,
)
ROWS = (250, 1000)
LEARNERS = {
    "common": partial(CommonConcentrations, task_groups=None),
    "own": partial(MultitaskLearner, task_groups=None),
}


def plan(quick, trials=None):
    """All cases, trial by trial."""
    if quick:
        return study.every(["own"], problem=[COLUMNS], rows=[50], trial=[0])
    trial = range(trials or N_TRIALS)
    return study.every(LEARNERS, trial=trial, problem=PROBLEMS, rows=ROWS)


def measure(problem, rows, trial, wanted):
    """One line per learner: mean edits over the five tasks, and processor time."""
    if problem == COLUMNS:
        tasks, true = encode(independent_columns(rows, trial)), None
    else:
        true = _networks(problem, trial)
        tasks = Related(true, rows, trial).tasks
    # The first fits of a process load kernels.
    few = {name: task.frame().head(20) for name, task in tasks.items()}
    for name in wanted:
        LEARNERS[name](random_state=0, missing="state").fit(few)
    found = {}
    for name in wanted:
        began = time.process_time()
        graphs = LEARNERS[name](random_state=trial).fit(tasks).configuration_
        seconds = time.process_time() - began
        edits = [
            graph.number_of_edges() if true is None else edit_distance(true[task].graph, graph)
            for task, graph in graphs.items()
        ]
        found[name] = {"edits": round(float(np.mean(edits)), 6), "seconds": round(seconds, 3)}
    return found


def _networks(problem, trial):
    name, _, steepness = problem.partition(", ")
    if not steepness:
        return networks_of(name, trial)
    networks = {}
    for at, concentration in enumerate(STEEPNESS):
        options = {"parameters": "independent", "concentration": concentration}
        made = problems.deletion(name.lower(), len(STEEPNESS), random_state=trial, **options)
        task = list(made)[at]
        networks[task] = made[task]
    return networks


def independent_columns(n_rows, seed):
    """Frames of independent columns whose distributions are flat in some tasks and steep in others.

    Returns
    -------
    dict of pandas.DataFrame
    """
    rng = np.random.default_rng(seed)
    frames = {}
    for at, concentration in enumerate(STEEPNESS):
        chances = rng.dirichlet(np.full(N_STATES, concentration), N_COLUMNS)
        columns = {
            f"x{column:02d}": pd.Categorical.from_codes(
                rng.choice(N_STATES, n_rows, p=chance), [f"s{state}" for state in range(N_STATES)]
            )
            for column, chance in enumerate(chances)
        }
        frames[f"task{at + 1}"] = pd.DataFrame(columns)
    return frames


def tables(lines):
    """Edits with both scores, their difference, and the ratio of times."""
    return {"part_concentrations": markdown(_compared(lines))}


def _compared(lines):
    for case, group in parts(lines, problem=PROBLEMS, rows=ROWS):
        edits, seconds = (by_trial(group, "learner", name) for name in ("edits", "seconds"))
        if not set(LEARNERS) <= set(edits):
            continue
        yield {
            **case,
            "trials": len(edits),
            "edits, common": mean_and_error(edits["common"]),
            "edits, own": mean_and_error(edits["own"]),
            "difference": difference_text(edits["own"], edits["common"]),
            "time, median ratio": f"{(seconds['own'] / seconds['common']).median():.2f}",
        }


if __name__ == "__main__":
    study.main(__spec__.name)
