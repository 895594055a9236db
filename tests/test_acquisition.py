"""Acquisition of features: scores by hand, costs, the loop of GODA, expected utilities."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bnmtl.active import GODA, ErrorSampling, ExpectedUtility, RandomAcquisition
from bnmtl.errors import InputError, InputTypeError
from bnmtl.seeding import generator

pytestmark = pytest.mark.beside_kernels
TREE = DecisionTreeClassifier(min_samples_leaf=3)


def cases(n=40, n_complete=12, seed=0, weights=(1, 1, 0)):
    """Numbers of which two columns are known of some cases only, and labels by a weighted sum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X @ weights + 0.4 * rng.normal(size=n) > 0, "yes", "no")
    observed = np.ones((n, 3), dtype=bool)
    observed[rng.permutation(n)[n_complete:], 1:] = False
    return np.where(observed, X, np.nan), y, observed


def seeded(estimator, seed=0):
    return clone(estimator).set_params(
        random_state=int(generator(seed, "model").integers(2**31 - 1))
    )


def scores_by_hand(X, y, observed):
    """2 for errors, otherwise 1 - margin, of the incomplete cases."""
    model = seeded(TREE).fit(X, y)
    found = {}
    for row in np.flatnonzero(~observed.all(axis=1)):
        p = model.predict_proba(X[[row]])[0]
        is_right = model.classes_[p.argmax()] == y[row]
        found[row] = 1 - abs(p[0] - p[1]) if is_right else 2.0
    return found


def test_errors_come_first_and_then_small_margins():
    X, y, observed = cases()
    scores = scores_by_hand(X, y, observed)
    n_errors = sum(score == 2 for score in scores.values())
    assert 0 < n_errors < len(scores) - 4
    rows = ErrorSampling(TREE, random_state=0).acquire(X, y, observed, batch_size=n_errors + 4)
    assert [scores[row] for row in rows] == sorted(scores.values(), reverse=True)[: len(rows)]
    assert len(set(rows)) == len(rows)
    firsts = {
        int(ErrorSampling(TREE, random_state=seed).acquire(X, y, observed, batch_size=1)[0])
        for seed in range(30)
    }
    assert len(firsts) > 1
    assert {scores[row] for row in firsts} == {2.0}


def test_costs_divide_the_score():
    X, y, observed = cases()
    observed[:, 1] = True
    observed[5, 1] = False
    X[5, 1] = np.nan
    incomplete = np.flatnonzero(~observed.all(axis=1))
    scores = scores_by_hand(X, y, observed)
    cost = [1.0, 7.0, 0.5]
    per_cost = {row: scores[row] / ((~observed[row]) @ cost) for row in incomplete}
    rows = ErrorSampling(TREE, random_state=0).acquire(
        X, y, observed, batch_size=len(incomplete), cost=cost
    )
    found = [per_cost[row] for row in rows]
    assert found == pytest.approx(sorted(per_cost.values(), reverse=True))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = ErrorSampling(TREE, random_state=0).acquire(
        frame, y, observed, batch_size=len(incomplete), cost={"b": 7.0, "c": 0.5, "a": 1.0}
    )
    assert named.tolist() == rows.tolist()
    series = pd.Series({"b": 7.0, "c": 0.5, "a": 1.0})
    same = ErrorSampling(TREE, random_state=0).acquire(
        frame, y, observed, batch_size=len(incomplete), cost=series
    )
    assert same.tolist() == rows.tolist()


def test_random_acquisitions_are_all_equally_likely():
    X, y, observed = cases(n=8, n_complete=4)
    found = [
        RandomAcquisition(random_state=seed).acquire(X, y, observed, batch_size=1)[0]
        for seed in range(800)
    ]
    shares = np.unique(found, return_counts=True)
    assert shares[0].tolist() == np.flatnonzero(~observed.all(axis=1)).tolist()
    np.testing.assert_allclose(shares[1] / 800, 0.25, atol=4 * np.sqrt(0.25 * 0.75 / 800))


