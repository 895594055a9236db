"""Families of a library: predictions as by scikit-learn, and every kind of column."""

import math
import re
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bnmtl import HillClimbing, MultitaskLearner, SingleTaskLearner
from bnmtl.calibration import AdaBoostM1, PlattCalibrator
from bnmtl.calibration.classifier import METHODS, calibrator_of
from bnmtl.decorate import DecorateClassifier
from bnmtl.ensembles.library import families, settings
from bnmtl.ensembles.library.columns import Columns, Rows, preparation
from bnmtl.ensembles.library.families import CHOICES, FAMILIES, TOGETHER
from bnmtl.ensembles.library.settings import fits_of
from bnmtl.ensembles.library.trained import LaplaceTree, Neighbors, gain_ratios, seed_for, train
from bnmtl.errors import InputError, InputTypeError
from bnmtl.trees import MOBESP, BaggedPETs, EnhancedBaggedPETs

pytestmark = pytest.mark.beside_kernels
# Networks of all tasks: test_library_tasks.
WITHOUT_TASKS = [family for family in FAMILIES if family != TOGETHER]
CHEAP = {
    "bagged trees": {"trees": 8},
    "boosted trees": {"steps": 8},
    "boosted stumps": {"steps": 16},
    "random forests": {"trees": 8, "features": 2},
    "extra trees": {"trees": 8, "features": 2},
    "boosted shallow trees": {"steps": 8},
    "bagged PETs": {"trees": 8},
    "MOB-ESP": {"trees": 8},
    "DECORATE": {"members": 3},
    "gradient boosting": {"steps": 8},
    "neural nets": {"epochs": 4},
}


@pytest.fixture(autouse=True)
def short_searches(monkeypatch):
    """Let networks be searched briefly, and for no groups of tasks, unless a setting says more."""
    climb = {"search": HillClimbing(restarts=0)}
    multitask = partial(MultitaskLearner, task_groups=None, **climb)
    monkeypatch.setattr(families, "MultitaskLearner", multitask)
    monkeypatch.setattr(families, "SingleTaskLearner", partial(SingleTaskLearner, **climb))


def mixed_table(n_rows=80, seed=0):
    """Numbers, categories, booleans, missing cells, and columns that say nothing."""
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n_rows)
    X = pd.DataFrame(
        {
            "size": rng.integers(0, 4, n_rows),
            "age": age,
            "colour": rng.choice(["red", "green", "blue"], n_rows).astype(object),
            "is_new": rng.random(n_rows) < 0.4,
            "constant": 1.0,
            "empty": np.nan,
        }
    )
    noise = rng.logistic(size=n_rows)
    y = np.where(2 * age + (X["colour"] == "red") + noise > 0, "yes", "no")
    X.loc[[3, 9], "age"] = np.nan
    X.loc[5, "colour"] = None
    return X, y


def numeric_table(n_rows=90, n_columns=4, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.logistic(size=n_rows) > 1).astype(int)


