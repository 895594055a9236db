"""Jackknife, bootstrap, comparisons and forests: formulas once more, slides, known cases."""

import itertools
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.validation import null_p_values
from bnmtl.calibration import AdaBoostM1
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.prediction import lift, roc_area
from bnmtl.metrics.resampled import resampled_p
from bnmtl.trees import BaggedPETs
from bnmtl.validation import (
    Rounds,
    bias_variance,
    bootstrap_error,
    compare,
    forest_bound,
    jackknife,
    predict_rounds,
    voters_error,
)

pytestmark = pytest.mark.beside_kernels
_MISTAKES = (InputError, InputTypeError)


def noisy(n=120, seed=0):
    return make_classification(n, 5, n_informative=2, flip_y=0.2, random_state=seed)


def bootstraps(p, y, full=None, **more):
    """Two rounds of the same predictions, and one that has drawn all cases."""
    nothing = np.full_like(p, np.nan)
    in_bag = np.stack([np.zeros(len(y)), np.zeros(len(y)), np.full(len(y), 2)])
    return Rounds([p, p, nothing], y, np.arange(p.shape[1]), in_bag, full, **more)


def elsewhere():
    """Rounds that predict other cases."""
    X, y = noisy()
    options = {"X_test": X[:20], "y_test": y[:20], "random_state": 0}
    return predict_rounds(GaussianNB(), X, y, rounds=3, **options)


def only_of_two(y, p):
    raise ValueError("of two classes only")


def fitted_forest():
    return RandomForestClassifier(3, random_state=0).fit(*noisy())


def of_two_labels():
    X, y = noisy()
    return RandomForestClassifier(3, random_state=0).fit(X, np.stack([y, y], axis=1))


def rounds_of(model, scheme="bootstrap", rounds=12, data=None, **options):
    X, y = noisy() if data is None else data
    return predict_rounds(model, X, y, scheme, rounds, random_state=0, **options)


# Jackknife


def test_the_variance_of_one_to_five():
    found = jackknife([1, 2, 3, 4, 5], np.var)
    assert found.value == 2.0
    assert found.corrected == pytest.approx(2.5, abs=1e-12)
    mean = jackknife([1, 2, 3, 4, 5], np.mean)
    assert mean.bias == pytest.approx(0, abs=1e-12)
    assert mean.standard_error == pytest.approx(np.sqrt(2.5 / 5))


def test_formulas_of_the_slide_the_jackknife():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 15))
    found = jackknife((x, y), lambda a, b: np.corrcoef(a, b)[0, 1])
    without = [np.corrcoef(np.delete(x, i), np.delete(y, i))[0, 1] for i in range(15)]
    value, mean = np.corrcoef(x, y)[0, 1], np.mean(without)
    assert found.corrected == pytest.approx(15 * value - 14 * mean)
    expected = 14 / 15 * sum((one - mean) ** 2 for one in without)
    assert found.standard_error**2 == pytest.approx(expected)


def test_sets_of_cases_left_out():
    x = np.random.default_rng(1).normal(size=30)
    found = jackknife(x, np.mean, d=5, n_samples=4000, random_state=0)
    assert found.standard_error == pytest.approx(x.std(ddof=1) / np.sqrt(30), rel=0.05)
    assert jackknife(x, np.mean, d=5, n_samples=50, random_state=0) == jackknife(
        x, np.mean, d=5, n_samples=50, random_state=0
    )
    # All sets of two cases, in the mean.
    pairs = [np.var(np.delete(x[:6], both)) for both in itertools.combinations(range(6), 2)]
    found = jackknife(x[:6], np.var, d=2, n_samples=20000, random_state=0)
    expected = 4 / 2 * (np.mean(pairs) - np.var(x[:6]))
    assert found.bias == pytest.approx(expected, abs=0.03)


