"""Results come first, pictures and the page later: what fails or is killed then loses no result."""

import os
import re
import warnings

import numpy as np
import pytest
from command import frame, listing, mistake, record
from matplotlib.figure import Figure

from bnmtl import plotting
from bnmtl.errors import warn
from bnmtl.io import read_run
from bnmtl.reports import learned as report

pytestmark = pytest.mark.beside_kernels

QUICK = ("--restarts", 0, "--folds", 0, "--bootstrap", 0, "--jobs", 1)
LEARN = ("learn", "rows.csv", "--task-column", "region", "--ignore", "score", "--ignore", "other")
SELECT = ("--label", "a", "--metric", "accuracy", "--bags", 2, "--max-steps", 3)
# By kind of page: the command, the functions that draw, the files with pictures, those with
# results, and the texts beside pictures on the page.
COMMANDS = {
    "learn": (
        (*LEARN, *QUICK, "--penalty", "auto", "--folds", 2),
        ("arcs", "borrowing", "dags", "gains", "penalties"),
        ("arcs.png", "borrowing.png", "dags.png", "dags.svg", "group-gains.png"),
        ("arcs.csv", "borrowed.csv", "hill.bif", "plain.bif"),
        ("The graphs of", "Nats that pairs", "Score by penalty", "How much of each table"),
    ),
    "relate": (
        ("relate", *LEARN[1:], *QUICK[:4], "--jobs", 1),
        ("dendrogram", "distances", "relatedness"),
        ("dendrogram.png", "relatedness.png"),
        ("order.csv", "relatedness.csv"),
        ("How far apart", "Dendrogram", "other tasks are from hill", "other tasks are from plain"),
    ),
    "calibrate": (
        ("calibrate", "rows.csv", "--label", "a", "--score", "score"),
        ("calibration_panel",),
        ("reliability.png",),
        ("measures.csv", "reliability.csv", "scores.csv"),
        ("Reliability",),
    ),
    "select": (
        ("select", "scores.csv", *SELECT, "--prune", "sweep", "--jobs", 1),
        ("pruning", "trajectory", "weights"),
        ("pruning.png", "trajectory.png", "weights.png"),
        ("predictions.csv", "pruning.csv", "trajectory.csv", "unused_cases.csv", "weights.csv"),
        ("Score by share", "Score by number of members", "Weight of each family"),
    ),
    "query": (
        ("query", "pool.csv", "--label", "a", "--n", 2, "--map", "score,other", "--jobs", 1),
        ("strategy_curves", "utility_map"),
        ("learning_curve.png", "map.png"),
        ("learning_curve.csv", "queries.csv", "utilities.csv"),
        ("Share of errors by number of labels", "Utilities over two columns"),
    ),
    "validate": (
        ("validate", "rows.csv", "--label", "a", "--model", "forest", "--rounds", 2, "--folds", 2),
        ("bias_variance", "rounds"),
        ("accuracy.png", "bias_variance.png", "squared_error.png"),
        ("bias_variance.csv", "differences.csv", "measures.csv", "rounds-forest.npz"),
        ("Accuracy by round", "Squared error by round", "Bias and variance"),
    ),
    "structures": (
        ("validate", *LEARN[1:], "--rounds", 2, "--folds", 2, "--jobs", 1),
        ("arc_stability",),
        ("arc_stability.png",),
        ("arc_stability.csv", "differences.csv", "measures.csv", "misfits.csv", "stability.csv"),
        ("Networks with the stability",),
    ),
}


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    """The tables of all commands, and little effort."""
    rng, n = np.random.default_rng(0), 80
    rows = frame(0, n).assign(region=np.where(np.arange(n) % 2, "hill", "plain"))
    rows["score"] = np.clip(0.3 + 0.3 * rows["a"] + 0.2 * rng.normal(size=n), 0.01, 0.99).round(3)
    rows["other"] = rng.random(n).round(3)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows[["a", "score", "other"]].to_csv(tmp_path / "scores.csv", index=False)
    rows["a"] = rows["a"].map({0: "no", 1: "yes"}).where(np.arange(n) < 40)
    rows.to_csv(tmp_path / "pool.csv", index=False)
    monkeypatch.setattr("bnmtl.learners.validated.DEFAULT_PENALTIES", (0.0, 0.9))
    monkeypatch.setattr("bnmtl.cli.validate._TREES", 5)
    for name, number in {"_POINTS": 3, "_FOLDS": 2, "_REPEATS": 1}.items():
        monkeypatch.setattr(f"bnmtl.cli.query.{name}", number)
    return rows


