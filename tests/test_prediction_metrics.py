"""Metrics of predictions: definitions by enumeration, laws of ties and weights, scikit-learn."""

import warnings
from functools import partial

import naive
import numpy as np
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from bnmtl.calibration import reliability
from bnmtl.errors import InputError
from bnmtl.metrics import prediction
from bnmtl.metrics.cases import predicted_classes
from bnmtl.metrics.prediction import (
    accuracy,
    average_precision,
    break_even_point,
    brier_score,
    calibration_error,
    cross_entropy,
    eleven_point_average_precision,
    f_score,
    jensen_shannon,
    lift,
    lift_chart_area,
    normalized_score,
    roc_area,
    root_mean_squared_error,
    squared_error,
)

pytestmark = pytest.mark.beside_kernels

OF_CASES = {
    "accuracy": accuracy,
    "f_score": f_score,
    "lift": lift,
    "lift of 0.1": partial(lift, fraction=0.1),
    "roc_area": roc_area,
    "average_precision": average_precision,
    "eleven_point": eleven_point_average_precision,
    "break_even_point": break_even_point,
    "rmse": root_mean_squared_error,
    "brier_score": brier_score,
    "cross_entropy": partial(cross_entropy, eps=0.01),
    "windows": partial(calibration_error, window=3),
    "debiased": partial(calibration_error, method="debiased", bins=3),
    "uniform": partial(calibration_error, method="uniform", bins=3),
    "quantile": partial(calibration_error, method="quantile", bins=3),
}
every_metric = pytest.mark.parametrize("metric", OF_CASES.values(), ids=list(OF_CASES))


@pytest.fixture(autouse=True)
def no_word_of_clipping():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*count as that near")
        yield


@st.composite
def cases(draw, most=7, both=True):
    """Labels of both classes, and probabilities in fifths, so that ties are common."""
    n = draw(st.integers(2, most))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    if both:
        y[:2] = [0, 1]
    p = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    return np.array(y), np.array(p) / 5


def untied(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.permutation(n) / n
    return (rng.random(n) < p).astype(int), p


@every_metric
@settings(max_examples=examples(25))
@given(cases(), st.randoms())
def test_the_order_of_the_cases_does_not_matter(metric, drawn, random):
    y, p = drawn
    order = list(range(len(y)))
    random.shuffle(order)
    assert metric(y[order], p[order]) == pytest.approx(metric(y, p), abs=1e-12)


@every_metric
@settings(max_examples=examples(25))
@given(cases(), st.data())
def test_a_weight_is_how_often_a_case_counts(metric, drawn, data):
    y, p = drawn
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y)))
    weights[:2] = [max(1, weights[0]), max(1, weights[1])]
    expected = metric(np.repeat(y, weights), np.repeat(p, weights))
    assert metric(y, p, weights=weights) == pytest.approx(expected, abs=1e-9)


ENUMERATED = {
    lift: lambda ranked: (
        naive.positives_among_first(ranked, len(ranked) / 4) / (len(ranked) / 4) / ranked.mean()
    ),
    break_even_point: lambda ranked: (
        naive.positives_among_first(ranked, ranked.sum()) / ranked.sum()
    ),
    average_precision: lambda ranked: np.mean(
        [ranked[: i + 1].mean() for i in np.flatnonzero(ranked)]
    ),
    roc_area: lambda ranked: np.mean(
        [i < j for i in np.flatnonzero(ranked) for j in np.flatnonzero(ranked == 0)]
    ),
}


@pytest.mark.parametrize("metric", ENUMERATED, ids=lambda metric: metric.__name__)
@settings(max_examples=examples(25), deadline=None)
@given(cases(most=6))
def test_tied_cases_count_as_the_mean_of_all_orders(metric, drawn):
    y, p = drawn
    expected = np.mean([ENUMERATED[metric](ranked) for ranked in naive.ranked_labels(y, p)])
    assert metric(y, p) == pytest.approx(expected, abs=1e-9)