def trained(settings, X, y, new=None, hillclimb=0.3, seed=0, **options):
    """(names, predictions) of one fit, trained in this process."""
    rows = Rows(X, y, hillclimb, None if new is None else (new, None))
    (fit,) = fits_of(settings, len(y), rows.columns)
    cases = replace(rows.cases(None, seed), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit, train(fit, seed, cases), cases


@pytest.mark.parametrize("family", WITHOUT_TASKS)
def test_every_family_takes_mixed_tables(family):
    if family == "tree-augmented naive Bayes":
        pytest.importorskip("pyagrum")
    X, y = mixed_table()
    before = X.copy()
    new = X.head(20).astype({"is_new": object})
    new.loc[0, "colour"] = "violet"
    new.loc[1] = None
    setting = {"family": family, **CHEAP.get(family, {})}
    _, found, _ = trained([setting], X, y, new)
    assert found.hillclimb.shape == (2, 1, 24) and found.test.shape == (1, 2, 1, 20)
    for predicted in (found.hillclimb, found.test):
        assert ((predicted >= 0) & (predicted <= 1)).all()
    assert np.ptp(found.hillclimb[0]) > 0.1  # it has learned something
    assert found.imputed is not FAMILIES[family].takes_missing
    assert found.bytes > 500 and found.seconds > 0
    again = trained([setting], X, y, new)[1]
    assert again.hillclimb.tobytes() == found.hillclimb.tobytes()
    pd.testing.assert_frame_equal(X, before)


@pytest.mark.parametrize("family", WITHOUT_TASKS)
def test_every_family_takes_several_classes(family):
    if family == "tree-augmented naive Bayes":
        pytest.importorskip("pyagrum")
    X, _ = mixed_table(120)
    noise = np.random.default_rng(1).logistic(size=120) / 8
    score = X["size"] + (X["colour"] == "red") + noise
    y = np.array(["few", "many", "some"])[np.digitize(score, [1, 2.5])]
    _, found, cases = trained([{"family": family, **CHEAP.get(family, {})}], X, y, X.head(20))
    assert found.hillclimb.shape == (2, 1, 36, 3) and found.test.shape == (1, 2, 1, 20, 3)
    for predicted in (found.hillclimb, found.test):
        np.testing.assert_allclose(predicted.sum(axis=-1), 1, atol=1e-9)
        assert ((predicted >= 0) & (predicted <= 1)).all()
    raw, calibrated = found.hillclimb[:, 0]
    for p in (raw, calibrated):
        assert (p.argmax(axis=1) == cases.hillclimb_y).mean() > 0.4
    # Each class is calibrated against the others, and divided by the sum.
    (sibling,) = found.siblings
    scores = sibling.scores(cases.hillclimb[0])[0]
    columns = [
        clone(one).fit(scores[:, code], cases.hillclimb_y == code).predict(scores[:, code])
        for code, one in enumerate(sibling.calibrators[0].calibrators_)
    ]
    expected = np.column_stack(columns)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(calibrated, expected, atol=1e-12)


def test_probabilities_of_several_classes_are_those_of_scikit_learn():
    X, y = numeric_table(100)
    y = y + (X[:, 2] > 0.5)
    new = X[:30] + 0.1
    models = {
        "logistic regression": (LogisticRegression(max_iter=1000), {}),
        "random forests": (RandomForestClassifier, {"trees": 8, "features": 2}),
        "extra trees": (ExtraTreesClassifier, {"trees": 8, "features": 2, "leaf": 3}),
        "SVMs": (SVC(gamma="scale", coef0=1.0), {}),
        "nearest neighbors": (KNeighborsClassifier(7, algorithm="brute"), {"number": 7}),
        "neural nets": (None, {"units": 4, "epochs": 2}),
    }
    for family, (model, setting) in models.items():
        fit, found, cases = trained([{"family": family, **setting}], X, y, new)
        train_X, new_X = cases.X, cases.test
        if fit.form == "scaled":
            scaler = StandardScaler().fit(train_X)
            train_X, new_X = scaler.transform(train_X), scaler.transform(new_X)
        if family in ("random forests", "extra trees"):
            options = {"random_state": seed_for(0, fit, 0), "max_features": 2}
            model = model(8, min_samples_leaf=setting.get("leaf", 1), **options)
        if family == "neural nets":
            options = {"solver": "sgd", "alpha": 0.0, "learning_rate_init": 0.05}
            model = MLPClassifier(4, random_state=seed_for(0, fit, 0), **options)
            for _ in range(2):
                model.partial_fit(train_X, cases.y, classes=[0, 1, 2])
        else:
            model.fit(train_X, cases.y)
        if family == "SVMs":  # margins, from 0 to 1 for each class, and then divided by the sum
            held_out = model.decision_function(scaler.transform(cases.hillclimb[0]))
            low, high = held_out.min(axis=0), held_out.max(axis=0)
            expected = np.clip((model.decision_function(new_X) - low) / (high - low), 0, 1)
            expected /= expected.sum(axis=1, keepdims=True)
        else:
            expected = model.predict_proba(new_X)
        np.testing.assert_allclose(found.test[0, 0, 0], expected, atol=1e-9, err_msg=family)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_steps_of_gradient_boosting_are_those_of_shorter_fits(n_classes):
    X, _ = mixed_table(90)
    y = np.digitize(X["age"].fillna(0) + X["size"], [1.0, 2.5][: n_classes - 1])
    # More categories than bins, which scikit-learn refuses: they become numbers.
    X["town"] = pd.Categorical(
        [f"t{n:03}" for n in np.arange(90) * 3], [f"t{n:03}" for n in range(270)]
    )
    settings = [{"family": "gradient boosting", "leaf": 5, "steps": steps} for steps in (3, 7)]
    fit, found, cases = trained(settings, X, y, X.head(20))
    assert fit.names == tuple(
        f"gradient boosting: rate 0.1, leaves of 5, {steps} steps" for steps in (3, 7)
    )
    frame = preparation("frame", cases.columns).transform(cases.X).drop(columns="empty")
    frame["town"] = frame["town"].cat.codes
    new = preparation("frame", cases.columns).transform(cases.test).drop(columns="empty")
    new["town"] = new["town"].cat.codes
    for at, steps in enumerate((3, 7)):
        options = {"min_samples_leaf": 5, "early_stopping": False}
        model = HistGradientBoostingClassifier(max_iter=steps, **options).fit(frame, cases.y)
        expected = model.predict_proba(new)
        expected = expected[:, 1] if n_classes == 2 else expected
        np.testing.assert_allclose(found.test[0, 0, at], expected, atol=1e-12)
    assert not found.imputed


@pytest.mark.parametrize("name", ["target", "class", "y"])
def test_columns_may_have_any_name(name):
    X, y = mixed_table()
    setting, renamed = [{"family": "multi-net"}], X.rename(columns={"colour": name})
    expected, found = (trained(setting, one, y)[1].hillclimb for one in (X, renamed))
    np.testing.assert_allclose(found, expected, atol=0.2)


def test_order_of_columns_and_of_categories_and_further_columns_do_not_matter():
    X, y = mixed_table()
    X["colour"] = X["colour"].astype("category")
    other = X[["empty", "colour", "age", "constant", "is_new", "size"]].copy()
    other["colour"] = other["colour"].cat.reorder_categories(["red", "blue", "green"])
    new = X.head(9)
    changed = new[new.columns[::-1]].assign(further="text")
    for setting in (
        {"family": "decision trees", "columns": "codes"},
        {"family": "random forests", "trees": 4, "features": 2},
        {"family": "naive Bayes", "columns": "bins 3", "kind": "multinomial"},
        {"family": "logistic regression"},
    ):
        _, found, _ = trained([setting], X, y, new)
        _, again, _ = trained([setting], other, y, changed)
        assert found.hillclimb.tobytes() == again.hillclimb.tobytes()
        assert found.test.tobytes() == again.test.tobytes()


def test_imputed_is_recorded_for_missing_cells_of_any_part():
    X, y = numeric_table()
    new = X[:4].copy()
    setting = [{"family": "logistic regression"}]
    assert not trained(setting, X, y, new)[1].imputed
    new[2, 1] = np.nan
    assert trained(setting, X, y, new)[1].imputed
    assert not trained([{"family": "decision trees"}], X, y, new)[1].imputed
    assert not trained(setting, X, y, hillclimb=(X[:9], y[:9]))[1].imputed
    assert trained(setting, X, y, hillclimb=(np.vstack([X[:5], new]), y[:9]))[1].imputed


# Columns


def test_kinds_of_columns():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "numbers": pd.Series([1, 2.5, None], dtype=object),
            "text": pd.Series(["b", "None", None], dtype=object),
            "flag": [True, False, True],
            "ordered": pd.Categorical(["low", "high", None], ["low", "high"], ordered=True),
            "unordered": pd.Categorical(["low", "high", None], ["low", "high"]),
        }
    )
    columns = Columns.of(frame)
    assert columns.categories == {
        "flag": ("False", "True"),
        "numbers": None,
        "ordered": ("low", "high"),
        "text": ("None", "b"),
        "unordered": ("high", "low"),
        "whole": None,
    }
    nan = np.nan
    expected = [
        [1, 1, 0, 1, 1, 1],
        [0, 2.5, 1, 0, 0, nan],
        [1, nan, nan, nan, nan, 3],
    ]
    np.testing.assert_array_equal(columns.matrix(frame), expected)
    assert columns.sizes.tolist() == [2, 0, 2, 2, 2, 0] and columns.n_numbers == 10


