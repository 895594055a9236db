"""Stacking as an estimator of scikit-learn: its checks, seeds, weights, groups, parameters."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

from bnmtl.ensembles import PredictionStore, Stacking, blending
from bnmtl.errors import InputError, InputTypeError

pytestmark = pytest.mark.beside_kernels
MODELS = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
X, Y = make_classification(90, 4, n_informative=3, n_redundant=0, random_state=2)
GROUPS = np.arange(90) // 6
PLAIN = Stacking(MODELS, cv=2, random_state=0)


@parametrize_with_checks([PLAIN])
def test_checks_of_sklearn(estimator, check):
    check(estimator)


def test_weights_are_repetitions_for_the_logistic_combination():
    model = clone(PLAIN).set_params(method="logistic")
    check_sample_weight_equivalence_on_dense_data("Stacking", model)


@pytest.mark.parametrize("options", [{}, {"cv": KFold(3)}, {"holdout": 0.3}], ids=str)
def test_cases_of_weight_0_are_left_out(options):
    weights = np.random.default_rng(0).integers(0, 3, 90)
    model, kept = Stacking(MODELS, random_state=1, **options), weights > 0
    found = clone(model).fit(X, Y, weights).predict_proba(X)
    expected = clone(model).fit(X[kept], Y[kept], weights[kept]).predict_proba(X)
    assert found == pytest.approx(expected)
    assert found != pytest.approx(clone(model).fit(X, Y).predict_proba(X))


class Random(ExtraTreeClassifier):
    """A tree that is another one at each fit, unless it has a seed."""

    def __init__(self, random_state=None):
        super().__init__(max_features=1, max_depth=3, random_state=random_state)


def test_the_seed_is_one_of_the_models_too():
    models = [("first", Random()), ("second", Random()), ("own", Random(7))]
    fits = [Stacking(models, cv=2, random_state=seed).fit(X, Y) for seed in (0, 0, 1)]
    p = [one.predict_proba(X) for one in fits]
    assert (p[0] == p[1]).all() and (p[0] != p[2]).any()
    seeds = [[model.random_state for model in one.estimators_] for one in fits]
    assert seeds[0] == seeds[1] and seeds[0][0] != seeds[0][1] and seeds[0][2] == 7
    assert models[0][1].random_state is None
    moved = Stacking(models[::-1], cv=2, random_state=0).fit(X, Y)
    assert moved.predict_proba(X) == pytest.approx(p[0])


def test_parameters_of_models_are_parameters():
    model = Stacking(list(MODELS))
    assert model.get_params()["tree__max_depth"] == 2 and model.get_params()["tree"] is MODELS[1][1]
    assert "tree__max_depth" not in model.get_params(deep=False)
    copy = clone(model).set_params(tree__max_depth=5, cv=3, bayes=KNeighborsClassifier(4))
    assert [type(one).__name__ for _, one in copy.estimators] == [
        "KNeighborsClassifier",
        "DecisionTreeClassifier",
    ]
    assert copy.get_params()["bayes__n_neighbors"] == 4 and copy.cv == 3
    assert copy.estimators[1][1].max_depth == 5 and MODELS[1][1].max_depth == 2
    copy.set_params(estimators=MODELS, tree=LogisticRegression(), tree__C=0.5)
    assert copy.get_params()["tree__C"] == 0.5
    unnamed = Stacking([GaussianNB(), Random(), Random()])
    assert {"gaussiannb", "random-1", "random-2__random_state"} <= set(unnamed.get_params())
    unnamed.set_params(**{"random-2": GaussianNB()})
    assert isinstance(unnamed.estimators[2], GaussianNB)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(forest__max_depth=1)
    assert Stacking().get_params()["estimators"] is None


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the groups, its only feature, that it is fitted to and predicts."""

    seen: ClassVar = []

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.groups_ = np.unique(y), set(X[:, 0].tolist())
        return self

    def predict_proba(self, X):
        Recorder.seen.append((self.groups_, set(X[:, 0].tolist())))
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize(
    ("cv", "method"), [(GroupKFold(3), "linear"), (3, "logistic"), (40, "linear")]
)
def test_groups_stay_together(cv, method):
    models = [("one", Recorder()), ("bayes", GaussianNB())]
    Recorder.seen = []
    Stacking(models, method, cv=cv, random_state=0).fit(GROUPS[:, None], Y, groups=GROUPS)
    assert len(Recorder.seen) == 3 or cv == 40
    for fitted, predicted in Recorder.seen:
        assert not fitted & predicted
    assert set().union(*(predicted for _, predicted in Recorder.seen)) == set(GROUPS)


def test_no_folds_named_are_five():
    models = [("one", Recorder()), ("bayes", GaussianNB())]
    Recorder.seen = []
    Stacking(models, cv=None, random_state=0).fit(GROUPS[:, None], Y, groups=GROUPS)
    assert len(Recorder.seen) == 5 and all(not fitted & new for fitted, new in Recorder.seen)


