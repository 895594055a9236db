"""Which arcs would close a directed cycle, used by the searches.

Data contract: ``adjacency`` is bool of shape (n, n), [a, b] true for an arc a -> b, acyclic.
"""

import numpy as np

from bnmtl._kernels._jit import kernel


@kernel
def topological_order(adjacency):
    """Nodes with parents before children."""
    n = adjacency.shape[0]
    waiting = np.zeros(n, np.int64)
    for a in range(n):
        for b in range(n):
            if adjacency[a, b]:
                waiting[b] += 1
    order = np.empty(n, np.int64)
    done = 0
    for b in range(n):
        if waiting[b] == 0:
            order[done] = b
            done += 1
    at = 0
    while at < done:
        a = order[at]
        at += 1
        for b in range(n):
            if adjacency[a, b]:
                waiting[b] -= 1
                if waiting[b] == 0:
                    order[done] = b
                    done += 1
    return order[:done]


@kernel
def detours(adjacency):
    """[a, b] true where a path of two or more arcs leads from a to b.

    The arc b -> a may be set exactly where [a, b] is false: an arc a -> b that is there now counts
    as turned round, not as a path.
    """
    n = adjacency.shape[0]
    order = topological_order(adjacency)
    longer = np.zeros((n, n), np.bool_)
    for at in range(order.size - 1, -1, -1):
        a = order[at]
        for b in range(n):
            if adjacency[a, b]:
                for c in range(n):
                    if adjacency[b, c] or longer[b, c]:
                        longer[a, c] = True
    return longer
