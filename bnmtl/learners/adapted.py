"""Variants of a learner: fewer tasks, one penalty, tasks alone, fixed choices, other graphs."""

import copy

import networkx as nx
import numpy as np
from sklearn.base import clone

from bnmtl.errors import InputTypeError
from bnmtl.graphs import adjacency
from bnmtl.learners.baselines import IdenticalLearner, SingleTaskLearner
from bnmtl.learners.multitask import MultitaskLearner
from bnmtl.learners.task_groups import AUTO, groups_for, search_in_groups
from bnmtl.learners.validated import MultitaskLearnerCV
from bnmtl.priors.coupling import CouplingPrior
from bnmtl.progress import Reporter
from bnmtl.search.compilation import compilation_reported
from bnmtl.search.effort import Memory
from bnmtl.search.grouped import joined
from bnmtl.search.multitask import Solution
from bnmtl.search.one_graph import score_identical
from bnmtl.search.problem import is_by_task
from bnmtl.wording import type_of


def changed(learner, **parameters):
    """An unfitted learner of the same kind with some parameters changed, the others shared."""
    return type(learner)(**{**learner.get_params(deep=False), **parameters})


def single_task(learner):
    """A learner of each task alone with the search of a given learner."""
    parameters = _shared(learner, SingleTaskLearner)
    if isinstance(parameters["start"], str):
        parameters["start"] = None
    return SingleTaskLearner(**parameters)


def check_learns_together(learner):
    """Raise InputTypeError unless a learner learns several tasks together."""
    if not isinstance(learner, MultitaskLearner):
        message = f"must be a MultitaskLearner or a MultitaskLearnerCV, got {type_of(learner)}"
        remedy = "tasks are compared when they are learned together"
        raise InputTypeError(message, argument="learner", remedy=remedy)


def at_penalty(learner, penalty):
    """A `MultitaskLearner` with one penalty and the other parameters of a given learner.

    Raises
    ------
    InputTypeError
        If the learner has no prior with a penalty.
    """
    check_learns_together(learner)
    parameters = _shared(learner, MultitaskLearner)
    prior = learner._used_prior()
    if not isinstance(prior, CouplingPrior):
        message = f"of the learner must be a PairedPrior or an EditPrior, got {prior!r}"
        raise InputTypeError(message, argument="prior", remedy="only they have a penalty")
    parameters["prior"] = clone(prior).set_params(penalty=penalty)
    return MultitaskLearner(**parameters)


def as_chosen(learner):
    """An unfitted learner with the choices that a fitted one has made on its rows.

    Parameters
    ----------
    learner : Learner
        Fitted.

    Returns
    -------
    Learner
        A `MultitaskLearner` at the penalty of a `MultitaskLearnerCV`; otherwise one of the same
        kind. Groups of tasks that were found are given.
    """
    chosen = changed(learner)
    if isinstance(learner, MultitaskLearnerCV):
        chosen = at_penalty(learner, learner.penalty_)
    if learner.task_groups == AUTO:
        return changed(chosen, task_groups=learner.task_groups_.to_dict())
    return chosen


def keeping_groups(learner, tasks, stopped):
    """A learner whose fits to some rows of tasks keep the groups that it finds in all rows.

    Parameters
    ----------
    learner : Learner
        Unfitted.
    tasks : Tasks
        All rows.
    stopped : set of str
        Receives the names of the limits that ended the search for groups.

    Returns
    -------
    Learner
        The given one if it does not find groups.
    """
    if getattr(learner, "task_groups", None) != AUTO:
        return learner
    effort = learner._effort(Memory())
    kernels = learner._kernels_called(tasks, effort)
    with Reporter(learner.progress) as report, compilation_reported(report, kernels):
        problems = learner._problems(tasks, effort)
        groups = groups_for(learner, tasks, tasks, problems, effort, report)
    stopped.update(effort.tally.stopped)
    return changed(learner, task_groups=groups.numbers)


def family_limits(learner):
    """The families that a fitted learner allows, for graphs from any source.

    Parameters
    ----------
    learner : Learner
        Fitted.

    Returns
    -------
    callable
        (task, child, parents) -> False if these and the required parents exceed `max_parents` or
        the table would have too many cells. All parents except the last one are known to be
        allowed; a required one always is.
    """
    tasks = learner.tasks_
    problems = dict(zip(tasks, learner._problems(tasks, learner._effort()), strict=True))

    def allowed(name, child, parents):
        problem = problems[name]
        at = {variable: i for i, variable in enumerate(problem.variables)}
        *held, last = (at[parent] for parent in parents)
        required = np.flatnonzero(problem.constraints.required[:, at[child]]).tolist()
        if last in required:
            return True
        held = sorted({*held, *required})
        if len(held) >= problem.constraints.max_parents:
            return False
        return not np.isnan(problem.scores.gains(at[child], held)[last])

    return allowed


