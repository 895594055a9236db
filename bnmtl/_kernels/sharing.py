"""Scores of graphs and of parent sets over tasks that may share tables.

Each family is scored jointly over the tasks whose graph has it, see ``all_sets``. Data contract: as
in ``scoring`` and, for all parent sets of a child, as in ``subsets``.
"""

import numpy as np

from bnmtl._kernels._jit import Callback, Flags2, Flags3, Ints, Table, kernel, table_at
from bnmtl._kernels.all_sets import shared_value
from bnmtl._kernels.counting import ARITIES, CODE_AT
from bnmtl._kernels.joint_rows import (
    FEWER_PARENTS,
    GROUP_KEYS,
    GROUP_PARENTS,
    MEMBERS_OF,
    SEARCHED,
    USABLE_OF,
)
from bnmtl._kernels.scoring import (
    ASKED,
    COLUMN,
    COUNTERS,
    FAMILY,
    METHOD,
    MOST_CELLS,
    SCALE,
    VARIABLE_KEYS,
    WANTED,
    exclude,
    without,
)
from bnmtl._kernels.subsets import SET_SCORES, VARIABLES, list_members, spread


@kernel
def sum_of_groups(engine, scratch, n_searched, child, parents, n_parents, v):
    """Evidence of a child in one graph of the searched tasks, as an integer.

    Each task has the parents that it may use; tasks with the same parents share the family.
    """
    usable, keys = USABLE_OF(scratch), GROUP_KEYS(scratch)
    searched, members = SEARCHED(scratch), MEMBERS_OF(scratch)
    group_parents, variable_keys = GROUP_PARENTS(scratch), VARIABLE_KEYS(engine)
    for i in range(n_searched):
        keys[i] = 0
        for at in range(n_parents):
            if usable[i, parents[at]]:
                keys[i] ^= variable_keys[parents[at]]
        if v >= 0 and usable[i, v]:
            keys[i] ^= variable_keys[v]
    total = np.int64(0)
    for first in range(n_searched):
        n_members, is_new = np.int64(0), True
        for i in range(n_searched):
            if keys[i] != keys[first]:
                continue
            if i < first:
                is_new = False
                break
            members[n_members] = searched[i]
            n_members += 1
        if not is_new:
            continue
        end = np.int64(0)
        for at in range(n_parents):
            if usable[first, parents[at]]:
                group_parents[end] = parents[at]
                end += 1
        more = v if v >= 0 and usable[first, v] else np.int64(-1)
        total += shared_value(engine, scratch, n_members, child, group_parents, end, more)
    return total


@kernel
def gains_together(engine: Table, scratch: Table, n_searched: int, child: int, n_parents: int):
    """Like `scoring.gains`, for one graph of the searched tasks, which have the child.

    The parents are in FAMILY, the wanted variables in WANTED, and those that each task may use in
    USABLE_OF. A variable that no task may use has gain 0.
    """
    parents, wanted, out = FAMILY(scratch), WANTED(scratch), COLUMN(scratch)
    scale = METHOD(engine)[SCALE]
    nothing = np.int64(-1)
    now = sum_of_groups(engine, scratch, n_searched, child, parents, n_parents, nothing)
    for v in range(wanted.size):
        out[v] = np.nan
    out[child] = now / scale
    for at in range(n_parents):
        rest = FEWER_PARENTS(scratch)
        end = without(parents, n_parents, parents[at], rest)
        value = sum_of_groups(engine, scratch, n_searched, child, rest, end, nothing)
        out[parents[at]] = (value - now) / scale
    for v in range(ARITIES(engine).size):
        # Entries that are not nan are the child and the parents.
        if not wanted[v] or not np.isnan(out[v]):
            continue
        if is_too_large(engine, scratch, n_searched, child, n_parents, v):
            continue
        value = sum_of_groups(engine, scratch, n_searched, child, parents, n_parents, v)
        out[v] = (value - now) / scale


