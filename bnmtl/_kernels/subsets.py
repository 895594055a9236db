"""Local scores of all parent sets of up to 20 variables and the best graph, used by ``bnmtl.search``.

Silander & Myllymaki (2006): the best parents within every set of candidates, then the best sink of
every set of variables, which is the last in some order of the best graph over the set.

Data contract: sets of the m variables are int64, bit i being variable ``variables[i]``. Parent sets
of the child of bit i have that bit squeezed out, so that they go from 0 to 2**(m - 1) - 1. The
table of `SUBSETS` is for all tasks, one after the other; that of `WALK` is memory of a depth-first
walk over the sets, in which each set refines the partition that another one has left by one more
variable. Sets are walked along `walked`; a row that is alone in its cell stays so in all that
follows and is only counted, unless it stands for several.
"""

import numpy as np

from bnmtl._kernels._jit import (
    Arrays,
    codes_of,
    flags,
    flags2,
    flags3,
    floats,
    floats2,
    ints,
    ints2,
    kernel,
    popcount,
    rows_of,
)
from bnmtl._kernels.dags import MEMBERS, MOST_PARENTS, ODDS, PERMITTED, REQUIRED, USABLE
from bnmtl._kernels.partition import (
    ARITIES,
    CODE_AT,
    CODES,
    N_CASES,
    N_ROWS,
    WEIGHT_AT,
    WEIGHTS,
    in_order,
)
from bnmtl._kernels.scoring import (
    ASKED,
    COMPUTED,
    COUNTERS,
    FAMILY,
    KIND,
    METHOD,
    MOST_CELLS,
    SAMPLE_SIZE,
    SCALE,
    by_set,
    complexity,
    exclude,
    local_score,
)
from bnmtl._kernels.terms import BDEU, LONGEST_TABLE, pseudo_counts, table_sum

SUBSETS = (
    ("variables", np.int64, 1),  # (m,): in ascending order
    ("walked", np.int64, 1),  # (m,): bits in the order in which a walk adds them
    ("cells", np.float64, 1),  # (2**m,): product of the arities of each set
    ("owners_of", np.int64, 1),  # (2**m,): number that the terms of each set go by, from 0 on
    ("needed", np.bool_, 1),  # (2**m,): whether the task's table of a set is asked for
    ("tables", np.int64, 1),  # (2**m,): sum over the cells of each set that is needed
    ("reach", np.int64, 1),  # (m,): a child and the parents that it may have in the task
    ("scores", np.float64, 2),  # (m, 2**(m - 1)): local score and log prior odds, or -inf
)
VARIABLES, WALKED, SET_CELLS, OWNERS_OF, NEEDED, TABLES, REACH, SET_SCORES = range(len(SUBSETS))

WALK = (
    ("at", np.int64, 1),  # (2,): variables of the present set, and the sets that are done with
    ("sets", np.int64, 1),  # (m + 1,): the set of each depth
    ("next", np.int64, 1),  # (m + 1,): index in `walked` of what is added to it next
    ("n_cells", np.int64, 1),  # (m + 1,): cells that are carried
    ("n_alone", np.int64, 1),  # (m + 1,): rows that are not
    ("begins", np.int64, 2),  # (m + 1, rows + 1): where each cell begins in the rows of its depth
    ("rows", np.uint32, 1),  # (m + 1) times (rows,), flat: row numbers by cell
    ("counts", np.int64, 1),  # (rows + 1,)
    ("histogram", np.int64, 1),  # (256,)
    ("places", np.int64, 1),  # (256,)
    ("terms", np.int64, 2),  # as in `terms`
    ("owners", np.int64, 1),
    ("bases", np.float64, 1),
)
AT, SETS, NEXT_ONES, N_WALK_CELLS, N_ALONE, BEGINS, WALK_ROWS, COUNTS = range(8)
WALK_HISTOGRAM, PLACES, WALK_TERMS, WALK_OWNERS, WALK_BASES = range(8, len(WALK))
DEPTH, DONE = range(2)

