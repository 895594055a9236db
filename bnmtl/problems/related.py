"""Tasks made from one network by deleting, editing or exchanging arcs, and unrelated controls."""

import itertools

import networkx as nx

from bnmtl.errors import MOST_REPEATS, InputError, check_choice, check_number, check_whole
from bnmtl.networks import BayesNet, inference
from bnmtl.networks.tables import posterior_mean
from bnmtl.problems import draws
from bnmtl.problems.draws import by_task, random_tables
from bnmtl.seeding import generator
from bnmtl.wording import count, listed

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
# Above this the sum of the Dirichlet parameters may overflow; tables are uniform long before.
_LARGEST_CONCENTRATION = 1e100
# Groups of ALARM need only a few draws; many more mean that few orders of a group are possible.
_MAX_DRAWS = 10_000


def deletion(
    network, n_tasks=5, p_delete=0.05, parameters="shared", concentration=1.0, random_state=None
):
    """Make tasks by randomly deleting arcs of one network.

    Each arc is deleted in each task with the same probability. A child that lost parents gets
    P(child | remaining parents) of the original network, by exact inference over all lost parents
    at once; if a configuration of the remaining parents has probability 0, the child is uniform.
    All other tables are unchanged.

    A task depends only on the seed and its number, not on `n_tasks`. For a given seed, the deleted
    arcs do not depend on `parameters`, and a larger `p_delete` only adds more of them.

    Parameters
    ----------
    network : BayesNet or str
        The original network, or the name of one in `bnmtl.structures`.
    n_tasks : int, default=5
    p_delete : float, default=0.05
        Probability that an arc is deleted, from 0 to 1.
    parameters : {"shared", "independent"}, default="shared"
        "shared": the tasks start from the tables of the network. "independent": each task starts
        from its own random tables, which replace the original ones before arcs are deleted;
        INSURANCE-IND and ALARM-IND are made this way.
    concentration : float, default=1.0
        Parameter of the symmetric Dirichlet distribution of each row of the random tables; below 1
        rows are closer to deterministic, above 1 closer to uniform. Only with
        ``parameters="independent"``.
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
        If an argument is out of range.

    References
    ----------
    A. Niculescu-Mizil (2008), "Getting the most out of your data: multitask Bayesian network
    structure learning, predicting good probabilities and ensemble selection", PhD thesis, Cornell
    University, section 2.3.4.

    Examples
    --------
    >>> from bnmtl import problems
    >>> problem = problems.deletion("asia", n_tasks=2, p_delete=0.3, random_state=0)
    >>> {task: network.graph.number_of_edges() for task, network in problem.items()}
    {'task1': 5, 'task2': 7}
    """
    network = draws.network_of(network)
    check_number("p_delete", p_delete, least=0, most=1, remedy="for example 0.05")
    check_choice("parameters", parameters, ("shared", "independent"))
    limits = {"above": 0, "most": _LARGEST_CONCENTRATION}
    check_number("concentration", concentration, **limits, remedy="1 is usual")
    if parameters == "shared" and concentration != 1:
        message = f"must be 1 with `parameters='shared'`, got {concentration!r}"
        remedy = "leave it out, or give `parameters='independent'`"
        raise InputError(message, argument="concentration", options=("parameters",), remedy=remedy)
    graph, states, arcs = network.graph, network.states, sorted(network.graph.edges)

    def make(seed, number):
        original = network
        if parameters == "independent":
            drawn = graph, states, graph, concentration, seed, number
            original = BayesNet(graph, states, random_tables(*drawn, network.tables))
        is_deleted = generator(seed, "deletion", number).random(len(arcs)) < p_delete
        deleted = list(itertools.compress(arcs, is_deleted))
        rest = nx.DiGraph(graph)
        rest.remove_edges_from(deleted)
        # Each child loses its parents in one step.
        tables = _integrated(original, rest, {head for _, head in deleted})
        return BayesNet(rest, states, original.tables | tables)

    return by_task(n_tasks, random_state, make)


def _integrated(network, graph, children):
    """Tables of children with fewer parents in a graph than in a network.

    They are uniform for impossible parent configurations.
    """
    tables = {}
    for child in sorted(children):
        joint = inference.posterior(network, [*sorted(graph.predecessors(child)), child])
        tables[child] = posterior_mean(joint, 0)
    return tables


