"""Selection for several tasks: alone at one end, one ensemble for all at the other."""

import numpy as np
import pandas as pd
import pytest

from bnmtl.ensembles import EnsembleSelector, MultitaskEnsembleSelector, PredictionStore, multitask
from bnmtl.ensembles.entries import SCALE
from bnmtl.ensembles.selection import distinct_models
from bnmtl.errors import InputError, InputTypeError, InputWarning
from bnmtl.metrics import prediction

pytestmark = pytest.mark.beside_kernels


def store_of(seed=0, n_models=10, sizes=(40, 30, 50), n_classes=2):
    """Some models are good for some tasks."""
    rng = np.random.default_rng(seed)
    tasks = np.repeat([f"task{at}" for at in range(len(sizes))], sizes)
    y = rng.permutation(np.arange(len(tasks)) % n_classes)
    noise = rng.uniform(0.5, 3, (n_models, len(sizes))).repeat(sizes, axis=1)
    odds = (
        1.5 * np.eye(n_classes)[y]
        + rng.normal(size=(n_models, len(y), n_classes)) * (noise[:, :, None])
    )
    p = np.exp(odds) / np.exp(odds).sum(axis=2, keepdims=True)
    names = [f"m{at:02}" for at in rng.permutation(n_models)]
    return PredictionStore(p, y, names, task=tasks)


SMALL = {"bags": 3, "max_steps": 8, "random_state": 0}


@pytest.mark.parametrize("metric", ["cross_entropy", "accuracy", "roc_area"])
def test_share_0_selects_for_each_task_alone(metric):
    store = store_of()
    found = MultitaskEnsembleSelector(0, metric, **SMALL).fit(store)
    for task in ("task0", "task1", "task2"):
        alone = EnsembleSelector(metric, **SMALL).fit(store.of_task(task))
        assert found.weights_[task].to_numpy() == pytest.approx(alone.weights_.to_numpy())


def test_share_1_selects_one_ensemble_for_all():
    weights = MultitaskEnsembleSelector(1.0, **SMALL).fit(store_of()).weights_
    assert weights["task0"].equals(weights["task1"].rename("task0"))
    assert weights["task0"].equals(weights["task2"].rename("task0"))


