"""Boosting: a naive twin, scikit-learn's AdaBoost where both go on, and what is proved of it."""

import naive
import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from bnmtl.calibration import AdaBoostM1, LogisticCorrection
from bnmtl.calibration.boosting import row_weights

pytestmark = pytest.mark.beside_kernels

STUMP = DecisionTreeClassifier(max_depth=1)
LARGEST_VOTE = 0.5 * np.log((1 - 1e-10) / 1e-10)
every_loss = pytest.mark.parametrize("loss", ["exponential", "logistic"])
either_way = pytest.mark.parametrize("resample", [False, True])


def noisy(n=200, seed=0):
    """Rows that no two stumps split equally well, and labels with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 1).astype(int)


def stumps(n_estimators=20, **others):
    return AdaBoostM1(STUMP, n_estimators, **{"resample": False, "random_state": 0, **others})


def expected_failures(model):
    """Checks of scikit-learn that cannot hold, with the reason."""
    reason = "other rows are drawn of repeated rows"
    return {"check_sample_weight_equivalence_on_dense_data": reason} if model.resample else {}


@parametrize_with_checks(
    [
        AdaBoostM1(n_estimators=5),
        # Of stumps, many would be equally good on the 15 rows of the check of weights.
        AdaBoostM1(GaussianNB(), n_estimators=5, resample=False, loss="logistic"),
    ],
    expected_failed_checks=expected_failures,
)
def test_it_is_a_classifier_of_scikit_learn(estimator, check):
    check(estimator)


class Remembering(DecisionTreeClassifier):
    """A tree that keeps the records it was fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.drawn_ = np.asarray(X)[:, 0].astype(int)
        return super().fit(X, y, sample_weight)


def test_a_record_that_is_hard_to_classify_is_drawn_more_often():
    """The slide "Boosting": of ten records, number 4 is drawn 1, 3 and 5 times."""
    slide = [
        [7, 3, 2, 8, 7, 9, 4, 10, 6, 3],
        [5, 4, 9, 4, 2, 5, 1, 7, 4, 2],
        [4, 4, 8, 10, 4, 5, 4, 6, 3, 4],
    ]
    assert [one.count(4) for one in slide] == [1, 3, 5]
    X = np.arange(1, 11)[:, None]
    y = (X[:, 0] > 5) ^ (X[:, 0] == 4)
    first, second = [], []
    for seed in range(150):
        model = AdaBoostM1(Remembering(max_depth=1), 2, resample=True, random_state=seed).fit(X, y)
        before, after = model.estimators_
        if not (isinstance(before, Remembering) and isinstance(after, Remembering)):
            continue  # drawn from one class
        first.append(np.sum(before.drawn_ == 4))
        if np.array_equal(before.predict(X) != y, X[:, 0] == 4):
            second.append(np.sum(after.drawn_ == 4))
    # All weights are equal at first; the only error has half of the weight after it.
    assert np.mean(first) == pytest.approx(1, abs=0.3)
    assert len(second) > 30 and np.mean(second) == pytest.approx(5, abs=0.6)


@every_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_its_naive_twin(loss, weighted):
    X, y = noisy()
    initial = np.random.default_rng(1).uniform(0.5, 3, len(y)) if weighted else np.ones(len(y))
    votes, F = naive.boosted(STUMP, X, y, initial, loss, 20)
    found = stumps(loss=loss).fit(X, y, initial if weighted else None)
    assert found.estimator_weights_ == pytest.approx(votes)
    assert found.decision_function(X) == pytest.approx(F)
    share = (1 + F / sum(votes)) / 2
    assert found.predict_proba(X) == pytest.approx(np.column_stack([1 - share, share]))
    assert (found.predict(X) == (F > 0)).all()


