"""Layout of nodes and arcs: one layered layout for the union of the graphs of all tasks.

All lengths are points (1/72 inch) and y grows downwards. A layout is computed once per
configuration, so that each variable has the same position in all panels.

An engine takes `sizes`, a dict node -> (width, height), and `arcs`, an acyclic dict (upper, lower)
-> weight, both in a fixed order. It returns the centers of the nodes, the Bézier control points of
the arcs (see `bnmtl.plotting.layout.Layout`) and the number of crossings (None: unknown).
"""

import contextlib
import re
import shutil
import subprocess
import warnings
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import networkx as nx
import numpy as np

from bnmtl.errors import InputError, InputTypeError, MissingExtra, check_choice, check_number, warn
from bnmtl.graphs import check_dag, groups_by_label
from bnmtl.wording import listed, printable, type_of

# Fonts of matplotlib with placeholders or symbols in place of letters.
_NO_TEXT = ("cm", "Last Resort", "STIXNonUnicode", "STIXSize")


def families(text):
    """Return the font families for a text: those of matplotlib's settings, then installed ones.

    Matplotlib takes each character from the first family that has it. Installed families follow
    only if the settings' ones lack characters: those with most of these come first.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
    """
    import matplotlib

    chosen = matplotlib.rcParams["font.family"]
    return [*chosen, *_fallbacks(_lacking(text, tuple(chosen)))]


def warn_of_missing_glyphs(names):
    """Warn once about all names with characters that no installed font has."""
    boxes = [name for name in names if _lacking(name, tuple(families(name)))]
    if boxes:
        message = (
            f"No installed font has all characters of {listed(boxes)}, which are drawn as boxes"
        )
        warn(message, remedy="install a font for this script, such as one of the Noto family")


@contextlib.contextmanager
def silence():
    """Suppress matplotlib's warnings about each character drawn as a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        yield


def _lacking(text, chosen):
    """Return the characters of a text that are missing from all chosen families."""
    # Most names need no check of a font.
    signs = {sign for sign in text if not (sign.isascii() or sign.isspace()) and sign.isprintable()}
    return frozenset(sign for sign in signs if not _has(chosen, sign))


@lru_cache(maxsize=4096)
def _has(chosen, sign):
    from matplotlib.font_manager import FontProperties, findfont, get_font

    fonts = (get_font(findfont(FontProperties(family=[family]))) for family in chosen)
    return any(font.get_char_index(ord(sign)) for font in fonts)


@lru_cache(maxsize=256)
def _fallbacks(signs):
    """List the installed families with any of the characters, those with most of them first."""
    from matplotlib.font_manager import fontManager, get_font

    counts = Counter()
    for font in fontManager.ttflist if signs else ():
        if not font.name.startswith(_NO_TEXT):
            face = get_font(font.fname)
            n_found = sum(face.get_char_index(ord(sign)) > 0 for sign in signs)
            counts[font.name] = max(counts[font.name], n_found)
    names = (name for name, n_found in counts.items() if n_found)
    return sorted(names, key=lambda name: (-counts[name], name))


_SWEEPS = 24
_RANDOM_STARTS = 8
_NODE_GAP = 12.0  # between neighboring boxes of a layer
_BEND_GAP = 7.0  # between an arc that passes a layer and its neighbors there
_LAYER_GAP = (20.0, 64.0)  # between layers: least, most


def _layered(sizes, arcs):
    """Assign layers, order each layer, and set the coordinates."""
    layer_of = _split_wide_layers(_assign_layers(sizes, arcs), sizes, arcs)
    chains = {arc: _chain(arc, layer_of) for arc in arcs}
    layers = [[] for _ in range(max(layer_of.values()) + 1)]
    for node in sizes:
        layers[layer_of[node]].append(node)
    for chain in chains.values():
        for item in chain[1:-1]:
            layers[item[2]].append(item)
    links = [link for chain in chains.values() for link in pairwise(chain)]
    layers = _sweep(layers, links)
    x = _coordinates(layers, chains, arcs, sizes)
    return *_routes(layers, chains, x, sizes), _crossings(layers, links)


def _chain(arc, layer_of):
    """List the ends of an arc and, between them, a bend (upper, lower, layer) per layer passed."""
    upper, lower = arc
    return [upper, *((*arc, i) for i in range(layer_of[upper] + 1, layer_of[lower])), lower]


def _assign_layers(sizes, arcs):
    """Choose layers with minimal weighted arc length: a linear program with integer solutions.

    E. R. Gansner, E. Koutsofios, S. C. North, K.-P. Vo (1993), "A technique for drawing directed
    graphs", IEEE Transactions on Software Engineering 19(3), section 2.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    index = {node: i for i, node in enumerate(sizes)}
    rows = np.repeat(np.arange(len(arcs)), 2)
    columns = np.array([index[node] for arc in arcs for node in arc])
    spans = coo_array(
        (np.tile([1.0, -1.0], len(arcs)), (rows, columns)), shape=(len(arcs), len(index))
    ).tocsr()
    cost = -(spans.T @ np.array(list(arcs.values()), dtype=float))
    solution = linprog(cost, A_ub=spans, b_ub=-np.ones(len(arcs)), bounds=(0, len(index)))
    layers = np.rint(solution.x).astype(int)
    return dict(zip(sizes, (layers - layers.min()).tolist(), strict=True))


