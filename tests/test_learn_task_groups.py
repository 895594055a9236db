"""`bnmtl learn --task-groups`: groups found or given, in every file, picture and sentence."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from command import listing, mistake, record

from bnmtl.cli import learn
from bnmtl.cli.options import Options
from bnmtl.io import read_run

pytestmark = pytest.mark.beside_kernels

ORDERS = {"alps": [0, 2, 4, 1, 3, 5], "corsica": range(6), "provence": range(6)}
QUICK = ("--restarts", "0", "--bootstrap", "0", "--folds", "0")
SENTENCE = "corsica and provence learn from each other; alps learns alone"


def chain(seed, order, n=150):
    """Each column is mostly a copy of the one before it, in this order of columns."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, n)]
    for _ in range(5):
        columns.append(np.where(rng.random(n) < 0.88, columns[-1], 1 - columns[-1]))
    table = pd.DataFrame(dict(zip([f"x{i}" for i in order], columns, strict=True)))
    return table[sorted(table)]


@pytest.fixture(scope="module")
def tables():
    return {name: chain(seed, order) for seed, (name, order) in enumerate(ORDERS.items())}


@pytest.fixture
def files(tmp_path, tables):
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def found(tables, tmp_path_factory):
    """A run that finds the groups, and the learner of its replicates."""
    folder, replicated = tmp_path_factory.mktemp("found"), []
    paths = []
    for name, table in tables.items():
        paths.append(str(folder / f"{name}.csv"))
        table.to_csv(paths[-1], index=False)
    options = Options(paths=tuple(paths), restarts=0, folds=2, bootstrap=2, seed=0)
    with pytest.MonkeyPatch.context() as patch:
        confidence = learn.arc_confidence

        def kept(tasks, learner, *rest, **options):
            replicated.append(learner)
            return confidence(tasks, learner, *rest, **options)

        patch.setattr(learn, "arc_confidence", kept)
        result = learn.run(replace(options, task_groups="auto", out=str(folder / "run")))
    return result, replicated


def test_groups_that_are_found_are_in_run_json(found):
    result, replicated = found
    groups = result.record["task_groups"]
    assert groups["of"] == {"alps": 1, "corsica": 2, "provence": 2}
    assert groups["sentence"].startswith(SENTENCE)
    assert groups["gains"]["corsica"]["provence"] == groups["gains"]["provence"]["corsica"] > 5
    assert groups["gains"]["alps"]["alps"] is None
    assert min(groups["margins"].values()) > 5
    assert f"({groups['margins']['alps']:.0f} nats speak against joining)" in groups["sentence"]
    values = [one["value"] for one in groups["alternatives"]]
    assert values == sorted(values, reverse=True)
    assert groups["alternatives"][0]["of"] == groups["of"]
    assert set(result.record["start"]) == set(result.record["start_scores"]) == {"1", "2"}
    assert read_run(result.folder).record["task_groups"] == groups
    # Replicates keep the groups.
    assert [one.task_groups for one in replicated] == [groups["of"]]


def test_arcs_are_counted_within_the_group(found):
    result, _ = found
    arcs = pd.read_csv(result.folder / "arcs.csv")
    assert list(arcs)[:5] == ["from", "to", "task", "task_group", "strength"]
    assert (
        dict(zip(arcs["task"], arcs["task_group"], strict=True))
        == (result.record["task_groups"]["of"])
    )
    assert set(arcs["n_tasks_possible"][arcs["task"] == "alps"]) == {1}
    assert set(arcs["n_tasks_possible"][arcs["task"] != "alps"]) == {2}
    counts = result.record["arcs"]
    assert counts["alone"] == (arcs["task"] == "alps").sum()
    kinds = [counts[kind] for kind in ("all", "some", "one", "sole", "alone")]
    assert counts["arcs"] == sum(kinds)


def test_groups_that_are_found_are_printed(found):
    result, _ = found
    first, *lines = learn.summary(result)
    text = " ".join(lines)
    assert result.record["task_groups"]["sentence"] in text
    assert "in all tasks of the group that could have them" in text
    assert "of tasks that learn alone." in text
    assert first.columns[:2] == ["task", "group"]
    assert first.columns[-4:] == ["together", "one group", "each alone", "no arcs"]
    assert [row[1] for row in first.rows] == ["1", "2", "2"]
    assert all(len(row) == len(first.columns) for row in first.rows)
    narrow = first.if_too_wide
    assert all(len(row) == len(narrow.columns) for row in narrow.rows)
    assert {"together - one_group", "one_group - alone"} <= set(
        result.record["held_out"]["differences"]
    )


