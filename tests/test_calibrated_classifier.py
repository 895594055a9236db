"""The calibrated classifier: scikit-learn's where both agree, laws, and what it warns of."""

import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
    train_test_split,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from bnmtl.calibration import (
    AutoCalibrator,
    BetaCalibrator,
    CalibratedClassifier,
    IsotonicCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from bnmtl.calibration.classifier import METHODS
from bnmtl.errors import InputTypeError
from bnmtl.metrics.prediction import root_mean_squared_error
from bnmtl.trees import MOBESP, BaggedPETs, EnhancedBaggedPETs

pytestmark = pytest.mark.beside_kernels

LOGISTIC = LogisticRegression(solver="newton-cholesky")


@parametrize_with_checks([CalibratedClassifier(LogisticRegression(), cv=2)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def cases(n=400, n_classes=2, seed=0):
    return make_classification(
        n, 10, n_informative=4, n_redundant=4, n_classes=n_classes, flip_y=0.1, random_state=seed
    )


X, Y = cases()
NEW, _ = cases(seed=1)
X3, Y3 = cases(n_classes=3)


def quietly(model, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*arguments, **options)


@pytest.mark.parametrize("cv", [5, StratifiedKFold(3), KFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("labels", [np.array([0, 1]), np.array(["no", "yes"], dtype=object)])
def test_sigmoids_of_decision_values_are_scikit_learns(cv, labels):
    """scikit-learn 1.9, CalibratedClassifierCV(ensemble=False)."""
    y = labels[Y]
    expected = CalibratedClassifierCV(LinearSVC(), method="sigmoid", cv=cv, ensemble=False)
    expected = expected.fit(X, y)
    found = CalibratedClassifier(LinearSVC(), cv=cv).fit(X, y)
    p = found.predict_proba(NEW)
    assert p == pytest.approx(expected.predict_proba(NEW), abs=1e-6)
    assert found.classes_.tolist() == labels.tolist()
    assert (found.predict(NEW) == labels[p.argmax(axis=1)]).all()


def test_sigmoids_of_three_classes_are_scikit_learns():
    expected = CalibratedClassifierCV(LOGISTIC, cv=5, ensemble=False).fit(X3, Y3)
    found = CalibratedClassifier(LOGISTIC).fit(X3, Y3)
    p = found.predict_proba(X3)
    assert len(found.calibrators_) == 3
    assert p == pytest.approx(expected.predict_proba(X3), abs=1e-6)
    assert p.sum(axis=1) == pytest.approx(1)


def test_weighted_sigmoids_are_scikit_learns():
    weights = np.random.default_rng(0).integers(1, 5, len(Y)).astype(float)
    expected = CalibratedClassifierCV(LOGISTIC, cv=5, ensemble=False).fit(X, Y, weights)
    found = CalibratedClassifier(LOGISTIC).fit(X, Y, weights).predict_proba(NEW)
    assert found == pytest.approx(expected.predict_proba(NEW), abs=1e-6)
    assert np.abs(found - CalibratedClassifier(LOGISTIC).fit(X, Y).predict_proba(NEW)).max() > 0.01


@pytest.mark.parametrize("estimator", [LinearSVC(), GaussianNB()], ids=repr)
def test_isotonic_lines_are_scikit_learns(estimator):
    expected = CalibratedClassifierCV(estimator, method="isotonic", cv=5, ensemble=False)
    method = IsotonicCalibrator(kind="linear")
    found = quietly(CalibratedClassifier(estimator, method), X, Y)
    p = expected.fit(X, Y).predict_proba(NEW)
    assert found.predict_proba(NEW) == pytest.approx(p, abs=1e-6)
    assert not hasattr(method, "scores_")
    (step,) = quietly(CalibratedClassifier(estimator, "isotonic"), X, Y).calibrators_
    assert step.kind == "step"


def test_probabilities_are_calibrated_by_the_named_method():
    scores = cross_val_predict(GaussianNB(), X, Y, cv=5, method="predict_proba")[:, 1]
    uncalibrated = GaussianNB().fit(X, Y).predict_proba(NEW)[:, 1]
    calibrators = {
        "auto": AutoCalibrator(),
        "platt": PlattCalibrator(),
        "beta": BetaCalibrator(),
        "temperature": TemperatureCalibrator(scale="logit"),
        "isotonic": IsotonicCalibrator(),
    }
    found = {
        name: quietly(CalibratedClassifier(GaussianNB(), name), X, Y).predict_proba(NEW)[:, 1]
        for name in calibrators
    }
    for name, calibrator in calibrators.items():
        assert found[name] == pytest.approx(calibrator.fit(scores, Y).predict(uncalibrated))
    # "platt" is scikit-learn's sigmoid of the probabilities themselves (its issue 34312).
    theirs = CalibratedClassifierCV(GaussianNB(), cv=5, ensemble=False).fit(X, Y)
    assert found["platt"] == pytest.approx(theirs.predict_proba(NEW)[:, 1], abs=1e-6)
    assert len({p.tobytes() for p in found.values()}) >= 4
    assert (
        CalibratedClassifier(GaussianNB()).fit(X, Y).predict_proba(NEW)[:, 1] == found["auto"]
    ).all()


def test_beta_calibration_of_decision_values_is_the_sigmoid():
    expected = CalibratedClassifier(LOGISTIC, "platt").fit(X3, Y3).predict_proba(X3)
    for method in ("auto", "beta"):
        found = CalibratedClassifier(LOGISTIC, method).fit(X3, Y3).predict_proba(X3)
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("labels", [np.arange(3), np.array(["a", "b", "c"])])
def test_one_temperature_of_several_classes_is_scikit_learns(labels):
    """scikit-learn 1.8 and later."""
    y = labels[Y3]
    theirs = CalibratedClassifierCV(LOGISTIC, method="temperature", cv=5, ensemble=False)
    found = CalibratedClassifier(LOGISTIC, "temperature").fit(X3, y)
    expected = theirs.fit(X3, y).predict_proba(X3)
    assert found.predict_proba(X3) == pytest.approx(expected, abs=1e-6)
    assert len(found.calibrators_) == 1
    naive = CalibratedClassifier(GaussianNB(), "temperature").fit(X3, y)
    p = GaussianNB().fit(X3, y).predict_proba(X3)
    low = naive.calibrators_[0].lowest_
    assert low == pytest.approx(1 / (len(y) + 2))
    expected = softmax(
        np.log(np.clip(p, low, 1 - low)) / naive.calibrators_[0].temperature_, axis=1
    )
    assert naive.predict_proba(X3) == pytest.approx(expected)
    assert (naive.predict(X3) == GaussianNB().fit(X3, y).predict(X3)).mean() > 0.99


@pytest.mark.parametrize(
    ("load", "estimator"),
    [
        (load_digits, KNeighborsClassifier(10)),
        (load_breast_cancer, RandomForestClassifier(30, random_state=0)),
    ],
    ids=["digits", "forest"],
)
def test_the_default_does_no_harm_where_votes_are_0_and_1(load, estimator):
    """It was behind the sigmoid and even no calibration: log odds clipped at the epsilon."""
    X, y = load(return_X_y=True)
    train_X, test_X, train_y, test_y = train_test_split(X, y, random_state=0, stratify=y)
    before = log_loss(test_y, estimator.fit(train_X, train_y).predict_proba(test_X))
    losses = {}
    for method in ("auto", "platt"):
        model = CalibratedClassifier(estimator, method, cv=3).fit(train_X, train_y)
        losses[method] = log_loss(test_y, model.predict_proba(test_X))
    assert losses["auto"] < losses["platt"] + 0.005
    assert losses["auto"] < before


def test_calibration_makes_naive_bayes_better():
    (train_X, train_y), (test_X, test_y) = (X[:200], Y[:200]), (X[200:], Y[200:])
    before = GaussianNB().fit(train_X, train_y).predict_proba(test_X)[:, 1]
    after = CalibratedClassifier(GaussianNB()).fit(train_X, train_y).predict_proba(test_X)[:, 1]
    errors = [root_mean_squared_error(test_y, p) for p in (after, before)]
    assert errors[0] < errors[1] - 0.01


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("estimator", [LOGISTIC, GaussianNB()], ids=repr)
def test_a_weight_is_how_often_a_calibration_case_counts(estimator, method):
    fitted = clone(estimator).fit(X3, Y3)
    weights = np.random.default_rng(0).integers(0, 4, len(Y3))
    weighted = quietly(CalibratedClassifier(fitted, method, cv="prefit"), X3, Y3, weights)
    repeated = CalibratedClassifier(fitted, method, cv="prefit")
    quietly(repeated, np.repeat(X3, weights, axis=0), np.repeat(Y3, weights))
    found = weighted.predict_proba(X3)
    assert found == pytest.approx(repeated.predict_proba(X3), abs=1e-6)
    assert weighted.estimator_ is fitted


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_calibration_cases_does_not_matter(method):
    model = CalibratedClassifier(GaussianNB().fit(X3, Y3), method, cv="prefit")
    expected = quietly(model, X3, Y3).predict_proba(X3)
    order = np.random.default_rng(0).permutation(len(Y3))
    assert quietly(model, X3[order], Y3[order]).predict_proba(X3) == pytest.approx(expected)


def test_three_ways_to_calibrate_with_other_cases_are_one():
    train, rest = slice(0, 150), slice(150, None)
    separate = CalibratedClassifier(LinearSVC(random_state=0))
    separate.fit(X3[train], Y3[train], calibration=(X3[rest].copy(), Y3[rest]))
    fitted = LinearSVC(random_state=0).fit(X3[train], Y3[train])
    prefit = CalibratedClassifier(fitted, cv="prefit").fit(X3[rest], Y3[rest])
    frozen = CalibratedClassifier(FrozenEstimator(fitted)).fit(X3[rest], Y3[rest])
    expected = [
        PlattCalibrator().fit(column, Y3[rest] == one).predict(column)
        for one, column in enumerate(fitted.decision_function(X3[rest]).T)
    ]
    expected = np.transpose(expected) / np.sum(expected, axis=0)[:, None]
    for model in (separate, prefit, frozen):
        assert model.predict_proba(X3[rest]) == pytest.approx(expected, abs=1e-12)
        assert model.n_features_in_ == X3.shape[1] and not hasattr(model, "feature_names_in_")


def test_weights_of_training_cases_do_not_weight_those_of_calibration():
    train, rest = (X[:200], Y[:200]), (X[200:].copy(), Y[200:])
    weights = np.arange(200.0)
    found = CalibratedClassifier(LOGISTIC).fit(*train, weights, calibration=rest)
    prefit = CalibratedClassifier(clone(LOGISTIC).fit(*train, weights), cv="prefit").fit(*rest)
    assert found.predict_proba(NEW) == pytest.approx(prefit.predict_proba(NEW))


class Constant:
    """A calibrator that gives the same to all, and 0 below a score of 0."""

    def fit(self, scores, y, sample_weight=None):
        self.share = np.mean(y)

    def predict(self, scores):
        return np.where(scores < 0, 0, self.share)


def test_where_no_class_is_likely_all_are_alike():
    model = CalibratedClassifier(SVC(), Constant()).fit(X3, Y3)
    # A support vector machine's votes are never below 0 for all classes.
    assert model.predict_proba(X3).sum(axis=1) == pytest.approx(1)
    model = CalibratedClassifier(LinearSVC(random_state=0), Constant()).fit(X3, Y3)
    scores, found = model.estimator_.decision_function(X3), model.predict_proba(X3)
    nobody = (scores < 0).all(axis=1)
    assert 0 < nobody.sum() < len(X3)
    assert found[nobody] == pytest.approx(np.full((nobody.sum(), 3), 1 / 3))
    shares = np.where(scores < 0, 0, np.bincount(Y3) / len(Y3))[~nobody]
    assert found[~nobody] == pytest.approx(shares / shares.sum(axis=1, keepdims=True))


def words(n=200):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sky": rng.choice(["blue", "gray"], n), "wind": rng.choice(list("nsw"), n)}
    )
    y = np.where((frame["sky"] == "gray") ^ (rng.random(n) < 0.2), "rain", "dry")
    return frame, y


@pytest.mark.parametrize("estimator", [BernoulliNB(), LogisticRegression()], ids=repr)
def test_tables_of_words_reach_the_classifier_as_they_are(estimator):
    frame, y = words()
    model = CalibratedClassifier(make_pipeline(OrdinalEncoder(), estimator)).fit(frame, y)
    p = model.predict_proba(frame)
    assert model.classes_.tolist() == ["dry", "rain"]
    assert (model.predict(frame) == y).mean() > 0.7
    assert p[:, 1] == pytest.approx(model.predict_proba(frame.copy())[:, 1])
    assert model.feature_names_in_.tolist() == ["sky", "wind"] and model.n_features_in_ == 2
    whole = CalibratedClassifier(make_pipeline(OrdinalEncoder(), estimator))
    calibrated = whole.fit(frame, y, calibration=(frame.set_index(frame.index + 1000), y))
    assert calibrated.predict_proba(frame).shape == (200, 2)


def test_sparse_input_and_lists_reach_the_classifier():
    expected = CalibratedClassifier(LOGISTIC).fit(X, Y).predict_proba(NEW)
    assert CalibratedClassifier(LOGISTIC).fit(csr_array(X), Y).predict_proba(
        csr_array(NEW)
    ) == pytest.approx(expected, abs=1e-4)
    listed = CalibratedClassifier(LOGISTIC).fit(X.tolist(), Y.tolist())
    assert listed.predict_proba(NEW.tolist()) == pytest.approx(expected)


def test_the_classifier_says_what_it_takes():
    for estimator in (LOGISTIC, KNeighborsClassifier(metric="precomputed"), SVC()):
        outer, inner = get_tags(CalibratedClassifier(estimator)), get_tags(estimator)
        assert outer.input_tags == inner.input_tags
    assert get_tags(CalibratedClassifier()).input_tags.sparse
    assert isinstance(CalibratedClassifier().fit(X, Y).estimator_, LinearSVC)


def test_folds_may_be_pairs_of_rows_or_masks():
    folds = list(StratifiedKFold(5).split(X, Y))
    masks = [tuple(np.isin(np.arange(len(Y)), part) for part in fold) for fold in folds]
    expected = CalibratedClassifier(LOGISTIC).fit(X, Y).predict_proba(NEW)
    for cv in (folds, masks):
        assert CalibratedClassifier(LOGISTIC, cv=cv).fit(X, Y).predict_proba(NEW) == pytest.approx(
            expected
        )


@pytest.mark.parametrize("cv", [4, GroupKFold(4), StratifiedGroupKFold(4)])
def test_groups_are_in_one_fold(cv):
    groups = np.random.default_rng(0).permutation(len(Y)) // 8
    names = np.array([f"patient {one:02}" for one in groups])
    splitter = StratifiedGroupKFold(4) if cv == 4 else cv
    folds = list(splitter.split(X, Y, groups))
    expected = CalibratedClassifier(GaussianNB(), Memory(), cv=folds).fit(X, Y)
    for given in (groups, names, pd.Series(names)):
        found = CalibratedClassifier(GaussianNB(), Memory(), cv=cv).fit(X, Y, groups=given)
        assert found.calibrators_[0].scores.tolist() == expected.calibrators_[0].scores.tolist()
    split = StratifiedKFold(4).split(X, Y)
    assert any(set(groups[train]) & set(groups[test]) for train, test in split)


@pytest.mark.parametrize("estimator", [RandomForestClassifier(5, random_state=0), LinearSVC()])
def test_the_number_of_jobs_changes_nothing(estimator):
    expected = CalibratedClassifier(estimator, cv=3).fit(X3, Y3).predict_proba(X3)
    with parallel_config("threading"):
        found = CalibratedClassifier(estimator, cv=3, n_jobs=2).fit(X3, Y3).predict_proba(X3)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(20, random_state=0),
        ExtraTreesClassifier(20, bootstrap=True, random_state=0),
        BaggingClassifier(n_estimators=20, random_state=0),
        BaggingClassifier(LOGISTIC, n_estimators=12, random_state=0),
    ],
    ids=["forest", "extra trees", "bagging", "bagging of decisions"],
)
@pytest.mark.parametrize(("table", "labels"), [((X, Y), [0, 1]), ((X3, Y3), ["a", "b", "c"])])
def test_out_of_bag_votes(estimator, table, labels):
    features, y = table[0][:150], np.array(labels)[table[1][:150]]
    found = CalibratedClassifier(estimator, "platt", cv="oob").fit(features, y)
    whole = clone(estimator).set_params(oob_score=True).fit(features, y)
    votes, p = whole.oob_decision_function_, whole.predict_proba(features)
    kept = np.isfinite(votes).all(axis=1) & (votes.sum(axis=1) > 0)
    columns = [1] if len(labels) == 2 else range(3)
    expected = np.column_stack(
        [
            PlattCalibrator().fit(votes[kept, k], y[kept] == labels[k]).predict(p[:, k])
            for k in columns
        ]
    )
    if len(labels) == 2:
        expected = np.column_stack([1 - expected, expected])
    expected /= expected.sum(axis=1, keepdims=True)
    assert found.predict_proba(features) == pytest.approx(expected)
    assert not estimator.get_params()["oob_score"] and not hasattr(estimator, "classes_")
    weighted = CalibratedClassifier(estimator, cv="oob").fit(features, y, np.ones(len(y)))
    assert weighted.predict_proba(features).shape == (len(y), len(labels))


@pytest.mark.parametrize("trees", [BaggedPETs, EnhancedBaggedPETs, MOBESP])
@pytest.mark.parametrize(("table", "labels"), [((X, Y), [0, 1]), ((X3, Y3), ["a", "b", "c"])])
def test_out_of_bag_votes_of_our_trees(trees, table, labels):
    features, y = table[0][:150], np.array(labels)[table[1][:150]]
    weights = np.arange(len(y)) % 3
    found = CalibratedClassifier(trees(20, random_state=0), Memory(), cv="oob")
    for given, kept in ((None, weights >= 0), (weights, weights > 0)):
        found.fit(features, y, given)
        votes = trees(20, random_state=0).fit(features, y, given).oob_proba_
        columns = [1] if len(labels) == 2 else range(3)
        for k, calibrator in zip(columns, found.calibrators_, strict=True):
            assert calibrator.scores.tolist() == votes[:, k].tolist()
            assert calibrator.y.tolist() == (y[kept] == labels[k]).tolist()


@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(2, random_state=0), BaggingClassifier(n_estimators=2, random_state=0)],
    ids=["forest", "bagging"],
)
def test_cases_without_an_out_of_bag_vote_are_left_out(estimator):
    model = CalibratedClassifier(estimator, Memory(), cv="oob")
    with pytest.warns(UserWarning, match="^`cv` leaves [0-9]+ cases of 400 without an") as caught:
        model.fit(X, Y)
    assert [one.filename for one in caught] == [__file__]
    votes = clone(estimator).set_params(oob_score=True)
    n_kept = (np.nansum(quietly(votes, X, Y).oob_decision_function_, axis=1) > 0).sum()
    assert len(model.calibrators_[0].scores) == n_kept < 400
    assert f"{400 - n_kept} cases" in str(caught[0].message)


