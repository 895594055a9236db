"""A plot of the table of arcs by task."""

import numpy as np

from bnmtl.graphs import compelled_arcs, could_have, sharing
from bnmtl.plotting.drawing import (
    ABSENT,
    COLORS,
    PAD,
    SAMPLE,
    doubtful_arcs,
    draw_text,
    framed_axes,
    note_entries,
)
from bnmtl.plotting.layout import (
    check_configuration,
    in_groups,
    majority_arcs,
    text_width,
    warn_of_missing_glyphs,
)

_ASPECT = 1.5  # target width : height of a long table
_CELL = 13.0  # side of a cell, in points
_SHORT_TABLE = 30  # rows that are never split into blocks
# Color and sign of a cell; that of a reversible arc is outlined.
_LOOKS = {
    "forward": (COLORS["all"], "\u2192"),
    "backward": (COLORS["some"], "\u2190"),
    "sole": (COLORS["sole"], "\u2192"),
    "absent": ("#EFEFEF", ""),
    "impossible": (None, "\u00d7"),
}
_TEXTS = {
    "forward": "arc as written",
    "forward, reversible": "arc as written, direction not determined by the data",
    "backward": "arc in the opposite direction",
    "backward, reversible": "opposite direction, not determined by the data",
    "sole": "an arc that no other task could have",
    "sole, reversible": "an arc that no other task could have, direction not determined",
    "absent": "no arc",
    "impossible": "a variable is missing or constant there",
}
_DOUBTFUL = ", doubtful"
_DOUBTFUL_TEXT = "dotted: in fewer than half of the replicates"


