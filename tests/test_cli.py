"""The command line: what it writes, and how it takes mistakes, interrupts and its own errors."""

import csv
import gzip
import html
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from command import frame, listing, mistake, record

import bnmtl
from bnmtl import plotting
from bnmtl.cli import learn, runs
from bnmtl.cli.main import main
from bnmtl.cli.options import Options, PredictOptions, RelateOptions
from bnmtl.graphs import takes_part
from bnmtl.io.run import read_run

# Of the border: what it calls is tested in plain Python by itself.
pytestmark = pytest.mark.beside_kernels

FIXED = [
    *("arcs.csv", "arcs.png", "confidence.csv", "dags.png", "dags.svg", "report.html", "run.json"),
]
# Of several tasks that share tables and whose groups are found.
SHARED = ["borrowed.csv", "borrowing.png", "group-gains.png"]


@pytest.fixture(scope="module")
def texts():
    """Two tasks as files of their own, and as one table with a task column, by name of file."""
    parts = {"north": frame(0), "south": frame(1)}
    whole = pd.concat([part.assign(region=name) for name, part in parts.items()])
    return {f"{n}.csv": t.to_csv(index=False) for n, t in {**parts, "all": whole}.items()}


@pytest.fixture
def files(texts, tmp_path):
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


USUAL = ("--restarts", "1")
# Replicates and held-out rows take most of the time.
QUICK = (*USUAL, "--bootstrap", "0", "--folds", "0")
WHOLE = ("learn", "north.csv", "south.csv", *USUAL)
FEW = (*USUAL, "--bootstrap", "2", "--folds", "2")
BOTH = ("learn", "north.csv", "south.csv", *QUICK)
ONE_GROUP = ("--task-groups", "one")


@pytest.mark.drawn
def test_learn_writes_everything(call, files):
    code, out, err = call(*WHOLE, *FEW[2:], "--out", "run")
    assert (code, err) == (0, "")
    run = files / "run"
    assert listing(run) == sorted([*FIXED, *SHARED, "north.bif", "south.bif"])
    assert listing(files) == ["all.csv", "north.csv", "run", "south.csv"]
    assert record(run)["files"] == listing(run)
    assert (run / "dags.png").read_bytes()[1:4] == b"PNG"
    assert "<svg" in (run / "dags.svg").read_text(encoding="utf-8")
    assert "north" in out and "south" in out
    assert "different arcs" in out and "one graph for all), the default." in out
    assert "12 files in run" in out


def test_run_json(call, files):
    assert call(*WHOLE, "--out", "run", "--max-parents", "2", "--seed", "5")[0] == 0
    found = record(files / "run")
    assert found["program"] == "bnmtl"
    assert found["versions"]["bnmtl"] == bnmtl.__version__
    given = {"paths": ["north.csv", "south.csv"], "max_parents": 2, "seed": 5, "out": "run"}
    assert {name: found["settings"][name] for name in given} == given
    assert set(found["settings"]) == {field.name for field in fields(Options)}
    assert found["replicates"] == 30
    assert [task["name"] for task in found["tasks"]] == ["north", "south"]
    assert found["tasks"][0]["file"] == "north.bif"
    assert found["tasks"][0]["rows"] == 80
    assert {"reading", "learning", "in all"} <= set(found["seconds"])
    assert found["penalty"] == 0.99 and "validation_scores" not in found
    assert found["held_out"]["folds"] == 5 and found["held_out"]["shares_tables"]
    assert set(found["start_scores"]) == {"own tables", "identical"}
    assert "cut_points" not in found
    assert found["task_groups"]["of"] == {"north": 1, "south": 1}
    scores = found["local_scores"]
    assert scores["hits"] > scores["counted"] > 0
    assert scores["asked"] == scores["hits"] + scores["counted"]


