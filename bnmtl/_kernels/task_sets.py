"""Scores of a child for each set of tasks with a parent, used by `search.configurations`.

Tasks that may share tables are scored jointly: the gain from a parent depends on the other tasks
that also have it. For few tasks, the gains of all sets of tasks with the parent are stored, and the
best joint states of a pair of variables are found by enumeration. Used by ``bnmtl.search``.

Data contract: the engine covers all tasks and the index of all variables; ``held`` is bool
(k, n, n) [task, child, parent]. The table of `TASK_SETS` is memory of one search. A set of tasks is
an int whose bit s stands for task s. The holders of a parent are the tasks in which it is one.
"""

import numpy as np

from bnmtl._kernels._jit import (
    Flags,
    Flags2,
    Flags3,
    Floats,
    Ints,
    Signs,
    Table,
    flags,
    floats,
    ints,
    kernel,
    layout,
)
from bnmtl._kernels.all_sets import shared_value, value_sets
from bnmtl._kernels.counting import ARITIES, CODE_AT
from bnmtl._kernels.joint_rows import GROUP_KEYS, GROUP_PARENTS, MEMBERS_OF
from bnmtl._kernels.scoring import METHOD, MOST_CELLS, SCALE, VARIABLE_KEYS

TASK_SETS = layout(
    WITHOUT := ints("without"),  # (sets,): evidence of a family by the set of tasks that have it
    WITH_IT := ints("with_it"),  # (sets,): the same with one more parent
    GROUP := ints("group"),  # (k,): tasks that have the same other parents
    CANDIDATES := ints("candidates"),  # (k,): indices in GROUP of tasks that may take the parent
    MAY := flags("may", 3),  # (k, n, n): [s, b, a] whether a may be a parent of b in task s
    ODDS_OF := floats("odds", 3),  # (k, n, n): log prior odds of the arc
    WORTH_OF := floats("worth", 3),  # (n, n, sets): [b, a] score of b if the holders of a are a set
    GAIN := floats("gain", 2),  # (n, n): its maximum over sets minus its current value
)


def new_task_sets(may, odds, n_sets):
    """Memory for moves of tasks, as a dict; ``may`` and ``odds`` as in `TASK_SETS`.

    ``n_sets`` is 2 to the power of the number of tasks, or 0 without enumeration of sets.
    """
    k, n, _ = may.shape
    return {
        "without": np.zeros(n_sets, np.int64),
        "with_it": np.zeros(n_sets, np.int64),
        "group": np.zeros(k, np.int64),
        "candidates": np.zeros(k, np.int64),
        "may": np.ascontiguousarray(may),
        "odds": np.ascontiguousarray(odds),
        "worth": np.zeros((n, n, n_sets) if n_sets else (0, 0, 0)),
        "gain": np.zeros((n, n)),
    }


@kernel
def refresh_child(engine: Table, scratch: Table, memory: Table, held: Flags3, child: int):
    """Compute the scores of a child in all tasks for each variable and each set of its holders.

    The score is the evidence of all families of the child plus the log prior odds of the arcs from
    the variable, if exactly the tasks of the set have the variable as a parent; -inf if one of
    these tasks must not.
    """
    k, n, _ = held.shape
    worth, gain = WORTH_OF(memory)[child], GAIN(memory)[child]
    may = MAY(memory)
    for v in range(n):
        gain[v] = 0.0
        is_looked_at, now = False, np.int64(0)
        for s in range(k):
            is_looked_at = is_looked_at or may[s, child, v]
            if held[s, child, v]:
                now |= np.int64(1) << s
        if v == child or not is_looked_at:
            continue
        for holders in range(worth.shape[1]):
            worth[v, holders] = 0.0
        add_groups(engine, scratch, memory, held, child, v)
        best = worth[v, now]
        for holders in range(worth.shape[1]):
            best = max(best, worth[v, holders])
        gain[v] = best - worth[v, now]


@kernel
def list_group(engine, scratch, memory, held, child, first):
    """List in GROUP the tasks with the same key in GROUP_KEYS as the task ``first``.

    Returns their number, or 0 if one of them precedes ``first``.
    """
    keys, group, n_tasks = GROUP_KEYS(scratch), GROUP(memory), np.int64(0)
    code_at = CODE_AT(engine)
    for s in range(held.shape[0]):
        if code_at[s, child] < 0 or keys[s] != keys[first]:
            continue
        if s < first:
            return np.int64(0)
        group[n_tasks] = s
        n_tasks += 1
    return n_tasks


