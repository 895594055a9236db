"""Pictures of predictions show what their tables say."""

import io
import itertools

import numpy as np
import pandas as pd
import pytest
from pictures import assert_readable, texts

from bnmtl import plotting
from bnmtl.calibration import IsotonicCalibrator, PlattCalibrator, reliability

pytestmark = pytest.mark.beside_kernels

RNG = np.random.default_rng(0)
P = 0.1 + 0.8 * RNG.random(200)
Y = (RNG.random(200) < P).astype(int)


def test_points_bars_and_histogram_are_those_of_the_table():
    figure = plotting.reliability(Y, P, bins=7)
    axes, below = figure.axes
    table = reliability(Y, P, bins=7)
    (points,) = (line for line in axes.lines if line.get_marker() == "o")
    assert points.get_xdata().tolist() == table["mean_prediction"].tolist()
    assert points.get_ydata().tolist() == table["fraction_positive"].tolist()
    (bars,) = axes.collections
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert np.array(ends) == pytest.approx(table[["low", "high"]].to_numpy())
    assert [patch.get_height() for patch in below.patches] == table["count"].tolist()
    assert [patch.get_x() for patch in below.patches] == table["left"].tolist()
    assert "calibrated to" not in [line.get_label() for line in axes.lines]
    (diagonal,) = (line for line in axes.lines if line.get_label() == "as predicted")
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0, 1]


@pytest.mark.parametrize("calibrator", [PlattCalibrator(), IsotonicCalibrator()], ids=repr)
def test_the_curve_is_what_the_calibrator_predicts(calibrator):
    figure = plotting.reliability(Y, P, calibrator=calibrator.fit(P, Y))
    (curve,) = (line for line in figure.axes[0].lines if line.get_label() == "calibrated to")
    assert curve.get_ydata() == pytest.approx(calibrator.predict(curve.get_xdata()))
    assert curve.get_xdata()[0] == 0 and curve.get_xdata()[-1] == 1


BEFORE = 0.25 + P / 2
PREDICTIONS = {
    "boosted trees": {"before": BEFORE, "Platt": P, "isotonic": P**2},
    "naive Bayes": {"before": P**3, "Platt": P**0.8, "isotonic": P},
}


def named(figure):
    return {axes.get_label(): axes for axes in figure.axes}


def captions(axes):
    return axes.get_xlabel(), axes.get_ylabel()


def test_cells_of_the_panel_hold_what_tables_of_reliability_say():
    figure = plotting.calibration_panel(Y, PREDICTIONS, bins=5)
    axes = named(figure)
    assert len(axes) == 2 * 6 + 2
    for model, stages in PREDICTIONS.items():
        for stage, p in stages.items():
            table = reliability(Y, p, bins=5)
            cell, below = axes[f"reliability: {model}, {stage}"], axes[f"cases: {model}, {stage}"]
            points = next(line for line in cell.lines if line.get_marker() == "o")
            assert points.get_xdata().tolist() == table["mean_prediction"].tolist()
            assert points.get_ydata().tolist() == table["fraction_positive"].tolist()
            ends = [segment[:, 1] for segment in cell.collections[0].get_segments()]
            assert np.array(ends) == pytest.approx(table[["low", "high"]].to_numpy())
            heights = [patch.get_height() for patch in below.patches]
            assert heights == pytest.approx((table["count"] / 200).tolist())
            assert max(heights) <= below.get_ylim()[1] <= 1
            assert len(cell.lines) == 2
    (across,) = {one.get_xlim() for label, one in axes.items() if ": " in label}
    assert {one.get_ylim() for label, one in axes.items() if "reliability" in label} == {across}
    assert len({one.get_ylim() for label, one in axes.items() if "cases" in label}) == 1


def test_the_panel_is_a_grid_of_models_by_stages_with_headings():
    figure = plotting.calibration_panel(Y, PREDICTIONS)
    headings = [text.get_text() for text in named(figure)["headings"].texts]
    assert headings == ["boosted trees", "naive Bayes", "before", "Platt", "isotonic"]
    boxes = {label: axes.get_position() for label, axes in named(figure).items()}
    left = [boxes[f"reliability: boosted trees, {stage}"] for stage in ("before", "Platt")]
    right = boxes["reliability: naive Bayes, before"]
    assert left[0].x0 == left[1].x0 and left[0].y0 > left[1].y1
    assert right.y0 == left[0].y0 and right.x0 > left[0].x1
    below = boxes["cases: naive Bayes, before"]
    assert (below.x0, below.x1) == (right.x0, right.x1) and below.y1 < right.y0
    outer = named(figure)["reliability: boosted trees, Platt"]
    assert captions(outer) == ("", "share of positives")
    assert captions(named(figure)["cases: naive Bayes, isotonic"]) == ("predicted probability", "")
    assert_readable(figure)


