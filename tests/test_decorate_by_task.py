"""DECORATE of several tasks: a column names the task, for artificial cases and for members."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bnmtl import HillClimbing, MultitaskLearner, SingleTaskLearner
from bnmtl.active import ActiveDecorate, ActiveDecorateJS
from bnmtl.classification import MultitaskBayesNetClassifier, NetworkSampler, cells
from bnmtl.classification.columns import read_columns
from bnmtl.decorate import DecorateClassifier
from bnmtl.decorate.artificial import generator_of
from bnmtl.decorate.classifier import ByTask
from bnmtl.ensembles import MarginalSampler, Munge
from bnmtl.errors import InputError, InputTypeError
from bnmtl.validation import predict_rounds

pytestmark = pytest.mark.beside_kernels
TREE = DecisionTreeClassifier(min_samples_leaf=5)
CLIMB = {"search": HillClimbing(restarts=0)}
LEARNER = MultitaskLearner(missing="state", task_groups=None, **CLIMB)


@pytest.fixture(autouse=True)
def short_searches(monkeypatch):
    """Let learners that nobody gives search briefly, and for no groups of tasks."""
    multitask = partial(MultitaskLearner, task_groups=None, **CLIMB)
    monkeypatch.setattr(cells, "MultitaskLearner", multitask)
    monkeypatch.setattr(cells, "SingleTaskLearner", partial(SingleTaskLearner, **CLIMB))


def sites(n=120, seed=0):
    """Sites of three regions, in which numbers and names differ; wrens live by the region."""
    rng = np.random.default_rng(seed)
    at = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "wet": rng.random(n) < 0.5,
            "height": at * 100 + rng.integers(50, size=n),
            "region": np.array(["hill", "plain", "coast"])[at],
            "slope": rng.normal(size=n),
            "soil": np.char.add(np.array(["h", "p", "c"])[at], rng.choice(["1", "2"], n)),
        }
    )
    # In hills on wet sites, in plains everywhere, at the coast nowhere.
    wren = np.choose(at, [frame["wet"], True, False]) ^ (rng.random(n) < 0.05)
    return frame, np.where(wren, "wren", "none")


def bootstrapped(X, n, rng):
    """A function of the user."""
    at = rng.integers(len(X), size=n)
    return X.iloc[at] if isinstance(X, pd.DataFrame) else X[at]


class Bootstrapped:
    """An object of the user."""

    def fit(self, X):
        self.X = X

    def sample(self, n, random_state):
        return bootstrapped(self.X, n, random_state)


KINDS = {
    "marginals": "marginals",
    "uniform": "uniform",
    "pool": "pool",
    "unlabeled": "unlabeled",
    "network": "network",
    "NetworkSampler": NetworkSampler(LEARNER, 3),
    "Munge": Munge(),
    "MarginalSampler": MarginalSampler(),
    "object": Bootstrapped(),
    "function": bootstrapped,
}
EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
ALONE = pytest.mark.parametrize(
    "kind", [kind for name, kind in KINDS.items() if "etwork" not in name]
)


def by_task(kind, X, weights=None, column="region"):
    weights = np.ones(len(X)) if weights is None else weights
    unlabeled = X if kind == "unlabeled" else None
    return ByTask(kind, X, read_columns(X), weights, 7, column, unlabeled)


def without(X, column):
    return X.drop(columns=column) if isinstance(X, pd.DataFrame) else np.delete(X, column, axis=1)


@EVERY
@pytest.mark.parametrize("column", ["region", 2])
def test_cases_of_a_single_task_are_those_without_the_column(kind, column):
    X, _ = sites()
    X["region"] = 5
    if column == 2:
        X = X[["height", "slope", "region"]].to_numpy()
    alone = without(X, column)
    unlabeled = alone if kind == "unlabeled" else None
    expected = generator_of(kind, alone, read_columns(alone), np.ones(120), 7, unlabeled)
    drawn, expected = by_task(kind, X, column=column).draw(80, 3), expected.draw(80, 3)
    assert type(drawn) is type(X) and drawn.shape == (80, X.shape[1])
    expected = expected.reset_index(drop=True) if column == "region" else expected
    for found, wanted in zip(
        pd.DataFrame(without(drawn, column)).items(), pd.DataFrame(expected).items(), strict=True
    ):
        pd.testing.assert_series_equal(found[1], wanted[1])
    task = drawn[column] if column == "region" else drawn[:, column]
    assert (task == 5).all() and task.dtype == (int if column == "region" else float)


def test_the_ensemble_of_a_single_task_is_the_one_without_the_column():
    X, y = sites()
    array = X[["height", "slope"]].to_numpy(float)
    with_task = np.insert(array, 1, 4, axis=1)
    alone = DecorateClassifier(KNeighborsClassifier(), 5, random_state=0).fit(array, y)
    model = clone(alone).set_params(task_column=1).fit(with_task, y)
    pd.testing.assert_frame_equal(model.errors_, alone.errors_)
    np.testing.assert_array_equal(model.predict_proba(with_task), alone.predict_proba(array))


@EVERY
def test_cases_have_the_kind_of_their_rows(kind):
    X, _ = sites()
    X = X.set_axis(range(200, 320))
    for values in (X["region"], X["region"].astype("category"), X["soil"].str[:1].map(ord)):
        rows = X.assign(region=values)
        drawn = by_task(kind, rows).draw(60, 1)
        assert drawn.index.tolist() == list(range(60)) and list(drawn) == list(X)
        assert drawn.dtypes.to_dict() == rows.dtypes.to_dict()
        assert set(drawn["region"]) == set(values)


@ALONE
def test_values_are_those_of_the_task(kind):
    X, _ = sites()
    drawn = by_task(kind, X).draw(500, 1)
    for region, rows in X.groupby("region"):
        found = drawn[drawn["region"] == region]
        assert set(found["soil"]) == set(rows["soil"])
        # Those of the others are normal, or mixed with such numbers.
        if kind in ("uniform", "unlabeled", bootstrapped) or isinstance(kind, Bootstrapped):
            assert found["height"].between(rows["height"].min(), rows["height"].max()).all()


@ALONE
def test_cases_of_a_task_depend_on_this_task_only(kind):
    X, _ = sites()
    other = X.copy()
    is_plain = X["region"] == "plain"
    other.loc[is_plain, ["height", "slope"]] += 1000
    other.loc[is_plain, "soil"] = "gravel"
    # In another order of the tasks, too.
    for rows in (other, pd.concat([X[is_plain], X[~is_plain]])):
        first, second = by_task(kind, X).draw(90, 1), by_task(kind, rows).draw(90, 1)
        keep = first["region"] != "plain"
        assert 30 < keep.sum() < 90
        assert (second["region"] == first["region"]).all()
        pd.testing.assert_frame_equal(first[keep], second[keep])


@ALONE
def test_tasks_with_the_same_cases_have_different_artificial_ones(kind):
    X, _ = sites()
    drawn = by_task(kind, pd.concat([X.assign(region=name) for name in "ab"])).draw(90, 1)
    first, second = (drawn.loc[drawn["region"] == name, "slope"].tolist()[:30] for name in "ab")
    assert len(second) == 30 and first != second


@EVERY
def test_tasks_have_the_shares_of_their_weights(kind):
    X, _ = sites(180)
    weights = np.where(X["region"] == "hill", 8.0, np.where(X["region"] == "plain", 1.0, 3.0))
    for given, expected in ((None, [1 / 3] * 3), (weights, [1 / 4, 2 / 3, 1 / 12])):
        drawn = by_task(kind, X, given).draw(3000, 1)
        shares = drawn["region"].value_counts(normalize=True).sort_index()
        assert shares.to_numpy() == pytest.approx(np.array(expected), abs=0.03)
    few = by_task(kind, X).draw(1, 1)
    assert len(few) == 1


@pytest.mark.parametrize("kind", ["marginals", "network", NetworkSampler(), Bootstrapped()])
def test_cases_of_a_task_have_the_weights_of_its_cases(kind):
    X, _ = sites(300)
    is_high = (X["height"] % 100 >= 25).to_numpy()
    X["high"] = is_high
    weights = np.where(is_high & (X["region"] == "coast"), 9.0, 1.0)
    drawn = by_task(kind, X, weights).draw(4000, 1)
    shares = drawn.groupby("region")["high"].mean()
    assert shares["coast"] == pytest.approx(0.9, abs=0.05)
    assert shares[["hill", "plain"]].to_numpy() == pytest.approx(0.5, abs=0.15)


def test_networks_learned_together_keep_the_dependence_of_each_task():
    rng = np.random.default_rng(0)
    tasks = np.where(np.arange(600) < 450, "south", "north")
    wet = rng.random(600) < 0.5
    wren = np.where(tasks == "south", wet, ~wet) ^ (rng.random(600) < 0.1)
    made = by_task("network", pd.DataFrame({"wet": wet, "wren": wren, "region": tasks}))
    assert isinstance(made._generators._sampler.learner_, MultitaskLearner)
    assert made._generators._sampler.learner_.random_state == 7
    drawn = made.draw(8000, 3)
    agrees = (drawn["wet"] == drawn["wren"]).groupby(drawn["region"]).mean()
    assert agrees["south"] == pytest.approx(0.9, abs=0.05)
    assert agrees["north"] == pytest.approx(0.1, abs=0.05)


@EVERY
def test_columns_that_a_task_lacks_stay_empty(kind):
    X, _ = sites()
    X["soil"] = X["soil"].astype("category")
    is_hill = X["region"] == "hill"
    X.loc[is_hill, ["soil", "slope"]] = None
    with pytest.warns(UserWarning, match="not measured there: `slope`, `soil` in task `hill`"):
        drawn = by_task(kind, X).draw(90, 1)
    assert drawn.dtypes.to_dict() == X.dtypes.to_dict()
    of_hill = drawn["region"] == "hill"
    assert of_hill.any() and drawn.loc[of_hill, ["soil", "slope"]].isna().all(axis=None)
    assert not drawn.loc[of_hill, ["wet", "height"]].isna().any(axis=None)
    assert not drawn[~of_hill].isna().any(axis=None)


class Recording(ClassifierMixin, BaseEstimator):
    """A member that keeps its rows."""

    def fit(self, X, y):
        self.X_, self.classes_ = X, np.unique(y)
        return self

    def predict_proba(self, X):
        assert "region" in X
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@EVERY
def test_members_get_the_column(kind):
    X, y = sites()
    options = {"unlabeled": X} if kind == "unlabeled" else {}
    model = DecorateClassifier(
        Recording(), 3, generator=kind, task_column="region", reject=None, random_state=0
    ).fit(X, y, **options)
    for member in model.estimators_[1:]:
        assert len(member.X_) == 240
        regions = member.X_["region"][120:]
        assert set(regions) == {"hill", "plain", "coast"}
        # Heights of the regions do not overlap, and their means are far from each other.
        means = member.X_["height"][120:].groupby(regions).mean()
        assert means.to_numpy() == pytest.approx(np.array([225, 25, 125]), abs=30)


@EVERY
def test_accuracy_is_kept_where_the_class_depends_on_the_task(kind):
    X, y = sites(240)
    X = X[["wet", "slope", "region"]]  # without heights, which would tell the region
    model = DecorateClassifier(TREE, 5, generator=kind, task_column="region", random_state=0)
    half, rest = X[:120], X[120:]
    options = {"unlabeled": rest} if kind == "unlabeled" else {}
    assert model.fit(half, y[:120], **options).score(rest, y[120:]) > 0.75
    blind = without(X, "region")
    lost = clone(model).set_params(task_column=None)
    options = {"unlabeled": blind[120:]} if options else {}
    assert lost.fit(blind[:120], y[:120], **options).score(blind[120:], y[120:]) < 0.65


def test_a_number_of_the_task_is_a_name():
    X, y = sites(240)
    number = X["region"].map({"hill": 1, "plain": 2, "coast": 3})
    y = np.where(number == 2, "wren", "none")
    stump = DecisionTreeClassifier(max_depth=1)
    X = X[["slope"]].assign(region=number)
    for rows, column in ((X, "region"), (X.to_numpy(), 1)):
        model = DecorateClassifier(stump, 1, task_column=column, random_state=0)
        assert model.fit(rows, y).score(rows, y) == 1
        # Nominal columns that the user names need not name it.
        assert model.set_params(categorical_features=[]).fit(rows, y).score(rows, y) == 1
        assert model.set_params(task_column=None).fit(rows, y).score(rows, y) < 0.7


def test_unlabeled_cases_are_those_of_the_task():
    X, _ = sites()
    unlabeled, _ = sites(60, seed=1)
    elsewhere = unlabeled.assign(region="island")
    rows = pd.concat([unlabeled, elsewhere])[list(X)[::-1]]
    made = ByTask("unlabeled", X, read_columns(X), np.ones(120), 0, "region", rows)
    drawn = made.draw(200, 1)
    assert set(drawn.itertuples(index=False)) <= set(unlabeled.itertuples(index=False))
    assert drawn["region"].nunique() == 3
    array = X[["height", "slope"]].assign(region=X["height"] // 100).to_numpy()
    made = ByTask("unlabeled", array, read_columns(array), np.ones(120), 0, 2, array[:30] + 0.0)
    assert set(map(tuple, made.draw(200, 1))) <= set(map(tuple, array[:30]))


def test_tasks_without_weight_are_not_there():
    X, y = sites()
    is_plain = (X["region"] == "plain").to_numpy()
    model = DecorateClassifier(TREE, 3, task_column="region", random_state=0)
    model.fit(X, y, sample_weight=np.where(is_plain, 0, 2.0))
    kept = clone(model).fit(X[~is_plain], y[~is_plain], sample_weight=np.full(80, 2.0))
    np.testing.assert_array_equal(model.predict_proba(X), kept.predict_proba(X))


TOGETHER = MultitaskBayesNetClassifier(
    task_column="region",
    learner=MultitaskLearner(task_groups=None, **CLIMB),
    unseen="ignore",
    random_state=0,
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["marginals", "network"])
def test_networks_learned_together_are_members(kind):
    X, y = sites(240)
    X = X[["wet", "soil", "region"]]
    model = DecorateClassifier(
        clone(TOGETHER), 2, 3, generator=kind, task_column="region", reject=None, random_state=0
    ).fit(X[:120], y[:120])
    assert model.score(X[120:], y[120:]) > 0.85
    assert list(model.estimators_[1].networks_) == ["coast", "hill", "plain"]
    away = X[:5].assign(region="island")
    words = "column `region` must be one of tasks .*, got 'island'; `unknown_task='average'`"
    with pytest.raises(InputError, match=words):
        model.predict(away)
    model.set_params(estimator__unknown_task="average").fit(X[:120], y[:120])
    assert np.allclose(model.predict_proba(away).sum(axis=1), 1)


def test_rows_of_a_new_task_are_predicted_as_of_no_task_by_trees():
    X, y = sites()
    model = DecorateClassifier(task_column="region", random_state=0).fit(X, y)
    away = model.predict_proba(X.assign(region="island"))
    np.testing.assert_array_equal(away, model.predict_proba(X.assign(region="heath")))


MISTAKES = [
    ({"task_column": "place"}, {}, "`task_column` must be one of the columns `wet`, .*, got 'pl"),
    ({"task_column": 1.5}, {}, "`task_column` must be the name of a column, its position in"),
    ({}, {"region": None}, "Column `region` must name the task .* in 120 rows: drop these rows"),
    ({"generator": lambda X, n, rng: X[:1]}, {}, "Task `coast`: `generator` must return .* rows"),
    ({"generator": lambda X, n, rng: X[["wet"]]}, {}, "Task `coast`: .*; `height` is missing"),
    ({"generator": "normal"}, {}, "`generator` must be 'marginals', .* or 'network', got 'normal'"),
]


@pytest.mark.parametrize(("options", "cells", "message"), MISTAKES)
def test_mistakes_name_the_task_or_the_column(options, cells, message):
    X, y = sites()
    model = DecorateClassifier(**{"task_column": "region"} | options)
    with pytest.raises((InputError, InputTypeError), match=message):
        model.fit(X.assign(**cells), y)


def test_mistakes_in_rows_of_tasks():
    X, y = sites()
    model = DecorateClassifier(task_column="region", random_state=0)
    with pytest.raises(InputError, match="`task_column` must be from 0 to 1 for an array, got"):
        model.fit(X[["height", "slope"]].to_numpy(), y)
    with pytest.raises(InputError, match="`X` must have another column beside `region`; add"):
        model.fit(X[["region"]], y)
    gaps = X.assign(**dict.fromkeys(["wet", "height", "slope", "soil"]))
    some = gaps.where(X["region"] == "hill", X).assign(region=X["region"])
    with (
        pytest.warns(UserWarning, match="not measured there"),
        pytest.raises(InputError, match="Task `hill` must have a value in some column; leave the"),
    ):
        model.fit(some, y)
    model.fit(X, y)
    gap = X.assign(region=X["region"].where(X.index > 2))
    with pytest.raises(InputError, match="Column `region` must name the task .* in 3 rows"):
        model.predict_proba(gap)
    model.set_params(generator="unlabeled")
    words = "`unlabeled` must have rows of each task with labeled cases; there are none of `hill`"
    with pytest.raises(InputError, match=words):
        model.fit(X, y, unlabeled=X[X["region"] != "hill"])
    with pytest.raises(InputError, match="`unlabeled`: column `region` must name the task"):
        model.fit(X, y, unlabeled=gap)
    few = X.assign(region=X["region"].where(X.index > 0, "island"))
    for kind in ("network", NetworkSampler(), Munge(), Bootstrapped()):
        words = "Task `island` must have two cases or more .*; it has one: add cases, or leave the"
        with pytest.raises(InputError, match=words):
            model.set_params(generator=kind).fit(few, y)
    for kind in ("marginals", "uniform", "pool", bootstrapped):
        assert model.set_params(generator=kind).fit(few, y).estimators_


def test_it_works_with_tools_of_scikit_learn():
    X, y = sites()
    model = DecorateClassifier(TREE, 3, task_column="region", random_state=0)
    assert clone(model).get_params()["task_column"] == "region"
    p = model.fit(X, y).predict_proba(X)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)
    assert np.array_equal(clone(model).fit(X, y).predict_proba(X), p)
    grid = {"task_column": [None, "region"], "generator": ["marginals", "network"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(clone(model), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.85 and np.isfinite(search.cv_results_["mean_test_score"]).all()
    rounds = predict_rounds(model, X, y, "kfold", 1, folds=3, task=X["region"], random_state=0)
    assert np.mean(rounds.score("accuracy")) > 0.75


@pytest.mark.parametrize("kind", [ActiveDecorate, ActiveDecorateJS])
def test_strategies_ask_with_the_column(kind):
    X, y = sites()
    y = y.astype(object)
    y[60:] = None
    strategy = kind(n_estimators=3, task_column="region", random_state=0)
    assert clone(strategy).committee().task_column == "region"
    rows, utilities = strategy.query(X, y, batch_size=2, return_utilities=True)
    assert (rows >= 60).all()
    committee = strategy.committee().fit(X[:60], y[:60].astype(str))
    again = strategy.query(X, y, batch_size=2, committee=committee)
    assert rows.tolist() == again.tolist()
    _, blind = clone(strategy).set_params(task_column=None).query(X, y, return_utilities=True)
    assert not np.allclose(utilities[0, 60:], blind[0, 60:])
    with pytest.raises(InputError, match="`task_column` must be one of the columns"):
        strategy.set_params(task_column="place").query(X, y)
