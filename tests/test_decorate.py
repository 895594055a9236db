"""DECORATE: a naive twin, laws of its artificial cases and labels, and what it refuses."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_decorate import decorated, marginal_case_columns
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bnmtl.active.committees import BaggingCommittee
from bnmtl.classification import BayesNetClassifier, NetworkSampler
from bnmtl.classification.columns import read_columns
from bnmtl.decorate import SETTINGS, DecorateClassifier
from bnmtl.decorate.artificial import Marginals, Repeated, Uniform, generator_of
from bnmtl.decorate.classifier import opposite_labels
from bnmtl.decorate.inputs import TreeInputs
from bnmtl.ensembles import MarginalSampler, Munge, NaiveBayesSampler
from bnmtl.errors import InputError, InputTypeError, InputWarning
from bnmtl.metrics.prediction import squared_error
from bnmtl.seeding import generator
from bnmtl.tasks.tables import sorted_columns

pytestmark = pytest.mark.beside_kernels
TREE = DecisionTreeClassifier(min_samples_leaf=3)


def mixed(n=40, seed=0, gaps=0.0):
    """Whole numbers, numbers, text and declared categories, with labels of three classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "count": rng.poisson(4, n),
            "size": rng.normal(size=n),
            "site": rng.choice(["a", "b"], n),
            "kind": pd.Categorical(rng.choice(["x", "y"], n), categories=["x", "y", "z"]),
        }
    )
    scores = frame["size"] + (frame["site"] == "a") + 0.3 * rng.normal(size=n)
    y = np.digitize(scores, [0, 1])
    y[:3] = [0, 1, 2]
    if gaps:
        frame = frame.astype({"count": float, "site": object})
        frame = frame.mask(rng.random(frame.shape) < gaps)
    return frame, y


def expected_failures(model):
    reason = "artificial cases depend on the number of rows"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks(
    [DecorateClassifier(n_estimators=3)], expected_failed_checks=expected_failures
)
def test_it_is_a_classifier_of_scikit_learn(estimator, check):
    check(estimator)


def unknown(frame, n, rng):
    """A user's generator."""
    return frame.iloc[rng.integers(len(frame), size=n)].assign(size=rng.random(n))


class Doubled:
    """A user's generator with a fit."""

    def fit(self, frame):
        self.frame = frame
        return self

    def sample(self, n, random_state):
        drawn = self.frame.sample(n, replace=True, random_state=random_state)
        return drawn.assign(size=2 * drawn["size"])


def drawn_by(kind, frame, extra):
    """What a generator draws, computed once more."""

    def from_frame(rows):
        return lambda n, seed: rows.iloc[generator(seed, "rows").integers(len(rows), size=n)]

    def marginals(n, seed):
        cells = marginal_case_columns(frame, n, seed)
        return pd.DataFrame(cells).astype(frame.dtypes.to_dict())

    def uniform(n, seed):
        found = {}
        for name in frame:
            rng, cells = generator(seed, "column", name), frame[name]
            if name in ("count", "size"):
                drawn = cells.min() + (cells.max() - cells.min()) * rng.random(n)
                found[name] = np.rint(drawn) if name == "count" else drawn
            else:
                values = ["x", "y", "z"] if name == "kind" else list(dict.fromkeys(cells))
                shares = [float(value in set(cells)) for value in values]
                shares = np.array(shares) / sum(shares)
                found[name] = [values[at] for at in rng.choice(len(values), size=n, p=shares)]
        return pd.DataFrame(found).astype(frame.dtypes.to_dict())

    def by_function(n, seed):
        return unknown(frame, n, generator(seed, "function"))

    def by_object(n, seed):
        return Doubled().fit(frame).sample(n, generator(seed, "sampler"))

    @cache
    def sampler():
        return NetworkSampler().fit(frame)

    def by_network(n, seed):
        return sampler().sample(n, generator(seed, "network"))

    pool = marginals(10 * len(frame), generator(7, "pool").integers(2**63))
    return {
        "marginals": marginals,
        "uniform": uniform,
        "pool": from_frame(pool),
        "unlabeled": from_frame(extra),
        "network": by_network,
        unknown: by_function,
        Doubled: by_object,
    }[kind]


