"""The DAG of every search: families, ancestors and gains of toggles, updated arc by arc.

Data contract: arrays are indexed [child, parent]. The table of `DAG` is changed in place; that of
`TASK` describes the legal changes. A set of variables is a row of uint64 words whose bit v stands
for variable v.
"""

import numpy as np

from bnmtl._kernels._jit import Table, call, flags, floats, ints, kernel, layout, words
from bnmtl._kernels.counting import CODE_AT
from bnmtl._kernels.joint_rows import SEARCHED, USABLE_OF
from bnmtl._kernels.scoring import CALLS, COLUMN, CUT, FAMILY, PARTITIONS, QUEUE, WAITING, WANTED

DAG = layout(
    HELD := flags("held", 2),  # (n, n): [b, a] for an arc a -> b
    PARENTS := ints("parents", 2),  # (n, n): parents of b in ascending order; the rest is undefined
    N_PARENTS := ints("n_parents"),  # (n,)
    ANCESTORS := words("ancestors", 2),  # (n, words)
    GAINS := floats("gains", 2),  # (n, n): of toggling a -> b, including prior; nan if impossible
    SCORES := floats("scores"),  # (n,): local scores
    BOUNDS := floats("bounds"),  # (n,): upper bound on the gain of a parent that may be set now
    MARK := ints("mark"),  # (1,): exclusive or of the keys of the arcs
    STAMPS := ints("stamps"),  # (n,): number of the `refresh` that computed a row of gains, or 0
)

TASK = layout(
    MEMBERS := ints("members"),  # tasks of the engine whose scores are summed
    USABLE := flags("usable", 3),  # (members, n, n): whether a may be a parent of b in the member
    PERMITTED := flags("permitted", 2),  # (n, n): whether the arc may be set at all
    REQUIRED := flags("required", 2),  # (n, n): whether the arc is required
    MAY_REMOVE := flags("may_remove", 2),  # (n, n), symmetric: whether the pair may have no arc
    ODDS := floats("odds", 2),  # (n, n): log prior odds of the arc
    MOST_PARENTS := ints("most_parents"),  # (1,)
    ORDER_KEYS := ints("order_keys", 2),  # (n, n), symmetric: the smallest of tied pairs wins
    COINS := flags("coins", 2),  # (n, n): [b, a] whether a -> b wins a tie against b -> a
    ARC_KEYS := ints("arc_keys", 2),  # (n, n)
    TOLERANCE := floats("tolerance"),  # (1,)
    LAST_STAMP := ints("last_stamp"),  # (1,): number of calls of `refresh`
)


@kernel
def copy_dag(source: Table, target: Table):
    """Copy ``source`` to ``target``, a DAG of the same task; equal rows are skipped."""
    to_held = HELD(target)
    parents, to_parents = PARENTS(source), PARENTS(target)
    n_parents, to_n_parents = N_PARENTS(source), N_PARENTS(target)
    ancestors, to_ancestors = ANCESTORS(source), ANCESTORS(target)
    gains, to_gains = GAINS(source), GAINS(target)
    stamps, to_stamps = STAMPS(source), STAMPS(target)
    MARK(target)[0] = MARK(source)[0]
    for b in range(n_parents.size):
        BOUNDS(target)[b] = BOUNDS(source)[b]
        for word in range(ancestors.shape[1]):
            to_ancestors[b, word] = ancestors[b, word]
        for at in range(to_n_parents[b]):
            to_held[b, to_parents[b, at]] = False
        to_n_parents[b] = n_parents[b]
        for at in range(n_parents[b]):
            to_parents[b, at] = parents[b, at]
            to_held[b, parents[b, at]] = True
        if stamps[b] == to_stamps[b]:
            continue
        to_stamps[b] = stamps[b]
        SCORES(target)[b] = SCORES(source)[b]
        for a in range(n_parents.size):
            to_gains[b, a] = gains[b, a]


