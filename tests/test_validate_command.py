"""The command `bnmtl validate`: files, models, sentences, and mistakes in one sentence."""

import dataclasses
import itertools
import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

from bnmtl.classification import BayesNetClassifier
from bnmtl.cli import validate_structures
from bnmtl.cli.options import ValidateOptions
from bnmtl.cli.tables import LabeledRows, hashes
from bnmtl.cli.validate import models_of, run
from bnmtl.confidence import ArcStability, arc_stability
from bnmtl.learners import MultitaskLearner, SingleTaskLearner, compare
from bnmtl.tasks import split
from bnmtl.validation import Rounds, predict_rounds
from bnmtl.validation import compare as compare_rounds

pytestmark = pytest.mark.beside_kernels
BAGS = ("--scheme", "bootstrap", "--model", "forest")
FAST = ("--rounds", 2, "--folds", 3, "--jobs", 1)
# Each row is predicted once, which gives no variance.
ONCE = ("--rounds", 1, "--folds", 2, "--jobs", 1)


def sites(n=90, seed=0):
    """Birds that like wet sites, in two regions; one feature has a gap, one label is missing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "site": [f"s{at}" for at in range(n)],
            "height": rng.normal(size=n).round(3),
            "wet": rng.choice(["yes", "no"], n),
            "open": rng.choice(["yes", "no"], n),
            "region": np.where(np.arange(n) % 3 == 0, "hill", "plain"),
        }
    )
    wren = np.where((table["wet"] == "yes") ^ (rng.random(n) < 0.1), "present", "absent")
    return table.assign(wren=wren)


@pytest.fixture(autouse=True)
def little_effort(monkeypatch):
    """Let forests have few trees, searches one short start, and tests few random exchanges."""
    monkeypatch.setattr("bnmtl.cli.validate._TREES", 10)
    monkeypatch.setattr("bnmtl.search.orders.MOST_STARTS", 1)
    monkeypatch.setattr("bnmtl.search.orders.MOST_ITERATIONS", 2)
    monkeypatch.setattr("bnmtl.validation.tables.compare", partial(compare_rounds, n_resamples=99))


@pytest.fixture
def judge(call, tmp_path):
    sites().to_csv(tmp_path / "sites.csv", index=False)

    def run(*options, table="sites.csv"):
        return call("validate", table, "--ignore", "site", *options)

    return run


def order_of(table):
    """The order in which the command takes rows."""
    return np.argsort(hashes(table.drop(columns="site")), kind="stable")


def read(tmp_path, name="o"):
    folder = tmp_path / name
    record = json.loads((folder / "run.json").read_text())
    return record, {one: pd.read_csv(folder / one) for one in record["files"] if "csv" in one}


@pytest.mark.drawn
def test_models_are_judged_and_compared(judge, tmp_path):
    options = ("--label", "wren", "--discretize", 2, *FAST)
    code, out, err = judge(*options, "--out", "o")
    assert (code, err) == (0, "")
    record, tables = read(tmp_path)
    assert sorted(record["files"]) == sorted(p.name for p in (tmp_path / "o").iterdir())
    assert record["models"] == ["network", "forest"]
    assert record["plan"] == {"scheme": "kfold", "rounds": 2, "folds": 3}
    measures = tables["measures.csv"].set_index(["model", "metric"])["value"]
    assert measures["network", "accuracy"] > 0.8 > 0.6 > measures["class shares", "accuracy"]
    assert set(tables["differences.csv"]["task"]) == {"all"}
    for sentence in record["verdict"]:
        assert " ".join(sentence.split()) in " ".join(out.split())
    assert "by squared error network is better" in " ".join(out.split())
    page = (tmp_path / "o" / "report.html").read_text()
    assert "What limits them" in page and "class shares" in page
    loaded = {name: Rounds.load(tmp_path / "o" / f"rounds-{name}.npz") for name in record["models"]}
    table = sites()
    y = table["wren"].to_numpy(str)
    # What the command does, in Python.
    values = {"open": ("no", "yes"), "region": ("hill", "plain"), "wet": ("no", "yes")}
    columns = [table[name] == value for name, known in values.items() for value in known]
    numbers = np.column_stack([table["height"], *columns]).astype(np.float32)
    forest, order = RandomForestClassifier(10), order_of(table)
    forest = predict_rounds(forest, numbers[order], y[order], **record["plan"], random_state=0)
    np.testing.assert_allclose(loaded["forest"].predictions[:, order], forest.predictions)
    assert loaded["network"].y.tolist() == y.tolist()
    found = compare_rounds(loaded["network"], loaded["forest"], "accuracy", random_state=0)
    row = tables["differences.csv"].query("first == 'network' and second == 'forest'").iloc[0]
    assert row["metric"] == "accuracy"
    assert row["difference"] == pytest.approx(found.difference)
    assert row["p_corrected"] == pytest.approx(found.p_corrected)


def test_the_network_is_that_of_python(judge, tmp_path):
    options = ("--label", "wren", "--ignore", "height", "--model", "network", *FAST)
    assert judge(*options, "--out", "o")[0] == 0
    table = sites()
    order = order_of(table.drop(columns="height"))
    table = table.iloc[order].reset_index(drop=True)
    X = table[["wet", "open", "region"]]
    classifier = BayesNetClassifier("wren", SingleTaskLearner(), unseen="ignore")
    plan = {"scheme": "kfold", "rounds": 2, "folds": 3, "random_state": 0}
    expected = predict_rounds(classifier, X, table["wren"], **plan)
    found = Rounds.load(tmp_path / "o" / "rounds-network.npz")
    np.testing.assert_allclose(found.predictions[:, order], expected.predictions)


def test_tasks_are_learned_together_and_alone(judge, tmp_path):
    options = ("--label", "wren", "--ignore", "height", "--task-column", "region")
    options = (*options, *FAST, "--folds", 2)
    models = ("--model", "together", "--model", "network")
    code, out, _ = judge(*options, *models, "--out", "o")
    assert code == 0
    record, tables = read(tmp_path)
    assert [task["name"] for task in record["tasks"]] == ["hill", "plain"]
    assert set(tables["measures.csv"]["task"]) == {"all", "hill", "plain"}
    assert set(tables["bias_variance.csv"]["task"]) == {"all", "hill", "plain"}
    assert "By task, the probabilities of together are better than those of network" in out
    assert "By task" in (tmp_path / "o" / "report.html").read_text()
    together, alone = (
        Rounds.load(tmp_path / "o" / f"rounds-{name}.npz") for name in ("together", "network")
    )
    assert together.task.tolist() == sites()["region"].tolist()
    assert not np.allclose(together.predictions, alone.predictions, equal_nan=True)


def test_every_model_finds_what_predicts(judge, tmp_path):
    names = ["mob-esp", "eb-pets", "b-pets", "naive-bayes"]
    models = itertools.chain(*(("--model", name) for name in names))
    options = ("--label", "wren", "--discretize", 2, *models, *ONCE)
    assert judge(*options, "--out", "o")[0] == 0
    record, tables = read(tmp_path)
    assert record["models"] == names
    errors = tables["measures.csv"].query("metric == 'squared_error'").set_index("model")["value"]
    for model in names:
        assert errors[model] < 0.75 * errors["class shares"]
        assert (tmp_path / "o" / f"rounds-{model}.npz").exists()


def test_bootstraps_have_corrected_errors_and_a_warning(judge, tmp_path):
    options = ("--label", "wren", "--ignore", "height", "--scheme", "bootstrap", "--rounds", 3)
    code, _, err = judge(*options, "--model", "network", "--jobs", 1, "--out", "o")
    assert code == 0
    assert "`network` will look worse" in err
    _, tables = read(tmp_path)
    assert {"out_of_bag_error", "error_632_plus"} <= set(tables["measures.csv"]["metric"])
    assert ".632+ error" in (tmp_path / "o" / "report.html").read_text()


def test_trees_have_an_indicator_of_missing_values():
    features = pd.DataFrame({"x": [1.5, np.nan, 2.0], "wet": ["yes", None, "no"], "one": "a"})
    cases = LabeledRows(features, features, None, np.array(["a", "b", "a"]), None, None, None)
    expected = [[1.5, 0, 1, 0], [np.nan, 0, 0, 1], [2, 1, 0, 0]]  # no, yes, missing
    np.testing.assert_array_equal(cases.numbers(), expected)
    codes, sizes = cases.codes()
    assert codes[:, 1].tolist() == [0, 1, 2]
    assert sizes == [3, 3, 1]


def test_networks_are_learned_together_or_alone():
    features = pd.DataFrame({"wet": ["yes", "no", "no", "rarely"]})
    task, options = np.array(["s", "s", "t", "t"]), ValidateOptions(table="t", label="y")
    cases = LabeledRows(features, features, None, np.array(["a", "b", "a", "b"]), task, None, None)
    options = dataclasses.replace(options, task_column="task", missing="state")
    found = models_of(["together", "network", "naive-bayes"], cases, options)
    kinds = {name: type(found[name].classifier.learner) for name in ("together", "network")}
    assert kinds == {"together": MultitaskLearner, "network": SingleTaskLearner}
    assert found["together"].classifier.learner.missing == "state"
    # States that a round has not learned from have a probability, too.
    bayes = found["naive-bayes"]
    bayes.classifier.fit(bayes.X[:3], cases.y[:3]).predict_proba(bayes.X[3:])


def test_gaps_are_errors_left_out_or_states(judge, tmp_path):
    table = sites()
    table.loc[4, "wet"] = None
    table.loc[7, "wren"] = None
    table.loc[9, "height"] = None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    options = ("--label", "wren", "--discretize", 2, "--model", "forest", *ONCE)
    code, _, err = judge(*options, "--out", "e", table="gaps.csv")
    assert code == 2
    assert "column `wet`" in err and "row 5" in err and "--missing" in err
    code, _, err = judge(*options, "--missing", "drop", "--out", "o", table="gaps.csv")
    assert code == 0
    assert "missing in 1 row" in err and "2 rows with missing values" in err
    assert read(tmp_path)[0]["rows"] == 87
    code, _, err = judge(*options, "--missing", "state", "--out", "p", table="gaps.csv")
    assert code == 0
    assert read(tmp_path, "p")[0]["rows"] == 89


def test_a_task_may_lack_a_variable(judge, tmp_path):
    table = sites().drop(columns="height")
    table.loc[table["region"] == "hill", "open"] = None
    table.to_csv(tmp_path / "lacks.csv", index=False)
    options = ("--label", "wren", "--task-column", "region", "--model", "together", *ONCE)
    code, _, _ = judge(*options, "--out", "o", table="lacks.csv")
    assert code == 0
    assert read(tmp_path)[0]["rows"] == 90


def test_groups_stay_together(judge, tmp_path):
    table = sites().drop(columns="height")
    table["plot"] = np.arange(90) // 10
    table.to_csv(tmp_path / "plots.csv", index=False)
    options = ("--label", "wren", "--group", "plot", "--model", "forest", *ONCE)
    assert judge(*options, "--out", "o", table="plots.csv")[0] == 0
    rounds = Rounds.load(tmp_path / "o" / "rounds-forest.npz")
    for one in rounds.is_predicted:
        assert all(len(set(one[at : at + 10])) == 1 for at in range(0, 90, 10))


@pytest.mark.drawn
def test_a_continuous_label_is_cut(judge, tmp_path):
    options = ("--label", "height", "--model", "forest", *ONCE)
    code, _, err = judge(*options, "--out", "o")
    assert code == 2
    assert "--discretize" in err
    assert judge(*options, "--discretize", 3, "--out", "o")[0] == 0
    record, _ = read(tmp_path)
    assert list(record["cut_points"]) == ["height"]
    assert len(record["classes"]) == 3
    # Nothing predicts the height.
    assert "forest is perhaps not better" in record["verdict"][1] or (
        "forest is worse" in record["verdict"][1]
    )


def test_jobs_and_repetition_do_not_change_anything(judge, tmp_path):
    options = ("--label", "wren", "--model", "forest", "--rounds", 2, "--folds", 2)
    assert judge(*options, "--jobs", 1, "--out", "o")[0] == 0
    assert judge(*options, "--jobs", 2, "--out", "p")[0] == 0
    for name in ("measures.csv", "differences.csv", "bias_variance.csv"):
        assert (tmp_path / "o" / name).read_text() == (tmp_path / "p" / name).read_text()
    code, _, err = judge(*options, "--out", "o")
    assert code == 2 and "--force" in err
    assert judge(*options, "--seed", 1, "--jobs", 1, "--force", "--out", "o")[0] == 0
    name = "measures.csv"
    assert (tmp_path / "o" / name).read_text() != (tmp_path / "p" / name).read_text()


def test_progress_of_each_model_and_of_comparing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sites().to_csv("sites.csv", index=False)
    events = []
    plan = {"model": ("forest", "naive-bayes"), "discretize": 2, "rounds": 1, "folds": 2}
    run(ValidateOptions(table="sites.csv", label="wren", **plan), events.append)
    last = {event.stage: event for event in events}
    assert list(last) == ["fitting forest", "fitting naive-bayes", "comparing models"]
    assert all(event.done == event.total for event in last.values())


def test_the_order_of_rows_and_columns_does_not_matter(judge, tmp_path):
    table = sites().assign(site=range(90))
    table.to_csv(tmp_path / "first.csv", index=False)
    shuffled = table.sample(frac=1, random_state=0)
    shuffled[table.columns[::-1]].to_csv(tmp_path / "second.csv", index=False)
    models = ("--model", "forest", "--model", "network", "--model", "naive-bayes")
    options = ("--label", "wren", "--discretize", 2, *models, *FAST, "--folds", 2)
    for name in ("first", "second"):
        assert judge(*options, "--out", name, table=f"{name}.csv")[0] == 0
    for name in ("measures.csv", "differences.csv", "bias_variance.csv"):
        first, second = (pd.read_csv(tmp_path / one / name) for one in ("first", "second"))
        pd.testing.assert_frame_equal(first, second)
    first, second = (
        Rounds.load(tmp_path / one / "rounds-forest.npz") for one in ("first", "second")
    )
    np.testing.assert_allclose(first.predictions[:, shuffled.index], second.predictions)


@pytest.mark.drawn
def test_structures_are_judged_without_labels(judge, tmp_path):
    options = ("--ignore", "height", "--task-column", "region", "--folds", 2, "--rounds", 2)
    code, out, err = judge(*options, "--jobs", 1, "--out", "o")
    assert (code, err) == (0, "")
    record, tables = read(tmp_path)
    assert sorted(record["files"]) == sorted(p.name for p in (tmp_path / "o").iterdir())
    tasks = split(sites().drop(columns=["site", "height"]), "region")
    scored = compare(MultitaskLearner(random_state=0), tasks, cv=2)
    measures = tables["measures.csv"].set_index(["model", "task", "metric"])["value"]
    for way, name in (("together", "together"), ("alone", "alone"), ("empty", "no arcs")):
        assert measures[name, "all", "log_likelihood"] == pytest.approx(scored[way].mean())
        of_hill = scored.loc[scored["task"] == "hill", way].mean()
        assert measures[name, "hill", "log_likelihood"] == pytest.approx(of_hill)
    gain = (scored["together"] - scored["alone"]).mean()
    differences = tables["differences.csv"].set_index(["first", "second", "task"])
    row = differences.loc[("together", "alone", "all")]
    assert row["difference"] == pytest.approx(gain)
    error = stats.sem(scored["together"] - scored["alone"])
    assert row["high"] - row["difference"] == pytest.approx(stats.t.ppf(0.975, 89) * error)
    assert record["held_out"]["folds"] == 2
    assert set(tables["stability.csv"]["learner"]) == {"together", "alone", "alone, as many arcs"}
    assert set(tables["arc_stability.csv"]["learner"]) == {
        "together",
        "alone",
        "alone, as many arcs",
    }
    assert "have a stability of" in out
    assert "How stable they are" in (tmp_path / "o" / "report.html").read_text()


@pytest.mark.parametrize("scheme", ["bootstrap", None])
def test_one_table_is_judged_alone(judge, tmp_path, monkeypatch, scheme):
    asked = []

    def spied(*data, **options):
        asked.append(options)
        return arc_stability(*data, **options)

    monkeypatch.setattr(validate_structures, "arc_stability", spied)
    options = ("--ignore", "region", "--discretize", 2, "--folds", 3, "--rounds", 2, "--jobs", 1)
    given = ("--scheme", scheme) if scheme else ()
    folds = 3 if scheme else 10  # the default
    options = options if scheme else [one for one in options if one not in ("--folds", 3)]
    assert judge(*options, *given, "--seed", 3, "--out", "o")[0] == 0
    record, tables = read(tmp_path)
    assert set(tables["measures.csv"]["model"]) == {"alone", "no arcs"}
    assert set(tables["stability.csv"]["learner"]) == {"alone"}
    assert "height" in record["cut_points"]
    assert record["held_out"]["folds"] == folds
    kind = scheme or "halves"
    assert asked == [{"scheme": kind, "n": 2, "compare": None, "random_state": 3}]


def test_pairs_that_networks_lack_are_named():
    misfits = pd.DataFrame(
        {"task": "t", "first": ["a", "b"], "second": ["c", "d"], "p_corrected": [0.01, 0.5]}
    )
    (said,) = validate_structures._of_misfits(misfits)
    assert said.startswith("Of 2 pairs of variables, 1 depend") and "`a and c`" in said
    (said,) = validate_structures._of_misfits(misfits[1:])
    assert said.startswith("No pair")


def test_stability_is_that_of_tasks_that_have_one():
    index = pd.MultiIndex.from_product([["together"], ["s", "t"]], names=["learner", "task"])
    summary = pd.DataFrame({"edges": [0.5, np.nan], "n_arcs": [3.0, 0.0]}, index)
    (said,) = validate_structures._of_stability(ArcStability(summary, None), 9)
    assert "a stability of 0.50 together (3.0 arcs in 1 of 2 tasks); it is 1" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--label", "robin"), "robin"),
        (("--label", "wren", "--model", "tree"), "naive-bayes"),
        (("--label", "wren", "--model", "together"), "--task-column"),
        (("--label", "wren"), "Task `sites`: column `height` is continuous"),
        ((), "Task `sites`: column `height` is continuous"),
        (("--label", "wren", "--model", "naive-bayes"), "continuous"),
        (("--label", "wren", "--folds", 3, "--scheme", "holdout"), "--scheme kfold"),
        (("--label", "wren", "--test-size", 0.2), "--scheme holdout"),
        (("--label", "wren", "--scheme", "holdout", "--test-size", 1), "rows to learn from"),
        (("--label", "wren", "--rounds", 1, "--scheme", "holdout"), "at least 2 for holdout"),
        (("--rounds", 1), "at least 2 without `--label`"),
        (("--label", "wren", "--task-column", "wren"), "another column"),
        (("--label", "wren", "--ignore", "wren"), "another column"),
        (("--label", "wren", "--group", "county"), "county"),
        (("--label", "wren", "--model", "forest", "--folds", 200), "200"),
        (("--model", "forest"), "--label"),
        (("--group", "region"), "--label"),
        (("--test-size", 0.2), "--label"),
        (("--scheme", "kfold"), "halves"),
        (("--discretize", 2, "--folds", 100), "`--folds` must be from 2 to the rows"),
        (("--label", "one"), "all labels are `a`"),
        (("--label", "wren", "--task-column", "all"), "must not hold `all`"),
        (("--task-column", "all", "--discretize", 2), "must not hold `all`"),
        (("--label", "wren", "--task-column", "one", "--model", "together"), "a single task"),
        (("--label", "wren", "--model", "forest", "--ignore", "height"), "257"),
        (("--label", "wren", "--task-column", "tiny", "--ignore", "height"), "must have two rows"),
        (("--label", "wren", "--model", "forest", "--discretize", 3), "below 3e38"),
        (("--label", "wren", "--model", "forest", "--group", "half"), "two groups or more"),
        (("--label", "wren", "--group", "half", *BAGS), "to predict"),
        (("--label", "rare"), "two cases of each class"),
        (("--label", "none"), "it is empty"),
        (("--label", "wren", "--missing", "drop"), "no value"),
    ],
)
def test_mistakes_are_one_sentence(judge, tmp_path, options, words):
    table = sites().assign(one="a", rare=["b"] + ["a"] * 89, none=None)
    table["all"] = np.where(np.arange(90) < 40, "all", "some")
    table["tiny"] = ["few"] * 2 + ["many"] * 88
    table["half"] = "h"
    if "none" not in options and "drop" not in options:
        table = table.drop(columns="none")
    if words == "257":
        table = pd.concat([table] * 3).reset_index(drop=True)
        table["note"] = [f"n{at}" for at in range(257)] * 1 + ["n0"] * 13
    if words == "below 3e38":
        table.loc[3, "height"] = 1e300
    table.to_csv(tmp_path / "sites.csv", index=False)
    code, out, err = judge(*options, "--jobs", 1, "--out", "o")
    assert (code, out) == (2, "")
    assert words in err.splitlines()[-1]
    assert not any(line.startswith("bnmtl") for line in err.splitlines()[:-1])
    assert not (tmp_path / "o").exists()


def test_rows_are_counted_as_in_the_file(judge, tmp_path):
    table = sites()
    table.loc[1, "wren"] = None
    table.loc[4, "wet"] = None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    _, _, err = judge("--label", "wren", "--discretize", 2, *FAST, "--out", "e", table="gaps.csv")
    assert "row 5 has no value" in err


def test_one_task_is_not_learned_together(judge, tmp_path):
    table = sites().drop(columns="height").assign(region="hill")
    table.to_csv(tmp_path / "one.csv", index=False)
    options = ("--label", "wren", "--task-column", "region", *ONCE)
    assert judge(*options, "--out", "o", table="one.csv")[0] == 0
    assert read(tmp_path)[0]["models"] == ["network", "forest"]


def test_copies_are_reported(judge, tmp_path):
    table = sites(40).drop(columns="region").dropna()
    options = ("--label", "wren", "--model", "naive-bayes", "--discretize", 2, *ONCE)
    pd.concat([table, table]).to_csv(tmp_path / "twice.csv", index=False)
    code, _, err = judge(*options, "--out", "o", table="twice.csv")
    assert code == 0
    assert "Rows are copies of other rows (`twice`: 40 of 80)" in err
    assert "knows the label of the other" in err
    # Copies of the same group stay together.
    pd.concat([table.assign(plot=[f"p{at}" for at in range(40)])] * 2).to_csv(
        tmp_path / "plots.csv", index=False
    )
    _, _, err = judge(*options, "--group", "plot", "--out", "p", table="plots.csv")
    assert "copies" not in err
    table.to_csv(tmp_path / "once.csv", index=False)
    assert judge(*options, "--out", "q", table="once.csv")[2] == ""


@pytest.mark.drawn
def test_small_tables_get_fewer_folds(judge, tmp_path):
    table = sites(16).drop(columns="height").assign(wren=["present", "absent"] * 8)
    table.to_csv(tmp_path / "small.csv", index=False)
    options = ("--label", "wren", "--model", "naive-bayes", "--rounds", 1, "--jobs", 1)
    assert judge(*options, "--out", "o", table="small.csv")[0] == 0
    assert read(tmp_path)[0]["plan"] == {"scheme": "kfold", "rounds": 1, "folds": 8}


def test_training_sets_without_a_class_are_reported(judge, tmp_path):
    table = sites().drop(columns="height").assign(county=lambda rows: rows["wren"])
    table.to_csv(tmp_path / "counties.csv", index=False)
    options = (
        "--label",
        "wren",
        "--group",
        "county",
        "--model",
        "naive-bayes",
        "--model",
        "forest",
    )
    code, _, err = judge(*options, "--rounds", 1, "--jobs", 1, "--out", "o", table="counties.csv")
    assert code == 0
    assert err.count("2 of 2 training sets lack a class") == 1


def test_states_that_tasks_do_not_share_are_reported_to_all_models(judge, tmp_path):
    table = sites().drop(columns="height")
    of_hill = table["region"] == "hill"
    table.loc[of_hill, "open"] = table["open"].str.upper()
    table.to_csv(tmp_path / "case.csv", index=False)
    options = ("--label", "wren", "--task-column", "region", "--model", "naive-bayes", *ONCE)
    assert "has no state that tasks" in judge(*options, "--out", "o", table="case.csv")[2]


def test_warnings_about_arcs_need_networks(judge, tmp_path):
    sites().drop(columns="height").assign(flat="no").to_csv(tmp_path / "flat.csv", index=False)
    options = ("--label", "wren", *ONCE)
    for model, warned in (("naive-bayes", False), ("network", True)):
        _, _, err = judge(*options, "--model", model, "--out", model, table="flat.csv")
        assert ("no arcs to or from" in err) == warned


@pytest.mark.parametrize(
    ("plan", "overlaps"),
    [
        ({"scheme": "holdout", "rounds": 2, "test_size": 0.2}, True),
        ({"scheme": "holdout", "rounds": 2, "test_size": 0.5}, False),
        ({"scheme": "kfold", "rounds": 2, "folds": 2}, False),
    ],
)
def test_the_page_says_whether_training_sets_overlap(judge, tmp_path, plan, overlaps):
    given = [(f"--{name.replace('_', '-')}", value) for name, value in plan.items()]
    options = ("--label", "wren", "--model", "forest", "--jobs", 1, *itertools.chain(*given))
    code, _, err = judge(*options, "--out", "o")
    assert (code, err) == (0, "")
    page = (tmp_path / "o" / "report.html").read_text()
    assert ("have most rows in common" in page) == overlaps
    assert ("Of the squared error of the probabilities" in page) != overlaps
    record, tables = read(tmp_path)
    assert record["plan"] == plan
    assert "error_632" not in set(tables["measures.csv"]["metric"])


@pytest.mark.drawn
def test_one_pair_and_one_variable(judge, tmp_path):
    table = sites()[["site", "wet"]]
    table.assign(damp=table["wet"]).to_csv(tmp_path / "pair.csv", index=False)
    options = ("--folds", 2, "--rounds", 2, "--jobs", 1)
    code, out, _ = judge(*options, "--out", "o", table="pair.csv")
    assert code == 0
    assert "Stability is not defined: the 2 replicates have all possible edges" in out
    assert "all possible" in (tmp_path / "o" / "report.html").read_text()
    table.to_csv(tmp_path / "single.csv", index=False)
    code, out, _ = judge(*options, "--out", "p", table="single.csv")
    assert code == 0
    assert "the 2 replicates have no arc" in out
    assert "nan" not in out
