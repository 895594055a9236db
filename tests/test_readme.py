"""README and docs: the example runs, tables are those of the results, links lead somewhere."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.beside_kernels
ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_the_example_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert (tmp_path / "pma.bif").stat().st_size > 500
    assert "<svg" in (tmp_path / "dags.svg").read_text()


@pytest.mark.parametrize("path", ["README.md", "docs/results.md", "benchmarks/README.md"])
def test_the_tables_are_those_of_the_results(path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import tables

    text = (ROOT / path).read_text()
    assert "<!-- table: " in text
    assert tables.with_tables(text) == text


@pytest.mark.parametrize("name", ["main-job", "tests"])
def test_both_commands_make_an_environment_of_their_own(name):
    (command,) = re.findall(rf"<!-- ci: {name} -->\n```\n(.*?)\n```", README, flags=re.DOTALL)
    assert command.startswith("python3 -m venv .venv")
    assert "pip install -q -e" in command
    assert "\n" not in command


PAGES = ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_files_it_names_are_there(page):
    for path in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text()):
        assert (ROOT / page).parent.joinpath(path).exists(), path
