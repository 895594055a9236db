"""The command `bnmtl query`: files, reasons, options, and mistakes in one sentence."""

import functools
import json

import numpy as np
import pandas as pd
import pytest

from bnmtl.active import ActiveDecorate, MultitaskQuery
from bnmtl.cli.query import _fall

pytestmark = pytest.mark.beside_kernels


def sites(n=80, n_labeled=40, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "site": [f"s{at}" for at in range(n)],
            "east": rng.normal(size=n).round(3),
            "north": rng.normal(size=n).round(3),
            "wet": rng.choice(["yes", "no"], n),
            "region": rng.choice(["hill", "plain"], n),
            "hours": rng.integers(1, 5, n),
        }
    )
    wren = np.where((table["wet"] == "yes") ^ (rng.random(n) < 0.15), "present", "absent")
    return table.assign(wren=pd.Series(wren, dtype=object).where(np.arange(n) < n_labeled))


@pytest.fixture
def ask(call, tmp_path):
    sites().to_csv(tmp_path / "sites.csv", index=False)

    def run(*options, table="sites.csv"):
        return call("query", table, "--label", "wren", "--jobs", 1, *options)

    return run


@pytest.fixture
def no_curve(monkeypatch):
    """The learning curve takes most of the time, and does not change the rows."""
    monkeypatch.setattr("bnmtl.cli.query._FEWEST_FOR_CURVE", 1000)


@pytest.fixture
def short_curve(monkeypatch):
    """Let the learning curve be of few models."""
    for name, number in {"_POINTS": 3, "_FOLDS": 2, "_REPEATS": 1}.items():
        monkeypatch.setattr(f"bnmtl.cli.query.{name}", number)


COMMON = ("--ignore", "site", "--ignore", "hours")


@pytest.mark.drawn
@pytest.mark.usefixtures("short_curve")
def test_rows_have_ranks_utilities_predictions_and_reasons(ask, tmp_path):
    code, out, err = ask(*COMMON, "--n", 4, "--map", "east,north", "--out", "o")
    assert (code, err) == (0, "")
    queries = pd.read_csv(tmp_path / "o" / "queries.csv")
    table = sites()
    X = table[["east", "north", "wet", "region"]]
    strategy = ActiveDecorate(random_state=0)
    committee = strategy.committee().fit(X[:40], table["wren"][:40].astype(str))
    rows, found = strategy.query(
        X, table["wren"], batch_size=4, return_utilities=True, committee=committee
    )
    assert queries["site"].tolist() == table["site"].iloc[rows].tolist()
    assert queries["rank"].tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(queries["utility"], found[0][rows])
    p = committee.predict_proba(X.iloc[rows])
    assert queries["predicted"].tolist() == committee.predict(X.iloc[rows]).tolist()
    np.testing.assert_allclose(queries["probability"], p.max(axis=1), atol=1e-4)
    votes = committee.member_probabilities(X.iloc[rows])[:, 0].argmax(axis=1)
    n_present = int((votes == 1).sum())
    n, word = max((n_present, "present"), (len(votes) - n_present, "absent"))
    assert f"{n} of {len(votes)} say {word}" in queries["reason"][0]
    assert list(queries)[: len(list(table))] == list(table)
    utilities = pd.read_csv(tmp_path / "o" / "utilities.csv")
    assert utilities["row"].tolist() == list(range(41, 81))
    np.testing.assert_allclose(utilities["utility"], found[0][40:])
    assert utilities.set_index("row")["rank"].dropna().astype(int).to_dict() == {
        row + 1: rank for rank, row in enumerate(rows, 1)
    }
    record = json.loads((tmp_path / "o" / "run.json").read_text())
    assert set(record["files"]) == {path.name for path in (tmp_path / "o").iterdir()}
    assert {"map.png", "learning_curve.png", "learning_curve.csv"} <= set(record["files"])
    assert record["rows"] == {"labeled": 40, "candidates": 40, "excluded": 0, "asked": 4}
    assert "begin with report.html" in out
    assert "Always saying" in out
    page = (tmp_path / "o" / "report.html").read_text()
    assert queries["site"][0] in page
    assert queries["reason"][0] in page


