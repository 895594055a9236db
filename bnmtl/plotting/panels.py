"""Panels of graphs, one per task, with titles and a common legend."""

import numpy as np

from bnmtl.graphs import takes_part
from bnmtl.plotting.drawing import (
    LEGEND_ROW,
    PAD,
    SAMPLE,
    draw_box,
    draw_legend,
    draw_text,
    entry_width,
    flow,
    new_figure,
    panel_axes,
)
from bnmtl.plotting.layout import text_width

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
    width = max(layout.width, *(_width_of_titles(*pair) for pair in titles.values()))
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


def _width_of_titles(title, subtitle):
    # Measured in the regular font; the bold one is wider by less than a fifth.
    return max(1.2 * text_width(title, 10), text_width(subtitle, 8))


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
