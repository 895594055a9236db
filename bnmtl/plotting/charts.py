"""Charts: lines by size, validation scores, bias and variance, rounds, stability of arcs."""

from collections.abc import Mapping
from itertools import cycle
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from bnmtl.confidence import ArcStability
from bnmtl.confidence.stability import interval_text
from bnmtl.errors import InputError, InputTypeError, check_number
from bnmtl.learners.validated import penalty_name
from bnmtl.plotting.drawing import (
    ABSENT,
    COLORS,
    INK,
    LEGEND_ROW,
    PAD,
    SAMPLE,
    chart_axes,
    check_has,
    check_label,
    draw_legend,
    entry_width,
    flow,
    label_chart,
    new_figure,
    shorten,
)
from bnmtl.plotting.graphs import dags
from bnmtl.plotting.layout import check_configuration, text_width, warn_of_missing_glyphs
from bnmtl.validation import Rounds
from bnmtl.validation.rounds import round_metric_of
from bnmtl.wording import listed, type_of

# The colors of arcs and others of Okabe and Ito: with the markers, 42 distinguishable methods.
METHOD_COLORS = (*COLORS.values(), "#009E73", "#56B4E9", INK)
MARKERS = "os^DvPX"
_SINGLE, _ONE_OF_MANY = (310.0, 220.0), (190.0, 160.0)  # sizes of panels, in points
RING = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": INK}
_MOST_ACROSS = 3
_NUMBER = 26.0  # width of a size on the axis


class Style(NamedTuple):
    """How the line of a method looks."""

    color: str
    line: str | tuple = "-"
    marker: str = ""
    has_bars: bool = True
    width: float = 1.2


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
    looks = zip(names, cycle(METHOD_COLORS), cycle(MARKERS), strict=False)
    styles = {name: Style(color, marker=marker) for name, color, marker in looks}
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
    _check_by(table, by, argument)


def check_range(argument, column, is_right, limits):
    """Raise unless all values of a column are in a range."""
    wrong = column[~is_right]
    if len(wrong):
        message = f"must be {limits}, got {float(wrong.iloc[0])!r}"
        raise InputError(
            message, argument=argument, column=column.name, remedy="leave such rows out"
        )


def _check_by(table, by, argument):
    """Raise unless panels are by a column of a table, or there is one panel."""
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
    every = panels_above_legend(panels, label, panel, entries, captions)
    for axes, rows in zip(every, panels.values(), strict=True):
        for method, style in styles.items():
            draw_means(axes, rows[rows["method"] == method], size, "value", method, style)
        set_sizes(axes, sorted(rows[size].unique()), panel[0], written)
    return every[0].figure


