"""The rows of several tasks, partitioned jointly into the cells of a family, for ``sharing``.

Data contract: a thread's scratch begins with the fields of `JOINT`. The rows of each task are
partitioned by `counting.part`. The cells of one task and one configuration of the parents form a
run; the runs of all tasks with the same configuration form a block.
"""

import numpy as np

from bnmtl._kernels._jit import flags, ints, kernel, layout, popcount, uint32s, words
from bnmtl._kernels.counting import (
    ARITIES,
    BITS,
    BITS_AT,
    CELL_BITS,
    CELL_BITS_AT,
    CELL_SIZES,
    CODE_AT,
    CODES,
    HISTOGRAM,
    N_ROWS,
    OPENS,
    ORDER,
    ROWS_AT,
    WEIGHT_AT,
    WEIGHTS,
    count_bits,
    most_bits,
    part,
)
from bnmtl._kernels.groups import GROUPS

JOINT = layout(
    *GROUPS,
    MEMBERS_OF := ints("members"),  # (k,): tasks of the engine
    JOINT_SIZES := ints("joint_sizes"),  # (rows,): number of rows of each cell
    JOINT_STATES := ints("joint_states"),  # (rows,): state of the child in each cell
    JOINT_ROWS_AT := ints("joint_rows_at"),  # (rows,): begin of a cell's rows, -1 if it has bits
    JOINT_BITS_AT := ints("joint_bits_at"),  # (rows,): begin of a cell's bits, -1 if it has none
    JOINT_ORDER := uint32s("joint_order"),  # (rows,): row numbers by cell
    JOINT_BITS := words("joint_bits"),  # flat
    RUN_CELLS := ints("run_cells"),  # (rows + 1,): first cell of each run, and end of the last
    RUN_ROWS := ints("run_rows"),  # (rows,): number of a row of each run
    RUNS_OF := ints("runs_of"),  # (k + 1,): first run of each member, and end of the last
    NEXT_RUNS := ints("next_runs"),  # (k,): scratch, next run of each member
    SORTED_RUNS := ints("sorted_runs"),  # (rows,): runs by configuration, then by member
    RUN_MEMBERS := ints("run_members"),  # (rows,): index of the member of each sorted run
    BLOCK_AT := ints("block_at"),  # (rows + 1,): begin of each block, and end of the last
    BLOCK := ints("block"),  # (states of a parent x k x states,): counts of a block, 0 between uses
    GATHERED := ints("gathered"),  # (2,): key of the gathered rows, number of blocks
    SEARCHED := ints("searched"),  # (k,): tasks whose graph is searched
    USABLE_OF := flags("usable_of", 2),  # (k, n): whether usable as a parent of the child
    GROUP_KEYS := ints("group_keys"),  # (k,): scratch, keys of the tasks' families
    GROUP_PARENTS := ints("group_parents"),  # (n,): scratch, the parents of a group of tasks
    FEWER_PARENTS := ints("fewer_parents"),  # (n,): scratch, the parents without one of them
    PLACES_OF := ints("places_of"),  # (k,): scratch, members that have counts in a row
)


def new_joint(n_variables, n_rows, n_states):
    """Memory for the given number of variables, as a dict.

    ``n_rows`` contains the number of rows of each task, none without sharing; ``n_states`` is the
    largest number of states of a variable.
    """
    n_tasks, n_joint = len(n_rows), sum(n_rows)
    per_row = ("joint_sizes", "joint_states", "joint_rows_at", "joint_bits_at", "run_rows")
    per_row += ("sorted_runs", "run_members")
    return {
        **{name: np.empty(n_joint, np.int64) for name in per_row},
        "members": np.zeros(n_tasks, np.int64),
        "joint_order": np.empty(n_joint, np.uint32),
        "joint_bits": np.empty(sum(map(most_bits, n_rows)), np.uint64),
        "run_cells": np.zeros(n_joint + 1, np.int64),
        "runs_of": np.zeros(n_tasks + 1, np.int64),
        "next_runs": np.zeros(n_tasks, np.int64),
        "block_at": np.zeros(n_joint + 1, np.int64),
        "block": np.zeros(n_states * n_tasks * n_states, np.int64),
        "gathered": np.zeros(2, np.int64),
        "searched": np.zeros(n_tasks, np.int64),
        "usable_of": np.zeros((n_tasks, n_variables), np.bool_),
        "group_keys": np.zeros(n_tasks, np.int64),
        "group_parents": np.zeros(n_variables, np.int64),
        "places_of": np.zeros(n_tasks, np.int64),
        "fewer_parents": np.zeros(n_variables, np.int64),
    }


