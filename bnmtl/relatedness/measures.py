"""Distances between tasks: by structures learned together, predictions, or shared tables.

Each is a labeled square table. Dissimilarities are 0 on the diagonal and smaller is closer; the
probability of shared tables is 1 there, and larger is closer.
"""

import itertools
import math
from collections.abc import Mapping

import networkx as nx
import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, check_number, check_whole, located, warn
from bnmtl.graphs import both_take_part, check_dag, takes_part
from bnmtl.learners.adapted import (
    at_penalty,
    changed,
    check_learns_together,
    for_tasks,
    single_task,
)
from bnmtl.learners.base import Learner
from bnmtl.learners.held_out import (
    HeldOut,
    by_learner,
    check_sample_size,
    held_out_rows,
    held_out_split,
)
from bnmtl.learners.multitask import PENALTY
from bnmtl.learners.task_groups import GroupsByData
from bnmtl.learners.validated import MultitaskLearnerCV
from bnmtl.networks import BayesNet
from bnmtl.networks.shared_tables import fit_tables
from bnmtl.progress import Reporter
from bnmtl.search import Memory
from bnmtl.seeding import seed_of
from bnmtl.tasks import Tasks, encode
from bnmtl.wording import type_of


class Groups:
    """Learners fitted to groups of tasks on the same rows, each group once.

    Parameters
    ----------
    learner : Learner
        For groups of several tasks; a single task is learned by the same single-task search. Its
        ``random_state`` is an int.
    tasks, whole : Tasks
        The training rows, and the same tasks with all rows.
    report : Reporter
        Used instead of the learner's ``progress``.
    """

    def __init__(self, learner, tasks, whole, report):
        # Here groups are given to it, one at a time.
        has_groups = learner.task_groups is not None
        self.learner = changed(learner, task_groups=None) if has_groups else learner
        self.tasks, self._whole, self.report = tasks, whole, report
        self._fitted, self.memory = {}, Memory()

    def fitted(self, names):
        """The learner fitted to some tasks, with names in any order."""
        wanted = set(names)
        names = tuple(name for name in self.tasks if name in wanted)
        if names not in self._fitted:
            learner = changed(self.learner) if len(names) > 1 else single_task(self.learner)
            self._fitted[names] = self.fit(learner, names)
        return self._fitted[names]

    def fit(self, learner, names=None):
        """Fit a learner with the same single-task search, by default to all tasks."""
        names = self.tasks.names if names is None else names
        rows, whole = (Tasks(tasks[name] for name in names) for tasks in (self.tasks, self._whole))
        if len(names) < len(self.tasks):
            learner = for_tasks(learner, whole)
        learner._check_parameters()
        return learner._fit_rows(rows, whole, self.report, memory=self.memory)

    def held_out_score(self, names, name, test):
        """Mean log-likelihood of the held-out rows of a task that is learned with other tasks.

        Parameters
        ----------
        names : iterable of str
            The group, including the task itself.
        name : str
        test : Task
            Its held-out rows.

        Returns
        -------
        float
            In nats per row.
        """
        learner = self.fitted(names)
        held_out = by_learner(learner, learner.tasks_, Tasks([test]))
        return held_out.means(learner.configuration_)[name]


ROUNDING = 1e-9  # smaller differences are rounding errors


def nearest_first(table, principal):
    """Return the distances to a task, without itself, the nearest first and ties by name.

    Parameters
    ----------
    table : pandas.DataFrame
        Distances, tasks by tasks.
    principal : str

    Returns
    -------
    pandas.Series

    Examples
    --------
    >>> import pandas as pd
    >>> tasks = ["east", "north", "west"]
    >>> table = pd.DataFrame([[0, 2, 3], [1, 0, 3], [1, 2, 0]], index=tasks, columns=tasks)
    >>> nearest_first(table, "west").to_dict()
    {'east': 3, 'north': 3}
    """
    column = table[principal].drop(principal)
    order = sorted(range(len(column)), key=lambda i: (column.iloc[i], str(column.index[i])))
    return column.iloc[order]


def n_nearest(values):
    """Count the sorted values equal to the first one."""
    return int(np.sum(values - values[0] <= ROUNDING * np.abs(values).max()))


