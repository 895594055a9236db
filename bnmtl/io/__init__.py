"""Files: networks as BIF, and the output folders of the command line."""

from bnmtl.io.bif import read_bif, write_bif
from bnmtl.io.run import Run, read_run

__all__ = ["Run", "read_bif", "read_run", "write_bif"]
