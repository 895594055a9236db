"""The report: one file, nothing from outside, every name escaped, numbers that are right."""

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from pages import Page
from small import ONE_GROUP, PLAIN

from bnmtl import (
    K2,
    BDeu,
    HillClimbing,
    MultitaskLearner,
    MultitaskLearnerCV,
    Orders,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.learners import comparison
from bnmtl.learners.arcs import sharing_counts
from bnmtl.reports import learned as report
from bnmtl.reports.page import TEMPLATES, Cell

pytestmark = pytest.mark.beside_kernels

NASTY = '<script>alert(1)</script> & "co"'


def tables(seed=0, n=120):
    """Two tasks with x -> y -> z, and w in one of them only."""
    rng = np.random.default_rng(seed)
    result = {}
    for task in ("north", NASTY):
        x = rng.integers(0, 2, n)
        y = np.where(rng.random(n) < (0.9 if task == "north" else 0.65), x, 1 - x)
        z = np.where(rng.random(n) < 0.85, y, 1 - y)
        result[task] = pd.DataFrame({"x": x, "y<b>": y, "z": z})
    result["north"]["w"] = np.where(rng.random(n) < 0.9, result["north"]["z"], 0)
    return result


def number(text):
    return float(text.replace(",", "").replace("\u2212", "-"))


@pytest.fixture(scope="module")
def learned():
    frames = tables(seed=7)  # for which sharing helps
    options = {"search": Orders(starts=2, iterations=2), "random_state": 0, **PLAIN}
    learner = MultitaskLearnerCV(penalties=[0, 0.9, 1], cv=3, table_sharing=None, **options).fit(
        frames
    )
    return learner, SingleTaskLearner(**options).fit(frames)


@pytest.fixture(scope="module")
def text(learned, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert report.write(path, *learned, messages=["Task `<b>`: odd"], times={"all": 1.5}) == path
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    return path.read_text(encoding="utf-8")


def test_page_needs_nothing_from_outside(text):
    page = Page(text)
    assert page.references
    assert all(one.startswith("data:image/") for one in page.references)
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert "url(" not in text
    assert "@import" not in text


def test_names_are_escaped(text):
    assert NASTY not in text
    assert str(escape(NASTY)) in text
    assert "y&lt;b&gt;" in text
    assert "Task `&lt;b&gt;`: odd" in text


def test_sections(text):
    page = Page(text)
    assert page.headings == [
        "Graphs",
        "Which tasks learn from each other",
        "Tasks",
        "Against learning each task alone",
        "How much to share",
        "Arcs",
        "Warnings",
        "How this was computed",
    ]
    assert "equivalence class" in text
    assert "Neither is a claim about cause and effect" in text


def test_task_table(text, learned):
    learner, _ = learned
    for row in Page(text).table("task"):
        task, n_rows, n_variables, n_arcs, n_all, n_one, n_sole, n_reversible, *rest = row
        _, score, _ = rest
        arcs = learner.arcs_[learner.arcs_["task"] == task]
        assert (int(n_rows), int(n_variables)) == (120, learner.tasks_[task].n_variables)
        assert int(n_arcs) == len(arcs)
        assert int(n_reversible) == (~arcs["compelled"]).sum()
        assert int(n_one) == ((arcs["n_tasks"] == 1) & (arcs["n_tasks_possible"] == 2)).sum()
        assert int(n_sole) == (arcs["n_tasks_possible"] == 1).sum()
        assert int(n_all) == ((arcs["n_tasks"] == 2) & (arcs["n_tasks_possible"] == 2)).sum()
        assert number(score) == pytest.approx(learner.task_scores_[task], abs=0.06)


def test_comparison_counts_the_arcs_of_both(text, learned):
    rows = {name: cells for name, *cells in Page(text).table("")}
    together, separate = (sharing_counts(one.arcs_) for one in learned)
    titles = {"arcs": "different arcs", "all": "arcs in all tasks", "one": "arcs in one task only"}
    for kind, title in titles.items():
        assert [number(cell) for cell in rows[title]] == [
            together[kind],
            separate[kind],
            together[kind] - separate[kind],
        ]


HELD_OUT = {"differences": {"alone - empty": [0.5, 0.1]}, "tasks": {}}
NO_GAIN = {"differences": {"alone - empty": [0.1, 0.2]}, "tasks": {}}


@pytest.mark.parametrize(
    "held_out, n_arcs, limits, is_nothing",
    [
        (None, 0, {}, True),
        (HELD_OUT, 0, {}, True),
        (NO_GAIN, 3, {}, True),
        (HELD_OUT, 3, {}, False),
        (None, 3, {}, False),
        # What a search did not get to is not known to be missing.
        (None, 0, {"ended_by": ("time_limit",)}, False),
        (None, 0, {"max_cells": 9}, False),
        ({**NO_GAIN, "ended_by": ["time_limit"]}, 3, {}, False),
    ],
)
def test_when_nothing_was_found(held_out, n_arcs, limits, is_nothing):
    assert comparison.nothing_found(held_out, n_arcs, **limits) == is_nothing
    first = comparison.sentences(held_out, n_arcs, **limits)[0]
    assert first.startswith(comparison.NOTHING_FOUND) == is_nothing


def test_tables_escape_titles_names_and_cells():
    parts = TEMPLATES.get_template("parts.html").module
    cells = [Cell("<"), Cell("<", True), Cell("1<", interval="0 to <")]
    found = parts.table(["x", "a<br>", ("c<", "d"), "e"], [["<i>", *cells], ["j", "<b>", 1, ""]])
    assert "<th>a&lt;br&gt;</th> <th>c&lt;<br>d</th>" in found
    assert '<td class="name">&lt;i&gt;</td><td>&lt;</td><td><b>&lt;</b></td>' in found
    assert '<td>1&lt;<br><span class="share">0 to &lt;</span></td></tr>' in found
    assert '<td class="name">j</td><td>&lt;b&gt;</td><td>1</td><td></td></tr>' in found


def test_settings_with_entries_have_one_per_line():
    setting = TEMPLATES.get_template("parts.html").module.setting
    assert setting({"<": [0.1, True], "b": ()}) == "&lt;: 0.1<br>True<br>b: none"
    assert [setting(one) for one in (None, "<", np.float64(1e-7), [])] == [
        *("none", "&lt;", "1e-07", "none")
    ]


@pytest.mark.parametrize(
    "settings, words, band",
    [
        ({"cv": 3}, "best penalty was chosen", True),
        ({"cv": 3, "rule": "one-standard-error"}, "within one standard error of the best", True),
        ({"validation": "posterior"}, "most probable one was chosen", False),
        ({"validation": 0.2}, "best penalty was chosen", False),
    ],
)
def test_how_the_penalty_was_chosen(tmp_path, settings, words, band):
    climb = {"search": HillClimbing(restarts=0), "random_state": 0}
    learner = MultitaskLearnerCV(penalties=[0.5, 0.9], **ONE_GROUP, **settings, **climb)
    learner.fit(tables())
    text = report.write(tmp_path / "r.html", learner).read_text(encoding="utf-8")
    assert words in text
    assert ("The band is one standard error" in text) == band
    assert "No rows were held out, so the gain from the arcs is unknown." in text


def test_arc_table_has_one_row_per_arc_the_most_shared_first(text, learned):
    learner, _ = learned
    rows = Page(text).table("from")
    assert {(row[0], row[1]) for row in rows} == set(
        zip(learner.arcs_["from"], learner.arcs_["to"], strict=True)
    )
    shared = [int(row[2].split(" of ")[0]) for row in rows]
    assert shared == sorted(shared, reverse=True)
    tasks = list(learner.configuration_)
    strengths = learner.arcs_.set_index(["from", "to", "task"])["strength"]
    for row in rows:
        for task, cell in zip(tasks, row[4:], strict=True):
            if (row[0], row[1], task) in strengths.index:
                value = number(cell.split()[0])
                assert value == pytest.approx(strengths[row[0], row[1], task], abs=0.06)
            else:
                assert cell in ("", "·", "\N{LEFTWARDS ARROW}")


def test_one_task_says_that_nothing_is_shared(tmp_path):
    frames = {"alone": tables()["north"]}
    learner = SingleTaskLearner(search=Orders(starts=1, iterations=2), random_state=0).fit(frames)
    text = report.write(tmp_path / "r.html", learner).read_text(encoding="utf-8")
    assert "nothing is shared" in text
    assert "Against" not in text
    assert "How much to share" not in text


def test_scores_that_prefer_graphs_of_a_class_are_explained(tmp_path):
    texts = {}
    for score in (K2(), BDeu()):
        learner = SingleTaskLearner(
            score, search=Orders(starts=1, iterations=2), random_state=0
        ).fit(tables())
        path = report.write(tmp_path / "r.html", learner)
        texts[type(score).__name__] = path.read_text(encoding="utf-8")
    assert "The score used, K2, is not score equivalent" in texts["K2"]
    assert "not score equivalent" not in texts["BDeu"]


def test_arcs_have_their_confidence_and_sign(tmp_path, learned):
    learner, _ = learned
    arcs = learner.arcs_.rename(columns={"from": "parent", "to": "child"})
    sure = arcs[["task", "parent", "child"]].assign(arc=0.25, edge=0.4)
    sure.loc[0, "edge"] = 0.96
    text = report.write(tmp_path / "r.html", learner, confidence=sure).read_text(encoding="utf-8")
    assert text.count('<span class="share">96%</span>') == 1
    few = f"{len(sure) - 1} are doubtful (fewer than half do). More rows or fewer variables"
    assert f"(at least 95 % of the replicates join its two variables); {few}" in text
    assert f"1 of {len(sure)} arcs, counted in each task, is well supported (" in text
    path = report.write(tmp_path / "r.html", learner, confidence=sure, sure="Four are.")
    assert "Four are." in path.read_text(encoding="utf-8")
    assert text.count('<span class="share weak">40%</span>') == len(sure) - 1
    assert text.count('<b title="tau-b ') == arcs["tau_b"].notna().sum() > 0
    assert "How sure an arc is." in text


def test_given_penalty_and_pictures(tmp_path):
    learner = MultitaskLearner(
        PairedPrior(0.5), search=Orders(starts=1, iterations=2), random_state=0, table_sharing=None
    ).fit(tables())
    text = report.write(tmp_path / "r.html", learner).read_text(encoding="utf-8")
    assert "at penalty 0.5." in text
    assert "How much to share" not in text


def test_places_that_cannot_be_written_are_named(tmp_path):
    learner = SingleTaskLearner(search=Orders(starts=1, iterations=2), random_state=0).fit(tables())
    for path in (tmp_path / "none" / "r.html", tmp_path):
        with pytest.raises(OSError) as caught:
            report.write(path, learner)
        assert caught.value.filename == str(path) and ".tmp" not in str(caught.value)


def test_constant_variables_are_counted_separately(tmp_path):
    frames = {task: frame[["x", "y<b>", "z"]] for task, frame in tables().items()}
    frames["still"] = frames["north"].assign(z=0)
    with pytest.warns(UserWarning, match="only one state is observed"):
        learner = MultitaskLearner(
            PairedPrior(0.9),
            search=Orders(starts=1, iterations=2),
            random_state=0,
            table_sharing=None,
        ).fit(frames)
    text = report.write(tmp_path / "r.html", learner).read_text(encoding="utf-8")
    page = Page(text)
    rows = {row[0]: row for row in page.table("task")}
    assert rows["still"][2:4] == ["3", "1"] and rows["north"][2:4] == ["3", "0"]
    (arc,) = (row for row in page.table("from") if {row[0], row[1]} == {"y<b>", "z"})
    assert arc[2] == "2 of 2"
    assert 'td class="cell lacking" title="a variable is missing or constant here"' in text
    assert sharing_counts(learner.arcs_)["all"] == 2


def test_no_arcs(tmp_path):
    rng = np.random.default_rng(0)
    frames = [pd.DataFrame(rng.integers(0, 2, (50, 2)), columns=["a", "b"]) for _ in range(2)]
    learner = MultitaskLearner(
        forbidden=[("a", "b"), ("b", "a")],
        search=Orders(starts=1, iterations=2),
        random_state=0,
        table_sharing=None,
    ).fit(frames)
    text = report.write(tmp_path / "r.html", learner).read_text(encoding="utf-8")
    assert "No task has an arc." in text


def test_sharing_counts():
    table = pd.DataFrame(
        [
            ("a", "b", "1", 2, 2),
            ("a", "b", "2", 2, 2),
            ("b", "c", "1", 2, 3),
            ("b", "c", "2", 2, 3),
            ("c", "d", "1", 1, 1),
            ("d", "e", "2", 1, 3),
        ],
        columns=["from", "to", "task", "n_tasks", "n_tasks_possible"],
    )
    assert sharing_counts(table) == {"arcs": 4, "all": 1, "some": 1, "one": 1, "sole": 1}


def test_learner_must_be_fitted(tmp_path):
    with pytest.raises(TypeError, match="`learner` must have been fitted"):
        report.write(tmp_path / "r.html", MultitaskLearner())


def test_a_failure_leaves_no_half_written_page(tmp_path, learned, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        report.write(path, *learned)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_same_page_on_every_run(tmp_path, learned):
    first = report.write(tmp_path / "1.html", *learned).read_bytes()
    second = report.write(tmp_path / "2.html", *learned).read_bytes()
    assert first == second