@kernel
def is_too_large(engine, scratch, n_searched, child, n_parents, v):
    """Whether the family of any task would have too many cells with one more parent."""
    parents, arities = FAMILY(scratch), ARITIES(engine)
    searched, usable = SEARCHED(scratch), USABLE_OF(scratch)
    for i in range(n_searched):
        if not usable[i, v]:
            continue
        cells = float(arities[child]) * arities[v]
        for at in range(n_parents):
            if usable[i, parents[at]]:
                cells *= arities[parents[at]]
        if cells > MOST_CELLS(engine)[searched[i]]:
            exclude(scratch, searched[i], child, parents, n_parents, v)
            return True
    return False


@kernel
def search_members(engine, scratch, members, usable, child):
    """Store the members that have the child and their usable parents; return their number."""
    searched, usable_of = SEARCHED(scratch), USABLE_OF(scratch)
    n_searched = np.int64(0)
    for at in range(members.size):
        if CODE_AT(engine)[members[at], child] < 0:
            continue
        searched[n_searched] = members[at]
        for a in range(usable.shape[1]):
            usable_of[n_searched, a] = usable[at, a, child]
        n_searched += 1
    return n_searched


@kernel
def local_score_together(
    engine: Table,
    scratch: Table,
    members: Ints,
    usable: Flags3,
    child: int,
    parents: Ints,
    n_parents: int,
):
    """Like `scoring.local_score`, for one graph of members that may share tables.

    ``usable`` is bool (members, n, n) [member, parent, child].
    """
    n_searched = search_members(engine, scratch, members, usable, child)
    value = sum_of_groups(engine, scratch, n_searched, child, parents, n_parents, np.int64(-1))
    return value / METHOD(engine)[SCALE]


@kernel
def graph_score_together(
    engine: Table, scratch: Table, members: Ints, usable: Flags3, adjacency: Flags2
):
    """Like `scoring.graph_score`, for one graph of members that may share tables."""
    parents, total = FAMILY(scratch), 0.0
    for child in range(adjacency.shape[0]):
        end = np.int64(0)
        for a in range(adjacency.shape[0]):
            if adjacency[a, child]:
                parents[end] = a
                end += 1
        total += local_score_together(engine, scratch, members, usable, child, parents, end)
    return total


def _gains_together(engine, scratch, n_searched, child, n_parents):
    gains_together(table_at(engine), table_at(scratch), n_searched, child, n_parents)


GAINS_TOGETHER = Callback(_gains_together)


@kernel
def add_scores_together(
    engine: Table,
    scratch: Table,
    subsets: Table,
    members: Ints,
    usable: Flags3,
    i: int,
    required: int,
    first: int,
    most_asked: int,
):
    """Like `subsets.add_scores`, for all members jointly.

    ``usable``, bool (members, n, n) [member, parent, child], restricts the parents of each member.
    """
    scores, family = SET_SCORES(subsets)[i], FAMILY(scratch)
    variables, counters = VARIABLES(subsets), COUNTERS(scratch)
    child, scale, nothing = variables[i], METHOD(engine)[SCALE], np.int64(-1)
    n_searched = search_members(engine, scratch, members, usable, child)
    for at in range(first, scores.size):
        if counters[ASKED] >= most_asked:
            return at
        if scores[at] == -np.inf:
            continue
        parents = spread(at, i)
        n_parents = list_members(parents, variables, family)
        too_large = find_too_large(engine, scratch, n_searched, child, n_parents)
        if too_large >= 0 and parents != required:
            exclude(scratch, too_large, child, family, n_parents - 1, family[n_parents - 1])
            scores[at] = -np.inf
            continue
        value = sum_of_groups(engine, scratch, n_searched, child, family, n_parents, nothing)
        scores[at] += value / scale
    return scores.size


@kernel
def find_too_large(engine, scratch, n_searched, child, n_parents):
    """The first searched task whose family would have too many cells, or -1."""
    parents, arities = FAMILY(scratch), ARITIES(engine)
    searched, usable = SEARCHED(scratch), USABLE_OF(scratch)
    for at in range(n_searched):
        cells = float(arities[child])
        for parent in range(n_parents):
            if usable[at, parents[parent]]:
                cells *= arities[parents[parent]]
        if cells > MOST_CELLS(engine)[searched[at]]:
            return searched[at]
    return np.int64(-1)
