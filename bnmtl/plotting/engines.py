"""Layered layout of a connected graph, built in or by Graphviz.

An engine takes `sizes`, a dict node -> (width, height), and `arcs`, an acyclic dict (upper, lower)
-> weight, both in a fixed order. It returns the centers of the nodes, the Bézier control points of
the arcs (see `bnmtl.plotting.layout.Layout`) and the number of crossings (None: unknown).
"""

import shutil
import subprocess
from itertools import pairwise

import numpy as np

from bnmtl.errors import MissingExtra, check_choice

_SWEEPS = 24
_RANDOM_STARTS = 8
_NODE_GAP = 12.0  # between neighboring boxes of a layer
_BEND_GAP = 7.0  # between an arc that passes a layer and its neighbors there
_LAYER_GAP = (20.0, 64.0)  # between layers: least, most


def find(engine):
    """Return the name and the placing function of an engine.

    Parameters
    ----------
    engine : {"auto", "graphviz", "layered"}

    Raises
    ------
    InputError
        If the engine is unknown.
    MissingExtra
        If it is not installed.
    """
    check_choice("layout", engine, ("auto", *_ENGINES))
    name = "layered" if engine == "auto" else engine
    if name == "graphviz" and shutil.which("dot") is None:
        rule, found = "must name an installed engine", "'graphviz' is not installed"
        remedy = "install Graphviz so that its program `dot` is found"
        raise MissingExtra("layout", rule, found=found, remedies=(remedy, "use {layout=layered}"))
    return name, _ENGINES[name]


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
    above, below = _neighbors(layers, links)
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


def _neighbors(layers, links):
    above = {item: [] for layer in layers for item in layer}
    below = {item: [] for layer in layers for item in layer}
    for upper, lower in links:
        below[upper].append(lower)
        above[lower].append(upper)
    return above, below


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
