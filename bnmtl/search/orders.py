"""Iterated search over orders of the variables, for one task or for several that share the order.

An order determines each family: parents are chosen greedily among the preceding variables (Teyssier
& Koller 2005, ordering-based search). An order is improved by moving one variable at a time to its
best place (insertion neighborhoods: Scanagatta et al. 2015, 2017; the best move of Andrews et al.
2023, BOSS), with families stored in trees (their grow-shrink trees). The search is iterated: every
order consistent with a graph is equally good but has different neighbors (Lam, Andrews & Ramsey
2022, GRaSP), so a random one is drawn, a few variables are displaced, and it is improved again. For
one task each iteration ends with a climb over graphs and a tabu walk. After an iteration without
improvement, climbs start from random changes of the best graph: with few rows the best families
gain only as a whole, and orders alone miss them. Most of these changes are among a few variables
that are close in the graph, so that they are not undone one by one. With several tasks the parents
of a child are chosen for all of them at once, including the coupling.

If a graph gains in one part and loses in another, the better parts are kept.
"""

import numpy as np

from bnmtl._kernels import climbing, dags, orders, trees
from bnmtl._kernels._jit import Arrays, stacked
from bnmtl._kernels.scoring import ASKED
from bnmtl.search.graph_state import by_child, new_dag
from bnmtl.search.hill_climbing import hill_climb

# Number of climbs from random changes after an iteration without improvement: changes of the whole
# graph, and changes among variables that are close in it.
RESTARTS = 2
RESTARTS_NEAR = 4
N_NEAR = 8
# Beyond this number of variables half as many climbs suffice, because gains in any part of the
# graph are kept; climbs from changes of close variables consider only arcs among that many
# variables around them, without a tabu walk.
LARGE = 64
# Changes of the whole graph: one per this number of variables, up to a maximum, because each needs
# new scores with every other variable.
VARIABLES_PER_CHANGE = 8
MOST_CHANGES = 32


