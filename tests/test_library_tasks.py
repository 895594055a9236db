"""Libraries and ensembles of several tasks, named by a column."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from command import mistake, record
from pages import Page
from sklearn.base import BaseEstimator, clone
from sklearn.tree import DecisionTreeRegressor

from bnmtl import HillClimbing, MultitaskLearner, structures
from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.ensembles import (
    EnsembleSelector,
    LibraryEnsemble,
    Mimic,
    NaiveBayesSampler,
    PredictionStore,
    UnusedCases,
    unused_cases,
)
from bnmtl.ensembles.library import families, settings, workers
from bnmtl.ensembles.library.build import build_library
from bnmtl.ensembles.library.columns import Columns
from bnmtl.errors import InputError, InputWarning
from bnmtl.metrics import prediction

pytestmark = pytest.mark.beside_kernels

TOGETHER = {"family": "networks of all tasks"}
LOGISTIC = {"family": "logistic regression"}
FEW = [TOGETHER, {**TOGETHER, "shared": False, "penalty": 0.0}, LOGISTIC]
FAST = {"bags": 2, "max_steps": 4, "random_state": 0}
LEARNER = partial(MultitaskLearner, search=HillClimbing(restarts=0), task_groups=None)


@pytest.fixture(autouse=True)
def short_searches(monkeypatch):
    """Let networks be searched briefly, and for no groups of tasks."""
    monkeypatch.setattr(families, "MultitaskLearner", LEARNER)


@pytest.fixture(autouse=True)
def few_replicates(monkeypatch):
    """Let standard errors be those of few replicates."""
    monkeypatch.setattr(unused_cases, "_REPLICATES", 20)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Train here: starting a process takes seconds."""

    def run(function, tasks, arguments_of, *_):
        for task in tasks:
            try:
                yield workers.Done(task, function(*arguments_of(task)), None, 0.0)
            except InputError as error:
                yield workers.Done(task, None, str(error), 0.0)

    monkeypatch.setattr(workers, "run", run)


def clinics(sizes=(40, 30, 20), seed=0):
    """Rows of clinics with whole numbers as names, in random order, and their labels."""
    rows = structures.load("asia").sample(sum(sizes), random_state=seed)
    rows = rows[["bronc", "dysp", "smoke", "xray"]]
    rows = rows.assign(clinic=np.repeat(np.arange(len(sizes)) + 1, sizes))
    rows = rows.sample(frac=1, random_state=seed)
    return rows, rows.pop("bronc")


def test_folds_have_their_share_of_every_task_in_every_class():
    X, y = clinics()
    store = build_library(X, y, [LOGISTIC], cv=3, random_state=0, task_column="clinic")
    part = store.part()
    assert (part.task == X["clinic"].astype(str)).all()
    counts = pd.crosstab([part.task, part.y], part.folds)
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    other = build_library(X, y, [LOGISTIC], cv=3, random_state=1, task_column="clinic")
    assert not np.array_equal(part.folds, other.part().folds)


def test_the_share_of_hill_climbing_has_its_share_of_every_task_in_every_class():
    X, y = clinics()
    options = {"random_state": 0, "task_column": "clinic"}
    part = build_library(X, y, [LOGISTIC], hillclimb=0.3, **options).part()
    assert len(part.y) == 27
    every = pd.crosstab(X["clinic"].to_numpy(), y.to_numpy()) * 0.3
    found = pd.crosstab(part.task.astype(int), np.array(["no", "yes"])[part.y])
    assert (found - every).abs().to_numpy().max() < 1.5


def test_few_rows_of_a_task_are_enough():
    X, y = clinics((30, 4, 3))
    options = {"cv": 5, "random_state": 0, "task_column": "clinic", "test": (X[:9], None)}
    store = build_library(X, y, [LOGISTIC], **options)
    assert store.n_models == 2 and set(store.part().task) == {"1", "2", "3"}
    assert (store.part("test").task == X["clinic"][:9].astype(str)).all()