def test_metrics_of_rounds():
    rounds = rounds_of(GaussianNB(), "kfold", 2, folds=5)
    p, y = rounds.mean_predictions(), rounds.codes
    found = jackknife(rounds, "roc_area")
    without = [roc_area(np.delete(y, i), np.delete(p[:, 1], i)) for i in range(len(y))]
    assert found.value == roc_area(y, p[:, 1])
    assert found.standard_error == pytest.approx(np.sqrt(len(y) - 1) * np.std(without))
    of_few = ("break_even_point", "eleven_point_average_precision")
    for metric in ("lift", lift, "calibration-error", *of_few):
        with pytest.raises(InputError, match="above 1 .* about 11"):
            jackknife(rounds, metric)
    assert jackknife(rounds, "lift", d=11, n_samples=20, random_state=0).standard_error > 0


@pytest.mark.parametrize("median", [np.median, statistics.median, np.nanmedian])
def test_medians_are_refused(median):
    with pytest.raises(InputError, match="jumps where one case changes"):
        jackknife([1.0, 2.0, 3.0, 9.0], median)
    assert jackknife([1.0, 2.0, 3.0, 9.0], median, d=2, random_state=0).value == 2.5


def test_groups_of_rounds_are_left_out_together_and_drawn_together():
    X, y = noisy()
    X, y, group = np.repeat(X[:20], 5, axis=0), np.repeat(y[:20], 5), np.repeat(np.arange(20), 5)
    rounds = predict_rounds(DecisionTreeClassifier(), X, y, rounds=12, groups=group, random_state=0)
    found = jackknife(rounds)
    right = (rounds.mean_predictions()[:, 1] >= 0.5) == rounds.codes
    without = [right[group != one].mean() for one in range(20)]
    assert found.standard_error == pytest.approx(np.sqrt(19) * np.std(without))
    for d in (2, 4):
        some = jackknife(rounds, d=d, n_samples=2000, random_state=0)
        assert some.standard_error == pytest.approx(found.standard_error, rel=0.1)
    by_group = bootstrap_error(rounds, groups=group, random_state=0)
    assert bootstrap_error(rounds, random_state=0) == by_group
    assert bootstrap_error(rounds, groups=np.arange(100), random_state=0).bca != by_group.bca


# Bootstrap


@pytest.mark.parametrize("loss", ["zero_one", "squared"])
@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(), GaussianNB(), DummyClassifier()], ids=str
)
def test_errors_are_those_of_efron_and_tibshirani(model, loss):
    rounds = rounds_of(model)
    y, K = rounds.codes, 2

    def of(code, p):
        return (
            float(p.argmax() != code) if loss == "zero_one" else ((p - np.eye(K)[code]) ** 2).sum()
        )

    e1 = np.mean(
        [
            np.mean([of(y[i], p) for p in rounds.predictions[rounds.is_predicted[:, i], i]])
            for i in range(len(y))
            if rounds.is_predicted[:, i].any()
        ]
    )
    training = np.mean([of(code, p) for code, p in zip(y, rounds.full, strict=True)])
    gamma = np.mean([of(code, p) for code in y for p in rounds.full])
    found = bootstrap_error(rounds, loss=loss, n_resamples=50, random_state=0)
    assert found.training == pytest.approx(training)
    assert found.out_of_bag == pytest.approx(e1)
    assert found.no_information == pytest.approx(gamma)
    assert found.error_632 == pytest.approx(0.368 * training + 0.632 * e1)
    capped = min(e1, gamma)
    is_above = gamma > training + 1e-9 and capped > training
    overfitting = (capped - training) / (gamma - training) if is_above else 0
    assert found.overfitting == pytest.approx(overfitting)
    weight = 0.632 / (1 - 0.368 * overfitting)
    assert found.error_632_plus == pytest.approx((1 - weight) * training + weight * capped)


def test_no_information_of_errors_is_from_both_margins():
    rounds = rounds_of(GaussianNB())
    p = np.bincount(rounds.codes) / len(rounds.y)
    q = np.bincount(rounds.full.argmax(axis=1)) / len(rounds.y)
    expected = sum(p[k] * (1 - q[k]) for k in range(2))
    assert bootstrap_error(rounds, n_resamples=20).no_information == pytest.approx(expected)


