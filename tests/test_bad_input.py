"""Bad input gets one sentence; results do not depend on the order of columns and rows."""

import copy
import itertools
import pickle
import sys
import threading
import types
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, export_text

from bnmtl import HillClimbing, Orders, SingleTaskLearner, calibration, decorate, ensembles, trees
from bnmtl.active import (
    ActiveDecorate,
    ActiveDecorateJS,
    BaggingCommittee,
    BootstrapJS,
    BootstrapLV,
    BootstrapLVExt,
    ErrorSampling,
    ExpectedUtility,
    MarginSampling,
    QueryByBagging,
    QueryByBoosting,
    RandomQuery,
)
from bnmtl.classification import BayesNetClassifier, NetworkImputer
from bnmtl.ensembles.library.families import TreeAugmented
from bnmtl.errors import Mistake, check_number, check_whole
from bnmtl.problems import random_network
from bnmtl.tasks.tables import as_one_sentence, plain_table, table_of_numbers
from bnmtl.validation import predict_rounds

QUICK = HillClimbing(restarts=0)
NUMBERS = {
    "tree": lambda: trees.ProbabilityTree(max_features=2, random_state=0),
    "bagged": lambda: trees.BaggedPETs(3, random_state=0),
    "enhanced": lambda: trees.EnhancedBaggedPETs(3, random_state=0),
    "MOB-ESP": lambda: trees.MOBESP(3, random_state=0),
    "boosted": lambda: calibration.AdaBoostM1(
        DecisionTreeClassifier(max_depth=2, max_features=2), 3, random_state=0
    ),
    "decorated": lambda: decorate.DecorateClassifier(n_estimators=3, random_state=0),
    "committee": lambda: BaggingCommittee(n_estimators=3, random_state=0),
}
STRATEGIES = (
    ActiveDecorate,
    ActiveDecorateJS,
    BootstrapJS,
    BootstrapLV,
    BootstrapLVExt,
    MarginSampling,
    QueryByBagging,
    QueryByBoosting,
    RandomQuery,
)