@pytest.mark.filterwarnings("ignore:.*only one state")
def test_networks_of_all_tasks_are_the_classifier_of_the_tasks():
    X, y = clinics((80, 30, 20), seed=3)
    more, labels = clinics((8, 8, 8), seed=1)
    given = {"hillclimb": (more, labels), "random_state": 0, "task_column": "clinic"}
    store = build_library(X, y, FEW, **given)
    for shared, penalty, name in [(True, 0.99, ""), (False, 0.0, ", separate tables")]:
        learner = LEARNER(table_sharing="auto" if shared else None, missing="state")
        fixed = {"task_column": "clinic", "penalty": penalty, "unseen": "ignore"}
        by_hand = MultitaskBayesNetClassifier(learner=learner, random_state=0, **fixed)
        p = by_hand.fit(X, y).predict_proba(more)[:, 1]
        model = f"networks of all tasks: penalty {penalty:g}{name}, 5 bins"
        found = store.predictions()[store.names.index(model)]
        # The seed decides only ties, which there are none of here.
        assert found == pytest.approx(p, abs=1e-5)
        # Another penalty learns other networks.
        other = by_hand.set_params(penalty=0.5).fit(X, y).predict_proba(more)[:, 1]
        assert np.abs(found - other).max() > 1e-3


def test_an_ensemble_is_trained_again_from_a_folder(tmp_path):
    X, y = clinics()
    options = {"cv": 3, "random_state": 0, "task_column": "clinic", "out": tmp_path / "store"}
    build_library(X, y, FEW[1:], **options)
    store = PredictionStore.open(tmp_path / "store")
    assert store.library.task_column == "clinic"
    weights = pd.Series(1.0, store.names)
    ensemble = LibraryEnsemble(store, weights).fit(X, y)
    assert ensemble.predict_proba(X).shape == (90, 2)
    with pytest.raises(InputError, match="`clinic` must be one of the tasks.*got '7'"):
        ensemble.predict_proba(X.assign(clinic=7))
    with pytest.raises(InputError, match="`clinic` must name the task of every row.*in 90 rows"):
        ensemble.predict_proba(X.assign(clinic=None))
    with pytest.raises(InputError, match="`out` must be a new folder"):
        build_library(X, y, [LOGISTIC], **{**options, "task_column": None})


def test_a_task_of_an_array_is_found_by_position():
    X, y = clinics()
    codes = np.column_stack([pd.factorize(X[name], sort=True)[0] for name in X])
    at = list(X).index("clinic")
    options = {"hillclimb": 0.3, "random_state": 0}
    store = build_library(codes, y, [LOGISTIC], task_column=at, **options)
    assert set(store.part().task) == {"0", "1", "2"}
    with pytest.raises(InputError, match="`task_column` must be from 0 to 3 for an array"):
        build_library(codes, y, [LOGISTIC], task_column="clinic", **options)
    with pytest.raises(InputError, match="`task_column` must be one of the columns"):
        build_library(X, y, [LOGISTIC], task_column="region", **options)


def test_whole_numbers_that_name_tasks_are_a_category():
    X, _ = clinics()
    assert Columns.of(X).categories["clinic"] is None
    assert Columns.of(X, "clinic").categories["clinic"] == ("1", "2", "3")


def test_a_task_that_a_fold_lacks_is_predicted_from_all():
    X, y = clinics()
    groups = X["clinic"].map(lambda clinic: f"group {clinic}")
    options = {"cv": 3, "random_state": 0, "task_column": "clinic", "groups": groups}
    store = build_library(X, y, FEW, **options)
    part = store.part()
    assert len(set(zip(part.folds, part.task, strict=True))) == 3
    assert not len(store.skipped)


def test_a_task_that_cannot_be_learned_skips_the_model():
    X, y = clinics((30, 20, 1))
    options = {"cv": 2, "random_state": 0, "task_column": "clinic"}
    with pytest.warns(InputWarning, match="1 of 2 settings that were skipped"):
        store = build_library(X, y, [TOGETHER, LOGISTIC], **options)
    (reason,) = store.skipped["reason"]
    assert "Task `3`" in reason and "two rows" in reason
    assert store.n_models == 2


