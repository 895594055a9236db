"""Groups of tasks that learn from each other: given by the user, or found from the data."""

import itertools
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, warn
from bnmtl.graphs import groups_by_label
from bnmtl.progress import Reporter
from bnmtl.search.effort import Tally
from bnmtl.search.grouped import GroupedSearch
from bnmtl.search.multitask import search_over
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.one_graph import search_common, search_identical
from bnmtl.search.problem import JointProblem, NoCommonGraph, check_names, is_by_task
from bnmtl.search.task_groups import (
    MARGIN,
    QUICK,
    FoundGroups,
    GroupSearch,
    GroupValue,
    OneGraphValue,
    acyclic,
    quick_fits,
)
from bnmtl.wording import all_of, count, listed, type_of

_SILENT = Reporter(False)


class CoupledFits:
    """Fits of groups whose tasks have graphs of their own, coupled by a prior.

    Parameters
    ----------
    prior : PairedPrior, EditPrior or a custom coupling
    """

    value = GroupValue

    def __init__(self, prior):
        self._prior = prior

    def is_separate(self, problems, effort):
        """Whether nothing couples the tasks, so that each learns alone."""
        return search_over(problems, effort, _SILENT).is_uncoupled(self._prior)

    def check(self, problems):
        """Raise NoCommonGraph if the constraints of the tasks contradict the prior."""
        Couplings(self._prior, JointProblem(problems)).check_agreement()

    def quick(self, problems, graphs, effort):
        """Configurations found by quick fits, on the union index of the group.

        Parameters
        ----------
        problems : list of TaskProblem
        graphs : list of bool array of shape (n, n)
            One per task, on the union index of the group, near which to search.
        effort : Effort

        Returns
        -------
        list of lists of bool array of shape (n, n)

        Raises
        ------
        NoCommonGraph
            If the constraints of the tasks contradict the prior.
        """
        search = search_over(problems, replace(effort, search=QUICK), _SILENT)
        search.check(self._prior)
        return quick_fits(search, self._prior, graphs, Couplings)

    def full(self, problems, effort, report):
        """The result of a full search, and its configuration on the union index of the group.

        Raises
        ------
        NoCommonGraph
            If no configuration is possible under the prior.
        """
        search = search_over(problems, effort, report)
        solution = search.solve(self._prior, search.starts([self._prior]), report)
        if solution.score == -np.inf:
            raise NoCommonGraph(
                "of 1 requires that tasks agree, and these do not", argument="penalty"
            )
        return solution, search.joint.spread(solution.matrices)


class OneGraphFits:
    """Fits of groups whose tasks have one graph."""

    value = OneGraphValue

    def is_separate(self, problems, effort):
        """Whether nothing couples the tasks, which is so for a single one."""
        return len(problems) == 1

    def check(self, problems):
        """Raise NoCommonGraph if the constraints of the tasks contradict each other."""
        JointProblem(problems).common_constraints()

    def quick(self, problems, graphs, effort):
        """As in `CoupledFits.quick`; every task has the same graph, restricted to its pairs."""
        joint, effort = JointProblem(problems), replace(effort, search=QUICK)
        constraints = joint.common_constraints()
        starts = [None, *(acyclic(of(graphs, axis=0), constraints) for of in (np.any, np.all))]
        found = []
        for start in starts:
            graph = search_common(joint, start, effort, _SILENT, False)
            if joint.shares_tables:
                graph = search_common(joint, graph, effort, _SILENT, True)
            found.append(_of_tasks(joint, graph))
        return found

    def full(self, problems, effort, report):
        """As in `CoupledFits.full`; the result is that of `search_identical`."""
        joint = JointProblem(problems)
        found = search_identical(joint, None, effort, report)
        return found, _of_tasks(joint, found[0])


def _of_tasks(joint, graph):
    """One graph, restricted to the pairs of each task, on the union index."""
    return joint.spread([joint.restrict(s, graph) for s in range(len(joint.tasks))])