def arcs(configuration, confidence=None, note=None, task_groups=None):
    """Plot the table of arcs by task.

    There is one row per joined pair of variables, in the direction of most tasks, sorted by the
    number of tasks, and one column per task. Arcs possible in only one task are dark gray. A cross
    marks tasks that could not have the arc, because one of the variables is missing or constant
    there (the node attribute `constant`).

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph or BayesNet, or one of them
        One DAG per task, such as the `configuration_` of a learner. The graphs of networks do not
        mark constant variables.
    confidence : pandas.DataFrame, optional
        The table of `bnmtl.confidence.arc_confidence`: arcs with an edge in fewer than half of the
        replicates are dotted.
    note : str, optional
        A text at the beginning of the legend, such as that nothing was found.
    task_groups : mapping task -> label, optional
        Groups of tasks that learn from each other, such as the `task_groups_` of a learner: columns
        are in the order of the groups, with lines between groups. Default: one group.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot; save it with `savefig`. It grows with the table, and long tables
        are split into several blocks.

    Raises
    ------
    TypeError, ValueError
        If a graph is not a DAG, or there is no graph.

    Examples
    --------
    >>> import networkx as nx
    >>> north = nx.DiGraph([("rain", "wet"), ("wet", "frogs")])
    >>> south = nx.DiGraph([("rain", "wet")])
    >>> figure = arcs({"north": north, "south": south})
    """
    configuration, groups = in_groups(check_configuration(configuration), task_groups)
    rows = _rows(configuration, doubtful_arcs(configuration, confidence))
    joined = dict.fromkeys(variable for arc, _ in rows for variable in arc)
    warn_of_missing_glyphs(map(str, [*joined, *configuration]))
    names = [f"{shorten(a)} \u2192 {shorten(b)}" for (a, b), _ in rows]
    tasks = [shorten(task) for task in configuration]
    label_width = max((text_width(name, 8) for name in names), default=0.0) + 8
    count_width = text_width(f"{len(tasks)} of {len(tasks)}", 8) + 14
    block_width = label_width + _CELL * len(tasks) + count_width
    head = max(text_width(task, 8) for task in tasks) + 10
    n_blocks = _n_blocks(len(rows), block_width, head)
    n_block_rows = max(1, -(-len(rows) // n_blocks))
    body = n_blocks * block_width, head + n_block_rows * _CELL + PAD
    axes = framed_axes(*body, "arcs", [*note_entries(note), *_table_legend(rows)])
    for block in range(n_blocks):
        part = slice(block * n_block_rows, (block + 1) * n_block_rows)
        left = block * block_width + label_width
        _draw_block(axes, names[part], rows[part], tasks, left, head)
        _draw_group_lines(axes, groups, left, head, len(rows[part]))
    return axes.figure


def _rows(configuration, doubtful):
    """List ((a, b), one cell per task), most shared first.

    Cells are keys of `_TEXTS`, followed by `_DOUBTFUL` if few replicates have the arc.
    """
    graphs = [
        (graph, compelled_arcs(graph), doubtful.get(name, frozenset()))
        for name, graph in configuration.items()
    ]
    rows = []
    for a, b in majority_arcs(configuration):
        forward = sum(graph.has_edge(a, b) for graph, *_ in graphs)
        backward = sum(graph.has_edge(b, a) for graph, *_ in graphs)
        if backward > forward:
            a, b, forward, backward = b, a, backward, forward
        rows.append((-forward - backward, -forward, a, b))
    counts = sharing(configuration)
    # With one task, arcs are neither shared nor exceptions.
    soles = {arc for arc, n in counts.items() if n.kind == "sole" and len(graphs) > 1}
    return [
        ((a, b), [_cell(*state, a, b, (a, b) in soles) for state in graphs])
        for _, _, a, b in sorted(rows)
    ]


def _cell(graph, compelled, doubtful, a, b, is_sole):
    forward = "sole" if is_sole else "forward"
    for arc, name in (((a, b), forward), ((b, a), "backward")):
        if graph.has_edge(*arc):
            name = name if arc in compelled else f"{name}, reversible"
            return name + _DOUBTFUL if arc in doubtful else name
    return "absent" if could_have(graph, a, b) else "impossible"


def shorten(name, limit=32):
    text = " ".join(str(name).split())
    return text if len(text) <= limit else f"{text[: limit - 9]}…{text[-8:]}"


def _n_blocks(n_rows, block_width, head):
    """Choose the number of blocks closest to a page in landscape."""

    def badness(n_blocks):
        height = head + _CELL * -(-n_rows // n_blocks)
        return abs(np.log(n_blocks * block_width / height / _ASPECT))

    return 1 if n_rows <= _SHORT_TABLE else min(range(1, 13), key=badness)


def _draw_block(axes, names, rows, tasks, left, head):
    """Draw a block: task names on top, arc names, cells, and the number of tasks with the pair."""
    for column, task in enumerate(tasks):
        draw_text(axes, left + (column + 0.5) * _CELL, head - 5, task, rotation=90)
    for i, (name, (_, cells)) in enumerate(zip(names, rows, strict=True)):
        y = head + (i + 0.5) * _CELL
        draw_text(axes, left - 6, y, name, ha="right")
        for column, cell in enumerate(cells):
            _draw_cell(axes, left + (column + 0.5) * _CELL, y, cell)
        n_possible = len(cells) - cells.count("impossible")
        n_joined = n_possible - cells.count("absent")
        x = left + len(cells) * _CELL + 6
        draw_text(axes, x, y, f"{n_joined} of {n_possible}", color="#555555")


def _draw_group_lines(axes, groups, left, head, n_rows):
    """Draw a line between the columns of one group of tasks and those of the next."""
    for end in np.cumsum([len(group) for group in groups])[:-1]:
        x = left + end * _CELL
        axes.plot([x, x], [head - 5, head + n_rows * _CELL], color="#555555", linewidth=0.8)


def _draw_cell(axes, x, y, cell):
    from matplotlib.patches import Rectangle

    kind, *marks = cell.split(", ")
    color, sign = _LOOKS[kind]
    filled, is_doubtful = "reversible" not in marks, "doubtful" in marks
    side = _CELL - 3
    if color is not None:
        face = (color, 0.25 if is_doubtful else 1.0) if filled else "white"
        style = {"edgecolor": color, "linewidth": 1.0, "linestyle": ":" if is_doubtful else "-"}
        corner = (x - side / 2, y - side / 2)
        axes.add_patch(Rectangle(corner, side, side, facecolor=face, **style))
    if sign:
        ink = ABSENT if color is None else "white" if filled and not is_doubtful else color
        draw_text(axes, x, y - 0.5, sign, color=ink, ha="center", fontweight="bold")


def _table_legend(rows):
    found = {cell for _, cells in rows for cell in cells}
    sure = {cell.removesuffix(_DOUBTFUL) for cell in found}
    entries = [(_mark(cell), text) for cell, text in _TEXTS.items() if cell in sure]
    if sure != found:
        entries.append((_mark(min(found - sure)), _DOUBTFUL_TEXT))
    return entries or [(None, "No task has an arc.")]


def _mark(cell):
    return lambda axes, x, y: _draw_cell(axes, x + SAMPLE - _CELL / 2, y, cell)
