"""Compilation of kernels before they are called, in processes that fill the cache on disk.

``python -m bnmtl._kernels.ahead DIGEST NAME...`` is one of these processes. It writes the name of
every compiled function to stdout and ends when its stdin is closed.
"""

import contextlib
import importlib
import os
import queue
import subprocess
import sys
import threading
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from bnmtl._kernels import _jit

# Code is measured in bytes of Python bytecode. To translate a kernel, which a process does once,
# takes about this many times as long as to optimize it within one of the kernels that call it.
_TRANSLATING = 8
# Loading numba takes a process as long as compiling this much.
_LOADING = 50_000


def _code(functions):
    return sum(len(function.__code__.co_code) for function in functions)


class _Kernel(NamedTuple):
    """A kernel with the functions of all kernels that it contains, and their size."""

    kernel: object
    parts: frozenset
    size: int


def _measured(kernels):
    parts = [frozenset(_jit.kernels_within([kernel])) for kernel in kernels]
    return [_Kernel(kernel, its, _code(its)) for kernel, its in zip(kernels, parts, strict=True)]


def _time(share):
    """How long a process takes to compile some kernels."""
    translated = _code(frozenset().union(*(each.parts for each in share)))
    return _LOADING + _TRANSLATING * translated + sum(each.size for each in share)


def shares(kernels, n):
    """Divide kernels among processes so that the longest takes as little time as possible.

    Kernels with the same parts come together, and the largest come first.

    Parameters
    ----------
    kernels : list
        As in the values of `_jit.compilable`.
    n : int
        Largest number of processes.

    Returns
    -------
    list of list
    """
    found = [[each] for each in _measured(kernels)]
    while len(found) > n:
        found.sort(key=_time)
        shortest = found.pop(0)
        found.append(found.pop(_least_longer(shortest, found)) + shortest)
    while _make_even(found):
        pass
    return [
        [each.kernel for each in sorted(share, key=lambda each: -each.size)]
        for share in sorted(found, key=_time, reverse=True)
    ]


def _least_longer(share, found):
    """The index of the process to which some kernels add the least time."""
    longer = [_time(other + share) - _time(other) for other in found]
    return longer.index(min(longer))


def _make_even(found):
    """Move the kernel for which the longest times decrease most; whether there is one."""
    times = [_time(share) for share in found]
    best, least = None, sorted(times, reverse=True)
    for a, b in permutations(range(len(found)), 2):
        for at, each in enumerate(found[a]):
            changed = list(times)
            changed[a] = _time(found[a][:at] + found[a][at + 1 :])
            changed[b] = _time([*found[b], each])
            changed.sort(reverse=True)
            if changed < least:
                best, least = (a, at, b), changed
    if best is not None:
        a, at, b = best
        found[b].append(found[a].pop(at))
    return best is not None


def is_worth_it(kernels):
    """Whether compiling takes longer than starting processes."""
    return _time(_measured(kernels)) > 3 * _LOADING


class Processes:
    """Processes that compile kernels; ended by `end` or together with this process.

    Parameters
    ----------
    kernels : list
        As in the values of `_jit.compilable`.
    n : int
        Largest number of processes.
    """

    def __init__(self, kernels, n):
        self._lines, self._running = queue.SimpleQueue(), []
        for share in shares(kernels, n):
            with contextlib.suppress(OSError):
                self._start([_jit.name_of(_jit.function_of(kernel)) for kernel in share])

    def _start(self, names):
        # A folder with the modules of this process comes first, and the current folder never.
        root = Path(__file__).resolve().parent.parent.parent
        places = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
        command = [sys.executable, "-P", "-m", __name__, _jit.digest_of_sources(), *names]
        process = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._running.append(process)
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _read(self, process):
        for line in process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def wait(self, listener):
        """Wait for all processes; ``listener(name)`` is called for every compiled function."""
        left = len(self._running)
        while left:
            name = self._lines.get()
            if name is None:
                left -= 1
            else:
                listener(name)

    def end(self):
        """End the processes at once."""
        for process in self._running:
            process.kill()
            process.stdin.close()
            process.wait()


def _end_with_stdin():
    """End this process when its parent closes the pipe or ends."""
    sys.stdin.read()
    os._exit(1)


def main(digest, *names):
    """Compile kernels, unless they are those of another version."""
    if digest != _jit.digest_of_sources():
        sys.exit(1)
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    for module in sorted({name.split(":")[0] for name in names}):
        importlib.import_module(module)
    known = _jit.compilable()

    def show(function):
        sys.stdout.write(f"{_jit.name_of(function)}\n")
        sys.stdout.flush()

    with _jit.watched_compilation(show):
        for name in names:
            _jit.compile_now(known[name])
    # The thread that waits for stdin would keep Python from ending.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
