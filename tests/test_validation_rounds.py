"""Rounds of fits: who learns from what, fits once more by hand, tasks, files, mistakes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bnmtl import HillClimbing, MultitaskLearner
from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.errors import InputError, InputTypeError, InputWarning
from bnmtl.priors import PairedPrior
from bnmtl.seeding import generator
from bnmtl.validation import Rounds, predict_rounds

pytestmark = pytest.mark.beside_kernels


def cases(n=60, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 3)) + y[:, None], np.array(["c", "a", "b"])[y]


class Memory(ClassifierMixin, BaseEstimator):
    """Says how often it has seen a case, known by its first number, as a probability."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = np.asarray(X)[:, 0].tolist()
        return self

    def predict_proba(self, X):
        share = np.array([self.seen_.count(one) / 100 for one in np.asarray(X)[:, 0]])
        rest = (1 - share) / (len(self.classes_) - 1)
        return np.stack([share, *[rest] * (len(self.classes_) - 1)], axis=1)


@pytest.mark.parametrize("scheme", ["bootstrap", "kfold", "holdout", "jackknife"])
@pytest.mark.parametrize("stratify", [True, False])
def test_cases_are_predicted_by_rounds_that_have_not_seen_them(scheme, stratify):
    X, y = cases()
    options = {"rounds": 4, "folds": 5, "test_size": 0.2, "stratify": stratify}
    rounds = predict_rounds(Memory(), X, y, scheme, **options, random_state=0)
    n_rounds = {"bootstrap": 4, "kfold": 20, "holdout": 4, "jackknife": 60}[scheme]
    assert rounds.predictions.shape == (n_rounds, 60, 3)
    assert np.array_equal(rounds.is_predicted, rounds.in_bag == 0)
    assert np.nanmax(rounds.predictions[:, :, 0]) == 0
    assert (rounds.full[:, 0] == 0.01).all()
    n_predicted = rounds.is_predicted.sum(axis=0)
    if scheme == "bootstrap":
        assert (rounds.in_bag.sum(axis=1) == 60).all()
        assert rounds.in_bag.max() > 1
    else:
        expected = {"kfold": 4, "jackknife": 1}.get(scheme)
        assert expected is None or (n_predicted == expected).all()
        assert rounds.in_bag.max() == 1
    if scheme == "holdout":
        assert (rounds.is_predicted.sum(axis=1) == 12).all()
    assert rounds.n_train.tolist() == (rounds.in_bag > 0).sum(axis=1).tolist()
    counts = {one: rounds.in_bag @ (y == one) for one in "abc"}
    if stratify and scheme == "bootstrap":
        assert all((counts[one] == (y == one).sum()).all() for one in "abc")
    elif scheme == "bootstrap":
        assert any(np.ptp(one) > 0 for one in counts.values())
    elif scheme in ("kfold", "holdout"):
        # With the classes in proportion their numbers differ by one at most.
        assert all(np.ptp(one) <= 1 for one in counts.values()) == stratify
    again = predict_rounds(Memory(), X, y, scheme, **options, random_state=0, n_jobs=2)
    assert np.array_equal(again.in_bag, rounds.in_bag)
    other = predict_rounds(Memory(), X, y, scheme, **options, random_state=1)
    assert np.array_equal(other.in_bag, rounds.in_bag) == (scheme == "jackknife")


def test_predictions_are_those_of_fits_by_hand():
    X, y = cases()
    tree = DecisionTreeClassifier(max_features=1)
    rounds = predict_rounds(tree, pd.DataFrame(X), y, rounds=3, random_state=5)
    for number in range(3):
        rows = np.repeat(np.arange(60), rounds.in_bag[number])
        seed = int(generator(5, "model", number + 1).integers(2**31 - 1))
        model = clone(tree).set_params(random_state=seed).fit(X[rows], y[rows])
        unseen = rounds.in_bag[number] == 0
        assert np.array_equal(rounds.predictions[number, unseen], model.predict_proba(X[unseen]))
    assert (rounds.classes[rounds.full.argmax(axis=1)] == y).all()
    means = np.nanmean(rounds.predictions, axis=0)
    np.testing.assert_allclose(rounds.mean_predictions(), means)


