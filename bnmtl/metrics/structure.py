"""Distances between graphs and between networks: edits, SHD, skeleton scores, KL divergence.

Graph metrics compare two DAGs or `BayesNet`, or two mappings from the same tasks to such graphs;
for mappings they return one value per task.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.graphs import check_dag, cpdag, skeleton
from bnmtl.networks import BayesNet
from bnmtl.wording import listed, type_of


class SkeletonScores(NamedTuple):
    """Precision, recall and F1 of a learned skeleton; 0 / 0 is defined as 1.

    Attributes
    ----------
    precision : float
        Share of true edges among the learned ones.
    recall : float
        Share of learned edges among the true ones.
    f1 : float
        Harmonic mean of the two.

    Examples
    --------
    >>> import networkx as nx
    >>> true, learned = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a")])
    >>> learned.add_node("c")
    >>> skeleton_scores(true, learned).recall
    0.5
    """

    precision: float
    recall: float
    f1: float


def edit_distance(true, learned, reversal=1):
    """Count the fewest arc additions, deletions and reversals between two graphs.

    Parameters
    ----------
    true, learned : networkx.DiGraph or BayesNet, or mapping of task to these
        DAGs over the same variables; mappings over the same tasks.
    reversal : {1, 2}, default=1
        Cost of a reversed arc; additions and deletions cost 1.

    Returns
    -------
    int or pandas.Series
        For mappings, one value per task.

    Raises
    ------
    TypeError, ValueError
        If the graphs are not DAGs, or their variables or tasks differ.

    Examples
    --------
    >>> import networkx as nx
    >>> true = nx.DiGraph([("a", "b"), ("b", "c")])
    >>> edit_distance(true, nx.DiGraph([("b", "a"), ("b", "c"), ("a", "c")]))
    2
    """
    if reversal not in (1, 2):
        raise InputError(f"must be 1 or 2, got {reversal!r}", argument="reversal")

    def distance(true, learned):
        missing = true.edges - learned.edges
        surplus = learned.edges - true.edges
        n_reversed = sum((head, tail) in surplus for tail, head in missing)
        return len(missing) + len(surplus) - (2 - reversal) * n_reversed

    return _by_task(distance, true, learned)


def shd(true, learned):
    """Count the pairs of variables that differ between the CPDAGs of two graphs.

    A pair has no edge, a directed edge or an undirected edge. Equivalent graphs have distance 0.

    Parameters
    ----------
    true, learned : networkx.DiGraph or BayesNet, or mapping of task to these
        DAGs over the same variables; mappings over the same tasks.

    Returns
    -------
    int or pandas.Series
        For mappings, one value per task.

    Raises
    ------
    TypeError, ValueError
        If the graphs are not DAGs, or their variables or tasks differ.

    References
    ----------
    Tsamardinos, Brown, Aliferis (2006), "The max-min hill-climbing Bayesian network structure
    learning algorithm", Machine Learning 65, section 5.

    Examples
    --------
    >>> import networkx as nx
    >>> shd(nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a"), ("b", "c")]))
    0
    """

    def distance(true, learned):
        differing = cpdag(true).edges ^ cpdag(learned).edges
        return len({frozenset(arc) for arc in differing})

    return _by_task(distance, true, learned)


def skeleton_scores(true, learned):
    """Score the learned skeleton: the joined pairs without directions.

    Parameters
    ----------
    true, learned : networkx.DiGraph or BayesNet, or mapping of task to these
        DAGs over the same variables; mappings over the same tasks.

    Returns
    -------
    SkeletonScores or pandas.DataFrame
        Precision, recall and F1; for mappings, one row per task. A ratio 0 / 0 is 1: an empty
        learned graph has precision 1, and recall 1 only if the true graph is empty too.

    Raises
    ------
    TypeError, ValueError
        If the graphs are not DAGs, or their variables or tasks differ.

    Examples
    --------
    >>> import networkx as nx
    >>> true = nx.DiGraph([("a", "b"), ("b", "c")])
    >>> skeleton_scores(true, nx.DiGraph([("b", "a"), ("b", "c"), ("a", "c")]))
    SkeletonScores(precision=0.6666666666666666, recall=1.0, f1=0.8)
    """

    def scores(true, learned):
        true, learned = ({frozenset(e) for e in skeleton(g).edges} for g in (true, learned))
        n_both = len(true & learned)
        return SkeletonScores(
            _ratio(n_both, len(learned)),
            _ratio(n_both, len(true)),
            _ratio(2 * n_both, len(true) + len(learned)),
        )

    return _by_task(scores, true, learned)


def kl_divergence(true, learned, frame):
    """Estimate the Kullback-Leibler divergence from rows drawn from the true network.

    Parameters
    ----------
    true, learned : BayesNet, or mapping of task to BayesNet
        Networks over the same variables.
    frame : pandas.DataFrame, or mapping of task to DataFrame
        A large sample from `true`.

    Returns
    -------
    float or pandas.Series
        Mean over the rows of log p_true - log p_learned, in nats per row; inf if a row is
        impossible under the learned network. For mappings, one value per task.

    Raises
    ------
    TypeError, ValueError
        If these are not networks over the same variables, the tasks differ, or the frame is empty
        or has a row that is impossible under `true`.

    Examples
    --------
    >>> from bnmtl import structures
    >>> asia = structures.load("asia")
    >>> float(kl_divergence(asia, asia, asia.sample(100, random_state=0)))
    0.0
    """

    def divergence(true, learned, frame):
        _check_network("true", true)
        _check_network("learned", learned)
        _check_variables(true.graph, learned.graph)
        log_true, log_learned = true.log_likelihood(frame), learned.log_likelihood(frame)
        _check_rows(log_true)
        n_impossible = np.count_nonzero(np.isneginf(log_true))
        if n_impossible:
            message = (
                f"must be drawn from `true`, under which {n_impossible} of its rows are impossible"
            )
            raise InputError(message, argument="frame", options=("true",))
        return float(np.mean(log_true - log_learned))

    return _for_tasks(divergence, {"true": true, "learned": learned, "frame": frame})


def mean_log_likelihood(network, frame):
    """Return the mean log probability of rows, for example held-out rows.

    Parameters
    ----------
    network : BayesNet, or mapping of task to BayesNet
    frame : pandas.DataFrame, or mapping of task to DataFrame

    Returns
    -------
    float or pandas.Series
        In nats per row; for mappings, one value per task.

    Raises
    ------
    TypeError, ValueError
        If it is not a network, the frame is empty or does not match, or the tasks differ.

    Examples
    --------
    >>> from bnmtl import structures
    >>> asia = structures.load("asia")
    >>> round(mean_log_likelihood(asia, asia.sample(10_000, random_state=0)), 1)
    -2.2
    """

    def mean(network, frame):
        _check_network("network", network)
        log_likelihood = network.log_likelihood(frame)
        _check_rows(log_likelihood)
        return float(np.mean(log_likelihood))

    return _for_tasks(mean, {"network": network, "frame": frame})


def _by_task(measure, true, learned):
    """Apply a measure of two DAGs to two graphs or to the graphs of each task."""

    def measure_graphs(true, learned):
        true, learned = _dag("true", true), _dag("learned", learned)
        _check_variables(true, learned)
        return measure(true, learned)

    return _for_tasks(measure_graphs, {"true": true, "learned": learned})


def _for_tasks(measure, arguments):
    """Apply a measure to arguments, or to the arguments of each task if they are mappings."""
    are_mappings = {name: isinstance(value, Mapping) for name, value in arguments.items()}
    if not any(are_mappings.values()):
        return measure(*arguments.values())
    if not all(are_mappings.values()):
        single = next(name for name, is_mapping in are_mappings.items() if not is_mapping)
        message = (
            "must be a mapping from task names, as the other arguments are, got "
            f"{type_of(arguments[single])}"
        )
        raise InputTypeError(message, argument=single)
    (first, tasks), *others = arguments.items()
    for other, mapping in others:
        differing = sorted(set(tasks) ^ set(mapping), key=str)
        if differing:
            message = (
                f"must have the same tasks as `{other}`; only one of them has {listed(differing)}"
            )
            raise InputError(message, argument=first)
    values = {}
    for task in tasks:
        with located(task=task):
            values[task] = measure(*(mapping[task] for mapping in arguments.values()))
    index = pd.Index(values, name="task")
    if any(isinstance(value, SkeletonScores) for value in values.values()):
        return pd.DataFrame(list(values.values()), index=index)
    return pd.Series(list(values.values()), index=index)


def _dag(name, given):
    graph = given.graph if isinstance(given, BayesNet) else given
    check_dag(graph, name)
    return graph


def _check_network(name, given):
    if not isinstance(given, BayesNet):
        raise InputTypeError(f"must be a BayesNet, got {type_of(given)}", argument=name)


def _check_rows(values):
    if not len(values):
        raise InputError("must have rows; it is empty", argument="frame")


def _check_variables(true, learned):
    more = sorted(set(true) - set(learned), key=str)
    fewer = sorted(set(learned) - set(true), key=str)
    found = [f"only `true` has {listed(more)}"] if more else []
    found += [f"only `learned` has {listed(fewer)}"] if fewer else []
    if found:
        message = f"must have the same variables as `learned`; {' and '.join(found)}"
        raise InputError(message, argument="true", options=("learned",))


def _ratio(numerator, denominator):
    return numerator / denominator if denominator else 1.0
