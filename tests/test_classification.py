"""Networks as classifiers: the joint distribution enumerated, laws, and scikit-learn's checks."""

import itertools
import pickle
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from enumerated import conditional, evidence_probability
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimators_pickle, parametrize_with_checks
from small import PLAIN

from bnmtl import MultitaskLearner, Orders, PairedPrior, SingleTaskLearner, structures
from bnmtl.classification import (
    BayesNetClassifier,
    MultiNetClassifier,
)
from bnmtl.learners import PooledLearner
from bnmtl.networks import BayesNet
from bnmtl.networks.inference import markov_blanket
from bnmtl.tasks import discretize

pytestmark = pytest.mark.beside_kernels

ASIA = structures.load("asia")
ROWS = ASIA.sample(400, random_state=0)
# Classes are sorted, as scikit-learn has them; the network of the file says "yes" first.
ROWS["bronc"] = ROWS["bronc"].cat.reorder_categories(["no", "yes"])
QUICK = SingleTaskLearner(
    search=Orders(starts=1, iterations=5), parameter_sample_size=1, random_state=0, **PLAIN
)
TOGETHER = MultitaskLearner(
    PairedPrior(0.9),
    search=Orders(starts=1, iterations=5),
    parameter_sample_size=1,
    random_state=0,
    table_sharing=None,
    **PLAIN,
)


def with_gaps(frame, share=0.3, seed=0):
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share)