def largest_gap(values):
    """Count the sorted values before the largest increase, the first among ties; None if flat.

    Examples
    --------
    >>> largest_gap(np.array([1.0, 2.0, 5.0, 8.0])), largest_gap(np.array([2.0, 2.0]))
    (2, None)
    """
    steps = np.diff(values)
    if not len(steps) or steps.max() <= ROUNDING * values[-1]:
        return None
    return int(np.argmax(steps >= steps.max() - ROUNDING * values[-1])) + 1


def writer(values):
    """Choose the number format of dissimilarities in plots, tables and pages.

    The number of decimals gives the largest value three digits; small values that would change by
    more than a twentieth get two significant digits.

    Examples
    --------
    >>> values = [0.001, 0.0012, 0.5, 0.5001, 100]
    >>> [writer(values)(value) for value in values]
    ['0.001', '0.0012', '0.5', '0.5', '100']
    """
    largest = np.max(np.abs(values))
    if np.array_equal(values, np.round(values)) and largest < 1e6:
        return lambda value: f"{value:z.0f}"
    if not 1e-3 <= largest < 1e6:
        return lambda value: f"{value:z.2g}"
    decimals = max(0, 2 - int(np.floor(np.log10(largest))))

    def write(value):
        if abs(value) <= ROUNDING * largest:
            return "0"
        text = f"{value:.{decimals}f}"
        return text if abs(float(text) - value) <= abs(value) / 20 else f"{value:.2g}"

    return write


# Symmetric measures, and all measures.
DISTANCES = ("direct", "shared", "evidence")
MEASURES = ("direct", "indirect", "shared", "evidence")


def direct(tasks, learner, penalty=0.9, normalize=None):
    """Edit distance between structures learned together with a small penalty.

    The penalty removes differences due to chance in the search, and is too small to make tasks
    agree. A pair of variables counts if both tasks could have an arc between them. If the prior of
    the learner lists penalties per pair of variables, the weight of a pair is its penalty divided
    by the penalty of all other pairs, so that pairs that are never shared have weight 0.

    Nothing else of the prior weighs the edits: an added, a removed and a reversed arc are one edit
    each, whatever ``reversal`` and ``costs`` are. Penalties and distances of pairs of tasks do not
    count, either, since the measure would only repeat them. All of these affect which structures
    are learned.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame or Tasks
    learner : MultitaskLearner or MultitaskLearnerCV
        Its search finds the structures; it is not fitted itself. `bnmtl relate` compares structures
        learned with ``table_sharing=None``.
    penalty : float, default=0.9
        Above 0, below 1.
    normalize : bool, default=None
        Whether to divide by the number of pairs that count (the sum of their weights), so that
        tasks with few variables do not look close to all others. None does so if the tasks have
        different variables that vary.

    Returns
    -------
    pandas.DataFrame, tasks by tasks
        Symmetric; a pseudo-metric if all tasks have the same variables. Its ``attrs`` contain the
        number of arcs of the compared structures (``n_arcs``), and the limits that ended the search
        for them (``ended_by``).

    Raises
    ------
    InputTypeError, InputError
        For other learners, priors without a penalty, a penalty out of range, `normalize` that is
        neither None nor a bool, fewer than two tasks, two tasks without a common pair if distances
        are normalized; and as in ``fit``.

    References
    ----------
    Niculescu-Mizil (2008), section 2.4.1.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, problems
    >>> problem = problems.components("asia", [("tub", "asia", "either")], [(), (), (0,)],
    ...                               random_state=0)
    >>> rows = problems.sample(problem, 500, random_state=0)
    >>> table = direct(rows, MultitaskLearner(random_state=0))
    >>> bool(table.loc["task1", "task2"] < table.loc["task1", "task3"])
    True
    """
    used = at_penalty(learner, penalty)
    check_number("penalty", penalty, above=0, below=1, remedy="0.9 is usual")
    _check_normalize(normalize)
    used._check_parameters()
    with Reporter(learner.progress) as report:
        return direct_of(_all_of(tasks, learner, report), penalty, normalize)


def direct_of(groups, penalty=0.9, normalize=None):
    """`direct` for the rows and the learner of groups of tasks."""
    learner = groups.fit(at_penalty(groups.learner, penalty))
    listed = learner.prior.pair_penalties().items()
    weights = {pair: of_pair / learner.prior.penalty for pair, of_pair in listed}
    return _with_arcs(_distances(learner.configuration_, normalize, weights), learner)