def test_a_time_limit_is_reported_and_starts_are_passed_on(call, files):
    result = learn.run(Options(paths=("north.csv",), starts=3, folds=0, bootstrap=0, out="few"))
    assert result.learner.search == bnmtl.Orders(starts=3)
    code, _, err = call(*BOTH, "--time-limit", "0", "--out", "run")
    assert code == 0
    assert "`--time-limit` ended a search early with its best graph so far; raise it, or leave" in (
        err
    )


def test_a_run_is_read_back(call, files):
    assert call(*BOTH, "--out", "run", "--penalty", "0.9")[0] == 0
    run = read_run(files / "run")
    assert list(run.configuration) == ["north", "south"]
    assert run.settings["penalty"] == 0.9
    effort = {"search": bnmtl.HillClimbing(restarts=1), "random_state": 0}
    expected = bnmtl.MultitaskLearner(bnmtl.PairedPrior(0.9), **effort).fit(
        {"north": frame(0), "south": frame(1)}
    )
    assert run.networks == expected.networks_
    for task in ("north", "south"):
        assert set(run.configuration[task].edges) == set(expected.configuration_[task].edges)
    with (files / "run" / "arcs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "from",
        "to",
        "task",
        "task_group",
        "strength",
        "compelled",
        "n_tasks",
        "n_tasks_possible",
        "tau_b",
        "confidence",
        "edge_confidence",
    ]
    assert {(r["from"], r["to"], r["task"]) for r in rows} == {
        (*arc, task) for task, graph in run.configuration.items() for arc in graph.edges
    }


@pytest.mark.drawn
def test_task_column_and_files_give_the_same(call, files):
    options = (*QUICK, *ONE_GROUP, "--out")
    assert call("learn", "all.csv", "--task-column", "region", *options, "one")[0] == 0
    assert call("learn", "north.csv", "south.csv", *options, "two")[0] == 0
    for name in ("arcs.csv", "north.bif", "south.bif", "dags.svg"):
        assert (files / "one" / name).read_bytes() == (files / "two" / name).read_bytes()


def test_results_do_not_depend_on_jobs(call, files):
    for jobs in ("1", "2"):
        few = ("--bootstrap", "2", "--folds", "2")
        assert call(*WHOLE, *few, "--jobs", jobs, "--out", f"run{jobs}")[0] == 0
    for name in ("arcs.csv", "borrowed.csv", "confidence.csv", "north.bif"):
        assert (files / "run1" / name).read_bytes() == (files / "run2" / name).read_bytes()


@pytest.mark.drawn
def test_one_task_says_that_nothing_is_shared(call, files):
    code, out, _ = call("learn", "north.csv", *FEW)
    assert code == 0
    assert "One task: nothing is shared." in out
    found = record(files / "bnmtl-run")
    assert "penalty" not in found
    assert listing(files / "bnmtl-run") == sorted([*FIXED, "north.bif"])
    assert list(read_run(files / "bnmtl-run").networks) == ["north"]


def test_discretize_records_the_cut_points(call, files):
    rng = np.random.default_rng(0)
    for name in ("north", "south"):
        table = frame(0).assign(height=rng.normal(size=80))
        table.to_csv(files / f"{name}.csv", index=False)
    err = mistake(call(*BOTH, "--out", "run"))
    assert "column `height` is continuous" in err
    assert call(*BOTH, "--out", "run", "--discretize", "3", *ONE_GROUP)[0] == 0
    cuts = record(files / "run")["cut_points"]["height"]
    assert len(cuts) == 2 and cuts[0] < cuts[1]


def test_ignore_and_missing(call, files):
    table = frame(0).assign(note=[f"n{i}" for i in range(80)])
    table.loc[3, "a"] = None
    table.to_csv(files / "north.csv", index=False)
    assert "missing" in mistake(call(*BOTH, "--out", "run"))
    options = ("--ignore", "note", "--ignore", "d", "--missing", "drop", *ONE_GROUP)
    code, _, err = call(*BOTH, "--out", "run", *options)
    assert code == 0
    assert err.startswith("warning: ") and err.count("\n") == 1
    found = record(files / "run")
    assert found["tasks"][0]["rows"] == 79
    assert found["tasks"][0]["variables"] == 3
    assert len(found["warnings"]) == 1
    page = (files / "run" / "report.html").read_text(encoding="utf-8")
    assert html.escape(found["warnings"][0]) in page


