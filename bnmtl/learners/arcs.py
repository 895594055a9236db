"""The table of learned arcs: strength, sign, direction, and number of tasks with the arc."""

from operator import itemgetter

import pandas as pd

from bnmtl.graphs import Sharing, compelled_arcs, sharing
from bnmtl.tasks.association import signed_association

_KINDS = ("all", "some", "one", "sole")


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
        compelled (directed in the task's CPDAG), n_tasks (tasks with the arc), n_tasks_possible
        (tasks in which both variables exist and vary) and tau_b (Kendall's tau-b of the two
        columns: above 0 if both rise together; nan if it is within one standard error of 0 or the
        states of a variable have no order); sorted by from, to and task.
    """
    rows, counts, together = [], sharing(configuration), bound.shares_tables
    groups = [tasks.names] if groups is None else groups
    group_of = {name: group for group in groups for name in group}
    for at, (name, task) in enumerate(tasks.items()):
        graph, scores = configuration[name], bound.of(at)
        compelled = compelled_arcs(graph)
        for child, parents in graph.pred.items():
            if parents and not together:
                held = sorted(task.index[parent] for parent in parents)
                gains = scores.gains(task.index[child], held)
            for parent in parents:
                if together:
                    strength = _strength_together(
                        configuration, at, parent, child, bound, group_of[name]
                    )
                else:
                    strength = -gains[task.index[parent]]
                arc = parent, child
                numbers = *counts[arc], signed_association(task, *arc)
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
        family = index[child], [index[one] for one in parents]
        gain = bound.evidence(*family, [*tasks, at])
        gain -= bound.evidence(*family, tasks) if tasks else 0
        value += gain if is_now else -gain
    return value / bound.scale


def sharing_counts(arcs):
    """Count the distinct arcs of a learner's `arcs_`, and those of each `bnmtl.graphs.Sharing`.

    The kinds are arcs in all tasks that could have them, in some of them, in one of them, and arcs
    that only one task could have (sole).
    """
    kinds = sharing_kinds(arcs.drop_duplicates(["from", "to"]))
    return {"arcs": len(kinds)} | {kind: kinds.count(kind) for kind in _KINDS}


def sharing_kinds(arcs):
    """List how each row of a learner's `arcs_` is shared, as `bnmtl.graphs.Sharing` names it."""
    counts = zip(arcs["n_tasks"], arcs["n_tasks_possible"], strict=True)
    return [Sharing(*numbers).kind for numbers in counts]
