"""Settings of the whole suite."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from budget import NO_JIT

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items):
    """Skip what takes minutes in plain Python."""
    if not NO_JIT:
        return
    for item in items:
        if item.get_closest_marker("slow_without_jit"):
            item.add_marker(pytest.mark.skip(reason="NUMBA_DISABLE_JIT=1: minutes in plain Python"))
