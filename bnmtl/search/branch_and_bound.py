"""Branch and bound over the joint states of one pair of variables, for any coupling.

States are assigned to one task after another; a partial assignment is pruned when an upper bound of
its completions does not exceed the best assignment found (Niculescu-Mizil 2008, equations 2.9,
2.10).
"""

import math

import numpy as np

from bnmtl._kernels import coupling as kernels
from bnmtl.priors.coupling import CustomCoupling, EditCoupling

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
