"""The old import path of `bnmtl.reports.learned`."""

import sys

from bnmtl.reports import learned

sys.modules[__name__] = learned
