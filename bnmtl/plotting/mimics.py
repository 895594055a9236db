"""A plot of how close a mimic comes to its teacher with more pseudo-cases."""

from collections.abc import Mapping
from numbers import Real

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from bnmtl.errors import InputError, InputTypeError, check_number
from bnmtl.plotting.dissimilarities import check_label
from bnmtl.plotting.drawing import (
    COLORS,
    INK,
    LEGEND_ROW,
    PAD,
    SAMPLE,
    draw_legend,
    entry_width,
    flow,
    new_figure,
)
from bnmtl.plotting.fonts import families, warn_of_boxes
from bnmtl.plotting.table import shorten
from bnmtl.plotting.widths import check_has
from bnmtl.wording import Bare, type_of

_SOURCE = "the `learning_curve_` of a Mimic"
_FIDELITY = "squared difference from the teacher"
_CURVE_COLORS = (*list(COLORS.values())[:3], "#009E73", "#56B4E9", INK)
_MARKERS = "os^DvPX"
_DASHES = ("--", ":", "-.", (0, (6, 1.5)), (0, (1, 3)))
_LINE_COLOR = COLORS["sole"]
_RING = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": INK}
_WIDTH, _HEIGHT = 330.0, 220.0  # of the diagram, in points
_NUMBER = 30.0  # width of a size on the axis


def mimic_curve(curves, value="fidelity", lines=None, ylabel=None):
    """Plot a score of mimics by the number of pseudo-cases.

    Each point is the mean of all rows of its size, such as trials; bars are one standard error of
    the mean. A ring is around the size that a mimic has chosen; in tables, around that with the
    best mean fidelity. Sizes are on a logarithmic axis.

    Parameters
    ----------
    curves : Mimic, pandas.DataFrame, or mapping of str to such
        A fitted mimic, its ``learning_curve_``, or any table with the columns size and `value`. A
        mapping gives each of several curves a name, such as that of the sampler.
    value : str, default="fidelity"
        The column to plot. By default the squared difference of the probabilities of teacher and
        student on held-out cases: smaller is better.
    lines : mapping of str to float, optional
        Values that do not depend on the size, drawn as horizontal lines, such as the errors of the
        teacher and of a net trained on the real cases: {"ensemble": 0.09, "net": 0.12}.
    ylabel : str, optional
        Label of the values; None names the column.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, a mimic that is not fitted, tables without rows or with missing numbers,
        and lines that are not finite numbers.

    Examples
    --------
    >>> table = pd.DataFrame({"size": [4000, 40000], "error": [0.12, 0.1]})
    >>> axes, legend = mimic_curve(table, "error", {"teacher": 0.095}).axes
    >>> [line.get_label() for line in axes.lines]
    ['mimic', 'teacher']
    """
    check_label("value", value)
    named = _named(curves)
    tables = {name: _table(name, one, value) for name, one in named.items()}
    lines = _checked_lines(lines)
    if ylabel is None:
        ylabel = _FIDELITY if value == "fidelity" else value
    check_label("ylabel", ylabel)
    warn_of_boxes([*map(str, [*tables, *lines]), ylabel])
    styles = {name: _curve_style(at) for at, name in enumerate(tables)}
    dashes = {name: _line_style(at) for at, name in enumerate(lines)}
    entries = [(_sample(**styles[name]), shorten(str(name))) for name in tables]
    entries += [(_sample(**dashes[name]), shorten(str(name))) for name in lines]
    chosen = {name: _chosen(named[name], table, value) for name, table in tables.items()}
    if any(size is not None for size in chosen.values()):
        entries.append((_ring, "chosen size"))
    figure, axes = _figure_with_legend(entries)
    for name, table in tables.items():
        points = table.groupby("size")[value].agg(["mean", "sem"])
        axes.plot(points.index, points["mean"], label=str(name), **styles[name])
        if chosen[name] is not None:
            axes.plot(chosen[name], points["mean"][chosen[name]], "o", label="_chosen", **_RING)
        # A single row has no standard error.
        bars = {"fmt": "none", "ecolor": styles[name]["color"], "elinewidth": 1}
        axes.errorbar(points.index, points["mean"], yerr=points["sem"].fillna(0), **bars)
    for name, height in lines.items():
        axes.axhline(height, label=str(name), **dashes[name])
    _set_sizes(axes, sorted(set().union(*(table["size"] for table in tables.values()))))
    axes.set_xlabel("pseudo-cases", fontsize=8, color=INK)
    style = {"fontfamily": families(ylabel), "parse_math": False}
    axes.set_ylabel(ylabel, fontsize=8, color=INK, **style)
    return figure


