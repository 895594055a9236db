"""Plots that compare arcs: of learned with true graphs, and of two clusters of tasks."""

from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, check_number, check_whole
from bnmtl.graphs import sharing, takes_part
from bnmtl.metrics import edit_distance
from bnmtl.plotting.drawing import COLORS, draw_arc, shorten
from bnmtl.plotting.graphs import box_entries, box_kinds, draw_panels, legend_line
from bnmtl.plotting.layout import check_configuration, laid_out, warn_of_missing_glyphs
from bnmtl.plotting.tasks import check_tasks, task_names
from bnmtl.wording import count, listed, type_of


class _Style(NamedTuple):
    """Style of a kind of arcs, which differ in color and line, and its text in the legend."""

    color: str
    line: str | tuple
    width: float
    zorder: float
    text: str


# Colors of Okabe and Ito, as in the other plots; mistakes are wider, correct arcs less prominent.
_MISTAKES = {
    "correct": _Style("#8A8A8A", "solid", 1.2, 2.0, "correct"),
    "reversed": _Style(
        COLORS["some"], (0, (4, 1.2, 1, 1.2)), 2.0, 2.1, "reversed, drawn as learned"
    ),
    "missing": _Style(COLORS["all"], (0, (3.2, 1.8)), 1.8, 2.2, "missing: only in the true graph"),
    "extra": _Style(COLORS["one"], (0, (1, 0.8)), 2.0, 2.3, "extra: only in the learned graph"),
}
# The texts are templates for the names of the clusters.
_OWNERS = {
    "both": _Style(COLORS["all"], "solid", 1.6, 2.0, "in both clusters"),
    "first": _Style(COLORS["some"], (0, (3.2, 1.8)), 1.8, 2.1, "only in cluster {0}"),
    "second": _Style(COLORS["one"], (0, (1, 0.8)), 1.8, 2.2, "only in cluster {1}"),
}
_SPACING = 2.5  # distance of two arcs in opposite directions from the line between


def compare(true, learned, layout="auto", columns=None, font_size=8.0):
    """Plot the correct, reversed, missing and extra arcs of learned graphs.

    There is one panel per task, with each variable at the same position in all panels. The title
    counts the kinds of arcs, which differ in color and line; `bnmtl.metrics.edit_distance` is the
    number of arcs that are not correct.

    Parameters
    ----------
    true, learned : networkx.DiGraph or BayesNet, or mapping of task to these
        DAGs over the same variables; mappings over the same tasks.
    layout : {"auto", "graphviz", "layered"} or Layout, default="auto"
        The layout engine or a layout, as in `bnmtl.plotting.dags`.
    columns : int, optional
        Number of panels in a row. Default: closest to a page in landscape.
    font_size : float, default=8.0
        Font size of variable names, in points; the figure scales with it. A `Layout` has its own.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    InputTypeError, InputError
        If the graphs are not DAGs, their variables or tasks differ, there is no graph, or an
        argument is not as described.
    MissingExtra
        If the engine of `layout` is not installed.

    Examples
    --------
    >>> import networkx as nx
    >>> true = nx.DiGraph([("rain", "wet"), ("wet", "frogs")])
    >>> learned = nx.DiGraph([("wet", "rain"), ("rain", "frogs")])
    >>> figure = compare(true, learned, layout="layered")
    >>> figure.axes[1].texts[1].get_text()
    'edit distance 3: 0 correct, 1 reversed, 1 missing, 1 extra'
    """
    check_number("font_size", font_size, above=0)
    check_whole("columns", columns, 1, optional=True)
    edit_distance(true, learned)  # checks both
    true = check_configuration(true, "true")
    learned = check_configuration(learned, "learned")
    kinds = {task: _mistakes(true[task], learned[task]) for task in true}
    warn_of_missing_glyphs(map(str, [*_variables(true), *true]))
    # The true graphs count twice, so their directions point downwards if both disagree.
    sides = enumerate((true, true, learned))
    everything = {(i, task): graph for i, side in sides for task, graph in side.items()}
    arcs = [arc for kinds_of in kinds.values() for arc in kinds_of]
    layout = laid_out(everything, layout, font_size, _variables(true), arcs)
    titles = {task: _compare_titles(task, kinds_of) for task, kinds_of in kinds.items()}
    boxes = box_kinds(learned, layout)
    found = {kind for kinds_of in kinds.values() for kind in kinds_of.values()}
    styles = [style for kind, style in _MISTAKES.items() if kind in found]
    entries = [*((_arc_mark(style), style.text) for style in styles), *box_entries(boxes)]

    def draw_arcs(axes, task, shift):
        _draw_arcs(axes, layout.routes, shift, kinds[task], _MISTAKES)

    return draw_panels(titles, layout, entries, boxes, draw_arcs, columns)


