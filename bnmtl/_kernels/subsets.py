"""Tables and local scores of all sets of a few variables, and best sinks; used by `search.exact`.

Silander & Myllymaki (2006), except that tables are computed from small sets to large ones.

Data contract: sets of the m variables are int64; bit i stands for variable ``variables[i]``. Parent
sets of the child of bit i omit that bit, so they range from 0 to 2**(m - 1) - 1. The table of
`SUBSETS` is reused for all tasks in turn.

The table of `WALK` is memory of one task's depth-first walk over the sets. At each step down, a
further variable refines the partition of the previous set. A row alone in its cell remains so: its
count is final, and the row is not carried further. The last few variables of the walk, the tail,
refine nothing. Instead, rows of a cell that agree on all of them are merged, and all subsets of the
tail are counted from the merged rows.
"""

import math

import numpy as np

from bnmtl._kernels._jit import (
    Arrays,
    Bytes,
    Floats,
    Floats2,
    Table,
    flags,
    floats,
    ints,
    kernel,
    layout,
    uint8s,
    uint32s,
)
from bnmtl._kernels.counting import ARITIES, CODE_AT, CODES, N_CASES, N_ROWS
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
from bnmtl._kernels.terms import BDEU, LONGEST_TABLE, TERM_TABLES, pseudo_counts, table_sum

SUBSETS = layout(
    VARIABLES := ints("variables"),  # (m,): in ascending order
    WALKED := ints("walked"),  # (m,): bits in the order in which a walk adds them
    SET_CELLS := floats("cells"),  # (2**m,): product of the arities of each set
    OWNERS_OF := ints("owners_of"),  # (2**m,): owner of the terms of each set, from 0 on
    NEEDED := flags("needed"),  # (2**m,): sets whose table a task's scores need, and their subsets
    TABLES := ints("tables"),  # (2**m,): sum over the cells of each needed set
    SET_SCORES := floats("scores", 2),  # (m, 2**(m - 1)): local score plus log prior odds, or -inf
)

WALK = layout(
    *TERM_TABLES,
    AT := ints("at"),  # (2,): number of variables of the current set; number of finished sets
    SETS := ints("sets"),  # (m + 1,): the set of each depth
    NEXT_ONES := ints("next"),  # (m + 1,): index in `walked` of the variable to add next
    WALK_CELLS := ints("n_cells"),  # (m + 1,): number of carried cells
    N_CARRIED := ints("n_carried"),  # (m + 1,): number of rows in them
    CARRIED := uint32s("carried"),  # flat: (rows,) for each depth, the carried rows
    CELL_OF := uint32s("cell_of"),  # as `carried`: the cell of each row
    N_FINAL := ints("n_final"),  # (m + 1,): number of final counts above 1
    N_ONES := ints("n_ones"),  # (m + 1,): number of final counts of 1
    FINAL_COUNTS := ints("final_counts"),  # (rows,): concatenated by depth
    ROW_WEIGHTS := ints("weights"),  # (rows,): frequency of each row
    PATTERNS := uint8s("patterns"),  # (rows,): joint state of the tail's variables
    TAIL_SETS := ints("tail_sets"),  # (2**tail,): the subsets of the tail
    TAIL_KEYS := ints("tail_keys", 2),  # (2**tail, patterns): joint state of each subset
    TAIL_SIZES := ints("tail_sizes"),  # (2**tail,): number of joint states of each subset
    MERGED_CELLS := uint32s("merged_cells"),  # (rows,): carried rows merged by cell and pattern
    MERGED_PATTERNS := uint8s("merged_patterns"),  # (rows,)
    MERGED_WEIGHTS := ints("merged_weights"),  # (rows,)
    SIZES := ints("sizes"),  # number of rows of each new cell, 0 between uses
    MASSES := ints("masses"),  # the sum of their weights, 0 between uses
    COUNTS := ints("counts"),  # (rows + 1,): counts of the current set's cells that are not final
)
DEPTH, DONE = range(2)

# Maximum number of variables of the tail, and of their joint states.
MOST_IN_TAIL = 4
MOST_PATTERNS = 64
# Maximum number of stored terms: with many pseudo-counts, each row is shorter.
MOST_TERMS = 1 << 23