def _split_wide_layers(layer_of, sizes, arcs):
    """Split layers that would make the figure much wider than high.

    Nodes of one layer are not joined, so they may be placed below each other in any order; those
    with more parents than children go up, the others down.
    """
    area = sum(
        (width + _NODE_GAP) * (height + 2 * _LAYER_GAP[0]) for width, height in sizes.values()
    )
    limit = np.sqrt(3 * area)
    surplus = dict.fromkeys(sizes, 0)
    for (upper, lower), weight in arcs.items():
        surplus[upper] += weight
        surplus[lower] -= weight
    split, first = {}, 0
    for layer in range(max(layer_of.values()) + 1):
        nodes = sorted((node for node in sizes if layer_of[node] == layer), key=surplus.get)
        ends = np.cumsum([sizes[node][0] + _NODE_GAP for node in nodes])
        n_parts = int(np.ceil(ends[-1] / limit))
        for node, end in zip(nodes, ends, strict=True):
            split[node] = first + min(int(end / (ends[-1] / n_parts)), n_parts - 1)
        first += n_parts
    return split


def _sweep(layers, links):
    """Order every layer by barycenters and exchanges of neighbors to reduce crossings."""
    above = {item: [] for layer in layers for item in layer}
    below = {item: [] for layer in layers for item in layer}
    for upper, lower in links:
        below[upper].append(lower)
        above[lower].append(upper)
    best, fewest = None, np.inf
    for start in _starts(layers, above, below):
        current = [list(layer) for layer in start]
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            fixed = above if down else below
            indices = range(1, len(current)) if down else range(len(current) - 2, -1, -1)
            for i in indices:
                position = _positions(current[i - 1 if down else i + 1])
                current[i] = _by_barycenter(current[i], fixed, position)
            _exchange(current, above, below)
            crossings = _crossings(current, links)
            if crossings < fewest:
                best, fewest = [list(layer) for layer in current], crossings
            if fewest == 0:
                return best
    return best


def _starts(layers, above, below):
    """Yield start orders: as given, by depth-first search, and some at random."""
    yield layers
    found, stack = {}, [item for layer in reversed(layers) for item in reversed(layer)]
    while stack:
        item = stack.pop()
        if item not in found:
            found[item] = len(found)
            stack += [*above[item], *below[item]]
    yield [sorted(layer, key=found.get) for layer in layers]
    rng = np.random.default_rng(0)
    for _ in range(_RANDOM_STARTS):
        yield [[layer[i] for i in rng.permutation(len(layer))] for layer in layers]


def _positions(layer):
    return {item: i for i, item in enumerate(layer)}


