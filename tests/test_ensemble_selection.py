"""Selection of ensembles: equal to a naive twin for every metric, with ties, and its laws."""

import naive_ensembles
import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl.ensembles import EnsembleSelector, PredictionStore
from bnmtl.ensembles.additions import additions_of
from bnmtl.ensembles.entries import SCALE, mean_prediction
from bnmtl.ensembles.judges import BINARY, judge_of
from bnmtl.ensembles.selection import candidates_of
from bnmtl.errors import InputError, InputTypeError, InputWarning
from bnmtl.metrics import prediction

pytestmark = pytest.mark.beside_kernels
GREATER = {"greater_is_better": True}


def store_of(seed, n_models=12, n_cases=60, grid=None, n_classes=2, **options):
    """Models of very different quality; a coarse grid gives many ties and identical models."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_cases - n_classes)])
    noise = rng.normal(size=(n_models, n_cases, n_classes)) * rng.uniform(0.5, 3, (n_models, 1, 1))
    logits = np.exp(1.5 * np.eye(n_classes)[y] + noise)
    p = logits / logits.sum(axis=2, keepdims=True)
    if n_classes == 2:
        p = p[:, :, 1]
        p = np.round(p * grid) / grid if grid else p
    names = [f"m{number:02}" for number in rng.permutation(n_models)]
    return PredictionStore(p, y, names, **options)


def plain(metric, **options):
    """A selector without a start and bags."""
    return EnsembleSelector(metric, initial=0, bags=1, bag_fraction=1.0, **options)


def named_predictions(store):
    return dict(zip(store.names, store.predictions().astype(float), strict=True))


@pytest.mark.parametrize("metric", BINARY)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_naive_twin(metric, is_weighted):
    @settings(max_examples=examples(20), deadline=None)
    @given(
        seed=st.integers(0, 10**6),
        n_models=st.integers(2, 9),
        n_cases=st.integers(4, 40),
        grid=st.sampled_from([2, 3, 10, None]),
        replacement=st.booleans(),
    )
    def check(seed, n_models, n_cases, grid, replacement):
        weights = np.random.default_rng(seed).integers(1, 4, n_cases) if is_weighted else None
        store = store_of(seed, n_models, n_cases, grid, weights=weights)
        found = plain(metric, max_steps=6, replacement=replacement).fit(store).trajectory_
        predictions, y = named_predictions(store), store.parts["hillclimb"].y
        members, values = naive_ensembles.selected(predictions, y, metric, 6, replacement, weights)
        assert found["model"].tolist() == members
        assert found["score"].tolist() == pytest.approx(values, rel=1e-12)

    check()


@pytest.mark.parametrize("metric", ["accuracy", "root_mean_squared_error", "cross_entropy"])
def test_naive_twin_of_three_classes(metric):
    for seed in range(4):
        store = store_of(seed, n_classes=3)
        found = plain(metric, max_steps=8).fit(store).trajectory_
        y = store.parts["hillclimb"].y
        members, values = naive_ensembles.selected(named_predictions(store), y, metric, 8)
        assert found["model"].tolist() == members
        assert found["score"].tolist() == pytest.approx(values)


@pytest.mark.parametrize("metric", BINARY)
def test_many_members(metric):
    """Sums of more than 127 members need longer keys."""
    store = store_of(3, n_models=4, n_cases=30, grid=10)
    found = plain(metric, max_steps=135).fit(store).trajectory_
    y = store.parts["hillclimb"].y
    members, _ = naive_ensembles.selected(named_predictions(store), y, metric, 135)
    assert found["model"].tolist() == members


def test_a_function_and_a_mapping():
    store = store_of(0)

    def closeness(y, p):
        return -np.square(y - p).mean()

    by_function = plain(closeness, max_steps=6, greater_is_better=True).fit(store).trajectory_
    squares = plain("root_mean_squared_error", max_steps=6).fit(store).trajectory_
    assert by_function["model"].tolist() == squares["model"].tolist()
    assert (-by_function["score"]).tolist() == pytest.approx((squares["score"] ** 2).tolist())
    by_name = plain("roc_area", max_steps=6).fit(store)
    for same in ("roc-area", prediction.roc_area, {"roc_area": 3.0}):
        found = plain(same, max_steps=6).fit(store)
        assert found.trajectory_["model"].tolist() == by_name.trajectory_["model"].tolist()
    for loss in (prediction.brier_score, prediction.calibration_error):
        found = plain(loss, max_steps=6).fit(store)
        assert found.score_ == found.trajectory_["score"].min() <= store.score(loss).min()
    losses = plain(prediction.cross_entropy, max_steps=6).fit(store)
    assert losses.weights_.equals(plain("cross_entropy", max_steps=6).fit(store).weights_)


def test_a_mapping_weighs_normalized_scores():
    store = store_of(1, grid=10)
    judge = judge_of({"accuracy": 1, "cross_entropy": 3}, store)
    p = store.predictions()[0]
    y = store.parts["hillclimb"].y
    expected = 0.0
    for name, weight in (("accuracy", 0.25), ("cross_entropy", 0.75)):
        scores = store.score(name)
        best = scores.min() if name == "cross_entropy" else scores.max()
        value = getattr(prediction, name)(y, p.astype(float))
        expected += weight * prediction.normalized_score(name, value, y.mean(), best)
    assert judge.of(p) == pytest.approx(expected)


def test_a_metric_without_a_useful_model_is_left_out():
    y = np.array([0, 1] * 5)
    store = PredictionStore([1 - 0.6 * y, 0.7 - 0.2 * y], y)
    with (
        pytest.warns(InputWarning, match="No model beats the base rate on roc_area"),
        pytest.raises(InputError, match="a metric on which a model beats the base rate"),
    ):
        plain({"roc_area": 1}).fit(store)


@pytest.mark.parametrize("initial", [0, "auto"])
@pytest.mark.parametrize("metric", BINARY)
def test_never_below_the_best_single_model(metric, initial):
    for seed in range(8):
        store = store_of(seed, grid=(10, 2, 5, 4)[seed % 4])
        selector = EnsembleSelector(metric, initial, bags=1, bag_fraction=1.0, max_steps=10)
        sign = -1 if metric in naive_ensembles.LOSSES else 1
        best = (sign * store.score(metric)).max()
        assert sign * selector.fit(store).score_ >= best - 1e-12
        path = selector.trajectory_[selector.trajectory_["kept"]]
        assert selector.score_ == path["score"].iloc[-1]


@pytest.mark.parametrize("lengths", [(3,), (7, 11, 13, 17)], ids=["one bag", "four bags"])
def test_means_of_equal_predictions_are_equal(lengths):
    counts = np.zeros((20, len(lengths)))
    for bag, length in enumerate(lengths):
        places = np.random.default_rng(bag).integers(20, size=length)
        np.add.at(counts[:, bag], places, 1)
    weights = (counts / counts.sum(axis=0)).mean(axis=1)
    halves = np.full((20, 1), SCALE // 2, dtype=np.int32)
    assert mean_prediction(halves, weights).tolist() == [0.5]
    # A share smaller than that of one of a thousand members still counts.
    pair = np.array([[SCALE // 2], [SCALE]], dtype=np.int32)
    mean = mean_prediction(pair, np.array([0.99999, 0.00001]))
    assert mean.tolist() == pytest.approx([0.500005], abs=1e-11)


def test_the_start_is_the_best_mean_of_the_best_models():
    store = store_of(5, n_models=40)
    y = store.parts["hillclimb"].y
    scores = store.score("cross_entropy").sort_values()
    predictions = named_predictions(store)
    means = [
        prediction.cross_entropy(y, np.mean([predictions[m] for m in scores.index[:n]], axis=0))
        for n in range(1, 26)
    ]
    best = int(np.argmin(means)) + 1
    selector = EnsembleSelector(bags=1, bag_fraction=1.0, max_steps=3, patience=1).fit(store)
    assert selector.initial_ == [best] and best > 1
    assert selector.trajectory_["model"].tolist()[:best] == scores.index[:best].tolist()
    assert selector.trajectory_["score"][best - 1] == pytest.approx(means[best - 1])
    assert EnsembleSelector(initial=7, bags=1, max_steps=1).fit(store).initial_ == [7]
    # A bag may hold fewer models.
    few = EnsembleSelector(initial=30, bags=2, bag_fraction=0.5, max_steps=1).fit(store)
    assert few.initial_ == [20, 20]


def test_the_best_prefix_is_kept():
    store = store_of(2, n_models=30, n_cases=40, grid=10)
    selector = plain("accuracy", max_steps=30).fit(store)
    path = selector.trajectory_
    best = path["score"].idxmax()  # the first
    assert path["kept"].tolist() == [step <= best for step in path.index]
    members = path["model"][: best + 1]
    assert (
        selector.counts_[0].to_dict()
        == members.value_counts().reindex(store.names).fillna(0).astype(int).to_dict()
    )
    assert selector.score_ == path["score"][best]
    patient = plain("accuracy", max_steps=30, patience=3).fit(store)
    assert len(patient.trajectory_) == best + 1 + 3
    assert patient.weights_.equals(selector.weights_)


def test_bags_are_averaged():
    store = store_of(4, n_models=20)
    selector = EnsembleSelector(bags=7, bag_fraction=0.4, max_steps=12, random_state=0).fit(store)
    assert (selector.counts_ > 0).sum().max() <= 8  # 0.4 of 20 models
    shares = selector.counts_ / selector.counts_.sum()
    assert selector.weights_.to_numpy() == pytest.approx(shares.mean(axis=1).to_numpy())
    assert selector.weights_.sum() == pytest.approx(1)
    mean = sum(selector.weights_[m] * p for m, p in named_predictions(store).items())
    probabilities = selector.predict_proba("hillclimb")
    assert probabilities[:, 1] == pytest.approx(mean)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert selector.predict_proba(named_predictions(store)) == pytest.approx(probabilities)
    other = EnsembleSelector(bags=7, bag_fraction=0.4, max_steps=12, random_state=1).fit(store)
    assert not other.counts_.equals(selector.counts_)


@pytest.mark.parametrize("metric", ["accuracy", "roc_area", "root_mean_squared_error"])
def test_order_copies_and_threads_do_not_matter(metric):
    store = store_of(6, n_models=15, grid=20)
    options = {"bags": 5, "max_steps": 10, "random_state": 3, "prune": 0.8}
    first = EnsembleSelector(metric, **options).fit(store)
    order = np.random.default_rng(0).permutation(15)
    moved = store.subset([store.names[at] for at in order])
    second = EnsembleSelector(metric, n_jobs=2, **options).fit(moved)
    assert first.weights_.sort_index().equals(second.weights_.sort_index())
    assert first.score_ == second.score_
    copies = PredictionStore(
        np.concatenate([store.predictions()] * 2),
        store.parts["hillclimb"].y,
        [*store.names, *(f"z{name}" for name in store.names)],
    )
    third = EnsembleSelector(metric, **options).fit(copies)
    assert third.n_models_ == first.n_models_
    assert third.weights_[list(store.names)].equals(first.weights_)


def test_pruning_keeps_the_best_models():
    store = store_of(7, n_models=20)
    best = store.score("cross_entropy").nsmallest(5).index
    selector = EnsembleSelector(prune=0.25, bags=2, bag_fraction=1.0, max_steps=20).fit(store)
    assert set(selector.weights_[selector.weights_ > 0].index) <= set(best)
    swept = EnsembleSelector(prune="sweep", bags=2, max_steps=5, random_state=0).fit(store)
    assert swept.prune_ == swept.prune_scores_.idxmin()
    assert list(swept.prune_scores_.index) == [1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05]
    fixed = EnsembleSelector(prune=swept.prune_, bags=2, max_steps=5, random_state=0).fit(store)
    assert fixed.weights_.equals(swept.weights_)


def test_a_sweep_has_cases_of_every_class_in_each_fold():
    few = {"prune": "sweep", "bags": 2, "max_steps": 3, "random_state": 0}
    predictions = np.random.default_rng(0).uniform(size=(6, 12))
    for y in ([1] * 3 + [0] * 9, [1] * 6 + [0] * 6, [1] * 2 + [0] * 10):
        selector = EnsembleSelector("roc_area", **few).fit(PredictionStore(predictions, y))
        assert selector.prune_scores_.between(0, 1).all()
    small = PredictionStore(predictions[:, :5], [1, 1, 0, 0, 0])
    assert EnsembleSelector(**few).fit(small).prune_ > 0
    once = PredictionStore(predictions[:, :5], [1, 0, 0, 0, 0])
    with pytest.raises(InputError, match="a class has one: give a number for `prune`"):
        EnsembleSelector(**few).fit(once)


def test_another_part_is_monitored():
    rng = np.random.default_rng(0)
    y = {"hillclimb": rng.integers(2, size=50), "test": rng.integers(2, size=80)}
    p = {name: rng.random((8, len(labels))) for name, labels in y.items()}
    store = PredictionStore(p, y)
    selector = EnsembleSelector(bags=2, max_steps=4, random_state=0).fit(store, monitor="test")
    path = selector.trajectory_[selector.trajectory_["bag"] == 1]
    entries = dict(zip(store.names, store.predictions("test").astype(float), strict=True))
    for count in range(1, len(path) + 1):
        mean = np.mean([entries[name] for name in path["model"][:count]], axis=0)
        expected = prediction.cross_entropy(y["test"], mean)
        assert path["test"].iloc[count - 1] == pytest.approx(expected)
    report = selector.report()
    assert list(report.scores) == ["hillclimb", "test"]
    ensemble = prediction.cross_entropy(y["test"], selector.predict_proba("test")[:, 1])
    assert report.scores["test"]["ensemble"] == pytest.approx(ensemble)
    assert report.scores["hillclimb"]["ensemble"] == pytest.approx(selector.score_)
    assert "On the part test, cross_entropy is" in str(report)


def test_families_of_the_report():
    store = store_of(8, settings=[{"family": "trees" if at % 3 else "nets"} for at in range(12)])
    selector = EnsembleSelector(bags=3, max_steps=8, random_state=0).fit(store)
    families = selector.report().families
    assert families["models"].to_dict() == {"trees": 8, "nets": 4}
    trees = store.settings["family"] == "trees"
    assert families["weight"]["trees"] == pytest.approx(selector.weights_[trees].sum())
    assert families["chosen"].sum() == (selector.weights_ > 0).sum()


def test_the_report_says_if_a_single_model_is_better_on_the_cases_of_selection():
    y = np.tile([0, 1], 30)
    good = 0.1 + 0.8 * np.where(np.arange(60) < 58, y, 1 - y)
    poor = [0.1 + 0.8 * np.where(np.arange(60) < most, y, 1 - y) for most in (20, 21, 22)]
    store = PredictionStore([good, *poor], y)
    options = {"initial": 1, "bag_fraction": 0.25, "max_steps": 1, "random_state": 0}
    for metric in ("accuracy", "cross_entropy", prediction.brier_score):
        # Of bags of one model, few have the best one.
        words = str(EnsembleSelector(metric, bags=15, **options).fit(store).report())
        assert "On the cases of selection the best single model is better, " in words
        one = EnsembleSelector(metric, bags=1, bag_fraction=1.0, max_steps=1).fit(store)
        assert "single model is better" not in str(one.report())


def test_progress_counts_bags():
    events = []
    EnsembleSelector(bags=3, max_steps=2, progress=events.append).fit(store_of(0))
    assert [(one.stage, one.done, one.total) for one in events] == [
        ("bags", done, 3) for done in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"metric": "auc"}, InputError, "`metric` must be 'accuracy', .*got 'auc'"),
        ({"metric": 3}, InputTypeError, "`metric` must be the name of a metric"),
        ({"metric": {}}, InputError, "at least one metric"),
        ({"metric": {"lift": -1}}, InputError, "must be a number above 0, got -1"),
        ({"initial": -1}, InputError, "`initial` must be a whole number of at least 0"),
        ({"initial": "best"}, InputTypeError, "`initial` must be a whole number"),
        ({"bags": 0}, InputError, "`bags` must be"),
        ({"bag_fraction": 0}, InputError, "`bag_fraction` must be a number above 0"),
        ({"prune": 1.5}, InputError, "`prune` must be .*chooses it"),
        ({"max_steps": 0}, InputError, "`max_steps` must be"),
        ({"patience": 0}, InputError, "`patience` must be"),
        ({"replacement": "no"}, InputTypeError, "`replacement` must be True or False"),
        ({"n_jobs": 1.5}, InputError, "`n_jobs` must be"),
        ({"n_jobs": 0}, InputError, "`n_jobs` must not be 0"),
        (
            {"metric": np.multiply} | GREATER,
            InputTypeError,
            "one number; `multiply` returned a ndarray",
        ),
        (
            {"metric": lambda y, p: np.nan} | GREATER,
            InputError,
            "finite numbers; `<lambda>` returned nan",
        ),
    ],
)
def test_mistakes(options, kind, text):
    with pytest.raises(kind, match=text):
        EnsembleSelector(**options).fit(store_of(0))


def test_mistakes_of_stores_and_parts():
    store = store_of(0)
    with pytest.raises(InputError, match="`store` must have two models or more, got 1"):
        plain("accuracy").fit(store.subset(store.names[:1]))
    with pytest.raises(InputTypeError, match="`store` must be a PredictionStore"):
        EnsembleSelector().fit([[0.1]])
    with pytest.raises(InputError, match="'f_score'.*three|more than two classes"):
        EnsembleSelector("f_score").fit(store_of(0, n_classes=3))
    with pytest.raises(InputError, match="`part` must be one of the parts `hillclimb`"):
        plain("accuracy", max_steps=1).fit(store, monitor="test")
    weighted = store_of(0, weights=np.ones(60))
    with pytest.raises(InputError, match="must be the name of a metric where cases have weights"):
        EnsembleSelector(lambda y, p: 0.0, **GREATER).fit(weighted)
    selector = plain("accuracy", max_steps=1).fit(store)
    with pytest.raises(InputError, match="models of positive weight; `m.*` is missing"):
        selector.predict_proba({})
    with pytest.raises(InputTypeError, match="a part of the store or a mapping"):
        selector.predict_proba(3)
    assert isinstance(selector.weights_, pd.Series)


@pytest.mark.parametrize("metric", [*BINARY, {"accuracy": 1, "lift": 2, "cross_entropy": 1}])
@pytest.mark.parametrize("grid", [4, None])
def test_scores_of_all_additions_are_those_of_the_judge(metric, grid):
    store = store_of(9, n_models=10, grid=grid)
    _, library = candidates_of(store, metric)
    additions = additions_of(library.judge, library.models)
    for member in (3, 3, 0, 5):
        additions.add(member)
        expected = [library.judge.of(additions.mean_with(at)) for at in range(10)]
        assert additions.scores() == pytest.approx(expected, rel=1e-9)
        places = np.array([7, 0, 3])
        assert additions.values_with(places).tolist() == [expected[at] for at in places]
