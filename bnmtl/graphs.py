"""DAG algorithms: adjacency matrices, skeletons, CPDAGs, and one graph per task (`Configuration`).

Graphs in the public interface are `networkx.DiGraph`; a CPDAG is a DiGraph that contains both arcs
of a reversible edge and one arc for a compelled edge.
"""

from collections.abc import Hashable
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.wording import count, listed, type_of


class Configuration(dict):
    """One graph per task: a dict from task name to `networkx.DiGraph`, in canonical task order.

    Examples
    --------
    >>> import networkx as nx
    >>> north = nx.DiGraph([("rain", "wet"), ("wet", "frogs")])
    >>> south = nx.DiGraph([("rain", "wet")])
    >>> Configuration(north=north, south=south)
    Configuration(north: 2 arcs, south: 1 arc)
    >>> Configuration(north=north, south=south).to_frame().reset_index()
       from     to  north  south
    0  rain    wet   True   True
    1   wet  frogs   True   <NA>
    """

    def to_frame(self):
        """Return a table of arcs by task.

        Returns
        -------
        pandas.DataFrame
            One row per arc in any task, indexed by (from, to) in sorted order, and one column per
            task of the nullable dtype "boolean": True or False if the arc is possible in the task,
            missing if one of the variables is missing or constant there.

        Examples
        --------
        >>> import networkx as nx
        >>> north, south = nx.DiGraph([("rain", "wet")]), nx.DiGraph([("wet", "rain")])
        >>> Configuration(north=north, south=south).to_frame().sum().to_dict()
        {'north': 1, 'south': 1}
        """
        arcs = sorted({arc for graph in self.values() for arc in graph.edges})
        index = pd.MultiIndex.from_tuples(arcs, names=["from", "to"])
        columns = {
            task: pd.array(
                [graph.has_edge(*arc) if could_have(graph, *arc) else pd.NA for arc in arcs],
                dtype="boolean",
            )
            for task, graph in self.items()
        }
        return pd.DataFrame(columns, index=index)

    def __repr__(self):
        sizes = (f"{task}: {count(len(graph.edges), 'arc')}" for task, graph in self.items())
        return f"Configuration({', '.join(sizes)})"


def takes_part(graph, variable):
    """Whether a variable can have arcs in the graph of a task: it exists and is not constant.

    In learned graphs the node attribute ``constant`` marks variables with only one observed state.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.DiGraph([("rain", "wet")])
    >>> graph.add_node("snow", constant=True)
    >>> [takes_part(graph, variable) for variable in ("rain", "snow", "hail")]
    [True, False, False]
    """
    return variable in graph and not graph.nodes[variable].get("constant", False)


def both_take_part(graph, first, second):
    """Whether two variables can have an arc in either direction in the graph of a task."""
    return takes_part(graph, first) and takes_part(graph, second)


def could_have(graph, tail, head):
    """Whether an arc is possible in the graph of a task."""
    return graph.has_edge(tail, head) or both_take_part(graph, tail, head)


class Sharing(NamedTuple):
    """Number of tasks with an arc, and number of tasks in which it is possible.

    Examples
    --------
    >>> [Sharing(*counts).kind for counts in [(3, 3), (2, 3), (1, 3), (1, 1)]]
    ['all', 'some', 'one', 'sole']
    """

    n_tasks: int
    n_possible: int

    @property
    def kind(self):
        """Return "all", "some" or "one" of the tasks in which the arc is possible, or "sole".

        "sole" is an arc possible in only one task, so it cannot be shared.
        """
        if self.n_possible == 1:
            return "sole"
        if self.n_tasks == self.n_possible:
            return "all"
        return "one" if self.n_tasks == 1 else "some"


def sharing(configuration):
    """Count the tasks with each arc and the tasks in which it is possible.

    An arc is possible in a task if both variables exist and vary there.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph

    Returns
    -------
    dict
        (parent, child) -> `Sharing`, in sorted order.

    Examples
    --------
    >>> import networkx as nx
    >>> north = nx.DiGraph([("rain", "wet"), ("wet", "frogs")])
    >>> south = nx.DiGraph([("rain", "wet")])
    >>> sharing({"north": north, "south": south})  # doctest: +NORMALIZE_WHITESPACE
    {('rain', 'wet'): Sharing(n_tasks=2, n_possible=2),
     ('wet', 'frogs'): Sharing(n_tasks=1, n_possible=1)}
    """
    graphs = list(configuration.values())
    return {
        (a, b): Sharing(
            sum(graph.has_edge(a, b) for graph in graphs),
            sum(could_have(graph, a, b) for graph in graphs),
        )
        for a, b in sorted({arc for graph in graphs for arc in graph.edges})
    }


