"""The section of the report on shared tables."""

from bnmtl.graphs import groups_by_label
from bnmtl.networks.shared_tables import borrowed_record, borrowed_shares
from bnmtl.reports.page import image, number, table

# Maximum number of sources listed in a cell.
_MOST_SOURCES = 3


def borrowing_section(learner, figure=None):
    """How much each table borrows, and from which tasks; empty if tables are not shared.

    Parameters
    ----------
    learner : Learner
        Fitted.
    figure : matplotlib.figure.Figure, default=None
        Figure of `plotting.borrowing`, if already drawn.
    """
    record = borrowed_record(learner.borrowed_)
    if record is None:
        return ""
    from bnmtl import plotting

    figure = figure or plotting.borrowing(learner)
    labels = getattr(learner, "task_groups_", None)
    groups = [list(learner.configuration_)] if labels is None else groups_by_label(labels)
    tasks = [name for group in groups for name in group]
    rows = [
        [variable, *(_sources(record.get(variable, {}).get(task)) for task in tasks)]
        for variable in borrowed_shares(learner.borrowed_, learner.tasks_).index
    ]
    body = table(["variable", *tasks], rows, len(tasks) + 1)
    return (
        "<h2>Shared tables</h2>\n"
        "<p>In each row of a probability table, tasks may have the same probabilities. Each number "
        "is the percentage of the other tasks' rows that count for the table of a variable in a "
        "task: 0 if the task has its own table, 100 if all tasks share it.</p>\n"
        f"{image(figure, 'How much of each table is borrowed from other tasks')}\n"
        "<details><summary>From which tasks, in rows</summary>\n"
        f"{body}\n"
        '<p class="note">Expected numbers of rows of other tasks that count for a table, the '
        "largest sources first. They can exceed the rows of a task if tables are so similar that "
        "their mean is trusted more than the rows. All sources are in borrowed.csv.</p></details>"
    )


def _sources(rows):
    """List the largest sources of a table."""
    if rows is None:
        return "\u00d7"
    largest = sorted(rows.items(), key=lambda one: (-one[1], one[0]))
    shown = [f"{name} {number(n, 0)}" for name, n in largest if round(n) > 0]
    more = len(shown) - _MOST_SOURCES
    text = ", ".join(shown[:_MOST_SOURCES]) or "0"
    return f"{text}, {more} more" if more > 0 else text