def test_required_forbidden_and_tiers(call, files):
    (files / "required.csv").write_text("from,to,task\nd,c,north\n")
    (files / "forbidden.csv").write_text("from,to\na,b\nb,a\n")
    (files / "tiers.txt").write_text("c,d\na,b\n")
    options = ("--required", "required.csv", "--forbidden", "forbidden.csv", "--tiers", "tiers.txt")
    assert call(*BOTH, "--out", "run", *options, "--penalty", "0.5", *ONE_GROUP)[0] == 0
    configuration = read_run(files / "run").configuration
    assert configuration["north"].has_edge("d", "c")
    for graph in configuration.values():
        assert not graph.has_edge("a", "b") and not graph.has_edge("b", "a")
        assert not any(graph.has_edge(a, b) for a in "ab" for b in "cd")


@pytest.mark.parametrize(
    ("score", "prior", "kind"),
    [
        ("MixedDirichlet", "paired", "PairedPrior"),
        ("BDeu", "edit", "EditPrior"),
        ("BDs", "paired", "PairedPrior"),
        ("K2", "edit", "EditPrior"),
        ("BIC", "paired", "PairedPrior"),
        ("AIC", "edit", "EditPrior"),
        ("MixedDirichlet", "edit", "EditPrior"),
    ],
)
def test_scores_and_priors(files, monkeypatch, score, prior, kind):
    monkeypatch.chdir(files)
    option = "mixed-dirichlet" if score == "MixedDirichlet" else score.lower()
    options = {"score": option, "prior": prior, "penalty": 0.75, "task_groups": "one"}
    options |= {"restarts": 1, "folds": 0, "bootstrap": 0, "out": "run"}
    learner = learn.run(Options(paths=("north.csv", "south.csv"), **options)).learner
    assert type(learner.score).__name__ == score
    assert type(learner.prior).__name__ == kind
    assert learner.prior.penalty == 0.75
    assert record(files / "run")["score"] == learner.score_


def test_warnings_are_listed_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for text, category in (("b", UserWarning), ("a", UserWarning), ("c", DeprecationWarning)):
            for _ in range(2):
                warnings.warn(text, category, stacklevel=1)
    assert runs.user_messages(caught) == ["b", "a"]


def test_equivalent_sample_size(call, files):
    options = ("--score", "bdeu", "--equivalent-sample-size", "7", "--penalty", "0.9", *ONE_GROUP)
    assert call(*BOTH, *options, "--out", "run")[0] == 0
    learner = bnmtl.MultitaskLearner(
        bnmtl.PairedPrior(0.9),
        score=bnmtl.BDeu(7.0),
        search=bnmtl.HillClimbing(restarts=1),
        random_state=0,
        table_sharing=None,
        task_groups=None,
    ).fit({"north": frame(0), "south": frame(1)})
    assert record(files / "run")["score"] == pytest.approx(learner.score_, rel=1e-12)