KINDS = ["marginals", "uniform", "pool", "unlabeled", "network", unknown, Doubled]


@pytest.mark.parametrize(
    ("kind", "size"),
    [*((kind, 0.5) for kind in KINDS), ("marginals", 1.0), (Doubled, 1.0)],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_members_are_those_of_plain_loops(kind, size):
    frame, y = mixed()
    extra, _ = mixed(25, seed=3)
    encode = TreeInputs(read_columns(frame), sorted_columns(frame))
    draw = drawn_by(kind, frame, extra)
    expected, trials = decorated(
        DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2),
        *(encode(frame), y, lambda *args: encode(draw(*args)), 7),
        size=size,
    )
    given = Doubled() if kind is Doubled else kind
    model = DecorateClassifier(generator=given, artificial_size=size, random_state=7)
    model.fit(frame, y, **({"unlabeled": extra} if kind == "unlabeled" else {}))
    assert model.n_trials_ == trials and len(model.estimators_) == len(expected) == 15
    test = encode(mixed(200, seed=1)[0])
    for ours, theirs in zip(model.estimators_, expected, strict=True):
        assert (ours.predict_proba(test) == theirs.predict_proba(test)).all()


@pytest.mark.parametrize("name", SETTINGS)
def test_named_settings_are_arguments(name):
    frame, y = mixed()
    options = SETTINGS[name]
    model = DecorateClassifier(**options, random_state=0).fit(frame, y)
    assert all(tree.criterion == "entropy" and tree.ccp_alpha > 0 for tree in model.estimators_)
    assert (model.n_estimators, model.max_iterations) == (15, 50)
    assert (options["zero"] == "uniform") == (name == "weka")
    assert not hasattr(options["estimator"], "tree_")


def test_members_that_make_mistakes_worse_are_rejected_as_in_plain_loops():
    frame, y = mixed(60)
    X = frame[["count", "size"]].to_numpy()
    columns, tree = pd.DataFrame(X).rename(columns=str), DecisionTreeClassifier(max_depth=2)

    def draw(n, seed):
        return pd.DataFrame(marginal_case_columns(columns, n, seed)).to_numpy()

    expected, trials = decorated(tree, X, y, draw, 3)
    model = DecorateClassifier(tree, random_state=3).fit(X, y)
    assert model.n_trials_ == trials > len(expected) + 5  # that many are rejected
    test = np.random.default_rng(5).normal(2, 3, size=(100, 2))
    mean = np.mean([member.predict_proba(test) for member in expected], axis=0)
    assert model.predict_proba(test) == pytest.approx(mean, abs=1e-12)
    *_, last = model.staged_predict_proba(test)
    assert last == pytest.approx(mean, abs=1e-12)
    first = next(model.staged_predict_proba(test))
    assert (first == expected[0].predict_proba(test)).all()


def test_errors_tell_each_trial():
    frame, y = mixed(60)
    model = DecorateClassifier(TREE, random_state=0).fit(frame[["count", "size"]], y)
    errors = model.errors_
    assert errors["trial"].tolist() == list(range(1, model.n_trials_ + 1))
    assert errors["accepted"].sum() == len(model.estimators_)
    kept = errors.loc[errors["accepted"], "error"]
    assert kept.is_monotonic_decreasing
    best = kept.cummin().reindex(errors.index).ffill().shift().iloc[1:]
    assert (
        errors["error"].iloc[1:][~errors["accepted"].iloc[1:]] > best[~errors["accepted"]]
    ).all()
    assert errors["error"].iloc[-1] >= 1 - model.score(frame[["count", "size"]], y) - 1e-12
    assert errors["diversity"].iloc[0] == 0 and (errors["diversity"].iloc[1:] > 0).any()


