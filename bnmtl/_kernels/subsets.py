"""Local scores of all parent sets of a few variables, and the best graph; used by ``search.exact``.

Silander & Myllymaki (2006): the best parents within every set of candidates, then the best sink of
every set of variables, which is the last in some order of the best graph over the set.

Data contract: sets of the m variables are int64, bit i being variable ``variables[i]``. Parent sets
of the child of bit i have that bit squeezed out, so that they go from 0 to 2**(m - 1) - 1. The
table of `SUBSETS` is for all tasks, one after the other; that of `WALK` is memory of one task's
depth-first walk over the sets. A set refines the partition of the set before it by one more
variable, in the order of `walked`. Rows of one cell that agree on all variables still to come are
merged into one, with the sum of their weights, and what is alone in its cell is carried no further:
its count is settled.
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
    ("n_settled", np.int64, 1),  # (m + 1,): counts that are settled, those of 1 aside
    ("n_single", np.int64, 1),  # (m + 1,): settled counts of 1
    ("n_entries", np.int64, 1),
    ("rows", np.uint32, 1),  # (m + 1) times (rows,), flat: row numbers by cell
    ("weights", np.uint32, 1),  # as `rows`
    ("ids", np.uint32, 1),  # as `rows`
    ("settled", np.int64, 1),  # (rows,): the counts of a depth follow on those of the one before
    ("counts", np.int64, 1),  # (rows,): of the cells that are carried
    ("patterns", np.uint8, 1),  # m times (rows,), flat: states of what comes after each of `walked`
    ("n_patterns", np.int64, 1),  # (m,): number of their patterns, 0 where these are too many
    ("histogram", np.int64, 1),  # (256,)
    ("masses", np.int64, 1),  # (256,)
    ("places", np.int64, 1),  # (256,)
    ("one", np.int64, 1),  # (1,): 1
    ("terms", np.int64, 2),  # as in `terms`
    ("owners", np.int64, 1),
    ("bases", np.float64, 1),
)
AT, SETS, NEXT_ONES, N_WALK_CELLS, N_SETTLED, N_SINGLE, N_ENTRIES, WALK_ROWS, ROW_WEIGHTS, IDS = range(10)
SETTLED, COUNTS, PATTERNS, N_PATTERNS, WALK_HISTOGRAM, MASSES, PLACES, ONE = range(10, 18)
WALK_TERMS, WALK_OWNERS, WALK_BASES = range(18, len(WALK))
DEPTH, DONE = range(2)

# Terms that are kept: the rows of many pseudo-counts are cut shorter than those of a few.
MOST_TERMS = 1 << 23
MOST_PATTERNS = 256


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
    n_slots = (n_rows // 2 + 1) * 10
    length = max(2, min(n_cases + 1, LONGEST_TABLE, MOST_TERMS // n_owners))
    return Arrays(
        WALK,
        at=np.zeros(2, np.int64),
        **{
            name: np.zeros(m + 1, np.int64)
            for name in ("sets", "next", "n_cells", "n_settled", "n_single")
        },
        # Every cell that is carried has two rows, the first one of all excepted.
        n_entries=np.zeros(m+1,np.int64),
        ids=np.empty((m + 1) * n_rows, np.uint32),
        rows=np.empty((m + 1) * n_rows, np.uint32),
        weights=np.empty((m + 1) * n_rows, np.uint32),
        settled=np.empty(n_rows, np.int64),
        counts=np.empty(n_rows + 1, np.int64),
        patterns=np.empty(m * n_rows, np.uint8),
        n_patterns=np.zeros(m, np.int64),
        histogram=np.zeros(n_slots, np.int64),
        masses=np.zeros(n_slots, np.int64),
        places=np.zeros(256, np.int64),
        one=np.ones(1, np.int64),
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
def choose_tables(engine, task, subsets, member):
    """Mark the sets whose tables the local scores of a task are made of."""
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


@kernel
def number_patterns(engine, subsets, walk, s):
    """Number the states of all variables that come after each one, as far as these are few."""
    variables, walked = ints(subsets, VARIABLES), ints(subsets, WALKED)
    patterns, n_patterns = codes_of(walk, PATTERNS), ints(walk, N_PATTERNS)
    n_rows = ints(engine, N_ROWS)[s]
    total = np.int64(1)
    for place in range(walked.size - 1, -1, -1):
        own = patterns[place * n_rows : (place + 1) * n_rows]
        n_patterns[place] = 0
        if place == walked.size - 1:
            for row in range(n_rows):
                own[row] = 0
        elif total > 0:
            v = variables[walked[place + 1]]
            later = patterns[(place + 1) * n_rows :]
            codes = codes_of(engine, CODES)[ints2(engine, CODE_AT)[s, v] :]
            arity = ints(engine, ARITIES)[v]
            is_there = ints2(engine, CODE_AT)[s, v] >= 0
            if is_there:
                total = total * arity if total * arity <= MOST_PATTERNS else 0
            for row in range(n_rows if total > 0 else 0):
                own[row] = later[row] * arity + codes[row] if is_there else later[row]
        n_patterns[place] = total


@kernel
def start_walk(engine, task, subsets, walk, member):
    """Stand at the empty set of a task, its rows in one cell."""
    s = ints(task, MEMBERS)[member]
    choose_tables(engine, task, subsets, member)
    number_patterns(engine, subsets, walk, s)
    n_rows, weight_at = ints(engine, N_ROWS)[s], ints(engine, WEIGHT_AT)[s]
    ints(walk, AT)[DEPTH] = ints(walk, AT)[DONE] = 0
    ints(walk, SETS)[0] = ints(walk, NEXT_ONES)[0] = 0
    ints(walk, N_SETTLED)[0] = ints(walk, N_SINGLE)[0] = 0
    ints(walk, N_WALK_CELLS)[0] = 1
    ints(walk, N_ENTRIES)[0] = n_rows
    rows, weights = rows_of(walk, WALK_ROWS), rows_of(walk, ROW_WEIGHTS)
    for row in range(n_rows):
        rows[row] = row
        rows_of(walk, IDS)[row] = 0
        weights[row] = 1 if weight_at < 0 else ints(engine, WEIGHTS)[weight_at + row]
    ints(walk, COUNTS)[0] = ints(engine, N_CASES)[s]
    sum_table(engine, subsets, walk, np.int64(0), np.int64(0), np.int64(1), np.int64(0))


@kernel
def walk_on(engine, scratch, task, subsets, walk, member, most_work):
    """Go on with a walk until all tables are there or that many rows were looked at.

    Returns
    -------
    bool
        Whether all are there.
    """
    variables, walked = ints(subsets, VARIABLES), ints(subsets, WALKED)
    needed = flags(subsets, NEEDED)
    at, sets, following = ints(walk, AT), ints(walk, SETS), ints(walk, NEXT_ONES)
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
        v = variables[walked[place]]
        ints(scratch, COUNTERS)[COMPUTED] += 1
        work += ints(walk, N_ENTRIES)[depth] + 1
        if place == walked.size - 1 or depth + 1 == most_members:
            n_counts, n_single = count_refined(engine, walk, s, v, depth)
            at[DONE] += one << (walked.size - 1 - place)
        else:
            refine(engine, walk, s, v, depth, place, depth > 0 and place > following[depth - 1])
            depth += 1
            n_counts, n_single = ints(walk, N_WALK_CELLS)[depth], ints(walk, N_SINGLE)[depth]
            at[DEPTH], sets[depth], following[depth] = depth, members, place + 1
            at[DONE] += 1
        sum_table(engine, subsets, walk, members, depth, n_counts, n_single)
    return False


@kernel
def sum_table(engine, subsets, walk, members, depth, n_counts, n_single):
    """The table of a set from the settled counts of a depth, the others and a number of ones."""
    method = floats(engine, METHOD)
    kind, scale = np.int64(method[KIND]), method[SCALE]
    terms, owners = ints2(walk, WALK_TERMS), ints(walk, WALK_OWNERS)
    bases, owner = floats(walk, WALK_BASES), ints(subsets, OWNERS_OF)[members]
    settled, n_settled = ints(walk, SETTLED), ints(walk, N_SETTLED)[depth]
    one = ints(walk, ONE)
    _, pseudo, _, _ = pseudo_counts(
        kind, method[SAMPLE_SIZE], floats(subsets, SET_CELLS)[members], 1.0, np.int64(0)
    )
    counts = ints(walk, COUNTS)
    total = table_sum(terms, owners, bases, counts, n_counts, kind, owner, pseudo, scale)
    total += table_sum(terms, owners, bases, settled, n_settled, kind, owner, pseudo, scale)
    if n_single > 0:
        each = table_sum(terms, owners, bases, one, one[0], kind, owner, pseudo, scale)
        total += n_single * each
    ints(subsets, TABLES)[members] = total


@kernel
def refine(engine, walk, s, v, depth, place, is_skip):
    n_rows = ints(engine, N_ROWS)[s]
    codes = codes_of(engine, CODES)[ints2(engine, CODE_AT)[s, v] :]
    rows, weights, ids = rows_of(walk, WALK_ROWS), rows_of(walk, ROW_WEIGHTS), rows_of(walk, IDS)
    here, there = depth * n_rows, (depth + 1) * n_rows
    source, target = rows[here:], rows[there:]
    source_weights, target_weights = weights[here:], weights[there:]
    source_ids, target_ids = ids[here:], ids[there:]
    sizes, masses = ints(walk, WALK_HISTOGRAM), ints(walk, MASSES)
    counts, settled = ints(walk, COUNTS), ints(walk, SETTLED)
    arity = ints(engine, ARITIES)[v]
    n_settled, n_single = ints(walk, N_SETTLED)[depth], ints(walk, N_SINGLE)[depth]
    n_entries = ints(walk, N_ENTRIES)
    for at in range(n_entries[depth]):
        key = source_ids[at] * arity + codes[source[at]]
        sizes[key] += 1
        masses[key] += source_weights[at]
    n_cells = np.int64(0)
    for key in range(ints(walk, N_WALK_CELLS)[depth] * arity):
        size, mass = sizes[key], masses[key]
        masses[key] = 0
        sizes[key] = n_cells if size > 1 else -1
        if size > 1:
            counts[n_cells] = mass
            n_cells += 1
        elif mass == 1:
            n_single += 1
        elif mass > 1:
            settled[n_settled] = mass
            n_settled += 1
    end = np.int64(0)
    for at in range(n_entries[depth]):
        row = source[at]
        own = sizes[source_ids[at] * arity + codes[row]]
        target[end] = row
        target_ids[end] = own
        target_weights[end] = source_weights[at]
        end += own >= 0
    for key in range(ints(walk, N_WALK_CELLS)[depth] * arity):
        sizes[key] = 0
    n_patterns = ints(walk, N_PATTERNS)[place]
    if is_skip and n_patterns > 2 and n_cells * n_patterns <= sizes.size:
        end = merge(target, target_ids, target_weights, end, codes_of(walk, PATTERNS)[place * n_rows :], n_patterns, sizes)
    n_entries[depth + 1] = end
    ints(walk, N_WALK_CELLS)[depth + 1] = n_cells
    ints(walk, N_SETTLED)[depth + 1] = n_settled
    ints(walk, N_SINGLE)[depth + 1] = n_single

@kernel
def merge(rows, ids, weights, n, patterns, n_patterns, slots):
    end = np.int64(0)
    for at in range(n):
        row, own = rows[at], ids[at]
        key = own * n_patterns + patterns[row]
        slot = slots[key]
        if slot == 0:
            rows[end], ids[end], weights[end] = row, own, weights[at]
            end += 1
            slots[key] = end
        else:
            weights[slot - 1] += weights[at]
    for at in range(end):
        slots[ids[at] * n_patterns + patterns[rows[at]]] = 0
    return end


@kernel
def count_refined(engine, walk, s, v, depth):
    codes = codes_of(engine, CODES)[ints2(engine, CODE_AT)[s, v] :]
    here = depth * ints(engine, N_ROWS)[s]
    rows, weights, ids = rows_of(walk, WALK_ROWS)[here:], rows_of(walk, ROW_WEIGHTS)[here:], rows_of(walk, IDS)[here:]
    counts, masses = ints(walk, COUNTS), ints(walk, MASSES)
    arity = ints(engine, ARITIES)[v]
    n_counts, n_single = np.int64(0), ints(walk, N_SINGLE)[depth]
    for at in range(ints(walk, N_ENTRIES)[depth]):
        masses[ids[at] * arity + codes[rows[at]]] += weights[at]
    for key in range(ints(walk, N_WALK_CELLS)[depth] * arity):
        mass = masses[key]
        masses[key] = 0
        counts[n_counts] = mass
        n_counts += mass > 1
        n_single += mass == 1
    return n_counts, n_single


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