def new_subsets(variables, engine):
    """Memory for the subsets of some variables."""
    arities = engine.arities[variables]
    cells = np.ones(1)
    for arity in arities.tolist():
        cells = np.concatenate([cells, cells * arity])
    owners_of = np.zeros(len(cells), np.int64)
    if engine.method[KIND] == BDEU:
        # Sets that are too large have no table.
        owners_of = np.unique(np.minimum(cells, engine.most_cells.max()), return_inverse=True)[1]
    return Arrays(
        SUBSETS,
        variables=variables,
        # Variables with many states come first, so that most sets carry few rows.
        walked=np.argsort(-arities, kind="stable"),
        cells=cells,
        owners_of=owners_of,
        needed=np.zeros(len(cells), dtype=bool),
        tables=np.zeros(len(cells), np.int64),
        scores=np.zeros((len(variables), len(cells) // 2)),
    )


def new_walk(subsets, engine, s):
    """A walk over the subsets for task s, positioned at the empty set."""
    m, n_rows, n_cases = len(subsets.variables), int(engine.n_rows[s]), int(engine.n_cases[s])
    arities = engine.arities[subsets.variables]
    joint_states = np.cumprod(arities[subsets.walked[::-1]][:MOST_IN_TAIL])
    n_head = m - int((joint_states <= MOST_PATTERNS).sum())
    tail = _tail(subsets.walked[n_head:].tolist(), arities.tolist())
    patterns = np.zeros(n_rows, np.uint8)
    for bit in subsets.walked[n_head:].tolist():
        begin = engine.code_at[s, subsets.variables[bit]]
        # Sets with variables that the task lacks are not needed.
        codes = engine.codes[begin : begin + n_rows] if begin >= 0 else 0
        patterns = patterns * np.uint8(arities[bit]) + codes
    weights, weight_at = np.ones(n_rows, np.int64), engine.weight_at[s]
    if weight_at >= 0:
        weights = engine.weights[weight_at : weight_at + n_rows]
    carried = np.empty((n_head + 1) * n_rows, np.uint32)
    carried[:n_rows] = np.arange(n_rows)
    most_cells = n_rows // 2 + 1
    n_keys = int(min(most_cells * arities.max(), subsets.cells.max(), engine.most_cells[s]))
    n_owners = 1 << int(subsets.owners_of.max()).bit_length()
    n_terms = min(n_cases + 1, LONGEST_TABLE, max(2, MOST_TERMS // n_owners))
    return Arrays(
        WALK,
        at=np.zeros(2, np.int64),
        **{name: np.zeros(m + 1, np.int64) for name in ("sets", "next", "n_final", "n_ones")},
        n_cells=np.ones(m + 1, np.int64),
        n_carried=np.full(m + 1, n_rows),
        carried=carried,
        cell_of=np.zeros(len(carried), np.uint32),
        final_counts=np.empty(n_rows, np.int64),
        weights=weights,
        patterns=patterns,
        **tail,
        merged_cells=np.empty(n_rows, np.uint32),
        merged_patterns=np.empty(n_rows, np.uint8),
        merged_weights=np.empty(n_rows, np.int64),
        sizes=np.zeros(n_keys, np.int64),
        masses=np.zeros(max(n_keys, most_cells * tail["tail_keys"].shape[1]), np.int64),
        counts=np.empty(n_rows + 1, np.int64),
        terms=np.empty((n_owners, n_terms), np.int64),
        owners=np.full(n_owners, -1),
        bases=np.zeros(n_owners),
    )


def _tail(bits, arities):
    """The arrays of `WALK` for the subsets of the tail, beginning with the empty set."""
    left = n_patterns = math.prod(arities[bit] for bit in bits)
    sets, sizes = np.zeros(1, np.int64), np.ones(1, np.int64)
    keys = np.zeros((1, n_patterns), np.int64)
    for bit in bits:
        left //= arities[bit]
        states = np.arange(n_patterns) // left % arities[bit]
        sets = np.concatenate([sets, sets | 1 << bit])
        sizes = np.concatenate([sizes, sizes * arities[bit]])
        keys = np.concatenate([keys, keys * arities[bit] + states])
    return {"tail_sets": sets, "tail_sizes": sizes, "tail_keys": keys}


@kernel
def walk_on(engine: Table, scratch: Table, subsets: Table, walk: Table, s: int, most_looks: int):
    """Continue a walk until all tables are computed or ``most_looks`` rows have been processed.

    Returns
    -------
    bool
        Whether all tables are computed.
    """
    walked, needed = WALKED(subsets), NEEDED(subsets)
    at, sets, following = AT(walk), SETS(walk), NEXT_ONES(walk)
    n_in_tail = TAIL_SETS(walk).size
    one, looks = np.int64(1), np.int64(0)
    if at[DONE] == 0:
        count_subsets(engine, scratch, subsets, walk, np.int64(0))
        at[DONE] = n_in_tail
    while looks < most_looks:
        depth = at[DEPTH]
        place = following[depth]
        if n_in_tail << place == needed.size:
            if depth == 0:
                return True
            at[DEPTH] -= 1
            continue
        following[depth] += 1
        members = sets[depth] | one << walked[place]
        if not needed[members]:
            at[DONE] += needed.size >> (place + 1)
            continue
        looks += (N_CARRIED(walk)[depth] + 1) * n_in_tail
        refine(engine, walk, s, VARIABLES(subsets)[walked[place]], depth)
        depth += 1
        at[DEPTH], sets[depth], following[depth] = depth, members, place + 1
        count_subsets(engine, scratch, subsets, walk, depth)
        at[DONE] += n_in_tail
    return False


@kernel
def refine(engine, walk, s, v, depth):
    """Refine the partition of a depth by variable v to obtain that of the next depth."""
    n_rows, arity = N_ROWS(engine)[s], ARITIES(engine)[v]
    codes = CODES(engine)[CODE_AT(engine)[s, v] :]
    weights, n_carried = ROW_WEIGHTS(walk), N_CARRIED(walk)
    carried = CARRIED(walk)[depth * n_rows :]
    cell_of = CELL_OF(walk)[depth * n_rows :]
    sizes, masses = SIZES(walk), MASSES(walk)
    n_keys = WALK_CELLS(walk)[depth] * arity
    for at in range(n_carried[depth]):
        row = carried[at]
        key = cell_of[at] * arity + codes[row]
        sizes[key] += 1
        masses[key] += weights[row]
    number_cells(walk, depth, n_keys)
    end = n_rows
    for at in range(n_carried[depth]):
        row = carried[at]
        cell = sizes[cell_of[at] * arity + codes[row]]
        # A row without a cell is overwritten by the next row.
        carried[end], cell_of[end] = row, max(cell, 0)
        end += cell >= 0
    n_carried[depth + 1] = end - n_rows
    for key in range(n_keys):
        sizes[key] = 0


@kernel
def number_cells(walk, depth, n_keys):
    """Replace the sizes of the next depth's cells by the cells' numbers, -1 for final counts."""
    sizes, masses, final_counts = SIZES(walk), MASSES(walk), FINAL_COUNTS(walk)
    n_final, n_ones = N_FINAL(walk)[depth], N_ONES(walk)[depth]
    n_cells = np.int64(0)
    for key in range(n_keys):
        size, mass = sizes[key], masses[key]
        sizes[key], masses[key] = -1, 0
        if size > 1:
            sizes[key] = n_cells
            n_cells += 1
        elif mass > 1:
            final_counts[n_final] = mass
            n_final += 1
        else:
            n_ones += mass
    WALK_CELLS(walk)[depth + 1] = n_cells
    N_FINAL(walk)[depth + 1] = n_final
    N_ONES(walk)[depth + 1] = n_ones


@kernel
def count_subsets(engine, scratch, subsets, walk, depth):
    """Compute the tables of the set of a depth, joined with each subset of the tail."""
    n_merged = merge(walk, depth)
    cells, patterns = MERGED_CELLS(walk), MERGED_PATTERNS(walk)
    weights, masses, counts = MERGED_WEIGHTS(walk), MASSES(walk), COUNTS(walk)
    tail_sets, needed = TAIL_SETS(walk), NEEDED(subsets)
    for subset in range(tail_sets.size):
        members = SETS(walk)[depth] | tail_sets[subset]
        if not needed[members]:
            continue
        keys, n_keys = TAIL_KEYS(walk)[subset], TAIL_SIZES(walk)[subset]
        for at in range(n_merged):
            masses[cells[at] * n_keys + keys[patterns[at]]] += weights[at]
        n_counts, n_ones = np.int64(0), N_ONES(walk)[depth]
        for key in range(WALK_CELLS(walk)[depth] * n_keys):
            # Ones and zeros are overwritten by the next count.
            counts[n_counts] = masses[key]
            n_counts += masses[key] > 1
            n_ones += masses[key] == 1
            masses[key] = 0
        COUNTERS(scratch)[COMPUTED] += 1
        sum_table(engine, subsets, walk, members, depth, n_counts, n_ones)


@kernel
def merge(walk, depth):
    """Merge the carried rows of a depth by cell and pattern; return the number of merged rows."""
    patterns, n_patterns = PATTERNS(walk), TAIL_KEYS(walk).shape[1]
    begin = depth * patterns.size
    carried, cell_of = CARRIED(walk)[begin:], CELL_OF(walk)[begin:]
    weights, masses = ROW_WEIGHTS(walk), MASSES(walk)
    merged_cells, merged_patterns = MERGED_CELLS(walk), MERGED_PATTERNS(walk)
    merged_weights = MERGED_WEIGHTS(walk)
    end = np.int64(0)
    for at in range(N_CARRIED(walk)[depth]):
        row = carried[at]
        key = cell_of[at] * n_patterns + patterns[row]
        # A row that repeats a cell and pattern is overwritten by the next row.
        merged_cells[end], merged_patterns[end] = cell_of[at], patterns[row]
        end += masses[key] == 0
        masses[key] += weights[row]
    for at in range(end):
        key = merged_cells[at] * n_patterns + merged_patterns[at]
        merged_weights[at] = masses[key]
        masses[key] = 0
    return end


@kernel
def sum_table(engine, subsets, walk, members, depth, n_counts, n_ones):
    """Sum the table of a set: its `COUNTS`, the final counts of a depth and ``n_ones`` ones."""
    method = METHOD(engine)
    kind, scale = np.int64(method[KIND]), method[SCALE]
    counts, final_counts, owner = COUNTS(walk), FINAL_COUNTS(walk), OWNERS_OF(subsets)[members]
    n_final = N_FINAL(walk)[depth]
    _, pseudo, _, _ = pseudo_counts(
        kind, method[SAMPLE_SIZE], SET_CELLS(subsets)[members], 1.0, np.int64(0)
    )
    total = table_sum(walk, counts, n_counts, kind, owner, pseudo, scale)
    total += table_sum(walk, final_counts, n_final, kind, owner, pseudo, scale)
    counts[0] = 1
    each = table_sum(walk, counts, np.int64(1), kind, owner, pseudo, scale)
    TABLES(subsets)[members] = total + n_ones * each


@kernel
def spread(parents, i):
    """The set of variables of a parent set of the child of bit i."""
    low = parents & ((np.int64(1) << i) - 1)
    return low | ((parents ^ low) << 1)


@kernel
def squeeze(members, i):
    """The parent set of the child of bit i for a set of variables without that bit."""
    low = members & ((np.int64(1) << i) - 1)
    return low | ((members ^ low) >> 1)


@kernel
def list_members(members, variables, listed):
    """Write the variables of a set in ascending order; return their number."""
    end = np.int64(0)
    for i in range(variables.size):
        if (members >> i) & 1:
            listed[end] = variables[i]
            end += 1
    return end


@kernel
def add_scores(
    engine: Table,
    scratch: Table,
    subsets: Table,
    s: int,
    i: int,
    usable: int,
    required: int,
    first: int,
    most_asked: int,
):
    """Add a task's local scores of a child to the scores of its parent sets, from ``first`` on.

    Only parents in the set ``usable`` have an effect in this task. The set ``required`` is scored
    even if the family is too large.

    Returns
    -------
    int
        The first parent set beyond the budget.
    """
    variables, scores = VARIABLES(subsets), SET_SCORES(subsets)[i]
    cells, tables = SET_CELLS(subsets), TABLES(subsets)
    method, counters = METHOD(engine), COUNTERS(scratch)
    kind, scale, family = np.int64(method[KIND]), method[SCALE], FAMILY(scratch)
    child, child_bit = variables[i], np.int64(1) << i
    r, n_cases = float(ARITIES(engine)[child]), float(N_CASES(engine)[s])
    for at in range(first, scores.size):
        if counters[ASKED] >= most_asked:
            return at
        if scores[at] == -np.inf:
            continue
        parents = spread(at, i) & usable
        q = cells[parents]
        is_too_large = q * r > MOST_CELLS(engine)[s]
        if is_too_large and parents != required & usable:
            last = list_members(parents, variables, family) - 1
            exclude(scratch, s, child, family, last, family[last])
            scores[at] = -np.inf
        elif is_too_large or not by_set(kind):
            n_parents = list_members(parents, variables, family)
            scores[at] += local_score(engine, scratch, s, child, family, n_parents)
        else:
            counters[ASKED] += 1
            value = tables[parents | child_bit] - tables[parents]
            scores[at] += value / scale - complexity(kind, q, r, n_cases)
    return scores.size


@kernel
def find_sinks(best: Floats2, totals: Floats, sinks: Bytes):
    """The score of the best graph over every set of variables, and the bit of a sink of that graph.

    A sink has no children. In the best graph, it has its best parents among all other variables,
    and the rest is the best graph over these.

    Parameters
    ----------
    best : float64 array of shape (m, 2**(m - 1))
        The best score of each child with parents from each set.
    totals : float64 array of shape (2**m,)
    sinks : uint8 array of shape (2**m,)
    """
    totals[0] = 0.0
    for members in range(1, totals.size):
        totals[members] = -np.inf
        sinks[members] = 0
        for i in range(best.shape[0]):
            if (members >> i) & 1:
                others = members ^ (np.int64(1) << i)
                total = totals[others] + best[i, squeeze(others, i)]
                if total > totals[members]:
                    totals[members] = total
                    sinks[members] = i
