"""The best change of one pair of variables in one graph, used by hill climbing.

Data contract: ``toggles`` is float64 (n, n), [a, b] the gain of taking a into the parents of b or,
if it is one, of leaving it out; ``adjacency`` is bool (n, n); ``may_add`` is bool (n, n), [a, b]
true where the arc a -> b may be set now; ``may_remove`` is bool (n, n), symmetric; ``keys`` is
uint64 (n, n), symmetric, the order of pairs among ties; ``coins`` is bool (n, n), [a, b] true for
the direction that wins a tie within a pair, of which exactly one of [a, b], [b, a] is true.
"""

import numpy as np

from bnmtl._kernels._jit import kernel


@kernel
def arc_gain(toggles, adjacency, a, b):
    """Gain when the pair's state becomes a -> b."""
    if adjacency[b, a]:
        return toggles[b, a] + toggles[a, b]
    return toggles[a, b]


@kernel
def best_gain(toggles, adjacency, may_add, may_remove):
    """The largest gain of any allowed change, -inf if there is none."""
    n = adjacency.shape[0]
    best = -np.inf
    for a in range(n):
        for b in range(n):
            if adjacency[a, b]:
                if may_remove[a, b] and toggles[a, b] > best:
                    best = toggles[a, b]
            elif may_add[a, b]:
                gain = arc_gain(toggles, adjacency, a, b)
                if gain > best:
                    best = gain
    return best


@kernel
def best_change(toggles, adjacency, may_add, may_remove, keys, coins, tolerance):
    """The winning change as (a, b, state, gain): state 1 sets a -> b, state 0 removes it.

    Changes within ``tolerance`` of the best are ties. The pair with the smallest key wins; within
    the pair removing wins over setting an arc, and the coin decides between the two directions.
    State -1 says that nothing is allowed.
    """
    n = adjacency.shape[0]
    best = best_gain(toggles, adjacency, may_add, may_remove)
    if best == -np.inf:
        return -1, -1, -1, best
    winner_a, winner_b, winner_state, winner_gain = -1, -1, -1, -np.inf
    for a in range(n):
        for b in range(n):
            if adjacency[a, b]:
                if not may_remove[a, b]:
                    continue
                state, gain = 0, toggles[a, b]
            elif may_add[a, b]:
                state, gain = 1, arc_gain(toggles, adjacency, a, b)
            else:
                continue
            if gain < best - tolerance:
                continue
            same_pair = winner_a == b and winner_b == a
            if same_pair:
                wins = state == 0 or (winner_state == 1 and coins[a, b])
            else:
                wins = winner_a < 0 or keys[a, b] < keys[winner_a, winner_b]
            if wins:
                winner_a, winner_b, winner_state, winner_gain = a, b, state, gain
    return winner_a, winner_b, winner_state, winner_gain
