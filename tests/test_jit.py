"""Compiled kernels: what is on disk counts only while no kernel's source has changed; tables."""

import importlib.util
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from budget import NO_JIT

from bnmtl._kernels import _jit, cache, dags, merging, scoring

pytestmark = pytest.mark.skipif(NO_JIT, reason="nothing is compiled")

SOURCE = """
from bnmtl._kernels._jit import kernel


@kernel
def one_more(x):
    return x + 1
"""


def loaded(path):
    """The function of a file, as a new process would have it."""
    spec = importlib.util.spec_from_file_location("one_more", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _jit._COMPILED.pop()
    return module.one_more


def test_a_change_of_any_kernel_compiles_all_again(tmp_path, monkeypatch):
    path = tmp_path / "one_more.py"
    path.write_text(SOURCE)
    compiled = []
    for digest in ("a", "a", "b", "b"):
        monkeypatch.setattr(_jit, "_digest_of_sources", lambda digest=digest: digest)
        function = loaded(path)
        assert function(1) == 2
        compiled.append(sum(function.stats.cache_misses.values()))
    assert compiled == [1, 0, 1, 0]


def test_only_what_python_calls_becomes_machine_code():
    @_jit.kernel
    def half(x):
        return x // np.int64(2)

    @_jit.kernel
    def quarter(x):
        return half(half(x))

    del _jit._COMPILED[-2:]
    assert quarter(np.int64(12)) == 3
    assert not half.signatures
    assert half(np.int64(12)) == 6
    assert len(half.signatures) == len(quarter.signatures) == 1


def test_the_digest_is_that_of_the_sources():
    digest = _jit._digest_of_sources()
    assert len(digest) == 32
    for function in (cache.recall, scoring.local_score):
        assert function._cache._cache_file._source_stamp == digest


def test_whether_anything_was_compiled_is_found_on_disk(tmp_path, monkeypatch):
    path = tmp_path / "one_more.py"
    path.write_text(SOURCE)
    function = loaded(path)
    monkeypatch.setattr(_jit, "_COMPILED", [function])
    assert _jit.is_first_run()
    function(1)
    assert not _jit.is_first_run()
    monkeypatch.setattr(_jit, "_COMPILED", [loaded(path)])
    assert not _jit.is_first_run()
    monkeypatch.setattr(_jit, "_digest_of_sources", lambda: "another")
    monkeypatch.setattr(_jit, "_COMPILED", [loaded(path)])
    assert _jit.is_first_run()


TABLES = """
from bnmtl._kernels import dags, groups, merging, scoring

scratch, merge = scoring.new_scratch(2, 3, 3), merging.new_merge(2)
assert groups.TOTALS(scratch.table) is scratch.totals
assert merging.PART(merge.table) is merge.part
for field, table in [(scoring.METHOD, scratch.table), (dags.PARENTS, merge.table),
                     (scoring.WAITING, merge.table), (merging.WAITING, scratch.table)]:
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
    met = [line.split(" is not a field of this table")[0] for line in done.stdout.splitlines()]
    places = [scoring.METHOD, dags.PARENTS, scoring.WAITING, merging.WAITING]
    assert met == [f"{field.name}, {field.place} of its layout," for field in places]


def test_a_field_has_one_place_and_its_own_name():
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
    own = [np.arange(np.prod(shape)).reshape(shape) for shape in [(5,), (2, 3), (4, 3, 2)]]
    own = [values.astype(dtype) for values in own]
    table = _jit.Arrays(
        _jit.layout(one, two, three), **dict(zip(["one", "two", "three"], own, strict=True))
    ).table
    taken = [np.zeros_like(values) for values in own]

    @numba.njit
    def take(table, first, second, third):
        first[:], second[:], third[:] = one(table), two(table), three(table)
        three(table)[3, 2, 1] = 0

    take(table, *taken)
    assert all(map(np.array_equal, taken[:2], own[:2]))
    assert taken[2][3, 2, 1]
    assert not own[2][3, 2, 1]
    taken[2][3, 2, 1] = 0
    assert np.array_equal(taken[2], own[2])