@either_way
def test_more_classes_are_algorithm_1_of_the_thesis(resample):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    codes = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=150), [0, 1.2])
    y, tree = np.array(["low", "middle", "top"])[codes], DecisionTreeClassifier(max_depth=2)
    model = AdaBoostM1(tree, 15, resample, random_state=0).fit(X, y)
    D, votes = np.full(150, 1 / 150), np.zeros((150, 3))
    stages = zip(model.estimators_, model.staged_decision_function(X), strict=True)
    for at, (member, staged) in enumerate(stages):
        if not resample:
            again = clone(tree).set_params(random_state=member.random_state)
            again.fit(X, y, sample_weight=D)
            assert (again.predict(X) == member.predict(X)).all()
        is_right = member.predict(X) == y
        error = D[~is_right].sum()
        assert model.estimator_errors_[at] == pytest.approx(error)
        if error < 0.5:
            beta = error / (1 - error)
            D = np.where(is_right, D * beta, D)
            votes += np.log(1 / beta) / 2 * (member.predict(X)[:, None] == model.classes_)
        else:
            D = np.ones(150)
        D = D / D.sum()
        assert staged == pytest.approx(votes)
    assert (model.estimator_weights_ > 0).sum() > 3
    assert (model.predict(X) == model.classes_[votes.argmax(axis=1)]).all()
    shares = votes / votes.sum(axis=1, keepdims=True)
    assert model.predict_proba(X) == pytest.approx(shares)
    one = AdaBoostM1(tree, 1, resample=False).fit(np.zeros((6, 1)), [0, 1, 2] * 2)
    assert one.predict_proba([[0.0]]).tolist() == [[1 / 3] * 3]


def test_it_is_scikit_learns_except_for_the_scale():
    X, y = noisy()
    ours = stumps().fit(X, y)
    theirs = AdaBoostClassifier(STUMP, n_estimators=20, random_state=0).fit(X, y)
    assert theirs.estimator_weights_ == pytest.approx(2 * ours.estimator_weights_)
    assert theirs.estimator_errors_ == pytest.approx(ours.estimator_errors_)
    normalized = 2 * ours.decision_function(X) / ours.estimator_weights_.sum()
    assert theirs.decision_function(X) == pytest.approx(normalized)
    p = LogisticCorrection().fit(theirs).predict_proba(X)
    assert p == pytest.approx(LogisticCorrection().fit(ours).predict_proba(X))


@every_loss
@either_way
def test_the_first_members_do_not_depend_on_how_many_follow(loss, resample):
    X, y = noisy()
    tree = DecisionTreeClassifier(max_depth=3, max_features=1)
    model = AdaBoostM1(tree, 25, resample, loss, random_state=3).fit(X, y)
    shorter = AdaBoostM1(tree, 10, resample, loss, random_state=3).fit(X, y)
    assert (shorter.estimator_weights_ == model.estimator_weights_[:10]).all()
    staged = list(model.staged_decision_function(X))
    assert len(staged) == 25
    assert (staged[9] == shorter.decision_function(X)).all()
    assert (staged[-1] == model.decision_function(X)).all()


@every_loss
@either_way
def test_boosting_goes_on_where_members_separate_the_classes(loss, resample):
    X, y = noisy(100)
    n = 80  # members; a margin of theirs is beyond where the exponential function is zero
    found = AdaBoostM1(None, n, resample, loss, random_state=0).fit(X, y)
    F = found.decision_function(X)
    assert np.isfinite(found.estimator_weights_).all() and np.isfinite(F).all()
    assert (found.predict(X) == y).all()
    if not resample:
        assert (found.estimator_errors_ == 0).all()
        assert found.estimator_weights_ == pytest.approx([LARGEST_VOTE] * n)
        assert np.exp(-n * LARGEST_VOTE) == 0
        assert (2 * y - 1) * F == pytest.approx(n * LARGEST_VOTE * np.ones(len(y)))
        p = LogisticCorrection().fit(found).predict_proba(X)[:, 1]
        assert p.tolist() == y.tolist()