def _by_barycenter(layer, neighbors, position):
    """Sort a layer by the mean neighbor of its items; items without neighbors do not move."""
    keys = {
        item: sum(position[other] for other in neighbors[item]) / len(neighbors[item])
        for item in layer
        if neighbors[item]
    }
    moving = iter(sorted(keys, key=keys.get))
    return [next(moving) if item in keys else item for item in layer]


def _exchange(layers, above, below):
    """Exchange neighbors within layers while this removes crossings."""
    improved = True
    while improved:
        improved = False
        for i, layer in enumerate(layers):
            sides = []
            if i > 0:
                sides.append((above, _positions(layers[i - 1])))
            if i + 1 < len(layers):
                sides.append((below, _positions(layers[i + 1])))
            for j in range(len(layer) - 1):
                left, right = layer[j], layer[j + 1]
                gain = sum(_exchange_gain(left, right, side, place) for side, place in sides)
                if gain > 0:
                    layer[j], layer[j + 1] = right, left
                    improved = True


def _exchange_gain(left, right, neighbors, position):
    """Number of crossings of the links of two neighbors, minus that after exchanging them."""
    gain = 0
    for a in neighbors[left]:
        place = position[a]
        for b in neighbors[right]:
            gain += (place > position[b]) - (place < position[b])
    return gain


def _crossings(layers, links):
    """Count the crossing pairs of links between the same two layers."""
    position = {item: (i, j) for i, layer in enumerate(layers) for j, item in enumerate(layer)}
    ends = np.array([(*position[upper], position[lower][1]) for upper, lower in links])
    total = 0
    for i in range(len(layers) - 1):
        _, upper, lower = ends[ends[:, 0] == i].T
        total += np.sum((upper[:, None] - upper) * (lower[:, None] - lower) < 0)
    return int(total) // 2


def _coordinates(layers, chains, arcs, sizes):
    """Find x coordinates that make arcs steep, by weighted least squares without overlaps.

    Each layer is solved exactly in turn, as an isotonic regression of the desired positions of its
    items. Inner segments of a long arc have larger weights than its ends, so that long arcs are
    straight.
    """
    from scipy.optimize import isotonic_regression

    pulls = {item: [] for layer in layers for item in layer}
    for arc, chain in chains.items():
        for upper, lower in pairwise(chain):
            bends = (upper not in sizes) + (lower not in sizes)
            weight = (1.0, 3.0, 8.0)[bends] * arcs[arc]
            pulls[upper].append((lower, weight))
            pulls[lower].append((upper, weight))
    x, offsets = {}, []
    for layer in layers:
        offset = np.cumsum([0.0, *(_gap(a, b, sizes) for a, b in pairwise(layer))])
        offsets.append(offset)
        x.update(zip(layer, offset - offset[-1] / 2, strict=True))
    order = [*range(len(layers)), *range(len(layers) - 2, 0, -1)]
    for _ in range(_SWEEPS * 2):
        for i in order:
            weights = np.array([sum(w for _, w in pulls[item]) for item in layers[i]])
            wishes = [sum(x[other] * w for other, w in pulls[item]) for item in layers[i]]
            fit = isotonic_regression(wishes / weights - offsets[i], weights=weights)
            x.update(zip(layers[i], fit.x + offsets[i], strict=True))
    return x


def _gap(left, right, sizes):
    """Return the minimum distance between the centers of two neighbors."""
    widths = [sizes[item][0] if item in sizes else 0.0 for item in (left, right)]
    both_boxes = left in sizes and right in sizes
    return sum(widths) / 2 + (_NODE_GAP if both_boxes else _BEND_GAP)


