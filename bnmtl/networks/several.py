"""Networks of several tasks with shared tables."""

from collections.abc import Mapping

from bnmtl.errors import InputError, InputTypeError, check_choice, located
from bnmtl.networks.bayesnet import BayesNet
from bnmtl.networks.shared_tables import fit_tables
from bnmtl.networks.tables import check_graph
from bnmtl.tasks import encode
from bnmtl.wording import type_of


def fit_networks(configuration, tasks, sharing="auto", missing="error"):
    """Estimate the tables of the graphs of several tasks that share rows of their tables.

    For each row of a table, tasks form groups with the same probabilities, or the probabilities of
    a task vary around the mean of the others, or a task has separate probabilities. The mixture is
    learned from the counts, by how well the counts of every task are predicted from those of the
    others, in each family and in all families of the graphs. So similar tasks are almost pooled,
    and unrelated tasks keep separate tables. Every task with the variables of a family contributes,
    whatever its graph.

    Parameters
    ----------
    configuration : mapping of str to networkx.DiGraph
        The graph of each task, over variables of the task.
    tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
        As for the learners; it contains every task of the configuration.
    sharing : {"auto", None}, default="auto"
        None estimates each task's tables from its own rows, as `BayesNet.fit` does.
    missing : {"error", "drop", "state"}, default="error"
        How missing values are handled, as in `bnmtl.tasks.encode`.

    Returns
    -------
    dict of str to BayesNet
        By task, in the order of the configuration.

    Raises
    ------
    TypeError
        If the configuration is not a mapping of graphs.
    ValueError
        If a task or a variable of a graph is missing, a graph has a cycle, ``sharing`` is neither
        "auto" nor None, the data cannot be encoded, or the tables of a variable would have more
        than 2**26 cells in all tasks.

    Notes
    -----
    The result is an average over three kinds of priors. Their weights depend on the probability of
    every task's counts given those of the other tasks, and on their weights in the other families
    (empirical Bayes). Under the first, a Chinese restaurant process partitions the tasks into
    groups, with a sum over all partitions (over the most probable ones for more than nine tasks
    with rows). Under the second, the prior mean of a row is the mean of the other tasks. Under the
    third, each task has a separate table, as estimated by `BayesNet.fit`.

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import structures
    >>> from bnmtl.networks import fit_networks
    >>> asia, graph = structures.load("asia"), nx.DiGraph([("smoke", "bronc")])
    >>> tasks = [asia.sample(100, random_state=seed)[list(graph)] for seed in range(3)]
    >>> graphs = {f"task{s}": graph for s in (1, 2, 3)}
    >>> separate = fit_networks(graphs, tasks, sharing=None)
    >>> [network.table("bronc")[1, 1].round(2).item() for network in separate.values()]
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
    tables = None if sharing is None else fit_tables(configuration, encoded).tables
    return networks_of(configuration, encoded, tables)


def networks_of(configuration, tasks, tables, sample_size="auto"):
    """Networks from given graphs and tables.

    Parameters
    ----------
    configuration : mapping task -> networkx.DiGraph
    tasks : Tasks, or mapping task -> Task if there are no tables
    tables : mapping task -> dict variable -> float array, or None
        None estimates the tables of each task from its own rows.
    sample_size : float or "auto", default="auto"
        As in `BayesNet.fit`, for these estimates.

    Returns
    -------
    dict task -> BayesNet
    """
    if tables is None:
        graphs = configuration.items()
        return {name: BayesNet.fit(graph, tasks[name], sample_size) for name, graph in graphs}
    return {
        name: BayesNet._estimated(
            graph, {variable: tasks.states[variable] for variable in graph}, tables[name]
        )
        for name, graph in configuration.items()
    }
