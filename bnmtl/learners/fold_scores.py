"""Log-likelihood of held-out rows by fold: together, in one group, each alone, and no arcs."""

import contextlib
from dataclasses import dataclass, field, replace

import numpy as np

from bnmtl.graphs import graphs_by_task
from bnmtl.learners.held_out import HeldOutTasks, by_learner, held_out_rows, held_out_split
from bnmtl.learners.task_groups import groups_for, search_in_groups
from bnmtl.progress import Reporter
from bnmtl.search.effort import Tally, in_parallel
from bnmtl.search.grouped import GroupedSearch, joined
from bnmtl.search.problem import NoCommonGraph
from bnmtl.search.shared_multitask import search_over


@dataclass(frozen=True)
class Fold:
    """Log-likelihood of held-out rows, in nats, under networks learned without them.

    Attributes
    ----------
    task, row : int array of shape (m,)
        Origin of the m held-out rows: index of the task, position in it.
    together : float array of shape (p, m)
        Under the configuration learned at each of p penalties; -inf if there is none.
    alone : float array of shape (m,)
        Under graphs of tasks learned alone, with separate tables.
    empty : float array of shape (m,)
        Without any arc, with tables as under ``together``.
    one_group : float array of shape (p, m), or None
        Under the configuration in which all tasks learn from each other; None unless it is asked
        for, or if they cannot be one group.
    log_posterior : float array of shape (p,), or None
        Log posterior of the penalties, given the other rows.
    ended_by : set of str
        Limits that ended a search of the fold early.
    """

    task: np.ndarray
    row: np.ndarray
    together: np.ndarray
    alone: np.ndarray
    empty: np.ndarray
    log_posterior: np.ndarray | None
    one_group: np.ndarray | None = None
    ended_by: set = field(default_factory=set)


def penalty_scores(folds):
    """The contribution of each fold to the score of each penalty.

    Returns
    -------
    float array of shape (p, n_folds)
        The mean over folds is the mean over tasks of the mean log-likelihood of a row.
    """
    sizes = np.bincount(np.concatenate([fold.task for fold in folds]))
    weights = [len(folds) / len(sizes) / sizes[fold.task] for fold in folds]
    pairs = zip(folds, weights, strict=True)
    return np.column_stack([fold.together @ weight for fold, weight in pairs])


def score_folds(
    learner,
    tasks,
    n_folds,
    priors,
    effort,
    report,
    given=None,
    groups=None,
    posterior=None,
    one_group=False,
    row_groups=None,
):
    """Hold out every row once, and score it by networks learned from the other rows.

    The structures of a fold are searched from a single start each, and along the penalties by the
    greedy search alone.

    Parameters
    ----------
    learner : Learner
    tasks : Tasks
        With all rows.
    n_folds : int
        At least one task must have as many rows; tasks with fewer rows hold out one row at a time.
    priors : list of priors
        The penalties, the largest first; empty where tasks are not learned together.
    effort : Effort
    report : callable (done)
    given : dict name -> list of bool array, default=None
        Start graphs given by the user.
    groups : TaskGroups, default=None
        The groups of tasks in every fold; None takes those of the learner, and finds them from the
        rows of the fold if they depend on the data.
    posterior : callable (search, prior, solution) -> float, default=None
        Log posterior of a penalty for one group of tasks.
    one_group : bool, default=False
        Whether rows are also scored by configurations in which all tasks learn from each other.
    row_groups : mapping task -> array with a name per row, default=None
        Rows that are held out together.

    Returns
    -------
    list of Fold
    """
    constraints = learner.constraints(tasks)

    def score(held_out, fold_effort):
        stopped, bounds = fold_effort.tally.stopped, fold_effort.tally.bounds
        fold_effort = replace(fold_effort.with_orders(starts=1), tally=Tally(bounds=bounds))
        train, test = held_out_split(tasks, held_out)
        if fold_effort.is_over():
            stopped.update(fold_effort.tally.stopped)
            return _without_arcs(learner, train, test, held_out, len(priors), posterior, one_group)
        problems = learner.problems(train, fold_effort, tasks, constraints)
        of_fold, silent = groups, Reporter(False)
        if groups is None:
            of_fold = groups_for(learner, train, tasks, problems, fold_effort, silent)
        search = search_in_groups(learner, of_fold.members, tasks, problems, fold_effort, silent)
        path = _path(learner, search, priors, given, fold_effort)
        solutions = whole = [joined(of_fold.members, parts) for parts in path]
        if one_group and len(of_fold.members) > 1:
            joint = search_over(problems, fold_effort, silent)
            whole = _path_of_one_group(learner, joint, priors, given, fold_effort)
        together = by_learner(learner, train, test)
        separate = HeldOutTasks(train, test, learner.parameter_sample_size)
        empty = [np.zeros_like(problem.constraints.required) for problem in problems]
        alone = _rows(separate, train, search.alone(fold_effort))
        stopped.update(fold_effort.tally.stopped)
        return Fold(
            **_which_rows(train, test, held_out),
            together=np.array(
                [
                    _rows(together, train, one.matrices, one.score, of_fold.names)
                    for one in solutions
                ]
            ),
            alone=alone,
            empty=_rows(together, train, empty, groups=of_fold.names),
            log_posterior=None
            if posterior is None
            else np.array(
                [search.posterior(posterior, *one) for one in zip(priors, path, strict=True)]
            ),
            one_group=None
            if not one_group or whole is None
            else np.array([_rows(together, train, one.matrices, one.score) for one in whole]),
            ended_by=fold_effort.tally.stopped,
        )

    folds = held_out_rows(tasks, None, n_folds, effort.seed, leave_one_out=True, groups=row_groups)
    found = []
    for fold in in_parallel(score, [(rows,) for rows in folds], effort):
        found.append(fold)
        report(len(found))
    return found


