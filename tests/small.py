"""Small related tasks and short searches, for tests of what learns many times."""

from functools import cache

import numpy as np
import pandas as pd

from bnmtl import BDeu, HillClimbing, problems

# A score that treats classes alike and a uniform prior, so that tests can compute both.
PLAIN = {"score": BDeu(), "structure_prior": None}
CLIMB = {"search": HillClimbing(restarts=0, tabu=0), "random_state": 0, **PLAIN}
# Learners of several tasks without groups of tasks that they find or tables that they share.
ONE_GROUP = {"table_sharing": None, "task_groups": None}


@cache
def _rows():
    network = problems.random_network(6, mean_degree=2.0, states=2, random_state=3)
    problem = problems.perturb(network, 4, n_edits=2, random_state=3)
    return problems.sample(problem, 150, random_state=0)


def related():
    """Four tasks over x1 ... x6, 150 rows each, no column constant or nearly so."""
    return {name: frame.copy() for name, frame in _rows().items()}


def partial():
    """The same where task2 lacks x1, and task3 lacks x1 and x6."""
    tasks = related()
    tasks["task2"] = tasks["task2"].drop(columns="x1")
    tasks["task3"] = tasks["task3"].drop(columns=["x1", "x6"])
    return tasks


def noise(n_rows, n_columns, seed=0):
    """Columns that depend on nothing."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.integers(0, 3, (n_rows, n_columns))).add_prefix("x")


def square(names, values):
    """A table of numbers, tasks by tasks."""
    labels = pd.Index(list(names), name="task")
    return pd.DataFrame(np.array(values, dtype=float), index=labels, columns=labels)


def arcs(configuration):
    """Sorted arcs by task."""
    return {task: sorted(graph.edges) for task, graph in configuration.items()}


def single_searches(events):
    """Names of the tasks of which a search for one task began, from the events of progress."""
    return sorted(one.task for one in events if one.stage == "single-task" and one.done == 0)


def rarely_varying():
    """Two tasks in which `b` differs in one row, so that without it the column is constant."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (40, 2)), columns=["a", "c"])
    rare = (np.arange(40) == 3).astype(int)
    return {"north": frame.assign(b=rare), "south": frame.assign(b=rng.permutation(rare))}


def variants(tasks):
    """The same tasks given in other orders: of columns, of rows, of the tasks themselves."""
    return {
        "columns": {name: frame[frame.columns[::-1]] for name, frame in tasks.items()},
        "rows": {name: frame.sample(frac=1, random_state=3) for name, frame in tasks.items()},
        "tasks": dict(reversed(tasks.items())),
    }
