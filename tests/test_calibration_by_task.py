"""Calibration with a sigmoid for each task, which a column names."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bnmtl.calibration import (
    CalibratedClassifier,
    IsotonicCalibrator,
    MultitaskPlattCalibrator,
    PlattCalibrator,
)

pytestmark = pytest.mark.beside_kernels


def regions(n=300, seed=0):
    """Two regions whose offsets differ."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": rng.normal(size=2 * n), "region": ["north", "south"] * n})
    chance = expit(2 * table["x"] - 3 * (table["region"] == "south"))
    return table, (rng.random(2 * n) < chance).astype(int)


X, Y = regions()
NUMBERS = make_column_transformer(("passthrough", ["x"]))
LOGISTIC = make_pipeline(NUMBERS, LogisticRegression())
MACHINE = make_pipeline(NUMBERS, LinearSVC(random_state=0))


@pytest.mark.parametrize(("base", "scale"), [(LOGISTIC, "raw"), (MACHINE, "raw")])
def test_it_is_the_calibrator_of_tasks_on_scores_of_folds(base, scale):
    model = CalibratedClassifier(base, cv=StratifiedKFold(3), task_column="region").fit(X, Y)
    scores = cross_val_predict(base, X, Y, cv=StratifiedKFold(3), method="decision_function")
    expected = MultitaskPlattCalibrator(scale).fit(scores, Y, X["region"])
    (found,) = model.calibrators_
    assert np.allclose(found.a_, expected.a_) and np.allclose(found.b_, expected.b_)
    new, _ = regions(20, seed=1)
    whole = clone(base).fit(X, Y).decision_function(new)
    assert np.allclose(model.predict_proba(new)[:, 1], expected.predict(whole, new["region"]))


def test_probabilities_are_calibrated_by_their_log_odds():
    forest = make_pipeline(NUMBERS, RandomForestClassifier(50, min_samples_leaf=9, random_state=0))
    model = CalibratedClassifier(forest, cv=StratifiedKFold(3), task_column="region").fit(X, Y)
    p = cross_val_predict(forest, X, Y, cv=StratifiedKFold(3), method="predict_proba")[:, 1]
    expected = MultitaskPlattCalibrator("logit").fit(p, Y, X["region"])
    assert np.allclose(model.calibrators_[0].b_, expected.b_)
    new, y = regions(2000, seed=1)
    plain = CalibratedClassifier(forest, cv=3).fit(X, Y)
    losses = [
        -np.log(one.predict_proba(new)[np.arange(len(y)), y]).mean() for one in (model, plain)
    ]
    assert losses[0] < losses[1] - 0.05


def test_an_array_has_the_tasks_at_a_position():
    array = np.column_stack([X["x"], X["region"] == "south"])
    base = make_pipeline(make_column_transformer(("passthrough", [0])), LogisticRegression())
    found = CalibratedClassifier(base, cv=3, task_column=1).fit(array, Y).predict_proba(array)
    expected = CalibratedClassifier(LOGISTIC, cv=3, task_column="region").fit(X, Y)
    assert np.allclose(found, expected.predict_proba(X))


def test_new_tasks_get_the_sigmoid_of_all_rows():
    model = CalibratedClassifier(LOGISTIC, cv=3, task_column="region").fit(X, Y)
    new = X.assign(region=np.where(np.arange(len(X)) < 9, "west", X["region"]))
    scores = model.estimator_.decision_function(new)
    p = model.predict_proba(new)[:, 1]
    assert np.allclose(p[:9], model.calibrators_[0].pooled_.predict(scores[:9]))
    assert np.allclose(p[9:], model.predict_proba(X)[9:, 1])


@pytest.mark.parametrize("where", ["prefit", "calibration", "oob"])
def test_cases_from_anywhere_have_their_tasks(where):
    new, y = regions(200, seed=2)
    if where == "oob":
        bags = RandomForestClassifier(40, min_samples_leaf=9, random_state=0)
        numbers = X.assign(region=(X["region"] == "south") * 1.0)
        model = CalibratedClassifier(bags, cv="oob", task_column="region").fit(numbers, Y)
        assert model.calibrators_[0].a_.index.tolist() == ["0", "1"]
        return
    fitted = clone(LOGISTIC).fit(X, Y)
    expected = MultitaskPlattCalibrator().fit(fitted.decision_function(new), y, new["region"])
    if where == "prefit":
        model = CalibratedClassifier(fitted, cv="prefit", task_column="region").fit(new, y)
    else:
        model = CalibratedClassifier(LOGISTIC, task_column="region")
        model.fit(X, Y, calibration=(new, y))
    assert np.allclose(model.calibrators_[0].b_, expected.b_)


def test_more_than_two_classes_have_a_sigmoid_for_each_class_and_task():
    y = Y + (X["x"] > 1)
    model = CalibratedClassifier(LOGISTIC, cv=3, task_column="region").fit(X, y)
    assert [one.a_.index.tolist() for one in model.calibrators_] == [["north", "south"]] * 3
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_case_with_the_weight_two_counts_twice():
    scores, task = X["x"].to_numpy(), X["region"].to_numpy()
    weights = np.arange(len(Y)) % 3
    repeated = np.repeat(np.arange(len(Y)), weights)
    expected = MultitaskPlattCalibrator().fit(scores[repeated], Y[repeated], task[repeated])
    found = MultitaskPlattCalibrator().fit(scores, Y, task, weights)
    assert np.allclose(found.a_, expected.a_, rtol=1e-4)
    assert np.allclose(found.b_, expected.b_, rtol=1e-4)
    assert found.variance_ == pytest.approx(expected.variance_, rel=1e-3)
    even = MultitaskPlattCalibrator().fit(scores, Y, task, np.ones(len(Y)))
    assert np.allclose(even.a_, MultitaskPlattCalibrator().fit(scores, Y, task).a_)


def test_calibrated_log_odds_are_left_as_they_are():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, 4000)
    y = (rng.random(4000) < p).astype(int)
    task = np.repeat(["a", "b"], 2000)
    found = MultitaskPlattCalibrator("logit").fit(p, y, task).predict(p, task)
    assert np.abs(found - p).max() < 0.05
    shifted = expit(logit(p) + 1)
    again = MultitaskPlattCalibrator("logit").fit(shifted, y, task).predict(shifted, task)
    assert np.abs(again - p).max() < 0.05


@pytest.mark.parametrize(
    ("options", "table", "message"),
    [
        ({"method": "isotonic"}, X, "`method` must be 'auto' or 'platt' with `task_column`, .*"),
        ({"method": IsotonicCalibrator()}, X, "`method` must be 'auto' or 'platt' with"),
        ({"method": PlattCalibrator()}, X, "`method` must be 'auto' or 'platt' with"),
        (
            {"task_column": "place"},
            X,
            "`task_column` must be one of the columns `x`, `region`, got",
        ),
        ({"task_column": 1.5}, X, "`task_column` must be the name of a column, its position in"),
        ({}, X.assign(region=None), "Column `region` must name the task of every row; it is mis"),
    ],
)
def test_mistakes_are_one_sentence(options, table, message):
    model = CalibratedClassifier(LOGISTIC, **{"task_column": "region"} | options)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(table, Y)