@pytest.mark.parametrize(
    ("cells", "labels", "new"),
    [
        (pd.Categorical([2, 10, None, 2]), ("10", "2"), [2.0, 10.0, np.nan, 2.0]),
        (pd.Categorical([2, "2", 10, "x"]), ("10", "2", "x"), ["2", 2, 10, "x"]),
        (pd.Series([2, "2", None, "x"], dtype=object), ("2", "x"), [2.0, 2, np.nan, "x"]),
        (pd.to_datetime(["2020-03-01", "2021-03-01", None, "2020-03-01"]), None, None),
        (pd.Categorical(pd.to_datetime(["2020-03-01", "2021-03-01", None])), None, None),
        (pd.to_timedelta([3, 1, None, 3], unit="h"), None, None),
    ],
)
def test_no_category_is_taken_for_a_missing_cell(cells, labels, new):
    frame = pd.DataFrame({"x": cells})
    columns = Columns.of(frame)
    found = columns.matrix(frame)
    assert np.isnan(found[:, 0]).tolist() == frame["x"].isna().tolist()
    assert len(columns.categories["x"]) == frame["x"].dropna().astype(str).nunique()
    if labels is not None:
        assert columns.categories["x"] == labels
        new = pd.DataFrame({"x": pd.Series(new)})
        np.testing.assert_array_equal(columns.matrix(new), found)


def test_mistakes_of_columns():
    columns = Columns.of(pd.DataFrame({"a": [1.0], "b": ["x"]}))
    for frame, message in (
        (pd.DataFrame({"a": [1.0]}), "`b` is missing"),
        (pd.DataFrame({"a": ["one"], "b": ["x"]}), "column `a`.*must be numbers"),
        (pd.DataFrame({"a": [np.inf], "b": ["x"]}), "column `a`.*must be finite"),
    ):
        with pytest.raises(InputError, match=f"(?i){message}"):
            columns.matrix(frame)
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(InputError, match="`X` must have different column names, got `a` twice"):
        Columns.of(twice)