def test_weights_of_any_margins():
    initial, margins = np.log([1.0, 2.0, 3.0]), np.array([0.3, -1.0, 2.0])
    near = {
        "exponential": np.array([1, 2, 3]) * np.exp(-margins),
        "logistic": np.array([1, 2, 3]) / (1 + np.exp(margins)),
    }
    for loss, expected in near.items():
        assert row_weights(initial, margins, loss) == pytest.approx(expected / expected.sum())
        far = row_weights(initial, np.array([20_000.0, -20_000.0, -20_000.0]), loss)
        assert far == pytest.approx([0, 0.4, 0.6])
        # Whatever they are, what counts is how far they are apart ...
        right = row_weights(initial, margins + 20_000, loss)
        assert right == pytest.approx(near["exponential"] / near["exponential"].sum())
    # ... except for rows that are far on the wrong side, alike for the logistic loss.
    wrong = row_weights(initial, margins - 20_000, "logistic")
    assert wrong == pytest.approx(np.array([1, 2, 3]) / 6)


class WrongOnce(DecisionTreeClassifier):
    """A stump, except for the sixth one, which says the opposite."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        self.is_wrong = self.fits == 6
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        found = super().predict(X)
        return 1 - found if self.is_wrong else found


@every_loss
def test_weights_start_again_after_a_member_that_is_mostly_wrong(loss):
    X, y = noisy()
    WrongOnce.fits = 0
    model = AdaBoostM1(WrongOnce(max_depth=1), 16, False, loss, random_state=0).fit(X, y)
    expected = stumps(10, loss=loss).fit(X, y)
    first, second = expected.estimator_weights_[:5], expected.estimator_weights_
    assert model.estimator_weights_ == pytest.approx([*first, 0, *second])
    assert model.estimator_errors_[5] > 0.5
    staged = list(model.staged_decision_function(X))
    assert (staged[5] == staged[4]).all()
    F = stumps(5, loss=loss).fit(X, y).decision_function(X) + expected.decision_function(X)
    assert staged[-1] == pytest.approx(F)


class Scripted(ClassifierMixin, BaseEstimator):
    """Wrong on the first of four rows; on the second, too, unless weights are equal."""

    seen = ()

    def fit(self, X, y, sample_weight):
        Scripted.seen = *Scripted.seen, sample_weight.round(12).tolist()
        self.classes_, self.wrong_ = np.unique(y), [0] if np.ptp(sample_weight) < 1e-9 else [0, 1]
        return self

    def predict(self, X):
        return np.where(np.isin(X[:, 0], self.wrong_), 1 - X[:, 1], X[:, 1]).astype(int)


@pytest.mark.parametrize("restart", [True, False])
def test_boosting_restarts_or_ends_at_a_member_that_is_mostly_wrong(restart):
    """By hand: an error of 1/4 gives vote log(3) / 2 and the weights 1/2, 1/6, 1/6, 1/6."""
    y, Scripted.seen = np.array([0, 1, 0, 1]), ()
    X = np.column_stack([np.arange(4), y])
    model = AdaBoostM1(Scripted(), 4, resample=False, restart=restart).fit(X, y)
    equal, first = [0.25] * 4, np.round([1 / 2, 1 / 6, 1 / 6, 1 / 6], 12).tolist()
    vote = np.log(3) / 2
    if restart:
        assert Scripted.seen == (equal, first, equal, first)
        assert model.estimator_errors_ == pytest.approx([1 / 4, 2 / 3, 1 / 4, 2 / 3])
        assert model.estimator_weights_ == pytest.approx([vote, 0, vote, 0])
    else:
        assert Scripted.seen == (equal, first)
        assert model.estimator_errors_ == pytest.approx([1 / 4])
        assert model.estimator_weights_ == pytest.approx([vote])
    assert len(model.estimators_) == len(model.estimator_weights_)
    F = vote * (2 if restart else 1) * np.array([1, 1, -1, 1])
    assert model.decision_function(X) == pytest.approx(F)


def test_a_first_member_that_is_mostly_wrong_stays_without_a_vote():
    X, y = np.zeros((4, 1)), [0, 1, 0, 1]
    found = stumps(3, restart=False).fit(X, y)
    assert found.estimator_weights_.tolist() == [0] and found.estimator_errors_.tolist() == [0.5]
    assert found.predict_proba(X).tolist() == [[0.5, 0.5]] * 4
    WrongOnce.fits = 5  # the next one is wrong, those after it are not
    member = WrongOnce(max_depth=1)
    found = AdaBoostM1(member, 4, False, random_state=0, restart=False).fit(*noisy())
    assert found.estimator_weights_.tolist() == [0] and found.estimator_errors_[0] > 0.5


def test_no_estimator_has_a_weight_if_rows_are_uninformative():
    X, y = np.zeros((4, 1)), [0, 1, 0, 1]
    found = stumps(3).fit(X, y)
    assert found.estimator_weights_.tolist() == [0, 0, 0] and len(found.estimators_) == 3
    assert found.decision_function(X).tolist() == [0] * 4
    assert found.predict_proba(X).tolist() == [[0.5, 0.5]] * 4
    assert found.predict(X).tolist() == [0] * 4


@every_loss
@pytest.mark.parametrize("estimator", [STUMP, GaussianNB()], ids=["stump", "bayes"])
def test_a_weight_is_how_often_a_row_counts(loss, estimator):
    X, y = noisy()
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    model = AdaBoostM1(estimator, 10, resample=False, loss=loss, random_state=0)
    weighted = clone(model).fit(X, y, weights).decision_function(X)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted == pytest.approx(repeated.decision_function(X))
    # Also where rows are drawn, those of weight 0 count for nothing.
    drawing = clone(model).set_params(resample=True)
    left_out = clone(drawing).fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    assert (drawing.fit(X, y, weights).decision_function(X) == left_out.decision_function(X)).all()


@every_loss
def test_the_order_of_the_rows_does_not_matter(loss):
    X, y = noisy()
    order = np.random.default_rng(0).permutation(len(y))
    expected = stumps(loss=loss).fit(X, y).decision_function(X)
    mixed = stumps(loss=loss).fit(X[order], y[order])
    assert mixed.decision_function(X) == pytest.approx(expected)


@either_way
@pytest.mark.parametrize("labels", [("no", "yes"), ("yes", "no"), (5, -1), (True, False)])
def test_labels_may_be_anything(labels, resample):
    X, y = noisy()
    named = np.array(labels)[y]
    expected = stumps(resample=resample).fit(X, y)
    found = stumps(resample=resample).fit(X, named)
    assert found.classes_.tolist() == sorted(labels)
    turned = 1 if found.classes_[1] == labels[1] else -1
    assert found.decision_function(X) == pytest.approx(turned * expected.decision_function(X))
    assert (found.predict(X) == np.array(labels)[expected.predict(X)]).all()
    assert found.score(X, named) == expected.score(X, y) > 0.75


@either_way
def test_mistakes_on_the_training_set_are_bounded(resample):
    X, y = noisy()
    found = AdaBoostM1(DecisionTreeClassifier(max_depth=2), 30, resample, random_state=0).fit(X, y)
    assert (found.estimator_weights_ > 0).all()
    e = found.estimator_errors_
    bounds = np.cumprod(2 * np.sqrt(e * (1 - e)))
    for bound, F in zip(bounds, found.staged_decision_function(X), strict=True):
        assert np.exp(-(2 * y - 1) * F).mean() == pytest.approx(bound)
        assert ((F > 0) != y).mean() <= bound


@either_way
def test_every_round_lowers_the_logistic_loss(resample):
    """By what the inequality log(1 + x) <= x guarantees, in Collins, Schapire & Singer's proof."""
    X, y = noisy()
    tree = DecisionTreeClassifier(max_depth=2)
    found = AdaBoostM1(tree, 30, resample, "logistic", random_state=0).fit(X, y)
    assert (found.estimator_weights_ > 0).all()
    margins = [np.zeros(len(y))]
    margins += [(2 * y - 1) * F for F in found.staged_decision_function(X)]
    losses = np.array([np.logaddexp(0, -margin).sum() for margin in margins])
    weight = np.array([expit(-margin).sum() for margin in margins[:-1]])
    e = found.estimator_errors_
    gains = weight * (1 - 2 * np.sqrt(e * (1 - e)))
    assert (np.diff(losses) <= -gains + 1e-9).all() and (gains > 0).all()


