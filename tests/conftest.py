"""Settings of the whole suite."""

import gc
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

# Two processes of tests have one core each: threads of BLAS or OpenMP that wait for each other make
# small fits take eight times as long, and those of joblib a fifth longer. Tests of threads ask for
# a number of them. Libraries read this when they are imported.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ.setdefault(name, "1")
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from budget import NO_JIT  # noqa: E402

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


# Tests do not survive a loss of power, and disks are slow.
os.fsync = lambda descriptor: None


def pytest_configure(config):
    """Compile the kernels once before several processes of tests would each do it."""
    processes = getattr(config.option, "tx", None)
    if processes and not NO_JIT and not hasattr(config, "workerinput"):
        command = [sys.executable, "-m", "bnmtl", "compile", "--jobs", str(len(processes))]
        subprocess.run(command, cwd=Path(__file__).parent.parent, stdout=subprocess.DEVNULL)


def pytest_ignore_collect(collection_path):
    """In plain Python leave out, before they are imported, files of which nothing is run there."""
    if NO_JIT and collection_path.suffix == ".py":
        marked = "\npytestmark = pytest.mark.beside_kernels\n"
        return marked in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_collection_finish():
    """Let collections of garbage leave out all tests and libraries, which stay to the end."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config, items):
    """In plain Python, skip what is slow or the same, and run every third case of a test."""
    if not NO_JIT:
        return
    reasons = {"slow_without_jit": "minutes in plain Python", "beside_kernels": "the same there"}
    n_cases, kept, others = Counter(), [], []
    for item in items:
        test = item.nodeid.partition("[")[0]
        why = [reason for name, reason in reasons.items() if item.get_closest_marker(name)]
        if why:
            item.add_marker(pytest.mark.skip(reason=f"NUMBA_DISABLE_JIT=1: {why[0]}"))
        (kept if why or n_cases[test] % 3 == 0 else others).append(item)
        n_cases[test] += not why
    # Coverage is measured with all.
    if not getattr(config.option, "cov_source", None):
        config.hook.pytest_deselected(items=others)
        items[:] = kept


@pytest.fixture
def bundled_fonts(monkeypatch):
    """Let no font be installed except those of matplotlib, which have no Hangul.

    Fonts once found are remembered, so a test with this fixture must use signs of its own.
    """
    from matplotlib.font_manager import fontManager

    bundled = [font for font in fontManager.ttflist if "mpl-data" in font.fname]
    monkeypatch.setattr(fontManager, "ttflist", bundled)


@pytest.fixture
def call(capsys, monkeypatch, tmp_path):
    """Run the command `bnmtl` in an empty folder; returns (exit code, stdout, stderr)."""
    from bnmtl.cli.main import main
    from bnmtl.plotting import drawing

    monkeypatch.chdir(tmp_path)
    # Pictures of fewer pixels are as complete.
    monkeypatch.setattr(drawing, "_DPI", 40)

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return run


LEARNED = ("arcs", "borrowing", "dags", "gains")
# Tests of commands of which most look at no picture, since drawing takes a third of their time, and
# the functions of `bnmtl.plotting` that return empty axes there.
WITHOUT_PICTURES = {
    "test_cli": LEARNED,
    "test_learn_choices": LEARNED,
    "test_learn_confidence": LEARNED,
    "test_learn_task_groups": (),
    "test_library_command": ("trajectory", "weights"),
    "test_library_tasks": (),
    "test_query_command": (),
    "test_relate": ("relatedness", "dendrogram", "distances"),
    "test_select": ("pruning", "trajectory", "weights"),
    "test_validate_command": ("arc_stability", "bias_variance", "rounds"),
}
EMPTY = {"png": b"\x89PNG\r\n\x1a\n", "svg": '<?xml version="1.0"?>\n<svg></svg>\n'}


@pytest.fixture(autouse=True)
def without_pictures(request, monkeypatch):
    """Let pictures of commands be saved empty, except in tests that are marked `drawn`."""
    if request.path.stem not in WITHOUT_PICTURES or request.node.get_closest_marker("drawn"):
        return
    from matplotlib.figure import Figure

    from bnmtl import plotting

    def save(figure, file, format, **_):
        assert figure.axes
        file.write(EMPTY[format])

    def blank(*_, **__):
        figure = Figure(figsize=(1, 1))
        figure.add_axes((0, 0, 1, 1))
        return figure

    monkeypatch.setattr(Figure, "savefig", save)
    for name in WITHOUT_PICTURES[request.path.stem]:
        monkeypatch.setattr(plotting, name, blank)


@pytest.fixture
def few_penalties(monkeypatch):
    """Let fewer penalties be tried, by commands and learners alike."""
    monkeypatch.setattr("bnmtl.learners.validated.DEFAULT_PENALTIES", (0.0, 0.9, 0.999, 1.0))
