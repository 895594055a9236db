"""Charts: lines by size, validation scores, bias and variance, rounds, stability of arcs."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from bnmtl.confidence import ArcStability
from bnmtl.confidence.stability import interval_text
from bnmtl.errors import InputError, InputTypeError
from bnmtl.learners.validated import penalty_name
from bnmtl.plotting.drawing import (
    ABSENT,
    COLORS,
    INK,
    LEGEND_ROW,
    PAD,
    SAMPLE,
    check_has,
    draw_legend,
    entry_width,
    flow,
    new_figure,
    text_width,
)
from bnmtl.plotting.graphs import dags
from bnmtl.plotting.layout import check_configuration, families, warn_of_missing_glyphs
from bnmtl.plotting.table import shorten
from bnmtl.plotting.tasks import check_label
from bnmtl.validation import Rounds
from bnmtl.validation.rounds import metric_of
from bnmtl.wording import listed, type_of

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
        given = "an empty one" if isinstance(table, pd.DataFrame) else type_of(table)
        raise InputTypeError(f"must be a DataFrame {source}, got {given}", argument=argument)
    check_has(argument, table, ["method", size, "value"], f"that {source}")
    for column in (size, "value"):
        if not is_numeric_dtype(table[column]) or table[column].isna().any():
            message = f"must hold a number in every row, got {table[column].dtype}"
            raise InputError(
                message, argument=argument, column=column, remedy="drop the rows that lack one"
            )
    if table["method"].isna().any():
        message = "must name a method in every row"
        raise InputError(
            message, argument=argument, column="method", remedy="drop the rows that lack one"
        )
    if by is not None and (not isinstance(by, str) or by not in table):
        message = f"must be a column of `{argument}`, one of {listed(table)}, got {by!r}"
        raise InputError(message, argument="by", options=(argument,))


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
    warn_of_missing_glyphs([*map(str, [*styles, *panels]), *captions])
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


_HELD_OUT = "held-out log-likelihood\n(nats per row)"
_SCORES = {"nats": "log posterior\n(nats, up to a constant)"}


def penalties(validation_scores, penalty=None, errors=None):
    """Plot the validation scores by penalty.

    Parameters
    ----------
    validation_scores : pandas.Series
        The `validation_scores_` of a learner, indexed by penalty: nats per held-out row or, in a
        series named "nats", log posteriors. Penalties are equally spaced, because those of a grid
        are crowded just below 1.
    penalty : float, optional
        The chosen penalty, which is marked.
    errors : pandas.Series, optional
        Standard error of each score, indexed by penalty; drawn as a band of plus or minus one
        error.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If `penalty` is not one of the scored penalties, or `errors` lacks one of them or has
        negative values.

    Examples
    --------
    >>> import pandas as pd
    >>> figure = penalties(pd.Series([-3.2, -3.0, -3.1], index=[0.0, 0.9, 1.0]), penalty=0.9)
    """
    scores = validation_scores.sort_index()
    if penalty is not None and penalty not in scores.index:
        known = [penalty_name(one) for one in scores.index]
        message = f"must be one of the scored penalties, {listed(known)}, got {penalty!r}"
        raise InputError(message, argument="penalty")
    band = None if errors is None else _checked_errors(errors, scores.index)
    x = np.arange(len(scores))
    y = scores.to_numpy(dtype=float)
    y = np.where(np.isfinite(y), y, np.nan)
    figure = new_figure(max(250.0, 70 + 26.0 * len(scores)), 190.0)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot(label="penalties")
    note = {"textcoords": "offset points", "fontsize": 8}
    if band is not None:
        axes.fill_between(x, y - band, y + band, color=COLORS["all"], alpha=0.2, linewidth=0)
        style = {"xycoords": "axes fraction", "ha": "right", "color": "#555555", **note}
        axes.annotate("band: one standard error", (1, 0), xytext=(-2, 3), **style)
    axes.plot(x, y, "-o", color=COLORS["all"], linewidth=1.2, markersize=3.5)
    if penalty is not None:
        at, color = scores.index.get_loc(penalty), COLORS["one"]
        style = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": color}
        axes.plot(x[at], y[at], "o", **style)
        style = {"ha": "center", "color": color, **note}
        axes.annotate("chosen", (x[at], y[at]), xytext=(0, 8), **style)
    axes.set_xticks(x, [penalty_name(one) for one in scores.index], rotation=90, fontsize=8)
    axes.tick_params(axis="y", labelsize=8)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.margins(x=0.04, y=0.18)
    axes.set_xlabel("penalty (0: arcs are not shared, 1: one graph for all)", fontsize=8, color=INK)
    axes.set_ylabel(_SCORES.get(scores.name, _HELD_OUT), fontsize=8, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _checked_errors(errors, scored):
    """Return the errors in the order of the scored penalties; nan draws no band."""
    if not isinstance(errors, pd.Series):
        raise InputTypeError(
            f"must be a pandas.Series by penalty, got {type_of(errors)}", argument="errors"
        )
    lacking = [one for one in scored if one not in errors.index]
    if lacking:
        message = f"must have one for every scored penalty; {penalty_name(lacking[0])} has none"
        raise InputError(message, argument="errors")
    band = errors.loc[scored].to_numpy(dtype=float)
    if (band < 0).any():
        raise InputError(f"must be 0 or more, got {float(band[band < 0][0])!r}", argument="errors")
    return band


_TICK_SIZE = 7
_ONE_OF_ROUNDS = (200.0, 170.0)  # size of a panel, in points
_PARTS = {
    "noise": ("noise", ABSENT),
    "bias": ("bias", COLORS["all"]),
    "variance": ("variance", COLORS["some"]),
    "variance_of_biased": ("variance that corrects a bias", "#F4D9A4"),
}


def bias_variance(table, by=None, xlabel="complexity", ylabel="error"):
    """Plot bias, variance and noise as stacked bars by the complexity of a model.

    The dots are the error, the sum of all parts; what variance takes away where the main prediction
    is wrong stands below 0.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns of `bnmtl.validation.bias_variance`, and complexity: numbers or names, in the order
        of the rows. Rows of the same complexity are averaged; they should be of the same loss.
    by : str, optional
        A column such as "learner", or a level of the index such as "loss", with one panel for each
        of its values, which share the vertical axis.
    xlabel : str, default="complexity"
    ylabel : str, default="error"

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, and missing columns.

    Examples
    --------
    >>> rows = pd.DataFrame({"complexity": [1, 2, 4], "bias": [0.3, 0.1, 0.05]})
    >>> rows["variance"], rows["variance_of_biased"] = [0.01, 0.05, 0.2], [0.0, -0.02, -0.01]
    >>> rows["error"] = rows[["bias", "variance", "variance_of_biased"]].sum(axis=1)
    >>> (axes, legend) = bias_variance(rows.assign(noise=0.0), xlabel="parents").axes
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['1', '2', '4']
    """
    check_label("xlabel", xlabel)
    check_label("ylabel", ylabel)
    if not isinstance(table, pd.DataFrame) or table.empty:
        raise InputTypeError(
            f"must be a DataFrame of `bias_variance`, got {type_of(table)}", argument="table"
        )
    columns = ["complexity", "error", *_PARTS]
    check_has("table", table, columns, "that of `bias_variance`, with the complexity of each row")
    _check_parts(table)
    if isinstance(by, str) and by in table.index.names:
        table = table.reset_index(by)
    if by is not None and (not isinstance(by, str) or by not in table):
        message = f"must be a column of `table`, one of {listed(table)}, got {by!r}"
        raise InputError(message, argument="by", options=("table",))
    losses = (
        table.index.get_level_values("loss") if "loss" in table.index.names else table.get("loss")
    )
    if by is None and losses is not None and len(set(losses)) > 1:
        message = f"must be of one loss; {', '.join(dict.fromkeys(losses))}"
        raise InputError(message, argument="table", remedy='`by="loss"` for a panel each')
    panels = {"": table} if by is None else dict(list(table.groupby(by, sort=False)))
    shown = {
        name: look
        for name, look in _PARTS.items()
        if any(_means(rows)[name].abs().max() > 0 for rows in panels.values())
    }
    entries = [(_patch(color), text) for text, color in shown.values()]
    entries.append((_dot, "error"))
    warn_of_missing_glyphs([*map(str, panels), xlabel, ylabel])
    width, height = _SINGLE if len(panels) == 1 else _ONE_OF_ROUNDS
    ticks = [shorten(str(at), 12) for rows in panels.values() for at in rows["complexity"].unique()]
    n_bars = max(rows["complexity"].nunique() for rows in panels.values())
    size = max(width, 45.0 + n_bars * (6.0 + max(map(_tick_width, ticks)))), height
    labels = [f"bias and variance {name}".strip() for name in panels]
    figure, axes = panels_above_legend(labels, size, entries, (xlabel, ylabel))
    every = pd.concat([_means(rows)[list(_PARTS)] for rows in panels.values()])
    low, high = every.clip(upper=0).sum(axis=1).min(), every.clip(lower=0).sum(axis=1).max()
    for (name, rows), one in zip(panels.items(), axes, strict=True):
        means = _means(rows)
        places, floor = np.arange(len(means)), np.zeros(len(means))
        for part, (text, color) in shown.items():
            values = means[part].to_numpy()
            # Parts below 0 hang from the axis.
            bottom = np.where(values >= 0, floor, 0.0)
            one.bar(places, values, 0.7, bottom=bottom, color=color, label=text)
            floor = floor + np.maximum(values, 0)
        one.plot(places, means["error"], "o", color=INK, markersize=3.5, label="error")
        one.axhline(0, color=INK, linewidth=0.6)
        one.set_ylim(1.1 * low, 1.05 * high or 1.0)
        one.set_xticks(places, [shorten(str(at), 12) for at in means.index])
        title = shorten(str(name))
        one.set_title(title, fontsize=9, color=INK, **as_it_is(title))
        _plain(one)
    return figure


def rounds(made, metric="accuracy"):
    """Plot how much a metric varies over rounds of fits, for one or several classifiers.

    Each small dot is a round, the line the median, the box the middle half.

    Parameters
    ----------
    made : Rounds, or mapping name -> Rounds
    metric : str or callable, default="accuracy"
        As in `bnmtl.validation.compare`; the direction of a function is not needed.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, and a metric that no round defines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from bnmtl.validation import predict_rounds
    >>> X, y = load_iris(return_X_y=True)
    >>> figure = rounds({"naive Bayes": predict_rounds(GaussianNB(), X, y, rounds=5)})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['naive Bayes']
    """
    made = made if isinstance(made, Mapping) else {"": made}
    if not made or not all(isinstance(one, Rounds) for one in made.values()):
        raise InputTypeError(
            f"must be rounds, or a mapping of names to these, got {type_of(made)}", argument="made"
        )
    values = {}
    for name, one in made.items():
        judge = metric_of(metric, one.classes)
        found = np.array(one.score(judge))
        values[str(name)] = found[~np.isnan(found)]
        if not len(values[str(name)]):
            message = f"must have a round on which `{judge.name}` is defined, got {str(name)!r}"
            raise InputError(message, argument="made")
    warn_of_missing_glyphs(list(values))
    names = [shorten(name) for name in values]
    width = 250.0 + max(entry_width(None, name) for name in names)
    figure = new_figure(width, 50.0 + 34.0 * len(values))
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot(label="rounds")
    places = np.arange(len(values))[::-1]
    axes.boxplot(
        list(values.values()),
        positions=places,
        orientation="horizontal",
        widths=0.5,
        showfliers=False,
        boxprops={"color": ABSENT},
        whiskerprops={"color": ABSENT},
        capprops={"color": ABSENT},
        medianprops={"color": COLORS["one"]},
    )
    for place, found in zip(places, values.values(), strict=True):
        # Dots are spread by their order, so that the picture is the same each time.
        shift = np.resize([-0.12, 0.04, 0.12, -0.04], len(found))
        axes.plot(found, place + shift, ".", color=COLORS["all"], markersize=3, alpha=0.6)
    axes.set_yticks(places, names, fontsize=8)
    axes.set_xlabel(judge.name.replace("_", " "), fontsize=8, color=INK)
    _plain(axes)
    return figure


def arc_stability(configuration, stability, learner="given", layout="auto", columns=None):
    """Plot learned graphs with arcs as wide as they are stable, and the stability of each task.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph or BayesNet, or one of them
        As in `dags`.
    stability : ArcStability
        By `bnmtl.confidence.arc_stability`, of the same tasks.
    learner : str, default="given"
        Whose stability.
    layout, columns
        As in `dags`.

    Returns
    -------
    matplotlib.figure.Figure
        As of `dags`, with the stability of the edges and its interval in the titles.

    Raises
    ------
    InputTypeError, InputError
        For another object, an unknown learner, and tasks without a stability; as `dags`.

    Examples
    --------
    >>> from bnmtl import HillClimbing, SingleTaskLearner, structures
    >>> from bnmtl.confidence import arc_stability as stability_of
    >>> rows = {"clinic": structures.load("asia").sample(300, random_state=0)}
    >>> learner = SingleTaskLearner(search=HillClimbing(restarts=0), random_state=0)
    >>> found = stability_of(rows, learner, n=10)
    >>> figure = arc_stability(learner.fit(rows).configuration_, found, layout="layered")
    """
    configuration = check_configuration(configuration)
    if not isinstance(stability, ArcStability):
        message = (
            f"must be the result of `bnmtl.confidence.arc_stability`, got {type_of(stability)}"
        )
        raise InputTypeError(message, argument="stability")
    known = list(stability.summary.index.unique("learner"))
    if learner not in known:
        raise InputError(f"must be one of {listed(known)}, got {learner!r}", argument="learner")
    summary = stability.summary.loc[learner]
    titles = {}
    for task in configuration:
        if str(task) not in summary.index:
            message = f"must have the tasks of `configuration`; `{task}` is missing"
            raise InputError(message, argument="stability", options=("configuration",))
        titles[str(task)] = f"{task}: {_stability_text(summary.loc[str(task)])}"
    arcs = stability.arcs[stability.arcs["learner"] == learner]
    arcs = arcs[arcs["task"].isin(list(titles))]
    confidence = arcs.assign(task=arcs["task"].map(titles))
    named = {titles[str(task)]: graph for task, graph in configuration.items()}
    return dags(named, layout=layout, columns=columns, confidence=confidence)


def _check_parts(table):
    """Raise unless errors and their parts are numbers, and each row has a complexity."""
    if table["complexity"].isna().any():
        raise InputError(
            "must hold the complexity of each row", argument="table", column="complexity"
        )
    for name in ("error", *_PARTS):
        if not is_numeric_dtype(table[name]) or not np.isfinite(table[name]).all():
            raise InputError("must hold finite numbers", argument="table", column=name)


def _stability_text(row):
    """The stability of the edges of a task, in words."""
    if np.isnan(row["edges"]):
        return "all possible edges" if row["n_arcs"] else "no stability, no arcs"
    return f"stability {interval_text(row, 'edges')}"


def _means(rows):
    """Means by complexity, in the order of the rows."""
    return rows.groupby("complexity", sort=False)[["error", *_PARTS]].mean()


def _tick_width(text):
    """The width of the label of a tick, in points."""
    return text_width(text, _TICK_SIZE)


def _plain(axes):
    axes.tick_params(labelsize=_TICK_SIZE, colors=INK)
    axes.spines[["top", "right"]].set_visible(False)


def _patch(color):
    """A function that draws a colored field in the legend."""
    from matplotlib.patches import Rectangle

    def draw(axes, x, y):
        axes.add_patch(Rectangle((x + SAMPLE / 2 - 6, y - 4.5), 12, 9, color=color))

    return draw


def _dot(axes, x, y):
    axes.plot(x + SAMPLE / 2, y, "o", color=INK, markersize=3.5)
