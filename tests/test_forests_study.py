"""The study of forests: trees with different sources of randomness."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from benchmarks.trees import forests
from benchmarks.trees.forest_kinds import ClassHalves, RandomBestTree, RandomCombinations

pytestmark = pytest.mark.beside_kernels
X, Y = load_iris(return_X_y=True)


def gini(y):
    return 1 - (np.bincount(y, minlength=3) ** 2).sum() / len(y) ** 2


def decreases(X, y):
    """The decrease of the impurity by every split, in loops."""
    found = {}
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        for low, high in itertools.pairwise(values):
            left = X[:, column] <= low
            inside = left.mean() * gini(y[left]) + (1 - left.mean()) * gini(y[~left])
            found[column, (low + high) / 2] = gini(y) - inside
    return found


def test_splits_are_drawn_from_the_best():
    every = decreases(X, Y)
    best = sorted(every, key=every.get, reverse=True)
    drawn = [RandomBestTree(5, random_state=seed).fit(X, Y)._nodes[0][:2] for seed in range(60)]
    least = every[best[4]]
    assert all(every[column, limit] >= least - 1e-12 for column, limit in drawn)
    assert len(set(drawn)) == 5
    # The best alone is what scikit-learn takes, and every leaf is pure.
    stump = DecisionTreeClassifier(max_depth=1).fit(X, Y).tree_
    column, limit = RandomBestTree(1).fit(X, Y)._nodes[0][:2]
    left = X[:, stump.feature[0]] <= stump.threshold[0]
    assert every[column, limit] == pytest.approx(
        gini(Y) - left.mean() * gini(Y[left]) - (1 - left.mean()) * gini(Y[~left])
    )
    tree = RandomBestTree(20, random_state=0).fit(X, Y)
    assert tree.score(X, Y) == 1.0
    assert (tree.predict_proba(X).max(axis=1) == 1).all()


def test_what_cannot_be_split_is_a_leaf():
    tree = RandomBestTree().fit(np.zeros((3, 2)), ["a", "b", "b"])
    assert tree.predict_proba([[0, 0]]).tolist() == [[pytest.approx(1 / 3), pytest.approx(2 / 3)]]


def test_combinations_are_of_a_few_columns():
    made = RandomCombinations(50, 2, random_state=0).fit(X)
    assert ((made.weights_ != 0).sum(axis=0) == 2).all() and abs(made.weights_).max() <= 1
    by_hand = X[:, 0] / X[:, 0].std() * made.weights_[0, 0]
    rest = X[:, 1:] / X[:, 1:].std(axis=0) @ made.weights_[1:, 0]
    np.testing.assert_allclose(made.transform(X)[:, 0], by_hand + rest)


def test_halves_vote_for_all_of_their_classes():
    labels = np.array(["c", "a", "b"])[Y]
    made = [ClassHalves(random_state=seed).fit(X, labels) for seed in range(8)]
    assert {tuple(one._first) for one in made} > {(True, False, False)}
    for one in made:
        p = one.predict_proba(X)
        assert p.sum(axis=1) == pytest.approx(1)
        half = p[:, one._first].sum(axis=1)
        assert (half == np.isin(labels, one.classes_[one._first])).all()
        assert len(np.unique(p[0][one._first])) == 1
    some = Y < 2
    two = ClassHalves(random_state=0).fit(X[some], Y[some])
    assert two.score(X[some], Y[some]) == 1.0


def test_kinds_are_compared_with_bagging():
    lines = forests.measure(forests.QUICK, list(forests.KINDS))
    made = pd.DataFrame(
        [
            {"table": table, "kind": kind, **line}
            for table in (forests.QUICK, "labor")
            for kind, line in lines.items()
        ]
    )
    shown = forests.tables(made)["forests"].splitlines()
    assert len(shown) == 2 + len(forests.KINDS) and "| bagging | 2 | " in shown[3]
    assert all(0 < line["wrong"] < 0.2 for line in lines.values())
    assert lines["Forest-RC"]["correlation"] < lines["bagging"]["correlation"]
    assert lines["halves of the classes"]["strength"] is None
