"""What is told of each learned arc: strength, whether it is compelled, who has it, its sign."""

import numpy as np
import pandas as pd

from bnmtl.graphs import compelled_arcs, sharing
from bnmtl.tasks.association import signed_association

__all__ = ["arc_table"]


def arc_table(configuration, tasks, bound):
    """One row per arc and task.

    Parameters
    ----------
    configuration : Configuration
    tasks : Tasks
        The rows.
    bound : BoundTasks
        A score on these rows.

    Returns
    -------
    pandas.DataFrame
        Columns from, to, task, strength (nats that the task's own score loses without the arc),
        compelled (directed in the task's CPDAG), n_tasks with the arc, n_tasks_possible that could
        have it: both variables are there and not constant; tau_b (Kendall's, of the two columns:
        above 0 if both rise together; nan where it is within one standard error of 0 or the states
        of a variable have no order); sorted by from, to and task.
    """
    rows = []
    for at, (name, task) in enumerate(tasks.items()):
        graph, scores = configuration[name], bound.of(at)
        compelled = compelled_arcs(graph)
        index = {variable: at for at, variable in enumerate(task.variables)}
        for child, parents in graph.pred.items():
            if parents:
                gains = scores.gains(index[child], sorted(index[one] for one in parents))
            for parent in parents:
                strength = -gains[index[parent]]
                is_compelled = (parent, child) in compelled
                rows.append((parent, child, at, name, strength, is_compelled))
    rows.sort()
    parents, children, _, names, strengths, compelled = (
        zip(*rows, strict=True) if rows else [()] * 6
    )
    counts = sharing(configuration)
    shared = [counts[arc] for arc in zip(parents, children, strict=True)]
    ends = zip(names, parents, children, strict=True)
    signs = [signed_association(tasks[name], parent, child) for name, parent, child in ends]
    return pd.DataFrame(
        {
            "from": list(parents),
            "to": list(children),
            "task": list(names),
            "strength": np.array(strengths, dtype=float),
            "compelled": np.array(compelled, dtype=bool),
            "n_tasks": np.array([own.n_tasks for own in shared], dtype=int),
            "n_tasks_possible": np.array([own.n_possible for own in shared], dtype=int),
            "tau_b": np.array(signs, dtype=float),
        }
    )
