"""The states of a variable, shared by all tasks: collected, declared or merged."""

import re

from bnmtl.errors import Action, InputError
from bnmtl.tasks.columns import MAX_STATES
from bnmtl.wording import listed

MISSING_STATE = "missing"
# Pairs of states with the low one first; the keys are sorted for lookup.
_PAIRS = {("absent", "present"), ("no", "yes"), ("false", "true"), ("0", "1")}
_INTEGER = re.compile(r"[+-]?[0-9]{1,1000}")


def shared_states(columns):
    """Return {variable: states} over all tasks; `columns` is {task: {variable: Column}}."""
    return {variable: _states(variable, by_task) for variable, by_task in _by_variable(columns)}


def ordered_variables(columns):
    """Return the variables whose states have an order in all tasks; `columns` as above.

    If some tasks declare their states, these decide, because the values of the others are among
    them.
    """
    return {v for v, by_task in _by_variable(columns) if _are_ordered(by_task.values())}


def _by_variable(columns):
    """Pairs of a variable and its {task: Column}, sorted by variable."""
    found = {}
    for name, by_name in columns.items():
        for variable, column in by_name.items():
            found.setdefault(variable, {})[name] = column
    return sorted(found.items())


def _are_ordered(columns):
    deciding = [column for column in columns if column.declared] or columns
    return all(column.ordered for column in deciding)


def state_ranks(states, is_ordered):
    """Return the rank of every state, -1 for missing values; None for states without an order.

    The states absent / present, no / yes, false / true and 0 / 1 always have an order, in any
    position and capitalization.
    """
    values = [state for state in states if state != MISSING_STATE]
    if len(values) == 2 and tuple(sorted(map(str.casefold, values))) in _PAIRS:
        values.sort(key=str.casefold)
    elif not is_ordered:
        return None
    rank = {state: at for at, state in enumerate(values)}
    return tuple(rank.get(state, -1) for state in states)


def _states(variable, columns):
    """Return the states of one variable; `columns` is {task: Column}."""
    declared = {name: tuple(column.labels) for name, column in columns.items() if column.declared}
    if declared:
        states = _merge_orders(variable, declared)
        _check_declared(variable, columns, set(states))
    else:
        states = sorted({label for column in columns.values() for label in column.labels})
        if all(_INTEGER.fullmatch(state) for state in states):
            states.sort(key=int)
    if any((column.codes < 0).any() for column in columns.values()):
        if MISSING_STATE in states:
            raise InputError(
                rule="has missing values and also a state {state}",
                remedies=("rename that state", "fill the missing values with it"),
                column=variable,
                state=MISSING_STATE,
            )
        states = [*states, MISSING_STATE]
    if len(states) > MAX_STATES:
        rule = "must have at most {limit} states over all tasks"
        remedies = "group its values", Action("leave out")
        raise InputError(
            rule=rule, given=len(states), remedies=remedies, column=variable, limit=MAX_STATES
        )
    return tuple(states)


def _check_declared(variable, columns, states):
    for name, column in columns.items():
        unknown = sorted(set(column.labels) - states)
        if unknown:
            raise InputError(
                rule="must contain only states that other tasks declare ({states})",
                given=listed(unknown),
                remedies="declare the same categories in all tasks",
                task=name,
                column=variable,
                states=sorted(states),
            )


def _merge_orders(variable, declared):
    """Merge the declared states of the tasks into one list that keeps every task's order.

    The smallest possible state comes next (as a number if all are integers), so the result does not
    depend on the order of the tasks.
    """
    orders = set(declared.values())
    if len(orders) == 1:
        return list(orders.pop())
    # Only here, so that catalogues of data load fast.
    import networkx as nx

    follows = nx.DiGraph()
    for order in orders:
        nx.add_path(follows, order)
    all_integers = all(_INTEGER.fullmatch(state) for state in follows)
    key = {state: (int(state) if all_integers else 0, state) for state in follows}
    try:
        return list(nx.lexicographical_topological_sort(follows, key.get))
    except nx.NetworkXUnfeasible:
        raise _contradiction(variable, declared) from None


def _contradiction(variable, declared):
    """Return the error that names the tasks with contradictory orders of states."""
    names = list(declared)
    pair = names
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            shared_a = [state for state in declared[a] if state in declared[b]]
            if len(pair) > 2 and shared_a != [s for s in declared[b] if s in declared[a]]:
                pair = [a, b]
    orders = ", ".join(f"`{name}`: {' < '.join(declared[name])}" for name in pair[:5])
    return InputError(
        rule="must have its states declared in one order",
        found="the tasks contradict each other ({orders!s})",
        column=variable,
        orders=orders,
    )
