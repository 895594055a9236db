"""The rows of tasks partitioned into the cells of a family, and counted, used by ``scoring``.

Data contract: the table of `ROWS` contains the rows of k tasks with a common index of n variables.
The rows of a task may be merged: each distinct row is then stored once, with its number of
repetitions as weight, and the task has no bit sets. No array has the size of the product of the
arities: only cells with at least one row exist, so memory is proportional to the rows.

A partition lists the rows of one task by cell, sorted by configuration of the parents, then by
state of the child. This module is independent of scores.
"""

import numpy as np

from bnmtl._kernels._jit import (
    flags,
    ints,
    kernel,
    layout,
    popcount,
    uint8s,
    uint32s,
    words,
)
from bnmtl._kernels.terms import TERM_TABLES

ROWS = layout(
    ARITIES := ints("arities"),  # (n,): number of declared states
    CODES := uint8s("codes"),  # flat: one segment per task and variable
    CODE_AT := ints("code_at", 2),  # (k, n): begin of a segment, -1 if the task lacks the variable
    BITS := words("bits"),  # flat: one segment per task, variable and state; bit i is row i
    BITS_AT := ints("bits_at", 2),  # (k, n)
    WEIGHTS := ints("weights"),  # flat
    WEIGHT_AT := ints("weight_at"),  # (k,): -1 if all weights are 1
    N_ROWS := ints("n_rows"),  # (k,): number of stored rows
    N_CASES := ints("n_cases"),  # (k,): sum of their weights
)

PARTITION = layout(
    *TERM_TABLES,
    CELL_SIZES := ints("sizes"),  # (cells,): number of rows of each cell
    OPENS := flags("opens"),  # (cells + 1,): whether a cell is the first of its configuration
    ROWS_AT := ints("rows_at"),  # (cells,): begin of a cell's rows in `order`, -1 if it has bits
    ORDER := uint32s("order"),  # (rows,): row numbers by cell
    CELL_BITS_AT := ints("bits_at"),  # (cells,): begin of a cell's bits, -1 if it has none
    CELL_BITS := words("bits"),  # flat
    STACK := words("stack"),  # flat: bits of the configuration of the first parents, scratch
    DIGITS := ints("digits"),  # scratch
    KEYS := ints("keys"),  # (rows,): scratch
    SWAP := uint32s("swap"),  # (rows,): scratch
    SLOTS := ints("slots"),  # counters of the sort
    HISTOGRAM := ints("histogram"),  # (256,)
    MARGIN := ints("margin"),  # (256,)
    CELLS := ints("cells"),  # (rows,): result, nonzero counts of cells
    CONFIGURATIONS := ints("configurations"),  # (rows,): result, nonzero counts of configurations
)

# Number of counters of a sort: a few per row, with a minimum for tables with few rows.
SLOTS_PER_ROW = 4
FEWEST_SLOTS = 4096
# A cell is counted by its bit set if the set has at most this many words per row of the cell.
WORDS_PER_ROW = 4
# Families of up to this many cells are partitioned by bit sets, larger ones by sorting.
MOST_CELLS_BY_BITS = 1024
MOST_PARENTS_BY_BITS = 16


