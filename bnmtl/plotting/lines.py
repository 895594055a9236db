"""Panels of lines: a value by a size, one line per method, with error bars."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from bnmtl.errors import InputError, InputTypeError
from bnmtl.plotting.drawing import (
    ABSENT,
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

# The colors of arcs and others of Okabe and Ito: with the markers, 42 distinguishable methods.
METHOD_COLORS = (*COLORS.values(), "#009E73", "#56B4E9", INK)
_MARKERS = "os^DvPX"
_SINGLE, _ONE_OF_MANY = (310.0, 220.0), (190.0, 160.0)  # sizes of panels, in points
_MOST_ACROSS = 3
_NUMBER = 26.0  # width of a size on the axis
_TITLE = 9  # size of letters


class Style(NamedTuple):
    """How the line of a method looks."""

    color: str
    line: str = "-"
    marker: str = ""
    has_bars: bool = True


def styles_of(methods, baseline, has_bars=True):
    """The style of each method; a baseline is dashed and comes last.

    Parameters
    ----------
    methods : pandas.Series of str
    baseline : str
    has_bars : bool, default=True
        Whether the baseline has error bars.

    Returns
    -------
    dict of str to Style
    """
    names = [name for name in methods.unique() if name != baseline]
    styles = {
        name: Style(METHOD_COLORS[i % len(METHOD_COLORS)], marker=_MARKERS[i % len(_MARKERS)])
        for i, name in enumerate(names)
    }
    if len(names) < methods.nunique():
        styles[baseline] = Style(ABSENT, "--", has_bars=has_bars)
    return styles


def check_lines(table, size, by, source, argument="table"):
    """Raise unless a table has the columns method, size and value, and the column of the panels.

    Parameters
    ----------
    table : object
    size : str
        Name of the column with sizes.
    by : str or None
        Name of the column with one panel for each of its values.
    source : str
        What the table is "of" or "with", for messages.
    argument : str, default="table"
        Its name in messages.
    """
    if not isinstance(table, pd.DataFrame) or table.empty:
        given = Bare("an empty one") if isinstance(table, pd.DataFrame) else type_of(table)
        raise InputTypeError(argument, "must be a DataFrame {source!s}", given, source=source)
    check_has(argument, table, ["method", size, "value"], f"that {source}")
    for column in (size, "value"):
        if not is_numeric_dtype(table[column]) or table[column].isna().any():
            rule, remedy = "must hold a number in every row", "drop the rows that lack one"
            given = Bare(table[column].dtype)
            raise InputError(argument, rule, given, remedies=remedy, column=column)
    if table["method"].isna().any():
        rule, remedy = "must name a method in every row", "drop the rows that lack one"
        raise InputError(argument, rule, remedies=remedy, column="method")
    if by is not None and (not isinstance(by, str) or by not in table):
        rule = f"must be a column of {{{argument}}}, one of {{columns}}"
        raise InputError("by", rule, by, columns=list(table))


def draw_lines(table, size, by, styles, label, captions, written=str):
    """Draw the mean value of each method by size; bars are one standard error of the mean.

    Parameters
    ----------
    table : pandas.DataFrame
        As checked by `check_lines`.
    size, by : str
        As in `check_lines`.
    styles : dict of str to Style
    label : str
        The label of the axes, before the name of the panel.
    captions : (str, str)
        Labels of the sizes and of the values.
    written : callable, default=str
        Writes a size.

    Returns
    -------
    matplotlib.figure.Figure
    """
    panels = {"": table} if by is None else dict(list(table.groupby(by, sort=False, dropna=False)))
    warn_of_boxes([*map(str, [*styles, *panels]), *captions])
    panel = _SINGLE if len(panels) == 1 else _ONE_OF_MANY
    entries = [(line_sample(style), shorten(name)) for name, style in styles.items()]
    labels = [f"{label} {name}".strip() for name in panels]
    figure, every = panels_above_legend(labels, panel, entries, captions)
    for axes, (name, rows) in zip(every, panels.items(), strict=True):
        _draw_methods(axes, rows, size, styles)
        _set_sizes(axes, sorted(rows[size].unique()), panel[0], written)
        axes.set_title(shorten(name), fontsize=_TITLE, color=INK, **as_it_is(name))
    return figure


def panels_above_legend(labels, size, entries, captions):
    """A figure with panels in rows above a legend.

    Parameters
    ----------
    labels : list of str
        The label of each panel, which is not shown.
    size : (float, float)
        Width and height of a panel, in points.
    entries : list of (callable, str)
        Of the legend, as in `flow`.
    captions : (str, str)
        Labels of the axes, below the lowest and beside the leftmost panels.

    Returns
    -------
    (matplotlib.figure.Figure, list of matplotlib.axes.Axes)
    """
    n_across = 2 if len(labels) == 4 else min(len(labels), _MOST_ACROSS)
    n_down = -(-len(labels) // n_across)
    width = max(n_across * size[0], *(entry_width(*entry) + 2 * PAD for entry in entries))
    legend = flow(entries, width - 2 * PAD)
    foot = len(legend) * LEGEND_ROW + PAD / 2
    height = n_down * size[1] + foot
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained", rect=(0, foot / height, 1, 1 - foot / height))
    every = []
    for at, label in enumerate(labels):
        axes = figure.add_subplot(n_down, n_across, at + 1, label=label)
        if at % n_across == 0:
            axes.set_ylabel(captions[1], fontsize=8, color=INK, **as_it_is(captions[1]))
        if at + n_across >= len(labels):
            axes.set_xlabel(captions[0], fontsize=8, color=INK, **as_it_is(captions[0]))
        every.append(axes)
    draw_legend(figure, legend, (PAD, height - foot), (width - 2 * PAD, foot - PAD / 2))
    return figure, every


def line_sample(style):
    """A function that draws a line in the legend."""

    def draw(axes, x, y):
        axes.plot([x, x + SAMPLE], [y, y], style.line, color=style.color, linewidth=1.2)
        axes.plot(x + SAMPLE / 2, y, style.marker, color=style.color, markersize=4)

    return draw


def as_it_is(text):
    """Style of a text with literal `$`."""
    return {"fontfamily": families(str(text)), "parse_math": False}


def _draw_methods(axes, table, size, styles):
    for name, (color, line, marker, has_bars) in styles.items():
        values = table[table["method"] == name].groupby(size)["value"].agg(["mean", "sem"])
        if values.empty:
            continue
        style = {"color": color, "linewidth": 1.2, "markersize": 4}
        # A line through a single point is not visible.
        marker = marker or ("_" if len(values) == 1 else "")
        axes.plot(values.index, values["mean"], line, marker=marker, label=name, **style)
        if has_bars:
            # A single row has no standard error.
            style = {"fmt": "none", "ecolor": color, "elinewidth": 1}
            axes.errorbar(values.index, values["mean"], yerr=values["sem"].fillna(0), **style)


def _set_sizes(axes, sizes, width, written):
    """Mark every size on a logarithmic axis and label those for which there is room."""
    axes.set_xscale("log", base=2)
    places = np.log2(sizes)
    per_point = max(places[-1] - places[0], 1) / (width - 60)
    labeled = [len(sizes) - 1]
    for i in range(len(sizes) - 2, -1, -1):
        if places[labeled[-1]] - places[i] >= _NUMBER * per_point:
            labeled.append(i)
    axes.set_xticks(sizes, [written(one) if i in labeled else "" for i, one in enumerate(sizes)])
    axes.minorticks_off()
    axes.tick_params(labelsize=8)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.spines[["top", "right"]].set_visible(False)
