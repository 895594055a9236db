"""Iterated search over orders of the variables, for one task or for several that share the order.

From an order each family follows: parents are chosen greedily among what stands before a variable
(Teyssier & Koller 2005, ordering-based search). An order is improved by moving one variable at a
time to its best place (insertion neighborhoods: Scanagatta et al. 2015, 2017; the best move of
Andrews et al. 2023, BOSS), families being looked up in trees (their grow-shrink trees). The search
is iterated: every order that a graph allows is equally good for it but has other neighbors (Lam,
Andrews & Ramsey 2022, GRaSP), so a random one is drawn, a few variables are displaced, and it is
improved again. For one task each iteration ends with a climb over graphs and a tabu walk, and one
that finds nothing better is followed by climbs from random changes of the best graph: with few rows
the best families gain only as a whole, and orders alone miss them. Most of these changes stay among
a few variables that are close in the graph, where they are not undone one by one. With several
tasks the parents of a child are chosen for all of them at once, the coupling included.
"""

import numpy as np

from bnmtl._kernels import changes, climbing, dags, merging, orders, trees
from bnmtl._kernels._jit import Arrays, stacked
from bnmtl._kernels.scoring import ASKED
from bnmtl.search.graph_state import by_child, new_dag
from bnmtl.search.hill_climbing import hill_climb

# Nodes of the trees for every variable, and at most.
NODES_PER_VARIABLE = 512
MOST_NODES = 1 << 19
# A kick displaces up to this many variables, or one for every so many.
MOST_MOVES = 3
VARIABLES_PER_MOVE = 12
# Climbs from random changes after an iteration that found nothing better: of the whole graph, and
# among some variables that are close in it.
RESTARTS = 2
RESTARTS_NEAR = 4
N_NEAR = 8
# Beyond so many variables half as many climbs do, since what each gains in any part of the graph is
# kept; climbs from changes of variables that are close look at arcs among that many around them,
# and none walks on.
LARGE = 64
# Changes of the whole graph: one for every so many variables, but no more than so many, since every
# one of them asks for a new score with every other variable.
VARIABLES_PER_CHANGE = 8
MOST_CHANGES = 32
# Starts, and fewer where that many variables and more share them: what an iteration does grows with
# the graph, so that one start comes closer to the best score.
MOST_STARTS = 5
VARIABLES_OF_STARTS = 500


