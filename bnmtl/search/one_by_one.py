"""Improves a configuration by searching the whole graph of one task given the others.

The greedy search over configurations changes one pair of variables in all tasks; this changes all
pairs of one task. Given the other tasks, the coupling is a sum over pairs of a value for each state
in the task, that is, log odds for each arc, so any search over graphs can use it. The two searches
alternate until neither gains.
"""

from dataclasses import replace

import numpy as np

from bnmtl.search.graph_state import GraphState


def improve(search, find, at, budget):
    """Search the graphs of the tasks in turn, each followed by the greedy search, until none gains.

    Parameters
    ----------
    search : ConfigurationSearch
        After its last step.
    find : callable (s, GraphState)
        Improves the graph of task s.
    at : callable (matrices) -> ConfigurationSearch
        Creates a search that starts there.
    budget : Budget
        Of each greedy search; after its deadline no further task is searched.

    Returns
    -------
    ConfigurationSearch
        The given one, or a better one.
    """
    s, in_vain = 0, 0
    while in_vain < len(search.states) and not search.violated and not budget.spent(0):
        state = given_the_others(search, s)
        before = state.adjacency.copy()
        find(s, state)
        in_vain += 1
        if (state.adjacency != before).any():
            matrices = search.adjacency.copy()
            matrices[s] = state.adjacency
            other = at(matrices)
            other.run(budget)
            (_, best), (violated, score) = search.score, other.score
            if not violated and score > best + search.ties.tolerance:
                search, in_vain = other, 1
        s = (s + 1) % len(search.states)
    return search


def given_the_others(search, s):
    """The graph state of task s, with the coupling to the other tasks as odds of its arcs.

    Pairs with a state excluded by a penalty of 1 are not changed.
    """
    odds = np.array(search.arc_terms[s][0] - search.arc_terms[s][1])
    constraints, matrix = search.problem.constraints[s], search.adjacency[s].copy()
    kept = np.zeros_like(matrix)
    others = np.delete(search.adjacency, s, axis=0).any(axis=0)
    others |= others.T
    coupled = search.couplings.coupled & search.problem.takes_part[s]
    for pairs in _alike(search.couplings, coupled, others):
        i, j = pairs[0]
        values = _values(search, s, i, j)
        rows, columns = pairs.T
        if np.isinf(values).any():
            kept[rows, columns] = kept[columns, rows] = True
            continue
        odds[rows, columns] += values[2] - values[1]
        odds[columns, rows] += values[0] - values[1]
    constraints = replace(
        constraints,
        permitted=constraints.permitted & (~kept | matrix),
        required=constraints.required | (kept & matrix),
    )
    scores, families = search.given_the_others(s)
    return GraphState(scores, constraints, search.ties, matrix, odds, families=families)


def _alike(couplings, coupled, others):
    """Groups of pairs with equal coupling to the other tasks, as int arrays (m, 2).

    If no other task has an arc, the coupling depends only on the kind of the pair.
    """
    yield from couplings.alike(coupled & ~others)
    for pair in np.argwhere(coupled & others):
        yield pair[None]


def _values(search, s, i, j):
    """Log coupling of a pair for each state -1, 0 and 1 of task s."""
    members, coupling = search.couplings.of(i, j)
    arcs = search.adjacency[members]
    states = arcs[:, i, j].astype(np.int8) - arcs[:, j, i]
    at = np.flatnonzero(members == s)
    values = np.zeros(3)
    for state in (-1, 0, 1):
        states[at] = state
        values[1 + state] = coupling.log_coupling(states)
    return values