class Copying(BaseEstimator):
    """Fills gaps with the cells of a complete case, drawn by its seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.known = X
        return self

    def transform(self, X, y):
        filled = X.copy()
        for row in range(len(X)):
            # The draw depends on the case, not on its place.
            rng = np.random.default_rng([self.random_state, int(1e9 * abs(X[row, 0]))])
            donor = self.known[rng.integers(len(self.known))]
            gaps = np.isnan(filled[row])
            filled[row, gaps] = donor[gaps]
        return filled


def test_goda_is_the_loop_by_hand():
    X, y, observed = cases(weights=(0, 1, 1))
    stump = DecisionTreeClassifier(max_depth=1)
    complete = np.flatnonzero(observed.all(axis=1))
    incomplete = np.flatnonzero(~observed.all(axis=1))
    expected = {row: 0.0 for row in incomplete}
    for number in range(2):
        drawn = int(generator(0, "imputation", number).integers(2**31 - 1))
        imputer = Copying(drawn).fit(X[complete], y[complete])
        for row, imputed in zip(
            incomplete, imputer.transform(X[incomplete], y[incomplete]), strict=True
        ):
            rows, labels = np.vstack([X[complete], imputed]), np.append(y[complete], y[row])
            model = seeded(stump).fit(rows, labels)
            expected[row] += np.mean(model.predict(rows) == labels) / 2
    assert len(set(expected.values())) > 2
    strategy = GODA(stump, Copying(), n_imputations=2, random_state=0)
    rows = strategy.acquire(X, y, observed, batch_size=len(incomplete))
    found = [expected[row] for row in rows]
    assert found == pytest.approx(sorted(expected.values(), reverse=True))
    few = clone(strategy).set_params(n_candidates=5)
    tried = few.acquire(X, y, observed, batch_size=5)
    found = [expected[row] for row in tried]
    assert found == sorted(found, reverse=True)
    assert set(tried) != set(rows[:5])


def test_goda_draws_from_a_network_by_default():
    X, y, observed = cases(n=20)
    rows = GODA(n_imputations=2, n_candidates=4, random_state=0).acquire(X, y, observed, 2)
    assert len(set(rows)) == 2
    assert not observed[rows].all(axis=1).any()


SHARES = {"yes": [0.2, 0.45, 0.35], "no": [0.9, 0.02, 0.08]}


class Known(BaseEstimator):
    """Three values for each cell, with probabilities that depend on the label."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        assert not X.isna().any(axis=None)
        return self

    def state_values(self, column):
        return pd.Series([-1.0, 0.0, 1.0 + column], index=["low", "middle", "high"])

    def cell_probabilities(self, X, column, y):
        assert X[column].isna().all()
        shares = [SHARES[label] for label in y]
        return pd.DataFrame(shares, index=X.index, columns=["low", "middle", "high"])


@pytest.mark.parametrize("n_values", [None, 2, 1])
def test_expected_utilities_are_gains_of_new_models_per_cost(n_values):
    X, y, observed = cases(n=24, n_complete=10, weights=(0, 1, 1))
    cells = [tuple(cell) for cell in np.argwhere(~observed).tolist()]
    cost = [1, 2, 3]

    def mean_probability(X):
        model = seeded(TREE).fit(X, y)
        p = model.predict_proba(X)
        return np.mean([p[row, list(model.classes_).index(y[row])] for row in range(len(y))])

    gains = dict.fromkeys(cells, 0.0)
    for row, column in cells:
        shares = dict(zip([-1.0, 0.0, 1.0 + column], SHARES[y[row]], strict=True))
        kept = sorted(shares, key=shares.get, reverse=True)[:n_values]
        for value in kept:
            tried = X.copy()
            tried[row, column] = value
            gain = mean_probability(tried) - mean_probability(X)
            share = shares[value] / sum(shares[other] for other in kept)
            gains[row, column] += share * gain / cost[column]
    strategy = ExpectedUtility(TREE, Known(), n_candidates=99, n_values=n_values, random_state=0)
    found = strategy.acquire_cells(X, y, observed, batch_size=len(cells), cost=cost)
    assert sorted(map(tuple, found.tolist())) == cells
    assert len(set(gains.values())) > 5
    ordered = [gains[tuple(cell)] for cell in found.tolist()]
    assert ordered == pytest.approx(sorted(gains.values(), reverse=True), abs=1e-12)


def test_losses_are_worse_the_more_they_cost(monkeypatch):
    X, y, observed = cases(n=24, n_complete=20)
    observed[:, 2] = observed[:, 1]
    gains = {1: -0.01, 2: -0.01}
    monkeypatch.setattr(
        ExpectedUtility,
        "_utilities",
        lambda self, table, cells, seed: np.array([gains[column] for _, column in cells]),
    )
    found = ExpectedUtility(n_candidates=99, random_state=0).acquire_cells(
        X, y, observed, batch_size=8, cost=[1.0, 100.0, 1.0]
    )
    assert found[:, 1].tolist() == [2] * 4 + [1] * 4


def test_expected_utilities_of_a_mixed_table():
    X, y, observed = cases(n=24, n_complete=14)
    site = pd.Categorical(np.where(X[:, 0] > 0, "x", "z"), ["x", "z", "never"])
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "site": site})
    strategy = ExpectedUtility(n_candidates=6, random_state=0)
    found = strategy.acquire_cells(frame, y, observed, batch_size=6)
    assert set(found[:, 1]) == {1, 2}
    assert found.tolist() == strategy.acquire_cells(frame, y, observed, batch_size=6).tolist()


def test_expected_utilities_have_a_network_by_default():
    X, y, observed = cases(n=20, n_complete=14)
    strategy = ExpectedUtility(n_candidates=4, n_values=2, random_state=0)
    found = strategy.acquire_cells(pd.DataFrame(X), y, observed, batch_size=3)
    assert found.shape == (3, 2)
    assert not observed[tuple(found.T)].any()


