"""`bnmtl relate`: its tables are those of the package, and all it writes tells the same."""

import html
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from command import frame, listing, mistake, record
from pages import Page
from pictures import texts
from small import noise, square

import bnmtl
from bnmtl import plotting, relatedness
from bnmtl.cli import relate
from bnmtl.cli.options import RelateOptions
from bnmtl.errors import warn
from bnmtl.io.run import read_record, read_run
from bnmtl.relatedness.measures import NO_ARCS

pytestmark = pytest.mark.beside_kernels

FIXED = [
    *("dendrogram.png", "order.csv", "relatedness.csv", "relatedness.png", "report.html"),
    "run.json",
]
QUICK = ("--search", "hill-climbing", "--restarts", "0")
EFFORT = {"search": bnmtl.HillClimbing(restarts=0), "random_state": 0}
TOWNS = ("north.csv", "south.csv", "west.csv")
THREE = ("relate", *TOWNS, *QUICK)
# Without held-out rows, which take most of the time.
DIRECT = (*THREE, "--folds", "0")


def other(seed, n=120):
    """The columns of `frame`, but with a -> c <- d and b by itself."""
    rng = np.random.default_rng(seed)
    a, b, d = rng.integers(0, 2, (3, n))
    c = np.where(rng.random(n) < 0.9, a ^ d, 1 - (a ^ d))
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


@pytest.fixture
def towns(tmp_path):
    """Two tasks that are alike and one that is not, as files; returns their tables."""
    tables = {"north": frame(0), "south": frame(1), "west": other(2)}
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return tables


@pytest.fixture
def given(monkeypatch):
    """Let both measures return a given table; returns the arguments they were called with."""

    def replace(table):
        table.attrs.update(n_arcs=1, ended_by=())
        calls = []
        for name in ("direct", "indirect"):
            monkeypatch.setattr(relatedness, name, lambda *args: calls.append(args) or table)
        return calls

    return replace


def read_square(path):
    return pd.read_csv(path, index_col=0)


def drawn_texts(monkeypatch):
    """Let pictures be drawn as ever; returns a list that their texts come to stand in."""
    kept = []
    for name in ("relatedness", "distances"):
        real = getattr(plotting, name)

        def draw(*given, real=real, **named):
            figure = real(*given, **named)
            kept.extend(texts(figure))
            return figure

        monkeypatch.setattr(plotting, name, draw)
    return kept


def table_of(out):
    """The lines of the table on stdout, in words."""
    return [line.split() for line in out.split("\n\n")[0].splitlines()]


@pytest.mark.drawn
def test_relate_writes_everything(call, towns, tmp_path):
    code, out, err = call(*THREE, "--out", "near")
    assert (code, err) == (0, "")
    assert listing(tmp_path / "near") == FIXED == record(tmp_path / "near")["files"]
    assert listing(tmp_path) == ["near", *TOWNS]
    for name in ("relatedness.png", "dendrogram.png"):
        assert (tmp_path / "near" / name).read_bytes()[1:4] == b"PNG"
    assert out.endswith("6 files in near; begin with report.html.\n")
    assert "counts the edits" in out and "with the penalty 0.9" in " ".join(out.split())


@pytest.mark.parametrize("kind", ["direct", "indirect", "shared", "evidence"])
def test_the_table_is_that_of_the_package(call, towns, tmp_path, kind):
    few = () if kind == "indirect" else ("--folds", "0")
    code, out, _ = call(*THREE, *few, "--relatedness", kind, "--out", "near")
    assert code == 0
    if kind == "direct":
        expected = relatedness.direct(towns, bnmtl.MultitaskLearner(table_sharing=None, **EFFORT))
        assert expected.loc["north", "south"] < expected.loc["north", "west"]
    elif kind == "shared":
        learner = bnmtl.MultitaskLearner(bnmtl.PairedPrior(0.9), table_sharing=None, **EFFORT)
        expected = 1 - relatedness.shared(towns, learner)
        assert expected.loc["north", "south"] < expected.loc["north", "west"]
    elif kind == "evidence":
        # As in `bnmtl learn`.
        expected = relatedness.evidence(towns, bnmtl.MultitaskLearner(**EFFORT))
        assert expected.to_numpy().min() == 0
        assert expected.loc["north", "south"] < expected.loc["north", "west"]
    else:
        expected = relatedness.indirect(towns, bnmtl.SingleTaskLearner(**EFFORT))
        assert not np.allclose(expected, expected.T)
    found = read_square(tmp_path / "near" / "relatedness.csv")
    pd.testing.assert_frame_equal(found, expected, check_names=False, rtol=1e-12)
    assert found.index.name == "task"
    header, *rows = table_of(out)
    assert header == ["task", *expected]
    for name, *values in rows:
        assert np.array(values, float) == pytest.approx(expected.loc[name].to_numpy(), 5e-3, 6e-3)


