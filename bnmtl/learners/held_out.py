"""Held-out rows, and their log-likelihood by fold: together, each task alone, and no arcs.

Used to choose a penalty, a number of tasks or of clusters, and to measure task relatedness.
"""

import contextlib
import math
from dataclasses import dataclass, field, replace

import numpy as np

from bnmtl.errors import InputError
from bnmtl.graphs import graphs_by_task
from bnmtl.learners.task_groups import groups_for, search_in_groups
from bnmtl.networks.shared_tables import SharedTables
from bnmtl.networks.tables import family_table
from bnmtl.progress import Reporter
from bnmtl.search.effort import Tally, in_parallel
from bnmtl.search.grouped import GroupedSearch, joined
from bnmtl.search.multitask import search_over
from bnmtl.search.problem import NoCommonGraph
from bnmtl.seeding import generator
from bnmtl.tasks import Tasks

# Default number of folds.
N_FOLDS = 10


def held_out_rows(
    tasks,
    validation,
    cv,
    seed,
    purpose="held out",
    at_least=1,
    remedy="hold out less",
    leave_one_out=False,
    groups=None,
):
    """Choose the held-out rows of every task.

    The rows are sorted by their codes and then permuted with a separate seed for each task, so
    their given order does not matter. A row and its copies (`Task.originals`) stay together: a row
    is not predicted from its own copy.

    Parameters
    ----------
    tasks : Tasks
    validation : float or None
        Share of rows to hold out once, rounded up.
    cv : int or None
        Number of folds, if ``validation`` is None.
    seed : int
    purpose : str, default="held out"
        Rows held out for different purposes are drawn independently.
    at_least : int, default=1
        Fewest rows of a validation set.
    remedy : str, default="hold out less"
        Advice in the error for a task with too few rows, besides giving it more rows.
    leave_one_out : bool, default=False
        Whether a task may have fewer rows than there are folds: then each of its rows is held out
        alone, and the other folds hold out none of its rows.
    groups : mapping task -> array with a name per row, default=None
        Rows that are held out together, instead of a row and its copies.

    Returns
    -------
    list of dict task -> int array
        One entry per fold.

    Raises
    ------
    InputError
        If a task has too few rows.

    References
    ----------
    Niculescu-Mizil (2008), section 2.3.4.
    """
    folds = [{} for _ in range(cv or 1)]
    most = most_folds(tasks, groups)
    for name, task in tasks.items():
        rows = _blocks(task, groups)
        n_rows = len(rows)
        rows = [rows[at] for at in generator(seed, name, purpose).permutation(n_rows)]
        if cv is None:
            # 0.07 * 100 is slightly more than 7 in floating point.
            n_held_out = max(at_least, math.ceil(round(validation * n_rows, 6)))
            if n_held_out >= n_rows:
                left = f"holding out {n_held_out} leaves none to learn from"
                advice = f"{remedy}, or give the task more rows"
                raise InputError(f"has {_rows(task)}, and {left}", task=name, remedy=advice)
            folds[0][name] = np.concatenate(rows[:n_held_out])
            continue
        if n_rows < cv <= most and leave_one_out:
            for fold, row in zip(folds, rows, strict=False):
                fold[name] = row
            continue
        if n_rows < cv:
            message = f"must not be more than the {_rows(task)} of the task, got {cv!r}"
            raise InputError(message, argument="cv", task=name, remedy="use fewer folds")
        for fold, part in zip(folds, np.array_split(np.arange(n_rows), cv), strict=True):
            fold[name] = np.concatenate([rows[at] for at in part])
    return folds


def _blocks(task, groups):
    """Rows that are held out together, as a list of int arrays: groups, or a row and its copies."""
    if groups is None:
        order, sizes = task.originals
        return np.split(order, np.cumsum(sizes)[:-1])
    names, at = np.unique(groups[task.name], return_inverse=True)
    return [np.flatnonzero(at == index) for index in range(len(names))]


def _rows(task):
    """The number of rows of a task as text, copies counted once."""
    n_rows = len(_blocks(task, None))
    n_copies = task.n_rows - n_rows
    return f"{n_rows} rows (without {n_copies} copies)" if n_copies else f"{n_rows} rows"


