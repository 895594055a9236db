"""Files: networks as BIF."""

from bnmtl.io.bif import read_bif, write_bif

__all__ = ["read_bif", "write_bif"]