AUTO = "auto"
# Most groups, and most tasks of a group, that a sentence names.
_MOST_GROUPS, _MOST_NAMES = 4, 6
# A task with fewer rows cannot tell which group it belongs to: rivers with 4 to 9 sites were
# separated from others whose graphs predict their sites best (`benchmarks.groups.real_groups`).
FEWEST_ROWS = 10
# Part of the remaining time that the search for groups may take.
_SHARE_OF_TIME = 1 / 3


def check_task_groups(value):
    """Raise InputTypeError or InputError unless a value is None, "auto" or a mapping."""
    if value is None or is_by_task(value):
        return
    if isinstance(value, str) and value == AUTO:
        return
    error = InputError if isinstance(value, str) else InputTypeError
    given, remedy = repr(value), None
    if isinstance(value, pd.Series):
        given, remedy = type_of(value), "give its `to_dict()`"
    message = f"must be 'auto', None or a mapping task -> label, got {given}"
    raise error(message, argument="task_groups", remedy=remedy)


def given_groups(value, names):
    """Groups of these task names from a mapping task -> label, or one group from None.

    Returns
    -------
    list of lists of str
        In the order of their first tasks.

    Raises
    ------
    InputError
        If a task is missing, unknown or there twice, or has no label.
    InputTypeError
        If a label is not hashable.
    """
    if value is None:
        return [list(names)]
    labels = {}
    for task, label in value.items():
        name = str(task)
        if name in labels:
            message = f"must name every task once; `{name}` is there twice"
            raise InputError(message, argument="task_groups")
        if pd.api.types.is_scalar(label) and pd.isna(label):
            message = f"must have a label for every task, got {label!r}"
            remedy = "give one to each that learns alone"
            raise InputError(message, argument="task_groups", task=name, remedy=remedy)
        labels[name] = label
    check_names("task_groups", labels, names, "task")
    for name in names:
        if name not in labels:
            remedy = "add it, with a label of its own if it learns alone"
            raise InputError("names no group", argument="task_groups", task=name, remedy=remedy)
    return groups_by_label({name: labels[name] for name in names})


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
    >>> found = {"task_groups_": labels, "group_margins_": margins, "tasks_": {}}
    >>> group_sentence(SimpleNamespace(task_groups="auto", **found))
    'corsica and provence learn from each other; alps learns alone (42 nats speak against joining).'
    """
    if learner.task_groups is None or len(learner.task_groups_) == 1:
        return ""
    groups = groups_by_label(learner.task_groups_)
    margins = getattr(learner, "group_margins_", pd.Series(dtype=float))
    is_cut_short = len(margins) and margins.isna().all() and getattr(learner, "ended_by_", ())
    end = "; the search for groups ended early." if is_cut_short else "."
    # The rows of these tasks are too few to tell.
    margins = margins.where(~margins.index.isin(few_rows(learner)), 0.0)
    if len(groups) == 1 and len(groups[0]) > _MOST_NAMES:
        return f"All {len(groups[0])} tasks learn from each other{_doubts(groups[0], margins)}{end}"
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
    return f"{'; '.join(clauses)}{end}"


def few_rows(learner):
    """Names of tasks that joined a group though their rows are too few to tell.

    Parameters
    ----------
    learner : Learner
        Fitted, with ``task_groups``.
    """
    if not hasattr(learner, "group_margins_"):
        return []
    sizes = learner.task_groups_.value_counts()
    return [
        name
        for name, task in learner.tasks_.items()
        if task.n_rows < FEWEST_ROWS and sizes[learner.task_groups_[name]] > 1
    ]


def _named(names):
    """Names as text, the first ones if there are many."""
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


@dataclass(frozen=True)
class TaskGroups:
    """The groups of the tasks of a fit.

    Attributes
    ----------
    names : list of lists of str
    members : list of lists of int
        Indices of the tasks.
    evidence : dict str -> object
        If the groups were found, the attributes ``group_gains_``, ``group_margins_`` and
        ``alternatives_``.
    solutions : dict of tuple of int -> object
        Results of full searches that were found on the way, by the members of the group.
    too_few : list of str
        Tasks that joined a group though their rows are too few to tell.
    """

    names: list
    members: list
    evidence: dict = field(default_factory=dict)
    solutions: dict = field(default_factory=dict)
    too_few: list = field(default_factory=list)

    @property
    def numbers(self):
        """The number of each task's group, from 1, by name."""
        return {name: at for at, group in enumerate(self.names, 1) for name in group}

    def set_fitted(self, learner, tasks, whole):
        """Set the attributes of a learner that describe groups, and warn of tasks too small.

        Parameters
        ----------
        learner : MultitaskLearner, MultitaskLearnerCV or IdenticalLearner
        tasks, whole : Tasks
            The training rows, and the same tasks with all rows.
        """
        given = learner.task_groups if is_by_task(learner.task_groups) else {}
        labels = self.numbers | {str(name): label for name, label in given.items()}
        index = pd.Index(tasks.names, name="task")
        learner.task_groups_ = pd.Series([labels[name] for name in tasks.names], index=index)
        # From an earlier fit.
        for name in ("group_gains_", "group_margins_", "alternatives_"):
            learner.__dict__.pop(name, None)
        learner.__dict__.update(self.evidence)
        if self.too_few and tasks is whole:
            # Replicates of larger tasks say nothing.
            message = (
                f"finds no group for tasks with fewer than {FEWEST_ROWS} rows, "
                f"{listed(self.too_few)}; they join the group with which they gain most"
            )
            remedy = "give them more rows, or name their groups"
            warn(message, argument="task_groups", remedy=remedy)


