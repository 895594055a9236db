"""Local scores of families from counts, with a cache, used by every search and ``bnmtl.scores``.

Data contract: the table of `ENGINE` holds the rows of k tasks, the score and the cache; that of
`SCRATCH` is memory of one thread. Parents are int64, sorted, without the child.

A Dirichlet score is a difference of two sums over tables, that of the family's cells and that of
the parents' configurations. Every term is rounded once to a multiple of 1 / scale and summed as an
integer, so that a score is the same to the last bit in whatever order and by whatever route it is
reached. Under BDeu, BIC, AIC and the log-likelihood the sum depends on nothing but the set of
variables:

    local score(child, parents) = table(parents and child) - table(parents)

so these tables are what is cached, graphs of one equivalence class tie exactly, and a family's
table serves all its members. K2, BDs and mixtures of Dirichlet scores are cached by family.
"""

import math

import numpy as np

from bnmtl._kernels._jit import (
    Arrays,
    Callback,
    codes_of,
    flags,
    floats,
    ints,
    ints2,
    kernel,
    rows_of,
    table_at,
    words,
)
from bnmtl._kernels.cache import MISSING, keep, recall
from bnmtl._kernels.counting import count_alone, count_weights_with, count_with
from bnmtl._kernels.groups import GROUPS, new_groups
from bnmtl._kernels.joint_rows import JOINT, new_joint
from bnmtl._kernels.partition import (
    ARITIES,
    BITS,
    BITS_AT,
    CELL_BITS,
    CELL_BITS_AT,
    CELL_SIZES,
    CELLS,
    CODE_AT,
    CODES,
    CONFIGURATIONS,
    HISTOGRAM,
    MARGIN,
    N_CASES,
    N_ROWS,
    OPENS,
    ORDER,
    PARTITION,
    ROWS,
    ROWS_AT,
    WEIGHT_AT,
    WEIGHTS,
    new_partition,
    part,
)
from bnmtl._kernels.terms import (
    AIC,
    BDS,
    BIC,
    K2,
    LONGEST_MIXTURE,
    LONGEST_TABLE,
    MIXTURE,
    N_MIXTURE_TABLES,
    N_TABLES,
    add_mixture_terms,
    log_mean,
    pseudo_counts,
    table_sum,
)

ENGINE = (
    *ROWS,
    ("method", np.float64, 1),  # see below
    ("task_keys", np.int64, 1),  # (k,): random; the hash of a set is their exclusive or
    ("variable_keys", np.int64, 1),  # (n,)
    ("child_keys", np.int64, 1),  # (n,)
    ("cache", np.int64, 1),  # flat, see `recall`
    (
        "calls",
        np.int64,
        1,
    ),  # (3,): addresses of `gains`, `sharing.gains_together` and `sharing.row`
    ("most_cells", np.float64, 1),  # (k,): larger families of a task are not scored
    ("partitions", np.float64, 1),  # concentrations of partitions, see ``groups``; none: no sharing
    ("given", np.int64, 1),  # a cache of scores that hold in the place of others, or nothing
)
METHOD, TASK_KEYS, VARIABLE_KEYS, CHILD_KEYS, CACHE, CALLS, MOST_CELLS, PARTITIONS, GIVEN = range(
    len(ROWS), len(ENGINE)
)
# The method: which score, its sample size, what one nat is in integers (a power of two), and from
# CONCENTRATIONS on those of a mixture.
KIND, SAMPLE_SIZE, SCALE, CONCENTRATIONS = range(4)