@pytest.mark.parametrize("target", ["bronc", "either", "xray", "asia"])
def test_probabilities_are_those_of_the_joint_distribution(target):
    classifier = BayesNetClassifier.from_network(ASIA, target)
    rows = with_gaps(ROWS[:25]).astype(object)
    rows = pd.concat([rows, ROWS[:10].astype(object)], ignore_index=True)
    found = classifier.predict_proba(rows)
    assert classifier.classes_.tolist() == ["no", "yes"] == sorted(ASIA.states[target])
    expected = [
        conditional(ASIA, target, row.drop(target, errors="ignore").dropna().to_dict())[::-1]
        for _, row in rows.iterrows()
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    best = classifier.classes_[np.argmax(expected, axis=1)]
    assert classifier.predict(rows).tolist() == best.tolist()
    with np.errstate(divide="ignore"):
        assert (classifier.predict_log_proba(rows) == np.log(found)).all()


def test_a_frame_with_its_target_is_the_same_as_features_and_labels():
    whole = BayesNetClassifier("bronc", QUICK).fit(ROWS)
    features, y = ROWS.drop(columns="bronc"), ROWS["bronc"]
    assert BayesNetClassifier(learner=QUICK).fit(features, y).network_ == whole.network_
    separate = BayesNetClassifier("bronc", QUICK).fit(features, y.to_numpy())
    assert separate.network_ == whole.network_ and separate.target_ == "bronc"
    assert (separate.predict_proba(features) == whole.predict_proba(ROWS)).all()
    unnamed = BayesNetClassifier(learner=QUICK).fit(features, y.to_list())
    assert unnamed.target_ == "target"


def test_the_network_is_the_learners():
    classifier = BayesNetClassifier("bronc", QUICK).fit(ROWS)
    network = clone(QUICK).fit(ROWS).networks_["task1"]
    assert classifier.network_ == network
    expected = network.predict_proba(with_gaps(ROWS), "bronc")
    assert (classifier.predict_proba(with_gaps(ROWS)) == expected.to_numpy()).all()
    assert classifier.classes_.tolist() == list(expected)
    assert set(classifier.blanket_) == markov_blanket(network.graph, "bronc")


@pytest.mark.parametrize(
    ("values", "classes", "states"),
    [
        ([10, 9, 10, 9], [9, 10], ("9", "10")),
        ([2.0, 1.0, 2.0, 1.0], [1.0, 2.0], ("1", "2")),
        ([True, False, True, False], [False, True], ("False", "True")),
        (["b", "a", "b", "a"], ["a", "b"], ("a", "b")),
        (pd.Categorical(["b", "c", "b", "c"], list("cba")), ["b", "c"], ("b", "c")),
    ],
)
def test_classes_are_the_values_of_the_target(values, classes, states):
    X = pd.DataFrame({"feature": [0, 1, 0, 1]})
    for kind in (BayesNetClassifier, MultiNetClassifier):
        classifier = kind(learner=QUICK).fit(X, values)
        assert classifier.classes_.tolist() == classes
        assert [type(label) for label in classifier.classes_.tolist()] == [type(c) for c in classes]
    assert tuple(classifier.networks_) == states
    classifier = BayesNetClassifier(learner=QUICK).fit(X, values)
    assert classifier.network_.states["target"] == states
    assert classifier.predict([[0], [1]]).tolist() == list(values)[:2]


def test_scorers_find_classes_in_their_order():
    classifier = BayesNetClassifier.from_network(ASIA, "bronc", classes=[True, False])
    rows = ROWS.assign(bronc=ROWS["bronc"] == "yes")
    assert classifier.classes_.tolist() == [False, True]
    assert get_scorer("roc_auc")(classifier, rows, rows["bronc"]) > 0.85
    assert classifier.score(rows, rows["bronc"]) > 0.8


def test_columns_of_arrays_are_in_the_order_of_given_features():
    features = [name for name in reversed(ASIA.variables) if name != "bronc"]
    classifier = BayesNetClassifier.from_network(ASIA, "bronc", features=features)
    assert classifier.feature_names_ == tuple(classifier.feature_names_in_) == tuple(features)
    rows = ROWS[features].to_numpy()
    assert (classifier.predict_proba(rows) == classifier.predict_proba(ROWS)).all()


def test_numbers_as_labels_of_columns_are_names():
    z = np.arange(200) % 2
    X = pd.DataFrame({0: z, 1: np.roll(z, 3) * (np.arange(200) % 3 == 0)})
    classifier = BayesNetClassifier(learner=QUICK).fit(X, z)
    assert classifier.score(X[[1, 0]].assign(other=1.5), z) == classifier.score(X, z) == 1


def test_the_target_is_named_like_y_whatever_its_name():
    X = pd.DataFrame({"x": [0, 1] * 20})
    for name in (0, 1, "y"):
        y = pd.Series([0, 1] * 20, name=name)
        assert BayesNetClassifier(learner=QUICK).fit(X, y).target_ == str(name)


@pytest.mark.parametrize("kind", ["boolean", "Int64", "string"])
def test_types_of_pandas_are_those_of_their_values(kind):
    X = pd.DataFrame({"x": [0, 1] * 20})
    y = pd.Series([False, True] * 20).astype(kind if kind != "string" else str).astype(kind)
    alone = BayesNetClassifier("y", QUICK).fit(X, y)
    within = BayesNetClassifier("y", QUICK).fit(X.assign(y=y))
    assert alone.network_ == within.network_
    assert alone.classes_.tolist() == within.classes_.tolist() == sorted(set(y.tolist()))


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_classes_may_be_intervals(kind):
    size = pd.Series(np.arange(400.0))
    parts = pd.cut(size + 300 * (ROWS["dysp"] == "yes").to_numpy(), 3)
    classifier = kind(learner=QUICK).fit(ROWS, parts)
    assert classifier.classes_.tolist() == list(parts.cat.categories)
    assert set(classifier.predict(ROWS)) <= set(parts)


def test_missing_values_in_a_list_are_not_texts():
    with pytest.raises(ValueError, match="contains NaN"):
        BayesNetClassifier(learner=QUICK).fit([["a", np.nan], ["b", "2"]] * 9, [0, 1] * 9)
    with pytest.raises(ValueError, match="`y` contains NaN .* 9 rows"):
        BayesNetClassifier(learner=QUICK).fit([["a"], ["b"]] * 9, ["u", np.nan] * 9)
    classifier = BayesNetClassifier(learner=QUICK).fit([["a", 1], ["b", 2]] * 9, [0, 1] * 9)
    rows = pd.DataFrame({"x0": ["a"], "x1": [None]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = classifier.predict_proba(rows.to_numpy())
    assert (classifier.predict_proba([["a", np.nan]]) == expected).all()


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_a_column_that_lacks_is_in_the_state_missing_where_there_is_one(kind):
    gaps = with_gaps(ROWS.drop(columns="bronc"), 0.2).assign(bronc=ROWS["bronc"])
    classifier = kind("bronc", clone(QUICK).set_params(missing="state")).fit(gaps)
    rows = ROWS[:9].drop(columns="smoke")
    with pytest.warns(UserWarning, match="has no column `smoke`"):
        found = classifier.predict_proba(rows)
    assert (found == classifier.predict_proba(rows.assign(smoke=None))).all()


def test_only_columns_of_the_blanket_are_looked_at():
    classifier = BayesNetClassifier("bronc", QUICK).fit(ROWS)
    rows = ROWS.astype(object).assign(xray=np.linspace(0, 1, len(ROWS)), tub="unheard of")
    assert (classifier.predict_proba(rows) == classifier.predict_proba(ROWS)).all()
    rows.loc[3, "dysp"] = None
    with pytest.raises(ValueError, match="column `tub` must hold states that the network knows"):
        classifier.predict_proba(rows.drop(columns="xray"))


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_labels_of_rows_and_columns_may_be_anything(kind):
    classifier = kind("bronc", QUICK).fit(ROWS)
    expected = classifier.predict_proba(ROWS[:9])
    for index in ([0] * 9, [None, np.nan] * 4 + [0], pd.MultiIndex.from_product([[1], range(9)])):
        again = ROWS[:9].set_axis(index)
        assert (classifier.predict_proba(again) == expected).all()
        gaps = again.astype(object).assign(dysp=None)
        assert len(classifier.predict_proba(gaps)) == 9
        assert classifier.score(again, again["bronc"]) == classifier.score(
            ROWS[:9], ROWS["bronc"][:9]
        )
    twice = ROWS.sample(400, replace=True, random_state=0)
    assert kind("bronc", QUICK).fit(twice).predict(twice).shape == (400,)
    names = pd.MultiIndex.from_product([["a"], ["smoke", "dysp"]])
    rows = ROWS[["smoke", "dysp"]].set_axis(names, axis=1)
    assert kind(learner=QUICK).fit(rows, ROWS["bronc"]).predict(rows).shape == (400,)


def test_columns_that_nothing_connects_with_the_target_are_never_looked_at():
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("d", "e")])
    tables = {v: [[0.8, 0.2], [0.3, 0.7]] if graph.in_degree(v) else [0.5, 0.5] for v in graph}
    network = BayesNet(graph, dict.fromkeys(graph, ("0", "1")), tables)
    classifier = BayesNetClassifier.from_network(network, "a")
    rows = pd.DataFrame({"b": [None, "0"], "c": ["1", "0"], "d": "unheard of", "e": 0.5})
    assert classifier.predict_proba(rows)[0, 1] == pytest.approx(0.55 / 0.85)
    assert (classifier.predict_proba(rows) == classifier.predict_proba(rows[["b", "c"]])).all()


def test_values_that_were_not_seen_are_named_or_treated_as_missing():
    rows = ROWS[:50].astype(object)
    strange, missing = rows.copy(), rows.copy()
    strange.loc[::3, "smoke"] = "sometimes"
    missing.loc[::3, "smoke"] = None
    for kind in (BayesNetClassifier, MultiNetClassifier):
        classifier = kind("bronc", QUICK).fit(ROWS)
        with pytest.raises(ValueError, match="column `smoke` .* got `sometimes`"):
            classifier.predict(strange)
        lenient = kind("bronc", QUICK, unseen="ignore").fit(ROWS)
        found = lenient.predict_proba(strange)
        assert (found == classifier.predict_proba(missing)).all()
        assert (found != classifier.predict_proba(rows)).any()


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_columns_are_found_by_name_and_arrays_go_by_position(kind):
    classifier = kind("bronc", QUICK).fit(ROWS)
    expected = classifier.predict_proba(ROWS)
    mixed = ROWS[sorted(ROWS, reverse=True)].assign(other=1.5)
    assert (classifier.predict_proba(mixed) == expected).all()
    array = ROWS.drop(columns="bronc").to_numpy()
    by_position = kind(learner=QUICK).fit(array, ROWS["bronc"])
    assert by_position.feature_names_ == tuple(f"x{at}" for at in range(7))
    assert by_position.predict_proba(array) == pytest.approx(expected)
    with pytest.raises(ValueError, match="X has 6 features, but .* expecting 7 features"):
        by_position.predict(array[:, 1:])


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_columns_that_are_not_there_are_missing_with_a_warning(kind):
    classifier = kind("bronc", QUICK).fit(ROWS)
    with pytest.warns(UserWarning, match="`X` has no column `smoke`; treated as missing"):
        found = classifier.predict_proba(ROWS.drop(columns="smoke")[:20])
    missing = ROWS[:20].assign(smoke=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (found == classifier.predict_proba(missing)).all()
        if kind is BayesNetClassifier:
            classifier.predict_proba(ROWS.drop(columns="xray"))
    with pytest.raises(ValueError, match="must have at least one of the columns"):
        classifier.predict_proba(pd.DataFrame({"smoking": ["yes"]}))


def test_missing_features_in_the_fit_go_by_the_learner():
    gaps = with_gaps(ROWS.drop(columns="bronc"), 0.05).assign(bronc=ROWS["bronc"])
    with pytest.raises(ValueError, match="`X`: column `.*` contains NaN .* `missing='state'`"):
        BayesNetClassifier("bronc", QUICK).fit(gaps)
    with pytest.warns(
        UserWarning, match="`X` has missing values in 129 of 400 rows; those are dropped"
    ):
        dropped = BayesNetClassifier("bronc", clone(QUICK).set_params(missing="drop")).fit(gaps)
    assert dropped.network_ == BayesNetClassifier("bronc", QUICK).fit(gaps.dropna()).network_
    as_state = BayesNetClassifier("bronc", clone(QUICK).set_params(missing="state")).fit(gaps)
    assert as_state.network_.states["smoke"][-1] == "missing"
    assert as_state.predict_proba(gaps).shape == (400, 2)


def test_classifiers_go_through_copies_and_cross_validation():
    classifier = BayesNetClassifier(learner=QUICK).fit(ROWS.drop(columns="bronc"), ROWS["bronc"])
    again = pickle.loads(pickle.dumps(classifier))
    assert (again.predict_proba(ROWS) == classifier.predict_proba(ROWS)).all()
    scores = cross_val_score(classifier, ROWS.drop(columns="bronc"), ROWS["bronc"], cv=3)
    assert scores.min() > 0.75


def test_a_multi_net_is_bayes_rule_over_its_networks():
    classifier = MultiNetClassifier("bronc", TOGETHER).fit(ROWS)
    parts = {name: part for name, part in ROWS.drop(columns="bronc").groupby(ROWS["bronc"])}
    networks = clone(TOGETHER).fit(parts).networks_
    assert classifier.networks_ == networks
    sizes = np.array([len(parts[name]) for name in ("no", "yes")])
    assert np.exp(classifier.class_log_prior_) == pytest.approx((sizes + 0.5) / 401)
    rows = pd.concat([with_gaps(ROWS[:15]), ROWS[:10]], ignore_index=True)
    likelihoods = np.empty((25, 2))
    for at, name in enumerate(("no", "yes")):
        for i, (_, row) in enumerate(rows.iterrows()):
            likelihoods[i, at] = evidence_probability(
                networks[name], row.drop("bronc").dropna().to_dict()
            )
    expected = likelihoods * (sizes + 0.5)
    found = classifier.predict_proba(rows)
    assert found == pytest.approx(expected / expected.sum(axis=1, keepdims=True))
    assert (classifier.predict_log_proba(rows) == np.log(found)).all()


def test_the_classes_of_a_multi_net_share_tables():
    """The default learner; classes have different tables, and still gain in rows."""
    rows = ROWS[["smoke", "lung", "dysp", "xray", "bronc"]]
    shared = MultiNetClassifier("bronc").fit(rows)
    learner = MultitaskLearner(random_state=0)
    parts = {name: part for name, part in rows.drop(columns="bronc").groupby(rows["bronc"])}
    assert shared.networks_ == learner.fit(parts).networks_
    assert not learner.borrowed_.empty


def test_a_multi_net_without_arcs_is_naive_bayes():
    features = [v for v in ASIA.variables if v != "bronc"]
    learner = clone(QUICK).set_params(forbidden=list(itertools.permutations(features, 2)))
    multi_net = MultiNetClassifier("bronc", learner).fit(ROWS).predict_proba(ROWS)
    star = nx.DiGraph([("bronc", v) for v in features])
    naive = BayesNet.fit(star, ROWS, equivalent_sample_size=2.0)
    expected = naive.predict_proba(ROWS, "bronc").to_numpy()
    # Each class has the sample size 1, the star halves its 2 over both; the prior of the classes
    # has 1 of the one and 2 of the other.
    sizes = ROWS["bronc"].value_counts()[list(naive.states["bronc"])].to_numpy()
    odds = (sizes + 0.5) / 401 / ((sizes + 1) / 402)
    expected = expected * odds
    assert multi_net == pytest.approx(expected / expected.sum(axis=1, keepdims=True))


def test_nets_at_penalty_zero_are_learned_separately():
    uncoupled = MultiNetClassifier("bronc", clone(TOGETHER).set_params(prior__penalty=0)).fit(ROWS)
    single = MultiNetClassifier("bronc", QUICK).fit(ROWS)
    assert uncoupled.predict_proba(ROWS) == pytest.approx(single.predict_proba(ROWS))


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_impossible_rows_are_named(kind):
    certain = clone(QUICK).set_params(parameter_sample_size=0, max_parents=1)
    frame = pd.DataFrame({"x": [0, 1] * 20, "y": [0, 1] * 20, "z": [0, 1] * 20})
    with warnings.catch_warnings():
        # Within a class of the multi-net, features are constant.
        warnings.simplefilter("ignore")
        classifier = kind("y", certain).fit(frame)
    rows = pd.DataFrame({"x": [0, 0], "z": [0, 1]}, index=["good", "bad"])
    learned = classifier.predict(rows[:1])
    assert learned.tolist() == [0]
    if kind is BayesNetClassifier:
        star = nx.DiGraph([("y", "x"), ("y", "z")])
        network = BayesNet.fit(star, frame, equivalent_sample_size=0)
        classifier = kind.from_network(network, "y")
    with pytest.raises(ValueError, match="`X` must hold evidence .* 1 of the rows, .* 'bad'"):
        classifier.predict(rows.astype(str))


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({"unseen": "drop"}, ROWS, "bronc", "`unseen` must be 'error' or 'ignore', got 'drop'"),
        ({"learner": ASIA}, ROWS, "bronc", "`learner` must be one of the learners"),
        ({"target": "bronk"}, ROWS, None, "`target` must be a column, .* got 'bronk'"),
        ({"target": "bronc"}, ROWS, ROWS["bronc"], "`X` must not hold the target"),
        ({"target": "bronc"}, ROWS.to_numpy(), None, "must be a pandas DataFrame with the column"),
        ({"target": "bronc"}, ROWS[["bronc"]], None, "minimum of 1 is required"),
        ({"target": "bronc"}, ROWS[:1], None, "`X` must have at least 2 rows"),
        ({}, ROWS, None, "requires y to be passed"),
        ({}, ROWS[["asia"]], ROWS["bronc"][:9], "one value for each row, 400 as in `X`, got 9"),
        ({}, ROWS[["asia"]], [1, "a"] * 200, "labels of one type"),
        ({}, ROWS[["asia"]], [None, "a"] * 200, "missing value in 200 rows"),
        ({}, ROWS[["asia"]], np.linspace(0, 1, 400), "(`y`|the target) is continuous"),
        ({}, ROWS[["asia"]].assign(x=[np.inf, *range(399)]), ROWS["bronc"], "`x` .* finite values"),
        ({"bins": 1}, ROWS[["asia"]], ROWS["bronc"], "`bins` must be .* from 2 to 256, got 1"),
    ],
)
def test_mistakes_are_one_sentence(kind, parameters, X, y, message):
    if isinstance(y, str):
        parameters, y = {"target": y, **parameters}, None
    y = np.array(y, dtype=object) if isinstance(y, list) else y
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        kind(**parameters).fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ROWS, "bronc"), "`network` must be a BayesNet, got DataFrame"),
        ((ASIA, "bronk"), "`target` must be one of variables"),
        ((ASIA, "bronc", "drop"), "`unseen` must be"),
        ((ASIA, ["bronc"]), "`target` must be one of variables"),
        ((ASIA, "bronc", "error", [0, 1, 2]), "one value for each state of `bronc`"),
        ((ASIA, "bronc", "error", [0, 0]), "all different, got \\[0, 0\\]"),
        ((ASIA, "bronc", "error", [0, None]), "`classes` contains NaN"),
        ((ASIA, "bronc", "error", None, ["dysp"]), "`features` must be the variables besides"),
        (
            (BayesNet(nx.empty_graph(["a"], nx.DiGraph), {"a": ["x"]}, {"a": [1]}), "a"),
            "variables besides the target",
        ),
    ],
)
def test_networks_that_cannot_classify_are_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BayesNetClassifier.from_network(*arguments)


