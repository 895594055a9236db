"""Classifiers of several tasks: each task is predicted by its own network."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from small import PLAIN

from bnmtl import BayesNet, MultitaskLearner, Orders, PairedPrior, SingleTaskLearner, structures
from bnmtl.classification import BayesNetClassifier, MultitaskBayesNetClassifier
from bnmtl.learners import base

pytestmark = pytest.mark.beside_kernels

ROWS = structures.load("asia").sample(400, random_state=0)
# Classes are sorted, as scikit-learn has them; the network of the file says "yes" first.
ROWS["bronc"] = ROWS["bronc"].cat.reorder_categories(["no", "yes"])
QUICK = SingleTaskLearner(
    search=Orders(starts=1, iterations=5), parameter_sample_size=1, random_state=0, **PLAIN
)
TOGETHER = MultitaskLearner(
    PairedPrior(0.9), search=Orders(starts=1, iterations=5), random_state=0, table_sharing=None
)
CLINICS = {name: ROWS.sample(200, random_state=at) for at, name in enumerate("abc")}


def test_each_task_is_predicted_from_its_network():
    classifier = MultitaskBayesNetClassifier("bronc", TOGETHER).fit(CLINICS)
    learner = clone(TOGETHER).fit(CLINICS)
    assert classifier.networks_ == learner.networks_
    for name, network in learner.networks_.items():
        expected = network.predict_proba(ROWS, "bronc")
        assert (classifier.predict_proba(ROWS, name) == expected.to_numpy()).all()
        assert (classifier.classifiers_[name].predict(ROWS) == classifier.predict(ROWS, name)).all()
    names = np.array(list("bca") * 20)
    found = classifier.predict_proba(ROWS[:60], names)
    for name in "abc":
        expected = classifier.predict_proba(ROWS[:60], name)[names == name]
        assert (found[names == name] == expected).all()


def test_by_default_tasks_share_their_tables(monkeypatch):
    # Equally good graphs are the same in both fits.
    monkeypatch.setattr(base, "seed_of", lambda random_state: 0)
    classifier = MultitaskBayesNetClassifier("bronc").fit(CLINICS)
    assert classifier.networks_ == MultitaskLearner().fit(CLINICS).networks_
    assert not classifier.learner_.borrowed_.empty


def test_networks_of_tasks_that_are_there_already():
    fitted = MultitaskBayesNetClassifier("bronc", QUICK).fit(CLINICS)
    classifier = MultitaskBayesNetClassifier.from_networks(fitted.networks_, "bronc")
    names = np.array(list("bca") * 20)
    expected = fitted.predict_proba(ROWS[:60], names)
    assert (classifier.predict_proba(ROWS[:60], names) == expected).all()
    right = fitted.predict(ROWS[:60], names) == ROWS["bronc"][:60]
    assert classifier.score(ROWS[:60], names) == right.mean() == fitted.score(ROWS[:60], names)
    with pytest.raises(ValueError, match="`frame`: column `bronc` contains NaN"):
        classifier.score(ROWS.assign(bronc=None), "a")
    with pytest.raises(ValueError, match="`target` must be a column, .* got 'bronc'"):
        classifier.score(ROWS.drop(columns="bronc"), "a")
    with pytest.raises(TypeError, match="`networks` must map the names of tasks to networks"):
        MultitaskBayesNetClassifier.from_networks(list(fitted.networks_.values()), "bronc")
    with pytest.raises(ValueError, match="`networks` must hold one network at least"):
        MultitaskBayesNetClassifier.from_networks({}, "bronc")
    twice = {1: fitted.networks_["a"], "1": fitted.networks_["b"]}
    with pytest.raises(ValueError, match="different names, also when written as text, got `1`, `1"):
        MultitaskBayesNetClassifier.from_networks(twice, "bronc")
    with pytest.raises(TypeError, match="Task `b`: `networks` must be BayesNets, got int"):
        MultitaskBayesNetClassifier.from_networks({**fitted.networks_, "b": 3}, "bronc")
    with pytest.raises(ValueError, match=r"`target` must be one of .* got \['bronc'\]"):
        MultitaskBayesNetClassifier.from_networks(fitted.networks_, ["bronc"])
    with pytest.raises(ValueError, match="`frame` must have rows to judge"):
        fitted.score(ROWS[:0], "a")
    poor = {**fitted.networks_, "b": fit_without_arcs(ROWS[["smoke", "dysp"]])}
    with pytest.raises(ValueError, match="every task; task `b` has no `bronc`: leave"):
        MultitaskBayesNetClassifier.from_networks(poor, "bronc")
    with pytest.raises(ValueError, match="`target` must be one of variables `asia`, .* got 'wren'"):
        MultitaskBayesNetClassifier.from_networks(fitted.networks_, "wren")


@pytest.mark.parametrize("kind", [int, float, str, bool, "Int64", "boolean", "string", "category"])
def test_targets_of_any_type_are_judged(kind):
    numbers = ROWS.assign(bronc=(ROWS["bronc"] == "yes").astype(int).astype(kind))
    tasks = {"a": numbers[:200], "b": numbers[200:]}
    fitted = MultitaskBayesNetClassifier("bronc", QUICK).fit(tasks)
    read = MultitaskBayesNetClassifier.from_networks(fitted.networks_, "bronc")
    right = (fitted.predict(numbers, "a") == numbers["bronc"].to_numpy()).mean()
    assert read.score(numbers, "a") == fitted.score(numbers, "a") == right > 0.7
    states = np.array(fitted.classifiers_["a"].states_)[(ROWS["bronc"] == "yes").astype(int)]
    strange = numbers.assign(bronc=np.where(ROWS.index % 2, states, "new"))
    half = (fitted.predict(numbers, "a") == numbers["bronc"].to_numpy())[1::2].sum() / 400
    assert read.score(strange, "a") == half


def test_a_state_that_a_network_lacks_has_no_probability_in_its_task():
    rows = {
        "east": pd.DataFrame({"birds": list("fmfmfm"), "wood": list("nynyyy")}),
        "west": pd.DataFrame({"birds": list("fsfsss"), "wood": list("nynyyn")}),
    }
    networks = {name: fit_without_arcs(frame) for name, frame in rows.items()}
    classifier = MultitaskBayesNetClassifier.from_networks(networks, "birds")
    assert classifier.classes_.tolist() == ["f", "m", "s"]
    for name, lacking in (("east", 2), ("west", 1)):
        p = classifier.predict_proba(rows[name], name)
        expected = networks[name].predict_proba(rows[name], "birds")
        assert (p[:, lacking] == 0).all()
        assert (np.delete(p, lacking, axis=1) == expected.to_numpy()).all()


def fit_without_arcs(rows):
    graph = nx.DiGraph()
    graph.add_nodes_from(rows)
    return BayesNet.fit(graph, rows)


def test_one_task_is_a_single_network():
    classifier = MultitaskBayesNetClassifier("bronc", QUICK).fit(ROWS)
    single = BayesNetClassifier("bronc", QUICK).fit(ROWS)
    found = classifier.predict_proba(ROWS, "task1")
    assert (found == single.predict_proba(ROWS)).all()
    assert classifier.classes_.tolist() == single.classes_.tolist()


def test_tasks_share_their_classes():
    tasks = {
        "east": pd.DataFrame({"birds": [0, 1, 0, 1], "wood": [0, 1, 0, 1]}),
        "west": pd.DataFrame({"birds": [0, 3, 0, 3], "wood": [0, 1, 1, 1], "sea": [0, 1, 0, 1]}),
    }
    classifier = MultitaskBayesNetClassifier("birds", TOGETHER).fit(tasks)
    assert classifier.classes_.tolist() == [0, 1, 3]
    assert classifier.predict_proba(tasks["east"], "east").shape == (4, 3)
    assert classifier.predict(tasks["west"], "west").dtype == int
    assert classifier.classifiers_["west"].classes_.tolist() == [0, 1, 3]
    with pytest.raises(
        ValueError, match="Task `west`: `target` must be a column, one of `wood`, got"
    ):
        MultitaskBayesNetClassifier("birds").fit({**tasks, "west": tasks["west"][["wood"]]})
    tasks["west"] = tasks["west"].assign(birds=[0, None, 1, 1])
    with pytest.raises(ValueError, match="Task `west`: column `birds` contains NaN .* 1 row"):
        MultitaskBayesNetClassifier("birds").fit(tasks)


def test_tasks_that_are_new_are_refused():
    classifier = MultitaskBayesNetClassifier("bronc", QUICK)
    with pytest.raises(NotFittedError):
        classifier.predict(ROWS, "a")
    classifier.fit(CLINICS)
    with pytest.raises(ValueError, match="`task` must be one of tasks `a`, `b`, `c`, got 'd'"):
        classifier.predict(ROWS, "d")
    with pytest.raises(ValueError, match=r"one for each row, 400; its shape is \(2,\)"):
        classifier.predict(ROWS, ["a", "b"])
    with pytest.raises(TypeError, match="must be a pandas DataFrame"):
        classifier.predict(ROWS.to_numpy(), "a")


def test_tasks_with_numbers_for_names_and_columns_in_their_order():
    tasks = {1: ROWS[:200][sorted(ROWS, reverse=True)], 2: ROWS[200:]}
    classifier = MultitaskBayesNetClassifier("bronc", QUICK).fit(tasks)
    expected = classifier.predict_proba(ROWS, "1")
    assert (classifier.predict_proba(ROWS, 1) == expected).all()
    features = tasks[1].drop(columns="bronc")
    of_first = classifier.classifiers_["1"]
    assert of_first.feature_names_in_.tolist() == list(features)
    with pytest.warns(UserWarning, match="valid feature names"):
        found = of_first.predict_proba(features.to_numpy())
    assert (found == classifier.predict_proba(features, 1)).all()


def test_tasks_that_cannot_be_predicted_are_named_before_learning():
    with pytest.raises(ValueError, match="Task `b` must have a column besides `bronc`"):
        MultitaskBayesNetClassifier("bronc", QUICK).fit({"a": ROWS, "b": ROWS[["bronc"]]})
    with pytest.raises(ValueError, match="`target` must be the column to predict"):
        MultitaskBayesNetClassifier(None, QUICK).fit(CLINICS)
    gaps = {"a": ROWS, "b": ROWS.assign(smoke=None)}
    with pytest.raises(
        ValueError, match="Task `b`: column `smoke` contains NaN .* `learner` with `mis"
    ):
        MultitaskBayesNetClassifier("bronc", QUICK).fit(gaps)
    mixed = {"a": ROWS, "b": ROWS.assign(bronc=np.arange(400) % 2 == 0)}
    with pytest.raises(TypeError, match="Column `bronc` must hold labels of one type"):
        MultitaskBayesNetClassifier("bronc", QUICK).fit(mixed)


def numeric_clinics():
    """Two tasks with numbers of different sizes."""
    rng = np.random.default_rng(0)
    tasks = {}
    for name, shift in (("a", 0), ("b", 2)):
        y = np.repeat([0, 1], 50)
        frame = pd.DataFrame({"age": 40 + shift + 9 * y + rng.integers(0, 20, 100), "ill": y})
        tasks[name] = frame.assign(dose=frame["age"] / 7 + rng.random(100))
    return tasks


def test_tasks_share_the_bins_of_numbers():
    tasks = numeric_clinics()
    classifier = MultitaskBayesNetClassifier("ill", QUICK, bins=3).fit(tasks)
    binned = classifier.edges_.apply(tasks)
    assert list(classifier.edges_) == ["age", "dose"]
    together = pd.concat(tasks.values())["dose"]
    assert classifier.edges_["dose"] == pytest.approx(np.quantile(together, [1 / 3, 2 / 3]), 0.05)
    as_states = MultitaskBayesNetClassifier("ill", QUICK).fit(binned)
    for name, rows in tasks.items():
        expected = as_states.predict_proba(binned[name], name)
        assert (classifier.predict_proba(rows, name) == expected).all()
        gaps = rows.assign(dose=None)
        expected = as_states.predict_proba(binned[name].assign(dose=None), name)
        assert (classifier.predict_proba(gaps, name) == expected).all()
    read = MultitaskBayesNetClassifier.from_networks(
        classifier.networks_, "ill", edges=classifier.edges_
    )
    assert (read.predict_proba(tasks["a"], "a") == classifier.predict_proba(tasks["a"], "a")).all()


def test_a_row_of_a_task_with_the_weight_two_occurs_twice():
    tasks, weights = numeric_clinics(), {"a": np.arange(100) % 3, "b": np.ones(100)}
    classifier = MultitaskBayesNetClassifier("ill", QUICK)
    repeated = {
        name: rows.iloc[np.repeat(range(100), weights[name].astype(int))]
        for name, rows in tasks.items()
    }
    expected = clone(classifier).fit(repeated).networks_
    assert clone(classifier).fit(tasks, weights).networks_ == expected
    in_order = clone(classifier).fit(list(tasks.values()), list(weights.values()))
    assert list(in_order.networks_.values()) == list(expected.values())
    alone = clone(classifier).fit(tasks["a"], weights["a"]).networks_
    assert alone == clone(classifier).fit(repeated["a"]).networks_
    with pytest.raises(ValueError, match="`sample_weight` must hold weights for each task"):
        clone(classifier).fit(tasks, {"a": weights["a"]})
    with pytest.raises(ValueError, match="Task `b`: `sample_weight` must be whole numbers"):
        clone(classifier).fit(tasks, weights | {"b": np.full(100, 0.5)})