def test_without_ties_scikit_learn_says_the_same():
    y, p = untied(200)
    assert roc_area(y, p) == pytest.approx(sklearn_metrics.roc_auc_score(y, p))
    expected = sklearn_metrics.average_precision_score(y, p)
    assert average_precision(y, p) == pytest.approx(expected)
    assert brier_score(y, p) == pytest.approx(sklearn_metrics.brier_score_loss(y, p))
    inner = np.clip(p, 0.001, 0.999)
    assert cross_entropy(y, inner) == pytest.approx(sklearn_metrics.log_loss(y, inner))
    assert f_score(y, p) == pytest.approx(sklearn_metrics.f1_score(y, p >= 0.5))
    assert accuracy(y, p) == pytest.approx(sklearn_metrics.accuracy_score(y, p >= 0.5))
    weights = np.random.default_rng(1).random(200)
    expected = sklearn_metrics.roc_auc_score(y, p, sample_weight=weights)
    assert roc_area(y, p, weights=weights) == pytest.approx(expected)


def test_where_scikit_learn_breaks_ties_otherwise():
    """There tied cases are one threshold; their mean over all orders is higher, or lower."""
    y, p = [1, 0, 0], [0.5, 0.5, 0.5]
    assert average_precision(y, p) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert sklearn_metrics.average_precision_score(y, p) == pytest.approx(1 / 3)


def test_eleven_points_by_hand():
    y, p = np.array([1, 0, 1, 1, 0]), np.array([0.9, 0.8, 0.7, 0.7, 0.1])
    # Thresholds: recall 1/3 at precision 1, 1/3 at 1/2, 1 at 3/4.
    assert eleven_point_average_precision(y, p) == pytest.approx((4 * 1 + 7 * 0.75) / 11)
    y, p = np.array([1, 1, 1, 0] + [0] * 6 + [1] * 7), -np.arange(17) / 17
    # A recall of 3 / 10 is reached with precision 1.
    assert eleven_point_average_precision(y, p) == pytest.approx((4 * 1 + 7 * 10 / 17) / 11)


@settings(max_examples=examples(60), deadline=None)
@given(cases(most=24))
def test_eleven_points_of_a_naive_twin(drawn):
    y, p = drawn
    expected = float(sum(naive.eleven_precisions(y, p)) / 11)
    assert eleven_point_average_precision(y, p) == pytest.approx(expected, abs=1e-12)


def test_weights_may_be_any_numbers():
    # The sum that defines average precision has no jump where weights sum to 1.
    for y, share in ([1, 0], 0.5), ([1, 0, 1, 0, 0, 0, 0, 0, 1, 0], 0.1):
        p = [0.5] * len(y)
        steps = [-1e-4, -1.1e-5, -0.9e-5, -1e-12, 0, 1e-12, 0.9e-5, 1.1e-5, 1e-4]
        found = [average_precision(y, p, np.full(len(y), share + step)) for step in steps]
        assert np.abs(np.diff(found)).max() < 2e-4
        slopes = np.diff(found)[[0, -1]] / np.diff(steps)[[0, -1]]
        assert slopes[0] == pytest.approx(slopes[1], rel=1e-2)
        assert found[4] == pytest.approx((found[2] + found[6]) / 2, abs=1e-9)
    # Sums in another order may be a little less.
    n = 100_000
    assert eleven_point_average_precision(np.ones(n), np.arange(n), np.full(n, 0.3)) == 1


def test_windows_by_hand():
    y, p = untied(250)
    order = np.argsort(p)
    expected = np.mean(
        [
            abs(p[order][at : at + 100].mean() - y[order][at : at + 100].mean())
            for at in range(len(y) - 99)
        ]
    )
    assert calibration_error(y, p) == pytest.approx(expected)
    assert calibration_error(y[:50], p[:50]) == pytest.approx(abs(p[:50].mean() - y[:50].mean()))


def test_debiased_is_near_the_truth_where_the_plain_one_is_not():
    """The true distance is 0 or 0.1; the plain one over bins is never 0."""
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.1):
        found = []
        for _ in range(200):
            p = rng.uniform(0.2, 0.8, 300)
            y = rng.random(300) < p + shift
            found.append(calibration_error(y, p, method="debiased", bins=10) ** 2)
        # The square is without bias except for the cut at 0.
        assert np.mean(found) == pytest.approx(shift**2, abs=0.002)


