"""Dissimilarities of tasks: of structures learned together, of what they predict, of true ones.

Each is a labeled square table, 0 on the diagonal; smaller is closer.
"""

import itertools
from collections.abc import Mapping

import networkx as nx
import numpy as np
import pandas as pd

from bnmtl.graphs import check_dag, could_have
from bnmtl.held_out import HeldOut, held_out_rows, parted
from bnmtl.learners.base import Learner
from bnmtl.learners.derived import apart, at_penalty
from bnmtl.networks import BayesNet
from bnmtl.seeding import seed_of
from bnmtl.tasks import encode

__all__ = ["direct", "indirect", "true"]


def direct(tasks, learner, penalty=0.9, normalize=None):
    """Edit distance between structures that are learned together with a small penalty.

    The penalty takes out differences that chance in the search makes, and is too small to make
    tasks alike. A pair of variables counts where both tasks could have an arc between them. Where
    the learner's prior lists penalties per pair of variables, a pair counts its penalty divided by
    the one for all other pairs, so that what is never shared counts nothing.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame or Tasks
    learner : MultitaskLearner or MultitaskLearnerCV
        Says how the structures are searched; it is not fitted itself.
    penalty : float, default=0.9
        Above 0, below 1.
    normalize : bool, default=None
        Divide by the number of pairs that count (their sum of weights), so that tasks with few
        variables do not look close to all others. None: where the tasks differ in the variables
        that take part.

    Returns
    -------
    pandas.DataFrame, tasks by tasks
        Symmetric. Where all tasks have the same variables, a pseudo-metric.

    Raises
    ------
    TypeError, ValueError
        For other learners, priors without a penalty, a penalty out of range, fewer than two tasks,
        two tasks without a pair in common where distances are normalized; and as in ``fit``.

    References
    ----------
    Niculescu-Mizil (2008), section 2.4.1.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, problems
    >>> problem = problems.components("asia", [("tub", "asia", "either")], [(), (), (0,)],
    ...                               random_state=0)
    >>> rows = problems.sample(problem, 500, random_state=0)
    >>> table = direct(rows, MultitaskLearner(random_state=0))
    >>> bool(table.loc["task1", "task2"] < table.loc["task1", "task3"])
    True
    """
    inner = at_penalty(learner, penalty)
    if not 0 < penalty < 1:
        raise ValueError(f"`penalty` must be above 0 and below 1, got {penalty!r}; 0.9 is usual.")
    encoded = _several(encode(tasks, missing=learner.missing))
    inner.fit(encoded)
    return _distances(inner.configuration_, normalize, _weights(inner.prior))


def true(configuration, normalize=None):
    """Edit distance between the structures of tasks, such as true ones.

    Parameters
    ----------
    configuration : mapping task -> networkx.DiGraph or BayesNet
    normalize : bool, default=None
        As in `direct`.

    Returns
    -------
    pandas.DataFrame, tasks by tasks

    Raises
    ------
    TypeError, ValueError
        If it is no mapping of DAGs, or two tasks have no pair in common where distances are
        normalized.

    Examples
    --------
    >>> import networkx as nx
    >>> north, south = nx.DiGraph([("rain", "wet")]), nx.DiGraph([("wet", "rain")])
    >>> true({"north": north, "south": south}).loc["north", "south"]
    np.float64(1.0)
    """
    if not isinstance(configuration, Mapping):
        raise TypeError(
            "`configuration` must be a mapping from tasks to graphs or networks, got "
            f"{type(configuration).__name__}."
        )
    graphs = {
        task: own.graph if isinstance(own, BayesNet) else own for task, own in configuration.items()
    }
    for task, graph in graphs.items():
        check_dag(graph, f"configuration[{task!r}]")
    return _distances(graphs, normalize, {})


