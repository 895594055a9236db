"""The first start on a machine: a bar with a real total counts the compiled kernels."""

import runpy
import subprocess
import sys

import numpy as np
import pytest

from bnmtl._kernels import _jit
from bnmtl.progress import Reporter
from bnmtl.search import first_start

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
def kernels(tmp_path, monkeypatch):
    """Kernels that nothing has called yet, the only ones on the machine."""
    monkeypatch.setattr(_jit, "_COMPILED", [])
    monkeypatch.setattr(_jit, "_CALLED", [])
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(SOURCE)
    return runpy.run_path(path)


def test_kernels_are_found_through_those_that_call_them(kernels):
    half, quarter = kernels["half"].py_func, kernels["quarter"].py_func
    assert _jit.kernels_within([kernels["half"]]) == {half}
    assert _jit.kernels_within([kernels["quarter"]]) == {half, quarter}
    assert _jit.kernels_within([kernels["CALLBACK"]]) == {half}


def test_every_compiled_kernel_is_counted(kernels):
    events = []
    with Reporter(events.append) as report:
        with first_start.compilation_reported(report, [kernels["quarter"]]):
            assert kernels["quarter"](np.int64(12)) == 3
            kernels["unrelated"](np.int64(1))
        assert [(event.done, event.total) for event in events] == [(0, 2), (1, 2), (2, 2)]
        with first_start.compilation_reported(report, [kernels["quarter"]]):
            kernels["half"](1.5)
    assert len(events) == 3


def test_without_a_total_kernels_are_counted_as_they_come(kernels):
    events = []
    with Reporter(events.append) as report, first_start.compilation_reported(report):
        kernels["unrelated"](np.int64(1))
        kernels["quarter"](np.int64(12))
    assert [event.done for event in events] == [0, 1, 2, 3]
    assert {event.total for event in events} == {None}


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
