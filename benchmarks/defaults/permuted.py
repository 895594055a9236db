"""False arcs in real tables whose columns are permuted within each task.

Run `python -m benchmarks.defaults.permuted` (an hour on two cores). Tables of packages are split by
one of their columns into tasks, numbers are discretized into eight bins that all tasks share, and
each column is permuted within each task: no arc is left, but columns are flat in some tasks and
steep in others. Tasks are learned together with shared tables, with and without concentrations of
their own, with separate tables, in groups that are found, and alone.
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd

from benchmarks import package_tables, study
from benchmarks.by_default import CommonConcentrations
from benchmarks.summary import by_trial, difference_text, markdown, mean_and_error, parts
from bnmtl import MultitaskLearner, SingleTaskLearner
from bnmtl.scores import CONCENTRATIONS

NAME = "permuted"
SETTINGS = ("table", "trial", "learner")
BINS = 8
MOST_ROWS = 300
MOST_COLUMNS = 30
FIXED = {
    "bins": BINS,
    "rows": MOST_ROWS,
    "columns": MOST_COLUMNS,
    "concentrations": list(CONCENTRATIONS),
}
N_TRIALS = 5
# Smaller tasks are left out, and the smallest beyond this number.
FEWEST_ROWS = 20
MOST_TASKS = 5
TABLES = (
    *("digits", "breast cancer", "wine", "bfi", "Crime", "diamonds", "midwest", "OFP", "pbc"),
    *("Tobacco",),
)
# By which other columns than the labels.
TASKS_OF = {"OFP": "region"}
LEARNERS = {
    "common concentrations": partial(CommonConcentrations, task_groups=None),
    "shared tables": partial(MultitaskLearner, task_groups=None),
    "own tables": partial(MultitaskLearner, table_sharing=None, task_groups=None),
    "groups found": MultitaskLearner,
    "alone": SingleTaskLearner,
}


def check_needs(cases, lines):
    """Raise ValueError if a package is missing."""
    package_tables.check_installed({case["table"] for case in cases})


def plan(quick, trials=None):
    """All cases, trial by trial."""
    if quick:
        return study.every(["shared tables"], table=["wine"], trial=[0])
    return study.every(LEARNERS, trial=range(trials or N_TRIALS), table=TABLES)


def permuted_tasks(name, trial):
    """Tasks of a table as frames with independent columns, by name."""
    rng = np.random.default_rng(trial)
    tasks = tasks_of(name, trial, rng)
    for task, rows in tasks.items():
        order = pd.DataFrame({column: rng.permutation(len(rows)) for column in rows})
        tasks[task] = rows.apply(lambda column, order=order: column.array[order[column.name]])
    return tasks


def tasks_of(name, trial, rng, bins=BINS):
    """Tasks of a table as frames of states by number, by name."""
    table = package_tables.read(name, target=TASKS_OF.get(name))
    columns = table.features.columns
    chosen = np.sort(rng.permutation(len(columns))[:MOST_COLUMNS])
    frame = table.features[columns[chosen]].apply(_cut, bins=bins)
    sizes = table.labels.value_counts().sort_index(kind="stable").nlargest(MOST_TASKS)
    tasks = {}
    for label in sizes[sizes >= FEWEST_ROWS].index:
        rows = frame[table.labels == label]
        tasks[str(label)] = rows.sample(min(len(rows), MOST_ROWS), random_state=trial)
    return tasks


def _cut(column, bins):
    """States of a column by number: bins with about as many rows each if it has many values."""
    if column.nunique() > bins:
        if pd.api.types.is_numeric_dtype(column):
            column = pd.qcut(column, bins, duplicates="drop")
        else:
            common = column.value_counts().index[: bins - 1]
            column = column.where(column.isin(common) | column.isna(), "other")
    return column.astype("category").cat.codes.astype("Int64").replace(-1, pd.NA)


def measure(table, trial, wanted):
    """One line per learner: arcs a task, all of which are false."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks = permuted_tasks(table, trial)
        found = {}
        for name in wanted:
            learner = LEARNERS[name](random_state=trial)
            learner.set_params(missing="state").fit(tasks)
            arcs = [graph.number_of_edges() for graph in learner.configuration_.values()]
            found[name] = {
                "false_arcs": round(float(np.mean(arcs)), 6),
                "tasks": len(arcs),
                "variables": len(learner.tasks_.variables),
            }
    return found


def tables(lines):
    """False arcs a task by table and learner, and what concentrations of their own change."""
    return {"permuted": markdown(_compared(lines))}


def _compared(lines):
    for case, group in parts(lines, table=TABLES):
        yield _row(case["table"], group)
    # The trials of all tables together.
    whole = lines.assign(trial=lines["table"] + lines["trial"].astype(str))
    yield _row("all", whole)


def _row(table, group):
    arcs = by_trial(group, "learner", "false_arcs")
    row = {"table": table, "trials": len(arcs)}
    if table == "all":
        row |= {"tasks": "", "variables": ""}
    else:
        row |= {"tasks": group["tasks"].iloc[0], "variables": group["variables"].iloc[0]}
    for name in LEARNERS:
        row[name] = mean_and_error(arcs[name]) if name in arcs else ""
    if {"shared tables", "common concentrations"} <= set(arcs):
        row["own less common"] = difference_text(
            arcs["shared tables"], arcs["common concentrations"]
        )
    return row


if __name__ == "__main__":
    study.main(__spec__.name)