def test_other_cases_are_predicted_by_every_round():
    X, y = cases()
    X_test, y_test = cases(7, seed=1)
    rounds = predict_rounds(
        GaussianNB(), X, y, rounds=3, X_test=X_test, y_test=y_test, random_state=0
    )
    assert rounds.is_predicted.all() and rounds.predictions.shape == (3, 7, 3)
    assert (rounds.in_bag == 0).all()
    assert (rounds.n_train < 60).all() and (rounds.n_train > 30).all()
    assert len(np.unique(rounds.predictions[:, 0, 0])) == 3
    expected = GaussianNB().fit(X, y).predict_proba(X_test)
    np.testing.assert_allclose(rounds.full, expected)
    assert rounds.y.tolist() == y_test.tolist()


@pytest.mark.parametrize("scheme", ["bootstrap", "kfold", "holdout", "jackknife"])
def test_groups_stay_together(scheme):
    X, y = cases()
    groups = np.random.default_rng(0).integers(12, size=60)
    options = {"rounds": 3, "folds": 4, "test_size": 0.25, "groups": groups}
    rounds = predict_rounds(GaussianNB(), X, y, scheme, **options, random_state=0)
    for bag in rounds.in_bag:
        for one in range(12):
            assert len(set(bag[groups == one])) == 1
    if scheme == "jackknife":
        assert len(rounds.in_bag) == 12
    if scheme == "bootstrap":
        assert rounds.in_bag.max() > 1


@pytest.mark.parametrize("splitter", [KFold(4), TimeSeriesSplit(3), StratifiedKFold(4)], ids=str)
@pytest.mark.parametrize("stratify", [True, False])
def test_splitters_of_scikit_learn(splitter, stratify):
    X, y = cases()
    rounds = predict_rounds(GaussianNB(), X, y, splitter, stratify=stratify, random_state=0)
    for number, (train, test) in enumerate(splitter.split(X, y)):
        assert np.array_equal(np.flatnonzero(rounds.in_bag[number]), train)
        assert np.array_equal(np.flatnonzero(rounds.is_predicted[number]), test)


def test_classes_that_a_round_lacks_have_probability_zero():
    X, y = cases(30)
    y[0] = "z"
    rounds = predict_rounds(GaussianNB(), X, y, "jackknife", stratify=False)
    assert rounds.classes.tolist() == ["a", "b", "c", "z"]
    assert rounds.predictions[0, 0, 3] == 0
    assert rounds.predictions[1, 1].sum() == pytest.approx(1)


def tables(n=150, seed=0):
    rng = np.random.default_rng(seed)
    wet = rng.integers(2, size=n)
    frame = pd.DataFrame({"wet": wet.astype(str), "hill": rng.integers(2, size=n).astype(str)})
    task = np.where(np.arange(n) % 3 == 0, "west", "east")
    flips = rng.random(n) < 0.1
    # In the west the wren likes it dry.
    return frame, np.where((wet == 1) ^ flips ^ (task == "west"), "yes", "no"), task


def test_tasks_are_learned_together_and_asked_one_by_one():
    X, y, task = tables()
    search = HillClimbing(restarts=0)
    learner = MultitaskLearner(PairedPrior(0.5), task_groups=None, search=search, random_state=0)
    X = X.assign(region=task)
    model = MultitaskBayesNetClassifier(task_column="region", learner=learner)
    rounds = predict_rounds(model, X, y, "holdout", 2, test_size=0.3, task=task, random_state=0)
    held = rounds.is_predicted[0]
    assert (rounds.classes[np.nan_to_num(rounds.predictions[0]).argmax(axis=1)] == y)[
        held
    ].mean() > 0.8
    for one in ("west", "east"):
        of_task = held[task == one]
        assert 0.2 < of_task.mean() < 0.4
    assert rounds.task.tolist() == task.tolist()
    # By hand: the first round.
    train = np.flatnonzero(rounds.in_bag[0])
    seed = int(generator(0, "model", 1).integers(2**31 - 1))
    fitted = clone(model).set_params(random_state=seed, learner__random_state=seed)
    fitted.fit(X.iloc[train], y[train])
    west = np.flatnonzero(held & (task == "west"))
    expected = fitted.predict_proba(X.iloc[west])
    np.testing.assert_allclose(rounds.predictions[0, west], expected)


