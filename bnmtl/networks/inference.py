"""Exact posteriors in a network, probabilities of rows under it, and rows drawn from it."""

from collections import defaultdict
from collections.abc import Mapping

import networkx as nx
import numpy as np

from bnmtl.errors import InputError, InputTypeError
from bnmtl.graphs import check_dag
from bnmtl.networks.contraction import ROWS, check_joint, contract, plan
from bnmtl.seeding import generator
from bnmtl.wording import listed, type_of


def markov_blanket(graph, variable):
    """Return the Markov blanket of a variable: its parents, its children and their other parents.

    Parameters
    ----------
    graph : networkx.DiGraph
        A DAG.
    variable : str

    Returns
    -------
    set of str

    Raises
    ------
    TypeError, ValueError
        If the graph is not a DAG, or the variable is not one of its nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> sorted(markov_blanket(nx.DiGraph([("a", "b"), ("c", "b"), ("b", "d")]), "a"))
    ['b', 'c']
    """
    check_dag(graph, "graph")
    if not isinstance(variable, str) or variable not in graph:
        nodes = listed(sorted(graph, key=str), "node")
        raise InputError(f"must be one of {nodes}, got {variable!r}", argument="variable")
    return _blanket(graph, variable)


def _blanket(graph, variable):
    children = set(graph.successors(variable))
    spouses = {parent for child in children for parent in graph.predecessors(child)}
    return (children | spouses | set(graph.predecessors(variable))) - {variable}


def posterior(network, variables, evidence=None):
    """Return the exact joint distribution of some variables given the states of others.

    Parameters
    ----------
    network : BayesNet
    variables : str or sequence of str
        One or more different variables, not in the evidence.
    evidence : mapping of str to str, default=None
        The observed states.

    Returns
    -------
    numpy.ndarray of float
        One axis per variable, in the given order; sums to 1.

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If a variable or a state is unknown, a variable is given twice, the relevant evidence is
        impossible under the network, or a table of more than 2**26 numbers would be needed.

    Examples
    --------
    >>> from bnmtl import structures
    >>> posterior(structures.load("asia"), "lung", {"smoke": "yes", "xray": "yes"}).round(3)
    array([0.646, 0.354])
    """
    targets, evidence = _checked_query(network, variables, evidence)
    check_joint(targets, [len(network.states[name]) for name in targets])
    codes = {name: np.array([network.states[name].index(evidence[name])]) for name in evidence}
    (distribution,) = _joint_posteriors(network, targets, codes, 1)
    if np.isnan(distribution).any():
        message = "must be possible under the network; its probability is 0"
        raise InputError(message, argument="evidence")
    return distribution


def _checked_query(network, variables, evidence):
    """Return variables as a list and evidence as a mapping, or raise."""
    if not hasattr(network, "tables"):
        raise InputTypeError(f"must be a BayesNet, got {type_of(network)}", argument="network")
    if not isinstance(variables, str | list | tuple):
        message = f"must be a name or a list of names, got {variables!r}"
        raise InputTypeError(message, argument="variables")
    if evidence is not None and not isinstance(evidence, Mapping):
        message = f"must be a mapping of variables to states, got {evidence!r}"
        raise InputTypeError(message, argument="evidence", remedy="for example {'smoke': 'yes'}")
    targets = [variables] if isinstance(variables, str) else list(variables)
    evidence = evidence or {}
    for argument, names in (("variables", targets), ("evidence", evidence)):
        for name in names:
            if not isinstance(name, str) or name not in network.states:
                message = f"must be among {listed(network.variables, 'variable')}, got {name!r}"
                raise InputError(message, argument=argument)
    if not targets or len({*targets, *evidence}) < len(targets) + len(evidence):
        message = "must be given, once each and not in `evidence` too"
        raise InputError(message, argument="variables", options=("evidence",))
    for name, state in evidence.items():
        if state not in network.states[name]:
            states = listed(network.states[name], limit=None)
            message = f"must give `{name}` one of its states, {states}, got {state!r}"
            raise InputError(message, argument="evidence")
    return targets, evidence


