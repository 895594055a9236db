"""Joint states of one pair of variables over all tasks, used by ``bnmtl.search.neighborhood``.

Data contract: ``gains`` is float64 of shape (k, 3); the columns are the states -1, 0, +1, and
illegal states have -inf. Every task has at least one legal state. Penalties are logarithms
log(1 - delta) in [-inf, 0]. States are int8 of shape (k,).
"""

import numpy as np

from bnmtl._kernels._jit import (
    Flags3,
    Floats2,
    Floats3,
    Ints,
    Ints2,
    Ints3,
    Signs,
    Words3,
    allocating_kernel,
    kernel,
)
from bnmtl._kernels.dags import is_legal


@kernel
def priced(log_penalty, amount):
    """log_penalty * amount; an amount of 0 costs nothing even at a log penalty of -inf."""
    if amount == 0.0:
        return 0.0
    return log_penalty * amount


@kernel
def distance(a: int, b: int, reversal: float):
    """Distance of two states: 1 between no arc and an arc, ``reversal`` between the directions."""
    if a == b:
        return 0.0
    if a == 0 or b == 0:
        return 1.0
    return reversal


@allocating_kernel
def edit_states(gains: Floats2, log_penalty: float, costs: Floats2):
    """Best states under the Edit prior, in O(k): for a fixed target, the tasks are independent.

    Computes max over targets c of sum_s max_x [ u_s(x) + log(1 - delta) costs[x, c] ]. This is the
    maximum over states because log(1 - delta) <= 0 turns the minimum over targets into a maximum.
    """
    k = gains.shape[0]
    states = np.zeros(k, np.int8)
    candidate = np.zeros(k, np.int8)
    best = -np.inf
    for target in range(3):
        total = 0.0
        for s in range(k):
            task_best = -np.inf
            for x in range(3):
                value = gains[s, x] + priced(log_penalty, costs[x, target])
                if value > task_best:
                    task_best = value
                    candidate[s] = x - 1
            total += task_best
        if total > best:
            best = total
            for s in range(k):  # copying a slice would compile the text of an error
                states[s] = candidate[s]
    return states, best > -np.inf


@allocating_kernel
def paired_states(gains: Floats2, log_penalty: float, reversal: float):
    """Best states under the Paired prior with one penalty for all pairs of tasks, in O(k^3).

    The coupling depends only on the number of tasks in each state, so a dynamic program over tasks
    keeps the best sum of gains for each (number in state -1, number in state +1).
    """
    k = gains.shape[0]
    table = np.full((k + 1, k + 1), -np.inf)
    table[0, 0] = 0.0
    choice = np.zeros((k, k + 1, k + 1), np.int8)
    for s in range(k):
        for minus in range(s + 1, -1, -1):
            for plus in range(s + 1 - minus, -1, -1):
                best, state = -np.inf, 0
                if minus + plus <= s:
                    best = table[minus, plus] + gains[s, 1]
                if minus > 0 and table[minus - 1, plus] + gains[s, 0] > best:
                    best, state = table[minus - 1, plus] + gains[s, 0], -1
                if plus > 0 and table[minus, plus - 1] + gains[s, 2] > best:
                    best, state = table[minus, plus - 1] + gains[s, 2], 1
                table[minus, plus] = best
                choice[s, minus, plus] = state
    best, best_minus, best_plus = -np.inf, 0, 0
    for minus in range(k + 1):
        for plus in range(k + 1 - minus):
            differing = (minus + plus) * (k - minus - plus) + reversal * minus * plus
            value = table[minus, plus] + priced(log_penalty, float(differing))
            if value > best:
                best, best_minus, best_plus = value, minus, plus
    states = np.zeros(k, np.int8)
    for s in range(k - 1, -1, -1):
        state = choice[s, best_minus, best_plus]
        states[s] = state
        if state == -1:
            best_minus -= 1
        elif state == 1:
            best_plus -= 1
    return states, best > -np.inf


@kernel
def weighted_log_coupling(states: Signs, log_penalties: Floats2, reversal: float):
    """Log coupling of states under the Paired prior with one log penalty per pair of tasks."""
    total = 0.0
    for s in range(states.size):
        for t in range(s):
            total += priced(log_penalties[s, t], distance(states[s], states[t], reversal))
    return total


@allocating_kernel
def augmenting_path(capacity, source, sink, previous):
    """Shortest path with residual capacity, as the predecessors of all nodes reached."""
    n = capacity.shape[0]
    for a in range(n):
        previous[a] = -1
    previous[source] = source
    queue = np.empty(n, np.int64)
    queue[0] = source
    at, end = 0, 1
    while at < end and previous[sink] < 0:
        a = queue[at]
        at += 1
        for b in range(n):
            if previous[b] < 0 and capacity[a, b] > 0.0:
                previous[b] = a
                queue[end] = b
                end += 1
    return previous[sink] >= 0


