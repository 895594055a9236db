"""Random draws: sparse networks, tables, and the rows of each task of a problem."""

import itertools
from collections.abc import Mapping, Set

import networkx as nx
import numpy as np

from bnmtl import structures
from bnmtl.errors import (
    MOST_REPEATS,
    MOST_ROWS,
    InputError,
    InputTypeError,
    check_number,
    check_whole,
)
from bnmtl.networks import BayesNet
from bnmtl.networks.tables import LARGEST_TABLE, MOST_AXES, fits, shown_cells
from bnmtl.seeding import generator, seed_of
from bnmtl.wording import count, listed, type_of

# Limits of a random network: no table has more than 20**5 entries. Random edits respect the first.
MAX_PARENTS = 4
MAX_STATES = 20


def network_of(network):
    """Return a network given as an object or by its name."""
    if isinstance(network, BayesNet):
        return network
    if not isinstance(network, str):
        message = f"must be a BayesNet or a name, got {type_of(network)}"
        raise InputTypeError(message, argument="network", remedy="for example 'alarm'")
    if network not in structures.names():
        names = listed(structures.names(), limit=None)
        message = f"must be a BayesNet or one of {names}, got {network!r}"
        raise InputError(message, argument="network")
    return structures.load(network)


def checked_groups(groups, network):
    """Return the groups as lists of names, or raise."""
    groups = _nested_lists(groups)
    if groups is None:
        message = "must be a list of groups of variables, each a tuple of names"
        raise InputTypeError(message, argument="groups", remedy="for example [('a', 'b'), ('c',)]")
    if [] in groups:
        at = groups.index([])
        message = f"must hold groups of at least one variable; number {at} is empty"
        raise InputError(message, argument="groups", remedy="leave it out")
    seen = set()
    for variable in itertools.chain(*groups):
        if not isinstance(variable, str) or variable not in network.states:
            known = listed(network.variables)
            message = f"must hold variables of the network, {known}, got {variable!r}"
            raise InputError(message, argument="groups")
        if variable in seen:
            message = f"must not overlap; `{variable}` occurs twice"
            raise InputError(message, argument="groups", remedy="leave it out once")
        seen.add(variable)
    return groups


def checked_indices(changed, n_groups):
    """Return the list of changed groups for each task, or raise."""
    changed = _nested_lists(changed)
    if changed is None:
        message = "must be a list with one tuple of group indices for each task"
        raise InputTypeError(message, argument="changed", remedy="for example [(), (0,), (0, 1)]")
    if not changed:
        raise InputError("must hold a tuple for at least one task; it is empty", argument="changed")
    for indices in changed:
        for i in indices:
            check_whole("changed", i, 0, remedy="0 is the first group")
            if i >= n_groups:
                message = f"must hold indices below {n_groups}, the number of groups, got {i!r}"
                raise InputError(message, argument="changed", remedy="0 is the first group")
        if len(set(indices)) < len(indices):
            message = f"must name a group once for each task, got {tuple(indices)!r}"
            raise InputError(message, argument="changed", remedy="leave out the repetition")
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
        n_states = [len(states[member]) for member in family]
        if not fits(n_states):
            message = (
                f"must leave tables of at most {LARGEST_TABLE:,} cells over {MOST_AXES} variables; "
                f"with {count(len(family) - 1, 'parent')} the table of `{variable}` would have "
                f"{shown_cells(n_states):.3g} over {len(family)}"
            )
            remedy = f"{remedy}, or try another `random_state`"
            raise InputError(message, argument=name, options=("random_state",), remedy=remedy)


def capacity(n_variables):
    """Number of arcs of a graph in which each variable has as many parents as allowed."""
    return sum(min(position, MAX_PARENTS) for position in range(n_variables))


def random_network(n_variables, mean_degree=3, states=3, random_state=None):
    """Draw a sparse network at random.

    The variables are put in a random order. Then arcs consistent with the order are added one at a
    time, each drawn uniformly from the remaining ones whose head has fewer than 4 parents, so that
    tables stay small. Each row of each table is drawn uniformly from all distributions.

    Parameters
    ----------
    n_variables : int
        Number of variables. They are named x1, x2, ..., with leading zeros from ten variables on;
        names are independent of the direction of arcs.
    mean_degree : float, default=3
        Mean number of incoming and outgoing arcs of a variable: the network has
        ``round(n_variables * mean_degree / 2)`` arcs.
    states : int or tuple of (int, int), default=3
        Number of states of all variables, or the smallest and the largest number of a uniform draw
        for each variable; from 2 to 20. States are named 0, 1, ...
    random_state : None, int or numpy.random.Generator, default=None

    Returns
    -------
    BayesNet

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If an argument is out of range, or there is no room for so many arcs.

    Examples
    --------
    >>> from bnmtl import problems
    >>> problems.random_network(20, mean_degree=2, states=2, random_state=0)
    BayesNet(20 variables, 20 arcs, 59 parameters)
    """
    check_whole("n_variables", n_variables, 1, MOST_REPEATS, remedy="for example 20")
    low, high = states if isinstance(states, tuple | list) and len(states) == 2 else [states] * 2
    for number in (low, high):
        remedy = "for example 3 or, smallest and largest, (2, 4)"
        check_whole("states", number, 2, MAX_STATES, remedy=remedy)
    if low > high:
        message = f"must have the smaller number first, got {states!r}"
        raise InputError(message, argument="states", remedy="for example (2, 4)")
    check_number("mean_degree", mean_degree, least=0, remedy="3 is usual")
    n_arcs, most = round(n_variables * mean_degree / 2), capacity(n_variables)
    if n_arcs > most:
        message = (
            f"must give at most {count(most, 'arc')}, the maximum for "
            f"{count(n_variables, 'variable')} with up to {MAX_PARENTS} parents, got "
            f"{mean_degree!r}; it gives {n_arcs}"
        )
        raise InputError(message, argument="mean_degree")
    seed = seed_of(random_state)
    rng = generator(seed, "random_network")
    names = numbered("x", n_variables)
    order = [names[i] for i in rng.permutation(n_variables)]
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for tail, head in _sparse_arcs(n_variables, n_arcs, rng):
        graph.add_edge(order[tail], order[head])
    sizes = rng.integers(low, high, size=n_variables, endpoint=True).tolist()
    states = {name: tuple(map(str, range(r))) for name, r in zip(names, sizes, strict=True)}
    return BayesNet(graph, states, random_tables(graph, states, names, 1.0, seed, "network"))


