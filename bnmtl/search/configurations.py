"""Greedy search over configurations: one pair of variables at a time, in all tasks at once."""

import heapq
import math
import weakref

import numpy as np

from bnmtl._kernels import coupling as kernels
from bnmtl.search.budget import Budget
from bnmtl.search.graph_state import GraphState, by_child, new_dags, one_of
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
        self.permitted = by_child(np.stack([one.permitted for one in problem.constraints]))
        self.may_remove = np.stack([state.may_remove for state in self.states])
        self._most_parents = np.array([one.max_parents for one in problem.constraints])
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
        kernels.optimistic_gains(
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
        kernels.gather_gains(
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
        return self.winner([one for one in solved if one[0] > -math.inf])

    def winner(self, solved):
        """The move with the largest improvement; ties go to the smallest key."""
        if not solved:
            return None
        tied = [solved[at] for at in self.ties.best([one[0] for one in solved])]
        _, members, states, i, j = min(tied, key=lambda one: self.ties.keys[one[3], one[4]])
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
        solved = [one for one in solved if one[0] > tolerance]
        best = max((one[0] for one in solved), default=tolerance)
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
