"""Options of `bnmtl learn` about what is believed: sparsity, ways of choosing, folds, bounds."""

import numpy as np
import pandas as pd
import pytest
from command import frame, mistake, record

import bnmtl
from bnmtl import HillClimbing
from bnmtl.io import read_run
from bnmtl.learners import compare
from bnmtl.learners.comparison import held_out_record

pytestmark = pytest.mark.beside_kernels

CLIMB = {"search": HillClimbing(restarts=0), "random_state": 0}
BOTH = ("learn", "north.csv", "south.csv", "--restarts", "0", "--bootstrap", "0")
TASKS = {"north": frame(0), "south": frame(1)}


@pytest.fixture
def files(tmp_path):
    for name, table in TASKS.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "choose, way, sharing",
    [
        ("cv", {"rule": "best"}, "auto"),
        ("one-standard-error", {"rule": "one-standard-error"}, "none"),
        ("posterior", {"validation": "posterior"}, "none"),
    ],
)
def test_ways_of_choosing_the_penalty(call, files, monkeypatch, choose, way, sharing):
    monkeypatch.setattr("bnmtl.learners.validated.DEFAULT_PENALTIES", (0.0, 0.9, 1.0))
    how = ("--choose", choose, "--folds", "2", "--task-groups", "one", "--table-sharing", sharing)
    code, out, err = call(*BOTH, *how, "--out", "run")
    assert (code, err) == (0, "")
    folds = {} if choose == "posterior" else {"cv": 2}
    more = {"task_groups": None, "table_sharing": None if sharing == "none" else sharing}
    learner = bnmtl.MultitaskLearnerCV(**more, **way, **folds, **CLIMB).fit(TASKS)
    kept = record(files / "run")
    assert kept["chosen_by"] == learner.chosen_by_
    assert kept["penalty"] == learner.penalty_
    scores = {one["penalty"]: one["score"] for one in kept["validation_scores"]}
    assert scores == pytest.approx(learner.validation_scores_.to_dict())
    assert kept["held_out"] == held_out_record(compare(learner, TASKS, 2))
    assert kept["held_out"]["folds"] == 2
    for means in kept["held_out"]["tasks"].values():
        assert all(f"{mean:.2f}" in out for mean in means.values())
    assert "each alone" in out and "no arcs" in out


def test_folds_0_leaves_the_comparison_out_and_says_so(call, files):
    code, out, _ = call(*BOTH, "--penalty", "0.9", "--folds", "0", "--out", "run")
    assert code == 0
    assert "No rows were held out, so" in out
    assert record(files / "run")["held_out"] is None
    page = (files / "run" / "report.html").read_text()
    assert "No rows were held out, so" in page and "On held-out rows</h2>" not in page


def test_a_given_penalty_is_compared_too(call, files):
    code, out, _ = call(
        *BOTH, "--penalty", "0.9", "--folds", "2", "--task-groups", "one", "--out", "run"
    )
    assert code == 0
    learner = bnmtl.MultitaskLearner(bnmtl.PairedPrior(0.9), task_groups=None, **CLIMB)
    expected = held_out_record(compare(learner, TASKS, 2))
    assert record(files / "run")["held_out"] == expected
    assert "gain" in out
    page = (files / "run" / "report.html").read_text()
    assert "On held-out rows</h2>" in page
    assert f"{expected['together']:.3f}".lstrip("-") in page


def test_one_task_is_compared_with_no_arcs(call, files):
    code, out, _ = call("learn", "north.csv", "--restarts", "0", "--bootstrap", "0", "--out", "run")
    assert code == 0
    kept = record(files / "run")["held_out"]
    assert set(kept["differences"]) == {"alone - empty"} and kept["folds"] == 10
    assert "nats per row over no arcs" in out


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--penalty", "0.5", "--prior", "edit"), "`--prior`, `--penalty`"),
        (("--choose", "posterior", "--table-sharing", "none"), "`--choose`, `--table-sharing`"),
        (("--penalty", "auto"), "`--penalty`"),
        (("--task-groups", "one"), "`--task-groups`"),
        ((), None),
    ],
)
def test_one_task_has_no_use_for_options_of_several(call, files, options, named):
    cheap = ("--restarts", "0", "--bootstrap", "0", "--folds", "0", "--out", "run")
    code, _, err = call("learn", "north.csv", *cheap, *options)
    message = f"Options about several tasks have no effect on one; leave out {named}."
    assert code == 0
    assert err == (f"warning: {message}\n" if named else "")
    assert record(files / "run")["warnings"] == ([message] if named else [])


