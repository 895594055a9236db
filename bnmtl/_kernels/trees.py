"""Families grown and shrunk from the predecessors of a variable, remembered as trees.

The tree of a child (Andrews et al. 2023, grow-shrink trees) has a node for every set of parents
that growing has reached; the node lists the variables that improve it, best first. To grow a family
from some predecessors, one goes to the first listed variable that is one of them, and on from
there. Where none is, the family is shrunk: the parent whose removal gains most goes first.

Data contract: the table of `TREE` is filled as it is used and emptied when it is full; node numbers
are valid until the next call of `grow`.
"""

import numpy as np

from bnmtl._kernels._jit import Arrays, flags, flags2, floats, floats2, ints, kernel
from bnmtl._kernels.dags import ODDS, REQUIRED, TOLERANCE, family_gains

TREE = (
    ("roots", np.int64, 1),  # (n,): -1 where a child has no tree yet
    ("used", np.int64, 1),  # (3,): nodes, listed variables and kept parents
    ("above", np.int64, 1),  # (nodes,): the node it was reached from, -1 for a root
    ("added", np.int64, 1),  # (nodes,): the parent that was added there
    ("first", np.int64, 1),  # (nodes,): where its list begins
    ("length", np.int64, 1),  # (nodes,)
    ("score", np.float64, 1),  # (nodes,): local score and log prior odds after shrinking, or nan
    ("kept_at", np.int64, 1),  # (nodes,): where its parents after shrinking begin
    ("n_kept", np.int64, 1),  # (nodes,)
    ("listed", np.int64, 1),  # flat: variables by falling gain
    ("next", np.int64, 1),  # flat: the node that each leads to, -1 where it is not made yet
    ("kept", np.int64, 1),  # flat: parents after shrinking
    ("own", np.int64, 1),  # (n,): scratch, parents of a node in ascending order
    ("held", np.bool_, 1),  # (n,): scratch, the same as marks
    ("gains", np.float64, 1),  # (n,): scratch
)
ROOTS, USED, ABOVE, ADDED, FIRST, LENGTH, SCORE, KEPT_AT, N_KEPT = range(9)
LISTED, NEXT, KEPT, OWN, IS_HELD, TREE_GAINS = range(9, len(TREE))
NODES, LISTS, KEPT_PARENTS = range(3)


def new_tree(n, n_nodes):
    """Memory for trees of n children with that many nodes in all, lists of 16 on average."""
    n_nodes = max(n_nodes, 4 * n)
    n_listed = 16 * n_nodes + 4 * n * n
    return Arrays(
        TREE,
        roots=np.full(n, -1),
        used=np.zeros(3, np.int64),
        **{
            name: np.empty(n_nodes, np.int64)
            for name in ("above", "added", "first", "length", "kept_at", "n_kept")
        },
        score=np.empty(n_nodes),
        **{name: np.empty(n_listed, np.int64) for name in ("listed", "next", "kept")},
        own=np.zeros(n, np.int64),
        held=np.zeros(n, dtype=bool),
        gains=np.zeros(n),
    )


@kernel
def empty(tree):
    """Forget all nodes."""
    roots, used = ints(tree, ROOTS), ints(tree, USED)
    for child in range(roots.size):
        roots[child] = -1
    for at in range(used.size):
        used[at] = 0


@kernel
def is_full(tree):
    """Whether there is no room for one more node."""
    used, n = ints(tree, USED), ints(tree, ROOTS).size
    return (
        used[NODES] == ints(tree, ABOVE).size
        or used[LISTS] + n > ints(tree, LISTED).size
        or used[KEPT_PARENTS] + n > ints(tree, KEPT).size
    )


@kernel
def hold(tree, v):
    """Put v among the parents in scratch, in order; returns their new number."""
    own, held = ints(tree, OWN), flags(tree, IS_HELD)
    at = np.int64(0)
    for u in range(held.size):
        at += held[u]
    end = at + 1
    while at > 0 and own[at - 1] > v:
        own[at] = own[at - 1]
        at -= 1
    own[at] = v
    held[v] = True
    return end


@kernel
def hold_parents_of(tree, task, child, node):
    """Put the parents that a node stands for into scratch; returns their number."""
    held, required = flags(tree, IS_HELD), flags2(task, REQUIRED)[child]
    above, added = ints(tree, ABOVE), ints(tree, ADDED)
    own = ints(tree, OWN)
    for v in range(held.size):
        held[v] = required[v]
    while above[node] >= 0:
        held[added[node]] = True
        node = above[node]
    end = np.int64(0)
    for v in range(held.size):
        if held[v]:
            own[end] = v
            end += 1
    return end


