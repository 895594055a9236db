"""What a search may do: required and forbidden arcs, tiers and a limit on parents, checked once."""

import numbers
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace

import numpy as np

from bnmtl.graphs import check_dag, from_adjacency


@dataclass(frozen=True)
class Constraints:
    """What a search over graphs of n variables may do.

    Attributes
    ----------
    permitted : bool array of shape (n, n)
        [a, b] true where the arc a -> b may ever be set.
    required : bool array of shape (n, n)
        [a, b] true where the arc a -> b must be there; b -> a is then not permitted.
    max_parents : int
    """

    permitted: np.ndarray
    required: np.ndarray
    max_parents: int

    @property
    def may_remove(self):
        """[a, b] true where the pair may have no arc; symmetric."""
        return ~(self.required | self.required.T)

    def among(self, active):
        """The same where only some variables take part in pairs; required arcs stay."""
        return replace(self, permitted=self.permitted & np.outer(active, active))

    def allowed_of(self, matrix):
        """The arcs of a graph that may be set here, and the required ones."""
        return (matrix & self.permitted) | self.required


def constraints_by_task(tasks, required, forbidden, tiers, max_parents):
    """Constraints of every task, over its own variables.

    Parameters
    ----------
    tasks : bnmtl.tasks.Tasks
    required, forbidden : collection of (parent, child), or mapping task -> such a collection
        One collection for all tasks holds in each task that has both variables, neither of them
        constant there.
    tiers : list of lists of str, mapping task -> such a list, or None
        No arc leads from a later tier to an earlier one; variables in no tier are free.
    max_parents : int or None

    Returns
    -------
    dict task -> Constraints

    Raises
    ------
    ValueError
        For unknown tasks or variables and for demands that contradict one another.
    """
    if max_parents is not None and (
        not isinstance(max_parents, numbers.Integral)
        or isinstance(max_parents, bool)
        or max_parents < 1
    ):
        raise ValueError(
            f"`max_parents` must be None or a whole number of at least 1, got {max_parents!r}."
        )
    needed = _arcs_by_task(tasks, required, "required")
    barred = _arcs_by_task(tasks, forbidden, "forbidden")
    layers = _tiers_by_task(tasks, tiers)
    return {
        name: _of_task(task, needed[name], barred[name], layers[name], max_parents)
        for name, task in tasks.items()
    }


def active_variables(task):
    """Bool array: which variables take part in the task's pairs, the constant ones do not."""
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
            reason = (
                "forbidden"
                if active[a] and active[b]
                else "between variables of which one is constant"
            )
            raise ValueError(
                f"Task `{task.name}`: the `required` arc {parent} -> {child} is {reason}; "
                "take one of the two demands back."
            )
        required[a, b] = True
    permitted &= ~required.T
    if required.any():
        _check_required(task, required, max_parents)
    return Constraints(permitted, required, n if max_parents is None else max_parents)


def _check_required(task, required, max_parents):
    both = np.argwhere(required & required.T)
    if len(both):
        a, b = (task.variables[at] for at in both[0])
        raise ValueError(
            f"Task `{task.name}`: `required` holds both {a} -> {b} and {b} -> {a}; "
            "keep one of them."
        )
    check_dag(from_adjacency(required, task.variables), "required")
    crowded = np.flatnonzero(required.sum(axis=0) > (max_parents or len(required)))
    if len(crowded):
        raise ValueError(
            f"Task `{task.name}`: `required` gives {task.variables[crowded[0]]} more parents than "
            f"`max_parents`={max_parents}; raise it or require fewer arcs."
        )


def is_by_task(value):
    """Whether a parameter is a mapping by task; the arcs of a graph are one by arc and a set."""
    return isinstance(value, Mapping) and not isinstance(value, Set)