SCRATCH = (
    *PARTITION,
    *GROUPS,
    *JOINT,
    ("terms", np.int64, 2),  # (tables, length): terms by count, once they were needed
    ("owners", np.int64, 1),  # (tables,): whose terms a row holds, -1 for nobody's
    ("bases", np.float64, 1),  # (tables,): what is subtracted from every lgamma
    ("mixture", np.int64, 1),  # (concentrations,): log evidence under each
    ("counters", np.int64, 1),  # see below
    ("excluded", np.int64, 1),  # (n + 4,): the first family beyond MOST_CELLS, see `exclude`
    ("column", np.float64, 1),  # (n,): what `gains` returns
    ("family", np.int64, 1),  # (n,): the parents that it is given
    ("cut", np.int64, 1),  # (n,)
    ("wanted", np.bool_, 1),  # (n,): which variables it may take in
    ("missing", np.bool_, 1),  # (n,)
    ("over_cells", np.int64, 1),  # (n,)
    ("over_configurations", np.int64, 1),  # (n,)
    ("waiting", np.int64, 1),  # (n,)
    ("queue", np.int64, 1),  # (n,)
    ("touched", np.bool_, 1),  # (n,)
    ("nothing", np.int64, 1),  # (0,)
)
_FIRST = len(PARTITION) + len(GROUPS) + len(JOINT)
TERMS, OWNERS, BASES, MIXED, COUNTERS, EXCLUDED = range(_FIRST, _FIRST + 6)
COLUMN, FAMILY, CUT, WANTED, MISSING_ONES = range(_FIRST + 6, _FIRST + 11)
OVER_CELLS, OVER_CONFIGURATIONS, WAITING = range(_FIRST + 11, _FIRST + 14)
QUEUE, TOUCHED, NOTHING = range(_FIRST + 14, len(SCRATCH))

# Counters of a scratch.
ASKED, COMPUTED, TOO_LARGE = range(3)


