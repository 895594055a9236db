"""One HTML page about how far apart tasks are: pictures, the table, the order from each task."""

from html import escape

from bnmtl.io.versions import versions
from bnmtl.reports.gains import NOTHING
from bnmtl.reports.page import count, image, messages_section, settings_section, table, write_page

__all__ = ["write"]

_NOT_HERE = "; here, where nothing was found, they are not"
_GAP = '<span class="gap">\u2016</span>'


def write(path, result, pictures, settings, times):
    """Write a self-contained HTML page about what `bnmtl relate` has found.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    result : bnmtl.cli.relate.Result
    pictures : mapping
        "relatedness" and "dendrogram" -> matplotlib figure, "distances" -> mapping of principal
        task to figure.
    settings : mapping
        Name -> value, as to be shown.
    times : mapping
        What was done -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    record = result.record
    sections = [
        _pictures_section(result, pictures),
        _matrix_section(result),
        _order_section(result, pictures["distances"]),
        messages_section(record["warnings"]),
        settings_section(settings, times, versions()),
    ]
    return write_page(path, "Relatedness of tasks", _lead(record), sections)


def _lead(record):
    tasks = record["tasks"]
    n_rows = sum(task["rows"] for task in tasks)
    return (
        f"<strong>{escape(record['verdict'])}</strong> {len(tasks)} tasks with "
        f"{count(n_rows, 'row')} in all, compared by the {record['relatedness']} measure. "
        f"{escape(record['meaning'])}"
    )


def _pictures_section(result, pictures):
    tasks = ", ".join(map(str, result.dissimilarity))
    note = ""
    if (result.dissimilarity < 0).any(axis=None):
        note = (
            '\n<p class="note">Numbers below 0, where rows are predicted better with the structure '
            "of another task than with their own, are drawn as 0; the tables keep them.</p>"
        )
    return (
        f"<h2>How far apart</h2>\n"
        f"{image(pictures['relatedness'], f'How far apart the tasks {tasks} are')}\n"
        f"{image(pictures['dendrogram'], f'Dendrogram of the tasks {tasks}')}{note}"
    )


def _order_section(result, pictures):
    """The other tasks of each principal one, the nearest first, the gap marked."""
    rows = [_order_row(result, principal) for principal in result.record["principals"]]
    panels = "\n".join(
        image(figure, f"How far the other tasks are from {task}")
        for task, figure in pictures.items()
    )
    if not panels:
        panels = (
            '<p class="note">Pictures are left out for so many tasks; <code>--principal T</code> '
            "draws that of one.</p>"
        )
    by_chance = result.record["verdict"].startswith(NOTHING)
    return (
        "<h2>From one task to the others</h2>\n"
        "<p>The other tasks, the nearest first. The largest step from one to the next is the gap, "
        f"marked {_GAP}: the tasks before it, in bold, are the first candidates for being learned "
        f"together with the principal one{_NOT_HERE if by_chance else ''}.</p>\n"
        f"{table(['principal task', 'the others', 'before<br>the gap'], rows, 2)}\n"
        f'<div class="panels">{panels}</div>'
    )


def _order_row(result, principal):
    n_before = principal["before_gap"]
    write_value = _writer(result)
    own = result.order[result.order["principal"] == principal["name"]]
    listing = []
    for i, (task, value) in enumerate(zip(own["task"], own["dissimilarity"], strict=True)):
        mark = f"{_GAP} " if i == n_before else ""
        tag = "b" if n_before is not None and i < n_before else "span"
        listing.append(f"{mark}<{tag}>{escape(task)}</{tag}> {write_value(value)}")
    before = "no gap" if n_before is None else n_before
    return [escape(principal["name"]), f'<div class="list">{", ".join(listing)}</div>', before]


def _matrix_section(result):
    write_value = _writer(result)
    header = ["task", *(f'<span class="up">{escape(one)}</span>' for one in result.dissimilarity)]
    rows = [
        [escape(task), *map(write_value, values)]
        for task, *values in result.dissimilarity.itertuples(name=None)
    ]
    return f"<h2>All pairs of tasks</h2>\n{table(header, rows, 1)}"


def _writer(result):
    """Choose how numbers are written, with a real minus sign."""
    from bnmtl.plotting.dissimilarities import writer

    write_value = writer(result.dissimilarity.to_numpy())
    return lambda value: write_value(value).replace("-", "\u2212")
