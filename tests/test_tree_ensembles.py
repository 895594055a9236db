"""Ensembles of probability trees: leaves and votes counted once more, laws, scikit-learn."""

import naive
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from bnmtl.errors import InputError, InputTypeError
from bnmtl.trees import MOBESP, BaggedPETs, EnhancedBaggedPETs
from bnmtl.trees.bagged import class_bag, on_trees_of
from bnmtl.trees.probability import majority_votes, smoothed, without_case

pytestmark = pytest.mark.beside_kernels
KINDS = [BaggedPETs, EnhancedBaggedPETs, MOBESP]
BAGGED = [
    BaggedPETs(),
    BaggedPETs(smoothing=None),
    BaggedPETs(smoothing=2.5),
    EnhancedBaggedPETs(),
    EnhancedBaggedPETs(smoothing="laplace", random_features=False),
    EnhancedBaggedPETs(out_of_bag=False),
]


def expected_failures(estimator):
    reason = "bags are drawn, so a weight of 2 is not the same as two cases"
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks(
    [kind(n_estimators=5) for kind in KINDS], expected_failed_checks=expected_failures
)
def test_they_are_classifiers_of_scikit_learn(estimator, check):
    check(estimator)


def cases(n=40, n_classes=3, seed=0):
    X, y = make_classification(
        n, 5, n_informative=3, n_classes=n_classes, n_clusters_per_class=1, random_state=seed
    )
    return X.round(1), np.array(["b", "a", "c"])[y]


def weighted(y, seed=3):
    """A weight of each case, which floats hold exactly."""
    return np.random.default_rng(seed).choice([0.125, 1.0, 8.0], len(y))


def by_hand(model, X, y, new, twin, *arguments):
    """What a naive twin says of new cases and of the training cases."""
    codes = np.searchsorted(model.classes_, y).tolist()
    leaves, bags = model.apply(X).T.tolist(), model.bags_.tolist()
    made = [
        twin(leaves, bags, codes, one, len(model.classes_), *arguments)
        for one in model.apply(new).tolist()
    ]
    return np.array([p for p, _ in made]), np.array(made[0][1])


@pytest.mark.parametrize("model", BAGGED, ids=str)
@pytest.mark.parametrize("n_estimators", [1, 4])
def test_leaves_are_counted_as_by_hand(model, n_estimators):
    X, y = cases()
    weights = weighted(y)
    new = cases(seed=1)[0][:8]
    model = clone(model).set_params(n_estimators=n_estimators, min_samples_leaf=3, random_state=1)
    model.fit(X, y, weights)
    prior = np.array([weights[y == one].sum() for one in model.classes_]) / weights.sum()

    def smooth(counts):
        counts = np.array(counts)
        if model.smoothing is None:
            return counts / counts.sum()
        if model.smoothing == "laplace":
            return (counts + 1) / (counts.sum() + 3)
        return (counts + model.smoothing * prior) / (counts.sum() + model.smoothing)

    oob_weight = int(getattr(model, "out_of_bag", False))
    p, out = by_hand(model, X, y, new, naive.leaf_probabilities, smooth, oob_weight, weights)
    np.testing.assert_allclose(model.predict_proba(new), p, atol=1e-12)
    np.testing.assert_allclose(model.oob_proba_, out, atol=1e-12)
    assert np.array_equal(model.oob_mask_, ~np.isnan(out[:, 0]))
    assert model.oob_mask_.all() == (n_estimators > 1) or model.oob_mask_.any()


@pytest.mark.parametrize("empty", ["leaf", "skip"])
@pytest.mark.parametrize("oob_weight", [1.0, 2.5, 0.0])
@pytest.mark.parametrize(("n_estimators", "n_classes"), [(2, 2), (14, 3)])
def test_votes_are_counted_as_by_hand(empty, oob_weight, n_estimators, n_classes):
    X, y = cases(24, n_classes=n_classes)
    new = cases(seed=1)[0][:4]
    model, weights = (
        MOBESP(n_estimators, oob_weight, empty, max_depth=3, random_state=2),
        weighted(y),
    )
    model.fit(X, y, weights)
    arguments = oob_weight, empty == "skip", weights.tolist()
    p, out = by_hand(model, X, y, new, naive.example_specific, *arguments)
    np.testing.assert_allclose(model.predict_proba(new), p, atol=1e-12)
    np.testing.assert_allclose(model.oob_proba_, out, atol=1e-12)
    assert np.array_equal(model.oob_mask_, ~np.isnan(out[:, 0]))
    assert model.n_without_vote_ == np.isnan(out[:, 0]).sum()
    assert (model.n_without_vote_ > 0) == (n_estimators == 2)


