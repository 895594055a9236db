"""Checks of the arguments of the generators."""

import itertools
from collections.abc import Mapping, Set

import numpy as np

from bnmtl import structures
from bnmtl.errors import InputError, InputTypeError, check_choice, check_number, check_whole
from bnmtl.networks import BayesNet
from bnmtl.networks.tables import check_table
from bnmtl.wording import listed, type_of

# Limits of a random network: no table has more than 20**5 entries. Random edits respect the first.
MAX_PARENTS = 4
MAX_STATES = 20
# Above this the sum of the Dirichlet parameters may overflow; tables are uniform long before.
LARGEST_CONCENTRATION = 1e100


def network_of(network):
    """Return a network given as an object or by its name."""
    if isinstance(network, BayesNet):
        return network
    if not isinstance(network, str):
        rule, given = "must be a BayesNet or a name", type_of(network)
        raise InputTypeError("network", rule, given, remedies="for example 'alarm'")
    if network not in structures.names():
        rule, names = "must be a BayesNet or one of {names}", listed(structures.names(), limit=None)
        raise InputError("network", rule, network, names=names)
    return structures.load(network)


def check_deletion(p_delete, parameters, concentration):
    """Raise unless the arguments of `deletion` are in range and compatible."""
    check_number("p_delete", p_delete, least=0, most=1, remedies="for example 0.05")
    check_choice("parameters", parameters, ("shared", "independent"))
    limits = {"above": 0, "most": LARGEST_CONCENTRATION}
    check_number("concentration", concentration, **limits, remedies="1 is usual")
    if parameters == "shared" and concentration != 1:
        rule = "must be 1 with {parameters=shared}"
        remedies = ("leave it out", "give {parameters=independent}")
        raise InputError("concentration", rule, concentration, remedies=remedies)


def checked_groups(groups, network):
    """Return the groups as lists of names, or raise."""
    groups = _nested_lists(groups)
    if groups is None:
        rule = "must be a list of groups of variables, each a tuple of names"
        raise InputTypeError("groups", rule, remedies="for example [('a', 'b'), ('c',)]")
    if [] in groups:
        rule, found = "must hold groups of at least one variable", "number {at} is empty"
        at = groups.index([])
        raise InputError("groups", rule, found=found, remedies="leave it out", at=at)
    seen = set()
    for variable in itertools.chain(*groups):
        if not isinstance(variable, str) or variable not in network.states:
            rule = "must hold variables of the network, {names}"
            raise InputError("groups", rule, variable, names=network.variables)
        if variable in seen:
            rule, found, remedy = "must not overlap", "{name} occurs twice", "leave it out once"
            raise InputError("groups", rule, found=found, remedies=remedy, name=variable)
        seen.add(variable)
    return groups


def checked_indices(changed, n_groups):
    """Return the list of changed groups for each task, or raise."""
    changed = _nested_lists(changed)
    if changed is None:
        rule = "must be a list with one tuple of group indices for each task"
        raise InputTypeError("changed", rule, remedies="for example [(), (0,), (0, 1)]")
    if not changed:
        raise InputError("changed", "must hold a tuple for at least one task", found="it is empty")
    for indices in changed:
        for i in indices:
            check_whole("changed", i, 0, remedies="0 is the first group")
            if i >= n_groups:
                rule = "must hold indices below {n}, the number of groups"
                raise InputError("changed", rule, i, remedies="0 is the first group", n=n_groups)
        if len(set(indices)) < len(indices):
            rule, given = "must name a group once for each task", tuple(indices)
            raise InputError("changed", rule, given, remedies="leave out the repetition")
    return changed


def _nested_lists(outer):
    """Return a sequence of collections as a list of lists, None for anything else."""
    # Sets have no order for indices.
    if isinstance(outer, str | Mapping | Set) or not np.iterable(outer):
        return None
    outer = list(outer)
    if any(isinstance(inner, str | Mapping) or not np.iterable(inner) for inner in outer):
        return None
    return list(map(list, outer))


def check_sizes(graph, states, variables, name, remedy):
    """Raise if a random graph would need a table that does not fit into memory."""
    for variable in variables:
        family = (variable, *graph.predecessors(variable))
        check_table(
            [len(states[member]) for member in family],
            name,
            "must leave tables of at most {most:,} cells over {most_axes} variables",
            "with {n:parent} the table of {variable} would have {cells:.3g} over {axes}",
            (remedy, "try another {random_state}"),
            n=len(family) - 1,
            variable=variable,
        )


def checked_range(states):
    """Return the smallest and the largest number of states, or raise."""
    low, high = states if isinstance(states, tuple | list) and len(states) == 2 else [states] * 2
    for number in (low, high):
        remedy = "for example 3 or, smallest and largest, (2, 4)"
        check_whole("states", number, 2, MAX_STATES, remedies=remedy)
    if low > high:
        rule = "must have the smaller number first"
        raise InputError("states", rule, states, remedies="for example (2, 4)")
    return low, high


def n_arcs_of(mean_degree, n_variables):
    """Return the number of arcs for a mean degree, or raise if they do not fit."""
    check_number("mean_degree", mean_degree, least=0, remedies="3 is usual")
    n_arcs = round(n_variables * mean_degree / 2)
    capacity = _capacity(n_variables)
    if n_arcs > capacity:
        rule = "must give at most {n:arc}, the maximum for {of:variable} with up to {p} parents"
        details = {"n": capacity, "of": n_variables, "p": MAX_PARENTS, "asked": n_arcs}
        raise InputError("mean_degree", rule, mean_degree, "it gives {asked}", **details)
    return n_arcs


def _capacity(n_variables):
    """Number of arcs of a graph in which each variable has as many parents as allowed."""
    return sum(min(position, MAX_PARENTS) for position in range(n_variables))


def check_edits(n_edits, graph):
    """Raise unless a graph has room for any choice of random edits."""
    check_whole("n_edits", n_edits, 0, remedies="for example 5")
    # If no edit is left, all arcs are edited, and each variable, in an order of the graph, has 4 or
    # more parents by edits or an edited pair with each variable before it.
    room = max(graph.number_of_edges(), _capacity(len(graph)))
    if n_edits > room:
        rule = "must be at most {room}, for which {n:variable} with {arcs:arc} always have room"
        details = {"room": room, "n": len(graph), "arcs": graph.number_of_edges()}
        raise InputError("n_edits", rule, n_edits, remedies="give fewer", **details)


def check_problem(problem):
    """Raise unless it is a mapping of tasks to networks."""
    if not isinstance(problem, Mapping):
        rule = "must be a mapping of task names to networks"
        remedies = "for example {{'task1': network}}"
        raise InputTypeError("problem", rule, type_of(problem), remedies=remedies)
    if not problem:
        raise InputError("problem", "must have at least one task", found="it is empty")
    for task, network in problem.items():
        if not isinstance(task, str):
            raise InputTypeError("problem", "must have strings for task names", task)
        if not isinstance(network, BayesNet):
            rule = "must hold a BayesNet for each task"
            raise InputTypeError("problem", rule, type_of(network), task=task)
