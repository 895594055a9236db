"""What is searched: one task's score, prior and constraints, and several tasks on one index."""

from dataclasses import dataclass

import numpy as np

from bnmtl.priors import CouplingPrior, coupling_of
from bnmtl.scores import BoundScore
from bnmtl.search.constraints import Constraints, active_variables
from bnmtl.search.graph_state import GraphState, UnionScores
from bnmtl.search.neighborhood import solve


@dataclass(frozen=True)
class TaskProblem:
    """One task as a search sees it; arrays are over the task's own n variables.

    Attributes
    ----------
    name : str
    variables : tuple of str
    active : bool array of shape (n,)
        Variables that take part in pairs.
    scores : BoundScore
    constraints : Constraints
    arc_terms : pair of float arrays of shape (n, n)
        Log structure prior of each ordered pair: arc present, arc absent.
    """

    name: str
    variables: tuple
    active: np.ndarray
    scores: BoundScore
    constraints: Constraints
    arc_terms: tuple

    @classmethod
    def of(cls, task, score, constraints, structure_prior=None):
        """Bind a score and a structure prior (None is uniform) to a task."""
        active = active_variables(task)
        n = len(active)
        present = absent = np.zeros((n, n))
        if structure_prior is not None:
            part = np.outer(active, active)
            present, absent = (part * terms for terms in structure_prior.arc_terms(task.variables))
        limit = constraints.max_parents if constraints.max_parents < n else None
        bound = score.bind(task, candidates=constraints.permitted, max_parents=limit)
        return cls(task.name, task.variables, active, bound, constraints, (present, absent))

    @property
    def odds(self):
        """Log prior of each arc less log prior of its absence."""
        return self.arc_terms[0] - self.arc_terms[1]

    def state(self, matrix):
        """This task's graph under search, by itself."""
        return GraphState(self.scores, self.constraints, matrix, self.odds)

    def log_posterior(self, matrix):
        """Score of a graph plus its log structure prior, without a constant."""
        return self.scores.score(matrix) + float(np.where(matrix, *self.arc_terms).sum())


class JointProblem:
    """Several tasks on the index of the union of their variables.

    Parameters
    ----------
    tasks : list of TaskProblem

    Attributes
    ----------
    names : tuple of str
    variables : tuple of str
        Sorted union.
    takes_part : bool array of shape (k, n, n)
        [s, i, j] true where task s has the pair, neither of the two being constant there.
    """

    def __init__(self, tasks):
        self.tasks = list(tasks)
        self.names = tuple(task.name for task in self.tasks)
        self.variables = tuple(sorted(set().union(*(task.variables for task in self.tasks))))
        index = {variable: at for at, variable in enumerate(self.variables)}
        self.positions = [np.array([index[v] for v in task.variables]) for task in self.tasks]
        n = len(self.variables)
        self.takes_part = np.stack(
            [
                self._spread(s, np.outer(task.active, task.active))
                for s, task in enumerate(self.tasks)
            ]
        )
        self.takes_part[:, np.arange(n), np.arange(n)] = False
        self.constraints = [self._union_constraints(s) for s in range(len(self.tasks))]
        self.arc_terms = [
            tuple(self._spread(s, terms) for terms in task.arc_terms)
            for s, task in enumerate(self.tasks)
        ]

    def scores(self, members):
        """The bound scores of some tasks added up on the union index."""
        return UnionScores(
            [self.tasks[s].scores for s in members],
            [self.positions[s] for s in members],
            [self.tasks[s].active for s in members],
            len(self.variables),
        )

    def spread(self, matrices):
        """Adjacency matrices over the tasks' own variables, on the union index."""
        return np.stack([self._spread(s, matrix) for s, matrix in enumerate(matrices)])

    def restrict(self, s, matrix):
        """A matrix on the union index cut to the pairs that take part in task s, on its index."""
        return (matrix & self.takes_part[s])[np.ix_(self.positions[s], self.positions[s])]

    def identical(self):
        """The search for one graph: constraints of all tasks and the mean of their prior terms.

        Returns
        -------
        scores : UnionScores
        constraints : Constraints
        arc_terms : pair of float arrays of shape (n, n)
        """
        part = self.takes_part
        permits = np.stack([one.permitted for one in self.constraints])
        permitted = part.any(axis=0) & (permits | ~part).all(axis=0)
        required = np.stack([one.required for one in self.constraints]).any(axis=0)
        clash = np.argwhere(required & ~permitted)
        if len(clash):
            a, b = (self.variables[at] for at in clash[0])
            raise ValueError(
                f"The arc {a} -> {b} is `required` in one task and cannot be in another, so no "
                "single graph serves all tasks; take one of the two demands back."
            )
        shared = np.maximum(part.sum(axis=0), 1)
        terms = tuple(
            np.stack([own[side] for own in self.arc_terms]).sum(axis=0) / shared for side in (0, 1)
        )
        limit = min(one.max_parents for one in self.constraints)
        return self.scores(range(len(self.tasks))), Constraints(permitted, required, limit), terms

    def _spread(self, s, matrix):
        n = len(self.variables)
        wide = np.zeros((n, n), dtype=matrix.dtype)
        wide[np.ix_(self.positions[s], self.positions[s])] = matrix
        return wide

    def _union_constraints(self, s):
        own = self.tasks[s].constraints
        limit = own.max_parents if own.max_parents < len(self.tasks[s].variables) else None
        return Constraints(
            self._spread(s, own.permitted),
            self._spread(s, own.required),
            len(self.variables) if limit is None else limit,
        )


