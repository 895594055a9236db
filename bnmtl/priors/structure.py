"""Structure priors of one task: sums over ordered pairs of variables."""

import math
from collections.abc import Mapping

import networkx as nx
import numpy as np
from sklearn.base import BaseEstimator

from bnmtl.errors import InputError, check_number
from bnmtl.graphs import adjacency, check_dag
from bnmtl.priors.coupling import check_pair


class ArcPrior(BaseEstimator):
    """Independent arcs: each ordered pair of variables is an arc with some probability.

    log P(G) = sum over arcs of log p + sum over absent ordered pairs of log(1 - p).

    Parameters
    ----------
    probability : float or mapping {(parent, child): float}, default=None
        In (0, 1). With a mapping, ordered pairs that are not listed get 0.5, which is neutral.
    expected_arcs : float, default=None
        p = expected_arcs / (n (n - 1)) for a task of n variables. Give exactly one of the two.

    Raises
    ------
    ValueError
        In ``fit`` of a learner: for probabilities of 0 and 1 (use ``forbidden`` or ``required``
        instead), or if none or both arguments are given.

    Examples
    --------
    >>> from bnmtl import ArcPrior
    >>> ArcPrior(expected_arcs=10)
    ArcPrior(expected_arcs=10)
    """

    def __init__(self, probability=None, expected_arcs=None):
        self.probability = probability
        self.expected_arcs = expected_arcs

    def names(self):
        """Variables named by the prior."""
        if not isinstance(self.probability, Mapping):
            return set()
        for arc in self.probability:
            check_pair("probability", arc)
        return {str(name) for arc in self.probability for name in arc}

    def among(self, variables):
        """The same prior restricted to some variables."""
        if not isinstance(self.probability, Mapping):
            return self
        kept = set(variables)
        listed = self.probability.items()
        return ArcPrior({arc: chance for arc, chance in listed if kept.issuperset(map(str, arc))})

    def arc_terms(self, variables):
        """Log prior of each ordered pair, as two (n, n) arrays: arc present, arc absent."""
        n = len(variables)
        chances = np.full((n, n), 0.5)
        if (self.probability is None) == (self.expected_arcs is None):
            given = f"{self.probability!r} and {self.expected_arcs!r}"
            message = f"or `expected_arcs` must be given, exactly one of the two; they are {given}"
            raise InputError(message, argument="probability", options=("expected_arcs",))
        if self.expected_arcs is not None:
            most = max(n * (n - 1), 1)
            limits = {"above": 0, "below": most}
            remedy = "n variables have n (n - 1) ordered pairs"
            check_number("expected_arcs", self.expected_arcs, **limits, remedy=remedy)
            chances[:] = self.expected_arcs / most
        elif isinstance(self.probability, Mapping):
            index = {variable: at for at, variable in enumerate(variables)}
            for arc, chance in self.probability.items():
                parent, child = map(str, arc)
                _check_chance(f"probability[{arc!r}]", chance)
                if parent in index and child in index:
                    chances[index[parent], index[child]] = chance
        else:
            _check_chance("probability", self.probability)
            chances[:] = self.probability
        return _without_diagonal(np.log(chances), np.log1p(-chances))


class ReferencePrior(BaseEstimator):
    """Prefers graphs close to a reference graph.

    log P(G) = log(factor) times the number of arcs in the symmetric difference; a reversed arc
    counts twice.

    Parameters
    ----------
    graph : networkx.DiGraph
        Acyclic. Arcs of variables that a task lacks are ignored in that task; a variable in no task
        is an error, so restrict a larger graph with ``graph.subgraph(variables)``.
    factor : float, default=0.5
        In (0, 1]; 1 is uniform.

    Raises
    ------
    TypeError, ValueError
        In ``fit`` of a learner: for a graph that is not a DAG or has a variable in no task, and a
        factor out of range.

    References
    ----------
    Heckerman, Geiger & Chickering (1995), section 5.

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import ReferencePrior
    >>> prior = ReferencePrior(nx.DiGraph([("rain", "wet")]), factor=0.1)
    """

    def __init__(self, graph, factor=0.5):
        self.graph = graph
        self.factor = factor

    def names(self):
        """Variables named by the prior."""
        check_dag(self.graph, "graph")
        return {str(node) for node in self.graph}

    def among(self, variables):
        """The same prior restricted to some variables."""
        kept = set(variables)
        nodes = [node for node in self.graph if str(node) in kept]
        return ReferencePrior(self.graph.subgraph(nodes), self.factor)

    def arc_terms(self, variables):
        """Log prior of each ordered pair, as two (n, n) arrays: arc present, arc absent."""
        check_dag(self.graph, "graph")
        remedy = "0 would forbid every other graph, which `required` and `forbidden` can do"
        check_number(
            "factor", self.factor, above=0, most=1, options=("required", "forbidden"), remedy=remedy
        )
        held = adjacency(nx.relabel_nodes(self.graph, str).subgraph(variables), variables)
        price = math.log(self.factor)
        return _without_diagonal(np.where(held, 0.0, price), np.where(held, price, 0.0))


def _check_chance(argument, chance):
    remedy = "to rule an arc out or in use `forbidden` or `required`"
    check_number(
        argument, chance, above=0, below=1, options=("forbidden", "required"), remedy=remedy
    )


def _without_diagonal(present, absent):
    np.fill_diagonal(present, 0.0)
    np.fill_diagonal(absent, 0.0)
    return present, absent