def by_label(learner, groups, values):
    """Values of groups of task names, by the labels of the groups in a fitted learner."""
    labels = learner.task_groups_.to_dict()
    return {labels[group[0]]: value for group, value in zip(groups, values, strict=True)}


def groups_for(learner, rows, whole, problems, effort, report):
    """The groups of a learner for some tasks: found from the data, given, or one.

    Parameters
    ----------
    learner : MultitaskLearner, MultitaskLearnerCV or IdenticalLearner
    rows, whole : Tasks
        The training rows, and the same tasks with all rows.
    problems : list of TaskProblem
        Of all tasks.
    effort : Effort
        A memory in it keeps the graphs of tasks alone for later searches.
    report : Reporter

    Returns
    -------
    TaskGroups
    """
    if learner.task_groups == AUTO:
        return GroupsByData(learner, rows, whole, problems, effort, report).find()
    names = given_groups(learner.task_groups, rows.names)
    return TaskGroups(names, [[rows.names.index(name) for name in group] for group in names])


def search_in_groups(learner, members, whole, problems, effort, report):
    """The searches over configurations of groups of tasks.

    Parameters
    ----------
    learner, whole, problems, effort, report
        As in `groups_for`.
    members : list of lists of int

    Returns
    -------
    GroupedSearch
    """
    searches = [
        search_over(learner._group_problems(problems, whole, group, effort), effort, report)
        for group in members
    ]
    return GroupedSearch(members, searches)