def true(configuration, normalize=None):
    """Edit distance between given structures of tasks, such as true ones.

    Parameters
    ----------
    configuration : mapping task -> networkx.DiGraph or BayesNet
    normalize : bool, default=None
        As in `direct`.

    Returns
    -------
    pandas.DataFrame, tasks by tasks

    Raises
    ------
    InputTypeError, InputError
        If it is not a mapping of DAGs, `normalize` is neither None nor a bool, or two tasks have no
        common pair and distances are normalized.

    Examples
    --------
    >>> import networkx as nx
    >>> north, south = nx.DiGraph([("rain", "wet")]), nx.DiGraph([("wet", "rain")])
    >>> true({"north": north, "south": south}).loc["north", "south"]
    np.float64(1.0)
    """
    if not isinstance(configuration, Mapping):
        message = (
            f"must be a mapping from tasks to graphs or networks, got {type_of(configuration)}"
        )
        raise InputTypeError(message, argument="configuration")
    _check_normalize(normalize)
    graphs = {
        task: graph.graph if isinstance(graph, BayesNet) else graph
        for task, graph in configuration.items()
    }
    for task, graph in graphs.items():
        with located(task=task):
            check_dag(graph, "configuration")
    return _distances(graphs, normalize, {})


def indirect(tasks, learner, cv=10):
    """Loss of log-likelihood if the rows of a task are predicted with the structure of another.

    Entry (s, t) is the mean log-likelihood of the held-out rows of t under the structure of t minus
    that under the structure of s, both with probabilities from the other rows of t, in nats per
    row: the row is the task of the structure, the column the task of the predicted rows. Structures
    are learned from all rows of each task alone. If the tasks have different variables, the
    structure of s is restricted to the common ones, and the other variables of t get no arcs.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame or Tasks
    learner : any learner
        Its search finds the structure of each task; it is not fitted itself.
    cv : int, default=10
        Number of folds.

    Returns
    -------
    pandas.DataFrame, tasks by tasks
        Not symmetric; small entries may be negative. Its ``attrs`` are those of `direct`.

    Raises
    ------
    InputTypeError, InputError
        If `cv` is not a whole number of at least 2, there are fewer than two tasks or too few rows,
        or the learner's ``parameter_sample_size`` is 0; and as in ``fit``.

    References
    ----------
    Niculescu-Mizil (2008), section 2.4.2.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, problems
    >>> problem = problems.components("asia", [("tub", "asia", "either")], [(), (), (0,)],
    ...                               random_state=0)
    >>> rows = problems.sample(problem, 500, random_state=0)
    >>> table = indirect(rows, MultitaskLearner(random_state=0))
    >>> bool(table.loc["task2", "task1"] < table.loc["task3", "task1"])
    True
    """
    _check_learner(learner)
    check_whole("cv", cv, 2)
    check_sample_size(learner.parameter_sample_size)
    single_task(learner)._check_parameters()
    with Reporter(learner.progress) as report:
        return indirect_of(_all_of(tasks, learner, report), cv)


def indirect_of(groups, cv):
    """`indirect` for the rows and the learner of groups of tasks."""
    tasks, size = groups.tasks, groups.learner.parameter_sample_size
    folds = held_out_rows(tasks, None, cv, groups.learner.random_state, purpose="relatedness")
    learner = groups.fit(single_task(groups.learner))
    alone = learner.configuration_
    losses = np.zeros((len(tasks), len(tasks)))
    for held_out in folds:
        train, test = held_out_split(tasks, held_out)
        for t, (name, task) in enumerate(tasks.items()):
            scorer = HeldOut(train[name], test[name], size)
            means = np.array([scorer.mean(_cut(graph, task.variables)) for graph in alone.values()])
            losses[:, t] += (means[t] - means) / len(folds)
    return _with_arcs(_table(losses, tasks), learner)


