"""Search over orders of the variables by moving one at a time, used by ``bnmtl.search``.

Data contract: ``order`` is int64 (n,), the variables from first to last. ``position[v]`` is twice
the index of v in the order. ``scores``, float64 (n,), contains the scores of the families grown
from the predecessors of each variable. Required arcs point forward.

A search over graphs finds parent sets that improve the score only jointly. A few such families are
kept for each child, and one is used if it beats the family from the tree and all its parents
precede the child. Data contract: as in ``trees``.
"""

import numpy as np

from bnmtl._kernels._jit import (
    Flags2,
    Flags3,
    Ints,
    Table,
    Tables,
    Words,
    flags,
    floats,
    ints,
    kernel,
    layout,
)
from bnmtl._kernels.climbing import climb, draw, refresh_touched, start_at, tabu_walk
from bnmtl._kernels.dags import total_score
from bnmtl._kernels.scoring import ASKED, COUNTERS, WAITING
from bnmtl._kernels.trees import (
    BEFORE,
    IS_HELD,
    KNOWN,
    KNOWN_HOLDERS,
    KNOWN_SCORE,
    MATTERS,
    MOST_KNOWN,
    MOST_KNOWN_PARENTS,
    N_KNOWN,
    N_TASK_PARENTS,
    RELATED,
    SCORE,
    TASK_PARENTS,
    TOLERANCE,
    find,
    hold_parents_of,
    holds,
    list_parents,
    relate,
    score_parents,
)


@kernel
def best_known(tree, position, child, score):
    """The best remembered family all of whose parents precede ``child``.

    Returns
    -------
    int
        Its index, or -1 if no family exceeds ``score``.
    """
    n_known, known = N_KNOWN(tree)[child], KNOWN(tree)
    scores = KNOWN_SCORE(tree)[child]
    best = np.int64(-1)
    for family in range(n_known.size):
        if scores[family] <= score:
            continue
        fits = True
        for at in range(n_known[family]):
            fits = fits and position[known[child * MOST_KNOWN + family, at]] < position[child]
        if fits:
            best, score = np.int64(family), scores[family]
    return best


@kernel
def score_of(engine, scratch, tasks, shared, tree, position, child):
    """Score of the best known family of ``child`` whose parents precede it."""
    node = find(engine, scratch, tasks, shared, tree, position, child)
    score = SCORE(tree)[node]
    family = best_known(tree, position, child, score)
    return score if family < 0 else KNOWN_SCORE(tree)[child, family]


@kernel
def hold_family(engine, scratch, tasks, shared, tree, position, child):
    """Mark in scratch the parents of the family that `score_of` scores."""
    node = find(engine, scratch, tasks, shared, tree, position, child)
    family = best_known(tree, position, child, SCORE(tree)[node])
    if family < 0:
        hold_parents_of(tree, tasks, child, node)
        return
    held = IS_HELD(tree)
    for s in range(held.shape[0]):
        for v in range(held.shape[1]):
            held[s, v] = False
    place = child * MOST_KNOWN + family
    for at in range(N_KNOWN(tree)[child, family]):
        v = KNOWN(tree)[place, at]
        for s in range(held.shape[0]):
            held[s, v] = holds(KNOWN_HOLDERS(tree)[place, at], s)


@kernel
def is_marked(held, adjacency, child):
    """Whether the marked parents are those of ``child`` in all graphs."""
    for s in range(held.shape[0]):
        for v in range(held.shape[1]):
            if held[s, v] != adjacency[s, child, v]:
                return False
    return True


@kernel
def mark(tree, child, adjacency):
    """Mark in scratch the parents of a child in the given graphs; return their number."""
    held, n_parents = IS_HELD(tree), np.int64(0)
    for v in range(held.shape[1]):
        is_parent = False
        for s in range(held.shape[0]):
            held[s, v] = adjacency[s, child, v]
            is_parent = is_parent or held[s, v]
        n_parents += is_parent
    return n_parents