def table(n=40, seed=0):
    """Columns that are about equally good, so that ties decide."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, "yes", "no").astype(object)
    columns = {name: (y == "yes") ^ (rng.random(n) < 0.3) for name in "cabed"}
    return pd.DataFrame(columns).astype(int), y


@pytest.mark.parametrize("value", [np.int64(3), np.uint8(3), np.int32(3), 3])
def test_whole_numbers_of_numpy_are_taken(value):
    rows = table()[0]
    learner = SingleTaskLearner(search=HillClimbing(restarts=value, tabu=value), random_state=0)
    search = SingleTaskLearner(search=Orders(starts=value, perturb=value), random_state=0)
    assert learner.fit(rows).score_ == search.fit(rows).score_


@pytest.mark.parametrize(
    "value",
    [
        *(np.array([1, 2]), np.array(3), np.array([3]), pd.Series([1, 2]), pd.NA, pd.NaT),
        *(1.5, np.float64(2), np.nan, np.inf, "1", b"1", 1j, True, [1], {}, object(), int),
        *(10**12, 10**30, 10**400, 10**5000, -(10**400), np.uint64(2**64 - 1)),
    ],
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) else "number",
)
def test_other_values_for_whole_numbers_get_one_sentence(value):
    with pytest.raises((TypeError, ValueError), match="^`restarts` must be a whole number") as info:
        HillClimbing(restarts=value).check()
    assert isinstance(info.value, Mistake) and "\n" not in str(info.value)
    assert len(str(info.value)) < 300


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: HillClimbing(tabu=10_001).check(), "`tabu` must be .* from 0 to 10000, got 10001"),
        (lambda: Orders(perturb=10**9).check(), "`perturb` must be .* from 1 to 10000"),
        (lambda: HillClimbing(restarts=-1).check(), "`restarts` .* of at least 0, got -1"),
        (lambda: trees.BaggedPETs(100_001).fit([[0], [1]], [0, 1]), "from 1 to 100000, got 100001"),
        (lambda: BayesNetClassifier(bins=257).fit(*table()), "`bins` .* from 2 to 256, got 257"),
        (lambda: random_network(10**12), "`n_variables` .* from 1 to 10000"),
        (lambda: random_network(3, 1).sample(10**12), "`n` must be .* from 0 to 268435456"),
        (lambda: check_whole("n", 2**64), "from|at most 9223372036854775807"),
        (lambda: check_number("x", __import__("fractions").Fraction(1, 2)), "`x` must be a number"),
        (lambda: trees.BaggedPETs(n_jobs=10**6).fit([[0], [1]], [0, 1]), "`n_jobs` .* most 1024"),
    ],
)
def test_numbers_have_maxima(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


ODD_COLUMNS = {
    "period": pd.period_range("2020-01", periods=40, freq="M").array,
    "interval": pd.arrays.IntervalArray.from_breaks(np.arange(41)),
    "complex": np.arange(40) + 1j,
    "dates": pd.date_range("2020-01-01", periods=40).array,
    "timedelta": pd.to_timedelta(np.arange(40), unit="D").array,
    "bytes": np.array([b"a", b"b"] * 20, dtype=object),
    "numpy's bytes": np.array([b"a", b"b"] * 20),
    "nested": pd.Series([[0], [1]] * 20, dtype=object).array,
    "text": np.array(["a", "b"] * 20, dtype=object),
}


@pytest.mark.parametrize("model", ["tree", "bagged", "boosted"])
@pytest.mark.parametrize("kind", ODD_COLUMNS)
def test_columns_that_are_not_numbers_are_named(model, kind):
    X, y = table()
    odd = X.assign(a=pd.Series(ODD_COLUMNS[kind], dtype=None if kind != "bytes" else object))
    fitted = NUMBERS[model]().fit(X, y)
    for call in (lambda: NUMBERS[model]().fit(odd, y), lambda: fitted.predict_proba(odd)):
        with pytest.raises(ValueError, match="^`X`: column `a` must hold numbers, got"):
            call()


@pytest.mark.parametrize("model", NUMBERS)
def test_columns_with_one_name_are_refused(model):
    X, y = table()
    twice = X.set_axis([*"aabcd"], axis=1)
    fitted = NUMBERS[model]().fit(X, y)
    for call in (lambda: NUMBERS[model]().fit(twice, y), lambda: fitted.predict_proba(twice)):
        with pytest.raises(ValueError, match="`X` must have different column names, got `a` twice"):
            call()


@pytest.mark.parametrize("model", NUMBERS)
def test_sparse_columns_and_gaps_of_objects_are_read_without_a_warning(model):
    X, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = NUMBERS[model]().fit(X, y).predict_proba(X)
        sparse = X.astype({"a": pd.SparseDtype("int64", 0), "d": pd.SparseDtype("int64", 1)})
        fitted = NUMBERS[model]().fit(sparse, y)
        np.testing.assert_array_equal(fitted.predict_proba(sparse), expected)
    if model in ("tree", "bagged", "boosted"):
        gaps = X.astype(object).mask(X == 2).astype({"b": "Int64"})
        gaps.loc[0, "a"], gaps.loc[1, "b"] = pd.NA, pd.NA
        assert np.isfinite(NUMBERS[model]().fit(gaps, y).predict_proba(gaps)).all()


@pytest.mark.parametrize(
    "given",
    [
        *(None, "table.csv", 3, {"a": [1]}, (row for row in ()), pd.DataFrame, np.array(3)),
        *(np.matrix([[1]]), np.array([[1]], "M8[D]"), [[0, 1], [1]], np.array([[1j]])),
        np.array([("a", 1)], dtype=[("x", "U1"), ("y", int)]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_is_not_a_table_gets_one_sentence(given):
    for read in (plain_table, table_of_numbers):
        with pytest.raises((TypeError, ValueError), match="^`X` must ") as info:
            read(given)
        assert isinstance(info.value, Mistake) and "\n" not in str(info.value)


@pytest.mark.parametrize("kind", ["name", "label", "cell"])
@pytest.mark.parametrize("model", [BayesNetClassifier, BaggingCommittee])
def test_half_of_a_pair_of_surrogates_is_no_text(model, kind):
    X, y = table()
    if kind == "name":
        X.columns = pd.Index(["\ud800", *"abed"], dtype=object)
    y = np.where(y == "yes", "\ud800" if kind == "label" else "yes", "no").astype(object)
    if kind == "cell" and model is BayesNetClassifier:
        X["b"] = pd.Series(np.where(X["b"] == 1, "\ud800", "no"), dtype=object)
    elif kind == "cell":
        pytest.skip("trees take it")
    with pytest.raises(ValueError, match="Unicode, got"):
        model().fit(X, y)


@pytest.mark.parametrize("cell", [[1], {"a": 1}, {1}, np.array([1, 2])], ids=lambda c: str(c))
def test_nested_cells_of_new_rows_are_refused(cell):
    X, y = table()
    fitted = NUMBERS["decorated"]().fit(X.astype({"a": object}), y)
    odd = X.astype({"a": object})
    odd.at[0, "a"] = cell
    with pytest.raises(TypeError, match="^`X`: column `a` must hold .* cannot be hashed"):
        fitted.predict_proba(odd)


def test_words_of_other_packages_are_quoted():
    X, y = table()
    calendar = X.assign(a=pd.date_range("2020-01-01", periods=40))
    stack = ensembles.Stacking([GaussianNB(), GaussianNB()], cv=2)
    model = calibration.CalibratedClassifier(GaussianNB(), cv=2, method="platt")
    for call in (
        lambda: model.fit(calendar, y),
        lambda: stack.fit(calendar, y),
        lambda: predict_rounds(GaussianNB(), calendar, y, rounds=2, random_state=0),
    ):
        with pytest.raises((TypeError, ValueError), match="GaussianNB says `.*[a-z]") as info:
            call()
        assert info.value.argument == "estimator"
    with pytest.raises(KeyError), as_one_sentence("must be right", "X", "pandas"):
        raise KeyError("a mistake of the program")
    assert scipy.sparse.issparse(plain_table(scipy.sparse.csr_matrix(X)))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("classes", [3, 1.5, True, "yes", pd.NA, {"no": 1}, len])
def test_classes_of_strategies_must_be_a_list(strategy, classes):
    X, y = table()
    y[3:9] = None
    with pytest.raises((TypeError, ValueError), match="^`classes` must ") as info:
        strategy(classes=classes, random_state=0).query(X, y)
    assert isinstance(info.value, Mistake)


@pytest.mark.parametrize("missing_label", [[1], np.array([1, 2]), {}, pd.Series([1])])
def test_a_missing_label_is_one_value(missing_label):
    X, y = table()
    with pytest.raises(TypeError, match="^`missing_label` must be one value"):
        RandomQuery(missing_label=missing_label).query(X, y)


@pytest.mark.parametrize("y", [[0, 1] * 20, pd.Categorical([0, 1] * 20), np.full(40, 0.5)])
def test_scores_need_labels_of_the_type_of_the_fit(y):
    X, labels = table()
    with pytest.raises(TypeError, match="^`y` must hold labels of the type of the fit, text, got"):
        trees.ProbabilityTree().fit(X, labels).score(X, y)


@pytest.mark.parametrize("y", [3, "yes", iter("yes"), [["no"]] * 40, np.zeros((40, 2)), [0, 1]])
def test_labels_of_an_imputer_are_a_list(y):
    X = table()[0].astype(str)
    learner = SingleTaskLearner(search=QUICK, missing="drop")
    with pytest.raises((TypeError, ValueError), match="`y` must be|`y` must hold") as info:
        NetworkImputer(learner).fit(X, y)
    assert isinstance(info.value, Mistake)


def test_an_imputer_fills_columns_of_another_type():
    X, _ = table()
    learner = SingleTaskLearner(search=QUICK, missing="drop")
    imputer = NetworkImputer(learner, random_state=0).fit(X.astype(str))
    gaps = X.astype(float)
    gaps.loc[0, "a"] = np.nan
    assert imputer.transform(gaps)["a"][0] in ("0", "1")


@pytest.mark.parametrize("model", NUMBERS)
def test_the_order_of_columns_of_a_frame_does_not_matter(model):
    X, y = table()
    expected = NUMBERS[model]().fit(X, y)
    p = expected.predict_proba(X)
    for order in list(itertools.permutations(X))[1::40]:
        moved = NUMBERS[model]().fit(X[list(order)], y)
        assert moved.feature_names_in_.tolist() == list(order)
        np.testing.assert_array_equal(moved.predict_proba(X[list(order)]), p)
        np.testing.assert_array_equal(moved.predict_proba(X), p)


def test_trees_ask_for_the_columns_as_they_were_given():
    X, y = table()
    tree = trees.ProbabilityTree(max_depth=2, random_state=0).fit(X, y)
    other = trees.ProbabilityTree(max_depth=2, random_state=0).fit(X[sorted(X)], y)
    by_name = [
        dict(zip(m.feature_names_in_, m.feature_importances_, strict=True)) for m in (tree, other)
    ]
    assert by_name[0] == by_name[1]
    text = [export_text(m, feature_names=list(m.feature_names_in_)) for m in (tree, other)]
    assert text[0] == text[1]
    np.testing.assert_array_equal(tree.apply(X), other.apply(X))
    np.testing.assert_array_equal(tree.decision_path(X).toarray(), other.decision_path(X).toarray())
    # An array has the columns in the order of the frame, and no other names.
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(tree.predict_proba(X.to_numpy()), tree.predict_proba(X))
    bagged = trees.BaggedPETs(3, random_state=0).fit(X, y)
    again = trees.BaggedPETs(3, random_state=0).fit(X[sorted(X)], y)
    for first, second in zip(bagged.estimators_, again.estimators_, strict=True):
        importances = dict(zip(X, first.feature_importances_, strict=True))
        expected = dict(zip(sorted(X), second.feature_importances_, strict=True))
        assert importances == pytest.approx(expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_order_of_columns_does_not_change_what_is_asked(strategy):
    X, y = table()
    y[10:] = None
    asked = strategy(random_state=0)
    if strategy is MarginSampling:
        asked.set_params(estimator=DecisionTreeClassifier(max_depth=2, max_features=2))
    asked.set_params(**{name: 4 for name in asked.get_params() if name == "n_estimators"})
    rows, utilities = asked.query(X, y, batch_size=3, return_utilities=True)
    for order in ("abcde", "edcba"):
        other = asked.query(X[list(order)], y, batch_size=3, return_utilities=True)
        np.testing.assert_array_equal(other[0], rows)
        np.testing.assert_array_equal(other[1], utilities)


def test_the_order_of_columns_does_not_change_what_is_acquired():
    X, y = table()
    observed = pd.DataFrame(True, index=X.index, columns=X.columns)
    observed.loc[:9, "a"] = observed.loc[5:12, "c"] = False
    moved = sorted(X)
    tree = DecisionTreeClassifier(max_features=2)
    rows = [
        ErrorSampling(tree, random_state=0).acquire(X[o], y, observed[o], batch_size=4).tolist()
        for o in (list(X), moved)
    ]
    assert rows[0] == rows[1]
    cells = []
    for order in (list(X), moved):
        strategy = ExpectedUtility(tree, n_candidates=4, n_values=1, random_state=0)
        found = strategy.acquire_cells(X[order].astype(str), y, observed[order], batch_size=2)
        cells.append([(row, order[at]) for row, at in found.tolist()])
    assert cells[0] == cells[1]


def test_the_order_of_rows_does_not_change_imputed_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    gaps = pd.DataFrame({"a": [0.1, np.nan, -1.0], "b": [np.nan, 0.2, np.nan]})
    found = []
    for seed in range(6):
        rows = X if not seed else X.sample(frac=1, random_state=seed)
        learner = SingleTaskLearner(search=QUICK, missing="drop")
        imputer = NetworkImputer(learner, random_state=0).fit(rows)
        found.append(imputer.transform(gaps).to_numpy().tolist())
    assert found == found[:1] * 6


class GumException(Exception):
    """What pyAgrum raises."""


class Silent:
    """In the place of pyAgrum's classifier."""

    def __init__(self, **options):
        pass

    def fit(self, X, y):
        raise GumException("[pyAgrum] Out of bounds:\nsize 0")