@pytest.mark.parametrize(
    ("setting", "task_column", "rule"),
    [
        (TOGETHER, None, "`profile` must have only families that need no tasks.*`task_column`"),
        ({**TOGETHER, "penalty": 2}, "clinic", "number from 0 to 1 as `penalty`.*got 2"),
        ({**TOGETHER, "shared": "yes"}, "clinic", "as `shared` of `networks of all tasks`"),
        ({**TOGETHER, "task_column": "x"}, "clinic", "only the parameters.*got 'task_column'"),
    ],
)
def test_settings_that_are_wrong(setting, task_column, rule):
    with pytest.raises(InputError, match=rule):
        build_library(*clinics(), [setting], task_column=task_column)


@pytest.mark.parametrize("profile", ["modern", "small", "thesis"])
def test_profiles_learn_networks_together_if_there_are_tasks(profile):
    X, _ = clinics()
    for column in (None, "clinic"):
        fits = settings.fits_of(profile, 90, Columns.of(X, column))
        together = [fit for fit in fits if fit.family == TOGETHER["family"]]
        assert bool(together) == (column is not None)
        assert all(fit.members[0]["task_column"] == column for fit in together)


def store_with_tasks(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=120)
    task = rng.choice(["north", "south"], 120).astype(object)
    y[:20], task[:20] = 0, "one class"
    p = 1 / (1 + np.exp(-(2 * y - 1 + rng.normal(size=(5, 120)) * 2)))
    parts = {"hillclimb": slice(0, None, 2), "test": slice(1, None, 2)}
    columns = [{part: array[..., at] for part, at in parts.items()} for array in (p, y, task)]
    return PredictionStore(columns[0], columns[1], task=columns[2])


def test_the_store_of_a_task_is_found_by_a_number_too():
    store = PredictionStore([[0.2, 0.7, 0.4, 0.6]], [0, 1, 0, 1], task=[1, 1, 2, 2])
    assert store.of_task(1).predictions().tolist() == store.of_task("1").predictions().tolist()
    one, whole = store.of_task("1"), store.part()
    at = whole.task == "1"
    assert one.predictions().tolist() == store.predictions()[:, at].tolist()
    assert one.part().y.tolist() == whole.y[at].tolist() and set(one.part().task) == {"1"}


@pytest.mark.parametrize("name", ["clinic", "xray"])
def test_a_column_of_other_rows_must_not_occur_twice(name):
    X, y = clinics()
    twice = pd.concat([X, X[[name]]], axis=1), y
    with pytest.raises(InputError, match=f"`test` must have different columns; `{name}` occurs"):
        build_library(X, y, [LOGISTIC], task_column="clinic", test=twice)


def test_scores_of_tasks_are_those_of_their_cases():
    store = store_with_tasks()
    selector = EnsembleSelector("roc_area", **FAST).fit(store)
    found = UnusedCases.on_part(selector).tasks
    part, p = store.part("test"), selector.predict_proba("test")[:, 1]
    for task in ("north", "south"):
        at = part.task == task
        assert found.loc[task, "cases"] == at.sum()
        by_hand = prediction.roc_area(part.y[at], p[at])
        assert found.loc[task, "ensemble"] == pytest.approx(by_hand)
    assert found.loc["one class"].isna().tolist() == [False, True, True, True, True]
    predictions = dict(zip(store.names, store.predictions("test"), strict=True))
    again = UnusedCases.on_cases(selector, predictions, part.y, task=part.task).tasks
    assert again["ensemble"].equals(found["ensemble"])
    assert UnusedCases.on_cases(selector, predictions, part.y).tasks is None