def test_a_member_of_one_class_is_a_constant():
    X, y = noisy(40)
    y[2:] = 0
    y[:2] = 1
    found = AdaBoostM1(n_estimators=30, random_state=0).fit(X, y)
    constant = [isinstance(member, DummyClassifier) for member in found.estimators_]
    assert 0 < sum(constant) < 30
    assert (found.estimators_[constant.index(True)].predict(X) == 0).all()
    assert np.isfinite(found.decision_function(X)).all()


@either_way
def test_the_same_seed_gives_the_same_members(resample):
    X, y = noisy()
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2, max_features=1))
    tree = tree if resample else tree[-1]

    def scores(random_state):
        return AdaBoostM1(tree, 5, resample, random_state=random_state).fit(X, y).predict_proba(X)

    assert (scores(1) == scores(1)).all() and (scores(1) != scores(2)).any()
    for kind in (np.random.default_rng, np.random.RandomState):
        assert (scores(kind(1)) == scores(kind(1))).all()
    members = AdaBoostM1(tree, 5, resample, random_state=1).fit(X, y).estimators_
    last = [member[-1] if resample else member for member in members]
    assert len({member.random_state for member in last}) == 5


def test_inputs_stay_as_they_are():
    X, y = noisy()
    weights, stump = np.linspace(0, 1, len(y)), clone(STUMP)
    copies = [given.copy() for given in (X, y, weights)]
    model = AdaBoostM1(stump, 3).fit(X, y, weights)
    first, *_ = model.staged_decision_function(X)
    assert (first != model.decision_function(X)).any()
    for given, copy in zip((X, y, weights), copies, strict=True):
        assert (given == copy).all()
    assert not hasattr(stump, "tree_")