@kernel
def gather(engine, scratch, n_members, child, parents, n_parents):
    """Partition the rows of the members and sort the runs by configuration, then by member.

    Returns
    -------
    int
        Number of blocks; BLOCK_AT contains their boundaries among the sorted runs.
    """
    members, runs_of = MEMBERS_OF(scratch), RUNS_OF(scratch)
    n_runs, end_cells = np.int64(0), np.int64(0)
    end_rows, end_bits = np.int64(0), np.int64(0)
    for i in range(n_members):
        runs_of[i] = n_runs
        s = members[i]
        n_cells = part(engine, s, child, parents, n_parents, scratch)
        n_runs, end_rows, end_bits = copy_cells(
            engine, scratch, s, child, n_cells, n_runs, end_cells, end_rows, end_bits
        )
        end_cells += n_cells
    runs_of[n_members] = n_runs
    RUN_CELLS(scratch)[n_runs] = end_cells
    return sort_runs(engine, scratch, n_members, parents, n_parents)


@kernel
def first_row(scratch, cell):
    """Number of one of the rows of a cell of the task that has just been partitioned."""
    at, bits = CELL_BITS_AT(scratch)[cell], CELL_BITS(scratch)
    if at < 0:
        return np.int64(ORDER(scratch)[ROWS_AT(scratch)[cell]])
    word = np.int64(0)
    while bits[at + word] == np.uint64(0):
        word += 1
    lowest = bits[at + word] & (~bits[at + word] + np.uint64(1))
    return 64 * word + np.int64(popcount(lowest - np.uint64(1)))


@kernel
def copy_cells(engine, scratch, s, child, n_cells, n_runs, end_cells, end_rows, end_bits):
    """Append the cells and the runs of the task that has just been partitioned.

    Returns
    -------
    n_runs, end_rows, end_bits : int
        New number of runs, of rows in JOINT_ORDER and of words in JOINT_BITS.
    """
    bits_at, bits, order = CELL_BITS_AT(scratch), CELL_BITS(scratch), ORDER(scratch)
    rows_at, sizes, opens = ROWS_AT(scratch), CELL_SIZES(scratch), OPENS(scratch)
    run_cells, run_rows = RUN_CELLS(scratch), RUN_ROWS(scratch)
    joint_bits_at, joint_bits = JOINT_BITS_AT(scratch), JOINT_BITS(scratch)
    joint_rows_at, joint_order = JOINT_ROWS_AT(scratch), JOINT_ORDER(scratch)
    states = CODES(engine)[CODE_AT(engine)[s, child] :]
    n_words = (N_ROWS(engine)[s] + 63) // 64
    for cell in range(n_cells):
        to, row = end_cells + cell, first_row(scratch, cell)
        if opens[cell]:
            run_cells[n_runs], run_rows[n_runs] = to, row
            n_runs += 1
        JOINT_SIZES(scratch)[to] = sizes[cell]
        JOINT_STATES(scratch)[to] = states[row]
        if bits_at[cell] < 0:
            joint_bits_at[to], joint_rows_at[to] = -1, end_rows
            for at in range(sizes[cell]):
                joint_order[end_rows + at] = order[rows_at[cell] + at]
            end_rows += sizes[cell]
        else:
            joint_bits_at[to], joint_rows_at[to] = end_bits, -1
            for word in range(n_words):
                joint_bits[end_bits + word] = bits[bits_at[cell] + word]
            end_bits += n_words
    return n_runs, end_rows, end_bits