def test_groups_that_are_found_are_in_the_report(found):
    result, _ = found
    assert "group-gains.png" in listing(result.folder)
    page = (result.folder / "report.html").read_text(encoding="utf-8")
    lead = page[page.index('class="lead"') : page.index("<h2>")]
    assert result.record["task_groups"]["sentence"] in lead
    assert "in all tasks of the group that could have" in lead
    section = page[page.index("Which tasks learn from each other</h2>") :]
    assert "Margin: by how many nats" in section and "The next best groups" in section
    assert "in all tasks<br>of the group" in page
    assert "one group against each alone" in page
    assert "the score of its group of tasks" in page
    # The columns of arcs stand in the order of the groups.
    at = [page.rindex(f'<span class="up">{name}</span>') for name in ORDERS]
    assert at == sorted(at)


def test_groups_of_a_file_that_is_called_auto(call, files):
    (files / "auto").write_text("task,group\nprovence,far\ncorsica,near\nalps,far\n")
    paths = [f"{name}.csv" for name in ORDERS]
    code, out, _ = call("learn", *paths, *QUICK, "--task-groups", "./auto", "--out", "run")
    assert code == 0
    groups = record(files / "run")["task_groups"]
    assert groups == {
        "of": {"alps": "far", "corsica": "near", "provence": "far"},
        "sentence": "alps and provence learn from each other; corsica learns alone.",
    }
    assert groups["sentence"] in out
    assert "group-gains.png" not in listing(files / "run")
    page = (files / "run" / "report.html").read_text(encoding="utf-8")
    assert "The groups are given." in page
    at = [page.rindex(f'<span class="up">{name}</span>') for name in ("provence", "corsica")]
    assert at == sorted(at)


GROUPS = {
    "missing.csv": "task,group\nalps,1\nprovence,1\n",
    "unknown.csv": "task,group\nalps,1\nprovnce,1\n",
    "twice.csv": "task,group\nalps,1\nalps,2\n",
    "head.csv": "name,group\nalps,1\n",
    "blank.csv": "task,group\nalps,\n",
    "short.csv": "task,group\n\nalps\n",
    "empty.csv": "",
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["missing.csv"],
            "File `missing.csv`: `--task-groups` must name the group of every task; `corsica` is "
            "missing: add its line, with a group of its own if it learns alone.\n",
        ),
        (
            ["unknown.csv"],
            "File `unknown.csv`, line 3: `--task-groups` must name one of the tasks `alps`, "
            "`corsica`, `provence`, got 'provnce'.\n",
        ),
        (["twice.csv"], "line 3: `--task-groups` must name every task once; `alps` is there again"),
        (["head.csv"], "line 1: `--task-groups` must have the columns task,group, got "),
        (["blank.csv"], "line 2: `--task-groups` must have a value for each of task,group; one is"),
        (["short.csv"], "line 3: `--task-groups` must have a value for each of task,group; it has"),
        (["empty.csv"], "line 1: `--task-groups` must have the columns task,group"),
        (["nowhere.csv"], "File `nowhere.csv`: `--task-groups` cannot be read (No such file"),
        (
            ["Auto"],
            "`--task-groups` must be auto, one or a file with the columns task,group, got 'Auto'",
        ),
        ([""], "`--task-groups` must be auto, one or the name of a file, got nothing.\n"),
    ],
)
def test_a_mistake_is_one_line(call, files, arguments, message):
    for name, text in GROUPS.items():
        (files / name).write_text(text)
    before = listing(files)
    paths = [f"{name}.csv" for name in ORDERS]
    assert message in mistake(call("learn", *paths, *QUICK, "--task-groups", *arguments))
    assert listing(files) == before


@pytest.mark.parametrize("options", [("--penalty", "auto"), ("--choose", "posterior")])
def test_groups_go_with_a_penalty_chosen_from_the_data(call, files, monkeypatch, options):
    monkeypatch.setattr("bnmtl.learners.validated.DEFAULT_PENALTIES", (0.0, 0.9))
    paths = [f"{name}.csv" for name in ORDERS]
    (files / "groups.csv").write_text("task,group\nalps,1\ncorsica,2\nprovence,2\n")
    chosen = (*options, "--task-groups", "groups.csv", "--folds", "2", "--bootstrap", "0")
    quick = ("--out", "run", "--restarts", "0", "--table-sharing", "none")
    assert call("learn", *paths, *quick, *chosen)[0] == 0
    found = record(files / "run")["task_groups"]["of"]
    assert found == {"alps": "1", "corsica": "2", "provence": "2"}


def test_a_file_of_groups_is_not_replaced(call, files, found):
    paths = [f"{name}.csv" for name in ORDERS]
    shutil.copytree(found[0].folder, files / "run")
    given = files / "run" / "arcs.csv"
    given.write_text("task,group\nalps,1\ncorsica,1\nprovence,1\n")
    into = ("--out", "run", "--force", "--task-groups", "run/arcs.csv")
    assert "must not hold an input that it replaces" in mistake(call("learn", *paths, *into))
    assert given.read_text() == "task,group\nalps,1\ncorsica,1\nprovence,1\n"