@pytest.mark.parametrize(
    "strategy",
    [ErrorSampling(random_state=0), RandomAcquisition(random_state=0), ErrorSampling(GaussianNB())],
    ids=["error", "random", "naive"],
)
def test_inputs_are_kept_and_acquisitions_repeatable(strategy):
    X, y, observed = cases()
    if isinstance(getattr(strategy, "estimator", None), GaussianNB):
        with pytest.raises(ValueError, match="NaN"):
            strategy.acquire(X, y, observed)
        return
    before = X.copy()
    rows = strategy.acquire(X, y, observed)
    assert np.array_equal(X, before, equal_nan=True)
    assert len(rows) == 10
    assert strategy.acquire(X, y, observed).tolist() == rows.tolist()


def test_mixed_frames_and_cells_that_stay_missing():
    X, y, observed = cases()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "site": np.where(X[:, 0] > 0, "x", "z")})
    frame.loc[observed[:, 1].nonzero()[0][0], "b"] = np.nan  # measured, and still missing
    rows = ErrorSampling(random_state=0).acquire(frame, y, observed, batch_size=3)
    assert not observed[rows].all(axis=1).any()
    boosted = ErrorSampling(HistGradientBoostingClassifier(), random_state=0)
    assert len(boosted.acquire(X, y, observed, batch_size=3)) == 3


def test_values_that_are_not_acquired_are_not_looked_at():
    X, y, observed = cases()
    known = np.where(observed, X, 7.0 * (y == "yes")[:, None])
    strategy = ErrorSampling(TREE, random_state=0)
    expected = strategy.acquire(X, y, observed, 28).tolist()
    assert strategy.acquire(known, y, observed, 28).tolist() == expected
    assert strategy.acquire(pd.DataFrame(known), y, observed, 28).tolist() == expected
    assert set(known[~observed]) == {0, 7}


def test_cases_that_were_not_tried_are_not_chosen():
    strategies = [GODA(n_candidates=2).acquire, ExpectedUtility(n_candidates=2).acquire_cells]
    for ask in strategies:
        with pytest.raises(InputError, match="`batch_size` must be a whole number from 1 to 2"):
            ask(*cases(), batch_size=3)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"X": [1, 2]}, "table"),
        ({"y": ["yes"]}, "one label for each row"),
        ({"y": [None] * 40}, "contains NaN or another missing value in 40 rows"),
        ({"y": ["yes"] * 40}, "two classes; all rows are `yes`"),
        ({"observed": np.ones((40, 2), dtype=bool)}, r"each cell.*got \(40, 2\)"),
        ({"observed": np.zeros((40, 3))}, "each cell.*got 'float64'"),
        ({"observed": np.ones((40, 3), dtype=bool)}, "all are True"),
        ({"batch_size": 29}, "28"),
        ({"batch_size": 0}, "batch_size"),
        ({"cost": [1, 2]}, "one number for each column"),
        ({"cost": [1, 0, 2]}, "above 0"),
        ({"cost": {0: 1, 1: 1}}, "2 has none"),
        ({"cost": pd.Series([1, 1, 1], index=[0, 1, "b"])}, "2 has none"),
        ({"cost": pd.Series([1, 1, 1, 1], index=[0, 1, 1, 2])}, "1 has several"),
        ({"cost": ["a", "b", "c"]}, "numbers"),
    ],
)
def test_impossible_acquisitions_are_refused(changed, words):
    X, y, observed = cases()
    options = {"X": X, "y": y, "observed": observed, "batch_size": 2} | changed
    with pytest.raises((InputError, InputTypeError), match=words):
        ErrorSampling(random_state=0).acquire(**options)


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (GODA(n_imputations=0), "n_imputations"),
        (GODA(n_candidates=0), "n_candidates"),
        (GODA(imputer="mean"), "imputer"),
        (GODA(imputer=SimpleImputer()), "`transform\\(X, y\\)`, got SimpleImputer"),
        (GODA(imputer=Copying), "the class Copying"),
        (ErrorSampling("tree"), "estimator"),
    ],
    ids=str,
)
def test_impossible_strategies_are_refused(strategy, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        strategy.acquire(*cases())


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (ExpectedUtility(imputer=Copying()), "must be a NetworkImputer or None"),
        (ExpectedUtility(n_candidates=0), "n_candidates"),
        (ExpectedUtility(n_values=0), "n_values"),
    ],
    ids=str,
)
def test_impossible_strategies_of_cells_are_refused(strategy, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        strategy.acquire_cells(*cases(), batch_size=1)


def test_complete_cases_are_needed_to_impute():
    X, y, observed = cases(n_complete=1)
    for ask in (GODA().acquire, ExpectedUtility().acquire_cells):
        with pytest.raises(InputError, match="two complete cases"):
            ask(X, y, observed, batch_size=1)


def test_misclassified_cases_come_first_whatever_they_cost():
    strategy = ErrorSampling()
    utilities, costs = np.array([2.0, 0.9, 2.0, 0.5]), np.array([50.0, 0.1, 10.0, 0.01])
    found = strategy._per_cost(utilities, costs)
    assert np.argsort(-found).tolist() == [2, 0, 3, 1]
    same = strategy._per_cost(utilities, np.ones(4))
    assert same[0] == same[2] > same[1] > same[3]