def test_numbers_codes_and_bins():
    frame = pd.DataFrame({"n": [1.0, np.nan, 3, 4], "t": ["a", "b", None, "b"]})
    columns = Columns.of(frame)
    matrix = columns.matrix(frame)
    forms = {
        ("numbers", True): [[1, 1, 0], [np.nan, 0, 1], [3, 0, 0], [4, 0, 1]],
        ("numbers", False): [[1, 1, 0], [3, 0, 1], [3, 0, 1], [4, 0, 1]],
        ("codes", True): [[1, 0], [np.nan, 1], [3, np.nan], [4, 1]],
        ("codes", False): [[1, 0], [3, 1], [3, 1], [4, 1]],
    }
    for (form, takes_missing), expected in forms.items():
        found = preparation(form, columns, takes_missing).fit(matrix).transform(matrix)
        np.testing.assert_array_equal(found, expected)
    scaled = preparation("scaled", columns).fit(matrix).transform(matrix)
    expected = StandardScaler().fit_transform(forms["numbers", False])
    np.testing.assert_allclose(scaled, expected)
    bins = preparation("bins 2", columns).fit(matrix).transform(matrix)
    assert bins["t"].cat.categories.tolist() == ["a", "b"]
    assert bins["t"].cat.codes.tolist() == [0, 1, -1, 1] and bins["n"].isna().tolist()[1]
    assert bins["n"].nunique() == 2
    frame_again = preparation("frame", columns).fit(matrix).transform(matrix)
    pd.testing.assert_series_equal(frame_again["n"], frame["n"])
    assert frame_again["t"].astype(object).where(frame["t"].notna(), None).tolist() == [
        "a",
        "b",
        None,
        "b",
    ]


def test_whole_and_half_numbers_have_bins():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"whole": rng.integers(20, size=60), "x": rng.normal(size=60)})
    frame["half"] = frame["whole"] + 0.5
    columns = Columns.of(frame)
    matrix = columns.matrix(frame)
    matrix[3] = np.nan
    found = preparation("bins 3", columns).fit(matrix).transform(matrix)
    assert [len(found[name].cat.categories) for name in found] == [3, 3, 3]
    assert found["half"].cat.codes.equals(found["whole"].cat.codes)


def test_limits_of_bins_come_from_the_training_rows():
    X = pd.DataFrame({"n": np.arange(30.0)})
    columns = Columns.of(X)
    bins = preparation("bins 3", columns).fit(columns.matrix(X))
    new = bins.transform(columns.matrix(pd.DataFrame({"n": [-50, 9, 10, 20, 99, np.nan]})))
    assert new["n"].cat.codes.tolist() == [0, 0, 1, 2, 2, -1]


# Families and scikit-learn


def raw_expected(settings, make, scale=False):
    """Raw predictions of a fit, and those of separately fitted classifiers of scikit-learn."""
    X, y = numeric_table()
    fit, found, cases = trained(settings, X, y)
    held_out, _ = cases.hillclimb
    train_X = cases.X
    if scale:
        scaler = StandardScaler().fit(train_X)
        train_X, held_out = scaler.transform(train_X), scaler.transform(held_out)
    seed = seed_for(0, fit, 0)
    members = [make(member, seed).fit(train_X, cases.y) for member in fit.members]
    return found.hillclimb[0], members, held_out, cases


@pytest.mark.parametrize(
    ("settings", "make", "scale"),
    [
        (
            [{"family": "decision trees", "criterion": "entropy", "alpha": 0.01}],
            lambda m, seed: DecisionTreeClassifier(
                criterion="entropy", ccp_alpha=m["alpha"], random_state=seed
            ),
            False,
        ),
        (
            [{"family": "bagged trees", "trees": 5}],
            lambda m, seed: BaggingClassifier(
                DecisionTreeClassifier(random_state=seed), 5, random_state=seed
            ),
            False,
        ),
        (
            [{"family": "random forests", "trees": 5, "features": 3}],
            lambda m, seed: RandomForestClassifier(5, max_features=3, random_state=seed),
            False,
        ),
        (
            [{"family": "boosted trees", "criterion": "entropy", "steps": k} for k in (8, 2, 4)],
            lambda m, seed: AdaBoostM1(
                DecisionTreeClassifier(criterion="entropy"), m["steps"], random_state=seed
            ),
            False,
        ),
        (
            [{"family": "boosted stumps", "resample": False, "steps": k} for k in (1, 7, 3)],
            lambda m, seed: AdaBoostM1(
                DecisionTreeClassifier(max_depth=1), m["steps"], resample=False, random_state=seed
            ),
            False,
        ),
        (
            [
                {"family": "boosted shallow trees", "criterion": "entropy", "depth": 3, "steps": k}
                for k in (9, 2)
            ],
            lambda m, seed: AdaBoostM1(
                DecisionTreeClassifier(criterion="entropy", max_depth=3),
                m["steps"],
                random_state=seed,
            ),
            False,
        ),
        (
            [
                {
                    "family": "boosted shallow trees",
                    "resample": False,
                    "loss": "logistic",
                    "steps": 12,
                }
            ],
            lambda m, seed: AdaBoostM1(
                DecisionTreeClassifier(max_depth=2),
                m["steps"],
                resample=False,
                loss="logistic",
                random_state=seed,
            ),
            False,
        ),
        (
            [{"family": "bagged PETs", "trees": 6}],
            lambda m, seed: BaggedPETs(6, random_state=seed),
            False,
        ),
        (
            [{"family": "bagged PETs", "trees": 6, "enhanced": True}],
            lambda m, seed: EnhancedBaggedPETs(6, random_state=seed),
            False,
        ),
        (
            [{"family": "MOB-ESP", "trees": 6}],
            lambda m, seed: MOBESP(6, random_state=seed),
            False,
        ),
        (
            [{"family": "logistic regression", "ridge": 4.0}],
            lambda m, seed: LogisticRegression(C=0.25, max_iter=1000),
            True,
        ),
        (
            [{"family": "logistic regression", "ridge": 0.0}],
            lambda m, seed: LogisticRegression(C=np.inf, max_iter=1000),
            True,
        ),
        (
            [{"family": "neural nets", "units": 3, "epochs": k} for k in (3, 1, 5)],
            lambda m, seed: Epochs(m["epochs"], seed),
            True,
        ),
        (
            [
                {"family": "nearest neighbors", "weights": weights, "number": k}
                for weights, k in (("uniform", 1), ("distance", 9), ("uniform", 5), ("uniform", 63))
            ],
            lambda m, seed: KNeighborsClassifier(m["number"], weights=m["weights"]),
            True,
        ),
        ([{"family": "naive Bayes"}], lambda m, seed: GaussianNB(), False),
    ],
)
def test_families_equal_scikit_learn(settings, make, scale):
    found, members, held_out, _ = raw_expected(settings, make, scale)
    expected = [member.predict_proba(held_out)[:, 1] for member in members]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert len(np.unique(np.round(found, 9), axis=0)) == len(settings)


