"""Plots of selected ensembles: their growth, their members, and how good they are by settings."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from bnmtl.ensembles import EnsembleSelector, WeightedEnsemble
from bnmtl.ensembles.judges import judge_of, title_of
from bnmtl.ensembles.report import families_of
from bnmtl.errors import InputError, InputTypeError, check_whole
from bnmtl.plotting.dissimilarities import check_label
from bnmtl.plotting.drawing import COLORS, INK, new_figure
from bnmtl.plotting.fonts import warn_of_boxes
from bnmtl.plotting.layout import text_width
from bnmtl.plotting.lines import as_it_is, check_lines, draw_lines, styles_of
from bnmtl.plotting.table import shorten
from bnmtl.wording import type_of

_PANEL = (260.0, 215.0)  # of a trajectory, in points
_BAR, _BARS_WIDTH = 16.0, 220.0  # from one bar to the next, length of the longest
_SELECTION = "hillclimb"
_PARTS = {_SELECTION: "cases of selection", "test": "test cases"}
_BEST_SINGLE = "best single model"
_SMALLER = " (smaller is better)"
_COLUMNS = ["bag", "step", "model", "score", "kept"]


def trajectory(selector):
    """Plot the score of an ensemble by the number of its members.

    One faint line per bag; the dot is the end of the best prefix, which is kept. Dashed lines are
    the average of all bags and the best single model. For a selector fitted with ``monitor``, the
    same members on that part are beside it, on the same axis; the dots are still chosen on the
    cases of selection.

    Parameters
    ----------
    selector : EnsembleSelector
        Fitted.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, and a selector that is not fitted.

    References
    ----------
    Niculescu-Mizil (2008), figure 4.1.

    Examples
    --------
    >>> from bnmtl.ensembles import PredictionStore
    >>> store = PredictionStore([[0.9, 0.2, 0.6], [0.6, 0.4, 0.4]], [1, 0, 1])
    >>> figure = trajectory(EnsembleSelector(bags=1, bag_fraction=1.0, max_steps=5).fit(store))
    >>> [axes.get_label() for axes in figure.axes]
    ['trajectory: hillclimb']
    """
    _check_selector(selector, EnsembleSelector)
    table = selector.trajectory_
    monitored = [name for name in table if name not in _COLUMNS]
    parts = {_SELECTION: "score", **{name: name for name in monitored}}
    figure = new_figure(_PANEL[0] * len(parts) + 30, _PANEL[1])
    figure.set_layout_engine("constrained")
    first = None
    for i, (part, column) in enumerate(parts.items()):
        label = f"trajectory: {part}"
        axes = figure.add_subplot(1, len(parts), i + 1, label=label, sharex=first, sharey=first)
        first = first or axes
        _draw_bags(axes, table, column)
        _draw_levels(axes, selector, part)
        axes.set_title(_PARTS.get(part, shorten(part)), fontsize=9, color=INK, **as_it_is(part))
        axes.set_xlabel("members", fontsize=8, color=INK)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.tick_params(labelsize=8)
        axes.ticklabel_format(axis="y", useOffset=False)
        axes.spines[["top", "right"]].set_visible(False)
    first.set_ylabel(_metric_of(selector), fontsize=8, color=INK)
    first.legend(fontsize=7, frameon=False)
    return figure


def _draw_bags(axes, table, column):
    """One line per bag, with a dot where the best prefix ends."""
    n_bags = table["bag"].nunique()
    style = {"color": COLORS["all"], "linewidth": 1.2 if n_bags == 1 else 0.6}
    for bag, rows in table.groupby("bag"):
        axes.plot(rows["step"], rows[column], alpha=0.9 if n_bags == 1 else 0.35, **style)
        end = rows[rows["kept"]].iloc[-1]
        label = "best prefix" if bag == 0 else None
        dot = {"markersize": 4, "color": COLORS["one"], "zorder": 3, "label": label}
        axes.plot(end["step"], end[column], "o", **dot)


def _draw_levels(axes, selector, part):
    scores = selector.report(part).scores[part]
    levels = {_BEST_SINGLE: (scores[_BEST_SINGLE], COLORS["sole"], ":")}
    if selector.bags > 1:
        levels = {"average of all bags": (scores["ensemble"], COLORS["some"], "--"), **levels}
    for label, (score, color, line) in levels.items():
        axes.axhline(score, color=color, linestyle=line, linewidth=1.2, label=label)


def pruning(scores, by=None, ylabel="score"):
    """Plot how good ensembles are by the share of the library from which they are selected.

    Each point is the mean of all rows of its method and share; bars are one standard error of the
    mean. The share that a selector chose is circled.

    Parameters
    ----------
    scores : EnsembleSelector, mapping of str to EnsembleSelector, or pandas.DataFrame
        Selectors fitted with ``prune="sweep"``, such as {"with bags": ..., "without bags": ...}. Or
        a table with the columns method, share (above 0 and at most 1) and value, and any number of
        rows per method and share.
    by : str, optional
        A column of the table such as "problem" with one panel for each of its values.
    ylabel : str, default="score"
        Label of the values of a table; selectors have the name of their metric.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, selectors fitted without the sweep, and missing columns.

    References
    ----------
    Niculescu-Mizil (2008), figures 4.4 and 4.5.

    Examples
    --------
    >>> table = pd.DataFrame({"method": "with bags", "share": [0.1, 1.0], "value": [0.9, 0.8]})
    >>> (axes, legend) = pruning(table).axes
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['10', '100']
    """
    selectors = {"ensemble": scores} if isinstance(scores, EnsembleSelector) else scores
    chosen = {}
    if isinstance(selectors, Mapping) and len(selectors):
        chosen, ylabel = _checked_sweeps(selectors)
        scores = _sweep_table(selectors)
    source = "with one row per method and share"
    check_lines(scores, "share", by, source, "scores")
    check_label("ylabel", ylabel)
    is_share = (scores["share"] > 0) & (scores["share"] <= 1)
    _check_range("scores", scores["share"], is_share, "above 0, at most 1")
    styles = styles_of(scores["method"], _BEST_SINGLE)
    captions = "share of the models kept (%)", ylabel
    figure = draw_lines(scores, "share", by, styles, "pruning", captions, _percent)
    for name, share in chosen.items():
        (line,) = (line for line in figure.axes[0].lines if line.get_label() == name)
        value = line.get_ydata()[list(line.get_xdata()).index(share)]
        _circle(figure.axes[0], share, value, styles[name].color, _SMALLER in ylabel)
    return figure


def _circle(axes, x, y, color, is_lowest):
    axes.plot(x, y, "o", markersize=9, markerfacecolor="none", markeredgecolor=color)
    note = {"textcoords": "offset points", "fontsize": 8, "ha": "center", "color": color}
    axes.annotate("chosen", (x, y), xytext=(0, -14 if is_lowest else 8), **note)
    axes.margins(y=0.15)


def _percent(share):
    return f"{100 * share:g}"


def _checked_sweeps(selectors):
    """The chosen share of each selector, and the metric of all."""
    for name, selector in selectors.items():
        _check_selector(selector, EnsembleSelector, f"scores[{name!r}]")
        if selector.prune_scores_.empty:
            rule, remedies = "must have scores of shares", "fit it with {prune=sweep}"
            raise InputError(f"scores[{name!r}]", rule, found="it has none", remedies=remedies)
    metrics = {_metric_of(selector) for selector in selectors.values()}
    if len(metrics) > 1:
        raise InputError("scores", "must be of one metric", sorted(metrics))
    return {name: one.prune_ for name, one in selectors.items()}, metrics.pop()


def _sweep_table(selectors):
    return pd.concat(
        [
            pd.DataFrame({"method": name, "share": one.index, "value": one.to_numpy()})
            for name, one in (
                (name, selector.prune_scores_) for name, selector in selectors.items()
            )
        ]
    )


def hillclimb_sizes(table, by=None, ylabel="score"):
    """Plot how good ensembles are by the number of cases on which they are selected.

    Each point is the mean of all rows of its method and size, such as trials; bars are one standard
    error of the mean. The method "best single model" is a dashed line.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns: method (such as "with bags", "without bags", "best single model"), size, value.
    by : str, optional
        A column such as "problem" with one panel for each of its values. The panels have different
        vertical axes.
    ylabel : str, default="score"
        Label of the values.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, and missing columns.

    References
    ----------
    Niculescu-Mizil (2008), figure 4.2.

    Examples
    --------
    >>> methods = ["with bags", "with bags", "best single model", "best single model"]
    >>> values = [0.8, 0.9, 0.7, 0.8]
    >>> table = pd.DataFrame({"method": methods, "size": [100, 1000] * 2, "value": values})
    >>> (axes, legend) = hillclimb_sizes(table).axes
    >>> [line.get_label() for line in axes.lines]
    ['with bags', 'best single model']
    """
    check_lines(table, "size", by, "with one row per method and size")
    check_label("ylabel", ylabel)
    _check_range("table", table["size"], table["size"] >= 1, "1 or more")
    styles = styles_of(table["method"], _BEST_SINGLE)
    captions = "hill-climbing cases", ylabel
    return draw_lines(table, "size", by, styles, "hill-climbing sizes", captions)


def _check_range(argument, column, is_right, limits):
    wrong = column[~is_right]
    if len(wrong):
        rule, remedy = f"must be {limits}", "leave such rows out"
        value = float(wrong.iloc[0])
        raise InputError(argument, rule, value, remedies=remedy, column=column.name)


def weights(selector, most=20):
    """Plot the weight of each family of models, and how many of its models were chosen.

    Parameters
    ----------
    selector : EnsembleSelector or WeightedEnsemble
        An `EnsembleSelector` must be fitted. Without a column "family" in the settings of its
        store, every model is its own family.
    most : int, default=20
        Number of bars. If there are more families, one more bar shows all that were not chosen and
        those with the least weight.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered in pyplot: save it with `savefig`, or show it as the last value of a notebook
        cell.

    Raises
    ------
    TypeError, ValueError
        For other objects, and a selector that is not fitted.

    Examples
    --------
    >>> from bnmtl.ensembles import PredictionStore, mean_of_all
    >>> settings = [{"family": "trees"}, {"family": "trees"}, {"family": "SVM"}]
    >>> predictions = [[0.9, 0.2, 0.6], [0.6, 0.4, 0.4], [0.5, 0.1, 0.7]]
    >>> store = PredictionStore(predictions, [1, 0, 1], settings=settings)
    >>> (axes,) = weights(mean_of_all(store)).axes
    >>> [text.get_text() for text in axes.texts]
    ['67 %, 2 of 2', '33 %, 1 of 1']
    """
    _check_selector(selector, (EnsembleSelector, WeightedEnsemble))
    check_whole("most", most, least=1)
    table = _with_the_rest_together(families_of(selector), most)
    names = [shorten(name) for name in table.index]
    warn_of_boxes(names)
    left = max(text_width(name, 8) for name in names)
    figure = new_figure(left + _BARS_WIDTH + 120, _BAR * len(table) + 50)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot(label="weights")
    places = np.arange(len(table))
    axes.barh(places, table["weight"], height=0.7, color=COLORS["all"])
    note = {"textcoords": "offset points", "fontsize": 8, "va": "center", "color": INK}
    for place, row in zip(places, table.itertuples(), strict=True):
        text = f"{_share(row.weight)}, {row.chosen} of {row.models}"
        axes.annotate(text, (row.weight, place), xytext=(4, 0), **note)
    axes.set_yticks(places, names, fontsize=8)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set(**as_it_is(name))
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_xlim(0, 1.45 * table["weight"].max())
    axes.set_xticks([])
    axes.set_xlabel(
        "weight in the ensemble, models chosen of those available", fontsize=8, color=INK
    )
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def _with_the_rest_together(families, most):
    """The families with the largest weights, and one row for the others if there are many."""
    n_shown = min(most, (families["weight"] > 0).sum())
    if len(families) <= most or len(families) == n_shown + 1:
        return families
    rest = families.iloc[n_shown:].sum().to_frame(f"{len(families) - n_shown} others").T
    table = pd.concat([families.iloc[:n_shown], rest])
    return table.astype({"models": int, "chosen": int})


def _share(weight):
    return f"{100 * weight:.0f} %" if weight == 0 or weight > 0.005 else "< 1 %"


def _check_selector(selector, kinds, argument="selector"):
    if not isinstance(selector, kinds):
        rule = "must be a fitted EnsembleSelector"
        raise InputTypeError(argument, rule, type_of(selector))
    if isinstance(selector, EnsembleSelector):
        check_is_fitted(selector)


def _metric_of(selector):
    """The name of the metric of a selector and its direction, as a label."""
    judge = judge_of(selector.metric, selector.store_, "hillclimb", selector.greater_is_better)
    return title_of(judge) + (_SMALLER if judge.natural(1) < 0 else "")