@pytest.mark.parametrize(
    "given, prior",
    [("auto", "auto"), ("0.2", bnmtl.ArcPrior(probability=0.2)), ("none", None)],
)
def test_probability_of_an_arc(call, files, given, prior):
    options = (
        "--penalty",
        "0.9",
        "--folds",
        "0",
        "--task-groups",
        "one",
        "--arc-probability",
        given,
    )
    assert call(*BOTH, *options, "--out", "run")[0] == 0
    learner = bnmtl.MultitaskLearner(
        bnmtl.PairedPrior(0.9), structure_prior=prior, task_groups=None, **CLIMB
    ).fit(TASKS)
    found = read_run(files / "run")
    assert record(files / "run")["score"] == pytest.approx(learner.score_)
    for name, graph in learner.configuration_.items():
        assert set(found.configuration[name].edges) == set(graph.edges)
        assert found.networks[name] == learner.networks_[name]


@pytest.mark.parametrize("given", ["0", "1", "-0.5", "many"])
def test_probabilities_out_of_range(call, files, given):
    err = mistake(call(*BOTH, "--arc-probability", given))
    assert "--arc-probability" in err and given in err


def test_the_smoothing_of_tables(call, files):
    options = (
        "--penalty",
        "0.9",
        "--folds",
        "2",
        "--task-groups",
        "one",
        "--parameter-sample-size",
    )
    assert call(*BOTH, *options, "7", "--out", "run")[0] == 0
    assert call(*BOTH, *options, "auto", "--out", "auto")[0] == 0
    found = read_run(files / "run")
    for name, graph in found.configuration.items():
        assert found.networks[name] == bnmtl.BayesNet.fit(graph, TASKS[name], 7)
    assert record(files / "run")["held_out"] != record(files / "auto")["held_out"]
    for size in ("0", "-1", "much"):
        err = mistake(call(*BOTH, *options, size))
        rule = "`--parameter-sample-size` must be auto or a number above 0 and at most 1e9"
        assert f"{rule}, got {size}" in err


@pytest.mark.drawn
def test_tables_in_common(call, files):
    code, _, err = call(
        *BOTH, "--penalty", "0.9", "--folds", "2", "--task-groups", "one", "--out", "run"
    )
    assert (code, err) == (0, "")
    learner = bnmtl.MultitaskLearner(
        bnmtl.PairedPrior(0.9), table_sharing="auto", task_groups=None, **CLIMB
    )
    learner.fit(TASKS)
    found = pd.read_csv(files / "run" / "borrowed.csv")
    pd.testing.assert_frame_equal(found, learner.borrowed_, check_dtype=False)
    kept = record(files / "run")
    for row in found.itertuples():
        assert kept["borrowed"][row.variable][row.task][row.source] == round(row.rows, 1)
    assert {"borrowed.csv", "borrowing.png"} <= set(kept["files"])
    assert kept["held_out"]["shares_tables"]
    network = read_run(files / "run").networks["north"]
    for variable in network.graph:
        expected = learner.networks_["north"].table(variable)
        assert np.allclose(network.table(variable), expected, atol=1e-9)
    page = (files / "run" / "report.html").read_text()
    assert "Shared tables</h2>" in page and "the score of all tasks" in page
    options = (
        "--penalty",
        "0.9",
        "--table-sharing",
        "none",
        "--task-groups",
        "one",
        "--out",
        "own",
    )
    assert call(*BOTH, *options)[0] == 0
    assert record(files / "own")["held_out"]["folds"] == 10
    assert "borrowed" not in record(files / "own")
    assert "Shared tables" not in (files / "own" / "report.html").read_text()


@pytest.mark.drawn
def test_a_bound_on_tables(call, files):
    """Families of more cells are not looked at; the default depends on the rows."""
    bound = ("--max-cells", "2", "--out", "none")
    assert call(*BOTH, "--folds", "0", "--penalty", "0.9", *bound)[0] == 0
    assert all(task["arcs"] == 0 for task in record(files / "none")["tasks"])
    for cells in ("0", "x", "1.5"):
        assert "--max-cells" in mistake(call(*BOTH, "--max-cells", cells))


