"""The table of learned arcs: strength, sign, direction, and number of tasks with the arc."""

import math
from collections import Counter
from operator import itemgetter

import numpy as np
import pandas as pd

from bnmtl.graphs import Sharing, compelled_arcs, groups_by_label, sharing_in_groups


def tau_b(counts):
    """Kendall's tau-b of two ordered variables, and its standard error if they are independent.

    For C concordant and D discordant pairs of rows, and T_x and T_y pairs tied in x and in y, of N
    = n (n - 1) / 2 pairs,

        tau_b = (C - D) / sqrt((N - T_x) (N - T_y)).

    Given the frequency of each state, the denominator is fixed, and the variance of C - D over all
    permutations of one variable is v / 18 + a b / (2 n (n - 1)) + c d / (9 n (n - 1) (n - 2)) where
    v = n (n - 1) (2 n + 5) less the same sum over the counts of x and of y, a and b are the sums of
    t (t - 1) over the counts t of x and of y, c and d those of t (t - 1) (t - 2).

    Parameters
    ----------
    counts : int array of shape (n_states_x, n_states_y)
        Number of rows of each pair of states, both from low to high.

    Returns
    -------
    tau, error : float
        Both are nan if a variable is constant.

    References
    ----------
    M. G. Kendall (1970), "Rank correlation methods", 4th edition, chapters 3 to 5.

    Examples
    --------
    >>> tau, error = tau_b(np.array([[4, 1], [1, 4]]))
    >>> round(tau, 3), round(error, 3)
    (0.6, 0.333)
    """
    # Python integers do not overflow at fourth powers of the number of rows.
    table = [[int(count) for count in row] for row in np.asarray(counts)]
    of_x, of_y = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    n = sum(of_x)
    untied_x, untied_y = (
        n * (n - 1) - sum(t * (t - 1) for t in counts_of) for counts_of in (of_x, of_y)
    )
    if not untied_x or not untied_y:
        return math.nan, math.nan
    # Concordant minus discordant pairs: for every cell, its rows times those above and to the left
    # minus those above and to the right.
    excess, above = 0, [0] * len(table[0])
    for row in table:
        left, right = 0, sum(above)
        for count, higher in zip(row, above, strict=True):
            right -= higher
            excess += count * (left - right)
            left += higher
        above = [higher + count for higher, count in zip(above, row, strict=True)]
    denominator = math.sqrt(untied_x * untied_y) / 2
    return excess / denominator, math.sqrt(_variance(n, of_x, of_y)) / denominator


def _variance(n, of_x, of_y):
    """Variance of concordant minus discordant pairs over permutations."""

    def without_ties(t):
        return t * (t - 1) * (2 * t + 5)

    first = without_ties(n) - sum(map(without_ties, of_x)) - sum(map(without_ties, of_y))
    pairs = math.prod(sum(t * (t - 1) for t in side) for side in (of_x, of_y))
    triples = math.prod(sum(t * (t - 1) * (t - 2) for t in side) for side in (of_x, of_y))
    variance = first / 18 + pairs / (2 * n * (n - 1))
    return variance + (triples / (9 * n * (n - 1) * (n - 2)) if n > 2 else 0.0)


def signed_association(task, first, second):
    """Tau-b of two variables of a task; nan if its sign is not reliable.

    Rows with a missing value in one of the two are ignored.

    Parameters
    ----------
    task : Task
    first, second : str

    Returns
    -------
    float
        Nan if the states of a variable have no order (`Task.ranks`), a variable is constant, or
        tau-b is within one standard error of 0.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl.tasks import encode
    >>> rows = pd.DataFrame({"altitude": [1, 2, 3, 4] * 5, "wren": ["yes", "yes", "no", "no"] * 5})
    >>> round(signed_association(encode(rows)["task1"], "altitude", "wren"), 3)
    -0.816
    """
    ranks = [task.ranks.get(variable) for variable in (first, second)]
    if None in ranks:
        return math.nan
    at = [task.index[variable] for variable in (first, second)]
    x, y = (np.array(rank)[task.codes[i]] for rank, i in zip(ranks, at, strict=True))
    known = (x >= 0) & (y >= 0)
    n_x, n_y = (max(rank) + 1 for rank in ranks)
    if not known.any() or not n_x or not n_y:
        return math.nan
    cells = np.bincount(x[known] * n_y + y[known], minlength=n_x * n_y)
    tau, error = tau_b(cells.reshape(n_x, n_y))
    return tau if abs(tau) > error else math.nan


_KINDS = ("all", "some", "one", "sole")
# Of an arc of a task that learns alone, while others learn in groups.
ALONE = "alone"


