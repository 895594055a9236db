"""Checks of the arguments of the generators; each mistake is one sentence."""

import itertools
import numbers
from collections.abc import Mapping, Set

import numpy as np

from bnmtl import structures
from bnmtl.networks import BayesNet
from bnmtl.networks.tables import LARGEST_TABLE
from bnmtl.wording import count, listed, type_of

# Limits of a random network: no table has more than 20**5 entries. Random edits keep the first.
MAX_PARENTS = 4
MAX_STATES = 20
# Beyond this the sum of a Dirichlet's parameters may overflow; tables are uniform long before.
LARGEST_CONCENTRATION = 1e100


def network_of(network):
    """Return a network that may be given by its name."""
    if isinstance(network, BayesNet):
        return network
    if not isinstance(network, str):
        raise TypeError(
            f"`network` must be a BayesNet or a name, got {type_of(network)}; for example 'alarm'."
        )
    if network not in structures.names():
        raise ValueError(
            f"`network` must be a BayesNet or one of {listed(structures.names(), limit=None)}, got "
            f"{network!r}."
        )
    return structures.load(network)


def check_whole(name, value, smallest, remedy):
    """Raise unless a value is a whole number and not too small."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be a whole number, got {value!r}; {remedy}.")
    if value < smallest:
        raise ValueError(f"`{name}` must be {smallest} or more, got {value}; {remedy}.")


def _check_real(name, value, remedy):
    """Raise unless a value is a real number."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be a number, got {value!r}; {remedy}.")


def check_deletion(p_delete, parameters, concentration):
    """Raise unless the arguments of `deletion` are in their ranges and fit to each other."""
    _check_real("p_delete", p_delete, "for example 0.05")
    if not 0 <= p_delete <= 1:
        raise ValueError(f"`p_delete` must be from 0 to 1, got {p_delete}; for example 0.05.")
    if not isinstance(parameters, str) or parameters not in ("shared", "independent"):
        raise ValueError(f"`parameters` must be 'shared' or 'independent', got {parameters!r}.")
    _check_real("concentration", concentration, "1 is usual")
    if not 0 < concentration <= LARGEST_CONCENTRATION:
        raise ValueError(
            f"`concentration` must be above 0 and at most {LARGEST_CONCENTRATION:g}, got "
            f"{concentration}; 1 is usual."
        )
    if parameters == "shared" and concentration != 1:
        raise ValueError(
            "`concentration` must stay 1 where the tasks share the tables of the network, got "
            f"{concentration}; leave it out or give parameters='independent'."
        )


def checked_groups(groups, network):
    """Return the groups as lists of names, or raise."""
    groups = _nested_lists(groups)
    if groups is None:
        raise TypeError(
            "`groups` must be a list of groups of variables, each a tuple of names; for example "
            "[('a', 'b'), ('c',)]."
        )
    for at, group in enumerate(groups):
        if not group:
            raise ValueError(
                f"`groups` must hold groups of at least one variable; number {at} is empty: leave "
                "it out."
            )
    seen = set()
    for variable in itertools.chain(*groups):
        if not isinstance(variable, str) or variable not in network.states:
            raise ValueError(
                "`groups` must hold variables of the network, "
                f"{listed(network.variables)}; got {variable!r}."
            )
        if variable in seen:
            raise ValueError(
                f"`groups` must not overlap; `{variable}` occurs twice, so leave it out once."
            )
        seen.add(variable)
    return groups


def checked_indices(changed, n_groups):
    """Return for each task the list of its changed groups, or raise."""
    changed = _nested_lists(changed)
    if changed is None:
        raise TypeError(
            "`changed` must be a list with one tuple of group indices per task; for example "
            "[(), (0,), (0, 1)]."
        )
    if not changed:
        raise ValueError("`changed` must hold a tuple for at least one task; it is empty.")
    for indices in changed:
        for i in indices:
            check_whole("changed", i, 0, "0 is the first group")
            if i >= n_groups:
                raise ValueError(
                    f"`changed` must hold indices below {n_groups}, the number of groups, got {i}; "
                    "0 is the first group."
                )
        if len(set(indices)) < len(indices):
            raise ValueError(
                f"`changed` must name a group once per task, got {tuple(indices)}; leave out the "
                "repetition."
            )
    return changed


