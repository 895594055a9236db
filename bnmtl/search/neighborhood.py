"""Exact solvers for the best joint states of one pair of variables, and the couplings of pairs.

For any coupling there is branch and bound: states are assigned to one task after another; a partial
assignment is pruned when an upper bound of its completions does not exceed the best assignment
found (Niculescu-Mizil 2008, equations 2.9, 2.10).
"""

import itertools
import math
from functools import cached_property

import numpy as np

from bnmtl._kernels import coupling as kernels
from bnmtl._kernels import trees
from bnmtl._kernels._jit import Arrays
from bnmtl.errors import InputError, check_choice
from bnmtl.priors.coupling import (
    CouplingPrior,
    CustomCoupling,
    EditCoupling,
    PairedCoupling,
    WeightedPairedCoupling,
    coupling_of,
)
from bnmtl.search.problem import NoCommonGraph


class Couplings:
    """The coupling of every pair of variables of a joint problem, computed once for equal pairs.

    Parameters
    ----------
    prior : PairedPrior, EditPrior or a custom coupling
    problem : JointProblem
    """

    def __init__(self, prior, problem):
        self.builtin = isinstance(prior, CouplingPrior)
        self.prior = prior.resolved() if self.builtin else prior
        self._problem = problem
        self._made = {}
        self._listed = self.prior.pair_penalties() if self.builtin else {}

    def of(self, i, j):
        """Indices of the tasks with the pair, and their coupling; i -> j is state +1."""
        members = np.flatnonzero(self._problem.takes_part[:, i, j])
        pair = (self._problem.variables[i], self._problem.variables[j])
        key = self._key(members, pair)
        if key not in self._made:
            self._made[key] = (members, self._coupling(members, pair))
        return self._made[key]

    @cached_property
    def coupled(self):
        """[i, j], i < j: whether two or more tasks have the pair, bool array of shape (n, n)."""
        return np.triu(self._problem.takes_part.sum(axis=0) > 1, 1)

    @cached_property
    def pairs(self):
        """[i, j], i < j: whether any task has the pair, bool array of shape (n, n)."""
        return np.triu(self._problem.takes_part.any(axis=0), 1)

    @cached_property
    def kinds(self):
        """A number for every pair, shape (n, n): pairs with equal numbers have equal couplings."""
        part = self._problem.takes_part
        n = part.shape[1]
        if not self.builtin:
            return np.arange(n * n).reshape(n, n)
        # Each byte contains eight tasks, because there are many pairs to sort.
        packed = np.packbits(part.reshape(len(part), -1), axis=0)
        order = np.lexsort(packed[::-1])
        differs = (packed[:, order[1:]] != packed[:, order[:-1]]).any(axis=0)
        kinds = np.empty(n * n, dtype=np.int64)
        kinds[order] = np.append(0, np.cumsum(differs))
        kinds = kinds.reshape(n, n)
        index = {variable: at for at, variable in enumerate(self._problem.variables)}
        for number, pair in enumerate(self._listed):
            if pair <= index.keys():
                i, j = (index[variable] for variable in pair)
                kinds[i, j] = kinds[j, i] = n * n + number
        return kinds

    def alike(self, pairs):
        """Given pairs, bool array of shape (n, n), grouped by kind into int arrays (m, 2)."""
        found, kinds = np.argwhere(pairs), self.kinds[pairs]
        order = np.argsort(kinds, kind="stable")
        ends = np.flatnonzero(np.diff(kinds[order])) + 1
        return np.split(found[order], ends) if len(found) else []

    def shared(self, tolerance):
        """The data for a search over orders shared by the tasks.

        Parameters
        ----------
        tolerance : float

        Returns
        -------
        Arrays or None
            As in `trees.SHARED`; None if the coupling depends on which tasks have the arc and not
            only on their number.
        """
        if not self.builtin or self.prior.by_task():
            return None
        part, found = self._problem.takes_part, None
        log_penalty = np.zeros(part.shape[1:])
        for pairs in self.alike(self.coupled):
            (_, found), (rows, columns) = self.of(*pairs[0].tolist()), pairs.T
            log_penalty[rows, columns] = log_penalty[columns, rows] = found.log_penalty
        coupling = np.array([trees.PAIRED, 0.0, 0.0])
        if isinstance(found, EditCoupling):
            coupling = np.array([trees.EDIT, found.costs[1, 2], found.costs[2, 1]])
        required = np.stack([limits.required for limits in self._problem.constraints]).any(axis=0)
        return Arrays(
            trees.SHARED,
            before=np.ascontiguousarray(required.T),
            together=part,
            log_penalty=log_penalty,
            coupling=coupling,
            tolerance=np.array([tolerance]),
        )

    def check_agreement(self):
        """Raise NoCommonGraph if constraints on arcs contradict a penalty of 1."""
        required = np.stack([limits.required for limits in self._problem.constraints]).any(axis=0)
        for i, j in np.argwhere(np.triu(required | required.T, 1)).tolist():
            members, coupling = self.of(i, j)
            gains = np.full((len(members), 3), -np.inf)
            for at, s in enumerate(members.tolist()):
                limits = self._problem.constraints[s]
                forward, backward = limits.required[i, j], limits.required[j, i]
                allowed = (
                    limits.permitted[j, i] or backward,
                    not (forward or backward),
                    limits.permitted[i, j] or forward,
                )
                gains[at, np.array(allowed)] = 0.0
            if solve(gains, coupling)[1] == -np.inf:
                a, b = self._problem.variables[i], self._problem.variables[j]
                raise NoCommonGraph(
                    (
                        f"and `forbidden` give tasks different arcs between {a} and {b}, where a "
                        "penalty of 1 requires that they agree"
                    ),
                    argument="required",
                    options=("forbidden",),
                    remedy="remove one of the constraints",
                )

    @cached_property
    def weights(self):
        """Exponents of the structure priors, float array of shape (k, n, n)."""
        takes_part = self._problem.takes_part
        weights = np.zeros(takes_part.shape)
        for pairs in self.alike(self.pairs):
            i, j = pairs[0]
            members = np.flatnonzero(takes_part[:, i, j])
            pair = (self._problem.variables[i], self._problem.variables[j])
            exponents = self._weights(pair, [self._problem.names[s] for s in members])
            rows, columns = pairs.T
            weights[members[:, None], rows, columns] = np.reshape(exponents, (-1, 1))
            weights[members[:, None], columns, rows] = np.reshape(exponents, (-1, 1))
        return weights

    def _coupling(self, members, pair):
        """The coupling of a pair, which is 0 for a pair in fewer than two tasks."""
        if len(members) < 2:
            return PairedCoupling(0.0, 2.0)
        names = [self._problem.names[s] for s in members]
        return coupling_of(self.prior, len(members), pair, names)

    def _weights(self, pair, names):
        if len(names) > 1 and hasattr(self.prior, "structure_weights"):
            return self.prior.structure_weights(pair, names)
        return np.ones(len(names))

    def _key(self, members, pair):
        """A key that determines the coupling of a pair."""
        if self.builtin:
            return members.tobytes(), self._listed.get(frozenset(pair))
        return members.tobytes(), pair


