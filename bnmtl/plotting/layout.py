"""Layout of nodes and arcs: one layered layout for the union of the graphs of all tasks.

All lengths are points (1/72 inch) and y grows downwards. A layout is computed once per
configuration, so that each variable has the same position in all panels.
"""

import re
from collections import Counter
from typing import NamedTuple

import networkx as nx
import numpy as np

from bnmtl.errors import InputError, InputTypeError, check_number
from bnmtl.graphs import check_dag, groups_by_label
from bnmtl.plotting import engines
from bnmtl.plotting.fonts import families, silence
from bnmtl.wording import type_of

_LINE = 1.25  # line height, in font sizes
_WRAP = 14  # characters after which a variable name is wrapped
_MAX_LINES = 3
# A run that ends with a space or punctuation, or before a capital after a lower-case letter.
_PIECE = r".+?(?:(?<=[\W_])(?=\w)|(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|$)"
_REMEDY = "arrange all these graphs again"
_MARGIN = 14.0  # between separate components, and between isolated variables


class Layout(NamedTuple):
    """Positions of variables and arcs, shared by all panels.

    Attributes
    ----------
    engine : str
        The engine that computed it: "graphviz" or "layered".
    boxes : dict
        Variable -> (x, y, width, height): center and size of its box.
    labels : dict
        Variable -> its name, wrapped into lines.
    routes : dict
        (a, b), the direction in most tasks -> array of shape (3 m + 1, 2): the control points of a
        chain of m cubic Bézier curves from the box of a to the box of b.
    font_size : float
    width, height : float
    crossings : int or None
        Number of crossings of arcs in the union of all tasks; None if the engine does not report
        it.
    """

    engine: str
    boxes: dict
    labels: dict
    routes: dict
    font_size: float
    width: float
    height: float
    crossings: int | None


def arrange(configuration, engine="auto", font_size=8.0):
    """Place the variables and arcs of several graphs on one layered layout.

    The layout is computed for the union of all arcs. If tasks disagree on a direction, or the union
    has a cycle, the arcs of most tasks point downwards and the others upwards.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph or BayesNet, or one of them
        One DAG per task.
    engine : {"auto", "graphviz", "layered"}, default="auto"
        The layout engine: Graphviz's `dot` program, or the layered layout built into bnmtl, which
        "auto" uses.
    font_size : float, default=8.0
        Font size of variable names, in points.

    Returns
    -------
    Layout

    Raises
    ------
    InputTypeError, InputError
        If the engine is unknown, a graph is not a DAG, there is no graph, or the font size is not a
        number above 0.
    MissingExtra
        If the engine is not installed.

    Examples
    --------
    >>> import networkx as nx
    >>> layout = arrange({"north": nx.DiGraph([("rain", "wet"), ("wet", "frogs")])}, "layered")
    >>> sorted(layout.boxes, key=lambda variable: layout.boxes[variable][1])
    ['rain', 'wet', 'frogs']
    """
    configuration = check_configuration(configuration)
    check_number("font_size", font_size, above=0)
    engine, place = engines.find(engine)
    variables = sorted({node for graph in configuration.values() for node in graph})
    labels = _labels(variables)
    sizes = {variable: _box_size(labels[variable], font_size) for variable in variables}
    arcs = majority_arcs(configuration)
    pieces, crossings = _place_components(place, sizes, arcs)
    boxes, routes, width, height = _pack(pieces, sizes)
    return Layout(engine, boxes, labels, routes, font_size, width, height, crossings)


def laid_out(configuration, layout, font_size, variables, arcs):
    """Return the layout of a configuration by an engine, or a given layout if it covers all."""
    if not isinstance(layout, Layout):
        return arrange(configuration, layout, font_size)
    lacking = sorted(set(variables) - set(layout.boxes))
    if lacking:
        rule, found = "must hold every variable", "{variable!r} has no place"
        raise InputError("layout", rule, found=found, remedies=_REMEDY, variable=lacking[0])
    lacking = sorted((a, b) for a, b in arcs if not {(a, b), (b, a)} & set(layout.routes))
    if lacking:
        (a, b), rule, found = lacking[0], "must hold every arc", "{a!r} -> {b!r} has none"
        raise InputError("layout", rule, found=found, remedies=_REMEDY, a=a, b=b)
    return layout