@kernel
def key_parents(engine, scratch, held, child, v):
    """Write the key of each task's parents other than v to GROUP_KEYS."""
    keys, variable_keys = GROUP_KEYS(scratch), VARIABLE_KEYS(engine)
    for s in range(held.shape[0]):
        keys[s] = 0
        for a in range(held.shape[2]):
            if held[s, child, a] and a != v:
                keys[s] ^= variable_keys[a]


@kernel
def list_parents_of(scratch, held, s, child, v):
    """List a task's parents other than v in GROUP_PARENTS; return their number."""
    parents, end = GROUP_PARENTS(scratch), np.int64(0)
    for a in range(held.shape[2]):
        if held[s, child, a] and a != v:
            parents[end] = a
            end += 1
    return end


@kernel
def add_groups(engine, scratch, memory, held, child, v):
    """Add the scores of all groups of tasks with the same other parents."""
    key_parents(engine, scratch, held, child, v)
    for first in range(held.shape[0]):
        if CODE_AT(engine)[first, child] < 0:
            continue
        n_tasks = list_group(engine, scratch, memory, held, child, first)
        if n_tasks > 0:
            end = list_parents_of(scratch, held, first, child, v)
            add_group(engine, scratch, memory, held, n_tasks, child, end, v)


@kernel
def add_group(engine, scratch, memory, held, n_tasks, child, n_parents, v):
    """Add the scores of the tasks in GROUP, whose other parents are in GROUP_PARENTS."""
    group, members = GROUP(memory), MEMBERS_OF(scratch)
    parents, without = GROUP_PARENTS(scratch), WITHOUT(memory)
    for i in range(n_tasks):
        members[i] = group[i]
    nothing = np.int64(-1)
    value_sets(engine, scratch, n_tasks, child, parents, n_parents, nothing, without)
    n_candidates = list_candidates(engine, scratch, memory, held, n_tasks, child, n_parents, v)
    with_it = WITH_IT(memory)
    value_sets(engine, scratch, n_candidates, child, parents, n_parents, v, with_it)
    candidates, scale = CANDIDATES(memory), METHOD(engine)[SCALE]
    worth, odds = WORTH_OF(memory)[child, v], ODDS_OF(memory)
    for holders in range(worth.size):
        left, taken, at, value = np.int64(0), np.int64(0), np.int64(0), 0.0
        for i in range(n_tasks):
            may_take = at < n_candidates and candidates[at] == i
            if (holders >> group[i]) & 1:
                value += odds[group[i], child, v] if may_take else -np.inf
                taken |= np.int64(1) << at
            else:
                left |= np.int64(1) << i
            at += may_take
        if value > -np.inf:
            worth[holders] += (without[left] + with_it[taken]) / scale + value
        else:
            worth[holders] = -np.inf


@kernel
def list_candidates(engine, scratch, memory, held, n_tasks, child, n_parents, v):
    """List the tasks of GROUP that may take a parent; return their number.

    CANDIDATES gets their indices in GROUP, MEMBERS_OF the tasks. A task may keep a parent that it
    has even if the family is too large.
    """
    group, candidates, members = GROUP(memory), CANDIDATES(memory), MEMBERS_OF(scratch)
    cells, n_candidates = n_cells(engine, scratch, child, n_parents, v), np.int64(0)
    for i in range(n_tasks):
        s = group[i]
        fits = cells <= MOST_CELLS(engine)[s] or held[s, child, v]
        if MAY(memory)[s, child, v] and fits:
            candidates[n_candidates] = i
            members[n_candidates] = s
            n_candidates += 1
    return n_candidates


@kernel
def worth_of(
    engine: Table, scratch: Table, memory: Table, held: Flags3, child: int, v: int, takes: Flags
):
    """The entry of WORTH_OF for the set of holders that ``takes``, bool (k,), marks."""
    odds, may, worth = ODDS_OF(memory), MAY(memory), 0.0
    for s in range(held.shape[0]):
        if takes[s]:
            worth += odds[s, child, v] if may[s, child, v] else -np.inf
    if worth == -np.inf:
        return worth
    key_parents(engine, scratch, held, child, v)
    total = np.int64(0)
    for first in range(held.shape[0]):
        if CODE_AT(engine)[first, child] < 0:
            continue
        n_tasks = list_group(engine, scratch, memory, held, child, first)
        if n_tasks == 0:
            continue
        end = list_parents_of(scratch, held, first, child, v)
        for with_parent in (False, True):
            n_members = list_members(
                engine, scratch, memory, held, n_tasks, child, end, v, takes, with_parent
            )
            if n_members < 0:
                return -np.inf
            if n_members > 0:
                more = v if with_parent else np.int64(-1)
                parents = GROUP_PARENTS(scratch)
                total += shared_value(engine, scratch, n_members, child, parents, end, more)
    return worth + total / METHOD(engine)[SCALE]


