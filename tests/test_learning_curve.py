"""Learning curves of calibrators: values by hand, and what they must not depend on."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from bnmtl.calibration import IsotonicCalibrator, PlattCalibrator, learning_curve
from bnmtl.errors import InputError, InputWarning
from bnmtl.metrics.prediction import brier_score, cross_entropy, root_mean_squared_error

pytestmark = pytest.mark.beside_kernels

RNG = np.random.default_rng(0)
TRUE = RNG.random(1200)
Y, SCORES = (RNG.random(1200) < TRUE).astype(int), 0.3 + 0.4 * TRUE
CASES = (SCORES[:500], Y[:500])
TEST = (SCORES[500:], Y[500:])


def curve(*cases, sizes=(20, 100, 400), n_draws=4, random_state=0, **options):
    options |= {"sizes": sizes, "n_draws": n_draws, "random_state": random_state}
    return learning_curve(*(cases or CASES), *TEST, **options)


def test_all_cases_at_once_are_all_that_there_is():
    """The one set of that size is that of all cases, whatever the draw."""
    table = curve(sizes=[500], n_draws=3).set_index(["method", "draw"])
    expected = {
        "Platt": PlattCalibrator().fit(*CASES).predict(TEST[0]),
        "isotonic": IsotonicCalibrator().fit(*CASES).predict(TEST[0]),
        "uncalibrated": TEST[0],
    }
    for method, p in expected.items():
        value = root_mean_squared_error(TEST[1], p)
        assert table.loc[method, "value"].tolist() == pytest.approx([value] * 3)
    assert set(table["size"]) == {500}


SEEN = []


class Shares:
    """A calibrator that tells how many cases of each class it was fitted to, and which."""

    def fit(self, scores, y):
        SEEN.append((sorted(scores), y.sum()))
        self.share = y.mean()

    def predict(self, scores):
        return np.full(len(scores), self.share)


def test_values_by_hand():
    """Of two cases that differ, the share of positives is a half: |y - 1/2| is 1/2 for each."""
    table = learning_curve(
        [3.0, 4.0], [0, 1], [1.0, 2.0, 3.0], [1, 1, 0], {"share": Shares()}, [2], 2
    )
    expected = {"method": ["share"] * 2, "size": [2, 2], "draw": [0, 1], "value": [0.5, 0.5]}
    assert_frame_equal(table, pd.DataFrame(expected), check_dtype=False)


def test_larger_sets_hold_the_smaller_ones_of_their_draw():
    SEEN.clear()
    table = curve(sizes=[400, 5, 50], n_draws=3, calibrators={"share": Shares()})
    sets = [set(scores) for scores, _ in SEEN]
    assert [len(seen) for seen in sets] == [5, 50, 400] * 3
    for small, middle, large in zip(sets[::3], sets[1::3], sets[2::3], strict=True):
        assert small < middle < large
    assert len({min(seen) for seen in sets[::3]}) > 1
    for (_, n_positive), (_, row) in zip(
        SEEN,
        table[table["method"] == "share"].sort_values(["draw", "size"]).iterrows(),
        strict=True,
    ):
        share = n_positive / row["size"]
        assert row["value"] == pytest.approx(np.sqrt(np.mean((TEST[1] - share) ** 2)))


def test_every_set_holds_both_classes():
    """One positive of 100: 95 of 100 orders have none among the first five, and are not taken."""
    SEEN.clear()
    y = (np.arange(100) == 7).astype(int)
    curve(SCORES[:100], y, sizes=[5, 10], n_draws=20, calibrators={"share": Shares()})
    assert [n_positive for _, n_positive in SEEN] == [1] * 40


def test_one_more_size_draw_or_calibrator_changes_nothing_else():
    table = curve()
    more = curve(sizes=(20, 50, 100, 400, 500), n_draws=7)
    subset = more[more["size"].isin([20, 100, 400]) & (more["draw"] < 4)]
    assert_frame_equal(subset.reset_index(drop=True), table)
    platt, isotonic = PlattCalibrator(), IsotonicCalibrator()
    one = curve(calibrators={"Platt": platt})
    assert_frame_equal(one, table[table["method"] != "isotonic"].reset_index(drop=True))
    other = curve(calibrators={"isotonic": isotonic, "Platt": platt}, sizes=(400, 20, 100, 20))
    assert_frame_equal(other, table)
    assert not hasattr(platt, "a_")


def test_the_order_of_the_cases_does_not_matter():
    order = np.random.default_rng(1).permutation(500)
    assert_frame_equal(curve(*(array[order] for array in CASES)), curve())
    # Equal scores, which differ in their labels only.
    scores = np.round(CASES[0], 1)
    assert_frame_equal(curve(scores[order], CASES[1][order]), curve(scores, CASES[1]))


@pytest.mark.parametrize("names", [np.arange(500) // 20, [f"site {at % 25}" for at in range(500)]])
def test_draws_are_of_whole_groups(names):
    """Cases of the same group follow each other: all but one of the groups of a set are whole."""
    names, scores = np.array(names), np.sort(CASES[0])
    group_of = dict(zip(scores.tolist(), names.tolist(), strict=True))
    SEEN.clear()
    options = {"sizes": [30, 100], "n_draws": 6, "calibrators": {"share": Shares()}}
    table = curve(scores, CASES[1], groups=names, **options)
    seen = [pd.Series([group_of[one] for one in used]).value_counts() for used, _ in SEEN]
    for at, counts in enumerate(seen):
        assert len(counts) == (5 if at % 2 else 2) and (counts == 20).sum() == (5 if at % 2 else 1)
    assert len({tuple(sorted(counts.index)) for counts in seen[::2]}) > 3
    order = np.random.default_rng(1).permutation(500)
    moved = curve(scores[order], CASES[1][order], groups=names[order], **options)
    assert_frame_equal(moved, table)


def test_groups_must_leave_both_classes():
    words = "`groups` must leave cases of both classes among the first 20 of whole groups"
    with pytest.raises(InputError, match=words):
        curve(*CASES, groups=CASES[1], sizes=[20, 400])
    assert len(curve(*CASES, groups=CASES[1], sizes=[400], n_draws=2)) == 6
    with pytest.raises(InputError, match="`groups` must be one name per case, 500, got 3"):
        curve(*CASES, groups=[1, 2, 3])


def test_random_states():
    assert_frame_equal(curve(random_state=3), curve(random_state=3))
    assert not curve(random_state=3).equals(curve(random_state=4))
    assert not curve(random_state=None).equals(curve(random_state=None))
    rng = np.random.default_rng(3)
    first, second = curve(random_state=rng), curve(random_state=rng)
    assert_frame_equal(first, curve(random_state=np.random.default_rng(3)))
    assert not first.equals(second)
    draws = first[first["method"] == "Platt"].groupby("draw")["value"].apply(tuple)
    assert draws.nunique() == 4


def test_sizes_double_as_far_as_there_are_cases():
    assert curve(sizes=None)["size"].unique().tolist() == [32, 64, 128, 256]
    n = 9000
    many = learning_curve(TRUE[np.arange(n) % 1200], Y[np.arange(n) % 1200], *TEST, n_draws=1)
    assert many["size"].unique().tolist() == [2**power for power in range(5, 14)]
    exact = curve(*(array[:64] for array in CASES), sizes=None)
    assert exact["size"].unique().tolist() == [32, 64]


def test_scores_out_of_range_have_no_row_by_themselves():
    assert curve()["method"].unique().tolist() == ["Platt", "isotonic", "uncalibrated"]
    for cases, test in [
        ((CASES[0] + 0.5, CASES[1]), TEST),
        (CASES, (TEST[0] - 0.5, TEST[1])),
    ]:
        table = learning_curve(*cases, *test, sizes=[50], n_draws=1)
        assert table["method"].tolist() == ["Platt", "isotonic"]


def test_other_metrics():
    table = curve(metric=brier_score, sizes=[500], n_draws=1).set_index("method")["value"]
    expected = brier_score(TEST[1], PlattCalibrator().fit(*CASES).predict(TEST[0]))
    assert table["Platt"] == pytest.approx(expected)
    assert table["uncalibrated"] == pytest.approx(brier_score(TEST[1], TEST[0]))


def test_warnings_of_the_metric_are_reported_once():
    """Isotonic regression is sure of the lowest and highest scores of few cases."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curve(metric=cross_entropy, sizes=[32, 64])
    (one,) = caught
    assert re.fullmatch(
        r"`metric` warned 8 times, first of all: \d+ of \d+ probabilities are "
        r"closer to 0 or 1 than 2.2e-16 and count as that near\.",
        str(one.message),
    )
    assert one.filename == __file__