def perturb(network, n_tasks=5, n_edits=5, random_state=None):
    """Make tasks by randomly editing arcs of one network.

    Each task is exactly `n_edits` edits away from the network (`bnmtl.metrics.edit_distance`): it
    is edited that many times, each time at a different pair of variables. The kind of an edit, an
    addition, a deletion or a reversal, is drawn uniformly from the possible kinds, so the density
    of the graph hardly changes; then the arc is drawn uniformly from all arcs possible for this
    kind. No edit closes a cycle or gives a variable more than 4 parents, or more than it has in the
    network if these are more.

    A variable that gained a parent, and both ends of a reversed arc, get random tables, each row
    uniform over all distributions. A child that only lost parents gets P(child | remaining parents)
    of the original network, by exact inference over all lost parents at once; if a configuration of
    the remaining parents has probability 0, the child is uniform. All other tables are unchanged.

    A task depends only on the seed and its number, not on `n_tasks`. For a given seed, fewer edits
    are the beginning of more.

    Parameters
    ----------
    network : BayesNet or str
        The original network, or the name of one in `bnmtl.structures`.
    n_tasks : int, default=5
    n_edits : int, default=5
        Number of edits of each task, 0 or more. There is room for as many as the network has arcs,
        and for 4 n - 10 where n > 3 is the number of variables.
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
        If an argument is out of range, or a table would not fit into memory.

    Examples
    --------
    >>> from bnmtl import metrics, problems, structures
    >>> problem = problems.perturb("asia", n_tasks=2, n_edits=3, random_state=0)
    >>> asia = structures.load("asia")
    >>> [metrics.edit_distance(asia, network) for network in problem.values()]
    [3, 3]
    """
    network = draws.network_of(network)
    check_whole("n_edits", n_edits, 0, MOST_REPEATS, remedy="for example 5")
    n_variables, n_arcs = len(network.graph), network.graph.number_of_edges()
    # If no edit is left, all arcs are edited, and each variable, in an order of the graph, has 4 or
    # more parents by edits or an edited pair with each variable before it.
    room = max(n_arcs, draws.capacity(n_variables))
    if n_edits > room:
        message = (
            f"must be at most {room}, for which {count(n_variables, 'variable')} with "
            f"{count(n_arcs, 'arc')} always have room, got {n_edits!r}"
        )
        raise InputError(message, argument="n_edits", remedy="give fewer")

    def make(seed, number):
        graph = _edited(network.graph, n_edits, generator(seed, "perturb", number))
        return _retabled(network, graph, seed, number)

    return by_task(n_tasks, random_state, make)


def _edited(graph, n_edits, rng):
    """Edit distinct pairs of variables; each edit (lost arc, gained arc) is drawn separately."""
    arcs = sorted(graph.edges)
    missing = [
        pair
        for pair in itertools.permutations(sorted(graph), 2)
        if not (graph.has_edge(*pair) or graph.has_edge(*pair[::-1]))
    ]
    kinds = (
        [(None, arc) for arc in missing],
        [(arc, None) for arc in arcs],
        [(arc, arc[::-1]) for arc in arcs],
    )
    most_parents = {v: max(draws.MAX_PARENTS, graph.in_degree(v)) for v in graph}
    draft = nx.DiGraph(graph)
    done = set()
    for _ in range(n_edits):
        # The first possible one in a random order is a uniform draw from all possible ones.
        lost, gained = next(
            (lost, gained)
            for kind in rng.permutation(len(kinds))
            for lost, gained in map(kinds[kind].__getitem__, rng.permutation(len(kinds[kind])))
            if frozenset(lost or gained) not in done
            and (gained is None or _may_gain(draft, *gained, most_parents))
        )
        done.add(frozenset(lost or gained))
        draft.remove_edges_from([lost] if lost else [])
        draft.add_edges_from([gained] if gained else [])
    return draft


def _may_gain(graph, tail, head, most_parents):
    """Whether an arc can be added to a DAG, or reversed to this, within the limits."""
    return graph.in_degree(head) < most_parents[head] and not any(
        nx.has_path(graph, child, tail) for child in graph.successors(head) if child != tail
    )