def test_models_may_have_separate_test_cases_and_lack_stages():
    few = np.array([0, 1, 1]), np.array([0.2, 0.6, 0.7])
    predictions = {"few": {"isotonic": few[1]}, **PREDICTIONS}
    figure = plotting.calibration_panel(
        {"few": few[0], **dict.fromkeys(PREDICTIONS, pd.Series(Y))}, predictions, bins=4
    )
    axes = named(figure)
    assert [label for label in axes if "few" in label] == [
        "reliability: few, isotonic",
        "cases: few, isotonic",
    ]
    heights = [patch.get_height() for patch in axes["cases: few, isotonic"].patches]
    assert heights == pytest.approx([1 / 3, 2 / 3])
    headings = [text.get_text() for text in axes["headings"].texts]
    assert headings.count("\u2013") == 2
    assert [one for one in headings if one in PREDICTIONS["naive Bayes"]] == [
        *PREDICTIONS["naive Bayes"]
    ]
    # The captions of a row stand at its first cell.
    assert captions(axes["reliability: boosted trees, before"]) == ("", "share of positives")
    assert captions(axes["reliability: boosted trees, isotonic"]) == ("", "")
    same = plotting.calibration_panel(pd.Series(Y), PREDICTIONS)
    assert plotting.png(same) == plotting.png(plotting.calibration_panel(Y, PREDICTIONS))


def test_fitted_curves_are_in_the_first_row():
    fitted = {"Platt": PlattCalibrator().fit(P**3, Y), "isotonic": IsotonicCalibrator().fit(P, Y)}
    figure = plotting.calibration_panel(Y, PREDICTIONS, calibrators={"naive Bayes": fitted})
    axes = named(figure)
    for label, one in axes.items():
        curves = {line.get_label(): line for line in one.lines if line.get_label() in fitted}
        assert set(curves) == set(fitted if label == "reliability: naive Bayes, before" else ())
        for name, line in curves.items():
            assert line.get_ydata() == pytest.approx(fitted[name].predict(line.get_xdata()))
    colors = [line.get_color() for line in axes["reliability: naive Bayes, before"].lines]
    assert len(set(colors)) == len(colors) == 4
    assert texts(figure)[-4:] == [
        "as predicted",
        "observed, with 95 % interval",
        "fitted: Platt",
        "fitted: isotonic",
    ]
    samples = [line for line in axes["legend"].lines if len(line.get_xdata()) == 2]
    assert [line.get_color() for line in samples[-2:]] == colors[-2:]


def test_names_are_written_as_they_are():
    names = ["$a$ b", "one name that is so long that it needs several lines", "m" * 60, ""]
    figure = plotting.calibration_panel(Y, {name: {"x" * 40: P, "$b$": P} for name in names})
    assert "$a$ b" in texts(figure) and "one name that is so" in texts(figure)
    assert_readable(figure)
    figure.draw_without_rendering()


def curves_table():
    rows = [
        (model, method, size, draw, RNG.random())
        for model in ("SVM", "trees")
        for method in ("Platt", "isotonic", "uncalibrated")
        for size in (32, 64, 128, 4096)
        for draw in range(5)
    ]
    return pd.DataFrame(rows, columns=["model", "method", "size", "draw", "value"])


def check_curves(axes, table):
    for line in axes.lines:
        values = table[table["method"] == line.get_label()].groupby("size")["value"]
        assert line.get_xdata().tolist() == [32, 64, 128, 4096]
        assert line.get_ydata() == pytest.approx(values.mean())
    names = [line.get_label() for line in axes.lines]
    assert names == ["Platt", "isotonic", "uncalibrated"]
    assert len(axes.collections) == 2
    for name, bars in zip(names, axes.collections, strict=False):
        values = table[table["method"] == name].groupby("size")["value"]
        half = values.std() / np.sqrt(values.count())
        ends = [segment[:, 1] for segment in bars.get_segments()]
        expected = np.column_stack([values.mean() - half, values.mean() + half])
        assert np.array(ends) == pytest.approx(expected)
    assert axes.lines[2].get_linestyle() == "--"
    for getter in ("get_color", "get_marker"):
        assert len({getattr(line, getter)() for line in axes.lines}) == 3