def test_other_warnings_are_passed_on():
    def old(y, p):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        if p[0] == TEST[0][0]:  # the scores themselves, which are measured once
            warnings.warn("odd", UserWarning, stacklevel=1)
        return 0.5

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curve(metric=old, sizes=[32], n_draws=3)
    kinds = [one.category for one in caught]
    assert kinds == [DeprecationWarning] * 7 + [InputWarning]
    assert str(caught[-1].message) == "`metric` warned 1 time, first of all: odd."


def test_few_cases_are_for_platt_and_many_for_isotonic():
    """A sigmoid cannot have the right shape here; isotonic regression has it with enough cases."""
    rng = np.random.default_rng(0)
    scores = rng.random(12_000)
    y = rng.random(12_000) < np.where(scores < 0.5, 0.1, np.where(scores < 0.9, 0.4, 0.95))
    table = learning_curve(
        scores[:5000], y[:5000], scores[5000:], y[5000:], sizes=[32, 4096], random_state=0
    )
    error = table.groupby(["method", "size"])["value"].mean()
    assert error["Platt", 32] < error["isotonic", 32] - 0.004
    assert error["isotonic", 4096] < error["Platt", 4096] - 0.005


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: curve(SCORES, Y[:9]), ValueError, "`scores` must be one number per case, 9"),
        (lambda: curve(SCORES, Y + 1), ValueError, "`y` must be 0 or 1"),
        (
            lambda: learning_curve(*CASES, TEST[0], TEST[1][:9]),
            ValueError,
            "`test_scores` must be one number per case, 9 as in `test_y`",
        ),
        (
            lambda: curve(SCORES[:9], np.ones(9), sizes=[4]),
            ValueError,
            "`y` must hold cases of both classes, 0 and 1, got only one class, 1.0",
        ),
        (
            lambda: curve(sizes=[32, 501]),
            ValueError,
            "`sizes` must be a whole number from 2 to 500, got 501; use no more than",
        ),
        (lambda: curve(sizes=[1, 32]), ValueError, "`sizes` must be .* from 2 to 500, got 1"),
        (lambda: curve(sizes=[]), ValueError, r"`sizes` must hold at least one number, got \[\]"),
        (lambda: curve(sizes=[32.0]), ValueError, "`sizes` must be a whole number .* got 32.0"),
        (
            lambda: curve(*(array[:31] for array in CASES), sizes=None),
            ValueError,
            "`scores` must be of 32 calibration cases or more, got 31; name smaller `sizes`",
        ),
        (lambda: curve(n_draws=0), ValueError, "`n_draws` must be a whole number of at least 1"),
        (
            lambda: curve(calibrators={"uncalibrated": PlattCalibrator()}),
            ValueError,
            "`calibrators` must not have the name .* got 'uncalibrated'; choose",
        ),
        (lambda: curve(calibrators={3: PlattCalibrator()}), TypeError, "must have str.* got 3"),
        (lambda: curve(calibrators={}), TypeError, "`calibrators` must map names to calibrators"),
        (
            lambda: curve(calibrators=[PlattCalibrator()]),
            TypeError,
            "`calibrators` must map names to calibrators, at least one",
        ),
        (
            lambda: curve(calibrators={"Platt": PlattCalibrator}),
            TypeError,
            "`calibrators` must be objects with fit and predict; 'Platt' is <class",
        ),
        (
            lambda: curve(metric="auc"),
            ValueError,
            "`metric` must be 'accuracy', .* got 'auc'; name a",
        ),
        (
            lambda: curve(metric=lambda y, p: None),
            TypeError,
            "`metric` must return one number, got None",
        ),
        (
            lambda: curve(random_state="x"),
            TypeError,
            "`random_state` must be None, an int, a numpy.random.Generator or .* got str",
        ),
        (lambda: curve(random_state=True), TypeError, "`random_state` .* got bool"),
        (lambda: curve(random_state=-1), ValueError, "a whole number of at least 0, got -1"),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
