"""Plots that judge models: bias and variance by complexity, rounds, stability of arcs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from bnmtl.confidence import ArcStability
from bnmtl.confidence.stability import interval_text
from bnmtl.errors import InputError, InputTypeError
from bnmtl.plotting.dissimilarities import check_label
from bnmtl.plotting.drawing import (
    ABSENT,
    COLORS,
    INK,
    SAMPLE,
    entry_width,
    new_figure,
    text_width,
)
from bnmtl.plotting.fonts import warn_of_boxes
from bnmtl.plotting.graphs import dags
from bnmtl.plotting.layout import check_configuration
from bnmtl.plotting.lines import as_it_is, panels_above_legend
from bnmtl.plotting.table import shorten
from bnmtl.plotting.widths import check_has
from bnmtl.validation import Rounds
from bnmtl.validation.scoring import metric_of
from bnmtl.wording import Bare, type_of

_TICK_SIZE = 7
_SINGLE, _ONE_OF_MANY = (310.0, 220.0), (200.0, 170.0)  # sizes of panels, in points
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
        raise InputTypeError("table", "must be a DataFrame of `bias_variance`", type_of(table))
    columns = ["complexity", "error", *_PARTS]
    check_has("table", table, columns, "that of `bias_variance`, with the complexity of each row")
    _check_parts(table)
    if isinstance(by, str) and by in table.index.names:
        table = table.reset_index(by)
    if by is not None and (not isinstance(by, str) or by not in table):
        raise InputError(
            "by", "must be a column of {table}, one of {columns}", by, columns=list(table)
        )
    losses = (
        table.index.get_level_values("loss") if "loss" in table.index.names else table.get("loss")
    )
    if by is None and losses is not None and len(set(losses)) > 1:
        rule, remedies = "must be of one loss", '`by="loss"` for a panel each'
        raise InputError(
            "table", rule, found=Bare(", ".join(dict.fromkeys(losses))), remedies=remedies
        )
    panels = {"": table} if by is None else dict(list(table.groupby(by, sort=False)))
    shown = {
        name: look
        for name, look in _PARTS.items()
        if any(_means(rows)[name].abs().max() > 0 for rows in panels.values())
    }
    entries = [(_patch(color), text) for text, color in shown.values()]
    entries.append((_dot, "error"))
    warn_of_boxes([*map(str, panels), xlabel, ylabel])
    width, height = _SINGLE if len(panels) == 1 else _ONE_OF_MANY
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
            "made", "must be rounds, or a mapping of names to these", type_of(made)
        )
    values = {}
    for name, one in made.items():
        judge = metric_of(metric, one.classes)
        found = np.array(one.score(judge))
        values[str(name)] = found[~np.isnan(found)]
        if not len(values[str(name)]):
            rule = "must have a round on which {metric_name} is defined"
            raise InputError("made", rule, str(name), metric_name=judge.name)
    warn_of_boxes(list(values))
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
        rule = "must be the result of `bnmtl.confidence.arc_stability`"
        raise InputTypeError("stability", rule, type_of(stability))
    known = list(stability.summary.index.unique("learner"))
    if learner not in known:
        raise InputError("learner", "must be one of {known}", learner, known=known)
    summary = stability.summary.loc[learner]
    titles = {}
    for task in configuration:
        if str(task) not in summary.index:
            rule = "must have the tasks of {configuration}"
            raise InputError("stability", rule, found="{task_name} is missing", task_name=str(task))
        titles[str(task)] = f"{task}: {_stability_text(summary.loc[str(task)])}"
    arcs = stability.arcs[stability.arcs["learner"] == learner]
    arcs = arcs[arcs["task"].isin(list(titles))]
    confidence = arcs.assign(task=arcs["task"].map(titles))
    named = {titles[str(task)]: graph for task, graph in configuration.items()}
    return dags(named, layout=layout, columns=columns, confidence=confidence)


def _check_parts(table):
    """Raise unless errors and their parts are numbers, and each row has a complexity."""
    if table["complexity"].isna().any():
        raise InputError("table", "must hold the complexity of each row", column="complexity")
    for name in ("error", *_PARTS):
        if not is_numeric_dtype(table[name]) or not np.isfinite(table[name]).all():
            raise InputError("table", "must hold finite numbers", column=name)


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
