"""READMEs and docs: the example runs, tables are those of the results, links lead somewhere."""

import re
from pathlib import Path

import pytest

from benchmarks import tables
from bnmtl import data

pytestmark = pytest.mark.beside_kernels
ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
FOLDERS = sorted(path.parent for path in (ROOT / "benchmarks").glob("*/__init__.py"))
WITH_TABLES = [
    ROOT / "README.md",
    ROOT / "docs" / "results.md",
    *(folder / "README.md" for folder in FOLDERS),
]
PAGES = [*WITH_TABLES, ROOT / "benchmarks" / "README.md", *(ROOT / "docs").glob("*.md")]


def test_the_example_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    # All cells of nine conditions take a minute, and ten folds of them more.
    assert "compare(learner, tasks)" in code
    code = code.replace("compare(learner, tasks)", "compare(learner, tasks, cv=2)")
    cells = {name: data.load("sachs")[name][:40] for name in ("b2camp", "cd3cd28", "pma")}
    monkeypatch.setattr(data, "load", {"sachs": cells}.__getitem__)
    exec(compile(code, "README.md", "exec"), {})
    assert (tmp_path / "pma.bif").stat().st_size > 500
    assert "<svg" in (tmp_path / "dags.svg").read_text()


def test_the_tables_are_those_of_the_results_and_none_is_left_out():
    """One test: all tables of all results are made once."""
    assert set(WITH_TABLES) <= set(tables.PAGES)
    for path in WITH_TABLES:
        text = path.read_text()
        assert "<!-- table: " in text, path
        assert tables.with_tables(text) == text, path
    shown = "".join(path.read_text() for path in tables.PAGES)
    for name in tables.studies():
        assert f"<!-- table: {name} -->" in shown, name


@pytest.mark.parametrize("name", ["main-job", "tests"])
def test_both_commands_make_a_separate_environment(name):
    (command,) = re.findall(rf"<!-- ci: {name} -->\n```\n(.*?)\n```", README, flags=re.DOTALL)
    assert command.startswith("python3 -m venv .venv")
    assert "pip install -q -e" in command
    assert "\n" not in command


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.parent.name)
def test_files_that_are_named_are_there(path):
    for name in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / name).exists(), name


def test_commands_that_are_named_are_there():
    for path in PAGES:
        for name in re.findall(r"python -m (benchmarks[.\w]+)", path.read_text()):
            assert (ROOT / f"{name.replace('.', '/')}.py").exists(), f"{path}: {name}"
