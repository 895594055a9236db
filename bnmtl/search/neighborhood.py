"""Exact solvers for the best joint states of one pair of variables over all tasks."""

import itertools
import math

import numpy as np

from bnmtl._kernels import coupling as kernels
from bnmtl.errors import InputError, check_choice
from bnmtl.priors.coupling import EditCoupling, PairedCoupling, WeightedPairedCoupling, coupling_of
from bnmtl.search.branch_and_bound import branch_and_bound

METHODS = ("auto", "enumerate", "branch-and-bound", "edit", "paired", "min-cut")


def best_states(gains, prior, method="auto", pair=None, tasks=None):
    """Maximise the tasks' gains plus their coupling over the joint states of one pair of variables.

    Parameters
    ----------
    gains : array-like of float of shape (k, 3)
        Gain of each task, in nats, if its state of the pair becomes -1, 0 or +1 (the columns, in
        this order); -inf for an illegal state.
    prior : PairedPrior, EditPrior or any object with ``log_coupling(states, pair=None,
    tasks=None)``
        A custom coupling must never be above 0. Its bound is 0 unless it has a method
        ``bound(states_of_first_tasks, n_tasks)``, an upper bound of the coupling over all
        completions.
    method : {"auto", "enumerate", "branch-and-bound", "edit", "paired", "min-cut"}, default="auto"
        All are exact. "edit" is O(k), "paired" O(k^3) for one penalty over all pairs of tasks,
        "min-cut" polynomial for any penalties per pair of tasks with ``reversal=2``;
        "enumerate" and "branch-and-bound" work for any prior and are exponential in the worst case.
        "auto" chooses the cheapest.
    pair : tuple (a, b) of str, default=None
        Required if the penalty depends on the variables; state +1 is a -> b.
    tasks : sequence of str of shape (k,), default=None
        Required if the penalty depends on the tasks.

    Returns
    -------
    states : int8 array of shape (k,)
        All zeros if no legal assignment is finite.
    value : float
        Sum of the gains plus the log coupling; -inf if no legal assignment is finite.

    Raises
    ------
    InputError
        If the method cannot solve this prior, or a coupling is above 0.

    References
    ----------
    Niculescu-Mizil (2008), sections 2.3.2 and 2.3.3.

    Examples
    --------
    >>> from bnmtl import PairedPrior
    >>> from bnmtl.search.neighborhood import best_states
    >>> gains = [[-5.0, 0.0, 3.0], [-4.0, 0.0, 2.0], [-1.0, 0.0, -0.5]]
    >>> states, value = best_states(gains, PairedPrior(penalty=0.9))
    >>> [int(state) for state in states], round(value, 3)
    ([1, 1, 1], 4.5)
    """
    gains = np.ascontiguousarray(gains, dtype=float)
    if gains.ndim != 2 or gains.shape[1] != 3 or np.isnan(gains).any() or (gains == np.inf).any():
        rule, found = "must have shape (k, 3) and be finite or -inf", "the shape is {shape!s}"
        remedy = "the columns are the states -1, 0 and +1"
        raise InputError("gains", rule, found=found, remedies=remedy, shape=gains.shape)
    return solve(gains, coupling_of(prior, len(gains), pair, tasks), method)


def solve(gains, coupling, method="auto"):
    """`best_states` for clean arrays and the coupling of one pair."""
    if not len(gains):
        return np.zeros(0, np.int8), 0.0
    states = None
    if (gains.max(axis=1) > -np.inf).all():
        states = _solver(coupling, method)(gains, coupling)
    if states is None:
        return np.zeros(len(gains), np.int8), -math.inf
    return states, value_of(states, gains, coupling)


def value_of(states, gains, coupling):
    """Sum of the gains of the states plus their log coupling."""
    return float(gains[np.arange(len(states)), states + 1].sum()) + coupling.log_coupling(states)


def _enumerate(gains, coupling):
    """The first of the best among all legal assignments."""
    best, best_value = None, -math.inf
    legal = [[x for x in (-1, 0, 1) if gains[s, x + 1] > -np.inf] for s in range(len(gains))]
    for candidate in itertools.product(*legal):
        states = np.array(candidate, np.int8)
        value = value_of(states, gains, coupling)
        if value > best_value:
            best, best_value = states, value
    return best


def _edit(gains, coupling):
    states, finite = kernels.edit_states(gains, coupling.log_penalty, coupling.costs)
    return states if finite else None


def _paired(gains, coupling):
    states, finite = kernels.paired_states(gains, coupling.log_penalty, coupling.reversal)
    return states if finite else None


def _min_cut(gains, coupling):
    states, finite = kernels.min_cut_states(gains, coupling.weights(len(gains)))
    return states if finite else None


def _solver(coupling, method):
    """The function that solves a coupling with a method."""
    if method == "auto":
        method = _cheapest(coupling)
    if method == "enumerate":
        return _enumerate
    if method == "branch-and-bound":
        return branch_and_bound
    paired = isinstance(coupling, (PairedCoupling, WeightedPairedCoupling))
    if method == "edit" and isinstance(coupling, EditCoupling):
        return _edit
    if method == "paired" and isinstance(coupling, PairedCoupling):
        return _paired
    if method == "min-cut" and paired and coupling.reversal == 2:
        return _min_cut
    check_choice("method", method, METHODS)
    raise InputError(
        "method",
        "must be one that can solve this prior",
        method,
        remedies="'edit' needs an EditPrior, 'paired' a PairedPrior with one penalty for all "
        "tasks, 'min-cut' a PairedPrior with `reversal=2`, and 'auto' picks one that can",
    )


def _cheapest(coupling):
    if isinstance(coupling, EditCoupling):
        return "edit"
    if isinstance(coupling, PairedCoupling):
        return "paired"
    if isinstance(coupling, WeightedPairedCoupling) and coupling.reversal == 2:
        return "min-cut"
    return "branch-and-bound"