@kernel
def make_node(engine, scratch, task, tree, child, above, added):
    """A node for the parents of ``above`` and one more, or for the required ones of a root.

    It knows what to add next and, if nothing is to be removed, its score.
    """
    used, node = ints(tree, USED), ints(tree, USED)[NODES]
    ints(tree, ABOVE)[node], ints(tree, ADDED)[node] = above, added
    used[NODES] += 1
    n_parents = hold_parents_of(tree, task, child, node)
    own, held, gains = ints(tree, OWN), flags(tree, IS_HELD), floats(tree, TREE_GAINS)
    required, odds = flags2(task, REQUIRED)[child], floats2(task, ODDS)[child]
    tolerance = floats(task, TOLERANCE)[0]
    score = family_gains(engine, scratch, task, child, own, n_parents, held, gains)
    listed, following = ints(tree, LISTED), ints(tree, NEXT)
    begin = used[LISTS]
    end = begin
    removable = False
    for v in range(gains.size):
        if held[v]:
            score += odds[v]
            removable = removable or (gains[v] > tolerance and not required[v])
        elif gains[v] > tolerance:
            at = end
            while at > begin and gains[listed[at - 1]] < gains[v]:
                listed[at] = listed[at - 1]
                at -= 1
            listed[at] = v
            following[end] = -1
            end += 1
    ints(tree, FIRST)[node], ints(tree, LENGTH)[node] = begin, end - begin
    used[LISTS] = end
    if removable:
        floats(tree, SCORE)[node] = np.nan
    else:
        keep_parents(tree, node, n_parents, score)
    return node


@kernel
def keep_parents(tree, node, n_parents, score):
    """Write the parents in scratch as those that a node has after shrinking."""
    used, kept, own = ints(tree, USED), ints(tree, KEPT), ints(tree, OWN)
    begin = used[KEPT_PARENTS]
    for at in range(n_parents):
        kept[begin + at] = own[at]
    used[KEPT_PARENTS] = begin + n_parents
    ints(tree, KEPT_AT)[node], ints(tree, N_KEPT)[node] = begin, n_parents
    floats(tree, SCORE)[node] = score


@kernel
def shrink(engine, scratch, task, tree, child, node):
    """Remove parents of a node, the one whose removal gains most first, while that improves."""
    n_parents = hold_parents_of(tree, task, child, node)
    own, held, gains = ints(tree, OWN), flags(tree, IS_HELD), floats(tree, TREE_GAINS)
    required, odds = flags2(task, REQUIRED)[child], floats2(task, ODDS)[child]
    best = np.int64(0)
    while best >= 0:
        score = family_gains(engine, scratch, task, child, own, n_parents, held, gains)
        best = np.int64(-1)
        least = floats(task, TOLERANCE)[0]
        for at in range(n_parents):
            v = own[at]
            score += odds[v]
            if gains[v] > least and not required[v]:
                best, least = at, gains[v]
        if best >= 0:
            held[own[best]] = False
            for at in range(best, n_parents - 1):
                own[at] = own[at + 1]
            n_parents -= 1
    keep_parents(tree, node, n_parents, score)


@kernel
def follow(listed, following, first, length, position, node, before):
    """Go down a tree along the first listed variable that stands before ``before``.

    Returns
    -------
    node, at : int
        The node at the end; ``at`` says which listed variable leads on to a node that is not made
        yet, -1 if none.
    """
    while True:
        found = np.int64(-1)
        for at in range(first[node], first[node] + length[node]):
            if position[listed[at]] < before:
                found = at
                break
        if found < 0 or following[found] < 0:
            return node, found
        node = following[found]


@kernel
def grow(engine, scratch, task, tree, position, child):
    """The node of the family of ``child`` grown from what stands before it, its score known.

    ``position`` is int64 (n,), the place of every variable in the order.
    """
    roots = ints(tree, ROOTS)
    while True:
        if is_full(tree):
            empty(tree)
        if roots[child] < 0:
            roots[child] = make_node(engine, scratch, task, tree, child, np.int64(-1), np.int64(-1))
            continue
        node, at = follow(
            ints(tree, LISTED),
            ints(tree, NEXT),
            ints(tree, FIRST),
            ints(tree, LENGTH),
            position,
            roots[child],
            position[child],
        )
        if at >= 0:
            ints(tree, NEXT)[at] = make_node(
                engine, scratch, task, tree, child, node, ints(tree, LISTED)[at]
            )
            continue
        if np.isnan(floats(tree, SCORE)[node]):
            shrink(engine, scratch, task, tree, child, node)
        return node
