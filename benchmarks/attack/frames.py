"""Odd frames and odd labels in every entry point that takes tables."""

import datetime
import decimal
import itertools
import warnings

import numpy as np
import pandas as pd

from benchmarks.attack.leaks import Case

N = 24


def base(kind, rng):
    """A small good table: numbers for trees, states and numbers for others."""
    n = N
    a = rng.integers(0, 2, n)
    frame = pd.DataFrame({"a": a, "b": rng.integers(0, 3, n), "c": (a + rng.integers(0, 2, n)) % 2})
    if kind == "mixed":
        frame["b"] = frame["b"].map({0: "u", 1: "v", 2: "w"})
    return frame


def good_labels(frame):
    values = np.where(frame["a"] == 1, "yes", "no").astype(object)
    values[0], values[1] = "yes", "no"
    return values.tolist()


def odd_columns(n, rng):
    """{name: (values, must be refused)} of one odd column."""
    numbers = rng.integers(0, 2, n)
    cells = numbers.astype(object)

    def objects(make):
        made = np.empty(n, dtype=object)
        for at in range(n):
            made[at] = make(int(numbers[at]))
        return made

    def with_first(first):
        made = cells.copy()
        made[0] = first
        return made

    yield "sparse", pd.arrays.SparseArray(numbers)
    yield "sparse float", pd.arrays.SparseArray(numbers.astype(float))
    yield "sparse nan", pd.arrays.SparseArray(np.where(numbers == 1, np.nan, 1.0))
    yield "interval", pd.arrays.IntervalArray.from_breaks(np.arange(n + 1))
    yield "interval cut", pd.cut(pd.Series(numbers + 0.5), [0, 1, 2]).array
    yield "period", pd.period_range("2020-01", periods=n, freq="M").array
    yield "complex", numbers + 1j
    yield "complex real", numbers + 0j
    yield "complex objects", objects(lambda v: complex(v, 1))
    yield "lists", objects(lambda v: [v])
    yield "dicts", objects(lambda v: {"v": v})
    yield "sets", objects(lambda v: {v})
    yield "tuples", objects(lambda v: (v, v))
    yield "arrays", objects(lambda v: np.array([v]))
    yield "frames", objects(lambda v: pd.DataFrame({"v": [v]}))
    yield "one list", with_first([1])
    yield "one array", with_first(np.array([1, 2]))
    yield "dates", pd.date_range("2020-01-01", periods=n).array
    yield "dates tz", pd.date_range("2020-01-01", periods=n, tz="UTC").array
    yield "date objects", objects(lambda v: datetime.date(2020, 1, 1 + v))
    yield "timedelta", pd.to_timedelta(numbers, unit="D").array
    yield "bytes", objects(lambda v: b"%d" % v)
    yield "numpy bytes", np.array([b"u", b"v"])[numbers]
    yield "decimals", objects(lambda v: decimal.Decimal(v))
    yield "objects", objects(lambda v: object())
    yield "mixed", with_first("x")
    yield "mixed 1 and text 1", with_first("1")
    yield "True and 1", with_first(True)
    yield "None", with_first(None)
    yield "NA", with_first(pd.NA)
    yield "NaT", with_first(pd.NaT)
    yield "nan object", with_first(float("nan"))
    yield "nan", np.where(numbers == 1, np.nan, 1.0)
    yield "inf", np.where(numbers == 1, np.inf, 1.0)
    yield "all nan", np.full(n, np.nan)
    yield "all None", np.full(n, None)
    yield "Int64", pd.array([None, *map(int, numbers[1:])], dtype="Int64")
    yield "Float64", pd.array([None, *map(float, numbers[1:])], dtype="Float64")
    yield "boolean", pd.array([None, *map(bool, numbers[1:])], dtype="boolean")
    yield "string", pd.array([None, *map(str, numbers[1:])], dtype="string")
    yield "arrow int", pd.array([None, *map(int, numbers[1:])], dtype="int64[pyarrow]")
    yield "arrow list", pd.array([[int(v)] for v in numbers], dtype=_arrow_list())
    yield "arrow struct", pd.array([{"v": int(v)} for v in numbers], dtype=_arrow_struct())
    yield (
        "arrow date",
        pd.array([datetime.date(2020, 1, 1 + int(v)) for v in numbers], dtype=_arrow("date32")),
    )
    yield (
        "arrow decimal",
        pd.array([decimal.Decimal(int(v)) for v in numbers], dtype=_arrow("decimal128", 10, 2)),
    )
    yield "arrow binary", pd.array([b"%d" % v for v in numbers], dtype=_arrow("binary"))
    yield "category", pd.Categorical(numbers)
    yield "category gap", pd.Categorical([None, *numbers[1:]])
    yield "category empty", pd.Categorical([None] * n, categories=[])
    yield "category tuples", pd.Categorical(objects(lambda v: (v, v)))
    yield "category dates", pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"])[numbers])
    yield "category bytes", pd.Categorical(objects(lambda v: b"%d" % v))
    yield "category complex", pd.Categorical(objects(lambda v: complex(v, 1)))
    yield "category intervals", pd.cut(pd.Series(numbers + 0.5), [0, 1, 2]).astype("category").array
    yield "huge", objects(lambda v: 2**70 + v)
    yield "uint64", (numbers.astype(np.uint64) + np.uint64(2**63))
    yield "float16", numbers.astype(np.float16)
    yield "longdouble", numbers.astype(np.longdouble)
    yield "many texts", np.array([f"t{at}" for at in range(n)], dtype=object)
    yield "controls", objects(lambda v: f"\x1b[31m{v}\x00\n")
    yield "lone surrogate", objects(lambda v: f"\ud800{v}")


