"""Exact search without private parts of numba: the same results, compiled as plain `njit`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from budget import NO_JIT

from bnmtl._kernels import _jit

pytestmark = pytest.mark.skipif(NO_JIT, reason="nothing is compiled")

# The gains of single arcs are not needed here and take most of the time to compile.
CORE = """
from itertools import chain

import numpy as np
from searches import problem_of, random_frame, state_of

from bnmtl import BDeu, MixedDirichlet
from bnmtl._kernels import _jit
from bnmtl.search import exact
from bnmtl.search.graph_state import Budget, GraphState

print(_jit.IS_ACCELERATED)
GraphState.reset = lambda state, matrix: None
for score in (BDeu(), MixedDirichlet()):
    for seed in range(3):
        state = state_of(problem_of(random_frame(seed, 4, 60), score))
        work = exact.Work(state, np.arange(4))
        with state.scores.scratch() as scratch:
            list(chain(work.score_families(scratch, Budget()), work.take_best()))
        print(work.scores.tobytes().hex(), work.best_graph().nonzero())


def add(table, other, a, b, c):
    _jit.table_at(table)[a, b] += c


@_jit.kernel
def add_by_address(address: int, table: _jit.Table):
    _jit.call(address, table, table, 1, 2, 5)


table = np.zeros((3, 4), np.int64)
add_by_address(_jit.Callback(add).address, table)
print(table.tolist())
"""

MISSING = "import numba.core.codegen\ndel numba.core.codegen.JITCodeLibrary\n"
CHANGED = "from numba.core.options import DefaultOptions\ndel DefaultOptions._nrt\n"


def core(start, **variables):
    """What searches print after some lines; the first is whether kernels are accelerated."""
    places = os.path.dirname(__file__), os.environ.get("PYTHONPATH")
    done = subprocess.run(
        [sys.executable, "-c", start + CORE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places)), **variables},
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
    assert len(expected) == 7 and found == expected
    assert expected[-1] == str([[0] * 4, [0, 0, 5, 0], [0] * 4])


def test_private_parts_that_have_changed_are_not_used():
    show = "from bnmtl._kernels import _jit\nprint(_jit.IS_ACCELERATED)\n"
    done = subprocess.run(
        [sys.executable, "-c", CHANGED + show], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