def test_missing_values_are_the_estimators_business():
    X, y = noisy()
    X[::7, 0] = np.nan
    assert stumps(5).fit(X, y).score(X, y) > 0.7
    with pytest.raises(ValueError, match="Input X contains NaN.\nAdaBoostM1 does not accept"):
        AdaBoostM1(LogisticRegression(), 5).fit(X, y)


def test_only_trees_get_numbers_of_half_the_precision():
    X, y = 1e8 + np.array([[0.0], [1], [2], [3]]), [0, 1, 0, 1]
    neighbor = KNeighborsClassifier(1)
    drawn = AdaBoostM1(neighbor, 20, random_state=0).fit(X, y)
    assert drawn.predict(X).tolist() == y
    assert (stumps(20).fit(X, y).predict(X) == 0).all()


def test_one_stump_corrected_gives_the_shares_of_its_leaves():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.r_[np.repeat([0, 1], [35, 15]), np.repeat([0, 1], [15, 35])]
    p = LogisticCorrection().fit(stumps(1), X, y).predict_proba([[0], [1]])
    assert p == pytest.approx(np.array([[0.7, 0.3], [0.3, 0.7]]))
    logistic = stumps(60, loss="logistic")
    found = LogisticCorrection().fit(logistic, X, y).predict_proba([[0], [1]])
    assert found == pytest.approx(p, abs=1e-6)


