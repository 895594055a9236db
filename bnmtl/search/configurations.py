"""Greedy search over configurations: one pair of variables at a time, in all tasks at once.

The greedy search over configurations changes one pair of variables in all tasks; this changes all
pairs of one task. Given the other tasks, the coupling is a sum over pairs of a value for each state
in the task, that is, log odds for each arc, so any search over graphs can use it. The two searches
alternate until neither gains.
"""

import heapq
import math
import weakref
from dataclasses import replace
from functools import cache

import numpy as np

from bnmtl._kernels import coupling as coupling_kernels
from bnmtl._kernels import task_sets
from bnmtl._kernels._jit import Arrays
from bnmtl._kernels.groups import MOST_EXACT
from bnmtl.search.graph_state import Budget, GraphState, by_child, new_dags, one_of
from bnmtl.search.neighborhood import solve, value_of


class ConfigurationSearch:
    """A configuration under search (Niculescu-Mizil 2008, sections 2.3.2 and 2.3.3).

    A neighbor changes the states of one pair of variables in all tasks at once. Each step moves to
    the best neighbor; configurations are compared by the number of pairs with a coupling of -inf,
    then by the rest of the log posterior.

    Parameters
    ----------
    problem : JointProblem
    couplings : Couplings
    ties : Ties
        Over ``problem.variables``.
    matrices : bool array of shape (k, n, n)
        Adjacency matrices to start from, on the union index.
    """

    def __init__(self, problem, couplings, ties, matrices):
        self.problem = problem
        self.couplings = couplings
        self.ties = ties
        k, n = len(problem.tasks), len(problem.variables)
        weights = self._structure_weights()
        self.arc_terms = [
            tuple(weights[s] * terms for terms in problem.arc_terms[s]) for s in range(k)
        ]
        self._absent = np.array([absent.sum() for _, absent in self.arc_terms])
        self.dags = new_dags(k, n)
        self.states = [
            GraphState(
                problem.scores([s]),
                problem.constraints[s],
                ties,
                matrices[s],
                self.arc_terms[s][0] - self.arc_terms[s][1],
                one_of(self.dags, s),
            )
            for s in range(k)
        ]
        self.permitted = by_child(np.stack([limits.permitted for limits in problem.constraints]))
        self.may_remove = np.stack([state.may_remove for state in self.states])
        self._most_parents = np.array([limits.max_parents for limits in problem.constraints])
        self.log_couplings = np.zeros((n, n))
        self.violated = set()
        self._solved = {}
        self._read_couplings()
        # Created at the first step, because not every configuration is searched from.
        self._queue = None

    def reset(self, matrices):
        """Start from other matrices; unchanged families are not scored again."""
        for state, matrix in zip(self.states, matrices, strict=True):
            state.asked = 0
            state.reset(matrix)
        self.log_couplings[:] = 0.0
        self.violated.clear()
        self._read_couplings()
        self._queue = None

    @property
    def adjacency(self):
        """[s, a, b] is true for an arc a -> b in task s; a view."""
        return np.swapaxes(self.dags["held"], 1, 2)

    @property
    def score(self):
        """(number of pairs with a coupling of -inf, log posterior of the rest)."""
        return len(self.violated), float(self.task_scores().sum() + self.log_couplings.sum())

    def task_scores(self):
        """Score plus weighted log structure prior of each task, float array of shape (k,)."""
        return np.array([state.score for state in self.states]) + self._absent

    @property
    def asked(self):
        """Number of requested local scores."""
        return sum(state.asked for state in self.states)

    def run(self, budget=None, report=None):
        """Take steps until none improves or the budget is spent.

        ``report(steps, None, score)`` is called after each.
        """
        budget = Budget() if budget is None else budget
        steps = 0
        while not budget.spent(self.asked) and self.step():
            steps += 1
            if report is not None:
                report(steps, None, self.score[1])

    def step(self):
        """Move to the best neighbor; return False if none is better."""
        self.look_at_pairs()
        move = self._best_repair() or self.best_move()
        if move is None:
            return False
        self.apply(*move)
        return True

    def best_move(self):
        """The move that improves the score most; None if none improves it."""
        self.look_at_pairs()
        return self._queue.best_move()

    def look_at_pairs(self):
        """Compute the possible gains of all pairs, unless they are known."""
        if self._queue is None:
            self._queue = PairQueue(self)

    def solve_pair(self, i, j):
        """Best states of one pair: (improvement, the finite part if violated; members; states)."""
        members, coupling = self.couplings.of(i, j)
        gains = self._gains(i, j, members)
        key = gains.tobytes()
        if self._solved.get((i, j), (None,))[0] != key:
            states, value = solve(self.ties.oriented(gains, i, j), coupling)
            if value > -math.inf:
                value = value_of(states, gains, coupling)
            self._solved[i, j] = (key, states, value)
        _, states, value = self._solved[i, j]
        return value - self.log_couplings[i, j], members, states

    def improve_violated(self, i, j):
        """Best states of a pair that cannot agree now: the best of every task alone."""
        members, _ = self.couplings.of(i, j)
        gains = self._gains(i, j, members)
        best = self.ties.oriented(gains, i, j).argmax(axis=1)
        improvement = float(gains[np.arange(len(gains)), best].sum())
        return improvement, members, (best - 1).astype(np.int8)

    def write_optimistic_gains(self, i, optimistic):
        """Write upper bounds of the gains of pairs with variable i, above the diagonal."""
        coupling_kernels.optimistic_gains(
            self.dags["gains"],
            self.dags["held"],
            self.permitted,
            self.may_remove,
            self.problem.takes_part,
            i,
            optimistic,
        )

    def given_the_others(self, s):
        """The score of task s given the other graphs, and their families, as in `GraphState`."""
        return self.problem.scores([s]), None

    def apply(self, i, j, members, states):
        """Set the states of a pair."""
        for s, state in zip(members.tolist(), states.tolist(), strict=True):
            self.states[s].set_pair(i, j, state)
        self._read_coupling(i, j)
        if self._queue is not None:
            self._queue.refresh(i, j)

    def _structure_weights(self):
        terms = self.problem.arc_terms
        if any(np.any(side) for pair in terms for side in pair):
            return self.couplings.weights
        return np.ones(len(terms))

    def _gains(self, i, j, members):
        gains = np.empty((len(members), 3))
        coupling_kernels.gather_gains(
            self.dags["held"],
            self.dags["gains"],
            self.dags["ancestors"],
            self.dags["parents"],
            self.dags["n_parents"],
            self.permitted,
            self.may_remove,
            self._most_parents,
            members,
            i,
            j,
            gains,
        )
        return gains

    def _best_repair(self):
        """The best move that gives a violated pair a finite coupling; None if there is none."""
        solved = [(*self.solve_pair(i, j), i, j) for i, j in sorted(self.violated)]
        return self.winner([move for move in solved if move[0] > -math.inf])

    def winner(self, solved):
        """The move with the largest improvement; ties go to the smallest key."""
        if not solved:
            return None
        tied = [solved[at] for at in self.ties.best([move[0] for move in solved])]
        _, members, states, i, j = min(tied, key=lambda move: self.ties.keys[move[3], move[4]])
        return i, j, members, states

    def _read_couplings(self):
        pairs = self.couplings.coupled
        if self.couplings.builtin:
            # Without arcs, built-in couplings are 0; custom ones may have any value.
            with_arcs = self.adjacency.any(axis=0)
            pairs = pairs & (with_arcs | with_arcs.T)
        for i, j in np.argwhere(pairs).tolist():
            self._read_coupling(i, j)

    def _read_coupling(self, i, j):
        members, coupling = self.couplings.of(i, j)
        states = self.adjacency[members, i, j].astype(np.int8) - self.adjacency[members, j, i]
        value = coupling.log_coupling(states)
        if value == -math.inf:
            self.violated.add((i, j))
        else:
            self.violated.discard((i, j))
        self.log_couplings[i, j] = 0.0 if value == -math.inf else value


