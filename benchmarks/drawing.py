"""Pictures of the studies: panels, grouped bars and curves."""

import numpy as np
from matplotlib.figure import Figure

# Titles of the axes.
LABELS = {"edits": "edit distance", "kl": "KL divergence (nats)"}


def panels(n_rows, n_columns, size, **options):
    """A figure and a 2d array of its panels; ``size`` in inches, ``options`` for subplots."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options)


def bars(axes, means, errors, styles=None, width=0.8):
    """Grouped bars, labeled by the columns.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    means, errors : pandas.DataFrame, groups by bars
        Heights and error bars.
    styles : mapping bar -> dict, default=None
    width : float, default=0.8
        Width of a group.

    Returns
    -------
    dict bar -> float array
        Positions of the bars.
    """
    each, places = width / means.shape[1], {}
    for at, name in enumerate(means):
        places[name] = np.arange(len(means)) + (at - means.shape[1] / 2 + 0.5) * each
        style = {"label": name, **(styles or {}).get(name, {})}
        axes.bar(places[name], means[name], each, yerr=errors[name], **style)
    axes.set_xticks(range(len(means)), means.index)
    return places


def mean_bars(axes, lines, by, column, measure, groups, names, styles=None, width=0.8):
    """`bars` of means and standard errors; one column defines the groups, one the bars."""
    found = lines.groupby([by, column])[measure].agg(["mean", "sem"])
    means, errors = (
        found[of].unstack(column).reindex(index=groups, columns=names) for of in ("mean", "sem")
    )
    axes.set_ylabel(LABELS.get(measure, measure))
    return bars(axes, means, errors, styles, width)


def curves(axes, lines, x, y, column, styles, errors=True):
    """Means of a measure against ``x``, one curve per value of a column.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    lines : pandas.DataFrame
    x, y, column : str
        Columns: the x axis, the measure, and the value that defines the curves.
    styles : iterable of str, or mapping value -> dict
        The curves to draw, if they have lines.
    errors : bool, default=True
        Whether to draw standard errors.
    """
    styles = styles if isinstance(styles, dict) else {name: {} for name in styles}
    for name, style in styles.items():
        groups = lines[lines[column] == name].groupby(x)[y]
        if len(groups):
            style = {"label": name, "marker": "o", "markersize": 3, **style}
            mean = groups.mean()
            axes.errorbar(mean.index, mean, groups.sem() if errors else None, **style)


def axis_of_sizes(axes, sizes, label, **options):
    """A logarithmic axis with a tick at each size."""
    axes.set_xscale("log", **options)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(label)