def _routes(layers, chains, x, sizes):
    """Set y, and join the items of every arc by curves that cross the layers vertically."""
    heights = [
        max([sizes[item][1] for item in layer if item in sizes], default=0.0) for layer in layers
    ]
    level = {item: i for i, layer in enumerate(layers) for item in layer}
    ports = _ports(chains, x, sizes)
    reach = np.zeros(len(layers))
    for arc, chain in chains.items():
        for upper, lower in pairwise(chain):
            run = abs(ports.get((arc, upper), x[upper]) - ports.get((arc, lower), x[lower]))
            reach[level[upper]] = max(reach[level[upper]], run)
    gaps = np.clip(0.22 * reach, *_LAYER_GAP)
    tops = np.concatenate([[0.0], np.cumsum(np.array(heights) + gaps)])[:-1]
    centers = {
        item: (x[item], tops[level[item]] + heights[level[item]] / 2)
        for item in level
        if item in sizes
    }
    bands = {item: (tops[i], heights[i]) for item, i in level.items()}
    routes = {
        arc: _route(chain, arc, bands, centers, ports, x, sizes) for arc, chain in chains.items()
    }
    return centers, routes


def _ports(chains, x, sizes):
    """Spread the arcs of a box over its upper and lower edge, ordered by their other ends."""
    edges = {}
    for arc, chain in chains.items():
        edges.setdefault((chain[0], "lower"), []).append((x[chain[1]], arc))
        edges.setdefault((chain[-1], "upper"), []).append((x[chain[-2]], arc))
    ports = {}
    for (node, _), ends in edges.items():
        width = min(0.7 * sizes[node][0], 9.0 * (len(ends) - 1))
        places = np.linspace(-width / 2, width / 2, len(ends)) if len(ends) > 1 else [0.0]
        for (_, arc), place in zip(sorted(ends), places, strict=True):
            ports[arc, node] = x[node] + place
    return ports


def _route(chain, arc, bands, centers, ports, x, sizes):
    """Route an arc through the gaps of the layers it passes; returns Bézier control points."""
    upper, *bends, lower = chain
    start = (ports[arc, upper], centers[upper][1] + sizes[upper][1] / 2)
    end = (ports[arc, lower], centers[lower][1] - sizes[lower][1] / 2)
    middles = [(x[item], bands[item][0] + bands[item][1] / 2) for item in bends]
    knots = np.array([start, *middles, end])
    secants = np.diff(knots[:, 0]) / np.diff(knots[:, 1])
    # Inside a layer an arc slants by less than the gap to its neighbors.
    slopes = np.clip(_bend_slopes(secants), -0.4, 0.4)
    ends = np.clip(secants[[0, -1]], -1.0, 1.0)
    stations = [(start, ends[0])]
    for item, middle, slope in zip(bends, middles, slopes, strict=True):
        half = bands[item][1] / 2 * np.array([slope, 1.0])
        stations += [(middle - half, slope), (middle + half, slope)]
    stations.append((end, ends[1]))
    points = [np.array(start)]
    for (here, leaving), (there, arriving) in pairwise(stations):
        drop = 0.4 * (there[1] - here[1])
        points += [
            here + drop * np.array([leaving, 1]),
            there - drop * np.array([arriving, 1]),
            there,
        ]
    return np.array(points)


def _bend_slopes(secants):
    """Return slopes at the bends without overshoot: the harmonic mean, or 0 at a turn.

    F. N. Fritsch, J. Butland (1984), "A method for constructing local monotone piecewise cubic
    interpolants", SIAM Journal on Scientific and Statistical Computing 5(2).
    """
    before, after = secants[:-1], secants[1:]
    same = before * after > 0
    total = np.where(same, before + after, 1.0)
    return np.where(same, 2 * before * after / total, 0.0)


def _graphviz(sizes, arcs):
    """Place nodes with the program `dot`, whose plain output is in inches with y upwards."""
    index = _positions(sizes)
    nodes = "".join(
        f"n{i} [width={sizes[node][0] / 72:.4f}, height={sizes[node][1] / 72:.4f}];"
        for node, i in index.items()
    )
    edges = "".join(f"n{index[a]} -> n{index[b]} [weight={n}];" for (a, b), n in arcs.items())
    source = (
        'digraph { ranksep=0.4; nodesep=0.16; node [shape=box, fixedsize=true, label=""];'
        f"edge [dir=none]; {nodes} {edges} }}"
    )
    plain = subprocess.run(
        ["dot", "-Tplain"], input=source, capture_output=True, text=True, check=True
    ).stdout
    names = list(sizes)
    centers, routes = {}, {}
    for line in plain.splitlines():
        kind, *fields = line.split()
        if kind == "node":
            centers[names[int(fields[0][1:])]] = (72 * float(fields[1]), -72 * float(fields[2]))
        elif kind == "edge":
            arc = (names[int(fields[0][1:])], names[int(fields[1][1:])])
            points = np.array(fields[3 : 3 + 2 * int(fields[2])], dtype=float).reshape(-1, 2)
            routes[arc] = 72 * points * [1, -1]
    return centers, routes, None


