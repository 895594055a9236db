"""The one place that imports numba and holds the compilation flags of all kernels."""

from pathlib import Path

import numba

_COMPILED = []


def kernel(function):
    """Compile ``function``: cached on disk, without the interpreter lock, strict arithmetic."""
    compiled = numba.njit(cache=True, nogil=True)(function)
    _COMPILED.append(compiled)
    return compiled


def is_first_run():
    """Whether nothing has been compiled on this machine yet, so that the first call takes long."""
    if numba.config.DISABLE_JIT:
        return False
    return not any(
        one.signatures or any(Path(one.stats.cache_path).glob(f"*.{one.py_func.__name__}-*.nbi"))
        for one in _COMPILED
    )
