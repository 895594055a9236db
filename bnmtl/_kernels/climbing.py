"""Hill climbing over DAGs: changes of one arc, better parts of two graphs, tabu and restarts.

Changes far apart in the graph affect the score independently. If a search makes many changes at
once, the parts that improve the score are kept and the others are undone.

Data contract: graphs as in ``dags``. A change of a pair is (a, b, state): state 1 sets a -> b and
reverses b -> a if present; state 0 removes a -> b; state -1 means no change. The state of the
random number generator is ``random``, uint64 (1,). ``marks`` are those of graphs already visited,
possibly none. The table of `MERGE` is scratch.
"""

import numpy as np

from bnmtl._kernels._jit import (
    Arrays,
    Flags2,
    Ints,
    Table,
    Words,
    flags,
    floats,
    ints,
    kernel,
    layout,
)
from bnmtl._kernels.dags import (
    ARC_KEYS,
    BOUNDS,
    COINS,
    GAINS,
    HELD,
    MARK,
    MAY_REMOVE,
    MEMBERS,
    N_PARENTS,
    ORDER_KEYS,
    PARENTS,
    PERMITTED,
    STAMPS,
    TOLERANCE,
    USABLE,
    clear_arc,
    copy_dag,
    family_score,
    gather_ancestors,
    may_set,
    refresh,
    set_arc,
    total_score,
)
from bnmtl._kernels.scoring import (
    ARITIES,
    ASKED,
    COUNTERS,
    MOST_CELLS,
    NOTHING,
    QUEUE,
    TOUCHED,
    WAITING,
)

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
def draw_near(dag: Table, variables: Ints, random: Words, near: Ints):
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