class PairQueue:
    """Pairs by their optimistic improvement: the gain of the tasks if every state were legal.

    It is an upper bound of the true improvement and changes only with the families of the two
    variables, so most pairs are never solved.
    """

    def __init__(self, search):
        # The search owns the queue; in a cycle, its tables would stay until garbage is collected.
        self._search = weakref.proxy(search)
        n = len(search.problem.variables)
        self._optimistic = np.zeros((n, n))
        self._version = np.zeros((n, n), dtype=np.int64)
        for i in range(n):
            self._compute(i)
        improvement = np.triu(self._improvement(), 1)
        self._heap = [
            (-improvement[i, j], i, j, 0)
            for i, j in np.argwhere(improvement > search.ties.tolerance).tolist()
        ]
        heapq.heapify(self._heap)

    def refresh(self, i, j):
        """Update after a change of the pair's states and thus of the families of i and j."""
        self._compute(i)
        self._compute(j)
        everything = range(len(self._optimistic))
        touched = [(min(i, w), max(i, w)) for w in everything if w != i]
        touched += [(min(j, w), max(j, w)) for w in everything if w not in (i, j)]
        low, high = np.array(touched).T
        self._version[low, high] += 1
        improvement = self._improvement()[low, high]
        for at in np.flatnonzero(improvement > self._search.ties.tolerance).tolist():
            a, b = touched[at]
            heapq.heappush(self._heap, (-improvement[at], a, b, int(self._version[a, b])))

    def best_move(self):
        """The best move among the pairs that can win; None if none exceeds the tolerance."""
        tolerance = self._search.ties.tolerance
        solved = [(*self._search.improve_violated(i, j), i, j) for i, j in self._violated()]
        solved = [move for move in solved if move[0] > tolerance]
        best = max((move[0] for move in solved), default=tolerance)
        kept = []
        while self._heap and -self._heap[0][0] >= best - tolerance:
            entry = heapq.heappop(self._heap)
            _, i, j, version = entry
            if version != self._version[i, j]:
                continue
            kept.append(entry)
            if (i, j) in self._search.violated:
                continue
            solution = self._search.solve_pair(i, j)
            best = max(best, solution[0])
            if solution[0] > tolerance:
                solved.append((*solution, i, j))
        for entry in kept:
            heapq.heappush(self._heap, entry)
        return self._search.winner(solved)

    def _violated(self):
        return sorted(self._search.violated)

    def _improvement(self):
        """Optimistic improvements; valid above the diagonal, where the couplings are stored."""
        return self._optimistic - self._search.log_couplings

    def _compute(self, i):
        """Optimistic gains of all pairs with variable i."""
        self._search.write_optimistic_gains(i, self._optimistic)