def test_networks_of_all_classes_alike_are_refused():
    with pytest.raises(TypeError, match="must not be a PooledLearner"):
        MultiNetClassifier("bronc", PooledLearner()).fit(ROWS)


def test_constant_features_are_reported_once_and_those_of_a_class_not_at_all():
    rows = pd.DataFrame({"a": [0, 1] * 30, "b": [0, 0, 1] * 20, "z": 1, "y": ["n", "y"] * 30})
    for kind, learner in ((BayesNetClassifier, QUICK), (MultiNetClassifier, TOGETHER)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kind("y", learner).fit(rows)
        message = "`X` has only one state in column `z`; such columns are not informative."
        assert [str(warning.message) for warning in caught] == [message]


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_rows_with_gaps_are_dropped_where_the_learner_says_so(kind):
    dropping = clone(QUICK).set_params(missing="drop")
    rows = ROWS[["smoke", "dysp", "bronc"]].astype(object)
    rows.loc[:9, "smoke"] = None
    with pytest.warns(
        UserWarning, match="`X` has missing values in 10 of 400 rows; those are dropped"
    ):
        classifier = kind("bronc", dropping).fit(rows)
    assert sum(task.n_rows for task in classifier.learner_.tasks_.values()) == 390
    assert (
        classifier.predict_proba(rows) == kind("bronc", QUICK).fit(rows[10:]).predict_proba(rows)
    ).all()
    rows.loc[rows["bronc"] == "yes", "dysp"] = None
    with pytest.raises(ValueError, match="more of each class; it has 0 of class `yes`: drop"):
        kind("bronc", dropping).fit(rows)
    constant = ROWS.astype(object).where(ROWS["smoke"] == "yes").assign(bronc=ROWS["bronc"])
    with pytest.warns(UserWarning, match="`X` has only one state in column `smoke`;"):
        kind("bronc", dropping).fit(constant[["smoke", "dysp", "bronc"]])


def test_a_class_of_one_row_has_no_network():
    with pytest.raises(ValueError, match="every class twice or more, .* `rare` occurs once"):
        MultiNetClassifier().fit(ROWS, ["often"] * 399 + ["rare"])


FLOWERS = load_iris(as_frame=True).frame.rename(columns={"target": "kind"})
FLOWERS = FLOWERS.assign(size=np.arange(150) // 5, color=["red", "blue"] * 75)


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_numbers_have_bins_as_if_they_were_discretized_before(kind):
    """Also whole numbers of more than ten values; a classifier refused numbers with fractions."""
    y, numbers = FLOWERS["kind"], FLOWERS.drop(columns="kind")
    # Halves make `discretize` cut the column of whole numbers, too.
    binned, edges = discretize(numbers.assign(size=numbers["size"] + 0.5), 4, return_edges=True)
    classifier = kind(learner=QUICK, bins=4).fit(numbers, y)
    as_before = kind(learner=QUICK).fit(binned, y)
    assert classifier.predict_proba(numbers) == pytest.approx(as_before.predict_proba(binned))
    assert set(classifier.edges_) == set(edges) and "color" not in edges
    assert (classifier.edges_["size"] == edges["size"] - 0.5).all()
    for column in set(edges) - {"size"}:
        assert (classifier.edges_[column] == edges[column]).all()
    by_column = kind("kind", QUICK, bins=4).fit(FLOWERS)
    assert (by_column.predict_proba(FLOWERS) == classifier.predict_proba(numbers)).all()
    array = numbers.drop(columns="color").to_numpy()
    assert kind(learner=QUICK).fit(array, y).score(array, y) > 0.9
    assert kind(learner=QUICK).fit(array, y).predict([[99, -5, 0, 0, 1000]]).shape == (1,)


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_gaps_among_numbers_are_summed_out(kind):
    numbers, y = FLOWERS.iloc[:, :3], FLOWERS["kind"]
    classifier = kind(learner=QUICK, bins=3).fit(numbers, y)
    gaps = with_gaps(numbers, 0.5)
    binned = classifier.edges_.apply(numbers)
    on_states = kind(learner=QUICK).fit(binned, y)
    expected = on_states.predict_proba(with_gaps(binned, 0.5))
    assert classifier.predict_proba(gaps) == pytest.approx(expected)
    # A column without any number is a gap, whatever its type.
    empty = numbers[:9].assign(**{name: None for name in numbers})
    assert (classifier.predict_proba(empty) == classifier.predict_proba(empty)[0]).all()
    with pytest.raises(ValueError, match="contains NaN"):
        kind(learner=QUICK).fit(gaps, y)
    as_state = kind(learner=clone(QUICK).set_params(missing="state")).fit(gaps, y)
    assert as_state.predict_proba(gaps).shape == (150, 3)
    with pytest.warns(UserWarning, match="those are dropped"):
        kind(learner=clone(QUICK).set_params(missing="drop")).fit(with_gaps(numbers, 0.1), y)


@pytest.mark.parametrize("unseen", ["error", "ignore"])
@pytest.mark.parametrize(("value", "error"), [("much", TypeError), (np.inf, ValueError)])
def test_only_numbers_are_in_bins(unseen, value, error):
    numbers, y = FLOWERS.iloc[:, 2:4], FLOWERS["kind"]
    classifier = BayesNetClassifier(learner=QUICK, unseen=unseen).fit(numbers, y)
    strange = numbers.astype(object).copy()
    strange.iloc[7, 0] = value
    with pytest.raises(error, match=r"`X`: column `petal length \(cm\)` must hold finite numbers"):
        classifier.predict_proba(strange)


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_a_weight_of_two_is_a_row_that_occurs_twice(kind):
    numbers, y = FLOWERS.drop(columns="kind"), FLOWERS["kind"]
    weights = np.random.default_rng(0).integers(0, 4, 150)
    rows = np.repeat(np.arange(150), weights)
    expected = kind(learner=QUICK).fit(numbers.iloc[rows], y.iloc[rows])
    for given in (weights, weights.astype(float), weights.tolist(), pd.Series(weights, y.index)):
        found = kind(learner=QUICK).fit(numbers, y, sample_weight=given)
        assert (found.predict_proba(numbers) == expected.predict_proba(numbers)).all()
    whole = kind("kind", QUICK).fit(FLOWERS, sample_weight=weights)
    assert (whole.predict_proba(FLOWERS) == expected.predict_proba(numbers)).all()
    without = kind(learner=QUICK).fit(numbers, y, sample_weight=(y > 0).astype(int))
    assert without.classes_.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5] * 400, "must be whole numbers from 0 on, because .* two rows, got 0.5; leave it"),
        ([1, -1] * 200, "must be whole numbers from 0 on, .* got -1"),
        ([np.nan] * 400, "must be whole numbers from 0 on, .* got nan"),
        ([1] * 399, r"one whole number for each row, 400; its shape is \(399,\)"),
        ([0] * 400, "must not all be zero"),
        ([10**9] * 400, "must sum to at most 10,000,000, got 4e"),
        (["many"] * 400, "must be whole numbers, got list"),
    ],
)
def test_weights_that_no_row_can_have_are_refused(weights, message):
    with pytest.raises((TypeError, ValueError), match=f"`sample_weight` .*{message}") as caught:
        BayesNetClassifier("bronc", QUICK).fit(ROWS, sample_weight=weights)
    assert "\n" not in str(caught.value)


