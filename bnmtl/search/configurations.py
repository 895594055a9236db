"""Greedy search over configurations: one pair of variables at a time, all tasks together."""

import heapq
import math

import numpy as np

from bnmtl._kernels import coupling as kernels
from bnmtl.search.graph_state import GraphState
from bnmtl.search.neighborhood import solve, value_of


class ConfigurationSearch:
    """A configuration under search (Niculescu-Mizil 2008, sections 2.3.2 and 2.3.3).

    A neighbor gives one pair of variables any legal states in all tasks at once. Each step moves to
    the best neighbor; configurations are compared by the number of pairs whose coupling is -inf,
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
        self.adjacency = np.zeros((k, n, n), dtype=bool)
        self.toggles = np.empty((k, n, n))
        self.states = [
            GraphState(
                problem.scores([s]),
                problem.constraints[s],
                matrices[s],
                self.arc_terms[s][0] - self.arc_terms[s][1],
                self.adjacency[s],
                self.toggles[s],
            )
            for s in range(k)
        ]
        self.permitted = np.stack([one.permitted for one in problem.constraints])
        self.may_remove = np.stack([state.may_remove for state in self.states])
        self.may_add = np.stack([state.may_add() for state in self.states])
        self.log_couplings = np.zeros((n, n))
        self.violated = set()
        self._read_couplings()
        self._queue = _PairQueue(self)

    @property
    def score(self):
        """(number of pairs whose coupling is -inf, log posterior of the rest)."""
        return len(self.violated), float(self.task_scores().sum() + self.log_couplings.sum())

    def task_scores(self):
        """Each task's own score and weighted log structure prior, float array of shape (k,)."""
        absent = [terms[1].sum() for terms in self.arc_terms]
        return np.array([state.score for state in self.states]) + absent

    def run(self, report=None):
        """Take steps until none improves; ``report(steps, None, score)`` is called after each."""
        steps = 0
        while self.step():
            steps += 1
            if report is not None:
                report(steps, None, self.score[1])

    def step(self):
        """Move to the best neighbor; false if none is better."""
        move = self._best_repair() or self._queue.best_move()
        if move is None:
            return False
        self.apply(*move)
        return True

    def solve_pair(self, i, j):
        """Best states of one pair: (improvement, the finite part if violated; members; states)."""
        members, coupling = self.couplings.of(i, j)
        gains = np.empty((len(members), 3))
        kernels.gather_gains(
            self.toggles, self.adjacency, self.may_add, self.may_remove, members, i, j, gains
        )
        states, value = solve(gains, coupling)
        if value > -math.inf:
            states = self._turned(states, value, gains, coupling, self.ties.coins[i, j])
        return value - self.log_couplings[i, j], members, states

    def apply(self, i, j, members, states):
        """Give the pair these states."""
        for s, state in zip(members.tolist(), states.tolist(), strict=True):
            if self.adjacency[s, i, j] - np.int8(self.adjacency[s, j, i]) != state:
                self.states[s].set_pair(i, j, state)
                self.may_add[s] = self.states[s].may_add()
        self._read_coupling(i, j)
        self._queue.refresh(i, j)

    def _structure_weights(self):
        terms = self.problem.arc_terms
        if any(np.any(side) for own in terms for side in own):
            return self.couplings.weights()
        return np.ones(len(terms))

    def _turned(self, states, value, gains, coupling, prefers_forward):
        """Of states that tie with their mirror image, the one that the pair's coin prefers."""
        mirrored = -states
        total = int(states.sum())
        if total == 0 or (total > 0) == prefers_forward:
            return states
        if value_of(mirrored, gains, coupling) >= value - self.ties.tolerance:
            return mirrored
        return states

    def _best_repair(self):
        """The best move that gives a violated pair a finite coupling, None if there is none."""
        solved = [(*self.solve_pair(i, j), i, j) for i, j in sorted(self.violated)]
        return self._winner([one for one in solved if one[0] > -math.inf])

    def _winner(self, solved):
        """The move with the largest improvement; the smallest key wins among ties."""
        if not solved:
            return None
        best = max(one[0] for one in solved)
        tied = [one for one in solved if one[0] >= best - self.ties.tolerance]
        _, members, states, i, j = min(tied, key=lambda one: self.ties.keys[one[3], one[4]])
        return i, j, members, states

    def _read_couplings(self):
        pairs = np.ones(self.log_couplings.shape, dtype=bool)
        if self.couplings.builtin:
            pairs = self.adjacency.any(axis=0)
            pairs |= pairs.T
        for i, j in np.argwhere(np.triu(pairs, 1)).tolist():
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


class _PairQueue:
    """Pairs by their optimistic improvement: what the tasks could gain if every state were legal.

    It bounds the true improvement from above and changes only with the families of the pair's two
    variables, so most pairs are never solved.
    """

    def __init__(self, search):
        self._search = search
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
        """Take in that the pair's states, and with them families of i and of j, have changed."""
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
        """The best move of the pairs that can win, None if none improves beyond the tolerance."""
        tolerance = self._search.ties.tolerance
        solved, kept, best = [], [], tolerance
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
        return self._search._winner(solved)

    def _improvement(self):
        """Optimistic improvements; meaningful above the diagonal, where the couplings are kept."""
        return self._optimistic - self._search.log_couplings

    def _compute(self, i):
        """Optimistic gains of all pairs that hold variable i."""
        search = self._search
        kernels.optimistic_gains(
            search.toggles,
            search.adjacency,
            search.permitted,
            search.may_remove,
            search.problem.takes_part,
            i,
            self._optimistic,
        )