@kernel
def remember(engine, scratch, tasks, shared, tree, position, child, adjacency):
    """Remember the family of ``child`` in given graphs if it beats the best known family.

    ``adjacency`` is bool (k, n, n) [task, child, parent]; all parents precede the child.
    """
    otherwise = score_of(engine, scratch, tasks, shared, tree, position, child)
    hold_family(engine, scratch, tasks, shared, tree, position, child)
    if not is_marked(IS_HELD(tree), adjacency, child):
        know(engine, scratch, tasks, shared, tree, child, adjacency, otherwise)


@kernel
def know(engine, scratch, tasks, shared, tree, child, adjacency, least):
    """Remember the family of ``child`` in given graphs if its score exceeds ``least``."""
    if mark(tree, child, adjacency) > MOST_KNOWN_PARENTS:
        return
    held = IS_HELD(tree)
    list_parents(held, TASK_PARENTS(tree), N_TASK_PARENTS(tree))
    score = score_parents(engine, scratch, tasks, shared, tree, child)
    if score <= least + TOLERANCE(shared)[0]:
        return
    scores = KNOWN_SCORE(tree)[child]
    worst = 0
    for family in range(scores.size):
        if scores[family] < scores[worst]:
            worst = family
    scores[worst] = score
    place, end = child * MOST_KNOWN + worst, np.int64(0)
    holders = KNOWN_HOLDERS(tree)[place]
    for v in range(held.shape[1]):
        is_parent = False
        for s in range(held.shape[0]):
            is_parent = is_parent or held[s, v]
        if is_parent:
            MATTERS(tree)[child, v] = True
            relate(tree, child, v)
            KNOWN(tree)[place, end] = v
            for word in range(holders.shape[1]):
                holders[end, word] = 0
            for s in range(held.shape[0]):
                if held[s, v]:
                    holders[end, s >> 6] |= np.int64(1) << (s & 63)
            end += 1
    N_KNOWN(tree)[child, worst] = end


WALK = layout(
    ORDER := ints("order"),  # (n,)
    POSITION := ints("position"),  # (n,)
    TURNS := ints("turns"),  # (n,): scratch
    SCORES := floats("scores"),  # (n,)
    OPEN := flags("open"),  # (n,): variables that may have a better place
    PROGRESS := ints("progress"),  # (2,): number of turns in this round, whether any was open
    FIRST := ints("first"),  # (n + 1,): scratch
    CHILDREN := ints("children"),  # (n n,): scratch
)


@kernel
def number(order, position, first, last):
    """Write the positions of the variables between two places, both included."""
    for at in range(first, last + 1):
        position[order[at]] = 2 * at


@kernel
def score_all(engine, scratch, tasks, shared, tree, order, position, scores):
    """Compute the positions and scores of an order."""
    number(order, position, np.int64(0), order.size - 1)
    for v in range(order.size):
        scores[v] = score_of(engine, scratch, tasks, shared, tree, position, v)


@kernel
def insert(order, position, x, place):
    """Move x to a place and shift the variables in between."""
    home = position[x] // 2
    step = 1 if place > home else -1
    for at in range(home, place, step):
        order[at] = order[at + step]
    order[place] = x
    number(order, position, min(home, place), max(home, place))


@kernel
def move_to_best_place(engine, scratch, tasks, shared, tree, walk, x):
    """Move x to the place in the order with the best score.

    Most variables that x passes are not related to it: neither is a possible parent of the other.
    They need no scores. No variable is moved before the place is found; meanwhile, x gets odd
    positions between the others.
    """
    order, position, scores = ORDER(walk), POSITION(walk), SCORES(walk)
    before, matters = BEFORE(shared), MATTERS(tree)
    related = RELATED(tree)[x]
    tolerance = TOLERANCE(shared)[0]
    home = position[x] // 2
    best_gain, best_place = 0.0, home
    for step in (-1, 1):
        passed, x_gain = 0.0, 0.0
        place = home + step
        while 0 <= place < order.size:
            y = order[place]
            if related[y]:
                if before[x, y] if step < 0 else before[y, x]:
                    break
                position[x] = 2 * place + step
                if matters[y, x]:
                    passed += score_of(engine, scratch, tasks, shared, tree, position, y)
                    passed -= scores[y]
                if matters[x, y]:
                    x_gain = score_of(engine, scratch, tasks, shared, tree, position, x) - scores[x]
                if passed + x_gain > best_gain + tolerance:
                    best_gain, best_place = passed + x_gain, place
            place += step
        position[x] = 2 * home
    if best_place == home:
        return
    insert(order, position, x, best_place)
    open_around(tree, walk, x)
    for at in range(min(home, best_place), max(home, best_place) + 1):
        v = order[at]
        if v == x or matters[v, x]:
            scores[v] = score_of(engine, scratch, tasks, shared, tree, position, v)
            open_around(tree, walk, v)
    OPEN(walk)[x] = False


