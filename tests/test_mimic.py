"""Mimic: students of all kinds, fidelity, costs, mistakes."""

import pickle
import time
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bnmtl.classification import BayesNetClassifier
from bnmtl.ensembles import MarginalSampler, Mimic, Munge, NaiveBayesSampler, NetworkSampler
from bnmtl.ensembles.compression import mimic as compression
from bnmtl.ensembles.compression.mimic import Encoder, ModelStudent, NetStudent
from bnmtl.errors import InputError, InputTypeError

# They call compiled code as users do, and compile none.
pytestmark = pytest.mark.beside_kernels


class Teacher(BaseEstimator):
    """Probabilities by a formula, of classes with names."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        if isinstance(X, pd.DataFrame):
            score = (X["color"].astype(str) == "red") * 2.0 + X["size"].fillna(0) - 1
        else:
            score = 2 * np.asarray(X)[:, 0]
        p = 1 / (1 + np.exp(-np.asarray(score, dtype=float)))
        return np.stack([1 - p, p], axis=1)


class Recorder(BaseEstimator):
    """A sampler that keeps what it gets; it copies cases."""

    seen = None

    def fit(self, X, y):
        self.X_ = X
        type(self).seen = X, y
        return self

    def sample(self, n, random_state=None):
        rows = np.arange(n) % len(self.X_)
        return self.X_.iloc[rows] if hasattr(self.X_, "iloc") else self.X_[rows]


def array(n=300, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def frame(n=300, seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"color": rng.choice(["red", "green"], n), "size": rng.normal(size=n)})
    rows["kind"] = pd.Categorical(rng.choice(["a", "b"], n), ["a", "b", "c"])
    rows["whole"] = pd.array(rng.integers(3, size=n), dtype="Int64")
    if gaps:
        rows.loc[::7, "size"] = np.nan
        rows.loc[::11, "kind"] = None
    return rows


@pytest.fixture
def few_epochs(monkeypatch):
    """Let nets be trained for at most 30 epochs, after which they are close to their teacher."""
    monkeypatch.setattr(compression, "MAX_EPOCHS", 30)


@pytest.mark.parametrize("target", ["probability", "log-odds"])
@pytest.mark.parametrize("rows", [array, frame])
def test_the_net_learns_the_teacher(few_epochs, rows, target):
    X, new = rows(), rows(seed=1)
    mimic = Mimic(Teacher(), sizes=(50, 1000), target=target, random_state=0).fit(X)
    truth, found = Teacher().predict_proba(new), mimic.predict_proba(new)
    assert found.sum(axis=1) == pytest.approx(1)
    assert ((found >= 0) & (found <= 1)).all()
    assert np.mean((found - truth)[:, 1] ** 2) < 0.001
    assert mimic.fidelity_ < 0.001
    assert mimic.learning_curve_["fidelity"][0] > mimic.learning_curve_["fidelity"][1]
    assert mimic.classes_.tolist() == ["no", "yes"]
    assert (mimic.predict(new) == mimic.classes_[found.argmax(axis=1)]).all()
    assert mimic.score(new, mimic.classes_[truth.argmax(axis=1)]) > 0.9


def test_the_curve_is_that_of_the_staged_students(few_epochs):
    X, held_out = array(), array(50, seed=1)
    mimic = Mimic(Teacher(), sizes=(60, 200, 500), random_state=0).fit(X, held_out=held_out)
    truth = Teacher().predict_proba(held_out)[:, 1]
    stages = list(mimic.staged_predict_proba(held_out))
    expected = [np.mean((p[:, 1] - truth) ** 2) for p in stages]
    assert mimic.learning_curve_["fidelity"].tolist() == pytest.approx(expected)
    assert mimic.learning_curve_["size"].tolist() == [60, 200, 500]
    assert (mimic.learning_curve_["seconds"] > 0).all()
    best = int(np.argmin(expected))
    assert mimic.size_ == [60, 200, 500][best]
    assert mimic.fidelity_ == pytest.approx(expected[best])
    assert (mimic.predict_proba(held_out) == stages[best]).all()


class Worse(RegressorMixin, BaseEstimator):
    """A student that is closest to the teacher with a given number of pseudo-cases."""

    def __init__(self, best=200):
        self.best = best

    def fit(self, X, p):
        self.error_ = abs(np.log(len(X) / self.best)) / 10
        return self

    def predict(self, X):
        p = Teacher().predict_proba(X)[:, 1]
        return np.where(p > 0.5, p - self.error_, p + self.error_)


class Asked(Teacher):
    """Counts the cases that it labels."""

    n_cases: ClassVar = []

    def predict_proba(self, X):
        Asked.n_cases.append(len(X))
        return super().predict_proba(X)


@pytest.mark.parametrize(
    ("best", "patience", "tried"),
    [(200, 2, 4), (200, 1, 3), (200, None, 7), (100, 2, 3), (6400, 2, 7), (3200, 2, 7)],
)
def test_the_size_is_chosen_by_fidelity_and_larger_ones_are_left_out(best, patience, tried):
    """Fidelity is measured on held-out real cases, never on pseudo-cases of the training."""
    sizes, Asked.n_cases = [100, 200, 400, 800, 1600, 3200, 6400], []
    events, X, held_out = [], array(), array(50, seed=1)
    options = {"patience": patience, "progress": events.append, "random_state": 0}
    mimic = Mimic(Asked(), Worse(best), Recorder(), sizes, **options).fit(X, held_out=held_out)
    assert mimic.learning_curve_["size"].tolist() == sizes[:tried]
    assert mimic.size_ == best
    truth = Teacher().predict_proba(held_out)[:, 1]
    error = np.mean((mimic.predict_proba(held_out)[:, 1] - truth) ** 2)
    assert mimic.fidelity_ == pytest.approx(error) == mimic.learning_curve_["fidelity"].min()
    assert len(list(mimic.staged_predict_proba(X))) == tried
    # The rows of the sampler, the held-out cases, and no more pseudo-cases than needed.
    assert sum(Asked.n_cases) == len(X) + len(held_out) + sizes[tried - 1]
    for stage in ("labels", "training"):
        last = [event for event in events if event.stage == stage][-1]
        assert last.done == last.total


def test_the_default_sizes_remain():
    assert Mimic(Teacher()).sizes == (4000, 10_000, 25_000, 50_000, 100_000, 200_000, 400_000)


def test_whole_groups_are_held_out():
    X, groups = array(), np.arange(300) // 30
    Mimic(Teacher(), LinearRegression(), Recorder(), 50, random_state=0).fit(X, groups=groups)
    rows = set(map(tuple, Recorder.seen[0]))
    kept = np.array([tuple(row) in rows for row in X])
    shares = [kept[groups == group].mean() for group in range(10)]
    assert sorted(shares) == [0, 0, *[1] * 8]
    two = np.arange(300) > 10
    Mimic(Teacher(), LinearRegression(), Recorder(), 50, random_state=0).fit(X, groups=two)
    assert len(Recorder.seen[0]) in (11, 289)
    for wrong, text in ((np.zeros(300), "two groups or more"), ([1, 2], "one value per case")):
        with pytest.raises(InputError, match=f"`groups` .*{text}"):
            Mimic(Teacher(), LinearRegression(), sizes=50).fit(X, groups=wrong)
    with pytest.raises(InputError, match="`groups` must be None with `held_out`"):
        Mimic(Teacher(), LinearRegression(), sizes=50).fit(X, held_out=X[:5], groups=groups)


def test_the_result_depends_only_on_the_seed(few_epochs):
    X = frame(100)
    one, two, other = (
        Mimic(Teacher(), sizes=300, random_state=seed).fit(X).predict_proba(X) for seed in (1, 1, 2)
    )
    assert (one == two).all()
    assert (one != other).any()
    state = np.random.default_rng(3)
    mimic = Mimic(Teacher(), DecisionTreeRegressor(max_features=1), sizes=300, random_state=state)
    first = mimic.fit(X).predict_proba(X)
    mimic.set_params(random_state=np.random.default_rng(3))
    assert (mimic.fit(X).predict_proba(X) == first).all()


def test_the_sampler_sees_only_the_cases_that_are_not_held_out():
    X = array()
    Mimic(Teacher(), LinearRegression(), Recorder(), 50, random_state=0).fit(X)
    rows, classes = Recorder.seen
    assert len(rows) == 240
    assert set(map(tuple, rows)) <= set(map(tuple, X))
    assert (classes == (rows[:, 0] > 0)).all()
    Mimic(Teacher(), LinearRegression(), Recorder(), 50).fit(X, held_out=array(5, seed=1))
    assert Recorder.seen[0] is X


def test_a_smaller_number_is_a_random_part_of_the_pseudo_cases():
    X = np.arange(2000.0).reshape(-1, 2) / 2000
    student = KNeighborsRegressor(1)
    mimic = Mimic(Teacher(), student, Recorder(), (400, 1000), random_state=0)
    mimic.fit(X, held_out=X)
    first, _ = mimic.staged_predict_proba(X)
    is_exact = first[:, 1] == Teacher().predict_proba(X)[:, 1]
    assert 380 <= is_exact.sum() <= 420
    assert 150 <= is_exact[:500].sum() <= 250


@pytest.mark.parametrize(
    "sampler", [Munge(), NetworkSampler(), NaiveBayesSampler(), MarginalSampler()]
)
@pytest.mark.parametrize("rows", [array, frame])
def test_all_samplers(sampler, rows):
    student = DecisionTreeRegressor(min_samples_leaf=5)
    mimic = Mimic(Teacher(), student, sampler, 1500, random_state=0).fit(rows())
    assert mimic.fidelity_ < 0.02


@pytest.mark.parametrize(
    ("student", "rows", "worst"),
    [
        (DecisionTreeRegressor(min_samples_leaf=5), frame, 0.01),
        (make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=6)), array, 0.01),
        (make_pipeline(OneHotEncoder(handle_unknown="ignore"), LinearRegression()), frame, 0.05),
        (LogisticRegression(), array, 0.01),
        (LogisticRegression(), frame, 0.01),
        (DecisionTreeClassifier(min_samples_leaf=100), frame, 0.01),
    ],
)
def test_any_student(student, rows, worst):
    before = clone(student).get_params()
    mimic = Mimic(Teacher(), student, sizes=2000, random_state=0).fit(rows())
    assert mimic.fidelity_ < worst
    assert str(student.get_params()) == str(before)
    assert mimic.predict_proba(rows(seed=2)).shape == (300, 2)


def test_a_network_classifier_as_the_student():
    X = frame(gaps=False).drop(columns="size").assign(size=lambda rows: rows["whole"] - 1)
    mimic = Mimic(Teacher(), BayesNetClassifier(), NetworkSampler(), 5000, random_state=0).fit(X)
    assert mimic.fidelity_ < 0.003
    assert set(mimic.predict(X)) == {"no", "yes"}


def test_outputs_of_a_regressor_are_clipped():
    student = LinearRegression()
    mimic = Mimic(Teacher(), student, sizes=2000, random_state=0).fit(5 * array())
    p = mimic.predict_proba(5 * array())[:, 1]
    assert (p.min(), p.max()) == (0, 1)


def test_log_odds_of_certain_probabilities_are_finite():
    X = array()
    teacher = DecisionTreeClassifier(random_state=0).fit(X, X[:, 0] > 0)
    student = DecisionTreeRegressor()
    mimic = Mimic(teacher, student, sizes=2000, target="log-odds", random_state=0).fit(X)
    assert mimic.predict_proba(X)[:, 1].min() == pytest.approx(0.001)
    assert mimic.fidelity_ < 0.05


def test_the_net_stops_early_and_keeps_the_best_epoch():
    X, shares = array(), []
    encode, rng = Encoder(X, scaled=True), np.random.default_rng(0)
    # Held-out cases of noise: every epoch after the first few makes it worse.
    truth = rng.random(100)
    held_out = array(100, 1), truth
    student = NetStudent(encode, "probability").fit(X, rng.random(300), held_out, 0, shares.append)
    assert len(shares) < 100
    best = np.mean((student.predict(held_out[0]) - truth) ** 2)
    again = []

    class Watched(NetStudent):
        def watch(self, share):
            again.append(np.mean((self.predict(held_out[0]) - truth) ** 2))

    watched = Watched(encode, "probability")
    watched.fit(X, np.random.default_rng(0).random(400)[100:], held_out, 0, watched.watch)
    assert best == pytest.approx(min(again))
    assert again == sorted(again, reverse=True)


def test_inputs_of_the_net_are_standardized_and_one_hot():
    X = frame()
    inputs = Encoder(X, scaled=True)(X)
    # size and its indicator, whole; two colors; a, b and missing.
    assert inputs.shape == (300, 8)
    assert inputs.mean(axis=0) == pytest.approx(0, abs=1e-6)
    assert inputs.std(axis=0) == pytest.approx(1, abs=1e-5)
    new = X.assign(color="violet")
    assert np.isfinite(Encoder(X, scaled=True)(new)).all()
    assert (Encoder(X, scaled=False)(new)[:, 3:5] == 0).all()


def test_costs_of_teacher_and_student():
    X = array()
    teacher = RandomForestClassifier(200, random_state=0).fit(X, X[:, 0] > 0)
    mimic = Mimic(teacher, DecisionTreeRegressor(max_depth=3), sizes=500, random_state=0).fit(X)
    assert list(mimic.seconds_.index) == list(mimic.bytes_.index) == ["teacher", "student"]
    assert mimic.bytes_["teacher"] == len(pickle.dumps(teacher, protocol=5))
    assert 100 < mimic.bytes_["student"] < 10_000
    assert 0 < mimic.seconds_["student"] < mimic.seconds_["teacher"] / 5


class SlowAtFirst(Teacher):
    """Its first prediction of 10,000 cases takes long, as if it loaded something."""

    n_calls = 0

    def predict_proba(self, X):
        if len(X) == 10_000:
            time.sleep(0.5 if self.n_calls == 0 else 0)
            self.n_calls += 1
        return super().predict_proba(X)


def test_seconds_are_those_of_the_shortest_run_for_both():
    mimic = Mimic(SlowAtFirst(), LinearRegression(), Recorder(), 20_000).fit(array())
    assert mimic.seconds_["teacher"] < 0.2


def test_a_teacher_that_cannot_be_pickled_has_no_size():
    teacher = Teacher()
    teacher.rule = lambda: None
    mimic = Mimic(teacher, LinearRegression(), sizes=100, random_state=0).fit(array())
    assert np.isnan(mimic.bytes_["teacher"])
    assert mimic.bytes_["student"] > 0


def test_progress_goes_to_its_end(few_epochs):
    events = []
    Mimic(Teacher(), sizes=(50, 200), progress=events.append, random_state=0).fit(array())
    assert list(dict.fromkeys(event.stage for event in events)) == [
        "pseudo-cases",
        "labels",
        "training",
    ]
    for stage, total in (("pseudo-cases", 240), ("labels", 200), ("training", 250)):
        steps = [event.done for event in events if event.stage == stage]
        assert steps == sorted(steps)
        assert {event.total for event in events if event.stage == stage} == {total}
        assert steps[-1] == total
    assert sum(event.stage == "training" for event in events) > 10


def test_columns_of_new_rows_are_found_by_name(few_epochs):
    X = frame()
    mimic = Mimic(Teacher(), sizes=300, random_state=0).fit(X)
    expected = mimic.predict_proba(X)
    assert (mimic.predict_proba(X[X.columns[::-1]].assign(more=1)) == expected).all()
    with pytest.raises(InputError, match="`X` must have the columns of the fit; `size` is missing"):
        mimic.predict_proba(X.drop(columns="size"))
    of_array = Mimic(Teacher(), LinearRegression(), sizes=100).fit(array())
    with pytest.raises(InputError, match="`X` must have 3 columns, as in the fit"):
        of_array.predict_proba(np.zeros((5, 2)))
    with pytest.raises(InputError, match="`held_out` must have 3 columns"):
        Mimic(Teacher(), LinearRegression(), sizes=100).fit(array(), held_out=np.zeros((5, 2)))
    with pytest.raises(InputError, match="`held_out` must have one row or more"):
        Mimic(Teacher(), LinearRegression(), sizes=100).fit(array(), held_out=np.zeros((0, 3)))


class Unclonable:
    def fit(self, X, y):
        return self

    def sample(self, n, random_state=None):
        raise NotImplementedError


class Short(Recorder):
    def sample(self, n, random_state=None):
        return super().sample(n - 3)


class Three(Teacher):
    classes_ = np.arange(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"teacher": LinearRegression()}, "`teacher` must be a classifier with predict_proba"),
        ({"teacher": LogisticRegression()}, "`teacher` must be fitted"),
        ({"teacher": Three()}, "`teacher` must have two classes, got 3"),
        ({"student": "net"}, "`student` must be a regressor, a classifier or None"),
        ({"student": LogisticRegression(), "target": "log-odds"}, "`target` must be"),
        ({"target": "label"}, "`target` must be"),
        ({"sampler": "munge"}, "`sampler` must be an estimator with the methods fit and sample"),
        ({"sampler": Unclonable()}, "`sampler` must be an estimator with the methods"),
        ({"sampler": Short()}, "`sampler` must draw as many rows as it is asked for, 100, got 97"),
        ({"sizes": (200, 100)}, "`sizes` must be increasing"),
        ({"patience": 0}, "`patience` must be None or a whole number of at least 1"),
        ({"sizes": ()}, "`sizes` must be increasing"),
        ({"sizes": 1}, "`sizes` must be a whole number of at least 2"),
        ({"sizes": "many"}, "`sizes` must be"),
        ({"random_state": -1}, "`random_state` must be"),
        ({"progress": 3}, "`progress` must be"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        Mimic(**{"teacher": Teacher(), "sizes": 100, **options}).fit(array())


def test_a_classifier_needs_both_labels():
    teacher = DummyClassifier(strategy="prior").fit(array(20), [0] * 20)
    teacher.classes_ = np.array([0, 1])
    teacher.predict_proba = lambda X: np.tile([1.0, 0.0], (len(X), 1))
    with pytest.raises(InputError, match="`teacher` must predict probabilities from which both"):
        Mimic(teacher, LogisticRegression(), sizes=100).fit(array())


def test_labels_are_drawn_from_the_probabilities():
    X = np.repeat([[0.0], [1.0]], 5000, axis=0)
    p = np.where(X[:, 0] == 0, 0.2, 0.9)
    student = ModelStudent(DecisionTreeClassifier(), None, "probability")
    student.fit(X, p, None, 0, lambda share: None)
    assert student.predict(X[[0, -1]]) == pytest.approx([0.2, 0.9], abs=0.02)


def test_the_net_learns_mean_probabilities_and_its_output_is_one():
    """The cross-entropy of soft labels is smallest at their mean, which is 0.25 and 0.9 here."""
    X = np.repeat([[0.0], [1.0]], 400, axis=0)
    p = np.concatenate([np.tile([0.0, 0.5], 200), np.tile([0.8, 1.0], 200)])
    means = np.array([0.25, 0.9])
    held_out = np.array([[0.0], [1.0]]), means
    student = NetStudent(Encoder(X, scaled=True), "probability")
    student.fit(X, p, held_out, 0, lambda share: None)
    assert student.predict(held_out[0]) == pytest.approx(means, abs=0.02)
    far = student.predict(np.array([[-1e3], [1e3]]))
    assert ((far >= 0) & (far <= 1)).all()


def test_the_order_of_columns_does_not_matter(few_epochs):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"b": rng.normal(size=200), "a": rng.integers(4, size=200)})
    X["d"], X["c"] = rng.choice(["u", "v", "w"], 200), rng.choice(["x", "y"], 200)

    class ByName(Teacher):
        def predict_proba(self, rows):
            p = 1 / (1 + np.exp(-rows["b"].to_numpy() - (rows["c"] == "x").to_numpy()))
            return np.column_stack([1 - p, p])

    found = [
        Mimic(ByName(), sizes=(300,), random_state=0).fit(frame).predict_proba(X)
        for frame in (X, X[X.columns[::-1]])
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-5)