def panels_above_legend(names, label, size, entries, captions):
    """The axes of panels in rows above a legend.

    Parameters
    ----------
    names : collection
        The name of each panel.
    label : str
        The label of the axes, before the name of the panel.
    size : (float, float)
        Width and height of a panel, in points.
    entries : list of (callable, str)
        Of the legend, as in `flow`.
    captions : (str, str)
        Labels of the axes, below the lowest and beside the leftmost panels.

    Returns
    -------
    list of matplotlib.axes.Axes
    """
    n_across = 2 if len(names) == 4 else min(len(names), _MOST_ACROSS)
    n_down = -(-len(names) // n_across)
    width = max(n_across * size[0], *(entry_width(*entry) + 2 * PAD for entry in entries))
    legend = flow(entries, width - 2 * PAD)
    foot = len(legend) * LEGEND_ROW + PAD / 2
    height = n_down * size[1] + foot
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained", rect=(0, foot / height, 1, 1 - foot / height))
    every = []
    for at, name in enumerate(names):
        whole = f"{label} {name}".strip()
        axes = figure.add_subplot(n_down, n_across, at + 1, label=whole)
        xlabel = captions[0] if at + n_across >= len(names) else ""
        ylabel = captions[1] if at % n_across == 0 else ""
        label_chart(axes, shorten(name), xlabel, ylabel)
        every.append(axes)
    draw_legend(figure, legend, (PAD, height - foot), (width - 2 * PAD, foot - PAD / 2))
    return every


def line_sample(style):
    """A function that draws a line in the legend."""

    def draw(axes, x, y):
        color, line, marker, _, width = style
        axes.plot([x, x + SAMPLE], [y, y], linestyle=line, color=color, linewidth=width)
        axes.plot(x + SAMPLE / 2, y, marker, color=color, markersize=4)

    return draw


def draw_means(axes, rows, size, column, name, style, chosen=None):
    """Draw the mean of a column by size, standard errors as bars, a ring around a chosen one."""
    found = rows.groupby(size)[column].agg(["mean", "sem"])
    if found.empty:
        return
    # A line through a single point is not visible.
    marker = style.marker or ("_" if len(found) == 1 else "")
    look = {"linestyle": style.line, "marker": marker, "color": style.color}
    look |= {"linewidth": style.width, "markersize": 4, "label": name}
    axes.plot(found.index, found["mean"], **look)
    if chosen is not None:
        axes.plot(chosen, found["mean"][chosen], "o", label="_chosen", **RING)
    if style.has_bars:
        # A single row has no standard error.
        look = {"fmt": "none", "ecolor": style.color, "elinewidth": 1}
        axes.errorbar(found.index, found["mean"], yerr=found["sem"].fillna(0), **look)


def set_sizes(axes, sizes, width, written, room=_NUMBER, base=2):
    """Mark every size on a logarithmic axis and label those for which there is room.

    The base decides how far the axis reaches around a single size.
    """
    axes.set_xscale("log", base=base)
    places = np.log2(sizes)
    per_point = max(places[-1] - places[0], 1) / (width - 60)
    labeled = [len(sizes) - 1]
    for i in range(len(sizes) - 2, -1, -1):
        if places[labeled[-1]] - places[i] >= room * per_point:
            labeled.append(i)
    axes.set_xticks(sizes, [written(size) if i in labeled else "" for i, size in enumerate(sizes)])
    axes.minorticks_off()


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
    if not isinstance(validation_scores, pd.Series):
        message = f"must be a Series of scores by penalty, got {type_of(validation_scores)}"
        raise InputTypeError(message, argument="validation_scores")
    scores = validation_scores.sort_index()
    check_number("penalty", penalty, optional=True)
    if penalty is not None and penalty not in scores.index:
        known = listed(map(penalty_name, scores.index))
        message = f"must be one of the scored penalties, {known}, got {penalty!r}"
        raise InputError(message, argument="penalty")
    band = None if errors is None else _checked_errors(errors, scores.index)
    x = np.arange(len(scores))
    y = scores.to_numpy(dtype=float)
    y = np.where(np.isfinite(y), y, np.nan)
    axes = chart_axes(max(250.0, 70 + 26.0 * len(scores)), 190.0, "penalties")
    xlabel = "penalty (0: arcs are not shared, 1: one graph for all)"
    label_chart(axes, "", xlabel, _SCORES.get(scores.name, _HELD_OUT))
    note = {"textcoords": "offset points", "fontsize": 8}
    if band is not None:
        axes.fill_between(x, y - band, y + band, color=COLORS["all"], alpha=0.2, linewidth=0)
        style = {"xycoords": "axes fraction", "ha": "right", "color": "#555555", **note}
        axes.annotate("band: one standard error", (1, 0), xytext=(-2, 3), **style)
    axes.plot(x, y, "-o", color=COLORS["all"], linewidth=1.2, markersize=3.5)
    if penalty is not None:
        at, color = scores.index.get_loc(penalty), COLORS["one"]
        axes.plot(x[at], y[at], "o", **RING | {"markeredgecolor": color})
        style = {"ha": "center", "color": color, **note}
        axes.annotate("chosen", (x[at], y[at]), xytext=(0, 8), **style)
    axes.set_xticks(x, list(map(penalty_name, scores.index)), rotation=90)
    axes.margins(x=0.04, y=0.18)
    return axes.figure


def _checked_errors(errors, scored):
    """Return the errors in the order of the scored penalties; nan draws no band."""
    if not isinstance(errors, pd.Series):
        raise InputTypeError(
            f"must be a pandas.Series by penalty, got {type_of(errors)}", argument="errors"
        )
    lacking = [penalty for penalty in scored if penalty not in errors.index]
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
    _check_by(table, by, "table")
    losses = (
        table.index.get_level_values("loss") if "loss" in table.index.names else table.get("loss")
    )
    if by is None and losses is not None and len(set(losses)) > 1:
        message = f"must be of one loss; {', '.join(dict.fromkeys(losses))}"
        raise InputError(message, argument="table", remedy='`by="loss"` for a panel each')
    panels = {"": table} if by is None else dict(list(table.groupby(by, sort=False)))
    # By complexity, in the order of the rows.
    means = [
        rows.groupby("complexity", sort=False)[["error", *_PARTS]].mean()
        for rows in panels.values()
    ]
    shown = {
        name: look
        for name, look in _PARTS.items()
        if any(found[name].abs().max() > 0 for found in means)
    }
    entries = [(_patch(color), text) for text, color in shown.values()]
    dot = {"color": INK, "markersize": 3.5}
    entries.append((lambda axes, x, y: axes.plot(x + SAMPLE / 2, y, "o", **dot), "error"))
    warn_of_missing_glyphs([*map(str, panels), xlabel, ylabel])
    width, height = _SINGLE if len(panels) == 1 else _ONE_OF_ROUNDS
    ticks = [shorten(name, 12) for found in means for name in found.index]
    n_bars = max(map(len, means))
    bar_width = 6.0 + max(text_width(text, _TICK_SIZE) for text in ticks)
    size = max(width, 45.0 + n_bars * bar_width), height
    every = panels_above_legend(panels, "bias and variance", size, entries, (xlabel, ylabel))
    parts = pd.concat(means)[list(_PARTS)]
    low, high = parts.clip(upper=0).sum(axis=1).min(), parts.clip(lower=0).sum(axis=1).max()
    for axes, found in zip(every, means, strict=True):
        places, floor = np.arange(len(found)), np.zeros(len(found))
        for part, (text, color) in shown.items():
            values = found[part].to_numpy()
            # Parts below 0 hang from the axis.
            bottom = np.where(values >= 0, floor, 0.0)
            axes.bar(places, values, 0.7, bottom=bottom, color=color, label=text)
            floor = floor + np.maximum(values, 0)
        axes.plot(places, found["error"], "o", label="error", **dot)
        axes.axhline(0, color=INK, linewidth=0.6)
        axes.set_ylim(1.1 * low, 1.05 * high or 1.0)
        axes.set_xticks(places, [shorten(name, 12) for name in found.index])
        axes.tick_params(labelsize=_TICK_SIZE, colors=INK)
    return axes.figure


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
    if not made or not all(isinstance(rounds, Rounds) for rounds in made.values()):
        raise InputTypeError(
            f"must be rounds, or a mapping of names to these, got {type_of(made)}", argument="made"
        )
    values = {}
    for name, rounds in made.items():
        judge = round_metric_of(metric, rounds.classes)
        found = np.array(rounds.score(judge))
        values[str(name)] = found[~np.isnan(found)]
        if not len(values[str(name)]):
            message = f"must have a round on which `{judge.name}` is defined, got {str(name)!r}"
            raise InputError(message, argument="made")
    warn_of_missing_glyphs(list(values))
    names = [shorten(name) for name in values]
    width = 250.0 + max(entry_width(None, name) for name in names)
    axes = chart_axes(width, 50.0 + 34.0 * len(values), "rounds")
    label_chart(axes, "", judge.name.replace("_", " "))
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
    axes.set_yticks(places, names)
    axes.tick_params(labelsize=_TICK_SIZE, colors=INK)
    return axes.figure


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
    for task in map(str, configuration):
        if task not in summary.index:
            message = f"must have the tasks of `configuration`; `{task}` is missing"
            raise InputError(message, argument="stability", options=("configuration",))
        row = summary.loc[task]
        text = f"stability {interval_text(row, 'edges')}"
        if np.isnan(row["edges"]):
            text = "all possible edges" if row["n_arcs"] else "no stability, no arcs"
        titles[task] = f"{task}: {text}"
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


def _patch(color):
    """A function that draws a colored field in the legend."""
    from matplotlib.patches import Rectangle

    def draw(axes, x, y):
        axes.add_patch(Rectangle((x + SAMPLE / 2 - 6, y - 4.5), 12, 9, color=color))

    return draw
