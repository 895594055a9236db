"""Counts of one more variable within the cells of a family, used by ``scoring``.

Data contract: arrays as in ``partition``. Nothing here knows of scores.
"""

import numpy as np

from bnmtl._kernels._jit import kernel, popcount
from bnmtl._kernels.partition import (
    CELL_SIZES,
    CELLS,
    CONFIGURATIONS,
    OPENS,
    ORDER,
    ROWS_AT,
    WEIGHT_AT,
    WEIGHTS,
)


@kernel
def end_cell(histogram, margin, arity, cells, n_counts):
    """Write the counts of one cell that are not 0, and add them to the margin."""
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
    """Write the counts of one configuration that are not 0."""
    for state in range(arity):
        if margin[state] > 0:
            configurations[n_configurations] = margin[state]
            n_configurations += 1
            margin[state] = 0
    return n_configurations


@kernel
def count_with(
    codes,
    code_at,
    bits,
    bits_at,
    arity,
    sizes,
    opens,
    rows_at,
    order,
    own_bits_at,
    own_bits,
    n_cells,
    n_words,
    histogram,
    margin,
    cells,
    configurations,
):
    """Counts of a partition refined by one more variable of the parents' side, rows counting once.

    ``code_at`` and ``bits_at`` say where the variable's codes and bit sets begin.

    Returns
    -------
    n_cells, n_configurations : int
        How many counts were written to ``cells`` and ``configurations``: all that are not 0, in no
        particular order.
    """
    n_counts, n_configurations = np.int64(0), np.int64(0)
    last = arity - 1
    for cell in range(n_cells):
        begin = own_bits_at[cell]
        if begin < 0:
            for at in range(rows_at[cell], rows_at[cell] + sizes[cell]):
                histogram[codes[code_at + order[at]]] += 1
        else:
            rest = sizes[cell]
            # Slices, because only loops from their first word become vector instructions.
            own = own_bits[begin : begin + n_words]
            for state in range(last):
                other = bits_at + state * n_words
                with_state = bits[other : other + n_words]
                common = np.uint64(0)
                for word in range(n_words):
                    common += popcount(own[word] & with_state[word])
                histogram[state] = np.int64(common)
                rest -= np.int64(common)
            histogram[last] = rest
        n_counts = end_cell(histogram, margin, arity, cells, n_counts)
        if opens[cell + 1]:
            n_configurations = end_configuration(margin, arity, configurations, n_configurations)
    return n_counts, n_configurations


@kernel
def count_weights_with(
    codes,
    code_at,
    weights,
    weight_at,
    arity,
    sizes,
    opens,
    rows_at,
    order,
    n_cells,
    histogram,
    margin,
    cells,
    configurations,
):
    """As `count_with`, each row counting as often as its weight says."""
    n_counts, n_configurations = np.int64(0), np.int64(0)
    for cell in range(n_cells):
        for at in range(rows_at[cell], rows_at[cell] + sizes[cell]):
            histogram[codes[code_at + order[at]]] += weights[weight_at + order[at]]
        n_counts = end_cell(histogram, margin, arity, cells, n_counts)
        if opens[cell + 1]:
            n_configurations = end_configuration(margin, arity, configurations, n_configurations)
    return n_counts, n_configurations


@kernel
def count_alone(rows, s, partition, n_cells):
    """As `count_with` for the partition as it is."""
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