def groups_by_label(task_groups):
    """The tasks of each group of a mapping task -> label, in the order of their first tasks.

    Raises
    ------
    InputTypeError
        If a label is not hashable.

    Examples
    --------
    >>> groups_by_label({"north": 1, "west": 2, "south": 1})
    [['north', 'south'], ['west']]
    """
    groups = {}
    for name, label in task_groups.items():
        if not isinstance(label, Hashable):
            message = f"must have hashable labels, such as text or numbers, got {label!r}"
            raise InputTypeError(message, argument="task_groups", task=str(name))
        groups.setdefault(label, []).append(name)
    return list(groups.values())


def sharing_in_groups(configuration, groups):
    """Count, for the arcs of each task, the tasks of its group with the arc or able to have it.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph
    groups : iterable of lists of str
        The tasks of each group; each task is in one of them.

    Returns
    -------
    dict
        task -> the result of `sharing` for its group, in the order of the configuration.

    Examples
    --------
    >>> import networkx as nx
    >>> north, west = nx.DiGraph([("rain", "wet")]), nx.DiGraph([("rain", "wet")])
    >>> counts = sharing_in_groups({"north": north, "west": west}, [["north"], ["west"]])
    >>> counts["north"]
    {('rain', 'wet'): Sharing(n_tasks=1, n_possible=1)}
    """
    found = dict.fromkeys(configuration)
    for group in groups:
        counts = sharing({name: configuration[name] for name in group})
        found.update(dict.fromkeys(group, counts))
    return found


def adjacency(graph, variables):
    """Return the adjacency matrix of a graph.

    Parameters
    ----------
    graph : networkx.DiGraph
        Its nodes are among `variables`; a variable that is not a node has no arcs.
    variables : sequence of str
        The order of rows and columns.

    Returns
    -------
    numpy.ndarray of bool, shape (n_variables, n_variables)
        Entry [i, j] is True for the arc variables[i] -> variables[j].

    Raises
    ------
    InputError
        If a variable is listed twice or a node of the graph is not listed.

    Examples
    --------
    >>> import networkx as nx
    >>> adjacency(nx.DiGraph([("a", "b")]), ["a", "b"]).astype(int)
    array([[0, 1],
           [0, 0]])
    """
    position = {variable: i for i, variable in enumerate(variables)}
    if len(position) != len(variables):
        repeated = next(v for i, v in enumerate(variables) if position[v] != i)
        raise InputError(f"must be different; {repeated!r} is repeated", argument="variables")
    unknown = [node for node in graph if node not in position]
    if unknown:
        message = f"must hold only listed variables; {listed(unknown)} is not listed"
        raise InputError(message, argument="graph")
    matrix = np.zeros((len(position), len(position)), dtype=bool)
    for tail, head in graph.edges:
        matrix[position[tail], position[head]] = True
    return matrix


def from_adjacency(matrix, variables):
    """Return the graph of an adjacency matrix.

    Parameters
    ----------
    matrix : array_like, shape (n_variables, n_variables)
        Entry [i, j] is true for the arc variables[i] -> variables[j].
    variables : sequence of str
        The names of rows and columns.

    Returns
    -------
    networkx.DiGraph
        Nodes in the order of `variables`, arcs in the order of rows and columns.

    Raises
    ------
    InputError
        If the matrix does not have one row and one column per variable.

    Examples
    --------
    >>> list(from_adjacency([[0, 1], [0, 0]], ["a", "b"]).edges)
    [('a', 'b')]
    """
    matrix = np.asarray(matrix, dtype=bool)
    n_variables = len(variables)
    if matrix.shape != (n_variables, n_variables):
        rule = f"must have one row and one column per variable, {n_variables} x {n_variables}"
        raise InputError(f"{rule}; its shape is {matrix.shape}", argument="matrix")
    graph = nx.DiGraph()
    graph.add_nodes_from(variables)
    graph.add_edges_from((variables[i], variables[j]) for i, j in np.argwhere(matrix).tolist())
    return graph


def learned_graph(task, matrix):
    """The graph of a task, with its constant variables marked as in `takes_part`."""
    graph = from_adjacency(matrix, task.variables)
    for variable in task.constant:
        graph.nodes[variable]["constant"] = True
    return graph


