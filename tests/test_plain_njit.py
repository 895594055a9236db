"""Searches where numba's private parts are missing: the same results, compiled as plain `njit`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from budget import NO_JIT

from bnmtl._kernels import _jit

pytestmark = pytest.mark.skipif(NO_JIT, reason="nothing is compiled")

CORE = """
import numpy as np
import pandas as pd

from bnmtl import Exact, MultitaskLearner, PairedPrior
from bnmtl._kernels import _jit

rng = np.random.default_rng(0)
tasks = {}
for name in "uvw":
    a = rng.integers(0, 3, 80)
    b, c = (a + rng.integers(0, 2, 80)) % 3, rng.integers(0, 2, 80)
    tasks[name] = pd.DataFrame({"a": a, "b": b, "c": (b > 1) ^ (c * a > 1), "d": c}).astype(str)
print(_jit.IS_ACCELERATED)
learner = MultitaskLearner(
    prior=PairedPrior(0.9), search=Exact(), table_sharing=None, task_groups=None, random_state=0
).fit(tasks)
print(learner.score_.hex(), sorted(map(float.hex, learner.task_scores_.values)))
print({name: sorted(graph.edges) for name, graph in learner.configuration_.items()})
"""

MISSING = "import numba.core.codegen\ndel numba.core.codegen.JITCodeLibrary\n"
CHANGED = "from numba.core.options import DefaultOptions\ndel DefaultOptions._nrt\n"


def core(start, **variables):
    """What the searches print after some lines; the first is whether kernels are accelerated."""
    done = subprocess.run(
        [sys.executable, "-c", start + CORE],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_core_finds_the_same_without_private_parts_of_numba():
    """What is compiled is kept beside what other tests use."""
    kept = Path(_jit.__file__).parent / "__pycache__" / "plain"
    is_accelerated, *expected = core("")
    is_plain, *found = core(MISSING, NUMBA_CACHE_DIR=str(kept))
    assert (is_accelerated, is_plain) == ("True", "False")
    assert len(expected) == 2 and found == expected


def test_private_parts_that_have_changed_are_not_used():
    show = "from bnmtl._kernels import _jit\nprint(_jit.IS_ACCELERATED)\n"
    done = subprocess.run(
        [sys.executable, "-c", CHANGED + show], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
