"""Arc crossings in layered drawings of networks by bnmtl, igraph and Graphviz.

Run `python -m benchmarks.speed.layouts` (two minutes). Crossings are counted geometrically in the
drawing, in the same way for all engines. Graphviz is measured if its program `dot` is installed;
the layered layout, like igraph's with ten orders, draws the best of ten attempts.
"""

import shutil

import networkx as nx
import numpy as np

from benchmarks import study
from benchmarks.summary import markdown, parts
from benchmarks.timing import rounded, timed
from bnmtl import plotting, problems, structures
from bnmtl.plotting.graphs import points_along
from bnmtl.plotting.layout import majority_arcs

NAME = "layouts"
SETTINGS = ("network", "engine")
JOBS = 1
NETWORKS = (
    *("asia", "sachs", "child", "insurance", "alarm", "hailfinder", "hepar2", "win95pts"),
    *("pigs", "andes"),
)
# Several tasks, drawn as the union of their arcs.
TASKS = {
    "asia, 5 tasks": lambda: problems.perturb("asia", 5, 4, random_state=0),
    "sachs, 5 tasks": lambda: problems.perturb("sachs", 5, 6, random_state=0),
    "insurance, 5 tasks": lambda: problems.perturb("insurance", 5, 10, random_state=0),
    "alarm, 5 tasks": lambda: problems.perturb("alarm", 5, 10, random_state=0),
    "asia, 5 unrelated tasks": lambda: problems.unrelated("asia", 5, random_state=0),
}
# Iterations of igraph; its default is 100.
ITERATIONS = 500
# Number of chords that approximate a Bézier curve.
CHORDS = 16


def crossings(lines):
    """Count the crossings of polylines; those with a common end do not cross there.

    Parameters
    ----------
    lines : list of float array of shape (n_points, 2)
    """
    starts = np.vstack([line[:-1] for line in lines])
    ends = np.vstack([line[1:] for line in lines])
    owner = np.repeat(np.arange(len(lines)), [len(line) - 1 for line in lines])
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    total = 0
    for i in range(len(starts)):
        later = slice(np.searchsorted(owner, owner[i], side="right"), None)
        near = ((low[later] <= high[i]) & (high[later] >= low[i])).all(axis=1)
        a, b = starts[later][near], ends[later][near]
        crosses = _is_left(starts[i], ends[i], a) != _is_left(starts[i], ends[i], b)
        crosses &= _is_left(a, b, starts[i]) != _is_left(a, b, ends[i])
        for tip in lines[owner[i]][[0, -1]]:
            if (tip == starts[i]).all() or (tip == ends[i]).all():
                crosses &= (a != tip).any(axis=1) & (b != tip).any(axis=1)
        total += np.sum(crosses)
    return int(total)


def _is_left(start, end, point):
    """Whether points are to the left of directed lines, or on them.

    Including the line ensures that a crossing at a bend is counted for only one of its two pieces.
    """
    (x, y), (to_x, to_y), (at_x, at_y) = start.T, end.T, point.T
    return (to_x - x) * (at_y - y) >= (to_y - y) * (at_x - x)


def by_bnmtl(engine):
    """Count the arc crossings in drawings of `bnmtl.plotting`."""

    def count(configuration):
        layout = plotting.arrange(configuration, engine)
        return crossings([points_along(route, CHORDS) for route in layout.routes.values()])

    return count


def by_igraph(n_orders, in_our_layers=False):
    """Count the arc crossings in igraph's Sugiyama layout.

    The layout depends on the order of the variables: for each connected component, the random order
    with the fewest crossings counts.
    """

    def count(configuration):
        arcs = list(majority_arcs(configuration))
        total = 0
        for part in nx.weakly_connected_components(nx.DiGraph(arcs)):
            arcs_of_part = [arc for arc in arcs if arc[0] in part]
            layers = layers_of(arcs_of_part) if in_our_layers else None
            total += min(
                crossings(igraph_lines(arcs_of_part, layers, seed)) for seed in range(n_orders)
            )
        return total

    return count


def layers_of(arcs):
    """The layers of a connected graph's variables in the layered layout."""
    boxes = plotting.arrange(nx.DiGraph(arcs), "layered").boxes
    heights = sorted({round(y, 6) for _, y, *_ in boxes.values()})
    return {variable: heights.index(round(y, 6)) for variable, (_, y, *_) in boxes.items()}


def igraph_lines(arcs, layers, seed):
    """Lines of the arcs by igraph from a random order, in given layers or those of igraph."""
    import igraph

    variables = np.random.default_rng(seed).permutation(sorted({v for arc in arcs for v in arc}))
    index = {variable: i for i, variable in enumerate(variables.tolist())}
    edges = [(index[a], index[b]) for a, b in arcs]
    graph = igraph.Graph(n=len(index), edges=edges, directed=True)
    layers = layers and [layers[variable] for variable in index]
    layout = graph.layout_sugiyama(layers=layers, maxiter=ITERATIONS)
    places = np.array(layout.coords)
    return [
        np.vstack([places[a], *bends, places[b]])
        for (a, b), bends in zip(edges, layout.edge_routing, strict=True)
    ]


ENGINES = {
    "layered": by_bnmtl("layered"),
    "igraph": by_igraph(1),
    "igraph, 10 orders": by_igraph(10),
    "igraph, 10 orders, our layers": by_igraph(10, in_our_layers=True),
    "graphviz": by_bnmtl("graphviz"),
}


def configuration_of(network):
    """The graphs to draw, by task; a network of the catalogue is a single task."""
    found = TASKS[network]() if network in TASKS else {network: structures.load(network)}
    return {task: one.graph for task, one in found.items()}


def plan(quick):
    """Cases: every network, with every installed engine."""
    engines = [one for one in ENGINES if one != "graphviz" or shutil.which("dot")]
    networks = ("asia", "asia, 5 tasks") if quick else (*NETWORKS, *TASKS)
    return [{"network": network, "wanted": engines} for network in networks]


def measure(wanted, network):
    """One line per engine: crossings, and seconds for all of its drawings."""
    configuration = configuration_of(network)
    size = {
        "variables": len(set().union(*configuration.values())),
        "arcs": len(majority_arcs(configuration)),
    }
    lines = {}
    for engine in wanted:
        ENGINES[engine]({"": nx.DiGraph([("a", "b")])})  # imports at first use
        found, seconds = timed(ENGINES[engine], configuration)
        lines[engine] = {**size, "crossings": found, "seconds": rounded(seconds, 3)}
    return lines


def tables(lines):
    """Crossings and seconds by network and engine."""
    return {NAME: markdown(_counted(lines))}


def _counted(lines):
    for case, group in parts(lines, network=(*NETWORKS, *TASKS)):
        found = {engine: line.iloc[0] for (engine,), line in group.groupby(["engine"])}
        known = {engine: found[engine] for engine in ENGINES if engine in found}
        row = {**case, **group.iloc[0][["variables", "arcs"]]}
        row |= {engine: line["crossings"] for engine, line in known.items()}
        yield row | {f"{engine} (s)": f"{line['seconds']:.2f}" for engine, line in known.items()}


if __name__ == "__main__":
    study.main(__spec__.name)