@kernel
def has(members, v):
    """Whether variable v is in a set."""
    return (members[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def include(members, v):
    """Add variable v to a set."""
    members[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@kernel
def insert_parent(dag, b, a):
    """Insert a into the sorted parents of b."""
    parents, n_parents = PARENTS(dag)[b], N_PARENTS(dag)
    at = n_parents[b]
    while at > 0 and parents[at - 1] > a:
        parents[at] = parents[at - 1]
        at -= 1
    parents[at] = a
    n_parents[b] += 1
    HELD(dag)[b, a] = True


@kernel
def drop_parent(dag, b, a):
    """Remove a from the parents of b."""
    parents, n_parents = PARENTS(dag)[b], N_PARENTS(dag)
    at = 0
    while parents[at] != a:
        at += 1
    for later in range(at, n_parents[b] - 1):
        parents[later] = parents[later + 1]
    n_parents[b] -= 1
    HELD(dag)[b, a] = False


@kernel
def gather_ancestors(dag, b):
    """Compute the ancestors of b from those of its parents."""
    parents, ancestors = PARENTS(dag), ANCESTORS(dag)
    ancestors_of_b = ancestors[b]
    for word in range(ancestors_of_b.size):
        ancestors_of_b[word] = np.uint64(0)
    for at in range(N_PARENTS(dag)[b]):
        a = parents[b, at]
        for word in range(ancestors_of_b.size):
            ancestors_of_b[word] |= ancestors[a, word]
        include(ancestors_of_b, a)


@kernel
def set_arc(dag, task, a, b):
    """Set a -> b, which must not close a cycle, without refreshing gains."""
    insert_parent(dag, b, a)
    MARK(dag)[0] ^= ARC_KEYS(task)[b, a]
    ancestors = ANCESTORS(dag)
    for d in range(ancestors.shape[0]):
        if d == b or has(ancestors[d], b):
            for word in range(ancestors.shape[1]):
                ancestors[d, word] |= ancestors[a, word]
            include(ancestors[d], a)


@kernel
def clear_arc(dag, task, a, b, scratch):
    """Remove a -> b without refreshing gains."""
    drop_parent(dag, b, a)
    MARK(dag)[0] ^= ARC_KEYS(task)[b, a]
    ancestors, parents = ANCESTORS(dag), PARENTS(dag)[b]
    for at in range(N_PARENTS(dag)[b]):
        if has(ancestors[parents[at]], a):
            return
    # Only arcs into a or its ancestors can have become legal by the removal.
    bounds = BOUNDS(dag)
    for d in range(bounds.size):
        if d == a or has(ancestors[a], d):
            bounds[d] = np.inf
    gather_below(dag, b, scratch)


@kernel
def gather_below(dag, b, scratch):
    """Compute the ancestors of b and of its descendants in topological order."""
    ancestors, held = ANCESTORS(dag), HELD(dag)
    parents, n_parents = PARENTS(dag), N_PARENTS(dag)
    # Number of unprocessed parents of each descendant; -1 for other variables.
    affected, waiting, queue = CUT(scratch), WAITING(scratch), QUEUE(scratch)
    n_affected = np.int64(0)
    for d in range(n_parents.size):
        waiting[d] = -1
        if d == b or has(ancestors[d], b):
            affected[n_affected] = d
            n_affected += 1
            waiting[d] = 0
    for i in range(n_affected):
        d = affected[i]
        for at in range(n_parents[d]):
            if d != b and waiting[parents[d, at]] >= 0:
                waiting[d] += 1
    queue[0] = b
    done, end = 0, 1
    while done < end:
        d = queue[done]
        done += 1
        gather_ancestors(dag, d)
        if end == n_affected:
            continue
        for i in range(n_affected):
            e = affected[i]
            if waiting[e] > 0 and held[e, d]:
                waiting[e] -= 1
                if waiting[e] == 0:
                    queue[end] = e
                    end += 1


@kernel
def closes_cycle(held, ancestors, parents, n_parents, a, b):
    """Whether a path other than the arc b -> a leads from b to a; takes the arrays of a DAG."""
    if not held[a, b]:
        return has(ancestors[a], b)
    for at in range(n_parents[a]):
        p = parents[a, at]
        if p != b and has(ancestors[p], b):
            return True
    return False


@kernel
def is_legal(held, ancestors, parents, n_parents, permitted, most_parents, a, b):
    """Whether a -> b may be set now, as in `may_set`; takes the arrays of a DAG."""
    if not permitted[b, a] or n_parents[b] >= most_parents:
        return False
    return not closes_cycle(held, ancestors, parents, n_parents, a, b)


@kernel
def may_set(dag: Table, task: Table, a: int, b: int):
    """Whether a -> b may be set now; an arc b -> a would be reversed."""
    graph = HELD(dag), ANCESTORS(dag), PARENTS(dag), N_PARENTS(dag)
    return is_legal(*graph, PERMITTED(task), MOST_PARENTS(task)[0], a, b)


@kernel
def family_gains(engine, scratch, task, b, parents, n_parents, held, out):
    """Gains of toggling each parent of b in all members that have b, including the prior.

    ``held`` marks the parents. The gains are written to ``out``, nan where toggling is illegal.

    Returns
    -------
    float
        Local score of the current family.
    """
    permitted, odds = PERMITTED(task)[b], ODDS(task)[b]
    room = n_parents < MOST_PARENTS(task)[0]
    n = permitted.size
    for v in range(n):
        out[v] = 0.0
    if MEMBERS(task).size > 1 and PARTITIONS(engine).size > 0:
        score = evidence_gains(engine, scratch, task, b, parents, n_parents, room, out)
    else:
        score = summed_gains(engine, scratch, task, b, parents, n_parents, room, out)
    for a in range(n):
        if held[a]:
            out[a] -= odds[a]
        elif a == b or not (room and permitted[a]):
            out[a] = np.nan
        else:
            out[a] += odds[a]
    return score


@kernel
def summed_gains(engine, scratch, task, b, parents, n_parents, room, out):
    """Local score of a family, summed over the members that have b; adds their gains to ``out``."""
    permitted = PERMITTED(task)[b]
    members, gains = MEMBERS(task), CALLS(engine)[0]
    column, family = COLUMN(scratch), FAMILY(scratch)
    wanted = WANTED(scratch)
    score = 0.0
    n = permitted.size
    for at in range(members.size):
        s = members[at]
        if CODE_AT(engine)[s, b] < 0:
            continue
        usable = USABLE(task)[at, b]
        end = np.int64(0)
        for i in range(n_parents):
            if usable[parents[i]]:
                family[end] = parents[i]
                end += 1
        for v in range(n):
            wanted[v] = room and usable[v] and permitted[v]
        call(gains, engine, scratch, s, b, end)
        score += column[b]
        for v in range(n):
            if usable[v] and v != b:
                out[v] += column[v]
    return score


@kernel
def evidence_gains(engine, scratch, task, b, parents, n_parents, room, out):
    """Like `summed_gains`, for members that may share tables."""
    permitted, members = PERMITTED(task)[b], MEMBERS(task)
    searched, usable_of = SEARCHED(scratch), USABLE_OF(scratch)
    column, family = COLUMN(scratch), FAMILY(scratch)
    wanted = WANTED(scratch)
    n_searched = np.int64(0)
    for v in range(permitted.size):
        wanted[v] = False
    for at in range(members.size):
        if CODE_AT(engine)[members[at], b] < 0:
            continue
        searched[n_searched] = members[at]
        for v in range(permitted.size):
            usable = USABLE(task)[at, b, v]
            usable_of[n_searched, v] = usable
            wanted[v] = wanted[v] or (usable and room and permitted[v])
        n_searched += 1
    for i in range(n_parents):
        family[i] = parents[i]
    call(CALLS(engine)[1], engine, scratch, n_searched, b, n_parents)
    for v in range(permitted.size):
        if v != b and (wanted[v] or column[v] == column[v]):
            out[v] = column[v]
    return column[b]


@kernel
def refresh(engine, scratch, task, dag, b):
    """Compute the gains and the local score of the family of b."""
    held, out = HELD(dag)[b], GAINS(dag)[b]
    parents, n_parents = PARENTS(dag)[b], N_PARENTS(dag)[b]
    SCORES(dag)[b] = family_gains(engine, scratch, task, b, parents, n_parents, held, out)
    LAST_STAMP(task)[0] += 1
    STAMPS(dag)[b] = LAST_STAMP(task)[0]
    best = -np.inf
    for a in range(out.size):
        # Comparisons with nan are false.
        if not held[a] and out[a] > best:
            best = out[a]
    BOUNDS(dag)[b] = best


@kernel
def family_score(task, dag, b):
    """Local score of b plus the log prior odds of its arcs."""
    odds, parents = ODDS(task)[b], PARENTS(dag)[b]
    total = SCORES(dag)[b]
    for at in range(N_PARENTS(dag)[b]):
        total += odds[parents[at]]
    return total


@kernel
def total_score(task: Table, dag: Table):
    """Local scores plus log prior odds of the arcs, summed in the order of the variables."""
    scores, odds = SCORES(dag), ODDS(task)
    parents, n_parents = PARENTS(dag), N_PARENTS(dag)
    total = 0.0
    for b in range(scores.size):
        total += scores[b]
        for at in range(n_parents[b]):
            total += odds[b, parents[b, at]]
    return total
