"""Calibrators: scikit-learn where it is right, laws of scale and weights, definitions by hand."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss

from bnmtl.calibration import (
    AutoCalibrator,
    BetaCalibrator,
    IsotonicCalibrator,
    MultitaskPlattCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
    reliability,
)
from bnmtl.calibration.classifier import METHODS, calibrator_of
from bnmtl.calibration.platt import log_marginal

pytestmark = [
    pytest.mark.beside_kernels,
    pytest.mark.filterwarnings("ignore:`scores` are from 0 to 1 like probabilities"),
]

CALIBRATORS = [
    PlattCalibrator(),
    PlattCalibrator(scale="logit"),
    BetaCalibrator(),
    TemperatureCalibrator(),
    TemperatureCalibrator(scale="logit"),
    IsotonicCalibrator(),
    IsotonicCalibrator(kind="linear"),
    AutoCalibrator(),
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
@settings(max_examples=examples(25))
@given(drawn=cases())
def test_a_weight_is_how_often_a_case_counts(calibrator, drawn):
    scores, y, weights = drawn
    weighted = clone(calibrator).fit(scores, y, weights)
    repeated = clone(calibrator).fit(np.repeat(scores, weights), np.repeat(y, weights))
    at = np.linspace(0, 1, 23)
    assert weighted.predict(at) == pytest.approx(repeated.predict(at), abs=1e-6)


@every_calibrator
@settings(max_examples=examples(25))
@given(drawn=cases(), random=st.randoms())
def test_the_order_of_the_cases_does_not_matter(calibrator, drawn, random):
    scores, y, weights = drawn
    order = list(range(len(y)))
    random.shuffle(order)
    at = np.linspace(0, 1, 23)
    expected = clone(calibrator).fit(scores, y, weights).predict(at)
    mixed = clone(calibrator).fit(scores[order], y[order], weights[order])
    assert mixed.predict(at) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("calibrator", [*CALIBRATORS[:3], *CALIBRATORS[5:]], ids=repr)
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
    assert found.predict([0.0, 1.0]) == pytest.approx([0, 1], abs=2e-5)
    beta = BetaCalibrator().fit(p, y)
    assert [beta.a_, beta.b_, beta.c_] == pytest.approx([1, 1, 0], abs=0.05)
    temperature = TemperatureCalibrator(scale="logit").fit(p, y).temperature_
    assert temperature == pytest.approx(1, abs=0.02)
    assert isinstance(AutoCalibrator().fit(p, y).chosen_, BetaCalibrator)
    # A sigmoid of the probabilities themselves cannot.
    raw = PlattCalibrator().fit(p, y).predict(p)
    assert np.abs(raw - p).max() > 0.05 > np.abs(found.predict(p) - p).max()


@settings(max_examples=examples(20))
@given(cases(), st.sampled_from([1, 2.5, 40]))
def test_log_odds_are_clipped_by_the_number_of_cases(drawn, factor):
    """Not at the machine epsilon, which made a vote of 0 or 1 count as 36."""
    scores, y, weights = drawn
    weights = weights * factor
    low = 1 / (weights.sum() + 2)
    kept = np.clip(scores, low, 1 - low)
    at = np.clip([0.0, 1e-300, 0.3, 1.0], low, 1 - low)
    fitted = PlattCalibrator(scale="logit").fit(scores, y, weights)
    expected = PlattCalibrator().fit(logit(kept), y, weights)
    assert fitted.lowest_ == pytest.approx(low)
    found = fitted.predict([0.0, 1e-300, 0.3, 1.0])
    assert found == pytest.approx(expected.predict(logit(at)), abs=1e-9)
    task = np.where(np.arange(len(y)) % 2, "a", "b")
    by_task = MultitaskPlattCalibrator(scale="logit").fit(scores, y, task)
    low = 1 / (len(y) + 2)
    of_odds = MultitaskPlattCalibrator().fit(logit(np.clip(scores, low, 1 - low)), y, task)
    found, at = by_task.predict([0.0, 0.3, 1.0], "a"), np.clip([0.0, 0.3, 1.0], low, 1 - low)
    assert found == pytest.approx(of_odds.predict(logit(at), "a"), abs=1e-9)


def test_wrong_votes_of_all_members_do_not_flatten_the_sigmoid():
    """Ten nearest neighbors: many votes are 0 or 1, and a share of these is wrong."""
    rng = np.random.default_rng(0)
    true = rng.beta(0.4, 0.4, 4000)
    votes, y = rng.binomial(10, true) / 10, (rng.random(4000) < true).astype(int)
    assert 0.01 < y[votes == 0].mean() < 0.1

    def loss(calibrator, scores):
        p = calibrator.fit(scores[:2000], y[:2000]).predict(scores[2000:])
        return log_loss(y[2000:], p)

    # As it was: the machine epsilon.
    eps = np.finfo(float).eps
    flat = loss(PlattCalibrator(), logit(np.clip(votes, eps, 1 - eps)))
    for calibrator in (PlattCalibrator(scale="logit"), BetaCalibrator(), AutoCalibrator()):
        assert loss(calibrator, votes) < flat - 0.03
    assert loss(AutoCalibrator(), votes) < loss(PlattCalibrator(), votes) + 0.002


def targets_of(y, weights):
    n_positive, n_negative = weights @ y, weights @ (1 - y)
    return np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def beta_loss(point, scores, y, weights):
    low = 1 / (weights.sum() + 2)
    p, targets = np.clip(scores, low, 1 - low), targets_of(y, weights)
    z = point[0] * np.log(p) - point[1] * np.log(1 - p) + point[2]
    return weights @ (targets * np.logaddexp(0, -z) + (1 - targets) * np.logaddexp(0, z))


@settings(max_examples=examples(25))
@given(cases())
def test_no_beta_calibration_fits_better(drawn):
    """As scipy finds with bounds; half of the drawn cases are at a bound."""
    found = BetaCalibrator().fit(*drawn)
    assert min(found.a_, found.b_) >= 0
    bounds = [(0, None), (0, None), (None, None)]
    options = {"ftol": 1e-14, "gtol": 1e-10}
    best = minimize(
        beta_loss, [1, 1, 0], drawn, bounds=bounds, method="L-BFGS-B", options=options
    ).fun
    assert beta_loss([found.a_, found.b_, found.c_], *drawn) <= best + 1e-9
    assert (np.diff(found.predict(np.linspace(0, 1, 30))) >= 0).all()


def test_beta_calibration_where_scores_say_nothing_or_little():
    constant = BetaCalibrator().fit(np.full(4, 0.3), [0, 0, 0, 1])
    assert (constant.a_, constant.b_) == (0, 0)
    assert constant.predict([0.0, 1.0]) == pytest.approx([19 / 60] * 2)
    # Of two scores, one slope of the log odds is known, and Platt's method finds the same.
    scores, y = np.repeat([0.2, 0.9], 4), [0, 0, 0, 1, 0, 1, 1, 1]
    found = BetaCalibrator().fit(scores, y)
    platt = PlattCalibrator(scale="logit").fit(scores, y)
    assert found.a_ == pytest.approx(found.b_) and found.a_ == pytest.approx(-platt.a_)
    turned = BetaCalibrator().fit(1 - scores, y)
    assert (turned.a_, turned.b_) == (0, 0)
    near = BetaCalibrator().fit(0.5 + (scores - 0.5) * 1e-13, y)
    assert np.isfinite(near.predict([0, 0.5, 1])).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_temperatures_are_scikit_learns(n_classes):
    """scikit-learn 1.8 and later; of probabilities it takes the logarithms, clipped by 1e-12."""
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 2, (300, n_classes))
    y = np.array([rng.choice(n_classes, p=np.exp(one) / np.exp(one).sum()) for one in odds / 3])
    weights = rng.integers(1, 4, 300).astype(float)
    scores = odds[:, 1] - odds[:, 0] if n_classes == 2 else odds
    model = GivenScores() if n_classes == 2 else GivenTable()
    theirs = CalibratedClassifierCV(model, method="temperature", ensemble=False)
    theirs.fit(np.reshape(scores, (300, -1)), y, weights)
    expected = theirs.predict_proba(np.reshape(scores, (300, -1)))
    found = TemperatureCalibrator().fit(scores, y, weights)
    p = found.predict(scores)
    assert p == pytest.approx(expected[:, 1] if n_classes == 2 else expected, abs=1e-6)
    assert 2 < found.temperature_ < 4
    large = TemperatureCalibrator().fit(1e9 * scores, y, weights)
    assert large.temperature_ == pytest.approx(1e9 * found.temperature_, rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_temperatures_of_separable_scores_are_those_of_smoothed_targets(n_classes):
    rng = np.random.default_rng(0)
    y = np.append(np.arange(n_classes), rng.integers(n_classes, size=30))
    weights = rng.integers(1, 4, len(y)).astype(float)
    table = rng.random((len(y), n_classes)) + 2 * np.eye(n_classes)[y]
    scores = table[:, 1] - table[:, 0] if n_classes == 2 else table
    sizes = np.bincount(y, weights)
    targets = np.full(table.shape, 1 / (sizes[y] + n_classes)[:, None])
    targets[np.arange(len(y)), y] = ((sizes + 1) / (sizes + n_classes))[y]

    def loss(log_temperature):
        log_p = log_softmax(table / np.exp(log_temperature), axis=1)
        return -weights @ (targets * log_p).sum(axis=1)

    expected = np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x)
    found = TemperatureCalibrator().fit(scores, y, weights)
    assert found.temperature_ == pytest.approx(expected, rel=1e-4)
    assert 0.9 < found.predict(scores).max() < 0.9999
    # A case with weight 0 does not count, even if it would make the classes inseparable.
    more = np.concatenate([scores, -scores[:1]])
    again = TemperatureCalibrator().fit(more, [*y, y[0]], [*weights, 0])
    assert again.temperature_ == pytest.approx(found.temperature_, rel=1e-9)


@pytest.mark.parametrize("shape", ["one class", "every class"])
def test_temperatures_of_probabilities_taken_as_log_odds_are_a_warning(shape):
    p, y = np.array([0.1, 0.4, 0.6, 0.9, 0.8, 0.3]), [0, 1, 0, 1, 1, 0]
    p = p if shape == "one class" else np.column_stack([1 - p, p])
    words = "^`scores` are from 0 to 1 like probabilities, but `scale='raw'` takes them as log odds"
    with pytest.warns(UserWarning, match=words) as caught:
        TemperatureCalibrator().fit(p, y)
    assert [one.filename for one in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TemperatureCalibrator("logit").fit(p, y)
        TemperatureCalibrator().fit(2 * p, y)
        TemperatureCalibrator().fit(p - 0.5, y)


def test_tables_that_sum_to_one_are_taken_as_they_are():
    """scikit-learn would take logarithms of them."""
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 60), np.arange(60) % 3
    with pytest.warns(UserWarning, match="like probabilities"):
        found = TemperatureCalibrator().fit(p, y).temperature_
    assert found == pytest.approx(TemperatureCalibrator().fit(p + 7, y).temperature_, rel=1e-6)


class GivenTable(GivenScores):
    """A classifier whose scores are its columns."""

    def decision_function(self, X):
        return X


def test_auto_is_the_sigmoid_or_beta_calibration_by_their_information():
    rng = np.random.default_rng(0)
    kinds = set()
    for power in (0.3, 1.0, 4.0):
        for n in (30, 300):
            true = rng.beta(0.3, 0.3, n)
            y, p = (rng.random(n) < true).astype(int), true**power
            y[:2] = 0, 1
            platt, beta = PlattCalibrator().fit(p, y), BetaCalibrator().fit(p, y)
            targets, criteria = targets_of(y, np.ones(n)), []
            for one, n_parameters in ((platt, 2), (beta, 3)):
                q = one.predict(p)
                likelihood = targets @ np.log(q) + (1 - targets) @ np.log(1 - q)
                criteria.append(2 * n_parameters - 2 * likelihood)
            expected = (platt, beta)[int(criteria[1] < criteria[0])]
            found = AutoCalibrator().fit(p, y)
            assert found.predict(p).tolist() == expected.predict(p).tolist()
            kinds.add(type(found.chosen_))
    assert kinds == {PlattCalibrator, BetaCalibrator}


def test_methods_by_their_names():
    assert METHODS == ("auto", "platt", "beta", "isotonic", "temperature")
    kinds = {name: [type(calibrator_of(name, one)) for one in (False, True)] for name in METHODS}
    assert kinds["auto"] == [PlattCalibrator, AutoCalibrator]
    assert kinds["beta"] == [PlattCalibrator, BetaCalibrator]
    assert kinds["platt"] == [PlattCalibrator] * 2
    assert calibrator_of("platt", True).scale == "raw"
    assert calibrator_of("temperature", True).scale == "logit"


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
    found = log_marginal(scores, y.astype(float), np.ones(len(y)), prior, variance)
    assert found == pytest.approx(expected, abs=0.05)


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


def test_reliability_of_several_classes():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 200)
    y = np.array([rng.choice(3, p=one) for one in p])
    names = ["high", "low", "middle"]
    found = reliability(np.array(names)[y], p, bins=4, classes=names)
    assert found["class"].unique().tolist() == names
    assert reliability(y, p, bins=4)["class"].unique().tolist() == [0, 1, 2]
    for k, name in enumerate(names):
        one = found[found["class"] == name].drop(columns="class").reset_index(drop=True)
        pd.testing.assert_frame_equal(one, reliability(y == k, p[:, k], bins=4))
    top = reliability(y, p, bins=4, by="confidence")
    is_right = p.argmax(axis=1) == y
    pd.testing.assert_frame_equal(top, reliability(is_right, p.max(axis=1), bins=4))
    two = reliability([1, 0, 1], [[0.5, 0.5], [0.5, 0.5], [0.2, 0.8]], bins=2, by="confidence")
    assert two["fraction_positive"].tolist() == [0.5, 1]  # a tie of two counts as class 1


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
        (lambda: BetaCalibrator().predict(F), NotFittedError, "not fitted yet"),
        (lambda: AutoCalibrator().predict(F), NotFittedError, "not fitted yet"),
        (lambda: TemperatureCalibrator().predict(F), NotFittedError, "not fitted yet"),
        (lambda: BetaCalibrator().fit(F, [1, 1, 1]), ValueError, "classes, 0 and 1, got only one"),
        (lambda: BetaCalibrator().fit([0, 1, 2], Y), ValueError, "probabilities from 0 to 1, got"),
        (lambda: AutoCalibrator().fit([0, 1, 2], Y), ValueError, "probabilities from 0 to 1, got"),
        (lambda: TemperatureCalibrator("log").fit(F, Y), ValueError, "`scale` must be 'raw' or"),
        (
            lambda: TemperatureCalibrator().fit(F, [1, 1, 1]),
            ValueError,
            "`y` must hold cases of every class, 0 to 1, got 1",
        ),
        (
            lambda: TemperatureCalibrator().fit(np.eye(3), [0, 1, 1]),
            ValueError,
            "`y` must hold cases of every class, 0 to 2, got 0, 1",
        ),
        (
            lambda: TemperatureCalibrator().fit(np.eye(3), [0, 1]),
            ValueError,
            "`scores` must be one row per case, 2 as in `y`, got 3",
        ),
        (
            lambda: TemperatureCalibrator("logit").fit(2 * np.eye(3), [0, 1, 2]),
            ValueError,
            "`scores` must be probabilities from 0 to 1, got 2",
        ),
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
        (lambda: reliability(Y, F, by="bin"), ValueError, "`by` must be 'class' or 'confidence'"),
        (
            lambda: reliability(Y, F, by="confidence"),
            ValueError,
            "`by` must be left out for probabilities of one class, got 'confidence'; give `p` a",
        ),
        (lambda: reliability(Y, F, classes=[0, 1]), ValueError, "`classes` must be left out for"),
        (
            lambda: reliability(["a"], [[0.5, 0.5]], classes=[np.str_("a")]),
            ValueError,
            r"`classes` must be one label per column of `p`, 2 in all, got \['a'\]",
        ),
        (
            lambda: reliability(["c"], [[0.5, 0.5]], classes=["a", "b"]),
            ValueError,
            "`y` must hold labels of `classes`, got 'c'; give `classes_` of the classifier",
        ),
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


@pytest.mark.parametrize("calibrator", CALIBRATORS[:-1], ids=repr)
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
        (PlattCalibrator, {"scale": "logit", "a": -1.0, "b": 0.0, "lowest": 0}, ValueError),
        (BetaCalibrator, {"a": 1.0, "b": -1.0, "c": 0.0, "lowest": 0.1}, ValueError),
        (BetaCalibrator, {"a": 1.0, "b": 1.0, "c": 0.0}, KeyError),
        (TemperatureCalibrator, {"scale": "raw", "temperature": -1.0}, ValueError),
        (TemperatureCalibrator, {"scale": "logit", "temperature": 1.0}, KeyError),
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
