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

import math

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
    ("n_carried", np.int64, 1),  # (m + 1,): rows in them
    ("n_settled", np.int64, 1),  # (m + 1,): counts that are settled, those of 1 aside
    ("n_single", np.int64, 1),  # (m + 1,): settled counts of 1
    ("settled", np.int64, 1),  # (rows,): a depth's follow on those of the depth before
    ("carried", np.uint32, 1),  # flat: (rows,) for each depth, the rows that are carried
    ("cells_of", np.uint32, 1),  # as `carried`: the cell of each
    ("weights", np.int64, 1),  # (rows,): how often each row occurs
    ("patterns", np.uint8, 1),  # (rows,): number of the states of the tail's variables
    ("tail_sets", np.int64, 1),  # (2**tail,): the subsets of the tail, the empty one first
    ("tail_keys", np.int64, 2),  # (2**tail, patterns): what a pattern is in each of them
    ("tail_sizes", np.int64, 1),  # (2**tail,): how many there are of these
    ("merged_cells", np.uint32, 1),  # (rows,): carried rows merged by cell and pattern
    ("merged_patterns", np.uint8, 1),  # (rows,)
    ("merged_weights", np.int64, 1),  # (rows,)
    ("sizes", np.int64, 1),  # rows of each cell to be, 0 between uses
    ("masses", np.int64, 1),  # the sum of their weights, 0 between uses
    ("counts", np.int64, 1),  # (rows + 1,): of the present set's cells that are not settled
    ("one", np.int64, 1),  # (1,): a count of 1
    ("terms", np.int64, 2),  # as in `terms`
    ("owners", np.int64, 1),
    ("bases", np.float64, 1),
)
AT, SETS, NEXT_ONES, WALK_CELLS, N_CARRIED, N_SETTLED, N_SINGLE, SETTLED = range(8)
CARRIED, CELLS_OF, ROW_WEIGHTS, PATTERNS, TAIL_SETS, TAIL_KEYS, TAIL_SIZES = range(8, 15)
MERGED_CELLS, MERGED_PATTERNS, MERGED_WEIGHTS, SIZES, MASSES, COUNTS, ONE = range(15, 22)
WALK_TERMS, WALK_OWNERS, WALK_BASES = range(22, len(WALK))
DEPTH, DONE = range(2)

# The tail: as many variables as this, of as many joint states.
MOST_IN_TAIL = 4
MOST_PATTERNS = 64
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