MERGE = layout(
    CHOSEN := flags("chosen"),  # (n,): whether a child has its parents of the second graph
    PART := ints("part"),  # (n,): union-find, link towards the head of a child's part, or -1
    GAIN := floats("gain"),  # (n,): gain of the part of a head
    TRIED := flags("tried"),  # (n,): whether the part of a head has been tried
    MERGE_WAITING := ints("waiting"),  # (n,): number of unprocessed children of a variable
    MERGE_QUEUE := ints("queue"),  # (n,)
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
    chosen, waiting, queue = CHOSEN(memory), MERGE_WAITING(memory), MERGE_QUEUE(memory)
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
def merge(memory: Table, task: Table, first: Table, second: Table, least: float, merged: Flags2):
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


@kernel
def visited(dag, task, marks, a, b, state):
    """Whether the change leads to a graph with one of the given marks."""
    if marks.size == 0:
        return False
    arc_keys = ARC_KEYS(task)
    mark = MARK(dag)[0] ^ arc_keys[b, a]
    if state == SET and HELD(dag)[a, b]:
        mark ^= arc_keys[a, b]
    found = False
    for at in range(marks.size):
        found = found or marks[at] == mark
    return found


@kernel
def best_gain(dag, task, marks):
    """Largest gain of an allowed change that leads to no marked graph; -inf if there is none."""
    gains, held, bounds = GAINS(dag), HELD(dag), BOUNDS(dag)
    parents, n_parents = PARENTS(dag), N_PARENTS(dag)
    may_remove = MAY_REMOVE(task)
    best = -np.inf
    for b in range(bounds.size):
        for at in range(n_parents[b]):
            a = parents[b, at]
            gain = gains[b, a]
            if gain > best and may_remove[b, a] and not visited(dag, task, marks, a, b, REMOVE):
                best = gain
            gain += gains[a, b]
            if (
                gain > best
                and may_set(dag, task, b, a)
                and not visited(dag, task, marks, b, a, SET)
            ):
                best = gain
    for b in range(bounds.size):
        if bounds[b] <= best:
            continue
        bounds[b] = -np.inf
        for a in range(bounds.size):
            gain = gains[b, a]
            # Comparisons with nan are false; reversals of b -> a are evaluated above.
            if (
                (gain > best or gain > bounds[b])
                and not held[b, a]
                and not held[a, b]
                and may_set(dag, task, a, b)
            ):
                bounds[b] = max(bounds[b], gain)
                if gain > best and not visited(dag, task, marks, a, b, SET):
                    best = gain
    return best


@kernel
def wins(task, a, b, state, other_a, other_b, other_state):
    """Whether the first of two tied changes wins: smaller key; in a pair removal, then coin."""
    if other_state == NONE:
        return True
    if (a == other_a and b == other_b) or (a == other_b and b == other_a):
        return state == REMOVE or (other_state == SET and COINS(task)[b, a])
    keys = ORDER_KEYS(task)
    return keys[b, a] < keys[other_b, other_a]


@kernel
def best_change(dag, task, marks):
    """The best change and its gain as (a, b, state, gain); state NONE if nothing is allowed."""
    gains, held, bounds = GAINS(dag), HELD(dag), BOUNDS(dag)
    parents, n_parents = PARENTS(dag), N_PARENTS(dag)
    may_remove = MAY_REMOVE(task)
    best = best_gain(dag, task, marks)
    win_a, win_b, win_state, win_gain = NONE, NONE, NONE, best
    if best == -np.inf:
        return win_a, win_b, win_state, win_gain
    least = best - TOLERANCE(task)[0]
    for b in range(bounds.size):
        for at in range(n_parents[b]):
            a = parents[b, at]
            gain = gains[b, a]
            if (
                gain >= least
                and may_remove[b, a]
                and wins(task, a, b, REMOVE, win_a, win_b, win_state)
                and not visited(dag, task, marks, a, b, REMOVE)
            ):
                win_a, win_b, win_state, win_gain = a, b, REMOVE, gain
            gain += gains[a, b]
            if (
                gain >= least
                and wins(task, b, a, SET, win_a, win_b, win_state)
                and may_set(dag, task, b, a)
                and not visited(dag, task, marks, b, a, SET)
            ):
                win_a, win_b, win_state, win_gain = b, a, SET, gain
        if bounds[b] < least:
            continue
        for a in range(bounds.size):
            if (
                gains[b, a] >= least
                and not held[b, a]
                and not held[a, b]
                and wins(task, a, b, SET, win_a, win_b, win_state)
                and may_set(dag, task, a, b)
                and not visited(dag, task, marks, a, b, SET)
            ):
                win_a, win_b, win_state, win_gain = a, b, SET, gains[b, a]
    return win_a, win_b, win_state, win_gain


@kernel
def make(engine: Table, scratch: Table, task: Table, dag: Table, a: int, b: int, state: int):
    """Make a change and refresh the families that it affects."""
    turned = state == SET and HELD(dag)[a, b]
    change_arcs(dag, task, scratch, a, b, state)
    refresh(engine, scratch, task, dag, b)
    if turned:
        refresh(engine, scratch, task, dag, a)


@kernel
def left_to_gain(dag, task, a, b):
    """Gains that remain for arcs at a or b that are legal now.

    Returns
    -------
    best, both : float
        Sums over pairs of variables: of the squared gain of the better direction, so that large
        gains dominate, and of the gains of both directions.
    """
    gains, held = GAINS(dag), HELD(dag)
    best, both = 0.0, 0.0
    for v in (a, b):
        for u in range(held.shape[0]):
            if u == v or held[u, v] or held[v, u]:
                continue
            away, here = 0.0, 0.0
            # Comparisons with nan are false.
            if gains[u, v] > 0.0 and may_set(dag, task, v, u):
                away = gains[u, v]
            if gains[v, u] > 0.0 and may_set(dag, task, u, v):
                here = gains[v, u]
            best += max(away, here) ** 2
            both += away + here
    return best, both


@kernel
def set_either(engine, scratch, task, dag, a, b):
    """Set b -> a if that leaves larger gains at both ends than a -> b; otherwise set a -> b."""
    make(engine, scratch, task, dag, b, a, SET)
    best, both = left_to_gain(dag, task, a, b)
    make(engine, scratch, task, dag, b, a, REMOVE)
    make(engine, scratch, task, dag, a, b, SET)
    forward_best, forward_both = left_to_gain(dag, task, a, b)
    # A relative tolerance, because sums depend on the order of the columns by rounding.
    tolerance = TOLERANCE(task)[0] * (1.0 + forward_best)
    if best < forward_best - tolerance:
        return
    if best > forward_best + tolerance or both > forward_both + tolerance:
        make(engine, scratch, task, dag, a, b, REMOVE)
        make(engine, scratch, task, dag, b, a, SET)


@kernel
def start_at(dag: Table, task: Table, scratch: Table, adjacency: Flags2):
    """Copy the DAG ``adjacency``, bool (n, n) [child, parent]; gains are not computed.

    ``scratch.touched`` marks the children whose parents have changed.
    """
    touched = TOUCHED(scratch)
    held, parents, n_parents = HELD(dag), PARENTS(dag), N_PARENTS(dag)
    waiting, queue = WAITING(scratch), QUEUE(scratch)
    n = n_parents.size
    mark = np.int64(0)
    done, end = 0, 0
    for b in range(n):
        n_parents[b] = 0
        touched[b] = False
        for a in range(n):
            touched[b] = touched[b] or held[b, a] != adjacency[b, a]
            held[b, a] = adjacency[b, a]
            if adjacency[b, a]:
                mark ^= ARC_KEYS(task)[b, a]
                parents[b, n_parents[b]] = a
                n_parents[b] += 1
        BOUNDS(dag)[b] = np.inf
        waiting[b] = n_parents[b]
        if waiting[b] == 0:
            queue[end] = b
            end += 1
    MARK(dag)[0] = mark
    while done < end:
        a = queue[done]
        done += 1
        gather_ancestors(dag, a)
        for b in range(n):
            if held[b, a]:
                waiting[b] -= 1
                if waiting[b] == 0:
                    queue[end] = b
                    end += 1


@kernel
def refresh_from(
    engine: Table, scratch: Table, task: Table, dag: Table, first: int, most_asked: int
):
    """Refresh the marked or new families, starting with ``first``.

    Returns
    -------
    int
        The first family beyond the budget.
    """
    touched, stamps = TOUCHED(scratch), STAMPS(dag)
    for b in range(first, stamps.size):
        if not touched[b] and stamps[b] > 0:
            continue
        if COUNTERS(scratch)[ASKED] >= most_asked:
            return b
        refresh(engine, scratch, task, dag, b)
    return stamps.size


@kernel
def refresh_touched(engine, scratch, task, dag):
    """Refresh the families of the marked children."""
    touched = TOUCHED(scratch)
    for b in range(N_PARENTS(dag).size):
        if touched[b]:
            refresh(engine, scratch, task, dag, b)


@kernel
def climb(engine: Table, scratch: Table, task: Table, dag: Table, most_asked: int):
    """Make the best change of one arc at a time until no change improves the score.

    The first arcs have the same gain in both directions, and their directions affect the local
    optimum: of two tied directions, the one that leaves larger gains is set.

    Returns
    -------
    bool
        False if ``most_asked`` families were evaluated before that.
    """
    gains, held = GAINS(dag), HELD(dag)
    tolerance = TOLERANCE(task)[0]
    while COUNTERS(scratch)[ASKED] < most_asked:
        a, b, state, gain = best_change(dag, task, NOTHING(scratch))
        if state == NONE or gain <= tolerance:
            return True
        is_new = state == SET and not held[a, b]
        if is_new and gains[a, b] >= gain - tolerance and may_set(dag, task, b, a):
            set_either(engine, scratch, task, dag, a, b)
        else:
            make(engine, scratch, task, dag, a, b, state)
    return False


@kernel
def follow_coins(engine: Table, scratch: Table, task: Table, dag: Table):
    """Reverse arcs whose coin favors the reversal, where this does not change the score."""
    gains, coins = GAINS(dag), COINS(task)
    parents, n_parents = PARENTS(dag), N_PARENTS(dag)
    tolerance = TOLERANCE(task)[0]
    turned = True
    while turned:
        turned = False
        for b in range(n_parents.size):
            at = np.int64(0)
            while at < n_parents[b]:
                a = parents[b, at]
                at += 1
                change = gains[b, a] + gains[a, b]
                # nan (the family would be too large) compares as false.
                if (
                    coins[a, b]
                    and change >= -tolerance
                    and change <= tolerance
                    and may_set(dag, task, b, a)
                ):
                    make(engine, scratch, task, dag, b, a, SET)
                    turned = True
                    at = np.int64(0)


@kernel
def tabu_walk(
    engine: Table,
    scratch: Table,
    task: Table,
    dag: Table,
    best_dag: Table,
    marks: Ints,
    most_asked: int,
):
    """Continue from a local optimum without returning to recent graphs; end in the best graph.

    The best change is made even if it lowers the score, unless it leads to one of the last
    ``marks.size`` graphs. The walk ends after that number of changes without a new best score.
    ``best_dag`` is scratch.
    """
    if marks.size == 0:
        return
    copy_dag(dag, best_dag)
    best = total_score(task, dag)
    for at in range(marks.size):
        marks[at] = MARK(dag)[0]
    waited, at = 0, 0
    while waited < marks.size and COUNTERS(scratch)[ASKED] < most_asked:
        a, b, state, _ = best_change(dag, task, marks)
        if state == NONE:
            break
        make(engine, scratch, task, dag, a, b, state)
        at = (at + 1) % marks.size
        marks[at] = MARK(dag)[0]
        waited += 1
        score = total_score(task, dag)
        if score > best + TOLERANCE(task)[0]:
            copy_dag(dag, best_dag)
            best, waited = score, 0
    copy_dag(best_dag, dag)


@kernel
def climb_changed(
    engine: Table,
    scratch: Table,
    task: Table,
    dag: Table,
    variables: Ints,
    random: Words,
    n_changes: int,
    most_asked: int,
):
    """Change the graph at random and climb from there."""
    disturb(engine, scratch, task, dag, variables, random, n_changes)
    refresh_touched(engine, scratch, task, dag)
    climb(engine, scratch, task, dag, most_asked)


@kernel
def look_at_touched(scratch, task, narrow):
    """Permit in ``narrow`` all arcs of the task into marked children."""
    touched = TOUCHED(scratch)
    permitted, looked_at = PERMITTED(task), PERMITTED(narrow)
    for b in range(permitted.shape[0]):
        if touched[b]:
            for a in range(permitted.shape[0]):
                looked_at[b, a] = permitted[b, a]


@kernel
def widen(engine, scratch, task, dag, other):
    """Refresh the families not copied from ``other``, for all arcs of the task."""
    bounds, stamps, others = BOUNDS(dag), STAMPS(dag), STAMPS(other)
    for b in range(bounds.size):
        bounds[b] = np.inf
        if stamps[b] != others[b]:
            refresh(engine, scratch, task, dag, b)


@kernel
def restart(
    engine: Table,
    scratch: Table,
    task: Table,
    narrow: Table,
    dag: Table,
    best_dag: Table,
    spare: Table,
    variables: Ints,
    random: Words,
    n_changes: int,
    marks: Ints,
    most_asked: int,
):
    """Climb again from random changes of ``best_dag``; replace it if the result is better.

    ``narrow`` is the task restricted to some of its arcs, or the task itself. Until a better graph
    is found, only arcs into children whose parents were changed at random are added to it.

    Returns
    -------
    bool
        Whether ``best_dag`` was replaced.
    """
    copy_dag(best_dag, dag)
    disturb(engine, scratch, task, dag, variables, random, n_changes)
    look_at_touched(scratch, task, narrow)
    refresh_touched(engine, scratch, narrow, dag)
    climb(engine, scratch, narrow, dag, most_asked)
    tabu_walk(engine, scratch, narrow, dag, spare, marks, most_asked)
    climb(engine, scratch, narrow, dag, most_asked)
    if total_score(task, dag) <= total_score(task, best_dag) + TOLERANCE(task)[0]:
        return False
    widen(engine, scratch, task, dag, best_dag)
    climb(engine, scratch, task, dag, most_asked)
    copy_dag(dag, best_dag)
    return True