def blank(*_, **__):
    figure = Figure(figsize=(1, 1))
    figure.add_axes((0, 0, 1, 1))
    return figure


def let(monkeypatch, functions, draw):
    for name in functions:
        monkeypatch.setattr(plotting, name, draw)


def raises(error):
    def draw(*_, **__):
        raise error

    return draw


LACKING = re.compile('<p class="warning">The picture “([^”]*)” could not be drawn.</p>')


def lacking(folder):
    """The texts of pictures that the page says could not be drawn."""
    return LACKING.findall((folder / "report.html").read_text())


@pytest.mark.parametrize("command", COMMANDS)
def test_pictures_that_cannot_be_drawn_are_left_out(call, tmp_path, monkeypatch, command):
    given, functions, pictures, results, texts = COMMANDS[command]
    let(monkeypatch, functions, raises(ZeroDivisionError("by zero")))
    code, out, err = call(*given, "--out", "run")
    assert code == 0 and "begin with report.html" in out
    files = sorted([*results, "report.html", "run.json"])
    found = record(tmp_path / "run")
    assert listing(tmp_path / "run") == files == found["files"]
    assert sorted(found["digests"]) == files
    left_out = [line for line in err.splitlines() if "could not be drawn and" in line]
    assert [line.removeprefix("warning: ") for line in left_out] == [
        text for text in found["warnings"] if "could not be drawn" in text
    ]
    assert all(line.endswith("left out (ZeroDivisionError: by zero).") for line in left_out)
    assert [name for name in pictures if f"`{name}`" not in "".join(left_out)] == []
    shown = lacking(tmp_path / "run")
    assert len(shown) == len(texts)
    assert [text for text in texts if not any(text in one for one in shown)] == []
    page = (tmp_path / "run/report.html").read_text()
    assert page.count("could not be drawn and") == len(left_out) and "<img" not in page
    let(monkeypatch, functions, blank)
    code, _, err = call(*given, "--out", "run", "--force")
    assert code == 0 and "could not be drawn" not in err
    assert listing(tmp_path / "run") == sorted([*files, *pictures])
    assert record(tmp_path / "run")["files"] == sorted([*files, *pictures])


FEW = (*LEARN, *QUICK, "--table-sharing", "none", "--task-groups", "one", "--penalty", 0.5)
RESULTS = ["arcs.csv", "hill.bif", "plain.bif", "run.json"]
ALL = sorted([*RESULTS, "arcs.png", "dags.png", "dags.svg", "report.html"])


def test_one_failure_is_that_of_one_picture(call, tmp_path, monkeypatch):
    """A picture of two files is drawn once, and has both or none."""
    drawn = []
    let(monkeypatch, ["arcs"], blank)
    let(monkeypatch, ["dags"], lambda *_, **__: drawn.append(blank()) or drawn[0])
    monkeypatch.setattr(plotting, "png", lambda figure: {}["dots"] if figure in drawn else b"png")
    code, _, err = call(*FEW, "--out", "run")
    names = "`dags.svg`, `dags.png`"
    assert (code, len(drawn)) == (0, 1)
    reason = "could not be drawn and are left out (KeyError: 'dots')"
    assert err == f"warning: The pictures {names} {reason}.\n"
    assert listing(tmp_path / "run") == sorted({*ALL} - {"dags.png", "dags.svg"})
    assert len(lacking(tmp_path / "run")) == 1 and "layout" not in record(tmp_path / "run")


def test_a_picture_that_the_page_alone_cannot_show(call, tmp_path, monkeypatch):
    let(monkeypatch, ["calibration_panel"], blank)
    monkeypatch.setattr(plotting, "svg", raises(MemoryError()))
    code, _, err = call(*COMMANDS["calibrate"][0], "--out", "run")
    reason = "could not be drawn and is left out (MemoryError)"
    assert code == 0 and err.startswith("warning: The picture `Reliability: ")
    assert err.endswith(f"` {reason}.\n")
    assert record(tmp_path / "run")["warnings"] == [err.removeprefix("warning: ").strip()]
    assert "reliability.png" in listing(tmp_path / "run")
    assert len(lacking(tmp_path / "run")) == 1


