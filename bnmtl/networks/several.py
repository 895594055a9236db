"""Networks of several tasks, whose tables inform each other."""

from collections.abc import Mapping

from bnmtl.errors import InputError, InputTypeError, check_choice, located
from bnmtl.networks.bayesnet import BayesNet
from bnmtl.networks.shared_tables import fit_tables
from bnmtl.networks.tables import check_graph
from bnmtl.tasks import encode
from bnmtl.wording import type_of


def fit_networks(configuration, tasks, sharing="auto", missing="error"):
    """Estimate the tables of several tasks' graphs, the tasks informing each other.

    Row by row of a table, tasks fall into groups that have the same probabilities, or a task's
    probabilities scatter around those of all others, or a task has its own; which of it is learned
    from the counts, by how well every task's are predicted from those of the others, in each family
    and in all families of the graphs. So tasks that are alike are nearly pooled, and tasks that
    have nothing in common keep their own tables. All tasks that have the variables of a family are
    asked, whatever their graphs.

    Parameters
    ----------
    configuration : mapping of str to networkx.DiGraph
        The graph of each task, over variables of the task.
    tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
        As for the learners; it has every task of the configuration.
    sharing : {"auto", None}, default="auto"
        None estimates each task's tables from its own rows, as `BayesNet.fit` does.
    missing : {"error", "drop", "state"}, default="error"
        What becomes of missing values, as in `bnmtl.tasks.encode`.

    Returns
    -------
    dict of str to BayesNet
        By task, in the order of the configuration.

    Raises
    ------
    TypeError
        If the configuration is not a mapping of graphs.
    ValueError
        If a task or a variable of a graph is not there, a graph has a cycle, ``sharing`` is
        neither "auto" nor None, or the data cannot be encoded.

    Notes
    -----
    Three kinds of priors are averaged, each counting by the probability of every task's counts
    given those of the other tasks, and by how much it counts in the other families (empirical
    Bayes). Under the first, the tasks are partitioned into groups by a Chinese restaurant process,
    all partitions being summed over (of more than nine tasks with rows the most probable ones).
    Under the second, a row has the mean of the other tasks as its prior mean. Under the third,
    tables are each task's own, as `BayesNet.fit` estimates them.

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import structures
    >>> from bnmtl.networks import fit_networks
    >>> asia, graph = structures.load("asia"), nx.DiGraph([("smoke", "bronc")])
    >>> tasks = [asia.sample(100, random_state=seed)[list(graph)] for seed in range(3)]
    >>> graphs = {f"task{s}": graph for s in (1, 2, 3)}
    >>> own = fit_networks(graphs, tasks, sharing=None)
    >>> [network.table("bronc")[1, 1].round(2).item() for network in own.values()]
    [0.61, 0.62, 0.78]
    >>> shared = fit_networks(graphs, tasks)
    >>> [network.table("bronc")[1, 1].round(2).item() for network in shared.values()]
    [0.69, 0.69, 0.7]
    """
    check_choice("sharing", sharing, ("auto", None))
    if not isinstance(configuration, Mapping):
        rule = "must be a mapping from task names to graphs"
        remedies = "for example {{'task1': graph}}"
        raise InputTypeError("configuration", rule, type_of(configuration), remedies=remedies)
    configuration = {str(name): graph for name, graph in configuration.items()}
    encoded = encode(tasks, missing)
    for name, graph in configuration.items():
        with located(task=name):
            check_graph(graph, "configuration")
        if name not in encoded:
            rule = "must have graphs of {names:task}"
            raise InputError("configuration", rule, name, names=list(encoded.names))
        lacking = sorted(set(graph) - set(encoded[name].variables))
        if lacking:
            rule = "must have a column for every variable of its graph"
            raise InputError(None, rule, found="{name} is missing", task=name, name=lacking[0])
    if sharing is None:
        return {name: BayesNet.fit(graph, encoded[name]) for name, graph in configuration.items()}
    return networks_of(configuration, encoded, fit_tables(configuration, encoded).tables)


def networks_of(configuration, tasks, tables):
    """Networks of given graphs and tables.

    Parameters
    ----------
    configuration : mapping task -> networkx.DiGraph
    tasks : Tasks
    tables : mapping task -> dict variable -> float array

    Returns
    -------
    dict task -> BayesNet
    """
    return {
        name: BayesNet._estimated(
            graph, {variable: tasks.states[variable] for variable in graph}, tables[name]
        )
        for name, graph in configuration.items()
    }