def test_scores_of_tasks_by_folds_are_those_of_the_held_out_cases():
    store = store_with_tasks()
    selector = EnsembleSelector(**FAST).fit(store)
    found = UnusedCases.by_folds(selector)
    # The cross-entropy is a mean over cases, so that of tasks and folds are means of the same.
    by_task = np.average(found.tasks["ensemble"], weights=found.tasks["cases"])
    by_fold = np.average(found.table["ensemble"], weights=found.table["cases"])
    assert by_task == pytest.approx(by_fold)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Tables of clinics, and few settings for the profile "small"."""
    monkeypatch.setitem(settings.PROFILES, "small", lambda *_: FEW[1:])
    X, y = clinics()
    X.assign(bronc=y).to_csv(tmp_path / "rows.csv", index=False)
    more, labels = clinics((10, 10, 10), seed=1)
    more = more.assign(bronc=labels)
    more.to_csv(tmp_path / "more.csv", index=False)
    more.assign(clinic=more["clinic"].astype(float)).to_parquet(tmp_path / "more.parquet")
    return tmp_path


LIBRARY = ("library", "rows.csv", "--label", "bronc", "--profile", "small", "--cv", "2")
BRIEFLY = ("--bags", "2", "--max-steps", "4")
SELECT = ("select", "store", "--metric", "cross-entropy", *BRIEFLY)


def test_commands_show_every_task(call, tables):
    code, _, err = call(*LIBRARY, "--task-column", "clinic", "--out", "store")
    assert code == 0, err
    assert call(*SELECT, "--out", "a")[0] == 0
    assert call(*SELECT, "--test", "more.parquet", "--out", "c")[0] == 0
    code, out, err = call(*SELECT, "--test", "more.csv", "--predict", "more.csv", "--out", "b")
    assert code == 0, err
    for folder, n_cases in (("a", [40, 30, 20]), ("c", [10, 10, 10]), ("b", [10, 10, 10])):
        found = pd.read_csv(tables / folder / "tasks.csv", dtype={"task": str})
        assert found["task"].tolist() == ["1", "2", "3"] and found["cases"].tolist() == n_cases
        written = record(tables / folder)["unused_cases"]["tasks"]
        assert written["2"]["ensemble"] == pytest.approx(found.loc[1, "ensemble"])
        page = Page((tables / folder / "report.html").read_text(encoding="utf-8"))
        at = page.headings.index("How good it is on each task")
        assert page.tables[at][3][:3] == ["3", f"{n_cases[2]}", f"{found.loc[2, 'ensemble']:.4f}"]
    assert f"2               10    {found.loc[1, 'ensemble']:.4f}" in out
    predicted = pd.read_csv(tables / "b" / "predicted.csv")
    by_hand = prediction.cross_entropy(
        (predicted["bronc"] == "yes").to_numpy().astype(int)[predicted["clinic"] == 2],
        predicted["p_yes"].to_numpy()[predicted["clinic"] == 2],
    )
    assert found.loc[1, "ensemble"] == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.drawn
def test_tasks_of_a_table_of_predictions(call, tmp_path):
    store = store_with_tasks()
    for part, name in (("hillclimb", "p.csv"), ("test", "t.csv")):
        frame = pd.DataFrame(store.predictions(part).T, columns=store.names)
        cases = store.part(part)
        frame.assign(y=cases.y, region=cases.task).to_csv(tmp_path / name, index=False)
    select = ("select", "p.csv", "--metric", "roc-area", *BRIEFLY, "--task-column", "region")
    assert call(*select, "--out", "a")[0] == 0
    assert call(*select, "--test", "t.csv", "--out", "b")[0] == 0
    found = pd.read_csv(tmp_path / "b" / "tasks.csv", index_col="task")
    selector = EnsembleSelector("roc_area", **FAST).fit(store)
    by_hand = UnusedCases.on_part(selector).tasks
    assert found["ensemble"].to_numpy() == pytest.approx(by_hand["ensemble"], nan_ok=True)
    assert (
        json.loads((tmp_path / "b" / "run.json").read_text())["unused_cases"]["tasks"]["one class"][
            "ensemble"
        ]
        is None
    )
    assert pd.read_csv(tmp_path / "a" / "tasks.csv")["cases"].sum() == 60


def test_mistakes_about_tasks_are_one_sentence(call, tables):
    refused = {
        ("--task-column", "region"): "`--task-column` must be a column of TABLE",
        ("--task-column", "bronc"): "`--task-column` must be another column than the labels",
        ("--task-column", "clinic", "--group", "clinic"): "`--group` must be another column",
    }
    for options, sentence in refused.items():
        assert sentence in mistake(call(*LIBRARY, *options, "--out", "x"))
    assert call(*LIBRARY, "--task-column", "clinic", "--out", "store")[0] == 0
    found = mistake(call(*SELECT, "--task-column", "clinic", "--out", "a"))
    assert "`--task-column` must come with a CSV file" in found and "has its tasks in it" in found
    (tables / "new.csv").write_text((tables / "more.csv").read_text().replace(",1,", ",Oslo,"))
    found = mistake(call(*SELECT, "--predict", "new.csv", "--out", "a"))
    assert "clinic" in found and "Oslo" in found
    frame = pd.read_csv(tables / "rows.csv").assign(m=0.5, n=0.4)[["m", "n", "bronc", "clinic"]]
    frame.to_csv(tables / "p.csv", index=False)
    frame.drop(columns="clinic").to_csv(tables / "t.csv", index=False)
    options = ("--label", "bronc", "--task-column", "clinic", "--test", "t.csv", "--out", "a")
    found = mistake(call("select", "p.csv", *SELECT[2:], *options))
    assert "`t.csv`: `--task-column` must be a column of `--test`, `m`, `n`, `bronc`" in found


class Teacher(BaseEstimator):
    """Probabilities by a formula; it keeps what it is asked about."""

    classes_ = np.array(["no", "yes"])

    def __init__(self):
        self.asked = []

    def predict_proba(self, X):
        self.asked.append(X)
        size = X["size"] if isinstance(X, pd.DataFrame) else X[:, 1]
        p = 1 / (1 + np.exp(-np.asarray(size, float)))
        return np.stack([1 - p, p], axis=1)


@pytest.mark.parametrize("sampler", [None, NaiveBayesSampler()])
def test_a_mimic_draws_pseudo_cases_within_a_task(sampler):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"color": rng.choice(["red", "green"], 80), "size": 1 + rng.random(80)})
    rows["region"] = np.repeat([7, 8], [60, 20])
    rows.loc[60:, "size"] *= -1
    teacher = Teacher()
    options = {"sizes": (400,), "random_state": 0, "task_column": "region"}
    mimic = Mimic(teacher, DecisionTreeRegressor(), sampler=sampler, **options)
    mimic.fit(rows, held_out=rows[:10])
    (pseudo,) = (asked for asked in teacher.asked if len(asked) == 400)
    assert pseudo["region"].dtype == rows["region"].dtype and list(pseudo) == list(rows)
    assert pseudo["region"].value_counts().to_dict() == {7: 300, 8: 100}
    assert ((pseudo["size"] > 0) == (pseudo["region"] == 7)).all()
    # Any part of them is a random choice.
    assert 50 < (pseudo["region"][:100] == 7).sum() < 100


def test_a_mimic_finds_the_task_of_an_array_by_position():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=60), np.zeros(60), np.repeat([0.0, 1.0], 30)])
    rows[:, 1] = np.where(rows[:, 2] == 1, 5, -5)
    teacher = Teacher()
    mimic = Mimic(teacher, DecisionTreeRegressor(), sizes=(100,), random_state=0, task_column=2)
    mimic.fit(rows, held_out=rows[:5])
    (pseudo,) = (asked for asked in teacher.asked if len(asked) == 100)
    assert (pseudo[:, 1] == np.where(pseudo[:, 2] == 1, 5, -5)).all()
    with pytest.raises(InputError, match="`task_column` must be from 0 to 2"):
        clone(mimic).set_params(task_column=4).fit(rows)
    rows[0, 2] = 2
    with pytest.raises(InputError, match=r"Task `2.*two rows or more besides those held out"):
        clone(mimic).fit(rows, held_out=rows[:5])
    rows[:7, 2] = np.nan
    with pytest.raises(InputError, match="it is missing in 7 rows"):
        clone(mimic).fit(rows)
