"""Start graphs of learners, checked against the constraints of the tasks."""

import networkx as nx
import numpy as np

from bnmtl.errors import InputError
from bnmtl.graphs import adjacency, check_dag
from bnmtl.search.constraints import by_task, check_names


def start_matrices(tasks, constraints, start):
    """Adjacency matrices of start graphs over the variables of each task.

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
    InputTypeError, InputError
        For graphs that are not DAGs, violate the constraints or have unknown variables.
    """
    graphs, is_by_task = by_task(tasks, start, "start")
    for graph in graphs.values():
        if graph is not None:
            check_dag(graph, "start")
            check_names("start", map(str, graph), tasks.variables, "variable")
    if is_by_task and None in graphs.values():
        lacking = next(task for task, graph in graphs.items() if graph is None)
        raise InputError("start", "gives no graph", remedies="add one", task=lacking)
    return [
        _start_matrix(task, constraints[name], graphs[name], is_by_task)
        for name, task in tasks.items()
    ]


def _start_matrix(task, limits, graph, is_by_task):
    """A start graph as a matrix over the variables of a task, checked against its constraints."""
    graph = nx.relabel_nodes(graph, str)
    active = set(task.variables) - set(task.constant)
    if is_by_task:
        unknown = sorted({str(v) for arc in graph.edges for v in arc} - active)
        if unknown:
            rule = "has arcs of {variable}, which is not a variable with more than one state there"
            parts = {"task": task.name, "variable": unknown[0]}
            raise InputError("start", rule, remedies="remove them", **parts)
    cut = graph.subgraph(active)
    matrix = adjacency(cut, task.variables)
    wrong = np.argwhere((matrix & ~limits.permitted) | (limits.required & ~matrix))
    if len(wrong):
        parent, child = (task.variables[at] for at in wrong[0])
        rule = "must hold the required arcs and no forbidden one"
        found, remedy = "it does not for {parent!s} -> {child!s}", "correct the start graph"
        parts = {"task": task.name, "parent": parent, "child": child}
        raise InputError("start", rule, found=found, remedies=remedy, **parts)
    too_many = np.flatnonzero(matrix.sum(axis=0) > limits.max_parents)
    if len(too_many):
        rule = "gives {child} more parents than {max_parents} allows, {most}"
        parts = {"child": task.variables[too_many[0]], "most": limits.max_parents}
        raise InputError("start", rule, remedies="remove some", task=task.name, **parts)
    return matrix
