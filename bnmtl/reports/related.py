"""One HTML page about dissimilarities of tasks: pictures, table, nearest tasks."""

from html import escape

from bnmtl.relatedness.nearest import writer
from bnmtl.reports.page import Html, count, frame_table, image, table, write_page

_NOT_HERE = "; here, where nothing was found, they are not"
_GAP = '<span class="gap">\u2016</span>'


def write(path, record, dissimilarity, order, pictures, is_nothing, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl relate`.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    dissimilarity : pandas.DataFrame, tasks by tasks
    order : pandas.DataFrame
        The other tasks for each principal task, nearest first.
    pictures : mapping
        "relatedness" and "dendrogram" -> matplotlib figure, "distances" -> mapping of principal
        task to figure.
    is_nothing : bool
        Whether no arcs were found, or the arcs found do not predict better than no arcs.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    write_value = writer(dissimilarity.to_numpy())

    def write_number(value):
        return write_value(value).replace("-", "\u2212")

    sections = [
        _pictures_section(dissimilarity, pictures),
        _matrix_section(dissimilarity, write_number),
        _order_section(record, order, write_number, pictures["distances"], is_nothing),
    ]
    shown = record["warnings"], settings, times
    return write_page(path, "Relatedness of tasks", _lead(record), sections, *shown)


def _lead(record):
    tasks = record["tasks"]
    n_rows = sum(task["rows"] for task in tasks)
    return Html(
        f"<strong>{escape(record['verdict'])}</strong> {len(tasks)} tasks with "
        f"{count(n_rows, 'row')} in all, compared by the {escape(record['relatedness'])} measure. "
        f"{escape(record['meaning'])}"
    )


def _pictures_section(dissimilarity, pictures):
    tasks = ", ".join(map(str, dissimilarity))
    note = ""
    if (dissimilarity < 0).any(axis=None):
        note = (
            '\n<p class="note">Numbers below 0, where rows are predicted better with the structure '
            "of another task than with their own, are drawn as 0; the tables keep them.</p>"
        )
    return (
        f"<h2>How far apart</h2>\n"
        f"{image(pictures['relatedness'], f'How far apart the tasks {tasks} are')}\n"
        f"{image(pictures['dendrogram'], f'Dendrogram of the tasks {tasks}')}{note}"
    )


def _order_section(record, order, write_number, pictures, is_nothing):
    """The other tasks for each principal task, nearest first, with the gap marked."""
    parts = dict(iter(order.groupby("principal")))
    rows = [_order_row(one, parts[one["name"]], write_number) for one in record["principals"]]
    panels = "\n".join(
        image(figure, f"How far the other tasks are from {task}")
        for task, figure in pictures.items()
    )
    if not panels:
        panels = (
            '<p class="note">Pictures are left out for so many tasks; <code>--principal T</code> '
            "draws that of one.</p>"
        )
    return (
        "<h2>From one task to the others</h2>\n"
        "<p>The other tasks, the nearest first. The largest step from one to the next is the gap, "
        f"marked {_GAP}: the tasks before it, in bold, are the first candidates for being learned "
        f"together with the principal one{_NOT_HERE if is_nothing else ''}.</p>\n"
        f"{table(['principal task', 'the others', Html('before<br>the gap')], rows, 2)}\n"
        f'<div class="panels">{panels}</div>'
    )


def _order_row(principal, others, write_number):
    n_before = principal["before_gap"]
    listing = []
    for i, (task, value) in enumerate(zip(others["task"], others["dissimilarity"], strict=True)):
        mark = f"{_GAP} " if i == n_before else ""
        tag = "b" if n_before is not None and i < n_before else "span"
        listing.append(f"{mark}<{tag}>{escape(task)}</{tag}> {write_number(value)}")
    before = "no gap" if n_before is None else n_before
    others = Html(f'<div class="list">{", ".join(listing)}</div>')
    return [principal["name"], others, before]


def _matrix_section(dissimilarity, write_number):
    cells = dissimilarity.map(write_number)
    cells.columns = [Html(f'<span class="up">{escape(task)}</span>') for task in cells]
    return f"<h2>All pairs of tasks</h2>\n{frame_table('task', cells)}"
