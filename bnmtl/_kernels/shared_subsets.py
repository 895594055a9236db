"""Scores of all parent sets of a child over tasks that may share tables, for ``exact``.

Data contract: as in ``subsets``.
"""

import numpy as np

from bnmtl._kernels._jit import kernel
from bnmtl._kernels.joint_rows import SEARCHED, USABLE_OF
from bnmtl._kernels.partition import ARITIES
from bnmtl._kernels.scoring import ASKED, COUNTERS, FAMILY, METHOD, MOST_CELLS, SCALE, exclude
from bnmtl._kernels.sharing import search_members, sum_of_groups
from bnmtl._kernels.subsets import SET_SCORES, VARIABLES, list_members, spread


@kernel
def add_scores_together(engine, scratch, subsets, members, usable, i, required, first, most_asked):
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