def test_lift_charts():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 400), rng.random((400, 3))
    p /= p.sum(axis=1, keepdims=True)
    assert lift_chart_area(y, p) == pytest.approx(1, abs=0.15)
    areas = []
    for k in range(3):
        lifts = [lift(y == k, p[:, k], fraction=alpha) for alpha in np.arange(1, 21) / 20]
        highest = (y[p[:, k].argmax()] == k) / (y == k).mean()
        areas.append(np.trapezoid([highest, *lifts], dx=0.05))
    shares = np.bincount(y) / 400
    assert lift_chart_area(y, p) == pytest.approx(shares @ areas)
    assert lift_chart_area(y, p, class_prior=[0, 0, 2]) == pytest.approx(areas[2])
    kept = y != 1
    without = lift_chart_area(y[kept], p[kept], class_prior=[1, 5, 1])
    assert without == pytest.approx(lift_chart_area(y[kept], p[kept], class_prior=[1, 0, 1]))
    weights = rng.integers(1, 4, 400)
    repeated = lift_chart_area(np.repeat(y, weights), np.repeat(p, weights, axis=0))
    assert lift_chart_area(y, p, weights=weights) == pytest.approx(repeated)
    assert lift_chart_area([0, 1], [[0.5, 0.5], [0.5, 0.5]]) == pytest.approx(1)
    two, scores = rng.integers(2, size=50), rng.random(50)
    table = np.column_stack([1 - scores, scores])
    assert lift_chart_area(two, scores) == lift_chart_area(two, table)


def test_lift_charts_of_other_points():
    y, p = np.array([0, 1, 0, 0]), np.array([0.2, 0.7, 0.7, 0.5])
    p = np.stack([1 - p, p], axis=1)
    # By class 1: two cases of .7, one of them positive: lift 2 for half of the cases; then 4/3, 1.
    of_one = 0.5 * 2 + 0.25 * (2 + 4 / 3) / 2 + 0.25 * (4 / 3 + 1) / 2
    assert lift_chart_area(y, p, [0, 1], step=None) == pytest.approx(of_one)
    # By class 0: .8 and .5 are both of class 0; then one of two.
    of_zero = 0.5 * 4 / 3 + 0.5 * (4 / 3 + 1) / 2
    assert lift_chart_area(y, p, step=None) == pytest.approx((3 * of_zero + of_one) / 4)
    # Steps: the top quarter of class 1 is half a positive.
    halves = 0.5 * (2 + 2) / 2 + 0.5 * (2 + 1) / 2
    assert lift_chart_area(y, p, [0, 1], step=0.5) == pytest.approx(halves)
    weights = np.array([1, 2, 3, 1])
    repeated = lift_chart_area(np.repeat(y, weights), np.repeat(p, weights, axis=0), step=None)
    assert lift_chart_area(y, p, weights=weights, step=None) == pytest.approx(repeated)


def test_jensen_shannon():
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.ones(3), size=(4, 5))
    found = jensen_shannon(members)
    mean = members.mean(axis=0)
    expected = (members * np.log(members / mean)).sum(axis=2).mean(axis=0)
    assert found == pytest.approx(expected)
    assert jensen_shannon(members, weights=[1, 1, 2, 0]) == pytest.approx(
        jensen_shannon(members[[0, 1, 2, 2]])
    )
    assert jensen_shannon(members[:1]) == pytest.approx(0)
    certain = np.eye(4)[:, None, :]
    assert jensen_shannon(certain) == pytest.approx(np.log(4))


# Table 4.10 of the thesis: share of positives; baselines of ACC, FSC, LFT, ROC, APR, RMS and, in
# bits, MXE.
WITH_BASELINE = (
    *("accuracy", "f_score", "lift", "roc_area", "average_precision"),
    *("root_mean_squared_error", "cross_entropy"),
)
SCALES = {
    0.248: (0.752, 0.398, 1.0, 0.5, 0.248, 0.432, 0.808),
    0.692: (0.692, 0.818, 1.0, 0.5, 0.692, 0.462, 0.891),
    0.035: (0.965, 0.067, 1.0, 0.5, 0.036, 0.184, 0.219),
}


