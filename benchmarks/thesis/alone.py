"""Single-task graphs with fewer arcs than those found by BDeu, as baselines for sharing."""

import networkx as nx

from benchmarks.thesis.pool import mean_held_out, train_and_held_out
from benchmarks.variants import SEARCHES, THESIS
from bnmtl import BIC, ArcPrior, SingleTaskLearner
from bnmtl.learners.validated import best_penalty

# Probabilities of an arc in the prior of sparse graphs; 0.5 is the uniform prior.
PROBABILITIES = (0.5, 0.1, 0.03, 0.01, 0.003)


def empty(tasks):
    """Graphs of all tasks without any arc."""
    return {name: nx.empty_graph(task.variables, nx.DiGraph) for name, task in tasks.items()}


def by_bic(tasks, seed):
    """Graphs of all tasks, each learned alone by BIC."""
    return _learned(tasks, seed, score=BIC())


def sparse(tasks, seed, share):
    """Single-task graphs under the arc probability that predicts held-out rows best.

    Parameters
    ----------
    tasks : Tasks
    seed : int
    share : float
        Share of rows held out to choose it; graphs are then learned from all rows.

    Returns
    -------
    mapping task -> networkx.DiGraph, float
        The graphs and the probability.
    """
    train, held_out = train_and_held_out(tasks, share, seed)
    learned = [
        _learned(train, seed, structure_prior=ArcPrior(probability))
        for probability in PROBABILITIES
    ]
    best = PROBABILITIES[best_penalty([mean_held_out(held_out, graphs) for graphs in learned])]
    return _learned(tasks, seed, structure_prior=ArcPrior(best)), best


def _learned(tasks, seed, **changes):
    parameters = {**THESIS, **SEARCHES["J"], **changes}
    return SingleTaskLearner(**parameters, random_state=seed).fit(tasks).configuration_