@allocating_kernel
def minimum_cut(capacity, source, sink):
    """Source side of a minimum cut, by shortest augmenting paths; overwrites ``capacity``.

    The second value is false if every cut is infinite. Capacities are floats and may be inf; the
    integer flows of SciPy limit the ratio of the largest to the smallest capacity to 31 bits.
    """
    n, is_finite = capacity.shape[0], True
    previous = np.empty(n, np.int64)
    while is_finite and augmenting_path(capacity, source, sink, previous):
        flow = np.inf
        b = sink
        while b != source:
            flow = min(flow, capacity[previous[b], b])
            b = previous[b]
        is_finite = flow < np.inf
        b = sink
        while is_finite and b != source:
            a = previous[b]
            capacity[a, b] -= flow
            capacity[b, a] += flow
            b = a
    reached = np.empty(n, np.bool_)
    for a in range(n):
        reached[a] = previous[a] >= 0
    return reached, is_finite


@allocating_kernel
def min_cut_states(gains: Floats2, log_penalties: Floats2):
    """Best states under the Paired prior with reversal 2 and any log penalty per pair of tasks.

    The states -1, 0, +1 are then points on a line, and |x_s - x_t| is a sum over the two thresholds
    between them. Node s means x_s >= 0, node k + s means x_s >= 1, and the best configuration is a
    minimum cut.
    """
    k = gains.shape[0]
    source, sink = 2 * k, 2 * k + 1
    capacity = np.zeros((2 * k + 2, 2 * k + 2))
    for s in range(k):
        top = max(gains[s, 0], gains[s, 1], gains[s, 2])
        capacity[source, s] = top - gains[s, 0]
        capacity[s, k + s] = top - gains[s, 1]
        capacity[k + s, sink] = top - gains[s, 2]
        capacity[k + s, s] = np.inf
        for t in range(k):
            if t != s:
                capacity[s, t] = -log_penalties[s, t]
                capacity[k + s, k + t] = -log_penalties[s, t]
    reached, finite = minimum_cut(capacity, source, sink)
    states = np.zeros(k, np.int8)
    for s in range(k):
        states[s] = int(reached[s]) + int(reached[k + s]) - 1
    return states, finite


@kernel
def gather_gains(
    held: Flags3,
    gains: Floats3,
    ancestors: Words3,
    parents: Ints3,
    n_parents: Ints2,
    permitted: Flags3,
    may_remove: Flags3,
    most_parents: Ints,
    members: Ints,
    i: int,
    j: int,
    out: Floats2,
):
    """Gains of the states of the pair (i, j) per member; +1 is i -> j; illegal states get -inf.

    The axes of all arrays except ``members`` and ``out`` are task, child and parent. ``gains`` are
    those of toggling an arc: of removing it where ``held`` has it, else of adding it.
    """
    for at in range(members.size):
        s = members[at]
        into_i, into_j = gains[s, i, j], gains[s, j, i]
        forward, backward = held[s, j, i], held[s, i, j]
        out[at, 1] = 0.0
        out[at, 2] = into_j
        out[at, 0] = into_i
        if forward:
            out[at, 1] = into_j
            out[at, 0] += into_j
            out[at, 2] = 0.0
        elif backward:
            out[at, 1] = into_i
            out[at, 2] += into_i
            out[at, 0] = 0.0
        if (forward or backward) and not may_remove[s, i, j]:
            out[at, 1] = -np.inf
        graph = held[s], ancestors[s], parents[s], n_parents[s], permitted[s], most_parents[s]
        # A gain is nan if the family would be too large.
        if not forward and (np.isnan(out[at, 2]) or not is_legal(*graph, i, j)):
            out[at, 2] = -np.inf
        if not backward and (np.isnan(out[at, 0]) or not is_legal(*graph, j, i)):
            out[at, 0] = -np.inf


@kernel
def optimistic_gain(gains, held, permitted, may_remove, takes_part, i, j):
    """Sum over tasks of the largest gain of any state of the pair (i, j), ignoring cycles.

    A gain is nan if a family must not grow; all comparisons with it are false.
    """
    total = 0.0
    for s in range(gains.shape[0]):
        if not takes_part[s, i, j]:
            continue
        a, b = (j, i) if held[s, i, j] else (i, j)
        best = 0.0
        if held[s, b, a]:
            turned = gains[s, b, a] + gains[s, a, b]
            if may_remove[s, a, b] and gains[s, b, a] > best:
                best = gains[s, b, a]
        else:
            turned = gains[s, a, b]
            if permitted[s, b, a] and gains[s, b, a] > best:
                best = gains[s, b, a]
        if permitted[s, a, b] and turned > best:
            best = turned
        total += best
    return total


@kernel
def optimistic_gains(
    gains: Floats3,
    held: Flags3,
    permitted: Flags3,
    may_remove: Flags3,
    takes_part: Flags3,
    i: int,
    out: Floats2,
):
    """Write the optimistic gains of all pairs with variable i to both halves of ``out``."""
    for j in range(out.shape[0]):
        if j != i:
            low, high = min(i, j), max(i, j)
            value = optimistic_gain(gains, held, permitted, may_remove, takes_part, low, high)
            out[i, j] = value
            out[j, i] = value