class GroupsByData:
    """The search for the groups of tasks that the data support.

    Parameters
    ----------
    learner, rows, whole, problems, effort, report
        As in `groups_for`.
    """

    def __init__(self, learner, rows, whole, problems, effort, report):
        self._learner, self._whole, self._problems = learner, whole, problems
        self._is_whole = rows is whole
        self._effort, self._report = effort.share(_SHARE_OF_TIME), report
        self._fits, self._solutions = learner._group_fits(), {}
        self._names = [problem.name for problem in problems]
        self._too_few = [s for s, task in enumerate(rows.values()) if task.n_rows < FEWEST_ROWS]
        self._bounds = [problems[0].scores.bound]
        variables = sorted(set().union(*(problem.variables for problem in problems)))
        self._index = {variable: at for at, variable in enumerate(variables)}

    def _search(self):
        """A search that knows the graphs of the tasks alone.

        It is not kept: with its reference to this object, tables would stay until they are
        collected as garbage.
        """
        value = self._fits.value(self._problems)
        search = GroupSearch(
            value,
            self._fit,
            *self._pairs(),
            self._is_over,
            self._too_few,
            lambda stage, done, total: self._report(stage, None, done, total),
        )
        alone = search_over(self._problems, self._effort, self._report).alone(self._effort)
        for s, graph in enumerate(value.joint.spread(alone)):
            search.add_graphs([s], [graph])
        self._asked_before = self._bounds[0].asked
        return search

    def gains(self):
        """How much more the arcs of two tasks are worth together than alone, in nats.

        Returns
        -------
        pandas.DataFrame, tasks by tasks
            nan on the diagonal and for pairs that cannot learn together or were not tried.
        """
        return self._table(self._search().gains())

    def find(self):
        """The best partition, as `TaskGroups`; each task alone if nothing couples the tasks."""
        names, k = self._names, len(self._names)
        if self._fits.is_separate(self._problems, self._effort):
            unknown = np.full((k, k), np.nan)
            found, too_few = FoundGroups([(s,) for s in range(k)], unknown, unknown[0]), []
        else:
            # The margins of some rows, as in a fold, are not shown.
            found = self._search().search(with_margins=self._is_whole)
            too_few = [names[s] for s in self._too_few]
        labels = [
            {names[s]: at for at, group in enumerate(groups, 1) for s in group}
            for groups, _ in found.alternatives
        ]
        alternatives = pd.DataFrame(labels, columns=names, dtype="Int64")
        alternatives["value"] = [value for _, value in found.alternatives]
        evidence = {
            "group_gains_": self._table(found.gains),
            "group_margins_": pd.Series(found.margins, index=pd.Index(names, name="task")),
            "alternatives_": alternatives,
        }
        return TaskGroups(
            [[names[s] for s in group] for group in found.groups],
            [list(group) for group in found.groups],
            evidence,
            self._solutions,
            too_few,
        )

    def _table(self, gains):
        labels = pd.Index(self._names, name="task")
        return pd.DataFrame(gains, index=labels, columns=labels)

    def _is_over(self):
        """Whether the limits on time or on families end the search for groups."""
        most = self._effort.max_families
        asked = sum(bound.asked for bound in self._bounds) - self._asked_before
        if most is not None and asked >= most:
            self._effort.tally.stopped.add("max_families")
            return True
        return self._effort.is_over()

    def _fit(self, members, near):
        """Configurations found for a group by quick searches near some graphs, or by a full one."""
        problems = self._learner._group_problems(self._problems, self._whole, members, self._effort)
        if problems is not self._problems:
            self._bounds.append(problems[0].scores.bound)
        variables = sorted(set().union(*(problem.variables for problem in problems)))
        at = np.array([self._index[variable] for variable in variables])
        if near is not None:
            graphs = [graph[np.ix_(at, at)] for graph in near]
            found = self._fits.quick(problems, graphs, self._effort)
        else:
            effort = replace(self._effort, tally=Tally(bounds=self._effort.tally.bounds))
            solution, graphs = self._fits.full(problems, effort, self._report)
            self._effort.tally.stopped.update(effort.tally.stopped)
            if "time_limit" not in effort.tally.stopped:
                self._solutions[tuple(members)] = solution
            found = [graphs]
        n = len(self._index)
        return [[_widened(graph, at, n) for graph in graphs] for graphs in found]

    def _pairs(self):
        """Pairs of tasks that can agree, and those that have a pair of variables in common.

        Returns
        -------
        two bool arrays of shape (k, k)
        """
        k = len(self._problems)
        varying = [
            set(itertools.compress(problem.variables, problem.active)) for problem in self._problems
        ]
        allowed, can_tell = np.ones((k, k), bool), np.zeros((k, k), bool)
        for a, b in itertools.combinations(range(k), 2):
            can_tell[a, b] = can_tell[b, a] = len(varying[a] & varying[b]) > 1
            try:
                self._fits.check([self._problems[a], self._problems[b]])
            except NoCommonGraph:
                allowed[a, b] = allowed[b, a] = False
        return allowed, can_tell


def _widened(graph, at, n):
    wide = np.zeros((n, n), bool)
    wide[np.ix_(at, at)] = graph
    return wide
