"""Rivals of ensemble selection: averaging, single models, stacking and blending."""

import inspect

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls
from scipy.special import logit
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bnmtl.ensembles import (
    EnsembleSelector,
    PredictionStore,
    Stacking,
    basic_selection,
    best_of_families,
    best_single,
    blending,
    mean_of_all,
    model_averaging,
)
from bnmtl.ensembles.judges import stratified_folds
from bnmtl.ensembles.rivals import TEMPERATURES
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics import prediction

pytestmark = pytest.mark.beside_kernels


def store_of(seed=0, n_models=6, n_cases=40, n_classes=2, **options):
    rng = np.random.default_rng(seed)
    y = {part: rng.permutation(np.arange(n_cases) % n_classes) for part in ("hillclimb", "test")}
    p = {}
    for part, labels in y.items():
        noise = rng.normal(size=(n_models, n_cases, n_classes))
        odds = np.exp(np.eye(n_classes)[labels] + noise)
        p[part] = odds / odds.sum(axis=2, keepdims=True)
    return PredictionStore(p, y, **options)


def likelihoods(store):
    y = store.parts["hillclimb"].y
    p = store.predictions().astype(float)
    return np.where(y == 1, p, 1 - p) if p.ndim == 2 else p[:, np.arange(len(y)), y]


def test_weights_of_averaging_are_posterior_probabilities():
    store = store_of()
    expected = likelihoods(store).prod(axis=1)
    found = model_averaging(store)
    assert found.weights_.to_numpy() == pytest.approx(expected / expected.sum())
    prior = np.array([1, 0, 2, 1, 1, 5])
    expected = prior * expected
    weighted = model_averaging(store, prior=prior).weights_
    assert weighted.to_numpy() == pytest.approx(expected / expected.sum())
    assert found.entropy_ == pytest.approx(-(found.weights_ * np.log(found.weights_)).sum())
    mean = found.weights_.to_numpy() @ store.predictions("test")
    assert found.predict_proba("test")[:, 1] == pytest.approx(mean)


def test_case_weights_are_repetitions():
    store = store_of(1)
    cases = store.parts["hillclimb"]
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, cases.n_cases)
    p = store.predictions()
    weighted = PredictionStore(p, cases.y, weights=weights)
    repeated = PredictionStore(np.repeat(p, weights, axis=1), np.repeat(cases.y, weights))
    for rival in (model_averaging, lambda one: Stacking().fit(one)):
        first, second = rival(weighted), rival(repeated)
        values = (getattr(one, "coef_", getattr(one, "weights_", None)) for one in (first, second))
        first, second = (np.asarray(one) for one in values)
        assert first == pytest.approx(second, abs=1e-8)


def test_a_temperature_spreads_the_weights():
    store = store_of(2, n_cases=200)
    entropies = [model_averaging(store, temperature=t).entropy_ for t in (1, 10, 100, 1e6)]
    assert entropies == sorted(entropies) and entropies[-1] == pytest.approx(np.log(6), abs=1e-3)
    chosen = model_averaging(store, temperature="cv", random_state=0)
    assert chosen.temperature_ > 1
    again = model_averaging(store, temperature=chosen.temperature_)
    assert chosen.weights_.equals(again.weights_)


def test_rivals_are_called_alike():
    store = store_of(2, n_cases=60, settings=[{"family": "ab"[at % 2]} for at in range(6)])
    for rival in (best_single, best_of_families, basic_selection, model_averaging):
        parameters = inspect.signature(rival).parameters
        assert list(parameters)[:2] == ["store", "metric"]
        assert parameters["metric"].default == "cross_entropy"
        assert parameters["greater_is_better"].default is None
        assert rival(store, "roc_area") is not None