def test_every_option_reaches_the_learner(call, towns, tmp_path, given):
    calls = given(square(towns, np.zeros((3, 3))))
    (tmp_path / "tiers.txt").write_text("a,b\nc,d\n")
    (tmp_path / "arcs.csv").write_text("from,to\na,c\n")
    options = ("--prior", "edit", "--penalty", "0.5", "--score", "bds", "--max-parents", "2")
    options += ("--equivalent-sample-size", "3", "--tiers", "tiers.txt", "--required", "arcs.csv")
    options += ("--seed", "7", "--time-limit", "60", "--jobs", "2", "--starts", "3")
    assert call("relate", *TOWNS, *options, "--folds", "2")[0] == 0
    assert call("relate", *TOWNS, *options[4:], "--relatedness", "indirect", "--force")[0] == 0
    (_, learner, penalty, normalize), (tasks, alone, cv) = calls
    assert cv == 10
    assert (type(learner.prior), penalty, normalize) == (bnmtl.EditPrior, 0.5, False)
    assert type(alone) is bnmtl.SingleTaskLearner and tasks.names == ("north", "south", "west")
    for one in (learner, alone):
        assert (one.score.equivalent_sample_size, type(one.score)) == (3.0, bnmtl.BDs)
        assert (one.tiers, list(one.required)) == ([["a", "b"], ["c", "d"]], [("a", "c")])
        assert (one.max_parents, one.random_state, one.n_jobs) == (2, 7, 2)
        assert one.search == bnmtl.Orders(starts=3)
        assert 30 < one.limits.time_limit <= 0.6 * 60
    found = record(tmp_path / "bnmtl-relate")
    assert found["settings"]["relatedness"] == found["relatedness"] == "indirect"
    assert "penalty" not in found and found["settings"]["penalty"] is None


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("options", "unit"),
    [((), "edits"), (("--relatedness", "indirect"), "nats per row lost")],
    ids=["direct", "indirect"],
)
def test_pictures_say_what_the_numbers_are(call, towns, tmp_path, monkeypatch, options, unit):
    drawn = drawn_texts(monkeypatch)
    assert call(*THREE, *options, "--principal", "west")[0] == 0
    assert f"{unit} (smaller: closer)" in drawn
    assert f"{unit}, from the others to west" in drawn
    assert not any("dissimilarity" in text for text in drawn)


def test_a_penalty_near_1_is_not_rounded(call, towns, tmp_path, given):
    given(square(["north", "south", "west"], np.zeros((3, 3))))
    assert call(*DIRECT, "--penalty", "0.9999999999", "--prior", "edit")[0] == 0
    kept = record(tmp_path / "bnmtl-relate")
    assert "with the penalty 1 - 1e-10; smaller" in kept["meaning"]
    beside = (
        "`bnmtl learn` has the penalty 0.99, shares tables and finds groups of tasks by default"
    )
    assert beside in kept["meaning"]
    page = (tmp_path / "bnmtl-relate" / "report.html").read_text(encoding="utf-8")
    assert '<td class="name">--penalty</td><td class="text">0.9999999999</td>' in page
    assert '<td class="name">--prior</td><td class="text">edit</td>' in page
    same = ("--penalty", "0.99", "--table-sharing", "auto")
    assert call(*DIRECT, *same, "--out", "same")[0] == 0
    assert "`bnmtl learn` finds groups of tasks by default" in record(tmp_path / "same")["meaning"]
    assert call(*THREE, "--relatedness", "indirect", "--force")[0] == 0
    page = (tmp_path / "bnmtl-relate" / "report.html").read_text(encoding="utf-8")
    assert '<td class="name">--penalty</td><td class="text">not given</td>' in page


