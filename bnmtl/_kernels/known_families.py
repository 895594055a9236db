"""Families that greedy growing does not find, kept beside the grow-shrink trees, for ``orders``.

A search over graphs finds parent sets that improve the score only jointly. A few such families are
kept for each child, and one is used if it beats the family from the tree and all its parents
precede the child. Data contract: as in ``trees``.
"""

import numpy as np

from bnmtl._kernels._jit import kernel
from bnmtl._kernels.trees import (
    IS_HELD,
    KNOWN,
    KNOWN_SCORE,
    KNOWN_TAKERS,
    MATTERS,
    MOST_KNOWN,
    MOST_KNOWN_PARENTS,
    N_KNOWN,
    N_TASK_PARENTS,
    SCORE,
    TASK_PARENTS,
    TOLERANCE,
    find,
    hold_parents_of,
    list_parents,
    relate,
    score_parents,
    takes,
)


@kernel
def best_known(tree, position, child, score):
    """The best remembered family all of whose parents precede ``child``.

    Returns
    -------
    int
        Its index, or -1 if no family exceeds ``score``.
    """
    n_known, known = N_KNOWN(tree)[child], KNOWN(tree)
    scores = KNOWN_SCORE(tree)[child]
    best = np.int64(-1)
    for family in range(n_known.size):
        if scores[family] <= score:
            continue
        fits = True
        for at in range(n_known[family]):
            fits = fits and position[known[child * MOST_KNOWN + family, at]] < position[child]
        if fits:
            best, score = np.int64(family), scores[family]
    return best


@kernel
def score_of(engine, scratch, tasks, shared, tree, position, child):
    """Score of the best known family of ``child`` whose parents precede it."""
    node = find(engine, scratch, tasks, shared, tree, position, child)
    score = SCORE(tree)[node]
    family = best_known(tree, position, child, score)
    return score if family < 0 else KNOWN_SCORE(tree)[child, family]


@kernel
def hold_family(engine, scratch, tasks, shared, tree, position, child):
    """Mark in scratch the parents of the family that `score_of` scores."""
    node = find(engine, scratch, tasks, shared, tree, position, child)
    family = best_known(tree, position, child, SCORE(tree)[node])
    if family < 0:
        hold_parents_of(tree, tasks, child, node)
        return
    held = IS_HELD(tree)
    for s in range(held.shape[0]):
        for v in range(held.shape[1]):
            held[s, v] = False
    place = child * MOST_KNOWN + family
    for at in range(N_KNOWN(tree)[child, family]):
        v = KNOWN(tree)[place, at]
        for s in range(held.shape[0]):
            held[s, v] = takes(KNOWN_TAKERS(tree)[place, at], s)


@kernel
def is_marked(held, adjacency, child):
    """Whether the marked parents are those of ``child`` in all graphs."""
    for s in range(held.shape[0]):
        for v in range(held.shape[1]):
            if held[s, v] != adjacency[s, child, v]:
                return False
    return True


@kernel
def mark(tree, child, adjacency):
    """Mark in scratch the parents of a child in the given graphs; return their number."""
    held, n_parents = IS_HELD(tree), np.int64(0)
    for v in range(held.shape[1]):
        is_parent = False
        for s in range(held.shape[0]):
            held[s, v] = adjacency[s, child, v]
            is_parent = is_parent or held[s, v]
        n_parents += is_parent
    return n_parents


@kernel
def remember(engine, scratch, tasks, shared, tree, position, child, adjacency):
    """Remember the family of ``child`` in given graphs if it beats the best known family.

    ``adjacency`` is bool (k, n, n) [task, child, parent]; all parents precede the child.
    """
    otherwise = score_of(engine, scratch, tasks, shared, tree, position, child)
    hold_family(engine, scratch, tasks, shared, tree, position, child)
    if not is_marked(IS_HELD(tree), adjacency, child):
        know(engine, scratch, tasks, shared, tree, child, adjacency, otherwise)


@kernel
def know(engine, scratch, tasks, shared, tree, child, adjacency, least):
    """Remember the family of ``child`` in given graphs if its score exceeds ``least``."""
    if mark(tree, child, adjacency) > MOST_KNOWN_PARENTS:
        return
    held = IS_HELD(tree)
    list_parents(held, TASK_PARENTS(tree), N_TASK_PARENTS(tree))
    score = score_parents(engine, scratch, tasks, shared, tree, child)
    if score <= least + TOLERANCE(shared)[0]:
        return
    scores = KNOWN_SCORE(tree)[child]
    worst = 0
    for family in range(scores.size):
        if scores[family] < scores[worst]:
            worst = family
    scores[worst] = score
    place, end = child * MOST_KNOWN + worst, np.int64(0)
    takers = KNOWN_TAKERS(tree)[place]
    for v in range(held.shape[1]):
        is_parent = False
        for s in range(held.shape[0]):
            is_parent = is_parent or held[s, v]
        if is_parent:
            MATTERS(tree)[child, v] = True
            relate(tree, child, v)
            KNOWN(tree)[place, end] = v
            for word in range(takers.shape[1]):
                takers[end, word] = 0
            for s in range(held.shape[0]):
                if held[s, v]:
                    takers[end, s >> 6] |= np.int64(1) << (s & 63)
            end += 1
    N_KNOWN(tree)[child, worst] = end