@pytest.mark.drawn
def test_task_names_that_no_file_can_have(call, files):
    whole = pd.concat([frame(i).assign(t=t) for i, t in enumerate(["a/b", "a b", "A_b", "../x"])])
    whole.to_csv(files / "odd.csv", index=False)
    options = ("--task-column", "t", "--penalty", "0.5", *ONE_GROUP, *QUICK, "--out", "run")
    assert call("learn", "odd.csv", *options)[0] == 0
    named = {task["name"]: task["file"] for task in record(files / "run")["tasks"]}
    assert named == {
        "../x": "_._x.bif",
        "A_b": "A_b.bif",
        "a b": "a_b_2.bif",
        "a/b": "a_b_3.bif",
    }
    assert list(read_run(files / "run").networks) == list(named)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn"], "PATH must name at least one CSV or Parquet file; none was given"),
        (["lern"], "No such command `lern`: see `bnmtl --help`"),
        (
            ["learn", "north.csv", "--scroe", "k2"],
            "`--scroe` is not an option of `bnmtl learn`: take `--score`, or see",
        ),
        (
            ["learn", "north.csv", "--task", "a"],
            "is not an option of `bnmtl learn`: take `--task-column` or `--task-groups`, or see",
        ),
        (["--foo"], "`--foo` is not an option of `bnmtl`: see `bnmtl --help`"),
        (["learn", "north.csv", "--bins", "3"], "`--bins` is not an option of `bnmtl learn`: see"),
        (["learn", "north.csv", "--seed"], "`--seed` requires an argument"),
        (["structures", "asia", "alarm"], "(alarm): see `bnmtl structures --help`"),
        (["learn", "nowhere.csv"], "`nowhere.csv` does not exist; check the path.\n"),
        (["learn", "."], "`.` is a directory"),
        (["learn", "north.csv", "north.csv"], "PATH must name every file once"),
        (
            ["learn", "north.csv", "--task-column", "t"],
            "`--task-column` must be one of the columns",
        ),
        (["learn", "north.csv", "--ignore", "z"], "there is no `z`"),
        (["learn", "all.csv", "--task-column", "region", "--ignore", "region"], "got region"),
        (["learn", "north.csv", "--missing", "skip"], "`--missing` must be error, drop or state"),
        (
            ["learn", "north.csv", "--score", "bde"],
            "k2, bic or aic, got bde",
        ),
        (["learn", "north.csv", "--prior", "none"], "must be paired or edit, got none"),
        (["learn", "north.csv", "--discretize", "1"], "a whole number of at least 2, got 1"),
        (["learn", "north.csv", "--discretize", "x"], "a whole number of at least 2, got x"),
        (
            ["learn", "real.csv", "--discretize", "300"],
            "`--discretize` must be a whole number from 2 to 256",
        ),
        (["learn", "north.csv", "--penalty", "much"], "auto or a number from 0 to 1, got much"),
        (["learn", "north.csv", "--penalty", "nan"], "auto or a number from 0 to 1, got nan"),
        (["learn", "north.csv", "--penalty", "1.1"], "auto or a number from 0 to 1, got 1.1"),
        (["learn", "north.csv", "--restarts", "-1"], "of at least 0, got -1"),
        (["learn", "north.csv", "--restarts", "x"], "of at least 0, got x"),
        (["learn", "north.csv", "--starts", "0"], "of at least 1, got 0"),
        (["learn", "north.csv", "--search", "x"], "must be orders, hill-climbing or exact, got x"),
        (["learn", "north.csv", "--time-limit", "-1"], "must be a number of 0 or more, got -1"),
        (
            ["learn", "north.csv", "--restarts", "3", "--search", "orders"],
            "`--restarts` belongs to `--search hill-climbing`; the search is orders",
        ),
        (
            ["learn", "north.csv", "--restarts", "3", "--starts", "3"],
            "`--starts` belongs to `--search orders`; the search is hill-climbing",
        ),
        (["learn", "north.csv", "--seed", "1.5"], "`--seed` must be a whole number of at least 0"),
        (["learn", "north.csv", "--seed", ""], "got nothing"),
        (["learn", "north.csv", "--jobs", "0"], "of at least 1, got 0"),
        (
            ["learn", "north.csv", "--max-parents", "0"],
            "`--max-parents` must be a whole number of at least 1, got 0.\n",
        ),
        (["learn", "north.csv", "--equivalent-sample-size", "0"], "above 0 and at most 1e9, got 0"),
        (["learn", "north.csv", "--equivalent-sample-size", "inf"], "at most 1e9, got inf"),
        (
            ["learn", "north.csv", "--score", "k2", "--equivalent-sample-size", "2"],
            "k2 has none: leave it out.\n",
        ),
        (["learn", "real.csv"], "with `--discretize N`"),
        (["learn", "infinite.csv"], "or leave the column out with `--ignore C`.\n"),
        (["learn", "gap.csv"], "drop such rows with `--missing drop`, or make them a state with"),
        (["learn", "gap.csv"], "`--missing state`."),
        (
            ["learn", "hollow.csv", "--missing", "drop"],
            "; leave such columns out with `--ignore C`.\n",
        ),
        (
            ["learn", "north.csv", "--required", "three.csv", "--max-parents", "2"],
            "`--required` gives `d` more parents than `--max-parents` allows, 2",
        ),
        (
            ["learn", "north.csv", "--required", "three.csv", "--forbidden", "three.csv"],
            "`--required` holds the arc a -> d, which is forbidden",
        ),
        (["learn", "required.csv"], "column `required` is continuous"),
        (
            ["learn", "north.csv", "--required", "nowhere.csv"],
            "File `nowhere.csv`: `--required` cannot be read (No such file or directory)",
        ),
        (["learn", "north.csv", "--forbidden", "bad.csv"], "File `bad.csv`, line 2: `--forbidden`"),
        (["learn", "north.csv", "--tiers", "bad.csv"], "File `bad.csv`, line 1: `--tiers`"),
        *(
            (
                ["learn", "north.csv", f"--{name}", text],
                f"`--{name}` must name a file, got nothing.\n",
            )
            for name in ("required", "forbidden", "tiers")
            for text in ("", " ")
        ),
        (["learn", "north.csv", "--required", "loop.csv"], "`--required` holds both a -> b"),
        (["learn", "north.csv", "--out", ""], "`--out` must name a folder, got nothing"),
        (["learn", "north.csv", "--out", "all.csv"], "got the file `all.csv`"),
        (["learn", "north.csv", "--out", "all.csv/run"], "got `all.csv/run` (Not a"),
        (["learn", "north.csv", "--out", "."], "must be a new or empty folder"),
        (["structures", "alram"], "'alram'"),
        (["structures", "--out", "x.bif"], "with the NAME of what to write; `x.bif` came alone"),
        (["structures", "asia", "--out", "asia.txt"], "must end in .bif"),
        (["structures", "asia", "--out", "nowhere/asia.bif"], "`nowhere/asia.bif` (No such file"),
        (["compile", "--jobs", "0"], "`--jobs` must be a whole number of at least 1, got 0.\n"),
        (["data", "sax"], "'sax'"),
        (["data", "--out", "x.csv"], "with the NAME of what to write; `x.csv` came alone"),
        (["data", "sachs", "--out", "north.csv"], "`north.csv`, which exists"),
    ],
)
def test_a_mistake_is_one_line(call, files, arguments, message):
    (files / "bad.csv").write_text("from,to\na,z\n")
    (files / "loop.csv").write_text("from,to\na,b\nb,a\n")
    (files / "three.csv").write_text("from,to\na,d\nb,d\nc,d\n")
    for name, values in {
        "real.csv": ("x", "0.5", "1.5"),
        "infinite.csv": ("x", "inf", "1"),
        "gap.csv": ("x", "", "1"),
        "hollow.csv": ("x", "", ""),
        "required.csv": ("required", "0.5", "1.5"),
    }.items():
        column, *cells = values
        rows = "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells * 2))
        (files / name).write_text(f"{column},y\n{rows}")
    before = listing(files)
    err = mistake(call(*arguments))
    assert message in err
    assert listing(files) == before


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that nobody can write to")
def test_a_folder_that_cannot_be_written_is_refused_before_learning(call, files):
    """Even before any file is read."""
    err = mistake(call("learn", "nowhere.csv", "--out", "/proc/x"))
    assert "`/proc/x` (" in err and "partial" not in err


