"""The first start on a machine: a bar with a real total counts the compiled kernels."""

import os
import runpy
import subprocess
import sys
import textwrap

import pytest

from bnmtl._kernels import _jit

pytestmark = pytest.mark.beside_kernels

SOURCE = """
from bnmtl._kernels._jit import Callback, kernel


@kernel
def half(x):
    return x // 2


@kernel
def quarter(x):
    return half(half(x))


@kernel
def unrelated(x):
    return x + 1


CALLBACK = Callback(quarter.py_func)
"""


@pytest.fixture
def source(tmp_path):
    """A file of kernels."""
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(SOURCE)
    return path


def test_kernels_are_found_through_those_that_call_them(source):
    kernels = runpy.run_path(source)
    half, quarter = kernels["half"].py_func, kernels["quarter"].py_func
    assert _jit.kernels_within([kernels["half"]]) == {half}
    assert _jit.kernels_within([kernels["quarter"]]) == {half, quarter}
    assert _jit.kernels_within([kernels["CALLBACK"]]) == {half}


REPORTED = """
import numpy as np
from kernels_of_a_test import half, quarter, unrelated

from bnmtl.progress import Reporter
from bnmtl.search.first_start import compilation_reported


def show(event):
    print(event.done, event.total)


with Reporter(show) as report:
"""


def events_of(source, lines):
    """Events (done, total) while some lines run where nothing has been compiled yet."""
    places = (source.parent, *filter(None, [os.environ.get("PYTHONPATH")]))
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(source.parent / "compiled"),
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }
    ran = subprocess.run(
        [sys.executable, "-c", REPORTED + textwrap.indent(lines, "    ")],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split() for line in ran.stdout.splitlines()]


def test_every_compiled_kernel_is_counted(source):
    events = events_of(
        source,
        """
with compilation_reported(report, [quarter]):
    assert quarter(np.int64(12)) == 3
    unrelated(np.int64(1))
with compilation_reported(report, [quarter]):
    half(1.5)
""",
    )
    assert events == [["0", "2"], ["1", "2"], ["2", "2"]]


def test_without_a_total_kernels_are_counted_as_they_come(source):
    events = events_of(
        source,
        """
with compilation_reported(report):
    unrelated(np.int64(1))
    quarter(np.int64(12))
""",
    )
    assert events == [[str(done), "None"] for done in range(4)]


CALLED = """
import sys

import numpy as np
import pandas as pd

from bnmtl import {learner}, PairedPrior
from bnmtl._kernels import _jit, cache
from bnmtl.search.first_start import order_kernels

rng = np.random.default_rng(0)
tasks = {{
    f"t{{i}}": pd.DataFrame(rng.integers(0, 3, (60, 6)).astype(str), columns=list("abcdef"))
    for i in range({n_tasks})
}}
{learner}({options}).fit(tasks)
called = _jit.kernels_within(one for one in _jit._COMPILED if one.signatures)
listed = _jit.kernels_within(order_kernels({is_coupled}, {n_sharing}))
# What is behind an address is called by other kernels.
behind = _jit.kernels_within(
    one for one in order_kernels({is_coupled}, {n_sharing}) if isinstance(one, _jit.Callback)
)
# Only searches of many families need more memory.
behind |= _jit.kernels_within([cache.move])
print(sorted(f.__qualname__ for f in (called ^ listed) - behind))
"""
SEARCHES = [
    ("SingleTaskLearner", "", 2, False, 0),
    ("IdenticalLearner", "", 3, False, 3),
    ("MultitaskLearner", "table_sharing=None", 3, True, 0),
    ("MultitaskLearner", "PairedPrior(0.9)", 3, True, 3),
    ("MultitaskLearner", "", 10, True, 10),
]


@pytest.mark.parametrize(("learner", "options", "n_tasks", "is_coupled", "n_sharing"), SEARCHES)
def test_the_total_is_of_the_kernels_that_a_search_calls(
    learner, options, n_tasks, is_coupled, n_sharing
):
    script = CALLED.format(
        learner=learner,
        options=options + ", " * bool(options) + "random_state=0",
        n_tasks=n_tasks,
        is_coupled=is_coupled,
        n_sharing=n_sharing,
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.stdout == "[]\n", ran.stdout + ran.stderr