@pytest.mark.parametrize("strategy", ["bootstrap-js", "random", "query-by-boosting", "margin"])
@pytest.mark.usefixtures("no_curve")
def test_strategies_say_how_they_choose(ask, tmp_path, strategy):
    code, out, _ = ask(*COMMON, "--strategy", strategy, "--n", 2, "--out", "o")
    assert code == 0
    draws, out = strategy in ("bootstrap-js", "random"), " ".join(out.split())
    assert ("another seed" in out) == draws
    assert ("never better than random" in out) == (strategy == "query-by-boosting")
    assert ("a random forest is least decided" in out) == (strategy == "margin")
    assert json.loads((tmp_path / "o" / "run.json").read_text())["draws"] == draws
    reason = pd.read_csv(tmp_path / "o" / "queries.csv")["reason"][0]
    words = {"bootstrap-js": "committee", "random": "at random", "query-by-boosting": "% of the"}
    words["margin"] = "the forest says"
    assert words[strategy] in reason


@pytest.mark.usefixtures("short_curve")
def test_tasks_are_learned_together(ask, tmp_path):
    table = sites(40, 24).drop(columns=["east", "north"])
    table.to_csv(tmp_path / "two.csv", index=False)
    options = ("--task-column", "region", "--n", 2, "--out", "o")
    code, out, _ = ask(*COMMON, *options, table="two.csv")
    out = " ".join(out.split())
    assert code == 0 and "another seed" in out and "not better than random ones" in out
    assert (tmp_path / "o" / "learning_curve.csv").exists()
    record = json.loads((tmp_path / "o" / "run.json").read_text())
    assert (record["strategy"], record["draws"]) == ("multitask", True)
    sizes = {task["name"]: task["labeled"] + task["candidates"] for task in record["tasks"]}
    assert sizes == table["region"].value_counts().to_dict()
    assert "of 15 say" in pd.read_csv(tmp_path / "o" / "queries.csv")["reason"][0]


@pytest.mark.usefixtures("no_curve")
def test_other_strategies_have_the_task_as_a_feature(ask, tmp_path):
    options = ("--task-column", "region", "--strategy", "active-decorate", "--out", "o")
    code, _, err = ask(*COMMON, "--n", 4, *options)
    assert (code, err) == (0, "")
    table = sites()
    X = table[["east", "north", "wet", "region"]].astype({"region": object})
    strategy = ActiveDecorate(task_column="region", random_state=0)
    rows, found = strategy.query(X, table["wren"], batch_size=4, return_utilities=True)
    queries = pd.read_csv(tmp_path / "o" / "queries.csv")
    assert queries["site"].tolist() == table["site"].iloc[rows].tolist()
    np.testing.assert_allclose(queries["utility"], found[0][rows])


@pytest.mark.usefixtures("no_curve")
def test_costs_excluded_rows_and_other_marks_of_missing_values(ask, tmp_path):
    table = sites()
    table.loc[40:59, ["site"]].to_csv(tmp_path / "done.csv", index=False)
    table.fillna("?").to_csv(tmp_path / "marked.csv", index=False)
    options = (*COMMON, "--n", 40, "--na", "?", "--exclude", "done.csv", "--cost", "hours")
    code, out, err = ask(*options, "--out", "o", table="marked.csv")
    assert (code, err) == (0, "")
    queries = pd.read_csv(tmp_path / "o" / "queries.csv")
    assert len(queries) == 20
    assert set(queries["site"]) == {f"s{at}" for at in range(60, 80)}
    assert "20 rows are left out" in out
    assert queries["utility"].is_monotonic_decreasing
    assert ask(*options[:-2], "--out", "free", table="marked.csv")[0] == 0
    free = pd.read_csv(tmp_path / "free" / "utilities.csv").set_index("row")["utility"]
    dear = pd.read_csv(tmp_path / "o" / "utilities.csv").set_index("row")["utility"]
    np.testing.assert_allclose(dear, free / table["hours"].to_numpy()[dear.index - 1])