class Climbs:
    """The climbs over graphs of one search over orders, and their memory.

    Attributes
    ----------
    dag : Arrays
        The result of the latest climb, as in `dags.DAG`.
    current : Arrays
        The best graph of the current start.
    """

    def __init__(self, state, walk, perturb, tabu, budget):
        n = state.scores.n_variables
        self.dag, self.current, self._first, self._spare = (new_dag(n) for _ in range(4))
        # The arcs considered by climbs from changes, and their memory.
        self._narrow = state.task.replaced(permitted=state.task.permitted.copy())
        self._changed = new_dag(n)
        self._near = np.zeros(max(N_NEAR, LARGE), np.int64)
        self._merge, self._merged = climbing.new_merge(n), np.zeros((n, n), dtype=bool)
        self._state, self._walk, self._budget = state, walk, budget
        self._perturb, self._marks = perturb, np.zeros(tabu, np.int64)
        dags.copy_dag(state.dag.table, self._first.table)

    def begin(self, scratch, n_changes):
        """Start from the graph of the state, after random changes and a climb."""
        dags.copy_dag(self._first.table, self.dag.table)
        if n_changes:
            climbing.climb_changed(
                self._walk.engine,
                scratch.table,
                self._state.task.table,
                self.dag.table,
                self._state.in_pairs,
                self._walk.random,
                n_changes,
                self._budget.limit,
            )
            self._state.scores.keep_up(scratch)
        dags.copy_dag(self.dag.table, self.current.table)

    def from_order(self, scratch):
        """Climb from the graph of the walk's order; return its score."""
        return self._climb_from(scratch, self._walk.adjacency[0])

    def _climb_from(self, scratch, adjacency):
        return orders.climb_from(
            self._walk.engine,
            scratch.table,
            self._state.task.table,
            self.dag.table,
            self._spare.table,
            adjacency,
            self._marks,
            self._budget.limit,
        )

    def from_parts(self, scratch, reached):
        """Climb from the best graph with the parts of the latest one that are no worse.

        Return the score; ``reached``, that of the latest graph, if there is no such part.
        """
        if self._merge_with(self.dag, -self._state.task.tolerance[0]):
            return self._climb_from(scratch, self._merged)
        return reached

    def from_current(self, scratch):
        """Climb several times from random changes of the best graph; whether it improved."""
        better = False
        shared = 2 if self._state.scores.n_variables > LARGE else 1
        whole, near = RESTARTS // shared, RESTARTS_NEAR // shared
        for turn in range(whole + near):
            if self._budget.spent(scratch.counters[ASKED]):
                break
            better |= self._restart(scratch, turn >= whole)
            self._state.scores.keep_up(scratch)
        return better

    def _restart(self, scratch, is_near):
        """Climb from random changes; the best graph gets improvements of the whole or a part."""
        state, random = self._state, self._walk.random
        variables, task, marks = state.in_pairs, state.task, self._marks
        n_changes = min(MOST_CHANGES, len(variables) // VARIABLES_PER_CHANGE)
        n_changes = max(self._perturb, n_changes)
        if is_near:
            n_near = climbing.draw_near(self.current.table, variables, random, self._near)
            variables, near = self._near[: min(N_NEAR, n_near)], self._near[:n_near]
            task, n_changes = self._among(near), self._perturb
        elif state.scores.n_variables > LARGE:
            task = self._among(self._near[:0])
        if state.scores.n_variables > LARGE:
            marks = marks[:0]
        if climbing.restart(
            self._walk.engine,
            scratch.table,
            state.task.table,
            task.table,
            self._changed.table,
            self.current.table,
            self._spare.table,
            variables,
            random,
            n_changes,
            marks,
            self._budget.limit,
        ):
            return True
        if not self._merge_with(self._changed, state.task.tolerance[0]):
            return False
        before = dags.total_score(state.task.table, self.current.table)
        if self._climb_from(scratch, self._merged) <= before + state.task.tolerance[0]:
            return False
        dags.copy_dag(self.dag.table, self.current.table)
        return True

    def _among(self, near):
        """The task restricted to arcs among some variables and other arcs known to gain.

        In a large graph climbs from changes consider only these.
        """
        state = self._state
        if len(near) == len(state.in_pairs):
            return state.task
        looked_at = self._walk.matters | self.current.held
        looked_at[np.ix_(near, near)] = True
        np.logical_and(state.task.permitted, looked_at, out=self._narrow.permitted)
        return self._narrow

    def _merge_with(self, dag, least):
        """Whether parts of another graph gain at least ``least``; the merged graph is stored."""
        return climbing.merge(
            self._merge.table,
            self._state.task.table,
            self.current.table,
            dag.table,
            least,
            self._merged,
        )


# Nodes of the trees per variable, and their maximum.
NODES_PER_VARIABLE = 512
MOST_NODES = 1 << 19
# A kick displaces up to this many variables, or one per this number of variables.
MOST_MOVES = 3
VARIABLES_PER_MOVE = 12
# Starts and iterations, and the numbers of variables above which there are fewer: an iteration does
# more in a larger graph, where its gains in any part are kept.
MOST_STARTS, VARIABLES_OF_STARTS = 5, 500
MOST_ITERATIONS, VARIABLES_OF_ITERATIONS = 40, 8000


def starts_of(n_variables, n_starts=None):
    """Number of starts of a search: the given number, or the default for so many variables."""
    if n_starts is not None:
        return n_starts
    return max(1, min(MOST_STARTS, VARIABLES_OF_STARTS // max(n_variables, 1)))


def iterations_of(n_variables, iterations=None):
    """Iterations without a better score that end a start: the given number, or the default."""
    if iterations is not None:
        return iterations
    return max(1, min(MOST_ITERATIONS, VARIABLES_OF_ITERATIONS // max(n_variables, 1)))


def search(state, rng, budget, n_starts=None, iterations=None, perturb=10, tabu=10, report=None):
    """Search from several start graphs, each followed by iterations from its best result.

    Parameters
    ----------
    state : GraphState
        Changed in place to the best graph found.
    rng : numpy.random.Generator
    budget : Budget
    n_starts : int or None
        As in `starts_of`. The first start is the result of a climb from the current graph; the
        others are climbs from as many random changes of it as there are variables.
    iterations : int or None
        Number of iterations without a better score that end a start; as in `iterations_of`.
    perturb, tabu : int
        As in `hill_climbing.search`.
    report : callable (done, total, score), default=None
        Called after every start.

    Returns
    -------
    float
        The score of the best graph.
    """
    n = state.scores.n_variables
    n_starts, iterations = starts_of(n, n_starts), iterations_of(n, iterations)
    task = state.task
    walk = Walk(state.scores, [task], _uncoupled(task), rng)
    best, tolerance = new_dag(n), task.tolerance[0]
    moves = max(MOST_MOVES, n // VARIABLES_PER_MOVE)
    with state.scores.scratch() as scratch:
        walk.know(scratch, state.families)
        hill_climb(state, scratch, budget)
        dags.copy_dag(state.dag.table, best.table)
        climbs = Climbs(state, walk, perturb, tabu, budget)
        current = climbs.current
        for start in range(n_starts):
            if start and budget.spent(scratch.counters[ASKED]):
                break
            climbs.begin(scratch, n if start else 0)
            score, waited = -np.inf, -1
            while waited < iterations and not budget.spent(scratch.counters[ASKED]):
                walk.improve(scratch, current.held[None], 0 if score == -np.inf else moves, budget)
                reached = climbs.from_order(scratch)
                if reached < score - tolerance:
                    reached = climbs.from_parts(scratch, reached)
                waited = 0 if reached > score + tolerance else waited + 1
                if reached >= score - tolerance:
                    dags.copy_dag(climbs.dag.table, current.table)
                    score = reached
                if waited and climbs.from_current(scratch):
                    score, waited = dags.total_score(task.table, current.table), 0
            reached = dags.total_score(task.table, current.table)
            if reached > dags.total_score(task.table, best.table) + tolerance:
                dags.copy_dag(current.table, best.table)
            if report is not None:
                report(start + 1, n_starts, float(dags.total_score(task.table, best.table)))
        dags.copy_dag(best.table, state.dag.table)
    return state.score


def _uncoupled(task):
    """The constraints on orders of one task, as in `trees.SHARED`."""
    n = len(task.required)
    return Arrays(
        trees.SHARED,
        before=task.required,
        together=np.ones((1, n, n), dtype=bool),
        log_penalty=np.zeros((n, n)),
        coupling=np.array([trees.PAIRED, 1.0, 1.0]),
        tolerance=task.tolerance,
    )


def search_jointly(
    states, shared, graph, polish, rng, budget, n_starts=None, iterations=None, report=None
):
    """Search over orders shared by several tasks; each order is the start of another search.

    Parameters
    ----------
    states : list of GraphState
        One per task, with a common index.
    shared : Arrays
        As in `trees.SHARED`.
    graph : bool array of shape (n, n)
        The first start is an order of this graph, if it is consistent with the required arcs; the
        others are random.
    polish : callable (matrices) -> (score, matrices)
        Improves graphs of all tasks, bool arrays of shape (k, n, n).
    rng : numpy.random.Generator
    budget : Budget
    n_starts : int or None
        Number of start orders; as in `starts_of`.
    iterations : int or None
        As in `search`.
    report : callable (done, total, score), default=None
        Called after every start.

    Returns
    -------
    bool array of shape (k, n, n), or None
        Adjacency of every task; None if required arcs have no common order.
    """
    n_starts = starts_of(len(graph), n_starts)
    iterations = iterations_of(len(graph), iterations)
    walk = Walk(states[0].scores, [state.task for state in states], shared, rng)
    tolerance = shared.tolerance[0]
    # Families of these graphs are stored unchanged, so each must be legal in its task.
    required = np.stack([state.task.required for state in states])
    permitted = np.stack([state.task.permitted for state in states])
    given = (by_child(graph) & permitted) | required
    best, best_score = None, -np.inf
    polished = _Polished(polish)
    with states[0].scores.scratch() as scratch:
        if not walk.has_order(scratch, required):
            return None
        for start in range(n_starts):
            if start and budget.spent(scratch.counters[ASKED]):
                break
            start_graphs = required if start or not walk.has_order(scratch, given) else given
            score, waited = -np.inf, -1
            while waited < iterations and not budget.spent(scratch.counters[ASKED]):
                raw = walk.improve(
                    scratch, start_graphs, MOST_MOVES if score > -np.inf else 0, budget
                )
                reached, found = polished.of(walk.adjacency, raw, score)
                waited = 0 if reached > score + tolerance else waited + 1
                if reached < score - tolerance:
                    continue
                score = max(score, reached)
                # The directions of the tasks may now differ so that they have no common order.
                start_graphs = by_child(found)
                if not walk.has_order(scratch, start_graphs):
                    start_graphs = walk.adjacency.copy()
                if score > best_score + tolerance:
                    best, best_score = found, score
            if report is not None:
                report(start + 1, n_starts, best_score)
    return best


class _Polished:
    """Results of another search from given graphs, each computed once.

    Parameters
    ----------
    polish : callable (matrices) -> (score, matrices)
    """

    def __init__(self, polish):
        self._polish = polish
        # The largest gain from polishing so far.
        self._known, self._most = {}, 0.0

    def of(self, adjacency, raw, least):
        """Score and graphs [task, parent, child] found from given graphs [task, child, parent].

        If even twice the largest gain so far would not raise their score ``raw`` to ``least``, they
        are not polished and the score is -inf.
        """
        key = np.flatnonzero(adjacency).tobytes()
        if key not in self._known:
            if raw + 2 * self._most < least:
                return -np.inf, None
            reached, polished = self._polish(by_child(adjacency))
            self._known[key] = reached, np.flatnonzero(polished)
            self._most = max(self._most, reached - raw)
        reached, arcs = self._known[key]
        found = np.zeros_like(adjacency)
        found.flat[arcs] = True
        return reached, found


class Walk:
    """The memory of a search over orders.

    Attributes
    ----------
    adjacency : bool array of shape (k, n, n)
        [task, child, parent] of the graphs of the latest order.
    random : uint64 array of shape (1,)
        State of the random numbers, see `changes.draw`.
    """

    def __init__(self, scores, tasks, shared, rng):
        n = scores.n_variables
        self._scores, self._shared = scores, shared
        # References are kept because kernels use addresses only.
        self._tasks, self._tables = tasks, stacked(tasks)
        self.random = np.array([rng.integers(1, 2**63)], np.uint64)
        n_nodes = min(NODES_PER_VARIABLE * n, MOST_NODES)
        self._tree = trees.new_tree(len(tasks), shared.before, n_nodes)
        self._walk = Arrays(
            orders.WALK,
            order=np.zeros(n, np.int64),
            position=np.zeros(n, np.int64),
            turns=np.zeros(n, np.int64),
            scores=np.zeros(n),
            open=np.zeros(n, dtype=bool),
            progress=np.zeros(2, np.int64),
            first=np.zeros(n + 1, np.int64),
            children=np.zeros(n * n, np.int64),
        )
        self.adjacency = np.zeros((len(tasks), n, n), dtype=bool)

    @property
    def engine(self):
        """Table of the scores."""
        return self._scores.engine.table

    @property
    def order(self):
        """The latest order, int array of shape (n,)."""
        return self._walk.order

    @property
    def matters(self):
        """[child, parent] pairs that have gained in some family, bool array of shape (n, n)."""
        return self._tree.matters

    def improve(self, scratch, graphs, most_moves, budget):
        """Improve a random order of given graphs with some variables displaced; its score."""
        is_new, is_done = True, False
        while not is_done and (is_new or not budget.spent(scratch.counters[ASKED])):
            is_done = orders.search_orders(
                *self._of_kernels(scratch),
                graphs,
                self.random,
                most_moves,
                is_new,
                budget.pause(scratch),
            )
            self._scores.keep_up(scratch)
            is_new = False
        score = orders.read_order(*self._of_kernels(scratch), self.adjacency)
        self._scores.keep_up(scratch)
        return score

    def know(self, scratch, graphs):
        """Try the whole families of given graphs of the only task, bool (m, n, n)."""
        orders.know_families(*self._of_kernels(scratch)[:-1], graphs)
        self._scores.keep_up(scratch)

    def _of_kernels(self, scratch):
        """The first arguments of the kernels that improve and read an order."""
        return (
            *(self.engine, scratch.table, self._tables),
            *(self._shared.table, self._tree.table, self._walk.table),
        )

    def has_order(self, scratch, graphs):
        """Whether there is an order in which all arcs of all graphs point forward."""
        return orders.draw_extension(
            graphs,
            self._shared.before,
            scratch.waiting,
            self._walk.first,
            self._walk.children,
            self._walk.order,
            self.random,
        )