@pytest.mark.drawn
def test_the_number_of_nearest_tasks_is_reported(call, tmp_path, given, monkeypatch):
    names = [f"task number {i:02}" for i in range(6)]
    values = 1 - np.eye(6)
    values[:3, 3:] = values[3:, :3] = 1 + 1e-12  # is rounding
    values[0, 5], values[4, 5] = 0.5, 0.75
    given(square(names, values))
    whole = pd.concat([frame(i, 20).assign(t=name) for i, name in enumerate(names)])
    whole.to_csv(tmp_path / "all.csv", index=False)
    monkeypatch.setenv("COLUMNS", "60")
    code, out, _ = call("relate", "all.csv", "--task-column", "t", *QUICK, "--folds", "0")
    assert code == 0
    lines = [re.split(" {2,}", line.strip()) for line in out.splitlines()[1:7]]
    first = ["01", "00", "00", "04", "03"]
    assert [line[1] for line in lines] == [
        *(f"task number {one} and 4 more" for one in first),
        "task number 00",
    ]


def test_the_order_goes_by_the_column_and_then_by_name(call, towns, tmp_path, given):
    given(square(["north", "south", "west"], [[0, 1, 2], [5, 0, 2], [4, 3, 0]]))
    assert call(*DIRECT)[0] == 0
    found = pd.read_csv(tmp_path / "bnmtl-relate" / "order.csv")
    assert list(found) == ["principal", "rank", "task", "dissimilarity"]
    assert found.to_numpy().tolist() == [
        ["north", 1, "west", 4.0],
        ["north", 2, "south", 5.0],
        ["south", 1, "north", 1.0],
        ["south", 2, "west", 3.0],
        ["west", 1, "north", 2.0],
        ["west", 2, "south", 2.0],
    ]
    options = ("--principal", "west", "--principal", "north", "--principal", "west")
    assert call(*DIRECT, *options, "--out", "two")[0] == 0
    assert pd.read_csv(tmp_path / "two" / "order.csv")["principal"].tolist() == [
        *("west", "west", "north", "north")
    ]
    pictures = ["distances-north.png", "distances-west.png"]
    assert listing(tmp_path / "two") == sorted([*FIXED, *pictures])
    assert record(tmp_path / "two")["principals"] == [
        {"name": "west", "before_gap": None, "picture": "distances-west.png"},
        {"name": "north", "before_gap": 1, "picture": "distances-north.png"},
    ]


def test_task_names_that_no_file_can_have(call, tmp_path, given):
    names = ["../x", "a b", "a/b"]
    given(square(names, 1 - np.eye(3)))
    whole = pd.concat([frame(i).assign(t=name) for i, name in enumerate(names)])
    whole.to_csv(tmp_path / "odd.csv", index=False)
    principals = [word for name in names for word in ("--principal", name)]
    assert (
        call("relate", "odd.csv", "--task-column", "t", *principals, *QUICK, "--folds", "0")[0] == 0
    )
    folder = tmp_path / "bnmtl-relate"
    named = {one["name"]: one["picture"] for one in record(folder)["principals"]}
    assert named == {
        "../x": "distances-.._x.png",
        "a b": "distances-a_b.png",
        "a/b": "distances-a_b_2.png",
    }
    assert set(named.values()) <= set(listing(folder))
    assert listing(tmp_path) == ["bnmtl-relate", "odd.csv"]


@pytest.mark.drawn
def test_numbers_below_0_are_drawn_as_0_and_written_as_they_are(
    call, towns, tmp_path, given, monkeypatch
):
    values = [[0, 2, -0.3], [3, 0, -0.2], [-1e-4, 4, 0]]
    given(square(["north", "south", "west"], values))
    drawn = []
    for name in ("relatedness", "dendrogram", "distances"):
        real = getattr(plotting, name)
        monkeypatch.setattr(
            plotting,
            name,
            lambda table, *rest, real=real, **named: (
                drawn.append((table, real(table, *rest, **named))) or drawn[-1][1]
            ),
        )
    code, out, _ = call(*THREE, "--folds", "2", "--relatedness", "indirect", "--principal", "west")
    assert code == 0
    assert len(drawn) == 3
    for table, figure in drawn:
        assert np.array_equal(table, values)
        assert "Numbers below 0 are drawn as 0." in texts(figure)
    ranked = [text for text in texts(drawn[2][1]) if text in ("north", "south")]
    assert ranked == ["north", "south"]
    folder = tmp_path / "bnmtl-relate"
    assert read_square(folder / "relatedness.csv").to_numpy().tolist() == values
    order = pd.read_csv(folder / "order.csv")
    assert order[["task", "dissimilarity"]].to_numpy().tolist() == [
        ["north", -0.3],
        ["south", -0.2],
    ]
    # Drawn at 0 both, so there is no gap.
    assert record(folder)["principals"][0]["before_gap"] is None
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "are drawn as 0; the tables keep them" in page
    assert "no gap" in page and "\u22120.30" in page
    assert table_of(out)[1] == ["north", "0", "2.00", "-0.30"]
    assert table_of(out)[3] == ["west", "-0.0001", "4.00", "0"]
    assert call(*DIRECT, "--out", "direct")[0] == 0
    page = (tmp_path / "direct" / "report.html").read_text(encoding="utf-8")
    assert "are drawn as 0" in page
    given(square(["north", "south", "west"], np.abs(values)))
    assert call(*DIRECT, "--out", "plain")[0] == 0
    assert "drawn as 0" not in (tmp_path / "plain" / "report.html").read_text(encoding="utf-8")


