"""What is asked of the tasks' graphs, checked: structure priors, graphs to start from.

Constraints are read by `bnmtl.search.constraints`.
"""

import networkx as nx
import numpy as np

from bnmtl.errors import InputError, InputTypeError
from bnmtl.graphs import adjacency, check_dag
from bnmtl.learners.sparsity import AUTO
from bnmtl.search.constraints import by_task, check_names


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
            rule = "must be 'auto', None, an ArcPrior, a ReferencePrior or a mapping by task"
            raise InputTypeError("structure_prior", rule, prior)
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
    InputTypeError, InputError
        For what is not a DAG, does not suit the constraints or names what is not there.
    """
    graphs, own = by_task(tasks, start, "start")
    for graph in graphs.values():
        if graph is not None:
            check_dag(graph, "start")
            check_names("start", map(str, graph), tasks.variables, "variable")
    if own and None in graphs.values():
        lacking = next(task for task, graph in graphs.items() if graph is None)
        raise InputError("start", "gives no graph", remedies="add one", task=lacking)
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
            rule = "has arcs of {variable}, which is not a variable with more than one state there"
            parts = {"task": task.name, "variable": strange[0]}
            raise InputError("start", rule, remedies="remove them", **parts)
    cut = graph.subgraph(active)
    matrix = adjacency(cut, task.variables)
    wrong = np.argwhere((matrix & ~limits.permitted) | (limits.required & ~matrix))
    if len(wrong):
        parent, child = (task.variables[at] for at in wrong[0])
        rule = "must hold the required arcs and no forbidden one"
        found, remedy = "it does not for {parent!s} -> {child!s}", "mend the start graph"
        parts = {"task": task.name, "parent": parent, "child": child}
        raise InputError("start", rule, found=found, remedies=remedy, **parts)
    crowded = np.flatnonzero(matrix.sum(axis=0) > limits.max_parents)
    if len(crowded):
        rule = "gives {child} more parents than {max_parents} allows, {most}"
        parts = {"child": task.variables[crowded[0]], "most": limits.max_parents}
        raise InputError("start", rule, remedies="remove some", task=task.name, **parts)
    return matrix