def test_what_must_not_grow():
    frame, y = mixed(60)
    X, names = frame[["count", "size"]], np.array(["c", "a", "b"])[y]
    seen = []

    def cost(labels, P, weights):
        seen.append((labels, P, weights))
        return float(-P[np.arange(60), np.searchsorted(["a", "b", "c"], labels)].mean())

    few = {"n_estimators": 5, "max_iterations": 12, "artificial_size": 0.2, "random_state": 1}
    model = DecorateClassifier(TREE, reject=cost, **few).fit(X, names)
    assert model.errors_["error"].tolist() == [cost(*arguments) for arguments in list(seen)]
    assert list(seen[0][0]) == list(names) and seen[0][2] is None
    kept = model.errors_.loc[model.errors_["accepted"], "error"]
    assert kept.is_monotonic_decreasing and len(kept) > 2
    squared = DecorateClassifier(TREE, reject="squared", **few).fit(X, names)
    codes = np.searchsorted(squared.classes_, names)
    last = squared.errors_.loc[squared.errors_["accepted"], "error"].iloc[-1]
    assert last == pytest.approx(squared_error(codes, squared.predict_proba(X)))
    everyone = DecorateClassifier(TREE, reject=None, **few).fit(X, names)
    assert everyone.errors_["accepted"].all() and len(everyone.estimators_) == 5
    assert everyone.errors_["error"].max() > everyone.errors_["error"].min()


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), zero=st.sampled_from([0.01, "uniform"])
)
def test_labels_are_drawn_by_the_inverse_probability(seed, n_classes, zero):
    rng = np.random.default_rng(seed)
    p = np.round(rng.dirichlet(np.ones(n_classes)), 1)
    p[0] += 1 - p.sum()
    if zero == "uniform":
        expected = (p == 0) / max(1, (p == 0).sum()) if (p == 0).any() else 1 / p / (1 / p).sum()
    else:
        q = np.where(p == 0, zero, p) / np.where(p == 0, zero, p).sum()
        expected = 1 / q / (1 / q).sum()
    n = 20_000
    labels = opposite_labels(np.tile(p, (n, 1)), zero, rng)
    found = np.bincount(labels, minlength=n_classes) / n
    assert found == pytest.approx(expected, abs=0.02)
    assert (found[expected == 0] == 0).all()


def test_of_two_classes_the_label_is_drawn_with_exactly_the_other_probability():
    p = np.array([[1.0, 0.0], [0.0, 1.0], [1 / 3, 2 / 3]])
    for seed in range(50):
        assert opposite_labels(p, "uniform", np.random.default_rng(seed))[:2].tolist() == [1, 0]

    tiny = opposite_labels(np.array([[1e-310, 0.5, 0.5]]), "uniform", np.random.default_rng(0))
    assert tiny.tolist() == [0]

    class Edge:
        def random(self, n):
            return np.array([0.5, 0.5, 2 / 3 - 1e-12])

    assert opposite_labels(p, "uniform", Edge()).tolist() == [1, 0, 0]


def test_marginal_cases_have_the_statistics_of_the_columns():
    frame, _ = mixed(400, gaps=0.1)
    columns = read_columns(frame)
    drawn = Marginals(frame, columns, np.ones(400)).draw(20_000, 5)
    assert drawn.dtypes.to_dict() == frame.dtypes.to_dict()
    assert not drawn.isna().any().any()
    for name in ("count", "size"):
        assert drawn[name].mean() == pytest.approx(frame[name].mean(), abs=0.08)
        assert drawn[name].std() == pytest.approx(frame[name].std(), abs=0.08)
    assert (drawn["count"] == drawn["count"].round()).all() and drawn["count"].min() < 0
    counts = frame["kind"].value_counts().reindex(["x", "y", "z"]) + 1
    found = drawn["kind"].value_counts(normalize=True).reindex(["x", "y", "z"])
    assert found.tolist() == pytest.approx((counts / counts.sum()).tolist(), abs=0.012)
    assert found["z"] > 0
    uniform = Uniform(frame, columns, np.ones(400)).draw(5000, 5)
    assert uniform["size"].between(frame["size"].min(), frame["size"].max()).all()
    assert uniform["size"].mean() == pytest.approx(
        frame["size"].agg(["min", "max"]).mean(), abs=0.1
    )
    assert set(uniform["kind"]) == {"x", "y"}
    assert uniform["kind"].value_counts(normalize=True)["x"] == pytest.approx(0.5, abs=0.03)