_ENGINES = {"graphviz": _graphviz, "layered": _layered}


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
    check_choice("layout", engine, ("auto", *_ENGINES))
    engine = "layered" if engine == "auto" else engine
    if engine == "graphviz" and shutil.which("dot") is None:
        message = "must name an installed engine; 'graphviz' is not installed"
        raise MissingExtra(
            message,
            argument="layout",
            remedy="install Graphviz so that its program `dot` is found, or use `layout='layered'`",
        )
    variables = sorted({node for graph in configuration.values() for node in graph})
    labels = _labels(variables)
    sizes = {variable: _box_size(labels[variable], font_size) for variable in variables}
    arcs = majority_arcs(configuration)
    pieces, crossings = _place_components(_ENGINES[engine], sizes, arcs)
    boxes, routes, width, height = _pack(pieces, sizes)
    return Layout(engine, boxes, labels, routes, font_size, width, height, crossings)


def laid_out(configuration, layout, font_size, variables, arcs):
    """Return the layout of a configuration by an engine, or a given layout if it covers all."""
    if not isinstance(layout, Layout):
        return arrange(configuration, layout, font_size)
    lacking = sorted(set(variables) - set(layout.boxes))
    if lacking:
        message = f"must hold every variable; {lacking[0]!r} has no place"
        raise InputError(message, argument="layout", remedy=_REMEDY)
    lacking = sorted((a, b) for a, b in arcs if not {(a, b), (b, a)} & set(layout.routes))
    if lacking:
        (a, b) = lacking[0]
        raise InputError(
            f"must hold every arc; {a!r} -> {b!r} has none", argument="layout", remedy=_REMEDY
        )
    return layout


def check_configuration(configuration, argument="configuration"):
    """Return the graphs as a dict, or raise unless they are DAGs, at least one with a variable."""
    if not hasattr(configuration, "items") and hasattr(configuration, "graph"):
        configuration = {"": configuration}
    if not hasattr(configuration, "items"):
        message = (
            "must map task names to networkx.DiGraph or BayesNet, or be one of them, got "
            f"{type_of(configuration)}"
        )
        raise InputTypeError(message, argument=argument)
    graphs = {
        task: given if isinstance(given, nx.Graph) else getattr(given, "graph", given)
        for task, given in configuration.items()
    }
    for task, graph in graphs.items():
        check_dag(graph, f"{argument}[{task!r}]" if task else argument)
    if not any(len(graph) for graph in graphs.values()):
        raise InputError("must hold a graph with at least one variable", argument=argument)
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
        message = f"must map tasks to labels of their groups, got {type_of(task_groups)}"
        raise InputTypeError(message, argument="task_groups")
    labels = {str(task): label for task, label in task_groups.items()}
    lacking = [task for task in configuration if str(task) not in labels]
    if lacking:
        message = f"must name the group of every task; `{lacking[0]}` has none"
        raise InputError(message, argument="task_groups")
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
            lines = [*_wrap(variable)[:-1], f"…{printable(variable)[-_WRAP:]}"]
            if "\n".join(lines) in taken:
                lines = [*lines[:-1], f"… ({number})"]
        taken.add(label)
        labels[variable] = label
    return labels


def _wrap(name):
    """Split a name at spaces, punctuation and inner capitals into at most three short lines."""
    text = printable(" ".join(str(name).split())) or "(blank)"
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

    line = printable(line)
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
