"""Changes of one arc and random perturbations, used by ``climbing``, ``orders`` and searches.

Data contract: as in ``dags``. A change of a pair is (a, b, state): state 1 sets a -> b and reverses
b -> a if present; state 0 removes a -> b; state -1 means no change. The state of the random number
generator is ``random``, uint64 (1,).
"""

import numpy as np

from bnmtl._kernels._jit import kernel
from bnmtl._kernels.dags import (
    HELD,
    MAY_REMOVE,
    MEMBERS,
    N_PARENTS,
    PARENTS,
    USABLE,
    clear_arc,
    may_set,
    set_arc,
)
from bnmtl._kernels.scoring import ARITIES, MOST_CELLS, TOUCHED

# Typed, because numba compiles a function again for every literal argument.
NONE, REMOVE, SET = np.int64(-1), np.int64(0), np.int64(1)


@kernel
def change_arcs(dag, task, scratch, a, b, state):
    """Make a change without refreshing gains."""
    if state == REMOVE:
        clear_arc(dag, task, a, b, scratch)
        return
    if HELD(dag)[a, b]:
        clear_arc(dag, task, b, a, scratch)
    set_arc(dag, task, a, b)


@kernel
def draw(random, below):
    """Draw an integer from 0 to ``below`` - 1 (Marsaglia's xorshift); ``random`` is uint64 (1,)."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(below))


@kernel
def draw_near(dag, variables, random, near):
    """Draw variables that are close in the graph: a random one, its neighbors, theirs, and so on.

    They are written to ``near``, whose size limits their number. If a component of the graph is
    exhausted, another random variable of ``variables`` follows.

    Returns
    -------
    int
        Number of variables drawn.
    """
    held = HELD(dag)
    wanted = min(near.size, variables.size)
    done, end = np.int64(0), np.int64(0)
    while end < wanted:
        if done == end:
            end = add_new(near, end, variables[draw(random, variables.size)])
            continue
        v, first = near[done], draw(random, held.shape[0])
        done += 1
        for step in range(held.shape[0]):
            u = (first + step) % held.shape[0]
            if end < wanted and (held[u, v] or held[v, u]):
                end = add_new(near, end, u)
    return end


@kernel
def add_new(members, n_members, v):
    """Append v to ``members`` unless it is already there; returns their number."""
    for at in range(n_members):
        if members[at] == v:
            return n_members
    members[n_members] = v
    return n_members + 1


@kernel
def is_small_enough(engine, task, dag, b, a):
    """Whether no task's family of b, with a as a parent, exceeds its maximum number of cells."""
    arities, parents = ARITIES(engine), PARENTS(dag)
    members, usable = MEMBERS(task), USABLE(task)
    for at in range(members.size):
        if not usable[at, b, a]:
            continue
        cells = float(arities[b]) * arities[a]
        for i in range(N_PARENTS(dag)[b]):
            if usable[at, b, parents[b, i]]:
                cells *= arities[parents[b, i]]
        if cells > MOST_CELLS(engine)[members[at]]:
            return False
    return True


@kernel
def disturb(engine, scratch, task, dag, variables, random, n_changes):
    """Make random legal changes of one arc each: set, remove or reverse it, all equally likely.

    The arcs are among ``variables``; ``scratch.touched`` marks the children whose gains have to be
    refreshed.
    """
    touched, held = TOUCHED(scratch), HELD(dag)
    for v in range(N_PARENTS(dag).size):
        touched[v] = False
    m = variables.size
    done, tried = 0, 0
    while done < n_changes and tried < 64 * m * m:
        tried += 1
        a, b = variables[draw(random, m)], variables[draw(random, m)]
        if a == b:
            continue
        if held[b, a]:
            if not MAY_REMOVE(task)[b, a]:
                continue
            state = REMOVE
        elif may_set(dag, task, a, b) and is_small_enough(engine, task, dag, b, a):
            state = SET
        else:
            continue
        if state == SET and held[a, b]:
            touched[a] = True
        change_arcs(dag, task, scratch, a, b, state)
        touched[b] = True
        done += 1