def test_learning_curves_are_means_with_standard_errors():
    table = curves_table()
    axes, legend = plotting.learning_curves(table).axes
    check_curves(axes, table)
    assert axes.get_xscale() == "log" and axes.get_ylabel() == "root mean squared error"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["32", "64", "128", "4096"]
    assert [text.get_text() for text in legend.texts] == ["Platt", "isotonic", "uncalibrated"]


@pytest.mark.parametrize(("n", "across"), [(1, 1), (2, 2), (3, 3), (4, 2), (7, 3)])
def test_each_model_has_a_panel(n, across):
    table = pd.concat([curves_table().assign(model=f"model {i}") for i in range(n)])
    figure = plotting.learning_curves(table, by="model", ylabel="$ error")
    *panels, legend = figure.axes
    assert [axes.get_title() for axes in panels] == [f"model {i}" for i in range(n)]
    for axes, (_, part) in zip(panels, table.groupby("model"), strict=True):
        check_curves(axes, part)
    figure.draw_without_rendering()
    assert len({round(axes.get_position().x0, 6) for axes in panels}) == across
    assert panels[0].get_ylabel() == "$ error"
    assert min(axes.get_tightbbox().y0 for axes in panels) > legend.get_window_extent().y1
    assert sum(axes.get_xlabel() == "calibration cases" for axes in panels) == min(n, across)


def test_a_draw_by_itself_has_no_bars_and_methods_keep_their_marks():
    table = curves_table()
    axes, _ = plotting.learning_curves(table[table["draw"] == 0].iloc[:4]).axes
    ends = np.array([segment[:, 1] for segment in axes.collections[0].get_segments()])
    assert (ends[:, 0] == ends[:, 1]).all()
    lacking = table[(table["model"] == "trees") | (table["method"] != "Platt")]
    first, second, _ = plotting.learning_curves(lacking, by="model").axes
    marks = [
        {line.get_label(): (line.get_color(), line.get_marker()) for line in one.lines}
        for one in (first, second)
    ]
    assert "Platt" not in marks[0] and marks[0].items() <= marks[1].items()


def test_sizes_are_written_where_there_is_room():
    sizes = [2**power for power in range(5, 14)]
    table = pd.DataFrame({"method": "Platt", "size": sizes, "value": 0.5})
    table = pd.concat([table.assign(model=name) for name in "ab"])
    for drawn, n_written in ((plotting.learning_curves(table), 9), (None, 5)):
        figure = drawn or plotting.learning_curves(table, by="model")
        figure.draw_without_rendering()
        labels = [label for label in figure.axes[0].get_xticklabels() if label.get_text()]
        assert len(labels) == n_written and labels[-1].get_text() == "8192"
        extents = [label.get_window_extent() for label in labels]
        gaps = [b.x0 - a.x1 for a, b in itertools.pairwise(extents)]
        assert min(gaps) > 2


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plotting.reliability(Y, P),
        lambda: plotting.calibration_panel(Y, PREDICTIONS),
        lambda: plotting.learning_curves(TABLE, by="model"),
    ],
)
def test_pictures_are_the_same_on_every_run(draw):
    files = []
    for _ in range(2):
        file = io.BytesIO()
        draw().savefig(file, format="png")
        files.append(file.getvalue())
    assert files[0] == files[1]


TABLE = curves_table()


def test_mistakes_are_named():
    with pytest.raises(TypeError, match="`calibrator` must have a method predict, .*, got list"):
        plotting.reliability(Y, P, calibrator=[])
    with pytest.raises(ValueError, match="`bins` must be a whole number"):
        plotting.reliability(Y, P, bins=0)


