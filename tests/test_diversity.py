"""Disagreement of the members of an ensemble, counted once more in loops."""

import itertools

import numpy as np
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from bnmtl.decorate import DecorateClassifier, diversity
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.cases import probabilities_of

pytestmark = pytest.mark.beside_kernels
MEASURES = ("ensemble", "pairwise", "Kohavi-Wolpert", "ambiguity")


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_members=st.integers(1, 6),
    n_cases=st.integers(1, 12),
    n_classes=st.integers(2, 4),
)
def test_measures_are_those_of_loops(seed, n_members, n_cases, n_classes):
    rng = np.random.default_rng(seed)
    members = rng.dirichlet(np.ones(n_classes), size=(n_members, n_cases))
    weights = rng.integers(0, 3, n_cases) + (np.arange(n_cases) == 0)
    votes, expected = members.argmax(axis=2), {measure: 0.0 for measure in MEASURES}
    for case, weight in enumerate(weights):
        mean = members[:, case].mean(axis=0)
        pairs = list(itertools.permutations(votes[:, case].tolist(), 2))
        shares = [np.mean(votes[:, case] == label) for label in range(n_classes)]
        values = (
            np.mean([vote != mean.argmax() for vote in votes[:, case]]),
            np.mean([one != other for one, other in pairs]) if pairs else 0.0,
            (1 - sum(share**2 for share in shares)) / 2,
            np.mean([sum((p - mean) ** 2) for p in members[:, case]]),
        )
        for measure, value in zip(MEASURES, values, strict=True):
            expected[measure] += weight * value / weights.sum()
    repeated = np.repeat(members, weights, axis=1)
    for measure in MEASURES:
        options = {"measure": measure}
        assert diversity(members, weights=weights, **options) == pytest.approx(expected[measure])
        assert diversity(repeated, **options) == pytest.approx(expected[measure])
    # Kuncheva & Whitaker (2003): the variance is a fixed multiple of the disagreement of pairs.
    ratio = (n_members - 1) / (2 * n_members)
    assert expected["Kohavi-Wolpert"] == pytest.approx(ratio * expected["pairwise"])


@settings(max_examples=examples(30), deadline=None)
@given(seed=st.integers(0, 10**6), n_members=st.integers(1, 6), n_classes=st.integers(2, 4))
def test_the_error_of_the_average_is_that_of_the_members_less_their_ambiguity(
    seed, n_members, n_classes
):
    rng = np.random.default_rng(seed)
    members = rng.dirichlet(np.ones(n_classes), size=(n_members, 8))
    truth, weights = np.eye(n_classes)[rng.integers(n_classes, size=8)], rng.random(8)

    def error(p):
        return ((p - truth) ** 2).sum(axis=1) @ weights / weights.sum()

    ambiguity = diversity(members, weights=weights, measure="ambiguity")
    of_members = np.mean([error(p) for p in members])
    assert error(members.mean(axis=0)) == pytest.approx(of_members - ambiguity, abs=1e-12)


def test_ensembles_of_other_packages():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["c", "a", "b"])[y]
    forest = RandomForestClassifier(7, max_depth=2, random_state=0).fit(X, labels)
    votes = np.array([tree.predict(X).astype(int) for tree in forest.estimators_])
    mean = forest.predict_proba(X).argmax(axis=1)
    assert diversity(forest, X) == pytest.approx((votes != mean).mean())
    # Bagged members of few cases know some classes and some columns only.
    options = {"max_samples": 3, "max_features": 2, "random_state": 0}
    bagged = BaggingClassifier(KNeighborsClassifier(1), 15, **options).fit(X, labels)
    assert min(len(member.classes_) for member in bagged.estimators_) < 3
    pairs = zip(bagged.estimators_, bagged.estimators_features_, strict=True)
    votes = np.array([member.predict(X[:, columns]) for member, columns in pairs])
    mean = bagged.predict_proba(X).argmax(axis=1)
    assert diversity(bagged, X) == pytest.approx((votes != mean).mean())
    ours = DecorateClassifier(GaussianNB(), reject=None, random_state=0).fit(X, labels)
    members = ours.member_probabilities(X)
    assert members.shape == (15, 150, 3)
    assert diversity(ours, X) == diversity(members) > 0
    assert diversity(ours, X) == pytest.approx(ours.errors_["diversity"].iloc[-1])


def test_a_member_that_lacks_a_class():
    member = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "c", "c"])
    p = probabilities_of(member, [[0.5]], np.array(["a", "b", "c"]))
    assert p.tolist() == [[pytest.approx(1), 0, pytest.approx(0)]]


def test_mistakes_are_named():
    X, y = load_iris(return_X_y=True)
    members = np.full((2, 3, 2), 0.5)
    with pytest.raises(InputError, match="`X` must be given with a classifier"):
        diversity(DecorateClassifier(random_state=0).fit(X, y))
    with pytest.raises(InputError, match="`X` must be None with an array"):
        diversity(members, X)
    with pytest.raises(InputTypeError, match="must be a fitted classifier or an array"):
        diversity(members[0])
    with pytest.raises(InputTypeError, match="must have `estimators_`"):
        diversity(GaussianNB().fit(X, y), X)
    with pytest.raises(InputTypeError, match="must have members with `predict_proba`"):
        diversity(GradientBoostingClassifier(n_estimators=2).fit(X, y), X)
    with pytest.raises(InputTypeError, match="must be a fitted classifier or an array.*LinearReg"):
        diversity(LinearRegression())
    with pytest.raises(InputError, match="`measure` must be .*pairwise.*, got 'pairs'"):
        diversity(members, measure="pairs")
    with pytest.raises(InputError, match="`weights` must be one number per case, 3"):
        diversity(members, weights=[1, 2])