def test_memory_of_labels_without_information_is_seen_through():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    rounds = rounds_of(KNeighborsClassifier(1), rounds=30, data=(X, y))
    found = bootstrap_error(rounds, n_resamples=50, random_state=0)
    assert found.training == 0
    assert found.error_632 < 0.4 < 0.45 < found.error_632_plus < 0.55
    assert found.overfitting > 0.9


def test_a_fit_that_errs_more_on_its_cases_does_not_overfit():
    y = np.repeat([0, 1], 10)
    right, wrong = np.eye(2)[y], np.eye(2)[1 - y]
    wrong[5:] = right[5:]
    found = bootstrap_error(bootstraps(right, y, wrong))
    assert (found.training, found.out_of_bag, found.overfitting) == (0.25, 0, 0)
    assert found.no_information == 0.5
    assert found.error_632_plus == pytest.approx(found.error_632) == pytest.approx(0.092)


def test_groups_of_different_sizes_are_drawn_with_all_their_cases():
    y = np.repeat([0, 1], [30, 6])
    p = np.eye(2)[np.zeros(36, dtype=int)]
    groups = np.repeat(np.arange(8), [15, 15, 1, 1, 1, 1, 1, 1])
    rounds = bootstraps(p, y, p)
    found = bootstrap_error(rounds, groups=groups, random_state=0)
    assert found.out_of_bag == pytest.approx(1 / 6)
    # A tenth of the draws have neither of the large groups.
    assert found.percentile[0] < 0.1 and found.percentile[1] == 1


def test_intervals_hold_the_error_and_groups_widen_them():
    rounds = rounds_of(DecisionTreeClassifier())
    found = bootstrap_error(rounds, random_state=0)
    for low, high in (found.percentile, found.bca):
        assert low < found.out_of_bag < high
        assert high - low < 0.2
    assert found.bca != found.percentile
    narrow = bootstrap_error(rounds, confidence=0.5, random_state=0).bca
    assert np.diff(narrow) < np.diff(found.bca)
    # Twelve times the same ten cases: only groups know that these are ten.
    same = Rounds(
        np.tile(rounds.predictions[:, :10], (1, 12, 1)),
        np.tile(rounds.y[:10], 12),
        rounds.classes,
        np.tile(rounds.in_bag[:, :10], (1, 12)),
        np.tile(rounds.full[:10], (12, 1)),
    )
    alone = bootstrap_error(same, random_state=0)
    groups = bootstrap_error(same, groups=np.tile(np.arange(10), 12), random_state=0)
    assert groups.out_of_bag == pytest.approx(alone.out_of_bag)
    for name in ("percentile", "bca"):
        ratio = np.diff(getattr(groups, name)) / np.diff(getattr(alone, name))
        assert 2 < ratio < 5
    sure = rounds_of(
        GaussianNB(), data=(np.repeat([[0.0], [9.0]], 20, axis=0), np.repeat([0, 1], 20))
    )
    assert bootstrap_error(sure).bca == (0, 0)