@pytest.mark.drawn
def test_shares_where_the_tasks_differ_in_their_variables(call, towns, tmp_path, monkeypatch):
    drawn = drawn_texts(monkeypatch)
    towns["west"] = towns["west"].drop(columns="b")
    towns["west"].to_csv(tmp_path / "west.csv", index=False)
    assert call(*DIRECT)[0] == 0
    found = read_square(tmp_path / "bnmtl-relate" / "relatedness.csv")
    expected = relatedness.direct(
        towns, bnmtl.MultitaskLearner(table_sharing=None, **EFFORT), normalize=True
    )
    pd.testing.assert_frame_equal(found, expected, check_names=False)
    assert 0 < found.loc["north", "west"] <= 1
    kept = record(tmp_path / "bnmtl-relate")
    assert kept["normalized"] is True
    unit = "share of pairs that differ"
    assert f"{unit} (smaller: closer)" in drawn and f"{unit}, from the others to west" in drawn
    assert "is the share of the pairs of variables common to two tasks" in kept["meaning"]


def test_run_json(call, towns, tmp_path):
    towns["south"].assign(d=0).to_csv(tmp_path / "south.csv", index=False)
    code, _, err = call(*THREE, "--discretize", "3", "--folds", "2", "--out", "near")
    assert code == 0
    found = record(tmp_path / "near")
    assert (found["program"], found["command"]) == ("bnmtl", "relate")
    assert found["versions"]["bnmtl"] == bnmtl.__version__
    assert found["settings"]["paths"] == list(TOWNS)
    assert found["settings"]["restarts"] == 0
    assert (found["relatedness"], found["penalty"], found["prior"]) == ("direct", 0.9, "paired")
    assert found["tasks"][1] == {"name": "south", "rows": 80, "variables": 4, "constant": ["d"]}
    assert {"reading", "learning and comparing", "in all"} <= set(found["seconds"])
    assert found["cut_points"] == {}
    assert (found["settings"]["penalty"], found["settings"]["prior"]) == (None, None)
    (warning,) = found["warnings"]
    assert "only one state is observed (`d`)" in warning
    assert err == f"warning: {warning}\n"
    page = (tmp_path / "near" / "report.html").read_text(encoding="utf-8")
    assert html.escape(warning) in page
    for name, value in (("penalty", "0.9"), ("prior", "paired")):
        assert f'<td class="name">--{name}</td><td class="text">{value}</td>' in page


