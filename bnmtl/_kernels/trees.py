"""Families grown and shrunk from the predecessors of a variable, used by ``orders``.

All tasks share one order, and the parents of a child are chosen jointly for all tasks. The tree of
a child has one node per choice of parents that was reached. Each node lists the variables whose
holders, the tasks in which they are a parent, can be changed to improve the score, best first. To
find the family for given predecessors, repeatedly follow the first listed variable that precedes
the child until there is none. These are the grow-shrink trees of Andrews et al. (2023, BOSS), but
parents may be removed as soon as that gains most, and nodes cover several tasks. Growing misses
parent sets that improve the score only jointly. Families of this kind that a search over graphs has
found are stored separately.

Given the order, the arc of a pair can only point in one direction, so the coupling decomposes over
children, and for both Edit and Paired the best holders of a parent are a prefix of the tasks sorted
by gain.

Data contract: ``tasks`` are the tables of `dags.TASK`, ``shared`` that of `SHARED`. The table of
`TREE` is filled on demand and emptied when it is full, so node numbers are valid until the next
call of `find`. A set of tasks is a row of int64 words whose bit s stands for task s.
"""

import numpy as np

from bnmtl._kernels._jit import Arrays, flags, floats, ints, kernel, layout
from bnmtl._kernels.coupling import priced
from bnmtl._kernels.dags import ODDS, REQUIRED, family_gains

SHARED = layout(
    BEFORE := flags("before", 2),  # (n, n): [b, a] whether any task requires a -> b
    TOGETHER := flags("together", 3),  # (k, n, n), symmetric: whether the task has the pair
    LOG_PENALTY := floats("log_penalty", 2),  # (n, n): of the pair, 0 if it is not coupled
    COUPLING := floats("coupling"),  # (3,): PAIRED or EDIT, then the costs of adding and deleting
    TOLERANCE := floats("tolerance"),  # (1,)
)
PAIRED, EDIT = range(2)

TREE = layout(
    ROOTS := ints("roots"),  # (n,): -1 if a child has no tree yet
    USED := ints("used"),  # (2,): number of nodes and of listed variables
    ABOVE := ints("above"),  # (nodes,): the parent node, -1 for a root
    VARIABLE := ints("variable"),  # (nodes,): the variable whose holders were changed
    HOLDERS := ints("holders", 2),  # (nodes, words): the tasks that take it as a parent
    FIRST := ints("first"),  # (nodes,): begin of the node's list
    LENGTH := ints("length"),  # (nodes,)
    SCORE := floats("score"),  # (nodes,): local scores, log prior odds and log coupling, summed
    LISTED := ints("listed"),  # flat: variables by decreasing gain
    NEXT := ints("next"),  # flat: the node that each leads to, -1 if not made yet
    LISTED_HOLDERS := ints("listed_holders", 2),  # (listed, words)
    N_KNOWN := ints("n_known", 2),  # (n, `MOST_KNOWN`): number of parents in any task
    KNOWN := ints("known", 2),  # (n * `MOST_KNOWN`, `MOST_KNOWN_PARENTS`)
    KNOWN_SCORE := floats("known_score", 2),  # (n, `MOST_KNOWN`): -inf if there is none
    KNOWN_HOLDERS := ints("known_holders", 3),  # (as KNOWN, words): the tasks that take each
    MATTERS := flags("matters", 2),  # (n, n): [b, a] whether a was ever listed or known for b
    RELATED := flags("related", 2),  # (n, n), symmetric: whether the order of a pair may matter
    TASK_PARENTS := ints("task_parents", 2),  # (k, n): scratch, parents of a node, ascending
    N_TASK_PARENTS := ints("n_task_parents"),  # (k,): scratch
    IS_HELD := flags("held", 2),  # (k, n): scratch, the parents of a node as marks
    TOGGLES := floats("gains", 2),  # (k, n): scratch, gains of toggling
    FOUND := floats("found"),  # (n,): scratch, gains of the listed variables
    WORTH := floats("worth"),  # (k,): scratch, gain of each task from taking a parent
    RANKED := ints("ranked"),  # (k,): scratch, tasks by decreasing worth
)
NODES, LISTS = range(2)
# Maximum number of families remembered for each child, and of their parents.
MOST_KNOWN = 8
MOST_KNOWN_PARENTS = 16