def test_weights_count_as_repetitions_in_the_statistics():
    frame, _ = mixed(30, gaps=0.1)
    weights = np.random.default_rng(0).integers(0, 4, size=30)
    again = frame.loc[np.repeat(np.arange(30), weights)].reset_index(drop=True)
    again["site"] = again["site"].astype(object)
    for kind in (Marginals, Uniform):
        once = kind(frame, read_columns(frame), weights.astype(float)).draw(50, 2)
        repeated = kind(again, read_columns(again), np.ones(len(again))).draw(50, 2)
        for name in ("count", "size", "kind"):
            left, right = once[name].tolist(), repeated[name].tolist()
            assert left == (right if name == "kind" else pytest.approx(right, abs=1e-9))


def deviation(numbers, weights):
    frame = pd.DataFrame({"a": np.asarray(numbers, dtype=float)})
    ((_, found),) = Marginals(frame, read_columns(frame, 1), np.asarray(weights))._statistics
    return found


@settings(max_examples=examples(50), deadline=None)
@given(
    numbers=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([0, 0.1, 1, 30]),
    scale=st.sampled_from([1e-9, 1 / 40, 1, 7, 1e9]),
)
def test_the_deviation_is_sane_for_weights_of_any_scale(numbers, seed, spread, scale):
    rng = np.random.default_rng(seed)
    shares = np.exp(spread * rng.normal(size=len(numbers)))
    shares /= shares.sum()
    weights, most = scale * shares, np.ptp(numbers) / np.sqrt(2)
    found, error = deviation(numbers, weights), 1e-9 * np.abs(numbers).max()
    assert 0 <= found <= most * (1 + 1e-12)
    # Neither a little weight nor the scale of weights of less than 1 matters.
    if spread < 30:  # otherwise one case may have all weight but a rounding error
        less, tiny = deviation(numbers, weights * (1 - 1e-9)), deviation(numbers, shares / 50)
        assert less == pytest.approx(found, rel=1e-3, abs=error)
        assert deviation(numbers, shares) == pytest.approx(tiny, rel=1e-6, abs=error)
    # Whole weights are repetitions; equal ones of at most 1 change nothing.
    times = rng.integers(0, 4, size=len(numbers))
    repeated = np.repeat(numbers, times)
    expected = np.std(repeated, ddof=min(1, len(repeated) - 1)) if times.any() else 0
    assert deviation(numbers, times.astype(float)) == pytest.approx(expected, abs=error)
    equal = np.full(len(numbers), min(scale, 1))
    expected = np.std(numbers, ddof=min(1, len(numbers) - 1))
    assert deviation(numbers, equal) == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("kind", [Marginals, Uniform, Repeated])
def test_members_receive_the_drawn_cases_for_columns_of_all_types(kind):
    rng = np.random.default_rng(0)
    numbers = rng.normal(5, 3, size=40)
    frame = pd.DataFrame(
        {
            "half": numbers.astype(np.float16),
            "single": numbers.astype(np.float32),
            "count": pd.array([*rng.integers(0, 9, size=39), None], dtype="Int64"),
            "share": pd.array([*rng.random(39), None], dtype="Float32"),
            "byte": rng.integers(0, 255, size=40).astype(np.uint8),
            "nothing": np.full(40, np.nan),
            "yes": rng.random(40) < 0.5,
            "known": pd.array([True, False, None, True] * 10, dtype="boolean"),
            "grade": pd.Categorical(["b", None, "a", "b"] * 10, categories=["a", "b", "c"]),
            "word": np.array(["y", None, "x", "y"] * 10, dtype=object),
            "empty": np.full(40, None),
        }
    )
    columns = read_columns(frame)
    cases = Repeated(frame) if kind is Repeated else kind(frame, columns, np.ones(40))
    encode, drawn = TreeInputs(columns), cases.draw(30, 4)
    assert drawn.dtypes.to_dict() == frame.dtypes.to_dict()
    np.testing.assert_array_equal(cases.inputs(30, 4, encode), encode(drawn))
    assert cases.inputs(30, 4, None).equals(drawn)