def _retabled(network, graph, seed, number):
    """Give an edited graph the tables of the network, integrated or random if families differ."""
    gained = graph.edges - network.graph.edges
    lost = network.graph.edges - graph.edges
    ends = {head for _, head in gained} | {head for tail, head in lost if (head, tail) in gained}
    redrawn = sorted(ends)
    draws.check_sizes(graph, network.states, redrawn, "n_edits", "give fewer")
    owner = f"perturb {number}"
    tables = random_tables(graph, network.states, redrawn, 1.0, seed, owner, network.tables)
    tables |= _integrated(network, graph, {head for _, head in lost} - ends)
    return BayesNet(graph, network.states, network.tables | tables)


def components(network, groups, changed, random_state=None):
    """Make tasks by changing whole groups of variables of a network.

    In a changed group the arcs between its variables are replaced by the same number of random
    ones, and all its variables get random tables (each row uniform over all distributions),
    independently for each task. Arcs not inside a changed group are kept, and so are the tables of
    all other variables. Random arcs follow a random order of the variables in the group and are
    redrawn, for all changed groups of the task together, until the whole graph is acyclic.

    A task depends on the seed, its number and its changed groups.

    Parameters
    ----------
    network : BayesNet or str
        The original network, or the name of one in `bnmtl.structures`.
    groups : sequence of sequence of str
        Variables of the network, each in at most one group; variables in no group never change.
        `ALARM_COMPONENTS` are the four groups of the network "alarm".
    changed : sequence of tuple of int
        For each task the indices in `groups`, from 0, of its changed groups.
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
        If groups overlap or name an unknown variable, an index has no group, or the arcs between
        groups leave (almost) no acyclic choice.

    References
    ----------
    A. Niculescu-Mizil (2008), "Getting the most out of your data: multitask Bayesian network
    structure learning, predicting good probabilities and ensemble selection", PhD thesis, Cornell
    University, section 2.3.4 (ALARM-COMP).

    Examples
    --------
    The five tasks of ALARM-COMP:

    >>> from bnmtl import problems
    >>> changed = [(), (0,), (1,), (2,), (0, 2)]
    >>> problem = problems.components("alarm", problems.ALARM_COMPONENTS, changed, random_state=0)
    >>> {task: network.graph.number_of_edges() for task, network in problem.items()}
    {'task1': 46, 'task2': 46, 'task3': 46, 'task4': 46, 'task5': 46}
    """
    network = draws.network_of(network)
    groups = draws.checked_groups(groups, network)
    changed = draws.checked_indices(changed, len(groups))

    def make(seed, number):
        # Sorted, so that neither the order of the groups nor that of their variables matters.
        chosen = sorted(sorted(groups[i]) for i in changed[number - 1])
        graph = _redrawn(network.graph, chosen, generator(seed, "components", number))
        members = list(itertools.chain(*chosen))
        draws.check_sizes(graph, network.states, members, "groups", "make its group smaller")
        tables = random_tables(graph, network.states, members, 1.0, seed, number, network.tables)
        return BayesNet(graph, network.states, network.tables | tables)

    return by_task(len(changed), random_state, make)


def _redrawn(graph, groups, rng):
    """Replace the arcs inside the groups by the same number of random ones without a cycle."""
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
    message = (
        f"must leave room for other acyclic graphs; {_MAX_DRAWS} draws of the groups of "
        f"{listed([group[0] for group in groups])} closed cycles through the arcs between groups"
    )
    remedy = "change fewer groups at once, or make them smaller"
    raise InputError(message, argument="groups", remedy=remedy)


def _random_arcs(variables, n_arcs, rng):
    """Draw distinct arcs along a random order of the variables."""
    order = [variables[i] for i in rng.permutation(len(variables))]
    pairs = list(itertools.combinations(order, 2))
    return [pairs[i] for i in rng.permutation(len(pairs))[:n_arcs]]


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
    network = draws.network_of(network)
    classes = {}
    for variable in network.variables:
        classes.setdefault(len(network.states[variable]), []).append(variable)
    if len(classes) == len(network.variables):
        message = (
            "must have variables with equally many states, among which names can be permuted; it "
            "has no two"
        )
        raise InputError(message, argument="network", remedy="give another one")

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