def test_blending_holds_out_groups():
    Recorder.seen = []
    models = [("one", Recorder()), ("bayes", GaussianNB())]
    blending(models, GROUPS[:, None], Y, share=0.3, random_state=0, groups=GROUPS)
    ((fitted, predicted),) = Recorder.seen
    assert not fitted & predicted and len(predicted) == 5
    weights = np.ones(90)
    same = [
        blending(MODELS, X, Y, random_state=0, sample_weight=one).coef_ for one in (None, weights)
    ]
    assert same[0] == pytest.approx(same[1])


def test_sparse_rows():
    dense = Stacking([("a", LogisticRegression()), MODELS[1]], cv=2, random_state=0)
    found = clone(dense).fit(sparse.coo_array(X), Y)
    assert found.predict_proba(sparse.csr_array(X)) == pytest.approx(
        dense.fit(X, Y).predict_proba(X), abs=1e-4
    )


def test_a_model_that_is_dropped_is_left_out():
    three = [("near", KNeighborsClassifier()), *MODELS]
    dropped = Stacking(three, cv=2, random_state=0).set_params(near="drop").fit(X, Y)
    assert dropped.predict_proba(X) == pytest.approx(clone(PLAIN).fit(X, Y).predict_proba(X))
    assert dropped.get_params()["near"] == "drop" and dropped.coef_.shape == (2, 2)
    assert [type(one) for one in dropped.estimators_] == [type(one) for _, one in MODELS]
    tags = dropped.__sklearn_tags__().input_tags
    assert not tags.sparse  # GaussianNB


def test_predictions_before_the_fit():
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(Stacking(MODELS), method)(X)


STORE = PredictionStore(np.random.default_rng(0).random((3, 8)), [0, 1] * 4)
MISTAKES = [
    (lambda: Stacking(MODELS, cv=GroupKFold(3)).fit(X, Y), "`groups` must be given for GroupKFo"),
    (lambda: Stacking(MODELS, cv=GroupKFold(99)).fit(X, Y, groups=GROUPS), "GroupKFold says `Cann"),
    (lambda: Stacking(MODELS, cv="five").fit(X, Y), "`cv` must be a number of folds, .*'five'"),
    (lambda: Stacking(MODELS, cv=True).fit(X, Y), "`cv` must be a whole number .*, got True"),
    (lambda: Stacking(MODELS, cv=2.5).fit(X, Y), "`cv` must be a whole number .*, got 2.5"),
    (lambda: Stacking(MODELS, cv=[1, 2]).fit(X, Y, Y), "must yield pairs .* or masks, got 1"),
    (lambda: Stacking(MODELS, cv=[([0], [99])]).fit(X, Y, Y), "row numbers below 90, the number"),
    (lambda: Stacking(dict(MODELS)).fit(X, Y), r"of pairs .* got dict; give `list\(estimators.ite"),
    (lambda: Stacking(GaussianNB()).fit(X, Y), "must be a list of classifiers .* got GaussianNB"),
    (lambda: Stacking([MODELS[0], None]).fit(X, Y), 'got None; set a model to "drop" to leave it'),
    (lambda: clone(PLAIN).set_params(tree="drop").fit(X, Y), "two classifiers or more, got 1"),
    (lambda: Stacking(MODELS, cv=[(GROUPS > 7, GROUPS > 7)]).fit(X, Y), "into one test fold"),
    (lambda: Stacking(MODELS, cv=[(Y > 0, Y < 1), (Y < 1, Y > 0)]).fit(X, Y), "two classes"),
    (
        lambda: Stacking(MODELS, cv=[(GROUPS > 7, GROUPS < 8)]).fit(X, Y, groups=GROUPS),
        "`groups` must be left out if `cv` lists the folds",
    ),
    (lambda: Stacking(MODELS).fit(X, Y, groups=GROUPS[:9]), "`groups` of part `X` must be"),
    (lambda: Stacking(MODELS).fit(X, Y, groups=Y), "two groups or more"),
    (lambda: blending(MODELS, X, Y, groups=Y), "each class on both sides.* in 2 groups"),
    (lambda: Stacking(MODELS).fit(X, Y, [1, 2]), "`sample_weight` must be one number per case"),
    (
        lambda: Stacking([*MODELS, ("near", KNeighborsClassifier())]).fit(X, Y, np.ones(90)),
        "`sample_weight` must be None, because the fit of model `near` does not take it",
    ),
    (lambda: Stacking().fit(STORE, groups=GROUPS), "`groups` must be None with a store"),
    (lambda: Stacking().fit(STORE, [0] * 8), "`y` must be None with a store"),
    (lambda: Stacking([MODELS[0]] * 2).fit(X, Y), "must have different names, got 'bayes'"),
    (lambda: Stacking([MODELS[0], ("a__b", GaussianNB())]).fit(X, Y), "text without `__`"),
    (lambda: Stacking([MODELS[0], ("cv", GaussianNB())]).fit(X, Y), "other names than parameters"),
    (lambda: Stacking([MODELS[0], GaussianNB]).fit(X, Y), "`fit` and `predict_proba`"),
    (lambda: clone(PLAIN).fit(X, Y).predict(X[0]), "Reshape your data"),
    (lambda: clone(PLAIN).fit(X, Y + 0.5), "[Cc]ontinuous|unknown"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_are_one_sentence(call, message):
    with pytest.raises((InputError, InputTypeError, ValueError), match=message):
        call()
