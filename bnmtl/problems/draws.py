"""Random draws: sparse networks, tables, and the rows of each task of a problem."""

import networkx as nx
import numpy as np

from bnmtl.errors import check_whole
from bnmtl.networks import BayesNet
from bnmtl.problems import arguments
from bnmtl.problems.arguments import MAX_PARENTS
from bnmtl.seeding import generator, seed_of


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
    check_whole("n_variables", n_variables, 1, remedies="for example 20")
    low, high = arguments.checked_range(states)
    n_arcs = arguments.n_arcs_of(mean_degree, n_variables)
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
    arguments.check_problem(problem)
    check_whole("n_rows", n_rows, 0, remedies="for example 1000")
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
        if variable in replaced and _begin_alike(tables[variable], replaced[variable]):
            tables[variable] = rng.dirichlet(alphas, size=shape)
    return tables


def _begin_alike(first, second):
    """Whether one of two tables is a prefix of the other."""
    n = min(first.size, second.size)
    return np.array_equal(first.ravel()[:n], second.ravel()[:n])


def by_task(n_tasks, random_state, make):
    """Make the network of each task by ``make(seed, number)``, independent of other tasks."""
    check_whole("n_tasks", n_tasks, 1, remedies="for example 5")
    seed = seed_of(random_state)
    names = numbered("task", n_tasks)
    return {task: make(seed, number) for number, task in enumerate(names, start=1)}


def numbered(stem, n):
    """Names with leading zeros so that they sort like numbers."""
    width = len(str(n))
    return [f"{stem}{i:0{width}d}" for i in range(1, n + 1)]