def _arrow(name, *args):
    import pyarrow

    return pd.ArrowDtype(getattr(pyarrow, name)(*args))


def _arrow_list():
    import pyarrow

    return pd.ArrowDtype(pyarrow.list_(pyarrow.int64()))


def _arrow_struct():
    import pyarrow

    return pd.ArrowDtype(pyarrow.struct([("v", pyarrow.int64())]))


def odd_tables(good, rng):
    """(name, table) of odd tables of the shape of a good one."""
    n = len(good)
    for name, values in odd_columns(n, rng):
        # Otherwise pandas would make text of its own type of some objects.
        series = pd.Series(
            values, index=good.index, dtype=object if values.dtype == object else None
        )
        yield f"column {name}", good.assign(b=series)
        yield f"added {name}", good.assign(z=series)
    renamed = {
        "twice": ["a", "a", "b"],
        "all the same": ["a", "a", "a"],
        "1 and text 1": [1, "1", "b"],
        "tuples": [("a", 1), ("b", 2), "c"],
        "bytes": [b"a", b"b", b"c"],
        "bytes and text": [b"a", "a", "b"],
        "None": [None, "a", "b"],
        "nan": [float("nan"), "a", "b"],
        "nan twice": [float("nan"), float("nan"), "b"],
        "NA": [pd.NA, "a", "b"],
        "numbers": [0, 1, 2],
        "numbers and text": [0, "a", "b"],
        "fractions": [0.5, 1.5, 2.5],
        "dates": list(pd.date_range("2020-01-01", periods=3)),
        "empty": ["", "a", "b"],
        "controls": ["\x00", "\x1b[31m", "\n"],
        "long": ["a" * 10_000, "b", "c"],
        "target": ["target", "b", "c"],
        "y": ["y", "b", "c"],
        "surrogate": ["\ud800", "b", "c"],
        "booleans": [True, False, "c"],
    }
    for name, names in renamed.items():
        made = good.copy()
        made.columns = pd.Index(names, dtype=object, tupleize_cols=False)
        yield f"names {name}", made
    made = good.copy()
    made.columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    yield "names multi", made
    made = good.copy()
    made.columns = pd.CategoricalIndex(["a", "b", "c"])
    yield "names category", made
    made = good.copy()
    made.columns = pd.RangeIndex(3)
    yield "names range", made
    made = good.copy()
    made.columns = pd.IntervalIndex.from_breaks([0, 1, 2, 3])
    yield "names interval", made
    yield "no rows", good[:0]
    yield "one row", good[:1]
    yield "two rows", good[:2]
    yield "no columns", good[[]]
    yield "no cells", pd.DataFrame()
    yield "one column", good[["a"]]
    yield "rows twice", good.set_axis([0] * n, axis=0)
    yield "rows named nan", good.set_axis([float("nan")] * n, axis=0)
    yield "rows multi", good.set_axis(pd.MultiIndex.from_product([range(n // 2), [0, 1]]), axis=0)
    yield "rows dates", good.set_axis(pd.date_range("2020-01-01", periods=n), axis=0)
    yield (
        "all sparse",
        good.astype(
            {c: pd.SparseDtype(good[c].dtype, 0) for c in good if good[c].dtype.kind == "i"}
        ),
    )
    yield "all gaps", good.astype(object).mask(np.ones(good.shape, bool))
    yield "constant", good.assign(a=0, b=0, c=0)
    numeric = good.apply(lambda c: pd.factorize(c)[0])
    array = numeric.to_numpy()
    yield "array", array
    yield "array objects", good.to_numpy(dtype=object)
    yield "array texts", good.astype(str).to_numpy().astype("U")
    yield "array bytes", good.astype(str).to_numpy().astype("U").astype("S")
    yield "array complex", array + 1j
    yield "array nan", np.where(array == 1, np.nan, array.astype(float))
    yield "array inf", np.where(array == 1, np.inf, array.astype(float))
    yield "array 1d", array[:, 0]
    yield "array 3d", array[None]
    yield "array 0d", np.array(3)
    yield "array empty", array[:0]
    yield "array no columns", array[:, :0]
    yield "array records", numeric.to_records(index=False)
    yield "array masked", np.ma.masked_equal(array, 1)
    yield "array matrix", np.matrix(array)
    yield "array dates", array.astype("M8[D]")
    yield (
        "array StringDType",
        good.astype(str).to_numpy().astype("U").astype(np.dtypes.StringDType()),
    )
    yield "list", array.tolist()
    yield "list ragged", [[0, 1], [1], *array.tolist()[2:]]
    yield "list objects", [[object()] * 3] * n
    yield "list of dicts", good.to_dict("records")
    yield "list of one list", [[0, 1, [2]]] * n
    yield "dict", good.to_dict("list")
    yield "series", good["a"]
    yield "None", None
    yield "text", "table.csv"
    yield "int", 3
    yield "generator", (row for row in array)
    yield "type", pd.DataFrame
    yield "index", pd.Index(range(n))
    import scipy.sparse

    for made in (
        scipy.sparse.csr_matrix(array),
        scipy.sparse.coo_array(array),
        scipy.sparse.dok_matrix(array),
    ):
        yield f"scipy {type(made).__name__}", made


def odd_labels(good, rng):
    """(name, labels)."""
    n = len(good)
    for name, values in odd_columns(n, rng):
        if name == "category intervals":
            continue
        yield f"array {name}", values
        series = pd.Series(values, dtype=object if values.dtype == object else None)
        yield f"series {name}", series
        yield f"frame {name}", series.to_frame("label")
        if isinstance(values, np.ndarray):
            yield f"list {name}", list(values)
    text = np.array(good, dtype=object)
    yield "short", good[:-1]
    yield "empty", []
    yield "two columns", np.array([good, good]).T
    yield "one class", ["yes"] * n
    yield "one case", ["yes", *["no"] * (n - 1)]
    yield "all different", [f"c{at}" for at in range(n)]
    yield "None", None
    yield "int", 1
    yield "text", "yes"
    yield "dict", {at: label for at, label in enumerate(good)}
    yield "set", set(good)
    yield "generator", (label for label in good)
    yield "series index", pd.Series(good, index=[0] * n)
    yield "series NA", pd.Series(good, dtype="string").where(np.arange(n) > 0)
    yield "some None", [None, *good[1:]]
    yield "some NA", [pd.NA, *good[1:]]
    yield "some nan", [float("nan"), *good[1:]]
    yield "some number", [1, *good[1:]]
    yield "some True", [True, *good[1:]]
    yield "ragged", [["yes"], ["no", "no"], *good[2:]]
    yield "StringDType", text.astype("U").astype(np.dtypes.StringDType())
    yield (
        "StringDType NA",
        np.array(["a", None] * (n // 2), dtype=np.dtypes.StringDType(na_object=None)),
    )
    yield "masked", np.ma.array(text, mask=np.arange(n) == 0)
    yield "named as column", pd.Series(good, name="a")
    yield "named tuple", pd.Series(good, name=("a", 1))
    yield "named bytes", pd.Series(good, name=b"a")
    yield "category", pd.Categorical(good)
    yield "category unused", pd.Categorical(good, ["no", "yes", "maybe"])
    import scipy.sparse

    yield "sparse", scipy.sparse.csr_matrix(np.arange(n) % 2)


def _entries():
    """{name: (kind of the good table, needs labels, function of X and y)}."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    from bnmtl import (
        HillClimbing,
        IdenticalLearner,
        MultitaskLearner,
        SingleTaskLearner,
        active,
        calibration,
        classification,
        decorate,
        ensembles,
        metrics,
        plotting,
        relatedness,
        tasks,
        trees,
        validation,
    )
    from bnmtl.ensembles import blending

    quick = HillClimbing(restarts=0)
    single = SingleTaskLearner(search=quick, random_state=0)
    many = MultitaskLearner(search=quick, random_state=0)
    found = {}

    def classifier(name, make, kind, predicts=True):
        found[f"{name}.fit.predict"] = (
            kind,
            True,
            lambda X, y, good: make().fit(X, y).predict_proba(X),
        )
        fitted = []

        def predict(X, y, good):
            if not fitted:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fitted.append(make().fit(good, good_labels(good)))
            fitted[0].predict_proba(X)

        found[f"{name}.predict_proba"] = kind, False, predict

        def score(X, y, good):
            predict(good, y, good)
            fitted[0].score(good, y)

        found[f"{name}.score"] = kind, "only", score

    classifier(
        "BayesNetClassifier", lambda: classification.BayesNetClassifier(learner=single), "mixed"
    )
    classifier(
        "BayesNetClassifier.ignore",
        lambda: classification.BayesNetClassifier(learner=single, unseen="ignore"),
        "mixed",
    )
    classifier(
        "MultiNetClassifier", lambda: classification.MultiNetClassifier(learner=many), "mixed"
    )
    classifier(
        "MultitaskBayesNetClassifier",
        lambda: classification.MultitaskBayesNetClassifier(learner=many),
        "mixed",
    )
    classifier(
        "MultitaskBayesNetClassifier.task",
        lambda: classification.MultitaskBayesNetClassifier(learner=many, task_column="c"),
        "mixed",
    )
    classifier("ProbabilityTree", lambda: trees.ProbabilityTree(random_state=0), "numbers")
    classifier("BaggedPETs", lambda: trees.BaggedPETs(2, random_state=0), "numbers")
    classifier("EnhancedBaggedPETs", lambda: trees.EnhancedBaggedPETs(2, random_state=0), "numbers")
    classifier("MOBESP", lambda: trees.MOBESP(2, random_state=0), "numbers")
    classifier(
        "DecorateClassifier",
        lambda: decorate.DecorateClassifier(n_estimators=2, max_iterations=2, random_state=0),
        "mixed",
    )
    classifier(
        "DecorateClassifier.network",
        lambda: decorate.DecorateClassifier(
            n_estimators=2, max_iterations=2, generator="network", random_state=0
        ),
        "mixed",
    )
    classifier(
        "DecorateClassifier.task",
        lambda: decorate.DecorateClassifier(
            n_estimators=2, max_iterations=2, task_column="c", random_state=0
        ),
        "mixed",
    )
    for name in ("BaggingCommittee", "TreeCommittee", "BoostingCommittee"):
        classifier(
            name, lambda name=name: getattr(active, name)(n_estimators=2, random_state=0), "mixed"
        )
    classifier(
        "SingleClassifier",
        lambda: active.SingleClassifier(DecisionTreeClassifier(), random_state=0),
        "mixed",
    )
    classifier(
        "AdaBoostM1",
        lambda: calibration.AdaBoostM1(DecisionTreeClassifier(max_depth=1), 2, random_state=0),
        "numbers",
    )
    classifier(
        "CalibratedClassifier",
        lambda: calibration.CalibratedClassifier(GaussianNB(), cv=2),
        "numbers",
    )
    classifier(
        "CalibratedClassifier.bn",
        lambda: calibration.CalibratedClassifier(
            classification.BayesNetClassifier(learner=single, unseen="ignore"),
            cv=2,
            method="sigmoid",
        ),
        "mixed",
    )
    classifier(
        "CalibratedClassifier.task",
        lambda: calibration.CalibratedClassifier(
            GaussianNB(), cv=2, method="sigmoid", task_column="c"
        ),
        "numbers",
    )
    estimators = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
    classifier("Stacking", lambda: ensembles.Stacking(estimators, cv=2), "numbers")
    found["blending"] = (
        "numbers",
        True,
        lambda X, y, good: blending(estimators, X, y, share=0.4, random_state=0),
    )

    found["encode"] = "mixed", False, lambda X, y, good: tasks.encode(X)
    found["encode.drop"] = (
        "mixed",
        False,
        lambda X, y, good: tasks.encode({"one": X, "two": good}, missing="drop"),
    )
    found["encode.state"] = (
        "mixed",
        False,
        lambda X, y, good: tasks.encode({"one": X, "two": good}, missing="state"),
    )
    found["split"] = "mixed", False, lambda X, y, good: tasks.split(X, "b")
    found["discretize"] = (
        "numbers",
        False,
        lambda X, y, good: tasks.discretize({"one": X, "two": good}, bins=2),
    )
    found["SingleTaskLearner"] = (
        "mixed",
        False,
        lambda X, y, good: single.__class__(search=quick).fit(X),
    )
    found["MultitaskLearner"] = (
        "mixed",
        False,
        lambda X, y, good: MultitaskLearner(search=quick).fit({"one": X, "two": good}),
    )
    found["IdenticalLearner"] = (
        "mixed",
        False,
        lambda X, y, good: IdenticalLearner(search=quick).fit([X, good]),
    )
    found["relatedness.evidence"] = (
        "mixed",
        False,
        lambda X, y, good: relatedness.evidence({"one": X, "two": good}, many),
    )
    net = []

    def network(good):
        if not net:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                net.append(SingleTaskLearner(search=quick).fit(good).networks_["task1"])
        return net[0]

    found["BayesNet.log_likelihood"] = (
        "mixed",
        False,
        lambda X, y, good: network(good).log_likelihood(X),
    )
    found["BayesNet.fit"] = (
        "mixed",
        False,
        lambda X, y, good: network(good).fit(network(good).graph, X),
    )
    found["BayesNet.predict"] = (
        "mixed",
        False,
        lambda X, y, good: network(good).predict_proba(X, "a"),
    )
    found["metrics.mean_log_likelihood"] = (
        "mixed",
        False,
        lambda X, y, good: metrics.mean_log_likelihood(network(good), X),
    )
    found["metrics.kl_divergence"] = (
        "mixed",
        False,
        lambda X, y, good: metrics.kl_divergence(network(good), network(good), X),
    )
    found["NetworkSampler"] = (
        "mixed",
        False,
        lambda X, y, good: classification.NetworkSampler(single).fit(X).sample(3, 0),
    )
    found["NetworkImputer"] = (
        "mixed",
        False,
        lambda X, y, good: (
            classification.NetworkImputer(SingleTaskLearner(search=quick, missing="drop"))
            .fit(X)
            .transform(X)
        ),
    )
    found["NetworkImputer.y"] = (
        "mixed",
        True,
        lambda X, y, good: (
            classification.NetworkImputer(SingleTaskLearner(search=quick, missing="drop"))
            .fit(X, y)
            .transform(X, y)
        ),
    )
    imputers = []

    def transform(X, y, good):
        if not imputers:
            imputers.append(
                classification.NetworkImputer(SingleTaskLearner(search=quick, missing="drop")).fit(
                    good
                )
            )
        imputers[0].transform(X)

    found["NetworkImputer.transform"] = "mixed", False, transform
    found["MarginalSampler"] = (
        "mixed",
        False,
        lambda X, y, good: ensembles.MarginalSampler().fit(X).sample(3, 0),
    )
    found["NaiveBayesSampler"] = (
        "mixed",
        True,
        lambda X, y, good: ensembles.NaiveBayesSampler().fit(X, y).sample(3, 0),
    )
    found["Munge"] = "mixed", False, lambda X, y, good: ensembles.Munge(1).fit(X).sample(3, 0)

    def mimic(X, y, good):
        teacher = DecisionTreeClassifier(random_state=0).fit(good, good_labels(good))
        ensembles.Mimic(teacher, DecisionTreeClassifier(), sizes=(20,), random_state=0).fit(X, y)

    found["Mimic"] = "numbers", True, mimic

    def gaps(y):
        try:
            made = pd.Series(list(y), dtype=object)
            made[3:8] = None
            return made
        except TypeError:
            return y

    for name in (
        "RandomQuery",
        "MarginSampling",
        "QueryByBagging",
        "QueryByBoosting",
        "ActiveDecorate",
        "ActiveDecorateJS",
        "BootstrapJS",
        "BootstrapLV",
        "BootstrapLVExt",
    ):

        def query(X, y, good, name=name):
            made = getattr(active, name)(random_state=0)
            if hasattr(made, "n_estimators"):
                made.set_params(n_estimators=2)
            if hasattr(made, "estimator") and name in ("MarginSampling",):
                made.set_params(estimator=DecisionTreeClassifier())
            made.query(X, gaps(y))

        found[f"{name}.query"] = "mixed", True, query

    def tasks_query(X, y, good):
        active.MultitaskQuery(n_members=2, random_state=0).query(
            X, gaps(y), ["s", "t"] * (len(good) // 2)
        )

    found["MultitaskQuery"] = "mixed", True, tasks_query

    def acquire(make, method="acquire"):
        def acquired(X, y, good):
            observed = np.ones((N, 3), dtype=bool)
            observed[:6, 1] = False
            getattr(make(), method)(X, y, observed, batch_size=1)

        return acquired

    found["RandomAcquisition"] = (
        "mixed",
        True,
        acquire(lambda: active.RandomAcquisition(random_state=0)),
    )
    found["ErrorSampling"] = "mixed", True, acquire(lambda: active.ErrorSampling(random_state=0))
    found["GODA"] = (
        "mixed",
        True,
        acquire(lambda: active.GODA(n_imputations=1, n_candidates=1, random_state=0)),
    )
    found["ExpectedUtility"] = (
        "mixed",
        True,
        acquire(
            lambda: active.ExpectedUtility(n_candidates=1, n_values=1, random_state=0),
            "acquire_cells",
        ),
    )
    found["predict_rounds"] = (
        "numbers",
        True,
        lambda X, y, good: validation.predict_rounds(GaussianNB(), X, y, rounds=2, random_state=0),
    )
    found["predict_rounds.test"] = (
        "numbers",
        True,
        lambda X, y, good: validation.predict_rounds(
            GaussianNB(), good, good_labels(good), rounds=2, random_state=0, X_test=X, y_test=y
        ),
    )
    found["diversity"] = (
        "numbers",
        False,
        lambda X, y, good: decorate.diversity(
            decorate.DecorateClassifier(n_estimators=2, random_state=0).fit(
                good, good_labels(good)
            ),
            X,
        ),
    )
    found["forest_bound"] = (
        "numbers",
        True,
        lambda X, y, good: validation.forest_bound(
            trees.BaggedPETs(2, random_state=0).fit(good, good_labels(good)), X, y
        ),
    )
    p = np.tile([0.4, 0.6], (N, 1))
    for name in ("accuracy", "squared_error", "cross_entropy", "roc_area", "calibration_error"):
        if hasattr(metrics.prediction, name):
            found[f"metrics.{name}"] = (
                "numbers",
                "only",
                lambda X, y, good, name=name: getattr(metrics.prediction, name)(y, p[:, 1]),
            )
            found[f"metrics.{name}.p"] = (
                "numbers",
                False,
                lambda X, y, good, name=name: getattr(metrics.prediction, name)(good["a"], X),
            )
    found["reliability"] = "numbers", "only", lambda X, y, good: calibration.reliability(y, p[:, 1])
    found["plotting.reliability"] = (
        "numbers",
        "only",
        lambda X, y, good: plotting.reliability(y, p[:, 1]),
    )
    found["PredictionStore"] = (
        "numbers",
        "only",
        lambda X, y, good: ensembles.PredictionStore([p, p], y),
    )
    found["PredictionStore.p"] = (
        "numbers",
        False,
        lambda X, y, good: ensembles.PredictionStore(X, good["a"]),
    )
    scores = np.linspace(0.1, 0.9, N)
    for name in (
        "PlattCalibrator",
        "MultitaskPlattCalibrator",
        "BetaCalibrator",
        "IsotonicCalibrator",
        "TemperatureCalibrator",
        "AutoCalibrator",
    ):
        more = {"task": ["s", "t"] * (N // 2)} if name.startswith("Multitask") else {}
        found[f"{name}.y"] = (
            "numbers",
            "only",
            lambda X, y, good, name=name, more=more: getattr(calibration, name)().fit(
                scores, y, **more
            ),
        )
        found[f"{name}.scores"] = (
            "numbers",
            False,
            lambda X, y, good, name=name, more=more: getattr(calibration, name)().fit(
                X, good["a"], **more
            ),
        )
    return found


def cases(seed, part, n_parts):
    """Every n_parts-th case, from one of them on."""
    return itertools.islice(_all_cases(seed), part, None, n_parts)


def _all_cases(seed):
    for entry, (kind, needs, call) in _entries().items():
        rng = np.random.default_rng(seed)
        good = base(kind, rng)
        labels = good_labels(good)
        if needs != "only":
            for name, X in odd_tables(good, rng):

                def of_table(call=call, X=X, good=good, labels=labels):
                    call(X, labels, good)

                yield Case(f"{entry}, X: {name}", of_table)
        if needs:
            for name, y in odd_labels(labels, rng):

                def of_labels(call=call, y=y, good=good):
                    call(good, y, good)

                yield Case(f"{entry}, y: {name}", of_labels)
