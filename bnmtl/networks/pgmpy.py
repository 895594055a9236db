"""Conversion of networks to and from pgmpy, which is imported only here, on first use."""

import functools
import warnings

import networkx as nx

from bnmtl.errors import InputError, InputTypeError
from bnmtl.networks.tables import check_family
from bnmtl.wording import type_of


@functools.cache
def _pgmpy():
    """Import pgmpy without the warnings of its own dependencies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgmpy.factors.discrete
        import pgmpy.models
    return pgmpy


def to_pgmpy(network):
    """Convert a network to a pgmpy model; see `BayesNet.to_pgmpy`."""
    pgmpy = _pgmpy()
    model = pgmpy.models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.graph)
    model.add_edges_from(network.graph.edges)
    for name in network.graph:
        parents, table = network.parents(name), network.table(name)
        n_states = table.shape[-1]
        cpd = pgmpy.factors.discrete.TabularCPD(
            name,
            n_states,
            table.reshape(-1, n_states).T,
            evidence=list(parents) or None,
            evidence_card=list(table.shape[:-1]) or None,
            state_names={member: list(network.states[member]) for member in (name, *parents)},
        )
        model.add_cpds(cpd)
    return model


def from_pgmpy(model):
    """Return graph, states and tables of a pgmpy model; see `BayesNet.from_pgmpy`."""
    if not isinstance(model, _pgmpy().models.DiscreteBayesianNetwork):
        message = f"must be a pgmpy.models.DiscreteBayesianNetwork, got {type_of(model)}"
        raise InputTypeError(message, argument="model")
    names = {node: str(node) for node in model.nodes}
    if len(set(names.values())) < len(names):
        message = "must have variables whose names differ as strings"
        raise InputError(message, argument="model", remedy="rename some")
    cpds = {node: model.get_cpds(node) for node in names}
    for node, cpd in cpds.items():
        if cpd is None:
            raise InputError(
                f"must have a table for each variable; `{node}` has none", argument="model"
            )
    graph = nx.DiGraph()
    graph.add_nodes_from(names.values())
    graph.add_edges_from((names[tail], names[head]) for tail, head in model.edges)
    states = {node: list(cpd.state_names[node]) for node, cpd in cpds.items()}
    tables = {}
    for node, cpd in cpds.items():
        check_family(cpd.cardinality, "model", str(node))
        parents = sorted(model.predecessors(node), key=names.get)
        if set(parents) != set(cpd.variables[1:]):
            raise InputError(
                f"must have a table of `{node}` over its parents only", argument="model"
            )
        table = cpd.values.transpose([cpd.variables.index(member) for member in (*parents, node)])
        for axis, member in enumerate((*parents, node)):
            # The table of a child may list the states of a parent in a different order.
            order = cpd.state_names[member]
            table = table.take([order.index(state) for state in states[member]], axis=axis)
        tables[names[node]] = table
    return graph, {names[node]: tuple(map(str, labels)) for node, labels in states.items()}, tables