def test_the_temperature_is_chosen_for_the_metric():
    store = store_of(2, n_cases=200)
    plain = model_averaging(store)
    for same in ("cross_entropy", "neg_log_loss", log_loss):
        assert model_averaging(store, same).weights_.equals(plain.weights_)
    y, p = store.parts["hillclimb"].y, store.predictions().astype(float)
    scores = np.zeros(len(TEMPERATURES))
    for train, test in stratified_folds("y", y, 5, 0, ()):
        logs = np.log(likelihoods(store))[:, train].sum(axis=1) * len(y) / len(train)
        for at, temperature in enumerate(TEMPERATURES):
            weights = np.exp((logs - logs.max()) / temperature)
            mean = weights @ p[:, test] / weights.sum()
            scores[at] += prediction.roc_area(y[test], mean) * len(test)
    found = model_averaging(store, "roc_area", random_state=0)
    assert found.temperature_ == TEMPERATURES[scores.argmax()]
    again = model_averaging(store, "roc_area", temperature="cv", random_state=0)
    assert again.weights_.equals(found.weights_)
    with pytest.raises(InputError, match="`temperature` must be None or 'cv' for another metric"):
        model_averaging(store, "roc_area", temperature=2.0)


def test_averages_of_three_classes():
    store = store_of(3, n_classes=3)
    expected = likelihoods(store).prod(axis=1)
    found = model_averaging(store)
    assert found.weights_.to_numpy() == pytest.approx(expected / expected.sum())
    assert mean_of_all(store).predict_proba("test") == pytest.approx(
        store.predictions("test").mean(axis=0), abs=1e-6
    )


def test_single_models():
    store = store_of(4, settings=[{"family": "ab"[at % 2]} for at in range(6)])
    for metric, best in (("roc_area", "idxmax"), ("cross_entropy", "idxmin")):
        scores = store.score(metric)
        assert best_single(store, metric).weights_.idxmax() == getattr(scores, best)()
        families = best_of_families(store, metric)
        assert list(families) == ["a", "b"]
        of_family = scores[store.settings["family"] == "b"]
        assert families["b"].weights_.idxmax() == getattr(of_family, best)()
    assert best_single(store).entropy_ == 0
    with pytest.raises(InputError, match="must have the column `family`"):
        best_of_families(store_of())