def tied_stores(n_tasks):
    """Stores with few different probabilities, so that most steps are ties."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = rng.integers(12, 24)
        y = np.tile(np.arange(n) % 2, n_tasks)
        p = 0.4 + 0.2 * y + rng.choice([-0.3, -0.2, 0, 0.2, 0.3], size=(8, len(y)))
        tasks = np.repeat([f"task{at}" for at in range(n_tasks)], n)
        yield PredictionStore(np.clip(p, 0.1, 0.9).round(1), y, task=tasks)


TIED = {"initial": 0, "bags": 1, "bag_fraction": 1.0, "max_steps": 12}


@pytest.mark.filterwarnings("ignore:.*no model that beats the base rate")
@pytest.mark.parametrize("metric", ["accuracy", "f_score", "average_precision"])
def test_share_1_selects_one_ensemble_among_ties(metric):
    for store in tied_stores(6):
        weights = MultitaskEnsembleSelector(1.0, metric, **TIED).fit(store).weights_.to_numpy()
        assert (weights == weights[:, :1]).all()


@pytest.mark.filterwarnings("ignore:.*no model that beats the base rate")
@pytest.mark.parametrize("metric", ["accuracy", "f_score", "roc_area"])
def test_share_0_breaks_ties_as_each_task_alone(metric):
    for store in tied_stores(3):
        found = MultitaskEnsembleSelector(0, metric, **TIED).fit(store).weights_
        for task in found:
            alone = EnsembleSelector(metric, **TIED).fit(store.of_task(task)).weights_
            assert found[task].to_numpy() == pytest.approx(alone.to_numpy())


def test_weights_of_cases_do_not_change_the_weights_of_tasks_in_ties():
    store, weights = store_of(), np.repeat([1.0, 20.0, 3.0], [40, 30, 50])
    cases = store.parts["hillclimb"]
    weighted = PredictionStore(store.predictions(), cases.y, weights=weights, task=cases.task)
    _, models = distinct_models(weighted)
    tasks = multitask._Tasks.of(weighted, "accuracy", models)
    library, p = tasks.library(models, "task0", 0.6), models[0] / SCALE
    losses = [
        prediction.cross_entropy(cases.y[at], p[at])
        for at in (cases.task == task for task in ("task0", "task1", "task2"))
    ]
    assert -library.truth.of(p) == pytest.approx(np.dot([0.6, 0.2, 0.2], losses))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_steps_are_best_in_the_mean_of_normalized_scores(n_classes, share):
    store = store_of(1, n_classes=n_classes)
    options = {"initial": 0, "bags": 1, "bag_fraction": 1.0, "max_steps": 4, "random_state": 0}
    found = MultitaskEnsembleSelector(share, **options).fit(store)
    cases, p = store.parts["hillclimb"], store.predictions().astype(float)
    places = {task: np.flatnonzero(cases.task == task) for task in found.ensembles_}

    def loss(task, q):
        at = places[task]
        return prediction.cross_entropy(cases.y[at], q[at])

    scales = {}
    for task, at in places.items():
        shares = np.bincount(cases.y[at]) / len(at)
        base = -(shares * np.log(shares)).sum()
        scales[task] = base, min(loss(task, q) for q in p)

    def value(task, q):
        normalized = {
            one: (loss(one, q) - base) / (best - base) for one, (base, best) in scales.items()
        }
        return (1 - share) * normalized[task] + share * np.mean(list(normalized.values()))

    for task, selector in found.ensembles_.items():
        members = []
        for _ in range(4):
            means = [np.mean(p[[*members, at]], axis=0) for at in range(len(p))]
            members.append(int(np.argmax([value(task, q) for q in means])))
        path = selector.trajectory_
        assert path["model"].tolist() == [store.names[at] for at in members]
        values = [value(task, np.mean(p[members[:n]], axis=0)) for n in (1, 2, 3, 4)]
        assert path["score"].tolist() == pytest.approx(values)


def test_folds_choose_the_share():
    rng = np.random.default_rng(3)
    tasks = np.repeat(["a", "b"], 60)
    y = rng.permutation(np.arange(120) % 2)
    # Every model predicts one task well and the other one upside down.
    is_right = np.arange(12)[:, None] % 2 == (tasks == "a")
    p = np.clip(0.5 + np.where(is_right, 0.3, -0.3) * (2 * y - 1), 0, 1)
    p = np.clip(p + rng.normal(size=p.shape) * 0.2, 0.01, 0.99)
    found = MultitaskEnsembleSelector(**SMALL).fit(PredictionStore(p, y, task=tasks))
    assert found.share_ == found.share_scores_.idxmax() < 1
    assert found.share_scores_[0] > found.share_scores_[1.0]
    fixed = MultitaskEnsembleSelector(found.share_, **SMALL).fit(found.store_)
    assert fixed.weights_.equals(found.weights_)


def test_folds_for_the_share_do_not_divide_groups():
    store = store_of(sizes=(60, 60))
    part, groups = store.parts["hillclimb"], np.arange(120) // 4
    y = store.classes[part.y]
    grouped = PredictionStore(store.predictions(), y, task=part.task, groups=groups)
    seen = []

    class Watched(MultitaskEnsembleSelector):
        def _held_out(self, tasks, models, train, test, share, seed):
            seen.append((train, test))
            return float(share == 0.25)

    found = Watched(bags=1, max_steps=1, random_state=0).fit(grouped)
    assert len(seen) == 5 * 6 and found.share_ == 0.25
    assert found.share_scores_[0.25] == pytest.approx(1)
    for train, test in seen:
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 120
        assert len(set(zip(part.task[test], y[test], strict=True))) == 4
    by_class = PredictionStore(store.predictions(), y, task=part.task, groups=y)
    with pytest.raises(InputError, match="in two groups or more .*: give a number for `share`"):
        MultitaskEnsembleSelector(**SMALL).fit(by_class)


def test_cases_are_predicted_by_the_ensemble_of_their_task():
    store = store_of(2)
    found = MultitaskEnsembleSelector(0.5, **SMALL).fit(store)
    p = found.predict_proba("hillclimb")
    tasks = store.parts["hillclimb"].task
    for task in found.ensembles_:
        at = tasks == task
        assert p[at, 1] == pytest.approx(found.weights_[task] @ store.predictions()[:, at])
    entries = dict(zip(store.names, store.predictions().astype(float), strict=True))
    assert found.predict_proba(entries, tasks) == pytest.approx(p)
    assert found.predict_proba(pd.DataFrame(entries), tasks) == pytest.approx(p)
    with pytest.raises(InputTypeError, match="`part` must be a part of the store or a mapping"):
        found.predict_proba(store.predictions(), tasks)
    with pytest.raises(InputError, match="`task` must be given"):
        found.predict_proba(entries)
    with pytest.raises(InputError, match="must be tasks of the store.*got 'task9'"):
        found.predict_proba(entries, ["task9"] * 120)
    with pytest.raises(InputError, match="`task` must be one task per case, 120, got 3"):
        found.predict_proba(entries, ["task0"] * 3)


def test_others_do_not_learn_from_a_task_without_a_useful_model():
    rng = np.random.default_rng(0)
    tasks, y = np.repeat(["good", "bad"], 40), np.arange(80) % 2
    p = np.where(tasks == "good", 0.5 + 0.3 * (2 * y - 1), 0.5 - 0.4 * (2 * y - 1))
    p = p + rng.normal(size=(5, 80)) * 0.05
    store = PredictionStore(np.clip(p, 0, 1), y, task=tasks)
    with pytest.warns(InputWarning, match="Task `bad` has no model that beats the base rate"):
        found = MultitaskEnsembleSelector(1.0, **SMALL).fit(store)
    alone = EnsembleSelector(**SMALL).fit(store.of_task("good"))
    assert found.weights_["good"].to_numpy() == pytest.approx(alone.weights_.to_numpy())


def test_mistakes():
    store = store_of()
    with pytest.raises(InputError, match="`share` must be a number from 0 to 1, got 2"):
        MultitaskEnsembleSelector(2).fit(store)
    with pytest.raises(InputError, match="must have the task of every case"):
        plain = PredictionStore(store.predictions(), store.parts["hillclimb"].y)
        MultitaskEnsembleSelector(0.5).fit(plain)
    with pytest.raises(InputError, match="Task `b` must have cases of all classes"):
        one = PredictionStore([[0.1, 0.9, 0.2]] * 2, [0, 1, 0], task=["a", "a", "b"])
        MultitaskEnsembleSelector(0.5).fit(one)
    few = PredictionStore([[0.1, 0.9], [0.4, 0.8]], [0, 1], task=["a", "a"])
    with pytest.raises(InputError, match="two cases of each class"):
        MultitaskEnsembleSelector(**SMALL).fit(few)