@pytest.mark.parametrize("rate", SCALES)
def test_baselines_are_those_of_the_thesis(rate):
    for name, printed in zip(WITH_BASELINE, SCALES[rate], strict=True):
        value = printed * np.log(2) if name == "cross_entropy" else printed
        best = 0.0 if name in ("root_mean_squared_error", "cross_entropy") else 10.0
        # The share of positives is printed with three digits.
        assert normalized_score(name, value, rate, best) == pytest.approx(0, abs=0.01)
        assert normalized_score(name, best, rate, best) == 1


def test_what_predicts_the_base_rate_is_the_baseline():
    y = np.array([1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    p = np.full(10, 0.2)
    for name in (*WITH_BASELINE, "eleven_point_average_precision", "break_even_point"):
        value = getattr(prediction, name)(y, np.ones(10) if name == "f_score" else p)
        if name == "average_precision":
            # Even at random, the first positive case has all the precision there is.
            assert value > 0.2
            continue
        best = 0.0 if name in ("root_mean_squared_error", "cross_entropy") else 10.0
        assert normalized_score(name, value, 0.2, best) == pytest.approx(0, abs=1e-12)


def test_clipping_is_reported():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with pytest.warns(UserWarning, match="2 of 3 .* closer to 0 or 1 than 2.2e-16"):
            found = cross_entropy([1, 0, 0], [0.0, 1.0, 0.5])
    assert found == pytest.approx((-2 * np.log(np.finfo(float).eps) + np.log(2)) / 3)
    with pytest.warns(UserWarning, match="1 of 2 .* closer to 0 or 1 than 1e-20"):
        found = cross_entropy([0, 1], [1.0, 0.5], eps=1e-20)
    assert found == pytest.approx((20 * np.log(10) + np.log(2)) / 2)


Y, P = [0, 1, 1], [0.1, 0.5, 0.9]


@pytest.mark.parametrize("bins", [1, 4, 15])
def test_expected_calibration_error_is_that_of_the_reliability_table(bins):
    y, p = untied(200)
    table = reliability(y, p, bins)
    gaps = (table["mean_prediction"] - table["fraction_positive"]).abs()
    expected = np.average(gaps, weights=table["count"])
    assert calibration_error(y, p, "uniform", bins=bins) == pytest.approx(expected)
    order = np.array_split(np.argsort(p), bins)
    if all(len(part) == len(order[0]) for part in order):  # bins with equal numbers of cases
        gaps = [abs(p[part].mean() - y[part].mean()) for part in order]
        assert calibration_error(y, p, "quantile", bins=bins) == pytest.approx(np.mean(gaps))


@pytest.mark.parametrize("method", ["windows", "debiased", "uniform", "quantile"])
def test_calibration_error_of_several_classes_is_that_of_the_most_probable_one(method):
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(4), 60), rng.integers(4, size=60)
    expected = calibration_error(p.argmax(axis=1) == y, p.max(axis=1), method)
    assert calibration_error(y, p, method) == expected
    two = np.column_stack([1 - p[:, 0], p[:, 0]])
    sure = np.where(two[:, 1] >= 0.5, two[:, 1], two[:, 0])
    is_right = (two[:, 1] >= 0.5) == (y % 2)
    assert calibration_error(y % 2, two, method) == calibration_error(is_right, sure, method)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: accuracy([0, 2], [0, 1]), ValueError, "`y` must be 0 or 1 for every case, got 2"),
        (
            lambda: accuracy(["1", "yes"], [0, 1]),
            TypeError,
            "`y` must be numbers, got 'yes'; compare with the positive class, as in `y == 'yes'`",
        ),
        (lambda: accuracy("yes", [0, 1]), TypeError, "`y` must be numbers, got str"),
        (lambda: roc_area([0], [[]]), ValueError, "`p` must be a list of numbers, at least one"),
        (lambda: accuracy([], []), ValueError, "`y` must be a list of numbers, at least one"),
        (lambda: roc_area(Y, [P]), ValueError, r"`p` must be a list .* shape is \(1, 3\)"),
        (lambda: accuracy(Y, [P]), ValueError, "`p` must be one row per case, 3 as in `y`, got 1"),
        (lambda: accuracy([0, 3], np.eye(2)), ValueError, "the position of a class, from 0 to 1"),
        (
            lambda: cross_entropy([0], [[1.5, 0.1]]),
            ValueError,
            "probabilities from 0 to 1, got 1.5",
        ),
        (lambda: accuracy(Y, P[:2]), ValueError, "`p` must be one number per case, 3 as in `y`"),
        (lambda: accuracy(Y, [0, 0, 1.5]), ValueError, "from 0 to 1, got 1.5; calibrate"),
        (lambda: accuracy(Y, [0, 0, np.nan]), ValueError, "`p` must be finite numbers, got nan"),
        (
            lambda: accuracy(Y, P, weights=[1]),
            ValueError,
            "`weights` must be one number per case, 3",
        ),
        (lambda: accuracy(Y, P, weights=[0, 0, 0]), ValueError, "0 or more and not all zero"),
        (lambda: accuracy(Y, P, weights=[1, -1, 1]), ValueError, "0 or more and not all zero"),
        (lambda: lift(Y, P, fraction=0), ValueError, "`fraction` must be .* above 0 and at most 1"),
        (lambda: lift(Y, P, fraction="a"), TypeError, "`fraction` must be a number.* got 'a'"),
        (lambda: lift([0, 0], [0, 1]), ValueError, "`y` must hold positive cases"),
        (lambda: roc_area([1, 1], [0, 1]), ValueError, "`y` must hold negative cases"),
        (lambda: roc_area(Y, P, weights=[0, 1, 1]), ValueError, "`y` must hold negative cases"),
        (
            lambda: cross_entropy(Y, P, eps=0.5),
            ValueError,
            "`eps` must be .* above 0 and below 0.5",
        ),
        (lambda: cross_entropy(Y, P, eps="a"), TypeError, "`eps` must be a number.* got 'a'"),
        (
            lambda: calibration_error([1, 0], [0.5, 0.6], weights=[1e10, 1e11]),
            ValueError,
            "`weights` must sum to 1e.08 or less .* got 1.1e.11; divide them, or use `method=",
        ),
        (lambda: calibration_error(Y, P, method="x"), ValueError, "`method` must be 'windows', "),
        (lambda: calibration_error(Y, P, window=0), ValueError, "`window` must be a whole number"),
        (
            lambda: calibration_error(Y, P, method="debiased", bins=2.0),
            ValueError,
            "`bins` must be a whole number of at least 1, got 2.0",
        ),
        (lambda: lift_chart_area(Y, np.eye(2)[None]), ValueError, "`p` must be a list of numbers"),
        (lambda: lift_chart_area([0, 1], 2 * np.eye(2)), ValueError, "probabilities from 0 to 1"),
        (lambda: lift_chart_area([0, 1], np.eye(2) / 2), ValueError, "`p` .*sum to 1 over the cla"),
        (lambda: lift_chart_area(Y, [["a"]]), TypeError, "`p` must be numbers of the shape"),
        (
            lambda: lift_chart_area([0, 1], [[np.nan, 0], [0, 1]]),
            ValueError,
            "`p` must be finite numbers, got nan",
        ),
        (
            lambda: lift_chart_area([0, 1], np.eye(2), class_prior=[1, 2, 3]),
            ValueError,
            "`class_prior` must be one number per class, 2, got 3",
        ),
        (
            lambda: lift_chart_area([0, 2], np.eye(2)),
            ValueError,
            "position of a class, from 0 to 1",
        ),
        (lambda: lift_chart_area([0, 1], np.eye(2), step=0.3), ValueError, "a whole part of 1"),
        (lambda: lift_chart_area([0, 1], np.eye(2), step=2), ValueError, "`step` must be"),
        (lambda: jensen_shannon([[0.5, 0.5]]), ValueError, r"\(members, rows, classes\), got"),
        (lambda: jensen_shannon([[[0.5, 0.4]]]), ValueError, "sum to 1 over the classes"),
        (lambda: normalized_score("auc", 1, 0.5, 1), ValueError, "`metric` must be 'accurac"),
        (lambda: normalized_score("lift", 1, "a", 2), TypeError, "`base_rate` must be a number"),
        (lambda: normalized_score("lift", 1, 1, 2), ValueError, "`base_rate` must .* above 0 and"),
        (
            lambda: normalized_score("root_mean_squared_error", 0.4, 0.5, 0.6),
            ValueError,
            "`best` must be better than the baseline of root_mean_squared_error, 0.5 at",
        ),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_rankings_take_any_scores():
    y, p = untied(50)
    for metric in (roc_area, average_precision, lift, break_even_point):
        assert metric(y, 10 * p - 7) == metric(y, p)
    assert f_score([0, 0], [0.1, 0.2]) == 1


