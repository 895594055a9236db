"""Compiled kernels: what is on disk counts only while no kernel's source has changed; tables."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from budget import NO_JIT

from bnmtl._kernels import _jit, climbing, dags, scoring

pytestmark = pytest.mark.skipif(NO_JIT, reason="nothing is compiled")

KERNEL = """
from bnmtl._kernels._jit import is_first_run, kernel


@kernel
def one_more(x):
    return x + 1


is_first = is_first_run()
assert one_more(1) == 2
print(is_first, is_first_run(), sum(one_more.stats.cache_misses.values()))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the kernels with one more, and a place of its own for what is compiled."""
    source = Path(_jit.__file__).parent
    copy = shutil.copytree(source, tmp_path / "bnmtl" / "_kernels")
    shutil.copy(source.parent / "__init__.py", tmp_path / "bnmtl")
    (copy / "one_more.py").write_text(KERNEL)
    return copy


# Loading numba takes longer than all else.
IMPORTS = """
import importlib
import sys

for changed in sys.argv[1:]:
    if changed == "True":
        with open("bnmtl/_kernels/dags.py", "a") as file:
            file.write("# changed")
    for name in [name for name in sys.modules if name.startswith("bnmtl")]:
        del sys.modules[name]
    importlib.import_module("bnmtl._kernels.one_more")
"""


def called(package, *changed):
    """Whether it is the first run before a call and after it, and how much was compiled.

    The kernels are imported and called once for each flag, which says whether one changes before.
    """
    compiled = str(package / "compiled")
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, *map(str, changed)],
        cwd=package.parent.parent,
        env={**os.environ, "NUMBA_CACHE_DIR": compiled, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split() for line in done.stdout.splitlines()]


def test_a_change_of_any_kernel_compiles_all_again(package):
    """What is on disk tells the first run, too, as long as no kernel has changed."""
    compiled, known = ["True", "False", "1"], ["False", "False", "0"]
    assert called(package, False, False, True) == [compiled, known, compiled]
    assert called(package, False) == [known]


def test_only_what_python_calls_becomes_machine_code():
    @_jit.kernel
    def half(x):
        return x // np.int64(2)

    @_jit.kernel
    def quarter(x):
        return half(half(x))

    assert quarter(np.int64(12)) == 3
    assert not half.signatures
    assert half(np.int64(12)) == 6
    assert len(half.signatures) == len(quarter.signatures) == 1


TABLES = """
from bnmtl._kernels import climbing, dags, groups, scoring

scratch, merge = scoring.new_scratch(2, 3, 3), climbing.new_merge(2)
assert groups.TOTALS(scratch.table) is scratch.totals
assert climbing.PART(merge.table) is merge.part
for field, table in [(scoring.METHOD, scratch.table), (dags.PARENTS, merge.table),
                     (scoring.WAITING, merge.table), (climbing.MERGE_WAITING, scratch.table)]:
    try:
        field(table)
    except TypeError as error:
        print(error)
"""


def test_a_field_of_another_table_fails_in_plain_python():
    """Also one of the same name, dtype and place, or of the same place."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", TABLES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    refused = [line.split(" is not a field of this table")[0] for line in done.stdout.splitlines()]
    places = [scoring.METHOD, dags.PARENTS, scoring.WAITING, climbing.MERGE_WAITING]
    assert refused == [f"{field.name}, {field.place} of its layout," for field in places]


def test_a_field_has_one_place_and_a_unique_name():
    first, second = _jit.ints("first"), _jit.floats("second", 2)
    fields = _jit.layout(first, second)
    assert _jit.layout(*fields, _jit.flags("third"))[:2] == fields
    with pytest.raises(ValueError, match="second already has place 1, not 0"):
        _jit.layout(second)
    with pytest.raises(ValueError, match="same name"):
        _jit.layout(first, _jit.words("first"))


@pytest.mark.parametrize("kind", ["ints", "floats", "flags", "uint8s", "uint32s", "words"])
def test_fields_take_their_arrays_out_of_a_table(kind):
    make_field = getattr(_jit, kind)
    one, two, three = make_field("one"), make_field("two", 2), make_field("three", 3)
    dtype = one.dtype
    arrays = [np.arange(np.prod(shape)).reshape(shape) for shape in [(5,), (2, 3), (4, 3, 2)]]
    arrays = [values.astype(dtype) for values in arrays]
    table = _jit.Arrays(
        _jit.layout(one, two, three), **dict(zip(["one", "two", "three"], arrays, strict=True))
    ).table
    taken = [np.zeros_like(values) for values in arrays]

    # Copies of slices take numba five seconds; columns need the strides as well as the shape.
    @numba.njit
    def take(table, first, second, third):
        for at in range(first.size):
            first[at] = one(table)[at]
        for at in np.ndindex(second.shape):
            second[at] = two(table)[:, at[1]][at[0]]
        for at in np.ndindex(third.shape):
            third[at] = three(table)[:, at[1], at[2]][at[0]]
        three(table)[3, 2, 1] = 0

    take(table, *taken)
    assert all(map(np.array_equal, taken[:2], arrays[:2]))
    assert taken[2][3, 2, 1]
    assert not arrays[2][3, 2, 1]
    taken[2][3, 2, 1] = 0
    assert np.array_equal(taken[2], arrays[2])