def shared(tasks, learner):
    """Probability that tasks share their tables.

    In each row of a table, tasks form groups with the same probabilities. Entry (s, t) is the
    probability that the two are in one group, given the counts of all tasks, averaged over the
    families of both learned graphs and their rows, weighted by the number of cases of both tasks in
    a row. A family in both graphs counts twice. The prior that centers rows on the other tasks has
    no groups and is left out of this average.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame or Tasks
    learner : any learner
        Its search finds the structures; it is not fitted itself. A `MultitaskLearnerCV` is replaced
        by its `MultitaskLearner` at a penalty of 0.9.

    Returns
    -------
    pandas.DataFrame, tasks by tasks
        Symmetric, 1 on the diagonal; 1 means the same tables everywhere, and about 1/2 means no
        evidence. Its ``attrs`` are those of `direct`.

    Raises
    ------
    InputTypeError, InputError
        If `learner` is not a learner, there are fewer than two tasks, or two tasks have no common
        variable with all its parents; and as in ``fit``.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, structures
    >>> asia = structures.load("asia")
    >>> rows = {name: asia.sample(200, random_state=seed) for seed, name in enumerate("ab")}
    >>> rows["c"] = rows["b"].replace({"smoke": {"yes": "no", "no": "yes"}})
    >>> table = shared(rows, MultitaskLearner(random_state=0))
    >>> bool(table.loc["a", "b"] > table.loc["a", "c"])
    True
    """
    _check_learner(learner)
    _at_one_penalty(learner, 0.9)._check_parameters()
    with Reporter(learner.progress) as report:
        return shared_of(_all_of(tasks, learner, report))


def shared_of(groups):
    """`shared` for the rows and the learner of groups of tasks."""
    learner = groups.fit(_at_one_penalty(groups.learner, 0.9))
    table = fit_tables(learner.configuration_, groups.tasks).in_common
    table = table.rename_axis(index="task", columns="task")
    unknown = np.argwhere(table.isna().to_numpy())
    if len(unknown):
        first, second = (table.index[at] for at in unknown[0])
        message = (
            f"Tasks `{first}` and `{second}` have no probability table to compare; no variable is "
            "in both of them with all its parents"
        )
        raise InputError(message, remedy="leave one of them out")
    return _with_arcs(table, learner)


def _at_one_penalty(learner, penalty):
    """A copy of a learner; one that chooses a penalty gets this one."""
    chooses = isinstance(learner, MultitaskLearnerCV)
    return at_penalty(learner, penalty) if chooses else changed(learner)


def evidence(tasks, learner):
    """How much less the arcs of two tasks gain by learning together than those of the best pair.

    The gain of a pair is the log evidence that its arcs add, with a prior under which the states of
    a pair of variables are draws from a distribution that both tasks share, less what they add in
    each task alone: ``group_gains_`` of `MultitaskLearner` with ``task_groups="auto"``.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame or Tasks
    learner : MultitaskLearner or MultitaskLearnerCV
        Its search finds the structure of each task alone, and its prior those of two together; it
        is not fitted itself. A `MultitaskLearnerCV` is replaced by its `MultitaskLearner` at a
        penalty of 0.99.

    Returns
    -------
    pandas.DataFrame, tasks by tasks
        In nats. Symmetric, 0 on the diagonal and for the pair with the largest gain; pairs that
        cannot learn together have the largest entry. Its ``attrs`` are those of `direct`, and the
        gains themselves (``gains``).

    Raises
    ------
    InputTypeError, InputError
        If `learner` cannot learn tasks together, or there are fewer than two tasks; and as in
        ``fit``.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, problems
    >>> problem = problems.components("asia", [("tub", "asia", "either")], [(), (), (0,)],
    ...                               random_state=0)
    >>> rows = problems.sample(problem, 500, random_state=0)
    >>> table = evidence(rows, MultitaskLearner(random_state=0))
    >>> bool(table.loc["task1", "task2"] < table.loc["task1", "task3"])
    True
    """
    check_learns_together(learner)
    _at_one_penalty(learner, PENALTY)._check_parameters()
    with Reporter(learner.progress) as report:
        return evidence_of(_all_of(tasks, learner, report))


