"""Active learning: utilities against plain loops, picks, committees and strategies."""

import warnings

import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_active import (
    class_variance,
    local_variance,
    mean_of,
    one_minus_margin,
    spread,
    votes_of,
)
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bnmtl.active import (
    ActiveDecorate,
    ActiveDecorateJS,
    BaggingCommittee,
    BoostingCommittee,
    BootstrapJS,
    BootstrapLV,
    BootstrapLVExt,
    MarginSampling,
    QueryByBagging,
    QueryByBoosting,
    RandomQuery,
    SingleClassifier,
    TreeCommittee,
    query,
    utilities,
)
from bnmtl.classification import BayesNetClassifier
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.prediction import jensen_shannon
from bnmtl.seeding import generator

pytestmark = pytest.mark.beside_kernels
BY_COMMITTEE = [
    ActiveDecorate(n_estimators=4, random_state=0),
    ActiveDecorate(n_estimators=4, utility="jensen_shannon", random_state=0),
    ActiveDecorateJS(n_estimators=4, random_state=0),
    BootstrapJS(n_estimators=4, random_state=0),
    BootstrapLV(n_estimators=4, random_state=0),
    BootstrapLVExt(n_estimators=4, random_state=0),
    QueryByBagging(n_estimators=4, random_state=0),
    QueryByBagging(n_estimators=4, margin="votes", random_state=0),
    QueryByBoosting(n_estimators=4, random_state=0),
    MarginSampling(RandomForestClassifier(4), random_state=0),
]
EVERY = [*BY_COMMITTEE, RandomQuery(random_state=0)]
COMMITTEES = [BaggingCommittee, TreeCommittee, BoostingCommittee, SingleClassifier]
SMALL_COMMITTEES = [
    *(kind(n_estimators=3, random_state=0) for kind in COMMITTEES[:3]),
    SingleClassifier(RandomForestClassifier(3), random_state=0),
]


def mixed(n=60, n_labeled=21, seed=0):
    """Numbers with gaps and text; labels "no" and "yes" for some rows, None for the others."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(size=n), "site": rng.choice(["a", "b"], n)})
    y = np.where(frame["size"] + (frame["site"] == "a") > 0.5, "yes", "no").astype(object)
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    y[rng.permutation(n)[n_labeled:]] = None
    return frame, y


@st.composite
def members(draw):
    """Distributions (members, cases, classes) with ties, and weights of the members."""
    n_members, n_cases, n_classes = (draw(st.integers(*ends)) for ends in [(1, 5), (1, 6), (2, 4)])
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = rng.integers(0, 3, (n_members, n_cases, n_classes)) + (rng.random() < 0.5)
    counts[counts.sum(axis=2) == 0, 0] = 1
    return counts / counts.sum(axis=2, keepdims=True), rng.integers(1, 5, n_members).astype(float)


@settings(max_examples=examples(60))
@given(members(), st.booleans())
def test_utilities_are_those_of_plain_loops(drawn, weighted):
    p, weights = drawn
    given_weights = weights if weighted else None
    weights = weights if weighted else np.ones(len(p))
    cases = range(p.shape[1])
    votes = [votes_of(p, case, weights) for case in cases]
    means = [mean_of(p, case, weights) for case in cases]
    expected = {
        utilities.small_margin: [one_minus_margin(shares) for shares in means],
        utilities.small_vote_margin: [one_minus_margin(shares) for shares in votes],
        jensen_shannon: [spread(p, case, weights) for case in cases],
    }
    for utility, values in expected.items():
        found = utility(p, given_weights)
        np.testing.assert_allclose(found, values, atol=1e-12, err_msg=utility.__name__)
    found = utilities.class_variance(p)
    np.testing.assert_allclose(found, [class_variance(p, case) for case in cases], atol=1e-12)
    for least in (0.05, 0.4):
        found = utilities.local_variance(p, 1, least)
        values = [local_variance(p, case, 1, least) for case in cases]
        np.testing.assert_allclose(found, values, atol=1e-12)


@settings(max_examples=examples(60))
@given(members())
def test_shares_are_probabilities(drawn):
    p, weights = drawn
    found = utilities.vote_shares(p, weights / 3)
    assert found.min() >= 0
    assert found.max() <= 1
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_one_class_leaves_nothing_to_decide():
    p = np.ones((3, 2, 1))
    assert not utilities.small_margin(p).any()
    assert not utilities.small_vote_margin(p).any()


@settings(max_examples=examples(40))
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.data())
def test_the_best_are_picked_and_ties_are_drawn(values, data):
    values, size = np.array(values, dtype=float), data.draw(st.integers(1, len(values)))
    picked = query.pick_best(values, size, np.random.default_rng(0))
    assert len(set(picked)) == size
    assert sorted(values[picked]) == sorted(values)[len(values) - size :]
    tied = np.flatnonzero(values == values.max())
    first = {int(query.pick_best(values, 1, np.random.default_rng(seed))[0]) for seed in range(60)}
    assert first == set(tied.tolist())


def test_draws_are_in_proportion_and_without_replacement():
    values, n = np.array([0.0, 1.0, 3.0]), 4000
    rng = np.random.default_rng(0)
    drawn = np.array([query.draw_in_proportion(values, 3, rng) for _ in range(n)])
    assert (np.sort(drawn, axis=1) == [0, 1, 2]).all()
    assert (drawn[:, 2] == 0).all()
    assert np.mean(drawn[:, 0] == 2) == pytest.approx(0.75, abs=4 * np.sqrt(0.75 * 0.25 / n))
    alike = [int(query.draw_in_proportion(np.zeros(4), 1, rng)[0]) for _ in range(n)]
    shares = np.bincount(alike, minlength=4) / n
    np.testing.assert_allclose(shares, 0.25, atol=4 * np.sqrt(0.25 * 0.75 / n))


def committees_of(strategy, frame, y):
    """The members' probabilities for all rows, and the weights of the members."""
    labeled = [row for row, label in enumerate(y) if label is not None]
    committee = strategy.committee().fit(frame.iloc[labeled], y[labeled].astype(str))
    return committee.member_probabilities(frame), getattr(committee, "member_weights_", None)


