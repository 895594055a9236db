"""Scores on unused cases are those of selections repeated by hand, and say who is better."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from bnmtl.ensembles import (
    EnsembleSelector,
    PredictionStore,
    Stacking,
    UnusedCases,
    best_single,
    mean_of_all,
    model_averaging,
)
from bnmtl.ensembles.unused_cases import Rival
from bnmtl.metrics import prediction

pytestmark = pytest.mark.beside_kernels

METHODS = ["ensemble", "best single model", "mean of all models"]


def store(n_classes=2, n_cases=90, weights=None, n_test=60):
    rng = np.random.default_rng(0)
    n = n_cases + n_test
    y = rng.permutation(np.arange(n) % n_classes)
    noise = rng.normal(size=(10, n, n_classes)) * np.linspace(1, 3, 10)[:, None, None]
    p = np.exp(1.5 * np.eye(n_classes)[y] + noise)
    p /= p.sum(axis=2, keepdims=True)
    parts = {"hillclimb": np.arange(n_cases), "test": np.arange(n_cases, n)}
    return PredictionStore(
        {part: p[:, at] for part, at in parts.items()},
        {part: np.array(["no", "so", "yes"])[y[at]] for part, at in parts.items()},
        [f"model{at}" for at in range(9, -1, -1)],  # the best is not the first by name
        weights=weights,
        settings=[{"family": family} for family in "abcabcabca"],
    )


def fitted(given, metric="cross_entropy", **options):
    options = {"bags": 2, "max_steps": 5, "random_state": 3, **options}
    return EnsembleSelector(metric, **options).fit(given)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("metric", ["cross_entropy", "accuracy"])
def test_folds_are_scored_by_what_was_selected_on_the_others(n_classes, metric):
    given = store(n_classes)
    selector = fitted(given, metric)
    found = UnusedCases.by_folds(selector, n_folds=4)
    y, p, score = given.parts["hillclimb"].y, given.predictions(), getattr(prediction, metric)
    gains = []
    splits = StratifiedKFold(4, shuffle=True, random_state=3).split(y, y)
    for (rest, fold), (number, row) in zip(splits, found.table.iterrows(), strict=True):
        part = PredictionStore(p[:, rest], given.classes[y[rest]], given.names)
        ensembles = fitted(part, metric), best_single(part, metric), mean_of_all(part)
        scores = []
        for one in ensembles:
            mean = np.tensordot(one.weights_, p[:, fold].astype(float), 1)
            scores.append(score(y[fold], mean))
        assert row["cases"] == len(fold) and number == len(gains) + 1
        assert row[METHODS].tolist() == pytest.approx(scores)
        gains.append((scores[1] - scores[0]) * (1 if metric == "cross_entropy" else -1))
    assert found.gain == pytest.approx(np.mean(gains))
    assert found.standard_error == pytest.approx(np.std(gains, ddof=1) * np.sqrt(1 / 4 + 1 / 3))
    assert found.scores.tolist() == pytest.approx(found.table.iloc[:, 1:].mean().tolist())
    sign = -1 if metric == "cross_entropy" else 1
    assert found.selected == selector.score_ and found.part is None
    assert found.optimism == pytest.approx(sign * (selector.score_ - found.scores["ensemble"]))


def rivals_of(p, y, families):
    """By name, the weights of simple rivals by cross-entropy."""
    losses = np.array([prediction.cross_entropy(y, one) for one in p])
    best = {
        family: np.eye(len(p))[min(np.flatnonzero(families == family), key=losses.__getitem__)]
        for family in np.unique(families)
    }
    return {f"best model of {family}": one for family, one in best.items()} | {
        "mean of all models": np.full(len(p), 1 / len(p)),
        "mean of the best models of the families": np.mean(list(best.values()), axis=0),
    }


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_rival_of_a_fold_is_the_best_one_on_the_other_folds(n_classes):
    given = store(n_classes)
    selector = fitted(given)
    found = UnusedCases.by_folds(selector, n_folds=4)
    families = given.settings["family"].to_numpy()
    y, p = given.parts["hillclimb"].y, given.predictions().astype(float)
    losses = []
    for rest, fold in StratifiedKFold(4, shuffle=True, random_state=3).split(y, y):
        weights = rivals_of(p[:, rest], y[rest], families)
        losses.append(
            {
                name: prediction.cross_entropy(y[fold], np.tensordot(one, p[:, fold], 1))
                for name, one in weights.items()
            }
        )
    losses = pd.DataFrame(losses)
    chosen = [losses.drop(index=fold).mean().idxmin() for fold in range(4)]
    scores = np.array([losses.loc[fold, name] for fold, name in enumerate(chosen)])
    gains = scores - found.table["ensemble"].to_numpy()
    assert found.rival.name == losses.mean().idxmin()
    shown = "strongest simple rival, chosen by folds"
    assert found.table[shown].tolist() == pytest.approx(scores.tolist())
    assert found.rival.score == pytest.approx(scores.mean()) == found.scores[shown]
    assert f"the {shown} ({found.scores[shown]:.4f})" in found.rival_in_words()
    assert found.rival.gain == pytest.approx(gains.mean())
    expected = np.std(gains, ddof=1) * np.sqrt(1 / 4 + 1 / 3)
    assert found.rival.standard_error == pytest.approx(expected)


def test_the_rival_of_a_part_is_the_best_one_on_the_cases_of_selection():
    given = store()
    found = UnusedCases.on_part(fitted(given))
    p = given.predictions().astype(float)
    families, y = given.settings["family"].to_numpy(), given.parts["hillclimb"].y
    rivals = rivals_of(p, y, families)
    best = min(rivals, key=lambda name: prediction.cross_entropy(y, rivals[name] @ p))
    mean = rivals[best] @ given.predictions("test").astype(float)
    assert found.rival.name == best
    assert found.rival.score == pytest.approx(prediction.cross_entropy(given.parts["test"].y, mean))
    assert found.scores["strongest simple rival"] == found.rival.score
    assert found.rival.gain == pytest.approx(found.rival.score - found.scores["ensemble"])
    assert found.rival.standard_error > 0


def test_folds_do_not_divide_groups():
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.arange(60) // 4)
    y = (groups % 2 + (rng.random(60) < 0.2)) % 2
    p = np.clip(rng.random((6, 60)), 0.05, 0.95)
    given = PredictionStore(p, y, groups=groups)
    assert given.parts["hillclimb"].groups.tolist() == groups.astype(str).tolist()
    seen = []

    class Watched(EnsembleSelector):
        def fit(self, store):
            seen.append({part: set(one.groups) for part, one in store.parts.items()})
            return super().fit(store)

    selector = Watched(bags=1, max_steps=2, random_state=0).fit(given)
    assert len(UnusedCases.by_folds(selector).table) == len(seen) - 1 == 5
    for parts in seen[1:]:
        assert not parts["hillclimb"] & parts["unused"]
        assert parts["hillclimb"] | parts["unused"] == set(map(str, range(15)))
    two = PredictionStore(p, y, groups=y)
    with pytest.raises(ValueError, match="must have cases of each class in two groups or more"):
        UnusedCases.by_folds(fitted(two))
    # Nor do the other ways to combine models that need folds.
    for combine in (
        lambda: fitted(two, prune="sweep"),
        lambda: model_averaging(two, temperature="cv"),
        lambda: Stacking(method="logistic").fit(two),
    ):
        with pytest.raises(ValueError, match="must have cases of each class in two groups or more"):
            combine()


def test_a_part_is_scored_by_the_selector():
    given = store()
    selector = fitted(given, "accuracy")
    found = UnusedCases.on_part(selector)
    expected = selector.report("test").scores["test"]
    assert found.scores[METHODS].to_dict() == pytest.approx(expected.to_dict())
    assert found.table.index.tolist() == ["test"] and found.table["cases"].tolist() == [60]
    assert found.gain == pytest.approx(expected["ensemble"] - expected["best single model"])
    y = given.parts["test"].y
    single = best_single(given, "accuracy").predict_proba("test")[:, 1]
    right = [(p >= 0.5) == y for p in (selector.predict_proba("test")[:, 1], single)]
    differences = pd.Series(right[0].astype(int) - right[1].astype(int))
    # Replicates keep the sizes of both classes, so the variance is the mean of those within.
    within = differences.groupby(y).var(ddof=0).mean()
    assert found.standard_error == pytest.approx(np.sqrt(within / len(y)), rel=0.2)


@pytest.mark.parametrize("metric", ["cross_entropy", {"accuracy": 1.0, "cross_entropy": 2.0}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cases_that_some_models_predict_are_scored_as_a_part(n_classes, metric):
    given = store(n_classes)
    selector = fitted(given, metric, bags=1, bag_fraction=0.3, random_state=0)
    expected, part = UnusedCases.on_part(selector), given.parts["test"]
    best = best_single(given, metric).weights_.idxmax()
    assert selector.weights_[best] == 0
    names = [*selector.weights_.index[selector.weights_ > 0], best]
    models = dict(zip(names, given.subset(names).predictions("test"), strict=True))
    alone = fitted(part_only(given, "hillclimb"), metric, bags=1, bag_fraction=0.3, random_state=0)
    found = UnusedCases.on_cases(alone, models, given.classes[part.y])
    assert found.scores.to_dict() == expected.scores[METHODS[:2]].to_dict()
    pd.testing.assert_frame_equal(found.table, expected.table[["cases", *METHODS[:2]]])
    assert found.standard_error == expected.standard_error > 0
    assert (found.gain, found.optimism) == (expected.gain, expected.optimism)
    assert found.rival.name == "best single model"
    assert found.rival[2:] == (found.gain, found.standard_error)


def part_only(given, part):
    y = given.classes[given.parts[part].y]
    return PredictionStore(given.predictions(part), y, given.names)


def test_cases_that_cannot_be_scored():
    given = store()
    selector = fitted(given, "accuracy")
    models = pd.DataFrame(given.predictions("test").T, columns=given.names)
    y = given.classes[given.parts["test"].y]
    best = best_single(given, "accuracy").weights_.idxmax()
    for wrong, labels, message in (
        (
            models.drop(columns=best),
            y,
            f"must have the best single model, too; `{best}` is missing",
        ),
        (models[[best]], y, "must have all models of positive weight; `"),
        (models + 1, y, "must be probabilities from 0 to 1"),
        (models[:50], y, "must have one column per label, 60"),
        (models, np.where(y == "so", "other", y), "must have only the classes `no`, `so`"),
    ):
        with pytest.raises(ValueError, match=message):
            UnusedCases.on_cases(selector, wrong, labels)


def test_in_a_task_the_methods_that_can_be_scored_are():
    def precision(y, p):
        called = p >= 0.5
        return y[called].mean() if called.any() else np.nan

    y = np.arange(40) % 2
    good, fair = np.where(y, 0.8, 0.2), np.where(y, 0.6, 0.4)
    given = PredictionStore([good, fair], y, ["good", "fair"])
    selector = fitted(given, precision, greater_is_better=True)
    selector.weights_[:] = 0.5
    task = np.repeat(["u", "v"], 20)
    # In task v the best single model calls nothing positive, and the ensemble all.
    models = {"good": np.where(task == "u", good, 0.2), "fair": np.where(task == "u", fair, 0.9)}
    found = UnusedCases.on_cases(selector, models, y, task=task).tasks
    assert found.loc["u"].tolist() == [20, 1, 1]
    assert found.loc["v", ["cases", "ensemble"]].tolist() == [20, 0.5]
    assert np.isnan(found.loc["v", "best single model"])


def test_weights_count_and_functions_and_mappings_may_be_metrics():
    weights = {"hillclimb": np.linspace(0.1, 3, 90), "test": np.linspace(0.1, 3, 60)}
    heavy = UnusedCases.by_folds(fitted(store(weights=weights)))
    assert (
        heavy.scores["best single model"]
        != UnusedCases.by_folds(fitted(store())).scores["best single model"]
    )

    def plain_accuracy(y, p):
        return prediction.accuracy(y, p)

    known = UnusedCases.on_part(fitted(store(), "accuracy"))
    plain = UnusedCases.on_part(fitted(store(), plain_accuracy, greater_is_better=True))
    mixed = UnusedCases.on_part(fitted(store(), {"accuracy": 1.0}))
    assert plain.scores.tolist() == known.scores.tolist()
    assert plain.standard_error == known.standard_error
    assert np.sign(mixed.gain) == np.sign(known.gain) and mixed.metric == "normalized score"


def test_the_same_seed_gives_the_same():
    for make in (UnusedCases.by_folds, UnusedCases.on_part):
        one, two = (make(fitted(store(), "roc_area")) for _ in range(2))
        pd.testing.assert_frame_equal(one.table, two.table)
        assert (one.gain, one.standard_error) == (two.gain, two.standard_error)


def test_few_cases_of_a_class():
    p = np.random.default_rng(0).random((4, 20))
    y = np.arange(20) < 3
    assert len(UnusedCases.by_folds(fitted(PredictionStore(p, y))).table) == 3
    alone = fitted(PredictionStore(p, np.arange(20) < 1))
    with pytest.raises(ValueError, match="two cases of each class or more for folds; True"):
        UnusedCases.by_folds(alone)
    with pytest.raises(ValueError, match="`n_folds` must be a whole number"):
        UnusedCases.by_folds(alone, n_folds=1)
    with pytest.raises(ValueError, match="not fitted"):
        UnusedCases.by_folds(EnsembleSelector())


@pytest.mark.parametrize(
    ("gain", "error", "optimism", "words", "trust"),
    [
        (0.1, 0.01, 0.02, "0.1000 ± 0.0100 (standard error) better than that", "is 0.0200 too op"),
        (-0.1, 0.01, -0.02, "0.1000 ± 0.0100 (standard error) worse than", "not too optimistic"),
        (0.01, 0.01, 0.0, "best single model, 0.8000, which may be chance.", "not too optimistic"),
        (0.0, 0.01, 0.0, "is 0.9000, the same as that of the best", "has 0.9200, which is not"),
    ],
)
def test_words(gain, error, optimism, words, trust):
    scores = pd.Series([0.9, 0.8, 0.7], METHODS)
    table = pd.DataFrame({"cases": [5, 5], **scores})
    rival = Rival("mean of all models", 0.85, gain, error)
    on_part = UnusedCases("ROC area", table, "test", 0.92, scores, gain, error, optimism, rival)
    named = "the mean of all models, the strongest simple rival (0.8500), "
    assert named in on_part.rival_in_words() and "folds" not in str(on_part)
    found = UnusedCases("ROC area", table, None, 0.92, scores, gain, error, optimism, rival)
    assert str(found).startswith("By 2 folds over the 10 hill-climbing cases, ")
    first, pays, second = str(found).split("\n")
    assert words in first and trust in second
    of_rival = "the strongest simple rival, chosen by folds (0.8500), "
    strongest = " Over all folds the strongest is the mean of all models."
    if gain > 2 * error:
        assert pays == f"The ensemble is better than {of_rival}by 0.1000 ± 0.0100.{strongest}"
    else:
        words = {
            0.01: f"better than {of_rival}by 0.0100 ± 0.0100, which is not more than chance",
            0.0: f"not better than {of_rival}but as good",
            -0.1: f"worse than {of_rival}by 0.1000 ± 0.0100",
        }[gain]
        assert pays == f"The ensemble is {words}: the library does not pay here.{strongest}"
    assert ("chance" in first) == (abs(gain) < 2 * error and gain != 0)