def most_bits(n_rows):
    """Number of words of the bit sets of a partition of at most ``n_rows`` rows."""
    n_rows = max(n_rows, 1)
    # The maximum over smaller tasks, too: their sets are shorter, but sets of fewer rows are used.
    # Every cell with enough rows has a set, and one more is needed as scratch.
    words = np.arange(1, -(-n_rows // 64) + 1)
    rows = np.minimum(64 * words, n_rows)
    return int(((rows // np.maximum(words // WORDS_PER_ROW, 1) + 2) * words).max())


def new_partition(n_rows):
    """Memory for partitions of tasks with at most ``n_rows`` rows, as a dict."""
    n_rows = max(n_rows, 1)
    n_words = -(-n_rows // 64)
    return {
        "sizes": np.empty(n_rows, np.int64),
        "opens": np.empty(n_rows + 1, np.bool_),
        "rows_at": np.empty(n_rows, np.int64),
        "order": np.empty(n_rows, np.uint32),
        "bits_at": np.empty(n_rows, np.int64),
        "bits": np.empty(most_bits(n_rows), np.uint64),
        "stack": np.empty((MOST_PARENTS_BY_BITS + 1) * n_words, np.uint64),
        "digits": np.zeros(MOST_PARENTS_BY_BITS + 1, np.int64),
        "keys": np.empty(n_rows, np.int64),
        "swap": np.empty(n_rows, np.uint32),
        "slots": np.zeros(SLOTS_PER_ROW * n_rows + FEWEST_SLOTS + 1, np.int64),
        "histogram": np.zeros(256, np.int64),
        "margin": np.zeros(256, np.int64),
        "cells": np.empty(n_rows, np.int64),
        "configurations": np.empty(n_rows, np.int64),
    }


@kernel
def part(rows, s, child, parents, n_parents, partition):
    """Partition the rows of task s by the parents' configuration, then the child's state.

    ``rows`` and ``partition`` are tables.

    Returns
    -------
    int
        Number of nonempty cells.
    """
    arities = ARITIES(rows)
    cells = float(arities[child])
    for at in range(n_parents):
        cells *= arities[parents[at]]
    few = cells <= MOST_CELLS_BY_BITS and n_parents <= MOST_PARENTS_BY_BITS
    if not few or WEIGHT_AT(rows)[s] >= 0:
        return part_by_sorting(rows, s, child, parents, n_parents, partition)
    return part_by_bits(rows, s, child, parents, n_parents, partition)


@kernel
def part_by_bits(rows, s, child, parents, n_parents, partition):
    """`part` by intersection of bit sets, depth-first over the parents; skips empty branches."""
    bits, bits_at, arities = BITS(rows), BITS_AT(rows)[s], ARITIES(rows)
    stack, digits = STACK(partition), DIGITS(partition)
    n_words = (N_ROWS(rows)[s] + 63) // 64
    for word in range(n_words):
        stack[word] = ~np.uint64(0)
    n_cells, end_rows, end_bits = np.int64(0), np.int64(0), np.int64(0)
    depth = 0
    digits[0] = 0
    while depth >= 0:
        here = depth * n_words
        above = stack[here : here + n_words]
        if depth < n_parents and digits[depth] < arities[parents[depth]]:
            other = bits_at[parents[depth]] + digits[depth] * n_words
            with_state = bits[other : other + n_words]
            if intersect(above, with_state, stack[here + n_words : here + 2 * n_words]):
                depth += 1
                digits[depth] = 0
            else:
                digits[depth] += 1
            continue
        if depth == n_parents:
            n_cells, end_rows, end_bits = add_cells(
                rows, s, child, above, partition, n_cells, end_rows, end_bits
            )
        depth -= 1
        if depth >= 0:
            digits[depth] += 1
    OPENS(partition)[n_cells] = True
    return n_cells


@kernel
def intersect(first, second, both):
    """Write the intersection of two bit sets; return whether it is nonempty."""
    some = np.uint64(0)
    for word in range(both.size):
        both[word] = first[word] & second[word]
        some |= both[word]
    return some != np.uint64(0)


@kernel
def add_cells(rows, s, child, configuration, partition, n_cells, end_rows, end_bits):
    """Append the cells of a configuration of the parents, given as the bit set of its rows.

    Returns
    -------
    n_cells, end_rows, end_bits : int
        New number of cells, of rows in ORDER and of words in CELL_BITS.
    """
    bits, bits_at = BITS(rows), BITS_AT(rows)[s, child]
    sizes, opens = CELL_SIZES(partition), OPENS(partition)
    rows_at, order = ROWS_AT(partition), ORDER(partition)
    cell_bits_at, cell_bits = CELL_BITS_AT(partition), CELL_BITS(partition)
    n_words, opening = configuration.size, True
    for state in range(ARITIES(rows)[child]):
        other = bits_at + state * n_words
        with_state = bits[other : other + n_words]
        row_bits = cell_bits[end_bits : end_bits + n_words]
        count = np.uint64(0)
        for word in range(n_words):
            row_bits[word] = configuration[word] & with_state[word]
            count += popcount(row_bits[word])
        if count == 0:
            continue
        size = np.int64(count)
        sizes[n_cells] = size
        opens[n_cells] = opening
        opening = False
        if size >= n_words // WORDS_PER_ROW:
            cell_bits_at[n_cells], rows_at[n_cells] = end_bits, -1
            end_bits += n_words
        else:
            cell_bits_at[n_cells], rows_at[n_cells] = -1, end_rows
            end_rows = list_rows(cell_bits, end_bits, n_words, order, end_rows)
        n_cells += 1
    return n_cells, end_rows, end_bits


@kernel
def list_rows(bits, begin, n_words, order, end):
    """Append the rows of a bit set to ``order``; return its new end."""
    one = np.uint64(1)
    for word in range(n_words):
        left = bits[begin + word]
        while left:
            lowest = left & (~left + one)
            order[end] = np.uint64(64 * word) + popcount(lowest - one)
            end += 1
            left ^= lowest
    return end


@kernel
def sort_rows(keys, n_keys, n_rows, slots, source, order):
    """Stable counting sort of the rows in ``source`` by their keys."""
    for key in range(n_keys + 1):
        slots[key] = 0
    for at in range(n_rows):
        slots[keys[source[at]] + 1] += 1
    for key in range(n_keys):
        slots[key + 1] += slots[key]
    for at in range(n_rows):
        row = source[at]
        order[slots[keys[row]]] = row
        slots[keys[row]] += 1


@kernel
def in_order(n_rows, source):
    """Write the row numbers in ascending order."""
    for row in range(n_rows):
        source[row] = row


@kernel
def number_configurations(rows, s, variables, n_variables, partition):
    """Write the number of each row's configuration of the given variables to ``keys``.

    Configurations are numbered in mixed radix if there are few, otherwise by rank among those that
    occur.

    Returns
    -------
    int
        Upper bound on the number of configurations, at most the number of slots of a sort.
    """
    keys, slots = KEYS(partition), SLOTS(partition)
    order, swap = ORDER(partition), SWAP(partition)
    n_rows = N_ROWS(rows)[s]
    codes = CODES(rows)
    ranks = CELLS(partition)
    for row in range(n_rows):
        keys[row] = 0
    size = np.int64(1)
    for i in range(n_variables):
        v = variables[i]
        arity = ARITIES(rows)[v]
        states = codes[CODE_AT(rows)[s, v] : CODE_AT(rows)[s, v] + n_rows]
        if size * arity < slots.size:
            for row in range(n_rows):
                keys[row] = keys[row] * arity + states[row]
            size *= arity
            continue
        in_order(n_rows, swap)
        for row in range(n_rows):
            ranks[row] = states[row]
        sort_rows(ranks, arity, n_rows, slots, swap, order)
        sort_rows(keys, size, n_rows, slots, order, swap)
        rank = np.int64(-1)
        last_key, last_code = np.int64(-1), np.int64(-1)
        for at in range(n_rows):
            row = swap[at]
            if keys[row] != last_key or states[row] != last_code:
                rank += 1
                last_key, last_code = keys[row], np.int64(states[row])
            ranks[row] = rank
        for row in range(n_rows):
            keys[row] = ranks[row]
        size = rank + 1
    return size


@kernel
def part_by_sorting(rows, s, child, parents, n_parents, partition):
    """`part` by counting sorts of the rows, first by child, then by configuration."""
    keys, slots, states = KEYS(partition), SLOTS(partition), CELLS(partition)
    order, swap = ORDER(partition), SWAP(partition)
    sizes, rows_at = CELL_SIZES(partition), ROWS_AT(partition)
    opens = OPENS(partition)
    n_rows = N_ROWS(rows)[s]
    n_keys = number_configurations(rows, s, parents, n_parents, partition)
    codes, begin = CODES(rows), CODE_AT(rows)[s, child]
    for row in range(n_rows):
        states[row] = codes[begin + row]
    in_order(n_rows, order)
    sort_rows(states, ARITIES(rows)[child], n_rows, slots, order, swap)
    sort_rows(keys, n_keys, n_rows, slots, swap, order)
    n_cells = np.int64(0)
    key, state = np.int64(-1), np.int64(-1)
    for at in range(n_rows):
        row = order[at]
        if keys[row] != key or states[row] != state:
            sizes[n_cells] = 0
            rows_at[n_cells] = at
            opens[n_cells] = keys[row] != key
            key, state = keys[row], states[row]
            n_cells += 1
        sizes[n_cells - 1] += 1
    opens[n_cells] = True
    set_bits(n_cells, n_rows, WEIGHT_AT(rows)[s] >= 0, partition)
    return n_cells


@kernel
def set_bits(n_cells, n_rows, is_weighted, partition):
    """Make bit sets of the cells with enough rows, if all weights are 1."""
    sizes, rows_at, order = CELL_SIZES(partition), ROWS_AT(partition), ORDER(partition)
    bits_at, bits = CELL_BITS_AT(partition), CELL_BITS(partition)
    n_words = (n_rows + 63) // 64
    end = 0
    for cell in range(n_cells):
        bits_at[cell] = -1
        if is_weighted or sizes[cell] < n_words // WORDS_PER_ROW:
            continue
        bits_at[cell] = end
        for word in range(end, end + n_words):
            bits[word] = np.uint64(0)
        for at in range(rows_at[cell], rows_at[cell] + sizes[cell]):
            row = np.int64(order[at])
            bits[end + (row >> 6)] |= np.uint64(1) << np.uint64(row & 63)
        end += n_words


@kernel
def end_cell(histogram, margin, arity, cells, n_counts):
    """Write the nonzero counts of one cell and add them to the margin."""
    for state in range(arity):
        count = histogram[state]
        if count > 0:
            cells[n_counts] = count
            n_counts += 1
            margin[state] += count
            histogram[state] = 0
    return n_counts


@kernel
def end_configuration(margin, arity, configurations, n_configurations):
    """Write the nonzero counts of one configuration."""
    for state in range(arity):
        if margin[state] > 0:
            configurations[n_configurations] = margin[state]
            n_configurations += 1
            margin[state] = 0
    return n_configurations


@kernel
def count_with(rows, s, v, partition, n_cells):
    """Counts of a partition of a task's rows, refined by one more parent.

    Returns
    -------
    n_cells, n_configurations : int
        Number of counts written to CELLS and CONFIGURATIONS: all nonzero ones, in no particular
        order.
    """
    codes, begin, arity = CODES(rows), CODE_AT(rows)[s, v], ARITIES(rows)[v]
    weights, weight_at = WEIGHTS(rows), WEIGHT_AT(rows)[s]
    bits, n_words = BITS(rows), (N_ROWS(rows)[s] + 63) // 64
    sizes, opens = CELL_SIZES(partition), OPENS(partition)
    rows_at, order = ROWS_AT(partition), ORDER(partition)
    cell_bits_at, cell_bits = CELL_BITS_AT(partition), CELL_BITS(partition)
    histogram, margin = HISTOGRAM(partition), MARGIN(partition)
    cells, configurations = CELLS(partition), CONFIGURATIONS(partition)
    n_counts, n_configurations = np.int64(0), np.int64(0)
    for cell in range(n_cells):
        if cell_bits_at[cell] < 0:
            for at in range(rows_at[cell], rows_at[cell] + sizes[cell]):
                row = order[at]
                count = 1 if weight_at < 0 else weights[weight_at + row]
                histogram[codes[begin + row]] += count
        else:
            row_bits = cell_bits[cell_bits_at[cell] : cell_bits_at[cell] + n_words]
            count_bits(row_bits, sizes[cell], bits, BITS_AT(rows)[s, v], arity, histogram)
        n_counts = end_cell(histogram, margin, arity, cells, n_counts)
        if opens[cell + 1]:
            n_configurations = end_configuration(margin, arity, configurations, n_configurations)
    return n_counts, n_configurations


@kernel
def count_bits(row_bits, size, bits, bits_at, arity, histogram):
    """Counts of a variable's states in the cell of ``size`` rows whose bit set is ``row_bits``.

    The bit sets of the states begin at ``bits_at``; the last state gets the remaining rows.
    """
    for state in range(arity - 1):
        # Slices, because only loops that begin at index 0 are vectorized.
        other = bits_at + state * row_bits.size
        with_state = bits[other : other + row_bits.size]
        common = np.uint64(0)
        for word in range(row_bits.size):
            common += popcount(row_bits[word] & with_state[word])
        histogram[state] = np.int64(common)
        size -= np.int64(common)
    histogram[arity - 1] = size


@kernel
def count_alone(rows, s, partition, n_cells):
    """Like `count_with`, without a further variable."""
    sizes, opens = CELL_SIZES(partition), OPENS(partition)
    cells, configurations = CELLS(partition), CONFIGURATIONS(partition)
    rows_at, order = ROWS_AT(partition), ORDER(partition)
    weights, weight_at = WEIGHTS(rows), WEIGHT_AT(rows)[s]
    n_configurations = 0
    margin = np.int64(0)
    for cell in range(n_cells):
        count = sizes[cell]
        if weight_at >= 0:
            count = 0
            for at in range(rows_at[cell], rows_at[cell] + sizes[cell]):
                count += weights[weight_at + order[at]]
        cells[cell] = count
        margin += count
        if opens[cell + 1]:
            configurations[n_configurations] = margin
            n_configurations += 1
            margin = 0
    return n_cells, n_configurations