@pytest.mark.parametrize("strategy", BY_COMMITTEE, ids=str)
def test_a_query_is_its_utility_and_its_pick(strategy):
    frame, y = mixed()
    before = frame.copy()
    rows, found = strategy.query(frame, y, batch_size=3, return_utilities=True)
    pd.testing.assert_frame_equal(frame, before)
    p, weights = committees_of(strategy, frame, y)
    share = np.mean(y[pd.notna(y)] == "yes")
    assert share != 0.5
    rare = int(share < 0.5)
    kinds = {
        "ActiveDecorateJS": lambda case: spread(p, case, np.ones(4)),
        "BootstrapJS": lambda case: spread(p, case, np.ones(4)),
        "BootstrapLV": lambda case: local_variance(p, case, rare, 1 / 23),
        "BootstrapLVExt": lambda case: class_variance(p, case),
        "MarginSampling": lambda case: one_minus_margin(p[0, case]),
        "QueryByBoosting": lambda case: one_minus_margin(votes_of(p, case, weights)),
        "QueryByBagging": lambda case: one_minus_margin(
            votes_of(p, case, np.ones(4))
            if strategy.margin == "votes"
            else mean_of(p, case, np.ones(4))
        ),
        "ActiveDecorate": lambda case: (
            spread(p, case, np.ones(p.shape[0]))
            if strategy.utility == "jensen_shannon"
            else one_minus_margin(mean_of(p, case, np.ones(p.shape[0])))
        ),
    }
    kind = kinds[type(strategy).__name__]
    missing = pd.isna(y)
    assert np.isnan(found[:, ~missing]).all()
    expected = [kind(case) for case in np.flatnonzero(missing)]
    np.testing.assert_allclose(found[0, missing], expected, atol=1e-12)
    for step, row in enumerate(rows):
        assert np.isnan(found[step, rows[:step]]).all()
        assert found[step, row] >= 0
        if not strategy.draws:
            assert found[step, row] == np.nanmax(found[step])
    assert len(set(rows.tolist())) == 3
    assert missing[rows].all()


@pytest.mark.parametrize("strategy", EVERY, ids=str)
def test_queries_are_stateless_and_repeatable(strategy):
    frame, y = mixed()
    first = strategy.query(frame, y, batch_size=5).tolist()
    assert strategy.query(frame, y, batch_size=5).tolist() == first
    assert clone(strategy).query(frame, y, batch_size=5).tolist() == first
    with_nan = np.where(pd.isna(y), np.nan, y)
    assert strategy.query(frame, with_nan, batch_size=5).tolist() == first
    marked = clone(strategy).set_params(missing_label="?")
    assert marked.query(frame, np.where(pd.isna(y), "?", y), batch_size=5).tolist() == first
    others = [clone(strategy).set_params(random_state=seed) for seed in range(1, 5)]
    assert any(other.query(frame, y, batch_size=5).tolist() != first for other in others)