@pytest.mark.usefixtures("no_curve")
def test_only_rows_to_ask_for_need_a_cost(ask, tmp_path):
    table = sites()
    hours = table["hours"].where(np.arange(80) != 2)
    table.assign(hours=hours).to_csv(tmp_path / "labeled.csv", index=False)
    options = (*COMMON, "--n", 2, "--cost", "hours", "--strategy", "random", "--out")
    code, _, err = ask(*options, "o", table="labeled.csv")
    assert (code, err) == (0, "")
    table.assign(hours=table["hours"].where(np.arange(80) != 50)).to_csv(
        tmp_path / "asked.csv", index=False
    )
    code, _, err = ask(*options, "p", table="asked.csv")
    words = "must be above 0 in the rows to ask for; it is empty in row 51."
    assert code == 2 and err.endswith(f"`--cost`: column `hours` {words}\n")


def test_a_table_is_named_as_the_command_names_it(ask, tmp_path):
    table = sites().assign(east=np.where(np.arange(80) == 2, np.inf, sites()["east"]))
    table.to_csv(tmp_path / "infinite.csv", index=False)
    code, _, err = ask(*COMMON, "--out", "o", table="infinite.csv")
    assert code == 2 and "TABLE: column `east` must hold finite numbers" in err


def test_a_rising_error_is_reported():
    expected = {"now": 0.2, "then": 0.212, "fall": -0.012, "low": -0.023, "high": -0.002}
    sentence = _fall(expected, 10)
    assert "labels have not lowered it: 10 random labels more would raise it by 1.2" in sentence
    assert "(90 % interval 0.2 to 2.3)" in sentence


@pytest.mark.usefixtures("no_curve")
def test_excluded_rows_are_found_however_their_numbers_are_written(ask, tmp_path):
    table = sites().assign(code=np.arange(80) / 2)
    table.to_csv(tmp_path / "halves.csv", index=False)
    pd.DataFrame({"code": range(20, 40)}).to_csv(tmp_path / "done.csv", index=False)
    options = (*COMMON, "--ignore", "code", "--n", 1, "--strategy", "random")
    code, out, _ = ask(*options, "--exclude", "done.csv", "--out", "o", table="halves.csv")
    assert code == 0
    assert "20 rows are left out" in out
    numbers = [f"{at:03}" for at in range(79)] + ["A1"]
    sites().assign(code=numbers).to_csv(tmp_path / "texts.csv", index=False)
    (tmp_path / "done.csv").write_text("code\n041\n042\n")
    code, out, _ = ask(*options, "--exclude", "done.csv", "--out", "p", table="texts.csv")
    assert code == 0
    assert "2 rows are left out" in out


@pytest.mark.usefixtures("no_curve")
def test_random_rows_are_cheap_ones_more_often(ask, tmp_path):
    hours = np.where(np.arange(80) < 60, 1000, 1)
    sites().assign(hours=hours).to_csv(tmp_path / "dear.csv", index=False)
    options = (*COMMON, "--n", 8, "--strategy", "random", "--cost", "hours", "--out", "o")
    assert ask(*options, table="dear.csv")[0] == 0
    assert (pd.read_csv(tmp_path / "o" / "queries.csv")["hours"] == 1).all()


def test_small_classes_and_tasks_have_no_learning_curve(ask, tmp_path, monkeypatch):
    table = sites()
    table["wren"] = pd.Series([f"c{at % 10}" for at in range(80)]).where(np.arange(80) < 30)
    table.to_csv(tmp_path / "small.csv", index=False)
    code, out, err = ask(*COMMON, "--n", 1, "--out", "o", table="small.csv")
    assert (code, err) == (0, "")
    assert "too few labels to say" in out
    two_members = functools.partial(MultitaskQuery, n_members=2)
    monkeypatch.setattr("bnmtl.active.MultitaskQuery", two_members)
    table = sites(30, 20)[["wet", "wren"]].assign(region=[f"r{at % 10}" for at in range(30)])
    table.to_csv(tmp_path / "many.csv", index=False)
    options = ("--task-column", "region", "--n", 1, "--out", "p")
    code, out, _ = ask(*options, table="many.csv")
    assert code == 0
    assert "too few labels to say" in out


def test_few_labels_have_no_learning_curve(ask, tmp_path):
    sites(n_labeled=12).to_csv(tmp_path / "few.csv", index=False)
    code, out, _ = ask(*COMMON, "--n", 1, "--out", "o", table="few.csv")
    assert code == 0
    assert "too few labels to say" in out
    assert "1 row of 68" in out
    assert not (tmp_path / "o" / "learning_curve.csv").exists()