def test_two_classifiers_are_drawn_together():
    trees, bayes = rounds_of(DecisionTreeClassifier()), rounds_of(GaussianNB())
    found = bootstrap_error(trees, bayes, random_state=0)
    each = [bootstrap_error(one, random_state=0) for one in (trees, bayes)]
    assert found.difference == pytest.approx(each[0].out_of_bag - each[1].out_of_bag)
    assert found.bca[0] < found.difference < found.bca[1]
    same = bootstrap_error(trees, trees)
    assert same == (0, (0, 0), (0, 0))
    widths = [np.diff(one.percentile) for one in each]
    assert np.diff(found.percentile) < np.hypot(*widths)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: bootstrap_error("rounds"), "`rounds` must be rounds"),
        (lambda r: bootstrap_error(r, loss="log"), "loss"),
        (lambda r: bootstrap_error(r, confidence=1.5), "confidence"),
        (lambda r: bootstrap_error(r, n_resamples=1), "n_resamples"),
        (lambda r: bootstrap_error(r, groups=[1]), "groups"),
        (
            lambda r: bootstrap_error(Rounds(r.predictions, r.y, r.classes, r.in_bag)),
            "fit to all cases",
        ),
        (
            lambda r: bootstrap_error(Rounds(r.predictions, r.y, r.classes, r.in_bag + 1, r.full)),
            "not learned from",
        ),
        (lambda r: bootstrap_error(rounds_of(GaussianNB(), "kfold", 2)), "must be bootstraps"),
        (lambda r: bootstrap_error(elsewhere()), "must be bootstraps"),
        (lambda r: bootstrap_error(r, loss=lambda c, p: np.mean(c)), "one number for each case"),
        (lambda r: bootstrap_error(r, loss=lambda c, p: ["a"] * len(c)), "one number for each"),
        (lambda r: compare(elsewhere(), elsewhere()), "of the sample that it learns from"),
        (lambda r: compare(r, r, only_of_two, greater_is_better=True), "two classes only"),
        (lambda r: bias_variance("rounds"), "`rounds` must be rounds"),
        (lambda r: forest_bound(RandomForestRegressor(3), *noisy()), "random forest"),
        (lambda r: forest_bound(BaggedPETs(3), *noisy()), "must be fitted"),
        (lambda r: bootstrap_error(r, rounds_of(GaussianNB(), data=noisy(90))), "the same cases"),
        (lambda r: jackknife(r, "gini"), "metric"),
        (lambda r: jackknife(r, 3), "metric"),
        (lambda r: jackknife([1, 2], "mean"), "function"),
        (lambda r: jackknife(([1, 2], [1]), np.mean), "same length"),
        (lambda r: jackknife([1], np.mean), "two cases"),
        (lambda r: jackknife([1, 2], lambda a: a), "`statistic` must give a number"),
        (lambda r: bootstrap_error(r, groups="site"), "`groups` must be one value"),
        (lambda r: bootstrap_error(r, groups=[np.nan] * len(r.y)), "a value for each row"),
        (lambda r: r.score("accurate"), "metric"),
        (lambda r: forest_bound(fitted_forest(), noisy()[0][:5], noisy()[1]), "each row of `X`, 5"),
        (lambda r: forest_bound(fitted_forest(), noisy()[0], None), "`y` must be one value"),
        (lambda r: jackknife([1, 2, 3], np.mean, d=3), "`d`"),
        (
            lambda r: compare(r, r, lambda y, p: None, greater_is_better=True),
            "`metric` must return a number, got None",
        ),
        (lambda r: r.score(lambda y, p: None), "`metric` must return a number, got None"),
        (lambda r: r.of_cases([1.7]), "`cases` must be positions of cases"),
        (lambda r: r.of_cases(["x"]), "`cases` must be positions of cases"),
        (lambda r: r.of_cases([True, False]), "`cases` must be positions of cases"),
        (lambda r: r.of_cases([5, 1000]), "`cases` must be from -.*, got 1000"),
        (lambda r: forest_bound(fitted_forest(), None, noisy()[1]), "`X` must be a table"),
        (lambda r: forest_bound(of_two_labels(), *noisy()), "`forest` must predict one label, got"),
        (lambda r: compare(r, "rounds"), "`second` must be rounds"),
        (lambda r: compare(r, rounds_of(GaussianNB(), rounds=3)), "the rounds of"),
        (lambda r: compare(r, r, confidence=0), "confidence"),
        (lambda r: compare(*[rounds_of(GaussianNB(), "jackknife")] * 2, "roc_area"), "two rounds"),
        (lambda r: forest_bound(GaussianNB(), *noisy()), "random forest"),
        (lambda r: voters_error(4, 0.3), "odd"),
    ],
)
def test_mistakes_are_named(change, words):
    with pytest.raises(ValueError if words == "two classes only" else _MISTAKES, match=words):
        change(rounds_of(GaussianNB(), rounds=4))


