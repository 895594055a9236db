"""The section of the report on groups of tasks that learn from each other."""

from html import escape
from math import isnan

import numpy as np

from bnmtl.graphs import groups_by_label
from bnmtl.learners.task_groups import few_rows
from bnmtl.plotting.gains import gains
from bnmtl.reports.page import image, number, table
from bnmtl.search.task_groups import MARGIN

# Most tasks for which the next best groups are listed.
_MOST_TASKS = 12
_MARGIN = (
    "Margin: by how many nats the value of the groups falls if this task alone moves elsewhere; "
    f"below {MARGIN:g} the data do not tell."
)
_GAINS = (
    "The picture shows how much each pair of tasks gains by learning together instead of alone, in "
    "nats, by the evidence that their arcs add."
)


def groups_section(learner, figure=None):
    """The groups, the margins of their tasks and the gains of pairs; empty for one given group.

    Parameters
    ----------
    learner : Learner
        Fitted.
    figure : matplotlib.figure.Figure, default=None
        Figure of `bnmtl.plotting.gains`, if already drawn.
    """
    if learner.task_groups is None or len(learner.task_groups_) == 1:
        return ""
    title = "<h2>Which tasks learn from each other</h2>\n"
    groups = groups_by_label(learner.task_groups_)
    labels = [learner.task_groups_[group[0]] for group in groups]
    if not hasattr(learner, "group_gains_"):
        rows = [[label, ", ".join(group)] for label, group in zip(labels, groups, strict=True)]
        return f"{title}<p>The groups are given.</p>\n{table(['group', 'tasks'], rows, 2)}"
    margins, few = learner.group_margins_, few_rows(learner)
    rows = [
        [label if at == 0 else "", name, "too few rows" if name in few else _margin(margins[name])]
        for label, group in zip(labels, groups, strict=True)
        for at, name in enumerate(group)
    ]
    figure = figure or gains(learner.group_gains_, learner.task_groups_)
    return (
        f"{title}{table(['group', 'task', 'margin'], rows, 2)}\n"
        f'<p class="note">{_MARGIN}{escape(_next_best(learner))}</p>\n<p>{_GAINS}</p>\n'
        f"{image(figure, 'Nats that pairs of tasks gain by learning together')}"
    )


def _margin(nats):
    return "" if isnan(nats) else number(nats)


def _next_best(learner):
    """A sentence on the best other partition that was tried; empty if there is none."""
    tried, labels = learner.alternatives_, learner.task_groups_
    partitions = [_partition(one) for _, one in tried[list(labels.index)].iterrows()]
    # Tasks with too few rows are in no group of those tried.
    known = tried[list(labels.index)].notna().any()
    is_found = np.array([one == _partition(labels[known]) for one in partitions], bool)
    if not is_found.any() or is_found.all():
        return ""
    other = tried[~is_found].iloc[0]
    groups = _partition(other[list(labels.index)])
    fewer = tried["value"][is_found].iloc[0] - other["value"]
    which = "; ".join(", ".join(group) for group in groups)
    which = f" ({which})" if len(labels) <= _MOST_TASKS else ""
    compared = "fewer" if fewer >= 0 else "more"
    return (
        f" The next best groups that were tried{which} have {number(abs(fewer))} nats {compared}."
    )


def _partition(labels):
    """The groups of tasks that have a label."""
    return groups_by_label(labels.dropna().to_dict())
