"""Plots of selected ensembles and of mimics: growth, members, and how good they are."""

from collections.abc import Mapping
from itertools import cycle
from numbers import Real

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.utils.validation import check_is_fitted

from bnmtl.ensembles import EnsembleSelector, WeightedEnsemble
from bnmtl.ensembles.judges import judge_of, title_of
from bnmtl.ensembles.selection import families_of
from bnmtl.errors import InputError, InputTypeError, check_number, check_whole
from bnmtl.plotting.charts import (
    MARKERS,
    METHOD_COLORS,
    RING,
    Style,
    check_lines,
    check_range,
    draw_lines,
    draw_means,
    line_sample,
    panels_above_legend,
    set_sizes,
    styles_of,
)
from bnmtl.plotting.drawing import (
    COLORS,
    INK,
    SAMPLE,
    as_it_is,
    chart_axes,
    check_has,
    check_label,
    label_chart,
    new_figure,
    shorten,
)
from bnmtl.plotting.layout import text_width, warn_of_missing_glyphs
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
    is_one = table["bag"].nunique() == 1
    style = {"color": COLORS["all"], "linewidth": 1.2 if is_one else 0.6}
    style["alpha"] = 0.9 if is_one else 0.35
    dot = {"markersize": 4, "color": COLORS["one"], "zorder": 3}
    levels = [("ensemble", "average of all bags", "some", "--")] if selector.bags > 1 else []
    levels.append((_BEST_SINGLE, _BEST_SINGLE, "sole", ":"))
    figure = new_figure(_PANEL[0] * len(parts) + 30, _PANEL[1])
    figure.set_layout_engine("constrained")
    first = None
    for i, (part, column) in enumerate(parts.items()):
        label = f"trajectory: {part}"
        axes = figure.add_subplot(1, len(parts), i + 1, label=label, sharex=first, sharey=first)
        first = first or axes
        for bag, rows in table.groupby("bag"):
            axes.plot(rows["step"], rows[column], **style)
            end = rows[rows["kept"]].iloc[-1]
            label = "best prefix" if bag == 0 else None
            axes.plot(end["step"], end[column], "o", label=label, **dot)
        scores = selector.report(part).scores[part]
        for name, text, color, line in levels:
            level = {"color": COLORS[color], "linestyle": line, "linewidth": 1.2}
            axes.axhline(scores[name], label=text, **level)
        ylabel = _metric_of(selector) if axes is first else ""
        label_chart(axes, _PARTS.get(part, shorten(part)), "members", ylabel)
        axes.xaxis.get_major_locator().set_params(integer=True)
    first.legend(fontsize=7, frameon=False)
    return figure


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
        scores, chosen, ylabel = _checked_sweeps(selectors)
    source = "with one row per method and share"
    check_lines(scores, "share", by, source, "scores")
    check_label("ylabel", ylabel)
    is_share = (scores["share"] > 0) & (scores["share"] <= 1)
    check_range("scores", scores["share"], is_share, "above 0, at most 1")
    styles = styles_of(scores["method"], _BEST_SINGLE)
    captions = "share of the models kept (%)", ylabel
    figure = draw_lines(
        scores, "share", by, styles, "pruning", captions, lambda share: f"{100 * share:g}"
    )
    axes = figure.axes[0]
    note = {"textcoords": "offset points", "fontsize": 8, "ha": "center"}
    note["xytext"] = (0, -14 if _SMALLER in ylabel else 8)
    for name, share in chosen.items():
        (line,) = (line for line in axes.lines if line.get_label() == name)
        value = line.get_ydata()[list(line.get_xdata()).index(share)]
        color = styles[name].color
        axes.plot(share, value, "o", **RING | {"markeredgecolor": color})
        axes.annotate("chosen", (share, value), color=color, **note)
        axes.margins(y=0.15)
    return figure


def _checked_sweeps(selectors):
    """The table of the sweeps of some selectors, the share that each chose, and their metric."""
    for name, selector in selectors.items():
        _check_selector(selector, EnsembleSelector, f"scores[{name!r}]")
        if selector.prune_scores_.empty:
            message = "must have scores of shares; it has none"
            raise InputError(
                message,
                argument=f"scores[{name!r}]",
                options=("prune",),
                remedy="fit it with `prune='sweep'`",
            )
    metrics = {_metric_of(selector) for selector in selectors.values()}
    if len(metrics) > 1:
        raise InputError(f"must be of one metric, got {sorted(metrics)!r}", argument="scores")
    sweeps = {name: selector.prune_scores_ for name, selector in selectors.items()}
    table = pd.concat(
        pd.DataFrame({"method": name, "share": sweep.index, "value": sweep.to_numpy()})
        for name, sweep in sweeps.items()
    )
    return table, {name: selector.prune_ for name, selector in selectors.items()}, metrics.pop()


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
    check_range("table", table["size"], table["size"] >= 1, "1 or more")
    styles = styles_of(table["method"], _BEST_SINGLE)
    captions = "hill-climbing cases", ylabel
    return draw_lines(table, "size", by, styles, "hill-climbing sizes", captions)


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
    warn_of_missing_glyphs(names)
    left = max(text_width(name, 8) for name in names)
    axes = chart_axes(left + _BARS_WIDTH + 120, _BAR * len(table) + 50, "weights")
    label_chart(axes, "", "weight in the ensemble, models chosen of those available")
    places = np.arange(len(table))
    axes.barh(places, table["weight"], height=0.7, color=COLORS["all"])
    note = {"textcoords": "offset points", "fontsize": 8, "va": "center", "color": INK}
    for place, row in zip(places, table.itertuples(), strict=True):
        is_seen = row.weight == 0 or row.weight > 0.005
        share = f"{100 * row.weight:.0f} %" if is_seen else "< 1 %"
        text = f"{share}, {row.chosen} of {row.models}"
        axes.annotate(text, (row.weight, place), xytext=(4, 0), **note)
    axes.set_yticks(places, names)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set(**as_it_is(name))
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_xlim(0, 1.45 * table["weight"].max())
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return axes.figure


