"""Plots of selected ensembles and of mimics: growth, members, and how good they are."""

from collections.abc import Mapping
from numbers import Real

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.utils.validation import check_is_fitted

from bnmtl.ensembles import EnsembleSelector, WeightedEnsemble
from bnmtl.ensembles.judges import judge_of, title_of
from bnmtl.ensembles.selection import families_of
from bnmtl.errors import InputError, InputTypeError, check_number, check_whole
from bnmtl.plotting.charts import as_it_is, check_lines, draw_lines, styles_of
from bnmtl.plotting.drawing import (
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
)
from bnmtl.plotting.layout import families, text_width, warn_of_missing_glyphs
from bnmtl.plotting.table import shorten
from bnmtl.plotting.tasks import check_label
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
        value = float(wrong.iloc[0])
        message = f"must be {limits}, got {value!r}"
        raise InputError(
            message, argument=argument, column=column.name, remedy="leave such rows out"
        )


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
    warn_of_missing_glyphs([*map(str, [*tables, *lines]), ylabel])
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
        raise InputError("must hold a curve; it is empty", argument="curves")
    return dict(curves)


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
    if (table["size"] < 1).any():
        message = f"must be 1 or more, got {float(table['size'].min())!r}"
        raise InputError(message, argument="curves", column="size")
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