def test_words_of_pyagrum_are_quoted(monkeypatch):
    packages = {
        "pyagrum": {"GumException": GumException},
        "pyagrum.skbn": {"BNClassifier": Silent},
        "pyagrum.lib": {},
        "pyagrum.lib.discreteTypeProcessor": {"DiscreteTypeProcessor": Silent},
    }
    for name, contents in packages.items():
        module = types.ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    X, y = table()
    words = "^`X` must be a table from .* pyAgrum says `.pyAgrum. Out of bounds: size 0`.$"
    with pytest.raises(ValueError, match=words):
        TreeAugmented().fit(X.astype("category"), y)
    with pytest.raises(ValueError, match="^`X` must have a column with two values or more"):
        TreeAugmented().fit(X.assign(**dict.fromkeys(X, 1)), y)


class Waiting(GaussianNB):
    """A classifier whose fit lasts until the test says so."""

    begun, go_on = threading.Event(), threading.Event()

    def fit(self, X, y, sample_weight=None):
        if not Waiting.begun.is_set():
            Waiting.begun.set()
            Waiting.go_on.wait(30)
        return super().fit(X, y, sample_weight)


def test_one_estimator_is_fitted_by_one_thread_at_a_time():
    X, y = table()
    model = calibration.CalibratedClassifier(Waiting(), cv=2, method="platt")
    expected = clone(model).set_params(estimator=GaussianNB()).fit(X, y).predict_proba(X)
    Waiting.begun.clear()
    Waiting.go_on.clear()
    thread = threading.Thread(target=model.fit, args=(X, y))
    thread.start()
    try:
        assert Waiting.begun.wait(30)
        with pytest.raises(RuntimeError, match="CalibratedClassifier is being fitted by another"):
            model.fit(X, y)
        copies = clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))
        for other in copies:
            np.testing.assert_array_equal(other.fit(X, y).predict_proba(X), expected)
    finally:
        Waiting.go_on.set()
        thread.join(30)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)


def test_a_failed_fit_lets_other_threads_fit():
    X, _ = table()
    learner = SingleTaskLearner(search=QUICK, random_state=0)
    with pytest.raises(ValueError, match="must have at least 2 rows"):
        learner.fit(X[:1])
    thread = threading.Thread(target=learner.fit, args=(X,))
    thread.start()
    thread.join(60)
    assert len(learner.networks_) == 1


@pytest.mark.parametrize("p", [np.full(40, 0.5 + 1j), np.ma.masked_all(40), np.zeros(40, "M8[D]")])
def test_predictions_are_real_numbers(p):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((TypeError, ValueError), match="^`p` must be (finite )?numbers, got"):
            calibration.reliability(np.arange(40) % 2, p)
