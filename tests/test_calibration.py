"""Calibrators: scikit-learn where it is right, laws of scale and weights, definitions by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

from bnmtl.calibration import (
    IsotonicCalibrator,
    MultitaskPlattCalibrator,
    PlattCalibrator,
    reliability,
)
from bnmtl.calibration.platt_by_task import log_marginal

pytestmark = pytest.mark.beside_kernels

CALIBRATORS = [
    PlattCalibrator(),
    PlattCalibrator(scale="logit"),
    IsotonicCalibrator(),
    IsotonicCalibrator(kind="linear"),
]
every_calibrator = pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)


def scored(n=300, seed=0):
    """Probabilities that are pushed towards the middle, and labels."""
    rng = np.random.default_rng(seed)
    true = rng.random(n)
    return 0.25 + true / 2, (rng.random(n) < true).astype(int)


@st.composite
def cases(draw):
    """Scores in fifths, so that ties are common, labels of both classes and weights."""
    n = draw(st.integers(2, 12))
    scores = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    y = [0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    weights = [1, 1, *draw(st.lists(st.integers(0, 3), min_size=n - 2, max_size=n - 2))]
    return np.array(scores) / 5, np.array(y), np.array(weights)


@every_calibrator
@settings(max_examples=examples(50))
@given(drawn=cases())
def test_a_weight_is_how_often_a_case_counts(calibrator, drawn):
    scores, y, weights = drawn
    weighted = clone(calibrator).fit(scores, y, weights)
    repeated = clone(calibrator).fit(np.repeat(scores, weights), np.repeat(y, weights))
    at = np.linspace(0, 1, 23)
    assert weighted.predict(at) == pytest.approx(repeated.predict(at), abs=1e-6)


@every_calibrator
@settings(max_examples=examples(50))
@given(drawn=cases(), random=st.randoms())
def test_the_order_of_the_cases_does_not_matter(calibrator, drawn, random):
    scores, y, weights = drawn
    order = list(range(len(y)))
    random.shuffle(order)
    at = np.linspace(0, 1, 23)
    expected = clone(calibrator).fit(scores, y, weights).predict(at)
    mixed = clone(calibrator).fit(scores[order], y[order], weights[order])
    assert mixed.predict(at) == pytest.approx(expected, abs=1e-6)


@every_calibrator
def test_predictions_are_probabilities_nearer_to_the_truth(calibrator):
    scores, y = scored()
    found = clone(calibrator).fit(scores, y).predict(scores)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[np.argsort(scores)]) >= 0).all()
    assert ((found - y) ** 2).mean() < ((scores - y) ** 2).mean()
    assert found.mean() == pytest.approx(y.mean(), abs=0.01)


class GivenScores(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are the only column."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.parametrize("seed", range(5))
def test_platt_is_scikit_learns_sigmoid(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 3, 200)
    y = (rng.random(200) < 1 / (1 + np.exp(-2 * scores - 1))).astype(int)
    weights = rng.integers(1, 4, 200).astype(float)
    for sample_weight in (None, weights):
        theirs = CalibratedClassifierCV(GivenScores(), method="sigmoid", ensemble=False)
        theirs.fit(scores[:, None], y, sample_weight)
        expected = theirs.predict_proba(scores[:, None])[:, 1]
        assert PlattCalibrator().fit(scores, y, sample_weight).predict(scores) == pytest.approx(
            expected, abs=1e-6
        )


@settings(max_examples=examples(50))
@given(cases())
def test_no_sigmoid_fits_better(drawn):
    scores, y, weights = drawn
    found = PlattCalibrator().fit(scores, y, weights)
    n_positive, n_negative = weights @ y, weights @ (1 - y)
    targets = np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))

    def loss(point):
        z = point[0] * scores + point[1]
        return weights @ (targets * np.logaddexp(0, z) + (1 - targets) * np.logaddexp(0, -z))

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead").fun
    assert loss([found.a_, found.b_]) <= best + 1e-7


@pytest.mark.parametrize(("factor", "shift"), [(1e-9, 0), (1e9, 0), (1, 1e6), (-3, 5), (1e6, -1e7)])
def test_platt_takes_scores_of_any_size(factor, shift):
    scores, y = scored()
    expected = PlattCalibrator().fit(scores, y).predict(scores)
    moved = factor * scores + shift
    found = PlattCalibrator().fit(moved, y)
    assert found.predict(moved) == pytest.approx(expected, abs=1e-6)
    assert found.a_ * factor < 0
    far = found.predict([-1e300, 1e300])
    assert sorted(far.tolist()) == [0, 1]


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1015])
def test_sigmoids_take_scores_whose_squares_overflow(exponent):
    scores, y, task, _ = related(4)
    extreme, outlier = np.ldexp(scores, exponent), np.ones(len(y))
    outlier[0] = 0
    for calibrator, more in ((PlattCalibrator(), ()), (MultitaskPlattCalibrator(), (task,))):
        expected = calibrator.fit(scores, y, *more).predict(scores, *more)
        found = calibrator.fit(extreme, y, *more).predict(extreme, *more)
        assert found.tolist() == expected.tolist()
    expected = PlattCalibrator().fit(scores[1:], y[1:])
    scores[0] = 1e308
    found = PlattCalibrator().fit(scores, y, outlier)
    assert (found.a_, found.b_) == (expected.a_, expected.b_)


def test_platt_where_scores_say_nothing_or_everything():
    y = np.array([0, 0, 0, 1])
    for constant in (0.0, 7.0, 1e12):
        found = PlattCalibrator().fit(np.full(4, constant), y)
        # The mean of three targets of 1 / 5 and one of 2 / 3.
        assert found.a_ == 0
        assert found.predict([constant, 3.0]) == pytest.approx([19 / 60] * 2)
    # Of which the mean is not quite 0.1.
    assert PlattCalibrator().fit([0.1] * 3, [0, 0, 1]).a_ == 0
    scores = np.array([-1.0, -1.0, -1.0, 1.0])
    found = PlattCalibrator().fit(scores, y)
    assert found.predict(scores) == pytest.approx([1 / 5, 1 / 5, 1 / 5, 2 / 3], abs=1e-6)


def test_log_odds_leave_calibrated_probabilities_alone():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, 100_000)
    y = rng.random(100_000) < p
    found = PlattCalibrator(scale="logit").fit(p, y)
    assert found.a_ == pytest.approx(-1, abs=0.02) and found.b_ == pytest.approx(0, abs=0.02)
    assert found.predict([0.0, 1.0]) == pytest.approx([0, 1], abs=1e-12)
    # A sigmoid of the probabilities themselves cannot.
    raw = PlattCalibrator().fit(p, y).predict(p)
    assert np.abs(raw - p).max() > 0.05 > np.abs(found.predict(p) - p).max()


@settings(max_examples=examples(100))
@given(cases())
def test_isotonic_between_scores_is_scikit_learns_or_the_next_higher_one(drawn):
    scores, y, weights = drawn
    used = weights > 0
    regression = IsotonicRegression(out_of_bounds="clip").fit(scores[used], y[used], weights[used])
    linear = IsotonicCalibrator(kind="linear").fit(scores, y, weights)
    step = IsotonicCalibrator().fit(scores, y, weights)
    at = np.linspace(-0.5, 1.5, 81)
    assert linear.predict(at) == pytest.approx(regression.predict(at))
    known = np.unique(scores[used])
    assert step.predict(known) == pytest.approx(regression.predict(known))
    following = [known[known >= x].min() if x <= known[-1] else known[-1] for x in at]
    assert step.predict(at) == pytest.approx(regression.predict(following))


def test_equal_scores_are_pooled_first():
    # Scores count by their order, however near each other they are.
    scores, labels = np.arange(1.0, 7.0), [0, 0, 1, 0, 1, 1]
    for kind in ("step", "linear"):
        expected = IsotonicCalibrator(kind).fit(scores, labels).predict(scores)
        for scale in (2.0**-60, 2.0**60):
            near = IsotonicCalibrator(kind).fit(scores * scale, labels).predict(scores * scale)
            assert near.tolist() == expected.tolist()
    found = IsotonicCalibrator().fit([0.5, 0.5, 0.5, 0.2, 0.9], [1, 0, 0, 1, 1])
    assert found.predict([0.2, 0.5, 0.9]) == pytest.approx([0.5, 0.5, 1.0])
    assert found.scores_.tolist() == [0.2, 0.5, 0.9]


def related(seed, n_tasks=8, n=40, spread=0.7):
    """Scores, labels, names and the true probabilities of tasks with pairs near (-1.5, 0.5)."""
    rng = np.random.default_rng(seed)
    pairs = rng.normal((-1.5, 0.5), spread, size=(n_tasks, 2))
    scores, task = rng.normal(0, 1.5, n_tasks * n), np.repeat(np.arange(n_tasks), n)
    true = 1 / (1 + np.exp(pairs[task, 0] * scores + pairs[task, 1]))
    return scores, (rng.random(len(true)) < true).astype(int), task, true


def test_tasks_learn_from_each_other():
    """Nearer to the truth than one sigmoid for all and than one for each task by itself."""
    errors = []
    for seed in range(10):
        scores, y, task, true = related(seed, spread=0.4)
        together = MultitaskPlattCalibrator().fit(scores, y, task)
        separate = np.empty_like(true)
        for name in set(task):
            rows = task == name
            separate[rows] = PlattCalibrator().fit(scores[rows], y[rows]).predict(scores[rows])
        pooled = together.pooled_.predict(scores)
        found = (together.predict(scores, task), pooled, separate)
        errors.append([((one - true) ** 2).mean() for one in found])
    ours, pooled, separate = np.mean(errors, axis=0)
    assert ours < 0.8 * pooled and ours < 0.9 * separate


def test_tasks_that_are_alike_share_all_and_those_that_are_not_nothing():
    scores, y, task, _ = related(0, spread=0.0, n=300)
    alike = MultitaskPlattCalibrator().fit(scores, y, task)
    pooled = alike.pooled_.predict(scores)
    assert np.abs(alike.predict(scores, task) - pooled).max() < 0.05
    scores, y, task, _ = related(1, spread=3.0, n=2000)
    unlike = MultitaskPlattCalibrator().fit(scores, y, task)
    assert unlike.variance_ > 100 * alike.variance_
    for name in range(8):
        rows = task == name
        alone = PlattCalibrator().fit(scores[rows], y[rows]).predict(scores[rows])
        assert unlike.predict(scores[rows], str(name)) == pytest.approx(alone, abs=0.02)
    assert unlike.a_.index.tolist() == [str(name) for name in range(8)]


def test_sigmoids_by_task_of_log_odds():
    scores, y, task, _ = related(4)
    p = expit(scores)
    expected = MultitaskPlattCalibrator().fit(logit(p), y, task)
    found = MultitaskPlattCalibrator(scale="logit").fit(p, y, task)
    assert found.predict(p, task) == pytest.approx(expected.predict(logit(p), task), abs=1e-12)
    assert found.pooled_.scale == "logit"
    p[0] = 0
    assert np.isfinite(found.fit(p, y, task).predict([0, 1], task[:2])).all()


def test_one_task_is_platts_method():
    scores, y = scored()
    found = MultitaskPlattCalibrator().fit(scores, y, ["only"] * len(y))
    expected = PlattCalibrator().fit(scores, y).predict(scores)
    assert found.predict(scores, "only") == pytest.approx(expected, abs=1e-6)


def test_a_task_of_one_class_follows_the_others():
    scores, y, task, _ = related(2)
    y[task == 3] = 1
    found = MultitaskPlattCalibrator().fit(scores, y, task)
    p = found.predict(scores, task)
    assert (
        np.isfinite(p).all()
        and p[task == 3].mean() > found.pooled_.predict(scores)[task == 3].mean()
    )


@pytest.mark.parametrize("variance", [0.01, 0.3, 4.0])
def test_the_marginal_likelihood_is_near_that_by_quadrature(variance):
    scores, y, _, _ = related(3, n_tasks=1, n=60)
    prior = np.array([-1.0, 0.0])
    grid = np.linspace(-6, 6, 241) * np.sqrt(variance)
    slope, offset = np.meshgrid(prior[0] + grid, prior[1] + grid)
    z = slope[..., None] * scores + offset[..., None]
    loss = (np.logaddexp(0, z) - (1 - y) * z).sum(axis=-1)
    square = (slope - prior[0]) ** 2 + (offset - prior[1]) ** 2
    density = np.exp(-loss - square / (2 * variance)) / (2 * np.pi * variance)
    expected = np.log(density.sum() * (grid[1] - grid[0]) ** 2)
    assert log_marginal(scores, y.astype(float), prior, variance) == pytest.approx(
        expected, abs=0.05
    )


@pytest.mark.parametrize(("factor", "shift"), [(1e6, 0), (-2, 3), (1e-6, 5)])
def test_sigmoids_by_task_take_scores_of_any_size(factor, shift):
    scores, y, task, _ = related(4)
    expected = MultitaskPlattCalibrator().fit(scores, y, task).predict(scores, task)
    moved = factor * scores + shift
    found = MultitaskPlattCalibrator().fit(moved, y, task).predict(moved, task)
    assert found == pytest.approx(expected, abs=1e-4)
    order = np.random.default_rng(0).permutation(len(y))
    mixed = MultitaskPlattCalibrator().fit(scores[order], y[order], task[order])
    assert mixed.predict(scores, task) == pytest.approx(expected, abs=1e-4)
    constant = MultitaskPlattCalibrator().fit(np.ones(4), [0, 1, 1, 1], list("aabb"))
    assert constant.a_.tolist() == [0, 0] and constant.predict([1], "a") < constant.predict(
        [1], "b"
    )


def test_reliability_by_hand():
    y = [0, 1, 0, 1, 1, 1]
    p = [0.0, 0.1, 0.1000001, 0.3, 0.95, 1.0]
    table = reliability(y, p)
    assert table["left"].tolist() == pytest.approx([0, 0.1, 0.2, 0.9])
    assert table["right"].tolist() == pytest.approx([0.1, 0.2, 0.3, 1.0])
    assert table["count"].tolist() == [2, 1, 1, 2]
    assert table["fraction_positive"].tolist() == [0.5, 0, 1, 1]
    assert table["mean_prediction"].tolist() == pytest.approx([0.05, 0.1000001, 0.3, 0.975])
    z, n, share = 1.959963984540054, 2, 0.5
    center = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    assert table.loc[0, ["low", "high"]].tolist() == pytest.approx([center - half, center + half])
    assert len(reliability(y, p, bins=1)) == 1
    assert reliability(np.ones(3), np.full(3, 0.7))["low"][0] > 0.4


@pytest.mark.parametrize("bins", [2, 5, 10, 20])
def test_every_case_is_in_one_bin(bins):
    p = np.arange(bins + 1) / bins
    table = reliability(np.zeros(bins + 1), p, bins=bins)
    assert table["count"].tolist() == [2] + [1] * (bins - 1)
    assert isinstance(table, pd.DataFrame) and table.index.tolist() == list(range(bins))


Y, F = [0, 1, 1], [0.1, 0.5, 0.9]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: PlattCalibrator("log").fit(F, Y), ValueError, "`scale` must be 'raw' or 'logit'"),
        (lambda: PlattCalibrator().fit(F, [1, 1, 1]), ValueError, "classes, 0 and 1, got only one"),
        (
            lambda: PlattCalibrator().fit(F, Y, [0, 1, 1]),
            ValueError,
            "cases of both classes, 0 and 1",
        ),
        (lambda: PlattCalibrator().fit(F, [0, 1, 2]), ValueError, "`y` must be 0 or 1"),
        (
            lambda: PlattCalibrator().fit(F[:2], Y),
            ValueError,
            "`scores` must be one number per case",
        ),
        (lambda: PlattCalibrator().fit(F, Y, [1]), ValueError, "`sample_weight` must be one numb"),
        (lambda: PlattCalibrator().fit([0, 1, np.inf], Y), ValueError, "`scores` must be finite"),
        (
            lambda: PlattCalibrator("logit").fit([0, 1, 2], Y),
            ValueError,
            "`scores` must be probabilities from 0 to 1, got 2",
        ),
        (
            lambda: PlattCalibrator("logit").fit(F, Y).predict([-1]),
            ValueError,
            "`scores` must be probabilities from 0 to 1, got -1",
        ),
        (lambda: PlattCalibrator().predict(F), NotFittedError, "not fitted yet"),
        (lambda: IsotonicCalibrator().predict(F), NotFittedError, "not fitted yet"),
        (
            lambda: MultitaskPlattCalibrator("odds").fit(F, Y, list("aab")),
            ValueError,
            "`scale` must be 'raw' or 'logit', got 'odds'",
        ),
        (
            lambda: MultitaskPlattCalibrator("logit").fit([0, 1, 2], Y, list("aab")),
            ValueError,
            "`scores` must be probabilities from 0 to 1, got 2",
        ),
        (lambda: IsotonicCalibrator("spline").fit(F, Y), ValueError, "`kind` must be 'step' or"),
        (lambda: IsotonicCalibrator().fit(["a"] * 3, Y), TypeError, "`scores` must be numbers"),
        (
            lambda: MultitaskPlattCalibrator().fit(F, Y, ["a", None, "b"]),
            ValueError,
            "`task` must name the task of every score; that of row 1 is missing",
        ),
        (
            lambda: MultitaskPlattCalibrator().fit(F, Y, ["a"]),
            ValueError,
            "`task` must be one name per score, 3, got 1",
        ),
        (
            lambda: MultitaskPlattCalibrator().fit(F, Y, list("aab")).predict([1, 2], ["a", "z"]),
            ValueError,
            "`task` must name tasks of the fit, `a`, `b`, got 'z'; calibrate new tasks by",
        ),
        (lambda: MultitaskPlattCalibrator().predict(F, "a"), NotFittedError, "not fitted yet"),
        (lambda: reliability(Y, F, bins=0), ValueError, "`bins` must be a whole number of at le"),
        (lambda: reliability(Y, [0, 1, 1.1]), ValueError, "`p` must be probabilities from 0 to 1"),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


@every_calibrator
def test_inputs_stay_as_they_are(calibrator):
    scores, y = scored(50)
    weights = np.ones(50)
    copies = [original.copy() for original in (scores, y, weights)]
    clone(calibrator).fit(scores, y, weights).predict(scores)
    for original, copy in zip((scores, y, weights), copies, strict=True):
        assert (original == copy).all()


@every_calibrator
def test_a_record_makes_an_equal_calibrator(calibrator):
    fitted = clone(calibrator).fit(*scored())
    record = json.loads(json.dumps(fitted.as_record()))
    again = type(calibrator).from_record(record)
    at = np.linspace(0, 1, 101)
    assert again.get_params() == fitted.get_params()
    assert again.predict(at).tolist() == fitted.predict(at).tolist()


@pytest.mark.parametrize("scale", ["raw", "logit"])
def test_a_record_makes_equal_calibrators_of_tasks(scale):
    p, y = scored()
    task = np.where(np.arange(len(p)) % 3, "north", "south")
    fitted = MultitaskPlattCalibrator(scale).fit(p, y, task)
    again = MultitaskPlattCalibrator.from_record(json.loads(json.dumps(fitted.as_record())))
    assert again.predict(p, task).tolist() == fitted.predict(p, task).tolist()
    assert again.pooled_.predict(p).tolist() == fitted.pooled_.predict(p).tolist()
    assert again.variance_ == fitted.variance_ and again.scale == scale


@pytest.mark.parametrize(
    ("kind", "record", "error"),
    [
        (PlattCalibrator, {"scale": "raw", "a": 1.0}, KeyError),
        (PlattCalibrator, {"scale": "log", "a": 1.0, "b": 0.0}, ValueError),
        (PlattCalibrator, {"scale": "raw", "a": [], "b": 0.0}, TypeError),
        (IsotonicCalibrator, {"scores": [0.0, 1.0], "values": [0.0]}, ValueError),
        (IsotonicCalibrator, {"scores": [], "values": []}, ValueError),
        (IsotonicCalibrator, {"kind": "cubic", "scores": [0.0], "values": [0.0]}, ValueError),
        (MultitaskPlattCalibrator, {"scale": "raw", "a": {}, "b": {}}, KeyError),
        (
            MultitaskPlattCalibrator,
            {"scale": "raw", "pooled": {"a": 1, "b": 1}, "a": {"x": 1}, "b": {}, "variance": 1},
            KeyError,
        ),
    ],
)
def test_other_records_are_refused(kind, record, error):
    with pytest.raises(error):
        kind.from_record(record)


def test_records_without_a_kind_are_steps():
    record = {"scores": [0.0, 1.0], "values": [0.2, 0.4]}
    assert IsotonicCalibrator.from_record(record).predict([0.5]).tolist() == [0.4]