def test_a_small_case_by_hand():
    """Two trees, two leaves; the frequencies stand in the comments."""
    leaves = [[1, 1, 2, 2], [1, 2, 1, 2]]
    bags = [[2, 0, 1, 1], [0, 2, 1, 1]]
    codes = [0, 1, 1, 0]
    # Tree 0: leaf 1 has seen class 0 twice, leaf 2 one of each (the first of the classes wins).
    # Tree 1: leaf 1 has seen class 1 once, leaf 2 twice class 1 and once class 0.
    # Votes of unseen cases: case 1 by tree 0 is 0, case 0 by tree 1 is 1; cases 2, 3 have none.
    # New case in leaves 1, 1: votes 0 and 1, so 0. Tree 0, leaf 1, vote 0: case 1 (unseen, class
    # 1). Tree 1, leaf 1, vote 0: nobody; all of leaf 1: case 0 (unseen) and case 2, one half.
    p, out = naive.example_specific(leaves, bags, codes, [1, 1], 2, 1.0, False, [1] * 4)
    assert p == [0.25, 0.75]
    # Case 1 by tree 0: its own count is all of the row, so the leaf without it: class 0.
    # Case 0 by tree 1: its own count is all of the row, so the leaf without it: class 1.
    assert out[:2] == [[0, 1], [1, 0]]
    assert np.isnan(out[2:]).all()
    assert naive.example_specific(leaves, bags, codes, [1, 1], 2, 1.0, True, [1] * 4)[0] == [0, 1]
    # Bagged, unsmoothed, unseen cases once: leaf 1 of tree 0 is (2, 1), of tree 1 (1, 1).
    counts = naive.leaf_probabilities(
        leaves, bags, codes, [1, 1], 2, lambda one: np.array(one) / sum(one), 1, [1] * 4
    )[0]
    assert counts == pytest.approx([(2 / 3 + 1 / 2) / 2, (1 / 3 + 1 / 2) / 2])


def test_rows_without_the_vote_are_counted():
    X, y = cases(60)
    model = MOBESP(5, random_state=0).fit(X, y)
    counts = model.count_empty(X)
    assert counts.shape == (60,)
    assert 0 < counts.max() <= 5
    leaves = model.apply(X)
    stumps = MOBESP(5, max_depth=1, random_state=0).fit(*load_iris(return_X_y=True))
    assert stumps.count_empty(load_iris().data).max() < 5
    assert leaves.shape == (60, 5)


def test_if_no_tree_says_anything_the_prior_decides():
    # Of one tree only the unseen cases have a vote; where a leaf has none, there is no row.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.permutation(np.repeat([0, 1], [10, 30]))
    model = MOBESP(1, empty="skip", random_state=0).fit(X, y)
    assert np.array_equal(model.oob_mask_, model.bags_[0] == 0)
    silent = model.count_empty(X) == 1
    prior = [0.25, 0.75]
    assert silent.any()
    np.testing.assert_allclose(model.predict_proba(X)[silent], [prior] * silent.sum())
    model = MOBESP(1, 0.0, "skip", random_state=0).fit(X, y)
    assert (model.count_empty(X) == 1).all()


@pytest.mark.parametrize("model", [*BAGGED, MOBESP(), MOBESP(empty="skip")], ids=str)
@pytest.mark.parametrize("values", ["numbers", "two values"])
def test_shuffled_labels_leave_no_skill_out_of_bag(model, values):
    rng = np.random.default_rng(1)
    scores, seen = [], []
    for seed in range(8):
        # Of four columns with two values, many cases are alike, and leaves are large.
        X = rng.normal(size=(150, 4)) if values == "numbers" else rng.integers(2, size=(150, 4))
        y = rng.permutation(np.repeat([0, 1], [50, 100]))
        model = clone(model).set_params(n_estimators=12, random_state=seed).fit(X, y)
        out = model.oob_mask_
        assert out.mean() > 0.95
        scores.append(roc_auc_score(y[out], model.oob_proba_[out, 1]))
        seen.append(roc_auc_score(y, model.predict_proba(X)[:, 1]))
    assert np.mean(seen) > (0.75 if values == "numbers" else 0.55)
    # The standard error is at most .03.
    assert 0.40 < np.mean(scores) < 0.53


@pytest.mark.parametrize("kind", KINDS)
def test_out_of_bag_probabilities_are_as_good_as_those_of_new_cases(kind):
    X, y = make_classification(600, 6, n_informative=4, random_state=0)
    model = kind(60, random_state=0).fit(X[:300], y[:300])
    out = np.mean((model.oob_proba_[:, 1] - y[:300]) ** 2)
    new = np.mean((model.predict_proba(X[300:])[:, 1] - y[300:]) ** 2)
    assert out == pytest.approx(new, abs=0.03)
    assert new < 0.18 < np.mean((y[:300].mean() - y[300:]) ** 2)


