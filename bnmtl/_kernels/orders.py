"""Search over orders of the variables by moving one at a time, used by ``bnmtl.search``.

Data contract: ``order`` is int64 (n,), the variables from first to last, ``position`` its inverse,
and ``scores`` float64 (n,) the scores of the families grown from what stands before each variable.
Required arcs point forwards.
"""

import numpy as np

from bnmtl._kernels._jit import flags2, floats, ints, kernel
from bnmtl._kernels.climbing import climb, draw, refresh_from, start_at
from bnmtl._kernels.dags import (
    HELD,
    N_PARENTS,
    REQUIRED,
    TOLERANCE,
    copy_dag,
    total_score,
)
from bnmtl._kernels.scoring import ASKED, COUNTERS, WAITING
from bnmtl._kernels.trees import KEPT, KEPT_AT, N_KEPT, SCORE, grow


@kernel
def score_of(engine, scratch, task, tree, position, child):
    """Score of the family of ``child`` grown from what stands before it."""
    return floats(tree, SCORE)[grow(engine, scratch, task, tree, position, child)]


@kernel
def score_all(engine, scratch, task, tree, order, position, scores):
    """Positions and scores of an order."""
    for at in range(order.size):
        position[order[at]] = at
    for v in range(order.size):
        scores[v] = score_of(engine, scratch, task, tree, position, v)


@kernel
def exchange(order, position, at):
    """Exchange the variables at ``at`` and ``at + 1``."""
    left, right = order[at], order[at + 1]
    order[at], order[at + 1] = right, left
    position[left], position[right] = at + 1, at


@kernel
def insert(order, position, x, place):
    """Move x to a place, the variables between moving up."""
    while position[x] > place:
        exchange(order, position, position[x] - 1)
    while position[x] < place:
        exchange(order, position, position[x])


@kernel
def move_to_best_place(engine, scratch, task, tree, order, position, scores, x):
    """Move x to the place of the order where the score is best; returns what that gains."""
    required = flags2(task, REQUIRED)
    tolerance = floats(task, TOLERANCE)[0]
    home = position[x]
    best_gain, best_place = 0.0, home
    for step in (-1, 1):
        passed = 0.0
        while True:
            place = position[x] + step
            if place < 0 or place >= order.size:
                break
            y = order[place]
            if required[x, y] if step < 0 else required[y, x]:
                break
            exchange(order, position, min(place, position[x]))
            passed += score_of(engine, scratch, task, tree, position, y) - scores[y]
            own = score_of(engine, scratch, task, tree, position, x) - scores[x]
            if passed + own > best_gain + tolerance:
                best_gain, best_place = passed + own, place
        insert(order, position, x, home)
    if best_place == home:
        return 0.0
    insert(order, position, x, best_place)
    for at in range(min(home, best_place), max(home, best_place) + 1):
        v = order[at]
        scores[v] = score_of(engine, scratch, task, tree, position, v)
    return best_gain


@kernel
def shuffle(values, random):
    """Bring values into a random order (Fisher and Yates)."""
    for at in range(values.size - 1, 0, -1):
        other = draw(random, at + 1)
        values[at], values[other] = values[other], values[at]


@kernel
def improve(engine, scratch, task, tree, order, position, scores, turns, random, most_asked):
    """Move variables to their best places, in random turns, until no move improves the score.

    Returns
    -------
    bool
        False if ``most_asked`` families were asked for before that.
    """
    counters = ints(scratch, COUNTERS)
    for v in range(turns.size):
        turns[v] = v
    unmoved = 0
    while unmoved < turns.size:
        shuffle(turns, random)
        for at in range(turns.size):
            if counters[ASKED] >= most_asked:
                return False
            gain = move_to_best_place(
                engine, scratch, task, tree, order, position, scores, turns[at]
            )
            unmoved = 0 if gain > 0.0 else unmoved + 1
            if unmoved == turns.size:
                break
    return True


@kernel
def draw_extension(dag, scratch, order, random):
    """Write a random order in which parents stand before children."""
    held, n_parents = flags2(dag, HELD), ints(dag, N_PARENTS)
    waiting = ints(scratch, WAITING)
    n = order.size
    end = np.int64(0)
    for v in range(n):
        waiting[v] = n_parents[v]
        if waiting[v] == 0:
            order[end] = v
            end += 1
    for at in range(n):
        chosen = at + draw(random, end - at)
        order[at], order[chosen] = order[chosen], order[at]
        for v in range(n):
            if held[v, order[at]]:
                waiting[v] -= 1
                if waiting[v] == 0:
                    order[end] = v
                    end += 1


@kernel
def kick(task, order, position, random, most_moves):
    """Move up to ``most_moves`` random variables to random places, where required arcs allow."""
    required = flags2(task, REQUIRED)
    for at in range(order.size):
        position[order[at]] = at
    for _ in range(draw(random, most_moves + 1)):
        x, place = order[draw(random, order.size)], draw(random, order.size)
        allowed = True
        for at in range(min(place, position[x]), max(place, position[x]) + 1):
            y = order[at]
            if required[x, y] if place <= position[x] else required[y, x]:
                allowed = False
        if allowed:
            insert(order, position, x, place)


@kernel
def read_families(engine, scratch, task, tree, position, adjacency):
    """Write the families of an order as bool (n, n) [child, parent]."""
    for child in range(position.size):
        for v in range(position.size):
            adjacency[child, v] = False
        node = grow(engine, scratch, task, tree, position, child)
        begin = ints(tree, KEPT_AT)[node]
        for at in range(begin, begin + ints(tree, N_KEPT)[node]):
            adjacency[child, ints(tree, KEPT)[at]] = True


@kernel
def search_from(
    engine, scratch, task, tree, order, position, scores, turns, adjacency, dag, random, most_asked
):
    """Improve an order, then climb over graphs from what it stands for; the result is in ``dag``.

    Returns
    -------
    float
        The score.
    """
    score_all(engine, scratch, task, tree, order, position, scores)
    improve(engine, scratch, task, tree, order, position, scores, turns, random, most_asked)
    read_families(engine, scratch, task, tree, position, adjacency)
    start_at(dag, task, scratch, adjacency)
    refresh_from(engine, scratch, task, dag, np.int64(0), np.iinfo(np.int64).max)
    climb(engine, scratch, task, dag, most_asked)
    return total_score(task, dag)


@kernel
def iterate(
    engine,
    scratch,
    task,
    tree,
    order,
    position,
    scores,
    turns,
    adjacency,
    dag,
    best_dag,
    random,
    most_moves,
    most_asked,
):
    """Search again from a random order of the best graph, a few variables displaced.

    The result becomes the best graph if it is no worse.

    Returns
    -------
    float
        By how much it is better.
    """
    draw_extension(best_dag, scratch, order, random)
    kick(task, order, position, random, most_moves)
    score = search_from(
        engine,
        scratch,
        task,
        tree,
        order,
        position,
        scores,
        turns,
        adjacency,
        dag,
        random,
        most_asked,
    )
    gain = score - total_score(task, best_dag)
    if gain >= -floats(task, TOLERANCE)[0]:
        copy_dag(dag, best_dag)
    return gain