@kernel
def open_around(tree, walk, v):
    """Mark the variables related to v as open after a change of the score of v.

    For all other variables, the scores of all places are unchanged.
    """
    related, is_open = RELATED(tree)[v], OPEN(walk)
    for u in range(is_open.size):
        is_open[u] = is_open[u] or related[u]


@kernel
def shuffle(values, random):
    """Shuffle values (Fisher-Yates)."""
    for at in range(values.size - 1, 0, -1):
        other = draw(random, at + 1)
        values[at], values[other] = values[other], values[at]


@kernel
def begin(walk, random):
    """Prepare `improve`: mark all variables as open."""
    turns, is_open = TURNS(walk), OPEN(walk)
    for v in range(turns.size):
        turns[v] = v
        is_open[v] = True
    begin_round(walk, random)


@kernel
def begin_round(walk, random):
    """Begin a round with a new random order of turns."""
    progress = PROGRESS(walk)
    shuffle(TURNS(walk), random)
    progress[0] = progress[1] = 0


@kernel
def improve(engine, scratch, tasks, shared, tree, walk, random, most_asked):
    """Move variables to their best places, in random turns, until no move improves the score.

    Returns
    -------
    bool
        False if ``most_asked`` families were evaluated before that; the next call continues.
    """
    counters, turns, is_open = COUNTERS(scratch), TURNS(walk), OPEN(walk)
    progress = PROGRESS(walk)
    while True:
        while progress[0] < turns.size:
            x = turns[progress[0]]
            if is_open[x]:
                if counters[ASKED] >= most_asked:
                    return False
                progress[1] = 1
                is_open[x] = False
                move_to_best_place(engine, scratch, tasks, shared, tree, walk, x)
            progress[0] += 1
        if progress[1] == 0:
            return True
        begin_round(walk, random)


@kernel
def list_children(adjacency, before, waiting, first, children):
    """List the variables that each variable must precede; count those that must precede it.

    The list of u goes from ``first[u]`` to ``first[u + 1]``, in ascending order.
    """
    # ``waiting`` has an entry for each variable of any task, possibly more than n.
    n = first.size - 1
    for at in range(n + 1):
        first[at] = 0
    for is_second in range(2):
        for v in range(n):
            waiting[v] = 0
            for u in range(n):
                stands = before[v, u]
                for s in range(adjacency.shape[0]):
                    stands |= adjacency[s, v, u]
                if not stands:
                    continue
                waiting[v] += 1
                if is_second:
                    children[first[u]] = v
                first[u] += 1
        # Turns counts into begins of the lists; below, the ends become begins again.
        if not is_second:
            begin = np.int64(0)
            for u in range(n):
                begin, first[u] = begin + first[u], begin
    for u in range(n, 0, -1):
        first[u] = first[u - 1]
    first[0] = 0


@kernel
def draw_extension(
    adjacency: Flags3,
    before: Flags2,
    waiting: Ints,
    first: Ints,
    children: Ints,
    order: Ints,
    random: Words,
):
    """Write a random order in which parents precede their children in all tasks.

    ``adjacency`` is bool (k, n, n) [task, child, parent]; ``before``, bool (n, n) [child, parent],
    marks further variables that must precede. ``waiting`` (n,) or longer, ``first`` (n + 1,) and
    ``children`` (n n,) are scratch, int64.

    Returns
    -------
    bool
        False if there is no such order.
    """
    n = order.size
    list_children(adjacency, before, waiting, first, children)
    end = np.int64(0)
    for v in range(n):
        if waiting[v] == 0:
            order[end] = v
            end += 1
    for at in range(n):
        if at == end:
            return False
        chosen = at + draw(random, end - at)
        order[at], order[chosen] = order[chosen], order[at]
        for child in range(first[order[at]], first[order[at] + 1]):
            v = children[child]
            waiting[v] -= 1
            if waiting[v] == 0:
                order[end] = v
                end += 1
    return True


