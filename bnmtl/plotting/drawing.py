"""The elements of all plots of graphs: axes in points, text, arcs, boxes, legends.

Axes have one unit per point (1/72 inch) and y downwards, so that a mark looks the same in a panel
and in a legend.
"""

import functools

import numpy as np

from bnmtl.plotting.files import png
from bnmtl.plotting.fonts import families
from bnmtl.plotting.layout import text_width

# Okabe and Ito's blue and orange, and a dark red-purple: they differ in hue, in lightness, and for
# all common forms of color blindness. Arcs that cannot be shared have no color.
COLORS = {"all": "#0072B2", "some": "#E69F00", "one": "#882255", "sole": "#4A4A4A"}
ABSENT = "#9A9A9A"
INK = "#222222"
_DASHES, _DOTS = (4.5, 2.5), (0.9, 1.4)  # lengths of marks and gaps, in points
# Colors of boxes: inside, edge and name.
_BOXES = {
    "variable": ("white", "#777777", INK),
    "constant": ("#EDEDED", "#B0B0B0", "#7A7A7A"),
    "ghost": ("none", "#B0B0B0", "#B0B0B0"),
}

PAD = 12.0  # around a picture or a panel, in points
LEGEND_ROW = 15.0  # height of a line of the legend
SAMPLE = 30.0  # width of a mark in the legend
_ENTRY_GAP = 18.0
_BASELINE = 0.365  # below the middle of capitals, in font sizes
_SCREEN = 100  # pixels per inch in a notebook
_LINE = 1.15  # between the lines of a name, in font sizes