def posteriors(network, variable, codes, n_rows):
    """Return the exact distribution of one variable in each of many rows.

    Parameters
    ----------
    network : BayesNet
    variable : str
    codes : mapping of str to numpy.ndarray of int, shape (n_rows,)
        Positions of the observed states; -1 means not observed.
    n_rows : int

    Returns
    -------
    numpy.ndarray of float, shape (n_rows, n_states)
        A row is nan if the relevant evidence is impossible.
    """
    blanket = _blanket(network.graph, variable)
    complete = np.full(n_rows, blanket <= codes.keys())
    for member in blanket & codes.keys():
        complete &= codes[member] >= 0
    result = np.empty((n_rows, len(network.states[variable])))
    if complete.any():
        known = {member: codes[member][complete] for member in blanket}
        result[complete] = _blanket_posteriors(network, variable, known, complete.sum())
    if not complete.all():
        partial = {member: column[~complete] for member, column in codes.items()}
        result[~complete] = _joint_posteriors(network, [variable], partial, (~complete).sum())
    return result


def sampled_codes(network, n, seed):
    """Positions of the states in drawn rows, as `BayesNet.sample` draws them.

    Parameters
    ----------
    network : BayesNet
    n : int
        Number of rows.
    seed : int

    Returns
    -------
    dict of str to int array of shape (n,)
    """
    codes = {}
    for variable in nx.topological_sort(network.graph):
        cumulative = network.tables[variable].cumsum(axis=-1)
        # The last state absorbs rounding errors, unless its probability is 0.
        cumulative /= cumulative[..., -1:]
        below = cumulative[..., :-1][tuple(codes[p] for p in network.parents(variable))]
        uniform = generator(seed, variable).random(n)
        codes[variable] = (uniform[:, None] >= below).sum(axis=-1)
    return codes


def log_joint(network, codes, n_rows, families=None):
    """Return the log probability of complete rows, or the terms of some families in it.

    Parameters
    ----------
    network : BayesNet
    codes : mapping of str to numpy.ndarray of int, shape (n_rows,)
        Positions of the states of all variables, or of the variables in the families.
    n_rows : int
    families : sequence of str, default=None
        The families' children; None is all variables.

    Returns
    -------
    numpy.ndarray of float, shape (n_rows,)
        In nats, -inf for impossible rows.
    """
    total = np.zeros(n_rows)
    for variable in network.variables if families is None else families:
        with np.errstate(divide="ignore"):
            log_table = np.log(network.table(variable))
        total += log_table[tuple(codes[v] for v in (*network.parents(variable), variable))]
    return total


def log_evidence(network, codes, n_rows):
    """Return the log probability of the observed states in each row.

    Parameters
    ----------
    network : BayesNet
    codes : mapping of str to numpy.ndarray of int, shape (n_rows,)
        Positions of the states of all variables; -1 means not observed.
    n_rows : int

    Returns
    -------
    numpy.ndarray of float, shape (n_rows,)
        In nats, -inf for impossible evidence.
    """
    total = np.zeros(n_rows)
    for rows, observed in _alike(codes, n_rows):
        families = _ancestral(network.graph, observed)
        known = {name: codes[name][rows] for name in observed}
        complete = {v for v in families if observed.issuperset((v, *network.parents(v)))}
        total[rows] = log_joint(network, known, len(rows), sorted(complete))
        total[rows] += _contracted(network, families - complete, known, (), len(rows))
    return total


def check_possible(probabilities, index):
    """Raise if posteriors are nan because the relevant evidence is impossible."""
    impossible = np.flatnonzero(np.isnan(probabilities).any(axis=1))
    if impossible.size:
        message = (
            "must hold evidence that is possible under the network; it is not in "
            f"{impossible.size} of the rows, the first of them {index[impossible[0]]!r}"
        )
        raise InputError(message, remedy="correct or remove such rows")


def _blanket_posteriors(network, variable, codes, n_rows):
    """P(variable | blanket), proportional to the terms of its own and its children's families."""
    total = np.zeros((n_rows, len(network.states[variable])))
    for child in (variable, *network.graph.successors(variable)):
        family = (*network.parents(child), child)
        others = tuple(codes[member] for member in family if member != variable)
        with np.errstate(divide="ignore"):
            log_table = np.log(np.moveaxis(network.table(child), family.index(variable), -1))
        total += log_table[others]
    with np.errstate(invalid="ignore"):
        total -= total.max(axis=1, keepdims=True)
    result = np.exp(total)
    return result / result.sum(axis=1, keepdims=True)