@pytest.mark.drawn
def test_the_report(call, tmp_path, given):
    nasty = "<script>alert(1)</script>"
    names = [nasty, "east", "north", "south"]
    values = [[0, 9, 2, 4], [1, 0, 3, 5], [2, 2, 0, 1.5], [9, 1, 2, 0]]
    given(square(names, values))
    whole = pd.concat([frame(i).assign(t=name) for i, name in enumerate(names)])
    whole.to_csv(tmp_path / "all.csv", index=False)
    assert call("relate", "all.csv", "--task-column", "t", *QUICK, "--folds", "2")[0] == 0
    text = (tmp_path / "bnmtl-relate" / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.headings == [
        *("How far apart", "All pairs of tasks", "From one task to the others"),
        "How this was computed",
    ]
    assert len(page.references) == 2 + 4
    assert all(one.startswith("data:image/") for one in page.references)
    assert "script" not in page.tags and "link" not in page.tags and "url(" not in text
    assert html.escape(record(tmp_path / "bnmtl-relate")["meaning"]) in text
    assert "4 tasks with 320 rows in all" in text
    rows = page.table("task")
    assert [row[0] for row in rows] == names
    assert np.array_equal(np.array([row[1:] for row in rows], float), values)
    assert page.table("principal task") == [
        [nasty, "east 1.00, north 2.00, \u2016 south 9.00", "2"],
        ["east", "south 1.00, north 2.00, \u2016 " + nasty + " 9.00", "2"],
        ["north", nasty + " 2.00, south 2.00, \u2016 east 3.00", "2"],
        ["south", "north 1.50, \u2016 " + nasty + " 4.00, east 5.00", "1"],
    ]
    assert "<b>south</b> 1.00, <b>north</b> 2.00, " in text
    assert '<td class="name">--task-column</td><td class="text">t</td>' in text
    assert '<td class="name">--principal</td><td class="text">not given</td>' in text
    for block in ("Settings", "Seconds", "Versions"):
        assert f"<summary>{block}</summary>" in text


def test_many_tasks(call, tmp_path, given, monkeypatch):
    names = [f"task number {i:02}" for i in range(13)]
    given(square(names, 7 * np.abs(np.subtract.outer(range(13), range(13)))))
    whole = pd.concat([frame(i, 20).assign(t=name) for i, name in enumerate(names)])
    whole.to_csv(tmp_path / "all.csv", index=False)
    command = ("relate", "all.csv", "--task-column", "t", *QUICK, "--folds", "0")
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(*command)
    assert code == 0
    lines = [re.split(" {2,}", line.strip()) for line in out.splitlines()[:14]]
    assert lines[:3] == [
        ["task", "nearest", "dissimilarity"],
        ["task number 00", "task number 01", "7"],
        ["task number 01", "task number 00 and 1 more", "7"],
    ]
    folder = tmp_path / "bnmtl-relate"
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert len(page.references) == 2
    assert len(page.table("principal task")) == 13
    assert listing(folder) == FIXED
    principals = [word for name in names for word in ("--principal", name)]
    assert call(*command, *principals, "--out", "all")[0] == 0
    page = Page((tmp_path / "all" / "report.html").read_text(encoding="utf-8"))
    assert len(page.references) == 2 + 13
    assert len(listing(tmp_path / "all")) == len(FIXED) + 13
    monkeypatch.setenv("COLUMNS", "400")
    code, out, _ = call(*command, "--out", "wide")
    assert "nearest" not in out and len(re.findall(r"\b7\b", out)) == 24


@pytest.mark.drawn
def test_neither_order_of_files_nor_jobs_nor_a_repetition_matters(call, towns, tmp_path):
    assert call(*THREE, "--folds", "2", "--out", "one", "--jobs", "1")[0] == 0
    assert (
        call("relate", *reversed(TOWNS), *QUICK, "--folds", "2", "--out", "two", "--jobs", "2")[0]
        == 0
    )
    for name in FIXED:
        if name not in ("report.html", "run.json"):
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "PATH must name at least one CSV or Parquet file; none was given"),
        (["north.csv"], "at least two tasks to compare; `north` is the only one: add files, or"),
        (["north.csv"], "of tasks with `--task-column`.\n"),
        (
            [*TOWNS, "--principal", "north", "--principal", "East"],
            "`--principal` must be one of the tasks, `north`, `south`, `west`, got 'East'.\n",
        ),
        ([*TOWNS, "--principal", ""], "`south`, `west`, got ''.\n"),
        ([*TOWNS, "--principal", "  west "], "`south`, `west`, got '  west '.\n"),
        ([*TOWNS, "--penalty", "auto"], "a number above 0 and below 1, got auto.\n"),
        ([*TOWNS, "--penalty", "0"], "a number above 0 and below 1, got 0.\n"),
        ([*TOWNS, "--penalty", "1"], "a number above 0 and below 1, got 1.\n"),
        ([*TOWNS, "--penalty", "nan"], "a number above 0 and below 1, got nan.\n"),
        (
            [*TOWNS, "--relatedness", "near"],
            "must be direct, indirect, shared or evidence, got near.\n",
        ),
        (
            [*TOWNS, "--relatedness", "indirect", "--penalty", "0.9"],
            "`--penalty` does not go with `--relatedness indirect`, got 0.9",
        ),
        (
            [*TOWNS, "--relatedness", "indirect", "--prior", "paired"],
            "`--prior` does not go with `--relatedness indirect`, got",
        ),
        (
            ["north.csv", "apart.csv"],
            "Task `apart` must share at least two variables that vary in both with `north`, or no "
            "arc can be compared; they share `a`: compare other tasks.\n",
        ),
        (
            ["north.csv", "south.csv", "still.csv"],
            "they share `a`, `b`, `c`, `d`, of which `b`, `c`, `d` are constant in `still`: leave "
            "one of the two tasks out.\n",
        ),
        (
            ["calm.csv", "still.csv"],
            "of which `a` is constant in `calm` and `b`, `c`, `d` are constant in `still`: comp",
        ),
        (
            ["north.csv", "south.csv", "--ignore", "a", "--ignore", "b", "--ignore", "c"],
            "they share `d`: leave fewer columns out with `--ignore`.\n",
        ),
        (
            [*TOWNS, *(word for name in "abcd" for word in ("--ignore", name))][:-2],
            "with `--ignore`, or leave one of the two tasks out.\n",
        ),
        (["north.csv", "other.csv"], "they share none: compare other tasks.\n"),
        (
            ["north.csv", "few.csv", "--relatedness", "indirect"],
            "Task `few`: `--folds` must not be more than the 9 rows of the task, got 10; use",
        ),
        (
            [*TOWNS, "--relatedness", "indirect", "--table-sharing", "auto"],
            "`--table-sharing` does not go with `--relatedness indirect`",
        ),
        (
            [*TOWNS, "--principle", "north"],
            "not an option of `bnmtl relate`: take `--principal`, or",
        ),
        ([*TOWNS, "--restarts", "3", "--starts", "3"], "`--starts` belongs to `--search orders`"),
        (["north.csv", "nowhere.csv"], "`nowhere.csv` does not exist"),
        (["north.csv", "real.csv"], "with `--discretize N`"),
        ([*TOWNS, "--ignore", "z"], "there is no `z`"),
        ([*TOWNS, "--required", "bad.csv"], "File `bad.csv`, line 2: `--required`"),
        ([*TOWNS, "--tiers", ""], "`--tiers` must name a file, got nothing.\n"),
        ([*TOWNS, "--out", "north.csv"], "got the file `north.csv`"),
        ([*TOWNS, "--out", "."], "must be a new or empty folder"),
    ],
)
def test_a_mistake_is_one_line_before_anything_is_learned(
    call, towns, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.setattr(
        "bnmtl.search.problem.TaskProblem.of_all", lambda *_, **__: pytest.fail("learning began")
    )
    (tmp_path / "bad.csv").write_text("from,to\na,z\n")
    table = frame(3)
    odd = {
        "apart.csv": table[["a", "d"]].rename(columns={"d": "z"}),
        "still.csv": table.assign(b=0, c=0, d=0),
        "calm.csv": table.assign(a=0),
        "other.csv": table.add_prefix("y"),
        "few.csv": frame(3, 9),
        "real.csv": table.assign(a=np.linspace(0, 1, 80)),
    }
    for name in set(arguments) & set(odd):
        odd[name].to_csv(tmp_path / name, index=False)
    before = listing(tmp_path)
    assert message in mistake(call("relate", *arguments))
    assert listing(tmp_path) == before


def test_learn_knows_no_option_of_relate(call, towns):
    for option in ("--principal", "--relatedness"):
        assert f"`{option}` is not an option of" in mistake(call("learn", *TOWNS, option, "north"))


def test_relate_has_all_options_of_learn(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    options = {}
    for command in ("learn", "relate"):
        code, out, _ = call(command, "--help")
        assert code == 0
        options[command] = set(re.findall(r"^\W+(--[a-z-]+) ", out, flags=re.MULTILINE))
    assert len(options["learn"]) == 32  # 31 fields with the path left out, and --help
    assert options["relate"] - options["learn"] == {"--relatedness", "--principal"}
    only_learn = {"--bootstrap", "--threshold", "--choose", "--task-groups"}
    assert options["learn"] - options["relate"] == only_learn


def test_force_replaces_what_either_command_has_left(call, towns, tmp_path):
    none = ("--folds", "0", "--bootstrap", "0")
    assert call("learn", "north.csv", *QUICK, *none, "--out", "run")[0] == 0
    (tmp_path / "run" / "notes.txt").write_text("mine")
    assert "--force" in mistake(call(*DIRECT, "--out", "run"))
    assert call(*DIRECT, "--principal", "west", "--out", "run", "--force")[0] == 0
    assert listing(tmp_path / "run") == sorted([*FIXED, "distances-west.png", "notes.txt"])
    assert call(*DIRECT, "--out", "run", "--force")[0] == 0
    assert listing(tmp_path / "run") == sorted([*FIXED, "notes.txt"])
    (tmp_path / "run" / "distances-west.png").write_text("mine")
    options = {"paths": TOWNS, "principal": ("west",), "out": "run", "force": True}
    events = []  # of searches
    with pytest.raises(ValueError, match=r"west.png`, which is not from bnmtl"):
        relate.run(RelateOptions(**options), events.append)
    assert events == []
    options = ("--principal", "west", "--out", "run", "--force")
    assert "west.png`, which is not from bnmtl" in mistake(call(*DIRECT, *options))
    (tmp_path / "run" / "distances-west.png").unlink()
    assert call("learn", "north.csv", *QUICK, *none, "--out", "run", "--force")[0] == 0
    assert {"north.bif", "notes.txt"} <= set(listing(tmp_path / "run"))
    assert "order.csv" not in listing(tmp_path / "run")
    assert record(tmp_path / "run")["command"] == "learn"


def test_reading_back_says_what_the_folder_is(call, towns, tmp_path):
    assert call(*DIRECT, "--out", "near")[0] == 0
    message = "near` is from `bnmtl relate`, which keeps no networks: take its CSV files and run.j"
    with pytest.raises(ValueError, match=message):
        read_run(tmp_path / "near")
    assert read_record(tmp_path / "near")["relatedness"] == "direct"


@pytest.mark.parametrize("moment", ["bnmtl.relatedness.direct", "bnmtl.cli.runs.write_record"])
def test_an_interrupt_leaves_nothing_half_written(call, towns, tmp_path, monkeypatch, moment):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(moment, interrupt)
    code, out, err = call(*DIRECT, "--out", "new/run")
    assert (code, out) == (130, "")
    assert err == "bnmtl: interrupted; no half-written file is left.\n"
    assert listing(tmp_path) == [*TOWNS]


def test_an_internal_error_is_not_reported_as_a_mistake(call, towns, tmp_path, monkeypatch):
    monkeypatch.setattr(relatedness, "direct", lambda *_: np.zeros(3) + np.zeros(4))
    with pytest.raises(ValueError, match="broadcast"):
        call(*THREE)
    assert listing(tmp_path) == [*TOWNS]


@pytest.mark.parametrize("kind", ["direct", "indirect"])
def test_progress_ends_complete(call, towns, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    last = {}
    options = RelateOptions(paths=TOWNS, restarts=0, relatedness=kind, folds=2)
    relate.run(options, lambda event: last.update({(event.stage, event.task): event}))
    assert "single-task" in {stage for stage, _ in last}
    assert all(event.done == event.total for event in last.values() if event.total)


@pytest.mark.drawn
def test_names_that_no_font_can_draw_are_reported_once(call, tmp_path, given):
    names = ["b", "a", "\u5909\u6570"]
    given(square(sorted(names), 1 - np.eye(3)))
    whole = pd.concat([frame(i).assign(t=name) for i, name in enumerate(names)])
    whole.to_csv(tmp_path / "all.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, _, err = call("relate", "all.csv", "--task-column", "t", "--principal", "a", *QUICK)
    assert code == 0
    assert err.count("\n") == (plotting.layout.families(names[2]) == plotting.layout.families("a"))


@pytest.mark.drawn
@pytest.mark.parametrize("measure", ["direct", "indirect"])
def test_nothing_is_found_in_independent_columns(call, tmp_path, measure):
    rng = np.random.default_rng(0)
    for name in ("east", "west"):
        table = pd.DataFrame(rng.integers(0, 3, (60, 10))).add_prefix("x")
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    options = ("--relatedness", measure, "--restarts", "0")
    code, out, err = call("relate", "east.csv", "west.csv", *options)
    assert code == 0
    assert (out + err).count("Nothing was found") == 1
    assert record(tmp_path / "bnmtl-relate")["warnings"] == []
    text = "Nothing was found: no arc was learned. More rows or fewer variables (--ignore) may show"
    assert record(tmp_path / "bnmtl-relate")["verdict"].startswith(text)
    assert "where nothing was found" in (tmp_path / "bnmtl-relate" / "report.html").read_text()


def test_without_arcs_the_verdict_is_not_repeated(call, towns, tmp_path, monkeypatch):
    table = square(["north", "south", "west"], 1 - np.eye(3))
    table.attrs.update(n_arcs=0, ended_by=())

    def direct(*_):
        warn("was too small", argument="max_parents")
        warn("is odd", task="north")
        warn(NO_ARCS, remedy="try")
        warn("All is odd")
        return table

    monkeypatch.setattr(relatedness, "direct", direct)
    assert call(*THREE, "--folds", "0", "--force")[0] == 0
    warned = record(tmp_path / "bnmtl-relate")["warnings"]
    others = ["Task `north` is odd.", "All is odd."]
    assert warned == ["`--max-parents` was too small.", *others]


NOISE = ("relate", "noise.csv", "--task-column", "site", *QUICK)


@pytest.fixture
def noisy_sites(tmp_path):
    """Columns that depend on nothing, some of which are joined by chance in one of three tasks."""
    noise(180, 30).assign(site=["a", "b", "c"] * 60).to_csv(tmp_path / "noise.csv", index=False)


def test_arcs_by_chance_are_reported_as_nothing_found(call, noisy_sites, tmp_path):
    code, out, err = call(*NOISE)
    assert code == 0 and "Nothing was found" not in err, "there are arcs"
    kept = record(tmp_path / "bnmtl-relate")
    difference, error = kept["held_out"]["differences"]["together - empty"]
    assert difference <= error and kept["held_out"]["folds"] == 5
    text = "Nothing was found: on held-out rows the learned arcs predict no better than no arcs"
    assert kept["verdict"].startswith(text) and "How close the tasks are" in kept["verdict"]
    assert text in " ".join(out.split())
    page = (tmp_path / "bnmtl-relate" / "report.html").read_text(encoding="utf-8")
    assert 0 < page.index(kept["verdict"]) < page.index("Each number counts")
    assert "here, where nothing was found, they are not" in page


def test_what_is_found_is_reported_with_its_gain(call, towns, tmp_path):
    for measure, n_folds in (("direct", 2), ("indirect", 3)):
        options = ("--relatedness", measure, "--folds", str(n_folds), "--force")
        code, out, _ = call(*THREE, *options)
        kept = record(tmp_path / "bnmtl-relate")
        assert code == 0 and kept["held_out"]["folds"] == n_folds
        assert kept["verdict"].startswith("On held-out rows the learned arcs gain ")
        assert kept["verdict"] in " ".join(out.split())
        assert "where nothing was found" not in (tmp_path / "bnmtl-relate/report.html").read_text()


def test_folds_0_holds_out_nothing(call, towns, tmp_path):
    code, out, _ = call(*THREE, "--folds", "0")
    kept = record(tmp_path / "bnmtl-relate")
    assert code == 0 and kept["held_out"] is None
    text = "No rows were held out, so the gain from the arcs is unknown."
    assert kept["verdict"] == text and text in out
    err = mistake(call(*THREE, "--folds", "0", "--relatedness", "indirect", "--force"))
    assert "`--folds` does not go with `--relatedness indirect`, got 0" in err
    for measure in ("direct", "indirect"):
        err = mistake(call(*THREE, "--folds", "5000", "--relatedness", measure, "--force"))
        assert "`--folds` must be 0 or from 2 to the rows of the largest task" in err


def test_a_search_without_time_has_not_found_that_there_is_nothing(call, towns, tmp_path):
    for measure in ("direct", "indirect"):
        options = ("--relatedness", measure, "--time-limit", "0", "--force")
        code, out, err = call("relate", *TOWNS, *options)
        assert code == 0 and "Nothing was found" not in out + err
        assert "The search ended before it found an arc" in out


def test_copied_rows_are_reported(call, tmp_path):
    rng = np.random.default_rng(0)
    for name in ("north", "south"):
        rows = pd.DataFrame(rng.integers(0, 3, (20, 5)), columns=list("abcde"))
        pd.concat([rows, rows]).to_csv(tmp_path / f"{name}.csv", index=False)
    code, _, err = call("relate", "north.csv", "south.csv", *QUICK, "--folds", "0")
    assert code == 0
    assert (
        "Rows are copies of other rows of their task (`north`: 20 of 40, `south`: 20 of 40)" in err
    )
