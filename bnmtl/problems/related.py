"""Tasks made from one network, by deleting arcs or by changing groups of its variables."""

import itertools

import networkx as nx
import numpy as np

from bnmtl import inference
from bnmtl.networks import BayesNet
from bnmtl.problems import arguments
from bnmtl.problems.draws import numbered, random_tables
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks.wording import listed

__all__ = ["ALARM_COMPONENTS", "components", "deletion"]

# Nodes 1-7; 9-14, 21, 34; 8, 27-31, 36, 37; the rest, numbered as in structures/alarm.bif.
ALARM_COMPONENTS = (
    ("HISTORY", "CVP", "PCWP", "HYPOVOLEMIA", "LVEDVOLUME", "LVFAILURE", "STROKEVOLUME"),
    ("HRBP", "HREKG", "ERRCAUTER", "HRSAT", "INSUFFANESTH", "ANAPHYLAXIS", "SAO2", "CATECHOL"),
    (
        *("ERRLOWOUTPUT", "DISCONNECT", "MINVOLSET", "VENTMACH", "VENTTUBE", "VENTLUNG"),
        *("CO", "BP"),
    ),
    (
        *("TPR", "EXPCO2", "KINKEDTUBE", "MINVOL", "FIO2", "PVSAT", "PAP", "PULMEMBOLUS"),
        *("SHUNT", "INTUBATION", "PRESS", "VENTALV", "ARTCO2", "HR"),
    ),
)
# Groups of ALARM need a handful of draws; far more means that few orders of a group are possible.
_MAX_DRAWS = 10_000


def deletion(
    network,
    n_tasks=5,
    p_delete=0.05,
    parameters="shared",
    concentration=1.0,
    random_state=None,
):
    """Make tasks by deleting arcs of one network at random.

    Each task loses every arc with the same probability. A child that lost parents gets
    P(child | remaining parents) of the original network, by exact inference over all its lost
    parents at once; where a configuration of the remaining parents has probability 0, the child
    is uniform. All other tables stay as they are.

    A task depends on the seed and its number only, not on `n_tasks`. With one seed, the same arcs
    are deleted whatever `parameters` is, and more of them, never others, as `p_delete` grows.

    Parameters
    ----------
    network : BayesNet or str
        The original network, or the name of one in `bnmtl.structures`.
    n_tasks : int, default=5
    p_delete : float, default=0.05
        The probability of each arc to be deleted, from 0 to 1.
    parameters : {"shared", "independent"}, default="shared"
        "shared": the tasks start from the network's own tables. "independent": each task starts
        from random tables of its own, and these are the original of the deletions; INSURANCE-IND
        and ALARM-IND are made like this.
    concentration : float, default=1.0
        All parameters of the Dirichlet distribution of each row of the random tables; below 1
        rows are closer to deterministic, above 1 closer to uniform. Only with
        ``parameters="independent"``.
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
        If an argument is out of its range.

    References
    ----------
    A. Niculescu-Mizil (2008), "Multitask structure learning, calibration, ensemble selection",
    PhD thesis, Cornell University, section 2.3.4.

    Examples
    --------
    >>> from bnmtl import problems
    >>> problem = problems.deletion("asia", n_tasks=2, p_delete=0.3, random_state=0)
    >>> {task: network.graph.number_of_edges() for task, network in problem.items()}
    {'task1': 5, 'task2': 7}
    """
    network = arguments.network_of(network)
    arguments.check_whole("n_tasks", n_tasks, 1, "for example 5")
    arguments.check_deletion(p_delete, parameters, concentration)
    seed = seed_of(random_state)
    problem = {}
    for number, task in enumerate(numbered("task", n_tasks), start=1):
        original = network
        if parameters == "independent":
            graph, states = network.graph, network.states
            tables = random_tables(graph, states, graph, concentration, seed, number)
            original = BayesNet(graph, states, tables)
        arcs = sorted(network.graph.edges)
        deleted = generator(seed, "deletion", number).random(len(arcs)) < p_delete
        problem[task] = _without(original, set(itertools.compress(arcs, deleted)))
    return problem