def test_a_full_disk_is_reported_with_the_given_folder(call, files, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bnmtl.cli.learn.write_report", full)
    err = mistake(call("learn", "north.csv", *QUICK, "--out", "run"))
    assert err == "bnmtl: `run`: No space left on device.\n"
    assert listing(files) == ["all.csv", "north.csv", "run", "south.csv"]
    assert list(read_run(files / "run").networks) == ["north"]


@pytest.mark.drawn
def test_constant_variables(call, files):
    south = frame(1).assign(b=0)
    south.to_csv(files / "south.csv", index=False)
    frame(2).to_csv(files / "west.csv", index=False)
    paths = ("north.csv", "south.csv", "west.csv")
    code, out, err = call("learn", *paths, *QUICK, *ONE_GROUP, "--penalty", "0.9", "--out", "run")
    assert code == 0
    assert "only one state is observed (`b`)" in err
    assert "2 in all tasks that could have them, 0 in some" in out
    found = record(files / "run")
    assert [task["constant"] for task in found["tasks"]] == [[], ["b"], []]
    graph = read_run(files / "run").configuration["south"]
    assert [v for v in graph if not takes_part(graph, v)] == ["b"]
    page = (files / "run" / "report.html").read_text(encoding="utf-8")
    assert "2 of 2" in page and "2 of 3" not in page
    assert "are in all tasks that could have them" in page


@pytest.mark.drawn
def test_names_that_no_font_can_draw_are_reported_once(call, files):
    for name in ("north", "south"):
        frame(0).rename(columns={"a": "\u5909\u6570"}).to_csv(files / f"{name}.csv", index=False)
    no_font = plotting.layout.families("\u5909\u6570") == plotting.layout.families("a")
    code, _, err = call(*BOTH, *ONE_GROUP, "--out", "run")
    assert code == 0
    assert err.count("No installed font has all characters of") == bool(no_font)
    # Its rows are in a row, which is said once.
    assert err.count("Rows next to each other are more alike") == 1
    assert err.count("\n") == bool(no_font) + 1


def test_the_report_names_the_options(call, files):
    options = (*QUICK, *ONE_GROUP, "--out", "run")
    assert call("learn", "all.csv", "--task-column", "region", *options)[0] == 0
    page = (files / "run" / "report.html").read_text(encoding="utf-8")
    assert '<td class="name">--task-column</td><td class="text">region</td>' in page
    assert '<td class="name">--max-parents</td><td class="text">not given</td>' in page
    assert '<td class="name">PATH</td><td class="text">all.csv</td>' in page
    assert '<td class="name">--force</td><td class="text">not given</td>' in page
    assert "task_column" not in page


def test_what_can_be_checked_is_checked_before_learning(call, files):
    def refused(*paths, **options):
        """The error of a run, in which no search has begun by then."""
        events = []
        with pytest.raises(ValueError) as error:
            learn.run(Options(paths=paths, **options), events.append)
        assert events == []
        return str(error.value)

    (files / "run").mkdir()
    (files / "run" / "NORTH.bif").write_text("mine")
    folder = {"out": "run", "force": True}
    assert "`run/NORTH.bif`, which is not from bnmtl" in refused("north.csv", **folder)
    err = mistake(call(*BOTH, "--out", "run", "--force"))
    assert "`run/NORTH.bif`, which is not from bnmtl" in err
    (files / "run" / "NORTH.bif").rename(files / "run" / "Report.html")
    assert "`run/Report.html`, which is not from bnmtl" in refused("nowhere.csv", **folder)
    (files / "required.csv").write_text("from,to\na,z\n")
    assert "line 2" in refused("north.csv", required="required.csv")
    assert "line 2" in mistake(call(*BOTH, "--required", "required.csv"))


def test_force_replaces_an_earlier_run_and_nothing_else(call, files):
    assert call(*WHOLE, *FEW[2:], "--out", "run")[0] == 0
    (files / "run" / "notes.txt").write_text("mine")
    assert "--force" in mistake(call("learn", "north.csv", *QUICK, "--out", "run"))
    assert call("learn", "north.csv", *FEW, "--out", "run", "--force")[0] == 0
    assert listing(files / "run") == sorted([*FIXED, "north.bif", "notes.txt"])
    assert len(record(files / "run")["tasks"]) == 1


@pytest.mark.parametrize(
    "moment", ["bnmtl.cli.learn.learner_asked_for", "bnmtl.cli.runs.write_record"]
)
def test_an_interrupt_leaves_nothing_half_written(call, files, monkeypatch, moment):
    assert call("learn", "north.csv", *QUICK, "--out", "old")[0] == 0
    before = {file.name: file.read_bytes() for file in (files / "old").iterdir()}

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(moment, interrupt)
    for out in ("old", "new/run"):
        code, stdout, err = call("learn", "south.csv", *QUICK, "--out", out, "--force")
        assert (code, stdout) == (130, "")
        assert err == "bnmtl: interrupted; no half-written file is left.\n"
    assert {file.name: file.read_bytes() for file in (files / "old").iterdir()} == before
    assert listing(files) == ["all.csv", "north.csv", "old", "south.csv"]


def test_a_signal_while_learning(files):
    # Where the suite runs in the background, shells have its processes ignore the signal.
    program = (
        "import signal; from bnmtl.cli.main import main;"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        "open('started', 'w').close(); main()"
    )
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", program, *BOTH, "--out", "run"),
            *("--restarts", "10000", "--bootstrap", "1000000", "--jobs", "2"),
        ],
        cwd=files,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started = files / "started"
    try:
        while not started.exists():
            assert process.poll() is None
            time.sleep(0.1)
        started.unlink()
        time.sleep(3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert (out, err) == ("", "bnmtl: interrupted; no half-written file is left.\n")
    assert listing(files) == ["all.csv", "north.csv", "south.csv"]


def test_an_internal_error_is_not_reported_as_a_mistake(call, files, monkeypatch):
    def numpy_fails(*_):
        return np.zeros(3) + np.zeros(4)

    monkeypatch.setattr(learn, "learner_asked_for", numpy_fails)
    monkeypatch.chdir(files)
    with pytest.raises(ValueError, match="broadcast"):
        main(["learn", "north.csv", *QUICK, "--out", "run"])
    monkeypatch.undo()
    monkeypatch.chdir(files)
    # Fails outside Python, so that the last line on the stack is one of bnmtl.
    monkeypatch.setattr("bnmtl.io.run.json", SimpleNamespace(dumps=int, loads=int))
    with pytest.raises(TypeError, match="int"):
        main(["learn", "north.csv", *QUICK, "--out", "run"])
    assert not (files / "run").exists()


def raises(error):
    def function(*_, **__):
        raise error

    return function


@pytest.mark.parametrize("place", ["learner_asked_for", "write_report"])
def test_an_error_about_a_file_that_the_user_did_not_name_is_internal(files, monkeypatch, place):
    monkeypatch.chdir(files)
    error = FileNotFoundError(2, "No such file or directory", str(Path(bnmtl.__file__, "inside")))
    monkeypatch.setattr(learn, place, raises(error))
    with pytest.raises(FileNotFoundError, match="inside"):
        main(["learn", "north.csv", *QUICK, "--out", "run"])
    assert (files / "run").exists() == (place == "write_report")  # which comes after the results


@pytest.mark.parametrize("out", [("--out", "run"), ("--out=run",), ()])
def test_a_file_that_the_user_named_is_reported(call, files, monkeypatch, out):
    for place in (files / "north.csv", Path("run" if out else "bnmtl-run", "arcs.csv")):
        monkeypatch.setattr(learn, "read_tasks", raises(PermissionError(13, "Denied", str(place))))
        assert mistake(call(*BOTH, *out)) == f"bnmtl: `{place}`: Denied.\n"


def test_an_internal_error_keeps_its_traceback(files):
    program = (
        "import sys; from types import SimpleNamespace; from bnmtl.cli.main import main;"
        "sys.modules['bnmtl.cli.learn'] = SimpleNamespace(run=lambda *_: {}['x']);"
        f"main({[*BOTH, '--out', 'run']!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=files, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr and "KeyError: 'x'" in done.stderr
    assert not (files / "run").exists()


def test_version_and_help(call):
    assert call("--version") == (0, f"bnmtl {bnmtl.__version__}\n", "")
    for arguments in ((), ("--help",)):
        code, out, err = call(*arguments)
        assert (code, err) == (0, "")
        assert all(command in out for command in ("learn", "relate", "structures", "data"))


@pytest.mark.parametrize(
    ("command", "options"),
    [("learn", Options), ("relate", RelateOptions), ("predict", PredictOptions)],
)
def test_help_names_every_option_in_a_narrow_terminal(call, monkeypatch, command, options):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(command, "--help")
    assert code == 0 and "…" not in out
    by_place = {"paths", "network", "rows"}
    names = [field.name for field in fields(options) if field.name not in by_place]
    assert len(names) > 4
    for name in names:
        assert f"--{name.replace('_', '-')} " in out


def test_version_and_help_load_nothing_heavy():
    calls = [["--version"], ["--help"], ["learn", "--help"], ["relate", "--help"]]
    program = (
        "import sys\nfrom bnmtl.cli.main import main\n"
        f"for arguments in {calls!r}:\n"
        "    try:\n        main(arguments)\n    except SystemExit:\n        pass\n"
        "heavy = {'numpy', 'pandas', 'numba', 'matplotlib', 'sklearn', 'scipy', 'networkx'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"


def test_structures(call, tmp_path):
    code, out, _ = call("structures")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == bnmtl.structures.names()
    assert "37 variables     46 arcs     509 parameters" in out
    assert call("structures", "asia")[1] == "BayesNet(8 variables, 8 arcs, 18 parameters)\n"
    for name in ("asia.bif", "asia.bif.gz"):
        assert call("structures", "asia", "--out", name)[0] == 0
        assert bnmtl.BayesNet.from_bif(tmp_path / name) == bnmtl.structures.load("asia")


def test_data(call, tmp_path):
    code, out, _ = call("data")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == bnmtl.data.names()
    assert "9 tasks by column condition, 7466 rows, 11 variables" in out
    assert call("data", "avimedi", "--out", "birds.csv")[0] == 0
    assert call("data", "avimedi", "--out", "birds.csv.gz")[0] == 0
    plain = (tmp_path / "birds.csv").read_bytes()
    assert plain == gzip.decompress((tmp_path / "birds.csv.gz").read_bytes())
    tasks = bnmtl.tasks.read(tmp_path / "birds.csv", task_column="region")
    for region, table in bnmtl.data.load("avimedi").items():
        pd.testing.assert_frame_equal(tasks[region], table)


@pytest.mark.parametrize("penalty", [None, "auto"])
def test_progress_of_a_real_run_ends_complete(files, monkeypatch, penalty):
    last = {}

    def listen(event):
        last[event.stage, event.task] = event

    monkeypatch.chdir(files)
    monkeypatch.setattr("bnmtl.learners.validated.DEFAULT_PENALTIES", (0.0, 0.9))
    learn.run(
        Options(
            paths=("north.csv", "south.csv"), restarts=0, penalty=penalty, folds=2, bootstrap=0
        ),
        listen,
    )
    finished = {stage for (stage, _), event in last.items() if event.total}
    expected = "comparing on held-out rows" if penalty is None else "penalties"
    assert {"single-task", "gains of pairs", expected} <= finished
    assert all(event.done == event.total for event in last.values() if event.total)
