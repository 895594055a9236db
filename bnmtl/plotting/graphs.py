"""Plots of the graphs of tasks side by side, with each variable at the same position."""

from bnmtl.errors import check_number, check_whole
from bnmtl.graphs import compelled_arcs, could_have, sharing, sharing_in_groups
from bnmtl.plotting.drawing import SAMPLE, draw_absent, draw_arc, note_entries
from bnmtl.plotting.fonts import warn_of_boxes
from bnmtl.plotting.layout import check_configuration, in_groups, laid_out
from bnmtl.plotting.panels import box_entries, box_kinds, draw_panels, legend_line
from bnmtl.plotting.signs import draw_sign, read_signs, sign_places
from bnmtl.plotting.widths import EQUAL, widths_of

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
    warn_of_boxes(map(str, [*names, *configuration]))
    counts = sharing(configuration)
    layout = laid_out(configuration, layout, font_size, names, counts)
    widths = widths_of(configuration, strength, confidence)
    # Signs of arcs in few replicates would be misleading.
    signs = {
        arc: sign
        for arc, sign in read_signs(signs, configuration).items()
        if not widths.of(*arc).dotted
    }
    kinds = _kinds(configuration, groups)
    titles = _all_titles(configuration, groups, kinds, note)
    boxes = box_kinds(configuration, layout)
    present = {kinds[task][arc] for task, graph in configuration.items() for arc in graph.edges}
    found = [kind for kind in ("all", "some", "one", "sole") if kind in present]
    entries = [
        *note_entries(note),
        *_arc_entries(configuration, groups, layout, found),
        *box_entries(boxes),
        *((_arc_mark(found[0], True, line), text) for line, text in widths.samples if found),
        *((_sign_mark(sign), text) for sign, text in _SIGN_TEXTS.items() if sign in signs.values()),
    ]
    places = sign_places(layout, _signed_routes(layout, signs))

    def draw_arcs(axes, task, shift):
        _draw_arcs(axes, task, configuration[task], layout.routes, shift, kinds[task], widths)
        for a, b in configuration[task].edges:
            if sign := signs.get((str(task), str(a), str(b))):
                draw_sign(axes, *(shift + places[(a, b) if (a, b) in places else (b, a)]), sign)

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


def _all_titles(configuration, groups, kinds, note):
    """The titles and subtitles of the panels by task."""
    titles = {}
    for group in groups:
        everywhere = None
        if len(group) > 1 and note is None:
            everywhere = "in all" if len(groups) == 1 else "in all of the group"
        is_alone = len(group) == 1 and len(groups) > 1
        for task in group:
            graph = configuration[task]
            title, subtitle = _titles(task, graph, kinds[task], everywhere)
            titles[task] = title, f"{subtitle}, learned alone" if is_alone else subtitle
    return titles


def _titles(task, graph, kinds, everywhere):
    """Return the title and subtitle of a panel; the subtitle counts the kinds of arcs."""
    n_arcs = graph.number_of_edges()
    subtitle = f"{n_arcs or 'no'} arc{'' if n_arcs == 1 else 's'}"
    if everywhere and n_arcs:
        found = [kinds[arc] for arc in graph.edges]
        subtitle += f": {found.count('all')} {everywhere}, {found.count('one')} only here"
        subtitle += f", {found.count('sole')} possible only here" if "sole" in found else ""
    title = " ".join(str(task).split())
    return (title if len(title) <= 60 else title[:59] + "…"), subtitle


def _draw_arcs(axes, task, graph, routes, shift, kinds, widths):
    """Draw the arcs of a task, and traces of arcs possible in it."""
    compelled = compelled_arcs(graph)
    for (a, b), route in routes.items():
        points = route + shift
        if graph.has_edge(b, a):
            a, b, points = b, a, points[::-1]
        if graph.has_edge(a, b):
            draw_arc(axes, points, kinds[a, b], (a, b) in compelled, *widths.of(task, a, b))
        elif could_have(graph, a, b):
            draw_absent(axes, points)


def _signed_routes(layout, signs):
    """The routes of arcs with a sign in some task."""
    joined = {frozenset(arc) for _, *arc in signs}
    return [(a, b) for a, b in layout.routes if frozenset((str(a), str(b))) in joined]


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
        entries.append((_absent_mark, "only in other tasks"))
    if any(set(graph.edges) - compelled_arcs(graph) for graph in graphs):
        mark = _arc_mark(found[0], False, EQUAL)
        entries.append((mark, "dashed: direction not determined by the data"))
    return entries


def _arc_mark(kind, compelled, line):
    return lambda axes, x, y: draw_arc(axes, legend_line(x, y), kind, compelled, *line)


def _sign_mark(sign):
    return lambda axes, x, y: draw_sign(axes, x + SAMPLE / 2, y, sign)


def _absent_mark(axes, x, y):
    draw_absent(axes, legend_line(x, y))