def test_warnings_of_drawing_are_in_all_places(call, tmp_path, monkeypatch):
    def draw(*_, **__):
        warn("Letters are boxes", remedy="install a font")
        return blank()

    def save(_):
        warnings.warn("matplotlib has little room", UserWarning, stacklevel=2)  # for developers
        return b"png"

    let(monkeypatch, ["arcs"], blank)
    let(monkeypatch, ["dags"], draw)
    monkeypatch.setattr(plotting, "png", save)
    monkeypatch.setattr(plotting, "svg", lambda figure: save(figure).decode())
    code, _, err = call(*FEW, "--out", "run")
    text = "Letters are boxes; install a font."
    assert (code, err) == (0, f"warning: {text}\n")
    assert record(tmp_path / "run")["warnings"] == [text]
    assert text in (tmp_path / "run/report.html").read_text()


def test_an_interrupt_while_drawing_keeps_the_results(call, tmp_path, monkeypatch):
    let(monkeypatch, ["dags"], blank)
    let(monkeypatch, ["arcs"], raises(KeyboardInterrupt()))
    for _ in range(2):
        code, out, err = call(*FEW, "--out", "deep/run", "--force")
        assert (code, out) == (130, "")
        assert err == "bnmtl: interrupted; the results without pictures are in `deep/run`.\n"
        assert listing(tmp_path / "deep") == ["run"]
        assert listing(tmp_path / "deep/run") == RESULTS
        assert list(read_run(tmp_path / "deep/run").networks) == ["hill", "plain"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the command that is killed is a fork")
@pytest.mark.parametrize("n_moved", [None, 0, 2, 4])
def test_a_kill_after_the_results_loses_none(call, tmp_path, monkeypatch, n_moved):
    """While a picture is drawn, or after some of the four pictures and pages were moved."""
    let(monkeypatch, ["arcs", "dags", *COMMANDS["relate"][1]], blank)
    relate = (*COMMANDS["relate"][0], "--out", "run")
    assert call(*relate)[0] == 0
    child = os.fork()
    if not child:
        try:
            monkeypatch.setattr(os, "replace", killed_after(n_moved, tmp_path / "run"))
            if n_moved is None:
                let(monkeypatch, ["arcs"], lambda *_, **__: os._exit(9))
            call(*FEW, "--out", "run", "--force")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    there = set(listing(tmp_path / "run"))
    assert {*RESULTS} <= there <= {*ALL} and len(there) == len(RESULTS) + (n_moved or 0)
    found = record(tmp_path / "run")
    assert found["files"] == ALL and sorted(found["digests"]) == RESULTS
    assert {"reading", "learning", "files", "in all"} <= set(found["seconds"])
    assert "layout" not in found and "pictures" not in found["seconds"]
    assert list(read_run(tmp_path / "run").networks) == ["hill", "plain"]
    assert call("predict", "run", "rows.csv", "--target", "b", "--out", "p.csv")[0] == 0
    assert "--force" in mistake(call(*relate))
    assert call(*relate, "--force")[0] == 0
    assert listing(tmp_path / "run") == record(tmp_path / "run")["files"]
    assert {*ALL} & {*listing(tmp_path / "run")} == {"report.html", "run.json"}
    assert listing(tmp_path) == ["p.csv", "pool.csv", "rows.csv", "run", "scores.csv"]


def killed_after(n, folder):
    """`os.replace`, which ends the process when it has moved n files into a folder."""
    replace, left = os.replace, [n]

    def replaced(source, target):
        if n is not None and os.path.dirname(target) == str(folder):
            if left[0] == 0:
                os._exit(9)
            left[0] -= 1
        replace(source, target)

    return replaced


def test_the_record_of_a_whole_run_has_times_and_layout(call, tmp_path, monkeypatch):
    let(monkeypatch, ["arcs"], blank)
    let(monkeypatch, ["dags"], lambda *_, **__: labeled("layered"))
    assert call(*FEW, "--out", "run")[0] == 0
    found = record(tmp_path / "run")
    assert listing(tmp_path / "run") == ALL
    assert found["layout"] == "layered" and found["files"] == ALL == sorted(found["digests"])
    stages = [
        name for name in found["seconds"] if name in ("files", "pictures", "report", "in all")
    ]
    assert stages == ["files", "pictures", "report", "in all"]


def labeled(text):
    figure = blank()
    figure.set_label(text)
    return figure


def test_pages_of_learners_say_what_is_lacking(tmp_path):
    from bnmtl import MultitaskLearner

    learner = MultitaskLearner(random_state=0).fit({"north": frame(0), "south": frame(1)})
    names = ("dags", "gains", "borrowing")
    report.write(tmp_path / "report.html", learner, pictures=dict.fromkeys(names))
    assert len(lacking(tmp_path)) == 3