@kernel
def list_members(engine, scratch, memory, held, n_tasks, child, n_parents, v, takes, with_parent):
    """List in MEMBERS_OF the tasks of GROUP that take a parent, or those that do not.

    Returns their number, or -1 if the family is too large for a task that takes the parent.
    """
    group, members, n_members = GROUP(memory), MEMBERS_OF(scratch), np.int64(0)
    cells = n_cells(engine, scratch, child, n_parents, v)
    for i in range(n_tasks):
        s = group[i]
        if takes[s] != with_parent:
            continue
        if with_parent and cells > MOST_CELLS(engine)[s] and not held[s, child, v]:
            return np.int64(-1)
        members[n_members] = s
        n_members += 1
    return n_members


@kernel
def n_cells(engine, scratch, child, n_parents, v):
    """Number of cells of the family with the parents in GROUP_PARENTS and v."""
    arities, parents = ARITIES(engine), GROUP_PARENTS(scratch)
    cells = float(arities[child]) * arities[v]
    for at in range(n_parents):
        cells *= arities[parents[at]]
    return cells


@kernel
def evidence_of(engine: Table, scratch: Table, memory: Table, held: Flags3, child: int):
    """Evidence of a child's families in all tasks, in nats."""
    members, group, total = MEMBERS_OF(scratch), GROUP(memory), np.int64(0)
    nothing = np.int64(-1)
    key_parents(engine, scratch, held, child, nothing)
    for first in range(held.shape[0]):
        if CODE_AT(engine)[first, child] < 0:
            continue
        n_tasks = list_group(engine, scratch, memory, held, child, first)
        if n_tasks == 0:
            continue
        end = list_parents_of(scratch, held, first, child, nothing)
        for i in range(n_tasks):
            members[i] = group[i]
        parents = GROUP_PARENTS(scratch)
        total += shared_value(engine, scratch, n_tasks, child, parents, end, nothing)
    return total / METHOD(engine)[SCALE]


@kernel
def best_joint_states(
    into_j: Floats,
    into_i: Floats,
    members: Ints,
    fixed: Ints,
    allowed: Flags2,
    log_couplings: Floats,
    order: Ints,
    tolerance: float,
    states: Signs,
):
    """The best joint states of a pair (i, j) in all members, by enumeration.

    Parameters
    ----------
    into_j, into_i : float array of shape (sets of tasks,)
        Score of j by the set of tasks with i -> j, and of i by the set of tasks with j -> i.
    members : int array of shape (m,)
    fixed : int array of shape (2,)
        Sets of other tasks that have i -> j and j -> i.
    allowed : bool array of shape (m, 3)
        Whether each member may have the states -1, 0 and 1.
    log_couplings : float array of shape (3**m,)
        Indexed by the joint states as a number in base 3; the first member is the lowest digit.
    order : int array of shape (3,)
        States, as columns of ``allowed``, in the order in which they win ties.
    tolerance : float
    states : int8 array of shape (m,)
        Output, the best states.

    Returns
    -------
    float
        Their value, or -inf if no joint states are allowed.
    """
    m, best, best_at = members.size, -np.inf, np.int64(-1)
    for at in range(log_couplings.size):
        # fmt: off
        value = value_of_states(
            into_j, into_i, members, fixed, allowed, log_couplings, order, np.int64(at)
        )
        # fmt: on
        if value > best + (0.0 if best_at < 0 else tolerance):
            best, best_at = value, np.int64(at)
    left = best_at
    for i in range(m):
        states[i] = order[left % 3] - 1 if best_at >= 0 else 0
        left //= 3
    return best


@kernel
def value_of_states(into_j, into_i, members, fixed, allowed, log_couplings, order, at):
    """Value of the joint states with number ``at``, whose digits are indices in ``order``."""
    forward, backward, number, power = fixed[0], fixed[1], np.int64(0), np.int64(1)
    left = at
    for i in range(members.size):
        state = order[left % 3]
        left //= 3
        if not allowed[i, state]:
            return -np.inf
        number += power * state
        power *= 3
        if state == 2:
            forward |= np.int64(1) << members[i]
        elif state == 0:
            backward |= np.int64(1) << members[i]
    return into_j[forward] + into_i[backward] + log_couplings[number]
