"""Groups of tasks that learn from each other: given by the user, or found from the data."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.graphs import groups_by_label
from bnmtl.search.constraints import check_names, is_by_task
from bnmtl.search.couplings import Couplings
from bnmtl.search.group_value import GroupValue
from bnmtl.search.multitask import Solution
from bnmtl.search.problem import JointProblem, NoCommonGraph
from bnmtl.search.shared_multitask import search_over
from bnmtl.search.task_groups import MARGIN, QUICK, GroupSearch, quick_fits
from bnmtl.wording import all_of, count

AUTO = "auto"
# Most groups, and most tasks of a group, that a sentence names.
_MOST_GROUPS, _MOST_NAMES = 4, 6
# Part of the remaining time that the search for groups may take.
_SHARE_OF_TIME = 1 / 3

TASK_GROUPS = """task_groups : None, "auto" or mapping task -> label, default=None
        Which tasks learn from each other: None is all of them, a mapping names the group of each
        task, and "auto" finds the groups from the data. Tables borrow from all tasks."""


def check_task_groups(value):
    """Raise InputTypeError or InputError unless a value is None, "auto" or a mapping."""
    if value is None or is_by_task(value):
        return
    if isinstance(value, str):
        if value != AUTO:
            raise InputError(
                "task_groups", "must be 'auto', None or a mapping task -> label", value
            )
        return
    raise InputTypeError("task_groups", "must be 'auto', None or a mapping task -> label", value)


def given_groups(value, tasks):
    """Groups of task names from a mapping task -> label, or one group from None.

    Returns
    -------
    list of lists of str
        In the order of their first tasks.

    Raises
    ------
    InputError
        If a task is missing or unknown.
    """
    if value is None:
        return [list(tasks.names)]
    labels = {str(task): label for task, label in value.items()}
    check_names("task_groups", labels, tasks.names, "task")
    for name in tasks.names:
        if name not in labels:
            remedy = "add it, with a label of its own if it learns alone"
            raise InputError("task_groups", "names no group", remedies=remedy, task=name)
    return groups_by_label({name: labels[name] for name in tasks.names})


def group_sentence(learner):
    """A sentence on which tasks learn from each other, and how strongly the data say so.

    Parameters
    ----------
    learner : Learner
        Fitted.

    Returns
    -------
    str
        Empty for one task and for a learner without groups of tasks.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> labels = pd.Series({"corsica": 1, "provence": 1, "alps": 2})
    >>> margins = pd.Series({"corsica": 60.0, "provence": 55.0, "alps": 42.0})
    >>> fitted = SimpleNamespace(task_groups="auto", task_groups_=labels, group_margins_=margins)
    >>> group_sentence(fitted)
    'corsica and provence learn from each other; alps learns alone (42 nats speak against joining).'
    """
    if learner.task_groups is None or len(learner.task_groups_) == 1:
        return ""
    groups = groups_by_label(learner.task_groups_)
    margins = getattr(learner, "group_margins_", pd.Series(dtype=float))
    if len(groups) == 1 and len(groups[0]) > _MOST_NAMES:
        return f"All {len(groups[0])} tasks learn from each other{_doubts(groups[0], margins)}."
    several = [group for group in groups if len(group) > 1]
    clauses = [
        f"{_named(group)} learn from each other{_doubts(group, margins)}"
        for group in several[:_MOST_GROUPS]
    ]
    if len(several) > _MOST_GROUPS:
        rest = several[_MOST_GROUPS:]
        n_tasks = sum(map(len, rest))
        clauses.append(f"{count(len(rest), 'more group')} have {n_tasks} tasks in all")
    alone = [group[0] for group in groups if len(group) == 1]
    if alone:
        verb = "learns" if len(alone) == 1 else "learn"
        clauses.append(f"{_named(alone)} {verb} alone{_against(alone, margins)}")
    return f"{'; '.join(clauses)}."


def _named(names):
    """Names as text, the first ones if there are many."""
    names = list(map(str, names))
    if len(names) <= _MOST_NAMES:
        return all_of(names)
    shown = names[: _MOST_NAMES - 1]
    return f"{', '.join(shown)} and {len(names) - len(shown)} more"


def _doubtful(names, margins):
    """Tasks that the data do not clearly place."""
    return [name for name in names if margins.get(name, np.inf) < MARGIN]


def _doubts(group, margins):
    """A clause on the members of a group of which the data do not say whether they belong to it."""
    names = _doubtful(group, margins)
    if not names:
        return ""
    if len(names) == len(group):
        return ", but the data do not tell whether they belong together"
    verb = "belongs" if len(names) == 1 else "belong"
    return f", but the data do not tell whether {_named(names)} {verb} with them"


def _against(alone, margins):
    """A clause on the evidence that tasks learn alone."""
    known = [margins[name] for name in alone if not np.isnan(margins.get(name, np.nan))]
    if not known:
        return ""
    names = _doubtful(alone, margins)
    if names:
        who = "this is right" if len(alone) == 1 else f"this is right for {_named(names)}"
        return f", but the data do not tell whether {who}"
    at_least = "" if len(alone) == 1 else "at least "
    return f" ({at_least}{min(known):.0f} nats speak against joining)"


def joined(groups, solutions, names):
    """The solution of all tasks, in the order of their names, from the solution of each group."""
    at = {
        name: (solution, i)
        for group, solution in zip(groups, solutions, strict=True)
        for i, name in enumerate(group)
    }
    parts = [at[name] for name in names]
    return Solution(
        [solution.matrices[i] for solution, i in parts],
        sum(solution.score for solution in solutions),
        [solution.task_scores[i] for solution, i in parts],
        None,
        {},
    )


class GroupsByData:
    """The search for the groups of tasks that the data support.

    Parameters
    ----------
    learner : MultitaskLearner
    whole : Tasks
        The tasks with all rows.
    problems : list of TaskProblem
        Of all tasks.
    effort : Effort
    report : Reporter

    Attributes
    ----------
    solutions : dict of tuple of int -> Solution
        Full solutions of groups that were found on the way.
    """

    def __init__(self, learner, whole, problems, effort, report):
        self._learner, self._whole, self._problems = learner, whole, problems
        self._effort, self._report = effort.share(_SHARE_OF_TIME), report
        self._quick = replace(self._effort, search=QUICK)
        self._names = [problem.name for problem in problems]
        self.solutions, self._n_fits = {}, 0
        value = GroupValue(problems)
        self._index = {variable: at for at, variable in enumerate(value.joint.variables)}
        self._alone = search_over(problems, self._effort, report).alone(self._effort)
        self._search = GroupSearch(value, self._fit, self._may_join(), self._effort.is_over)
        for s, graph in enumerate(value.joint.spread(self._alone)):
            self._search.add_graphs([s], [graph])

    def gains(self):
        """How much more the arcs of two tasks are worth together than alone, in nats.

        Returns
        -------
        pandas.DataFrame, tasks by tasks
            nan on the diagonal and for pairs that cannot learn together.
        """
        return self._table(self._search.gains())

    def find(self):
        """The best partition.

        Returns
        -------
        groups : list of lists of str
        evidence : dict str -> object
            The attributes ``group_gains_``, ``group_margins_`` and ``alternatives_``.
        """
        found, names = self._search.search(), self._names
        labels = [
            {names[s]: at for at, group in enumerate(groups, 1) for s in group}
            for groups, _ in found.alternatives
        ]
        alternatives = pd.DataFrame(labels, columns=names)
        alternatives["value"] = [value for _, value in found.alternatives]
        evidence = {
            "group_gains_": self._table(found.gains),
            "group_margins_": pd.Series(found.margins, index=pd.Index(names, name="task")),
            "alternatives_": alternatives,
        }
        return [[names[s] for s in group] for group in found.groups], evidence

    def _table(self, gains):
        labels = pd.Index(self._names, name="task")
        return pd.DataFrame(gains, index=labels, columns=labels)

    def _fit(self, members, is_quick):
        """Configurations found for a group by a quick or a full search."""
        self._n_fits += 1
        self._report("groups of tasks", None, self._n_fits)
        prior, effort = self._learner.used_prior(), self._quick if is_quick else self._effort
        problems = self._learner.group_problems(self._problems, self._whole, members)
        search = search_over(problems, effort, self._report)
        if is_quick:
            found = quick_fits(search, prior, [self._alone[s] for s in members], Couplings)
        else:
            solution = search.solve(prior, search.starts([prior]), self._report)
            self.solutions[tuple(members)] = solution
            found = [search.joint.spread(solution.matrices)]
        at = np.array([self._index[variable] for variable in search.joint.variables])
        n = len(self._index)
        return [[_widened(graph, at, n) for graph in graphs] for graphs in found]

    def _may_join(self):
        """Pairs of tasks with a pair of variables in common that can agree, bool array (k, k)."""
        k, prior = len(self._problems), self._learner.used_prior()
        allowed = np.zeros((k, k), bool)
        for a, b in itertools.combinations(range(k), 2):
            first, second = (
                {v for v, varies in zip(one.variables, one.active, strict=True) if varies}
                for one in (self._problems[a], self._problems[b])
            )
            if len(first & second) < 2:
                continue
            pair = self._learner.group_problems(self._problems, self._whole, [a, b])
            try:
                Couplings(prior, JointProblem(pair)).check_agreement()
            except NoCommonGraph:
                continue
            allowed[a, b] = allowed[b, a] = True
        return allowed


def _widened(graph, at, n):
    wide = np.zeros((n, n), bool)
    wide[np.ix_(at, at)] = graph
    return wide