def test_classes_keep_their_proportions_within_tasks():
    X, y = cases()
    task = np.arange(60) % 2
    rounds = predict_rounds(GaussianNB(), X, y, rounds=3, task=task, random_state=0)
    for one in (0, 1):
        for label in "abc":
            inside = (task == one) & (y == label)
            assert (rounds.in_bag @ inside == inside.sum()).all()


def test_a_bootstrap_of_all_groups_predicts_nothing():
    X, y = cases()
    rounds = predict_rounds(GaussianNB(), X, y, rounds=12, groups=np.arange(60) % 2, random_state=0)
    n_predicted = rounds.is_predicted.sum(axis=1)
    assert set(n_predicted) == {0, 30}


def test_files_bring_everything_back(tmp_path):
    X, y = cases()
    made = predict_rounds(GaussianNB(), X, y, rounds=2, task=y, random_state=0)
    for rounds in (made, Rounds(made.predictions, y.astype(object), made.classes, made.in_bag)):
        rounds.save(tmp_path / "rounds.npz")
        again = Rounds.load(tmp_path / "rounds.npz")
        for name in ("predictions", "y", "classes", "in_bag", "full", "task", "n_train"):
            one, other = getattr(rounds, name), getattr(again, name)
            assert (one is None and other is None) or np.array_equal(
                one, other, equal_nan=name in ("predictions", "full")
            )
    content = (tmp_path / "rounds.npz").read_bytes()
    (tmp_path / "half.npz").write_bytes(content[: len(content) // 2])
    np.savez(tmp_path / "other.npz", a=[1])
    (tmp_path / "text.npz").write_text("abc")
    np.save(tmp_path / "one.npy", [1])
    for name in ("half.npz", "other.npz", "text.npz", "one.npy"):
        with pytest.raises(InputError, match="`path` must be a file"):
            Rounds.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        Rounds.load(tmp_path / "none.npz")
    with pytest.raises(InputError, match=".npz"):
        made.save(tmp_path / "rounds.csv")


def test_progress_counts_the_fits():
    events = []
    X, y = cases()
    predict_rounds(GaussianNB(), X, y, "kfold", 2, folds=3, progress=events.append)
    assert [(one.done, one.total) for one in events] == [(done, 7) for done in range(8)]


def test_inputs_are_kept():
    X, y = cases()
    before, model = X.copy(), LogisticRegression()
    predict_rounds(model, X, y, rounds=2)
    assert np.array_equal(before, X)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"estimator": "tree"}, "classifier"),
        ({"estimator": LinearSVC()}, "predict_proba"),
        ({"X": [1, 2]}, "table"),
        ({"y": ["a"]}, "`y` must be one value for each row"),
        ({"y": ["a"] * 60}, "two classes"),
        ({"y": [None] * 60}, "is missing"),
        ({"task": ["a"]}, "`task` must be one value"),
        ({"groups": ["a"]}, "`groups` must be one value"),
        ({"groups": ["a"] * 59 + [np.nan]}, "`groups` must hold a value for each row; one is"),
        ({"task": ["a"] * 59 + [np.nan]}, "`task` must hold a value for each row; one is missing"),
        ({"groups": "site"}, "`groups` must be one value for each row of `X`, 60, got"),
        ({"y": np.zeros((60, 1))}, r"got \(60, 1\)"),
        ({"y_test": ["a"]}, "must come with `X_test`"),
        ({"X_test": np.zeros((2, 3)), "y_test": ["a"]}, "each row of `X_test`, 2"),
        ({"scheme": "loo"}, "scheme"),
        ({"scheme": 3}, "splitter"),
        ({"scheme": KFold}, "splitter of scikit-learn, got the class KFold"),
        ({"scheme": KFold(99)}, "`scheme` must divide the cases into folds; KFold says `Cannot"),
        ({"scheme": "jackknife", "groups": ["a"] * 60}, "two groups or more"),
        ({"y": np.linspace(0.1, 1, 60)}, "`y` must hold labels of classes, got 0.1"),
        ({"X": csr_array(np.eye(60))}, "got csr_array"),
        ({"rounds": 0}, "rounds"),
        ({"stratify": "yes"}, "`stratify` must be True or False"),
        ({"X_test": np.zeros((0, 3)), "y_test": []}, r"`X_test` must be a table.*\(0, 3\)"),
        ({"scheme": "kfold", "folds": 1}, "folds"),
        ({"scheme": "kfold", "folds": 61}, "the number of cases of the largest class, got 61"),
        ({"scheme": "kfold", "folds": 61, "stratify": False}, "at most 60, the number of cases,"),
        (
            {"scheme": "kfold", "groups": np.arange(60) // 10, "stratify": False},
            "`folds` must be at most 6, the number of groups, got 10",
        ),
        ({"scheme": "holdout", "test_size": 1.5}, "test_size"),
        ({"scheme": "holdout", "test_size": 0}, "test_size"),
        ({"scheme": "holdout", "test_size": 1}, "each class on both sides"),
        ({"scheme": "holdout", "y": [*"ab" * 29, "b", "c"]}, "one class has a single case"),
        (
            {"scheme": "holdout", "y": [*"ab" * 29, "a", "c"], "task": ["s"] * 58 + ["t"] * 2},
            "one class has a single case",
        ),
        ({"n_jobs": "2"}, "`n_jobs` must be None or a whole number"),
        ({"X_test": np.zeros((2, 3))}, "y_test"),
        ({"X_test": np.zeros((2, 3)), "y_test": ["a", "q"]}, "q"),
        ({"X_test": np.zeros((2, 3)), "y_test": ["a", "b"], "task": ["t"] * 60}, "task_test"),
        ({"X_test": np.zeros((2, 3)), "y_test": ["a", "b"], "scheme": "kfold"}, "another one"),
    ],
    ids=str,
)
def test_mistakes_are_named(changed, words):
    X, y = cases()
    options = {"estimator": GaussianNB(), "X": X, "y": y, "rounds": 2} | changed
    with pytest.raises((InputError, InputTypeError), match=words):
        predict_rounds(**options)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"predictions": [[0.5]]}, "predictions"),
        ({"predictions": [1]}, r"\(rounds, cases, classes\), got \(1,\)"),
        ({"predictions": [[["a", "b"]] * 2]}, "`predictions` must be an array of numbers"),
        ({"y": ["a"]}, "`y` must have the shape"),
        ({"y": ["a", "q"]}, "q"),
        ({"classes": ["b", "a"]}, "sorted"),
        ({"full": [[1.0]]}, "full"),
        ({"in_bag": [[0]]}, "in_bag"),
        ({"task": ["a"]}, "task"),
        ({"predictions": [[[0.5, np.nan], [0.5, 0.5]]]}, "of all classes of a case, or none"),
        ({"predictions": [[[1.5, -0.5], [0.5, 0.5]]]}, "from 0 to 1, got 1.5"),
        ({"full": [[1.5, -0.5], [0.5, 0.5]]}, "`full` must be probabilities"),
    ],
    ids=str,
)
def test_shapes_of_rounds_agree(changed, words):
    parts = {"predictions": np.full((1, 2, 2), 0.5), "y": ["a", "b"], "classes": ["a", "b"]}
    with pytest.raises((InputError, InputTypeError), match=words):
        Rounds(**(parts | {"in_bag": [[0, 0]]} | changed))