STATES = (-1, 0, 1)


def branch_and_bound(gains, coupling):
    """Best joint states.

    Parameters
    ----------
    gains : float array of shape (k, 3)
    coupling : any coupling of ``bnmtl.priors``

    Returns
    -------
    int8 array of shape (k,), or None
        None if no legal assignment is finite.
    """
    k = len(gains)
    # A custom bound assumes the given order of tasks; only built-in couplings are symmetric enough
    # to assign the most decided tasks first.
    order = np.arange(k)
    if not isinstance(coupling, CustomCoupling):
        ranked = np.sort(gains, axis=1)
        order = np.argsort(-(ranked[:, 2] - ranked[:, 1]), kind="stable")
    tree = _Tree(gains, coupling, order)
    tree.assign(0, 0.0)
    return tree.best_states


class _Tree:
    """Depth-first search; ``states`` contains the states of the assigned tasks in ``order``."""

    def __init__(self, gains, coupling, order):
        self.gains = gains
        self.order = order
        self.bound = _BOUNDS.get(type(coupling), _paired_bound)(gains, coupling, order)
        self.coupling = coupling
        self.states = np.zeros(len(gains), np.int8)
        self.best_value, self.best_states = -math.inf, None
        for states in _incumbents(gains):
            self._offer(states)

    def assign(self, depth, gain_so_far):
        """Try every state of the task at ``depth``, the most promising first."""
        if depth == len(self.order):
            self._offer(self.states.copy())
            return
        task = self.order[depth]
        offers = []
        for state in STATES:
            gain = gain_so_far + self.gains[task, state + 1]
            if gain == -math.inf:
                continue
            self.states[task] = state
            offers.append((gain + self.bound(self.states, depth + 1), state, gain))
        for bound, state, gain in sorted(offers, key=lambda offer: (-offer[0], abs(offer[1]))):
            if bound <= self.best_value:
                break
            self.states[task] = state
            self.assign(depth + 1, gain)

    def _offer(self, states):
        rows = np.arange(len(states))
        value = float(self.gains[rows, states + 1].sum()) + self.coupling.log_coupling(states)
        if value > self.best_value:
            self.best_value, self.best_states = value, states