# Comparison


def test_one_prediction_of_each_case_is_compared():
    """Three rounds of each: averages would be right where the first is wrong."""
    y = np.repeat([0, 1], 10)
    right, wrong = np.eye(2)[y], np.eye(2)[1 - y]
    in_bag = np.zeros((4, 20))
    in_bag[3] = 1
    nothing = np.full((20, 2), np.nan)
    first = Rounds([wrong, right, right, nothing], y, [0, 1], in_bag)
    second = Rounds([right, right, right, nothing], y, [0, 1], in_bag)
    assert compare(first, second).p_mcnemar == pytest.approx(2 / 2**20)
    assert compare(second, second).p_randomization == 1


@pytest.mark.parametrize("metric", ["accuracy", "squared_error", "roc_area", roc_area])
def test_the_corrected_test_by_hand(metric):
    first, second = (
        rounds_of(one, "holdout", 8, test_size=0.25) for one in (GaussianNB(), DummyClassifier())
    )
    found = compare(first, second, metric, random_state=0)

    def scores(rounds):
        for p, known in zip(rounds.predictions, rounds.is_predicted, strict=True):
            y, q = rounds.codes[known], p[known]
            if metric == "accuracy":
                yield np.mean(q.argmax(axis=1) == y)
            elif metric == "squared_error":
                yield np.mean(((q - np.eye(2)[y]) ** 2).sum(axis=1))
            else:
                yield roc_area(y, q[:, 1])

    differences = np.subtract(*map(list, map(scores, (first, second))))
    error = np.sqrt(differences.var(ddof=1) * (1 / 8 + 30 / 90))
    assert found.difference == pytest.approx(differences.mean())
    expected = 2 * stats.t.sf(abs(differences.mean()) / error, 7)
    assert found.p_corrected == pytest.approx(expected)
    width = stats.t.ppf(0.975, 7) * error
    assert (found.low, found.high) == pytest.approx(
        (found.difference - width, found.difference + width)
    )
    assert found.is_smaller_better == (metric == "squared_error")
    assert found.p_randomization == pytest.approx(0.002)


def test_mcnemar_counts_cases_that_one_of_both_has_right():
    y = np.repeat([0, 1], 10)
    right, wrong = np.eye(2)[y], np.eye(2)[1 - y]
    first, second = right.copy(), right.copy()
    first[:2], second[4:13] = wrong[:2], wrong[4:13]
    rounds = [bootstraps(one, y) for one in (first, second)]
    found = compare(*rounds, n_resamples=9999, random_state=0)
    tail = sum(math.comb(11, k) for k in range(3)) / 2**11
    assert found.p_mcnemar == pytest.approx(2 * tail)
    # Of eleven signs as many or more are alike as often by chance.
    assert found.p_randomization == pytest.approx(2 * tail, abs=0.02)
    assert compare(rounds[0], rounds[0]).p_mcnemar == 1
    assert compare(rounds[0], rounds[0]).p_corrected == 1
    # From rounds that all differ by the same amount nothing can be said.
    assert np.isnan(compare(*rounds)[3:6]).all()


def test_predictions_of_cases_are_exchanged():
    """All exchanges of seven cases, for a metric that is not a mean over cases."""
    rng = np.random.default_rng(2)
    y = np.array([0, 1, 0, 1, 1, 0, 1])
    ours, theirs = (rng.dirichlet([1, 1], 7) for _ in range(2))
    rounds = [bootstraps(p, y) for p in (ours, theirs)]
    observed = roc_area(y, ours[:, 1]) - roc_area(y, theirs[:, 1])
    found = []
    for swap in itertools.product([False, True], repeat=7):
        swap = np.array(swap)[:, None]
        first, second = np.where(swap, theirs, ours), np.where(swap, ours, theirs)
        found.append(roc_area(y, first[:, 1]) - roc_area(y, second[:, 1]))
    expected = 2 * min(
        np.mean(np.array(found) >= observed - 1e-9), np.mean(np.array(found) <= observed + 1e-9)
    )
    assert 0.1 < expected < 1
    made = compare(*rounds, "roc_area", n_resamples=200)
    assert made.p_randomization == pytest.approx(expected)


