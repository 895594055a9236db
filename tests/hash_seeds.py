"""What a program prints in a process whose hashes of texts differ from the ones here."""

import atexit
import contextlib
import io
import json
import os
import subprocess
import sys
from functools import cache

RUN_EACH = """
import contextlib, io, json, sys, traceback

for line in sys.stdin:
    printed, failure = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            exec(json.loads(line), {"__name__": "__main__"})
        except BaseException:  # sys.exit, too, because other programs run here afterwards
            failure = traceback.format_exc()
    print(json.dumps([printed.getvalue(), failure]), flush=True)
"""


@cache
def process():
    """A process with another hash seed that runs one program after the other."""
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    paths = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    started = subprocess.Popen(
        [sys.executable, "-c", RUN_EACH],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(started.communicate)
    return started


def with_another_seed(program):
    """What a program prints in a process with another hash seed; it may import test modules."""
    child = process()
    child.stdin.write(json.dumps(program) + "\n")
    child.stdin.flush()
    line = child.stdout.readline()
    if not line:
        process.cache_clear()  # The next program runs in a new process.
        raise AssertionError(f"a program ended its process with code {child.wait()}:\n{program}")
    printed, failure = json.loads(line)
    assert failure is None, failure
    assert printed.strip()
    return printed


def printed(program):
    """Different outputs of a program here and under another hash seed: one, if it depends on none.

    Here the seed is random or given, and the program runs in this process.
    """
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(program, {"__name__": "__main__"})
    return {here.getvalue(), with_another_seed(program)}
