"""Pictures of selected ensembles show what selectors and tables say."""

import io

import numpy as np
import pandas as pd
import pytest
from pictures import assert_readable, texts

from bnmtl import plotting
from bnmtl.ensembles import EnsembleSelector, PredictionStore, mean_of_all

pytestmark = pytest.mark.beside_kernels

FAMILIES = ["trees", "SVM", "naive Bayes"]


def store(n_models=24, families=FAMILIES):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    noise = rng.normal(size=(n_models, 200)) * rng.uniform(1, 4, size=(n_models, 1))
    p = 1 / (1 + np.exp(-(2 * y - 1 + noise)))
    settings = [
        {"family": families[at % len(families)]} if families else {} for at in range(len(p))
    ]
    predictions = {"hillclimb": p[:, :120], "test": p[:, 120:]}
    return PredictionStore(predictions, {"hillclimb": y[:120], "test": y[120:]}, settings=settings)


def selector(metric="roc_area", monitor="test", given=None, **options):
    options = {"bags": 4, "max_steps": 20, "random_state": 0, **options}
    return EnsembleSelector(metric, **options).fit(given or store(), monitor=monitor)


def named(figure):
    return {axes.get_label(): axes for axes in figure.axes}


@pytest.mark.parametrize("metric", ["roc_area", "cross_entropy"])
def test_a_trajectory_has_a_line_per_bag_with_its_best_prefix_on_both_parts(metric):
    fitted = selector(metric)
    figure = plotting.trajectory(fitted)
    axes = named(figure)
    assert list(axes) == ["trajectory: hillclimb", "trajectory: test"]
    for part, column in (("hillclimb", "score"), ("test", "test")):
        lines = axes[f"trajectory: {part}"].lines
        curves = [
            line for line in lines if line.get_marker() == "None" and len(line.get_xdata()) > 2
        ]
        dots = [line for line in lines if line.get_marker() == "o"]
        assert len(curves) == len(dots) == 4
        for (_, rows), curve, dot in zip(
            fitted.trajectory_.groupby("bag"), curves, dots, strict=True
        ):
            assert curve.get_xdata().tolist() == rows["step"].tolist()
            np.testing.assert_array_equal(curve.get_ydata(), rows[column])
            last = rows[rows["kept"]].iloc[-1]
            assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (last["step"], last[column])
        levels = {
            line.get_label(): line.get_ydata()[0] for line in lines if len(line.get_xdata()) == 2
        }
        scores = fitted.report().scores[part]
        assert levels["best single model"] == scores["best single model"]
        assert levels["average of all bags"] == scores["ensemble"]
    assert len({one.get_ylim() for one in axes.values()}) == 1
    caption = axes["trajectory: hillclimb"].get_ylabel()
    assert caption == {"roc_area": "ROC area"}.get(metric, "cross-entropy (smaller is better)")


def test_one_bag_without_another_part_is_one_panel():
    fitted = selector(monitor=None, bags=1, bag_fraction=1.0)
    (axes,) = plotting.trajectory(fitted).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["best prefix", "best single model"]
    assert axes.lines[0].get_alpha() > selector_alpha(4)


def test_members_are_marked_by_whole_numbers():
    figure = plotting.trajectory(selector(initial=0, max_steps=3))
    for axes in figure.axes:
        assert [tick % 1 for tick in axes.get_xticks()] == [0] * len(axes.get_xticks())


def selector_alpha(bags):
    return plotting.trajectory(selector(bags=bags)).axes[0].lines[0].get_alpha()


def test_the_sweep_of_selectors_is_drawn_with_the_chosen_share():
    fitted = {
        "with bags": selector("cross_entropy", prune="sweep", bags=2, max_steps=3),
        "without bags": selector("cross_entropy", prune="sweep", bags=1, max_steps=3),
    }
    axes, _ = plotting.pruning(fitted).axes
    lines = {line.get_label(): line for line in axes.lines}
    for name, one in fitted.items():
        scores = one.prune_scores_.sort_index()
        assert lines[name].get_xdata().tolist() == scores.index.tolist()
        assert lines[name].get_ydata().tolist() == pytest.approx(scores.tolist())
    circles = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    places = [(line.get_xdata()[0], line.get_ydata()[0]) for line in circles]
    expected = [(one.prune_, one.prune_scores_[one.prune_]) for one in fitted.values()]
    assert np.array(places) == pytest.approx(np.array(expected))
    assert axes.get_ylabel() == "cross-entropy (smaller is better)"
    assert texts(axes.figure).count("chosen") == 2
    alone, _ = plotting.pruning(fitted["with bags"]).axes
    assert alone.lines[0].get_ydata().tolist() == lines["with bags"].get_ydata().tolist()


def trials(size, values):
    rng = np.random.default_rng(1)
    rows = [
        (problem, method, one, 0.5 + 0.1 * rng.random())
        for problem in ("ADULT", "LETTER")
        for method in ("best single model", "with bags", "without bags")
        for one in values
        for _ in range(3)
    ]
    return pd.DataFrame(rows, columns=["problem", "method", size, "value"])


