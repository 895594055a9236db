"""Controls: tasks that share nothing, so that learning together cannot help."""

import networkx as nx

from bnmtl.errors import InputError
from bnmtl.networks import BayesNet
from bnmtl.problems import arguments
from bnmtl.problems.draws import by_task
from bnmtl.seeding import generator


def unrelated(network, n_tasks=5, random_state=None):
    """Make tasks that share nothing, by permuting the variable names of one network.

    Each task has the graph and the tables of the network, but each node is replaced by a random
    variable with the same number of states; the first task is permuted like the others. A variable
    keeps its states, so all tasks declare the same ones; the entries of the table are assigned in
    order.

    Some things are still shared by chance: a variable keeps its node in all tasks if no other has
    the same number of states, and an arc of one task is sometimes also an arc of another. Two tasks
    of "alarm" share 2.4 of their 46 arcs on average.

    A task depends only on the seed and its number, not on `n_tasks`.

    Parameters
    ----------
    network : BayesNet or str
        The network, or the name of one in `bnmtl.structures`.
    n_tasks : int, default=5
    random_state : None, int or numpy.random.Generator, default=None

    Returns
    -------
    dict of str to BayesNet
        Named task1, task2, ..., with leading zeros from ten tasks on.

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If an argument is out of range, or no two variables have the same number of states, so that
        all tasks would equal the network.

    Examples
    --------
    >>> from bnmtl import problems, structures
    >>> problem = problems.unrelated("alarm", random_state=0)
    >>> alarm = structures.load("alarm")
    >>> [len(alarm.graph.edges & network.graph.edges) for network in problem.values()]
    [4, 1, 5, 1, 0]
    """
    network = arguments.network_of(network)
    classes = {}
    for variable in network.variables:
        classes.setdefault(len(network.states[variable]), []).append(variable)
    if len(classes) == len(network.variables):
        rule = "must have variables with equally many states, among which names can be permuted"
        raise InputError("network", rule, found="it has no two", remedies="give another one")

    def make(seed, number):
        rng = generator(seed, "unrelated", number)
        names = {}
        for _, members in sorted(classes.items()):
            order = rng.permutation(len(members))
            names.update(zip(members, (members[i] for i in order), strict=True))
        return _renamed(network, names)

    return by_task(n_tasks, random_state, make)


def _renamed(network, names):
    """Give each variable the name and states of another with the same number of states."""
    tables = {}
    for variable in network.variables:
        parents = [names[parent] for parent in network.parents(variable)]
        # The axes of a table follow the names of the parents.
        axes = sorted(range(len(parents)), key=parents.__getitem__)
        tables[names[variable]] = network.table(variable).transpose(*axes, len(parents))
    return BayesNet(nx.relabel_nodes(network.graph, names), network.states, tables)
