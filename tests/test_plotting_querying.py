"""Plots of active learning: what their lines, bands, points, numbers and titles show."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bnmtl import plotting
from bnmtl.errors import InputError, InputTypeError

pytestmark = pytest.mark.beside_kernels


def curves():
    rng = np.random.default_rng(0)
    rows = [
        (data, strategy, trial, n, rng.random(), rng.random())
        for data in ("birds", "bees")
        for strategy in ("random", "ours")
        for trial in range(4)
        for n in (5, 7, 9)
    ]
    columns = ["data", "strategy", "trial", "n_labels", "error", "squared_error"]
    return pd.DataFrame(rows, columns=columns)


def test_curves_are_means_with_intervals():
    table = curves()
    figure = plotting.strategy_curves(table, "squared_error", confidence=0.9)
    first, second, legend = figure.axes
    assert [first.get_title(), second.get_title()] == ["birds", "bees"]
    assert first.get_ylabel() == "squared error"
    assert first.get_xlabel() == "labels"
    named = plotting.strategy_curves(table, xlabel="visits")
    assert named.axes[0].get_xlabel() == "visits"
    assert {text.get_text() for text in legend.texts} == {"ours", "random"}
    ours, random = first.lines
    assert random.get_linestyle() == "--"
    rows = table[(table["data"] == "birds") & (table["strategy"] == "ours")]
    by = rows.groupby("n_labels")["squared_error"]
    np.testing.assert_allclose(ours.get_xydata(), np.c_[[5, 7, 9], by.mean()])
    half = by.std() / 2 * stats.t.ppf(0.95, 3)
    band = first.collections[0].get_paths()[0].vertices
    expected = np.sort(np.r_[np.maximum(by.mean() - half, 0), by.mean() + half])
    found = np.unique(np.round(band[np.isin(band[:, 0], [5, 7, 9])][:, 1], 10))
    np.testing.assert_allclose(found, np.unique(np.round(expected, 10)))


def test_strategies_differ_in_color_or_dashes():
    table = curves()
    names = [f"strategy {at}" for at in range(15)]
    many = pd.concat([table.assign(strategy=name) for name in names])
    figure = plotting.strategy_curves(pd.concat([many, table[table["strategy"] == "random"]]))
    looks = {(line.get_color(), line._unscaled_dash_pattern) for line in figure.axes[0].lines}
    assert len(looks) == 16


def test_a_legend_has_long_names():
    name = "asked and predicted together, longer search"
    table = curves().replace({"strategy": {"ours": name}})
    *_, legend = plotting.strategy_curves(table).axes
    assert name in [text.get_text() for text in legend.texts]


def test_one_trial_has_no_band():
    table = curves()
    figure = plotting.strategy_curves(table[(table["trial"] == 0) & (table["data"] == "bees")])
    (axes, _) = figure.axes
    for band in axes.collections:
        assert np.ptp(band.get_paths()[0].vertices[:, 1] - 0) <= np.ptp(table["error"])
    assert len(axes.lines) == 2


def sites():
    return pd.DataFrame(
        {
            "east": [1.0, 2.0, 3.0, 4.0],
            "north": [5.0, 6.0, 7.0, 8.0],
            "utility": [0.1, np.nan, 0.5, 0.3],
            "rank": [np.nan, np.nan, 1, 2],
        }
    )


def test_a_map_shows_utilities_labels_and_ranks():
    axes, bar = plotting.utility_map(sites(), "east", "north", rank="rank", label="gain").axes
    points, circles = axes.collections
    assert points.get_offsets().tolist() == [[1, 5], [4, 8], [3, 7]]
    assert points.get_array().tolist() == [0.1, 0.3, 0.5]
    assert axes.lines[0].get_xydata().tolist() == [[2, 6]]
    assert circles.get_offsets().tolist() == [[3, 7], [4, 8]]
    assert {text.get_text(): text.xy for text in axes.texts} == {"1": (3, 7), "2": (4, 8)}
    assert bar.get_ylabel() == "gain"
    marked = plotting.utility_map(sites(), "east", "north", is_labeled=[True, True, False, False])
    assert marked.axes[0].lines[0].get_xydata().tolist() == [[1, 5], [2, 6]]
    assert len(marked.axes[0].collections[0].get_offsets()) == 2


def test_two_methods_are_counted():
    table = pd.DataFrame({"a": [0.1, 0.2, 0.3, np.nan], "b": [0.1, 0.1, 0.4, 0.2]})
    (axes,) = plotting.method_scatter(table, "a", "b", ylabel="errors of b").axes
    assert axes.get_title() == "errors of b is better on 1 of 3, worse on 1"
    assert axes.lines[1].get_xydata().tolist() == table[["a", "b"]].dropna().to_numpy().tolist()
    assert axes.get_xlim() == axes.get_ylim()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "errors of b")


def test_axes_show_all_values_of_two_methods():
    table = pd.DataFrame({"a": [-1.0, 0.5], "b": [1.0, 0.25]})
    (axes,) = plotting.method_scatter(table, "a", "b").axes
    np.testing.assert_allclose(axes.get_xlim(), (-1.1, 1.1))
    (axes,) = plotting.method_scatter(table.abs(), "a", "b").axes
    np.testing.assert_allclose(axes.get_ylim(), (0, 1.05))
    (axes,) = plotting.method_scatter(0 * table, "a", "b").axes
    assert axes.get_ylim() == (0, 1)


def test_diversity_has_a_rank_correlation():
    table = pd.DataFrame({"diversity": [0.1, 0.4, 0.2, 0.3], "error": [9.0, 1.0, 7.0, 2.0]})
    (axes,) = plotting.error_by_diversity(table, label="ratio").axes
    assert axes.get_title() == "rank correlation -1.00 of 4 ensembles"
    assert axes.get_ylabel() == "ratio"
    (axes,) = plotting.error_by_diversity(table.assign(error=1.0)).axes
    assert axes.get_title() == "4 ensembles"
    (few,), (many,) = (
        plotting.error_by_diversity(pd.concat([table] * n)).axes[0].lines for n in (1, 200)
    )
    assert few.get_alpha() > 0.5 > many.get_alpha()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: plotting.strategy_curves([1]), "DataFrame"),
        (lambda: plotting.strategy_curves(curves()[:0]), "DataFrame"),
        (lambda: plotting.strategy_curves(curves(), "accuracy"), "measure"),
        (lambda: plotting.strategy_curves(curves(), "trial"), "measure"),
        (lambda: plotting.strategy_curves(curves(), ylabel=3), "ylabel"),
        (lambda: plotting.strategy_curves(curves(), confidence=1), "confidence"),
        (lambda: plotting.strategy_curves(curves().drop(columns="data")), "data"),
        (lambda: plotting.utility_map(sites(), "east", "height"), "height"),
        (lambda: plotting.utility_map(sites().astype(str), "east", "north"), "numbers"),
        (lambda: plotting.strategy_curves(curves().iloc[:, :4]), "must have a measure.*`error`"),
        (lambda: plotting.utility_map(sites(), "east", "north", is_labeled=[True]), "each row, 4"),
        (lambda: plotting.method_scatter("table", "a", "b"), "DataFrame"),
        (lambda: plotting.method_scatter(sites(), "east", "east"), "`y` must be another column"),
        (lambda: plotting.method_scatter(sites(), "east", "north", xlabel=3), "xlabel"),
        (lambda: plotting.error_by_diversity(sites(), "east", "east"), "`error` must be another"),
        (lambda: plotting.error_by_diversity(sites()), "diversity"),
    ],
)
def test_mistakes_are_named(draw, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        draw()
