"""What a program prints in a process whose hashes of texts differ from the ones here."""

import contextlib
import io
import os
import subprocess
import sys


def with_another_seed(program):
    """What a program prints in a process with another hash seed; it may import test modules."""
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    paths = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert not run.returncode, run.stderr
    assert run.stdout.strip()
    return run.stdout


def printed(program):
    """Different outputs of a program here and under another hash seed: one, if it depends on none.

    Here the seed is random or given, and the program runs in this process.
    """
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(program, {"__name__": "__main__"})
    return {here.getvalue(), with_another_seed(program)}
