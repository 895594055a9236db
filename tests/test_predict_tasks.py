"""`bnmtl predict` with the folder of a run: each row by the network of its task."""

import shutil

import numpy as np
import pandas as pd
import pytest
from command import frame, listing, mistake, record, sign

from bnmtl import BayesNet
from bnmtl.cli import learn
from bnmtl.cli.options import Options
from bnmtl.io import read_run
from bnmtl.tasks import Edges

pytestmark = pytest.mark.beside_kernels

PREDICT = ("predict", "run", "new.csv", "--target", "b", "--out", "out.csv")
ADDED = ["predicted_b", "p_b_0", "p_b_1"]
ALONE = {"restarts": 0, "folds": 0, "bootstrap": 0}
QUICK = {**ALONE, "penalty": 0.5, "table_sharing": "none", "task_groups": "one"}


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A folder with a run of three tasks, named by column `region`, and its training rows."""
    folder = tmp_path_factory.mktemp("regions")
    tasks = [
        frame(seed, 200).assign(region=name, h=np.random.default_rng(seed).normal(size=200))
        for seed, name in enumerate(("1", "east", "west"))
    ]
    tasks[2]["b"] = 1 - tasks[2]["b"]  # so that networks differ
    pd.concat(tasks).to_csv(folder / "birds.csv", index=False)
    options = {"task_column": "region", "discretize": 2, "out": str(folder / "run"), **QUICK}
    learn.run(Options(paths=(str(folder / "birds.csv"),), **options))
    return folder


@pytest.fixture
def rows(learned, tmp_path):
    """The run in the folder of the test, and 60 new rows there; returns the rows."""
    shutil.copytree(learned / "run", tmp_path / "run")
    rng = np.random.default_rng(3)
    rows = frame(7, 60).assign(h=rng.normal(size=60))
    rows.insert(0, "region", rng.choice(["1", "east", "west"], 60))
    rows.to_csv(tmp_path / "new.csv", index=False)
    return rows


def test_each_row_is_predicted_by_the_network_of_its_task(call, rows, tmp_path):
    code, _, err = call(*PREDICT)
    assert (code, err) == (0, "")
    together = pd.read_csv(tmp_path / "out.csv")
    assert list(together) == [*rows, *ADDED]
    assert together["region"].tolist() == rows["region"].tolist()
    best = set()
    for task, rows_of_task in rows.groupby("region"):
        rows_of_task.to_csv(tmp_path / "own.csv", index=False)
        command = ("predict", f"run/{task}.bif", "own.csv", "--target", "b", "--out", "own_out.csv")
        assert call(*command, "--force")[0] == 0
        alone = pd.read_csv(tmp_path / "own_out.csv")[ADDED]
        found = together.loc[rows["region"] == task, ADDED].reset_index(drop=True)
        pd.testing.assert_frame_equal(found, alone)
        best.add((alone["predicted_b"] == rows_of_task["a"].to_numpy()).mean() > 0.5)
    assert best == {True, False}  # the networks differ, so it matters which one predicts


def test_the_task_column_may_have_another_name(call, rows, tmp_path):
    assert call(*PREDICT)[0] == 0
    expected = pd.read_csv(tmp_path / "out.csv")[ADDED]
    rows.rename(columns={"region": "where"}).to_csv(tmp_path / "new.csv", index=False)
    assert mistake(call(*PREDICT, "--force")) == (
        "bnmtl: `--task-column` must assign each row to one of the 3 networks of `run`; name a "
        "column of ROWS, or give one file of the folder as NETWORK.\n"
    )
    assert call(*PREDICT, "--force", "--task-column", "where")[0] == 0
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv")[ADDED], expected)


def test_the_summary_has_a_row_per_task(call, rows, tmp_path):
    code, out, _ = call(*PREDICT)
    assert code == 0
    table = pd.read_csv(tmp_path / "out.csv")
    states, tasks, rest = out.split("\n\n")
    assert states.splitlines()[0].split() == ["state", "predicted", "mean", "probability", "known"]
    for line in tasks.splitlines()[1:]:
        name, n_rows, known, right, entropy = line.split()
        rows_of_task = table[table["region"].astype(str) == name]
        assert n_rows == known == str(len(rows_of_task))
        assert right == f"{(rows_of_task['predicted_b'] == rows_of_task['b']).mean():.1%}"
        p = rows_of_task["p_b_1"].where(rows_of_task["b"] == 1, rows_of_task["p_b_0"])
        assert entropy == f"{-np.log(p).mean():.3f}"
    assert rest.startswith("Of 60 rows whose b is known")
    rows.drop(columns="b").to_csv(tmp_path / "new.csv", index=False)
    _, tasks, rest = call(*PREDICT, "--force")[1].split("\n\n")
    assert tasks.splitlines()[0].split() == ["task", "rows"] and "known" not in rest


def test_one_task_needs_no_column(call, tmp_path):
    frame(0, 200).to_csv(tmp_path / "birds.csv", index=False)
    learn.run(Options(paths=("birds.csv",), out="run", **ALONE))
    frame(1).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = call(*PREDICT)
    assert (code, err) == (0, "") and "task" not in out
    by_folder = (tmp_path / "out.csv").read_text()
    assert call("predict", "run/birds.bif", *PREDICT[2:], "--force")[0] == 0
    assert (tmp_path / "out.csv").read_text() == by_folder


def test_rows_that_were_used_for_learning_are_reported(call, rows, learned, tmp_path):
    words = "warning: ROWS was used for learning NETWORK; predictions of other rows will be worse"
    for network in ("run", "run/west.bif"):
        err = call("predict", network, learned / "birds.csv", *PREDICT[3:], "--force")[2]
        assert words in err
    shutil.copy(learned / "birds.csv", tmp_path / "new.csv")
    assert words in call(*PREDICT, "--force")[2]
    text = (tmp_path / "new.csv").read_text()
    (tmp_path / "new.csv").write_text(text[: text.rindex("\n", 0, -1)])  # a row less
    assert call(*PREDICT, "--force")[2] == ""


def test_one_network_for_rows_of_other_tasks_is_reported(call, rows, tmp_path):
    n_other = (rows["region"] != "1").sum()
    code, out, err = call("predict", "run/1.bif", *PREDICT[2:])
    assert code == 0 and "Of 60 rows" in out
    assert err == (
        f"warning: ROWS has {n_other} rows of 60 with another `region` than `1`, whose network "
        "predicts all; give the folder `run` as NETWORK to predict each by its own network.\n"
    )
    rows[rows["region"] == "1"].to_csv(tmp_path / "new.csv", index=False)
    assert call("predict", "run/1.bif", *PREDICT[2:], "--force")[2] == ""


def test_infinite_numbers_are_discretized_as_others_are(call, rows, tmp_path):
    rows.loc[:1, "h"] = [-np.inf, np.inf]
    rows.to_csv(tmp_path / "new.csv", index=False)
    assert call("predict", "run", "new.csv", "--target", "h", "--out", "out.csv")[0] == 0
    observed = pd.read_csv(tmp_path / "out.csv")["observed_h"]
    assert observed[:2].tolist() == list(read_run("run").networks["1"].states["h"])


def test_data_may_go_while_it_is_learned_from(call, learned, tmp_path):
    shutil.copy(learned / "birds.csv", tmp_path / "birds.csv")
    options = {"task_column": "region", "discretize": 2, "out": "again", **QUICK}

    def remove(_):
        (tmp_path / "birds.csv").unlink(missing_ok=True)

    learn.run(Options(paths=("birds.csv",), **options), progress=remove)
    assert not (tmp_path / "birds.csv").exists()
    kept = record(tmp_path / "again")
    assert kept["sha256"] == record(learned / "run")["sha256"]
    assert kept["cut_points"] == record(learned / "run")["cut_points"]


def test_rows_are_not_discretized_for_a_network_that_is_not_of_the_run(call, rows, tmp_path):
    shutil.copy(tmp_path / "run" / "1.bif", tmp_path / "run" / "mine.bif")
    for name, is_of_run in (("1", True), ("mine", False)):
        out, err = call("predict", f"run/{name}.bif", *PREDICT[2:], "--force")[1:]
        is_discretized = "Numeric columns were discretized" in out
        assert is_discretized == is_of_run == ("with another `region`" in err)


def test_a_word_in_a_discretized_column_is_reported(call, rows, learned, tmp_path):
    """The numbers of the column are still discretized, also if it is the target."""
    assert call(*PREDICT[:4], "c", *PREDICT[5:])[0] == 0
    network = read_run("run").networks["1"]
    states = network.states["h"]
    strange = rows.astype({"h": object})
    strange.loc[3, "h"] = "n/a"
    strange.to_csv(tmp_path / "strange.csv", index=False)
    command = ("predict", "run", "strange.csv", "--target", "h", "--out", "h.csv")
    code, out, err = call(*command)
    assert code == 0 and "Of 59 rows whose h is known" in out
    assert err == (
        "warning: ROWS: column `h` holds `n/a`, which NETWORK does not know; accuracy and "
        "cross-entropy are computed without 1 row.\n"
    )
    observed = pd.read_csv(tmp_path / "h.csv")["observed_h"]
    cut = Edges(record(tmp_path / "run")["cut_points"]).apply(rows)["h"].astype(str)
    assert observed.isna().tolist() == [i == 3 for i in range(60)]
    assert observed.drop(3).tolist() == cut.drop(3).tolist() and set(cut) <= set(states)
    # As evidence of a variable that depends on it.
    graph = network.graph.copy()
    graph.add_edge("h", "c")
    graph.remove_edges_from([arc for arc in graph.edges if arc != ("h", "c")])
    hand_made = BayesNet.fit(graph, cut.to_frame().assign(**rows[["a", "b", "c", "d"]]))
    for task in ("1", "east", "west"):
        hand_made.to_bif(tmp_path / "run" / f"{task}.bif")
    sign(tmp_path / "run", record(tmp_path / "run"), ["1.bif", "east.bif", "west.bif"])
    command = ("predict", "run", "strange.csv", "--target", "c", "--out", "c.csv")
    assert mistake(call(*command)).endswith(
        f": column `h` must hold states that the network knows (`{states[0]}`, `{states[1]}`), got "
        "`n/a`; correct them, or treat them as missing with `--unseen ignore`.\n"
    )
    code, _, err = call(*command, "--unseen", "ignore")
    assert code == 0 and err.endswith(
        " has values that NETWORK does not know, treated as missing; 1 in `h`.\n"
    )
    expected = hand_made.predict_proba(cut.to_frame().drop(3), "c")
    found = pd.read_csv(tmp_path / "c.csv")[["p_c_0", "p_c_1"]].drop(3)
    assert np.allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("names", [("1.0", "2.0", "04"), ("0.5", "1e3", "x"), ("1", "2", "10")])
def test_names_of_tasks_are_text(call, tmp_path, names):
    """Also where a file holds one of them alone, which looks like a number."""
    parts = [frame(seed, 60).assign(site=name) for seed, name in enumerate(names)]
    pd.concat(parts).to_csv(tmp_path / "sites.csv", index=False)
    learn.run(Options(paths=("sites.csv",), task_column="site", out="run", **QUICK))
    for name, part in zip(names, parts, strict=True):
        part[:50].to_csv(tmp_path / "new.csv", index=False)
        for network in ("run", f"run/{name}.bif"):
            code, _, err = call("predict", network, *PREDICT[2:], "--force")
            assert (code, err) == (0, "")
            written = (tmp_path / "out.csv").read_text().splitlines()
            assert all(f",{name}," in line for line in written[1:])


@pytest.mark.parametrize(
    "damage",
    [
        {"tasks": []},
        {"tasks": None},
        {"cut_points": None},
        {"sha256": 5},
        {"settings": {"task_column": ["region"]}},
        {"tasks": [{"name": "1", "file": 5}]},
        {"tasks": [{"name": "1", "file": "1.bif"}] * 2},
        {"tasks": [{"name": "1", "file": "1.bif", "constant": None}]},
    ],
)
def test_a_damaged_record_is_one_line(call, rows, tmp_path, damage):
    sign(tmp_path / "run", {**record(tmp_path / "run"), **damage})
    err = mistake(call(*PREDICT))
    assert "`run/run.json` must list tasks" in err and "it is damaged.\n" in err


def test_a_run_that_was_changed_by_hand_is_one_line(call, rows, tmp_path):
    path = tmp_path / "run/east.bif"
    path.write_text(path.read_text() + "\n")
    assert mistake(call(*PREDICT)) == (
        "bnmtl: File `run/east.bif` must be as its run wrote it; it was changed: run `bnmtl learn` "
        "again, or give this file alone.\n"
    )
    assert call("predict", "run/west.bif", *PREDICT[2:])[0] == 0
    path = tmp_path / "run/run.json"
    path.write_text(path.read_text().replace('"program"', '"seed": 1, "program"'))
    err = mistake(call(*PREDICT, "--force"))
    assert err == (
        "bnmtl: File `run/run.json` must be as it was written; it was changed: run the command "
        "again.\n"
    )


def test_strange_values_are_reported_by_task(call, rows, tmp_path):
    rows = rows.astype({"a": str})
    at = rows.index[rows["region"] == "west"][:2]
    rows.loc[at, "a"] = "many"
    rows.to_csv(tmp_path / "new.csv", index=False)
    err = mistake(call(*PREDICT))
    assert err.startswith("bnmtl: Task `west`: ROWS: column `a` must hold states that the network")
    assert err.endswith(
        "got `many`; correct them, or treat them as missing with `--unseen ignore`.\n"
    )
    code, _, err = call(*PREDICT, "--unseen", "ignore")
    words = "has values that NETWORK does not know, treated as missing; 2 in `a`."
    assert (code, err) == (0, f"warning: Task `west`: ROWS {words}\n")


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            {},
            ["--task-column", "x"],
            "must be a column of ROWS, `region`, `a`, `b`, `c`, `d`, `h`, got x",
        ),
        (
            {},
            ["--task-column", "h"],
            "column `h` must hold tasks of `run`, `1`, `east`, `west`; ",
        ),
        (
            {},
            ["--task-column", "a"],
            "must hold tasks of `run`, `1`, `east`, `west`; it holds `0`",
        ),
        ({"region": "south"}, [], "`1`, `east`, `west`; it holds `south` in 60 rows: correct or"),
        ({"region": None}, [], "column `region` must be complete; it is not in row 1: fill it"),
        (
            {},
            ["--target", "wren"],
            "`--target` must be one of variables `a`, `b`, `c`, `d`, `h`, go",
        ),
        (
            {},
            ["--target", "region"],
            "`--target` must be one of variables `a`, `b`, `c`, `d`, `h`,",
        ),
        ({"p_b_0": 1}, [], "ROWS must not have columns that will be written; it has `p_b_0`"),
    ],
)
def test_a_mistake_is_one_line(call, rows, tmp_path, change, options, message):
    rows.assign(**change).to_csv(tmp_path / "new.csv", index=False)
    assert message in mistake(call(*PREDICT, *options))
    assert listing(tmp_path) == ["new.csv", "run"]


def test_a_folder_without_networks_is_one_line(call, rows, tmp_path):
    others = PREDICT[2:]
    assert mistake(call("predict", ".", *others)) == (
        "bnmtl: NETWORK must be a folder written by `bnmtl learn`; `.` holds no run.json.\n"
    )
    err = mistake(call("predict", "run/1.bif", *others, "--task-column", "region"))
    assert "`--task-column` must go with the folder of a run; NETWORK is one file, `run/1.b" in err
    (tmp_path / "run" / "east.bif").unlink()
    err = mistake(call(*PREDICT))
    assert (
        "NETWORK must hold the network of every task; `run/east.bif`, that of `east`, is mis" in err
    )
    assert listing(tmp_path) == ["new.csv", "run"]


def test_a_task_without_the_target_is_named(call, tmp_path):
    frame(0, 200).to_csv(tmp_path / "east.csv", index=False)
    frame(1, 200).drop(columns="b").to_csv(tmp_path / "west.csv", index=False)
    learn.run(Options(paths=("east.csv", "west.csv"), out="run", **QUICK))
    assert len(read_run("run").networks) == len(record(tmp_path / "run")["tasks"]) == 2
    rows = frame(2).assign(where=["east", "west"] * 40)
    rows.to_csv(tmp_path / "new.csv", index=False)
    err = mistake(call(*PREDICT, "--task-column", "where"))
    assert "`--target` must be a variable of every task; task `west` has no `b`: leave" in err
    rows[::2].to_csv(tmp_path / "new.csv", index=False)
    assert call(*PREDICT, "--task-column", "where")[0] == 0
