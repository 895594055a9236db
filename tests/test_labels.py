"""Labels in any container: all rooms take them, and give classes and predictions of their kind."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bnmtl import active, trees
from bnmtl.active.committees import BaggingCommittee, BoostingCommittee, TreeCommittee
from bnmtl.active.multitask import MultitaskCommittee
from bnmtl.calibration import AdaBoostM1, CalibratedClassifier, LogisticCorrection, PlattCalibrator
from bnmtl.calibration.quality import reliability
from bnmtl.classification import (
    BayesNetClassifier,
    MultiNetClassifier,
    MultitaskBayesNetClassifier,
)
from bnmtl.cli.tables import checked_labels
from bnmtl.decorate import DecorateClassifier
from bnmtl.ensembles import NaiveBayesSampler, PredictionStore, Stacking
from bnmtl.ensembles.library.columns import Rows
from bnmtl.errors import InputError, InputTypeError
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.metrics import prediction
from bnmtl.search import HillClimbing
from bnmtl.tasks.labels import read_labels
from bnmtl.validation import Rounds, forest_bound, predict_rounds

pytestmark = pytest.mark.beside_kernels

N = 24
IS_SECOND = np.random.default_rng(0).random(N) < 0.5
X = np.random.default_rng(1).integers(0, 3, (N, 2)) + np.column_stack(
    [2 * IS_SECOND, 0 * IS_SECOND]
)
X = X.astype(float)
# Two classes of each kind. The first of each pair is the first class.
KINDS = {"integers": (3, 7), "booleans": (False, True), "floats": (1.0, 2.0), "text": ("no", "yes")}


FEW = ("objects", "nullable", "numpy text")
NULLABLE = {"i": "Int64", "b": "boolean", "f": "Float64", "U": "string"}


def labels(kind):
    """Labels in a plain array of numpy."""
    return np.where(IS_SECOND, *KINDS[kind][::-1])


def series(y):
    return pd.Series(y.tolist(), dtype=object)


def string_dtype(y):
    return y.astype(np.dtypes.StringDType(na_object=None))


# From public reports: scikit-learn 24355 (integers and booleans in arrays of objects), 17675
# (nullable columns of pandas), 34946 (numpy's text of variable width).
CONTAINERS = {
    "list": lambda y: y.tolist(),
    "tuple": lambda y: tuple(y.tolist()),
    "objects": lambda y: y.astype(object),
    "objects of numpy": lambda y: np.array([*y, None], dtype=object)[:-1],
    "after dropna": lambda y: pd.Series([*y.tolist(), None], dtype=object).dropna(),
    "after where": lambda y: series(y).where(np.ones(N, bool), None),
    "index": lambda y: pd.Index(y.tolist(), dtype=object),
    "categories": lambda y: pd.Series(y).astype("category"),
    "nullable": lambda y: pd.Series(y, dtype=NULLABLE[y.dtype.kind]),
    "nullable array": lambda y: pd.array(y, dtype=NULLABLE[y.dtype.kind]),
    "numpy text": string_dtype,
}


def containers(kind, few=False):
    for name, put in CONTAINERS.items():
        if (kind == "text" or "text" not in name) and (not few or name in FEW):
            yield name, put(labels(kind))


def fitted(model):
    def use(y):
        fit = model().fit(X, y)
        return fit.classes_, fit.predict(X), fit.predict_proba(X), fit.score(X, y)

    return use


def calibrated(y):
    fit = CalibratedClassifier(GaussianNB()).fit(X, y, calibration=(X.copy(), y))
    return fit.classes_, fit.predict(X), fit.predict_proba(X)


def prefit(y):
    known = GaussianNB().fit(X, read_labels(y))
    fit = CalibratedClassifier(FrozenEstimator(known)).fit(X, y)
    return fit.classes_, fit.predict(X), fit.predict_proba(X)


def corrected(y):
    fit = LogisticCorrection().fit(AdaBoostClassifier(n_estimators=2, random_state=0), X, y)
    return fit.classes_, fit.predict_proba(X)


def queried(y):
    # As objects, in which the labels of any container can be missing.
    gaps = np.where(np.arange(N) < N - 4, np.asarray(y, dtype=object), None)
    query = active.QueryByBagging(n_estimators=2, random_state=0)
    return query.query(X, gaps, batch_size=2, return_utilities=True)


def acquired(y):
    observed = np.ones(X.shape, bool)
    observed[-4:, 0] = False
    model = active.ErrorSampling(random_state=0)
    return (model.acquire(X, y, observed, batch_size=2),)


def experiment(y):
    strategies = {"random": (active.RandomQuery(), GaussianNB())}
    plan = {"first": 4, "batch_size": 4, "cv": 2, "repeats": 1, "random_state": 0}
    frame = active.run_experiment(strategies, {"data": (X, y)}, n_labels=8, **plan)
    return (frame.drop(columns="seconds").to_numpy(str),)


def stored(y):
    store = PredictionStore(np.tile(IS_SECOND * 0.5, (2, 1)), {"hillclimb": y})
    return store.classes, store.part().y


def stacked(y):
    models = [GaussianNB(), DecisionTreeClassifier(random_state=0)]
    fit = Stacking(models, cv=2, random_state=0).fit(X, y)
    return fit.classes_, fit.predict(X), fit.predict_proba(X), fit.score(X, y)


def library(y):
    rows = Rows(X, y, 0.3, None)
    return rows.classes, rows.y


def sampled(y):
    fit = NaiveBayesSampler().fit(X, y)
    return fit.classes_, fit.sample(5, random_state=0)


def validated(y):
    tree = DecisionTreeClassifier(max_depth=2)
    found = predict_rounds(tree, X, y, rounds=2, random_state=0)
    again = Rounds(found.predictions, y, found.classes, found.in_bag)
    return found.classes, again.y, found.predictions


def bounded(y):
    forest = trees.BaggedPETs(5, random_state=0).fit(X, y)
    return (np.array(forest_bound(forest, X, y).error),)


def quick():
    return SingleTaskLearner(search=HillClimbing(restarts=0))


def together():
    return MultitaskLearner(search=HillClimbing(restarts=0))


def by_task(y):
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(region="north")
    fit = MultitaskBayesNetClassifier(task_column="region", learner=together()).fit(frame, y)
    return fit.classes_, fit.predict(frame), fit.predict_proba(frame)


def committee_by_task(y):
    model = MultitaskBayesNetClassifier(learner=together())
    committee = MultitaskCommittee(model, n_members=2, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    committee.fit(frame, y, ["task"] * N)
    (classes,) = committee.classes_.values()
    return classes, committee.member_probabilities(frame, ["task"] * N)


NETWORKS = {
    "BayesNetClassifier": fitted(lambda: BayesNetClassifier(learner=quick())),
    "MultiNetClassifier": fitted(lambda: MultiNetClassifier(learner=together())),
    "MultitaskBayesNetClassifier": by_task,
    "MultitaskCommittee": committee_by_task,
}
USES = {
    "CalibratedClassifier": fitted(lambda: CalibratedClassifier(GaussianNB(), cv=2)),
    "calibration cases": calibrated,
    "prefit": prefit,
    "AdaBoostM1": fitted(lambda: AdaBoostM1(n_estimators=2, random_state=0)),
    "LogisticCorrection": corrected,
    "DecorateClassifier": fitted(
        lambda: DecorateClassifier(n_estimators=2, max_iterations=2, random_state=0)
    ),
    "ProbabilityTree": fitted(lambda: trees.ProbabilityTree(random_state=0)),
    "BaggedPETs": fitted(lambda: trees.BaggedPETs(2, random_state=0)),
    "EnhancedBaggedPETs": fitted(lambda: trees.EnhancedBaggedPETs(2, random_state=0)),
    "MOBESP": fitted(lambda: trees.MOBESP(2, random_state=0)),
    "BaggingCommittee": fitted(lambda: BaggingCommittee(n_estimators=2, random_state=0)),
    "TreeCommittee": fitted(lambda: TreeCommittee(n_estimators=2, random_state=0)),
    "BoostingCommittee": fitted(lambda: BoostingCommittee(n_estimators=2, random_state=0)),
    "query": queried,
    "acquire": acquired,
    "run_experiment": experiment,
    "PredictionStore": stored,
    "Stacking": stacked,
    "build_library": library,
    "NaiveBayesSampler": sampled,
    "predict_rounds": validated,
    "forest_bound": bounded,
    **NETWORKS,
}


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        np.testing.assert_array_equal(one, other)
        texts = [all(isinstance(x, str) for x in array.ravel()) for array in (one, other)]
        assert one.dtype.kind == other.dtype.kind or all(texts)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", USES)
def test_labels_of_any_container_are_those_of_a_plain_array(use):
    # Networks are slower to learn.
    for kind in ["integers", "text"] if use in NETWORKS else KINDS:
        expected = USES[use](labels(kind))
        few = use in NETWORKS or kind in ("booleans", "floats")
        for name, y in containers(kind, few):
            try:
                same(USES[use](y), expected)
            except Exception as error:
                raise AssertionError(f"{kind} in {name}") from error


CHECKED = [use for use in USES if use not in ("prefit", *list(NETWORKS)[2:])]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", CHECKED)
@pytest.mark.parametrize("y", [["no", 1], [True, 0], ["a", b"b"]], ids=str)
def test_several_types_are_refused_in_one_sentence(use, y):
    for several in (y * (N // 2), np.array(y * (N // 2), dtype=object)):
        with pytest.raises(
            InputTypeError, match=r"must hold labels of one type; there are \w+ and"
        ):
            USES[use](several)


@pytest.mark.parametrize("use", [use for use in CHECKED if use != "query"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_label_is_refused_in_one_sentence(use, kind):
    gap = labels(kind).astype(object)
    gap[3] = None
    given = [
        gap,
        gap.tolist(),
        pd.Series(gap),
        pd.Series(gap, dtype=NULLABLE[labels(kind).dtype.kind]),
    ]
    given += [pd.Series(gap).astype("category")]
    given += [np.array(gap, np.dtypes.StringDType(na_object=None))] if kind == "text" else []
    for y in given:
        with pytest.raises(InputError) as caught:
            USES[use](y)
        message = str(caught.value)
        assert message.count(".") == 1 and message.endswith("."), message
        assert "missing" in message or "all labels" in message, message


def test_positions_of_missing_labels_are_named():
    for y in (["a", None], np.array([1.0, np.nan]), pd.Series([True, None], index=[5, 9])):
        with pytest.raises(
            InputError, match="contains NaN .* in 1 row; the first is row 1, counted"
        ):
            read_labels(y)
    with pytest.raises(InputError, match="row 0, counted from 0"):
        read_labels(np.ma.array([1, 2], mask=[True, False]))


def objects(first, second):
    """Two labels of any type in an array of objects."""
    y = np.empty(N, dtype=object)
    for at, is_second in enumerate(IS_SECOND):
        y[at] = second if is_second else first
    return y


INTERVALS = objects(pd.Interval(0, 1), pd.Interval(1, 2))
REFUSED = {
    "decimals": (objects(Decimal("1.5"), Decimal(2)), r"Decimal\('[0-9.]+'\) is of type Decimal"),
    "intervals": (INTERVALS, r"Interval\(.*\) is of type Interval"),
    "categories": (pd.Series(INTERVALS).astype("category"), r"Interval\(.*\) is of type Interval"),
    "bytes": (objects(b"a", b"b"), "b'[ab]' is of type bytes"),
    "numpy bytes": (objects(b"a", b"b").astype("S1"), r"b'[ab]'\)? is of type bytes"),
    "dates": (objects(date(2020, 1, 1), date(2021, 1, 1)), "is of type date"),
    "numpy dates": (objects("2020", "2021").astype("M8[D]"), "is of type date"),
    "times": (
        pd.Series(pd.to_datetime(objects("2020", "2021"))),
        "is of type (datetime64|Timestamp)",
    ),
    "spans": (objects(1, 2).astype("m8[s]"), "is of type timedelta"),
    "complex": (objects(1j, 2j).astype(complex), "is of type complex"),
    "tuples": (objects((0, 1), (1, 2)), r"\([01], [12]\) is of type tuple"),
    "large": (objects(2**70, 1), f"whole numbers of at most 64 bits as labels, got {2**70}"),
    "small": (objects(-(2**70), 1), f"whole numbers of at most 64 bits as labels, got -{2**70}"),
    "wide": (objects(2**63, -1), f"whole numbers of at most 64 bits as labels, got {2**63}"),
    "inf": (objects(1, 2) * np.where(IS_SECOND, np.inf, 1), "finite numbers as labels, got inf"),
    "-inf": (np.where(IS_SECOND, -np.inf, 1), "finite numbers as labels, got -inf"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", [use for use in CHECKED if use not in NETWORKS])
@pytest.mark.parametrize("kind", REFUSED)
def test_labels_of_other_types_are_refused_in_one_sentence(use, kind):
    y, words = REFUSED[kind]
    with pytest.raises((InputError, InputTypeError), match=words) as caught:
        USES[use](y)
    message = str(caught.value)
    assert message.endswith(": turn labels into text, as with `astype(str)`.") or (
        message.endswith("; turn labels into text, as with `astype(str)`.")
    )
    assert "must hold" in message


def test_labels_as_text_are_taken():
    for kind, (y, _) in REFUSED.items():
        if kind != "tuples":
            assert len(set(read_labels(np.asarray(y).astype(str)))) == 2


def test_whole_numbers_stay_whole_and_intervals_as_they_are():
    assert read_labels([2**62 + 1, 1]).tolist() == [2**62 + 1, 1]
    assert read_labels(np.array([1, 2.5], dtype=object)).tolist() == [1.0, 2.5]
    assert read_labels([2**64 - 1, 1]).tolist() == [2**64 - 1, 1]
    intervals = pd.Series(pd.interval_range(0, 2)).astype("category")
    assert read_labels(intervals, takes_intervals=True).tolist() == intervals.tolist()
    # Text may end in a NUL, which numpy's text of fixed width lacks.
    assert read_labels(np.array(["a\0", "a"], np.dtypes.StringDType())).tolist() == ["a\0", "a"]


# --- yes and no


SPELLINGS = [("0", "1"), ("False", "True"), ("false", "true"), ("FALSE", "TRUE")]
# Metrics of the probabilities of all classes, or of none.
OTHERS = {"baseline", "jensen_shannon", "normalized_score", "lift_chart_area", "squared_error"}
Y, P = np.array([0, 1, 1, 0, 1, 0]), np.array([0.2, 0.7, 0.4, 0.3, 0.9, 0.6])


# From a public report, CSV.jl 596: programs write true and false in several ways.
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("put", [list, np.array, lambda y: pd.Series(y, dtype="string")])
def test_yes_and_no_are_0_and_1_for_metrics_and_calibrators(spelling, put):
    y = put([spelling[label] for label in Y])
    for name in prediction.__all__:
        if name not in (
            "baseline",
            "jensen_shannon",
            "normalized_score",
            "lift_chart_area",
            "squared_error",
        ):
            metric = getattr(prediction, name)
            assert metric(y, P) == metric(Y, P), name
    table = np.column_stack([1 - P, P])
    for metric in (prediction.squared_error, prediction.accuracy, prediction.lift_chart_area):
        assert metric(y, table) == metric(Y, table)
    assert PlattCalibrator().fit(P, y).a_ == PlattCalibrator().fit(P, Y).a_
    assert reliability(y, P).equals(reliability(Y, P))


@pytest.mark.parametrize("y", [["yes", "no"] * 3, ["TRUE", "False"] * 3, ["T", "F"] * 3], ids=str)
def test_other_words_need_a_positive_class(y):
    with pytest.raises(InputTypeError, match="compare with the positive class, as in"):
        prediction.accuracy(y, P)
    with pytest.raises(InputError, match="must say which label is predicted, unless labels are 0"):
        checked_labels(pd.Series(y, name="y"), None)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_yes_and_no_need_no_positive_label(spelling):
    column = pd.Series([*(spelling[label] for label in Y), None], name="y")
    np.testing.assert_array_equal(checked_labels(column, None), [*Y, np.nan])
    assert checked_labels(column, spelling[0])[0] == 1