def test_bags_have_the_proportions_of_the_classes():
    codes = np.repeat([0, 1, 2], [50, 9, 1])
    bag = class_bag(codes, np.random.default_rng(0))
    assert np.bincount(codes, bag).tolist() == [50, 9, 1]
    assert (bag[:50] == 0).any() and bag[:50].max() > 1
    model = BaggedPETs(3, random_state=0).fit(np.arange(60.0)[:, None], codes)
    assert len({tuple(one) for one in model.bags_}) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_scales_of_weights_do_not_matter(kind):
    X, y = cases(60)
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2, 60)
    model = kind(8, random_state=3)
    p = model.fit(X, y, sample_weight=weights).predict_proba(X)
    several = clone(model).set_params(n_jobs=2).fit(X, y, sample_weight=weights)
    assert np.array_equal(several.predict_proba(X), p)
    if kind is not BaggedPETs:
        # Only smoothing depends on the scale.
        scaled = model.fit(X, y, sample_weight=8 * weights).predict_proba(X)
        np.testing.assert_allclose(scaled, p, atol=1e-12)
    assert not np.allclose(model.fit(X, y).predict_proba(X), p)
    tree = several.estimators_[0].tree_
    assert tree.weighted_n_node_samples[0] == pytest.approx(several.bags_[0] @ weights)


@pytest.mark.parametrize("kind", KINDS)
def test_cases_without_weight_do_not_count(kind):
    X, y = cases(60)
    weights = np.ones(60)
    weights[[3, 7, 20]] = 0
    kept = weights > 0
    model = kind(5, random_state=0)
    p = model.fit(X, y, sample_weight=weights).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X[kept], y[kept]).predict_proba(X), p)
    assert model.oob_proba_.shape == (57, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_numbers_and_frames(kind):
    X, y = cases(60)
    X[::7, 0] = np.nan
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = kind(5, random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == list("abcde")
    p = model.predict_proba(frame)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.predict(frame) == y).mean() > 0.8
    one = kind(5, random_state=0).fit(X[y == "a"], y[y == "a"])
    assert (one.predict_proba(X) == 1).all()


def test_few_features_are_drawn_for_each_split():
    X, y = cases(80)
    (few, *_), (all_, *_) = (
        EnhancedBaggedPETs(1, random_features=draws, random_state=0).fit(X, y).estimators_
        for draws in (True, False)
    )
    assert (few.max_features_, all_.max_features_) == (3, 5)
    assert MOBESP(1).fit(X, y).estimators_[0].max_features_ == 3
    assert BaggedPETs(1).fit(X, y).estimators_[0].max_features_ == 5
    assert MOBESP(1).fit(X[:, :1], y).estimators_[0].max_features_ == 1


def test_leaves_have_as_many_rows_as_asked_for():
    X, y = cases(80)
    model = BaggedPETs(3, min_samples_leaf=4, random_state=0).fit(X, y)
    for tree, bag in zip(model.estimators_, model.bags_, strict=True):
        sizes = np.bincount(tree.apply(X.astype(np.float32)), bag)
        assert sizes[sizes > 0].min() >= 4


def test_counts_without_the_case_itself():
    counts = np.array([[3.0, 1.0], [0.3, 0.0]])
    found = without_case(counts, np.array([0, 0]), np.array([1.0, 0.1 + 0.2]))
    assert found.tolist() == [[2, 1], [0, 0]]
    assert counts[0, 0] == 3
    assert np.isnan(smoothed(found, None, np.array([0.5, 0.5]))[1]).all()
    votes = np.array([[0, -1, 1], [1, -1, 1], [-1, -1, 0]])
    assert majority_votes(votes, 2).tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (BaggedPETs(0), "n_estimators"),
        (BaggedPETs(criterion="mse"), "`criterion` must be 'gini'"),
        (BaggedPETs(max_depth=0), "`max_depth`"),
        (BaggedPETs(min_samples_leaf=0), "`min_samples_leaf`"),
        (BaggedPETs(min_samples_leaf=1.5), "`min_samples_leaf`"),
        (MOBESP(n_jobs=0), "`n_jobs`"),
        (BaggedPETs(smoothing="m"), "smoothing"),
        (EnhancedBaggedPETs(smoothing=-1), "smoothing"),
        (EnhancedBaggedPETs(out_of_bag="yes"), "out_of_bag"),
        (EnhancedBaggedPETs(random_features=3), "random_features"),
        (MOBESP(oob_weight=-1), "oob_weight"),
        (MOBESP(empty="prior"), "empty"),
        (MOBESP(random_state="a"), "random_state"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_named(model, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        model.fit(*cases())


@pytest.mark.parametrize(
    "ensemble",
    [BaggedPETs(n_estimators=5, random_state=1), MOBESP(n_estimators=5, random_state=0)],
    ids=["another seed", "drawn features"],
)
def test_only_the_same_trees_are_taken_over(ensemble):
    X, y = cases()
    grown = BaggedPETs(n_estimators=5, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="must have grown the trees"):
        on_trees_of(ensemble, grown, X, y)