def test_columns_without_variation_or_cells():
    frame = pd.DataFrame(
        {
            "one": [3] * 6,
            "none": [np.nan] * 6,
            "small": np.array([0, 255] * 3, dtype=np.uint8),
            "text": ["a"] * 6,
            "yes": [True, False] * 3,
        }
    )
    drawn = Marginals(frame, read_columns(frame), np.ones(6)).draw(300, 0)
    assert (drawn["one"] == 3).all() and drawn["none"].isna().all()
    assert drawn["small"].dtype == np.uint8 and set(drawn["small"]) > {0, 255}
    assert drawn["yes"].dtype == bool
    model = DecorateClassifier(random_state=0).fit(frame, [0, 1] * 3)
    assert model.score(frame, [0, 1] * 3) == 1
    single = Marginals(frame[:1], read_columns(frame[:1], least=1), np.ones(1)).draw(20, 0)
    assert (single["one"] == 3).all() and (single["small"] == 0).all()


def test_neither_the_order_of_columns_nor_new_row_labels_matter():
    frame, y = mixed(60)
    numbers = frame[["count", "size"]].assign(more=frame["size"] ** 2)
    model = DecorateClassifier(GaussianNB(), 5, 12, random_state=1)
    p = model.fit(numbers, y).predict_proba(numbers)
    other = numbers[["more", "count", "size"]].set_axis(range(100, 160))
    q = model.fit(other, y).predict_proba(other)
    assert q == pytest.approx(p, abs=1e-9)
    assert model.predict_proba(numbers) == pytest.approx(p, abs=1e-9)  # found by name


def test_nominal_columns_of_an_array_and_by_any_name():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(5, size=80) * 10, rng.normal(size=80)])
    y = np.isin(X[:, 0], [0, 20]).astype(int)
    frame = pd.DataFrame(X, columns=["kind", "size"])
    given = [[0], [True, False], np.array([True, False])]
    # Draws go by the names of columns; full trees find the rule whatever is drawn.
    of_trees = DecorateClassifier(DecisionTreeClassifier(), random_state=0)
    models = [
        clone(of_trees).set_params(categorical_features=features).fit(X, y) for features in given
    ]
    by_name = clone(of_trees).set_params(categorical_features=["kind"]).fit(frame, y)
    for model in models:
        assert (model.predict_proba(X) == by_name.predict_proba(frame)).all()
    # One split on an indicator separates a value in the middle.
    assert by_name.estimators_[0].n_features_in_ == 5 + 1 + 1
    numeric = DecorateClassifier(categorical_features=None, random_state=0).fit(X, y)
    assert numeric.estimators_[0].n_features_in_ == 2