def panel(y=Y, predictions=PREDICTIONS, **options):
    return plotting.calibration_panel(y, predictions, **options)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: panel(predictions=P), TypeError, "`predictions` must map models to mappings, .*"),
        (
            lambda: panel(predictions={"SVM": P}),
            TypeError,
            r"`predictions\['SVM'\]` must be a mapping, as in .*, got ndarray",
        ),
        (lambda: panel(predictions={}), ValueError, "`predictions` must hold a model with a stage"),
        (
            lambda: panel(predictions={"SVM": {}}),
            ValueError,
            "`predictions` must hold a model with a stage; there is none",
        ),
        (
            lambda: panel(predictions={"SVM": {"before": 3 * P}}),
            ValueError,
            r"`predictions\['SVM'\]\['before'\]` must be probabilities from 0 to 1",
        ),
        (
            lambda: panel({"naive Bayes": Y}),
            ValueError,
            "`y` must hold labels for every model; there are none of 'boosted trees'",
        ),
        (
            lambda: panel({"naive Bayes": Y, "boosted trees": Y[:9]}),
            ValueError,
            r"`predictions\['boosted trees'\]\['before'\]` must be .*, 9 as in `y\['boosted trees'",
        ),
        (
            lambda: panel(calibrators={"SVM": {"Platt": PlattCalibrator()}}),
            ValueError,
            "`calibrators` must be of models that have predictions of the first stage, 'before'; ",
        ),
        (
            lambda: panel(calibrators={"naive Bayes": {"Platt": "sigmoid"}}),
            TypeError,
            r"`calibrators\['naive Bayes'\]\['Platt'\]` must have a method predict, .*, got str",
        ),
        (lambda: panel(calibrators=[]), TypeError, "`calibrators` must map models to mappings"),
        (lambda: panel(bins=0), ValueError, "`bins` must be a whole number"),
        (
            lambda: plotting.learning_curves([1]),
            TypeError,
            "`table` must be a DataFrame of `bnmtl.calibration.learning_curve`, got list",
        ),
        (
            lambda: plotting.learning_curves(TABLE[:0]),
            TypeError,
            "`table` must .* got an empty",
        ),
        (
            lambda: plotting.learning_curves(TABLE.drop(columns="size")),
            ValueError,
            "`table` must be a DataFrame with columns `method`, `size`, .*; 'size' is missing",
        ),
        (
            lambda: plotting.learning_curves(TABLE, ylabel=None),
            TypeError,
            "`ylabel` must be a text .*, got None",
        ),
        (
            lambda: plotting.learning_curves(TABLE, by="problem"),
            ValueError,
            "`by` must be a column of `table`, one of `model`, `method`, .*, got 'problem'",
        ),
    ],
)
def test_mistakes_in_panels_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_learning_curves_of_an_unknown_panel_are_drawn_and_what_is_not_a_number_is_refused():
    sizes, values = [32, 32, 64, 64], [0.5, 0.4, 0.4, 0.3]
    table = pd.DataFrame({"method": "Platt", "size": sizes, "value": values})
    panels = plotting.learning_curves(table.assign(of=[None, None, "a", "a"]), by="of").axes
    assert len([axes for axes in panels if axes.get_label().startswith("learning")]) == 2
    for wrong, by, words in (
        ({"value": "much"}, None, "column `value` must hold a number in every row"),
        ({"size": [32, None, 64, 64]}, None, "column `size` must hold a number in every row"),
        ({"size": 0}, None, "column `size` must be 1 or more, got 0"),
        ({"of": "a"}, ["of"], "`by` must be a column of `table`"),
    ):
        with pytest.raises(ValueError, match=words):
            plotting.learning_curves(table.assign(**wrong), by=by)


def test_reliability_of_several_classes():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 90)
    names = np.array(["high", "low", "a name <b>"])
    y = names[[rng.choice(3, p=one) for one in p]]
    figure = plotting.reliability(y, p, bins=4, classes=names)
    labels = [axes.get_label() for axes in figure.axes]
    assert labels[::2] == [f"reliability: {name}" for name in names]
    for name, axes, below in zip(names, figure.axes[::2], figure.axes[1::2], strict=True):
        table = reliability(y, p, 4, names)
        table = table[table["class"] == name]
        (points,) = [bar[0] for bar in axes.containers]
        assert points.get_ydata().tolist() == table["fraction_positive"].tolist()
        assert axes.get_title() == name
        assert sum(bar.get_height() for bar in below.patches) == 90
    (one, below) = plotting.reliability(y, p, classes=names, by="confidence").axes
    assert one.get_ylabel() == "share that is right"
    assert below.get_xlabel() == "probability of the most probable class"
    assert len(plotting.reliability(np.arange(6), np.eye(6)).axes) == 12
    fitted = PlattCalibrator().fit([0.0, 1.0], [0, 1])
    with pytest.raises(ValueError, match="`calibrator` must be left out for probabilities of sev"):
        plotting.reliability(y, p, classes=names, calibrator=fitted)
