"""What is searched: one task's score, prior and constraints, and several tasks on one index."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bnmtl._kernels import trees
from bnmtl._kernels._jit import Arrays
from bnmtl.graphs import check_dag, from_adjacency
from bnmtl.priors.coupling import CouplingPrior, coupling_of
from bnmtl.priors.states import EditCoupling, PairedCoupling
from bnmtl.scores import BoundScore
from bnmtl.search.constraints import Constraints, active_variables
from bnmtl.search.graph_state import GraphState
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
    rows : bytes
        A hash of the task's rows.
    own_terms : pair of float arrays of shape (n, n)
        As ``arc_terms``, where the task is learned by itself.
    """

    name: str
    variables: tuple
    active: np.ndarray
    scores: BoundScore
    constraints: Constraints
    arc_terms: tuple
    rows: bytes
    own_terms: tuple

    @classmethod
    def of(cls, task, scores, constraints, structure_prior, own_prior):
        """The problem of a task under a bound score and structure priors (None is uniform).

        The constraints may be of more rows: arcs of what is constant in these are left out of the
        search, the required ones excepted.
        """
        active = active_variables(task)
        return cls(
            name=task.name,
            variables=task.variables,
            active=active,
            scores=scores,
            constraints=constraints.among(active),
            arc_terms=_arc_terms(structure_prior, task, active),
            rows=hashlib.blake2b(task.codes.tobytes(), digest_size=16).digest(),
            own_terms=_arc_terms(own_prior, task, active),
        )

    @classmethod
    def of_all(cls, tasks, score, constraints, structure_priors=None, own_priors=None, **limits):
        """The problems of several tasks, which share the rows and the cache of one bound score.

        Parameters
        ----------
        tasks : mapping name -> Task
        score : Score
        constraints : mapping name -> Constraints
        structure_priors : mapping name -> structure prior or None, default=None
        own_priors : mapping name -> structure prior or None, default=None
            Of the tasks learned by themselves; None takes ``structure_priors``.
        **limits
            As in `BoundTasks`.
        """
        bound = score.bind_all(list(tasks.values()), **limits)
        priors = {} if structure_priors is None else structure_priors
        own = priors if own_priors is None else own_priors
        return [
            cls.of(task, bound.of(s), constraints[name], priors.get(name), own.get(name))
            for s, (name, task) in enumerate(tasks.items())
        ]

    def by_itself(self):
        """This task under the structure prior that it has when it is learned by itself."""
        pairs = zip(self.arc_terms, self.own_terms, strict=True)
        if all(np.array_equal(terms, own) for terms, own in pairs):
            return self
        return replace(self, arc_terms=self.own_terms)

    @cached_property
    def identity(self):
        """A hash of what its search depends on besides score and constraints: rows and prior."""
        found = hashlib.blake2b(self.rows, digest_size=16)
        found.update(self.odds.tobytes())
        return found.digest()

    @property
    def odds(self):
        """Log prior of each arc less log prior of its absence."""
        return self.arc_terms[0] - self.arc_terms[1]

    def state(self, matrix, ties):
        """This task's graph under search, by itself."""
        return GraphState(self.scores, self.constraints, ties, matrix, self.odds)

    def log_posterior(self, matrix):
        """Score of a graph plus its log structure prior, without a constant."""
        return self.scores.score(matrix) + float(np.where(matrix, *self.arc_terms).sum())


def _arc_terms(prior, task, active):
    """Log structure prior of each ordered pair of a task, 0 where one of the two is constant."""
    n = len(active)
    if prior is None:
        return np.zeros((n, n)), np.zeros((n, n))
    part = np.outer(active, active)
    present, absent = prior.arc_terms(task.variables)
    return part * present, part * absent


class NoCommonGraph(ValueError):
    """What the tasks demand of their arcs cannot be had in one graph."""