def test_missing_cells_and_new_values():
    frame, y = mixed(80, gaps=0.15)
    model = DecorateClassifier(random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.9
    new = frame.head(3).assign(site=["other", None, "a"], count=np.nan)
    assert model.predict_proba(new).sum(axis=1) == pytest.approx(1)


def test_cells_become_indicators_whatever_their_type():
    fit = pd.DataFrame(
        {
            "site": ["a", None, "b"],
            "code": pd.Series([1, 2, 2], dtype=object),
            "size": [0.5, np.nan, 2.0],
            "kind": pd.Categorical(["x", "y", "x"], categories=["y", "z", "x"]),
            "wet": [True, False, True],
            "lost": pd.Series([None] * 3, dtype=object),
        }
    )
    encode = TreeInputs(read_columns(fit))
    a, b, missing = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    expected = [
        [*a, *a, 0.5, 0, 0, 1, 0, *a, 1],
        [*missing, *b, np.nan, 1, 0, 0, 0, *b, 1],
        [*b, *b, 2, 0, 0, 1, 0, *a, 1],
    ]
    assert encode(fit) == pytest.approx(np.array(expected), nan_ok=True)
    # Categories in another order, numbers as text, values that are not known.
    new = fit.assign(
        site=pd.Categorical(["b", "a", "c"]),
        code=["2", "7", None],
        kind=pd.Categorical(["z", None, "other"]),
        wet=["False", "True", "perhaps"],
        lost=["one", None, "two"],
    )
    expected = [
        [*b, *b, 0.5, 0, 1, 0, 0, *b, 0],
        [*a, 0, 0, 0, np.nan, 0, 0, 0, 1, *a, 1],
        [0, 0, 0, *missing, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert encode(new) == pytest.approx(np.array(expected), nan_ok=True)
    assert encode(fit).dtype == np.float32


@pytest.mark.parametrize(
    ("committee", "options"),
    [(DecorateClassifier, {"criterion": "entropy", "min_samples_leaf": 2}), (BaggingCommittee, {})],
)
def test_trees_of_scikit_learn_receive_numbers(committee, options):
    frame, y = mixed(60, gaps=0.1)
    given = committee(DecisionTreeClassifier(**options), random_state=1).fit(frame, y)
    default = committee(random_state=1).fit(frame, y)
    assert (given.predict_proba(frame) == default.predict_proba(frame)).all()


def test_one_class_and_one_case():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DecorateClassifier(random_state=0).fit([[1.0], [2.0]], ["a", "a"])
        assert model.predict_proba([[5.0]]).tolist() == [[1.0]] and model.n_trials_ == 1
        model = DecorateClassifier(random_state=0).fit([[1.0]], [3])
    assert model.predict([[7.0]]).tolist() == [3]
    model = DecorateClassifier(LogisticRegression()).fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]] and model.n_trials_ == 1
    weighted = model.fit([[1.0], [2.0], [3.0]], ["a", "a", "b"], sample_weight=[2, 1, 0])
    assert weighted.predict([[3.0]]).tolist() == ["a"]


def test_weights_reach_the_members_and_the_error():
    frame, y = mixed(60)
    X, weights = frame[["count", "size"]], np.where(y == 2, 5.0, 1.0)
    model = DecorateClassifier(GaussianNB(), 5, reject=None, random_state=0)
    model.fit(X, y, sample_weight=weights)
    wrong = model.predict(X) != y
    assert model.errors_["error"].iloc[-1] == pytest.approx(wrong @ weights / weights.sum())
    seen = []

    class Weighted(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, y, sample_weight)

    DecorateClassifier(Weighted(), 2, reject=None, random_state=0).fit(X, y, sample_weight=weights)
    first, second = seen
    assert first.tolist() == weights.tolist()
    assert second.tolist() == [*weights, *np.ones(60)]  # artificial cases count once each
    # Cases without weight are not there.
    weights[:20] = 0
    p = model.fit(X, y, sample_weight=weights).predict_proba(X)
    q = model.fit(X[20:], y[20:], sample_weight=weights[20:]).predict_proba(X)
    assert (p == q).all()


class Kept:
    """A user's generator that keeps what its fit received."""

    def fit(self, frame):
        self.frame = frame

    def sample(self, n, random_state):
        return self.frame.iloc[random_state.integers(len(self.frame), size=n)]


@pytest.mark.parametrize("kind", ["network", NetworkSampler(), Kept()])
def test_generators_that_learn_respect_weights(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"yes": [False, True] * 50, "more": rng.normal(size=100)})
    columns = read_columns(frame)

    def drawn(weights):
        return generator_of(kind, frame, columns, weights, 3).draw(2000, 1)

    first, equal = drawn(np.ones(100)), drawn(np.full(100, 0.3))
    pd.testing.assert_frame_equal(first, equal)
    assert first["yes"].mean() == pytest.approx(0.5, abs=0.06)
    weights = np.where(frame["yes"], 3e-3, 1e-3)
    once, again = drawn(weights), drawn(weights)
    pd.testing.assert_frame_equal(once, again)
    assert once["yes"].mean() == pytest.approx(0.75, abs=0.06)