def graphs_by_task(tasks, matrices):
    """Return {task name: graph} from the adjacency matrices of tasks, in their order."""
    pairs = zip(tasks.items(), matrices, strict=True)
    return {name: from_adjacency(matrix, task.variables) for (name, task), matrix in pairs}


def check_dag(graph, name):
    """Raise unless a graph is a directed acyclic graph.

    Parameters
    ----------
    graph : object
        The given object.
    name : str
        The name of the argument, for the message.

    Raises
    ------
    InputTypeError
        If it is not a `networkx.DiGraph`, or one with parallel arcs.
    InputError
        If it has a cycle, which the message names.

    Examples
    --------
    >>> import networkx as nx
    >>> check_dag(nx.DiGraph([("a", "b"), ("b", "a")]), "graph")
    Traceback (most recent call last):
    bnmtl.errors.InputError: `graph` must be acyclic; it holds the cycle a -> b -> a.
    """
    if not isinstance(graph, nx.DiGraph) or graph.is_multigraph():
        raise InputTypeError(f"must be a networkx.DiGraph, got {type_of(graph)}", argument=name)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [tail for tail, _ in nx.find_cycle(graph)]
        path = " -> ".join(str(node) for node in [*cycle, cycle[0]])
        raise InputError(f"must be acyclic; it holds the cycle {path}", argument=name)


def skeleton(graph):
    """Return the undirected graph that joins the same pairs of variables.

    Parameters
    ----------
    graph : networkx.DiGraph
        A DAG or a CPDAG.

    Returns
    -------
    networkx.Graph

    Examples
    --------
    >>> import networkx as nx
    >>> skeleton(nx.DiGraph([("b", "a")])).has_edge("a", "b")
    True
    """
    undirected = nx.Graph()
    undirected.add_nodes_from(graph)
    undirected.add_edges_from(graph.edges)
    return undirected


def compelled_arcs(graph):
    """Return the arcs that are in every DAG of the equivalence class of a graph.

    Parameters
    ----------
    graph : networkx.DiGraph
        A DAG.

    Returns
    -------
    set of tuple
        The compelled arcs as (parent, child); all others can be reversed within the class.

    Raises
    ------
    TypeError, ValueError
        If the graph is not a DAG.

    References
    ----------
    D. M. Chickering (1995), "A transformational characterization of equivalent Bayesian network
    structures", UAI 11: the algorithms Order-Edges and Label-Edges.

    Examples
    --------
    >>> import networkx as nx
    >>> sorted(compelled_arcs(nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d"), ("e", "a")])))
    [('a', 'c'), ('b', 'c'), ('c', 'd')]
    """
    check_dag(graph, "graph")
    return label_edges(graph)


def label_edges(graph):
    """The compelled arcs of a DAG, without checking it (Label-Edges)."""
    order = {node: i for i, node in enumerate(nx.topological_sort(graph))}
    compelled_parents = {}
    for node in order:
        compelled_parents[node] = _compelled_into(node, graph, order, compelled_parents)
    return {(parent, node) for node, parents in compelled_parents.items() for parent in parents}


def _compelled_into(node, graph, order, compelled_parents):
    """Label the arcs into a node after those of its ancestors."""
    parents = set(graph.pred[node])
    labelled, compelled = set(), set()
    for parent in sorted(parents, key=order.get, reverse=True):
        if parent in labelled:
            continue
        if not compelled_parents[parent] <= parents:
            return parents
        # These are compelled for both orientations of parent - node, because they would close a
        # cycle.
        compelled |= compelled_parents[parent]
        labelled |= compelled_parents[parent]
        rest = parents - labelled
        if any(other != parent and not graph.has_edge(other, parent) for other in parents):
            return compelled | rest
        labelled |= rest
    return compelled


def cpdag(graph):
    """Return the CPDAG of the equivalence class of a DAG.

    Parameters
    ----------
    graph : networkx.DiGraph
        A DAG.

    Returns
    -------
    networkx.DiGraph
        The same nodes in the same order; compelled arcs once, reversible edges as both arcs.

    Raises
    ------
    TypeError, ValueError
        If the graph is not a DAG.

    Examples
    --------
    >>> import networkx as nx
    >>> list(cpdag(nx.DiGraph([("a", "b")])).edges)
    [('a', 'b'), ('b', 'a')]
    """
    compelled = compelled_arcs(graph)
    pattern = nx.create_empty_copy(graph, with_data=False)
    for tail, head in graph.edges:
        pattern.add_edge(tail, head)
        if (tail, head) not in compelled:
            pattern.add_edge(head, tail)
    return pattern
