"""Pictures of the studies: panels with bars or curves."""

import itertools

import matplotlib
import numpy as np
from matplotlib.figure import Figure

# Titles of the axes.
LABELS = {"edits": "edit distance", "kl": "KL divergence (nats)"}
# Sizes in points.
_SIZES = {
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "figure.titlesize": 9,
    "figure.labelsize": 8,
    "legend.fontsize": 7,
    "lines.markersize": 3,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
_BESIDE = {
    "above": {"loc": "outside upper center", "ncols": 6},
    "below": {"loc": "outside lower center", "ncols": 6},
    "right": {"loc": "outside center right"},
}


def panels(draw, size, columns=("",), rows=("",), legend=None, wrap=None, figure=None, **options):
    """A figure with one panel for each row and column.

    Parameters
    ----------
    draw : callable (axes, row, column)
        Draws one panel, given the values of its row and its column.
    size : (float, float)
        Width and height of a panel in inches.
    columns, rows : iterable of values, or mapping value -> text
        The texts are titles of columns, and labels of the first panels of rows.
    legend : {"above", "below", "right", "first", "each"}, default=None
        Beside all panels, in the first one, or in each with its own entries.
    wrap : int, default=None
        Most panels side by side, if there is one row.
    figure : SubFigure, default=None
        Where to draw; None creates a figure.
    **options
        Texts of the whole figure (``suptitle``, ``supxlabel``, ``supylabel``), and options for
        subplots.

    Returns
    -------
    Figure or SubFigure
    """
    rows, columns = _with_texts(rows), _with_texts(columns)
    cases = list(itertools.product(rows, columns))
    n_across = min(wrap or len(columns), len(columns))
    n_down = -(-len(cases) // n_across)
    texts = {name: options.pop(name) for name in list(options) if name.startswith("sup")}
    with matplotlib.rc_context(_SIZES):
        if figure is None:
            figure = Figure((size[0] * n_across, size[1] * n_down), layout="constrained")
        grid = figure.subplots(n_down, n_across, squeeze=False, **options)
        for at, (axes, (row, column)) in enumerate(zip(grid.flat, cases, strict=False)):
            draw(axes, row, column)
            if at < len(columns) and columns[column]:
                axes.set_title(columns[column])
            if at % len(columns) == 0 and rows[row]:
                axes.set_ylabel(rows[row])
        for axes in grid.flat[len(cases) :]:
            axes.set_visible(False)
        for name, text in texts.items():
            getattr(figure, name)(text)
        _add_legend(figure, grid.ravel(), legend)
    return figure


def _with_texts(values):
    return values if isinstance(values, dict) else {one: str(one) for one in values}


def _add_legend(figure, panels, place):
    """Add a legend with one entry per label, or one in each panel."""
    found = [dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True)) for axes in panels]
    every = {label: handle for entries in found for label, handle in entries.items()}
    if place == "each":
        for axes in itertools.compress(panels, found):
            axes.legend()
    elif place == "first":
        panels[0].legend(every.values(), every)
    elif place:
        figure.legend(every.values(), every, **_BESIDE[place])


def bars(axes, means, errors=None, styles=None, width=0.8, horizontal=False):
    """Grouped bars, labeled by the columns.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    means, errors : pandas.DataFrame, groups by bars
        Heights and error bars.
    styles : mapping bar -> dict, default=None
    width : float, default=0.8
        Width of a group.
    horizontal : bool, default=False
        Whether bars are horizontal, with the first at the top.

    Returns
    -------
    dict bar -> float array
        Positions of the bars.
    """
    draw, ticks, error = axes.bar, axes.set_xticks, "yerr"
    if horizontal:
        draw, ticks, error = axes.barh, axes.set_yticks, "xerr"
        axes.set_ylim(len(means) - 0.5, -0.5)
    each, places = width / means.shape[1], {}
    for at, name in enumerate(means):
        places[name] = np.arange(len(means)) + (at - means.shape[1] / 2 + 0.5) * each
        style = {"label": name, **(styles or {}).get(name, {})}
        if errors is not None:
            style[error] = errors[name]
        draw(places[name], means[name], each, **style)
    ticks(range(len(means)), means.index)
    return places


def mean_bars(axes, lines, by, column, measure, groups, styles, **options):
    """`bars` of means and standard errors, those that have lines, of a measure.

    Parameters
    ----------
    by, column : str
        The column that defines the groups, and the column that defines the bars.
    groups : iterable of str
    styles : mapping bar -> dict
    """
    means, errors = _means(lines, by, column, measure)
    shown = [one for one in groups if one in means.index], [one for one in styles if one in means]
    return bars(axes, means.loc[shown], errors.loc[shown], styles, **options)


def curves(axes, means, errors=None, styles=None):
    """One curve per column against the index; missing values are skipped.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    means, errors : pandas.DataFrame
    styles : iterable of columns, or mapping column -> dict, default=None
        The curves to draw, if they have values; None draws all.
    """
    names = means if styles is None else styles
    for name in filter(means.__contains__, names):
        values = means[name].dropna()
        if len(values):
            style = {
                "label": name,
                "marker": "o",
                **(styles[name] if isinstance(styles, dict) else {}),
            }
            axes.errorbar(
                values.index,
                values,
                None if errors is None else errors[name][values.index],
                **style,
            )


def mean_curves(axes, lines, x, column, measure, styles, errors=True):
    """`curves` of means of a measure against ``x``, by default with standard errors."""
    means, sem = _means(lines, x, column, measure)
    curves(axes, means, sem if errors else None, styles)


def _means(lines, by, column, measure):
    """Means and standard errors, values of one column by values of the other."""
    found = lines.groupby([by, column])[measure].agg(["mean", "sem"])
    return found["mean"].unstack(column), found["sem"].unstack(column)


def diagonal(axes, style="--", linewidth=0.6):
    """A line where probabilities equal the shares that are true."""
    axes.plot([0, 1], [0, 1], style, color="gray", linewidth=linewidth)


def axis_of_sizes(axes, sizes, label, **options):
    """A logarithmic axis with a tick at each size."""
    axes.set_xscale("log", **options)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(label)
