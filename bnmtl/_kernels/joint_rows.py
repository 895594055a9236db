"""The rows of several tasks, sorted by configuration of the parents, for ``sharing``.

Data contract: a thread's scratch begins with the fields of `JOINT`. The rows of the tasks that are
counted together, `members`, are concatenated; the rows of a configuration form a block. A row's
slot encodes its task (index among the members) and the child's state: index x states + state.
"""

import numpy as np

from bnmtl._kernels._jit import flags, ints, kernel, layout, uint32s
from bnmtl._kernels.groups import GROUPS
from bnmtl._kernels.partition import (
    ARITIES,
    CODE_AT,
    CODES,
    FEWEST_SLOTS,
    N_ROWS,
    SLOTS_PER_ROW,
    in_order,
    sort_rows,
)

JOINT = layout(
    *GROUPS,
    MEMBERS_OF := ints("members"),  # (k,): tasks of the engine
    ROW_MEMBER := ints("row_member"),  # (rows,): index of a row's task among the members
    ROW_NUMBER := ints("row_number"),  # (rows,): index of a row in its task
    ROW_KEYS := ints("row_keys"),  # (rows,): scratch, number of the configuration
    ROW_RANKS := ints("row_ranks"),  # (rows,): scratch
    ROW_ORDER := uint32s("row_order"),  # (rows,): rows sorted by configuration
    ROW_SWAP := uint32s("row_swap"),  # (rows,): scratch
    ROW_SLOTS := ints("row_slots"),  # counters of the sort
    SORTED_MEMBER := ints("sorted_member"),  # (rows,): ROW_MEMBER sorted by configuration
    SORTED_NUMBER := ints("sorted_number"),  # (rows,): ROW_NUMBER sorted by configuration
    SORTED_SLOT := ints("sorted_slot"),  # (rows,): slots sorted by configuration
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


def new_joint(n_variables, n_tasks, n_rows, n_states):
    """Memory for the given numbers of variables and tasks, as a dict.

    ``n_rows`` is the total number of rows and ``n_states`` the largest number of states of a
    variable; tasks and rows are 0 without sharing.
    """
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
    """Sort the rows of the members by configuration of the parents, then by member.

    Returns
    -------
    int
        Number of blocks; BLOCK_AT contains their boundaries.
    """
    members, n_rows_of = MEMBERS_OF(scratch), N_ROWS(engine)
    row_member, row_number = ROW_MEMBER(scratch), ROW_NUMBER(scratch)
    n_rows = np.int64(0)
    for i in range(n_members):
        for row in range(n_rows_of[members[i]]):
            row_member[n_rows] = i
            row_number[n_rows] = row
            n_rows += 1
    keys, order, swap = ROW_KEYS(scratch), ROW_ORDER(scratch), ROW_SWAP(scratch)
    n_keys = number_jointly(engine, scratch, n_rows, parents, n_parents)
    in_order(n_rows, swap)
    sort_rows(keys, n_keys, n_rows, ROW_SLOTS(scratch), swap, order)
    block_at, numbers = BLOCK_AT(scratch), SORTED_NUMBER(scratch)
    sorted_member, slots = SORTED_MEMBER(scratch), SORTED_SLOT(scratch)
    codes, code_at = CODES(engine), CODE_AT(engine)
    r = ARITIES(engine)[child]
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
    """Write the number of each row's configuration to ROW_KEYS; all tasks have the same numbers.

    Configurations are numbered in mixed radix if there are few, otherwise by rank among those that
    occur. Returns an upper bound on the number of configurations.
    """
    keys, slots, ranks = ROW_KEYS(scratch), ROW_SLOTS(scratch), ROW_RANKS(scratch)
    order, swap = ROW_ORDER(scratch), ROW_SWAP(scratch)
    for at in range(n_rows):
        keys[at] = 0
    size = np.int64(1)
    for i in range(n_parents):
        arity = ARITIES(engine)[parents[i]]
        write_codes(engine, scratch, n_rows, parents[i], ranks)
        if size * arity < slots.size:
            for at in range(n_rows):
                keys[at] = keys[at] * arity + ranks[at]
            size *= arity
            continue
        in_order(n_rows, swap)
        sort_rows(ranks, arity, n_rows, slots, swap, order)
        sort_rows(keys, size, n_rows, slots, order, swap)
        # Codes are overwritten by ranks: the code of a row is not needed after its own turn.
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
    codes, code_at = CODES(engine), CODE_AT(engine)
    members = MEMBERS_OF(scratch)
    row_member, row_number = ROW_MEMBER(scratch), ROW_NUMBER(scratch)
    for at in range(n_rows):
        target[at] = codes[code_at[members[row_member[at]], v] + row_number[at]]