def _with_the_rest_together(families, most):
    """The families with the largest weights, and one row for the others if there are many."""
    n_shown = min(most, (families["weight"] > 0).sum())
    if len(families) <= most or len(families) == n_shown + 1:
        return families
    rest = families.iloc[n_shown:].sum().to_frame(f"{len(families) - n_shown} others").T
    table = pd.concat([families.iloc[:n_shown], rest])
    return table.astype({"models": int, "chosen": int})


def _check_selector(selector, kinds, argument="selector"):
    if not isinstance(selector, kinds):
        raise InputTypeError(
            f"must be a fitted EnsembleSelector, got {type_of(selector)}", argument=argument
        )
    if isinstance(selector, EnsembleSelector):
        check_is_fitted(selector)


def _metric_of(selector):
    """The name of the metric of a selector and its direction, as a label."""
    judge = judge_of(selector.metric, selector.store_, "hillclimb", selector.greater_is_better)
    return title_of(judge) + (_SMALLER if judge.natural(1) < 0 else "")


_SOURCE = "the `learning_curve_` of a Mimic"
_FIDELITY = "squared difference from the teacher"
_DASHES = ("--", ":", "-.", (0, (6, 1.5)), (0, (1, 3)))
_LINE_COLOR = COLORS["sole"]  # of levels, not of curves
_SIZE = (330.0, 220.0)  # of the diagram, in points
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
    named = curves if isinstance(curves, Mapping) else {"mimic": curves}
    if not named:
        raise InputError("must hold a curve; it is empty", argument="curves")
    tables = {name: _table(name, curve, value) for name, curve in named.items()}
    lines = _checked_lines(lines)
    if ylabel is None:
        ylabel = _FIDELITY if value == "fidelity" else value
    check_label("ylabel", ylabel)
    warn_of_missing_glyphs([*map(str, [*tables, *lines]), ylabel])
    colors = (color for color in METHOD_COLORS if color != _LINE_COLOR)
    looks = zip(tables, cycle(colors), cycle(MARKERS), strict=False)
    styles = {name: Style(color, marker=marker) for name, color, marker in looks}
    levels = [
        (name, Style(_LINE_COLOR, dashes, width=1.1))
        for name, dashes in zip(lines, cycle(_DASHES), strict=False)
    ]
    entries = [(line_sample(style), shorten(name)) for name, style in [*styles.items(), *levels]]
    chosen = {name: _chosen(named[name], table, value) for name, table in tables.items()}
    if any(size is not None for size in chosen.values()):
        mark = {"marker": "o", **RING}
        entries.append((lambda axes, x, y: axes.plot(x + SAMPLE / 2, y, **mark), "chosen size"))
    captions = "pseudo-cases", ylabel
    (axes,) = panels_above_legend([""], "mimic curve", _SIZE, entries, captions)
    for name, table in tables.items():
        draw_means(axes, table, "size", value, str(name), styles[name], chosen[name])
    for name, (color, dashes, *_, width) in levels:
        look = {"color": color, "linestyle": dashes, "linewidth": width}
        axes.axhline(lines[name], label=str(name), **look)
    sizes = sorted(set().union(*(table["size"] for table in tables.values())))
    set_sizes(axes, sizes, _SIZE[0], _size_name, _NUMBER, base=10)
    return axes.figure


def _table(name, curve, value):
    """The checked table of a curve."""
    table = getattr(curve, "learning_curve_", curve)
    if not isinstance(table, pd.DataFrame):
        message = f"must be a fitted Mimic or {_SOURCE}, got {type_of(curve)}"
        raise InputTypeError(message, argument="curves", remedy="call its fit first")
    check_has("curves", table, ["size", value], _SOURCE)
    if table.empty:
        raise InputError(f"must have rows; `{name}` is empty", argument="curves")
    for column in ("size", value):
        if not is_numeric_dtype(table[column]) or not np.isfinite(table[column]).all():
            message = f"must hold a finite number in every row, got {table[column].dtype}"
            raise InputError(
                message, argument="curves", column=column, remedy="drop the other rows"
            )
    check_range("curves", table["size"], table["size"] >= 1, "1 or more")
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
        message = f"must map names to numbers, got {type_of(lines)}"
        raise InputTypeError(message, argument="lines", remedy="for example {'teacher': 0.1}")
    for name, height in lines.items():
        check_number(f"lines[{name!r}]", float(height) if isinstance(height, Real) else height)
    return lines


def _size_name(size):
    return f"{size / 1000:g}k" if size >= 1000 and size % 100 == 0 else f"{size:g}"
