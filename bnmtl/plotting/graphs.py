"""Plots of the graphs of tasks side by side, with each variable at the same position."""

import numpy as np
from scipy.spatial.distance import cdist

from bnmtl.errors import check_number, check_whole
from bnmtl.graphs import compelled_arcs, could_have, sharing, sharing_in_groups, takes_part
from bnmtl.plotting.drawing import (
    EQUAL,
    INK,
    LEGEND_ROW,
    PAD,
    SAMPLE,
    draw_absent,
    draw_arc,
    draw_box,
    draw_legend,
    draw_text,
    entry_width,
    flow,
    lines_of,
    new_figure,
    note_entries,
    panel_axes,
    read_table,
)
from bnmtl.plotting.layout import (
    check_configuration,
    in_groups,
    laid_out,
    text_width,
    warn_of_missing_glyphs,
)
from bnmtl.wording import count

TITLE = 30.0  # height of the title and subtitle of a panel
_ASPECT = 1.5  # target width : height of the grid of panels
_LAYOUT_NAMES = {"graphviz": "Graphviz (dot)", "layered": "layered (built in)"}
_BOX_TEXTS = {"constant": "constant in this task", "ghost": "variable not in this task"}


def draw_panels(titles, layout, entries, boxes, draw_arcs, columns=None):
    """Draw the panels of a figure and its legend.

    Parameters
    ----------
    titles : dict of task to (title, subtitle)
        One panel per task.
    layout : Layout
    entries : list of (draw, text)
        Entries of the legend, which ends with the name of the layout.
    boxes : dict of task to dict of variable to kind
        Kinds for `draw_box`.
    draw_arcs : callable
        ``draw_arcs(axes, task, shift)`` draws arcs along the routes of the layout, moved by
        `shift`.
    columns : int, optional
        Number of panels in a row. Default: closest to a page in landscape.
    """
    # Measured in the regular font; the bold one of titles is wider by less than a fifth.
    widths = [(1.2 * text_width(title, 10), text_width(text, 8)) for title, text in titles.values()]
    width = max(layout.width, *(max(pair) for pair in widths))
    panel = (width + 2 * PAD, layout.height + TITLE + PAD)
    entries = [*entries, (None, f"Layout: {_LAYOUT_NAMES[layout.engine]}")]
    columns = min(columns or _grid_columns(len(titles), *panel), len(titles))
    figure, corners = _lay_out_figure(entries, panel, len(titles), columns)
    figure.set_label(layout.engine)
    middle = panel[0] / 2
    shift = np.array([middle - layout.width / 2, TITLE])
    for (task, (title, subtitle)), corner in zip(titles.items(), corners, strict=True):
        axes = panel_axes(figure, corner, panel, str(task))
        draw_text(axes, middle, 9, title, fontsize=10, fontweight="bold", ha="center")
        draw_text(axes, middle, 21, subtitle, color="#555555", ha="center")
        draw_arcs(axes, task, shift)
        for variable, (x, y, *size) in layout.boxes.items():
            box = (x + shift[0], y + shift[1], *size)
            kind = boxes[task][variable]
            draw_box(axes, box, layout.labels[variable], layout.font_size, kind)
    return figure


