"""Local scores of families from counts, with a cache, used by every search and ``bnmtl.scores``.

Data contract: the table of `ENGINE` holds the rows of k tasks, the score and the cache; that of
`SCRATCH` is memory of one thread. Parents are int64, sorted, without the child.

A Dirichlet score is a difference of two sums over contingency tables: that of the family's cells
and that of the parents' configurations. Every term is rounded to a multiple of 1 / scale and
summed as an integer, so a score does not depend on the order of summation, not even in its last
bit. Under BDeu, BIC, AIC and the log-likelihood the sum depends only on the set of variables:

    local score(child, parents) = table(parents and child) - table(parents)

so these tables are cached, the scores of Markov equivalent graphs are exactly equal, and a family's
table is reused for each of its variables as a child. K2, BDs and mixtures of Dirichlet scores are
cached by family.
"""

import math

import numpy as np

from bnmtl._kernels._jit import (
    Arrays,
    Callback,
    Flags2,
    Flags3,
    Ints,
    Table,
    flags,
    floats,
    ints,
    kernel,
    layout,
    table_at,
)
from bnmtl._kernels.counting import (
    ARITIES,
    CELLS,
    CODE_AT,
    CONFIGURATIONS,
    N_CASES,
    ROWS,
    count_alone,
    count_with,
    new_partition,
    part,
)
from bnmtl._kernels.groups import new_groups
from bnmtl._kernels.joint_rows import JOINT, new_joint
from bnmtl._kernels.terms import (
    AIC,
    BDS,
    BIC,
    K2,
    LONGEST_MIXTURE,
    LONGEST_TABLE,
    MISSING,
    MIXTURE,
    N_MIXTURE_TABLES,
    N_TABLES,
    add_mixture_terms,
    keep,
    log_mean,
    pseudo_counts,
    recall,
    table_sum,
)

ENGINE = layout(
    *ROWS,
    METHOD := floats("method"),  # see below
    TASK_KEYS := ints("task_keys"),  # (k,): random; the hash of a set is the XOR of its keys
    VARIABLE_KEYS := ints("variable_keys"),  # (n,)
    CHILD_KEYS := ints("child_keys"),  # (n,)
    CACHE := ints("cache"),  # flat, see `recall`
    CALLS := ints(
        "calls"
    ),  # (4,): addresses of `gains`, `gains_together` and the rows of ``all_sets``
    MOST_CELLS := floats("most_cells"),  # (k,): larger families of a task are not scored
    PARTITIONS := floats("partitions"),  # concentrations, see ``groups``; empty without sharing
    PARTS := floats("parts"),  # concentration of parts of tasks, see ``all_sets``; empty without
    GIVEN := ints("given"),  # a cache of scores that override computed ones, or empty
)
# METHOD: kind of score, equivalent sample size, integer units per nat (a power of two) and, from
# index CONCENTRATIONS on, the concentrations of a mixture.
KIND, SAMPLE_SIZE, SCALE, CONCENTRATIONS = range(4)

SCRATCH = layout(
    *JOINT,
    MIXED := ints("mixture"),  # (concentrations,): log evidence by concentration
    COUNTERS := ints("counters"),  # see below
    EXCLUDED := ints("excluded"),  # (n + 4,): the first family beyond MOST_CELLS, see `exclude`
    COLUMN := floats("column"),  # (n,): what `gains` returns
    FAMILY := ints("family"),  # (n,): the parents that `gains` gets
    CUT := ints("cut"),  # (n,)
    WANTED := flags("wanted"),  # (n,): variables that may be added as parents
    MISSING_ONES := flags("missing"),  # (n,)
    OVER_CELLS := ints("over_cells"),  # (n,)
    OVER_CONFIGURATIONS := ints("over_configurations"),  # (n,)
    WAITING := ints("waiting"),  # (n,)
    QUEUE := ints("queue"),  # (n,)
    TOUCHED := flags("touched"),  # (n,)
    NOTHING := ints("nothing"),  # (0,)
)

# Counters of a scratch.
ASKED, COMPUTED, TOO_LARGE = range(3)


def new_scratch(n_variables, n_rows, n_cases, n_concentrations=0, shared=None):
    """Memory of one thread for scoring families of at most the given size.

    ``shared`` is (numbers of rows of the tasks, number of states, of concentrations of partitions)
    if tasks share tables; ``n_cases`` is then the total over tasks.
    """
    n, n_together = n_variables, max(n_concentrations, 1)
    longest, n_tables = LONGEST_TABLE, N_TABLES
    if n_concentrations:
        longest, n_tables = LONGEST_MIXTURE, N_MIXTURE_TABLES
    n_joint_rows, n_states, n_partitions = shared or ([], 0, 0)
    return Arrays(
        SCRATCH,
        **new_partition(n_rows),
        **new_groups(len(n_joint_rows), n_states, n_concentrations, n_partitions),
        **new_joint(n, n_joint_rows, n_states),
        terms=np.empty((n_tables, min(n_cases + 1, longest) * n_together), np.int64),
        owners=np.full(n_tables, -1, np.int64),
        bases=np.zeros(n_tables),
        mixture=np.zeros(n_concentrations, np.int64),
        counters=np.zeros(3, np.int64),
        excluded=np.zeros(n + 4, np.int64),
        column=np.zeros(n),
        family=np.zeros(n, np.int64),
        cut=np.zeros(n, np.int64),
        wanted=np.zeros(n, np.bool_),
        missing=np.zeros(n, np.bool_),
        over_cells=np.zeros(n, np.int64),
        over_configurations=np.zeros(n, np.int64),
        waiting=np.zeros(n, np.int64),
        queue=np.zeros(n, np.int64),
        touched=np.zeros(n, np.bool_),
        nothing=np.zeros(0, np.int64),
    )


