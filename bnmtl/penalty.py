"""The old import path of `bnmtl.learners.penalty`."""

import sys

from bnmtl.learners import penalty

sys.modules[__name__] = penalty