@kernel
def kick(shared, order, position, random, most_moves):
    """Move up to ``most_moves`` random variables to random places that required arcs allow."""
    before = BEFORE(shared)
    number(order, position, np.int64(0), order.size - 1)
    for _ in range(draw(random, most_moves + 1)):
        x, place = order[draw(random, order.size)], draw(random, order.size)
        home = position[x] // 2
        allowed = True
        for at in range(min(place, home), max(place, home) + 1):
            y = order[at]
            if before[x, y] if place <= home else before[y, x]:
                allowed = False
        if allowed:
            insert(order, position, x, place)


@kernel
def read_families(engine, scratch, tasks, shared, tree, position, adjacency):
    """Write the families of an order as bool (k, n, n) [task, child, parent]."""
    held = IS_HELD(tree)
    for child in range(position.size):
        hold_family(engine, scratch, tasks, shared, tree, position, child)
        for s in range(held.shape[0]):
            for v in range(position.size):
                adjacency[s, child, v] = held[s, v]


@kernel
def search_orders(
    engine: Table,
    scratch: Table,
    tasks: Tables,
    shared: Table,
    tree: Table,
    walk: Table,
    graphs: Flags3,
    random: Words,
    most_moves: int,
    is_new: bool,
    most_asked: int,
):
    """Improve an order of given graphs after displacing a few variables.

    Parameters
    ----------
    graphs : bool array of shape (k, n, n)
        [task, child, parent]; the search begins with a random order of them.
    most_moves : int
        Maximum number of displaced variables.
    is_new : bool
        False to continue the last call.
    most_asked : int
        Number of evaluated families at which to stop.

    Returns
    -------
    bool
        Whether no move improves the order.
    """
    if is_new:
        order, position, scores = ORDER(walk), POSITION(walk), SCORES(walk)
        # fmt: off
        draw_extension(
            graphs, BEFORE(shared), WAITING(scratch), FIRST(walk),
            CHILDREN(walk), order, random,
        )
        # fmt: on
        number(order, position, np.int64(0), order.size - 1)
        for v in range(order.size):
            remember(engine, scratch, tasks, shared, tree, position, v, graphs)
        kick(shared, order, position, random, most_moves)
        score_all(engine, scratch, tasks, shared, tree, order, position, scores)
        begin(walk, random)
    return improve(engine, scratch, tasks, shared, tree, walk, random, most_asked)


@kernel
def know_families(
    engine: Table, scratch: Table, tasks: Tables, shared: Table, tree: Table, graphs: Flags3
):
    """Remember the families of given graphs, bool (m, n, n) [graph, child, parent], of one task."""
    for at in range(graphs.shape[0]):
        for child in range(graphs.shape[1]):
            # fmt: off
            know(
                engine, scratch, tasks, shared, tree, child, graphs[at : at + 1], -np.inf
            )
            # fmt: on


@kernel
def read_order(
    engine: Table,
    scratch: Table,
    tasks: Tables,
    shared: Table,
    tree: Table,
    walk: Table,
    adjacency: Flags3,
):
    """Write the graphs of an order, bool (k, n, n) [task, child, parent]; return its score."""
    read_families(engine, scratch, tasks, shared, tree, POSITION(walk), adjacency)
    scores, total = SCORES(walk), 0.0
    for v in range(scores.size):
        total += scores[v]
    return total


@kernel
def climb_from(
    engine: Table,
    scratch: Table,
    task: Table,
    dag: Table,
    spare: Table,
    adjacency: Flags2,
    marks: Ints,
    most_asked: int,
):
    """Climb from the graph ``adjacency``, with a tabu walk; return the score.

    ``dag`` contains a previous graph, whose gains are reused for children with the same parents.
    """
    start_at(dag, task, scratch, adjacency)
    refresh_touched(engine, scratch, task, dag)
    climb(engine, scratch, task, dag, most_asked)
    tabu_walk(engine, scratch, task, dag, spare, marks, most_asked)
    climb(engine, scratch, task, dag, most_asked)
    return total_score(task, dag)