def test_folds_that_cannot_be(call, files):
    for folds in ("-1", "two"):
        assert "--folds" in mistake(call(*BOTH, "--folds", folds))
    for folds in ("0", "1"):
        err = mistake(call(*BOTH, "--penalty", "auto", "--folds", folds))
        assert "`--folds` must be 2 or more where folds choose the penalty" in err
        assert "add `--choose posterior`, or give `--penalty`" in err
    for choice in ((), ("--penalty", "0.9"), ("--choose", "cv"), ("--choose", "posterior")):
        err = mistake(call(*BOTH, *choice, "--folds", "81"))
        assert "rows of the largest task, 80 (copies count once), got 81" in err
    assert not (files / "bnmtl-learn").exists()


def test_a_way_of_choosing_needs_something_to_choose(call, files):
    err = mistake(call(*BOTH, "--penalty", "0.9", "--choose", "cv"))
    assert "`--choose` must go with `--penalty auto`" in err
    assert "posterior" in mistake(call(*BOTH, "--choose", "aic"))


def test_an_equivalent_sample_size_does_not_go_with_a_mixture(call, files):
    err = mistake(call(*BOTH, "--equivalent-sample-size", "2"))
    assert "--equivalent-sample-size" in err and "bdeu" in err


def test_few_rows_are_warned_of(call, files):
    rng = np.random.default_rng(0)
    few = pd.DataFrame(rng.integers(0, 2, (5, 9)), columns=list("abcdefghi"))
    few.to_csv(files / "few.csv", index=False)
    cheap = ("--restarts", "0", "--bootstrap", "0", "--folds", "0", "--out", "run")
    code, _, err = call("learn", "few.csv", "north.csv", *cheap)
    assert code == 0
    assert "fewer rows than variables in task `few`" in err
    assert "more parameters than rows in network `few`" in err
    kept = record(files / "run")
    assert any("fewer rows" in warning for warning in kept["warnings"])
    # Too few rows to tell a group: the task joins after the others are fixed.
    assert kept["task_groups"]["alternatives"][0]["of"] == {"north": 1}


def test_copies_of_rows_are_warned_of(call, files):
    rng = np.random.default_rng(0)
    once = pd.DataFrame(rng.integers(0, 3, (20, 8)), columns=list("abcdefgh"))
    pd.concat([once, once]).to_csv(files / "twice.csv", index=False)
    pd.concat([once, once[:6]]).to_csv(files / "more.csv", index=False)
    once.to_csv(files / "once.csv", index=False)
    cheap = (
        "--restarts",
        "0",
        "--bootstrap",
        "0",
        "--folds",
        "0",
        "--penalty",
        "0.9",
        "--task-groups",
        "one",
    )
    code, _, err = call("learn", "twice.csv", "more.csv", "once.csv", *cheap)
    assert code == 0
    assert "of their task (`more`: 6 of 26, `twice`: 20 of 40); copies count" in err
    assert any("`twice`" in warning for warning in record(files / "bnmtl-run")["warnings"])


def test_copied_noise_is_reported_as_nothing(call, files):
    """Arcs there are, since every row counts twice; they predict no row but the copies."""
    rng = np.random.default_rng(1)
    once = pd.DataFrame(rng.integers(0, 3, (30, 12))).add_prefix("x")
    pd.concat([once, once]).to_csv(files / "twice.csv", index=False)
    code, out, _ = call(
        "learn", "twice.csv", "--restarts", "0", "--folds", "4", "--bootstrap", "0", "--out", "run"
    )
    assert code == 0
    assert len(pd.read_csv(files / "run" / "arcs.csv"))
    assert "Nothing was found: on held-out rows the learned arcs predict no better" in out


def test_where_nothing_is_to_be_found_nothing_is_found(call, files):
    """Twenty independent columns, two tasks of 60 rows: the picture of noise has no arcs."""
    rng = np.random.default_rng(0)
    for name in ("east", "west"):
        noise = pd.DataFrame(rng.normal(size=(60, 20))).add_prefix("x")
        noise.to_csv(files / f"{name}.csv", index=False)
    options = ("--discretize", "3", "--bootstrap", "2", "--restarts", "0", "--folds", "2")
    code, out, _ = call("learn", "east.csv", "west.csv", *options, "--out", "run")
    assert code == 0
    kept = record(files / "run")
    assert sum(task["arcs"] for task in kept["tasks"]) <= 1
    assert "Nothing was found" in out
    page = (files / "run" / "report.html").read_text()
    assert "Nothing was found" in page