def _named(curves):
    """Curves by name."""
    if not isinstance(curves, Mapping):
        return {"mimic": curves}
    if not curves:
        raise InputError("curves", "must hold a curve", found="it is empty")
    return dict(curves)


def _table(name, curve, value):
    """The checked table of a curve."""
    table = getattr(curve, "learning_curve_", curve)
    if not isinstance(table, pd.DataFrame):
        rule = "must be a fitted Mimic or {source!s}"
        given = type_of(curve)
        raise InputTypeError("curves", rule, given, source=_SOURCE, remedies="call its fit first")
    check_has("curves", table, ["size", value], _SOURCE)
    if table.empty:
        raise InputError("curves", "must have rows", found="{name} is empty", name=str(name))
    for column in ("size", value):
        if not is_numeric_dtype(table[column]) or not np.isfinite(table[column]).all():
            rule, remedy = "must hold a finite number in every row", "drop the other rows"
            given = Bare(table[column].dtype)
            raise InputError("curves", rule, given, remedies=remedy, column=column)
    if (table["size"] < 1).any():
        raise InputError("curves", "must be 1 or more", float(table["size"].min()), column="size")
    return table


def _chosen(curve, table, value):
    """The size that a mimic predicts with, or None if the table does not say it."""
    if hasattr(curve, "size_"):
        return curve.size_
    return table.groupby("size")[value].mean().idxmin() if value == "fidelity" else None


def _checked_lines(lines):
    if lines is None:
        return {}
    if not isinstance(lines, Mapping):
        rule, remedies = "must map names to numbers", "for example {{'teacher': 0.1}}"
        raise InputTypeError("lines", rule, type_of(lines), remedies=remedies)
    for name, height in lines.items():
        is_number = isinstance(height, Real)
        check_number(f"lines[{name!r}]", float(height) if is_number else height)
    return dict(lines)


def _curve_style(at):
    color, marker = _CURVE_COLORS[at % len(_CURVE_COLORS)], _MARKERS[at % len(_MARKERS)]
    return {"color": color, "marker": marker, "linestyle": "-", "linewidth": 1.2, "markersize": 4}


def _line_style(at):
    return {"color": _LINE_COLOR, "linestyle": _DASHES[at % len(_DASHES)], "linewidth": 1.1}


def _sample(**style):
    """A function that draws a line of the legend."""
    marker = style.pop("marker", "")

    def draw(axes, x, y):
        axes.plot([x, x + SAMPLE], [y, y], **style)
        axes.plot(x + SAMPLE / 2, y, marker, color=style["color"], markersize=4)

    return draw


def _ring(axes, x, y):
    """Draw a ring in the legend."""
    axes.plot(x + SAMPLE / 2, y, "o", **_RING)


def _figure_with_legend(entries):
    """A figure with axes and a legend below."""
    width = max(_WIDTH, *(entry_width(*entry) + 2 * PAD for entry in entries))
    legend = flow(entries, width - 2 * PAD)
    foot = len(legend) * LEGEND_ROW + PAD / 2
    height = _HEIGHT + foot
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained", rect=(0, foot / height, 1, 1 - foot / height))
    axes = figure.add_subplot(label="mimic curve")
    draw_legend(figure, legend, (PAD, height - foot), (width - 2 * PAD, foot - PAD / 2))
    return figure, axes


def _set_sizes(axes, sizes):
    """Mark every size on a logarithmic axis and label those for which there is room."""
    axes.set_xscale("log")
    places = np.log10(sizes)
    per_point = max(places[-1] - places[0], 0.3) / (_WIDTH - 60)
    written = [len(sizes) - 1]
    for at in range(len(sizes) - 2, -1, -1):
        if places[written[-1]] - places[at] >= _NUMBER * per_point:
            written.append(at)
    names = [_size_name(size) if at in written else "" for at, size in enumerate(sizes)]
    axes.set_xticks(sizes, names)
    axes.minorticks_off()
    axes.tick_params(labelsize=8)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.spines[["top", "right"]].set_visible(False)


def _size_name(size):
    return f"{size / 1000:g}k" if size >= 1000 and size % 100 == 0 else f"{size:g}"