@kernel
def family_sums(engine, scratch, n_cells, n_configurations, q, r):
    """The two sums of a counted family: over its cells and over the parents' configurations.

    Under a mixture, the first is the local score and the second is 0.
    """
    method = METHOD(engine)
    kind, scale = np.int64(method[KIND]), method[SCALE]
    cells, configurations = CELLS(scratch), CONFIGURATIONS(scratch)
    if kind == MIXTURE:
        concentrations, totals = method[CONCENTRATIONS:], MIXED(scratch)
        for c in range(totals.size):
            totals[c] = 0
        add_mixture_terms(scratch, cells, n_cells, 1.0, concentrations, scale, np.int64(1), totals)
        n, sign = n_configurations, np.int64(-1)
        add_mixture_terms(scratch, configurations, n, r, concentrations, scale, sign, totals)
        return log_mean(totals, scale), np.int64(0)
    cells_owner, cells_count, owner, count = pseudo_counts(
        kind, method[SAMPLE_SIZE], q, r, n_configurations
    )
    return (
        table_sum(scratch, cells, n_cells, kind, cells_owner, cells_count, scale),
        table_sum(scratch, configurations, n_configurations, kind, owner, count, scale),
    )


@kernel
def complexity(kind, q, r, n_cases):
    """Penalty of BIC and AIC for the q (r - 1) free parameters of a family."""
    if kind == BIC:
        return 0.5 * math.log(n_cases) * q * (r - 1)
    if kind == AIC:
        return q * (r - 1)
    return 0.0


@kernel
def by_set(kind: int):
    """Whether the tables of a score depend only on the set of variables."""
    return kind != K2 and kind != BDS and kind != MIXTURE


@kernel
def recall_family(engine, parents_key, child):
    """The cached local score as an integer without penalty, or MISSING."""
    cache = CACHE(engine)
    if not by_set(np.int64(METHOD(engine)[KIND])):
        key = parents_key ^ CHILD_KEYS(engine)[child]
        given = GIVEN(engine)
        if given.size > 0:
            value = recall(given, key)
            if value != MISSING:
                return value
        return recall(cache, key)
    whole = recall(cache, parents_key ^ VARIABLE_KEYS(engine)[child])
    if whole == MISSING:
        return MISSING
    part_of_it = recall(cache, parents_key)
    if part_of_it == MISSING:
        return MISSING
    return whole - part_of_it


@kernel
def keep_family(engine, parents_key, child, cells, configurations):
    """Cache the two sums of a family."""
    cache = CACHE(engine)
    if by_set(np.int64(METHOD(engine)[KIND])):
        keep(cache, parents_key ^ VARIABLE_KEYS(engine)[child], cells)
        keep(cache, parents_key, configurations)
    else:
        keep(cache, parents_key ^ CHILD_KEYS(engine)[child], cells - configurations)


@kernel
def family_value(engine, scratch, s, child, parents, n_parents):
    """Local score of one family as an integer without penalty."""
    arities, variable_keys = ARITIES(engine), VARIABLE_KEYS(engine)
    counters = COUNTERS(scratch)
    key = TASK_KEYS(engine)[s]
    q = 1.0
    for at in range(n_parents):
        key ^= variable_keys[parents[at]]
        q *= arities[parents[at]]
    counters[ASKED] += 1
    value = recall_family(engine, key, child)
    if value != MISSING:
        return value
    counters[COMPUTED] += 1
    n_cells = part(engine, s, child, parents, n_parents, scratch)
    n_counts, n_configurations = count_alone(engine, s, scratch, n_cells)
    cells, configurations = family_sums(
        engine, scratch, n_counts, n_configurations, q, float(arities[child])
    )
    keep_family(engine, key, child, cells, configurations)
    return cells - configurations


@kernel
def local_score(engine: Table, scratch: Table, s: int, child: int, parents: Ints, n_parents: int):
    """Local score of one family, in nats."""
    arities, method = ARITIES(engine), METHOD(engine)
    q = 1.0
    for at in range(n_parents):
        q *= arities[parents[at]]
    value = family_value(engine, scratch, s, child, parents, n_parents)
    taken_off = complexity(
        np.int64(method[KIND]), q, float(arities[child]), float(N_CASES(engine)[s])
    )
    return value / method[SCALE] - taken_off