def test_one_group_cannot_be_exchanged():
    rounds = rounds_of(GaussianNB(), "holdout", 3)
    other = rounds_of(DecisionTreeClassifier(), "holdout", 3)
    together = [
        Rounds(one.predictions, one.y, one.classes, one.in_bag, group=np.zeros(len(one.y)))
        for one in (rounds, other)
    ]
    for metric in ("accuracy", "roc_area"):
        found = compare(*together, metric, random_state=0)
        assert found.p_randomization == 1 and np.isnan(found.p_mcnemar)


def test_equal_classifiers_seldom_differ():
    """Two trees that differ by chance only: p values below .05 in few of 40 data sets."""
    found = []
    for seed in range(40):
        data = noisy(80, seed)
        first, second = (
            predict_rounds(
                DecisionTreeClassifier(max_features=1),
                *data,
                "holdout",
                6,
                test_size=0.2,
                random_state=0,
            )
            for _ in range(2)
        )
        second.predictions = predict_rounds(
            DecisionTreeClassifier(max_features=1, splitter="random"),
            *data,
            "holdout",
            6,
            test_size=0.2,
            random_state=0,
        ).predictions
        found.append(compare(first, second, n_resamples=99, random_state=0))
    for name in ("p_corrected", "p_randomization", "p_mcnemar"):
        assert np.mean([getattr(one, name) < 0.05 for one in found]) <= 0.125


# Forests, and the other slides


def test_strength_and_correlation_by_hand():
    """The formulas of the slide "Random Forests Error Bounds"."""
    X, y = noisy(60)
    forest = RandomForestClassifier(9, random_state=0).fit(X, y)
    found = forest_bound(forest, X, y)
    votes = [tree.predict(X).astype(int) for tree in forest.estimators_]
    out = [~np.isin(np.arange(60), rows) for rows in forest.estimators_samples_]
    margins, wrong, kept = [], [], []
    for i in range(60):
        trees = [t for t in range(9) if out[t][i]]
        if trees:
            share = {k: sum(votes[t][i] == k for t in trees) / len(trees) for k in (0, 1)}
            margins.append(share[y[i]] - share[1 - y[i]])
            wrong.append(max((0, 1), key=share.get) != y[i])
            kept.append(i)
    strength = np.mean(margins)
    deviations = []
    for t in range(9):
        cases = [i for i in kept if out[t][i]]
        p1 = np.mean([votes[t][i] == y[i] for i in cases])
        p2 = np.mean([votes[t][i] == 1 - y[i] for i in cases])
        deviations.append(np.sqrt(p1 + p2 - (p1 - p2) ** 2))
    correlation = np.var(margins) / np.mean(deviations) ** 2
    assert found.strength == pytest.approx(strength)
    assert found.correlation == pytest.approx(correlation)
    assert found.bound == pytest.approx(correlation * (1 - strength**2) / strength**2)
    assert found.n_cases == len(kept)
    assert found.error == pytest.approx(np.mean(wrong))