@pytest.mark.parametrize("members", [3, 20])
def test_decorate_receives_categories(members):
    X, y = mixed_table()
    setting = {"family": "DECORATE", "members": members, "generator": "uniform"}
    fit, found, cases = trained([setting], X, y, X.head(20))
    frame = preparation("frame", cases.columns)
    model = DecorateClassifier(
        n_estimators=members,
        max_iterations=max(50, 3 * members),
        generator="uniform",
        random_state=seed_for(0, fit, 0),
    ).fit(frame.transform(cases.X), cases.y)
    expected = model.predict_proba(frame.transform(cases.test))[:, 1]
    assert found.test[0, 0, 0] == pytest.approx(expected, abs=1e-12)
    assert fit.names == (f"DECORATE: uniform, {members} members",)


class Epochs:
    """A neural net after some epochs."""

    def __init__(self, epochs, seed):
        options = {"solver": "sgd", "alpha": 0.0, "learning_rate_init": 0.05, "momentum": 0.9}
        self.net, self.epochs = MLPClassifier(3, random_state=seed, **options), epochs

    def fit(self, X, y):
        for _ in range(self.epochs):
            self.net.partial_fit(X, y, classes=[0, 1])
        return self.net


def test_margins_are_scaled_by_the_hill_climbing_cases():
    settings = [{"family": "SVMs", "kernel": "poly", "degree": 2, "gamma": 0.5, "C": 0.3}]
    X, y = numeric_table()
    new = np.vstack([X * 3, np.zeros(4)])
    _, found, cases = trained(settings, X, y, new)
    scaler = StandardScaler().fit(cases.X)
    svm = SVC(kernel="poly", degree=2, gamma=0.5, C=0.3, coef0=1.0)
    svm.fit(scaler.transform(cases.X), cases.y)
    margins = svm.decision_function(scaler.transform(cases.hillclimb[0]))
    low, high = margins.min(), margins.max()
    np.testing.assert_allclose(found.hillclimb[0, 0], (margins - low) / (high - low), atol=1e-9)
    platt = PlattCalibrator().fit(margins, cases.hillclimb[1])
    np.testing.assert_allclose(found.hillclimb[1, 0], platt.predict(margins), atol=1e-9)
    others = svm.decision_function(scaler.transform(new))
    assert (others > high).any() and (others < low).any()
    expected = np.clip((others - low) / (high - low), 0, 1)
    np.testing.assert_allclose(found.test[0, 0, 0], expected, atol=1e-9)
    np.testing.assert_allclose(found.test[0, 1, 0], platt.predict(others), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_calibrated_predictions_are_those_of_the_method(method):
    X, y = numeric_table()
    setting, options = {"family": "decision trees", "alpha": 0.01}, {"calibration": method}
    _, found, cases = trained([setting], X, y, X[:7], **options)
    raw, tests = found.hillclimb[0, 0], found.test[0, 0, 0]
    fitted = clone(calibrator_of(method, True)).fit(raw, cases.hillclimb[1])
    np.testing.assert_allclose(found.hillclimb[1, 0], fitted.predict(raw))
    np.testing.assert_allclose(found.test[0, 1, 0], fitted.predict(tests))


def test_naive_bayes_of_categories():
    X, y = mixed_table()
    X = X[["colour", "is_new"]]
    setting = {"family": "naive Bayes", "columns": "bins 3", "kind": "multinomial"}
    _, found, cases = trained([setting], X, y)
    modes = [pd.Series(column).mode()[0] for column in cases.X.T]
    fill = [np.where(np.isnan(one), modes, one) for one in (cases.X, cases.hillclimb[0])]
    model = CategoricalNB(min_categories=[3, 2]).fit(fill[0], cases.y)
    np.testing.assert_allclose(found.hillclimb[0, 0], model.predict_proba(fill[1])[:, 1])


def test_laplace_tree_counts_one_more_case_of_each_class():
    X, y = numeric_table()
    tree = LaplaceTree(max_leaf_nodes=4, random_state=0).fit(X, y)
    leaves = tree.apply(X)
    for leaf in np.unique(leaves):
        labels = y[leaves == leaf]
        expected = (labels.sum() + 1) / (len(labels) + 2)
        np.testing.assert_allclose(tree.predict_proba(X[leaves == leaf])[:, 1], expected)
    fit, found, cases = trained([{"family": "decision trees", "smoothing": "Laplace"}], X, y)
    tree = LaplaceTree(random_state=seed_for(0, fit, 0)).fit(cases.X, cases.y)
    expected = tree.predict_proba(cases.hillclimb[0])[:, 1]
    np.testing.assert_array_equal(found.hillclimb[0, 0], expected)
    assert expected.min() > 0 and expected.max() < 1


def entropy(values):
    counts = np.array(list(Counter(values).values()))
    return -(counts / counts.sum() * np.log(counts / counts.sum())).sum()


def test_gain_ratio():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 2, 200), np.ones(200)])
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    fifths = np.searchsorted(np.sort(X[:, 0])[[39, 79, 119, 159]] + 1e-9, X[:, 0]).tolist()
    expected = []
    for codes in (fifths, X[:, 1].tolist()):
        together = entropy(list(zip(codes, y.tolist(), strict=True)))
        expected.append((entropy(codes) + entropy(y.tolist()) - together) / entropy(codes))
    np.testing.assert_allclose(gain_ratios(X, y), [*expected, 0.0], atol=1e-12)


