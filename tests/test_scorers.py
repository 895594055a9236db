"""Metrics of scikit-learn and of users: their direction, and the same values as there."""

import functools

import numpy as np
import pytest
import sklearn.metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, make_scorer

from bnmtl.calibration import learning_curve
from bnmtl.ensembles import (
    EnsembleSelector,
    PredictionStore,
    basic_selection,
    best_of_families,
    best_single,
    model_averaging,
)
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics import prediction
from bnmtl.metrics.scoring import metric_of
from bnmtl.validation import Rounds, compare, jackknife

pytestmark = pytest.mark.beside_kernels
SMALL = {"bags": 2, "max_steps": 4, "random_state": 0}
LABELS = np.array(["no", "yes"])


def store_of(n_classes=2, labels=None, **options):
    rng = np.random.default_rng(3)
    y = np.arange(60) % n_classes
    odds = np.exp(1.2 * np.eye(n_classes)[y] + rng.normal(size=(7, 60, n_classes)))
    p = odds / odds.sum(axis=2, keepdims=True)
    settings = [{"family": "ab"[at % 2]} for at in range(7)]
    y = y if labels is None else np.asarray(labels)[y]
    return PredictionStore(p, y, settings=settings, **options)


STORE, THREE = store_of(labels=LABELS), store_of(3)


class Fitted(ClassifierMixin, BaseEstimator):
    """What scikit-learn says of the same probabilities."""

    def __init__(self, store, at):
        p = store.predictions()[at].astype(float)
        self.classes_ = np.arange(len(store.classes))
        self.p = np.column_stack([1 - p, p]) if p.ndim == 1 else p / p.sum(axis=1, keepdims=True)

    def predict_proba(self, X):
        return self.p


def closeness(y, p):
    return -np.square(y - p).mean()


def distance(y, p):
    return np.square(y - p).mean()


def test_a_loss_of_sklearn_chooses_the_same_ensemble_as_the_cross_entropy():
    ours = EnsembleSelector(**SMALL).fit(STORE)
    negative = make_scorer(
        sklearn.metrics.log_loss, greater_is_better=False, response_method="predict_proba"
    )
    for metric, sign in (
        *((sklearn.metrics.log_loss, 1), ("neg_log_loss", -1), ("neg-log-loss", -1)),
        *((negative, -1), (get_scorer("neg_log_loss"), -1)),
    ):
        found = EnsembleSelector(metric, **SMALL).fit(STORE)
        assert found.weights_.equals(ours.weights_)
        assert found.score_ == pytest.approx(sign * ours.score_)
    for metric in ("roc_auc", sklearn.metrics.roc_auc_score):
        found = EnsembleSelector(metric, **SMALL).fit(STORE)
        assert found.weights_.equals(EnsembleSelector("roc_area", **SMALL).fit(STORE).weights_)


def test_the_names_of_scorers_are_as_fast_as_ours():
    names = ("neg_log_loss", "roc_auc", "neg_brier_score")
    found = [metric_of(one, LABELS).known for one in names]
    assert found == ["cross_entropy", "roc_area", "brier_score"]


@pytest.mark.parametrize("store", [STORE, THREE], ids=["two", "three"])
def test_brier_scores_by_products_are_those_of_the_function(store):
    def slow(y, p):
        return prediction.brier_score(y, p)

    expected = EnsembleSelector(slow, **SMALL, greater_is_better=False).fit(store)
    for same in (
        *(prediction.brier_score, sklearn.metrics.brier_score_loss),
        *("brier_score", "brier-score", "brier_score_loss", "neg_brier_score"),
    ):
        found = EnsembleSelector(same, **SMALL).fit(store)
        assert found.weights_.equals(expected.weights_)
        assert abs(found.score_) == pytest.approx(expected.score_)


@pytest.mark.parametrize("store", [STORE, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("squared_error", prediction.squared_error),
        ("calibration_error", prediction.calibration_error),
        ("lift-chart-area", prediction.lift_chart_area),
        ("log_loss", sklearn.metrics.log_loss),
        ("d2_brier_score", sklearn.metrics.d2_brier_score),
    ],
)
def test_a_function_may_be_named(store, name, same):
    found, expected = (EnsembleSelector(one, **SMALL).fit(store) for one in (name, same))
    assert found.weights_.equals(expected.weights_) and found.score_ == expected.score_
    is_loss = same.__name__.endswith(("error", "loss"))
    assert expected.report().smaller_is_better is is_loss
    best, worst = (np.min, np.max) if is_loss else (np.max, np.min)
    values = store.score(name)
    assert values[best_single(store, name).weights_.idxmax()] == best(values) != worst(values)