class JointProblem:
    """Several tasks on the index of the union of their variables.

    Parameters
    ----------
    tasks : list of TaskProblem
        Made by `TaskProblem.of_all`.

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

    @property
    def shares_tables(self):
        """Whether tasks may have tables in common."""
        return len(self.tasks) > 1 and self.tasks[0].scores.bound.shares_tables

    def scores(self, members, shares_tables=True):
        """The bound scores of some tasks on the union index: added up, or, where tasks may have
        tables in common and ``shares_tables``, the evidence of them together."""
        bound = self.tasks[0].scores.bound
        indices = [self.tasks[s].scores.tasks[0] for s in members]
        usable = np.stack([self.takes_part[s] | self.constraints[s].required for s in members])
        return bound.of_all(indices, usable, shares_tables)

    def spread(self, matrices):
        """Adjacency matrices over the tasks' own variables, on the union index."""
        return np.stack([self._spread(s, matrix) for s, matrix in enumerate(matrices)])

    def cut(self, matrices):
        """Adjacency matrices on the union index, each on its task's own."""
        pairs = zip(matrices, self.positions, strict=True)
        return [matrix[np.ix_(at, at)] for matrix, at in pairs]

    def restrict(self, s, matrix):
        """A graph on the union index cut to the pairs that take part in task s, on its index."""
        kept = (matrix & self.takes_part[s]) | self.constraints[s].required
        return kept[np.ix_(self.positions[s], self.positions[s])]

    def identical(self, shares_tables=True):
        """The search for one graph: constraints of all tasks and the mean of their prior terms.

        Parameters
        ----------
        shares_tables : bool, default=True
            As in `scores`.

        Returns
        -------
        scores : BoundScore
        constraints : Constraints
        arc_terms : list of pairs of float arrays of shape (n, n)
            Each task's share of the prior, arc present and arc absent.

        Raises
        ------
        NoCommonGraph
            If the tasks' demands contradict one another.
        """
        part = self.takes_part
        permits = np.stack([one.permitted for one in self.constraints])
        permitted = part.any(axis=0) & (permits | ~part).all(axis=0)
        required = np.stack([one.required & part[s] for s, one in enumerate(self.constraints)])
        required = required.any(axis=0)
        limit = min(one.max_parents for one in self.constraints)
        self._check_common(permitted, required, limit)
        shared = np.maximum(part.sum(axis=0), 1)
        terms = [tuple(side / shared for side in own) for own in self.arc_terms]
        scores = self.scores(range(len(self.tasks)), shares_tables)
        return scores, Constraints(permitted, required, limit), terms

    def _check_common(self, permitted, required, limit):
        """Raise `NoCommonGraph` where the tasks' demands contradict one another."""
        advice = "so no single graph serves all tasks; take one of the demands back"
        clash = np.argwhere(required & ~permitted)
        if len(clash):
            a, b = (self.variables[at] for at in clash[0])
            raise NoCommonGraph(
                f"The arc {a} -> {b} is `required` in one task and cannot be in another, {advice}."
            )
        crowded = np.flatnonzero(required.sum(axis=0) > limit)
        if len(crowded):
            raise NoCommonGraph(
                f"The tasks' `required` arcs give {self.variables[crowded[0]]} more parents than "
                f"`max_parents`={limit}, {advice}."
            )
        try:
            check_dag(from_adjacency(required, self.variables), "required")
        except ValueError as error:
            raise NoCommonGraph(f"The tasks' `required` arcs close a cycle: {error}") from None

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
        self.builtin = isinstance(prior, CouplingPrior)
        self.prior = prior.resolved() if self.builtin else prior
        self._problem = problem
        self._made = {}
        self._listed = self.prior.pair_penalties() if self.builtin else {}

    def of(self, i, j):
        """Tasks that have the pair (indices) and their coupling, i -> j being state +1."""
        members = np.flatnonzero(self._problem.takes_part[:, i, j])
        pair = (self._problem.variables[i], self._problem.variables[j])
        key = self._key(members, pair)
        if key not in self._made:
            self._made[key] = (members, self._coupling(members, pair))
        return self._made[key]

    @cached_property
    def coupled(self):
        """Whether two or more tasks have a pair i < j, bool array of shape (n, n)."""
        return np.triu(self._problem.takes_part.sum(axis=0) > 1, 1)

    @cached_property
    def pairs(self):
        """Whether any task has a pair i < j, bool array of shape (n, n)."""
        return np.triu(self._problem.takes_part.any(axis=0), 1)

    @cached_property
    def kinds(self):
        """A number for every pair, int array of shape (n, n): pairs of one number are alike."""
        part = self._problem.takes_part
        n = part.shape[1]
        if not self.builtin:
            return np.arange(n * n).reshape(n, n)
        # Of bytes that hold eight tasks each: there are many pairs to sort.
        packed = np.packbits(part.reshape(len(part), -1), axis=0)
        order = np.lexsort(packed[::-1])
        differs = (packed[:, order[1:]] != packed[:, order[:-1]]).any(axis=0)
        kinds = np.empty(n * n, dtype=np.int64)
        kinds[order] = np.append(0, np.cumsum(differs))
        kinds = kinds.reshape(n, n)
        index = {variable: at for at, variable in enumerate(self._problem.variables)}
        for number, pair in enumerate(self._listed):
            if pair <= index.keys():
                i, j = (index[variable] for variable in pair)
                kinds[i, j] = kinds[j, i] = n * n + number
        return kinds

    def alike(self, pairs):
        """Those of one kind among given pairs, bool array of shape (n, n), as int arrays (m, 2)."""
        found, kinds = np.argwhere(pairs), self.kinds[pairs]
        order = np.argsort(kinds, kind="stable")
        ends = np.flatnonzero(np.diff(kinds[order])) + 1
        return np.split(found[order], ends) if len(found) else []

    def shared(self, tolerance):
        """What a search over orders that the tasks share needs to know.

        Parameters
        ----------
        tolerance : float

        Returns
        -------
        Arrays or None
            As in `trees.SHARED`; None where the coupling depends on which tasks have the arc and
            not only on how many.
        """
        if not self.builtin or self.prior.by_task():
            return None
        part = self._problem.takes_part
        counts = part.sum(axis=0)
        log_penalty = np.zeros(counts.shape)
        coupling = np.array([trees.PAIRED, 0.0, 0.0])
        # Pairs that as many tasks have are coupled alike, but for those listed.
        listed = np.zeros(counts.shape, dtype=bool)
        index = {variable: at for at, variable in enumerate(self._problem.variables)}
        for pair in self._listed:
            if pair <= index.keys():
                i, j = (index[variable] for variable in pair)
                listed[i, j] = listed[j, i] = True
        alike = [(counts == k) & ~listed for k in np.unique(counts[counts > 1])]
        for pairs in alike:
            if pairs.any():
                _, one = self.of(*np.argwhere(pairs)[0].tolist())
                log_penalty[pairs] = one.log_penalty
        for i, j in np.argwhere(np.triu(listed & (counts > 1))).tolist():
            _, one = self.of(i, j)
            log_penalty[i, j] = log_penalty[j, i] = one.log_penalty
        if (counts > 1).any() and isinstance(one, EditCoupling):
            coupling = np.array([trees.EDIT, one.costs[1, 2], one.costs[2, 1]])
        required = np.stack([one.required for one in self._problem.constraints]).any(axis=0)
        return Arrays(
            trees.SHARED,
            before=np.ascontiguousarray(required.T),
            together=part,
            log_penalty=log_penalty,
            coupling=coupling,
            tolerance=np.array([tolerance]),
        )

    def check_agreement(self):
        """Raise ValueError where demands on arcs rule out what a penalty of 1 asks for."""
        required = np.stack([one.required for one in self._problem.constraints]).any(axis=0)
        for i, j in np.argwhere(np.triu(required | required.T, 1)).tolist():
            members, coupling = self.of(i, j)
            gains = np.full((len(members), 3), -np.inf)
            for at, s in enumerate(members.tolist()):
                own = self._problem.constraints[s]
                forward, backward = own.required[i, j], own.required[j, i]
                allowed = (
                    own.permitted[j, i] or backward,
                    not (forward or backward),
                    own.permitted[i, j] or forward,
                )
                gains[at, np.array(allowed)] = 0.0
            if solve(gains, coupling)[1] == -np.inf:
                a, b = self._problem.variables[i], self._problem.variables[j]
                raise NoCommonGraph(
                    f"`required` and `forbidden` give tasks different arcs between {a} and {b}, "
                    "where a penalty of 1 demands that they agree; take one of the demands back."
                )

    @cached_property
    def weights(self):
        """Exponents of the structure priors, float array of shape (k, n, n)."""
        takes_part = self._problem.takes_part
        weights = np.zeros(takes_part.shape)
        for pairs in self.alike(self.pairs):
            i, j = pairs[0]
            members = np.flatnonzero(takes_part[:, i, j])
            pair = (self._problem.variables[i], self._problem.variables[j])
            own = self._weights(pair, [self._problem.names[s] for s in members])
            rows, columns = pairs.T
            weights[members[:, None], rows, columns] = np.reshape(own, (-1, 1))
            weights[members[:, None], columns, rows] = np.reshape(own, (-1, 1))
        return weights

    def _coupling(self, members, pair):
        """A pair that fewer than two tasks have is not coupled."""
        if len(members) < 2:
            return PairedCoupling(0.0, 2.0)
        names = [self._problem.names[s] for s in members]
        return coupling_of(self.prior, len(members), pair, names)

    def _weights(self, pair, names):
        if len(names) > 1 and hasattr(self.prior, "structure_weights"):
            return self.prior.structure_weights(pair, names)
        return np.ones(len(names))

    def _key(self, members, pair):
        """Pairs with the same key have the same coupling."""
        if self.builtin:
            return members.tobytes(), self._listed.get(frozenset(pair))
        return members.tobytes(), pair