def check_sample_size(size):
    """Raise unless every state of held-out rows has a probability above 0."""
    if size == 0:
        message = f"must be above 0 where held-out rows are predicted, got {size!r}"
        remedy = "with 0, a state that is new among them has probability 0; 'auto' is the default"
        raise InputError(message, argument="parameter_sample_size", remedy=remedy)


def most_folds(tasks, groups=None):
    """Rows of the largest task, copies counted once; with more folds, one would be empty.

    With ``groups``, the groups of the task that has the most.
    """
    return max(len(_blocks(task, groups)) for task in tasks.values())


def default_folds(tasks, leave_one_out=False, groups=None):
    """Number of folds: 10, or the rows of the smallest task if they are fewer.

    With ``leave_one_out``, as in `held_out_rows`, the largest task counts instead. A row and its
    copies count once, and with ``groups`` so do the rows of a group.
    """
    if leave_one_out:
        return min(N_FOLDS, most_folds(tasks, groups))
    return min(N_FOLDS, *(len(_blocks(task, groups)) for task in tasks.values()))


def held_out_split(tasks, held_out):
    """The training and the held-out rows, as two Tasks; a task may have no held-out rows."""
    kept = {
        name: np.setdiff1d(np.arange(task.n_rows), held_out.get(name, ()))
        for name, task in tasks.items()
    }
    return tasks.take(kept), Tasks(tasks[name].take(rows) for name, rows in held_out.items())


class HeldOut:
    """Log-likelihood of the held-out rows of a task under graphs; each family is computed once.

    Parameters
    ----------
    train, test : Task
        The rows used to estimate probability tables, and the rows to predict.
    equivalent_sample_size : float or "auto", default="auto"
        Of the tables.
    """

    def __init__(self, train, test, equivalent_sample_size="auto"):
        self._train, self._test = train, test
        self._size = equivalent_sample_size
        self._known = {}

    def rows(self, graph, tables=None):
        """Log-likelihood of each held-out row under a graph, in nats, float array.

        The tables are those of `BayesNet.fit` on the training rows, unless others are given as a
        mapping variable -> float array.
        """
        families = ((v, sorted(graph.predecessors(v))) for v in graph)
        if tables is None:
            return np.sum([self._family(*family) for family in families], axis=0)
        return np.sum([self._under(tables[v], v, parents) for v, parents in families], axis=0)

    def mean(self, graph):
        """Mean log-likelihood of a held-out row under a graph, in nats."""
        return sum(self.family(child, sorted(graph.predecessors(child))) for child in graph)

    def family(self, child, parents):
        """The term of one child, given the sorted names of its parents."""
        return float(self._family(child, parents).mean())

    def _family(self, child, parents):
        """Log-probability of the child's state in every held-out row."""
        key = (child, *parents)
        if key not in self._known:
            at = [self._train.index[variable] for variable in (*parents, child)]
            shape = tuple(int(r) for r in self._train.arities[at])
            table = family_table(child, self._train.codes[at], shape, self._size)
            self._known[key] = self._under(table, child, parents)
        return self._known[key]

    def _under(self, table, child, parents):
        """Log-probability of the child's state in every held-out row, under a table."""
        at = [self._train.index[variable] for variable in (*parents, child)]
        with np.errstate(divide="ignore"):
            log_table = np.log(table)
        return log_table[tuple(self._test.codes[at])]