def test_cases_are_repeated_in_proportion_to_their_weights():
    rng = np.random.default_rng(0)
    frame, weights = pd.DataFrame({"a": np.arange(50)}), rng.exponential(size=50)
    made = generator_of(Kept(), frame, read_columns(frame), weights, 3)
    times = np.bincount(made._sampler.frame["a"], minlength=50)
    assert times.sum() == 50 and np.abs(times - 50 * weights / weights.sum()).max() < 2


class Worded:
    """A user's generator that returns text."""

    def fit(self, frame):
        self.frame = frame

    def sample(self, n, random_state):
        return self.frame.assign(a=[*["2.5"] * (n - 1), "many"])


MISTAKES = [
    (DecorateClassifier(estimator=3), {}, "`estimator` must be a scikit-learn classifier or None"),
    (DecorateClassifier(LinearSVC()), {}, "must have `predict_proba`.*calibrate it"),
    (DecorateClassifier(n_estimators=0), {}, "`n_estimators` must be a whole number of at least 1"),
    (DecorateClassifier(max_iterations=0), {}, "`max_iterations` must be a whole number"),
    (DecorateClassifier(artificial_size=0), {}, "`artificial_size` must be a number above 0"),
    (
        DecorateClassifier(generator="normal"),
        {},
        "must be 'marginals', .* or 'network', got 'normal'",
    ),
    (DecorateClassifier(generator=3), {}, "`generator` must be a name, a function"),
    (DecorateClassifier(generator=lambda X, n, rng: X[:1]), {}, "must return 10 rows with the col"),
    (DecorateClassifier(generator=lambda X, n, rng: X[["a"]]), {}, "`b` is missing|'b' is missing"),
    (DecorateClassifier(generator="unlabeled"), {}, "`unlabeled` must be given if"),
    (DecorateClassifier(), {"unlabeled": [[1, 2]]}, "`unlabeled` must be given if.*and only then"),
    (DecorateClassifier(generator=NaiveBayesSampler()), {}, "must have a `fit` without labels"),
    (DecorateClassifier(generator=NetworkSampler), {}, "must be a name.*class NetworkSampler"),
    (DecorateClassifier(generator=Worded()), {}, "`generator`: column `a` must hold numb.*'many'"),
    (
        DecorateClassifier(GaussianNB(), generator=lambda X, n, rng: X.assign(b="x")),
        {},
        "`generator`: column `b` must hold numbers as in the fit, got 'x'",
    ),
    (DecorateClassifier(reject=lambda y, P, w: P), {}, "`reject` must return a number.*ndarray"),
    (DecorateClassifier(reject=lambda y, P, w: np.nan), {}, "must return a number, got nan"),
    (DecorateClassifier(reject=lambda y, P, w: None), {}, "must return a number, got None"),
    (DecorateClassifier(zero=1.5), {}, "`zero` must be a number above 0 and below 1"),
    (DecorateClassifier(zero="small"), {}, "`zero` must be a number"),
    (DecorateClassifier(reject="loss"), {}, "`reject` must be"),
    (DecorateClassifier(categorical_features=["c"]), {}, "must be columns,.*or their positions"),
    (DecorateClassifier(categorical_features=[True]), {}, "one mark for each column, 2"),
    (DecorateClassifier(categorical_features="all"), {}, 'must be "from_dtype", None, a mask'),
    (
        DecorateClassifier(KNeighborsClassifier()),
        {"sample_weight": [1] * 10},
        "must take `sample_weight` in its `fit`.*KNeighborsClassifier",
    ),
]


@pytest.mark.parametrize("model, options, text", MISTAKES)
def test_mistakes_are_named(model, options, text):
    frame = pd.DataFrame({"a": np.arange(10.0), "b": np.arange(10) % 3})
    if model.generator == "unlabeled" or "unlabeled" in options:
        options = {name: frame for name in options}
    with pytest.raises((InputError, InputTypeError), match=text):
        model.fit(frame, [0, 1] * 5, **options)
    with pytest.raises(NotFittedError):
        model.predict(frame)


