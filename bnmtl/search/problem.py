"""Search problems: score, prior and constraints of one task or several tasks."""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np

from bnmtl.errors import InputError, InputTypeError, check_whole, located
from bnmtl.graphs import check_dag, from_adjacency
from bnmtl.scores import BoundScore
from bnmtl.search.graph_state import GraphState
from bnmtl.wording import listed, type_of


@dataclass(frozen=True)
class Constraints:
    """Constraints on graphs of n variables.

    Attributes
    ----------
    permitted : bool array of shape (n, n)
        [a, b] is true if the arc a -> b is permitted.
    required : bool array of shape (n, n)
        [a, b] is true if the arc a -> b is required; then b -> a is not permitted.
    max_parents : int
    """

    permitted: np.ndarray
    required: np.ndarray
    max_parents: int

    @property
    def may_remove(self):
        """[a, b] is true if the pair does not need an arc; symmetric."""
        return ~(self.required | self.required.T)

    def among(self, active):
        """The same with only some active variables; required arcs are kept."""
        return replace(self, permitted=self.permitted & np.outer(active, active))

    def allowed_of(self, matrix):
        """The permitted arcs of a graph, and the required ones."""
        return (matrix & self.permitted) | self.required


def constraints_by_task(tasks, required, forbidden, tiers, max_parents):
    """Constraints of every task over its variables.

    Parameters
    ----------
    tasks : bnmtl.tasks.Tasks
    required, forbidden : collection of (parent, child), or mapping task -> such a collection
        One collection for all tasks applies to each task in which both variables exist and vary.
    tiers : list of lists of str, mapping task -> such a list, or None
        No arc leads from a later tier to an earlier one; variables in no tier are free.
    max_parents : int or None

    Returns
    -------
    dict task -> Constraints

    Raises
    ------
    InputError
        For unknown tasks or variables and for contradictory constraints.
    """
    check_whole("max_parents", max_parents, least=1, optional=True)
    needed = _arcs_by_task(tasks, required, "required")
    barred = _arcs_by_task(tasks, forbidden, "forbidden")
    layers = _tiers_by_task(tasks, tiers)
    return {
        name: _of_task(task, needed[name], barred[name], layers[name], max_parents)
        for name, task in tasks.items()
    }


def active_variables(task):
    """Bool array: the variables of a task that vary and so may have arcs."""
    constant = set(task.constant)
    return np.array([variable not in constant for variable in task.variables], dtype=bool)


def _of_task(task, required_arcs, forbidden_arcs, tier_of, max_parents):
    index = {variable: at for at, variable in enumerate(task.variables)}
    n = len(index)
    active = active_variables(task)
    permitted = np.outer(active, active) & ~np.eye(n, dtype=bool)
    required = np.zeros((n, n), dtype=bool)
    for parent, child in forbidden_arcs:
        permitted[index[parent], index[child]] = False
    for later, high in tier_of.items():
        for earlier, low in tier_of.items():
            if high > low:
                permitted[index[later], index[earlier]] = False
    for parent, child in required_arcs:
        a, b = index[parent], index[child]
        if not permitted[a, b]:
            reason, remedy = "which is forbidden", "remove one of the two"
            if not (active[a] and active[b]):
                reason, remedy = "but one of the two is constant", "leave the arc out"
            message = f"holds the arc {parent} -> {child}, {reason}"
            raise InputError(message, argument="required", task=task.name, remedy=remedy)
        required[a, b] = True
    permitted &= ~required.T
    if required.any():
        _check_required(task, required, max_parents)
    return Constraints(permitted, required, n if max_parents is None else int(max_parents))


def _check_required(task, required, max_parents):
    both = np.argwhere(required & required.T)
    if len(both):
        a, b = (task.variables[at] for at in both[0])
        message = f"holds both {a} -> {b} and {b} -> {a}"
        raise InputError(message, argument="required", task=task.name, remedy="keep one of them")
    with located(task=task.name):
        check_dag(from_adjacency(required, task.variables), "required")
    crowded = np.flatnonzero(required.sum(axis=0) > (max_parents or len(required)))
    if len(crowded):
        message = (
            f"gives `{task.variables[crowded[0]]}` more parents than `max_parents` allows, "
            f"{max_parents}"
        )
        raise InputError(
            message,
            argument="required",
            task=task.name,
            options=("max_parents",),
            remedy="raise it, or require fewer arcs",
        )


