"""The elements of all plots: axes in points, charts, text, arcs and their widths, legends, files.

Axes have one unit per point (1/72 inch) and y downwards, so that a mark looks the same in a panel
and in a legend.
"""

import functools
import io
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from bnmtl.errors import InputError, InputTypeError, Mistake, warn
from bnmtl.plotting.layout import families, silence, text_width
from bnmtl.wording import listed, printable, type_of

_DPI = 150
_MOST_PIXELS = 12_000  # along either side of a PNG


def svg(figure):
    """Return a figure as SVG text; letters are outlines, so no font is needed.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    str

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import plotting
    >>> plotting.svg(plotting.dags(nx.DiGraph([("rain", "wet")]))).startswith("<?xml")
    True
    """
    import matplotlib

    buffer = io.StringIO()
    # Otherwise matplotlib uses random names for shapes and writes the time.
    settings = {"svg.hashsalt": "bnmtl", "svg.fonttype": "path"}
    _escape_texts(figure)
    with matplotlib.rc_context(settings), silence():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    # Matplotlib repeats each text in a comment.
    return printable(buffer.getvalue())


def png(figure, dpi=None):
    """Return a figure as the bytes of a PNG file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    dpi : float, optional
        Pixels per inch. Default: 150, and less for very large figures.

    Returns
    -------
    bytes

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import plotting
    >>> plotting.png(plotting.dags(nx.DiGraph([("rain", "wet")])))[1:4]
    b'PNG'
    """
    if dpi is None:
        dpi = min(_DPI, _MOST_PIXELS / max(figure.get_size_inches()))
    buffer = io.BytesIO()
    _escape_texts(figure)
    with silence():
        figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def _escape_texts(figure):
    """Let the texts of a figure show control characters escaped: XML cannot have them."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if (shown := printable(text.get_text())) != text.get_text():
            text.set_text(shown)


def warn_of_failure(names, error):
    """Warn that pictures are left out because of an error.

    Parameters
    ----------
    names : collection of str
    error : Exception
    """
    reason = str(error).rstrip(".")
    if not isinstance(error, Mistake):
        reason = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
    if len(names) > 1:
        warn(f"The pictures {listed(names)} could not be drawn and are left out ({reason})")
    else:
        warn(f"The picture {listed(names)} could not be drawn and is left out ({reason})")


_STRENGTHS = (0.6, 4.0)  # of the weakest and the strongest arc
_CONFIDENCES = (0.8, 2.6)  # of arcs in half of the replicates and in all of them
_LEAST = 0.5  # confidence below which arcs are dotted
_SAMPLES = {
    1.0: "line width: joined in all replicates",
    0.75: "in three of four",
    0.5: "in half of them",
    0.0: "dotted: in fewer than half",
}


class Line(NamedTuple):
    """The line of an arc: its width in points, and whether it is dotted."""

    width: float
    dotted: bool = False


EQUAL = Line(1.4)


def lines_of(configuration, strength, confidence):
    """Return the lines of arcs for two arguments of `dags`; raise for both or for invalid tables.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph
    strength, confidence : pandas.DataFrame or None

    Returns
    -------
    lines : dict of (task, parent, child) to Line
    samples : list of (Line, text)
        For the legend.
    """
    if strength is not None and confidence is not None:
        message = "must not be given together with `confidence`, as either sets the widths of arcs"
        raise InputError(
            message, argument="strength", options=("confidence",), remedy="leave one of them out"
        )
    if confidence is not None:
        return _by_confidence(_read_confidence(confidence, configuration))
    if strength is not None:
        return _by_strength(strength, configuration)
    return defaultdict(lambda: EQUAL), []


def _by_strength(table, configuration):
    """By the square root of the strengths of arcs; samples use a round number near the largest."""
    known = read_table("strength", table, ("task", "from", "to", "strength"))
    strengths = _of_arcs("strength", known, configuration)
    strengths = {arc: max(strength, 0.0) for arc, strength in strengths.items()}
    strongest = max(strengths.values(), default=0.0)
    thin, thick = _STRENGTHS

    def scaled(strength):
        return Line(thin + (thick - thin) * np.sqrt(strength / (strongest or 1.0)))

    samples = []
    if strongest:
        unit = 10.0 ** np.floor(np.log10(strongest))
        top = unit * np.floor(strongest / unit)
        samples = [(scaled(nats), f"strength {nats:.3g} nats") for nats in (top, top / 4, top / 20)]
    return {arc: scaled(strength) for arc, strength in strengths.items()}, samples


def _by_confidence(confidences):
    """By the share of replicates that join the two variables in either direction."""
    samples = [(_of_confidence(share), text) for share, text in _SAMPLES.items()]
    if all(share >= _LEAST for share in confidences.values()):
        samples.pop()
    return {arc: _of_confidence(share) for arc, share in confidences.items()}, samples


def _of_confidence(confidence):
    thin, thick = _CONFIDENCES
    if confidence < _LEAST:
        return Line(thin, dotted=True)
    return Line(thin + (thick - thin) * (confidence - _LEAST) / (1 - _LEAST))


def _read_confidence(table, configuration):
    columns = ("task", "parent", "child", "edge")
    source = "the table of `bnmtl.confidence.arc_confidence`"
    known = read_table("confidence", table, columns, source)
    found = _of_arcs("confidence", known, configuration)
    wrong = [share for share in found.values() if not 0 <= share <= 1]
    if wrong:
        raise InputError(
            f"must hold shares from 0 to 1, got {wrong[0]!r}", argument="confidence", column="edge"
        )
    return found


def check_has(argument, table, columns, source):
    """Raise unless it is a table with these columns, as from the given source."""
    lacking = [column for column in columns if column not in getattr(table, "columns", ())]
    if lacking:
        message = (
            f"must be a DataFrame with {listed(columns, 'column')}, such as {source}; "
            f"{lacking[0]!r} is missing"
        )
        raise InputError(message, argument=argument)


def read_table(argument, table, columns, source="a learner's `arcs_`"):
    """Return the last of some columns of a table by the others: (task, parent, child)."""
    check_has(argument, table, columns, source)
    values = zip(*(table[column] for column in columns), strict=True)
    return {(str(task), str(a), str(b)): float(value) for task, a, b, value in values}


def _of_arcs(argument, known, configuration):
    """Return the known values of the arcs of some graphs, by (task, parent, child)."""
    found = {}
    for task, graph in configuration.items():
        for a, b in graph.edges:
            key = str(task), str(a), str(b)
            if key not in known:
                message = f"must have a row for every arc; {a} -> {b} has none"
                raise InputError(
                    message,
                    argument=argument,
                    task=None if task == "" else task,
                    remedy="give the graphs that it belongs to, as {task: graph}",
                )
            found[key] = known[key]
    return found


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


def chart_axes(width, height, label):
    """Return the axes of a new figure with one chart, with sizes in points."""
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained")
    return figure.add_subplot(label=label)


def label_chart(axes, title="", xlabel="", ylabel=""):
    """Write the title and the labels, and omit the frame and the offsets of numbers."""
    axes.set_title(title, fontsize=9, color=INK, **as_it_is(title))
    axes.set_xlabel(xlabel, fontsize=8, color=INK, **as_it_is(xlabel))
    axes.set_ylabel(ylabel, fontsize=8, color=INK, **as_it_is(ylabel))
    axes.tick_params(labelsize=8)
    axes.ticklabel_format(useOffset=False)
    axes.spines[["top", "right"]].set_visible(False)


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


def axes_at(figure, corner, size, label):
    """Add axes of `size` points at `corner`, in points from the upper left."""
    width, height = figure.get_size_inches() * 72
    bottom = height - corner[1] - size[1]
    box = (corner[0] / width, bottom / height, size[0] / width, size[1] / height)
    return figure.add_axes(box, label=label)


def panel_axes(figure, corner, size, label):
    """Add frameless axes as `axes_at`, with one unit per point."""
    axes = axes_at(figure, corner, size, label)
    axes.set_xlim(0, size[0])
    axes.set_ylim(size[1], 0)
    axes.set_axis_off()
    return axes


def draw_text(axes, x, y, text, **style):
    """Draw a line of text with literal `$`; `y` is the middle of capital letters.

    Names have a common baseline; for vertical text, upwards from `y`, the middle of capital letters
    is at `x`.
    """
    style = {"fontsize": 8, "color": INK, "va": "baseline", **as_it_is(text), **style}
    shift = _BASELINE * style["fontsize"]
    x, y = (x + shift, y) if "rotation" in style else (x, y + shift)
    return axes.text(x, y, text, rotation_mode="anchor", **style)


def as_it_is(text):
    """Style of a text with literal `$`."""
    return {"fontfamily": families(text), "parse_math": False}


def shorten(name, limit=32):
    """A name in one line of at most `limit` characters, without its middle if it is longer."""
    text = printable(" ".join(str(name).split()))
    return text if len(text) <= limit else f"{text[: limit - 9]}…{text[-8:]}"


def check_label(argument, label):
    """Raise unless it is a valid axis label."""
    if not isinstance(label, str):
        message = (
            f"must be a text that describes the numbers, such as 'edits', got {type_of(label)}"
        )
        raise InputTypeError(message, argument=argument)


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
