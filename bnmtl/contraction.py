"""Sums of products of tables over hidden variables, for many rows at once and without underflow.

A factor is an array with a scope: the numbers of its variables, one for each axis. The axis of rows
has the number `ROWS` and stands first; factors without it are the same in all rows.
"""

import math
from dataclasses import dataclass

import numpy as np
from opt_einsum.paths import greedy

__all__ = ["ROWS", "Plan", "chunks", "contract", "plan"]

ROWS = -1
# 1 GiB of 8-byte numbers, as for the tables of networks.
_LARGEST_TABLE = 2**27
_LARGEST_CHUNK = 2**21


@dataclass(frozen=True)
class Plan:
    """In which order factors are multiplied, two by two, and variables summed out.

    Attributes
    ----------
    steps : tuple of (positions, scopes, scope of the product)
        Positions among the factors that are left, the later one first.
    largest : int
        Most numbers in a product, those of one row where it has rows.
    """

    steps: tuple
    largest: int


def plan(scopes, keep, n_states):
    """Choose an order that keeps products small, by the greedy rule of opt_einsum.

    Parameters
    ----------
    scopes : list of tuple of int
        Of the factors; one or more.
    keep : tuple of int
        The variables that are not summed out.
    n_states : sequence of int
        Of each variable.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If a product would have more than 2**27 numbers a row.
    """
    left, steps, largest = list(scopes), [], 1
    sizes = {ROWS: 1, **dict(enumerate(n_states))}
    kept = frozenset((ROWS, *keep))
    for pair in greedy([frozenset(scope) for scope in scopes], kept, sizes):
        positions = tuple(sorted(pair, reverse=True))
        taken = tuple(left.pop(position) for position in positions)
        product = tuple(sorted(set().union(*taken) & kept.union(*left)))
        largest = max(largest, *(_size(scope, sizes) for scope in (*taken, product)))
        steps.append((positions, taken, product))
        left.append(product)
    if largest > _LARGEST_TABLE:
        raise ValueError(
            "`network` must not tie so many variables that are not observed together: a table of "
            f"{largest:.1e} numbers would be needed; give more evidence."
        )
    return Plan(tuple(steps), largest)


def _size(scope, sizes):
    return math.prod(sizes[number] for number in scope)


def chunks(order, n_rows):
    """Parts of the rows for which the products of a plan are small at once, as slices."""
    step = max(1, _LARGEST_CHUNK // order.largest)
    return [slice(start, start + step) for start in range(0, n_rows, step)]


def contract(order, arrays, keep, n_rows):
    """Multiply factors and sum out what is not kept.

    Parameters
    ----------
    order : Plan
        For the scopes of the factors.
    arrays : list of numpy.ndarray of float
        The factors, 0 or more everywhere.
    keep : tuple of int
        As for `plan`.
    n_rows : int

    Returns
    -------
    numpy.ndarray of float, shape (n_rows, *n_states of keep)
        With 1 for the largest number of each row, or 0 throughout.
    numpy.ndarray of float, shape (n_rows,)
        Log of what each row is to be multiplied with; -inf where all is 0.
    """
    arrays, log_scale = list(arrays), np.zeros(n_rows)
    for positions, scopes, product in order.steps:
        result = _multiplied([arrays.pop(position) for position in positions], scopes, product)
        # Products of many probabilities are smaller than the smallest float; their shares are not.
        axes = tuple(range(product[:1] == (ROWS,), result.ndim))
        most = result.max(axis=axes, keepdims=True)
        with np.errstate(divide="ignore"):
            log_scale += np.log(most.reshape(-1))
        arrays.append(result / np.where(most > 0, most, 1))
    (result,), scope = arrays, order.steps[-1][2]
    if ROWS not in scope:
        scope, result = (ROWS, *scope), np.broadcast_to(result, (n_rows, *result.shape))
    return result.transpose([scope.index(number) for number in (ROWS, *keep)]), log_scale


def _multiplied(operands, scopes, product):
    """The product of one factor or two, summed over all variables but those given."""
    # Numbers of axes of its own, because einsum takes those below 52 only.
    at = {number: i for i, number in enumerate(sorted(set().union(*scopes)))}
    arguments = []
    for operand, scope in zip(operands, scopes, strict=True):
        arguments += [operand, [at[number] for number in scope]]
    return np.einsum(*arguments, [at[number] for number in product])
