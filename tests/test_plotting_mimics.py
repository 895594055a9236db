"""The picture of mimics says what their tables say."""

import io

import numpy as np
import pandas as pd
import pytest
from pictures import assert_readable, texts
from sklearn.linear_model import LinearRegression, LogisticRegression

from bnmtl import plotting
from bnmtl.ensembles import Mimic

pytestmark = pytest.mark.beside_kernels

SIZES = [4000, 10_000, 25_000, 50_000, 100_000, 200_000, 400_000]


def curve(level=0.1, n_trials=3):
    rng = np.random.default_rng(0)
    rows = [
        (size, level + 0.1 * rng.random(), trial) for size in SIZES for trial in range(n_trials)
    ]
    return pd.DataFrame(rows, columns=["size", "error", "trial"])


def drawn(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_points_are_means_with_standard_errors_and_lines_are_horizontal():
    curves, lines = {"Munge": curve(), "marginal": curve(0.3)}, {"teacher": 0.05, "net": 0.2}
    figure = plotting.mimic_curve(curves, "error", lines)
    axes, _ = figure.axes
    found = drawn(axes)
    assert list(found) == ["Munge", "marginal", "teacher", "net"]
    for name, table in curves.items():
        by_size = table.groupby("size")["error"]
        assert found[name].get_xdata().tolist() == SIZES
        assert found[name].get_ydata() == pytest.approx(by_size.mean().to_numpy())
    for bars, table in zip(axes.collections, curves.values(), strict=True):
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        errors = table.groupby("size")["error"].sem()
        assert np.diff(ends)[:, 0] == pytest.approx(2 * errors.to_numpy())
    for name, height in lines.items():
        assert set(found[name].get_ydata()) == {height}
    looks = {
        (line.get_color(), str(line.get_linestyle()), line.get_marker()) for line in axes.lines
    }
    assert len(looks) == 4
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        *("4k", "10k", "25k", "50k", "100k", "200k", "400k")
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("pseudo-cases", "error")
    assert texts(figure) == ["Munge", "marginal", "teacher", "net"]
    assert_readable(figure)


def test_a_mimic_and_its_table_give_the_same_picture():
    X = np.random.default_rng(0).normal(size=(100, 2))
    teacher = LogisticRegression().fit(X, X[:, 0] > 0)
    mimic = Mimic(teacher, LinearRegression(), sizes=(50, 150), random_state=0).fit(X)
    files = []
    for one in (mimic, mimic.learning_curve_, {"mimic": mimic}):
        figure, file = plotting.mimic_curve(one), io.BytesIO()
        figure.savefig(file, format="png")
        files.append(file.getvalue())
    assert files[0] == files[1] == files[2]
    (line,) = drawn(figure.axes[0]).values()
    (ring,) = [one for one in figure.axes[0].lines if one.get_label() == "_chosen"]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (mimic.size_, mimic.fidelity_)
    assert line.get_ydata().min() == mimic.fidelity_ and texts(figure) == ["mimic", "chosen size"]
    (ring,) = [
        one
        for one in plotting.mimic_curve(mimic, "seconds").axes[0].lines
        if one.get_label() == "_chosen"
    ]
    assert ring.get_xdata()[0] == mimic.size_
    assert_readable(figure)
    assert figure.axes[0].get_ylabel() == "squared difference from the teacher"
    assert plotting.mimic_curve(mimic, ylabel="$ error").axes[0].get_ylabel() == "$ error"


def test_sizes_are_written_where_there_is_room():
    sizes = [*range(1000, 1100, 10), 2000]
    axes, _ = plotting.mimic_curve(pd.DataFrame({"size": sizes, "fidelity": 0.1})).axes
    written = [text.get_text() for text in axes.get_xticklabels() if text.get_text()]
    assert written == ["1k", "1090", "2k"]
    figure = plotting.mimic_curve(pd.DataFrame({"size": [250], "fidelity": [0.1]}))
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["250"]


def test_many_and_long_names_are_readable():
    curves = {f"a sampler with the long name number {at}": curve(at / 10) for at in range(8)}
    assert_readable(plotting.mimic_curve(curves, "error", {"the teacher " * 4: 0.1}))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([1],), TypeError, "`curves` must be a fitted Mimic or .*, got list"),
        ((Mimic(LogisticRegression()),), TypeError, "`curves` must be a fitted Mimic"),
        (({},), ValueError, "`curves` must hold a curve"),
        ((curve()[:0], "error"), ValueError, "`curves` must have rows; `mimic` is empty"),
        ((curve(),), ValueError, "`curves` must be a DataFrame with .*'fidelity' is missing"),
        ((curve().assign(error="x"), "error"), ValueError, "column `error` must hold a finite"),
        ((curve().assign(error=np.nan), "error"), ValueError, "column `error` must hold a finite"),
        ((curve().assign(size=0), "error"), ValueError, "column `size` must be 1 or more"),
        ((curve(), 3), TypeError, "`value` must be"),
        ((curve(), "error", [0.1]), TypeError, "`lines` must map names to numbers, got list"),
        ((curve(), "error", {"net": "x"}), TypeError, r"`lines\['net'\]` must be a number"),
        ((curve(), "error", {"net": np.nan}), ValueError, r"`lines\['net'\]` must be a number"),
        ((curve(), "error", None, 3), TypeError, "`ylabel` must be"),
    ],
)
def test_mistakes_are_named(arguments, error, words):
    with pytest.raises(error, match=words):
        plotting.mimic_curve(*arguments)
