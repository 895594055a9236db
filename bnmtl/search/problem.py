"""What is searched: one task's score, prior and constraints, and several tasks on one index."""

import contextlib
import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np

from bnmtl.errors import InputError
from bnmtl.graphs import from_adjacency
from bnmtl.scores import BoundScore
from bnmtl.search.constraints import Constraints, active_variables
from bnmtl.search.graph_state import GraphState


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
        arc_terms = _arc_terms(structure_prior, task, active)
        alike = own_prior is structure_prior
        return cls(
            name=task.name,
            variables=task.variables,
            active=active,
            scores=scores,
            constraints=constraints.among(active),
            arc_terms=arc_terms,
            rows=hashlib.blake2b(task.codes.tobytes(), digest_size=16).digest(),
            own_terms=arc_terms if alike else _arc_terms(own_prior, task, active),
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
        if self.own_terms is self.arc_terms:
            return self
        return replace(self, arc_terms=self.own_terms)

    @cached_property
    def identity(self):
        """A hash of all that its search depends on besides how, and from where, it is made."""
        (s,), constraints = self.scores.tasks, self.constraints
        words = self.name, self.variables, self.scores.bound.settings(s), constraints.max_parents
        found = hashlib.blake2b(self.rows + repr(words).encode(), digest_size=16)
        for array in (self.odds, constraints.permitted, constraints.required):
            found.update(array.tobytes())
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


class NoCommonGraph(InputError):
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

        def refuse(found, **details):
            rule, remedy = "must allow a single graph for all tasks", "take one of the demands back"
            raise NoCommonGraph("required", rule, found=found, remedies=remedy, **details)

        for clash in np.argwhere(required & ~permitted):
            a, b = (self.variables[at] for at in clash)
            refuse("one task demands {a!s} -> {b!s}, which another cannot have", a=a, b=b)
        for crowded in np.flatnonzero(required.sum(axis=0) > limit):
            found = "{child} has more parents than {max_parents} allows, {most}"
            refuse(found, child=self.variables[crowded], most=limit)
        with contextlib.suppress(nx.NetworkXNoCycle):
            cycle = [tail for tail, _ in nx.find_cycle(from_adjacency(required, self.variables))]
            path = " -> ".join([*cycle, cycle[0]])
            refuse("together the tasks' arcs close the cycle {path!s}", path=path)

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
