"""The README: its example runs, its table is that of the committed results."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


@pytest.mark.slow_without_jit
def test_the_example_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert (tmp_path / "pma.bif").stat().st_size > 500
    assert "<svg" in (tmp_path / "dags.svg").read_text()


def test_the_table_is_that_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import sachs

    (table,) = re.findall(r"<!-- table: sachs -->\n(.*?)\n<!-- end -->", README, flags=re.DOTALL)
    assert table == sachs.table()


@pytest.mark.parametrize("name", ["main-job", "tests"])
def test_both_commands_make_an_environment_of_their_own(name):
    (command,) = re.findall(rf"<!-- ci: {name} -->\n```\n(.*?)\n```", README, flags=re.DOTALL)
    assert command.startswith("python3 -m venv .venv")
    assert "pip install -q -e" in command
    assert "\n" not in command


def test_files_it_names_are_there():
    for path in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / path).exists(), path
