"""Hill climbing over DAGs with a tabu list and restarts, used by ``bnmtl.search``.

Data contract: as in ``dags`` and ``changes``. ``marks`` are those of graphs already visited,
possibly none.
"""

import numpy as np

from bnmtl._kernels._jit import kernel
from bnmtl._kernels.changes import NONE, REMOVE, SET, change_arcs, disturb
from bnmtl._kernels.dags import (
    ARC_KEYS,
    BOUNDS,
    COINS,
    GAINS,
    HELD,
    MARK,
    MAY_REMOVE,
    N_PARENTS,
    ORDER_KEYS,
    PARENTS,
    PERMITTED,
    STAMPS,
    TOLERANCE,
    copy_dag,
    gather_ancestors,
    may_set,
    refresh,
    total_score,
)
from bnmtl._kernels.scoring import ASKED, COUNTERS, NOTHING, QUEUE, TOUCHED, WAITING


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
def make(engine, scratch, task, dag, a, b, state):
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
def start_at(dag, task, scratch, adjacency):
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
def refresh_from(engine, scratch, task, dag, first, most_asked):
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
def climb(engine, scratch, task, dag, most_asked):
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
def follow_coins(engine, scratch, task, dag):
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
def tabu_walk(engine, scratch, task, dag, best_dag, marks, most_asked):
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
def climb_changed(engine, scratch, task, dag, variables, random, n_changes, most_asked):
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
    engine,
    scratch,
    task,
    narrow,
    dag,
    best_dag,
    spare,
    variables,
    random,
    n_changes,
    marks,
    most_asked,
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
