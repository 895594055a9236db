"""How much tests try, less where kernels run as plain Python, and how much memory they take."""

import contextlib
import os
import tracemalloc

from bnmtl import BDeu, Orders

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def examples(n):
    """``n`` instances with compiled kernels, a tenth of them without, but ten at least."""
    return max(n // 10, min(n, 10)) if NO_JIT else n


def quick_search():
    """Parameters of a learner whose search over orders is short, and shorter without JIT.

    The score treats classes alike and the prior is uniform, so that tests can compute both.
    """
    effort = (
        {"search": Orders(starts=1, iterations=0, tabu=2)}
        if NO_JIT
        else {"search": Orders(starts=2, iterations=5)}
    )
    return {**effort, "score": BDeu(), "structure_prior": None, "random_state": 0}


@contextlib.contextmanager
def little_memory(most=2**20):
    """A block that allocates at most this many bytes at once."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= most