def arc_table(configuration, tasks, bound, groups=None):
    """One row per arc and task.

    Parameters
    ----------
    configuration : Configuration
    tasks : Tasks
        The rows.
    bound : BoundTasks
        A score bound to these rows.
    groups : list of lists of str, default=None
        Tasks that learn from each other; None is one group.

    Returns
    -------
    pandas.DataFrame
        Columns from, to, task, strength (nats that the score loses without the arc in this task,
        not counting structure priors; where tasks may share tables, the score of its group),
        compelled (directed in the task's CPDAG), n_tasks (tasks of its group with the arc),
        n_tasks_possible (tasks of its group in which both variables exist and vary) and tau_b
        (Kendall's tau-b of the two columns: above 0 if both rise together; nan if it is within one
        standard error of 0 or the states of a variable have no order); sorted by from, to and task.
        The group is all tasks, unless tasks learn from each other in several groups.
    """
    rows = []
    groups = [tasks.names] if groups is None else groups
    counts = sharing_in_groups(configuration, groups)
    group_of = {name: group for group in groups for name in group}
    for at, (name, task) in enumerate(tasks.items()):
        graph, scores = configuration[name], bound.of(at)
        compelled = compelled_arcs(graph)
        for child, parents in graph.pred.items():
            if parents and not bound.shares_tables:
                held = sorted(task.index[parent] for parent in parents)
                gains = scores.gains(task.index[child], held)
            for parent in parents:
                arc = parent, child
                if bound.shares_tables:
                    strength = _strength_together(configuration, at, *arc, bound, group_of[name])
                else:
                    strength = -gains[task.index[parent]]
                numbers = *counts[name][arc], signed_association(task, *arc)
                rows.append((*arc, name, strength, arc in compelled, *numbers))
    # Rows of the same arc stay in the order of the tasks.
    rows.sort(key=itemgetter(0, 1))
    types = {"strength": float, "compelled": bool, "n_tasks": int, "n_tasks_possible": int}
    types["tau_b"] = float
    return pd.DataFrame(rows, columns=["from", "to", "task", *types]).astype(types)


def _strength_together(configuration, at, parent, child, bound, group):
    """Loss in the score of a group if one task loses an arc, given the graphs of the others."""
    index = {variable: v for v, variable in enumerate(bound.variables)}
    having = set(configuration[list(configuration)[at]].pred[child])
    value = 0
    for parents, is_now in ((having, True), (having - {parent}, False)):
        tasks = [
            s
            for s, (name, graph) in enumerate(configuration.items())
            if s != at and name in group and child in graph and set(graph.pred[child]) == parents
        ]
        family = index[child], [index[variable] for variable in parents]
        gain = bound.evidence(*family, [*tasks, at])
        gain -= bound.evidence(*family, tasks) if tasks else 0
        value += gain if is_now else -gain
    return value / bound.scale


def counted_in_groups(arcs, configuration, task_groups):
    """A learner's `arcs_` with n_tasks and n_tasks_possible counted within other groups of tasks.

    Parameters
    ----------
    arcs : pandas.DataFrame
    configuration : Configuration
        The graphs with these arcs.
    task_groups : mapping task -> label
    """
    counts = sharing_in_groups(configuration, groups_by_label(task_groups))
    rows = zip(arcs["task"], arcs["from"], arcs["to"], strict=True)
    found = [counts[task][parent, child] for task, parent, child in rows]
    n_possible = [sharing.n_possible for sharing in found]
    return arcs.assign(n_tasks=[sharing.n_tasks for sharing in found], n_tasks_possible=n_possible)


def sharing_counts(arcs, task_groups=None):
    """Count the distinct arcs of a learner's `arcs_`, and those of each `bnmtl.graphs.Sharing`.

    The kinds are arcs in all tasks that could have them, in some of them, in one of them, and arcs
    that only one task could have (sole). If tasks learn from each other in several groups, an arc
    counts once in each group that has it, its kind is that within the group, and arcs of tasks that
    learn alone are another kind (alone).

    Parameters
    ----------
    arcs : pandas.DataFrame
    task_groups : mapping task -> label, default=None
        None is one group.
    """
    if not _are_several(task_groups):
        kinds = sharing_kinds(arcs.drop_duplicates(["from", "to"]))
        return {"arcs": len(kinds)} | {kind: kinds.count(kind) for kind in _KINDS}
    groups = [task_groups[name] for name in arcs["task"]]
    is_first = ~arcs.assign(group=groups).duplicated(["from", "to", "group"])
    kinds = sharing_kinds(arcs[is_first.to_numpy()], task_groups)
    return {"arcs": len(kinds)} | {kind: kinds.count(kind) for kind in (*_KINDS, ALONE)}


def sharing_kinds(arcs, task_groups=None):
    """List how each row of a learner's `arcs_` is shared; the kinds are those of `sharing_counts`.

    Parameters
    ----------
    arcs : pandas.DataFrame
    task_groups : mapping task -> label, default=None
        None is one group.
    """
    counts = zip(arcs["n_tasks"], arcs["n_tasks_possible"], strict=True)
    kinds = [Sharing(*numbers).kind for numbers in counts]
    if not _are_several(task_groups):
        return kinds
    sizes = Counter(dict(task_groups).values())
    sizes = [sizes[task_groups[name]] for name in arcs["task"]]
    return [ALONE if n == 1 else kind for n, kind in zip(sizes, kinds, strict=True)]


def _are_several(task_groups):
    return task_groups is not None and len(set(dict(task_groups).values())) > 1
