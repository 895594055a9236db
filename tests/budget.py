"""How many instances a property test tries: fewer where kernels run as plain Python."""

import os

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def examples(n):
    """``n`` instances with compiled kernels, a tenth of them without."""
    return max(n // 10, 20) if NO_JIT else n