@every_loss
def test_stumps_corrected_come_near_the_truth(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    true = expit(2 * X[:, 0] + X[:, 1])
    y = (rng.random(len(true)) < true).astype(int)
    model = stumps(50, loss=loss).fit(X, y)
    corrected = LogisticCorrection().fit(model).predict_proba(X)[:, 1]
    assert np.abs(corrected - true).mean() < 0.07
    assert np.abs(model.predict_proba(X)[:, 1] - true).mean() > 0.12


def test_a_fitted_model_is_taken_and_another_one_fitted():
    X, y = noisy()
    for model in (stumps(5), AdaBoostClassifier(STUMP, n_estimators=5)):
        correction = LogisticCorrection().fit(model, X, y)
        assert not hasattr(model, "classes_") and correction.classes_.tolist() == [0, 1]
        model.fit(X, y)
        taken = LogisticCorrection().fit(model)
        assert taken.model_ is model
        p = taken.predict_proba(X)
        assert p == pytest.approx(correction.predict_proba(X))
        assert p.sum(axis=1) == pytest.approx(np.ones(len(y)))
        assert ((p[:, 1] > 0.5) == model.predict(X)).all()


X0, Y0 = noisy(30)
THREE = np.arange(30) % 3
THEIRS = AdaBoostClassifier(STUMP, n_estimators=2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: stumps(loss="hinge").fit(X0, Y0), ValueError, "`loss` must be 'exponential' or"),
        (lambda: stumps(0).fit(X0, Y0), ValueError, "`n_estimators` must be a whole number of at"),
        (
            lambda: stumps(loss="logistic").fit(X0, THREE),
            ValueError,
            "`y` must hold two classes for `loss='logistic'`, got 3; .*set `loss='exponential'`",
        ),
        (
            lambda: stumps().fit(X0, Y0 * 0),
            ValueError,
            "`y` must hold .*two classes.* got .*class, 0",
        ),
        (lambda: stumps().fit(X0, Y0, Y0), ValueError, "got only one class, 1.$"),
        (
            lambda: stumps().fit(X0, Y0, [1]),
            ValueError,
            "`sample_weight` must be one number per row",
        ),
        (lambda: stumps().fit(X0, Y0, -Y0), ValueError, "`sample_weight` must be 0 or more"),
        (
            lambda: AdaBoostM1(KNeighborsClassifier(), 2, resample=False).fit(X0, Y0),
            ValueError,
            "`estimator` must take `sample_weight` .* got KNeighborsClassifier; set `resample",
        ),
        (
            lambda: stumps(random_state="a").fit(X0, Y0),
            TypeError,
            r"`random_state` must be None, an int, a numpy.random.Generator or .*State, got str",
        ),
        (lambda: stumps(random_state=True).fit(X0, Y0), TypeError, "`random_state` .* got bool"),
        (lambda: stumps(random_state=-1).fit(X0, Y0), ValueError, "`random_state` .* got -1"),
        (
            lambda: stumps(random_state=2**32).fit(X0, Y0),
            ValueError,
            "`random_state` must be a whole number from 0 to 4294967295, got 4294967296",
        ),
        (lambda: stumps(resample="no").fit(X0, Y0), TypeError, "`resample` must be .* got 'no'"),
        (
            lambda: AdaBoostM1("q").fit(X0, Y0),
            TypeError,
            "`estimator` must be a scikit-learn classifier, such as .* got 'q'",
        ),
        (
            lambda: AdaBoostM1(DecisionTreeClassifier).fit(X0, Y0),
            TypeError,
            "`estimator` must be a scikit-learn classifier, .* got <class",
        ),
        (
            lambda: AdaBoostM1(DecisionTreeRegressor()).fit(X0, Y0),
            TypeError,
            r"`estimator` must be a scikit-learn classifier, .* got DecisionTreeRegressor\(\)",
        ),
        (
            lambda: stumps(2).fit(X0, Y0).predict(X0[:, :3]),
            ValueError,
            "X has 3 features, but AdaBoostM1 is expecting 5",
        ),
        (lambda: stumps().predict(X0), NotFittedError, "not fitted yet"),
        (lambda: next(stumps().staged_decision_function(X0)), NotFittedError, "not fitted yet"),
        (
            lambda: LogisticCorrection().fit(STUMP, X0, Y0),
            TypeError,
            "`model` must be an AdaBoostM1 or .* got DecisionTreeClassifier; calibrate it by Pl",
        ),
        (
            lambda: LogisticCorrection().fit(clone(THEIRS).set_params(learning_rate=0.5), X0, Y0),
            ValueError,
            "`model` must have a `learning_rate` of 1, .* got 0.5; calibrate it by PlattCalibrator",
        ),
        (
            lambda: LogisticCorrection().fit(THEIRS, X0, THREE),
            ValueError,
            "`model` must distinguish two classes, got 3; use .*OneVsRestClassifier",
        ),
        (
            lambda: LogisticCorrection().fit(stumps()),
            ValueError,
            "`model` must be fitted where `X` and `y` are not given; give them, or fit it first",
        ),
        (
            lambda: LogisticCorrection().fit(stumps(), X0),
            ValueError,
            "`model` must be fitted where `X` and `y` are not given",
        ),
        (lambda: LogisticCorrection().predict_proba(X0), NotFittedError, "not fitted yet"),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
