"""The tasks' graphs side by side, every variable at the same place."""

import numpy as np

from bnmtl.errors import check_number, check_whole
from bnmtl.graphs import compelled_arcs, could_have, sharing, takes_part
from bnmtl.plotting.drawing import (
    LEGEND_ROW,
    SAMPLE,
    draw_absent,
    draw_arc,
    draw_box,
    draw_legend,
    draw_text,
    entry_width,
    flow,
    new_figure,
    note_entries,
    panel_axes,
)
from bnmtl.plotting.fonts import warn_of_boxes
from bnmtl.plotting.layout import Layout, arrange, check_configuration, check_places, text_width
from bnmtl.plotting.signs import draw_sign, read_signs, sign_places
from bnmtl.plotting.widths import EQUAL, widths_of

__all__ = ["dags", "sharing"]

LAYOUT_NAMES = {"graphviz": "Graphviz (dot)", "layered": "layered (built in)"}

_SIGN_TEXTS = {1: "both rise together", -1: "one falls as the other rises"}
BOX_TEXTS = {"constant": "constant in this task", "ghost": "variable not in this task"}

PAD = 12.0  # around a panel, in points
TITLE = 30.0  # height of a panel's title and subtitle
_ASPECT = 1.5  # width : height that the grid of panels comes near to