def _incumbents(gains):
    """Good first assignments: the best state of every task alone, and equal states."""
    yield gains.argmax(axis=1).astype(np.int8) - np.int8(1)
    for state in STATES:
        yield np.full(len(gains), state, np.int8)


def _rest(gains, order):
    """[d] = sum of the best gains of the tasks from depth d on."""
    best = gains.max(axis=1)[order]
    return np.concatenate([np.cumsum(best[::-1])[::-1], [0.0]])


def _custom_bound(gains, coupling, order):
    rest = _rest(gains, order)

    def bound(states, depth):
        return rest[depth] + coupling.bound(states[:depth].copy(), len(states))

    return bound


def _edit_bound(gains, coupling, order):
    """Coupling of the assigned tasks; more tasks never need fewer edits (equation 2.9)."""
    rest = _rest(gains, order)

    def bound(states, depth):
        return rest[depth] + coupling.log_coupling(states[order[:depth]])

    return bound


def _paired_bound(gains, coupling, order):
    """Coupling of the assigned tasks plus the best coupled gains of the others.

    It is tighter than equation 2.10; the thesis says in a footnote that such bounds exist.
    """
    log_penalties = coupling.weights(len(gains))
    steps = np.array(
        [[kernels.distance(a, b, coupling.reversal) for b in STATES] for a in STATES], float
    )

    def bound(states, depth):
        done, waiting = order[:depth], order[depth:]
        within = _pair_sum(log_penalties[np.ix_(done, done)], steps, states[done]) / 2
        if not len(waiting):
            return within
        distances = steps[:, states[done] + 1]
        prices = np.zeros((len(waiting), 3))
        for at, task in enumerate(done):
            prices += _priced(log_penalties[waiting, task][:, None], distances[:, at][None, :])
        return within + float((gains[waiting] + prices).max(axis=1).sum())

    return bound


def _priced(log_penalties, distances):
    """Product that is 0 for a distance of 0 even if the log penalty is -inf."""
    with np.errstate(invalid="ignore"):
        return np.where(distances == 0, 0.0, log_penalties * distances)


def _pair_sum(log_penalties, steps, states):
    return float(_priced(log_penalties, steps[np.ix_(states + 1, states + 1)]).sum())


_BOUNDS = {CustomCoupling: _custom_bound, EditCoupling: _edit_bound}


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
        message = f"must have shape (k, 3) and be finite or -inf; the shape is {gains.shape}"
        raise InputError(
            message, argument="gains", remedy="the columns are the states -1, 0 and +1"
        )
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
    message = f"must be one that can solve this prior, got {method!r}"
    raise InputError(
        message,
        argument="method",
        remedy=(
            "'edit' needs an EditPrior, 'paired' a PairedPrior with one penalty for all tasks, "
            "'min-cut' a PairedPrior with `reversal=2`, and 'auto' picks one that can"
        ),
    )


def _cheapest(coupling):
    if isinstance(coupling, EditCoupling):
        return "edit"
    if isinstance(coupling, PairedCoupling):
        return "paired"
    if isinstance(coupling, WeightedPairedCoupling) and coupling.reversal == 2:
        return "min-cut"
    return "branch-and-bound"