def is_by_task(value):
    """Whether a parameter is a mapping by task; the edge view of a graph is not."""
    return isinstance(value, Mapping) and not isinstance(value, Set)


def check_names(argument, names, known, kind):
    """Raise InputError for an unknown name."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        message = f"names the unknown {kind} `{unknown[0]}`"
        raise InputError(message, argument=argument, remedy=f"the {kind}s are {listed(known)}")


def by_task(tasks, value, name):
    """A parameter, given once for all or by task, as (mapping, whether it was given by task)."""
    by_name = is_by_task(value)
    for item in value.values() if by_name else [value]:
        # An iterator would be exhausted after the first task.
        if isinstance(item, Iterator):
            message = (
                f"must be given as a list, which can be read more than once, got {type_of(item)}"
            )
            raise InputTypeError(message, argument=name, remedy="write list(...)")
    if not by_name:
        return dict.fromkeys(tasks, value), False
    value = {str(task): item for task, item in value.items()}
    check_names(name, value, tasks, "task")
    return {task: value.get(task) for task in tasks}, True


def _arcs_by_task(tasks, arcs, name):
    listed, is_listed_by_task = by_task(tasks, arcs, name)
    checked = {
        task: [] if listed[task] is None else _checked_arcs(listed[task], name) for task in tasks
    }
    if is_listed_by_task:
        for task, wanted in checked.items():
            ends = {variable for arc in wanted for variable in arc}
            with located(task=task):
                check_names(name, ends, tasks[task].variables, "variable")
        return checked
    kept = {}
    for task, wanted in checked.items():
        usable = set(tasks[task].variables) - set(tasks[task].constant)
        kept[task] = [arc for arc in wanted if usable.issuperset(arc)]
    used = set().union(*kept.values())
    for arc in next(iter(checked.values()), ()):
        if arc not in used:
            message = (
                f"holds the arc {arc[0]} -> {arc[1]}, but no task has both variables with more "
                "than one observed state"
            )
            raise InputError(
                message, argument=name, remedy="leave the arc out, or check the spelling"
            )
    return kept


def _checked_arcs(arcs, name):
    listed = arcs if isinstance(arcs, (list, tuple, set, frozenset)) else _iterated(arcs, name)
    pairs = []
    for arc in listed:
        if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) != 2:
            message = f"must hold (parent, child) pairs, got {arc!r}"
            raise InputTypeError(message, argument=name, remedy="write ('parent', 'child')")
        pairs.append((str(arc[0]), str(arc[1])))
    for parent, child in pairs:
        if parent == child:
            raise InputError(
                f"holds an arc from `{parent}` to itself", argument=name, remedy="remove it"
            )
    return list(dict.fromkeys(pairs))


def _iterated(arcs, name):
    if isinstance(arcs, str) or hasattr(arcs, "columns") or not hasattr(arcs, "__iter__"):
        message = (
            "must be a list of (parent, child) pairs or a mapping of them by task, got "
            f"{type_of(arcs)}"
        )
        raise InputTypeError(message, argument=name)
    return list(arcs)


def _tiers_by_task(tasks, tiers):
    """For every task, the tier of each variable with a tier."""
    listed, is_listed_by_task = by_task(tasks, tiers, "tiers")
    result = {}
    for task in tasks:
        tier_of = {} if listed[task] is None else _checked_tiers(listed[task])
        with located(task=task if is_listed_by_task else None):
            known = tasks[task].variables if is_listed_by_task else tasks.variables
            check_names("tiers", tier_of, known, "variable")
        result[task] = {v: at for v, at in tier_of.items() if v in set(tasks[task].variables)}
    return result


def _checked_tiers(tiers):
    if (
        isinstance(tiers, str)
        or not hasattr(tiers, "__iter__")
        or any(isinstance(tier, str | Iterator) or not hasattr(tier, "__iter__") for tier in tiers)
    ):
        message = f"must be a list of lists of variables, got {tiers!r}"
        raise InputTypeError(
            message,
            argument="tiers",
            remedy="for example [['age', 'sex'], ['smoking'], ['cancer']]",
        )
    tier_of = {}
    for at, tier in enumerate(tiers):
        for variable in map(str, tier):
            if variable in tier_of:
                message = f"holds the variable `{variable}` twice"
                raise InputError(message, argument="tiers", remedy="keep one of them")
            tier_of[variable] = at
    return tier_of


@dataclass(frozen=True)
class TaskProblem:
    """The search problem of one task; arrays are over its n variables.

    Attributes
    ----------
    name : str
    variables : tuple of str
    active : bool array of shape (n,)
        Variables that may have arcs.
    scores : BoundScore
    constraints : Constraints
    arc_terms : pair of float arrays of shape (n, n)
        Log structure prior of each ordered pair: arc present, arc absent.
    rows : bytes
        A hash of the rows.
    alone_terms : pair of float arrays of shape (n, n)
        As ``arc_terms``, if the task is learned alone.
    """

    name: str
    variables: tuple
    active: np.ndarray
    scores: BoundScore
    constraints: Constraints
    arc_terms: tuple
    rows: bytes
    alone_terms: tuple

    @classmethod
    def of(cls, task, scores, constraints, structure_prior, alone_prior):
        """The problem of a task under a bound score and structure priors (None is uniform).

        The constraints may come from more rows: arcs of variables that are constant in these rows
        are excluded from the search, except required ones.
        """
        active = active_variables(task)
        arc_terms = _arc_terms(structure_prior, task, active)
        alike = alone_prior is structure_prior
        return cls(
            name=task.name,
            variables=task.variables,
            active=active,
            scores=scores,
            constraints=constraints.among(active),
            arc_terms=arc_terms,
            rows=hashlib.blake2b(task.codes.tobytes(), digest_size=16).digest(),
            alone_terms=arc_terms if alike else _arc_terms(alone_prior, task, active),
        )

    @classmethod
    def of_all(cls, tasks, score, constraints, structure_priors=None, alone_priors=None, **limits):
        """The problems of several tasks that share the rows and the cache of one bound score.

        Parameters
        ----------
        tasks : mapping name -> Task
        score : Score
        constraints : mapping name -> Constraints
        structure_priors : mapping name -> structure prior or None, default=None
        alone_priors : mapping name -> structure prior or None, default=None
            Priors of tasks learned alone; None is ``structure_priors``.
        **limits
            As in `BoundTasks`.
        """
        bound = score.bind_all(list(tasks.values()), **limits)
        priors = {} if structure_priors is None else structure_priors
        alone = priors if alone_priors is None else alone_priors
        return [
            cls.of(task, bound.of(s), constraints[name], priors.get(name), alone.get(name))
            for s, (name, task) in enumerate(tasks.items())
        ]

    def by_itself(self):
        """This task with the structure prior for a task learned alone."""
        if self.alone_terms is self.arc_terms:
            return self
        return replace(self, arc_terms=self.alone_terms)

    def among(self, scores, structure_prior, task):
        """This task, learned with other tasks: their score, and another structure prior."""
        arc_terms = _arc_terms(structure_prior, task, self.active)
        return replace(self, scores=scores, arc_terms=arc_terms)

    @cached_property
    def identity(self):
        """A hash of everything that its search depends on except its options and start."""
        (s,), constraints = self.scores.tasks, self.constraints
        words = self.name, self.variables, self.scores.bound.settings(s), constraints.max_parents
        found = hashlib.blake2b(self.rows + repr(words).encode(), digest_size=16)
        for array in (self.odds, constraints.permitted, constraints.required):
            found.update(array.tobytes())
        return found.digest()

    @property
    def odds(self):
        """Log prior of each arc minus log prior of its absence."""
        return self.arc_terms[0] - self.arc_terms[1]

    def state(self, matrix, ties):
        """The graph state of this task alone."""
        return GraphState(self.scores, self.constraints, ties, matrix, self.odds)

    def log_posterior(self, matrix):
        """Score of a graph plus its log structure prior, without a constant."""
        return self.scores.score(matrix) + float(np.where(matrix, *self.arc_terms).sum())


def _arc_terms(prior, task, active):
    """Log structure prior of each ordered pair of a task, 0 if one of the two is constant."""
    n = len(active)
    if prior is None:
        return np.zeros((n, n)), np.zeros((n, n))
    part = np.outer(active, active)
    present, absent = prior.arc_terms(task.variables)
    return part * present, part * absent


class NoCommonGraph(InputError):
    """The constraints of the tasks allow no common graph."""


class JointProblem:
    """Several tasks, indexed by the union of their variables.

    Parameters
    ----------
    tasks : list of TaskProblem
        Created by `TaskProblem.of_all`.

    Attributes
    ----------
    names : tuple of str
    variables : tuple of str
        Sorted union.
    takes_part : bool array of shape (k, n, n)
        [s, i, j] is true if both variables exist and vary in task s.
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
        """Whether tasks may share tables."""
        return len(self.tasks) > 1 and self.tasks[0].scores.bound.shares_tables

    def scores(self, members, shares_tables=True):
        """The bound score of some tasks on the union index.

        It is their joint evidence if tasks may share tables and ``shares_tables``, else their sum.
        """
        bound = self.tasks[0].scores.bound
        indices = [self.tasks[s].scores.tasks[0] for s in members]
        usable = np.stack([self.takes_part[s] | self.constraints[s].required for s in members])
        return bound.of_all(indices, usable, shares_tables)

    def spread(self, matrices):
        """Adjacency matrices of the tasks, moved to the union index."""
        return np.stack([self._spread(s, matrix) for s, matrix in enumerate(matrices)])

    def cut(self, matrices):
        """Adjacency matrices on the union index, moved to the index of each task."""
        pairs = zip(matrices, self.positions, strict=True)
        return [matrix[np.ix_(at, at)] for matrix, at in pairs]

    def restrict(self, s, matrix):
        """A graph on the union index, restricted to the pairs of task s, on the index of s."""
        kept = (matrix & self.takes_part[s]) | self.constraints[s].required
        return kept[np.ix_(self.positions[s], self.positions[s])]

    def identical(self, shares_tables=True):
        """The problem of one common graph: constraints of all tasks, mean of their prior terms.

        Parameters
        ----------
        shares_tables : bool, default=True
            As in `scores`.

        Returns
        -------
        scores : BoundScore
        constraints : Constraints
        arc_terms : list of pairs of float arrays of shape (n, n)
            The share of each task in the prior, with the arc present and absent.

        Raises
        ------
        NoCommonGraph
            If the constraints of the tasks contradict each other.
        """
        constraints = self.common_constraints()
        shared = np.maximum(self.takes_part.sum(axis=0), 1)
        terms = [tuple(side / shared for side in pair) for pair in self.arc_terms]
        return self.scores(range(len(self.tasks)), shares_tables), constraints, terms

    def common_constraints(self):
        """The constraints of one common graph.

        Raises
        ------
        NoCommonGraph
            If the constraints of the tasks contradict each other.
        """
        part = self.takes_part
        permits = np.stack([limits.permitted for limits in self.constraints])
        permitted = part.any(axis=0) & (permits | ~part).all(axis=0)
        required = np.stack([limits.required for limits in self.constraints])
        required = (required & part).any(axis=0)
        limit = min(limits.max_parents for limits in self.constraints)
        self._check_common(permitted, required, limit)
        return Constraints(permitted, required, limit)

    def _check_common(self, permitted, required, limit):
        """Raise `NoCommonGraph` if the constraints of the tasks contradict each other."""

        def refuse(found):
            message = f"must allow a single graph for all tasks; {found}"
            parts = {"options": ("max_parents",), "remedy": "remove some constraint"}
            raise NoCommonGraph(message, argument="required", **parts)

        for clash in np.argwhere(required & ~permitted):
            a, b = (self.variables[at] for at in clash)
            refuse(f"one task requires {a} -> {b}, which another cannot have")
        for crowded in np.flatnonzero(required.sum(axis=0) > limit):
            child = self.variables[crowded]
            refuse(f"`{child}` has more parents than `max_parents` allows, {limit}")
        with contextlib.suppress(nx.NetworkXNoCycle):
            cycle = [tail for tail, _ in nx.find_cycle(from_adjacency(required, self.variables))]
            path = " -> ".join([*cycle, cycle[0]])
            refuse(f"together the tasks' arcs close the cycle {path}")

    def _spread(self, s, matrix):
        n = len(self.variables)
        wide = np.zeros((n, n), dtype=matrix.dtype)
        wide[np.ix_(self.positions[s], self.positions[s])] = matrix
        return wide

    def _union_constraints(self, s):
        constraints = self.tasks[s].constraints
        limit = constraints.max_parents
        limit = limit if limit < len(self.tasks[s].variables) else None
        return Constraints(
            self._spread(s, constraints.permitted),
            self._spread(s, constraints.required),
            len(self.variables) if limit is None else limit,
        )
