"""Output folders of the command line."""

from bnmtl.io.run import Run, read_run

__all__ = ["Run", "read_run"]