def check_configuration(configuration, argument="configuration"):
    """Return the graphs as a dict, or raise unless they are DAGs, at least one with a variable."""
    if not hasattr(configuration, "items") and hasattr(configuration, "graph"):
        configuration = {"": configuration}
    if not hasattr(configuration, "items"):
        rule = "must map task names to networkx.DiGraph or BayesNet, or be one of them"
        raise InputTypeError(argument, rule, type_of(configuration))
    graphs = {
        task: one if isinstance(one, nx.Graph) else getattr(one, "graph", one)
        for task, one in configuration.items()
    }
    for task, graph in graphs.items():
        check_dag(graph, f"{argument}[{task!r}]" if task else argument)
    if not any(len(graph) for graph in graphs.values()):
        raise InputError(argument, "must hold a graph with at least one variable")
    return graphs


def in_groups(configuration, task_groups):
    """Return the graphs in the order of the groups of their tasks, and the groups.

    Parameters
    ----------
    configuration : dict of task to networkx.DiGraph
    task_groups : mapping task -> label, or None
        None is one group.

    Returns
    -------
    configuration : dict of task to networkx.DiGraph
    groups : list of lists of tasks
    """
    if task_groups is None:
        return configuration, [list(configuration)]
    if not hasattr(task_groups, "items"):
        rule = "must map tasks to labels of their groups"
        raise InputTypeError("task_groups", rule, type_of(task_groups))
    labels = {str(task): label for task, label in task_groups.items()}
    lacking = [task for task in configuration if str(task) not in labels]
    if lacking:
        rule, found = "must name the group of every task", "{missing} has none"
        raise InputError("task_groups", rule, found=found, missing=str(lacking[0]))
    groups = groups_by_label({task: labels[str(task)] for task in configuration})
    return {task: configuration[task] for group in groups for task in group}, groups


def _place_components(place, sizes, arcs):
    """Place each connected component separately; returns [(centers, routes)] and all crossings."""
    union = nx.Graph(list(arcs))
    pieces, crossings = [], []
    for component in sorted(
        nx.connected_components(union), key=lambda part: (-len(part), min(part))
    ):
        inside = {arc: n for arc, n in arcs.items() if arc[0] in component}
        nodes = {variable: sizes[variable] for variable in sizes if variable in component}
        centers, routes, n_crossings = place(nodes, inside)
        pieces.append((centers, routes))
        crossings.append(n_crossings)
    return pieces, None if None in crossings else sum(crossings)


def majority_arcs(configuration):
    """Choose one direction per joined pair, that of most tasks, without cycles.

    Returns a sorted dict (upper, lower) -> number of tasks that join the two.
    """
    counts = Counter(arc for graph in configuration.values() for arc in graph.edges)
    acyclic = nx.DiGraph()
    chosen = Counter()
    for (tail, head), n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        arc, turned = (tail, head), (head, tail)
        is_new = arc not in chosen and tail in acyclic and head in acyclic
        if turned in chosen or (is_new and nx.has_path(acyclic, head, tail)):
            arc = turned
        acyclic.add_edge(*arc)
        chosen[arc] += n
    return dict(sorted(chosen.items()))


def _labels(variables):
    """Wrap long names; shortened names remain distinct."""
    labels = {}
    taken = set()
    for variable in variables:
        lines = _wrap(variable)
        number = 1
        while (label := "\n".join(lines)) in taken:
            number += 1
            # Long names often differ at their end.
            lines = [*_wrap(variable)[:-1], f"…{str(variable)[-_WRAP:]}"]
            if "\n".join(lines) in taken:
                lines = [*lines[:-1], f"… ({number})"]
        taken.add(label)
        labels[variable] = label
    return labels