def clusters(configuration, labels, first, second, layout="auto", font_size=8.0):
    """Plot the arcs that two clusters of tasks have in common, and those in only one of them.

    A cluster has an arc if more than half of the tasks in which both variables exist and vary have
    it. Arcs in neither cluster are not drawn.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph or BayesNet
        One DAG per task, such as the `configuration_` of a learner.
    labels : pandas.Series
        Cluster of each task, indexed by task, such as the `labels_` of a clustering.
    first, second : object
        The two clusters, among the values of `labels`.
    layout : {"auto", "graphviz", "layered"} or Layout, default="auto"
        The layout engine or a layout, as in `bnmtl.plotting.dags`.
    font_size : float, default=8.0
        Font size of variable names, in points; the figure scales with it. A `Layout` has its own.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot; save it with `savefig`.

    Raises
    ------
    InputTypeError, InputError
        If a graph is not a DAG, the labels are not those of the configuration's tasks, a cluster
        is unknown, or the font size is not a number above 0.
    MissingExtra
        If the engine of `layout` is not installed.

    Examples
    --------
    >>> import networkx as nx, pandas as pd
    >>> north = nx.DiGraph([("rain", "wet"), ("wet", "frogs")])
    >>> south = nx.DiGraph([("rain", "wet"), ("frogs", "wet")])
    >>> labels = pd.Series({"north": "cold", "south": "warm"})
    >>> figure = clusters({"north": north, "south": south}, labels, "cold", "warm")
    >>> [text.get_text() for text in figure.axes[0].texts[:3]]
    ['in both clusters: 1 arc', 'only in cluster cold: 1 arc', 'only in cluster warm: 1 arc']
    """
    configuration = check_configuration(configuration)
    check_number("font_size", font_size, above=0)
    _check_clusters(configuration, labels, first, second)
    sides = [
        {task: graph for task, graph in configuration.items() if labels[task] == cluster}
        for cluster in (first, second)
    ]
    both = {**sides[0], **sides[1]}
    warn_of_missing_glyphs(map(str, [*_variables(both), *both, first, second]))
    owners = _owners(*sides)
    # The union of these may have cycles.
    shown = {
        task: nx.subgraph_view(graph, filter_edge=lambda *arc: arc in owners)
        for task, graph in both.items()
    }
    layout = laid_out(shown, layout, font_size, _variables(both), owners)
    left_out = {arc for graph in both.values() for arc in graph.edges} - set(owners)
    names = task_names([first, second])
    boxes = {
        variable: "variable" if all(_varies(side, variable) for side in sides) else "constant"
        for variable in layout.boxes
    }
    entries = [
        *_clusters_legend(owners, names, sides, len(left_out)),
        *box_entries({"": boxes}, {"constant": "missing or constant in all tasks of a cluster"}),
    ]
    titles = f"Clusters {names[0]} and {names[1]}", count(len(owners), "arc")

    def draw_arcs(axes, _, shift):
        _draw_arcs(axes, layout.routes, shift, owners, _OWNERS)

    return draw_panels({"clusters": titles}, layout, entries, {"clusters": boxes}, draw_arcs)


def _variables(graphs):
    return dict.fromkeys(node for graph in graphs.values() for node in graph)