@kernel
def graph_score(engine: Table, scratch: Table, members: Ints, usable: Flags3, adjacency: Flags2):
    """Local scores of a graph, summed over children and over the tasks that have the child.

    ``adjacency`` is bool (n, n) [parent, child], ``usable`` is bool (members, n, n) [member,
    parent, child].
    """
    parents = FAMILY(scratch)
    total = 0.0
    for child in range(adjacency.shape[0]):
        child_score = 0.0
        for at in range(members.size):
            if CODE_AT(engine)[members[at], child] < 0:
                continue
            end = np.int64(0)
            for a in range(adjacency.shape[0]):
                if adjacency[a, child] and usable[at, a, child]:
                    parents[end] = a
                    end += 1
            child_score += local_score(engine, scratch, members[at], child, parents, end)
        total += child_score
    return total


@kernel
def without(parents, n_parents, v, kept):
    """Write all parents except v to ``kept``; return their number."""
    end = np.int64(0)
    for at in range(n_parents):
        if parents[at] != v:
            kept[end] = parents[at]
            end += 1
    return end


@kernel
def exclude(scratch, s, child, parents, n_parents, v):
    """Count a family that is excluded because it is too large.

    For the first one, stores its size, the task, the child, ``v`` and the other parents.
    """
    counters, excluded = COUNTERS(scratch), EXCLUDED(scratch)
    counters[TOO_LARGE] += 1
    if counters[TOO_LARGE] == 1:
        excluded[0] = n_parents + 2
        excluded[1] = s
        excluded[2] = child
        excluded[3] = v
        for at in range(n_parents):
            excluded[4 + at] = parents[at]


@kernel
def gains(engine: Table, scratch: Table, s: int, child: int, n_parents: int):
    """Compute the gains of adding each wanted variable and of removing each parent.

    The parents are in FAMILY, the wanted variables in WANTED. The gains are written to COLUMN, nan
    for other variables and for families that would be too large. The entry of the child is the
    local score of the current family.
    """
    parents, wanted, out = FAMILY(scratch), WANTED(scratch), COLUMN(scratch)
    arities, method = ARITIES(engine), METHOD(engine)
    kind, scale = np.int64(method[KIND]), method[SCALE]
    variable_keys = VARIABLE_KEYS(engine)
    counters, missing = COUNTERS(scratch), MISSING_ONES(scratch)
    key = TASK_KEYS(engine)[s]
    q, r, n_cases = 1.0, float(arities[child]), float(N_CASES(engine)[s])
    for at in range(n_parents):
        key ^= variable_keys[parents[at]]
        q *= arities[parents[at]]
    current = family_value(engine, scratch, s, child, parents, n_parents)
    current_complexity = complexity(kind, q, r, n_cases)
    for v in range(arities.size):
        out[v] = np.nan
    out[child] = current / scale - current_complexity
    cut = CUT(scratch)
    for at in range(n_parents):
        v = parents[at]
        rest = without(parents, n_parents, v, cut)
        value = family_value(engine, scratch, s, child, cut, rest)
        change = complexity(kind, q / arities[v], r, n_cases) - current_complexity
        out[v] = (value - current) / scale - change

    any_missing = False
    for v in range(arities.size):
        missing[v] = False
        # Entries that are not nan are the child and the parents.
        if not wanted[v] or not np.isnan(out[v]):
            continue
        if q * r * arities[v] > MOST_CELLS(engine)[s]:
            exclude(scratch, s, child, parents, n_parents, v)
            continue
        counters[ASKED] += 1
        value = recall_family(engine, key ^ variable_keys[v], child)
        if value == MISSING:
            missing[v] = any_missing = True
            continue
        change = complexity(kind, q * arities[v], r, n_cases) - current_complexity
        out[v] = (value - current) / scale - change
    if not any_missing:
        return
    sum_with_each_missing(engine, scratch, s, child, parents, n_parents, q, r)
    over_cells, over_configurations = OVER_CELLS(scratch), OVER_CONFIGURATIONS(scratch)
    for v in range(arities.size):
        if missing[v]:
            counters[COMPUTED] += 1
            cells, configurations = over_cells[v], over_configurations[v]
            keep_family(engine, key ^ variable_keys[v], child, cells, configurations)
            change = complexity(kind, q * arities[v], r, n_cases) - current_complexity
            out[v] = (cells - configurations - current) / scale - change


@kernel
def sum_with_each_missing(engine, scratch, s, child, parents, n_parents, q, r):
    """The two sums of the family with each missing variable as one more parent."""
    n_cells = part(engine, s, child, parents, n_parents, scratch)
    arities, missing = ARITIES(engine), MISSING_ONES(scratch)
    over_cells, over_configurations = OVER_CELLS(scratch), OVER_CONFIGURATIONS(scratch)
    for v in range(arities.size):
        if missing[v]:
            n_counts, n_configurations = count_with(engine, s, v, scratch, n_cells)
            over_cells[v], over_configurations[v] = family_sums(
                engine, scratch, n_counts, n_configurations, q * arities[v], r
            )


def _gains(engine, scratch, s, child, n_parents):
    gains(table_at(engine), table_at(scratch), s, child, n_parents)


GAINS_CALLBACK = Callback(_gains)