class HeldOutTasks:
    """Log-likelihood of the held-out rows of several tasks under graphs.

    Parameters
    ----------
    train, test : Tasks
        The rows used to estimate tables, and the rows to predict; a task without held-out rows is
        not in ``test``.
    equivalent_sample_size : float or "auto", default="auto"
        Used for separate tables.
    shares_tables : bool, default=False
        Whether tables borrow from other tasks.
    """

    def __init__(self, train, test, equivalent_sample_size="auto", shares_tables=False):
        self._by_task = {
            name: HeldOut(train[name], rows, equivalent_sample_size) for name, rows in test.items()
        }
        self._shared = SharedTables(train) if shares_tables else None

    def rows(self, graphs, groups=None):
        """Log-likelihood of each held-out row, in nats.

        Parameters
        ----------
        graphs : mapping task -> networkx.DiGraph
            For all tasks with training rows: tables may borrow from any of them.
        groups : list of lists of str, default=None
            Groups of tasks, as in `fit_tables`.

        Returns
        -------
        dict task -> float array
        """
        if self._shared is None:
            return {name: task.rows(graphs[name]) for name, task in self._by_task.items()}
        tables = self._shared.fit(graphs, groups).tables
        return {name: task.rows(graphs[name], tables[name]) for name, task in self._by_task.items()}

    def means(self, graphs, groups=None):
        """Mean log-likelihood of a held-out row of each task, in nats: dict task -> float."""
        return {name: float(rows.mean()) for name, rows in self.rows(graphs, groups).items()}


def by_learner(learner, train, test):
    """`HeldOutTasks` with tables estimated as by a learner."""
    return HeldOutTasks(train, test, learner.parameter_sample_size, learner._shares_tables(train))


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
    log_posterior: np.ndarray | None = None
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
    constraints = learner._constraints(tasks)

    def score(held_out, fold_effort):
        stopped, bounds = fold_effort.tally.stopped, fold_effort.tally.bounds
        fold_effort = replace(fold_effort.with_orders(starts=1), tally=Tally(bounds=bounds))
        train, test = held_out_split(tasks, held_out)
        if fold_effort.is_over():
            stopped.update(fold_effort.tally.stopped)
            return _without_arcs(learner, train, test, held_out, len(priors), posterior, one_group)
        problems = learner._problems(train, fold_effort, tasks, constraints)
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

        def rows_under(solution, groups=None):
            return _row_scores(together, train, solution.matrices, solution.score, groups)

        empty = [np.zeros_like(problem.constraints.required) for problem in problems]
        alone = _row_scores(separate, train, search.alone(fold_effort))
        stopped.update(fold_effort.tally.stopped)
        fold = Fold(
            **_which_rows(train, test, held_out),
            together=np.array([rows_under(solution, of_fold.names) for solution in solutions]),
            alone=alone,
            empty=_row_scores(together, train, empty, groups=of_fold.names),
            ended_by=fold_effort.tally.stopped,
        )
        if posterior is not None:
            pairs = zip(priors, path, strict=True)
            log_posterior = [search.posterior(posterior, *pair) for pair in pairs]
            fold = replace(fold, log_posterior=np.array(log_posterior))
        if one_group and whole is not None:
            fold = replace(fold, one_group=np.array([rows_under(solution) for solution in whole]))
        return fold

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
    empty = _row_scores(by_learner(learner, train, test), train, graphs)
    separate = HeldOutTasks(train, test, learner.parameter_sample_size)
    return Fold(
        **_which_rows(train, test, held_out),
        together=np.array([empty] * n_penalties),
        alone=_row_scores(separate, train, graphs),
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
        starts = [_starts(learner, of_group, priors) for of_group in search.searches]
    return search.greedy_path(priors, starts, effort)


def _starts(learner, search, priors):
    """Adjacency matrices that the greedy search of a group starts from, by name.

    They are found with separate tables, even if the tasks share tables.
    """
    if all(search.is_uncoupled(prior) for prior in priors):
        return {}
    asked, starts = learner._start_names(), {}
    for name in asked or ("single-task", "identical"):
        # A search over shared orders begins with the identical graph.
        name = "identical" if name == "orders" else name
        # Requested starts must be included.
        with contextlib.nullcontext() if asked else contextlib.suppress(NoCommonGraph):
            starts[name] = (search.separate or search).start(name)
    return starts


def _row_scores(held_out, train, matrices, score=0.0, groups=None):
    """Log-likelihood of all held-out rows, one task after another."""
    rows = np.concatenate(list(held_out.rows(graphs_by_task(train, matrices), groups).values()))
    return np.full_like(rows, -np.inf) if score == -np.inf else rows
