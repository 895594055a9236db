"""Compilation ahead of calls: processes, their shares, and what happens when they fail."""

import os
import subprocess
import sys
import textwrap
import time

import pytest
from budget import NO_JIT

from bnmtl._kernels import _jit, ahead, coupling, dags, terms
from bnmtl.search import compilation

pytestmark = pytest.mark.skipif(NO_JIT, reason="nothing is compiled")

KERNELS = [dags.total_score, terms.keep, coupling.weighted_log_coupling, coupling.distance]
START = """
import os
import sys
import time

from bnmtl._kernels import _jit, ahead, coupling, dags, terms, trees
from bnmtl.search import compilation

kernels = [dags.total_score, terms.keep, coupling.weighted_log_coupling, coupling.distance]
# Few kernels are worth it.
ahead._LOADING = 0
"""


def ran(tmp_path, lines):
    """Words printed by some lines in a process with two cores, where nothing is compiled."""
    environment = {
        **os.environ,
        "LOKY_MAX_CPU_COUNT": "2",
        "NUMBA_CACHE_DIR": str(tmp_path / "compiled"),
    }
    command = [sys.executable, "-c", START + textwrap.dedent(lines)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_two_processes_compile_what_python_then_loads(tmp_path):
    """Each function is named once at least, and nothing is started when all is on disk.

    What they cannot compile is compiled in the first process.
    """
    names = ran(
        tmp_path,
        """
        for holder, name, value in [
            (sys, "executable", sys.executable + "-is-not-there"),
            (os, "environ", {**os.environ, "PYTHONHASHSEED": "a process ends with an error"}),
            (_jit, "digest_of_sources", lambda: "of another version"),
        ]:
            usual, found = getattr(holder, name), []
            setattr(holder, name, value)
            compilation.compile_together(kernels, found.append)
            setattr(holder, name, usual)
            assert found == [] and _jit.uncompiled(kernels) == kernels
        first, *others = kernels
        _jit.compile_now(first)
        assert first.stats.cache_misses and _jit.uncompiled(kernels) == others

        compilation.compile_together(others, found.append)
        assert _jit.uncompiled(kernels) == []
        assert compilation._processes(kernels) is None
        for one in others:
            _jit.compile_now(one)
            assert not one.stats.cache_misses and one.stats.cache_hits, one
        print(*found)
        """,
    )
    assert set(names) >= {_jit.name_of(function) for function in _jit.kernels_within(KERNELS[1:])}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("compilation.cpu_count", lambda: 1),
        ("compilation.multiprocessing.parent_process", lambda: True),
        ("compilation.is_kept", lambda one: False),
        ("compilation.sys.frozen", True),
        ("compilation.sys.executable", ""),
        ("compilation.is_worth_it", ahead.is_worth_it),
        ("compilation.uncompiled", lambda kernels: []),
    ],
)
def test_no_processes_are_started_where_they_do_not_help(monkeypatch, place, value):
    """The few kernels of these tests are not worth it."""
    for name, usual in [
        ("cpu_count", lambda: 2),
        ("is_worth_it", bool),
        ("uncompiled", list),
        ("Processes", lambda kernels, n: (kernels, n)),
    ]:
        monkeypatch.setattr(compilation, name, usual)
    assert compilation._processes(KERNELS) == (KERNELS, 2)
    monkeypatch.setattr(f"bnmtl.search.{place}", value, raising=False)
    assert compilation._processes(KERNELS) is None


def test_nothing_needs_compiling_in_plain_python(monkeypatch):
    monkeypatch.setattr(_jit.numba.config, "DISABLE_JIT", 1)
    assert _jit.uncompiled(KERNELS) == [] and _jit.compilable() == {}


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_processes_end_with_their_parent_and_with_the_block_that_started_them(tmp_path):
    lines = """
    by_signal, by_error = "os.kill(os.getpid(), 9)", "raise SystemExit"
    for end in [by_signal, by_error, "compiled.__exit__(None, None, None)"]:
        if os.fork():
            assert os.wait()[1] == (9 if end == by_signal else 0)
            continue
        compiled = compilation.compiled_ahead(_jit.compilable().values())
        compiled.__enter__()
        (started,) = compilation._STARTED
        print(*(one.pid for one in started._running), flush=True)
        exec(end)
        assert all(one.poll() is not None for one in started._running)
        break
    """
    processes = list(map(int, ran(tmp_path, lines)))
    assert len(processes) == 6
    for _ in range(100):
        if not any(map(is_running, processes)):
            return
        time.sleep(0.1)
    raise AssertionError("a process goes on alone")


def test_shares_are_about_equally_long_and_repeat_little():
    """Two processes take little more time than one, because kernels with the same parts meet."""
    kernels = list(_jit.compilable().values())
    sizes = {one: ahead._code(_jit.kernels_within([one])) for one in kernels}
    longest = {}
    for n in (1, 2, 4):
        found = ahead.shares(kernels, n)
        assert len(found) == n
        assert sorted(id(one) for share in found for one in share) == sorted(map(id, kernels))
        for share in found:
            assert [sizes[one] for one in share] == sorted(sizes[one] for one in share)[::-1]
        parts = [ahead._code(_jit.kernels_within(share)) for share in found]
        times = [
            ahead._TRANSLATING * translated + sum(sizes[one] for one in share)
            for share, translated in zip(found, parts, strict=True)
        ]
        longest[n] = max(times)
        assert max(times) < 1.1 * min(times)
    assert longest[2] < 0.55 * longest[1] and longest[4] < 0.4 * longest[1]
    assert ahead.shares(kernels[:1], 3) == [kernels[:1]]


def test_a_process_ends_when_its_stdin_is_closed():
    names = [_jit.name_of(_jit.function_of(one)) for one in _jit.compilable().values()]
    command = [sys.executable, "-m", ahead.__name__, _jit.digest_of_sources(), *names]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stdin.close()
    assert process.wait(timeout=60) == 1


def test_all_kernels_are_compiled_by_a_command(call, monkeypatch):
    asked = []
    monkeypatch.setattr(
        compilation, "compile_together", lambda kernels, _, n_jobs: asked.append((kernels, n_jobs))
    )
    lacking = [dags.total_score]
    monkeypatch.setattr(compilation, "uncompiled", lambda kernels: lacking)
    code, out, _ = call("compile", "--jobs", "3")
    assert (code, out) == (0, "1 inner loops compiled\n")
    assert asked == [(lacking, 3)]
    lacking.clear()
    code, out, _ = call("compile")
    assert (code, out) == (0, "all inner loops were compiled\n")
    monkeypatch.setattr(compilation, "is_kept", lambda one: False)
    with pytest.raises(OSError, match="set NUMBA_CACHE_DIR"):
        compilation.compile_all()