def test_two_columns_say_what_the_second_says():
    """Also at one half, which is positive: accuracy([0], [[.5, .5]]) was 1."""
    assert accuracy([0], [0.5]) == accuracy([0], [[0.5, 0.5]]) == 0
    assert accuracy([1], [0.5]) == accuracy([1], [[0.5, 0.5]]) == 1
    p = np.arange(11) / 10
    for y in (np.zeros(11), np.ones(11)):
        assert accuracy(y, p) == accuracy(y, np.stack([1 - p, p], axis=1))
    assert [accuracy([y], [[0.4, 0.4, 0.2]]) for y in range(3)] == [1, 0, 0]
    grid = np.random.default_rng(0).integers(11, size=(4, 30, 1)) / 10
    table = np.concatenate([1 - grid, grid], axis=2)
    assert (predicted_classes(table) == (grid[..., 0] >= 0.5)).all()


@pytest.mark.parametrize(
    "metric", [accuracy, cross_entropy, brier_score, squared_error, root_mean_squared_error]
)
def test_probabilities_of_all_classes_sum_to_one(metric):
    message = "`p` must be probabilities that sum to 1 over the classes, got 1.8; divide each row"
    with pytest.raises(InputError, match=message):
        metric([0, 1], [[0.5, 0.5], [0.9, 0.9]])
    with pytest.raises(InputError, match="got 0.6"):
        metric([0, 1], [[0.2, 0.4], [0.5, 0.5]])
    scores = np.random.default_rng(0).normal(size=(500, 1000)).astype(np.float32)
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True, dtype=np.float32)
    for p in (softmax, softmax[:, :3] / softmax[:, :3].sum(axis=1, keepdims=True)):
        assert np.isfinite(metric(np.zeros(500), p))
        assert np.isfinite(metric(np.zeros(500), np.round(p, 6)))
    assert np.isfinite(metric([0], [[np.nextafter(1, 2), 0]]))


def test_probabilities_of_all_classes():
    """Equal to the metrics of two classes, and to scikit-learn for three."""
    rng = np.random.default_rng(0)
    y, weights = rng.integers(3, size=50), rng.random(50)
    p = rng.dirichlet(np.ones(3), size=50)
    expected = sklearn_metrics.log_loss(y, p, sample_weight=weights)
    assert cross_entropy(y, p, weights=weights) == pytest.approx(expected)
    expected = sklearn_metrics.accuracy_score(y, p.argmax(axis=1), sample_weight=weights)
    assert accuracy(y, p, weights=weights) == pytest.approx(expected)
    squares = ((p - np.eye(3)[y]) ** 2).sum(axis=1)
    assert brier_score(y, p, weights=weights) == pytest.approx(np.average(squares, weights=weights))
    y, p = y % 2, p[:, 0]
    both = np.stack([1 - p, p], axis=1)
    assert cross_entropy(y, both) == pytest.approx(cross_entropy(y, p))
    assert brier_score(y, both) == pytest.approx(2 * brier_score(y, p))
    assert accuracy(y, both) == accuracy(y, p)
