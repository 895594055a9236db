"""Classifiers of several tasks: a column names the task, which is predicted by its own network."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from small import PLAIN, arcs

from bnmtl import (
    BayesNet,
    BDeu,
    MultitaskLearner,
    MultitaskLearnerCV,
    Orders,
    PairedPrior,
    SingleTaskLearner,
    structures,
)
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
    PairedPrior(0.9),
    search=Orders(starts=1, iterations=5),
    random_state=0,
    table_sharing=None,
    task_groups=None,
)
CLINICS = {name: ROWS.sample(200, random_state=at) for at, name in enumerate("abc")}


def of(tasks):
    """The rows of all tasks as a table that names the task of each, and the labels."""
    parts = [frame.assign(clinic=name) for name, frame in tasks.items()]
    table = pd.concat(parts, ignore_index=True)
    return table.drop(columns="bronc"), table["bronc"]


X, Y = of(CLINICS)


def clinics(learner=QUICK, **options):
    return MultitaskBayesNetClassifier(task_column="clinic", learner=learner, **options)


def test_each_task_is_predicted_from_its_network():
    in_groups = clone(TOGETHER).set_params(task_groups="auto")
    classifier = clinics(in_groups).fit(X, Y)
    learner = clone(in_groups).fit(CLINICS)
    assert classifier.networks_ == learner.networks_
    assert arcs(classifier.configuration_) == arcs(learner.configuration_)
    assert classifier.task_groups_.equals(learner.task_groups_)
    for name, network in learner.networks_.items():
        expected = network.predict_proba(ROWS, "bronc")
        assert (classifier.predict_proba(ROWS.assign(clinic=name)) == expected.to_numpy()).all()
    found = classifier.predict_proba(X)
    for name in "abc":
        here = (X["clinic"] == name).to_numpy()
        assert (found[here] == classifier.predict_proba(X[here])).all()
    assert classifier.score(X, Y) == (classifier.predict(X) == Y).mean()


def test_by_default_tasks_share_their_tables(monkeypatch):
    # Equally good graphs are the same in both fits.
    monkeypatch.setattr(base, "seed_of", lambda random_state: 0)
    few = ["smoke", "lung", "dysp"]
    classifier = clinics(None).fit(X[[*few, "clinic"]], Y)
    tasks = {name: rows[[*few, "bronc"]] for name, rows in CLINICS.items()}
    assert classifier.networks_ == MultitaskLearner().fit(tasks).networks_
    assert classifier.borrowed_.equals(classifier.learner_.borrowed_)
    assert not classifier.borrowed_.empty


def test_the_order_of_rows_and_columns_does_not_matter():
    fitted = clinics(TOGETHER).fit(X, Y)
    order = np.random.default_rng(0).permutation(len(X))
    other = clinics(TOGETHER).fit(X.iloc[order][sorted(X, reverse=True)], Y.iloc[order])
    assert np.allclose(other.predict_proba(X), fitted.predict_proba(X))


def test_the_column_of_an_array_is_named_by_its_position():
    classifier = MultitaskBayesNetClassifier(task_column=7, learner=QUICK)
    assert list(X).index("clinic") == 7
    fitted = classifier.fit(X.to_numpy(dtype=object), Y.to_numpy(dtype=object))
    assert sorted(fitted.networks_) == ["a", "b", "c"]
    expected = clinics().fit(X, Y).predict_proba(X)
    assert np.allclose(fitted.predict_proba(X.to_numpy(dtype=object)), expected)
    for wrong in (8, -1, "clinic"):
        model = MultitaskBayesNetClassifier(task_column=wrong, learner=QUICK)
        with pytest.raises(ValueError, match="`task_column` must be from 0 to 7 for an array, got"):
            model.fit(X.to_numpy(dtype=object), Y)


def test_numbers_name_tasks_and_columns():
    table = X.assign(clinic=X["clinic"].map({"a": 1, "b": 2, "c": 3}))
    fitted = clinics().fit(table, Y)
    assert sorted(fitted.networks_) == ["1", "2", "3"]
    expected = fitted.predict_proba(table)
    assert (fitted.predict_proba(table.astype({"clinic": float})) == expected).all()
    assert (fitted.predict_proba(table.astype({"clinic": str})) == expected).all()
    numbered = table.set_axis(range(8), axis="columns")
    by_number = MultitaskBayesNetClassifier(task_column=7, learner=QUICK).fit(numbered, Y)
    assert np.allclose(by_number.predict_proba(numbered), expected)


def test_one_task_is_a_single_network():
    features = ROWS.drop(columns="bronc")
    classifier = MultitaskBayesNetClassifier(learner=QUICK).fit(features, ROWS["bronc"])
    single = BayesNetClassifier(learner=QUICK).fit(features, ROWS["bronc"])
    assert (classifier.predict_proba(features) == single.predict_proba(features)).all()
    assert classifier.classes_.tolist() == single.classes_.tolist()
    assert classifier.target_ == "bronc"


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [MultitaskBayesNetClassifier(learner=QUICK)],
    expected_failed_checks=lambda estimator: {
        "check_estimators_nan_inf": "missing features of a prediction are summed out, not refused"
    },
)
def test_it_is_a_classifier_of_scikit_learn(estimator, check):
    check(estimator)


def test_short_parameters_replace_those_of_the_learner():
    score = BDeu(3)
    fitted = clinics(TOGETHER, penalty=0.5, network_score=score, max_parents=1).fit(X, Y)
    learner = fitted.learner_
    assert (learner.prior.penalty, learner.max_parents) == (0.5, 1)
    assert learner.score.equivalent_sample_size == 3
    assert TOGETHER.prior.penalty == 0.9 and TOGETHER.max_parents is None
    chosen = clinics(MultitaskLearnerCV(search="hill-climbing"), penalty=0.25).fit(X, Y)
    assert type(chosen.learner_) is MultitaskLearner and chosen.learner_.prior.penalty == 0.25
    with pytest.raises(TypeError, match="`learner` must be a MultitaskLearner or"):
        clinics(QUICK, penalty=0.5).fit(X, Y)
    with pytest.raises(ValueError, match="`penalty` must be a number from 0 to 1, got 2"):
        clinics(TOGETHER, penalty=2).fit(X, Y)
    with pytest.raises(ValueError, match="`max_parents` must be"):
        clinics(TOGETHER, max_parents=-1).fit(X, Y)


def test_parameters_are_tuned_from_none_on():
    grid = {"penalty": [None, 0.5], "max_parents": [None, 1], "learner__random_state": [1]}
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    few = X[["smoke", "dysp", "clinic"]]
    search = GridSearchCV(clinics(TOGETHER), grid, cv=folds).fit(few, Y)
    assert set(search.best_params_) == set(grid)
    assert search.best_estimator_.learner_.random_state == 1
    assert search.score(few, Y) > 0.7
    plain = GridSearchCV(clinics(None, random_state=0), {"max_parents": [None, 1]}, cv=folds)
    few = X[["dysp", "clinic"]][:400]
    assert plain.fit(few, Y[:400]).score(few, Y[:400]) > 0.7


def test_a_task_that_was_left_out_is_predicted_by_the_mean_of_the_others():
    fitted = clinics(TOGETHER, unknown_task="average").fit(X[:350], Y[:350])  # 200 of a, 150 of b
    assert sorted(fitted.networks_) == ["a", "b"]
    rows = X[X["clinic"] == "c"]
    parts = [fitted.predict_proba(rows.assign(clinic=name)) for name in "ab"]
    assert np.allclose(fitted.predict_proba(rows), (200 * parts[0] + 150 * parts[1]) / 350)
    folds = GroupKFold(3)
    model = clinics(TOGETHER, unknown_task="average")
    p = cross_val_predict(model, X, Y, groups=X["clinic"], cv=folds, method="predict_proba")
    assert np.allclose(p.sum(axis=1), 1)
    assert ((p[:, 1] > 0.5) == (Y == "yes")).groupby(X["clinic"]).mean().min() > 0.7
    strict = clinics(TOGETHER).fit(X[:350], Y[:350])
    with pytest.raises(
        ValueError, match="column `clinic` must be one of tasks `a`, `b`, got 'c'; `unknown_task="
    ):
        strict.predict(rows)


def test_a_pipeline_keeps_the_name_of_the_column():
    rng = np.random.default_rng(0)
    table = X.assign(age=rng.normal(50, 9, len(X)))
    scaler = ColumnTransformer(
        [("numbers", StandardScaler(), ["age"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(scaler, clinics()).fit(table, Y)
    assert sorted(pipeline[-1].networks_) == ["a", "b", "c"]
    assert pipeline.score(table, Y) > 0.7


def test_columns_that_are_empty_in_a_task_are_not_its_variables():
    table = X.assign(xray=X["xray"].where(X["clinic"] != "b"))
    with pytest.warns(UserWarning, match="not measured there: `xray` in task `b`"):
        fitted = clinics().fit(table, Y)
    assert "xray" not in fitted.networks_["b"].variables
    assert "xray" in fitted.networks_["a"].variables
    fitted.predict(table)
    with pytest.warns(UserWarning, match="without any in the fit: `xray` in task `b`; they are ig"):
        found = fitted.predict_proba(X)
    assert (found == fitted.predict_proba(table)).all()


def test_networks_that_are_there_already():
    fitted = clinics().fit(X, Y)
    make = MultitaskBayesNetClassifier.from_networks
    classifier = make(fitted.networks_, "bronc", task_column="clinic")
    assert (classifier.predict_proba(X) == fitted.predict_proba(X)).all()
    assert classifier.score(X, Y) == fitted.score(X, Y)
    one = make({"a": fitted.networks_["a"]}, "bronc")
    assert (one.predict_proba(ROWS) == classifier.predict_proba(ROWS.assign(clinic="a"))).all()
    with pytest.raises(ValueError, match="`task_column` must name the column with the task"):
        make(fitted.networks_, "bronc")
    with pytest.raises(ValueError, match="`task_column` must name the column with the task"):
        make(fitted.networks_, "bronc", task_column=["clinic"])
    with pytest.raises(ValueError, match="`task_column` must not be a variable of the networks"):
        make(fitted.networks_, "bronc", task_column="smoke")
    with pytest.raises(TypeError, match="`networks` must map the names of tasks to networks"):
        make(list(fitted.networks_.values()), "bronc")
    with pytest.raises(ValueError, match="`networks` must hold one network at least"):
        make({}, "bronc")
    twice = {1: fitted.networks_["a"], "1": fitted.networks_["b"]}
    with pytest.raises(ValueError, match="different names, also when written as text, got `1`, `1"):
        make(twice, "bronc", task_column="clinic")
    with pytest.raises(TypeError, match="Task `b`: `networks` must be BayesNets, got int"):
        make({**fitted.networks_, "b": 3}, "bronc", task_column="clinic")
    with pytest.raises(ValueError, match=r"`target` must be one of .* got \['bronc'\]"):
        make(fitted.networks_, ["bronc"], task_column="clinic")
    poor = {**fitted.networks_, "b": fit_without_arcs(ROWS[["smoke", "dysp"]])}
    with pytest.raises(ValueError, match="every task; task `b` has no `bronc`: leave"):
        make(poor, "bronc", task_column="clinic")
    with pytest.raises(ValueError, match="`target` must be one of variables `asia`, .* got 'wren'"):
        make(fitted.networks_, "wren", task_column="clinic")


@pytest.mark.parametrize("kind", [int, float, str, bool, "Int64", "boolean", "string", "category"])
def test_targets_of_any_type_are_judged(kind):
    y = (Y == "yes").astype(int).astype(kind)
    fitted = clinics().fit(X, y)
    assert fitted.score(X, y) == (fitted.predict(X) == y.to_numpy()).mean() > 0.7
    assert fitted.predict(X).dtype == fitted.classes_.dtype


def test_a_state_that_a_network_lacks_has_no_probability_in_its_task():
    rows = {
        "east": pd.DataFrame({"birds": list("fmfmfm"), "wood": list("nynyyy")}),
        "west": pd.DataFrame({"birds": list("fsfsss"), "wood": list("nynyyn")}),
    }
    networks = {name: fit_without_arcs(frame) for name, frame in rows.items()}
    classifier = MultitaskBayesNetClassifier.from_networks(networks, "birds", task_column="region")
    assert classifier.classes_.tolist() == ["f", "m", "s"]
    for name, lacking in (("east", 2), ("west", 1)):
        p = classifier.predict_proba(rows[name].assign(region=name))
        expected = networks[name].predict_proba(rows[name], "birds")
        assert (p[:, lacking] == 0).all()
        assert (np.delete(p, lacking, axis=1) == expected.to_numpy()).all()


def fit_without_arcs(rows):
    graph = nx.DiGraph()
    graph.add_nodes_from(rows)
    return BayesNet.fit(graph, rows)


def test_tasks_share_their_classes():
    table = pd.DataFrame({"region": ["east"] * 4 + ["west"] * 4, "wood": [0, 1, 0, 1, 0, 1, 1, 1]})
    y = [0, 1, 0, 1, 0, 3, 0, 3]
    classifier = MultitaskBayesNetClassifier(task_column="region", learner=TOGETHER).fit(table, y)
    assert classifier.classes_.tolist() == [0, 1, 3]
    assert classifier.predict_proba(table).shape == (8, 3)
    assert classifier.predict(table).dtype == int
    assert classifier.classifiers_["west"].classes_.tolist() == [0, 1, 3]


def test_mistakes_are_one_sentence():
    classifier = clinics()
    with pytest.raises(NotFittedError):
        classifier.predict(X)
    with pytest.raises(TypeError, match="`X` must be one table .*, got dict; concatenate them and"):
        classifier.fit(CLINICS, Y)
    with pytest.raises(ValueError, match="`task_column` must be one of the columns .* got 'clinic"):
        classifier.fit(X.drop(columns="clinic"), Y)
    with pytest.raises(TypeError, match="`task_column` must be the name of a column, its positio"):
        MultitaskBayesNetClassifier(task_column=["clinic"], learner=QUICK).fit(X, Y)
    with pytest.raises(ValueError, match="`unknown_task` must be 'error' or 'average', got 'mean'"):
        clinics(unknown_task="mean").fit(X, Y)
    with pytest.raises(ValueError, match="Column `clinic` must name the task of every row; .* 200"):
        classifier.fit(X.assign(clinic=X["clinic"].where(X["clinic"] != "b")), Y)
    with pytest.raises(ValueError, match="Task `c` must have two rows or more; it has one: leave"):
        classifier.fit(X[:401], Y[:401])
    gaps = X.assign(smoke=X["smoke"].where(X["clinic"] != "b", None)).astype({"smoke": object})
    gaps.loc[250, "smoke"] = "yes"
    with pytest.raises(ValueError, match="Task `b`: column `smoke` contains NaN .* in 199 rows"):
        classifier.fit(gaps, Y)
    with pytest.raises(
        ValueError, match="`y` must be one value for each row, 600 as in `X`, got 5"
    ):
        classifier.fit(X, Y[:5])
    with pytest.raises(ValueError, match="`X` must not hold the target; it has a column `bronc`"):
        classifier.fit(X.assign(bronc=Y), Y)
    fitted = classifier.fit(X, Y)
    with pytest.raises(ValueError, match="must have the column of the tasks; `clinic` is missing"):
        fitted.predict(X.drop(columns="clinic"))
    with pytest.raises(ValueError, match="`clinic` must name the task of every row; .* in 1 row"):
        fitted.predict(X.assign(clinic=["a"] * 599 + [None]))
    only = pd.DataFrame({"clinic": ["a", "a", "b", "b"]})
    with pytest.raises(ValueError, match="Task `a` must have columns besides the target"):
        classifier.fit(only, [0, 1, 0, 1])


def numeric_clinics():
    """Two tasks with numbers of different sizes."""
    rng = np.random.default_rng(0)
    parts = []
    for name, shift in (("a", 0), ("b", 2)):
        y = np.repeat([0, 1], 50)
        frame = pd.DataFrame({"age": 40 + shift + 9 * y + rng.integers(0, 20, 100), "ill": y})
        parts.append(frame.assign(dose=frame["age"] / 7 + rng.random(100), clinic=name))
    table = pd.concat(parts, ignore_index=True)
    return table.drop(columns="ill"), table["ill"]


def test_tasks_share_the_bins_of_numbers():
    table, y = numeric_clinics()
    classifier = clinics(bins=3).fit(table, y)
    assert list(classifier.edges_) == ["age", "dose"]
    expected = np.quantile(table["dose"], [1 / 3, 2 / 3])
    assert classifier.edges_["dose"] == pytest.approx(expected, 0.05)
    binned = classifier.edges_.apply({"all": table})["all"]
    as_states = clinics().fit(binned, y)
    assert (classifier.predict_proba(table) == as_states.predict_proba(binned)).all()
    gaps, states = table.assign(dose=None), binned.assign(dose=None)
    assert (classifier.predict_proba(gaps) == as_states.predict_proba(states)).all()
    read = MultitaskBayesNetClassifier.from_networks(
        classifier.networks_, "ill", task_column="clinic", edges=classifier.edges_
    )
    assert (read.predict_proba(table) == classifier.predict_proba(table)).all()


def test_a_row_with_the_weight_two_occurs_twice():
    table, y = numeric_clinics()
    weights = np.where(table["clinic"] == "a", np.arange(200) % 3, 1)
    rows = np.repeat(range(200), weights)
    expected = clinics().fit(table.iloc[rows], y.iloc[rows]).networks_
    assert clinics().fit(table, y, weights).networks_ == expected
    with pytest.raises(ValueError, match="`sample_weight` must be whole numbers"):
        clinics().fit(table, y, np.full(200, 0.5))
    with pytest.raises(ValueError, match="`sample_weight` must be one whole number for each row"):
        clinics().fit(table, y, [1, 2])