def new_scratch(n_variables, n_rows, n_cases, n_concentrations=0, shared=None):
    """Memory for one thread that scores families of that many variables, rows and cases at most.

    ``shared`` is (number of tasks, of their rows, of states, of concentrations of partitions) where
    tasks share tables; the cases are then those of all tasks.
    """
    n, n_together = n_variables, max(n_concentrations, 1)
    longest, n_tables = LONGEST_TABLE, N_TABLES
    if n_concentrations:
        longest, n_tables = LONGEST_MIXTURE, N_MIXTURE_TABLES
    n_tasks, n_joint_rows, n_states, n_partitions = shared or (0, 0, 0, 0)
    partition = new_partition(n_rows)
    return Arrays(
        SCRATCH,
        **{name: getattr(partition, name) for name, _, _ in PARTITION},
        **new_groups(n_tasks, n_states, n_concentrations, n_partitions),
        **new_joint(n, n_tasks, n_joint_rows, n_states),
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

    Under a mixture the first is the local score and the second 0.
    """
    method = floats(engine, METHOD)
    kind, scale = np.int64(method[KIND]), method[SCALE]
    terms, owners, bases = ints2(scratch, TERMS), ints(scratch, OWNERS), floats(scratch, BASES)
    cells, configurations = ints(scratch, CELLS), ints(scratch, CONFIGURATIONS)
    if kind == MIXTURE:
        concentrations, totals = method[CONCENTRATIONS:], ints(scratch, MIXED)
        for c in range(totals.size):
            totals[c] = 0
        # fmt: off
        add_mixture_terms(
            terms, owners, bases, cells, n_cells, 1.0, concentrations, scale, np.int64(1), totals
        )
        add_mixture_terms(
            terms, owners, bases, configurations, n_configurations, r, concentrations, scale,
            np.int64(-1), totals,
        )
        # fmt: on
        return log_mean(totals, scale), np.int64(0)
    cells_owner, cells_count, owner, count = pseudo_counts(
        kind, method[SAMPLE_SIZE], q, r, n_configurations
    )
    return (
        table_sum(terms, owners, bases, cells, n_cells, kind, cells_owner, cells_count, scale),
        table_sum(
            terms, owners, bases, configurations, n_configurations, kind, owner, count, scale
        ),
    )


@kernel
def complexity(kind, q, r, n_cases):
    """What BIC and AIC take off for the q (r - 1) free parameters of a family."""
    if kind == BIC:
        return 0.5 * math.log(n_cases) * q * (r - 1)
    if kind == AIC:
        return q * (r - 1)
    return 0.0


@kernel
def by_set(kind):
    """Whether the tables of a score depend on nothing but the set of variables."""
    return kind != K2 and kind != BDS and kind != MIXTURE


@kernel
def recall_family(engine, parents_key, child):
    """The cached local score as an integer, complexity aside, or MISSING."""
    cache = ints(engine, CACHE)
    if not by_set(np.int64(floats(engine, METHOD)[KIND])):
        key = parents_key ^ ints(engine, CHILD_KEYS)[child]
        given = ints(engine, GIVEN)
        if given.size > 0:
            value = recall(given, key)
            if value != MISSING:
                return value
        return recall(cache, key)
    whole = recall(cache, parents_key ^ ints(engine, VARIABLE_KEYS)[child])
    if whole == MISSING:
        return MISSING
    part_of_it = recall(cache, parents_key)
    if part_of_it == MISSING:
        return MISSING
    return whole - part_of_it


@kernel
def keep_family(engine, parents_key, child, cells, configurations):
    """Cache the two sums of a family."""
    cache = ints(engine, CACHE)
    if by_set(np.int64(floats(engine, METHOD)[KIND])):
        keep(cache, parents_key ^ ints(engine, VARIABLE_KEYS)[child], cells)
        keep(cache, parents_key, configurations)
    else:
        keep(cache, parents_key ^ ints(engine, CHILD_KEYS)[child], cells - configurations)


@kernel
def family_value(engine, scratch, s, child, parents, n_parents):
    """Local score of one family as an integer, complexity aside."""
    arities, variable_keys = ints(engine, ARITIES), ints(engine, VARIABLE_KEYS)
    counters = ints(scratch, COUNTERS)
    key = ints(engine, TASK_KEYS)[s]
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
    found, met = count_alone(engine, s, scratch, n_cells)
    cells, configurations = family_sums(engine, scratch, found, met, q, float(arities[child]))
    keep_family(engine, key, child, cells, configurations)
    return cells - configurations


@kernel
def local_score(engine, scratch, s, child, parents, n_parents):
    """Local score of one family, in nats."""
    arities, method = ints(engine, ARITIES), floats(engine, METHOD)
    q = 1.0
    for at in range(n_parents):
        q *= arities[parents[at]]
    value = family_value(engine, scratch, s, child, parents, n_parents)
    taken_off = complexity(
        np.int64(method[KIND]), q, float(arities[child]), float(ints(engine, N_CASES)[s])
    )
    return value / method[SCALE] - taken_off


@kernel
def graph_score(engine, scratch, members, usable, adjacency):
    """Local scores of a graph, summed over children and, for each, over the tasks that have it.

    ``adjacency`` is bool (n, n) [parent, child], ``usable`` bool (members, n, n) the same.
    """
    parents = ints(scratch, FAMILY)
    total = 0.0
    for child in range(adjacency.shape[0]):
        own = 0.0
        for at in range(members.size):
            if ints2(engine, CODE_AT)[members[at], child] < 0:
                continue
            end = np.int64(0)
            for a in range(adjacency.shape[0]):
                if adjacency[a, child] and usable[at, a, child]:
                    parents[end] = a
                    end += 1
            own += local_score(engine, scratch, members[at], child, parents, end)
        total += own
    return total


@kernel
def without(parents, n_parents, v, kept):
    """Write the parents less one of them to ``kept``; returns their number."""
    end = np.int64(0)
    for at in range(n_parents):
        if parents[at] != v:
            kept[end] = parents[at]
            end += 1
    return end


@kernel
def exclude(scratch, s, child, parents, n_parents, v):
    """Note that a family was left out because it is too large.

    The first one is remembered: its size, the task, the child, ``v`` and the other parents.
    """
    counters, excluded = ints(scratch, COUNTERS), ints(scratch, EXCLUDED)
    counters[TOO_LARGE] += 1
    if counters[TOO_LARGE] == 1:
        excluded[0] = n_parents + 2
        excluded[1] = s
        excluded[2] = child
        excluded[3] = v
        for at in range(n_parents):
            excluded[4 + at] = parents[at]


@kernel
def gains(engine, scratch, s, child, n_parents):
    """Gains of taking each wanted variable into the family, and of leaving each parent out.

    The parents are in FAMILY, the wanted variables in WANTED. COLUMN gets the gains, nan where a
    variable is neither or the family would be too large, and for the child the local score of the
    family as it is.
    """
    parents, wanted, out = ints(scratch, FAMILY), flags(scratch, WANTED), floats(scratch, COLUMN)
    arities, method = ints(engine, ARITIES), floats(engine, METHOD)
    kind, scale = np.int64(method[KIND]), method[SCALE]
    variable_keys = ints(engine, VARIABLE_KEYS)
    counters, missing = ints(scratch, COUNTERS), flags(scratch, MISSING_ONES)
    key = ints(engine, TASK_KEYS)[s]
    q, r, n_cases = 1.0, float(arities[child]), float(ints(engine, N_CASES)[s])
    for at in range(n_parents):
        key ^= variable_keys[parents[at]]
        q *= arities[parents[at]]
    own = family_value(engine, scratch, s, child, parents, n_parents)
    own_complexity = complexity(kind, q, r, n_cases)
    for v in range(arities.size):
        out[v] = np.nan
    out[child] = own / scale - own_complexity
    cut = ints(scratch, CUT)
    for at in range(n_parents):
        v = parents[at]
        rest = without(parents, n_parents, v, cut)
        value = family_value(engine, scratch, s, child, cut, rest)
        change = complexity(kind, q / arities[v], r, n_cases) - own_complexity
        out[v] = (value - own) / scale - change

    any_missing = False
    for v in range(arities.size):
        missing[v] = False
        # What has a gain by now is the child or a parent.
        if not wanted[v] or not np.isnan(out[v]):
            continue
        if q * r * arities[v] > floats(engine, MOST_CELLS)[s]:
            exclude(scratch, s, child, parents, n_parents, v)
            continue
        counters[ASKED] += 1
        value = recall_family(engine, key ^ variable_keys[v], child)
        if value == MISSING:
            missing[v] = any_missing = True
            continue
        change = complexity(kind, q * arities[v], r, n_cases) - own_complexity
        out[v] = (value - own) / scale - change
    if not any_missing:
        return
    sum_with_each_missing(engine, scratch, s, child, parents, n_parents, q, r)
    over_cells, over_configurations = ints(scratch, OVER_CELLS), ints(scratch, OVER_CONFIGURATIONS)
    for v in range(arities.size):
        if missing[v]:
            counters[COMPUTED] += 1
            cells, configurations = over_cells[v], over_configurations[v]
            keep_family(engine, key ^ variable_keys[v], child, cells, configurations)
            change = complexity(kind, q * arities[v], r, n_cases) - own_complexity
            out[v] = (cells - configurations - own) / scale - change


@kernel
def sum_with_each_missing(engine, scratch, s, child, parents, n_parents, q, r):
    """The two sums of the family with each missing variable as one more parent."""
    n_cells = part(engine, s, child, parents, n_parents, scratch)
    n_words = (ints(engine, N_ROWS)[s] + 63) // 64
    codes, code_at = codes_of(engine, CODES), ints2(engine, CODE_AT)[s]
    bits, bits_at = words(engine, BITS), ints2(engine, BITS_AT)[s]
    weights, weight_at = ints(engine, WEIGHTS), ints(engine, WEIGHT_AT)[s]
    arities = ints(engine, ARITIES)
    sizes, opens = ints(scratch, CELL_SIZES), flags(scratch, OPENS)
    rows_at, order = ints(scratch, ROWS_AT), rows_of(scratch, ORDER)
    own_bits_at, own_bits = ints(scratch, CELL_BITS_AT), words(scratch, CELL_BITS)
    histogram, margin = ints(scratch, HISTOGRAM), ints(scratch, MARGIN)
    cells, configurations = ints(scratch, CELLS), ints(scratch, CONFIGURATIONS)
    missing = flags(scratch, MISSING_ONES)
    over_cells, over_configurations = ints(scratch, OVER_CELLS), ints(scratch, OVER_CONFIGURATIONS)
    for v in range(arities.size):
        if not missing[v]:
            continue
        arity = arities[v]
        # fmt: off
        if weight_at < 0:
            found, met = count_with(
                codes, code_at[v], bits, bits_at[v], arity, sizes, opens, rows_at, order,
                own_bits_at, own_bits, n_cells, n_words, histogram, margin, cells, configurations,
            )
        else:
            found, met = count_weights_with(
                codes, code_at[v], weights, weight_at, arity, sizes, opens, rows_at, order,
                n_cells, histogram, margin, cells, configurations,
            )
        # fmt: on
        over_cells[v], over_configurations[v] = family_sums(
            engine, scratch, found, met, q * arity, r
        )


def _gains(engine, scratch, s, child, n_parents):
    gains(table_at(engine), table_at(scratch), s, child, n_parents)


GAINS_CALLBACK = Callback(_gains)