def _joint_posteriors(network, targets, codes, n_rows):
    """P(targets | observed states) in each row, shape (n_rows, *states); nan if impossible.

    Each distinct pattern of the variables that the targets depend on is evaluated once.
    """
    result = np.empty((n_rows, *(len(network.states[target]) for target in targets)))
    depending = defaultdict(list)
    for rows, observed in _alike(codes, n_rows):
        depending[_connected(network.graph, targets, observed)].append(rows)
    for (inner, border), parts in depending.items():
        rows = np.concatenate(parts)
        families = inner | {v for v in border if not inner.isdisjoint(network.parents(v))}
        names = sorted(border)
        cells = np.array([codes[name][rows] for name in names]).reshape(len(names), len(rows))
        patterns, of_pattern = np.unique(cells, axis=1, return_inverse=True)
        known = dict(zip(names, patterns, strict=True))
        found = _contracted(network, families, known, targets, patterns.shape[1])
        result[rows] = found if len(found) == 1 else found[of_pattern]
        del found
    # In place, because joint posteriors may be large.
    axes = tuple(range(1, result.ndim))
    with np.errstate(invalid="ignore"):
        result -= result.max(axis=axes, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=axes, keepdims=True)
    return result


def _alike(codes, n_rows):
    """Pairs of rows with the same observed variables, and the set of these variables."""
    if not n_rows:
        return
    names = sorted(codes)
    observed = np.array([codes[name] >= 0 for name in names]).reshape(len(names), n_rows)
    masks, of_row = np.unique(observed, axis=1, return_inverse=True)
    order = np.argsort(of_row, kind="stable")
    ends = np.cumsum(np.bincount(of_row, minlength=masks.shape[1]))[:-1]
    for rows, mask in zip(np.split(order, ends), masks.T, strict=True):
        yield rows, {name for name, there in zip(names, mask, strict=True) if there}


def _contracted(network, families, codes, targets, n_rows):
    """Log of the product of family tables at the rows' states, summed over all except the targets.

    Shape (n_rows, *states of the targets).
    """
    number = {name: at for at, name in enumerate(sorted(network.variables))}
    n_states = [len(network.states[name]) for name in number]
    keep = tuple(number[target] for target in targets)
    shape = (n_rows, *(n_states[target] for target in keep))
    scopes, tables = [], []
    for name in sorted(families):
        given, hidden, table = _factor(network, name, codes, targets)
        scopes.append((*([ROWS] if given else []), *(number[member] for member in hidden)))
        tables.append((table, [codes[member] for member in given]))
    if not scopes:
        return np.zeros(shape)
    order = plan(scopes, keep, n_states, list(number))
    chunks = order.chunks(n_rows)
    result = np.empty(shape) if len(chunks) != 1 else None
    for rows in chunks:
        arrays = [table[tuple(codes_of[rows] for codes_of in given)] for table, given in tables]
        found = contract(order, arrays, keep, rows.stop - rows.start)
        if result is None:
            return found
        result[rows] = found
    return result


def _factor(network, name, codes, targets):
    """Given and hidden members of a family, and the log of its table with axes in this order.

    Axes with one state are dropped except those of targets, because arrays have at most 64 axes.
    """
    family = (*network.parents(name), name)
    given = [member for member in family if member in codes]
    others = [member for member in family if member not in codes]
    hidden = [v for v in others if v in targets or len(network.states[v]) > 1]
    rest = [member for member in others if member not in hidden]
    table = network.table(name).transpose(list(map(family.index, (*given, *hidden, *rest))))
    with np.errstate(divide="ignore"):
        return given, hidden, np.log(table.reshape(table.shape[: len(given) + len(hidden)]))


def _ancestral(graph, names):
    """Variables and all their ancestors."""
    return set().union(*nx.bfs_layers(graph.reverse(copy=False), names))


def _connected(graph, targets, observed):
    """Return the unobserved variables that the targets depend on, and their observed neighbors.

    Neighbors are variables of a common family, within the ancestral graph.
    """
    ancestral = _ancestral(graph, {*targets, *observed})
    inner, border = set(), set()
    front = list(targets)
    while front:
        name = front.pop()
        if name in observed:
            border.add(name)
        elif name not in inner:
            inner.add(name)
            front += graph.predecessors(name)
            for child in graph.successors(name):
                if child in ancestral:
                    front += (child, *graph.predecessors(child))
    return frozenset(inner), frozenset(border)