def test_numbers_and_gaps_go_through_pipelines_and_grids():
    numbers, y = FLOWERS.iloc[:, :4], FLOWERS["kind"]
    pipeline = make_pipeline(StandardScaler(), BayesNetClassifier(learner=QUICK))
    scores = cross_val_predict(pipeline, numbers, y, cv=3, method="predict_proba")
    assert (scores.argmax(axis=1) == y).mean() > 0.85
    grid = GridSearchCV(pipeline, {"bayesnetclassifier__bins": [2, 4]}, cv=2).fit(numbers, y)
    assert grid.best_params_["bayesnetclassifier__bins"] == 4
    assert grid.predict_proba(with_gaps(numbers)).shape == (150, 3)


def test_a_network_with_cut_points_takes_numbers():
    numbers, y = FLOWERS.iloc[:, 2:4], FLOWERS["kind"]
    fitted = BayesNetClassifier(learner=QUICK).fit(numbers, y)
    options = {"classes": [0, 1, 2], "edges": fitted.edges_}
    again = BayesNetClassifier.from_network(fitted.network_, "kind", **options)
    assert (again.predict_proba(numbers) == fitted.predict_proba(numbers)).all()
    with pytest.raises(TypeError, match="`edges` must be Edges, got dict"):
        BayesNetClassifier.from_network(fitted.network_, "kind", edges={})


