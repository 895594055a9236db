"""What is read from pictures: texts, where they stand, whether they can be read."""

import itertools

import networkx as nx
from matplotlib.backends.backend_agg import FigureCanvasAgg


def graph(*arcs, nodes=""):
    """A DiGraph from words such as "ab" for a -> b."""
    result = nx.DiGraph()
    result.add_nodes_from(nodes)
    result.add_edges_from(tuple(arc) for arc in arcs)
    return result


def one_axes(figure):
    return next(axes for axes in figure.axes if axes.get_label() != "legend")


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def assert_readable(figure):
    """No text is cut off at the figure's border, none overlaps another."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    extents = [
        (text.get_text(), text.get_window_extent(renderer))
        for axes in figure.axes
        for text in axes.texts
        if text.get_text().strip()
    ]
    width, height = figure.get_size_inches() * figure.dpi
    for text, box in extents:
        inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
        assert inside, f"{text!r} is cut"
    for (one, a), (two, b) in itertools.combinations(extents, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        along = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Lines of text overlap by the room for accents and descenders.
        assert min(across, along) < 1.5, f"{one!r} overlaps {two!r}"