class SharedConfigurationSearch(ConfigurationSearch):
    """A configuration scored by the joint evidence of families over the tasks with them.

    The gain of an arc in one task depends on the other tasks, so the best joint states of a pair
    are found by enumeration. For more than `MOST_EXACT` tasks only some are tried: those in which
    all tasks agree, and those in which the 1, 2, 4, 8, ... tasks that gain most alone have an arc
    and the others have none.

    Parameters
    ----------
    problem, couplings, ties, matrices
        As in `ConfigurationSearch`.
    """

    def __init__(self, problem, couplings, ties, matrices):
        self._memory, self._scores = None, problem.scores(range(len(problem.tasks)))
        self._has = self._scores.engine.code_at >= 0
        self._versions = np.zeros(len(problem.variables), np.int64)
        self._tables = {}
        super().__init__(problem, couplings, ties, matrices)

    @property
    def score(self):
        """(number of pairs with a coupling of -inf, log posterior of the rest)."""
        arcs = sum(
            float(terms[0][matrix].sum() + terms[1][~matrix].sum())
            for terms, matrix in zip(self.arc_terms, self.adjacency, strict=True)
        )
        return len(self.violated), self.evidence() + arcs + float(self.log_couplings.sum())

    def evidence(self):
        """Log evidence of the data of all tasks, given the graphs."""
        engine, memory = self._scores.engine.table, self._task_sets().table
        with self._scores.scratch() as scratch:
            children = range(len(self.problem.variables))
            return sum(
                task_sets.evidence_of(engine, scratch.table, memory, self.dags["held"], child)
                for child in children
            )

    def solve_pair(self, i, j):
        """Best states of one pair: (improvement, the finite part if violated; members; states)."""
        members, coupling = self.couplings.of(i, j)
        return self._solved_under(i, j, members, coupling)

    def improve_violated(self, i, j):
        """Best states of a pair that cannot agree now: without its coupling."""
        members, _ = self.couplings.of(i, j)
        return self._solved_under(i, j, members, None)

    def write_optimistic_gains(self, i, optimistic):
        """Write upper bounds of the gains of pairs with variable i, above the diagonal."""
        self._versions[i] += 1
        memory = self._task_sets()
        if not len(memory.worth):
            # No bound is known.
            optimistic[:i, i] = optimistic[i, i + 1 :] = np.inf
            return
        with self._scores.scratch() as scratch:
            task_sets.refresh_child(
                self._scores.engine.table, scratch.table, memory.table, self.dags["held"], i
            )
            self._scores.keep_up(scratch)
        gains = memory.gain[i] + memory.gain[:, i]
        optimistic[:i, i] = gains[:i]
        optimistic[i, i + 1 :] = gains[i + 1 :]

    def given_the_others(self, s):
        """The score of task s given the graphs of the other tasks, and their families.

        The value of a family in other tasks is the gain of its joint evidence by one more task.
        """
        held, held_here = self.dags["held"], self.dags["held"][s]
        families = np.repeat(held_here[None], len(held) - 1, axis=0)
        others, values = np.delete(np.arange(len(held)), s), []
        for child in np.flatnonzero(self._has[s]).tolist():
            having = {}
            for other in others[self._has[others, child]].tolist():
                having.setdefault(held[other, child].tobytes(), []).append(other)
            for at, tasks in enumerate(having.values()):
                parents = np.flatnonzero(held[tasks[0], child])
                if not self._may_have(s, child, parents):
                    continue
                families[at, child] = held[tasks[0], child]
                gain = self._scores.bound.evidence(child, parents, [*tasks, s])
                gain -= self._scores.bound.evidence(child, parents, tasks)
                values.append((child, parents, gain))
        return self.problem.scores([s]).given(values), families

    def _may_have(self, s, child, parents):
        """Whether a family meets the constraints of task s and is not too large for its rows."""
        chosen = np.zeros(len(self.problem.variables), dtype=bool)
        chosen[parents] = True
        may = self._task_sets().may[s, child]
        required = self.problem.constraints[s].required[:, child]
        engine = self._scores.engine
        return (
            not (chosen & ~may).any()
            and not (required & ~chosen).any()
            and len(parents) <= self._most_parents[s]
            and engine.arities[[child, *parents]].prod(dtype=float) <= engine.most_cells[s]
        )

    def _task_sets(self):
        """Memory of the kernels."""
        if self._memory is None:
            odds = np.stack([present - absent for present, absent in self.arc_terms])
            required = by_child(np.stack([limits.required for limits in self.problem.constraints]))
            self._memory = Arrays(
                task_sets.TASK_SETS,
                **task_sets.new_task_sets(
                    self.permitted | required,
                    by_child(odds),
                    1 << len(self.states) if len(self.states) <= MOST_EXACT else 0,
                ),
            )
        return self._memory

    def _solved_under(self, i, j, members, coupling):
        """`solve_pair` for a coupling; None is a coupling of 0."""
        # The values of sets of holders are written there.
        self.look_at_pairs()
        gains = self._gains(i, j, members)
        key = (gains.tobytes(), self._versions[i], self._versions[j], coupling is None)
        if self._solved.get((i, j), (None,))[0] != key:
            best_states = self._best_of_all if len(self._memory.worth) else self._best_of_some
            self._solved[i, j] = (key, *best_states(i, j, members, gains, coupling))
        _, states, value = self._solved[i, j]
        return value - self.log_couplings[i, j], members, states

    def _best_of_all(self, i, j, members, gains, coupling):
        """The best joint states of a pair, and their gain including the coupling."""
        worth, held = self._memory.worth, self.dags["held"]
        forward, backward = (
            int((held[:, b, a] << np.arange(len(held))).sum()) for a, b in ((i, j), (j, i))
        )
        everyone = int((1 << members).sum())
        states = np.zeros(len(members), np.int8)
        value = task_sets.best_joint_states(
            worth[j, i],
            worth[i, j],
            members,
            np.array([forward & ~everyone, backward & ~everyone], np.int64),
            gains > -np.inf,
            self._log_couplings(members, coupling),
            np.array([1, 2, 0] if self.ties.coins[i, j] else [1, 0, 2]),
            self.ties.tolerance,
            states,
        )
        if value > -math.inf:
            value -= worth[j, i, forward] + worth[i, j, backward]
        return states, value

    def _best_of_some(self, i, j, members, gains, coupling):
        """`_best_of_all` for many tasks."""
        best, best_value = np.zeros(len(members), np.int8), -math.inf
        held, allowed = self.dags["held"][members], gains > -np.inf
        now = held[:, j, i].astype(np.int8) - held[:, i, j]
        with self._scores.scratch() as scratch:
            before = self._worth_of_states(scratch, i, j, members, now)
            for states in _candidates(gains, allowed, now, self.ties.coins[i, j]):
                value = 0.0 if coupling is None else coupling.log_coupling(states)
                if value > -math.inf:
                    value += self._worth_of_states(scratch, i, j, members, states) - before
                if value > best_value + (self.ties.tolerance if best_value > -math.inf else 0.0):
                    best, best_value = states, value
            self._scores.keep_up(scratch)
        return best, best_value

    def _worth_of_states(self, scratch, i, j, members, states):
        """Joint evidence of the families of i and j if some tasks have these states."""
        held, total = self.dags["held"], 0.0
        for a, b, state in ((i, j, 1), (j, i, -1)):
            takes = held[:, b, a].copy()
            takes[members] = states == state
            total += task_sets.worth_of(
                self._scores.engine.table, scratch.table, self._memory.table, held, b, a, takes
            )
        return total

    def _log_couplings(self, members, coupling):
        """Log couplings of all joint states of a pair, indexed by their number in base 3."""
        if coupling is None:
            return np.zeros(3 ** len(members))
        # Equal pairs have one coupling object; custom couplings are new objects and not cached.
        if id(coupling) not in self._tables:
            table = coupling.log_couplings(_all_states(len(members)))
            if not self.couplings.builtin:
                return table
            # A reference to the coupling is kept so that its id stays unique.
            self._tables[id(coupling)] = coupling, table
        return self._tables[id(coupling)][1]


