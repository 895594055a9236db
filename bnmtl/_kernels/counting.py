"""Counts of one more variable within the cells of a family, used by ``scoring``.

Data contract: arrays as in ``partition``. This module is independent of scores.
"""

import numpy as np

from bnmtl._kernels._jit import kernel, popcount
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
    N_ROWS,
    OPENS,
    ORDER,
    ROWS_AT,
    WEIGHT_AT,
    WEIGHTS,
)


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
