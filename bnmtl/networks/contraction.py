"""Sums of products of tables over hidden variables, for many rows at once, in log space.

A factor is an array of logarithms with a scope: the numbers of its variables, one for each axis.
The axis of rows is `ROWS` and comes first; factors without it are the same in all rows.
"""

import math
from dataclasses import dataclass

import numpy as np
from opt_einsum.paths import greedy

from bnmtl.errors import InputError
from bnmtl.networks.tables import LARGEST_TABLE, MOST_AXES, fits, n_cells, shown_cells
from bnmtl.wording import count, listed

ROWS = -1
LARGEST_CHUNK = 2**21


@dataclass(frozen=True)
class Plan:
    """The order in which pairs of factors are multiplied and variables summed out.

    Attributes
    ----------
    steps : tuple of (positions, scopes, scope of the result)
        Positions among the remaining factors, the later one first.
    per_row : int
        Approximate maximum of numbers in memory at once for a row.
    """

    steps: tuple
    per_row: int

    def chunks(self, n_rows):
        """Slices of the rows with bounded memory."""
        step = max(1, LARGEST_CHUNK // self.per_row)
        return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def plan(scopes, keep, n_states, names):
    """Choose an order with small products, by the greedy rule of opt_einsum.

    Parameters
    ----------
    scopes : list of tuple of int
        Scopes of the factors; at least one.
    keep : tuple of int
        The variables that are not summed out.
    n_states : sequence of int
        Number of states of each variable.
    names : sequence of str
        Names of the variables in an error.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If a product would have more than 2**26 numbers per row, or more than 63 variables.
    """
    left, steps, largest = list(scopes), [], 1
    sizes = {ROWS: 1, **dict(enumerate(n_states))}
    kept = frozenset((ROWS, *keep))
    for pair in greedy([frozenset(scope) for scope in scopes], kept, sizes):
        positions = tuple(sorted(pair, reverse=True))
        taken = tuple(left.pop(position) for position in positions)
        members = set().union(*taken)
        result = tuple(sorted(members & kept.union(*left)))
        numbers = sorted(members - {ROWS})
        cells = check_joint([names[at] for at in numbers], [n_states[at] for at in numbers])
        largest = max(largest, cells)
        steps.append((positions, taken, result))
        left.append(result)
    of_factors = sum(math.prod(sizes[number] for number in scope) for scope in scopes)
    return Plan(tuple(steps), largest + of_factors)


def check_joint(names, n_states):
    """Raise unless a table over unobserved variables may be allocated; return its size per row."""
    if not fits(n_states):
        message = (
            "must not connect so many unobserved variables; a table of "
            f"{shown_cells(n_states):.1e} numbers over {count(len(n_states), 'variable')} "
            f"({listed(names)}) would be needed, and the limits are {LARGEST_TABLE:,} and "
            f"{MOST_AXES}"
        )
        remedy = "give more evidence, or ask for fewer variables"
        raise InputError(message, argument="network", remedy=remedy)
    return n_cells(n_states)


def contract(order, arrays, keep, n_rows):
    """Multiply factors and sum out all other variables.

    Parameters
    ----------
    order : Plan
        For the scopes of the factors.
    arrays : list of numpy.ndarray of float
        Logarithms; -inf is allowed.
    keep : tuple of int
        As for `plan`.
    n_rows : int

    Returns
    -------
    numpy.ndarray of float, shape (n_rows, *n_states of keep)
        Logarithms.
    """
    arrays = list(arrays)
    for positions, scopes, kept in order.steps:
        arrays.append(_summed([arrays.pop(position) for position in positions], scopes, kept))
    (result,), scope = arrays, order.steps[-1][2]
    if ROWS not in scope:
        scope, result = (ROWS, *scope), np.broadcast_to(result, (n_rows, *result.shape))
    return result.transpose([scope.index(number) for number in (ROWS, *keep)])


def _summed(operands, scopes, kept):
    """The log of the product of one or two factors, summed over all variables not kept."""
    members = sorted(set().union(*scopes))
    views = []
    for operand, scope in zip(operands, scopes, strict=True):
        missing = [at for at, number in enumerate(members) if number not in scope]
        views.append(np.expand_dims(operand.transpose(np.argsort(scope)), missing))
    # Always an array of its own, which is changed below.
    total = np.add(*views) if len(views) == 2 else views[0].copy()
    axes = tuple(at for at, number in enumerate(members) if number not in kept)
    if not axes:
        return total
    # A term far below the largest one here may become the largest after other factors, but not
    # among the terms summed with it.
    most = total.max(axis=axes, keepdims=True)
    most = np.where(np.isfinite(most), most, 0.0)
    total -= most
    np.exp(total, out=total)
    with np.errstate(divide="ignore"):
        return np.log(total.sum(axis=axes)) + most.squeeze(axes)