@pytest.mark.parametrize("strategy", EVERY, ids=str)
def test_only_candidates_are_picked(strategy):
    frame, y = mixed()
    some = np.flatnonzero(pd.isna(y))[[7, 3, 20]]
    rows, found = strategy.query(frame, y, candidates=some, batch_size=3, return_utilities=True)
    assert sorted(rows) == sorted(some)
    assert np.flatnonzero(~np.isnan(found[0])).tolist() == sorted(some)


@pytest.mark.parametrize("strategy", EVERY, ids=str)
def test_without_labels_and_with_one_class_any_case_is_as_good(strategy):
    frame, y = mixed(n=12, n_labeled=3)
    nothing = np.full(12, None)
    one_class = np.where(pd.isna(y), None, "no")
    for labels in (nothing, one_class):
        _, found = strategy.query(frame, labels, return_utilities=True)
        assert set(found[0][~np.isnan(found[0])]) == {0.0}


@pytest.mark.parametrize("kind", [ActiveDecorate, QueryByBagging, QueryByBoosting], ids=str)
def test_members_that_need_two_classes_are_not_asked_about_one(kind):
    labels = ["no", "no", None, None]
    _, found = kind(LogisticRegression()).query(np.eye(4), labels, return_utilities=True)
    assert found[0][2:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "strategy", [RandomQuery(random_state=0), BootstrapJS(n_estimators=4, random_state=0)]
)
def test_random_picks_do_not_stay_in_one_place(strategy):
    """With the same seed, each round draws another place of the rows that are left."""
    X, y, picked = np.zeros((50, 1)), np.full(50, np.nan), []
    for _ in range(10):
        (row,) = strategy.query(X, y)
        picked.append(row)
        y[row] = 0
    assert np.std(picked) > 5


def test_whole_numbers_and_codes_are_labels():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 2)), np.full(30, np.nan)
    labels[:10] = X[:10, 0] > 0
    as_objects = np.array(
        [None if np.isnan(label) else int(label) for label in labels], dtype=object
    )
    strategy = BootstrapJS(random_state=0)
    assert strategy.query(X, labels) == strategy.query(X, as_objects)
    coded = BootstrapJS(missing_label=-1, random_state=0)
    assert coded.query(X, np.nan_to_num(labels, nan=-1)) == strategy.query(X, labels)


def test_the_divisor_of_the_local_variance_has_a_least_value():
    X = np.arange(26.0)[:, None]
    y = np.array(12 * [0.0] + 8 * [1] + 6 * [np.nan])
    strategy = BootstrapLV(GaussianNB(), n_estimators=4, random_state=0)
    _, found = strategy.query(X, y, return_utilities=True)
    p = strategy.committee().fit(X[:20], y[:20]).member_probabilities(X)
    expected = [local_variance(p, case, 1, 1 / 22) for case in range(20, 26)]
    np.testing.assert_allclose(found[0, 20:], expected, atol=1e-12)
    turned = BootstrapLV(GaussianNB(), n_estimators=4, minority_class=0, random_state=0)
    _, found = turned.query(X, y, return_utilities=True)
    assert p[:, 20:, 0].mean(axis=0).min() < 1 / 22
    expected = [local_variance(p, case, 0, 1 / 22) for case in range(20, 26)]
    np.testing.assert_allclose(found[0, 20:], expected, atol=1e-12)


def test_committees_of_the_strategies():
    options = {"n_estimators": 7, "random_state": 3}
    assert ActiveDecorate(**options).committee().reject == "error"
    assert ActiveDecorateJS(**options).committee().reject == "squared"
    assert type(BootstrapJS(**options).committee()) is TreeCommittee
    assert type(QueryByBagging(**options).committee()) is BaggingCommittee
    naive = GaussianNB()
    alone = MarginSampling(naive, random_state=3).committee()
    assert (type(alone), alone.estimator, alone.random_state) == (SingleClassifier, naive, 3)
    for strategy in BY_COMMITTEE:
        if type(strategy) is MarginSampling:
            continue
        made = clone(strategy).set_params(estimator=naive, **options).committee()
        assert (made.estimator, made.n_estimators, made.random_state) == (naive, 7, 3)


def test_members_may_be_networks():
    frame, y = mixed(n=200, n_labeled=150)
    X = pd.DataFrame({"site": frame["site"], "large": frame["size"] > 0})
    strategy = QueryByBagging(BayesNetClassifier(), n_estimators=4, random_state=0)
    _, found = strategy.query(X, y, return_utilities=True)
    members = strategy.committee().fit(X[pd.notna(y)], y[pd.notna(y)].astype(str))
    assert all(isinstance(member, BayesNetClassifier) for member in members.estimators_)
    p = members.member_probabilities(X)
    missing = np.flatnonzero(pd.isna(y))
    expected = [one_minus_margin(mean_of(p, case, np.ones(4))) for case in missing]
    np.testing.assert_allclose(found[0, missing], expected, atol=1e-12)
    assert len(set(np.round(expected, 6))) > 2