@pytest.mark.usefixtures("no_curve")
def test_an_earlier_run_is_replaced_with_force_only(ask, tmp_path):
    options = (*COMMON, "--n", 1, "--out", "o", "--strategy", "random")
    assert ask(*options)[0] == 0
    before = (tmp_path / "o" / "queries.csv").read_bytes()
    code, _, err = ask(*options)
    assert code == 2
    assert "--force" in err
    assert ask(*options, "--force", "--seed", 1)[0] == 0
    assert (tmp_path / "o" / "queries.csv").read_bytes() != before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--label", "robin"), "robin"),
        (("--label", "wet"), "each row has a label"),
        (("--ignore", "height"), "height"),
        (("--cost", "wet"), "numbers above 0"),
        (("--cost", "east"), "above 0 in the rows to ask for; it is"),
        (("--map", "east"), "two columns"),
        (("--map", "east,east"), "two different columns"),
        (("--map", "east,wet"), "numbers"),
        (("--strategy", "best"), "active-decorate"),
        (("--strategy", "multitask"), "--task-column"),
        (("--task-column", "county"), "county"),
        (("--n", "0"), "at least 1"),
        (("--exclude", "sites.csv"), "must leave rows"),
        (("--exclude", "other.csv"), "a column of TABLE"),
        (("--exclude", "none.csv"), "none.csv"),
    ],
)
def test_mistakes_are_one_sentence(ask, tmp_path, options, words):
    pd.DataFrame({"height": [1]}).to_csv(tmp_path / "other.csv", index=False)
    code, out, err = ask(*options, "--out", "o")
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["present"] * 3 + [None] * 77, "3 labels"),
        (["present"] * 30 + [None] * 50, "of one class"),
        ([None] * 80, "0 labels"),
        ([0.5, 0.7] * 30 + [None] * 20, "classes"),
    ],
)
def test_labels_must_be_classes_and_enough(ask, tmp_path, labels, words):
    sites().assign(wren=labels).to_csv(tmp_path / "bad.csv", index=False)
    code, _, err = ask("--out", "o", table="bad.csv")
    assert code == 2
    assert words in err
    sites().assign(rank=1).to_csv(tmp_path / "bad.csv", index=False)
    assert "rank" in ask("--out", "o", table="bad.csv")[2]


def test_columns_that_name_the_rows_are_a_warning(ask, no_curve, tmp_path):
    sites().assign(number=np.arange(80)[::-1] + 7).to_csv(tmp_path / "sites.csv", index=False)
    code, _, err = ask("--ignore", "hours", "--out", "o")
    assert code == 0 and err == "".join(
        f"warning: TABLE has the column `{name}`, in which each row has its own value; leave it "
        f"out with `--ignore {name}` if it only names the rows.\n"
        for name in ("site", "number")
    )
    assert ask(*COMMON, "--ignore", "number", "--out", "p")[::2] == (0, "")


def test_question_marks_may_be_missing_labels(ask, no_curve, tmp_path):
    table = sites()
    table["wren"] = table["wren"].where(np.arange(80) != 3, "?")
    table.to_csv(tmp_path / "sites.csv", index=False)
    code, _, err = ask(*COMMON, "--out", "o")
    assert code == 0 and err.startswith("warning: `--label`: column `wren` has a class `?`; give")
    assert ask(*COMMON, "--na", "?", "--out", "p")[::2] == (0, "")
    table.fillna({"wren": "?"}).to_csv(tmp_path / "sites.csv", index=False)
    code, _, err = ask(*COMMON, "--out", "q")
    remedy = 'give `--na "?"` if this means that there is none'
    assert code == 2 and err.endswith(f"each row has a label: empty it there, or {remedy}.\n")


def test_the_number_of_classes_is_a_word(ask, tmp_path):
    sites().assign(wren=["present"] * 40 + [None] * 40).to_csv(tmp_path / "sites.csv", index=False)
    assert "it has 40 labels of one class: label some random rows first" in ask(*COMMON)[2]
