"""Compiled kernels: what is on disk counts only while no kernel's source has changed."""

import importlib.util

import pytest
from budget import NO_JIT

from bnmtl._kernels import _jit, cache, scoring

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


def test_a_change_of_any_kernel_compiles_all_anew(tmp_path, monkeypatch):
    path = tmp_path / "one_more.py"
    path.write_text(SOURCE)
    compiled = []
    for digest in ("a", "a", "b", "b"):
        monkeypatch.setattr(_jit, "_digest_of_sources", lambda digest=digest: digest)
        function = loaded(path)
        assert function(1) == 2
        compiled.append(sum(function.stats.cache_misses.values()))
    assert compiled == [1, 0, 1, 0]


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
