"""Pictures of predictions show what their tables say."""

import io

import numpy as np
import pytest

from bnmtl import plotting
from bnmtl.calibration import IsotonicCalibrator, PlattCalibrator, reliability

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


def test_pictures_are_the_same_on_every_run():
    files = []
    for _ in range(2):
        file = io.BytesIO()
        plotting.reliability(Y, P).savefig(file, format="png")
        files.append(file.getvalue())
    assert files[0] == files[1]


def test_mistakes_are_named():
    with pytest.raises(TypeError, match="`calibrator` must have a method predict, .*; got list"):
        plotting.reliability(Y, P, calibrator=[])
    with pytest.raises(ValueError, match="`bins` must be a whole number"):
        plotting.reliability(Y, P, bins=0)