def test_cases_are_positions_or_a_mask():
    X, y = cases()
    rounds = predict_rounds(GaussianNB(), X, y, rounds=3, random_state=0)
    is_kept = np.arange(60) % 7 == 2
    positions, mask = rounds.of_cases(np.flatnonzero(is_kept)), rounds.of_cases(is_kept)
    assert np.array_equal(mask.predictions, positions.predictions, equal_nan=True)
    assert np.array_equal(mask.y, y[is_kept])
    assert np.array_equal(rounds.of_cases([-1]).y, y[-1:])


def test_training_sets_without_a_class_are_reported():
    X, _ = cases()
    fold = np.repeat([0, 1, 2, 3], [30, 15, 10, 5])
    with pytest.warns(InputWarning, match="1 of 4 training sets lack a class"):
        predict_rounds(GaussianNB(), X, np.repeat([0, 1], [30, 30]), PredefinedSplit(fold))


class Complains(GaussianNB):
    def fit(self, X, y):
        warnings.warn(f"{len(X)} rows", UserWarning, stacklevel=1)
        return super().fit(X, y)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_only_the_fit_to_all_cases_warns(n_jobs):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning) as caught:
        predict_rounds(Complains(), X, y, scheme="kfold", folds=3, rounds=1, n_jobs=n_jobs)
    assert [str(one.message) for one in caught] == ["150 rows"]