def test_neighbors_by_kernel_and_by_gain_ratio():
    X, y = numeric_table()
    new = X[:5] + 0.01
    votes = [("kernel", 8.0), ("kernel", 2.0), ("uniform", 3)]
    for is_weighted in (False, True):
        ratios = gain_ratios(X, y) if is_weighted else np.ones(4)
        pairs = np.sqrt(((X[:, None] - X[None]) ** 2 * ratios).sum(axis=2))
        unit = pairs[pairs > 0].min()
        distances = np.sqrt(((new[:, None] - X[None]) ** 2 * ratios).sum(axis=2))
        kernels = [np.exp(-distances / (width * unit)) for width in (8.0, 2.0)]
        expected = [kernel @ y / kernel.sum(axis=1) for kernel in kernels]
        expected.append(y[np.argsort(distances, axis=1)[:, :3]].mean(axis=1))
        found = Neighbors(votes, is_weighted).fit(X, y).scores(new)
        np.testing.assert_allclose(found, expected, atol=1e-9)
    settings = {"family": "nearest neighbors", "distance": "gain ratio", "number": 3}
    _, found, cases = trained([settings], X, y)
    scaler = StandardScaler().fit(cases.X)
    expected = Neighbors([("uniform", 3)], True).fit(scaler.transform(cases.X), cases.y)
    held_out = scaler.transform(cases.hillclimb[0])
    np.testing.assert_array_equal(found.hillclimb[0], expected.scores(held_out))


def test_identical_rows_are_at_distance_0():
    rng = np.random.default_rng(0)
    once = rng.normal(size=(400, 13))
    X, y = np.vstack([once, once]), rng.integers(0, 2, 800)
    votes = [("distance", 2), ("distance", 800)]
    model = Neighbors(votes, False).fit(X, y)
    pairs = np.sqrt(((once[:, None] - once[None]) ** 2).sum(axis=2))
    assert model.unit == pytest.approx(pairs[pairs > 0].min(), rel=1e-12)
    expected = [(y[:400] + y[400:]) / 2] * 2
    np.testing.assert_allclose(model.scores(once), expected, atol=1e-12)
    assert Neighbors(votes, False).fit(np.ones((4, 2)), np.arange(4) % 2).unit == 1.0


# Settings


COUNTS = {
    "modern": {
        "gradient boosting": 8,
        "random forests": 1,
        "extra trees": 2,
        "logistic regression": 4,
        "SVMs": 3,
        "Bayesian network": 2,
        "multi-net": 1,
    },
    "small": {
        "decision trees": 6,
        "bagged trees": 2,
        "boosted trees": 4,
        "boosted stumps": 5,
        "random forests": 4,
        "SVMs": 12,
        "neural nets": 9,
        "logistic regression": 5,
        "nearest neighbors": 17,
        "naive Bayes": 4,
        "Bayesian network": 4,
        "multi-net": 1,
        "tree-augmented naive Bayes": 1,
    },
    "thesis": {
        "decision trees": 20,
        "bagged trees": 4,
        "boosted trees": 22,
        "boosted stumps": 26,
        "random forests": 5,
        "SVMs": 121,
        "neural nets": 192,
        "logistic regression": 14,
        "nearest neighbors": 122,
        "naive Bayes": 4,
        "Bayesian network": 36,
        "multi-net": 6,
        "tree-augmented naive Bayes": 3,
        "boosted shallow trees": 11,
        "extra trees": 5,
        "bagged PETs": 2,
        "MOB-ESP": 1,
        "DECORATE": 2,
    },
}
TWICE = ("decision trees", "bagged trees", "boosted trees", "boosted stumps")
TWICE += ("boosted shallow trees", "bagged PETs", "MOB-ESP")