def indirect(tasks, learner, cv=10):
    """How much worse one task's rows are predicted with the structure of another.

    Entry (s, t) is the mean log-likelihood of t's held-out rows under t's own structure less that
    under the structure of s, both with probabilities from t's other rows, in nats per row: the row
    says where the structure comes from, the column whose rows are predicted. Structures are learned
    from all rows of their task, by itself. Where the tasks' variables differ, the structure of s is
    cut to those that both have, and t's others are left alone.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame or Tasks
    learner : any learner
        Says how each task's structure is searched; it is not fitted itself.
    cv : int, default=10
        Number of folds.

    Returns
    -------
    pandas.DataFrame, tasks by tasks
        Not symmetric; small entries may be negative.

    Raises
    ------
    TypeError, ValueError
        If `cv` is no whole number of at least 2, there are fewer than two tasks or too few rows;
        and as in ``fit``.

    References
    ----------
    Niculescu-Mizil (2008), section 2.4.2.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, problems
    >>> problem = problems.components("asia", [("tub", "asia", "either")], [(), (), (0,)],
    ...                               random_state=0)
    >>> rows = problems.sample(problem, 500, random_state=0)
    >>> table = indirect(rows, MultitaskLearner(random_state=0))
    >>> bool(table.loc["task2", "task1"] < table.loc["task3", "task1"])
    True
    """
    if not isinstance(learner, Learner):
        raise TypeError(f"`learner` must be a learner, got {type(learner).__name__}.")
    check_folds("cv", cv)
    encoded = _several(encode(tasks, missing=learner.missing))
    seed = seed_of(learner.random_state)
    alone = apart(learner).set_params(random_state=seed).fit(encoded)
    size = learner.parameter_sample_size
    names = list(encoded)
    losses = np.zeros((len(names), len(names)))
    folds = held_out_rows(encoded, None, cv, seed, purpose="relatedness")
    for held_out in folds:
        train, test = parted(encoded, held_out)
        for t, name in enumerate(names):
            own = HeldOut(train[name], test[name], size)
            variables = encoded[name].variables
            means = [own.mean(_cut(alone.configuration_[other], variables)) for other in names]
            losses[:, t] += (means[t] - np.array(means)) / cv
    np.fill_diagonal(losses, 0.0)
    return pd.DataFrame(losses, index=_labels(names), columns=_labels(names))


def check_folds(argument, value):
    """Raise unless a value is a number of folds."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 2:
        raise ValueError(f"`{argument}` must be a whole number of at least 2, got {value!r}.")


def _several(tasks):
    if len(tasks) < 2:
        raise ValueError("`tasks` must hold at least two tasks to be compared, got one.")
    return tasks


def _cut(graph, variables):
    """A graph on other variables: arcs between those that both have."""
    cut = nx.DiGraph()
    cut.add_nodes_from(variables)
    cut.add_edges_from((a, b) for a, b in graph.edges if a in cut and b in cut)
    return cut


def _weights(prior):
    """What differing pairs of variables count where it is not 1."""
    return {pair: own / prior.penalty for pair, own in prior.pair_penalties().items()}


def _distances(graphs, normalize, weights):
    """Weighted edit distances of the pairs of variables that both tasks could have arcs between."""
    names = list(graphs)
    parts = [{v for v in graph if could_have(graph, v, v)} for graph in graphs.values()]
    if normalize is None:
        normalize = any(part != parts[0] for part in parts)
    table = pd.DataFrame(0.0, index=_labels(names), columns=_labels(names))
    for (s, first), (t, second) in itertools.combinations(enumerate(names), 2):
        distance = _distance(graphs[first], graphs[second], weights)
        if normalize:
            total = _total(parts[s] & parts[t], weights)
            if total <= 0:
                raise ValueError(
                    f"Tasks `{first}` and `{second}` have no pair of variables in common that "
                    "counts, so their distance is not defined; leave one of them out."
                )
            distance /= total
        table.iloc[s, t] = table.iloc[t, s] = distance
    return table


def _distance(first, second, weights):
    pairs = {frozenset(arc) for graph in (first, second) for arc in graph.edges}
    distance = 0.0
    for pair in pairs:
        a, b = sorted(pair)
        states = [graph.has_edge(a, b) - graph.has_edge(b, a) for graph in (first, second)]
        if states[0] != states[1] and could_have(first, a, b) and could_have(second, a, b):
            distance += weights.get(pair, 1.0)
    return distance


def _total(variables, weights):
    """Sum of the weights of all pairs of some variables."""
    listed = [own for pair, own in weights.items() if pair <= variables]
    return len(variables) * (len(variables) - 1) / 2 - len(listed) + sum(listed)


def _labels(names):
    return pd.Index(names, name="task")
