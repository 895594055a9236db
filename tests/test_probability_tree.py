"""Probability trees: smoothed leaves by hand, weights, and scikit-learn's interface."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bnmtl.errors import InputError, InputTypeError
from bnmtl.trees import BaggedPETs, ProbabilityTree

pytestmark = pytest.mark.beside_kernels
SMOOTHINGS = [None, "laplace", 2.5]


@parametrize_with_checks([ProbabilityTree(smoothing=one) for one in SMOOTHINGS])
def test_it_is_a_classifier_of_scikit_learn(estimator, check):
    check(estimator)


def data():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    return X.round(0), np.array(["b", "c", "a"])[y], rng.integers(1, 4, len(y))


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_leaves_have_smoothed_frequencies(smoothing):
    X, y, _ = data()
    X, y = X[:120], y[:120]  # fewer cases of one class
    tree = ProbabilityTree(smoothing=smoothing, min_samples_leaf=4, random_state=0).fit(X, y)
    leaves, p = tree.apply(X), tree.predict_proba(X)
    prior = {label: float(np.mean(y == label)) for label in "abc"}
    assert len(set(prior.values())) > 1
    for row in range(len(X)):
        inside = y[leaves == leaves[row]]
        for k, label in enumerate("abc"):
            n, n_k = len(inside), int((inside == label).sum())
            expected = {
                "None": n_k / n,
                "laplace": (n_k + 1) / (n + 3),
                "2.5": (n_k + 2.5 * prior[label]) / (n + 2.5),
            }[str(smoothing)]
            assert p[row, k] == pytest.approx(expected, abs=1e-12)


def test_without_smoothing_it_is_the_tree_of_scikit_learn():
    X, y, _ = data()
    ours = ProbabilityTree(random_state=3).fit(X, y)
    theirs = DecisionTreeClassifier(criterion="entropy", random_state=3).fit(X, y)
    assert np.array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_weights_repeat_cases(smoothing):
    X, y, weights = data()
    tree = ProbabilityTree(smoothing=smoothing, random_state=0)
    weighted = tree.fit(X, y, sample_weight=weights).predict_proba(X)
    repeated = tree.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-12)


def test_the_prior_decides_in_a_leaf_of_ties():
    X, y = [[0], [0], [1], [1]], ["a", "b", "b", "b"]
    assert ProbabilityTree().fit(X, y).predict([[0]])[0] == "a"
    assert ProbabilityTree(smoothing=1.0).fit(X, y).predict([[0]])[0] == "b"


def test_trees_stop_at_a_number_of_leaves():
    X, y, _ = data()
    assert ProbabilityTree(max_leaf_nodes=3, random_state=0).fit(X, y).get_n_leaves() == 3


@pytest.mark.parametrize("model", [ProbabilityTree(), BaggedPETs(3)], ids=str)
def test_columns_of_text_are_named(model):
    frame = pd.DataFrame({"size": [1.0, 2, 3, 4], "site": ["1", None, "z", "2"]})
    with pytest.raises(InputError, match="column `site`.* must hold numbers, got 'z'"):
        model.fit(frame, [0, 1, 0, 1])
    # Numbers as text are numbers.
    model.fit(frame.assign(site=["1", "0", "3", "2"]), [0, 1, 0, 1])


def test_negative_weights_are_refused():
    X, y, _ = data()
    with pytest.raises(InputError, match="`sample_weight` must be 0 or more"):
        ProbabilityTree().fit(X, y, sample_weight=np.append(np.ones(len(y) - 1), -1))


@pytest.mark.parametrize("wrong", ["m", 0, -1.0, True])
def test_an_unknown_smoothing_is_refused(wrong):
    X, y, _ = data()
    with pytest.raises((InputError, InputTypeError), match="smoothing"):
        ProbabilityTree(smoothing=wrong).fit(X, y)