def evidence_of(groups):
    """`evidence` for the rows and the learner of groups of tasks."""
    learner, tasks = _at_one_penalty(groups.learner, PENALTY), groups.tasks
    alone = groups.fit(single_task(learner))
    effort = learner._effort(groups.memory)
    problems = learner._problems(tasks, effort)
    gains = GroupsByData(learner, tasks, tasks, problems, effort, groups.report).gains()
    values = gains.to_numpy()
    distances = np.nanmax(values, initial=-np.inf) - values
    # Pairs that were not tried.
    distances[np.isnan(distances)] = np.nanmax(distances, initial=0.0)
    np.fill_diagonal(distances, 0.0)
    table = _table(distances, tasks)
    table.attrs["gains"] = gains
    return _with_arcs(table, alone)


def distances_of(groups, measure):
    """`direct`, `evidence` or 1 minus `shared`, for the rows and the learner of groups of tasks."""
    if measure == "direct":
        return direct_of(groups)
    if measure == "evidence":
        return evidence_of(groups)
    return as_distances(shared_of(groups))


NO_ARCS = "Nothing was found: no task has an arc, so how close the tasks are is not known"


def as_distances(table):
    """The result of `shared` as probabilities that tables differ."""
    distances = (1.0 - table).clip(lower=0.0)
    distances.attrs.update(table.attrs)
    return distances


def _all_of(tasks, learner, report):
    """Groups with all rows of at least two tasks and the user's learner."""
    encoded = encode(tasks, missing=learner.missing)
    if len(encoded) < 2:
        raise InputError("must hold at least two tasks; it holds one", argument="tasks")
    seed = seed_of(learner.random_state)
    return Groups(changed(learner, random_state=seed), encoded, encoded, report)


def _with_arcs(table, learner):
    """A table with its number of arcs; warn if there are none: distances are then unknown."""
    n_arcs = sum(graph.number_of_edges() for graph in learner.configuration_.values())
    table.attrs.update(n_arcs=n_arcs, ended_by=learner.ended_by_)
    if not n_arcs and not learner.ended_by_:
        warn(NO_ARCS, remedy="more rows or fewer variables may show more")
    return table


def _cut(graph, variables):
    """A graph over other variables, with the arcs between common ones."""
    cut = nx.DiGraph()
    cut.add_nodes_from(variables)
    cut.add_edges_from((a, b) for a, b in graph.edges if a in cut and b in cut)
    return cut


def _check_learner(learner):
    if not isinstance(learner, Learner):
        raise InputTypeError(f"must be a learner, got {type_of(learner)}", argument="learner")


def _check_normalize(normalize):
    if normalize is not None and not isinstance(normalize, bool | np.bool_):
        message = f"must be True, False or None, got {normalize!r}"
        raise InputTypeError(message, argument="normalize", remedy="None is usual")


def _distances(graphs, normalize, weights):
    """Weighted edit distances over the pairs of variables possible in both tasks."""
    parts = [{v for v in graph if takes_part(graph, v)} for graph in graphs.values()]
    if normalize is None:
        normalize = any(part != parts[0] for part in parts)
    table = _table(np.zeros((len(graphs), len(graphs))), graphs)
    for (s, first), (t, second) in itertools.combinations(enumerate(graphs), 2):
        distance = _distance(graphs[first], graphs[second], weights)
        if normalize:
            total = _total(parts[s] & parts[t], weights)
            if total <= 0:
                message = (
                    f"Tasks `{first}` and `{second}` have no pair of variables in "
                    "common that counts"
                )
                raise InputError(message, remedy="leave one of them out")
            distance /= total
        table.iloc[s, t] = table.iloc[t, s] = distance
    return table


def _distance(first, second, weights):
    pairs = {frozenset(arc) for graph in (first, second) for arc in graph.edges}
    differing = []
    for a, b in map(tuple, pairs):
        states = [graph.has_edge(a, b) - graph.has_edge(b, a) for graph in (first, second)]
        if states[0] != states[1] and all(both_take_part(graph, a, b) for graph in (first, second)):
            differing.append(weights.get(frozenset((a, b)), 1.0))
    return math.fsum(differing)


def _total(variables, weights):
    """Sum of the weights of all pairs of some variables."""
    listed = [weight for pair, weight in weights.items() if pair <= variables]
    return len(variables) * (len(variables) - 1) / 2 - len(listed) + math.fsum(listed)


def _table(values, tasks):
    """A table of tasks by tasks."""
    labels = pd.Index(list(tasks), name="task")
    return pd.DataFrame(values, index=labels, columns=labels)
