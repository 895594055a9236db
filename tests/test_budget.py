"""How often a kernel comes back, so that clocks are read and interrupts heard."""

from types import SimpleNamespace

import numpy as np
import pytest

from bnmtl._kernels.scoring import ASKED
from bnmtl.search import graph_state
from bnmtl.search.graph_state import Budget

pytestmark = pytest.mark.beside_kernels


@pytest.mark.parametrize(
    "seconds_a_family, expected",
    [(1e-2, 20), (1e-4, 2000), (1e-9, graph_state.FAMILIES_BETWEEN_LOOKS)],
)
def test_kernels_come_back_several_times_a_second(monkeypatch, seconds_a_family, expected):
    clock = [100.0]
    monkeypatch.setattr(graph_state.time, "perf_counter", lambda: clock[0])
    counters = np.zeros(ASKED + 1, np.int64)
    scratch, spending = SimpleNamespace(counters=counters), Budget()
    for _ in range(12):
        families = spending.pause(scratch) - counters[ASKED]
        counters[ASKED] += families
        clock[0] += families * seconds_a_family
    assert families == pytest.approx(expected, abs=1)


def test_a_limit_of_families_is_not_a_pause():
    counters = np.zeros(ASKED + 1, np.int64)
    scratch, spending = SimpleNamespace(counters=counters), Budget(max_families=100)
    assert spending.pause(scratch) == 100
    # Counters of another scratch may be behind.
    counters[ASKED] = 50
    spending.pause(scratch)
    counters[ASKED] = 0
    assert 0 < spending.pause(scratch) <= 100