def _without(network, arcs):
    """Remove arcs from a network; each child that loses parents loses them in one step."""
    graph = nx.DiGraph(network.graph)
    graph.remove_edges_from(arcs)
    tables = dict(network.tables)
    for child in sorted({head for _, head in arcs}):
        remaining = sorted(graph.predecessors(child))
        tables[child] = _conditional(network, child, remaining)
    return BayesNet(graph, network.states, tables)


def _conditional(network, child, parents):
    """P(child | parents) in a network; uniform where the parents' configuration is impossible."""
    joint = inference.posterior(network, [*parents, child])
    total = joint.sum(axis=-1, keepdims=True)
    uniform = np.full(joint.shape, 1 / joint.shape[-1])
    return np.divide(joint, total, out=uniform, where=total > 0)


def components(network, groups, changed, random_state=None):
    """Make tasks by changing whole groups of a network's variables.

    In a changed group the arcs between its own variables are replaced by as many random ones, and
    all its variables get random tables (each row uniform over all distributions), independently
    for each task. Arcs that are not inside a changed group stay, and so do the tables of all other
    variables. Random arcs follow a random order of the group's variables and are redrawn, for all
    changed groups of the task together, until the whole graph is acyclic.

    A task depends on the seed, its number and the groups that are changed in it.

    Parameters
    ----------
    network : BayesNet or str
        The original network, or the name of one in `bnmtl.structures`.
    groups : sequence of sequence of str
        Variables of the network, each in one group at most; variables in no group never change.
        `ALARM_COMPONENTS` are the four of the network "alarm".
    changed : sequence of tuple of int
        For each task the positions in `groups`, from 0, of those that change.
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
        If groups overlap or name no variable of the network, an index has no group, or the arcs
        between groups leave (almost) no acyclic choice.

    References
    ----------
    A. Niculescu-Mizil (2008), "Multitask structure learning, calibration, ensemble selection",
    PhD thesis, Cornell University, section 2.3.4 (ALARM-COMP).

    Examples
    --------
    The five tasks of ALARM-COMP:

    >>> from bnmtl import problems
    >>> changed = [(), (0,), (1,), (2,), (0, 2)]
    >>> problem = problems.components("alarm", problems.ALARM_COMPONENTS, changed, random_state=0)
    >>> {task: network.graph.number_of_edges() for task, network in problem.items()}
    {'task1': 46, 'task2': 46, 'task3': 46, 'task4': 46, 'task5': 46}
    """
    network = arguments.network_of(network)
    groups = arguments.checked_groups(groups, network)
    changed = arguments.checked_indices(changed, len(groups))
    seed = seed_of(random_state)
    problem = {}
    for number, task in enumerate(numbered("task", len(changed)), start=1):
        # Sorted, so that neither the order of the groups nor that of their variables matters.
        chosen = sorted(sorted(groups[i]) for i in changed[number - 1])
        graph = _redrawn(network.graph, chosen, generator(seed, "components", number))
        members = list(itertools.chain(*chosen))
        arguments.check_sizes(graph, network.states, members)
        tables = random_tables(graph, network.states, members, 1.0, seed, number)
        problem[task] = BayesNet(graph, network.states, network.tables | tables)
    return problem


def _redrawn(graph, groups, rng):
    """Replace the arcs inside the groups by as many random ones that close no cycle."""
    outer = nx.DiGraph(graph)
    sizes = []
    for group in groups:
        inner = list(graph.subgraph(group).edges)
        outer.remove_edges_from(inner)
        sizes.append(len(inner))
    for _ in range(_MAX_DRAWS):
        draft = outer.copy()
        for group, n_arcs in zip(groups, sizes, strict=True):
            draft.add_edges_from(_random_arcs(group, n_arcs, rng))
        if nx.is_directed_acyclic_graph(draft):
            return draft
    raise ValueError(
        f"`groups` must leave room for other acyclic graphs; {_MAX_DRAWS} draws of the groups of "
        f"{listed(group[0] for group in groups)} closed cycles through the arcs between groups, so "
        "change fewer groups at once or make them smaller."
    )


def _random_arcs(variables, n_arcs, rng):
    """Draw different arcs along a random order of the variables."""
    order = [variables[i] for i in rng.permutation(len(variables))]
    pairs = list(itertools.combinations(order, 2))
    return [pairs[i] for i in rng.permutation(len(pairs))[:n_arcs]]