def new_figure(width, height):
    """Return an empty figure, with sizes in points, that is not registered in pyplot."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 72, height / 72), facecolor="white")
    # Used by notebooks if the inline backend is not loaded.
    figure._repr_png_ = functools.partial(png, figure, dpi=_SCREEN)
    return figure


def framed_axes(width, height, label, entries):
    """Return axes with sizes in points in a figure with a margin, and a legend below if needed.

    The margin belongs to the axes, so that marks at their edges are not cut off; the point (0, 0)
    is at its inner corner.
    """
    width = max([width, *(entry_width(*entry) for entry in entries)])
    rows = flow(entries, width) if entries else []
    legend_height = len(rows) * LEGEND_ROW + PAD
    figure = new_figure(width + 2 * PAD, PAD + height + legend_height)
    axes = panel_axes(figure, (0, 0), (width + 2 * PAD, PAD + height), label)
    axes.set_xlim(-PAD, width + PAD)
    axes.set_ylim(height, -PAD)
    if rows:
        draw_legend(figure, rows, (PAD, PAD + height), (width, legend_height))
    return axes


def panel_axes(figure, corner, size, label):
    """Add frameless axes of `size` points at `corner`, in points from the upper left."""
    width, height = figure.get_size_inches() * 72
    bottom = height - corner[1] - size[1]
    box = (corner[0] / width, bottom / height, size[0] / width, size[1] / height)
    axes = figure.add_axes(box, label=label)
    axes.set_xlim(0, size[0])
    axes.set_ylim(size[1], 0)
    axes.set_axis_off()
    return axes


def draw_text(axes, x, y, text, **style):
    """Draw a line of text with literal `$`; `y` is the middle of capital letters.

    Names have a common baseline; for vertical text, upwards from `y`, the middle of capital letters
    is at `x`.
    """
    style = {"fontsize": 8, "color": INK, "fontfamily": families(text), **style}
    shift = _BASELINE * style["fontsize"]
    x, y = (x + shift, y) if "rotation" in style else (x, y + shift)
    return axes.text(x, y, text, va="baseline", rotation_mode="anchor", parse_math=False, **style)


def ink_on(color):
    """Return a text color that is readable on a background color."""
    return "white" if np.dot(color[:3], (0.3, 0.59, 0.11)) < 0.55 else INK


def draw_arc(axes, points, kind, compelled, width, dotted=False):
    """Draw an arc along Bézier control points with its head at the last one.

    A reversible (not compelled) arc is dashed, unless it is dotted, and has an open head.
    """
    from matplotlib.patches import Polygon

    color = COLORS[kind]
    length, half = 4.2 + 1.6 * width, 1.7 + 0.75 * width
    tip = points[-1]
    direction = tip - points[-2]
    direction = direction / (np.hypot(*direction) or 1.0)
    base = tip - length * direction
    shaft = points.copy()
    shaft[-2:] -= length * direction
    # In points, independent of the width: otherwise dashes of wide lines would be too long.
    pattern = _DOTS if dotted else _DASHES
    broken = 0, tuple(length / width for length in pattern)
    dashes = broken if dotted or not compelled else "solid"
    zorder = {"one": 2.2, "some": 2.1, "all": 2.0, "sole": 2.0}[kind]
    _draw_curve(axes, shaft, edgecolor=color, linewidth=width, linestyle=dashes, zorder=zorder)
    side = half * np.array([-direction[1], direction[0]])
    style = {"edgecolor": color, "linewidth": 0.9, "joinstyle": "miter", "zorder": 2.5}
    face = color if compelled else "white"
    axes.add_patch(Polygon([tip, base + side, base - side], facecolor=face, **style))


def draw_absent(axes, points):
    """Draw the faint trace of an arc that is possible in this task and present in others."""
    _draw_curve(axes, points, edgecolor=ABSENT, linewidth=0.8, linestyle=(0, (1, 1.8)), zorder=1)


def _draw_curve(axes, points, **style):
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]
    axes.add_patch(PathPatch(Path(points, codes), fill=False, capstyle="butt", **style))


def draw_box(axes, box, label, font_size, kind="variable"):
    """Draw the box of a variable; a "ghost" is missing from the task, a "constant" is gray."""
    from matplotlib.patches import FancyBboxPatch

    x, y, width, height = box
    face, edge, ink = _BOXES[kind]
    style = {"boxstyle": "round,pad=0,rounding_size=3", "clip_on": False, "zorder": 3}
    style |= {"facecolor": face, "edgecolor": edge, "linewidth": 0.8}
    style["linestyle"] = (0, (2, 2)) if kind == "ghost" else "solid"
    corner = (x - width / 2, y - height / 2)
    axes.add_patch(FancyBboxPatch(corner, width, height, **style))
    lines = label.split("\n")
    top = y - (len(lines) - 1) / 2 * _LINE * font_size
    for i, line in enumerate(lines):
        style = {"fontsize": font_size, "color": ink, "ha": "center", "zorder": 4}
        draw_text(axes, x, top + i * _LINE * font_size, line, **style)


# Marks a legend entry as a note, in place of a function that draws its mark.
NOTE = "note"


def note_entries(note):
    """The legend entries of a note; None means no note."""
    return [] if note is None else [(NOTE, str(note))]


def entry_width(draw, text):
    """The width of a legend entry."""
    if draw == NOTE:
        return 1.2 * text_width(text, 8)
    return (SAMPLE + 5 if draw else 0.0) + text_width(text, 8)


def flow(entries, width):
    """Break legend entries, pairs (draw(axes, x, y), NOTE or None, text), into rows.

    Returns rows of (x, draw, text) of at most `width`; a wider entry has a separate row.
    """
    rows, x = [[]], 0.0
    for draw, text in entries:
        length = entry_width(draw, text)
        if rows[-1] and x + length > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, draw, text))
        x += length + _ENTRY_GAP
    return rows


def draw_legend(figure, rows, corner, size):
    """Draw the rows of `flow` from the upper left corner; a note is emphasized."""
    axes = panel_axes(figure, corner, size, "legend")
    for i, row in enumerate(rows):
        y = (i + 0.5) * LEGEND_ROW
        for x, draw, text in row:
            if draw == NOTE:
                draw_text(axes, x, y, text, fontweight="bold")
            elif draw:
                draw(axes, x, y)
                draw_text(axes, x + SAMPLE + 5, y, text)
            else:
                draw_text(axes, x, y, text, color="#666666", style="italic")