def test_gaps_cost_a_network_less_than_models_of_filled_cells():
    """Half of the cells are missing in predictions; more tables are in benchmarks/predictions."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    train = np.random.default_rng(0).random(150) < 0.5
    gaps = with_gaps(X[~train], 0.5)
    losses = {}
    for model in (
        BayesNetClassifier(learner=QUICK),
        make_pipeline(SimpleImputer(), LogisticRegression(max_iter=500)),
        make_pipeline(SimpleImputer(), RandomForestClassifier(50, random_state=0)),
    ):
        p = model.fit(X[train], y[train]).predict_proba(gaps)
        losses[type(model).__name__ + str(len(losses))] = log_loss(y[~train], p)
    network, *others = losses.values()
    assert network < min(others), losses


# What scikit-learn asks of every classifier and networks do otherwise.
EXCEPTIONS = {
    "check_estimators_nan_inf": "missing features of a prediction are summed out, not refused"
}
# Its checks have classes of one row, which a network of their own cannot be learned from.
ONE_ROW = dict.fromkeys(
    [
        "check_dont_overwrite_parameters",
        "check_f_contiguous_array_estimator",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_dict_unchanged",
        "check_fit2d_predict1d",
    ],
    "a class of one row cannot have its own network",
)


def exceptions(classifier):
    return {**EXCEPTIONS, **(ONE_ROW if isinstance(classifier, MultiNetClassifier) else {})}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [BayesNetClassifier(learner=QUICK), MultiNetClassifier(learner=QUICK)],
    expected_failed_checks=exceptions,
)
def test_scikit_learn_finds_a_classifier(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
def test_a_learner_of_gaps_makes_a_classifier_that_allows_them():
    allowing = BayesNetClassifier(learner=clone(QUICK).set_params(missing="state"))
    assert get_tags(allowing).input_tags.allow_nan
    assert not get_tags(BayesNetClassifier()).input_tags.allow_nan
    check_estimators_pickle("BayesNetClassifier", allowing)  # with gaps in the fit


@pytest.mark.parametrize("kind", [BayesNetClassifier, MultiNetClassifier])
def test_the_seed_is_that_of_the_learner(kind):
    rows = ROWS[["bronc", "dysp"]][:100]
    assert kind("bronc").fit(rows).learner_.random_state is None
    assert kind("bronc", random_state=4).fit(rows).learner_.random_state == 4
    given = SingleTaskLearner(random_state=2)
    assert kind("bronc", given).fit(rows).learner_.random_state == 2
    assert kind("bronc", given, random_state=4).fit(rows).learner_.random_state == 4
    assert given.random_state == 2