def test_bounds_of_other_ensembles_and_of_noise():
    X, y = load_iris(return_X_y=True)
    for forest in (
        BaggingClassifier(n_estimators=20, max_features=2, random_state=0),
        BaggedPETs(20, random_state=0),
    ):
        found = forest_bound(forest.fit(X, y), X, y)
        assert found.verdict == "bound"
        assert found.error < found.bound < 1
    # Members whose bag lacks a class count for the classes that they know.
    kept = np.r_[0:2, 50:100, 100:150]
    bagged = BaggingClassifier(KNeighborsClassifier(1), 50, random_state=0).fit(X[kept], y[kept])
    assert any(len(one.classes_) < 3 for one in bagged.estimators_)
    votes = np.stack([one.predict(X[kept]).astype(int) for one in bagged.estimators_])
    out = np.stack([~np.isin(np.arange(102), rows) for rows in bagged.estimators_samples_])
    shares = np.stack([((votes == k) & out).sum(axis=0) / out.sum(axis=0) for k in range(3)])
    true = shares[y[kept], np.arange(102)]
    others = np.where(np.arange(3)[:, None] == y[kept], -1, shares).max(axis=0)
    assert forest_bound(bagged, X[kept], y[kept]).strength == pytest.approx((true - others).mean())
    labels = np.array(["a", "b", "c"])[y]
    forest = RandomForestClassifier(20, random_state=0)
    assert forest_bound(forest.fit(X, labels), X, labels) == forest_bound(forest.fit(X, y), X, y)
    whole = pd.DataFrame(X * 10).astype("Int64").mask(np.isclose(X, X[3, 1]))
    assert whole.isna().any(axis=None)
    assert forest_bound(forest.fit(whole, y), whole, y).verdict == "bound"
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(2, size=80)
    found = forest_bound(RandomForestClassifier(30, random_state=0).fit(X, y), X, y)
    assert (found.verdict, found.bound > 1) == ("vacuous", True)
    bounds = []
    for noise in (0.1, 0.14, 0.17, 0.2, 0.25):
        data = make_classification(100, 4, flip_y=noise, random_state=0)
        one = forest_bound(RandomForestClassifier(30, random_state=0).fit(*data), *data)
        assert one.verdict == ("vacuous" if one.bound >= 1 else "bound")
        bounds.append(one.bound)
    assert any(1 <= one < 2 for one in bounds)
    # Each case is of another class than its neighbors.
    X, y = np.arange(80.0)[:, None], np.arange(80) % 2
    found = forest_bound(RandomForestClassifier(30, random_state=0).fit(X, y), X, y)
    assert found.strength < 0 and np.isnan(found.bound)
    assert found.verdict == "undefined"
    with pytest.raises(InputError, match="training cases"):
        forest_bound(RandomForestClassifier(3).fit(X, y), X[:30], y[:30])
    with pytest.raises(InputError, match="not seen some case"):
        forest_bound(ExtraTreesClassifier(3).fit(X, y), X, y)


def test_slide_why_ensemble_methods_work():
    expected = sum(math.comb(25, i) * 0.35**i * 0.65 ** (25 - i) for i in range(13, 26))
    assert voters_error(25, 0.35) == pytest.approx(expected)
    assert round(voters_error(25, 0.35), 2) == 0.06
    assert voters_error(1, 0.35) == pytest.approx(0.35)


BAGS = {
    0.35: [
        "0.1 0.2 0.2 0.3 0.4 0.4 0.5 0.6 0.9 0.9",
        "0.1 0.2 0.3 0.4 0.4 0.5 0.7 0.7 0.8 0.9",
        "0.1 0.1 0.2 0.5 0.6 0.6 0.6 1 1 1",
    ],
    0.3: ["0.1 0.1 0.2 0.4 0.4 0.5 0.5 0.7 0.8 0.9"],
    0.65: ["0.1 0.2 0.3 0.4 0.5 0.8 0.9 1 1 1"],
    0.75: [
        "0.2 0.4 0.5 0.6 0.7 0.7 0.7 0.8 0.9 1",
        "0.1 0.4 0.4 0.6 0.7 0.8 0.9 0.9 0.9 1",
        "0.1 0.2 0.5 0.5 0.5 0.7 0.7 0.8 0.9 1",
        "0.1 0.3 0.4 0.4 0.6 0.7 0.7 0.8 1 1",
    ],
    0.05: ["0.1 0.1 0.1 0.1 0.3 0.3 0.8 0.8 0.9 0.9"],
}