def _mistakes(true, learned):
    """Map every arc to draw to its kind; a reversed arc is drawn as learned.

    Examples
    --------
    >>> import networkx as nx
    >>> true, learned = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a"), ("c", "d")])
    >>> _mistakes(true, learned)
    {('b', 'a'): 'reversed', ('c', 'd'): 'extra', ('b', 'c'): 'missing'}
    """
    kinds = {}
    for tail, head in sorted(learned.edges):
        is_reversed = true.has_edge(head, tail)
        is_correct = true.has_edge(tail, head)
        kinds[tail, head] = "correct" if is_correct else "reversed" if is_reversed else "extra"
    for tail, head in sorted(true.edges):
        if (tail, head) not in kinds and (head, tail) not in kinds:
            kinds[tail, head] = "missing"
    return kinds


def _compare_titles(task, kinds):
    counts = {kind: list(kinds.values()).count(kind) for kind in _MISTAKES}
    distance = len(kinds) - counts["correct"]
    listing = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    return shorten(task, 60), f"edit distance {distance}: {listing}"


def _check_clusters(configuration, labels, first, second):
    if not isinstance(labels, pd.Series):
        message = f"must be a pandas.Series with the cluster of each task, got {type_of(labels)}"
        raise InputTypeError(message, argument="labels")
    check_tasks("labels", list(labels.index))
    differing = sorted(set(configuration) ^ set(labels.index), key=str)
    if differing:
        message = (
            f"must have the tasks of `configuration`; only one of them has {listed(differing)}"
        )
        raise InputError(message, argument="labels", options=("configuration",))
    known = list(dict.fromkeys(labels))
    for argument, cluster in (("first", first), ("second", second)):
        if cluster not in known:
            message = f"must be one of the clusters in `labels`, {listed(known)}, got {cluster!r}"
            raise InputError(message, argument=argument, options=("labels",))
    if first == second:
        message = f"must be another cluster than `first`, got {second!r}"
        raise InputError(message, argument="second", options=("first",))


def _owners(*sides):
    """Map the arcs in one or both of two clusters to "both", "first" or "second"."""
    first, second = (
        {arc for arc, n in sharing(side).items() if 2 * n.n_tasks > n.n_possible} for side in sides
    )
    return {
        arc: "both" if arc in first & second else "first" if arc in first else "second"
        for arc in sorted(first | second)
    }


def _varies(graphs, variable):
    return any(takes_part(graph, variable) for graph in graphs.values())


def _clusters_legend(owners, names, sides, n_left_out):
    entries = []
    for kind, style in _OWNERS.items():
        n_arcs = count(list(owners.values()).count(kind), "arc")
        entries.append((_arc_mark(style), f"{style.text.format(*names)}: {n_arcs}"))
    for name, side in zip(names, sides, strict=True):
        tasks = [shorten(task, 20) for task in side]
        more = f" and {len(tasks) - 5} more" if len(tasks) > 5 else ""
        entries.append((None, f"Cluster {name}: {', '.join(tasks[:5])}{more}"))
    entries.append((None, "In a cluster: in more than half of its tasks that could have it"))
    if n_left_out:
        entries.append((None, f"In neither, not drawn: {count(n_left_out, 'arc')}"))
    return entries


def _draw_arcs(axes, routes, shift, kinds, styles):
    """Draw arcs by kind, and two in opposite directions next to each other."""
    for (a, b), route in routes.items():
        ways = [way for way in ((a, b), (b, a)) if way in kinds]
        across = (route[-1] - route[0])[::-1] * (-1, 1)
        across *= _SPACING / (np.hypot(*across) or 1.0) if len(ways) == 2 else 0.0
        for way, side in zip(ways, (1, -1), strict=False):
            points = route + shift + side * across
            _draw_styled(axes, points if way == (a, b) else points[::-1], styles[kinds[way]])


def _draw_styled(axes, points, style):
    """Draw an arc as in the other plots, with a given color and line."""
    n_before = len(axes.patches)
    draw_arc(axes, points, "all", True, style.width)
    shaft, head = axes.patches[n_before:]
    shaft.set(edgecolor=style.color, linestyle=style.line, zorder=style.zorder)
    head.set(facecolor=style.color, edgecolor=style.color)


def _arc_mark(style):
    return lambda axes, x, y: _draw_styled(axes, legend_line(x, y), style)
