"""The first start on a machine: a bar with a real total counts the compiled kernels."""

import json
import os
import runpy
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

from bnmtl import (
    EditPrior,
    Exact,
    HillClimbing,
    IdenticalLearner,
    MixedDirichlet,
    MultitaskLearner,
    Orders,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl._kernels import _jit, task_sets, terms
from bnmtl.search.compilation import search_kernels

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
from bnmtl.search.compilation import compilation_reported


def show(event):
    assert event.stage == "compiling once (about a minute)"
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


SEARCHES = [
    (SingleTaskLearner, Orders(starts=2, iterations=1), None, 2, None),
    (SingleTaskLearner, HillClimbing(), None, 2, None),
    (SingleTaskLearner, HillClimbing(restarts=0), None, 2, None),
    (SingleTaskLearner, HillClimbing(restarts=0, tabu=0), None, 2, None),
    (SingleTaskLearner, Exact(), None, 2, None),
    (IdenticalLearner, Orders(starts=2, iterations=1), None, 3, "auto"),
    (IdenticalLearner, Exact(), None, 3, "auto"),
    (MultitaskLearner, Orders(starts=2, iterations=1), PairedPrior(0.9), 3, None),
    (MultitaskLearner, Orders(starts=2, iterations=1), PairedPrior(0.9), 3, "auto"),
    (MultitaskLearner, Orders(starts=2, iterations=1), PairedPrior(0.9), 10, "auto"),
    (MultitaskLearner, Orders(starts=2, iterations=1), EditPrior(0.9), 3, "auto"),
    (MultitaskLearner, HillClimbing(restarts=1), PairedPrior(0.9), 10, "auto"),
    (MultitaskLearner, Exact(), PairedPrior(0.9), 3, "auto"),
]


def fit(learner, search, prior, n_tasks, sharing):
    """A learner fitted to tasks of few rows, one of `SEARCHES`."""
    rng = np.random.default_rng(0)
    tasks = {
        f"t{i}": pd.DataFrame(rng.integers(0, 3, (60, 6)).astype(str), columns=list("abcdef"))
        for i in range(n_tasks)
    }
    options = {"prior": prior, "table_sharing": sharing}
    given = {name: options[name] for name in options if name in learner().get_params()}
    # With these concentrations, pairs of these columns are worth a look, and no arc is.
    score = MixedDirichlet((0.01, 0.05, 0.2, 0.5, 1, 2, 5, 20, 100))
    return learner(score=score, search=search, random_state=0, **given).fit(tasks)


def test_penalties_by_task_have_no_total():
    prior = PairedPrior(0.9, task_penalty={("t0", "t1"): 0.5})
    assert search_kernels(Orders(starts=2, iterations=1), prior, 0) is None


# Every search in a process where nothing else has called kernels.
CALLS = """
import json

import numpy as np
from numba.core.registry import CPUDispatcher
from test_first_start import SEARCHES, fit

from bnmtl._kernels import _jit
from bnmtl.networks.shared_tables import Components

found, compile_for = set(), CPUDispatcher._compile_for_args


def enter(one):
    one._clear()
    for compiled in list(one.overloads.values()):
        one.add_overload(compiled)


def seen(one, *arguments):
    found.add(one)
    entry = compile_for(one, *arguments)
    enter(one)
    return entry


# A kernel without an entry in the table of numba's fast calls is looked for in Python.
CPUDispatcher._compile_for_args = seen
within = []
for search in SEARCHES:
    found.clear()
    for one in _jit._COMPILED:
        one._clear()
    fit(*search)
    within.append(sorted(map(_jit.name_of, _jit.kernels_within(found))))
Components(np.ones((3, 4, 2), int)).averaged()
known = set(_jit.compilable().values())
called = [one for one in _jit._COMPILED if one.signatures]
differing = [
    f"{_jit.name_of(one.py_func)} {one.signatures}"
    for one in called
    if one not in known or one.signatures != [_jit.signature_of(one)]
]
print(json.dumps({"within": within, "n_called": len(called), "differing": differing}))
"""


@pytest.fixture(scope="module")
def calls():
    """The names of the kernels that each search calls; those with types that are not annotated."""
    places = (os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, "-c", CALLS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_total_is_of_the_kernels_that_a_search_calls(calls):
    for (_, search, prior, n_tasks, sharing), within in zip(SEARCHES, calls["within"], strict=True):
        kernels = search_kernels(search, prior, n_tasks * (sharing is not None), prior is not None)
        # What is behind an address is called by other kernels.
        behind = [one for one in kernels if isinstance(one, _jit.Callback)]
        # Only searches of many families need more memory, and only an arc that two tasks gain by is
        # solved for.
        behind += [terms.move, task_sets.best_joint_states]
        listed, behind = (
            set(map(_jit.name_of, _jit.kernels_within(called))) for called in (kernels, behind)
        )
        assert sorted((set(within) ^ listed) - behind) == [], (search, prior, n_tasks, sharing)


def test_the_types_that_python_passes_are_annotated(calls):
    """Otherwise what is compiled ahead is not what Python calls."""
    assert calls["n_called"] >= 35
    assert calls["differing"] == []