def new_walk(subsets, engine, s):
    """A walk over the subsets of task s, at the empty set."""
    m, n_rows, weight_at = len(subsets.variables), engine.n_rows[s], engine.weight_at[s]
    tail = _tail(engine.arities[subsets.variables[subsets.walked]])
    n_tail, n_patterns = len(tail), math.prod(tail)
    patterns = np.zeros(n_rows, np.uint8)
    for bit, arity in zip(subsets.walked[m - n_tail :], tail, strict=True):
        begin = engine.code_at[s, subsets.variables[bit]]
        # Sets with what the task lacks have no tables.
        patterns *= arity
        if begin >= 0:
            patterns += engine.codes[begin : begin + n_rows]
    most_cells = n_rows // 2 + 1
    most_keys = min(most_cells * int(engine.arities.max()), int(subsets.cells.max()))
    owners = 1 << int(subsets.owners_of.max()).bit_length()
    length = min(int(engine.n_cases[s]) + 1, LONGEST_TABLE, max(2, MOST_TERMS // owners))
    return Arrays(
        WALK,
        at=np.zeros(2, np.int64),
        **{name: np.zeros(m + 1, np.int64) for name in ("sets", "next", "n_settled", "n_single")},
        n_cells=np.ones(m + 1, np.int64),
        n_carried=np.full(m + 1, n_rows),
        settled=np.empty(n_rows, np.int64),
        carried=np.tile(np.arange(n_rows, dtype=np.uint32), m - n_tail + 1),
        cells_of=np.zeros((m - n_tail + 1) * n_rows, np.uint32),
        weights=(
            np.ones(n_rows, np.int64)
            if weight_at < 0
            else engine.weights[weight_at : weight_at + n_rows]
        ),
        patterns=patterns,
        **_subsets_of_tail(tail, subsets.walked[m - n_tail :]),
        merged_cells=np.empty(n_rows, np.uint32),
        merged_patterns=np.empty(n_rows, np.uint8),
        merged_weights=np.empty(n_rows, np.int64),
        sizes=np.zeros(most_keys, np.int64),
        masses=np.zeros(max(most_keys, most_cells * n_patterns), np.int64),
        counts=np.empty(n_rows + 1, np.int64),
        one=np.ones(1, np.int64),
        terms=np.empty((owners, length), np.int64),
        owners=np.full(owners, -1),
        bases=np.zeros(owners),
    )


def _tail(arities):
    """Arities of the last variables, as many as the tail may have."""
    n_tail = 0
    while n_tail < min(MOST_IN_TAIL, len(arities)):
        if math.prod(arities[len(arities) - n_tail - 1 :].tolist()) > MOST_PATTERNS:
            break
        n_tail += 1
    return arities[len(arities) - n_tail :].tolist()


def _subsets_of_tail(arities, bits):
    """The arrays of `WALK` that hold the subsets of the tail."""
    n_patterns = math.prod(arities)
    keys = np.zeros((1, n_patterns), np.int64)
    sets, sizes = np.zeros(1, np.int64), np.ones(1, np.int64)
    rest = n_patterns
    for arity, bit in zip(arities, bits.tolist(), strict=True):
        rest //= arity
        states = np.arange(n_patterns) // rest % arity
        keys = np.concatenate([keys, keys * arity + states])
        sets = np.concatenate([sets, sets | 1 << bit])
        sizes = np.concatenate([sizes, sizes * arity])
    return {"tail_keys": keys, "tail_sets": sets, "tail_sizes": sizes}


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
def start_walk(engine, scratch, subsets, walk, s):
    """The tables of the empty set and of the tail's subsets."""
    ints(walk, COUNTS)[0] = ints(engine, N_CASES)[s]
    sum_table(engine, subsets, walk, np.int64(0), np.int64(0), np.int64(1), np.int64(0))
    count_tail(engine, scratch, subsets, walk, np.int64(0))
    ints(walk, AT)[DONE] = ints(walk, TAIL_SETS).size


@kernel
def walk_on(engine, scratch, subsets, walk, s, most_work):
    """Go on with a walk until all tables are there or that many rows were looked at.

    Returns
    -------
    bool
        Whether all are there.
    """
    walked, needed = ints(subsets, WALKED), flags(subsets, NEEDED)
    at, sets, following = ints(walk, AT), ints(walk, SETS), ints(walk, NEXT_ONES)
    n_carried, n_subsets = ints(walk, N_CARRIED), ints(walk, TAIL_SETS).size
    one, work = np.int64(1), np.int64(0)
    while work < most_work:
        depth = at[DEPTH]
        place = following[depth]
        if n_subsets << place == needed.size:
            if depth == 0:
                return True
            at[DEPTH] -= 1
            continue
        following[depth] += 1
        members = sets[depth] | one << walked[place]
        if not needed[members]:
            at[DONE] += one << (walked.size - 1 - place)
            continue
        work += (n_carried[depth] + 1) * n_subsets
        refine(engine, walk, s, ints(subsets, VARIABLES)[walked[place]], depth)
        depth += 1
        at[DEPTH], sets[depth], following[depth] = depth, members, place + 1
        at[DONE] += n_subsets
        ints(scratch, COUNTERS)[COMPUTED] += 1
        sum_table(
            engine,
            subsets,
            walk,
            members,
            depth,
            ints(walk, WALK_CELLS)[depth],
            ints(walk, N_SINGLE)[depth],
        )
        count_tail(engine, scratch, subsets, walk, depth)
    return False


@kernel
def refine(engine, walk, s, v, depth):
    """Refine the partition of a depth by variable v into that of the next depth.

    `COUNTS` gets the counts of its cells.
    """
    n_rows, arity = ints(engine, N_ROWS)[s], ints(engine, ARITIES)[v]
    codes = codes_of(engine, CODES)[ints2(engine, CODE_AT)[s, v] :]
    weights, n_carried = ints(walk, ROW_WEIGHTS), ints(walk, N_CARRIED)
    source = rows_of(walk, CARRIED)[depth * n_rows :]
    cells_of = rows_of(walk, CELLS_OF)[depth * n_rows :]
    target, new_cells_of = source[n_rows:], cells_of[n_rows:]
    sizes, masses = ints(walk, SIZES), ints(walk, MASSES)
    n_keys = ints(walk, WALK_CELLS)[depth] * arity
    for at in range(n_carried[depth]):
        row = source[at]
        key = cells_of[at] * arity + codes[row]
        sizes[key] += 1
        masses[key] += weights[row]
    settle(walk, depth, n_keys)
    end = np.int64(0)
    for at in range(n_carried[depth]):
        row = source[at]
        cell = sizes[cells_of[at] * arity + codes[row]]
        # What is not carried is written over.
        target[end], new_cells_of[end] = row, max(cell, 0)
        end += cell >= 0
    n_carried[depth + 1] = end
    for key in range(n_keys):
        sizes[key] = 0


@kernel
def settle(walk, depth, n_keys):
    """Number the cells to be of the next depth, in place of their sizes; -1 if not carried."""
    sizes, masses, counts = ints(walk, SIZES), ints(walk, MASSES), ints(walk, COUNTS)
    settled, n_settled = ints(walk, SETTLED), ints(walk, N_SETTLED)[depth]
    n_single, n_cells = ints(walk, N_SINGLE)[depth], np.int64(0)
    for key in range(n_keys):
        size, mass = sizes[key], masses[key]
        masses[key], sizes[key] = 0, -1
        if size > 1:
            sizes[key] = n_cells
            counts[n_cells] = mass
            n_cells += 1
        elif mass == 1:
            n_single += 1
        elif mass > 1:
            settled[n_settled] = mass
            n_settled += 1
    ints(walk, WALK_CELLS)[depth + 1] = n_cells
    ints(walk, N_SETTLED)[depth + 1] = n_settled
    ints(walk, N_SINGLE)[depth + 1] = n_single


@kernel
def count_tail(engine, scratch, subsets, walk, depth):
    """The tables of the set of a depth and each subset of the tail, the empty one left out."""
    n_merged = merge(walk, depth)
    cells_of, patterns = rows_of(walk, MERGED_CELLS), codes_of(walk, MERGED_PATTERNS)
    weights, masses, counts = ints(walk, MERGED_WEIGHTS), ints(walk, MASSES), ints(walk, COUNTS)
    tail_sets, needed = ints(walk, TAIL_SETS), flags(subsets, NEEDED)
    for subset in range(1, tail_sets.size):
        members = ints(walk, SETS)[depth] | tail_sets[subset]
        if not needed[members]:
            continue
        keys, n_keys = ints2(walk, TAIL_KEYS)[subset], ints(walk, TAIL_SIZES)[subset]
        for at in range(n_merged):
            masses[cells_of[at] * n_keys + keys[patterns[at]]] += weights[at]
        n_counts, n_single = np.int64(0), ints(walk, N_SINGLE)[depth]
        for key in range(ints(walk, WALK_CELLS)[depth] * n_keys):
            # Ones and zeros are written over.
            counts[n_counts] = masses[key]
            n_counts += masses[key] > 1
            n_single += masses[key] == 1
            masses[key] = 0
        ints(scratch, COUNTERS)[COMPUTED] += 1
        sum_table(engine, subsets, walk, members, depth, n_counts, n_single)


@kernel
def merge(walk, depth):
    """Merge the carried rows of a depth by cell and pattern; returns how many are left."""
    n_patterns, patterns = ints2(walk, TAIL_KEYS).shape[1], codes_of(walk, PATTERNS)
    begin = depth * patterns.size
    carried, cells_of = rows_of(walk, CARRIED)[begin:], rows_of(walk, CELLS_OF)[begin:]
    weights, masses = ints(walk, ROW_WEIGHTS), ints(walk, MASSES)
    merged_cells, merged_patterns = rows_of(walk, MERGED_CELLS), codes_of(walk, MERGED_PATTERNS)
    merged_weights = ints(walk, MERGED_WEIGHTS)
    end = np.int64(0)
    for at in range(ints(walk, N_CARRIED)[depth]):
        row = carried[at]
        key = cells_of[at] * n_patterns + patterns[row]
        merged_cells[end], merged_patterns[end] = cells_of[at], patterns[row]
        end += masses[key] == 0
        masses[key] += weights[row]
    for at in range(end):
        key = merged_cells[at] * n_patterns + merged_patterns[at]
        merged_weights[at] = masses[key]
        masses[key] = 0
    return end


@kernel
def sum_table(engine, subsets, walk, members, depth, n_counts, n_single):
    """The table of a set: the counts, those that a depth has settled and ``n_single`` ones."""
    method = floats(engine, METHOD)
    kind, scale = np.int64(method[KIND]), method[SCALE]
    terms, owners = ints2(walk, WALK_TERMS), ints(walk, WALK_OWNERS)
    bases, owner = floats(walk, WALK_BASES), ints(subsets, OWNERS_OF)[members]
    counts, settled, one = ints(walk, COUNTS), ints(walk, SETTLED), ints(walk, ONE)
    n_settled = ints(walk, N_SETTLED)[depth]
    _, pseudo, _, _ = pseudo_counts(
        kind, method[SAMPLE_SIZE], floats(subsets, SET_CELLS)[members], 1.0, np.int64(0)
    )
    total = table_sum(terms, owners, bases, counts, n_counts, kind, owner, pseudo, scale)
    total += table_sum(terms, owners, bases, settled, n_settled, kind, owner, pseudo, scale)
    if n_single > 0:
        each = table_sum(terms, owners, bases, one, one[0], kind, owner, pseudo, scale)
        total += n_single * each
    ints(subsets, TABLES)[members] = total


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
