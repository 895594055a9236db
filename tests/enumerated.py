"""Small networks drawn at random, and what they say by going through all their joint states."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
from hypothesis import strategies as st

from bnmtl.networks import BayesNet


@st.composite
def networks(draw, smallest=1):
    """Networks of a few variables, some with zeros in their tables."""
    names = [f"v{i}" for i in range(draw(st.integers(smallest, 5)))]
    order = draw(st.permutations(names))
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(arc for arc in itertools.combinations(order, 2) if draw(st.booleans()))
    states = {name: tuple("abc"[: draw(st.integers(1, 3))]) for name in names}
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    concentration = draw(st.sampled_from([1.0, 0.01]))
    tables = {}
    for name in names:
        shape = [len(states[parent]) for parent in sorted(graph.predecessors(name))]
        tables[name] = rng.dirichlet([concentration] * len(states[name]), size=shape)
    return BayesNet(graph, states, tables)


def joint_table(network):
    """P(all variables), one axis per variable in sorted order, by multiplying everything out."""
    shape = [len(network.states[v]) for v in network.variables]
    joint = np.ones(shape)
    for cell in np.ndindex(*shape):
        at = dict(zip(network.variables, cell, strict=True))
        for v in network.variables:
            joint[cell] *= network.table(v)[tuple(at[p] for p in (*network.parents(v), v))]
    return joint


def all_rows(network):
    """A frame with one row per joint state, in the order of the cells of `joint_table`."""
    product = itertools.product(*(network.states[v] for v in network.variables))
    return pd.DataFrame(list(product), columns=list(network.variables))


def conditional(network, variable, evidence):
    """P(variable | evidence) from the joint table, nan where the evidence is impossible."""
    joint = joint_table(network)
    index = tuple(
        network.states[v].index(evidence[v]) if v in evidence else slice(None)
        for v in network.variables
    )
    hidden = [v for v in network.variables if v not in evidence]
    rest = tuple(i for i, v in enumerate(hidden) if v != variable)
    table = joint[index].sum(axis=rest)
    return table / table.sum() if table.sum() else np.full_like(table, np.nan)