def _sparse_arcs(n_variables, n_arcs, rng):
    """Draw distinct arcs from lower to higher positions, with at most MAX_PARENTS into each."""
    parents = [set() for _ in range(n_variables)]
    n_free = np.arange(n_variables)
    for _ in range(n_arcs):
        head = int(np.searchsorted(n_free.cumsum(), rng.integers(n_free.sum()), side="right"))
        tail = int(rng.integers(head))
        while tail in parents[head]:
            tail = int(rng.integers(head))
        parents[head].add(tail)
        n_free[head] = n_free[head] - 1 if len(parents[head]) < MAX_PARENTS else 0
    return [(tail, head) for head, tails in enumerate(parents) for tail in sorted(tails)]


def sample(problem, n_rows, random_state=None):
    """Draw rows for each task.

    The rows of a task depend on the seed, its name and its network, not on the other tasks, and a
    smaller sample is the beginning of a larger one.

    Parameters
    ----------
    problem : mapping of str to BayesNet
    n_rows : int
        Number of rows of each task, 0 or more.
    random_state : None, int or numpy.random.Generator, default=None

    Returns
    -------
    dict of str to pandas.DataFrame, shape (n_rows, n_variables)
        Unordered categorical columns with all states, sorted by name.

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If there is no task, or `n_rows` is negative.

    Examples
    --------
    >>> from bnmtl import problems
    >>> problem = problems.deletion("asia", n_tasks=2, random_state=0)
    >>> {task: rows.shape for task, rows in problems.sample(problem, 100, random_state=0).items()}
    {'task1': (100, 8), 'task2': (100, 8)}
    """
    if not isinstance(problem, Mapping):
        message = f"must be a mapping of task names to networks, got {type_of(problem)}"
        raise InputTypeError(message, argument="problem", remedy="for example {'task1': network}")
    if not problem:
        raise InputError("must have at least one task; it is empty", argument="problem")
    for task, network in problem.items():
        if not isinstance(task, str):
            message = f"must have strings for task names, got {task!r}"
            raise InputTypeError(message, argument="problem")
        if not isinstance(network, BayesNet):
            message = f"must hold a BayesNet for each task, got {type_of(network)}"
            raise InputTypeError(message, argument="problem", task=task)
    check_whole("n_rows", n_rows, 0, MOST_ROWS, remedy="for example 1000")
    seed = seed_of(random_state)
    return {
        task: network.sample(n_rows, random_state=generator(seed, "sample", task))
        for task, network in problem.items()
    }


def random_tables(graph, states, variables, concentration, seed, owner, replaced=()):
    """Draw each row of the tables of variables from a symmetric Dirichlet distribution.

    No table equals the one it replaces: a network with tables from the same seed and owner gets
    different ones.
    """
    tables = {}
    for variable in variables:
        shape = [len(states[parent]) for parent in sorted(graph.predecessors(variable))]
        rng = generator(seed, "table", owner, variable)
        alphas = [concentration] * len(states[variable])
        tables[variable] = rng.dirichlet(alphas, size=shape)
        if variable in replaced:
            # The shorter one may be a prefix of the other.
            n = min(tables[variable].size, replaced[variable].size)
            if np.array_equal(tables[variable].ravel()[:n], replaced[variable].ravel()[:n]):
                tables[variable] = rng.dirichlet(alphas, size=shape)
    return tables


def by_task(n_tasks, random_state, make):
    """Make the network of each task by ``make(seed, number)``, independent of other tasks."""
    check_whole("n_tasks", n_tasks, 1, MOST_REPEATS, remedy="for example 5")
    seed = seed_of(random_state)
    names = numbered("task", n_tasks)
    return {task: make(seed, number) for number, task in enumerate(names, start=1)}


def numbered(stem, n):
    """Names with leading zeros so that they sort like numbers."""
    width = len(str(n))
    return [f"{stem}{i:0{width}d}" for i in range(1, n + 1)]
