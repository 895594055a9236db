"""Learning curves continued: power laws, intervals, mistakes."""

import numpy as np
import pandas as pd
import pytest

from bnmtl.active import forecast
from bnmtl.errors import InputError, InputTypeError

pytestmark = pytest.mark.beside_kernels


def curves(power=0.7, noise=0.0, n_trials=6, n_test=50):
    rng = np.random.default_rng(0)
    rows = [
        (trial, n, n_test, 1.5 * n**-power * np.exp(noise * rng.normal()))
        for trial in range(n_trials)
        for n in (10, 20, 40, 80)
    ]
    return pd.DataFrame(rows, columns=["trial", "n_labels", "n_test", "error"])


def test_a_power_law_is_continued():
    found = forecast(curves(), 100, 50)
    assert found.now == pytest.approx(1.5 * 100**-0.7)
    assert found.then == pytest.approx(1.5 * 150**-0.7)
    assert found.fall == pytest.approx(found.now - found.then)
    assert found.low == pytest.approx(found.fall)
    assert found.high == pytest.approx(found.fall)


def test_the_interval_is_that_of_the_trials():
    wide, narrow = forecast(curves(noise=0.5), 100, 50), forecast(curves(noise=0.1), 100, 50)
    assert wide.low < wide.fall < wide.high
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    half = forecast(curves(noise=0.5), 100, 50, confidence=0.5)
    assert wide.low < half.low < half.high < wide.high
    assert forecast(curves(noise=0.5), 100, 50) == wide


def test_no_errors_are_half_an_error():
    none = curves().assign(error=0.0)
    assert forecast(none, 100, 50).now == pytest.approx(0.5 / (6 * 50))


def test_errors_do_not_exceed_one():
    assert forecast(curves(power=-0.5), 100, 5000).then == 1


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (curves(n_trials=1), (100, 50), "two trials"),
        (curves().query("n_labels == 10"), (100, 50), "two trials"),
        (curves(), (0, 50), "n_labels"),
        (curves(), (100, 0), "n_more"),
        (curves(), (100, 50, 1.0), "confidence"),
        (curves().assign(strategy=["a", "b"] * 12), (100, 50), "2 strategies, `a`, `b`: select"),
        (curves().assign(data=["a", "b"] * 12), (100, 50), "2 data sets"),
        (curves().drop(columns="trial"), (100, 50), "lacks the column `trial`"),
    ],
)
def test_mistakes_are_named(table, options, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        forecast(table, *options)
