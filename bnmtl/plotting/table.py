"""Plots of tables: arcs by task, and how much each probability table borrows from other tasks."""

import numpy as np
import pandas as pd

from bnmtl.errors import InputError
from bnmtl.graphs import compelled_arcs, could_have, groups_by_label, sharing
from bnmtl.networks.shared_tables import borrowed_shares
from bnmtl.plotting.drawing import (
    ABSENT,
    COLORS,
    PAD,
    SAMPLE,
    draw_text,
    framed_axes,
    ink_on,
    lines_of,
    note_entries,
    shorten,
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
    rows = _rows(configuration, lines_of(configuration, None, confidence)[0])
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
    axes = framed_axes(*body, "arcs", [*note_entries(note), *_arcs_legend(rows)])
    for block in range(n_blocks):
        part = slice(block * n_block_rows, (block + 1) * n_block_rows)
        left = block * block_width + label_width
        _draw_block(axes, names[part], rows[part], tasks, left, head)
        _draw_group_lines(axes, groups, left, head, len(rows[part]))
    return axes.figure


def _rows(configuration, lines):
    """List ((a, b), one cell per task), most shared first.

    Cells are keys of `_TEXTS`, followed by `_DOUBTFUL` if few replicates have the arc.
    """
    graphs = []
    for name, graph in configuration.items():
        doubtful = {arc for arc in graph.edges if lines[str(name), *map(str, arc)].dotted}
        graphs.append((graph, compelled_arcs(graph), doubtful))
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


def _arcs_legend(rows):
    found = {cell for _, cells in rows for cell in cells}
    sure = {cell.removesuffix(_DOUBTFUL) for cell in found}
    entries = [(_cell_mark(cell), text) for cell, text in _TEXTS.items() if cell in sure]
    if sure != found:
        entries.append((_cell_mark(min(found - sure)), _DOUBTFUL_TEXT))
    return entries or [(None, "No task has an arc.")]


def _cell_mark(cell):
    return lambda axes, x, y: _draw_cell(axes, x + SAMPLE - _CELL / 2, y, cell)


_STEP, _BOX = (26.0, 13.0), (25.0, 12.0)  # width and height with and without gaps, in points
_COLOR_MAP = "Blues"
_FAINT = "#777777"
# Thresholds above which a table counts as borrowing, and as shared.
_PARTLY, _SHARED = 0.1, 0.9
_SHARE_TEXTS = (
    (0.0, "alone: less than 10 % of the other tasks' rows count"),
    (0.5, "partly"),
    (1.0, "shared: 90 % or more count"),
)


def borrowing(learner):
    """Plot how much each table borrows from other tasks, by variable and task.

    A cell shows the percentage of the rows of other tasks that counts for the table of this
    variable in this task: 0 for a separate table, 100 for a table shared by all tasks. Variables
    whose tables borrow most come first. Tasks are in the order of their groups.

    Parameters
    ----------
    learner : IdenticalLearner, MultitaskLearner or MultitaskLearnerCV
        Fitted to several tasks with ``table_sharing="auto"``.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot; save it with `savefig`.

    Raises
    ------
    ValueError
        If the learner is not fitted or its tasks share no tables.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, structures
    >>> asia = structures.load("asia")
    >>> rows = [asia.sample(100, random_state=seed) for seed in range(3)]
    >>> learner = MultitaskLearner(table_sharing="auto", random_state=0).fit(rows)
    >>> figure = borrowing(learner)
    >>> [text.get_text() for text in figure.axes[0].texts[:3]]
    ['task1', 'task2', 'task3']
    """
    if not hasattr(learner, "tasks_") or not hasattr(type(learner), "borrowed_"):
        message = (
            "must be a fitted IdenticalLearner, MultitaskLearner or MultitaskLearnerCV, got "
            f"{learner!r}"
        )
        raise InputError(message, argument="learner")
    if learner.borrowed_.empty:
        message = "must have tasks that share tables"
        raise InputError(
            message,
            argument="learner",
            options=("table_sharing", "parameter_sample_size"),
            remedy=(
                "fit it to several tasks, `table_sharing='auto'` and `parameter_sample_size='auto'`"
            ),
        )
    shares = borrowed_shares(learner.borrowed_, learner.tasks_)
    labels = getattr(learner, "task_groups_", None)
    if labels is not None:
        shares = shares[[task for group in groups_by_label(labels) for task in group]]
    names = [shorten(variable) for variable in shares.index]
    tasks = [shorten(task) for task in shares.columns]
    warn_of_missing_glyphs([*shares.index, *shares.columns])
    left = max(text_width(name, 8) for name in names) + 8
    head = max(text_width(task, 8) for task in tasks) + 10
    body = left + _STEP[0] * len(tasks), head + _STEP[1] * len(names) + PAD
    axes = framed_axes(*body, "borrowing", _shares_legend(shares))
    for column, task in enumerate(tasks):
        draw_text(axes, left + (column + 0.5) * _STEP[0], head - 5, task, rotation=90)
    for row, name in enumerate(names):
        y = head + (row + 0.5) * _STEP[1]
        draw_text(axes, left - 6, y, name, ha="right")
        for column, share in enumerate(shares.iloc[row]):
            x = left + (column + 0.5) * _STEP[0]
            _draw_share(axes, x, y, _BOX, share, f"{100 * share:.0f}")
    return axes.figure


def _shares_legend(shares):
    """The legend entries for the kinds of cells in the plot."""
    values = shares.to_numpy()
    known = values[~np.isnan(values)]
    bands = set(np.digitize(known, (_PARTLY, _SHARED)))
    entries = [
        (_share_mark(at), text) for band, (at, text) in enumerate(_SHARE_TEXTS) if band in bands
    ]
    if len(known) < values.size:
        entries.append((_share_mark(np.nan), "not there, or in this task only"))
    return entries


def _share_mark(share):
    return lambda axes, x, y: _draw_share(axes, x + SAMPLE / 2, y, (SAMPLE, 9.0), share, "")


def _draw_share(axes, x, y, size, share, text):
    """Draw a box in the color of a share with a text; a cross marks an unknown share."""
    import matplotlib
    from matplotlib.patches import Rectangle

    color, edge, ink = (1.0, 1.0, 1.0), "white", _FAINT
    if pd.isna(share):
        text = "\u00d7"
    else:  # the darkest blue would hide the text
        color, edge = matplotlib.colormaps[_COLOR_MAP](0.05 + 0.8 * share), "#C8D4E0"
        ink = ink_on(color)
    corner = (x - size[0] / 2, y - size[1] / 2)
    axes.add_patch(Rectangle(corner, *size, facecolor=color, edgecolor=edge, linewidth=0.5))
    if text:
        draw_text(axes, x, y, text, color=ink, ha="center", fontsize=7)
