"""The rows of tasks in the format of the kernels: merged equal rows, and bit sets."""

import numpy as np

# Largest number of cells of a family per row of the task, and the minimum of this limit.
CELLS_PER_ROW = 10
FEWEST_CELLS = 1000
# Rows are merged if at most this share of them is distinct.
MOST_DISTINCT = 1 / 8
ROWS_TO_LOOK_AT = 512


def most_cells(n_rows, max_cells=None):
    """The largest number of cells in a table of one task, or of tasks that share tables.

    Parameters
    ----------
    n_rows : int
        Of the task, or of all tasks together.
    max_cells : int, default=None
        None uses the default rule: 10 cells per row, and at least 1000.
    """
    if max_cells is not None:
        return max_cells
    return max(FEWEST_CELLS, CELLS_PER_ROW * n_rows)


def packed(tasks, positions, n_variables):
    """The rows of the tasks as the arrays of `partition.ROWS`, by name.

    Parameters
    ----------
    tasks : list of bnmtl.tasks.Task
    positions : list of int array
        Indices in the union of the variables of each task.
    n_variables : int
        Of the union.
    """
    arities = np.zeros(n_variables, np.int64)
    code_at = np.full((len(tasks), n_variables), -1)
    bits_at = np.full((len(tasks), n_variables), -1)
    weight_at = np.full(len(tasks), -1)
    n_rows = np.zeros(len(tasks), np.int64)
    codes, bits, weights = [], [], []
    n_codes = n_bits = n_weights = 0
    for s, (task, at) in enumerate(zip(tasks, positions, strict=True)):
        arities[at] = task.arities
        rows, repeats = merged(task.codes)
        n_rows[s] = rows.shape[1]
        code_at[s, at] = n_codes + np.arange(len(rows)) * rows.shape[1]
        codes.append(rows.ravel())
        n_codes += rows.size
        if repeats is not None:
            weight_at[s] = n_weights
            weights.append(repeats)
            n_weights += len(repeats)
            continue
        words = -(-rows.shape[1] // 64)
        bits_at[s, at] = n_bits + words * np.concatenate([[0], np.cumsum(task.arities)[:-1]])
        bits.append(bit_sets(rows, task.arities))
        n_bits += bits[-1].size
    return {
        "arities": arities,
        "codes": np.concatenate(codes),
        "code_at": code_at,
        "bits": np.concatenate([*bits, np.zeros(0, np.uint64)]),
        "bits_at": bits_at,
        "weights": np.concatenate([*weights, np.zeros(0, np.int64)]),
        "weight_at": weight_at,
        "n_rows": n_rows,
        "n_cases": np.array([task.n_rows for task in tasks]),
    }


def merged(codes):
    """Distinct rows and their frequencies, if there are far fewer of them.

    Parameters
    ----------
    codes : uint8 array of shape (n, n_rows)

    Returns
    -------
    codes : uint8 array of shape (n, n_distinct)
    repeats : int64 array of shape (n_distinct,), or None
        None if the rows are not merged.
    """
    n_rows = codes.shape[1]
    factors = np.random.default_rng(0).integers(1, np.iinfo(np.int64).max, len(codes))
    some = np.sort(factors @ codes[:, :: max(1, -(-n_rows // ROWS_TO_LOOK_AT))])
    if np.count_nonzero(np.diff(some)) >= len(some) / 2:
        return codes, None
    _, first, which, repeats = np.unique(
        factors @ codes, return_index=True, return_inverse=True, return_counts=True
    )
    distinct = codes[:, first]
    if len(first) > MOST_DISTINCT * n_rows or (distinct[:, which] != codes).any():
        return codes, None
    return distinct, repeats.astype(np.int64)


def bit_sets(codes, arities):
    """Bit sets by state: bit i of the set of a state is set if row i has that state.

    Parameters
    ----------
    codes : uint8 array of shape (n, n_rows)
    arities : int64 array of shape (n,)

    Returns
    -------
    uint64 array, flat
        For each variable and state the words of its set; the first row is the lowest bit.
    """
    n_rows = codes.shape[1]
    words = -(-n_rows // 64)
    sets = np.zeros((int(arities.sum()), words), np.uint64)
    at = 0
    for column, arity in zip(codes, arities.tolist(), strict=True):
        has_state = np.zeros((arity, 64 * words), dtype=bool)
        has_state[:, :n_rows] = column == np.arange(arity, dtype=np.uint8)[:, None]
        sets[at : at + arity] = np.packbits(has_state, axis=1, bitorder="little").view(np.uint64)
        at += arity
    return sets.ravel()