def _which_rows(train, test, held_out):
    """Origin of the held-out rows: fields of a `Fold`."""
    sizes = [test[name].n_rows for name in test]
    return {
        "task": np.repeat([train.names.index(name) for name in test], sizes),
        "row": np.concatenate([held_out[name] for name in test]),
    }


def _without_arcs(learner, train, test, held_out, n_penalties, posterior, one_group):
    """A fold for which no time was left: graphs without arcs at every penalty."""
    graphs = [np.zeros((task.n_variables, task.n_variables), bool) for task in train.values()]
    empty = _rows(by_learner(learner, train, test), train, graphs)
    separate = HeldOutTasks(train, test, learner.parameter_sample_size)
    return Fold(
        **_which_rows(train, test, held_out),
        together=np.array([empty] * n_penalties),
        alone=_rows(separate, train, graphs),
        empty=empty,
        log_posterior=None if posterior is None else np.zeros(n_penalties),
        one_group=np.array([empty] * n_penalties) if one_group else None,
        ended_by={"time_limit"},
    )


def _path_of_one_group(learner, search, priors, given, effort):
    """A solution at every penalty, in which all tasks learn from each other; None if they cannot.

    With a penalty of 1, tasks whose constraints contradict each other cannot.
    """
    everyone = GroupedSearch([list(range(len(search.problems)))], [search])
    try:
        path = [parts[0] for parts in _path(learner, everyone, priors, given, effort)]
    except NoCommonGraph:
        return None
    return None if any(solution.score == -np.inf for solution in path) else path


def _path(learner, search, priors, given, effort):
    """The solutions of all groups at every penalty."""
    if not priors:
        return []
    starts = search.within(given) if given else None
    if starts is None:
        starts = [_starts(learner, one, priors) for one in search.searches]
    return search.greedy_path(priors, starts, effort)


def _starts(learner, search, priors):
    """Adjacency matrices that the greedy search of a group starts from, by name.

    They are found with separate tables, even if the tasks share tables.
    """
    if all(search.is_uncoupled(prior) for prior in priors):
        return {}
    asked, starts = learner.start_names(), {}
    for name in asked or ("single-task", "identical"):
        # A search over shared orders begins with the identical graph.
        name = "identical" if name == "orders" else name
        # Requested starts must be included.
        with contextlib.nullcontext() if asked else contextlib.suppress(NoCommonGraph):
            starts[name] = search.separate_tables.start(name)
    return starts


def _rows(held_out, train, matrices, score=0.0, groups=None):
    """Log-likelihood of all held-out rows, one task after another."""
    rows = np.concatenate(list(held_out.rows(graphs_by_task(train, matrices), groups).values()))
    return np.full_like(rows, -np.inf) if score == -np.inf else rows