def test_the_modern_profile_by_family():
    numeric = Columns.of(pd.DataFrame(np.zeros((2, 8))))
    mixed = Columns({**numeric.categories, "i": ("x", "y", "z"), "j": ("u", "v")})
    assert by_family(fits_of("modern", 4000, numeric)) == COUNTS["modern"]
    found = fits_of("modern", 4000, mixed)
    assert by_family(found) == {**COUNTS["modern"], "random forests": 2, "extra trees": 4}
    features = {
        fit.form: fit.members[0]["features"] for fit in found if fit.family == "extra trees"
    }
    assert features == {"numbers": 4, "codes": 3}  # roots of 13 and 10 columns
    assert len(found) == 18  # fits, two of them with four numbers of steps


@pytest.mark.parametrize("profile", ["small", "thesis"])
def test_profiles_by_family(profile):
    pytest.importorskip("pyagrum")
    numeric = Columns.of(pd.DataFrame(np.zeros((2, 8))))
    mixed = Columns({**numeric.categories, "i": ("x", "y", "z"), "j": ("u", "v")})
    counts = dict(COUNTS[profile])
    assert counts == by_family(fits_of(profile, 4000, numeric))
    # On nominal attributes, trees and naive Bayes are trained with codes, too.
    twice = set(TWICE) & set(counts)
    for family in twice:
        counts[family] *= 2
    counts["naive Bayes"] += 1
    counts["random forests"] = {"small": 8, "thesis": 11}[profile]
    forests = {"random forests", "extra trees"} & set(counts)
    if "extra trees" in forests:
        counts["extra trees"] = 11
    assert counts == by_family(fits_of(profile, 4000, mixed))
    codes = [fit for fit in fits_of(profile, 4000, mixed) if fit.form == "codes"]
    assert {fit.family for fit in codes} == {*twice, *forests, "naive Bayes"}


def test_a_family_whose_package_is_missing(monkeypatch):
    monkeypatch.setattr(settings, "is_available", lambda family: family[:4] != "tree")
    columns = Columns.of(pd.DataFrame(np.zeros((2, 8))))
    counts = by_family(fits_of("small", 4000, columns))
    augmented = "tree-augmented naive Bayes"
    assert counts == {name: n for name, n in COUNTS["small"].items() if name != augmented}
    with pytest.raises(InputError, match="naive Bayes` is of pyAgrum: run `pip install pyagrum`"):
        fits_of([{"family": augmented}], 4000, columns)


def by_family(fits):
    names = [name for fit in fits for name in fit.names]
    assert len(set(names)) == len(names) and len({fit.key for fit in fits}) == len(fits)
    return dict(Counter(fit.family for fit in fits for _ in fit.names))


def test_sums_of_the_profiles():
    assert 70 <= sum(COUNTS["small"].values()) <= 80
    assert sum(COUNTS["thesis"].values()) > 500


def test_settings_that_differ_in_a_shared_parameter_are_one_fit():
    columns = Columns.of(pd.DataFrame(np.zeros((2, 2))))
    settings = [
        {"family": "neural nets", "units": 2, "epochs": 1},
        {"family": "neural nets", "units": 4, "epochs": 1},
        {"family": "neural nets", "units": 2, "epochs": np.int64(8)},
    ]
    first, second = fits_of(settings, 10, columns)
    assert [member["epochs"] for member in first.members] == [1, 8]
    assert second.members[0]["units"] == 4 and first.key != second.key
    assert fits_of(settings[2:], 10, columns)[0].key == first.key  # and so its random numbers
    assert settings[2] == {"family": "neural nets", "units": 2, "epochs": 8}


def test_classifiers_of_users():
    columns = Columns.of(pd.DataFrame(np.zeros((2, 2))))
    forest = RandomForestClassifier(3)
    settings = [forest, ("two", forest), ("three", RandomForestClassifier(3, random_state=5))]
    first, second, third = fits_of(settings, 10, columns)
    assert first.names == ("RandomForestClassifier(n_estimators=3)",)
    assert second.names == ("two",) and second.family == "RandomForestClassifier"
    assert first.untrained(11).estimator.random_state == 11
    assert third.untrained(11).estimator.random_state == 5 and forest.random_state is None
    ovo = BaggingClassifier(forest)
    (bagged,) = fits_of([ovo], 10, columns)
    found = bagged.untrained(7).estimator
    assert found.random_state == 7 and found.estimator.random_state == 7
    assert forest.random_state is None


def test_names_do_not_depend_on_the_process():
    class Keeps(GaussianNB):
        def __init__(self, rule=len):
            self.rule = rule

    columns = Columns.of(pd.DataFrame(np.zeros((2, 2))))
    (fit,) = fits_of([Keeps(lambda: 1)], 10, columns)
    assert "0x" not in fit.names[0] + fit.key and "<lambda>" in fit.names[0]