FRAME = pd.DataFrame(X)
OTHER = pd.DataFrame(cases(seed=1)[0])
PAIRS = pd.MultiIndex.from_product([range(20), range(20)])
NAMED = [f"case {at}" for at in range(len(FRAME))]


@pytest.mark.parametrize(
    ("make_cases", "is_shared"),
    [
        (lambda: (X, X[200:]), True),
        (lambda: (X[:250], X[200:]), True),
        (lambda: (X.tolist(),) * 2, True),
        (lambda: (FRAME, FRAME[200:].copy()), True),
        (lambda: (FRAME, FRAME.set_axis(range(500, 500 + len(FRAME)))), True),
        (lambda: (FRAME[:250], FRAME[:250].to_numpy()), True),
        (lambda: (FRAME, FRAME.copy(deep=False)), True),
        (lambda: (FRAME.set_axis(NAMED), OTHER.set_axis(NAMED)), True),
        (lambda: (FRAME.set_axis(range(7, 407)), OTHER.set_axis(range(400, 800))), True),
        (lambda: (FRAME.set_axis(PAIRS), OTHER.set_axis(PAIRS)), True),
        (lambda: (FRAME.set_axis(PAIRS), OTHER), False),
        (lambda: (FRAME, OTHER[200:].copy()), False),
        (lambda: (OTHER.sample(300, random_state=0), FRAME), False),
        (lambda: (FRAME.sample(300, replace=True, random_state=0), FRAME), True),
        (lambda: (FRAME.set_axis(range(7, 407)), OTHER), False),
        (lambda: (csr_array(X), csr_array(X)), False),
        (lambda: (FRAME, OTHER), False),
        (lambda: (FRAME, FRAME.copy()), False),
        (lambda: (FRAME[:200].copy(), OTHER[:300]), False),
        (lambda: (FRAME.sample(frac=1, random_state=0), OTHER), False),
        (lambda: (X[:200], X[200:]), False),
        (lambda: (X[::2], X[1::2]), False),
        (lambda: (FRAME[:200], FRAME[200:]), False),
        (lambda: (FRAME[:200].to_numpy(), FRAME[200:].to_numpy().copy()), False),
    ],
)
def test_training_cases_among_those_of_calibration(make_cases, is_shared):
    train, other = make_cases()
    labels = [np.arange(np.shape(one)[0]) % 2 for one in (train, other)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CalibratedClassifier(LOGISTIC).fit(train, labels[0], calibration=(other, labels[1]))
    assert [str(one.message)[:43] for one in caught] == [
        "`calibration` shares cases with `X`, so the"
    ] * is_shared
    assert all(one.filename == __file__ and issubclass(one.category, UserWarning) for one in caught)


@pytest.mark.parametrize(
    "estimator",
    [FrozenEstimator(RandomForestClassifier(3).fit(X, Y)), RandomForestRegressor(3)],
    ids=["fitted", "regressor"],
)
def test_only_classifiers_that_will_be_fitted_have_out_of_bag_votes(estimator):
    with pytest.raises(InputTypeError, match="must be a forest or bagging if `cv='oob'`"):
        CalibratedClassifier(estimator, cv="oob").fit(X, Y)


def test_isotonic_calibration_needs_many_cases():
    model = GaussianNB().fit(*cases(1000))
    for method in ("isotonic", IsotonicCalibrator("linear")):
        calibrated = CalibratedClassifier(model, method, cv="prefit")
        with pytest.warns(UserWarning, match="^`method` is isotonic .* 999 cases; ") as caught:
            calibrated.fit(*(array[:999] for array in cases(1000)))
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calibrated.fit(*cases(1000))
        CalibratedClassifier(model, cv="prefit").fit(X, Y)


def test_a_training_fold_without_a_class():
    """All cases of class 2 are in one fold, whose classifier does not know it."""
    rows = np.argsort(Y3, kind="stable")
    last = Y3[rows] == 2
    parts = [rows[~last][::2], rows[~last][1::2], rows[last]]
    folds = [(np.setdiff1d(rows, part), part) for part in parts]
    for estimator in (GaussianNB(), LinearSVC(random_state=0)):
        model = CalibratedClassifier(estimator, Memory(), cv=folds)
        with pytest.warns(UserWarning, match="^`cv` .* fold without a case of `2`; ") as caught:
            model.fit(X3, Y3)
        assert [one.filename for one in caught] == [__file__]
        scores = model.calibrators_[2].scores
        assert (scores[rows[last]] == scores[rows[~last]].min()).all()
        assert model.calibrators_[2].y[rows].tolist() == last.tolist()
        assert len(np.unique(model.calibrators_[1].scores)) > 300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CalibratedClassifier(GaussianNB(), cv=KFold(3)).fit(X3, Y3)


def test_groups_that_a_splitter_ignores_are_a_warning():
    groups = np.arange(len(Y)) % 6
    words = "`groups` is ignored by KFold, so cases of a group are in several folds; set `cv` to"
    with pytest.warns(UserWarning, match=words) as caught:
        CalibratedClassifier(LOGISTIC, cv=KFold(3)).fit(X, Y, groups=groups)
    assert len(caught) == 1


def test_other_warnings_of_a_splitter_remain():
    class Loud(KFold):
        def split(self, X, y=None, groups=None):
            warnings.warn("these folds are loud", UserWarning, stacklevel=2)
            return super().split(X, y, groups)

    with pytest.warns(UserWarning, match="folds are loud"):
        CalibratedClassifier(LOGISTIC, cv=Loud(3)).fit(X, Y)


def test_groups_of_several_types():
    groups = np.array([*range(200), *(f"patient {one}" for one in range(200))], dtype=object)
    texts = groups.astype(str)
    found = CalibratedClassifier(LOGISTIC).fit(X, Y, groups=groups).predict_proba(X)
    expected = CalibratedClassifier(LOGISTIC).fit(X, Y, groups=texts).predict_proba(X)
    assert (found == expected).all()


class Memory:
    """A calibrator that only keeps what it gets."""

    def fit(self, scores, y, sample_weight=None):
        self.scores, self.y = scores, y

    def predict(self, scores):
        return np.full(len(scores), 0.5)


def fit(*arguments, estimator=LOGISTIC, method="platt", cv=5, **options):
    return quietly(CalibratedClassifier(estimator, method, cv), *arguments, **options)


class Silent(LogisticRegression):
    """Has decision values that are not finite."""

    def decision_function(self, X):
        return np.full(len(X), np.inf)


PREFIT = {"estimator": LogisticRegression().fit(X3, Y3), "cv": "prefit"}
Y4 = np.arange(len(X)) % 4


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: fit(X, Y, method="sigmoid"),
            ValueError,
            "`method` must be one of 'auto', 'platt', 'beta', 'isotonic', 'temperature' or a cal",
        ),
        (lambda: fit(X, Y, method=PlattCalibrator), ValueError, "calibrator with fit and predict"),
        (lambda: fit(X, Y, method=3), ValueError, "a calibrator with fit and predict, got 3"),
        (lambda: fit(X, Y, cv="fitted"), ValueError, "`cv` must be .* or 'oob', got 'fitted'"),
        (
            lambda: fit(X, Y, cv=[(range(200), range(200, 399))]),
            ValueError,
            "`cv` must put every case into one test fold; row 0 is in 0",
        ),
        (
            lambda: fit(X, Y, cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=3)),
            ValueError,
            "`cv` must put every case into one test fold; row 0 is in 3: use disjoint folds",
        ),
        (
            lambda: fit(X3, Y3, cv=[(np.flatnonzero(Y3 < 2), np.arange(400))]),
            ValueError,
            "`cv` must train with every class; 2 is in no training fold: use other folds",
        ),
        (lambda: fit(X, Y, cv=[]), ValueError, "`cv` must put every case into one test fold"),
        (
            lambda: fit(X, Y[:-1]),
            ValueError,
            "`y` must be one label per case, 400 as in `X`, got 39",
        ),
        (lambda: fit(X, np.ones(400)), ValueError, "two classes or more, got only one class, 1.0"),
        (lambda: fit(X, Y, [1.0]), ValueError, "`sample_weight` must be one number per case, 400"),
        (
            lambda: fit(X, Y, np.ones(400), estimator=KNeighborsClassifier()),
            ValueError,
            "`sample_weight` must be left out for KNeighborsClassifier, whose fit does not take it",
        ),
        (
            lambda: fit(X3, Y3, calibration=(X3, Y3), **PREFIT),
            ValueError,
            "`calibration` must be omitted if the estimator is already fitted",
        ),
        (
            lambda: fit(X, Y, calibration=(X, Y), estimator=FrozenEstimator(LOGISTIC)),
            ValueError,
            "`calibration` must be omitted if the estimator is already fitted",
        ),
        (lambda: fit(X, Y, calibration=X), TypeError, "`calibration` must be a pair .X, y. .* nda"),
        (
            lambda: fit(X, Y, calibration=(NEW, Y[:9])),
            ValueError,
            "`y` must be one label per case, 400 as in `X`, got 9",
        ),
        (lambda: fit(X3, Y3, estimator=LOGISTIC, cv="prefit"), NotFittedError, "not fitted yet"),
        (
            lambda: fit(X3, Y3 + 1, **PREFIT),
            ValueError,
            "must hold classes of the estimator, got 3; leave such cases out",
        ),
        (
            lambda: fit(X3, np.minimum(Y3, 1), **PREFIT),
            ValueError,
            "`y` of the calibration cases must hold every class; it lacks 2: add such",
        ),
        (
            lambda: fit(X3, Y3, (Y3 != 1).astype(float), **PREFIT),
            ValueError,
            "must hold every class; it lacks 1: add",
        ),
        (
            lambda: fit(X, np.array(["no", "yes"])[Y], calibration=(NEW, ["no"] * 400)),
            ValueError,
            "must hold every class; it lacks 'yes': add",
        ),
        (
            lambda: fit(X, Y4, estimator=SVC(decision_function_shape="ovo")),
            ValueError,
            "`estimator` must give one score for each of its 4 classes, got 6",
        ),
        (
            lambda: fit(X, Y, estimator=Silent()),
            ValueError,
            "must give finite scores; Silent gives -inf",
        ),
        (
            lambda: fit(FRAME, Y, estimator=OrdinalEncoder()),
            TypeError,
            "`estimator` must have a method decision_function or predict_proba, got OrdinalEncoder",
        ),
        (lambda: fit(X, Y, estimator="q"), TypeError, "`estimator` must be a class.* got 'q'"),
        (lambda: fit(X, Y, estimator=OrdinalEncoder), TypeError, "a classifier, .* got <class"),
        (lambda: CalibratedClassifier().predict_proba(X), NotFittedError, "not fitted yet"),
        (
            lambda: fit(X, Y, cv="oob"),
            TypeError,
            "`estimator` must be a forest or bagging if `cv='oob'`, because others have no out-of",
        ),
        (
            lambda: fit(X, Y, cv="oob", estimator=ExtraTreesClassifier()),
            ValueError,
            "`estimator` must have bootstrap=True if `cv='oob'`, or there are no out-of-bag votes",
        ),
        (
            lambda: fit(X, Y, cv="oob", estimator=RandomForestClassifier(warm_start=True)),
            ValueError,
            "`estimator` must have warm_start=False if",
        ),
        (
            lambda: fit(X, Y, cv="oob", calibration=(NEW, Y), estimator=RandomForestClassifier()),
            ValueError,
            "`calibration` must be omitted with `cv='oob'`; leave one of the two out",
        ),
        (
            lambda: fit(X, Y, groups=Y, calibration=(NEW, Y)),
            ValueError,
            "`groups` must be left out, because there are no folds",
        ),
        (
            lambda: fit(X3, Y3, groups=Y3, **PREFIT),
            ValueError,
            "`groups` must be left out, because there are no folds",
        ),
        (
            lambda: fit(X, Y, groups=Y, cv=list(StratifiedKFold(3).split(X, Y))),
            ValueError,
            "`groups` must be left out if `cv` lists the folds; use a splitter",
        ),
        (lambda: fit(X, Y, groups=Y[1:]), ValueError, "`groups` must be one name per case, 400"),
        (
            lambda: fit(X, Y, groups=[None, *Y[1:].tolist()]),
            ValueError,
            "`groups` must name the group of every case; that of row 0 is missing: fill it",
        ),
        (lambda: fit(X, Y, groups=np.c_[Y, Y]), ValueError, r"400, got \(400, 2\)"),
        (
            lambda: fit(X, Y, cv=0),
            ValueError,
            "`cv` must be a whole number .* 2, got 0; 5",
        ),
        (
            lambda: fit(X, Y, cv=1),
            ValueError,
            "`cv` must be a whole number .* 2, got 1; 5",
        ),
        (lambda: fit(X, Y, cv=2.5), ValueError, "`cv` must be a whole number .*, got 2.5"),
        (lambda: fit(X, Y, cv=True), TypeError, "`cv` must be a whole number .*, got True"),
        (
            lambda: fit(X, Y, cv=1000),
            ValueError,
            f"`cv` must be at most {max(Y.sum(), (1 - Y).sum())}, the number of cases of the "
            "largest class, got 1000; take fewer folds, or add cases",
        ),
        (
            lambda: fit(X, Y, groups=np.arange(400) % 2),
            ValueError,
            "`cv` must be at most 2, the number of groups, got 5; take fewer folds, or add groups",
        ),
        (
            lambda: fit(X, Y, cv=GroupKFold(3)),
            ValueError,
            "`groups` must be given for GroupKFold, which keeps groups together, got None",
        ),
        (
            lambda: fit(X, Y, cv=KFold(500)),
            ValueError,
            "`cv` must divide the cases into folds; KFold says `Cannot have .*`: take another",
        ),
        (lambda: fit(X, Y, cv=KFold), TypeError, r"got the class KFold; write KFold\(\)"),
        (lambda: fit(X, Y, cv=object()), TypeError, "`cv` must be a number of folds, a splitter"),
        (lambda: fit(X, Y, cv=[1, 2]), TypeError, "`cv` must yield pairs .* or masks, got 1"),
        (lambda: fit(X, Y, cv=[([0], [0.5])]), TypeError, "`cv` must yield pairs .* or masks"),
        (
            lambda: fit(X, Y, cv=[([0], [400])]),
            ValueError,
            "`cv` must yield row numbers below 400, the number of cases, or masks of as many",
        ),
        (
            lambda: CalibratedClassifier(LOGISTIC, n_jobs=0).fit(X, Y),
            ValueError,
            "`n_jobs` must not be 0",
        ),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
