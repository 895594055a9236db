"""What is asked of the tasks' graphs, checked: known names, structure priors, graphs to start from.

Constraints are read by `bnmtl.search.constraints`.
"""

import networkx as nx
import numpy as np

from bnmtl.graphs import adjacency, check_dag
from bnmtl.learners.sparsity import AUTO
from bnmtl.search.constraints import by_task

__all__ = ["check_names", "start_matrices", "structure_priors"]


def check_names(argument, names, known, kind):
    """Raise ValueError for a name that no task has."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(
            f"`{argument}` names the {kind} {unknown[0]!r}, which is not there; the {kind}s are "
            f"{', '.join(known)}."
        )


def structure_priors(tasks, value, automatic):
    """The structure prior of every task, by name, from one for all or a mapping by task.

    Parameters
    ----------
    tasks : Tasks
    value : "auto", structure prior, mapping of these by task, or None
    automatic : mapping task -> structure prior or None
        What "auto" stands for.

    Returns
    -------
    dict task -> structure prior or None
    """
    priors, _ = by_task(tasks, value, "structure_prior")
    for name, prior in priors.items():
        if isinstance(prior, str) and prior == AUTO:
            priors[name] = prior = automatic[name]
        if prior is not None and (isinstance(prior, type) or not hasattr(prior, "arc_terms")):
            raise TypeError(
                '`structure_prior` must be "auto", an ArcPrior, a ReferencePrior, a mapping of '
                f"them by task or None, got {prior!r}."
            )
        if prior is not None:
            check_names("structure_prior", prior.names(), tasks.variables, "variable")
    return priors


def start_matrices(tasks, constraints, start):
    """Adjacency matrices of start graphs over each task's variables.

    Parameters
    ----------
    tasks : Tasks
    constraints : mapping name -> Constraints
    start : networkx.DiGraph or mapping task -> networkx.DiGraph

    Returns
    -------
    list of bool array

    Raises
    ------
    TypeError, ValueError
        For what is no DAG, does not suit the constraints or names what is not there.
    """
    graphs, own = by_task(tasks, start, "start")
    for graph in graphs.values():
        if graph is not None:
            check_dag(graph, "start")
            check_names("start", map(str, graph), tasks.variables, "variable")
    if own and None in graphs.values():
        lacking = next(task for task, graph in graphs.items() if graph is None)
        raise ValueError(f"`start` gives no graph for the task `{lacking}`; add one.")
    return [
        _start_matrix(task, constraints[name], graphs[name], own) for name, task in tasks.items()
    ]


def _start_matrix(task, limits, graph, own):
    """One start graph as a matrix over the task's variables, checked against its constraints."""
    graph = nx.relabel_nodes(graph, str)
    active = set(task.variables) - set(task.constant)
    if own:
        strange = sorted({str(v) for arc in graph.edges for v in arc} - active)
        if strange:
            raise ValueError(
                f"Task `{task.name}`: `start` has arcs of {strange[0]!r}, which is no variable "
                "with more than one state there; remove them."
            )
    cut = graph.subgraph(active)
    matrix = adjacency(cut, task.variables)
    wrong = np.argwhere((matrix & ~limits.permitted) | (limits.required & ~matrix))
    if len(wrong):
        parent, child = (task.variables[at] for at in wrong[0])
        raise ValueError(
            f"Task `{task.name}`: `start` must hold the required arcs and no forbidden one, but "
            f"does not for {parent} -> {child}; mend the start graph."
        )
    crowded = np.flatnonzero(matrix.sum(axis=0) > limits.max_parents)
    if len(crowded):
        raise ValueError(
            f"Task `{task.name}`: `start` gives {task.variables[crowded[0]]} more parents "
            f"than `max_parents`={limits.max_parents}; remove some."
        )
    return matrix