@kernel
def sort_runs(engine, scratch, n_members, parents, n_parents):
    """Merge the runs of the members, each sorted by configuration; return the number of blocks."""
    runs_of, following = RUNS_OF(scratch), NEXT_RUNS(scratch)
    sorted_runs, run_members = SORTED_RUNS(scratch), RUN_MEMBERS(scratch)
    block_at = BLOCK_AT(scratch)
    for i in range(n_members):
        following[i] = runs_of[i]
    n_blocks, end = np.int64(0), np.int64(0)
    while True:
        begin = end
        for i in range(n_members):
            if following[i] == runs_of[i + 1]:
                continue
            order = np.int64(-1)
            if end > begin:
                i_least, least = run_members[begin], sorted_runs[begin]
                order = compare(
                    engine, scratch, i, following[i], i_least, least, parents, n_parents
                )
            if order < 0:
                end = begin
            if order <= 0:
                sorted_runs[end], run_members[end] = following[i], i
                end += 1
        if end == begin:
            break
        block_at[n_blocks] = begin
        n_blocks += 1
        for at in range(begin, end):
            following[run_members[at]] += 1
    block_at[n_blocks] = end
    return n_blocks


@kernel
def compare(engine, scratch, i, run, j, other, parents, n_parents):
    """Compare the configurations of two runs of members i and j: -1, 0 or 1."""
    codes, code_at, members = CODES(engine), CODE_AT(engine), MEMBERS_OF(scratch)
    row, other_row = RUN_ROWS(scratch)[run], RUN_ROWS(scratch)[other]
    for at in range(n_parents):
        state = codes[code_at[members[i], parents[at]] + row]
        other_state = codes[code_at[members[j], parents[at]] + other_row]
        if state != other_state:
            return np.int64(-1) if state < other_state else np.int64(1)
    return np.int64(0)


@kernel
def count_block(engine, scratch, n_members, child, v, block):
    """Count the rows of a block by state of an additional parent, task and state of the child.

    ``v`` is the parent or -1. The counts in BLOCK are indexed [state of v, member, state of the
    child].
    """
    counts, histogram = BLOCK(scratch), HISTOGRAM(scratch)
    states, run_cells = JOINT_STATES(scratch), RUN_CELLS(scratch)
    r, arity = ARITIES(engine)[child], np.int64(1)
    if v >= 0:
        arity = ARITIES(engine)[v]
    for at in range(BLOCK_AT(scratch)[block], BLOCK_AT(scratch)[block + 1]):
        i, run = RUN_MEMBERS(scratch)[at], SORTED_RUNS(scratch)[at]
        s = MEMBERS_OF(scratch)[i]
        for cell in range(run_cells[run], run_cells[run + 1]):
            if v < 0:
                counts[i * r + states[cell]] = count_cell(engine, scratch, s, cell)
                continue
            count_cell_with(engine, scratch, s, v, cell)
            slot = i * r + states[cell]
            for state in range(arity):
                counts[slot] = histogram[state]
                histogram[state] = 0
                slot += n_members * r


@kernel
def count_cell(engine, scratch, s, cell):
    """Sum of the weights of a cell's rows."""
    begin, size = WEIGHT_AT(engine)[s], JOINT_SIZES(scratch)[cell]
    if begin < 0:
        return size
    rows_at, total = JOINT_ROWS_AT(scratch)[cell], np.int64(0)
    for at in range(rows_at, rows_at + size):
        total += WEIGHTS(engine)[begin + JOINT_ORDER(scratch)[at]]
    return total


@kernel
def count_cell_with(engine, scratch, s, v, cell):
    """Write the counts of a variable's states in a cell to HISTOGRAM, which is 0 before."""
    histogram, size = HISTOGRAM(scratch), JOINT_SIZES(scratch)[cell]
    bits_at, rows_at = JOINT_BITS_AT(scratch)[cell], JOINT_ROWS_AT(scratch)[cell]
    if bits_at >= 0:
        n_words = (N_ROWS(engine)[s] + 63) // 64
        bits = JOINT_BITS(scratch)[bits_at : bits_at + n_words]
        count_bits(bits, size, BITS(engine), BITS_AT(engine)[s, v], ARITIES(engine)[v], histogram)
        return
    codes, begin = CODES(engine), CODE_AT(engine)[s, v]
    weights, weight_at, order = WEIGHTS(engine), WEIGHT_AT(engine)[s], JOINT_ORDER(scratch)
    for at in range(rows_at, rows_at + size):
        row = order[at]
        histogram[codes[begin + row]] += 1 if weight_at < 0 else weights[weight_at + row]
