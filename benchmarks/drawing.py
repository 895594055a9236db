"""The pictures of the studies: panels, groups of bars in them, and curves."""

import numpy as np
from matplotlib.figure import Figure

# Titles of the axes.
LABELS = {"edits": "edit distance", "kl": "KL divergence (nats)"}


def panels(n_rows, n_columns, size, **options):
    """A figure and its panels, an array of rows; ``size`` in inches, ``options`` as of subplots."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options)


def bars(axes, means, errors, styles=None, width=0.8):
    """Groups of bars side by side, labeled by the columns.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    means, errors : pandas.DataFrame, groups by bars
        Heights, and what is drawn as errors.
    styles : mapping bar -> dict, default=None
    width : float, default=0.8
        Of a group.

    Returns
    -------
    dict bar -> float array
        The places of its bars.
    """
    each, places = width / means.shape[1], {}
    for at, name in enumerate(means):
        places[name] = np.arange(len(means)) + (at - means.shape[1] / 2 + 0.5) * each
        style = {"label": name, **(styles or {}).get(name, {})}
        axes.bar(places[name], means[name], each, yerr=errors[name], **style)
    axes.set_xticks(range(len(means)), means.index)
    return places


def mean_bars(axes, lines, by, column, measure, groups, names, styles=None, width=0.8):
    """`bars` of means and standard errors; two columns tell groups and bars apart."""
    found = lines.groupby([by, column])[measure].agg(["mean", "sem"])
    means, errors = (
        found[of].unstack(column).reindex(index=groups, columns=names) for of in ("mean", "sem")
    )
    axes.set_ylabel(LABELS.get(measure, measure))
    return bars(axes, means, errors, styles, width)


def curves(axes, lines, x, y, column, styles, errors=True):
    """Means of a measure over what is on the axis, a curve a value of a column.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    lines : pandas.DataFrame
    x, y, column : str
        Columns: what is on the axis, the measure, and what tells curves apart.
    styles : iterable of str, or mapping value -> dict
        The curves that are drawn where there are lines of them.
    errors : bool, default=True
        Whether standard errors are drawn.
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
