"""One HTML page about rows to label next: which, why, where, and what their labels are worth."""

from html import escape

from bnmtl.reports.page import frame_table, image, number, write_page

_MOST_ROWS, _MOST_COLUMNS = 50, 6


def write(path, record, queries, figures, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl query`.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    queries : pandas.DataFrame
        The rows to label next.
    figures : dict of str to matplotlib.figure.Figure
        By file name.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    sections = [_rows_section(record, queries)]
    if "map.png" in figures:
        sections.append(_map_section(figures["map.png"]))
    sections.append(_error_section(record, figures))
    lead = " ".join(record["verdict"])
    return write_page(
        path, "Rows to label next", lead, sections, record["warnings"], settings, times
    )


def _rows_section(record, queries):
    shown = queries[:_MOST_ROWS]
    given = [name for name in shown if name not in _reserved(shown)]
    cells = shown[[*given[:_MOST_COLUMNS]]].astype(str)
    cells = cells.assign(
        predicted=shown["predicted"],
        probability=shown["probability"].map(lambda p: number(p, 2)),
        utility=shown["utility"].map(lambda one: number(one, 4)),
        reason=shown["reason"],
    )
    cells.index = shown["rank"]
    more = []
    if len(queries) > _MOST_ROWS:
        more.append(f"The page shows the first {_MOST_ROWS} of {len(queries)} rows.")
    if len(given) > _MOST_COLUMNS:
        more.append(f"It shows {_MOST_COLUMNS} of {len(given)} columns.")
    per_cost = " per cost" if record["settings"]["cost"] else ""
    return (
        "<h2>Which rows</h2>\n"
        f"<p>The strategy is {escape(record['strategy'])}. Larger utilities{per_cost} are better; "
        "utilities.csv has those of all rows that could be "
        f"asked for, queries.csv all columns. {' '.join(more)}</p>\n"
        f"{frame_table('rank', cells)}"
    )


def _reserved(queries):
    return list(queries.columns[-5:])


def _map_section(figure):
    return (
        "<h2>Where they are</h2>\n"
        "<p>Rows with a label are gray, the others have the color of their utility; circles with "
        "numbers are the rows to label next.</p>\n"
        f"{image(figure, 'Utilities over two columns')}"
    )


def _error_section(record, figures):
    text = escape(" ".join(record["verdict"][-2:]))
    picture = ""
    if record["strategy"] == "multitask":
        text += " The curve is that of a committee of two members, to save time."
    if "learning_curve.png" in figures:
        text += (
            " The curve shows the share of errors on rows that were held out, by the number of "
            "random labels, with 95 % intervals; the power law that continues it may be wrong."
        )
        picture = image(figures["learning_curve.png"], "Share of errors by number of labels")
    return f"<h2>What more labels are worth</h2>\n<p>{text}</p>\n{picture}"
