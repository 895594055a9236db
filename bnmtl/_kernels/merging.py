"""Combine the better parts of two graphs of one task, used by ``bnmtl.search.orders``.

Changes far apart in the graph affect the score independently. If a search makes many changes at
once, the parts that improve the score are kept and the others are undone.

Data contract: graphs as in ``dags``, both of the same task. The table of `MERGE` is scratch.
"""

import numpy as np

from bnmtl._kernels._jit import Arrays, flags, floats, ints, kernel, layout
from bnmtl._kernels.dags import N_PARENTS, PARENTS, STAMPS, family_score

MERGE = layout(
    CHOSEN := flags("chosen"),  # (n,): whether a child has its parents of the second graph
    PART := ints("part"),  # (n,): union-find, link towards the head of a child's part, or -1
    GAIN := floats("gain"),  # (n,): gain of the part of a head
    TRIED := flags("tried"),  # (n,): whether the part of a head has been tried
    WAITING := ints("waiting"),  # (n,): number of unprocessed children of a variable
    QUEUE := ints("queue"),  # (n,)
)


def new_merge(n):
    """Memory for graphs of n variables."""
    return Arrays(
        MERGE,
        **{name: np.zeros(n, np.int64) for name in ("part", "waiting", "queue")},
        **{name: np.zeros(n, dtype=bool) for name in ("chosen", "tried")},
        gain=np.zeros(n),
    )


@kernel
def differs(first, second, v):
    """Whether v has different parents in the two graphs."""
    if STAMPS(first)[v] == STAMPS(second)[v]:
        return False
    n_parents = N_PARENTS(first)[v]
    if n_parents != N_PARENTS(second)[v]:
        return True
    parents, others = PARENTS(first)[v], PARENTS(second)[v]
    found = False
    for at in range(n_parents):
        found = found or parents[at] != others[at]
    return found


@kernel
def head_of(part, v):
    """The head, a child that represents the part of v."""
    while part[v] != v:
        v = part[v]
    return v


@kernel
def join_parents(part, dag, v):
    """Merge the part of v with the parts of its parents."""
    parents = PARENTS(dag)[v]
    for at in range(N_PARENTS(dag)[v]):
        if part[parents[at]] >= 0:
            part[head_of(part, parents[at])] = head_of(part, v)


@kernel
def find_parts(memory, task, first, second):
    """Merge changed children that are adjacent in either graph into parts; sum their gains."""
    part, gain = PART(memory), GAIN(memory)
    for v in range(part.size):
        part[v] = v if differs(first, second, v) else -1
        gain[v] = 0.0
    for v in range(part.size):
        if part[v] >= 0:
            join_parents(part, first, v)
            join_parents(part, second, v)
    for v in range(part.size):
        if part[v] >= 0:
            gain[head_of(part, v)] += family_score(task, second, v) - family_score(task, first, v)


@kernel
def has_cycle(memory, first, second):
    """Whether the currently chosen families form a cycle."""
    chosen, waiting, queue = CHOSEN(memory), WAITING(memory), QUEUE(memory)
    parents, others = PARENTS(first), PARENTS(second)
    n_parents, n_others = N_PARENTS(first), N_PARENTS(second)
    n = chosen.size
    for v in range(n):
        waiting[v] = 0
    for v in range(n):
        for at in range(n_others[v] if chosen[v] else n_parents[v]):
            waiting[others[v, at] if chosen[v] else parents[v, at]] += 1
    done, end = np.int64(0), np.int64(0)
    for v in range(n):
        if waiting[v] == 0:
            queue[end] = v
            end += 1
    while done < end:
        v = queue[done]
        done += 1
        for at in range(n_others[v] if chosen[v] else n_parents[v]):
            u = others[v, at] if chosen[v] else parents[v, at]
            waiting[u] -= 1
            if waiting[u] == 0:
                queue[end] = u
                end += 1
    return end < n


@kernel
def choose_part(memory, head, is_chosen):
    """Take the families of a part from the second graph if ``is_chosen``, else from the first."""
    part, chosen = PART(memory), CHOSEN(memory)
    for v in range(part.size):
        if part[v] >= 0 and head_of(part, v) == head:
            chosen[v] = is_chosen


@kernel
def merge(memory, task, first, second, least, merged):
    """Replace parts of the first graph by those of the second that gain ``least``, best first.

    The result is written to ``merged``, bool (n, n) [child, parent]. Parts that would close a cycle
    are not replaced.

    Returns
    -------
    bool
        Whether any part was replaced; otherwise nothing is written.
    """
    part, chosen = PART(memory), CHOSEN(memory)
    gain, tried = GAIN(memory), TRIED(memory)
    find_parts(memory, task, first, second)
    for v in range(part.size):
        chosen[v] = False
        tried[v] = part[v] != v or not gain[v] >= least
    any_chosen = False
    while True:
        best = np.int64(-1)
        for v in range(part.size):
            if not tried[v] and (best < 0 or gain[v] > gain[best]):
                best = np.int64(v)
        if best < 0:
            break
        tried[best] = True
        choose_part(memory, best, np.bool_(True))
        if has_cycle(memory, first, second):
            choose_part(memory, best, np.bool_(False))
        else:
            any_chosen = True
    if any_chosen:
        write_graph(memory, first, second, merged)
    return any_chosen


@kernel
def write_graph(memory, first, second, merged):
    """Write the chosen families."""
    chosen = CHOSEN(memory)
    for v in range(chosen.size):
        for u in range(chosen.size):
            merged[v, u] = False
        n_parents = N_PARENTS(second if chosen[v] else first)[v]
        parents = PARENTS(second if chosen[v] else first)[v]
        for at in range(n_parents):
            merged[v, parents[at]] = True