def test_basic_selection_takes_every_model_once():
    store = store_of(5)
    found = basic_selection(store, "roc_area")
    assert found.counts_.to_numpy().max() == 1 and len(found.trajectory_) == 6
    same = EnsembleSelector("roc_area", 0, 1, 1.0, replacement=False).fit(store)
    assert found.weights_.equals(same.weights_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("columns", ["own", "all"])
def test_linear_stacking_is_least_squares_by_class(n_classes, columns):
    store = store_of(6, n_classes=n_classes)
    y, p = store.parts["hillclimb"].y, store.predictions().astype(float)
    p = np.stack([1 - p, p], axis=2) if n_classes == 2 else p
    found = Stacking(columns=columns).fit(store)
    outputs = []
    test = store.predictions("test").astype(float)
    test = np.stack([1 - test, test], axis=2) if n_classes == 2 else test
    for k in range(n_classes):
        models = [m for m in range(len(p))]
        classes = [k] if columns == "own" else range(n_classes)
        design = np.column_stack([p[m, :, c] for m in models for c in classes])
        coefficients, _ = nnls(design, (y == k).astype(float))
        again = np.column_stack([test[m, :, c] for m in models for c in classes])
        outputs.append(again @ coefficients)
    outputs = np.array(outputs).T
    expected = outputs / outputs.sum(axis=1, keepdims=True)
    assert found.predict_proba("test") == pytest.approx(expected)
    assert (found.coef_ >= 0).all()


def test_all_columns_find_models_that_confuse_the_classes():
    store = store_of(8, n_classes=3, n_cases=90)
    y = {part: one.y for part, one in store.parts.items()}
    turned = {part: store.predictions(part)[:, :, [1, 2, 0]] for part in y}
    found = Stacking(columns="all").fit(PredictionStore(turned, y))
    straight = Stacking().fit(store)
    same = found.predict_proba("test").argmax(axis=1) == straight.predict_proba("test").argmax(1)
    assert same.mean() > 0.9
    confused = Stacking().fit(PredictionStore(turned, y)).predict_proba("test").argmax(axis=1)
    assert (confused == y["test"]).mean() < 0.6


def test_ties_of_single_models_are_decided_as_in_a_selection():
    y = [1, 0, 1, 0]
    # Equally accurate: the second has the better cross-entropy, "a" and "c" are the same.
    p = [[0.6, 0.4, 0.6, 0.4], [0.9, 0.1, 0.9, 0.1], [0.6, 0.4, 0.6, 0.4]]
    families = {"family": ["trees", "trees", "nets"]}
    store = PredictionStore(p, y, ["a", "b", "c"], settings=pd.DataFrame(families))
    assert best_single(store, "accuracy").weights_.idxmax() == "b"
    found = best_of_families(store, "accuracy")
    assert {name: one.weights_.idxmax() for name, one in found.items()} == {
        "nets": "c",
        "trees": "b",
    }
    selector = EnsembleSelector("accuracy", initial=1, bags=1, bag_fraction=1.0, max_steps=1)
    assert selector.fit(store).trajectory_["model"].iloc[0] == "b"
    scores = selector.report().scores["hillclimb"]
    assert scores["best single model"] == 1


def test_a_row_of_zeros_has_equal_probabilities():
    store = store_of(6)
    found = Stacking().fit(store)
    found.coef_ = np.zeros_like(found.coef_)
    assert (found.predict_proba("test") == 0.5).all()


def test_logistic_stacking_weighs_log_odds():
    store = store_of(7, n_cases=300)
    found = Stacking(method="logistic", random_state=0).fit(store)
    features = logit(store.predictions().T.astype(float))
    model = LogisticRegression(C=1.0).fit(features, store.parts["hillclimb"].y)
    expected = model.predict_proba(logit(store.predictions("test").T.astype(float)))
    assert np.corrcoef(found.predict_proba("test")[:, 1], expected[:, 1])[0, 1] > 0.99
    y = store.parts["test"].y
    loss = prediction.cross_entropy(y, found.predict_proba("test")[:, 1])
    assert loss < store.score("cross_entropy", "test").min()


def cases():
    X, y = make_classification(240, n_informative=4, random_state=1)
    return pd.DataFrame(X).add_prefix("x"), np.array(["no", "yes"])[y]


MODELS = [
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("prior", DummyClassifier()),
]


@pytest.mark.parametrize("method", ["linear", "logistic"])
def test_stacking_of_classifiers(method):
    X, y = cases()
    found = Stacking(MODELS, method, random_state=0).fit(X[:160], y[:160])
    assert found.classes_.tolist() == ["no", "yes"] and len(found.estimators_) == 3
    assert found.score(X[160:], y[160:]) > 0.8
    again = Stacking(MODELS, method, random_state=0, n_jobs=2).fit(X[:160], y[:160])
    assert again.predict_proba(X[160:]) == pytest.approx(found.predict_proba(X[160:]), abs=1e-12)
    # Predictions of cases by models that were fitted to them would favor a deep tree.
    deep = [("deep", DecisionTreeClassifier(random_state=0)), ("bayes", GaussianNB())]
    if method == "linear":
        coefficients = Stacking(deep, random_state=0).fit(X, y).coef_[1]
        assert coefficients[1] > 0.2


def test_blending_fits_models_to_the_other_cases_only():
    X, y = cases()
    found = blending(MODELS, X, y, share=0.25, random_state=0)
    n_seen = [int(found.estimators_[0].class_count_.sum())]
    assert n_seen == [180]
    assert found.score(X, y) > 0.8


@pytest.mark.parametrize("n_classes", [2, 3])
def test_new_cases_are_predicted_from_predictions_of_the_models(n_classes):
    store = store_of(n_classes=n_classes)
    entries = store.predictions()
    if n_classes == 2:
        entries = np.stack([1 - entries, entries], axis=2)
    new = dict(zip(store.names, entries[:, :9], strict=True))
    for ensemble in (mean_of_all(store), best_single(store), Stacking().fit(store)):
        expected = ensemble.predict_proba("hillclimb")[:9]
        assert ensemble.predict_proba(new).tolist() == expected.tolist()


def test_few_cases_have_fewer_folds():
    few = PredictionStore(np.random.default_rng(0).random((4, 7)), [0, 0, 0, 1, 1, 1, 1])
    assert model_averaging(few, temperature="cv", random_state=0).temperature_ >= 1
    assert Stacking(method="logistic").fit(few).predict_proba("hillclimb").shape == (7, 2)
    assert EnsembleSelector(prune="sweep", bags=2, max_steps=3).fit(few).prune_ > 0
    X, y = cases()
    assert len(Stacking(MODELS).fit(X, np.arange(len(y)) < 3).estimators_) == len(MODELS)


def test_a_single_case_of_a_class_has_no_folds():
    few = PredictionStore(np.random.default_rng(0).random((4, 3)), [0, 0, 1])
    message = "must have two cases of each class or more for folds; a class has one"
    with pytest.raises(InputError, match=f"`store` {message}: give a number for `temperature`"):
        model_averaging(few, temperature="cv")
    with pytest.raises(InputError, match=f"`store` {message}: give a number for `prune`"):
        EnsembleSelector(prune="sweep").fit(few)
    with pytest.raises(InputError, match=f"`y` {message}"):
        Stacking(method="logistic").fit(few)
    X, y = cases()
    single = np.arange(len(y)) < 1
    with pytest.raises(InputError, match=f"`y` {message}"):
        Stacking(MODELS).fit(X, single)
    with pytest.raises(InputError, match="`holdout` must leave cases of each class on both sides"):
        blending(MODELS, X, single)


def test_mistakes():
    X, y = cases()
    store = store_of()
    with pytest.raises(InputError, match="`method` must be 'linear' or 'logistic'"):
        Stacking(method="ridge").fit(store)
    with pytest.raises(InputError, match="`columns` must be 'own' with"):
        Stacking(method="logistic", columns="all").fit(store)
    with pytest.raises(InputError, match="`n_jobs` must not be 0"):
        Stacking(MODELS, n_jobs=0).fit(X, y)
    with pytest.raises(InputError, match="`estimators` must be two classifiers or more"):
        Stacking(MODELS[:1]).fit(X, y)
    with pytest.raises(InputError, match="must be None with a store"):
        Stacking(MODELS).fit(store)
    with pytest.raises(InputTypeError, match="must have `fit` and `predict_proba`"):
        Stacking([GaussianNB(), "tree"]).fit(X, y)
    with pytest.raises(InputError, match="two classes or more"):
        Stacking(MODELS).fit(X, np.zeros(len(X)))
    with pytest.raises(InputError, match="`cv` must be"):
        Stacking(MODELS, cv=1).fit(X, y)
    with pytest.raises(InputError, match="`share` must be a number above 0 and below 1"):
        blending(MODELS, X, y, share=1)
    with pytest.raises(InputError, match="`holdout` must be None with a store.*got 0.3"):
        Stacking(holdout=0.3).fit(store)
    with pytest.raises(InputError, match="`y` must be one label per case, 240 as in `X`, got 9"):
        Stacking(MODELS).fit(X, y[:9])
    with pytest.raises(InputTypeError, match="`random_state` must be"):
        model_averaging(store, random_state="x")
    with pytest.raises(InputTypeError, match="`X` must be a part of the store or a mapping"):
        Stacking().fit(store).predict_proba(np.zeros((3, 2)))
    with pytest.raises(InputError, match="models of positive weight; `.*` is missing"):
        mean_of_all(store).predict_proba({})
    with pytest.raises(InputError, match="`temperature` must be a number above 0"):
        model_averaging(store, temperature=0)
    with pytest.raises(InputError, match="`prior` must be one number per model, 6, got 2"):
        model_averaging(store, prior=[1, 1])
    with pytest.raises(InputError, match="two models or more"):
        mean_of_all(store.subset(store.names[:1]))