@pytest.mark.parametrize(
    ("draw", "size", "values"),
    [
        (plotting.hillclimb_sizes, "size", [100, 250, 1000]),
        (plotting.pruning, "share", [0.05, 0.3, 1.0]),
    ],
)
def test_points_of_tables_are_means_with_standard_errors(draw, size, values):
    table = trials(size, values)
    figure = draw(table, by="problem", ylabel="normalized score")
    panels = [axes for axes in figure.axes if axes.get_label() != "legend"]
    assert [axes.get_title() for axes in panels] == ["ADULT", "LETTER"]
    assert panels[0].get_ylabel() == "normalized score"
    for axes in panels:
        rows = table[table["problem"] == axes.get_title()]
        lines = [line for line in axes.lines if len(line.get_xdata())]
        assert [line.get_label() for line in lines] == [
            "with bags",
            "without bags",
            "best single model",
        ]
        assert [line.get_linestyle() for line in lines] == ["-", "-", "--"]
        for line, bars in zip(lines, axes.collections, strict=True):
            found = rows[rows["method"] == line.get_label()].groupby(size)["value"]
            assert line.get_ydata().tolist() == found.mean().tolist()
            lengths = [np.ptp(segment[:, 1]) / 2 for segment in bars.get_segments()]
            assert lengths == pytest.approx(found.sem().tolist())
    written = [label.get_text() for label in panels[0].get_xticklabels()]
    assert written == {"size": ["100", "250", "1000"], "share": ["5", "30", "100"]}[size]
    assert_readable(figure)


def test_a_baseline_of_one_size_is_visible():
    table = trials("size", [100])
    lines = plotting.hillclimb_sizes(table).axes[0].lines
    assert [line.get_marker() for line in lines] == ["o", "s", "_"]


def test_bars_are_weights_of_families_with_numbers_of_models():
    fitted = selector()
    (axes,) = plotting.weights(fitted).axes
    families = fitted.report().families
    assert [bar.get_width() for bar in axes.patches] == families["weight"].tolist()
    assert [label.get_text() for label in axes.get_yticklabels()] == list(families.index)
    for text, row in zip(texts(axes.figure), families.itertuples(), strict=True):
        assert text.endswith(f"%, {row.chosen} of {row.models}")
    first, *_ = (bar.get_y() for bar in axes.patches)
    top, bottom = axes.get_ylim()[1], axes.get_ylim()[0]
    assert abs(first - top) < abs(first - bottom)
    assert_readable(axes.figure)


def test_many_families_are_one_bar():
    fitted = selector(given=store(families=None), bags=1, max_steps=6)
    chosen = fitted.weights_[fitted.weights_ > 0].sort_values(ascending=False)
    n_chosen = len(chosen)
    assert 4 < n_chosen < 20
    (axes,) = plotting.weights(fitted).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert len(names) == n_chosen + 1 and names[-1] == f"{24 - n_chosen} others"
    assert texts(axes.figure)[-1] == f"0 %, 0 of {24 - n_chosen}"
    (axes,) = plotting.weights(fitted, most=2).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [*chosen.index[:2], "22 others"]
    assert axes.patches[-1].get_width() == pytest.approx(chosen.iloc[2:].sum())
    assert texts(axes.figure)[-1].endswith(f", {n_chosen - 2} of 22")
    mean = mean_of_all(store(n_models=600, families=["trees", *["SVM"] * 599]))
    assert texts(plotting.weights(mean)) == ["100 %, 599 of 599", "< 1 %, 1 of 1"]
    mean = mean_of_all(store(n_models=200, families=["trees", *["SVM"] * 199]))
    assert texts(plotting.weights(mean))[-1] == "< 1 %, 1 of 1"


def test_pictures_are_the_same_on_every_run():
    files = []
    for _ in range(2):
        buffer = io.BytesIO()
        plotting.trajectory(selector(bags=2, max_steps=5)).savefig(buffer, format="png", dpi=40)
        files.append(buffer.getvalue())
    assert files[0] == files[1]


TABLE = trials("share", [0.1, 1.0]).assign(size=10)


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: plotting.trajectory(TABLE), TypeError, "`selector` must be a fitted .* got DataF"),
        (lambda: plotting.trajectory(EnsembleSelector()), ValueError, "not fitted yet"),
        (lambda: plotting.weights([1]), TypeError, "`selector` must be a fitted .*, got list"),
        (lambda: plotting.weights(selector(), most=0), ValueError, "`most` must be a whole number"),
        (
            lambda: plotting.pruning(selector()),
            ValueError,
            "must have scores of shares; it has none: fit it with `prune='sweep'`",
        ),
        (lambda: plotting.pruning({"a": 1}), TypeError, r"`scores\['a'\]` must be a fitted"),
        (lambda: plotting.pruning([]), TypeError, "`scores` must be a DataFrame with one row per"),
        (
            lambda: plotting.pruning(TABLE.assign(share=2)),
            ValueError,
            "`scores`: column `share` must be above 0, at most 1, got 2",
        ),
        (
            lambda: plotting.hillclimb_sizes(TABLE.assign(size=0)),
            ValueError,
            "`table`: column `size` must be 1 or more, got 0",
        ),
        (
            lambda: plotting.hillclimb_sizes(TABLE.drop(columns="value")),
            ValueError,
            "`table` must be a DataFrame with columns `method`, `size`, .*; 'value' is missing",
        ),
        (
            lambda: plotting.hillclimb_sizes(TABLE.replace({"method": {"with bags": None}})),
            ValueError,
            "`table`: column `method` must name a method in every row; drop the rows that lack",
        ),
        (lambda: plotting.hillclimb_sizes(TABLE, by="x"), ValueError, "`by` must be a column of"),
        (lambda: plotting.hillclimb_sizes(TABLE, ylabel=1), TypeError, "`ylabel` must be a text"),
    ],
)
def test_mistakes_are_named(draw, error, words):
    with pytest.raises(error, match=words):
        draw()


def test_selectors_of_different_metrics_are_not_drawn_together():
    fitted = {
        metric: selector(metric, prune="sweep", bags=1, max_steps=1)
        for metric in ("accuracy", "roc_area")
    }
    with pytest.raises(ValueError, match="`scores` must be of one metric, got .'ROC area', 'acc"):
        plotting.pruning(fitted)