def _lay_out_figure(entries, panel, n_panels, n_columns):
    """Return a figure with its legend, next to the last panel or below, and the panel corners."""
    n_rows = -(-n_panels // n_columns)
    panels_width = n_columns * panel[0]
    widest = max(entry_width(*entry) for entry in entries)
    free = panel[0] * (n_columns * n_rows - n_panels) - 2 * PAD
    inside = widest <= free and len(flow(entries, free)) * LEGEND_ROW <= panel[1] - TITLE
    width = max(panels_width, widest + 2 * PAD)
    legend_width = free if inside else width - 2 * PAD
    rows = flow(entries, legend_width)
    legend_height = len(rows) * LEGEND_ROW + PAD
    figure = new_figure(width, n_rows * panel[1] + (0 if inside else legend_height))
    left = (width - panels_width) / 2
    corners = [
        (left + i % n_columns * panel[0], i // n_columns * panel[1])
        for i in range(n_columns * n_rows)
    ]
    corner = np.add(corners[n_panels], (PAD, TITLE)) if inside else (PAD, n_rows * panel[1])
    draw_legend(figure, rows, corner, (legend_width, legend_height))
    return figure, corners[:n_panels]


def _grid_columns(n_panels, width, height):
    """Choose the number of columns closest to landscape, with few empty panels."""

    def badness(columns):
        rows = -(-n_panels // columns)
        empty = columns * rows - n_panels
        return abs(np.log(columns * width / (rows * height) / _ASPECT)) + 0.15 * empty

    return min(range(1, n_panels + 1), key=badness)


def box_kinds(graphs, layout):
    """The kinds of boxes of the variables of a layout in the panel of each graph, by task."""
    return {
        task: {variable: _box_kind(graph, variable) for variable in layout.boxes}
        for task, graph in graphs.items()
    }


def _box_kind(graph, variable):
    if variable not in graph:
        return "ghost"
    return "variable" if takes_part(graph, variable) else "constant"


def box_entries(boxes, texts=_BOX_TEXTS):
    """The legend entries of the kinds of boxes in the panels."""
    found = {kind for kinds in boxes.values() for kind in kinds.values()}
    return [(_box_mark(kind), text) for kind, text in texts.items() if kind in found]


def _box_mark(kind):
    return lambda axes, x, y: draw_box(axes, (x + SAMPLE / 2, y, SAMPLE, 10), "name", 7, kind)


def legend_line(x, y):
    """Control points of the arc in a legend entry."""
    return np.linspace((x, y), (x + SAMPLE, y), 4)


_SIZE = 9.0  # of the sign, in points; height and width are about equal
_ASIDE = 7.5  # from the arc to the middle of the sign
_ALONG = np.linspace(0.15, 0.85, 15)  # possible positions along the arc
_ROOM = 7.0  # distance to other arcs; more has no advantage
_SPACING = 13.0  # distance of two signs, so that their lines of text do not touch
_PER_CURVE = 12  # points that approximate a Bézier curve


def _read_signs(table, configuration):
    """Return +1 or -1 by (task, parent, child) for the arcs with a sign in a table, if any."""
    if table is None:
        return {}
    found = read_table("signs", table, ("task", "from", "to", "tau_b"))
    arcs = {(str(task), str(a), str(b)) for task, g in configuration.items() for a, b in g.edges}
    return {arc: int(np.sign(tau)) for arc, tau in found.items() if arc in arcs and tau * tau > 0}


def sign_places(layout, arcs):
    """Choose a position next to each arc without overlapping boxes and far from other arcs.

    Parameters
    ----------
    layout : Layout
    arcs : iterable of (a, b)
        The routes with a sign in some panel: keys of ``layout.routes``.

    Returns
    -------
    dict
        (a, b) -> (x, y) in the coordinates of the layout.
    """
    points = {arc: points_along(route, _PER_CURVE) for arc, route in layout.routes.items()}
    placed = np.zeros((0, 2))
    places = {}
    for arc in sorted(arcs):
        candidates = _beside(points[arc])
        others = [along for other, along in points.items() if other != arc]
        room = np.minimum(_distances(candidates, np.vstack([np.zeros((0, 2)), *others])), _ROOM)
        # The arc itself may bend back to the position.
        room = np.minimum(room, _distances(candidates, points[arc]) + 1.5)
        # Overlapping boxes and signs are worse than any arc; the middle wins ties.
        room -= 100.0 * _covered(candidates, layout)
        room -= 100.0 * (_distances(candidates, placed) < _SPACING)
        room -= np.tile(np.abs(_ALONG - 0.5), 2)
        places[arc] = tuple(candidates[np.argmax(room)].tolist())
        placed = np.vstack([placed, places[arc]])
    return places


def points_along(route, n_points):
    """Points along a chain of cubic Bézier curves, the same number for each, and its end."""
    t = np.linspace(0, 1, n_points, endpoint=False)[:, None]
    weights = (1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3
    curves = [
        sum(w * p for w, p in zip(weights, route[i : i + 4], strict=True))
        for i in range(0, len(route) - 1, 3)
    ]
    return np.vstack([*curves, route[-1:]])


def _beside(points):
    """Positions on both sides of a line, by length along it."""
    steps = np.diff(points, axis=0)
    lengths = np.r_[0.0, np.cumsum(np.hypot(*steps.T))]
    at = _ALONG * lengths[-1]
    on_line = np.column_stack([np.interp(at, lengths, values) for values in points.T])
    segment = np.clip(np.searchsorted(lengths, at, side="right") - 1, 0, len(steps) - 1)
    direction = steps[segment] / np.maximum(np.hypot(*steps[segment].T), 1e-9)[:, None]
    normal = np.column_stack([-direction[:, 1], direction[:, 0]])
    return np.vstack([on_line + _ASIDE * normal, on_line - _ASIDE * normal])


def _distances(places, points):
    """Distance of each position to the nearest point; infinite if there are no points."""
    return cdist(places, points).min(axis=1, initial=np.inf)


def _covered(places, layout):
    """Whether a sign at each position would touch a box."""
    x, y, width, height = np.array(list(layout.boxes.values())).T
    across = np.abs(places[:, :1] - x) < (width + _SIZE) / 2
    along = np.abs(places[:, 1:] - y) < (height + _SIZE) / 2
    return (across & along).any(axis=1)


def draw_sign(axes, x, y, sign):
    """Draw a plus or minus with a white rim, centered at (x, y)."""
    from matplotlib.patheffects import withStroke

    text = "+" if sign > 0 else "\N{MINUS SIGN}"
    style = {"fontsize": _SIZE, "color": INK, "ha": "center", "zorder": 5, "fontweight": "bold"}
    written = draw_text(axes, x, y, text, **style)
    written.set_path_effects([withStroke(linewidth=1.8, foreground="white")])


_SIGN_TEXTS = {1: "both rise together", -1: "one falls as the other rises"}


def dags(
    configuration,
    layout="auto",
    strength=None,
    columns=None,
    font_size=8.0,
    confidence=None,
    signs=None,
    note=None,
    task_groups=None,
):
    """Plot the graphs of tasks side by side, with each variable at the same position.

    Arcs in all tasks that could have them, in some, and in only one differ in color; arcs possible
    in only one task are dark gray. Arcs that are possible in this task but only present in others
    are pale and dotted, without a head. The direction of a dashed arc with an open head is not
    determined by the data: the equivalence class of the task contains both directions, though tiers
    or required arcs may determine it. A variable missing from a task is a pale outline, and a
    variable that is constant in it (the node attribute `constant`) is gray.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph or BayesNet, or one of them
        One DAG per task, such as the `configuration_` of a learner. The graphs of networks do not
        mark constant variables.
    layout : {"auto", "graphviz", "layered"} or Layout, default="auto"
        The layout engine, see `bnmtl.plotting.arrange`, or its result, to use the same layout in
        several figures. The caption and the label of the figure (`figure.get_label()`) name the
        chosen engine.
    strength : pandas.DataFrame, optional
        The `arcs_` of a learner, with columns from, to, task and strength: the width of an arc
        shows the loss of score (nats) from its removal in that task. Default: equal widths, unless
        there is a `confidence`.
    columns : int, optional
        Number of panels in a row. Default: closest to a page in landscape.
    font_size : float, default=8.0
        Font size of variable names, in points; the figure scales with it. A `Layout` has its own.
    confidence : pandas.DataFrame, optional
        The table of `bnmtl.confidence.arc_confidence`, with columns task, parent, child and edge:
        the width of an arc shows the share of replicates that join the two variables in either
        direction; arcs joined in fewer than half of them are thin and dotted. Cannot be combined
        with `strength`.
    signs : pandas.DataFrame, optional
        The `arcs_` of a learner, with columns from, to, task and tau_b: a small + next to an arc
        means that its variables rise together, a - that one falls as the other rises; dotted arcs
        have no sign.
    note : str, optional
        A text at the beginning of the legend, such as that nothing was found; the counts of common
        arcs are then omitted.
    task_groups : mapping task -> label, optional
        Groups of tasks that learn from each other, such as the `task_groups_` of a learner: panels
        are in the order of the groups, and colors show in how many tasks of its group an arc is.
        Tasks that learn alone have one color. Default: one group.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    InputTypeError, InputError
        If a graph is not a DAG, there is no graph, or an argument is not as described.
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
    configuration, groups = in_groups(check_configuration(configuration), task_groups)
    check_number("font_size", font_size, above=0)
    check_whole("columns", columns, 1, optional=True)
    names = dict.fromkeys(node for graph in configuration.values() for node in graph)
    warn_of_missing_glyphs(map(str, [*names, *configuration]))
    counts = sharing(configuration)
    layout = laid_out(configuration, layout, font_size, names, counts)
    lines, samples = lines_of(configuration, strength, confidence)
    # Signs of arcs in few replicates would be misleading.
    known = _read_signs(signs, configuration)
    signs = {arc: sign for arc, sign in known.items() if not lines[arc].dotted}
    kinds = _kinds(configuration, groups)
    titles = _titles(configuration, groups, kinds, note)
    boxes = box_kinds(configuration, layout)
    present = {kinds[task][arc] for task, graph in configuration.items() for arc in graph.edges}
    found = [kind for kind in ("all", "some", "one", "sole") if kind in present]
    entries = [
        *note_entries(note),
        *_arc_entries(configuration, groups, layout, found),
        *box_entries(boxes),
        *((_arc_mark(found[0], True, line), text) for line, text in samples if found),
        *((_sign_mark(sign), text) for sign, text in _SIGN_TEXTS.items() if sign in signs.values()),
    ]
    joined = {frozenset(arc) for _, *arc in signs}
    signed = [arc for arc in layout.routes if frozenset(map(str, arc)) in joined]
    places = sign_places(layout, signed)

    def draw_arcs(axes, task, shift):
        graph, compelled = configuration[task], compelled_arcs(configuration[task])
        for route, points in layout.routes.items():
            (a, b), points = route, points + shift
            if graph.has_edge(b, a):
                a, b, points = b, a, points[::-1]
            if graph.has_edge(a, b):
                arc = str(task), str(a), str(b)
                draw_arc(axes, points, kinds[task][a, b], (a, b) in compelled, *lines[arc])
                if arc in signs:
                    draw_sign(axes, *(shift + places[route]), signs[arc])
            elif could_have(graph, a, b):
                draw_absent(axes, points)

    return draw_panels(titles, layout, entries, boxes, draw_arcs, columns)


def _kinds(configuration, groups):
    """The kinds of the arcs of a task's group, by task."""
    counts = sharing_in_groups(configuration, groups)
    alone = {group[0] for group in groups if len(group) == 1}
    # With one task, arcs are neither shared nor exceptions.
    return {
        task: {arc: "all" if task in alone else n.kind for arc, n in counts[task].items()}
        for task in configuration
    }


def _titles(configuration, groups, kinds, note):
    """The title and subtitle of each panel; the subtitle counts the kinds of arcs in a group."""
    everywhere = "in all" if len(groups) == 1 else "in all of the group"
    titles = {}
    for task, is_alone in ((task, len(group) == 1) for group in groups for task in group):
        found = [kinds[task][arc] for arc in configuration[task].edges]
        subtitle = count(len(found), "arc") if found else "no arcs"
        if found and not is_alone and note is None:
            subtitle += f": {found.count('all')} {everywhere}, {found.count('one')} only here"
            subtitle += f", {found.count('sole')} possible only here" if "sole" in found else ""
        if is_alone and len(groups) > 1:
            subtitle += ", learned alone"
        title = " ".join(str(task).split())
        titles[task] = title if len(title) <= 60 else title[:59] + "…", subtitle
    return titles


def _arc_entries(configuration, groups, layout, found):
    """The legend entries of the kinds of arcs found in the panels."""
    graphs = list(configuration.values())
    counts = sharing_in_groups(configuration, groups)
    partial = any(n.n_possible < len(group) for group in groups for n in counts[group[0]].values())
    of_group = " of the group" if len(groups) > 1 else ""
    texts = {
        "all": f"in all tasks{of_group}" + (" that could have it" if partial else ""),
        "some": f"in some tasks{of_group}",
        "one": f"in this task{of_group} only",
        "sole": f"possible in this task{of_group} only",
    }
    if len(groups) == len(graphs):
        texts["all"] = "arc"
    entries = [(_arc_mark(kind, True, EQUAL), texts[kind]) for kind in found]
    if any(
        not (graph.has_edge(a, b) or graph.has_edge(b, a)) and could_have(graph, a, b)
        for a, b in layout.routes
        for graph in graphs
    ):
        text = "only in other tasks"
        entries.append((lambda axes, x, y: draw_absent(axes, legend_line(x, y)), text))
    if any(set(graph.edges) - compelled_arcs(graph) for graph in graphs):
        mark = _arc_mark(found[0], False, EQUAL)
        entries.append((mark, "dashed: direction not determined by the data"))
    return entries


def _arc_mark(kind, compelled, line):
    return lambda axes, x, y: draw_arc(axes, legend_line(x, y), kind, compelled, *line)


def _sign_mark(sign):
    return lambda axes, x, y: draw_sign(axes, x + SAMPLE / 2, y, sign)