# Terms that are kept: the rows of many pseudo-counts are cut shorter than those of a few.
MOST_TERMS = 1 << 23


def new_subsets(variables, arities, method):
    """Memory for the subsets of some variables; ``arities`` are theirs, ``method`` an engine's."""
    m = len(variables)
    cells = np.ones(1)
    for arity in arities.tolist():
        cells = np.concatenate([cells, cells * arity])
    owners_of = np.zeros(len(cells), np.int64)
    if method[KIND] == BDEU:
        # What is too large has no table.
        owners_of = np.unique(np.minimum(cells, method[MOST_CELLS]), return_inverse=True)[1]
    return Arrays(
        SUBSETS,
        variables=variables,
        walked=np.argsort(-arities, kind="stable"),
        cells=cells,
        owners_of=owners_of,
        needed=np.zeros(len(cells), np.bool_),
        tables=np.zeros(len(cells), np.int64),
        reach=np.zeros(m, np.int64),
        scores=np.zeros((m, len(cells) // 2)),
    )


def new_walk(subsets, n_rows, n_cases):
    """Memory for walks over the subsets of tasks of up to that many rows and cases."""
    m = len(subsets.variables)
    # The hash of `terms.table_of` keeps numbers below a power of two apart.
    n_owners = 1 << int(subsets.owners_of.max()).bit_length()
    length = max(2, min(n_cases + 1, LONGEST_TABLE, MOST_TERMS // n_owners))
    return Arrays(
        WALK,
        at=np.zeros(2, np.int64),
        **{name: np.zeros(m + 1, np.int64) for name in ("sets", "next", "n_cells", "n_alone")},
        begins=np.empty((m + 1, n_rows + 1), np.int64),
        rows=np.empty((m + 1) * n_rows, np.uint32),
        counts=np.empty(n_rows + 1, np.int64),
        histogram=np.zeros(256, np.int64),
        places=np.zeros(256, np.int64),
        terms=np.empty((n_owners, length), np.int64),
        owners=np.full(n_owners, -1),
        bases=np.zeros(n_owners),
    )


@kernel
def spread(parents, i):
    """The set of a parent set of the child of bit i."""
    low = parents & ((np.int64(1) << i) - 1)
    return low | ((parents ^ low) << 1)


@kernel
def squeeze(members, i):
    """The parent set, for the child of bit i, of a set without that bit."""
    low = members & ((np.int64(1) << i) - 1)
    return low | ((members ^ low) >> 1)


@kernel
def set_of(marks, variables):
    """The set of the variables that are marked."""
    members = np.int64(0)
    for i in range(variables.size):
        if marks[variables[i]]:
            members |= np.int64(1) << i
    return members


@kernel
def list_members(members, variables, listed):
    """Write the variables of a set in ascending order; returns their number."""
    end = np.int64(0)
    for i in range(variables.size):
        if (members >> i) & 1:
            listed[end] = variables[i]
            end += 1
    return end


@kernel
def size_of(members):
    """Number of variables in a set."""
    return np.int64(popcount(np.uint64(members)))


@kernel
def may_be_parents(task, variables, i):
    """The set of the variables from which arcs to the child of bit i may lead."""
    child = variables[i]
    permitted = set_of(flags2(task, PERMITTED)[child], variables)
    return permitted | set_of(flags2(task, REQUIRED)[child], variables)


@kernel
def start_scores(task, subsets, i):
    """Log prior odds of every parent set of a child, -inf for those that are not allowed."""
    variables, scores = ints(subsets, VARIABLES), floats2(subsets, SET_SCORES)[i]
    allowed = may_be_parents(task, variables, i)
    required = set_of(flags2(task, REQUIRED)[variables[i]], variables)
    odds, most_parents = floats2(task, ODDS)[variables[i]], ints(task, MOST_PARENTS)[0]
    for at in range(scores.size):
        parents = spread(at, i)
        outside = parents & ~allowed | required & ~parents
        if outside != 0 or size_of(parents) > most_parents:
            scores[at] = -np.inf
            continue
        total = 0.0
        for j in range(variables.size):
            if (parents >> j) & 1:
                total += odds[variables[j]]
        scores[at] = total


@kernel
def start_walk(engine, task, subsets, walk, member):
    """Stand at the empty set of a task, its rows in one cell, and mark the tables to be had."""
    variables, reach = ints(subsets, VARIABLES), ints(subsets, REACH)
    cells, needed = floats(subsets, SET_CELLS), flags(subsets, NEEDED)
    s = ints(task, MEMBERS)[member]
    for i in range(variables.size):
        child = variables[i]
        reach[i] = 0
        if ints2(engine, CODE_AT)[s, child] >= 0:
            usable = set_of(flags3(task, USABLE)[member, child], variables)
            reach[i] = may_be_parents(task, variables, i) & usable | np.int64(1) << i
    most_cells = floats(engine, METHOD)[MOST_CELLS]
    most_members = ints(task, MOST_PARENTS)[0] + 1
    for members in range(needed.size):
        needed[members] = False
        if cells[members] > most_cells or size_of(members) > most_members:
            continue
        for i in range(variables.size):
            needed[members] = needed[members] or members & ~reach[i] == 0
    ints(walk, AT)[DEPTH] = ints(walk, AT)[DONE] = 0
    ints(walk, SETS)[0] = ints(walk, NEXT_ONES)[0] = ints(walk, N_ALONE)[0] = 0
    ints(walk, N_WALK_CELLS)[0] = 1
    ints2(walk, BEGINS)[0, 0] = 0
    ints2(walk, BEGINS)[0, 1] = ints(engine, N_ROWS)[s]
    in_order(ints(engine, N_ROWS)[s], rows_of(walk, WALK_ROWS))
    sum_table(engine, subsets, walk, np.int64(0), count(engine, walk, s, np.int64(0)), np.int64(0))


@kernel
def walk_on(engine, scratch, task, subsets, walk, member, most_work):
    """Go on with a walk until all tables are there or that many rows were looked at.

    Returns
    -------
    bool
        Whether all are there.
    """
    walked, needed = ints(subsets, WALKED), flags(subsets, NEEDED)
    at, sets, following = ints(walk, AT), ints(walk, SETS), ints(walk, NEXT_ONES)
    n_alone = ints(walk, N_ALONE)
    s = ints(task, MEMBERS)[member]
    most_members = ints(task, MOST_PARENTS)[0] + 1
    one, work = np.int64(1), np.int64(0)
    while work < most_work:
        depth = at[DEPTH]
        place = following[depth]
        if place == walked.size:
            if depth == 0:
                return True
            at[DEPTH] -= 1
            continue
        following[depth] += 1
        members = sets[depth] | one << walked[place]
        if not needed[members]:
            at[DONE] += one << (walked.size - 1 - place)
            continue
        v = ints(subsets, VARIABLES)[walked[place]]
        work += n_carried(walk, depth) + 1
        if place == walked.size - 1 or depth + 1 == most_members:
            found, alone = count_refined(engine, walk, s, v, depth)
            at[DONE] += one << (walked.size - 1 - place)
        else:
            refine(engine, walk, s, v, depth)
            found, alone = count(engine, walk, s, depth + 1), n_alone[depth + 1]
            sets[depth + 1], following[depth + 1] = members, place + 1
            at[DEPTH] += 1
            at[DONE] += 1
        ints(scratch, COUNTERS)[COMPUTED] += 1
        sum_table(engine, subsets, walk, members, found, alone)
    return False


@kernel
def n_carried(walk, depth):
    """Number of rows that the partition of a depth carries."""
    return ints2(walk, BEGINS)[depth, ints(walk, N_WALK_CELLS)[depth]]


@kernel
def sum_table(engine, subsets, walk, members, n_counts, n_alone):
    """The table of a set from the counts of its cells, `n_alone` more being 1."""
    method = floats(engine, METHOD)
    kind, scale = np.int64(method[KIND]), method[SCALE]
    terms, owners, bases = (
        ints2(walk, WALK_TERMS),
        ints(walk, WALK_OWNERS),
        floats(walk, WALK_BASES),
    )
    counts, owner = ints(walk, COUNTS), ints(subsets, OWNERS_OF)[members]
    _, pseudo_count, _, _ = pseudo_counts(
        kind, method[SAMPLE_SIZE], floats(subsets, SET_CELLS)[members], 1.0, np.int64(0)
    )
    total = table_sum(terms, owners, bases, counts, n_counts, kind, owner, pseudo_count, scale)
    if n_alone > 0:
        single = counts[n_counts:]
        single[0] = 1
        total += n_alone * table_sum(
            terms, owners, bases, single, np.int64(1), kind, owner, pseudo_count, scale
        )
    ints(subsets, TABLES)[members] = total


@kernel
def refine(engine, walk, s, v, depth):
    """Refine the partition of a depth by one more variable into that of the next depth."""
    n_rows = ints(engine, N_ROWS)[s]
    first = ints2(engine, CODE_AT)[s, v]
    codes = codes_of(engine, CODES)[first : first + n_rows]
    least = 2 if ints(engine, WEIGHT_AT)[s] < 0 else 1
    rows = rows_of(walk, WALK_ROWS)
    source, target = rows[depth * n_rows :], rows[(depth + 1) * n_rows :]
    begins, new_begins = ints2(walk, BEGINS)[depth], ints2(walk, BEGINS)[depth + 1]
    histogram, places = ints(walk, WALK_HISTOGRAM), ints(walk, PLACES)
    arity = ints(engine, ARITIES)[v]
    n_cells, end = np.int64(0), np.int64(0)
    new_begins[0] = 0
    alone = ints(walk, N_ALONE)[depth]
    for cell in range(ints(walk, N_WALK_CELLS)[depth]):
        for at in range(begins[cell], begins[cell + 1]):
            histogram[codes[source[at]]] += 1
        for state in range(arity):
            size = histogram[state]
            histogram[state] = 0
            places[state] = -1
            if size >= least:
                places[state] = end
                end += size
                n_cells += 1
                new_begins[n_cells] = end
            else:
                alone += size
        for at in range(begins[cell], begins[cell + 1]):
            row = source[at]
            place = places[codes[row]]
            if place >= 0:
                target[place] = row
                places[codes[row]] += 1
    ints(walk, N_WALK_CELLS)[depth + 1] = n_cells
    ints(walk, N_ALONE)[depth + 1] = alone


@kernel
def count(engine, walk, s, depth):
    """Write the counts of the cells that a depth carries; returns their number."""
    counts, begins = ints(walk, COUNTS), ints2(walk, BEGINS)[depth]
    n_cells = ints(walk, N_WALK_CELLS)[depth]
    weights, weight_at = ints(engine, WEIGHTS), ints(engine, WEIGHT_AT)[s]
    rows = rows_of(walk, WALK_ROWS)[depth * ints(engine, N_ROWS)[s] :]
    for cell in range(n_cells):
        counts[cell] = begins[cell + 1] - begins[cell]
        if weight_at >= 0:
            counts[cell] = 0
            for at in range(begins[cell], begins[cell + 1]):
                counts[cell] += weights[weight_at + rows[at]]
    return n_cells


@kernel
def count_refined(engine, walk, s, v, depth):
    """As `refine` and `count`, for a partition that nothing follows on.

    Returns
    -------
    n_counts, n_alone : int
    """
    n_rows = ints(engine, N_ROWS)[s]
    first = ints2(engine, CODE_AT)[s, v]
    codes = codes_of(engine, CODES)[first : first + n_rows]
    weights, weight_at = ints(engine, WEIGHTS), ints(engine, WEIGHT_AT)[s]
    rows, begins = rows_of(walk, WALK_ROWS)[depth * n_rows :], ints2(walk, BEGINS)[depth]
    counts, histogram = ints(walk, COUNTS), ints(walk, WALK_HISTOGRAM)
    arity = ints(engine, ARITIES)[v]
    found = np.int64(0)
    for cell in range(ints(walk, N_WALK_CELLS)[depth]):
        for at in range(begins[cell], begins[cell + 1]):
            row = rows[at]
            histogram[codes[row]] += 1 if weight_at < 0 else weights[weight_at + row]
        for state in range(arity):
            if histogram[state] > 0:
                counts[found] = histogram[state]
                found += 1
                histogram[state] = 0
    return found, ints(walk, N_ALONE)[depth]


@kernel
def add_scores(engine, scratch, task, subsets, member, i, first, most_asked):
    """Add a task's local scores of a child, from the parent set ``first`` on.

    Returns
    -------
    int
        The first parent set that there was no budget for.
    """
    variables, scores = ints(subsets, VARIABLES), floats2(subsets, SET_SCORES)[i]
    cells, tables = floats(subsets, SET_CELLS), ints(subsets, TABLES)
    method, counters = floats(engine, METHOD), ints(scratch, COUNTERS)
    kind, scale, family = np.int64(method[KIND]), method[SCALE], ints(scratch, FAMILY)
    s, child = ints(task, MEMBERS)[member], variables[i]
    usable = set_of(flags3(task, USABLE)[member, child], variables)
    required = set_of(flags2(task, REQUIRED)[child], variables) & usable
    r, n_cases = float(ints(engine, ARITIES)[child]), float(ints(engine, N_CASES)[s])
    for at in range(first, scores.size):
        if counters[ASKED] >= most_asked:
            return at
        if scores[at] == -np.inf:
            continue
        parents = spread(at, i) & usable
        q = cells[parents]
        is_too_large = q * r > method[MOST_CELLS]
        if is_too_large and parents != required:
            last = list_members(parents, variables, family) - 1
            exclude(scratch, s, child, family, last, family[last])
            scores[at] = -np.inf
        elif is_too_large or not by_set(kind):
            n_parents = list_members(parents, variables, family)
            scores[at] += local_score(engine, scratch, s, child, family, n_parents)
        else:
            counters[ASKED] += 1
            value = tables[parents | np.int64(1) << i] - tables[parents]
            scores[at] += value / scale - complexity(kind, q, r, n_cases)
    return scores.size


@kernel
def take_best(scores):
    """Turn the scores of all parent sets into the best score within each set of candidates."""
    step = 1
    while step < scores.size:
        for begin in range(0, scores.size, 2 * step):
            for at in range(begin, begin + step):
                without = scores[at]
                if without > scores[at + step]:
                    scores[at + step] = without
        step *= 2


@kernel
def find_sinks(best, totals, sinks):
    """The score of the best graph over every set of variables, and a sink of one.

    ``best`` is what `take_best` has left for each child, (m, 2**(m - 1)); ``totals`` is float64 and
    ``sinks`` uint8, both of size 2**m.
    """
    totals[0] = 0.0
    for members in range(1, totals.size):
        totals[members] = -np.inf
        sinks[members] = 0
        for i in range(best.shape[0]):
            if (members >> i) & 1:
                others = members ^ np.int64(1) << i
                total = totals[others] + best[i, squeeze(others, i)]
                if total > totals[members]:
                    totals[members] = total
                    sinks[members] = i


@kernel
def smallest_best(best, candidates):
    """The smallest parent set among some candidates that is as good as any.

    Among those of one size the lowest wins. ``best`` is of one child.
    """
    chosen = candidates
    parents = candidates
    while parents > 0:
        parents = (parents - 1) & candidates
        if best[parents] == best[candidates] and size_of(parents) <= size_of(chosen):
            chosen = parents
    return chosen


@kernel
def read_graph(best, sinks, variables, adjacency):
    """Write the best graph as bool (n, n) [parent, child]; arcs of other variables are left."""
    members = np.int64(sinks.size - 1)
    while members != 0:
        i = np.int64(sinks[members])
        members ^= np.int64(1) << i
        parents = spread(smallest_best(best[i], squeeze(members, i)), i)
        for j in range(variables.size):
            adjacency[variables[j], variables[i]] = (parents >> j) & 1 != 0