def _wrap(name):
    """Split a name at spaces, punctuation and inner capitals into at most three short lines."""
    text = " ".join(str(name).split()) or "(blank)"
    if len(text) <= _WRAP + 2:
        return [text]
    lines = [""]
    for piece in re.findall(_PIECE, text):
        while len(piece) > _WRAP + 2:
            lines, piece = [*lines, piece[:_WRAP]], piece[_WRAP:]
        if len(lines[-1]) + len(piece.rstrip()) <= _WRAP + 2:
            lines[-1] += piece
        else:
            lines.append(piece)
    lines = [line.strip() for line in lines if line.strip()]
    if len(lines) > _MAX_LINES:
        lines = [*lines[: _MAX_LINES - 1], lines[_MAX_LINES - 1][: _WRAP + 1] + "…"]
    return lines


def text_width(line, font_size):
    """The width of a line of text, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=font_size, family=families(line))
    with silence():
        return text_to_path.get_text_width_height_descent(line, font, ismath=False)[0]


def _box_size(label, font_size):
    """Return width and height of the box around a label."""
    lines = label.split("\n")
    width = max(text_width(line, font_size) for line in lines) + font_size
    return max(width, 2.5 * font_size), (len(lines) * _LINE + 0.55) * font_size


def _pack(pieces, sizes):
    """Place components in rows, tallest first, and isolated variables in the remaining space."""
    extents = [_extent(centers, routes, sizes) for centers, routes in pieces]
    spans = [high - low + _MARGIN for low, high in extents]
    single = sorted(set(sizes).difference(*(centers for centers, _ in pieces)))
    area = sum(width * height for width, height in spans)
    area += sum((sizes[v][0] + _MARGIN) * (sizes[v][1] + _MARGIN) for v in single)
    widest = max([width for width, _ in spans] + [sizes[v][0] + _MARGIN for v in single])
    limit = max(np.sqrt(3 * area), widest)
    boxes, all_routes = {}, {}
    x = y = row_height = total = 0.0
    for i in sorted(range(len(pieces)), key=lambda i: -spans[i][1]):
        width, height = spans[i]
        if x > 0 and x + width > limit:
            x, y, row_height = 0.0, y + row_height, 0.0
        shift = np.array([x, y]) - extents[i][0]
        for variable, center in pieces[i][0].items():
            boxes[variable] = (*(np.asarray(center) + shift).tolist(), *sizes[variable])
        all_routes.update((arc, route + shift) for arc, route in pieces[i][1].items())
        x += width
        row_height = max(row_height, height)
        total = max(total, x)
    bottom = y + row_height
    if single:
        beside = limit - x >= max(limit / 3, max(sizes[v][0] + _MARGIN for v in single))
        left, top = (x, y) if beside else (0.0, bottom)
        block = _block(single, sizes, left, top, limit)
        boxes.update(block)
        bottom = max(bottom, *(yy + h / 2 + _MARGIN for _, yy, _, h in block.values()))
        total = max(total, *(xx + w / 2 + _MARGIN for xx, _, w, _ in block.values()))
    return boxes, all_routes, float(total - _MARGIN), float(bottom - _MARGIN)


def _block(variables, sizes, left, top, right):
    """Place isolated variables in rows from (left, top), up to `right`."""
    boxes = {}
    x, y, row_height = left, top, 0.0
    for variable in variables:
        width, height = sizes[variable]
        if x > left and x + width > right:
            x, y, row_height = left, y + row_height + _MARGIN / 2, 0.0
        boxes[variable] = (x + width / 2, y + height / 2, width, height)
        x += width + _MARGIN
        row_height = max(row_height, height)
    return boxes


def _extent(centers, routes, sizes):
    """Return the lower and upper corner of the bounding box of all boxes and control points."""
    points = [
        np.asarray(center) + sign * np.asarray(sizes[variable]) / 2
        for variable, center in centers.items()
        for sign in (-1, 1)
    ]
    points = np.vstack([points, *routes.values()])
    return points.min(axis=0), points.max(axis=0)