@cache
def _all_states(k):
    """All joint states of k tasks as rows, ordered by their number in base 3."""
    numbers = np.arange(3**k)
    return np.stack([numbers // 3**s % 3 - 1 for s in range(k)], axis=1).astype(np.int8)


def _candidates(gains, allowed, now, is_first):
    """Joint states of many tasks to try; earlier ones win ties.

    Parameters
    ----------
    gains : float array of shape (k, 3)
        Gain of each task alone for the states -1, 0 and 1.
    allowed : bool array of shape (k, 3)
    now : int8 array of shape (k,)
        The current states, kept by tasks for which the others are illegal.
    is_first : bool
        Whether 1 comes before -1.

    Yields
    ------
    int8 array of shape (k,)
    """
    rest = np.where(allowed[:, 1], 0, now).astype(np.int8)
    yield rest
    for state in (1, -1) if is_first else (-1, 1):
        may = np.flatnonzero(allowed[:, 1 + state])
        ranked = may[np.argsort(-(gains[may, 1 + state] - gains[may, 1]), kind="stable")]
        for size in sorted({*(1 << np.arange(len(may).bit_length())).tolist(), len(may)}):
            if 0 < size <= len(may):
                states = rest.copy()
                states[ranked[:size]] = state
                yield states


def improve(search, find, at, budget):
    """Search the graphs of the tasks in turn, each followed by the greedy search, until none gains.

    Parameters
    ----------
    search : ConfigurationSearch
        After its last step.
    find : callable (s, GraphState)
        Improves the graph of task s.
    at : callable (matrices) -> ConfigurationSearch
        Creates a search that starts there.
    budget : Budget
        Of each greedy search; after its deadline no further task is searched.

    Returns
    -------
    ConfigurationSearch
        The given one, or a better one.
    """
    s, in_vain = 0, 0
    while in_vain < len(search.states) and not search.violated and not budget.spent(0):
        state = given_the_others(search, s)
        before = state.adjacency.copy()
        find(s, state)
        in_vain += 1
        if (state.adjacency != before).any():
            matrices = search.adjacency.copy()
            matrices[s] = state.adjacency
            other = at(matrices)
            other.run(budget)
            (_, best), (violated, score) = search.score, other.score
            if not violated and score > best + search.ties.tolerance:
                search, in_vain = other, 1
        s = (s + 1) % len(search.states)
    return search


def given_the_others(search, s):
    """The graph state of task s, with the coupling to the other tasks as odds of its arcs.

    Pairs with a state excluded by a penalty of 1 are not changed.
    """
    odds = np.array(search.arc_terms[s][0] - search.arc_terms[s][1])
    constraints, matrix = search.problem.constraints[s], search.adjacency[s].copy()
    kept = np.zeros_like(matrix)
    others = np.delete(search.adjacency, s, axis=0).any(axis=0)
    others |= others.T
    coupled = search.couplings.coupled & search.problem.takes_part[s]
    for pairs in _alike(search.couplings, coupled, others):
        i, j = pairs[0]
        values = _values(search, s, i, j)
        rows, columns = pairs.T
        if np.isinf(values).any():
            kept[rows, columns] = kept[columns, rows] = True
            continue
        odds[rows, columns] += values[2] - values[1]
        odds[columns, rows] += values[0] - values[1]
    constraints = replace(
        constraints,
        permitted=constraints.permitted & (~kept | matrix),
        required=constraints.required | (kept & matrix),
    )
    scores, families = search.given_the_others(s)
    return GraphState(scores, constraints, search.ties, matrix, odds, families=families)


def _alike(couplings, coupled, others):
    """Groups of pairs with equal coupling to the other tasks, as int arrays (m, 2).

    If no other task has an arc, the coupling depends only on the kind of the pair.
    """
    yield from couplings.alike(coupled & ~others)
    for pair in np.argwhere(coupled & others):
        yield pair[None]


def _values(search, s, i, j):
    """Log coupling of a pair for each state -1, 0 and 1 of task s."""
    members, coupling = search.couplings.of(i, j)
    arcs = search.adjacency[members]
    states = arcs[:, i, j].astype(np.int8) - arcs[:, j, i]
    at = np.flatnonzero(members == s)
    values = np.zeros(3)
    for state in (-1, 0, 1):
        states[at] = state
        values[1 + state] = coupling.log_coupling(states)
    return values
