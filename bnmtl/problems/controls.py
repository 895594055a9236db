"""Controls: tasks that share nothing, from which nothing can be learned for each other."""

import networkx as nx

from bnmtl.errors import InputError
from bnmtl.networks import BayesNet
from bnmtl.problems import arguments
from bnmtl.problems.draws import by_task
from bnmtl.seeding import generator


def unrelated(network, n_tasks=5, random_state=None):
    """Make tasks that share nothing, by permuting the names of one network's variables.

    Each task has the graph and the tables of the network, but at each place stands a random
    variable among those with equally many states; the first task is permuted like the others. A
    variable keeps its own states, so all tasks declare the same ones; of its place's table it
    takes the entries in their order.

    By chance some things are shared all the same: a variable keeps its place in all tasks if no
    other has as many states, and an arc of one task is now and then an arc of another one too.
    Two tasks of "alarm" share 2.4 of their 46 arcs on average.

    A task depends on the seed and its number only, not on `n_tasks`.

    Parameters
    ----------
    network : BayesNet or str
        The network, or the name of one in `bnmtl.structures`.
    n_tasks : int, default=5
    random_state : None, int or numpy.random.Generator, default=None

    Returns
    -------
    dict of str to BayesNet
        task1, task2, ..., with leading zeros from ten tasks on.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If an argument is out of its range, or no two variables have equally many states, so that
        all tasks would be the network itself.

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
    """Give each variable the name, and the states, of another one with equally many."""
    tables = {}
    for variable in network.variables:
        parents = [names[parent] for parent in network.parents(variable)]
        # The axes of a table follow the parents' names.
        axes = sorted(range(len(parents)), key=parents.__getitem__)
        tables[names[variable]] = network.table(variable).transpose(*axes, len(parents))
    return BayesNet(nx.relabel_nodes(network.graph, names), network.states, tables)