def test_networks_as_members_should_ignore_what_a_bootstrap_lacks():
    X = pd.DataFrame({"site": ["a", "b"] * 10 + ["c"] * 2})
    y = [*[0, 1] * 10, 1, np.nan]
    words = "must predict values that its bootstrap lacks.*`c`: treat.*`unseen='ignore'`"
    with pytest.raises(InputError, match=words):
        QueryByBagging(BayesNetClassifier(), 5, random_state=0).query(X, y)
    ignoring = QueryByBagging(BayesNetClassifier(unseen="ignore"), 3, random_state=0)
    assert ignoring.query(X, y).tolist() == [21]


def test_the_minority_class_can_be_named():
    frame, y = mixed()
    first, second = (
        BootstrapLV(n_estimators=4, minority_class=label, random_state=0).query(
            frame, y, return_utilities=True
        )[1]
        for label in ("no", "yes")
    )
    default = BootstrapLV(n_estimators=4, random_state=0).query(frame, y, return_utilities=True)[1]
    rare = min(["no", "yes"], key=y.tolist().count)
    assert np.array_equal(default, {"no": first, "yes": second}[rare], equal_nan=True)
    assert not np.array_equal(first, second, equal_nan=True)


@pytest.mark.parametrize("kind", COMMITTEES, ids=lambda kind: kind.__name__)
def test_committees_take_mixed_frames_and_any_order_of_columns(kind):
    frame, y = mixed(n_labeled=60)
    fitted = kind(random_state=0).fit(frame, y.astype(str))
    p = fitted.predict_proba(frame)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.mean(fitted.predict(frame) == y) > 0.9
    assert np.array_equal(fitted.predict_proba(frame[["site", "size"]]), p)


def test_bagged_members_are_fitted_to_bootstraps():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 2)), rng.integers(0, 2, 25)
    fitted = BaggingCommittee(GaussianNB(), n_estimators=3, random_state=5).fit(X, y)
    for number in range(3):
        rows = generator(5, "bootstrap", number).integers(25, size=25)
        expected = GaussianNB().fit(X[rows], y[rows]).predict_proba(X)
        assert np.array_equal(fitted.member_probabilities(X)[number], expected)


def test_probability_trees_are_smoothed_and_full():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    p = TreeCommittee(random_state=0).fit(X, y).member_probabilities(X)
    assert 0 < p.min() < p.max() < 1
    assert p.max() == pytest.approx(1 - p.min())
    assert set(BaggingCommittee(random_state=0).fit(X, y).member_probabilities(X).ravel()) == {0, 1}


def test_laplace_counts_classes_that_a_bootstrap_lacks():
    X, y = np.zeros((6, 1)), np.array([0, 0, 0, 0, 0, 1])
    members = TreeCommittee(n_estimators=30, random_state=0).fit(X, y).member_probabilities(X)
    drawn = [generator(0, "bootstrap", at).integers(6, size=6) for at in range(30)]
    expected = [(np.sum(rows == 5) + 1) / 8 for rows in drawn]
    assert min(expected) == 1 / 8
    np.testing.assert_allclose(members[:, 0, 1], expected)


def test_margins_are_those_of_the_classifier_that_predicts():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.full(60, np.nan)
    y[:20] = X[:20, 0] > 0
    _, found = MarginSampling(random_state=0).query(X, y, return_utilities=True)
    seed = int(generator(0, "member", 0).integers(2**31 - 1))
    forest = RandomForestClassifier(random_state=seed).fit(X[:20].astype(np.float32), y[:20])
    p = forest.predict_proba(X[20:].astype(np.float32))[:, 1]
    np.testing.assert_allclose(found[0, 20:], 1 - np.abs(2 * p - 1), atol=1e-12)
    assert MarginSampling(LogisticRegression()).query(X, y)[0] == 20 + np.argmin(
        np.abs(LogisticRegression().fit(X[:20], y[:20]).decision_function(X[20:]))
    )


def test_large_ensembles_may_try_more_members():
    frame, y = mixed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        committee = ActiveDecorate(n_estimators=60, random_state=0).committee()
        committee.fit(frame[pd.notna(y)], y[pd.notna(y)].astype(str))
    assert committee.max_iterations == 95
    assert ActiveDecorateJS().committee().max_iterations == 50