def test_mistakes_in_rows_and_labels():
    frame, y = mixed()
    model = DecorateClassifier(random_state=0)
    with pytest.raises(InputError, match="`y` must be one label for each row, 40"):
        model.fit(frame, y[:-1])
    with pytest.raises(InputError, match="`y` contains NaN or another missing value in"):
        model.fit(frame, np.where(y == 0, None, "a").astype(object))
    with pytest.raises(InputError, match="must name all columns that are not numeric.*site"):
        DecorateClassifier(categorical_features=["kind"]).fit(frame, y)
    model.fit(frame, y)
    with pytest.raises(InputError, match="must have the columns of the fit.*size"):
        model.predict(frame.drop(columns="size"))
    with pytest.raises(InputError, match="`unlabeled` must have rows"):
        DecorateClassifier(generator="unlabeled").fit(frame, y, unlabeled=frame[:0])
    few = frame[:2].assign(size=["0.5", "large"])
    with pytest.raises(InputTypeError, match="`X`: column `size` must hold numbers.*'large'"):
        model.predict(few)
    with pytest.raises(InputTypeError, match="`unlabeled`: column `size` must hold numb.*'large'"):
        DecorateClassifier(generator="unlabeled").fit(frame, y, unlabeled=few)
    texts = np.array([["1", "large"]])
    with pytest.raises(InputTypeError, match="`unlabeled`: column `1` must hold numbers.*'large'"):
        DecorateClassifier(generator="unlabeled").fit([[1, 2], [3, 4]], [0, 1], unlabeled=texts)
    with pytest.warns(InputWarning, match="`max_iterations` is less than `n_estimators` members"):
        DecorateClassifier(LogisticRegression(), n_estimators=4, max_iterations=2).fit(
            frame[["size"]], y
        )


@pytest.mark.parametrize("given", [Munge(), MarginalSampler(), NetworkSampler()])
def test_samplers_of_the_package_generate_cases(given):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(2, size=60), "size": rng.normal(size=60)})
    y = (frame["size"] > 0).to_numpy()
    first, again = (
        DecorateClassifier(n_estimators=3, generator=given, random_state=0).fit(frame, y)
        for _ in range(2)
    )
    assert len(first.estimators_) == 3
    np.testing.assert_array_equal(first.predict_proba(frame), again.predict_proba(frame))
    # The sampler itself is not fitted.
    assert not [name for name in vars(given) if name.endswith("_") and name[0] != "_"]


def test_networks_of_artificial_cases_have_the_seed():
    frame = pd.DataFrame({"a": [0, 1] * 10, "b": [0, 0, 1, 1] * 5})
    y = np.arange(20) % 2
    columns = read_columns(frame)
    for kind in ("network", NetworkSampler()):
        made = generator_of(kind, frame, columns, np.ones(20), 7)
        assert made._sampler.learner_.random_state == 7
    assert DecorateClassifier(generator="network", random_state=3).fit(frame, y).estimators_


def test_a_nominal_column_without_a_value_stays_so():
    cells = pd.Categorical([None] * 4, categories=["u", "v"])
    frame = pd.DataFrame({"a": cells, "b": [1.0, 2.0, 3.0, 4.0]})
    columns = read_columns(frame)
    drawn = Uniform(frame, columns, np.ones(4)).draw(9, 0)
    assert drawn["a"].isna().all() and len(drawn) == 9
    assert list(drawn["a"].cat.categories) == ["u", "v"]
    DecorateClassifier(generator="uniform", random_state=0).fit(frame, [0, 1, 0, 1])


def test_networks_as_members_should_ignore_new_values():
    X = pd.DataFrame({"count": np.arange(40) % 4})
    y = X["count"] > 1
    words = "must predict artificial cases.*`count` must hold states.*: treat.*`unseen='ignore'`"
    with pytest.raises(InputError, match=words):
        DecorateClassifier(BayesNetClassifier(), random_state=0).fit(X, y)
    model = DecorateClassifier(BayesNetClassifier(unseen="ignore"), 2, random_state=0)
    assert len(model.fit(X, y).estimators_) == 2