def dags(
    configuration,
    layout="auto",
    strength=None,
    columns=None,
    font_size=8.0,
    confidence=None,
    signs=None,
    note=None,
):
    """Draw the tasks' graphs side by side, every variable at the same place in all panels.

    Arcs in all tasks that could have them, in some, and in one only differ in color; those that
    only one task could have are dark gray. Arcs that this task could have but only others do are
    pale and dotted, without a head. The direction of a dashed arc with an open head
    is not determined by the data: the task's equivalence class has it either way, though tiers or
    required arcs may settle it. A variable that a task lacks is a pale outline, one that is
    constant in it (the node attribute `constant`) is gray.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph or BayesNet, or one of them
        One DAG per task, such as a learner's `configuration_`. The graphs of networks do not tell
        which variables are constant.
    layout : {"auto", "graphviz", "layered"} or Layout, default="auto"
        What places the variables, see `bnmtl.plotting.arrange`, whose result can be given to draw
        several figures alike. The caption says which was chosen, and so does the figure's label
        (`figure.get_label()`).
    strength : pandas.DataFrame, optional
        A learner's `arcs_`, with columns from, to, task and strength: arcs are drawn the wider the
        more score (nats) their removal costs that task. Default: all equally wide, unless there is
        a `confidence`.
    columns : int, optional
        Number of panels in a row. Default: what comes nearest to a page in landscape.
    font_size : float, default=8.0
        Of the variables' names, in points; the figure grows with it. A `Layout` brings its own.
    confidence : pandas.DataFrame, optional
        The table of `bnmtl.confidence.arc_confidence`, with columns task, parent, child and edge:
        arcs are drawn the wider the more replicates join the two variables, whichever way; those
        that fewer than half of them join are thin and dotted. Not together with `strength`.
    signs : pandas.DataFrame, optional
        A learner's `arcs_`, with columns from, to, task and tau_b: a small + stands beside arcs
        whose variables rise together, a - where one falls as the other rises; none beside dotted
        arcs.
    note : str, optional
        What the legend begins with, such as that nothing was found; how many arcs the tasks have in
        common is then not said.

    Returns
    -------
    matplotlib.figure.Figure
        Not known to pyplot: save it with `savefig`, or show it as a notebook cell's last value.

    Raises
    ------
    InputTypeError, InputError
        If a graph is not a DAG, there is none, or an argument is not as described.
    MissingExtra
        If the engine of `layout` is not installed.

    Examples
    --------
    >>> import networkx as nx
    >>> north = nx.DiGraph([("rain", "wet"), ("wet", "frogs")])
    >>> south = nx.DiGraph([("rain", "wet")])
    >>> figure = dags({"north": north, "south": south}, layout="layered")
    >>> len(figure.axes), figure.get_label()
    (3, 'layered')
    >>> import pandas as pd
    >>> sure = pd.DataFrame({"task": ["north"], "parent": ["rain"], "child": ["wet"], "edge": 0.9})
    >>> figure = dags({"north": nx.DiGraph([("rain", "wet")])}, confidence=sure)
    """
    configuration = check_configuration(configuration)
    check_number("font_size", font_size, above=0)
    check_whole("columns", columns, 1, optional=True)
    names = dict.fromkeys(node for graph in configuration.values() for node in graph)
    warn_of_boxes(map(str, [*names, *configuration]))
    if not isinstance(layout, Layout):
        layout = arrange(configuration, layout, font_size)
    counts = sharing(configuration)
    check_places(layout, names, counts)
    widths = widths_of(configuration, strength, confidence)
    # Signs of arcs that hardly any replicate has would say too much.
    found = {
        arc: sign
        for arc, sign in read_signs(signs, configuration).items()
        if not widths.of(*arc).dotted
    }
    # With one task nothing is shared, and its arcs are no exceptions either.
    kinds = {arc: n.kind if len(configuration) > 1 else "all" for arc, n in counts.items()}
    titles = {
        task: _titles(task, graph, kinds, len(configuration) > 1 and note is None)
        for task, graph in configuration.items()
    }
    title_width = max(width_of_titles(*pair) for pair in titles.values())
    panel = (max(layout.width, title_width) + 2 * PAD, layout.height + TITLE + PAD)
    n_columns = columns or grid_columns(len(configuration), *panel)
    n_columns = min(n_columns, len(configuration))
    n_rows = -(-len(configuration) // n_columns)
    entries = _legend_entries(configuration, layout, counts, kinds, widths, set(found.values()))
    entries = [*note_entries(note), *entries]
    figure, corners = lay_out_figure(entries, panel, len(configuration), n_columns, n_rows)
    figure.set_label(layout.engine)
    places = sign_places(layout, _signed_routes(layout, found))
    for (task, graph), corner in zip(configuration.items(), corners, strict=True):
        axes = panel_axes(figure, corner, panel, str(task))
        _draw_panel(axes, task, graph, titles[task], layout, kinds, widths)
        own = {(a, b): found.get((str(task), str(a), str(b))) for a, b in graph.edges}
        _draw_signs(axes, own, layout, places)
    return figure


def lay_out_figure(entries, panel, n_panels, n_columns, n_rows):
    """Return a figure with its legend, beside the last panel or below, and the panels' corners."""
    panels_width = n_columns * panel[0]
    free = panel[0] * (n_columns * n_rows - n_panels) - 2 * PAD
    rows = flow(entries, free)
    inside = (
        max(entry_width(*entry) for entry in entries) <= free
        and len(rows) * LEGEND_ROW <= panel[1] - TITLE
    )
    width = max(panels_width, max(entry_width(*entry) for entry in entries) + 2 * PAD)
    if not inside:
        rows = flow(entries, width - 2 * PAD)
    legend_height = len(rows) * LEGEND_ROW + PAD
    height = n_rows * panel[1] + (0 if inside else legend_height)
    figure = new_figure(width, height)
    left = (width - panels_width) / 2
    corners = [
        (left + i % n_columns * panel[0], i // n_columns * panel[1])
        for i in range(n_columns * n_rows)
    ]
    if inside:
        x, y = corners[n_panels]
        draw_legend(figure, rows, (x + PAD, y + TITLE), (free, legend_height))
    else:
        corner = (PAD, n_rows * panel[1])
        draw_legend(figure, rows, corner, (width - 2 * PAD, legend_height))
    return figure, corners[:n_panels]


def grid_columns(n_panels, width, height):
    """Choose the columns whose figure is nearest to landscape, with few panels left empty."""

    def badness(columns):
        rows = -(-n_panels // columns)
        empty = columns * rows - n_panels
        return abs(np.log(columns * width / (rows * height) / _ASPECT)) + 0.15 * empty

    return min(range(1, n_panels + 1), key=badness)


def _titles(task, graph, kinds, is_compared):
    """Return a panel's title and subtitle, which says how many arcs other tasks have."""
    n_arcs = graph.number_of_edges()
    subtitle = f"{n_arcs or 'no'} arc{'' if n_arcs == 1 else 's'}"
    if is_compared and n_arcs:
        n_all = sum(kinds[arc] == "all" for arc in graph.edges)
        n_one = sum(kinds[arc] == "one" for arc in graph.edges)
        n_sole = sum(kinds[arc] == "sole" for arc in graph.edges)
        subtitle += f": {n_all} in all, {n_one} only here"
        subtitle += f", {n_sole} possible only here" if n_sole else ""
    title = " ".join(str(task).split())
    return (title if len(title) <= 60 else title[:59] + "…"), subtitle


def width_of_titles(title, subtitle):
    # Measured in the regular face; the bold one is wider by less than a fifth.
    return max(1.2 * text_width(title, 10), text_width(subtitle, 8))


def _draw_panel(axes, task, graph, titles, layout, kinds, widths):
    middle = axes.get_xlim()[1] / 2
    draw_text(axes, middle, 9, titles[0], fontsize=10, fontweight="bold", ha="center")
    draw_text(axes, middle, 21, titles[1], color="#555555", ha="center")
    shift = np.array([middle - layout.width / 2, TITLE])
    compelled = compelled_arcs(graph)
    for (a, b), route in layout.routes.items():
        points = route + shift
        if graph.has_edge(a, b):
            draw_arc(axes, points, kinds[a, b], (a, b) in compelled, *widths.of(task, a, b))
        elif graph.has_edge(b, a):
            points = points[::-1]
            draw_arc(axes, points, kinds[b, a], (b, a) in compelled, *widths.of(task, b, a))
        elif could_have(graph, a, b):
            draw_absent(axes, points)
    for variable, (x, y, width, height) in layout.boxes.items():
        box = (x + shift[0], y + shift[1], width, height)
        kind = box_kind(graph, variable)
        draw_box(axes, box, layout.labels[variable], layout.font_size, kind)


def _signed_routes(layout, signs):
    """The routes of arcs that have a sign in some task."""
    joined = {frozenset(arc) for _, *arc in signs}
    return [(a, b) for a, b in layout.routes if frozenset((str(a), str(b))) in joined]


def _draw_signs(axes, signs, layout, places):
    """Write the signs of a panel's arcs, (a, b) -> +1, -1 or None, beside them."""
    left = axes.get_xlim()[1] / 2 - layout.width / 2
    for (a, b), sign in signs.items():
        if sign:
            x, y = places[(a, b) if (a, b) in places else (b, a)]
            draw_sign(axes, left + x, TITLE + y, sign)


def box_kind(graph, variable):
    if variable not in graph:
        return "ghost"
    return "variable" if takes_part(graph, variable) else "constant"


def _legend_entries(configuration, layout, counts, kinds, widths, signs):
    """List (drawing function, text) for what occurs in the panels."""
    graphs = list(configuration.values())
    partial = any(count.n_possible < len(graphs) for count in counts.values())
    texts = {
        "all": "in all tasks that could have it" if partial else "in all tasks",
        "some": "in some tasks",
        "one": "in this task only",
        "sole": "possible in this task only",
    }
    if len(graphs) == 1:
        texts["all"] = "arc"
    found = [kind for kind in texts if kind in kinds.values()]
    entries = [(_arc_mark(kind, True, EQUAL), texts[kind]) for kind in found]
    if any(
        not (graph.has_edge(a, b) or graph.has_edge(b, a)) and could_have(graph, a, b)
        for a, b in layout.routes
        for graph in graphs
    ):
        entries.append((_absent_mark, "only in other tasks"))
    if any(set(graph.edges) - compelled_arcs(graph) for graph in graphs):
        mark = _arc_mark(found[0], False, EQUAL)
        entries.append((mark, "dashed: direction not determined by the data"))
    boxes = {box_kind(graph, variable) for graph in graphs for variable in layout.boxes}
    for kind, text in BOX_TEXTS.items():
        if kind in boxes:
            entries.append((box_mark(kind), text))
    if found:
        entries += [(_arc_mark(found[0], True, line), text) for line, text in widths.samples()]
    entries += [(_sign_mark(sign), text) for sign, text in _SIGN_TEXTS.items() if sign in signs]
    entries.append((None, f"Layout: {LAYOUT_NAMES[layout.engine]}"))
    return entries


def _arc_mark(kind, compelled, line):
    return lambda axes, x, y: draw_arc(axes, legend_line(x, y), kind, compelled, *line)


def _sign_mark(sign):
    return lambda axes, x, y: draw_sign(axes, x + SAMPLE / 2, y, sign)


def _absent_mark(axes, x, y):
    draw_absent(axes, legend_line(x, y))


def legend_line(x, y):
    return np.linspace((x, y), (x + SAMPLE, y), 4)


def box_mark(kind):
    return lambda axes, x, y: draw_box(axes, (x + SAMPLE / 2, y, SAMPLE, 10), "name", 7, kind)