def starts_of(n_variables, n_starts=None):
    """Starts of a search over so many variables: as many as are asked for, or what they need."""
    if n_starts is not None:
        return n_starts
    return max(1, min(MOST_STARTS, VARIABLES_OF_STARTS // max(n_variables, 1)))


def search(state, rng, budget, n_starts=None, iterations=40, perturb=10, tabu=10, report=None):
    """Search from several graphs, each followed by iterations from the best one it has led to.

    Parameters
    ----------
    state : GraphState
        Changed in place; ends in the best graph found.
    rng : numpy.random.Generator
    budget : Budget
    n_starts : int or None
        As in `starts_of`. The first start is the graph that is climbed to from the state's own; the
        others are climbed to from as many random changes of it as there are variables.
    iterations : int
        Iterations without a better score that end a start.
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
    n_starts = starts_of(n, n_starts)
    task = state.task
    walk = _Walk(state.scores, [task], _uncoupled(task), rng)
    best, tolerance = new_dag(n), task.tolerance[0]
    moves = max(MOST_MOVES, n // VARIABLES_PER_MOVE)
    with state.scores.scratch() as scratch:
        hill_climb(state, scratch, budget)
        dags.copy_dag(state.dag.table, best.table)
        climbs = _Climbs(state, walk, perturb, tabu, budget)
        own = climbs.own
        for start in range(n_starts):
            if start and budget.spent(scratch.counters[ASKED]):
                break
            climbs.begin(scratch, n if start else 0)
            score, waited = -np.inf, -1
            while waited < iterations and not budget.spent(scratch.counters[ASKED]):
                walk.improve(scratch, own.held[None], 0 if score == -np.inf else moves, budget)
                reached = climbs.from_order(scratch)
                if reached < score - tolerance:
                    reached = climbs.from_parts(scratch, reached)
                waited = 0 if reached > score + tolerance else waited + 1
                if reached >= score - tolerance:
                    dags.copy_dag(climbs.dag.table, own.table)
                    score = reached
                if waited and climbs.from_own(scratch):
                    score, waited = dags.total_score(task.table, own.table), 0
            reached = dags.total_score(task.table, own.table)
            if reached > dags.total_score(task.table, best.table) + tolerance:
                dags.copy_dag(own.table, best.table)
            if report is not None:
                report(start + 1, n_starts, float(dags.total_score(task.table, best.table)))
        dags.copy_dag(best.table, state.dag.table)
    return state.score


def _uncoupled(task):
    """What an order of one task has to keep to, as in `trees.SHARED`."""
    n = len(task.required)
    return Arrays(
        trees.SHARED,
        before=task.required,
        together=np.ones((1, n, n), dtype=bool),
        log_penalty=np.zeros((n, n)),
        coupling=np.array([trees.PAIRED, 1.0, 1.0]),
        tolerance=task.tolerance,
    )


class _Climbs:
    """The climbs over graphs between the improvements of orders, and their memory.

    Attributes
    ----------
    dag : Arrays
        The graph that the latest climb has ended in, as in `dags.DAG`.
    own : Arrays
        The best graph of the present start.
    """

    def __init__(self, state, walk, perturb, tabu, budget):
        n = state.scores.n_variables
        self.dag, self.own, self._first, self._spare = (new_dag(n) for _ in range(4))
        # What climbs from changes look at, and their memory.
        self._narrow = state.task.replaced(permitted=state.task.permitted.copy())
        self._changed = new_dag(n)
        self._near = np.zeros(max(N_NEAR, LARGE), np.int64)
        self._merge, self._merged = merging.new_merge(n), np.zeros((n, n), dtype=bool)
        self._state, self._walk, self._budget = state, walk, budget
        self._perturb, self._marks = perturb, np.zeros(tabu, np.int64)
        dags.copy_dag(state.dag.table, self._first.table)

    def begin(self, scratch, n_changes):
        """Start from the graph that the state was in, changed at random and climbed from."""
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
        dags.copy_dag(self.dag.table, self.own.table)

    def from_order(self, scratch):
        """Climb from the graph that the walk's order stands for; its score."""
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
        """Climb from the best graph with what is no worse in the latest one; the score.

        That is ``reached``, of the latest one, if nothing there is.
        """
        if self._merge_with(self.dag, -self._state.task.tolerance[0]):
            return self._climb_from(scratch, self._merged)
        return reached

    def from_own(self, scratch):
        """Climb from random changes of the best graph, some times; whether that made it better."""
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
        """Climb from random changes; the best graph gets what is better then, in whole or part."""
        state, random = self._state, self._walk.random
        variables, task, marks = state.in_pairs, state.task, self._marks
        n_changes = min(MOST_CHANGES, len(variables) // VARIABLES_PER_CHANGE)
        n_changes = max(self._perturb, n_changes)
        if is_near:
            n_near = changes.draw_near(self.own.table, variables, random, self._near)
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
            self.own.table,
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
        before = dags.total_score(state.task.table, self.own.table)
        if self._climb_from(scratch, self._merged) <= before + state.task.tolerance[0]:
            return False
        dags.copy_dag(self.dag.table, self.own.table)
        return True

    def _among(self, near):
        """The task with the arcs among some variables, and those elsewhere that are known to gain.

        In a large graph climbs from changes look at no others.
        """
        state = self._state
        if len(near) == len(state.in_pairs):
            return state.task
        looked_at = self._walk.matters | self.own.held
        looked_at[np.ix_(near, near)] = True
        np.logical_and(state.task.permitted, looked_at, out=self._narrow.permitted)
        return self._narrow

    def _merge_with(self, dag, least):
        """Whether parts of another graph gain so much; the best graph with these is noted."""
        return merging.merge(
            self._merge.table,
            self._state.task.table,
            self.own.table,
            dag.table,
            least,
            self._merged,
        )


def search_jointly(
    states, shared, graph, polish, rng, budget, n_starts=None, iterations=40, report=None
):
    """Search over orders that several tasks share, each order being the start of another search.

    Parameters
    ----------
    states : list of GraphState
        One a task, on one index.
    shared : Arrays
        As in `trees.SHARED`.
    graph : bool array of shape (n, n)
        The first start is an order of this graph, where it agrees with what the tasks require; the
        others are random.
    polish : callable (matrices) -> (score, matrices)
        Improves graphs of all tasks, bool arrays of shape (k, n, n).
    rng : numpy.random.Generator
    budget : Budget
    n_starts : int or None
        Orders to start from; as in `starts_of`.
    iterations : int
        As in `search`.
    report : callable (done, total, score), default=None
        Called after every start.

    Returns
    -------
    bool array of shape (k, n, n), or None
        Adjacency of every task; None where required arcs leave no order that serves all.
    """
    n_starts = starts_of(len(graph), n_starts)
    walk = _Walk(states[0].scores, [state.task for state in states], shared, rng)
    tolerance = shared.tolerance[0]
    # Families of these graphs are remembered as they are: each task's must be legal there.
    required = np.stack([state.task.required for state in states])
    permitted = np.stack([state.task.permitted for state in states])
    given = (by_child(graph) & permitted) | required
    best, best_score = None, -np.inf
    # What polishing has made of graphs seen before, and the most that it has gained so far.
    known, most = {}, 0.0
    with states[0].scores.scratch() as scratch:
        if not walk.has_order(scratch, required):
            return None
        for start in range(n_starts):
            if start and budget.spent(scratch.counters[ASKED]):
                break
            own = required if start or not walk.has_order(scratch, given) else given
            score, waited = -np.inf, -1
            while waited < iterations and not budget.spent(scratch.counters[ASKED]):
                raw = walk.improve(scratch, own, MOST_MOVES if score > -np.inf else 0, budget)
                key = walk.adjacency.tobytes()
                if key not in known:
                    if raw + 2 * most < score:
                        waited += 1
                        continue
                    known[key] = polish(by_child(walk.adjacency))
                    most = max(most, known[key][0] - raw)
                reached, polished = known[key]
                waited = 0 if reached > score + tolerance else waited + 1
                if reached < score - tolerance:
                    continue
                score = max(score, reached)
                # The tasks may by now differ in direction so that no order serves them all.
                own = by_child(polished)
                if not walk.has_order(scratch, own):
                    own = walk.adjacency.copy()
                if score > best_score + tolerance:
                    best, best_score = by_child(polished), score
            if report is not None:
                report(start + 1, n_starts, best_score)
    return None if best is None else by_child(best)


class _Walk:
    """The memory of a search over orders.

    Attributes
    ----------
    adjacency : bool array of shape (k, n, n)
        [task, child, parent] of the graphs that the latest order stands for.
    random : uint64 array of shape (1,)
        State of the random numbers, see `changes.draw`.
    """

    def __init__(self, scores, tasks, shared, rng):
        n = scores.n_variables
        self._scores, self._shared = scores, shared
        # Kept, since kernels see addresses only.
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
    def matters(self):
        """[child, parent] what has gained in some family, bool array of shape (n, n)."""
        return self._tree.matters

    def improve(self, scratch, graphs, most_moves, budget):
        """Improve a random order of given graphs, up to so many variables displaced; its score."""
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

    def _of_kernels(self, scratch):
        """What the kernels that improve and read an order begin with."""
        return (
            *(self.engine, scratch.table, self._tables),
            *(self._shared.table, self._tree.table, self._walk.table),
        )

    def has_order(self, scratch, graphs):
        """Whether there is an order in which all arcs of all graphs point forwards."""
        return orders.draw_extension(
            graphs,
            self._shared.before,
            scratch.waiting,
            self._walk.first,
            self._walk.children,
            self._walk.order,
            self.random,
        )
