"""Greedy search over configurations of tasks that may share tables."""

import math
from functools import cache

import numpy as np

from bnmtl._kernels import takers as kernels
from bnmtl._kernels._jit import Arrays
from bnmtl._kernels.groups import MOST_EXACT
from bnmtl.search.configurations import ConfigurationSearch
from bnmtl.search.graph_state import by_child


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
        engine, memory = self._scores.engine.table, self._takers().table
        with self._scores.scratch() as scratch:
            children = range(len(self.problem.variables))
            return sum(
                kernels.evidence_of(engine, scratch.table, memory, self.dags["held"], child)
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
        memory = self._takers()
        if not len(memory.worth):
            # No bound is known.
            optimistic[:i, i] = optimistic[i, i + 1 :] = np.inf
            return
        with self._scores.scratch() as scratch:
            kernels.refresh_child(
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
        may, required = self._takers().may[s, child], self.problem.constraints[s].required[:, child]
        engine = self._scores.engine
        return (
            not (chosen & ~may).any()
            and not (required & ~chosen).any()
            and len(parents) <= self._most_parents[s]
            and engine.arities[[child, *parents]].prod(dtype=float) <= engine.most_cells[s]
        )

    def _takers(self):
        """Memory of the kernels."""
        if self._memory is None:
            odds = np.stack([present - absent for present, absent in self.arc_terms])
            required = by_child(np.stack([one.required for one in self.problem.constraints]))
            self._memory = Arrays(
                kernels.TAKERS,
                **kernels.new_takers(
                    self.permitted | required,
                    by_child(odds),
                    1 << len(self.states) if len(self.states) <= MOST_EXACT else 0,
                ),
            )
        return self._memory

    def _solved_under(self, i, j, members, coupling):
        """`solve_pair` for a coupling; None is a coupling of 0."""
        # The values of sets of takers are written there.
        self.look_at_pairs()
        gains = self._gains(i, j, members)
        key = (gains.tobytes(), self._versions[i], self._versions[j], coupling is None)
        if self._solved.get((i, j), (None,))[0] != key:
            solve = self._best_of_all if len(self._memory.worth) else self._best_of_some
            self._solved[i, j] = (key, *solve(i, j, members, gains, coupling))
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
        value = kernels.best_joint_states(
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
            total += kernels.worth_of(
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
