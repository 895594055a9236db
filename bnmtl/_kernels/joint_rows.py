"""The rows of several tasks, one configuration of the parents after the other, for ``sharing``.

Data contract: `JOINT` are fields of a thread's scratch. The rows of the tasks that are counted
together, `members`, stand side by side; a configuration is a block of them. A slot is a row's task
by its place among the members and the state of the child: place x states + state.
"""

import numpy as np

from bnmtl._kernels._jit import codes_of, ints, ints2, kernel, rows_of
from bnmtl._kernels.groups import GROUPS
from bnmtl._kernels.partition import (
    ARITIES,
    CODE_AT,
    CODES,
    FEWEST_SLOTS,
    N_ROWS,
    PARTITION,
    SLOTS_PER_ROW,
    in_order,
    sort_rows,
)

JOINT = (
    ("members", np.int64, 1),  # (k,): tasks of the engine
    ("row_member", np.int64, 1),  # (rows,): place of a row's task among the members
    ("row_number", np.int64, 1),  # (rows,): where it is in its task
    ("row_keys", np.int64, 1),  # (rows,): scratch, the configuration by number
    ("row_ranks", np.int64, 1),  # (rows,): scratch
    ("row_order", np.uint32, 1),  # (rows,): the rows by configuration
    ("row_swap", np.uint32, 1),  # (rows,): scratch
    ("row_slots", np.int64, 1),  # counters of the sort
    ("sorted_member", np.int64, 1),  # (rows,): the member of each row, the rows by configuration
    ("sorted_number", np.int64, 1),  # (rows,): where it is in its task
    ("sorted_slot", np.int64, 1),  # (rows,): its slot
    ("block_at", np.int64, 1),  # (rows + 1,): where the blocks begin, and the end of the last
    ("block", np.int64, 1),  # (states of a parent x k x states,): counts of a block, 0 in between
    ("gathered", np.int64, 1),  # (2,): key of the rows as they are gathered, number of blocks
    ("searched", np.int64, 1),  # (k,): tasks whose graph is searched
    ("usable_of", np.bool_, 2),  # (k, n): which variables may be parents of the child in each
    ("group_keys", np.int64, 1),  # (k,): scratch, the tasks' families by key
    ("group_parents", np.int64, 1),  # (n,): scratch, the parents of a group of tasks
    ("fewer_parents", np.int64, 1),  # (n,): scratch, the parents less one
    ("places_of", np.int64, 1),  # (k,): scratch, members that have counts in a row
)
_FIRST = len(PARTITION) + len(GROUPS)
MEMBERS_OF, ROW_MEMBER, ROW_NUMBER, ROW_KEYS, ROW_RANKS = range(_FIRST, _FIRST + 5)
ROW_ORDER, ROW_SWAP, ROW_SLOTS, SORTED_MEMBER, SORTED_NUMBER, SORTED_SLOT = range(
    _FIRST + 5, _FIRST + 11
)
BLOCK_AT, BLOCK, GATHERED = range(_FIRST + 11, _FIRST + 14)
SEARCHED, USABLE_OF, GROUP_KEYS, GROUP_PARENTS, FEWER_PARENTS, PLACES_OF = range(
    _FIRST + 14, _FIRST + len(JOINT)
)