def test_models_that_differ_have_different_names():
    columns = Columns.of(pd.DataFrame(np.zeros((2, 2))))
    sigmoid = {"family": "SVMs", "kernel": "sigmoid"}
    settings = [{**sigmoid, "gamma": gamma} for gamma in (0.1, 0.5)]
    names = [fit.names[0] for fit in fits_of(settings, 9, columns)]
    assert names == ["SVMs: sigmoid 0.1, C 1", "SVMs: sigmoid 0.5, C 1"]
    many = [(f"model{number}", LogisticRegression(C=number + 0.5)) for number in range(30)]
    other = [*many[:15], ("model15", LogisticRegression(C=99)), *many[16:]]
    voting = [VotingClassifier(one, voting="soft") for one in (many, other)]
    one, two = fits_of(voting, 9, columns)
    assert one.key != two.key and "C=99" in two.names[0]


ONE = "`profile` must "
MISTAKES = [
    ("tiny", "be .*small.*thesis"),
    ([], "have one setting or more"),
    (3, "be one of modern, small, thesis or a list of settings"),
    ([{"family": "trees"}], "have settings with one of the families .*got 'trees'"),
    ([{"C": 1}], "have settings with one of the families .*got None"),
    ([{"family": "SVMs", "cost": 1}], "have only the parameters .*`C` for `SVMs`, got 'cost'"),
    ([{"family": "SVMs", "columns": "codes"}], "have 'scaled' as the columns of `SVMs`, got 'c"),
    ([{"family": "multi-net", "columns": "bins 1"}], "have 'bins 5' as the columns of"),
    ([{"family": "SVMs"}] * 2, "have different settings; .* occurs twice"),
    ([{"family": "SVMs", "C": "big"}], "have a number, 0 or more, as `C` of `SVMs`, got 'big'"),
    ([{"family": "SVMs", "C": -1}], "have a number, 0 or more, as `C` of `SVMs`, got -1"),
    (
        [{"family": "boosted trees", "steps": 0}],
        "have a whole number, 1 or more, as `steps` of `boosted trees`, got 0",
    ),
    ([{"family": "bagged trees", "trees": 2.5}], "have a whole number.*got 2.5"),
    ([{"family": "neural nets", "epochs": 4.0}], "have a whole number.*got 4.0"),
    ([{"family": "boosted trees", "steps": math.nan}], "have a whole number.*got nan"),
    ([{"family": "logistic regression", "ridge": math.nan}], "have a number, 0 or more.*got nan"),
    ([{"family": "SVMs", "C": math.inf}], "have a number, 0 or more, as `C` of `SVMs`, got inf"),
    ([{"family": "nearest neighbors", "number": 0}], "have a whole number.*got 0"),
    (
        [{"family": "decision trees", "smoothing": "laplace"}],
        "have one of .*`Laplace`.* as `smoothing` of `decision trees`, got 'laplace'",
    ),
    ([{"family": "Bayesian network", "score": "AIC"}], "have one of .*as `score`.*got 'AIC'"),
    ([LogisticRegression()] * 2, "have different settings; .* occurs twice"),
    ([LogisticRegression], "have settings that are dictionaries with a family, or classifiers"),
    (["SVMs"], "have settings that are dictionaries with a family, or classifiers, got 'SVMs'"),
    ([Ridge()], "have settings that are dictionaries with a family, or classifiers, got Ridge"),
    ([LinearSVC()], "have classifiers with `predict_proba`, got LinearSVC; calibrate it first"),
    ([("a", GaussianNB(), 3)], "have pairs of a name and a classifier, got 3"),
    ([(3, GaussianNB())], "have names that are strings.*got 3"),
    ([("", GaussianNB())], "have names that are strings, not empty"),
    ([("a (calibrated)", GaussianNB())], r"have names .* end in `\(calibrated\)`"),
    ([("a", GaussianNB()), ("a", LogisticRegression())], "have different settings; `a` occurs"),
]


@pytest.mark.parametrize(("profile", "message"), MISTAKES)
def test_mistakes_in_profiles_are_one_sentence(profile, message):
    columns = Columns.of(pd.DataFrame(np.zeros((2, 2))))
    with pytest.raises((InputError, InputTypeError)) as caught:
        fits_of(profile, 10, columns)
    text = str(caught.value)
    assert re.match(ONE + message, text), text
    assert "\n" not in text and text.endswith(".") and ". " not in text


def test_choices_are_of_parameters():
    parameters = {name for family in FAMILIES.values() for name in family.parameters}
    assert set(CHOICES) <= parameters
    for family in FAMILIES.values():
        for name, default in family.parameters.items():
            assert name not in CHOICES or default in CHOICES[name]


def test_multinomial_naive_bayes_has_bins():
    columns = Columns.of(pd.DataFrame(np.zeros((2, 2))))
    (fit,) = fits_of([{"family": "naive Bayes", "kind": "multinomial"}], 10, columns)
    assert fit.form == "bins 5"
    with pytest.raises(InputError, match="must have 'bins 5' as the columns of"):
        fits_of([{"family": "naive Bayes", "kind": "multinomial", "columns": "codes"}], 9, columns)
    with pytest.raises(InputError, match="must have 'numbers' or 'codes' as the columns of"):
        fits_of([{"family": "naive Bayes", "columns": "bins 5"}], 9, columns)