def new_tree(k, before, n_nodes):
    """Memory for the trees of all children of k tasks, with ``n_nodes`` nodes in total."""
    n = len(before)
    n_nodes = max(n_nodes, 4 * n)
    n_listed = 16 * n_nodes + 4 * n * n
    n_words = -(-k // 64)
    return Arrays(
        TREE,
        roots=np.full(n, -1),
        used=np.zeros(2, np.int64),
        **{name: np.empty(n_nodes, np.int64) for name in ("above", "variable", "first", "length")},
        holders=np.empty((n_nodes, n_words), np.int64),
        score=np.empty(n_nodes),
        listed=np.empty(n_listed, np.int64),
        next=np.empty(n_listed, np.int64),
        listed_holders=np.empty((n_listed, n_words), np.int64),
        n_known=np.zeros((n, MOST_KNOWN), np.int64),
        known=np.zeros((n * MOST_KNOWN, MOST_KNOWN_PARENTS), np.int64),
        known_score=np.full((n, MOST_KNOWN), -np.inf),
        known_holders=np.zeros((n * MOST_KNOWN, MOST_KNOWN_PARENTS, n_words), np.int64),
        matters=np.zeros((n, n), dtype=bool),
        related=before | before.T,
        task_parents=np.zeros((k, n), np.int64),
        n_task_parents=np.zeros(k, np.int64),
        held=np.zeros((k, n), dtype=bool),
        gains=np.zeros((k, n)),
        found=np.zeros(n),
        worth=np.zeros(k),
        ranked=np.zeros(k, np.int64),
    )


@kernel
def empty(tree):
    """Forget all nodes."""
    roots, used = ROOTS(tree), USED(tree)
    for child in range(roots.size):
        roots[child] = -1
    for at in range(used.size):
        used[at] = 0


@kernel
def is_full(tree):
    """Whether there is no room for one more node."""
    used, n = USED(tree), ROOTS(tree).size
    return used[NODES] == ABOVE(tree).size or used[LISTS] + n > LISTED(tree).size


@kernel
def holds(holders, s):
    """Whether task s is in a set of tasks."""
    return (holders[s >> 6] >> (s & 63)) & 1 != 0


@kernel
def hold_parents_of(tree, tasks, child, node):
    """Mark in scratch the parents that a node stands for."""
    held, parents, n_parents = IS_HELD(tree), TASK_PARENTS(tree), N_TASK_PARENTS(tree)
    above, variable, holders = ABOVE(tree), VARIABLE(tree), HOLDERS(tree)
    # Only the latest choice of each variable counts; required parents stay.
    seen = FOUND(tree)
    for v in range(seen.size):
        seen[v] = 0.0
        for s in range(n_parents.size):
            held[s, v] = REQUIRED(tasks[s])[child, v]
    while above[node] >= 0:
        v = variable[node]
        if seen[v] == 0.0:
            seen[v] = 1.0
            for s in range(n_parents.size):
                held[s, v] = held[s, v] or holds(holders[node], s)
        node = above[node]
    list_parents(held, parents, n_parents)


@kernel
def list_parents(held, parents, n_parents):
    """List the marked parents of every task."""
    for s in range(n_parents.size):
        n_parents[s] = 0
        for v in range(held.shape[1]):
            if held[s, v]:
                parents[s, n_parents[s]] = v
                n_parents[s] += 1


@kernel
def log_coupling(shared, a, b, k, m):
    """Log coupling of a pair of k tasks, m of which have an arc, all in the same direction."""
    log_penalty, coupling = LOG_PENALTY(shared)[b, a], COUPLING(shared)
    if coupling[0] == PAIRED:
        return priced(log_penalty, float(m * (k - m)))
    return priced(log_penalty, min(m * coupling[2], (k - m) * coupling[1]))


@kernel
def sift(ranked, worth, root, end):
    """Sift an entry down to its place in a min-heap."""
    while 2 * root + 1 < end:
        below = 2 * root + 1
        if below + 1 < end and worth[ranked[below + 1]] < worth[ranked[below]]:
            below += 1
        if worth[ranked[root]] <= worth[ranked[below]]:
            return
        ranked[root], ranked[below] = ranked[below], ranked[root]
        root = below


@kernel
def rank(ranked, worth, end):
    """Sort the first ``end`` entries of ``ranked`` by decreasing worth (heap sort)."""
    for root in range(end // 2 - 1, -1, -1):
        sift(ranked, worth, root, end)
    for last in range(end - 1, 0, -1):
        ranked[0], ranked[last] = ranked[last], ranked[0]
        sift(ranked, worth, np.int64(0), last)


@kernel
def rank_holders(tree, tasks, shared, a, b):
    """Rank the tasks in which a -> b is coupled by their gain from taking it.

    Returns
    -------
    k, m, forced : int
        Number of these tasks, of those that have the arc now, and of those that require it.
    now : float
        Total gain of those that have the arc without requiring it.
    """
    held, toggles = IS_HELD(tree), TOGGLES(tree)
    worth, ranked = WORTH(tree), RANKED(tree)
    k, m, forced, now = np.int64(0), np.int64(0), np.int64(0), 0.0
    for s in range(worth.size):
        # A required arc of a variable that is constant in the task is present but not coupled.
        if not TOGETHER(shared)[s, b, a]:
            continue
        if REQUIRED(tasks[s])[b, a]:
            worth[s] = np.inf
            forced += 1
        elif held[s, a]:
            worth[s] = -toggles[s, a]
            now += worth[s]
        elif np.isnan(toggles[s, a]):
            worth[s] = -np.inf
        else:
            worth[s] = toggles[s, a]
        m += held[s, a]
        ranked[k] = s
        k += 1
    rank(ranked, worth, k)
    return k, m, forced, now


@kernel
def choose_holders(tree, tasks, shared, a, b, holders):
    """Choose the tasks that take a as a parent of b, given the current other parents.

    Writes them to ``holders`` and returns the gain over the current choice.
    """
    worth, ranked = WORTH(tree), RANKED(tree)
    for word in range(holders.size):
        holders[word] = 0
    k, m, forced, now = rank_holders(tree, tasks, shared, a, b)
    if k == 0:
        return 0.0
    before = now + log_coupling(shared, a, b, k, m)
    best, best_m, gain = -np.inf, np.int64(-1), 0.0
    for m in range(k + 1):
        if m > forced:
            gain += worth[ranked[m - 1]]
        if gain == -np.inf:
            break
        value = gain + log_coupling(shared, a, b, k, m)
        if m >= forced and (value > best or best_m < 0):
            best, best_m = value, m
    for at in range(best_m):
        s = ranked[at]
        holders[s >> 6] |= np.int64(1) << (s & 63)
    if best == -np.inf:
        return 0.0
    return best - before


@kernel
def relate(tree, a, b):
    """Note that the order of two variables may matter."""
    related = RELATED(tree)
    related[a, b] = related[b, a] = True


@kernel
def make_node(engine, scratch, tasks, shared, tree, child, above, listed_at):
    """Make a root, or a node that changes the holders of one listed variable of ``above``.

    Also computes the node's score and its list of variables.
    """
    used, node = USED(tree), USED(tree)[NODES]
    listed, listed_holders = LISTED(tree), LISTED_HOLDERS(tree)
    ABOVE(tree)[node] = above
    if above >= 0:
        VARIABLE(tree)[node] = listed[listed_at]
        for word in range(listed_holders.shape[1]):
            HOLDERS(tree)[node, word] = listed_holders[listed_at, word]
    used[NODES] += 1
    hold_parents_of(tree, tasks, child, node)
    SCORE(tree)[node] = score_parents(engine, scratch, tasks, shared, tree, child)

    found, following = FOUND(tree), NEXT(tree)
    matters = MATTERS(tree)[child]
    tolerance = TOLERANCE(shared)[0]
    begin = used[LISTS]
    end = begin
    for v in range(found.size):
        if v == child:
            continue
        # Insertion sort by decreasing gain.
        gain = choose_holders(tree, tasks, shared, v, child, listed_holders[end])
        if not gain > tolerance:
            continue
        matters[v] = True
        relate(tree, child, v)
        following[end] = -1
        listed[end] = v
        found[end - begin] = gain
        at = end
        while at > begin and found[at - 1 - begin] < gain:
            exchange_listed(listed, listed_holders, found, at, begin)
            at -= 1
        end += 1
    FIRST(tree)[node], LENGTH(tree)[node] = begin, end - begin
    used[LISTS] = end
    return node


@kernel
def exchange_listed(listed, holders, found, at, begin):
    """Exchange a listed variable with the one before it."""
    listed[at], listed[at - 1] = listed[at - 1], listed[at]
    left, right = at - 1 - begin, at - begin
    found[left], found[right] = found[right], found[left]
    for word in range(holders.shape[1]):
        holders[at, word], holders[at - 1, word] = holders[at - 1, word], holders[at, word]


@kernel
def score_parents(engine, scratch, tasks, shared, tree, child):
    """Score of the parents in scratch; writes the gains of toggling to scratch."""
    parents, n_parents, held = TASK_PARENTS(tree), N_TASK_PARENTS(tree), IS_HELD(tree)
    toggles, together = TOGGLES(tree), TOGETHER(shared)
    score = 0.0
    for s in range(n_parents.size):
        score += family_gains(
            engine, scratch, tasks[s], child, parents[s], n_parents[s], held[s], toggles[s]
        )
        odds = ODDS(tasks[s])[child]
        for at in range(n_parents[s]):
            score += odds[parents[s, at]]
    if n_parents.size == 1:
        return score
    for v in range(held.shape[1]):
        k, m = np.int64(0), np.int64(0)
        for s in range(n_parents.size):
            k += together[s, child, v]
            m += held[s, v] and together[s, child, v]
        if m > 0:
            score += log_coupling(shared, v, child, k, m)
    return score


@kernel
def follow(listed, following, first, length, position, node, before):
    """Descend in a tree along the first listed variable whose position is less than ``before``.

    Returns
    -------
    node, at : int
        The last node, and the index of the listed variable that leads to a node not made yet, or
        -1 if the family is complete.
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
def find(engine, scratch, tasks, shared, tree, position, child):
    """The node of the family of ``child`` for its predecessors.

    ``position`` is int64 (n,), the place of every variable in the order.
    """
    roots = ROOTS(tree)
    while True:
        if is_full(tree):
            empty(tree)
        if roots[child] < 0:
            root = np.int64(-1)
            roots[child] = make_node(engine, scratch, tasks, shared, tree, child, root, root)
            continue
        node, at = follow(
            LISTED(tree),
            NEXT(tree),
            FIRST(tree),
            LENGTH(tree),
            position,
            roots[child],
            position[child],
        )
        if at < 0:
            return node
        NEXT(tree)[at] = make_node(engine, scratch, tasks, shared, tree, child, node, at)