def test_labels_may_be_a_tuple_and_marked_by_a_value():
    X = [[0.0], [1.0], [2.0], [3.0]]
    assert RandomQuery(random_state=0).query(X, ("a", None, "b", "a")).tolist() == [1]
    marked = RandomQuery(missing_label=-1, random_state=0)
    rows = marked.query(X, pd.Series([0, pd.NA, -1, 1], dtype="Int64"), batch_size=2)
    assert sorted(rows) == [1, 2]


def test_a_bootstrap_may_lack_classes():
    X, y = np.arange(8.0)[:, None], np.array(list("aaaaaabc"))
    fitted = BaggingCommittee(LogisticRegression(), n_estimators=40, random_state=0).fit(X, y)
    assert {len(member.classes_) for member in fitted.estimators_} >= {1, 2, 3}
    assert fitted.member_probabilities(X).shape == (40, 8, 3)
    np.testing.assert_allclose(fitted.member_probabilities(X).sum(axis=2), 1)


def test_boosted_members_vote_by_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    stump = DecisionTreeClassifier(max_depth=1)
    fitted = BoostingCommittee(stump, n_estimators=5, random_state=0).fit(X, y)
    assert fitted.member_weights_.sum() == pytest.approx(1)
    assert len(set(fitted.member_weights_)) > 1
    p = fitted.member_probabilities(X)
    expected = [votes_of(p, case, fitted.member_weights_) for case in range(60)]
    np.testing.assert_allclose(fitted.predict_proba(X), expected, atol=1e-12)


@parametrize_with_checks(SMALL_COMMITTEES)
def test_committees_are_classifiers_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": ["a", "b", "a"]}, "each row has one"),
        ({"y": ["a", None]}, "one label for each row"),
        (
            {"y": pd.DataFrame({"y": ["a", None, None]})},
            "got DataFrame; select one column, or `Multi",
        ),
        ({"batch_size": 3}, "2 rows can be picked"),
        ({"batch_size": 0}, "batch_size"),
        ({"candidates": [0]}, "rows without a label"),
        ({"candidates": [9]}, "positions of rows"),
        ({"candidates": [-1]}, "positions of rows"),
        ({"candidates": [[0.0]]}, "positions of rows"),
        ({"candidates": []}, "positions of rows"),
        ({"candidates": [False, True, False]}, "flatnonzero"),
    ],
)
def test_impossible_queries_are_refused(arguments, words):
    given_ = {"X": [[0.0], [1.0], [2.0]], "y": ["a", None, None], **arguments}
    with pytest.raises((InputError, InputTypeError), match=words):
        RandomQuery().query(given_.pop("X"), given_.pop("y"), **given_)


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (QueryByBagging(LinearSVC()), "predict_proba"),
        (QueryByBagging(margin="mean"), "margin"),
        (ActiveDecorate(utility="entropy"), "utility"),
        (QueryByBagging(n_estimators=0), "n_estimators"),
        (BootstrapLV(classes=["no", "yes", "maybe"]), "BootstrapLVExt"),
        (BootstrapLV(minority_class="never"), "never"),
        (BootstrapJS(classes=["no"]), "yes"),
        (RandomQuery(random_state="today"), "random_state"),
    ],
    ids=str,
)
def test_impossible_strategies_are_refused(strategy, words):
    frame, y = mixed()
    with pytest.raises((InputError, InputTypeError), match=words):
        strategy.query(frame, y)


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (QueryByBagging(LinearSVC()), "predict_proba"),
        (QueryByBagging(margin="mean"), "margin"),
        (ActiveDecorate(utility="entropy"), "utility"),
        (QueryByBoosting(n_estimators=0), "n_estimators"),
        (BootstrapLV(classes=["no", "yes"], minority_class="never"), "never"),
    ],
    ids=str,
)
def test_strategies_are_checked_before_there_are_labels(strategy, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        strategy.query(mixed()[0], [None] * 60)


@pytest.mark.parametrize(
    ("strategy", "committee"),
    [(QueryByBagging(), GaussianNB()), (QueryByBoosting(), BaggingCommittee())],
    ids=str,
)
def test_other_committees_are_refused(strategy, committee):
    frame, y = mixed()
    known = pd.notna(y)
    fitted = committee.fit(frame[["size"]].fillna(0)[known], y[known].astype(str))
    with pytest.raises(InputTypeError, match=f"`committee` .* got {type(fitted).__name__}"):
        strategy.query(frame[["size"]].fillna(0), y, committee=fitted)
