"""A DAG under search: families, gains of every toggle and ancestors, kept up to date by arc.

Data contract: arrays are indexed [child, parent]. The table of `DAG` is changed in place; that of
`TASK` says what may be done to it. A set of variables is a row of uint64 words, bit v being
variable v.
"""

import numpy as np

from bnmtl._kernels._jit import (
    call,
    flags,
    flags2,
    flags3,
    floats,
    floats2,
    ints,
    ints2,
    kernel,
    words2,
)
from bnmtl._kernels.joint_rows import SEARCHED, USABLE_OF
from bnmtl._kernels.partition import CODE_AT
from bnmtl._kernels.scoring import (
    CALLS,
    COLUMN,
    CUT,
    FAMILY,
    PARTITIONS,
    QUEUE,
    WAITING,
    WANTED,
)

DAG = (
    ("held", np.bool_, 2),  # (n, n): [b, a] for an arc a -> b
    ("parents", np.int64, 2),  # (n, n): the parents of b in ascending order, then anything
    ("n_parents", np.int64, 1),  # (n,)
    ("ancestors", np.uint64, 2),  # (n, words)
    ("gains", np.float64, 2),  # (n, n): of toggling a -> b, prior included; nan if impossible
    ("scores", np.float64, 1),  # (n,): local scores
    ("bounds", np.float64, 1),  # (n,): no parent that may be set now gains more
    ("mark", np.int64, 1),  # (1,): exclusive or of the keys of the arcs
    ("stamps", np.int64, 1),  # (n,): which `refresh` a row of gains is of, 0 for none yet
)
HELD, PARENTS, N_PARENTS, ANCESTORS, GAINS, SCORES, BOUNDS, MARK, STAMPS = range(len(DAG))

TASK = (
    ("members", np.int64, 1),  # tasks of the engine whose scores are added up
    ("usable", np.bool_, 3),  # (members, n, n): where a may be a parent of b in that member
    ("permitted", np.bool_, 2),  # (n, n): where the arc may ever be set
    ("required", np.bool_, 2),  # (n, n): where the arc must be
    ("may_remove", np.bool_, 2),  # (n, n), symmetric: whether the pair may have no arc
    ("odds", np.float64, 2),  # (n, n): log prior of the arc less that of its absence
    ("most_parents", np.int64, 1),  # (1,)
    ("order_keys", np.int64, 2),  # (n, n), symmetric: among tied pairs the smallest wins
    ("coins", np.bool_, 2),  # (n, n): [b, a] true where a -> b wins a tie against b -> a
    ("arc_keys", np.int64, 2),  # (n, n)
    ("tolerance", np.float64, 1),  # (1,)
    ("last_stamp", np.int64, 1),  # (1,): counts the calls of `refresh`
)
MEMBERS, USABLE, PERMITTED, REQUIRED, MAY_REMOVE, ODDS, MOST_PARENTS = range(7)
ORDER_KEYS, COINS, ARC_KEYS, TOLERANCE, LAST_STAMP = range(7, len(TASK))


@kernel
def copy_dag(source, target):
    """Make ``target`` equal to ``source``, both of one task; rows that are equal are skipped."""
    to_held = flags2(target, HELD)
    parents, to_parents = ints2(source, PARENTS), ints2(target, PARENTS)
    n_parents, to_n_parents = ints(source, N_PARENTS), ints(target, N_PARENTS)
    ancestors, to_ancestors = words2(source, ANCESTORS), words2(target, ANCESTORS)
    gains, to_gains = floats2(source, GAINS), floats2(target, GAINS)
    stamps, to_stamps = ints(source, STAMPS), ints(target, STAMPS)
    ints(target, MARK)[0] = ints(source, MARK)[0]
    for b in range(n_parents.size):
        floats(target, BOUNDS)[b] = floats(source, BOUNDS)[b]
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
        floats(target, SCORES)[b] = floats(source, SCORES)[b]
        for a in range(n_parents.size):
            to_gains[b, a] = gains[b, a]


