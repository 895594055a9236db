"""Starts where compiled kernels cannot be kept, are damaged, or come with an installation."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.beside_kernels

SOURCES = Path(__file__).parent.parent / "bnmtl"
# Says whether a kernel was compiled already, compiles it, and prints the warnings.
PROGRAM = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from bnmtl._kernels import _jit, dags
    is_there = not _jit.uncompiled([dags.copy_dag])
    _jit.compile_now(dags.copy_dag)
    {last}
print(json.dumps([is_there, [str(warning.message) for warning in caught]]))
"""
NOT_KEPT = "Compiled inner loops cannot be kept ({}"


@pytest.fixture
def place():
    """The kernels alone, in a folder that everybody can read."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        (place / "bnmtl").mkdir()
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCES / "_kernels", place / "bnmtl/_kernels", ignore=ignored)
        (place / "bnmtl/__init__.py").write_text("")
        (place / "file").write_text("")
        yield place


def started(place, first="", last="", **options):
    """Whether the kernel was there, and the warnings; caches below a file cannot be written."""
    below = {name: f"{place}/file/{name}" for name in ("HOME", "XDG_CACHE_HOME")}
    environment = os.environ | below | {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["TMPDIR"] = str(place)
    environment |= options.pop("environment", {"NUMBA_CACHE_DIR": f"{place}/file/cache"})
    program = f"{first}\n{PROGRAM.format(last=last)}"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=place,
        capture_output=True,
        text=True,
        **options,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_without_a_folder_kernels_are_compiled_and_one_warning_says_so(place):
    (place / "bnmtl/_kernels/__pycache__").write_text("")
    is_there, (warning,) = started(place, last="_jit.compile_now(dags.total_score)")
    assert not is_there
    assert warning.startswith(NOT_KEPT.format("no folder for them can be written"))
    assert "set NUMBA_CACHE_DIR to a folder" in warning
    # The temporary folder is gone.
    assert sorted(path.name for path in place.iterdir()) == ["bnmtl", "file"]


def test_a_damaged_file_is_compiled_again(place):
    environment = {"NUMBA_CACHE_DIR": str(place / "cache")}
    assert started(place, environment=environment) == [False, []]
    (file,) = place.rglob("*.kernel")
    whole = file.read_bytes()
    damaged = whole[:-1] + bytes([whole[-1] ^ 1])
    file.write_bytes(damaged)
    assert started(place, environment=environment) == [True, []]
    assert file.read_bytes() != damaged
    # Kept code of other sources is removed.
    (place / "bnmtl/_kernels/dags.py").open("a").write("\n")
    assert started(place, environment=environment) == [False, []]
    (new,) = place.rglob("*.kernel")
    assert new != file


def test_a_folder_that_others_may_write_is_not_read(place):
    environment = {"NUMBA_CACHE_DIR": str(place / "cache")}
    assert started(place, environment=environment) == [False, []]
    (file,) = place.rglob("*.kernel")
    file.parent.chmod(0o777)
    is_there, (warning,) = started(place, environment=environment)
    assert not is_there and "others may write to it" in warning


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes")
def test_a_full_quota_stops_no_start(place):
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    )
    environment = {"NUMBA_CACHE_DIR": str(place / "cache")}
    is_there, (warning,) = started(place, limit, environment=environment)
    assert not is_there and warning.startswith(NOT_KEPT.format("File too large in `"))
    assert not [path for path in place.rglob("*.kernel*")]


def test_what_was_compiled_in_an_installation_that_cannot_be_written_is_used(place):
    assert started(place) == [False, []]  # written beside the sources
    denied = """
import os, tempfile
trial, access = tempfile.TemporaryFile, os.access
def denied(dir):
    if dir.endswith("_kernels/__pycache__"):  # root may write everywhere
        raise PermissionError(13, "Permission denied")
    return trial(dir=dir)
tempfile.TemporaryFile = denied
os.access = lambda path, mode: not str(path).endswith("__pycache__") and access(path, mode)
"""
    assert started(place, denied) == [True, []]
