"""Small random networks, and what they say by going through all their joint states."""

import itertools
import string

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


def evidence_probability(network, evidence):
    """P(evidence) from the joint table."""
    return _slice(network, evidence).sum()


def _slice(network, evidence):
    """The joint table at some evidence, one axis per other variable."""
    return joint_table(network)[
        tuple(
            network.states[v].index(evidence[v]) if v in evidence else slice(None)
            for v in network.variables
        )
    ]


def conditional(network, variable, evidence):
    """P(variable | evidence) from the joint table, nan where the evidence is impossible."""
    hidden = [v for v in network.variables if v not in evidence]
    rest = tuple(i for i, v in enumerate(hidden) if v != variable)
    table = _slice(network, evidence).sum(axis=rest)
    return table / table.sum() if table.sum() else np.full_like(table, np.nan)


def small_network(seed, with_zeros=False):
    """A dense network of six variables."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(list("abcdef")).tolist()
    graph = nx.DiGraph()
    graph.add_nodes_from(order)
    graph.add_edges_from(arc for arc in itertools.combinations(order, 2) if rng.random() < 0.6)
    states = {v: tuple("xyz"[: rng.integers(2, 4)]) for v in order}
    tables = {}
    for v in order:
        shape = [len(states[p]) for p in sorted(graph.predecessors(v))]
        table = rng.dirichlet([0.3] * len(states[v]), size=shape)
        if with_zeros:
            table[table < 0.1] = 0
        tables[v] = table / table.sum(axis=-1, keepdims=True)
    return BayesNet(graph, states, tables)


def family_joint(network, members):
    """P(members), by summing the product of all tables."""
    letters = dict(zip(network.variables, string.ascii_letters, strict=False))
    families = ["".join(letters[m] for m in (*network.parents(v), v)) for v in network.variables]
    output = "".join(letters[m] for m in members)
    tables = [network.table(v) for v in network.variables]
    return np.einsum(f"{','.join(families)}->{output}", *tables, optimize=False)


def brute_conditional(network, child, parents):
    joint = family_joint(network, [*parents, child])
    table = np.full(joint.shape, 1 / joint.shape[-1])
    for configuration in np.ndindex(joint.shape[:-1]):
        if joint[configuration].sum() > 0:
            table[configuration] = joint[configuration] / joint[configuration].sum()
    return table


def placements(network, task):
    """Every way of renaming variables that turns the one joint distribution into the other."""
    variables = network.variables
    before, after = family_joint(network, variables), family_joint(task, variables)
    for order in itertools.permutations(range(len(variables))):
        # Axis i of the task is the variable that stands at the place order[i].
        if before.transpose(order).shape == after.shape and np.allclose(
            before.transpose(order), after, rtol=1e-9, atol=0
        ):
            yield {variables[place]: variables[i] for i, place in enumerate(order)}
