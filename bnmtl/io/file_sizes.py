"""Estimated sizes of network files, from graphs and data, before tables are computed."""

import math
from decimal import Decimal

import numpy as np

from bnmtl.errors import InputError

# Maximum size of all network files of a run together.
MOST_BYTES = 100_000_000
# A probability estimated from rows, with the separator.
_NUMBER = 21
# Sizes are floats, which end at 1e308.
_MOST_CONFIGURATIONS = 10**100


def check_file_sizes(graphs, tasks, remedy):
    """Raise InputError if the files would be too large to be useful.

    Parameters
    ----------
    graphs : mapping task -> networkx.DiGraph
    tasks : Tasks
    remedy : str
        Advice in the error.
    """
    sizes = {
        (name, child): size
        for name, graph in graphs.items()
        for child, size in file_bytes(graph, tasks[name]).items()
    }
    if sum(sizes.values()) <= MOST_BYTES:
        return
    name, child = max(sizes, key=sizes.get)
    graph, task = graphs[name], tasks[name]
    parents = list(graph.predecessors(child))
    cells = math.prod(len(_states(task, variable)) for variable in (child, *parents))
    raise InputError(
        rule="The networks' files must stay below {most:.0f} MB",
        found="they would have about {total!s} MB, and the largest table, of {child} given "
        "{parents:parent} in task {name}, has {cells!s} cells for {n:row}",
        remedies=remedy,
        most=MOST_BYTES / 1e6,
        total=_shown(sum(sizes.values()) / 1e6),
        child=child,
        parents=len(parents),
        name=name,
        cells=_shown(cells),
        n=task.n_rows,
    )


def check_required(learner, tasks):
    """Raise InputError if the required arcs alone make a network file too large.

    Parameters
    ----------
    learner : Learner
    tasks : Tasks
    """
    check_file_sizes(learner.required_graphs(tasks), tasks, "require fewer arcs into it")


def file_bytes(graph, task):
    """Approximate size in bytes of the table of each variable in a BIF file.

    Parameters
    ----------
    graph : networkx.DiGraph
        Over variables of the task.
    task : Task

    Returns
    -------
    dict variable -> float
    """
    return {child: _table_bytes(child, list(graph.predecessors(child)), task) for child in graph}


def _table_bytes(child, parents, task):
    n_states = len(_states(task, child))
    n_configurations = math.prod(len(_states(task, parent)) for parent in parents)
    n_configurations = min(n_configurations, _MOST_CONFIGURATIONS)
    # Configurations without rows have equal probabilities, which may be short.
    n_seen = min(n_configurations, task.n_rows)
    equal = len(repr(1 / n_states)) + 2
    labels = sum(np.mean([len(s) for s in _states(task, parent)]) + 2 for parent in parents)
    numbers = n_states * (n_seen * _NUMBER + (n_configurations - n_seen) * equal)
    return numbers + n_configurations * (labels + 6)


def _shown(number):
    """A number with commas, or in scientific notation."""
    return f"{number:,.0f}" if number < 10**15 else f"{Decimal(number):.1e}"


def _states(task, variable):
    return task.states[task.variables.index(variable)]