@pytest.mark.parametrize("store", [STORE, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "name", ["neg_log_loss", "neg_brier_score", "roc_auc_ovr", "roc_auc", "d2_log_loss_score"]
)
def test_scorers_have_the_values_of_sklearn(store, name):
    if name == "roc_auc" and len(store.classes) > 2:
        with pytest.raises(InputError, match="`roc_auc` says: multi_class must be"):
            store.score(name)
        return
    y, scorer = store.parts["hillclimb"].y, get_scorer(name)
    expected = [scorer(Fitted(store, at), y, y) for at in range(store.n_models)]
    assert store.score(name).to_numpy() == pytest.approx(expected)
    assert store.score(scorer).to_numpy() == pytest.approx(expected)
    best = store.names[int(np.argmax(expected))]
    assert best_single(store, scorer).weights_.idxmax() == best


def test_functions_of_sklearn_have_their_direction():
    y, p = STORE.parts["hillclimb"].y, STORE.predictions().astype(float)
    weights = np.random.default_rng(0).integers(1, 4, 60)
    weighted = store_of(labels=LABELS, weights=weights)
    for name, best in (
        *(("log_loss", np.argmin), ("brier_score_loss", np.argmin)),
        *(("roc_auc_score", np.argmax), ("average_precision_score", np.argmax)),
        ("mean_squared_error", np.argmin),
    ):
        function = getattr(sklearn.metrics, name)
        expected = [function(y, one) for one in p]
        found = STORE.score(function)
        assert found.to_numpy() == pytest.approx(expected) and found.name == name
        assert best_single(STORE, function).weights_.to_numpy().argmax() == best(expected)
        expected = [function(y, one, sample_weight=weights) for one in p]
        assert weighted.score(function).to_numpy() == pytest.approx(expected)
    y, function = THREE.parts["hillclimb"].y, sklearn.metrics.log_loss
    expected = [function(y, Fitted(THREE, at).p) for at in range(7)]
    assert THREE.score(function).to_numpy() == pytest.approx(expected, abs=1e-6)


def test_a_name_that_both_know_is_ours():
    """Average precision of ties and accuracy at 0.5 differ."""
    ties = PredictionStore([[0.5, 0.5, 0.75, 0.25], [0.25, 0.75, 0.5, 0.5]], [0, 1, 0, 1])
    y = ties.parts["hillclimb"].y
    for name in ("accuracy", "average_precision", "average-precision"):
        function = getattr(prediction, name.replace("-", "_"))
        expected = [function(y, p.astype(float)) for p in ties.predictions()]
        assert ties.score(name).tolist() == expected
    with pytest.raises(InputError, match="metrics of more than two classes"):
        THREE.score("average_precision")


def test_a_positive_class_of_a_scorer_counts():
    scorer = make_scorer(
        sklearn.metrics.average_precision_score, response_method="predict_proba", pos_label="no"
    )
    y, p = STORE.parts["hillclimb"].y, STORE.predictions().astype(float)
    expected = [sklearn.metrics.average_precision_score(1 - y, 1 - one) for one in p]
    assert STORE.score(scorer).to_numpy() == pytest.approx(expected)


def test_a_scorer_of_a_user_is_called_with_a_classifier():
    def scorer(estimator, X, y):
        every = estimator.predict_proba(X)
        assert (estimator.predict_proba(X[:2]) == every[:2]).all()
        return -np.mean((every[:, 1] - (y == "yes")) ** 2)

    found = EnsembleSelector(scorer, **SMALL).fit(STORE)
    by_function = EnsembleSelector(prediction.brier_score, **SMALL).fit(STORE)
    assert found.weights_.equals(by_function.weights_)


@pytest.mark.parametrize(
    "metric",
    [
        *("f1", "balanced_accuracy", "matthews-corrcoef"),
        *(make_scorer(sklearn.metrics.accuracy_score), get_scorer("recall")),
    ],
    ids=str,
)
def test_scorers_of_labels_are_refused(metric):
    with pytest.raises(InputError, match="`metric` must be a scorer that asks for probabilities"):
        EnsembleSelector(metric, **SMALL).fit(STORE)


@pytest.mark.parametrize(
    "name", ["accuracy_score", "f1_score", "zero_one_loss", "matthews_corrcoef", "r2_score"]
)
def test_functions_of_labels_are_refused(name):
    function = getattr(sklearn.metrics, name)
    for greater in (None, True):
        selector = EnsembleSelector(function, greater_is_better=greater)
        message = f"`metric` must be a function of probabilities, and `{name}` of scikit-learn"
        with pytest.raises(InputError, match=message):
            selector.fit(STORE)


def test_functions_of_labels_are_refused_with_given_arguments():
    fixed = functools.partial(functools.partial(sklearn.metrics.fbeta_score), beta=2)
    with pytest.raises(InputError, match="of probabilities, and `fbeta_score` of scikit-learn is"):
        EnsembleSelector(fixed, greater_is_better=True).fit(STORE)
    fixed = functools.partial(sklearn.metrics.log_loss, normalize=True)
    found = EnsembleSelector(fixed, **SMALL, greater_is_better=False).fit(STORE)
    assert found.weights_.equals(EnsembleSelector("log_loss", **SMALL).fit(STORE).weights_)


def test_another_function_needs_a_direction():
    calls = [
        lambda f, **w: EnsembleSelector(f, **SMALL, **w).fit(STORE).weights_,
        lambda f, **w: best_single(STORE, f, **w).weights_,
        lambda f, **w: best_of_families(STORE, f, **w)["a"].weights_,
        lambda f, **w: basic_selection(STORE, f, max_steps=3, **w).weights_,
        lambda f, **w: model_averaging(STORE, f, random_state=0, **w).weights_,
    ]
    for call in calls:
        with pytest.raises(InputError, match="`greater_is_better` must be True or False for the f"):
            call(distance)
        loss = call(distance, greater_is_better=False)
        assert loss.equals(call(closeness, greater_is_better=True))
    # Values alone have no direction.
    assert STORE.score(distance).tolist() == (-STORE.score(closeness)).tolist()


def test_reports_have_the_direction_of_the_function():
    found = EnsembleSelector(distance, **SMALL, greater_is_better=False).fit(STORE)
    assert found.report().smaller_is_better
    assert found.report().scores["hillclimb"]["ensemble"] == pytest.approx(found.score_)


@pytest.mark.parametrize(
    ("metric", "greater", "message"),
    [
        ("accuracy", True, "must be None for `accuracy`, whose direction is known, got True"),
        (sklearn.metrics.log_loss, False, "must be None for `log_loss`"),
        (get_scorer("roc_auc"), True, "must be None for `make_scorer"),
        (closeness, "yes", "must be True, False or None, got 'yes'"),
        ({"accuracy": 1}, True, "must be None for several metrics"),
    ],
    ids=range(5),
)
def test_a_direction_that_is_known(metric, greater, message):
    with pytest.raises((InputError, InputTypeError), match=f"`greater_is_better` {message}"):
        EnsembleSelector(metric, greater_is_better=greater).fit(STORE)


def test_a_mapping_of_scorers():
    both = {"accuracy": 1, "neg_brier_score": 1}
    ours = {"accuracy": 1, prediction.brier_score: 1}
    found = [EnsembleSelector(one, **SMALL).fit(STORE).weights_ for one in (both, ours)]
    assert found[0].equals(found[1])
    with pytest.raises(InputError, match="`greater_is_better` must be True or False for the f"):
        EnsembleSelector({closeness: 1}).fit(STORE)


def test_a_scorer_that_needs_more_than_probabilities_is_one_sentence():
    hinge = make_scorer(sklearn.metrics.hinge_loss, response_method="decision_function")
    for scorer, what in (
        (hinge, "`make_scorer.*hinge_loss.*` asks for decision values"),
        (lambda model, X, y: model.decision_function(X).mean(), "asks for decision values"),
        (lambda model, X, y: model.coef_.mean(), "asks for something else"),
    ):
        with pytest.raises(InputError, match="that asks for probabilities, and .*" + what) as found:
            EnsembleSelector(scorer).fit(STORE)
        assert "StoredProbabilities" not in str(found.value)
    with pytest.raises(InputTypeError, match="must be the name of a metric, a function"):
        EnsembleSelector(BaseEstimator).fit(STORE)


def test_a_function_of_other_arguments_is_neither_a_metric_nor_a_scorer():
    for function, taken in (
        (lambda y, p, weights: 1.0, "y, p, weights"),
        (lambda y_true, y_score, power: 1.0, "y_true, y_score, power"),
        (lambda p: 1.0, "p"),
        (lambda: 1.0, "nothing"),
        (lambda y, p, *, power: 1.0, "y, p, power"),
        (lambda a, b, c, d: 1.0, "a, b, c, d"),
    ):
        message = rf"a function \(y, p\) or a scorer .*; `<lambda>` takes {taken}\.$"
        with pytest.raises(InputTypeError, match=message):
            EnsembleSelector(function, greater_is_better=True).fit(STORE)
    for function in (lambda y, p, power=2: distance(y, p), lambda *both: distance(*both)):
        found = EnsembleSelector(function, **SMALL, greater_is_better=False).fit(STORE)
        assert found.score_ == EnsembleSelector("brier_score", **SMALL).fit(STORE).score_


def rounds_of(quality):
    rng = np.random.default_rng(5)
    y = LABELS[np.arange(40) % 2]
    p = 1 / (1 + np.exp(-quality * (2 * (y == "yes") - 1) - rng.normal(size=(3, 40))))
    in_bag = np.ones((3, 40), dtype=int)
    for at in range(3):
        in_bag[at, at::3] = 0
    p[in_bag > 0] = np.nan
    return Rounds(np.stack([1 - p, p], axis=2), y, LABELS, in_bag)


def test_rounds_take_the_same_metrics():
    good, poor = rounds_of(2.0), rounds_of(0.5)
    loss = compare(good, poor, sklearn.metrics.log_loss, random_state=0)
    ours = compare(good, poor, "cross_entropy", random_state=0)
    assert loss == ours and loss.is_smaller_better
    for metric in ("neg_log_loss", get_scorer("neg_log_loss")):
        found = compare(good, poor, metric, n_resamples=99, random_state=0)
        assert found.difference > 0 and not found.is_smaller_better
        assert found.difference == pytest.approx(-ours.difference, rel=0.1)
    # Means over all cases, though the rounds have 14, 13 and 13.
    found = compare(good, poor, "neg_log_loss", random_state=0)
    negative = {"first": -ours.first, "second": -ours.second, "difference": -ours.difference}
    negative |= {"low": -ours.high, "high": -ours.low, "is_smaller_better": False}
    assert found == ours._replace(**negative)
    for same in (sklearn.metrics.roc_auc_score, "roc_auc", get_scorer("roc_auc")):
        assert good.score(same) == pytest.approx(good.score("roc_area"))
        assert jackknife(good, same) == pytest.approx(jackknife(good, "roc_area"))
    for same in ("neg_brier_score", get_scorer("neg_brier_score")):
        assert good.score(same) == pytest.approx([-one for one in good.score("brier_score")])
    with pytest.raises(InputError, match="`greater_is_better` must be True or False"):
        compare(good, poor, lambda y, p: p[y == 1, 1].mean())
    found = compare(good, poor, lambda y, p: p[y == 1, 1].mean(), greater_is_better=False)
    assert found.is_smaller_better
    with pytest.raises(InputError, match="asks for labels"):
        good.score("f1")


def test_learning_curves_take_the_same_metrics():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p
    cases = p[:100], y[:100], p[100:], y[100:]
    values = [
        learning_curve(*cases, sizes=[50], n_draws=1, metric=metric, random_state=0)["value"]
        for metric in ("roc_area", "roc_auc", sklearn.metrics.roc_auc_score, get_scorer("roc_auc"))
    ]
    for one in values[1:]:
        assert one.to_numpy() == pytest.approx(values[0].to_numpy())
    with pytest.raises(InputError, match="must be a function of probabilities"):
        learning_curve(*cases, metric=sklearn.metrics.accuracy_score)