class Couplings:
    """The coupling of every pair of variables of a joint problem, made once where pairs are alike.

    Parameters
    ----------
    prior : PairedPrior, EditPrior or a user's own
    problem : JointProblem
    """

    def __init__(self, prior, problem):
        self.prior = prior
        self._problem = problem
        self._made = {}
        self.builtin = isinstance(prior, CouplingPrior)
        if self.builtin:
            prior.check()
        self._listed = prior.pair_penalties() if self.builtin else {}

    def of(self, i, j):
        """Tasks that have the pair (indices) and their coupling, i -> j being state +1."""
        members = np.flatnonzero(self._problem.takes_part[:, i, j])
        pair = (self._problem.variables[i], self._problem.variables[j])
        key = self._key(members, pair)
        if key not in self._made:
            names = [self._problem.names[s] for s in members]
            coupling = coupling_of(self.prior, len(members), pair, names)
            self._made[key] = (members, coupling)
        return self._made[key]

    def check_agreement(self):
        """Raise ValueError where demands on arcs rule out what a penalty of 1 asks for."""
        required = np.stack([one.required for one in self._problem.constraints]).any(axis=0)
        for i, j in np.argwhere(np.triu(required | required.T, 1)).tolist():
            members, coupling = self.of(i, j)
            gains = np.full((len(members), 3), -np.inf)
            for at, s in enumerate(members.tolist()):
                own = self._problem.constraints[s]
                allowed = own.permitted[j, i], own.may_remove[i, j], own.permitted[i, j]
                gains[at, np.array(allowed)] = 0.0
            if solve(gains, coupling)[1] == -np.inf:
                a, b = self._problem.variables[i], self._problem.variables[j]
                raise ValueError(
                    f"`required` and `forbidden` give tasks different arcs between {a} and {b}, "
                    "where a penalty of 1 demands that they agree; take one of the demands back."
                )

    def weights(self):
        """Exponents of the structure priors, float array of shape (k, n, n)."""
        weights = np.zeros(self._problem.takes_part.shape)
        n = weights.shape[1]
        made = {}
        for i in range(n):
            for j in range(i + 1, n):
                members = np.flatnonzero(self._problem.takes_part[:, i, j])
                pair = (self._problem.variables[i], self._problem.variables[j])
                key = self._key(members, pair)
                if key not in made:
                    names = [self._problem.names[s] for s in members]
                    made[key] = self._weights(pair, names)
                weights[members, i, j] = weights[members, j, i] = made[key]
        return weights

    def _weights(self, pair, names):
        if hasattr(self.prior, "structure_weights"):
            return self.prior.structure_weights(pair, names)
        return np.ones(len(names))

    def _key(self, members, pair):
        """Pairs with the same key have the same coupling."""
        if self.builtin:
            return members.tobytes(), self._listed.get(frozenset(pair))
        return members.tobytes(), pair
