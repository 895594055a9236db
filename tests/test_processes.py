"""Workers end with the process that started them, are not too many, and leave no files."""

import contextlib
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import delayed
from joblib.externals.loky import get_reusable_executor

from bnmtl import processes
from bnmtl.cli.main import main
from bnmtl.processes import in_processes, n_workers, report_start, temporary_folder
from bnmtl.progress import ProgressEvent, Reporter, starts_processes

pytestmark = pytest.mark.beside_kernels
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
_ENOUGH = 60  # seconds that a busy machine may need


def parent_of(number):
    """The number of a process's parent; None if it has ended."""
    try:
        state, parent = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state in "ZX" else int(parent)


def workers_of(number):
    """The workers that a process has started, by number."""
    found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [child for child in found if parent_of(child) == number and is_worker(child)]


def is_worker(number):
    return b"popen_loky" in Path(f"/proc/{number}/cmdline").read_bytes()


def until(condition, what):
    end = time.monotonic() + _ENOUGH
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def run_in_fork(work, folder):
    """Start work in a fork, which need not import anything, and return its number."""
    # A fork would wait for the thread that serves the workers of this process.
    get_reusable_executor(max_workers=1).shutdown()
    number = os.fork()
    if number == 0:
        os.environ |= {"TMPDIR": str(folder), "JOBLIB_TEMP_FOLDER": str(folder)}
        tempfile.tempdir = None
        for descriptor in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        with contextlib.suppress(BaseException):
            work()
        os._exit(0)
    return number


def kill_with_workers(number, is_ready=lambda: True):
    """Kill a process when it has two workers; return the numbers of these."""
    try:
        until(lambda: len(workers_of(number)) == 2 and is_ready(), "no workers")
        found = workers_of(number)
    finally:
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
    return found


def wait_long(array, place):
    (place / str(os.getpid())).write_text(str(len(array)))
    time.sleep(100)


@on_linux
def test_workers_at_work_end_with_their_parent(tmp_path):
    """They hold an array of the parent, whose file the next process removes."""
    array, place = np.zeros(300_000), tmp_path / "at work"
    place.mkdir()
    jobs = [delayed(wait_long)(array, place) for _ in range(2)]
    number = run_in_fork(lambda: in_processes(2, 2)(jobs), tmp_path)
    workers = kill_with_workers(number, lambda: len(list(place.iterdir())) == 2)
    until(lambda: not any(map(parent_of, workers)), "workers outlive their parent")
    assert [path.suffix for path in tmp_path.glob("bnmtl-*.lock")] == [".lock"]
    with temporary_folder(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == [place]


def write_table(folder, is_labeled=lambda n: np.ones(n, dtype=bool)):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 3, (60, 4))).add_prefix("x")
    table["y"] = np.where(is_labeled(60), np.where(table["x0"] > 0, "yes", "no"), None)
    table["task"] = np.where(np.arange(60) % 2, "east", "west")
    table.to_csv(folder / "table.csv", index=False)
    return str(folder / "table.csv")


@on_linux
@pytest.mark.parametrize(
    "command",
    [
        ("library", "--profile", "small"),
        ("validate", "--model", "forest"),
        ("query", "--strategy", "multitask", "--task-column", "task"),
    ],
    ids=lambda command: command[0],
)
def test_workers_of_a_killed_command_end(command, tmp_path):
    table = write_table(tmp_path, lambda n: np.arange(n) < 40)
    if command[0] != "query":
        table = write_table(tmp_path)
    given = ["--label", "y", "--jobs", "2", "--out", str(tmp_path / "out")]
    name, *options = command
    line = [name, table, *options, *given]
    workers = kill_with_workers(run_in_fork(lambda: main(line), tmp_path))
    until(lambda: not any(map(parent_of, workers)), "workers outlive their parent")


def number_of_this():
    time.sleep(0.1)
    return os.getpid()


def test_there_are_no_more_workers_than_tasks(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "8")
    assert n_workers(24, 11) == 11
    assert n_workers(6, 3) == 3
    assert n_workers(None, 3) == n_workers(4, 0) == 1
    assert n_workers(-1, 100) == len(os.sched_getaffinity(0))
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert n_workers(-1, 100) == 1


def test_workers_are_used_again():
    first = in_processes(2, 4)(delayed(number_of_this)() for _ in range(4))
    second = in_processes(2, 4)(delayed(number_of_this)() for _ in range(4))
    assert len({*first, *second}) <= 2 and os.getpid() not in first


def test_a_single_task_needs_no_process():
    assert in_processes(4, 1)([delayed(number_of_this)()]) == [os.getpid()]


def test_memory_is_reported_before_processes_start():
    events = []
    with Reporter(events.append) as report:
        report_start(report, 2)
        report("models", done=1, total=2)
    assert [starts_processes(event) for event in events] == [True, False]
    assert events[0].stage.startswith("starting 2 processes of about 0.")
    assert not starts_processes(ProgressEvent("starting to climb", None, 0, 3, None))
    assert 5e7 < processes.resident() < 1e11


def test_folders_of_living_processes_stay(tmp_path):
    with temporary_folder(tmp_path) as first:
        (first / "rows").write_text("1")
        with temporary_folder(tmp_path) as second:
            assert first != second and (first / "rows").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_others_have_named_like_this_stays(tmp_path):
    (tmp_path / "bnmtl-results.lock").write_text("")
    (tmp_path / "bnmtl-results").mkdir()
    os.symlink(tmp_path / "bnmtl-results.lock", tmp_path / f"bnmtl-{'0' * 16}.lock")
    (tmp_path / f"bnmtl-{'0' * 16}").mkdir()
    with temporary_folder(tmp_path):
        pass
    assert len(list(tmp_path.iterdir())) == 4


def test_a_temporary_folder_is_private():
    with temporary_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.parent == Path(tempfile.gettempdir())
    assert not folder.exists()
