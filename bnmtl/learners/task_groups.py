"""Groups of tasks that learn from each other: given by the user, or found from the data."""

from dataclasses import replace

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.search.constraints import check_names, is_by_task
from bnmtl.search.couplings import Couplings
from bnmtl.search.problem import JointProblem, NoCommonGraph
from bnmtl.search.shared_multitask import search_over
from bnmtl.search.task_groups import QUICK, GroupSearch, GroupValue, quick_fits

AUTO = "auto"
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
    groups = {}
    for name in tasks.names:
        groups.setdefault(labels[name], []).append(name)
    return list(groups.values())


def find_groups(learner, tasks, whole, problems, effort, report):
    """The groups of tasks that the data support.

    Parameters
    ----------
    learner : MultitaskLearner
    tasks, whole : Tasks
        As in ``fit_rows``.
    problems : list of TaskProblem
        Of all tasks.
    effort : Effort
    report : Reporter

    Returns
    -------
    groups : list of lists of str
    evidence : dict str -> object
        The attributes ``group_gains_``, ``group_margins_`` and ``alternatives_``.
    solutions : dict of tuple of int -> Solution
        Full solutions of groups that were found on the way.
    """
    prior, names = learner.used_prior(), tasks.names
    effort = effort.share(_SHARE_OF_TIME)
    quick = replace(effort, search=QUICK)
    alone = search_over(problems, effort, report).alone(effort)
    value = GroupValue(problems)
    index = {variable: at for at, variable in enumerate(value.joint.variables)}
    solutions, n_fits = {}, 0

    def fit(members, is_quick):
        nonlocal n_fits
        n_fits += 1
        report("groups of tasks", None, n_fits)
        search = search_over(
            learner.group_problems(problems, whole, members), quick if is_quick else effort, report
        )
        if is_quick:
            graphs = [alone[s] for s in members]
            found = quick_fits(search, prior, graphs, Couplings)
        else:
            starts = search.starts([prior])
            solutions[tuple(members)] = search.solve(prior, starts, report)
            found = [search.joint.spread(solutions[tuple(members)].matrices)]
        at = np.array([index[variable] for variable in search.joint.variables])
        return [[_widened(graph, at, len(index)) for graph in graphs] for graphs in found]

    search = GroupSearch(value, fit, _may_join(learner, problems, whole, prior), effort.is_over)
    for s, graph in enumerate(value.joint.spread(alone)):
        search.add_graphs([s], [graph])
    found = search.search()
    gains = pd.DataFrame(found.gains, index=names, columns=names)
    labels = [
        {names[s]: at for at, group in enumerate(groups, 1) for s in group}
        for groups, _ in found.alternatives
    ]
    evidence = {
        "group_gains_": gains,
        "group_margins_": pd.Series(found.margins, index=pd.Index(names, name="task")),
        "alternatives_": pd.DataFrame(labels, columns=names).assign(
            value=[value for _, value in found.alternatives]
        ),
    }
    return [[names[s] for s in group] for group in found.groups], evidence, solutions


def _widened(graph, at, n):
    wide = np.zeros((n, n), bool)
    wide[np.ix_(at, at)] = graph
    return wide


def _may_join(learner, problems, whole, prior):
    """Pairs of tasks that have a pair of variables in common and can agree, bool array (k, k)."""
    k = len(problems)
    allowed = np.zeros((k, k), bool)
    for a in range(k):
        for b in range(a + 1, k):
            varying = [
                {v for v, varies in zip(one.variables, one.active, strict=True) if varies}
                for one in (problems[a], problems[b])
            ]
            if len(varying[0] & varying[1]) < 2:
                continue
            joint = JointProblem(learner.group_problems(problems, whole, [a, b]))
            try:
                Couplings(prior, joint).check_agreement()
            except NoCommonGraph:
                continue
            allowed[a, b] = allowed[b, a] = True
    return allowed