def by_task(tasks, value, name):
    """A parameter that is one value for all or a mapping by task, as (mapping, is by task)."""
    by_name = is_by_task(value)
    for own in value.values() if by_name else [value]:
        # Every task, and every further fit, would find less of it.
        if isinstance(own, Iterator):
            raise TypeError(
                f"`{name}` must be given as a list, got {type(own).__name__}, which can be read "
                "only once; write list(...)."
            )
    if not by_name:
        return dict.fromkeys(tasks, value), False
    value = {str(task): own for task, own in value.items()}
    unknown = sorted(set(value) - set(tasks))
    if unknown:
        raise ValueError(
            f"`{name}` names the task `{unknown[0]}`, which is not there; the tasks are "
            f"{', '.join(tasks)}."
        )
    return {task: value.get(task) for task in tasks}, True


def _arcs_by_task(tasks, arcs, name):
    listed, own = by_task(tasks, arcs, name)
    checked = {
        task: [] if listed[task] is None else _checked_arcs(listed[task], name) for task in tasks
    }
    kept = {task: [] for task in tasks}
    for task, wanted in checked.items():
        usable = set(tasks[task].variables)
        if not own:
            usable -= set(tasks[task].constant)
        for arc in wanted:
            missing = sorted(set(arc) - usable)
            if not missing:
                kept[task].append(arc)
            elif own:
                raise ValueError(
                    f"Task `{task}`: `{name}` holds the arc {arc[0]} -> {arc[1]}, but the task has "
                    f"no variable {missing[0]!r}."
                )
    if not own:
        used = set().union(*kept.values())
        for arc in next(iter(checked.values()), ()):
            if arc not in used:
                raise ValueError(
                    f"`{name}` holds the arc {arc[0]} -> {arc[1]}, but no task has both variables "
                    "with more than one observed state; leave the arc out or check the spelling."
                )
    return kept


def _checked_arcs(arcs, name):
    listed = arcs if isinstance(arcs, (list, tuple, set, frozenset)) else _iterated(arcs, name)
    pairs = []
    for arc in listed:
        if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) != 2:
            raise TypeError(
                f"`{name}` must hold (parent, child) pairs, got {arc!r}; write ('parent', 'child')."
            )
        pairs.append((str(arc[0]), str(arc[1])))
    for parent, child in pairs:
        if parent == child:
            raise ValueError(f"`{name}` holds an arc from {parent!r} to itself; remove it.")
    return list(dict.fromkeys(pairs))


def _iterated(arcs, name):
    if isinstance(arcs, str) or hasattr(arcs, "columns") or not hasattr(arcs, "__iter__"):
        raise TypeError(
            f"`{name}` must be a list of (parent, child) pairs or a mapping of them by task, "
            f"got {type(arcs).__name__}."
        )
    return list(arcs)


def _tiers_by_task(tasks, tiers):
    """For every task, the tier of each variable that is in one."""
    listed, own = by_task(tasks, tiers, "tiers")
    result = {}
    for task in tasks:
        tier_of = {} if listed[task] is None else _checked_tiers(listed[task])
        unknown = sorted(set(tier_of) - set(tasks[task].variables if own else tasks.variables))
        if unknown:
            where = f"task `{task}`" if own else "any task"
            raise ValueError(
                f"`tiers` names the variable {unknown[0]!r}, which is not in {where}; "
                "check the spelling."
            )
        result[task] = {v: at for v, at in tier_of.items() if v in set(tasks[task].variables)}
    return result


def _checked_tiers(tiers):
    if (
        isinstance(tiers, str)
        or not hasattr(tiers, "__iter__")
        or any(isinstance(tier, str | Iterator) or not hasattr(tier, "__iter__") for tier in tiers)
    ):
        raise TypeError(
            f"`tiers` must be a list of lists of variables, got {tiers!r}; for example "
            "[['age', 'sex'], ['smoking'], ['cancer']]."
        )
    tier_of = {}
    for at, tier in enumerate(tiers):
        for variable in map(str, tier):
            if variable in tier_of:
                raise ValueError(
                    f"`tiers` holds the variable {variable!r} twice; keep one of them."
                )
            tier_of[variable] = at
    return tier_of