def _nested_lists(outer):
    """Return a sequence of collections as a list of lists, None for anything else."""
    # Sets have no order that an index could mean.
    if isinstance(outer, str | Mapping | Set) or not np.iterable(outer):
        return None
    outer = list(outer)
    if any(isinstance(inner, str | Mapping) or not np.iterable(inner) for inner in outer):
        return None
    return [list(inner) for inner in outer]


def check_sizes(graph, states, variables, name, remedy):
    """Raise where a random graph would have a table beyond memory."""
    for variable in variables:
        family = (variable, *graph.predecessors(variable))
        size = np.prod([len(states[member]) for member in family], dtype=float)
        if size > LARGEST_TABLE:
            raise ValueError(
                f"`{name}`: with {count(len(family) - 1, 'parent')} the table of `{variable}` "
                f"would have {size:.3g} entries, more than {LARGEST_TABLE}; {remedy} or try "
                "another `random_state`."
            )


def checked_range(states):
    """Return the smallest and the largest number of states, or raise."""
    low, high = states if isinstance(states, tuple | list) and len(states) == 2 else [states] * 2
    for number in (low, high):
        check_whole("states", number, 2, "for example 3 or, smallest and largest, (2, 4)")
    if not low <= high <= MAX_STATES:
        raise ValueError(
            f"`states` must be at most {MAX_STATES}, the smaller number first, got {states!r}; for "
            "example (2, 4)."
        )
    return low, high


def n_arcs_of(mean_degree, n_variables):
    """Return the number of arcs that a mean degree asks for, or raise where there is no room."""
    _check_real("mean_degree", mean_degree, "3 is usual")
    if not 0 <= mean_degree < np.inf:
        raise ValueError(
            f"`mean_degree` must be 0 or more and finite, got {mean_degree}; 3 is usual."
        )
    n_arcs = round(n_variables * mean_degree / 2)
    capacity = _capacity(n_variables)
    if n_arcs > capacity:
        raise ValueError(
            f"`mean_degree` must ask for at most {count(capacity, 'arc')}, all that "
            f"{count(n_variables, 'variable')} with at most {MAX_PARENTS} parents can have, got "
            f"{mean_degree}, which asks for {n_arcs}; give a smaller one."
        )
    return n_arcs


def _capacity(n_variables):
    """Number of arcs of a graph where each variable has all parents that it may have."""
    return sum(min(position, MAX_PARENTS) for position in range(n_variables))


def check_edits(n_edits, graph):
    """Raise unless a graph has room for random edits, whichever of them are drawn."""
    check_whole("n_edits", n_edits, 0, "for example 5")
    # Where no edit is left, all arcs are edited, and each variable, in an order of the graph, has
    # 4 or more parents by edits or an edited pair with each variable before it.
    room = max(graph.number_of_edges(), _capacity(len(graph)))
    if n_edits > room:
        raise ValueError(
            f"`n_edits` must be at most {room}, for which {count(len(graph), 'variable')} with "
            f"{count(graph.number_of_edges(), 'arc')} always have room, got {n_edits}; give fewer."
        )


def check_problem(problem):
    """Raise unless there is a network for each task."""
    if not isinstance(problem, Mapping):
        raise TypeError(
            f"`problem` must be a mapping of task names to networks, got {type_of(problem)}; for "
            "example {'task1': network}."
        )
    if not problem:
        raise ValueError("`problem` must have at least one task; it is empty.")
    for task, network in problem.items():
        if not isinstance(task, str):
            raise TypeError(f"`problem` must have strings for task names, got {task!r}.")
        if not isinstance(network, BayesNet):
            raise TypeError(
                f"`problem` must hold a BayesNet for each task, got {type_of(network)} for "
                f"`{task}`."
            )