def new_joint(n_variables, n_tasks, n_rows, n_states):
    """Memory for so many variables and tasks, with so many rows in all and so many states of a
    variable at most, by name; 0 tasks and rows where nothing is shared."""
    n_slots = SLOTS_PER_ROW * n_rows + FEWEST_SLOTS + 1 if n_rows else 0
    return {
        "members": np.zeros(n_tasks, np.int64),
        "row_member": np.zeros(n_rows, np.int64),
        "row_number": np.zeros(n_rows, np.int64),
        "row_keys": np.zeros(n_rows, np.int64),
        "row_ranks": np.zeros(n_rows, np.int64),
        "row_order": np.zeros(n_rows, np.uint32),
        "row_swap": np.zeros(n_rows, np.uint32),
        "row_slots": np.zeros(n_slots, np.int64),
        "sorted_member": np.zeros(n_rows, np.int64),
        "sorted_number": np.zeros(n_rows, np.int64),
        "sorted_slot": np.zeros(n_rows, np.int64),
        "block_at": np.zeros(n_rows + 1, np.int64),
        "block": np.zeros(n_states * n_tasks * n_states if n_rows else 0, np.int64),
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
    """Bring the rows of the members into the order of the parents' configurations; within one of
    them the members follow one another.

    Returns
    -------
    int
        Number of blocks; where they begin is in BLOCK_AT.
    """
    members, n_rows_of = ints(scratch, MEMBERS_OF), ints(engine, N_ROWS)
    row_member, row_number = ints(scratch, ROW_MEMBER), ints(scratch, ROW_NUMBER)
    n_rows = np.int64(0)
    for i in range(n_members):
        for row in range(n_rows_of[members[i]]):
            row_member[n_rows] = i
            row_number[n_rows] = row
            n_rows += 1
    keys, order, swap = (
        ints(scratch, ROW_KEYS),
        rows_of(scratch, ROW_ORDER),
        rows_of(scratch, ROW_SWAP),
    )
    n_keys = number_jointly(engine, scratch, n_rows, parents, n_parents)
    in_order(n_rows, swap)
    sort_rows(keys, n_keys, n_rows, ints(scratch, ROW_SLOTS), swap, order)
    block_at, numbers = ints(scratch, BLOCK_AT), ints(scratch, SORTED_NUMBER)
    sorted_member, slots = ints(scratch, SORTED_MEMBER), ints(scratch, SORTED_SLOT)
    codes, code_at = codes_of(engine, CODES), ints2(engine, CODE_AT)
    r = ints(engine, ARITIES)[child]
    n_blocks = np.int64(0)
    for at in range(n_rows):
        i, row = row_member[order[at]], row_number[order[at]]
        sorted_member[at], numbers[at] = i, row
        slots[at] = i * r + codes[code_at[members[i], child] + row]
        if at == 0 or keys[order[at]] != keys[order[at - 1]]:
            block_at[n_blocks] = at
            n_blocks += 1
    block_at[n_blocks] = n_rows
    return n_blocks


@kernel
def number_jointly(engine, scratch, n_rows, parents, n_parents):
    """Write the configuration of every row to ROW_KEYS, the same numbers in all tasks.

    Numbers are the products of the states where these are few, else ranks of those that occur.
    Returns how many there may be.
    """
    keys, slots, ranks = ints(scratch, ROW_KEYS), ints(scratch, ROW_SLOTS), ints(scratch, ROW_RANKS)
    order, swap = rows_of(scratch, ROW_ORDER), rows_of(scratch, ROW_SWAP)
    for at in range(n_rows):
        keys[at] = 0
    size = np.int64(1)
    for i in range(n_parents):
        arity = ints(engine, ARITIES)[parents[i]]
        write_codes(engine, scratch, n_rows, parents[i], ranks)
        if size * arity < slots.size:
            for at in range(n_rows):
                keys[at] = keys[at] * arity + ranks[at]
            size *= arity
            continue
        in_order(n_rows, swap)
        sort_rows(ranks, arity, n_rows, slots, swap, order)
        sort_rows(keys, size, n_rows, slots, order, swap)
        # A code is read before its place gets a rank: only of rows that come later it is needed.
        rank, last_key, last_code = np.int64(-1), np.int64(-1), np.int64(-1)
        for at in range(n_rows):
            row = swap[at]
            if keys[row] != last_key or ranks[row] != last_code:
                rank += 1
                last_key, last_code = keys[row], ranks[row]
            ranks[row] = rank
        for at in range(n_rows):
            keys[at] = ranks[at]
        size = rank + 1
    return size


@kernel
def write_codes(engine, scratch, n_rows, v, target):
    """Write the state of a variable in every row."""
    codes, code_at = codes_of(engine, CODES), ints2(engine, CODE_AT)
    members = ints(scratch, MEMBERS_OF)
    row_member, row_number = ints(scratch, ROW_MEMBER), ints(scratch, ROW_NUMBER)
    for at in range(n_rows):
        target[at] = codes[code_at[members[row_member[at]], v] + row_number[at]]