def test_slide_bagging_example_3():
    """Ten stumps at the printed thresholds, leaves labeled by the majority of their cases.

    The rule printed for the second round contradicts its row of the result: both of its leaves say
    1, as the majority does.
    """
    x = np.arange(1, 11) / 10
    y = np.where((x > 0.35) & (x < 0.75), -1, 1)
    sums, said = np.zeros(10, dtype=int), []
    for threshold, bags in BAGS.items():
        for bag in bags:
            rows = np.array([round(10 * float(one)) - 1 for one in bag.split()])
            below = x[rows] <= threshold
            says = [np.sign(y[rows][side].sum()) if side.any() else -1 for side in (below, ~below)]
            said.append(np.where(x <= threshold, says[0], says[1]).astype(int))
            sums += said[-1]
    assert sums.tolist() == [2, 2, 2, -6, -6, -6, -6, 2, 2, 2]
    assert (np.sign(sums) == y).all()
    # As rounds: the stumps err and vary, their majority does not err.
    said = np.stack(said)
    rounds = Rounds(np.eye(2)[(said + 1) // 2], y, [-1, 1], np.zeros(said.shape, dtype=int))
    parts = bias_variance(rounds).loc["zero_one"]
    assert (parts["bias"], parts["error_of_mean"]) == (0, 0)
    assert parts["error"] == parts["variance"] == pytest.approx(np.mean(said != y))


def test_slide_adaboost_weights_by_hand():
    """A case of ours, because the illustrations are pictures: a stump that errs on one of four."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    stump = DecisionTreeClassifier(max_depth=1)
    boosted = AdaBoostM1(stump, 2, resample=False, random_state=0).fit(X, y)
    error = 1 / 4  # with weights that sum to 1
    alpha = np.log((1 - error) / error) / 2
    assert boosted.estimator_weights_[0] == pytest.approx(alpha)
    weights = np.array([1, 1, 1, 1]) * np.exp(
        np.where(boosted.estimators_[0].predict(X) == y, -alpha, alpha)
    )
    weights /= weights.sum()
    # The wrong case weighs as much as the three others together.
    assert sorted(weights.tolist()) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    second = weights @ (boosted.estimators_[1].predict(X) != y)
    alpha = np.log((1 - second) / second) / 2
    assert boosted.estimator_weights_[1] == pytest.approx(alpha)


# P values where nothing differs; slower simulations are in benchmarks/validation/null_p_values.py


def check_rejections(p_values):
    """At most 5 % below 0.05, and two standard errors."""
    p_values = np.asarray(p_values)
    assert (p_values < 0.05).mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / len(p_values))


@pytest.mark.parametrize("n_rounds", [2, 10])
def test_rounds_without_a_difference_are_not_found_to_differ(n_rounds):
    rng = np.random.default_rng(1)
    differences = rng.normal(size=(2000, n_rounds))
    check_rejections([resampled_p(one, 0.0) for one in differences])
    # Rounds of which each pair shares a variance of 0.1.
    together = np.sqrt(0.9) * differences + np.sqrt(0.1) * rng.normal(size=(2000, 1))
    check_rejections([resampled_p(one, 1 / 9) for one in together])
    # Shares of few cases are often the same in both rounds, which were taken for p = 0.
    rounded = rng.integers(-1, 2, size=(2000, n_rounds)) / 10
    check_rejections([resampled_p(one, 0.0) for one in rounded])


def test_models_alike_are_not_found_to_differ():
    """Predictions of two models that are exchangeable for each case, or for each group."""
    found = []
    for seed in range(200):
        pair = null_p_values.fitted_models(seed, n=60)
        found.append(compare(*pair, n_resamples=99, random_state=seed))
    check_rejections([one.p_mcnemar for one in found])
    check_rejections([one.p_randomization for one in found])
    grouped = (null_p_values.fitted_models(seed, n=60, n_groups=15) for seed in range(200))
    check_rejections([compare(*one, n_resamples=99, random_state=0)[7] for one in grouped])