@kernel
def has(members, v):
    """Whether variable v is in a set."""
    return (members[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def include(members, v):
    """Put variable v into a set."""
    members[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@kernel
def insert_parent(dag, b, a):
    """Put a among the parents of b, in order."""
    parents, n_parents = ints2(dag, PARENTS)[b], ints(dag, N_PARENTS)
    at = n_parents[b]
    while at > 0 and parents[at - 1] > a:
        parents[at] = parents[at - 1]
        at -= 1
    parents[at] = a
    n_parents[b] += 1
    flags2(dag, HELD)[b, a] = True


@kernel
def drop_parent(dag, b, a):
    """Take a from the parents of b."""
    parents, n_parents = ints2(dag, PARENTS)[b], ints(dag, N_PARENTS)
    at = 0
    while parents[at] != a:
        at += 1
    for later in range(at, n_parents[b] - 1):
        parents[later] = parents[later + 1]
    n_parents[b] -= 1
    flags2(dag, HELD)[b, a] = False


@kernel
def gather_ancestors(dag, b):
    """Ancestors of b from those of its parents."""
    parents, ancestors = ints2(dag, PARENTS), words2(dag, ANCESTORS)
    own = ancestors[b]
    for word in range(own.size):
        own[word] = np.uint64(0)
    for at in range(ints(dag, N_PARENTS)[b]):
        a = parents[b, at]
        for word in range(own.size):
            own[word] |= ancestors[a, word]
        include(own, a)


@kernel
def set_arc(dag, task, a, b):
    """Set a -> b, which closes no cycle; gains are not yet refreshed."""
    insert_parent(dag, b, a)
    ints(dag, MARK)[0] ^= ints2(task, ARC_KEYS)[b, a]
    ancestors = words2(dag, ANCESTORS)
    for d in range(ancestors.shape[0]):
        if d == b or has(ancestors[d], b):
            for word in range(ancestors.shape[1]):
                ancestors[d, word] |= ancestors[a, word]
            include(ancestors[d], a)


@kernel
def clear_arc(dag, task, a, b, scratch):
    """Remove a -> b; gains are not yet refreshed."""
    drop_parent(dag, b, a)
    ints(dag, MARK)[0] ^= ints2(task, ARC_KEYS)[b, a]
    ancestors, held = words2(dag, ANCESTORS), flags2(dag, HELD)
    parents, n_parents = ints2(dag, PARENTS), ints(dag, N_PARENTS)
    for at in range(n_parents[b]):
        if has(ancestors[parents[b, at]], a):
            return
    # Only arcs into a and its ancestors may have closed a cycle and do so no longer.
    bounds = floats(dag, BOUNDS)
    for d in range(bounds.size):
        if d == a or has(ancestors[a], d):
            bounds[d] = np.inf
    # What b leads to, and how many parents of each are still to be done; -1 elsewhere.
    affected, waiting, queue = ints(scratch, CUT), ints(scratch, WAITING), ints(scratch, QUEUE)
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
    """Whether a path leads from b to a, an arc b -> a itself left aside; arrays of a DAG."""
    if not held[a, b]:
        return has(ancestors[a], b)
    for at in range(n_parents[a]):
        p = parents[a, at]
        if p != b and has(ancestors[p], b):
            return True
    return False


@kernel
def may_set(dag, task, a, b):
    """Whether a -> b may be set now, an arc b -> a being turned round."""
    n_parents = ints(dag, N_PARENTS)
    if not flags2(task, PERMITTED)[b, a] or n_parents[b] >= ints(task, MOST_PARENTS)[0]:
        return False
    return not closes_cycle(
        flags2(dag, HELD), words2(dag, ANCESTORS), ints2(dag, PARENTS), n_parents, a, b
    )


@kernel
def family_gains(engine, scratch, task, b, parents, n_parents, held, out):
    """Gains of toggling each parent of b, prior included, in all members that have b.

    ``held`` marks the parents, ``out`` gets the gains: nan where nothing may be toggled.

    Returns
    -------
    float
        Local score of the family as it is.
    """
    permitted, odds = flags2(task, PERMITTED)[b], floats2(task, ODDS)[b]
    room = n_parents < ints(task, MOST_PARENTS)[0]
    n = permitted.size
    for v in range(n):
        out[v] = 0.0
    if ints(task, MEMBERS).size > 1 and floats(engine, PARTITIONS).size > 0:
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
    """Local score of a family and, in ``out``, gains: sums over the members that have b."""
    permitted = flags2(task, PERMITTED)[b]
    members, gains = ints(task, MEMBERS), ints(engine, CALLS)[0]
    column, family = floats(scratch, COLUMN), ints(scratch, FAMILY)
    wanted = flags(scratch, WANTED)
    score = 0.0
    n = permitted.size
    for at in range(members.size):
        s = members[at]
        if ints2(engine, CODE_AT)[s, b] < 0:
            continue
        usable = flags3(task, USABLE)[at, b]
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
    """As `summed_gains`, where the members may have tables in common."""
    permitted, members = flags2(task, PERMITTED)[b], ints(task, MEMBERS)
    searched, usable_of = ints(scratch, SEARCHED), flags2(scratch, USABLE_OF)
    column, family = floats(scratch, COLUMN), ints(scratch, FAMILY)
    wanted = flags(scratch, WANTED)
    n_searched = np.int64(0)
    for v in range(permitted.size):
        wanted[v] = False
    for at in range(members.size):
        if ints2(engine, CODE_AT)[members[at], b] < 0:
            continue
        searched[n_searched] = members[at]
        for v in range(permitted.size):
            usable = flags3(task, USABLE)[at, b, v]
            usable_of[n_searched, v] = usable
            wanted[v] = wanted[v] or (usable and room and permitted[v])
        n_searched += 1
    for i in range(n_parents):
        family[i] = parents[i]
    call(ints(engine, CALLS)[1], engine, scratch, n_searched, b, n_parents)
    for v in range(permitted.size):
        if v != b and (wanted[v] or column[v] == column[v]):
            out[v] = column[v]
    return column[b]


@kernel
def refresh(engine, scratch, task, dag, b):
    """Gains and local score of the family of b."""
    held, out = flags2(dag, HELD)[b], floats2(dag, GAINS)[b]
    parents, n_parents = ints2(dag, PARENTS)[b], ints(dag, N_PARENTS)[b]
    floats(dag, SCORES)[b] = family_gains(engine, scratch, task, b, parents, n_parents, held, out)
    ints(task, LAST_STAMP)[0] += 1
    ints(dag, STAMPS)[b] = ints(task, LAST_STAMP)[0]
    best = -np.inf
    for a in range(out.size):
        # nan loses the comparison.
        if not held[a] and out[a] > best:
            best = out[a]
    floats(dag, BOUNDS)[b] = best


@kernel
def family_score(task, dag, b):
    """Local score of b and the prior odds of its arcs, summed."""
    odds, parents = floats2(task, ODDS)[b], ints2(dag, PARENTS)[b]
    total = floats(dag, SCORES)[b]
    for at in range(ints(dag, N_PARENTS)[b]):
        total += odds[parents[at]]
    return total


@kernel
def total_score(task, dag):
    """Local scores and prior odds of the arcs, in the order of the variables."""
    scores, odds = floats(dag, SCORES), floats2(task, ODDS)
    parents, n_parents = ints2(dag, PARENTS), ints(dag, N_PARENTS)
    total = 0.0
    for b in range(scores.size):
        total += scores[b]
        for at in range(n_parents[b]):
            total += odds[b, parents[b, at]]
    return total