def with_graphs(learner, configuration):
    """A copy of a fitted learner with other graphs of the same tasks.

    Parameters
    ----------
    learner : SingleTaskLearner, IdenticalLearner or MultitaskLearner
        Fitted; it is not modified.
    configuration : mapping task -> networkx.DiGraph
        DAGs over the variables of each task; an omitted task has no arcs.

    Returns
    -------
    Learner
        With the graphs, their networks, arcs and scores; `score_` is -inf if the prior excludes
        them. All other fitted attributes, such as the penalty and how it was chosen, are those of
        the given learner.
    """
    other = copy.copy(learner)
    tasks = learner.tasks_
    problems = other._problems(tasks, other._effort())
    empty = nx.DiGraph()
    matrices = [
        adjacency(configuration.get(name, empty), task.variables) for name, task in tasks.items()
    ]
    groups = learner._groups_of_names()
    members = [[tasks.names.index(name) for name in group] for group in groups]
    if isinstance(learner, MultitaskLearner):
        given = [Solution([matrices[s] for s in group], 0.0, [], "given", {}) for group in members]
        prior, effort = as_chosen(learner)._used_prior(), learner._effort()
        search = search_in_groups(learner, members, tasks, problems, effort, Reporter(False))
        scored = joined(members, search.scored(prior, given, search.problems))
        score, task_scores = scored.score, scored.task_scores
    elif isinstance(learner, IdenticalLearner):
        score, task_scores = _one_graph_scored(other, problems, matrices, members)
    else:
        pairs = zip(problems, matrices, strict=True)
        task_scores = [problem.log_posterior(matrix) for problem, matrix in pairs]
        score = sum(task_scores)
    other._set_fitted(tasks, tasks, matrices, score, task_scores, groups=groups)
    return other


def _one_graph_scored(learner, problems, matrices, members):
    """Score and task scores of given graphs under a fitted `IdenticalLearner`."""
    joints = learner._joint_problems(problems, learner.tasks_, members)
    solutions, graphs = [], []
    for joint, group in zip(joints, members, strict=True):
        given = [matrices[s] for s in group]
        graphs.append(joint.spread(given).any(axis=0))
        score, task_scores = score_identical(joint, graphs[-1])
        cut = (joint.restrict(at, graphs[-1]) for at in range(len(group)))
        score = score if all(map(np.array_equal, cut, given)) else -np.inf
        solutions.append(Solution(given, score, task_scores, "given", {}))
    learner._set_common(learner._groups_of_names(), joints, graphs)
    found = joined(members, solutions)
    return found.score, found.task_scores


def for_tasks(learner, tasks):
    """The same learner for fewer tasks, without the settings for other tasks.

    Parameters
    ----------
    learner : Learner
        With parameters that may name more tasks than these.
    tasks : Tasks
        With all rows.

    Returns
    -------
    Learner
        Unfitted. A `MultitaskLearnerCV` becomes a `MultitaskLearner` if there is no penalty to
        choose, because every pair of these tasks has its own.
    """
    parameters = learner.get_params(deep=False)
    for name in ("required", "forbidden", "tiers", "structure_prior", "start"):
        value = parameters[name]
        if not is_by_task(value):
            parameters[name] = _among(name, value, tasks)
            continue
        # Arcs and tiers of a task name its own variables; graphs and priors name those of any task.
        is_free = name in ("structure_prior", "start")
        parameters[name] = {
            task: _among(name, of_task, tasks) if is_free else of_task
            for task, of_task in value.items()
            if str(task) in tasks.names
        }
    if is_by_task(parameters.get("task_groups")):
        labels = parameters["task_groups"].items()
        kept = {task: label for task, label in labels if str(task) in tasks.names}
        parameters["task_groups"] = kept
    prior = parameters.get("prior")
    if isinstance(prior, CouplingPrior):
        parameters["prior"] = prior.among(tasks.variables, tasks.names)
    restricted = changed(learner, **parameters)
    if isinstance(restricted, MultitaskLearnerCV) and restricted._without_choice(tasks):
        return at_penalty(restricted, restricted.prior.penalty)
    return restricted


def _among(name, value, tasks):
    """A parameter for all tasks, restricted to the variables of these tasks."""
    if name in ("required", "forbidden"):
        usable = [set(task.variables) - set(task.constant) for task in tasks.values()]
        arcs = [tuple(map(str, arc)) for arc in value]
        return [arc for arc in arcs if any(names.issuperset(arc) for names in usable)]
    if name == "tiers" and value is not None:
        return [[v for v in map(str, tier) if v in tasks.variables] for tier in value]
    if name == "structure_prior" and hasattr(value, "among"):
        return value.among(tasks.variables)
    if name == "start" and isinstance(value, nx.DiGraph):
        return value.subgraph([node for node in value if str(node) in tasks.variables])
    return value


def _shared(learner, kind):
    """The parameters of a learner that another kind of learner also has."""
    known, parameters = kind().get_params(deep=False), learner.get_params(deep=False)
    return {name: value for name, value in parameters.items() if name in known}
