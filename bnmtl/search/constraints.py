"""Constraints of a search: required and forbidden arcs, tiers and a limit on parents."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace

import numpy as np

from bnmtl.errors import InputError, InputTypeError, check_whole, located
from bnmtl.graphs import check_dag, from_adjacency
from bnmtl.wording import type_of


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
            rule = "holds the arc {parent!s} -> {child!s}, which is forbidden"
            remedy = "remove one of the two"
            if not (active[a] and active[b]):
                rule = "holds the arc {parent!s} -> {child!s}, but one of the two is constant"
                remedy = "leave the arc out"
            parts = {"task": task.name, "parent": parent, "child": child}
            raise InputError("required", rule, remedies=remedy, **parts)
        required[a, b] = True
    permitted &= ~required.T
    if required.any():
        _check_required(task, required, max_parents)
    return Constraints(permitted, required, n if max_parents is None else max_parents)


def _check_required(task, required, max_parents):
    both = np.argwhere(required & required.T)
    if len(both):
        a, b = (task.variables[at] for at in both[0])
        rule = "holds both {a!s} -> {b!s} and {b!s} -> {a!s}"
        raise InputError("required", rule, remedies="keep one of them", task=task.name, a=a, b=b)
    with located(task=task.name):
        check_dag(from_adjacency(required, task.variables), "required")
    crowded = np.flatnonzero(required.sum(axis=0) > (max_parents or len(required)))
    if len(crowded):
        rule = "gives {child} more parents than {max_parents} allows, {most}"
        parts = {"task": task.name, "child": task.variables[crowded[0]], "most": max_parents}
        raise InputError("required", rule, remedies=("raise it", "require fewer arcs"), **parts)


def is_by_task(value):
    """Whether a parameter is a mapping by task; the edge view of a graph is not."""
    return isinstance(value, Mapping) and not isinstance(value, Set)


def check_names(argument, names, known, kind):
    """Raise InputError for an unknown name."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        rule, remedy = "names the unknown {kind!s} {name}", "the {kind!s}s are {known}"
        parts = {"kind": kind, "name": unknown[0], "known": list(known)}
        raise InputError(argument, rule, remedies=remedy, **parts)


def by_task(tasks, value, name):
    """A parameter, given once for all or by task, as (mapping, whether it was given by task)."""
    by_name = is_by_task(value)
    for item in value.values() if by_name else [value]:
        # An iterator would be exhausted after the first task.
        if isinstance(item, Iterator):
            rule = "must be given as a list, which can be read more than once"
            raise InputTypeError(name, rule, type_of(item), remedies="write list(...)")
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
            rule = (
                "holds the arc {parent!s} -> {child!s}, but no task has both variables with more "
                "than one observed state"
            )
            remedies = "leave the arc out", "check the spelling"
            raise InputError(name, rule, remedies=remedies, parent=arc[0], child=arc[1])
    return kept


def _checked_arcs(arcs, name):
    listed = arcs if isinstance(arcs, (list, tuple, set, frozenset)) else _iterated(arcs, name)
    pairs = []
    for arc in listed:
        if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) != 2:
            rule, remedy = "must hold (parent, child) pairs", "write ('parent', 'child')"
            raise InputTypeError(name, rule, arc, remedies=remedy)
        pairs.append((str(arc[0]), str(arc[1])))
    for parent, child in pairs:
        if parent == child:
            rule = "holds an arc from {parent} to itself"
            raise InputError(name, rule, remedies="remove it", parent=parent)
    return list(dict.fromkeys(pairs))


def _iterated(arcs, name):
    if isinstance(arcs, str) or hasattr(arcs, "columns") or not hasattr(arcs, "__iter__"):
        rule = "must be a list of (parent, child) pairs or a mapping of them by task"
        raise InputTypeError(name, rule, type_of(arcs))
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
        rule = "must be a list of lists of variables"
        remedy = "for example [['age', 'sex'], ['smoking'], ['cancer']]"
        raise InputTypeError("tiers", rule, tiers, remedies=remedy)
    tier_of = {}
    for at, tier in enumerate(tiers):
        for variable in map(str, tier):
            if variable in tier_of:
                rule = "holds the variable {variable} twice"
                raise InputError("tiers", rule, remedies="keep one of them", variable=variable)
            tier_of[variable] = at
    return tier_of
